/*
 * predicates.h: signs of determinants that are right for every input.
 */
#ifndef MESH_PREDICATES_H
#define MESH_PREDICATES_H

/*
 * Sign (-1, 0, 1) of (b - a) x (c - a) . (d - a): 1 when d lies on the side of the plane a b c from which the
 * three run counter-clockwise. Exact for all finite floats.
 */
int orient3d(const float *a, const float *b, const float *c, const float *d);

#endif
