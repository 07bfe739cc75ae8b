/* solid_private.h: what the files of the solid share. */
#ifndef BODY_SOLID_PRIVATE_H
#define BODY_SOLID_PRIVATE_H

#include "body/solid.h"
#include "mesh/mesh.h"

/*
 * Orient the triangles so that they face outwards: flips[t] is 1 when triangle t is to be turned round.
 * outside(context, place): 1 air that the border of the grid is joined with, 0 not, -1 too near to the surface to tell.
 */
typedef struct solid_air {
    void *context;
    int (*outside)(void *context, vec3 place);
    float step; /* an offset from the surface at which outside can tell */
} solid_air;

cutis_result solid_orient(const solid_def *def, const solid_air *air, arena *memory, uint8_t *flips,
                          cutis_error *error);

/* Winding numbers by a tree of dipoles. */
typedef struct winding_tree {
    bvh tree;
    const float *positions;
    const uint8_t *flips;
    struct winding_node *nodes; /* (tree.node_count) */
} winding_tree;

enum { WINDING_POINTS = 64 };

cutis_result winding_tree_build(winding_tree *w, const solid_def *def, const uint8_t *flips, arena *memory,
                                cutis_error *error);
/*
 * Winding numbers of `count` points (a multiple of 8, at most WINDING_POINTS) that lie within `radius` of `centre`.
 * x, y, z: relative to the centre.
 */
void winding_evaluate(const winding_tree *w, vec3 centre, float radius, int count, const float *x, const float *y,
                      const float *z, float *winding);

#endif
