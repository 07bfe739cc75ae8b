/*
 * bvh_stand.c: captures whose vertical is not y, or whose zero pose is no standing body.
 *
 * Tools write captures with z up, zero poses that lie in other axes than the motion, and zero poses that are no pose of
 * a body at all: every bone along the x axis of its joint. The vertical is the axis along which trunk and legs lie in
 * most frames, or else in the zero pose. Of a zero pose that is no body, the frame that stands best takes the place.
 *
 * With C the turn to y up and Q the rotations of the joints in the new zero pose, the capture becomes
 *
 *     rotation'(t) = C rotation(t) Q^-1 C^-1        place'(t) = C place(t)
 */
#include "retarget/bvh_stand.h"

#include <math.h>
#include <string.h>

#include "io/affine.h"

static const double BODY = 0.8;   /* cosine between the trunk and what the legs point away from, at least, in a body */
static const double ALONG = 0.8;  /* share of the mean upward direction along an axis, at least, to be the vertical */
static const double STANDING = 3; /* pose_stands of a frame that is taken for the zero pose, at least */

enum { FRAMES_LOOKED_AT = 400 };

/* The joints that tell how a person stands, left first; -1: none. */
typedef struct stance_joints {
    int thighs[2], knees[2], ankles[2], tops[2];
    int elbows[2], hands[2];
} stance_joints;

static int part_first(const bvh_reader *r, const joint_part *parts, int kind, int side)
{
    for (int j = 0; j < r->joint_count; j++)
        if (parts[j].kind == kind && parts[j].side == side && parts[j].index == 0) return j;
    return -1;
}

/* False: the capture has no two legs, or nothing above them. */
static bool stance_find(const bvh_reader *r, const joint_part *parts, stance_joints *s)
{
    for (int i = 0; i < 2; i++) {
        int side = JOINT_SIDE_LEFT + i;
        s->thighs[i] = part_first(r, parts, JOINT_UPPER_LEG, side);
        s->ankles[i] = part_first(r, parts, JOINT_FOOT, side);
        s->tops[i] = part_first(r, parts, JOINT_UPPER_ARM, side);
        s->knees[i] = part_first(r, parts, JOINT_LOWER_LEG, side);
        s->elbows[i] = part_first(r, parts, JOINT_FOREARM, side);
        s->hands[i] = part_first(r, parts, JOINT_HAND, side);

        /* shins for ankles, the head for arms */
        if (s->ankles[i] < 0) s->ankles[i] = part_first(r, parts, JOINT_LOWER_LEG, side);
        if (s->tops[i] < 0) s->tops[i] = part_first(r, parts, JOINT_HEAD, JOINT_SIDE_NONE);
        if (s->thighs[i] < 0 || s->ankles[i] < 0 || s->tops[i] < 0) return false;
    }
    return true;
}

static bool unit_make(double v[3])
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(length > 0)) return false;
    for (int k = 0; k < 3; k++) v[k] /= length;
    return true;
}

/* Unit directions of the trunk, and from ankles to thighs. */
static bool stance_measure(const stance_joints *s, double (*const places)[3], double trunk[3], double legs[3])
{
    for (int k = 0; k < 3; k++) {
        trunk[k] = legs[k] = 0;
        for (int i = 0; i < 2; i++) {
            trunk[k] += places[s->tops[i]][k] - places[s->thighs[i]][k];
            legs[k] += places[s->thighs[i]][k] - places[s->ankles[i]][k];
        }
    }
    return unit_make(trunk) && unit_make(legs);
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The axis, with its sign, that a direction of length 2 at most lies along; false: none. */
static bool axis_find(const double direction[3], double axis[3])
{
    for (int k = 0; k < 3; k++) {
        if (fabs(direction[k]) < 2 * ALONG) continue;
        axis[0] = axis[1] = axis[2] = 0;
        axis[k] = direction[k] > 0 ? 1 : -1;
        return true;
    }
    return false;
}

/* The mean over the frames of trunk and legs: along the vertical where a person stands most of the time. */
static void frames_mean(const bvh_reader *r, const stance_joints *s, double (*rotations)[4], double (*places)[3],
                        double mean[3])
{
    int count = 0;
    int step = r->frame_count / FRAMES_LOOKED_AT + 1;
    mean[0] = mean[1] = mean[2] = 0;
    for (int f = 0; f < r->frame_count; f += step) {
        double trunk[3], legs[3];
        bvh_pose(r, f, rotations, places);
        if (!stance_measure(s, places, trunk, legs)) continue;
        for (int k = 0; k < 3; k++) mean[k] += trunk[k] + legs[k];
        count++;
    }
    for (int k = 0; k < 3; k++) mean[k] /= MAX(count, 1);
}

static double apart(const double a[3], const double b[3])
{
    double way[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(dot(way, way));
}

/* How straight a limb is, 1 at most; one that is not known counts as straight. */
static double limb_straight(double (*const places)[3], int first, int middle, int last)
{
    if (first < 0 || middle < 0 || last < 0) return 1;
    double length = apart(places[first], places[middle]) + apart(places[middle], places[last]);
    return length > 0 ? apart(places[first], places[last]) / length : 1;
}

/* How well a pose stands along `up`: trunk and both legs upright, limbs straight, as in a T pose. 4 at most. */
static double pose_stands(const stance_joints *s, double (*const places)[3], const double up[3])
{
    double trunk[3], legs[3];
    if (!stance_measure(s, places, trunk, legs)) return 0;
    double sum = dot(trunk, up);
    for (int i = 0; i < 2; i++) {
        double leg[3];
        for (int k = 0; k < 3; k++) leg[k] = places[s->thighs[i]][k] - places[s->ankles[i]][k];
        if (!unit_make(leg)) return 0;
        sum += dot(leg, up) / 2;
        sum += limb_straight(places, s->thighs[i], s->knees[i], s->ankles[i]) / 2;
        sum += limb_straight(places, s->tops[i], s->elbows[i], s->hands[i]) / 2;
    }
    return sum;
}

/* The frame that stands best along `up`; -1: none stands well. */
static int frame_find(const bvh_reader *r, const stance_joints *s, const double up[3], double (*rotations)[4],
                      double (*places)[3])
{
    int best = -1;
    double most = STANDING;
    for (int f = 0; f < r->frame_count; f++) {
        bvh_pose(r, f, rotations, places);
        double stands = pose_stands(s, places, up);
        if (stands <= most) continue;
        most = stands;
        best = f;
    }
    return best;
}

/* Rewrite all frames: world is C, zero is Q with the places of the new zero pose before C. */
static cutis_result frames_turn(bvh_reader *r, const double world[4], double (*const zero)[4],
                                double (*const zero_places)[3])
{
    size_t count = (size_t)r->joint_count;
    bvh_reader from = *r;
    double(*rotations)[4] = arena_push(&r->memory, count, sizeof *rotations);
    double(*places)[3] = arena_push(&r->memory, count, sizeof *places);
    double(*rest)[3] = arena_push(&r->memory, count, sizeof *rest);
    from.joints = ARENA_ARRAY(&r->memory, bvh_joint, count);
    if (r->memory.failed) return error_memory(r->error, "a motion");
    memcpy(from.joints, r->joints, count * sizeof *from.joints);

    /* the new zero pose, and channels for it */
    double back[4];
    rotation_conjugate(world, back);
    for (size_t j = 0; j < count; j++) rotation_apply(world, zero_places[j], rest[j]);
    if (!bvh_channels_make(r, rest)) return error_memory(r->error, "a motion");

    for (int f = 0; f < r->frame_count; f++) {
        bvh_pose(&from, f, rotations, places);
        for (size_t j = 0; j < count; j++) {
            double inverse[4];
            rotation_conjugate(zero[j], inverse);
            rotation_multiply(rotations[j], inverse, rotations[j]);
            rotation_multiply(world, rotations[j], rotations[j]);
            rotation_multiply(rotations[j], back, rotations[j]);
            rotation_apply(world, places[j], places[j]);
        }
        bvh_frame_store(r, f, rotations, places);
    }
    return CUTIS_OK;
}

static const char *axis_name(const double axis[3])
{
    static const char *const NAMES[6] = {"x", "y", "z", "-x", "-y", "-z"};
    for (int k = 0; k < 3; k++)
        if (axis[k] != 0) return NAMES[axis[k] > 0 ? k : k + 3];
    return "";
}

cutis_result bvh_stand(bvh_reader *r, const joint_part *parts, warning_list *warnings)
{
    static const double UP[3] = {0, 1, 0};
    stance_joints s;
    if (!stance_find(r, parts, &s)) return CUTIS_OK;

    size_t count = (size_t)r->joint_count;
    double(*rotations)[4] = arena_push(&r->memory, count, sizeof *rotations);
    double(*places)[3] = arena_push(&r->memory, count, sizeof *places);
    if (r->memory.failed) return error_memory(r->error, "a motion");

    /* how the zero pose stands */
    double trunk[3], legs[3], zero_up[3], axis[3];
    for (size_t j = 0; j < count; j++) memcpy(places[j], r->joints[j].place, sizeof places[j]);
    bool body = stance_measure(&s, places, trunk, legs) && dot(trunk, legs) > BODY;
    for (int k = 0; k < 3; k++) zero_up[k] = body ? trunk[k] + legs[k] : 0;
    bool known = axis_find(zero_up, axis);
    if (known && axis[1] > 0) return CUTIS_OK;

    /* the vertical: of the frames, or of the zero pose */
    double mean[3], up[3];
    frames_mean(r, &s, rotations, places, mean);
    if (!axis_find(mean, up)) memcpy(up, known ? axis : UP, sizeof up);
    double world[4];
    rotation_between(up, UP, world);

    /* the zero pose: turned as a whole, or another frame's */
    int frame = body ? -1 : frame_find(r, &s, up, rotations, places);
    if (frame >= 0) {
        bvh_pose(r, frame, rotations, places);
    } else {
        double whole[4] = {0, 0, 0, 1};
        if (body) rotation_between(known ? axis : zero_up, up, whole);
        for (size_t j = 0; j < count; j++) {
            memcpy(rotations[j], whole, sizeof whole);
            rotation_apply(whole, r->joints[j].place, places[j]);
        }
    }

    if (!body && frame < 0 && up[1] > 0) return CUTIS_OK; /* nothing to be done: an animal */

    /* say what was done */
    if (up[1] <= 0) warning_add(warnings, "%s: its vertical axis %s becomes y", r->name, axis_name(up));
    if (frame >= 0)
        warning_add(warnings, "%s: its zero pose does not stand; frame %d, the most upright one, replaces it", r->name,
                    frame);
    return frames_turn(r, world, rotations, places);
}
