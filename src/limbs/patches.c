/*
 * patches.c: cut a surface into patches in one pass over points and edges.
 *
 * Each point that is in no patch yet takes its free neighbours up to `depth` edges away. A mesh of many points gets
 * deeper patches, so that the graph keeps a size for which searches take a fraction of a millisecond, and a mesh of few
 * points keeps them all.
 */
#include <string.h>

#include "limbs/patches.h"

/* Points a mesh may have for patches of depth 0, 1, 2, ...: each makes some 600 to 2,500 patches. */
static const int DEPTH_POINTS[] = {2500, 6000, 20000, 30000, 200000};

typedef struct patch_pair {
    int a, b;
} patch_pair;

static int component_largest(const mesh *m, int *sizes)
{
    int largest = 0;
    if (m->component_count == 1) return 0;
    for (int i = 0; i < m->point_count; i++) sizes[m->point_component[i]]++;
    for (int c = 1; c < m->component_count; c++)
        if (sizes[c] > sizes[largest]) largest = c;
    return largest;
}

/*
 * The free points around `seed` become its patch. There is no branch within, which would be guessed wrong half of the
 * time: a point that is not free is written over. points: the patch's own, used anew for each, so that it stays near.
 */
static void patch_grow(const mesh *m, patches *made, int *points, int seed)
{
    const int *first = m->point_neighbour_first, *neighbours = m->point_neighbours;
    int own = made->count++, *patch_of = made->patch_of, at = 0, end = 1;

    points[0] = seed;
    patch_of[seed] = own;

    /* breadth first, a level at a time, without a branch */
    for (int level = 0; level < made->depth; level++)
        for (int level_end = end; at < level_end; at++)
            for (int e = first[points[at]], last = first[points[at] + 1]; e < last; e++) {
                int q = neighbours[e], owner = patch_of[q], free = -(owner < 0); /* all bits, or none */
                points[end] = q;
                end -= free;
                patch_of[q] = (own & free) | (owner & ~free);
            }

    made->point_count += end;
}

/* What is summed up over the points of a patch. */
typedef struct patch_sum {
    float x, y, z, squares;
    int count, lowest;
} patch_sum;

/* One half of what is found out about patches that stand: the halves are joined in order. */
typedef struct patch_half {
    patch_pair *pairs;
    int pair_count; /* -1: there was no room */
    patch_sum *sums;
    vec3 low, high;
} patch_half;

enum { HALVES = 2 };

typedef struct patch_job {
    const mesh *m;
    const patches *made;
    vec3 origin;
    int room; /* for pairs */
    patch_half halves[HALVES];
} patch_job;

/*
 * The pairs of patches that edges join, some of them more than once: a table of the latest pairs keeps most repetitions
 * out. Without branches, as above.
 */
static void pairs_find(const patch_job *job, int from, int to, patch_half *half)
{
    enum { SLOTS = 1024, BLOCK = 512 };
    const int *edges = job->m->edges, *patch_of = job->made->patch_of;
    uint64_t latest[SLOTS] = {0}, keys[BLOCK];
    int count = 0;

    /* -1 until the end: the room may not suffice */
    half->pair_count = -1;

    /* a block of edges at a time: one test of the room for each */
    for (int begin = from; begin < to; begin += BLOCK) {
        int end = MIN(begin + BLOCK, to), key_count = 0;
        if (count + BLOCK >= job->room) return;

        /* keys of the edges whose ends lie in different patches */
        for (int e = begin; e < end; e++) {
            unsigned a = (unsigned)patch_of[edges[2 * e]], b = (unsigned)patch_of[edges[2 * e + 1]];
            keys[key_count] = (uint64_t)MIN(a, b) << 32 | MAX(a, b);
            key_count += a != b;
        }

        /* keep a pair unless its slot saw it last */
        for (int i = 0; i < key_count; i++) {
            uint64_t key = keys[i], *slot = &latest[((unsigned)(key >> 32) * 37u + (unsigned)key) & (SLOTS - 1)];
            half->pairs[count] = (patch_pair){(int)(key >> 32), (int)(key & UINT32_MAX)};
            count += *slot != key;
            *slot = key;
        }
    }

    half->pair_count = count;
}

/* Sums of each patch, and the box of all, in one pass over the positions, the last point first. */
static void points_sum(const patch_job *job, int from, int to, patch_half *half)
{
    vec3 low = job->origin, high = low;

    /* downwards, so that the last point written is the lowest */
    for (int p = to - 1; p >= from; p--) {
        int c = job->made->patch_of[p];
        if (c < 0) continue;
        vec3 at = vec3_load(job->m->positions + 3 * (size_t)p), away = vec3_sub(at, job->origin);

        patch_sum *sum = &half->sums[c];
        sum->x += away.x;
        sum->y += away.y;
        sum->z += away.z;
        sum->squares += vec3_length2(away);
        sum->count++;
        sum->lowest = p;

        low = vec3_min(low, at);
        high = vec3_max(high, at);
    }

    half->low = low;
    half->high = high;
}

/* Pairs and sums of each half, four tasks in all. */
static void halves_look(void *context, int begin, int end)
{
    patch_job *job = context;
    for (int task = begin; task < end; task++) {
        int i = task % HALVES, n = task < HALVES ? job->m->edge_count : job->m->point_count;
        int from = i * (n / HALVES), to = i == HALVES - 1 ? n : from + n / HALVES;
        if (task < HALVES)
            pairs_find(job, from, to, &job->halves[i]);
        else
            points_sum(job, from, to, &job->halves[i]);
    }
}

/* Links of each patch from the pairs, each once. False when memory runs out. */
static bool links_gather(patches *made, const patch_job *job, arena *memory, arena *scratch)
{
    int pair_count = 0;

    for (int i = 0; i < HALVES; i++) pair_count += job->halves[i].pair_count;
    int *seen = ARENA_ARRAY(scratch, int, made->count), *row_first = ARENA_ARRAY(scratch, int, made->count + 2);

    int *rows = ARENA_ARRAY(scratch, int, 2 * (size_t)pair_count + 1);
    made->link_first = ARENA_ARRAY(memory, int, made->count + 1);
    made->links = ARENA_ARRAY(memory, int, 2 * (size_t)pair_count + 1);
    made->lengths = ARENA_ARRAY(memory, float, 2 * (size_t)pair_count + 1);
    if (scratch->failed || memory->failed) return false;

    /* neighbours of each patch in rows, by counting */
    int *next = row_first + 1; /* one place ahead, so that filling leaves the firsts behind */
    int count = 0;

    for (int half = 0; half < HALVES; half++)
        for (int i = 0; i < job->halves[half].pair_count; i++) {
            patch_pair pair = job->halves[half].pairs[i];
            next[pair.a + 1]++;
            next[pair.b + 1]++;
        }

    for (int c = 0; c < made->count; c++) next[c + 1] += next[c];
    for (int half = 0; half < HALVES; half++)
        for (int i = 0; i < job->halves[half].pair_count; i++) {
            patch_pair pair = job->halves[half].pairs[i];
            rows[next[pair.a]++] = pair.b;
            rows[next[pair.b]++] = pair.a;
        }

    /* each neighbour once */
    for (int c = 0; c < made->count; c++) {
        made->link_first[c] = count;
        for (int i = row_first[c]; i < row_first[c + 1]; i++) {
            made->links[count] = rows[i];
            count += seen[rows[i]] != c + 1;
            seen[rows[i]] = c + 1;
        }
    }

    made->link_first[made->count] = count;
    return true;
}

/* Centre and spread of each patch from its sums. */
static void patches_measure(patches *made, const patch_job *job)
{
    /* the box of all halves */
    const patch_half *first = &job->halves[0];

    made->low = first->low;
    made->high = first->high;
    for (int i = 1; i < HALVES; i++) {
        made->low = vec3_min(made->low, job->halves[i].low);
        made->high = vec3_max(made->high, job->halves[i].high);
    }

    /* sums are added in order of the halves: the result does not depend on threads */
    for (int c = 0; c < made->count; c++) {
        patch_sum sum = first->sums[c];
        for (int i = 1; i < HALVES; i++) {
            const patch_sum *more = &job->halves[i].sums[c];
            if (sum.count == 0) sum.lowest = more->lowest;
            sum.x += more->x;
            sum.y += more->y;
            sum.z += more->z;
            sum.squares += more->squares;
            sum.count += more->count;
        }

        /* mean and variance, from sums about the origin of the job */
        float scale = 1 / (float)sum.count;
        vec3 mean = {sum.x * scale, sum.y * scale, sum.z * scale};
        made->sizes[c] = sum.count;
        made->lowest[c] = sum.lowest;
        made->centres[c] = vec3_add(job->origin, mean);
        made->spreads[c] = MAX(sum.squares * scale - vec3_length2(mean), 0.0f);
    }
}

static void links_measure(patches *made)
{
    double sum = 0;
    int count = made->link_first[made->count];
    for (int c = 0; c < made->count; c++)
        for (int i = made->link_first[c]; i < made->link_first[c + 1]; i++) {
            made->lengths[i] = vec3_distance(made->centres[c], made->centres[made->links[i]]);
            sum += made->lengths[i];
        }
    made->spacing = count ? (float)(sum / count) : 0;
}

/* False when memory runs out. */
static bool patches_cut(const mesh *m, const cutis_jobs *jobs, arena *memory, arena *scratch, patches *made)
{
    int n = m->point_count, *points = ARENA_ARRAY(scratch, int, n + 1); /* one may be written behind the last */
    int *sizes = ARENA_ARRAY(scratch, int, m->component_count);
    made->patch_of = ARENA_ARRAY(memory, int, n);
    if (scratch->failed || memory->failed) return false;

    /* grow patches over the largest component */
    int component = component_largest(m, sizes), start = -1;
    bool whole = m->component_count == 1;
    memset(made->patch_of, -1, (size_t)n * sizeof(int));

    for (int i = 0; i < n; i++) {
        if (made->patch_of[i] >= 0 || !(whole || m->point_component[i] == component)) continue;
        if (start < 0) start = i;
        patch_grow(m, made, points, i);
    }
    if (made->count == 0) return true;

    /* On most surfaces a patch has six links, each shared by two; others take the second try. */
    patch_job job = {.m = m, .made = made, .origin = vec3_load(m->positions + 3 * (size_t)start)};
    job.room = 2 * made->count + 2048;
    for (int i = 0; i < HALVES; i++) {
        job.halves[i].pairs = ARENA_ARRAY(scratch, patch_pair, job.room);
        job.halves[i].sums = ARENA_ARRAY(scratch, patch_sum, made->count);
    }

    made->sizes = ARENA_ARRAY(memory, int, made->count);
    made->lowest = ARENA_ARRAY(memory, int, made->count);
    made->centres = ARENA_ARRAY(memory, vec3, made->count);
    made->spreads = ARENA_ARRAY(memory, float, made->count);
    if (scratch->failed || memory->failed) return false;

    parallel_for(jobs, 2 * HALVES, 1, halves_look, &job);
    if (job.halves[0].pair_count < 0 || job.halves[1].pair_count < 0) {
        job.room = m->edge_count + 1024;
        for (int i = 0; i < HALVES; i++) job.halves[i].pairs = ARENA_ARRAY(scratch, patch_pair, job.room);
        if (scratch->failed) return false;
        parallel_for(jobs, HALVES, 1, halves_look, &job);
    }

    if (!links_gather(made, &job, memory, scratch)) return false;
    patches_measure(made, &job);
    links_measure(made);

    return true;
}

cutis_result patches_make(const mesh *m, bool fine, const cutis_jobs *jobs, arena *memory, patches *made,
                          cutis_error *error)
{
    arena scratch = arena_create(&memory->allocator);
    int depth = 0;
    while (!fine && depth < COUNT_OF(DEPTH_POINTS) && m->point_count > DEPTH_POINTS[depth]) depth++;
    *made = (patches){.depth = depth};
    bool whole = patches_cut(m, jobs, memory, &scratch, made);
    arena_destroy(&scratch);
    return whole ? CUTIS_OK : error_memory(error, "patches");
}
