/*
 * deviation.c: bounds on the deviation from linear skinning (see deviation.h).
 *
 * With s the skinned place of a point and d its deviation, s + d is shown. A pair (a, b) of span r at rest is whole
 * when |s_a - s_b + d_a - d_b| <= TEAR_RATIO max(|s_a - s_b|, r) + TEAR_SLACK size: a convex set of fields that holds d
 * = 0. A drag adds its length to the right side.
 *
 * Before that, shallow crossings of the drawn mesh are taken out (parting.h). Then:
 * 1. Where flesh has exploded (a pair GROSS times as far apart as that, or a point beyond the bound of the distance)
 *    s + f d is shown instead, f in 0..1. Each round takes, for every such pair, the largest common factor that mends
 *    it, and spreads it: f rises from any point to its neighbours by no more than their distance over a reach, which
 *    is several times the largest deviation that is cut, so that the slope of f itself tears nothing.
 * 2. What is torn by less is drawn together: both points of a pair by half of the excess, in turn over all pairs.
 * 3. What that leaves is mended by one factor for all points.
 * 4. Where more triangles cross than under skinning (a limb on its way through another, which contact held longer than
 *    skinning did), and parting them the other way does not help, less and less of the deviation is shown, by the
 *    factors of 1.
 */
#include "show/deviation.h"

#include <stdlib.h>
#include <string.h>

/* Near points may be this many times as far apart as at rest or under skinning; the verdict calls 2.5 torn. */
static const float TEAR_RATIO = 2.4f;
static const float GROSS = 2;          /* times that: the whole region falls back */
static const float TEAR_SLACK = 9e-4f; /* of the size: specks show nothing */
/*
 * Distance from skinning, over the size: as it is up to the first, below the second whatever the solver says. What
 * dual quaternions are away from linear skinning is added: where a twist collapses it, flesh is elsewhere.
 */
static const float DISTANCE_FREE = 0.06f, DISTANCE_MOST = 0.08f;
/* Way over which a region goes back to the result: over the largest deviation that is cut, and over the size at least.
 */
static const float REACH_DEVIATIONS = 4, REACH_LEAST = 0.05f;
static const float MOVE_TOLD = 1e-4f; /* of the size: points that are moved by less do not count as fallen back */
/*
 * Where more triangles cross than under skinning, this share of the deviation is taken away first, twice as much in
 * each round after it, at last all: at most about twice of what is needed, so that a crossing that begins takes little
 * away and frames do not jump. The way back is shorter there, for only crossings are cut, and they are many.
 */
static const float CROSSING_CUT = 0.01f, CROSSING_REACH = 2, CROSSING_REACH_LEAST = 0.01f;
enum { CROSSING_ROUNDS = 8 };
enum { ROUNDS = 12, SPREAD_PASSES = 64, DRAW_PASSES = 32 };

/* ---- build ---- */

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

    qsort(pairs, (size_t)count, 2 * sizeof(int), parting_compare);

    /* without repetitions */
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept > 0 && parting_compare(pairs + 2 * (size_t)i, pairs + 2 * (size_t)(kept - 1)) == 0) continue;
        memmove(pairs + 2 * (size_t)kept++, pairs + 2 * (size_t)i, 2 * sizeof(int));
    }

    return kept;
}

cutis_result deviation_build(deviation_bound *b, const cutis_character *c, const drawn_cracks *cracks, arena *memory,
                             cutis_error *error)
{
    const mesh *m = &cracks->closed;
    *b = (deviation_bound){.size = c->size, .joined = cracks->joined};
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
        result = skinning_build_points(&b->skinning, c, &scratch, memory, error);
    }

    /* after a failure it has no points, and limits nothing */
    if (!result) b->point_count = m->point_count;
    arena_destroy(&scratch);
    return result;
}

/* ---- a frame ---- */

size_t deviation_scratch_count(const deviation_bound *b)
{
    if (b->point_count == 0) return 0;
    return 11 * (size_t)b->point_count + MAX(skinning_scratch_count(&b->skinning), parting_scratch_count(&b->parting));
}

/* What happens to a frame. */
typedef struct limiting {
    const deviation_bound *bound;
    const float *skinned; /* (point_count x 3) */
    float *moved;         /* (point_count x 3) deviation of the result */
    float *turned;        /* (point_count x 3) places under dual quaternions */
    float *shown;         /* (point_count x 3) */
    float *factors;       /* (point_count) of the deviation that is shown */
    float *next;          /* (point_count) */
    float size;           /* of the skinned frame, where joints scale it up, scene units */
    float reach;          /* scene units */
    deviation_slack slack;
    float amount; /* 1 or more: by which the deviation is exaggerated */
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
    float length = vec3_length(pair_offset(l, l->skinned, index));
    float bound = TEAR_RATIO * MAX(length, l->bound->spans[index]) + TEAR_SLACK * l->size + l->slack.pull;
    return l->amount * bound + (l->amount - 1) * length;
}

/* The share of what is shown of a pair's deviations that leaves it whole, if it is torn `times` its bound; else 1. */
static float pair_share(const limiting *l, int index, float times)
{
    vec3 s = pair_offset(l, l->skinned, index), x = pair_offset(l, l->shown, index), d = vec3_sub(x, s);
    float most = pair_bound(l, index);
    if (!(vec3_length2(x) > times * times * most * most)) return 1;

    /* |s + t d| = most; skinning itself, t = 0, is below */
    float a = vec3_length2(d), b = vec3_dot(s, d), c = vec3_length2(s) - most * most;
    return CLAMP((-b + sqrtf(MAX(b * b - a * c, 0))) / a, 0, 1);
}

/* How far a point may be from skinning, whatever dual quaternions say, before anything is cut. */
static float distance_free(const limiting *l)
{
    return l->amount * (DISTANCE_FREE * l->size + l->slack.swing + l->slack.pull);
}

/* The factor at which a deviation of a length comes to its bound: smooth, 1 while it is short. */
static float distance_factor(const limiting *l, float length, float slack)
{
    float least = distance_free(l) + l->amount * slack, room = l->amount * (DISTANCE_MOST - DISTANCE_FREE) * l->size;
    if (!(length > least)) return 1;
    float kept = least + room * (1 - (float)det_exp(-(double)((length - least) / room)));
    return kept / length;
}

/* Let factors rise from point to point by no more than the distance over the reach. */
static void factors_spread(const limiting *l)
{
    const deviation_bound *b = l->bound;
    bool changed = true;

    for (int pass = 0; pass < SPREAD_PASSES && changed; pass++) {
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

/* Lower the factors of pairs torn far. Returns the longest deviation of their points; negative: none is torn. */
static float factors_mend(const limiting *l)
{
    const deviation_bound *b = l->bound;
    float longest = -1;
    memcpy(l->next, l->factors, (size_t)b->point_count * sizeof(float));

    for (int i = 0; i < b->pair_count; i++) {
        float share = pair_share(l, i, GROSS);
        if (share >= 1) continue;
        for (int k = 0; k < 2; k++) {
            int p = b->pairs[2 * (size_t)i + (size_t)k];
            l->next[p] = MIN(l->next[p], l->factors[p] * share);
            longest = MAX(longest, vec3_length(vec3_load(l->moved + 3 * (size_t)p)));
        }
    }

    memcpy(l->factors, l->next, (size_t)b->point_count * sizeof(float));
    return longest;
}

/* Show what the factors leave of the deviations. */
static void factors_show(const limiting *l)
{
    for (int p = 0; p < l->bound->point_count; p++)
        for (size_t e = 3 * (size_t)p; e < 3 * (size_t)p + 3; e++)
            if (l->factors[p] < 1) l->shown[e] = l->skinned[e] + l->factors[p] * l->moved[e];
}

/* Draw torn pairs together; what is where skinning has it stays there. Returns whether any was torn. */
static bool pairs_draw(const limiting *l)
{
    const deviation_bound *b = l->bound;
    bool any = false, torn = true;

    for (int pass = 0; pass < DRAW_PASSES && torn; pass++) {
        torn = false;
        for (int i = 0; i < b->pair_count; i++) {
            vec3 offset = pair_offset(l, l->shown, i);
            float length = vec3_length(offset), most = pair_bound(l, i);
            if (!(length > most)) continue;
            torn = true;

            /* both by half of the excess, or the one that is free by all of it */
            size_t p = 3 * (size_t)b->pairs[2 * (size_t)i], q = 3 * (size_t)b->pairs[2 * (size_t)i + 1];
            bool held[2] = {vec3_length2(vec3_load(l->moved + p)) == 0, vec3_length2(vec3_load(l->moved + q)) == 0};
            float part = held[0] || held[1] ? 1 : 0.5f;
            vec3 pull = vec3_scale(offset, part * (length - most) / length);
            if (!held[0]) vec3_store(l->shown + p, vec3_sub(vec3_load(l->shown + p), pull));
            if (!held[1]) vec3_store(l->shown + q, vec3_add(vec3_load(l->shown + q), pull));
        }

        any |= torn;
    }

    return any;
}

/* What is still torn is mended by one factor for all: skinning is whole, and so is all on the way to it. */
static void pairs_finish(const limiting *l)
{
    float least = 1;
    for (int i = 0; i < l->bound->pair_count; i++) least = MIN(least, pair_share(l, i, 1.001f));
    for (int i = 0; i < 3 * l->bound->point_count && least < 1; i++)
        l->shown[i] = l->skinned[i] + least * (l->shown[i] - l->skinned[i]);
}

/* Factors by the bound of the distance. Returns the longest deviation that is cut; negative: none. */
static float factors_begin(const limiting *l)
{
    float longest = -1;
    for (int p = 0; p < l->bound->point_count; p++) {
        float length = vec3_length(vec3_load(l->moved + 3 * (size_t)p));
        float slack = vec3_distance(vec3_load(l->turned + 3 * (size_t)p), vec3_load(l->skinned + 3 * (size_t)p));
        l->factors[p] = distance_factor(l, length, slack);
        if (l->factors[p] < 1) longest = MAX(longest, length);
    }
    return longest;
}

/* Whether a pair is further apart than it may be. Most are not even when skinning is not asked. */
static bool pair_torn(const limiting *l, int index)
{
    float length2 = vec3_length2(pair_offset(l, l->shown, index));
    float least = 0.999f * (TEAR_RATIO * l->bound->spans[index] + TEAR_SLACK * l->size);
    return length2 > least * least && sqrtf(length2) > pair_bound(l, index);
}

/*
 * Whether nothing is torn, nor beyond the least bound of the distance: so it is in most frames. With m the longest
 * deviation, a pair is at most 2 m further apart than under skinning, which cannot tear one of a span above
 * (2 m - slack) / (TEAR_RATIO - 1).
 */
static bool frame_whole(const limiting *l)
{
    float least = distance_free(l), longest2 = 0;
    bool whole = true;
    for (int p = 0; p < l->bound->point_count; p++) {
        float length2 = vec3_length2(vec3_load(l->moved + 3 * (size_t)p));
        whole &= length2 <= least * least;
        longest2 = length2 > longest2 ? length2 : longest2;
    }

    float span = (2.001f * sqrtf(longest2) - TEAR_SLACK * l->size) / (TEAR_RATIO - 1);
    for (int i = 0; i < l->bound->pair_count && whole; i++) whole = l->bound->spans[i] > span || !pair_torn(l, i);
    return whole;
}

/* The diagonal of the bounds of positions, or `least`. */
static float frame_size(const float *positions, int count, float least)
{
    vec3 low = vec3_load(positions), high = low;
    for (int p = 1; p < count; p++) {
        low = vec3_min(low, vec3_load(positions + 3 * (size_t)p));
        high = vec3_max(high, vec3_load(positions + 3 * (size_t)p));
    }
    return MAX(vec3_distance(low, high), least);
}

/* Part crossing triangles one way. Counts the points that have gone. Returns whether more cross than under skinning. */
static bool crossings_part_way(limiting *l, bool outward, float *scratch, const cutis_jobs *jobs, int *parted)
{
    const deviation_bound *b = l->bound;
    bool crossed = false;
    *parted = parting_run(&b->parting, l->skinned, l->size, outward, scratch, jobs, l->shown, &crossed);
    cracks_follow(b->joined, b->point_count, l->skinned, l->shown);
    return crossed && parting_worse(&b->parting, l->skinned, l->shown, scratch, (int *)l->next);
}

/*
 * Part crossing triangles, `moved` being where points come from: the shortest way, or, where that leaves more crossings
 * than skinning has, out of both surfaces, if that leaves no more. Returns as the above.
 */
static bool crossings_part(limiting *l, float *scratch, const cutis_jobs *jobs, int *parted)
{
    size_t bytes = 3 * (size_t)l->bound->point_count * sizeof(float);
    if (!crossings_part_way(l, false, scratch, jobs, parted)) return false;

    /* the other way, from the same places */
    float *first = l->turned;
    int gone;
    memcpy(first, l->shown, bytes);
    memcpy(l->shown, l->moved, bytes);
    if (!crossings_part_way(l, true, scratch, jobs, &gone)) {
        *parted = gone;
        return false;
    }

    memcpy(l->shown, first, bytes);
    return true;
}

/*
 * Where more triangles cross than under skinning, less of the deviation is shown, round by round, at last none. Returns
 * whether there were such places.
 */
static bool crossings_cut(limiting *l, float *scratch)
{
    const deviation_bound *b = l->bound;
    int *marks = (int *)l->next, round = 0;
    float cut = CROSSING_CUT;

    while (round < CROSSING_ROUNDS && parting_worse(&b->parting, l->skinned, l->shown, scratch, marks)) {
        float longest = 0, most = ++round < CROSSING_ROUNDS ? 1 - cut : 0;
        cut *= 2;
        for (int p = 0; p < b->point_count; p++) {
            if (!marks[p]) continue;
            l->factors[p] = MIN(l->factors[p], most);
            longest = MAX(longest, vec3_length(vec3_load(l->moved + 3 * (size_t)p)));
        }

        /* the slope of the factors tears nothing */
        l->reach = MAX(CROSSING_REACH_LEAST * l->size, CROSSING_REACH * longest);
        factors_spread(l);
        factors_show(l);
        if (pairs_draw(l)) pairs_finish(l);
    }

    return round > 0;
}

deviation_stats deviation_limit(const deviation_bound *b, const float *skin, deviation_slack slack, float amount,
                                float *scratch, const cutis_jobs *jobs, float *points)
{
    deviation_stats stats = {0, -1, 0};
    if (b->point_count == 0) return stats;

    /* linear skinning, and the frame's size */
    size_t count = (size_t)b->point_count;
    float *skinned = scratch, *moved = skinned + 3 * count, *turned = moved + 3 * count, *factors = turned + 3 * count;
    skinning_linear(&b->skinning, skin, factors + 2 * count, jobs, skinned);
    float size = frame_size(skinned, b->point_count, b->size);

    for (size_t i = 0; i < 3 * count && amount != 1; i++) points[i] = skinned[i] + amount * (points[i] - skinned[i]);

    /* crossings */
    memcpy(moved, points, 3 * count * sizeof(float));
    limiting l = {b, skinned, moved, turned, points, factors, factors + count, size, REACH_LEAST * size, slack, amount};
    bool part = b->parting.mesh, worse = part && crossings_part(&l, factors + 2 * count, jobs, &stats.parted);
    cracks_follow(b->joined, b->point_count, skinned, points);
    for (size_t i = 0; i < 3 * count; i++) moved[i] = points[i] - skinned[i];
    if (!worse && frame_whole(&l)) return stats;
    skinning_dual(&b->skinning, skin, factors + 2 * count, jobs, turned);

    /* regions that have exploded, round by round */
    float cut = factors_begin(&l);
    bool any = cut >= 0;
    for (int round = 0; round < ROUNDS; round++) {
        float torn = factors_mend(&l);
        any |= torn >= 0;
        if (torn < 0 && (round > 0 || !any)) break;

        l.reach = MAX(l.reach, REACH_DEVIATIONS * MAX(cut, torn));
        factors_spread(&l);
        factors_show(&l);
    }

    /* what is torn by less, then what crosses more than skinning does */
    if (pairs_draw(&l)) {
        pairs_finish(&l);
        any = true;
    }
    if (part && (worse || any) && crossings_cut(&l, factors + 2 * count)) {
        stats.parted++;
        any = true;
    }
    if (!any) return stats;

    cracks_follow(b->joined, b->point_count, skinned, points);

    /* what that changed */
    float most = MOVE_TOLD * size;
    for (size_t p = 0; p < count; p++) {
        vec3 before = vec3_add(vec3_load(skinned + 3 * p), vec3_load(moved + 3 * p)), now = vec3_load(points + 3 * p);
        float change = vec3_distance(before, now);
        stats.points += change > MOVE_TOLD * size;
        if (change > most) stats.worst = (int)p;
        most = MAX(most, change);
    }

    return stats;
}
