/*
 * body_union.h: one closed surface around pieces of flesh that pass through each other.
 *
 * A clothed character is often shirt, trousers, hands and head without a body below: closed pieces that overlap where
 * they join. Simulated apart, they touch and cross there for ever. Their union is one body.
 */
#ifndef BODY_BODY_UNION_H
#define BODY_BODY_UNION_H

#include "body/body_base.h"

/* Whether any of these pieces pass through each other. */
cutis_result union_needed(const base_piece *const *pieces, int count, arena *memory, bool *needed, cutis_error *error);
/* The surface of their union on a grid of `spacing`, with edges of about twice that. */
cutis_result union_surface(const base_piece *const *pieces, int count, float spacing, const cutis_jobs *jobs,
                           arena *memory, surface *result, cutis_error *error);
/* All pieces as one: points and triangles one after the other, the centres of caps last. */
cutis_result union_pieces(const base_piece *const *pieces, int count, arena *memory, base_piece *result,
                          cutis_error *error);

#endif
