/*
 * zoo_man.c: a broad man with a belly, 1.79 m tall, in an A pose.
 */
#include "zoo/zoo_biped.h"

static const biped man = {
    .hips = {0, 0.94f, 0},
    .spine = {0, 1.06f, -0.01f},
    .chest = {0, 1.22f, -0.02f},
    .neck = {0, 1.475f, -0.02f},
    .head = {0, 1.565f, 0.005f},
    .crown = {0, 1.78f, 0},
    .clavicle = {0.045f, 1.435f, 0},
    .shoulder = {0.205f, 1.405f, -0.015f},
    .elbow = {0.405f, 1.195f, -0.025f},
    .wrist = {0.580f, 1.010f, 0.010f},
    .hip = {0.100f, 0.905f, 0},
    .knee = {0.138f, 0.495f, 0.012f},
    .ankle = {0.160f, 0.088f, -0.020f},
    .ball = {0.182f, 0.030f, 0.105f},
    .toe = {0.192f, 0.022f, 0.180f},
    .torso = {{0.850f, 0.170f, 0.105f, -0.005f, 0},
              {0.950f, 0.190f, 0.150f, 0.005f, 0},
              {1.080f, 0.190f, 0.160f, 0.025f, 0},
              {1.200f, 0.190f, 0.140f, 0.010f, 0},
              {1.300f, 0.190f, 0.120f, -0.005f, 0},
              {1.385f, 0.190f, 0.105f, -0.015f, 0},
              {1.455f, 0.150f, 0.080f, -0.018f, 0.02f}},
    .skull = {{1.505f, 0.062f, 0.064f, -0.008f, 0.03f},
              {1.560f, 0.064f, 0.075f, 0.015f, 0.07f},
              {1.610f, 0.070f, 0.088f, 0.018f, 0.05f},
              {1.660f, 0.076f, 0.096f, 0.012f, 0},
              {1.715f, 0.074f, 0.092f, 0.004f, 0},
              {1.755f, 0.052f, 0.066f, 0, 0}},
    .arm = {0.060f, 0.052f, 0.042f, 0.032f},
    .leg = {0.092f, 0.082f, 0.056f, 0.042f},
    .foot_width = 0.044f,
    .foot_height = 0.075f,
    .hand_scale = 1.02f,
    .style = {.stride = 0.62, .bounce = 0.022, .sway = 0.028, .arm_swing = 22, .arms_down = 27, .hip_turn = 7},
};

static vec3 v(float x, float y, float z) { return vec3_make(x, y, z); }

static void torso_field(zoo_kit *kit, int body)
{
    vec3 x = {1, 0, 0};

    /* Pelvis, back, chest. */
    zoo_field_flat_cone(kit, body, v(0, 0.930f, -0.005f), 0.112f, v(0, 1.10f, -0.005f), 0.118f, x, 1.50f, 0.03f);
    zoo_field_flat_cone(kit, body, v(0, 1.10f, -0.005f), 0.118f, v(0, 1.31f, -0.012f), 0.118f, x, 1.52f, 0.05f);
    zoo_field_flat_cone(kit, body, v(0, 1.31f, -0.012f), 0.112f, v(0, 1.40f, -0.022f), 0.080f, x, 1.75f, 0.04f);

    /* The belly, hanging a little over the belt. */
    zoo_field_ellipsoid(kit, body, v(0, 1.055f, 0.062f), v(0.158f, 0.140f, 0.128f), 0.08f);
    zoo_field_ellipsoid(kit, body, v(0, 1.000f, 0.070f), v(0.120f, 0.085f, 0.095f), 0.06f);

    /* both sides */
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;
        zoo_field_ellipsoid(kit, body, v(s * 0.078f, 0.900f, -0.062f), v(0.086f, 0.092f, 0.078f), 0.05f); /* seat */
        zoo_field_ellipsoid(kit, body, v(s * 0.150f, 1.035f, 0.000f), v(0.045f, 0.060f, 0.080f),
                            0.06f); /* love handle */
        zoo_field_ellipsoid(kit, body, v(s * 0.085f, 1.298f, 0.078f), v(0.088f, 0.060f, 0.046f), 0.05f); /* chest */
        zoo_field_ellipsoid(kit, body, v(s * 0.095f, 1.330f, -0.085f), v(0.075f, 0.090f, 0.040f),
                            0.06f); /* shoulder blade */
        zoo_field_cone(kit, body, v(s * 0.030f, 1.475f, -0.030f), 0.048f, v(s * 0.165f, 1.415f, -0.022f), 0.050f,
                       0.06f);
    }
}

static void head_field(zoo_kit *kit, int body)
{
    int neck = zoo_field_node(kit, body, 0.05f);
    zoo_field_cone(kit, neck, v(0, 1.430f, -0.025f), 0.070f, v(0, 1.560f, -0.006f), 0.062f, 0.01f);
    zoo_head_field(kit, neck, v(0, 1.655f, 0.004f), 1.03f, &(zoo_head){1.06f, 1.10f, 1.15f, 1.0f});
}

static const biped_arm_flesh arm_flesh = {.blend = 0.050f,
                                          .shoulder = 0.062f,
                                          .elbow = 0.040f,
                                          .forearm_elbow = 0.038f,
                                          .wrist = 0.024f,
                                          .deltoid = {0.030f, 0.010f, {0.085f, 0.060f, 0.062f}, 0.04f},
                                          .biceps = {0.58f, 0.018f, {0.085f, 0.036f, 0.036f}, 0.03f},
                                          .triceps = {0.52f, -0.018f, {0.100f, 0.038f, 0.036f}, 0.03f},
                                          .forearm = {0.27f, 0.006f, {0.090f, 0.038f, 0.043f}, 0.03f}};

static void leg_field(zoo_kit *kit, int legs, float s)
{
    vec3 knee = biped_mirror(man.knee, s), ankle = biped_mirror(man.ankle, s);
    vec3 ball = biped_mirror(man.ball, s), toe = biped_mirror(man.toe, s), x = {1, 0, 0};

    /* the leg as a whole */
    int leg = zoo_field_node(kit, legs, 0.012f);
    const vec3 line[] = {
        v(s * 0.098f, 0.905f, -0.004f), v(s * 0.115f, 0.720f, 0.002f),  v(s * 0.132f, 0.570f, 0.006f),  knee,
        v(s * 0.141f, 0.430f, 0.004f),  v(s * 0.147f, 0.330f, -0.004f), v(s * 0.156f, 0.190f, -0.014f), ankle};
    static const float girth[] = {0.100f, 0.089f, 0.066f, 0.0550f, 0.0560f, 0.0580f, 0.0415f, 0.0360f};
    zoo_field_tube(kit, leg, line, girth, COUNT_OF(line), x, 1, 0.035f);

    /* muscles and ankles */
    zoo_field_ellipsoid(kit, leg, v(s * 0.122f, 0.680f, 0.030f), v(0.062f, 0.140f, 0.060f), 0.05f);  /* quadriceps */
    zoo_field_ellipsoid(kit, leg, v(s * 0.116f, 0.690f, -0.034f), v(0.060f, 0.140f, 0.054f), 0.05f); /* hamstrings */
    zoo_field_ellipsoid(kit, leg, v(s * 0.138f, 0.502f, 0.044f), v(0.030f, 0.036f, 0.024f), 0.03f);  /* kneecap */
    zoo_field_ellipsoid(kit, leg, v(s * 0.143f, 0.362f, -0.030f), v(0.052f, 0.105f, 0.044f), 0.04f); /* calf */
    zoo_field_cone(kit, leg, v(s * 0.186f, 0.085f, -0.024f), 0.014f, v(s * 0.186f, 0.085f, -0.024f), 0.014f, 0.03f);
    zoo_field_cone(kit, leg, v(s * 0.136f, 0.095f, -0.016f), 0.014f, v(s * 0.136f, 0.095f, -0.016f), 0.014f, 0.03f);

    /* Foot: heel, instep, ball, toes. */
    zoo_field_ellipsoid(kit, leg, v(s * 0.160f, 0.036f, -0.050f), v(0.034f, 0.036f, 0.038f), 0.03f);
    zoo_field_flat_cone(kit, leg, v(s * 0.162f, 0.060f, -0.010f), 0.038f, ball, 0.027f, x, 1.25f, 0.03f);
    zoo_field_flat_cone(kit, leg, v(s * 0.180f, 0.026f, 0.080f), 0.025f, vec3_madd(toe, v(0, 0, 1), -0.025f), 0.019f, x,
                        1.90f, 0.03f);
    zoo_field_ellipsoid(kit, leg, v(s * 0.166f, 0.021f, 0.155f), v(0.019f, 0.019f, 0.030f), 0.014f); /* big toe */
}

void zoo_describe_man(zoo_kit *kit)
{
    kit->target_count = 8600;
    kit->density[BIPED_HEAD] = 1.5f;
    for (int i = 0; i < 2 * ZOO_HAND_REGIONS; i++) kit->density[BIPED_HAND_L + i] = 1.6f;
    kit->density[BIPED_FOOT_L] = kit->density[BIPED_FOOT_R] = 1.2f;
    biped_cage(kit, &man);
    int body = zoo_field_node(kit, -1, 0);
    torso_field(kit, body);
    head_field(kit, body);
    int legs = zoo_field_node(kit, body, 0.050f);
    for (int k = 0; k < 2; k++) {
        biped_arm_field(kit, body, &man, &arm_flesh, k == 0 ? 1 : -1);
        leg_field(kit, legs, k == 0 ? 1 : -1);
    }
    biped_joints(kit, &man);
    biped_motions(kit, &man);
}
