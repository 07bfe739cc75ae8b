/*
 * zoo_cat.c: a cat standing on four legs, 0.30 m high at the shoulder, tail raised.
 *
 * The body is a tube of 4 x 2 faces from the rump to the muzzle. Legs grow out of its underside, the tail out of
 * the rump, the ears out of the head.
 */
#include "zoo/zoo_kit.h"

enum {
    REGION_BODY,
    REGION_HEAD,
    REGION_TAIL,
    REGION_FRONT_L,
    REGION_FRONT_R,
    REGION_HIND_L,
    REGION_HIND_R,
    REGION_EAR_L,
    REGION_EAR_R
};

static const vec3 axis_x = {1, 0, 0}, axis_y = {0, 1, 0}, axis_z = {0, 0, 1};
enum { TAIL_POINTS = 7, TAIL_JOINTS = 5, RINGS = 14 };

static const vec3 tail[TAIL_POINTS] = {{0, 0.262f, -0.232f}, {0, 0.260f, -0.285f}, {0, 0.262f, -0.335f},
                                       {0, 0.285f, -0.385f}, {0, 0.328f, -0.418f}, {0, 0.380f, -0.430f},
                                       {0, 0.428f, -0.420f}};
static const vec3 shoulder = {0.046f, 0.222f, 0.118f}, elbow = {0.050f, 0.142f, 0.090f},
                  wrist = {0.050f, 0.052f, 0.108f}, paw = {0.050f, 0.014f, 0.128f};
static const vec3 hip = {0.044f, 0.232f, -0.160f}, knee = {0.058f, 0.148f, -0.112f}, hock = {0.056f, 0.078f, -0.196f};

static vec3 v(float x, float y, float z) { return vec3_make(x, y, z); }
static vec3 mirror(vec3 p, float side) { return vec3_make(p.x * side, p.y, p.z); }

static zoo_section mirror_section(zoo_section s, float side)
{
    return (zoo_section){mirror(s.centre, side), mirror(s.u, side), mirror(s.v, side), s.square};
}

/* A leg downwards from its patch: stations along the bones with half widths, u outwards, v to the front. */
static void leg_cage(zoo_kit *kit, zoo_patch patch, float side, const float (*stations)[6], int count, int region)
{
    for (int i = 0; i < count; i++) {
        const float *s = stations[i];

        /* centre, half width, half length, slant of the section (rise of its front) */
        zoo_section section = {{s[0], s[1], s[2]}, {s[3], 0, 0}, {0, s[5], s[4]}, 0.1f};
        patch = zoo_patch_extrude(kit, &patch, mirror_section(section, side), region, 0);
    }
    zoo_patch_close(kit, &patch, region, 0);
}

static void cat_cage(zoo_kit *kit)
{
    /* z and y of the centre, half width, half height, slant (how much farther forward its top is) */
    static const float rings[RINGS][5] = {
        {-0.226f, 0.244f, 0.036f, 0.040f, 0}, /* rump */
        {-0.205f, 0.236f, 0.054f, 0.060f, 0},      {-0.165f, 0.232f, 0.062f, 0.068f, 0},
        {-0.118f, 0.234f, 0.062f, 0.066f, 0},      {-0.060f, 0.236f, 0.058f, 0.062f, 0},
        {0.000f, 0.236f, 0.058f, 0.064f, 0},       {0.060f, 0.234f, 0.058f, 0.068f, 0},
        {0.105f, 0.236f, 0.056f, 0.068f, 0},       {0.145f, 0.246f, 0.050f, 0.060f, -0.010f},
        {0.172f, 0.274f, 0.042f, 0.050f, -0.036f}, {0.196f, 0.312f, 0.046f, 0.046f, -0.018f}, /* behind the ears */
        {0.228f, 0.330f, 0.052f, 0.046f, 0},                                                  /* before the ears */
        {0.258f, 0.322f, 0.044f, 0.040f, 0},       {0.282f, 0.308f, 0.026f, 0.024f, 0},
    };
    enum { BELLY_RIGHT = 3, BELLY_LEFT = 12, EAR_LEFT = 1 << 6, EAR_RIGHT = 1 << 9 };

    /* from the rump to the nose, open where legs and ears begin */
    zoo_patch levels[RINGS];
    for (int i = 0; i < RINGS; i++) {
        const float *r = rings[i];
        zoo_section section = {{0, r[1], r[0]}, {r[2], 0, 0}, {0, r[3], r[4]}, 0.25f};
        if (i == 0) {
            levels[0] = zoo_patch_start(kit, 4, 2, section);
            continue;
        }
        unsigned skip = 0;
        if (i == 2 || i == 3 || i == 7 || i == 8) skip = BELLY_RIGHT | BELLY_LEFT;
        if (i == 11) skip = EAR_LEFT | EAR_RIGHT;
        levels[i] = zoo_patch_extrude(kit, &levels[i - 1], section, i >= 9 ? REGION_HEAD : REGION_BODY, skip);
    }
    zoo_patch_close(kit, &levels[RINGS - 1], REGION_HEAD, 0);

    /* Rump with the tail in the middle of its upper half. */
    zoo_patch rump = zoo_patch_reverse(&levels[0]);
    zoo_patch_close(kit, &rump, REGION_BODY, 0x60);
    zoo_patch end = zoo_patch_part(&rump, 1, 3, 1, 2);
    for (int i = 1; i < TAIL_POINTS; i++) {
        vec3 along = vec3_normalize(vec3_sub(tail[MIN(i + 1, TAIL_POINTS - 1)], tail[i - 1]));
        vec3 up = vec3_cross(axis_x, along); /* seen from behind: the patch is reversed */
        zoo_section section = {tail[i], vec3_scale(axis_x, 0.013f), vec3_scale(up, 0.013f), 0};

        /* The last ring lies near the very tip, so that the cap is pulled onto it from outside. */
        if (i == TAIL_POINTS - 1) {
            section.centre = vec3_madd(section.centre, along, 0.008f);
            section.u = vec3_scale(axis_x, 0.006f);
            section.v = vec3_scale(up, 0.006f);
        }
        end = zoo_patch_extrude(kit, &end, section, REGION_TAIL, 0);
    }
    zoo_patch_close(kit, &end, REGION_TAIL, 0);

    /* legs */
    static const float front[][6] = {
        {0.048f, 0.160f, 0.106f, 0.026f, 0.030f, 0.010f}, {0.050f, 0.120f, 0.094f, 0.018f, 0.020f, 0},
        {0.050f, 0.080f, 0.101f, 0.015f, 0.016f, 0},      {0.050f, 0.044f, 0.108f, 0.015f, 0.016f, 0},
        {0.050f, 0.026f, 0.116f, 0.018f, 0.022f, 0.008f}, {0.050f, 0.012f, 0.124f, 0.016f, 0.020f, 0.004f}};
    static const float hind[][6] = {
        {0.052f, 0.172f, -0.140f, 0.030f, 0.044f, -0.010f}, {0.057f, 0.132f, -0.134f, 0.022f, 0.032f, -0.024f},
        {0.057f, 0.100f, -0.166f, 0.016f, 0.020f, -0.016f}, {0.056f, 0.072f, -0.192f, 0.014f, 0.017f, 0},
        {0.056f, 0.045f, -0.188f, 0.014f, 0.015f, 0},       {0.056f, 0.026f, -0.180f, 0.018f, 0.022f, 0.008f},
        {0.056f, 0.012f, -0.172f, 0.016f, 0.021f, 0.004f}};
    for (int k = 0; k < 2; k++) {
        float side = k == 0 ? 1 : -1;
        for (int pair = 0; pair < 2; pair++) {
            /* Columns outwards from the middle, rows from back to front. */
            zoo_patch leg = {.cols = 2, .rows = 2, .flip = side < 0, .chart = -1};
            int first = pair == 0 ? 6 : 1;
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    leg.points[3 * r + c] = zoo_patch_loop(&levels[first + r], side > 0 ? 2 + c : 2 - c);
            if (pair == 0)
                leg_cage(kit, leg, side, front, COUNT_OF(front), REGION_FRONT_L + k);
            else
                leg_cage(kit, leg, side, hind, COUNT_OF(hind), REGION_HIND_L + k);
        }

        /* Ears: column outwards, row from front to back. */
        zoo_patch ear = {.cols = 1, .rows = 1, .flip = side < 0, .chart = -1};
        int inner = side > 0 ? 7 : 9, outer = side > 0 ? 6 : 10;
        ear.points[0] = zoo_patch_loop(&levels[11], inner);
        ear.points[1] = zoo_patch_loop(&levels[11], outer);
        ear.points[2] = zoo_patch_loop(&levels[10], inner);
        ear.points[3] = zoo_patch_loop(&levels[10], outer);
        static const float ears[3][5] = {{0.034f, 0.378f, 0.212f, 0.018f, 0.009f},
                                         {0.040f, 0.400f, 0.210f, 0.012f, 0.006f},
                                         {0.045f, 0.421f, 0.208f, 0.004f, 0.003f}};
        for (int i = 0; i < 3; i++) {
            zoo_section section = {{ears[i][0], ears[i][1], ears[i][2]}, {ears[i][3], 0, 0}, {0, 0, -ears[i][4]}, 0.2f};
            ear = zoo_patch_extrude(kit, &ear, mirror_section(section, side), REGION_EAR_L + k, 0);
        }
        zoo_patch_close(kit, &ear, REGION_EAR_L + k, 0);
    }
}

static void cat_field(zoo_kit *kit)
{
    int body = zoo_field_node(kit, -1, 0);

    /* Trunk: deep chest, drawn-in waist, round rump; shoulders and thighs show on its sides. */
    static const vec3 trunk[] = {{0, 0.240f, -0.190f}, {0, 0.241f, -0.130f}, {0, 0.242f, -0.060f},
                                 {0, 0.237f, 0.020f},  {0, 0.236f, 0.085f},  {0, 0.247f, 0.130f}};
    static const float girth[] = {0.046f, 0.0545f, 0.0520f, 0.0550f, 0.0565f, 0.047f};
    zoo_field_tube(kit, body, trunk, girth, COUNT_OF(trunk), axis_y, 1.14f, 0.025f);
    zoo_field_ellipsoid(kit, body, v(0, 0.214f, 0.070f), v(0.050f, 0.058f, 0.080f), 0.04f);  /* chest */
    zoo_field_ellipsoid(kit, body, v(0, 0.212f, -0.030f), v(0.046f, 0.046f, 0.100f), 0.04f); /* belly */

    /* neck and head */
    int neck = zoo_field_node(kit, body, 0.030f);
    static const vec3 nape[] = {{0, 0.246f, 0.105f}, {0, 0.276f, 0.158f}, {0, 0.316f, 0.200f}};
    static const float collar[] = {0.054f, 0.046f, 0.040f};
    zoo_field_tube(kit, neck, nape, collar, COUNT_OF(nape), axis_y, 1, 0.025f);
    int head = zoo_field_node(kit, neck, 0.016f);
    zoo_field_ellipsoid(kit, head, v(0, 0.332f, 0.222f), v(0.050f, 0.044f, 0.050f), 0.01f);
    zoo_field_ellipsoid(kit, head, v(0, 0.316f, 0.246f), v(0.040f, 0.030f, 0.034f), 0.02f);
    zoo_field_cone(kit, head, v(0, 0.340f, 0.256f), 0.012f, v(0, 0.317f, 0.284f), 0.0085f,
                   0.012f); /* bridge of the nose */
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;
        zoo_field_ellipsoid(kit, head, v(s * 0.030f, 0.318f, 0.236f), v(0.021f, 0.020f, 0.024f), 0.018f); /* cheek */
        zoo_field_ellipsoid(kit, head, v(s * 0.0125f, 0.304f, 0.275f), v(0.015f, 0.0125f, 0.014f),
                            0.006f); /* whisker pad */
        zoo_field_ellipsoid(kit, head, v(s * 0.024f, 0.336f, 0.272f), v(0.015f, 0.012f, 0.012f), 0.008f);
        zoo_field_carve(kit); /* eye socket */
        zoo_field_ellipsoid(kit, head, v(s * 0.0235f, 0.3350f, 0.2585f), v(0.0140f, 0.0125f, 0.0120f),
                            0.003f); /* eye */
    }
    zoo_field_ellipsoid(kit, head, v(0, 0.315f, 0.288f), v(0.0075f, 0.0055f, 0.0060f), 0.004f); /* nose */
    zoo_field_ellipsoid(kit, head, v(0, 0.292f, 0.268f), v(0.014f, 0.010f, 0.013f), 0.008f);    /* chin */

    /* tail */
    int rear = zoo_field_node(kit, body, 0.020f);
    static const float thick[TAIL_POINTS] = {0.020f, 0.0165f, 0.0155f, 0.0150f, 0.0145f, 0.0135f, 0.0105f};
    zoo_field_tube(kit, rear, tail, thick, TAIL_POINTS, axis_y, 1, 0.012f);

    /* ears and legs */
    int fore = zoo_field_node(kit, body, 0.026f), aft = zoo_field_node(kit, body, 0.034f);
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;

        /* Ear: a thin triangle, hollowed in front. */
        int ear = zoo_field_node(kit, head, 0.010f);
        zoo_field_flat_cone(kit, ear, v(s * 0.031f, 0.362f, 0.212f), 0.0095f, v(s * 0.0455f, 0.420f, 0.208f), 0.0032f,
                            vec3_normalize(v(s * 1, -0.25f, 0)), 2.2f, 0.004f);
        zoo_field_blob(kit, ear, v(s * 0.036f, 0.386f, 0.2235f), v(s * 0.0125f, -0.0031f, 0), v(s * 0.0055f, 0.022f, 0),
                       v(0, 0, 0.0095f), 0.005f);
        zoo_field_carve(kit);

        /* Front leg: shoulder blade, upper arm, forearm, paw. */
        int front = zoo_field_node(kit, fore, 0.006f);
        zoo_field_ellipsoid(kit, front, v(s * 0.042f, 0.222f, 0.112f), v(0.024f, 0.052f, 0.038f), 0.02f);
        zoo_field_cone(kit, front, mirror(vec3_lerp(shoulder, elbow, 0.3f), s), 0.028f, mirror(elbow, s), 0.021f,
                       0.02f);
        zoo_field_cone(kit, front, mirror(elbow, s), 0.0205f, mirror(wrist, s), 0.0145f, 0.014f);
        zoo_field_cone(kit, front, mirror(wrist, s), 0.0150f, v(s * 0.050f, 0.020f, 0.116f), 0.0160f, 0.010f);
        zoo_field_ellipsoid(kit, front, v(s * 0.050f, 0.015f, 0.124f), v(0.0185f, 0.0140f, 0.0230f), 0.010f);

        /* Hind leg: thigh, shin, the long foot, paw. */
        int rear_leg = zoo_field_node(kit, aft, 0.006f);
        zoo_field_ellipsoid(kit, rear_leg, v(s * 0.042f, 0.205f, -0.152f), v(0.032f, 0.064f, 0.054f), 0.02f);
        zoo_field_cone(kit, rear_leg, mirror(vec3_lerp(hip, knee, 0.35f), s), 0.040f, mirror(knee, s), 0.0225f, 0.03f);
        zoo_field_cone(kit, rear_leg, mirror(knee, s), 0.024f, mirror(hock, s), 0.0140f, 0.02f);
        zoo_field_cone(kit, rear_leg, v(s * 0.057f, 0.140f, -0.140f), 0.023f, v(s * 0.056f, 0.100f, -0.172f), 0.0165f,
                       0.02f);
        zoo_field_cone(kit, rear_leg, mirror(hock, s), 0.0140f, v(s * 0.056f, 0.020f, -0.184f), 0.0150f, 0.010f);
        zoo_field_ellipsoid(kit, rear_leg, v(s * 0.056f, 0.015f, -0.174f), v(0.0190f, 0.0140f, 0.0240f), 0.010f);
    }
}

static const char *const tail_names[TAIL_JOINTS] = {"tail_1", "tail_2", "tail_3", "tail_4", "tail_5"};

static void cat_joints(zoo_kit *kit)
{
    unsigned fore = 1u << REGION_FRONT_L | 1u << REGION_FRONT_R, ears = 1u << REGION_EAR_L | 1u << REGION_EAR_R;
    unsigned ahead = 1u << REGION_BODY | 1u << REGION_HEAD | fore | ears;
    zoo_joint_add(kit, "hips", NULL, v(0, 0.250f, -0.170f), axis_z, 0, ZOO_ALL_REGIONS);
    int spine = zoo_joint_add(kit, "spine", "hips", v(0, 0.255f, -0.065f), axis_z, 0.050f, ahead);
    int chest = zoo_joint_add(kit, "chest", "spine", v(0, 0.255f, 0.035f), axis_z, 0.050f, ahead);
    kit->joints[spine].full_regions = kit->joints[chest].full_regions = fore;
    zoo_joint_add(kit, "neck", "chest", v(0, 0.262f, 0.140f), v(0, 0.75f, 0.70f), 0.030f,
                  1u << REGION_BODY | 1u << REGION_HEAD | ears);
    zoo_joint_add(kit, "head", "neck", v(0, 0.315f, 0.198f), v(0, 0.6f, 0.8f), 0.022f, 1u << REGION_HEAD | ears);
    for (int i = 0; i < TAIL_JOINTS; i++)
        zoo_joint_add(kit, tail_names[i], i ? tail_names[i - 1] : "hips", tail[i], vec3_sub(tail[i + 1], tail[i]),
                      0.016f, 1u << REGION_TAIL);
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;
        const char *suffix = k == 0 ? "_l" : "_r";
        unsigned front = 1u << (REGION_FRONT_L + k), hind = 1u << (REGION_HIND_L + k), ear = 1u << (REGION_EAR_L + k);
        const char *arm[3] = {zoo_name(kit, "upper_arm", suffix), zoo_name(kit, "forearm", suffix),
                              zoo_name(kit, "hand", suffix)};

        /* The shoulder blade takes a soft ball of the chest along. */
        int upper = zoo_joint_add(kit, arm[0], "chest", mirror(shoulder, s), mirror(vec3_sub(elbow, shoulder), s),
                                  0.034f, front | 1u << REGION_BODY);
        kit->joints[upper].centre = v(s * 0.060f, 0.195f, 0.108f);
        kit->joints[upper].radius = 0.062f;
        kit->joints[upper].ball_regions = 1u << REGION_BODY;
        zoo_joint_add(kit, arm[1], arm[0], mirror(elbow, s), mirror(vec3_sub(wrist, elbow), s), 0.020f, front);
        zoo_joint_add(kit, arm[2], arm[1], mirror(wrist, s), mirror(vec3_sub(paw, wrist), s), 0.014f, front);
        const char *leg[4] = {zoo_name(kit, "thigh", suffix), zoo_name(kit, "shin", suffix),
                              zoo_name(kit, "foot", suffix), zoo_name(kit, "toe", suffix)};
        int thigh = zoo_joint_add(kit, leg[0], "hips", mirror(hip, s), mirror(vec3_sub(knee, hip), s), 0.040f,
                                  hind | 1u << REGION_BODY);
        kit->joints[thigh].centre = v(s * 0.066f, 0.190f, -0.145f);
        kit->joints[thigh].radius = 0.070f;
        kit->joints[thigh].ball_regions = 1u << REGION_BODY;
        zoo_joint_add(kit, leg[1], leg[0], mirror(knee, s), mirror(vec3_sub(hock, knee), s), 0.022f, hind);
        zoo_joint_add(kit, leg[2], leg[1], mirror(hock, s), mirror(vec3_sub(v(0.056f, 0.020f, -0.184f), hock), s),
                      0.014f, hind);
        zoo_joint_add(kit, leg[3], leg[2], v(s * 0.056f, 0.020f, -0.184f), axis_z, 0.010f, hind);
        zoo_joint_add(kit, zoo_name(kit, "ear", suffix), "head", v(s * 0.031f, 0.362f, 0.212f), v(s * 0.3f, 1, 0),
                      0.010f, ear);
    }
}

/* ---- motions ---- */

static void side_name(char *text, const char *name, float side)
{
    int n = 0;
    for (; name[n]; n++) text[n] = name[n];
    text[n] = '_';
    text[n + 1] = side > 0 ? 'l' : 'r';
    text[n + 2] = 0;
}

/* Put a front paw (wrist) or hind paw (hock) to its rest place plus an offset, its last bone pitched by degrees. */
static void paw_place(const zoo_kit *kit, zoo_pose *pose, bool front, float side, vec3 offset, double pitch)
{
    char upper[24], lower[24], foot[24];
    side_name(upper, front ? "upper_arm" : "thigh", side);
    side_name(lower, front ? "forearm" : "shin", side);
    side_name(foot, front ? "hand" : "foot", side);
    vec3 target = vec3_add(mirror(front ? wrist : hock, side), offset);
    zoo_pose_reach(kit, pose, upper, lower, foot, target, front ? v(0, 0, -1) : v(0.1f * side, 0, 1),
                   quat_axis_angle(axis_x, pitch / 57.29577951308232));
}

/* A paw over a cycle: on the ground for two thirds of it, then swung forwards. */
static void paw_step(const zoo_kit *kit, zoo_pose *pose, bool front, float side, double phase)
{
    static const double heights[12] = {0, 0, 0, 0, 0, 0, 0.002, 0.007, 0.022, 0.034, 0.024, 0.006};
    static const double hind_pitches[12] = {0, 0, 0, 0, 0, 4, 12, 22, 30, 22, 8, 2};
    static const double front_pitches[12] = {0, 0, 0, 0, 0, 4, 12, 22, 48, 44, 18, 4};
    double z = 0.105 * zoo_stride(phase, 0.64), y = zoo_cycle(heights, 12, phase);
    double pitch = zoo_cycle(front ? front_pitches : hind_pitches, 12, phase);
    paw_place(kit, pose, front, side, v(-0.012f * side, (float)y, (float)z), pitch);
    if (!front) {
        char toe[24];
        side_name(toe, "toe", side);
        zoo_pose_turn(kit, pose, toe, axis_x, -0.9 * pitch);
    }
}

static void pose_walk(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double phase = time / 1.0;
    zoo_pose_shift(kit, pose, "hips",
                   v((float)(0.006 * zoo_sin(phase)), (float)(-0.006 + 0.004 * zoo_cos(2 * phase)), 0));
    zoo_pose_turn(kit, pose, "hips", axis_y, 4 * zoo_sin(phase + 0.3));
    zoo_pose_turn(kit, pose, "hips", axis_z, 3 * zoo_sin(phase));
    zoo_pose_turn(kit, pose, "spine", axis_y, -5 * zoo_sin(phase + 0.3));
    zoo_pose_turn(kit, pose, "chest", axis_y, -4 * zoo_sin(phase + 0.1));
    zoo_pose_turn(kit, pose, "chest", axis_x, 1.5 * zoo_cos(2 * phase + 0.2));
    zoo_pose_turn(kit, pose, "neck", axis_x, 3 + 2.5 * zoo_cos(2 * phase));
    zoo_pose_turn(kit, pose, "neck", axis_y, 4 * zoo_sin(phase + 0.1));
    zoo_pose_turn(kit, pose, "head", axis_x, -3 - 2.0 * zoo_cos(2 * phase));
    for (int i = 0; i < TAIL_JOINTS; i++)
        zoo_pose_turn(kit, pose, tail_names[i], axis_y, 7 * zoo_sin(phase - 0.12 * i));
    for (int k = 0; k < 2; k++) {
        float side = k == 0 ? 1 : -1;
        double half = k == 0 ? 0 : 0.5;
        paw_step(kit, pose, false, side, phase + half);
        paw_step(kit, pose, true, side, phase + half + 0.75);
    }
}

/* The long stretch after a nap: chest down, paws far forward, rump and tail high; then back. */
static void pose_stretch(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double down = zoo_ramp(time, 0.2, 1.3) - zoo_ramp(time, 2.3, 3.4);
    double reach = zoo_ramp(time, 0.1, 1.0) - zoo_ramp(time, 2.5, 3.5);
    double quiver = (zoo_ramp(time, 1.3, 1.6) - zoo_ramp(time, 2.0, 2.3)) * zoo_sin(6 * time);
    zoo_pose_shift(kit, pose, "hips", v(0, (float)(0.012 * down), (float)(-0.030 * down)));
    zoo_pose_turn(kit, pose, "hips", axis_x, 16 * down);
    zoo_pose_turn(kit, pose, "spine", axis_x, 12 * down);
    zoo_pose_turn(kit, pose, "chest", axis_x, -10 * down + 0.8 * quiver);
    zoo_pose_turn(kit, pose, "neck", axis_x, -18 * down);
    zoo_pose_turn(kit, pose, "head", axis_x, -12 * down + 1.5 * quiver);
    for (int i = 0; i < TAIL_JOINTS; i++) {
        zoo_pose_turn(kit, pose, tail_names[i], axis_x, (i < 2 ? 14 : -6) * down);
        zoo_pose_turn(kit, pose, tail_names[i], axis_y, 4 * quiver * (i > 2));
    }
    for (int k = 0; k < 2; k++) {
        float side = k == 0 ? 1 : -1;
        paw_place(kit, pose, false, side, v(0, 0, 0), 0);
        double lift =
            0.012 * (zoo_sin(0.5 * CLAMP((time - 0.1) / 0.9, 0, 1)) + zoo_sin(0.5 * CLAMP((time - 2.5) / 1.0, 0, 1)));
        paw_place(kit, pose, true, side, v(0, (float)lift - 0.020f * (float)down, (float)(0.105 * reach)), -38 * down);
    }
}

void zoo_describe_cat(zoo_kit *kit)
{
    kit->target_count = 7200;
    kit->density[REGION_HEAD] = 1.35f;
    kit->density[REGION_EAR_L] = kit->density[REGION_EAR_R] = 1.3f;
    zoo_field_magnet(kit, v(0, 0.318f, 0.272f), 0.055f, 0.9f);
    cat_cage(kit);
    cat_field(kit);
    cat_joints(kit);
    zoo_motion_add(kit, "walk", 1.0, 33, true, pose_walk);
    zoo_motion_add(kit, "stretch", 3.7, 75, false, pose_stretch);
}
