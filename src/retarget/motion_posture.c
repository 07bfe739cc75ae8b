/*
 * motion_posture.c: how a character stands beside a capture.
 *
 * People differ from a capture by where they face, and by proportion. A bird, a dinosaur or a dog does not stand as a
 * person: raised by its trunk it would drag its tail through the floor. Such a body keeps its own rest pose, from which
 * each joint turns as the capture's turns from standing; arms that are free point as the capture's.
 *
 * A body on four legs is moved as two people in the costume of a horse: its fore legs step as its hind legs do,
 * crosswise (the left one as the capture's right, a trot), its trunk stays level and heads where the capture's hips do.
 * What the capture's arms and spine do is lost.
 */
#include "retarget/motion_posture.h"

#include <math.h>

#include "math/math3.h"

static const double STANDS = 0.7;         /* cosine of the angle between the trunk and the vertical */
static const double LOW = 0.75;           /* fore legs end below this share of their own height above the floor */
static const double HEADING_LEAST = 0.05; /* radians, 3 degrees: measured people are askew by up to one */

/* The places that tell how a body stands, NULL where there is no such joint; left before right. */
typedef struct stance {
    const double *thighs[2], *arms[2], *bottom, *top;
} stance;

typedef struct stance_reader {
    int count;
    const joint_part *parts;
    const double *(*place)(const void *joints, int joint);
    const void *joints;
} stance_reader;

static const double *source_place(const void *joints, int joint) { return ((const bvh_joint *)joints)[joint].place; }

static const double *target_place(const void *joints, int joint) { return ((const target_joint *)joints)[joint].place; }

/* The first or the last joint of a kind, its place or NULL. */
static const double *part_place(const stance_reader *s, int kind, int side, bool last)
{
    int best = -1;
    for (int j = 0; j < s->count; j++) {
        if (s->parts[j].kind != kind || s->parts[j].side != side) continue;
        if (best < 0 || (last && s->parts[j].index > s->parts[best].index)) best = j;
    }
    return best >= 0 ? s->place(s->joints, best) : NULL;
}

static stance stance_read(const stance_reader *s)
{
    stance result;
    for (int i = 0; i < 2; i++) {
        result.thighs[i] = part_place(s, JOINT_UPPER_LEG, JOINT_SIDE_LEFT + i, false);
        result.arms[i] = part_place(s, JOINT_UPPER_ARM, JOINT_SIDE_LEFT + i, false);
    }

    /* without limbs, the trunk's own ends */
    static const int TOPS[3] = {JOINT_HEAD, JOINT_NECK, JOINT_SPINE};
    result.bottom = part_place(s, JOINT_HIPS, JOINT_SIDE_NONE, false);
    if (!result.bottom) result.bottom = part_place(s, JOINT_SPINE, JOINT_SIDE_NONE, false);
    result.top = NULL;
    for (int i = 0; i < 3 && !result.top; i++) result.top = part_place(s, TOPS[i], JOINT_SIDE_NONE, true);
    return result;
}

/* The cosine between the trunk and the vertical; NAN where there is no trunk. */
static double trunk_rise(const stance *s, bool arms)
{
    double way[3], length = 0;
    const double *bottom[2] = {s->thighs[0], s->thighs[1]}, *top[2] = {s->arms[0], s->arms[1]};
    if (!bottom[0] || !bottom[1]) bottom[0] = bottom[1] = s->bottom;
    if (!arms) top[0] = top[1] = s->top;
    if (!bottom[0] || !top[0]) return NAN;

    for (int k = 0; k < 3; k++) {
        way[k] = top[0][k] + top[1][k] - bottom[0][k] - bottom[1][k];
        length += way[k] * way[k];
    }
    return way[1] / sqrt(length);
}

/* The line across a body, from right to left, by the pairs that both bodies have; false: none. */
static bool across_find(const stance *s, const stance *other, double across[3])
{
    across[0] = across[1] = across[2] = 0;
    for (int pair = 0; pair < 2; pair++) {
        const double *const *own = pair ? s->arms : s->thighs, *const *beside = pair ? other->arms : other->thighs;
        if (!own[0] || !own[1] || !beside[0] || !beside[1]) continue;
        double length = place_distance(own[0], own[1]);
        for (int k = 0; k < 3 && length > 0; k++) across[k] += (own[0][k] - own[1][k]) / length;
    }
    return across[0] * across[0] + across[2] * across[2] > 1e-6;
}

/* The turn about the vertical that takes the direction `from` to `to`, both seen from above; none where it is small. */
static void heading_turn(const double from[3], const double to[3], double turn[4])
{
    double sine = from[2] * to[0] - from[0] * to[2];
    double cosine = from[0] * to[0] + from[2] * to[2];
    double angle = det_atan2(sine, cosine);
    if (fabs(angle) < HEADING_LEAST) angle = 0;
    turn[0] = 0;
    turn[1] = det_sin(angle / 2);
    turn[2] = 0;
    turn[3] = det_cos(angle / 2);
}

/* Whether the fore legs reach down to the floor. */
static bool stands_on_hands(const stance_reader *s, double floor)
{
    for (int side = JOINT_SIDE_LEFT; side < JOINT_SIDE_COUNT; side++) {
        double shoulder = NAN, low = INFINITY;
        for (int j = 0; j < s->count; j++) {
            int kind = s->parts[j].kind;
            if (s->parts[j].side != side || kind < JOINT_UPPER_ARM || kind > JOINT_HAND) continue;
            double height = s->place(s->joints, j)[1];
            if (kind == JOINT_UPPER_ARM && s->parts[j].index == 0) shoulder = height;
            low = fmin(low, height);
        }
        if (!(low - floor < LOW * (shoulder - floor))) return false;
    }
    return true;
}

/* Fore legs take the capture's legs crosswise; trunk and neck are carried, hips keep level. */
static void four_legs_match(const bvh_reader *r, const cutis_character *c, const joint_part *sources,
                            const joint_part *parts, target_joint *targets)
{
    static const int LEGS[3] = {JOINT_UPPER_LEG, JOINT_LOWER_LEG, JOINT_FOOT};
    for (int j = 0; j < c->joint_count; j++) {
        int kind = parts[j].kind;
        bool hind = kind >= JOINT_UPPER_LEG && kind <= JOINT_TOE;
        targets[j].level = kind == JOINT_HIPS;
        if (hind || kind == JOINT_HIPS || kind == JOINT_HEAD) continue;

        targets[j].source = -1;
        if (kind < JOINT_UPPER_ARM || kind > JOINT_HAND || parts[j].index > 0) continue;
        int side = parts[j].side == JOINT_SIDE_LEFT ? JOINT_SIDE_RIGHT : JOINT_SIDE_LEFT;
        for (int i = 0; i < r->joint_count; i++)
            if (sources[i].kind == LEGS[kind - JOINT_UPPER_ARM] && sources[i].side == side && sources[i].index == 0)
                targets[j].source = i;
    }
}

motion_posture motion_posture_find(const bvh_reader *r, const cutis_character *c, const joint_part *sources,
                                   const joint_part *parts, target_joint *targets, bool *person, double turn[4])
{
    stance_reader of_source = {r->joint_count, sources, source_place, r->joints};
    stance_reader of_target = {c->joint_count, parts, target_place, targets};
    stance own = stance_read(&of_target), other = stance_read(&of_source);
    turn[0] = turn[1] = turn[2] = 0;
    turn[3] = 1;

    /* trunks: to the arms where both have them */
    bool arms = own.arms[0] && own.arms[1] && other.arms[0] && other.arms[1];
    bool legs = own.thighs[0] && own.thighs[1] && other.thighs[0] && other.thighs[1];
    double own_rise = trunk_rise(&own, arms), other_rise = trunk_rise(&other, arms);
    *person = other_rise > STANDS;
    if (isnan(own_rise) || isnan(other_rise)) return POSTURE_UNKNOWN;
    bool upright = own_rise > STANDS, other_upright = *person;
    if (upright && other_upright && !(arms && legs)) return POSTURE_UNKNOWN;

    double from[3], to[3];
    if (across_find(&own, &other, from) && across_find(&other, &own, to)) heading_turn(from, to, turn);
    if (upright && other_upright) return POSTURE_UPRIGHT;
    if (!upright && !other_upright) return POSTURE_ANIMALS;
    if (!arms || !legs) return POSTURE_OWN;

    /* on four legs or not; a capture's floor is its lowest joint */
    double floor = INFINITY;
    for (int j = 0; j < r->joint_count; j++) floor = fmin(floor, r->joints[j].place[1]);
    if (upright) return stands_on_hands(&of_source, floor) ? POSTURE_NONE : POSTURE_OWN;
    if (!stands_on_hands(&of_target, (double)c->bounds_min[1])) return POSTURE_OWN;

    four_legs_match(r, c, sources, parts, targets);
    return POSTURE_FOUR;
}
