/*
 * slide_solve.c: the solution of the linear system of slide_system.c by preconditioned conjugate gradients.
 *
 * Points that may not move are left out (the paper's region of interest). Sums are taken in a fixed order, so that the
 * bits do not depend on threads.
 */
#include <string.h>

#include "solvers/slide/slide.h"

enum { POINT_GRAIN = 512, ITERATION_LIMIT = 150 };

/* The solution is accepted when the residual has fallen to this part of the right side. */
static const double tolerance = 1e-4;

typedef struct pass {
    const slide_model *model;
    const slide_scratch *s;
    const double *vector;
    double *image;
} pass;

static void multiply_rows(void *context, int begin, int end)
{
    pass *p = context;
    const slide_scratch *s = p->s;
    const mesh *m = p->model->atlas.mesh;
    const double *v = p->vector;
    for (int a = begin; a < end; a++) {
        int i = p->model->free_points[a];
        const double *d = s->diagonal[i];
        double x = d[0] * v[2 * i] + d[1] * v[2 * i + 1], y = d[1] * v[2 * i] + d[2] * v[2 * i + 1];
        for (int n = m->point_neighbour_first[i]; n < m->point_neighbour_first[i + 1]; n++) {
            const double *row = s->rows[n], *w = v + 2 * m->point_neighbours[n];
            x += row[0] * w[0] + row[1] * w[1];
            y += row[2] * w[0] + row[3] * w[1];
        }
        p->image[2 * i] = x;
        p->image[2 * i + 1] = y;
    }
}

void slide_system_multiply(const slide_model *model, slide_scratch *s, const double *vector, double *image,
                           const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s, .vector = vector, .image = image};
    parallel_for(jobs, model->free_count, POINT_GRAIN, multiply_rows, &p);
}

/* Sum of products in fixed blocks: four chains of additions, so that it does not wait for each. */
static double dot(const double *a, const double *b, int count)
{
    double sum[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < count; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/*
 * The preconditioner K E^-1 K^T with K = E + L, L the entries below the diagonal D of the system and E chosen such that
 * its diagonal is D: E_i = D_i - sum over k < i of A_ik E_k^-1 A_ki. A quarter of the work of an incomplete
 * factorisation, and nearly its effect.
 */
static void precondition_make(const slide_model *model, slide_scratch *s)
{
    const mesh *m = model->atlas.mesh;
    for (int a = 0; a < model->free_count; a++) {
        int i = model->free_points[a];
        const double *d = s->diagonal[i];
        double xx = d[0], xy = d[1], yy = d[2], level = xx * yy - xy * xy;
        for (int n = m->point_neighbour_first[i]; n < m->point_neighbour_first[i + 1]; n++) {
            int k = m->point_neighbours[n];
            if (k > i) break;
            const double *row = s->rows[n], *e = s->inverse[k];
            double p = row[0] * e[0] + row[1] * e[1], q = row[0] * e[1] + row[1] * e[2];
            double r = row[2] * e[0] + row[3] * e[1], t = row[2] * e[1] + row[3] * e[2];
            xx -= p * row[0] + q * row[1];
            xy -= p * row[2] + q * row[3];
            yy -= r * row[2] + t * row[3];
        }
        double det = xx * yy - xy * xy;
        if (!(xx > 0 && yy > 0 && det > 1e-3 * level)) {
            xx = d[0];
            xy = d[1];
            yy = d[2];
            det = level;
        }
        double scale = det > 0 ? 1 / det : 0;
        s->pivots[i][0] = xx;
        s->pivots[i][1] = xy;
        s->pivots[i][2] = yy;
        s->inverse[i][0] = yy * scale;
        s->inverse[i][1] = -xy * scale;
        s->inverse[i][2] = xx * scale;
    }
}

/* K x = r, from the first point to the last; x may be r. */
static void solve_forward(const slide_model *model, const slide_scratch *s, const double *r, double *x)
{
    const mesh *m = model->atlas.mesh;
    const int *first = m->point_neighbour_first, *neighbours = m->point_neighbours;
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        double u = r[2 * i], v = r[2 * i + 1];
        for (int n = first[i]; n < first[i + 1] && neighbours[n] < i; n++) {
            const double *a = s->rows[n], *w = x + 2 * neighbours[n];
            u -= a[0] * w[0] + a[1] * w[1];
            v -= a[2] * w[0] + a[3] * w[1];
        }
        const double *e = s->inverse[i];
        x[2 * i] = e[0] * u + e[1] * v;
        x[2 * i + 1] = e[1] * u + e[2] * v;
    }
}

/* K^T x = r, from the last point to the first. */
static void solve_backward(const slide_model *model, const slide_scratch *s, const double *r, double *x)
{
    const mesh *m = model->atlas.mesh;
    const int *first = m->point_neighbour_first, *neighbours = m->point_neighbours;
    for (int k = model->free_count - 1; k >= 0; k--) {
        int i = model->free_points[k];
        double u = r[2 * i], v = r[2 * i + 1];
        for (int n = first[i + 1] - 1; n >= first[i] && neighbours[n] > i; n--) {
            const double *a = s->rows[n], *w = x + 2 * neighbours[n];
            u -= a[0] * w[0] + a[1] * w[1];
            v -= a[2] * w[0] + a[3] * w[1];
        }
        const double *e = s->inverse[i];
        x[2 * i] = e[0] * u + e[1] * v;
        x[2 * i + 1] = e[1] * u + e[2] * v;
    }
}

/*
 * z = E r by blocks; returns r . z, which is the square of the residual in the norm of the preconditioner.
 */
static double weigh(const slide_model *model, const slide_scratch *s, const double *r, double *z)
{
    double sum[2] = {0, 0};
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        const double *e = s->pivots[i], u = r[2 * i], v = r[2 * i + 1];
        z[2 * i] = e[0] * u + e[1] * v;
        z[2 * i + 1] = e[1] * u + e[2] * v;
        sum[0] += u * z[2 * i];
        sum[1] += v * z[2 * i + 1];
    }
    return sum[0] + sum[1];
}

/*
 * Conjugate gradients for K^-1 A K^-T, by Eisenstat (1981, "Efficient implementation of a class of preconditioned
 * conjugate gradient methods"): as A = K + K^T + D - 2 E, its product with p is t + K^-1 (p + (D - 2 E) t) with
 * t = K^-T p, so that an iteration goes through the matrix once and not twice.
 */
int slide_system_solve(const slide_model *model, slide_scratch *s, double *v, double *residual, const cutis_jobs *jobs)
{
    int count = 2 * model->point_count, iterations = 0;
    double *r = s->residual, *z = s->smooth, *p = s->search, *t = s->image, *w = s->product;
    memset(z, 0, (size_t)count * sizeof *z);
    memset(t, 0, (size_t)count * sizeof *t);
    memset(w, 0, (size_t)count * sizeof *w);
    double goal = tolerance * sqrt(dot(s->right, s->right, count));
    slide_system_multiply(model, s, v, t, jobs);
    for (int i = 0; i < count; i++) r[i] = s->right[i] - t[i];
    double size = sqrt(dot(r, r, count));
    *residual = goal > 0 ? size / goal * tolerance : 0;

    /* what is not solved at all would add up from step to step: a start must be better than what is accepted later */
    if (!(size > 0.1 * goal)) return 0;

    precondition_make(model, s);
    solve_forward(model, s, r, r);
    double rz = weigh(model, s, r, z), first = rz, enough = first * (goal / size) * (goal / size);
    memcpy(p, z, (size_t)count * sizeof *p);
    while ((rz > enough || iterations == 0) && iterations < ITERATION_LIMIT) {
        solve_backward(model, s, p, t);
        for (int k = 0; k < model->free_count; k++) {
            int i = model->free_points[k];
            const double *d = s->diagonal[i], *e = s->pivots[i], *own = t + 2 * i;
            double xx = d[0] - 2 * e[0], xy = d[1] - 2 * e[1], yy = d[2] - 2 * e[2];
            w[2 * i] = p[2 * i] + xx * own[0] + xy * own[1];
            w[2 * i + 1] = p[2 * i + 1] + xy * own[0] + yy * own[1];
        }
        solve_forward(model, s, w, w);
        for (int i = 0; i < count; i++) w[i] += t[i];
        double curvature = dot(p, w, count);
        if (!(curvature > 0)) break;
        double alpha = rz / curvature, last = rz;
        for (int i = 0; i < count; i++) {
            v[i] += alpha * t[i];
            r[i] -= alpha * w[i];
        }
        rz = weigh(model, s, r, z);
        iterations++;
        double beta = rz / last;
        for (int i = 0; i < count; i++) p[i] = z[i] + beta * p[i];
    }
    *residual *= sqrt(rz / first);
    return iterations;
}
