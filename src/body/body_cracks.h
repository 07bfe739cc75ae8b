/*
 * body_cracks.h: cracks of the drawn mesh, closed.
 *
 * Programs that write each face for itself, round coordinates anew, or mirror half a body without merging its seam
 * leave surfaces that look whole and are open along every crack. Welding at the file's own precision does not see them.
 */
#ifndef BODY_BODY_CRACKS_H
#define BODY_BODY_CRACKS_H

#include "cutis/character.h"
#include "mesh/mesh.h"

/*
 * Join points of open borders that move alike and lie within `reach` of each other, and nearer than a tenth of the
 * shortest edge at either. closed: the mesh of the joined points, with the points of m, some of them without triangles.
 * joined: (m->point_count) the point that each became; NULL when nothing was joined, and then closed is m itself.
 * m is the mesh of the character's points.
 */
cutis_result cracks_close(const cutis_character *character, const mesh *m, float reach, arena *memory, mesh *closed,
                          int **joined, cutis_error *error);

#endif
