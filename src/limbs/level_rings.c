/*
 * level_rings.c: curves around limbs and trunk of any mesh of triangles. Bian, Zheng, Chaudhry, You, Zhang 2018 name
 * triangles as future work.
 *
 * A field grows from the far end of a limb: the distance over edges, smoothed. The triangles that lie below a level end
 * in closed loops of edges around the limb; levels follow each other by a little more than an edge. Small limbs come
 * first, then larger ones, and the field of the highest far end goes on over the whole body, so that trunk and what is
 * left get theirs. As on quads, a point is on one curve at most, and a curve is about round.
 */
#include <stdlib.h>
#include <string.h>

#include "limbs/level_rings.h"
#include "limbs/limbs.h"

enum { SMOOTHING = 6, LEVELS_MAX = 400 };

/* Levels are so many edges apart: nearer, they share points. */
static const float APART = 1.6f;

typedef struct level_work {
    const mesh *m;
    rings *found;
    float *field, *smooth; /* (points) INFINITY where it does not reach */
    int *points;           /* (points) those that it reaches */
    int point_count;
    int *edges;       /* (edges) between those, by the level of their first point */
    int *edges_first; /* (LEVELS_MAX + 3) of each level */
    int *ahead;       /* (points) the next point of a loop, -1, or -2 where loops touch */
    int *path;        /* (points) */
    int *linked;      /* (points) those with a next one at this level, rising */
    int linked_count;
    int used;
} level_work;

/* Averages over the neighbours; level sets of plain distances are jagged. */
static void field_smooth(level_work *w)
{
    const mesh *m = w->m;
    for (int pass = 0; pass < SMOOTHING; pass++) {
        /* mean with the neighbours, all from the values before */
        for (int i = 0; i < w->point_count; i++) {
            int p = w->points[i];
            float sum = w->field[p];
            int count = 1;
            for (int e = m->point_neighbour_first[p]; e < m->point_neighbour_first[p + 1]; e++) {
                float other = w->field[m->point_neighbours[e]];
                if (other < INFINITY) {
                    sum += other;
                    count++;
                }
            }
            w->smooth[p] = sum / (float)count;
        }

        /* the smoothed field becomes the field */
        float *swap = w->field;
        w->field = w->smooth;
        w->smooth = swap;
    }
}

/* Whether all corners of a triangle lie below the level. */
static bool below(const level_work *w, int triangle, float level)
{
    const int *c = w->m->triangles + 3 * (size_t)triangle;
    return w->field[c[0]] <= level && w->field[c[1]] <= level && w->field[c[2]] <= level;
}

static int int_compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/*
 * The edges between triangles below a level and others, each by its first point, the inside on its left. from, to:
 * range of w->edges that holds all whose first point lies less than `span` below the level.
 */
static void border_link(level_work *w, float level, float span, int from, int to)
{
    const mesh *m = w->m;
    w->linked_count = 0;

    /* edges between a triangle below the level and one above */
    for (int i = from; i < to; i++) {
        int e = w->edges[i];
        const int *points = m->edges + 2 * (size_t)e, *sides = m->edge_triangles + 2 * (size_t)e;
        float value = w->field[points[0]];
        if (!(value <= level && value > level - span) || w->field[points[1]] > level) continue;

        if (m->edge_triangle_counts[e] != 2) continue;
        bool first = below(w, sides[0], level), second = below(w, sides[1], level);
        if (first == second) continue;

        /* in the direction in which the lower triangle runs it */
        const int *c = m->triangles + 3 * (size_t)sides[first ? 0 : 1];
        bool turned = true;
        for (int k = 0; k < 3; k++)
            if (c[k] == points[0] && c[(k + 1) % 3] == points[1]) turned = false;

        int start = points[turned], end = points[!turned];
        if (w->ahead[start] == -1) w->linked[w->linked_count++] = start;
        w->ahead[start] = w->ahead[start] == -1 ? end : -2;
    }

    qsort(w->linked, (size_t)w->linked_count, sizeof *w->linked, int_compare);
}

/* Keep the loop through p, if it closes, is round and free of other curves. Its points are taken out of `ahead`. */
static void loop_take(level_work *w, int p)
{
    rings *r = w->found;
    int count = 0, at = p;
    bool whole = true;

    /* along the links until they end */
    while (w->ahead[at] >= 0) {
        int next = w->ahead[at];
        whole = whole && r->ring_of[at] < 0;
        w->path[count++] = at;
        w->ahead[at] = -1;
        at = next;
    }

    /* keep a closed loop of free points */
    if (at != p || !whole || !ring_accept(w->m, w->path, count)) return;
    for (int i = 0; i < count; i++) {
        r->ring_of[w->path[i]] = r->count;
        r->points[w->used + i] = w->path[i];
    }

    r->first[r->count++] = w->used;
    w->used += count;
    r->first[r->count] = w->used;
}

/* The level of a value: so many steps. */
static int level_of(float value, float step) { return (int)CLAMP(value / step, 0.0f, (float)LEVELS_MAX); }

/* Sort the edges between points of the field by the level of their first point, by counting. */
static void edges_sort(level_work *w, float step)
{
    const mesh *m = w->m;
    memset(w->edges_first, 0, (LEVELS_MAX + 3) * sizeof *w->edges_first);
    for (int pass = 0; pass < 2; pass++) {
        for (int e = 0; e < m->edge_count; e++) {
            float value = w->field[m->edges[2 * (size_t)e]];
            if (!(value < INFINITY) || !(w->field[m->edges[2 * (size_t)e + 1]] < INFINITY)) continue;
            int level = level_of(value, step);
            if (pass)
                w->edges[w->edges_first[level + 1]++] = e;
            else
                w->edges_first[level + 2]++;
        }

        /* where each level begins; the second pass moves that to its end, which is where the next begins */
        for (int k = 2; k < LEVELS_MAX + 3 && pass == 0; k++) w->edges_first[k] += w->edges_first[k - 1];
    }
}

/* All levels of the field up to `end`. */
static void levels_take(level_work *w, float end)
{
    const mesh *m = w->m;
    double sum = 0;
    int count = 0;
    float longest = 0;

    /* mean edge length, and the steepest edge, below the end */
    for (int e = 0; e < m->edge_count; e++) {
        int a = m->edges[2 * e], b = m->edges[2 * e + 1];
        if (!(w->field[a] <= end && w->field[b] <= end)) continue;
        sum += vec3_distance(vec3_load(m->positions + 3 * (size_t)a), vec3_load(m->positions + 3 * (size_t)b));
        longest = MAX(longest, fabsf(w->field[a] - w->field[b]));
        count++;
    }
    if (count == 0) return;

    /* loops at even levels; edges one level on either side for the rounding of their levels */
    float step = MAX(APART * (float)(sum / count), end / LEVELS_MAX);
    float span = 2 * longest + step;
    edges_sort(w, step);
    for (int i = 1; (float)i * step <= end; i++) {
        int from = level_of((float)i * step - span, step);
        int to = MIN(i + 1, LEVELS_MAX);
        border_link(w, (float)i * step, span, w->edges_first[MAX(from - 1, 0)], w->edges_first[to + 1]);
        for (int k = 0; k < w->linked_count; k++)
            if (w->ahead[w->linked[k]] >= 0) loop_take(w, w->linked[k]);
        for (int k = 0; k < w->linked_count; k++) w->ahead[w->linked[k]] = -1;
    }
}

static void limb_take(level_work *w, const limbs *f, const limb *l, float end, arena *scratch)
{
    const patches *g = &f->patches;
    float *distances = ARENA_ARRAY(scratch, float, g->count);
    if (!distances || !limbs_spread(f, l->tip_patch, end < INFINITY ? 1.5f * end : INFINITY, scratch, distances))
        return;

    /* distance from the tip, on the points */
    w->point_count = 0;
    for (int p = 0; p < w->m->point_count; p++) {
        w->field[p] = g->patch_of[p] >= 0 ? distances[g->patch_of[p]] : INFINITY;
        w->smooth[p] = INFINITY;
        if (w->field[p] < INFINITY) w->points[w->point_count++] = p;
    }
    field_smooth(w);

    if (end == INFINITY) {
        end = 0;
        for (int i = 0; i < w->point_count; i++) end = MAX(end, w->field[w->points[i]]);
    }

    levels_take(w, end);
}

cutis_result level_rings_trace(const mesh *m, float size, arena *memory, rings *found, cutis_error *error)
{
    arena scratch = arena_create(&memory->allocator);
    static const limb_poses none = {0};
    size_t n = (size_t)m->point_count;
    level_work w = {.m = m, .found = found};

    limbs *f = ARENA_ARRAY(&scratch, limbs, 1);
    w.field = ARENA_ARRAY(&scratch, float, n);
    w.smooth = ARENA_ARRAY(&scratch, float, n);
    w.points = ARENA_ARRAY(&scratch, int, n);
    w.edges = ARENA_ARRAY(&scratch, int, m->edge_count);
    w.edges_first = ARENA_ARRAY(&scratch, int, LEVELS_MAX + 3);
    w.ahead = ARENA_ARRAY(&scratch, int, n);
    w.path = ARENA_ARRAY(&scratch, int, n);
    w.linked = ARENA_ARRAY(&scratch, int, n);

    cutis_result result = scratch.failed ? error_memory(error, "level rings") : CUTIS_OK;
    memset(found->ring_of, -1, n * sizeof *found->ring_of);
    found->count = 0;
    for (size_t p = 0; p < n && result == CUTIS_OK; p++) w.ahead[p] = -1;

    if (result == CUTIS_OK) result = limbs_find(m, size, true, NULL, &scratch, f, error);
    if (result == CUTIS_OK) result = limbs_ring(m, size, &none, NULL, &scratch, f, error);

    /* limbs end below their seam; the highest is followed over the whole body */
    if (result == CUTIS_OK) {
        int highest = 0;
        for (int k = f->count - 1; k >= 0; k--) {
            const limb *l = &f->all[k];
            if (l->seam_patch >= 0) limb_take(&w, f, l, 0.95f * l->seam_distance, &scratch);
            if (l->main && m->positions[3 * l->tip + 1] > m->positions[3 * f->all[highest].tip + 1]) highest = k;
        }
        limb_take(&w, f, &f->all[highest], INFINITY, &scratch);
        if (scratch.failed) result = error_memory(error, "level rings");
    }
    arena_destroy(&scratch);

    /* A surface without extent has no curves; that is no error here. */
    return result == CUTIS_ERROR_DATA ? CUTIS_OK : result;
}
