/*
 * distil_joints.c: the joints that deform a character, and how they move vertices.
 */
#include <string.h>

#include "character/skinning.h"
#include "distil/distil_private.h"

/* Number of listed joints at and below each: limbs begin where at least two joints follow. */
static void find_limbs(const distil_joints *joints, int *below)
{
    int *children = below + joints->count;
    for (int j = joints->count - 1; j >= 0; j--) {
        below[j]++;
        if (joints->parents[j] < 0) continue;
        below[joints->parents[j]] += below[j];
        children[joints->parents[j]]++;
    }

    for (int j = 0; j < joints->count; j++) {
        int parent = joints->parents[j];
        bool begins = parent < 0 || (children[parent] > 1 && below[j] > 1);
        joints->limbs[j] = begins ? j : joints->limbs[parent];
    }
}

cutis_result distil_joints_find(const cutis_character *character, arena *memory, distil_joints *joints,
                                cutis_error *error)
{
    *joints = (distil_joints){0};
    size_t count = (size_t)character->joint_count + 1;
    joints->joints = ARENA_ARRAY(memory, int, count);
    joints->listed = ARENA_ARRAY(memory, int, count);
    joints->parents = ARENA_ARRAY(memory, int, count);
    joints->limbs = ARENA_ARRAY(memory, int, count);
    int *below = ARENA_ARRAY(memory, int, 2 * count);
    if (memory->failed) return error_memory(error, "the joints of a distillation");

    for (int j = 0; j < character->joint_count; j++) {
        int parent = character->joints[j].parent, above = parent >= 0 ? joints->listed[parent] : -1;
        joints->listed[j] = above;
        if (!character->joints[j].deforms) continue;

        joints->joints[joints->count] = j;
        joints->parents[joints->count] = above;
        joints->listed[j] = joints->count++;
    }

    /* the limits of the format */
    if (joints->count == 0)
        return error_set(error, CUTIS_ERROR_DATA,
                         "'%.150s' has no joint that moves its mesh; rig it first with 'cutis rig'", character->name);
    if (joints->count > 4096)
        return error_set(error, CUTIS_ERROR_UNSUPPORTED, "'%.150s' has %d joints; at most 4,096 can be distilled",
                         character->name, joints->count);
    find_limbs(joints, below);
    return CUTIS_OK;
}

void distil_skin(const cutis_character *character, const distil_joints *joints, const float *pose, float *skin)
{
    for (int j = 0; j < joints->count; j++) {
        mat34 m, inverse;
        memcpy(&m, pose + 12 * joints->joints[j], sizeof m);
        memcpy(&inverse, character->joints[joints->joints[j]].inverse_bind, sizeof inverse);
        m = mat34_multiply(m, inverse);
        memcpy(skin + 12 * j, &m, sizeof m);
    }
}

void distil_vertex_matrix(const cutis_character *character, const distil_joints *joints, const float *skin, int vertex,
                          double m[12])
{
    memset(m, 0, 12 * sizeof *m);
    const int *first = character->influence_first;
    for (int i = first ? first[vertex] : 0; first && i < first[vertex + 1]; i++) {
        const float *s = skin + 12 * joints->listed[character->influence_joints[i]];
        for (int k = 0; k < 12; k++) m[k] += (double)character->influence_weights[i] * (double)s[k];
    }

    /* a vertex without weights stays at rest */
    if (!first || first[vertex] == first[vertex + 1]) m[0] = m[5] = m[10] = 1;
}
