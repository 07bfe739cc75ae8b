/*
 * judge_gains.c: what a result has that linear skinning has not, in words and centimetres.
 *
 * The volume of the flesh around a joint is that of the tetrahedra between its triangles and their middle. It is no
 * volume of its own where the surface is open, but it has the same form at rest, in the result and in the reference, so
 * that their ratios can be compared: an elbow that linear skinning flattens has lost a share of it.
 */
#include "measure/judge_gains.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const float ZONE_WEIGHT = 0.05f;             /* of joint and of parent: both move a point of the zone */
static const double MIN_ZONE = 1e-5;                /* of the size cubed: less flesh is not seen */
static const double MIN_LOSS = 0.03;                /* of the volume: linear skinning flattens the joint visibly */
static const double MIN_SIZE = 0.05, MAX_SIZE = 50; /* metres: a character's size that makes centimetres meaningful */
static const double MIN_MOVEMENT = 1e-3;            /* of the size: less is not seen */
static const double MAX_LEFT = 0.5;                 /* of the intersections: more were given up */
static const double MIN_KEPT = 0.6;                 /* of a joint's volume: with less it is flat */
enum { MIN_TRIANGLES = 12, MIN_INTERSECTIONS = 20 };

/* ---- zones ---- */

static float point_weight(const cutis_character *c, int point, int joint)
{
    int vertex = c->point_vertices[point];
    float sum = 0;
    for (int i = c->influence_first[vertex]; i < c->influence_first[vertex + 1]; i++)
        if (c->influence_joints[i] == joint) sum += c->influence_weights[i];
    return sum;
}

/* Signed volume between the triangles of a zone and the mean of their corners. */
static double zone_volume(const judge_gains *g, const gain_zone *zone, const float *x)
{
    vec3 middle = {0, 0, 0};
    for (int i = 0; i < 3 * zone->count; i++) {
        const int *t = g->m->triangles + 3 * (size_t)g->triangles[zone->first + i / 3];
        middle = vec3_add(middle, vec3_load(x + 3 * (size_t)t[i % 3]));
    }
    middle = vec3_scale(middle, 1 / (float)(3 * zone->count));

    /* six times the tetrahedra */
    double sum = 0;
    for (int i = 0; i < zone->count; i++) {
        const int *t = g->m->triangles + 3 * (size_t)g->triangles[zone->first + i];
        vec3 a = vec3_sub(vec3_load(x + 3 * (size_t)t[0]), middle);
        vec3 b = vec3_sub(vec3_load(x + 3 * (size_t)t[1]), middle);
        vec3 c = vec3_sub(vec3_load(x + 3 * (size_t)t[2]), middle);
        sum += (double)vec3_dot(a, vec3_cross(b, c));
    }
    return sum / 6;
}

/* Joints of a triangle's first corner that share all of its corners with their parents; a few at most. */
static int triangle_joints(const cutis_character *c, const int *triangle, int *joints, int capacity)
{
    int vertex = c->point_vertices[triangle[0]], count = 0;

    for (int i = c->influence_first[vertex]; i < c->influence_first[vertex + 1] && count < capacity; i++) {
        int joint = c->influence_joints[i], parent = c->joints[joint].parent;
        bool shared = parent >= 0;
        for (int k = 0; k < 3 && shared; k++)
            shared =
                point_weight(c, triangle[k], joint) > ZONE_WEIGHT && point_weight(c, triangle[k], parent) > ZONE_WEIGHT;
        if (shared) joints[count++] = joint;
    }

    return count;
}

cutis_result gains_build(judge_gains *g, const mesh *m, const cutis_character *character, arena *memory,
                         cutis_error *error)
{
    enum { SHARED = 4 };
    *g = (judge_gains){.m = m, .swings = g->swings, .movement_point = -1};
    if (!character->influence_first) return CUTIS_OK;

    int joint_count = character->joint_count, found[SHARED];
    g->zones = ARENA_ARRAY(memory, gain_zone, joint_count + 1);
    int *first = ARENA_ARRAY(memory, int, joint_count + 1);
    if (!g->zones || !first) return error_memory(error, "a verdict");

    /* triangles of each joint */
    for (int t = 0; t < m->triangle_count; t++) {
        int count = triangle_joints(character, m->triangles + 3 * (size_t)t, found, SHARED);
        for (int i = 0; i < count; i++) first[found[i] + 1]++;
    }
    for (int j = 0; j < joint_count; j++) first[j + 1] += first[j];
    g->triangles = ARENA_ARRAY(memory, int, first[joint_count] + 1);
    if (!g->triangles) return error_memory(error, "a verdict");

    for (int t = m->triangle_count - 1; t >= 0; t--) {
        int count = triangle_joints(character, m->triangles + 3 * (size_t)t, found, SHARED);
        for (int i = 0; i < count; i++) g->triangles[--first[found[i] + 1]] = t;
    }

    /* first[j + 1] is where joint j begins now; those with enough flesh are zones */
    double size = (double)character->size, least = MIN_ZONE * size * size * size;
    for (int j = 0; j < joint_count; j++) {
        int begin = first[j + 1];
        int end = j + 2 <= joint_count ? first[j + 2] : begin;
        gain_zone zone = {.joint = j, .first = begin, .count = end - begin, .kept = {1, 1}};
        if (zone.count < MIN_TRIANGLES) continue;
        zone.rest = zone_volume(g, &zone, m->positions);
        if (fabs(zone.rest) >= least) g->zones[g->zone_count++] = zone;
    }
    return CUTIS_OK;
}

/* ---- a frame ---- */

void gains_volumes(judge_gains *g, const float *x, const float *r)
{
    for (int i = 0; i < g->zone_count; i++) {
        gain_zone *zone = &g->zones[i];
        double reference = zone_volume(g, zone, r) / zone->rest;
        if (reference >= zone->kept[1]) continue;
        zone->kept[0] = zone_volume(g, zone, x) / zone->rest;
        zone->kept[1] = reference;
    }
}

void gains_movement(judge_gains *g, int patch, const float *displacement, const int *points, int count, quat turn)
{
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < count; i++) sum = vec3_add(sum, vec3_load(displacement + 3 * (size_t)points[i]));
    vec3 place = quat_rotate(quat_conjugate(turn), vec3_scale(sum, 1 / (float)count));

    gain_swing *swing = &g->swings[patch];
    if (!swing->seen) *swing = (gain_swing){true, place, place};
    swing->low = vec3_min(swing->low, place);
    swing->high = vec3_max(swing->high, place);

    float length = vec3_distance(swing->low, swing->high);
    if (length <= g->movement) return;
    g->movement = length;
    g->movement_point = points[0];
}

/* ---- words ---- */

/* What bends at a joint, in the field's words where its name tells, else by that name. */
static void bend_words(const cutis_character *c, const joint_part *parts, int joint, char *text, size_t size)
{
    static const char *const bends[JOINT_KIND_COUNT] = {
        [JOINT_SPINE] = "waist",      [JOINT_NECK] = "neck",     [JOINT_HEAD] = "neck",  [JOINT_COLLAR] = "shoulder",
        [JOINT_UPPER_ARM] = "armpit", [JOINT_FOREARM] = "elbow", [JOINT_HAND] = "wrist", [JOINT_UPPER_LEG] = "hip",
        [JOINT_LOWER_LEG] = "knee",   [JOINT_FOOT] = "ankle"};
    static const char *const sides[] = {"", "left ", "right "};

    const char *bend = parts ? bends[parts[joint].kind] : NULL;
    if (bend)
        snprintf(text, size, "%s%s", sides[parts[joint].side], bend);
    else
        snprintf(text, size, "%.60s", c->joints[joint].name);
}

/* A length in centimetres, or in percent of the size where the file's unit makes none. */
static void length_words(const cutis_character *c, double length, double unit, char *text, size_t size)
{
    double metres = (double)c->size * unit;
    if (metres >= MIN_SIZE && metres <= MAX_SIZE)
        snprintf(text, size, "%.2g cm", 100 * length * unit);
    else
        snprintf(text, size, "%.2g %% of the size", 100 * length / (double)c->size);
}

/* The zone that keeps most flesh which the reference loses, or NULL. */
static const gain_zone *best_zone(const judge_gains *g)
{
    const gain_zone *best = NULL;
    double most = 0;
    for (int i = 0; i < g->zone_count; i++) {
        const gain_zone *zone = &g->zones[i];
        double gain = (fabs(zone->kept[1] - 1) - fabs(zone->kept[0] - 1)) * fabs(zone->rest);
        if (zone->kept[1] > 1 - MIN_LOSS || zone->kept[0] < MIN_KEPT || zone->kept[0] > 1 + MIN_LOSS || gain <= most)
            continue;
        most = gain;
        best = zone;
    }
    return best;
}

/* What flesh is for and the result lacks, as skinning does: contact that was given up, joints that stay flat. */
static void missed_words(const judge_gains *g, const cutis_character *character, const joint_part *parts,
                         cutis_gains *gains)
{
    char *text = gains->missed, place[80];
    size_t size = sizeof gains->missed;
    int left = gains->intersections, all = gains->reference_intersections;
    text[0] = 0;

    if (all >= MIN_INTERSECTIONS && left > MAX_LEFT * all)
        snprintf(text, size, "%d of %d skin intersections remain", left, all);

    const gain_zone *worst = NULL;
    for (int i = 0; i < g->zone_count; i++)
        if (!worst || g->zones[i].kept[0] < worst->kept[0]) worst = &g->zones[i];
    if (!worst || worst->kept[0] >= MIN_KEPT) return;

    size_t used = strlen(text);
    bend_words(character, parts, worst->joint, place, sizeof place);
    snprintf(text + used, size - used, "%s%s keeps only %.0f %% of its volume (skinning: %.0f %%)", used ? "; " : "",
             place, 100 * worst->kept[0], 100 * worst->kept[1]);
}

void gains_finish(const judge_gains *g, const cutis_character *character, const joint_part *parts, double unit,
                  cutis_gains *gains)
{
    char length[40], place[80];
    char *text = gains->text;
    size_t size = sizeof gains->text;

    int removed = gains->reference_intersections - gains->intersections;
    if (removed > 0)
        snprintf(text, size, "%d of %d skin intersections removed", removed, gains->reference_intersections);

    gains->movement = (double)g->movement / MAX((double)character->size, 1e-30);
    if (gains->movement >= MIN_MOVEMENT) {
        size_t used = strlen(text);
        length_words(character, (double)g->movement, unit, length, sizeof length);
        snprintf(text + used, size - used, "%s%s%smoves by up to %s", used ? "; " : "", gains->place,
                 gains->place[0] ? " " : "flesh ", length);
    }

    const gain_zone *zone = best_zone(g);
    gains->volume_joint = zone ? zone->joint : -1;
    gains->volume = zone ? zone->kept[0] : 1;
    gains->reference_volume = zone ? zone->kept[1] : 1;
    if (zone) {
        size_t used = strlen(text);
        bend_words(character, parts, zone->joint, place, sizeof place);
        snprintf(text + used, size - used, "%s%s keeps %.0f %% of its volume (skinning: %.0f %%)", used ? "; " : "",
                 place, 100 * MIN(gains->volume, 1.0), 100 * gains->reference_volume);
    }

    missed_words(g, character, parts, gains);
    if (!text[0]) snprintf(text, size, "no visible change: the result looks like linear skinning");
}
