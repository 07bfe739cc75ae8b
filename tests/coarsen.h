/*
 * coarsen.h: a character with fewer points, for tests that need one of a given size: edges are collapsed into one of
 * their ends, the shortest first, as long as the surface stays a surface and no triangle turns over.
 */
#ifndef TESTS_COARSEN_H
#define TESTS_COARSEN_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cutis/character.h"

typedef struct coarse_mesh {
    const cutis_character *character;
    int triangle_count;
    int (*triangles)[3]; /* points */
} coarse_mesh;

static inline const float *coarse_position(const coarse_mesh *m, int point)
{
    return m->character->positions + 3 * m->character->point_vertices[point];
}

static inline double coarse_distance(const coarse_mesh *m, int a, int b)
{
    const float *p = coarse_position(m, a), *q = coarse_position(m, b);
    double sum = 0;
    for (int e = 0; e < 3; e++) sum += ((double)p[e] - (double)q[e]) * ((double)p[e] - (double)q[e]);
    return sqrt(sum);
}

static inline void coarse_normal(const coarse_mesh *m, const int t[3], double n[3])
{
    double d[2][3];
    for (int e = 0; e < 3; e++) {
        d[0][e] = (double)coarse_position(m, t[1])[e] - (double)coarse_position(m, t[0])[e];
        d[1][e] = (double)coarse_position(m, t[2])[e] - (double)coarse_position(m, t[0])[e];
    }
    for (int e = 0; e < 3; e++) {
        int f = (e + 1) % 3, g = (e + 2) % 3;
        n[e] = d[0][f] * d[1][g] - d[0][g] * d[1][f];
    }
}

/* Whether point b may be put into a: two triangles share the edge, no other point is next to both, none turns over. */
static inline bool coarse_may_collapse(const coarse_mesh *m, int a, int b)
{
    int shared = 0, common = 0, ring[2][64], counts[2] = {0, 0}, edges_of_b = 0, triangles_of_b = 0;
    for (int t = 0; t < m->triangle_count; t++) {
        const int *p = m->triangles[t];
        bool has[2] = {p[0] == a || p[1] == a || p[2] == a, p[0] == b || p[1] == b || p[2] == b};
        shared += has[0] && has[1];
        triangles_of_b += has[1];
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < 3 && has[side]; k++) {
                bool known = p[k] == a || p[k] == b;
                for (int i = 0; i < counts[side]; i++) known |= ring[side][i] == p[k];
                if (!known && counts[side] < 64) ring[side][counts[side]++] = p[k];
            }
        }
        if (!has[1] || has[0]) continue;
        int moved[3];
        double before[3], after[3], dot = 0, sizes[2] = {0, 0};
        for (int k = 0; k < 3; k++) moved[k] = p[k] == b ? a : p[k];
        coarse_normal(m, p, before);
        coarse_normal(m, moved, after);
        for (int e = 0; e < 3; e++)
            dot += before[e] * after[e], sizes[0] += before[e] * before[e], sizes[1] += after[e] * after[e];
        if (!(dot > 0.3 * sqrt(sizes[0] * sizes[1])) || sizes[1] < 1e-2 * sizes[0]) return false;
    }
    for (int i = 0; i < counts[0]; i++)
        for (int j = 0; j < counts[1]; j++) common += ring[0][i] == ring[1][j];
    edges_of_b = counts[1] + 1;
    /* b lies inside: as many edges as triangles. */
    return shared == 2 && common == 2 && edges_of_b == triangles_of_b;
}

/* A copy with at most point_count points, or as few as can be had; texture coordinates are laid on flat. */
static inline cutis_character *coarsen(const cutis_character *c, int point_count)
{
    coarse_mesh m = {c, c->point_triangle_count, malloc((size_t)c->point_triangle_count * sizeof(int[3]))};
    memcpy(m.triangles, c->point_triangles, (size_t)c->point_triangle_count * sizeof(int[3]));
    int left = c->point_count;
    double floor = 0;
    while (left > point_count) {
        /* The shortest edge that may go; those found fast in the way are passed by raising the floor. */
        double best = HUGE_VAL;
        int from = -1, to = -1;
        for (int t = 0; t < m.triangle_count; t++) {
            for (int k = 0; k < 3; k++) {
                int a = m.triangles[t][k], b = m.triangles[t][(k + 1) % 3];
                double length = coarse_distance(&m, a, b);
                if (length > floor && length < best) best = length, to = a, from = b;
            }
        }
        if (from < 0) break;
        bool forth = coarse_may_collapse(&m, to, from);
        if (!forth && !coarse_may_collapse(&m, from, to)) {
            floor = best;
            continue;
        }
        if (!forth) {
            int swap = from;
            from = to, to = swap;
        }
        int kept = 0;
        for (int t = 0; t < m.triangle_count; t++) {
            int p[3];
            for (int k = 0; k < 3; k++) p[k] = m.triangles[t][k] == from ? to : m.triangles[t][k];
            if (p[0] == p[1] || p[1] == p[2] || p[2] == p[0]) continue;
            memcpy(m.triangles[kept++], p, sizeof p);
        }
        m.triangle_count = kept;
        left--;
        floor *= 0.5; /* what was fast may have come loose */
    }

    int *index = malloc((size_t)c->point_count * sizeof *index), vertices = 0, influences = 0;
    for (int p = 0; p < c->point_count; p++) index[p] = -1;
    for (int t = 0; t < m.triangle_count; t++)
        for (int k = 0; k < 3; k++) index[m.triangles[t][k]] = 0;
    float *positions = malloc((size_t)c->point_count * 3 * sizeof *positions);
    int *first = calloc((size_t)c->point_count + 1, sizeof *first);
    int all = c->influence_first ? c->influence_first[c->vertex_count] : 0;
    int *joints = malloc(((size_t)all + 1) * sizeof *joints);
    float *weights = malloc(((size_t)all + 1) * sizeof *weights);
    for (int p = 0; p < c->point_count; p++) {
        if (index[p] < 0) continue;
        int v = c->point_vertices[p];
        index[p] = vertices;
        memcpy(positions + 3 * vertices, c->positions + 3 * v, 3 * sizeof *positions);
        for (int i = all ? c->influence_first[v] : 0; i < (all ? c->influence_first[v + 1] : 0); i++)
            joints[influences] = c->influence_joints[i], weights[influences++] = c->influence_weights[i];
        first[++vertices] = influences;
    }
    int *corners = malloc((size_t)m.triangle_count * 3 * sizeof *corners);
    int *face_first = malloc(((size_t)m.triangle_count + 1) * sizeof *face_first);
    float *texcoords = malloc((size_t)m.triangle_count * 6 * sizeof *texcoords);
    for (int i = 0; i < 3 * m.triangle_count; i++) {
        corners[i] = index[m.triangles[i / 3][i % 3]];
        for (int e = 0; e < 2; e++) texcoords[2 * i + e] = positions[3 * corners[i] + e] / c->size;
    }
    for (int f = 0; f <= m.triangle_count; f++) face_first[f] = 3 * f;
    cutis_character given = {.name = c->name,
                             .vertex_count = vertices,
                             .positions = positions,
                             .face_count = m.triangle_count,
                             .face_first = face_first,
                             .corners = corners,
                             .texcoords = texcoords,
                             .influence_first = all ? first : NULL,
                             .influence_joints = joints,
                             .influence_weights = weights,
                             .joint_count = c->joint_count,
                             .joints = c->joints,
                             .clip_count = c->clip_count,
                             .clips = c->clips};
    cutis_character *coarse = NULL;
    cutis_character_create(&given, NULL, &coarse, NULL);
    free(m.triangles), free(index), free(positions), free(first), free(joints), free(weights);
    free(corners), free(face_first), free(texcoords);
    return coarse;
}

#endif
