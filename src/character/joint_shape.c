/*
 * joint_shape.c: what a joint is by the shape of its skeleton.
 *
 * "Bone.012" and names in a language that the table of joint_parts.c does not have say nothing, but a skeleton looks
 * like its body. Legs are the two longest chains with one parent that go down to the ground; arms the two longest
 * chains above them, one to each side of the plane between the legs. Upper and lower bone of a limb are its two long
 * bones in a row. The spine is the way from where the legs join to where the arms join, the head what stands above.
 * Feet tell the front, and so left from right; a body without feet faces +Z, as glTF has it.
 */
#include "character/joint_shape.h"

#include <math.h>
#include <string.h>

#include "base/core.h"

/* Shares of the skeleton's height. */
static const double LEG_DROP = 0.25;     /* a leg is longer; people have 0.45 to 0.5 */
static const double LEG_GROUND = 0.2;    /* its end is lower than this */
static const double ARM_REACH = 0.15;    /* an arm is longer, */
static const double ARM_SIDE = 0.08;     /* ends further than this from the plane between the legs, */
static const double ARM_LEVEL = 0.35;    /* and no higher or lower than the other by more */
static const double HIP_RADIUS = 0.2;    /* the hips are nearer than this to the middle of the thighs */
static const double FACING_LEAST = 0.02; /* feet that show less tell nothing */

static const double LIKE = 0.75;  /* a limb is at least this long, by the other one's length */
static const double SHORT = 0.6;  /* a collar or hip bone is at most this long, by the long bone behind it */
static const double INNER = 0.25; /* a collar begins nearer to the middle than this, by where it ends */

enum { CHAIN_LIMIT = 64 };

typedef struct skeleton_shape {
    int count;
    const int *parents;
    const double (*places)[3], (*skins)[3];
    const bool *uses;
    double *reach;      /* (count) length of the longest chain from the joint outwards */
    int *next;          /* (count) the joint's child on it, -1 at its end */
    int *ends;          /* (count) its last joint */
    double low, height; /* of the joints in use */
} skeleton_shape;

/* A limb: its chain from where it leaves the trunk to its end, and the joints that bend it. */
typedef struct limb {
    int chain[CHAIN_LIMIT], length;
    int before, upper, lower, tip; /* positions in the chain; -1: it has none */
} limb;

static double joint_apart(const skeleton_shape *s, int a, int b)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double d = s->places[a][k] - s->places[b][k];
        square += d * d;
    }
    return sqrt(square);
}

/* The longest chain from each joint outwards, and the height of the whole. */
static void chains_measure(skeleton_shape *s)
{
    double high = -INFINITY;
    s->low = INFINITY;

    /* every joint is a chain of its own */
    for (int j = 0; j < s->count; j++) {
        s->reach[j] = 0;
        s->next[j] = -1;
        s->ends[j] = j;
        if (!s->uses[j]) continue;
        s->low = MIN(s->low, s->places[j][1]);
        high = MAX(high, s->places[j][1]);
    }
    s->height = high - s->low;

    /* from the ends inwards: a parent takes the longest of its children's chains */
    for (int j = s->count - 1; j >= 0; j--) {
        int parent = s->parents[j];
        if (!s->uses[j] || parent < 0) continue;
        double reach = s->reach[j] + joint_apart(s, j, parent);
        if (s->next[parent] >= 0 && reach <= s->reach[parent]) continue;
        s->reach[parent] = reach;
        s->next[parent] = j;
        s->ends[parent] = s->ends[j];
    }
}

/* Whether two joints in use have one parent and chains of like length. */
static bool chains_pair(const skeleton_shape *s, int a, int b)
{
    return s->uses[b] && s->parents[a] == s->parents[b] &&
           MIN(s->reach[a], s->reach[b]) >= LIKE * MAX(s->reach[a], s->reach[b]);
}

static bool legs_find(const skeleton_shape *s, int legs[2])
{
    double best = LEG_DROP * s->height;
    legs[0] = -1;

    /* the pair that goes down furthest, among those that end near the ground */
    for (int a = 0; a < s->count; a++) {
        if (!s->uses[a] || s->reach[a] < best) continue;
        for (int b = a + 1; b < s->count; b++) {
            if (!chains_pair(s, a, b)) continue;
            const double *end_a = s->places[s->ends[a]], *end_b = s->places[s->ends[b]];
            double drop = MIN(s->places[a][1] - end_a[1], s->places[b][1] - end_b[1]);
            if (drop <= best || MAX(end_a[1], end_b[1]) > s->low + LEG_GROUND * s->height) continue;
            best = drop;
            legs[0] = a;
            legs[1] = b;
        }
    }
    return legs[0] >= 0;
}

static double plane_distance(const double place[3], const double middle[3], const double side[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += side[k] * (place[k] - middle[k]);
    return fabs(sum);
}

/*
 * Follow the longest chain from `first` and find the limb's bones: of all two bones in a row those whose shorter one is
 * the longest. Of three joints alone the first is a collar or hip where its bone is short. An arm does not begin in the
 * plane between the legs (middle, side), where long collars do; NULL for legs.
 */
static bool limb_make(const skeleton_shape *s, int first, const double *middle, const double *side, limb *l)
{
    l->length = 0;
    for (int j = first; j >= 0 && l->length < CHAIN_LIMIT; j = s->next[j]) l->chain[l->length++] = j;
    if (l->length < 2) return false;

    /* the lengths of its bones */
    double bones[CHAIN_LIMIT], best = -1;
    for (int i = 0; i + 1 < l->length; i++) bones[i] = joint_apart(s, l->chain[i], l->chain[i + 1]);

    /* the two in a row */
    l->upper = 0;
    for (int i = 0; i + 2 < l->length; i++) {
        double begin = side ? plane_distance(s->places[l->chain[i]], middle, side) : 1;
        double end = side ? plane_distance(s->places[l->chain[i + 1]], middle, side) : 1;
        if (begin < INNER * end && i + 3 < l->length) continue;
        if (MIN(bones[i], bones[i + 1]) > best) {
            best = MIN(bones[i], bones[i + 1]);
            l->upper = i;
        }
    }
    if (l->length == 3 && bones[0] < SHORT * bones[1]) l->upper = 1;

    l->lower = l->upper + 1;
    l->tip = l->upper + 2 < l->length ? l->upper + 2 : -1;
    l->before = l->upper - 1;
    return true;
}

static bool joint_below(const skeleton_shape *s, int joint, int top)
{
    while (joint > top) joint = s->parents[joint];
    return joint == top;
}

/* The arms: above the thighs, to either side of the plane between them. side: unit vector across it. */
static bool arms_find(const skeleton_shape *s, const limb legs[2], const double middle[3], const double side[3],
                      int arms[2])
{
    double best = ARM_REACH * s->height;
    arms[0] = -1;

    /* the longest pair, above the thighs and none of the legs' own joints */
    for (int a = 0; a < s->count; a++) {
        if (!s->uses[a] || s->reach[a] <= best || s->places[a][1] < middle[1]) continue;
        if (joint_below(s, a, legs[0].chain[0]) || joint_below(s, a, legs[1].chain[0])) continue;
        for (int b = a + 1; b < s->count; b++) {
            if (!chains_pair(s, a, b)) continue;
            const double *end_a = s->places[s->ends[a]], *end_b = s->places[s->ends[b]];
            double at_a = 0, at_b = 0;

            /* on either side of the plane, at about one height */
            for (int k = 0; k < 3; k++) {
                at_a += side[k] * (end_a[k] - middle[k]);
                at_b += side[k] * (end_b[k] - middle[k]);
            }
            if (at_a * at_b >= 0 || MIN(fabs(at_a), fabs(at_b)) < ARM_SIDE * s->height) continue;
            if (fabs(end_a[1] - end_b[1]) > ARM_LEVEL * s->height || MIN(s->reach[a], s->reach[b]) <= best) continue;
            best = MIN(s->reach[a], s->reach[b]);
            arms[0] = a;
            arms[1] = b;
        }
    }
    return arms[0] >= 0;
}

/*
 * Where the body faces: along its feet, from ankle to toes or to the middle of the last joint's skin; or across the
 * line between its thighs towards +Z. Level, not of length 1.
 */
static void facing_find(const skeleton_shape *s, const limb legs[2], const double side[3], double facing[3])
{
    double across = 0;
    memset(facing, 0, 3 * sizeof *facing);
    for (int i = 0; i < 2; i++) {
        if (legs[i].tip < 0) continue;
        const double *foot = s->places[legs[i].chain[legs[i].tip]];
        const double *toe = s->skins[legs[i].chain[legs[i].length - 1]];
        for (int k = 0; k < 3; k += 2) facing[k] += toe[k] - foot[k];
    }
    for (int k = 0; k < 3; k++) across += side[k] * facing[k];
    double length = sqrt(facing[0] * facing[0] + facing[2] * facing[2]);
    if (length > FACING_LEAST * s->height && fabs(across) < 0.7 * length) return;

    double sign = side[0] > 0 || (side[0] == 0 && side[2] < 0) ? 1 : -1;
    facing[0] = -sign * side[2];
    facing[2] = sign * side[0];
}

/* The joints of a limb: `first` is the kind of its upper bone, the lower's and the tip's follow. */
static void limb_name(const limb *l, int first, int side, joint_part *parts)
{
    const int joints[3] = {l->upper, l->lower, l->tip};
    for (int i = 0; i < 3; i++)
        if (joints[i] >= 0) parts[l->chain[joints[i]]] = (joint_part){first + i, side, 0};

    if (first == JOINT_UPPER_ARM && l->before >= 0) parts[l->chain[l->before]] = (joint_part){JOINT_COLLAR, side, 0};
    if (first == JOINT_UPPER_LEG && l->tip >= 0 && l->tip + 1 < l->length)
        parts[l->chain[l->tip + 1]] = (joint_part){JOINT_TOE, side, 0};
}

/* The joint over the thighs on the way from the arms' parent to the root; -1: none is near. */
static int hips_find(const skeleton_shape *s, int chest, int leg_parent, const double middle[3])
{
    int hips = -1;
    double best = HIP_RADIUS * s->height;
    for (int j = chest; j >= 0; j = s->parents[j]) {
        double square = 0;
        for (int k = 0; k < 3; k++) square += (s->places[j][k] - middle[k]) * (s->places[j][k] - middle[k]);
        if (j == leg_parent && sqrt(square) < HIP_RADIUS * s->height) return j;
        if (sqrt(square) >= best) continue;
        best = sqrt(square);
        hips = j;
    }
    return hips;
}

/* Spine from above the hips to the arms' parent; neck and head above it. */
static void trunk_name(const skeleton_shape *s, int hips, int chest, const int arms[2], joint_part *parts)
{
    parts[hips] = (joint_part){JOINT_HIPS, JOINT_SIDE_NONE, 0};

    int number = 0;
    for (int j = chest; j != hips; j = s->parents[j]) number++;
    for (int j = chest; j != hips; j = s->parents[j]) parts[j] = (joint_part){JOINT_SPINE, JOINT_SIDE_NONE, --number};

    /* the child of the arms' parent whose chain ends highest */
    int neck = -1;
    for (int j = chest + 1; j < s->count; j++) {
        if (s->parents[j] != chest || !s->uses[j] || j == arms[0] || j == arms[1]) continue;
        if (parts[j].kind != JOINT_OTHER || s->places[s->ends[j]][1] <= s->places[chest][1]) continue;
        if (neck < 0 || s->places[s->ends[j]][1] > s->places[s->ends[neck]][1]) neck = j;
    }

    /* the head is the last of it, or the first that carries several: jaw, eyes, hair */
    for (int j = neck, index = 0; j >= 0; j = s->next[j]) {
        int below = 0;
        for (int i = j + 1; i < s->count; i++) below += s->parents[i] == j && s->uses[i];
        parts[j] = (joint_part){below == 1 ? JOINT_NECK : JOINT_HEAD, JOINT_SIDE_NONE, below == 1 ? index++ : 0};
        if (below != 1) break;
    }
}

static bool shape_read(const skeleton_shape *s, joint_part *parts)
{
    /* legs, and the plane between them */
    int first[2], arm_first[2];
    limb legs[2], arms[2];
    if (!(s->height > 0) || !legs_find(s, first)) return false;
    for (int i = 0; i < 2; i++)
        if (!limb_make(s, first[i], NULL, NULL, &legs[i])) return false;

    const double *thighs[2] = {s->places[legs[0].chain[legs[0].upper]], s->places[legs[1].chain[legs[1].upper]]};
    double middle[3], side[3] = {thighs[0][0] - thighs[1][0], 0, thighs[0][2] - thighs[1][2]};
    double apart = sqrt(side[0] * side[0] + side[2] * side[2]);
    if (!(apart > 0)) return false;
    for (int k = 0; k < 3; k++) {
        middle[k] = (thighs[0][k] + thighs[1][k]) / 2;
        side[k] /= apart;
    }

    /* arms, and the trunk between them and the legs */
    if (!arms_find(s, legs, middle, side, arm_first)) return false;
    for (int i = 0; i < 2; i++)
        if (!limb_make(s, arm_first[i], middle, side, &arms[i])) return false;

    int chest = s->parents[arm_first[0]];
    int hips = hips_find(s, chest, s->parents[first[0]], middle);
    if (hips < 0) return false;

    /* left is where +Y x facing points */
    double facing[3];
    facing_find(s, legs, side, facing);
    for (int i = 0; i < 2; i++) {
        const double *thigh = thighs[i], *hand = s->places[s->ends[arm_first[i]]];
        double leg = facing[2] * (thigh[0] - middle[0]) - facing[0] * (thigh[2] - middle[2]);
        double arm = facing[2] * (hand[0] - middle[0]) - facing[0] * (hand[2] - middle[2]);
        limb_name(&legs[i], JOINT_UPPER_LEG, leg > 0 ? JOINT_SIDE_LEFT : JOINT_SIDE_RIGHT, parts);
        limb_name(&arms[i], JOINT_UPPER_ARM, arm > 0 ? JOINT_SIDE_LEFT : JOINT_SIDE_RIGHT, parts);
    }

    trunk_name(s, hips, chest, arm_first, parts);
    return true;
}

bool joint_parts_by_shape(arena *memory, int count, const int *parents, const double (*places)[3],
                          const double (*skins)[3], const bool *uses, joint_part *parts)
{
    for (int j = 0; j < count; j++) parts[j] = (joint_part){JOINT_OTHER, JOINT_SIDE_NONE, 0};

    skeleton_shape s = {count, parents, places, skins ? skins : places, uses, NULL, NULL, NULL, 0, 0};
    s.reach = ARENA_ARRAY(memory, double, count);
    s.next = ARENA_ARRAY(memory, int, count);
    s.ends = ARENA_ARRAY(memory, int, count);
    if (memory->failed) return false;

    chains_measure(&s);
    return shape_read(&s, parts);
}
