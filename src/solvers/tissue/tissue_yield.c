/*
 * tissue_yield.c: contact that is disabled where a clip drives bones through flesh.
 *
 * Poses are given, and a clip may ask for what no skin can do: legs through each other. Contact that never gives way
 * then drags the skin along as far as the clip goes. Here it gives way where it pushes the skin further from its place
 * than its distance from the bone. Folds of a bent joint stay below that, however thin their flesh is. Skin that
 * crosses a disabled region is disabled with it: held from the wrong side it could not return. Contact starts again
 * when the region neither crosses anything nor lies inside the body (contact_release.h). Once the skeleton responds to
 * contact, no pose asks for this, and this file can be deleted.
 */
#include <string.h>

#include "contact/contact_release.h"
#include "solvers/tissue/tissue.h"

/* Minimum distance from the bone that counts, sizes: a centimetre on a person, so that fingers and ears bend out of the
 * way. */
static const float MIN_YIELD_RADIUS = 0.005f;
/* How far along the skin contact is disabled, over the distance that it pushes. */
static const float YIELD_SPREAD = 1.5f;
/* Seconds without crossings after which contact starts again. */
static const double YIELD_TIME = 0.1;

static int pair_middle(const contact_pair *pair) { return pair->kind == CONTACT_POINT_TRIANGLE ? 1 : 2; }

/* How far contact may push either side of a pair: to its bone. */
static void push_limits(const tissue_model *m, const contact_pair *pair, float limits[2])
{
    float radii[2] = {MIN_YIELD_RADIUS, MIN_YIELD_RADIUS};
    for (int v = 0; v < 4; v++) {
        float *radius = radii + (v >= pair_middle(pair));
        *radius = MAX(*radius, m->radii[pair->v[v]]);
    }
    for (int side = 0; side < 2; side++) limits[side] = radii[side] + m->gap;
}

/* How far contact has pushed either side of a pair from where the skeleton carries it. */
static void pair_pushes(const tissue_run *run, const contact_pair *pair, float pushes[2])
{
    pushes[0] = 0;
    pushes[1] = 0;
    for (int v = 0; v < 4; v++) {
        vec3 skin = vec3_load(run->w.skin + 3 * pair->v[v]), place = vec3_load(run->w.drive + 3 * pair->v[v]);
        pushes[v >= pair_middle(pair)] += pair->weights[v] * vec3_dot(vec3_sub(skin, place), pair->normal);
    }
}

/* Disable contact of pairs that push too far, and around them. */
static void regions_release(tissue_run *run, const contact_release *release)
{
    int count = 0;
    for (int k = 0; k < run->m->count; k++) run->w.spread[k] = -1;
    for (int i = 0; i < run->pair_count; i++) {
        const contact_pair *pair = &run->w.pairs[i].base;
        float limits[2], pushes[2];
        if (!(run->w.pairs[i].force > 0)) continue;
        push_limits(run->m, pair, limits);
        pair_pushes(run, pair, pushes);
        if (pushes[0] <= limits[0] && pushes[1] <= limits[1]) continue;
        for (int v = 0; v < 4; v++) {
            float *spread = run->w.spread + pair->v[v];
            if (*spread < 0) run->w.queue[count++] = pair->v[v];
            *spread = MAX(*spread, YIELD_SPREAD * limits[v >= pair_middle(pair)]);
        }
    }
    contact_release_spread(release, run->w.queue, count, run->w.spread);
}

void tissue_yield_update(tissue_run *run, bool impacts_left)
{
    const tissue_model *m = run->m;
    float *released = run->s.released;
    contact_release release = {m->mesh, &m->surface, m->mesh->positions, run->w.skin, released, run->w.marks};
    regions_release(run, &release);
    bool any = impacts_left;
    for (int k = 0; k < m->count && !any; k++) any = released[k] > 0;
    if (!any) return;

    /* what crosses there is disabled, and so is what crosses where impacts could not be resolved */
    bvh tree = m->tree;
    tree.nodes = run->w.nodes;
    memcpy(tree.nodes, m->tree.nodes, (size_t)tree.node_count * sizeof(bvh_node));
    bvh_refit(&tree, run->w.skin, 0);
    contact_release_mark(&release, &tree, impacts_left);
    float fall = (float)(run->h / YIELD_TIME);
    for (int k = 0; k < m->count; k++) {
        if (run->w.marks[k]) released[k] = 1;
        if (run->w.marks[k] || !(released[k] > 0)) continue;
        if (released[k] > fall)
            released[k] -= fall;
        else if (!contact_release_inside(&release, &tree, k))
            released[k] = 0;
    }
}
