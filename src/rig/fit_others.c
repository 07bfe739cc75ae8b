/*
 * fit_others.c: birds, fish and snakes, bodies of six legs and more, and the tree of limbs of anything else.
 */
#include <stdio.h>
#include <string.h>

#include "rig/fit.h"
#include "rig/skeleton_template.h"

/* Feathers hide much of a bird; whoever has fewer limbs to see is trusted less beside those with more. */
static const fit_demand BIRD = {1.5f, 2, 0.7f, 0.5f, 1.5f, 1, 0.5f, 0.95f};
static const fit_demand SNAKE = {1, 2, 0.85f, 0.5f, 2.5f, 1, 0.5f, 0.86f};
static const fit_demand FISH = {1, 2, 0.85f, 0.5f, 2.5f, 1.5f, 0.4f, 0.87f};
static const fit_demand MANY_LEGS = {1, 2, 0.85f, 0.5f, 2, 0, 0, 1};

/* Joints along a curve, from the trunk (length `root` from the tip) outwards, at `parts` of it. Returns the last. */
static int chain_add(const fit_body *b, int tip, float root, const float *parts, const char *const *names, int count,
                     char side, int parent, skeleton *s)
{
    for (int k = 0; k < count; k++) {
        vec3 place = shape_curve_at(&b->curves[tip], parts[k] * root, NULL);
        parent = side ? skeleton_add_side(s, names[k], side, parent, place) : skeleton_add(s, names[k], parent, place);
    }
    return parent;
}

/* Whether two tips may be left and right of one another, 0 to 1: alike, level, and across the same axis. */
static float pair_merit(const fit_body *b, int i, int k, vec3 axis)
{
    const shape_tip *one = &b->shape->tips[i];
    const shape_tip *two = &b->shape->tips[k];
    vec3 d = vec3_sub(one->place, two->place);
    float length = vec3_length(d);
    if (!(length > 0)) return 0;

    /* what lies on the plane of symmetry has no twin */
    const fit_plane *plane = &b->planes[0];
    float near = b->plane_count && plane->share > 0.9f ? 0.015f * b->shape->size : -1;
    if (fabsf(vec3_dot(one->place, plane->normal) - plane->offset) < near) return 0;
    if (fabsf(vec3_dot(two->place, plane->normal) - plane->offset) < near) return 0;

    const int pair[1][2] = {{i, k}};
    float alike = near > 0 ? fit_symmetry(b, pair, 1, NULL, 0) : fit_alike(one->distance, two->distance, 1.3f);
    float across = 1 - fabsf(vec3_dot(d, axis)) / length;
    float level = 1 - fabsf(vec3_dot(d, b->up)) / length;
    return alike * across * across * level * level;
}

/* The length from a tip at which its curve has entered the trunk: its radius is near that of the middle. */
static float limb_root(const fit_body *b, int tip)
{
    const shape_curve *c = &b->curves[tip];
    float thick = c->radii[c->count - 1];
    for (int i = 0; i < c->count; i++)
        if (c->lengths[i] > 0.3f * c->lengths[c->count - 1] && c->radii[i] > 0.6f * thick) return c->lengths[i];
    return 0.8f * c->lengths[c->count - 1];
}

/* The two tips farthest apart through the solid, on its plane of symmetry where it has one: the ends of a trunk. */
static bool trunk_ends(const fit_body *b, const bool *taken, int ends[2])
{
    const shape *s = b->shape;
    float best = 0;
    for (int i = 0; i < s->tip_count; i++)
        for (int k = i + 1; k < s->tip_count; k++) {
            if (taken[i] || taken[k] || !(s->tips[i].reach > 0) || !(s->tips[k].reach > 0)) continue;
            const int pair[2] = {i, k};
            float apart = b->between[i * SHAPE_TIPS + k] * fit_symmetry(b, NULL, 0, pair, 2);

            if (apart <= best) continue;
            best = apart;
            ends[0] = i;
            ends[1] = k;
        }
    return best > 0;
}

/* How much like a head an end is: thick near its tip, and high. */
static float end_heading(const fit_body *b, int tip)
{
    float sum = 0;
    for (int k = 1; k <= 6; k++) {
        float radius;
        shape_curve_at(&b->curves[tip], 0.08f * (float)k * b->shape->farthest, &radius);
        sum += radius;
    }
    float height = (fit_height(b, b->shape->tips[tip].place) - b->ground) / b->height;
    return sum / (0.3f * b->shape->size) + 0.15f * height;
}

/* ---- birds ---- */

/* Far ends of a bird. Wings may be folded and legs drawn up: -1. */
typedef struct bird_tips {
    int wings[2], feet[2];
    int head, tail;
} bird_tips;

/* The pair farthest apart across a level line of those that do not stand on the ground; false for folded wings. */
static bool wings_find(const fit_body *b, bird_tips *t)
{
    const shape *s = b->shape;
    float best = 0.25f;
    for (int i = 0; i < s->tip_count; i++)
        for (int k = i + 1; k < s->tip_count; k++) {
            vec3 d = fit_level(b, vec3_sub(s->tips[i].place, s->tips[k].place));
            vec3 axis = vec3_normalize(vec3_cross(b->up, d));

            float merit = pair_merit(b, i, k, axis) * vec3_length(d) / s->size;
            float low = MIN(fit_height(b, s->tips[i].place), fit_height(b, s->tips[k].place));

            if (low < b->ground + 0.25f * b->height || merit <= best) continue;
            best = merit;
            t->wings[0] = i;
            t->wings[1] = k;
        }
    return t->wings[0] >= 0;
}

/* A pair that stands on the ground. across: of the wings, or zero. */
static bool feet_find(const fit_body *b, vec3 across, bird_tips *t)
{
    const shape *s = b->shape;
    float best = 0.3f;
    for (int i = 0; i < s->tip_count; i++)
        for (int k = i + 1; k < s->tip_count; k++) {
            if (i == t->wings[0] || i == t->wings[1] || k == t->wings[0] || k == t->wings[1]) continue;
            float high = MAX(fit_height(b, s->tips[i].place), fit_height(b, s->tips[k].place));
            if (high > b->ground + 0.25f * b->height) continue;

            vec3 d = fit_level(b, vec3_sub(s->tips[i].place, s->tips[k].place));
            vec3 axis = vec3_cross(b->up, vec3_length(across) > 0 ? across : vec3_normalize(d));

            float merit = pair_merit(b, i, k, axis);
            if (merit > 0) merit += MIN(s->tips[i].reach, s->tips[k].reach) / s->farthest;

            if (merit <= best) continue;
            best = merit;
            t->feet[0] = i;
            t->feet[1] = k;
        }
    return t->feet[0] >= 0;
}

/* How wide a body is near a tip: the spread of its cells there across an axis. */
static float tip_spread(const fit_body *b, int tip, vec3 across)
{
    const shape *s = b->shape;
    float sum = 0;
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        vec3 d = vec3_sub(s->places[i], s->tips[tip].place);
        if (vec3_length2(d) > 0.01f * s->size * s->size) continue;
        sum += fabsf(vec3_dot(d, across));
        count++;
    }
    return sum / (float)MAX(count, 1) + s->solid.spacing;
}

/* The two ends of the trunk: a beak is narrow where a tail is a fan, and the head of a bird that stands is high. */
static bool bird_ends(const fit_body *b, bird_tips *t)
{
    bool taken[SHAPE_TIPS] = {false};
    int ends[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        if (t->feet[k] >= 0) taken[t->feet[k]] = true;
        if (t->wings[k] >= 0) taken[t->wings[k]] = true;
    }

    /* what is beside the plane of symmetry is a feather or a toe */
    const shape *s = b->shape;
    for (int i = 0; i < s->tip_count && b->plane_count; i++) {
        float aside = vec3_dot(s->tips[i].place, b->planes[0].normal) - b->planes[0].offset;
        taken[i] = taken[i] || fabsf(aside) > 0.12f * s->size;
    }

    if (!trunk_ends(b, taken, ends)) return false;

    /* which end is which: the spread of its tip, and its height */
    vec3 axis = vec3_normalize(fit_level(b, vec3_sub(s->tips[ends[0]].place, s->tips[ends[1]].place)));
    float spreads[2];
    for (int k = 0; k < 2; k++) spreads[k] = tip_spread(b, ends[k], vec3_cross(b->up, axis));
    float cues = (spreads[1] - spreads[0]) / (spreads[0] + spreads[1]);
    if (t->feet[0] >= 0)
        cues += 0.5f * fit_height(b, vec3_sub(s->tips[ends[0]].place, s->tips[ends[1]].place)) / b->height;

    t->head = cues >= 0 ? ends[0] : ends[1];
    t->tail = cues >= 0 ? ends[1] : ends[0];
    return true;
}

/* Folded wings lie along the flanks, from the shoulders to the hips. */
static void wings_fold(const fit_body *b, vec3 shoulders, vec3 hips, vec3 left, int chest, skeleton *s)
{
    static const char *const NAMES[3] = {"upper_arm", "forearm", "hand"};
    static const float PARTS[3] = {0, 0.5f, 1};
    for (int side = 0; side < 2; side++) {
        vec3 out = side ? vec3_scale(left, -1) : left;
        int parent = chest;

        /* on the flank, a little inside of the surface */
        for (int k = 0; k < 3; k++) {
            vec3 place = vec3_lerp(shoulders, hips, PARTS[k]);
            float width = 0;
            while (width < b->shape->size && solid_sample(&b->shape->solid, vec3_madd(place, out, width)) < 0)
                width += 0.5f * b->shape->solid.spacing;
            parent = skeleton_add_side(s, NAMES[k], side ? 'r' : 'l', parent, vec3_madd(place, out, 0.7f * width));
        }
    }
}

bool fit_bird(const fit_body *b, fit *made)
{
    const shape *s = b->shape;
    bird_tips t = {{-1, -1}, {-1, -1}, -1, -1};

    /* wings, feet and the ends of the trunk */
    bool winged = wings_find(b, &t);
    vec3 across = {0, 0, 0};
    if (winged) across = vec3_normalize(fit_level(b, vec3_sub(s->tips[t.wings[0]].place, s->tips[t.wings[1]].place)));
    bool legged = feet_find(b, across, &t);
    if ((!winged && !legged) || !bird_ends(b, &t)) return false;

    /* short wings of a bird that stands are folded */
    float width = winged ? vec3_distance(s->tips[t.wings[0]].place, s->tips[t.wings[1]].place) : 0;
    if (legged && width < 0.5f * vec3_distance(s->tips[t.head].place, s->tips[t.tail].place)) winged = false;

    vec3 nose = s->tips[t.head].place;
    vec3 stern = s->tips[t.tail].place;
    vec3 forward = vec3_normalize(fit_level(b, vec3_sub(nose, stern)));
    vec3 left = vec3_cross(b->up, forward);
    made->forward = forward;

    /* where wings and legs leave the trunk */
    vec3 middle = s->places[s->middle];
    vec3 shoulders = vec3_lerp(middle, nose, 0.25f);
    vec3 pelvis = vec3_lerp(middle, stern, 0.25f);
    float wing_root = 0;
    float leg_root = 0;
    if (winged) {
        wing_root = 0.42f * b->between[t.wings[0] * SHAPE_TIPS + t.wings[1]];
        shoulders = vec3_lerp(shape_curve_at(&b->curves[t.wings[0]], wing_root, NULL),
                              shape_curve_at(&b->curves[t.wings[1]], wing_root, NULL), 0.5f);
    }

    vec3 leg_roots = pelvis;
    if (legged) {
        leg_root = 0.42f * b->between[t.feet[0] * SHAPE_TIPS + t.feet[1]];
        leg_roots = vec3_lerp(shape_curve_at(&b->curves[t.feet[0]], leg_root, NULL),
                              shape_curve_at(&b->curves[t.feet[1]], leg_root, NULL), 0.5f);
        pelvis = leg_roots;
        if (!winged) shoulders = shape_centre(s, vec3_lerp(middle, nose, 0.2f), INFINITY);
    }

    /* hips stand on the spine, which runs from the shoulders to the tail, above the legs */
    vec3 spine = vec3_sub(stern, shoulders);
    float along = vec3_dot(vec3_sub(pelvis, shoulders), spine) / MAX(vec3_length2(spine), 1e-12f);
    vec3 above = vec3_madd(shoulders, spine, CLAMP(along, 0.15f, 0.7f));
    if (fit_height(b, above) > fit_height(b, pelvis)) pelvis = vec3_lerp(pelvis, above, 0.8f);
    pelvis = shape_centre(s, pelvis, s->solid.spacing);

    /* joints; the neck of a bird with a long one follows its curve */
    static const char *const WING[3] = {"upper_arm", "forearm", "hand"};
    static const char *const LEG[4] = {"thigh", "shin", "foot", "toe"};
    static const float WING_PARTS[3] = {1, 0.68f, 0.38f};
    static const float LEG_PARTS[4] = {1, 0.7f, 0.35f, 0.12f};
    skeleton *k = &made->skeleton;
    k->count = 0;

    float neck_way = fit_nearest(&b->curves[t.head], shoulders);
    int hips = skeleton_add(k, "hips", -1, pelvis);
    int chest = skeleton_add(k, "chest", hips, shoulders);
    int neck = skeleton_add(k, "neck", chest, shape_curve_at(&b->curves[t.head], 0.7f * neck_way, NULL));
    skeleton_add(k, "head", neck, shape_curve_at(&b->curves[t.head], 0.4f * neck_way, NULL));

    /* wings and legs, where they are to be seen */
    for (int i = 0; i < 2; i++) {
        if (winged) {
            char side = vec3_dot(vec3_sub(s->tips[t.wings[i]].place, middle), left) > 0 ? 'l' : 'r';
            chain_add(b, t.wings[i], wing_root, WING_PARTS, WING, 3, side, chest, k);
        }
        if (legged) {
            vec3 apart = vec3_sub(s->tips[t.feet[i]].place, s->tips[t.feet[1 - i]].place);
            chain_add(b, t.feet[i], leg_root, LEG_PARTS, LEG, 4, vec3_dot(apart, left) > 0 ? 'l' : 'r', hips, k);
        }
    }

    if (!winged) wings_fold(b, shoulders, pelvis, left, chest, k);
    if (vec3_dot(vec3_sub(pelvis, stern), forward) > 0.1f * s->size)
        fit_tail(b, t.tail, 0.7f * vec3_distance(pelvis, stern), hips, k);
    fit_mirror(b, left, k);

    /* the score: wings are plates or wide, legs go down where flukes and fins do not */
    float length = vec3_distance(nose, stern);
    float lean = fabsf(fit_height(b, vec3_sub(nose, stern))) / length;
    fit_use used[6] = {{t.head, 0.5f * s->tips[t.head].distance}, {t.tail, 0.5f * s->tips[t.tail].distance}};
    int used_count = 2;
    float wings_score = 0.8f;
    float legs_score = 0.9f;

    for (int i = 0; i < 2 && t.wings[0] >= 0; i++)
        used[used_count++] = (fit_use){t.wings[i], winged ? wing_root : s->tips[t.wings[i]].reach};
    if (winged) {
        float plate = 1 - 0.5f * (fit_rod(b, t.wings[0], 0.4f * wing_root, 0.9f * wing_root) +
                                  fit_rod(b, t.wings[1], 0.4f * wing_root, 0.9f * wing_root));
        wings_score = fit_within(MAX(plate, width / length - 0.6f), 0.4f, 10, 0.6f);
        wings_score *= fit_alike(s->tips[t.wings[0]].distance, s->tips[t.wings[1]].distance, 1.5f);
        wings_score *= fit_within(vec3_dot(across, left) * vec3_dot(across, left), 0.9f, 1, 0.5f);

        /* without legs to see, only wings that are as wide as the body is long tell a bird from a fish */
        if (!legged) wings_score *= fit_within(width / length, 0.9f, 100, 0.4f);
    }

    if (legged) {
        for (int i = 0; i < 2; i++) used[used_count++] = (fit_use){t.feet[i], leg_root};

        vec3 soles = vec3_lerp(s->tips[t.feet[0]].place, s->tips[t.feet[1]].place, 0.5f);
        float drop = fit_height(b, vec3_sub(leg_roots, soles));
        legs_score = fit_within(drop / MAX(leg_root, 1e-9f), 0.3f, 10, 0.4f);
        legs_score *= fit_alike(s->tips[t.feet[0]].distance, s->tips[t.feet[1]].distance, 1.5f);

        /* what stands on two legs has them below its weight, and steep */
        vec3 mean = {0, 0, 0};
        for (int i = 0; i < s->count; i++) mean = vec3_madd(mean, s->places[i], 1 / (float)s->count);
        float before = fabsf(vec3_dot(vec3_sub(soles, mean), forward)) / length;
        float steep = drop / vec3_distance(s->tips[t.feet[0]].place, s->tips[t.feet[1]].place);
        if (!winged) legs_score *= fit_within(before, 0, 0.12f, 0.15f) * fit_within(steep, 0.6f, 100, 0.3f);

        /* folded wings: it stands on two legs below a trunk that does not stand upright */
        if (!winged) wings_score = 0.85f * fit_within(drop / b->height, 0.15f, 1, 0.1f);
    }

    float shoulder_height = (fit_height(b, shoulders) - b->ground) / b->height;

    fit_term terms[] = {
        {wings_score, 2},
        {fit_within(fit_slender(b), 0, 1.1f, 0.6f), 1},
        {fit_within(length / s->size, 0.25f, 10, 0.1f), 1},
        {legs_score, 1.5f},
        {fit_within(lean, 0, 0.75f, 0.3f), 1},
        {legged ? fit_within(shoulder_height, 0.4f, 1, 0.3f) : 1, 1},
        {fit_symmetry(b, NULL, 0, &t.head, 1), 0.5f},
    };

    fit_ends far = {used, used_count, t.head, fit_height(b, shoulders), 0.08f};
    made->score = fit_score(b, k, &far, &BIRD, terms, COUNT_OF(terms));
    return true;
}

/* ---- fish and snakes: a spine from head to tail ---- */

/* Whether a trunk is thick up to half way to both ends, 0 to 1; two wings or arms taken for one are not. */
static float trunk_girth(const fit_body *b, const int ends[2])
{
    float thick = b->shape->depths[b->shape->middle];
    float least = INFINITY;
    for (int k = 0; k < 2; k++) {
        const shape_curve *c = &b->curves[ends[k]];
        float radius;
        shape_curve_at(c, 0.55f * c->lengths[c->count - 1], &radius);
        least = MIN(least, radius / MAX(thick, 1e-9f));
    }
    return fit_within(least, 0.35f, 100, 0.3f);
}

bool fit_snake(const fit_body *b, fit *made)
{
    const shape *s = b->shape;
    bool taken[SHAPE_TIPS] = {false};
    int ends[2];
    if (!trunk_ends(b, taken, ends)) return false;
    int head = end_heading(b, ends[0]) >= end_heading(b, ends[1]) ? 0 : 1;

    /* from the head's tip to the middle and on to the tail's */
    const shape_curve *front = &b->curves[ends[head]];
    const shape_curve *back = &b->curves[ends[1 - head]];
    float lengths[2] = {front->lengths[front->count - 1], back->lengths[back->count - 1]};

    /* joints from the middle to both ends */
    skeleton *k = &made->skeleton;
    k->count = 0;
    int root = skeleton_add(k, "hips", -1, s->places[s->middle]);
    int parent = root;
    static const char *const SPINE[5] = {"spine", "chest", "upper_chest", "neck", "head"};
    static const char *const TAIL[5] = {"tail_1", "tail_2", "tail_3", "tail_4", "tail_5"};
    for (int i = 0; i < 5; i++)
        parent =
            skeleton_add(k, SPINE[i], parent, shape_curve_at(front, (0.84f - 0.17f * (float)i) * lengths[0], NULL));

    parent = root;
    for (int i = 0; i < 5; i++)
        parent = skeleton_add(k, TAIL[i], parent, shape_curve_at(back, (0.84f - 0.18f * (float)i) * lengths[1], NULL));

    made->forward = vec3_normalize(vec3_sub(s->tips[ends[head]].place, s->tips[ends[1 - head]].place));

    /* nothing else stands out, and it is long */
    float radius = s->depths[s->middle];
    fit_use used[2] = {{ends[0], 0.3f * lengths[0]}, {ends[1], 0.3f * lengths[1]}};
    float girth = trunk_girth(b, ends);
    fit_term terms[] = {
        {girth, 1},
        {fit_within((lengths[0] + lengths[1]) / MAX(radius, 1e-9f), 14, 1000, 10), 1},
        {fit_alike(lengths[0], lengths[1], 3), 0.5f},
    };

    fit_ends far = {used, 2, -1, 0, 0.06f};
    made->score = fit_score(b, k, &far, &SNAKE, terms, COUNT_OF(terms));
    return true;
}

bool fit_fish(const fit_body *b, fit *made)
{
    if (!fit_snake(b, made)) return false;

    const shape *s = b->shape;
    bool taken[SHAPE_TIPS] = {false};
    int ends[2] = {0, 0};
    trunk_ends(b, taken, ends);

    /* fins: pairs beside the trunk that stand out less than it is long */
    skeleton *k = &made->skeleton;
    vec3 left = vec3_normalize(vec3_cross(b->up, made->forward));
    int fins[2] = {-1, -1};
    float best = 0.3f;
    for (int i = 0; i < s->tip_count; i++)
        for (int j = i + 1; j < s->tip_count; j++) {
            float merit = pair_merit(b, i, j, made->forward) * fit_alike(s->tips[i].reach, s->tips[j].reach, 3);
            float near = MIN(s->tips[i].distance, s->tips[j].distance) / s->farthest;
            if (merit * (1.3f - near) <= best) continue;
            best = merit * (1.3f - near);
            fins[0] = i;
            fins[1] = j;
        }

    bool finned = fins[0] >= 0;
    static const char *const FIN[2] = {"fin", "fin_end"};
    static const float PARTS[2] = {1, 0.5f};
    fit_use used[SHAPE_TIPS + 2];
    int used_count = 0;
    float grown = 0;

    for (int i = 0; i < 2 && finned; i++) {
        float root = limb_root(b, fins[i]);
        char side = vec3_dot(vec3_sub(s->tips[fins[i]].place, s->places[s->middle]), left) > 0 ? 'l' : 'r';
        chain_add(b, fins[i], root, PARTS, FIN, 2, side, 0, k);
        used[used_count++] = (fit_use){fins[i], root};
        grown += 0.5f * s->tips[fins[i]].distance;
    }

    fit_mirror(b, left, k);

    /* the length of the trunk's chain of joints */
    float length = 0;
    for (int j = 0; j < k->count; j++)
        if (k->joints[j].parent >= 0 && j < 11)
            length += vec3_distance(k->joints[j].position, k->joints[k->joints[j].parent].position);

    /* ends of the trunk, and the single fins that stand on its middle plane */
    for (int i = 0; i < s->tip_count; i++) {
        vec3 d = vec3_sub(s->tips[i].place, s->places[s->middle]);
        bool end = fabsf(vec3_dot(d, made->forward)) > 0.5f * s->farthest;
        bool single = b->plane_count && s->tips[i].reach < 0.3f * s->farthest &&
                      fabsf(vec3_dot(s->tips[i].place, b->planes[0].normal) - b->planes[0].offset) < 0.02f * s->size;
        if (end || single) used[used_count++] = (fit_use){i, end ? 0.5f * s->farthest : s->tips[i].reach};
    }

    /* fins are short; what has none to see is a fish by its girth alone, and less surely */
    float slender = length / MAX(s->depths[s->middle], 1e-9f);
    float fins_score = 0.75f * fit_within(slender, 5, 14, 6);
    if (finned) {
        float span = vec3_distance(s->tips[fins[0]].place, s->tips[fins[1]].place);
        fins_score = fit_within(grown / MAX(length, 1e-9f), 0.1f, 0.6f, 0.4f);
        fins_score *= fit_within(span / MAX(length, 1e-9f), 0, 0.8f, 0.5f);

        /* what goes straight down is a leg */
        for (int i = 0; i < 2; i++) {
            vec3 d = vec3_sub(shape_curve_at(&b->curves[fins[i]], used[i].limit, NULL), s->tips[fins[i]].place);
            fins_score *= fit_within(fit_height(b, d) / MAX(vec3_length(d), 1e-9f), -1, 0.75f, 0.2f);
        }
    }

    fit_term terms[] = {
        {fit_within(fabsf(vec3_dot(made->forward, b->up)), 0, 0.4f, 0.4f), 1},
        {fit_within(b->height / s->size, 0, 0.45f, 0.3f), 1},
        {fins_score, 1.5f},
        {fit_within(slender, 4, 24, 12), 1},
        {trunk_girth(b, ends), 1},
    };

    fit_ends far = {used, used_count, -1, 0, 0.06f};
    made->score = fit_score(b, k, &far, &FISH, terms, COUNT_OF(terms));
    return true;
}

/* ---- six legs and more ---- */

bool fit_many_legs(const fit_body *b, fit *made)
{
    const shape *s = b->shape;
    int legs[SHAPE_TIPS];
    int count = 0;

    /* low far ends that reach out */
    for (int i = 0; i < s->tip_count; i++) {
        if (s->tips[i].reach < 0.45f * s->farthest || fit_height(b, s->tips[i].place) > b->ground + 0.8f * b->height)
            continue;

        /* a nose or a tail lies on the plane of symmetry, legs beside it */
        const fit_plane *plane = &b->planes[0];
        float aside = b->plane_count ? fabsf(vec3_dot(s->tips[i].place, plane->normal) - plane->offset) : s->size;
        if (aside > 0.03f * s->size) legs[count++] = i;
    }

    if (count < 6) return false;

    /* the axis across which most legs have a partner */
    float best = -1;
    vec3 forward = {0, 0, 0};
    vec3 middle = s->places[s->middle];
    for (int turn = 0; turn < 36; turn++) {
        double angle = 3.14159265358979 * turn / 36;
        vec3 one = vec3_orthogonal(b->up);
        vec3 axis =
            vec3_add(vec3_scale(one, (float)det_cos(angle)), vec3_scale(vec3_cross(b->up, one), (float)det_sin(angle)));

        /* how near each image is to another leg */
        vec3 aside = vec3_cross(b->up, axis);
        float sum = 0;
        for (int i = 0; i < count; i++) {
            vec3 p = s->tips[legs[i]].place;
            vec3 image = vec3_madd(p, aside, -2 * vec3_dot(vec3_sub(p, middle), aside));
            float nearest = INFINITY;
            for (int k = 0; k < count; k++) nearest = MIN(nearest, vec3_distance(image, s->tips[legs[k]].place));
            sum += fit_within(nearest / s->size, 0, 0, 0.15f) / (float)count;
        }

        if (sum <= best) continue;
        best = sum;
        forward = axis;
    }

    /* the head is where the body reaches less far behind its last legs: its own end with the larger volume is the
     * abdomen */
    int ahead = 0;
    for (int i = 0; i < s->count; i++)
        if (s->depths[i] > 0.5f * s->depths[s->middle])
            ahead += vec3_dot(vec3_sub(s->places[i], middle), forward) > 0 ? -1 : 1;

    if (ahead < 0) forward = vec3_scale(forward, -1);
    vec3 left = vec3_cross(b->up, forward);
    made->forward = forward;

    /* the ends of the deep part of the body */
    skeleton *k = &made->skeleton;
    k->count = 0;
    int root = skeleton_add(k, "hips", -1, middle);
    vec3 nose = middle;
    vec3 stern = middle;
    for (int i = 0; i < s->count; i++) {
        if (s->depths[i] < 0.4f * s->depths[s->middle]) continue;
        if (vec3_dot(vec3_sub(s->places[i], nose), forward) > 0) nose = s->places[i];
        if (vec3_dot(vec3_sub(s->places[i], stern), forward) < 0) stern = s->places[i];
    }

    skeleton_add(k, "head", root, vec3_lerp(middle, nose, 0.7f));
    skeleton_add(k, "tail_1", root, vec3_lerp(middle, stern, 0.6f));
    int numbers[2] = {0, 0};
    float standing = 0; /* share of the legs that end low */
    fit_use used[SHAPE_TIPS];

    /* legs from the front to the back on each side */
    bool done[SHAPE_TIPS] = {false};
    for (int n = 0; n < count; n++) {
        int next = -1;
        for (int i = 0; i < count; i++)
            if (!done[i] &&
                (next < 0 || vec3_dot(s->tips[legs[i]].place, forward) > vec3_dot(s->tips[legs[next]].place, forward)))
                next = i;
        done[next] = true;

        int tip = legs[next];
        bool right = vec3_dot(vec3_sub(s->tips[tip].place, middle), left) < 0;
        float leg_root = limb_root(b, tip);

        static const float PARTS[4] = {0.95f, 0.72f, 0.4f, 0.15f};
        static const char *const NAMES[4] = {"", "_upper", "_lower", "_end"};
        int parent = root;
        int number = ++numbers[right];
        for (int i = 0; i < 4; i++) {
            char name[32];
            snprintf(name, sizeof name, "leg_%d%s", number, NAMES[i]);
            parent = skeleton_add_side(k, name, right ? 'r' : 'l', parent,
                                       shape_curve_at(&b->curves[tip], PARTS[i] * leg_root, NULL));
        }

        used[n] = (fit_use){tip, 0.6f * leg_root};
        float height = (fit_height(b, s->tips[tip].place) - b->ground) / b->height;
        standing += fit_within(height, 0, 0.3f, 0.4f) / (float)count;
    }

    /* ends of the trunk: head, jaws, abdomen */
    int used_count = count;
    for (int i = 0; i < s->tip_count && used_count < SHAPE_TIPS; i++) {
        vec3 d = vec3_sub(s->tips[i].place, middle);
        if (fabsf(vec3_dot(d, left)) < 0.3f * vec3_length(d)) used[used_count++] = (fit_use){i, 0};
    }

    fit_mirror(b, left, k);

    fit_term terms[] = {
        {best, 2},
        {fit_alike((float)numbers[0], (float)numbers[1] + 0.001f, 2), 1},
        {standing, 2},
    };

    fit_ends far = {used, used_count, -1, 0, 0};
    made->score = fit_score(b, k, &far, &MANY_LEGS, terms, COUNT_OF(terms));
    return true;
}

/* ---- anything else ---- */

bool fit_tree(const fit_body *b, fit *made)
{
    const shape *s = b->shape;
    skeleton *k = &made->skeleton;
    k->count = 0;

    int root = skeleton_add(k, "root", -1, s->places[s->middle]);
    int ends[SHAPE_TIPS];
    int limb_count = 0;

    for (int i = 0; i < s->tip_count && k->count < SKELETON_MAX - 6; i++) {
        if (s->tips[i].reach < 0.095f * s->farthest) continue;
        const shape_curve *c = &b->curves[i];
        float length = c->lengths[c->count - 1];

        /* a limb that grows out of another starts there */
        int parent = root;
        float start = length;
        for (int l = 0; l < limb_count; l++) {
            float join = b->joins[i * SHAPE_TIPS + ends[l]];
            if (join >= start - 1e-6f * s->size) continue;
            start = join;
            vec3 place = shape_curve_at(c, join, NULL);
            float nearest = INFINITY;
            for (int j = 0; j < k->count; j++) {
                float d = vec3_distance(k->joints[j].position, place);
                if (d >= nearest) continue;
                nearest = d;
                parent = j;
            }
        }

        int count = CLAMP((int)(start / (0.12f * s->size)) + 1, 2, 6);
        ends[limb_count++] = i;

        for (int n = 0; n < count; n++) {
            char name[32];
            snprintf(name, sizeof name, "limb_%d_%d", limb_count, n + 1);
            float part = 0.92f - 0.85f * (float)n / (float)count;
            parent = skeleton_add(k, name, parent, shape_curve_at(c, part * start, NULL));
        }
    }

    made->forward = (vec3){0, 0, 1};
    made->score = 0.3f;
    return k->count > 1;
}
