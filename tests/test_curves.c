/*
 * test_curves.c: solver `curves`: the closed beam against its equation and its analytic vibration, rings on quads, and
 * in-betweens of example poses.
 */
#include "curves_stage.h"

#include "character/skinning.h"
#include "limbs/curve_search.h"
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
        cutis_error error;
        cutis_character *c = test_zoo(names[i], 1);
        arena memory = arena_create(NULL);
        curve_search *search = ARENA_ARRAY(&memory, curve_search, 1);
        assert_int_equal(curve_search_prepare(c, &memory, search, &error), CUTIS_OK);
        assert_int_equal(curve_search_run(c, NULL, NULL, &memory, search, &error), CUTIS_OK);
        mesh m = search->mesh;
        rings r = search->rings;
        rings_check(&m, &r, 0, &memory);
        print_message("%-8s %d rings, %.0f %% of the points, %d tests by rays, %d patches\n", names[i], r.count,
                      100.0 * r.first[r.count] / m.point_count, r.tests, search->limbs.patches.count);
        assert_true(r.count >= 50);
        assert_true(r.first[r.count] > 0.5 * m.point_count);
        arena_destroy(&memory);
        cutis_character_destroy(c);
    }
}

static double largest_difference(const float *a, const float *b, int count)
{
    double worst = 0;
    for (int i = 0; i < count; i++) worst = fmax(worst, fabs((double)a[i] - b[i]));
    return worst;
}

static void examples_are_met_exactly(void **state)
{
    static const struct {
        const char *name, *examples;
        int count;
    } scenes[] = {{"arm", "3", 3}, {"cat", "2", 2}, {"dancer", "1", 1}};
    (void)state;
    for (int s = 0; s < 3; s++) {
        cutis_character *c = test_zoo(scenes[s].name, 1);
        const cutis_setting settings[] = {{"clip", "0"}, {"examples", scenes[s].examples}};
        runner curves = runner_make(c, "curves", settings, 2), lbs = runner_make(c, "lbs", NULL, 0);
        float *joints = malloc(12 * (size_t)c->joint_count * sizeof *joints);
        for (int e = 0; e <= scenes[s].count; e++) {
            double start = c->clips[0].start, end = c->clips[0].end;
            if (e == 0)
                cutis_pose_rest(c, joints);
            else
                cutis_pose_sample(c, 0, start + (end - start) * e / scenes[s].count, joints);
            double worst =
                largest_difference(runner_pose(&curves, joints), runner_pose(&lbs, joints), 3 * c->vertex_count);
            print_message("%-8s example %d: largest error %.2e of the size\n", scenes[s].name, e, worst / c->size);
            assert_true(worst < 1e-6 * c->size);
        }
        free(joints);
        runner_free(&curves);
        runner_free(&lbs);
        cutis_character_destroy(c);
    }
}

/* Shapes of the clip under another solver, as a user would sculpt them: (count) of (vertex_count x 3). */
static void sculpt(const cutis_character *c, const char *solver, int clip, int count, float **shapes)
{
    runner r = runner_make(c, solver, NULL, 0);
    float *joints = malloc(12 * (size_t)c->joint_count * sizeof *joints);
    for (int e = 0; e < count; e++) {
        double start = c->clips[clip].start, end = c->clips[clip].end;
        cutis_pose_sample(c, clip, start + (end - start) * (e + 1) / (count + 1.0), joints);
        shapes[e] = malloc(3 * (size_t)c->vertex_count * sizeof(float));
        memcpy(shapes[e], runner_pose(&r, joints), 3 * (size_t)c->vertex_count * sizeof(float));
        /* No two sculptors agree with a solver. */
        for (int v = 0; v < c->vertex_count; v++)
            shapes[e][3 * v + 1] += 0.004f * c->size * (float)sin(20.0 * c->positions[3 * v] / c->size);
    }
    free(joints);
    runner_free(&r);
}

static void posed_shapes_are_met_exactly_and_passed_without_a_stop(void **state)
{
    static const char *const names[] = {"cat", "dancer", "arm"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        cutis_character *moved;
        cutis_error error;
        float *shapes[2];
        cutis_character *c = test_zoo(names[i], 1);
        sculpt(c, "lbs", 0, 2, shapes);
        const float *const given[] = {shapes[0], shapes[1]};
        if (cutis_rig_examples(c, 2, given, 0.5, NULL, &moved, &error) != CUTIS_OK) fail_msg("%s", error.text);
        assert_int_equal(moved->morph_count, 2);
        assert_string_equal(moved->clips[0].name, "examples");
        assert_true(fabsf(moved->clips[0].end - 1) < 1e-6f);
        runner curves = runner_make(moved, "curves", NULL, 0);
        float *joints = malloc(12 * (size_t)c->joint_count * sizeof *joints);
        int n = 3 * c->vertex_count;
        double worst = 0;
        for (int e = 0; e < 2; e++) {
            cutis_pose_sample(moved, 0, 0.5 * (e + 1), joints);
            worst = fmax(worst, largest_difference(runner_pose(&curves, joints), shapes[e], n) / c->size);
        }

        /* Steps before and after the middle example, and in the middle of a segment for comparison. */
        float *frames[5];
        double jump[2], speed = 0;
        for (int where = 0; where < 2; where++) {
            double centre = where ? 0.25 : 0.5, h = 0.002, sum = 0;
            for (int k = 0; k < 3; k++) {
                cutis_pose_sample(moved, 0, centre + h * (k - 1), joints);
                frames[k] = malloc((size_t)n * sizeof(float));
                memcpy(frames[k], runner_pose(&curves, joints), (size_t)n * sizeof(float));
            }
            for (int v = 0; v < n; v++) {
                double before = ((double)frames[1][v] - frames[0][v]) / h,
                       after = ((double)frames[2][v] - frames[1][v]) / h;
                sum += (after - before) * (after - before);
                if (where) speed += after * after;
            }
            jump[where] = sqrt(sum);
            for (int k = 0; k < 3; k++) free(frames[k]);
        }
        speed = sqrt(speed);
        print_message(
            "%-8s posed shapes: largest error %.1e of the size; jump of the velocity at the middle one %.1f %% "
            "of the speed (inside a segment %.1f %%)\n",
            names[i], worst, 100 * jump[0] / speed, 100 * jump[1] / speed);
        assert_true(worst < 1e-6);
        assert_true(jump[0] < 0.05 * speed);
        free(joints);
        runner_free(&curves);
        for (int e = 0; e < 2; e++) free(shapes[e]);
        cutis_character_destroy(moved);
        cutis_character_destroy(c);
    }
}

static void velocity_is_continuous_through_a_middle_example(void **state)
{
    /* The arm bends on and on: its pose goes straight through the middle example, its shape does not. */
    (void)state;
    cutis_character *moved;
    cutis_error error;
    cutis_character *c = test_zoo("arm", 1);
    int n = c->vertex_count;
    float *joints = malloc(12 * (size_t)c->joint_count * sizeof *joints), *shapes[2], *frames[3];
    runner lbs = runner_make(c, "lbs", NULL, 0);
    double full = c->clips[0].start + 0.5 * (c->clips[0].end - c->clips[0].start);
    for (int e = 0; e < 2; e++) {
        cutis_pose_blend(c, 0, full, 0.5f * (float)(e + 1), joints);
        shapes[e] = malloc(3 * (size_t)n * sizeof(float));
        memcpy(shapes[e], runner_pose(&lbs, joints), 3 * (size_t)n * sizeof(float));
        for (int v = 0; v < n; v++) /* a bulge that comes late: 1 part at the middle, 4 at the end */
            shapes[e][3 * v + 2] *= 1 + 0.02f * (float)((e + 1) * (e + 1));
    }
    const float *const given[] = {shapes[0], shapes[1]};
    assert_int_equal(cutis_rig_examples(c, 2, given, 1, NULL, &moved, &error), CUTIS_OK);
    runner curves = runner_make(moved, "curves", NULL, 0);
    double jumps[3];
    for (int k = 0; k < 3; k++) {
        double h = 0.008 / (1 << k), jump = 0, speed = 0;
        for (int f = 0; f < 3; f++) {
            /* The pose itself goes evenly, along the way from the first pose to the last. */
            float *rest = malloc(12 * (size_t)c->joint_count * sizeof *rest);
            cutis_pose_blend(moved, 0, 2, (float)(0.5 + h * (f - 1)), joints);
            frames[f] = malloc(3 * (size_t)n * sizeof(float));
            memcpy(frames[f], runner_pose(&curves, joints), 3 * (size_t)n * sizeof(float));
            free(rest);
        }
        for (int i = 0; i < 3 * n; i++) {
            double before = ((double)frames[1][i] - frames[0][i]) / h,
                   after = ((double)frames[2][i] - frames[1][i]) / h;
            jump += (after - before) * (after - before);
            speed += after * after;
        }
        jumps[k] = sqrt(jump / speed);
        print_message("steps of %.3f: velocity before and after differs by %.2f %%\n", h, 100 * jumps[k]);
        for (int f = 0; f < 3; f++) free(frames[f]);
    }
    /* A jump would stay; a continuous velocity differs less the nearer one looks. */
    assert_true(jumps[1] < 0.75 * jumps[0] && jumps[2] < 0.75 * jumps[1]);
    runner_free(&curves);
    runner_free(&lbs);
    for (int e = 0; e < 2; e++) free(shapes[e]);
    free(joints);
    cutis_character_destroy(moved);
    cutis_character_destroy(c);
}

static void volume_between_examples_is_near_the_mean_of_the_ends(void **state)
{
    static const struct {
        const char *name, *examples;
        int count;
    } scenes[] = {{"cat", "2", 2}, {"dancer", "1", 1}, {"arm", "2", 2}};
    (void)state;
    print_message("volume between examples, distance from the way between the ends, %% of the volume\n");
    print_message("%-8s %6s %8s %8s %8s %8s\n", "", "place", "curves", "lbs", "dqs", "blend");
    for (int s = 0; s < 3; s++) {
        cutis_character *c = test_zoo(scenes[s].name, 1);
        const cutis_setting settings[] = {{"clip", "0"}, {"examples", scenes[s].examples}};
        runner all[3] = {runner_make(c, "curves", settings, 2), runner_make(c, "lbs", NULL, 0),
                         runner_make(c, "dqs", NULL, 0)};
        float *joints = malloc(12 * (size_t)c->joint_count * sizeof *joints);
        float *blend = malloc(3 * (size_t)c->vertex_count * sizeof *blend);
        float *end = malloc(3 * (size_t)c->vertex_count * sizeof *end);
        double time = c->clips[0].start + (c->clips[0].end - c->clips[0].start) / scenes[s].count, sums[4] = {0};
        double first = mesh_volume(c->triangle_count, c->triangles, c->positions), last;
        cutis_pose_sample(c, 0, time, joints);
        memcpy(end, runner_pose(&all[0], joints), 3 * (size_t)c->vertex_count * sizeof *end);
        last = mesh_volume(c->triangle_count, c->triangles, end);
        for (int place = 1; place < 4; place++) {
            float t = 0.25f * (float)place;
            double volumes[4], even = first + (last - first) * (double)t;
            for (int i = 0; i < 3 * c->vertex_count; i++) blend[i] = c->positions[i] + t * (end[i] - c->positions[i]);
            volumes[3] = mesh_volume(c->triangle_count, c->triangles, blend);
            cutis_pose_blend(c, 0, time, t, joints);
            for (int k = 0; k < 3; k++)
                volumes[k] = mesh_volume(c->triangle_count, c->triangles, runner_pose(&all[k], joints));
            for (int k = 0; k < 4; k++) volumes[k] = 100 * fabs(volumes[k] / even - 1), sums[k] += volumes[k];
            print_message("%-8s %6.2f %8.3f %8.3f %8.3f %8.3f   (ends %.5g, %.5g)\n", scenes[s].name, (double)t,
                          volumes[0], volumes[1], volumes[2], volumes[3], first, last);
            for (int k = 1; k < 4 && place == 2; k++) assert_true(volumes[0] < volumes[k]);
        }
        for (int k = 1; k < 4; k++) assert_true(sums[0] < sums[k]);

        /* the same without the warp, and how far the skin's stiffness moves points half way, with the warp and without
         */
        double moved[2] = {0, 0};
        for (int warp = 0; warp < 2; warp++) {
            const cutis_setting soft[] = {settings[0], settings[1], {"warp", warp ? "1" : "0"}, {"skin_young", "4.2"}};
            const cutis_setting stiff[] = {settings[0], settings[1], soft[2], {"skin_young", "42000"}};
            runner two[3] = {runner_make(c, "curves", soft, 4), runner_make(c, "curves", stiff, 4),
                             runner_make(c, "curves", soft, 3)};
            for (int place = 1; place < 4 && !warp; place++) {
                double even = first + (last - first) * 0.25 * place;
                cutis_pose_blend(c, 0, time, 0.25f * (float)place, joints);
                double volume = mesh_volume(c->triangle_count, c->triangles, runner_pose(&two[2], joints));
                print_message("%-8s %6.2f %8.3f with warp = 0\n", scenes[s].name, 0.25 * place,
                              100 * fabs(volume / even - 1));
            }
            cutis_pose_blend(c, 0, time, 0.5f, joints);
            const float *a = runner_pose(&two[0], joints);
            const float *b = runner_pose(&two[1], joints);
            for (int i = 0; i < 3 * c->vertex_count; i++)
                moved[warp] = fmax(moved[warp], fabs((double)a[i] - b[i]) / c->size);
            for (int k = 0; k < 3; k++) runner_free(&two[k]);
        }
        print_message(
            "%-8s skin_young 4.2 against 42000 kPa moves points by %.3f %% of the size without the warp, %.3f %% "
            "with it\n",
            scenes[s].name, 100 * moved[0], 100 * moved[1]);
        assert_true(moved[0] > 0);
        free(joints), free(blend), free(end);
        for (int k = 0; k < 3; k++) runner_free(&all[k]);
        cutis_character_destroy(c);
    }
}

static void a_thousand_frames_take_no_more_memory_than_one(void **state)
{
    (void)state;
    test_memory memory = {0};
    cutis_allocator allocator = test_allocator(&memory);
    cutis_character *dancer = test_zoo("dancer", 1);
    cutis_model *model =
        test_build_def((cutis_model_def){.character = dancer, .solver = "curves", .allocator = &allocator});
    cutis_state *frames = test_state(model, &allocator);
    cutis_clip_motion clip = {dancer, 0, 0};
    cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
    cutis_state_step(model, frames, &input, 1e-3);
    long bytes = memory.live_bytes, calls = memory.allocations;
    for (int f = 0; f < 1000; f++) cutis_state_step(model, frames, &input, 1e-3);
    print_message("model and state: %.1f MB after 1 frame and after 1,000, %ld allocations meanwhile\n",
                  (double)bytes / (1 << 20), (long)memory.allocations - calls);
    assert_int_equal(memory.live_bytes, bytes);
    assert_int_equal(memory.allocations, calls);
    cutis_state_destroy(frames);
    cutis_model_destroy(model);
    assert_int_equal(memory.live_blocks, 0);
    cutis_character_destroy(dancer);
}

static bool examples_small(void *context, const cutis_allocator *allocator)
{
    cutis_character *arm = context, *moved = NULL;
    cutis_error error;
    const float *const given[] = {arm->positions, arm->positions};
    bool made = cutis_rig_examples(arm, 2, given, 1, allocator, &moved, &error) == CUTIS_OK;
    cutis_character_destroy(moved);
    return made;
}

static void building_survives_every_failed_allocation(void **state)
{
    (void)state;
    cutis_character *arm = test_zoo("arm", 0.15);
    cutis_model_def def = {.character = arm, .solver = "curves"};
    print_message("%ld allocations\n", test_every_allocation(test_build_and_step, &def));
    print_message("%ld allocations\n", test_every_allocation(examples_small, arm));
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
        cmocka_unit_test(posed_shapes_are_met_exactly_and_passed_without_a_stop),
        cmocka_unit_test(velocity_is_continuous_through_a_middle_example),
        cmocka_unit_test(volume_between_examples_is_near_the_mean_of_the_ends),
        cmocka_unit_test(a_thousand_frames_take_no_more_memory_than_one),
        cmocka_unit_test(building_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
