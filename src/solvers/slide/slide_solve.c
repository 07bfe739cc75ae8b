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

/* A symmetric block xx, xy, yy times a pair. */
static inline dpair block_times(const double b[3], dpair p)
{
    return dpair_load(b) * (dpair){p[0], p[0]} + dpair_load(b + 1) * (dpair){p[1], p[1]};
}

static void multiply_rows(void *context, int begin, int end)
{
    const pass *p = context;
    const slide_model *model = p->model;
    for (int a = begin; a < end; a++) {
        int i = model->equations[a];
        dpair own = block_times(p->s->diagonal[a], dpair_load(p->vector + 2 * i));
        d4 sum = d4_set(0);
        for (int n = model->link_first[a]; n < model->link_first[a + 1]; n++)
            sum += d4_load(p->s->rows[n]) * d4_pair(p->vector + 2 * model->equations[model->links[n]]);
        dpair_store(p->image + 2 * i, own + d4_add_pairs(sum));
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
        s->rests[a][0] = d[0] - 2 * xx;
        s->rests[a][1] = d[1] - 2 * xy;
        s->rests[a][2] = d[2] - 2 * yy;
    }
}

/* One row of K x = r or K^T x = r: the entries from begin to end are those of points whose x is known. */
static inline dpair substitute(const slide_model *model, const slide_scratch *s, int a, int begin, int end, dpair r,
                               const double *x)
{
    const int *links = model->links;
    const double(*rows)[4] = (const double(*)[4])s->rows;
    d4 sum = d4_set(0);
    for (int n = begin; n < end; n++) sum += d4_load(rows[n]) * d4_pair(x + 2 * (size_t)links[n]);
    return block_times(s->inverse[a], r - d4_add_pairs(sum));
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

    /* from the last point to the first: the direction, t, and the right side of the way back */
    for (int a = model->free_count - 1; a >= 0; a--) {
        dpair own = dpair_load(s->smooth + 2 * a) + beta * dpair_load(p + 2 * a);
        dpair x = substitute(model, s, a, model->link_upper[a], model->link_first[a + 1], own, t);
        dpair_store(p + 2 * a, own);
        dpair_store(t + 2 * a, x);
        dpair_store(f + 2 * a, own + block_times(s->rests[a], x));
    }

    /* from the first to the last */
    dpair curvature = {0, 0};
    for (int a = 0; a < model->free_count; a++) {
        dpair x = substitute(model, s, a, model->link_first[a], model->link_upper[a], dpair_load(f + 2 * a), f);
        dpair image = x + dpair_load(t + 2 * a);
        dpair_store(f + 2 * a, x);
        dpair_store(product + 2 * a, image);
        curvature += dpair_load(p + 2 * a) * image;
    }

    return curvature[0] + curvature[1];
}

/*
 * Go by alpha along t: x += alpha t, r -= alpha product, and z = E r by blocks; returns r . z, the square of the
 * residual in the norm of the preconditioner.
 */
static double go_along(const slide_model *model, slide_scratch *s, double alpha)
{
    dpair sum = {0, 0};
    for (int a = 0; a < model->free_count; a++) {
        dpair x = dpair_load(s->solution + 2 * a) + alpha * dpair_load(s->image + 2 * a);
        dpair left = dpair_load(s->residual + 2 * a) - alpha * dpair_load(s->product + 2 * a);
        dpair z = block_times(s->pivots[a], left);
        dpair_store(s->solution + 2 * a, x);
        dpair_store(s->residual + 2 * a, left);
        dpair_store(s->smooth + 2 * a, z);
        sum += left * z;
    }
    return sum[0] + sum[1];
}

int slide_system_solve(const slide_model *model, slide_scratch *s, double *v, double *largest, double *residual,
                       const cutis_jobs *jobs)
{
    int count = 2 * model->free_count;
    double *r = s->residual;
    double *t = s->image;
    double *x = s->solution;

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
        dpair own = dpair_load(r + 2 * a);
        dpair_store(r + 2 * a, substitute(model, s, a, model->link_first[a], model->link_upper[a], own, r));
    }
    memset(t, 0, (size_t)count * sizeof *t);
    memset(s->product, 0, (size_t)count * sizeof *s->product);

    double rz = go_along(model, s, 0);
    double first = rz;
    double enough = first * (goal / size) * (goal / size);
    memset(s->search, 0, (size_t)count * sizeof *s->search);

    /* one direction after the other */
    int iterations = 0;
    double beta = 0;
    while ((rz > enough || iterations == 0) && iterations < ITERATION_LIMIT) {
        double curvature = search_along(model, s, beta, t, s->product);
        if (!(curvature > 0)) break;

        double last = rz;
        rz = go_along(model, s, rz / curvature);
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
