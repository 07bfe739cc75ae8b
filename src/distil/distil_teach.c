/*
 * distil_teach.c: simulate the takes with the teacher, and keep the offsets of the points.
 *
 * A frame is the pose that was asked for, the pose that the teacher shows, in which contact has turned joints, and
 * where it shows the points.
 */
#include <stdio.h>
#include <string.h>

#include "base/system.h"
#include "distil/distil_private.h"

enum { TAKES_AT_ONCE = 8 };
/* What one take needs while it is simulated. */
typedef struct take_run {
    distil *d;
    const cutis_model *model;
    cutis_state *state;
    distil_take take;
    float *pose;
    int index, frame;
} take_run;

static void record(take_run *run)
{
    distil *d = run->d;
    size_t frame = (size_t)run->index * (size_t)d->take_frames + (size_t)run->frame;
    size_t skin = frame * (size_t)d->joints.count * 12;
    float *places = d->places + frame * (size_t)d->point_count * 3;
    const float *shown = cutis_state_positions(run->model, run->state);

    distil_take_pose(&run->take, run->frame / DISTIL_FPS, run->pose);
    distil_skin(d->character, &d->joints, run->pose, d->skins + skin);
    distil_skin(d->character, &d->joints, cutis_state_joints(run->model, run->state), d->shown + skin);
    for (int i = 0; i < d->point_count; i++)
        memcpy(places + 3 * i, shown + 3 * (size_t)d->vertices[i], 3 * sizeof(float));
}

static void step_takes(void *context, int begin, int end)
{
    take_run *runs = context;
    for (int i = begin; i < end; i++) {
        take_run *run = &runs[i];
        cutis_step_input input = {.motion = {&run->take, distil_take_pose}};
        if (run->frame > 0) cutis_state_step(run->model, run->state, &input, 1 / DISTIL_FPS);
        record(run);
        run->frame++;
    }
}

/* ---- finished takes in a file ---- */

/* What finished takes depend on. */
static uint64_t definition_hash(const distil *d)
{
    const cutis_character *c = d->character;
    int numbers[] = {2, d->take_count, d->take_frames, d->point_count, d->def->detail, d->clip_count};
    uint64_t hash = hash_bytes(numbers, sizeof numbers, 0);
    hash = hash_bytes(d->solver, strlen(d->solver), hash);
    hash = hash_bytes(d->clips, (size_t)d->clip_count * sizeof(int), hash);
    hash = hash_bytes(d->vertices, (size_t)d->point_count * sizeof(int), hash);
    hash = hash_bytes(c->positions, 3 * (size_t)c->vertex_count * sizeof(float), hash);
    for (int i = 0; i < d->def->setting_count; i++) {
        hash = hash_bytes(d->def->settings[i].key, strlen(d->def->settings[i].key), hash);
        hash = hash_bytes(d->def->settings[i].value, strlen(d->def->settings[i].value), hash);
    }
    return hash;
}

static size_t take_floats(const distil *d, int which)
{
    return (size_t)d->take_frames * (which == 2 ? (size_t)d->point_count * 3 : (size_t)d->joints.count * 12);
}

/* All takes of an array of the data. */
static float *take_array(const distil *d, int which)
{
    return which == 0 ? d->skins : which == 1 ? d->shown : d->places;
}

/* Read the finished takes; returns how many there are. A file of another definition counts as empty. */
static int takes_load(distil *d, uint64_t hash)
{
    FILE *file = d->def->data ? system_open(d->def->data, "rb") : NULL;
    uint64_t key = 0;
    int count = 0;
    if (!file) return 0;
    bool valid = fread(&key, sizeof key, 1, file) == 1 && key == hash;
    for (; valid && count < d->take_count; count++)
        for (int k = 0; k < 3 && valid; k++) {
            size_t floats = take_floats(d, k);
            valid = fread(take_array(d, k) + floats * (size_t)count, sizeof(float), floats, file) == floats;
        }
    fclose(file);
    return valid || count == 0 ? count : count - 1;
}

/* Write all finished takes. */
static cutis_result takes_save(const distil *d, uint64_t hash, int count)
{
    if (!d->def->data) return CUTIS_OK;
    FILE *file = system_open(d->def->data, "wb");
    bool good = file && fwrite(&hash, sizeof hash, 1, file) == 1;
    for (int t = 0; t < count && good; t++)
        for (int k = 0; k < 3 && good; k++) {
            size_t floats = take_floats(d, k);
            good = fwrite(take_array(d, k) + floats * (size_t)t, sizeof(float), floats, file) == floats;
        }
    if (file && fclose(file) != 0) good = false;
    if (good) return CUTIS_OK;
    return error_set(d->error, CUTIS_ERROR_FILE, "cannot write '%.300s', which keeps finished simulations",
                     d->def->data);
}

/* ---- the takes ---- */

/* Simulate takes [first, first + count) frame by frame. */
static cutis_result run_takes(distil *d, const cutis_model *model, int first, int count)
{
    take_run runs[TAKES_AT_ONCE] = {0};
    arena scratch = arena_create(d->def->allocator);
    cutis_result result = CUTIS_OK;
    for (int i = 0; i < count && result == CUTIS_OK; i++) {
        runs[i] = (take_run){.d = d, .model = model, .index = first + i};
        runs[i].pose = ARENA_ARRAY(&scratch, float, 12 * (size_t)d->character->joint_count);
        if (scratch.failed) result = error_memory(d->error, "a simulation");
        if (result == CUTIS_OK) result = distil_take_sample(d, first + i, &scratch, &runs[i].take);
        if (result == CUTIS_OK) result = cutis_state_create(model, d->def->allocator, &runs[i].state, d->error);
    }

    for (int f = 0; f < d->take_frames && result == CUTIS_OK; f++) {
        parallel_for(d->jobs, count, 1, step_takes, runs);
        long done = (long)first * d->take_frames + (long)(f + 1) * count;
        if (!distil_progress(d, CUTIS_DISTIL_TEACH, done, (long)d->take_count * d->take_frames))
            result = error_set(d->error, CUTIS_ERROR_INTERRUPTED, "interrupted");
    }

    for (int i = 0; i < count; i++) cutis_state_destroy(runs[i].state);
    arena_destroy(&scratch);
    return result;
}

cutis_result distil_teach(distil *d)
{
    double start = clock_seconds();
    size_t takes = (size_t)d->take_count;
    d->skins = ARENA_ARRAY(d->scratch, float, takes *take_floats(d, 0));
    d->shown = ARENA_ARRAY(d->scratch, float, takes *take_floats(d, 1));
    d->places = ARENA_ARRAY(d->scratch, float, takes *take_floats(d, 2));
    if (d->scratch->failed) return error_memory(d->error, "the simulations of a distillation");

    uint64_t hash = definition_hash(d);
    int done = takes_load(d, hash);
    if (done == d->take_count) return CUTIS_OK;

    /* the teacher */
    cutis_model_def def = cutis_model_def_default();
    def.character = d->character;
    def.solver = d->solver;
    def.settings = d->def->settings;
    def.setting_count = d->def->setting_count;
    def.detail = d->def->detail;
    def.jobs = d->jobs;
    def.allocator = d->def->allocator;
    cutis_model *model = NULL;
    if (!distil_progress(d, CUTIS_DISTIL_BUILD, 0, 1))
        return error_set(d->error, CUTIS_ERROR_INTERRUPTED, "interrupted");
    cutis_result result = cutis_model_build(&def, &model, d->error);
    distil_progress(d, CUTIS_DISTIL_BUILD, 1, 1);

    while (result == CUTIS_OK && done < d->take_count) {
        int count = MIN(TAKES_AT_ONCE, d->take_count - done);
        result = run_takes(d, model, done, count);
        if (result != CUTIS_OK) break;
        done += count;
        result = takes_save(d, hash, done);
    }
    cutis_model_destroy(model);
    d->result->teach_seconds = clock_seconds() - start;
    return result;
}
