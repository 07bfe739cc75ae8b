/*
 * springs_yield.c: contact of the skin with itself that lets go where a clip drives bones through flesh.
 *
 * Poses are given, and a clip may lead a hand through a thigh or legs through each other. Skin that is held on its side
 * of the other limb all the same is dragged along as far as the clip goes. Here flesh gives way down to its bone: where
 * contact has pushed skin further than that, contact between that region and what presses it rests, and the skin goes
 * back onto the reference shape, through the other side. Contact takes hold again when the region neither crosses
 * anything nor lies inside the body (contact_release.h).
 */
#include <string.h>

#include "contact/contact_release.h"
#include "solvers/springs/springs.h"

/* How much of the flesh on the other side may be pushed aside, too; least and most flesh that counts, in sizes. */
static const float OTHER_SIDE = 0.5f, LEAST_FLESH = 0.01f, MOST_FLESH = 0.03f;
/* A release spreads along the surface by so many of these lengths. */
static const float SPREAD = 2;
/* Seconds until contact may take hold again, and in which released skin goes back. */
static const double HOLD_TIME = 0.1, RETURN_TIME = 0.04;

/* ---- where contact asks for too much ---- */

/* The flesh at the deepest of a contact's nodes whose weights have this sign. */
static float side_flesh(const springs_model *m, const springs_contact *c, bool negative)
{
    float flesh = LEAST_FLESH;
    for (int i = 0; i < c->count; i++)
        if ((c->w[i] < 0) == negative) flesh = MAX(flesh, m->flesh[c->v[i]]);
    return MIN(flesh, MOST_FLESH);
}

/* Whether contact of skin with skin has pushed a side further from its place than its flesh is deep. */
static bool overpushed(const springs_run *run, const springs_contact *c, float *limit)
{
    const springs_model *m = run->m;
    if (c->prop[0] != -1 || c->prop[1] != -1 || !(c->lambda > 0)) return false;
    for (int i = 0; i < c->count; i++)
        if (run->w.marks[c->v[i]]) return false; /* a prop drives it, see props_mark */

    /* how far each side is pushed along the normal */
    float pushed[2] = {0, 0}, flesh[2] = {side_flesh(m, c, false), side_flesh(m, c, true)};
    for (int i = 0; i < c->count; i++) {
        vec3 off = vec3_sub(vec3_load(run->s.x + NODE * c->v[i]), vec3_load(run->s.reference + NODE * c->v[i]));
        pushed[c->w[i] < 0] += c->w[i] * vec3_dot(off, c->normal);
    }

    *limit = MAX(flesh[0], flesh[1]) + m->thickness;
    return pushed[0] > flesh[0] + OTHER_SIDE * flesh[1] + m->thickness ||
           pushed[1] > flesh[1] + OTHER_SIDE * flesh[0] + m->thickness;
}

static contact_release release_of(const springs_run *run)
{
    const springs_model *m = run->m;
    return (contact_release){m->skin, &m->surface, m->mesh.positions, run->w.end, run->s.released, run->w.marks};
}

/*
 * Mark the skin that free props have moved: points that one touches, and displaced points joined to these. What a prop
 * presses is not let go by contact of skin with skin, as the prop would press it through the other side.
 */
static void props_mark(springs_run *run)
{
    const springs_model *m = run->m;
    int *queue = run->w.queue, count = 0;
    uint8_t *marks = run->w.marks;

    memset(marks, 0, (size_t)m->point_count);

    for (int i = 0; i < run->contact_count; i++) {
        const springs_contact *c = run->w.contacts + i;
        bool free = false;
        for (int k = 0; k < 2; k++) free = free || (c->prop[k] >= 0 && !m->props[c->prop[k]].fixed);
        if (!(c->lambda > 0) || !free) continue;
        for (int k = 0; k < c->count; k++) {
            if (c->v[k] >= m->point_count || marks[c->v[k]]) continue;
            marks[c->v[k]] = 1;
            queue[count++] = c->v[k];
        }
    }

    for (int i = 0; i < count; i++)
        for (int k = m->skin->point_neighbour_first[queue[i]]; k < m->skin->point_neighbour_first[queue[i] + 1]; k++) {
            int p = m->skin->point_neighbours[k];
            float off2 = vec3_length2(vec3_sub(vec3_load(run->s.x + NODE * p), vec3_load(run->s.reference + NODE * p)));
            if (marks[p] || off2 < m->thickness * m->thickness) continue;
            marks[p] = 1;
            queue[count++] = p;
        }
}

/* Let go the points of contacts that press too far, and what lies around them. */
static void regions_release(springs_run *run)
{
    const springs_model *m = run->m;
    int *queue = run->w.queue, count = 0;
    float *left = run->w.end; /* how far the release still spreads */

    for (int p = 0; p < m->point_count; p++) left[p] = -1;
    props_mark(run);

    /* points of contacts that press too far */
    for (int i = 0; i < run->contact_count; i++) {
        const springs_contact *c = run->w.contacts + i;
        float limit;
        if (!overpushed(run, c, &limit)) continue;
        for (int k = 0; k < c->count; k++) {
            if (left[c->v[k]] < 0) queue[count++] = c->v[k];
            left[c->v[k]] = MAX(left[c->v[k]], SPREAD * limit);
        }
    }

    contact_release release = release_of(run);
    contact_release_spread(&release, queue, count, left);
}

/* ---- where it may take hold again ---- */

void springs_yield_return(springs_run *run)
{
    const springs_model *m = run->m;
    float keep = (float)det_exp(-(double)run->h / RETURN_TIME);
    for (int p = 0; p < m->point_count; p++) {
        if (!(run->s.released[p] > 0) || m->frozen[p]) continue;
        float *x = run->s.x + NODE * p;
        vec3 held = vec3_add(vec3_load(run->s.reference + NODE * p), vec3_load(run->s.elongation + NODE * p));
        vec3_store(x, vec3_lerp(vec3_load(x), held, keep));
    }
}

int springs_yield_update(springs_run *run)
{
    const springs_model *m = run->m;
    float *released = run->s.released;
    int n = m->point_count, count = 0;

    regions_release(run);
    for (int p = 0; p < n; p++) count += released[p] > 0;
    if (count == 0) return 0;

    bvh tree = m->tree;
    tree.nodes = run->w.nodes;
    memcpy(tree.nodes, m->tree.nodes, (size_t)tree.node_count * sizeof(bvh_node));
    for (int p = 0; p < n; p++) memcpy(run->w.end + 3 * p, run->s.x + NODE * p, 3 * sizeof(float));
    bvh_refit(&tree, run->w.end, 0);

    contact_release release = release_of(run);
    contact_release_mark(&release, &tree, false);

    /* what does not takes hold again after a while, unless it is inside */
    float fall = (float)((double)run->h / HOLD_TIME);
    for (int p = 0; p < n; p++) {
        if (release.marks[p]) released[p] = 1;
        if (release.marks[p] || !(released[p] > 0)) continue;
        if (released[p] > fall)
            released[p] -= fall;
        else if (!contact_release_inside(&release, &tree, p))
            released[p] = 0;
    }

    return count;
}
