/*
 * bvh.c: a tree of boxes over triangles: built once by the surface area heuristic, refitted as points move.
 *
 * Build: Wald 2007, "On fast construction of SAH-based bounding volume hierarchies", with 16 bins an axis.
 * Below MAX_SAH_DEPTH levels a node is cut at its median instead, which bounds the depth whatever the input,
 * so that every traversal has a stack of fixed size.
 *
 * Rays: the watertight test of Woop, Benthin and Wald 2013, in double: the signs of a shared edge agree in
 * both triangles, so that no ray slips through between them. Counts also have to be right when a ray goes
 * exactly through an edge or a point: there an edge belongs to only one side of it, as if the ray had been
 * moved a little, always in the same direction.
 */
#include "mesh/mesh.h"

#include <assert.h>
#include <string.h>

#include "math/simd.h"

enum {
    LEAF_SIZE = 4,      /* triangles that a leaf may hold; more make a shallower tree with looser boxes */
    BIN_COUNT = 16,     /* candidate cuts an axis; more change the tree little */
    MAX_SAH_DEPTH = 48, /* with the 31 halvings that may follow: at most 79 levels */
    STACK_SIZE = 96,
    PAIR_STACK_SIZE = 3 * 2 * STACK_SIZE /* a pair goes down one of its sides a step, and leaves two behind */
};

typedef struct box {
    float min[3], max[3];
} box;

static inline box box_empty(void) { return (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}; }

static inline void box_add_point(box *b, const float *p)
{
    for (int k = 0; k < 3; k++) {
        b->min[k] = p[k] < b->min[k] ? p[k] : b->min[k];
        b->max[k] = p[k] > b->max[k] ? p[k] : b->max[k];
    }
}

static inline void box_add(box *b, const float *min, const float *max)
{
    for (int k = 0; k < 3; k++) {
        b->min[k] = min[k] < b->min[k] ? min[k] : b->min[k];
        b->max[k] = max[k] > b->max[k] ? max[k] : b->max[k];
    }
}

/* Half the surface; 0 for an empty box. */
static inline float box_area(const box *b)
{
    float x = b->max[0] - b->min[0], y = b->max[1] - b->min[1], z = b->max[2] - b->min[2];
    return x < 0 ? 0 : x * y + y * z + z * x;
}

static inline void box_add_triangle(box *b, const int *corner, const float *positions)
{
    for (int k = 0; k < 3; k++) box_add_point(b, positions + 3 * (size_t)corner[k]);
}

/* ---- build ---- */

/*
 * A box while the tree is built: the lowest corner, then the highest one negated, so that one row of minima unites two
 * boxes. Lanes 3 and 7 are not used.
 */
typedef struct span {
    float v[8];
} span;

static inline span span_empty(void)
{
    return (span){{INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY}};
}

static inline void span_add(span *s, const span *other)
{
    for (int k = 0; k < 8; k += LANES) v_store(s->v + k, v_min(v_load(other->v + k), v_load(s->v + k)));
}

/* Half the surface; 0 for an empty box. */
static inline float span_area(const span *s)
{
    float x = -s->v[4] - s->v[0];
    float y = -s->v[5] - s->v[1];
    float z = -s->v[6] - s->v[2];
    return x < 0 ? 0 : x * y + y * z + z * x;
}

/* The doubled centre, as a box. */
static inline span span_centre(const span *s)
{
    span c;
    for (int k = 0; k < 4; k++) {
        c.v[k] = s->v[k] - s->v[k + 4];
        c.v[k + 4] = -c.v[k];
    }
    return c;
}

/* A node that waits: its box, and that of the doubled centres of its triangles. */
typedef struct build_entry {
    int node, depth;
    span bounds, centres;
} build_entry;

/* The cheapest cut so far. */
typedef struct split {
    int axis; /* -1: no cut is better than a leaf */
    int bin;  /* triangles in bins below this go left */
    float cost;
} split;

/* The bin of a box by its doubled centre; safe for any value. */
static inline int split_bin(const span *s, int axis, float low, float scale)
{
    float x = (s->v[axis] - s->v[axis + 4] - low) * scale;
    return !(x > 0) ? 0 : x >= BIN_COUNT ? BIN_COUNT - 1 : (int)x;
}

/* Bins an axis; 0 when the centres lie in a plane across it. */
static inline float split_scale(const build_entry *e, int axis)
{
    float extent = -e->centres.v[axis + 4] - e->centres.v[axis];
    float scale = BIN_COUNT / extent;
    return extent > 0 && scale < INFINITY ? scale : 0;
}

/*
 * Cuts between groups of triangles along an axis, each group with its bin, count and box, by rising bin: area times
 * count of all groups from one on, then the same from the left; the cheapest sum wins.
 */
static void split_groups(int axis, int group_count, const int *bins, const int *counts, const span *groups, split *best)
{
    float right_cost[BIN_COUNT];
    span side = span_empty();
    int side_count = 0;
    for (int g = group_count - 1; g > 0; g--) {
        span_add(&side, &groups[g]);
        side_count += counts[g];
        right_cost[g] = span_area(&side) * (float)side_count;
    }

    side = span_empty();
    side_count = 0;
    for (int g = 1; g < group_count; g++) {
        span_add(&side, &groups[g - 1]);
        side_count += counts[g - 1];
        float cost = span_area(&side) * (float)side_count + right_cost[g];
        if (cost < best->cost) *best = (split){axis, bins[g], cost};
    }
}

/* The groups of a few triangles, sorted by their bins. */
static int groups_sort(const span *boxes, int count, int axis, float low, float scale, int *bins, int *counts,
                       span *groups)
{
    int group_count = 0;
    for (int i = 0; i < count; i++) {
        int bin = split_bin(&boxes[i], axis, low, scale);
        int g = group_count;
        while (g > 0 && bins[g - 1] >= bin) g--;
        if (g == group_count || bins[g] != bin) {
            for (int k = group_count++; k > g; k--) {
                bins[k] = bins[k - 1];
                counts[k] = counts[k - 1];
                groups[k] = groups[k - 1];
            }
            bins[g] = bin;
            counts[g] = 0;
            groups[g] = span_empty();
        }
        counts[g]++;
        span_add(&groups[g], &boxes[i]);
    }
    return group_count;
}

/* The groups of many triangles: bins that hold any. */
static int groups_count(const span *boxes, int count, int axis, float low, float scale, int *bins, int *counts,
                        span *groups)
{
    for (int b = 0; b < BIN_COUNT; b++) {
        groups[b] = span_empty();
        counts[b] = 0;
    }
    for (int i = 0; i < count; i++) {
        int bin = split_bin(&boxes[i], axis, low, scale);
        span_add(&groups[bin], &boxes[i]);
        counts[bin]++;
    }

    /* without the empty ones */
    int group_count = 0;
    for (int b = 0; b < BIN_COUNT; b++) {
        if (counts[b] == 0) continue;
        bins[group_count] = b;
        counts[group_count] = counts[b];
        groups[group_count++] = groups[b];
    }
    return group_count;
}

static split split_find(const span *boxes, int count, const build_entry *e)
{
    /* a leaf costs its triangles */
    split best = {-1, 0, count <= LEAF_SIZE ? (float)(count - 1) * span_area(&e->bounds) : INFINITY};

    /* the cheapest cut of all axes */
    for (int axis = 0; axis < 3; axis++) {
        float low = e->centres.v[axis];
        float scale = split_scale(e, axis);
        if (!(scale > 0)) continue;

        int bins[BIN_COUNT];
        int counts[BIN_COUNT];
        span groups[BIN_COUNT];
        int group_count = count <= BIN_COUNT / 2 ? groups_sort(boxes, count, axis, low, scale, bins, counts, groups)
                                                 : groups_count(boxes, count, axis, low, scale, bins, counts, groups);
        split_groups(axis, group_count, bins, counts, groups, &best);
    }
    return best;
}

/* Boxes and numbers of the triangles, in the order of the leaves, and room for as many. */
typedef struct build_lists {
    span *boxes, *spare_boxes;
    int *spare;
} build_lists;

/* Move the triangles of lower bins to the front, or the first half without a cut; children get their boxes. */
static int split_apply(const split *s, const build_entry *e, span *boxes, int *order, int count,
                       const build_lists *lists, build_entry children[2])
{
    float low = s->axis < 0 ? 0 : e->centres.v[s->axis];
    float scale = s->axis < 0 ? 0 : split_scale(e, s->axis);
    int left = 0;
    int right = 0;
    for (int k = 0; k < 2; k++) children[k].bounds = children[k].centres = span_empty();

    /* stable, with the spare lists for the right ones */
    for (int i = 0; i < count; i++) {
        span own = boxes[i];
        span centre = span_centre(&own);
        bool first = s->axis < 0 ? i < count / 2 : split_bin(&own, s->axis, low, scale) < s->bin;
        build_entry *child = &children[first ? 0 : 1];
        span_add(&child->bounds, &own);
        span_add(&child->centres, &centre);
        if (first) {
            order[left] = order[i];
            boxes[left++] = own;
        } else {
            lists->spare[right] = order[i];
            lists->spare_boxes[right++] = own;
        }
    }

    memcpy(order + left, lists->spare, (size_t)right * sizeof *order);
    memcpy(boxes + left, lists->spare_boxes, (size_t)right * sizeof *boxes);
    return left;
}

static void tree_build(bvh *tree, const build_lists *lists)
{
    build_entry stack[STACK_SIZE];
    int stacked = 0;

    build_entry root = {0, 0, span_empty(), span_empty()};
    for (int t = 0; t < tree->triangle_count; t++) {
        span centre = span_centre(&lists->boxes[t]);
        span_add(&root.bounds, &lists->boxes[t]);
        span_add(&root.centres, &centre);
    }
    stack[stacked++] = root;
    tree->nodes[0] = (bvh_node){.first = 0, .count = tree->triangle_count};
    tree->node_count = 1;

    while (stacked > 0) {
        build_entry entry = stack[--stacked];
        bvh_node *node = tree->nodes + entry.node;
        int *order = tree->order + node->first;
        span *boxes = lists->boxes + node->first;
        int count = node->count;
        for (int k = 0; k < 3; k++) {
            node->min[k] = entry.bounds.v[k];
            node->max[k] = -entry.bounds.v[k + 4];
        }
        if (count == 1) continue;

        /* Cut by the heuristic; in the middle of the list when all centres coincide or the tree gets deep. */
        split s = {.axis = -1};
        if (entry.depth < MAX_SAH_DEPTH) s = split_find(boxes, count, &entry);
        if (s.axis < 0 && count <= LEAF_SIZE) continue;
        build_entry children[2];
        int left = split_apply(&s, &entry, boxes, order, count, lists, children);

        /* the two halves, left first */
        int child = tree->node_count;
        tree->node_count += 2;
        tree->nodes[child] = (bvh_node){.first = node->first, .count = left};
        tree->nodes[child + 1] = (bvh_node){.first = node->first + left, .count = count - left};

        node->first = child;
        node->count = 0;
        for (int k = 1; k >= 0; k--) {
            children[k].node = child + k;
            children[k].depth = entry.depth + 1;
            stack[stacked++] = children[k];
        }
    }
}

cutis_result bvh_build(bvh *tree, int triangle_count, const int *triangles, const float *positions, arena *memory,
                       cutis_error *error)
{
    assert(triangle_count >= 0 && triangle_count <= INT32_MAX / 6);
    *tree = (bvh){.triangle_count = triangle_count, .triangles = triangles};
    if (triangle_count == 0) return CUTIS_OK;

    /* the tree stays, boxes of triangles and spare lists go */
    size_t count = (size_t)triangle_count;
    tree->nodes = ARENA_ARRAY(memory, bvh_node, 2 * count - 1);
    tree->order = ARENA_ARRAY(memory, int, count);
    build_lists lists = {.boxes = memory_allocate(&memory->allocator, 2 * count, sizeof *lists.boxes),
                         .spare = memory_allocate(&memory->allocator, count, sizeof *lists.spare)};
    bool ok = tree->nodes && tree->order && lists.boxes && lists.spare;

    /* from the root down */
    if (ok) {
        lists.spare_boxes = lists.boxes + count;
        for (int t = 0; t < triangle_count; t++) {
            box b = box_empty();
            box_add_triangle(&b, triangles + 3 * (size_t)t, positions);
            tree->order[t] = t;
            lists.boxes[t] = (span){{b.min[0], b.min[1], b.min[2], 0, -b.max[0], -b.max[1], -b.max[2], 0}};
        }
        tree_build(tree, &lists);
    }
    memory_release(&memory->allocator, lists.spare, count, sizeof *lists.spare);
    memory_release(&memory->allocator, lists.boxes, 2 * count, sizeof *lists.boxes);
    return ok ? CUTIS_OK : error_memory(error, "the tree of boxes");
}

void bvh_refit(bvh *tree, const float *positions, float margin)
{
    /* from the leaves to the root: children stand behind their parents */
    for (int n = tree->node_count - 1; n >= 0; n--) {
        bvh_node *node = tree->nodes + n;
        box b = box_empty();
        if (node->count > 0) {
            for (int i = 0; i < node->count; i++)
                box_add_triangle(&b, tree->triangles + 3 * (size_t)tree->order[node->first + i], positions);
            for (int k = 0; k < 3; k++) {
                b.min[k] -= margin;
                b.max[k] += margin;
            }
        } else {
            const bvh_node *child = tree->nodes + node->first;
            box_add(&b, child[0].min, child[0].max);
            box_add(&b, child[1].min, child[1].max);
        }
        memcpy(node->min, b.min, sizeof node->min);
        memcpy(node->max, b.max, sizeof node->max);
    }
}

/* ---- rays ---- */

typedef struct ray {
    double origin[3], inverse[3]; /* 1 / direction, infinite where it is 0 */
    int negative[3];              /* the direction runs down this axis */
    int kx, ky, kz;               /* axes turned so that z is the direction's largest */
    double sx, sy, sz;            /* shear and scale that make the direction (0, 0, 1) */
} ray;

static bool ray_prepare(ray *r, vec3 origin, vec3 direction)
{
    /* the longest axis of the direction is z */
    double d[3] = {direction.x, direction.y, direction.z};

    r->origin[0] = origin.x;
    r->origin[1] = origin.y;
    r->origin[2] = origin.z;
    r->kz = fabs(d[0]) > fabs(d[1]) ? (fabs(d[0]) > fabs(d[2]) ? 0 : 2) : (fabs(d[1]) > fabs(d[2]) ? 1 : 2);
    if (!(fabs(d[r->kz]) > 0)) return false;

    r->kx = (r->kz + 1) % 3;
    r->ky = (r->kz + 2) % 3;

    /* keep the sense of rotation */
    if (d[r->kz] < 0) {
        int swap = r->kx;
        r->kx = r->ky;
        r->ky = swap;
    }

    /* shear to a ray along z */
    r->sx = d[r->kx] / d[r->kz];
    r->sy = d[r->ky] / d[r->kz];
    r->sz = 1 / d[r->kz];

    /* slabs of boxes */
    for (int k = 0; k < 3; k++) {
        r->inverse[k] = d[k] == 0 ? INFINITY : 1 / d[k]; /* also of -0, so that it fits `negative` */
        r->negative[k] = d[k] < 0;
    }

    return true;
}

/*
 * Whether the ray meets the box within t0..t1, and from where on. Where the direction has no component and
 * the origin lies on the box's side, 0 x infinity gives NaN, which the order of the comparisons ignores.
 */
static inline bool ray_box(const ray *r, const bvh_node *node, double t0, double t1, double *entry)
{
    for (int k = 0; k < 3; k++) {
        double low = (node->min[k] - r->origin[k]) * r->inverse[k];
        double high = (node->max[k] - r->origin[k]) * r->inverse[k];
        double near = r->negative[k] ? high : low, far = r->negative[k] ? low : high;
        t0 = near > t0 ? near : t0;
        t1 = far < t1 ? far : t1;
    }

    *entry = t0;

    /* Within a few roundings. The test fails for t0 or -t1 infinite, a box beside a ray along an axis. */
    return t0 - t1 <= (fabs(t1) < INFINITY ? 1e-14 * fabs(t1) : 0);
}

/* For counts, an edge on the ray belongs to the side that its direction tells. */
static inline bool edge_owned(const double from[3], const double to[3], double facing)
{
    double dx = (to[0] - from[0]) * facing, dy = (to[1] - from[1]) * facing;
    return dy < 0 || (dy == 0 && dx > 0);
}

/*
 * +1 when the ray leaves through the triangle (its normal points along the ray), -1 when it enters, 0 when it
 * misses. t and the weights of corners 1 and 2 are given for a hit. With `owned`, edges count for one side only.
 */
static inline int ray_triangle(const ray *r, const int *corner, const float *positions, bool owned, double *t,
                               double *u, double *v)
{
    /* the triangle as the ray sees it */
    double p[3][3];
    for (int i = 0; i < 3; i++) {
        const float *q = positions + 3 * (size_t)corner[i];
        double z = q[r->kz] - r->origin[r->kz];
        p[i][0] = (q[r->kx] - r->origin[r->kx]) - r->sx * z;
        p[i][1] = (q[r->ky] - r->origin[r->ky]) - r->sy * z;
        p[i][2] = r->sz * z;
    }

    /* Edge functions opposite each corner: twice the areas as seen along the ray. */
    double w[3];
    for (int i = 0; i < 3; i++) {
        const double *a = p[(i + 1) % 3], *b = p[(i + 2) % 3];
        w[i] = a[0] * b[1] - a[1] * b[0];
    }
    if ((w[0] < 0 || w[1] < 0 || w[2] < 0) && (w[0] > 0 || w[1] > 0 || w[2] > 0)) return 0;

    double sum = w[0] + w[1] + w[2];
    if (sum == 0) return 0;

    /* a shared edge is counted for one of its triangles */
    if (owned) {
        for (int i = 0; i < 3; i++)
            if (w[i] == 0 && !edge_owned(p[(i + 1) % 3], p[(i + 2) % 3], sum > 0 ? 1 : -1)) return 0;
    }

    /* where it is met */
    *t = (w[0] * p[0][2] + w[1] * p[1][2] + w[2] * p[2][2]) / sum;
    *u = w[1] / sum;
    *v = w[2] / sum;

    return sum > 0 ? 1 : -1;
}

bvh_hit bvh_ray(const bvh *tree, const float *positions, vec3 origin, vec3 direction, float t_min, float t_max)
{
    bvh_hit hit = {.triangle = -1, .distance = t_max};
    ray r;
    double best = t_max, entry;

    if (tree->node_count == 0 || !ray_prepare(&r, origin, direction)) return hit;
    if (!ray_box(&r, tree->nodes, t_min, best, &entry)) return hit;

    /* nearest box first */
    struct {
        int node;
        double entry;
    } stack[STACK_SIZE];

    int stacked = 0;
    stack[stacked].node = 0;
    stack[stacked++].entry = entry;
    double best_u = 0, best_v = 0;

    while (stacked > 0) {
        stacked--;
        if (stack[stacked].entry > best) continue;
        const bvh_node *node = tree->nodes + stack[stacked].node;

        if (node->count > 0) {
            for (int i = 0; i < node->count; i++) {
                int triangle = tree->order[node->first + i];
                double t, u, v;
                if (!ray_triangle(&r, tree->triangles + 3 * (size_t)triangle, positions, false, &t, &u, &v)) continue;

                if (t < t_min || t > best || (t == best && hit.triangle >= 0 && triangle > hit.triangle)) continue;
                best = t;
                best_u = u;
                best_v = v;
                hit.triangle = triangle;
            }
            continue;
        }

        /* The nearer child is taken first. */
        int left = node->first;
        double entries[2];
        bool met[2];
        for (int c = 0; c < 2; c++) met[c] = ray_box(&r, tree->nodes + left + c, t_min, best, &entries[c]);

        int first = met[0] && met[1] && entries[1] < entries[0] ? 1 : 0;
        for (int c = 1; c >= 0; c--) {
            int side = c ^ first;
            if (!met[side]) continue;
            stack[stacked].node = left + side;
            stack[stacked++].entry = entries[side];
        }
    }

    /* the hit in floats */
    if (hit.triangle >= 0) {
        hit.distance = (float)best;
        hit.u = (float)best_u;
        hit.v = (float)best_v;
        hit.point = vec3_madd(origin, direction, hit.distance);
    }

    return hit;
}

/* Triangles met by the ray from its origin on, but `skip`: their number, and exits less entries. */
static void ray_crossings(const bvh *tree, const float *positions, vec3 origin, vec3 direction, int skip, int *count,
                          int *exits)
{
    *count = *exits = 0;
    ray r;
    double entry;
    if (tree->node_count == 0 || !ray_prepare(&r, origin, direction)) return;

    /* every box on the way */
    int stack[STACK_SIZE], stacked = 0;
    stack[stacked++] = 0;

    while (stacked > 0) {
        const bvh_node *node = tree->nodes + stack[--stacked];
        if (!ray_box(&r, node, 0, INFINITY, &entry)) continue;

        /* an inner node: both children */
        if (node->count == 0) {
            stack[stacked++] = node->first + 1;
            stack[stacked++] = node->first;
            continue;
        }

        for (int i = 0; i < node->count; i++) {
            int triangle = tree->order[node->first + i];
            double t, u, v;
            if (triangle == skip) continue;
            int side = ray_triangle(&r, tree->triangles + 3 * (size_t)triangle, positions, true, &t, &u, &v);
            if (side == 0 || t < 0) continue;
            (*count)++;
            *exits += side;
        }
    }
}

int bvh_ray_count(const bvh *tree, const float *positions, vec3 origin, vec3 direction)
{
    int count, exits;
    ray_crossings(tree, positions, origin, direction, -1, &count, &exits);
    return count;
}

int bvh_ray_winding(const bvh *tree, const float *positions, vec3 origin, vec3 direction, int skip)
{
    int count, exits;
    ray_crossings(tree, positions, origin, direction, skip, &count, &exits);
    return exits;
}

/* ---- nearest point ---- */

static inline float box_distance2(const bvh_node *node, const float *p)
{
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        float below = node->min[k] - p[k], above = p[k] - node->max[k];
        float d = below > above ? below : above;
        if (d > 0) sum += d * d;
    }
    return sum;
}

bvh_hit bvh_closest_labelled(const bvh *tree, const float *positions, vec3 p, float max_distance, const int *labels,
                             int skip_label)
{
    bvh_hit hit = {.triangle = -1, .distance = max_distance};
    if (tree->node_count == 0) return hit;

    /* from the root */
    float at[3] = {p.x, p.y, p.z};
    float best = max_distance * max_distance;

    /* nearest box first */
    struct {
        int node;
        float distance2;
    } stack[STACK_SIZE];

    int stacked = 0;
    stack[stacked].node = 0;
    stack[stacked++].distance2 = box_distance2(tree->nodes, at);

    while (stacked > 0) {
        stacked--;
        if (stack[stacked].distance2 > best) continue;
        const bvh_node *node = tree->nodes + stack[stacked].node;

        if (node->count > 0) {
            for (int i = 0; i < node->count; i++) {
                int triangle = tree->order[node->first + i];
                if (labels && labels[triangle] == skip_label) continue;
                const int *corner = tree->triangles + 3 * (size_t)triangle;
                float weights[3];
                vec3 q = triangle_closest(p, vec3_load(positions + 3 * (size_t)corner[0]),
                                          vec3_load(positions + 3 * (size_t)corner[1]),
                                          vec3_load(positions + 3 * (size_t)corner[2]), weights);

                float distance2 = vec3_length2(vec3_sub(p, q));
                if (distance2 > best || (distance2 == best && hit.triangle >= 0 && triangle > hit.triangle)) continue;
                best = distance2;
                hit = (bvh_hit){triangle, 0, weights[1], weights[2], q};
            }
            continue;
        }

        /* The nearer child is taken first. */
        int left = node->first;
        float distances[2] = {box_distance2(tree->nodes + left, at), box_distance2(tree->nodes + left + 1, at)};
        int first = distances[1] < distances[0] ? 1 : 0;

        for (int c = 1; c >= 0; c--) {
            int side = c ^ first;
            if (distances[side] > best) continue;
            stack[stacked].node = left + side;
            stack[stacked++].distance2 = distances[side];
        }
    }

    if (hit.triangle >= 0) hit.distance = sqrtf(best);
    return hit;
}

bvh_hit bvh_closest(const bvh *tree, const float *positions, vec3 p, float max_distance)
{
    return bvh_closest_labelled(tree, positions, p, max_distance, NULL, 0);
}

/* ---- overlaps ---- */

static inline bool boxes_overlap(const float *a_min, const float *a_max, const float *b_min, const float *b_max)
{
    return a_min[0] <= b_max[0] && b_min[0] <= a_max[0] && a_min[1] <= b_max[1] && b_min[1] <= a_max[1] &&
           a_min[2] <= b_max[2] && b_min[2] <= a_max[2];
}

void bvh_overlap(const bvh *tree, vec3 box_min, vec3 box_max, bool (*visit)(void *context, int triangle), void *context)
{
    if (tree->node_count == 0) return;
    float low[3] = {box_min.x, box_min.y, box_min.z}, high[3] = {box_max.x, box_max.y, box_max.z};
    int stack[STACK_SIZE], stacked = 0;

    stack[stacked++] = 0;
    while (stacked > 0) {
        const bvh_node *node = tree->nodes + stack[--stacked];
        if (!boxes_overlap(node->min, node->max, low, high)) continue;

        if (node->count == 0) {
            stack[stacked++] = node->first + 1;
            stack[stacked++] = node->first;
            continue;
        }

        for (int i = 0; i < node->count; i++)
            if (!visit(context, tree->order[node->first + i])) return;
    }
}

/*
 * Replace a pair of overlapping nodes by the pairs of children that overlap: up to three. 0 when both are
 * leaves (`*leaves`), or when nothing overlaps.
 */
static int pair_expand(const bvh *tree, bvh_pair pair, bvh_pair children[3], bool *leaves)
{
    /* two leaves are ready */
    const bvh_node *a = tree->nodes + pair.a, *b = tree->nodes + pair.b;

    *leaves = a->count > 0 && b->count > 0;
    if (*leaves) return 0;

    /* a node with itself */
    if (pair.a == pair.b) {
        int left = a->first;
        children[0] = (bvh_pair){left, left};
        children[1] = (bvh_pair){left + 1, left + 1};
        children[2] = (bvh_pair){left, left + 1};
        const bvh_node *l = tree->nodes + left;
        return boxes_overlap(l[0].min, l[0].max, l[1].min, l[1].max) ? 3 : 2;
    }

    /* Go down in the larger of the two. */
    box box_a, box_b;
    memcpy(box_a.min, a->min, sizeof box_a.min), memcpy(box_a.max, a->max, sizeof box_a.max);
    memcpy(box_b.min, b->min, sizeof box_b.min), memcpy(box_b.max, b->max, sizeof box_b.max);

    bool down_a = b->count > 0 || (a->count == 0 && box_area(&box_a) > box_area(&box_b));
    const bvh_node *kept = down_a ? b : a;
    int count = 0, left = down_a ? a->first : b->first;
    for (int c = 0; c < 2; c++) {
        const bvh_node *child = tree->nodes + left + c;
        if (boxes_overlap(child->min, child->max, kept->min, kept->max))
            children[count++] = down_a ? (bvh_pair){left + c, pair.b} : (bvh_pair){pair.a, left + c};
    }

    return count;
}

void bvh_pair_visit(const bvh *tree, bvh_pair pair, void (*visit)(void *context, int a, int b), void *context)
{
    bvh_pair stack[PAIR_STACK_SIZE];
    int stacked = 0;

    stack[stacked++] = pair;
    while (stacked > 0) {
        /* down to pairs of leaves */
        bvh_pair top = stack[--stacked], children[3];
        bool leaves;
        int count = pair_expand(tree, top, children, &leaves);
        for (int c = count - 1; c >= 0; c--) stack[stacked++] = children[c];
        if (!leaves) continue;

        const bvh_node *a = tree->nodes + top.a, *b = tree->nodes + top.b;
        for (int i = 0; i < a->count; i++) {
            for (int j = top.a == top.b ? i + 1 : 0; j < b->count; j++) {
                int s = tree->order[a->first + i], t = tree->order[b->first + j];
                visit(context, MIN(s, t), MAX(s, t));
            }
        }
    }
}

int bvh_pair_tasks(const bvh *tree, bvh_pair *tasks, int limit)
{
    assert(limit >= 3);
    if (tree->node_count == 0) return 0;

    /* Expand the tasks in turn until there are enough, children where their pair was; a pair of leaves stays. */
    int count = 0;
    tasks[count++] = (bvh_pair){0, 0};
    for (bool grown = true; grown && count + 2 <= limit;) {
        grown = false;
        for (int i = 0; i < count && count + 2 <= limit;) {
            bvh_pair children[3];
            bool leaves;
            int child_count = pair_expand(tree, tasks[i], children, &leaves);
            if (leaves) {
                i++;
                continue;
            }

            memmove(tasks + i + child_count, tasks + i + 1, (size_t)(count - i - 1) * sizeof *tasks);
            memcpy(tasks + i, children, (size_t)child_count * sizeof *tasks);
            count += child_count - 1;
            i += child_count;
            grown |= child_count > 0;
        }
    }

    return count;
}

void bvh_self_pairs(const bvh *tree, void (*visit)(void *context, int a, int b), void *context)
{
    if (tree->node_count > 0) bvh_pair_visit(tree, (bvh_pair){0, 0}, visit, context);
}
