/*
 * flesh.h: where the flesh under a surface lies: its direction and depth at every point.
 *
 * Each point of the surface looks at the centre lines of its bones. The flesh under it lies on the way there. Lengths
 * are in sizes (the diagonal of the character's bounds), relative to the centre of its bounds.
 */
#ifndef SOLVERS_FLESH_H
#define SOLVERS_FLESH_H

#include "mesh/mesh.h"
#include "solvers/solver.h"

typedef struct flesh_request {
    const solver_build *build;
    const mesh *surface; /* in sizes; its points may have an order of their own */
    const int *points;   /* (point_count) the build's point of each of them */
    const bvh *tree;     /* of the surface at rest */
    float size, centre[3];
    int bone_depth, flesh_depth; /* which parameters these are in the solver's table */
    const float *depth_map;      /* (point_count) painted share of the depth, 0..1; NULL: 1 */
} flesh_request;

typedef struct flesh_columns {
    vec3 *axis;    /* (point_count) nearest point of the bones' centre lines */
    vec3 *ways;    /* (point_count) unit, inwards */
    float *depths; /* (point_count) from the skin down to the bone layer */
} flesh_columns;

/* All arrays in scratch. */
cutis_result flesh_find(const flesh_request *request, flesh_columns *columns, arena *scratch, cutis_error *error);

#endif
