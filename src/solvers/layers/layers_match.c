/*
 * layers_match.c: shape matching of oriented particles over regions, by sums along paths.
 *
 * After Deul and Bender 2013, sections 4.2.1 and 4.3 (oriented particles: Mueller and Chentanez 2011). A
 * region r holds the particles of one layer near its centre. With s_i the place of a particle under the skeleton
 * alone, s_r the mean of those places and the particles' moment matrices a R,
 *     A_r = sum_i (a_i R_i + m_i x_i s_i^T) - (sum_i m_i x_i) s_r^T,   R_r = polar(A_r),
 *     g_i = mean over regions r that hold i of  R_r s_i + (c_r - R_r s_r).
 * Regions are symmetric (i in r(j) when j in r(i)), so both sums run over the same intervals.
 *
 * Departures from the paper:
 * - The shape that a region is matched with is that of the posed skeleton, s, and not that of the rest pose. So flesh
 *   that nothing touches comes to rest where the skeleton has it, on coarse and fine meshes alike. Matched with the
 *   rest pose, a region that reaches across a joint is a splint: elbows of coarse meshes hardly bend.
 * - Instead of pulling x towards g by a fraction in each iteration, which makes the material depend on the
 *   iteration count and the substep, an iteration is a step of block descent on the energy of the implicit
 *   Euler step,
 *       E(x, R, c) = sum_i m_i / 2 |x_i - y_i|^2 / h^2 + sum_r kappa_r sum_i (m_i / n_i) / 2 |x_i - T_r s_i|^2
 *                    + sum over columns and layers l of  k_l / 2 |(x - s)_l - (x - s)_(l + 1)|^2,
 *   with y where inertia takes the particle, n_i the number of regions that hold it, T_r the region's rigid map.
 *   kappa is an inverse time squared: halving h leaves the material as it is.
 * - The layers of a point are joined by springs (layers_columns.c), where the paper takes the siblings of a region's
 *   centre into the region: a column of small regions bends like a reed, the deeper the softer, and so the flesh of a
 *   fine mesh swims. The four positions of a column are solved for at once.
 * - Prefix sums of floats lose the small moments of a fine mesh. So the sums of the first iterate are taken once
 *   a substep, in double, and iterations only sum what they have moved since. Maps are kept as differences from the
 *   identity.
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

/* Sum over the region of place k of prefix sums: two numbers in each vector of total. */
static inline void region_sum(const layers_paths *paths, const float *prefix, int k, l8 total[SUM_VECTORS])
{
    const layers_interval *i = paths->intervals + paths->interval_first[k];
    const layers_interval *end = paths->intervals + paths->interval_first[k + 1];

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

    total[0] = s0;
    total[1] = s1;
    total[2] = s2;
    total[3] = s3;
    total[4] = s4;
    total[5] = s5;
}

/* The sums of `count` places from k on (a single one twice), number by number. */
static inline void pair_sum(const layers_paths *paths, const float *prefix, int k, int count, l8 total[SUM_COMPONENTS])
{
    l8 first[SUM_VECTORS], second[SUM_VECTORS];
    region_sum(paths, prefix, k, first);
    if (count == PAIR) region_sum(paths, prefix, k + 1, second);
    for (int c = 0; c < SUM_VECTORS; c++)
        pair_exchange(first[c], count == PAIR ? second[c] : first[c], total + 2 * c, total + 2 * c + 1);
}

/* Add the numbers of `count` places to the running sums along the path, and write the sums to the places behind out. */
static inline float *pair_run(float terms[SUM_COMPONENTS][PAIR_LANES], int count, l8 running[SUM_VECTORS], float *out)
{
    l8 first[SUM_VECTORS], second[SUM_VECTORS];
    for (int c = 0; c < SUM_VECTORS; c++)
        pair_exchange(pair_load(terms[2 * c], count), pair_load(terms[2 * c + 1], count), first + c, second + c);
    out += SUM_STRIDE;
    for (int c = 0; c < SUM_VECTORS; c++) l8_store(out + 8 * c, running[c] += first[c]);
    if (count == PAIR) {
        out += SUM_STRIDE;
        for (int c = 0; c < SUM_VECTORS; c++) l8_store(out + 8 * c, running[c] += second[c]);
    }
    return out;
}

/*
 * What the particles of place k add to a region: moments about the origin, mass times deviation from the skeleton, and
 * mass times the skeleton's place.
 */
static inline void base_terms(const layers_regions *regions, const layers_iterate *iterate, int k,
                              d4 terms[BASE_COMPONENTS])
{
    d4 mass = d4_load(regions->masses + 4 * k), place[3];
    for (int c = 0; c < 3; c++) place[c] = d4_load(iterate->target[c] + 4 * k);
    for (int r = 0; r < 3; r++) {
        d4 x = d4_load(iterate->x[r] + 4 * k);
        for (int c = 0; c < 3; c++) terms[3 * r + c] = mass * x * place[c];
        terms[9 + r] = mass * (x - place[r]);
        terms[12 + r] = mass * place[r];
    }
}

/* The region's centre under the skeleton, and its moments about that from those about the origin. */
static inline void base_centre(const layers_regions *regions, layers_iterate *iterate, int k,
                               const d4 total[BASE_COMPONENTS])
{
    float *out = iterate->base + (size_t)k * SUM_STRIDE;
    d4 inverse = d4_load(regions->mass_inverse + 4 * k), centre[3];
    for (int c = 0; c < 3; c++) {
        d4_store(iterate->centre[c] + 4 * k, total[12 + c] * inverse);
        centre[c] = d4_load(iterate->centre[c] + 4 * k);
    }
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            d4_store(out + 4 * (3 * r + c), total[3 * r + c] - (total[9 + r] + total[12 + r]) * centre[c]);
        d4_store(out + 4 * (9 + r), total[9 + r]);
    }
}

/* What `count` particles moved since the base, and their rotations (in sums), summed by visiting each: the naive sum.
 */
static void region_moments_naive(const layers_paths *paths, const layers_regions *regions,
                                 const layers_iterate *iterate, int k, float *out)
{
    d4 total[SUM_COMPONENTS] = {{0}};
    const float *base = iterate->base + (size_t)k * SUM_STRIDE;

    for (int i = paths->member_first[k]; i < paths->member_first[k + 1]; i++) {
        int member = paths->members[i];
        d4 moment = d4_load(regions->moments + 4 * member), mass = d4_load(regions->masses + 4 * member);

        for (int r = 0; r < 3; r++) {
            d4 moved = mass * (d4_load(iterate->x[r] + 4 * member) - d4_load(iterate->base_x[r] + 4 * member));
            for (int c = 0; c < 3; c++)
                total[3 * r + c] +=
                    moved * (d4_load(iterate->target[c] + 4 * member) - d4_load(iterate->centre[c] + 4 * k)) +
                    moment * d4_load(iterate->sums + (size_t)member * SUM_STRIDE + 4 * (3 * r + c));
            total[9 + r] += moved;
        }
    }

    /* on top of the base */
    for (int c = 0; c < SUM_COMPONENTS; c++) d4_store(out + 4 * c, d4_load(base + 4 * c) + total[c]);
}

/* The sum of the regions' maps, which lie one after the other in naive mode. */
static void region_maps_naive(const layers_paths *paths, const layers_iterate *iterate, int k, float *out)
{
    for (int c = 0; c < SUM_COMPONENTS; c++) {
        d4 total = {0};
        for (int i = paths->member_first[k]; i < paths->member_first[k + 1]; i++)
            total += d4_load(iterate->maps + (size_t)paths->members[i] * SUM_STRIDE + 4 * c);
        d4_store(out + 4 * c, total);
    }
}

void layers_match_base_sums(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate,
                            int path_begin, int path_end)
{
    for (int path = path_begin; path < path_end; path++) {
        d4 running[BASE_COMPONENTS] = {{0}}, terms[BASE_COMPONENTS];
        double *out = iterate->base_sums + (size_t)(paths->path_first[path] + path) * BASE_STRIDE;
        for (int c = 0; c < BASE_COMPONENTS; c++) d4_put(out + 4 * c, running[c]);

        for (int k = paths->path_first[path]; k < paths->path_first[path + 1]; k++) {
            out += BASE_STRIDE;
            base_terms(regions, iterate, k, terms);
            for (int c = 0; c < BASE_COMPONENTS; c++) d4_put(out + 4 * c, running[c] += terms[c]);
            for (int c = 0; c < 3; c++)
                memcpy(iterate->base_x[c] + 4 * k, iterate->x[c] + 4 * k, LAYERS * sizeof(float));
        }
    }
}

void layers_match_base(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate,
                       int path_begin, int path_end)
{
    const double *prefix = iterate->base_sums;
    for (int k = paths->path_first[path_begin]; k < paths->path_first[path_end]; k++) {
        d4 total[BASE_COMPONENTS] = {{0}};
        for (int i = paths->interval_first[k]; i < paths->interval_first[k + 1]; i++) {
            const double *a = prefix + (size_t)paths->intervals[i].begin * BASE_STRIDE;
            const double *b = prefix + (size_t)paths->intervals[i].end * BASE_STRIDE;
            for (int c = 0; c < BASE_COMPONENTS; c++) total[c] += d4_get(b + 4 * c) - d4_get(a + 4 * c);
        }
        base_centre(regions, iterate, k, total);
    }
}

/* ---- rotations ---- */

/*
 * Rotations are computed in the widest vectors that the machine has: LANES particles of `count` places, from a lane on.
 * A single place stands twice.
 */
static inline vfloat lanes_load(const float *from, int lane, int count)
{
#if LANES == 8
    (void)lane;
    return (vfloat)pair_load(from, count);
#else
    (void)count;
    return v_load(from + lane);
#endif
}

static inline void lanes_store(float *to, vfloat a, int lane, int count)
{
#if LANES == 8
    (void)lane;
    pair_store(to, (l8)a, count);
#else
    (void)count;
    v_store(to + lane, a);
#endif
}

static inline void matrix_of(const vfloat q[4], vfloat r[9])
{
    vfloat x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
    vfloat xx = q[0] * x2, xy = q[0] * y2, xz = q[0] * z2, yy = q[1] * y2, yz = q[1] * z2, zz = q[2] * z2;
    vfloat wx = q[3] * x2, wy = q[3] * y2, wz = q[3] * z2;

    r[0] = 1 - (yy + zz);
    r[1] = xy - wz;
    r[2] = xz + wy;
    r[3] = xy + wz;
    r[4] = 1 - (xx + zz);
    r[5] = yz - wx;
    r[6] = xz - wy;
    r[7] = yz + wx;
    r[8] = 1 - (xx + yy);
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

    /* the axial part v, and the size of B */
    vfloat vx = b[7] - b[5], vy = b[2] - b[6], vz = b[3] - b[1];
    vfloat half = v_set(0.5f), trace = b[0] + b[4] + b[8];
    vfloat size = v_abs(b[0]) + v_abs(b[4]) + v_abs(b[8]) + v_set(1e-30f);

    /* The small term keeps directions that A does not determine where they were. */
    vfloat slack = size * v_set(1e-4f);
    vfloat kxx = trace - b[0] + slack, kyy = trace - b[4] + slack, kzz = trace - b[8] + slack;
    vfloat kxy = -half * (b[1] + b[3]), kxz = -half * (b[2] + b[6]), kyz = -half * (b[5] + b[7]);

    /* cofactors and determinant of K */
    vfloat cxx = kyy * kzz - kyz * kyz, cxy = kxz * kyz - kxy * kzz, cxz = kxy * kyz - kxz * kyy;
    vfloat cyy = kxx * kzz - kxz * kxz, cyz = kxy * kxz - kxx * kyz, czz = kxx * kyy - kxy * kxy;
    vfloat det = kxx * cxx + kxy * cxy + kxz * cxz;
    vfloat floor_det = size * size * size * v_set(1e-9f);

    /* where K is not positive definite, a plain step */
    vint newton = v_less(floor_det, det) & v_less(v_set(0), kxx) & v_less(v_set(0), czz);
    vfloat inverse = v_set(1) / v_select(newton, det, v_set(1));
    vfloat plain = v_set(1) / size;

    vfloat wx = v_select(newton, (cxx * vx + cxy * vy + cxz * vz) * inverse, vx * plain);
    vfloat wy = v_select(newton, (cxy * vx + cyy * vy + cyz * vz) * inverse, vy * plain);
    vfloat wz = v_select(newton, (cxz * vx + cyz * vy + czz * vz) * inverse, vz * plain);

    /* Half the vector, at most half a radian's worth. */
    vfloat length = v_sqrt(wx * wx + wy * wy + wz * wz);
    vfloat scale = half / v_max(length, v_set(1));
    wx *= scale;
    wy *= scale;
    wz *= scale;

    /* q times (w / 2, 1), normalised */
    vfloat px = q[0] + q[3] * wx + q[1] * wz - q[2] * wy;
    vfloat py = q[1] + q[3] * wy + q[2] * wx - q[0] * wz;
    vfloat pz = q[2] + q[3] * wz + q[0] * wy - q[1] * wx;
    vfloat pw = q[3] - q[0] * wx - q[1] * wy - q[2] * wz;
    vfloat norm = v_set(1) / v_sqrt(px * px + py * py + pz * pz + pw * pw + v_set(1e-30f));

    q[0] = px * norm;
    q[1] = py * norm;
    q[2] = pz * norm;
    q[3] = pw * norm;
}

/* ---- an iteration ---- */

/* What `count` places from k on add to the moments: what they have moved since the base, and their rotations. */
static inline float *sums_run(const layers_regions *regions, const layers_iterate *iterate, int k, int count,
                              l8 running[SUM_VECTORS], float *out)
{
    float terms[SUM_COMPONENTS][PAIR_LANES];
    for (int lane = 0; lane < LAYERS * count; lane += LANES) {
        vfloat q[4], r[9], x0[3];

        for (int c = 0; c < 4; c++) q[c] = lanes_load(iterate->q[c] + 4 * k, lane, count);
        matrix_of(q, r);

        /* masses, moments and targets */
        vfloat mass = lanes_load(regions->masses + 4 * k, lane, count);
        vfloat moment = lanes_load(regions->moments + 4 * k, lane, count);
        for (int c = 0; c < 3; c++) x0[c] = lanes_load(iterate->target[c] + 4 * k, lane, count);

        /* products with the targets, and the motions alone */
        for (int row = 0; row < 3; row++) {
            vfloat d = mass * (lanes_load(iterate->x[row] + 4 * k, lane, count) -
                               lanes_load(iterate->base_x[row] + 4 * k, lane, count));
            for (int c = 0; c < 3; c++) v_store(terms[3 * row + c] + lane, d * x0[c] + moment * r[3 * row + c]);
            v_store(terms[9 + row] + lane, d);
        }
    }

    return pair_run(terms, count, running, out);
}

void layers_match_sums(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, bool naive,
                       int path_begin, int path_end)
{
    /* The naive sum visits particles, and wants their rotations alone. */
    for (int k = paths->path_first[path_begin]; k < paths->path_first[path_end] && naive; k++) {
        for (int lane = 0; lane < LAYERS; lane += LANES) {
            vfloat q[4], r[9];
            for (int c = 0; c < 4; c++) q[c] = lanes_load(iterate->q[c] + 4 * k, lane, 1);
            matrix_of(q, r);
            for (int c = 0; c < 9; c++) lanes_store(iterate->sums + (size_t)k * SUM_STRIDE + 4 * c, r[c], lane, 1);
        }
    }

    /* prefix sums along each path */
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
 * New rotations of the regions of `count` places from k on, from their moments about their centres and sums
 * of m (x - s), and their maps kappa [R - 1 | c - s_r - (R - 1) s_r].
 */
static inline void regions_match(const layers_regions *regions, layers_iterate *iterate, int k, int count,
                                 float moments[SUM_COMPONENTS][PAIR_LANES], float terms[SUM_COMPONENTS][PAIR_LANES])
{
    for (int lane = 0; lane < LAYERS * count; lane += LANES) {
        vfloat q[4], r[9], a[9];
        for (int c = 0; c < 4; c++) q[c] = lanes_load(iterate->q[c] + 4 * k, lane, count);
        for (int c = 0; c < 9; c++) a[c] = v_load(moments[c] + lane);
        matrix_of(q, r);
        polar_step(a, r, q);
        matrix_of(q, r);
        for (int c = 0; c < 4; c++) lanes_store(iterate->q[c] + 4 * k, q[c], lane, count);

        vfloat c0[3], weight = lanes_load(regions->weights + 4 * k, lane, count);
        vfloat inverse = lanes_load(regions->mass_inverse + 4 * k, lane, count);
        for (int c = 0; c < 3; c++) c0[c] = lanes_load(iterate->centre[c] + 4 * k, lane, count);

        for (int row = 0; row < 3; row++) {
            vfloat *of = r + 3 * row;
            of[row] -= 1;
            for (int c = 0; c < 3; c++) v_store(terms[3 * row + c] + lane, weight * of[c]);
            vfloat turned = of[0] * c0[0] + of[1] * c0[1] + of[2] * c0[2];
            v_store(terms[9 + row] + lane, weight * (v_load(moments[9 + row] + lane) * inverse - turned));
        }
    }
}

/* Moments of the regions of `count` places about their centres: those of the base, and what iterations have added. */
static inline void region_moments(const layers_paths *paths, const layers_iterate *iterate, int k, int count,
                                  float out[SUM_COMPONENTS][PAIR_LANES])
{
    const float *base = iterate->base + (size_t)k * SUM_STRIDE;
    l8 total[SUM_COMPONENTS], from[SUM_COMPONENTS];

    pair_sum(paths, iterate->sums, k, count, total);
    for (int c = 0; c < SUM_VECTORS; c++)
        pair_exchange(l8_load(base + 8 * c), l8_load(base + (count - 1) * SUM_STRIDE + 8 * c), from + 2 * c,
                      from + 2 * c + 1);

    /* about the centres instead of the origin */
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            l8 about = total[3 * r + c] - total[9 + r] * pair_load(iterate->centre[c] + 4 * k, count);
            l8_store(out[3 * r + c], from[3 * r + c] + about);
        }
        l8_store(out[9 + r], from[9 + r] + total[9 + r]);
    }
}

static inline float *maps_run(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, int k,
                              int count, l8 running[SUM_VECTORS], float *out)
{
    float moments[SUM_COMPONENTS][PAIR_LANES], terms[SUM_COMPONENTS][PAIR_LANES];
    region_moments(paths, iterate, k, count, moments);
    regions_match(regions, iterate, k, count, moments, terms);
    return pair_run(terms, count, running, out);
}

static void maps_naive(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, int begin,
                       int end)
{
    float total[SUM_STRIDE];
    float moments[SUM_COMPONENTS][PAIR_LANES], terms[SUM_COMPONENTS][PAIR_LANES];
    for (int k = begin; k < end; k++) {
        region_moments_naive(paths, regions, iterate, k, total);
        for (int c = 0; c < SUM_COMPONENTS; c++) l8_store(moments[c], l8_twice(total + 4 * c));
        regions_match(regions, iterate, k, 1, moments, terms);
        for (int c = 0; c < SUM_COMPONENTS; c++)
            memcpy(iterate->maps + (size_t)k * SUM_STRIDE + 4 * c, terms[c], LAYERS * sizeof(float));
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

/* A vector of two columns times their matrices, which lie diagonal by diagonal. */
static inline l8 columns_solve(const l8 diagonals[LAYERS], l8 a)
{
    return diagonals[0] * a + diagonals[1] * __builtin_shufflevector(a, a, 1, 2, 3, 0, 5, 6, 7, 4) +
           diagonals[2] * __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5) +
           diagonals[3] * __builtin_shufflevector(a, a, 3, 0, 1, 2, 7, 4, 5, 6);
}

/* The particles of `count` places from k on to the balance of inertia, goals, springs of the column and pushes. */
static inline void places_blend(const layers_regions *regions, layers_iterate *iterate, const l8 total[SUM_COMPONENTS],
                                float h2, float omega, int k, int count)
{
    l8 inverse = pair_load(regions->weight_inverse + 4 * k, count), mass = pair_load(regions->mass + 4 * k, count);
    l8 pull = mass * pair_load(regions->kappa_mean + 4 * k, count) * h2, place[3], diagonals[LAYERS];
    for (int c = 0; c < 3; c++) place[c] = pair_load(iterate->target[c] + 4 * k, count);

    for (int d = 0; d < LAYERS; d++) {
        const float *from = iterate->columns + 16 * k + 4 * d;
        diagonals[d] = __builtin_shufflevector(l4_load(from), l4_load(from + 16 * (count - 1)), 0, 1, 2, 3, 4, 5, 6, 7);
    }

    for (int r = 0; r < 3; r++) {
        const l8 *row = total + 3 * r;
        const float *pushes = iterate->push[r] + k;
        l8 goal = (row[0] * place[0] + row[1] * place[1] + row[2] * place[2] + total[9 + r]) * inverse;

        l8 push = {pushes[0], 0, 0, 0, pushes[count - 1], 0, 0, 0};
        l8 tie = pair_load(iterate->pulls[r] + 4 * k, count);
        l8 inert = pair_load(iterate->inert[r] + 4 * k, count) - place[r];
        l8 next = place[r] + columns_solve(diagonals, mass * inert + pull * goal + tie + push);

        /* over-relaxation from the iterate before the last (Chebyshev) */
        l8 last = pair_load(iterate->last[r] + 4 * k, count);
        next = last + omega * (next - last);
        pair_store(iterate->last[r] + 4 * k, pair_load(iterate->x[r] + 4 * k, count), count);
        pair_store(iterate->x[r] + 4 * k, next, count);
    }
}

void layers_match_blend(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, bool naive,
                        double h, float omega, int path_begin, int path_end)
{
    float h2 = (float)(h * h);
    l8 total[SUM_COMPONENTS];
    int k = paths->path_first[path_begin], last = paths->path_first[path_end];

    /* the naive sum, for comparison */
    for (; k < last && naive; k++) {
        float sums[SUM_STRIDE];
        region_maps_naive(paths, iterate, k, sums);
        for (int c = 0; c < SUM_COMPONENTS; c++) total[c] = l8_twice(sums + 4 * c);
        places_blend(regions, iterate, total, h2, omega, k, 1);
    }

    /* two places at once, and the last one alone */
    for (; k + PAIR <= last; k += PAIR) {
        pair_sum(paths, iterate->maps, k, PAIR, total);
        places_blend(regions, iterate, total, h2, omega, k, PAIR);
    }

    if (k < last) {
        pair_sum(paths, iterate->maps, k, 1, total);
        places_blend(regions, iterate, total, h2, omega, k, 1);
    }
}

/* ---- constants ---- */

void layers_regions_finish(const layers_paths *paths, layers_regions *regions)
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

    /* each particle's mass is shared out to the regions that hold it */
    for (int k = 0; k < n; k++)
        for (int l = 0; l < LAYERS; l++) {
            int members = paths->member_first[k + 1] - paths->member_first[k];
            regions->masses[4 * k + l] = regions->mass[4 * k + l] / (float)members;
        }

    /* sums over regions, and over the regions that hold a particle */
    for (int k = 0; k < n; k++)
        for (int l = 0; l < LAYERS; l++) {
            double sum = 0, kappa = 0, weights = 0;
            int first = paths->member_first[k], last = paths->member_first[k + 1];

            for (int i = first; i < last; i++) {
                int q = 4 * paths->members[i] + l;
                sum += regions->masses[q];
                kappa += regions->kappa[q];
                weights += regions->weights[q];
            }

            regions->mass_inverse[4 * k + l] = (float)(1 / sum);
            regions->kappa_mean[4 * k + l] = (float)(kappa / (last - first));
            regions->weight_inverse[4 * k + l] = (float)(1 / weights);
        }
}
