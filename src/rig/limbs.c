/*
 * limbs.c: find the far ends of a body (hands, feet, head, tail, fingers) and the rings that lead from them inwards.
 *
 * Bian, Zheng, Chaudhry, You, Zhang 2018, section 4, start iso-parametric curves at the far ends of limbs and sweep
 * towards the body. Their curves need quads of regular topology. Here the far ends are the maxima of the geodesic
 * distance from the body's middle; a merge tree of its superlevel sets tells limbs from bumps by how far they stand
 * out, and where they part (the seams). Rings are the level sets of the distance from a limb's own tip, so that
 * triangles and any topology will do; on regular quads they run along the iso-parametric curves.
 *
 * Every point belongs to one branch of the tree, so that a finger's points never disturb the rings of the forearm.
 */
#include <string.h>

#include "rig/limbs.h"

/* What stands out less than this part of the farthest distance is a bump, below the second no limb of its own. */
static const float BUMP = 0.022f, MAIN = 0.095f;

typedef struct spreader {
    const mesh *m;
    const float *lengths; /* (edge_count) */
    float width;          /* of a bucket: a mean edge */
    int *next;            /* (point_count) -2: not waiting */
    int *heads;           /* (HEADS) buckets, used round and round */
    int *touched;         /* (point_count) points with a distance, in the order they were reached */
} spreader;

enum { HEADS = 1024 };

/*
 * Shortest way over edges from `source`, up to `limit`. distances is INFINITY all over before; returns how many points
 * were reached. A point waits in one bucket at a time; when its distance falls while it waits, it is looked at late and
 * corrects what it had been looked at for.
 */
static int spread(const spreader *s, int source, float limit, float *distances)
{
    const mesh *m = s->m;
    float scale = 1 / s->width;
    int waiting = 1, reached = 1;
    distances[source] = 0;
    s->next[source] = -1;
    s->heads[0] = source;
    s->touched[0] = source;
    for (int bucket = 0; waiting > 0; bucket++) {
        int slot = bucket & (HEADS - 1);
        while (s->heads[slot] >= 0) {
            int p = s->heads[slot];
            s->heads[slot] = s->next[p];
            s->next[p] = -2;
            waiting--;
            float from = distances[p];
            for (int e = m->point_neighbour_first[p]; e < m->point_neighbour_first[p + 1]; e++) {
                int q = m->point_neighbours[e];
                float d = from + s->lengths[m->point_edges[e]], old = distances[q];
                if (!(d < old) || d > limit) continue;
                distances[q] = d;
                if (old == INFINITY) s->touched[reached++] = q;
                if (s->next[q] != -2) continue;
                int into = CLAMP((int)(d * scale), bucket, bucket + HEADS - 1) & (HEADS - 1);
                s->next[q] = s->heads[into];
                s->heads[into] = q;
                waiting++;
            }
        }
    }
    return reached;
}

/* ---- the tree of branches ---- */

typedef struct merge {
    int point, elder, younger; /* tips */
} merge;

typedef struct tree_work {
    const mesh *m;
    limbs *found;
    int *order;  /* (reached) points by falling distance */
    int *up;     /* (point_count) union-find */
    int *branch; /* (point_count) of a set's root: its branch */
    int reached;
    merge merges[8 * LIMBS_MAX];
    int merge_count;
} tree_work;

static int set_find(int *up, int i)
{
    while (up[i] != i) {
        up[i] = up[up[i]];
        i = up[i];
    }
    return i;
}

/* Points by falling distance, by counting; equal cells keep the order of the points. */
static void points_sort(tree_work *w, int *counts, int cells)
{
    const limbs *f = w->found;
    int n = w->m->point_count;
    float scale = (float)(cells - 1) / f->farthest;
    memset(counts, 0, (size_t)(cells + 1) * sizeof *counts);
    for (int i = 0; i < n; i++)
        if (f->distances[i] < INFINITY) counts[cells - 1 - (int)(f->distances[i] * scale) + 1]++;
    for (int c = 0; c < cells; c++) counts[c + 1] += counts[c];
    w->reached = counts[cells];
    for (int i = 0; i < n; i++)
        if (f->distances[i] < INFINITY) w->order[counts[cells - 1 - (int)(f->distances[i] * scale)]++] = i;
}

static int branch_alias(const limbs *f, int b)
{
    while (f->tree[b].alias != b) b = f->tree[b].alias;
    return b;
}

/* Join the sets around point p, which ends a branch where two limbs meet. */
static void sets_join(tree_work *w, int p, const int *sets, int set_count)
{
    limbs *f = w->found;
    float least = f->distances[p] + BUMP * f->farthest;
    int standing = 0, eldest = sets[0];
    for (int i = 0; i < set_count; i++) {
        const limb_branch *b = &f->tree[w->branch[sets[i]]];
        const limb_branch *e = &f->tree[w->branch[eldest]];
        standing += b->top >= least;
        if (b->top > e->top || (b->top == e->top && b->tip < e->tip)) eldest = sets[i];
    }
    int into = w->branch[eldest];
    if (standing >= 2 && f->branch_count < 4 * LIMBS_MAX) {
        into = f->branch_count++;
        f->tree[into] = (limb_branch){-1, into, f->tree[w->branch[eldest]].tip, f->tree[w->branch[eldest]].top};
    }
    for (int i = 0; i < set_count; i++) {
        int b = w->branch[sets[i]];
        if (b != into && f->tree[b].top >= least && into != w->branch[eldest]) {
            f->tree[b].parent = into;
            if (sets[i] != eldest && w->merge_count < 8 * LIMBS_MAX)
                w->merges[w->merge_count++] = (merge){p, f->tree[into].tip, f->tree[b].tip};
        } else if (b != into) {
            f->tree[b].alias = into;
        }
        w->up[sets[i]] = p;
    }
    w->up[p] = p;
    w->branch[p] = into;
    f->branches[p] = into;
}

static cutis_result tree_grow(tree_work *w, arena *memory, cutis_error *error)
{
    const mesh *m = w->m;
    limbs *f = w->found;
    /* Two maxima are never neighbours: at most every second point opens a branch. */
    f->tree = ARENA_ARRAY(memory, limb_branch, m->point_count / 2 + 1 + 4 * LIMBS_MAX);
    if (!f->tree) return error_memory(error, "limbs");
    for (int i = 0; i < m->point_count; i++) w->up[i] = -1, f->branches[i] = -1;

    /* New branches of joins take the first 4 x LIMBS_MAX places, maxima the rest. */
    int leaf = 4 * LIMBS_MAX;
    for (int k = 0; k < w->reached; k++) {
        int p = w->order[k], sets[16], set_count = 0;
        for (int e = m->point_neighbour_first[p]; e < m->point_neighbour_first[p + 1]; e++) {
            int q = m->point_neighbours[e];
            if (w->up[q] < 0) continue;
            int set = set_find(w->up, q);
            bool known = set_count > 0 && sets[0] == set;
            for (int i = 1; i < set_count && !known; i++) known = sets[i] == set;
            if (!known && set_count < 16) sets[set_count++] = set;
        }
        if (set_count == 0) {
            f->tree[leaf] = (limb_branch){-1, leaf, p, f->distances[p]};
            w->up[p] = p;
            w->branch[p] = leaf;
            f->branches[p] = leaf++;
        } else if (set_count == 1) {
            w->up[p] = sets[0];
            f->branches[p] = w->branch[sets[0]];
        } else {
            sets_join(w, p, sets, set_count);
        }
    }
    for (int i = 0; i < m->point_count; i++)
        if (f->branches[i] >= 0) f->branches[i] = branch_alias(f, f->branches[i]);
    return CUTIS_OK;
}

/* Tips by how far they stand out, main limbs first, with the seam where each meets another main one. */
static void limbs_collect(tree_work *w)
{
    limbs *f = w->found;
    f->count = 0;
    f->all[f->count++] =
        (limb){.tip = w->order[0], .seam = -1, .reach = f->farthest, .main = true, .branch = f->branches[w->order[0]]};
    for (int i = 0; i < w->merge_count && f->count < LIMBS_MAX; i++) {
        const merge *g = &w->merges[i];
        float reach = f->distances[g->younger] - f->distances[g->point];
        limb l = {.tip = g->younger,
                  .seam = g->point,
                  .reach = reach,
                  .main = reach >= MAIN * f->farthest,
                  .branch = f->branches[g->younger]};
        int k = f->count++;
        for (; k > 1 && f->all[k - 1].reach < reach; k--) f->all[k] = f->all[k - 1];
        f->all[k] = l;
    }
    f->main_count = 0;
    for (int i = 0; i < f->count; i++) f->main_count += f->all[i].main;
    /* An elder's seam is where it first swallowed another main limb. */
    for (int i = 0; i < w->merge_count; i++) {
        int elder = -1, younger = -1;
        for (int k = 0; k < f->main_count; k++) {
            if (f->all[k].tip == w->merges[i].elder) elder = k;
            if (f->all[k].tip == w->merges[i].younger) younger = k;
        }
        if (elder < 0 || younger < 0) continue;
        limb *l = &f->all[elder];
        float reach = f->distances[l->tip] - f->distances[w->merges[i].point];
        if (l->seam < 0 || f->distances[w->merges[i].point] > f->distances[l->seam])
            l->seam = w->merges[i].point, l->reach = reach;
    }
}

/* ---- rings ---- */

/* Whether a point belongs to the limb of this leaf branch or to what it grows from. */
static void path_mark(const limbs *f, int branch, uint8_t *on_path)
{
    for (int b = branch_alias(f, branch); b >= 0; b = f->tree[b].parent >= 0 ? branch_alias(f, f->tree[b].parent) : -1)
        on_path[b] = 1;
}

static cutis_result rings_make(tree_work *w, limb *l, float step, float farthest, const float *distances,
                               const int *touched, int touched_count, uint8_t *on_path, int branch_room, arena *memory,
                               cutis_error *error)
{
    const mesh *m = w->m;
    const limbs *f = w->found;
    int count = CLAMP((int)(MIN(farthest, 3 * f->farthest) / step) + 1, 1, LIMB_RINGS_MAX);
    l->rings = ARENA_ARRAY(memory, limb_ring, count);
    if (!l->rings) return error_memory(error, "rings");
    memset(on_path, 0, (size_t)branch_room);
    path_mark(f, l->branch, on_path);
    for (int k = 0; k < touched_count; k++) {
        int i = touched[k];
        if (f->branches[i] < 0 || !on_path[f->branches[i]]) continue;
        int r = (int)(distances[i] / step);
        if (r >= count) continue;
        limb_ring *ring = &l->rings[r];
        ring->centre = vec3_add(ring->centre, vec3_load(m->positions + 3 * i));
        ring->distance += distances[i];
        ring->count++;
    }
    for (int r = 0; r < count; r++) {
        limb_ring *ring = &l->rings[r];
        if (!ring->count) continue;
        ring->centre = vec3_scale(ring->centre, 1 / (float)ring->count);
        ring->distance /= (float)ring->count;
    }
    for (int k = 0; k < touched_count; k++) {
        int i = touched[k];
        if (f->branches[i] < 0 || !on_path[f->branches[i]]) continue;
        int r = (int)(distances[i] / step);
        if (r < count) l->rings[r].radius += vec3_distance(l->rings[r].centre, vec3_load(m->positions + 3 * i));
    }
    /* Close the gaps of empty bands. */
    l->ring_count = 0;
    for (int r = 0; r < count; r++) {
        if (!l->rings[r].count) continue;
        l->rings[r].radius /= (float)l->rings[r].count;
        l->rings[l->ring_count++] = l->rings[r];
    }
    return CUTIS_OK;
}

cutis_result limbs_find(const mesh *m, float size, arena *memory, limbs *found, cutis_error *error)
{
    arena scratch = arena_create(&memory->allocator);
    enum { CELLS = 4096 };
    tree_work w = {.m = m, .found = found};
    cutis_result result = CUTIS_OK;
    int n = m->point_count;
    w.order = ARENA_ARRAY(&scratch, int, n);
    w.up = ARENA_ARRAY(&scratch, int, n);
    w.branch = ARENA_ARRAY(&scratch, int, n);
    float *lengths = ARENA_ARRAY(&scratch, float, m->edge_count);
    spreader s = {.m = m, .lengths = lengths};
    s.next = ARENA_ARRAY(&scratch, int, n);
    s.heads = ARENA_ARRAY(&scratch, int, HEADS);
    s.touched = ARENA_ARRAY(&scratch, int, n);
    int *counts = ARENA_ARRAY(&scratch, int, CELLS + 1);
    int *sizes = ARENA_ARRAY(&scratch, int, m->component_count);
    float *own = ARENA_ARRAY(&scratch, float, n);
    found->distances = ARENA_ARRAY(memory, float, n);
    found->branches = ARENA_ARRAY(memory, int, n);
    if (scratch.failed || memory->failed) {
        arena_destroy(&scratch);
        return error_memory(error, "limbs");
    }

    /* The middle: the point of the largest component nearest to its centre. Edges of a sample give the step. */
    int component = 0;
    vec3 centre = {0, 0, 0};
    float nearest = INFINITY;
    double edges = 0;
    for (int i = 0; i < n; i++) sizes[m->point_component[i]]++;
    for (int c = 1; c < m->component_count; c++)
        if (sizes[c] > sizes[component]) component = c;
    for (int i = 0; i < n; i++)
        if (m->point_component[i] == component) centre = vec3_add(centre, vec3_load(m->positions + 3 * i));
    centre = vec3_scale(centre, 1 / (float)sizes[component]);
    for (int i = 0; i < n; i++) {
        float d = vec3_length2(vec3_sub(vec3_load(m->positions + 3 * i), centre));
        if (m->point_component[i] == component && d < nearest) nearest = d, found->middle = i;
    }
    for (int e = 0; e < m->edge_count; e++) {
        lengths[e] = vec3_distance(vec3_load(m->positions + 3 * m->edges[2 * e]),
                                   vec3_load(m->positions + 3 * m->edges[2 * e + 1]));
        edges += lengths[e];
    }
    s.width = MAX(m->edge_count ? (float)(edges / m->edge_count) : size, 1e-3f * size);
    for (int i = 0; i < n; i++) found->distances[i] = own[i] = INFINITY, s.next[i] = -2;
    for (int b = 0; b < HEADS; b++) s.heads[b] = -1;

    spread(&s, found->middle, INFINITY, found->distances);
    found->farthest = 0;
    for (int i = 0; i < n; i++)
        if (found->distances[i] < INFINITY) found->farthest = MAX(found->farthest, found->distances[i]);
    if (!(found->farthest > 0)) result = error_set(error, CUTIS_ERROR_DATA, "the surface has no extent to rig");
    if (result == CUTIS_OK) {
        points_sort(&w, counts, CELLS);
        result = tree_grow(&w, memory, error);
    }
    if (result == CUTIS_OK) {
        int branch_room = 4 * LIMBS_MAX;
        limbs_collect(&w);
        for (int i = 0; i < n; i++) branch_room = MAX(branch_room, found->branches[i] + 1);
        uint8_t *on_path = ARENA_ARRAY(&scratch, uint8_t, branch_room);
        if (!on_path) result = error_memory(error, "limbs");
        for (int k = 0; k < found->count && result == CUTIS_OK; k++) {
            limb *l = &found->all[k];
            /* Far enough for the joint beyond the seam; small ones need their visible part alone. */
            float limit = l->seam < 0 ? INFINITY
                          : l->main   ? 1.3f * l->reach + 0.1f * size
                                      : 1.5f * l->reach + 0.01f * size;
            int reached = spread(&s, l->tip, limit, own);
            l->seam_distance = l->seam >= 0 && own[l->seam] < INFINITY ? own[l->seam] : l->reach;
            result =
                rings_make(&w, l, 1.3f * s.width, limit, own, s.touched, reached, on_path, branch_room, memory, error);
            for (int i = 0; i < reached; i++) own[s.touched[i]] = INFINITY;
        }
    }
    arena_destroy(&scratch);
    return result;
}
