/*
 * depth.c: self-intersection and penetration of a surface taken as the skin of a solid body.
 *
 * Penetration. A triangle is BURIED when the winding number just outside its centre, on the side that its
 * normal points to, is 1 or more: there is flesh where there should be air. Buried triangles joined by edges
 * form a patch. The depth of a buried triangle is the distance from its centre to the nearest triangle that is
 * not of its patch: the surface of the flesh it is in, or the rim by which it went in. When a patch is cut by
 * itself along its rim (a fold whose two sides have passed through each other, bottom and all), its other side
 * belongs to the same patch; then the depth is at most the distance straight through the overlap, along the
 * inward normal, to that other side. All other triangles have depth 0. The penetration of a frame is the largest
 * depth of a triangle less its depth at rest (toes modelled into each other, teeth inside a head), at least 0.
 *
 * So two slabs pushed into each other by d have penetration d, however wide they are, and so has a finger
 * pushed into a belly by d, however thin it is. Depths are sampled at the centres of triangles: they are right
 * to about the length of an edge.
 *
 * The winding number is whole everywhere because holes are closed: the boundary of any triangles, taken with
 * direction and multiplicity, is made of loops, and triangles from every boundary edge to the middle of its loop
 * cancel it. It changes only across triangles, so just outside of the surface it changes only where the
 * surface is cut by itself. Triangles between cuts are therefore flooded, and a region costs three rays
 * instead of one for each triangle.
 */
#include "measure/depth.h"

#include <stdlib.h>
#include <string.h>

/* ---- build ---- */

/* How often more the triangles run along edge e from its lower to its higher point than back. */
static int edge_balance(const mesh *m, int e)
{
    int a = m->edges[2 * e], b = m->edges[2 * e + 1], balance = 0;
    for (int i = m->point_triangle_first[a]; i < m->point_triangle_first[a + 1]; i++) {
        const int *corner = m->triangles + 3 * (size_t)m->point_triangles[i];
        for (int k = 0; k < 3; k++) {
            if (corner[k] == a && corner[(k + 1) % 3] == b) balance++;
            if (corner[k] == b && corner[(k + 1) % 3] == a) balance--;
        }
    }
    return balance;
}

/* Triangles of the mesh and of the closed holes. scratch: (point_count) each. */
static bool body_close(depth_solid *b, arena *memory, int *parents, int *holes)
{
    const mesh *m = b->m;

    uint8_t *passable = ARENA_ARRAY(memory, uint8_t, m->edge_count);
    if (!passable) return false;

    /* Group the boundary: points joined by edges that do not cancel out. */
    int cap_count = 0, hole_count = 0, rim_count = 0;
    for (int p = 0; p < m->point_count; p++) {
        parents[p] = p;
        holes[p] = -1;
    }

    for (int e = 0; e < m->edge_count; e++) {
        int balance = edge_balance(m, e);
        passable[e] = balance == 0 && m->edge_triangle_counts[e] == 2;
        if (balance == 0) continue;
        cap_count += abs(balance);
        forest_join(parents, m->edges[2 * e], m->edges[2 * e + 1]);
        holes[m->edges[2 * e]] = holes[m->edges[2 * e + 1]] = -2; /* on a rim */
    }

    for (int p = 0; p < m->point_count; p++) {
        if (holes[p] == -1) continue;
        int root = forest_root(parents, p);
        holes[p] = root == p ? hole_count++ : holes[root]; /* the root is the lowest, so it has its number */
        rim_count++;
    }

    if (cap_count > INT32_MAX / 6 - m->triangle_count) return false;
    b->point_count = m->point_count + hole_count;
    b->triangle_count = m->triangle_count + cap_count;
    int *triangles = ARENA_ARRAY(memory, int, 3 * (size_t)b->triangle_count);
    int *rim_first = ARENA_ARRAY(memory, int, hole_count + 1), *rims = ARENA_ARRAY(memory, int, rim_count);
    if (!triangles || !rim_first || !rims) return false;

    /* The points of each rim. */
    for (int p = 0; p < m->point_count; p++)
        if (holes[p] >= 0) rim_first[holes[p] + 1]++;
    for (int h = 0; h < hole_count; h++) rim_first[h + 1] += rim_first[h];
    for (int p = m->point_count - 1; p >= 0; p--)
        if (holes[p] >= 0) rims[--rim_first[holes[p] + 1]] = p;

    /* Filling from the back has moved the ends to the beginnings, one place to the right. */
    for (int h = 0; h < hole_count; h++) rim_first[h] = rim_first[h + 1];
    rim_first[hole_count] = rim_count;

    /* A triangle against the direction of each boundary edge, as often as it counts. */
    if (m->triangle_count) memcpy(triangles, m->triangles, 3 * (size_t)m->triangle_count * sizeof *triangles);
    int *cap = triangles + 3 * (size_t)m->triangle_count;
    for (int e = 0; e < m->edge_count; e++) {
        if (holes[m->edges[2 * e]] < 0) continue;
        int balance = edge_balance(m, e);
        for (int i = 0; i < abs(balance); i++, cap += 3) {
            cap[0] = m->edges[2 * e + (balance > 0)];
            cap[1] = m->edges[2 * e + (balance < 0)];
            cap[2] = m->point_count + holes[m->edges[2 * e]];
        }
    }

    b->passable = passable;
    b->triangles = triangles;
    b->rim_first = rim_first;
    b->rims = rims;
    return true;
}

void depth_place(const depth_solid *b, const float *positions, float *placed)
{
    memcpy(placed, positions, 3 * (size_t)b->m->point_count * sizeof *placed);
    for (int h = 0; h < b->point_count - b->m->point_count; h++) {
        double sum[3] = {0, 0, 0};
        int first = b->rim_first[h], last = b->rim_first[h + 1];
        for (int i = first; i < last; i++)
            for (int k = 0; k < 3; k++) sum[k] += positions[3 * (size_t)b->rims[i] + k];
        for (int k = 0; k < 3; k++) placed[3 * (size_t)(b->m->point_count + h) + k] = (float)(sum[k] / (last - first));
    }
}

cutis_result depth_build(depth_solid *b, const mesh *m, arena *memory, cutis_error *error)
{
    *b = (depth_solid){.m = m, .outside = 1};
    size_t points = (size_t)m->point_count;

    int *scratch = memory_allocate(&memory->allocator, 2 * points, sizeof *scratch);
    bool ok = scratch && body_close(b, memory, scratch, scratch + points);
    memory_release(&memory->allocator, scratch, 2 * points, sizeof *scratch);

    /* its tree, at rest */
    float *placed = ok ? ARENA_ARRAY(memory, float, 3 * (size_t)b->point_count) : NULL;
    b->rest_depths = ARENA_ARRAY(memory, float, m->triangle_count);
    if (!placed || memory->failed) return error_memory(error, "the measurement");
    if (m->point_count) depth_place(b, m->positions, placed);

    cutis_result result = bvh_build(&b->tree, b->triangle_count, b->triangles, placed, memory, error);
    if (result != CUTIS_OK) return result;
    if (mesh_volume(b->triangle_count, b->triangles, placed) < 0) b->outside = -1;

    /* What is inside already at rest. */
    arena temporary = arena_create(&memory->allocator);
    depth_scratch rest;
    if (depth_scratch_create(&rest, b, &temporary)) {
        double penetration;
        depth_examine(b, &rest, m->positions, &penetration);
        if (m->triangle_count) memcpy(b->rest_depths, rest.depths, (size_t)m->triangle_count * sizeof *rest.depths);
    } else {
        result = error_memory(error, "the measurement");
    }

    arena_destroy(&temporary);
    return result;
}

bool depth_scratch_create(depth_scratch *scratch, const depth_solid *b, arena *memory)
{
    size_t triangles = (size_t)b->triangle_count;
    *scratch = (depth_scratch){.tree = b->tree};

    scratch->positions = ARENA_ARRAY(memory, float, 3 * (size_t)b->point_count);
    scratch->tree.nodes = arena_copy(memory, b->tree.nodes, (size_t)b->tree.node_count, sizeof *b->tree.nodes);
    scratch->cut = ARENA_ARRAY(memory, uint8_t, triangles);
    scratch->windings = ARENA_ARRAY(memory, int, triangles);
    scratch->labels = ARENA_ARRAY(memory, int, triangles);
    scratch->queue = ARENA_ARRAY(memory, int, triangles);
    scratch->partners = ARENA_ARRAY(memory, int, triangles);
    scratch->depths = ARENA_ARRAY(memory, float, triangles);

    return !memory->failed;
}

/* ---- examine ---- */

typedef struct cut_search {
    const depth_solid *b;
    depth_scratch *scratch;
} cut_search;

static int shared_points(const int *a, const int *b)
{
    int count = 0;
    for (int k = 0; k < 3; k++) count += a[k] == b[0] || a[k] == b[1] || a[k] == b[2];
    return count;
}

/*
 * Triangles that share an edge cannot pass through each other; those that share a point can. Others that touch
 * do not count as a pair, but the flood must stop there: a corner exactly on a face may be on its way through.
 */
static void cut_pair(void *context, int a, int b)
{
    const cut_search *search = context;
    depth_scratch *scratch = search->scratch;
    const int *corner_a = search->b->triangles + 3 * (size_t)a, *corner_b = search->b->triangles + 3 * (size_t)b;

    /* neighbours touch at their common points anyway */
    int shared = shared_points(corner_a, corner_b);
    if (shared > 1) return;
    triangles_relation relation = mesh_triangles_relate(corner_a, corner_b, scratch->positions);
    if (relation == TRIANGLES_APART || (relation == TRIANGLES_TOUCH && shared > 0)) return;

    scratch->cut[a] = scratch->cut[b] = 1;
    if (relation == TRIANGLES_TOUCH) return;

    /* one partner each; pairs of the surface itself are counted */
    if (scratch->partners[a] < 0) scratch->partners[a] = b;
    if (scratch->partners[b] < 0) scratch->partners[b] = a;
    if (shared == 0 && b < search->b->m->triangle_count) scratch->pair_count++; /* a < b */
}

/*
 * Flood from triangle `seed` over passable edges to triangles for which both conditions hold as for the seed:
 * label -1 so far, and value equal. Gives them `label`; returns how many there are, at the start of queue.
 */
static int flood(const depth_solid *b, int seed, int label, const uint8_t *values, int *labels, int *queue)
{
    const mesh *m = b->m;
    int queued = 0;

    queue[queued++] = seed;
    labels[seed] = label;

    for (int i = 0; i < queued; i++) {
        for (int k = 0; k < 3; k++) {
            int e = m->triangle_edges[3 * (size_t)queue[i] + k];

            if (!b->passable[e]) continue;
            int t = m->edge_triangles[2 * e] == queue[i] ? m->edge_triangles[2 * e + 1] : m->edge_triangles[2 * e];
            if (labels[t] != -1 || values[t] != values[seed]) continue;
            labels[t] = label;
            queue[queued++] = t;
        }
    }

    return queued;
}

static vec3 triangle_centre(const depth_solid *b, const float *positions, int t, vec3 *normal)
{
    const int *corner = b->triangles + 3 * (size_t)t;
    vec3 p = vec3_load(positions + 3 * (size_t)corner[0]);
    vec3 q = vec3_load(positions + 3 * (size_t)corner[1]), r = vec3_load(positions + 3 * (size_t)corner[2]);
    *normal = vec3_normalize(vec3_cross(vec3_sub(q, p), vec3_sub(r, p)));
    return vec3_scale(vec3_add(p, vec3_add(q, r)), 1.0f / 3);
}

/* Winding number just outside of a triangle; INT32_MAX when it has no area to tell. */
static int triangle_winding(const depth_solid *b, const depth_scratch *scratch, int t)
{
    vec3 normal, centre = triangle_centre(b, scratch->positions, t, &normal);
    if (vec3_length2(normal) == 0) return INT32_MAX;
    vec3 direction = vec3_scale(normal, (float)b->outside);
    return b->outside * bvh_ray_winding(&scratch->tree, scratch->positions, centre, direction, t);
}

/* The least of three triangles' numbers: one that lies against another sheet must not decide for all. */
static int region_winding(const depth_solid *b, const depth_scratch *scratch, const int *region, int count)
{
    int least = INT32_MAX;
    for (int i = 0; i < 3; i++) {
        int winding = triangle_winding(b, scratch, region[(int)((long)(count - 1) * i / 2)]);
        least = MIN(least, winding);
    }
    return least;
}

/* Whether a triangle around one of the corners of t has the label. */
static bool near_label(const depth_solid *b, const int *labels, int t, int label)
{
    const mesh *m = b->m;
    for (int k = 0; k < 3 && t < m->triangle_count; k++) {
        int p = m->triangles[3 * (size_t)t + k];
        for (int i = m->point_triangle_first[p]; i < m->point_triangle_first[p + 1]; i++)
            if (labels[m->point_triangles[i]] == label) return true;
    }
    return false;
}

/*
 * Whether a patch is cut by itself rather than by something else: a vote of the cut triangles in it and beside
 * it, each by whether the triangle that cuts it is in or beside the patch too. Cut triangles that the rim
 * crosses have a corner on the buried side, so that "beside" is: with a corner in common.
 */
static bool patch_cuts_itself(const depth_solid *b, const depth_scratch *scratch, const int *patch, int count,
                              int label)
{
    const mesh *m = b->m;

    int votes = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 4; k++) {
            /* The triangle itself, and those across its edges that are not of the patch. */
            int t = patch[i];
            if (k < 3) {
                const int *pair = m->edge_triangles + 2 * (size_t)m->triangle_edges[3 * (size_t)t + k];
                t = pair[0] == t ? pair[1] : pair[0];
                if (t < 0 || scratch->labels[t] == label) continue;
            }

            int partner = scratch->partners[t];
            if (partner >= 0) votes += near_label(b, scratch->labels, partner, label) ? 1 : -1;
        }
    }

    return votes > 0;
}

/* Depths of one patch, whose triangles stand at the start of queue; returns the largest beyond that at rest. */
static double patch_depths(const depth_solid *b, depth_scratch *scratch, int count)
{
    const int *patch = scratch->queue;
    int label = scratch->labels[patch[0]];
    bool fold = patch_cuts_itself(b, scratch, patch, count, label);

    double deepest = 0;
    float last_distance = INFINITY;
    vec3 last_centre = {0, 0, 0};

    for (int i = 0; i < count; i++) {
        int t = patch[i];
        vec3 normal, centre = triangle_centre(b, scratch->positions, t, &normal);

        /* Triangles of the patch come in the order of the flood, so the last distance bounds the next. */
        float depth = 1.0001f * (last_distance + vec3_distance(centre, last_centre));
        if (fold) {
            /* Past the triangle itself: a thousandth of an edge. */
            const int *corner = b->triangles + 3 * (size_t)t;
            float edge = sqrtf((float)mesh_area(1, corner, scratch->positions));
            vec3 inwards = vec3_scale(normal, (float)-b->outside);
            bvh_hit hit = bvh_ray(&scratch->tree, scratch->positions, centre, inwards, 1e-3f * edge, INFINITY);
            if (hit.triangle >= 0 && hit.distance < depth) depth = hit.distance;
        }

        bvh_hit hit = bvh_closest_labelled(&scratch->tree, scratch->positions, centre, depth, scratch->labels, label);
        if (hit.triangle >= 0) depth = hit.distance;

        last_distance = hit.triangle >= 0 ? hit.distance : INFINITY;
        last_centre = centre;

        if (depth == INFINITY) continue; /* the whole surface is one patch */
        scratch->depths[t] = depth;
        deepest = MAX(deepest, (double)depth - b->rest_depths[t]);
    }

    return deepest;
}

/* Fill depths of all triangles; returns the largest depth beyond that at rest. */
static double body_depths(const depth_solid *b, depth_scratch *scratch)
{
    int count = b->m->triangle_count;

    /* Winding numbers outside, a region between cuts at a time. */
    for (int t = 0; t < b->triangle_count; t++) {
        scratch->labels[t] = -1;
        scratch->depths[t] = 0;
    }

    int buried = 0;
    for (int t = 0; t < count; t++) {
        if (scratch->cut[t]) scratch->windings[t] = triangle_winding(b, scratch, t);
        if (scratch->cut[t] || scratch->labels[t] >= 0) continue;

        int region_count = flood(b, t, 0, scratch->cut, scratch->labels, scratch->queue);
        int winding = region_winding(b, scratch, scratch->queue, region_count);
        for (int i = 0; i < region_count; i++) scratch->windings[scratch->queue[i]] = winding;
    }

    /* From here on `cut` says which triangles are buried. */
    memset(scratch->cut, 0, (size_t)b->triangle_count);
    for (int t = 0; t < count; t++) {
        scratch->cut[t] = scratch->windings[t] >= 1 && scratch->windings[t] < INT32_MAX;
        buried += scratch->cut[t];
    }
    if (buried == 0) return 0;

    /* Patches of buried triangles; label 0 is all the rest. */
    for (int t = 0; t < b->triangle_count; t++) scratch->labels[t] = t < count && scratch->cut[t] ? -1 : 0;
    double deepest = 0;
    for (int t = 0, label = 0; t < count; t++) {
        if (scratch->labels[t] != -1) continue;
        int patch_count = flood(b, t, ++label, scratch->cut, scratch->labels, scratch->queue);
        deepest = MAX(deepest, patch_depths(b, scratch, patch_count));
    }

    return deepest;
}

int depth_examine(const depth_solid *b, depth_scratch *scratch, const float *positions, double *penetration)
{
    if (penetration) *penetration = 0;
    if (b->triangle_count == 0) return 0;
    depth_place(b, positions, scratch->positions);
    bvh_refit(&scratch->tree, scratch->positions, 0);
    memset(scratch->cut, 0, (size_t)b->triangle_count);
    memset(scratch->partners, 0xFF, (size_t)b->triangle_count * sizeof *scratch->partners);
    scratch->pair_count = 0;
    bvh_self_pairs(&scratch->tree, cut_pair, &(cut_search){b, scratch});
    if (penetration) *penetration = body_depths(b, scratch);
    return scratch->pair_count;
}
