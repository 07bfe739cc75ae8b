/*
 * layers_contact.c: collisions of the skin with itself and with props, and dragged points. After Deul and Bender 2013,
 * section 4.5.
 *
 * Departures from the paper:
 * - Contacts carry multipliers through the elastic loop: their impulses stay in the particle's balance of inertia
 *   and elasticity instead of being found anew in each iteration.
 * - At the end of a substep, continuous detection makes the motion free of impacts (contact_resolve), so that a
 *   skin without intersections never gets any.
 */
#include <string.h>

#include "solvers/layers/layers_step.h"

void layers_skin_gather(const layers_run *run, float *positions)
{
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < run->m->point_count; k++) positions[3 * k + c] = run->w.iterate.x[c][4 * k];
}

/* ---- search ---- */

static contact_search_options search_options(const layers_run *run)
{
    const layers_model *m = run->m;
    return (contact_search_options){
        .margin = m->thickness + 0.1f * m->surface.edge_mean, .thickness = m->thickness, .released = run->s.released};
}

static void point_activate(layers_run *run, int p)
{
    if (run->w.marks[p]) return;
    run->w.marks[p] = 1;
    run->w.active[run->active_count++] = p;
}

/* The place that a drag takes hold of; -1 for none. */
static int drag_place(const layers_model *m, const cutis_drag *drag)
{
    if (drag->vertex < 0 || drag->vertex >= m->character->vertex_count) return -1;
    return m->paths.places[m->character->vertex_points[drag->vertex]];
}

/* See kit_skin_limit. */
static void skin_limit(const layers_run *run, float *skin)
{
    kit_skin_limit(run->w.skin_old, run->m->point_count, REACH_LIMIT + REACH_RATE * (float)run->h, skin);
}

/* A prop presses a point no further from its place than is painted; beyond that it enters the flesh. */
static void planes_limit(layers_run *run)
{
    const layers_model *m = run->m;
    for (int i = 0; i < run->plane_count && m->press; i++) {
        contact_plane *plane = run->w.planes + i;
        int k = plane->point;
        if (m->press[k] >= 1) continue;
        vec3 skin = vec3_load(run->w.drive + 3 * k);
        vec3 bone = vec3_load(run->w.drive + 3 * (m->point_count + k));
        float reach = m->press[k] * vec3_distance(skin, bone);
        plane->offset = MIN(plane->offset, vec3_dot(plane->normal, skin) + reach);
    }
}

void layers_contacts_search(layers_run *run)
{
    const layers_model *m = run->m;
    contact_search_options options = search_options(run);

    float *skin = run->w.volume.positions;
    layers_skin_gather(run, skin);
    skin_limit(run, skin);

    /* pairs of the skin, unless it recovers; planes of props */
    if (m->self_contact && *run->s.recovering == 0)
        run->pair_count =
            contact_search(&m->surface, &run->w.contact, run->w.skin_old, skin, &options, run->input->jobs);
    if (m->props.count > 0)
        run->plane_count = contact_props_search(&m->props, run->input->joints_old, run->input->joints, run->h,
                                                m->point_count, run->w.skin_old, skin, options.margin, m->thickness,
                                                run->w.planes, run->w.plane_capacity);
    planes_limit(run);

    /* the points that any of them may move */
    memset(run->w.marks, 0, (size_t)m->point_count);
    for (int i = 0; i < run->pair_count; i++)
        for (int k = 0; k < 4; k++) point_activate(run, run->w.contact.pairs[i].v[k]);
    for (int i = 0; i < run->plane_count; i++) point_activate(run, run->w.planes[i].point);
    for (int i = 0; i < run->input->drag_count; i++) {
        int k = drag_place(m, run->input->drags + i);
        if (k >= 0) point_activate(run, k);
    }
}

/* ---- projection ---- */

static void plane_project(contact_plane *plane, const float *inverses, float *positions)
{
    float *x = positions + 3 * plane->point;
    float inverse = inverses[plane->point];
    float value = vec3_dot(plane->normal, vec3_load(x)) - plane->offset;
    if ((value >= 0 && plane->lambda <= 0) || !(inverse > 0)) return;
    float next = MAX(plane->lambda - value / inverse, 0);
    vec3_store(x, vec3_madd(vec3_load(x), plane->normal, (next - plane->lambda) * inverse));
    plane->lambda = next;
}

/* A dragged point goes its strength's share of the way in each substep. */
static void drags_project(layers_run *run, float *positions)
{
    const layers_model *m = run->m;
    for (int i = 0; i < run->input->drag_count; i++) {
        const cutis_drag *drag = run->input->drags + i;
        int k = drag_place(m, drag);
        if (k < 0) continue;

        float strength = CLAMP(drag->strength, 0.0f, 1.0f);
        for (int c = 0; c < 3; c++) {
            float target = (drag->target[c] - m->centre[c]) / m->size;
            if (!(fabsf(target) < 100)) continue;
            positions[3 * k + c] += strength * (target - positions[3 * k + c]);
        }
    }
}

void layers_contacts_project(layers_run *run)
{
    float *skin = run->w.volume.positions;

    /* the skin where contact may act */
    for (int a = 0; a < run->active_count; a++) {
        int k = run->w.active[a];
        for (int c = 0; c < 3; c++) skin[3 * k + c] = run->w.iterate.x[c][4 * k];
    }

    /* one pass of Gauss-Seidel */
    contact_pairs_project(run->w.contact.pairs, run->pair_count, run->w.inverses, skin);
    for (int i = 0; i < run->plane_count; i++) plane_project(run->w.planes + i, run->w.inverses, skin);

    drags_project(run, skin);

    /* what it moves stays in the particles' balance as an impulse */
    for (int a = 0; a < run->active_count; a++) {
        int k = run->w.active[a];
        const float *column = run->w.iterate.columns + 16 * k;

        for (int c = 0; c < 3; c++) {
            float *x = run->w.iterate.x[c] + 4 * k;
            float push = (skin[3 * k + c] - x[LAYER_SKIN]) / column[0];
            run->w.iterate.push[c][k] += push;
            x[LAYER_SKIN] = skin[3 * k + c];
            x[LAYER_FAT] += push * column[4 * 3 + LAYER_FAT];
            x[LAYER_MUSCLE] += push * column[4 * 2 + LAYER_MUSCLE];
        }
    }
}

int layers_contacts_count(const layers_run *run)
{
    int count = 0;
    for (int i = 0; i < run->pair_count; i++) count += run->w.contact.pairs[i].lambda > 0;
    for (int i = 0; i < run->plane_count; i++) count += run->w.planes[i].lambda > 0;
    return count;
}

void layers_contacts_keep(layers_run *run)
{
    const layers_model *m = run->m;
    float inverse = (float)(1 / run->h);
    run->touch_count = 0;
    memset(run->w.pressure, 0, (size_t)m->point_count * sizeof(float));

    /* pairs that press, for friction, and their pressure */
    for (int i = 0; i < run->pair_count; i++) {
        const contact_pair *pair = run->w.contact.pairs + i;
        if (!(pair->lambda > 0)) continue;
        if (run->touch_count < run->w.touch_capacity) run->w.touches[run->touch_count++] = *pair;
        for (int k = 0; k < 4; k++)
            run->w.pressure[pair->v[k]] += fabsf(pair->weights[k]) * pair->lambda * inverse * inverse;
    }

    for (int i = 0; i < run->plane_count; i++)
        run->w.pressure[run->w.planes[i].point] += run->w.planes[i].lambda * inverse * inverse;
}

/* ---- impacts ---- */

bool layers_contacts_resolve(layers_run *run, int *zone_points)
{
    const layers_model *m = run->m;
    contact_search_options options = search_options(run);
    skin_limit(run, run->w.volume.positions);
    contact_resolve_stats stats =
        contact_resolve(&m->surface, &run->w.contact, run->w.skin_old, run->w.volume.positions, run->w.inverses,
                        &options, true, run->input->jobs);
    *zone_points = stats.zone_points;
    return stats.failed;
}
