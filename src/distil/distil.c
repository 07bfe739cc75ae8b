/*
 * distil.c: learn the flesh of a character from simulations, in the order of the work.
 */
#include <string.h>

#include "bake/json_text.h"
#include "distil/distil_private.h"
#include "io/files.h"
#include "io/gltf/gltf_flesh.h"

enum { MIN_TAKES = 4, TAKE_POSES = 24, MAX_TEST_SHARE = 8 };

/* What outlives the call. */
typedef struct distil_owner {
    cutis_distil_result result; /* first: a result is its owner */
    arena memory;
} distil_owner;

bool distil_progress(distil *d, cutis_distil_stage stage, long done, long total)
{
    if (!d->stopped && d->def->progress && !d->def->progress(d->def->context, stage, done, total)) d->stopped = true;
    return !d->stopped;
}

static cutis_result check_def(const distil *d)
{
    const cutis_distil_def *def = d->def;
    if (!def->character && !def->source.name)
        return error_set(d->error, CUTIS_ERROR_ARGUMENT, "a distillation needs a character, or the file of one");
    if (def->output && (!def->source.name || !path_is_gltf(def->source.name)))
        return error_set(d->error, CUTIS_ERROR_ARGUMENT,
                         "learned flesh is added to a .glb or .gltf file, not to '%.200s'; 'cutis convert' makes one",
                         def->source.name ? def->source.name : "a built-in character");
    if (def->output && !path_ends(def->output, ".glb") && !path_ends(def->output, ".vrm"))
        return error_set(d->error, CUTIS_ERROR_ARGUMENT, "the output must end in .glb, not '%.300s'", def->output);
    if (def->poses && (def->poses < 8 || def->poses > 100000))
        return error_set(d->error, CUTIS_ERROR_ARGUMENT, "a distillation needs 8 to 100,000 poses, not %d", def->poses);
    if (def->points && (def->points < 16 || def->points > 20000))
        return error_set(d->error, CUTIS_ERROR_ARGUMENT, "a distillation needs 16 to 20,000 points, not %d",
                         def->points);
    if (def->terms < 0 || def->terms > CUTIS_DISTIL_ALL)
        return error_set(d->error, CUTIS_ERROR_ARGUMENT, "unknown terms of a distillation: %d", def->terms);
    return CUTIS_OK;
}

/* The character, the clips and the teacher. */
static cutis_result prepare(distil *d)
{
    const cutis_distil_def *def = d->def;
    const cutis_file *source = &def->source;
    cutis_result result = CUTIS_OK;
    d->character = def->character;
    if (!d->character) {
        result = source->data ? cutis_character_load_memory(source->data, source->size, source->name, def->allocator,
                                                            &d->owned, d->error)
                              : cutis_character_load(source->name, def->allocator, &d->owned, d->error);
        d->character = d->owned;
    }
    if (result != CUTIS_OK) return result;

    /* all clips, or those that are named */
    const cutis_character *c = d->character;
    int *clips = ARENA_ARRAY(d->memory, int, MAX(c->clip_count, def->clip_count) + 1);
    d->solver = arena_string(d->memory, def->solver ? def->solver : cutis_solver_default(c)->name);
    if (d->memory->failed) return error_memory(d->error, "a distillation");
    d->clips = clips;
    d->clip_count = def->clip_count ? def->clip_count : c->clip_count;
    for (int i = 0; i < d->clip_count; i++) {
        clips[i] = def->clip_count ? cutis_character_find_clip(c, def->clips[i]) : i;
        if (clips[i] < 0)
            return error_set(d->error, CUTIS_ERROR_ARGUMENT, "there is no clip '%.150s' in '%.150s'", def->clips[i],
                             c->name);
    }

    /* takes of equal length; one in eight tests */
    int poses = def->poses ? def->poses : CUTIS_DISTIL_POSES;
    d->point_limit = MIN(def->points ? def->points : CUTIS_DISTIL_POINTS, c->point_count);
    d->take_count = MAX(MIN_TAKES, poses / TAKE_POSES);
    d->take_poses = (poses + d->take_count - 1) / d->take_count;
    d->take_frames = d->take_poses * DISTIL_POSE_FRAMES + 1;
    d->test_takes = MAX(1, d->take_count / MAX_TEST_SHARE);

    if (!def->jobs) {
        result = cutis_pool_create(def->threads, def->allocator, &d->pool, d->error);
        if (result == CUTIS_OK) d->jobs = cutis_pool_jobs(d->pool);
    } else {
        d->jobs = def->jobs;
    }
    return result == CUTIS_OK ? distil_joints_find(c, d->memory, &d->joints, d->error) : result;
}

static cutis_result write_output(distil *d)
{
    const cutis_distil_def *def = d->def;
    if (!def->output) return CUTIS_OK;
    if (!distil_progress(d, CUTIS_DISTIL_WRITE, 0, 1))
        return error_set(d->error, CUTIS_ERROR_INTERRUPTED, "interrupted");

    file_data file = {0};
    cutis_result result = CUTIS_OK;
    if (!def->source.data) result = file_read(def->source.name, 0, def->allocator, &file, d->error);
    gltf_flesh_def flesh = {.character = d->character,
                            .source = def->source.data ? def->source.data : file.bytes,
                            .source_size = def->source.data ? def->source.size : file.size,
                            .name = def->source.name,
                            .external = !def->source.data,
                            .data = d->data,
                            .size = d->size,
                            .joints = d->joints.joints,
                            .joint_count = d->joints.count,
                            .allocator = def->allocator};
    if (result == CUTIS_OK) result = gltf_flesh_write(&flesh, def->output, &d->result->file_bytes, d->error);
    file_release(&file);
    return result;
}

static cutis_result report_make(distil *d)
{
    cutis_distil_result *r = d->result;
    json_text json = json_start(d->memory);
    json_open(&json, NULL, '{');
    json_put_string(&json, "character", d->character->name, -1);
    json_put_string(&json, "solver", r->solver, -1);
    json_put_integer(&json, "poses", r->poses);
    json_put_integer(&json, "points", r->points);
    json_put_integer(&json, "frames", r->frames);
    json_put_integer(&json, "test_frames", r->test_frames);
    json_put_integer(&json, "data_bytes", (long long)r->size);
    json_put_real(&json, "size", (double)d->character->size);
    json_put_real(&json, "skinning_rms", r->skinning_rms);
    json_put_real(&json, "rms", r->rms);
    json_put_real(&json, "skinning_p99", r->skinning_p99);
    json_put_real(&json, "p99", r->p99);
    json_put_real(&json, "teach_seconds", r->teach_seconds);
    json_put_real(&json, "fit_seconds", r->fit_seconds);

    json_open(&json, "regions", '[');
    for (int i = 0; i < r->region_count; i++) {
        const cutis_distil_region *region = &r->regions[i];
        json_open(&json, NULL, '{');
        json_put_string(&json, "joint", region->joint, -1);
        json_put_integer(&json, "points", region->points);
        json_put_real(&json, "skinning_rms", region->skinning_rms);
        json_put_real(&json, "rms", region->rms);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    r->report = json_finish(&json);
    return r->report ? CUTIS_OK : error_memory(d->error, "a report");
}

static cutis_result run_all(distil *d)
{
    cutis_result result = check_def(d);
    if (result == CUTIS_OK) result = prepare(d);
    if (result == CUTIS_OK) result = distil_points_make(d);
    if (result == CUTIS_OK) result = distil_teach(d);
    if (result == CUTIS_OK) result = distil_fit_turns(d);
    if (result == CUTIS_OK) result = distil_fit(d);
    if (result == CUTIS_OK) result = distil_judge(d);
    if (result == CUTIS_OK) result = write_output(d);
    if (result != CUTIS_OK) return result;

    cutis_distil_result *r = d->result;
    r->data = d->data;
    r->size = d->size;
    r->solver = d->solver;
    r->poses = d->take_count * d->take_poses;
    r->points = d->point_count;
    r->frames = d->take_count * d->take_frames;
    return report_make(d);
}

cutis_result cutis_distil(const cutis_distil_def *def, cutis_distil_result **result, cutis_error *error)
{
    *result = NULL;
    distil_owner *owner = memory_allocate(def->allocator, 1, sizeof *owner);
    arena work = arena_create(def->allocator);
    distil *d = ARENA_ARRAY(&work, distil, 1);
    if (!owner || !d) {
        if (owner) memory_release(def->allocator, owner, 1, sizeof *owner);
        arena_destroy(&work);
        return error_memory(error, "a distillation");
    }

    owner->memory = arena_create(def->allocator);
    d->def = def;
    d->result = &owner->result;
    d->memory = &owner->memory;
    d->scratch = &work;
    d->error = error;
    cutis_result code = run_all(d);

    cutis_pool_destroy(d->pool);
    cutis_character_destroy(d->owned);
    arena_destroy(&work);
    if (code == CUTIS_OK)
        *result = &owner->result;
    else
        cutis_distil_destroy(&owner->result);
    return code;
}

void cutis_distil_destroy(cutis_distil_result *result)
{
    distil_owner *owner = (distil_owner *)result;
    if (!owner) return;
    cutis_allocator allocator = owner->memory.allocator;
    arena_destroy(&owner->memory);
    memory_release(&allocator, owner, 1, sizeof *owner);
}
