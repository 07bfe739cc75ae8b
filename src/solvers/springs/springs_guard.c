/*
 * springs_guard.c: cells of soft props do not turn inside out.
 *
 * A net of springs is at rest inside out as well, and stays so: a cube that is thrown at the floor or pinched hard
 * would be crumpled for ever. So no tetrahedron at the corner of a cell (springs_soft.c) may be left with less than a
 * share of its volume at rest. Those below are given room along the gradient of their volume, in sweeps, momentum
 * conserved. What that cannot mend goes back towards the shape at the start of the substep, moved as a rigid body to
 * where the prop is now: that shape is sound, as it is the guarded end of the substep before.
 */
#include <string.h>

#include "solvers/springs/springs.h"

/* Volumes over those at rest: below the first the sweeps give room up to the second; below the last the shape is not
 * sound. */
static const float CRUSHED = 0.12f, ROOM = 0.15f, SOUND = 0.02f;
/* Most sweeps, and halvings of the way back. */
enum { SWEEPS = 24, HALVINGS = 6 };
/* Inverse mass of a node at the surface over that of one inside, where contacts have placed the surface already. */
static const float HELD = 0.01f;

typedef struct guard {
    springs_run *run;
    const springs_prop *prop;
    const springs_soft *soft;
    int first; /* number of its first node in `soft` */
    int count;
    bool settled;
} guard;

static float *node_at(const guard *g, int number) { return g->run->s.x + NODE * g->soft->nodes[number]; }

/* A node at the surface that contacts hold hardly moves. */
static float inverse_mass(const guard *g, int number)
{
    float w = 1 / g->soft->mass[number];
    bool surface = number < g->prop->first_soft + g->prop->point_count;
    bool held = surface && (g->settled || vec3_length2(vec3_load(g->run->w.push + NODE * g->soft->nodes[number])) > 0);
    return held ? HELD * w : w;
}

/* Six times the volume over that at rest, of four places. */
static float volume_share(const float *const p[4], float rest)
{
    vec3 origin = vec3_load(p[0]);
    vec3 a = vec3_sub(vec3_load(p[1]), origin);
    vec3 b = vec3_sub(vec3_load(p[2]), origin);
    vec3 c = vec3_sub(vec3_load(p[3]), origin);
    return vec3_dot(a, vec3_cross(b, c)) / rest;
}

/* Give one tetrahedron room; false when it has enough. */
static bool tetra_open(const guard *g, int t)
{
    const int *nodes = g->soft->tetras + 4 * (size_t)t;

    float *p[4], rest = g->soft->volumes[t];
    for (int k = 0; k < 4; k++) p[k] = node_at(g, nodes[k]);
    float share = volume_share((const float *const *)p, rest);
    if (share >= CRUSHED) return false;

    /* the gradient of its volume */
    vec3 origin = vec3_load(p[0]), gradient[4];
    vec3 a = vec3_sub(vec3_load(p[1]), origin), b = vec3_sub(vec3_load(p[2]), origin);
    vec3 c = vec3_sub(vec3_load(p[3]), origin);
    gradient[1] = vec3_cross(b, c);
    gradient[2] = vec3_cross(c, a);
    gradient[3] = vec3_cross(a, b);
    gradient[0] = vec3_scale(vec3_add(vec3_add(gradient[1], gradient[2]), gradient[3]), -1);

    /* one step along it; a point of a tetrahedron has no gradient, and is left to its neighbours */
    float mobility = 0, least = 1e-6f * (float)det_pow((double)rest, 4.0 / 3);
    for (int k = 0; k < 4; k++) mobility += inverse_mass(g, nodes[k]) * vec3_length2(gradient[k]);
    if (!(mobility > least * inverse_mass(g, nodes[0]))) return true;
    float impulse = (ROOM - share) * rest / mobility;
    for (int k = 0; k < 4; k++)
        vec3_store(p[k], vec3_madd(vec3_load(p[k]), gradient[k], impulse * inverse_mass(g, nodes[k])));
    return true;
}

/* Whether every cell is sound with the nodes at `places` (x NODE), and finite. */
static bool shape_sound(const guard *g, const float *places)
{
    for (int i = 0; i < g->count; i++)
        if (!(vec3_length2(vec3_load(places + NODE * i)) < 1e12f)) return false;
    for (int t = g->prop->first_tetra; t < g->prop->first_tetra + g->prop->tetra_count; t++) {
        const int *nodes = g->soft->tetras + 4 * (size_t)t;
        const float *p[4];
        for (int k = 0; k < 4; k++) p[k] = places + NODE * (nodes[k] - g->first);
        if (!(volume_share(p, g->soft->volumes[t]) > SOUND)) return false;
    }
    return true;
}

/* The shape at the start of the substep, moved as a rigid body to where it fits best. */
static void shape_carry(const guard *g, const float *now, const float *before, float *carried)
{
    const float *mass = g->soft->mass + g->first;

    vec3 from = {0, 0, 0}, to = {0, 0, 0};
    float total = 0;
    for (int i = 0; i < g->count; i++) {
        from = vec3_madd(from, vec3_load(before + NODE * i), mass[i]);
        to = vec3_madd(to, vec3_load(now + NODE * i), mass[i]);
        total += mass[i];
    }

    from = vec3_scale(from, 1 / total);
    to = vec3_scale(to, 1 / total);

    /* the turn between them */
    mat3 sum = {{0}};
    for (int i = 0; i < g->count; i++) {
        vec3 x = vec3_sub(vec3_load(now + NODE * i), to), r = vec3_sub(vec3_load(before + NODE * i), from);
        for (int k = 0; k < 9; k++) sum.m[k] += mass[i] / total * vec3_axis(x, k / 3) * vec3_axis(r, k % 3);
    }

    quat turn = polar_rotation(sum, quat_identity(), 20);
    bool finite = vec3_length2(to) < 1e12f && turn.w * turn.w <= 1.001f;

    /* carried there, unless the numbers are not finite */
    for (int i = 0; i < g->count; i++) {
        vec3 r = vec3_load(before + NODE * i);
        if (finite) r = vec3_add(to, quat_rotate(turn, vec3_sub(r, from)));
        vec3_store(carried + NODE * i, r);
    }
}

/* Back towards the shape at the start, by no more than it takes. */
static void shape_restore(const guard *g)
{
    springs_run *run = g->run;
    size_t first = (size_t)NODE * (size_t)g->first;
    float *now = run->w.guarded + first, *carried = run->w.carried + first;

    for (int i = 0; i < g->count; i++) memcpy(now + NODE * i, node_at(g, g->first + i), NODE * sizeof(float));
    if (shape_sound(g, now)) return;
    shape_carry(g, now, run->w.before + first, carried);

    /* half the way, three quarters, ..., all of it */
    float rest = 0.5f;
    for (int halving = 1;; halving++, rest *= 0.5f) {
        bool whole = halving > HALVINGS;
        for (int i = 0; i < g->count; i++) {
            vec3 back = vec3_load(carried + NODE * i);
            vec3 place = whole ? back : vec3_lerp(back, vec3_load(node_at(g, g->first + i)), rest);
            vec3_store(now + NODE * i, place);
        }
        if (whole || shape_sound(g, now)) break;
    }

    for (int i = 0; i < g->count; i++) memcpy(node_at(g, g->first + i), now + NODE * i, 3 * sizeof(float));
}

void springs_soft_guard(springs_run *run, bool settled)
{
    const springs_model *m = run->m;
    for (int i = 0; i < m->prop_count; i++) {
        const springs_prop *prop = m->props + i;
        if (!prop->soft || springs_prop_still(run, i)) continue;
        guard g = {.run = run,
                   .prop = prop,
                   .soft = &m->soft,
                   .first = prop->first_soft,
                   .count = prop->point_count + prop->inner_count,
                   .settled = settled};

        /* room for what was crushed */
        bool crushed = true;
        for (int sweep = 0; crushed && sweep < SWEEPS; sweep++) {
            crushed = false;
            for (int t = prop->first_tetra; t < prop->first_tetra + prop->tetra_count; t++)
                if (tetra_open(&g, t)) crushed = true;
        }
        if (crushed) shape_restore(&g);
    }
}
