/*
 * texcoord_fit.h: the few morph targets that give moving texture coordinates back.
 */
#ifndef BAKE_TEXCOORD_FIT_H
#define BAKE_TEXCOORD_FIT_H

#include "bake/morph_fit.h"
#include "cutis/bake.h"

typedef struct texcoord_fit {
    int count;
    float *deltas;   /* (count x vertices as corner_split_make splits them x 2) */
    float *weights;  /* (frame_count x count) */
    double max;      /* largest distance on the skin from the coordinates wanted, the character's units */
    double residual; /* the same without any target */
    bool interrupted;
} texcoord_fit;

/* frames: def->texcoords. tolerance: on the skin, the character's units; limit: of targets. */
cutis_result texcoord_fit_make(const cutis_morphs_def *def, double tolerance, int limit, arena *memory,
                               texcoord_fit *fit, cutis_error *error);

#endif
