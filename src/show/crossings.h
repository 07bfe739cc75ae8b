/*
 * crossings.h: separate shallow crossings of the drawn mesh of a frame.
 *
 * Contact keeps the simulation body free of crossings. Drawn triangles are chords of its surface, or have details finer
 * than its edges, so they can cross where skin folds. Triangles that cross by little are moved apart.
 */
#ifndef SHOW_CROSSINGS_H
#define SHOW_CROSSINGS_H

#include "mesh/mesh.h"

typedef struct crossing_repair {
    const mesh *mesh; /* the drawn one; NULL: nothing is separated */
    bvh tree;         /* of its triangles, at rest */
    int rest_count;   /* pairs that cross at rest; they stay where linear skinning crosses them, too */
    const int *rest;  /* (rest_count x 2), sorted */
} crossing_repair;

/* `mesh` must outlive the repair, whose arrays are in `memory`. */
cutis_result crossings_build(crossing_repair *r, const mesh *mesh, const cutis_jobs *jobs, arena *memory,
                             cutis_error *error);
/* Return the floats of scratch that crossings_separate needs. */
size_t crossings_scratch_count(const crossing_repair *r);
/*
 * Move crossing triangles of points (point_count x 3) apart. Triangles of two components that `skinned` (the same
 * points under linear skinning) crosses, too, stay, and so do points at their skinned places. size: of the frame.
 * Returns how many points have moved.
 */
int crossings_separate(const crossing_repair *r, const float *skinned, float size, float *scratch,
                       const cutis_jobs *jobs, float *points);

#endif
