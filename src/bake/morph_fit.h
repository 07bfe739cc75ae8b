/*
 * morph_fit.h: the few morph targets with animated weights that turn a character's linear-blend motion into
 * positions that were simulated.
 */
#ifndef BAKE_MORPH_FIT_H
#define BAKE_MORPH_FIT_H

#include "base/core.h"
#include "cutis/character.h"

typedef struct morph_fit_def {
    const cutis_character *character;
    int clip;                           /* whose poses the frames were made with; -1: the idle pose */
    double start, fps;                  /* frame i shows the clip at start + i / fps */
    int frame_count;                    /* at least 1 */
    const float *frames;                /* (frame_count x vertex_count x 3) */
    const float *joints;                /* (frame_count x joint_count x 12) their poses; NULL: the clip's */
    double tolerance;                   /* largest distance of a vertex, in the character's units */
    int limit;                          /* of targets */
    bool exact;                         /* one target a frame, whatever the limit */
    bool normals;                       /* fit normals too */
    bool (*interrupted)(void *context); /* asked now and then; NULL: never */
    void *context;
    const cutis_jobs *jobs;
} morph_fit_def;

typedef struct morph_fit {
    int count;
    float *deltas;      /* (count x vertex_count x 3), rest scene space; exact zeros where a target does not matter */
    float *normals;     /* the same for unit normals; NULL when not asked for */
    float *weights;     /* (frame_count x count), in 0..1; in -1..1 when the limit is 1 */
    double rms, max;    /* distance of the vertices that the targets give from those wanted */
    double residual;    /* the largest distance without any target */
    int worst_frame;    /* of max */
    bool interrupted;   /* given up: the rest means nothing */
    double flat_blends; /* share of vertices and frames whose blended skin matrix is nearly flat */
} morph_fit;

/* All of the result is in `memory`; temporary memory comes from the same allocator. */
cutis_result morph_fit_make(const morph_fit_def *def, arena *memory, morph_fit *fit, cutis_error *error);

#endif
