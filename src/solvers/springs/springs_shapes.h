/*
 * springs_shapes.h: what the reference shapes of the solver `springs` share. Only springs_reference.c and the shapes'
 * own files include it; the solver sees springs_reference.h.
 */
#ifndef SPRINGS_SHAPES_H
#define SPRINGS_SHAPES_H

#include "character/skinning.h"
#include "solvers/springs/springs_reference.h"

/* ---- bones (springs_reference.c) ---- */

/* A straight piece of bone, in the rest pose. A joint has one towards each child, or one towards its points. */
typedef struct springs_bone {
    int joint;
    int child; /* the joint at its end, or -1 */
    vec3 a, b;
    float radius; /* mean distance of its points from the line, at least 1e-4 of the size */
} springs_bone;

typedef struct springs_bones {
    int joint_count, count;
    springs_bone *bones; /* (count), by joint */
    int *first;          /* (joint_count + 1) the bones of each joint; none for a joint that moves no point */
    int *above;          /* (joint_count) nearest ancestor that moves points, or -1 */
    int *point_bones;    /* per influence of the points, as in point_weights: the nearest bone of that joint */
    float size;          /* of the character */
} springs_bones;

cutis_result springs_bones_build(const solver_build *build, springs_bones *bones, arena *memory, cutis_error *error);
/* Nearest point of a bone's line to p: 0 at a, 1 at b. */
float springs_bone_nearest(const springs_bone *bone, vec3 p);

/* The joints that may act on a point that `joint` moves: itself, the one above and those below. */
static inline bool springs_joints_near(const springs_bones *bones, int joint, int other)
{
    return joint == other || bones->above[joint] == other || bones->above[other] == joint;
}

/* ---- metaballs (springs_metaballs.c) ---- */

typedef struct springs_metaballs springs_metaballs;

/* For the points whose mark (point_count) is set. */
cutis_result springs_metaballs_build(const solver_build *build, const springs_bones *bones, const uint8_t *marks,
                                     springs_metaballs **metaballs, cutis_error *error);
size_t springs_metaballs_scratch_size(const springs_metaballs *metaballs);
/* Fill the marked points; the others stay as they are. */
void springs_metaballs_evaluate(const springs_metaballs *metaballs, const float *skin, void *scratch,
                                const cutis_jobs *jobs, float *points);
int springs_metaballs_count(const springs_metaballs *metaballs);

#endif
