/*
 * zoo_gait.c: motions of two-legged characters.
 *
 * Legs are placed by the foot (zoo_pose_reach), so that feet stay where the motion puts them.
 */
#include <string.h>

#include "zoo/zoo_biped.h"

static const vec3 axis_x = {1, 0, 0}, axis_y = {0, 1, 0}, axis_z = {0, 0, 1};
static const double degrees = 57.29577951308232;

static const char *side_name(char *text, const char *name, float side)
{
    strcpy(text, name);
    return strcat(text, side > 0 ? "_l" : "_r");
}

void biped_leg(const zoo_kit *kit, float side, vec3 target, double pitch, zoo_pose *pose)
{
    char thigh[24], shin[24], foot[24], toe[24];
    zoo_pose_reach(kit, pose, side_name(thigh, "thigh", side), side_name(shin, "shin", side),
                   side_name(foot, "foot", side), target, vec3_make(0.12f * side, 0, 1),
                   quat_axis_angle(axis_x, pitch / degrees));

    /* The toes stay level when the heel rises. */
    zoo_pose_turn(kit, pose, side_name(toe, "toe", side), axis_x, -0.9 * MAX(pitch, 0));
}

void biped_arm(const zoo_kit *kit, const biped *b, float side, double down, double swing, double bend, zoo_pose *pose)
{
    char text[24];
    zoo_frame f = biped_hand_frame(b, side);
    zoo_pose_turn(kit, pose, side_name(text, "upper_arm", side), axis_z, -side * down);
    zoo_pose_turn(kit, pose, text, axis_x, -swing);

    /* The elbow closes towards the front, about the line across forearm and front. */
    vec3 hinge = vec3_cross(f.a, vec3_scale(f.b, -1));
    zoo_pose_turn(kit, pose, side_name(text, "forearm", side), hinge, bend);
}

/* Relaxed fingers. */
static void fingers_curl(const zoo_kit *kit, const biped *b, float side, double amount, zoo_pose *pose)
{
    if (b->hand_scale <= 0) return;
    zoo_frame f = biped_hand_frame(b, side);
    for (int i = 1; i < 5; i++)
        zoo_hand_pose(kit, pose, &f, side > 0 ? "_l" : "_r", i, amount * (14 + 3 * i), amount * 22, amount * 14, 0);
}

/*
 * One foot over a cycle: on the ground for 60 % of it, carried backwards at constant speed as on a treadmill,
 * then swung forwards. Writes the ankle and its pitch.
 */
static void foot_path(const biped *b, double phase, double step, float side, vec3 *target, double *pitch)
{
    /* Heel strike, flat, the heel rises over the ball of the foot, the toes lift for the next strike. */
    static const double pitches[12] = {-14, -2, 0, 0, 1, 6, 16, 32, 30, 12, -6, -14};
    static const double stance = 0.60;
    double t = CLAMP((phase - floor(phase) - stance) / (1 - stance), 0, 1), swing = zoo_sin(0.5 * t);
    double z = step * zoo_stride(phase, stance);
    double y = 0.08 * vec3_distance(b->hip, b->ankle) * swing * swing * (1 - 0.3 * t);
    *pitch = zoo_cycle(pitches, 12, phase);

    /* A pitched foot turns about its ball or its heel, so its ankle goes up with it. */
    double up = *pitch > 0 ? *pitch : -0.35 * *pitch;
    double ball = b->ball.z - b->ankle.z;
    y += ball * det_sin(up / degrees) * 0.9;
    if (*pitch > 0) z += ball * (1 - det_cos(up / degrees));
    *target = vec3_make(side * b->ankle.x * 0.72f, (float)(b->ankle.y + y), (float)(b->ankle.z + z));
}

static const double walk_seconds = 1.1; /* two steps */

static void pose_walk(const zoo_kit *kit, double time, zoo_pose *pose)
{
    const biped *b = kit->biped;
    const biped_style *style = &b->style;
    double phase = time / walk_seconds;
    double leg = vec3_distance(b->hip, b->knee) + vec3_distance(b->knee, b->ankle), step = style->stride * leg;
    double left = zoo_cos(phase), twice = zoo_cos(2 * phase - 0.1);

    /* Hips: lowest at the heel strikes, over the standing foot, turning with the leg in front. */
    double drop = 0.030 * leg;
    zoo_pose_shift(kit, pose, "hips",
                   vec3_make((float)(style->sway * zoo_sin(phase - 0.05)), (float)(-drop - style->bounce * twice), 0));
    zoo_pose_turn(kit, pose, "hips", axis_y, -style->hip_turn * left);
    zoo_pose_turn(kit, pose, "hips", axis_z, 0.5 * style->hip_turn * zoo_sin(phase - 0.05));
    zoo_pose_turn(kit, pose, "hips", axis_x, 2.0);

    /* trunk and head */
    zoo_pose_turn(kit, pose, "spine", axis_y, 0.8 * style->hip_turn * left);
    zoo_pose_turn(kit, pose, "spine", axis_z, -0.5 * style->hip_turn * zoo_sin(phase - 0.05));
    zoo_pose_turn(kit, pose, "chest", axis_y, 0.9 * style->hip_turn * left);
    zoo_pose_turn(kit, pose, "chest", axis_x, 1.5 + 1.0 * twice);
    zoo_pose_turn(kit, pose, "neck", axis_y, -0.4 * style->hip_turn * left);
    zoo_pose_turn(kit, pose, "head", axis_x, -2.5 - 1.2 * twice);

    /* limbs */
    for (int k = 0; k < 2; k++) {
        float side = k == 0 ? 1 : -1;
        vec3 target;
        double pitch, swing = side * -zoo_cos(phase + 0.02);
        foot_path(b, phase + (k == 0 ? 0 : 0.5), step, side, &target, &pitch);
        biped_leg(kit, side, target, pitch, pose);
        biped_arm(kit, b, side, style->arms_down, style->arm_swing * swing + 2, 16 + 10 * MAX(swing, -0.6), pose);
        fingers_curl(kit, b, side, 1, pose);
    }
}

static void pose_jump(const zoo_kit *kit, double time, zoo_pose *pose)
{
    const biped *b = kit->biped;

    /* Crouch to 0.7 s, push to 0.85, in the air until 1.35, land and settle. */
    double leg = vec3_distance(b->hip, b->knee) + vec3_distance(b->knee, b->ankle);
    static const double off = 0.86, down = 1.36;

    /* phases */
    double crouch = zoo_ramp(time, 0.15, 0.62) - zoo_ramp(time, 0.64, 0.86);
    double land = zoo_ramp(time, down - 0.02, down + 0.20) - zoo_ramp(time, down + 0.26, down + 0.80);
    double air = CLAMP((time - off) / (down - off), 0, 1), flight = 4 * air * (1 - air);
    double height = 0.5 * 9.81 * 0.25 * (down - off) * (down - off) * flight;
    double rise = zoo_ramp(time, 0.70, 0.88) - zoo_ramp(time, down - 0.06, down + 0.06);
    double bend = 0.30 * crouch + 0.24 * land, tuck = 0.10 * zoo_smooth(flight);
    double hips_y = -0.012 * leg - bend * leg + height + 0.35 * rise * b->ball.z;

    /* trunk and head */
    zoo_pose_shift(kit, pose, "hips", vec3_make(0, (float)hips_y, (float)(-0.16 * bend * leg)));
    double lean = 70 * bend;
    zoo_pose_turn(kit, pose, "hips", axis_x, 0.75 * lean);
    zoo_pose_turn(kit, pose, "spine", axis_x, 0.45 * lean - 4 * rise);
    zoo_pose_turn(kit, pose, "chest", axis_x, 0.35 * lean - 5 * rise);
    zoo_pose_turn(kit, pose, "neck", axis_x, -0.45 * lean);
    zoo_pose_turn(kit, pose, "head", axis_x, -0.45 * lean);

    /* limbs */
    for (int k = 0; k < 2; k++) {
        float side = k == 0 ? 1 : -1;
        double pitch = 42 * rise * (1 - 0.3 * flight);
        double ball = b->ball.z - b->ankle.z;
        vec3 target = {side * b->ankle.x,
                       (float)(b->ankle.y + height + tuck * leg + ball * det_sin(pitch / degrees) * 0.9),
                       (float)(b->ankle.z + ball * (1 - det_cos(pitch / degrees)) - 0.3 * tuck * leg)};
        biped_leg(kit, side, target, pitch, pose);

        /* Arms back in the crouch, thrown up in the air, forward at landing. */
        double back = zoo_ramp(time, 0.15, 0.60) - zoo_ramp(time, 0.62, 0.84);
        double thrown = zoo_ramp(time, 0.66, 0.98) - zoo_ramp(time, 1.10, 1.55);
        double front = zoo_ramp(time, 1.25, 1.5) - zoo_ramp(time, 1.6, 2.2);
        biped_arm(kit, b, side, b->style.arms_down * (0.6 + 0.3 * (back + front)) - 25 * thrown,
                  -48 * back + 105 * thrown + 28 * front, 14 + 22 * back + 18 * thrown + 25 * front, pose);
        fingers_curl(kit, b, side, 0.8 - 0.6 * rise, pose);
    }
}

static void pose_shimmy(const zoo_kit *kit, double time, zoo_pose *pose)
{
    const biped *b = kit->biped;

    /* Shake from 0.3 to 2.1 s, stop at 2.2 s, hold still to the end (4 s). */
    double strength = zoo_ramp(time, 0.1, 0.7) * (1 - zoo_ramp(time, 2.0, 2.2));
    double ready = zoo_ramp(time, 0, 0.6);
    double beat = zoo_sin(2.6 * time), late = zoo_sin(2.6 * time - 0.18);
    double leg = vec3_distance(b->hip, b->knee) + vec3_distance(b->knee, b->ankle);

    /* hips */
    zoo_pose_shift(kit, pose, "hips",
                   vec3_make((float)(0.034 * strength * beat),
                             (float)(-0.035 * leg * ready + 0.006 * strength * late * beat),
                             (float)(0.012 * strength * zoo_cos(2.6 * time))));
    zoo_pose_turn(kit, pose, "hips", axis_y, 13 * strength * beat);
    zoo_pose_turn(kit, pose, "hips", axis_z, 5 * strength * late);

    /* trunk and head */
    zoo_pose_turn(kit, pose, "spine", axis_y, -9 * strength * beat);
    zoo_pose_turn(kit, pose, "spine", axis_z, -5 * strength * late);
    zoo_pose_turn(kit, pose, "chest", axis_y, -13 * strength * late);
    zoo_pose_turn(kit, pose, "neck", axis_y, 5 * strength * late);
    zoo_pose_turn(kit, pose, "head", axis_y, 4 * strength * beat);

    /* limbs */
    for (int k = 0; k < 2; k++) {
        float side = k == 0 ? 1 : -1;
        biped_leg(kit, side, biped_mirror(b->ankle, side), 0, pose);
        biped_arm(kit, b, side, (b->style.arms_down - 12) * ready - 6 * strength * side * late,
                  16 * ready + 5 * strength * beat, 62 * ready + 6 * strength * side * beat, pose);
        fingers_curl(kit, b, side, 0.9 * ready, pose);
    }
}

void biped_motions(zoo_kit *kit, const biped *b)
{
    kit->biped = b;
    zoo_motion_add(kit, "walk", walk_seconds, 34, true, pose_walk);
    zoo_motion_add(kit, "jump", 2.4, 73, false, pose_jump);
    zoo_motion_add(kit, "shimmy", 4.0, 121, false, pose_shimmy);
}
