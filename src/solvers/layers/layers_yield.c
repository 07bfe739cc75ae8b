/*
 * layers_yield.c: contact that lets go where a clip drives bones through flesh, and takes hold again afterwards.
 *
 * Poses are given, and a clip may ask for what no skin can do: an arm through the trunk, legs through each other.
 * Contact that never gives way then drags the skin along, as far as the clip goes. Here flesh gives way down to its
 * bone. Where contact has pushed the skin further than that, contact of that region with what presses it rests: the
 * skin follows the skeleton through the other side, as plain skinning does. Contact takes hold again when the region
 * neither crosses anything nor lies inside the body.
 *
 * Displaced skin returns slowly, so that nothing snaps.
 *
 * released is above 0 where contact rests, and falls from 1 to 0 over RELEASE_TIME once nothing crosses any more
 * (contact_release.h). Crossings do not widen a release: contact leaves out pairs with a released point on each side
 * only, so what is held around it stays on its side. Impacts that could not be resolved are released as well: what has
 * crossed would be held on the wrong side.
 */
#include <float.h>
#include <string.h>

#include "contact/contact_release.h"
#include "solvers/layers/layers_step.h"

/* ---- where contact asks for too much ---- */

/* Depth of the flesh at the deepest of a pair's points first..last. */
static float flesh_depth(const layers_model *m, const contact_pair *pair, int first, int last)
{
    float depth = YIELD_LEAST;
    for (int v = first; v < last; v++) depth = MAX(depth, m->flesh[pair->v[v]]);
    return depth;
}

/* The first point of a pair's second side. */
static int pair_middle(const contact_pair *pair) { return pair->kind == CONTACT_POINT_TRIANGLE ? 1 : 2; }

/*
 * How far contact may push a side of a pair from its place under the skeleton: through its own flesh, and as far as
 * what presses is thick, but no further than its own flesh is deep once more: a finger that the clip drives into a
 * thigh does not leave its bones.
 */
static float push_limit(const layers_model *m, const contact_pair *pair, int side)
{
    int middle = pair_middle(pair);
    float depths[2] = {flesh_depth(m, pair, 0, middle), flesh_depth(m, pair, middle, 4)};
    return depths[side] + MIN(depths[1 - side], depths[side]) + m->thickness;
}

/* Whether the pair's own direction leads one of its sides so far from its place. */
static bool pair_overpushed(const layers_run *run, const contact_pair *pair)
{
    float pushed[2] = {0, 0};
    for (int v = 0; v < 4; v++) {
        const float *x = run->w.volume.positions + 3 * pair->v[v];
        const float *place = run->w.drive + 3 * pair->v[v];
        float along = vec3_dot(vec3_sub(vec3_load(x), vec3_load(place)), pair->normal);
        pushed[pair->weights[v] < 0] += pair->weights[v] * along;
    }
    return pushed[0] > push_limit(run->m, pair, 0) || pushed[1] > push_limit(run->m, pair, 1);
}

static contact_release release_of(const layers_run *run)
{
    const layers_model *m = run->m;
    return (contact_release){m->mesh,         &m->surface, m->mesh->positions, run->w.volume.positions,
                             run->s.released, run->w.marks};
}

/*
 * Let go the points of pairs that press too far, and what lies around them, on each side by what that side may be
 * pushed: a finger in a thigh lets go of the hand, not of the arm.
 */
static void regions_release(layers_run *run)
{
    const layers_model *m = run->m;
    int *queue = run->w.active;
    float *left = run->w.free_next; /* how far the release still spreads */
    int count = 0;
    for (int k = 0; k < m->point_count; k++) left[k] = -1;

    /* the points of those pairs */
    for (int i = 0; i < run->touch_count; i++) {
        const contact_pair *pair = run->w.touches + i;
        if (!pair_overpushed(run, pair)) continue;

        for (int v = 0; v < 4; v++) {
            int k = pair->v[v];
            if (left[k] < 0) queue[count++] = k;
            left[k] = MAX(left[k], YIELD_SPREAD * push_limit(m, pair, v >= pair_middle(pair)));
        }
    }

    /* and what lies around them */
    contact_release release = release_of(run);
    contact_release_spread(&release, queue, count, left);
}

/* ---- where it may take hold again ---- */

/* Empty the boxes of what holds on to contact, so that a search for crossings passes it by. */
static void tree_keep_released(const contact_release *release, bvh *tree)
{
    const int *triangles = release->skin->triangles;

    for (int i = tree->node_count - 1; i >= 0; i--) {
        bvh_node *node = tree->nodes + i;

        /* a leaf: as it is, or empty */
        bool kept = false;
        for (int t = 0; t < node->count && !kept; t++)
            kept = contact_release_has(release, triangles + 3 * tree->order[node->first + t]);
        for (int c = 0; c < 3 && node->count > 0 && !kept; c++) {
            node->min[c] = FLT_MAX;
            node->max[c] = -FLT_MAX;
        }
        if (node->count > 0) continue;

        /* a node: around its children */
        const bvh_node *child = tree->nodes + node->first;
        for (int c = 0; c < 3; c++) {
            node->min[c] = MIN(child[0].min[c], child[1].min[c]);
            node->max[c] = MAX(child[0].max[c], child[1].max[c]);
        }
    }
}

void layers_home_slow(layers_run *run)
{
    const layers_model *m = run->m;
    float most = HOME_SPEED * (float)run->h;

    for (int k = 0; k < m->point_count; k++) {
        /* where the skeleton alone would carry the skin */
        float *x = run->w.volume.positions + 3 * k;
        vec3 place = vec3_load(run->w.drive + 3 * k);
        vec3 moved = vec3_sub(place, vec3_load(run->s.drive + 3 * k));
        vec3 carried = vec3_add(vec3_load(run->w.skin_old + 3 * k), moved);

        /* home no faster than that; away from it contact and inertia may be */
        vec3 step = vec3_sub(vec3_load(x), carried);
        float length = vec3_length(step);
        if (length <= most || vec3_distance(vec3_load(x), place) >= vec3_distance(carried, place)) continue;
        vec3_store(x, vec3_madd(carried, step, most / length));
    }
}

void layers_yield_update(layers_run *run)
{
    const layers_model *m = run->m;
    float *released = run->s.released;
    int n = m->point_count;
    bool any = run->impacts_left;

    /* release what is pressed too far; done when nothing is released and nothing was hit */
    regions_release(run);
    for (int k = 0; k < n && !any; k++) any = released[k] > 0;
    if (!any) return;

    bvh tree = m->tree;
    tree.nodes = run->w.nodes;
    memcpy(tree.nodes, m->tree.nodes, (size_t)tree.node_count * sizeof(bvh_node));
    bvh_refit(&tree, run->w.volume.positions, 0);

    contact_release release = release_of(run);
    if (!run->impacts_left) tree_keep_released(&release, &tree);
    contact_release_mark(&release, &tree, run->impacts_left);

    /* what does not takes hold again after a while, unless it is inside: the whole tree tells, when it is asked */
    float fall = (float)(run->h / RELEASE_TIME);
    bool whole = run->impacts_left;
    for (int k = 0; k < n; k++) {
        if (run->w.marks[k] && (released[k] > 0 || run->impacts_left)) released[k] = 1;
        if (run->w.marks[k] || !(released[k] > 0)) continue;
        if (released[k] > fall) {
            released[k] -= fall;
            continue;
        }

        if (!whole) bvh_refit(&tree, run->w.volume.positions, 0);
        whole = true;
        if (!contact_release_inside(&release, &tree, k)) released[k] = 0;
    }
}
