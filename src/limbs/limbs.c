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

#include "limbs/limbs.h"

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
    float scale = 2 / p->spacing; /* half a link a bucket: few patches are looked at twice */

    int waiting = 1;
    int reached = 1;
    int first = (int)(start * scale);

    /* start with the source alone */
    distances[source] = start;
    s->next[source] = -1;
    s->heads[first & (HEADS - 1)] = source;
    s->touched[0] = source;

    /* buckets in the order of distance */
    for (int bucket = first; waiting > 0; bucket++) {
        int slot = bucket & (HEADS - 1);
        while (s->heads[slot] >= 0) {
            int a = s->heads[slot];
            s->heads[slot] = s->next[a];
            s->next[a] = -2;
            waiting--;

            /* shorter ways to its neighbours */
            float from = distances[a];
            for (int e = link_first[a]; e < link_first[a + 1]; e++) {
                int b = links[e];
                float d = from + lengths[e];
                float old = distances[b];
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
    int *up;     /* (patch count) union-find */
    int *branch; /* (patch count) of a set's root: its branch */
    merge merges[8 * LIMBS_MAX];
    int merge_count, join_count;
} tree_work;

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
    int standing = 0;
    int eldest = sets[0];

    /* how many stand out, and which reaches farthest */
    for (int i = 0; i < set_count; i++) {
        const limb_branch *b = &f->tree[w->branch[sets[i]]];
        const limb_branch *e = &f->tree[w->branch[eldest]];
        standing += b->top >= least;
        if (b->top > e->top || (b->top == e->top && b->tip < e->tip)) eldest = sets[i];
    }

    /* two that stand out make a new branch, which carries both */
    int into = w->branch[eldest];
    if (standing >= 2 && w->join_count < 4 * LIMBS_MAX) {
        into = w->join_count++;
        f->tree[into] = (limb_branch){-1, into, f->tree[w->branch[eldest]].tip, f->tree[w->branch[eldest]].top};
    }

    /* all others end here or are bumps of the eldest */
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

        /* components that touch this patch */
        for (int e = g->link_first[p]; e < g->link_first[p + 1]; e++) {
            int q = g->links[e];
            if (w->up[q] < 0) continue;
            int set = forest_root(w->up, q);
            bool known = set_count > 0 && sets[0] == set;
            for (int i = 1; i < set_count && !known; i++) known = sets[i] == set;
            if (!known && set_count < 16) sets[set_count++] = set;
        }

        /* a maximum opens a branch, one neighbour carries on, several join */
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

    /* the limb that reaches farthest */
    f->count = 1;
    f->all[0] = (limb){
        .reach = f->farthest, .main = true, .branch = f->branches[top], .tip_patch = top, .seam_patch = -1, .seam = -1};

    /* the others by falling reach */
    for (int i = 0; i < w->merge_count && f->count < LIMBS_MAX; i++) {
        const merge *g = &w->merges[i];
        limb l = {.reach = f->distances[g->younger] - f->distances[g->patch],
                  .branch = f->branches[g->younger],
                  .tip_patch = g->younger,
                  .seam_patch = g->patch};

        int k = f->count++;
        l.main = l.reach >= MAIN * f->farthest;
        for (; k > 1 && f->all[k - 1].reach < l.reach; k--) f->all[k] = f->all[k - 1];
        f->all[k] = l;
    }

    f->main_count = 0;
    for (int i = 0; i < f->count; i++) f->main_count += f->all[i].main;

    /* An elder's seam is where it first swallowed another main limb. */
    for (int i = 0; i < w->merge_count; i++) {
        limb *elder = NULL, *younger = NULL;
        int seam = w->merges[i].patch;
        for (int k = 0; k < f->main_count; k++) {
            if (f->all[k].tip_patch == w->merges[i].elder) elder = &f->all[k];
            if (f->all[k].tip_patch == w->merges[i].younger) younger = &f->all[k];
        }

        if (!elder || !younger) continue;
        if (elder->seam_patch < 0 || f->distances[seam] > f->distances[elder->seam_patch]) {
            elder->seam_patch = seam;
            elder->reach = f->distances[elder->tip_patch] - f->distances[seam];
        }
    }
}

/* The patch nearest to the centre of the body. */
static int middle_find(const patches *g)
{
    vec3 centre = {0, 0, 0};
    float nearest = INFINITY;
    int middle = 0;

    /* centroid of the surface */
    for (int i = 0; i < g->count; i++) centre = vec3_madd(centre, g->centres[i], (float)g->sizes[i]);
    centre = vec3_scale(centre, 1 / (float)g->point_count);

    /* the patch nearest to it */
    for (int i = 0; i < g->count; i++) {
        float d = vec3_length2(vec3_sub(g->centres[i], centre));
        if (d < nearest) {
            nearest = d;

            middle = i;
        }
    }
    return middle;
}

static spreader spreader_make(const patches *g, arena *memory)
{
    spreader s = {.p = g};
    s.next = ARENA_ARRAY(memory, int, g->count);
    s.heads = ARENA_ARRAY(memory, int, HEADS);
    s.touched = ARENA_ARRAY(memory, int, g->count);
    if (memory->failed) return s;
    for (int i = 0; i < g->count; i++) s.next[i] = -2;
    for (int b = 0; b < HEADS; b++) s.heads[b] = -1;
    return s;
}

bool limbs_spread(const limbs *f, int patch, float limit, arena *scratch, float *distances)
{
    spreader s = spreader_make(&f->patches, scratch);
    if (scratch->failed) return false;
    for (int i = 0; i < f->patches.count; i++) distances[i] = INFINITY;
    spread(&s, patch, 0, limit, distances);
    return true;
}

cutis_result limbs_find(const mesh *m, float size, bool fine, const cutis_jobs *jobs, arena *memory, limbs *found,
                        cutis_error *error)
{
    enum { CELLS = 2048 };
    cutis_result result = patches_make(m, fine, jobs, memory, &found->patches, error);
    if (result != CUTIS_OK) return result;

    patches *g = &found->patches;
    int n = g->count;
    if (n == 0) return error_set(error, CUTIS_ERROR_DATA, "the surface has no triangles to rig");

    arena scratch = arena_create(&memory->allocator);
    tree_work *w = ARENA_ARRAY(&scratch, tree_work, 1);
    int *up = ARENA_ARRAY(&scratch, int, n), *branch = ARENA_ARRAY(&scratch, int, n);
    int *counts = ARENA_ARRAY(&scratch, int, CELLS + 1);
    spreader s = spreader_make(g, &scratch);

    found->order = ARENA_ARRAY(memory, int, n);
    found->distances = ARENA_ARRAY(memory, float, n);
    found->branches = ARENA_ARRAY(memory, int, n);
    if (scratch.failed || memory->failed) {
        arena_destroy(&scratch);
        return error_memory(error, "limbs");
    }

    /* distances from the middle */
    w->found = found;
    w->up = up;
    w->branch = branch;
    g->spacing = MAX(g->spacing, 1e-3f * size);
    for (int i = 0; i < n; i++) found->distances[i] = INFINITY;
    spread(&s, middle_find(g), 0, INFINITY, found->distances);

    found->farthest = 0;
    for (int i = 0; i < n; i++) found->farthest = MAX(found->farthest, found->distances[i]);
    if (!(found->farthest > 0)) result = error_set(error, CUTIS_ERROR_DATA, "the surface has no extent to rig");

    /* the tree of branches from the far ends down, then its limbs */
    if (result == CUTIS_OK) {
        patches_sort(found, counts, CELLS);
        result = tree_grow(w, memory, error);
    }
    if (result == CUTIS_OK) limbs_collect(w);

    arena_destroy(&scratch);
    return result;
}

/* ---- tips ---- */

/*
 * The points at the very ends: of a tip's patch and those around it, the farthest from a patch farther in. All limbs in
 * one pass over the points. near: (patches) zero; a bit a limb.
 */
static void tips_find(const mesh *m, limbs *f, uint32_t *near)
{
    const patches *g = &f->patches;
    vec3 from[LIMBS_MAX];
    float farthest[LIMBS_MAX];

    for (int k = 0; k < f->count; k++) {
        limb *l = &f->all[k];
        int tip = l->tip_patch;
        int inner = tip;

        l->tip = g->lowest[tip];
        l->seam = l->seam_patch >= 0 ? g->lowest[l->seam_patch] : -1;
        if (g->depth == 0) continue;

        /* a place some patches further in, from which the tip is farthest */
        for (int i = 0; i < 4; i++) {
            int at = inner;
            for (int e = g->link_first[at]; e < g->link_first[at + 1]; e++)
                if (f->distances[g->links[e]] < f->distances[inner]) inner = g->links[e];
        }

        from[k] = g->centres[inner];
        farthest[k] = -1;
        near[tip] |= 1u << k;
        for (int e = g->link_first[tip]; e < g->link_first[tip + 1]; e++) near[g->links[e]] |= 1u << k;
    }

    /* the farthest point of the patches around each tip */
    for (int p = 0; g->depth > 0 && p < m->point_count; p++) {
        uint32_t bits = g->patch_of[p] >= 0 ? near[g->patch_of[p]] : 0;
        for (int k = 0; bits; k++, bits >>= 1) {
            if (!(bits & 1)) continue;
            float d = vec3_length2(vec3_sub(vec3_load(m->positions + 3 * (size_t)p), from[k]));
            if (d <= farthest[k]) continue;
            farthest[k] = d;
            f->all[k].tip = p;
        }
    }
}

/* ---- rings ---- */

enum { RING_JOBS = 2 };

/* What the rings of some limbs need for themselves. */
typedef struct ring_work {
    spreader s;
    float *own;       /* (patches) distance from a limb's tip, INFINITY between limbs */
    uint8_t *on_path; /* (branches) */
    int *ring_of;     /* (patches) with other poses only */
} ring_work;

typedef struct ring_job {
    const mesh *m;
    limbs *found;
    const limb_poses *poses;
    float size;
    ring_work works[RING_JOBS];
} ring_job;

/* How far from its tip the rings of a limb are looked for: far enough for the joint beyond the seam; small ones need
 * their visible part alone. */
static float limb_limit(const limb *l, float size)
{
    if (l->seam_patch < 0) return INFINITY;
    return l->main ? 1.3f * l->reach + 0.1f * size : 1.5f * l->reach + 0.01f * size;
}

static float ring_step(const limbs *f) { return 1.3f * f->patches.spacing; }

static int ring_limit(const limbs *f, const limb *l, float size)
{
    return CLAMP((int)(MIN(limb_limit(l, size), 3 * f->farthest) / ring_step(f)) + 1, 1, LIMB_RINGS_MAX);
}

/* Mark the branch of a limb and those that it grows from. */
static void path_mark(const limbs *f, int branch, uint8_t *on_path)
{
    for (int b = branch_alias(f, branch); b >= 0; b = f->tree[b].parent >= 0 ? branch_alias(f, f->tree[b].parent) : -1)
        on_path[b] = 1;
}

/* The centres of the same points in other poses. kept: the ring of each band. */
static void poses_centre(const ring_job *job, const ring_work *w, limb *l, int touched_count, int band_count,
                         const int *kept)
{
    const limbs *f = job->found;
    const patches *g = &f->patches;
    const limb_poses *poses = job->poses;
    float scale = 1 / ring_step(f);

    /* the ring of each patch */
    for (int i = 0; i < g->count; i++) w->ring_of[i] = -1;
    for (int k = 0; k < touched_count; k++) {
        int i = w->s.touched[k], r = (int)(w->own[i] * scale);
        if (w->on_path[f->branches[i]] && r < band_count) w->ring_of[i] = kept[r];
    }
    l->pose_count = poses->count;

    /* centre of each ring, from the points of its patches */
    for (int p = 0; p < job->m->point_count; p++) {
        int r = g->patch_of[p] >= 0 ? w->ring_of[g->patch_of[p]] : -1;
        for (int pose = 0; r >= 0 && pose < poses->count; pose++) {
            vec3 *centre = &l->pose_centres[pose * l->ring_count + r];
            vec3 at = vec3_load(poses->positions[pose] + 3 * (size_t)poses->vertices[p]);
            *centre = vec3_madd(*centre, at, 1 / (float)l->rings[r].count);
        }
    }
}

/* Bands of the distance from the tip, over the patches of the limb's own branches. */
static void rings_make(const ring_job *job, const ring_work *w, limb *l, int touched_count)
{
    const limbs *f = job->found;

    const patches *g = &f->patches;
    const float *distances = w->own;
    const int *touched = w->s.touched;
    int count = ring_limit(f, l, job->size);

    /* bands of equal width along the branches from tip to body */
    memset(w->on_path, 0, (size_t)f->branch_count);
    path_mark(f, l->branch, w->on_path);
    float scale = 1 / ring_step(f);

    for (int k = 0; k < touched_count; k++) {
        int i = touched[k], r = (int)(distances[i] * scale), points = g->sizes[i];
        if (!w->on_path[f->branches[i]] || r >= count) continue;

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
        int i = touched[k], r = (int)(distances[i] * scale), points = g->sizes[i];
        if (!w->on_path[f->branches[i]] || r >= count) continue;

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

    if (job->poses->count > 0) poses_centre(job, w, l, touched_count, count, kept);
}

/* The rings of every second limb, each by the distance from its own tip. */
static void limbs_block(void *context, int begin, int end)
{
    ring_job *job = context;
    limbs *f = job->found;
    for (int block = begin; block < end; block++) {
        ring_work *w = &job->works[block];
        for (int i = 0; i < f->patches.count; i++) w->own[i] = INFINITY;
        for (int k = block; k < f->count; k += RING_JOBS) {
            /* every so manyth limb, the longest first */
            limb *l = &f->all[k];
            int tip = l->tip_patch, seam = l->seam_patch;

            /* distances from the tip, then the rings */
            vec3 at = vec3_load(job->m->positions + 3 * (size_t)l->tip);
            float start = vec3_distance(at, f->patches.centres[tip]);
            int reached = spread(&w->s, tip, start, limb_limit(l, job->size), w->own);
            l->seam_distance = seam >= 0 && w->own[seam] < INFINITY ? w->own[seam] : l->reach;
            rings_make(job, w, l, reached);

            /* clean again for the next */
            for (int i = 0; i < reached; i++) w->own[w->s.touched[i]] = INFINITY;
        }
    }
}

cutis_result limbs_ring(const mesh *m, float size, const limb_poses *poses, const cutis_jobs *jobs, arena *memory,
                        limbs *found, cutis_error *error)
{
    /* scratch for each job, so that limbs run in parallel */
    arena scratch = arena_create(&memory->allocator);
    ring_job job = {m, found, poses, size, {{{0}, NULL, NULL, NULL}}};

    const patches *g = &found->patches;
    uint32_t *near = ARENA_ARRAY(&scratch, uint32_t, g->count);
    for (int i = 0; i < RING_JOBS; i++) {
        job.works[i].s = spreader_make(g, &scratch);
        job.works[i].own = ARENA_ARRAY(&scratch, float, g->count);
        job.works[i].on_path = ARENA_ARRAY(&scratch, uint8_t, found->branch_count);
        if (poses->count > 0) job.works[i].ring_of = ARENA_ARRAY(&scratch, int, g->count);
    }

    /* room for the rings of each limb, and for their centres in the poses */
    for (int k = 0; k < found->count; k++) {
        limb *l = &found->all[k];
        int count = ring_limit(found, l, size);
        l->rings = ARENA_ARRAY(memory, limb_ring, count);
        if (poses->count > 0) l->pose_centres = ARENA_ARRAY(memory, vec3, (size_t)poses->count * (size_t)count);
    }

    /* tips, then the rings of all limbs */
    bool enough = !scratch.failed && !memory->failed;
    if (enough) {
        tips_find(m, found, near);
        parallel_for(jobs, RING_JOBS, 1, limbs_block, &job);
    }

    arena_destroy(&scratch);
    return enough ? CUTIS_OK : error_memory(error, "rings of limbs");
}
