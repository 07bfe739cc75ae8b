/*
 * layers_paths.c: a layout of paths over a triangle mesh, for sums over regions in O(w).
 *
 * After Deul and Bender 2013, section 4.3, who take it from Diziol, Bender and Bayer 2011: each point lies on
 * exactly one path; the w-ring of a point meets each path in few runs; with prefix sums along the paths a run
 * costs one difference.
 *
 * The heuristic here: breadth-first levels from a far end of each component. A level of a triangle mesh is a
 * set of loops, neighbouring levels run side by side, and the w-ring of a point lies in 2 w + 1 of them, on
 * any mesh. Each level is walked along its own edges; loops are begun next to where their neighbour of the
 * level before began, so that the seams of the loops lie side by side and few regions meet them.
 */
#include "solvers/layers/layers.h"

/* A path ends at the first end of a walk after this many points, and at the latest at twice this. Short enough
 * to spread over threads, long enough that few regions meet an end. */
enum { PATH_POINTS = 96 };

typedef struct layout {
    const mesh *m;
    int *level;  /* -1: not reached */
    int *queue;  /* breadth-first order */
    uint8_t *on; /* 1: on a path, 2: and a walk began there */
    int *points; /* places so far */
    int count;
    uint8_t *ends; /* (point_count) 1: a walk ends at this place */
} layout;

/* Breadth-first levels from `seed`; returns how many points were reached, in queue from `base` on. */
static int levels_fill(layout *l, int seed, int base)
{
    int head = base, tail = base;

    l->level[seed] = 0;
    l->queue[tail++] = seed;

    while (head < tail) {
        int p = l->queue[head++];
        for (int k = l->m->point_neighbour_first[p]; k < l->m->point_neighbour_first[p + 1]; k++) {
            int q = l->m->point_neighbours[k];
            if (l->level[q] >= 0) continue;
            l->level[q] = l->level[p] + 1;
            l->queue[tail++] = q;
        }
    }

    return tail - base;
}

/* Neighbours of p in its level that are on no path yet. */
static int free_degree(const layout *l, int p)
{
    int degree = 0;
    for (int k = l->m->point_neighbour_first[p]; k < l->m->point_neighbour_first[p + 1]; k++) {
        int q = l->m->point_neighbours[k];
        degree += l->level[q] == l->level[p] && !l->on[q];
    }
    return degree;
}

static bool touches_start(const layout *l, int p)
{
    for (int k = l->m->point_neighbour_first[p]; k < l->m->point_neighbour_first[p + 1]; k++)
        if (l->on[l->m->point_neighbours[k]] == 2) return true;
    return false;
}

/* Walk from p inside its level, always to the free neighbour with the fewest free neighbours of its own. */
static void walk(layout *l, int p)
{
    l->on[p] = 2;
    l->points[l->count++] = p;
    for (;;) {
        int best = -1, best_degree = 1 << 30;

        /* the neighbour with the fewest free neighbours */
        for (int k = l->m->point_neighbour_first[p]; k < l->m->point_neighbour_first[p + 1]; k++) {
            int q = l->m->point_neighbours[k];
            if (l->level[q] != l->level[p] || l->on[q]) continue;
            int degree = free_degree(l, q);
            if (degree < best_degree) {
                best = q;
                best_degree = degree;
            }
        }

        if (best < 0) break;
        p = best;
        l->on[p] = 1;
        l->points[l->count++] = p;
    }

    /* the path ends here */
    l->ends[l->count - 1] = 1;
}

/* Cover the level whose points are queue[begin..end). */
static void level_cover(layout *l, int begin, int end)
{
    for (;;) {
        /* Open ends first, so that no stub is left over; then the point next to an earlier start. */
        int best = -1, best_rank = 1 << 30;
        for (int k = begin; k < end; k++) {
            int p = l->queue[k];
            if (l->on[p]) continue;
            int rank = 2 * MIN(free_degree(l, p), 2) + !touches_start(l, p);
            if (rank < best_rank) {
                best = p;
                best_rank = rank;
            }
            if (rank == 0) break;
        }

        if (best < 0) return;
        walk(l, best);
    }
}

static void component_cover(layout *l, int seed)
{
    /* From anywhere to a far end, and the levels from there. */
    int reached = levels_fill(l, seed, l->count);
    int far = l->queue[l->count + reached - 1];
    for (int k = 0; k < reached; k++) l->level[l->queue[l->count + k]] = -1;

    int base = l->count;
    levels_fill(l, far, base);

    /* level by level */
    for (int begin = base; begin < base + reached;) {
        int end = begin + 1;
        while (end < base + reached && l->level[l->queue[end]] == l->level[l->queue[begin]]) end++;
        level_cover(l, begin, end);
        begin = end;
    }
}

static void paths_cut(layers_paths *paths, const uint8_t *ends)
{
    int first = 0, path = 0;
    for (int k = 0; k < paths->point_count; k++) {
        paths->path_of[k] = path;
        int length = k + 1 - first;
        if ((length >= PATH_POINTS && ends[k]) || length >= 2 * PATH_POINTS || k + 1 == paths->point_count)
            paths->path_first[++path] = first = k + 1;
    }
    paths->path_count = path;
}

static void sort_ints(int *values, int count)
{
    /* Shell sort: regions are small. */
    for (int gap = count / 2; gap > 0; gap /= 2)
        for (int i = gap; i < count; i++) {
            int v = values[i], j = i;
            for (; j >= gap && values[j - gap] > v; j -= gap) values[j] = values[j - gap];
            values[j] = v;
        }
}

/* Points on the way of a search along edges. */
typedef struct front {
    int *places;      /* found so far, in the order of their distance up to `settled` */
    float *distances; /* (point_count) by place, negative: not found */
    int count;
} front;

/* Places within `radius` of place k along edges, nearest first, by Dijkstra's method; regions are small. */
static void front_spread(front *f, const mesh *m, int k, float radius)
{
    f->count = 0;
    f->places[f->count++] = k;
    f->distances[k] = 0;

    for (int settled = 0; settled < f->count; settled++) {
        /* the nearest of the rest is next */
        int best = settled;
        for (int i = settled + 1; i < f->count; i++)
            if (f->distances[f->places[i]] < f->distances[f->places[best]]) best = i;
        int p = f->places[best];
        f->places[best] = f->places[settled];
        f->places[settled] = p;

        /* its neighbours, by way of it */
        for (int i = m->point_neighbour_first[p]; i < m->point_neighbour_first[p + 1]; i++) {
            int q = m->point_neighbours[i];
            float distance =
                f->distances[p] + vec3_distance(vec3_load(m->positions + 3 * p), vec3_load(m->positions + 3 * q));
            if (distance > radius) continue;
            if (f->distances[q] < 0) f->places[f->count++] = q;
            if (f->distances[q] < 0 || distance < f->distances[q]) f->distances[q] = distance;
        }
    }
}

static bool neighbours(const mesh *m, int p, int q)
{
    for (int i = m->point_neighbour_first[p]; i < m->point_neighbour_first[p + 1]; i++)
        if (m->point_neighbours[i] == q) return true;
    return false;
}

/*
 * The pairs of places k < q of one region: calls for each, in either order. Searched from the lower one alone, for
 * rounding must not make q one of k and not k one of q. visit NULL: counts only. Returns how many.
 */
static long pairs_visit(front *f, const mesh *m, const float *radii, int *counts, int *members)
{
    long pairs = 0;
    for (int k = 0; k < m->point_count; k++) {
        front_spread(f, m, k, radii[k]);

        /* what both have in reach */
        for (int i = 0; i < f->count; i++) {
            int q = f->places[i];
            bool in = q > k && f->distances[q] <= radii[q] && !neighbours(m, k, q);
            f->distances[q] = -1;
            if (!in) continue;

            if (members) {
                members[counts[k]] = q;
                members[counts[q]] = k;
            }
            counts[k]++;
            counts[q]++;
            pairs++;
        }

        /* neighbours in any case */
        for (int i = m->point_neighbour_first[k]; i < m->point_neighbour_first[k + 1]; i++) {
            int q = m->point_neighbours[i];
            if (q <= k) continue;

            if (members) {
                members[counts[k]] = q;
                members[counts[q]] = k;
            }
            counts[k]++;
            counts[q]++;
            pairs++;
        }
    }

    return pairs;
}

static int region_intervals(const layers_paths *paths, const int *region, int count, layers_interval *out)
{
    int n = 0;
    for (int i = 0; i < count;) {
        int path = paths->path_of[region[i]], j = i + 1;
        while (j < count && region[j] == region[j - 1] + 1 && paths->path_of[region[j]] == path) j++;
        if (out) out[n] = (layers_interval){region[i] + path, region[j - 1] + 1 + path};
        n++;
        i = j;
    }
    return n;
}

cutis_result layers_paths_build(layers_paths *paths, const mesh *m, arena *memory, const cutis_allocator *allocator,
                                cutis_error *error)
{
    int n = m->point_count;

    *paths = (layers_paths){.point_count = n};
    arena scratch = arena_create(allocator);
    layout l = {.m = m,
                .level = ARENA_ARRAY(&scratch, int, n),
                .queue = ARENA_ARRAY(&scratch, int, n),
                .on = ARENA_ARRAY(&scratch, uint8_t, n),
                .ends = ARENA_ARRAY(&scratch, uint8_t, n)};

    paths->points = l.points = ARENA_ARRAY(memory, int, n);
    paths->places = ARENA_ARRAY(memory, int, n);
    paths->path_of = ARENA_ARRAY(memory, int, n);
    paths->path_first = ARENA_ARRAY(memory, int, n + 1);
    bool failed = scratch.failed || memory->failed;

    /* components, one after the other */
    for (int p = 0; p < n && !failed; p++) l.level[p] = -1;
    for (int p = 0; p < n && !failed; p++)
        if (l.level[p] < 0) component_cover(&l, p);

    /* paths, and where each point stands in them */
    if (!failed) paths_cut(paths, l.ends);
    for (int k = 0; k < n && !failed; k++) paths->places[paths->points[k]] = k;

    arena_destroy(&scratch);
    return failed ? error_memory(error, "the path layout of solver layers") : CUTIS_OK;
}

cutis_result layers_paths_regions(layers_paths *paths, const mesh *m, const float *radii, arena *memory,
                                  const cutis_allocator *allocator, cutis_error *error)
{
    int n = paths->point_count;
    arena scratch = arena_create(allocator);
    front f = {.places = ARENA_ARRAY(&scratch, int, n), .distances = ARENA_ARRAY(&scratch, float, n)};
    int *counts = ARENA_ARRAY(&scratch, int, n + 1);
    paths->interval_first = ARENA_ARRAY(memory, int, n + 1);
    paths->member_first = ARENA_ARRAY(memory, int, n + 1);
    if (scratch.failed || memory->failed) goto out_of_memory;

    /* how many places each region holds, itself included, then which */
    for (int k = 0; k < n; k++) f.distances[k] = -1;
    for (int k = 0; k < n; k++) counts[k] = 1;

    pairs_visit(&f, m, radii, counts, NULL);
    for (int k = 0; k < n; k++) paths->member_first[k + 1] = paths->member_first[k] + counts[k];
    paths->members = ARENA_ARRAY(memory, int, paths->member_first[n] + 1);
    if (memory->failed) goto out_of_memory;

    /* each region begins with its own place */
    for (int k = 0; k < n; k++) {
        counts[k] = paths->member_first[k];
        paths->members[counts[k]++] = k;
    }

    pairs_visit(&f, m, radii, counts, paths->members);

    /* as intervals of paths */
    for (int k = 0; k < n; k++) {
        int *members = paths->members + paths->member_first[k];
        int count = paths->member_first[k + 1] - paths->member_first[k];
        sort_ints(members, count);
        paths->interval_first[k + 1] = paths->interval_first[k] + region_intervals(paths, members, count, NULL);
    }

    paths->intervals = ARENA_ARRAY(memory, layers_interval, paths->interval_first[n] + 1);
    if (memory->failed) goto out_of_memory;

    for (int k = 0; k < n; k++)
        region_intervals(paths, paths->members + paths->member_first[k],
                         paths->member_first[k + 1] - paths->member_first[k],
                         paths->intervals + paths->interval_first[k]);
    arena_destroy(&scratch);
    return CUTIS_OK;

out_of_memory:
    arena_destroy(&scratch);
    return error_memory(error, "the regions of solver layers");
}
