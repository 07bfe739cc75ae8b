/*
 * fit_quadruped.c: two pairs of legs, spine, neck and head; a tail and ears where there are any.
 *
 * The pairs of feet give the axis of the body; which end is the head is told by several cues: the thickness of both
 * ends near their tips, what grows out of them (ears, horns), their height, and where the toes point.
 */
#include "rig/fit.h"

#include <string.h>

#include "rig/skeleton_template.h"

/* Fat and fur hang below the bones of animals; their far ends tell more. */
static const fit_demand DEMAND = {
    .inside = 2, .cover = 2, .cover_low = 0.75f, .cover_slack = 0.45f, .explained = 2, .trust = 1};

/* The tips of a try by what they are. */
typedef struct quadruped_tips {
    int pairs[2][2]; /* feet of two girdles, the same side first in both */
} quadruped_tips;

static float tips_guess(const fit_body *b, const quadruped_tips *t)
{
    const shape *s = b->shape;
    const shape_tip *tips = s->tips;
    vec3 middles[2];
    vec3 across[2];
    float score = 0;

    /* each pair alike, and on the ground */
    for (int k = 0; k < 2; k++) {
        const shape_tip *one = &tips[t->pairs[k][0]];
        const shape_tip *two = &tips[t->pairs[k][1]];
        middles[k] = vec3_lerp(one->place, two->place, 0.5f);
        across[k] = fit_level(b, vec3_sub(one->place, two->place));
        score += fit_alike(one->distance, two->distance, 1.6f);

        float height = (fit_height(b, middles[k]) - b->ground) / b->height;
        score += fit_within(height, 0, 0.08f, 0.25f);
    }

    /* both pairs stand across one axis, and apart along it */
    vec3 axis = fit_level(b, vec3_sub(middles[0], middles[1]));
    float length = vec3_length(axis);
    if (!(length > 0)) return -1;
    axis = vec3_scale(axis, 1 / length);
    for (int k = 0; k < 2; k++) {
        float width = vec3_length(across[k]);
        float along = fabsf(vec3_dot(across[k], axis));
        score += 1 - MIN(1.0f, along / MAX(length, 1e-9f));
        score += 0.5f * fit_within(width / length, 0.05f, 0.7f, 0.6f);
    }

    score += vec3_dot(vec3_normalize(across[0]), vec3_normalize(across[1]));

    /* legs of one side are as far apart on both sides */
    score += fit_alike(b->between[t->pairs[0][0] * SHAPE_TIPS + t->pairs[1][0]],
                       b->between[t->pairs[0][1] * SHAPE_TIPS + t->pairs[1][1]], 1.4f);

    fit_use used[4];
    for (int k = 0; k < 4; k++) {
        int tip = t->pairs[k / 2][k % 2];
        used[k] = (fit_use){tip, 0.35f * tips[tip].distance};
    }

    score += 2 * fit_explained(b, used, 4, -1, 0);
    score += 3 * fit_symmetry(b, t->pairs, 2, NULL, 0);
    return score;
}

int fit_quadruped_tries(const fit_body *b, fit_try *tries)
{
    const shape_tip *tips = b->shape->tips;
    int feet[12];
    int n = 0;

    /* low tips may be feet */
    for (int i = 0; i < b->shape->tip_count && n < 12; i++)
        if (fit_height(b, tips[i].place) < b->ground + 0.3f * b->height) feet[n++] = i;

    /* two pairs of them, each foot with the nearer one of its side */
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            for (int k = i + 1; k < n; k++)
                for (int l = 0; l < n; l++) {
                    if (k == j || l == i || l == j || l == k || l < i) continue;
                    if (vec3_distance(tips[feet[i]].place, tips[feet[k]].place) >
                        vec3_distance(tips[feet[i]].place, tips[feet[l]].place))
                        continue;

                    quadruped_tips t = {{{feet[i], feet[j]}, {feet[k], feet[l]}}};
                    float guess = tips_guess(b, &t);
                    if (guess >= 0) fit_try_keep(tries, &count, (fit_try){{feet[i], feet[j], feet[k], feet[l]}, guess});
                }
    return count;
}

/* An end of the trunk: its farthest tip, and how much like a head it is. */
typedef struct trunk_end {
    int tip;        /* -1: none stands out */
    vec3 extreme;   /* farthest cell of the end near the middle plane */
    float heading;  /* larger: more like a head */
    float overhang; /* moment of the flesh beyond the legs, by depth: a neck and a head weigh more than a tail */
    float thick;
} trunk_end;

static trunk_end end_find(const fit_body *b, const quadruped_tips *t, int which, vec3 axis, vec3 across, vec3 middle,
                          vec3 girdle, float length)
{
    const shape *s = b->shape;
    trunk_end end = {.tip = -1};
    const int *own = t->pairs[which];
    const int *other = t->pairs[1 - which];

    float feet_at = vec3_dot(girdle, axis);
    float farthest = -INFINITY;
    int grown = 0;

    /* the farthest tip on this side that is no foot */
    for (int i = 0; i < s->tip_count; i++) {
        if (i == own[0] || i == own[1] || i == other[0] || i == other[1]) continue;
        const shape_tip *tip = &s->tips[i];
        float along = vec3_dot(vec3_sub(tip->place, middle), axis);
        float aside = fabsf(vec3_dot(vec3_sub(tip->place, middle), across));
        if (along < 0.15f * length || aside > 0.6f * length) continue;

        grown += tip->reach > 0;
        float merit = tip->distance - 0.7f * aside;
        if (merit <= farthest) continue;
        farthest = merit;
        end.tip = i;
    }

    /* the thickness of the end half way out from the legs */
    float best = -INFINITY;
    for (int i = 0; i < s->count; i++) {
        vec3 d = vec3_sub(s->places[i], middle);
        float along = vec3_dot(d, axis);
        float aside = vec3_dot(d, across);
        if (fit_height(b, s->places[i]) < b->ground + 0.25f * b->height) continue;
        if (along - 2 * fabsf(aside) <= best) continue;
        best = along - 2 * fabsf(aside);
        end.extreme = s->places[i];
    }

    float out = best - (feet_at - vec3_dot(middle, axis));
    float volume = 0;
    int cells = 0;
    for (int i = 0; i < s->count; i++) {
        vec3 d = vec3_sub(s->places[i], middle);
        float along = vec3_dot(d, axis) - (feet_at - vec3_dot(middle, axis));
        if (along < 0.3f * out || out <= 0) continue;
        if (fit_height(b, s->places[i]) < b->ground + 0.2f * b->height) continue;
        volume += s->depths[i];
        cells++;
    }

    /* the moment of all that is beyond the legs */
    for (int i = 0; i < s->count; i++) {
        float along = vec3_dot(s->places[i], axis) - feet_at;
        if (along > 0 && fit_height(b, s->places[i]) > b->ground + 0.2f * b->height)
            end.overhang += along * s->depths[i];
    }

    end.thick = cells ? volume / (float)cells : 0;

    /* how much like a head that is */
    float height = (fit_height(b, end.extreme) - b->ground) / b->height;
    float size = (float)cells / (float)s->count;
    end.heading = 2.5f * size + 0.25f * (float)MIN(grown - 1, 3) + 0.7f * height;
    end.heading += end.thick / (0.05f * b->height + end.thick);
    return end;
}

/* How far from its end a head is thinner than 0.45 of its thickest place: a muzzle or a trunk. */
static float thin_length(const shape_curve *c, float way)
{
    float most = 0;
    float thin = 0;
    for (int i = 0; i < c->count && c->lengths[i] < 0.9f * way; i++) most = MAX(most, c->radii[i]);
    for (int i = 0; i < c->count && c->lengths[i] < 0.9f * way && c->radii[i] < 0.45f * most; i++) thin = c->lengths[i];
    return thin;
}

/*
 * The head turns on the neck where its far ends part: nose, ears and horns grow out of it. A head without ears turns
 * at two fifths of the curve from its nose to the withers. The neck begins at a quarter of the
 * way back.
 */
static void head_place(const fit_body *b, const trunk_end *end, vec3 withers, vec3 left, float length, vec3 *nose,
                       vec3 *skull, vec3 *nape)
{
    const shape *s = b->shape;
    if (end->tip < 0) {
        *skull = vec3_lerp(*nose, withers, 0.42f);
        *nape = vec3_lerp(withers, *skull, 0.28f);
        return;
    }

    const shape_curve *c = &b->curves[end->tip];
    float way = fit_nearest(c, withers);
    if (fabsf(vec3_dot(vec3_sub(s->tips[end->tip].place, withers), left)) < 0.12f * length)
        *nose = s->tips[end->tip].place;

    /* where other far ends of the head join, by how clearly they stand out: a thin ear is seen or not by chance */
    float parts = 0;
    float clear = 0;
    for (int i = 0; i < s->tip_count; i++) {
        float join = b->joins[end->tip * SHAPE_TIPS + i];
        if (i == end->tip || join < 0.15f * way || join > 0.9f * way) continue;
        float weight = CLAMP((s->tips[i].reach / s->farthest - 0.035f) / 0.03f, 0, 1);
        parts += weight * join;
        clear += weight;
    }
    if (clear > 0) parts /= clear;

    /* ears and tusks beside a trunk go their own way to the neck: take where they grow out */
    float grown = 0;
    int count = 0;
    for (int i = 0; i < s->tip_count && !(parts > 0); i++) {
        const shape_tip *tip = &s->tips[i];
        if (tip->seam < 0 || tip->elder != end->tip) continue;
        float join = fit_nearest(c, s->places[tip->seam]);
        vec3 d = vec3_sub(tip->place, withers);
        bool beside = fabsf(vec3_dot(d, left)) > 0.05f * length;
        bool ahead = vec3_dot(d, vec3_cross(left, b->up)) > 0.12f * vec3_distance(*nose, withers);
        if (!beside || !ahead || join > 0.9f * way) continue;
        grown += join;
        count++;
    }

    /* ears and horns move it half of the way at most */
    float at = 0.42f * way;
    if (parts > 0) at += 0.5f * MIN(1.0f, 0.5f * clear) * (CLAMP(parts, 0.3f * way, 0.6f * way) - at);
    if (count) {
        /* what grows out next to the withers is no ear */
        float place = MAX(grown / (float)count, 0.3f * way);
        at += CLAMP((0.8f - place / way) / 0.15f, 0, 1) * (place - at);
    }

    /* a trunk is no part of the skull: over 24 animals muzzles take 0.12 to 0.4 of the way, trunks 0.55 and more */
    float thin = thin_length(c, way);
    if (thin > 0.47f * way) at = thin + 0.6f * (way - thin);

    /*
     * The curve of an ear or a whisker is longer than that of the nose by as much as it stands out: then the skull is
     * as far from the withers as by the foremost cell near the middle.
     */
    float aside = fabsf(vec3_dot(vec3_sub(s->tips[end->tip].place, withers), left)) / length;
    float ear = CLAMP((aside - 0.12f) / 0.2f, 0, 1);
    at += ear * (CLAMP(way - 0.6f * vec3_distance(end->extreme, withers), at, 0.8f * way) - at);

    *skull = shape_curve_at(c, at, NULL);
    *nape = shape_curve_at(c, way - 0.28f * (way - at), NULL);
}

bool fit_quadruped_place(const fit_body *b, const fit_try *try, fit *made)
{
    const quadruped_tips named = {{{try->tips[0], try->tips[1]}, {try->tips[2], try->tips[3]}}};
    const quadruped_tips *t = &named;
    const shape *s = b->shape;

    /* where the legs enter the trunk; these stand still while feet step */
    float seams[2][2];
    vec3 roots[2][2];
    vec3 middles[2];
    for (int k = 0; k < 2; k++) {
        float mean = fit_parted(b, t->pairs[k][0], t->pairs[k][1]);
        if (!(mean > 0.04f * b->height)) return false;
        for (int i = 0; i < 2; i++) {
            seams[k][i] = mean;
            roots[k][i] = shape_curve_at(&b->curves[t->pairs[k][i]], mean, NULL);
        }
        middles[k] = vec3_lerp(roots[k][0], roots[k][1], 0.5f);
    }

    /* the axis of the trunk, from pair to pair */
    vec3 axis = fit_level(b, vec3_sub(middles[0], middles[1]));
    float length = vec3_length(axis);
    if (!(length > 0.05f * b->height)) return false;
    axis = vec3_scale(axis, 1 / length);

    vec3 across = vec3_cross(b->up, axis);
    vec3 middle = vec3_lerp(middles[0], middles[1], 0.5f);

    trunk_end ends[2];
    for (int k = 0; k < 2; k++)
        ends[k] = end_find(b, t, k, k ? vec3_scale(axis, -1) : axis, across, middle, middles[k], length);

    /* toes point ahead */
    float toes = 0;
    for (int n = 0; n < 4; n++) {
        int tip = t->pairs[n / 2][n % 2];
        float seam = seams[n / 2][n % 2];
        toes += 0.25f * fit_toes(b, tip, seam, shape_curve_at(&b->curves[tip], 0.45f * seam, NULL), axis);
    }

    float cues = ends[0].heading - ends[1].heading + 5 * toes;
    cues += (ends[0].overhang - ends[1].overhang) / MAX(ends[0].overhang + ends[1].overhang, 1e-12f);
    int head = cues >= 0 ? 0 : 1;
    vec3 forward = head ? vec3_scale(axis, -1) : axis;
    vec3 left = vec3_cross(b->up, forward);
    made->forward = forward;

    if (head) {
        for (int i = 0; i < 2; i++) {
            vec3 root = roots[0][i];
            float seam = seams[0][i];
            roots[0][i] = roots[1][i];
            seams[0][i] = seams[1][i];
            roots[1][i] = root;
            seams[1][i] = seam;
        }
    }

    /* the height of the spine, from the trunk's section between the legs */
    vec3 front = vec3_lerp(roots[0][0], roots[0][1], 0.5f);
    vec3 back = vec3_lerp(roots[1][0], roots[1][1], 0.5f);
    vec3 trunk = vec3_lerp(front, back, 0.5f);
    float low = INFINITY;
    float high = -INFINITY;
    for (int i = 0; i < s->count; i++) {
        vec3 d = vec3_sub(s->places[i], trunk);
        if (fabsf(vec3_dot(d, forward)) > 0.12f * length || fabsf(vec3_dot(d, left)) > 0.1f * length) continue;
        float h = fit_height(b, s->places[i]);
        low = MIN(low, h);
        high = MAX(high, h);
    }

    if (!(high > low)) return false;

    float spine_height = low + 0.69f * (high - low);
    vec3 withers = vec3_madd(front, b->up, spine_height - fit_height(b, front));
    vec3 rump = vec3_madd(back, b->up, spine_height - fit_height(b, back));

    vec3 nose = ends[head].extreme;
    vec3 skull;
    vec3 nape;
    head_place(b, &ends[head], withers, left, length, &nose, &skull, &nape);

    skeleton *k = &made->skeleton;
    k->count = 0;
    int hips = skeleton_add(k, "hips", -1, rump);
    int spine = skeleton_add(k, "spine", hips, vec3_lerp(rump, withers, 0.36f));
    int chest = skeleton_add(k, "chest", spine, vec3_lerp(rump, withers, 0.71f));
    int neck = skeleton_add(k, "neck", chest, nape);
    skeleton_add(k, "head", neck, skull);

    int tail = ends[1 - head].tip;
    if (tail >= 0) {
        const shape_curve *c = &b->curves[tail];
        float base = fit_nearest(c, rump);

        /* the tail's root: the narrow place nearest to the rump */
        base = fit_thinnest(b, c, 0.35f * base, base, base, 0.5f);
        if (base > 0.1f * length) fit_tail(b, tail, base, hips, k);
    }

    for (int n = 0; n < 2; n++) {
        /* each girdle by itself: a step may bring feet of both sides together */
        bool first_left = vec3_dot(vec3_sub(roots[0][0], roots[0][1]), left) > 0;
        bool second_left = vec3_dot(vec3_sub(roots[1][0], roots[1][1]), left) > 0;
        int f = first_left ? n : 1 - n;
        int h = second_left ? n : 1 - n;
        char side = n ? 'r' : 'l';

        /* foreleg: shoulder, elbow, wrist */
        const shape_curve *c = &b->curves[t->pairs[head][f]];
        vec3 shoulder = vec3_madd(roots[0][f], b->up, 0.5f * (spine_height - fit_height(b, roots[0][f])));
        shoulder = shape_centre(s, vec3_madd(shoulder, forward, 0.06f * length), b->shape->solid.spacing);
        int j = skeleton_add_side(k, "upper_arm", side, chest, shoulder);
        j = skeleton_add_side(k, "forearm", side, j, shape_curve_at(c, 0.95f * seams[0][f], NULL));
        skeleton_add_side(k, "hand", side, j, shape_curve_at(c, 0.42f * seams[0][f], NULL));

        /* hind leg: hip, knee, hock, toes */
        c = &b->curves[t->pairs[1 - head][h]];
        vec3 hip = vec3_madd(roots[1][h], b->up, 0.75f * (spine_height - fit_height(b, roots[1][h])));
        vec3 hock = shape_curve_at(c, 0.5f * seams[1][h], NULL);
        vec3 knee = shape_curve_at(c, 0.96f * seams[1][h], NULL);

        vec3 similar = skeleton_similar(hip, hock, forward, 0.53f, 0.25f);
        j = skeleton_add_side(k, "thigh", side, hips, hip);
        j = skeleton_add_side(k, "shin", side, j, vec3_lerp(knee, similar, 0.5f));
        j = skeleton_add_side(k, "foot", side, j, hock);
        skeleton_add_side(k, "toe", side, j, shape_curve_at(c, 0.15f * seams[1][h], NULL));
    }

    fit_mirror(b, left, k);

    fit_use used[6];
    int used_count = 4;

    for (int i = 0; i < 4; i++) used[i] = (fit_use){t->pairs[i / 2][i % 2], 0.6f * seams[0][0]};
    for (int i = 0; i < 2; i++)
        if (ends[i].tip >= 0) used[used_count++] = (fit_use){ends[i].tip, 0.7f * s->tips[ends[i].tip].distance};

    float leg = 0.5f * (seams[0][0] + seams[1][0]);
    vec3 spine_line = vec3_sub(withers, rump);
    float spine_length = vec3_length(spine_line);
    float level = spine_length > 0 ? fabsf(vec3_dot(spine_line, b->up)) / spine_length : 1;
    float ahead = vec3_dot(vec3_sub(nose, front), forward) / length;

    float slender = fit_slender(b);

    fit_term terms[] = {
        {fit_alike(seams[0][0], seams[1][0], 4), 1},
        {fit_within(leg / length, 0.2f, 2.2f, 0.6f), 1},
        {fit_within(level, 0, 0.4f, 0.5f), 1},
        {fit_within(ahead, 0.1f, 2, 1), 1},
        {fit_within(spine_length / length, 0.5f, 1.4f, 0.6f), 1},
        {fit_within((high - low) / length, 0.2f, 1.2f, 0.7f), 0.7f},
        {fit_within((low - b->ground) / b->height, 0.12f, 0.75f, 0.2f), 1},
        {fit_symmetry(b, t->pairs, 2, NULL, 0), 1},
        {fit_within(slender, 0, 1.5f, 0.8f), 1},
    };

    fit_ends far = {used, used_count, ends[head].tip, fit_height(b, withers), 0};
    made->score = fit_score(b, k, &far, &DEMAND, terms, COUNT_OF(terms));
    return true;
}
