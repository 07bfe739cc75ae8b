/*
 * test_curves.c: solver `curves`: the closed beam against its equation and its analytic vibration, rings on quads, and
 * in-betweens of example poses.
 */
#include "testing.h"

#include "character/skinning.h"
#include "mesh/mesh.h"
#include "rig/curve_search.h"
#include "solvers/curves/beam.h"

static const double TURN = 6.283185307179586;

static void factorisation_solves_the_periodic_matrix(void **state)
{
    static const int sizes[] = {5, 6, 7, 16, 33};
    (void)state;
    for (int s = 0; s < 5; s++) {
        int n = sizes[s];
        arena memory = arena_create(NULL);
        beam b;
        double x[33], fourth[33], right[33];
        assert_true(beam_factor(&b, n, 37.5, &memory));
        for (int i = 0; i < n; i++) right[i] = x[i] = sin(1.7 * i) + 0.3 * i;
        beam_solve(&b, x);
        beam_fourth(n, x, fourth);
        for (int i = 0; i < n; i++) assert_true(fabs(x[i] + 37.5 / 4 * fourth[i] - right[i]) < 1e-10);
        arena_destroy(&memory);
    }
}

/* Largest error after one second of q = cos(2 pi x) cos(omega t), omega = 2, in `n` points and `steps` steps. */
static double vibration_error(int n, int steps)
{
    double omega = 2, c = omega * omega / (TURN * TURN * TURN * TURN), h = 1.0 / n, dt = 1.0 / steps, worst = 0;
    arena memory = arena_create(NULL);
    beam b;
    assert_true(beam_factor(&b, n, dt * dt * c / (h * h * h * h), &memory));
    double *q = ARENA_ARRAY(&memory, double, 4 * n), *before = q, *now = q + n, *next = q + 2 * n;
    for (int i = 0; i < n; i++) before[i] = cos(TURN * i / n), now[i] = cos(TURN * i / n) * cos(omega * dt);
    for (int step = 1; step < steps; step++) {
        beam_step(&b, before, now, NULL, q + 3 * n, next);
        double *swap = before;
        before = now, now = next, next = swap;
    }
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(now[i] - cos(TURN * i / n) * cos(omega)));
    arena_destroy(&memory);
    return worst;
}

static void beam_converges_with_second_order(void **state)
{
    (void)state;
    double space[3], time[3];
    for (int k = 0; k < 3; k++) {
        space[k] = vibration_error(8 << k, 4000); /* only space is coarse */
        time[k] = vibration_error(512, 10 << k);  /* only time is coarse */
        print_message("points %3d error %.3e   steps %3d error %.3e\n", 8 << k, space[k], 10 << k, time[k]);
    }
    for (int k = 0; k < 2; k++) {
        assert_true(log2(space[k] / space[k + 1]) > 1.8 && log2(space[k] / space[k + 1]) < 2.2);
        assert_true(log2(time[k] / time[k + 1]) > 1.8 && log2(time[k] / time[k + 1]) < 2.2);
    }
}

static void every_wave_answers_the_growing_force(void **state)
{
    (void)state;
    for (double stiffness = 0; stiffness < 1e9; stiffness = stiffness * 10 + 1) {
        arena memory = arena_create(NULL);
        beam b;
        assert_true(beam_factor(&b, 24, stiffness, &memory));
        for (int wave = 0; wave < 24; wave++) assert_true(beam_response(&b, wave, 16) > 0);
        arena_destroy(&memory);
    }
}

static void rings_close_and_visit_points_once(void **state)
{
    static const char *const names[] = {"man", "cat", "dancer", "hand", "arm"};
    (void)state;
    for (int i = 0; i < 5; i++) {
        cutis_character *c;
        cutis_error error;
        assert_int_equal(cutis_zoo_make(names[i], 1, NULL, &c, &error), CUTIS_OK);
        arena memory = arena_create(NULL);
        curve_search *search = ARENA_ARRAY(&memory, curve_search, 1);
        assert_int_equal(curve_search_prepare(c, &memory, search, &error), CUTIS_OK);
        assert_int_equal(curve_search_run(c, NULL, NULL, &memory, search, &error), CUTIS_OK);
        mesh m = search->mesh;
        rings r = search->rings;
        uint8_t *seen = ARENA_ARRAY(&memory, uint8_t, m.point_count);
        for (int ring = 0; ring < r.count; ring++) {
            int first = r.first[ring], count = r.first[ring + 1] - first;
            for (int k = 0; k < count; k++) {
                int p = r.points[first + k], q = r.points[first + (k + 1) % count];
                bool joined = false;
                assert_int_equal(seen[p]++, 0);
                for (int e = m.point_neighbour_first[p]; e < m.point_neighbour_first[p + 1]; e++)
                    joined = joined || m.point_neighbours[e] == q;
                assert_true(joined);
            }
        }
        print_message("%-8s %d rings, %.0f %% of the points, %d tests by rays, %d patches\n", names[i], r.count,
                      100.0 * r.first[r.count] / m.point_count, r.tests, search->limbs.patches.count);
        assert_true(r.count >= 50);
        assert_true(r.first[r.count] > 0.5 * m.point_count);
        arena_destroy(&memory);
        cutis_character_destroy(c);
    }
}

typedef struct runner {
    cutis_model *model;
    cutis_state *state;
} runner;

static runner runner_make(const cutis_character *c, const char *solver, const cutis_setting *settings, int count)
{
    runner r = {0};
    cutis_error error;
    cutis_model_def def = cutis_model_def_default();
    def.character = c;
    def.solver = solver;
    def.settings = settings;
    def.setting_count = count;
    if (cutis_model_build(&def, &r.model, &error) != CUTIS_OK) fail_msg("%s", error.text);
    assert_int_equal(cutis_state_create(r.model, NULL, &r.state, &error), CUTIS_OK);
    return r;
}

static const float *runner_pose(runner *r, const float *joints)
{
    cutis_state_reset(r->model, r->state, joints);
    return cutis_state_positions(r->model, r->state);
}

static void runner_free(runner *r)
{
    cutis_state_destroy(r->state);
    cutis_model_destroy(r->model);
}

static void examples_are_met_exactly(void **state)
{
    (void)state;
    cutis_character *arm;
    cutis_error error;
    assert_int_equal(cutis_zoo_make("arm", 1, NULL, &arm, &error), CUTIS_OK);
    static const cutis_setting settings[] = {{"clip", "0"}, {"examples", "3"}};
    runner curves = runner_make(arm, "curves", settings, 2), lbs = runner_make(arm, "lbs", NULL, 0);
    float *joints = malloc(12 * (size_t)arm->joint_count * sizeof *joints);
    for (int e = 0; e <= 3; e++) {
        double start = arm->clips[0].start, end = arm->clips[0].end, worst = 0;
        if (e == 0)
            cutis_pose_rest(arm, joints);
        else
            cutis_pose_sample(arm, 0, start + (end - start) * e / 3, joints);
        const float *a = runner_pose(&curves, joints), *b = runner_pose(&lbs, joints);
        for (int i = 0; i < 3 * arm->vertex_count; i++) worst = fmax(worst, fabs((double)a[i] - b[i]));
        print_message("example %d: largest error %.2e of the size\n", e, worst / arm->size);
        assert_true(worst < 1e-6 * arm->size);
    }
    free(joints);
    runner_free(&curves);
    runner_free(&lbs);
    cutis_character_destroy(arm);
}

static void volume_between_examples_is_near_the_mean_of_the_ends(void **state)
{
    static const struct {
        const char *name, *examples;
        int count;
    } scenes[] = {{"cat", "2", 2}, {"dancer", "1", 1}, {"arm", "2", 2}};
    (void)state;
    print_message("volume half-way, distance from the mean of the ends, %% of the volume\n");
    print_message("%-8s %8s %8s %8s %8s\n", "", "curves", "lbs", "dqs", "blend");
    for (int s = 0; s < 3; s++) {
        cutis_character *c;
        cutis_error error;
        assert_int_equal(cutis_zoo_make(scenes[s].name, 1, NULL, &c, &error), CUTIS_OK);
        const cutis_setting settings[] = {{"clip", "0"}, {"examples", scenes[s].examples}};
        runner all[3] = {runner_make(c, "curves", settings, 2), runner_make(c, "lbs", NULL, 0),
                         runner_make(c, "dqs", NULL, 0)};
        float *joints = malloc(12 * (size_t)c->joint_count * sizeof *joints);
        float *blend = malloc(3 * (size_t)c->vertex_count * sizeof *blend);
        double time = c->clips[0].start + (c->clips[0].end - c->clips[0].start) / scenes[s].count, volumes[4];
        double first = mesh_volume(c->triangle_count, c->triangles, c->positions), last;
        cutis_pose_sample(c, 0, time, joints);
        const float *end = runner_pose(&all[0], joints);
        last = mesh_volume(c->triangle_count, c->triangles, end);
        for (int i = 0; i < 3 * c->vertex_count; i++) blend[i] = 0.5f * (c->positions[i] + end[i]);
        volumes[3] = mesh_volume(c->triangle_count, c->triangles, blend);
        cutis_pose_blend(c, 0, time, 0.5f, joints);
        for (int k = 0; k < 3; k++)
            volumes[k] = mesh_volume(c->triangle_count, c->triangles, runner_pose(&all[k], joints));
        for (int k = 0; k < 4; k++) volumes[k] = 100 * fabs(volumes[k] / (0.5 * (first + last)) - 1);
        print_message("%-8s %8.3f %8.3f %8.3f %8.3f   (ends %.5g, %.5g)\n", scenes[s].name, volumes[0], volumes[1],
                      volumes[2], volumes[3], first, last);
        /* The arm is shown for honesty: there, linear blending happens to lose volume evenly. */
        for (int k = 1; k < 4 && s < 2; k++) assert_true(volumes[0] < volumes[k]);
        free(joints), free(blend);
        for (int k = 0; k < 3; k++) runner_free(&all[k]);
        cutis_character_destroy(c);
    }
}

static bool build_small(void *context, const cutis_allocator *allocator)
{
    cutis_model_def def = cutis_model_def_default();
    cutis_model *model = NULL;
    cutis_error error;
    def.character = context;
    def.solver = "curves";
    def.allocator = allocator;
    bool built = cutis_model_build(&def, &model, &error) == CUTIS_OK;
    cutis_model_destroy(model);
    return built;
}

static void building_survives_every_failed_allocation(void **state)
{
    cutis_character *arm;
    cutis_error error;
    (void)state;
    assert_int_equal(cutis_zoo_make("arm", 0.15, NULL, &arm, &error), CUTIS_OK);
    print_message("%ld allocations\n", test_every_allocation(build_small, arm));
    cutis_character_destroy(arm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factorisation_solves_the_periodic_matrix),
        cmocka_unit_test(beam_converges_with_second_order),
        cmocka_unit_test(every_wave_answers_the_growing_force),
        cmocka_unit_test(rings_close_and_visit_points_once),
        cmocka_unit_test(examples_are_met_exactly),
        cmocka_unit_test(volume_between_examples_is_near_the_mean_of_the_ends),
        cmocka_unit_test(building_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
