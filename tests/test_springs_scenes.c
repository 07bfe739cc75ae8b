/*
 * The scenes of Cordier and Magnenat-Thalmann, "Integrated system for skin deformation", with solver springs: a finger
 * on a table (Figure 5), a body and a rigid object (Figure 6), a hand that grasps a soft cube (Figure 7), and a block
 * on a slope of skin. Each prints the figures that docs/reference/solvers/springs.md tells.
 */
#include "testing.h"

#include "engine/model_object.h"
#include "solvers/springs/springs.h"
#include "springs_stage.h"

/* ---- Figure 5: a finger on a table ---- */

/* The index finger bends down at its root by 35 degrees. */
static void finger_pose(springs_scene *s, double time, float *joints)
{
    double angle = 0.6109 * stage_ramp(time, 0.1, 0.8);
    int root = cutis_character_find_joint(s->character, "index_1");
    const float *at = joints + 12 * root;
    vec3 pivot = {at[3], at[7], at[11]};
    mat34 turn = mat34_compose(vec3_make(0, 0, 0), quat_axis_angle(vec3_make(1, 0, 0), angle), vec3_make(1, 1, 1));
    vec3 back = vec3_sub(pivot, mat34_vector(turn.m, pivot));
    turn.m[3] = back.x, turn.m[7] = back.y, turn.m[11] = back.z;
    for (int j = root; j < root + 3; j++) {
        mat34 pose;
        memcpy(pose.m, joints + 12 * j, sizeof pose.m);
        pose = mat34_multiply(turn, pose);
        memcpy(joints + 12 * j, pose.m, sizeof pose.m);
    }
}

/* Height of the lowest point of the hand, were nothing in its way. */
static double finger_lowest(double time)
{
    springs_scene *s = stage_open(test_zoo("hand", 0.28), NULL, NULL, 0, NULL);
    s->pose = finger_pose;
    stage_step(s, time);
    double lowest = 1e9;
    for (int p = 0; p < s->character->point_count; p++) lowest = fmin(lowest, (double)s->points[3 * p + 1]);
    stage_close(s);
    return lowest;
}

static void finger_flattens_on_a_table(void **unused)
{
    (void)unused;
    double lowest = finger_lowest(1.0), top = lowest + 0.002, deepest = 0;
    stage_prop table = {{.role = CUTIS_PROP_COLLIDER,
                         .shape = CUTIS_PROP_BOX,
                         .size = {0.1f, 0.02f, 0.1f},
                         .friction = -1,
                         .restitution = -1},
                        {0, (float)top - 0.02f, 0.16f}};
    springs_scene *s = stage_open(test_zoo("hand", 0.28), NULL, &table, 1, NULL);
    s->pose = finger_pose;
    int touched = 0, frames = 0;
    double sum[3];
    for (int f = 1; f <= 30; f++, frames++) {
        stage_step(s, f / 30.0);
        for (int p = 0; p < s->character->point_count; p++) deepest = fmax(deepest, top - (double)s->points[3 * p + 1]);
    }
    touched = stage_touch(s, sum);
    int flat = 0;
    for (int p = 0; p < s->character->point_count; p++) flat += fabs((double)s->points[3 * p + 1] - top) < 0.0006;
    cutis_prop_state prop = stage_prop_state(s, 0);
    double size = (double)s->character->size;
    print_message(
        "finger 2 mm into a table: deepest %.4f %% of the size in %d frames, %d points flat on it, %d touched, "
        "%.2f N up, table feels %.2f N down, own measure %.4f %%\n",
        100 * fmax(deepest, 0) / size, frames, flat, touched, sum[1], -(double)prop.force[1],
        100 * (double)prop.penetration / size);
    assert_true(deepest <= 0.001 * size);
    assert_true(flat >= 6 && touched >= 6);
    assert_true(sum[1] > 0.2);
    assert_true(fabs(sum[1] + (double)prop.force[1]) < 0.1 * sum[1]);
    stage_close(s);
}

/* Widest section across and volume of the finger that presses by `depth` on a table, and what the table tells. */
typedef struct finger_press {
    double width, volume, force, deepest;
    cutis_prop_state table;
    char bone[32];
} finger_press;

static finger_press finger_presses(double depth, const char *bulge)
{
    const char *const settings[] = {bulge, NULL};
    double top = finger_lowest(1.0) + depth;
    stage_prop table = {{.role = CUTIS_PROP_COLLIDER,
                         .shape = CUTIS_PROP_BOX,
                         .size = {0.1f, 0.02f, 0.1f},
                         .friction = 0,
                         .restitution = -1},
                        {0, (float)top - 0.02f, 0.16f}};
    springs_scene *s = stage_open(test_zoo("hand", 0.28), NULL, &table, 1, settings);
    s->pose = finger_pose;
    for (int f = 1; f <= 36; f++) stage_step(s, f / 30.0);

    /* points of the last bone that lie in the first 5 mm above the table */
    finger_press result = {.table = stage_prop_state(s, 0)};
    const springs_model *m = s->model->stages[0].data;
    int tip = cutis_character_find_joint(s->character, "index_3");
    float low = 1e9f, high = -1e9f;
    for (int p = 0; p < s->character->point_count; p++) {
        const float *x = s->points + 3 * p;
        result.deepest = fmax(result.deepest, top - (double)x[1]);
        if (m->bone[p] != tip || (double)x[1] > top + 0.005) continue;
        low = fminf(low, x[0]);
        high = fmaxf(high, x[0]);
    }
    double sum[3];
    stage_touch(s, sum);
    result.width = (double)(high - low);
    result.volume = mesh_volume(s->mesh.triangle_count, s->mesh.triangles, s->points);
    result.force = sum[1];
    if (result.table.bone >= 0)
        snprintf(result.bone, sizeof result.bone, "%s", s->character->joints[result.table.bone].name);
    stage_close(s);
    return result;
}

/* What is pressed in comes out beside. */
static void pressed_finger_spreads(void **unused)
{
    (void)unused;
    finger_press away = finger_presses(-0.05, "bulge=0.8"), hard = finger_presses(0.003, "bulge=0");
    finger_press soft = finger_presses(0.003, "bulge=0.8");
    print_message(
        "finger 3 mm into a table: width above it %.2f mm without bulge, %.2f with; volume lost %.1f and %.1f "
        "mm3\n",
        1e3 * hard.width, 1e3 * soft.width, 1e9 * (away.volume - hard.volume), 1e9 * (away.volume - soft.volume));
    assert_true(soft.width > 1.03 * hard.width);
    assert_true(away.volume - soft.volume < 0.5 * (away.volume - hard.volume));
}

/* A collider presses skin down to the bone and no further, and tells which bone is how deep in it. */
static void skin_stops_at_the_bone(void **unused)
{
    (void)unused;
    finger_press press = finger_presses(0.016, "bulge=0.8");
    print_message("finger 16 mm into a table: bone %s %.1f mm in it, skin %.1f mm, %.0f N\n", press.bone,
                  1e3 * (double)press.table.bone_depth, 1e3 * press.deepest, press.force);
    assert_true(strncmp(press.bone, "index_", 6) == 0);
    assert_true(press.table.bone_depth > 0.004f && press.table.bone_depth < 0.016f);
    assert_true(press.deepest > 0.5 * (double)press.table.bone_depth);
}

/* A heavy ball that falls on an arm presses its flesh down to the bone and is stopped there. */
static void bone_stops_a_falling_ball(void **unused)
{
    (void)unused;
    stage_prop ball = {{.role = CUTIS_PROP_RIGID,
                        .shape = CUTIS_PROP_SPHERE,
                        .size = {0.03f},
                        .mass = 8,
                        .friction = -1,
                        .restitution = -1},
                       {0.1f, 0.4f, 0}};
    const char *const settings[] = {"stand=0", NULL};
    springs_scene *s = stage_open(test_zoo("arm", 0.2), NULL, &ball, 1, settings);
    double deepest = 0, lowest = 1;
    stage_counts counts = {0};
    for (int f = 1; f <= 30; f++) {
        stage_count(&counts, stage_step(s, f / 60.0));
        cutis_prop_state prop = stage_prop_state(s, 0);
        deepest = fmax(deepest, (double)prop.bone_depth);
        lowest = fmin(lowest, (double)prop.transform[7]);
    }
    print_message(
        "ball of 8 kg falls on an arm: bone at most %.2f mm in it, centre down to %.1f mm, %d of %d substeps not "
        "converged\n",
        1e3 * deepest, 1e3 * lowest, counts.unconverged, counts.substeps);
    assert_true(lowest < 0.08);
    assert_true(deepest < 0.002);
    stage_close(s);
}

static void finger_and_soft_table_both_give_way(void **unused)
{
    (void)unused;
    double lowest = finger_lowest(1.0), top = lowest + 0.008, deepest = 0;
    stage_prop table = {{.role = CUTIS_PROP_SOFT,
                         .shape = CUTIS_PROP_BOX,
                         .size = {0.03f, 0.015f, 0.03f},
                         .mass = 0.1f,
                         .friction = -1,
                         .restitution = -1,
                         .stiffness = 0.6f},
                        {-0.02f, (float)top - 0.015f, 0.155f}};
    springs_scene *s = stage_open(test_zoo("hand", 0.28), NULL, &table, 1, NULL);
    s->pose = finger_pose;
    for (int f = 1; f <= 30; f++) {
        stage_step(s, f / 30.0);
        deepest = fmax(deepest, stage_depth_soft(s, 0));
    }
    /* Against the reference shape, which is what the skin would be without contact. */
    springs_scene *alone = stage_open(test_zoo("hand", 0.28), NULL, NULL, 0, NULL);
    alone->pose = finger_pose;
    stage_step(alone, 1);
    double skin = 0, soft = 0, size = (double)s->character->size;
    for (int i = 0; i < 3 * s->character->point_count; i++)
        skin = fmax(skin, fabs((double)s->points[i] - (double)alone->points[i]));
    cutis_prop_state prop = stage_prop_state(s, 0);
    for (int v = 0; v < prop.vertex_count; v++) {
        vec3 x = vec3_load(prop.positions + 3 * v);
        /* In its own space a box's points lie on its faces. */
        mat34 pose, inverse;
        memcpy(pose.m, prop.transform, sizeof pose.m);
        mat34_inverse(pose, &inverse);
        vec3 local = mat34_point(inverse.m, x);
        double out =
            fmax(fmax(fabs((double)local.x) - 0.03, fabs((double)local.y) - 0.015), fabs((double)local.z) - 0.03);
        soft = fmax(soft, fabs(out));
    }
    print_message("finger 8 mm into a soft table: skin gives way by %.2f mm, table by %.2f mm, deepest %.4f %%\n",
                  1e3 * skin, 1e3 * soft, 100 * deepest / size);
    assert_true(skin > 0.001);
    assert_true(soft > 0.001);
    assert_true(deepest <= 0.001 * size);
    stage_close(alone);
    stage_close(s);
}

/* ---- Figure 6: a body and a rigid object ---- */

/* The ball is pushed into the belly by 4 cm and up a little. */
static void ball_pose(springs_scene *s, double time, float *joints)
{
    float *ball = joints + 12 * s->first_node;
    ball[11] -= (float)(0.08 * stage_ramp(time, 0, 0.4));
    ball[7] += (float)(0.05 * stage_ramp(time, 0.4, 0.8));
}

static void body_gives_way_to_a_rigid_ball(void **unused)
{
    (void)unused;
    cutis_character *man = test_zoo("man", 0.68);
    float front = -1e9f;
    for (int v = 0; v < man->vertex_count; v++) {
        const float *x = man->positions + 3 * v;
        if (fabsf(x[0]) < 0.05f && fabsf(x[1] - 1.05f) < 0.05f) front = fmaxf(front, x[2]);
    }
    const float radius = 0.12f;
    stage_prop ball = {
        {.role = CUTIS_PROP_COLLIDER, .shape = CUTIS_PROP_SPHERE, .size = {radius}, .friction = -1, .restitution = -1},
        {0, 1.05f, front + radius + 0.04f}};
    springs_scene *s = stage_open(man, NULL, &ball, 1, NULL);
    s->pose = ball_pose;
    double deepest = 0, size = (double)s->character->size, sum[3];
    int intersections = 0, touched = 0;
    stage_counts counts = {0};
    float joints[12 * 128];
    for (int f = 1; f <= 24; f++) {
        stage_count(&counts, stage_step(s, f / 30.0));
        stage_sample(s, f / 30.0, joints);
        const float *pose = joints + 12 * s->first_node;
        vec3 centre = {pose[3], pose[7], pose[11]};
        for (int p = 0; p < s->character->point_count; p++)
            deepest = fmax(deepest, (double)(radius - vec3_distance(vec3_load(s->points + 3 * p), centre)));
        if (f % 8 == 0) intersections = (int)fmax(intersections, stage_intersections(s));
    }
    touched = stage_touch(s, sum);
    print_message(
        "body of %d triangles, ball 4 cm into the belly: deepest %.4f %% of the size, %d points touched, %.1f N, "
        "%d intersections, %d of %d substeps not converged\n",
        s->mesh.triangle_count, 100 * fmax(deepest, 0) / size, touched, -sum[2], intersections, counts.unconverged,
        counts.substeps);
    assert_true(s->mesh.triangle_count > 11000);
    assert_true(deepest <= 0.001 * size);
    assert_true(touched > 10);
    assert_int_equal(intersections, 0);
    assert_true(counts.unconverged * 100 <= counts.substeps);
    stage_close(s);
}

/* ---- Figure 7: a hand grasps a soft cube ---- */

static void hand_lifts(const stage_prop *thing, const char *what, double resolution)
{
    static const char *const settings[] = {"friction=0.8", NULL};
    springs_scene *s = stage_open(test_zoo("hand", resolution), "grasp", thing, 1, settings);
    double size = (double)s->character->size, deepest = 0, error = 0, sum[3], weight = 0.2 * 9.81;
    double held = 0, end = 0;
    stage_counts counts = {0};
    for (int f = 1; f <= 120; f++) {
        stage_count(&counts, stage_step(s, f / 30.0));
        cutis_prop_state prop = stage_prop_state(s, 0);
        if (f % 3 == 0 && prop.triangle_count > 0) deepest = fmax(deepest, stage_depth_soft(s, 0));
        if (prop.triangle_count == 0) deepest = fmax(deepest, (double)prop.penetration);
        if (f == 60) held = (double)prop.transform[7];
        if (f == 120) end = (double)prop.transform[7];
        if (f >= 105) {
            stage_touch(s, sum);
            error = fmax(error, fabs(-sum[1] - weight) / weight);
        }
    }
    double slip = fabs(0.3 - (end - held)) / 0.3;
    print_message(
        "hand of %d triangles, grasp of %s at friction 0.8: lifted by %.1f mm of 300, slip %.2f %%; vertical touch off "
        "the weight by at most %.2f %%; deepest %.4f %%; %d of %d substeps not converged, %d iterations; %d "
        "intersections\n",
        s->mesh.triangle_count, what, 1e3 * (end - held), 100 * slip, 100 * error, 100 * deepest / size,
        counts.unconverged, counts.substeps, counts.iterations, stage_intersections(s));
    assert_true(slip < 0.02);
    assert_true(error < 0.02);
    assert_int_equal(counts.unconverged, 0);
    assert_true(deepest <= 0.001 * size);
    assert_int_equal(stage_intersections(s), 0);
    stage_close(s);
}

static void hand_lifts_a_soft_cube(void **unused)
{
    (void)unused;
    hand_lifts(&cube, "a soft cube", 0.28);
    hand_lifts(&cube, "a soft cube", 1);
}

/* It is gripped far deeper than there is flesh. */
static void hand_lifts_a_rigid_cube(void **unused)
{
    (void)unused;
    stage_prop rigid = cube;
    rigid.prop.role = CUTIS_PROP_RIGID;
    hand_lifts(&rigid, "a rigid cube", 0.28);
}

static void cube_falls_without_friction(void **unused)
{
    (void)unused;
    static const char *const settings[] = {"friction=0", NULL};
    springs_scene *s = stage_open(test_zoo("hand", 0.28), "grasp", &cube, 1, settings);
    for (int f = 1; f <= 120; f++) stage_step(s, f / 30.0);
    cutis_prop_state prop = stage_prop_state(s, 0);
    double lift = (double)prop.transform[7] + 0.09;
    print_message("grasp at friction 0: cube ends %.1f mm from where it stood\n", 1e3 * lift);

    /* it is dropped one size below the hand, which rises by 0.3 m meanwhile */
    assert_true(prop.dropped);
    assert_true(lift < -0.05);
    stage_close(s);
}

/* ---- a block on a slope of skin ---- */

enum { PATCH = 17 };

/* A flat patch of skin, 0.24 m wide, on one joint. */
static cutis_character *patch_make(void)
{
    static float positions[3 * PATCH * PATCH], weights[PATCH * PATCH];
    static int first[PATCH * PATCH + 1], joints[PATCH * PATCH], face_first[2 * PATCH * PATCH],
        corners[4 * PATCH * PATCH];
    int faces = 0, corner = 0;
    for (int i = 0; i < PATCH * PATCH; i++) {
        positions[3 * i] = 0.24f * ((float)(i % PATCH) / (PATCH - 1) - 0.5f);
        positions[3 * i + 1] = 0;
        positions[3 * i + 2] = 0.24f * ((float)(i / PATCH) / (PATCH - 1) - 0.5f);
        first[i + 1] = i + 1, joints[i] = 0, weights[i] = 1;
    }
    for (int z = 0; z + 1 < PATCH; z++)
        for (int x = 0; x + 1 < PATCH; x++) {
            int at = z * PATCH + x, quad[4] = {at, at + PATCH, at + PATCH + 1, at + 1};
            memcpy(corners + corner, quad, sizeof quad);
            corner += 4;
            face_first[++faces] = corner;
        }
    static const cutis_transform rest = {{0, -0.02f, 0}, {0, 0, 0, 1}, {1, 1, 1}};
    cutis_joint joint = {.name = "board",
                         .parent = -1,
                         .rest = rest,
                         .idle = rest,
                         .inverse_bind = {1, 0, 0, 0, 0, 1, 0, 0.02f, 0, 0, 1, 0}};
    cutis_character given = {.name = "patch",
                             .vertex_count = PATCH * PATCH,
                             .positions = positions,
                             .face_count = faces,
                             .face_first = face_first,
                             .corners = corners,
                             .influence_first = first,
                             .influence_joints = joints,
                             .influence_weights = weights,
                             .joint_count = 1,
                             .joints = &joint};
    cutis_character *c = NULL;
    cutis_error error;
    if (cutis_character_create(&given, NULL, &c, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return c;
}

/* About z: up to five degrees below what is expected, then four degrees a second. */
static double slope_first;

static double slope_angle(double time) { return slope_first * stage_ramp(time, 0, 1) + 4 * fmax(time - 1.2, 0); }

static void slope_pose(springs_scene *s, double time, float *joints)
{
    (void)s;
    mat34 turn =
        mat34_compose(vec3_make(0, 0, 0), quat_axis_angle(vec3_make(0, 0, 1), slope_angle(time) * 0.017453292519943295),
                      vec3_make(1, 1, 1));
    mat34 pose;
    memcpy(pose.m, joints, sizeof pose.m);
    pose = mat34_multiply(turn, pose);
    memcpy(joints, pose.m, sizeof pose.m);
}

static void block_slips_at_coulombs_angle(void **unused)
{
    (void)unused;
    static const double coefficients[] = {0.3, 0.6};
    for (int i = 0; i < 2; i++) {
        double expected = atan(coefficients[i]) * 57.29577951308232, slipped = 0;
        slope_first = expected - 5;
        stage_prop block = {{.role = CUTIS_PROP_RIGID,
                             .shape = CUTIS_PROP_BOX,
                             .size = {0.03f, 0.01f, 0.03f},
                             .mass = 0.1f,
                             .friction = (float)coefficients[i],
                             .restitution = -1},
                            {0, 0.0105f, 0}};
        static const char *const settings[] = {"stand=off", "contact_gap=0.001", NULL};
        springs_scene *s = stage_open(patch_make(), NULL, &block, 1, settings);
        s->pose = slope_pose;
        double last = 0, drift = 0, start = 0;
        for (int f = 1; f <= 120; f++) {
            double time = f / 30.0, angle = slope_angle(time) * 0.017453292519943295;
            stage_step(s, time);
            cutis_prop_state prop = stage_prop_state(s, 0);
            /* Along the slope. */
            double along = (double)prop.transform[3] * cos(angle) + (double)prop.transform[7] * sin(angle);
            double speed = (along - last) * 30;
            if (f == 33) start = along;
            if (time > 1.1 && slipped == 0) {
                if (fabs(speed) > 0.005)
                    slipped = slope_angle(time);
                else
                    drift = along - start;
            }
            last = along;
        }
        print_message(
            "block on a slope of skin, friction %.1f: slips at %.2f degrees, Coulomb %.2f, drift before %.3f mm\n",
            coefficients[i], slipped, expected, 1e3 * fabs(drift));
        assert_true(fabs(slipped - expected) < 2);
        stage_close(s);
    }
}

/* ---- without props ---- */

/* Smallest section over a clip, of the whole solver: shape, springs and contact. */
static double section_of(const char *clip, const char *reference)
{
    char text[32];
    snprintf(text, sizeof text, "reference=%s", reference);
    const char *const settings[] = {text, NULL};
    springs_scene *s = stage_open(test_zoo("arm", 0.5), clip, NULL, 0, settings);
    int n = s->character->vertex_count, frames = (int)((double)s->character->clips[s->clip].end * 15);
    float *positions = malloc((size_t)frames * (size_t)n * 3 * sizeof *positions);
    assert_non_null(positions);
    for (int f = 0; f < frames; f++) {
        stage_step(s, (f + 1) / 15.0);
        for (int v = 0; v < n; v++)
            memcpy(positions + ((size_t)f * (size_t)n + (size_t)v) * 3, s->points + 3 * s->character->vertex_points[v],
                   3 * sizeof *positions);
    }
    cutis_quality quality;
    assert_int_equal(cutis_measure(s->character, positions, frames, 15, NULL, NULL, &quality, NULL), CUTIS_OK);
    print_message("arm %s on %s: smallest section %.3f, %d intersections\n", clip, reference, quality.min_section_ratio,
                  quality.self_intersections_max);
    assert_int_equal(quality.self_intersections_max, 0);
    free(positions);
    stage_close(s);
    return quality.min_section_ratio;
}

/* The springs do not undo what the reference shape does for a bent or twisted limb. */
static void solved_skin_keeps_the_section(void **unused)
{
    (void)unused;
    assert_true(section_of("twist", "auto") > 0.85);
    assert_true(section_of("flex", "auto") > 0.7);
    assert_true(section_of("twist", "metaballs") > 0.85);
    assert_true(section_of("flex", "dffd") > 0.45);
    assert_true(section_of("twist", "lbs") < 0.1);
}

static void folds_do_not_intersect(void **unused)
{
    (void)unused;
    static const char *const scenes[][2] = {{"arm", "flex"}, {"hand", "fist"}};
    static const double resolutions[] = {0.3, 0.28};
    for (int i = 0; i < 2; i++) {
        springs_scene *s = stage_open(test_zoo(scenes[i][0], resolutions[i]), scenes[i][1], NULL, 0, NULL);
        double length = (double)s->character->clips[s->clip].end;
        int most = 0;
        stage_counts counts = {0};
        for (int f = 1; f <= (int)(length * 30); f++) {
            stage_count(&counts, stage_step(s, f / 30.0));
            most = (int)fmax(most, stage_intersections(s));
        }
        print_message("%s %s: at most %d intersecting pairs, %d contacts, %d of %d substeps not converged\n",
                      scenes[i][0], scenes[i][1], most, counts.contacts, counts.unconverged, counts.substeps);
        assert_int_equal(most, 0);
        assert_true(counts.contacts > 0);
        assert_true(counts.unconverged * 100 <= counts.substeps);
        stage_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finger_flattens_on_a_table),  cmocka_unit_test(finger_and_soft_table_both_give_way),
        cmocka_unit_test(pressed_finger_spreads),      cmocka_unit_test(skin_stops_at_the_bone),
        cmocka_unit_test(bone_stops_a_falling_ball),   cmocka_unit_test(body_gives_way_to_a_rigid_ball),
        cmocka_unit_test(hand_lifts_a_soft_cube),      cmocka_unit_test(hand_lifts_a_rigid_cube),
        cmocka_unit_test(cube_falls_without_friction), cmocka_unit_test(block_slips_at_coulombs_angle),
        cmocka_unit_test(folds_do_not_intersect),      cmocka_unit_test(solved_skin_keeps_the_section),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
