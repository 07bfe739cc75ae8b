/*
 * curves.h: what the files of the solver `curves` share.
 */
#ifndef SOLVERS_CURVES_H
#define SOLVERS_CURVES_H

#include "character/skinning.h"
#include "solvers/solver_kit.h"

/* Steps of the beams between two examples. */
enum { LEVELS = 16 };
/* Examples that are taken at most. */
enum { EXAMPLES_MAX = 16 };

/* Which parameter stands where in solver_build.values. */
enum {
    CURVES_SKIN_YOUNG,
    CURVES_POISSON,
    CURVES_SKIN_DENSITY,
    CURVES_SKIN_THICKNESS,
    CURVES_GIRTH,
    CURVES_DURATION,
    CURVES_CLIP,
    CURVES_EXAMPLES,
    CURVES_WARP,
    CURVES_PARAMETER_COUNT
};

typedef struct curves {
    const cutis_character *character;
    skinning base;
    int segment_count; /* examples after the rest pose */
    int feature_count; /* 9 a joint */
    float *features;   /* ((segment_count + 1) x feature_count) relative rotations of the examples' poses */
    double *lengths;   /* (segment_count) of the way between their poses */
    float *levels;     /* (segment_count x (LEVELS + 1) x point_count x 3) positions in the rest pose */
    float *warps;      /* (segment_count x (LEVELS + 1)) the place, 0 to 1, that a level stands for */
    int ring_count, ring_points;
    int point_count;
    bool seamless; /* each vertex is the point of its own number */
} curves;

/* (LEVELS + 1) of a segment. */
static inline const float *warp_of(const curves *c, int segment) { return c->warps + (size_t)segment * (LEVELS + 1); }

/* Rotations of each joint in its parent, as nine numbers a joint. */
void curves_features(const cutis_character *c, const float *joints, float *features);
cutis_result curves_build(const solver_build *build, void **data, cutis_error *error);

#endif
