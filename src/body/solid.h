/*
 * solid.h: the solid that a surface encloses, as signed distances on a grid of cells.
 *
 * Any number of components, open, unwelded, overlapping, non-manifold and of any orientation. Closed parts that overlap
 * are united; holes and gaps are closed; cavities that air cannot reach are filled; sheets without thickness vanish.
 * Parts that stand apart by more than a cell stay apart. The same input gives the same bits on any number of threads.
 */
#ifndef BODY_SOLID_H
#define BODY_SOLID_H

#include "base/core.h"
#include "math/math3.h"

typedef struct solid_def {
    int point_count;
    const float *positions; /* (point_count x 3), scene units */
    int triangle_count;
    const int *triangles;   /* (triangle_count x 3) */
    float spacing;          /* edge of a cell, scene units */
    float gap;              /* holes and gaps up to this width are closed, scene units; larger ones may be */
    const cutis_jobs *jobs; /* NULL: the calling thread */
} solid_def;

typedef struct solid {
    int size[3];
    float spacing;
    vec3 origin;     /* centre of cell 0, 0, 0 */
    float *distance; /* (size[0] x size[1] x size[2], x fastest) to the surface of the solid at cell centres, scene
                        units, negative inside. Exact to a fraction of a cell within 3 cells of the surface, never less
                        than the truth by more than that elsewhere */
    int inside_count;
} solid;

/*
 * Build the solid. Arrays of `out` live in the arena. At least 3 cells of air lie around it. DATA for a surface without
 * extent or finite positions, or when it needs more than SOLID_MAX_CELLS cells.
 */
enum { SOLID_MAX_CELLS = 1 << 27 };
cutis_result solid_build(const solid_def *def, arena *memory, solid *out, cutis_error *error);

static inline size_t solid_index(const solid *s, int x, int y, int z)
{
    return ((size_t)z * (size_t)s->size[1] + (size_t)y) * (size_t)s->size[0] + (size_t)x;
}
static inline vec3 solid_centre(const solid *s, int x, int y, int z)
{
    return vec3_madd(s->origin, vec3_make((float)x, (float)y, (float)z), s->spacing);
}
/* The cell that holds `place`, clamped to the grid. */
void solid_cell(const solid *s, vec3 place, int cell[3]);
/* Distance at a place, trilinear; outside of the grid that of its nearest place plus the way there. */
float solid_sample(const solid *s, vec3 place);
/* Gradient of the trilinear distance (not normalised): it points outwards. */
vec3 solid_gradient(const solid *s, vec3 place);

#endif
