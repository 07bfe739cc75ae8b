/*
 * golden.c: print a hash of the results of each scene, to be compared between compilers, options, numbers of threads
 * and with tests/golden.txt. Usage: golden THREADS
 *
 * A solver's name with ":uniform" behind it stands for flesh that is the same everywhere.
 *
 * A line "character NAME - HASH" stands for the rest mesh, weights and sampled poses, so that a difference that begins
 * there is told from one that begins in a solver. A line "NAME CLIP SOLVER HASH" stands for all positions of all
 * frames, the normals of the last one and the state at the end. A line "measure NAME - HASH" stands for the quality
 * report of the line before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "cutis/cutis.h"
#include "tube.h"

/* Solvers with a past run on these alone, made small: builds without optimisation run them, too. */
static const struct {
    const char *character, *clip;
    double resolution;
} simulated[] = {{"arm", "flex", 0.12}, {"cylinder", "twist", 0.25}, {"torus", "squash", 0.25}};

enum { FRAMES = 8 };

static int fail(const char *where, const cutis_error *error)
{
    fprintf(stderr, "golden: %s: %s\n", where, error->text);
    return 1;
}

static uint64_t hash_character(const cutis_character *c)
{
    uint64_t hash = hash_bytes(c->positions, (size_t)c->vertex_count * 3 * sizeof(float), 0);
    hash = hash_bytes(c->corners, (size_t)c->corner_count * sizeof(int), hash);
    hash = hash_bytes(c->vertex_points, (size_t)c->vertex_count * sizeof(int), hash);
    if (c->texcoords) hash = hash_bytes(c->texcoords, (size_t)c->corner_count * 2 * sizeof(float), hash);
    if (c->influence_first) {
        size_t count = (size_t)c->influence_first[c->vertex_count];
        hash = hash_bytes(c->influence_joints, count * sizeof(int), hash);
        hash = hash_bytes(c->influence_weights, count * sizeof(float), hash);
    }
    size_t size = (size_t)c->joint_count * 12 * sizeof(float);
    float *joints = malloc(size + 1);
    for (int clip = 0; joints && clip < c->clip_count; clip++)
        for (int i = 0; i <= FRAMES; i++) {
            double span = c->clips[clip].end - c->clips[clip].start;
            cutis_pose_sample(c, clip, c->clips[clip].start + span * i / FRAMES, joints);
            hash = hash_bytes(joints, size, hash);
        }
    free(joints);
    return hash;
}

/* The figures of the quality report. */
static int run_measure(const cutis_character *character, const float *frames, double fps, const cutis_jobs *jobs)
{
    cutis_error error;
    cutis_quality q;
    if (cutis_measure(character, frames, FRAMES, fps, jobs, NULL, &q, &error)) return fail("measure", &error);
    const double figures[] = {q.volume_error_max,    q.volume_error_mean, q.self_intersections_mean, q.stretch_p99,
                              q.area_distortion_p99, q.acceleration_rms,  q.min_section_ratio,       q.penetration_max};
    printf("measure %s - %016" PRIx64 "\n", character->name, hash_bytes(figures, sizeof figures, 0));
    return 0;
}

/* A clip from a given time on. */
typedef struct clip_window {
    const cutis_character *character;
    int clip;
    double start;
} clip_window;

static void clip_window_sample(void *context, double time, float *joints)
{
    const clip_window *window = context;
    cutis_pose_sample(window->character, window->clip, window->start + time, joints);
}

/* Flesh that is the same everywhere, without gravity and muscles. */
static const cutis_setting uniform[] = {{"anatomy", "off"}, {"gravity", "off"}, {"muscle_bulge", "off"}};

/* Run one clip under one solver and print its line; of the settings those that the solver has. */
static int run(const cutis_character *character, int clip, const char *solver, int setting_count, bool measure,
               const cutis_jobs *jobs)
{
    cutis_error error;
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    cutis_model_def def = cutis_model_def_default();
    def.detail = CUTIS_DETAIL_DRAWN;
    def.character = character;
    def.solver = solver;
    def.jobs = jobs;
    cutis_setting settings[COUNT_OF(uniform)];
    def.settings = settings;
    for (int i = 0; i < setting_count; i++) {
        const cutis_solver_info *info = cutis_solver_find(solver);
        for (int p = 0; p < info->parameter_count; p++)
            if (strcmp(info->parameters[p].name, uniform[i].key) == 0) settings[def.setting_count++] = uniform[i];
    }
    if (cutis_model_build(&def, &model, &error)) return fail(solver, &error);
    if (cutis_state_create(model, NULL, &state, &error)) return fail(solver, &error);

    /* Without a past: the whole clip. With one: a tenth of a second in the midst of the motion, thrown into it. */
    double span = (double)(character->clips[clip].end - character->clips[clip].start);
    bool past = cutis_model_get_info(model).substep > 0;
    double dt = past ? 0.1 / FRAMES : span / FRAMES;
    clip_window window = {character, clip, character->clips[clip].start + (past ? 0.3 * span : 0)};
    cutis_step_input input = {.motion = {&window, clip_window_sample}, .jobs = jobs};
    size_t size = (size_t)character->vertex_count * 3 * sizeof(float);
    uint64_t hash = 0;
    char *frames = malloc(size * (FRAMES + 1));
    if (!frames) return 1;
    for (int i = 0; i < FRAMES; i++) {
        cutis_state_step(model, state, &input, dt);
        memcpy(frames + size * (size_t)i, cutis_state_positions(model, state), size);
    }
    cutis_state_normals(model, state, (float *)(frames + size * FRAMES));
    hash = hash_bytes(frames, size * (FRAMES + 1), hash);
    uint64_t state_hash = cutis_state_hash(model, state);
    hash = hash_bytes(&state_hash, sizeof state_hash, hash);
    printf("%s %s %s%s %016" PRIx64 "\n", character->name, character->clips[clip].name, solver,
           setting_count > 0 ? ":uniform" : "", hash);
    measure &= character->vertex_count < 4000; /* the larger ones take longer than all the rest */
    int code = measure ? run_measure(character, (const float *)frames, 1 / dt, jobs) : 0;
    free(frames);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return code;
}

/* All solvers of one kind (with or without a past) on one clip, or on all clips (-1). */
static int run_all(const cutis_character *character, int clip, bool past, const cutis_jobs *jobs)
{
    for (int i = 0; i < cutis_solver_count(); i++) {
        if ((cutis_solver(i)->substep > 0) != past) continue;
        for (int c = 0; c < character->clip_count; c++)
            if ((clip < 0 || c == clip) && run(character, c, cutis_solver(i)->name, 0, i + c == 0, jobs)) return 1;
    }
    return 0;
}

/* Solvers whose flesh differs over the body by default, without that. */
static int run_uniform(const cutis_character *character, const cutis_jobs *jobs)
{
    for (int i = 0; i < cutis_solver_count(); i++) {
        const cutis_solver_info *info = cutis_solver(i);
        for (int p = 0; p < info->parameter_count; p++) {
            if (strcmp(info->parameters[p].name, "anatomy") != 0 || info->parameters[p].default_value == 0) continue;
            for (int c = 0; c < character->clip_count; c++)
                if (run(character, c, info->name, COUNT_OF(uniform), false, jobs)) return 1;
        }
    }
    return 0;
}

/* The tube of tube.h under all solvers. */
static int tube(const cutis_jobs *jobs)
{
    cutis_error error;
    cutis_character *character;
    if (test_tube(NULL, &character, &error)) return fail("tube", &error);
    printf("character tube - %016" PRIx64 "\n", hash_character(character));
    int code =
        run_all(character, -1, false, jobs) || run_all(character, -1, true, jobs) || run_uniform(character, jobs);
    cutis_character_destroy(character);
    return code;
}

static int zoo(const char *name, const char *clip, double resolution, const cutis_jobs *jobs)
{
    cutis_error error;
    cutis_character *character;
    if (cutis_zoo_make(name, resolution, NULL, &character, &error)) return fail(name, &error);
    int index = clip ? cutis_character_find_clip(character, clip) : -1;
    int code = 0;
    if (clip && index < 0) {
        fprintf(stderr, "golden: %s has no clip %s\n", name, clip);
        code = 1;
    } else {
        if (!clip) printf("character %s - %016" PRIx64 "\n", name, hash_character(character));
        code = run_all(character, index, clip != NULL, jobs);
    }
    cutis_character_destroy(character);
    return code;
}

int main(int argc, char **argv)
{
    int threads = argc == 2 ? atoi(argv[1]) : 0;
    cutis_error error;
    cutis_pool *pool;
    if (threads < 1) {
        fprintf(stderr, "usage: golden THREADS\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* so that a scene that hangs can be told */
    if (cutis_pool_create(threads, NULL, &pool, &error)) return fail("pool", &error);
    const cutis_jobs *jobs = cutis_pool_jobs(pool);

    int code = tube(jobs);
    for (int i = 0; !code && i < cutis_zoo_count(); i++) code = zoo(cutis_zoo(i).name, NULL, 0.4, jobs);
    for (int i = 0; !code && i < COUNT_OF(simulated); i++)
        code = zoo(simulated[i].character, simulated[i].clip, simulated[i].resolution, jobs);
    cutis_pool_destroy(pool);
    return code;
}
