/*
 * body.h: the surface as the skin of a solid body: where it cuts itself, and how deep it lies inside itself.
 */
#ifndef MEASURE_BODY_H
#define MEASURE_BODY_H

#include "mesh/mesh.h"

/* Immutable. The surface with its holes closed, so that every place has a whole winding number. */
typedef struct body {
    const mesh *m;
    int point_count;         /* points of the mesh, then one in the middle of each hole */
    int triangle_count;      /* triangles of the mesh, then those that close its holes */
    const int *triangles;    /* (triangle_count x 3) */
    const int *rim_first;    /* (holes + 1) */
    const int *rims;         /* points around each hole */
    const uint8_t *passable; /* (edge_count) of two triangles turned alike */
    bvh tree;                /* at rest */
    int outside;             /* 1; -1 when the normals of the whole surface point inwards */
    float *rest_depths;      /* (mesh triangle_count) as body_examine gives them at rest */
} body;

/* What one thread needs to look at one frame. */
typedef struct body_scratch {
    float *positions; /* (point_count x 3) */
    bvh tree;
    uint8_t *cut; /* (triangle_count) */
    int *windings, *labels, *queue;
    int *partners; /* (triangle_count) one that cuts it, -1 for none */
    float *depths; /* (mesh triangle_count) */
    int pair_count;
} body_scratch;

cutis_result body_build(body *b, const mesh *m, arena *memory, cutis_error *error);
/* Positions of the mesh (mesh point_count x 3), then the middles of the holes. placed: (point_count x 3). */
void body_place(const body *b, const float *positions, float *placed);
bool body_scratch_create(body_scratch *scratch, const body *b, arena *memory);

/*
 * Look at the surface at `positions` (mesh point_count x 3). Returns the number of pairs of triangles that
 * share no point and intersect. With `penetration` not NULL it gets the largest depth beyond that at rest, in
 * the unit of the positions, and scratch->depths that of every triangle.
 */
int body_examine(const body *b, body_scratch *scratch, const float *positions, double *penetration);

#endif
