/*
 * overlap.c: how deep two surfaces are in each other: points of one inside the other by winding numbers, with their
 * distance from its surface, and pairs of triangles that pass through each other.
 */
#include "mesh/mesh.h"

/* Two directions, unlikely to meet an edge: a point counts as inside when both say so. */
static const float DIRECTIONS[2][3] = {{0.301f, 0.871f, 0.389f}, {-0.742f, 0.203f, 0.639f}};

void overlap_side_bound(overlap_side *side)
{
    side->low = vec3_make(1e30f, 1e30f, 1e30f);
    side->high = vec3_make(-1e30f, -1e30f, -1e30f);
    for (int p = side->first; p < side->first + side->count; p++) {
        vec3 x = vec3_load(side->points + 3 * (size_t)p);
        side->low = vec3_min(side->low, x);
        side->high = vec3_max(side->high, x);
    }
}

bool overlap_sides_near(const overlap_side *a, const overlap_side *b)
{
    return a->low.x <= b->high.x && a->low.y <= b->high.y && a->low.z <= b->high.z && b->low.x <= a->high.x &&
           b->low.y <= a->high.y && b->low.z <= a->high.z;
}

static bool side_holds(const overlap_side *side, vec3 x)
{
    return x.x >= side->low.x && x.y >= side->low.y && x.z >= side->low.z && x.x <= side->high.x &&
           x.y <= side->high.y && x.z <= side->high.z;
}

/* Depth of the deepest point of one surface in the other. */
static float points_depth(const overlap_side *inner, const overlap_side *outer)
{
    float deepest = 0;
    for (int p = inner->first; p < inner->first + inner->count; p++) {
        vec3 x = vec3_load(inner->points + 3 * (size_t)p);
        if (!side_holds(outer, x)) continue;
        if (bvh_ray_winding(&outer->tree, outer->points, x, vec3_load(DIRECTIONS[0]), -1) < 1) continue;
        if (bvh_ray_winding(&outer->tree, outer->points, x, vec3_load(DIRECTIONS[1]), -1) < 1) continue;
        bvh_hit hit = bvh_closest(&outer->tree, outer->points, x, 1e30f);
        if (hit.triangle >= 0) deepest = MAX(deepest, hit.distance);
    }
    return deepest;
}

typedef struct crossing_count {
    const overlap_side *side;
    const float *corners[3]; /* of the triangle that is looked for */
    vec3 low, high;
    int count;
} crossing_count;

static bool crossing_visit(void *context, int triangle)
{
    crossing_count *c = context;
    const float *other[3];
    for (int k = 0; k < 3; k++)
        other[k] = c->side->points + 3 * (size_t)c->side->tree.triangles[3 * (size_t)triangle + (size_t)k];

    /* boxes first */
    vec3 low = vec3_min(vec3_min(vec3_load(other[0]), vec3_load(other[1])), vec3_load(other[2]));
    vec3 high = vec3_max(vec3_max(vec3_load(other[0]), vec3_load(other[1])), vec3_load(other[2]));
    for (int k = 0; k < 3; k++)
        if (vec3_axis(high, k) < vec3_axis(c->low, k) || vec3_axis(c->high, k) < vec3_axis(low, k)) return true;

    c->count += triangles_relate(other, c->corners) == TRIANGLES_CROSS;
    return true;
}

surface_overlap overlap_measure(const overlap_side *a, const overlap_side *b)
{
    surface_overlap result = {MAX(points_depth(a, b), points_depth(b, a)), 0};

    crossing_count c = {.side = a};
    for (int t = 0; t < b->tree.triangle_count; t++) {
        for (int k = 0; k < 3; k++) c.corners[k] = b->points + 3 * (size_t)b->tree.triangles[3 * (size_t)t + (size_t)k];
        c.low = vec3_min(vec3_min(vec3_load(c.corners[0]), vec3_load(c.corners[1])), vec3_load(c.corners[2]));
        c.high = vec3_max(vec3_max(vec3_load(c.corners[0]), vec3_load(c.corners[1])), vec3_load(c.corners[2]));
        bvh_overlap(&a->tree, c.low, c.high, crossing_visit, &c);
    }
    result.crossings = c.count;
    return result;
}
