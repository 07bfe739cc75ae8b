/*
 * deviation.h: bounds on how far what is shown departs from linear skinning.
 *
 * Skinning is what the animator saw. Flesh may depart from it, but not tear: points that are near at rest stay within
 * TEAR_RATIO times the larger of their distances at rest and under skinning; and no point is shown further from
 * skinning than a share of the size (and what dual quaternions differ from it). Forces from outside widen these bounds
 * by what they can move flesh, continuously (deviation_slack). Skinning itself keeps both bounds, and
 * the fields that do form a convex set: so a region that has exploded is scaled towards
 * skinning, with a factor that goes back to 1 over a distance, and small tears are drawn together. A result within the
 * bounds is left as it is, to the bit.
 */
#ifndef SHOW_DEVIATION_H
#define SHOW_DEVIATION_H

#include "body/body_cracks.h"
#include "show/parting.h"
#include "character/skinning.h"
#include "mesh/mesh.h"

typedef struct deviation_bound {
    float size;         /* of the character, scene units */
    int point_count;    /* 0: there is no skin, and nothing is bounded */
    int pair_count;     /* near points at rest: edges, and the nearest over all pieces */
    const int *pairs;   /* (pair_count x 2) */
    const float *spans; /* (pair_count) their distances at rest */
    const int *joined;  /* (point_count) the first side of the crack that a point is at, or itself; NULL: no cracks */
    skinning skinning;  /* linear, of the points */
    parting parting;    /* of crossing triangles, before anything is bounded; without a mesh: none */
} deviation_bound;

/* By how much forces from outside widen the bounds, scene units. */
typedef struct deviation_slack {
    float swing; /* of the distance from skinning: accelerations, wind and blows move regions of flesh as a whole */
    float pull;  /* of that distance and of near points from each other: a drag moves single points */
} deviation_slack;

/* What was done to a frame. */
typedef struct deviation_stats {
    int points; /* that fall back, wholly or in part */
    int worst;  /* the one that falls back most; -1: none */
    int parted; /* points of crossing triangles that were moved apart, and one where they fall back; 0: none */
} deviation_stats;

/*
 * All arrays are in `memory`; `cracks` must outlive the bound. Both sides of a crack deviate alike. The bound has no
 * parting: that is built by itself, where it is wanted.
 */
cutis_result deviation_build(deviation_bound *b, const cutis_character *character, const drawn_cracks *cracks,
                             arena *memory, cutis_error *error);
/* Floats of scratch that deviation_limit needs. */
size_t deviation_scratch_count(const deviation_bound *b);
/*
 * Bound the deviation of points (point_count x 3) from linear skinning in the pose of `skin` (joint_count x 12).
 * slack: of forces from outside. amount (1 or more): the deviation is multiplied by it first, and the bounds are that
 * much wider. Crossing triangles are parted first, where the bound has a parting.
 */
deviation_stats deviation_limit(const deviation_bound *b, const float *skin, deviation_slack slack, float amount,
                                float *scratch, const cutis_jobs *jobs, float *points);

#endif
