/*
 * zoo_motion.c: skeletons and clips of the zoo.
 *
 * Joints point along their bone with +Y, as Blender draws them. Motions are written as turns about scene axes
 * from the rest pose; here they are sampled at uniform keys, put into joint space, and given central-difference
 * tangents, so that clips have continuous velocity and a loop has it across its seam too.
 */
#include <assert.h>
#include <string.h>

#include "zoo/zoo_kit.h"

static const double turn_radians = 6.283185307179586;

double zoo_smooth(double t)
{
    t = CLAMP(t, 0, 1);
    return t * t * t * (t * (6 * t - 15) + 10);
}

double zoo_ramp(double t, double from, double to) { return zoo_smooth((t - from) / (to - from)); }
double zoo_cycle(const double *values, int count, double phase)
{
    double at = (phase - floor(phase)) * count;
    int i = (int)at % count;
    double t = at - floor(at), a = values[(i + count - 1) % count], b = values[i], c = values[(i + 1) % count],
           d = values[(i + 2) % count];
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

double zoo_stride(double phase, double stance)
{
    phase -= floor(phase);
    if (phase < stance) return 0.5 - phase / stance;

    /* A cubic that leaves and meets the ground at the ground's speed. */
    double t = (phase - stance) / (1 - stance), speed = -(1 - stance) / stance;
    return -0.5 + t * t * (3 - 2 * t) + speed * t * (1 - t) * (1 - 2 * t);
}

double zoo_sin(double turns) { return det_sin(turns * turn_radians); }
double zoo_cos(double turns) { return det_cos(turns * turn_radians); }

const char *zoo_name(zoo_kit *kit, const char *name, const char *suffix)
{
    assert(kit->name_count < ZOO_MAX_JOINTS && strlen(name) + strlen(suffix) < sizeof(kit->names[0]));
    char *text = kit->names[kit->name_count++];
    strcpy(text, name);
    strcat(text, suffix);
    return text;
}

int zoo_joint_find(const zoo_kit *kit, const char *name)
{
    for (int i = 0; i < kit->joint_count; i++)
        if (strcmp(kit->joints[i].name, name) == 0) return i;
    assert(!"a joint of that name");
    return 0;
}

int zoo_joint_add(zoo_kit *kit, const char *name, const char *parent, vec3 position, vec3 axis, float width,
                  unsigned regions)
{
    assert(kit->joint_count < ZOO_MAX_JOINTS);
    axis = vec3_normalize(axis);
    kit->joints[kit->joint_count] = (zoo_joint){.name = name,
                                                .parent = parent ? zoo_joint_find(kit, parent) : -1,
                                                .position = position,
                                                .axis = axis,
                                                .width = width,
                                                .regions = regions,
                                                .rest = quat_between(vec3_make(0, 1, 0), axis)};
    return kit->joint_count++;
}

void zoo_motion_add(zoo_kit *kit, const char *name, double duration, int key_count, bool loop,
                    void (*pose)(const zoo_kit *kit, double time, zoo_pose *pose))
{
    assert(kit->motion_count < ZOO_MAX_CLIPS);
    kit->motions[kit->motion_count++] = (zoo_motion){name, duration, key_count, loop, pose, NULL};
}

void zoo_pose_turn(const zoo_kit *kit, zoo_pose *pose, const char *joint, vec3 axis, double degrees)
{
    quat *turn = &pose->turn[zoo_joint_find(kit, joint)];
    *turn = quat_multiply(quat_axis_angle(vec3_normalize(axis), degrees / 360 * turn_radians), *turn);
}

void zoo_pose_shift(const zoo_kit *kit, zoo_pose *pose, const char *joint, vec3 shift)
{
    vec3 *total = &pose->shift[zoo_joint_find(kit, joint)];
    *total = vec3_add(*total, shift);
}

vec3 zoo_pose_point(const zoo_kit *kit, const zoo_pose *pose, int joint, vec3 p, quat *turn)
{
    *turn = quat_identity();
    for (int j = joint; j >= 0; j = kit->joints[j].parent) {
        vec3 at = kit->joints[j].position;
        p = vec3_add(vec3_add(at, quat_rotate(pose->turn[j], vec3_sub(p, at))), pose->shift[j]);
        *turn = quat_multiply(pose->turn[j], *turn);
    }
    return p;
}

void zoo_pose_reach(const zoo_kit *kit, zoo_pose *pose, const char *upper, const char *lower, const char *foot,
                    vec3 target, vec3 bend, quat level)
{
    int top = zoo_joint_find(kit, upper), middle = zoo_joint_find(kit, lower), end = zoo_joint_find(kit, foot);
    vec3 hip = kit->joints[top].position, knee = kit->joints[middle].position, ankle = kit->joints[end].position;
    float thigh = vec3_distance(hip, knee), shin = vec3_distance(knee, ankle);

    /* The root of the limb moves with the body; everything is then seen in the body's turned axes. */
    quat body;
    vec3 from = zoo_pose_point(kit, pose, kit->joints[top].parent, hip, &body);
    vec3 reach = quat_rotate(quat_conjugate(body), vec3_sub(target, from));
    float distance = vec3_length(reach), longest = 0.998f * (thigh + shin);
    if (distance > longest) {
        reach = vec3_scale(reach, longest / distance);
        distance = longest;
    }

    /* The triangle of both bones and the way to the target: law of cosines. */
    vec3 line = vec3_scale(reach, 1 / distance);
    bend = vec3_normalize(vec3_madd(bend, line, -vec3_dot(bend, line)));
    float along = (thigh * thigh - shin * shin + distance * distance) / (2 * distance);
    float off = sqrtf(MAX(thigh * thigh - along * along, 0.0f));
    vec3 new_knee = vec3_madd(vec3_scale(line, along), bend, off);
    pose->turn[top] = quat_between(vec3_normalize(vec3_sub(knee, hip)), vec3_normalize(new_knee));
    vec3 new_shin = quat_rotate(quat_conjugate(pose->turn[top]), vec3_sub(reach, new_knee));
    pose->turn[middle] = quat_between(vec3_normalize(vec3_sub(ankle, knee)), vec3_normalize(new_shin));

    /* the end keeps its level */
    quat above = quat_multiply(body, quat_multiply(pose->turn[top], pose->turn[middle]));
    pose->turn[end] = quat_multiply(quat_conjugate(above), level);
}

/* Local rest transforms and inverse bind matrices. */
static void joints_fill(const zoo_kit *kit, cutis_joint *joints)
{
    for (int i = 0; i < kit->joint_count; i++) {
        const zoo_joint *joint = &kit->joints[i];
        vec3 translation = joint->position;
        quat rotation = joint->rest;

        /* relative to its parent */
        if (joint->parent >= 0) {
            const zoo_joint *parent = &kit->joints[joint->parent];
            quat back = quat_conjugate(parent->rest);
            translation = quat_rotate(back, vec3_sub(joint->position, parent->position));
            rotation = quat_normalize(quat_multiply(back, joint->rest));
        }

        /* name and rest transform */
        joints[i].name = joint->name;
        joints[i].parent = joint->parent;
        joints[i].rest = (cutis_transform){
            {translation.x, translation.y, translation.z}, {rotation.x, rotation.y, rotation.z, rotation.w}, {1, 1, 1}};
        joints[i].idle = joints[i].rest;

        /* the inverse of its place */
        quat inverse = quat_conjugate(joint->rest);
        mat34 bind = mat34_compose(vec3_scale(quat_rotate(inverse, joint->position), -1), inverse, vec3_make(1, 1, 1));
        memcpy(joints[i].inverse_bind, bind.m, sizeof(bind.m));
    }
}

/* Keys of one channel -> cubic spline keys (in-tangent, value, out-tangent). */
static const float *spline_values(arena *memory, const float *keys, int key_count, int width, bool loop, float step)
{
    float *values = ARENA_ARRAY(memory, float, 3 * width * key_count);
    if (!values) return NULL;
    for (int i = 0; i < key_count; i++) {
        /* neighbours, across the seam of a loop */
        int before = i - 1, after = i + 1, last = key_count - 1;
        if (loop && i == 0) before = last - 1;
        if (loop && i == last) after = 1;
        float span = 2 * step;
        if (before < 0) {
            before = 0;
            span = step;
        }
        if (after > last) {
            after = last;
            span = step;
        }

        /* Catmull-Rom tangents */
        for (int k = 0; k < width; k++) {
            float tangent = (keys[after * width + k] - keys[before * width + k]) / span;
            values[(3 * i + 0) * width + k] = tangent;
            values[(3 * i + 1) * width + k] = keys[i * width + k];
            values[(3 * i + 2) * width + k] = tangent;
        }
    }
    return values;
}

static cutis_result clip_fill(const zoo_kit *kit, const zoo_motion *motion, const cutis_joint *joints, arena *memory,
                              cutis_clip *clip, cutis_error *error)
{
    /* room */
    int count = motion->key_count;
    double step = motion->duration / (count - 1);
    float *times = ARENA_ARRAY(memory, float, count);
    zoo_pose *poses = ARENA_ARRAY(memory, zoo_pose, count);
    float *keys = ARENA_ARRAY(memory, float, 4 * count);
    cutis_track *tracks = ARENA_ARRAY(memory, cutis_track, 2 * kit->joint_count);
    if (memory->failed) return error_memory(error, "a clip");

    /* poses at the keys; a loop ends as it began */
    for (int i = 0; i < count; i++) {
        times[i] = (float)(i * step);
        for (int j = 0; j < kit->joint_count; j++) poses[i].turn[j] = quat_identity();
        if (motion->loop && i == count - 1)
            poses[i] = poses[0];
        else
            motion->pose(kit, i * step, &poses[i]);
    }

    *clip = (cutis_clip){.name = motion->name, .start = 0, .end = times[count - 1], .tracks = tracks};
    for (int j = 0; j < kit->joint_count; j++) {
        const zoo_joint *joint = &kit->joints[j];
        quat above = joint->parent >= 0 ? quat_conjugate(kit->joints[joint->parent].rest) : quat_identity();

        /* whether it moves at all */
        bool turns = false, shifts = false;
        for (int i = 0; i < count; i++) {
            turns = turns || poses[i].turn[j].w < 0.9999999f;
            shifts = shifts || vec3_length2(poses[i].shift[j]) > 0;
        }

        /* rotations, of two equal ones the nearer */
        if (turns) {
            quat last = quat_identity();
            for (int i = 0; i < count; i++) {
                quat q = quat_normalize(quat_multiply(above, quat_multiply(poses[i].turn[j], joint->rest)));
                if (i > 0 && q.x * last.x + q.y * last.y + q.z * last.z + q.w * last.w < 0)
                    q = (quat){-q.x, -q.y, -q.z, -q.w};
                last = q;
                keys[4 * i] = q.x;
                keys[4 * i + 1] = q.y;
                keys[4 * i + 2] = q.z;
                keys[4 * i + 3] = q.w;
            }
            const float *values = spline_values(memory, keys, count, 4, motion->loop, (float)step);
            tracks[clip->track_count++] =
                (cutis_track){j, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_CUBIC, count, times, values};
        }

        /* translations */
        if (shifts) {
            for (int i = 0; i < count; i++) {
                vec3 shift = quat_rotate(above, poses[i].shift[j]);
                vec3_store(keys + 3 * i, vec3_add(vec3_load(joints[j].rest.translation), shift));
            }
            const float *values = spline_values(memory, keys, count, 3, motion->loop, (float)step);
            tracks[clip->track_count++] =
                (cutis_track){j, CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_CUBIC, count, times, values};
        }
    }
    return memory->failed ? error_memory(error, "a clip") : CUTIS_OK;
}

cutis_result zoo_motion_clips(const zoo_kit *kit, arena *memory, cutis_joint *joints, cutis_clip *clips,
                              cutis_error *error)
{
    joints_fill(kit, joints);
    for (int i = 0; i < kit->motion_count; i++) {
        cutis_result result = clip_fill(kit, &kit->motions[i], joints, memory, &clips[i], error);
        if (result != CUTIS_OK) return result;
        clips[i].focus = kit->motions[i].focus;
    }
    return CUTIS_OK;
}
