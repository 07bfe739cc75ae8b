/* The volume of what is shown: coarse tubes that bend get back what their chords lose, and all else is left alone. */
#include "testing.h"

#include "character/skinning.h"
#include "random_pose.h"
#include "show/volume_restore.h"

typedef struct stage {
    cutis_character *character;
    arena memory;
    mesh mesh;
    skinning skinning;
    volume_restore volume_restore;
    float *skin, *scratch, *points;
} stage;

enum { TUBE_VERTICES = 1024 };

/* A tube of two joints, of a length of 2 and a radius of 0.25, turned outwards (1) or inwards (-1). */
static cutis_character *tube_make(int rings, int sides, bool closed, int outside)
{
    static float positions[3 * TUBE_VERTICES], weights[2 * TUBE_VERTICES];
    static int first[TUBE_VERTICES + 1], joints_of[2 * TUBE_VERTICES];
    static int face_first[2 * TUBE_VERTICES + 1], corners[6 * TUBE_VERTICES];
    int tip = rings * sides, count = tip + 2, face = 0;
    assert_true(count <= TUBE_VERTICES);

    /* rings, and the points at both ends */
    for (int v = 0; v < count; v++) {
        double angle = 2 * 3.14159265358979 * (v % sides) / sides;
        float *x = positions + 3 * v;
        x[0] = v < tip ? 2.0f * (float)(v / sides) / (float)(rings - 1) : v == tip ? -0.05f : 2.05f;
        x[1] = v < tip ? 0.25f * (float)det_sin(angle) : 0;
        x[2] = v < tip ? 0.25f * (float)det_cos(angle) : 0;

        float t = CLAMP((x[0] - 0.5f) / 1.0f, 0, 1);
        first[v] = 2 * v;
        joints_of[2 * v] = 0;
        joints_of[2 * v + 1] = 1;
        weights[2 * v + 1] = t * t * (3 - 2 * t);
        weights[2 * v] = 1 - weights[2 * v + 1];
    }
    first[count] = 2 * count;

    /* triangles between rings, and fans to the ends */
    for (int ring = 0; ring <= rings; ring++)
        for (int side = 0; side < sides; side++) {
            int next = (side + 1) % sides;
            int a = (ring - 1) * sides + side, b = (ring - 1) * sides + next, c = a + sides, d = b + sides;
            int made[2][3] = {{b, a, c}, {b, c, d}};
            if (ring == 0) memcpy(made[0], (int[3]){side, next, tip}, sizeof made[0]);
            if (ring == rings) memcpy(made[0], (int[3]){b, a, tip + 1}, sizeof made[0]);
            if (ring == rings && !closed) continue;
            for (int i = 0; i < (ring > 0 && ring < rings ? 2 : 1); i++, face++)
                for (int k = 0; k < 3; k++) {
                    face_first[face] = 3 * face;
                    corners[3 * face + k] = made[i][outside > 0 ? k : 2 - k];
                }
        }
    face_first[face] = 3 * face;

    cutis_joint joints[2] = {{.name = "upper", .parent = -1}, {.name = "lower", .parent = 0}};
    for (int j = 0; j < 2; j++) {
        joints[j].rest = joints[j].idle = (cutis_transform){{j ? 1.0f : 0.0f, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        memcpy(joints[j].inverse_bind, (float[12]){1, 0, 0, j ? -1.0f : 0, 0, 1, 0, 0, 0, 0, 1, 0}, 12 * sizeof(float));
    }

    cutis_character given = {.name = "tube",
                             .vertex_count = count,
                             .positions = positions,
                             .face_count = face,
                             .face_first = face_first,
                             .corners = corners,
                             .influence_first = first,
                             .influence_joints = joints_of,
                             .influence_weights = weights,
                             .joint_count = 2,
                             .joints = joints};
    cutis_character *made;
    assert_int_equal(cutis_character_create(&given, NULL, &made, NULL), CUTIS_OK);
    return made;
}

static stage stage_make(int rings, int sides, bool closed, int outside)
{
    stage s = {.character = tube_make(rings, sides, closed, outside), .memory = arena_create(NULL)};
    arena scratch = arena_create(NULL);
    assert_int_equal(mesh_build_character(&s.mesh, s.character, &s.memory, NULL), CUTIS_OK);
    int count = s.mesh.point_count;
    assert_int_equal(skinning_build_points(&s.skinning, s.character, &scratch, &s.memory, NULL), CUTIS_OK);
    float *gives = ARENA_ARRAY(&s.memory, float, count);
    for (int p = 0; p < count; p++) gives[p] = 0.05f;
    float *follows = ARENA_ARRAY(&s.memory, float, count);
    s.volume_restore = (volume_restore){.character = s.character, .gives = gives, .follows = follows};
    s.skin = ARENA_ARRAY(&s.memory, float, 24);
    s.points = ARENA_ARRAY(&s.memory, float, 3 * (size_t)count);
    s.scratch = ARENA_ARRAY(&s.memory, float, 8 * (size_t)count + 64);
    memcpy(s.points, s.mesh.positions, 3 * (size_t)count * sizeof(float));
    for (int j = 0; j < 2; j++) memcpy(s.skin + 12 * j, (float[12]){1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, 48);
    arena_destroy(&scratch);
    return s;
}

/* Build what fills it; the stage stays where it is from here on. */
static void stage_build(stage *s)
{
    arena scratch = arena_create(NULL);
    s->volume_restore.mesh = &s->mesh;
    assert_int_equal(volume_restore_build(&s->volume_restore, &scratch, &s->memory, NULL), CUTIS_OK);
    assert_true(volume_restore_scratch_count(&s->volume_restore) <= 8 * (size_t)s->mesh.point_count + 64);
    arena_destroy(&scratch);
}

static void stage_end(stage *s)
{
    arena_destroy(&s->memory);
    cutis_character_destroy(s->character);
}

/* The lower joint bent about an axis across the tube, and all of it turned and moved. */
static void stage_bend(stage *s, float angle, vec3 across)
{
    vec3 one = vec3_make(1, 1, 1), axis = vec3_normalize(vec3_make(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)));
    mat34 place =
        mat34_compose(vec3_make(uniform(-3, 3), uniform(-3, 3), 1), quat_axis_angle(axis, uniform(-3, 3)), one);
    mat34 bend = mat34_compose(vec3_make(1, 0, 0), quat_axis_angle(across, angle), one);
    mat34 back = mat34_compose(vec3_make(-1, 0, 0), quat_axis_angle(across, 0), one);
    bend = mat34_multiply(place, mat34_multiply(bend, back));
    memcpy(s->skin, &place, 48);
    memcpy(s->skin + 12, &bend, 48);
    skinning_linear(&s->skinning, s->skin, s->scratch, NULL, s->points);
}

static double volume_ratio(const stage *s)
{
    const mesh *m = &s->mesh;
    return mesh_volume(m->triangle_count, m->triangles, s->points) /
           mesh_volume(m->triangle_count, m->triangles, m->positions);
}

/* Whether a run leaves all points to the bit. */
static bool is_left(stage *s)
{
    size_t bytes = 3 * (size_t)s->mesh.point_count * sizeof(float);
    float *before = malloc(bytes);
    memcpy(before, s->points, bytes);
    volume_restore_run(&s->volume_restore, s->skin, s->scratch, s->points);
    bool left = memcmp(before, s->points, bytes) == 0;
    free(before);
    return left;
}

static void rest_and_rigid_motion_are_left_to_the_bit(void **unused)
{
    (void)unused;
    seed = 1;
    stage s = stage_make(7, 6, true, 1);
    stage_build(&s);
    assert_true(is_left(&s));
    for (int i = 0; i < 20; i++) {
        stage_bend(&s, 0, vec3_make(0, 0, 1));
        assert_true(is_left(&s));
    }
    stage_end(&s);
}

static void bent_tubes_regain_their_volume(void **unused)
{
    (void)unused;
    seed = 2;
    double lost = 0, left = 0;
    for (int i = 0; i < 60; i++) {
        stage s = stage_make(5 + i % 3 * 3, 5 + i % 4 * 3, true, i % 2 ? 1 : -1);
        stage_build(&s);
        float turn = uniform(0, 6.2f);
        stage_bend(&s, uniform(0.3f, 1.3f), vec3_make(0, (float)det_sin(turn), (float)det_cos(turn)));
        lost = fmax(lost, 1 - volume_ratio(&s));
        volume_restore_run(&s.volume_restore, s.skin, s.scratch, s.points);
        left = fmax(left, fabs(1 - volume_ratio(&s)));
        stage_end(&s);
    }
    print_message("%.1f %% of the volume is lost, %.3f %% is left of that\n", 100 * lost, 100 * left);
    assert_true(lost > 0.04);
    assert_true(left < 0.01);
}

/* The derivative of the volume is right: Newton's method squares a small error in each step. */
static void small_losses_are_given_back_to_the_slack(void **unused)
{
    (void)unused;
    stage s = stage_make(9, 8, true, 1);
    stage_build(&s);
    for (int p = 0; p < s.mesh.point_count; p++)
        for (int e = 1; e < 3; e++) s.points[3 * p + e] *= 0.99f;
    assert_true(volume_ratio(&s) < 0.985);
    volume_restore_run(&s.volume_restore, s.skin, s.scratch, s.points);
    assert_true(fabs(volume_ratio(&s) - 1) < 2e-4);
    stage_end(&s);
}

/* Flesh of equal weights fills where the joint bends: the straight ends move by a tenth of that at most. */
static void volume_comes_back_where_it_was_lost(void **unused)
{
    (void)unused;
    seed = 3;
    stage s = stage_make(17, 8, true, 1);
    stage_build(&s);
    stage_bend(&s, 1.2f, vec3_make(0, 0, 1));
    float *before = malloc(3 * (size_t)s.mesh.point_count * sizeof(float)), bent = 0, straight = 0;
    memcpy(before, s.points, 3 * (size_t)s.mesh.point_count * sizeof(float));
    volume_restore_run(&s.volume_restore, s.skin, s.scratch, s.points);
    for (int p = 0; p < s.mesh.point_count; p++) {
        float x = fabsf(s.mesh.positions[3 * p] - 1);
        float moved = vec3_distance(vec3_load(before + 3 * p), vec3_load(s.points + 3 * p));
        if (x < 0.2f) bent = MAX(bent, moved);
        if (x > 0.6f) straight = MAX(straight, moved);
    }
    assert_true(bent > 0.005f && straight < 0.3f * bent);
    free(before);
    stage_end(&s);
}

static void open_meshes_and_rigid_pieces_are_left_alone(void **unused)
{
    (void)unused;
    seed = 4;
    for (int rigid = 0; rigid < 2; rigid++) {
        stage s = stage_make(7, 6, rigid, 1);
        if (rigid) s.volume_restore.gives = ARENA_ARRAY(&s.memory, float, s.mesh.point_count);
        stage_build(&s);
        stage_bend(&s, 1, vec3_make(0, 0, 1));
        assert_true(is_left(&s));
        stage_end(&s);
    }
}

static void joints_that_scale_keep_their_scale(void **unused)
{
    (void)unused;
    stage s = stage_make(7, 6, true, 1);
    stage_build(&s);
    for (int i = 0; i < 3 * s.mesh.point_count; i++) s.points[i] *= 2;
    for (int i = 0; i < 24; i++) s.skin[i] *= 2;
    assert_true(is_left(&s));

    /* without their scale it is too large, and shrinks */
    for (int i = 0; i < 24; i++) s.skin[i] /= 2;
    assert_false(is_left(&s));
    assert_true(volume_ratio(&s) < 8);
    stage_end(&s);
}

static void degenerate_triangles_give_finite_points(void **unused)
{
    (void)unused;
    seed = 5;
    for (int kind = 0; kind < 24; kind++) {
        stage s = stage_make(7, 6, true, 1);
        stage_build(&s);
        stage_bend(&s, 1, vec3_make(0, 0, 1));
        float joints[24];
        pose_random(s.character, joints);
        if (kind >= 4) {
            skin_matrices(s.character, joints, s.skin);
            skinning_linear(&s.skinning, s.skin, s.scratch, NULL, s.points);
        }
        int count = s.mesh.point_count;

        /* a ring in one point, all in one plane, all in one point, all far away, and what no animator would do */
        for (int p = 0; p < count; p++) {
            if (kind == 0 && p >= 12 && p < 18) memcpy(s.points + 3 * p, s.points + 36, 12);
            if (kind == 1) s.points[3 * p + 1] = 0;
            if (kind == 2) memcpy(s.points + 3 * p, s.points, 12);
            if (kind == 3) s.points[3 * p] += 1e6f;
        }
        volume_restore_run(&s.volume_restore, s.skin, s.scratch, s.points);
        for (int i = 0; i < 3 * count; i++) assert_true(isfinite(s.points[i]));
        stage_end(&s);
    }
}

/* A model that is bent, from rest: its vertices in `shown`. Returns the least ratio of the volume. */
static double model_run(const cutis_character *c, const cutis_jobs *jobs, float *shown)
{
    cutis_model *model;
    cutis_state *state;
    cutis_model_def def = {.character = c, .solver = "layers", .detail = 1500, .jobs = jobs};
    assert_int_equal(cutis_model_build(&def, &model, NULL), CUTIS_OK);
    assert_int_equal(cutis_state_create(model, NULL, &state, NULL), CUTIS_OK);
    cutis_state_reset(model, state, NULL);
    double least = 1, rest = mesh_volume(c->triangle_count, c->triangles, c->positions);
    float joints[24];
    for (int frame = 1; frame <= 20; frame++) {
        cutis_pose_rest(c, joints);
        mat34 bend = mat34_compose(vec3_make(1, 0, 0), quat_axis_angle(vec3_make(0, 0, 1), 0.07f * (float)frame),
                                   vec3_make(1, 1, 1));
        memcpy(joints + 12, &bend, 48);
        cutis_step_input input = {.joints = joints, .jobs = jobs};
        cutis_state_step(model, state, &input, 1.0 / 30);
        memcpy(shown, cutis_state_positions(model, state), 3 * (size_t)c->vertex_count * sizeof(float));
        least = fmin(least, mesh_volume(c->triangle_count, c->triangles, shown) / rest);
    }
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return least;
}

static void a_coarse_character_keeps_its_volume_on_any_number_of_threads(void **unused)
{
    (void)unused;
    cutis_pool *pool;
    assert_int_equal(cutis_pool_create(3, NULL, &pool, NULL), CUTIS_OK);
    cutis_character *c = tube_make(6, 5, true, 1);
    float shown[2][3 * TUBE_VERTICES];
    double ratio = model_run(c, NULL, shown[0]);
    model_run(c, cutis_pool_jobs(pool), shown[1]);
    print_message("volume at least %.2f %%\n", 100 * ratio);
    assert_true(ratio > 0.99);
    assert_memory_equal(shown[0], shown[1], 3 * (size_t)c->vertex_count * sizeof(float));
    cutis_character_destroy(c);
    cutis_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_and_rigid_motion_are_left_to_the_bit),
        cmocka_unit_test(bent_tubes_regain_their_volume),
        cmocka_unit_test(small_losses_are_given_back_to_the_slack),
        cmocka_unit_test(volume_comes_back_where_it_was_lost),
        cmocka_unit_test(open_meshes_and_rigid_pieces_are_left_alone),
        cmocka_unit_test(joints_that_scale_keep_their_scale),
        cmocka_unit_test(degenerate_triangles_give_finite_points),
        cmocka_unit_test(a_coarse_character_keeps_its_volume_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
