/*
 * skeleton_chain.c: the templates of bodies that are one long way: chains of joints, and snakes.
 */
#include <stdio.h>

#include "rig/skeleton_template.h"

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

    /* two limbs: the thicker one is the base */
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
            if (vec3_dot(in, out) < sharpest) {
                sharpest = vec3_dot(in, out);
                best = at;
            }
        }
    }

    return best;
}

/* A row of joints along the longest way: arms, tentacles, tails, pillars. */
bool skeleton_fit_chain(posture *b, rig_report *report, skeleton *s)
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
        parent = skeleton_add(s, name, parent, chain_place(&w, -1, at));
    }

    rig_say(report, "a chain of %d joints along the longest path through the body", s->count);
    return true;
}

/*
 * A snake, a worm, an eel: a long thin body that lies down. The root is in the middle; the spine runs to the head,
 * which is the end that is thicker near its tip, and the tail to the other.
 */
bool skeleton_fit_snake(posture *b, rig_report *report, skeleton *s)
{
    const limb *all = b->f->all;
    float radius, blunt[2];
    chain_way w = chain_find(b, &radius);
    if (!w.base || b->f->main_count != 2 || w.length < 16 * radius) return false;
    if (fabsf(posture_tip(b, 0).y - posture_tip(b, 1).y) > 0.4f * w.length || posture_height(b) > 0.5f * w.length)
        return false;

    /* the blunter end is the head */
    for (int k = 0; k < 2; k++)
        blunt[k] = limb_radius(&all[k], 0.04f * w.length) + limb_radius(&all[k], 0.08f * w.length);
    int head = blunt[1] > blunt[0];
    w = (chain_way){&all[head], &all[1 - head], all[head].seam_distance, w.length}; /* it starts at the head */

    /* joints from the middle to both ends, moved to where it bends */
    int half = CLAMP((int)(w.length / (10 * MAX(radius, 1e-6f))), 3, 12), parent;
    float step = 0.5f * w.length / ((float)half + 0.5f);
    int root = skeleton_add(s, "hips", -1, chain_place(&w, -1, 0.5f * w.length));
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
            parent = skeleton_add(s, name, parent, chain_place(&w, -1, d));
        }
    }

    rig_say(report, "a snake: a long body with %d joints from head to tail", s->count);
    return true;
}
