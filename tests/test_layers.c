/* Solver layers: paths, sums, the figures of its issue on small characters, cruelty, memory, threads. */
#include "testing.h"

#include "bar.h"
#include "leaves.h"
#include "math/math3.h"
#include "mesh/mesh.h"
#include "random_pose.h"
#include "solvers/layers/layers.h"

/* ---- helpers ---- */

/* A closed bar of about 400 points, with a chain of joints. */
static cutis_character *make_bar(int joints)
{
    bar b = bar_make(16, 24, joints);
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
    bar_free(&b);
    return c;
}

static cutis_model *make_model(const cutis_character *c, const char *name, double substep,
                               const cutis_setting *settings, int count)
{
    return test_build_def((cutis_model_def){
        .character = c, .solver = name, .substep = substep, .settings = settings, .setting_count = count});
}

/* Bake a clip; frames: (count x vertex_count x 3), to be freed. */
static float *bake(const cutis_character *c, const char *name, const char *clip, double fps,
                   const cutis_setting *settings, int setting_count, int *count)
{
    cutis_model *model = make_model(c, name, 0, settings, setting_count);
    cutis_state *state = test_state(model, NULL);
    cutis_clip_motion motion = {c, cutis_character_find_clip(c, clip), 0.25};
    assert_true(motion.clip >= 0);
    double length = motion.lead_in + c->clips[motion.clip].end - c->clips[motion.clip].start;
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    *count = (int)(length * fps) + 1;
    float *frames = malloc((size_t)*count * (size_t)c->vertex_count * 3 * sizeof(float));
    assert_non_null(frames);
    for (int f = 0; f < *count; f++) {
        cutis_state_step(model, state, &input, f ? 1 / fps : 0);
        memcpy(frames + (size_t)f * (size_t)c->vertex_count * 3, cutis_state_positions(model, state),
               (size_t)c->vertex_count * 3 * sizeof(float));
    }
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return frames;
}

static cutis_quality measure(const cutis_character *c, const float *frames, int count, double fps)
{
    cutis_quality quality;
    cutis_error error;
    if (cutis_measure(c, frames, count, fps, NULL, NULL, &quality, &error)) fail_msg("%s", error.text);
    return quality;
}

/* Largest distance between two sets of positions, over the size. */
static double difference(const cutis_character *c, const float *a, const float *b)
{
    double largest = 0;
    for (int i = 0; i < 3 * c->vertex_count; i++) largest = fmax(largest, fabs((double)a[i] - b[i]));
    return largest / c->size;
}

/* ---- paths ---- */

static void every_point_is_on_one_path_and_regions_are_symmetric(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("hand", 0.2);
    arena memory = arena_create(NULL);
    mesh m, own;
    layers_paths paths;
    assert_int_equal(mesh_build_character(&m, c, &memory, NULL), CUTIS_OK);
    assert_int_equal(layers_paths_build(&paths, &m, &memory, NULL, NULL), CUTIS_OK);
    int n = m.point_count;
    uint8_t *seen = ARENA_ARRAY(&memory, uint8_t, n);
    for (int k = 0; k < n; k++) seen[paths.points[k]]++;
    for (int p = 0; p < n; p++) assert_int_equal(seen[p], 1);

    /* the mesh in the order of places */
    float *positions = ARENA_ARRAY(&memory, float, 3 * n), *radii = ARENA_ARRAY(&memory, float, n);
    int *triangles = ARENA_ARRAY(&memory, int, 3 * m.triangle_count);
    for (int k = 0; k < n; k++) memcpy(positions + 3 * k, m.positions + 3 * paths.points[k], 3 * sizeof(float));
    for (int i = 0; i < 3 * m.triangle_count; i++) triangles[i] = paths.places[m.triangles[i]];
    assert_int_equal(mesh_build(&own, n, positions, m.triangle_count, triangles, &memory, NULL), CUTIS_OK);
    for (int w = 1; w <= 3; w++) {
        for (int k = 0; k < n; k++) radii[k] = 0.02f * (float)(w * c->size) * (1 + 0.3f * sinf((float)k));
        assert_int_equal(layers_paths_regions(&paths, &own, radii, &memory, NULL, NULL), CUTIS_OK);
        long covered = 0;
        for (int k = 0; k < n; k++) {
            /* the intervals hold the members, and each member holds k */
            int at = paths.member_first[k];
            for (int i = paths.interval_first[k]; i < paths.interval_first[k + 1]; i++)
                for (int e = paths.intervals[i].begin; e < paths.intervals[i].end; e++, covered++) {
                    int path = 0; /* entries of prefix arrays count one more for each path */
                    while (path + 1 <= paths.path_count && paths.path_first[path + 1] + path + 1 <= e) path++;
                    assert_int_equal(paths.members[at++], e - path);
                }
            assert_int_equal(at, paths.member_first[k + 1]);
            for (int i = paths.member_first[k]; i < paths.member_first[k + 1]; i++) {
                int q = paths.members[i];
                bool held = false;
                for (int j = paths.member_first[q]; j < paths.member_first[q + 1]; j++)
                    held = held || paths.members[j] == k;
                assert_true(held);
            }
            /* neighbours are in, and no one is further away than the radius */
            for (int i = own.point_neighbour_first[k]; i < own.point_neighbour_first[k + 1]; i++) {
                bool held = false;
                for (int j = paths.member_first[k]; j < paths.member_first[k + 1]; j++)
                    held = held || paths.members[j] == own.point_neighbours[i];
                assert_true(held);
            }
        }
        assert_int_equal(covered, paths.member_first[n]);
    }
    arena_destroy(&memory);
    cutis_character_destroy(c);
}

/* The same substep from the same state, along a clip. */
static void fast_sums_equal_naive_sums(void **unused)
{
    (void)unused;
    test_is_heavy();
    cutis_character *c = test_zoo("arm", 0.2);
    for (int w = 1; w <= 4; w++) {
        const char *radii[] = {"0.3", "0.6", "1", "2"};
        const cutis_setting settings[] = {{"radius", radii[w - 1]}, {"self_collision", "off"}, {"summation", "naive"}};
        cutis_model *fast = make_model(c, "layers", 0, settings, 2), *naive = make_model(c, "layers", 0, settings, 3);
        cutis_state *a = test_state(fast, NULL), *b = test_state(naive, NULL);
        cutis_clip_motion motion = {c, cutis_character_find_clip(c, "flex"), 0.1};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
        double worst = 0;
        for (int f = 0; f < 12; f++) {
            cutis_state_step(fast, a, &input, 0.1);
            cutis_state_copy(fast, b, a); /* the two models' states have the same shape */
            cutis_state_step(fast, a, &input, 0.005);
            cutis_state_step(naive, b, &input, 0.005);
            worst = fmax(worst, difference(c, cutis_state_positions(fast, a), cutis_state_positions(naive, b)));
        }
        print_message("w = %d: fast and naive differ by %.2g of the size\n", w, worst);
        assert_true(worst < 1e-5);
        cutis_state_destroy(a);
        cutis_state_destroy(b);
        cutis_model_destroy(fast);
        cutis_model_destroy(naive);
    }
    cutis_character_destroy(c);
}

/* ---- figures ---- */

static void flexed_arm_keeps_volume_and_does_not_intersect(void **unused)
{
    (void)unused;
    test_is_heavy();
    cutis_character *c = test_zoo("arm", 0.4);
    const char *solvers[] = {"lbs", "dqs", "layers"};
    cutis_quality q[3];
    for (int s = 0; s < 3; s++) {
        int count;
        float *frames = bake(c, solvers[s], "flex", 24, NULL, 0, &count);
        q[s] = measure(c, frames, count, 24);
        print_message("arm flex %-6s volume error %.3f %%, self-intersections %d, penetration %.2g\n", solvers[s],
                      100 * q[s].volume_error_max, q[s].self_intersections_max, q[s].penetration_max);
        free(frames);
    }
    assert_true(q[2].volume_error_max <= 0.009);
    assert_int_equal(q[2].self_intersections_max, 0);
    assert_true(q[2].penetration_max == 0);
    assert_int_equal(q[2].non_finite, 0);
    assert_true(q[0].self_intersections_max > 0); /* or the test would show nothing */
    cutis_character_destroy(c);
}

static void fist_does_not_intersect(void **unused)
{
    (void)unused;
    test_is_heavy();
    cutis_character *c = test_zoo("hand", 0.25);
    int count;
    float *frames = bake(c, "layers", "fist", 12, NULL, 0, &count);
    cutis_quality q = measure(c, frames, count, 12);
    print_message("hand fist layers: volume error %.3f %%, self-intersections %d (rest %d)\n", 100 * q.volume_error_max,
                  q.self_intersections_max, q.self_intersections_rest);
    assert_true(q.self_intersections_max <= q.self_intersections_rest);
    assert_true(q.volume_error_max <= 0.015);
    free(frames);
    cutis_character_destroy(c);
}

static void twisted_arm_keeps_its_sections(void **unused)
{
    (void)unused;
    test_is_heavy();
    cutis_character *c = test_zoo("arm", 0.4);
    int count;
    for (int s = 0; s < 2; s++) {
        float *frames = bake(c, s ? "layers" : "lbs", "twist", 12, NULL, 0, &count);
        cutis_quality q = measure(c, frames, count, 12);
        print_message("arm twist %-6s smallest section %.3f\n", s ? "layers" : "lbs", q.min_section_ratio);
        if (s) assert_true(q.min_section_ratio >= 0.85);
        free(frames);
    }
    cutis_character_destroy(c);
}

/* ---- material ---- */

/* A pose that moves the whole bar by x along x. */
static void pose_shift(const cutis_character *c, float x, float *joints)
{
    cutis_pose_rest(c, joints);
    for (int j = 0; j < c->joint_count; j++) joints[12 * j + 3] += x;
}

typedef struct swing {
    double crossings;   /* a second, after the stop */
    double first, last; /* amplitude right after the stop, and two seconds later, over the size */
} swing;

/* Push the bar, stop it, and watch the skin in the middle swing on relative to the bones. */
static swing swing_measure(const cutis_setting *settings, int count, double substep)
{
    cutis_character *c = make_bar(2);
    cutis_model *model = make_model(c, "layers", substep, settings, count);
    cutis_state *state = test_state(model, NULL);
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof(float));
    swing result = {0};
    double before = 0, x = 0;
    int vertex = 12 * 16 + 4; /* half way up, on the side */
    for (int f = 0; f < 480; f++) {
        double t = f / 200.0;
        if (t < 0.2) x = 0.5 * t;
        pose_shift(c, (float)x, joints);
        cutis_step_input input = {.joints = joints};
        cutis_state_step(model, state, &input, 1 / 200.0);
        double offset = (cutis_state_positions(model, state)[3 * vertex] - c->positions[3 * vertex] - x) / c->size;
        if (t > 0.25) {
            result.crossings += (before < 0) != (offset < 0) && fabs(offset) > 1e-6;
            if (t < 0.6) result.first = fmax(result.first, fabs(offset));
            if (t > 2.2) result.last = fmax(result.last, fabs(offset));
        }
        before = offset;
    }
    result.crossings /= 2.15;
    free(joints);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
    return result;
}

static void soft_flesh_swings_on_slower_and_comes_to_rest(void **unused)
{
    (void)unused;
    test_is_heavy();
    const cutis_setting soft[] = {{"fat_stiffness", "3.241"},
                                  {"skin_stiffness", "8.513"},
                                  {"muscle_stiffness", "58.73"},
                                  {"damping", "1"},
                                  {"volume", "off"}};
    const cutis_setting firm[] = {{"fat_stiffness", "6.69"},
                                  {"skin_stiffness", "8.513"},
                                  {"muscle_stiffness", "58.73"},
                                  {"damping", "1"},
                                  {"volume", "off"}};
    swing a = swing_measure(soft, 5, 0.001), b = swing_measure(firm, 5, 0.001);
    print_message("swing: soft %.1f Hz from %.4f to %.5f, firm %.1f Hz from %.4f to %.5f of the size\n",
                  a.crossings / 2, a.first, a.last, b.crossings / 2, b.first, b.last);
    assert_true(a.first > 1e-4 && a.crossings > 1);
    assert_true(a.last < 0.5 * a.first && b.last < 0.5 * b.first);
    assert_true(a.crossings < b.crossings);
}

/* Sag under a load, and the swing's frequency, are the material's and not the substep's or the iterations'. */
static double sag(double substep, const char *iterations)
{
    cutis_character *c = make_bar(2);
    const cutis_setting settings[] = {{"fat_stiffness", "8.513"},
                                      {"skin_stiffness", "8.513"},
                                      {"muscle_stiffness", "8.513"},
                                      {"iterations", iterations}};
    cutis_model *model = make_model(c, "layers", substep, settings, 4);
    cutis_state *state = test_state(model, NULL);
    for (int i = 0; i < 100; i++) {
        /* five sizes a second squared */
        cutis_step_input input = {.acceleration = {0, -5 * c->size, 0}};
        cutis_state_step(model, state, &input, 0.01);
    }
    double sum = 0;
    const float *x = cutis_state_positions(model, state);
    for (int v = 0; v < c->vertex_count; v++) sum += (c->positions[3 * v + 1] - x[3 * v + 1]) / c->size;
    sum /= c->vertex_count;
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
    return sum;
}

static void stiffness_does_not_depend_on_substep_or_iterations(void **unused)
{
    (void)unused;
    test_is_heavy();
    double plain = sag(0.005, "20"), half = sag(0.0025, "20"), twice = sag(0.01, "20"), more = sag(0.005, "60");
    print_message("sag: 5 ms %.5f, 2.5 ms %.5f, 10 ms %.5f, three times the iterations %.5f of the size\n", plain, half,
                  twice, more);
    assert_true(plain > 1e-4);
    assert_true(fabs(half / plain - 1) < 0.1);
    assert_true(fabs(twice / plain - 1) < 0.1);
    assert_true(fabs(more / plain - 1) < 0.1);
    const cutis_setting soft[] = {{"fat_stiffness", "3.241"},
                                  {"skin_stiffness", "8.513"},
                                  {"muscle_stiffness", "58.73"},
                                  {"damping", "1"},
                                  {"volume", "off"}};
    swing a = swing_measure(soft, 5, 0.0025), b = swing_measure(soft, 5, 0.00125);
    print_message("swing: 2.5 ms %.2f Hz, 1.25 ms %.2f Hz\n", a.crossings / 2, b.crossings / 2);
    assert_true(fabs(b.crossings / a.crossings - 1) < 0.15);
}

/* Positions after a reset to a pose and some steps of 1/60 s there, under an acceleration along y. */
static float *pose_hold(const cutis_character *c, const cutis_setting *settings, int count, const float *joints,
                        int steps, float along)
{
    cutis_model *model = make_model(c, "layers", 0, settings, count);
    cutis_state *state = test_state(model, NULL);
    cutis_state_reset(model, state, joints);
    cutis_step_input input = {.joints = joints, .acceleration = {0, along, 0}};
    for (int i = 0; i < steps; i++) cutis_state_step(model, state, &input, 1.0 / 60);

    float *positions = malloc(3 * (size_t)c->vertex_count * sizeof(float));
    memcpy(positions, cutis_state_positions(model, state), 3 * (size_t)c->vertex_count * sizeof(float));
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return positions;
}

/* The bar after a second at rest, or upside down about x. */
static float *bar_hold(const cutis_character *c, const cutis_setting *settings, int count, bool turned, float along)
{
    float joints[2 * 12];
    cutis_pose_rest(c, joints);
    for (int j = 0; j < 2 && turned; j++)
        for (int e = 4; e < 12; e++) joints[12 * j + e] *= -1;
    return pose_hold(c, settings, count, joints, 60, along);
}

/* Flesh hangs under gravity in the modelled shape: at rest nothing moves; upside down it sags by twice the weight. */
static void modelled_flesh_hangs_already(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(2);
    /* three metres per unit: a body of full size, which gets the whole of gravity; so much that the sag is far above
     * rounding */
    const cutis_setting heavy[] = {{"gravity", "29.43"}, {"unit", "3"}};
    float *rest = bar_hold(c, heavy, 2, false, 0), *turned = bar_hold(c, heavy, 2, true, 0);
    float *loaded = bar_hold(c, NULL, 0, false, 2 * 9.81f);
    double moved = 0, sags = 0, apart = 0;
    for (int i = 0; i < 3 * c->vertex_count; i++) {
        double upright = i % 3 == 0 ? (double)turned[i] : -(double)turned[i];
        moved = fmax(moved, fabs((double)rest[i] - (double)c->positions[i]));
        sags = fmax(sags, fabs(upright - (double)c->positions[i]));
        apart = fmax(apart, fabs(upright - (double)loaded[i]));
    }
    print_message("gravity: at rest %.1e, upside down %.4f, from twice the load %.1e of the size\n", moved / c->size,
                  sags / c->size, apart / c->size);
    assert_true(moved < 1e-6 * c->size && sags > 1e-3 * c->size && apart < 1e-3 * sags);
    free(rest);
    free(turned);
    free(loaded);
    cutis_character_destroy(c);
}

/* Elasticity in every second iteration is another path to nearly the same shape. */
static void elasticity_may_skip_iterations(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(2);
    const cutis_setting skipping[] = {{"match_every", "2"}};
    float *all = bar_hold(c, NULL, 0, false, -9.81f), *half = bar_hold(c, skipping, 1, false, -9.81f);
    double sags = 0, apart = 0;
    for (int i = 0; i < 3 * c->vertex_count; i++) {
        sags = fmax(sags, fabs((double)all[i] - (double)c->positions[i]));
        apart = fmax(apart, fabs((double)all[i] - (double)half[i]));
    }
    print_message("elasticity in every second iteration: %.3f of the sag away\n", apart / sags);
    assert_true(apart > 0 && apart < 0.2 * sags);
    free(all);
    free(half);
    cutis_character_destroy(c);
}

/* The arm at an instant of its flex, with or without a muscle on the upper arm. */
static float *arm_flexed(const cutis_character *c, double time, bool muscle)
{
    const cutis_setting settings[] = {{"bones.upper_arm.muscle_bulge", "0.5"}};
    float joints[4 * 12];
    cutis_pose_sample(c, cutis_character_find_clip(c, "flex"), time, joints);
    return pose_hold(c, settings, muscle, joints, 0, 0);
}

/* The upper arm's muscle is as modelled at rest and swells, on its inner side, where the elbow bends; its hand stays.
 */
static void a_muscle_bulges_with_its_joint(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 0.4);
    size_t bytes = 3 * (size_t)c->vertex_count * sizeof(float);
    float *rest[2] = {arm_flexed(c, 0, false), arm_flexed(c, 0, true)};
    float *bent[2] = {arm_flexed(c, 0.9, false), arm_flexed(c, 0.9, true)};
    assert_memory_equal(rest[0], rest[1], bytes);
    double inner = 0, outer = 0, hand = 0;
    for (int v = 0; v < c->vertex_count; v++) {
        const float *p = c->positions + 3 * v;
        double up = (double)(bent[1][3 * v + 1] - bent[0][3 * v + 1]) / (double)c->size;
        double along = (double)(p[0] - c->bounds_min[0]) / (double)(c->bounds_max[0] - c->bounds_min[0]);
        if (along > 0.2 && along < 0.4) inner = fmax(inner, up);
        if (along > 0.2 && along < 0.4) outer = fmin(outer, up);
        if (along > 0.8) hand = fmax(hand, fabs(up));
    }
    print_message("muscle: %.4f of the size thicker inside, %.4f outside, hand moved by %.4f\n", inner, -outer, hand);
    assert_true(inner > 0.008 && -outer < 0.5 * inner && hand < 0.1 * inner);
    for (int i = 0; i < 2; i++) {
        free(rest[i]);
        free(bent[i]);
    }
    cutis_character_destroy(c);
}

static void size_of_the_character_does_not_matter(void **unused)
{
    (void)unused;
    bar b = bar_make(12, 16, 2);
    cutis_character *c[2];
    assert_int_equal(cutis_character_create(&b.given, NULL, &c[0], NULL), CUTIS_OK);
    for (int i = 0; i < 3 * b.given.vertex_count; i++) b.positions[i] *= 100;
    for (int j = 0; j < b.given.joint_count; j++)
        for (int k = 0; k < 3; k++) {
            b.joints[j].rest.translation[k] *= 100;
            b.joints[j].idle.translation[k] *= 100;
            b.joints[j].inverse_bind[4 * k + 3] *= 100;
        }
    assert_int_equal(cutis_character_create(&b.given, NULL, &c[1], NULL), CUTIS_OK);
    bar_free(&b);
    float *result[2];
    for (int i = 0; i < 2; i++) {
        float scale = i ? 100.0f : 1.0f, joints[24];
        cutis_model *model = make_model(c[i], "layers", 0, NULL, 0);
        cutis_state *state = test_state(model, NULL);
        for (int f = 1; f <= 20; f++) {
            pose_shift(c[i], scale * 0.01f * (float)f, joints);
            cutis_step_input input = {.joints = joints};
            cutis_state_step(model, state, &input, 0.01);
        }
        size_t bytes = (size_t)c[i]->vertex_count * 3 * sizeof(float);
        result[i] = malloc(bytes);
        memcpy(result[i], cutis_state_positions(model, state), bytes);
        for (int k = 0; k < 3 * c[i]->vertex_count; k++) result[i][k] /= scale;
        cutis_state_destroy(state);
        cutis_model_destroy(model);
    }
    assert_true(difference(c[0], result[0], result[1]) < 1e-4);
    for (int i = 0; i < 2; i++) {
        free(result[i]);
        cutis_character_destroy(c[i]);
    }
}

/* ---- cruelty ---- */

static void nothing_breaks_it_and_it_comes_back(void **unused)
{
    (void)unused;
    static const double substeps[] = {0.033, 0.005, 0.001};
    bar b = bar_make(10, 14, 4);
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
    bar_free(&b);
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof(float));
    seed = 5;
    for (int i = 0; i < 6; i++) {
        const char *stiffness = i % 2 ? "250" : "2";
        const cutis_setting settings[] = {{"skin_stiffness", stiffness},
                                          {"fat_stiffness", stiffness},
                                          {"muscle_stiffness", stiffness},
                                          {"bone_stiffness", stiffness},
                                          {"iterations", "8"}};
        cutis_model *model = make_model(c, "layers", substeps[i / 2], settings, 5);
        cutis_state *state = test_state(model, NULL);
        int frames = i / 2 == 2 ? 2 : 10;
        for (int f = 0; f < frames; f++) {
            pose_random(c, joints);
            cutis_step_input input = {.joints = joints};
            cutis_state_step(model, state, &input, 0.033);
            const float *x = cutis_state_positions(model, state);
            for (int k = 0; k < 3 * c->vertex_count; k++) assert_true(fabsf(x[k]) < 1e4f);
        }
        cutis_pose_rest(c, joints);
        cutis_step_input input = {.joints = joints};
        for (int f = 0; f < 20; f++) cutis_state_step(model, state, &input, 0.1);
        double off = difference(c, c->positions, cutis_state_positions(model, state));
        print_message("substep %.0f ms, stiffness %s: %.2g of the size off rest after 2 s\n", 1e3 * substeps[i / 2],
                      stiffness, off);
        assert_true(off < 0.005);
        cutis_state_destroy(state);
        cutis_model_destroy(model);
    }
    free(joints);
    cutis_character_destroy(c);
}

/* ---- contracts ---- */

static void a_step_allocates_nothing_and_threads_do_not_matter(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 0.15);
    test_memory memory = {0};
    cutis_allocator allocator = test_allocator(&memory);
    cutis_model *model = test_build_def((cutis_model_def){.character = c, .solver = "layers", .allocator = &allocator});
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        cutis_state *state = test_state(model, &allocator);
        cutis_pool *pool = NULL;
        if (i == 1) assert_int_equal(cutis_pool_create(3, NULL, &pool, NULL), CUTIS_OK);
        cutis_clip_motion motion = {c, cutis_character_find_clip(c, "flex"), 0.1};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample},
                                  .jobs = i == 1   ? cutis_pool_jobs(pool)
                                          : i == 2 ? &test_jobs_backward
                                                   : NULL};
        long before = atomic_load(&memory.allocations);
        for (int f = 0; f < 24; f++) cutis_state_step(model, state, &input, 0.05);
        assert_int_equal(atomic_load(&memory.allocations), before);
        hashes[i] = cutis_state_hash(model, state);
        cutis_pool_destroy(pool);
        cutis_state_destroy(state);
    }
    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
    cutis_model_destroy(model);
    assert_memory_clean(&memory);
    cutis_character_destroy(c);
}

static void build_survives_every_failing_allocation(void **unused)
{
    (void)unused;
    bar b = bar_make(6, 8, 2);
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
    bar_free(&b);
    cutis_model_def def = {.character = c, .solver = "layers"};
    assert_true(test_every_allocation(test_build_and_step, &def) > 3);
    cutis_character_destroy(c);
}

/* A reset into a pose arrives there without intersections, as a walk there would. */
/* A point that is pulled out and let go does not snap back between two frames. */
static void skin_comes_home_slowly(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("hand", 0.15);
    cutis_model *model = make_model(c, "layers", 0, NULL, 0);
    cutis_state *state = test_state(model, NULL);
    const float *x = cutis_state_positions(model, state);
    cutis_drag drag = {.vertex = 0, .strength = 1};
    for (int k = 0; k < 3; k++) drag.target[k] = x[k] + (k == 1 ? 0.06f : 0) * c->size;
    cutis_step_input pull = {.drags = &drag, .drag_count = 1}, still = {0};
    for (int i = 0; i < 20; i++) cutis_state_step(model, state, &pull, 0.005);
    double fastest = 0, away = 0, home = 0;
    for (int i = 0; i < 100; i++) {
        float before[3];
        memcpy(before, cutis_state_positions(model, state), sizeof before);
        cutis_state_step(model, state, &still, 0.005);
        const float *now = cutis_state_positions(model, state);
        double step = (double)vec3_distance(vec3_load(before), vec3_load(now)) / (double)c->size;
        fastest = MAX(fastest, step / 0.005);
        home = (double)vec3_distance(vec3_load(now), vec3_load(c->positions)) / (double)c->size;
        if (i == 0) away = home;
    }
    print_message("pulled out by %.3f, at most %.2f of the size a second, %.4f off after 0.5 s\n", away, fastest, home);
    assert_true(away > 0.02);
    assert_true(fastest < 0.55);
    assert_true(home < 0.1 * away);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

/* A clip that swells a limb is followed, though volumes are kept otherwise. */
/* A clip that is played faster than it was made. */
typedef struct fast_clip {
    const cutis_character *character;
    int clip;
    double rate;
} fast_clip;

static void fast_clip_sample(void *context, double time, float *joints)
{
    const fast_clip *f = context;
    const cutis_clip *clip = &f->character->clips[f->clip];
    double at = fmod(f->rate * time, clip->end - clip->start);
    cutis_pose_sample(f->character, f->clip, clip->start + at, joints);
}

/*
 * The walk of a man at eight times its speed, from the drawn mesh, unbounded (a breath of air keeps bounds away): legs
 * pass each other by up to 4 % of the size in a substep. Contact that sees such ways as straight lines catches them.
 */
static void fast_limbs_are_followed(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 0.2);
    fast_clip fast = {c, cutis_character_find_clip(c, "walk"), 8};
    cutis_step_input input = {.motion = {&fast, fast_clip_sample}, .acceleration = {0, 1e-6f, 0}};
    double most[2] = {0, 0};
    cutis_model *models[] = {make_model(c, "layers", 0, NULL, 0), make_model(c, "dqs", 0, NULL, 0)};
    cutis_state *states[] = {test_state(models[0], NULL), test_state(models[1], NULL)};

    for (int f = 0; f < 24; f++) {
        for (int i = 0; i < 2; i++) cutis_state_step(models[i], states[i], &input, 1.0 / 60);
        double off =
            difference(c, cutis_state_positions(models[0], states[0]), cutis_state_positions(models[1], states[1]));
        most[f >= 12] = MAX(most[f >= 12], off);
    }

    print_message("at most %.4f of the size from skinning in the first steps, %.4f after\n", most[0], most[1]);
    assert_true(most[0] < 0.05 && most[1] < 0.05);
    for (int i = 0; i < 2; i++) {
        cutis_state_destroy(states[i]);
        cutis_model_destroy(models[i]);
    }
    cutis_character_destroy(c);
}

/* Torn flesh is home again in a pose in which skinning itself crosses, and contact goes on. */
static void torn_flesh_recovers_in_a_pose_that_crosses(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 0.2);
    cutis_model *model = make_model(c, "layers", 0, NULL, 0);
    cutis_state *state = test_state(model, NULL);
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof(float));
    int clip = cutis_character_find_clip(c, "flex");
    cutis_pose_sample(c, clip, 0.5 * (c->clips[clip].start + c->clips[clip].end), joints);

    /* the forearm is torn away further than flesh can follow, and brought back */
    float *torn = malloc((size_t)c->joint_count * 12 * sizeof(float));
    memcpy(torn, joints, (size_t)c->joint_count * 12 * sizeof(float));
    for (int j = 1; j < c->joint_count; j++) torn[12 * j + 7] += 20 * c->size;
    int failed = 0;
    for (int f = 0; f < 80; f++) {
        cutis_step_input input = {.joints = f > 0 && f < 3 ? torn : joints};
        cutis_state_step(model, state, &input, 0.025);
        failed = cutis_state_stats(model, state)->unconverged;
        if (f == 3) assert_true(failed > 0);
    }

    print_message("%d substeps of the last step did not converge\n", failed);
    assert_int_equal(failed, 0);
    free(torn);
    free(joints);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

static void flesh_goes_along_with_scaled_joints(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 0.15);
    cutis_model *models[2] = {make_model(c, "layers", 0, NULL, 0), make_model(c, "lbs", 0, NULL, 0)};
    cutis_state *states[2] = {test_state(models[0], NULL), test_state(models[1], NULL)};
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof(float));
    for (int i = 0; i <= 60; i++) {
        /* all of it grows by a fifth within half a second, and stays so */
        cutis_pose_rest(c, joints);
        float scale = 1 + 0.2f * MIN((float)i / 30, 1.0f);
        for (int k = 0; k < 12 * c->joint_count; k++) joints[k] *= scale;
        cutis_step_input input = {.joints = joints};
        for (int s = 0; s < 2; s++) cutis_state_step(models[s], states[s], &input, 1.0 / 60);
    }
    double off =
        difference(c, cutis_state_positions(models[0], states[0]), cutis_state_positions(models[1], states[1]));
    print_message("grown by a fifth: %.2g of the size from linear skinning\n", off);
    assert_true(off < 0.01);
    for (int s = 0; s < 2; s++) {
        cutis_state_destroy(states[s]);
        cutis_model_destroy(models[s]);
    }
    free(joints);
    cutis_character_destroy(c);
}

static void reset_into_a_pose_is_clean(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 0.2);
    cutis_model *model = make_model(c, "layers", 0, NULL, 0);
    cutis_state *state = test_state(model, NULL);
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof(float));
    int clip = cutis_character_find_clip(c, "flex");
    cutis_pose_sample(c, clip, 0.5 * (c->clips[clip].start + c->clips[clip].end), joints);
    cutis_state_reset(model, state, joints);
    cutis_quality q = measure(c, cutis_state_positions(model, state), 1, 1);
    print_message("reset: volume error %.4f\n", q.volume_error_max);
    assert_int_equal(q.self_intersections_max, 0);

    /* volumes settle within a quarter of a second */
    for (int f = 0; f < 10; f++) {
        cutis_step_input held = {.joints = joints};
        cutis_state_step(model, state, &held, 0.025);
    }
    q = measure(c, cutis_state_positions(model, state), 1, 1);
    print_message("settled: volume error %.4f, %d pairs\n", q.volume_error_max, q.self_intersections_max);
    assert_int_equal(q.self_intersections_max, 0);
    assert_true(q.volume_error_max < 0.009);

    /* Teleported, it goes on as a twin that was not. */
    const float motion[12] = {0, 0, 1, 5, 0, 1, 0, -2, -1, 0, 0, 3};
    float *before = malloc((size_t)c->vertex_count * 3 * sizeof(float));
    cutis_state *twin = test_state(model, NULL);
    cutis_state_copy(model, twin, state);
    cutis_step_input stay = {.joints = joints};
    cutis_state_step(model, twin, &stay, 0.005);
    for (int v = 0; v < c->vertex_count; v++)
        vec3_store(before + 3 * v, mat34_point(motion, vec3_load(cutis_state_positions(model, twin) + 3 * v)));
    cutis_state_destroy(twin);
    cutis_state_teleport(model, state, motion);
    for (int j = 0; j < c->joint_count; j++) {
        mat34 m, pose;
        memcpy(m.m, motion, sizeof m.m);
        memcpy(pose.m, joints + 12 * j, sizeof pose.m);
        pose = mat34_multiply(m, pose);
        memcpy(joints + 12 * j, pose.m, sizeof pose.m);
    }
    cutis_step_input input = {.joints = joints};
    cutis_state_step(model, state, &input, 0.005);
    double off = difference(c, before, cutis_state_positions(model, state));
    print_message("teleported: %.2g of the size from its twin after a substep\n", off);
    assert_true(off < 1e-3);
    free(before);
    free(joints);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

/* A ball pressed into the side of a bar, its flesh painted with a depth; the deepest point in the ball, and the dent.
 */
static void ball_press(float depth, double *deepest, double *dented)
{
    bar b = bar_make(24, 32, 2);
    cutis_prop ball = test_ball(0.1f, -1);
    float *depths = malloc((size_t)b.given.vertex_count * sizeof(float));

    /* The ball is at the origin, the bar upright beside it. */
    bar_shift(&b, 0.3f, -0.5f);
    for (int v = 0; v < b.given.vertex_count; v++) depths[v] = depth;
    cutis_map map = {"depth", depths};
    b.given.props = &ball;
    b.given.prop_count = 1;
    b.given.maps = &map;
    b.given.map_count = 1;
    cutis_character *c = NULL;
    cutis_error error;
    if (cutis_character_create(&b.given, NULL, &c, &error)) fail_msg("%s", error.text);
    bar_free(&b);
    free(depths);
    cutis_model *model = make_model(c, "layers", 0, NULL, 0);
    cutis_state *state = test_state(model, NULL);
    float joints[24];
    /* The bar moves into the ball by a third of it. */
    *deepest = *dented = 0;
    for (int f = 0; f < 60; f++) {
        float way = -0.085f * fminf((float)f / 40, 1);
        pose_shift(c, way, joints);
        cutis_step_input input = {.joints = joints};
        cutis_state_step(model, state, &input, 0.01);
        const float *x = cutis_state_positions(model, state);
        for (int v = 0; v < c->vertex_count; v++) {
            *deepest = fmax(*deepest, 0.1 - vec3_length(vec3_load(x + 3 * v)));
            vec3 rigid = vec3_add(vec3_load(c->positions + 3 * v), vec3_make(way, 0, 0));
            if (f == 59) *dented = fmax(*dented, vec3_distance(vec3_load(x + 3 * v), rigid));
        }
    }
    print_message("ball, painted depth %.1f: deepest point %.4f inside, dent %.4f\n", depth, *deepest, *dented);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

/* The bar does not reach into the ball; where flesh is painted as shallow it is pressed in no further than that. */
static void props_press_into_flesh_as_deep_as_painted(void **unused)
{
    (void)unused;
    double deepest, dented;
    ball_press(1, &deepest, &dented);
    assert_true(dented > 0.02);
    assert_true(deepest < 0.002);
    ball_press(0.2f, &deepest, &dented);
    /* Flesh is 0.05 sizes deep at most, and the size of the bar 1.09. */
    assert_true(dented < 1.1 * 0.2 * 0.05 * 1.09); /* volume moves the skin after the press is bounded */
    assert_true(dented > 0.5 * 0.2 * 0.05 * 1.09);
}

/* Painted `freeze`: 1 follows linear blend skinning exactly, a half by about a half. */
static void frozen_points_follow_linear_skinning(void **unused)
{
    (void)unused;
    test_is_heavy();
    double off[3];
    for (int i = 0; i < 3; i++) {
        cutis_character *plain = test_zoo("arm", 0.15), *c = NULL;
        cutis_character given = *plain;
        float *freeze = malloc((size_t)plain->vertex_count * sizeof(float));
        for (int v = 0; v < plain->vertex_count; v++) freeze[v] = plain->positions[3 * v] < 0.25f ? 0.5f * (float)i : 0;
        cutis_map map = {"freeze", freeze};
        given.maps = &map;
        given.map_count = 1;
        assert_int_equal(cutis_character_create(&given, NULL, &c, NULL), CUTIS_OK);
        cutis_model *models[] = {make_model(c, "layers", 0, NULL, 0), make_model(c, "lbs", 0, NULL, 0)};
        cutis_state *states[] = {test_state(models[0], NULL), test_state(models[1], NULL)};
        cutis_clip_motion motion = {c, cutis_character_find_clip(c, "shake"), 0.1};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
        double others = 0;
        off[i] = 0;
        for (int f = 0; f < 10; f++) {
            for (int s = 0; s < 2; s++) cutis_state_step(models[s], states[s], &input, 0.1);
            const float *x = cutis_state_positions(models[0], states[0]);
            const float *y = cutis_state_positions(models[1], states[1]);
            for (int v = 0; v < c->vertex_count; v++) {
                double d = vec3_distance(vec3_load(x + 3 * v), vec3_load(y + 3 * v)) / c->size;
                if (freeze[v] > 0 || (i == 0 && plain->positions[3 * v] < 0.25f))
                    off[i] = fmax(off[i], d);
                else
                    others = fmax(others, d);
            }
        }
        print_message("freeze %.1f: painted points up to %.2g of the size from lbs, others %.2g\n", 0.5 * i, off[i],
                      others);
        assert_true(others > 1e-3);
        for (int s = 0; s < 2; s++) cutis_state_destroy(states[s]), cutis_model_destroy(models[s]);
        free(freeze);
        cutis_character_destroy(plain);
        cutis_character_destroy(c);
    }
    assert_true(off[0] > 1e-3);
    assert_true(off[1] < 0.7 * off[0] && off[1] > 0.1 * off[0]);
    assert_true(off[2] < 1e-6);
}

/*
 * Sub-volumes of a bar that bends in the middle: two tubes. A patch on one side of the lower one, with as many
 * triangles as a piece needs, that belongs to the upper bone is no third.
 */
static void patches_are_no_sub_volumes(void **unused)
{
    (void)unused;
    for (int patch = 0; patch < 2; patch++) {
        bar b = bar_make(16, 24, 2);
        int moved = 0;
        for (int v = 0; v < b.given.vertex_count && patch; v++) {
            const float *p = b.positions + 3 * v;
            if (p[0] < 0.05f || p[1] < 0.05f || p[1] > 0.2f) continue;
            b.influence_weights[2 * v] = 0, b.influence_weights[2 * v + 1] = 1, moved++;
        }
        assert_true(moved > 20 * patch - 1);
        cutis_character *c = NULL;
        assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
        bar_free(&b);
        cutis_model *model = make_model(c, "layers", 0, NULL, 0);
        cutis_state *state = test_state(model, NULL);
        cutis_output pieces;
        assert_true(cutis_state_output(model, state, "piece", &pieces));
        int seen[8] = {0}, count = 0;
        for (int v = 0; v < pieces.count; v++) {
            assert_in_range((int)pieces.values[v], 0, 7);
            count += seen[(int)pieces.values[v]]++ == 0;
        }
        assert_int_equal(count, 2);
        cutis_state_destroy(state);
        cutis_model_destroy(model);
        cutis_character_destroy(c);
    }
}

/*
 * A bar whose lower two thirds are frozen, bent by 120 degrees: linear skinning takes volume from the bend. The flesh
 * at its end, which only turns, does not make up for that.
 */
static void flesh_does_not_make_up_for_what_is_frozen(void **unused)
{
    (void)unused;
    test_is_heavy();
    bar b = bar_make(16, 24, 4);
    float *freeze = calloc((size_t)b.given.vertex_count, sizeof(float)), joints[48];
    for (int v = 0; v < b.given.vertex_count; v++) freeze[v] = b.positions[3 * v + 1] < 0.64f;
    cutis_map map = {"freeze", freeze};
    b.given.maps = &map, b.given.map_count = 1;
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
    bar_free(&b);
    cutis_model *models[] = {make_model(c, "layers", 0, NULL, 0), make_model(c, "lbs", 0, NULL, 0)};
    cutis_state *states[] = {test_state(models[0], NULL), test_state(models[1], NULL)};
    for (int f = 1; f <= 60; f++) {
        float angle = 2.0943951f * MIN((float)f / 30, 1), sine = sinf(angle), cosine = cosf(angle);
        cutis_pose_rest(c, joints);
        const float turn[3][3] = {{cosine, -sine, 0}, {sine, cosine, 0}, {0, 0, 1}};
        for (int j = 1; j < 4; j++)
            for (int row = 0; row < 3; row++) {
                for (int k = 0; k < 3; k++) joints[12 * j + 4 * row + k] = turn[row][k];
                joints[12 * j + 4 * row + 3] = (row == 1 ? 0.25f : 0) + 0.25f * (float)(j - 1) * turn[row][1];
            }
        for (int s = 0; s < 2; s++)
            cutis_state_step(models[s], states[s], &(cutis_step_input){.joints = joints}, 1 / 30.0);
    }
    float off = 0, volumes[2];
    for (int v = 0; v < c->vertex_count; v++) {
        const float *x = cutis_state_positions(models[0], states[0]) + 3 * v;
        off = MAX(off, vec3_distance(vec3_load(x), vec3_load(cutis_state_positions(models[1], states[1]) + 3 * v)));
    }
    for (int rest = 0; rest < 2; rest++)
        volumes[rest] = (float)mesh_volume(c->triangle_count, c->triangles,
                                           rest ? c->positions : cutis_state_positions(models[1], states[1]));
    print_message("bar, frozen and bent: lbs keeps %.1f %% of its volume, flesh is %.2g of the size from lbs\n",
                  100 * volumes[0] / volumes[1], (double)(off / c->size));
    assert_true(volumes[0] < 0.97f * volumes[1]);
    assert_true(off < 0.005f * c->size);
    for (int s = 0; s < 2; s++) cutis_state_destroy(states[s]), cutis_model_destroy(models[s]);
    free(freeze);
    cutis_character_destroy(c);
}

/* ---- rest shapes that touch or cross themselves ---- */

/*
 * Two leaves of quads that face each other, with two joints: "root" below and "tip" above. apart: each leaf on its own
 * joint; else both on both, by v.
 */
static cutis_character *make_leaves(leaf_place place, bool apart)
{
    float positions[3 * LEAVES_POINTS], weights[2 * LEAVES_POINTS];
    int influence_first[LEAVES_POINTS + 1], influences[2 * LEAVES_POINTS], face_first[LEAVES_QUADS + 1];
    int corners[4 * LEAVES_QUADS];
    leaves_fill(place, positions, corners);
    for (int p = 0; p <= LEAVES_POINTS; p++) influence_first[p] = 2 * p;
    for (int p = 0; p < LEAVES_POINTS; p++) {
        influences[2 * p] = 0, influences[2 * p + 1] = 1;
        weights[2 * p + 1] = apart ? (float)(p / LEAF_POINTS) : leaf_v(p), weights[2 * p] = 1 - weights[2 * p + 1];
    }
    for (int f = 0; f <= LEAVES_QUADS; f++) face_first[f] = 4 * f;
    cutis_joint joints[2] = {{.name = "root", .parent = -1}, {.name = "tip", .parent = 0}};
    for (int j = 0; j < 2; j++) {
        const float height = j ? 0.2f : -0.2f;
        const float inverse[12] = {1, 0, 0, 0, 0, 1, 0, -height, 0, 0, 1, -0.5f};
        joints[j].rest = (cutis_transform){{0, j ? 0.4f : -0.2f, j ? 0 : 0.5f}, {0, 0, 0, 1}, {1, 1, 1}};
        joints[j].idle = joints[j].rest;
        memcpy(joints[j].inverse_bind, inverse, sizeof inverse);
    }
    const cutis_character given = {.name = "leaves",
                                   .vertex_count = LEAVES_POINTS,
                                   .positions = positions,
                                   .face_count = LEAVES_QUADS,
                                   .face_first = face_first,
                                   .corners = corners,
                                   .influence_first = influence_first,
                                   .influence_joints = influences,
                                   .influence_weights = weights,
                                   .joint_count = 2,
                                   .joints = joints};
    cutis_character *c = NULL;
    cutis_error error;
    if (cutis_character_create(&given, NULL, &c, &error)) fail_msg("%s", error.text);
    return c;
}

/* The most intersecting pairs while the tip presses down, turns by `turned` and lifts, by frame; `rest`: of the shape
 * as it is. */
static int leaves_move(const cutis_character *c, const char *name, double turned, int *rest)
{
    enum { FRAMES = 30 };
    const cutis_model_def def = {.character = c, .solver = name, .detail = CUTIS_DETAIL_DRAWN};
    cutis_model *model = NULL;
    /* As pieces of one flesh: the engine would take one leaf for something that lies on the other. */
    assert_int_equal(cutis_model_build(&def, &model, NULL), CUTIS_OK);
    cutis_state *state = test_state(model, NULL);
    size_t floats = 3 * (size_t)c->vertex_count;
    float *frames = malloc(FRAMES * floats * sizeof(float)), joints[24];
    for (int f = 0; f < FRAMES; f++) {
        double t = 6.283185307 * f / FRAMES;
        cutis_pose_rest(c, joints);
        float sine = (float)sin(turned * sin(t)), cosine = (float)cos(turned * sin(t));
        const float turn[12] = {cosine, -sine, 0, 0, sine, cosine, 0, 0, 0, 0, 1, 0};
        for (int row = 0; row < 3; row++)
            for (int k = 0; k < 3; k++) joints[12 + 4 * row + k] = turn[4 * row + k];
        joints[12 + 7] -= (float)(0.02 * sin(t));
        const cutis_step_input input = {.joints = joints};
        cutis_state_step(model, state, &input, 1 / 30.0);
        memcpy(frames + (size_t)f * floats, cutis_state_positions(model, state), floats * sizeof(float));
    }
    cutis_quality quality = measure(c, frames, FRAMES, 30);
    assert_int_equal(quality.non_finite, 0);
    free(frames);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    *rest = quality.self_intersections_rest;
    return quality.self_intersections_max;
}

static void touching_sheets_do_not_cross(void **unused)
{
    (void)unused;
    test_is_heavy();
    const struct {
        const char *name;
        leaf_place place;
        bool apart;
        double turn; /* radians; sheets on bones of their own no further than contact pushes thin flesh */
    } cases[] = {{"mirrored halves", leaf_lip, false, 0.3},
                 {"mirrored halves on two bones", leaf_lip, true, 0.3},
                 {"coincident sheets", leaf_coincident, false, 0.3},
                 {"coincident sheets on two bones", leaf_coincident, true, 0.02}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cutis_character *c = make_leaves(cases[i].place, cases[i].apart);
        int rest, linear = leaves_move(c, "lbs", cases[i].turn, &rest);
        int soft = leaves_move(c, "layers", cases[i].turn, &rest);
        print_message("%s: %d pairs at rest, lbs up to %d, layers up to %d\n", cases[i].name, rest, linear, soft);
        assert_true(linear >= MAX(rest, 1));
        assert_int_equal(soft, 0);
        cutis_character_destroy(c);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_is_on_one_path_and_regions_are_symmetric),
        cmocka_unit_test(fast_sums_equal_naive_sums),
        cmocka_unit_test(flexed_arm_keeps_volume_and_does_not_intersect),
        cmocka_unit_test(fist_does_not_intersect),
        cmocka_unit_test(twisted_arm_keeps_its_sections),
        cmocka_unit_test(patches_are_no_sub_volumes),
        cmocka_unit_test(soft_flesh_swings_on_slower_and_comes_to_rest),
        cmocka_unit_test(stiffness_does_not_depend_on_substep_or_iterations),
        cmocka_unit_test(modelled_flesh_hangs_already),
        cmocka_unit_test(elasticity_may_skip_iterations),
        cmocka_unit_test(a_muscle_bulges_with_its_joint),
        cmocka_unit_test(size_of_the_character_does_not_matter),
        cmocka_unit_test(nothing_breaks_it_and_it_comes_back),
        cmocka_unit_test(a_step_allocates_nothing_and_threads_do_not_matter),
        cmocka_unit_test(build_survives_every_failing_allocation),
        cmocka_unit_test(skin_comes_home_slowly),
        cmocka_unit_test(fast_limbs_are_followed),
        cmocka_unit_test(torn_flesh_recovers_in_a_pose_that_crosses),
        cmocka_unit_test(flesh_goes_along_with_scaled_joints),
        cmocka_unit_test(reset_into_a_pose_is_clean),
        cmocka_unit_test(props_press_into_flesh_as_deep_as_painted),
        cmocka_unit_test(frozen_points_follow_linear_skinning),
        cmocka_unit_test(flesh_does_not_make_up_for_what_is_frozen),
        cmocka_unit_test(touching_sheets_do_not_cross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
