/*
 * patches.c: cut a surface into patches in one pass over points and edges.
 *
 * Each point that is in no patch yet takes its free neighbours up to `depth` edges away. A mesh of many points gets
 * deeper patches, so that the graph keeps a size for which searches take a fraction of a millisecond, and a mesh of few
 * points keeps them all.
 */
#include <string.h>

#include "rig/patches.h"

/* Points a mesh may have for patches of depth 0, 1, 2, ...: each makes some 600 to 2,500 patches. */
static const int DEPTH_POINTS[] = {2500, 6000, 30000, 200000};

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
 * time: a point that is not free is written over.
 */
static void patch_grow(const mesh *m, patches *made, int *points, int seed)
{
    const int *first = m->point_neighbour_first, *neighbours = m->point_neighbours;
    int own = made->count++, *patch_of = made->patch_of;
    int begin = made->point_count, end = begin + 1, at = begin;
    points[begin] = seed;
    patch_of[seed] = own;
    for (int level = 0; level < made->depth; level++)
        for (int level_end = end; at < level_end; at++)
            for (int e = first[points[at]], last = first[points[at] + 1]; e < last; e++) {
                int q = neighbours[e], owner = patch_of[q];
                points[end] = q;
                end += owner < 0;
                patch_of[q] = owner < 0 ? own : owner;
            }
    made->point_count = end;
}

/*
 * The pairs of patches that edges join, some of them more than once: a table of the latest pairs keeps
 * most repetitions out. Returns how many, or -1 when there is no room. Without branches, as above.
 */
static int pairs_find(const mesh *m, const patches *made, patch_pair *pairs, int room)
{
    enum { SLOTS = 1024, BLOCK = 512 };
    const int *edges = m->edges, *patch_of = made->patch_of;
    uint64_t latest[SLOTS] = {0}, keys[BLOCK];
    int count = 0;
    for (int begin = 0; begin < m->edge_count; begin += BLOCK) {
        int end = MIN(begin + BLOCK, m->edge_count), key_count = 0;
        if (count + BLOCK >= room) return -1;
        for (int e = begin; e < end; e++) {
            unsigned a = (unsigned)patch_of[edges[2 * e]], b = (unsigned)patch_of[edges[2 * e + 1]];
            keys[key_count] = (uint64_t)MIN(a, b) << 32 | MAX(a, b);
            key_count += a != b;
        }
        for (int i = 0; i < key_count; i++) {
            uint64_t key = keys[i], *slot = &latest[((unsigned)(key >> 32) * 37u + (unsigned)key) & (SLOTS - 1)];
            pairs[count] = (patch_pair){(int)(key >> 32), (int)(key & UINT32_MAX)};
            count += *slot != key;
            *slot = key;
        }
    }
    return count;
}

/* Links of each patch from the pairs, each once. False when memory runs out. */
static bool links_gather(patches *made, const patch_pair *pairs, int pair_count, arena *memory, arena *scratch)
{
    int *seen = ARENA_ARRAY(scratch, int, made->count), *row_first = ARENA_ARRAY(scratch, int, made->count + 2);
    int *rows = ARENA_ARRAY(scratch, int, 2 * (size_t)pair_count + 1);
    made->link_first = ARENA_ARRAY(memory, int, made->count + 1);
    made->links = ARENA_ARRAY(memory, int, 2 * (size_t)pair_count + 1);
    if (scratch->failed || memory->failed) return false;
    int *next = row_first + 1, count = 0; /* one place ahead, so that filling leaves the firsts behind */
    for (int i = 0; i < pair_count; i++) next[pairs[i].a + 1]++, next[pairs[i].b + 1]++;
    for (int c = 0; c < made->count; c++) next[c + 1] += next[c];
    for (int i = 0; i < pair_count; i++) {
        rows[next[pairs[i].a]++] = pairs[i].b;
        rows[next[pairs[i].b]++] = pairs[i].a;
    }
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

/* What is summed up over the points of a patch; so that one line of the cache holds it. */
typedef struct patch_sum {
    float x, y, z, squares;
} patch_sum;

/* Centre and spread of each patch, and the box of all, in one pass over the positions. sums: (patches) zero. */
static void patches_measure(const mesh *m, patches *made, patch_sum *sums)
{
    vec3 low = vec3_load(m->positions + 3 * (size_t)m->triangles[0]), high = low, origin = low;
    for (int p = m->point_count - 1; p >= 0; p--) {
        int c = made->patch_of[p];
        if (c < 0) continue;
        vec3 at = vec3_load(m->positions + 3 * (size_t)p), away = vec3_sub(at, origin);
        patch_sum *sum = &sums[c];
        sum->x += away.x, sum->y += away.y, sum->z += away.z, sum->squares += vec3_length2(away);
        made->sizes[c]++;
        made->lowest[c] = p;
        low = vec3_min(low, at);
        high = vec3_max(high, at);
    }
    made->low = low;
    made->high = high;
    for (int c = 0; c < made->count; c++) {
        float scale = 1 / (float)made->sizes[c];
        vec3 mean = {sums[c].x * scale, sums[c].y * scale, sums[c].z * scale};
        made->centres[c] = vec3_add(origin, mean);
        made->spreads[c] = MAX(sums[c].squares * scale - vec3_length2(mean), 0.0f);
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
static bool patches_cut(const mesh *m, arena *memory, arena *scratch, patches *made)
{
    int n = m->point_count, *points = ARENA_ARRAY(scratch, int, n + 1); /* one may be written behind the last */
    int *sizes = ARENA_ARRAY(scratch, int, m->component_count);
    made->patch_of = ARENA_ARRAY(memory, int, n);
    if (scratch->failed || memory->failed) return false;
    int component = component_largest(m, sizes);
    memset(made->patch_of, -1, (size_t)n * sizeof(int));
    for (int i = 0; i < n; i++)
        if (made->patch_of[i] < 0 && m->point_component[i] == component) patch_grow(m, made, points, i);

    /* On most surfaces a patch has six links, each shared by two; others take the second try. */
    patch_pair *pairs = NULL;
    int count = -1;
    for (int room = 4 * made->count + 2048; count < 0; room = m->edge_count + 1024) {
        pairs = ARENA_ARRAY(scratch, patch_pair, room);
        if (!pairs) return false;
        count = pairs_find(m, made, pairs, room);
    }
    if (!links_gather(made, pairs, count, memory, scratch)) return false;
    made->sizes = ARENA_ARRAY(memory, int, made->count);
    made->lowest = ARENA_ARRAY(memory, int, made->count);
    made->centres = ARENA_ARRAY(memory, vec3, made->count);
    made->spreads = ARENA_ARRAY(memory, float, made->count);
    made->lengths = ARENA_ARRAY(memory, float, 2 * (size_t)count + 1);
    patch_sum *sums = ARENA_ARRAY(scratch, patch_sum, made->count);
    if (memory->failed || !sums) return false;
    patches_measure(m, made, sums);
    links_measure(made);
    return true;
}

cutis_result patches_make(const mesh *m, bool fine, arena *memory, patches *made, cutis_error *error)
{
    arena scratch = arena_create(&memory->allocator);
    int depth = 0;
    while (!fine && depth < COUNT_OF(DEPTH_POINTS) && m->point_count > DEPTH_POINTS[depth]) depth++;
    *made = (patches){.depth = depth};
    bool whole = patches_cut(m, memory, &scratch, made);
    arena_destroy(&scratch);
    return whole ? CUTIS_OK : error_memory(error, "patches");
}
