/*
 * bake_output.c: the frames of a bake on their way to files, to the measurements and to the host.
 */
#include <string.h>

#include "bake/bake_private.h"

enum { BATCH_BYTES = 16 << 20 }; /* frames that are measured together */

/* The outputs of the solver that are written beside the positions. */
static cutis_result open_extras(bake *b)
{
    const char *list = b->def->outputs;
    if (!list || !*list || !b->path) return CUTIS_OK;

    /* room for all of the list */
    int capacity = 1;
    for (const char *at = list; *at; at++) capacity += *at == ',';
    b->extras = ARENA_ARRAY(&b->scratch, bake_extra, capacity);
    if (!b->extras) return error_memory(b->error, "a bake");

    /* each by its name, as the model has it at rest */
    for (const char *at = list; *at;) {
        cutis_output output;
        int length = (int)strcspn(at, ",");
        bake_extra *extra = &b->extras[b->extra_count];
        extra->name = arena_format(&b->scratch, "%.*s", length, at);
        if (!extra->name) return error_memory(b->error, "a bake");

        if (!cutis_state_output(b->model, b->state, extra->name, &output))
            return error_set(
                b->error, CUTIS_ERROR_DATA,
                "solver '%.100s' has no output '%.100s' for %.150s; 'cutis solvers NAME' lists the outputs of a solver",
                b->solver, extra->name, b->character->name);

        extra->count = output.count;
        extra->components = output.components;

        size_t floats = (size_t)output.count * (size_t)output.components;
        extra->values = memory_allocate(b->def->allocator, (size_t)b->batch_capacity * floats, sizeof(float));
        b->extra_count++;
        if (!extra->values) return error_memory(b->error, "a bake");

        at += length + (at[length] == ',');
    }

    return CUTIS_OK;
}

/* Whether an output of a solver with sliding skin is written beside the positions. */
static bool has_surface_extra(const bake *b)
{
    const cutis_solver_info *solver;
    for (const char *rest = b->solver; (solver = bake_stack_next(&rest));) {
        if (!(solver->flags & CUTIS_SOLVER_SURFACE)) continue;
        for (int i = 0; i < b->extra_count; i++)
            for (int k = 0; k < solver->output_count; k++)
                if (strcmp(b->extras[i].name, solver->outputs[k].name) == 0) return true;
    }
    return false;
}

/* Skin that slides under positions that stay must go somewhere: into texture coordinates, or beside the positions. */
static cutis_result check_sliding(bake *b)
{
    cutis_output sliding;
    if (!cutis_state_output_role(b->model, b->state, CUTIS_OUTPUT_SLIDING, 0, &sliding)) return CUTIS_OK;
    if (b->texcoords || has_surface_extra(b)) return CUTIS_OK;

    /* a host may read the outputs of the states that it drives itself, but not of a bake */
    if (!b->path) {
        if (b->def->keep_frames)
            bake_say(b, CUTIS_BAKE_WARNING,
                     "the skin slides, which positions do not show: set output=vertices, or write .glb or .usda");
        return CUTIS_OK;
    }

    if (!b->character->texcoords)
        return error_set(
            b->error, CUTIS_ERROR_DATA,
            "'%.200s' cannot hold how the skin slides, because %.150s has no texture coordinates; unwrap it, "
            "or set output=vertices, or add --outputs sliding",
            b->path, b->character->name);
    if (b->glb)
        return error_set(
            b->error, CUTIS_ERROR_DATA,
            "'%.200s' cannot hold how the skin slides in targets of positions alone (--targets safe); allow "
            "others, or set output=vertices, or add --outputs sliding",
            b->path);
    return error_set(b->error, CUTIS_ERROR_DATA,
                     "'%.200s' holds positions only, which sliding skin does not move; write .glb or .usda, or set "
                     "output=vertices, or add --outputs texcoords or sliding",
                     b->path);
}

cutis_result bake_output_open(bake *b)
{
    const cutis_bake_result *r = b->result;
    const cutis_bake_def *def = b->def;

    /* how many frames wait together */
    size_t frame_bytes = 3 * sizeof(float) * (size_t)r->vertex_count;
    size_t capacity = CLAMP(BATCH_BYTES / MAX(frame_bytes, 1), 1, (size_t)r->frame_count);

    bool all = b->glb || def->loop || def->measure || r->check_count || def->keep_frames || def->partial;
    b->late = def->partial;
    b->batch_capacity = all ? r->frame_count : (int)capacity;

    b->batch = memory_allocate(def->allocator, (size_t)b->batch_capacity * 3 * (size_t)r->vertex_count, sizeof(float));
    if (!b->batch) return error_memory(b->error, "the frames of a bake");

    /* moving texture coordinates, where the format takes them: morph targets need such that do not jump */
    cutis_output moving;
    b->texcoord_role = b->glb ? CUTIS_OUTPUT_TEXCOORDS_STEADY : CUTIS_OUTPUT_TEXCOORDS;
    bool takes = b->glb ? !def->positions_only : b->path && strstr(b->path, ".usda");
    if (takes && cutis_state_output_role(b->model, b->state, b->texcoord_role, 0, &moving)) {
        b->texcoord_floats = moving.count * 2;
        b->texcoords =
            memory_allocate(def->allocator, (size_t)b->batch_capacity * (size_t)b->texcoord_floats, sizeof(float));
        if (!b->texcoords) return error_memory(b->error, "the frames of a bake");
    }

    /* files */
    cutis_result result = open_extras(b);
    if (result == CUTIS_OK) result = check_sliding(b);
    return result == CUTIS_OK && b->path && !b->late ? bake_files_open(b) : result;
}

cutis_result bake_output_append(bake *b)
{
    size_t frame_floats = 3 * (size_t)b->result->vertex_count, at = (size_t)b->batch_count;
    cutis_output output;

    for (int i = 0; i < b->extra_count; i++) {
        bake_extra *extra = &b->extras[i];
        size_t floats = (size_t)extra->count * (size_t)extra->components;
        if (cutis_state_output(b->model, b->state, extra->name, &output))
            memcpy(extra->values + at * floats, output.values, floats * sizeof(float));
    }

    if (b->texcoords && cutis_state_output_role(b->model, b->state, b->texcoord_role, 0, &output))
        memcpy(b->texcoords + at * (size_t)b->texcoord_floats, output.values,
               (size_t)b->texcoord_floats * sizeof(float));

    memcpy(b->batch + at * frame_floats, cutis_state_positions(b->model, b->state), frame_floats * sizeof(float));

    b->batch_count++;

    /* frames that need not wait together are written when the batch is full */
    bool full = b->batch_count == b->batch_capacity && b->batch_capacity < b->result->frame_count;
    return full ? bake_output_flush(b) : CUTIS_OK;
}

cutis_result bake_output_flush(bake *b)
{
    cutis_bake_result *r = b->result;
    size_t frame_floats = 3 * (size_t)r->vertex_count;

    cutis_result result = CUTIS_OK;

    /* volumes, then the hash and the files */
    if (b->batch_count)
        result = cutis_measure_frames(b->character, b->batch, b->batch_count, b->jobs, b->def->allocator,
                                      b->volume_ratios + b->written, NULL, NULL, b->error);
    if (result == CUTIS_OK && b->path && b->late) result = bake_files_open(b);

    for (int i = 0; i < b->batch_count && result == CUTIS_OK; i++) {
        r->hash = hash_bytes(b->batch + (size_t)i * frame_floats, frame_floats * sizeof(float), r->hash);
        if (b->path) result = bake_files_append(b, i);
    }

    b->written += b->batch_count;
    b->batch_count = 0;
    return result;
}

cutis_result bake_output_finish(bake *b) { return b->path ? bake_files_finish(b) : CUTIS_OK; }

void bake_output_close(bake *b)
{
    const cutis_allocator *allocator = b->def->allocator;
    size_t capacity = (size_t)b->batch_capacity;
    bake_files_discard(b);
    for (int i = 0; i < b->extra_count; i++) {
        const bake_extra *extra = &b->extras[i];
        memory_release(allocator, extra->values, capacity * (size_t)extra->count * (size_t)extra->components,
                       sizeof(float));
    }
    memory_release(allocator, b->batch, capacity * 3 * (size_t)b->result->vertex_count, sizeof(float));
    memory_release(allocator, b->texcoords, capacity * (size_t)b->texcoord_floats, sizeof(float));
}
