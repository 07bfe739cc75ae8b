/*
 * rings.h: iso-parametric curves of a quad mesh: closed loops of points around limbs and trunk.
 */
#ifndef LIMBS_RINGS_H
#define LIMBS_RINGS_H

#include "limbs/quads.h"

typedef struct rings {
    int count;
    int *first;    /* (count + 1) */
    int *points;   /* the points of each ring in order; a point is on one ring at most */
    int *ring_of;  /* (point_count) its ring, or -1 */
    int tests;     /* how often rays decided between two directions */
    int *order;    /* (point_count) */
    uint8_t *dead; /* (half-edges) on a curve that stays open */
} rings;

/* Whether a closed path of points may be a ring: neither too short nor too long, and about round. */
bool ring_accept(const mesh *m, const int *points, int count);

/* Memory for the rings of a mesh. */
cutis_result rings_reserve(const quads *q, const mesh *m, arena *memory, rings *found, cutis_error *error);
/*
 * Trace the rings, what is farthest from the body's middle first. size: the body's. Triangle meshes have none. Does not
 * allocate.
 */
void rings_trace(const quads *q, const mesh *m, vec3 middle, float size, rings *found);

#endif
