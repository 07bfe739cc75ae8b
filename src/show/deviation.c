/*
 * deviation.c: one continuous bound on the deviation from linear skinning (see deviation.h).
 *
 * With s the skinned place of a point and d its deviation, s + f d is drawn. Two conditions lower the factor f:
 * - The distance |d| is free up to a share of the size, and saturates smoothly below a larger share.
 * - A pair (a, b) of span r at rest is whole when |s_a - s_b + d_a - d_b| <= TEAR_RATIO max(|s_a - s_b|, r)
 *   + TEAR_SLACK size: a convex set of fields that contains d = 0. Torn pairs are first drawn together, each end by
 *   half, but not further than it deviates. A few overstretched edges in a fold then move by what is too much. A factor
 * would move the whole fold back to skinning, which crosses there. A pair that is still torn after all rounds takes the
 * largest common factor that makes it whole. From a lowered point, f rises to its neighbours by at most their distance
 * over a reach. The reach is several times the largest deviation that is cut, so the slope of f tears little. Rounds
 * repeat this until no pair is torn. A factor is 1 at the edge of its condition and falls continuously beyond it, so
 * frames do not jump.
 */
#include "show/deviation.h"

#include <stdlib.h>
#include <string.h>

/* Near points may be this many times as far apart as at rest or under skinning; the verdict calls 2.5 torn. */
static const float TEAR_RATIO = 2.4f;
static const float TEAR_SLACK = 9e-4f; /* of the size: smaller pieces are invisible */
/*
 * Distance from skinning, over the size: free up to the first, below the second for any result. The distance of dual
 * quaternions is added: where a twist collapses linear skinning, flesh is elsewhere.
 */
static const float FREE_DISTANCE = 0.06f, MAX_DISTANCE = 0.08f;
/* Reach of a lowered factor: over the largest deviation that is cut, and over the size at least. */
static const float REACH_DEVIATIONS = 4, MIN_REACH = 0.05f;
static const float MIN_REPORTED_MOVE = 1e-4f; /* of the size: smaller moves are not counted */
static const float WHOLE_SHARE = 0.999f;      /* a pair whose factor is above this is whole but for rounding */
enum { MAX_ROUNDS = 24, MAX_SPREAD_PASSES = 64, MAX_CLOSING_ROUNDS = 24 };

/* ---- build ---- */

static int compare_pairs(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Edges and near points, each pair once. Returns their number. */
static int pairs_gather(const mesh *m, const int *near, int *pairs)
{
    int count = 0;
    memcpy(pairs, m->edges, 2 * (size_t)m->edge_count * sizeof(int));
    count = m->edge_count;
    for (int i = 0; i < MESH_NEAR * m->point_count; i++) {
        int p = i / MESH_NEAR, q = near[i];
        if (q < 0) continue;
        pairs[2 * (size_t)count] = MIN(p, q);
        pairs[2 * (size_t)count++ + 1] = MAX(p, q);
    }

    qsort(pairs, (size_t)count, 2 * sizeof(int), compare_pairs);

    /* without repetitions */
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept > 0 && compare_pairs(pairs + 2 * (size_t)i, pairs + 2 * (size_t)(kept - 1)) == 0) continue;
        memmove(pairs + 2 * (size_t)kept++, pairs + 2 * (size_t)i, 2 * sizeof(int));
    }

    return kept;
}

cutis_result deviation_build(deviation_bound *b, const cutis_character *c, const drawn_cracks *cracks,
                             const skinning *points, arena *memory, cutis_error *error)
{
    const mesh *m = &cracks->closed;
    *b = (deviation_bound){.joined = cracks->joined, .skinning = points};
    if (!c->influence_first || m->point_count == 0) return CUTIS_OK;

    arena scratch = arena_create(&memory->allocator);

    /* pairs that are near at rest */
    size_t room = (size_t)m->edge_count + MESH_NEAR * (size_t)m->point_count;
    int64_t(*cells)[2] = arena_push(&scratch, (size_t)m->point_count, sizeof *cells);
    int *near = ARENA_ARRAY(&scratch, int, MESH_NEAR *(size_t)m->point_count);
    int *pairs = ARENA_ARRAY(memory, int, 2 * room);
    float *spans = ARENA_ARRAY(memory, float, room);
    cutis_result result = CUTIS_OK;
    if (scratch.failed || memory->failed) result = error_memory(error, "bounds of the deviation");

    /* the pairs, and how far apart they are */
    if (!result) {
        mesh_near(m, c->bounds_min, (double)MAX(c->size, 1e-30f), cells, near);
        b->pair_count = pairs_gather(m, near, pairs);
        for (int i = 0; i < b->pair_count; i++)
            spans[i] = vec3_distance(vec3_load(m->positions + 3 * (size_t)pairs[2 * i]),
                                     vec3_load(m->positions + 3 * (size_t)pairs[2 * i + 1]));

        b->pairs = pairs;
        b->spans = spans;
        b->point_count = m->point_count;
    }

    arena_destroy(&scratch);
    return result;
}

/* ---- a frame ---- */

size_t deviation_scratch_count(const deviation_bound *b)
{
    if (b->point_count == 0) return 0;
    return 11 * (size_t)b->point_count + skinning_scratch_count(b->skinning);
}

/* A frame in work. */
typedef struct limiting {
    const deviation_bound *bound;
    const deviation_frame *frame;
    const float *skinned; /* (point_count x 3) */
    float *given;         /* (point_count x 3) deviation that is given */
    float *closed;        /* (point_count x 3) deviation after torn pairs were drawn together */
    float *turned;        /* (point_count x 3) places under dual quaternions */
    float *drawn;         /* (point_count x 3) */
    float *factors;       /* (point_count) of the deviation */
    float *next;          /* (point_count) */
    float reach;          /* scene units */
} limiting;

static vec3 pair_offset(const limiting *l, const float *places, int index)
{
    const int *pair = l->bound->pairs + 2 * (size_t)index;
    return vec3_sub(vec3_load(places + 3 * (size_t)pair[0]), vec3_load(places + 3 * (size_t)pair[1]));
}

/*
 * How far apart a pair may be. With |s + d| <= B, exaggerated by a, |s + a d| <= a B + (a - 1) |s|: what is whole as
 * simulated stays whole.
 */
static float pair_bound(const limiting *l, int index)
{
    const deviation_frame *f = l->frame;
    float length = vec3_length(pair_offset(l, l->skinned, index));
    float bound = TEAR_RATIO * MAX(length, l->bound->spans[index]) + TEAR_SLACK * f->size + f->slack.pull;
    return f->amount * bound + (f->amount - 1) * length;
}

/* The largest common factor of a pair's drawn deviations that makes it whole; 1: it is whole. */
static float pair_share(const limiting *l, int index)
{
    vec3 s = pair_offset(l, l->skinned, index);
    vec3 x = pair_offset(l, l->drawn, index);
    vec3 d = vec3_sub(x, s);
    float most = pair_bound(l, index);
    if (!(vec3_length2(x) > most * most)) return 1;

    /* |s + t d| = most; skinning itself, t = 0, is below */
    float a = vec3_length2(d), b = vec3_dot(s, d), c = vec3_length2(s) - most * most;
    return CLAMP((-b + sqrtf(MAX(b * b - a * c, 0))) / a, 0, 1);
}

/* Distance from skinning that is free for every point. */
static float free_distance(const limiting *l)
{
    const deviation_frame *f = l->frame;
    return f->amount * (FREE_DISTANCE * f->size + f->slack.swing + f->slack.pull);
}

/* The factor by the distance: 1 while it is free, then a smooth saturation. */
static float distance_factor(const limiting *l, float length, float slack)
{
    float amount = l->frame->amount;
    float least = free_distance(l) + amount * slack;
    float room = amount * (MAX_DISTANCE - FREE_DISTANCE) * l->frame->size;
    if (!(length > least)) return 1;
    float kept = least + room * (1 - (float)det_exp(-(double)((length - least) / room)));
    return kept / length;
}

/* Let factors rise from point to point by at most the distance over the reach. */
static void factors_spread(const limiting *l)
{
    const deviation_bound *b = l->bound;
    bool changed = true;

    for (int pass = 0; pass < MAX_SPREAD_PASSES && changed; pass++) {
        changed = false;
        for (int k = 0; k < b->pair_count; k++) {
            int i = pass % 2 ? b->pair_count - 1 - k : k;
            float *p = l->factors + b->pairs[2 * (size_t)i], *q = l->factors + b->pairs[2 * (size_t)i + 1];
            float rise = b->spans[i] / l->reach;

            changed |= *p > *q + rise || *q > *p + rise;
            *p = MIN(*p, *q + rise);
            *q = MIN(*q, *p + rise);
        }
    }
}

/* Lower factors by the distance from skinning. Returns the longest deviation that is cut; 0: none. */
static float factors_by_distance(const limiting *l)
{
    float longest = 0;
    for (int p = 0; p < l->bound->point_count; p++) {
        float length = vec3_length(vec3_load(l->closed + 3 * (size_t)p));
        float slack = vec3_distance(vec3_load(l->turned + 3 * (size_t)p), vec3_load(l->skinned + 3 * (size_t)p));
        l->factors[p] = distance_factor(l, length, slack);
        if (l->factors[p] < 1) longest = MAX(longest, length);
    }
    return longest;
}

/* Lower factors of torn pairs. *longest: of the deviations that are cut. Returns the lowest share of a pair. */
static float factors_by_tears(const limiting *l, float *longest)
{
    const deviation_bound *b = l->bound;
    float least = 1;
    memcpy(l->next, l->factors, (size_t)b->point_count * sizeof(float));

    for (int i = 0; i < b->pair_count; i++) {
        float share = pair_share(l, i);
        if (share >= 1) continue;
        least = MIN(least, share);
        for (int k = 0; k < 2; k++) {
            int p = b->pairs[2 * (size_t)i + (size_t)k];
            l->next[p] = MIN(l->next[p], l->factors[p] * share);
            *longest = MAX(*longest, vec3_length(vec3_load(l->closed + 3 * (size_t)p)));
        }
    }

    memcpy(l->factors, l->next, (size_t)b->point_count * sizeof(float));
    return least;
}

/* Whether a pair is torn. A cheap test first: most pairs are whole without a look at skinning. */
static bool pair_torn(const limiting *l, int index)
{
    float length2 = vec3_length2(pair_offset(l, l->drawn, index));
    float least = 0.999f * (TEAR_RATIO * l->bound->spans[index] + TEAR_SLACK * l->frame->size);
    return length2 > least * least && sqrtf(length2) > pair_bound(l, index);
}

/* How far the drawn place of a point is from skinning. */
static float drawn_distance(const limiting *l, size_t point)
{
    return vec3_distance(vec3_load(l->drawn + 3 * point), vec3_load(l->skinned + 3 * point));
}

/*
 * Draw torn pairs together, each end by half, but no end further than it deviates: a point that does not deviate stays.
 * Every step is continuous, and so are all of them.
 */
static void tears_close(const limiting *l)
{
    bool torn = true;
    for (int round = 0; round < MAX_CLOSING_ROUNDS && torn; round++) {
        torn = false;
        for (int i = 0; i < l->bound->pair_count; i++) {
            if (!pair_torn(l, i)) continue;
            torn = true;
            size_t a = (size_t)l->bound->pairs[2 * i], b = (size_t)l->bound->pairs[2 * i + 1];
            float away_a = drawn_distance(l, a), away_b = drawn_distance(l, b);
            vec3 offset = pair_offset(l, l->drawn, i);
            float length = vec3_length(offset), excess = length - WHOLE_SHARE * pair_bound(l, i);

            /* half at each end, but no end further than it deviates */
            float move_b = MIN(excess - MIN(0.5f * excess, away_a), away_b), move_a = excess - move_b;
            vec3_store(l->drawn + 3 * a, vec3_madd(vec3_load(l->drawn + 3 * a), offset, -move_a / length));
            vec3_store(l->drawn + 3 * b, vec3_madd(vec3_load(l->drawn + 3 * b), offset, move_b / length));
        }
    }
}

/* Draw what the factors leave of the deviations. */
static void factors_draw(const limiting *l)
{
    for (int p = 0; p < l->bound->point_count; p++)
        for (size_t e = 3 * (size_t)p; e < 3 * (size_t)p + 3; e++)
            if (l->factors[p] < 1) l->drawn[e] = l->skinned[e] + l->factors[p] * l->closed[e];
}

/*
 * Whether nothing is torn, nor beyond the free distance, as in most frames. With m the longest deviation, a pair is at
 * most 2 m further apart than under skinning, which cannot tear one of a span above (2 m - slack) / (TEAR_RATIO - 1).
 */
static bool frame_whole(const limiting *l)
{
    float least = free_distance(l), longest2 = 0;
    bool whole = true;
    for (int p = 0; p < l->bound->point_count; p++) {
        float length2 = vec3_length2(vec3_load(l->given + 3 * (size_t)p));
        whole &= length2 <= least * least;
        longest2 = length2 > longest2 ? length2 : longest2;
    }

    float span = (2.001f * sqrtf(longest2) - TEAR_SLACK * l->frame->size) / (TEAR_RATIO - 1);
    for (int i = 0; i < l->bound->pair_count && whole; i++) whole = l->bound->spans[i] > span || !pair_torn(l, i);
    return whole;
}

/* Count the points that have moved by what can be seen. */
static deviation_stats count_moves(const limiting *l)
{
    deviation_stats stats = {0, -1};
    float most = MIN_REPORTED_MOVE * l->frame->size;
    for (int p = 0; p < l->bound->point_count; p++) {
        vec3 before = vec3_add(vec3_load(l->skinned + 3 * (size_t)p), vec3_load(l->given + 3 * (size_t)p));
        float change = vec3_distance(before, vec3_load(l->drawn + 3 * (size_t)p));

        stats.points += change > MIN_REPORTED_MOVE * l->frame->size;
        if (change > most) stats.worst = p;
        most = MAX(most, change);
    }
    return stats;
}

deviation_stats deviation_limit(const deviation_bound *b, const deviation_frame *frame, float *scratch,
                                const cutis_jobs *jobs, float *points)
{
    if (b->point_count == 0) return (deviation_stats){0, -1};

    /* the deviation */
    size_t count = (size_t)b->point_count;
    limiting l = {.bound = b, .frame = frame, .skinned = frame->skinned, .drawn = points};
    l.given = scratch;
    l.closed = l.given + 3 * count;
    l.turned = l.closed + 3 * count;
    l.factors = l.turned + 3 * count;
    l.next = l.factors + count;
    cracks_follow(b->joined, b->point_count, l.skinned, points);
    for (size_t i = 0; i < 3 * count; i++) l.given[i] = points[i] - l.skinned[i];
    if (frame_whole(&l)) return (deviation_stats){0, -1};

    /* a few torn pairs are drawn together */
    tears_close(&l);
    for (size_t i = 0; i < 3 * count; i++) l.closed[i] = points[i] - l.skinned[i];

    /* factors by the distance, then by tears that are left, round by round */
    skinning_dual(b->skinning, frame->skin, l.next + count, jobs, l.turned);
    float longest = factors_by_distance(&l), least = 0;
    for (int round = 0; round < MAX_ROUNDS && least < WHOLE_SHARE; round++) {
        l.reach = MAX(MIN_REACH * frame->size, REACH_DEVIATIONS * longest);
        factors_spread(&l);
        factors_draw(&l);
        least = factors_by_tears(&l, &longest);
    }
    factors_draw(&l);

    cracks_follow(b->joined, b->point_count, l.skinned, points);
    return count_moves(&l);
}
