/*
 * zoo_arm.c: a left arm stretched out to the side (+X), biceps up, thumb up, closed to a fist.
 */
#include "zoo/zoo_kit.h"

enum { REGION_ARM, REGION_FIST };

static const vec3 axis_x = {1, 0, 0}, axis_y = {0, 1, 0}, axis_z = {0, 0, 1};
static const vec3 elbow = {0.300f, -0.006f, 0}, wrist = {0.555f, 0, 0};

static void arm_cage(zoo_kit *kit)
{
    /* x of the section, height of its centre, half height, half depth */
    static const float rings[][4] = {
        {0.020f, 0, 0.060f, 0.058f}, {0.100f, 0, 0.055f, 0.052f}, {0.190f, 0, 0.052f, 0.048f},
        {0.260f, 0, 0.044f, 0.044f}, {0.300f, 0, 0.042f, 0.042f}, {0.345f, 0, 0.044f, 0.044f},
        {0.420f, 0, 0.042f, 0.042f}, {0.500f, 0, 0.032f, 0.030f}, {0.550f, 0, 0.028f, 0.024f},
    };
    static const float fist[][4] = {
        {0.582f, 0.004f, 0.036f, 0.026f},
        {0.618f, 0.002f, 0.044f, 0.034f},
        {0.648f, 0, 0.038f, 0.028f},
    };

    /* a closed end at the shoulder */
    zoo_patch patch = zoo_patch_start(
        kit, 3, 3, (zoo_section){{-0.050f, 0, 0}, vec3_scale(axis_y, 0.042f), vec3_scale(axis_z, 0.042f), 0});
    zoo_patch end = zoo_patch_reverse(&patch);
    zoo_patch_close(kit, &end, REGION_ARM, 0);

    /* rings along the arm, then the fist */
    for (int i = 0; i < COUNT_OF(rings); i++)
        patch = zoo_patch_extrude(
            kit, &patch,
            (zoo_section){
                {rings[i][0], rings[i][1], 0}, vec3_scale(axis_y, rings[i][2]), vec3_scale(axis_z, rings[i][3]), 0},
            REGION_ARM, 0);
    for (int i = 0; i < COUNT_OF(fist); i++)
        patch = zoo_patch_extrude(
            kit, &patch,
            (zoo_section){
                {fist[i][0], fist[i][1], 0.004f}, vec3_scale(axis_y, fist[i][2]), vec3_scale(axis_z, fist[i][3]), 0},
            REGION_FIST, 0);

    zoo_patch_close(kit, &patch, REGION_FIST, 0);
    kit->density[REGION_FIST] = 1.6f;
}

static void arm_field(zoo_kit *kit)
{
    int arm = zoo_field_node(kit, -1, 0), fist = zoo_field_node(kit, arm, 0.020f);

    /* Shoulder and upper arm: bone, deltoid, biceps above, triceps below. */
    zoo_field_cone(kit, arm, vec3_make(-0.005f, 0, 0), 0.045f, vec3_make(0.30f, -0.002f, 0), 0.031f, 0.01f);
    zoo_field_ellipsoid(kit, arm, vec3_make(0.012f, 0.006f, 0), vec3_make(0.090f, 0.060f, 0.059f), 0.030f);
    zoo_field_ellipsoid(kit, arm, vec3_make(0.172f, 0.022f, 0.004f), vec3_make(0.078f, 0.0335f, 0.0315f), 0.020f);
    zoo_field_ellipsoid(kit, arm, vec3_make(0.138f, -0.021f, -0.004f), vec3_make(0.108f, 0.0320f, 0.0345f), 0.022f);

    /* Elbow: the olecranon, and the crook's inner side. */
    zoo_field_cone(kit, arm, vec3_make(0.288f, -0.021f, -0.002f), 0.0135f, vec3_make(0.312f, -0.020f, -0.002f), 0.0130f,
                   0.020f);

    /* Forearm: bone, flat at the wrist, the muscle of the thumb side, flexors in front. */
    zoo_field_flat_cone(kit, arm, vec3_make(0.300f, 0, 0), 0.031f, wrist, 0.0195f, axis_y, 1.20f, 0.02f);
    zoo_field_ellipsoid(kit, arm, vec3_make(0.356f, 0.013f, -0.008f), vec3_make(0.080f, 0.0325f, 0.0290f), 0.022f);
    zoo_field_ellipsoid(kit, arm, vec3_make(0.378f, -0.008f, 0.009f), vec3_make(0.090f, 0.0305f, 0.0300f), 0.022f);
    zoo_field_cone(kit, arm, vec3_make(0.545f, -0.012f, -0.013f), 0.009f, vec3_make(0.545f, -0.012f, -0.013f), 0.009f,
                   0.02f); /* head of the ulna */

    /* Fist: back of the hand, the four fingers rolled up one above the other, the thumb across them. */
    zoo_field_flat_cone(kit, fist, vec3_make(0.560f, 0, 0), 0.020f, vec3_make(0.628f, 0, -0.004f), 0.021f, axis_y,
                        1.75f, 0.01f);
    zoo_field_ellipsoid(kit, fist, vec3_make(0.600f, -0.012f, 0.014f), vec3_make(0.030f, 0.024f, 0.020f), 0.02f);
    static const float rows[4] = {0.0315f, 0.0110f, -0.0095f, -0.0290f}, reach[4] = {0.648f, 0.652f, 0.649f, 0.641f};
    for (int i = 0; i < 4; i++) {
        float y = rows[i], x = reach[i], thick = i == 3 ? 0.0105f : 0.0118f;
        int finger = zoo_field_node(kit, fist, 0.008f);
        zoo_field_cone(kit, finger, vec3_make(x - 0.018f, y, -0.010f), thick * 1.05f, vec3_make(x - 0.002f, y, 0.012f),
                       thick, 0.004f);
        zoo_field_cone(kit, finger, vec3_make(x - 0.002f, y, 0.012f), thick, vec3_make(x - 0.026f, y, 0.027f),
                       thick * 0.96f, 0.004f);
        zoo_field_cone(kit, finger, vec3_make(x - 0.026f, y, 0.027f), thick * 0.96f, vec3_make(x - 0.040f, y, 0.016f),
                       thick * 0.9f, 0.004f);
    }

    /* The thumb lies close: a deep overhang could not be followed by the cage. */
    int thumb = zoo_field_node(kit, fist, 0.010f);
    zoo_field_cone(kit, thumb, vec3_make(0.582f, 0.018f, 0.006f), 0.018f, vec3_make(0.606f, 0.031f, 0.020f), 0.0145f,
                   0.01f);
    zoo_field_cone(kit, thumb, vec3_make(0.606f, 0.031f, 0.020f), 0.0140f, vec3_make(0.630f, 0.021f, 0.031f), 0.0125f,
                   0.006f);
    zoo_field_cone(kit, thumb, vec3_make(0.630f, 0.021f, 0.031f), 0.0125f, vec3_make(0.640f, 0.006f, 0.031f), 0.0105f,
                   0.006f);
}

static void pose_flex(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double bend = zoo_ramp(time, 0.1, 1.2) - zoo_ramp(time, 1.5, 2.5);
    zoo_pose_turn(kit, pose, "forearm", axis_z, 140 * bend);
}

static void pose_twist(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double turn = zoo_ramp(time, 0.1, 1.2) - zoo_ramp(time, 1.5, 2.5);
    zoo_pose_turn(kit, pose, "forearm", axis_x, 180 * turn);
}

/* A brisk shake that fades in and out, and then a second of stillness. */
static void pose_shake(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double strength = zoo_ramp(time, 0, 0.4) * (1 - zoo_ramp(time, 1.6, 1.9));
    zoo_pose_turn(kit, pose, "upper_arm", axis_z, 14 * strength * zoo_sin(3 * time));
    zoo_pose_turn(kit, pose, "upper_arm", axis_y, 9 * strength * zoo_sin(3 * time + 0.25));
    zoo_pose_turn(kit, pose, "forearm", axis_z, strength * (25 + 20 * zoo_sin(3 * time - 0.15)));
    zoo_pose_turn(kit, pose, "hand", axis_z, 18 * strength * zoo_sin(3 * time - 0.3));
}

void zoo_describe_arm(zoo_kit *kit)
{
    kit->target_count = 2900;
    arm_cage(kit);
    arm_field(kit);
    zoo_joint_add(kit, "shoulder", NULL, vec3_make(-0.050f, 0, 0), axis_x, 0, ZOO_ALL_REGIONS);
    zoo_joint_add(kit, "upper_arm", "shoulder", vec3_make(0, 0, 0), axis_x, 0.045f, ZOO_ALL_REGIONS);
    zoo_joint_add(kit, "forearm", "upper_arm", elbow, axis_x, 0.050f, ZOO_ALL_REGIONS);
    zoo_joint_add(kit, "hand", "forearm", wrist, axis_x, 0.028f, ZOO_ALL_REGIONS);
    zoo_motion_add(kit, "flex", 2.6, 53, false, pose_flex);
    zoo_motion_add(kit, "twist", 2.6, 53, false, pose_twist);
    zoo_motion_add(kit, "shake", 3.2, 97, false, pose_shake);
}
