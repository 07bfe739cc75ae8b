/*
 * motion_retarget.c: a capture's poses on a character's skeleton, with bones that keep their length and feet that
 * stand.
 *
 * Game rigs hang thighs on a root instead of the hips and feet on controls, so that following the tree of nodes would
 * tear the body apart. Here every driven joint has a carrier in the body, and its place is the carrier's times its
 * offset at rest; what the node's parent does is taken out again.
 *
 * The topmost joint follows its path in the capture times the ratio of leg lengths. Ankles follow the capture's ankles
 * by the same ratio, beside them by what the hips are wider: thigh and shin are turned so that they get there (the law
 * of cosines), in the plane that the capture bends the knee in. A foot that stands in the capture so stands on the
 * character, whatever its proportions; where a standing foot is out of reach, the hips come down.
 */
#include "retarget/motion_retarget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"

/* A foot that moves slower than this many leg lengths a second stands. */
static const double STANDING_SPEED = 0.8;
/* Legs are never quite straight: the knee would snap. */
static const double STRETCH = 0.998;
/* Joints nearer to each other than this share of the size are at one place. */
static const double SAME_PLACE = 1e-3;

enum { LEG_LIMIT = 4 }; /* hind legs, then fore legs; left first */

double place_distance(const double a[3], const double b[3])
{
    double x = a[0] - b[0];
    double y = a[1] - b[1];
    double z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* ---- carriers ---- */

/* The last joint of the chain of a kind and side, or -1. */
static int part_last(const joint_part *parts, int count, int kind, int side)
{
    int last = -1;
    for (int j = 0; j < count; j++)
        if (parts[j].kind == kind && parts[j].side == side && (last < 0 || parts[j].index > parts[last].index))
            last = j;
    return last;
}

static int part_at(const joint_part *parts, int count, int kind, int side, int index)
{
    for (int j = 0; j < count; j++)
        if (parts[j].kind == kind && parts[j].side == side && parts[j].index == index) return j;
    return -1;
}

/* The joint of the body that carries joint j by what it is, -1 when its kind does not tell. */
static int body_parent(const joint_part *parts, int count, int j)
{
    int kind = parts[j].kind;

    int side = parts[j].side;
    if (kind == JOINT_OTHER || kind == JOINT_HIPS) return -1;
    if (parts[j].index > 0) return part_at(parts, count, kind, side, parts[j].index - 1);

    /* kinds that may carry it, the nearest first */
    static const int ABOVE[JOINT_KIND_COUNT][4] = {
        [JOINT_SPINE] = {JOINT_HIPS},
        [JOINT_NECK] = {JOINT_SPINE, JOINT_HIPS},
        [JOINT_HEAD] = {JOINT_NECK, JOINT_SPINE, JOINT_HIPS},
        [JOINT_COLLAR] = {JOINT_SPINE, JOINT_HIPS},
        [JOINT_UPPER_ARM] = {JOINT_COLLAR, JOINT_SPINE, JOINT_HIPS},
        [JOINT_FOREARM] = {JOINT_UPPER_ARM},
        [JOINT_HAND] = {JOINT_FOREARM},
        [JOINT_UPPER_LEG] = {JOINT_HIPS},
        [JOINT_LOWER_LEG] = {JOINT_UPPER_LEG},
        [JOINT_FOOT] = {JOINT_LOWER_LEG},
        [JOINT_TOE] = {JOINT_FOOT},
        [JOINT_TAIL] = {JOINT_HIPS},
        [JOINT_THUMB] = {JOINT_HAND},
        [JOINT_INDEX] = {JOINT_HAND},
        [JOINT_MIDDLE] = {JOINT_HAND},
        [JOINT_RING] = {JOINT_HAND},
        [JOINT_PINKY] = {JOINT_HAND},
    };

    for (int k = 0; k < 4 && ABOVE[kind][k] != JOINT_OTHER; k++) {
        int found = part_last(parts, count, ABOVE[kind][k], side);
        if (found < 0) found = part_last(parts, count, ABOVE[kind][k], JOINT_SIDE_NONE);
        if (found >= 0) return found;
    }

    return -1;
}

static bool is_above(const cutis_character *c, int above, int j)
{
    for (int p = c->joints[j].parent; p >= 0; p = c->joints[p].parent)
        if (p == above) return true;
    return false;
}

/* Whether following carriers from `from` leads to j. */
static bool carried_by(const target_joint *targets, int count, int from, int j)
{
    int steps = 0;
    for (int p = from; p >= 0 && steps <= count; p = targets[p].carrier, steps++)
        if (p == j) return true;
    return steps > count;
}

bool motion_carriers_find(const cutis_character *c, const joint_part *parts, arena *memory, target_joint *targets,
                          int *order)
{
    int n = c->joint_count;
    bool *done = ARENA_ARRAY(memory, bool, n);
    if (!done) return false;

    /* carried as in the file */
    for (int j = 0; j < n; j++) {
        targets[j].carrier = c->joints[j].parent;
        targets[j].carried = false;
    }

    for (int j = 0; j < n; j++) {
        int above = targets[j].source >= 0 ? body_parent(parts, n, j) : -1;
        if (above < 0 || is_above(c, above, j) || targets[above].source < 0) continue;
        if (carried_by(targets, n, above, j)) continue;

        /* fingers, toes and tails may be named after the wrong side: what drives them already will do */
        bool limb = parts[j].kind <= JOINT_FOOT;
        bool hangs = false;
        bool same = false;
        for (int p = c->joints[j].parent; p >= 0 && !hangs; p = c->joints[p].parent) {
            hangs = targets[p].source >= 0;
            same |= parts[p].kind == parts[above].kind && parts[p].side == parts[above].side;
        }

        /* a collar on the chest stays there, though names count the neck as spine */
        if (same || (hangs && !limb)) continue;

        targets[j].carrier = above;
        targets[j].carried = true;
    }

    /* the hips go where the capture's go, whatever they hang on */
    int hips = part_at(parts, n, JOINT_HIPS, JOINT_SIDE_NONE, 0);
    if (hips >= 0 && targets[hips].source >= 0) {
        bool driven = false;
        for (int p = targets[hips].carrier; p >= 0 && !driven; p = targets[p].carrier) driven = targets[p].source >= 0;
        if (!driven) {
            targets[hips].carrier = -1;
            targets[hips].carried = true;
        }
    }

    /* joints that move skin and hang on a control, at the place of a driven joint: goals of a hand or foot */
    for (int j = 0; j < n; j++) {
        int parent = c->joints[j].parent;
        if (targets[j].source >= 0 || !c->joints[j].deforms || parent < 0 || c->joints[parent].deforms) continue;
        int same = -1;
        for (int k = 0; k < n && same < 0; k++)
            if (targets[k].source >= 0 && parts[k].kind != JOINT_OTHER && !is_above(c, k, j) && !is_above(c, j, k) &&
                place_distance(targets[k].place, targets[j].place) < SAME_PLACE * (double)c->size)
                same = k;
        if (same < 0 || carried_by(targets, n, same, j)) continue;
        targets[j].carrier = same;
        targets[j].carried = true;
    }

    /* joints that move skin and hang on nothing that is driven */
    for (int j = 0; j < n; j++) {
        if (targets[j].source >= 0 || !c->joints[j].deforms) continue;
        bool hangs = false;
        for (int p = targets[j].carrier; p >= 0 && !hangs; p = targets[p].carrier) hangs = targets[p].source >= 0;
        if (hangs) continue;

        int nearest = -1;
        for (int k = 0; k < n; k++)
            if (targets[k].source >= 0 && (nearest < 0 || place_distance(targets[k].place, targets[j].place) <
                                                              place_distance(targets[nearest].place, targets[j].place)))
                nearest = k;

        if (hips >= 0 && is_above(c, j, hips)) nearest = hips;
        if (nearest < 0 || carried_by(targets, n, nearest, j)) continue;
        targets[j].carrier = nearest;
        targets[j].carried = true;
    }

    /* carriers first */
    int count = 0;
    while (count < n) {
        int before = count;
        for (int j = 0; j < n; j++) {
            if (done[j] || (targets[j].carrier >= 0 && !done[targets[j].carrier])) continue;
            done[j] = true;
            order[count++] = j;
        }
        if (count == before) return false; /* cannot be: carriers make no ring */
    }

    return true;
}

/* ---- the clip ---- */

typedef struct leg {
    int thigh, shin, foot; /* joints of the character */
    double lengths[2];
    double rise;          /* added to the scaled heights of the capture's ankle */
    bool *standing;       /* (frame_count) the capture's foot stands */
    double (*targets)[3]; /* (frame_count) of the ankle */
} leg;

typedef struct clip_maker {
    const bvh_reader *reader;
    const cutis_character *character;
    const target_joint *targets;
    const int *order;
    int top; /* the topmost driven joint */
    double ratio;
    double rise[3]; /* added to the scaled places of the capture, for the topmost joint */
    motion_posture posture;
    int leg_count;
    leg legs[LEG_LIMIT];
    int stilts[2];        /* legs of one joint, -1: none */
    double stilt_lengths; /* the mean of theirs */
    double stilt_rise;    /* added to the scaled heights of the capture's ankles, for their ends */
    double *drops;        /* (frame_count) how far the hips come down */
    float *times;
    float **rotations;    /* (joint_count) of (frame_count x 4), NULL for a joint that has no track */
    float **translations; /* (joint_count) of (frame_count x 3), or NULL */
    double (*bvh_rotations)[4], (*bvh_places)[3];
    double (*turns)[4]; /* world rotations of the character's joints */
    affine *worlds;
} clip_maker;

/* Ratio of the lengths of the chains from `top` to the lowest driven joint; of all bones when there is no such. */
static double size_ratio(const bvh_reader *r, const cutis_character *c, const target_joint *targets, int top)
{
    /* the length of all bones, in both skeletons */
    int lowest = -1;
    double own_all = 0;
    double other_all = 0;
    for (int j = 0; j < c->joint_count; j++) {
        int p = targets[j].driven_parent;
        if (targets[j].source < 0 || p < 0) continue;

        own_all += place_distance(targets[j].place, targets[p].place);
        other_all += place_distance(r->joints[targets[j].source].place, r->joints[targets[p].source].place);

        /* the lowest of the joints below `top` */
        int above = j;
        while (targets[above].driven_parent >= 0) above = targets[above].driven_parent;
        if (above == top && (lowest < 0 || targets[j].place[1] < targets[lowest].place[1])) lowest = j;
    }

    /* the chain from there up: leg length decides the length of a step */
    double own = 0;
    double other = 0;
    for (int j = lowest; j >= 0 && targets[j].driven_parent >= 0; j = targets[j].driven_parent) {
        int p = targets[j].driven_parent;
        own += place_distance(targets[j].place, targets[p].place);
        other += place_distance(r->joints[targets[j].source].place, r->joints[targets[p].source].place);
    }

    /* fall back to all bones, then to no scaling */
    if (own > 0 && other > 0) return own / other;
    return own_all > 0 && other_all > 0 ? own_all / other_all : 1;
}

/*
 * Ratio of thighs and shins: legs bend as much as the capture's do, wherever its hips stand above the thighs and its
 * toes before the ankles.
 */
static double leg_ratio(const clip_maker *m)
{
    double own = 0;
    double other = 0;

    /* thigh and shin of both legs */
    for (int side = 0; side < 2; side++) {
        const leg *l = &m->legs[side];
        const double *places[3] = {m->reader->joints[m->targets[l->thigh].source].place,
                                   m->reader->joints[m->targets[l->shin].source].place,
                                   m->reader->joints[m->targets[l->foot].source].place};

        /* a body with its own posture stands with bent legs where the capture's are straight */
        const double *hip = m->targets[l->thigh].place, *ankle = m->targets[l->foot].place;
        double height = MAX(hip[1] - ankle[1], 0.1 * place_distance(hip, ankle));
        own += m->posture >= POSTURE_OWN ? height : l->lengths[0] + l->lengths[1];
        other += m->posture == POSTURE_ANIMALS
                     ? MAX(places[0][1] - places[2][1], 0.1 * place_distance(places[0], places[2]))
                     : place_distance(places[0], places[1]) + place_distance(places[1], places[2]);
    }

    return own > 0 && other > 0 ? own / other : m->ratio;
}

/* Turn the upper bone of the capture's limb to where the limb's end is. */
static void aim_turn(const clip_maker *m, const target_joint *own, double turn[4])
{
    const double *place = m->bvh_places[own->source];
    double bone[3], limb[3], more[4];
    for (int k = 0; k < 3; k++) {
        bone[k] = m->bvh_places[own->aim_bone][k] - place[k];
        limb[k] = m->bvh_places[own->aim][k] - place[k];
    }
    rotation_between(bone, limb, more);
    rotation_multiply(more, turn, turn);
}

/* World rotations and places of all joints; turned: (joint_count x 4) turns after what drives a joint, or NULL. */
static void pose_make(clip_maker *m, const double place[3], double (*const turned)[4])
{
    const cutis_character *c = m->character;

    for (int i = 0; i < c->joint_count; i++) {
        int j = m->order[i];
        const target_joint *own = &m->targets[j];
        int parent = c->joints[j].parent;
        affine_parts local = affine_parts_load(&c->joints[j].idle);

        /* a joint that a driven one carries has the length of its bone from the rest pose */
        if (own->driven_parent >= 0 || own->carried) {
            affine_parts rest = affine_parts_load(&c->joints[j].rest);
            memcpy(local.translation, rest.translation, sizeof local.translation);
            memcpy(local.scale, rest.scale, sizeof local.scale);
        }

        /* where it is before the motion turns it */
        if (own->carried && own->carrier < 0) {
            m->worlds[j] = own->world;
            memcpy(m->turns[j], own->rest, sizeof own->rest);
        } else if (own->carried) {
            affine inverse;
            affine_inverse(&m->targets[own->carrier].world, &inverse);
            affine offset = affine_multiply(&inverse, &own->world);
            m->worlds[j] = affine_multiply(&m->worlds[own->carrier], &offset);
            double back[4];
            rotation_conjugate(m->targets[own->carrier].rest, back);
            rotation_multiply(back, own->rest, back);
            rotation_multiply(m->turns[own->carrier], back, m->turns[j]);
        } else {
            double up[4] = {0, 0, 0, 1};
            if (parent >= 0) memcpy(up, m->turns[parent], sizeof up);
            affine map = affine_compose(&local);
            m->worlds[j] = parent >= 0 ? affine_multiply(&m->worlds[parent], &map) : map;
            rotation_multiply(up, local.rotation, m->turns[j]);
        }

        /* as the capture has it, from the aligned rest pose */
        if (own->source >= 0) {
            double turn[4];
            memcpy(turn, m->bvh_rotations[own->source], sizeof turn);
            if (own->level) turn[0] = turn[2] = 0;
            if (own->level) rotation_normalize(turn);
            if (own->aim >= 0) aim_turn(m, own, turn);
            rotation_multiply(turn, own->align, turn);
            rotation_multiply(turn, own->rest, turn);
            if (turned) rotation_multiply(turned[j], turn, turn);
            rotation_normalize(turn);

            /* the same place and scale, another rotation */
            affine_parts world;
            affine_decompose(&m->worlds[j], &world);
            memcpy(world.rotation, turn, sizeof turn);
            memcpy(m->turns[j], turn, sizeof turn);
            if (j == m->top) memcpy(world.translation, place, sizeof world.translation);
            m->worlds[j] = affine_compose(&world);
        }
    }
}

static void world_place(const clip_maker *m, int j, double place[3])
{
    for (int k = 0; k < 3; k++) place[k] = m->worlds[j].m[4 * k + 3];
}

static void top_place(const clip_maker *m, int frame, double place[3])
{
    const double *from = m->bvh_places[m->targets[m->top].source];
    for (int k = 0; k < 3; k++) place[k] = m->ratio * from[k] + m->rise[k];
    if (m->drops) place[1] -= m->drops[frame];
}

/* The turns of thigh and shin that bring the ankle to its target. */
static void leg_reach(const clip_maker *m, const leg *l, const double target[3], double thigh_turn[4],
                      double shin_turn[4])
{
    double hip[3];
    double knee[3];
    double ankle[3];

    /* hip, knee and ankle */
    world_place(m, l->thigh, hip);
    world_place(m, l->shin, knee);
    world_place(m, l->foot, ankle);

    double way[3];
    double old[3];
    double thigh[3];
    double shin[3];

    /* the leg as it is, and the way to the target */
    for (int k = 0; k < 3; k++) {
        way[k] = target[k] - hip[k];
        old[k] = ankle[k] - hip[k];
        thigh[k] = knee[k] - hip[k];
        shin[k] = ankle[k] - knee[k];
    }

    double a = l->lengths[0];
    double b = l->lengths[1];
    double length = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
    double straight = sqrt(old[0] * old[0] + old[1] * old[1] + old[2] * old[2]);
    if (!(length > 1e-9 * (a + b)) || !(straight > 1e-9 * (a + b))) return;
    double reach = CLAMP(length, fabs(a - b) * 1.001 + 1e-3 * (a + b), STRETCH * (a + b));

    /* the side on which the capture has the knee, turned along with the leg's axis */
    double turn[4];
    double bend[3];
    double along = (thigh[0] * old[0] + thigh[1] * old[1] + thigh[2] * old[2]) / (straight * straight);

    for (int k = 0; k < 3; k++) bend[k] = thigh[k] - along * old[k];
    rotation_between(old, way, turn);
    rotation_apply(turn, bend, bend);

    double size = sqrt(bend[0] * bend[0] + bend[1] * bend[1] + bend[2] * bend[2]);
    if (size < 1e-4 * a) {
        /* a straight leg bends forwards */
        double ahead[3] = {0, 0, 1};
        rotation_apply(m->bvh_rotations[m->targets[m->top].source], ahead, ahead);
        double part = (ahead[0] * way[0] + ahead[1] * way[1] + ahead[2] * way[2]) / (length * length);
        for (int k = 0; k < 3; k++) bend[k] = ahead[k] - part * way[k];
        size = sqrt(bend[0] * bend[0] + bend[1] * bend[1] + bend[2] * bend[2]);
        if (!(size > 1e-9)) return;
    }

    /* the knee, by the law of cosines */
    double x = (a * a - b * b + reach * reach) / (2 * reach);
    double y = sqrt(MAX(a * a - x * x, 0.0));
    double new_thigh[3];
    double new_shin[3];

    for (int k = 0; k < 3; k++) {
        new_thigh[k] = x * way[k] / length + y * bend[k] / size;
        new_shin[k] = reach * way[k] / length - new_thigh[k];
    }

    rotation_between(thigh, new_thigh, thigh_turn);
    rotation_between(shin, new_shin, shin_turn);
}

/* ---- legs ---- */

/* A leg of three kinds in a row, of one side; false: it is not whole. */
static bool leg_make(const clip_maker *m, const joint_part *parts, int first, int side, leg *l)
{
    int n = m->character->joint_count;
    const target_joint *targets = m->targets;
    *l = (leg){.thigh = part_at(parts, n, first, side, 0),
               .shin = part_at(parts, n, first + 1, side, 0),
               .foot = part_at(parts, n, first + 2, side, 0)};

    /* thigh, shin and foot must be driven and follow one another */
    if (l->thigh < 0 || l->shin < 0 || l->foot < 0 || m->top == l->thigh) return false;
    if (targets[l->thigh].source < 0 || targets[l->shin].source < 0 || targets[l->foot].source < 0) return false;
    if (targets[l->foot].driven_parent != l->shin || targets[l->shin].driven_parent != l->thigh) return false;

    /* a leg needs length to bend */
    l->lengths[0] = place_distance(targets[l->thigh].place, targets[l->shin].place);
    l->lengths[1] = place_distance(targets[l->shin].place, targets[l->foot].place);
    return l->lengths[0] > 0 && l->lengths[1] > 0;
}

/* Both legs of a pair are whole, or none is used; fore legs only of a body that stands on them. */
static bool legs_find(clip_maker *m, const joint_part *parts, arena *memory)
{
    static const int FIRST[LEG_LIMIT / 2] = {JOINT_UPPER_LEG, JOINT_UPPER_ARM};
    for (int pair = 0; pair < LEG_LIMIT / 2; pair++) {
        leg *l = &m->legs[2 * pair];
        for (int i = 0; i < 2; i++)
            if (!leg_make(m, parts, FIRST[pair], JOINT_SIDE_LEFT + i, &l[i])) return true;
        if (pair > 0 && m->posture < POSTURE_FOUR) return true;

        /* where the foot stands and where it should be, for each frame */
        for (int i = 0; i < 2; i++) {
            l[i].standing = ARENA_ARRAY(memory, bool, m->reader->frame_count);
            l[i].targets = arena_push(memory, (size_t)m->reader->frame_count, sizeof *l->targets);
        }
        if (memory->failed) return false;
        m->leg_count += 2;
    }
    return true;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/*
 * Targets of an ankle: on entry the places where turned bones have it. ankles: the capture's, (frame_count x LEG_LIMIT
 * x 3).
 */
static void targets_hold(const clip_maker *m, leg *l, int side, double (*const ankles)[LEG_LIMIT][3],
                         double (*corrections)[3])
{
    int frames = m->reader->frame_count;
    int last = -1; /* last frame of the stand before */

    for (int f = 0; f < frames;) {
        if (!l->standing[f]) {
            f++;
            continue;
        }

        /* a stand, from the first frame to the last */
        int end = f;
        double own[3] = {0, 0, 0};
        double other[3] = {0, 0, 0};
        for (; end < frames && l->standing[end]; end++)
            for (int k = 0; k < 3; k++) {
                own[k] += l->targets[end][k];
                other[k] += ankles[end][side][k];
            }

        /* it stands where it stands in the mean, and moves as the capture's own does; its height is the capture's */
        for (int g = f; g < end; g++)
            for (int k = 0; k < 3; k++) {
                double mean = k == 1 ? m->ratio * other[k] / (end - f) + l->rise : own[k] / (end - f);
                double place = mean + m->ratio * (ankles[g][side][k] - other[k] / (end - f));
                corrections[g][k] = place - l->targets[g][k];
            }

        /* from stand to stand */
        for (int g = last + 1; g < f; g++) {
            double t = last < 0 ? 1 : (double)(g - last) / (double)(f - last);
            t = t * t * (3 - 2 * t);
            for (int k = 0; k < 3; k++)
                corrections[g][k] = (last < 0 ? 0 : (1 - t) * corrections[last][k]) + t * corrections[f][k];
        }

        last = end - 1;
        f = end;
    }

    /* behind the last stand its correction holds */
    for (int f = last + 1; f < frames; f++)
        for (int k = 0; k < 3; k++) corrections[f][k] = last >= 0 ? corrections[last][k] : 0;

    for (int f = 0; f < frames; f++)
        for (int k = 0; k < 3; k++) l->targets[f][k] += corrections[f][k];
}

/* How high all is: a low ankle of the capture is where the character's is at rest. */
static void heights_plan(clip_maker *m, const double lows[LEG_LIMIT / 2])
{
    const target_joint *top = &m->targets[m->top];
    double rest_ankle = 0;
    double own_drop = 0;
    double source_drop = 0;

    /* means of both legs */
    for (int side = 0; side < 2; side++) {
        const target_joint *thigh = &m->targets[m->legs[side].thigh];
        double own[3];
        for (int k = 0; k < 3; k++) own[k] = thigh->place[k] - top->place[k];

        rotation_apply(top->align, own, own);
        rest_ankle += 0.5 * m->targets[m->legs[side].foot].place[1];
        own_drop += 0.5 * own[1];
        source_drop += 0.5 * (m->reader->joints[thigh->source].place[1] - m->reader->joints[top->source].place[1]);
    }

    /* ankles as high as at rest, hips as far above them as in the capture */
    for (int i = 0; i < m->leg_count; i++) {
        const leg *pair = &m->legs[i / 2 * 2];
        double height = 0.5 * m->targets[pair[0].foot].place[1] + 0.5 * m->targets[pair[1].foot].place[1];
        m->legs[i].rise = height - m->ratio * lows[i / 2];
    }
    m->rise[1] = rest_ankle - m->ratio * lows[0] - (own_drop - m->ratio * source_drop);
}

/* Which frames each foot stands in, and where ankles go. */
static bool legs_plan(clip_maker *m, arena *memory)
{
    const bvh_reader *r = m->reader;

    int frames = r->frame_count;
    double(*ankles)[LEG_LIMIT][3] = arena_push(memory, (size_t)frames, sizeof *ankles);
    double(*corrections)[3] = arena_push(memory, (size_t)frames, sizeof *corrections);
    double *heights = ARENA_ARRAY(memory, double, 2 * (size_t)frames);
    if (memory->failed) return false;

    /* ankles of the capture */
    for (int f = 0; f < frames; f++) {
        bvh_pose(r, f, m->bvh_rotations, m->bvh_places);
        for (int i = 0; i < m->leg_count; i++) {
            memcpy(ankles[f][i], m->bvh_places[m->targets[m->legs[i].foot].source], sizeof ankles[f][i]);
        }
    }

    /* the lowest tenth of each pair's tells the floor */
    double lows[LEG_LIMIT / 2];
    for (int pair = 0; pair < m->leg_count / 2; pair++) {
        for (int f = 0; f < frames; f++)
            for (int i = 0; i < 2; i++) heights[2 * f + i] = ankles[f][2 * pair + i][1];
        qsort(heights, 2 * (size_t)frames, sizeof *heights, compare_doubles);
        lows[pair] = heights[2 * frames / 10];
    }
    heights_plan(m, lows);

    /* where turned bones alone have the ankles */
    for (int f = 0; f < frames; f++) {
        double place[3];
        bvh_pose(r, f, m->bvh_rotations, m->bvh_places);

        top_place(m, f, place);
        pose_make(m, place, NULL);
        for (int i = 0; i < m->leg_count; i++) world_place(m, m->legs[i].foot, m->legs[i].targets[f]);
    }

    /* standing: slow, over a window of a thirtieth of a second on both sides */
    int window = MAX(1, (int)(0.033 / MAX(r->frame_time, 1e-6) + 0.5));
    for (int side = 0; side < m->leg_count; side++) {
        leg *l = &m->legs[side];
        double length = (l->lengths[0] + l->lengths[1]) / m->ratio;
        for (int f = 0; f < frames; f++) {
            int a = MAX(f - window, 0);
            int b = MIN(f + window, frames - 1);
            double speed = place_distance(ankles[a][side], ankles[b][side]) / (MAX(b - a, 1) * r->frame_time);
            l->standing[f] = speed < STANDING_SPEED * length;
        }

        memset(corrections, 0, (size_t)frames * sizeof *corrections);
        targets_hold(m, l, side, ankles, corrections);
    }

    return true;
}

/* Lower the hips where a standing foot is out of reach, and let that come and go within a tenth of a second. */
static bool hips_lower(clip_maker *m, arena *memory)
{
    const bvh_reader *r = m->reader;

    int frames = r->frame_count;
    double *needs = ARENA_ARRAY(memory, double, frames);
    double *drops = ARENA_ARRAY(memory, double, frames);
    if (memory->failed) return false;

    /* by how much the legs of this frame are too short */
    for (int f = 0; f < frames; f++) {
        double place[3];
        bvh_pose(r, f, m->bvh_rotations, m->bvh_places);
        top_place(m, f, place);
        pose_make(m, place, NULL);

        for (int side = 0; side < m->leg_count; side++) {
            const leg *l = &m->legs[side];
            double hip[3];
            const double *target = l->targets[f];
            if (!l->standing[f]) continue;

            world_place(m, l->thigh, hip);
            double reach = STRETCH * (l->lengths[0] + l->lengths[1]);

            double x = hip[0] - target[0];
            double z = hip[2] - target[2];
            double height = hip[1] - target[1];
            double least = reach * reach - x * x - z * z;
            if (height > 0 && least > 0 && height * height > least) needs[f] = MAX(needs[f], height - sqrt(least));
        }
    }

    /* the largest need around, then a mean: never less than what a frame needs */
    int window = MAX(1, (int)(0.1 / MAX(r->frame_time, 1e-6) + 0.5));
    for (int f = 0; f < frames; f++)
        for (int g = MAX(f - 2 * window, 0); g <= MIN(f + 2 * window, frames - 1); g++)
            drops[f] = MAX(drops[f], needs[g]);

    for (int f = 0; f < frames; f++) {
        double sum = 0;
        int count = 0;
        for (int g = f - 2 * window; g <= f + 2 * window; g++, count++) sum += drops[CLAMP(g, 0, frames - 1)];
        needs[f] = sum / count;
    }

    m->drops = needs;
    return true;
}

/* ---- frames ---- */

/* Rotation and place of each joint that has tracks, in its parent's frame. */
static void frame_store(clip_maker *m, int frame)
{
    const cutis_character *c = m->character;

    m->times[frame] = (float)(frame * m->reader->frame_time);
    for (int j = 0; j < c->joint_count; j++) {
        int parent = c->joints[j].parent;
        if (!m->rotations[j]) continue;

        /* relative to the parent */
        double up[4] = {0, 0, 0, 1};
        double turn[4];
        affine inverse = affine_identity();

        if (parent >= 0) {
            rotation_conjugate(m->turns[parent], up);
            affine_inverse(&m->worlds[parent], &inverse);
        }

        rotation_multiply(up, m->turns[j], turn);
        rotation_normalize(turn);

        /* the sign that lies nearer to the frame before, so that any interpolation goes the short way */
        float *out = m->rotations[j] + 4 * (size_t)frame;
        double dot = 0;
        for (int k = 0; frame > 0 && k < 4; k++) dot += turn[k] * (double)out[k - 4];
        for (int k = 0; k < 4; k++) out[k] = (float)(dot < 0 ? -turn[k] : turn[k]);

        double place[3];
        double local[3];
        world_place(m, j, place);
        affine_point(&inverse, place, local);

        for (int k = 0; k < 3; k++) m->translations[j][3 * (size_t)frame + (size_t)k] = (float)local[k];
    }
}

/* By how much the body of a pose must rise for its lower stiff leg to end where the capture's lower ankle is. */
static double stilts_rise(const clip_maker *m)
{
    double own = INFINITY, other = INFINITY;
    for (int i = 0; i < 2; i++) {
        const target_joint *joint = &m->targets[m->stilts[i]];
        const double *hip = m->bvh_places[joint->source], *ankle = m->bvh_places[joint->aim];
        double length = place_distance(hip, ankle);
        double drop = length > 0 ? (hip[1] - ankle[1]) / length : 1;
        own = MIN(own, m->worlds[m->stilts[i]].m[7] - drop * m->stilt_lengths);
        other = MIN(other, ankle[1]);
    }
    return m->ratio * other + m->stilt_rise - own;
}

/* Legs of one joint, as of people made of boxes: steps are scaled by their length, and their ends stand on the floor.
 */
static bool stilts_find(clip_maker *m, const joint_part *parts, arena *memory)
{
    const bvh_reader *r = m->reader;
    double *heights = ARENA_ARRAY(memory, double, 2 * (size_t)r->frame_count);
    if (!heights) return false;

    /* both legs, their mean length, and that of the capture's */
    double other = 0, rest = 0;
    for (int i = 0; i < 2; i++) {
        int j = part_at(parts, m->character->joint_count, JOINT_UPPER_LEG, JOINT_SIDE_LEFT + i, 0);
        bool stiff = j >= 0 && m->targets[j].aim >= 0 && m->targets[j].longest_bone > 0 && j != m->top;
        if (!stiff) m->stilts[0] = -1;
        if (!stiff) return true;
        const target_joint *joint = &m->targets[j];
        m->stilts[i] = j;
        m->stilt_lengths += joint->longest_bone / 2;
        rest += (joint->place[1] - joint->longest_bone) / 2;
        other += place_distance(r->joints[joint->source].place, r->joints[joint->aim_bone].place) / 2;
        other += place_distance(r->joints[joint->aim_bone].place, r->joints[joint->aim].place) / 2;
    }
    if (!(other > 0)) m->stilts[0] = -1;
    if (!(other > 0)) return true;
    m->ratio = m->stilt_lengths / other;

    /* the lowest tenth of the capture's ankles tells the floor */
    for (int f = 0; f < r->frame_count; f++) {
        bvh_pose(r, f, m->bvh_rotations, m->bvh_places);
        for (int i = 0; i < 2; i++) heights[2 * f + i] = m->bvh_places[m->targets[m->stilts[i]].aim][1];
    }
    qsort(heights, 2 * (size_t)r->frame_count, sizeof *heights, compare_doubles);
    m->stilt_rise = rest - m->ratio * heights[2 * r->frame_count / 10];
    return true;
}

static void frame_make(clip_maker *m, int frame, double (*turned)[4])
{
    double place[3];

    bvh_pose(m->reader, frame, m->bvh_rotations, m->bvh_places);
    top_place(m, frame, place);
    pose_make(m, place, NULL);

    /* legs that reach for their targets */
    if (m->leg_count > 0) {
        for (int j = 0; j < m->character->joint_count; j++) {
            turned[j][0] = turned[j][1] = turned[j][2] = 0;
            turned[j][3] = 1;
        }

        for (int side = 0; side < m->leg_count; side++) {
            const leg *l = &m->legs[side];
            leg_reach(m, l, l->targets[frame], turned[l->thigh], turned[l->shin]);
        }

        pose_make(m, place, turned);
    } else if (m->stilts[0] >= 0) {
        place[1] += stilts_rise(m);
        pose_make(m, place, NULL);
    }

    frame_store(m, frame);
}

/* How much higher the whole clip must be for its median lowest joint to be where it is at rest. */
static cutis_result lift_find(clip_maker *m, arena *memory)
{
    const bvh_reader *r = m->reader;
    double *lowest = ARENA_ARRAY(memory, double, r->frame_count);
    if (!lowest) return CUTIS_ERROR_MEMORY;
    double rest = INFINITY;

    for (int j = 0; j < m->character->joint_count; j++)
        if (m->targets[j].source >= 0 && m->targets[j].driven_parent >= 0) rest = MIN(rest, m->targets[j].place[1]);

    /* the lowest joint of each frame */
    for (int f = 0; f < r->frame_count; f++) {
        double place[3];
        bvh_pose(r, f, m->bvh_rotations, m->bvh_places);
        top_place(m, f, place);
        pose_make(m, place, NULL);

        lowest[f] = INFINITY;
        for (int j = 0; j < m->character->joint_count; j++)
            if (m->targets[j].source >= 0 && m->targets[j].driven_parent >= 0)
                lowest[f] = MIN(lowest[f], m->worlds[j].m[7]);
    }

    /* the median frame stands as high as the rest pose */
    qsort(lowest, (size_t)r->frame_count, sizeof *lowest, compare_doubles);
    double lift = rest - lowest[r->frame_count / 2];
    m->rise[1] = isfinite(lift) ? lift : (double)m->character->bounds_min[1];
    return CUTIS_OK;
}

/* Whether a joint's place in its parent differs from its idle one in some frame. */
static bool place_moves(const clip_maker *m, int j)
{
    const float *idle = m->character->joints[j].idle.translation;
    const float *first = m->translations[j];
    double size = 0;
    for (int k = 0; k < 3; k++) size = MAX(size, fabs((double)idle[k]));
    for (int f = 0; f < m->reader->frame_count; f++)
        for (int k = 0; k < 3; k++)
            if (fabs((double)first[3 * f + k] - idle[k]) > 1e-5 * size + 1e-9) return true;
    return false;
}

static cutis_result tracks_make(clip_maker *m, arena *memory, cutis_clip *clip)
{
    const bvh_reader *r = m->reader;

    int n = m->character->joint_count;
    cutis_track *tracks = ARENA_ARRAY(memory, cutis_track, 2 * (size_t)n);
    if (!tracks) return error_memory(r->error, "a motion");
    int count = 0;

    for (int j = 0; j < n; j++) {
        if (!m->rotations[j]) continue;
        for (size_t i = 0; i < 3 * (size_t)r->frame_count; i++)
            if (!isfinite(m->translations[j][i]))
                return error_set(r->error, CUTIS_ERROR_DATA, "%.150s: frame %zu has positions that are not finite",
                                 r->name, i / 3);

        /* rotations always, places only where they change */
        tracks[count++] = (cutis_track){j,        CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, r->frame_count,
                                        m->times, m->rotations[j]};
        if (j == m->top || place_moves(m, j))
            tracks[count++] = (cutis_track){
                j, CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_LINEAR, r->frame_count, m->times, m->translations[j]};
    }

    *clip = (cutis_clip){.track_count = count, .tracks = tracks};
    return CUTIS_OK;
}

/* Of the driven joints that no driven one carries, the one that carries most. */
static int top_find(const cutis_character *c, const target_joint *targets)
{
    int best = -1;
    int most = -1;

    /* the one that carries the most */
    for (int j = 0; j < c->joint_count; j++) {
        if (targets[j].source < 0 || targets[j].driven_parent >= 0) continue;
        int carried = 0;
        for (int k = 0; k < c->joint_count; k++) {
            int above = k;
            while (targets[above].driven_parent >= 0) above = targets[above].driven_parent;
            carried += targets[k].source >= 0 && above == j;
        }

        if (carried <= most) continue;
        most = carried;
        best = j;
    }
    return best;
}

cutis_result motion_retarget(const bvh_reader *r, const cutis_character *c, const joint_part *parts,
                             const target_joint *targets, const int *order, motion_posture posture, arena *memory,
                             cutis_clip *clip)
{
    size_t frames = (size_t)r->frame_count;

    clip_maker m = {.reader = r, .character = c, .targets = targets, .order = order, .top = -1, .posture = posture};
    m.stilts[0] = m.stilts[1] = -1;
    m.times = ARENA_ARRAY(memory, float, frames);
    m.rotations = ARENA_ARRAY(memory, float *, c->joint_count);
    m.translations = ARENA_ARRAY(memory, float *, c->joint_count);
    m.bvh_rotations = arena_push(memory, (size_t)r->joint_count, sizeof *m.bvh_rotations);
    m.bvh_places = arena_push(memory, (size_t)r->joint_count, sizeof *m.bvh_places);
    m.turns = arena_push(memory, (size_t)c->joint_count, sizeof *m.turns);
    m.worlds = ARENA_ARRAY(memory, affine, c->joint_count);

    double(*turned)[4] = arena_push(memory, (size_t)c->joint_count, sizeof *turned);
    if (memory->failed) return error_memory(r->error, "a motion");

    m.top = top_find(c, targets);

    /* tracks for what is driven, carried, or has another length at idle than at rest */
    for (int i = 0; i < c->joint_count; i++) {
        int j = order[i];
        bool moved = targets[j].source >= 0 || targets[j].carried;
        if (targets[j].driven_parent >= 0)
            for (int k = 0; k < 3; k++)
                moved = moved || fabsf(c->joints[j].rest.translation[k] - c->joints[j].idle.translation[k]) >
                                     1e-5f * fabsf(c->joints[j].rest.translation[k]);

        if (!moved) continue;
        m.rotations[j] = ARENA_ARRAY(memory, float, 4 * frames);
        m.translations[j] = ARENA_ARRAY(memory, float, 3 * frames);
        if (memory->failed) return error_memory(r->error, "a motion");
    }

    /* size and height: by the legs where there are two */
    m.ratio = size_ratio(r, c, targets, m.top);
    if (!legs_find(&m, parts, memory)) return error_memory(r->error, "a motion");
    if (!m.leg_count && !stilts_find(&m, parts, memory)) return error_memory(r->error, "a motion");
    if (m.leg_count) {
        m.ratio = leg_ratio(&m);
        if (!legs_plan(&m, memory) || !hips_lower(&m, memory)) return error_memory(r->error, "a motion");
    } else if (lift_find(&m, memory) != CUTIS_OK) {
        return error_memory(r->error, "a motion");
    }

    for (int f = 0; f < r->frame_count; f++) frame_make(&m, f, turned);
    return tracks_make(&m, memory, clip);
}
