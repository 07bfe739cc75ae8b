/*
 * contact_tree.c: the tree over a deforming surface, and the search for pairs that come close.
 *
 * A binary tree over triangles, made once for the rest pose and refitted to boxes that are swept over the step.
 * Flat parts are pruned as by Volino and Magnenat-Thalmann 1994: a connected piece whose normals all lie on one
 * side of some plane does not touch itself (their condition on the piece's outline is left out, as is usual;
 * contact_resolve has no other source of pairs, and the tests look for what this could miss). Departure: the cone
 * of normals is a box around the unit normals, which merges by minimum and maximum and needs no trigonometry.
 *
 * Each point and each edge is tested for one triangle only, which owns it (Curtis, Tamstorf, Manocha 2008).
 */
#include <string.h>

#include "contact/contact.h"

enum { LEAF_TRIANGLES = 4 };
/* Subtrees that are searched as one piece of work, about so many; each has its own room for pairs. */
enum { BLOCKS = 64 };
/* Room for pairs in all, for each triangle, and at least in a block. */
enum { PAIRS_PER_TRIANGLE = 40, BLOCK_PAIRS = 4096 };
/* Floats of a bound: box minimum, maximum, normals' minimum, maximum. */
enum { BOUND = 12 };

/* ---- build ---- */

typedef struct tree_builder {
    const mesh *m;
    float *centres; /* (triangle_count x 3) */
    int *order, *children, *first, *last, *leaf_first;
    int node_count, leaf_count;
} tree_builder;

static bool comes_before(const tree_builder *b, int axis, int s, int t)
{
    float x = b->centres[3 * s + axis], y = b->centres[3 * t + axis];
    return x < y || (x == y && s < t);
}

/* Quickselect of order[begin..end) so that the first `count` come before the others along the axis. */
static void order_select(tree_builder *b, int axis, int begin, int end, int middle)
{
    while (end - begin > 1) {
        int pivot = b->order[begin + (end - begin) / 2], i = begin, j = end - 1;
        while (i <= j) {
            while (comes_before(b, axis, b->order[i], pivot)) i++;
            while (comes_before(b, axis, pivot, b->order[j])) j--;
            if (i <= j) {
                int swap = b->order[i];
                b->order[i++] = b->order[j];
                b->order[j--] = swap;
            }
        }
        if (middle <= j)
            end = j + 1;
        else if (middle >= i)
            begin = i;
        else
            return;
    }
}

static void node_split(tree_builder *b, int node, int begin, int end)
{
    b->first[node] = b->leaf_count;
    if (end - begin <= LEAF_TRIANGLES) {
        b->children[node] = -1 - b->leaf_count;
        b->leaf_first[b->leaf_count++] = begin;
        b->last[node] = b->first[node];
        return;
    }
    vec3 low = vec3_load(b->centres + 3 * b->order[begin]), high = low;
    for (int i = begin + 1; i < end; i++) {
        vec3 c = vec3_load(b->centres + 3 * b->order[i]);
        low = vec3_min(low, c), high = vec3_max(high, c);
    }
    vec3 extent = vec3_sub(high, low);
    int axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
    int middle = begin + (end - begin) / 2;
    order_select(b, axis, begin, end, middle);
    int left = b->node_count;
    b->node_count += 2;
    b->children[node] = left;
    node_split(b, left, begin, middle);
    node_split(b, left + 1, middle, end);
    b->last[node] = b->leaf_count - 1;
}

/* Points and edges to the lowest triangle that has them. */
static void owners_assign(const mesh *m, uint8_t *owned)
{
    for (int t = 0; t < m->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            int p = m->triangles[3 * t + c], e = m->triangle_edges[3 * t + c];
            if (m->point_triangles[m->point_triangle_first[p]] == t) owned[t] |= (uint8_t)(1 << c);
            if (m->edge_triangles[2 * e] == t) owned[t] |= (uint8_t)(8 << c);
        }
}

/* Leaves that share a point with each leaf. Two calls: counts, then entries. */
static void leaves_join(const mesh *m, const tree_builder *b, const int *leaf_of, int *stamps, int *firsts, int *out)
{
    for (int leaf = 0; leaf < b->leaf_count; leaf++) stamps[leaf] = -1;
    int total = 0;
    for (int leaf = 0; leaf < b->leaf_count; leaf++) {
        if (firsts) firsts[leaf] = total;
        for (int i = b->leaf_first[leaf]; i < b->leaf_first[leaf + 1]; i++)
            for (int c = 0; c < 3; c++) {
                int p = m->triangles[3 * b->order[i] + c];
                for (int k = m->point_triangle_first[p]; k < m->point_triangle_first[p + 1]; k++) {
                    int other = leaf_of[m->point_triangles[k]];
                    if (other == leaf || stamps[other] == leaf) continue;
                    stamps[other] = leaf;
                    if (out) out[total] = other;
                    total++;
                }
            }
    }
    if (firsts) firsts[b->leaf_count] = total;
}

/* The subtrees of at most a BLOCKS-th of the leaves, from left to right. */
static void blocks_find(contact_surface *surface, const tree_builder *b, int node, int *block_nodes)
{
    int leaves = b->last[node] - b->first[node] + 1;
    if (b->children[node] < 0 || leaves * BLOCKS <= b->leaf_count) {
        block_nodes[surface->block_count++] = node;
        return;
    }
    blocks_find(surface, b, b->children[node], block_nodes);
    blocks_find(surface, b, b->children[node] + 1, block_nodes);
}

static int root_of(int *parents, int i)
{
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
}

/* Whether the triangles of each node hang together by points. parents: (point_count) union-find scratch. */
static void connections_find(const mesh *m, const tree_builder *b, int *parents, uint8_t *connected)
{
    for (int node = 0; node < b->node_count; node++) {
        int begin = b->leaf_first[b->first[node]], end = b->leaf_first[b->last[node] + 1];
        if (end - begin > 4096) continue; /* never flat */
        for (int i = 3 * begin; i < 3 * end; i++) {
            int p = m->triangles[3 * b->order[i / 3] + i % 3];
            parents[p] = p;
        }
        for (int i = begin; i < end; i++) {
            const int *c = m->triangles + 3 * b->order[i];
            for (int k = 1; k < 3; k++) {
                int r = root_of(parents, c[0]), s = root_of(parents, c[k]);
                parents[MAX(r, s)] = MIN(r, s);
            }
        }
        int root = root_of(parents, m->triangles[3 * b->order[begin]]);
        connected[node] = 1;
        for (int i = begin; i < end; i++)
            if (root_of(parents, m->triangles[3 * b->order[i]]) != root) connected[node] = 0;
    }
}

/* Groups of points whose triangles intersect at rest. */
static cutis_result tangles_find(const mesh *m, int *tangle, arena *scratch, cutis_error *error)
{
    bvh tree;
    cutis_result result = bvh_build(&tree, m->triangle_count, m->triangles, m->positions, scratch, error);
    if (result != CUTIS_OK) return result;
    int limit = m->triangle_count;
    int *pairs = ARENA_ARRAY(scratch, int, 2 * (size_t)limit + 2);
    int *parents = ARENA_ARRAY(scratch, int, m->point_count + 1);
    if (scratch->failed) return error_memory(error, "the contact surface");
    int count = mesh_self_intersections(m, &tree, m->positions, NULL, pairs, limit);
    for (int p = 0; p < m->point_count; p++) parents[p] = p, tangle[p] = -1;
    for (int i = 0; i < MIN(count, limit); i++) {
        int root = root_of(parents, m->triangles[3 * pairs[2 * i]]);
        for (int side = 0; side < 2; side++)
            for (int c = 0; c < 3; c++) {
                int p = m->triangles[3 * pairs[2 * i + side] + c];
                int r = root_of(parents, p);
                parents[MAX(r, root)] = MIN(r, root);
                root = MIN(r, root);
                tangle[p] = 0;
            }
    }
    for (int p = 0; p < m->point_count; p++)
        if (tangle[p] == 0) tangle[p] = root_of(parents, p);
    return CUTIS_OK;
}

cutis_result contact_surface_build(contact_surface *surface, const mesh *m, arena *memory,
                                   const cutis_allocator *allocator, cutis_error *error)
{
    int n = m->triangle_count;
    *surface = (contact_surface){.mesh = m};
    int *tangle = ARENA_ARRAY(memory, int, m->point_count + 1);
    if (memory->failed) return error_memory(error, "the contact surface");
    surface->tangle = tangle;
    if (n == 0) return CUTIS_OK;

    arena scratch = arena_create(allocator);
    tree_builder b = {.m = m,
                      .centres = ARENA_ARRAY(&scratch, float, 3 * n),
                      .order = ARENA_ARRAY(memory, int, n),
                      .children = ARENA_ARRAY(memory, int, 2 * n),
                      .first = ARENA_ARRAY(memory, int, 2 * n),
                      .last = ARENA_ARRAY(memory, int, 2 * n),
                      .leaf_first = ARENA_ARRAY(memory, int, n + 1),
                      .node_count = 1};
    int *leaf_of = ARENA_ARRAY(&scratch, int, n), *parents = ARENA_ARRAY(&scratch, int, MAX(n, m->point_count));
    uint8_t *owned = ARENA_ARRAY(memory, uint8_t, n), *connected = ARENA_ARRAY(memory, uint8_t, 2 * n);
    cutis_result result = CUTIS_ERROR_MEMORY;
    if (memory->failed || scratch.failed) {
        error_memory(error, "the contact surface");
        goto done;
    }
    for (int t = 0; t < n; t++) {
        b.order[t] = t;
        for (int k = 0; k < 3; k++) {
            float sum = 0;
            for (int c = 0; c < 3; c++) sum += m->positions[3 * m->triangles[3 * t + c] + k];
            b.centres[3 * t + k] = sum / 3;
        }
    }
    node_split(&b, 0, 0, n);
    b.leaf_first[b.leaf_count] = n;
    for (int leaf = 0; leaf < b.leaf_count; leaf++)
        for (int i = b.leaf_first[leaf]; i < b.leaf_first[leaf + 1]; i++) leaf_of[b.order[i]] = leaf;
    owners_assign(m, owned);
    connections_find(m, &b, parents, connected);

    int *adjacent_first = ARENA_ARRAY(memory, int, b.leaf_count + 1);
    if (memory->failed) {
        error_memory(error, "the contact surface");
        goto done;
    }
    leaves_join(m, &b, leaf_of, parents, adjacent_first, NULL);
    int *adjacent = ARENA_ARRAY(memory, int, adjacent_first[b.leaf_count] + 1);
    if (memory->failed) {
        error_memory(error, "the contact surface");
        goto done;
    }
    leaves_join(m, &b, leaf_of, parents, NULL, adjacent);
    int *block_nodes = ARENA_ARRAY(memory, int, b.leaf_count);
    if (memory->failed) {
        error_memory(error, "the contact surface");
        goto done;
    }

    double length = 0;
    for (int e = 0; e < m->edge_count; e++)
        length += vec3_distance(vec3_load(m->positions + 3 * m->edges[2 * e]),
                                vec3_load(m->positions + 3 * m->edges[2 * e + 1]));
    surface->edge_mean = m->edge_count > 0 ? (float)(length / m->edge_count) : 0;
    surface->node_count = b.node_count, surface->leaf_count = b.leaf_count;
    blocks_find(surface, &b, 0, block_nodes);
    surface->block_nodes = block_nodes;
    surface->node_children = b.children, surface->node_first = b.first, surface->node_last = b.last;
    surface->leaf_first = b.leaf_first, surface->order = b.order;
    surface->owned = owned, surface->connected = connected;
    surface->adjacent_first = adjacent_first, surface->adjacent = adjacent;
    result = tangles_find(m, tangle, &scratch, error);
done:
    arena_destroy(&scratch);
    return result;
}

/* ---- work memory ---- */

static size_t round64(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Hand out `bytes` of the block, or only count them when memory is NULL. */
static void *carve(char *memory, size_t *used, size_t bytes)
{
    void *block = memory ? memory + *used : NULL;
    *used += round64(bytes);
    return block;
}

static contact_work work_carve(const contact_surface *surface, char *memory, size_t *used)
{
    contact_work w = {0};
    size_t points = (size_t)surface->mesh->point_count, triangles = (size_t)surface->mesh->triangle_count;
    int share =
        surface->block_count > 0 ? PAIRS_PER_TRIANGLE * surface->mesh->triangle_count / surface->block_count : 0;
    w.block_capacity = MAX(share, BLOCK_PAIRS);
    w.pair_capacity = w.block_capacity * surface->block_count;
    w.nodes = carve(memory, used, (size_t)surface->node_count * BOUND * sizeof(float));
    w.triangles = carve(memory, used, triangles * BOUND * sizeof(float));
    w.block_counts = carve(memory, used, (size_t)surface->block_count * 2 * sizeof(int));
    w.zones = carve(memory, used, points * sizeof(int));
    w.zone_data = carve(memory, used, points * 16 * sizeof(float));
    w.saved = carve(memory, used, points * 3 * sizeof(float));
    w.wishes = carve(memory, used, points * 3 * sizeof(float));
    w.marks = carve(memory, used, points);
    w.pairs = carve(memory, used, (size_t)w.pair_capacity * sizeof(contact_pair));
    return w;
}

size_t contact_work_size(const contact_surface *surface)
{
    size_t used = 0;
    work_carve(surface, NULL, &used);
    return used;
}

contact_work contact_work_make(const contact_surface *surface, void *memory)
{
    size_t used = 0;
    return work_carve(surface, memory, &used);
}

/* ---- search ---- */

typedef struct search {
    const contact_surface *surface;
    contact_work *work;
    const float *start, *end;
    const contact_search_options *options;
    vec3 shift; /* mean motion, which changes no distance and would only swell the boxes */
} search;

static vec3 moved(const search *s, int p) { return vec3_sub(vec3_load(s->end + 3 * p), s->shift); }

static void bound_merge(float *a, const float *b)
{
    for (int half = 0; half < BOUND; half += 6)
        for (int k = half; k < half + 3; k++) {
            a[k] = MIN(a[k], b[k]);
            a[k + 3] = MAX(a[k + 3], b[k + 3]);
        }
}

static void triangle_bound(const search *s, int t, float *bound)
{
    const int *c = s->surface->mesh->triangles + 3 * t;
    vec3 p[6], low, high, normal[2];
    for (int i = 0; i < 3; i++) p[i] = vec3_load(s->start + 3 * c[i]), p[3 + i] = moved(s, c[i]);
    low = high = p[0];
    for (int i = 1; i < 6; i++) low = vec3_min(low, p[i]), high = vec3_max(high, p[i]);
    for (int i = 0; i < 2; i++)
        normal[i] = vec3_normalize(vec3_cross(vec3_sub(p[3 * i + 1], p[3 * i]), vec3_sub(p[3 * i + 2], p[3 * i])));
    vec3_store(bound, low), vec3_store(bound + 3, high);
    vec3_store(bound + 6, vec3_min(normal[0], normal[1])), vec3_store(bound + 9, vec3_max(normal[0], normal[1]));
}

static void triangles_refit(void *context, int begin, int end)
{
    const search *s = context;
    for (int t = begin; t < end; t++) triangle_bound(s, t, s->work->triangles + (size_t)t * BOUND);
}

static void nodes_refit(const search *s)
{
    const contact_surface *surface = s->surface;
    for (int node = surface->node_count - 1; node >= 0; node--) {
        float *bound = s->work->nodes + (size_t)node * BOUND;
        int child = surface->node_children[node];
        if (child >= 0) {
            memcpy(bound, s->work->nodes + (size_t)child * BOUND, BOUND * sizeof(float));
            bound_merge(bound, s->work->nodes + (size_t)(child + 1) * BOUND);
            continue;
        }
        int leaf = -1 - child;
        const int *order = surface->order + surface->leaf_first[leaf];
        int count = surface->leaf_first[leaf + 1] - surface->leaf_first[leaf];
        memcpy(bound, s->work->triangles + (size_t)order[0] * BOUND, BOUND * sizeof(float));
        for (int i = 1; i < count; i++) bound_merge(bound, s->work->triangles + (size_t)order[i] * BOUND);
    }
}

static bool boxes_apart(const float *a, const float *b, float margin)
{
    return a[0] > b[3] + margin || b[0] > a[3] + margin || a[1] > b[4] + margin || b[1] > a[4] + margin ||
           a[2] > b[5] + margin || b[2] > a[5] + margin;
}

/*
 * Whether every normal of the bounds (one, or two merged) makes less than 45 degrees with their middle. Less than 90
 * would do if outlines were looked at; with 80, crumpled saddles of an armpit were seen to slip through.
 */
static bool normals_flat(const float *a, const float *b)
{
    float worst = 0, length2 = 0;
    for (int k = 6; k < 9; k++) {
        float low = MIN(a[k], b[k]), high = MAX(a[k + 3], b[k + 3]), middle = 0.5f * (low + high);
        worst += middle * (middle > 0 ? low : high);
        length2 += middle * middle;
    }
    return worst > 0 && worst * worst > 0.5f * length2;
}

static bool leaves_adjacent(const contact_surface *surface, int a, int b)
{
    for (int i = surface->adjacent_first[a]; i < surface->adjacent_first[a + 1]; i++)
        if (surface->adjacent[i] == b) return true;
    return false;
}

/* Whether a side's points all belong to the same tangle as the other side's. */
static bool pair_tangled(const contact_surface *surface, const int v[4], int first)
{
    int group = surface->tangle[v[0]];
    for (int i = 1; i < first && group < 0; i++) group = surface->tangle[v[i]];
    if (group < 0) return false;
    for (int i = first; i < 4; i++)
        if (surface->tangle[v[i]] == group) return true;
    return false;
}

/* The largest distance of a move from the first one, and that one. */
static float moves_spread(const search *s, const int *v, int count, vec3 *move)
{
    float spread2 = 0;
    *move = vec3_sub(moved(s, v[0]), vec3_load(s->start + 3 * v[0]));
    for (int i = 1; i < count; i++) {
        vec3 other = vec3_sub(moved(s, v[i]), vec3_load(s->start + 3 * v[i]));
        spread2 = MAX(spread2, vec3_length2(vec3_sub(other, *move)));
    }
    return spread2 > 0 ? sqrtf(spread2) : 0;
}

/*
 * Whether two features stay more than the margin apart: along the line of their centres, at the start, by more than
 * they move relative to each other. Nearly all neighbours on a surface do, and need no nearest points.
 */
static bool features_apart(const search *s, const int *a, int a_count, const int *b, int b_count, float *limit)
{
    vec3 move_a, move_b, centre_a = {0, 0, 0}, centre_b = {0, 0, 0};
    float spread = moves_spread(s, a, a_count, &move_a) + moves_spread(s, b, b_count, &move_b);
    *limit = s->options->margin + spread + vec3_distance(move_a, move_b);
    for (int i = 0; i < a_count; i++)
        centre_a = vec3_madd(centre_a, vec3_load(s->start + 3 * a[i]), 1.0f / (float)a_count);
    for (int i = 0; i < b_count; i++)
        centre_b = vec3_madd(centre_b, vec3_load(s->start + 3 * b[i]), 1.0f / (float)b_count);
    vec3 way = vec3_sub(centre_a, centre_b);
    float low = 1e30f, high = -1e30f;
    for (int i = 0; i < a_count; i++) {
        float along = vec3_dot(way, vec3_sub(vec3_load(s->start + 3 * a[i]), centre_b));
        low = MIN(low, along);
    }
    for (int i = 0; i < b_count; i++) {
        float along = vec3_dot(way, vec3_sub(vec3_load(s->start + 3 * b[i]), centre_b));
        high = MAX(high, along);
    }
    return low - high > *limit * vec3_length(way);
}

static void pair_consider(const search *s, int block, const int v[4], contact_kind kind)
{
    const contact_search_options *options = s->options;
    int first = kind == CONTACT_POINT_TRIANGLE ? 1 : 2;
    float limit;
    if (features_apart(s, v, first, v + first, 4 - first, &limit)) return;
    contact_pair pair = {.v = {v[0], v[1], v[2], v[3]}, .kind = kind};
    contact_pair_nearest(&pair, s->start);
    if (pair.distance > limit || pair_tangled(s->surface, v, first)) return;
    contact_pair rest = pair;
    contact_pair_nearest(&rest, s->surface->mesh->positions);
    pair.gap = MIN(options->thickness, 0.5f * rest.distance);
    /* Touching, now or at rest: no side to keep. */
    if (!(pair.distance > 1e-3f * pair.gap) || pair.gap < 0.01f * options->thickness) return;

    int *count = s->work->block_counts + 2 * block;
    if (count[0] >= s->work->block_capacity) {
        count[1]++;
        return;
    }
    s->work->pairs[(size_t)block * (size_t)s->work->block_capacity + (size_t)count[0]++] = pair;
}

static void point_triangle_consider(const search *s, int block, int p, int t)
{
    const int *c = s->surface->mesh->triangles + 3 * t;
    if (p == c[0] || p == c[1] || p == c[2]) return;
    pair_consider(s, block, (int[4]){p, c[0], c[1], c[2]}, CONTACT_POINT_TRIANGLE);
}

static void triangles_consider(const search *s, int block, int a, int b)
{
    const mesh *m = s->surface->mesh;
    if (boxes_apart(s->work->triangles + (size_t)a * BOUND, s->work->triangles + (size_t)b * BOUND, s->options->margin))
        return;
    float limit;
    if (features_apart(s, m->triangles + 3 * a, 3, m->triangles + 3 * b, 3, &limit)) return;
    unsigned own_a = s->surface->owned[a], own_b = s->surface->owned[b];
    for (int c = 0; c < 3; c++) {
        if (own_a >> c & 1) point_triangle_consider(s, block, m->triangles[3 * a + c], b);
        if (own_b >> c & 1) point_triangle_consider(s, block, m->triangles[3 * b + c], a);
        if (!(own_a >> (3 + c) & 1)) continue;
        const int *e = m->edges + 2 * m->triangle_edges[3 * a + c];
        for (int d = 0; d < 3; d++) {
            if (!(own_b >> (3 + d) & 1)) continue;
            const int *f = m->edges + 2 * m->triangle_edges[3 * b + d];
            if (e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1]) continue;
            pair_consider(s, block, (int[4]){e[0], e[1], f[0], f[1]}, CONTACT_EDGE_EDGE);
        }
    }
}

/* The triangles of two leaves (or of one). bound: of the second. */
static void leaves_consider(const search *s, int block, int a, int b, const float *bound)
{
    const contact_surface *surface = s->surface;
    for (int i = surface->leaf_first[a]; i < surface->leaf_first[a + 1]; i++) {
        int first = a == b ? i + 1 : surface->leaf_first[b];
        if (boxes_apart(s->work->triangles + (size_t)surface->order[i] * BOUND, bound, s->options->margin)) continue;
        for (int j = first; j < surface->leaf_first[b + 1]; j++)
            triangles_consider(s, block, surface->order[i], surface->order[j]);
    }
}

static bool node_flat(const search *s, int node)
{
    const float *bound = s->work->nodes + (size_t)node * BOUND;
    return s->surface->connected[node] && normals_flat(bound, bound);
}

/* Two leaves with overlapping boxes. */
static void leaf_pair_search(const search *s, int block, int a, int b)
{
    const contact_surface *surface = s->surface;
    int leaf = -1 - surface->node_children[a], other = -1 - surface->node_children[b];
    if (surface->connected[a] && surface->connected[b] &&
        normals_flat(s->work->nodes + (size_t)a * BOUND, s->work->nodes + (size_t)b * BOUND) &&
        leaves_adjacent(surface, leaf, other))
        return;
    leaves_consider(s, block, leaf, other, s->work->nodes + (size_t)b * BOUND);
}

/* Everything below a against everything below b, or a against itself when they are the same node. */
static void nodes_search(const search *s, int block, int a, int b)
{
    const contact_surface *surface = s->surface;
    int stack[256][2], depth = 0;
    stack[depth][0] = a, stack[depth++][1] = b;
    while (depth > 0) {
        depth--;
        int x = stack[depth][0], y = stack[depth][1];
        int left = surface->node_children[x], right = surface->node_children[y];
        if (x == y) {
            if (node_flat(s, x)) continue;
            if (left < 0) {
                leaves_consider(s, block, -1 - left, -1 - left, s->work->nodes + (size_t)x * BOUND);
                continue;
            }
            stack[depth][0] = left, stack[depth++][1] = left + 1;
            stack[depth][0] = left + 1, stack[depth++][1] = left + 1;
            stack[depth][0] = left, stack[depth++][1] = left;
            continue;
        }
        if (boxes_apart(s->work->nodes + (size_t)x * BOUND, s->work->nodes + (size_t)y * BOUND, s->options->margin))
            continue;
        if (left < 0 && right < 0) {
            leaf_pair_search(s, block, x, y);
            continue;
        }
        /* Into the one with more leaves. */
        bool first = surface->node_last[x] - surface->node_first[x] >= surface->node_last[y] - surface->node_first[y];
        int child = first ? left : right, other = first ? y : x;
        for (int side = 1; side >= 0; side--) {
            stack[depth][0] = first ? child + side : other;
            stack[depth++][1] = first ? other : child + side;
        }
    }
}

static void blocks_search(void *context, int begin, int end)
{
    const search *s = context;
    for (int block = begin; block < end; block++) {
        s->work->block_counts[2 * block] = s->work->block_counts[2 * block + 1] = 0;
        for (int other = block; other < s->surface->block_count; other++)
            nodes_search(s, block, s->surface->block_nodes[block], s->surface->block_nodes[other]);
    }
}

int contact_search(const contact_surface *surface, contact_work *work, const float *start, const float *end,
                   const contact_search_options *options, const cutis_jobs *jobs)
{
    work->pair_count = work->dropped = 0;
    memcpy(work->saved, end, (size_t)surface->mesh->point_count * 3 * sizeof(float));
    if (surface->leaf_count == 0) return 0;
    search s = {.surface = surface, .work = work, .start = start, .end = end, .options = options};
    double shift[3] = {0};
    int n = surface->mesh->point_count;
    for (int i = 0; i < 3 * n; i++) shift[i % 3] += (double)end[i] - start[i];
    s.shift = vec3_make((float)(shift[0] / n), (float)(shift[1] / n), (float)(shift[2] / n));

    parallel_for(jobs, surface->mesh->triangle_count, 1024, triangles_refit, &s);
    nodes_refit(&s);
    parallel_for(jobs, surface->block_count, 1, blocks_search, &s);

    /* One list, in the order of blocks. */
    for (int block = 0; block < surface->block_count; block++) {
        int count = work->block_counts[2 * block];
        work->dropped += work->block_counts[2 * block + 1];
        memmove(work->pairs + work->pair_count, work->pairs + (size_t)block * (size_t)work->block_capacity,
                (size_t)count * sizeof(contact_pair));
        work->pair_count += count;
    }
    return work->pair_count;
}
