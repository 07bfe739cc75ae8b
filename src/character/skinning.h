/*
 * skinning.h: linear-blend and dual-quaternion skinning of any set of weighted positions.
 *
 * Prepared once (skinning_build), then evaluated for a pose without allocation, in parallel over fixed blocks.
 */
#ifndef CHARACTER_SKINNING_H
#define CHARACTER_SKINNING_H

#include "base/core.h"
#include "cutis/character.h"
#include "math/math3.h"

/* Floats of one joint in the kernels' tables: offsets are multiples of it. */
enum { SKINNING_COLUMNS = 16 };

/* Positions with their weights, laid out for the kernels. */
typedef struct skinning {
    int count; /* of positions */
    int joint_count;
    const float *rest;    /* (count x 3) */
    const int *first;     /* (count + 1) */
    const int *offsets;   /* per influence, of the joint's floats; 2 to 4 influences are filled up to 4 with weight 0 */
    const float *weights; /* per influence, the largest first, summing to 1 */
} skinning;

/* first, joints and weights as in cutis_character (first may be NULL: nothing moves). Copies all. */
cutis_result skinning_build(skinning *s, int count, const float *rest, const int *first, const int *joints,
                            const float *weights, int joint_count, arena *memory, cutis_error *error);

/* The same for a character's points, each by its first vertex. */
cutis_result skinning_build_points(skinning *s, const cutis_character *character, arena *scratch, arena *memory,
                                   cutis_error *error);

/* Whether two vertices have the same influences, up to a few of the 255 steps to which exporters round weights. */
bool vertices_move_alike(const cutis_character *character, int a, int b);

/* joints x inverse bind for every joint: rest scene space -> posed scene space. skin: (joint_count x 12). */
void skin_matrices(const cutis_character *character, const float *joints, float *skin);

/* Where a joint is in the bind pose. */
vec3 joint_bind_place(const cutis_joint *joint);

/* Linear skinning of one position. */
vec3 skinning_place(const skinning *s, const float *skin, int position);
/* A direction at rest as the joints of a position turn it, at its length. */
vec3 skinning_direction(const skinning *s, const float *skin, int position, vec3 direction);

/* Floats of scratch that the functions below need. */
size_t skinning_scratch_count(const skinning *s);

/* positions: (count x 3). A position without influences stays at rest. */
void skinning_linear(const skinning *s, const float *skin, float *scratch, const cutis_jobs *jobs, float *positions);
/*
 * Dual quaternions (Kavan, Collins, Zara, O'Sullivan 2008). Scale and shear are blended linearly before the
 * rigid part, as their section 4 proposes; signs follow the influence of the largest weight.
 */
void skinning_dual(const skinning *s, const float *skin, float *scratch, const cutis_jobs *jobs, float *positions);
/*
 * The same with a memory, for callers that step through time: a rotation goes on past a half turn instead of
 * jumping to the other way round there, where rounding decides. turns: (joint_count x 4) the joints' rotations
 * relative to their parents, quaternions, at the last call, here and on return; zeros at first. parents:
 * (joint_count), each less than its child, -1 for none.
 */
void skinning_dual_on(const skinning *s, const float *skin, const int *parents, float *turns, float *scratch,
                      const cutis_jobs *jobs, float *positions);
/*
 * Only the joints' rotations, with the same memory and the same signs. rotations: (joint_count x 4) quaternions.
 * Returns whether any joint stretches besides.
 */
bool skinning_rotations(const skinning *s, const float *skin, const int *parents, float *turns, float *scratch,
                        float *rotations);

#endif
