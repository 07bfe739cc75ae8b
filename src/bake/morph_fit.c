/*
 * morph_fit.c: principal components of the un-skinned residual.
 *
 * A player shows vertex v at frame f at A (p + sum_k w_k D_k) + t, where A and t are the vertex's blend of skin
 * matrices. Wanted is x, so that the targets D and weights w should give A sum_k w_k D_k = r, the residual of
 * linear blending. The un-skinned residuals A^-1 r of all frames are the rows of a matrix X (frames x 3 vertices);
 * its leading singular vectors are the best weights and targets in the sense of least squares. They come from
 * subspace iteration with a fixed start (Halko, Martinsson, Tropp 2011, "Finding structure with randomness"),
 * whose cost is linear in frames: a Gram matrix over frames would be quadratic.
 *
 * Departures and caveats:
 * - Blends of opposite twists are nearly flat and A^-1 blows up. There the inverse is damped (Nakamura, Hanafusa 1986:
 *   the damping vanishes where A is sound), and once the weights are known the targets of such vertices are
 *   solved again from min sum_f |A sum_k w_k D_k - r|^2, which needs no inverse of A at all.
 * - Rows are not centred: weights of 0 must give the undeformed character.
 * - The number of targets is chosen by the largest error, measured after everything, not by energy.
 * - Where the limit of targets leaves too much, targets and weights are refined in turns (alternating least squares),
 * and vertices and frames are weighed by their largest error (Lawson 1961), so that it is the largest that falls.
 */
#include "bake/morph_fit.h"

#include <math.h>
#include <string.h>

#include "character/normals.h"
#include "character/skinning.h"
#include "math/math3.h"

enum {
    EXTRA = 8,      /* columns carried beside those wanted, for the speed of convergence */
    ITERATIONS = 3, /* of the subspace */
    COLUMN_GRAIN = 2048,
    FRAME_GRAIN = 4,
    VERTEX_GRAIN = 64,
    ROUNDS = 8,      /* of targets and weights in turns, when components leave too much */
    SIDE_LIMIT = 40, /* columns of the subspace at most */
    REFIT_LIMIT = 3 * SIDE_LIMIT
};
/* A blend whose determinant is below this part of that of a uniform scale of the same norm is damped. */
static const double FLAT = 0.2, FLAT_EXACT = 1e-3;
/* Damping at a wholly flat blend, relative to the blend's own scale. */
static const double DAMPING = 0.3;
/* Weighing: the power of a squared error, relative to the largest, that counts; and the least of these. */
static const double WEIGH_POWER = 0.1, WEIGH_LEAST = 1e-2;
/* Targets are thinned out by this share of the tolerance, all together; the rest is for the components. */
static const double THIN = 0.05;

typedef struct fit_work {
    const morph_fit_def *def;
    const cutis_character *c;
    int vertices, frames, columns; /* columns = 3 x vertices */
    int side;                      /* columns of the subspace */
    double flat;
    float *skin;                         /* (frames x joint_count x 12) */
    float *own_weights;                  /* (frames x morph_count) of the morphs that the character has already */
    float *x;                            /* (frames x columns) */
    float *frame_scales, *vertex_scales; /* (frames), (vertices) */
    double *vertex_max;                  /* (vertices) largest squared error with all targets */
    float *q;                            /* (frames x side) */
    float *b;                            /* (columns x side) */
    double *y;                           /* (frames x side) */
    double *frame_sums;                  /* (frames x (limit + 1)) squared errors by number of targets */
    double *frame_max;                   /* the same, largest distance */
    int *frame_flats;                    /* (frames) */
    int evaluate_count;
    int levels; /* errors are wanted for 0 .. evaluate_count targets (true), or for all of them alone (false) */
    const float *deltas, *weights;
    int count;
    float *refit;         /* targets being solved again */
    float *frame_weights; /* likewise weights */
} fit_work;

/* ---- the blend of one vertex ---- */

/* Linear part (3 x 3) of the blended skin matrix, the linear-blend position, and the residual. */
static void vertex_blend(const fit_work *w, int frame, int v, float a[9], float residual[3])
{
    const cutis_character *c = w->c;

    float m[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    int first = c->influence_first ? c->influence_first[v] : 0,
        end = c->influence_first ? c->influence_first[v + 1] : 0;

    /* the blend of the joints' skin matrices */
    if (first < end) {
        const float *skin = w->skin + (size_t)frame * (size_t)c->joint_count * 12;
        memset(m, 0, sizeof m);
        for (int i = first; i < end; i++) {
            const float *s = skin + 12 * (size_t)c->influence_joints[i];
            float weight = c->influence_weights[i];
            for (int e = 0; e < 12; e++) m[e] += weight * s[e];
        }
    }

    /* the rest place under the character's own morphs */
    vec3 rest = vec3_load(c->positions + 3 * (size_t)v);
    for (int k = 0; k < c->morph_count; k++) {
        float weight = w->own_weights[(size_t)frame * (size_t)c->morph_count + (size_t)k];
        if (weight != 0) rest = vec3_madd(rest, vec3_load(c->morphs[k].deltas + 3 * (size_t)v), weight);
    }

    /* the distance to the frame */
    vec3 shown = mat34_point(m, rest);
    const float *wanted = w->def->frames + ((size_t)frame * (size_t)w->vertices + (size_t)v) * 3;
    residual[0] = wanted[0] - shown.x;
    residual[1] = wanted[1] - shown.y;
    residual[2] = wanted[2] - shown.z;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a[3 * i + j] = m[4 * i + j];
}

/* Solve (A'A + damping) d = A' r. Returns whether the blend is flat. */
static bool blend_unskin(const float a[9], const float r[3], double flat, float d[3])
{
    double norm2 = 0, n[6], g[3];

    /* how far the matrix is from flattening space: 1 for a rotation */
    for (int i = 0; i < 9; i++) norm2 += (double)a[i] * (double)a[i];
    double scale = sqrt(norm2 / 3);
    double det = (double)a[0] * ((double)a[4] * (double)a[8] - (double)a[5] * (double)a[7]) -
                 (double)a[1] * ((double)a[3] * (double)a[8] - (double)a[5] * (double)a[6]) +
                 (double)a[2] * ((double)a[3] * (double)a[7] - (double)a[4] * (double)a[6]);
    double soundness = scale > 0 ? fabs(det) / (scale * scale * scale) : 0;
    bool is_flat = soundness < flat;

    /* damp what is nearly flat */
    double lambda = 0;
    if (is_flat) lambda = DAMPING * scale * (1 - soundness / flat);

    d[0] = d[1] = d[2] = 0;
    if (!(scale > 0)) return true;
    lambda = lambda * lambda + 1e-12 * norm2;

    /* A'A: xx, yy, zz, xy, xz, yz */
    for (int i = 0; i < 3; i++) {
        n[i] = lambda;
        g[i] = 0;
        for (int k = 0; k < 3; k++) {
            n[i] += (double)a[3 * k + i] * (double)a[3 * k + i];
            g[i] += (double)a[3 * k + i] * (double)r[k];
        }
    }

    n[3] = n[4] = n[5] = 0;
    for (int k = 0; k < 3; k++) {
        n[3] += (double)a[3 * k] * (double)a[3 * k + 1];
        n[4] += (double)a[3 * k] * (double)a[3 * k + 2];
        n[5] += (double)a[3 * k + 1] * (double)a[3 * k + 2];
    }

    /* Cramer's rule on the symmetric system */
    double cx = n[1] * n[2] - n[5] * n[5], cy = n[4] * n[5] - n[3] * n[2], cz = n[3] * n[5] - n[4] * n[1];
    double determinant = n[0] * cx + n[3] * cy + n[4] * cz;
    if (!(determinant > 0)) return true;

    double dy = n[0] * n[2] - n[4] * n[4], dz = n[3] * n[4] - n[0] * n[5], ez = n[0] * n[1] - n[3] * n[3];
    d[0] = (float)((cx * g[0] + cy * g[1] + cz * g[2]) / determinant);
    d[1] = (float)((cy * g[0] + dy * g[1] + dz * g[2]) / determinant);
    d[2] = (float)((cz * g[0] + dz * g[1] + ez * g[2]) / determinant);

    /* what is not finite does nothing */
    for (int k = 0; k < 3; k++)
        if (!(fabsf(d[k]) < 1e15f)) d[k] = 0;
    return is_flat;
}

static void unskin_frames(void *context, int begin, int end)
{
    fit_work *w = context;
    for (int f = begin; f < end; f++) {
        for (int v = 0; v < w->vertices; v++) {
            float a[9], r[3];
            vertex_blend(w, f, v, a, r);
            w->frame_flats[f] += blend_unskin(a, r, w->flat, w->x + (size_t)f * (size_t)w->columns + 3 * (size_t)v);
        }
    }
}

/* ---- products with X ---- */

/* b = X' q: each column of X by itself. */
static void multiply_columns(void *context, int begin, int end)
{
    fit_work *w = context;
    size_t side = (size_t)w->side;
    memset(w->b + (size_t)begin * side, 0, (size_t)(end - begin) * side * sizeof(float));
    for (int f = 0; f < w->frames; f++) {
        const float *row = w->x + (size_t)f * (size_t)w->columns, *q = w->q + (size_t)f * side;
        for (int i = begin; i < end; i++) {
            float value = row[i], *to = w->b + (size_t)i * side;
            if (value == 0) continue;
            for (size_t k = 0; k < side; k++) to[k] += value * q[k];
        }
    }
}

/* y = X b, in short runs of floats that are added up in doubles. */
static void multiply_rows(void *context, int begin, int end)
{
    fit_work *w = context;
    size_t side = (size_t)w->side;

    for (int f = begin; f < end; f++) {
        const float *row = w->x + (size_t)f * (size_t)w->columns;
        double *y = w->y + (size_t)f * side;
        memset(y, 0, side * sizeof *y);

        /* runs short enough for floats */
        for (int from = 0; from < w->columns; from += 256) {
            float sum[SIDE_LIMIT] = {0};
            int to = MIN(from + 256, w->columns);
            for (int i = from; i < to; i++) {
                float value = row[i];
                const float *b = w->b + (size_t)i * side;

                if (value == 0) continue;
                for (size_t k = 0; k < side; k++) sum[k] += value * b[k];
            }

            for (size_t k = 0; k < side; k++) y[k] += (double)sum[k];
        }
    }
}

/* Make the columns of y orthonormal, twice for the sake of rounding, and store them in q; dependent ones are 0. */
static void orthonormalize(fit_work *w)
{
    size_t side = (size_t)w->side;

    for (size_t k = 0; k < side; k++) {
        /* the column's own length */
        double before = 0;
        for (int f = 0; f < w->frames; f++) before += w->y[(size_t)f * side + k] * w->y[(size_t)f * side + k];

        /* take away the columns before it */
        for (int pass = 0; pass < 2; pass++) {
            for (size_t j = 0; j < k; j++) {
                double dot = 0;
                for (int f = 0; f < w->frames; f++) dot += w->y[(size_t)f * side + k] * w->y[(size_t)f * side + j];
                for (int f = 0; f < w->frames; f++) w->y[(size_t)f * side + k] -= dot * w->y[(size_t)f * side + j];
            }
        }

        /* unit length, unless nothing but rounding is left */
        double after = 0;
        for (int f = 0; f < w->frames; f++) after += w->y[(size_t)f * side + k] * w->y[(size_t)f * side + k];
        double factor = after > 1e-14 * before && after > 0 ? 1 / sqrt(after) : 0;
        for (int f = 0; f < w->frames; f++) w->y[(size_t)f * side + k] *= factor;
    }

    for (size_t i = 0; i < (size_t)w->frames * side; i++) w->q[i] = (float)w->y[i];
}

/* Eigenvectors (columns of v) of a symmetric matrix by cyclic Jacobi rotations, eigenvalues on its diagonal. */
static void jacobi(double *a, double *v, int n)
{
    for (int i = 0; i < n * n; i++) v[i] = i / n == i % n;

    for (int sweep = 0; sweep < 30; sweep++) {
        /* done when nothing is left off the diagonal */
        double off = 0, all = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if (i != j) off += a[i * n + j] * a[i * n + j];
                all += a[i * n + j] * a[i * n + j];
            }

        if (off <= 1e-26 * all) return;

        /* a rotation for each pair, which zeroes its entry */
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                double apq = a[p * n + q];
                if (apq == 0) continue;

                /* the angle */
                double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                double cosine = 1 / sqrt(t * t + 1), sine = t * cosine;

                /* columns, then rows, then the eigenvectors */
                for (int k = 0; k < n; k++) {
                    double kp = a[k * n + p], kq = a[k * n + q];
                    a[k * n + p] = cosine * kp - sine * kq;
                    a[k * n + q] = sine * kp + cosine * kq;
                }

                for (int k = 0; k < n; k++) {
                    double pk = a[p * n + k], qk = a[q * n + k];
                    a[p * n + k] = cosine * pk - sine * qk;
                    a[q * n + k] = sine * pk + cosine * qk;
                    double vp = v[k * n + p], vq = v[k * n + q];
                    v[k * n + p] = cosine * vp - sine * vq;
                    v[k * n + q] = sine * vp + cosine * vq;
                }
            }
        }
    }
}

/* Turn q and b so that the columns of b are orthogonal and descend in length. */
static void rotate_to_components(fit_work *w)
{
    int n = w->side;
    double gram[SIDE_LIMIT * SIDE_LIMIT] = {0}, vectors[SIDE_LIMIT * SIDE_LIMIT];
    int order[SIDE_LIMIT];

    /* lengths and angles of the columns of b */
    for (int from = 0; from < w->columns; from++) {
        const float *b = w->b + (size_t)from * (size_t)n;
        for (int i = 0; i < n; i++)
            for (int j = i; j < n; j++) gram[i * n + j] += (double)b[i] * (double)b[j];
    }

    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) gram[i * n + j] = gram[j * n + i];

    /* its axes, longest first */
    jacobi(gram, vectors, n);
    for (int i = 0; i < n; i++) { /* insertion sort: ties keep their order */
        int at = i;
        for (; at > 0 && gram[order[at - 1] * n + order[at - 1]] < gram[i * n + i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }

    /* both tables in these axes */
    size_t rows[2] = {(size_t)w->frames, (size_t)w->columns};
    float *tables[2] = {w->q, w->b};
    for (int t = 0; t < 2; t++) {
        for (size_t row = 0; row < rows[t]; row++) {
            float *values = tables[t] + row * (size_t)n;
            double turned[SIDE_LIMIT];
            for (int j = 0; j < n; j++) {
                turned[j] = 0;
                for (int i = 0; i < n; i++) turned[j] += (double)values[i] * vectors[i * n + order[j]];
            }

            for (int j = 0; j < n; j++) values[j] = (float)turned[j];
        }
    }
}

static bool is_interrupted(const fit_work *w) { return w->def->interrupted && w->def->interrupted(w->def->context); }

static void find_components(fit_work *w)
{
    const cutis_jobs *jobs = w->def->jobs;

    /* The start: signs from a hash, the same every time. */
    for (int i = 0; i < w->columns; i++) {
        uint64_t bits = hash_bytes(&i, sizeof i, 1);
        for (int k = 0; k < w->side; k++)
            w->b[(size_t)i * (size_t)w->side + (size_t)k] = bits >> (k & 63) & 1 ? 1.0f : -1.0f;
    }

    /* power iteration on both sides */
    for (int i = 0; i < ITERATIONS && !is_interrupted(w); i++) {
        parallel_for(jobs, w->frames, FRAME_GRAIN, multiply_rows, w);
        orthonormalize(w);
        parallel_for(jobs, w->columns, COLUMN_GRAIN, multiply_columns, w);
    }

    rotate_to_components(w);
}

/* ---- errors ---- */

/* Errors of the frames, with 0, 1, ... evaluate_count targets when levels is set, else with all. */
static void measure_frames(void *context, int begin, int end)
{
    fit_work *w = context;
    int levels = w->levels ? w->evaluate_count + 1 : 1;
    size_t plane = 3 * (size_t)w->vertices;

    for (int f = begin; f < end; f++) {
        double *sums = w->frame_sums + (size_t)f * (size_t)levels, *largest = w->frame_max + (size_t)f * (size_t)levels;
        const float *weights = w->count > 0 ? w->weights + (size_t)f * (size_t)w->count : NULL;

        /* the targets that this frame uses */
        int used[REFIT_LIMIT], used_count = 0;
        for (int k = 0; k < w->count && !w->levels; k++)
            if (weights[k] != 0 && used_count < REFIT_LIMIT) used[used_count++] = k;

        for (int i = 0; i < levels; i++) sums[i] = largest[i] = 0;

        /* every vertex */
        for (int v = 0; v < w->vertices; v++) {
            float a[9], r[3];
            vertex_blend(w, f, v, a, r);
            vec3 sum = {0, 0, 0};

            /* add targets one by one, or all of them at once */
            for (int k = 0; k < (w->levels ? levels : 1); k++) {
                if (w->levels && k > 0)
                    sum =
                        vec3_madd(sum, vec3_load(w->deltas + (size_t)(k - 1) * plane + 3 * (size_t)v), weights[k - 1]);
                for (int i = 0; !w->levels && i < used_count; i++)
                    sum = vec3_madd(sum, vec3_load(w->deltas + (size_t)used[i] * plane + 3 * (size_t)v),
                                    weights[used[i]]);

                /* distance that remains */
                double squared = 0;
                for (int i = 0; i < 3; i++) {
                    double e = (double)r[i] - ((double)a[3 * i] * (double)sum.x + (double)a[3 * i + 1] * (double)sum.y +
                                               (double)a[3 * i + 2] * (double)sum.z);
                    squared += e * e;
                }

                sums[k] += squared;
                largest[k] = MAX(largest[k], squared);
            }
        }
    }
}

static void measure(fit_work *w, bool levels, morph_fit *fit)
{
    w->levels = levels;
    w->evaluate_count = levels ? w->count : 0;
    parallel_for(w->def->jobs, w->frames, FRAME_GRAIN, measure_frames, w);

    if (levels) return;

    /* over all frames */
    double sum = 0, largest = -1;
    for (int f = 0; f < w->frames; f++) {
        sum += w->frame_sums[f];
        if (w->frame_max[f] > largest) {
            largest = w->frame_max[f];
            fit->worst_frame = f;
        }
    }

    fit->rms = sqrt(sum / ((double)w->frames * (double)w->vertices));
    fit->max = sqrt(MAX(largest, 0));
}

/* The fewest targets whose largest error is within the tolerance; all when that is not enough. */
static int choose_count(const fit_work *w, double tolerance, bool *enough)
{
    *enough = true;
    int levels = w->count + 1;
    for (int k = 0; k < levels; k++) {
        double largest = 0;
        for (int f = 0; f < w->frames; f++)
            largest = MAX(largest, w->frame_max[(size_t)f * (size_t)levels + (size_t)k]);
        if (sqrt(largest) <= tolerance) return k;
    }
    *enough = false;
    return w->count;
}

/* ---- weighing ---- */

/* The largest error of each vertex. */
static void measure_vertices(void *context, int begin, int end)
{
    fit_work *w = context;
    size_t plane = 3 * (size_t)w->vertices;

    for (int v = begin; v < end; v++) {
        w->vertex_max[v] = 0;
        for (int f = 0; f < w->frames; f++) {
            const float *weights = w->weights + (size_t)f * (size_t)w->count;
            float a[9], r[3];
            vertex_blend(w, f, v, a, r);

            /* where the targets put it */
            vec3 sum = {0, 0, 0};
            for (int k = 0; k < w->count; k++)
                sum = vec3_madd(sum, vec3_load(w->deltas + (size_t)k * plane + 3 * (size_t)v), weights[k]);

            /* its distance from the frame */
            double squared = 0;
            for (int i = 0; i < 3; i++) {
                float e = r[i] - (a[3 * i] * sum.x + a[3 * i + 1] * sum.y + a[3 * i + 2] * sum.z);
                squared += (double)e * (double)e;
            }

            w->vertex_max[v] = MAX(w->vertex_max[v], squared);
        }
    }
}

/* Vertices, and frames, count the more the larger their largest error was: a weight is the product of both. */
static void weigh(fit_work *w)
{
    double worst = 0;
    parallel_for(w->def->jobs, w->vertices, VERTEX_GRAIN, measure_vertices, w);
    for (int v = 0; v < w->vertices; v++) worst = MAX(worst, w->vertex_max[v]);
    if (!(worst > 0)) return;
    for (int f = 0; f < w->frames; f++)
        w->frame_scales[f] *= (float)det_pow(MAX(w->frame_max[f] / worst, WEIGH_LEAST), WEIGH_POWER);
    for (int v = 0; v < w->vertices; v++)
        w->vertex_scales[v] *= (float)det_pow(MAX(w->vertex_max[v] / worst, WEIGH_LEAST), WEIGH_POWER);
}

/* ---- targets of vertices whose blend is flat at some frame ---- */

static void refit_vertex(fit_work *w, int v)
{
    int count = w->count, n = 3 * count;
    double matrix[REFIT_LIMIT * REFIT_LIMIT], right[REFIT_LIMIT];

    memset(matrix, 0, (size_t)n * (size_t)n * sizeof *matrix);
    memset(right, 0, (size_t)n * sizeof *right);

    /* normal equations of the targets' deltas at this vertex, summed over the frames */
    for (int f = 0; f < w->frames; f++) {
        const float *weights = w->weights + (size_t)f * (size_t)count;
        float a[9], r[3];
        double ata[9], atr[3];
        vertex_blend(w, f, v, a, r);

        for (int i = 0; i < 9; i++) a[i] *= w->frame_scales[f];
        for (int i = 0; i < 3; i++) r[i] *= w->frame_scales[f];

        /* A'A and A'r of this frame */
        for (int i = 0; i < 3; i++) {
            atr[i] = 0;
            for (int k = 0; k < 3; k++) atr[i] += (double)a[3 * k + i] * (double)r[k];
            for (int j = 0; j < 3; j++) {
                ata[3 * i + j] = 0;
                for (int k = 0; k < 3; k++) ata[3 * i + j] += (double)a[3 * k + i] * (double)a[3 * k + j];
            }
        }

        /* added by the products of weights */
        for (int p = 0; p < count; p++) {
            double wp = (double)weights[p];

            for (int i = 0; i < 3; i++) right[3 * p + i] += wp * atr[i];
            for (int q = 0; q <= p; q++) {
                double product = wp * (double)weights[q];
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) matrix[(3 * p + i) * n + 3 * q + j] += product * ata[3 * i + j];
            }
        }
    }

    /* regularise */
    double trace = 0;
    for (int i = 0; i < n; i++) trace += matrix[i * n + i];

    /* Large enough that no direction which all frames leave open is followed far. */
    for (int i = 0; i < n; i++) matrix[i * n + i] += 1e-5 * trace / n;
    if (!cholesky_solve(matrix, right, n)) return;

    /* the targets at this vertex */
    for (int p = 0; p < count; p++)
        for (int i = 0; i < 3; i++)
            w->refit[((size_t)p * (size_t)w->vertices + (size_t)v) * 3 + (size_t)i] = (float)right[3 * p + i];
}

static void refit_vertices(void *context, int begin, int end)
{
    fit_work *w = context;
    for (int v = begin; v < end; v++) {
        bool flat = false;
        for (int f = 0; f < w->frames && !flat; f++) {
            float a[9], r[3], d[3];
            vertex_blend(w, f, v, a, r);
            flat = blend_unskin(a, r, w->flat, d);
        }
        if (flat) refit_vertex(w, v);
    }
}

/* ---- targets and weights in turns ---- */

/* The weights of frames that serve the targets best. */
static void refit_frames(void *context, int begin, int end)
{
    fit_work *w = context;
    int n = w->count;
    size_t plane = 3 * (size_t)w->vertices;

    for (int f = begin; f < end; f++) {
        double matrix[SIDE_LIMIT * SIDE_LIMIT] = {0}, right[SIDE_LIMIT] = {0};

        /* normal equations of the frame's weights, summed over the vertices */
        for (int v = 0; v < w->vertices; v++) {
            float a[9], r[3], rows[3][SIDE_LIMIT], scale = w->vertex_scales[v];
            vertex_blend(w, f, v, a, r);
            for (int k = 0; k < n; k++) {
                vec3 d = vec3_load(w->deltas + (size_t)k * plane + 3 * (size_t)v);
                for (int i = 0; i < 3; i++)
                    rows[i][k] = scale * (a[3 * i] * d.x + a[3 * i + 1] * d.y + a[3 * i + 2] * d.z);
            }

            for (int i = 0; i < 3; i++)
                for (int p = 0; p < n; p++) {
                    double value = (double)rows[i][p];
                    right[p] += value * (double)(scale * r[i]);
                    for (int q = 0; q <= p; q++) matrix[p * n + q] += value * (double)rows[i][q];
                }
        }

        /* slightly regularised, for targets that are nearly alike */
        double trace = 0;
        for (int i = 0; i < n; i++) trace += matrix[i * n + i];
        for (int i = 0; i < n; i++) matrix[i * n + i] += 1e-9 * trace / n;

        if (!cholesky_solve(matrix, right, n)) continue;
        for (int k = 0; k < n; k++) w->frame_weights[(size_t)f * (size_t)n + (size_t)k] = (float)right[k];
    }
}

/* q = W (W'W)^-1, row by row, with the frames' scales in both factors: then q' (scaled rows) are the best targets. */
static void weights_invert(fit_work *w)
{
    int n = w->count;
    double gram[SIDE_LIMIT * SIDE_LIMIT], column[SIDE_LIMIT], trace = 0;

    /* the Gram matrix of the weights */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int f = 0; f < w->frames; f++)
                sum += (double)w->frame_scales[f] * (double)w->frame_scales[f] *
                       (double)w->weights[(size_t)f * (size_t)n + (size_t)i] *
                       (double)w->weights[(size_t)f * (size_t)n + (size_t)j];
            gram[i * n + j] = sum;
        }

    /* slightly regularised */
    for (int i = 0; i < n; i++) trace += gram[i * n + i];
    for (int i = 0; i < n; i++) gram[i * n + i] += 1e-6 * trace / n;

    /* solve it for each frame */
    w->side = n;
    for (int f = 0; f < w->frames; f++) {
        double factor[SIDE_LIMIT * SIDE_LIMIT];
        memcpy(factor, gram, (size_t)n * (size_t)n * sizeof *factor);

        for (int k = 0; k < n; k++) column[k] = (double)w->weights[(size_t)f * (size_t)n + (size_t)k];
        bool solved = cholesky_solve(factor, column, n);

        float square = w->frame_scales[f] * w->frame_scales[f];
        for (int k = 0; k < n; k++) w->q[(size_t)f * (size_t)n + (size_t)k] = solved ? square * (float)column[k] : 0;
    }
}

/*
 * As many targets as are allowed, which leave too much. From here on targets and weights are solved for in turns, each
 * for the other, by the distances that are seen instead of the un-skinned ones; the best that is met is kept.
 * `next_` arrays are scratch of the same shapes.
 */
static void weigh_components(fit_work *w, int limit, float *deltas, float *weights, float *next_deltas,
                             float *next_weights, morph_fit *fit)
{
    /* start from the components */
    double best = HUGE_VAL, goal = w->def->tolerance * (1 - THIN);
    memcpy(next_deltas, deltas, (size_t)limit * (size_t)w->columns * sizeof(float));
    memcpy(next_weights, weights, (size_t)w->frames * (size_t)limit * sizeof(float));
    w->deltas = next_deltas;
    w->refit = next_deltas;
    w->weights = next_weights;
    w->frame_weights = next_weights;

    for (int round = 0; round <= ROUNDS && !is_interrupted(w); round++) {
        /* weigh what is far off more, and fit frames and targets in turn */
        if (round > 0) {
            weigh(w);
            parallel_for(w->def->jobs, w->frames, FRAME_GRAIN, refit_frames, w);
            weights_invert(w);
            parallel_for(w->def->jobs, w->columns, COLUMN_GRAIN, multiply_columns, w);
            for (int k = 0; k < limit; k++)
                for (int i = 0; i < w->columns; i++)
                    next_deltas[(size_t)k * (size_t)w->columns + (size_t)i] =
                        w->b[(size_t)i * (size_t)limit + (size_t)k];
        }

        if (fit->flat_blends > 0) parallel_for(w->def->jobs, w->vertices, VERTEX_GRAIN, refit_vertices, w);
        measure(w, false, fit);

        /* keep the best */
        if (fit->max < best) {
            best = fit->max;
            memcpy(deltas, next_deltas, (size_t)limit * (size_t)w->columns * sizeof(float));
            memcpy(weights, next_weights, (size_t)w->frames * (size_t)limit * sizeof(float));
        }

        if (best <= goal) break;
    }
}

/* ---- normals ---- */

/* Rows of x become: the wanted normal brought back to rest, less the rest normal. Scratch: a frame in b's place. */
static cutis_result unskin_normals(fit_work *w, arena *scratch, cutis_error *error)
{
    const cutis_character *c = w->c;
    float *points = ARENA_ARRAY(scratch, float, (size_t)c->point_count * 3);
    float *rest = ARENA_ARRAY(scratch, float, w->columns), *posed = ARENA_ARRAY(scratch, float, w->columns);
    if (scratch->failed) return error_memory(error, "morph targets");

    normal_frames frames;
    cutis_result result = normal_frames_build(&frames, c, scratch, error);
    if (result != CUTIS_OK) return result;

    character_normals(c, &frames, c->positions, points, rest);
    for (int f = 0; f < w->frames; f++) {
        float *row = w->x + (size_t)f * (size_t)w->columns;
        character_normals(c, &frames, w->def->frames + (size_t)f * (size_t)w->columns, points, posed);

        for (int v = 0; v < w->vertices; v++) {
            float a[9], r[3];
            vertex_blend(w, f, v, a, r);
            vec3 n = vec3_load(posed + 3 * (size_t)v);

            /* Normals are turned by the inverse transpose of A, so back by the transpose. */
            vec3 local = {a[0] * n.x + a[3] * n.y + a[6] * n.z, a[1] * n.x + a[4] * n.y + a[7] * n.z,
                          a[2] * n.x + a[5] * n.y + a[8] * n.z};
            local = vec3_normalize(local);

            bool known = vec3_length2(local) > 0.5f && vec3_length2(vec3_load(rest + 3 * (size_t)v)) > 0.5f;
            vec3 delta = known ? vec3_sub(local, vec3_load(rest + 3 * (size_t)v)) : vec3_make(0, 0, 0);
            vec3_store(row + 3 * (size_t)v, delta);
        }
    }

    return CUTIS_OK;
}

/* Normals by least squares for the weights that the positions chose. */
static void fit_normals(fit_work *w, morph_fit *fit)
{
    int n = fit->count;
    w->weights = fit->weights;
    w->count = n;
    for (int f = 0; f < w->frames; f++) w->frame_scales[f] = 1;
    weights_invert(w);
    parallel_for(w->def->jobs, w->columns, COLUMN_GRAIN, multiply_columns, w);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < w->columns; i++) {
            float value = w->b[(size_t)i * (size_t)n + (size_t)k];
            fit->normals[(size_t)k * (size_t)w->columns + (size_t)i] = fabsf(value) < 1e-3f ? 0 : value;
        }
}

/* ---- the whole ---- */

/*
 * Weights in 0..1, as sliders of programs go, and zeros where a target moves a vertex by next to nothing. Components
 * whose weights have both signs are counted from their least one; what that leaves out is the same at every frame, and
 * becomes one more target whose weight is 1. weights: (frames x fit->count); fit->deltas has room for that target.
 */
static cutis_result finish_targets(const fit_work *w, const float *weights, bool may_add, arena *memory, morph_fit *fit,
                                   cutis_error *error)
{
    size_t count = (size_t)fit->count, columns = (size_t)w->columns, frames = (size_t)w->frames;
    float offsets[SIDE_LIMIT], scales[SIDE_LIMIT];
    bool add = false;

    /* range of each target's weights */
    for (size_t k = 0; k < count; k++) {
        float low = weights[k], high = low;
        for (size_t f = 1; f < frames; f++) {
            low = MIN(low, weights[f * count + k]);
            high = MAX(high, weights[f * count + k]);
        }

        bool mixed = low < 0 && high > 0;
        offsets[k] = mixed && may_add ? low : 0;
        scales[k] = mixed && !may_add ? MAX(high, -low) : high <= 0 ? low : high - offsets[k];

        if (scales[k] == 0) scales[k] = 1;
        add |= offsets[k] != 0;
    }

    /* weights from 0 to 1 */
    size_t all = count + add;
    fit->count = (int)all;
    fit->weights = ARENA_ARRAY(memory, float, frames *all);

    if (memory->failed) return error_memory(error, "morph targets");
    for (size_t f = 0; f < frames; f++) {
        for (size_t k = 0; k < count; k++)
            fit->weights[f * all + k] = (weights[f * count + k] - offsets[k]) / scales[k];
        if (add) fit->weights[f * all + count] = 1;
    }

    /* deltas to match, without those too short to be seen */
    float thin = (float)(THIN * w->def->tolerance / fit->count);
    for (int v = 0; v < w->vertices; v++) {
        vec3 constant = vec3_make(0, 0, 0);
        for (size_t k = 0; k < all; k++) {
            float *at = fit->deltas + k * columns + 3 * (size_t)v;
            vec3 delta = constant;
            if (k < count) {
                constant = vec3_add(constant, vec3_scale(vec3_load(at), offsets[k]));
                delta = vec3_scale(vec3_load(at), scales[k]);
            }

            if (!(vec3_length(delta) > thin)) delta = vec3_make(0, 0, 0);
            vec3_store(at, delta);
        }
    }

    return CUTIS_OK;
}

static cutis_result fit_exact(fit_work *w, arena *memory, arena *scratch, morph_fit *fit, cutis_error *error)
{
    size_t total = (size_t)w->frames * (size_t)w->columns;
    fit->count = w->frames;
    fit->deltas = arena_copy(memory, w->x, total, sizeof(float));
    fit->weights = ARENA_ARRAY(memory, float, (size_t)w->frames *(size_t)w->frames);
    if (w->def->normals) fit->normals = ARENA_ARRAY(memory, float, total);
    if (memory->failed) return error_memory(error, "morph targets");
    for (int f = 0; f < w->frames; f++) fit->weights[(size_t)f * (size_t)w->frames + (size_t)f] = 1;
    if (!w->def->normals) return CUTIS_OK;
    cutis_result result = unskin_normals(w, scratch, error);
    if (result == CUTIS_OK) memcpy(fit->normals, w->x, total * sizeof(float));
    return result;
}

/* Principal components of the residuals: the longest as targets (limit x columns) with weights (frames x limit). */
static void components_take(fit_work *w, int limit, float *deltas, float *weights)
{
    size_t side = (size_t)w->side;

    /* every frame and every vertex counts alike */
    for (int f = 0; f < w->frames; f++) w->frame_scales[f] = 1;
    for (int v = 0; v < w->vertices; v++) w->vertex_scales[v] = 1;
    find_components(w);

    /* w->b and w->q hold a few more than are wanted, a vertex or a frame in a row */
    for (int k = 0; k < limit; k++)
        for (int i = 0; i < w->columns; i++)
            deltas[(size_t)k * (size_t)w->columns + (size_t)i] = w->b[(size_t)i * side + (size_t)k];
    for (int f = 0; f < w->frames; f++)
        for (int k = 0; k < limit; k++)
            weights[(size_t)f * (size_t)limit + (size_t)k] = w->q[(size_t)f * side + (size_t)k];

    w->deltas = deltas;
    w->weights = weights;
    w->count = limit;
}

/* The first fit->count of `limit` targets become the result. refit: fit them once more where the blend is flat. */
static cutis_result components_give(fit_work *w, int limit, const float *deltas, const float *weights, bool refit,
                                    arena *memory, arena *scratch, morph_fit *fit, cutis_error *error)
{
    size_t count = (size_t)fit->count, columns = (size_t)w->columns;

    /* room, also for the target that finish_targets may add */
    fit->deltas = ARENA_ARRAY(memory, float, (count + 1) * columns);
    if (w->def->normals) fit->normals = ARENA_ARRAY(memory, float, (count + 1) * columns);
    float *chosen = ARENA_ARRAY(scratch, float, (size_t)w->frames *count);
    if (memory->failed || scratch->failed) return error_memory(error, "morph targets");

    /* the targets and their weights */
    memcpy(fit->deltas, deltas, count * columns * sizeof(float));
    for (size_t f = 0; f < (size_t)w->frames; f++)
        memcpy(chosen + f * count, weights + f * (size_t)limit, count * sizeof(float));

    w->count = fit->count;
    w->weights = chosen;
    w->refit = fit->deltas;
    if (refit) parallel_for(w->def->jobs, w->vertices, VERTEX_GRAIN, refit_vertices, w);

    cutis_result result = finish_targets(w, chosen, w->def->limit > 1, memory, fit, error);
    if (result != CUTIS_OK || !w->def->normals) return result;

    /* normals, with the same weights */
    result = unskin_normals(w, scratch, error);
    if (result == CUTIS_OK) fit_normals(w, fit);
    return result;
}

static cutis_result fit_components(fit_work *w, arena *memory, arena *scratch, morph_fit *fit, cutis_error *error)
{
    /* One less than allowed: finish_targets may add one. */
    bool may_add = w->def->limit > 1;
    int limit = MIN(MIN(w->def->limit, SIDE_LIMIT - EXTRA) - may_add, MIN(w->frames, w->columns));
    w->side = MIN(limit + EXTRA, MIN(w->frames, w->columns));

    size_t side = (size_t)w->side;

    /* With room for the target that finish_targets may add: fit_normals uses them again. */
    w->q = ARENA_ARRAY(scratch, float, (size_t)w->frames *(side + 1));
    w->b = ARENA_ARRAY(scratch, float, (size_t)w->columns *(side + 1));
    w->y = ARENA_ARRAY(scratch, double, (size_t)w->frames *side);
    w->frame_scales = ARENA_ARRAY(scratch, float, w->frames);
    w->vertex_scales = ARENA_ARRAY(scratch, float, w->vertices);
    w->vertex_max = ARENA_ARRAY(scratch, double, w->vertices);
    float *deltas = ARENA_ARRAY(scratch, float, (size_t)limit *(size_t)w->columns);
    float *weights = ARENA_ARRAY(scratch, float, (size_t)w->frames *(size_t)limit);
    if (scratch->failed) return error_memory(error, "morph targets");

    /* the targets, and as many of them as the tolerance needs */
    components_take(w, limit, deltas, weights);
    if (is_interrupted(w)) return CUTIS_OK;
    measure(w, true, fit);

    bool enough;
    fit->count = choose_count(w, w->def->tolerance * (1 - THIN), &enough);

    /* if all do not suffice, improve them */
    if (!enough) {
        float *next_deltas = ARENA_ARRAY(scratch, float, (size_t)limit *(size_t)w->columns);
        float *next_weights = ARENA_ARRAY(scratch, float, (size_t)w->frames *(size_t)limit);
        if (scratch->failed) return error_memory(error, "morph targets");
        weigh_components(w, limit, deltas, weights, next_deltas, next_weights, fit);
    }

    if (fit->count == 0 || is_interrupted(w)) return CUTIS_OK;
    bool refit = enough && fit->flat_blends > 0;
    return components_give(w, limit, deltas, weights, refit, memory, scratch, fit, error);
}

static void sample_poses(fit_work *w, float *joints)
{
    const cutis_character *c = w->c;
    size_t pose = (size_t)c->joint_count * 12;
    for (int f = 0; f < w->frames; f++) {
        double time = w->def->start + f / w->def->fps;
        const float *given = w->def->joints ? w->def->joints + (size_t)f * pose : joints;
        if (!w->def->joints) cutis_pose_sample(c, w->def->clip, time, joints);
        skin_matrices(c, given, w->skin + (size_t)f * pose);
        if (c->morph_count)
            cutis_pose_morphs(c, w->def->clip, time, w->own_weights + (size_t)f * (size_t)c->morph_count);
    }
}

static cutis_result fit_all(fit_work *w, arena *memory, arena *scratch, morph_fit *fit, cutis_error *error)
{
    const cutis_character *c = w->c;
    size_t frames = (size_t)w->frames;

    /* room */
    float *joints = ARENA_ARRAY(scratch, float, (size_t)c->joint_count * 12);
    w->skin = ARENA_ARRAY(scratch, float, frames *(size_t)c->joint_count * 12);
    w->own_weights = ARENA_ARRAY(scratch, float, frames *(size_t)c->morph_count);
    w->x = ARENA_ARRAY(scratch, float, frames *(size_t)w->columns);
    w->frame_sums = ARENA_ARRAY(scratch, double, frames *(SIDE_LIMIT + 1));
    w->frame_max = ARENA_ARRAY(scratch, double, frames *(SIDE_LIMIT + 1));
    w->frame_flats = ARENA_ARRAY(scratch, int, frames);
    if (scratch->failed) return error_memory(error, "morph targets");

    /* the residual that linear skinning leaves, brought back to rest */
    sample_poses(w, joints);
    measure(w, false, fit); /* of no target: the residual itself */
    fit->residual = fit->max;
    parallel_for(w->def->jobs, w->frames, FRAME_GRAIN, unskin_frames, w);

    /* share of vertices whose blend is flat */
    double flats = 0;
    for (int f = 0; f < w->frames; f++) flats += w->frame_flats[f];
    fit->flat_blends = flats / ((double)w->frames * (double)w->vertices);

    /* targets and their weights */
    cutis_result result =
        w->def->exact ? fit_exact(w, memory, scratch, fit, error) : fit_components(w, memory, scratch, fit, error);

    if (result != CUTIS_OK) return result;
    fit->interrupted = is_interrupted(w);
    if (fit->interrupted) return CUTIS_OK;

    /* what they leave */
    w->deltas = fit->deltas;
    w->weights = fit->weights;
    w->count = fit->count;
    measure(w, false, fit);
    return CUTIS_OK;
}

cutis_result morph_fit_make(const morph_fit_def *def, arena *memory, morph_fit *fit, cutis_error *error)
{
    *fit = (morph_fit){0};
    fit_work w = {.def = def,
                  .c = def->character,
                  .vertices = def->character->vertex_count,
                  .frames = def->frame_count,
                  .flat = def->exact ? FLAT_EXACT : FLAT};

    if (w.vertices > INT32_MAX / 3) return error_memory(error, "morph targets");
    w.columns = 3 * w.vertices;

    arena scratch = arena_create(&memory->allocator);
    cutis_result result = fit_all(&w, memory, &scratch, fit, error);
    arena_destroy(&scratch);
    return result;
}
