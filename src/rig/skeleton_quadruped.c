/*
 * skeleton_quadruped.c: the template of a quadruped: two pairs of legs, spine, neck and head, and ears and a tail where
 * there are any.
 *
 * Proportions as in skeleton.c.
 */
#include "rig/skeleton_template.h"

typedef struct quadruped_parts {
    int front, back; /* leg limbs of the larger side */
    int head, tail;  /* -1: none found */
} quadruped_parts;

static bool quadruped_find(posture *b, quadruped_parts *parts)
{
    int feet[4], count = posture_feet(b, feet);
    if (!b->symmetric || count < 2) return false;

    /* The legs farthest apart; the rest of the tips belong to head or tail. */
    int a = feet[0], c = feet[1];
    float a_at = posture_axis(posture_tip(b, a), b->forward), c_at = posture_axis(posture_tip(b, c), b->forward);
    float middle = 0.5f * (a_at + c_at);
    int ends[2] = {-1, -1}; /* the farthest tip beyond each end that is no leg */

    for (int i = 0; i < b->f->count; i++) {
        vec3 tip = posture_tip(b, i);
        if (i == a || i == c || b->mirror[a] == i || b->mirror[c] == i) continue;
        if (b->f->all[i].reach < 0.06f * b->f->farthest || tip.y < b->low.y + 0.18f * posture_height(b)) continue;

        int end = posture_axis(tip, b->forward) > middle;
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
    if (l->seam < 0) return posture_axis(limb_place(l, l->seam_distance, INFINITY), b->forward);
    return posture_axis(vec3_load(b->m->positions + 3 * l->seam), b->forward);
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
    posture_axis_set(&places[0], b->forward, seam_at(b, limb_index));
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
        *low = MIN(*low, p[POSTURE_UP]);
        *high = MAX(*high, p[POSTURE_UP]);
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
        if (b->f->patches.patch_of[i] >= 0) {
            farthest = b->sign * p[b->forward];
            nose = vec3_load(p);
        }
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
        if (posture_tip(b, i).y < skull.y || vec3_distance(posture_tip(b, i), skull) > 0.3f * b->size) continue;
        if (!all[k].main && all[k].seam_distance < all[i].seam_distance) small = k;

        /* An ear is too small for rings: its joint is near the place where it meets the head. */
        vec3 seam = vec3_load(b->m->positions + 3 * (size_t)all[small].seam);
        vec3 place = vec3_lerp(posture_tip(b, small), seam, 0.85f);
        bool left = (posture_axis(posture_tip(b, small), b->lateral) > b->plane) == first_left;
        skeleton_add_side(s, "ear", left ? 'l' : 'r', parent, place);
        skeleton_add_side(s, "ear", left ? 'r' : 'l', parent, posture_mirror(b, place));
        return;
    }
}

bool skeleton_fit_quadruped(posture *b, rig_report *report, skeleton *s)
{
    static const float FRONT[3] = {0, 1.0f, 0.44f}, BACK[4] = {0, 0.98f, 0.52f, 0.15f};
    quadruped_parts parts;
    if (!quadruped_find(b, &parts)) return false;

    const limb *all = b->f->all;
    bool first_left = (b->forward == 2) == (b->sign > 0);
    float front = seam_at(b, parts.front), back = seam_at(b, parts.back);
    float low, high;

    /* the spine runs at two thirds of the trunk's height */
    trunk_span(b, 0.5f * (front + back), &low, &high);
    float spine_height = high > low ? low + 0.69f * (high - low) : 0.5f * (b->low.y + b->high.y);

    /* The head turns on the neck, two fifths of the way from its far end to the withers. */
    vec3 skull = b->mirror[parts.head] == parts.head ? posture_tip(b, parts.head) : nose_find(b);
    posture_axis_set(&skull, b->lateral, b->plane);
    vec3 withers = skull;
    posture_axis_set(&withers, b->forward, front);
    withers.y = spine_height;
    skull = vec3_lerp(skull, withers, 0.4f);
    if (b->mirror[parts.head] >= 0 && b->mirror[parts.head] != parts.head) {
        /* Its far ends are ears, which stand above the joint: of a long face, they tell better than the nose. */
        const limb *ear = &all[parts.head], *other = &all[b->mirror[parts.head]];
        if (other->seam_distance < ear->seam_distance) ear = other;
        vec3 root = ear->seam >= 0 ? vec3_load(b->m->positions + 3 * (size_t)ear->seam) : skull;
        skull = vec3_lerp(skull, vec3_lerp(root, withers, 0.4f), 0.5f);
        posture_axis_set(&skull, b->lateral, b->plane);
    }

    vec3 rump = withers;
    posture_axis_set(&rump, b->forward, back);

    int hips = skeleton_add(s, "hips", -1, rump);
    int spine = skeleton_add(s, "spine", hips, posture_trunk(b, rump, withers, 0.36f));
    int chest = skeleton_add(s, "chest", spine, posture_trunk(b, rump, withers, 0.71f));
    int neck = skeleton_add(s, "neck", chest, vec3_lerp(withers, skull, 0.28f));
    int skull_joint = skeleton_add(s, "head", neck, skull);
    if (parts.tail >= 0) skeleton_add_tail(&all[parts.tail], hips, s);

    for (int k = 0; k < 2; k++) {
        char side = (k == 0) == first_left ? 'l' : 'r';
        vec3 places[4];

        leg_chain(b, k ? b->mirror[parts.front] : parts.front, FRONT, 3, spine_height, 0.7f, places);
        int j = skeleton_add_side(s, "upper_arm", side, chest, places[0]);
        j = skeleton_add_side(s, "forearm", side, j, places[1]);
        skeleton_add_side(s, "hand", side, j, places[2]);

        /* hind leg; its knee points ahead */
        leg_chain(b, k ? b->mirror[parts.back] : parts.back, BACK, 4, spine_height, 0.83f, places);

        vec3 ahead = {0, 0, 0};
        posture_axis_set(&ahead, b->forward, b->sign);
        vec3 knee = skeleton_similar(places[0], places[2], ahead, 0.53f, 0.3f);
        j = skeleton_add_side(s, "thigh", side, hips, places[0]);
        j = skeleton_add_side(s, "shin", side, j, vec3_lerp(places[1], knee, 0.5f));
        j = skeleton_add_side(s, "foot", side, j, places[2]);
        skeleton_add_side(s, "toe", side, j, places[3]);
    }

    ears_add(b, parts.head, skull, first_left, skull_joint, s);
    skeleton_mirror(b, s);
    rig_say(report, "a quadruped: four legs, a head and %s tail were found", parts.tail >= 0 ? "a" : "no");
    return true;
}
