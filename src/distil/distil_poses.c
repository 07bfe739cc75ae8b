/*
 * distil_poses.c: poses within the range of motion of a character, from its clips and from random rotations.
 *
 * Each limb takes its rotations from an instant of a clip: the one of the limb that carries it, or one of its own. The
 * rotations are scaled, and small random ones are added. Half of the poses show a clip as it is, because characters are
 * seldom in others. Deep contact is kept: the teacher turns limbs out of it, and players must learn that.
 */
#include <string.h>

#include "distil/distil_private.h"

static const double WHOLE_POSE = 0.5;  /* share of poses whose limbs all show one instant, unscaled */
static const double OWN_INSTANT = 0.6; /* in others: share of limbs that take an instant of their own */
static const double MIN_SCALE = 0.7;   /* of a limb's rotations */
static const double MAX_SCALE = 1.2;
static const double ADDED_TURN = 0.1;    /* radians, with clips */
static const double RANDOM_TURN = 0.45;  /* radians, without clips */
static const double MAX_ROOT_TURN = 0.6; /* radians; larger turns would throw the flesh */
static const double ROOT_MOVE = 0.06;    /* of the size, along each axis */
static const double MAX_TURN = 2.6;      /* radians */

/* ---- random numbers: a counter that is hashed, so that takes do not depend on each other ---- */

typedef struct random_source {
    uint64_t state;
} random_source;

static double dice_roll(random_source *d)
{
    d->state += 0x9e3779b97f4a7c15u;
    uint64_t z = d->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double dice_between(random_source *d, double low, double high) { return low + (high - low) * dice_roll(d); }

/* A vector in a cube. The order of the calls is fixed, which that of arguments is not. */
static vec3 dice_vector(random_source *d, double most)
{
    float x = (float)dice_between(d, -most, most);
    float y = (float)dice_between(d, -most, most);
    float z = (float)dice_between(d, -most, most);
    return vec3_make(x, y, z);
}

/* A rotation of random direction, up to `most` radians. */
static quat dice_turn(random_source *d, double most)
{
    vec3 axis = dice_vector(d, 1);
    float length = vec3_length(axis);
    if (!(length > 1e-3f)) return quat_identity();
    return quat_axis_angle(vec3_scale(axis, 1 / length), most * dice_roll(d));
}

/* ---- one pose ---- */

/* A rotation whose angle is scaled, and at most `most`. */
static quat turn_scale(quat q, double scale, double most)
{
    if (q.w < 0) q = (quat){-q.x, -q.y, -q.z, -q.w};
    vec3 axis = {q.x, q.y, q.z};
    float sine = vec3_length(axis);
    if (!(sine > 1e-6f)) return quat_identity();
    double angle = 2 * det_atan2((double)sine, (double)q.w) * scale;
    return quat_axis_angle(vec3_scale(axis, 1 / sine), MIN(angle, most));
}

/* What a pose is drawn from: a clip's instant per joint that begins a limb. */
typedef struct pose_source {
    int clip;
    double time;
    float *joints; /* (joint_count x 12) the clip's pose there */
} pose_source;

static pose_source draw_source(const distil *d, random_source *dice, float *joints)
{
    pose_source s = {.clip = -1, .joints = joints};
    if (d->clip_count) {
        s.clip = d->clips[MIN((int)(dice_roll(dice) * d->clip_count), d->clip_count - 1)];
        const cutis_clip *clip = &d->character->clips[s.clip];
        s.time = dice_between(dice, (double)clip->start, (double)clip->end);
    }
    cutis_pose_sample(d->character, s.clip, s.time, joints);
    return s;
}

static quat local_rotation(const cutis_character *c, const float *joints, int joint)
{
    mat34 own, parent, inverse;
    vec3 translation, scale;
    quat rotation;
    memcpy(&own, joints + 12 * joint, sizeof own);
    if (c->joints[joint].parent >= 0) {
        memcpy(&parent, joints + 12 * c->joints[joint].parent, sizeof parent);
        if (mat34_inverse(parent, &inverse)) own = mat34_multiply(inverse, own);
    }
    mat34_decompose(own, &translation, &rotation, &scale);
    return rotation;
}

static quat rest_rotation(const cutis_character *c, int joint)
{
    const float *r = c->joints[joint].rest.rotation;
    return (quat){r[0], r[1], r[2], r[3]};
}

/* Draw the rotations of all joints. Scratch: the pose of each limb (joint_count x 12), and its scale. */
static void draw_pose(const distil *d, random_source *dice, quat *rotations, float *poses, double *scales)
{
    const cutis_character *c = d->character;
    size_t pose = 12 * (size_t)c->joint_count;
    bool whole = dice_roll(dice) < WHOLE_POSE;
    for (int j = 0; j < c->joint_count; j++) {
        /* joints between limbs belong to the limb above */
        int listed = d->joints.listed[j], limb = listed >= 0 ? d->joints.limbs[listed] : 0;
        bool begins = listed >= 0 && d->joints.joints[listed] == j && limb == listed;
        float *source = poses + pose * (size_t)limb;
        if (begins) {
            int above = d->joints.parents[listed];
            bool own = above < 0 || (dice_roll(dice) < OWN_INSTANT && !whole);
            if (own)
                draw_source(d, dice, source);
            else
                memcpy(source, poses + pose * (size_t)d->joints.limbs[above], pose * sizeof(float));
            scales[limb] = whole ? 1 : dice_between(dice, MIN_SCALE, MAX_SCALE);
        }

        /* from the rest rotation to the clip's, scaled; then a random one */
        quat rest = rest_rotation(c, j), turn = quat_identity();
        if (listed >= 0) turn = quat_multiply(local_rotation(c, source, j), quat_conjugate(rest));
        bool root = c->joints[j].parent < 0;
        turn = turn_scale(turn, listed >= 0 ? scales[limb] : 1, root ? MAX_ROOT_TURN : MAX_TURN);
        if (c->joints[j].deforms) turn = quat_multiply(dice_turn(dice, d->clip_count ? ADDED_TURN : RANDOM_TURN), turn);
        rotations[j] = quat_normalize(quat_multiply(turn, rest));
    }
}

cutis_result distil_take_sample(const distil *d, int index, arena *memory, distil_take *take)
{
    const cutis_character *c = d->character;
    size_t joints = (size_t)c->joint_count;
    take->character = c;
    take->pose_count = d->take_poses + 1;
    take->rotations = ARENA_ARRAY(memory, quat, joints * (size_t)take->pose_count);
    take->roots = ARENA_ARRAY(memory, vec3, take->pose_count);
    float *poses = ARENA_ARRAY(memory, float, joints * 12 * (size_t)d->joints.count);
    double *scales = ARENA_ARRAY(memory, double, d->joints.count);
    if (memory->failed) return error_memory(d->error, "poses");

    for (int j = 0; j < c->joint_count; j++) take->rotations[j] = rest_rotation(c, j);
    random_source dice = {hash_bytes(&index, sizeof index, 1)};
    for (int p = 1; p < take->pose_count; p++) {
        quat *rotations = take->rotations + joints * (size_t)p;
        take->roots[p] = dice_vector(&dice, ROOT_MOVE * (double)c->size);
        draw_pose(d, &dice, rotations, poses, scales);
    }
    return CUTIS_OK;
}

void distil_take_pose(void *context, double time, float *joints)
{
    const distil_take *take = context;
    const cutis_character *c = take->character;

    /* the poses before and after; the motion stops at each */
    double at = time * DISTIL_FPS / DISTIL_POSE_FRAMES;
    int from = CLAMP((int)at, 0, take->pose_count - 2);
    double u = CLAMP(at - from, 0, 1);
    float share = (float)(u * u * u * (10 - u * (15 - 6 * u)));
    const quat *a = take->rotations + (size_t)from * (size_t)c->joint_count, *b = a + c->joint_count;
    vec3 root = vec3_lerp(take->roots[from], take->roots[from + 1], share);

    for (int j = 0; j < c->joint_count; j++) {
        const cutis_joint *joint = &c->joints[j];
        vec3 translation = vec3_load(joint->rest.translation);
        if (joint->parent < 0) translation = vec3_add(translation, root);
        quat rotation = quat_slerp(a[j], b[j], share);
        mat34 m = mat34_compose(translation, rotation, vec3_load(joint->rest.scale)), parent;
        if (joint->parent >= 0) {
            memcpy(&parent, joints + 12 * joint->parent, sizeof parent);
            m = mat34_multiply(parent, m);
        }
        memcpy(joints + 12 * j, &m, sizeof m);
    }
}
