/* Characters from a host's arrays, their clips, and the two skinning kernels. */
#include "testing.h"

#include "bar.h"
#include "character/lead_in.h"
#include "character/skinning.h"
#include "math/math3.h"

static void create_accepts_what_it_should_and_names_what_it_refuses(void **unused)
{
    (void)unused;
    cutis_error error;
    cutis_character *c = NULL;
    bar t = bar_make(8, 12, 2);
    assert_int_equal(cutis_character_create(&t.given, NULL, &c, &error), CUTIS_OK);
    assert_int_equal(c->point_count, t.given.vertex_count);
    assert_int_equal(c->warning_count, 0);
    cutis_character_destroy(c);

    /* Each damage gives an error that names the place. */
    float keep = t.positions[7];
    t.positions[7] = NAN;
    assert_int_equal(cutis_character_create(&t.given, NULL, &c, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "vertex 2"));
    assert_null(c);
    t.positions[7] = keep;

    int corner = t.corners[5];
    t.corners[5] = 100000;
    assert_int_equal(cutis_character_create(&t.given, NULL, &c, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "100000"));
    t.corners[5] = corner;

    int joint = t.influence_joints[3];
    t.influence_joints[3] = 77;
    assert_int_equal(cutis_character_create(&t.given, NULL, &c, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "joint 77"));
    t.influence_joints[3] = joint;

    t.joints[0].parent = 1;
    assert_int_equal(cutis_character_create(&t.given, NULL, &c, &error), CUTIS_ERROR_DATA);
    t.joints[0].parent = -1;

    cutis_character empty = {.name = "nothing"};
    assert_int_equal(cutis_character_create(&empty, NULL, &c, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "empty"));
    bar_free(&t);
}

static void weights_are_normalised_with_a_warning(void **unused)
{
    (void)unused;
    bar t = bar_make(8, 12, 2);
    t.influence_weights[t.influence_first[5]] += 0.5f;
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&t.given, NULL, &c, NULL), CUTIS_OK);
    assert_int_equal(c->warning_count, 1);
    assert_non_null(strstr(c->warnings[0], "1 vertices"));
    for (int v = 0; v < c->vertex_count; v++) {
        float sum = 0;
        for (int k = c->influence_first[v]; k < c->influence_first[v + 1]; k++) sum += c->influence_weights[k];
        assert_true(fabsf(sum - 1) < 1e-6f);
    }
    cutis_character_destroy(c);
    bar_free(&t);
}

/* A vertex that was forgotten when weights were painted; fingertips on a joint of their own are none. */
static void a_vertex_on_a_far_joint_is_told(void **unused)
{
    (void)unused;
    cutis_character *man = test_zoo("man", 0.2), *made;
    assert_int_equal(man->warning_count, 0);
    int *joints = malloc((size_t)man->influence_first[man->vertex_count] * sizeof(int));
    for (int i = 0; i < man->influence_first[man->vertex_count]; i++) joints[i] = man->influence_joints[i];

    /* the highest vertex, on a foot */
    int top = 0;
    for (int v = 0; v < man->vertex_count; v++)
        if (man->positions[3 * v + 1] > man->positions[3 * top + 1]) top = v;
    int low = 0;
    for (int v = 0; v < man->vertex_count; v++)
        if (man->positions[3 * v + 1] < man->positions[3 * low + 1]) low = v;
    int foot = man->influence_joints[man->influence_first[low]];
    for (int v = 0; v < man->vertex_count; v++) {
        if (man->vertex_points[v] != man->vertex_points[top]) continue;
        for (int i = man->influence_first[v]; i < man->influence_first[v + 1]; i++) joints[i] = foot;
    }

    cutis_character given = *man;
    given.influence_joints = joints;
    assert_int_equal(cutis_character_create(&given, NULL, &made, NULL), CUTIS_OK);
    assert_int_equal(made->warning_count, 1);
    assert_non_null(strstr(made->warnings[0], man->joints[foot].name));
    assert_non_null(strstr(made->warnings[0], "1 point hangs"));
    cutis_character_destroy(made);
    cutis_character_destroy(man);
    free(joints);
}

static void seams_are_welded_and_polygons_cut(void **unused)
{
    (void)unused;
    /* A unit square of two triangles that share no vertex, beside an L of six corners. */
    const float positions[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0,
                               3, 0, 0, 5, 0, 0, 5, 1, 0, 4, 1, 0, 4, 2, 0, 3, 2, 0};
    const int first[] = {0, 3, 6, 12}, corners[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    cutis_character given = {
        .vertex_count = 12, .positions = positions, .face_count = 3, .face_first = first, .corners = corners};
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&given, NULL, &c, NULL), CUTIS_OK);
    assert_int_equal(c->point_count, 10);
    assert_int_equal(c->triangle_count, 6);
    assert_int_equal(c->vertex_points[3], c->vertex_points[0]);
    assert_int_equal(c->vertex_points[4], c->vertex_points[2]);
    /* The L is cut inside: its triangles have positive area that sums to 3. */
    double area = 0;
    for (int t = 2; t < 6; t++) {
        const float *a = positions + 3 * c->triangles[3 * t], *b = positions + 3 * c->triangles[3 * t + 1];
        const float *d = positions + 3 * c->triangles[3 * t + 2];
        double one = ((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0])) / 2;
        assert_true(one > 0);
        area += one;
    }
    assert_true(fabs(area - 3) < 1e-9);
    cutis_character_destroy(c);
}

static void coincident_vertices_that_move_apart_stay_apart(void **unused)
{
    (void)unused;
    const float positions[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0};
    const int first[] = {0, 3, 6}, corners[] = {0, 1, 2, 3, 4, 5};
    const int influence_first[] = {0, 1, 2, 3, 4, 5, 6}, influence_joints[] = {0, 0, 0, 1, 1, 1};
    const float influence_weights[] = {1, 1, 1, 1, 1, 1};
    cutis_joint joints[2];
    for (int j = 0; j < 2; j++) {
        joints[j] = (cutis_joint){.name = j ? "b" : "a",
                                  .parent = j - 1,
                                  .rest = {{0}, {0, 0, 0, 1}, {1, 1, 1}},
                                  .idle = {{0}, {0, 0, 0, 1}, {1, 1, 1}},
                                  .inverse_bind = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    }
    cutis_character given = {.vertex_count = 6,
                             .positions = positions,
                             .face_count = 2,
                             .face_first = first,
                             .corners = corners,
                             .influence_first = influence_first,
                             .influence_joints = influence_joints,
                             .influence_weights = influence_weights,
                             .joint_count = 2,
                             .joints = joints};
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&given, NULL, &c, NULL), CUTIS_OK);
    assert_int_equal(c->point_count, 6);
    cutis_character_destroy(c);
}

static void clips_interpolate_as_gltf_says(void **unused)
{
    (void)unused;
    bar t = bar_make(8, 12, 2);
    const float times[] = {1, 2, 4};
    const float steps[] = {0, 0, 0, 1, 2, 3, 5, 5, 5};
    /* Cubic: x = time cubed on [1, 2] and [2, 4], whose derivative is 3 t^2. */
    const float cubic[] = {3, 3,  3,  1,  1,  1,  3,  3,  3,  12, 12, 12, 8, 8,
                           8, 12, 12, 12, 48, 48, 48, 64, 64, 64, 48, 48, 48};
    cutis_track tracks[] = {{0, CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_STEP, 3, times, steps},
                            {0, CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_LINEAR, 3, times, steps},
                            {0, CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_CUBIC, 3, times, cubic}};
    cutis_clip clips[3];
    const char *names[] = {"step", "linear", "cubic"};
    for (int i = 0; i < 3; i++) clips[i] = (cutis_clip){.name = names[i], .track_count = 1, .tracks = &tracks[i]};
    t.given.clips = clips;
    t.given.clip_count = 3;
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&t.given, NULL, &c, NULL), CUTIS_OK);
    assert_true(c->clips[0].start == 1 && c->clips[0].end == 4);
    float joints[12 * 8];
    const double at[] = {0, 1, 1.5, 2, 3, 4, 9};
    const float expected[3][7] = {{0, 0, 0, 1, 1, 5, 5}, {0, 0, 0.5f, 1, 3, 5, 5}, {1, 1, 3.375f, 8, 27, 64, 64}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 7; k++) {
            cutis_pose_sample(c, i, at[k], joints);
            assert_true(fabsf(joints[3] - expected[i][k]) < 1e-5f);
        }
    }
    cutis_character_destroy(c);
    bar_free(&t);
}

static void rest_pose_gives_the_rest_shape(void **unused)
{
    (void)unused;
    bar t = bar_make(10, 16, 3);
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&t.given, NULL, &c, NULL), CUTIS_OK);
    const char *names[] = {"lbs", "dqs"};
    for (int i = 0; i < 2; i++) {
        cutis_model *model = test_build(c, names[i], NULL);
        cutis_state *state = test_state(model, NULL);
        const float *positions = cutis_state_positions(model, state);
        for (int e = 0; e < 3 * c->vertex_count; e++) {
            assert_true(fabsf(positions[e] - c->positions[e]) < 1e-6f * c->size);
        }
        cutis_state_destroy(state);
        cutis_model_destroy(model);
    }
    cutis_character_destroy(c);
    bar_free(&t);
}

/* Local transforms make the pose that the character makes of its own. */
static void local_transforms_make_a_pose(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 0.3);
    size_t count = 12 * (size_t)c->joint_count;
    float *made = malloc(count * sizeof(float)), *rest = malloc(count * sizeof(float));
    cutis_transform *locals = malloc((size_t)c->joint_count * sizeof *locals);
    for (int j = 0; j < c->joint_count; j++) locals[j] = c->joints[j].rest;
    cutis_pose_rest(c, rest);
    cutis_pose_from_locals(c, locals, made);
    for (size_t k = 0; k < count; k++) assert_true(fabsf(made[k] - rest[k]) < 1e-6f * c->size);

    /* a root that is moved takes all joints along */
    locals[0].translation[1] += 1;
    cutis_pose_from_locals(c, locals, made);
    for (int j = 0; j < c->joint_count; j++) {
        int root = j;
        while (c->joints[root].parent >= 0) root = c->joints[root].parent;
        assert_true(fabsf(made[12 * j + 7] - rest[12 * j + 7] - (root == 0 ? 1 : 0)) < 1e-5f);
    }
    free(locals);
    free(made);
    free(rest);
    cutis_character_destroy(c);
}

/* The next number of a linear congruential sequence, -1 .. 1. */
static float random_next(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (float)(*random >> 40) / (1 << 23) - 1;
}

/* Both kernels against a plain evaluation in double, for 0 to 9 influences and scaled, turned joints. */
static void skinning_agrees_with_a_plain_evaluation(void **unused)
{
    (void)unused;
    enum { COUNT = 1000, JOINTS = 9 };
    static float rest[3 * COUNT], out[3 * COUNT], scratch[JOINTS * 25 + 16], weights[COUNT * JOINTS];
    static int first[COUNT + 1], joints[COUNT * JOINTS];
    float skin[12 * JOINTS];
    uint64_t random = 7;
    for (int j = 0; j < JOINTS; j++) {
        quat q = quat_normalize(
            (quat){random_next(&random), random_next(&random), random_next(&random), random_next(&random)});
        float s = j % 3 ? 1 : 1.3f;
        mat34 m =
            mat34_compose((vec3){random_next(&random), random_next(&random), random_next(&random)}, q, (vec3){s, s, s});
        memcpy(skin + 12 * j, &m, sizeof m);
    }
    int total = 0;
    for (int i = 0; i < COUNT; i++) {
        for (int e = 0; e < 3; e++) rest[3 * i + e] = random_next(&random);
        first[i] = total;
        int n = i % 10;
        float sum = 0;
        for (int k = 0; k < n; k++) {
            joints[total + k] = (i + k) % JOINTS;
            sum += weights[total + k] = 0.05f + fabsf(random_next(&random));
        }
        for (int k = 0; k < n; k++) weights[total + k] /= sum;
        total += n;
    }
    first[COUNT] = total;
    arena memory = arena_create(NULL);
    skinning s;
    assert_int_equal(skinning_build(&s, COUNT, rest, first, joints, weights, JOINTS, &memory, NULL), CUTIS_OK);
    assert_true(skinning_scratch_count(&s) <= sizeof scratch / sizeof *scratch);
    skinning_linear(&s, skin, scratch, NULL, out);
    for (int i = 0; i < COUNT; i++) {
        for (int row = 0; row < 3; row++) {
            double sum = first[i] == first[i + 1] ? (double)rest[3 * i + row] : 0;
            for (int k = first[i]; k < first[i + 1]; k++) {
                const float *m = skin + 12 * joints[k] + 4 * row;
                double y = (double)m[0] * rest[3 * i] + (double)m[1] * rest[3 * i + 1] + (double)m[2] * rest[3 * i + 2];
                sum += (double)weights[k] * (y + (double)m[3]);
            }
            assert_true(fabs(sum - (double)out[3 * i + row]) < 2e-6);
        }
    }
    /* One influence: both are the same matrix. */
    static float dual[3 * COUNT];
    skinning_dual(&s, skin, scratch, NULL, dual);
    for (int i = 0; i < COUNT; i++) {
        if (first[i + 1] - first[i] > 1) continue;
        for (int e = 0; e < 3; e++) assert_true(fabsf(dual[3 * i + e] - out[3 * i + e]) < 5e-6f);
    }
    arena_destroy(&memory);
}

/* q and -q of one joint must not matter, and a half-way twist must not collapse. */
static void dual_quaternions_keep_the_radius_of_a_twist(void **unused)
{
    (void)unused;
    const float rest[] = {1, 0, 0};
    const int first[] = {0, 2}, joints[] = {0, 1};
    const float weights[] = {0.5f, 0.5f};
    float scratch[2 * 25 + 16], out[3], linear[3];
    arena memory = arena_create(NULL);
    skinning s;
    assert_int_equal(skinning_build(&s, 1, rest, first, joints, weights, 2, &memory, NULL), CUTIS_OK);
    for (int degrees = 0; degrees < 180; degrees += 10) {
        float skin[24];
        for (int j = 0; j < 2; j++) {
            /* One turned by an angle, the other by less than a whole turn the other way: opposite signs. */
            double angle = (j ? degrees : 0) * 3.14159265358979 / 180;
            mat34 m = mat34_compose((vec3){0, 0, 0}, quat_axis_angle((vec3){0, 1, 0}, angle), (vec3){1, 1, 1});
            memcpy(skin + 12 * j, &m, sizeof m);
        }
        skinning_dual(&s, skin, scratch, NULL, out);
        skinning_linear(&s, skin, scratch, NULL, linear);
        assert_true(fabsf(vec3_length(vec3_load(out)) - 1) < 1e-5f);
        double expected = cos(degrees * 3.14159265358979 / 360);
        assert_true(fabs((double)vec3_length(vec3_load(linear)) - expected) < 1e-5);
    }
    arena_destroy(&memory);
}

/*
 * The longest way of a joint in 5 ms of a lead-in, over the size. In the clip's first pose a joint is
 * turned by 150 degrees from rest, and turns back, by `degrees` in its first frame and by `more` in two others.
 */
static double lead_in_fastest(const cutis_character *c, double degrees, double more)
{
    enum { JOINTS = 8 };
    assert_in_range(c->joint_count, 2, JOINTS);
    const float times[3] = {0, 1 / 30.0f, 0.1f};
    float values[12];
    const float *r = c->joints[1].rest.rotation;
    for (int k = 0; k < 3; k++) {
        float half = (float)((150 - (k > 0) * degrees - (k > 1) * more) / 2 * 3.14159265358979 / 180);
        quat turned = quat_multiply((quat){r[0], r[1], r[2], r[3]}, (quat){0, 0, sinf(half), cosf(half)});
        memcpy(values + 4 * k, &turned, 4 * sizeof(float));
    }
    cutis_track track = {1, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, 3, times, values};
    cutis_clip clip = {.name = "jump", .start = 0, .end = 1, .track_count = 1, .tracks = &track};
    cutis_character jumps = *c;
    jumps.clips = &clip;
    jumps.clip_count = 1;

    /* joints from instant to instant */
    float poses[2][12 * JOINTS];
    double fastest = 0;
    for (int i = 0; i <= 150; i++) {
        pose_lead_in(&jumps, 0, 0, 0.005 * i, 0.75, poses[i % 2]);
        for (int j = 0; i > 0 && j < c->joint_count; j++) {
            const float *a = poses[0] + 12 * j, *b = poses[1] + 12 * j;
            vec3 way = {a[3] - b[3], a[7] - b[7], a[11] - b[11]};
            fastest = MAX(fastest, (double)(vec3_length(way) / c->size));
        }
    }
    return fastest;
}

/* A lead-in arrives as fast as the clip goes on, but a clip that begins with a jump does not fling limbs around. */
static void a_clip_that_begins_with_a_jump_is_led_in_calmly(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("arm", 0.2);
    static const double degrees[][2] = {{0, 20},   {15, 20},  {25, 20},  {60, 20},
                                        {170, 20}, {180, 20}, {190, 20}, {30, 155}};
    for (int i = 0; i < 8; i++) {
        double fastest = lead_in_fastest(c, degrees[i][0], degrees[i][1]);
        print_message("%.0f degrees in the first frame, %.0f after: joints go by at most %.4f of the size in 5 ms\n",
                      degrees[i][0], degrees[i][1], fastest);
        assert_true(fastest > 0.001 && fastest < 0.09);
    }
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_accepts_what_it_should_and_names_what_it_refuses),
        cmocka_unit_test(weights_are_normalised_with_a_warning),
        cmocka_unit_test(a_vertex_on_a_far_joint_is_told),
        cmocka_unit_test(seams_are_welded_and_polygons_cut),
        cmocka_unit_test(coincident_vertices_that_move_apart_stay_apart),
        cmocka_unit_test(clips_interpolate_as_gltf_says),
        cmocka_unit_test(rest_pose_gives_the_rest_shape),
        cmocka_unit_test(local_transforms_make_a_pose),
        cmocka_unit_test(skinning_agrees_with_a_plain_evaluation),
        cmocka_unit_test(dual_quaternions_keep_the_radius_of_a_twist),
        cmocka_unit_test(a_clip_that_begins_with_a_jump_is_led_in_calmly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
