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
    const patches *p;
    int *next;    /* (patch count) -2: not waiting */
    int *heads;   /* (HEADS) buckets, used round and round */
    int *touched; /* (patch count) patches with a distance, in the order they were reached */
} spreader;

enum { HEADS = 256 };

/*
 * Shortest way over links from patch `source`, which itself is `start` away, up to `limit`. distances is INFINITY all
 * over before; returns how many patches were reached. A patch waits in one bucket at a time; when its distance falls
 * while it waits, it is looked at late and corrects what it had been looked at for.
 */
static int spread(const spreader *s, int source, float start, float limit, float *distances)
{
    const patches *p = s->p;
    const int *link_first = p->link_first, *links = p->links;
    const float *lengths = p->lengths;
    float scale = 1 / p->spacing;
    int waiting = 1, reached = 1, first = (int)(start * scale);
    distances[source] = start;
    s->next[source] = -1;
    s->heads[first & (HEADS - 1)] = source;
    s->touched[0] = source;
    for (int bucket = first; waiting > 0; bucket++) {
        int slot = bucket & (HEADS - 1);
        while (s->heads[slot] >= 0) {
            int a = s->heads[slot];
            s->heads[slot] = s->next[a];
            s->next[a] = -2;
            waiting--;
            float from = distances[a];
            for (int e = link_first[a]; e < link_first[a + 1]; e++) {
                int b = links[e];
                float d = from + lengths[e], old = distances[b];
                if (!(d < old) || d > limit) continue;
                distances[b] = d;
                if (old == INFINITY) s->touched[reached++] = b;
                if (s->next[b] != -2) continue;
                int into = MIN((int)(d * scale), bucket + HEADS - 1) & (HEADS - 1);
                s->next[b] = s->heads[into];
                s->heads[into] = b;
                waiting++;
            }
        }
    }
    return reached;
}

/* ---- the tree of branches ---- */

typedef struct merge {
    int patch, elder, younger; /* where, and two tips */
} merge;

typedef struct tree_work {
    limbs *found;
    int *up;                               /* (patch count) union-find */
    int *branch;                           /* (patch count) of a set's root: its branch */
    int tips[LIMBS_MAX], seams[LIMBS_MAX]; /* patches of the limbs */
    merge merges[8 * LIMBS_MAX];
    int merge_count, join_count;
} tree_work;

static int set_find(int *up, int i)
{
    while (up[i] != i) {
        up[i] = up[up[i]];
        i = up[i];
    }
    return i;
}

/* Patches by falling distance, by counting; equal cells keep the order of the patches. */
static void patches_sort(limbs *f, int *counts, int cells)
{
    int n = f->patches.count;
    float scale = (float)(cells - 1) / f->farthest;
    for (int i = 0; i < n; i++) counts[cells - (int)(f->distances[i] * scale)]++;
    for (int c = 0; c < cells; c++) counts[c + 1] += counts[c];
    for (int i = 0; i < n; i++) f->order[counts[cells - 1 - (int)(f->distances[i] * scale)]++] = i;
}

static int branch_alias(const limbs *f, int b)
{
    while (f->tree[b].alias != b) b = f->tree[b].alias;
    return b;
}

/* Join the sets around patch p, which ends a branch where two limbs meet. */
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
    if (standing >= 2 && w->join_count < 4 * LIMBS_MAX) {
        into = w->join_count++;
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
    limbs *f = w->found;
    const patches *g = &f->patches;
    /* Two maxima are never neighbours: at most every second patch opens a branch. */
    f->tree = ARENA_ARRAY(memory, limb_branch, g->count / 2 + 1 + 4 * LIMBS_MAX);
    if (!f->tree) return error_memory(error, "limbs");
    for (int i = 0; i < g->count; i++) w->up[i] = -1;

    /* New branches of joins take the first 4 x LIMBS_MAX places, maxima the rest. */
    int leaf = 4 * LIMBS_MAX;
    for (int k = 0; k < g->count; k++) {
        int p = f->order[k], sets[16], set_count = 0;
        for (int e = g->link_first[p]; e < g->link_first[p + 1]; e++) {
            int q = g->links[e];
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
    for (int i = 0; i < g->count; i++) f->branches[i] = branch_alias(f, f->branches[i]);
    f->branch_count = leaf;
    return CUTIS_OK;
}

/* Tips by how far they stand out, main limbs first, with the seam where each meets another main one. */
static void limbs_collect(tree_work *w)
{
    limbs *f = w->found;
    int top = f->order[0];
    f->count = 1;
    f->all[0] = (limb){.reach = f->farthest, .main = true, .branch = f->branches[top]};
    w->tips[0] = top;
    w->seams[0] = -1;
    for (int i = 0; i < w->merge_count && f->count < LIMBS_MAX; i++) {
        const merge *g = &w->merges[i];
        float reach = f->distances[g->younger] - f->distances[g->patch];
        limb l = {.reach = reach, .main = reach >= MAIN * f->farthest, .branch = f->branches[g->younger]};
        int k = f->count++;
        for (; k > 1 && f->all[k - 1].reach < reach; k--)
            f->all[k] = f->all[k - 1], w->tips[k] = w->tips[k - 1], w->seams[k] = w->seams[k - 1];
        f->all[k] = l;
        w->tips[k] = g->younger;
        w->seams[k] = g->patch;
    }
    f->main_count = 0;
    for (int i = 0; i < f->count; i++) f->main_count += f->all[i].main;
    /* An elder's seam is where it first swallowed another main limb. */
    for (int i = 0; i < w->merge_count; i++) {
        int elder = -1, younger = -1, seam = w->merges[i].patch;
        for (int k = 0; k < f->main_count; k++) {
            if (w->tips[k] == w->merges[i].elder) elder = k;
            if (w->tips[k] == w->merges[i].younger) younger = k;
        }
        if (elder < 0 || younger < 0) continue;
        if (w->seams[elder] < 0 || f->distances[seam] > f->distances[w->seams[elder]]) {
            w->seams[elder] = seam;
            f->all[elder].reach = f->distances[w->tips[elder]] - f->distances[seam];
        }
    }
}

/* The point at the very end: of the tip's patch and those around it, the farthest from a few patches farther in. */
static int tip_point(const mesh *m, const limbs *f, int tip)
{
    const patches *g = &f->patches;
    int inner = tip, best = g->points[g->first[tip]];
    if (g->depth == 0) return best;
    for (int k = 0; k < 4; k++) {
        int from = inner;
        for (int e = g->link_first[from]; e < g->link_first[from + 1]; e++)
            if (f->distances[g->links[e]] < f->distances[inner]) inner = g->links[e];
    }
    float farthest = -1;
    for (int e = g->link_first[tip] - 1; e < g->link_first[tip + 1]; e++) {
        int c = e < g->link_first[tip] ? tip : g->links[e];
        for (int i = g->first[c]; i < g->first[c + 1]; i++) {
            float d = vec3_length2(vec3_sub(vec3_load(m->positions + 3 * (size_t)g->points[i]), g->centres[inner]));
            if (d > farthest) farthest = d, best = g->points[i];
        }
    }
    return best;
}

/* ---- rings ---- */

/* Whether a point belongs to the limb of this leaf branch or to what it grows from. */
static void path_mark(const limbs *f, int branch, uint8_t *on_path)
{
    for (int b = branch_alias(f, branch); b >= 0; b = f->tree[b].parent >= 0 ? branch_alias(f, f->tree[b].parent) : -1)
        on_path[b] = 1;
}

/* Bands of the distance from the tip, over the patches of the limb's own branches. */
static cutis_result rings_make(const limbs *f, limb *l, float step, float farthest, const float *distances,
                               const int *touched, int touched_count, uint8_t *on_path, const limb_poses *poses,
                               arena *memory, cutis_error *error)
{
    const patches *g = &f->patches;
    int count = CLAMP((int)(MIN(farthest, 3 * f->farthest) / step) + 1, 1, LIMB_RINGS_MAX);
    l->rings = ARENA_ARRAY(memory, limb_ring, count);
    if (!l->rings) return error_memory(error, "rings");
    memset(on_path, 0, (size_t)f->branch_count);
    path_mark(f, l->branch, on_path);
    float scale = 1 / step;
    for (int k = 0; k < touched_count; k++) {
        int i = touched[k], r = (int)(distances[i] * scale), points = g->first[i + 1] - g->first[i];
        if (!on_path[f->branches[i]] || r >= count) continue;
        limb_ring *ring = &l->rings[r];
        ring->centre = vec3_madd(ring->centre, g->centres[i], (float)points);
        ring->distance += (float)points * distances[i];
        ring->count += points;
    }
    for (int r = 0; r < count; r++) {
        limb_ring *ring = &l->rings[r];
        if (!ring->count) continue;
        ring->centre = vec3_scale(ring->centre, 1 / (float)ring->count);
        ring->distance /= (float)ring->count;
    }
    for (int k = 0; k < touched_count; k++) {
        int i = touched[k], r = (int)(distances[i] * scale), points = g->first[i + 1] - g->first[i];
        if (!on_path[f->branches[i]] || r >= count) continue;
        /* A patch of a thin limb reaches around it: its own spread counts. */
        float square = vec3_length2(vec3_sub(g->centres[i], l->rings[r].centre)) + g->spreads[i];
        l->rings[r].radius += (float)points * sqrtf(square);
    }
    /* Close the gaps of empty bands. */
    int kept[LIMB_RINGS_MAX];
    l->ring_count = 0;
    for (int r = 0; r < count; r++) {
        kept[r] = l->ring_count;
        if (!l->rings[r].count) continue;
        l->rings[r].radius /= (float)l->rings[r].count;
        l->rings[l->ring_count++] = l->rings[r];
    }
    if (poses->count == 0) return CUTIS_OK;

    /* The same points in other poses. */
    l->pose_count = poses->count;
    l->pose_centres = ARENA_ARRAY(memory, vec3, (size_t)poses->count * (size_t)l->ring_count);
    if (!l->pose_centres) return error_memory(error, "rings");
    for (int k = 0; k < touched_count; k++) {
        int i = touched[k], r = (int)(distances[i] * scale);
        if (!on_path[f->branches[i]] || r >= count) continue;
        for (int p = g->first[i]; p < g->first[i + 1]; p++)
            for (int pose = 0; pose < poses->count; pose++) {
                const float *at = poses->positions[pose] + 3 * (size_t)poses->vertices[g->points[p]];
                vec3 *centre = &l->pose_centres[pose * l->ring_count + kept[r]];
                *centre = vec3_madd(*centre, vec3_load(at), 1 / (float)l->rings[kept[r]].count);
            }
    }
    return CUTIS_OK;
}

/* The patch nearest to the centre of the body. */
static int middle_find(const patches *g)
{
    vec3 centre = {0, 0, 0};
    float nearest = INFINITY;
    int middle = 0;
    for (int i = 0; i < g->count; i++)
        centre = vec3_madd(centre, g->centres[i], (float)(g->first[i + 1] - g->first[i]));
    centre = vec3_scale(centre, 1 / (float)g->point_count);
    for (int i = 0; i < g->count; i++) {
        float d = vec3_length2(vec3_sub(g->centres[i], centre));
        if (d < nearest) nearest = d, middle = i;
    }
    return middle;
}

/* Rings of all limbs, each by the distance from its own tip. */
static cutis_result limbs_ring(tree_work *w, const mesh *m, const spreader *s, float size, float *own, uint8_t *on_path,
                               const limb_poses *poses, arena *memory, cutis_error *error)
{
    limbs *f = w->found;
    cutis_result result = CUTIS_OK;
    for (int k = 0; k < f->count && result == CUTIS_OK; k++) {
        limb *l = &f->all[k];
        int tip = w->tips[k], seam = w->seams[k];
        l->tip = tip_point(m, f, tip);
        l->seam = seam >= 0 ? f->patches.points[f->patches.first[seam]] : -1;
        float start = vec3_distance(vec3_load(m->positions + 3 * (size_t)l->tip), f->patches.centres[tip]);
        /* Far enough for the joint beyond the seam; small ones need their visible part alone. */
        float limit = seam < 0 ? INFINITY : l->main ? 1.3f * l->reach + 0.1f * size : 1.5f * l->reach + 0.01f * size;
        int reached = spread(s, tip, start, limit, own);
        l->seam_distance = seam >= 0 && own[seam] < INFINITY ? own[seam] : l->reach;
        result =
            rings_make(f, l, 1.3f * f->patches.spacing, limit, own, s->touched, reached, on_path, poses, memory, error);
        for (int i = 0; i < reached; i++) own[s->touched[i]] = INFINITY;
    }
    return result;
}

cutis_result limbs_find(const mesh *m, float size, const limb_poses *poses, arena *memory, limbs *found,
                        cutis_error *error)
{
    enum { CELLS = 2048 };
    cutis_result result = patches_make(m, memory, &found->patches, error);
    if (result != CUTIS_OK) return result;
    arena scratch = arena_create(&memory->allocator);
    patches *g = &found->patches;
    int n = g->count;
    tree_work *w = ARENA_ARRAY(&scratch, tree_work, 1);
    int *up = ARENA_ARRAY(&scratch, int, n), *branch = ARENA_ARRAY(&scratch, int, n);
    spreader s = {.p = g};
    s.next = ARENA_ARRAY(&scratch, int, n);
    s.heads = ARENA_ARRAY(&scratch, int, HEADS);
    s.touched = ARENA_ARRAY(&scratch, int, n);
    int *counts = ARENA_ARRAY(&scratch, int, CELLS + 1);
    float *own = ARENA_ARRAY(&scratch, float, n);
    found->order = ARENA_ARRAY(memory, int, n);
    found->distances = ARENA_ARRAY(memory, float, n);
    found->branches = ARENA_ARRAY(memory, int, n);
    if (scratch.failed || memory->failed) {
        arena_destroy(&scratch);
        return error_memory(error, "limbs");
    }
    w->found = found;
    w->up = up;
    w->branch = branch;
    g->spacing = MAX(g->spacing, 1e-3f * size);
    for (int i = 0; i < n; i++) found->distances[i] = own[i] = INFINITY, s.next[i] = -2;
    for (int b = 0; b < HEADS; b++) s.heads[b] = -1;

    spread(&s, middle_find(g), 0, INFINITY, found->distances);
    found->farthest = 0;
    for (int i = 0; i < n; i++) found->farthest = MAX(found->farthest, found->distances[i]);
    if (!(found->farthest > 0)) result = error_set(error, CUTIS_ERROR_DATA, "the surface has no extent to rig");
    if (result == CUTIS_OK) {
        patches_sort(found, counts, CELLS);
        result = tree_grow(w, memory, error);
    }
    if (result == CUTIS_OK) {
        limbs_collect(w);
        uint8_t *on_path = ARENA_ARRAY(&scratch, uint8_t, found->branch_count);
        result =
            on_path ? limbs_ring(w, m, &s, size, own, on_path, poses, memory, error) : error_memory(error, "limbs");
    }
    arena_destroy(&scratch);
    return result;
}
