/* Stacks: every stage runs at its own substep, and nothing of that can be seen in the frame rate or in the body. */
#include "testing.h"

#include "bar.h"
#include "math/math3.h"
#include "solvers/solver.h"

static cutis_character *make_bar(void)
{
    bar b = bar_make(8, 16, 3);
    const float times[] = {0, 0.4f, 1}, turns[] = {0, 0, 0, 1, 0.3f, 0.4f, 0, 0.8660254f, 0, 0.6f, 0, 0.8f};
    cutis_track track = {1, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, 3, times, turns};
    cutis_clip clip = {.name = "turn", .track_count = 1, .tracks = &track};
    b.given.clips = &clip;
    b.given.clip_count = 1;
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
    bar_free(&b);
    return c;
}

static void go_to(const cutis_model *model, cutis_state *state, cutis_step_input *input, double time)
{
    cutis_state_step(model, state, input, time - cutis_state_time(state));
}

/* Call `test` for every solver that can carry skin, with its stack's name. */
static void for_every_body(void (*test)(const cutis_character *c, const solver *body, const char *stack))
{
    cutis_character *c = make_bar();
    for (int i = 0; i < solver_table_count; i++) {
        char name[64];
        if (solver_table[i]->info.flags & CUTIS_SOLVER_SURFACE) continue;
        snprintf(name, sizeof name, "%s+slide", solver_table[i]->info.name);
        test(c, solver_table[i], name);
    }
    cutis_character_destroy(c);
}

/* ---- the body in a stack is the body alone ---- */

static void compare_with_alone(const cutis_character *c, const solver *body, const char *stack)
{
    if (!(body->info.substep > 0)) return;
    cutis_model *alone = test_build(c, body->info.name, NULL), *both = test_build(c, stack, NULL);
    double h = cutis_model_get_info(both).substep;
    assert_true(h == body->info.substep && h == cutis_model_get_info(alone).substep);
    cutis_state *a = test_state(alone, NULL), *b = test_state(both, NULL);
    cutis_clip_motion clip = {c, 0, 0};
    cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
    size_t floats = 3 * (size_t)c->vertex_count;
    float *last = calloc(floats, sizeof *last);
    assert_non_null(last);
    memcpy(last, cutis_state_positions(alone, a), floats * sizeof *last);
    for (int i = 1; i <= 12; i++) {
        go_to(alone, a, &input, i * h);
        /* In between, skin that follows its body shows it interpolated. */
        go_to(both, b, &input, (i - 0.5) * h);
        for (size_t k = 0; k < floats; k++) {
            double middle = 0.5 * ((double)last[k] + (double)cutis_state_positions(alone, a)[k]);
            assert_true(fabs((double)cutis_state_positions(both, b)[k] - middle) < 1e-6);
        }
        go_to(both, b, &input, i * h);
        assert_memory_equal(cutis_state_positions(alone, a), cutis_state_positions(both, b), floats * sizeof *last);
        memcpy(last, cutis_state_positions(alone, a), floats * sizeof *last);
    }
    free(last);
    cutis_state_destroy(a);
    cutis_state_destroy(b);
    cutis_model_destroy(alone);
    cutis_model_destroy(both);
}

static void a_body_moves_in_a_stack_as_it_does_alone(void **unused)
{
    (void)unused;
    for_every_body(compare_with_alone);
}

static void the_substep_asked_for_is_the_bodys(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar();
    const struct {
        const char *stack;
        double asked;
        int taken; /* in 20 ms */
    } cases[] = {{"layers+slide", 0, 4},       {"layers+slide", 0.01, 6}, {"layers+slide", 0.0025, 8},
                 {"layers+slide", 0.0005, 40}, {"lbs+slide", 0.002, 10},  {"slide", 0, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cutis_model *model =
            test_build_def((cutis_model_def){.character = c, .solver = cases[i].stack, .substep = cases[i].asked});
        cutis_state *state = test_state(model, NULL);
        if (cases[i].asked > 0) assert_true(cutis_model_get_info(model).substep == cases[i].asked);
        cutis_state_step(model, state, &(cutis_step_input){0}, 0.02);
        assert_int_equal(cutis_state_stats(model, state)->substeps, cases[i].taken);
        cutis_state_destroy(state);
        cutis_model_destroy(model);
    }
    cutis_character_destroy(c);
}

/* ---- time ---- */

/* The whole state has the same bits, however it came to the instant, also in the middle of a body's substep. */
static void compare_rates(const cutis_character *c, const solver *body, const char *stack)
{
    cutis_model *model = test_build(c, stack, NULL);
    double own = body->info.substep > 0 ? body->info.substep : 0.005;
    const double instants[] = {12 * own, 12 * own + (body->info.substep > 0 ? own / ceil(own / 0.001 - 1e-6) : 0.001)};
    for (int k = 0; k < 2; k++) {
        uint64_t expected = 0;
        for (int frames = 1; frames <= 7; frames += 2) {
            cutis_state *state = test_state(model, NULL);
            cutis_clip_motion clip = {c, 0, 0};
            cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
            for (int i = 1; i < frames; i++) go_to(model, state, &input, instants[k] * i / frames);
            cutis_state_step(model, state, &input, instants[k] - cutis_state_time(state));
            const char *positions = (const char *)cutis_state_positions(model, state);
            uint64_t hash = 0;
            for (size_t e = 0; e < 12 * (size_t)c->vertex_count; e++)
                hash = (hash ^ (uint8_t)positions[e]) * 0x100000001b3u;
            /* The time itself may end on another bit; all that counts otherwise is seen by running on. */
            go_to(model, state, &input, 24 * own);
            const char *later = (const char *)cutis_state_positions(model, state);
            for (size_t e = 0; e < 12 * (size_t)c->vertex_count; e++)
                hash = (hash ^ (uint8_t)later[e]) * 0x100000001b3u;
            cutis_output sliding;
            assert_true(cutis_state_output(model, state, "sliding", &sliding));
            for (size_t e = 0; e < 12 * (size_t)c->vertex_count; e++)
                hash = (hash ^ (uint8_t)((const char *)sliding.values)[e]) * 0x100000001b3u;
            if (frames == 1) expected = hash;
            if (hash != expected) fail_msg("%s differs when it comes in %d frames to %g", stack, frames, instants[k]);
            cutis_state_destroy(state);
        }
    }
    cutis_model_destroy(model);
}

static void the_frame_rate_only_picks_instants(void **unused)
{
    (void)unused;
    test_is_heavy();
    for_every_body(compare_rates);
}

/* ---- snapshots, threads, memory, teleport, live poses ---- */

static void compare_restored(const cutis_character *c, const solver *body, const char *stack)
{
    (void)body;
    test_memory memory = {0};
    cutis_allocator allocator = test_allocator(&memory);
    cutis_model *model = test_build_def((cutis_model_def){.character = c, .solver = stack, .allocator = &allocator});
    cutis_state *a = test_state(model, &allocator), *b = test_state(model, &allocator);
    cutis_pool *pool = NULL;
    assert_int_equal(cutis_pool_create(3, NULL, &pool, NULL), CUTIS_OK);
    long before = atomic_load(&memory.allocations);
    cutis_clip_motion clip = {c, 0, 0};
    cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
    go_to(model, a, &input, 0.0137);
    cutis_state_copy(model, b, a);
    go_to(model, a, &input, 0.041);
    input.jobs = cutis_pool_jobs(pool);
    go_to(model, b, &input, 0.041);
    if (cutis_state_hash(model, a) != cutis_state_hash(model, b)) fail_msg("%s differs after a snapshot", stack);
    assert_int_equal(atomic_load(&memory.allocations), before);
    cutis_pool_destroy(pool);
    cutis_state_destroy(a);
    cutis_state_destroy(b);
    cutis_model_destroy(model);
    assert_memory_clean(&memory);
}

static void a_snapshot_goes_on_alike_with_any_threads_and_without_memory(void **unused)
{
    (void)unused;
    for_every_body(compare_restored);
}

typedef struct moved_clip {
    cutis_clip_motion clip;
    const float *motion; /* NULL: as it is */
} moved_clip;

static void sample_moved(void *context, double time, float *joints)
{
    const moved_clip *moved = context;
    cutis_clip_motion_sample((void *)&moved->clip, time, joints);
    for (int j = 0; moved->motion && j < moved->clip.character->joint_count; j++) {
        mat34 m, by;
        memcpy(&m, joints + 12 * j, sizeof m);
        memcpy(&by, moved->motion, sizeof by);
        m = mat34_multiply(by, m);
        memcpy(joints + 12 * j, &m, sizeof m);
    }
}

static void compare_moved(const cutis_character *c, const solver *body, const char *stack)
{
    (void)body;
    static const float motion[12] = {0, 0, 1, 3, 0, 1, 0, -2, -1, 0, 0, 1}; /* a quarter turn about Y, and away */
    cutis_model *model = test_build(c, stack, NULL);
    cutis_state *a = test_state(model, NULL), *b = test_state(model, NULL);
    moved_clip at_home = {{c, 0, 0}, NULL}, away = {{c, 0, 0}, motion};
    cutis_step_input input = {.motion = {&at_home, sample_moved}};
    go_to(model, a, &input, 0.0137);
    go_to(model, b, &input, 0.0137);
    cutis_state_teleport(model, b, motion);
    go_to(model, a, &input, 0.05);
    input.motion.context = &away;
    go_to(model, b, &input, 0.05);
    for (int v = 0; v < c->vertex_count; v++) {
        const float *p = cutis_state_positions(model, a) + 3 * v, *q = cutis_state_positions(model, b) + 3 * v;
        double off = (double)vec3_distance(mat34_point(motion, vec3_load(p)), vec3_load(q));
        if (!(off < 2e-4)) fail_msg("%s: vertex %d is off by %g after a teleport", stack, v, off);
    }
    cutis_state_destroy(a);
    cutis_state_destroy(b);
    cutis_model_destroy(model);
}

static void a_teleport_within_a_bodys_substep_excites_nothing(void **unused)
{
    (void)unused;
    for_every_body(compare_moved);
}

static void run_live(const cutis_character *c, const solver *body, const char *stack)
{
    (void)body;
    cutis_model *model = test_build(c, stack, NULL);
    cutis_state *state = test_state(model, NULL);
    float joints[3 * 12];
    cutis_step_input input = {.joints = joints};
    for (int i = 0; i < 20; i++) {
        cutis_pose_sample(c, 0, 0.05 * i, joints);
        if (i == 7) joints[13] = NAN;
        cutis_state_step(model, state, &input, i == 11 ? 0.1 : 0.0071);
        for (int k = 0; k < 3 * c->vertex_count; k++)
            assert_true(fabs((double)cutis_state_positions(model, state)[k]) < 10);
    }
    /* Held long enough, the body is where the pose wants it: the pose it saw last is the one given. */
    for (int i = 0; i < 300; i++) cutis_state_step(model, state, &input, 0.01);
    cutis_model *still = test_build(c, body->info.name, NULL);
    cutis_state *settled = test_state(still, NULL);
    for (int i = 0; i < 320; i++) cutis_state_step(still, settled, &input, 0.01);
    for (int v = 0; v < c->vertex_count; v++) {
        vec3 p = vec3_load(cutis_state_positions(model, state) + 3 * v);
        vec3 q = vec3_load(cutis_state_positions(still, settled) + 3 * v);
        if (!(vec3_distance(p, q) < 0.02f)) fail_msg("%s: a held pose is missed", stack);
    }
    cutis_state_destroy(settled);
    cutis_model_destroy(still);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
}

static void live_poses_reach_every_stage(void **unused)
{
    (void)unused;
    test_is_heavy();
    for_every_body(run_live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_moves_in_a_stack_as_it_does_alone),
        cmocka_unit_test(the_substep_asked_for_is_the_bodys),
        cmocka_unit_test(the_frame_rate_only_picks_instants),
        cmocka_unit_test(a_snapshot_goes_on_alike_with_any_threads_and_without_memory),
        cmocka_unit_test(a_teleport_within_a_bodys_substep_excites_nothing),
        cmocka_unit_test(live_poses_reach_every_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
