/*
 * depth.h: the surface as the skin of a solid body: where it cuts itself, and how deep it lies inside itself.
 */
#ifndef MEASURE_DEPTH_H
#define MEASURE_DEPTH_H

#include "mesh/mesh.h"

/* Immutable. The surface with its holes closed, so that every place has a whole winding number. */
typedef struct depth_solid {
    const mesh *m;
    int point_count;         /* points of the mesh, then one in the middle of each hole */
    int triangle_count;      /* triangles of the mesh, then those that close its holes */
    const int *triangles;    /* (triangle_count x 3) */
    const int *rim_first;    /* (holes + 1) */
    const int *rims;         /* points around each hole */
    const uint8_t *passable; /* (edge_count) of two triangles turned alike */
    bvh tree;                /* at rest */
    int outside;             /* 1; -1 when the normals of the whole surface point inwards */
    float *rest_depths;      /* (mesh triangle_count) as depth_examine gives them at rest */
} depth_solid;

/* What one thread needs to look at one frame. */
typedef struct depth_scratch {
    float *positions; /* (point_count x 3) */
    bvh tree;
    uint8_t *cut; /* (triangle_count) */
    int *windings, *labels, *queue;
    int *partners; /* (triangle_count) one that cuts it, -1 for none */
    float *depths; /* (mesh triangle_count) */
    int pair_count;
} depth_scratch;

cutis_result depth_build(depth_solid *b, const mesh *m, arena *memory, cutis_error *error);
/* Positions of the mesh (mesh point_count x 3), then the middles of the holes. placed: (point_count x 3). */
void depth_place(const depth_solid *b, const float *positions, float *placed);
bool depth_scratch_create(depth_scratch *scratch, const depth_solid *b, arena *memory);

/*
 * Look at the surface at `positions` (mesh point_count x 3). Returns the number of pairs of triangles that
 * share no point and intersect. With `penetration` not NULL it gets the largest depth beyond that at rest, in
 * the unit of the positions, and scratch->depths that of every triangle.
 */
int depth_examine(const depth_solid *b, depth_scratch *scratch, const float *positions, double *penetration);

#endif
