/*
 * distil_turns.c: how contact turns joints, by ridge regression on the depths of all patches.
 *
 * The turn of a joint is the rotation between the pose that was asked for and the one that the teacher shows, relative
 * to its parent, as a modified Rodrigues vector. Without contact all depths are 0, and no joint turns.
 */
#include <string.h>

#include "distil/distil_private.h"

static const double TURN_RIDGE = 0.1;
/* Strength of the prior that joints do not turn: frames in which every patch has this depth. */
static const double TURN_FRAMES = 200;
static const double TURN_DEPTH = 0.02;
static const double MIN_TURN = 1e-3; /* radians; joints that turn less in all frames do not turn */

/* Relative to the parent: parent^T own. */
static void relative_rotation(const float *skin, int joint, int parent, float relative[9])
{
    float own[9], above[9];
    cutis_live_rotation(skin + 12 * joint, own);
    cutis_live_rotation(skin + 12 * parent, above);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            relative[3 * a + b] = above[a] * own[b] + above[3 + a] * own[3 + b] + above[6 + a] * own[6 + b];
}

static void joint_turn(const distil *d, const float *given, const float *shown, int joint, float v[3])
{
    int parent = d->joints.parents[joint];
    float before[9], after[9], turn[9];
    v[0] = v[1] = v[2] = 0;
    if (parent < 0) return;
    relative_rotation(given, joint, parent, before);
    relative_rotation(shown, joint, parent, after);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            turn[3 * a + b] = after[3 * a] * before[3 * b] + after[3 * a + 1] * before[3 * b + 1] +
                              after[3 * a + 2] * before[3 * b + 2];
    cutis_live_vector(turn, v);
}

/* Sums over frames: squares (n x n) of the patch depths, products (3 joints x n) with the turns. */
typedef struct turn_sums {
    int n;
    double *squares, *products, *scratch;
    float *limits; /* (joints) largest turn */
} turn_sums;

static void sums_add(const distil *d, const float *given, const float *shown, turn_sums *s)
{
    const float *depths = d->live.patch_depths[0];
    for (int r = 0; r < s->n; r++) {
        if (depths[r] == 0) continue;
        for (int c = 0; c <= r; c++)
            s->squares[(size_t)r * (size_t)s->n + (size_t)c] += (double)(depths[r] * depths[c]);
    }

    for (int j = 0; j < d->joints.count; j++) {
        float v[3];
        joint_turn(d, given, shown, j, v);
        s->limits[j] = MAX(s->limits[j], vec3_length(vec3_load(v)));
        for (int k = 0; k < 3; k++) {
            double *row = s->products + (size_t)(3 * j + k) * (size_t)s->n;
            for (int r = 0; r < s->n && v[k] != 0; r++) row[r] += (double)(depths[r] * v[k]);
        }
    }
}

/* Solve for one row, and round it to 16 bits. */
static void row_solve(distil *d, const turn_sums *s, int row, long frames)
{
    size_t n = (size_t)s->n;
    double *x = s->products + (size_t)row * n, trace = 0, largest = 0;
    memcpy(s->scratch, s->squares, n * n * sizeof *s->scratch);
    for (size_t k = 0; k < n; k++) trace += s->squares[k * n + k];
    double ridge = TURN_RIDGE * trace / (double)n + TURN_FRAMES * TURN_DEPTH * TURN_DEPTH;
    for (size_t k = 0; k < n; k++) s->scratch[k * n + k] += ridge + 1e-12 * (double)frames;
    if (!cholesky_solve(s->scratch, x, s->n)) memset(x, 0, n * sizeof *x);

    for (size_t k = 0; k < n; k++) largest = MAX(largest, fabs(x[k]));
    d->turn_scales[row] = (float)(largest / 32767);
    for (size_t k = 0; k < n && largest > 0; k++)
        d->turns[(size_t)row * n + k] = (int16_t)floor(x[k] / largest * 32767 + 0.5);
}

cutis_result distil_fit_turns(distil *d)
{
    arena scratch = arena_create(d->def->allocator);
    turn_sums s = {.n = d->live.patch_counts[0] + d->live.patch_counts[1]};
    size_t n = (size_t)s.n, rows = 3 * (size_t)d->joints.count;
    s.squares = ARENA_ARRAY(&scratch, double, n *n);
    s.scratch = ARENA_ARRAY(&scratch, double, n *n);
    s.products = ARENA_ARRAY(&scratch, double, n *rows);
    s.limits = ARENA_ARRAY(&scratch, float, d->joints.count);
    cutis_result result = scratch.failed ? error_memory(d->error, "the fit of a distillation") : CUTIS_OK;

    /* depths in the pose that was asked for */
    long frames = (long)(d->take_count - d->test_takes) * d->take_frames;
    int terms = d->def->terms ? d->def->terms : CUTIS_DISTIL_ALL;
    for (long f = 0; f < frames && result == CUTIS_OK && terms & CUTIS_DISTIL_CONTACT; f++) {
        size_t at = (size_t)f * (size_t)d->joints.count * 12;
        cutis_live_detect(&d->live, d->skins + at);
        sums_add(d, d->skins + at, d->shown + at, &s);
    }

    for (int j = 0; j < d->joints.count && result == CUTIS_OK; j++) {
        if (!((double)s.limits[j] > MIN_TURN)) continue;
        d->turn_limits[j] = s.limits[j];
        for (int k = 0; k < 3; k++) row_solve(d, &s, 3 * j + k, frames);
    }
    arena_destroy(&scratch);
    return result;
}
