/*
 * parting.h: takes shallow crossings out of the drawn mesh of a frame.
 *
 * Contact keeps the simulation body free of crossings, but drawn triangles are chords of its surface, or lie beside it
 * by details finer than its edges: where skin folds, they cross. Triangles that cross by little are moved apart.
 */
#ifndef SHOW_PARTING_H
#define SHOW_PARTING_H

#include "mesh/mesh.h"

typedef struct parting {
    const mesh *mesh; /* the drawn one; NULL: nothing is parted */
    bvh tree;         /* of its triangles, at rest */
    int rest_count;   /* pairs that cross at rest: they are modelled so, and stay where skinning has them cross, too */
    const int *rest;  /* (rest_count x 2), sorted */
} parting;

/* Order of two pairs of indices, for qsort and bsearch. */
int parting_compare(const void *a, const void *b);
/* `mesh` must outlive the parting, whose arrays are in `memory`. */
cutis_result parting_build(parting *p, const mesh *mesh, const cutis_jobs *jobs, arena *memory, cutis_error *error);
/* Floats of scratch that parting_run needs. */
size_t parting_scratch_count(const parting *p);
/*
 * Move crossing triangles of points (point_count x 3) apart, those that `skinned` (the same under linear skinning) has,
 * too, only within a component. Points that are where skinning has them stay. size: of the frame. outward: out of both
 * surfaces, instead of the shortest way. crossed: whether there were such triangles, near enough to be parted or not.
 * Returns how many points have moved.
 */
int parting_run(const parting *p, const float *skinned, float size, bool outward, float *scratch,
                const cutis_jobs *jobs, float *points, bool *crossed);
/*
 * Where more triangles of points (point_count x 3) cross than under linear skinning: marks (point_count) become 1 at
 * the triangles of clusters that are larger than under skinning, else 0. Returns whether there are such clusters. A
 * frame in which no more triangles cross, in all, has none.
 */
bool parting_worse(const parting *p, const float *skinned, const float *points, float *scratch, int *marks);

#endif
