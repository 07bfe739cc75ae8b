/*
 * zoo_neck.c: a bust with head and throat. The larynx (Adam's apple) is a joint that moves under the skin.
 */
#include "zoo/zoo_kit.h"

enum { REGION_BUST, REGION_NECK, REGION_HEAD };

static const vec3 axis_x = {1, 0, 0}, axis_y = {0, 1, 0};
static const vec3 larynx = {0, 0.168f, 0.056f};

static vec3 v(float x, float y, float z) { return vec3_make(x, y, z); }

static void neck_cage(zoo_kit *kit)
{
    /* height, half width, half depth, centre's z, how much higher the back is, region */
    static const float rings[][6] = {
        {-0.065f, 0.180f, 0.092f, -0.012f, 0, REGION_BUST},    {0.000f, 0.195f, 0.092f, -0.020f, 0, REGION_BUST},
        {0.045f, 0.180f, 0.088f, -0.020f, 0, REGION_BUST},     {0.085f, 0.125f, 0.076f, -0.020f, 0.02f, REGION_BUST},
        {0.115f, 0.072f, 0.066f, -0.015f, 0.03f, REGION_NECK}, {0.150f, 0.057f, 0.060f, -0.008f, 0.03f, REGION_NECK},
        {0.195f, 0.055f, 0.060f, 0.000f, 0.04f, REGION_NECK},  {0.235f, 0.057f, 0.072f, 0.012f, 0.07f, REGION_NECK},
        {0.285f, 0.066f, 0.088f, 0.016f, 0.05f, REGION_HEAD},  {0.340f, 0.074f, 0.096f, 0.010f, 0, REGION_HEAD},
        {0.395f, 0.072f, 0.092f, 0.002f, 0, REGION_HEAD},      {0.438f, 0.050f, 0.064f, -0.002f, 0, REGION_HEAD},
    };

    /* a closed end below */
    zoo_patch patch =
        zoo_patch_start(kit, 4, 4, (zoo_section){{0, -0.092f, -0.012f}, {0.150f, 0, 0}, {0, 0, -0.075f}, 0.2f});
    zoo_patch end = zoo_patch_reverse(&patch);
    zoo_patch_close(kit, &end, REGION_BUST, 0);

    for (int i = 0; i < COUNT_OF(rings); i++) {
        const float *r = rings[i];
        zoo_section section = {{0, r[0], r[3]}, {r[1], 0, 0}, {0, 0.5f * r[4], -r[2]}, 0.1f};
        if (r[5] == REGION_HEAD) patch.bias = 0.25f; /* the face needs more columns than the back of the head */
        patch = zoo_patch_extrude(kit, &patch, section, (int)r[5], 0);
    }
    zoo_patch_close(kit, &patch, REGION_HEAD, 0);
    kit->density[REGION_NECK] = 1.4f;
    kit->density[REGION_HEAD] = 1.3f;
}

static void neck_field(zoo_kit *kit)
{
    int bust = zoo_field_node(kit, -1, 0);

    /* Chest, round shoulders, the slope of the neck muscle, collar bones. */
    zoo_field_flat_cone(kit, bust, v(0, 0.000f, -0.018f), 0.076f, v(0, -0.110f, -0.008f), 0.094f, v(1, 0, 0), 1.75f,
                        0.02f);
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;
        zoo_field_ellipsoid(kit, bust, v(s * 0.155f, -0.004f, -0.022f), v(0.054f, 0.064f, 0.058f), 0.05f);
        zoo_field_cone(kit, bust, v(s * 0.018f, 0.125f, -0.034f), 0.036f, v(s * 0.140f, 0.034f, -0.028f), 0.030f,
                       0.05f);
        zoo_field_cone(kit, bust, v(s * 0.016f, 0.062f, 0.035f), 0.008f, v(s * 0.125f, 0.058f, 0.002f), 0.008f, 0.022f);
    }

    /* A large ball cuts the bust off, all but flat. */
    zoo_field_ellipsoid(kit, bust, v(0, -2.090f, 0), v(2, 2, 2), 0.03f);
    zoo_field_carve(kit);

    /* neck */
    int neck = zoo_field_node(kit, bust, 0.035f);
    zoo_field_cone(kit, neck, v(0, 0.070f, -0.016f), 0.059f, v(0, 0.245f, -0.004f), 0.052f, 0.01f);
    zoo_field_ellipsoid(kit, neck, v(0, 0.166f, 0.0450f), v(0.013f, 0.017f, 0.0155f), 0.014f); /* Adam's apple */
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1; /* the muscle from behind the ear to the breastbone */
        zoo_field_cone(kit, neck, v(s * 0.044f, 0.262f, -0.020f), 0.013f, v(s * 0.014f, 0.080f, 0.040f), 0.010f,
                       0.022f);
    }

    /* head */
    zoo_head_field(kit, neck, v(0, 0.338f, 0.002f), 1, &(zoo_head){1, 1, 1, 0});
}

static void pose_look_up(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double up = zoo_ramp(time, 0.1, 1.1) - zoo_ramp(time, 1.8, 2.8);
    zoo_pose_turn(kit, pose, "neck", axis_x, -20 * up);
    zoo_pose_turn(kit, pose, "head", axis_x, -32 * up);
}

/* Twice: the larynx goes up by 22 mm, rests for a moment, and falls back. */
static void pose_swallow(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double beat = time < 1.5 ? time : time - 1.5;
    double up = zoo_ramp(beat, 0.20, 0.55) - zoo_ramp(beat, 0.75, 1.20);
    zoo_pose_shift(kit, pose, "larynx", vec3_make(0, (float)(0.022 * up), (float)(0.002 * up)));
    zoo_pose_turn(kit, pose, "head", axis_x, 2.0 * up);
}

void zoo_describe_neck(zoo_kit *kit)
{
    kit->target_count = 5600;
    kit->relax_count = 36;
    neck_cage(kit);
    neck_field(kit);
    zoo_joint_add(kit, "chest", NULL, v(0, -0.060f, -0.020f), axis_y, 0, ZOO_ALL_REGIONS);
    zoo_joint_add(kit, "neck", "chest", v(0, 0.100f, -0.024f), v(0, 1, 0.10f), 0.040f, ZOO_ALL_REGIONS);

    /* The weight plane of the head runs from under the chin up to the nape. */
    zoo_joint_add(kit, "head", "neck", v(0, 0.238f, -0.004f), v(0, 1, 0.35f), 0.045f, ZOO_ALL_REGIONS);

    /* the larynx slides below the skin */
    int apple = zoo_joint_add(kit, "larynx", "neck", larynx, axis_y, 0, 1u << REGION_NECK);
    kit->joints[apple].centre = larynx;
    kit->joints[apple].radius = 0.034f;
    kit->joints[apple].ball_regions = 1u << REGION_NECK;
    kit->weight_passes = 3;

    /* clips */
    zoo_motion_add(kit, "look_up", 3.0, 61, false, pose_look_up);
    zoo_motion_add(kit, "swallow", 3.0, 91, false, pose_swallow);
}
