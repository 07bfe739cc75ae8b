/*
 * leaves.h: two square grids that touch or cross, the second facing the other way: lips and coincident sheets, for
 * tests of rest shapes that intersect themselves.
 */
#ifndef TESTS_LEAVES_H
#define TESTS_LEAVES_H

#include <string.h>

#include "math/math3.h"

enum {
    LEAF_CELLS = 8,
    LEAF_POINTS = (LEAF_CELLS + 1) * (LEAF_CELLS + 1),
    LEAVES_POINTS = 2 * LEAF_POINTS,
    LEAVES_QUADS = 2 * LEAF_CELLS * LEAF_CELLS
};

/* Where a point of a leaf is; u and v in 0..1. */
typedef vec3 (*leaf_place)(int leaf, float u, float v);

/* Mirrored halves whose borders reach a little beyond their plane of symmetry. */
static inline vec3 leaf_lip(int leaf, float u, float v)
{
    float x = 0.5f * u - 0.0007f;
    return vec3_make(leaf ? -x : x, 0.2f * x + 0.05f * v * v, v);
}

/* Sheets that lie on each other exactly, the second on the first. */
static inline vec3 leaf_coincident(int leaf, float u, float v)
{
    float shift = leaf ? 0.03f : 0;
    return vec3_make(u + shift, 0, v + shift);
}

/* v of a point. */
static inline float leaf_v(int point) { return (float)(point % LEAF_POINTS / (LEAF_CELLS + 1)) / LEAF_CELLS; }

static inline void leaves_fill(leaf_place place, float positions[3 * LEAVES_POINTS], int quads[4 * LEAVES_QUADS])
{
    for (int p = 0; p < LEAVES_POINTS; p++) {
        float u = (float)(p % LEAF_POINTS % (LEAF_CELLS + 1)) / LEAF_CELLS;
        vec3_store(positions + 3 * p, place(p / LEAF_POINTS, u, leaf_v(p)));
    }
    for (int q = 0; q < LEAVES_QUADS; q++) {
        int leaf = q / (LEAVES_QUADS / 2), cell = q % (LEAVES_QUADS / 2);
        int a = leaf * LEAF_POINTS + cell / LEAF_CELLS * (LEAF_CELLS + 1) + cell % LEAF_CELLS, c = a + LEAF_CELLS + 1;
        const int corners[2][4] = {{a, c, c + 1, a + 1}, {a, a + 1, c + 1, c}};
        memcpy(quads + 4 * q, corners[leaf], sizeof corners[leaf]);
    }
}

#endif
