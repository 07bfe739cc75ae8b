/*
 * zoo_solids.c: the torus and the cylinder, regular shapes placed by formula.
 */
#include "zoo/zoo_kit.h"

static const vec3 axis_x = {1, 0, 0}, axis_y = {0, 1, 0}, axis_z = {0, 0, 1};

/* ---- torus: a ring in the plane z = 0, carried by joints around it ---- */

enum { TORUS_LONG = 8, TORUS_ROUND = 4, TORUS_JOINTS = 16 };
static const float torus_major = 0.30f, torus_minor = 0.10f;

static vec3 torus_point(double turns_long, double turns_round)
{
    double out = torus_major + torus_minor * zoo_cos(turns_round);
    return vec3_make((float)(out * zoo_cos(turns_long)), (float)(out * zoo_sin(turns_long)),
                     (float)(torus_minor * zoo_sin(turns_round)));
}

static vec3 torus_place(const zoo_kit *kit, int face, float s, float t)
{
    (void)kit;
    return torus_point((face / TORUS_ROUND + (double)s) / TORUS_LONG, (face % TORUS_ROUND + (double)t) / TORUS_ROUND);
}

/* Every joint of the ring fades to its neighbours; the squared cosines of neighbours sum to 1. */
static void torus_weigh(const zoo_kit *kit, vec3 position, float *weights)
{
    double turns = det_atan2(position.y, position.x) / 6.283185307179586;
    weights[0] = 0;
    for (int j = 1; j < kit->joint_count; j++) {
        double off = turns * TORUS_JOINTS - (j - 1);
        off -= TORUS_JOINTS * floor(off / TORUS_JOINTS + 0.5);
        double fade = zoo_cos(0.25 * CLAMP(off, -1, 1));
        weights[j] = (float)(fade * fade);
    }
}

static const char *const torus_joints[TORUS_JOINTS] = {"ring_0",  "ring_1",  "ring_2",  "ring_3", "ring_4",  "ring_5",
                                                       "ring_6",  "ring_7",  "ring_8",  "ring_9", "ring_10", "ring_11",
                                                       "ring_12", "ring_13", "ring_14", "ring_15"};

/* The centre line squashed: flatter and wider, the upper half more than the lower one, so that stretch is uneven. */
static void squash_line(double turns, double amount, double *x, double *y)
{
    double height = zoo_sin(turns), upper = 0.5 + 0.5 * height;
    *x = torus_major * zoo_cos(turns) * (1 + 0.22 * amount);
    *y = torus_major * height * (1 - amount * (0.12 + 0.35 * upper));
}

static void pose_squash(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double amount = zoo_ramp(time, 0, 0.8) - zoo_ramp(time, 1.4, 2.2);
    for (int i = 0; i < TORUS_JOINTS; i++) {
        double turns = (double)i / TORUS_JOINTS, x, y, x0, y0, x1, y1;
        vec3 p = kit->joints[i + 1].position;
        squash_line(turns, amount, &x, &y);
        squash_line(turns - 0.01, amount, &x0, &y0);
        squash_line(turns + 0.01, amount, &x1, &y1);
        zoo_pose_shift(kit, pose, torus_joints[i], vec3_make((float)x - p.x, (float)y - p.y, 0));

        /* Turn with the line: the angle from the old tangent to the new one. */
        double tx = -zoo_sin(turns), ty = zoo_cos(turns), dx = x1 - x0, dy = y1 - y0;
        double angle = det_atan2(tx * dy - ty * dx, tx * dx + ty * dy);
        zoo_pose_turn(kit, pose, torus_joints[i], axis_z, angle * 57.29577951308232);
    }
}

/* A horizontal sine that starts softly, then stillness. */
static void pose_torus_shake(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double strength = zoo_ramp(time, 0, 0.5) * (1 - zoo_ramp(time, 2.0, 2.2));
    zoo_pose_shift(kit, pose, "center", vec3_make((float)(0.12 * strength * zoo_sin(2 * time)), 0, 0));
}

void zoo_describe_torus(zoo_kit *kit)
{
    int points[TORUS_LONG][TORUS_ROUND];
    float length = 6.2831853f * torus_major, girth = 6.2831853f * torus_minor;

    /* points and faces */
    for (int i = 0; i < TORUS_LONG; i++)
        for (int j = 0; j < TORUS_ROUND; j++)
            points[i][j] = zoo_point_add(kit, torus_point((double)i / TORUS_LONG, (double)j / TORUS_ROUND));
    int chart = zoo_chart_add(kit, length, girth);

    /* faces */
    for (int i = 0; i < TORUS_LONG; i++)
        for (int j = 0; j < TORUS_ROUND; j++) {
            int a = (i + 1) % TORUS_LONG, b = (j + 1) % TORUS_ROUND;
            int corners[4] = {points[i][j], points[a][j], points[a][b], points[i][b]};
            float u0 = length * (float)i / TORUS_LONG, u1 = length * (float)(i + 1) / TORUS_LONG;
            float v0 = girth * (float)j / TORUS_ROUND, v1 = girth * (float)(j + 1) / TORUS_ROUND;
            float texcoords[4][2] = {{u0, v0}, {u1, v0}, {u1, v1}, {u0, v1}};
            zoo_face_add(kit, corners, texcoords, 0, chart, false);
        }

    /* joints around the ring */
    kit->target_count = 1152;
    kit->weight_passes = 0;
    kit->place = torus_place;
    kit->weigh = torus_weigh;
    zoo_joint_add(kit, "center", NULL, vec3_make(0, 0, 0), axis_y, 0, ZOO_ALL_REGIONS);
    for (int i = 0; i < TORUS_JOINTS; i++) {
        double turns = (double)i / TORUS_JOINTS;
        vec3 outward = {(float)zoo_cos(turns), (float)zoo_sin(turns), 0};
        zoo_joint_add(kit, torus_joints[i], "center", vec3_scale(outward, torus_major), vec3_cross(axis_z, outward), 0,
                      ZOO_ALL_REGIONS);
    }

    /* clips */
    zoo_motion_add(kit, "squash", 2.2, 45, false, pose_squash);
    zoo_motion_add(kit, "shake", 3.2, 97, false, pose_torus_shake);
}

/* ---- cylinder: along X, its left half still, its right half turning more and more ---- */

enum { CYLINDER_RINGS = 8, CYLINDER_SIDES = 8, CYLINDER_JOINTS = 8 };
static const float cylinder_half = 0.50f, cylinder_radius = 0.15f, cylinder_rim = 0.02f;

/* Rings 0 and last round the rim off, the others divide the length evenly. */
static float ring_start(int ring)
{
    if (ring <= 0) return -cylinder_half;
    if (ring >= CYLINDER_RINGS) return cylinder_half;
    return (cylinder_half - cylinder_rim) * (2.0f * (float)(ring - 1) / (CYLINDER_RINGS - 2) - 1);
}

static vec3 cylinder_place(const zoo_kit *kit, int face, float s, float t)
{
    (void)kit;
    float inner = cylinder_radius - cylinder_rim;
    int ring = (face - 4) / CYLINDER_SIDES;
    if (face < 4 || ring >= CYLINDER_RINGS) {
        /* A quarter of a cap. The left cap is seen from the back: its first edge runs along rows, not columns. */
        bool left = face < 4;
        int cap = left ? face : face - 4 - CYLINDER_RINGS * CYLINDER_SIDES;
        float x = (float)(cap % 2) + (left ? t : s) - 1, y = (float)(cap / 2) + (left ? s : t) - 1;
        return vec3_make(left ? -cylinder_half : cylinder_half, inner * x * sqrtf(1 - 0.5f * y * y),
                         inner * y * sqrtf(1 - 0.5f * x * x));
    }

    /* Loop point 0 is the corner (-1, -1) of the section, at 225 degrees from +y towards +z. */
    double turns = (5 + (face - 4) % CYLINDER_SIDES + (double)s) / CYLINDER_SIDES;
    float x = ring_start(ring) + (ring_start(ring + 1) - ring_start(ring)) * t, radius = cylinder_radius;
    if (ring == 0 || ring == CYLINDER_RINGS - 1) {
        double bend = 0.25 * (ring == 0 ? t : 1 - (double)t);
        x = (cylinder_half - cylinder_rim + cylinder_rim * (float)zoo_cos(bend)) * (ring == 0 ? -1.0f : 1.0f);
        radius = inner + cylinder_rim * (float)zoo_sin(bend);
    }
    return vec3_make(x, radius * (float)zoo_cos(turns), radius * (float)zoo_sin(turns));
}

static const char *const cylinder_joints[CYLINDER_JOINTS] = {"turn_1", "turn_2", "turn_3", "turn_4",
                                                             "turn_5", "turn_6", "turn_7", "turn_8"};

static void pose_cylinder_twist(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double turn = zoo_ramp(time, 0, 1.2) - zoo_ramp(time, 1.8, 3.0);
    for (int i = 0; i < CYLINDER_JOINTS; i++)
        zoo_pose_turn(kit, pose, cylinder_joints[i], axis_x, 180.0 / CYLINDER_JOINTS * turn);
}

void zoo_describe_cylinder(zoo_kit *kit)
{
    vec3 u = vec3_scale(axis_y, cylinder_radius), v = vec3_scale(axis_z, cylinder_radius);

    /* closed ends and the rings between */
    zoo_patch patch = zoo_patch_start(kit, 2, 2, (zoo_section){{-cylinder_half, 0, 0}, u, v, 0});
    zoo_patch left = zoo_patch_reverse(&patch);
    zoo_patch_close(kit, &left, 0, 0);
    for (int i = 0; i < CYLINDER_RINGS; i++)
        patch = zoo_patch_extrude(kit, &patch, (zoo_section){{ring_start(i + 1), 0, 0}, u, v, 0}, 0, 0);
    zoo_patch_close(kit, &patch, 0, 0);

    /* placed by formula */
    kit->target_count = 1320;
    kit->weight_passes = 0;
    kit->place = cylinder_place;

    /* Planes as wide as their distance, so that the turn grows evenly from the middle to the right end. */
    float step = cylinder_half / CYLINDER_JOINTS;
    zoo_joint_add(kit, "base", NULL, vec3_make(-cylinder_half, 0, 0), axis_x, 0, ZOO_ALL_REGIONS);
    for (int i = 0; i < CYLINDER_JOINTS; i++)
        zoo_joint_add(kit, cylinder_joints[i], i ? cylinder_joints[i - 1] : "base",
                      vec3_make(step * ((float)i + 0.5f), 0, 0), axis_x, step, ZOO_ALL_REGIONS);
    zoo_motion_add(kit, "twist", 3.0, 61, false, pose_cylinder_twist);
}
