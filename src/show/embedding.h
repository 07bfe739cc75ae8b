/*
 * embedding.h: drawn points from those of the simulation body.
 *
 *     drawn point = its linear skinning + sum of weights x (body point - linear skinning of the body point)
 *
 * and, where flesh has moved, without the folds that skinning has within an edge of the body.
 */
#ifndef SHOW_EMBEDDING_H
#define SHOW_EMBEDDING_H

#include "body/body.h"

/* Floats of scratch that embedding_show and embedding_skin need. */
size_t embedding_scratch_count(const sim_body *b);
/*
 * Drawn points (drawn point_count x 3) from the body's points in the pose of `skin` (joint_count x 12). scratch:
 * embedding_scratch_count floats.
 */
void embedding_show(const sim_body *b, const float *skin, const float *body_points, float *scratch,
                    const cutis_jobs *jobs, float *points);
/* Linear skinning of the drawn points (point_count x 3). */
void embedding_skin(const sim_body *b, const float *skin, float *scratch, const cutis_jobs *jobs, float *points);
/* One drawn point, with the folds of skinning. */
vec3 embedding_place(const sim_body *b, const float *skin, const float *body_points, int point);
/* The value (`width` floats) at a drawn point of values at the body's vertices, by the same anchors. */
void embedding_spread(const sim_body *b, int point, const float *values, int width, float *result);
/* The body's point that counts most for a drawn point; -1: none. */
int embedding_nearest(const sim_body *b, int point);

#endif
