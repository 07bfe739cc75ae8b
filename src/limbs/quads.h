/*
 * quads.h: the quads of a surface and their half-edges: what iso-parametric curves walk over. Part of the topology of a
 * mesh, as mesh.h is: made once, before any search.
 *
 * Half-edge 4 q + k runs from corner k of quad q to the next corner.
 */
#ifndef LIMBS_QUADS_H
#define LIMBS_QUADS_H

#include "mesh/mesh.h"

typedef struct quads {
    int count;
    int *corners;     /* (count x 4) points */
    int *twins;       /* (count x 4) the half-edge back, of the quad on the other side; -1 where there is none */
    int *ahead;       /* (count x 4) straight on: the edge opposite to it where four quads meet; -1 elsewhere */
    int *spokes;      /* (point_count) a half-edge that leaves the point; -1 unless quads alone lie all around it */
    uint8_t *valence; /* (point_count) how many leave it, 0 where spokes is -1 */
} quads;

static inline int quad_next(int h) { return (h & ~3) | ((h + 1) & 3); }
static inline int quad_previous(int h) { return (h & ~3) | ((h + 3) & 3); }
static inline int quad_start(const quads *q, int h) { return q->corners[h]; }
static inline int quad_end(const quads *q, int h) { return q->corners[quad_next(h)]; }
/* The next half-edge around the point that h leaves. */
static inline int quad_turn(const quads *q, int h) { return q->twins[quad_previous(h)]; }

cutis_result quads_build(quads *q, const cutis_character *character, arena *memory, cutis_error *error);

#endif
