/*
 * bake_output.c: the files of a bake: the cache or .glb, and other outputs of the solver beside it.
 */
#include <stdlib.h>
#include <string.h>

#include "bake_private.h"

enum { BATCH_BYTES = 16 << 20 }; /* frames that are measured together */

static int open_extras(bake *b)
{
    const bake_result *r = b->result;
    for (const char *at = b->job->outputs; at && *at;) {
        cutis_output output;
        cutis_error error;
        int length = (int)strcspn(at, ",");
        b->extras = cli_resize(b->extras, (size_t)b->extra_count + 1, sizeof *b->extras);
        bake_extra *extra = &b->extras[b->extra_count++];
        *extra = (bake_extra){.name = cli_format("%.*s", length, at)};
        extra->path = cli_format("%s.%s.npy", b->job->output, extra->name);
        if (!cutis_state_output(b->model, b->state, extra->name, &output))
            return cli_error("solver '%s' has no output '%s' for %s; 'cutis solvers' lists them", b->solver,
                             extra->name, b->character->name);
        cutis_cache_info info = {output.count, r->frames, r->start, r->fps, NULL, output.components};
        if (cutis_cache_create(extra->path, &info, NULL, &extra->writer, &error) != CUTIS_OK)
            return cli_library_error(&error);
        at += length + (at[length] == ',');
    }
    return CLI_OK;
}

int bake_output_open(bake *b)
{
    const bake_result *r = b->result;
    cutis_error error;
    cutis_cache_info info = {r->vertices, r->frames, r->start, r->fps, b->character, 3};
    if (!b->glb && b->job->output && cutis_cache_create(b->job->output, &info, NULL, &b->writer, &error) != CUTIS_OK)
        return cli_library_error(&error);
    size_t frame_bytes = 3 * sizeof(float) * (size_t)r->vertices;
    size_t capacity = frame_bytes ? BATCH_BYTES / frame_bytes : 1;
    bool all = b->glb || b->job->loop || b->job->measure || b->job->check_count || b->job->keep;
    b->batch_capacity = all ? r->frames : capacity < 1 ? 1 : capacity > (size_t)r->frames ? r->frames : (int)capacity;
    b->batch = cli_allocate((size_t)b->batch_capacity, frame_bytes);
    cutis_output moving;
    if (b->writer && cli_has_ending(b->job->output, ".usda") &&
        cutis_state_output_role(b->model, b->state, CUTIS_OUTPUT_TEXCOORDS, 0, &moving))
        b->texcoords = cli_allocate((size_t)b->batch_capacity * (size_t)moving.count * 2, sizeof *b->texcoords);
    return open_extras(b);
}

static int write_extras(bake *b)
{
    for (int i = 0; i < b->extra_count; i++) {
        cutis_output output;
        cutis_error error;
        if (cutis_state_output(b->model, b->state, b->extras[i].name, &output) &&
            cutis_cache_append(b->extras[i].writer, output.values, &error) != CUTIS_OK)
            return cli_library_error(&error);
    }
    return CLI_OK;
}

int bake_output_flush(bake *b)
{
    bake_result *r = b->result;
    cutis_error error;
    size_t frame_floats = 3 * (size_t)r->vertices;
    if (b->batch_count && cutis_measure_frames(b->character, b->batch, b->batch_count, cutis_pool_jobs(b->pool), NULL,
                                               r->volume_ratios + b->written, NULL, NULL, &error) != CUTIS_OK)
        return cli_library_error(&error);
    for (int i = 0; i < b->batch_count; i++) {
        const float *frame = b->batch + (size_t)i * frame_floats;
        r->hash = cli_hash(frame, frame_floats * sizeof *frame, r->hash);
        if (b->writer && cutis_cache_append(b->writer, frame, &error) != CUTIS_OK) return cli_library_error(&error);
        if (b->texcoords &&
            cutis_cache_append_texcoords(b->writer, b->texcoords + (size_t)i * (size_t)b->character->corner_count * 2,
                                         &error) != CUTIS_OK)
            return cli_library_error(&error);
    }
    b->written += b->batch_count;
    b->batch_count = 0;
    return CLI_OK;
}

int bake_output_append(bake *b)
{
    size_t frame_floats = 3 * (size_t)b->result->vertices;
    int status = write_extras(b);
    if (status != CLI_OK) return status;
    cutis_output moving;
    if (b->texcoords && cutis_state_output_role(b->model, b->state, CUTIS_OUTPUT_TEXCOORDS, 0, &moving))
        memcpy(b->texcoords + (size_t)b->batch_count * (size_t)moving.count * 2, moving.values,
               (size_t)moving.count * 2 * sizeof(float));
    memcpy(b->batch + (size_t)b->batch_count++ * frame_floats, cutis_state_positions(b->model, b->state),
           frame_floats * sizeof(float));
    return b->batch_count == b->batch_capacity && b->batch_capacity < b->result->frames ? bake_output_flush(b) : CLI_OK;
}

static bool save_interrupted(void *unused)
{
    (void)unused;
    return cli_interrupted();
}

/* The frames as morph targets of the file they were made from. */
static int write_morphs(bake *b)
{
    bake_result *r = b->result;
    const bake_job *job = b->job;
    cutis_error error;
    const char *source = b->source;
    /* A file that is kept plays its own clip, which holds its last pose where the closed one goes on. */
    cutis_bake_def def = {.character = source && b->original ? b->original : b->character,
                          .source = source,
                          .clip = b->clip,
                          .start = r->start,
                          .fps = r->fps,
                          .frame_count = r->frames,
                          .frames = b->batch,
                          .tolerance = job->tolerance,
                          .target_limit = job->targets,
                          .exact = job->exact,
                          .positions_only = job->safe,
                          .interrupted = save_interrupted,
                          .jobs = cutis_pool_jobs(b->pool)};
    cutis_bake_prop *props = cli_allocate((size_t)b->character->prop_count + 1, sizeof *props);
    for (int i = 0; i < b->character->prop_count; i++) {
        const bake_prop *p = &b->props[i];
        props[i] = (cutis_bake_prop){p->motions, p->vertex_count, p->triangle_count, p->shapes, p->triangles};
    }
    if (b->character->prop_count) def.props = props;
    r->has_morphs = true;
    cutis_result result = cutis_bake_save(&def, job->output, &r->morphs, &error);
    free(props);
    if (result != CUTIS_OK) return cli_library_error(&error);
    if (r->morphs.image_count && !job->quiet)
        cli_warning("%d %s could not be read and %s not part of %s", r->morphs.image_count,
                    r->morphs.image_count == 1 ? "image" : "images", r->morphs.image_count == 1 ? "is" : "are",
                    job->output);
    return r->morphs.interrupted ? CLI_INTERRUPTED : CLI_OK;
}

int bake_output_finish(bake *b)
{
    cutis_error error;
    for (int i = 0; i < b->extra_count; i++) {
        cutis_cache_writer *extra = b->extras[i].writer;
        b->extras[i].writer = NULL;
        if (cutis_cache_finish(extra, &error) != CUTIS_OK) return cli_library_error(&error);
    }
    if (!b->job->output) return CLI_OK;
    if (!b->writer) return write_morphs(b);
    cutis_cache_writer *writer = b->writer;
    b->writer = NULL; /* finish frees it, also on failure */
    return cutis_cache_finish(writer, &error) == CUTIS_OK ? CLI_OK : cli_library_error(&error);
}

void bake_output_close(bake *b)
{
    cutis_cache_discard(b->writer);
    for (int i = 0; i < b->extra_count; i++) {
        cutis_cache_discard(b->extras[i].writer);
        free(b->extras[i].name);
        free(b->extras[i].path);
    }
    free(b->extras);
    free(b->batch);
    free(b->texcoords);
}
