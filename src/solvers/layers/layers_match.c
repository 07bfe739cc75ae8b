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

/*
 * `count` places side by side, each with its four layers; a single one stands twice. All else in a vector of eight is
 * two numbers of one place: pair_exchange goes from the one to the other, both ways.
 */
static inline l8 pair_load(const float *from, int count) { return count == PAIR ? l8_load(from) : l8_twice(from); }

static inline void pair_store(float *to, l8 a, int count)
{
    if (count == PAIR)
        l8_store(to, a);
    else
        l4_store(to, __builtin_shufflevector(a, a, 0, 1, 2, 3));
}

static inline void pair_exchange(l8 a, l8 b, l8 *low, l8 *high)
{
    *low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    *high = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

/* From flesh that swings at 2 Hz to tissue that no motion of a character strains. */
static const double SOFTEST = 2, RANGE = 125;

double layers_level(double hertz) { return CLAMP(det_log(hertz / SOFTEST) / det_log(RANGE), 0.0, 1.0); }

double layers_kappa(double level)
{
    double hertz = SOFTEST * det_pow(RANGE, CLAMP(level, 0.0, 1.0));
    double omega = 6.283185307179586 * hertz;
    return omega * omega;
}

/* ---- regional sums ---- */

/* Sum over the region of place k of prefix sums, siblings included: two numbers in each vector of total. */
static inline void region_sum(const layers_paths *paths, const float *prefix, const float *above_weights,
                              const float *below_weights, int k, l8 total[SUM_VECTORS])
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
    l8 above = l8_twice(above_weights + 4 * k), below = l8_twice(below_weights + 4 * k);
    l8 s[SUM_VECTORS] = {s0, s1, s2, s3, s4, s5};
    for (int c = 0; c < SUM_VECTORS; c++)
        total[c] = s[c] + adjacent_pair(l8_load(own + SUM_STRIDE + 8 * c) - l8_load(own + 8 * c), above, below);
}

/* The sums of `count` places from k on (a single one twice), number by number. */
static inline void pair_sum(const layers_paths *paths, const float *prefix, const float *above_weights,
                            const float *below_weights, int k, int count, l8 total[SUM_COMPONENTS])
{
    l8 first[SUM_VECTORS], second[SUM_VECTORS];
    region_sum(paths, prefix, above_weights, below_weights, k, first);
    if (count == PAIR) region_sum(paths, prefix, above_weights, below_weights, k + 1, second);
    for (int c = 0; c < SUM_VECTORS; c++)
        pair_exchange(first[c], count == PAIR ? second[c] : first[c], total + 2 * c, total + 2 * c + 1);
}

/* Add the numbers of `count` places to the running sums along the path, and write the sums to the places behind out. */
static inline float *pair_run(const l8 terms[SUM_COMPONENTS], int count, l8 running[SUM_VECTORS], float *out)
{
    l8 first[SUM_VECTORS], second[SUM_VECTORS];
    for (int c = 0; c < SUM_VECTORS; c++) pair_exchange(terms[2 * c], terms[2 * c + 1], first + c, second + c);
    out += SUM_STRIDE;
    for (int c = 0; c < SUM_VECTORS; c++) l8_store(out + 8 * c, running[c] += first[c]);
    if (count == PAIR) {
        out += SUM_STRIDE;
        for (int c = 0; c < SUM_VECTORS; c++) l8_store(out + 8 * c, running[c] += second[c]);
    }
    return out;
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

/* The moments of a region's particles at x, and of their rotations (in sums), by visiting each: the naive sum. */
static void region_moments_naive(const layers_paths *paths, const layers_regions *regions,
                                 const layers_iterate *iterate, int k, float *out)
{
    d4 total[SUM_COMPONENTS] = {{0}}, terms[SUM_COMPONENTS];
    d4 above = d4_load(regions->take[0] + 4 * k), below = d4_load(regions->take[1] + 4 * k);
    for (int i = paths->member_first[k]; i < paths->member_first[k + 1]; i++) {
        int member = paths->members[i];
        d4 moment = d4_load(regions->moments + 4 * member);
        moment_terms(regions, iterate->x, member, terms);
        for (int c = 0; c < 9; c++) terms[c] += moment * d4_load(iterate->sums + (size_t)member * SUM_STRIDE + 4 * c);
        for (int c = 0; c < SUM_COMPONENTS; c++) {
            total[c] += terms[c];
            if (member == k) total[c] += adjacent(terms[c], above, below);
        }
    }
    moments_centre(regions, k, total, out);
}

/* The same for the regions' maps, which lie one after the other in naive mode. */
static void region_maps_naive(const layers_paths *paths, const layers_regions *regions, const layers_iterate *iterate,
                              int k, float *out)
{
    d4 above = d4_load(regions->give[0] + 4 * k), below = d4_load(regions->give[1] + 4 * k);
    for (int c = 0; c < SUM_COMPONENTS; c++) {
        d4 total = {0};
        for (int i = paths->member_first[k]; i < paths->member_first[k + 1]; i++)
            total += d4_load(iterate->maps + (size_t)paths->members[i] * SUM_STRIDE + 4 * c);
        d4 own = d4_load(iterate->maps + (size_t)k * SUM_STRIDE + 4 * c);
        d4_store(out + 4 * c, total + adjacent(own, above, below));
    }
}

void layers_match_base_sums(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate,
                            int path_begin, int path_end)
{
    for (int path = path_begin; path < path_end; path++) {
        d4 running[SUM_COMPONENTS] = {{0}}, terms[SUM_COMPONENTS];
        double *out = iterate->base_sums + (size_t)(paths->path_first[path] + path) * SUM_STRIDE;
        for (int c = 0; c < SUM_COMPONENTS; c++) d4_put(out + 4 * c, running[c]);
        for (int k = paths->path_first[path]; k < paths->path_first[path + 1]; k++) {
            out += SUM_STRIDE;
            moment_terms(regions, iterate->x, k, terms);
            for (int c = 0; c < SUM_COMPONENTS; c++) d4_put(out + 4 * c, running[c] += terms[c]);
            for (int c = 0; c < 3; c++)
                memcpy(iterate->base_x[c] + 4 * k, iterate->x[c] + 4 * k, LAYERS * sizeof(float));
        }
    }
}

void layers_match_base(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate,
                       int path_begin, int path_end)
{
    d4 total[SUM_COMPONENTS];
    const double *prefix = iterate->base_sums;
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
        moments_centre(regions, k, total, iterate->base + (size_t)k * SUM_STRIDE);
    }
}

/* ---- rotations ---- */

static inline void matrix_of(const l8 q[4], l8 r[9])
{
    l8 x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
    l8 xx = q[0] * x2, xy = q[0] * y2, xz = q[0] * z2, yy = q[1] * y2, yz = q[1] * z2, zz = q[2] * z2;
    l8 wx = q[3] * x2, wy = q[3] * y2, wz = q[3] * z2;
    r[0] = 1 - (yy + zz), r[1] = xy - wz, r[2] = xz + wy;
    r[3] = xy + wz, r[4] = 1 - (xx + zz), r[5] = yz - wx;
    r[6] = xz - wy, r[7] = yz + wx, r[8] = 1 - (xx + yy);
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

/* polar_step for two places. */
static inline void pair_polar(const l8 a[9], const l8 r[9], l8 q[4])
{
#if LANES == PAIR_LANES
    vfloat va[9], vr[9], vq[4];
    for (int c = 0; c < 9; c++) va[c] = (vfloat)a[c], vr[c] = (vfloat)r[c];
    for (int c = 0; c < 4; c++) vq[c] = (vfloat)q[c];
    polar_step(va, vr, vq);
    for (int c = 0; c < 4; c++) q[c] = (l8)vq[c];
#else
    float fa[9][PAIR_LANES], fr[9][PAIR_LANES], fq[4][PAIR_LANES];
    for (int c = 0; c < 9; c++) l8_store(fa[c], a[c]), l8_store(fr[c], r[c]);
    for (int c = 0; c < 4; c++) l8_store(fq[c], q[c]);
    for (int lane = 0; lane < PAIR_LANES; lane += LANES) {
        vfloat va[9], vr[9], vq[4];
        for (int c = 0; c < 9; c++) va[c] = v_load(fa[c] + lane), vr[c] = v_load(fr[c] + lane);
        for (int c = 0; c < 4; c++) vq[c] = v_load(fq[c] + lane);
        polar_step(va, vr, vq);
        for (int c = 0; c < 4; c++) v_store(fq[c] + lane, vq[c]);
    }
    for (int c = 0; c < 4; c++) q[c] = l8_load(fq[c]);
#endif
}

/* ---- an iteration ---- */

/* What `count` places from k on add to the moments: what they have moved since the base, and their rotations. */
static inline float *sums_run(const layers_regions *regions, const layers_iterate *iterate, int k, int count,
                              l8 running[SUM_VECTORS], float *out)
{
    l8 q[4], r[9], x0[3], terms[SUM_COMPONENTS];
    for (int c = 0; c < 4; c++) q[c] = pair_load(iterate->q[c] + 4 * k, count);
    matrix_of(q, r);
    l8 mass = pair_load(regions->masses + 4 * k, count), moment = pair_load(regions->moments + 4 * k, count);
    for (int c = 0; c < 3; c++) x0[c] = pair_load(regions->rest[c] + 4 * k, count);
    for (int row = 0; row < 3; row++) {
        l8 d = mass * (pair_load(iterate->x[row] + 4 * k, count) - pair_load(iterate->base_x[row] + 4 * k, count));
        for (int c = 0; c < 3; c++) terms[3 * row + c] = d * x0[c] + moment * r[3 * row + c];
        terms[9 + row] = d;
    }
    return pair_run(terms, count, running, out);
}

void layers_match_sums(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, bool naive,
                       int path_begin, int path_end)
{
    /* The naive sum visits particles, and wants their rotations alone. */
    for (int k = paths->path_first[path_begin]; k < paths->path_first[path_end] && naive; k++) {
        l8 q[4], r[9];
        for (int c = 0; c < 4; c++) q[c] = l8_twice(iterate->q[c] + 4 * k);
        matrix_of(q, r);
        for (int c = 0; c < 9; c++) pair_store(iterate->sums + (size_t)k * SUM_STRIDE + 4 * c, r[c], 1);
    }
    for (int path = path_begin; path < path_end && !naive; path++) {
        l8 running[SUM_VECTORS] = {{0}};
        float *out = iterate->sums + (size_t)(paths->path_first[path] + path) * SUM_STRIDE;
        int k = paths->path_first[path], last = paths->path_first[path + 1];
        for (int c = 0; c < SUM_VECTORS; c++) l8_store(out + 8 * c, running[c]);
        for (; k + PAIR <= last; k += PAIR) out = sums_run(regions, iterate, k, PAIR, running, out);
        if (k < last) sums_run(regions, iterate, k, 1, running, out);
    }
}

/*
 * New rotations of the regions of `count` places from k on, from their moments about their centres and sums of m x,
 * and their maps kappa [R | c - R c0 - shift].
 */
static inline void regions_match(const layers_regions *regions, layers_iterate *iterate, int k, int count,
                                 const l8 moments[SUM_COMPONENTS], l8 terms[SUM_COMPONENTS])
{
    l8 q[4], r[9], c0[3];
    for (int c = 0; c < 4; c++) q[c] = pair_load(iterate->q[c] + 4 * k, count);
    matrix_of(q, r);
    pair_polar(moments, r, q);
    matrix_of(q, r);
    for (int c = 0; c < 4; c++) pair_store(iterate->q[c] + 4 * k, q[c], count);
    l8 weight = pair_load(regions->weights + 4 * k, count), inverse = pair_load(regions->mass_inverse + 4 * k, count);
    for (int c = 0; c < 3; c++) c0[c] = pair_load(regions->centre[c] + 4 * k, count);
    for (int row = 0; row < 3; row++) {
        const l8 *of = r + 3 * row;
        l8 centre = moments[9 + row] * inverse - iterate->shift[row];
        for (int c = 0; c < 3; c++) terms[3 * row + c] = weight * of[c];
        terms[9 + row] = weight * (centre - (of[0] * c0[0] + of[1] * c0[1] + of[2] * c0[2]));
    }
}

/* Moments of the regions of `count` places about their centres: those of the base, and what iterations have added. */
static inline void region_moments(const layers_paths *paths, const layers_regions *regions,
                                  const layers_iterate *iterate, int k, int count, l8 out[SUM_COMPONENTS])
{
    const float *base = iterate->base + (size_t)k * SUM_STRIDE;
    l8 total[SUM_COMPONENTS], from[SUM_COMPONENTS];
    pair_sum(paths, iterate->sums, regions->take[0], regions->take[1], k, count, total);
    for (int c = 0; c < SUM_VECTORS; c++)
        pair_exchange(l8_load(base + 8 * c), l8_load(base + (count - 1) * SUM_STRIDE + 8 * c), from + 2 * c,
                      from + 2 * c + 1);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            out[3 * r + c] =
                from[3 * r + c] + (total[3 * r + c] - total[9 + r] * pair_load(regions->centre[c] + 4 * k, count));
        out[9 + r] = from[9 + r] + total[9 + r];
    }
}

static inline float *maps_run(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, int k,
                              int count, l8 running[SUM_VECTORS], float *out)
{
    l8 moments[SUM_COMPONENTS], terms[SUM_COMPONENTS];
    region_moments(paths, regions, iterate, k, count, moments);
    regions_match(regions, iterate, k, count, moments, terms);
    return pair_run(terms, count, running, out);
}

static void maps_naive(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, int begin,
                       int end)
{
    float total[SUM_STRIDE];
    l8 moments[SUM_COMPONENTS], terms[SUM_COMPONENTS];
    for (int k = begin; k < end; k++) {
        region_moments_naive(paths, regions, iterate, k, total);
        for (int c = 0; c < SUM_COMPONENTS; c++) moments[c] = l8_twice(total + 4 * c);
        regions_match(regions, iterate, k, 1, moments, terms);
        for (int c = 0; c < SUM_COMPONENTS; c++)
            pair_store(iterate->maps + (size_t)k * SUM_STRIDE + 4 * c, terms[c], 1);
    }
}

void layers_match_maps(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, bool naive,
                       int path_begin, int path_end)
{
    if (naive) maps_naive(paths, regions, iterate, paths->path_first[path_begin], paths->path_first[path_end]);
    for (int path = path_begin; path < path_end && !naive; path++) {
        l8 running[SUM_VECTORS] = {{0}};
        float *out = iterate->maps + (size_t)(paths->path_first[path] + path) * SUM_STRIDE;
        int k = paths->path_first[path], last = paths->path_first[path + 1];
        for (int c = 0; c < SUM_VECTORS; c++) l8_store(out + 8 * c, running[c]);
        for (; k + PAIR <= last; k += PAIR) out = maps_run(paths, regions, iterate, k, PAIR, running, out);
        if (k < last) maps_run(paths, regions, iterate, k, 1, running, out);
    }
}

/* ---- goals ---- */

/* The particles of `count` places from k on towards their goals. coupling: of the bone layer to its target. */
static inline void places_blend(const layers_regions *regions, layers_iterate *iterate, const l8 total[SUM_COMPONENTS],
                                float h2, float omega, float coupling, int k, int count)
{
    l8 inverse = pair_load(regions->weight_inverse + 4 * k, count);
    l8 beta = pair_load(regions->kappa_mean + 4 * k, count) * h2, share = 1 / (1 + beta), x0[3];
    l8 hold = {0, 0, 0, coupling, 0, 0, 0, coupling};
    for (int c = 0; c < 3; c++) x0[c] = pair_load(regions->rest[c] + 4 * k, count);
    for (int r = 0; r < 3; r++) {
        const l8 *row = total + 3 * r;
        const float *pushes = iterate->push[r] + k;
        l8 goal = row[0] * x0[0] + row[1] * x0[1] + row[2] * x0[2] + total[9 + r];
        goal = goal * inverse + iterate->shift[r];
        l8 push = {pushes[0], 0, 0, 0, pushes[count - 1], 0, 0, 0};
        l8 y = pair_load(iterate->inert[r] + 4 * k, count), last = pair_load(iterate->last[r] + 4 * k, count);
        l8 next = y + (beta * (goal - y) + push) * share;
        next = last + omega * (next - last);
        next += hold * (pair_load(iterate->target[r] + 4 * k, count) - next);
        pair_store(iterate->last[r] + 4 * k, pair_load(iterate->x[r] + 4 * k, count), count);
        pair_store(iterate->x[r] + 4 * k, next, count);
    }
}

void layers_match_blend(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, bool naive,
                        double h, float omega, float coupling, int path_begin, int path_end)
{
    float h2 = (float)(h * h);
    l8 total[SUM_COMPONENTS];
    int k = paths->path_first[path_begin], last = paths->path_first[path_end];
    for (; k < last && naive; k++) {
        float sums[SUM_STRIDE];
        region_maps_naive(paths, regions, iterate, k, sums);
        for (int c = 0; c < SUM_COMPONENTS; c++) total[c] = l8_twice(sums + 4 * c);
        places_blend(regions, iterate, total, h2, omega, coupling, k, 1);
    }
    for (; k + PAIR <= last; k += PAIR) {
        pair_sum(paths, iterate->maps, regions->give[0], regions->give[1], k, PAIR, total);
        places_blend(regions, iterate, total, h2, omega, coupling, k, PAIR);
    }
    if (k < last) {
        pair_sum(paths, iterate->maps, regions->give[0], regions->give[1], k, 1, total);
        places_blend(regions, iterate, total, h2, omega, coupling, k, 1);
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
