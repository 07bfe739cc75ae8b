/*
 * slide_atlas.c: one chart per triangle, rigid transitions across edges, and straight ways through them.
 *
 * The paper lays a few rectangular charts over the body (Dong et al. 2006); see slide_atlas.h for why a chart per
 * triangle serves as well. Edges of three or more triangles, and edges whose two triangles disagree about the
 * outside, are treated as boundaries. Points whose triangles do not form one fan have no frame: nothing slides there.
 */
#include "solvers/slide/slide_atlas.h"

#include "solvers/slide/slide_material.h"

#include <string.h>

/* A triangle flatter than this (height over longest edge) is treated as a line. */
static const double flat_limit = 1e-5;
/* Edges that one walk may cross. A step is far shorter than an edge; this only ends walks through slivers. */
enum { CROSSING_LIMIT = 200 };

static int next3(int k) { return k == 2 ? 0 : k + 1; }

/* ---- build ---- */

static slide_chart make_chart(const double *a, const double *b, const double *c)
{
    slide_chart chart = {.across = {-1, -1, -1}};
    double d1[3], d2[3], dot = 0, l1 = 0, l2 = 0;
    for (int e = 0; e < 3; e++) {
        d1[e] = b[e] - a[e];
        d2[e] = c[e] - a[e];
        l1 += d1[e] * d1[e];
        l2 += d2[e] * d2[e];
        dot += d1[e] * d2[e];
    }

    /* normal and area, if it is more than a line */
    double longest = sqrt(slide_max(slide_max(l1, l2), l1 + l2 - 2 * dot));
    if (!(longest > 1e-12)) longest = 1e-12;
    double edge = sqrt(l1),
           n[3] = {d1[1] * d2[2] - d1[2] * d2[1], d1[2] * d2[0] - d1[0] * d2[2], d1[0] * d2[1] - d1[1] * d2[0]};
    double twice = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (twice > flat_limit * longest * longest) {
        chart.area = 0.5 * twice;
        for (int e = 0; e < 3; e++) chart.normal[e] = n[e] / twice;
    }

    /* corners in the plane, and back to weights */
    chart.edge = slide_max(edge, flat_limit * longest);
    chart.apex[0] = edge > 0 ? dot / edge : 0;
    chart.apex[1] = slide_max(edge > 0 ? twice / edge : sqrt(l2), flat_limit * longest);
    chart.inverse[0] = 1 / chart.edge;
    chart.inverse[1] = -chart.apex[0] / (chart.edge * chart.apex[1]);
    chart.inverse[2] = 0;
    chart.inverse[3] = 1 / chart.apex[1];

    /* directions of the edges */
    const double corners[3][2] = {{0, 0}, {chart.edge, 0}, {chart.apex[0], chart.apex[1]}};
    for (int k = 0; k < 3; k++) {
        const double *p = corners[next3(k)], *q = corners[next3(next3(k))];
        double x = q[0] - p[0], y = q[1] - p[1], length = sqrt(x * x + y * y);
        chart.along[k][0] = x / length;
        chart.along[k][1] = y / length;
    }

    return chart;
}

/* Join triangles across edges of two that run it in opposite directions. */
static void join_charts(const mesh *m, slide_chart *charts)
{
    for (int e = 0; e < m->edge_count; e++) {
        if (m->edge_triangle_counts[e] != 2) continue;

        /* the corner opposite the edge, and where the edge begins in each triangle */
        int corner[2], start[2];
        for (int i = 0; i < 2; i++) {
            int t = m->edge_triangles[2 * e + i];
            const int *p = m->triangles + 3 * t;
            corner[i] = -1;
            start[i] = -1;
            for (int k = 0; k < 3; k++) {
                if (p[k] != m->edges[2 * e] && p[k] != m->edges[2 * e + 1]) {
                    corner[i] = k;
                    start[i] = p[next3(k)];
                }
            }
        }

        if (corner[0] < 0 || corner[1] < 0 || start[0] == start[1]) continue;
        charts[m->edge_triangles[2 * e]].across[corner[0]] = 3 * m->edge_triangles[2 * e + 1] + corner[1];
        charts[m->edge_triangles[2 * e + 1]].across[corner[1]] = 3 * m->edge_triangles[2 * e] + corner[0];
    }
}

static int corner_of(const mesh *m, int triangle, int point)
{
    const int *p = m->triangles + 3 * triangle;
    return p[0] == point ? 0 : p[1] == point ? 1 : 2;
}

/* The direction from corner k to corner k + 1 of a chart, as an angle, and the chart's angle at k. */
static void corner_angles(const slide_chart *chart, int k, double *start, double *angle)
{
    const double *first = chart->along[next3(next3(k))], *last = chart->along[next3(k)];
    *start = det_atan2(first[1], first[0]);

    /* along[k + 1] runs from corner k + 2 to k. */
    *angle = det_atan2(-first[0] * last[1] + first[1] * last[0], -first[0] * last[0] - first[1] * last[1]);
}

/* The frame of one point: its fan in order, spread to a full turn when it is closed. */
static void make_fan(const mesh *m, const slide_chart *charts, int point, double (*turns)[3][2], uint8_t *boundary,
                     double tangent[2])
{
    int first = m->point_triangle_first[point], count = m->point_triangle_first[point + 1] - first;

    /* 2: no single fan, until one is found */
    boundary[point] = 2;
    if (count == 0) return;

    /* Back to the beginning of the fan: across the edge to corner k + 1, which is opposite k + 2. */
    int start = m->point_triangles[first];
    bool open = false;
    for (int i = 0; i < count; i++) {
        int across = charts[start].across[next3(next3(corner_of(m, start, point)))];
        if (across < 0) {
            open = true;
            break;
        }
        start = across / 3;
    }

    /* forth, to its end or all round */
    double total = 0;
    int t = start, seen = 0;
    while (seen < count) {
        double from, angle;
        corner_angles(&charts[t], corner_of(m, t, point), &from, &angle);
        total += angle;
        seen++;

        int across = charts[t].across[next3(corner_of(m, t, point))];
        if (across < 0) {
            open = true;
            break;
        }
        t = across / 3;
        if (t == start) break;
    }

    /* several fans meet at the point */
    if (seen < count) return;

    /* the turn of each triangle */
    boundary[point] = open;
    double spread = open || !(total > 0) ? 1 : 6.283185307179586 / total, reached = 0;
    t = start;
    for (int i = 0; i < count; i++) {
        int k = corner_of(m, t, point);
        double from, angle;
        corner_angles(&charts[t], k, &from, &angle);

        /* The middle of the triangle's angle points the same way in both frames. */
        double turn = from + 0.5 * angle - (reached + 0.5 * angle * spread);
        turns[t][k][0] = det_cos(turn);
        turns[t][k][1] = det_sin(turn);
        reached += angle * spread;

        int across = charts[t].across[next3(k)];
        if (across < 0) break;
        t = across / 3;
    }

    /* the tangent of the boundary */
    if (open) {
        double x = det_cos(0.5 * reached), y = det_sin(0.5 * reached);

        /* at right angles to the middle of the fan */
        tangent[0] = -y;
        tangent[1] = x;
    }
}

/* The edges of the triangles around a point, in its frame. */
static void make_wedges(const mesh *m, const slide_chart *charts, const double (*turns)[3][2], double (*wedges)[4])
{
    for (int i = 0; i < m->point_count; i++) {
        for (int n = m->point_triangle_first[i]; n < m->point_triangle_first[i + 1]; n++) {
            int t = m->point_triangles[n];
            int k = corner_of(m, t, i);
            const double *turn = turns[t][k];
            const double *e1 = charts[t].along[next3(next3(k))], *e2 = charts[t].along[next3(k)];
            wedges[n][0] = turn[0] * e1[0] + turn[1] * e1[1];
            wedges[n][1] = turn[0] * e1[1] - turn[1] * e1[0];
            wedges[n][2] = turn[0] * e2[0] + turn[1] * e2[1];
            wedges[n][3] = turn[0] * e2[1] - turn[1] * e2[0];
        }
    }
}

cutis_result slide_atlas_build(slide_atlas *atlas, const mesh *m, double unit, arena *memory, cutis_error *error)
{
    double *positions = ARENA_ARRAY(memory, double, 3 * (size_t)m->point_count + 1);
    double *normals = ARENA_ARRAY(memory, double, 3 * (size_t)m->point_count);
    slide_chart *charts = ARENA_ARRAY(memory, slide_chart, m->triangle_count);
    double(*turns)[3][2] = arena_push(memory, (size_t)m->triangle_count, sizeof *turns);
    double(*slopes)[4] = arena_push(memory, (size_t)m->triangle_count, sizeof *slopes);
    uint8_t *boundary = ARENA_ARRAY(memory, uint8_t, m->point_count);
    double(*tangents)[2] = arena_push(memory, (size_t)m->point_count, sizeof *tangents);
    double(*wedges)[4] = arena_push(memory, (size_t)m->point_triangle_first[m->point_count], sizeof *wedges);
    if (memory->failed) return error_memory(error, "charts");

    /* charts, and normals of points as the sum of their triangles' */
    for (int i = 0; i < 3 * m->point_count; i++) positions[i] = (double)m->positions[i] / unit;
    for (int t = 0; t < m->triangle_count; t++) {
        const int *p = m->triangles + 3 * t;
        charts[t] = make_chart(positions + 3 * p[0], positions + 3 * p[1], positions + 3 * p[2]);
        if (charts[t].area > 0) {
            const double *inverse = charts[t].inverse, own[4] = {inverse[0], inverse[1], inverse[3], charts[t].area};
            memcpy(slopes[t], own, sizeof own);
        }
        for (int k = 0; k < 3; k++) {
            turns[t][k][0] = 1;
            for (int e = 0; e < 3; e++) normals[3 * p[k] + e] += charts[t].area * charts[t].normal[e];
        }
    }

    for (int i = 0; i < m->point_count; i++) {
        double *n = normals + 3 * i, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int e = 0; e < 3 && length > 0; e++) n[e] /= length;
    }

    /* how charts and frames of points hang together */
    join_charts(m, charts);
    for (int i = 0; i < m->point_count; i++) make_fan(m, charts, i, turns, boundary, tangents[i]);
    make_wedges(m, charts, (const double(*)[3][2])turns, wedges);

    /* the rounded surface needs all the rest */
    *atlas = (slide_atlas){.mesh = m,
                           .positions = positions,
                           .normals = normals,
                           .charts = charts,
                           .slopes = (const double(*)[4])slopes,
                           .turns = (const double(*)[3][2])turns,
                           .wedges = (const double(*)[4])wedges,
                           .boundary = boundary,
                           .tangents = (const double(*)[2])tangents};
    return slide_patches_build(atlas, memory, error);
}

/* ---- places ---- */

slide_place slide_place_of_corner(int triangle, int corner)
{
    return (slide_place){.triangle = triangle, .b = {corner == 1, corner == 2}};
}

void slide_place_position(const slide_atlas *atlas, const slide_place *place, double position[3])
{
    const int *p = atlas->mesh->triangles + 3 * place->triangle;
    const double *x0 = atlas->positions + 3 * p[0], *x1 = atlas->positions + 3 * p[1],
                 *x2 = atlas->positions + 3 * p[2];
    for (int e = 0; e < 3; e++) position[e] = x0[e] + place->b[0] * (x1[e] - x0[e]) + place->b[1] * (x2[e] - x0[e]);
}

void slide_place_normal(const slide_atlas *atlas, const slide_place *place, double normal[3])
{
    const int *p = atlas->mesh->triangles + 3 * place->triangle;
    const double *n0 = atlas->normals + 3 * p[0], *n1 = atlas->normals + 3 * p[1], *n2 = atlas->normals + 3 * p[2];
    double w1 = place->b[0], w2 = place->b[1], w0 = 1 - w1 - w2;
    for (int e = 0; e < 3; e++) normal[e] = w0 * n0[e] + w1 * n1[e] + w2 * n2[e];
}

void slide_place_posed(const slide_atlas *atlas, const slide_place *place, const float *points, double position[3])
{
    const int *p = atlas->mesh->triangles + 3 * place->triangle;
    const float *x0 = points + 3 * p[0], *x1 = points + 3 * p[1], *x2 = points + 3 * p[2];
    for (int e = 0; e < 3; e++) {
        double a = (double)x0[e];
        position[e] = a + place->b[0] * ((double)x1[e] - a) + place->b[1] * ((double)x2[e] - a);
    }
}

void slide_flatten(const slide_atlas *atlas, int triangle, const double vector[3], double flat[2])
{
    const slide_chart *chart = &atlas->charts[triangle];
    const int *p = atlas->mesh->triangles + 3 * triangle;
    const double *x0 = atlas->positions + 3 * p[0], *x1 = atlas->positions + 3 * p[1],
                 *x2 = atlas->positions + 3 * p[2];
    double on1 = 0, on2 = 0, length = 0;
    for (int e = 0; e < 3; e++) {
        on1 += vector[e] * (x1[e] - x0[e]);
        on2 += vector[e] * (x2[e] - x0[e]);
        length += vector[e] * vector[e];
    }

    /* in the plane of the triangle */
    flat[0] = on1 * chart->inverse[0];
    flat[1] = chart->area > 0 ? (on2 - chart->apex[0] * flat[0]) * chart->inverse[3] : 0;

    /* with the length that it had in space */
    double got = flat[0] * flat[0] + flat[1] * flat[1];
    if (got > 1e-6 * length) {
        double scale = sqrt(length / got);
        flat[0] *= scale;
        flat[1] *= scale;
    }
}

/* ---- ways ---- */

void slide_turn_across(const double from[2], const double to[2], double v[2])
{
    /* The edge runs the other way round in the neighbour: along turns its sign, outwards becomes inwards. */
    double along = v[0] * from[0] + v[1] * from[1], out = v[0] * from[1] - v[1] * from[0];
    v[0] = -along * to[0] - out * to[1];
    v[1] = -along * to[1] + out * to[0];
}

void slide_walk(const slide_atlas *atlas, slide_place *place, double way[2], double carried[2], const uint8_t *stops)
{
    double w[3] = {1 - place->b[0] - place->b[1], place->b[0], place->b[1]};
    int t = place->triangle;

    /* most ways end in the triangle in which they begin */
    double rates[2];
    slide_chart_rates(atlas, t, way, rates);
    double b1 = place->b[0] + rates[0];
    double b2 = place->b[1] + rates[1];
    if (b1 >= 0 && b2 >= 0 && b1 + b2 <= 1) {
        *place = (slide_place){.triangle = t, .b = {b1, b2}};
        way[0] = 0;
        way[1] = 0;
        return;
    }

    for (int crossing = 0; crossing < CROSSING_LIMIT; crossing++) {
        const slide_chart *chart = &atlas->charts[t];
        double rate[3];

        slide_chart_rates(atlas, t, way, rate + 1);
        rate[0] = -rate[1] - rate[2];

        /* up to the first edge on the way */
        double reach = 1;
        int exit = -1;
        for (int k = 0; k < 3; k++) {
            /* A corner's weight that has run out may not fall; tiny rates are rounding along an edge. */
            if (rate[k] < 0 && w[k] + reach * rate[k] < -1e-14) {
                reach = w[k] > 0 ? w[k] / -rate[k] : 0;
                exit = k;
            }
        }

        for (int k = 0; k < 3; k++) w[k] = slide_max(w[k] + reach * rate[k], 0);
        way[0] *= 1 - reach;
        way[1] *= 1 - reach;

        if (exit < 0) break;
        w[exit] = 0;
        if (stops && stops[t] >> exit & 1) break;

        /* at an open edge, go on along it */
        const double *edge = chart->along[exit];
        if (chart->across[exit] < 0) {
            double along = way[0] * edge[0] + way[1] * edge[1];
            way[0] = along * edge[0];
            way[1] = along * edge[1];

            /* At the end of the edge, too: nowhere to go on in this chart but around the corner. */
            int corner = along > 0 ? next3(next3(exit)) : next3(exit), other = 3 - exit - corner;
            if (w[other] <= 1e-14) {
                if (chart->across[other] < 0) break;
                exit = other;
                edge = chart->along[exit];
            } else {
                continue;
            }
        }

        /* go on in the neighbour's chart */
        int across = chart->across[exit], next = across / 3, corner = across % 3;
        const double *to = atlas->charts[next].along[corner];
        double v[3];
        v[corner] = 0;
        v[next3(next3(corner))] = w[next3(exit)];
        v[next3(corner)] = w[next3(next3(exit))];
        memcpy(w, v, sizeof w);

        slide_turn_across(edge, to, way);
        if (carried) slide_turn_across(edge, to, carried);
        t = next;
    }

    /* the weights sum to one again */
    double scale = 1 / (w[0] + w[1] + w[2]);
    *place = (slide_place){.triangle = t, .b = {w[1] * scale, w[2] * scale}};
}

slide_place slide_walk_from_point(const slide_atlas *atlas, int point, const double way[2], double carried[2])
{
    const mesh *m = atlas->mesh;
    int first = m->point_triangle_first[point];
    int last = m->point_triangle_first[point + 1];

    /* the triangle that the way lies inside of most: inwards of an edge is to its left */
    int best = first;
    double best_inside = -HUGE_VAL;
    for (int i = first; i < last; i++) {
        const double *e = atlas->wedges[i];
        double inside = slide_min(e[0] * way[1] - e[1] * way[0], e[2] * way[1] - e[3] * way[0]);
        best = inside > best_inside ? i : best;
        best_inside = slide_max(inside, best_inside);
    }

    /* place, way and carried vector in the chart of that triangle */
    best = m->point_triangles[best];
    int best_corner = corner_of(m, best, point);
    slide_place place = slide_place_of_corner(best, best_corner);
    const double *turn = atlas->turns[best][best_corner];
    double c[2] = {turn[0] * carried[0] - turn[1] * carried[1], turn[1] * carried[0] + turn[0] * carried[1]};
    double best_way[2] = {turn[0] * way[0] - turn[1] * way[1], turn[1] * way[0] + turn[0] * way[1]};

    if (best_inside < 0) {
        /* Between two fans' edges, or off the boundary: along the nearer edge. */
        const slide_chart *chart = &atlas->charts[best];
        const double *e1 = chart->along[next3(next3(best_corner))], *e2 = chart->along[next3(best_corner)];
        double a1 = slide_max(best_way[0] * e1[0] + best_way[1] * e1[1], 0);
        double a2 = slide_max(-best_way[0] * e2[0] - best_way[1] * e2[1], 0);
        for (int e = 0; e < 2; e++) best_way[e] = a1 >= a2 ? a1 * e1[e] : -a2 * e2[e];
    }

    /* across as many triangles as it takes */
    slide_walk(atlas, &place, best_way, c, NULL);
    carried[0] = c[0];
    carried[1] = c[1];
    return place;
}
