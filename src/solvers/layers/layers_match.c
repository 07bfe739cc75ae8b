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
 * - Siblings count with a weight (parameter `siblings`, as a share of the region's ring). The paper counts a
 *   sibling like any of the tens of particles of the ring, which makes the flesh between skin and bone tens of
 *   times softer than along the layer.
 * - Sums are in double precision: prefix sums along a path of floats lose the small moments of a fine mesh.
 * - The rotation comes from one Newton step a visit, warm-started across iterations and substeps; where the
 *   Hessian is not positive definite, a step of Mueller et al. 2016 takes its place.
 */
#include "solvers/layers/layers.h"

typedef double d4 __attribute__((vector_size(32)));
typedef float f4 __attribute__((vector_size(16)));

/* Points that a call of the polar kernel takes: two, so that eight particles fill the widest vector. */
enum { PAIR = 2, PAIR_LANES = PAIR * LAYERS };

static inline d4 d4_load(const float *from)
{
    f4 a;
    memcpy(&a, from, sizeof a);
    return __builtin_convertvector(a, d4);
}

static inline void d4_store(float *to, d4 a)
{
    f4 b = __builtin_convertvector(a, f4);
    memcpy(to, &b, sizeof b);
}

static inline d4 d4_get(const double *from)
{
    d4 a;
    memcpy(&a, from, sizeof a);
    return a;
}

static inline void d4_put(double *to, d4 a) { memcpy(to, &a, sizeof a); }
static inline d4 d4_set(double x) { return x - (d4){0}; }

/* Sum of the layer above and the layer below, for each layer. */
static inline d4 adjacent(d4 a)
{
    d4 zero = {0};
    return __builtin_shufflevector(a, zero, 4, 0, 1, 2) + __builtin_shufflevector(a, zero, 1, 2, 3, 4);
}

double layers_kappa(double stiffness)
{
    /* From flesh that swings at 1 Hz to tissue that no motion of a character strains, evenly in the logarithm. */
    double hertz = det_pow(250.0, CLAMP(stiffness, 0.0, 1.0));
    double omega = 6.283185307179586 * hertz;
    return omega * omega;
}

/* ---- regional sums ---- */

/* Sum over the region of place k from prefix sums, siblings included. total: SUM_COMPONENTS vectors. */
static inline void region_sum_fast(const layers_paths *paths, const double *prefix, double sibling, int k, d4 *total)
{
    const layers_interval *i = paths->intervals + paths->interval_first[k];
    const layers_interval *end = paths->intervals + paths->interval_first[k + 1];
    const double *own = prefix + (size_t)(k + paths->path_of[k]) * SUM_STRIDE;
    d4 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0}, s8 = {0}, s9 = {0}, s10 = {0},
       s11 = {0};
    for (; i < end; i++) {
        const double *a = prefix + (size_t)i->begin * SUM_STRIDE, *b = prefix + (size_t)i->end * SUM_STRIDE;
        s0 += d4_get(b) - d4_get(a);
        s1 += d4_get(b + 4) - d4_get(a + 4);
        s2 += d4_get(b + 8) - d4_get(a + 8);
        s3 += d4_get(b + 12) - d4_get(a + 12);
        s4 += d4_get(b + 16) - d4_get(a + 16);
        s5 += d4_get(b + 20) - d4_get(a + 20);
        s6 += d4_get(b + 24) - d4_get(a + 24);
        s7 += d4_get(b + 28) - d4_get(a + 28);
        s8 += d4_get(b + 32) - d4_get(a + 32);
        s9 += d4_get(b + 36) - d4_get(a + 36);
        s10 += d4_get(b + 40) - d4_get(a + 40);
        s11 += d4_get(b + 44) - d4_get(a + 44);
    }
    total[0] = s0, total[1] = s1, total[2] = s2, total[3] = s3, total[4] = s4, total[5] = s5;
    total[6] = s6, total[7] = s7, total[8] = s8, total[9] = s9, total[10] = s10, total[11] = s11;
    d4 weight = d4_set(sibling);
    for (int c = 0; c < SUM_COMPONENTS; c++)
        total[c] += weight * adjacent(d4_get(own + SUM_STRIDE + 4 * c) - d4_get(own + 4 * c));
}

/* What particle k of each layer adds to the sum of moments. */
static inline void moment_terms(const layers_regions *regions, const layers_motion *motion, int k, d4 *terms)
{
    d4 mass = d4_load(regions->masses + 4 * k), moment = d4_load(regions->moments + 4 * k);
    d4 x0[3];
    for (int c = 0; c < 3; c++) x0[c] = d4_load(regions->rest[c] + 4 * k);
    for (int r = 0; r < 3; r++) {
        d4 mx = mass * d4_load(motion->x[r] + 4 * k);
        terms[9 + r] = mx;
        for (int c = 0; c < 3; c++)
            terms[3 * r + c] = mx * x0[c] + moment * d4_load(motion->rotation + (size_t)k * 36 + (3 * r + c) * 4);
    }
}

/* kappa [R | c - R c0] of the region centred at k, from rotation and (in maps' own place) translation. */
static inline void map_terms(const layers_regions *regions, const float *rotation, const float *shift, int k, d4 *terms)
{
    d4 kappa = d4_load(regions->kappa + 4 * k);
    for (int c = 0; c < 9; c++) terms[c] = kappa * d4_load(rotation + 4 * c);
    for (int r = 0; r < 3; r++) terms[9 + r] = kappa * d4_load(shift + 4 * r);
}

/* The same sums by visiting every member. maps: a sum of `maps` entries (kept per place), else of moments. */
static void region_sum_naive(const layers_paths *paths, const layers_regions *regions, const layers_motion *motion,
                             bool maps, int k, d4 *total)
{
    d4 own[SUM_COMPONENTS] = {{0}}, terms[SUM_COMPONENTS];
    for (int c = 0; c < SUM_COMPONENTS; c++) total[c] = (d4){0};
    for (int i = paths->member_first[k]; i < paths->member_first[k + 1]; i++) {
        int member = paths->members[i];
        if (maps)
            for (int c = 0; c < SUM_COMPONENTS; c++)
                terms[c] = d4_get(motion->maps + (size_t)(member + paths->path_of[member]) * SUM_STRIDE + 4 * c);
        else
            moment_terms(regions, motion, member, terms);
        for (int c = 0; c < SUM_COMPONENTS; c++) total[c] += terms[c];
        if (member == k) memcpy(own, terms, sizeof own);
    }
    d4 weight = d4_set(regions->siblings[k]);
    for (int c = 0; c < SUM_COMPONENTS; c++) total[c] += weight * adjacent(own[c]);
}

void layers_match_sums(const layers_paths *paths, const layers_regions *regions, layers_motion *motion, int path_begin,
                       int path_end)
{
    for (int path = path_begin; path < path_end; path++) {
        d4 running[SUM_COMPONENTS] = {{0}}, terms[SUM_COMPONENTS];
        double *out = motion->sums + (size_t)(paths->path_first[path] + path) * SUM_STRIDE;
        for (int c = 0; c < SUM_COMPONENTS; c++) d4_put(out + 4 * c, running[c]);
        for (int k = paths->path_first[path]; k < paths->path_first[path + 1]; k++) {
            out += SUM_STRIDE;
            moment_terms(regions, motion, k, terms);
            for (int c = 0; c < SUM_COMPONENTS; c++) d4_put(out + 4 * c, running[c] += terms[c]);
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

void layers_match_prepare(const layers_paths *paths, layers_motion *motion)
{
    for (int k = 0; k < paths->point_count; k++)
        for (int l = 0; l < LAYERS; l++) {
            quat q = {motion->q[0][4 * k + l], motion->q[1][4 * k + l], motion->q[2][4 * k + l],
                      motion->q[3][4 * k + l]};
            mat3 r = quat_matrix(q);
            for (int c = 0; c < 9; c++) motion->rotation[(size_t)k * 36 + 4 * c + l] = r.m[c];
        }
}

/* Moments of the regions of `count` places from k on to new rotations, and to kappa [R | c - R c0] in terms. */
static void regions_match(const layers_regions *regions, layers_motion *motion, int k, int count, d4 (*total)[12],
                          d4 (*terms)[12])
{
    _Alignas(64) float a[9][PAIR_LANES], q[4][PAIR_LANES], r[9][PAIR_LANES];
    float shift[PAIR][3][LAYERS], rotation[9 * LAYERS];
    memset(a, 0, sizeof a);
    memset(q, 0, sizeof q);
    for (int i = 0; i < count; i++) {
        int p = 4 * (k + i);
        d4 c0[3];
        for (int c = 0; c < 3; c++) c0[c] = d4_load(regions->centre[c] + p);
        for (int row = 0; row < 3; row++)
            for (int c = 0; c < 3; c++)
                d4_store(&a[3 * row + c][4 * i], total[i][3 * row + c] - total[i][9 + row] * c0[c]);
        for (int c = 0; c < 4; c++) memcpy(&q[c][4 * i], motion->q[c] + p, LAYERS * sizeof(float));
        for (int c = 0; c < 9; c++)
            memcpy(&r[c][4 * i], motion->rotation + (size_t)(k + i) * 36 + 4 * c, LAYERS * sizeof(float));
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
        for (int c = 0; c < 4; c++) memcpy(motion->q[c] + p, &q[c][4 * i], LAYERS * sizeof(float));
        for (int c = 0; c < 9; c++) memcpy(rotation + 4 * c, &r[c][4 * i], LAYERS * sizeof(float));
        memcpy(motion->rotation + (size_t)(k + i) * 36, rotation, sizeof rotation);
        d4 inverse = d4_load(regions->mass_inverse + p);
        for (int row = 0; row < 3; row++) {
            d4 rotated = {0};
            for (int c = 0; c < 3; c++)
                rotated += d4_load(rotation + 4 * (3 * row + c)) * d4_load(regions->centre[c] + p);
            d4_store(shift[i][row], total[i][9 + row] * inverse - rotated);
        }
        map_terms(regions, rotation, shift[i][0], k + i, terms[i]);
    }
}

void layers_match_maps(const layers_paths *paths, const layers_regions *regions, layers_motion *motion, bool naive,
                       int path_begin, int path_end)
{
    d4 total[PAIR][SUM_COMPONENTS], terms[PAIR][SUM_COMPONENTS];
    for (int path = path_begin; path < path_end; path++) {
        d4 running[SUM_COMPONENTS] = {{0}};
        double *out = motion->maps + (size_t)(paths->path_first[path] + path) * SUM_STRIDE;
        int last = paths->path_first[path + 1];
        if (!naive)
            for (int c = 0; c < SUM_COMPONENTS; c++) d4_put(out + 4 * c, running[c]);
        for (int k = paths->path_first[path]; k < last; k += PAIR) {
            int count = MIN(PAIR, last - k);
            for (int i = 0; i < count; i++)
                if (naive)
                    region_sum_naive(paths, regions, motion, false, k + i, total[i]);
                else
                    region_sum_fast(paths, motion->sums, regions->siblings[k + i], k + i, total[i]);
            regions_match(regions, motion, k, count, total, terms);
            for (int i = 0; i < count; i++) {
                /* Fast: prefix sums, one entry further on. Naive: the terms themselves. */
                if (!naive) out += SUM_STRIDE;
                for (int c = 0; c < SUM_COMPONENTS; c++)
                    d4_put(out + 4 * c, naive ? terms[i][c] : (running[c] += terms[i][c]));
                if (naive) out += SUM_STRIDE;
            }
        }
    }
}

/* ---- goals ---- */

void layers_match_blend(const layers_paths *paths, const layers_regions *regions, layers_motion *motion, bool naive,
                        double h, float omega, int path_begin, int path_end)
{
    d4 total[SUM_COMPONENTS], one = d4_set(1), accelerate = d4_set(omega);
    for (int k = paths->path_first[path_begin]; k < paths->path_first[path_end]; k++) {
        if (naive)
            region_sum_naive(paths, regions, motion, true, k, total);
        else
            region_sum_fast(paths, motion->maps, regions->siblings[k], k, total);
        d4 inverse = d4_load(regions->kappa_inverse + 4 * k);
        d4 beta = d4_load(regions->kappa_mean + 4 * k) * d4_set(h * h);
        d4 share = one / (one + beta);
        for (int r = 0; r < 3; r++) {
            d4 goal = total[9 + r];
            for (int c = 0; c < 3; c++) goal += total[3 * r + c] * d4_load(regions->rest[c] + 4 * k);
            goal *= inverse;
            d4 push = {motion->push[r][k], 0, 0, 0};
            d4 next = (d4_load(motion->inert[r] + 4 * k) + beta * goal + push) * share;
            d4 last = d4_load(motion->last[r] + 4 * k);
            next = last + accelerate * (next - last);
            memcpy(motion->last[r] + 4 * k, motion->x[r] + 4 * k, LAYERS * sizeof(float));
            d4_store(motion->x[r] + 4 * k, next);
        }
    }
}

/* ---- constants ---- */

void layers_regions_finish(const layers_paths *paths, const float *mass, layers_regions *regions)
{
    int n = paths->point_count;
    /* Regions that hold a particle, weighted: those of its ring, and those of the siblings. */
    for (int k = 0; k < n; k++)
        for (int l = 0; l < LAYERS; l++) {
            int members = paths->member_first[k + 1] - paths->member_first[k];
            int sibling_count = (l > 0) + (l + 1 < LAYERS);
            double held = members + (double)regions->siblings[k] * sibling_count;
            regions->masses[4 * k + l] = (float)(mass[4 * k + l] / held);
        }
    for (int k = 0; k < n; k++)
        for (int l = 0; l < LAYERS; l++) {
            double sum = 0, centre[3] = {0}, kappa = 0, held = 0;
            for (int i = paths->member_first[k]; i < paths->member_first[k + 1]; i++) {
                int p = 4 * paths->members[i] + l;
                sum += regions->masses[p];
                kappa += regions->kappa[p];
                held += 1;
                for (int c = 0; c < 3; c++) centre[c] += (double)regions->masses[p] * regions->rest[c][p];
            }
            for (int side = -1; side <= 1; side += 2) {
                if (l + side < 0 || l + side >= LAYERS) continue;
                int p = 4 * k + l + side;
                double weight = regions->siblings[k];
                sum += weight * regions->masses[p];
                kappa += weight * regions->kappa[p];
                held += weight;
                for (int c = 0; c < 3; c++) centre[c] += weight * regions->masses[p] * regions->rest[c][p];
            }
            int p = 4 * k + l;
            regions->mass_inverse[p] = (float)(1 / sum);
            regions->kappa_mean[p] = (float)(kappa / held);
            regions->kappa_inverse[p] = (float)(1 / kappa);
            for (int c = 0; c < 3; c++) regions->centre[c][p] = (float)(centre[c] / sum);
        }
}
