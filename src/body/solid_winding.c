/*
 * solid_winding.c: generalised winding numbers of groups of points, by a tree of dipoles.
 *
 * Jacobson, Kavan, Sorkine-Hornung 2013, "Robust inside-outside segmentation using generalized winding numbers"; the
 * tree after Barill, Dickson, Schmidt, Levin, Jacobson 2018, "Fast winding numbers for soups and clouds". Solid angles
 * by van Oosterom and Strackee 1983.
 *
 * Departures: one walk serves a block of points, which share what is far and what is near. The arcus tangent is a
 * polynomial of vectors (error 1e-5), so that all machines give the same bits.
 */
#include <string.h>

#include "body/solid_private.h"
#include "math/simd.h"

/* A node is far beyond this multiple of its radius; the error of a dipole falls with its third power. */
static const float FAR = 2.2f;
static const float PI = 3.14159265358979f;

enum { STACK_SIZE = 96 };

typedef struct winding_node {
    vec3 centre; /* mean of the triangles' centroids by area */
    vec3 dipole; /* sum of area vectors */
    float radius;
    float area;
} winding_node;

/* Corners of triangle t, turned outwards. */
static void triangle_corners(const winding_tree *w, int t, vec3 p[3])
{
    const int *corner = w->tree.triangles + 3 * (size_t)t;
    int second = w->flips[t] ? 2 : 1;
    p[0] = vec3_load(w->positions + 3 * (size_t)corner[0]);
    p[1] = vec3_load(w->positions + 3 * (size_t)corner[second]);
    p[2] = vec3_load(w->positions + 3 * (size_t)corner[3 - second]);
}

static void node_add(winding_node *n, vec3 centre, vec3 dipole, float area)
{
    n->centre = vec3_madd(n->centre, centre, area);
    n->dipole = vec3_add(n->dipole, dipole);
    n->area += area;
}

cutis_result winding_tree_build(winding_tree *w, const solid_def *def, const uint8_t *flips, arena *memory,
                                cutis_error *error)
{
    *w = (winding_tree){.positions = def->positions, .flips = flips};

    cutis_result result = bvh_build(&w->tree, def->triangle_count, def->triangles, def->positions, memory, error);
    if (result != CUTIS_OK) return result;
    w->nodes = ARENA_ARRAY(memory, winding_node, w->tree.node_count);
    if (!w->nodes) return error_memory(error, "winding numbers");

    /* children stand after their parents */
    for (int i = w->tree.node_count - 1; i >= 0; i--) {
        const bvh_node *box = &w->tree.nodes[i];
        winding_node *n = &w->nodes[i];

        /* a leaf: its triangles */
        for (int k = 0; k < box->count; k++) {
            vec3 p[3];
            triangle_corners(w, w->tree.order[box->first + k], p);
            vec3 area = vec3_scale(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])), 0.5f);
            vec3 centre = vec3_scale(vec3_add(p[0], vec3_add(p[1], p[2])), 1.0f / 3);
            node_add(n, centre, area, vec3_length(area));
        }

        /* a node: its two children */
        for (int k = 0; k < 2 && box->count == 0; k++) {
            const winding_node *child = &w->nodes[box->first + k];
            node_add(n, child->centre, child->dipole, child->area);
        }

        /* the sphere around the centre that holds the box */
        vec3 low = vec3_load(box->min);
        vec3 high = vec3_load(box->max);
        n->centre = n->area > 0 ? vec3_scale(n->centre, 1 / n->area) : vec3_lerp(low, high, 0.5f);
        n->radius = vec3_length(vec3_max(vec3_sub(high, n->centre), vec3_sub(n->centre, low)));
    }

    return CUTIS_OK;
}

/* atan2 by a polynomial of odd powers on [-1, 1]; 0 at the origin. */
static vfloat angle_of(vfloat y, vfloat x)
{
    /* into the octant where the ratio is at most 1 */
    vfloat ax = v_abs(x);
    vfloat ay = v_abs(y);
    vint steep = v_less(ax, ay);
    vfloat low = v_select(steep, ax, ay);
    vfloat high = v_max(v_select(steep, ay, ax), v_set(1e-37f));
    vfloat t = low / high;
    vfloat s = t * t;

    /* the polynomial */
    vfloat p = v_set(-0.0117212f);
    p = p * s + v_set(0.05265332f);
    p = p * s + v_set(-0.11643287f);
    p = p * s + v_set(0.19354346f);
    p = p * s + v_set(-0.33262347f);
    p = p * s + v_set(0.99997726f);

    /* back to the other octants */
    vfloat a = p * t;
    a = v_select(steep, v_set(0.5f * PI) - a, a);
    a = v_select(v_less(x, v_set(0)), v_set(PI) - a, a);
    return v_select(v_less(y, v_set(0)), -a, a);
}

typedef struct vpoint {
    vfloat x, y, z;
} vpoint;

static vpoint vpoint_from(vec3 p, vfloat x, vfloat y, vfloat z)
{
    return (vpoint){v_set(p.x) - x, v_set(p.y) - y, v_set(p.z) - z};
}

static vfloat vpoint_dot(vpoint a, vpoint b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/* Half the solid angle of a triangle seen from each point. */
static vfloat half_angle(const vec3 p[3], vfloat x, vfloat y, vfloat z)
{
    vpoint a = vpoint_from(p[0], x, y, z);
    vpoint b = vpoint_from(p[1], x, y, z);
    vpoint c = vpoint_from(p[2], x, y, z);
    vfloat la = v_sqrt(vpoint_dot(a, a));
    vfloat lb = v_sqrt(vpoint_dot(b, b));
    vfloat lc = v_sqrt(vpoint_dot(c, c));
    vpoint cross = {b.y * c.z - b.z * c.y, b.z * c.x - b.x * c.z, b.x * c.y - b.y * c.x};
    vfloat below = la * lb * lc + vpoint_dot(a, b) * lc + vpoint_dot(b, c) * la + vpoint_dot(c, a) * lb;
    return angle_of(vpoint_dot(a, cross), below);
}

/* 4 pi times the winding number of a dipole at p: d . p / |p|^3. */
static vfloat dipole_angle(vec3 centre, vec3 dipole, vfloat x, vfloat y, vfloat z)
{
    vpoint p = vpoint_from(centre, x, y, z);
    vfloat r2 = v_max(vpoint_dot(p, p), v_set(1e-30f));
    vfloat along = p.x * v_set(dipole.x) + p.y * v_set(dipole.y) + p.z * v_set(dipole.z);
    return along / (r2 * v_sqrt(r2));
}

void winding_evaluate(const winding_tree *w, vec3 centre, float radius, int count, const float *x, const float *y,
                      const float *z, float *winding)
{
    int stack[STACK_SIZE];
    int depth = 0;

    memset(winding, 0, (size_t)count * sizeof *winding);
    stack[depth++] = 0;
    while (depth > 0) {
        int i = stack[--depth];
        const bvh_node *box = &w->tree.nodes[i];
        const winding_node *n = &w->nodes[i];
        vec3 away = vec3_sub(n->centre, centre);

        /* far for every point of the block: one dipole */
        if (vec3_length(away) - radius > FAR * n->radius) {
            for (int k = 0; k < count; k += LANES) {
                vfloat angle = dipole_angle(away, n->dipole, v_load(x + k), v_load(y + k), v_load(z + k));
                v_store(winding + k, v_load(winding + k) + angle);
            }
            continue;
        }

        if (box->count == 0) {
            stack[depth++] = box->first + 1;
            stack[depth++] = box->first;
            continue;
        }

        /* near: triangle by triangle */
        for (int t = 0; t < box->count; t++) {
            vec3 p[3];
            triangle_corners(w, w->tree.order[box->first + t], p);
            for (int k = 0; k < 3; k++) p[k] = vec3_sub(p[k], centre);
            for (int k = 0; k < count; k += LANES) {
                vfloat angle = half_angle(p, v_load(x + k), v_load(y + k), v_load(z + k));
                v_store(winding + k, v_load(winding + k) + (angle + angle));
            }
        }
    }

    /* as a share of the whole sphere */
    for (int k = 0; k < count; k++) winding[k] *= 1 / (4 * PI);
}
