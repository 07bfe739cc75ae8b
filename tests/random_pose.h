/* random_pose.h: poses that no animator would make, for tests of what a solver survives. Needs math/math3.h. */
#ifndef TESTS_RANDOM_POSE_H
#define TESTS_RANDOM_POSE_H

#include <string.h>

#include "cutis/character.h"
#include "math/math3.h"

static uint32_t seed;

static float uniform(float low, float high)
{
    seed = seed * 1664525u + 1013904223u;
    return low + (high - low) * (float)(seed >> 8) / 16777216.0f;
}

/* Every joint turned about its own place and its children with it, at random; now and then a bone elsewhere. */
static void pose_random(const cutis_character *c, float *joints)
{
    cutis_pose_rest(c, joints);
    for (int j = 0; j < c->joint_count; j++) {
        vec3 axis = vec3_normalize(vec3_make(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)));
        mat34 turn = mat34_compose(vec3_make(0, 0, 0), quat_axis_angle(axis, uniform(-2.5f, 2.5f)), vec3_make(1, 1, 1));
        mat34 pose;
        memcpy(pose.m, joints + 12 * j, sizeof pose.m);
        pose = mat34_multiply(pose, turn);
        if (uniform(0, 1) < 0.1f) pose.m[3] += uniform(-3, 3);
        memcpy(joints + 12 * j, pose.m, sizeof pose.m);
    }
}

#endif
