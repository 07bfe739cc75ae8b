/*
 * skeleton.c: template skeletons, matched to the limbs of a body.
 *
 * Bian, Zheng, Chaudhry, You, Zhang 2018, section 5. The curve skeleton of a limb is the curve through its ring
 * centres. Joints between limbs and trunk come from the seam, where rings open out into the trunk; joints of a bent
 * limb from the place where the curve turns by more than 20 degrees; joints of a straight limb, of the spine and of
 * the neck from the template by similarity of arc lengths (their equations 1 and 2 on the middle axis).
 *
 * Departures: a seam ring sags into the trunk, so its centre lies too low; the seam joint is the limb's own straight
 * axis run on to the seam. A bend moves a joint only near to where the template expects one, since on a fleshy limb
 * the curve of centres wriggles. Symmetric bodies get symmetric skeletons by averaging both sides.
 *
 * Template proportions (arc lengths from the tip) are means over MakeHuman's average body and the zoo's bodies.
 */
#include <stdio.h>
#include <string.h>

#include "rig/skeleton.h"

enum { UP = 1 };

/* How a body lies in space, and which of its tips are what. */
typedef struct posture {
    const mesh *m;
    const limbs *f;
    int lateral, forward; /* axes 0 or 2 */
    float sign;           /* of forward: +1 when it faces the positive way */
    float plane;          /* of symmetry, on the lateral axis */
    bool symmetric;
    vec3 low, high;
    float size;
    int mirror[LIMBS_MAX]; /* limb on the other side, itself on the plane, -1 */
} posture;

static float axis_of(vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

static void axis_set(vec3 *p, int axis, float value)
{
    if (axis == 0) p->x = value;
    if (axis == 1) p->y = value;
    if (axis == 2) p->z = value;
}

static vec3 tip_of(const posture *b, int which) { return vec3_load(b->m->positions + 3 * b->f->all[which].tip); }

static vec3 mirrored(const posture *b, vec3 p)
{
    axis_set(&p, b->lateral, 2 * b->plane - axis_of(p, b->lateral));
    return p;
}

/* ---- limb curves ---- */

/* The centre of a ring; pose -1: at rest. */
static vec3 ring_centre(const limb *l, int ring, int pose)
{
    return pose < 0 ? l->rings[ring].centre : l->pose_centres[pose * l->ring_count + ring];
}

static vec3 limb_smooth_in(const limb *l, int pose, float d, float window, float *radius)
{
    vec3 sum = {0, 0, 0};
    float weight = 0, radii = 0;
    for (int r = 0; r < l->ring_count; r++) {
        const limb_ring *ring = &l->rings[r];
        float away = fabsf(ring->distance - d) / window;
        if (away >= 1 || (ring->count < 5 && r > 2)) continue;
        float w = (1 - away) * (float)MIN(ring->count, 24);
        sum = vec3_madd(sum, ring_centre(l, r, pose), w);
        radii += w * ring->radius;
        weight += w;
    }
    if (weight > 0) {
        if (radius) *radius = radii / weight;
        return vec3_scale(sum, 1 / weight);
    }
    /* No ring is near: the nearest one serves. */
    int nearest = 0;
    for (int r = 1; r < l->ring_count; r++)
        if (fabsf(l->rings[r].distance - d) < fabsf(l->rings[nearest].distance - d)) nearest = r;
    if (radius) *radius = l->rings[nearest].radius;
    return ring_centre(l, nearest, pose);
}

static vec3 limb_smooth(const limb *l, float d, float window, float *radius)
{
    return limb_smooth_in(l, -1, d, window, radius);
}

static float limb_window(const limb *l)
{
    float longest = l->rings[l->ring_count - 1].distance;
    float step = l->ring_count > 1 ? longest / (float)l->ring_count : longest;
    return MAX(2.5f * step, 1e-12f);
}

static float limb_radius(const limb *l, float d)
{
    float radius = 0;
    limb_smooth(l, d, limb_window(l), &radius);
    return radius;
}

static vec3 limb_place_in(const limb *l, int pose, float d, float last)
{
    float window = limb_window(l);
    if (d <= last) return limb_smooth_in(l, pose, d, window, NULL);
    vec3 a = limb_smooth_in(l, pose, 0.72f * last, window, NULL);
    vec3 b = limb_smooth_in(l, pose, 0.94f * last, window, NULL);
    return vec3_madd(b, vec3_sub(b, a), (d - 0.94f * last) / (0.22f * last));
}

vec3 limb_place(const limb *l, float d, float last) { return limb_place_in(l, -1, d, last); }

/* Where rings open out into the trunk: the first place beyond `from` where they grow by `growth` within 15 %. */
static float limb_seam(const limb *l, float from, float to, float growth)
{
    float step = 0.5f * limb_window(l), d = from;
    while (d < to && limb_radius(l, d) <= growth * limb_radius(l, 0.85f * d)) d += step;
    return MIN(d, to);
}

/*
 * The 20-degree rule, near the place where the template expects a joint: of the distances within `slack` of `d`, the
 * one where the curve turns most, if that is more than 20 degrees; else d itself. Of several poses, the one with the
 * larger angle decides.
 */
static float limb_bend(const limb *l, float d, float slack, float arm)
{
    float best = d, sharpest = 0.93969262f, window = 2 * limb_window(l); /* cos 20 degrees */
    for (int pose = -1; pose < l->pose_count; pose++)
        for (int i = -6; i <= 6; i++) {
            /* A pose that is not at rest bends where it bends: it may be looked for farther away. */
            float at = d + (pose < 0 ? slack : 1.8f * slack) * (float)i / 6;
            vec3 here = limb_smooth_in(l, pose, at, window, NULL);
            vec3 in = vec3_normalize(vec3_sub(here, limb_smooth_in(l, pose, at - arm, window, NULL)));
            vec3 out = vec3_normalize(vec3_sub(limb_smooth_in(l, pose, at + arm, window, NULL), here));
            float cosine = vec3_dot(in, out);
            if (cosine < sharpest) sharpest = cosine, best = at;
        }
    return best;
}

/* ---- posture ---- */

/* Pair the tips across the plane; returns how well they match, 0 to 1 for each, less 1 for each without a partner. */
static float mirror_find(posture *b)
{
    float near_plane = 0.03f * b->size, near_tip = 0.06f * b->size, score = 0;
    for (int i = 0; i < b->f->count; i++) {
        vec3 image = mirrored(b, tip_of(b, i));
        float aside = fabsf(axis_of(tip_of(b, i), b->lateral) - b->plane), best = near_tip;
        bool middle = aside < near_plane;
        /* Near the plane it may be one of a pair of feet that stand close, if the other is just where it should be. */
        if (middle) best = 0.5f * aside;
        b->mirror[i] = middle ? i : -1;
        for (int k = 0; k < b->f->count; k++) {
            float d = vec3_distance(image, tip_of(b, k));
            if (k != i && d < best) best = d, b->mirror[i] = k;
        }
        if (b->mirror[i] == i)
            score += 0.25f; /* a tip on the plane alone proves little */
        else if (b->mirror[i] >= 0)
            score += 1 - best / near_tip;
        else if (b->f->all[i].main)
            score -= 1;
    }
    return score;
}

static posture posture_find(const mesh *m, const limbs *f)
{
    posture b = {.m = m, .f = f, .sign = 1};
    posture best = b;
    float best_score = -INFINITY;
    b.low = f->patches.low;
    b.high = f->patches.high;
    b.size = vec3_distance(b.low, b.high);
    for (int axis = 0; axis <= 2; axis += 2) {
        b.lateral = axis;
        b.forward = 2 - axis;
        b.plane = 0.5f * (axis_of(b.low, axis) + axis_of(b.high, axis));
        float score = mirror_find(&b);
        b.symmetric = score > 0.4f * (float)f->main_count;
        if (score > best_score) best_score = score, best = b;
    }
    return best;
}

static float height_of(const posture *b) { return b->high.y - b->low.y; }

/* Mirrored pairs of limbs whose tips stand on the floor, by falling reach; each pair by the limb of larger side. */
static int feet_find(const posture *b, int feet[4])
{
    int count = 0;
    for (int i = 0; i < b->f->count && count < 4; i++) {
        int k = b->mirror[i];
        bool taken = false;
        if (k < 0 || k == i || b->f->all[i].reach < 0.08f * b->f->farthest) continue;
        if (tip_of(b, i).y > b->low.y + 0.15f * height_of(b)) continue;
        if (axis_of(tip_of(b, i), b->lateral) < b->plane) continue;
        for (int j = 0; j < count; j++)
            taken = taken || fabsf(axis_of(tip_of(b, feet[j]), b->forward) - axis_of(tip_of(b, i), b->forward)) <
                                 0.18f * b->size;
        if (!taken) feet[count++] = i;
    }
    return count;
}

/* ---- building ---- */

static int joint_add(skeleton *s, const char *name, int parent, vec3 position)
{
    if (s->count == SKELETON_MAX) return s->count - 1;
    skeleton_joint *j = &s->joints[s->count];
    *j = (skeleton_joint){.parent = parent, .mirror = -1, .position = position};
    snprintf(j->name, sizeof j->name, "%s", name);
    return s->count++;
}

static int joint_side(skeleton *s, const char *name, char side, int parent, vec3 position)
{
    char full[32];
    snprintf(full, sizeof full, "%.24s_%c", name, side);
    return joint_add(s, full, parent, position);
}

static int joint_find(const skeleton *s, const char *name)
{
    for (int j = 0; j < s->count; j++)
        if (strcmp(s->joints[j].name, name) == 0) return j;
    return -1;
}

/* Pair _l with _r, average both sides, and put the rest on the middle plane. */
static void skeleton_mirror(const posture *b, skeleton *s)
{
    for (int j = 0; j < s->count; j++) {
        skeleton_joint *joint = &s->joints[j];
        size_t length = strlen(joint->name);
        bool sided = length > 2 && joint->name[length - 2] == '_' &&
                     (joint->name[length - 1] == 'l' || joint->name[length - 1] == 'r');
        if (!sided) {
            joint->mirror = j;
            axis_set(&joint->position, b->lateral, b->plane);
            continue;
        }
        char other[32];
        memcpy(other, joint->name, length + 1);
        other[length - 1] = joint->name[length - 1] == 'l' ? 'r' : 'l';
        joint->mirror = joint_find(s, other);
        if (joint->mirror < j) continue; /* the pair was done from its other side, or has none */
        skeleton_joint *twin = &s->joints[joint->mirror];
        vec3 mean = vec3_lerp(joint->position, mirrored(b, twin->position), 0.5f);
        joint->position = mean;
        twin->position = mirrored(b, mean);
    }
}

/* ---- fingers ---- */

/* Arc length from the tip over the visible length, of the three joints. */
static const float FINGER[3] = {1.33f, 0.70f, 0.31f}, THUMB[3] = {1.66f, 1.02f, 0.46f};

static void finger_place(const limb *l, float visible, bool thumb, vec3 places[3])
{
    for (int k = 0; k < 3; k++) places[k] = limb_place(l, (thumb ? THUMB : FINGER)[k] * visible, 0.9f * visible);
}

typedef struct finger_set {
    int count;
    int limbs[5]; /* thumb, index, middle, ring, pinky */
} finger_set;

static const char *const FINGER_NAMES[5] = {"thumb", "index", "middle", "ring", "pinky"};

/* Order five tips: the thumb is nearest to the wrist's side, the others follow by their distance from it. */
static void fingers_order(const posture *b, finger_set *set, vec3 wrist)
{
    int thumb = 0;
    float least = INFINITY;
    for (int i = 0; i < set->count; i++) {
        float d = vec3_distance(tip_of(b, set->limbs[i]), wrist);
        if (d < least) least = d, thumb = i;
    }
    int first = set->limbs[thumb];
    set->limbs[thumb] = set->limbs[0];
    set->limbs[0] = first;
    vec3 from = tip_of(b, first);
    for (int i = 1; i < set->count; i++)
        for (int k = i;
             k > 1 && vec3_distance(tip_of(b, set->limbs[k]), from) < vec3_distance(tip_of(b, set->limbs[k - 1]), from);
             k--) {
            int swap = set->limbs[k];
            set->limbs[k] = set->limbs[k - 1];
            set->limbs[k - 1] = swap;
        }
}

static float finger_visible(const posture *b, const finger_set *set, int i)
{
    const limb *l = &b->f->all[set->limbs[i]];
    /* The longest finger may carry the whole arm; its neighbours tell where the fingers begin. */
    float near = 0;
    for (int k = 1; k < set->count; k++)
        if (k != i) near = MAX(near, b->f->all[set->limbs[k]].seam_distance);
    if (i > 0 && l->seam_distance > 1.4f * near) return 1.05f * near;
    return i == 4 ? 1.12f * l->seam_distance : l->seam_distance; /* the web reaches farther up at the little finger */
}

static void fingers_add(const posture *b, const finger_set *set, int hand, char side, skeleton *s)
{
    for (int i = 0; i < set->count; i++) {
        vec3 places[3];
        int parent = hand;
        finger_place(&b->f->all[set->limbs[i]], finger_visible(b, set, i), i == 0, places);
        for (int k = 0; k < 3; k++) {
            char name[32];
            snprintf(name, sizeof name, "%s_%d", FINGER_NAMES[i], k + 1);
            parent = side ? joint_side(s, name, side, parent, places[k]) : joint_add(s, name, parent, places[k]);
        }
    }
}

/* Where a tail leaves the trunk: its rings grow faster than they did before. A tail may be a cone from its tip on. */
static float tail_base(const limb *l)
{
    float step = 0.5f * limb_window(l), d = 0.3f * l->seam_distance;
    while (d < l->seam_distance) {
        float before = limb_radius(l, 0.85f * d), taper = MAX(before - limb_radius(l, 0.5f * d), 0.0f) / 0.35f;
        if (limb_radius(l, d) > 1.25f * (before + 0.15f * taper)) break;
        d += step;
    }
    return MIN(d, l->seam_distance);
}

/* Five joints along a tail, from where it leaves the trunk. */
static void tail_add(const limb *tail, int parent, skeleton *s)
{
    float base = tail_base(tail);
    for (int k = 0; k < 5; k++) {
        char name[32];
        snprintf(name, sizeof name, "tail_%d", k + 1);
        parent = joint_add(s, name, parent, limb_place(tail, (0.98f - 0.15f * (float)k) * base, 0.9f * base));
    }
}

/* ---- biped ---- */

/* Where the legs part: the lowest place of the middle plane that a leg stands beside. A tail may hang lower. */
static float crotch_find(const posture *b, const limb *leg)
{
    float lowest = b->high.y, back = INFINITY, front = -INFINITY;
    for (int r = 0; r < leg->ring_count; r++) {
        float at = axis_of(leg->rings[r].centre, b->forward);
        if (leg->rings[r].count < 5 || leg->rings[r].distance > leg->seam_distance) continue;
        back = MIN(back, at);
        front = MAX(front, at);
    }
    for (int i = 0; i < b->m->point_count; i++) {
        const float *p = b->m->positions + 3 * (size_t)i;
        if (p[UP] >= lowest || fabsf(p[b->lateral] - b->plane) >= 0.012f * b->size) continue;
        if (b->f->patches.patch_of[i] < 0 || p[b->forward] < back || p[b->forward] > front) continue;
        lowest = p[UP];
    }
    return lowest;
}

typedef struct biped_parts {
    int foot, hand, head; /* limbs; foot and hand of the larger side */
} biped_parts;

static bool biped_find(const posture *b, biped_parts *parts)
{
    int feet[4], count = feet_find(b, feet);
    if (!b->symmetric || count != 1) return false;
    *parts = (biped_parts){feet[0], -1, -1};
    for (int i = 0; i < b->f->count; i++) {
        vec3 tip = tip_of(b, i);
        int k = b->mirror[i];
        float aside = fabsf(axis_of(tip, b->lateral) - b->plane);
        /* The head's far end may be an ear or the corner of a hat. */
        if (aside < 0.1f * b->size && (parts->head < 0 || tip.y > tip_of(b, parts->head).y)) parts->head = i;
        if (k < 0 || k == i || axis_of(tip, b->lateral) < b->plane || aside < 0.12f * height_of(b)) continue;
        if (tip.y < b->low.y + 0.2f * height_of(b)) continue;
        if (parts->hand < 0 || b->f->all[i].reach > b->f->all[parts->hand].reach) parts->hand = i;
    }
    if (parts->hand < 0 || b->f->all[parts->hand].reach < 0.12f * b->f->farthest) return false;
    return parts->head >= 0 && tip_of(b, parts->head).y > b->low.y + 0.7f * height_of(b);
}

typedef struct leg_joints {
    vec3 hip, knee, ankle, toe;
} leg_joints;

/*
 * The legs of those that walk on their toes go back to a raised ankle and forward again to the knee. Finds both; false
 * for a leg that stands on its foot.
 */
static bool leg_on_toes(const posture *b, const limb *l, float crotch, float *ankle, float *knee)
{
    float window = limb_window(l), height = crotch - b->low.y, back = INFINITY, front = -INFINITY;
    vec3 tip = vec3_load(b->m->positions + 3 * l->tip);
    vec3 middle = limb_smooth(l, 0.4f * l->seam_distance, window, NULL);
    float toes = axis_of(tip, b->forward) < axis_of(middle, b->forward) ? -1 : 1;
    for (int r = 0; r < l->ring_count; r++) {
        vec3 at = l->rings[r].centre;
        float y = (at.y - b->low.y) / height, along = toes * axis_of(at, b->forward);
        if (l->rings[r].count < 5 || y < 0.2f || y > 0.85f || along >= back) continue;
        back = along;
        *ankle = l->rings[r].distance;
    }
    if (!(back < INFINITY) || limb_smooth(l, *ankle, window, NULL).y < b->low.y + 0.3f * height) return false;
    for (int r = 0; r < l->ring_count; r++) {
        vec3 at = l->rings[r].centre;
        float y = (at.y - b->low.y) / height, along = toes * axis_of(at, b->forward);
        if (l->rings[r].count < 5 || l->rings[r].distance <= *ankle || y > 1.2f || along <= front) continue;
        front = along;
        *knee = l->rings[r].distance;
    }
    /* A straight leg may lean by as much, but over its whole length: here it turns by more than 20 degrees. */
    float rise = limb_smooth(l, *knee, window, NULL).y - limb_smooth(l, *ankle, window, NULL).y;
    return front > back + MAX(0.1f * height, 0.364f * rise);
}

static leg_joints leg_place(const posture *b, const limb *l, float crotch)
{
    leg_joints leg;
    float window = limb_window(l), thigh = 0;
    vec3 tip = vec3_load(b->m->positions + 3 * l->tip);
    float leg_height = crotch - b->low.y;

    /* The thigh's axis ends at the crotch; the hip joint lies above it. */
    for (int r = 0; r < l->ring_count; r++)
        if (l->rings[r].count >= 5 && l->rings[r].centre.y < crotch - 0.06f * leg_height)
            thigh = MAX(thigh, l->rings[r].distance);
    vec3 top = limb_smooth(l, thigh, 2 * window, NULL);
    leg.hip = top;
    leg.hip.y = b->low.y + 0.5f * (1.28f * leg_height + 0.52f * height_of(b));
    leg.hip.y = MAX(leg.hip.y, crotch + 0.1f * leg_height);

    /* The ankle: the rings have left the foot and begin to climb. */
    float ankle = 0;
    for (int r = 0; r < l->ring_count && ankle == 0; r++)
        if (limb_smooth(l, l->rings[r].distance, window, NULL).y > b->low.y + 0.105f * leg_height)
            ankle = l->rings[r].distance;
    leg.ankle = limb_smooth(l, ankle, window, NULL);

    /* The knee: half of the way by arc length, unless the leg bends near there. */
    float length = vec3_distance(leg.ankle, leg.hip), knee = ankle, nearest = INFINITY;
    float d = ankle;
    while (d < thigh) {
        vec3 at = limb_smooth(l, d, window, NULL);
        float uneven = fabsf(vec3_distance(at, leg.ankle) - vec3_distance(at, leg.hip));
        if (uneven < nearest) nearest = uneven, knee = d;
        d += 0.5f * window;
    }
    leg.knee = limb_smooth(l, limb_bend(l, knee, 0.1f * length, 0.25f * length), 1.5f * window, NULL);
    /* Too few rings to tell: half of the way. */
    if (vec3_distance(leg.knee, leg.hip) < 0.2f * length || vec3_distance(leg.knee, leg.ankle) < 0.2f * length)
        leg.knee = vec3_lerp(leg.ankle, leg.hip, 0.5f);
    if (leg_on_toes(b, l, crotch, &ankle, &knee)) {
        leg.ankle = limb_smooth(l, ankle, window, NULL);
        leg.knee = limb_smooth(l, knee, window, NULL);
    }
    leg.toe = vec3_lerp(leg.ankle, tip, 0.72f);
    leg.toe.y = b->low.y + 0.5f * (leg.toe.y - b->low.y) + 0.01f * leg_height;
    return leg;
}

typedef struct arm_joints {
    vec3 shoulder, elbow, wrist;
} arm_joints;

static arm_joints arm_place(const posture *b, const limb *l, float seam)
{
    arm_joints arm;
    float reach = limb_seam(l, 0.66f * seam, 1.3f * seam, 1.38f);
    /* Shoulders keep their distance from the middle, whatever the rings say. */
    while (reach > 0.6f * seam &&
           fabsf(axis_of(limb_place(l, reach, 0.9f * reach), b->lateral) - b->plane) < 0.08f * height_of(b))
        reach -= 0.02f * seam;
    float straight = 0.9f * reach;
    arm.shoulder = limb_place(l, reach, straight);
    float elbow = limb_bend(l, 0.617f * reach, 0.08f * reach, 0.18f * reach);
    arm.elbow = limb_place(l, elbow, straight);
    arm.wrist = limb_place(l, 0.27f * reach, straight);
    return arm;
}

/* The tips that grow out of the same limb as `hand`: its fingers. */
static finger_set hand_fingers(const posture *b, int hand, vec3 wrist, float reach)
{
    finger_set set = {0};
    for (int i = 0; i < b->f->count; i++) {
        if (vec3_distance(tip_of(b, i), wrist) > reach) continue;
        if (i != hand && b->f->all[i].main) continue;
        if (set.count == 5) return (finger_set){0};
        set.limbs[set.count++] = i;
    }
    if (set.count != 5) return (finger_set){0};
    fingers_order(b, &set, wrist);
    return set;
}

static bool biped_fit(posture *b, rig_report *report, skeleton *s)
{
    biped_parts parts;
    if (!biped_find(b, &parts)) return false;
    const limb *all = b->f->all;
    float crotch = crotch_find(b, &b->f->all[parts.foot]);
    int feet[2] = {parts.foot, b->mirror[parts.foot]}, hands[2] = {parts.hand, b->mirror[parts.hand]};
    leg_joints legs[2];
    arm_joints arms[2];
    float seam = MAX(all[hands[0]].seam_distance, all[hands[1]].seam_distance);
    for (int k = 0; k < 2; k++) {
        legs[k] = leg_place(b, &all[feet[k]], crotch);
        arms[k] = arm_place(b, &all[hands[k]], seam);
    }
    /* A main limb on the middle plane that is no head is a tail. */
    vec3 waist = vec3_lerp(legs[0].hip, legs[1].hip, 0.5f);
    int tail = -1;
    for (int i = 0; i < b->f->count && tail < 0; i++)
        if (all[i].main && b->mirror[i] == i && i != parts.head && tip_of(b, i).y < arms[0].shoulder.y &&
            vec3_distance(tip_of(b, i), waist) > 0.25f * b->size)
            tail = i;
    /* It faces away from its tail, or where its toes point: claws may point both ways. */
    float ahead = axis_of(tip_of(b, feet[0]), b->forward) - axis_of(legs[0].ankle, b->forward);
    if (tail >= 0) ahead = axis_of(waist, b->forward) - axis_of(tip_of(b, tail), b->forward);
    b->sign = ahead < 0 ? -1 : 1;
    /* Left is up x forward. */
    bool first_left = (b->forward == 2) == (b->sign > 0);

    /* Equation 1: the middles of the hips and of the shoulders carry the axis. */
    vec3 pelvis = waist, chest = vec3_lerp(arms[0].shoulder, arms[1].shoulder, 0.5f);
    vec3 top = tip_of(b, parts.head);
    vec3 neck = chest, head = chest;
    neck.y = chest.y + 0.21f * (top.y - chest.y);
    head.y = chest.y + 0.46f * (top.y - chest.y);
    axis_set(&head, b->forward, 0.5f * (axis_of(chest, b->forward) + axis_of(top, b->forward)));
    int hips = joint_add(s, "hips", -1, vec3_lerp(pelvis, neck, 0.05f));
    int spine = joint_add(s, "spine", hips, vec3_lerp(pelvis, neck, 0.27f));
    int upper = joint_add(s, "chest", spine, vec3_lerp(pelvis, neck, 0.54f));
    int neck_joint = joint_add(s, "neck", upper, neck);
    joint_add(s, "head", neck_joint, head);
    for (int k = 0; k < 2; k++) {
        char side = (k == 0) == first_left ? 'l' : 'r';
        int j =
            joint_side(s, "shoulder", side, upper, vec3_lerp(vec3_lerp(chest, neck, 0.5f), arms[k].shoulder, 0.22f));
        j = joint_side(s, "upper_arm", side, j, arms[k].shoulder);
        j = joint_side(s, "forearm", side, j, arms[k].elbow);
        j = joint_side(s, "hand", side, j, arms[k].wrist);
        finger_set set =
            hand_fingers(b, hands[k], arms[k].wrist, 1.5f * vec3_distance(arms[k].wrist, tip_of(b, hands[k])));
        fingers_add(b, &set, j, side, s);
        j = joint_side(s, "thigh", side, hips, legs[k].hip);
        j = joint_side(s, "shin", side, j, legs[k].knee);
        j = joint_side(s, "foot", side, j, legs[k].ankle);
        joint_side(s, "toe", side, j, legs[k].toe);
    }
    if (tail >= 0) tail_add(&all[tail], hips, s);
    skeleton_mirror(b, s);
    rig_say(report, "a biped: two arms, two legs and a head were found%s", tail >= 0 ? ", and a tail" : "");
    return true;
}

/* ---- quadruped ---- */

typedef struct quadruped_parts {
    int front, back; /* leg limbs of the larger side */
    int head, tail;  /* -1: none found */
} quadruped_parts;

static bool quadruped_find(posture *b, quadruped_parts *parts)
{
    int feet[4], count = feet_find(b, feet);
    if (!b->symmetric || count < 2) return false;
    /* The legs farthest apart; the rest of the tips belong to head or tail. */
    int a = feet[0], c = feet[1];
    float a_at = axis_of(tip_of(b, a), b->forward), c_at = axis_of(tip_of(b, c), b->forward);
    float middle = 0.5f * (a_at + c_at);
    int ends[2] = {-1, -1}; /* the farthest tip beyond each end that is no leg */
    for (int i = 0; i < b->f->count; i++) {
        vec3 tip = tip_of(b, i);
        if (i == a || i == c || b->mirror[a] == i || b->mirror[c] == i) continue;
        if (b->f->all[i].reach < 0.06f * b->f->farthest || tip.y < b->low.y + 0.18f * height_of(b)) continue;
        int end = axis_of(tip, b->forward) > middle;
        if (ends[end] < 0 || b->f->all[i].reach > b->f->all[ends[end]].reach) ends[end] = i;
    }
    /* The head is the thicker end. */
    float thick[2] = {0, 0};
    for (int end = 0; end < 2; end++) {
        if (ends[end] < 0) continue;
        const limb *l = &b->f->all[ends[end]];
        for (int k = 1; k <= 8; k++) thick[end] += limb_radius(l, 0.3f * b->f->farthest * (float)k / 8);
    }
    int head = thick[1] >= thick[0];
    b->sign = head ? 1 : -1;
    bool a_front = (a_at > c_at) == (head == 1);
    *parts = (quadruped_parts){a_front ? a : c, a_front ? c : a, ends[head], ends[1 - head]};
    return parts->head >= 0;
}

/* The surface distance to the seam, of the better one of a pair: the farther-standing limb may miss its own. */
static float pair_seam(const posture *b, int which)
{
    return MIN(b->f->all[which].seam_distance, b->f->all[b->mirror[which]].seam_distance);
}

/* Where along the body a pair of legs is joined to it. */
static float seam_at(const posture *b, int which)
{
    const limb *l = &b->f->all[which], *other = &b->f->all[b->mirror[which]];
    if (other->seam_distance < l->seam_distance) l = other;
    if (l->seam < 0) return axis_of(limb_place(l, l->seam_distance, INFINITY), b->forward);
    return axis_of(vec3_load(b->m->positions + 3 * l->seam), b->forward);
}

/* Leg joints from the foot up, at these parts of the way to the seam; the last is in the trunk. */
static void leg_chain(const posture *b, int limb_index, const float *parts, int count, float spine_height, float rise,
                      vec3 *places)
{
    const limb *l = &b->f->all[limb_index];
    float seam = pair_seam(b, limb_index);
    for (int k = 1; k < count; k++) places[k] = limb_place(l, parts[k] * seam, 1.08f * seam);
    vec3 at = limb_place(l, seam, 1.08f * seam);
    places[0] = at;
    places[0].y = at.y + rise * (spine_height - at.y);
    axis_set(&places[0], b->forward, seam_at(b, limb_index));
}

/* Height of the body between the legs: the lowest and the highest place of the middle plane at `at` along it. */
static void trunk_span(const posture *b, float at, float *low, float *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < b->m->point_count; i++) {
        const float *p = b->m->positions + 3 * (size_t)i;
        if (b->f->patches.patch_of[i] < 0 || fabsf(p[b->lateral] - b->plane) > 0.05f * b->size) continue;
        if (fabsf(p[b->forward] - at) > 0.05f * b->size) continue;
        *low = MIN(*low, p[UP]);
        *high = MAX(*high, p[UP]);
    }
}

/* The point of the middle plane that is farthest ahead. */
static vec3 nose_find(const posture *b)
{
    vec3 nose = {0, 0, 0};
    float farthest = -INFINITY;
    for (int i = 0; i < b->m->point_count; i++) {
        const float *p = b->m->positions + 3 * (size_t)i;
        if (b->sign * p[b->forward] <= farthest || fabsf(p[b->lateral] - b->plane) > 0.02f * b->size) continue;
        if (b->f->patches.patch_of[i] >= 0) farthest = b->sign * p[b->forward], nose = vec3_load(p);
    }
    return nose;
}

/* Ears: the first pair of tips on top of the head that stand out little, or of which one is the head's own far end. */
static void ears_add(const posture *b, int head, vec3 skull, bool first_left, int parent, skeleton *s)
{
    const limb *all = b->f->all;
    for (int i = 0; i < b->f->count; i++) {
        int k = b->mirror[i], small = i;
        if (k < 0 || k == i || all[i].main || all[i].seam < 0) continue;
        if (all[k].main && k != head) continue;
        if (tip_of(b, i).y < skull.y || vec3_distance(tip_of(b, i), skull) > 0.3f * b->size) continue;
        if (!all[k].main && all[k].seam_distance < all[i].seam_distance) small = k;
        /* An ear is too small for rings: its joint is near the place where it meets the head. */
        vec3 seam = vec3_load(b->m->positions + 3 * (size_t)all[small].seam);
        vec3 place = vec3_lerp(tip_of(b, small), seam, 0.85f);
        bool left = (axis_of(tip_of(b, small), b->lateral) > b->plane) == first_left;
        joint_side(s, "ear", left ? 'l' : 'r', parent, place);
        joint_side(s, "ear", left ? 'r' : 'l', parent, mirrored(b, place));
        return;
    }
}

static bool quadruped_fit(posture *b, rig_report *report, skeleton *s)
{
    static const float FRONT[3] = {0, 1.0f, 0.44f}, BACK[4] = {0, 0.98f, 0.52f, 0.15f};
    quadruped_parts parts;
    if (!quadruped_find(b, &parts)) return false;
    const limb *all = b->f->all;
    bool first_left = (b->forward == 2) == (b->sign > 0);
    float front = seam_at(b, parts.front), back = seam_at(b, parts.back);
    float low, high;
    trunk_span(b, 0.5f * (front + back), &low, &high);
    float spine_height = high > low ? low + 0.69f * (high - low) : 0.5f * (b->low.y + b->high.y);

    /* The head turns on the neck, two fifths of the way from its far end to the withers. */
    vec3 skull = b->mirror[parts.head] == parts.head ? tip_of(b, parts.head) : nose_find(b);
    axis_set(&skull, b->lateral, b->plane);
    vec3 withers = skull;
    axis_set(&withers, b->forward, front);
    withers.y = spine_height;
    skull = vec3_lerp(skull, withers, 0.4f);
    if (b->mirror[parts.head] >= 0 && b->mirror[parts.head] != parts.head) {
        /* Its far ends are ears, which stand above the joint: of a long face, they tell better than the nose. */
        const limb *ear = &all[parts.head], *other = &all[b->mirror[parts.head]];
        if (other->seam_distance < ear->seam_distance) ear = other;
        vec3 root = ear->seam >= 0 ? vec3_load(b->m->positions + 3 * (size_t)ear->seam) : skull;
        skull = vec3_lerp(skull, vec3_lerp(root, withers, 0.4f), 0.5f);
        axis_set(&skull, b->lateral, b->plane);
    }
    vec3 rump = withers;
    axis_set(&rump, b->forward, back);

    int hips = joint_add(s, "hips", -1, rump);
    int spine = joint_add(s, "spine", hips, vec3_lerp(rump, withers, 0.36f));
    int chest = joint_add(s, "chest", spine, vec3_lerp(rump, withers, 0.71f));
    int neck = joint_add(s, "neck", chest, vec3_lerp(withers, skull, 0.28f));
    int skull_joint = joint_add(s, "head", neck, skull);
    if (parts.tail >= 0) tail_add(&all[parts.tail], hips, s);
    for (int k = 0; k < 2; k++) {
        char side = (k == 0) == first_left ? 'l' : 'r';
        vec3 places[4];
        leg_chain(b, k ? b->mirror[parts.front] : parts.front, FRONT, 3, spine_height, 0.7f, places);
        int j = joint_side(s, "upper_arm", side, chest, places[0]);
        j = joint_side(s, "forearm", side, j, places[1]);
        joint_side(s, "hand", side, j, places[2]);
        leg_chain(b, k ? b->mirror[parts.back] : parts.back, BACK, 4, spine_height, 0.83f, places);
        /* Equation 2: the knee makes a triangle with hip and foot that is similar to the template's. */
        vec3 knee = vec3_lerp(places[0], places[2], 0.53f);
        float out = 0.3f * vec3_distance(places[0], places[2]) * b->sign;
        axis_set(&knee, b->forward, axis_of(knee, b->forward) + out);
        j = joint_side(s, "thigh", side, hips, places[0]);
        j = joint_side(s, "shin", side, j, vec3_lerp(places[1], knee, 0.5f));
        j = joint_side(s, "foot", side, j, places[2]);
        joint_side(s, "toe", side, j, places[3]);
    }
    ears_add(b, parts.head, skull, first_left, skull_joint, s);
    skeleton_mirror(b, s);
    rig_say(report, "a quadruped: four legs, a head and %s tail were found", parts.tail >= 0 ? "a" : "no");
    return true;
}

/* ---- hand ---- */

static bool hand_fit(posture *b, rig_report *report, skeleton *s)
{
    const limbs *f = b->f;
    finger_set set = {0};
    int stump = -1;
    float widest = 0, first;
    if (f->count < 5) return false;
    int tips = MIN(f->count, 6);
    if (f->all[4].reach < 0.1f * f->farthest) return false;

    /* The forearm is the thick one of six; a hand cut off at the wrist has five. */
    for (int i = 0; i < tips && tips == 6 && f->all[5].reach > 0.1f * f->farthest; i++) {
        float thick = limb_radius(&f->all[i], 0.5f * f->all[i].seam_distance);
        if (thick > widest) widest = thick, stump = i;
    }
    for (int i = 0; i < tips && set.count < 5; i++)
        if (i != stump) set.limbs[set.count++] = i;
    if (set.count != 5) return false;
    vec3 end = {0, 0, 0};
    if (stump >= 0) {
        end = tip_of(b, stump);
    } else {
        /* The place that is farthest from the nearest finger. */
        float farthest = -1;
        for (int i = 0; i < b->m->point_count; i++) {
            vec3 p = vec3_load(b->m->positions + 3 * i);
            float near = INFINITY;
            for (int k = 0; k < 5 && f->patches.patch_of[i] >= 0; k++)
                near = MIN(near, vec3_distance(p, tip_of(b, set.limbs[k])));
            if (near < INFINITY && near > farthest) farthest = near, end = p;
        }
    }
    fingers_order(b, &set, end);
    /* Fingers lie side by side; limbs that spread over the whole body are none. */
    for (int i = 2; i < 5; i++)
        if (vec3_distance(tip_of(b, set.limbs[1]), tip_of(b, set.limbs[i])) > 0.55f * b->size) return false;

    /* The wrist: as far behind the knuckles as the fingers are long, towards the forearm. */
    vec3 knuckles = {0, 0, 0}, places[3];
    for (int i = 1; i < 5; i++) {
        finger_place(&f->all[set.limbs[i]], finger_visible(b, &set, i), false, places);
        knuckles = vec3_madd(knuckles, places[0], 0.25f);
    }
    finger_place(&f->all[set.limbs[2]], finger_visible(b, &set, 2), false, places);
    first = vec3_distance(places[0], tip_of(b, set.limbs[2]));
    vec3 heel = end;
    if (stump >= 0) heel = limb_place(&f->all[stump], 0.35f * f->all[stump].seam_distance, INFINITY);
    vec3 back = vec3_sub(heel, knuckles);
    float length = vec3_length(back);
    vec3 wrist = vec3_madd(knuckles, back, length > 0 ? MIN(0.9f * first / length, 1.0f) : 0);
    int parent = -1;
    vec3 along = vec3_normalize(vec3_sub(heel, wrist)); /* the tip itself may be a corner of the stump */
    if (stump >= 0 && vec3_distance(wrist, end) > 0.45f * first)
        parent = joint_add(s, "forearm", -1, vec3_madd(wrist, along, 0.97f * vec3_dot(vec3_sub(end, wrist), along)));
    int hand = joint_add(s, "hand", parent, wrist);
    fingers_add(b, &set, hand, 0, s);
    rig_say(report, "a hand: five fingers were found%s", parent >= 0 ? ", and a forearm" : "");
    return true;
}

/* ---- chain ---- */

/* The way through a body with two far ends: from the thick one over the seam to the thin one. */
typedef struct chain_way {
    const limb *base, *end; /* base: NULL when there is one limb alone */
    float base_length, length;
} chain_way;

static vec3 chain_place(const chain_way *w, int pose, float d)
{
    if (w->base && d < w->base_length) return limb_place_in(w->base, pose, d, INFINITY);
    return limb_place_in(w->end, pose, w->length - d, INFINITY);
}

/* The way through the two limbs that stand out most, or through the only one, and its mean radius. */
static chain_way chain_find(const posture *b, float *radius)
{
    const limb *all = b->f->all;
    chain_way w = {NULL, &all[0], 0, 0};
    *radius = 0;
    if (b->f->main_count >= 2) {
        float thick[2];
        for (int k = 0; k < 2; k++) thick[k] = limb_radius(&all[k], 0.5f * all[k].seam_distance);
        int base = thick[1] > thick[0];
        w = (chain_way){&all[base], &all[1 - base], all[base].seam_distance, 0};
        w.length = w.base_length + w.end->seam_distance;
        *radius = 0.5f * (thick[0] + thick[1]);
    } else {
        for (int r = 0; r < w.end->ring_count; r++) {
            w.length = MAX(w.length, w.end->rings[r].distance);
            *radius += w.end->rings[r].radius / (float)w.end->ring_count;
        }
    }
    return w;
}

/* The 20-degree rule along a way: the sharpest turn within `slack` of d in any pose, or d. */
static float chain_bend(const chain_way *w, float d, float slack, float arm, float radius)
{
    float sharpest = 0.93969262f, best = d; /* cos 20 degrees */
    for (int i = -4; i <= 4; i++) {
        float at = d + slack * 0.25f * (float)i;
        if (at - arm < 2 * radius || at + arm > w->length - 2 * radius) continue;
        for (int pose = -1; pose < w->end->pose_count; pose++) {
            vec3 here = chain_place(w, pose, at);
            vec3 in = vec3_normalize(vec3_sub(here, chain_place(w, pose, at - arm)));
            vec3 out = vec3_normalize(vec3_sub(chain_place(w, pose, at + arm), here));
            if (vec3_dot(in, out) < sharpest) sharpest = vec3_dot(in, out), best = at;
        }
    }
    return best;
}

/* A row of joints along the longest way: arms, tentacles, tails, pillars. */
static bool chain_fit(posture *b, rig_report *report, skeleton *s)
{
    float radius;
    chain_way w = chain_find(b, &radius);
    /* A joint every four radii, at least three; near each, the 20-degree rule may move it onto a bend. */
    int count = CLAMP((int)(w.length / (4 * MAX(radius, 1e-6f))) + 1, 3, 24), parent = -1;
    float step = w.length / (float)count;
    for (int k = 0; k < count; k++) {
        char name[24];
        /* Rings near a blunt end are not whole: they lean to the side of the tip. */
        float at = MIN(2 * radius, 0.5f * step);
        if (k > 0) at = chain_bend(&w, step * (float)k, 0.4f * step, 0.6f * step, radius);
        snprintf(name, sizeof name, "chain_%d", k + 1);
        parent = joint_add(s, name, parent, chain_place(&w, -1, at));
    }
    rig_say(report, "a chain of %d joints along the longest way through the body", s->count);
    return true;
}

/*
 * A snake, a worm, an eel: a long thin body that lies down. The root is in the middle; the spine runs to the head,
 * which is the end that is thicker near its tip, and the tail to the other.
 */
static bool snake_fit(posture *b, rig_report *report, skeleton *s)
{
    const limb *all = b->f->all;
    float radius, blunt[2];
    chain_way w = chain_find(b, &radius);
    if (!w.base || b->f->main_count != 2 || w.length < 16 * radius) return false;
    if (fabsf(tip_of(b, 0).y - tip_of(b, 1).y) > 0.4f * w.length || height_of(b) > 0.5f * w.length) return false;
    for (int k = 0; k < 2; k++)
        blunt[k] = limb_radius(&all[k], 0.04f * w.length) + limb_radius(&all[k], 0.08f * w.length);
    int head = blunt[1] > blunt[0];
    w = (chain_way){&all[head], &all[1 - head], all[head].seam_distance, w.length}; /* it starts at the head */
    int half = CLAMP((int)(w.length / (10 * MAX(radius, 1e-6f))), 3, 12), parent;
    float step = 0.5f * w.length / ((float)half + 0.5f);
    int root = joint_add(s, "hips", -1, chain_place(&w, -1, 0.5f * w.length));
    for (int side = 0; side < 2; side++) {
        parent = root;
        for (int k = 1; k <= half; k++) {
            char name[24];
            float d = 0.5f * w.length + (side ? step : -step) * (float)k;
            d = chain_bend(&w, d, 0.4f * step, 0.6f * step, radius);
            if (side)
                snprintf(name, sizeof name, "tail_%d", k);
            else if (k == half)
                snprintf(name, sizeof name, "head");
            else if (k == half - 1)
                snprintf(name, sizeof name, "neck");
            else
                snprintf(name, sizeof name, "spine_%d", k);
            parent = joint_add(s, name, parent, chain_place(&w, -1, d));
        }
    }
    rig_say(report, "a snake: a long body with %d joints from head to tail", s->count);
    return true;
}

typedef struct template_entry {
    cutis_rig_template about;
    bool (*fit)(posture *b, rig_report *report, skeleton *s);
} template_entry;

static const template_entry TEMPLATES[] = {
    {{"quadruped", "four legs, spine, neck and head, tail and ears where there are any"}, quadruped_fit},
    {{"biped", "two arms, two legs, spine, neck and head, fingers where there are five"}, biped_fit},
    {{"hand", "a hand of five fingers of three joints, with a forearm where there is one"}, hand_fit},
    {{"snake", "a spine from head to tail, with its root in the middle: snake, worm, eel"}, snake_fit},
    {{"chain", "a row of joints: arm, tentacle, tail"}, chain_fit},
};

int cutis_rig_template_count(void) { return COUNT_OF(TEMPLATES); }

cutis_rig_template cutis_rig_template_at(int index)
{
    if (index < 0 || index >= COUNT_OF(TEMPLATES)) return (cutis_rig_template){"", ""};
    return TEMPLATES[index].about;
}

static cutis_result landmarks_apply(const cutis_rig_landmark *landmarks, int count, skeleton *s, cutis_error *error)
{
    for (int i = 0; i < count; i++) {
        int j = joint_find(s, landmarks[i].name);
        if (j < 0) {
            name_search search = name_search_start(landmarks[i].name);
            for (int k = 0; k < s->count; k++) name_search_offer(&search, s->joints[k].name);
            return error_set(error, CUTIS_ERROR_ARGUMENT, "landmark '%s' is no joint of template %s%s%s%s",
                             landmarks[i].name, s->name, search.nearest ? "; did you mean '" : "",
                             search.nearest ? search.nearest : "", search.nearest ? "'?" : "");
        }
        s->joints[j].position = vec3_load(landmarks[i].position);
    }
    return CUTIS_OK;
}

cutis_result skeleton_fit(const mesh *m, const limbs *f, const char *name, const cutis_rig_landmark *landmarks,
                          int landmark_count, rig_report *report, skeleton *s, cutis_error *error)
{
    bool any = !name || strcmp(name, "auto") == 0, known = any;
    posture b = posture_find(m, f);
    s->count = 0;
    for (int t = 0; t < COUNT_OF(TEMPLATES) && s->count == 0; t++) {
        if (!any && strcmp(TEMPLATES[t].about.name, name) != 0) continue;
        known = true;
        s->name = TEMPLATES[t].about.name;
        if (!TEMPLATES[t].fit(&b, report, s)) s->count = 0;
    }
    if (!known) {
        name_search search = name_search_start(name);
        for (int t = 0; t < COUNT_OF(TEMPLATES); t++) name_search_offer(&search, TEMPLATES[t].about.name);
        return error_set(
            error, CUTIS_ERROR_ARGUMENT,
            "there is no template '%s'%s%s%s; the templates are biped, quadruped, hand, snake, chain and auto", name,
            search.nearest ? ", did you mean '" : "", search.nearest ? search.nearest : "", search.nearest ? "'" : "");
    }
    if (s->count == 0)
        return error_set(error, CUTIS_ERROR_DATA,
                         "template '%s' does not fit: %d limbs stand out from this body; try --template auto or chain",
                         name, f->main_count);
    return landmarks_apply(landmarks, landmark_count, s, error);
}
