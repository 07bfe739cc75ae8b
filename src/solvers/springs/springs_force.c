/*
 * springs_force.c: the forces of the model, and the net force on every node.
 *
 * Cordier and Magnenat-Thalmann, section 3: f_R = f_A + f_E + f_C.
 * - f_A, anchor: K (X_rest - X). Departure: it grows with the elongation u as K (1 + u^2 / depth^2), since flesh
 *   that is pressed towards the bone gets firmer. From the bone on the force stays what it is there, u / (1 + (u /
 *   flesh)^4)^(1/4) in place of u: no flesh is left to press, and joints are not stronger than that.
 * - f_E, elasticity: a linear spring along each edge, weaker when pressed together, where skin wrinkles. Departure:
 *   lengths and angles at rest are those of the reference shape in this pose, not of the bind pose. The skin grows
 *   with the body under it; with the bind pose's lengths the springs undo what the shape does for a bent or twisted
 * limb.
 * - f_C, curvature: over an edge BC between the triangles ABC and DCB, F_A = f(theta) / |AA'| N_A and
 *   F_D = f(theta) / |DD'| N_D; F_B and F_C follow from the balance of forces and moments:
 *   F_B = -(1-a) F_A - (1-d) F_D and F_C = -a F_A - d F_D, where a and d say where A' and D' lie between B and C.
 *   f(theta) is the derivative of bend (1 - cos(theta - theta_rest)), from the cosine and sine of both: no
 *   trigonometry, and nothing jumps where a fold turns over. Departure: that energy fades with
 * the square of a triangle's height below 0.7 of that at rest, where N turns too quickly; the change of height gives
 * forces in the triangles' planes, F_A and F_D getting a part away from or towards the edge, with the same balance.
 * Without these parts the force would have no energy, and creases would not come to rest. Soft props have springs
 * between nodes and inertia: M / h^2 (y - X), y where inertia takes the node.
 */
#include <string.h>

#include "solvers/springs/springs.h"

/* Most that an anchor's stiffness grows by. */
static const float FIRMEST = 8;
/* A soft node is to rest so much better than skin: its errors add up over the substeps, as velocity. */
static const float SOFT_STRICTER = 8;
/* The skin may be this much farther from rest than its largest net force over the anchor: bending spreads it. */
static const float SKIN_STRICTER = 1.5f;
/* And skin beside rigid bodies so much better: what it is off by shakes them. */
static const float HOLDING_STRICTER = 4;
/* Stiffness of a node over its anchor's beyond which its net force would show the rounding of floats. */
static const float STIFFEST = 64;
/* Volume over that at rest below which a soft cell presses back. */
static const float CRUSHED = 0.7f;
/* Stiffness of a shortened edge over that of a lengthened one. */
static const float WRINKLING = 0.25f;

typedef struct vvec {
    vfloat x, y, z;
} vvec;

static inline vvec vv_sub(vvec a, vvec b) { return (vvec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vvec vv_scale(vvec a, vfloat s) { return (vvec){a.x * s, a.y * s, a.z * s}; }
static inline vvec vv_add(vvec a, vvec b) { return (vvec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vfloat vv_dot(vvec a, vvec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vvec vv_cross(vvec a, vvec b)
{
    return (vvec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline vvec vv_gather(const float *x, const int *offsets)
{
    vfloat c[4];
    v_load4(x, offsets, c);
    return (vvec){c[0], c[1], c[2]};
}

static inline void vv_scatter(float *forces, const int *offsets, vvec f)
{
    vfloat c[4] = {f.x, f.y, f.z, v_set(0)};
    v_store4(forces, offsets, c);
}

/* The geometry of LANES edges. */
typedef struct edge_lanes {
    vvec a, d; /* from B */
    vvec unit; /* along the edge, from B to C */
    vvec na, nd;
    vfloat length, over;     /* and 1 / length */
    vfloat la, ld;           /* heights x length */
    vfloat over_ha, over_hd; /* 1 / heights */
    vfloat cosine, sine;     /* of the angle between the normals */
} edge_lanes;

static inline edge_lanes edge_geometry(const float *x, const int *nodes)
{
    const vfloat tiny = v_set(1e-24f), one = v_set(1);
    edge_lanes g;
    vvec b = vv_gather(x, nodes), c = vv_gather(x, nodes + LANES), e = vv_sub(c, b);
    g.a = vv_sub(vv_gather(x, nodes + 2 * LANES), b);
    g.d = vv_sub(vv_gather(x, nodes + 3 * LANES), b);
    g.length = v_sqrt(v_max(vv_dot(e, e), tiny));
    g.over = one / g.length;
    g.unit = vv_scale(e, g.over);

    /* the normals of the two triangles, and the angle between them */
    g.na = vv_cross(e, g.a);
    g.nd = vv_cross(g.d, e);
    g.la = v_sqrt(v_max(vv_dot(g.na, g.na), tiny));
    g.ld = v_sqrt(v_max(vv_dot(g.nd, g.nd), tiny));

    vfloat over_la = one / g.la, over_ld = one / g.ld;
    g.na = vv_scale(g.na, over_la);
    g.nd = vv_scale(g.nd, over_ld);

    g.cosine = vv_dot(g.na, g.nd);
    g.sine = vv_dot(vv_cross(g.nd, g.na), g.unit);

    g.over_ha = g.length * over_la;
    g.over_hd = g.length * over_ld;
    return g;
}

static void edges_force(void *context, int begin, int end)
{
    const springs_run *run = context;
    const springs_edges *edges = &run->m->edges;
    float *forces = run->w.edge_forces;
    const vfloat one = v_set(1);
    for (int i = begin; i < end; i++) {
        int block = run->local ? run->w.blocks[i] : i;
        const int *slots = edges->slots + (size_t)block * 4 * LANES;
        size_t at = (size_t)block * LANES;
        edge_lanes g = edge_geometry(run->at, edges->nodes + (size_t)block * 4 * LANES);

        /* Elasticity: pulls B towards C when longer than on the reference shape. */
        vfloat longer = g.length - v_load(run->w.rest + at);
        longer = v_max(longer, longer * v_set(WRINKLING));
        vvec pull = vv_scale(g.unit, v_load(edges->stretch + at) * longer);

        /* Curvature. */
        vfloat ra = v_min(g.la * g.over * v_load(edges->low[0] + at), one),
               rd = v_min(g.ld * g.over * v_load(edges->low[1] + at), one);
        vfloat tall = ra * ra * (rd * rd);
        vfloat bend = v_load(edges->bend + at) * tall;
        vfloat cosine = v_load(run->w.cosine + at), sine = v_load(run->w.sine + at);
        vfloat moment = bend * (sine * g.cosine - cosine * g.sine);

        /* Low triangles: -2 energy / height, the energy's derivative. */
        vfloat dc = g.cosine - cosine, ds = g.sine - sine, energy = -bend * (dc * dc + ds * ds);
        vfloat pa = v_select(v_less(ra, one), energy * g.over_ha, v_set(0)),
               pd = v_select(v_less(rd, one), energy * g.over_hd, v_set(0));
        vvec fa = vv_add(vv_scale(g.na, moment * g.over_ha), vv_scale(vv_cross(g.na, g.unit), pa));
        vvec fd = vv_add(vv_scale(g.nd, moment * g.over_hd), vv_scale(vv_cross(g.unit, g.nd), pd));

        /* forces of all four nodes */
        vfloat sa = vv_dot(g.a, g.unit) * g.over, sd = vv_dot(g.d, g.unit) * g.over;
        vvec fc = vv_add(vv_scale(fa, -sa), vv_scale(fd, -sd));
        vvec fb = vv_sub(vv_sub(vv_scale(fa, v_set(-1)), fd), fc);
        vv_scatter(forces, slots, vv_add(fb, pull));
        vv_scatter(forces, slots + LANES, vv_sub(fc, pull));
        vv_scatter(forces, slots + 2 * LANES, fa);
        vv_scatter(forces, slots + 3 * LANES, fd);
    }
}

static void edges_rest(void *context, int begin, int end)
{
    const springs_run *run = context;
    for (int block = begin; block < end; block++) {
        edge_lanes g = edge_geometry(run->w.target, run->m->edges.nodes + (size_t)block * 4 * LANES);
        v_store(run->w.rest + (size_t)block * LANES, g.length);
        v_store(run->w.cosine + (size_t)block * LANES, g.cosine);
        v_store(run->w.sine + (size_t)block * LANES, g.sine);
    }
}

void springs_rest(springs_run *run)
{
    parallel_for(run->input->jobs, run->m->edges.blocks, EDGE_GRAIN, edges_rest, run);
}

/* The force on the first end. */
static void springs_force(void *context, int begin, int end)
{
    const springs_run *run = context;
    const springs_soft *soft = &run->m->soft;
    for (int i = begin; i < end; i++) {
        vec3 way =
            vec3_sub(vec3_load(run->at + NODE * soft->ends[2 * i + 1]), vec3_load(run->at + NODE * soft->ends[2 * i]));
        float length = sqrtf(MAX(vec3_length2(way), 1e-24f));
        vec3_store(run->w.spring_forces + 4 * (size_t)i,
                   vec3_scale(way, soft->stiff[i] * (length - soft->rest[i]) / length));
    }
}

/* Pressure of soft cells that are crushed: the gradient of pressure (CRUSHED - share)^2 / 2 x volume. */
static void cells_force(void *context, int begin, int end)
{
    const springs_run *run = context;
    const springs_soft *soft = &run->m->soft;
    for (int t = begin; t < end; t++) {
        float *out = run->w.cell_forces + 16 * (size_t)t;
        vec3 p[4];
        for (int k = 0; k < 4; k++) p[k] = vec3_load(run->at + NODE * soft->nodes[soft->tetras[4 * t + k]]);

        /* share of the volume that is left */
        vec3 a = vec3_sub(p[1], p[0]), b = vec3_sub(p[2], p[0]), c = vec3_sub(p[3], p[0]);
        vec3 side = vec3_cross(b, c);
        float lacks = CRUSHED - vec3_dot(a, side) / soft->volumes[t];
        if (!(lacks > 0)) {
            memset(out, 0, 16 * sizeof *out);
            continue;
        }

        /* pushes on the far side of each corner */
        float push = soft->pressure[t] * MIN(lacks, 1.0f);
        vec3 f[4] = {
            {0, 0, 0}, vec3_scale(side, push), vec3_scale(vec3_cross(c, a), push), vec3_scale(vec3_cross(a, b), push)};
        f[0] = vec3_scale(vec3_add(vec3_add(f[1], f[2]), f[3]), -1);

        /* and a bound of each row of the stiffness, |g_i| sum |g_j| */
        float lengths[4], sum = 0;
        for (int k = 0; k < 4; k++) sum += lengths[k] = vec3_length(f[k]);
        float stiff = sum / (push * MIN(lacks, 1.0f) * soft->volumes[t]);
        for (int k = 0; k < 4; k++) {
            vec3_store(out + 4 * k, f[k]);
            out[4 * k + 3] = lengths[k] * stiff;
        }
    }
}

void springs_forces(springs_run *run)
{
    int blocks = run->local ? run->local_blocks : run->m->edges.blocks;
    parallel_for(run->input->jobs, blocks, EDGE_GRAIN, edges_force, run);
    if (run->m->soft.spring_count > 0)
        parallel_for(run->input->jobs, run->m->soft.spring_count, 2048, springs_force, run);
    if (run->m->soft.tetra_count > 0) parallel_for(run->input->jobs, run->m->soft.tetra_count, 2048, cells_force, run);
}

/*
 * Net forces of the skin, and the largest by block, over the stiffness of the anchor: nothing less bounds how far the
 * skin may be from rest. Over the geometric mean with the whole node's stiffness, some points were off by ten times the
 * tolerance.
 */
static void skin_net(void *context, int begin, int end)
{
    springs_run *run = context;
    const springs_model *m = run->m;
    float worst = 0, strict = m->bodies ? SKIN_STRICTER * HOLDING_STRICTER : SKIN_STRICTER;

    for (int n = begin; n < end; n++) {
        int p = run->local ? run->w.local[n] : n;
        vec3 u = vec3_sub(vec3_load(run->w.target + NODE * p), vec3_load(run->at + NODE * p));
        float k = m->anchor[p], far2 = vec3_length2(u), share = far2 / (m->flesh[p] * m->flesh[p]);

        /* flesh gets firmer down to the bone; there its elongation ends */
        float ends = 1 / sqrtf(sqrtf(1 + share * share));
        float grown = MIN(far2 * ends * ends * m->depth[p], FIRMEST);

        /* pushes, edges, and the anchor */
        f4 sum = f4_load(run->w.push + NODE * p);
        for (int i = m->incident_first[p]; i < m->incident_first[p + 1]; i++)
            sum = f4_add(sum, f4_load(run->w.edge_forces + m->incident[i]));

        float total[4];
        f4_store(total, sum);

        vec3 f = vec3_madd(vec3_load(total), u, k * (1 + grown) * ends);
        bool frozen = m->frozen[p];
        if (frozen) f = vec3_make(0, 0, 0);

        vec3_store(run->w.force + NODE * p, f);
        run->w.give[p] = frozen ? 0 : 1 / (m->diagonal[p] + k * (1 + 3 * grown));
        float net2 = strict * strict * vec3_length2(f) / (k * MAX(k, (m->diagonal[p] + k) / STIFFEST));
        run->w.unrest[p] = net2;
        worst = MAX(worst, net2);
    }

    run->w.partial[begin / NODE_GRAIN] = (double)worst;
}

static void soft_net(void *context, int begin, int end)
{
    springs_run *run = context;
    const springs_model *m = run->m;
    const springs_soft *soft = &m->soft;
    float inertia = 1 / (run->h * run->h), worst = 0;

    for (int i = begin; i < end; i++) {
        int node = soft->nodes[i];

        /* inertia, springs and pushes */
        float k = soft->mass[i] * inertia;
        vec3 way = vec3_sub(vec3_load(run->w.inert + NODE * i), vec3_load(run->at + NODE * node));
        vec3 f = vec3_madd(vec3_load(run->w.push + NODE * node), way, k);
        for (int j = soft->first[i]; j < soft->first[i + 1]; j++) {
            vec3 pull = vec3_load(run->w.spring_forces + 4 * (size_t)(soft->springs[j] >> 1));
            f = vec3_madd(f, pull, soft->springs[j] & 1 ? -1.0f : 1.0f);
        }

        /* springs are in the diagonal; crushed cells add to it */
        float row = m->diagonal[node] + k;
        for (int j = soft->corner_first[i]; j < soft->corner_first[i + 1]; j++) {
            const float *corner = run->w.cell_forces + 4 * (size_t)soft->corners[j];
            f = vec3_add(f, vec3_load(corner));
            row += corner[3];
        }

        bool still = springs_prop_still(run, soft->owners[i]);
        if (still) f = vec3_make(0, 0, 0);
        vec3_store(run->w.force + NODE * node, f);
        run->w.give[node] = still ? 0 : 1 / row;
        worst = MAX(worst, SOFT_STRICTER * SOFT_STRICTER * vec3_length2(f) / (k * row));
    }

    run->w.partial[NODE_BLOCKS(m->point_count) + begin / NODE_GRAIN] = (double)worst;
}

void springs_net(springs_run *run)
{
    const springs_model *m = run->m;
    springs_forces(run);
    int skin = run->local ? run->local_skin : m->point_count;
    parallel_for(run->input->jobs, skin, NODE_GRAIN, skin_net, run);
    if (m->soft.node_count > 0) parallel_for(run->input->jobs, m->soft.node_count, NODE_GRAIN, soft_net, run);
    double worst = 0;
    for (int i = 0; i * NODE_GRAIN < skin; i++) worst = MAX(worst, run->w.partial[i]);
    for (int i = 0; i * NODE_GRAIN < m->soft.node_count; i++)
        worst = MAX(worst, run->w.partial[NODE_BLOCKS(m->point_count) + i]);
    run->residual = sqrt(worst);
}
