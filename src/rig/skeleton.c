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
 * the curve of centres wriggles. Joints of the spine stand by arc length of the trunk's curve, but on the straight line
 * between its ends: centres of a trunk lie before its spine. Symmetric bodies get symmetric skeletons by averaging
 * both sides.
 *
 * Template proportions (arc lengths from the tip) are means over MakeHuman's average body and the zoo's bodies.
 */
#include <stdio.h>
#include <string.h>

#include "rig/skeleton_template.h"

/* ---- posture ---- */

/* Pair the tips across the plane; returns how well they match, 0 to 1 for each, less 1 for each without a partner. */
static float mirror_find(posture *b)
{
    float near_plane = 0.03f * b->size, near_tip = 0.06f * b->size, score = 0;
    for (int i = 0; i < b->f->count; i++) {
        vec3 image = posture_mirror(b, posture_tip(b, i));
        float aside = fabsf(posture_axis(posture_tip(b, i), b->lateral) - b->plane), best = near_tip;
        bool middle = aside < near_plane;

        /* Near the plane it may be one of a pair of feet that stand close, if the other is just where it should be. */
        if (middle) best = 0.5f * aside;
        b->mirror[i] = middle ? i : -1;
        for (int k = 0; k < b->f->count; k++) {
            float d = vec3_distance(image, posture_tip(b, k));
            if (k != i && d < best) {
                best = d;
                b->mirror[i] = k;
            }
        }

        /* how well it matches */
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

    /* the mirror across x or z that pairs the tips best */
    for (int axis = 0; axis <= 2; axis += 2) {
        b.lateral = axis;
        b.forward = 2 - axis;
        b.plane = 0.5f * (posture_axis(b.low, axis) + posture_axis(b.high, axis));

        float score = mirror_find(&b);
        b.symmetric = score > 0.4f * (float)f->main_count;
        if (score > best_score) {
            best_score = score;
            best = b;
        }
    }

    return best;
}

int posture_feet(const posture *b, int feet[4])
{
    int count = 0;
    for (int i = 0; i < b->f->count && count < 4; i++) {
        int k = b->mirror[i];
        bool taken = false;
        if (k < 0 || k == i || b->f->all[i].reach < 0.08f * b->f->farthest) continue;
        if (posture_tip(b, i).y > b->low.y + 0.15f * posture_height(b)) continue;
        if (posture_axis(posture_tip(b, i), b->lateral) < b->plane) continue;

        /* one foot for each place along the body */
        for (int j = 0; j < count; j++)
            taken = taken || fabsf(posture_axis(posture_tip(b, feet[j]), b->forward) -
                                   posture_axis(posture_tip(b, i), b->forward)) < 0.18f * b->size;
        if (!taken) feet[count++] = i;
    }

    return count;
}

enum { TRUNK_MAX = 128 };

vec3 posture_trunk(const posture *b, vec3 from, vec3 to, float share)
{
    vec3 way = vec3_sub(to, from), places[TRUNK_MAX + 2];
    float along[TRUNK_MAX + 2], length2 = vec3_length2(way);
    int count = 0;
    places[count] = from;
    along[count++] = 0;

    /* centres on the middle plane between the ends, by their order along the line */
    for (int c = 0; c < b->f->curve_count && count <= TRUNK_MAX; c++) {
        const limb_ring *curve = &b->f->curves[c];
        float t = vec3_dot(vec3_sub(curve->centre, from), way) / length2;
        float aside = fabsf(posture_axis(curve->centre, b->lateral) - b->plane);
        if (!(t > 0 && t < 1) || aside > 0.02f * b->size) continue;
        if (vec3_distance(curve->centre, vec3_madd(from, way, t)) > 0.7f * curve->radius) continue;

        int k = count++;
        for (; along[k - 1] > t; k--) {
            along[k] = along[k - 1];
            places[k] = places[k - 1];
        }
        along[k] = t;
        places[k] = curve->centre;
    }
    places[count] = to;
    along[count++] = 1;

    /* a share of its length, and back onto the line */
    float length = 0;
    for (int k = 1; k < count; k++) length += vec3_distance(places[k - 1], places[k]);
    float left = share * length;
    for (int k = 1; k < count; k++) {
        float step = vec3_distance(places[k - 1], places[k]);
        if (left <= step && step > 0)
            return vec3_madd(from, way, along[k - 1] + left / step * (along[k] - along[k - 1]));
        left -= step;
    }
    return to;
}

/* ---- building ---- */

int skeleton_add(skeleton *s, const char *name, int parent, vec3 position)
{
    if (s->count == SKELETON_MAX) return s->count - 1;
    skeleton_joint *j = &s->joints[s->count];
    *j = (skeleton_joint){.parent = parent, .mirror = -1, .position = position};
    snprintf(j->name, sizeof j->name, "%s", name);
    return s->count++;
}

int skeleton_add_side(skeleton *s, const char *name, char side, int parent, vec3 position)
{
    char full[32];
    snprintf(full, sizeof full, "%.24s_%c", name, side);
    return skeleton_add(s, full, parent, position);
}

int skeleton_find(const skeleton *s, const char *name)
{
    for (int j = 0; j < s->count; j++)
        if (strcmp(s->joints[j].name, name) == 0) return j;
    return -1;
}

void skeleton_mirror(const posture *b, skeleton *s)
{
    for (int j = 0; j < s->count; j++) {
        skeleton_joint *joint = &s->joints[j];
        size_t length = strlen(joint->name);
        bool sided = length > 2 && joint->name[length - 2] == '_' &&
                     (joint->name[length - 1] == 'l' || joint->name[length - 1] == 'r');

        /* joints of the middle lie on the plane */
        if (!sided) {
            joint->mirror = j;
            posture_axis_set(&joint->position, b->lateral, b->plane);
            continue;
        }

        /* its twin by name; both take the mean */
        char other[32];
        memcpy(other, joint->name, length + 1);
        other[length - 1] = joint->name[length - 1] == 'l' ? 'r' : 'l';
        joint->mirror = skeleton_find(s, other);

        if (joint->mirror < j) continue; /* the pair was done from its other side, or has none */
        skeleton_joint *twin = &s->joints[joint->mirror];
        vec3 mean = vec3_lerp(joint->position, posture_mirror(b, twin->position), 0.5f);
        joint->position = mean;
        twin->position = posture_mirror(b, mean);
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

void skeleton_add_tail(const limb *tail, int parent, skeleton *s)
{
    float base = tail_base(tail);
    for (int k = 0; k < 5; k++) {
        char name[32];
        snprintf(name, sizeof name, "tail_%d", k + 1);
        parent = skeleton_add(s, name, parent, limb_place(tail, (0.98f - 0.15f * (float)k) * base, 0.9f * base));
    }
}

/* ---- templates ---- */

typedef struct template_entry {
    cutis_rig_template about;
    bool (*fit)(posture *b, rig_report *report, skeleton *s);
} template_entry;

static const template_entry TEMPLATES[] = {
    {{"quadruped", "four legs, spine, neck and head; optional tail and ears"}, skeleton_fit_quadruped},
    {{"biped", "two arms, two legs, spine, neck and head; optional five fingers"}, skeleton_fit_biped},
    {{"hand", "a hand with five fingers of three joints; optional forearm"}, skeleton_fit_hand},
    {{"snake", "a spine from head to tail, with its root in the middle: snake, worm, eel"}, skeleton_fit_snake},
    {{"chain", "a row of joints: arm, tentacle, tail"}, skeleton_fit_chain},
    /* found on the solid alone (fit.h) */
    {{"bird", "two wings, two legs, neck and head, tail"}, NULL},
    {{"many_legs", "six or more legs: insects, spiders, crabs"}, NULL},
    {{"fish", "a spine from head to tail, and a pair of fins"}, NULL},
    {{"tree", "any other body: a chain of joints for each limb"}, NULL},
};

int cutis_rig_template_count(void) { return COUNT_OF(TEMPLATES); }

cutis_rig_template cutis_rig_template_at(int index)
{
    if (index < 0 || index >= COUNT_OF(TEMPLATES)) return (cutis_rig_template){"", ""};
    return TEMPLATES[index].about;
}

typedef struct typical_joint {
    const char *name;
    int parent;
    float x, y, z; /* shares of the height; x > 0 is left, of a pair the left one stands for both */
} typical_joint;

/* Means over the rigged people and animals that the tests know. */
static const typical_joint BIPED[] = {
    {"hips", -1, 0, 0.53f, 0},          {"spine", 0, 0, 0.6f, 0},          {"chest", 1, 0, 0.7f, 0},
    {"neck", 2, 0, 0.84f, 0},           {"head", 3, 0, 0.89f, 0.01f},      {"shoulder_l", 2, 0.03f, 0.82f, 0},
    {"upper_arm_l", 5, 0.1f, 0.81f, 0}, {"forearm_l", 6, 0.25f, 0.81f, 0}, {"hand_l", 7, 0.39f, 0.81f, 0},
    {"thigh_l", 0, 0.055f, 0.52f, 0},   {"shin_l", 9, 0.055f, 0.285f, 0},  {"foot_l", 10, 0.055f, 0.05f, -0.01f},
    {"toe_l", 11, 0.06f, 0.01f, 0.07f},
};
static const typical_joint QUADRUPED[] = {
    {"hips", -1, 0, 0.72f, -0.42f},      {"spine", 0, 0, 0.74f, -0.2f},      {"chest", 1, 0, 0.74f, 0.05f},
    {"neck", 2, 0, 0.78f, 0.28f},        {"head", 3, 0, 0.9f, 0.45f},        {"upper_arm_l", 2, 0.1f, 0.55f, 0.2f},
    {"forearm_l", 5, 0.1f, 0.4f, 0.14f}, {"hand_l", 6, 0.1f, 0.16f, 0.14f},  {"thigh_l", 0, 0.1f, 0.62f, -0.38f},
    {"shin_l", 8, 0.1f, 0.42f, -0.32f},  {"foot_l", 9, 0.1f, 0.22f, -0.45f}, {"toe_l", 10, 0.1f, 0.05f, -0.42f},
};

bool skeleton_typical(const char *name, skeleton *s)
{
    bool biped = strcmp(name, "biped") == 0;
    if (!biped && strcmp(name, "quadruped") != 0) return false;

    const typical_joint *joints = biped ? BIPED : QUADRUPED;
    int count = biped ? COUNT_OF(BIPED) : COUNT_OF(QUADRUPED);
    s->count = 0;
    s->name = biped ? "biped" : "quadruped";
    for (int j = 0; j < count; j++)
        skeleton_add(s, joints[j].name, joints[j].parent, (vec3){joints[j].x, joints[j].y, joints[j].z});

    for (int j = 0; j < count; j++) {
        size_t length = strlen(joints[j].name);
        if (joints[j].name[length - 2] != '_') continue;

        char right[32];
        memcpy(right, joints[j].name, length + 1);
        right[length - 1] = 'r';

        char above[32];
        snprintf(above, sizeof above, "%s", joints[joints[j].parent].name);
        size_t end = strlen(above);
        if (above[end - 2] == '_') above[end - 1] = 'r';
        skeleton_add(s, right, skeleton_find(s, above), (vec3){-joints[j].x, joints[j].y, joints[j].z});
    }

    return true;
}

cutis_result skeleton_landmarks(const cutis_rig_landmark *landmarks, int count, float far, skeleton *s,
                                cutis_error *error)
{
    bool held[SKELETON_MAX] = {false};
    int parents[SKELETON_MAX];
    vec3 from[SKELETON_MAX];
    vec3 to[SKELETON_MAX];
    float away = 0;
    if (count == 0) return CUTIS_OK;

    /* joints where they are */
    for (int j = 0; j < s->count; j++) {
        parents[j] = s->joints[j].parent;
        from[j] = s->joints[j].position;
        to[j] = from[j];
    }

    /* landmarks hold theirs; a name that is no joint gets a suggestion */
    for (int i = 0; i < count; i++) {
        int j = skeleton_find(s, landmarks[i].name);
        if (j < 0) {
            name_search search = name_search_start(landmarks[i].name);
            for (int k = 0; k < s->count; k++) name_search_offer(&search, s->joints[k].name);
            return error_set(error, CUTIS_ERROR_ARGUMENT, "landmark '%s' is not a joint of template %s%s%s%s",
                             landmarks[i].name, s->name, search.nearest ? "; did you mean '" : "",
                             search.nearest ? search.nearest : "", search.nearest ? "'?" : "");
        }

        held[j] = true;
        to[j] = vec3_load(landmarks[i].position);
        away += vec3_distance(from[j], to[j]) / (float)count;
    }

    /* the others follow: all when three or more landmarks lie far off, else those in between */
    skeleton_carry(s->count, parents, from, held, !(far > 0 && away > far && count >= 3), to);
    for (int j = 0; j < s->count; j++) s->joints[j].position = to[j];
    return CUTIS_OK;
}

cutis_result skeleton_fit(const mesh *m, const limbs *f, const char *name, const cutis_rig_landmark *landmarks,
                          int landmark_count, rig_report *report, skeleton *s, cutis_error *error)
{
    /* the body's axes and its plane of symmetry */
    bool any = !name || strcmp(name, "auto") == 0, known = any;
    posture b = {0};
    if (f->count > 0) b = posture_find(m, f);

    /* the first template that fits, or the one asked for */
    s->count = 0;
    for (int t = 0; t < COUNT_OF(TEMPLATES) && s->count == 0; t++) {
        if (!any && strcmp(TEMPLATES[t].about.name, name) != 0) continue;
        known = true;
        s->name = TEMPLATES[t].about.name;
        if (f->count == 0 || !TEMPLATES[t].fit || !TEMPLATES[t].fit(&b, report, s)) s->count = 0;
    }

    /* an unknown name gets a suggestion */
    if (!known) {
        name_search search = name_search_start(name);
        for (int t = 0; t < COUNT_OF(TEMPLATES); t++) name_search_offer(&search, TEMPLATES[t].about.name);
        return error_set(error, CUTIS_ERROR_ARGUMENT,
                         "there is no template '%s'%s%s%s; the templates are biped, quadruped, bird, many_legs, fish, "
                         "hand, snake, chain, "
                         "tree and auto",
                         name, search.nearest ? ", did you mean '" : "", search.nearest ? search.nearest : "",
                         search.nearest ? "'" : "");
    }

    /* the template asked for does not fit */
    if (s->count == 0)
        return error_set(error, CUTIS_ERROR_DATA,
                         "template '%s' does not fit: %d limbs were detected; try --template auto or chain", name,
                         f->main_count);

    /* landmarks overrule what was found */
    return skeleton_landmarks(landmarks, landmark_count, 0, s, error);
}
