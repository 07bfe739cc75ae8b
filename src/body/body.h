/*
 * body.h: the simulation body of a character, apart from its drawn mesh.
 *
 * A file's mesh is made for drawing: coarse or dense, in parts, open, hard and soft things side by side. Dynamic
 * solvers run on the body: closed, manifold surfaces of even triangles whose edges follow the local thickness, with the
 * skin weights carried over. A drawn mesh that is such a surface is its own body. docs/reference/body.md describes how
 * it is found.
 *
 *     drawn vertex = linear skinning of the file + sum of weights x (body point - linear skinning of the body point)
 *
 * so that a body without deviation shows the file's own skinning (show/embedding.h).
 */
#ifndef BODY_BODY_H
#define BODY_BODY_H

#include "body/body_cracks.h"
#include "character/skinning.h"
#include "mesh/mesh.h"

typedef struct sim_body {
    cutis_character *character; /* the body as a character, with the drawn one's skeleton; NULL: the drawn mesh is its
                                   own body, or there is no flesh (flesh_count 0) */
    int flesh_count, rigid_count, carried_count; /* pieces */
    int example_carried;                         /* a drawn vertex of a carried piece; -1: none */
    /* Embedding of the drawn points: anchors are points of the body. */
    const int *anchor_first; /* (drawn point_count + 1) */
    const int *anchors;
    const float *anchor_weights; /* sum to 1 on flesh, less away from it, none for rigid pieces */
    const bool *bare;            /* (drawn point_count) whether it is on the body's surface, with flesh below it; what
                                    is rigid, carried, or deep in a union is not */
    const float
        *heights;       /* (drawn point_count) at rest, along the normal of the body at its place there, scene units */
    const float *sides; /* the same across the normal */
    const float *holds; /* 0..1: how far it can be held there; 0: not wholly on flesh, or of other skin weights */
    const float *lengths;    /* (drawn point_count) edge length of the body there, scene units */
    mesh mesh;               /* of the body */
    skinning drawn_skinning; /* of the drawn points */
    skinning body_skinning;  /* of the body's points */
} sim_body;

typedef struct body_def {
    const cutis_character *character;
    const mesh *mesh;           /* of the character's points */
    const drawn_cracks *cracks; /* of that mesh */
    int point_budget;           /* about how many points the body gets */
    const cutis_jobs *jobs;
} body_def;

/*
 * All but body.character is in `memory`; body_release frees that. The character and the cracks of the definition must
 * outlive the body.
 */
cutis_result body_build(const body_def *def, arena *memory, sim_body *result, cutis_error *error);
void body_release(sim_body *b); /* one that was never built is allowed */

/* Unit normals of the points of a mesh at positions: area-weighted means of the triangles around them; zero where there
 * is no area. normals: (point_count x 3). */
void body_normals(const mesh *m, const float *positions, float *normals);

#endif
