/*
 * solid_orient.c: turn the triangles of a surface outwards.
 *
 * Triangles joined by edges of exactly two triangles form a patch, and agree within it. A closed patch is turned so
 * that its volume is positive. An open one asks the air: the side that sees air joined with the outside is the outer
 * one, by area; where both sides or none do (clothes, hair, buried parts), the volume of the patch with its holes
 * closed towards the middle of their border decides; a flat sheet stays as it is.
 */
#include <string.h>

#include "body/solid_private.h"

typedef struct half_edge {
    int low, high; /* points */
    int triangle;
    int forward; /* 1: the triangle runs from low to high */
} half_edge;

static int half_edge_compare(const half_edge *a, const half_edge *b)
{
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

/* By counting over the low points, then by insertion: the runs are short. */
static void half_edges_sort(half_edge *edges, int count, half_edge *spare, int *firsts, int point_count)
{
    /* counted, then sorted by low point */
    for (int i = 0; i < count; i++) firsts[edges[i].low + 1]++;
    for (int p = 0; p < point_count; p++) firsts[p + 1] += firsts[p];
    for (int i = 0; i < count; i++) spare[firsts[edges[i].low]++] = edges[i];
    memcpy(edges, spare, (size_t)count * sizeof *edges);

    /* within a run, by insertion */
    for (int begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && edges[end].low == edges[begin].low; end++) {
            half_edge e = edges[end];
            int k = end;
            for (; k > begin && half_edge_compare(&e, &edges[k - 1]) < 0; k--) edges[k] = edges[k - 1];
            edges[k] = e;
        }
    }
}

typedef struct patch {
    vec3 middle; /* of its border, or of its first corner */
    float border;
    double volume; /* six times, about the middle */
    double vote;   /* area whose front sees air less that whose back does */
    double area;
} patch;

typedef struct orient_work {
    const solid_def *def;
    const solid_air *air;
    int *points; /* (point_count) welded */
    int *parents;
    uint8_t *turns; /* (triangle_count) against the parent */
    patch *patches; /* (triangle_count) by root */
} orient_work;

/* The root of triangle t, and whether t is turned against it. */
static int patch_root(const orient_work *w, int t, int *turned)
{
    int turn = 0;
    int root = t;
    while (w->parents[root] != root) {
        turn ^= w->turns[root];
        root = w->parents[root];
    }

    /* shorten the way */
    int rest = turn;
    while (w->parents[t] != t && w->parents[t] != root) {
        int next = w->parents[t];
        int own = w->turns[t];
        w->parents[t] = root;
        w->turns[t] = (uint8_t)rest;
        rest ^= own;
        t = next;
    }

    *turned = turn;
    return root;
}

static void patches_join(const orient_work *w, const half_edge *a, const half_edge *b)
{
    int turn_a;
    int turn_b;
    int root_a = patch_root(w, a->triangle, &turn_a);
    int root_b = patch_root(w, b->triangle, &turn_b);
    if (root_a == root_b) return;

    /* neighbours that agree run along their edge in opposite directions */
    int differ = a->forward == b->forward;
    int low = MIN(root_a, root_b);
    int high = MAX(root_a, root_b);
    w->parents[high] = low;
    w->turns[high] = (uint8_t)(turn_a ^ turn_b ^ differ);
}

static void corners_load(const orient_work *w, int t, vec3 p[3])
{
    for (int k = 0; k < 3; k++) p[k] = vec3_load(w->def->positions + 3 * (size_t)w->def->triangles[3 * (size_t)t + k]);
}

/* 1 when the front of a triangle sees the outer air and its back does not, -1 the other way round, else 0. */
static int triangle_vote(const solid_air *air, vec3 centre, vec3 normal)
{
    int sees[2];
    for (int side = 0; side < 2; side++) {
        sees[side] = -1;
        for (int k = 1; k <= 2 && sees[side] < 0; k++)
            sees[side] = air->outside(air->context, vec3_madd(centre, normal, (side ? -1 : 1) * (float)k * air->step));
    }
    if (sees[0] < 0 || sees[1] < 0) return (sees[0] > 0) - (sees[1] > 0);
    return sees[0] - sees[1];
}

static void patches_measure(const orient_work *w, int triangle_count)
{
    for (int t = 0; t < triangle_count; t++) {
        int turned;
        patch *own = &w->patches[patch_root(w, t, &turned)];
        vec3 p[3];
        corners_load(w, t, p);

        /* area, volume about the patch's middle, and the vote of the air */
        vec3 area = vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0]));
        double sign = turned ? -1 : 1;
        double length = vec3_length(area);
        vec3 centre = vec3_scale(vec3_add(p[0], vec3_add(p[1], p[2])), 1.0f / 3);

        own->area += length;
        own->volume += sign * vec3_dot(area, vec3_sub(centre, own->middle));
        if (own->border > 0) own->vote += sign * length * triangle_vote(w->air, centre, vec3_normalize(area));
    }
}

static cutis_result edges_join(orient_work *w, arena *memory, int point_count, cutis_error *error)
{
    int count = 3 * w->def->triangle_count;
    half_edge *edges = ARENA_ARRAY(memory, half_edge, count);
    half_edge *spare = ARENA_ARRAY(memory, half_edge, count);
    int *firsts = ARENA_ARRAY(memory, int, point_count + 2);
    if (memory->failed) return error_memory(error, "a solid");

    /* half-edges with their ends in order */
    for (int i = 0; i < count; i++) {
        int t = i / 3;
        int a = w->points[w->def->triangles[i]];
        int b = w->points[w->def->triangles[3 * t + (i + 1) % 3]];
        edges[i] = (half_edge){MIN(a, b), MAX(a, b), t, a < b};
    }

    half_edges_sort(edges, count, spare, firsts, point_count);

    /* edges of two triangles join them */
    int end;
    for (int begin = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count; end++)
            if (edges[end].low != edges[begin].low || edges[end].high != edges[begin].high) break;
        if (end - begin == 2 && edges[begin].low != edges[begin].high)
            patches_join(w, &edges[begin], &edges[begin + 1]);
    }

    /* the others are their borders */
    for (int t = 0; t < w->def->triangle_count; t++) {
        int turned;
        patch *own = &w->patches[patch_root(w, t, &turned)];
        if (own->border == 0) own->middle = vec3_load(w->def->positions + 3 * (size_t)w->def->triangles[3 * (size_t)t]);
    }

    for (int begin = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count; end++)
            if (edges[end].low != edges[begin].low || edges[end].high != edges[begin].high) break;
        if (end - begin == 2 || edges[begin].low == edges[begin].high) continue;

        for (int i = begin; i < end; i++) {
            int turned;
            patch *own = &w->patches[patch_root(w, edges[i].triangle, &turned)];
            vec3 p[3];
            corners_load(w, edges[i].triangle, p);
            if (own->border == 0) own->middle = (vec3){0, 0, 0};
            own->middle = vec3_add(own->middle, vec3_scale(vec3_add(p[0], vec3_add(p[1], p[2])), 1.0f / 3));
            own->border += 1;
        }
    }

    /* the middle of a border: the mean of its triangles' centres */
    for (int t = 0; t < w->def->triangle_count; t++)
        if (w->patches[t].border > 0) w->patches[t].middle = vec3_scale(w->patches[t].middle, 1 / w->patches[t].border);
    return CUTIS_OK;
}

cutis_result solid_orient(const solid_def *def, const solid_air *air, arena *memory, uint8_t *flips, cutis_error *error)
{
    int n = def->triangle_count;
    orient_work w = {.def = def, .air = air};

    w.points = ARENA_ARRAY(memory, int, def->point_count);
    w.parents = ARENA_ARRAY(memory, int, n);
    w.turns = ARENA_ARRAY(memory, uint8_t, n);
    w.patches = ARENA_ARRAY(memory, patch, n);
    if (memory->failed) return error_memory(error, "a solid");
    for (int t = 0; t < n; t++) w.parents[t] = t;

    /* seams are closed by position: a thousandth of a cell is far below any edge that matters */
    int point_count = weld_positions(def->point_count, def->positions, 1e-3f * def->spacing, NULL, NULL,
                                     &memory->allocator, w.points);
    if (point_count < 0) return error_memory(error, "a solid");

    cutis_result result = edges_join(&w, memory, point_count, error);
    if (result != CUTIS_OK) return result;
    patches_measure(&w, n);

    /* turned by the vote, or by the volume where it is not clear */
    for (int t = 0; t < n; t++) {
        int turned;
        const patch *own = &w.patches[patch_root(&w, t, &turned)];
        bool voted = own->vote > 0.1 * own->area || own->vote < -0.1 * own->area;
        bool inwards = voted ? own->vote < 0 : own->volume < 0;
        flips[t] = (uint8_t)(turned ^ (int)inwards);
    }

    return CUTIS_OK;
}
