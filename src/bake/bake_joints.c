/*
 * bake_joints.c: the poses that a bake shows, and how contact turned joints away from the motion.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bake/bake_private.h"
#include "math/math3.h"

/* A turn that counts, degrees. */
static const double TURN_COUNTS = 0.2;
/* A shift that is reported, over the size. */
static const double SHIFT_COUNTS = 1e-3;

static size_t pose_floats(const bake *b) { return (size_t)b->character->joint_count * 12; }

cutis_result bake_joints_open(bake *b)
{
    const cutis_bake_result *r = b->result;
    if (!(r->substep > 0) || b->character->joint_count == 0 || b->surface) return CUTIS_OK;
    b->poses = ARENA_ARRAY(&b->scratch, float, (size_t)r->frame_count *pose_floats(b));
    b->animated = ARENA_ARRAY(&b->scratch, float, (size_t)r->frame_count *pose_floats(b));
    return b->poses && b->animated ? CUTIS_OK : error_memory(b->error, "a bake");
}

void bake_joints_record(bake *b, int frame, double time)
{
    if (!b->poses) return;
    float *pose = b->poses + (size_t)frame * pose_floats(b), *animated = b->animated + (size_t)frame * pose_floats(b);
    memcpy(pose, cutis_state_joints(b->model, b->state), pose_floats(b) * sizeof *pose);
    bake_motion_sample(&b->motion, time, animated);
}

/* ---- what contact turned ---- */

/* A joint's rotation against its parent. */
static quat local_rotation(const cutis_character *c, const float *pose, int joint)
{
    mat34 own, parent, inverse;
    vec3 translation, scale;
    quat rotation;
    memcpy(&own, pose + 12 * (size_t)joint, sizeof own);
    if (c->joints[joint].parent >= 0) {
        memcpy(&parent, pose + 12 * (size_t)c->joints[joint].parent, sizeof parent);
        mat34_inverse(parent, &inverse);
        own = mat34_multiply(inverse, own);
    }
    mat34_decompose(own, &translation, &rotation, &scale);
    return rotation;
}

static double turn_degrees(const cutis_character *c, const float *animated, const float *pose, int joint)
{
    quat a = local_rotation(c, animated, joint), b = local_rotation(c, pose, joint);
    quat turn = quat_multiply(b, quat_conjugate(a));
    double sine = sqrt((double)turn.x * turn.x + (double)turn.y * turn.y + (double)turn.z * turn.z);
    return 2 * det_atan2(sine, fabs((double)turn.w)) * 57.295779513082323;
}

double bake_joint_turn(const bake *b, int frame, int joint)
{
    const cutis_character *c = b->character;
    const float *animated = b->animated + (size_t)frame * pose_floats(b);
    const float *pose = b->poses + (size_t)frame * pose_floats(b);
    int parent = c->joints[joint].parent;
    bool same = memcmp(animated + 12 * joint, pose + 12 * joint, 12 * sizeof *pose) == 0 &&
                (parent < 0 || memcmp(animated + 12 * parent, pose + 12 * parent, 12 * sizeof *pose) == 0);
    return same ? 0 : turn_degrees(c, animated, pose, joint);
}

/* How far contact shifts the whole character at most, and the frame. */
static void find_shift(bake *b)
{
    const cutis_character *c = b->character;
    int worst = 0;
    for (int f = 0; f < b->result->frame_count; f++)
        for (int j = 0; j < c->joint_count; j++) {
            if (c->joints[j].parent >= 0) continue;
            const float *from = b->animated + (size_t)f * pose_floats(b) + 12 * (size_t)j;
            const float *to = b->poses + (size_t)f * pose_floats(b) + 12 * (size_t)j;
            double d = (double)vec3_distance(vec3_make(from[3], from[7], from[11]), vec3_make(to[3], to[7], to[11]));
            if (!(d / (double)c->size > b->joint_shift)) continue;
            b->joint_shift = d / (double)c->size;
            worst = f;
        }
    if (!(b->joint_shift > SHIFT_COUNTS)) return;
    char text[160];
    snprintf(text, sizeof text, "contact with props shifts the character by up to %.2g %% of the size (frame %d)",
             100 * b->joint_shift, worst);
    bake_say(b, CUTIS_BAKE_NOTE, text);
}

static int compare_turned(const void *a, const void *b)
{
    const cutis_turned_joint *x = a, *y = b;
    return x->degrees != y->degrees ? (x->degrees < y->degrees) - (x->degrees > y->degrees)
                                    : (x->joint > y->joint) - (x->joint < y->joint);
}

static cutis_result find_turned(bake *b)
{
    cutis_bake_result *r = b->result;
    const cutis_character *c = b->character;
    cutis_turned_joint *turned = ARENA_ARRAY(b->memory, cutis_turned_joint, c->joint_count);
    if (!turned) return error_memory(b->error, "a bake");

    for (int j = 0; j < c->joint_count; j++) {
        cutis_turned_joint own = {.joint = j};
        for (int f = 0; f < r->frame_count; f++) {
            double degrees = bake_joint_turn(b, f, j);
            own.frames += degrees >= TURN_COUNTS;
            if (degrees <= own.degrees) continue;
            own.degrees = degrees;
            own.worst_frame = f;
        }
        if (own.frames == 0) continue;
        own.name = arena_string(b->memory, c->joints[j].name);
        turned[r->turned_count++] = own;
    }

    qsort(turned, (size_t)r->turned_count, sizeof *turned, compare_turned);
    r->turned = turned;
    return CUTIS_OK;
}

/* ---- bones in flesh ---- */

static cutis_result measure_bones(bake *b, const float *poses, const cutis_bone_in_flesh **bones, int *count)
{
    int capacity = b->character->joint_count * 4;
    cutis_bone_in_flesh *list = ARENA_ARRAY(b->memory, cutis_bone_in_flesh, capacity);
    if (!list) return error_memory(b->error, "a bake");
    cutis_result result = cutis_measure_bones(b->character, poses, b->result->frame_count, b->jobs, b->def->allocator,
                                              list, capacity, count, b->error);
    *bones = list;
    *count = MIN(*count, capacity);
    return result;
}

static const char **name_bones(bake *b, const cutis_bone_in_flesh *bones, int count)
{
    const char **names = ARENA_ARRAY(b->memory, const char *, 2 * count + 1);
    for (int i = 0; names && i < count; i++) {
        names[2 * i] = arena_string(b->memory, b->character->joints[bones[i].joint].name);
        names[2 * i + 1] = arena_string(b->memory, b->character->joints[bones[i].into].name);
    }
    return names;
}

/* Frames in which a pair is in flesh. */
static int pair_frames(const cutis_bone_in_flesh *bones, int count, const cutis_bone_in_flesh *pair)
{
    for (int i = 0; i < count; i++)
        if (bones[i].joint == pair->joint && bones[i].into == pair->into) return bones[i].frames;
    return 0;
}

cutis_result bake_joints_finish(bake *b)
{
    cutis_bake_result *r = b->result;
    if (!b->poses) return CUTIS_OK;

    /* bones that the motion drives into other flesh, which no solver with flesh can make good */
    cutis_result result = measure_bones(b, b->poses, &r->bones, &r->bone_count);
    if (result == CUTIS_OK) r->bone_names = name_bones(b, r->bones, r->bone_count);
    if (result == CUTIS_OK) result = find_turned(b);
    if (result == CUTIS_OK) find_shift(b);
    if (result != CUTIS_OK || r->turned_count == 0)
        return result == CUTIS_OK && b->memory->failed ? error_memory(b->error, "a bake") : result;

    /* those that joints keep out of it, by the frames in which they do */
    const cutis_bone_in_flesh *before = NULL;
    int before_count = 0;
    result = measure_bones(b, b->animated, &before, &before_count);
    if (result == CUTIS_OK) result = bake_corrections_judge(b, before, before_count);
    if (result != CUTIS_OK) return result;
    cutis_bone_in_flesh *held = ARENA_ARRAY(b->memory, cutis_bone_in_flesh, before_count + 1);
    for (int i = 0; held && i < before_count; i++) {
        int kept = before[i].frames - pair_frames(r->bones, r->bone_count, &before[i]);
        if (kept <= 0) continue;
        held[r->held_count] = before[i];
        held[r->held_count++].frames = kept;
    }
    r->held = held;
    r->held_names = name_bones(b, held, r->held_count);
    return b->memory->failed ? error_memory(b->error, "a bake") : CUTIS_OK;
}
