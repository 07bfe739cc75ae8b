/*
 * tissue_cells.c: the elastic energy of wedges, and its minimisation by block descent over columns.
 *
 * Energy of a wedge (stable Neo-Hookean material of Smith, de Goes, Kim 2018, without its logarithm):
 *
 *     mu/2 integral |F|^2  +  K/(2 V0) (V - a V0)^2  +  H/(2 V0) (deviations of the volume within)^2,   a = 1 + mu/K
 *
 * The first term is quadratic in the positions: its matrix is made once (tissue_build.c). V is the exact volume: with
 * n(s) half the product of two sides of the triangle at share s between the layers and d the mean of its three
 * columns, V is the mean of n(s) . d over two Gauss planes. Taking one dilatation per wedge avoids locking. The third
 * term makes it stable: half the difference of the planes, and of the columns' heights at the middle plane.
 *
 * Descent (Chen, Liu, Yang, Yuksel 2024, with a column in place of a vertex): the four nodes of a column are solved
 * for together; their matrix has 3 x 3 blocks on three diagonals. Of the volume terms only the positive part is kept
 * (Gauss-Newton), so that every step goes downhill. Columns of one colour do not touch and are solved LANES at a time.
 */
#include <string.h>

#include "solvers/tissue/tissue.h"

typedef struct v3 {
    vfloat x, y, z;
} v3;

/* Symmetric: xx xy xz yy yz zz. */
typedef struct vsym {
    vfloat m[6];
} vsym;

typedef struct vmat {
    vfloat m[9];
} vmat;

static inline v3 v3_sub(v3 a, v3 b) { return (v3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline v3 v3_add(v3 a, v3 b) { return (v3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline v3 v3_scale(v3 a, vfloat s) { return (v3){a.x * s, a.y * s, a.z * s}; }
static inline v3 v3_madd(v3 a, v3 b, vfloat s) { return (v3){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s}; }
static inline vfloat v3_dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline v3 v3_cross(v3 a, v3 b)
{
    return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* m += s a a^T */
static inline void sym_add(vsym *m, v3 a, vfloat s)
{
    v3 b = v3_scale(a, s);
    m->m[0] = m->m[0] + b.x * a.x;
    m->m[1] = m->m[1] + b.x * a.y;
    m->m[2] = m->m[2] + b.x * a.z;
    m->m[3] = m->m[3] + b.y * a.y;
    m->m[4] = m->m[4] + b.y * a.z;
    m->m[5] = m->m[5] + b.z * a.z;
}

/* m += s a b^T */
static inline void mat_add(vmat *m, v3 a, v3 b, vfloat s)
{
    v3 c = v3_scale(a, s);
    m->m[0] = m->m[0] + c.x * b.x;
    m->m[1] = m->m[1] + c.x * b.y;
    m->m[2] = m->m[2] + c.x * b.z;
    m->m[3] = m->m[3] + c.y * b.x;
    m->m[4] = m->m[4] + c.y * b.y;
    m->m[5] = m->m[5] + c.y * b.z;
    m->m[6] = m->m[6] + c.z * b.x;
    m->m[7] = m->m[7] + c.z * b.y;
    m->m[8] = m->m[8] + c.z * b.z;
}

static inline vsym sym_inverse(const vsym *a)
{
    const vfloat *m = a->m;
    vsym r;
    r.m[0] = m[3] * m[5] - m[4] * m[4];
    r.m[1] = m[2] * m[4] - m[1] * m[5];
    r.m[2] = m[1] * m[4] - m[2] * m[3];
    r.m[3] = m[0] * m[5] - m[2] * m[2];
    r.m[4] = m[1] * m[2] - m[0] * m[4];
    r.m[5] = m[0] * m[3] - m[1] * m[1];
    vfloat inverse = v_set(1) / (m[0] * r.m[0] + m[1] * r.m[1] + m[2] * r.m[2]);
    for (int i = 0; i < 6; i++) r.m[i] = r.m[i] * inverse;
    return r;
}

static inline v3 sym_vector(const vsym *a, v3 b)
{
    const vfloat *m = a->m;
    return (v3){m[0] * b.x + m[1] * b.y + m[2] * b.z, m[1] * b.x + m[3] * b.y + m[4] * b.z,
                m[2] * b.x + m[4] * b.y + m[5] * b.z};
}

static inline v3 mat_vector(const vmat *a, v3 b)
{
    const vfloat *m = a->m;
    return (v3){m[0] * b.x + m[1] * b.y + m[2] * b.z, m[3] * b.x + m[4] * b.y + m[5] * b.z,
                m[6] * b.x + m[7] * b.y + m[8] * b.z};
}

static inline v3 mat_transposed_vector(const vmat *a, v3 b)
{
    const vfloat *m = a->m;
    return (v3){m[0] * b.x + m[3] * b.y + m[6] * b.z, m[1] * b.x + m[4] * b.y + m[7] * b.z,
                m[2] * b.x + m[5] * b.y + m[8] * b.z};
}

/* d -= o s o^T, for symmetric s. */
static inline void sym_reduce(vsym *d, const vmat *o, const vsym *s)
{
    v3 rows[3], turned[3];
    for (int r = 0; r < 3; r++) {
        rows[r] = (v3){o->m[3 * r], o->m[3 * r + 1], o->m[3 * r + 2]};
        turned[r] = sym_vector(s, rows[r]);
    }
    d->m[0] = d->m[0] - v3_dot(rows[0], turned[0]);
    d->m[1] = d->m[1] - v3_dot(rows[0], turned[1]);
    d->m[2] = d->m[2] - v3_dot(rows[0], turned[2]);
    d->m[3] = d->m[3] - v3_dot(rows[1], turned[1]);
    d->m[4] = d->m[4] - v3_dot(rows[1], turned[2]);
    d->m[5] = d->m[5] - v3_dot(rows[2], turned[2]);
}

static inline void column_load(const float *records, const int32_t *offsets, v3 x[TISSUE_LAYERS])
{
    vfloat c[3][4];
    int32_t at[LANES];
    for (int i = 0; i < 3; i++) {
        for (int lane = 0; lane < LANES; lane++) at[lane] = offsets[lane] + 4 * i;
        v_load4(records, at, c[i]);
    }
    for (int l = 0; l < TISSUE_LAYERS; l++) x[l] = (v3){c[0][l], c[1][l], c[2][l]};
}

/* Gradient and matrix of a block of columns. */
typedef struct column_system {
    v3 gradient[TISSUE_LAYERS];
    vsym diagonal[TISSUE_LAYERS];
    vmat below[TISSUE_WEDGES]; /* coupling of layer l (rows) with layer l + 1 */
} column_system;

/* A Gauss plane of a wedge: its volume, and the derivatives by the own nodes above and below. */
typedef struct gauss_plane {
    vfloat volume;
    v3 upper, lower;
} gauss_plane;

static inline gauss_plane plane_find(v3 p_up, v3 q_up, v3 p_low, v3 q_low, v3 mean, float share)
{
    gauss_plane g;

    /* sides of the triangle at this share */
    v3 p = v3_madd(p_low, v3_sub(p_up, p_low), v_set(share));
    v3 q = v3_madd(q_low, v3_sub(q_up, q_low), v_set(share));
    v3 normal = v3_scale(v3_cross(p, q), v_set(0.5f));
    g.volume = v3_dot(normal, mean);

    /* by the own corner, and by the mean column, of which a node has a third */
    v3 corner = v3_scale(v3_cross(mean, v3_sub(q, p)), v_set(0.5f));
    v3 third = v3_scale(normal, v_set(1.0f / 3));
    g.upper = v3_madd(third, corner, v_set(share));
    g.lower = v3_sub(v3_scale(corner, v_set(1 - share)), third);
    return g;
}

/*
 * Add what keeps the columns of a wedge equally high: orthonormal differences of own to others, and of those two, by
 * the normal of the middle plane. rest: both at rest.
 */
static inline void heights_add(column_system *s, int l, const v3 *x, const v3 *p, const v3 *q, v3 mean,
                               vfloat stiffness, const float *rest)
{
    /* sides of the middle triangle, times 2, and its normal */
    v3 side_p = v3_add(v3_sub(p[l], x[l]), v3_sub(p[l + 1], x[l + 1]));
    v3 side_q = v3_add(v3_sub(q[l], x[l]), v3_sub(q[l + 1], x[l + 1]));
    v3 normal = v3_scale(v3_cross(side_p, side_q), v_set(0.125f));

    /* differences of the columns: (2 own - p - q) / sqrt 6, (p - q) / sqrt 2 */
    v3 first = v3_scale(v3_sub(v3_sub(x[l], x[l + 1]), mean), v_set(1.22474487f));
    v3 second = v3_scale(v3_sub(v3_sub(p[l], p[l + 1]), v3_sub(q[l], q[l + 1])), v_set(0.70710678f));
    vfloat press = stiffness * (v3_dot(normal, first) - v_load(rest));
    vfloat press2 = stiffness * (v3_dot(normal, second) - v_load(rest + LANES));

    /* by the own nodes: both turn the normal, the own column is part of the first */
    v3 across = v3_scale(v3_sub(side_q, side_p), v_set(0.125f));
    v3 tilt = v3_cross(first, across), tilt2 = v3_cross(second, across);
    v3 rise = v3_scale(normal, v_set(0.81649658f));
    v3 upper = v3_add(tilt, rise), lower = v3_sub(tilt, rise);

    s->gradient[l] = v3_madd(v3_madd(s->gradient[l], upper, press), tilt2, press2);
    s->gradient[l + 1] = v3_madd(v3_madd(s->gradient[l + 1], lower, press), tilt2, press2);
    sym_add(&s->diagonal[l], upper, stiffness);
    sym_add(&s->diagonal[l + 1], lower, stiffness);
    mat_add(&s->below[l], upper, lower, stiffness);
}

/*
 * Add the volume terms of a wedge between layers l and l + 1 of a triangle. values: stiffness and target of the volume,
 * stiffness within the wedge, difference of the planes and two of the heights at rest.
 */
static inline void wedge_add(column_system *s, int l, const v3 *x, const v3 *p, const v3 *q, const float *values)
{
    vfloat bulk = v_load(values), target = v_load(values + LANES);
    vfloat inner = v_load(values + 2 * LANES), difference = v_load(values + 3 * LANES);

    /* the mean of the columns, and sides of both triangles from the own corner */
    v3 mean = v3_add(v3_sub(x[l], x[l + 1]), v3_add(v3_sub(p[l], p[l + 1]), v3_sub(q[l], q[l + 1])));
    mean = v3_scale(mean, v_set(1.0f / 3));
    v3 p_up = v3_sub(p[l], x[l]), q_up = v3_sub(q[l], x[l]);
    v3 p_low = v3_sub(p[l + 1], x[l + 1]), q_low = v3_sub(q[l + 1], x[l + 1]);

    /* Gauss points of order two */
    gauss_plane a = plane_find(p_up, q_up, p_low, q_low, mean, 0.78867513f);
    gauss_plane b = plane_find(p_up, q_up, p_low, q_low, mean, 0.21132487f);

    /* mean volume, and half the difference */
    vfloat half = v_set(0.5f);
    v3 upper = v3_scale(v3_add(a.upper, b.upper), half), lower = v3_scale(v3_add(a.lower, b.lower), half);
    v3 upper2 = v3_scale(v3_sub(a.upper, b.upper), half), lower2 = v3_scale(v3_sub(a.lower, b.lower), half);
    vfloat pressure = bulk * (half * (a.volume + b.volume) - target);
    vfloat twist = inner * (half * (a.volume - b.volume) - difference);

    heights_add(s, l, x, p, q, mean, inner * v_set(1.0f / 12), values + 4 * LANES);
    s->gradient[l] = v3_madd(v3_madd(s->gradient[l], upper, pressure), upper2, twist);
    s->gradient[l + 1] = v3_madd(v3_madd(s->gradient[l + 1], lower, pressure), lower2, twist);
    sym_add(&s->diagonal[l], upper, bulk);
    sym_add(&s->diagonal[l], upper2, inner);
    sym_add(&s->diagonal[l + 1], lower, bulk);
    sym_add(&s->diagonal[l + 1], lower2, inner);
    mat_add(&s->below[l], upper, lower, bulk);
    mat_add(&s->below[l], upper2, lower2, inner);
}

/*
 * Shear of a triangle's first other column: rows of the constant matrix. A row sums to 0, so that it may act on the
 * differences from the own node: far from the origin rounding would otherwise pull the flesh towards it.
 */
static inline void shear_add(column_system *s, const v3 *x, const v3 *p, const float *values)
{
    for (int l = 0; l < TISSUE_LAYERS; l++)
        s->gradient[l] = v3_madd(s->gradient[l], v3_sub(p[l], x[l]), v_load(values + l * LANES));
    for (int l = 0; l < TISSUE_WEDGES; l++) {
        s->gradient[l] = v3_madd(s->gradient[l], v3_sub(p[l + 1], x[l]), v_load(values + (4 + l) * LANES));
        s->gradient[l + 1] = v3_madd(s->gradient[l + 1], v3_sub(p[l], x[l + 1]), v_load(values + (7 + l) * LANES));
    }
}

static inline void scalar_add(vsym *m, vfloat s)
{
    m->m[0] = m->m[0] + s;
    m->m[3] = m->m[3] + s;
    m->m[5] = m->m[5] + s;
}

/* Springs of inertia and skeleton, the column's own shear, and contact. */
static inline void own_add(column_system *s, const tissue_run *run, int block, const int32_t *own, const v3 *x)
{
    const tissue_model *m = run->m;
    v3 pull[TISSUE_LAYERS];
    vfloat weight[4], touch[3][4];
    int32_t at[LANES];
    column_load(run->w.pull, own, pull);
    for (int lane = 0; lane < LANES; lane++) at[lane] = own[lane] / COLUMN * 4;
    v_load4(run->w.pull_weight, at, weight);

    memset(s, 0, sizeof *s);
    const float *values = m->own_values + (size_t)block * OWN * LANES;
    for (int l = 0; l < TISSUE_LAYERS; l++) {
        vfloat shear = v_load(values + l * LANES);
        s->gradient[l] = v3_scale(v3_sub(x[l], pull[l]), weight[l]);
        scalar_add(&s->diagonal[l], weight[l] + shear);
    }
    for (int l = 0; l < TISSUE_WEDGES; l++) {
        vfloat shear = v_load(values + (4 + l) * LANES);
        v3 way = v3_scale(v3_sub(x[l + 1], x[l]), shear);
        s->gradient[l] = v3_add(s->gradient[l], way);
        s->gradient[l + 1] = v3_sub(s->gradient[l + 1], way);
        for (int i = 0; i < 9; i += 4) s->below[l].m[i] = s->below[l].m[i] + shear;
    }

    /* contact acts on the skin */
    for (int i = 0; i < 3; i++) {
        for (int lane = 0; lane < LANES; lane++) at[lane] = own[lane] / COLUMN * TOUCH + 4 * i;
        v_load4(run->w.touch, at, touch[i]);
    }
    s->gradient[0] = v3_add(s->gradient[0], (v3){touch[0][0], touch[0][1], touch[0][2]});
    for (int i = 0; i < 6; i++) {
        vfloat value = i == 0 ? touch[0][3] : i < 5 ? touch[1][i - 1] : touch[2][0];
        s->diagonal[0].m[i] = s->diagonal[0].m[i] + value;
    }
}

/* Newton's step of a column: eliminated from the bone layer up. */
static inline void column_solve(column_system *s, v3 step[TISSUE_LAYERS])
{
    vsym inverse[TISSUE_LAYERS];
    for (int l = TISSUE_BONE; l > TISSUE_SKIN; l--) {
        inverse[l] = sym_inverse(&s->diagonal[l]);
        sym_reduce(&s->diagonal[l - 1], &s->below[l - 1], &inverse[l]);
        v3 turned = sym_vector(&inverse[l], s->gradient[l]);
        s->gradient[l - 1] = v3_sub(s->gradient[l - 1], mat_vector(&s->below[l - 1], turned));
    }

    /* from the skin down */
    inverse[0] = sym_inverse(&s->diagonal[0]);
    step[0] = v3_scale(sym_vector(&inverse[0], s->gradient[0]), v_set(-1));
    for (int l = 1; l < TISSUE_LAYERS; l++) {
        v3 rest = v3_add(s->gradient[l], mat_transposed_vector(&s->below[l - 1], step[l - 1]));
        step[l] = v3_scale(sym_vector(&inverse[l], rest), v_set(-1));
    }
}

/* Shorten a step to the limits of nodes and of contact; 0 where it is not finite. Returns the longest motion squared.
 */
static inline vfloat step_limit(const tissue_run *run, const int32_t *own, v3 step[TISSUE_LAYERS])
{
    int32_t at[LANES];
    for (int lane = 0; lane < LANES; lane++) at[lane] = own[lane] / COLUMN;
    vfloat limit = v_gather(run->w.limits, at);

    /* longest node; contact limits that of the skin */
    vfloat skin2 = v3_dot(step[0], step[0]), longest2 = skin2;
    for (int l = 1; l < TISSUE_LAYERS; l++) longest2 = v_max(v3_dot(step[l], step[l]), longest2);
    vfloat scale = v_min(v_set(MAX_STEP) / v_sqrt(v_max(longest2, v_set(1e-30f))), v_set(1));
    scale = v_min(limit / v_sqrt(v_max(skin2, v_set(1e-30f))), scale);
    vint finite = v_less(longest2, v_set(1e10f));
    scale = v_select(finite, scale, v_set(0));

    for (int l = 0; l < TISSUE_LAYERS; l++) {
        step[l] = v3_scale(step[l], scale);
        step[l].x = v_select(finite, step[l].x, v_set(0));
        step[l].y = v_select(finite, step[l].y, v_set(0));
        step[l].z = v_select(finite, step[l].z, v_set(0));
    }
    return v_select(finite, longest2 * scale * scale, v_set(0));
}

static void block_solve(tissue_run *run, int block)
{
    const tissue_model *m = run->m;
    const int32_t *own = m->block_own + (size_t)block * LANES;
    v3 x[TISSUE_LAYERS], p[TISSUE_LAYERS], q[TISSUE_LAYERS], step[TISSUE_LAYERS];
    column_system s;
    column_load(run->w.z, own, x);
    own_add(&s, run, block, own, x);

    /* the triangles around */
    for (int e = m->block_entries[block]; e < m->block_entries[block + 1]; e++) {
        const int32_t *ends = m->entry_ends + (size_t)e * 2 * LANES;
        const float *values = m->entry_values + (size_t)e * ENTRY * LANES;
        column_load(run->w.z, ends, p);
        column_load(run->w.z, ends + LANES, q);
        shear_add(&s, x, p, values);
        for (int l = 0; l < TISSUE_WEDGES; l++)
            wedge_add(&s, l, x, p, q, values + (size_t)(ENTRY_SHEAR + WEDGE * l) * LANES);
    }

    column_solve(&s, step);
    vfloat moved2 = step_limit(run, own, step);

    /* largest motion of the block */
    float most = 0;
    for (int lane = 0; lane < LANES; lane++) most = MAX(most, v_lane(moved2, lane));
    run->w.moves[block] = most;

    /* write back */
    for (int c = 0; c < 3; c++) {
        vfloat values[4];
        int32_t at[LANES];
        for (int l = 0; l < TISSUE_LAYERS; l++) {
            const vfloat *from = c == 0 ? &x[l].x : c == 1 ? &x[l].y : &x[l].z;
            const vfloat *by = c == 0 ? &step[l].x : c == 1 ? &step[l].y : &step[l].z;
            values[l] = *from + *by;
        }
        for (int lane = 0; lane < LANES; lane++) at[lane] = own[lane] + 4 * c;
        v_store4(run->w.z, at, values);
    }
}

/* ---- sweeps ---- */

enum { BLOCK_GRAIN = 8, COLUMN_GRAIN = 512 };

static void colour_solve(void *context, int begin, int end)
{
    tissue_run *run = context;
    int first = run->m->colour_blocks[run->colour];
    for (int block = first + begin; block < first + end; block++) block_solve(run, block);
}

static void colour_gather(void *context, int begin, int end)
{
    tissue_run *run = context;
    int first = run->m->colour_first[run->colour];
    tissue_contact_gather(run, first + begin, first + end);
}

float tissue_sweep(tissue_run *run, int iteration)
{
    const tissue_model *m = run->m;
    const cutis_jobs *jobs = run->input->jobs;

    memcpy(run->w.last, run->w.z, (size_t)m->count * COLUMN * sizeof(float));

    for (run->colour = 0; run->colour < m->colour_count; run->colour++) {
        int c = run->colour;
        int columns = m->colour_first[c + 1] - m->colour_first[c];
        if (run->pair_count + run->plane_count + run->input->drag_count > 0)
            parallel_for(jobs, columns, COLUMN_GRAIN, colour_gather, run);
        parallel_for(jobs, m->colour_blocks[c + 1] - m->colour_blocks[c], BLOCK_GRAIN, colour_solve, run);
    }

    float most = 0;
    for (int block = 0; block < m->block_count; block++) most = MAX(most, run->w.moves[block]);

    tissue_accelerate(run, iteration);
    return sqrtf(most);
}
