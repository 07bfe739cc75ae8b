/*
 * remesh.h: even triangles on a closed surface.
 *
 * Isotropic remeshing (Botsch, Kobbelt 2004, "A remeshing approach to multiresolution modeling"): edges are split,
 * collapsed and flipped until their lengths are those of a sizing field and their points have about six neighbours,
 * points are relaxed in the tangent plane and projected back onto the surface they came from.
 */
#ifndef BODY_REMESH_H
#define BODY_REMESH_H

#include "mesh/mesh.h"

/* A closed, oriented, manifold triangle surface. */
typedef struct surface {
    int point_count, triangle_count;
    float *positions; /* (point_count x 3) */
    int *triangles;   /* (triangle_count x 3) */
    float *lengths;   /* (point_count) wanted edge length there, scene units; NULL: none */
} surface;

/* Split edges longer than `length` until there are none, or `point_limit` points. The shape stays exactly as it is. */
cutis_result surface_refine(const surface *from, float length, int point_limit, arena *memory, surface *to,
                            cutis_error *error);
/*
 * Make the edges of `from` as long as from->lengths says. The result has no points that are not on `from`, up to the
 * chords of its triangles, and at most point_limit points.
 */
cutis_result surface_remesh(const surface *from, int point_limit, arena *memory, surface *to, cutis_error *error);

/* Unit normals of the triangles (triangle_count x 3). */
void surface_normals(const surface *s, float *normals);

#endif
