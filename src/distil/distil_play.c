/*
 * distil_play.c: play learned flesh over a clip, and load it from a file.
 */
#include <string.h>

#include "distil/distil_private.h"
#include "io/files.h"

/* Add offsets to the rest shape and skin it. */
static void skin_vertices(const cutis_character *c, const distil_joints *joints, const float *skin,
                          const float *offsets, float *frame)
{
    for (int v = 0; v < c->vertex_count; v++) {
        double m[12], p[3];
        distil_vertex_matrix(c, joints, skin, v, m);
        for (int k = 0; k < 3; k++)
            p[k] = (double)c->positions[3 * (size_t)v + (size_t)k] + (double)offsets[3 * (size_t)v + (size_t)k];
        for (int k = 0; k < 3; k++)
            frame[3 * (size_t)v + (size_t)k] =
                (float)(m[4 * k] * p[0] + m[4 * k + 1] * p[1] + m[4 * k + 2] * p[2] + m[4 * k + 3]);
    }
}

static cutis_result play(const cutis_distil_play_def *def, arena *memory, float *frames, float *outside,
                         cutis_error *error)
{
    const cutis_character *c = def->character;
    distil_joints joints;
    cutis_live live;
    cutis_result result = distil_joints_find(c, memory, &joints, error);
    if (result != CUTIS_OK) return result;
    if (!cutis_live_open(&live, def->data, def->size))
        return error_set(error, CUTIS_ERROR_FORMAT,
                         "the learned flesh is damaged or of another version; distil it again");
    if (live.joint_count != joints.count || live.vertex_count != c->vertex_count)
        return error_set(error, CUTIS_ERROR_DATA,
                         "the learned flesh is for %d joints and %d vertices, but '%.150s' has %d and %d",
                         live.joint_count, live.vertex_count, c->name, joints.count, c->vertex_count);

    float *state = arena_push(memory, cutis_live_memory(&live), 1);
    float *pose = ARENA_ARRAY(memory, float, 12 * (size_t)c->joint_count);
    float *skin = ARENA_ARRAY(memory, float, 12 * (size_t)joints.count);
    float *offsets = ARENA_ARRAY(memory, float, 3 * (size_t)c->vertex_count);
    if (memory->failed) return error_memory(error, "playing learned flesh");

    cutis_live_begin(&live, state);
    for (int f = 0; f < def->frame_count; f++) {
        cutis_pose_sample(c, def->clip, def->start + f / def->fps, pose);
        distil_skin(c, &joints, pose, skin);
        cutis_live_update(&live, skin, (float)(1 / def->fps));
        cutis_live_vertices(&live, offsets);
        skin_vertices(c, &joints, live.skin, offsets, frames + (size_t)f * 3 * (size_t)c->vertex_count);
        if (outside) outside[f] = live.outside;
    }
    return CUTIS_OK;
}

cutis_result cutis_distil_play(const cutis_distil_play_def *def, float *frames, float *outside, cutis_error *error)
{
    if (!(def->fps > 0) || def->frame_count < 1 || def->clip >= def->character->clip_count)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "playing needs a clip, a rate above 0 and 1 frame or more");
    arena memory = arena_create(def->allocator);
    cutis_result result = play(def, &memory, frames, outside, error);
    arena_destroy(&memory);
    return result;
}

cutis_result cutis_distil_load(const char *path, const cutis_allocator *allocator, cutis_file *data, cutis_error *error)
{
    file_data file = {0};
    *data = (cutis_file){0};
    cutis_result result = file_read(path, 0, allocator, &file, error);
    if (result != CUTIS_OK) return result;

    size_t size = 0;
    const void *found = cutis_live_find(file.bytes, file.size, &size);
    cutis_live live;
    void *copy = NULL;
    if (!found || !cutis_live_open(&live, found, size))
        result = error_set(error, CUTIS_ERROR_DATA, "'%.300s' has no learned flesh; 'cutis distil' adds it", path);
    if (result == CUTIS_OK && !(copy = memory_allocate(allocator, size, 1)))
        result = error_memory(error, "learned flesh");
    if (result == CUTIS_OK) {
        memcpy(copy, found, size);
        data->data = copy;
        data->size = size;
    }
    file_release(&file);
    return result;
}

void cutis_distil_data_destroy(cutis_file *data, const cutis_allocator *allocator)
{
    if (data->data) memory_release(allocator, (void *)(uintptr_t)data->data, data->size, 1);
    *data = (cutis_file){0};
}
