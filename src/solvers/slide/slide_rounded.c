/*
 * slide_rounded.c: the rounded surface that skin slides on, and moves across it.
 *
 * On the flat triangles of a mesh the energy of the skin would have a kink at every edge and every vertex, and rest in
 * kinks; so positions between the vertices are those of a surface with a tangent plane everywhere: the cubic
 * macro-element of Clough and Tocher (1965) on every chart, in the Bezier form of Farin (1986). It takes the derivative
 * at a vertex, in the frame of the vertex, as the mean over the triangles around, and the derivative across an edge as
 * the mean of both sides; where the angles around a vertex do not sum up to a full turn, a small break is left near it.
 */
#include <string.h>

#include "solvers/slide/slide_atlas.h"
#include "solvers/slide/slide_material.h"

static int next3(int k) { return k == 2 ? 0 : k + 1; }

/*
 * Control points of a triangle. CORNER + i: at corner i. EDGE + 2 i: on the edge from i to i + 1, EDGE + 2 i + 1: on
 * that from i to i + 2. RING + i: from i towards the middle, MIDDLE + i: inside of the edge opposite i; INNER + i: from
 * the middle towards i; CENTRE.
 */
enum { CORNER = 0, EDGE = 3, RING = 9, MIDDLE = 12, INNER = 15, CENTRE = 18, CONTROL_COUNT = 19 };
enum { CONTROL_SIZE = 3 * CONTROL_COUNT };

/* ---- build ---- */

static const double *corner_chart(const slide_chart *chart, int k, double place[2])
{
    place[0] = k == 0 ? 0 : k == 1 ? chart->edge : chart->apex[0];
    place[1] = k == 2 ? chart->apex[1] : 0;
    return place;
}

/* The mean derivative of rest positions at a point, in its frame (3 x 2); false when there is none. */
static bool point_derivative(const slide_atlas *atlas, int point, double mean[6])
{
    const mesh *m = atlas->mesh;
    double area = 0;
    memset(mean, 0, 6 * sizeof *mean);
    if (atlas->boundary[point] == 2) return false;

    for (int n = m->point_triangle_first[point]; n < m->point_triangle_first[point + 1]; n++) {
        int t = m->point_triangles[n];
        const int *c = m->triangles + 3 * t;
        int own = c[0] == point ? 0 : c[1] == point ? 1 : 2;

        /* the triangle's own, turned into the point's frame */
        const double *slopes = atlas->slopes[t], *turn = atlas->turns[t][own];
        const double *x0 = atlas->positions + 3 * c[0], *x1 = atlas->positions + 3 * c[1];
        const double *x2 = atlas->positions + 3 * c[2];
        for (int e = 0; e < 3; e++) {
            double x = slopes[0] * (x1[e] - x0[e]);
            double y = slopes[1] * (x1[e] - x0[e]) + slopes[2] * (x2[e] - x0[e]);
            mean[2 * e] += slopes[3] * (x * turn[0] + y * turn[1]);
            mean[2 * e + 1] += slopes[3] * (y * turn[0] - x * turn[1]);
        }

        area += slopes[3];
    }

    for (int e = 0; e < 6; e++) mean[e] = area > 0 ? mean[e] / area : 0;
    return area > 0;
}

/* Control points at the corners and on the edges, by the derivatives at the points. */
static void edge_controls(const slide_atlas *atlas, int triangle, const double (*derivatives)[6], double *patch)
{
    const slide_chart *chart = &atlas->charts[triangle];
    const int *c = atlas->mesh->triangles + 3 * triangle;

    for (int i = 0; i < 3; i++) {
        const double *own = atlas->positions + 3 * c[i];
        memcpy(patch + 3 * (CORNER + i), own, 3 * sizeof *own);
        for (int side = 0; side < 2; side++) {
            int j = side == 0 ? next3(i) : next3(next3(i));
            const double *other = atlas->positions + 3 * c[j], *d = derivatives[c[i]];
            const double *turn = atlas->turns[triangle][i];

            /* the edge in the point's frame */
            double from[2], to[2];
            corner_chart(chart, i, from);
            corner_chart(chart, j, to);
            double x = to[0] - from[0], y = to[1] - from[1];
            double u = turn[0] * x + turn[1] * y, v = turn[0] * y - turn[1] * x;

            /* a third of the way, along the derivative */
            double *control = patch + 3 * (EDGE + 2 * i + side);
            for (int e = 0; e < 3; e++) {
                double way = d[2 * e] * u + d[2 * e + 1] * v;
                if (atlas->boundary[c[i]] == 2 || !(chart->area > 0)) way = other[e] - own[e];
                control[e] = own[e] + way / 3;
            }
        }
    }
}

/* Edges of two triangles take the mean of both. */
static void share_edges(const slide_atlas *atlas, double (*patches)[CONTROL_SIZE])
{
    for (int t = 0; t < atlas->mesh->triangle_count; t++) {
        for (int k = 0; k < 3; k++) {
            int across = atlas->charts[t].across[k];
            if (across < 0 || across / 3 < t) continue;
            int other = across / 3, l = across % 3;

            /* corner k + 1 here is l + 2 there */
            double *pairs[2][2] = {
                {patches[t] + 3 * (EDGE + 2 * next3(k)), patches[other] + 3 * (EDGE + 2 * next3(next3(l)) + 1)},
                {patches[t] + 3 * (EDGE + 2 * next3(next3(k)) + 1), patches[other] + 3 * (EDGE + 2 * next3(l))}};
            for (int p = 0; p < 2; p++) {
                for (int e = 0; e < 3; e++) {
                    double mean = 0.5 * (pairs[p][0][e] + pairs[p][1][e]);
                    pairs[p][0][e] = mean;
                    pairs[p][1][e] = mean;
                }
            }
        }
    }
}

/* The inner normal of the edge opposite corner k, as shares of its two ends and the middle. */
static void normal_shares(const slide_chart *chart, int k, double shares[3])
{
    int i = next3(k), j = next3(i);
    double from[2], to[2], apex[2];

    corner_chart(chart, i, from);
    corner_chart(chart, j, to);
    corner_chart(chart, k, apex);
    const double *along = chart->along[k];
    double length = (to[0] - from[0]) * along[0] + (to[1] - from[1]) * along[1];
    double foot = (apex[0] - from[0]) * along[0] + (apex[1] - from[1]) * along[1];
    double height = along[0] * (apex[1] - from[1]) - along[1] * (apex[0] - from[0]);

    /* the middle is at a third of the height; its foot divides the edge */
    double middle = (length + foot) / 3;
    shares[2] = 3 / height;
    shares[1] = -shares[2] * middle / length;
    shares[0] = -shares[2] - shares[1];
}

/* A third of the derivative along the inner normal at the ends of the edge opposite k, for one coordinate. */
static void normal_ends(const double *patch, int k, const double shares[3], int e, double ends[2])
{
    int i = next3(k), j = next3(i);
    const double *f_i = patch + 3 * (CORNER + i), *f_j = patch + 3 * (CORNER + j);
    const double *e_ij = patch + 3 * (EDGE + 2 * i), *e_ji = patch + 3 * (EDGE + 2 * j + 1);
    const double *a_i = patch + 3 * (RING + i), *a_j = patch + 3 * (RING + j);
    ends[0] = shares[0] * f_i[e] + shares[1] * e_ij[e] + shares[2] * a_i[e];
    ends[1] = shares[0] * e_ji[e] + shares[1] * f_j[e] + shares[2] * a_j[e];
}

/* The control point inside of an edge, by the derivative across it, of which the other side has the opposite. */
static void middle_control(const slide_atlas *atlas, int t, int k, double (*patches)[CONTROL_SIZE])
{
    int across = atlas->charts[t].across[k];
    int i = next3(k), j = next3(i);
    double shares[3], other_shares[3];
    double *patch = patches[t];

    normal_shares(&atlas->charts[t], k, shares);
    bool joined = across >= 0 && atlas->charts[across / 3].area > 0;
    if (joined) normal_shares(&atlas->charts[across / 3], across % 3, other_shares);

    for (int e = 0; e < 3; e++) {
        double ends[2], others[2];
        normal_ends(patch, k, shares, e, ends);
        double half = 0.5 * (ends[0] + ends[1]);
        double goal = half;

        /* the mean of both sides, whose normals are opposite */
        if (joined) {
            normal_ends(patches[across / 3], across % 3, other_shares, e, others);
            goal = 0.5 * (half - 0.5 * (others[0] + others[1]));
        }

        /* the middle control that gives this derivative at the edge's midpoint */
        double own = 2 * goal - half;
        double edge = shares[0] * patch[3 * (EDGE + 2 * i) + e] + shares[1] * patch[3 * (EDGE + 2 * j + 1) + e];
        patch[3 * (MIDDLE + k) + e] = (own - edge) / shares[2];
    }
}

static void mean_control(double *patch, int to, int a, int b, int c)
{
    for (int e = 0; e < 3; e++) patch[3 * to + e] = (patch[3 * a + e] + patch[3 * b + e] + patch[3 * c + e]) / 3;
}

/* Control points of the flat triangle, which has the same corners. */
static void flat_controls(const double corners[9], double flat[CONTROL_SIZE])
{
    memcpy(flat, corners, 9 * sizeof *flat);
    mean_control(flat, CENTRE, CORNER, CORNER + 1, CORNER + 2);
    for (int i = 0; i < 3; i++) {
        int j = next3(i), k = next3(j);
        mean_control(flat, EDGE + 2 * i, i, i, j);
        mean_control(flat, EDGE + 2 * i + 1, i, i, k);
        mean_control(flat, RING + i, i, i, CENTRE);
        mean_control(flat, MIDDLE + i, j, k, CENTRE);
        mean_control(flat, INNER + i, i, CENTRE, CENTRE);
    }
}

cutis_result slide_patches_build(slide_atlas *atlas, arena *memory, cutis_error *error)
{
    const mesh *m = atlas->mesh;
    float(*offsets)[SLIDE_PATCH_SIZE] = arena_push(memory, (size_t)m->triangle_count, sizeof *offsets);
    double(*patches)[CONTROL_SIZE] = arena_push(memory, (size_t)m->triangle_count, sizeof *patches);
    double(*derivatives)[6] = arena_push(memory, (size_t)m->point_count, sizeof *derivatives);
    if (memory->failed) return error_memory(error, "charts");

    /* derivatives at the points */
    for (int i = 0; i < m->point_count; i++) point_derivative(atlas, i, derivatives[i]);

    for (int t = 0; t < m->triangle_count; t++) edge_controls(atlas, t, (const double(*)[6])derivatives, patches[t]);
    share_edges(atlas, patches);

    for (int t = 0; t < m->triangle_count; t++)
        for (int i = 0; i < 3; i++) mean_control(patches[t], RING + i, CORNER + i, EDGE + 2 * i, EDGE + 2 * i + 1);

    for (int t = 0; t < m->triangle_count; t++) {
        double *patch = patches[t];
        for (int k = 0; k < 3; k++) {
            int i = next3(k), j = next3(i);
            if (atlas->charts[t].area > 0)
                middle_control(atlas, t, k, patches);
            else
                mean_control(patch, MIDDLE + k, RING + i, RING + j, RING + k);
        }

        for (int i = 0; i < 3; i++)
            mean_control(patch, INNER + i, RING + i, MIDDLE + next3(i), MIDDLE + next3(next3(i)));
        mean_control(patch, CENTRE, INNER, INNER + 1, INNER + 2);
    }

    /* floats are enough for what is added to the flat triangle, and fit into a cache */
    for (int t = 0; t < m->triangle_count; t++) {
        double flat[CONTROL_SIZE];
        flat_controls(patches[t], flat);
        for (int e = 3 * EDGE; e < CONTROL_SIZE; e++) offsets[t][e - 3 * EDGE] = (float)(patches[t][e] - flat[e]);
    }

    atlas->patches = (const float(*)[SLIDE_PATCH_SIZE])offsets;
    return CUTIS_OK;
}

/* ---- places ---- */

/* What the rounded surface adds to a control point of the flat triangle; nothing at corners. */
static inline d4 control(const float *patch, int index) { return d4_load_floats(patch + 3 * (index - EDGE)); }

slide_spot slide_place_rounded(const slide_atlas *atlas, const slide_place *place)
{
    const float *patch = atlas->patches[place->triangle];
    const int *c = atlas->mesh->triangles + 3 * place->triangle;
    const double w[3] = {1 - place->b[0] - place->b[1], place->b[0], place->b[1]};

    /* the third of the triangle: that at the edge opposite k */
    int k = w[0] <= w[1] && w[0] <= w[2] ? 0 : w[1] <= w[2] ? 1 : 2;
    int i = next3(k), j = next3(i);
    double u = w[i] - w[k], v = w[j] - w[k], s = 3 * w[k];

    /* de Casteljau, down to a triangle */
    d4 centre = control(patch, CENTRE);
    d4 e_ij = control(patch, EDGE + 2 * i), e_ji = control(patch, EDGE + 2 * j + 1);
    d4 a_i = control(patch, RING + i), a_j = control(patch, RING + j), middle = control(patch, MIDDLE + k);
    d4 b_i = control(patch, INNER + i), b_j = control(patch, INNER + j);
    d4 p200 = v * e_ij + s * a_i, p110 = u * e_ij + v * e_ji + s * middle;
    d4 p020 = u * e_ji + s * a_j, p101 = u * a_i + v * middle + s * b_i;
    d4 p011 = u * middle + v * a_j + s * b_j, p002 = u * b_i + v * b_j + s * centre;
    d4 q_i = u * p200 + v * p110 + s * p101, q_j = u * p110 + v * p020 + s * p011;
    d4 q_s = u * p101 + v * p011 + s * p002;

    d4 x0 = d4_load(atlas->positions + 3 * c[0]), x1 = d4_load(atlas->positions + 3 * c[1]);
    d4 x2 = d4_load(atlas->positions + 3 * c[2]);
    d4 position = w[0] * x0 + w[1] * x1 + w[2] * x2 + (u * q_i + v * q_j + s * q_s);

    /* derivatives by the chart: rates of the three weights along its axes */
    double along[3], across[3];
    slide_chart_rates(atlas, place->triangle, (const double[2]){1, 0}, along + 1);
    slide_chart_rates(atlas, place->triangle, (const double[2]){0, 1}, across + 1);
    along[0] = -along[1];
    across[0] = -across[1] - across[2];
    d4 x = along[1] * (x1 - x0), y = across[1] * (x1 - x0) + across[2] * (x2 - x0);
    x += 3 * ((along[i] - along[k]) * q_i + (along[j] - along[k]) * q_j + 3 * along[k] * q_s);
    y += 3 * ((across[i] - across[k]) * q_i + (across[j] - across[k]) * q_j + 3 * across[k] * q_s);

    slide_spot r;
    for (int e = 0; e < 3; e++) {
        r.position[e] = position[e];
        r.tangents[0][e] = x[e];
        r.tangents[1][e] = y[e];
    }

    return r;
}

void slide_spot_normal(const slide_spot *spot, double normal[3])
{
    double length = sqrt(slide_spot_cross(spot, normal));
    double scale = length > 0 ? 1 / length : 0;
    for (int e = 0; e < 3; e++) normal[e] *= scale;
}

/* The way in the chart that comes nearest to a way in space; its square in space is returned. */
static double way_in_chart(const slide_spot *r, const double way[3], double flat[2])
{
    double xx = 0, xy = 0, yy = 0, x = 0, y = 0;

    /* normal equations of the least squares fit */
    for (int e = 0; e < 3; e++) {
        double a = r->tangents[0][e], b = r->tangents[1][e];
        xx += a * a;
        xy += a * b;
        yy += b * b;
        x += a * way[e];
        y += b * way[e];
    }

    double det = xx * yy - xy * xy;
    bool fine = det > 1e-6 * xx * yy;
    flat[0] = fine ? (yy * x - xy * y) / det : 0;
    flat[1] = fine ? (xx * y - xy * x) / det : 0;
    return flat[0] * x + flat[1] * y;
}

/* The triangle of a corner's fan into which a way in space leads, and the place in it. */
static void place_turn_to(const slide_atlas *atlas, slide_place *place, int point, const double way[3],
                          slide_spot *spot)
{
    const mesh *m = atlas->mesh;
    double best = -HUGE_VAL;

    for (int i = m->point_triangle_first[point]; i < m->point_triangle_first[point + 1] && best < 0; i++) {
        int t = m->point_triangles[i];
        const int *c = m->triangles + 3 * t;
        int k = c[0] == point ? 0 : c[1] == point ? 1 : 2;
        slide_place own = slide_place_of_corner(t, k);
        slide_spot r = slide_place_rounded(atlas, &own);
        double flat[2];
        if (!(atlas->charts[t].area > 0 && way_in_chart(&r, way, flat) > 0)) continue;

        /* how far the way lies inside of the two edges at the corner */
        const slide_chart *chart = &atlas->charts[t];
        const double *e1 = chart->along[next3(next3(k))], *e2 = chart->along[next3(k)];
        double length = sqrt(flat[0] * flat[0] + flat[1] * flat[1]);
        double inside = slide_min(e1[0] * flat[1] - e1[1] * flat[0], e2[0] * flat[1] - e2[1] * flat[0]) / length;
        if (!(inside > best)) continue;

        best = inside;
        *place = own;
        *spot = r;
    }
}

void slide_place_move(const slide_atlas *atlas, slide_place *place, const double way[3], slide_spot *spot)
{
    enum { TRIES = 3 };
    double length = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];

    /* from a corner, begin in the triangle that the way leads into */
    const double w[3] = {1 - place->b[0] - place->b[1], place->b[0], place->b[1]};
    int k = w[0] >= w[1] && w[0] >= w[2] ? 0 : w[1] >= w[2] ? 1 : 2;
    if (w[k] > 1 - 1e-9 && length > 0)
        place_turn_to(atlas, place, atlas->mesh->triangles[3 * place->triangle + k], way, spot);

    /* straight, and again for what the bend of the surface leaves */
    double goal[3], left[3];
    for (int e = 0; e < 3; e++) goal[e] = spot->position[e] + way[e];

    for (int i = 0; i < TRIES; i++) {
        for (int e = 0; e < 3; e++) left[e] = goal[e] - spot->position[e];
        if (!(left[0] * left[0] + left[1] * left[1] + left[2] * left[2] > 1e-4 * length)) break;
        double flat[2];
        double square = way_in_chart(spot, left, flat);
        if (!(square > 1e-4 * length)) break;

        slide_walk(atlas, place, flat, NULL, NULL);
        *spot = slide_place_rounded(atlas, place);
    }
}
