/*
 * tissue_accelerate.c: Anderson acceleration of the sweeps (Anderson 1965; Walker and Ni 2011, equation 1.1).
 *
 * A sweep maps an iterate z to g. With the residual f = g - z and the differences of the last iterations, the next
 * iterate is g - sum of c_j dG_j, where c minimises |f - sum of c_j dF_j|. This removes the slow modes that block
 * descent leaves: smooth motion of fine meshes, and motion of two sides that touch, which one side alone cannot make.
 * A node moves no further from the iterate whose contact distances are known than its limit allows, and where the
 * residual grows the differences are dropped: far from the minimum they say nothing, and alone would diverge.
 */
#include <string.h>

#include "solvers/tissue/tissue.h"

enum { GRAIN = 256, SUMS = 2 * ANDERSON + 1 };
/* Share of a difference's own square that is added to the diagonal: makes nearly parallel differences harmless. */
static const double REGULARISATION = 1e-6;

typedef struct accelerate_pass {
    tissue_run *run;
    int slot, used;
    float shares[ANDERSON];
} accelerate_pass;

/* Residual and differences of columns, and their products. */
static void differences_block(void *context, int begin, int end)
{
    accelerate_pass *pass = context;
    tissue_work *w = &pass->run->w;
    bool first = pass->used == 0;
    float *difference = w->residuals[pass->slot], *step = w->results[pass->slot];
    double sums[SUMS] = {0};

    for (size_t i = (size_t)COLUMN * (size_t)begin; i < (size_t)COLUMN * (size_t)end; i++) {
        float g = w->z[i], f = g - w->last[i];
        difference[i] = first ? 0 : f - w->residual[i];
        step[i] = first ? 0 : g - w->result[i];
        w->residual[i] = f;
        w->result[i] = g;
        sums[2 * ANDERSON] += (double)f * f;
        for (int j = 0; j < pass->used; j++) {
            double d = w->residuals[j][i];
            sums[j] += d * difference[i];
            sums[ANDERSON + j] += d * f;
        }
    }
    memcpy(w->sums + (size_t)(begin / GRAIN) * SUMS, sums, sizeof sums);
}

static void combine_block(void *context, int begin, int end)
{
    const accelerate_pass *pass = context;
    tissue_work *w = &pass->run->w;
    for (int k = begin; k < end; k++) {
        float *z = w->z + (size_t)COLUMN * (size_t)k;
        const float *last = w->last + (size_t)COLUMN * (size_t)k;
        for (int j = 0; j < pass->used; j++) {
            const float *step = w->results[j] + (size_t)COLUMN * (size_t)k;
            for (int i = 0; i < 12; i++) z[i] -= pass->shares[j] * step[i];
        }

        /* within the limits of nodes and of contact, counted from the iterate whose distances are known */
        float share = 1;
        for (int l = 0; l < TISSUE_LAYERS; l++) {
            float move2 = 0, limit = l == TISSUE_SKIN ? MIN(w->limits[k], MAX_STEP) : MAX_STEP;
            for (int c = l; c < 12; c += 4) move2 += (z[c] - last[c]) * (z[c] - last[c]);
            if (move2 > limit * limit) share = MIN(share, limit / sqrtf(move2));
        }
        for (int i = 0; share < 1 && i < 12; i++) z[i] = last[i] + share * (z[i] - last[i]);
    }
}

/* Solve the normal equations by Cholesky; gram is symmetric. */
static void shares_solve(const double gram[ANDERSON][ANDERSON], const double *right, int n, float *shares)
{
    double factor[ANDERSON][ANDERSON], y[ANDERSON];
    for (int i = 0; i < n; i++) {
        y[i] = right[i];
        for (int j = 0; j <= i; j++) {
            double sum = gram[i][j] + (i == j ? REGULARISATION * gram[i][i] + 1e-300 : 0);
            for (int k = 0; k < j; k++) sum -= factor[i][k] * factor[j][k];
            factor[i][j] = i == j ? sqrt(MAX(sum, 1e-300)) : sum / factor[j][j];
        }
        for (int k = 0; k < i; k++) y[i] -= factor[i][k] * y[k];
        y[i] /= factor[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) y[i] -= factor[k][i] * y[k];
        y[i] /= factor[i][i];
        shares[i] = (float)y[i];
    }
}

void tissue_accelerate(tissue_run *run, int iteration)
{
    tissue_work *w = &run->w;
    int n = run->m->count, blocks = (n + GRAIN - 1) / GRAIN;
    const cutis_jobs *jobs = run->input->jobs;

    /* slot of the new difference; the first iteration has none */
    if (iteration == 0) w->history = 0;
    accelerate_pass pass = {.run = run, .slot = iteration == 0 ? 0 : (w->history - 1 + ANDERSON) % ANDERSON};
    if (iteration > 0) pass.slot = w->history % ANDERSON;
    pass.used = iteration == 0 ? 0 : MIN(w->history + 1, ANDERSON);
    parallel_for(jobs, n, GRAIN, differences_block, &pass);

    double sums[SUMS] = {0};
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < SUMS; i++) sums[i] += w->sums[(size_t)b * SUMS + (size_t)i];

    /* a growing residual: the last iterates say nothing of what is here; go on from the sweep's own result */
    double before = w->norm2;
    w->norm2 = sums[2 * ANDERSON];
    if (iteration > 0 && !(w->norm2 <= before)) {
        w->history = 0;
        return;
    }

    if (iteration > 0) {
        for (int j = 0; j < pass.used; j++) {
            w->gram[pass.slot][j] = sums[j];
            w->gram[j][pass.slot] = sums[j];
        }
        w->history++;
        shares_solve(w->gram, sums + ANDERSON, pass.used, pass.shares);
        parallel_for(jobs, n, GRAIN, combine_block, &pass);
    }
}
