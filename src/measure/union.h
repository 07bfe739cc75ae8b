/*
 * union.h: the volume that a surface encloses, with overlapping flesh counted once.
 */
#ifndef MEASURE_UNION_H
#define MEASURE_UNION_H

#include "mesh/mesh.h"

typedef struct union_hit {
    float depth;
    int step; /* 1: the ray enters, -1: it leaves */
} union_hit;

/* Memory for one measurement at a time. */
typedef struct union_scratch {
    int *first; /* (rays + 1) */
    union_hit *hits;
} union_scratch;

void union_scratch_create(union_scratch *scratch, arena *memory);
/* Volume of all places with a winding number of 1 or more, over the closed components; NAN when there are too many
 * hits. */
double union_volume(const mesh *m, const float *positions, union_scratch *scratch);

#endif
