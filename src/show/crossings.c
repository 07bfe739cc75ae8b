/*
 * crossings.c: takes shallow crossings out of the drawn mesh of a frame (see crossings.h).
 *
 * Along the axis on which two crossing triangles overlap least, points of both are taken back until there is a gap:
 * Gauss-Seidel over all pairs, in passes, of which all but the first look only at triangles that the one before has
 * moved. The more they overlap, the less of it is done, down to nothing: so what is shown changes smoothly
 * with the pose, and what lies deep in other flesh stays there.
 */
#include "show/crossings.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Few crossings are left after this many passes, and more passes take no more away. */
enum { PASSES = 8 };
/* Parts that the first pass is cut into, for threads; results do not depend on it. */
enum { PARTS = 64 };
/* Overlap from which on a pair is left alone, over the longest edge of the two triangles. */
static const float DEEP = 0.1f;
/* Distance at which parted triangles are left, and the way that a point may go, over the size of the frame. */
static const float GAP = 3e-4f, MOVE_MOST = 0.01f;
/* Points within this of where linear skinning has them, over the size, are not flesh, and stay. */
static const float STAY = 1e-6f;

/* ---- build ---- */

static int compare_pairs(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

cutis_result crossings_build(crossing_repair *r, const mesh *m, const cutis_jobs *jobs, arena *memory,
                             cutis_error *error)
{
    *r = (crossing_repair){0};
    if (m->triangle_count == 0) return CUTIS_OK;
    cutis_result result = bvh_build(&r->tree, m->triangle_count, m->triangles, m->positions, memory, error);
    if (result) return result;

    /* what crosses at rest */
    r->rest_count = mesh_self_intersections(m, &r->tree, m->positions, jobs, NULL, 0);
    int *rest = ARENA_ARRAY(memory, int, 2 * (size_t)MAX(r->rest_count, 1));
    if (!rest) return error_memory(error, "crossings of the drawn mesh");
    mesh_self_intersections(m, &r->tree, m->positions, jobs, rest, r->rest_count);
    qsort(rest, (size_t)r->rest_count, 2 * sizeof(int), compare_pairs);

    r->rest = rest;
    r->mesh = m;
    return CUTIS_OK;
}

size_t crossings_scratch_count(const crossing_repair *r)
{
    if (!r->mesh) return 0;
    return (size_t)r->tree.node_count * sizeof(bvh_node) / sizeof(float) + 5 * (size_t)r->mesh->point_count;
}

/* ---- a frame ---- */

typedef struct crossing_work {
    const crossing_repair *repair;
    const float *skinned;
    float size;
    float *points;
    float *start;      /* (point_count x 3) points before */
    int *moved, *last; /* (point_count) 1: by this pass, and by the one before */
    float furthest;    /* way that any point has gone */
    vec3 low, high;    /* box of where the points that have gone were before */
    int triangle;      /* that a search is for */
} crossing_work;

/* Whether any corner of a triangle has a mark. */
static bool has_mark(const int *corners, const int *marks)
{
    return marks[corners[0]] || marks[corners[1]] || marks[corners[2]];
}

/* Whether a triangle is flesh: all its corners are elsewhere than skinning has them. */
static bool is_flesh(const crossing_work *w, const int *corners)
{
    for (int k = 0; k < 3; k++) {
        size_t at = 3 * (size_t)corners[k];
        if (vec3_distance(vec3_load(w->start + at), vec3_load(w->skinned + at)) <= STAY * w->size) return false;
    }
    return true;
}

/* Whether a pair that crosses is to be parted, not left as it is modelled. */
static bool is_wrong(const crossing_work *w, const int pair[2], const int *a, const int *b)
{
    const crossing_repair *r = w->repair;
    bool known = r->mesh->point_component[a[0]] != r->mesh->point_component[b[0]] ||
                 bsearch(pair, r->rest, (size_t)r->rest_count, 2 * sizeof(int), compare_pairs);
    return !known || mesh_triangles_relate(a, b, w->skinned) != TRIANGLES_CROSS;
}

/* Corners of a triangle a part of the way to no lower than `level` along the axis. */
static void corners_raise(crossing_work *w, const int *corners, const vec3 x[3], vec3 axis, float level, float part)
{
    float most = MOVE_MOST * w->size;
    for (int k = 0; k < 3; k++) {
        float rise = level - vec3_dot(axis, x[k]);
        if (!(rise > 0)) continue;

        /* no further from where it was than allowed */
        vec3 start = vec3_load(w->start + 3 * (size_t)corners[k]);
        vec3 way = vec3_sub(vec3_madd(x[k], axis, part * rise), start);
        float length = vec3_length(way);
        w->furthest = MAX(w->furthest, MIN(length, most));
        w->low = vec3_min(w->low, start);
        w->high = vec3_max(w->high, start);
        vec3_store(w->points + 3 * (size_t)corners[k], vec3_madd(start, way, length > most ? most / length : 1));
        w->moved[corners[k]] = 1;
    }
}

/* Whether two triangles without a common point cross and should not; free: which of them are flesh, one at least. */
static bool pair_wrong(const crossing_work *w, int first, int second, bool free[2])
{
    const int *triangles = w->repair->mesh->triangles;
    const int *a = triangles + 3 * (size_t)first, *b = triangles + 3 * (size_t)second;
    const int pair[2] = {MIN(first, second), MAX(first, second)};
    if (triangles_share_point(a, b) || mesh_triangles_relate(a, b, w->points) != TRIANGLES_CROSS) return false;
    free[0] = is_flesh(w, a);
    free[1] = is_flesh(w, b);
    return (free[0] || free[1]) && is_wrong(w, pair, a, b);
}

/* Part two triangles without a common point, if they cross and should not. */
static void pair_part(void *context, int first, int second)
{
    crossing_work *w = context;
    const int *triangles = w->repair->mesh->triangles;
    const int *a = triangles + 3 * (size_t)first, *b = triangles + 3 * (size_t)second;
    bool free[2];
    if (!pair_wrong(w, first, second, free)) return;

    /* how far they overlap, and their longest edge */
    vec3 x[2][3], axis = {0, 0, 0};
    float edge = 0;
    for (int k = 0; k < 3; k++) {
        x[0][k] = vec3_load(w->points + 3 * (size_t)a[k]);
        x[1][k] = vec3_load(w->points + 3 * (size_t)b[k]);
    }
    for (int k = 0; k < 3; k++)
        edge = MAX(edge, MAX(vec3_distance(x[0][k], x[0][(k + 1) % 3]), vec3_distance(x[1][k], x[1][(k + 1) % 3])));
    float overlap = -triangles_axis(x[0], x[1], &axis);

    float deep = MAX(overlap, 0) / (DEEP * edge);
    if (!(deep < 1)) return;

    /* both by half of it, or the one that is flesh by all; less of it the deeper they are */
    float part = 1 - deep * deep * (3 - 2 * deep), gap = 0.5f * GAP * w->size;
    float above = triangle_lowest(axis, x[0]), below = triangle_highest(axis, x[1]);
    float middle = !free[0] ? above - gap : !free[1] ? below + gap : 0.5f * (above + below);
    if (free[0]) corners_raise(w, a, x[0], axis, middle + gap, part);
    if (free[1]) corners_raise(w, b, x[1], vec3_scale(axis, -1), gap - middle, part);
}

/* The first pass in parts: which of them have something to do is found by all threads. */
typedef struct crossing_parts {
    const crossing_work *w;
    const bvh *tree;
    bvh_pair pairs[PARTS];
    bool wrong[PARTS];
} crossing_parts;

typedef struct crossing_part {
    const crossing_work *w;
    bool wrong;
} crossing_part;

static void pair_find(void *context, int first, int second)
{
    crossing_part *part = context;
    bool free[2];
    if (!part->wrong) part->wrong = pair_wrong(part->w, first, second, free);
}

static void parts_find(void *context, int begin, int end)
{
    crossing_parts *parts = context;
    for (int i = begin; i < end; i++) {
        crossing_part part = {parts->w, false};
        bvh_pair_visit(parts->tree, parts->pairs[i], pair_find, &part);
        parts->wrong[i] = part.wrong;
    }
}

/* Whether points that were in the node's box have gone. */
static bool node_moved(const crossing_work *w, const bvh_node *node)
{
    for (int c = 0; c < 3; c++)
        if (node->min[c] > vec3_axis(w->high, c) || node->max[c] < vec3_axis(w->low, c)) return false;
    return true;
}

/*
 * All that crosses, as bvh_self_pairs would: a part where nothing did changes only by points that have gone since.
 */
static void pass_first(crossing_work *w, const bvh *tree, const cutis_jobs *jobs)
{
    crossing_parts parts = {.w = w, .tree = tree};
    int count = bvh_pair_tasks(tree, parts.pairs, PARTS);
    parallel_for(jobs, count, 1, parts_find, &parts);
    for (int i = 0; i < count; i++) {
        bvh_pair pair = parts.pairs[i];
        if (!parts.wrong[i] && !node_moved(w, tree->nodes + pair.a) && !node_moved(w, tree->nodes + pair.b)) continue;
        bvh_pair_visit(tree, pair, pair_part, w);
    }
}

static bool near_part(void *context, int triangle)
{
    crossing_work *w = context;
    bool seen = triangle < w->triangle && has_mark(w->repair->mesh->triangles + 3 * (size_t)triangle, w->last);
    if (triangle != w->triangle && !seen) pair_part(w, w->triangle, triangle);
    return true;
}

/* Part what crosses triangles that the last pass has moved. The tree is that of the start. */
static void pass_near(crossing_work *w, const bvh *tree)
{
    const mesh *m = w->repair->mesh;
    for (int t = 0; t < m->triangle_count; t++) {
        const int *c = m->triangles + 3 * (size_t)t;
        if (!has_mark(c, w->last)) continue;

        /* its box, grown by as much as others may have moved */
        vec3 x[3], grown = vec3_make(w->furthest, w->furthest, w->furthest);
        for (int k = 0; k < 3; k++) x[k] = vec3_load(w->points + 3 * (size_t)c[k]);
        w->triangle = t;
        bvh_overlap(tree, vec3_sub(vec3_min(vec3_min(x[0], x[1]), x[2]), grown),
                    vec3_add(vec3_max(vec3_max(x[0], x[1]), x[2]), grown), near_part, w);
    }
}

/* The tree of a frame, its nodes in scratch. */
static bvh frame_tree(const crossing_repair *r, const float *points, float *scratch)
{
    bvh tree = r->tree;
    tree.nodes = (bvh_node *)scratch;
    memcpy(tree.nodes, r->tree.nodes, (size_t)tree.node_count * sizeof(bvh_node));
    bvh_refit(&tree, points, 0);
    return tree;
}

int crossings_separate(const crossing_repair *r, const float *skinned, float size, float *scratch,
                       const cutis_jobs *jobs, float *points)
{
    if (!r->mesh) return 0;
    size_t count = (size_t)r->mesh->point_count;
    bvh tree = frame_tree(r, points, scratch);

    /* points as they come, and marks of those that move */
    float *start = (float *)(tree.nodes + tree.node_count);
    int *marks = (int *)(start + 3 * count);
    memcpy(start, points, 3 * count * sizeof(float));
    memset(marks, 0, 2 * count * sizeof(int));
    crossing_work w = {.repair = r, .skinned = skinned, .size = size};
    w.points = points;
    w.start = start;
    w.moved = marks;
    w.last = marks + count;
    w.low = vec3_make(FLT_MAX, FLT_MAX, FLT_MAX);
    w.high = vec3_scale(w.low, -1);

    /* all that crosses, then what is around that */
    pass_first(&w, &tree, jobs);
    for (int pass = 1; pass < PASSES && w.furthest > 0; pass++) {
        int *last = w.last;
        w.last = w.moved;
        w.moved = last;
        memset(w.moved, 0, count * sizeof(int));
        pass_near(&w, &tree);
    }

    /* how many points have gone */
    int moved = 0;
    for (size_t i = 0; i < count && w.furthest > 0; i++)
        moved += memcmp(start + 3 * i, points + 3 * i, 3 * sizeof(float)) != 0;
    return moved;
}
