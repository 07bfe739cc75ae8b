/*
 * rings.h: iso-parametric curves of a quad mesh: closed loops of points around limbs and trunk.
 */
#ifndef RIG_RINGS_H
#define RIG_RINGS_H

#include "rig/limbs.h"
#include "rig/quads.h"

typedef struct rings {
    int count;
    int *first;   /* (count + 1) */
    int *points;  /* the points of each ring in order; a point is on one ring at most */
    int *ring_of; /* (point_count) its ring, or -1 */
    int tests;    /* how often rays decided between two directions */
} rings;

/* Trace the rings, far ends of limbs first. Triangle meshes have none. */
cutis_result rings_trace(const quads *q, const mesh *m, const limbs *f, arena *memory, rings *found,
                         cutis_error *error);

#endif
