/*
 * judge_gains.h: what a result has that linear skinning has not: volume kept where joints bend, flesh that moves.
 */
#ifndef MEASURE_JUDGE_GAINS_H
#define MEASURE_JUDGE_GAINS_H

#include "character/joint_parts.h"
#include "cutis/measure.h"
#include "mesh/mesh.h"

/* The flesh around a joint that bends: triangles that the joint and its parent share. */
typedef struct gain_zone {
    int joint, first, count; /* run of `triangles` */
    double rest;             /* volume at rest */
    double kept[2];          /* share of it in the frame in which the reference keeps least: result, reference */
} gain_zone;

/* Where the mean of a patch has been, relative to the reference and as the patch was turned at rest. */
typedef struct gain_swing {
    bool seen;
    vec3 low, high;
} gain_swing;

typedef struct judge_gains {
    const mesh *m;
    gain_swing *swings; /* by patch; the judge's */
    int zone_count;
    gain_zone *zones;
    int *triangles;
    float movement;     /* farthest that the mean of a patch has moved, file units */
    int movement_point; /* a point of that patch; -1: none */
} judge_gains;

/* Find the joints that bend flesh. m and the character must outlive the gains. */
cutis_result gains_build(judge_gains *g, const mesh *m, const cutis_character *character, arena *memory,
                         cutis_error *error);
/* Compare the volumes of a frame; x, r: (point_count x 3) result and reference. */
void gains_volumes(judge_gains *g, const float *x, const float *r);
/*
 * Note where a patch of points is on average. What counts is how far it moves against the body in the course of the
 * clip: a bulge that stays, or that turns with its limb, is no movement. displacement: (point_count x 3) from the
 * reference; turn: of the patch, from rest to the reference.
 */
void gains_movement(judge_gains *g, int patch, const float *displacement, const int *points, int count, quat turn);
/* Fill the gains with the best zone and the sentence; parts may be NULL. */
void gains_finish(const judge_gains *g, const cutis_character *character, const joint_part *parts, double unit,
                  cutis_gains *gains);

#endif
