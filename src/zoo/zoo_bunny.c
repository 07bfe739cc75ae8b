/*
 * zoo_bunny.c: a toy rabbit, 0.65 m tall without its ears: big head, long ears, thin arms, big belly, big feet.
 */
#include "zoo/zoo_biped.h"

static const biped bunny = {
    .hips = {0, 0.190f, 0},
    .spine = {0, 0.255f, 0},
    .chest = {0, 0.325f, 0},
    .neck = {0, 0.398f, 0},
    .head = {0, 0.425f, 0},
    .crown = {0, 0.655f, -0.010f},
    .clavicle = {0.030f, 0.370f, 0},
    .shoulder = {0.080f, 0.364f, 0},
    .elbow = {0.166f, 0.316f, -0.004f},
    .wrist = {0.244f, 0.272f, 0.008f},
    .hip = {0.064f, 0.150f, 0.005f},
    .knee = {0.076f, 0.094f, 0.014f},
    .ankle = {0.082f, 0.048f, 0.000f},
    .ball = {0.094f, 0.026f, 0.085f},
    .toe = {0.102f, 0.026f, 0.148f},
    .torso = {{0.128f, 0.122f, 0.090f, 0.000f, 0},
              {0.180f, 0.138f, 0.122f, 0.012f, 0},
              {0.240f, 0.136f, 0.126f, 0.014f, 0},
              {0.295f, 0.112f, 0.102f, 0.008f, 0},
              {0.332f, 0.092f, 0.080f, 0.004f, 0},
              {0.362f, 0.080f, 0.068f, 0.000f, 0},
              {0.388f, 0.064f, 0.056f, 0, 0}},
    .skull = {{0.408f, 0.062f, 0.060f, 0.002f, 0},
              {0.445f, 0.100f, 0.090f, 0.012f, 0},
              {0.505f, 0.130f, 0.112f, 0.010f, 0},
              {0.570f, 0.122f, 0.110f, 0.004f, 0},
              {0.620f, 0.095f, 0.088f, -0.002f, 0},
              {0.647f, 0.066f, 0.060f, -0.006f, 0}},
    .arm = {0.028f, 0.020f, 0.018f, 0.018f},
    .leg = {0.052f, 0.046f, 0.044f, 0.038f},
    .foot_width = 0.042f,
    .foot_height = 0.066f,
    .mitten = 0.062f,
    .ears = true,
    .knob = {0, 0.160f, -0.114f},
    .knob_radius = 0.040f,
    .short_legs = true,
};

static vec3 v(float x, float y, float z) { return vec3_make(x, y, z); }

static void bunny_field(zoo_kit *kit)
{
    int body = zoo_field_node(kit, -1, 0);

    /* trunk and tail */
    zoo_field_ellipsoid(kit, body, v(0, 0.225f, 0.004f), v(0.130f, 0.122f, 0.116f), 0.02f);
    zoo_field_ellipsoid(kit, body, v(0, 0.212f, 0.050f), v(0.102f, 0.094f, 0.092f), 0.06f); /* belly */
    zoo_field_cone(kit, body, v(0, 0.275f, 0.005f), 0.088f, v(0, 0.385f, 0), 0.054f, 0.06f);
    zoo_field_ellipsoid(kit, body, bunny.knob, v(0.040f, 0.040f, 0.038f), 0.012f); /* tail */

    /* A round head with full cheeks, a muzzle, a button nose and eyes that stand out. */
    int head = zoo_field_node(kit, body, 0.022f);
    zoo_field_ellipsoid(kit, head, v(0, 0.540f, 0), v(0.124f, 0.114f, 0.110f), 0.02f);
    zoo_field_ellipsoid(kit, head, v(0, 0.482f, 0.014f), v(0.112f, 0.070f, 0.094f), 0.05f);
    zoo_field_ellipsoid(kit, head, v(0, 0.484f, 0.086f), v(0.058f, 0.038f, 0.040f), 0.025f);
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;
        zoo_field_ellipsoid(kit, head, v(s * 0.072f, 0.486f, 0.048f), v(0.056f, 0.046f, 0.052f), 0.04f);  /* cheek */
        zoo_field_ellipsoid(kit, head, v(s * 0.024f, 0.482f, 0.104f), v(0.030f, 0.026f, 0.028f), 0.010f); /* muzzle */
        zoo_field_ellipsoid(kit, head, v(s * 0.049f, 0.556f, 0.092f), v(0.025f, 0.033f, 0.024f), 0.005f); /* eye */
    }
    zoo_field_ellipsoid(kit, head, v(0, 0.452f, 0.098f), v(0.022f, 0.018f, 0.020f), 0.012f); /* chin */
    zoo_field_ellipsoid(kit, head, v(0, 0.513f, 0.122f), v(0.020f, 0.015f, 0.016f), 0.005f); /* nose */

    /* ears, arms and legs */
    int ears = zoo_field_node(kit, head, 0.024f);
    int legs = zoo_field_node(kit, body, 0.022f);
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;

        /* Ear: a leaf on a short stem, hollowed in front. */
        int ear = zoo_field_node(kit, ears, 0.006f);
        vec3 root = v(s * 0.043f, 0.620f, -0.010f), tip = v(s * 0.118f, 0.925f, -0.030f);
        vec3 up = vec3_normalize(vec3_sub(tip, root)), across = vec3_normalize(vec3_cross(up, v(0, 0, s)));
        zoo_field_flat_cone(kit, ear, root, 0.018f, vec3_lerp(root, tip, 0.30f), 0.017f, across, 1.35f, 0.02f);
        zoo_field_blob(kit, ear, vec3_lerp(root, tip, 0.56f), vec3_scale(across, 0.044f), vec3_scale(up, 0.138f),
                       vec3_cross(vec3_scale(across, 0.021f), up), 0.02f);
        zoo_field_blob(kit, ear, vec3_add(vec3_lerp(root, tip, 0.58f), v(0, 0, 0.027f)), vec3_scale(across, 0.025f),
                       vec3_scale(up, 0.105f), vec3_cross(vec3_scale(across, 0.016f), up), 0.014f);
        zoo_field_carve(kit);

        /* Arm: thin, with a ball of a paw and a thumb's hint. */
        zoo_frame f = biped_hand_frame(&bunny, s);
        vec3 shoulder = biped_mirror(bunny.shoulder, s), elbow = biped_mirror(bunny.elbow, s),
             wrist = biped_mirror(bunny.wrist, s);
        int arm = zoo_field_node(kit, body, 0.022f);
        zoo_field_cone(kit, arm, shoulder, 0.026f, elbow, 0.0185f, 0.01f);
        zoo_field_cone(kit, arm, elbow, 0.0185f, wrist, 0.0185f, 0.012f);
        zoo_field_blob(kit, arm, zoo_frame_point(&f, 0.024f, 0, 0), vec3_scale(f.a, 0.036f), vec3_scale(f.b, 0.030f),
                       vec3_scale(f.c, 0.026f), 0.014f);
        zoo_field_blob(kit, arm, zoo_frame_point(&f, 0.020f, -0.024f, -0.004f), vec3_scale(f.a, 0.015f),
                       vec3_scale(f.b, 0.014f), vec3_scale(f.c, 0.012f), 0.012f);

        /* Leg: short and stout, on a long foot. */
        int leg = zoo_field_node(kit, legs, 0.006f);
        vec3 hip = biped_mirror(bunny.hip, s), knee = biped_mirror(bunny.knee, s), ankle = biped_mirror(bunny.ankle, s);
        zoo_field_cone(kit, leg, hip, 0.054f, knee, 0.046f, 0.01f);
        zoo_field_cone(kit, leg, knee, 0.046f, ankle, 0.038f, 0.02f);
        zoo_field_ellipsoid(kit, leg, v(s * 0.093f, 0.035f, 0.056f), v(0.043f, 0.035f, 0.095f), 0.03f);
    }
}

/* A dance in place of two beats a second: bounce, sway, kicks, waving arms and flapping ears. */
static void pose_dance(const zoo_kit *kit, double time, zoo_pose *pose)
{
    static const vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};

    /* how strongly, and where in the beat */
    double strength = zoo_ramp(time, 0, 0.5) * (1 - zoo_ramp(time, 4.4, 4.8));
    double beat = zoo_sin(time), side = zoo_sin(time), bounce = 0.5 - 0.5 * zoo_cos(2 * time);
    double hop = zoo_ramp(time, 2.0, 2.2) * (1 - zoo_ramp(time, 3.8, 4.0));
    double air = hop * MAX(0, zoo_sin(2 * time - 0.25));

    /* trunk */
    zoo_pose_shift(kit, pose, "hips",
                   vec3_make((float)(0.030 * strength * side), (float)(strength * (-0.018 * bounce) + 0.055 * air), 0));
    zoo_pose_turn(kit, pose, "hips", z, -7 * strength * side);
    zoo_pose_turn(kit, pose, "hips", y, 14 * strength * zoo_cos(time));
    zoo_pose_turn(kit, pose, "spine", z, 6 * strength * side);
    zoo_pose_turn(kit, pose, "spine", x, 6 * strength * zoo_cos(2 * time));
    zoo_pose_turn(kit, pose, "chest", z, 8 * strength * zoo_sin(time + 0.1));
    zoo_pose_turn(kit, pose, "chest", y, -10 * strength * zoo_cos(time));
    zoo_pose_turn(kit, pose, "neck", z, -9 * strength * zoo_sin(time + 0.15));
    zoo_pose_turn(kit, pose, "head", x, 7 * strength * zoo_cos(2 * time + 0.15));

    /* limbs */
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;
        vec3 foot = biped_mirror(bunny.ankle, s);

        /* feet kick in turn */
        double kick = strength * (1 - hop) * MAX(0, s * -beat);
        foot.y += (float)(0.035 * kick + 0.055 * air);
        foot.z += (float)(0.030 * kick);
        foot.x += (float)(0.010 * kick) * s;
        biped_leg(kit, s, foot, -14 * kick + 20 * air, pose);

        /* arms wave */
        double wave = zoo_sin(time + (k == 0 ? 0 : 0.5));
        biped_arm(kit, &bunny, s, strength * (-30 - 30 * wave), 26 * strength, strength * (38 + 26 * zoo_sin(2 * time)),
                  pose);

        /* ears follow late */
        const char *suffix = k == 0 ? "_l" : "_r";
        static const char *const ears[3] = {"ear_1", "ear_2", "ear_3"};
        for (int i = 0; i < 3; i++) {
            char name[16] = {0};
            for (int c = 0; ears[i][c]; c++) name[c] = ears[i][c];
            name[5] = suffix[0];
            name[6] = suffix[1];
            zoo_pose_turn(kit, pose, name, z, 7 * strength * zoo_sin(time - 0.12 * (i + 1)));
            zoo_pose_turn(kit, pose, name, x, 8 * strength * zoo_cos(2 * time - 0.12 * (i + 1)));
        }
    }
}

void zoo_describe_bunny(zoo_kit *kit)
{
    kit->target_count = 7000;
    kit->relax_count = 36;
    kit->density[BIPED_HEAD] = 1.3f;
    kit->density[BIPED_ARM_L] = kit->density[BIPED_ARM_R] = 1.1f;
    zoo_field_magnet(kit, v(0, 0.520f, 0.110f), 0.110f, 1.4f);
    biped_cage(kit, &bunny);
    bunny_field(kit);
    biped_joints(kit, &bunny);
    zoo_motion_add(kit, "dance", 6.0, 181, false, pose_dance);
}
