/*
 * springs_penetration.c: how deep skin and props are in each other at the end of a substep.
 *
 * This looks at the two surfaces alone and at nothing that contact knows: points of the skin inside a prop and points
 * of a prop inside the skin, by winding numbers, with their distance from the other surface, and pairs of triangles
 * that pass through each other. A plane has points of the skin below it.
 */
#include <string.h>

#include "solvers/springs/springs.h"

/* Two directions, unlikely to meet an edge: a point counts as inside when both say so. */
static const float DIRECTIONS[2][3] = {{0.301f, 0.871f, 0.389f}, {-0.742f, 0.203f, 0.639f}};

typedef struct box {
    vec3 low, high;
} box;

static box box_of(const float *points, int first, int count)
{
    box b = {{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}};
    for (int p = first; p < first + count; p++) {
        vec3 x = vec3_load(points + 3 * p);
        b.low = vec3_min(b.low, x);
        b.high = vec3_max(b.high, x);
    }
    return b;
}

static bool box_holds(const box *b, vec3 x)
{
    return x.x >= b->low.x && x.y >= b->low.y && x.z >= b->low.z && x.x <= b->high.x && x.y <= b->high.y &&
           x.z <= b->high.z;
}

static bool boxes_overlap(const box *a, const box *b)
{
    return a->low.x <= b->high.x && a->low.y <= b->high.y && a->low.z <= b->high.z && b->low.x <= a->high.x &&
           b->low.y <= a->high.y && b->low.z <= a->high.z;
}

/* Depth of the points first.. of one surface in the other. */
static float points_depth(const float *points, int first, int count, const box *bounds, const bvh *tree)
{
    float deepest = 0;
    for (int p = first; p < first + count; p++) {
        vec3 x = vec3_load(points + 3 * p);
        if (!box_holds(bounds, x)) continue;
        if (bvh_ray_winding(tree, points, x, vec3_load(DIRECTIONS[0]), -1) < 1) continue;
        if (bvh_ray_winding(tree, points, x, vec3_load(DIRECTIONS[1]), -1) < 1) continue;
        bvh_hit hit = bvh_closest(tree, points, x, 10);
        if (hit.triangle >= 0) deepest = MAX(deepest, hit.distance);
    }
    return deepest;
}

typedef struct crossing_count {
    const float *points;
    const int *triangles, *corners;
    int count;
} crossing_count;

static bool crossing_visit(void *context, int triangle)
{
    crossing_count *c = context;
    c->count += mesh_triangles_relate(c->triangles + 3 * triangle, c->corners, c->points) == TRIANGLES_CROSS;
    return true;
}

static int crossings_count(const springs_prop *prop, const float *points, const bvh *skin)
{
    crossing_count c = {.points = points, .triangles = skin->triangles};
    for (int t = 0; t < prop->triangle_count; t++) {
        c.corners = prop->corners + 3 * t;
        vec3 low = vec3_load(points + 3 * c.corners[0]), high = low;
        for (int k = 1; k < 3; k++) {
            low = vec3_min(low, vec3_load(points + 3 * c.corners[k]));
            high = vec3_max(high, vec3_load(points + 3 * c.corners[k]));
        }
        bvh_overlap(skin, low, high, crossing_visit, &c);
    }
    return c.count;
}

/* Points of the skin below the planes among the colliders. */
static void planes_measure(springs_run *run, const float *points)
{
    const springs_model *m = run->m;

    for (int i = 0; i < m->colliders.count; i++) {
        int index = m->collider_index[i];
        if (m->prop_of[index] >= 0) continue;

        /* where the plane is */
        const cutis_prop *source = m->character->props + index;
        vec3 place = {0, 0, 0}, normal = {0, 1, 0};
        if (source->joint >= 0) {
            const float *pose = run->input->joints + 12 * source->joint;
            place = vec3_make(pose[3], pose[7], pose[11]);
            normal = vec3_normalize(vec3_make(pose[1], pose[5], pose[9]));
        }

        /* the deepest point below it */
        place = vec3_scale(vec3_sub(place, vec3_load(m->centre)), 1 / m->size);
        float deepest = 0;
        for (int p = 0; p < m->point_count; p++)
            deepest = MAX(deepest, -vec3_dot(normal, vec3_sub(vec3_load(points + 3 * p), place)));
        run->s.reports[index].penetration = deepest;
    }
}

void springs_penetration_measure(springs_run *run)
{
    const springs_model *m = run->m;
    if (m->character->prop_count == 0) return;

    /* the points as they are now */
    float *points = run->w.end;
    for (int p = 0; p < m->contact_count; p++) memcpy(points + 3 * p, run->s.x + NODE * p, 3 * sizeof(float));
    planes_measure(run, points);

    box skin = box_of(points, 0, m->point_count);
    bvh tree = m->tree;
    bool fitted = false;
    tree.nodes = run->w.nodes;

    /* each prop against the skin */
    for (int i = 0; i < m->prop_count; i++) {
        const springs_prop *prop = m->props + i;
        springs_report *report = run->s.reports + prop->index;
        report->penetration = 0;
        report->crossings = 0;
        box bounds = box_of(points, prop->first, prop->point_count);
        if (!boxes_overlap(&skin, &bounds) || tree.triangle_count == 0 || prop->triangle_count == 0) continue;

        /* trees of both surfaces as they are now; that of the skin once */
        if (!fitted) {
            memcpy(tree.nodes, m->tree.nodes, (size_t)tree.node_count * sizeof(bvh_node));
            bvh_refit(&tree, points, 0);
            fitted = true;
        }
        bvh own = prop->tree;
        own.nodes = run->w.prop_nodes;
        memcpy(own.nodes, prop->tree.nodes, (size_t)own.node_count * sizeof(bvh_node));
        bvh_refit(&own, points, 0);

        /* crossings, and the deepest point of one in the other */
        report->crossings = crossings_count(prop, points, &tree);
        report->penetration = points_depth(points, 0, m->point_count, &bounds, &own);
        report->penetration =
            MAX(report->penetration, points_depth(points, prop->first, prop->point_count, &skin, &tree));
    }
}
