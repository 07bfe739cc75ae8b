/*
 * body.h: the simulation body of a character, apart from its drawn mesh.
 *
 * A file's mesh is made for drawing: coarse or dense, in parts, open, hard and soft things side by side. Dynamic
 * solvers run on the body: closed, manifold surfaces of even triangles whose edges follow the local thickness, with the
 * skin weights carried over. A drawn mesh that is such a surface is its own body. docs/BODY.md describes how it is
 * found.
 *
 *     drawn vertex = linear skinning of the file + sum of weights x (body point - linear skinning of the body point)
 *
 * so that a body without deviation shows the file's own skinning; closed drawn meshes then get back what volume
 * they lose (fullness.h).
 */
#ifndef BODY_BODY_H
#define BODY_BODY_H

#include "body/body_cracks.h"
#include "body/fullness.h"
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
    fullness fullness;       /* of the drawn mesh */
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

/* Floats of scratch that body_show and fullness_run need. */
size_t body_scratch_count(const sim_body *b);
/*
 * Drawn points (drawn point_count x 3) from the body's points in the pose of `skin` (joint_count x 12). scratch:
 * body_scratch_count floats.
 */
void body_show(const sim_body *b, const float *skin, const float *body_points, float *scratch, const cutis_jobs *jobs,
               float *points);
/* Linear skinning of the drawn points (point_count x 3). */
void body_skin(const sim_body *b, const float *skin, float *scratch, const cutis_jobs *jobs, float *points);
/* The value (`width` floats) at a drawn point of values at the body's vertices, by the same anchors. */
void body_spread(const sim_body *b, int point, const float *values, int width, float *result);
/* The body's point that counts most for a drawn point; -1: none. */
int body_nearest(const sim_body *b, int point);

#endif
