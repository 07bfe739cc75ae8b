/*
 * motion_source.c: a clip of another character as a capture, so that it takes the same way to the character as a .bvh.
 *
 * A capture's joints have the scene's axes in its zero pose. So the zero pose is the other character's rest pose, and a
 * joint's rotation is what has turned it since: D(t) = world(t) world_rest^-1, given to its channels relative to its
 * parent's. All joints have channels of place, too, since any may be moved (hips below an unmoved root).
 */
#include "io/motion_source.h"

#include <math.h>
#include <string.h>

#include "io/affine.h"
#include "io/dae_read.h"
#include "io/fbx_read.h"
#include "io/gltf_read.h"
#include "math/math3.h"

static const double FRAME_RATE = 60;

cutis_result motion_source_load(const char *path, const cutis_allocator *allocator, cutis_character **source,
                                cutis_error *error)
{
    file_data file;

    *source = NULL;
    cutis_result result = file_read(path, 0, allocator, &file, error);
    if (result != CUTIS_OK) return result;

    /* by the format */
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
        return error_set(error, CUTIS_ERROR_DATA, "%.150s: it holds no clip", path_base(path));
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

/* A rotation as angles in degrees about z, then the turned x, then the turned y. */
static void rotation_angles(const double q[4], float angles[3])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double sine = CLAMP(2 * (y * z + w * x), -1.0, 1.0);
    double cosine = sqrt(MAX(0.0, 1 - sine * sine));
    const double degrees = 180 / 3.14159265358979323846;

    /* z, x, y: the middle angle first */
    angles[1] = (float)(det_atan2(sine, cosine) * degrees);

    /* at the poles one of the two angles is free */
    if (cosine > 1e-6) {
        angles[0] = (float)(det_atan2(2 * (w * z - x * y), 1 - 2 * (x * x + z * z)) * degrees);
        angles[2] = (float)(det_atan2(2 * (w * y - x * z), 1 - 2 * (x * x + y * y)) * degrees);
    } else {
        angles[0] = (float)(det_atan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z)) * degrees);
        angles[2] = 0;
    }
}

static bool joints_make(bvh_reader *r, const cutis_character *source, double (*const places)[3])
{
    r->joints = ARENA_ARRAY(&r->memory, bvh_joint, source->joint_count);
    if (!r->joints) return false;

    /* six channels each, relative to the rest pose */
    for (int j = 0; j < source->joint_count; j++) {
        bvh_joint *joint = &r->joints[j];
        int parent = source->joints[j].parent;

        *joint = (bvh_joint){.name = arena_string(&r->memory, source->joints[j].name),
                             .parent = parent,
                             .channel_count = BVH_CHANNELS,
                             .first_channel = BVH_CHANNELS * j,
                             .channels = {0, 1, 2, 5, 3, 4}};

        if (!joint->name) return false;
        joint->key = bvh_name_key(joint->name);

        for (int k = 0; k < 3; k++) {
            joint->place[k] = places[j][k];
            joint->offset[k] = places[j][k] - (parent >= 0 ? places[parent][k] : 0);
        }
    }

    r->joint_count = source->joint_count;
    r->channel_count = BVH_CHANNELS * source->joint_count;
    return true;
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
    if (!joints_make(r, source, places)) return error_memory(r->error, "a motion");

    /* the clip at a fixed rate */
    const cutis_clip *from = &source->clips[clip];
    double length = (double)from->end - (double)from->start;
    r->frame_time = 1 / FRAME_RATE;
    r->frame_count = (int)MIN(floor(length * FRAME_RATE + 1e-3), 1e6) + 1;

    r->values = ARENA_ARRAY(&r->memory, float, (size_t)r->frame_count *(size_t)r->channel_count);
    if (!r->values) return error_memory(r->error, "a motion");

    /* rotations of the pose against the rest pose, in world space */
    for (int f = 0; f < r->frame_count; f++) {
        cutis_pose_sample(source, clip, (double)from->start + f / FRAME_RATE, joints);
        pose_split(joints, source->joint_count, turns, places);
        for (size_t j = 0; j < count; j++) rotation_multiply(turns[j], rest[j], turns[j]);

        /* channels are local: against the parent, offset and rotation */
        for (int j = 0; j < source->joint_count; j++) {
            float *values = r->values + (size_t)f * (size_t)r->channel_count + BVH_CHANNELS * (size_t)j;
            int parent = source->joints[j].parent;
            double up[4] = {0, 0, 0, 1}, way[3], local[3], turn[4];

            if (parent >= 0) rotation_conjugate(turns[parent], up);
            for (int k = 0; k < 3; k++) way[k] = places[j][k] - (parent >= 0 ? places[parent][k] : 0);

            rotation_apply(up, way, local);
            rotation_multiply(up, turns[j], turn);
            for (int k = 0; k < 3; k++) values[k] = (float)(local[k] - r->joints[j].offset[k]);
            rotation_angles(turn, values + 3);
        }
    }
    return CUTIS_OK;
}
