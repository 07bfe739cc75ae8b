/*
 * deviation.h: one continuous bound on the deviation of the drawn mesh from linear skinning.
 *
 * Skinning is what the animator saw. Flesh may deviate from it, but not explode or tear: no point is drawn further from
 * skinning than a share of the size, and points that are near at rest stay within TEAR_RATIO times the larger of their
 * distances at rest and under skinning. Forces from outside widen both bounds by what they can move flesh. Skinning
 * itself satisfies both. The drawn place of a point is s + f d, with s its skinned place, d its deviation and a factor
 * f in 0..1 that varies smoothly over the surface. A frame within the bounds is unchanged, to the bit.
 */
#ifndef SHOW_DEVIATION_H
#define SHOW_DEVIATION_H

#include "body/body_cracks.h"
#include "character/skinning.h"
#include "mesh/mesh.h"

typedef struct deviation_bound {
    int point_count;    /* 0: there is no skin, and nothing is bounded */
    int pair_count;     /* near points at rest: edges, and the nearest over all pieces */
    const int *pairs;   /* (pair_count x 2) */
    const float *spans; /* (pair_count) their distances at rest */
    const int *joined;  /* (point_count) the first side of the crack that a point is at, or itself; NULL: no cracks */
    const skinning *skinning; /* of the points */
} deviation_bound;

/* By how much forces from outside widen the bounds, scene units. */
typedef struct deviation_slack {
    float swing; /* of the distance from skinning: accelerations, wind and blows move regions of flesh as a whole */
    float pull;  /* of that distance and of near points from each other: a drag moves single points */
} deviation_slack;

/* A frame to be bounded. */
typedef struct deviation_frame {
    const float *skin;     /* (joint_count x 12) matrices of the pose */
    const float *skinned;  /* (point_count x 3) the points under linear skinning */
    float size;            /* of the skinned points, or of the character if that is larger, scene units */
    deviation_slack slack; /* of forces from outside */
    float amount;          /* 1 or more: the deviation is exaggerated by it, and the bounds are that much wider */
} deviation_frame;

typedef struct deviation_stats {
    int points; /* that are drawn elsewhere than given */
    int worst;  /* the one that moves furthest; -1: none */
} deviation_stats;

/* All arrays are in `memory`; `cracks` and `points`, their skinning, must outlive the bound. Both sides of a crack
 * deviate alike. */
cutis_result deviation_build(deviation_bound *b, const cutis_character *character, const drawn_cracks *cracks,
                             const skinning *points, arena *memory, cutis_error *error);
/* Return the floats of scratch that deviation_limit needs. */
size_t deviation_scratch_count(const deviation_bound *b);
/* Bound the deviation of points (point_count x 3), which is exaggerated already. */
deviation_stats deviation_limit(const deviation_bound *b, const deviation_frame *frame, float *scratch,
                                const cutis_jobs *jobs, float *points);

#endif
