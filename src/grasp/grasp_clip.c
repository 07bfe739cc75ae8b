/*
 * grasp_clip.c: the clip "grasp": the fingers take their places, the hand goes to the prop, closes, presses and lifts.
 *
 * A hand with an arm is moved by the arm: shoulder and elbow turn so that the wrist goes where it shall, and the hand
 * keeps its orientation (two-bone inverse kinematics; the elbow stays in its plane). A hand without an arm is moved
 * by its root. Transforms are made in scene space and converted to the parents that the file has, so flat skeletons
 * are animated as any other.
 */
#include <string.h>

#include "grasp/grasp_private.h"

static const double CLIP_RATE = 30;
/* The arm is never stretched further than this share of its length. */
static const float ARM_STRETCH = 0.985f;
/* A bone of the arm is at least this long, over the length of the hand. */
static const float ARM_BONE = 0.8f;

/* Part of the body that a joint moves with. */
enum { PART_STILL, PART_HAND, PART_FOREARM, PART_UPPER_ARM };

static int ancestor_beyond(const cutis_character *c, const float *rest, int joint, float distance)
{
    const float *at = rest + 12 * (size_t)joint;
    for (int j = c->joints[joint].parent; j >= 0; j = c->joints[j].parent) {
        const float *m = rest + 12 * (size_t)j;
        if (vec3_distance(vec3_make(m[3], m[7], m[11]), vec3_make(at[3], at[7], at[11])) >= distance) return j;
    }
    return -1;
}

static vec3 joint_place(const float *rest, int joint)
{
    const float *m = rest + 12 * (size_t)joint;
    return vec3_make(m[3], m[7], m[11]);
}

void grasp_arm_find(const cutis_character *c, const grasp_hand *hand, const float *rest, grasp_arm *arm)
{
    *arm = (grasp_arm){.shoulder = -1, .elbow = -1, .root = hand->wrist};
    while (c->joints[arm->root].parent >= 0) arm->root = c->joints[arm->root].parent;
    float least = ARM_BONE * hand->length;
    int elbow = ancestor_beyond(c, rest, hand->wrist, least);
    int shoulder = elbow >= 0 ? ancestor_beyond(c, rest, elbow, least) : -1;
    arm->places[2] = hand->origin;
    if (shoulder < 0 || c->joints[shoulder].parent < 0) return;
    arm->shoulder = shoulder;
    arm->elbow = elbow;
    arm->places[0] = joint_place(rest, shoulder);
    arm->places[1] = joint_place(rest, elbow);
}

vec3 grasp_arm_reach(const grasp_arm *arm, vec3 displacement)
{
    if (arm->shoulder < 0) return displacement;
    float upper = vec3_distance(arm->places[0], arm->places[1]), lower = vec3_distance(arm->places[1], arm->places[2]);
    vec3 way = vec3_sub(vec3_add(arm->places[2], displacement), arm->places[0]);
    float length = vec3_length(way), most = ARM_STRETCH * (upper + lower), least = 1.2f * fabsf(upper - lower);
    float wanted = CLAMP(length, least, most);
    if (!(length > 0)) return vec3_make(0, 0, 0);
    return vec3_sub(vec3_madd(arm->places[0], way, wanted / length), arm->places[2]);
}

/* The rigid transform that takes a at p to b at q, turning direction a to b the shortest way. */
static mat34 carry(vec3 p, vec3 a, vec3 q, vec3 b)
{
    mat34 m = mat34_compose(vec3_make(0, 0, 0), quat_between(vec3_normalize(a), vec3_normalize(b)), vec3_make(1, 1, 1));
    vec3 moved = mat34_vector(m.m, p);
    m.m[3] = q.x - moved.x;
    m.m[7] = q.y - moved.y;
    m.m[11] = q.z - moved.z;
    return m;
}

/* Transforms of upper arm and forearm that put the wrist where it is displaced to. */
static void arm_solve(const grasp_arm *arm, vec3 displacement, mat34 *upper_arm, mat34 *forearm)
{
    vec3 s = arm->places[0], e = arm->places[1], w = arm->places[2], goal = vec3_add(w, displacement);
    float a = vec3_distance(s, e), b = vec3_distance(e, w), d = MAX(vec3_distance(s, goal), 1e-6f);
    vec3 way = vec3_normalize(vec3_sub(goal, s)), rest = vec3_normalize(vec3_sub(w, s));

    /* the elbow's side: as at rest, or downwards for a straight arm */
    vec3 side = vec3_sub(e, s);
    side = vec3_madd(side, rest, -vec3_dot(side, rest));
    if (vec3_length(side) < 0.02f * a) side = vec3_madd(vec3_make(0, -1, 0), rest, rest.y);
    if (vec3_length(side) < 1e-3f * a) side = vec3_orthogonal(rest);
    side = quat_rotate(quat_between(rest, way), side);
    side = vec3_normalize(vec3_madd(side, way, -vec3_dot(side, way)));

    /* law of cosines */
    float along = 0.5f * (a * a + d * d - b * b) / d;
    float out = sqrtf(MAX(a * a - along * along, 0.0f));
    vec3 elbow = vec3_madd(vec3_madd(s, way, along), side, out);
    *upper_arm = carry(s, vec3_sub(e, s), s, vec3_sub(elbow, s));
    *forearm = carry(e, vec3_sub(w, e), elbow, vec3_sub(goal, elbow));
}

static int part_find(const cutis_character *c, const grasp_hand *hand, const grasp_arm *arm, int joint)
{
    if (hand->link_of[joint] != -2) return PART_HAND;
    for (int j = joint; j >= 0; j = c->joints[j].parent) {
        if (j == hand->wrist) return PART_HAND;
        if (arm->shoulder < 0 && j == arm->root) return PART_HAND;
        if (j == arm->elbow) return PART_FOREARM;
        if (j == arm->shoulder) return PART_UPPER_ARM;
    }
    return PART_STILL;
}

/* ---- the pose at a time ---- */

static double ramp(double time, double start, double end)
{
    double u = CLAMP((time - start) / (end - start), 0, 1);
    return u * u * (3 - 2 * u);
}

static grasp_pose pose_mix(const grasp_pose *a, const grasp_pose *b, float t)
{
    grasp_pose pose = *b;
    for (int i = 0; i < FINGER_LIMIT; i++)
        for (int k = 0; k < LINK_LIMIT; k++)
            pose.angles[i][k] = a->angles[i][k] + (b->angles[i][k] - a->angles[i][k]) * t;
    pose.swing = a->swing + (b->swing - a->swing) * t;
    return pose;
}

grasp_pose grasp_pose_at(const grasp_plan *plan, const grasp_times *times, double time)
{
    grasp_pose rest = {.thumb_hinge = plan->open.thumb_hinge};
    grasp_pose open = pose_mix(&rest, &plan->open, (float)ramp(time, 0, times->shape));
    grasp_pose touch = pose_mix(&open, &plan->touch, (float)ramp(time, times->near, times->touch));
    return pose_mix(&touch, &plan->closed, (float)ramp(time, times->touch, times->squeeze));
}

/* Scene transforms of all joints. */
static void joints_pose(const cutis_character *c, const grasp_hand *hand, const grasp_arm *arm, const grasp_plan *plan,
                        const grasp_times *times, const grasp_way *way, double time, const float *rest, float *joints)
{
    grasp_pose pose = grasp_pose_at(plan, times, time);
    mat34 links[LINK_TOTAL], parts[4];
    grasp_hand_pose(hand, &pose, links);

    /* the wrist's way */
    float near = (float)ramp(time, times->shape, times->near),
          up = (float)ramp(time, times->lift_start, times->lift_end);
    vec3 displacement = vec3_add(vec3_scale(way->approach, near), vec3_scale(way->lift, up));
    for (int k = 0; k < 4; k++) parts[k] = mat34_identity();
    if (arm->shoulder >= 0) {
        displacement = grasp_arm_reach(arm, displacement);
        if (near > 0) arm_solve(arm, displacement, &parts[PART_UPPER_ARM], &parts[PART_FOREARM]);
    }
    if (near > 0)
        for (int k = 0; k < 3; k++)
            parts[PART_HAND].m[4 * k + 3] = k == 0 ? displacement.x : k == 1 ? displacement.y : displacement.z;

    for (int j = 0; j < c->joint_count; j++) {
        mat34 own, moved = parts[part_find(c, hand, arm, j)];
        memcpy(own.m, rest + 12 * (size_t)j, sizeof own.m);
        if (hand->link_of[j] >= 0) moved = mat34_multiply(moved, links[hand->link_of[j]]);
        own = mat34_multiply(moved, own);
        memcpy(joints + 12 * (size_t)j, own.m, sizeof own.m);
    }
}

/* ---- tracks ---- */

typedef struct joint_keys {
    float *translations, *rotations, *scales; /* (key_count x 3, 4, 3) */
} joint_keys;

static void keys_write(const cutis_character *c, const float *joints, int key, joint_keys *keys)
{
    for (int j = 0; j < c->joint_count; j++) {
        mat34 own, parent, inverse;
        memcpy(own.m, joints + 12 * (size_t)j, sizeof own.m);
        if (c->joints[j].parent >= 0) {
            memcpy(parent.m, joints + 12 * (size_t)c->joints[j].parent, sizeof parent.m);
            if (mat34_inverse(parent, &inverse)) own = mat34_multiply(inverse, own);
        }
        vec3 translation, scale;
        quat rotation;
        mat34_decompose(own, &translation, &rotation, &scale);
        vec3_store(keys[j].translations + 3 * (size_t)key, translation);
        vec3_store(keys[j].scales + 3 * (size_t)key, scale);

        /* the sign nearest to the key before */
        float *q = keys[j].rotations + 4 * (size_t)key;
        float sign = 1;
        if (key > 0 && q[-4] * rotation.x + q[-3] * rotation.y + q[-2] * rotation.z + q[-1] * rotation.w < 0) sign = -1;
        q[0] = sign * rotation.x;
        q[1] = sign * rotation.y;
        q[2] = sign * rotation.z;
        q[3] = sign * rotation.w;
    }
}

/* Whether a track says more than the node's own value. */
static bool values_differ(const float *values, int count, int components, const float *idle, float tolerance)
{
    float direct = 0, opposite = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < components; k++) {
            float v = values[(size_t)i * (size_t)components + (size_t)k];
            direct = MAX(direct, fabsf(v - idle[k]));
            opposite = MAX(opposite, fabsf(v + idle[k]));
        }
    return direct > tolerance && (components != 4 || opposite > tolerance);
}

static bool key_is_first(const float *values, int count, int components)
{
    for (int i = components; i < count * components; i++)
        if (values[i] != values[i % components]) return false;
    return true;
}

cutis_result grasp_clip_make(const cutis_character *c, const grasp_hand *hand, const grasp_plan *plan,
                             const grasp_arm *arm, const grasp_times *times, const grasp_way *way, arena *memory,
                             cutis_clip *clip, cutis_error *error)
{
    int count = (int)(times->end * CLIP_RATE + 0.5) + 1, n = c->joint_count;
    float *rest = ARENA_ARRAY(memory, float, 12 * (size_t)n + 12),
          *joints = ARENA_ARRAY(memory, float, 12 * (size_t)n + 12);
    float *stamps = ARENA_ARRAY(memory, float, count);
    joint_keys *keys = ARENA_ARRAY(memory, joint_keys, n + 1);
    cutis_track *tracks = ARENA_ARRAY(memory, cutis_track, 3 * (size_t)n + 1);
    for (int j = 0; j < n && !memory->failed; j++) {
        keys[j].translations = ARENA_ARRAY(memory, float, 3 * (size_t)count);
        keys[j].rotations = ARENA_ARRAY(memory, float, 4 * (size_t)count);
        keys[j].scales = ARENA_ARRAY(memory, float, 3 * (size_t)count);
    }
    if (memory->failed) return error_memory(error, "the clip of a grasp");

    cutis_pose_rest(c, rest);
    for (int i = 0; i < count; i++) {
        stamps[i] = (float)(i / CLIP_RATE);
        joints_pose(c, hand, arm, plan, times, way, i / CLIP_RATE, rest, joints);
        keys_write(c, joints, i, keys);
    }

    /* what moves, or does not stand at rest while no clip moves it */
    *clip = (cutis_clip){.name = "grasp", .tracks = tracks};
    for (int j = 0; j < n; j++) {
        const cutis_transform *idle = &c->joints[j].idle;
        const struct {
            cutis_path path;
            int components;
            const float *values, *idle;
            float tolerance;
        } rows[3] = {{CUTIS_PATH_TRANSLATION, 3, keys[j].translations, idle->translation, 1e-6f * c->size},
                     {CUTIS_PATH_ROTATION, 4, keys[j].rotations, idle->rotation, 1e-5f},
                     {CUTIS_PATH_SCALE, 3, keys[j].scales, idle->scale, 1e-4f}};
        for (int k = 0; k < 3; k++) {
            if (!values_differ(rows[k].values, count, rows[k].components, rows[k].idle, rows[k].tolerance)) continue;
            tracks[clip->track_count++] =
                (cutis_track){.target = j,
                              .path = rows[k].path,
                              .interpolation = CUTIS_INTERPOLATION_LINEAR,
                              .key_count = key_is_first(rows[k].values, count, rows[k].components) ? 1 : count,
                              .times = stamps,
                              .values = rows[k].values};
        }
    }
    return CUTIS_OK;
}
