/*
 * layers_match.c: shape matching of oriented particles over regions, by sums along paths.
 *
 * After Deul and Bender 2013, sections 4.2.1 and 4.3 (oriented particles: Mueller and Chentanez 2011). A
 * region r holds the w-ring of its centre and the siblings of the centre in the adjacent layers. With the
 * particles' moment matrices a R,
 *     A_r = sum_i (a_i R_i + m_i x_i x0_i^T) - (sum_i m_i x_i) c0_r^T,   R_r = polar(A_r),
 *     g_i = mean over regions r that hold i of  R_r x0_i + (c_r - R_r c0_r).
 * Regions are symmetric (i in r(j) when j in r(i)), so both sums run over the same intervals.
 *
 * Departures from the paper:
 * - Instead of pulling x towards g by a fraction s in each iteration, which makes the material depend on the
 *   iteration count and the substep, an iteration is a step of block descent on the energy of the implicit
 *   Euler step,
 *       E(x, R, c) = sum_i m_i / 2 |x_i - y_i|^2 / h^2 + sum_r kappa_r sum_i (m_i / n_i) / 2 |x_i - T_r x0_i|^2,
 *   with y where inertia takes the particle and n_i the number of regions that hold it. The rotations are the
 *   exact minimum for given x, and the positions for given rotations are
 *       x_i = (y_i + beta_i g_i) / (1 + beta_i),   beta_i = h^2 mean(kappa_r),
 *   so that E never grows, the scheme is stable for every h and kappa, and its fixed point knows nothing of
 *   the number of iterations. kappa is an inverse time squared: halving h leaves the material as it is.
 * - Siblings count with a weight (parameter `siblings`, as a share of the region's ring) and the stiffness of the
 *   softer of the two layers. The paper counts a sibling like any of the tens of particles of the ring, with the
 *   region's stiffness: that makes the flesh between skin and bone tens of times softer than along the layer, and lets
 *   a firm skin stiffen the fat below it.
 * - Prefix sums of floats lose the small moments of a fine mesh. So the sums of the first iterate are taken once
 *   a substep, in double, and iterations only sum what they have moved since.
 * - The rotation comes from one Newton step a visit, warm-started across iterations and substeps; where the
 *   Hessian is not positive definite, a step of Mueller et al. 2016 takes its place.
 */
#include "solvers/layers/layers.h"

/* Four layers of a number in double and in float, and of two numbers. */
typedef double d4 __attribute__((vector_size(32)));
typedef float l4 __attribute__((vector_size(16)));
typedef float l8 __attribute__((vector_size(32)));

/* Points that a call of the polar kernel takes: two, so that eight particles fill the widest vector. */
enum { PAIR = 2, PAIR_LANES = PAIR * LAYERS };
/* Vectors of eight floats that hold the numbers of a region for the four layers. */
enum { SUM_VECTORS = SUM_STRIDE / 8 };

static inline l4 l4_load(const float *from)
{
    l4 a;
    memcpy(&a, from, sizeof a);
    return a;
}

static inline void l4_store(float *to, l4 a) { memcpy(to, &a, sizeof a); }

static inline l8 l8_load(const float *from)
{
    l8 a;
    memcpy(&a, from, sizeof a);
    return a;
}

static inline void l8_store(float *to, l8 a) { memcpy(to, &a, sizeof a); }

static inline d4 d4_load(const float *from) { return __builtin_convertvector(l4_load(from), d4); }
static inline void d4_store(float *to, d4 a) { l4_store(to, __builtin_convertvector(a, l4)); }

static inline d4 d4_get(const double *from)
{
    d4 a;
    memcpy(&a, from, sizeof a);
    return a;
}

static inline void d4_put(double *to, d4 a) { memcpy(to, &a, sizeof a); }

/*
 * Weighted sum of the layer above and the layer below, for each layer: of one number, and of two. The weights of what
 * is not there are 0, so the rotations may bring anything.
 */
static inline d4 adjacent(d4 a, d4 above, d4 below)
{
    return above * __builtin_shufflevector(a, a, 3, 0, 1, 2) + below * __builtin_shufflevector(a, a, 1, 2, 3, 0);
}

static inline l8 adjacent_pair(l8 a, l8 above, l8 below)
{
    return above * __builtin_shufflevector(a, a, 3, 0, 1, 2, 7, 4, 5, 6) +
           below * __builtin_shufflevector(a, a, 1, 2, 3, 0, 5, 6, 7, 4);
}

/* Four weights twice. */
static inline l8 l8_twice(const float *from)
{
    l4 a = l4_load(from);
    return __builtin_shufflevector(a, a, 0, 1, 2, 3, 0, 1, 2, 3);
}

double layers_kappa(double stiffness)
{
    /* From flesh that swings at 2 Hz to tissue that no motion of a character strains, evenly in the logarithm. */
    double hertz = 2 * det_pow(125.0, CLAMP(stiffness, 0.0, 1.0));
    double omega = 6.283185307179586 * hertz;
    return omega * omega;
}

/* ---- regional sums ---- */

/* Sum over the region of place k of prefix sums, siblings included, into total (SUM_STRIDE floats). */
static inline void region_sum(const layers_paths *paths, const float *prefix, const float *siblings[2], int k,
                              float *total)
{
    const layers_interval *i = paths->intervals + paths->interval_first[k];
    const layers_interval *end = paths->intervals + paths->interval_first[k + 1];
    const float *own = prefix + (size_t)(k + paths->path_of[k]) * SUM_STRIDE;
    l8 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0};
    for (; i < end; i++) {
        const float *a = prefix + (size_t)i->begin * SUM_STRIDE, *b = prefix + (size_t)i->end * SUM_STRIDE;
        s0 += l8_load(b) - l8_load(a);
        s1 += l8_load(b + 8) - l8_load(a + 8);
        s2 += l8_load(b + 16) - l8_load(a + 16);
        s3 += l8_load(b + 24) - l8_load(a + 24);
        s4 += l8_load(b + 32) - l8_load(a + 32);
        s5 += l8_load(b + 40) - l8_load(a + 40);
    }
    l8 above = l8_twice(siblings[0] + 4 * k), below = l8_twice(siblings[1] + 4 * k);
    l8 s[SUM_VECTORS] = {s0, s1, s2, s3, s4, s5};
    for (int c = 0; c < SUM_VECTORS; c++)
        l8_store(total + 8 * c,
                 s[c] + adjacent_pair(l8_load(own + SUM_STRIDE + 8 * c) - l8_load(own + 8 * c), above, below));
}

/* What the particles of place k add to the moments about the origin, from positions x. */
static inline void moment_terms(const layers_regions *regions, float *const x[3], int k, d4 *terms)
{
    d4 mass = d4_load(regions->masses + 4 * k);
    for (int r = 0; r < 3; r++) {
        terms[9 + r] = mass * d4_load(x[r] + 4 * k);
        for (int c = 0; c < 3; c++) terms[3 * r + c] = terms[9 + r] * d4_load(regions->rest[c] + 4 * k);
    }
}

/* Moments of a region about its centre from those about the origin. out: SUM_STRIDE floats. */
static inline void moments_centre(const layers_regions *regions, int k, const d4 *total, float *out)
{
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            d4_store(out + 4 * (3 * r + c), total[3 * r + c] - total[9 + r] * d4_load(regions->centre[c] + 4 * k));
        d4_store(out + 4 * (9 + r), total[9 + r]);
    }
}

/* The moments of a region's particles at x, and of their rotations, by visiting each: the naive sum. */
static void region_moments_naive(const layers_paths *paths, const layers_regions *regions, const layers_motion *motion,
                                 int k, float *out)
{
    d4 total[SUM_COMPONENTS] = {{0}}, terms[SUM_COMPONENTS];
    d4 above = d4_load(regions->take[0] + 4 * k), below = d4_load(regions->take[1] + 4 * k);
    for (int i = paths->member_first[k]; i < paths->member_first[k + 1]; i++) {
        int member = paths->members[i];
        d4 moment = d4_load(regions->moments + 4 * member);
        moment_terms(regions, motion->x, member, terms);
        for (int c = 0; c < 9; c++) terms[c] += moment * d4_load(motion->rotation + (size_t)member * 36 + 4 * c);
        for (int c = 0; c < SUM_COMPONENTS; c++) {
            total[c] += terms[c];
            if (member == k) total[c] += adjacent(terms[c], above, below);
        }
    }
    moments_centre(regions, k, total, out);
}

/* The same for the regions' maps, which lie one after the other in naive mode. */
static void region_maps_naive(const layers_paths *paths, const layers_regions *regions, const layers_motion *motion,
                              int k, float *out)
{
    d4 above = d4_load(regions->give[0] + 4 * k), below = d4_load(regions->give[1] + 4 * k);
    for (int c = 0; c < SUM_COMPONENTS; c++) {
        d4 total = {0};
        for (int i = paths->member_first[k]; i < paths->member_first[k + 1]; i++)
            total += d4_load(motion->maps + (size_t)paths->members[i] * SUM_STRIDE + 4 * c);
        d4 own = d4_load(motion->maps + (size_t)k * SUM_STRIDE + 4 * c);
        d4_store(out + 4 * c, total + adjacent(own, above, below));
    }
}

void layers_match_base_sums(const layers_paths *paths, const layers_regions *regions, layers_motion *motion,
                            int path_begin, int path_end)
{
    for (int path = path_begin; path < path_end; path++) {
        d4 running[SUM_COMPONENTS] = {{0}}, terms[SUM_COMPONENTS];
        double *out = motion->base_sums + (size_t)(paths->path_first[path] + path) * SUM_STRIDE;
        for (int c = 0; c < SUM_COMPONENTS; c++) d4_put(out + 4 * c, running[c]);
        for (int k = paths->path_first[path]; k < paths->path_first[path + 1]; k++) {
            out += SUM_STRIDE;
            moment_terms(regions, motion->x, k, terms);
            for (int c = 0; c < SUM_COMPONENTS; c++) d4_put(out + 4 * c, running[c] += terms[c]);
            for (int c = 0; c < 3; c++) memcpy(motion->base_x[c] + 4 * k, motion->x[c] + 4 * k, LAYERS * sizeof(float));
        }
    }
}

void layers_match_base(const layers_paths *paths, const layers_regions *regions, layers_motion *motion, int path_begin,
                       int path_end)
{
    d4 total[SUM_COMPONENTS];
    const double *prefix = motion->base_sums;
    for (int k = paths->path_first[path_begin]; k < paths->path_first[path_end]; k++) {
        const double *own = prefix + (size_t)(k + paths->path_of[k]) * SUM_STRIDE;
        d4 above = d4_load(regions->take[0] + 4 * k), below = d4_load(regions->take[1] + 4 * k);
        for (int c = 0; c < SUM_COMPONENTS; c++)
            total[c] = adjacent(d4_get(own + SUM_STRIDE + 4 * c) - d4_get(own + 4 * c), above, below);
        for (int i = paths->interval_first[k]; i < paths->interval_first[k + 1]; i++) {
            const double *a = prefix + (size_t)paths->intervals[i].begin * SUM_STRIDE;
            const double *b = prefix + (size_t)paths->intervals[i].end * SUM_STRIDE;
            for (int c = 0; c < SUM_COMPONENTS; c++) total[c] += d4_get(b + 4 * c) - d4_get(a + 4 * c);
        }
        moments_centre(regions, k, total, motion->base + (size_t)k * SUM_STRIDE);
    }
}

void layers_match_sums(const layers_paths *paths, const layers_regions *regions, layers_motion *motion, int path_begin,
                       int path_end)
{
    for (int path = path_begin; path < path_end; path++) {
        l4 running[SUM_COMPONENTS] = {{0}};
        float *out = motion->sums + (size_t)(paths->path_first[path] + path) * SUM_STRIDE;
        for (int c = 0; c < SUM_COMPONENTS; c++) l4_store(out + 4 * c, running[c]);
        for (int k = paths->path_first[path]; k < paths->path_first[path + 1]; k++) {
            const float *rotation = motion->rotation + (size_t)k * 36;
            l4 mass = l4_load(regions->masses + 4 * k), moment = l4_load(regions->moments + 4 * k);
            l4 x0 = l4_load(regions->rest[0] + 4 * k), y0 = l4_load(regions->rest[1] + 4 * k);
            l4 z0 = l4_load(regions->rest[2] + 4 * k);
            out += SUM_STRIDE;
            for (int r = 0; r < 3; r++) {
                l4 d = mass * (l4_load(motion->x[r] + 4 * k) - l4_load(motion->base_x[r] + 4 * k));
                running[3 * r] += d * x0 + moment * l4_load(rotation + 12 * r);
                running[3 * r + 1] += d * y0 + moment * l4_load(rotation + 12 * r + 4);
                running[3 * r + 2] += d * z0 + moment * l4_load(rotation + 12 * r + 8);
                running[9 + r] += d;
            }
            for (int c = 0; c < SUM_COMPONENTS; c++) l4_store(out + 4 * c, running[c]);
        }
    }
}

/* ---- rotations ---- */

static inline void matrix_of(const vfloat q[4], vfloat r[9])
{
    vfloat x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
    vfloat xx = q[0] * x2, xy = q[0] * y2, xz = q[0] * z2, yy = q[1] * y2, yz = q[1] * z2, zz = q[2] * z2;
    vfloat wx = q[3] * x2, wy = q[3] * y2, wz = q[3] * z2;
    vfloat one = v_set(1);
    r[0] = one - (yy + zz), r[1] = xy - wz, r[2] = xz + wy;
    r[3] = xy + wz, r[4] = one - (xx + zz), r[5] = yz - wx;
    r[6] = xz - wy, r[7] = yz + wx, r[8] = one - (xx + yy);
}

/*
 * One step of q towards the rotation nearest to a. With B = R^T A and v its axial part, the trace of
 * exp(-[w]) B is w.v - w.K w / 2 to second order, K = tr(B) I - sym(B): Newton takes K w = v.
 */
static inline void polar_step(const vfloat a[9], const vfloat r[9], vfloat q[4])
{
    vfloat b[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) b[3 * i + j] = r[i] * a[j] + r[3 + i] * a[3 + j] + r[6 + i] * a[6 + j];
    vfloat vx = b[7] - b[5], vy = b[2] - b[6], vz = b[3] - b[1];
    vfloat half = v_set(0.5f), trace = b[0] + b[4] + b[8];
    vfloat size = v_abs(b[0]) + v_abs(b[4]) + v_abs(b[8]) + v_set(1e-30f);
    /* The small term keeps directions that A does not determine where they were. */
    vfloat slack = size * v_set(1e-4f);
    vfloat kxx = trace - b[0] + slack, kyy = trace - b[4] + slack, kzz = trace - b[8] + slack;
    vfloat kxy = -half * (b[1] + b[3]), kxz = -half * (b[2] + b[6]), kyz = -half * (b[5] + b[7]);
    vfloat cxx = kyy * kzz - kyz * kyz, cxy = kxz * kyz - kxy * kzz, cxz = kxy * kyz - kxz * kyy;
    vfloat cyy = kxx * kzz - kxz * kxz, cyz = kxy * kxz - kxx * kyz, czz = kxx * kyy - kxy * kxy;
    vfloat det = kxx * cxx + kxy * cxy + kxz * cxz;
    vfloat floor_det = size * size * size * v_set(1e-9f);
    vint newton = v_less(floor_det, det) & v_less(v_set(0), kxx) & v_less(v_set(0), czz);
    vfloat inverse = v_set(1) / v_select(newton, det, v_set(1));
    vfloat plain = v_set(1) / size;
    vfloat wx = v_select(newton, (cxx * vx + cxy * vy + cxz * vz) * inverse, vx * plain);
    vfloat wy = v_select(newton, (cxy * vx + cyy * vy + cyz * vz) * inverse, vy * plain);
    vfloat wz = v_select(newton, (cxz * vx + cyz * vy + czz * vz) * inverse, vz * plain);
    /* Half the vector, at most half a radian's worth. */
    vfloat length = v_sqrt(wx * wx + wy * wy + wz * wz);
    vfloat scale = half / v_max(length, v_set(1));
    wx *= scale, wy *= scale, wz *= scale;
    vfloat px = q[0] + q[3] * wx + q[1] * wz - q[2] * wy;
    vfloat py = q[1] + q[3] * wy + q[2] * wx - q[0] * wz;
    vfloat pz = q[2] + q[3] * wz + q[0] * wy - q[1] * wx;
    vfloat pw = q[3] - q[0] * wx - q[1] * wy - q[2] * wz;
    vfloat norm = v_set(1) / v_sqrt(px * px + py * py + pz * pz + pw * pw + v_set(1e-30f));
    q[0] = px * norm, q[1] = py * norm, q[2] = pz * norm, q[3] = pw * norm;
}

void layers_match_prepare(const layers_paths *paths, layers_motion *motion, int path_begin, int path_end)
{
    for (int k = paths->path_first[path_begin]; k < paths->path_first[path_end]; k++)
        for (int l = 0; l < LAYERS; l++) {
            int i = 4 * k + l;
            mat3 r = quat_matrix((quat){motion->q[0][i], motion->q[1][i], motion->q[2][i], motion->q[3][i]});
            for (int c = 0; c < 9; c++) motion->rotation[(size_t)k * 36 + 4 * c + l] = r.m[c];
        }
}

/*
 * New rotations of the regions of `count` places from k on from their moments about their centres (and sums of
 * m x, in `moments`), and their maps kappa [R | c - R c0 - shift] into terms.
 */
static inline void regions_match(const layers_regions *regions, layers_motion *motion, int k, int count,
                                 float (*moments)[SUM_STRIDE], float (*terms)[SUM_STRIDE])
{
    _Alignas(64) float a[9][PAIR_LANES], q[4][PAIR_LANES], r[9][PAIR_LANES];
    for (int i = 0; i < PAIR; i++) {
        int place = MIN(k + i, k + count - 1); /* an odd one out is done twice */
        const float *from = moments[place - k], *rotation = motion->rotation + (size_t)place * 36;
        for (int c = 0; c < 9; c++) l4_store(&a[c][4 * i], l4_load(from + 4 * c));
        for (int c = 0; c < 9; c++) l4_store(&r[c][4 * i], l4_load(rotation + 4 * c));
        for (int c = 0; c < 4; c++) l4_store(&q[c][4 * i], l4_load(motion->q[c] + 4 * place));
    }
    for (int lane = 0; lane < PAIR_LANES; lane += LANES) {
        vfloat va[9], vq[4], vr[9];
        for (int c = 0; c < 9; c++) va[c] = v_load(&a[c][lane]), vr[c] = v_load(&r[c][lane]);
        for (int c = 0; c < 4; c++) vq[c] = v_load(&q[c][lane]);
        polar_step(va, vr, vq);
        matrix_of(vq, vr);
        for (int c = 0; c < 4; c++) v_store(&q[c][lane], vq[c]);
        for (int c = 0; c < 9; c++) v_store(&r[c][lane], vr[c]);
    }
    for (int i = 0; i < count; i++) {
        int p = 4 * (k + i);
        float *rotation = motion->rotation + (size_t)(k + i) * 36;
        l4 weight = l4_load(regions->weights + p), inverse = l4_load(regions->mass_inverse + p);
        l4 x0 = l4_load(regions->centre[0] + p), y0 = l4_load(regions->centre[1] + p);
        l4 z0 = l4_load(regions->centre[2] + p);
        for (int c = 0; c < 4; c++) l4_store(motion->q[c] + p, l4_load(&q[c][4 * i]));
        for (int row = 0; row < 3; row++) {
            l4 rx = l4_load(&r[3 * row][4 * i]), ry = l4_load(&r[3 * row + 1][4 * i]);
            l4 rz = l4_load(&r[3 * row + 2][4 * i]);
            l4 centre = l4_load(moments[i] + 36 + 4 * row) * inverse - motion->shift[row];
            l4_store(rotation + 12 * row, rx), l4_store(rotation + 12 * row + 4, ry);
            l4_store(rotation + 12 * row + 8, rz);
            l4_store(terms[i] + 12 * row, weight * rx), l4_store(terms[i] + 12 * row + 4, weight * ry);
            l4_store(terms[i] + 12 * row + 8, weight * rz);
            l4_store(terms[i] + 36 + 4 * row, weight * (centre - (rx * x0 + ry * y0 + rz * z0)));
        }
    }
}

/* Moments of the region of k about its centre: those of the base, and what the iterations have added. */
static inline void region_moments(const layers_paths *paths, const layers_regions *regions, const layers_motion *motion,
                                  int k, float *out)
{
    float total[SUM_STRIDE];
    const float *base = motion->base + (size_t)k * SUM_STRIDE;
    region_sum(paths, motion->sums, (const float *[]){regions->take[0], regions->take[1]}, k, total);
    for (int r = 0; r < 3; r++) {
        l4 d = l4_load(total + 36 + 4 * r);
        for (int c = 0; c < 3; c++) {
            int at = 4 * (3 * r + c);
            l4_store(out + at, l4_load(base + at) + (l4_load(total + at) - d * l4_load(regions->centre[c] + 4 * k)));
        }
        l4_store(out + 36 + 4 * r, l4_load(base + 36 + 4 * r) + d);
    }
}

void layers_match_maps(const layers_paths *paths, const layers_regions *regions, layers_motion *motion, bool naive,
                       int path_begin, int path_end)
{
    _Alignas(64) float moments[PAIR][SUM_STRIDE], terms[PAIR][SUM_STRIDE];
    for (int path = path_begin; path < path_end; path++) {
        l8 running[SUM_VECTORS] = {{0}};
        float *out = motion->maps + (size_t)(paths->path_first[path] + path) * SUM_STRIDE;
        int last = paths->path_first[path + 1];
        if (!naive)
            for (int c = 0; c < SUM_VECTORS; c++) l8_store(out + 8 * c, running[c]);
        for (int k = paths->path_first[path]; k < last; k += PAIR) {
            int count = MIN(PAIR, last - k);
            for (int i = 0; i < count; i++)
                if (naive)
                    region_moments_naive(paths, regions, motion, k + i, moments[i]);
                else
                    region_moments(paths, regions, motion, k + i, moments[i]);
            regions_match(regions, motion, k, count, moments, terms);
            for (int i = 0; i < count; i++) {
                if (naive) {
                    memcpy(motion->maps + (size_t)(k + i) * SUM_STRIDE, terms[i], sizeof terms[i]);
                    continue;
                }
                out += SUM_STRIDE;
                for (int c = 0; c < SUM_VECTORS; c++) l8_store(out + 8 * c, running[c] += l8_load(terms[i] + 8 * c));
            }
        }
    }
}

/* ---- goals ---- */

void layers_match_blend(const layers_paths *paths, const layers_regions *regions, layers_motion *motion, bool naive,
                        double h, float omega, int path_begin, int path_end)
{
    _Alignas(64) float total[SUM_STRIDE];
    float h2 = (float)(h * h);
    for (int k = paths->path_first[path_begin]; k < paths->path_first[path_end]; k++) {
        if (naive)
            region_maps_naive(paths, regions, motion, k, total);
        else
            region_sum(paths, motion->maps, (const float *[]){regions->give[0], regions->give[1]}, k, total);
        l4 inverse = l4_load(regions->weight_inverse + 4 * k), one = 1 - (l4){0};
        l4 beta = l4_load(regions->kappa_mean + 4 * k) * h2, share = one / (one + beta);
        l4 x0 = l4_load(regions->rest[0] + 4 * k), y0 = l4_load(regions->rest[1] + 4 * k);
        l4 z0 = l4_load(regions->rest[2] + 4 * k);
        for (int r = 0; r < 3; r++) {
            const float *row = total + 12 * r;
            l4 goal = l4_load(row) * x0 + l4_load(row + 4) * y0 + l4_load(row + 8) * z0 + l4_load(total + 36 + 4 * r);
            goal = goal * inverse + motion->shift[r];
            l4 push = {motion->push[r][k], 0, 0, 0};
            l4 y = l4_load(motion->inert[r] + 4 * k), x = l4_load(motion->x[r] + 4 * k);
            l4 next = y + (beta * (goal - y) + push) * share;
            l4 last = l4_load(motion->last[r] + 4 * k);
            next = last + omega * (next - last);
            l4_store(motion->last[r] + 4 * k, x);
            l4_store(motion->x[r] + 4 * k, next);
        }
    }
}

/* ---- constants ---- */

/*
 * Stiffness between the particles of place k in layers l and l + 1: that of the softer tissue, for soft fat under a
 * firm skin shears and the skin does not help it.
 */
static double kappa_between(const layers_regions *regions, int k, int l)
{
    return MIN(regions->kappa[4 * k + l], regions->kappa[4 * k + l + 1]);
}

void layers_regions_finish(const layers_paths *paths, const float *mass, layers_regions *regions)
{
    int n = paths->point_count;
    /*
     * Weights of regions in a goal. By the energy they are kappa; where kappa changes along a layer its root serves,
     * over the largest of the layer and no less than a fiftieth, for float sums would drown the soft in the stiff.
     */
    float stiffest[LAYERS] = {0};
    for (int i = 0; i < LAYERS * n; i++) stiffest[i % LAYERS] = MAX(stiffest[i % LAYERS], regions->kappa[i]);
    for (int i = 0; i < LAYERS * n; i++)
        regions->weights[i] = MAX(sqrtf(regions->kappa[i] / stiffest[i % LAYERS]), 0.02f);
    /* Regions that hold a particle: those of its ring, and those of the siblings. */
    for (int k = 0; k < n; k++)
        for (int l = 0; l < LAYERS; l++) {
            int members = paths->member_first[k + 1] - paths->member_first[k];
            int sibling_count = (l > 0) + (l + 1 < LAYERS);
            double held = members + (double)regions->siblings[k] * sibling_count;
            regions->masses[4 * k + l] = (float)(mass[4 * k + l] / held);
        }
    for (int k = 0; k < n; k++)
        for (int l = 0; l < LAYERS; l++) {
            int p = 4 * k + l;
            double sum = 0, centre[3] = {0}, kappa = 0, held = 0, weights = 0;
            for (int i = paths->member_first[k]; i < paths->member_first[k + 1]; i++) {
                int q = 4 * paths->members[i] + l;
                sum += regions->masses[q];
                kappa += regions->kappa[q];
                weights += regions->weights[q];
                held += 1;
                for (int c = 0; c < 3; c++) centre[c] += (double)regions->masses[q] * regions->rest[c][q];
            }
            for (int side = 0; side < 2; side++) {
                int q = p + (side ? 1 : -1);
                regions->take[side][p] = regions->give[side][p] = 0;
                if (side ? l + 1 == LAYERS : l == 0) continue;
                /* The pair's stiffness, over that of the region which takes the sibling in. */
                double between = regions->siblings[k] * kappa_between(regions, k, side ? l : l - 1);
                double take = between / regions->kappa[p], give = take * regions->weights[p];
                regions->take[side][p] = (float)take;
                regions->give[side][p] = (float)(give / regions->weights[q]);
                sum += take * regions->masses[q];
                kappa += between;
                weights += give;
                held += regions->siblings[k];
                for (int c = 0; c < 3; c++) centre[c] += take * regions->masses[q] * regions->rest[c][q];
            }
            regions->mass_inverse[p] = (float)(1 / sum);
            regions->kappa_mean[p] = (float)(kappa / held);
            regions->weight_inverse[p] = (float)(1 / weights);
            for (int c = 0; c < 3; c++) regions->centre[c][p] = (float)(centre[c] / sum);
        }
}
