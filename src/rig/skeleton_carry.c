/*
 * skeleton_carry.c: a skeleton carried to new places by some of its joints.
 *
 * Landmarks and foreign skeletons need the same thing: the places of some joints are known, and the others shall come
 * along. A joint between two known ones keeps its place in their segment, turned and scaled with it; one beyond the
 * last known joint of a limb goes on as the segment before did.
 */
#include "rig/skeleton.h"

/* p under the turn and scale that take the segment a -> b to c -> d. */
static vec3 segment_map(vec3 a, vec3 b, vec3 c, vec3 d, vec3 p)
{
    vec3 from = vec3_sub(b, a);
    vec3 to = vec3_sub(d, c);
    float length = vec3_length(from);
    if (!(length > 0)) return vec3_add(c, vec3_sub(p, a));
    quat turn = quat_between(vec3_normalize(from), vec3_normalize(to));
    return vec3_madd(c, quat_rotate(turn, vec3_sub(p, a)), vec3_length(to) / length);
}

static int ancestor_held(const int *parents, const bool *held, int joint)
{
    int j = parents[joint];
    while (j >= 0 && !held[j]) j = parents[j];
    return j;
}

/* The held joint below that is nearest by bones, -1 for none. */
static int descendant_held(int count, const int *parents, const bool *held, int joint)
{
    int best = -1;
    int least = count;

    for (int k = 0; k < count; k++) {
        if (!held[k] || k == joint) continue;

        int steps = 0;
        int j = k;
        while (j >= 0 && j != joint) {
            j = parents[j];
            steps++;
        }

        if (j != joint || steps >= least) continue;
        least = steps;
        best = k;
    }

    return best;
}

/* Turn, scale and shift that take the held joints to their places best. */
typedef struct similarity {
    vec3 from, to; /* middles */
    quat turn;
    float scale;
} similarity;

static similarity similarity_find(int count, const vec3 *from, const bool *held, const vec3 *to)
{
    similarity s = {.turn = quat_identity(), .scale = 1};
    int n = 0;

    /* centres of the held joints */
    for (int j = 0; j < count; j++) {
        if (!held[j]) continue;
        s.from = vec3_add(s.from, from[j]);
        s.to = vec3_add(s.to, to[j]);
        n++;
    }

    if (n == 0) return s;
    s.from = vec3_scale(s.from, 1 / (float)n);
    s.to = vec3_scale(s.to, 1 / (float)n);

    /* the rotation of the covariance; a few points leave it open about their line, where the polar part stays put */
    mat3 covariance = {0};
    float spread[2] = {0, 0};
    for (int j = 0; j < count; j++) {
        if (!held[j]) continue;
        vec3 p = vec3_sub(from[j], s.from);
        vec3 q = vec3_sub(to[j], s.to);
        const float a[3] = {q.x, q.y, q.z};
        const float b[3] = {p.x, p.y, p.z};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) covariance.m[3 * r + c] += a[r] * b[c];

        spread[0] += vec3_length2(p);
        spread[1] += vec3_length2(q);
    }

    if (n < 3 || !(spread[0] > 0)) return s;
    s.scale = sqrtf(spread[1] / spread[0]);

    /* a body may face any way: the best of four starts */
    float least = INFINITY;
    for (int start = 0; start < 4; start++) {
        quat turn = polar_rotation(covariance, quat_axis_angle((vec3){0, 1, 0}, 1.57079632679 * start), 40);
        float away = 0;
        for (int j = 0; j < count; j++) {
            if (!held[j]) continue;
            vec3 p = vec3_madd(s.to, quat_rotate(turn, vec3_sub(from[j], s.from)), s.scale);
            away += vec3_length2(vec3_sub(p, to[j]));
        }

        if (away >= least) continue;
        least = away;
        s.turn = turn;
    }

    return s;
}

void skeleton_carry(int count, const int *parents, const vec3 *from, const bool *held, bool stay, vec3 *to)
{
    similarity all = similarity_find(count, from, held, to);
    for (int j = 0; j < count; j++) {
        if (held[j]) continue;

        int above = ancestor_held(parents, held, j);
        int below = descendant_held(count, parents, held, j);

        /* between two held joints */
        if (above >= 0 && below >= 0) {
            to[j] = segment_map(from[above], from[below], to[above], to[below], from[j]);
            continue;
        }

        if (stay) {
            to[j] = from[j];
            continue;
        }

        /* beyond the last known joint, or before the first */
        int last = above >= 0 ? above : below;
        int next = -1;
        if (above >= 0) next = ancestor_held(parents, held, above);
        if (above < 0 && below >= 0) next = descendant_held(count, parents, held, below);

        if (last >= 0 && next >= 0)
            to[j] = segment_map(from[next], from[last], to[next], to[last], from[j]);
        else
            to[j] = vec3_madd(all.to, quat_rotate(all.turn, vec3_sub(from[j], all.from)), all.scale);
    }
}
