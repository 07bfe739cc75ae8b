/*
 * slide_advection.c: the skin is left behind by the body, and carried along with its own motion.
 *
 * Li, Sueda, Neog, Pai 2013, sections 3.5 and 3.6; the departures are told in slide.c.
 */
#include <string.h>

#include "solvers/slide/slide.h"

enum { GRAIN = 256 };

/* A point may move by this part of the least height of its triangles in one step: two such moves do not meet. */
static const double altitude_part = 0.3;
/* ... but always by this part of its mean edge, so that a sliver does not hold the skin fast for ever. */
static const double edge_part = 0.01;
/* The body may slip under a point by so many edges a step; more is a leap, not a motion, and would fold the skin. */
static const double slip_edges = 0.5;

typedef struct advection {
    const slide_model *model;
    slide_scratch *s;
    const slide_place *places;
    const double *v; /* NULL: the body slips, and velocities stay */
} advection;

/* ---- coupling ---- */

/* moves = how far the skin is left behind by the body's displacement, in the frames of points. */
static void slip_points(void *context, int begin, int end)
{
    const advection *p = context;
    const slide_model *model = p->model;
    for (int i = begin; i < end; i++) {
        const double *g = p->s->gammas[i], *q = model->allowed[i];
        double xx = 0, xy = 0, yy = 0, r0 = 0, r1 = 0;
        for (int e = 0; e < 3; e++) {
            double d = p->s->x[3 * i + e] - (double)p->s->old_surface[3 * i + e] / model->unit;
            xx += g[2 * e] * g[2 * e];
            xy += g[2 * e] * g[2 * e + 1];
            yy += g[2 * e + 1] * g[2 * e + 1];
            r0 += g[2 * e] * d;
            r1 += g[2 * e + 1] * d;
        }

        /* the displacement of the body in the frame of the point */
        double det = xx * yy - xy * xy, u = 0, v = 0;
        if (det > 1e-8 * (xx + yy) * (xx + yy)) {
            u = (yy * r0 - xy * r1) / det;
            v = (xx * r1 - xy * r0) / det;
        }

        /* what the skin does not follow, at most half an edge */
        double length = sqrt(xx * u * u + 2 * xy * u * v + yy * v * v);
        double followed = model->zeta[i] * (length > model->delta_max[i] ? model->delta_max[i] / length : 1);
        double behind = 1 - followed, flat = sqrt(u * u + v * v) * behind, most = slip_edges * model->edges[i];
        if (flat > most) behind *= most / flat;

        /* in the directions that may move */
        double m0 = -behind * u, m1 = -behind * v;
        p->s->moves[2 * i] = q[0] * m0 + q[1] * m1;
        p->s->moves[2 * i + 1] = q[1] * m0 + q[2] * m1;
    }
}

/* ---- advection ---- */

/* Semi-Lagrangian: what comes to point i when the skin moves by moves[i] was at -moves[i]. */
static void advect_points(void *context, int begin, int end)
{
    const advection *p = context;
    const slide_model *model = p->model;
    const slide_scratch *s = p->s;
    const slide_atlas *atlas = &model->atlas;
    const mesh *m = atlas->mesh;
    for (int i = begin; i < end; i++) {
        double move[2] = {s->moves[2 * i], s->moves[2 * i + 1]};
        s->places[i] = p->places[i];
        if (p->v) memcpy(s->velocities + 2 * i, p->v + 2 * i, 2 * sizeof(double));
        if (move[0] == 0 && move[1] == 0) continue;

        /* By how much the place would change by the point's own derivative, and how much of that is allowed. */
        const double *j = s->jacobians[i];
        double mean[3], size = 0, slowed = 1;
        for (int e = 0; e < 3; e++) {
            mean[e] = -j[2 * e] * move[0] - j[2 * e + 1] * move[1];
            size += mean[e] * mean[e];
        }
        if (p->v) {
            double height = model->edges[i];
            for (int n = m->point_triangle_first[i]; n < m->point_triangle_first[i + 1]; n++)
                height = slide_min(height, s->altitudes[m->point_triangles[n]]);
            double most = slide_max(altitude_part * height, edge_part * model->edges[i]);
            if (size > most * most) slowed = most / sqrt(size);
            for (int e = 0; e < 3; e++) mean[e] *= slowed;
            move[0] *= slowed;
            move[1] *= slowed;
            size *= slowed * slowed;
        }

        double axis[2] = {1, 0}, back[2] = {-move[0], -move[1]};
        slide_place from = slide_walk_from_point(atlas, i, back, axis);
        const int *c = m->triangles + 3 * from.triangle;
        double w[3] = {1 - from.b[0] - from.b[1], from.b[0], from.b[1]};

        /* Start from the point itself when it is a corner, else from the nearest corner. */
        int near = c[0] == i ? 0 : c[1] == i ? 1 : c[2] == i ? 2 : -1;
        if (near < 0) near = w[0] >= w[1] && w[0] >= w[2] ? 0 : w[1] >= w[2] ? 1 : 2;
        int base = c[near];
        double chord[3], flat[2], apart = 0;
        for (int e = 0; e < 3; e++) {
            double to = w[0] * s->skin[3 * c[0] + e] + w[1] * s->skin[3 * c[1] + e] + w[2] * s->skin[3 * c[2] + e];
            double off = to - s->skin[3 * i + e] - mean[e];
            chord[e] = to - s->skin[3 * base + e];
            apart += off * off;
        }

        /*
         * Where the skin is folded, the triangle upwind has another derivative than the point, and would carry the
         * place against the force; there the point's own derivative, by which the force was found, is taken.
         */
        if (p->v && apart > 0.25 * size) {
            memcpy(chord, mean, sizeof chord);
            base = i;
        }
        slide_place place = p->places[base];
        const double *n = s->normals + 3 * base;
        double unit[3], square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2], scale = square > 0 ? 1 / sqrt(square) : 0;
        for (int e = 0; e < 3; e++) unit[e] = scale * n[e];
        slide_turn_flat(atlas, place.triangle, chord, unit, flat);
        slide_walk(atlas, &place, flat, NULL, NULL);
        s->places[i] = place;
        if (!p->v) continue;

        /* Velocities of the corners, turned into the chart and from there into the point's frame. */
        double x = 0, y = 0;
        for (int k = 0; k < 3; k++) {
            const double *turn = atlas->turns[from.triangle][k], *v = p->v + 2 * c[k];
            x += w[k] * (turn[0] * v[0] - turn[1] * v[1]);
            y += w[k] * (turn[1] * v[0] + turn[0] * v[1]);
        }
        s->velocities[2 * i] = axis[0] * x + axis[1] * y;
        s->velocities[2 * i + 1] = axis[0] * y - axis[1] * x;
        const double *q = model->allowed[i];
        double v0 = slowed * s->velocities[2 * i], v1 = slowed * s->velocities[2 * i + 1];
        s->velocities[2 * i] = q[0] * v0 + q[1] * v1;
        s->velocities[2 * i + 1] = q[1] * v0 + q[2] * v1;
    }
}

void slide_slip(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs)
{
    advection pass = {.model = model, .s = s};
    parallel_for(jobs, model->point_count, GRAIN, slip_points, &pass);
}

void slide_advect(const slide_model *model, slide_scratch *s, const slide_place *places, const double *v,
                  const cutis_jobs *jobs)
{
    advection pass = {.model = model, .s = s, .places = places, .v = v};
    parallel_for(jobs, model->point_count, GRAIN, advect_points, &pass);
}
