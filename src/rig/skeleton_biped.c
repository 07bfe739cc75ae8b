/*
 * skeleton_biped.c: the template of a biped: legs that stand on their feet or on their toes, arms, spine and head, and
 * fingers and a tail where there are any.
 *
 * Proportions as in skeleton.c.
 */
#include "rig/skeleton_template.h"

/* Where the legs part: the lowest place of the middle plane that a leg stands beside. A tail may hang lower. */
static float crotch_find(const posture *b, const limb *leg)
{
    float lowest = b->high.y, back = INFINITY, front = -INFINITY;

    /* how far the leg reaches along the body */
    for (int r = 0; r < leg->ring_count; r++) {
        float at = posture_axis(leg->rings[r].centre, b->forward);
        if (leg->rings[r].count < 5 || leg->rings[r].distance > leg->seam_distance) continue;
        back = MIN(back, at);
        front = MAX(front, at);
    }

    /* the lowest point near the middle plane */
    for (int i = 0; i < b->m->point_count; i++) {
        const float *p = b->m->positions + 3 * (size_t)i;
        if (p[POSTURE_UP] >= lowest || fabsf(p[b->lateral] - b->plane) >= 0.012f * b->size) continue;
        if (b->f->patches.patch_of[i] < 0 || p[b->forward] < back || p[b->forward] > front) continue;
        lowest = p[POSTURE_UP];
    }

    return lowest;
}

typedef struct biped_parts {
    int foot, hand, head; /* limbs; foot and hand of the larger side */
} biped_parts;

static bool biped_find(const posture *b, biped_parts *parts)
{
    int feet[4], count = posture_feet(b, feet);
    if (!b->symmetric || count != 1) return false;
    *parts = (biped_parts){feet[0], -1, -1};

    for (int i = 0; i < b->f->count; i++) {
        vec3 tip = posture_tip(b, i);
        int k = b->mirror[i];
        float aside = fabsf(posture_axis(tip, b->lateral) - b->plane);

        /* The head's far end may be an ear or the corner of a hat. */
        if (aside < 0.1f * b->size && (parts->head < 0 || tip.y > posture_tip(b, parts->head).y)) parts->head = i;

        /* a hand is one of a pair, aside, and not on the ground */
        if (k < 0 || k == i || posture_axis(tip, b->lateral) < b->plane || aside < 0.12f * posture_height(b)) continue;
        if (tip.y < b->low.y + 0.2f * posture_height(b)) continue;
        if (parts->hand < 0 || b->f->all[i].reach > b->f->all[parts->hand].reach) parts->hand = i;
    }

    if (parts->hand < 0 || b->f->all[parts->hand].reach < 0.12f * b->f->farthest) return false;
    return parts->head >= 0 && posture_tip(b, parts->head).y > b->low.y + 0.7f * posture_height(b);
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

    /* the ankle: the farthest place back */
    float toes = posture_axis(tip, b->forward) < posture_axis(middle, b->forward) ? -1 : 1;
    for (int r = 0; r < l->ring_count; r++) {
        vec3 at = l->rings[r].centre;
        float y = (at.y - b->low.y) / height, along = toes * posture_axis(at, b->forward);
        if (l->rings[r].count < 5 || y < 0.2f || y > 0.85f || along >= back) continue;
        back = along;
        *ankle = l->rings[r].distance;
    }

    if (!(back < INFINITY) || limb_smooth(l, *ankle, window, NULL).y < b->low.y + 0.3f * height) return false;

    /* the knee: the farthest place ahead above it */
    for (int r = 0; r < l->ring_count; r++) {
        vec3 at = l->rings[r].centre;
        float y = (at.y - b->low.y) / height, along = toes * posture_axis(at, b->forward);
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
    leg.hip.y = b->low.y + 0.5f * (1.28f * leg_height + 0.52f * posture_height(b));
    leg.hip.y = MAX(leg.hip.y, crotch + 0.1f * leg_height);

    /* The ankle: the rings have left the foot and begin to climb. */
    float ankle = 0;
    for (int r = 0; r < l->ring_count && ankle == 0; r++)
        if (limb_smooth(l, l->rings[r].distance, window, NULL).y > b->low.y + 0.105f * leg_height)
            ankle = l->rings[r].distance;
    leg.ankle = limb_smooth(l, ankle, window, NULL);

    /* The knee: half of the way by arc length, unless the leg bends near there. */
    float length = vec3_distance(leg.ankle, leg.hip), knee = ankle, below = ankle, above = thigh;
    for (int i = 0; i < 12; i++) {
        knee = 0.5f * (below + above);
        vec3 at = limb_smooth(l, knee, window, NULL);
        if (vec3_distance(at, leg.ankle) < vec3_distance(at, leg.hip))
            below = knee;
        else
            above = knee;
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
           fabsf(posture_axis(limb_place(l, reach, 0.9f * reach), b->lateral) - b->plane) < 0.08f * posture_height(b))
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
        if (vec3_distance(posture_tip(b, i), wrist) > reach) continue;
        if (i != hand && b->f->all[i].main) continue;
        if (set.count == 5) return (finger_set){0};
        set.limbs[set.count++] = i;
    }
    if (set.count != 5) return (finger_set){0};
    fingers_order(b, &set, wrist);
    return set;
}

bool skeleton_fit_biped(posture *b, rig_report *report, skeleton *s)
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
        if (all[i].main && b->mirror[i] == i && i != parts.head && posture_tip(b, i).y < arms[0].shoulder.y &&
            vec3_distance(posture_tip(b, i), waist) > 0.25f * b->size)
            tail = i;

    /* It faces away from its tail, or where its toes point: claws may point both ways. */
    float ahead = posture_axis(posture_tip(b, feet[0]), b->forward) - posture_axis(legs[0].ankle, b->forward);
    if (tail >= 0) ahead = posture_axis(waist, b->forward) - posture_axis(posture_tip(b, tail), b->forward);
    b->sign = ahead < 0 ? -1 : 1;

    /* Left is up x forward. */
    bool first_left = (b->forward == 2) == (b->sign > 0);

    /* Equation 1: the middles of the hips and of the shoulders carry the axis. */
    vec3 pelvis = waist, chest = vec3_lerp(arms[0].shoulder, arms[1].shoulder, 0.5f);
    vec3 top = posture_tip(b, parts.head);
    vec3 neck = chest, head = chest;
    neck.y = chest.y + 0.21f * (top.y - chest.y);
    head.y = chest.y + 0.46f * (top.y - chest.y);
    posture_axis_set(&head, b->forward, 0.5f * (posture_axis(chest, b->forward) + posture_axis(top, b->forward)));

    /* joints of the trunk */
    int hips = skeleton_add(s, "hips", -1, vec3_lerp(pelvis, neck, 0.05f));
    int spine = skeleton_add(s, "spine", hips, posture_trunk(b, pelvis, neck, 0.27f));
    int upper = skeleton_add(s, "chest", spine, posture_trunk(b, pelvis, neck, 0.54f));
    int neck_joint = skeleton_add(s, "neck", upper, neck);
    skeleton_add(s, "head", neck_joint, head);

    for (int k = 0; k < 2; k++) {
        char side = (k == 0) == first_left ? 'l' : 'r';

        int j = skeleton_add_side(s, "shoulder", side, upper,
                                  vec3_lerp(vec3_lerp(chest, neck, 0.5f), arms[k].shoulder, 0.22f));
        j = skeleton_add_side(s, "upper_arm", side, j, arms[k].shoulder);
        j = skeleton_add_side(s, "forearm", side, j, arms[k].elbow);
        j = skeleton_add_side(s, "hand", side, j, arms[k].wrist);
        finger_set set =
            hand_fingers(b, hands[k], arms[k].wrist, 1.5f * vec3_distance(arms[k].wrist, posture_tip(b, hands[k])));
        fingers_add(b, &set, j, side, s);

        j = skeleton_add_side(s, "thigh", side, hips, legs[k].hip);
        j = skeleton_add_side(s, "shin", side, j, legs[k].knee);
        j = skeleton_add_side(s, "foot", side, j, legs[k].ankle);
        skeleton_add_side(s, "toe", side, j, legs[k].toe);
    }

    if (tail >= 0) skeleton_add_tail(&all[tail], hips, s);
    skeleton_mirror(b, s);
    rig_say(report, "a biped: two arms, two legs and a head were found%s", tail >= 0 ? ", and a tail" : "");
    return true;
}
