/*
 * slide_solve.c: the solution of the linear system of slide_system.c by preconditioned conjugate gradients.
 *
 * Points that may not move are left out (the paper's region of interest): the matrix and the vectors in here run over
 * the equations of the points that may. Sums are taken in a fixed order, so that the bits do not depend on threads.
 */
#include <string.h>

#include "solvers/slide/slide.h"

enum { POINT_GRAIN = 512, ITERATION_LIMIT = 150 };

typedef struct pass {
    const slide_model *model;
    const slide_scratch *s;
    const double *vector;
    double *image;
} pass;

/* Two numbers, each the sum of two in a vector. */
static inline d4 pair_begin(double x, double y) { return (d4){x, 0, y, 0}; }
static inline void pair_end(d4 sum, double *x, double *y)
{
    *x = sum[0] + sum[1];
    *y = sum[2] + sum[3];
}

static void multiply_rows(void *context, int begin, int end)
{
    const pass *p = context;
    const slide_model *model = p->model;
    for (int a = begin; a < end; a++) {
        int i = model->equations[a];
        const double *d = p->s->diagonal[a];
        const double *own = p->vector + 2 * i;
        d4 sum = pair_begin(d[0] * own[0] + d[1] * own[1], d[1] * own[0] + d[2] * own[1]);
        for (int n = model->link_first[a]; n < model->link_first[a + 1]; n++)
            sum += d4_load(p->s->rows[n]) * d4_pair(p->vector + 2 * model->equations[model->links[n]]);
        pair_end(sum, &p->image[2 * i], &p->image[2 * i + 1]);
    }
}

void slide_system_multiply(const slide_model *model, slide_scratch *s, const double *vector, double *image,
                           const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s, .vector = vector, .image = image};
    parallel_for(jobs, model->free_count, POINT_GRAIN, multiply_rows, &p);
}

/*
 * The preconditioner K E^-1 K^T with K = E + L, L the entries below the diagonal D of the system and E chosen such that
 * its diagonal is D: E_i = D_i - sum over k < i of A_ik E_k^-1 A_ki. A quarter of the work of an incomplete
 * factorisation, and nearly its effect.
 */
static void precondition_make(const slide_model *model, slide_scratch *s)
{
    for (int a = 0; a < model->free_count; a++) {
        const double *d = s->diagonal[a];
        double xx = d[0];
        double xy = d[1];
        double yy = d[2];
        double level = xx * yy - xy * xy;

        /* less what is eliminated before */
        for (int n = model->link_first[a]; n < model->link_upper[a]; n++) {
            const double *row = s->rows[n], *e = s->inverse[model->links[n]];
            double p = row[0] * e[0] + row[1] * e[1], q = row[0] * e[1] + row[1] * e[2];
            double r = row[2] * e[0] + row[3] * e[1], t = row[2] * e[1] + row[3] * e[2];
            xx -= p * row[0] + q * row[1];
            xy -= p * row[2] + q * row[3];
            yy -= r * row[2] + t * row[3];
        }

        /* too little left: as if nothing had been */
        double det = xx * yy - xy * xy;
        if (!(xx > 0 && yy > 0 && det > 1e-3 * level)) {
            xx = d[0];
            xy = d[1];
            yy = d[2];
            det = level;
        }

        /* E_i and its inverse */
        double scale = det > 0 ? 1 / det : 0;
        s->pivots[a][0] = xx;
        s->pivots[a][1] = xy;
        s->pivots[a][2] = yy;
        s->inverse[a][0] = yy * scale;
        s->inverse[a][1] = -xy * scale;
        s->inverse[a][2] = xx * scale;
    }
}

/* One row of K x = r or K^T x = r: the entries from begin to end are those of points whose x is known. */
static inline void substitute(const slide_model *model, const slide_scratch *s, int a, int begin, int end,
                              const double r[2], double *x)
{
    d4 sum = pair_begin(r[0], r[1]);
    for (int n = begin; n < end; n++) sum -= d4_load(s->rows[n]) * d4_pair(x + 2 * model->links[n]);
    double u, v;
    pair_end(sum, &u, &v);
    const double *e = s->inverse[a];
    x[2 * a] = e[0] * u + e[1] * v;
    x[2 * a + 1] = e[1] * u + e[2] * v;
}

/* z = E r by blocks; returns r . z, which is the square of the residual in the norm of the preconditioner. */
static double weigh(const slide_model *model, const slide_scratch *s, const double *r, double *z)
{
    double sum[2] = {0, 0};
    for (int a = 0; a < model->free_count; a++) {
        const double *e = s->pivots[a];
        double u = r[2 * a];
        double v = r[2 * a + 1];
        z[2 * a] = e[0] * u + e[1] * v;
        z[2 * a + 1] = e[1] * u + e[2] * v;
        sum[0] += u * z[2 * a];
        sum[1] += v * z[2 * a + 1];
    }
    return sum[0] + sum[1];
}

/*
 * Conjugate gradients for K^-1 A K^-T, by Eisenstat (1981, "Efficient implementation of a class of preconditioned
 * conjugate gradient methods"): as A = K + K^T + D - 2 E, its product with p is t + K^-1 (p + (D - 2 E) t) with
 * t = K^-T p, so that an iteration goes through the matrix once and not twice.
 *
 * The next direction p = z + beta p, with its t; returns p . product, the curvature along it.
 */
static double search_along(const slide_model *model, slide_scratch *s, double beta, double *t, double *product)
{
    double *p = s->search;
    double *f = s->forward;
    const double *z = s->smooth;

    /* from the last point to the first: the direction, t, and the right side of the way back */
    for (int a = model->free_count - 1; a >= 0; a--) {
        double *own = p + 2 * a;
        for (int e = 0; e < 2; e++) own[e] = z[2 * a + e] + beta * own[e];
        substitute(model, s, a, model->link_upper[a], model->link_first[a + 1], own, t);

        const double *d = s->diagonal[a], *e = s->pivots[a];
        double xx = d[0] - 2 * e[0];
        double xy = d[1] - 2 * e[1];
        double yy = d[2] - 2 * e[2];
        f[2 * a] = own[0] + xx * t[2 * a] + xy * t[2 * a + 1];
        f[2 * a + 1] = own[1] + xy * t[2 * a] + yy * t[2 * a + 1];
    }

    /* from the first to the last */
    double curvature[2] = {0, 0};
    for (int a = 0; a < model->free_count; a++) {
        const double right[2] = {f[2 * a], f[2 * a + 1]};
        substitute(model, s, a, model->link_first[a], model->link_upper[a], right, f);
        for (int e = 0; e < 2; e++) {
            product[2 * a + e] = f[2 * a + e] + t[2 * a + e];
            curvature[e] += p[2 * a + e] * product[2 * a + e];
        }
    }

    return curvature[0] + curvature[1];
}

int slide_system_solve(const slide_model *model, slide_scratch *s, double *v, double *largest, double *residual,
                       const cutis_jobs *jobs)
{
    int count = 2 * model->free_count;
    double *r = s->residual, *t = s->image, *x = s->solution;

    /* what the start leaves */
    slide_system_multiply(model, s, v, s->product, jobs);
    double asked = 0;
    double left = 0;
    for (int a = 0; a < model->free_count; a++) {
        int i = model->equations[a];
        for (int e = 0; e < 2; e++) {
            double right = s->right[2 * i + e];
            r[2 * a + e] = right - s->product[2 * i + e];
            x[2 * a + e] = v[2 * i + e];
            asked += right * right;
            left += r[2 * a + e] * r[2 * a + e];
        }
    }

    *largest = slide_max(*largest, sqrt(asked));
    double goal = model->tolerance * *largest;
    double size = sqrt(left);
    *residual = goal > 0 ? size / goal * model->tolerance : 0;

    /* what is not solved at all would add up from step to step: a start must be better than what is accepted later */
    if (!(size > 0.1 * goal)) return 0;

    /* the residual as the preconditioner sees it */
    precondition_make(model, s);
    for (int a = 0; a < model->free_count; a++) {
        const double right[2] = {r[2 * a], r[2 * a + 1]};
        substitute(model, s, a, model->link_first[a], model->link_upper[a], right, r);
    }

    double rz = weigh(model, s, r, s->smooth);
    double first = rz;
    double enough = first * (goal / size) * (goal / size);
    memset(s->search, 0, (size_t)count * sizeof *s->search);

    /* one direction after the other */
    int iterations = 0;
    double beta = 0;
    while ((rz > enough || iterations == 0) && iterations < ITERATION_LIMIT) {
        double curvature = search_along(model, s, beta, t, s->product);
        if (!(curvature > 0)) break;

        double alpha = rz / curvature;
        double last = rz;
        for (int i = 0; i < count; i++) {
            x[i] += alpha * t[i];
            r[i] -= alpha * s->product[i];
        }

        rz = weigh(model, s, r, s->smooth);
        beta = rz / last;
        iterations++;
    }

    *residual *= sqrt(rz / first);

    /* back to all points */
    for (int a = 0; a < model->free_count; a++) {
        int i = model->equations[a];
        v[2 * i] = x[2 * a];
        v[2 * i + 1] = x[2 * a + 1];
    }

    return iterations;
}
