/* Models and states: settings, snapshots, threads, memory, live poses. */
#include "testing.h"

#include "bar.h"
#include "math/math3.h"

/* rings: 64 for more vertices than one block of work holds, fewer where that does not matter. */
static cutis_result create_bar(int rings, const cutis_allocator *allocator, cutis_character **c)
{
    bar b = bar_make(rings / 2, rings, 3);
    const float times[] = {0, 1}, turns[] = {0, 0, 0, 1, 0, 0.6f, 0, 0.8f};
    cutis_track track = {1, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, 2, times, turns};
    cutis_clip clip = {.name = "turn", .track_count = 1, .tracks = &track};
    b.given.clips = &clip;
    b.given.clip_count = 1;
    cutis_result result = cutis_character_create(&b.given, allocator, c, NULL);
    bar_free(&b);
    return result;
}

static cutis_character *make_bar(int rings)
{
    cutis_character *c = NULL;
    assert_int_equal(create_bar(rings, NULL, &c), CUTIS_OK);
    return c;
}

static void bad_definitions_are_refused_with_a_hint(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(20);
    const struct {
        const char *solver, *key, *value, *hint;
        double substep;
    } cases[] = {
        {"lsb", NULL, NULL, "did you mean 'lbs'", 0},
        {"nonsense", NULL, NULL, "cutis solvers", 0},
        {"lbs+dqs", NULL, NULL, "put it first", 0},
        {"", NULL, NULL, "there is no solver", 0},
        {"lbs+", NULL, NULL, "there is no solver", 0},
        {"lbs", "stiffness", "1", "has no parameter 'stiffness'", 0},
        {"lbs", "bones.a.stiffness", "1", "has no parameter 'stiffness'", 0},
        {"lbs", "bones.zebra.stiffness", "1", "no joint 'zebra'", 0},
        {"lbs", "bones.", "1", "bones.JOINT.PARAMETER", 0},
        {"layers", "contact", "off", "is now called 'self_collision'", 0},
        {"layers", "flesh", "0.1", "is now called 'flesh_depth' (size)", 0},
        {"springs", "layers.damping", "1", "solver layers does not run here", 0},
        {"layers+slide", "fat_stiffness", "0.4", "2 to 250 Hz", 0},
        {"layers+slide", "slide.fat_stiffness", "20", "solver slide has no parameter", 0},
        {"lbs", NULL, NULL, "0.0005 to 0.05", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cutis_setting setting = {cases[i].key, cases[i].value};
        cutis_model_def def = {.character = c,
                               .solver = cases[i].solver,
                               .substep = cases[i].substep,
                               .settings = &setting,
                               .setting_count = cases[i].key ? 1 : 0};
        cutis_model *model = NULL;
        cutis_error error;
        assert_int_equal(cutis_model_build(&def, &model, &error), CUTIS_ERROR_ARGUMENT);
        assert_null(model);
        if (!strstr(error.text, cases[i].hint)) fail_msg("'%s' lacks '%s'", error.text, cases[i].hint);
    }
    cutis_character_destroy(c);
}

/* Every solver of the table, with the clip at 60 frames per second: the hash of the state at the end. */
static uint64_t run(const cutis_model *model, const cutis_character *c, const cutis_jobs *jobs, int frames)
{
    cutis_state *state = test_state(model, NULL);
    cutis_clip_motion clip = {c, 0, 0.1};
    cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}, .jobs = jobs};
    for (int i = 0; i < frames; i++) cutis_state_step(model, state, &input, 1.0 / 60);
    uint64_t hash = cutis_state_hash(model, state);
    cutis_state_destroy(state);
    return hash;
}

static void the_number_of_threads_does_not_change_a_bit(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(64);
    for (int s = 0; s < cutis_solver_count(); s++) {
        cutis_model *model = test_build(c, cutis_solver(s)->name, NULL);
        uint64_t serial = run(model, c, NULL, 8);
        assert_true(serial == run(model, c, &test_jobs_backward, 8));
        assert_true(serial != run(model, c, NULL, 7));
        for (int threads = 2; threads <= 3; threads++) {
            cutis_pool *pool = NULL;
            assert_int_equal(cutis_pool_create(threads, NULL, &pool, NULL), CUTIS_OK);
            if (serial != run(model, c, cutis_pool_jobs(pool), 8)) {
                fail_msg("%s differs with %d threads", cutis_solver(s)->name, threads);
            }
            cutis_pool_destroy(pool);
        }
        cutis_model_destroy(model);
    }
    cutis_character_destroy(c);
}

static void a_restored_snapshot_goes_on_as_the_original_did(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(20);
    for (int s = 0; s < cutis_solver_count(); s++) {
        cutis_model *model = test_build(c, cutis_solver(s)->name, NULL);
        cutis_state *a = test_state(model, NULL), *b = test_state(model, NULL);
        cutis_clip_motion clip = {c, 0, 0};
        cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
        for (int i = 0; i < 10; i++) cutis_state_step(model, a, &input, 0.013);
        cutis_state_copy(model, b, a);
        assert_true(cutis_state_hash(model, a) == cutis_state_hash(model, b));
        for (int i = 0; i < 10; i++) cutis_state_step(model, a, &input, 0.013);
        assert_true(cutis_state_hash(model, a) != cutis_state_hash(model, b));
        for (int i = 0; i < 10; i++) cutis_state_step(model, b, &input, 0.013);
        assert_true(cutis_state_hash(model, a) == cutis_state_hash(model, b));
        /* Reset is a fresh start. */
        cutis_state_reset(model, a, NULL);
        cutis_state_reset(model, b, NULL);
        assert_true(cutis_state_hash(model, a) == cutis_state_hash(model, b));
        assert_true(cutis_state_time(a) == 0);
        cutis_state_destroy(a);
        cutis_state_destroy(b);
        cutis_model_destroy(model);
    }
    cutis_character_destroy(c);
}

/* Instants that fall on substeps have the same bits at every frame rate. */
static void the_frame_rate_only_picks_instants(void **unused)
{
    (void)unused;
    test_is_heavy();
    cutis_character *c = make_bar(20);
    for (int s = 0; s < cutis_solver_count(); s++) {
        cutis_model *model = test_build(c, cutis_solver(s)->name, NULL);
        uint64_t expected = 0;
        const int rates[] = {24, 30, 60, 120, 144};
        for (int r = 0; r < 5; r++) {
            cutis_state *state = test_state(model, NULL);
            cutis_clip_motion clip = {c, 0, 0};
            cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
            for (int i = 1; i <= rates[r] / 2; i++) {
                cutis_state_step(model, state, &input, (double)i / rates[r] - cutis_state_time(state));
            }
            uint64_t hash = 0;
            const float *positions = cutis_state_positions(model, state);
            for (int e = 0; e < 3 * c->vertex_count; e++) {
                uint32_t bits;
                memcpy(&bits, &positions[e], sizeof bits);
                hash = (hash ^ bits) * 0x100000001b3u;
            }
            if (r == 0) expected = hash;
            if (hash != expected) fail_msg("%s differs at %d frames per second", cutis_solver(s)->name, rates[r]);
            cutis_state_destroy(state);
        }
        cutis_model_destroy(model);
    }
    cutis_character_destroy(c);
}

static void a_step_never_allocates(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(20);
    for (int s = 0; s < cutis_solver_count(); s++) {
        test_memory memory = {0};
        cutis_allocator allocator = test_allocator(&memory);
        cutis_model *model =
            test_build_def((cutis_model_def){.character = c, .solver = cutis_solver(s)->name, .allocator = &allocator});
        cutis_state *state = test_state(model, &allocator);
        long before = atomic_load(&memory.allocations);
        cutis_clip_motion clip = {c, 0, 0};
        cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
        for (int i = 0; i < 30; i++) cutis_state_step(model, state, &input, 1.0 / 30);
        assert_int_equal(atomic_load(&memory.allocations), before);
        cutis_state_destroy(state);
        cutis_model_destroy(model);
        assert_memory_clean(&memory);
    }
    cutis_character_destroy(c);
}

static bool build_all(void *context, const cutis_allocator *allocator)
{
    const char *solver = context;
    cutis_character *c = NULL;
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    bool fine = create_bar(8, allocator, &c) == CUTIS_OK;
    /* on the drawn mesh: test_body tries allocations of bodies */
    cutis_model_def def = {.character = c, .solver = solver, .detail = CUTIS_DETAIL_DRAWN, .allocator = allocator};
    fine = fine && cutis_model_build(&def, &model, NULL) == CUTIS_OK;
    fine = fine && cutis_state_create(model, allocator, &state, NULL) == CUTIS_OK;
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
    return fine;
}

static void every_failing_allocation_is_survived(void **unused)
{
    (void)unused;
    for (int s = 0; s < cutis_solver_count(); s++) {
        assert_true(test_every_allocation(build_all, (void *)cutis_solver(s)->name) > 4);
    }
}

static void wild_live_poses_leave_finite_results(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(20);
    for (int s = 0; s < cutis_solver_count(); s++) {
        cutis_model *model = test_build(c, cutis_solver(s)->name, NULL);
        cutis_state *state = test_state(model, NULL);
        float joints[12 * 3];
        cutis_pose_rest(c, joints);
        cutis_step_input input = {.joints = joints};
        const float wild[] = {NAN, INFINITY, 1e30f, -1e9f, 0};
        const double steps[] = {0, -1, 1e9, 1e-9, (double)NAN, 0.02};
        for (int i = 0; i < 60; i++) {
            cutis_pose_sample(c, 0, i * 0.02, joints);
            joints[(i * 7) % 36] = wild[i % 5];
            cutis_state_step(model, state, &input, steps[i % 6]);
            const float *positions = cutis_state_positions(model, state);
            for (int e = 0; e < 3 * c->vertex_count; e++) assert_true(isfinite(positions[e]));
        }
        cutis_state_destroy(state);
        cutis_model_destroy(model);
    }
    cutis_character_destroy(c);
}

/* A node above the skeleton that scales a hundred thousand times is a change of units, not a wild pose. */
static void a_skeleton_in_other_units_moves(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(20), *scaled = NULL;
    const float scale = 1e5f;
    float *positions = malloc((size_t)c->vertex_count * 3 * sizeof(float));
    cutis_joint *joints = malloc((size_t)c->joint_count * sizeof *joints);
    for (int i = 0; i < 3 * c->vertex_count; i++) positions[i] = scale * c->positions[i];
    memcpy(joints, c->joints, (size_t)c->joint_count * sizeof *joints);
    for (int j = 0; j < c->joint_count; j++) {
        for (int e = 0; e < 12; e++) joints[j].inverse_bind[e] *= e % 4 == 3 ? 1 : 1 / scale;
        for (int k = 0; joints[j].parent < 0 && k < 3; k++) {
            joints[j].rest.scale[k] *= scale, joints[j].rest.translation[k] *= scale;
            joints[j].idle.scale[k] *= scale, joints[j].idle.translation[k] *= scale;
        }
    }
    cutis_character given = *c;
    given.positions = positions, given.joints = joints;
    assert_int_equal(cutis_character_create(&given, NULL, &scaled, NULL), CUTIS_OK);
    cutis_model *model = test_build(scaled, "lbs", NULL);
    cutis_state *state = test_state(model, NULL);
    cutis_clip_motion motion = {.character = scaled, .clip = 0};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    cutis_state_step(model, state, &input, 0.3);
    assert_int_equal(cutis_state_stats(model, state)->repairs, 0);
    float moved = 0;
    for (int i = 0; i < 3 * c->vertex_count; i++)
        moved = fmaxf(moved, fabsf(cutis_state_positions(model, state)[i] - positions[i]));
    assert_true(moved > 0.05f * scaled->size);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(scaled);
    cutis_character_destroy(c);
    free(positions);
    free(joints);
}

static bool has_gravity(const cutis_solver_info *info)
{
    for (int i = 0; i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, "gravity") == 0) return true;
    return false;
}

/* Moved by teleport = moved from the start; the direction of gravity does not move. */
static void teleport_moves_without_exciting(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(20);
    quat turn = quat_axis_angle((vec3){0.6f, 0.8f, 0}, 1.2);
    mat34 move = mat34_compose((vec3){3, -2, 5}, turn, (vec3){1, 1, 1});
    for (int s = 0; s < cutis_solver_count(); s++) {
        const char *const weightless[] = {"gravity=0", NULL};
        const char *name = cutis_solver(s)->name;
        cutis_model *model = test_build(c, name, has_gravity(cutis_solver(s)) ? weightless : NULL);
        cutis_state *a = test_state(model, NULL), *b = test_state(model, NULL);
        float joints[36], moved[36];
        for (int i = 0; i < 30; i++) {
            cutis_pose_sample(c, 0, i / 60.0, joints);
            for (int j = 0; j < 3; j++) {
                mat34 m;
                memcpy(&m, joints + 12 * j, sizeof m);
                m = mat34_multiply(move, m);
                memcpy(moved + 12 * j, &m, sizeof m);
            }
            if (i == 10) cutis_state_teleport(model, b, move.m);
            cutis_step_input here = {.joints = joints}, there = {.joints = i >= 10 ? moved : joints};
            cutis_state_step(model, a, &here, 1.0 / 60);
            cutis_state_step(model, b, &there, 1.0 / 60);
        }
        const float *pa = cutis_state_positions(model, a), *pb = cutis_state_positions(model, b);
        float worst = 0;
        for (int v = 0; v < c->vertex_count; v++) {
            vec3 expected = mat34_point(move.m, vec3_load(pa + 3 * v));
            worst = fmaxf(worst, vec3_distance(expected, vec3_load(pb + 3 * v)));
        }
        if (!(worst < 1e-4f * c->size)) fail_msg("%s: off by %g", cutis_solver(s)->name, (double)worst);
        cutis_state_destroy(a);
        cutis_state_destroy(b);
        cutis_model_destroy(model);
    }
    cutis_character_destroy(c);
}

/* ---- advance and show ---- */

static bool stop_at_third_call(void *context)
{
    int *calls = context;
    return ++*calls == 3;
}

/* A model on its own simulation body where the solver has one, and on the drawn mesh. */
static cutis_model *build_at(const cutis_character *c, int solver, int detail)
{
    return test_build_def((cutis_model_def){.character = c, .solver = cutis_solver(solver)->name, .detail = detail});
}

static void assert_same_vertices(const cutis_model *m, const cutis_character *c, const cutis_state *a,
                                 const cutis_state *b, const char *what)
{
    size_t bytes = 3 * (size_t)c->vertex_count * sizeof(float);
    if (memcmp(cutis_state_positions(m, a), cutis_state_positions(m, b), bytes) != 0)
        fail_msg("%s: %s", cutis_model_get_info(m).solver, what);
}

/* What is drawn, how often and with which amount does not matter for what follows, nor does an interruption. */
static void the_simulation_does_not_depend_on_what_is_drawn(void **unused)
{
    (void)unused;
    test_is_heavy();
    const float amounts[] = {0, 0.4f, 2};
    cutis_character *c = make_bar(20);
    for (int k = 0; k < 2 * cutis_solver_count(); k++) {
        cutis_model *model = build_at(c, k / 2, k % 2 ? 400 : CUTIS_DETAIL_DRAWN);
        cutis_state *all = test_state(model, NULL), *last = test_state(model, NULL), *stopped = test_state(model, NULL);
        cutis_clip_motion clip = {c, 0, 0};
        cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};

        for (int i = 1; i <= 9; i++) {
            input.amount = &amounts[i % 3];
            assert_true(cutis_state_advance(model, all, &input, 0.021 * i, NULL, NULL));
            cutis_state_show(model, all, &input);
        }
        input.amount = NULL;
        assert_true(cutis_state_advance(model, last, &input, 9 * 0.021, NULL, NULL));

        int calls = 0;
        bool reached = cutis_state_advance(model, stopped, &input, 9 * 0.021, stop_at_third_call, &calls);
        if (!reached) {
            double h = cutis_model_get_info(model).substep;
            assert_true(fabs(cutis_state_time(stopped) - 4 * h) < 1e-9);
            cutis_state_show(model, stopped, &input);
            const float *positions = cutis_state_positions(model, stopped);
            for (int e = 0; e < 3 * c->vertex_count; e++) assert_true(isfinite(positions[e]));
            assert_true(cutis_state_advance(model, stopped, &input, 9 * 0.021, NULL, NULL));
        }

        cutis_state_show(model, all, &input);
        cutis_state_show(model, last, &input);
        cutis_state_show(model, stopped, &input);
        assert_same_vertices(model, c, all, last, "depends on what was drawn");
        assert_same_vertices(model, c, stopped, last, "depends on an interruption");

        cutis_state_destroy(all);
        cutis_state_destroy(last);
        cutis_state_destroy(stopped);
        cutis_model_destroy(model);
    }
    cutis_character_destroy(c);
}

/* 0 is linear skinning to the bit, 1 the simulation, and the way between and beyond is straight. */
static void the_amount_scales_the_deviation_from_skinning(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(20);
    int count = 3 * c->vertex_count;
    float *shown[4];
    for (int i = 0; i < 4; i++) shown[i] = malloc((size_t)count * sizeof(float));

    cutis_model *skinning = test_build(c, "lbs", NULL);
    cutis_state *skinned = test_state(skinning, NULL);
    for (int k = 0; k < 2 * cutis_solver_count(); k++) {
        cutis_model *model = build_at(c, k / 2, k % 2 ? 400 : CUTIS_DETAIL_DRAWN);
        cutis_state *state = test_state(model, NULL);
        cutis_clip_motion clip = {c, 0, 0};
        cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
        cutis_state_advance(model, state, &input, 0.237, NULL, NULL);
        cutis_state_reset(skinning, skinned, NULL);
        cutis_state_step(skinning, skinned, &input, 0.237);
        const float *s = cutis_state_positions(skinning, skinned);

        for (int i = 0; i < 4; i++) {
            float amount = (float)i / 2;
            input.amount = i == 2 ? NULL : &amount;
            if (i == 3) amount = 2;
            cutis_state_show(model, state, &input);
            memcpy(shown[i], cutis_state_positions(model, state), (size_t)count * sizeof(float));
        }
        assert_memory_equal(shown[0], s, (size_t)count * sizeof(float));
        for (int e = 0; e < count; e++) {
            float deviation = shown[2][e] - s[e];
            assert_true(fabsf(shown[1][e] - s[e] - 0.5f * deviation) < 1e-5f * c->size);
            assert_true(fabsf(shown[3][e] - s[e] - 2 * deviation) < 1e-5f * c->size);
        }
        cutis_state_destroy(state);
        cutis_model_destroy(model);
    }

    for (int i = 0; i < 4; i++) free(shown[i]);
    cutis_state_destroy(skinned);
    cutis_model_destroy(skinning);
    cutis_character_destroy(c);
}

/* A painted map scales the amount by region. */
static void a_painted_amount_of_zero_shows_skinning(void **unused)
{
    (void)unused;
    cutis_character *plain = make_bar(20), *c = NULL;
    float *values = malloc((size_t)plain->vertex_count * sizeof(float));
    for (int v = 0; v < plain->vertex_count; v++) values[v] = plain->positions[3 * v] > 0 ? 1.0f : 0.0f;
    cutis_map map = {"amount", values};
    cutis_character given = *plain;
    given.maps = &map;
    given.map_count = 1;
    assert_int_equal(cutis_character_create(&given, NULL, &c, NULL), CUTIS_OK);

    const cutis_character *characters[3] = {c, plain, c};
    const char *solvers[3] = {"layers", "layers", "lbs"};
    cutis_model *models[3];
    cutis_state *states[3];
    for (int i = 0; i < 3; i++) {
        models[i] = test_build(characters[i], solvers[i], NULL);
        states[i] = test_state(models[i], NULL);
        cutis_clip_motion clip = {characters[i], 0, 0};
        cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
        cutis_state_step(models[i], states[i], &input, 0.25);
    }
    for (int v = 0; v < c->vertex_count; v++) {
        int from = values[v] > 0 ? 1 : 2;
        assert_memory_equal(cutis_state_positions(models[0], states[0]) + 3 * v,
                            cutis_state_positions(models[from], states[from]) + 3 * v, 3 * sizeof(float));
    }
    for (int i = 0; i < 3; i++) {
        cutis_state_destroy(states[i]);
        cutis_model_destroy(models[i]);
    }
    cutis_character_destroy(c);
    cutis_character_destroy(plain);
    free(values);
}

static void normals_are_unit_and_point_outwards(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(20);
    cutis_model *model = test_build(c, "lbs", NULL);
    cutis_state *state = test_state(model, NULL);
    float *normals = calloc((size_t)c->vertex_count * 3, sizeof *normals);
    cutis_state_normals(model, state, normals);
    for (int v = 0; v < c->vertex_count; v++) {
        vec3 n = vec3_load(normals + 3 * v), p = vec3_load(c->positions + 3 * v);
        assert_true(fabsf(vec3_length(n) - 1) < 1e-5f);
        /* Away from the axis on the side, away from the middle at the ends. */
        vec3 out = {p.x, (p.y - 0.5f) * 0.1f, p.z};
        assert_true(vec3_dot(n, out) > 0);
    }
    free(normals);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

static void a_lead_in_starts_at_rest_and_ends_at_the_clip(void **unused)
{
    (void)unused;
    cutis_character *c = make_bar(20);
    cutis_clip_motion motion = {c, 0, 0.5};
    float rest[36], first[36], joints[36];
    cutis_pose_rest(c, rest);
    cutis_pose_sample(c, 0, 0.25, first);
    cutis_clip_motion_sample(&motion, 0, joints);
    for (int e = 0; e < 36; e++) assert_true(fabsf(joints[e] - rest[e]) < 1e-6f);
    cutis_clip_motion_sample(&motion, 0.75, joints);
    assert_memory_equal(joints, first, sizeof first);
    cutis_character_destroy(c);
}

/* A clip that is on the move at its start would strike flesh that waits for it. */
static void a_lead_in_arrives_at_the_speed_of_the_clip(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 0.1);
    cutis_clip_motion motion = {c, cutis_character_find_clip(c, "walk"), 0.75};
    int count = 12 * c->joint_count;
    float *poses[4], rest_error = 0, moved = 0, jump = 0;
    for (int k = 0; k < 4; k++) poses[k] = malloc((size_t)count * sizeof(float));

    /* it begins at rest, */
    cutis_clip_motion_sample(&motion, 0, poses[0]);
    cutis_pose_rest(c, poses[1]);
    for (int i = 0; i < count; i++) rest_error = fmaxf(rest_error, fabsf(poses[0][i] - poses[1][i]));
    assert_true(rest_error < 1e-5f);

    /* ends in the clip's first pose, */
    cutis_pose_sample(c, motion.clip, c->clips[motion.clip].start, poses[3]);
    for (int k = 0; k < 3; k++) cutis_clip_motion_sample(&motion, motion.lead_in + 0.004 * (k - 1), poses[k]);
    assert_memory_equal(poses[1], poses[3], (size_t)count * sizeof(float));

    /* and goes on as it came */
    for (int i = 0; i < count; i++) {
        float before = poses[1][i] - poses[0][i], after = poses[2][i] - poses[1][i];
        moved = fmaxf(moved, fabsf(after));
        jump = fmaxf(jump, fabsf(after - before));
    }
    print_message("moves by %.2e, jumps by %.2e\n", (double)moved, (double)jump);
    assert_true(moved > 1e-3f && jump < 0.2f * moved);

    for (int k = 0; k < 4; k++) free(poses[k]);
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lead_in_arrives_at_the_speed_of_the_clip),
        cmocka_unit_test(bad_definitions_are_refused_with_a_hint),
        cmocka_unit_test(the_number_of_threads_does_not_change_a_bit),
        cmocka_unit_test(a_restored_snapshot_goes_on_as_the_original_did),
        cmocka_unit_test(the_frame_rate_only_picks_instants),
        cmocka_unit_test(a_step_never_allocates),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(wild_live_poses_leave_finite_results),
        cmocka_unit_test(a_skeleton_in_other_units_moves),
        cmocka_unit_test(teleport_moves_without_exciting),
        cmocka_unit_test(the_simulation_does_not_depend_on_what_is_drawn),
        cmocka_unit_test(the_amount_scales_the_deviation_from_skinning),
        cmocka_unit_test(a_painted_amount_of_zero_shows_skinning),
        cmocka_unit_test(normals_are_unit_and_point_outwards),
        cmocka_unit_test(a_lead_in_starts_at_rest_and_ends_at_the_clip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
