/*
 * skeleton_hand.c: the template of a hand, and fingers of three joints, which bipeds have too.
 *
 * Proportions as in skeleton.c.
 */
#include <stdio.h>

#include "rig/skeleton_template.h"

/* ---- fingers ---- */

/* Arc length from the tip over the visible length, of the three joints. */
static const float FINGER[3] = {1.33f, 0.70f, 0.31f}, THUMB[3] = {1.66f, 1.02f, 0.46f};

static void finger_place(const limb *l, float visible, bool thumb, vec3 places[3])
{
    for (int k = 0; k < 3; k++) places[k] = limb_place(l, (thumb ? THUMB : FINGER)[k] * visible, 0.9f * visible);
}

static const char *const FINGER_NAMES[5] = {"thumb", "index", "middle", "ring", "pinky"};

void fingers_order(const posture *b, finger_set *set, vec3 wrist)
{
    /* the thumb's tip is nearest to the wrist; it goes first */
    int thumb = 0;
    float least = INFINITY;
    for (int i = 0; i < set->count; i++) {
        float d = vec3_distance(posture_tip(b, set->limbs[i]), wrist);
        if (d < least) {
            least = d;
            thumb = i;
        }
    }

    int first = set->limbs[thumb];
    set->limbs[thumb] = set->limbs[0];
    set->limbs[0] = first;

    /* the way that the fingers point */
    vec3 tips[5], middle = {0, 0, 0};
    for (int i = 0; i < set->count; i++) tips[i] = posture_tip(b, set->limbs[i]);
    for (int i = 1; i < set->count; i++) middle = vec3_madd(middle, tips[i], 1.0f / (float)(set->count - 1));
    vec3 ahead = vec3_normalize(vec3_sub(middle, wrist));

    /* the row: across that way, between the two tips that are farthest apart; from the thumb's side */
    vec3 row = {0, 0, 0};
    for (int i = 1; i < set->count; i++)
        for (int k = i + 1; k < set->count; k++) {
            vec3 way = vec3_sub(tips[k], tips[i]);
            way = vec3_madd(way, ahead, -vec3_dot(way, ahead));
            if (vec3_length2(way) > vec3_length2(row)) row = way;
        }
    if (vec3_dot(vec3_sub(tips[0], middle), row) > 0) row = vec3_scale(row, -1);

    /*
     * The others by their places along the row: an insertion sort. The tip of a little finger may be nearer to the
     * thumb's than that of the finger beside it.
     */
    for (int i = 2; i < set->count; i++)
        for (int k = i;
             k > 1 && vec3_dot(posture_tip(b, set->limbs[k]), row) < vec3_dot(posture_tip(b, set->limbs[k - 1]), row);
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

void fingers_add(const posture *b, const finger_set *set, int hand, char side, skeleton *s)
{
    for (int i = 0; i < set->count; i++) {
        vec3 places[3];
        int parent = hand;
        finger_place(&b->f->all[set->limbs[i]], finger_visible(b, set, i), i == 0, places);
        for (int k = 0; k < 3; k++) {
            char name[32];
            snprintf(name, sizeof name, "%s_%d", FINGER_NAMES[i], k + 1);
            parent =
                side ? skeleton_add_side(s, name, side, parent, places[k]) : skeleton_add(s, name, parent, places[k]);
        }
    }
}

/* ---- hand ---- */

bool skeleton_fit_hand(posture *b, rig_report *report, skeleton *s)
{
    const limbs *f = b->f;
    finger_set set = {0};
    int stump = -1;
    float widest = 0, first;
    if (f->count < 5) return false;

    /* a body whose limbs are pairs in a mirror is no hand */
    int pairs = 0;
    for (int i = 0; i < MIN(f->count, 6); i++) pairs += b->mirror[i] >= 0 && b->mirror[i] != i;
    if (b->symmetric && pairs >= 4) return false;

    int tips = MIN(f->count, 6);
    if (f->all[4].reach < 0.1f * f->farthest) return false;

    /* The forearm is the thick one of six; a hand cut off at the wrist has five. */
    for (int i = 0; i < tips && tips == 6 && f->all[5].reach > 0.1f * f->farthest; i++) {
        float thick = limb_radius(&f->all[i], 0.5f * f->all[i].seam_distance);
        if (thick > widest) {
            widest = thick;
            stump = i;
        }
    }

    /* the others are fingers */
    for (int i = 0; i < tips && set.count < 5; i++)
        if (i != stump) set.limbs[set.count++] = i;
    if (set.count != 5) return false;

    /* where the hand ends */
    vec3 end = {0, 0, 0};
    if (stump >= 0) {
        end = posture_tip(b, stump);
    } else {
        /* The place that is farthest from the nearest finger. */
        float farthest = -1;
        for (int i = 0; i < b->m->point_count; i++) {
            vec3 p = vec3_load(b->m->positions + 3 * i);
            float near = INFINITY;
            for (int k = 0; k < 5 && f->patches.patch_of[i] >= 0; k++)
                near = MIN(near, vec3_distance(p, posture_tip(b, set.limbs[k])));
            if (near < INFINITY && near > farthest) {
                farthest = near;
                end = p;
            }
        }
    }

    fingers_order(b, &set, end);

    /* Fingers lie side by side; limbs that spread over the whole body are none. */
    for (int i = 2; i < 5; i++)
        if (vec3_distance(posture_tip(b, set.limbs[1]), posture_tip(b, set.limbs[i])) > 0.55f * b->size) return false;

    /* and are about equally thick: a head is much thicker than an arm */
    float thin = INFINITY;
    float thick = 0;
    for (int i = 0; i < 5; i++) {
        float radius = limb_radius(&f->all[set.limbs[i]], 0.4f * finger_visible(b, &set, i));
        thin = MIN(thin, radius);
        thick = MAX(thick, radius);
    }

    if (thick > 1.6f * thin) return false;

    /* The wrist: as far behind the knuckles as the fingers are long, towards the forearm. */
    vec3 knuckles = {0, 0, 0}, places[3];
    for (int i = 1; i < 5; i++) {
        finger_place(&f->all[set.limbs[i]], finger_visible(b, &set, i), false, places);
        knuckles = vec3_madd(knuckles, places[0], 0.25f);
    }

    finger_place(&f->all[set.limbs[2]], finger_visible(b, &set, 2), false, places);
    first = vec3_distance(places[0], posture_tip(b, set.limbs[2]));

    vec3 heel = end;
    if (stump >= 0) heel = limb_place(&f->all[stump], 0.35f * f->all[stump].seam_distance, INFINITY);
    vec3 back = vec3_sub(heel, knuckles);
    float length = vec3_length(back);
    vec3 wrist = vec3_madd(knuckles, back, length > 0 ? MIN(0.9f * first / length, 1.0f) : 0);

    int parent = -1;
    vec3 along = vec3_normalize(vec3_sub(heel, wrist)); /* the tip itself may be a corner of the stump */
    if (stump >= 0 && vec3_distance(wrist, end) > 0.45f * first)
        parent = skeleton_add(s, "forearm", -1, vec3_madd(wrist, along, 0.97f * vec3_dot(vec3_sub(end, wrist), along)));

    int hand = skeleton_add(s, "hand", parent, wrist);
    fingers_add(b, &set, hand, 0, s);
    rig_say(report, "a hand: five fingers were found%s", parent >= 0 ? ", and a forearm" : "");
    return true;
}
