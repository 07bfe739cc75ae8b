/*
 * rings.c: iso-parametric curves on quads. Bian, Zheng, Chaudhry, You, Zhang 2018, section 4.
 *
 * From the far ends of the limbs inwards, each point that is on no curve yet starts one. Two curves pass a point where
 * four quads meet. One that would cross a ring that is there already is out, and so is one that does not close; where
 * both are possible, the rays of ray_test.h decide which one goes around. The curve runs on over the edge opposite to
 * the one it came by; it is kept when it closes and meets no point of another curve. Where it stays open its edges are
 * marked, so that every edge is walked over once.
 *
 * Departures: the paper follows the edge of the smallest angle to the plane of the rays. On regular quads this is the
 * opposite edge, which follows bent rings too. Points whose curve stays open are left to whoever uses the curves.
 */
#include <string.h>

#include "limbs/ray_test.h"
#include "limbs/rings.h"

enum { RING_MAX = 512, RING_MIN = 5 };

/* The largest distance of a ring's points from its centre over the smallest: beyond it, it runs along a limb and back.
 */
static const float LONGEST = 3.5f;

typedef struct tracer {
    const quads *q;
    const mesh *m;
    rings *found;
    uint8_t *dead; /* (half-edges) on a curve that stays open */
    int used;      /* points on rings */
    int paths[2][RING_MAX];
} tracer;

/* Some points tell whether it keeps about the same distance from its centre. */
bool ring_accept(const mesh *m, const int *points, int count)
{
    enum { SAMPLES = 16 };
    vec3 places[SAMPLES], centre = {0, 0, 0};
    float least = INFINITY, most = 0;
    int samples = MIN(count, SAMPLES);
    if (count < RING_MIN || count > RING_MAX) return false;

    /* centre of samples along the ring */
    for (int i = 0; i < samples; i++) {
        places[i] = vec3_load(m->positions + 3 * (size_t)points[(unsigned)(i * count) / (unsigned)samples]);
        centre = vec3_add(centre, places[i]);
    }

    centre = vec3_scale(centre, 1 / (float)samples);
    for (int i = 0; i < samples; i++) {
        float d = vec3_length2(vec3_sub(places[i], centre));
        least = MIN(least, d);
        most = MAX(most, d);
    }

    return most <= LONGEST * LONGEST * least;
}

/*
 * Follow the curve from the start of h until it comes back. Returns its number of points, 0 when it stays open
 * or is not round.
 */
static int curve_follow(tracer *t, int h, int *path)
{
    const quads *q = t->q;
    const int *ring_of = t->found->ring_of, *corners = q->corners, *ahead = q->ahead;
    int count = 0, start = corners[h], next = h, points[RING_MAX];
    bool closed = false;

    /* straight on until it closes or runs into something known */
    while (count < RING_MAX && !closed) {
        points[count] = corners[next];
        path[count++] = h = next;
        next = ahead[h];
        if (next < 0) break;
        closed = corners[next] == start;
        if (!closed && (ring_of[corners[next]] >= 0 || t->dead[next])) break;
    }
    if (closed && ring_accept(t->m, points, count)) return count;

    /* both directions are known not to close */
    for (int i = 0; i < count; i++) {
        int back = q->twins[path[i]];
        t->dead[path[i]] = 1;
        if (back >= 0) t->dead[back] = 1;
    }

    return 0;
}

/* Keep the curve in `path`, unless it runs through itself. */
static void ring_add(tracer *t, const int *path, int count)
{
    rings *r = t->found;

    /* a point twice on it: undo */
    for (int i = 0; i < count; i++) {
        int p = quad_start(t->q, path[i]);
        if (r->ring_of[p] >= 0) {
            while (i-- > 0) r->ring_of[quad_start(t->q, path[i])] = -1;
            return;
        }
        r->ring_of[p] = r->count;
        r->points[t->used + i] = p;
    }

    r->first[r->count++] = t->used;
    t->used += count;
    r->first[r->count] = t->used;
}

/* The 20 rays of both directions: whether the second one goes around. */
static bool second_is_around(tracer *t, int p, int first, int second)
{
    const float *x = t->m->positions;
    const quads *q = t->q;
    vec3 at = vec3_load(x + 3 * (size_t)p);
    vec3 a = vec3_sub(vec3_load(x + 3 * (size_t)quad_end(q, first)), at);
    vec3 b = vec3_sub(vec3_load(x + 3 * (size_t)quad_end(q, second)), at);
    t->found->tests++;

    /* Into the facet between the two edges; on a surface that is turned inside out, the other way. */
    for (int side = 0; side < 2; side++) {
        vec3 inward = side ? vec3_cross(a, b) : vec3_cross(b, a);
        float first_d = section_test(t->m, p, inward, a, NULL), second_d = section_test(t->m, p, inward, b, NULL);
        if (first_d < INFINITY || second_d < INFINITY) return second_d < first_d;
    }

    return false;
}

static void ring_try(tracer *t, int p)
{
    const quads *q = t->q;
    const int *ring_of = t->found->ring_of;
    int directions[2], lengths[2], count = 0, spokes[2] = {q->spokes[p], quad_turn(q, q->spokes[p])};

    /* rings along both edge directions */
    for (int k = 0; k < 2; k++) {
        if (t->dead[spokes[k]] || ring_of[quad_end(q, spokes[k])] >= 0) continue;
        directions[count] = spokes[k];
        lengths[count] = curve_follow(t, spokes[k], t->paths[count]);
        count += lengths[count] > 0;
    }
    if (count == 0) return;

    /* of two the rounder one */
    int around = count == 2 && second_is_around(t, p, directions[0], directions[1]);
    ring_add(t, t->paths[around], lengths[around]);
}

/* Points with the farthest from the middle first, by counting. cells: (point_count) scratch. */
static void points_sort(const mesh *m, vec3 middle, float size, int *cells, int *order)
{
    enum { CELLS = 512 };
    int counts[CELLS + 1] = {0};
    float scale = 4 * CELLS / (size * size);
    for (int i = 0; i < m->point_count; i++) {
        float d = vec3_length2(vec3_sub(vec3_load(m->positions + 3 * (size_t)i), middle));
        cells[i] = CELLS - 1 - MIN((int)(d * scale), CELLS - 1);
    }
    for (int i = 0; i < m->point_count; i++) counts[cells[i] + 1]++;
    for (int c = 0; c < CELLS; c++) counts[c + 1] += counts[c];
    for (int i = 0; i < m->point_count; i++) order[counts[cells[i]]++] = i;
}

cutis_result rings_reserve(const quads *q, const mesh *m, arena *memory, rings *found, cutis_error *error)
{
    int n = m->point_count;
    *found = (rings){0};
    found->first = ARENA_ARRAY(memory, int, n / RING_MIN + 2);
    found->points = ARENA_ARRAY(memory, int, n);
    found->ring_of = ARENA_ARRAY(memory, int, n);
    found->order = ARENA_ARRAY(memory, int, n);
    found->dead = ARENA_ARRAY(memory, uint8_t, 4 * (size_t)q->count + 1);
    return memory->failed ? error_memory(error, "rings") : CUTIS_OK;
}

void rings_trace(const quads *q, const mesh *m, vec3 middle, float size, rings *found)
{
    tracer t = {.q = q, .m = m, .found = found, .dead = found->dead};
    memset(found->ring_of, -1, (size_t)m->point_count * sizeof(int));
    if (q->count == 0) return;
    points_sort(m, middle, size, found->points, found->order); /* no ring has points yet */
    for (int k = 0; k < m->point_count; k++) {
        int p = found->order[k];
        if (found->ring_of[p] < 0 && q->valence[p] == 4) ring_try(&t, p);
    }
}
