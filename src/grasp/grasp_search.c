/*
 * grasp_search.c: where the prop goes, and how the fingers close on it.
 *
 * A placement is tried as GraspIt! tries one (A. Miller, P. Allen 2004, "GraspIt! A versatile simulator for robotic
 * grasping"): the fingers close link by link; a link whose skin touches stops and stops the links before it, those
 * beyond go on. Steps are as long as the distance to the prop allows, so no contact is passed. The placement with the
 * best force closure wins.
 *
 * Joints of a finger close together: the end joint by two thirds of the middle one (H. Rijpkema, M. Girard 1991,
 * "Computer animation of knowledge-based human grasping").
 */
#include "grasp/grasp_private.h"

#include <string.h>

#include "character/joint_parts.h"

static const double DEGREE = 3.14159265358979323846 / 180;
/* Skin this near touches, over the length of the hand. */
static const float TOUCH_DISTANCE = 0.002f;
/* Skin this near belongs to the patch, over the length of the hand: what a light touch presses flat. */
static const float PATCH_DISTANCE = 0.006f;
/* Shortest step of the first free joint, radians, and most steps of a finger. */
static const float LEAST_STEP = 0.004f;
enum { CLOSE_STEPS = 200, LINK_POINTS = 70, PALM_POINTS = 400 };
/* Steps of the first joint while a finger presses, radians, and their number: 45 degrees. */
static const float PRESS_STEP = 0.005f;
enum { PRESS_STEPS = 157 };
/* A finger presses at most this share of its flesh away: the prop moves until both sides balance, so one side may be
 * pressed more than planned. */
static const double FLESH_LIMIT = 0.85;
/* Added to the balance of a squeeze: a palm and many fingers make up for what is missing, a pinch has neither. */
static const double POWER_BALANCE = 0.7, PINCH_BALANCE = 0.05;
/* A prop whose base is narrower than this share of its height tips over. */
static const float NARROWEST_BASE = 0.2f;
/* A force below this share of the largest one means that the finger slips off. */
static const double SLIPPED_SHARE = 0.7;
/* Friction that the placement counts on, and the usual force at most: a grasp that needs more is easily lost. */
static const double SAFE_FRICTION = 0.3;
/* Rates of the joints of a finger while it closes. */
static const float RATES[LINK_LIMIT] = {1, 1, 0.67f, 0.67f};
/* The thumb may come this near to another finger, over the sum of their radii. */
static const float FINGERS_APART = 0.7f;

typedef struct search {
    const grasp_scene *scene;
    cutis_grasp_type type;
    grasp_plan *best;
    int thumb; /* index of the thumb, or -1 */
} search;

float grasp_prop_distance(const grasp_scene *scene, const mat34 *inverse, const mat34 *place, vec3 p, float most,
                          vec3 *normal)
{
    vec3 local;
    float d = contact_prop_distance(&scene->prop, mat34_point(inverse->m, p), most, &local);
    *normal = mat34_vector(place->m, local);
    return d;
}

/* Stride that leaves about `limit` of `count`. */
static int stride(int count, int limit) { return MAX(count / limit, 1); }

/* Least distance of the skin of links first.. of a finger, and the link there. */
static float finger_distance(const grasp_scene *scene, const mat34 *inverse, const mat34 *place,
                             const mat34 links[LINK_TOTAL], int finger, int first, int *nearest)
{
    const grasp_hand *hand = scene->hand;
    float least = 4 * scene->radius + hand->length;
    for (int k = first; k < hand->fingers[finger].link_count; k++) {
        int l = finger * LINK_LIMIT + k, begin = hand->first[l + 1], end = hand->first[l + 2];
        int step = stride(end - begin, LINK_POINTS);
        for (int p = begin; p < end; p += step) {
            vec3 normal, x = grasp_point_place(&hand->points[p], links);
            float d = grasp_prop_distance(scene, inverse, place, x, least, &normal);
            if (d >= least) continue;
            least = d;
            *nearest = k;
        }
    }
    return least;
}

/* Least distance of the skin of the palm from the prop. */
static float palm_distance(const grasp_scene *scene, const mat34 *inverse, const mat34 *place)
{
    const grasp_hand *hand = scene->hand;
    float least = 4 * scene->radius + hand->length;
    int step = stride(hand->first[1], PALM_POINTS);
    for (int p = 0; p < hand->first[1]; p += step) {
        vec3 normal;
        least = MIN(least, grasp_prop_distance(scene, inverse, place, hand->points[p].rest, least, &normal));
    }
    return least;
}

/* Whether a finger takes part in a grasp. */
static bool finger_used(const grasp_hand *hand, cutis_grasp_type type, int finger)
{
    int kind = hand->fingers[finger].kind;
    if (type == CUTIS_GRASP_HOOK) return kind != JOINT_THUMB;
    if (type == CUTIS_GRASP_PINCH) return kind <= JOINT_MIDDLE;
    return true;
}

/* ---- closing ---- */

/* Close one finger until it touches. False when the prop is in its way from the start. */
static bool finger_close(const search *s, const mat34 *inverse, const mat34 *place, int finger, grasp_pose *pose)
{
    const grasp_hand *hand = s->scene->hand;
    const grasp_finger *f = &hand->fingers[finger];
    float touch = TOUCH_DISTANCE * hand->length;
    int first = 0;
    mat34 links[LINK_TOTAL];
    for (int step = 0; step < CLOSE_STEPS && first < f->link_count; step++) {
        int nearest = first;
        grasp_hand_pose(hand, pose, links);
        float d = finger_distance(s->scene, inverse, place, links, finger, first, &nearest);
        if (step == 0 && d < -touch) return false;
        if (d < touch) {
            first = nearest + 1;
            continue;
        }

        /* no point of the finger moves farther than d */
        float reach = 0, length = 0;
        for (int k = f->link_count - 1; k >= first; k--) {
            length += vec3_distance(f->links[k].end, f->links[k].place);
            reach += RATES[k] * 1.2f * length;
        }
        float turn = MAX(0.9f * (d - 0.5f * touch) / reach, LEAST_STEP);
        bool moved = false;
        for (int k = first; k < f->link_count; k++) {
            float angle = MIN(pose->angles[finger][k] + RATES[k] * turn, f->links[k].high);
            moved = moved || angle > pose->angles[finger][k];
            pose->angles[finger][k] = MAX(angle, pose->angles[finger][k]);
        }
        if (!moved) break;
    }
    return true;
}

/* The thumb closes in the plane of its line and a place: the hinge in the rest frame, before the swing. */
static vec3 thumb_aim(const grasp_hand *hand, int thumb, float swing, vec3 aim)
{
    grasp_pose pose = {.swing = swing};
    mat34 links[LINK_TOTAL], back;
    grasp_hand_pose(hand, &pose, links);
    const grasp_finger *f = &hand->fingers[thumb];
    mat34_inverse(links[thumb * LINK_LIMIT], &back);

    /* the place as the swung thumb has it */
    vec3 target = mat34_point(back.m, aim);
    vec3 base = f->links[0].place;
    vec3 along = vec3_normalize(vec3_sub(f->links[f->link_count - 1].end, base));
    vec3 hinge = vec3_cross(along, vec3_sub(target, base));
    return vec3_length2(hinge) > 0 ? vec3_normalize(hinge) : f->links[0].hinge;
}

/* ---- contacts ---- */

/* What of a link (or the palm) touches: its middle, normal, and two to four places around. */
static void patch_find(const grasp_scene *scene, const mat34 *inverse, const grasp_plan *plan,
                       const mat34 links[LINK_TOTAL], int link, grasp_patch *patch)
{
    const grasp_hand *hand = scene->hand;
    float band = PATCH_DISTANCE * hand->length, total = 0;
    *patch = (grasp_patch){.link = link};
    vec3 place = {0, 0, 0}, normal = {0, 0, 0};
    for (int p = hand->first[link + 1]; p < hand->first[link + 2]; p++) {
        vec3 n, x = grasp_point_place(&hand->points[p], links);
        float d = grasp_prop_distance(scene, inverse, &plan->place, x, 2 * band, &n);
        if (d >= band) continue;
        float w = hand->points[p].area * (band - d);
        place = vec3_madd(place, vec3_madd(x, n, -d), w);
        normal = vec3_madd(normal, n, -w);
        patch->area += hand->points[p].area;
        patch->depth = MAX(patch->depth, -d);
        total += w;
    }
    if (!(total > 0)) return;
    patch->place = vec3_scale(place, 1 / total);
    patch->normal = vec3_normalize(normal);
}

/* All patches of a pose, and places of contact for the measures. */
static void contacts_find(const grasp_scene *scene, const grasp_pose *pose, grasp_plan *plan)
{
    const grasp_hand *hand = scene->hand;
    mat34 links[LINK_TOTAL], inverse;
    grasp_hand_pose(hand, pose, links);
    mat34_inverse(plan->place, &inverse);

    plan->patch_count = 0;
    for (int l = PALM; l < LINK_TOTAL; l++) {
        if (l >= 0 &&
            (l / LINK_LIMIT >= hand->finger_count || l % LINK_LIMIT >= hand->fingers[l / LINK_LIMIT].link_count))
            continue;
        grasp_patch *patch = &plan->patches[plan->patch_count];
        patch_find(scene, &inverse, plan, links, l, patch);
        plan->patch_count += patch->area > 0;
    }

    /* a patch bears on a ring about its middle; its radius is that of a disk of the same inertia */
    plan->touch_count = 0;
    int ring = plan->patch_count * 4 <= TOUCH_LIMIT ? 4 : 2;
    for (int i = 0; i < plan->patch_count; i++) {
        const grasp_patch *patch = &plan->patches[i];
        vec3 u = vec3_orthogonal(patch->normal), v = vec3_cross(patch->normal, u);
        float radius = sqrtf(0.5f * patch->area / 3.14159265f);
        for (int k = 0; k < ring && plan->touch_count < TOUCH_LIMIT; k++) {
            vec3 away = k % 2 ? (ring == 4 ? v : vec3_scale(u, -1)) : u;
            float side = k < 2 ? radius : -radius;
            plan->touches[plan->touch_count++] = (grasp_touch){vec3_madd(patch->place, away, side), patch->normal};
        }
    }
}

/* Force closure and the forces needed to hold the weight. */
static void plan_measure(const grasp_scene *scene, double friction, int starts, grasp_plan *plan)
{
    double columns[6 * TOUCH_LIMIT * CONE_EDGES];
    vec3 centre = mat34_point(plan->place.m, scene->centre);
    int count = grasp_wrenches(plan->touches, plan->touch_count, friction, centre, (double)scene->radius, columns);
    const double up[6] = {0, 1, 0, 0, 0, 0};
    plan->score = grasp_closure(columns, count, starts);
    plan->needed = grasp_gauge(columns, count, up, NULL);
}

/*
 * How well the squeeze holds itself: 1 when the thumb's force and those of the fingers, in equal shares, cancel in
 * force and torque, 0 when nothing opposes. A palm that touches takes what presses the prop on it.
 */
static double squeeze_balance(const grasp_scene *scene, const grasp_plan *plan)
{
    const grasp_hand *hand = scene->hand;
    vec3 centre = mat34_point(plan->place.m, scene->centre), palm = {0, 0, 0};
    vec3 normals[FINGER_LIMIT] = {{0, 0, 0}}, places[FINGER_LIMIT] = {{0, 0, 0}};
    float areas[FINGER_LIMIT] = {0};
    int fingers = 0;
    for (int i = 0; i < plan->patch_count; i++) {
        const grasp_patch *patch = &plan->patches[i];
        if (patch->link == PALM) {
            palm = patch->normal;
            continue;
        }
        int f = patch->link / LINK_LIMIT;
        fingers += areas[f] == 0 && hand->fingers[f].kind != JOINT_THUMB;
        normals[f] = vec3_madd(normals[f], patch->normal, patch->area);
        places[f] = vec3_madd(places[f], patch->place, patch->area);
        areas[f] += patch->area;
    }

    vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    for (int f = 0; f < hand->finger_count; f++) {
        if (!(areas[f] > 0)) continue;
        float share = hand->fingers[f].kind == JOINT_THUMB ? 1 : 1 / (float)MAX(fingers, 1);
        vec3 push = vec3_scale(vec3_normalize(normals[f]), share);
        vec3 arm = vec3_scale(vec3_sub(vec3_scale(places[f], 1 / areas[f]), centre), 1 / scene->radius);
        force = vec3_add(force, push);
        torque = vec3_add(torque, vec3_cross(arm, push));
    }
    force = vec3_madd(force, palm, -MIN(vec3_dot(force, palm), 0.0f));
    return MAX(1 - sqrt((double)(vec3_length2(force) + vec3_length2(torque))), 0.0);
}

/* ---- checks ---- */

/* Squared distance of two segments, by alternate projection: exact enough for capsules. */
static float segments_distance(vec3 a, vec3 b, vec3 c, vec3 d)
{
    vec3 ab = vec3_sub(b, a), cd = vec3_sub(d, c), p = vec3_lerp(a, b, 0.5f), q = p;
    for (int i = 0; i < 8; i++) {
        float t = vec3_dot(vec3_sub(p, c), cd) / MAX(vec3_length2(cd), 1e-20f);
        q = vec3_madd(c, cd, CLAMP(t, 0.0f, 1.0f));
        float u = vec3_dot(vec3_sub(q, a), ab) / MAX(vec3_length2(ab), 1e-20f);
        p = vec3_madd(a, ab, CLAMP(u, 0.0f, 1.0f));
    }
    return vec3_distance(p, q);
}

/* Whether the thumb goes through another finger. */
static bool thumb_collides(const grasp_hand *hand, int thumb, const mat34 links[LINK_TOTAL])
{
    if (thumb < 0) return false;
    const grasp_finger *t = &hand->fingers[thumb];
    for (int i = 0; i < hand->finger_count; i++) {
        const grasp_finger *f = &hand->fingers[i];
        for (int k = 1; k < t->link_count && i != thumb; k++)
            for (int m = 0; m < f->link_count; m++) {
                const grasp_link *one = &t->links[k], *two = &f->links[m];
                const float *a = links[thumb * LINK_LIMIT + k].m, *b = links[i * LINK_LIMIT + m].m;
                float apart = segments_distance(mat34_point(a, one->place), mat34_point(a, one->end),
                                                mat34_point(b, two->place), mat34_point(b, two->end));
                if (apart < FINGERS_APART * 2 * (one->radius + two->radius)) return true;
            }
    }
    return false;
}

static mat34 shifted(const mat34 *place, vec3 by, float share)
{
    mat34 m = *place;
    m.m[3] += share * by.x;
    m.m[7] += share * by.y;
    m.m[11] += share * by.z;
    return m;
}

/* Whether the hand meets the prop before it is there: while it opens, and on its way. */
static bool way_collides(const grasp_scene *scene, const mat34 *place, const grasp_pose *open)
{
    static const float ways[5] = {1, 1, 1, 0.6f, 0.3f}, opens[5] = {0, 0.5f, 1, 1, 1};
    const grasp_hand *hand = scene->hand;
    for (int i = 0; i < 5; i++) {
        mat34 there = shifted(place, scene->approach, ways[i]), inverse, links[LINK_TOTAL];
        grasp_pose pose = *open;
        for (int f = 0; f < FINGER_LIMIT; f++)
            for (int k = 0; k < LINK_LIMIT; k++) pose.angles[f][k] *= opens[i];
        pose.swing *= opens[i];
        mat34_inverse(there, &inverse);
        grasp_hand_pose(hand, &pose, links);
        for (int f = 0; f < hand->finger_count; f++) {
            int nearest;
            if (finger_distance(scene, &inverse, &there, links, f, 0, &nearest) < 0) return true;
        }
    }
    return false;
}

/* Whether the prop reaches into the rest of the body, where it stands before it is taken. */
static bool body_collides(const grasp_scene *scene, const mat34 *given)
{
    mat34 at = shifted(given, scene->approach, 1), back, *place = &at, *inverse = &back;
    if (scene->body_count == 0 || !mat34_inverse(at, &back)) return false;
    for (int i = 0; i < scene->body_count; i++) {
        vec3 normal;
        if (grasp_prop_distance(scene, inverse, place, vec3_load(scene->body + 3 * (size_t)i), 1e-3f * scene->radius,
                                &normal) < 0)
            return true;
    }
    return false;
}

/* ---- placements ---- */

/* Close on the prop where it is; keep the placement if it is the best. */
static void placement_try(search *s, const mat34 *place, const grasp_pose *open)
{
    const grasp_scene *scene = s->scene;
    const grasp_hand *hand = scene->hand;
    mat34 inverse, links[LINK_TOTAL];
    s->best->tried++;
    if (!mat34_inverse(*place, &inverse) || body_collides(scene, place)) return;
    if (palm_distance(scene, &inverse, place) < -TOUCH_DISTANCE * hand->length) return;

    grasp_plan plan = {.place = *place, .open = *open, .touch = *open};
    if (s->thumb >= 0) {
        vec3 hinge = thumb_aim(hand, s->thumb, open->swing, mat34_point(place->m, scene->centre));
        plan.open.thumb_hinge = hinge;
        plan.touch.thumb_hinge = hinge;
    }
    for (int i = 0; i < hand->finger_count; i++) {
        int nearest = 0;
        if (finger_used(hand, s->type, i)) {
            if (!finger_close(s, &inverse, place, i, &plan.touch)) return;
            continue;
        }
        grasp_hand_pose(hand, &plan.touch, links);
        if (finger_distance(scene, &inverse, place, links, i, 0, &nearest) < 0) return;
    }
    grasp_hand_pose(hand, &plan.touch, links);
    if (thumb_collides(hand, s->thumb, links)) return;

    /* the thumb and another finger touch; a hook has no thumb */
    contacts_find(scene, &plan.touch, &plan);
    bool fingers[FINGER_LIMIT] = {false};
    int touching = 0;
    for (int i = 0; i < plan.patch_count; i++) {
        int link = plan.patches[i].link;
        if (link == PALM || fingers[link / LINK_LIMIT]) continue;
        fingers[link / LINK_LIMIT] = true;
        touching++;
    }
    if (touching < 2 || (s->type != CUTIS_GRASP_HOOK && s->thumb >= 0 && !fingers[s->thumb])) return;

    /* closure by many fingers that balance; a hook need only bear the weight */
    plan_measure(scene, SAFE_FRICTION, 12, &plan);
    if (!isfinite(plan.needed)) return;
    double share = s->type == CUTIS_GRASP_PINCH ? PINCH_BALANCE : POWER_BALANCE, count = touching;
    plan.quality = count * count * plan.score * (share + squeeze_balance(scene, &plan));
    if (s->type == CUTIS_GRASP_HOOK) plan.quality = count / plan.needed;
    if (!(plan.quality > s->best->quality) || way_collides(scene, place, &plan.open)) return;
    int tried = s->best->tried;
    *s->best = plan;
    s->best->tried = tried;
}

/* A place from axes and the position of the middle of the prop's bounds. axes[k]: where the prop's axis k points. */
static mat34 place_make(const grasp_scene *scene, const vec3 axes[3], vec3 at)
{
    mat34 m;
    for (int k = 0; k < 3; k++) {
        m.m[k] = axes[k].x;
        m.m[4 + k] = axes[k].y;
        m.m[8 + k] = axes[k].z;
        m.m[4 * k + 3] = 0;
    }
    vec3 shift = vec3_sub(at, mat34_vector(m.m, scene->middle));
    m.m[3] = shift.x;
    m.m[7] = shift.y;
    m.m[11] = shift.z;
    return m;
}

/*
 * The ways in which a prop stands before it is taken: axis `up` of its own points upwards, the next one along a
 * horizontal direction. False when it would roll or tip over, or when another way is the same.
 */
static bool prop_stands(const grasp_scene *scene, int up)
{
    const float size[3] = {scene->extent.x, scene->extent.y, scene->extent.z};
    int shape = scene->prop.source->shape;
    float base = MIN(size[(up + 1) % 3], size[(up + 2) % 3]);
    if (shape == CUTIS_PROP_SPHERE) return up == 1;
    if (shape == CUTIS_PROP_CAPSULE) return up == 0;
    if (base < NARROWEST_BASE * size[up]) return false;

    /* equal halves: the first of them stands for the others */
    for (int k = 0; k < up; k++) {
        bool same = fabsf(size[k] - size[up]) < 0.02f * size[up];
        if (same && fabsf(size[3 - k - up] - size[up]) < 0.02f * size[up]) return false;
        if (same && shape == CUTIS_PROP_MESH) return false;
    }
    return true;
}

static void axes_make(int up, vec3 along, vec3 axes[3])
{
    axes[up] = vec3_make(0, 1, 0);
    axes[(up + 1) % 3] = along;
    axes[(up + 2) % 3] = vec3_cross(axes[up], along);
}

/* A direction without its vertical part; another one where little is left. */
static vec3 horizontal(vec3 v, vec3 other)
{
    vec3 flat = vec3_make(v.x, 0, v.z);
    if (vec3_length(flat) > 0.3f) return vec3_normalize(flat);
    flat = vec3_make(other.x, 0, other.z);
    return vec3_length(flat) > 0 ? vec3_normalize(flat) : vec3_make(1, 0, 0);
}

/* Move the prop against the palm and the open fingers, from far out. False when it does not come near. */
static bool place_rest(const search *s, mat34 *place, const grasp_pose *open)
{
    const grasp_hand *hand = s->scene->hand;
    mat34 links[LINK_TOTAL], inverse;
    grasp_hand_pose(hand, open, links);
    vec3 out = hand->normal;
    float far = hand->length + 2 * s->scene->radius, gone = 0, gap = 0.5f * TOUCH_DISTANCE * hand->length;
    for (int k = 0; k < 3; k++) place->m[4 * k + 3] += far * (k == 0 ? out.x : k == 1 ? out.y : out.z);

    for (int step = 0; step < 60; step++) {
        mat34_inverse(*place, &inverse);
        float d = palm_distance(s->scene, &inverse, place);
        for (int i = 0; i < hand->finger_count; i++) {
            int nearest;
            if (i == s->thumb) continue;
            d = MIN(d, finger_distance(s->scene, &inverse, place, links, i, 0, &nearest));
        }
        if (d < 2 * gap) return true;
        gone += d - gap;
        if (gone > 1.5f * far) return false;
        for (int k = 0; k < 3; k++) place->m[4 * k + 3] -= (d - gap) * (k == 0 ? out.x : k == 1 ? out.y : out.z);
    }
    return true;
}

static vec3 turned(vec3 v, vec3 axis, double angle) { return quat_rotate(quat_axis_angle(axis, angle), v); }

/* One placement against the palm, with the thumb at several swings. */
static void power_try(search *s, const vec3 axes[3], vec3 at, const grasp_pose *open)
{
    static const float swings[] = {15, 40, 65, 90};
    int swing_count = s->type == CUTIS_GRASP_HOOK ? 1 : COUNT_OF(swings);
    mat34 place = place_make(s->scene, axes, at);
    if (!place_rest(s, &place, open)) return;
    for (int w = 0; w < swing_count; w++) {
        grasp_pose pose = *open;
        if (s->type != CUTIS_GRASP_HOOK) pose.swing = swings[w] * (float)DEGREE;
        if (s->thumb >= 0) pose.angles[s->thumb][0] = -20 * (float)DEGREE;
        placement_try(s, &place, &pose);
    }
}

/* Against the palm, at places along and across it; the prop stands, and is turned about the vertical. */
static void search_power(search *s)
{
    static const float along[] = {0.45f, 0.65f, 0.85f, 1.05f, 1.25f}, across[] = {-0.12f, 0, 0.12f};
    static const float turns[] = {0, 90, 30, -30}, bends[] = {0, 25, 50};
    const grasp_hand *hand = s->scene->hand;
    int turn_count = s->scene->prop.source->shape == CUTIS_PROP_SPHERE ? 1 : COUNT_OF(turns);
    for (int b = 0; b < COUNT_OF(bends); b++) {
        /* half open fingers hold the prop at a distance from the palm */
        grasp_pose open = {.swing = 0};
        for (int i = 0; i < hand->finger_count; i++)
            if (i != s->thumb) open.angles[i][0] = MIN(bends[b] * (float)DEGREE, hand->fingers[i].links[0].high);

        for (int a = 0; a < COUNT_OF(along) * COUNT_OF(across); a++) {
            vec3 at = vec3_madd(hand->origin, hand->forward, along[a / COUNT_OF(across)] * hand->palm_length);
            at = vec3_madd(at, hand->across, across[a % COUNT_OF(across)] * hand->length);
            for (int up = 0; up < 3; up++)
                for (int t = 0; t < turn_count && prop_stands(s->scene, up); t++) {
                    vec3 level = horizontal(hand->across, hand->forward), axes[3];
                    axes_make(up, turned(level, vec3_make(0, 1, 0), (double)turns[t] * DEGREE), axes);
                    power_try(s, axes, at, &open);
                }
        }
    }
}

/* The pad of a finger: on its last link, before the tip. */
static vec3 finger_pad(const grasp_hand *hand, const mat34 links[LINK_TOTAL], int finger)
{
    const grasp_finger *f = &hand->fingers[finger];
    const grasp_link *link = &f->links[f->link_count - 1];
    return mat34_point(links[finger * LINK_LIMIT + f->link_count - 1].m, vec3_lerp(link->place, link->end, 0.65f));
}

/*
 * Fingers at a bend, then open by 25 degrees at the knuckle, more beyond; those that do not take part bend along a
 * little. The tips of index and middle finger at that bend are where the prop is meant to be.
 */
static vec3 pinch_open(const search *s, float bend, float swing, grasp_pose *open)
{
    const grasp_hand *hand = s->scene->hand;
    grasp_pose pose = {.swing = swing};
    for (int i = 0; i < hand->finger_count; i++)
        for (int k = 0; k < hand->fingers[i].link_count && i != s->thumb; k++) {
            float share = (finger_used(hand, s->type, i) ? 1 : 0.3f) * (k == 0 ? 1 : 0.6f);
            pose.angles[i][k] = MIN(share * bend, hand->fingers[i].links[k].high);
        }

    mat34 links[LINK_TOTAL];
    grasp_hand_pose(hand, &pose, links);
    int index = s->thumb == 0 ? 1 : 0, middle = MIN(index + 1, hand->finger_count - 1);
    *open = pose;
    for (int i = 0; i < hand->finger_count; i++) {
        if (i == s->thumb || !finger_used(hand, s->type, i)) continue;
        open->angles[i][0] -= 25 * (float)DEGREE;
        for (int k = 1; k < hand->fingers[i].link_count; k++) open->angles[i][k] *= 0.6f;
    }
    if (s->thumb >= 0) open->angles[s->thumb][0] = -20 * (float)DEGREE;
    return vec3_lerp(finger_pad(hand, links, index), finger_pad(hand, links, middle), 0.5f);
}

/* Between the pads of the thumb and of index and middle finger, at several bends of both. */
static void search_pinch(search *s)
{
    static const float bends[] = {25, 40, 55, 70}, swings[] = {35, 60, 85}, shares[] = {0, 0.5f, 1};
    static const float turns[] = {0, 45, 90, 135}, gaps[] = {0, 0.04f};
    const grasp_hand *hand = s->scene->hand;
    const grasp_scene *scene = s->scene;
    if (s->thumb < 0) return;
    const grasp_finger *index = &hand->fingers[MIN(1, hand->finger_count - 1)];
    float skin = 2 * index->links[index->link_count - 1].radius;
    float least = MIN(MIN(scene->extent.x, scene->extent.y), scene->extent.z);
    int turn_count = scene->prop.source->shape == CUTIS_PROP_SPHERE ? 1 : COUNT_OF(turns);
    for (int b = 0; b < COUNT_OF(bends) * COUNT_OF(swings); b++) {
        grasp_pose open;
        mat34 links[LINK_TOTAL];
        float bend = bends[b / COUNT_OF(swings)] * (float)DEGREE, swing = swings[b % COUNT_OF(swings)] * (float)DEGREE;
        vec3 tip = pinch_open(s, bend, swing, &open);
        grasp_hand_pose(hand, &open, links);
        vec3 pad = finger_pad(hand, links, s->thumb), base = hand->fingers[s->thumb].links[0].place;

        /* the thumb comes from somewhere between its root and its tip */
        for (int h = 0; h < COUNT_OF(shares) * COUNT_OF(gaps); h++) {
            vec3 between = vec3_normalize(vec3_sub(vec3_lerp(base, pad, shares[h % COUNT_OF(shares)]), tip));
            vec3 at = vec3_madd(tip, between, skin + least + gaps[h / COUNT_OF(shares)] * hand->length);
            for (int up = 0; up < 3; up++)
                for (int t = 0; t < turn_count && prop_stands(scene, up); t++) {
                    vec3 axes[3];
                    vec3 level = horizontal(hand->across, between);
                    axes_make(up, turned(level, vec3_make(0, 1, 0), (double)turns[t] * DEGREE), axes);
                    mat34 place = place_make(scene, axes, at);
                    placement_try(s, &place, &open);
                }
        }
    }
}

bool grasp_plan_search(const grasp_scene *scene, cutis_grasp_type type, grasp_plan *plan)
{
    *plan = (grasp_plan){.quality = 0};
    search s = {.scene = scene, .type = type, .best = plan, .thumb = scene->hand->has_thumb ? 0 : -1};
    if (type == CUTIS_GRASP_PINCH)
        search_pinch(&s);
    else
        search_power(&s);
    return plan->quality > 0;
}

/* ---- squeezing ---- */

/* Skin of a finger in the prop. */
typedef struct finger_load {
    double force; /* of its flesh, newtons */
    double used;  /* largest share of the flesh that is pressed away */
    double bone;  /* depth of its bone in the prop; at most 0: none */
} finger_load;

static finger_load finger_force(const grasp_scene *scene, const mat34 *inverse, const grasp_plan *plan,
                                const grasp_pose *pose, int finger)
{
    const grasp_hand *hand = scene->hand;
    mat34 links[LINK_TOTAL];
    grasp_hand_pose(hand, pose, links);
    int begin = hand->first[finger * LINK_LIMIT + 1], end = hand->first[(finger + 1) * LINK_LIMIT + 1];

    /* two passes: the stiffness of all flesh in contact gives the share of a soft prop */
    finger_load load = {0, 0, 0};
    double stiffness = 0, area = 0, share = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int p = begin; p < end; p++) {
            const grasp_point *point = &hand->points[p];
            vec3 normal, x = grasp_point_place(point, links);
            double depth = -(double)grasp_prop_distance(scene, inverse, &plan->place, x, scene->radius, &normal);
            if (depth <= 0) continue;

            /* E A / d in SI units; flesh stiffens as it is pressed (docs/reference/solvers/springs.md) */
            double metres = scene->unit, flesh = (double)point->flesh;
            double k = scene->young * (double)point->area / flesh * metres;
            double u = share * depth / flesh;
            if (pass == 0) {
                stiffness += k;
                area += (double)point->area * metres * metres;
            } else {
                load.force += k * (1 + MIN(u * u, 8.0)) * share * depth * metres;
                load.used = MAX(load.used, u);
                load.bone = MAX(load.bone, share * depth - flesh);
            }
        }

        /* a flat punch on a half space of Poisson's ratio 1/4 */
        if (pass == 0 && scene->soft > 0 && stiffness > 0) {
            double prop = 2 * scene->soft * sqrt(area / 3.14159265358979323846) / (1 - 0.0625);
            share = prop / (prop + stiffness);
        }
    }
    return load;
}

/*
 * Turn a finger on until its flesh presses with a force, or its bone reaches the prop, or a joint its limit. It goes in
 * small steps: a finger that is turned too far slips off a thin prop, so the force has a maximum.
 */
static bool finger_press(const grasp_scene *scene, const mat34 *inverse, grasp_plan *plan, int finger, double force)
{
    static const float rates[LINK_LIMIT] = {1, 0.5f, 0.3f, 0.3f};
    const grasp_finger *f = &scene->hand->fingers[finger];
    grasp_pose pose = plan->touch;
    double most = 0;
    for (int step = 0; step <= PRESS_STEPS; step++) {
        bool moved = step == 0;
        for (int k = 0; k < f->link_count && step > 0; k++) {
            float angle = MIN(pose.angles[finger][k] + rates[k] * PRESS_STEP, f->links[k].high);
            moved = moved || angle > pose.angles[finger][k];
            pose.angles[finger][k] = MAX(angle, pose.angles[finger][k]);
        }
        finger_load load = finger_force(scene, inverse, plan, &pose, finger);
        if (!moved || load.used > FLESH_LIMIT || load.force < SLIPPED_SHARE * most) return false;
        if (load.force < most) continue;

        /* between this step and the last one, where the force is met */
        float *closed = plan->closed.angles[finger], last[LINK_LIMIT];
        float part = load.force > force ? (float)((force - most) / (load.force - most)) : 1;
        memcpy(last, closed, sizeof last);
        for (int k = 0; k < LINK_LIMIT; k++) closed[k] = last[k] + (pose.angles[finger][k] - last[k]) * MAX(part, 0.0f);
        most = load.force;
        if (most >= force) return true;
    }
    return false;
}

void grasp_plan_squeeze(const grasp_scene *scene, cutis_grasp_type type, double force, grasp_plan *plan)
{
    const grasp_hand *hand = scene->hand;
    double weight = scene->mass * 9.81;

    /* two opposite sides hold the weight by friction alone, twice */
    double usual = weight / CLAMP(scene->friction, SAFE_FRICTION / 3, SAFE_FRICTION);
    plan->force = force > 0 ? force : CLAMP(usual, 0.5, 30.0);

    /* which fingers bear */
    bool bears[FINGER_LIMIT] = {false};
    int fingers = 0;
    for (int i = 0; i < plan->patch_count; i++)
        if (plan->patches[i].link != PALM) bears[plan->patches[i].link / LINK_LIMIT] = true;
    for (int i = 0; i < hand->finger_count; i++) fingers += bears[i] && hand->fingers[i].kind != JOINT_THUMB;

    mat34 inverse;
    mat34_inverse(plan->place, &inverse);
    plan->closed = plan->touch;
    plan->force_reached = true;
    for (int i = 0; i < hand->finger_count; i++) {
        if (!bears[i] || !finger_used(hand, type, i)) continue;
        double share = hand->fingers[i].kind == JOINT_THUMB ? 1 : 1 / (double)MAX(fingers, 1);
        plan->force_reached = finger_press(scene, &inverse, plan, i, share * plan->force) && plan->force_reached;
    }

    /* contacts of the closed hand */
    contacts_find(scene, &plan->closed, plan);
    plan_measure(scene, scene->friction, 40, plan);
    plan->bone_depth = 0;
    for (int i = 0; i < hand->finger_count; i++) {
        finger_load load = finger_force(scene, &inverse, plan, &plan->closed, i);
        double area = 0;
        plan->bone_depth = MAX(plan->bone_depth, load.bone);

        /* the finger's force on its patches by depth and area */
        for (int k = 0; k < plan->patch_count; k++)
            if (plan->patches[k].link != PALM && plan->patches[k].link / LINK_LIMIT == i)
                area += (double)(plan->patches[k].area * plan->patches[k].depth);
        for (int k = 0; k < plan->patch_count && area > 0; k++)
            if (plan->patches[k].link != PALM && plan->patches[k].link / LINK_LIMIT == i)
                plan->patches[k].force = load.force * (double)(plan->patches[k].area * plan->patches[k].depth) / area;
    }
}
