/*
 * motion_source.c: a clip of another character as a capture, so that it takes the same way to the character as a .bvh.
 *
 * A capture's joints have the scene's axes in its zero pose. So the zero pose is the other character's rest pose, and a
 * joint's rotation is what has turned it since: D(t) = world(t) world_rest^-1, given to its channels relative to its
 * parent's. All joints have channels of place, too, since any may be moved (hips below an unmoved root).
 */
#include "retarget/motion_source.h"

#include <math.h>
#include <string.h>

#include "io/affine.h"
#include "io/dae/dae_read.h"
#include "io/fbx/fbx_read.h"
#include "io/gltf/gltf_read.h"
#include "math/math3.h"

static const double FRAME_RATE = 60;

cutis_result motion_source_load(const char *path, const cutis_allocator *allocator, cutis_character **source,
                                cutis_error *error)
{
    file_data file;

    *source = NULL;
    cutis_result result = file_read(path, 0, allocator, &file, error);
    if (result != CUTIS_OK) return result;

    if (path_ends(path, ".fbx"))
        result = fbx_character_read(file.bytes, file.size, path, true, false, allocator, source, error);
    else if (path_ends(path, ".dae"))
        result = dae_character_read(file.bytes, file.size, path, true, false, allocator, source, error);
    else
        result = gltf_motion_read(file.bytes, file.size, path, allocator, source, error);
    file_release(&file);

    /* a motion needs a clip */
    if (result == CUTIS_OK && (*source)->clip_count == 0) {
        cutis_character_destroy(*source);
        *source = NULL;
        return error_set(error, CUTIS_ERROR_DATA, "%.150s: it has no clip that could move another character",
                         path_base(path));
    }
    return result;
}

/* Rotations and places of a pose. */
static void pose_split(const float *joints, int count, double (*rotations)[4], double (*places)[3])
{
    for (int j = 0; j < count; j++) {
        affine map = affine_load(joints + 12 * (size_t)j);
        affine_parts parts;
        affine_decompose(&map, &parts);
        memcpy(rotations[j], parts.rotation, sizeof parts.rotation);
        memcpy(places[j], parts.translation, sizeof parts.translation);
    }
}

static bool joints_make(bvh_reader *r, const cutis_character *source, double (*const places)[3])
{
    r->joint_count = source->joint_count;
    r->joints = ARENA_ARRAY(&r->memory, bvh_joint, source->joint_count);
    if (!r->joints) return false;

    for (int j = 0; j < source->joint_count; j++) {
        bvh_joint *joint = &r->joints[j];
        joint->name = arena_string(&r->memory, source->joints[j].name);
        if (!joint->name) return false;
        joint->parent = source->joints[j].parent;
        joint->key = bvh_name_key(joint->name);
    }
    return bvh_channels_make(r, places);
}

cutis_result motion_source_read(bvh_reader *r, const cutis_character *source, int clip)
{
    /* scratch for one pose */
    size_t count = (size_t)source->joint_count;
    float *joints = ARENA_ARRAY(&r->memory, float, 12 * count);
    double(*rest)[4] = arena_push(&r->memory, count, sizeof *rest);
    double(*turns)[4] = arena_push(&r->memory, count, sizeof *turns);
    double(*places)[3] = arena_push(&r->memory, count, sizeof *places);
    if (r->memory.failed) return error_memory(r->error, "a motion");

    /* rest pose: BVH counts rotations from it, so it is divided out of every frame */
    cutis_pose_rest(source, joints);
    pose_split(joints, source->joint_count, rest, places);
    for (size_t j = 0; j < count; j++) rotation_conjugate(rest[j], rest[j]);

    /* the clip at a fixed rate */
    const cutis_clip *from = &source->clips[clip];
    double length = (double)from->end - (double)from->start;
    r->frame_time = 1 / FRAME_RATE;
    r->frame_count = (int)MIN(floor(length * FRAME_RATE + 1e-3), 1e6) + 1;

    if (!joints_make(r, source, places)) return error_memory(r->error, "a motion");

    /* rotations of the pose against the rest pose, in world space */
    for (int f = 0; f < r->frame_count; f++) {
        cutis_pose_sample(source, clip, (double)from->start + f / FRAME_RATE, joints);
        pose_split(joints, source->joint_count, turns, places);
        for (size_t j = 0; j < count; j++) rotation_multiply(turns[j], rest[j], turns[j]);
        bvh_frame_store(r, f, turns, places);
    }
    return CUTIS_OK;
}
