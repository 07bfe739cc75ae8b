/*
 * bar.h: a closed bar of quads whose arrays a test may damage, along +Y with a chain of joints, for tests that need a
 * small character.
 */
#ifndef TESTS_BAR_H
#define TESTS_BAR_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cutis/character.h"

typedef struct bar {
    cutis_character given;
    float *positions;
    int *face_first, *corners, *influence_first, *influence_joints;
    float *influence_weights;
    cutis_joint *joints;
    char (*names)[16];
} bar;

/* Height 1, radius 0.15; `sides` around, `rings` along, `joint_count` joints at equal distances from y = 0. */
static inline bar bar_make(int sides, int rings, int joint_count)
{
    bar t = {0};
    int vertices = sides * rings + 2, quads = sides * (rings - 1), faces = quads + 2 * sides;
    t.positions = calloc((size_t)vertices * 3, sizeof(float));
    t.face_first = calloc((size_t)faces + 1, sizeof(int));
    t.corners = calloc((size_t)(4 * quads + 6 * sides), sizeof(int));
    t.influence_first = calloc((size_t)vertices + 1, sizeof(int));
    t.influence_joints = calloc((size_t)vertices * 2, sizeof(int));
    t.influence_weights = calloc((size_t)vertices * 2, sizeof(float));
    t.joints = calloc((size_t)joint_count, sizeof *t.joints);
    t.names = calloc((size_t)joint_count, sizeof *t.names);

    for (int r = 0; r < rings; r++) {
        for (int s = 0; s < sides; s++) {
            double angle = 6.283185307179586 * s / sides;
            float *p = t.positions + 3 * (r * sides + s);
            p[0] = (float)(0.15 * cos(angle));
            p[1] = (float)r / (float)(rings - 1);
            p[2] = (float)(-0.15 * sin(angle));
        }
    }
    int bottom = sides * rings, top = bottom + 1;
    t.positions[3 * top + 1] = 1;

    int face = 0, corner = 0;
    for (int r = 0; r + 1 < rings; r++) {
        for (int s = 0; s < sides; s++) {
            int n = (s + 1) % sides;
            const int quad[] = {r * sides + s, r * sides + n, (r + 1) * sides + n, (r + 1) * sides + s};
            memcpy(t.corners + corner, quad, sizeof quad);
            corner += 4;
            t.face_first[++face] = corner;
        }
    }
    for (int s = 0; s < sides; s++) {
        int n = (s + 1) % sides, last = (rings - 1) * sides;
        const int caps[2][3] = {{bottom, n, s}, {top, last + s, last + n}};
        for (int k = 0; k < 2; k++) {
            memcpy(t.corners + corner, caps[k], sizeof caps[k]);
            corner += 3;
            t.face_first[++face] = corner;
        }
    }

    /* Each vertex between the two joints it lies between. */
    for (int v = 0; v < vertices; v++) {
        float at = t.positions[3 * v + 1] * (float)joint_count;
        int low = (int)at;
        if (low > joint_count - 1) low = joint_count - 1;
        int high = low + 1 < joint_count ? low + 1 : low;
        float w = high == low ? 0 : at - (float)low;
        t.influence_first[v + 1] = 2 * (v + 1);
        t.influence_joints[2 * v] = low;
        t.influence_joints[2 * v + 1] = high;
        t.influence_weights[2 * v] = 1 - w;
        t.influence_weights[2 * v + 1] = w;
    }
    for (int j = 0; j < joint_count; j++) {
        float y = (float)j / (float)joint_count, step = j ? 1.0f / (float)joint_count : 0;
        cutis_transform local = {{0, step, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        t.names[j][0] = (char)('a' + j);
        t.joints[j] = (cutis_joint){.name = t.names[j],
                                    .parent = j - 1,
                                    .rest = local,
                                    .idle = local,
                                    .inverse_bind = {1, 0, 0, 0, 0, 1, 0, -y, 0, 0, 1, 0}};
    }
    t.given = (cutis_character){.name = "bar",
                                .vertex_count = vertices,
                                .positions = t.positions,
                                .face_count = faces,
                                .face_first = t.face_first,
                                .corners = t.corners,
                                .influence_first = t.influence_first,
                                .influence_joints = t.influence_joints,
                                .influence_weights = t.influence_weights,
                                .joint_count = joint_count,
                                .joints = t.joints};
    return t;
}

/* Move a bar of two joints, before a character is made of it. */
static inline void bar_shift(bar *t, float x, float y)
{
    for (int v = 0; v < t->given.vertex_count; v++) {
        t->positions[3 * v] += x;
        t->positions[3 * v + 1] += y;
    }

    /* the root alone: the other joint follows */
    t->joints[0].rest.translation[0] = t->joints[0].idle.translation[0] = x;
    t->joints[0].rest.translation[1] = t->joints[0].idle.translation[1] = y;
    for (int j = 0; j < 2; j++) {
        t->joints[j].inverse_bind[3] -= x;
        t->joints[j].inverse_bind[7] -= y;
    }
}

static inline void bar_free(bar *t)
{
    free(t->positions), free(t->face_first), free(t->corners), free(t->influence_first);
    free(t->influence_joints), free(t->influence_weights), free(t->joints), free(t->names);
}

#endif
