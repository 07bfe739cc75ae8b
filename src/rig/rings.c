/*
 * rings.c: iso-parametric curves on quads. Bian, Zheng, Chaudhry, You, Zhang 2018, section 4.
 *
 * From the far ends of the limbs inwards, each point that is on no curve yet starts one. Two curves pass a regular
 * point (one where four quads meet); the circumferential one is that whose points keep the more even distance from
 * their centre, the paper's test of d_max - d_min. A curve runs on over the edge opposite to the one it came by; it
 * is kept when it closes and meets no point of another curve.
 *
 * Departures: the paper tests directions by 20 rays in two planes and then follows the edge of the smallest angle to
 * the plane. Here the two candidate curves themselves are traced and tested, which needs no rays, follows bent rings,
 * and gives the same curves on regular quads. Points whose curve stays open are left to whoever uses the curves.
 */
#include <string.h>

#include "rig/rings.h"

enum { RING_MAX = 512, SPOKES = 4 };

/* The largest distance of a ring's points from its centre over the smallest. */
static const float LONGEST = 3.5f;

typedef struct quad_star {
    int count; /* neighbours by quad edges; regular when 4 */
    int neighbours[SPOKES];
    int opposite[SPOKES]; /* slot of the opposite neighbour */
    int pairs[SPOKES][2]; /* neighbours that share a quad */
    int pair_count;
} quad_star;

static void star_add(quad_star *s, int previous, int next)
{
    const int both[2] = {previous, next};
    for (int k = 0; k < 2; k++) {
        bool known = false;
        for (int i = 0; i < MIN(s->count, SPOKES); i++) known = known || s->neighbours[i] == both[k];
        if (known) continue;
        if (s->count < SPOKES) s->neighbours[s->count] = both[k];
        s->count++;
    }
    if (s->pair_count < SPOKES) memcpy(s->pairs[s->pair_count], both, sizeof both);
    s->pair_count++;
}

/* The neighbour that shares no quad with each; a star that is not four quads around is irregular. */
static void star_finish(quad_star *s)
{
    bool regular = s->count == SPOKES && s->pair_count == SPOKES;
    for (int i = 0; i < SPOKES && regular; i++) {
        int across = -1, found = 0;
        for (int k = 0; k < SPOKES; k++) {
            bool shared = k == i;
            for (int p = 0; p < SPOKES; p++)
                shared = shared || (s->pairs[p][0] == s->neighbours[i] && s->pairs[p][1] == s->neighbours[k]) ||
                         (s->pairs[p][1] == s->neighbours[i] && s->pairs[p][0] == s->neighbours[k]);
            if (!shared) across = k, found++;
        }
        regular = found == 1;
        s->opposite[i] = across;
    }
    if (!regular) s->count = 0;
}

/* Follow the curve from p over its spoke until it comes back. Returns the number of points, 0 when it stays open. */
static int curve_follow(const quad_star *stars, const int *ring_of, int p, int spoke, int *points)
{
    int count = 0, from = p, at = stars[p].neighbours[spoke];
    points[count++] = p;
    while (at != p) {
        const quad_star *s = &stars[at];
        int came = -1;
        if (count == RING_MAX || s->count != SPOKES || ring_of[at] >= 0) return 0;
        points[count++] = at;
        for (int i = 0; i < SPOKES; i++)
            if (s->neighbours[i] == from) came = i;
        from = at;
        at = s->neighbours[s->opposite[came]];
    }
    return count >= 5 ? count : 0;
}

/* d_max - d_min over the mean distance from the centre. */
static float unevenness(const float *positions, const int *points, int count)
{
    vec3 centre = {0, 0, 0};
    float least = INFINITY, most = 0, sum = 0;
    for (int i = 0; i < count; i++) centre = vec3_add(centre, vec3_load(positions + 3 * points[i]));
    centre = vec3_scale(centre, 1 / (float)count);
    for (int i = 0; i < count; i++) {
        float d = vec3_distance(centre, vec3_load(positions + 3 * points[i]));
        least = MIN(least, d);
        most = MAX(most, d);
        sum += d;
    }
    if (most > LONGEST * least) return INFINITY; /* it runs along a limb and back */
    /* Of two closed curves around a trunk, the shorter one is the ring: length decides where evenness does not. */
    return (most - least) + 0.5f * sum / (float)count;
}

/* Points with the farthest from the body's middle first, by counting. */
static void points_order(const mesh *m, const limbs *f, int *counts, int cells, int *order)
{
    float scale = (float)(cells - 1) / f->farthest;
    memset(counts, 0, (size_t)(cells + 1) * sizeof *counts);
    for (int i = 0; i < m->point_count; i++) {
        int cell = f->distances[i] < INFINITY ? cells - 1 - (int)(f->distances[i] * scale) : cells - 1;
        counts[cell + 1]++;
    }
    for (int c = 0; c < cells; c++) counts[c + 1] += counts[c];
    for (int i = 0; i < m->point_count; i++) {
        int cell = f->distances[i] < INFINITY ? cells - 1 - (int)(f->distances[i] * scale) : cells - 1;
        order[counts[cell]++] = i;
    }
}

cutis_result rings_trace(const cutis_character *character, const mesh *m, const limbs *f, arena *memory, rings *found,
                         cutis_error *error)
{
    enum { CELLS = 4096 };
    arena scratch = arena_create(&memory->allocator);
    int n = m->point_count, used = 0;
    quad_star *stars = ARENA_ARRAY(&scratch, quad_star, n);
    int *order = ARENA_ARRAY(&scratch, int, n), *counts = ARENA_ARRAY(&scratch, int, CELLS + 1);
    int curves[2][RING_MAX];
    found->count = 0;
    found->first = ARENA_ARRAY(memory, int, n / 5 + 2);
    found->points = ARENA_ARRAY(memory, int, n);
    found->ring_of = ARENA_ARRAY(memory, int, n);
    if (scratch.failed || memory->failed) {
        arena_destroy(&scratch);
        return error_memory(error, "rings");
    }
    for (int face = 0; face < character->face_count; face++) {
        int first = character->face_first[face], count = character->face_first[face + 1] - first;
        for (int k = 0; k < count; k++) {
            int p = character->vertex_points[character->corners[first + k]];
            int next = character->vertex_points[character->corners[first + (k + 1) % count]];
            int previous = character->vertex_points[character->corners[first + (k + count - 1) % count]];
            star_add(&stars[p], previous, next);
            if (count != 4) stars[p].pair_count = SPOKES + 1; /* not a quad: irregular for good */
        }
    }
    for (int i = 0; i < n; i++) star_finish(&stars[i]), found->ring_of[i] = -1;
    points_order(m, f, counts, CELLS, order);
    for (int k = 0; k < n; k++) {
        int p = order[k], best = -1, lengths[2];
        float evenness[2];
        if (found->ring_of[p] >= 0 || stars[p].count != SPOKES) continue;
        for (int c = 0; c < 2; c++) {
            /* Two curves: by the first spoke, and by one that is not opposite to it. */
            int spoke = c == 0 ? 0 : stars[p].opposite[0] == 1 ? 2 : 1;
            lengths[c] = curve_follow(stars, found->ring_of, p, spoke, curves[c]);
            evenness[c] = lengths[c] ? unevenness(m->positions, curves[c], lengths[c]) : INFINITY;
            if (evenness[c] < INFINITY && (best < 0 || evenness[c] < evenness[best])) best = c;
        }
        if (best < 0) continue;
        /* A curve that runs through itself is no ring. */
        bool simple = true;
        for (int i = 0; i < lengths[best]; i++) {
            simple = simple && found->ring_of[curves[best][i]] < 0;
            found->ring_of[curves[best][i]] = found->count;
        }
        if (!simple) {
            for (int i = 0; i < lengths[best]; i++) found->ring_of[curves[best][i]] = -1;
            continue;
        }
        memcpy(found->points + used, curves[best], (size_t)lengths[best] * sizeof(int));
        found->first[found->count++] = used;
        used += lengths[best];
        found->first[found->count] = used;
    }
    arena_destroy(&scratch);
    return CUTIS_OK;
}
