/*
 * springs_penetration.c: how deep skin and props are in each other at the end of a substep.
 *
 * This looks at the two surfaces alone and at nothing that contact knows: points of the skin inside a prop and points
 * of a prop inside the skin, by winding numbers, with their distance from the other surface, and pairs of triangles
 * that pass through each other. A plane has points of the skin below it.
 */
#include <string.h>

#include "solvers/springs/springs.h"

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

    overlap_side skin = {.points = points, .count = m->point_count, .tree = m->tree};
    overlap_side_bound(&skin);
    skin.tree.nodes = run->w.nodes;
    bool fitted = false;

    /* each prop against the skin */
    for (int i = 0; i < m->prop_count; i++) {
        const springs_prop *prop = m->props + i;
        springs_report *report = run->s.reports + prop->index;
        report->penetration = 0;
        report->crossings = 0;
        overlap_side own = {.points = points, .first = prop->first, .count = prop->point_count, .tree = prop->tree};
        overlap_side_bound(&own);
        if (!overlap_sides_near(&skin, &own) || m->tree.triangle_count == 0 || prop->triangle_count == 0) continue;

        /* trees of both surfaces as they are now; that of the skin once */
        if (!fitted) {
            memcpy(skin.tree.nodes, m->tree.nodes, (size_t)m->tree.node_count * sizeof(bvh_node));
            bvh_refit(&skin.tree, points, 0);
            fitted = true;
        }
        own.tree.nodes = run->w.prop_nodes;
        memcpy(own.tree.nodes, prop->tree.nodes, (size_t)own.tree.node_count * sizeof(bvh_node));
        bvh_refit(&own.tree, points, 0);

        surface_overlap found = overlap_measure(&skin, &own);
        report->crossings = found.crossings;
        report->penetration = found.depth;
    }
}
