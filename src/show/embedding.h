/*
 * embedding.h: drawn points from those of the simulation body.
 *
 *     drawn point = its linear skinning + sum of weights x (body point - linear skinning of the body point)
 *
 * Where flesh has moved, drawn points also keep their rest height over the body.
 */
#ifndef SHOW_EMBEDDING_H
#define SHOW_EMBEDDING_H

#include "body/body.h"

/* Return the floats of scratch that the functions below need; enough to skin the drawn points, too. */
size_t embedding_scratch_count(const sim_body *b);
/* Deviation (body point_count x 3) of the body's points from linear skinning in the pose of `skin` (joint_count x 12).
 */
void embedding_deviation(const sim_body *b, const float *skin, const float *body_points, float *scratch,
                         const cutis_jobs *jobs, float *deviation);
/* Drawn points (point_count x 3) from the body's points, their deviation, and the linear skinning of the drawn points.
 */
void embedding_show(const sim_body *b, const float *body_points, const float *deviation, const float *skinned,
                    float *scratch, float *points);
/* One drawn point, without the height. */
vec3 embedding_place(const sim_body *b, const float *skin, const float *body_points, int point);
/* The value (`width` floats) at a drawn point of values at the body's vertices, by the same anchors. */
void embedding_spread(const sim_body *b, int point, const float *values, int width, float *result);
/* The body's point that counts most for a drawn point; -1: none. */
int embedding_nearest(const sim_body *b, int point);

#endif
