/*
 * distil_fit.c: coefficients of every point by ridge regression, and their error on simulations that were left out.
 *
 * Point i minimises sum over frames |target - C f|^2 + sum over features k ridge_k m_k |C_k|^2, where m_k is the mean
 * square of feature k over all points and frames. The mean over points makes features that hardly vary at a point count
 * little there. Without features (the rest pose) the offset is 0.
 */
#include <stdlib.h>
#include <string.h>

#include "distil/distil_private.h"

enum { FEATURES = CUTIS_LIVE_FEATURES, TRIANGLE = FEATURES * (FEATURES + 1) / 2, BLOCK = 8 };
/* Strength of the prior that coefficients are 0, in frames. Contact is rare, and must not follow single frames. */
static const double POSE_RIDGE = 60;
static const double CONTACT_RIDGE = 4000;
static const double DYNAMICS_RIDGE = 400;
/* Scale below which a direction of a skin matrix counts as flat. Skinning shrinks offsets along it, so that large ones
 * would be needed, and blends of opposite twists are flat in single frames. */
static const double FLATNESS = 0.15;
static const double MAX_OFFSET = 0.25; /* of the size: what is farther is no flesh */

static const float RANGE_MARGIN = 0.05f; /* of the trained range, on both sides */

/* Sums over frames, per point. */
typedef struct fit_sums {
    distil *d;
    double *squares;  /* (point_count x TRIANGLE) lower half of sum f f' */
    double *products; /* (point_count x 3 x FEATURES) sum target f' */
    float *features;  /* (BLOCK x point_count x FEATURES) */
    float *targets;   /* (BLOCK x point_count x 3) offsets */
    int count;        /* frames of the block */
    double means[FEATURES];
    long frames;
    double *factors; /* (point_count x 3 x FEATURES) coefficients */
    bool used[FEATURES];
} fit_sums;

static void sums_add(void *context, int begin, int end)
{
    fit_sums *s = context;
    size_t points = (size_t)s->d->point_count;
    for (int i = begin; i < end; i++) {
        double *squares = s->squares + (size_t)i * TRIANGLE, *products = s->products + (size_t)i * 3 * FEATURES;
        for (int n = 0; n < s->count; n++) {
            const float *f = s->features + ((size_t)n * points + (size_t)i) * FEATURES;
            const float *target = s->targets + ((size_t)n * points + (size_t)i) * 3;
            double *row = squares;
            for (int r = 0; r < FEATURES; row += ++r) {
                if (f[r] == 0) continue;
                for (int c = 0; c <= r; c++) row[c] += (double)(f[r] * f[c]);
                for (int k = 0; k < 3; k++) products[k * FEATURES + r] += (double)(f[r] * target[k]);
            }
        }
    }
}

static void block_flush(fit_sums *s)
{
    parallel_for(s->d->jobs, s->d->point_count, 8, sums_add, s);
    s->count = 0;
}

/* Which features a fit may use. */
static void choose_features(fit_sums *s)
{
    int terms = s->d->def->terms ? s->d->def->terms : CUTIS_DISTIL_ALL;
    for (int k = 0; k < FEATURES; k++) {
        int term = k < CUTIS_LIVE_CONTACT    ? CUTIS_DISTIL_POSE
                   : k < CUTIS_LIVE_DYNAMICS ? CUTIS_DISTIL_CONTACT
                                             : CUTIS_DISTIL_DYNAMICS;
        s->used[k] = terms & term;
    }
}

/* Widen the trained range of each joint by its rotations in this frame. */
static void range_widen(distil *d, bool first)
{
    for (int j = 0; j < d->joints.count; j++)
        for (int k = 0; k < 3; k++) {
            float v = d->live.joint_features[CUTIS_LIVE_JOINT_FEATURES * j + k];
            float *low = &d->low[3 * j + k], *high = &d->high[3 * j + k];
            *low = first ? v : MIN(*low, v);
            *high = first ? v : MAX(*high, v);
        }
}

/* offset = (1 + e^2) (A'A + e^2 I)^-1 A' displacement, e the flatness: the inverse of A where A is a rotation. */
static void offset_find(const double m[12], const double displacement[3], double limit, float *offset)
{
    double a[9], b[3];
    for (int r = 0; r < 3; r++) {
        b[r] = 0;
        for (int k = 0; k < 3; k++) b[r] += (1 + FLATNESS * FLATNESS) * m[4 * k + r] * displacement[k];
        for (int c = 0; c < 3; c++) {
            a[3 * r + c] = r == c ? FLATNESS * FLATNESS : 0;
            for (int k = 0; k < 3; k++) a[3 * r + c] += m[4 * k + r] * m[4 * k + c];
        }
    }

    double length2 = 0;
    if (!cholesky_solve(a, b, 3)) b[0] = b[1] = b[2] = 0;
    for (int k = 0; k < 3; k++) length2 += b[k] * b[k];
    double scale = length2 > limit * limit ? limit / sqrt(length2) : 1;
    for (int k = 0; k < 3; k++) offset[k] = (float)(b[k] * scale);
}

/* How far a point is from a place when it is skinned with an offset (NULL: none). m: its matrix. */
static vec3 point_displacement(const distil *d, const float *skin, int point, const float *place, const float *offset,
                               double m[12])
{
    const float *rest = d->character->positions + 3 * (size_t)d->vertices[point];
    double p[3], left[3];
    distil_vertex_matrix(d->character, &d->joints, skin, d->vertices[point], m);
    for (int k = 0; k < 3; k++) p[k] = (double)rest[k] + (offset ? (double)offset[k] : 0);
    for (int k = 0; k < 3; k++)
        left[k] = (double)place[k] - (m[4 * k] * p[0] + m[4 * k + 1] * p[1] + m[4 * k + 2] * p[2] + m[4 * k + 3]);
    return vec3_make((float)left[0], (float)left[1], (float)left[2]);
}

/* Offsets that bring the points in the teacher's own pose to where it shows them: what learned turns miss is no flesh.
 */
static void offsets_find(const distil *d, const float *skin, const float *places, float *offsets)
{
    double m[12], limit = MAX_OFFSET * (double)d->character->size;
    for (int i = 0; i < d->point_count; i++) {
        vec3 way = point_displacement(d, skin, i, places + 3 * i, NULL, m);
        offset_find(m, (double[3]){(double)way.x, (double)way.y, (double)way.z}, limit, offsets + 3 * i);
    }
}

static cutis_result sums_gather(fit_sums *s, float *low, float *high)
{
    distil *d = s->d;
    size_t points = (size_t)d->point_count;
    int takes = d->take_count - d->test_takes;
    bool first = true;
    for (int t = 0; t < takes; t++) {
        cutis_live_begin(&d->live, d->live_memory);
        for (int f = 0; f < d->take_frames; f++) {
            size_t frame = (size_t)t * (size_t)d->take_frames + (size_t)f;
            cutis_live_observe(&d->live, d->skins + frame * (size_t)d->joints.count * 12, (float)(1 / DISTIL_FPS));

            /* the range is kept aside: it must not clamp what follows */
            float *data_low = d->low, *data_high = d->high;
            d->low = low;
            d->high = high;
            range_widen(d, first);
            d->low = data_low;
            d->high = data_high;
            first = false;

            float *features = s->features + (size_t)s->count * points * FEATURES;
            float *targets = s->targets + (size_t)s->count * points * 3;
            offsets_find(d, d->shown + frame * (size_t)d->joints.count * 12, d->places + frame * points * 3, targets);
            s->count++;
            for (int i = 0; i < d->point_count; i++, features += FEATURES) {
                cutis_live_features(&d->live, i, features);
                for (int k = 0; k < FEATURES; k++) {
                    if (!s->used[k]) features[k] = 0;
                    s->means[k] += (double)(features[k] * features[k]);
                }
            }
            s->frames++;
            if (s->count == BLOCK) block_flush(s);
        }
        if (!distil_progress(d, CUTIS_DISTIL_FIT, t + 1, takes))
            return error_set(d->error, CUTIS_ERROR_INTERRUPTED, "interrupted");
    }
    block_flush(s);
    for (int k = 0; k < FEATURES; k++) s->means[k] /= (double)s->frames * (double)points;
    return CUTIS_OK;
}

static void solve_points(void *context, int begin, int end)
{
    fit_sums *s = context;
    for (int i = begin; i < end; i++) {
        const double *squares = s->squares + (size_t)i * TRIANGLE;
        for (int axis = 0; axis < 3; axis++) {
            double a[FEATURES * FEATURES], *x = s->factors + ((size_t)i * 3 + (size_t)axis) * FEATURES;
            memcpy(x, s->products + ((size_t)i * 3 + (size_t)axis) * FEATURES, FEATURES * sizeof *x);
            const double *row = squares;
            for (int r = 0; r < FEATURES; row += ++r) {
                memcpy(a + FEATURES * r, row, (size_t)(r + 1) * sizeof *a);
                double ridge = r < CUTIS_LIVE_CONTACT    ? POSE_RIDGE
                               : r < CUTIS_LIVE_DYNAMICS ? CONTACT_RIDGE
                                                         : DYNAMICS_RIDGE;
                a[FEATURES * r + r] += s->means[r] > 0 ? ridge * s->means[r] : 1;
            }
            if (!cholesky_solve(a, x, FEATURES)) memset(x, 0, FEATURES * sizeof *x);
        }
    }
}

/* Round to 16 bits; every feature has a scale. Offsets are learned in shares of the size. */
static void coefficients_put(fit_sums *s)
{
    distil *d = s->d;
    double inverse = 1 / (double)d->character->size;
    size_t rows = 3 * (size_t)d->point_count;
    for (int k = 0; k < FEATURES; k++) {
        double largest = 0;
        for (size_t r = 0; r < rows; r++) largest = MAX(largest, fabs(s->factors[r * FEATURES + (size_t)k]));
        double scale = largest * inverse / 32767;
        d->scales[k] = (float)scale;
        for (size_t r = 0; r < rows && scale > 0; r++)
            d->coefficients[r * FEATURES + (size_t)k] =
                (int16_t)floor(s->factors[r * FEATURES + (size_t)k] * inverse / scale + 0.5);
    }
}

cutis_result distil_fit(distil *d)
{
    double start = clock_seconds();
    arena scratch = arena_create(d->def->allocator);
    size_t points = (size_t)d->point_count, ranges = 3 * (size_t)d->joints.count;
    fit_sums *s = ARENA_ARRAY(&scratch, fit_sums, 1);
    float *low = ARENA_ARRAY(&scratch, float, ranges), *high = ARENA_ARRAY(&scratch, float, ranges);
    cutis_result result = CUTIS_OK;
    if (s) {
        s->d = d;
        s->squares = ARENA_ARRAY(&scratch, double, points *TRIANGLE);
        s->products = ARENA_ARRAY(&scratch, double, points * 3 * FEATURES);
        s->factors = ARENA_ARRAY(&scratch, double, points * 3 * FEATURES);
        s->targets = ARENA_ARRAY(&scratch, float, BLOCK *points * 3);
        s->features = ARENA_ARRAY(&scratch, float, BLOCK *points *FEATURES);
    }
    if (scratch.failed) result = error_memory(d->error, "the fit of a distillation");

    if (result == CUTIS_OK) {
        choose_features(s);
        result = sums_gather(s, low, high);
    }
    if (result == CUTIS_OK) {
        parallel_for(d->jobs, d->point_count, 4, solve_points, s);
        coefficients_put(s);
        for (size_t k = 0; k < ranges; k++) {
            float margin = RANGE_MARGIN * (high[k] - low[k]) + 1e-3f;
            d->low[k] = low[k] - margin;
            d->high[k] = high[k] + margin;
        }
    }
    arena_destroy(&scratch);
    d->result->fit_seconds = clock_seconds() - start;
    return result;
}

/* ---- the error ---- */

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double root_mean(double sum, double count) { return count > 0 ? sqrt(sum / count) : 0; }

cutis_result distil_judge(distil *d)
{
    cutis_distil_result *r = d->result;
    size_t points = (size_t)d->point_count, at = 0;
    arena scratch = arena_create(d->def->allocator);
    r->test_frames = d->test_takes * d->take_frames;
    float *errors = ARENA_ARRAY(&scratch, float, 2 * points * (size_t)r->test_frames);
    double *sums = ARENA_ARRAY(&scratch, double, 2 * points);
    cutis_distil_region *regions = ARENA_ARRAY(d->memory, cutis_distil_region, d->joints.count);
    if (scratch.failed || d->memory->failed) {
        arena_destroy(&scratch);
        return error_memory(d->error, "the report of a distillation");
    }

    /* distances of skinning and of the player from the teacher */
    size_t half = points * (size_t)r->test_frames;
    for (int t = d->take_count - d->test_takes; t < d->take_count; t++) {
        cutis_live_begin(&d->live, d->live_memory);
        for (int f = 0; f < d->take_frames; f++) {
            size_t frame = (size_t)t * (size_t)d->take_frames + (size_t)f;
            const float *skin = d->skins + frame * (size_t)d->joints.count * 12;
            const float *places = d->places + frame * points * 3;
            cutis_live_update(&d->live, skin, (float)(1 / DISTIL_FPS));
            for (size_t i = 0; i < points; i++, at++) {
                double m[12];
                const float *offset = d->live.offsets + 3 * i;
                errors[at] = vec3_length(point_displacement(d, skin, (int)i, places + 3 * i, NULL, m));
                errors[half + at] = vec3_length(point_displacement(d, d->live.skin, (int)i, places + 3 * i, offset, m));
                for (int k = 0; k < 2; k++) {
                    double error = (double)errors[half * (size_t)k + at];
                    sums[points * (size_t)k + i] += error * error;
                }
            }
        }
    }

    /* by joint, and over all */
    double totals[2] = {0};
    for (int j = 0; j < d->joints.count; j++) {
        double part[2] = {0};
        int first = d->live.joint_first[j], count = d->live.joint_first[j + 1] - first;
        for (int i = first; i < first + count; i++)
            for (int k = 0; k < 2; k++) part[k] += sums[points * (size_t)k + (size_t)i];
        for (int k = 0; k < 2; k++) totals[k] += part[k];
        if (count == 0) continue;
        double samples = (double)count * r->test_frames;
        const char *name = arena_string(d->memory, d->character->joints[d->joints.joints[j]].name);
        regions[r->region_count++] =
            (cutis_distil_region){name, count, root_mean(part[0], samples), root_mean(part[1], samples)};
    }
    r->regions = regions;
    r->skinning_rms = root_mean(totals[0], (double)half);
    r->rms = root_mean(totals[1], (double)half);

    for (int k = 0; k < 2; k++) {
        float *sorted = errors + half * (size_t)k;
        qsort(sorted, half, sizeof *sorted, compare_floats);
        *(k ? &r->p99 : &r->skinning_p99) = half ? (double)sorted[half * 99 / 100] : 0;
    }
    arena_destroy(&scratch);
    return d->memory->failed ? error_memory(d->error, "the report of a distillation") : CUTIS_OK;
}
