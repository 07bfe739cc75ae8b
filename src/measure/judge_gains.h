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

typedef struct judge_gains {
    const mesh *m;
    int zone_count;
    gain_zone *zones;
    int *triangles;
    float movement;     /* largest mean displacement of a patch, file units */
    int movement_point; /* a point of that patch; -1: none */
} judge_gains;

/* Find the joints that bend flesh. m and the character must outlive the gains. */
cutis_result gains_build(judge_gains *g, const mesh *m, const cutis_character *character, arena *memory,
                         cutis_error *error);
/* Compare the volumes of a frame; x, r: (point_count x 3) result and reference. */
void gains_volumes(judge_gains *g, const float *x, const float *r);
/* Note how far a patch of points is displaced on average. displacement: (point_count x 3). */
void gains_movement(judge_gains *g, const float *displacement, const int *points, int count);
/* Fill the gains with the best zone and the sentence; parts may be NULL. */
void gains_finish(const judge_gains *g, const cutis_character *character, const joint_part *parts, double unit,
                  cutis_gains *gains);

#endif
