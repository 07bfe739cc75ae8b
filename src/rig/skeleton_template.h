/*
 * skeleton_template.h: what the template skeletons are made with: the body's posture, the curves of its limbs, joints
 * to add. One file a template (skeleton_biped.c, ...); skeleton.c has the rest and tries them in turn.
 */
#ifndef RIG_SKELETON_TEMPLATE_H
#define RIG_SKELETON_TEMPLATE_H

#include "rig/skeleton.h"

/* ---- posture ---- */

enum { POSTURE_UP = 1 };

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

static inline float posture_axis(vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

static inline void posture_axis_set(vec3 *p, int axis, float value)
{
    if (axis == 0) p->x = value;
    if (axis == 1) p->y = value;
    if (axis == 2) p->z = value;
}

static inline vec3 posture_tip(const posture *b, int which)
{
    return vec3_load(b->m->positions + 3 * b->f->all[which].tip);
}

static inline vec3 posture_mirror(const posture *b, vec3 p)
{
    posture_axis_set(&p, b->lateral, 2 * b->plane - posture_axis(p, b->lateral));
    return p;
}

static inline float posture_height(const posture *b) { return b->high.y - b->low.y; }

/* Mirrored pairs of limbs whose tips stand on the floor, by falling reach; each pair by the limb of larger side. */
int posture_feet(const posture *b, int feet[4]);
/*
 * The place between two ends of the spine at a share of the arc length of the trunk's curve, which goes through the
 * centres of the curves of quads around the trunk. It lies on the straight line, as the spine is behind those centres
 * (on the back's side); a share of that line where there are no such curves.
 */
vec3 posture_trunk(const posture *b, vec3 from, vec3 to, float share);

/* ---- limb_curve.c: the curve through a limb's ring centres, by the distance d from its tip ---- */

/* How far apart rings may lie and still be smoothed together. */
float limb_window(const limb *l);
/* The centre at d, a mean over `window` on both sides, and the radius (or NULL). */
vec3 limb_smooth(const limb *l, float d, float window, float *radius);
float limb_radius(const limb *l, float d);
/* The place at d; straight on beyond `last`. pose -1: at rest. */
vec3 limb_place_in(const limb *l, int pose, float d, float last);
vec3 limb_place(const limb *l, float d, float last);
/* Where rings open out into the trunk: the first place beyond `from` where they grow by `growth` within 15 %. */
float limb_seam(const limb *l, float from, float to, float growth);
/*
 * The 20-degree rule, near the place where the template expects a joint: of the distances within `slack` of `d`, the
 * one where the curve turns most, if that is more than 20 degrees; else d itself. Of several poses, the one with the
 * larger angle decides.
 */
float limb_bend(const limb *l, float d, float slack, float arm);

/* ---- building ---- */

/* Returns the joint's index; parent -1: a root. */
int skeleton_add(skeleton *s, const char *name, int parent, vec3 position);
/* The same with the side behind its name: 'l' or 'r'. */
int skeleton_add_side(skeleton *s, const char *name, char side, int parent, vec3 position);
/* Five joints along a tail, from where it leaves the trunk. */
void skeleton_add_tail(const limb *tail, int parent, skeleton *s);
/* Pair _l with _r, average both sides, and put the rest on the middle plane. */
void skeleton_mirror(const posture *b, skeleton *s);

/* ---- skeleton_hand.c: fingers ---- */

typedef struct finger_set {
    int count;
    int limbs[5]; /* thumb, index, middle, ring, pinky */
} finger_set;

/* Order five tips: the thumb is nearest to the wrist, the others follow in their row, across the way they point. */
void fingers_order(const posture *b, finger_set *set, vec3 wrist);
/* Three joints each, below the joint `hand`; side: 'l', 'r' or 0 for none. */
void fingers_add(const posture *b, const finger_set *set, int hand, char side, skeleton *s);

/* ---- the templates: false when the body is none of that kind ---- */

bool skeleton_fit_biped(posture *b, rig_report *report, skeleton *s);
bool skeleton_fit_quadruped(posture *b, rig_report *report, skeleton *s);
bool skeleton_fit_hand(posture *b, rig_report *report, skeleton *s);
bool skeleton_fit_snake(posture *b, rig_report *report, skeleton *s);
bool skeleton_fit_chain(posture *b, rig_report *report, skeleton *s);

/*
 * Equation 2: the third corner of a triangle over the base from a to c that is similar to the template's: its foot
 * stands at `along` of the base, its height is `out` of the base's length, in the plane of the base and `ahead`.
 */
static inline vec3 skeleton_similar(vec3 a, vec3 c, vec3 ahead, float along, float out)
{
    vec3 base = vec3_sub(c, a);
    float part = vec3_dot(ahead, base) / MAX(vec3_length2(base), 1e-12f);
    vec3 normal = vec3_normalize(vec3_madd(ahead, base, -part));
    return vec3_madd(vec3_madd(a, base, along), normal, out * vec3_length(base));
}

#endif
