/* beam.c: the closed beam of beam.h: banded periodic factorisation, time step, response of single waves. */
#include "solvers/curves/beam.h"

#include "math/math3.h"

/* Entry of the symmetric periodic matrix 1 + s/4 D4 by the distance between row and column. */
static double entry(const beam *b, int row, int column)
{
    static const double stencil[3] = {6, -4, 1};
    double s = b->stiffness / 4, sum = 0;
    int n = b->count, away = row > column ? row - column : column - row;
    if (away <= 2) sum += s * stencil[away];
    if (n - away <= 2) sum += s * stencil[n - away]; /* the other way around */
    return row == column ? 1 + sum : sum;
}

bool beam_factor(beam *b, int count, double stiffness, arena *memory)
{
    int n = count, m = count - 2; /* the last two rows are full */

    b->count = count;
    b->stiffness = stiffness;
    b->diagonal = ARENA_ARRAY(memory, double, n);
    b->one = ARENA_ARRAY(memory, double, n);
    b->two = ARENA_ARRAY(memory, double, n);
    b->last[0] = ARENA_ARRAY(memory, double, n);
    b->last[1] = ARENA_ARRAY(memory, double, n);
    if (memory->failed) return false;

    /* columns of L and the diagonal, from the columns before */
    double *d = b->diagonal;
    for (int j = 0; j < m; j++) {
        double pivot = entry(b, j, j);
        if (j >= 1) pivot -= b->one[j - 1] * b->one[j - 1] * d[j - 1];
        if (j >= 2) pivot -= b->two[j - 2] * b->two[j - 2] * d[j - 2];
        d[j] = pivot;

        /* below it, within the band */
        if (j + 1 < m) {
            double value = entry(b, j + 1, j);
            if (j >= 1) value -= b->two[j - 1] * b->one[j - 1] * d[j - 1];
            b->one[j] = value / pivot;
        }
        if (j + 2 < m) b->two[j] = entry(b, j + 2, j) / pivot;

        /* the two full rows */
        for (int r = 0; r < 2; r++) {
            double value = entry(b, m + r, j);
            if (j >= 1) value -= b->last[r][j - 1] * b->one[j - 1] * d[j - 1];
            if (j >= 2) value -= b->last[r][j - 2] * b->two[j - 2] * d[j - 2];
            b->last[r][j] = value / pivot;
        }
    }

    /* The corner of the two full rows. */
    double corner[3] = {entry(b, m, m), entry(b, m + 1, m), entry(b, m + 1, m + 1)};
    for (int j = 0; j < m; j++) {
        corner[0] -= b->last[0][j] * b->last[0][j] * d[j];
        corner[1] -= b->last[1][j] * b->last[0][j] * d[j];
        corner[2] -= b->last[1][j] * b->last[1][j] * d[j];
    }

    d[m] = corner[0];
    b->last[1][m] = corner[1] / corner[0];
    d[m + 1] = corner[2] - b->last[1][m] * b->last[1][m] * d[m];
    return true;
}

void beam_solve(const beam *b, double *x)
{
    int n = b->count, m = n - 2;

    /* forward, with L */
    for (int j = 0; j < m; j++) {
        if (j + 1 < m) x[j + 1] -= b->one[j] * x[j];
        if (j + 2 < m) x[j + 2] -= b->two[j] * x[j];
        x[m] -= b->last[0][j] * x[j];
        x[m + 1] -= b->last[1][j] * x[j];
    }

    x[m + 1] -= b->last[1][m] * x[m];
    for (int j = 0; j < n; j++) x[j] /= b->diagonal[j];

    /* back, with its transpose */
    x[m] -= b->last[1][m] * x[m + 1];
    for (int j = m - 1; j >= 0; j--) {
        if (j + 1 < m) x[j] -= b->one[j] * x[j + 1];
        if (j + 2 < m) x[j] -= b->two[j] * x[j + 2];
        x[j] -= b->last[0][j] * x[m] + b->last[1][j] * x[m + 1];
    }
}

void beam_fourth(int n, const double *q, double *result)
{
    for (int i = 0; i < n; i++)
        result[i] = q[(i + 2) % n] - 4 * q[(i + 1) % n] + 6 * q[i] - 4 * q[(i + n - 1) % n] + q[(i + n - 2) % n];
}

void beam_step(const beam *b, const double *before, const double *now, const double *force, double *work, double *next)
{
    int n = b->count;
    for (int i = 0; i < n; i++) work[i] = 2 * now[i] + before[i];
    beam_fourth(n, work, next);
    for (int i = 0; i < n; i++) next[i] = 2 * now[i] - before[i] - b->stiffness / 4 * next[i] + (force ? force[i] : 0);
    beam_solve(b, next);
}

double beam_ramp(int step, int steps)
{
    /* From rest, half of the average is the mirror image of the start. */
    return step == 0 ? 0.25 / steps : (double)step / steps;
}

double beam_reach(const beam *b, int wave, int step, int steps)
{
    /* D4 of a wave is the wave times (2 - 2 cos)^2, so that the step is one number's. */
    double half = 2 - 2 * det_cos(6.283185307179586 * wave / b->count), s = b->stiffness / 4 * half * half;
    double before = 0, now = 0;
    for (int n = 0; n < step; n++) {
        double next = (2 * now - before - s * (2 * now + before) + beam_ramp(n, steps)) / (1 + s);
        before = now;
        now = next;
    }
    return now;
}

double beam_response(const beam *b, int wave, int steps) { return beam_reach(b, wave, steps, steps); }
