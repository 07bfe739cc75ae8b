/*
 * fit_biped.c: two legs, two arms, a head; a tail where there is one.
 *
 * Proportions are those of people (means over MakeHuman's bodies); what can be seen on the solid (crotch, shoulders,
 * neck, sole, bends) comes before them.
 */
#include "rig/fit.h"

#include <string.h>

#include "rig/skeleton_template.h"

/* People are seen whole: bones explain nearly all of them, and nothing else stands on the ground. */
static const fit_demand DEMAND = {.inside = 2,
                                  .cover = 2,
                                  .cover_low = 0.88f,
                                  .cover_slack = 0.5f,
                                  .explained = 1.5f,
                                  .feet = 1,
                                  .foot_cost = 0.5f,
                                  .trust = 1};

/* The tips of a try by what they are. */
typedef struct biped_tips {
    int feet[2], hands[2], head;
} biped_tips;

typedef struct limb_joints {
    vec3 root, bend, end, tip; /* shoulder, elbow, wrist, finger tip; hip, knee, ankle, toe */
    float length;              /* root to end */
} limb_joints;

/* ---- which tip is what ---- */

/* A first guess from the places of the tips alone. */
static float tips_guess(const fit_body *b, const biped_tips *t)
{
    const shape *s = b->shape;
    const shape_tip *tips = s->tips;
    float score = 0;

    float legs = fit_alike(tips[t->feet[0]].distance, tips[t->feet[1]].distance, 1.6f);
    float arms = fit_alike(tips[t->hands[0]].distance, tips[t->hands[1]].distance, 1.6f);
    float to_hands =
        fit_alike(b->between[t->head * SHAPE_TIPS + t->hands[0]], b->between[t->head * SHAPE_TIPS + t->hands[1]], 1.5f);
    float to_feet =
        fit_alike(b->between[t->head * SHAPE_TIPS + t->feet[0]], b->between[t->head * SHAPE_TIPS + t->feet[1]], 1.4f);
    float straight = fit_alike(
        b->between[t->hands[0] * SHAPE_TIPS + t->feet[0]] + b->between[t->hands[1] * SHAPE_TIPS + t->feet[1]],
        b->between[t->hands[0] * SHAPE_TIPS + t->feet[1]] + b->between[t->hands[1] * SHAPE_TIPS + t->feet[0]], 1.4f);
    score += 1.5f * legs + 1.5f * arms + to_hands + to_feet + 0.5f * straight;

    /* feet low, head high and above them */
    float foot_height = 0;
    vec3 between_feet = vec3_lerp(tips[t->feet[0]].place, tips[t->feet[1]].place, 0.5f);
    for (int k = 0; k < 2; k++) foot_height += 0.5f * (fit_height(b, tips[t->feet[k]].place) - b->ground) / b->height;
    float head_height = (fit_height(b, tips[t->head].place) - b->ground) / b->height;
    score += 2 * fit_within(foot_height, 0, 0.1f, 0.4f);
    score += 1.5f * fit_within(head_height, 0.97f, 1, 0.6f);

    vec3 middle = s->places[s->middle];
    float aside = vec3_length(fit_level(b, vec3_sub(tips[t->head].place, middle))) / b->height;
    score += fit_within(aside, 0, 0.03f, 0.5f);
    float lean = vec3_length(fit_level(b, vec3_sub(between_feet, middle))) / b->height;
    score += 0.5f * fit_within(lean, 0, 0.1f, 0.6f);

    /* hands above feet, below the top of the head as a rule; the arms grow out nearer to the head than to the feet */
    for (int k = 0; k < 2; k++) {
        float hand_height = (fit_height(b, tips[t->hands[k]].place) - b->ground) / b->height;
        score += 0.7f * fit_within(hand_height, 0.3f, 1.2f, 0.35f);
        float foot_way = b->between[t->hands[k] * SHAPE_TIPS + t->feet[k]];
        float head_way = b->between[t->hands[k] * SHAPE_TIPS + t->head];
        score += 0.4f * (foot_way > head_way ? 1 : MAX(0.0f, 2 * foot_way / head_way - 1));
    }

    /* ears and horns are above the head, hands rarely both */
    float head_top = fit_height(b, tips[t->head].place);
    bool above = fit_height(b, tips[t->hands[0]].place) > head_top && fit_height(b, tips[t->hands[1]].place) > head_top;
    score += above ? 0 : 0.8f;

    /* a body that stands straight is symmetric: the planes between feet and between hands agree, the head is on them */
    vec3 across_feet = fit_level(b, vec3_sub(tips[t->feet[0]].place, tips[t->feet[1]].place));
    vec3 across_hands = fit_level(b, vec3_sub(tips[t->hands[0]].place, tips[t->hands[1]].place));
    vec3 between_hands = vec3_lerp(tips[t->hands[0]].place, tips[t->hands[1]].place, 0.5f);
    vec3 across = vec3_normalize(vec3_add(vec3_normalize(across_feet), vec3_normalize(across_hands)));
    float level = fit_height(b, vec3_sub(tips[t->hands[0]].place, tips[t->hands[1]].place)) / b->height;
    score += 0.5f * fit_within(vec3_dot(vec3_normalize(across_feet), vec3_normalize(across_hands)), 0.97f, 1, 1);
    score += 0.5f * fit_within(vec3_dot(vec3_sub(between_hands, between_feet), across) / b->height, 0, 0, 0.3f);
    score += 0.5f * fit_within(vec3_dot(vec3_sub(tips[t->head].place, between_feet), across) / b->height, 0, 0, 0.3f);
    score += 0.5f * fit_within(level, 0, 0, 0.5f);

    const int pairs[2][2] = {{t->feet[0], t->feet[1]}, {t->hands[0], t->hands[1]}};
    score += 2.5f * fit_symmetry(b, pairs, 2, &t->head, 1);

    fit_use used[5];
    for (int k = 0; k < 2; k++) {
        used[k] = (fit_use){t->feet[k], 0.35f * tips[t->feet[k]].distance};
        used[2 + k] = (fit_use){t->hands[k], 0.35f * tips[t->hands[k]].distance};
    }

    used[4] = (fit_use){t->head, 0.6f * tips[t->head].distance};
    score += 2 * fit_explained(b, used, 5, t->head, MIN(fit_height(b, middle), fit_height(b, between_hands)));
    return score;
}

int fit_biped_tries(const fit_body *b, fit_try *tries)
{
    int n = MIN(b->shape->tip_count, 16);
    int count = 0;

    /* fingers, thumbs and heels grow out of a limb near its end: the limb's own tip stands for them */
    bool offshoot[SHAPE_TIPS] = {false};
    for (int i = 0; i < n; i++) {
        const shape_tip *tip = &b->shape->tips[i];
        if (tip->elder < 0 || tip->reach > 0.15f * b->shape->farthest) continue;
        float join = b->joins[tip->elder * SHAPE_TIPS + i];
        float whole = b->shape->tips[tip->elder].distance;
        offshoot[i] = join < 0.25f * whole || (join < 0.4f * whole && tip->reach < 0.25f * join);
    }

    /* pairs of feet, pairs of hands on the same sides, then the best head */
    for (int f0 = 0; f0 < n; f0++)
        for (int f1 = f0 + 1; f1 < n; f1++) {
            if (offshoot[f0] || offshoot[f1]) continue;
            const shape_tip *tips = b->shape->tips;
            float low = MAX(fit_height(b, tips[f0].place), fit_height(b, tips[f1].place));
            if (low > b->ground + 0.5f * b->height) continue;
            if (!(fit_alike(tips[f0].distance, tips[f1].distance, 1.6f) > 0)) continue;

            for (int h0 = 0; h0 < n; h0++)
                for (int h1 = 0; h1 < n; h1++) {
                    if (offshoot[h0] || offshoot[h1]) continue;
                    if (h0 == h1 || h0 == f0 || h0 == f1 || h1 == f0 || h1 == f1) continue;
                    if (!(fit_alike(tips[h0].distance, tips[h1].distance, 2.2f) > 0)) continue;
                    if (vec3_distance(tips[h0].place, tips[f0].place) + vec3_distance(tips[h1].place, tips[f1].place) >
                        vec3_distance(tips[h0].place, tips[f1].place) + vec3_distance(tips[h1].place, tips[f0].place))
                        continue;

                    fit_try t = {{f0, f1, h0, h1, -1}, -1};
                    for (int head = 0; head < n; head++) {
                        if (head == f0 || head == f1 || head == h0 || head == h1) continue;
                        float guess = tips_guess(b, &(biped_tips){{f0, f1}, {h0, h1}, head});
                        if (guess <= t.guess) continue;
                        t.guess = guess;
                        t.tips[4] = head;
                    }
                    if (t.tips[4] >= 0) fit_try_keep(tries, &count, t);
                }
        }
    return count;
}

/* ---- limbs ---- */

/* The place between `from` and `to` on a curve that is `ratio` times as far from `root` as from `end`. */
static vec3 limb_halve(const shape_curve *c, float from, float to, vec3 root, vec3 end, float ratio)
{
    vec3 best = vec3_lerp(end, root, 1 / (1 + ratio));
    float least = INFINITY;
    for (int i = 0; i <= 64; i++) {
        vec3 p = shape_curve_at(c, from + (to - from) * (float)i / 64, NULL);
        float uneven = fabsf(vec3_distance(p, root) - ratio * vec3_distance(p, end));
        if (uneven >= least) continue;
        least = uneven;
        best = p;
    }
    return best;
}

/*
 * The joint of a limb that is bent there: curves through the middle of a solid cut the corner, the straight axes on
 * both sides of it do not. reach: along the curve to both sides. Limbs bent by less than 25 degrees, or folded, stay as
 * they are.
 */
static vec3 bend_sharpen(const shape_curve *c, vec3 place, float reach)
{
    float radius;
    float at = fit_nearest(c, place);
    vec3 here = shape_curve_at(c, at, &radius);

    /* the axes, from the far side to the near one */
    vec3 below = shape_curve_at(c, at - 0.4f * reach, NULL);
    vec3 above = shape_curve_at(c, at + 0.4f * reach, NULL);
    vec3 down = vec3_normalize(vec3_sub(below, shape_curve_at(c, at - reach, NULL)));
    vec3 up = vec3_normalize(vec3_sub(above, shape_curve_at(c, at + reach, NULL)));
    float turn = -vec3_dot(down, up);
    if (!(fabsf(turn) < 0.906f) || at < reach) return place;

    /* the middle between the places where they come nearest */
    vec3 gap = vec3_sub(above, below);
    float cosine = vec3_dot(down, up);
    float along = (vec3_dot(gap, down) - cosine * vec3_dot(gap, up)) / (1 - cosine * cosine);
    float other = (cosine * vec3_dot(gap, down) - vec3_dot(gap, up)) / (1 - cosine * cosine);
    along = CLAMP(along, 0, reach);
    other = CLAMP(other, 0, reach);
    vec3 corner = vec3_lerp(vec3_madd(below, down, along), vec3_madd(above, up, other), 0.5f);

    /* all of it from 50 degrees on, and never out of the flesh */
    vec3 shift = vec3_scale(vec3_sub(corner, here), CLAMP((0.906f - turn) / 0.264f, 0, 1));
    float length = vec3_length(shift);
    if (length > radius) shift = vec3_scale(shift, radius / length);
    return vec3_add(place, shift);
}

/* The lowest cell along a shin's axis within `around` of it, as a length along the axis from `a`. */
static float sole_find(const fit_body *b, vec3 a, vec3 axis, float around, float reach)
{
    float sole = 0;
    for (int i = 0; i < b->shape->count; i++) {
        vec3 d = vec3_sub(b->shape->places[i], a);
        float along = vec3_dot(d, axis);
        if (along >= sole || along < -reach) continue;
        if (vec3_length2(vec3_madd(d, axis, -along)) > around * around) continue;
        sole = along;
    }
    return sole - 0.5f * b->shape->solid.spacing;
}

/*
 * The raised ankle of a leg that stands on its toes: the place farthest back, well above the floor, where the leg turns
 * by more than 40 degrees. Returns its length along the curve, 0 for a leg that stands on its foot.
 */
static float ankle_raised(const fit_body *b, const shape_curve *c, float crotch)
{
    vec3 tip = c->places[0];
    vec3 top = shape_curve_at(c, 0.9f * crotch, NULL);
    float height = fit_height(b, vec3_sub(top, tip));
    vec3 back = vec3_normalize(fit_level(b, vec3_sub(shape_curve_at(c, 0.4f * crotch, NULL), tip)));
    float farthest = -INFINITY;
    float ankle = 0;

    /* the farthest place back */
    for (float x = 0.15f; x < 0.75f; x += 0.01f) {
        vec3 d = vec3_sub(shape_curve_at(c, x * crotch, NULL), tip);
        if (fit_height(b, d) < 0.22f * height || vec3_dot(d, back) <= farthest) continue;
        farthest = vec3_dot(d, back);
        ankle = x * crotch;
    }

    if (!(ankle > 0)) return 0;

    /* how it turns there */
    vec3 at = shape_curve_at(c, ankle, NULL);
    vec3 below = vec3_normalize(vec3_sub(at, shape_curve_at(c, MAX(ankle - 0.12f * crotch, 0.0f), NULL)));
    vec3 above = vec3_normalize(vec3_sub(shape_curve_at(c, ankle + 0.25f * crotch, NULL), at));
    return vec3_dot(below, above) < 0.766f && vec3_dot(below, b->up) > 0.35f && vec3_dot(above, back) < 0 ? ankle : 0;
}

static limb_joints leg_place(const fit_body *b, int tip, float crotch)
{
    const shape_curve *c = &b->curves[tip];
    limb_joints leg = {.tip = b->shape->tips[tip].place};

    /* the curve leaves the foot where it turns up the leg; a short leg may be half foot */
    float foot = 0.1f;
    for (; foot < 0.45f; foot += 0.02f) {
        vec3 at = shape_curve_at(c, foot * crotch, NULL);
        vec3 next = vec3_normalize(vec3_sub(shape_curve_at(c, (foot + 0.1f) * crotch, NULL), at));
        if (vec3_dot(next, vec3_normalize(vec3_sub(shape_curve_at(c, crotch, NULL), at))) > 0.85f) break;
    }

    foot = MAX(0.32f, foot + 0.05f);

    /* the shin's axis, and the sole below it */
    float radius;
    vec3 low = shape_curve_at(c, foot * crotch, &radius);
    vec3 high = shape_curve_at(c, (foot + 0.2f) * crotch, NULL);
    vec3 axis = vec3_normalize(vec3_sub(high, low));
    float sole = sole_find(b, low, axis, 2.0f * radius + b->shape->solid.spacing, (foot + 0.04f) * crotch);

    vec3 top = shape_curve_at(c, crotch, NULL);
    float length = vec3_dot(vec3_sub(top, low), axis) - sole;
    length = MAX(length, 0.5f * crotch);

    /* the thigh's axis runs on beyond the crotch to the hip joint */
    vec3 thigh =
        vec3_normalize(vec3_sub(shape_curve_at(c, 0.92f * crotch, NULL), shape_curve_at(c, 0.66f * crotch, NULL)));
    leg.root = vec3_madd(shape_curve_at(c, 0.92f * crotch, NULL), thigh, 0.08f * crotch + 0.04f * length);
    leg.end = vec3_madd(low, axis, sole + 0.1f * length);
    leg.bend = limb_halve(c, 0.25f * crotch, crotch, leg.root, leg.end, 1);

    /* a raised ankle overrules */
    float raised = ankle_raised(b, c, crotch);
    if (raised > 0) {
        leg.end = shape_curve_at(c, raised, NULL);
        leg.bend = limb_halve(c, raised, crotch, leg.root, leg.end, 1);
    }

    leg.length = vec3_distance(leg.root, leg.bend) + vec3_distance(leg.bend, leg.end);
    return leg;
}

/*
 * An arm by its share of half the way from hand to hand, which hardly differs between bodies: over 24 rigged people and
 * cartoons the shoulder stands at 0.82 (0.76 to 0.86), the elbow at 0.53 (0.49 to 0.59), the wrist at 0.23 (0.11 to
 * 0.32). held: the length of what the hand holds beyond it, a weapon or a staff.
 */
static limb_joints arm_place(const fit_body *b, int tip, float half, float held)
{
    const shape_curve *c = &b->curves[tip];
    limb_joints arm = {.tip = shape_curve_at(c, held, NULL)};

    /* the upper arm's axis run on to the shoulder: the curve itself turns into the trunk before */
    vec3 outer = shape_curve_at(c, held + 0.52f * half, NULL);
    vec3 inner = shape_curve_at(c, held + 0.72f * half, NULL);
    arm.root = vec3_madd(inner, vec3_normalize(vec3_sub(inner, outer)), 0.1f * half);
    arm.bend = shape_curve_at(c, held + 0.53f * half, NULL);
    arm.bend = bend_sharpen(c, arm.bend, 0.18f * half);

    /* it lies about as deep as the upper arm is thick: a straight axis may run out at the top of the shoulder */
    float thick;
    shape_curve_at(c, held + 0.62f * half, &thick);
    arm.root = shape_centre(b->shape, arm.root, 0.9f * thick);

    /* the wrist: the thinnest place around */
    float wrist = fit_thinnest(b, c, held + 0.17f * half, held + 0.3f * half, held + 0.24f * half, 0.4f);
    arm.end = shape_curve_at(c, wrist, NULL);
    arm.length = vec3_distance(arm.root, arm.bend) + vec3_distance(arm.bend, arm.end);
    return arm;
}

/*
 * Where an arm that is too long ends: what a hand holds lies across it as a rule, so that the curve turns there by more
 * than 50 degrees. Returns the length beyond, 0 when it turns nowhere so that an arm of an eighth of the body is left.
 */
static float hand_find(const shape_curve *c, float half, float body_way)
{
    float reach = 0.08f * body_way;
    float least = 0.64f;
    float held = 0;
    for (float x = reach; x < half - 0.12f * body_way; x += 0.01f * body_way) {
        vec3 at = shape_curve_at(c, x, NULL);
        vec3 before = vec3_normalize(vec3_sub(at, shape_curve_at(c, x - reach, NULL)));
        vec3 after = vec3_normalize(vec3_sub(shape_curve_at(c, x + reach, NULL), at));

        if (vec3_dot(before, after) >= least) continue;
        least = vec3_dot(before, after);
        held = x;
    }

    /* the hand itself reaches a little beyond */
    return MAX(0.0f, held - 0.6f * reach);
}

/*
 * Half of the way from hand to hand as it would be with the arms stretched out. half: of the taut way. An arm that
 * hangs down or is raised turns at the shoulder by some angle, and a taut way cuts that corner: by the armpit, about as
 * far from the shoulder as the shoulder is from the middle, and by half as much above it.
 */
static float span_find(const fit_body *b, const int hands[2], const float held[2], float half)
{
    /* along the curves up to the upper arms */
    float inner[2];
    vec3 places[2];
    for (int k = 0; k < 2; k++) {
        inner[k] = held[k] + 0.66f * half;
        places[k] = shape_curve_at(&b->curves[hands[k]], inner[k], NULL);
    }

    float way = 0.5f * (fit_way(b, hands[0], hands[1], inner[0], inner[1]) - held[0] - held[1]);

    /* the corners at the shoulders */
    vec3 across = vec3_normalize(vec3_sub(places[0], places[1]));
    float cut = 0;
    for (int k = 0; k < 2; k++) {
        vec3 outer = shape_curve_at(&b->curves[hands[k]], held[k] + 0.5f * half, NULL);
        vec3 arm = vec3_normalize(vec3_sub(outer, places[k]));
        float straight = CLAMP(vec3_dot(arm, across) * (k ? -1.0f : 1.0f), 0, 1);

        /* tan(angle / 2) */
        float corner = sqrtf((1 - straight) / (1 + straight));
        cut += 0.5f * 0.18f * corner * (vec3_dot(arm, b->up) > 0 ? 0.5f : 1.0f);
    }

    return way / (1 - cut);
}

/* How far it is from a place to the surface along a direction. */
static float surface_reach(const fit_body *b, vec3 from, vec3 way)
{
    float step = 0.5f * b->shape->solid.spacing;
    float reach = 0;
    while (reach < b->shape->size && solid_sample(&b->shape->solid, vec3_madd(from, way, reach + step)) < 0)
        reach += step;
    return reach;
}

/*
 * Arms that hang are placed again: half of the way from hand to hand is an arm and half of the way between the
 * shoulders, which the taut way past the armpits tells badly (8 % too little for a fat man, 8 % too much for a slim
 * woman). Shoulders move half of the way to their share of it, too. Arms up to 30 degrees below the level stay as they
 * are; from 60 on all of this counts. Returns the better half.
 */
static float arms_span(const fit_body *b, const biped_tips *t, const float held[2], float half, limb_joints arms[2])
{
    /* how far they hang */
    float hang = 0;
    for (int k = 0; k < 2; k++) {
        vec3 up = vec3_normalize(vec3_sub(arms[k].root, arms[k].bend));
        hang += 0.5f * CLAMP((fit_height(b, up) - 0.5f) / 0.37f, 0, 1);
    }
    if (!(hang > 0)) return half;

    /* the sum of its parts */
    float width = 0.5f * vec3_distance(arms[0].root, arms[1].root);
    half += hang * (CLAMP(0.82f * half + width, 0.85f * half, 1.15f * half) - half);
    for (int k = 0; k < 2; k++) arms[k] = arm_place(b, t->hands[k], half, held[k]);

    /* shoulders at their share */
    vec3 out = vec3_sub(arms[0].root, arms[1].root);
    width = 0.5f * vec3_length(out);
    vec3 shift = vec3_scale(vec3_normalize(out), 0.5f * hang * (0.18f * half - width));
    arms[0].root = vec3_add(arms[0].root, shift);
    arms[1].root = vec3_sub(arms[1].root, shift);
    return half;
}

/* ---- trunk and head ---- */

typedef struct head_joints {
    vec3 neck, head, top;
} head_joints;

/* The way from the head's tip to the pelvis: its own curve, and a leg's from the middle of the body down. */
static void spine_trace(const fit_body *b, int head, int foot, vec3 pelvis, shape_curve *way)
{
    /* thin out both curves so that they fit into one */
    const shape_curve *up = &b->curves[head];
    const shape_curve *down = &b->curves[foot];
    int step = 1 + (up->count + down->count) / SHAPE_CURVE;
    int count = 0;

    /* from the tip of the head to the middle of the body */
    for (int i = 0; i < up->count; i += step) {
        way->places[count] = up->places[i];
        way->radii[count++] = up->radii[i];
    }

    /* on along the leg's curve to the pelvis */
    float end = fit_nearest(down, pelvis);
    for (int i = down->count - 1; i >= 0 && down->lengths[i] >= end; i -= step) {
        /* what the two curves share is walked once */
        if (b->joins[head * SHAPE_TIPS + foot] < up->lengths[up->count - 1] - 1e-6f * b->height &&
            down->lengths[i] > b->joins[foot * SHAPE_TIPS + head])
            continue;
        way->places[count] = down->places[i];
        way->radii[count++] = down->radii[i];
    }

    /* the middle of the body may lie beyond the pelvis: the way ends where it comes to it first */
    float least = INFINITY;
    for (int i = 0; i < count; i++) least = MIN(least, vec3_distance(way->places[i], pelvis));
    int last = 1;
    while (last < count - 1 && vec3_distance(way->places[last], pelvis) > least + 0.01f * b->height) last++;
    count = MIN(count, last + 1);

    /* arc lengths of the joined curve */
    way->count = count;
    way->lengths[0] = 0;
    for (int i = 1; i < count; i++)
        way->lengths[i] = way->lengths[i - 1] + vec3_distance(way->places[i], way->places[i - 1]);
}

static head_joints head_place(const fit_body *b, const biped_tips *t, vec3 chest, vec3 pelvis)
{
    shape_curve c;
    spine_trace(b, t->head, t->feet[0], pelvis, &c);
    head_joints h = {.top = b->shape->tips[t->head].place};
    float way = fit_nearest(&c, chest);

    /* the thickest place of the head, as a mean in which thick places count most */
    float most = 0;
    for (float x = 0.1f; x < 0.65f; x += 0.02f) {
        float radius;
        shape_curve_at(&c, x * way, &radius);
        most = MAX(most, radius);
    }

    /* places by the twelfth power of their radius */
    float bulge = 0;
    float weights = 0;
    for (float x = 0.1f; x < 0.65f; x += 0.02f) {
        float radius;
        shape_curve_at(&c, x * way, &radius);
        float weight = (float)det_pow(radius / MAX(most, 1e-12f), 12);
        bulge += weight * x;
        weights += weight;
    }

    bulge /= MAX(weights, 1e-12f);

    /* the neck: the thinnest place between that and the chest */
    float thin = fit_thinnest(b, &c, MAX(0.3f, bulge) * way, 0.98f * way, 0.75f * way, 0.6f);
    vec3 narrow = shape_curve_at(&c, thin, NULL);
    h.neck = vec3_lerp(chest, narrow, 0.75f);
    h.head = shape_curve_at(&c, MAX(thin - MIN(0.12f * way, 0.15f * thin), 0.0f), NULL);
    return h;
}

/*
 * How far the head lies before the neck: a face does, by 0.01 to 0.045 of the height over 30 people, hair and hoods
 * take that away (-0.005).
 */
static float face_ahead(const fit_body *b, const head_joints *head, vec3 forward)
{
    const shape *s = b->shape;
    float reach = 1.2f * vec3_distance(head->head, head->top);
    float sum = 0;
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        vec3 d = vec3_sub(s->places[i], head->head);
        if (fit_height(b, d) < 0 || vec3_length2(d) > reach * reach) continue;
        sum += vec3_dot(vec3_sub(s->places[i], head->neck), forward);
        count++;
    }
    return count ? sum / (float)count : 0;
}

/* ---- arms that have grown together with the trunk ---- */

/* Share of the way from the top of the head to the pelvis that the shoulders lie below the neck: 0.02 to 0.17. */
static const float SHOULDERS_BELOW = 0.11f;
/* Arms that are to be seen tell more than such that are guessed. */
static const float GROWN_TRUST = 0.96f;

/*
 * The neck as a share of the way from the top of the head to the pelvis: the first place that is an eighth thinner than
 * what lies before and behind it. -1: the head sits between the shoulders.
 */
static float neck_find(const shape_curve *way)
{
    enum { STEPS = 50, BEHIND = 12 };
    float radii[STEPS + BEHIND + 1];
    float length = way->lengths[way->count - 1];
    for (int i = 0; i < COUNT_OF(radii); i++) shape_curve_at(way, (float)i / STEPS * length, &radii[i]);

    float before = 0;
    for (int i = 3; i < 38; i++) {
        float behind = 0;
        for (int k = i; k < i + BEHIND; k++) behind = MAX(behind, radii[k]);
        before = MAX(before, radii[i - 1]);
        if (radii[i + 1] >= radii[i] && radii[i] < 0.88f * MIN(before, behind)) return (float)i / STEPS;
    }
    return -1;
}

/*
 * Whether the arms touch the trunk, so that their curves enter it far below the shoulders: the shoulders seem to lie
 * next to the hips (over 60 bodies the way between them is 0.22 to 0.4 of that from head to foot) and far from the
 * neck. between: the place between the shoulders instead.
 */
static bool arms_grown(const fit_body *b, const biped_tips *t, vec3 chest, vec3 pelvis, float body_way, vec3 *between)
{
    shape_curve way;
    spine_trace(b, t->head, t->feet[0], pelvis, &way);
    float length = way.lengths[way.count - 1];
    float neck = neck_find(&way);
    float below = fit_nearest(&way, chest) / MAX(length, 1e-12f) - MAX(neck, 0.3f);
    float trunk = vec3_distance(chest, pelvis) / body_way;
    if (below < 0.22f || trunk > (neck < 0 ? 0.2f : 0.24f)) return false;
    *between = shape_curve_at(&way, (MAX(neck, 0.3f) + SHOULDERS_BELOW) * length, NULL);
    return true;
}

/*
 * The elbow between shoulder and wrist: of the cells as far from both as the bones are long, one that sees both, in the
 * middle of the flesh, and rather outside and below.
 */
static vec3 elbow_find(const fit_body *b, const limb_joints *arm, vec3 out, float half, float thick)
{
    const shape *s = b->shape;
    float upper = 0.29f * half;
    float lower = 0.3f * half;
    vec3 best = vec3_lerp(arm->root, arm->end, 0.49f);
    float most = -INFINITY;
    if (vec3_distance(arm->root, arm->end) > 0.97f * (upper + lower)) return best;

    /* cells at the right distances */
    for (int i = 0; i < s->count; i++) {
        vec3 p = s->places[i];
        float off = fabsf(vec3_distance(p, arm->root) - upper) + fabsf(vec3_distance(p, arm->end) - lower);
        if (off > 0.12f * half) continue;

        /* how well they lie; who could still be the best is asked whether it sees both ends */
        vec3 d = vec3_scale(vec3_sub(p, arm->root), 1 / half);
        float merit = 1.5f * vec3_dot(d, out) - 0.3f * fit_height(b, d) - 2 * off / half;
        merit += 0.5f * MIN(1.0f, s->depths[i] / MAX(thick, 1e-12f));
        if (merit + 2 <= most) continue;
        merit += shape_visible(s, arm->root, p, 0) + shape_visible(s, p, arm->end, 0);
        if (merit <= most) continue;
        most = merit;
        best = p;
    }
    return best;
}

/* Arms from the shoulders at both sides of a place to the hands. out: unit, from the second arm to the first. */
static void arms_lay(const fit_body *b, const biped_tips *t, vec3 between, vec3 out, float half, const float held[2],
                     limb_joints arms[2])
{
    for (int k = 0; k < 2; k++) {
        const shape_curve *c = &b->curves[t->hands[k]];
        vec3 side = k ? vec3_scale(out, -1) : out;
        float thick;
        float wrist = fit_thinnest(b, c, held[k] + 0.16f * half, held[k] + 0.29f * half, held[k] + 0.22f * half, 0.4f);
        arms[k].end = shape_curve_at(c, wrist, &thick);

        /* as deep in the shoulder as the arm is thick */
        float width = surface_reach(b, between, side);
        width = CLAMP(width - 1.2f * thick, 0.55f * width, 0.85f * width);

        /* what lies beside the shoulder may be a fat arm: half by the shoulders' share of the way from hand to hand */
        arms[k].root = vec3_madd(between, side, MIN(width, 0.5f * (width + 0.18f * half)));
        arms[k].bend = elbow_find(b, &arms[k], side, half, thick);
        arms[k].length = vec3_distance(arms[k].root, arms[k].bend) + vec3_distance(arms[k].bend, arms[k].end);
    }
}

/* ---- the whole ---- */

/* A large tip behind the pelvis, on the middle plane and below the shoulders: a tail. -1: none. */
static int tail_find(const fit_body *b, const biped_tips *t, vec3 pelvis, vec3 forward, vec3 left)
{
    const shape *s = b->shape;

    for (int i = 0; i < s->tip_count; i++) {
        if (i == t->feet[0] || i == t->feet[1] || i == t->hands[0] || i == t->hands[1] || i == t->head) continue;
        vec3 d = vec3_sub(s->tips[i].place, pelvis);
        if (s->tips[i].reach < 0.2f * s->farthest || vec3_dot(d, forward) > -0.6f * vec3_length(d)) continue;
        if (fabsf(vec3_dot(d, left)) > 0.2f * vec3_length(d) || vec3_dot(d, b->up) > 0.12f * b->height) continue;

        vec3 base = shape_curve_at(&b->curves[i], fit_nearest(&b->curves[i], pelvis), NULL);
        if (vec3_distance(base, pelvis) > 0.3f * vec3_length(d) || vec3_length(d) < 0.3f * b->height) continue;
        if (fit_rod(b, i, 0.3f * vec3_length(d), 0.6f * vec3_length(d)) < 0.2f) continue;
        return i;
    }
    return -1;
}

/* Whether two limbs are as thick as one another at a length from their tips, 0 to 1. */
static float limbs_alike(const fit_body *b, const int tips[2], const float from[2], float length)
{
    float radii[2];
    for (int k = 0; k < 2; k++) {
        shape_curve_at(&b->curves[tips[k]], from[k] + length, &radii[k]);
        radii[k] += b->shape->solid.spacing;
    }
    return fit_alike(radii[0], radii[1], 3);
}

/* Whether the body is one column between the place of the hips and the place where the legs seem to part: a robe. */
static bool skirt_find(const fit_body *b, vec3 chest, vec3 crotch, float hips)
{
    return shape_visible(b->shape, vec3_lerp(chest, crotch, hips), vec3_lerp(chest, crotch, 0.9f), 0) > 0.8f;
}

/*
 * Whether legs end at a hem rather than in a crotch, 0 to 1: the body right above is far larger than both legs right
 * below. Over 30 people in trousers or none it is 0.8 to 2.5 times as large, over a knee-length skirt 4.3 times.
 */
static float hem_find(const fit_body *b, const int feet[2], float leg_way)
{
    float above = 0;
    float below = 0;
    for (int k = 0; k < 2; k++) {
        const float *areas = b->areas + feet[k] * FIT_BINS;
        above += 0.5f * areas[CLAMP((int)((leg_way + 0.06f * b->height) / b->bin), 0, FIT_BINS - 1)];
        below += areas[CLAMP((int)((leg_way - 0.06f * b->height) / b->bin), 0, FIT_BINS - 1)];
    }
    return CLAMP(above / MAX(below, 1e-30f) - 2.5f, 0, 1);
}

bool fit_biped_place(const fit_body *b, const fit_try *try, fit *made)
{
    const biped_tips named = {{try->tips[0], try->tips[1]}, {try->tips[2], try->tips[3]}, try->tips[4]};
    const biped_tips *t = &named;
    const shape *s = b->shape;
    limb_joints legs[2];
    limb_joints arms[2];

    /* legs up to the crotch */
    float leg_way = fit_parted(b, t->feet[0], t->feet[1]);
    if (!(leg_way > 0)) return false;
    for (int k = 0; k < 2; k++) legs[k] = leg_place(b, t->feet[k], leg_way);
    vec3 pelvis = vec3_lerp(legs[0].root, legs[1].root, 0.5f);

    /* arms up to the shoulders; the way from hand to hand goes straight through them */
    float half = 0.5f * fit_way(b, t->hands[0], t->hands[1], 0, 0);
    float held[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        /* an arm that is longer than the other one holds something; seen from the head, as a hand may touch the belly
         */
        float own = fit_way(b, t->head, t->hands[k], 0, 0);
        float other = fit_way(b, t->head, t->hands[1 - k], 0, 0);
        if (own > 1.3f * other) held[k] = own - other;
    }

    /* both are too long for the body: a thing across each hand */
    float body_way = 0.5f * (fit_way(b, t->head, t->feet[0], 0, 0) + fit_way(b, t->head, t->feet[1], 0, 0));
    if (half - 0.5f * (held[0] + held[1]) > 0.65f * body_way)
        for (int k = 0; k < 2; k++) held[k] = MAX(held[k], hand_find(&b->curves[t->hands[k]], half, body_way));

    half = span_find(b, t->hands, held, half - 0.5f * (held[0] + held[1]));
    if (!(half > 0.02f * b->height)) return false;

    for (int k = 0; k < 2; k++) arms[k] = arm_place(b, t->hands[k], half, held[k]);
    vec3 chest = vec3_lerp(arms[0].root, arms[1].root, 0.5f);

    /* arms that touch the trunk hang from the place where shoulders are, and are as long as arms are */
    vec3 between;
    float lower = MIN(fit_height(b, arms[0].root), fit_height(b, arms[1].root)) - fit_height(b, chest);
    bool grown = arms_grown(b, t, vec3_madd(chest, b->up, lower), pelvis, body_way, &between);
    if (!grown) half = arms_span(b, t, held, half, arms);
    chest = vec3_lerp(arms[0].root, arms[1].root, 0.5f);
    if (grown) {
        vec3 out = b->plane_count ? b->planes[0].normal : vec3_sub(legs[0].root, legs[1].root);
        out = vec3_normalize(fit_level(b, out));
        vec3 across = vec3_add(vec3_sub(arms[0].bend, arms[1].bend), vec3_sub(arms[0].root, arms[1].root));
        across = vec3_add(across, vec3_sub(arms[0].tip, arms[1].tip));
        if (vec3_dot(across, out) < 0) out = vec3_scale(out, -1);
        half = CLAMP(vec3_distance(between, pelvis) / 0.585f, 0.4f * body_way, 0.56f * body_way);
        arms_lay(b, t, between, out, half, held, arms);
        chest = vec3_lerp(arms[0].root, arms[1].root, 0.5f);
    }

    /* feet may cross, hips do not: legs are on the side of their roots */
    int leg_tips[2] = {t->feet[0], t->feet[1]};
    vec3 hips_across = vec3_madd(vec3_sub(legs[0].bend, legs[1].bend), vec3_sub(legs[0].root, legs[1].root), 2);
    if (vec3_dot(hips_across, vec3_sub(arms[0].root, arms[1].root)) < 0) {
        limb_joints swap = legs[0];
        legs[0] = legs[1];
        legs[1] = swap;
        leg_tips[0] = t->feet[1];
        leg_tips[1] = t->feet[0];
    }

    head_joints head = head_place(b, t, chest, pelvis);

    /*
     * Hips by two cues: where the legs part (robes hide it, legs end lower at the hem of a skirt,
     * thin legs part higher, fat ones lower), and the arms: over
     * 20 rigged bodies it is as far from hip to shoulder as 0.585 (0.50 to 0.68) of half the way from hand to hand.
     */
    float expected = 0.585f * half;
    float trunk = vec3_distance(pelvis, chest);
    float seen = leg_way;
    bool upright_trunk = fit_height(b, vec3_sub(chest, pelvis)) > 0.5f * trunk;
    bool robe = upright_trunk && trunk > 1.5f * expected && skirt_find(b, chest, pelvis, expected / trunk);
    if (!robe && !(leg_way > 0.04f * b->height)) return false;

    if (upright_trunk) {
        float wanted = CLAMP(0.5f * (trunk + expected), 0.87f * expected, 1.13f * expected);
        if (wanted > expected) wanted += hem_find(b, leg_tips, leg_way) * (expected - wanted);
        if (robe) wanted = expected;
        vec3 shift = vec3_scale(vec3_sub(chest, pelvis), 1 - wanted / trunk);
        for (int k = 0; k < 2; k++) {
            const shape_curve *c = &b->curves[leg_tips[k]];
            legs[k].root = vec3_add(legs[k].root, shift);
            legs[k].bend = vec3_lerp(legs[k].end, legs[k].root, 0.5f);
            if (!robe) legs[k].bend = limb_halve(c, 0.25f * leg_way, leg_way, legs[k].root, legs[k].end, 1);
            if (!robe) legs[k].bend = bend_sharpen(c, legs[k].bend, 0.3f * leg_way);
            legs[k].length = vec3_distance(legs[k].end, legs[k].bend) + vec3_distance(legs[k].bend, legs[k].root);
        }

        pelvis = vec3_add(pelvis, shift);
        trunk = wanted;
        if (robe) leg_way = 0.5f * (legs[0].length + legs[1].length);
    }

    /* hips lie level across the trunk, whatever the legs do; one leg's curve may go astray in a robe */
    vec3 rise = vec3_normalize(vec3_sub(chest, pelvis));
    vec3 side = vec3_normalize(vec3_sub(arms[0].root, arms[1].root));
    vec3 apart = vec3_sub(legs[0].root, legs[1].root);
    float uneven = fabsf(vec3_dot(apart, rise));
    float hip_width = vec3_length(vec3_madd(apart, rise, -vec3_dot(apart, rise)));
    float shoulder_width = vec3_distance(arms[0].root, arms[1].root);
    bool astray =
        robe || uneven > 0.35f * trunk || hip_width < 0.2f * shoulder_width || hip_width > 1.1f * shoulder_width;

    if (astray) {
        hip_width = 0.54f * shoulder_width;
        vec3 centre = shape_centre(s, pelvis, INFINITY);
        pelvis = vec3_madd(centre, side, vec3_dot(vec3_sub(chest, centre), side));
    } else {
        side = vec3_normalize(vec3_add(side, vec3_normalize(apart)));
    }

    /* level across the trunk */
    side = vec3_normalize(vec3_madd(side, rise, -vec3_dot(side, rise)));
    for (int k = 0; k < 2; k++) {
        vec3 level = vec3_madd(pelvis, side, (k ? -0.5f : 0.5f) * hip_width);
        legs[k].root = vec3_lerp(legs[k].root, level, astray ? 1 : 0.75f);
        if (astray) legs[k].bend = vec3_lerp(legs[k].end, legs[k].root, 0.5f);
    }

    /* legs that a robe hides stand below the hips, whatever its hem does */
    for (int k = 0; k < 2 && robe; k++) {
        float drop = fit_height(b, legs[k].root) - b->ground;
        float aside = vec3_dot(vec3_sub(legs[k].tip, legs[k].root), side);
        if (seen > 0.12f * b->height && fabsf(aside) < 0.5f * hip_width) continue;
        aside = CLAMP(aside, -0.25f * hip_width, 0.25f * hip_width);
        legs[k].end = vec3_madd(vec3_madd(legs[k].root, b->up, -0.93f * drop), side, aside);
        legs[k].bend = vec3_lerp(legs[k].end, legs[k].root, 0.5f);
        legs[k].length = 0.93f * drop;
        if (vec3_distance(legs[k].tip, legs[k].end) > 0.3f * drop) legs[k].tip = legs[k].end;
    }

    /* it faces where its toes point */
    vec3 toes = {0, 0, 0};
    for (int k = 0; k < 2; k++) toes = vec3_add(toes, fit_level(b, vec3_sub(legs[k].tip, legs[k].end)));

    /* the line from side to side, of arms and legs */
    float soles = 0;
    vec3 aside = vec3_add(vec3_scale(vec3_sub(arms[0].root, arms[1].root), 2), vec3_sub(legs[0].root, legs[1].root));
    aside = vec3_add(aside, vec3_scale(vec3_sub(arms[0].tip, arms[1].tip), 0.5f));
    aside = vec3_add(aside, vec3_scale(vec3_sub(legs[0].tip, legs[1].tip), 0.5f));
    aside = vec3_normalize(fit_level(b, aside));

    /* what points ahead: toes, soles before the shins (a robe hides them), and the face */
    vec3 forward = vec3_cross(aside, b->up);
    for (int k = 0; k < 2 && !robe; k++) soles += fit_toes(b, leg_tips[k], leg_way, legs[k].end, forward);
    float face = 2 * leg_way * soles + 3 * face_ahead(b, &head, forward);
    float front = vec3_dot(forward, toes) + face;
    float own_way = vec3_dot(forward, b->ahead);
    bool turn = front < 0;

    /*
     * Where they hardly do, as in boots: a tail, or else the file's own way; of a body that lies across that, soles and
     * face, as the far end of a boot may be its heel.
     */
    if (fabsf(front) < 0.05f * b->height) {
        int behind = tail_find(b, t, pelvis, forward, aside);
        int before = tail_find(b, t, pelvis, vec3_scale(forward, -1), aside);
        turn = behind < 0;
        if (behind < 0 && before < 0) turn = fabsf(own_way) > 0.7f ? own_way < 0 : face < 0;
    }
    if (turn) forward = vec3_scale(forward, -1);

    /* feet that a robe hides point ahead */
    for (int k = 0; k < 2 && robe; k++) {
        vec3 ahead = vec3_madd(legs[k].end, forward, 0.15f * legs[k].length);
        if (vec3_dot(vec3_sub(legs[k].tip, legs[k].end), forward) < 0.05f * legs[k].length) legs[k].tip = ahead;
    }

    made->forward = forward;
    vec3 left = vec3_cross(b->up, forward);
    int first = vec3_dot(aside, left) > 0 ? 0 : 1;

    skeleton *k = &made->skeleton;
    k->count = 0;
    int hips = skeleton_add(k, "hips", -1, vec3_lerp(pelvis, head.neck, 0.02f));
    int spine = skeleton_add(k, "spine", hips, vec3_lerp(pelvis, head.neck, 0.22f));
    int upper = skeleton_add(k, "chest", spine, vec3_lerp(pelvis, head.neck, 0.52f));
    int neck = skeleton_add(k, "neck", upper, head.neck);
    skeleton_add(k, "head", neck, head.head);
    for (int n = 0; n < 2; n++) {
        int i = n ? 1 - first : first;
        char letter = n ? 'r' : 'l';

        vec3 collar = vec3_lerp(vec3_lerp(chest, head.neck, 0.5f), arms[i].root, 0.22f);
        int j = skeleton_add_side(k, "shoulder", letter, upper, collar);
        j = skeleton_add_side(k, "upper_arm", letter, j, arms[i].root);
        j = skeleton_add_side(k, "forearm", letter, j, arms[i].bend);
        skeleton_add_side(k, "hand", letter, j, arms[i].end);

        j = skeleton_add_side(k, "thigh", letter, hips, legs[i].root);
        j = skeleton_add_side(k, "shin", letter, j, legs[i].bend);
        j = skeleton_add_side(k, "foot", letter, j, legs[i].end);
        vec3 toe = vec3_lerp(legs[i].end, legs[i].tip, 0.68f);
        skeleton_add_side(k, "toe", letter, j, toe);
    }

    int tail = tail_find(b, t, pelvis, forward, left);
    if (tail >= 0) fit_tail(b, tail, 0.85f * fit_nearest(&b->curves[tail], pelvis), hips, k);
    fit_mirror(b, left, k);

    float whole = vec3_distance(pelvis, head.top);
    float upright = fit_height(b, vec3_sub(head.top, pelvis)) / whole;

    hip_width = vec3_distance(legs[0].root, legs[1].root);

    fit_use used[6];
    int used_count = 5;
    for (int i = 0; i < 2; i++) {
        used[i] = (fit_use){t->feet[i], 0.6f * leg_way};
        used[2 + i] = (fit_use){t->hands[i], held[i] + 0.45f * half};
    }

    used[4] = (fit_use){t->head, fit_nearest(&b->curves[t->head], head.neck)};
    if (tail >= 0) used[used_count++] = (fit_use){tail, 0.8f * s->tips[tail].distance};

    /* the trunk is a box: shoulders and hips lie across it, one above the other */
    vec3 shoulders = vec3_normalize(vec3_sub(arms[0].root, arms[1].root));
    vec3 hip_line = vec3_normalize(vec3_sub(legs[0].root, legs[1].root));
    vec3 spine_line = vec3_normalize(vec3_sub(chest, pelvis));
    float skew = MAX(fabsf(vec3_dot(spine_line, shoulders)), fabsf(vec3_dot(spine_line, hip_line)));
    float flanks =
        fit_alike(vec3_distance(arms[0].root, legs[0].root), vec3_distance(arms[1].root, legs[1].root), 1.6f);

    /* one foot may be lifted; under a robe the hem is all that shows, and lies low all around */
    float feet[2];
    for (int i = 0; i < 2; i++) feet[i] = (fit_height(b, s->tips[t->feet[i]].place) - b->ground) / b->height;
    float lifted = robe ? 2 * MAX(feet[0], feet[1]) : 0.5f * (feet[0] + feet[1]);
    float hand_low = INFINITY;
    for (int i = 0; i < 2; i++) hand_low = MIN(hand_low, (fit_height(b, arms[i].tip) - b->ground) / b->height);

    /* how alike limbs of both sides are in thickness */
    const float none[2] = {0, 0};
    float thick = 1;
    for (int i = 1; i <= 3; i++) {
        thick = MIN(thick, limbs_alike(b, t->hands, held, 0.2f * (float)i * half));
        if (!robe) thick = MIN(thick, limbs_alike(b, t->feet, none, 0.25f * (float)i * leg_way));
    }

    float wide = MAX(MAX(s->high.x - s->low.x, s->high.y - s->low.y), s->high.z - s->low.z);

    /* hips above feet, shoulders above hips */
    float knees = 0;
    for (int i = 0; i < 2; i++) {
        knees += 0.25f * (fit_height(b, legs[i].root) > fit_height(b, legs[i].end));
        knees += 0.25f * (fit_height(b, arms[i].root) > fit_height(b, legs[i].root));
    }

    const int pairs[2][2] = {{t->feet[0], t->feet[1]}, {t->hands[0], t->hands[1]}};

    /* arms that touch the trunk reach their hands, and are not raised; two fingers of one hand are no hands */
    float apart_way = b->between[t->hands[0] * SHAPE_TIPS + t->hands[1]];
    float reached = fit_within(apart_way / half, 0.45f, 100, 0.25f);
    for (int i = 0; i < 2 && grown; i++) {
        vec3 arm = vec3_scale(vec3_sub(arms[i].tip, arms[i].root), 1 / half);
        float lowered = fit_within(fit_height(b, arm), -2, 0.1f, 0.3f);
        reached = MIN(reached, lowered * fit_within(vec3_length(arm), 0.3f, 0.86f, 0.2f));
    }

    /* what is higher than the head is not more above the hips, too */
    float crowned = 1;
    float head_aside = vec3_length(fit_level(b, vec3_sub(head.top, pelvis))) / b->height;
    for (int i = 0; i < 2; i++) {
        vec3 hand = s->tips[t->hands[i]].place;
        if (fit_height(b, vec3_sub(hand, head.top)) < 0.03f * b->height) continue;
        float hand_aside = vec3_length(fit_level(b, vec3_sub(hand, pelvis))) / b->height;
        crowned = MIN(crowned, fit_within(head_aside - hand_aside, -10, 0, 0.1f));
    }

    /* an arm does not reach beyond the other shoulder: both hands were looked for in one arm */
    float crossed = 1;
    for (int i = 0; i < 2; i++) {
        vec3 own = vec3_sub(arms[i].root, chest);
        float reach = vec3_dot(vec3_sub(arms[i].end, chest), own) / MAX(vec3_length2(own), 1e-30f);
        crossed = MIN(crossed, fit_within(reach, -0.8f, 100, 0.6f));
    }

    /* the least reach of another leg; the farthest end may be that of a sword */
    float other_leg = 0.18f * MIN(1.0f, 0.7f * b->height / s->farthest);

    /* what is asked of a biped, and how much each answer counts */
    fit_term terms[] = {
        {fit_alike(legs[0].length, legs[1].length, 2), 1},
        {fit_alike(arms[0].length, arms[1].length, 2), 1},
        {fit_within(0.5f * (legs[0].length + legs[1].length) / whole, 0.5f, 1.4f, 0.7f), 1},
        {fit_within(1.64f * half / (legs[0].length + legs[1].length), 0.55f, 2.2f, 0.9f), 1},
        {fit_within(half / body_way, 0.34f, 0.65f, 0.2f), 1},
        {fit_within(upright, 0.8f, 1, 0.6f), 1.5f},
        {fit_within(trunk / whole, 0.25f, 0.75f, 0.25f), 0.7f},
        {fit_within(shoulder_width / whole, 0.2f, 0.6f, 0.3f), 0.7f},
        {fit_within(hip_width / whole, 0.05f, 0.5f, 0.3f), 0.5f},
        {knees, 1.5f},
        {fit_within(vec3_dot(shoulders, hip_line), 0.85f, 1, 0.8f), 1},
        {fit_within(skew, 0, 0.25f, 0.5f), 1},
        {flanks, 1},
        {thick, 1},
        {fit_within(hand_low, 0.14f, 10, 0.12f), 1},
        {fit_within(lifted, 0, 0.1f, 0.5f), 1},
        {fit_within(b->height / wide, 0.6f, 10, 0.4f), 1},
        {MAX(0.0f, 1 - 0.5f * (float)fit_other_arms(b, used, used_count, t->head, fit_height(b, chest))), 1},
        {robe ? 1 : fit_symmetry(b, &pairs[0], 1, NULL, 0), 0.5f},
        {fit_symmetry(b, &pairs[1], 1, NULL, 0), 0.5f},
        {robe ? 1 : fit_rod(b, t->feet[0], 0.2f * leg_way, 0.8f * leg_way), 0.7f},
        {robe ? 1 : fit_rod(b, t->feet[1], 0.2f * leg_way, 0.8f * leg_way), 0.7f},
        {reached, grown ? 1.5f : 0},
        {crowned, 1},
        {crossed, 1},
        {grown ? 1 : fit_rod(b, t->hands[0], held[0] + 0.3f * half, held[0] + 0.7f * half), 0.7f},
        {grown ? 1 : fit_rod(b, t->hands[1], held[1] + 0.3f * half, held[1] + 0.7f * half), 0.7f},
    };

    fit_ends ends = {used, used_count, t->head, fit_height(b, chest), other_leg};
    made->score = fit_score(b, k, &ends, &DEMAND, terms, COUNT_OF(terms));
    if (grown) made->score *= GROWN_TRUST;
    return true;
}
