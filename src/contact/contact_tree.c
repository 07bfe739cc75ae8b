/*
 * contact_tree.c: the tree over a deforming surface: clusters of triangles, and the outlines by which the search
 * prunes.
 *
 * Triangles are joined to compact, flat clusters of two or three, those again, and so on (a simple form of hierarchical
 * face clustering: Garland, Willmott, Heckbert 2001), so that a node of the tree is a patch of the surface with a short
 * outline. All leaves have the same distance from the top. Nodes are numbered level by level, leaves first, the
 * children of a node side by side.
 *
 * For pruning flat parts (contact_search.c) nodes, and pairs of nodes side by side, get the outline of their
 * triangles: the loop of points around them. What has none that is one simple loop is never pruned.
 *
 * Each point and each edge is tested for one triangle only, which owns it (Curtis, Tamstorf, Manocha 2008).
 */
#include <stdlib.h>
#include <string.h>

#include "contact/contact.h"

/* Clusters are joined until there are at most so many, the blocks: each is one piece of work with its own pairs. */
enum { BLOCKS = 64 };
/* Room for pairs in all, for each triangle, and at least in a block. */
enum { PAIRS_PER_TRIANGLE = 10, BLOCK_PAIRS = 4096 };
/* Larger nodes are never flat on a body; and nodes around a point, for pairs that meet in it. */
enum { OUTLINE_TRIANGLES = 256, UNION_NODES = 8 };
/* Rounds of joining that make leaves of triangles, and levels at most: each has at most 7/8 of those below. */
enum { LEAF_ROUNDS = 2, LEVELS = 160 };

/* ---- clusters ---- */

typedef struct cluster {
    vec3 centre, normal; /* sums over area, of the triangles' */
    float area, perimeter;
    int triangles;
} cluster;

/* Two clusters side by side. */
typedef struct joint_edge {
    int a, b;
    float length; /* of their border */
    float cost;
} joint_edge;

typedef struct tree_builder {
    const mesh *m;
    int *order, *leaf_first, *leaf_of;
    int leaf_count;
    int level_count;
    int counts[LEVELS];   /* nodes of each level; 0: leaves */
    int *parents[LEVELS]; /* of each level's nodes */
    int *label;           /* (triangle_count) cluster of each triangle */
    cluster *clusters;
    joint_edge *joints;
    int *joined; /* (triangle_count) of the round in hand: new cluster, -1: none yet */
    int *singles;
} tree_builder;

static int compare_joint_places(const void *x, const void *y)
{
    const joint_edge *a = x, *b = y;
    return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b != b->b ? (a->b < b->b ? -1 : 1) : 0;
}

static int compare_joint_costs(const void *x, const void *y)
{
    const joint_edge *a = x, *b = y;
    return a->cost != b->cost ? (a->cost < b->cost ? -1 : 1) : compare_joint_places(x, y);
}

static void clusters_measure(tree_builder *b, int count)
{
    const mesh *m = b->m;
    memset(b->clusters, 0, (size_t)count * sizeof(cluster));

    /* normal and centroid by area */
    for (int t = 0; t < m->triangle_count; t++) {
        const int *c = m->triangles + 3 * t;
        vec3 p[3] = {vec3_load(m->positions + 3 * c[0]), vec3_load(m->positions + 3 * c[1]),
                     vec3_load(m->positions + 3 * c[2])};
        vec3 normal = vec3_scale(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])), 0.5f);

        cluster *k = b->clusters + b->label[t];
        float area = vec3_length(normal);

        k->normal = vec3_add(k->normal, normal);
        k->centre = vec3_madd(k->centre, vec3_add(vec3_add(p[0], p[1]), p[2]), (area + 1e-30f) / 3);
        k->area += area + 1e-30f;
        k->triangles++;
    }
}

/* The borders of clusters, each pair once, and the perimeters. */
static int joints_find(tree_builder *b)
{
    const mesh *m = b->m;
    int found = 0, count = 0;

    /* edges between two clusters, and the perimeter of each */
    for (int e = 0; e < m->edge_count; e++) {
        float length = vec3_distance(vec3_load(m->positions + 3 * m->edges[2 * e]),
                                     vec3_load(m->positions + 3 * m->edges[2 * e + 1]));
        int s = m->edge_triangles[2 * e], t = m->edge_triangles[2 * e + 1];
        if (s < 0) continue;

        int x = b->label[s], y = t < 0 ? -1 : b->label[t];
        if (x == y) continue;
        b->clusters[x].perimeter += length;
        if (y < 0) continue;
        b->clusters[y].perimeter += length;
        b->joints[found++] = (joint_edge){.a = MIN(x, y), .b = MAX(x, y), .length = length};
    }

    /* one joint for each pair of neighbours */
    qsort(b->joints, (size_t)found, sizeof(joint_edge), compare_joint_places);
    for (int i = 0; i < found; i++) {
        if (count > 0 && compare_joint_places(b->joints + count - 1, b->joints + i) == 0)
            b->joints[count - 1].length += b->joints[i].length;
        else
            b->joints[count++] = b->joints[i];
    }

    /* Compact and flat is cheap. */
    for (int i = 0; i < count; i++) {
        joint_edge *joint = b->joints + i;
        const cluster *x = b->clusters + joint->a, *y = b->clusters + joint->b;
        float around = x->perimeter + y->perimeter - 2 * joint->length;
        float along = vec3_dot(vec3_normalize(x->normal), vec3_normalize(y->normal));
        joint->cost = around * around / (x->area + y->area) * (2 - along);
    }

    qsort(b->joints, (size_t)count, sizeof(joint_edge), compare_joint_costs);
    return count;
}

static float centre_along(const tree_builder *b, int k, int axis)
{
    return vec3_axis(b->clusters[k].centre, axis) / b->clusters[k].area;
}

static bool comes_before(const tree_builder *b, int axis, int s, int t)
{
    float x = centre_along(b, s, axis), y = centre_along(b, t, axis);
    return x < y || (x == y && s < t);
}

/* Quickselect of singles[begin..end) so that those before `middle` come before the others along the axis. */
static void singles_select(tree_builder *b, int axis, int begin, int end, int middle)
{
    while (end - begin > 1) {
        int pivot = b->singles[begin + (end - begin) / 2], i = begin, j = end - 1;
        while (i <= j) {
            while (comes_before(b, axis, b->singles[i], pivot)) i++;
            while (comes_before(b, axis, pivot, b->singles[j])) j--;
            if (i <= j) {
                int swap = b->singles[i];
                b->singles[i++] = b->singles[j];
                b->singles[j--] = swap;
            }
        }

        /* go on in the part that holds the middle */
        if (middle <= j)
            end = j + 1;
        else if (middle >= i)
            begin = i;
        else
            return;
    }
}

/* Clusters without neighbours, halved along the longest extent down to pairs, which join. */
static int singles_join(tree_builder *b, int begin, int end, int next)
{
    if (end - begin <= 2) {
        for (int i = begin; i < end; i++) b->joined[b->singles[i]] = next;
        return next + (end > begin);
    }
    float low[3], high[3];

    /* the longest side of their box */
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = high[axis] = centre_along(b, b->singles[begin], axis);
        for (int i = begin + 1; i < end; i++) {
            float x = centre_along(b, b->singles[i], axis);
            low[axis] = MIN(low[axis], x);
            high[axis] = MAX(high[axis], x);
        }
    }
    float extent[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
    int axis = extent[0] >= extent[1] && extent[0] >= extent[2] ? 0 : extent[1] >= extent[2] ? 1 : 2;

    /* halves of an even count, so that pairs are whole */
    int middle = begin + (end - begin + 2) / 4 * 2;
    singles_select(b, axis, begin, end, middle);
    return singles_join(b, middle, end, singles_join(b, begin, middle, next));
}

/*
 * One round: each cluster with its best neighbour, what is left over with a pair beside it. Returns the number of new
 * clusters; `joined` says which.
 */
static int clusters_join(tree_builder *b, int count, int triangle_limit)
{
    clusters_measure(b, count);
    int joints = joints_find(b), next = 0, singles = 0;
    for (int k = 0; k < count; k++) b->joined[k] = -1;
    int *triangles = b->singles; /* of new clusters, until the singles are needed */

    /* neighbours in the order of cost: pairs first, then a third for what is left */
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < joints; i++) {
            int x = b->joints[i].a, y = b->joints[i].b;
            bool free_x = b->joined[x] < 0, free_y = b->joined[y] < 0;
            int sum = b->clusters[x].triangles + b->clusters[y].triangles;
            if (pass == 0 && free_x && free_y && sum <= triangle_limit) {
                b->joined[x] = b->joined[y] = next;
                triangles[next++] = sum;
            } else if (pass == 1 && free_x != free_y) {
                /* Three at most: a joined cluster takes one more, and counts as full. */
                int lone = free_x ? x : y, pair = b->joined[free_x ? y : x];
                int all = triangles[pair] + b->clusters[lone].triangles;
                if (triangles[pair] < 0 || all > triangle_limit) continue;
                b->joined[lone] = pair;
                triangles[pair] = -1;
            }
        }

    /* those without a partner */
    for (int k = 0; k < count; k++)
        if (b->joined[k] < 0) b->singles[singles++] = k;

    /* With few neighbours left, those that lie near each other. */
    if (next + singles > count - count / 8 && triangle_limit > CONTACT_LEAF) return singles_join(b, 0, singles, next);

    for (int i = 0; i < singles; i++) b->joined[b->singles[i]] = next++;
    return next;
}

/* Levels from leaves up to blocks, their parents in the order of joining. */
static bool levels_build(tree_builder *b, arena *scratch)
{
    const mesh *m = b->m;
    int n = m->triangle_count, count = n;
    for (int t = 0; t < n; t++) b->label[t] = t;

    /* leaves */
    for (int round = 0; round < LEAF_ROUNDS; round++) {
        count = clusters_join(b, count, CONTACT_LEAF);
        for (int t = 0; t < n; t++) b->label[t] = b->joined[b->label[t]];
    }

    memcpy(b->leaf_of, b->label, (size_t)n * sizeof(int));
    b->leaf_count = count;
    b->counts[b->level_count++] = count;

    /* levels above, until there are few enough for the blocks */
    while (count > BLOCKS && b->level_count < LEVELS) {
        int next = clusters_join(b, count, n);
        int *parents = arena_copy(scratch, b->joined, (size_t)count, sizeof(int));
        if (!parents) return false;

        b->parents[b->level_count - 1] = parents;
        for (int t = 0; t < n; t++) b->label[t] = b->joined[b->label[t]];
        count = next;
        b->counts[b->level_count++] = count;
    }

    return true;
}

/*
 * Number the nodes of each level by their parents' numbers, from the top down. names: (triangle_count) new numbers of
 * the level above and of this one. Leaves' triangles follow.
 */
static void levels_order(tree_builder *b, contact_surface *surface, int *child_first, int *names, int *own, int *firsts)
{
    int top = b->level_count - 1, base = surface->node_count;
    for (int i = 0; i < b->counts[top]; i++) names[i] = i;

    /* from the top down: children of a node become consecutive */
    for (int level = top; level > 0; level--) {
        int above = b->counts[level], below = b->counts[level - 1];
        base -= above;

        /* first children, by counting */
        for (int i = 0; i <= above; i++) firsts[i] = 0;
        for (int i = 0; i < below; i++) firsts[names[b->parents[level - 1][i]] + 1]++;
        for (int i = 0; i < above; i++) firsts[i + 1] += firsts[i];

        for (int i = 0; i < above; i++) child_first[base + i] = base - below + firsts[i];
        for (int i = 0; i < below; i++) own[i] = firsts[names[b->parents[level - 1][i]]]++;
        memcpy(names, own, (size_t)below * sizeof(int));
    }

    /* The last of a level ends where the level above begins, where its own children end. */
    child_first[surface->node_count] = surface->node_count - b->counts[top];
    int n = b->m->triangle_count;

    /* triangles of each leaf */
    for (int t = 0; t < n; t++) b->leaf_of[t] = names[b->leaf_of[t]];
    for (int i = 0; i <= b->leaf_count; i++) b->leaf_first[i] = 0;
    for (int t = 0; t < n; t++) b->leaf_first[b->leaf_of[t] + 1]++;
    for (int i = 0; i < b->leaf_count; i++) b->leaf_first[i + 1] += b->leaf_first[i];

    memcpy(firsts, b->leaf_first, ((size_t)b->leaf_count + 1) * sizeof(int));
    for (int t = 0; t < n; t++) b->order[firsts[b->leaf_of[t]]++] = t;
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

/* ---- outlines ---- */

/* A growing array of ints. The first pass only counts. */
typedef struct int_list {
    int *values; /* NULL: count */
    int count;
} int_list;

static void list_add(int_list *list, int value)
{
    if (list->values) list->values[list->count] = value;
    list->count++;
}

typedef struct outliner {
    const tree_builder *b;
    int *node_of; /* (triangle_count) node of each triangle, in the level in hand */
    int *first;   /* (node_count + 1) first of each node's triangles, in the order of leaves */
    int *last;    /* (node_count) */
    int *next;    /* (point_count) behind each point of the outline in hand, -1: not on it */
    int *stamps;  /* (node_count) */
} outliner;

static bool holds(const int *nodes, int count, int node)
{
    for (int i = 0; i < count; i++)
        if (nodes[i] == node) return true;
    return false;
}

/* The edges of a node that border none of the nodes. False when they do not make a simple outline. */
static bool outline_collect(outliner *o, const int *nodes, int count, int node, int *edges)
{
    const mesh *m = o->b->m;
    bool simple = true;

    for (int i = o->first[node]; i < o->last[node]; i++) {
        int t = o->b->order[i];
        for (int c = 0; c < 3; c++) {
            int e = m->triangle_edges[3 * t + c], from = m->triangles[3 * t + c],
                to = m->triangles[3 * t + (c + 1) % 3];

            /* inside; the other triangle must run it the other way */
            if (m->edge_triangle_counts[e] > 2) return false;
            int other = m->edge_triangles[2 * e] == t ? m->edge_triangles[2 * e + 1] : m->edge_triangles[2 * e];
            if (other >= 0 && holds(nodes, count, o->node_of[other])) {
                const int *k = m->triangles + 3 * other;
                for (int d = 0; d < 3; d++) simple = simple && !(k[d] == from && k[(d + 1) % 3] == to);
                continue;
            }

            /* on the outline */
            if (o->next[from] >= 0) simple = false;
            o->next[from] = to;
            (*edges)++;
        }
    }
    return simple;
}

/* Append the outline of some nodes of the level in hand. Returns its length, 0 when there is none. */
static int outline_find(outliner *o, const int *nodes, int count, int_list *points)
{
    const tree_builder *b = o->b;

    const int *corners = b->m->triangles;
    int edges = 0, length = 0, start = -1, first = points->count;
    bool simple = true;

    /* its edges, and a point to start from */
    for (int i = 0; i < count && simple; i++) simple = outline_collect(o, nodes, count, nodes[i], &edges);
    for (int i = o->first[nodes[0]]; i < o->last[nodes[0]] && start < 0; i++)
        for (int c = 0; c < 3; c++)
            if (o->next[corners[3 * b->order[i] + c]] >= 0) start = corners[3 * b->order[i] + c];

    /* once around; one that does not close, or has more loops, is none */
    if (simple && start >= 0 && edges <= CONTACT_OUTLINE) {
        int p = start;
        do {
            list_add(points, p);
            length++;
            p = o->next[p];
        } while (p >= 0 && p != start && length < edges);
        if (p != start || length != edges) {
            points->count = first;
            length = 0;
        }
    }

    /* clean again for the next */
    for (int i = 0; i < count; i++)
        for (int k = o->first[nodes[i]]; k < o->last[nodes[i]]; k++)
            for (int c = 0; c < 3; c++) o->next[corners[3 * b->order[k] + c]] = -1;
    return length;
}

/* The smallest sine of the angles at which edges of the loop are seen from a place; negative when seen from behind. */
static float outline_view(const float (*x)[2], int n, const float from[2])
{
    float least = 1;
    for (int i = 0; i < n && least > 0; i++) {
        const float *a = x[i], *b = x[(i + 1) % n];
        float ax = a[0] - from[0], ay = a[1] - from[1], bx = b[0] - from[0], by = b[1] - from[1];
        float lengths = sqrtf((ax * ax + ay * ay) * (bx * bx + by * by));
        least = MIN(least, lengths > 0 ? (ax * by - bx * ay) / lengths : 0);
    }
    return least;
}

/* From the middle of which two points the outline is seen best, along the mean normal of its triangles at rest. */
static bool outline_centre(const outliner *o, const int *nodes, int count, const int *loop, contact_outline *outline)
{
    const mesh *m = o->b->m;
    vec3 normal = {0, 0, 0};

    /* mean normal, by area */
    for (int i = 0; i < count; i++)
        for (int k = o->first[nodes[i]]; k < o->last[nodes[i]]; k++) {
            const int *c = m->triangles + 3 * o->b->order[k];
            vec3 p = vec3_load(m->positions + 3 * c[0]);
            normal = vec3_add(normal, vec3_cross(vec3_sub(vec3_load(m->positions + 3 * c[1]), p),
                                                 vec3_sub(vec3_load(m->positions + 3 * c[2]), p)));
        }

    /* the loop, seen along the mean normal */
    vec3 axis = vec3_normalize(normal);
    vec3 u = vec3_normalize(vec3_cross(axis, fabsf(axis.x) < 0.7f ? vec3_make(1, 0, 0) : vec3_make(0, 1, 0)));
    vec3 v = vec3_cross(axis, u);
    float x[CONTACT_OUTLINE][2], best = 0;
    int n = outline->count;
    for (int i = 0; i < n; i++) {
        vec3 p = vec3_load(m->positions + 3 * loop[i]);
        x[i][0] = vec3_dot(u, p);
        x[i][1] = vec3_dot(v, p);
    }

    /* of all middles of two points the one with the best view */
    for (int i = 0; i < n; i++)
        for (int j = i + 2; j < n; j++) {
            const float middle[2] = {0.5f * (x[i][0] + x[j][0]), 0.5f * (x[i][1] + x[j][1])};
            float view = outline_view((const float(*)[2])x, n, middle);
            if (!(view > best)) continue;
            best = view;
            outline->centre[0] = loop[i];
            outline->centre[1] = loop[j];
        }

    return best > 0;
}

/* All nodes of the level around a point. Returns their number, 0 when there are too many. */
static int nodes_around(const outliner *o, int p, int *nodes)
{
    const mesh *m = o->b->m;
    int count = 0;
    for (int i = m->point_triangle_first[p]; i < m->point_triangle_first[p + 1]; i++) {
        int node = o->node_of[m->point_triangles[i]];
        if (holds(nodes, count, node)) continue;
        if (count == UNION_NODES) return 0;
        nodes[count++] = node;
    }
    return count;
}

typedef struct outline_lists {
    int_list points; /* of all outlines */
    int_list nodes;  /* of all unions */
    int *others;     /* second nodes of all unions */
    contact_union *unions;
    int union_count;
} outline_lists;

/* Two nodes that share point p: by themselves, or with all that lie around it. */
static bool union_add(outliner *o, int x, int y, int p, outline_lists *lists)
{
    int nodes[UNION_NODES] = {x, y}, count = 2;

    contact_outline outline = {.first = lists->points.count};
    outline.count = outline_find(o, nodes, count, &lists->points);

    /* two that do not close a loop: all nodes around their common point */
    if (outline.count == 0) {
        count = nodes_around(o, p, nodes);
        if (count > 2) outline.count = outline_find(o, nodes, count, &lists->points);
    }
    if (outline.count == 0) return false;

    if (lists->unions) {
        if (!outline_centre(o, nodes, count, lists->points.values + outline.first, &outline)) outline.count = 0;
        lists->others[lists->union_count] = y;
        lists->unions[lists->union_count] =
            (contact_union){.outline = outline, .nodes = lists->nodes.count, .node_count = count};
    }
    lists->union_count++;

    for (int i = 0; i < count; i++) list_add(&lists->nodes, nodes[i]);
    return true;
}

/* Unions of node x with the nodes behind it that share a point with it, and have an outline. */
static void unions_find(outliner *o, int x, outline_lists *lists)
{
    const mesh *m = o->b->m;
    for (int i = o->first[x]; i < o->last[x]; i++)
        for (int c = 0; c < 3; c++) {
            int p = m->triangles[3 * o->b->order[i] + c];
            for (int k = m->point_triangle_first[p]; k < m->point_triangle_first[p + 1]; k++) {
                int y = o->node_of[m->point_triangles[k]];
                if (y > x && o->stamps[y] != x && union_add(o, x, y, p, lists)) o->stamps[y] = x;
            }
        }
}

/* Outlines of all nodes and unions. Two calls: the first counts, the second, with arrays, fills. */
static void outlines_find(outliner *o, outline_lists *lists, contact_outline *outlines, int *union_first)
{
    const tree_builder *b = o->b;

    lists->points.count = lists->nodes.count = lists->union_count = 0;
    int node = 0;
    for (int level = 0; level < b->level_count; level++) {

        /* whose triangle is whose on this level */
        for (int i = node; i < node + b->counts[level]; i++) {
            o->stamps[i] = -1;
            for (int k = o->first[i]; k < o->last[i]; k++) o->node_of[b->order[k]] = i;
        }

        /* outlines of nodes and of two side by side */
        for (int end = node + b->counts[level]; node < end; node++) {
            contact_outline outline = {.first = lists->points.count};
            if (union_first) union_first[node] = lists->union_count;
            if (o->last[node] - o->first[node] <= OUTLINE_TRIANGLES) {
                outline.count = outline_find(o, &node, 1, &lists->points);
                unions_find(o, node, lists);
            }

            if (!outlines) continue;
            const int *loop = lists->points.values + outline.first;
            if (outline.count > 0 && !outline_centre(o, &node, 1, loop, &outline)) outline.count = 0;
            outlines[node] = outline;
        }
    }

    if (union_first) union_first[node] = lists->union_count;
}

static cutis_result outlines_build(contact_surface *surface, tree_builder *b, arena *memory, arena *scratch,
                                   cutis_error *error)
{
    int nodes = surface->node_count;
    outliner o = {.b = b,
                  .node_of = ARENA_ARRAY(scratch, int, b->m->triangle_count),
                  .first = ARENA_ARRAY(scratch, int, nodes + 1),
                  .last = ARENA_ARRAY(scratch, int, nodes + 1),
                  .next = ARENA_ARRAY(scratch, int, b->m->point_count + 1),
                  .stamps = ARENA_ARRAY(scratch, int, nodes)};
    contact_outline *outlines = ARENA_ARRAY(memory, contact_outline, nodes);
    int *union_first = ARENA_ARRAY(memory, int, nodes + 1);
    outline_lists lists = {.union_count = 0};
    if (memory->failed || scratch->failed) return error_memory(error, "the contact surface");

    /* triangles of each node */
    for (int p = 0; p < b->m->point_count; p++) o.next[p] = -1;
    for (int node = 0; node < nodes; node++) {
        bool leaf = node < b->leaf_count;
        o.first[node] = leaf ? b->leaf_first[node] : o.first[surface->child_first[node]];
        o.last[node] = leaf ? b->leaf_first[node + 1] : o.last[surface->child_first[node + 1] - 1];
    }

    /* count, then fill */
    outlines_find(&o, &lists, NULL, NULL);
    lists.points.values = ARENA_ARRAY(memory, int, lists.points.count + CONTACT_OUTLINE);
    lists.nodes.values = ARENA_ARRAY(memory, int, lists.nodes.count + 1);
    lists.others = ARENA_ARRAY(memory, int, lists.union_count + 1);
    lists.unions = ARENA_ARRAY(memory, contact_union, lists.union_count + 1);
    if (memory->failed) return error_memory(error, "the contact surface");
    outlines_find(&o, &lists, outlines, union_first);

    /* hand over */
    surface->outlines = outlines;
    surface->outline_points = lists.points.values;
    surface->union_first = union_first;
    surface->union_others = lists.others;
    surface->unions = lists.unions;
    surface->union_nodes = lists.nodes.values;

    return CUTIS_OK;
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

    /* points of triangles that cross hang together */
    int count = mesh_self_intersections(m, &tree, m->positions, NULL, pairs, limit);
    for (int p = 0; p < m->point_count; p++) {
        parents[p] = p;
        tangle[p] = -1;
    }
    for (int i = 0; i < MIN(count, limit); i++) {
        int root = forest_root(parents, m->triangles[3 * pairs[2 * i]]);
        for (int side = 0; side < 2; side++)
            for (int c = 0; c < 3; c++) {
                int p = m->triangles[3 * pairs[2 * i + side] + c];
                int r = forest_root(parents, p);
                parents[MAX(r, root)] = MIN(r, root);
                root = MIN(r, root);
                tangle[p] = 0;
            }
    }

    /* each by its root */
    for (int p = 0; p < m->point_count; p++)
        if (tangle[p] == 0) tangle[p] = forest_root(parents, p);
    return CUTIS_OK;
}

/* How fine the surface is at each point: the mean length of its edges, and the width of its narrowest triangle. */
static void scales_find(const mesh *m, float edge_mean, float *scales, float *widths)
{
    for (int p = 0; p < m->point_count; p++) {
        float sum = 0;
        int first = m->point_neighbour_first[p], last = m->point_neighbour_first[p + 1];
        for (int i = first; i < last; i++)
            sum += vec3_distance(vec3_load(m->positions + 3 * p), vec3_load(m->positions + 3 * m->point_neighbours[i]));
        scales[p] = last > first ? MIN(sum / (float)(last - first), edge_mean) : 0;
        widths[p] = scales[p];
    }

    /* widths: the smallest height of the triangles around */
    for (int t = 0; t < m->triangle_count; t++) {
        const int *c = m->triangles + 3 * t;
        vec3 sides[3];
        float longest2 = 0;
        for (int i = 0; i < 3; i++) {
            sides[i] = vec3_sub(vec3_load(m->positions + 3 * c[(i + 1) % 3]), vec3_load(m->positions + 3 * c[i]));
            longest2 = MAX(longest2, vec3_length2(sides[i]));
        }

        float width = longest2 > 0 ? vec3_length(vec3_cross(sides[0], sides[1])) / sqrtf(longest2) : 0;
        for (int i = 0; i < 3; i++) widths[c[i]] = MIN(widths[c[i]], width);
    }
}

/* ---- all of it ---- */

static cutis_result tree_build(contact_surface *surface, arena *memory, arena *scratch, cutis_error *error)
{
    const mesh *m = surface->mesh;

    size_t n = (size_t)m->triangle_count;
    tree_builder b = {.m = m,
                      .order = ARENA_ARRAY(scratch, int, n),
                      .leaf_of = ARENA_ARRAY(scratch, int, n),
                      .label = ARENA_ARRAY(scratch, int, n),
                      .clusters = ARENA_ARRAY(scratch, cluster, n),
                      .joints = ARENA_ARRAY(scratch, joint_edge, m->edge_count + 1),
                      .joined = ARENA_ARRAY(scratch, int, n),
                      .singles = ARENA_ARRAY(scratch, int, n)};

    uint8_t *owned = ARENA_ARRAY(scratch, uint8_t, n), *leaf_owned = ARENA_ARRAY(memory, uint8_t, n);
    int *corners = ARENA_ARRAY(memory, int, 3 * (n + CONTACT_LEAF)), *firsts = ARENA_ARRAY(scratch, int, n + 1);

    /* clusters of triangles, joined bottom up */
    if (memory->failed || scratch->failed || !levels_build(&b, scratch))
        return error_memory(error, "the contact surface");
    surface->leaf_count = b.leaf_count;
    surface->block_count = b.counts[b.level_count - 1];

    /* nodes, level by level */
    for (int level = 0; level < b.level_count; level++) surface->node_count += b.counts[level];
    int *child_first = ARENA_ARRAY(memory, int, surface->node_count + 1);
    b.leaf_first = ARENA_ARRAY(memory, int, b.leaf_count + 1);
    if (memory->failed) return error_memory(error, "the contact surface");
    levels_order(&b, surface, child_first, b.joined, b.singles, firsts);

    /* triangles in the order of the leaves */
    owners_assign(m, owned);
    for (int i = 0; i < m->triangle_count; i++) {
        leaf_owned[i] = owned[b.order[i]];
        for (int c = 0; c < 3; c++) corners[3 * i + c] = m->triangles[3 * b.order[i] + c];
    }

    /* hand over */
    surface->child_first = child_first;
    surface->leaf_first = b.leaf_first;
    surface->corners = corners;
    surface->owned = leaf_owned;

    return outlines_build(surface, &b, memory, scratch, error);
}

cutis_result contact_surface_build(contact_surface *surface, const mesh *m, arena *memory,
                                   const cutis_allocator *allocator, cutis_error *error)
{
    *surface = (contact_surface){.mesh = m};
    int *tangle = ARENA_ARRAY(memory, int, m->point_count + 1);
    float *scales = ARENA_ARRAY(memory, float, m->point_count + 1);
    float *widths = ARENA_ARRAY(memory, float, m->point_count + 1);
    if (memory->failed) return error_memory(error, "the contact surface");

    surface->tangle = tangle;
    surface->scales = scales;
    surface->widths = widths;
    if (m->triangle_count == 0) return CUTIS_OK;

    /* mean edge length */
    double length = 0;
    for (int e = 0; e < m->edge_count; e++)
        length += vec3_distance(vec3_load(m->positions + 3 * m->edges[2 * e]),
                                vec3_load(m->positions + 3 * m->edges[2 * e + 1]));
    surface->edge_mean = m->edge_count > 0 ? (float)(length / m->edge_count) : 0;
    scales_find(m, surface->edge_mean, scales, widths);

    /* hierarchy, and groups that cross at rest */
    arena scratch = arena_create(allocator);
    cutis_result result = tree_build(surface, memory, &scratch, error);
    if (result == CUTIS_OK) result = tangles_find(m, tangle, &scratch, error);
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

    /* bounds */
    w.nodes = carve(memory, used, (size_t)surface->node_count * CONTACT_BOUND * sizeof(float));
    w.triangles = carve(memory, used, (triangles + CONTACT_LEAF) * CONTACT_BOUND * sizeof(float));
    w.shape_stride = (int)triangles + 2 * CONTACT_LEAF;
    w.shapes = carve(memory, used, (size_t)w.shape_stride * CONTACT_SHAPE * sizeof(float));
    w.starts = carve(memory, used, points * 4 * sizeof(float));
    w.ends = carve(memory, used, points * 4 * sizeof(float));

    /* blocks, zones and motions */
    w.block_counts = carve(memory, used, (size_t)surface->block_count * sizeof(contact_block));
    w.zones = carve(memory, used, points * sizeof(int));
    w.zone_data = carve(memory, used, points * 16 * sizeof(float));
    w.saved = carve(memory, used, points * 3 * sizeof(float));
    w.wishes = carve(memory, used, points * 3 * sizeof(float));
    w.marks = carve(memory, used, points);
    w.node_marks = carve(memory, used, (size_t)surface->node_count);

    /* pairs */
    w.times = carve(memory, used, (size_t)w.pair_capacity * sizeof(float));
    w.kept_capacity = 4 * surface->mesh->point_count;
    w.kept = carve(memory, used, (size_t)w.kept_capacity * sizeof(contact_pair));
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
