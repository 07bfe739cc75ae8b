/*
 * sides.c: keep limbs out of the middle of the body.
 *
 * Heat and voxels spread an upper arm's weight over the chest, because its bone is the nearest one to much of it; when
 * the arm swings, the chest crumples. A joint of one side (_l, _r) keeps nothing of what lies across the middle plane,
 * and its share grows to the full one at half of its own distance from that plane. What clearly belongs to the limb (an
 * arm laid over the chest) is left alone.
 */
#include <string.h>

#include "rig/rigging.h"

/* Points of which the limbs of a side hold more than this are the limb's own. */
static const float OWN = 0.7f;

/* 1 for a name that ends in _l, -1 for _r, else 0. */
static int name_side(const char *name)
{
    size_t length = strlen(name);
    if (length < 3 || name[length - 2] != '_') return 0;
    return name[length - 1] == 'l' ? 1 : name[length - 1] == 'r' ? -1 : 0;
}

/* The middle plane of the pairs: unit normal to the left, and offset. False without pairs. */
static bool plane_find(int joint_count, const char *const *names, const float *positions, vec3 *left, float *offset)
{
    vec3 across = {0, 0, 0};
    vec3 middle = {0, 0, 0};
    int pairs = 0;

    for (int j = 0; j < joint_count; j++) {
        size_t length = strlen(names[j]);
        if (name_side(names[j]) <= 0) continue;
        for (int k = 0; k < joint_count; k++) {
            if (name_side(names[k]) >= 0 || strlen(names[k]) != length) continue;
            if (strncmp(names[j], names[k], length - 1) != 0) continue;

            /* the roots of limbs stand symmetric in any pose */
            bool root = strncmp(names[j], "upper_arm", 9) == 0 || strncmp(names[j], "thigh", 5) == 0;
            if (!root) continue;

            vec3 a = vec3_load(positions + 3 * (size_t)j);
            vec3 b = vec3_load(positions + 3 * (size_t)k);
            across = vec3_add(across, vec3_sub(a, b));
            middle = vec3_add(middle, vec3_lerp(a, b, 0.5f));
            pairs++;
        }
    }

    if (pairs == 0 || !(vec3_length(across) > 0)) return false;
    *left = vec3_normalize(across);
    *offset = vec3_dot(vec3_scale(middle, 1 / (float)pairs), *left);
    return true;
}

void rig_sides_part(const mesh *m, int joint_count, const char *const *names, const float *positions, rig_influences *w)
{
    vec3 left;
    float offset;
    if (!plane_find(joint_count, names, positions, &left, &offset)) return;

    for (int p = 0; p < m->point_count; p++) {
        int *joints = w->joints + (size_t)p * (size_t)w->limit;
        float *weights = w->weights + (size_t)p * (size_t)w->limit;
        float at = vec3_dot(vec3_load(m->positions + 3 * (size_t)p), left) - offset;

        /* what a side holds of the point */
        float held[2] = {0, 0};
        float middle = 0;
        for (int k = 0; k < w->limit; k++) {
            int side = weights[k] > 0 ? name_side(names[joints[k]]) : 0;
            if (side) held[side > 0] += weights[k];
            if (!side) middle += weights[k];
        }

        if (!(middle > 0)) continue;

        /* weights of a side fade out towards the middle plane */
        float kept[RIG_MAX_INFLUENCES];
        float sum = 0;
        for (int k = 0; k < w->limit; k++) {
            int side = weights[k] > 0 ? name_side(names[joints[k]]) : 0;
            float share = 1;
            if (side && held[side > 0] < OWN) {
                float root = fabsf(vec3_dot(vec3_load(positions + 3 * (size_t)joints[k]), left) - offset);
                float t = root > 0 ? CLAMP((2 * (float)side * at / root - 0.35f) / 0.65f, 0, 1) : 1;
                share = t * t * (3 - 2 * t);
            }
            kept[k] = weights[k] * share;
            sum += kept[k];
        }

        if (!(sum > 0)) continue;

        /* largest first again */
        for (int k = 0; k < w->limit; k++) {
            float value = kept[k] / sum;
            int joint = joints[k];
            int i = k;
            for (; i > 0 && weights[i - 1] < value; i--) {
                weights[i] = weights[i - 1];
                joints[i] = joints[i - 1];
            }
            weights[i] = value;
            joints[i] = joint;
        }
    }
}
