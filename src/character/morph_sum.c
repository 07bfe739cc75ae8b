/* morph_sum.c: the sum of a character's morphs by their weights (see morph_sum.h). */
#include "character/morph_sum.h"

#include <math.h>
#include <string.h>

bool morph_sum(const cutis_character *c, const float *weights, const float *base, float *sum, int *repairs)
{
    bool any = false;
    for (int k = 0; weights && k < c->morph_count; k++) any |= weights[k] != 0;
    if (!any) return false;

    /* start from the base */
    size_t count = (size_t)c->vertex_count * 3;
    if (base) {
        memcpy(sum, base, count * sizeof *sum);
    } else {
        memset(sum, 0, count * sizeof *sum);
    }

    /* add the morphs with finite weights */
    for (int k = 0; k < c->morph_count; k++) {
        float w = weights[k];
        if (!(fabsf(w) < 1e15f)) {
            ++*repairs;
            continue;
        }
        if (w == 0) continue;
        const float *deltas = c->morphs[k].deltas;
        for (size_t i = 0; i < count; i++) sum[i] += w * deltas[i];
    }

    return true;
}
