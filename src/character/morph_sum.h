/* morph_sum.h: the sum of a character's morphs by their weights. */
#ifndef CHARACTER_MORPH_SUM_H
#define CHARACTER_MORPH_SUM_H

#include "base/core.h"
#include "cutis/character.h"

/*
 * `base` (vertex_count x 3; NULL: zeros) plus all morphs by their weights (morph_count; NULL: all 0), into sum
 * (vertex_count x 3). Weights that are not finite are skipped, and counted in *repairs. Returns false, and leaves sum,
 * when all weights are 0.
 */
bool morph_sum(const cutis_character *character, const float *weights, const float *base, float *sum, int *repairs);

#endif
