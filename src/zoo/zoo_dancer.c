/*
 * zoo_dancer.c: a slim dancer, 1.68 m tall, long-legged, hair in a bun, in an A pose.
 */
#include "zoo/zoo_biped.h"

static const biped dancer = {
    .hips = {0, 0.945f, 0},
    .spine = {0, 1.045f, -0.008f},
    .chest = {0, 1.165f, -0.018f},
    .neck = {0, 1.390f, -0.022f},
    .head = {0, 1.474f, -0.002f},
    .crown = {0, 1.69f, 0},
    .clavicle = {0.030f, 1.370f, 0},
    .shoulder = {0.150f, 1.352f, -0.020f},
    .elbow = {0.325f, 1.155f, -0.032f},
    .wrist = {0.478f, 0.978f, 0.000f},
    .hip = {0.082f, 0.920f, 0},
    .knee = {0.098f, 0.500f, 0.012f},
    .ankle = {0.104f, 0.078f, -0.022f},
    .ball = {0.118f, 0.026f, 0.088f},
    .toe = {0.124f, 0.018f, 0.150f},
    .torso = {{0.865f, 0.140f, 0.085f, -0.005f, 0},
              {0.945f, 0.158f, 0.105f, -0.008f, 0},
              {1.060f, 0.112f, 0.082f, 0.000f, 0},
              {1.160f, 0.122f, 0.090f, -0.005f, 0},
              {1.255f, 0.135f, 0.095f, -0.008f, 0},
              {1.335f, 0.138f, 0.082f, -0.018f, 0},
              {1.388f, 0.105f, 0.058f, -0.022f, 0.015f}},
    .skull = {{1.418f, 0.044f, 0.045f, -0.015f, 0.02f},
              {1.466f, 0.046f, 0.058f, 0.006f, 0.06f},
              {1.512f, 0.058f, 0.078f, 0.012f, 0.05f},
              {1.566f, 0.068f, 0.088f, 0.006f, 0},
              {1.624f, 0.065f, 0.085f, -0.004f, 0},
              {1.664f, 0.046f, 0.060f, -0.008f, 0}},
    .knob = {0, 1.612f, -0.111f},
    .knob_radius = 0.036f,
    .knob_on_head = true,
    .arm = {0.042f, 0.036f, 0.030f, 0.024f},
    .leg = {0.074f, 0.064f, 0.046f, 0.032f},
    .foot_width = 0.035f,
    .foot_height = 0.062f,
    .hand_scale = 0.86f,
    .style = {.stride = 0.66, .bounce = 0.018, .sway = 0.022, .arm_swing = 24, .arms_down = 25, .hip_turn = 9},
};

static vec3 v(float x, float y, float z) { return vec3_make(x, y, z); }

static void torso_field(zoo_kit *kit, int body)
{
    vec3 x = {1, 0, 0};

    /* pelvis, waist, ribs */
    zoo_field_flat_cone(kit, body, v(0, 0.930f, -0.010f), 0.088f, v(0, 1.060f, 0.000f), 0.072f, x, 1.48f, 0.03f);
    zoo_field_flat_cone(kit, body, v(0, 1.060f, 0.000f), 0.071f, v(0, 1.235f, -0.010f), 0.086f, x, 1.40f, 0.06f);
    zoo_field_flat_cone(kit, body, v(0, 1.235f, -0.010f), 0.084f, v(0, 1.335f, -0.026f), 0.056f, x, 1.75f, 0.05f);
    zoo_field_ellipsoid(kit, body, v(0, 0.985f, 0.030f), v(0.085f, 0.085f, 0.058f), 0.06f); /* abdomen */
    zoo_field_ellipsoid(kit, body, v(0, 1.190f, 0.028f), v(0.085f, 0.090f, 0.050f), 0.06f); /* ribs */

    /* both sides */
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;
        zoo_field_ellipsoid(kit, body, v(s * 0.062f, 0.905f, -0.052f), v(0.068f, 0.076f, 0.060f), 0.045f); /* seat */
        zoo_field_ellipsoid(kit, body, v(s * 0.086f, 0.920f, -0.004f), v(0.054f, 0.090f, 0.070f), 0.06f);  /* hip */
        zoo_field_ellipsoid(kit, body, v(s * 0.056f, 1.236f, 0.062f), v(0.050f, 0.048f, 0.036f), 0.035f);  /* breast */
        zoo_field_ellipsoid(kit, body, v(s * 0.068f, 1.280f, -0.070f), v(0.052f, 0.075f, 0.026f),
                            0.05f); /* shoulder blade */
        zoo_field_cone(kit, body, v(s * 0.020f, 1.400f, -0.030f), 0.030f, v(s * 0.128f, 1.358f, -0.024f), 0.032f,
                       0.05f);
        zoo_field_cone(kit, body, v(s * 0.020f, 1.352f, 0.026f), 0.008f, v(s * 0.120f, 1.366f, -0.006f), 0.009f,
                       0.022f); /* collar bone */
    }
}

static void head_field(zoo_kit *kit, int body)
{
    int neck = zoo_field_node(kit, body, 0.045f);
    zoo_field_cone(kit, neck, v(0, 1.350f, -0.028f), 0.049f, v(0, 1.490f, -0.008f), 0.045f, 0.01f);
    int head = zoo_head_field(kit, neck, v(0, 1.560f, 0.000f), 0.94f, &(zoo_head){0.96f, 0.86f, 0.85f, 0});
    zoo_field_ellipsoid(kit, head, dancer.knob, v(0.036f, 0.036f, 0.034f), 0.010f); /* bun */
}

static const biped_arm_flesh arm_flesh = {.blend = 0.042f,
                                          .shoulder = 0.044f,
                                          .elbow = 0.029f,
                                          .forearm_elbow = 0.028f,
                                          .wrist = 0.0185f,
                                          .deltoid = {0.024f, 0.006f, {0.070f, 0.039f, 0.042f}, 0.03f},
                                          .biceps = {0.60f, 0.010f, {0.075f, 0.026f, 0.025f}, 0.03f},
                                          .triceps = {0.50f, -0.010f, {0.085f, 0.027f, 0.027f}, 0.03f},
                                          .forearm = {0.28f, 0.004f, {0.080f, 0.028f, 0.032f}, 0.03f}};

static void leg_field(zoo_kit *kit, int legs, float s)
{
    vec3 knee = biped_mirror(dancer.knee, s), ankle = biped_mirror(dancer.ankle, s),
         ball = biped_mirror(dancer.ball, s), toe = biped_mirror(dancer.toe, s), x = {1, 0, 0};

    /* the leg as a whole */
    int leg = zoo_field_node(kit, legs, 0.010f);
    const vec3 line[] = {
        v(s * 0.082f, 0.905f, -0.006f), v(s * 0.090f, 0.730f, 0.000f),  v(s * 0.096f, 0.580f, 0.006f),  knee,
        v(s * 0.099f, 0.435f, 0.006f),  v(s * 0.101f, 0.330f, -0.004f), v(s * 0.103f, 0.180f, -0.014f), ankle};
    static const float girth[] = {0.075f, 0.068f, 0.051f, 0.0420f, 0.0425f, 0.0450f, 0.0305f, 0.0260f};
    zoo_field_tube(kit, leg, line, girth, COUNT_OF(line), x, 1, 0.035f);

    /* muscles */
    zoo_field_ellipsoid(kit, leg, v(s * 0.093f, 0.690f, 0.020f), v(0.050f, 0.150f, 0.050f), 0.04f);   /* quadriceps */
    zoo_field_ellipsoid(kit, leg, v(s * 0.090f, 0.690f, -0.026f), v(0.048f, 0.145f, 0.044f), 0.04f);  /* hamstrings */
    zoo_field_ellipsoid(kit, leg, v(s * 0.098f, 0.504f, 0.036f), v(0.022f, 0.030f, 0.018f), 0.025f);  /* kneecap */
    zoo_field_ellipsoid(kit, leg, v(s * 0.101f, 0.365f, -0.024f), v(0.041f, 0.105f, 0.036f), 0.035f); /* calf */

    /* ankles and foot */
    zoo_field_cone(kit, leg, v(s * 0.122f, 0.074f, -0.024f), 0.011f, v(s * 0.122f, 0.074f, -0.024f), 0.011f, 0.022f);
    zoo_field_cone(kit, leg, v(s * 0.086f, 0.082f, -0.018f), 0.011f, v(s * 0.086f, 0.082f, -0.018f), 0.011f, 0.022f);
    zoo_field_ellipsoid(kit, leg, v(s * 0.104f, 0.030f, -0.044f), v(0.026f, 0.030f, 0.030f), 0.025f); /* heel */
    zoo_field_flat_cone(kit, leg, v(s * 0.105f, 0.052f, -0.014f), 0.030f, ball, 0.023f, x, 1.22f, 0.025f);
    zoo_field_flat_cone(kit, leg, v(s * 0.116f, 0.022f, 0.066f), 0.021f, vec3_madd(toe, v(0, 0, 1), -0.022f), 0.015f, x,
                        1.85f, 0.025f);
    zoo_field_ellipsoid(kit, leg, v(s * 0.105f, 0.017f, 0.130f), v(0.014f, 0.015f, 0.024f), 0.012f); /* big toe */
}

void zoo_describe_dancer(zoo_kit *kit)
{
    kit->target_count = 13200;
    kit->density[BIPED_HEAD] = 1.45f;
    for (int i = 0; i < 2 * ZOO_HAND_REGIONS; i++) kit->density[BIPED_HAND_L + i] = 1.5f;
    kit->density[BIPED_FOOT_L] = kit->density[BIPED_FOOT_R] = 1.2f;
    biped_cage(kit, &dancer);
    int body = zoo_field_node(kit, -1, 0);
    torso_field(kit, body);
    head_field(kit, body);
    int legs = zoo_field_node(kit, body, 0.045f);
    for (int k = 0; k < 2; k++) {
        biped_arm_field(kit, body, &dancer, &arm_flesh, k == 0 ? 1 : -1);
        leg_field(kit, legs, k == 0 ? 1 : -1);
    }
    biped_joints(kit, &dancer);
    biped_motions(kit, &dancer);
}
