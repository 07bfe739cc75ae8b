/*
 * body_base.h: the drawn mesh as closed, oriented, manifold pieces.
 *
 * A file's mesh may be open, cut along edges of three triangles, or turned inside out in places. Every triangle of it
 * is kept: pieces are oriented, cut apart where more than two triangles meet or sheets begin, and their holes are
 * capped.
 */
#ifndef BODY_BODY_BASE_H
#define BODY_BODY_BASE_H

#include "body/remesh.h"

/* One connected piece of the surface, caps included. */
typedef struct base_piece {
    surface surface; /* closed, turned outwards */
    int *sources;    /* (surface.point_count) the drawn point; -1: centre of a cap */
    int *cap_first;  /* (cap_count + 1) into cap_points; caps of cuts have no centre and are not counted */
    int *cap_points; /* drawn points around each cap; caps have the last cap_count points of the surface */
    int cap_count;
    int drawn_triangle_count; /* the first triangles of the surface; caps follow */
    int *triangle_sources;    /* (drawn_triangle_count) the drawn triangle of each */
    int *corner_sources; /* (drawn_triangle_count x 3) the drawn points of their corners; of a point at which a slit
                            is sewn two differ */
    bool cut;            /* part of a larger piece that was cut along a sheet */
    bool welded;         /* has an edge of more than two triangles: others were cut apart from it there */
    bool sheet;          /* the sheet */
    double area, cap_area, volume;
    vec3 low, high;
} base_piece;

typedef struct base {
    int piece_count;
    base_piece *pieces; /* in the order of their lowest drawn point */
    int *point_pieces;  /* (drawn points) the piece of each; -1: of no triangle */
} base;

/*
 * sheets: (m->triangle_count) as sheets_find has it: triangles of different values are not joined. NULL: there are no
 * sheets.
 */
cutis_result base_build(const mesh *m, const int *sheets, arena *memory, base *b, cutis_error *error);

#endif
