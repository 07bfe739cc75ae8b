/*
 * body_sheets.h: sheets of hardly any thickness that are part of a piece of flesh.
 *
 * Low-poly animals have fins, ears, manes and wing membranes of two sides back to back, welded to the trunk. There is
 * no flesh in them, their remeshed sides touch each other, and edges that follow their thickness take all points of a
 * body. They are found here, so that body_base.c can cut them off.
 */
#ifndef BODY_BODY_SHEETS_H
#define BODY_BODY_SHEETS_H

#include "body/body_parts.h"

/*
 * The sheets of a base that was built without any. sheets: (drawn triangles) fills the number of the sheet from 1 on;
 * of the rest of a piece that has sheets a negative number, another for each piece; 0 for all other pieces. Only pieces
 * of flesh have sheets. size: that of the character in the units of the base, whose points lie on a lattice of edge 1.
 * count: how many sheets there are.
 */
cutis_result sheets_find(const base *b, const part_role *roles, int drawn_triangle_count, float size,
                         const cutis_jobs *jobs, arena *memory, int *sheets, int *count, cutis_error *error);

#endif
