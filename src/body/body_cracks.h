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

/* The drawn mesh without its cracks. */
typedef struct drawn_cracks {
    mesh closed;       /* of the joined points, with the points of the drawn mesh, some of them without triangles */
    const int *joined; /* (point_count) the point that each became, never a later one; NULL: there are no cracks, and
                          `closed` is the drawn mesh */
} drawn_cracks;

/*
 * Join points of open borders that move alike and lie within 0.1 % of the size of each other, and nearer than a share
 * of the shortest edge at either. m is the mesh of the character's points and must outlive the result, whose arrays are
 * in `memory`.
 */
cutis_result cracks_close(drawn_cracks *result, const cutis_character *character, const mesh *m, arena *memory,
                          cutis_error *error);
/* Both sides of every crack deviate alike from `places` (point_count x 3): points (point_count x 3) follow their first.
 */
void cracks_follow(const int *joined, int point_count, const float *places, float *points);

#endif
