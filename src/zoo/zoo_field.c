/*
 * zoo_field.c: the smooth shape that a character's surface is pulled onto.
 *
 * Shapes are round cones (spheres, capsules) and tubes in a linearly mapped space, so that they may be flattened.
 * Their value is divided by the length of its gradient, which makes it a distance to first order near the surface.
 * They are united with the polynomial smooth minimum (Quilez), whose support is compact: a shape farther off
 * than the blend width has no influence at all, which makes skipping it by its bounding box exact. Gradients
 * are carried along: the gradient of a smooth minimum is the same mix of the gradients.
 */
#include <assert.h>

#include "zoo/zoo_kit.h"

typedef struct sample {
    float value;
    vec3 gradient;
} sample;

static inline sample smooth_min(sample a, sample b, float blend)
{
    if (b.value >= a.value + blend) return a;
    if (a.value >= b.value + blend) return b;
    float h = 0.5f + 0.5f * (b.value - a.value) / blend;
    return (sample){b.value + (a.value - b.value) * h - blend * h * (1 - h), vec3_lerp(b.gradient, a.gradient, h)};
}

int zoo_field_node(zoo_kit *kit, int parent, float blend)
{
    assert(kit->node_count < ZOO_MAX_NODES && parent < kit->node_count);
    kit->nodes[kit->node_count] = (zoo_node){.parent = parent, .blend = blend, .first_child = -1, .next_sibling = -1};
    return kit->node_count++;
}

static zoo_shape *shape_add(zoo_kit *kit, int node, float blend)
{
    assert(kit->shape_count < ZOO_MAX_SHAPES && node < kit->node_count);
    zoo_shape *shape = &kit->shapes[kit->shape_count++];
    *shape = (zoo_shape){.node = node,
                         .blend = blend,
                         .to_local = mat3_identity(),
                         .cosine = 1,
                         .low = {1e9f, 1e9f, 1e9f},
                         .high = {-1e9f, -1e9f, -1e9f}};
    return shape;
}

/* Let the shape's box hold a ball. */
static void shape_bound(zoo_shape *shape, vec3 centre, float radius)
{
    vec3 r = {radius, radius, radius};
    shape->low = vec3_min(shape->low, vec3_sub(centre, r));
    shape->high = vec3_max(shape->high, vec3_add(centre, r));
}

/* The map that makes everything `factor` times as thin along the unit vector `axis`. */
static mat3 squash_along(vec3 axis, float factor)
{
    float squeeze = 1 / factor - 1;
    return (mat3){{1 + squeeze * axis.x * axis.x, squeeze * axis.x * axis.y, squeeze * axis.x * axis.z,
                   squeeze * axis.y * axis.x, 1 + squeeze * axis.y * axis.y, squeeze * axis.y * axis.z,
                   squeeze * axis.z * axis.x, squeeze * axis.z * axis.y, 1 + squeeze * axis.z * axis.z}};
}

void zoo_field_flat_cone(zoo_kit *kit, int node, vec3 a, float radius_a, vec3 b, float radius_b, vec3 axis,
                         float factor, float blend)
{
    /* bounds */
    zoo_shape *shape = shape_add(kit, node, blend);
    shape_bound(shape, a, radius_a * MAX(factor, 1.0f));
    shape_bound(shape, b, radius_b * MAX(factor, 1.0f));
    shape->origin = a;

    /* Squeeze along the axis, then turn the squeezed a -> b onto +y. */
    mat3 squash = squash_along(axis, factor);
    vec3 along = mat3_vector(squash, vec3_sub(b, a));
    shape->length = vec3_length(along);
    shape->radius_a = radius_a;
    shape->radius_b = radius_b;
    shape->to_local = squash;
    if (shape->length > 0) {
        quat turn = quat_between(vec3_scale(along, 1 / shape->length), vec3_make(0, 1, 0));
        shape->to_local = mat3_multiply(quat_matrix(turn), squash);
        shape->slope = CLAMP((radius_a - radius_b) / shape->length, -0.95f, 0.95f);
        shape->cosine = sqrtf(1 - shape->slope * shape->slope);
    }
}

void zoo_field_cone(zoo_kit *kit, int node, vec3 a, float radius_a, vec3 b, float radius_b, float blend)
{
    zoo_field_flat_cone(kit, node, a, radius_a, b, radius_b, vec3_make(0, 0, 1), 1, blend);
}

/* Catmull-Rom through four values. */
static float spline(float a, float b, float c, float d, float t)
{
    return b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

void zoo_field_tube(zoo_kit *kit, int node, const vec3 *points, const float *radii, int count, vec3 axis, float factor,
                    float blend)
{
    enum { PIECES = 4 };
    zoo_shape *shape = shape_add(kit, node, blend);
    shape->to_local = squash_along(axis, factor);
    shape->tube_first = kit->tube_count;

    /* a spline through the points */
    for (int i = 0; i + 1 < count; i++) {
        int before = MAX(i - 1, 0), after = MIN(i + 2, count - 1);

        /* pieces of the spline */
        for (int k = i == 0 ? 0 : 1; k <= PIECES; k++) {
            float t = (float)k / PIECES;
            vec3 a = points[before], b = points[i], c = points[i + 1], d = points[after];
            vec3 p = {spline(a.x, b.x, c.x, d.x, t), spline(a.y, b.y, c.y, d.y, t), spline(a.z, b.z, c.z, d.z, t)};
            float radius = spline(radii[before], radii[i], radii[i + 1], radii[after], t);
            assert(kit->tube_count < ZOO_MAX_TUBE);
            kit->tube_points[kit->tube_count] = mat3_vector(shape->to_local, p);
            kit->tube_radii[kit->tube_count++] = radius;
            shape_bound(shape, p, radius * MAX(factor, 1.0f));
        }
    }
    shape->tube_count = kit->tube_count - shape->tube_first;
}

void zoo_field_blob(zoo_kit *kit, int node, vec3 centre, vec3 a, vec3 b, vec3 c, float blend)
{
    zoo_shape *shape = shape_add(kit, node, blend);
    vec3 x = vec3_scale(a, 1 / vec3_length2(a)), y = vec3_scale(b, 1 / vec3_length2(b)),
         z = vec3_scale(c, 1 / vec3_length2(c));
    shape->origin = centre;
    shape_bound(shape, centre, sqrtf(MAX(vec3_length2(a), MAX(vec3_length2(b), vec3_length2(c)))));
    shape->radius_a = shape->radius_b = 1;
    shape->to_local = (mat3){{x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z}};
}

void zoo_field_ellipsoid(zoo_kit *kit, int node, vec3 centre, vec3 radii, float blend)
{
    zoo_field_blob(kit, node, centre, vec3_make(radii.x, 0, 0), vec3_make(0, radii.y, 0), vec3_make(0, 0, radii.z),
                   blend);
}

void zoo_field_magnet(zoo_kit *kit, vec3 centre, float radius, float strength)
{
    assert(kit->magnet_count < ZOO_MAX_MAGNETS);
    kit->magnets[kit->magnet_count++] = (zoo_magnet){centre, radius, strength};
}

void zoo_field_carve(zoo_kit *kit) { kit->shapes[kit->shape_count - 1].carve = true; }

/* Sort the shapes by node (order kept) and bound every node with all its descendants. */
void zoo_field_finish(zoo_kit *kit)
{
    /* insertion sort: order is kept */
    for (int i = 1; i < kit->shape_count; i++)
        for (int j = i; j > 0 && kit->shapes[j].node < kit->shapes[j - 1].node; j--) {
            zoo_shape swap = kit->shapes[j];
            kit->shapes[j] = kit->shapes[j - 1];
            kit->shapes[j - 1] = swap;
        }

    /* the run of each node */
    for (int n = 0; n < kit->node_count; n++) {
        zoo_node *node = &kit->nodes[n];
        node->first_shape = 0;
        while (node->first_shape < kit->shape_count && kit->shapes[node->first_shape].node < n) node->first_shape++;
        while (node->first_shape + node->shape_count < kit->shape_count &&
               kit->shapes[node->first_shape + node->shape_count].node == n)
            node->shape_count++;
    }

    /* A shape acts at most over its own blend and those of the nodes above it. */
    for (int i = 0; i < kit->shape_count; i++) {
        zoo_shape *shape = &kit->shapes[i];
        shape->reach = 1.25f * shape->blend;
        for (int n = shape->node; n >= 0; n = kit->nodes[n].parent) shape->reach += 1.25f * kit->nodes[n].blend;
        for (int n = shape->node; n >= 0; n = kit->nodes[n].parent)
            kit->nodes[n].reach = MAX(kit->nodes[n].reach, shape->reach);
    }
    for (int n = kit->node_count - 1; n >= 0; n--) {
        /* Backwards, so that siblings stand in ascending order. */
        zoo_node *node = &kit->nodes[n];
        if (node->parent >= 0) {
            node->next_sibling = kit->nodes[node->parent].first_child;
            kit->nodes[node->parent].first_child = n;
        }
    }

    /* bounds of each with its descendants */
    for (int n = 0; n < kit->node_count; n++) {
        vec3 low = {1e9f, 1e9f, 1e9f}, high = {-1e9f, -1e9f, -1e9f};
        for (int i = 0; i < kit->shape_count; i++) {
            int above = kit->shapes[i].node;
            while (above > n) above = kit->nodes[above].parent;
            if (above != n) continue;
            low = vec3_min(low, kit->shapes[i].low);
            high = vec3_max(high, kit->shapes[i].high);
        }
        kit->nodes[n].low = low;
        kit->nodes[n].high = high;
    }
}

/* Distance from q to a tube, in its local space, and the gradient. */
static float tube_value(const zoo_kit *kit, const zoo_shape *shape, vec3 q, vec3 *gradient)
{
    const vec3 *points = kit->tube_points + shape->tube_first;
    const float *radii = kit->tube_radii + shape->tube_first;
    float best = 1e9f, radius = 0;
    vec3 away = {0, 1, 0}, slope = {0, 0, 0};

    /* the nearest piece */
    for (int i = 0; i + 1 < shape->tube_count; i++) {
        vec3 along = vec3_sub(points[i + 1], points[i]), to = vec3_sub(q, points[i]);
        float length2 = vec3_length2(along), t = vec3_dot(to, along) / length2;
        t = CLAMP(t, 0.0f, 1.0f);
        vec3 off = vec3_madd(to, along, -t);
        float distance2 = vec3_length2(off);
        if (distance2 >= best) continue;
        best = distance2;
        away = off;
        radius = radii[i] + (radii[i + 1] - radii[i]) * t;
        slope = vec3_scale(along, t > 0 && t < 1 ? (radii[i + 1] - radii[i]) / length2 : 0);
    }

    /* distance and its slope */
    float distance = sqrtf(best);
    *gradient = vec3_sub(vec3_scale(away, 1 / MAX(distance, 1e-9f)), slope);
    return distance - radius;
}

static inline sample shape_value(const zoo_kit *kit, const zoo_shape *shape, vec3 p)
{
    vec3 q = mat3_vector(shape->to_local, vec3_sub(p, shape->origin)), g;
    float radial = sqrtf(q.x * q.x + q.z * q.z), value;
    float along = q.y * shape->cosine - radial * shape->slope;

    /* a tube, the ball at either end, or the flank between */
    if (shape->tube_count > 0) {
        value = tube_value(kit, shape, q, &g);
    } else if (along <= 0 || shape->length == 0) {
        float length = vec3_length(q);
        value = length - shape->radius_a;
        g = length > 0 ? vec3_scale(q, 1 / length) : vec3_make(0, 1, 0);
    } else if (along >= shape->length * shape->cosine) {
        q.y -= shape->length;
        float length = vec3_length(q);
        value = length - shape->radius_b;
        g = length > 0 ? vec3_scale(q, 1 / length) : vec3_make(0, 1, 0);
    } else {
        value = radial * shape->cosine + q.y * shape->slope - shape->radius_a;
        float flank = radial > 0 ? shape->cosine / radial : 0;
        g = vec3_make(q.x * flank, shape->slope, q.z * flank);
    }

    /* back to the scene, with unit slope */
    const float *m = shape->to_local.m;
    vec3 gradient = {m[0] * g.x + m[3] * g.y + m[6] * g.z, m[1] * g.x + m[4] * g.y + m[7] * g.z,
                     m[2] * g.x + m[5] * g.y + m[8] * g.z};
    float scale = 1 / MAX(vec3_length(gradient), 1e-12f);
    return (sample){value * scale, vec3_scale(gradient, scale)};
}

/* Whether p is farther than `distance` from a box (and outside it, for a negative one). */
static inline bool box_far(vec3 p, vec3 low, vec3 high, float distance)
{
    vec3 zero = {0, 0, 0}, off = vec3_max(vec3_max(vec3_sub(low, p), vec3_sub(p, high)), zero);
    return vec3_length2(off) > MAX(distance, 0.0f) * MAX(distance, 0.0f);
}

/* Shapes that are farther from p than `near` and their reach are left out. */
static sample node_value(const zoo_kit *kit, int n, vec3 p, float near)
{
    const zoo_node *node = &kit->nodes[n];
    sample best = {1e9f, {0, 1, 0}};

    /* its own shapes, in order */
    for (int i = 0; i < node->shape_count; i++) {
        const zoo_shape *shape = &kit->shapes[node->first_shape + i];
        if (shape->carve) {
            /* a minus b = -min(-a, b) */
            if (box_far(p, shape->low, shape->high, shape->blend - best.value)) continue;
            sample a = {-best.value, vec3_scale(best.gradient, -1)};
            a = smooth_min(a, shape_value(kit, shape, p), shape->blend);
            best = (sample){-a.value, vec3_scale(a.gradient, -1)};
        } else if (!box_far(p, shape->low, shape->high, MIN(near + shape->reach, best.value + shape->blend))) {
            best = smooth_min(best, shape_value(kit, shape, p), shape->blend);
        }
    }

    /* then its children */
    for (int c = node->first_child; c >= 0; c = kit->nodes[c].next_sibling) {
        const zoo_node *child = &kit->nodes[c];
        if (box_far(p, child->low, child->high, MIN(near + child->reach, best.value + child->blend))) continue;
        best = smooth_min(best, node_value(kit, c, p, near), child->blend);
    }
    return best;
}

float zoo_field_value(const zoo_kit *kit, vec3 p, float near, vec3 *gradient)
{
    /* Where the value is below `near`, nothing much farther off can have an influence on it. */
    sample s = node_value(kit, 0, p, near);
    if (s.value > near || s.value < -near) s = node_value(kit, 0, p, 1e9f);
    *gradient = s.gradient;
    return s.value;
}
