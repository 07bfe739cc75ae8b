/*
 * tissue_contact.c: contact of the skin with itself and with props, as a term of the energy.
 *
 * A pair of features (point and triangle, or two edges) at distance d within its gap r has the energy of Chen et al.
 * 2025 (Offset Geometric Contact): k/2 (r - d)^2 down to r/2, below it -k r^2/4 log d, smooth up to the second
 * derivative. It grows without bound, and steps are limited: in an iteration a point moves by less than half its
 * distance from everything it may touch. So nothing crosses. The first iterate and the result are checked by
 * continuous detection against everything near (contact_pair_impact), and shortened where they would cross.
 *
 * Friction is in tissue_friction.c.
 * Props are planes with the same energy, continued by a parabola where a point is inside.
 */
#include <string.h>

#include "solvers/tissue/tissue.h"

/*
 * Share of its distance to a plane that a point may use in one iteration (the fraction-to-the-boundary rule of interior
 * point methods). Beyond the gap a plane has no slope, so that Newton's step from there would go through it.
 */
static const float MAX_PLANE_APPROACH = 0.9f;
/* Distance below which the energy goes on as a parabola, over the gap: keeps numbers finite. */
static const float MIN_DISTANCE_SHARE = 1e-3f, MIN_PLANE_SHARE = 0.05f;

static contact_search_options search_options(const tissue_run *run)
{
    const tissue_model *m = run->m;
    return (contact_search_options){
        .margin = m->gap + 0.1f * m->surface.edge_mean, .thickness = m->gap, .released = run->s.released};
}

static vec3 skin_at(const tissue_run *run, int k)
{
    const float *z = run->w.z + (size_t)COLUMN * k;
    return vec3_make(z[0], z[4], z[8]);
}

static void skin_gather(const tissue_run *run, float *skin)
{
    for (int k = 0; k < run->m->count; k++) vec3_store(skin + 3 * k, skin_at(run, k));
}

/* ---- impacts ---- */

/*
 * Make the straight way from the start of the substep to the iterate free of impacts. What that moves a skin by moves
 * its column, less with depth. Returns false when impacts remain.
 */
static bool impacts_resolve(tissue_run *run)
{
    const tissue_model *m = run->m;
    contact_search_options options = search_options(run);
    skin_gather(run, run->w.skin);
    contact_resolve_stats stats = contact_resolve(&m->surface, &run->w.contact, run->w.skin_old, run->w.skin,
                                                  m->inverse_masses, &options, true, run->input->jobs);
    if (stats.impacts == 0) return true;
    for (int k = 0; k < m->count; k++) {
        float *z = run->w.z + (size_t)COLUMN * (size_t)k;
        for (int c = 0; c < 3; c++) {
            float move = run->w.skin[3 * k + c] - z[4 * c];
            for (int l = 0; l < TISSUE_LAYERS; l++) z[4 * c + l] += (1 - m->shares[4 * k + l]) * move;
            z[4 * c] = run->w.skin[3 * k + c];
        }
    }
    return !stats.failed;
}

/* ---- lists ---- */

/* For each column the pairs, or planes, that hold it. */
static void lists_build(tissue_run *run)
{
    int n = run->m->count;
    int *first = run->w.pair_first, *planes = run->w.plane_first;
    memset(first, 0, (size_t)(n + 1) * sizeof(int));
    memset(planes, 0, (size_t)(n + 1) * sizeof(int));
    for (int i = 0; i < run->pair_count; i++)
        for (int v = 0; v < 4; v++) first[run->w.pairs[i].base.v[v] + 1]++;
    for (int i = 0; i < run->plane_count; i++) planes[run->w.planes[i].point + 1]++;
    for (int k = 0; k < n; k++) {
        first[k + 1] += first[k];
        planes[k + 1] += planes[k];
    }

    /* fill from the end, so that the firsts come out right and order is kept */
    for (int i = run->pair_count - 1; i >= 0; i--)
        for (int v = 0; v < 4; v++) run->w.pair_list[--first[run->w.pairs[i].base.v[v] + 1]] = 4 * i + v;
    for (int i = run->plane_count - 1; i >= 0; i--) run->w.plane_list[--planes[run->w.planes[i].point + 1]] = i;
    for (int k = 0; k < n; k++) {
        first[k] = first[k + 1];
        planes[k] = planes[k + 1];
    }
    first[n] = 4 * run->pair_count;
    planes[n] = run->plane_count;
}

static void pairs_take(tissue_run *run)
{
    const tissue_model *m = run->m;
    run->pair_count = MIN(run->w.contact.pair_count, run->w.pair_capacity);
    for (int i = 0; i < run->pair_count; i++) {
        tissue_pair *pair = run->w.pairs + i;
        *pair = (tissue_pair){.base = run->w.contact.pairs[i]};
        float scale = 0;
        for (int v = 0; v < 4; v++) {
            scale += 0.25f * m->touch_scale[pair->base.v[v]];
            pair->friction += 0.25f * m->friction[pair->base.v[v]];
        }
        pair->stiffness = 2 * scale / pair->base.gap;
        pair->slip = tissue_slip_start(run, &pair->base);
    }
}

/*
 * How far from a prop a point still gets a plane: as far as its motion in all iterations of a substep can be. With
 * less, flesh that swings fast enough passes through the surface without a plane, is pushed out with force, and swings
 * on.
 */
static float plane_reach(const tissue_run *run) { return run->m->gap + MAX_STEP * (float)run->iterations; }

void tissue_contact_begin(tissue_run *run)
{
    const tissue_model *m = run->m;
    contact_search_options options = search_options(run);
    run->pair_count = 0;
    run->plane_count = 0;
    memset(run->w.touch, 0, (size_t)m->count * TOUCH * sizeof(float));
    for (int k = 0; k < m->count; k++) run->w.limits[k] = 1e15f;

    if (m->self_contact && m->mesh->triangle_count > 0) {
        skin_gather(run, run->w.skin);
        contact_search(&m->surface, &run->w.contact, run->w.skin_old, run->w.skin, &options, run->input->jobs);
        impacts_resolve(run);
        pairs_take(run);
    }
    if (m->props.count > 0) {
        skin_gather(run, run->w.skin);
        run->plane_count = contact_props_search(&m->props, run->input->joints_old, run->input->joints, run->h, m->count,
                                                run->w.skin_old, run->w.skin, plane_reach(run), m->gap, run->w.planes,
                                                run->w.plane_capacity);
    }
    if (run->pair_count + run->plane_count > 0) lists_build(run);
}

bool tissue_contact_end(tissue_run *run)
{
    tissue_slip_update(run);
    if (!run->m->self_contact || run->m->mesh->triangle_count == 0) return true;
    bool resolved = impacts_resolve(run);
    tissue_yield_update(run, !resolved);
    return resolved && run->w.contact.dropped == 0;
}

/* ---- energy ---- */

/* Force and slope of the energy at distance d within the gap. */
static void energy_find(float stiffness, float gap, float d, float least, float *force, float *slope)
{
    *force = 0;
    *slope = 0;
    if (d >= gap) return;
    float half = 0.5f * gap;
    if (d >= half) {
        *force = stiffness * (gap - d);
        *slope = stiffness;
        return;
    }
    float at = MAX(d, least * gap);
    *force = stiffness * half * half / at;
    *slope = *force / at;
    *force += *slope * (at - d);
}

static float plane_distance(const tissue_run *run, const contact_plane *plane)
{
    return vec3_dot(plane->normal, skin_at(run, plane->point)) - plane->offset + run->m->gap;
}

static void pairs_evaluate(void *context, int begin, int end)
{
    tissue_run *run = context;
    for (int i = begin; i < end; i++) {
        tissue_pair *pair = run->w.pairs + i;
        contact_pair_nearest(&pair->base, run->w.skin);
        energy_find(pair->stiffness, pair->base.gap, pair->base.distance, MIN_DISTANCE_SHARE, &pair->force,
                    &pair->slope);
    }
}

void tissue_contact_evaluate(tissue_run *run)
{
    if (run->pair_count + run->plane_count == 0) return;
    for (int k = 0; k < run->m->count; k++) run->w.limits[k] = 1e15f;
    for (int i = 0; i < run->plane_count; i++) {
        const contact_plane *plane = run->w.planes + i;
        float d = plane_distance(run, plane), *limit = run->w.limits + plane->point;
        if (d > 0) *limit = MIN(*limit, MAX_PLANE_APPROACH * d);
    }
    if (run->pair_count == 0) return;

    skin_gather(run, run->w.skin);
    parallel_for(run->input->jobs, run->pair_count, 256, pairs_evaluate, run);
    for (int i = 0; i < run->pair_count; i++) {
        const contact_pair *pair = &run->w.pairs[i].base;
        for (int v = 0; v < 4; v++)
            run->w.limits[pair->v[v]] = MIN(run->w.limits[pair->v[v]], SAFE_SHARE * pair->distance);
    }
}

/* ---- gradient and Hessian ---- */

static void touch_add(float *touch, vec3 gradient, vec3 direction, float along, float across)
{
    const float n[3] = {direction.x, direction.y, direction.z};
    touch[0] += gradient.x;
    touch[1] += gradient.y;
    touch[2] += gradient.z;
    for (int r = 0, at = 3; r < 3; r++)
        for (int c = r; c < 3; c++, at++) touch[at] += (along - across) * n[r] * n[c] + (r == c ? across : 0);
}

vec3 tissue_pair_slip(const tissue_run *run, const tissue_pair *pair)
{
    const contact_pair *base = &pair->base;
    vec3 slip = pair->slip;
    for (int v = 0; v < 4; v++) {
        vec3 move = vec3_sub(skin_at(run, base->v[v]), vec3_load(run->w.skin_old + 3 * base->v[v]));
        slip = vec3_madd(slip, move, base->weights[v]);
    }
    return vec3_madd(slip, base->normal, -vec3_dot(slip, base->normal));
}

/* Node v of a pair. same: how many of its points move at the same time. */
static void pair_gather(const tissue_run *run, const tissue_pair *pair, int v, int same, float *touch)
{
    const contact_pair *base = &pair->base;
    vec3 moved = {0, 0, 0}, slip = tissue_pair_slip(run, pair);
    for (int j = 0; j < 4; j++) {
        vec3 move = vec3_sub(skin_at(run, base->v[j]), vec3_load(run->w.skin + 3 * base->v[j]));
        moved = vec3_madd(moved, move, base->weights[j]);
    }

    /* force at the iterate, to first order since the evaluation */
    float force = MAX(pair->force - pair->slope * vec3_dot(base->normal, moved), 0);
    float rub = tissue_friction_slope(pair->friction, force, vec3_length(slip));
    float w = base->weights[v];
    vec3 gradient = vec3_madd(vec3_scale(slip, rub * w), base->normal, -force * w);
    touch_add(touch, gradient, base->normal, (float)same * w * w * pair->slope, (float)same * w * w * rub);
}

/* Force of a plane on its point, and its derivative by distance. */
static float plane_press(const tissue_run *run, const contact_plane *plane, float *slope)
{
    const tissue_model *m = run->m;
    float force, d = plane_distance(run, plane);
    energy_find(2 * m->touch_scale[plane->point] / m->gap, m->gap, d, MIN_PLANE_SHARE, &force, slope);
    return force;
}

float tissue_plane_force(const tissue_run *run, const contact_plane *plane)
{
    float slope;
    return plane_press(run, plane, &slope);
}

vec3 tissue_plane_slip(const tissue_run *run, const contact_plane *plane)
{
    int k = plane->point;
    vec3 slip = vec3_sub(skin_at(run, k), vec3_load(run->w.skin_old + 3 * k));
    slip = vec3_madd(slip, plane->velocity, -(float)run->h);
    slip = vec3_add(slip, vec3_load(run->s.slip + 3 * k));
    return vec3_madd(slip, plane->normal, -vec3_dot(slip, plane->normal));
}

static void plane_gather(const tissue_run *run, const contact_plane *plane, float *touch)
{
    float slope, force = plane_press(run, plane, &slope);
    if (!(force > 0)) return;
    vec3 slip = tissue_plane_slip(run, plane);
    float rub = tissue_friction_slope(plane->friction, force, vec3_length(slip));
    touch_add(touch, vec3_madd(vec3_scale(slip, rub), plane->normal, -force), plane->normal, slope, rub);
}

/* A dragged vertex goes its strength's share of the way in each substep: a spring against its inertia. */
static void drags_gather(const tissue_run *run, int begin, int end)
{
    const tissue_model *m = run->m;
    for (int i = 0; i < run->input->drag_count; i++) {
        const cutis_drag *drag = run->input->drags + i;
        if (drag->vertex < 0 || drag->vertex >= m->character->vertex_count) continue;
        int k = m->columns[m->character->vertex_points[drag->vertex]];
        if (k < begin || k >= end) continue;

        float strength = CLAMP(drag->strength, 0.0f, 0.999f), weight = 0;
        vec3 target = vec3_scale(vec3_sub(vec3_load(drag->target), vec3_load(m->centre)), 1 / m->size);
        if (!(vec3_length2(target) < 1e4f)) continue;
        for (int l = 0; l < TISSUE_LAYERS; l++) weight += run->w.pull_weight[4 * k + l];
        float spring = weight * strength / (1 - strength);
        touch_add(run->w.touch + TOUCH * k, vec3_scale(vec3_sub(skin_at(run, k), target), spring), vec3_make(0, 0, 0),
                  0, spring);
    }
}

void tissue_contact_gather(tissue_run *run, int begin, int end)
{
    const tissue_model *m = run->m;
    int first = m->colour_first[run->colour], last = m->colour_first[run->colour + 1];
    for (int k = begin; k < end; k++) {
        float *touch = run->w.touch + (size_t)TOUCH * k;
        memset(touch, 0, TOUCH * sizeof *touch);
        if (run->pair_count + run->plane_count == 0) continue;

        for (int i = run->w.pair_first[k]; i < run->w.pair_first[k + 1]; i++) {
            const tissue_pair *pair = run->w.pairs + run->w.pair_list[i] / 4;
            if (!(pair->slope > 0)) continue;
            int same = 0;
            for (int v = 0; v < 4; v++) same += pair->base.v[v] >= first && pair->base.v[v] < last;
            pair_gather(run, pair, run->w.pair_list[i] % 4, same, touch);
        }
        for (int i = run->w.plane_first[k]; i < run->w.plane_first[k + 1]; i++)
            plane_gather(run, run->w.planes + run->w.plane_list[i], touch);
    }
    drags_gather(run, begin, end);
}

int tissue_contact_count(const tissue_run *run)
{
    int count = 0;
    for (int i = 0; i < run->pair_count; i++) count += run->w.pairs[i].force > 0;
    return count;
}
