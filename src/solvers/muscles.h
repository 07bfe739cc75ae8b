/*
 * muscles.h: muscles that swell when the joint at the end of their bone bends: which bones have one, which points
 * belong to it, and how far it is bent in a pose. What a solver does with the bend is its own.
 */
#ifndef SOLVERS_MUSCLES_H
#define SOLVERS_MUSCLES_H

#include "solvers/solver_kit.h"

/* The muscle of a limb's bone, at rest in scene space; end: the joint beyond it, -1 where none bulges. */
typedef struct muscle_bone {
    int end;
    float strength; /* value of the solver's parameter there */
    vec3 start, along, beyond;
} muscle_bone;

/*
 * Muscles of all joints (joint_count), in `memory`, from a solver's parameter; *muscles is NULL where it is 0
 * everywhere. shares: (joint_count) factors, NULL: 1.
 */
cutis_result muscles_find(const solver_build *build, int parameter, const float *shares, arena *memory,
                          muscle_bone **muscles, cutis_error *error);

/* The joint whose muscle a point of the build belongs to, and how much: most in the middle of the bone. -1: none. */
int muscle_of_point(const solver_build *build, const muscle_bone *muscles, int point, float *share);

/* A muscle in the pose of `skin`: the direction to which its joint has bent, as long as the bend: 1 at 90 degrees. */
vec3 muscle_bend(const muscle_bone *m, int joint, const float *skin);

/* How much flesh whose skin lies along `way` from the bone is on the side of the bend, 0..1. */
float muscle_side(vec3 way, vec3 bend);

#endif
