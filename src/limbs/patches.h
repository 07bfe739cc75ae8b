/*
 * patches.h: the points of a surface in small patches of neighbours, and the graph of these: what the search for limbs
 * walks over instead of every point.
 */
#ifndef LIMBS_PATCHES_H
#define LIMBS_PATCHES_H

#include "mesh/mesh.h"

/* Patches of the largest component; other points are in none. */
typedef struct patches {
    int count;
    int depth;       /* edges from the point that a patch grew from; 0: each point is its own patch */
    int point_count; /* in patches */
    int *patch_of;   /* (the mesh's point_count) -1 on loose pieces */
    int *sizes;      /* (count) points of each, */
    int *lowest;     /* and the lowest of them */
    vec3 low, high;  /* the box around all of them */
    vec3 *centres;   /* (count) mean of its points */
    float *spreads;  /* (count) mean square distance of its points from the centre */
    int *link_first; /* (count + 1) */
    int *links;      /* patches that share an edge, */
    float *lengths;  /* and the distance between the centres */
    float spacing;   /* mean length of a link */
} patches;

/* fine: each point is a patch, however many there are. */
cutis_result patches_make(const mesh *m, bool fine, const cutis_jobs *jobs, arena *memory, patches *made,
                          cutis_error *error);

#endif
