/*
 * zoo_hand.c: a hand with five fingers, for the character `hand` and at the ends of human arms.
 *
 * The palm is a tube of 4 x 2 faces; each of the four columns goes on as a finger, the thumb grows out of two
 * faces at the side. In the rest pose the hand is open and relaxed, fingers apart.
 */
#include <stdio.h>

#include "zoo/zoo_kit.h"

enum { FINGER_COUNT = 5, PALM = 0 }; /* regions: palm, thumb, index, middle, ring, pinky */

typedef struct finger {
    const char *joints[3];
    float knuckle[3]; /* in the frame: along, across, up */
    float side;       /* slope of the finger across */
    float droop;      /* slope of the first bone towards the palm */
    float lengths[3]; /* of its bones */
    float radius;     /* at the first bone; it tapers */
} finger;

static const finger fingers[FINGER_COUNT] = {
    {{"thumb_1", "thumb_2", "thumb_3"}, {0.020f, -0.020f, -0.008f}, 0, 0, {0.046f, 0.034f, 0.025f}, 0.0114f},
    {{"index_1", "index_2", "index_3"}, {0.086f, -0.0305f, 0.001f}, -0.17f, -0.10f, {0.046f, 0.029f, 0.021f}, 0.0092f},
    {{"middle_1", "middle_2", "middle_3"},
     {0.090f, -0.0095f, 0.003f},
     -0.04f,
     -0.08f,
     {0.050f, 0.033f, 0.022f},
     0.0093f},
    {{"ring_1", "ring_2", "ring_3"}, {0.086f, 0.0115f, 0.001f}, 0.09f, -0.10f, {0.047f, 0.031f, 0.022f}, 0.0089f},
    {{"pinky_1", "pinky_2", "pinky_3"}, {0.077f, 0.0315f, -0.002f}, 0.24f, -0.13f, {0.037f, 0.023f, 0.019f}, 0.0079f},
};

/* The three joints and the tip of a finger, in the frame's coordinates (along, across, up). */
static void finger_chain(int index, vec3 chain[4])
{
    const finger *f = &fingers[index];
    chain[0] = vec3_load(f->knuckle);
    for (int i = 0; i < 3; i++) {
        /* Each bone hangs a little more towards the palm than the one before. */
        vec3 step = {1, f->side, f->droop - 0.14f * (float)i};
        if (index == 0)
            step = vec3_make(0.80f + 0.16f * (float)i, -0.78f + 0.18f * (float)i, -0.28f + 0.04f * (float)i);
        chain[i + 1] = vec3_madd(chain[i], vec3_normalize(step), f->lengths[i]);
    }
}

static float finger_radius(int index, int joint) { return fingers[index].radius * (1 - 0.095f * (float)joint); }

static vec3 to_scene(const zoo_frame *f, vec3 p) { return zoo_frame_point(f, p.x, p.y, p.z); }
static vec3 to_scene_vector(const zoo_frame *f, vec3 p) { return zoo_frame_vector(f, p.x, p.y, p.z); }

static zoo_section frame_section(const zoo_frame *f, vec3 centre, vec3 u, vec3 v, float square)
{
    return (zoo_section){to_scene(f, centre), to_scene_vector(f, u), to_scene_vector(f, v), square};
}

/* ---- cage ---- */

/* A finger from its patch (1 x 2): sections halfway the first bone, at its joints, and before the tip. */
static void finger_cage(zoo_kit *kit, zoo_patch patch, const zoo_frame *frame, int index, int region)
{
    static const float stops[4] = {0.55f, 1.0f, 2.0f, 2.98f}; /* the last so near the tip that the cap goes onto it */
    vec3 chain[4];
    finger_chain(index, chain);

    for (int i = 0; i < 4; i++) {
        int bone = MIN((int)stops[i], 2);
        float t = stops[i] - (float)bone;
        if (index == 0 && i == 0) t = 0.72f;

        /* at right angles to the bone */
        vec3 centre = vec3_lerp(chain[bone], chain[bone + 1], t);
        vec3 along = vec3_normalize(vec3_sub(chain[bone + 1], chain[bone]));
        vec3 up = {0, 0, 1}, u;
        up = vec3_normalize(vec3_madd(up, along, -vec3_dot(up, along)));
        u = vec3_cross(up, along); /* u x up = along */

        /* its radius */
        float r = finger_radius(index, bone) * (i == 3 ? 0.55f : 0.9f);
        patch = zoo_patch_extrude(kit, &patch, frame_section(frame, centre, vec3_scale(u, r), vec3_scale(up, r), 0.25f),
                                  region, 0);
    }
    zoo_patch_close(kit, &patch, region, 0);
}

void zoo_hand_cage(zoo_kit *kit, zoo_patch patch, const zoo_frame *frame, int region)
{
    /* Wrist, heel of the hand, middle of the palm, and the row of finger roots, which falls off to the little finger.
     */
    zoo_section rings[4] = {
        frame_section(frame, vec3_make(0.002f, 0, 0), vec3_make(0, 0.027f, 0), vec3_make(0, 0, 0.018f), 0.2f),
        frame_section(frame, vec3_make(0.022f, 0, 0), vec3_make(0, 0.033f, 0), vec3_make(0, 0, 0.017f), 0.4f),
        frame_section(frame, vec3_make(0.066f, 0, 0), vec3_make(-0.002f, 0.040f, 0), vec3_make(0, 0, 0.014f), 0.6f),
        frame_section(frame, vec3_make(0.103f, 0, -0.002f), vec3_make(-0.008f, 0.044f, 0), vec3_make(0, 0, 0.010f),
                      0.9f),
    };
    enum { THUMB_EDGES = 1 << 10 | 1 << 11 };
    patch = zoo_patch_extrude(kit, &patch, rings[0], region + PALM, 0);
    zoo_patch heel = zoo_patch_extrude(kit, &patch, rings[1], region + PALM, 0);
    zoo_patch middle = zoo_patch_extrude(kit, &heel, rings[2], region + PALM, THUMB_EDGES);
    zoo_patch roots = zoo_patch_extrude(kit, &middle, rings[3], region + PALM, 0);

    /* The last ring of the palm belongs to the fingers, column by column, because the knuckles lie in it. */
    static const int column[12] = {0, 1, 2, 3, 3, 3, 3, 2, 1, 0, 0, 0};
    for (int i = 0; i < 12; i++) kit->faces[kit->face_count - 12 + i].region = region + 2 + column[i];

    /* fingers */
    for (int i = 0; i < 4; i++) finger_cage(kit, zoo_patch_part(&roots, i, i + 1, 0, 2), frame, i + 1, region + 2 + i);

    /* Thumb: the hole between heel and middle, columns along the hand, rows from palm to back. */
    zoo_patch hole = {.cols = 1, .rows = 2, .flip = patch.flip, .chart = -1};
    static const int loop[3] = {0, 11, 10};
    for (int r = 0; r < 3; r++) {
        hole.points[2 * r] = zoo_patch_loop(&heel, loop[r]);
        hole.points[2 * r + 1] = zoo_patch_loop(&middle, loop[r]);
    }
    finger_cage(kit, hole, frame, 0, region + 1);
}

/* ---- field ---- */

static void cone(zoo_kit *kit, int node, const zoo_frame *f, vec3 a, float radius_a, vec3 b, float radius_b,
                 float blend)
{
    float scale = vec3_length(f->a);
    zoo_field_cone(kit, node, to_scene(f, a), radius_a * scale, to_scene(f, b), radius_b * scale, blend * scale);
}

static void blob(zoo_kit *kit, int node, const zoo_frame *f, vec3 centre, vec3 a, vec3 b, vec3 c, float blend)
{
    zoo_field_blob(kit, node, to_scene(f, centre), to_scene_vector(f, a), to_scene_vector(f, b), to_scene_vector(f, c),
                   blend * vec3_length(f->a));
}

void zoo_hand_field(zoo_kit *kit, int node, const zoo_frame *frame)
{
    float scale = vec3_length(frame->a);
    int palm = zoo_field_node(kit, node, 0.018f * scale);

    /* The palm: wrist, the four metacarpals side by side, the two pads at its heel. */
    zoo_field_flat_cone(kit, palm, to_scene(frame, vec3_make(0, 0, 0)), 0.0165f * scale,
                        to_scene(frame, vec3_make(0.045f, 0.001f, -0.002f)), 0.0130f * scale, vec3_normalize(frame->b),
                        1.75f, 0.01f * scale);
    for (int i = 1; i < FINGER_COUNT; i++) {
        vec3 knuckle = vec3_load(fingers[i].knuckle);
        vec3 root = {0.020f, knuckle.y * 0.62f, 0};
        cone(kit, palm, frame, root, 0.0125f, vec3_madd(knuckle, vec3_make(0, 0, 1), -0.0015f),
             fingers[i].radius * 1.22f, 0.012f);
    }
    blob(kit, palm, frame, vec3_make(0.038f, -0.0235f, -0.0105f), vec3_make(0.024f, -0.016f, -0.006f),
         vec3_make(0.0085f, 0.0128f, 0), vec3_make(0.0040f, -0.0026f, 0.0145f), 0.012f);
    blob(kit, palm, frame, vec3_make(0.036f, 0.024f, -0.0075f), vec3_make(0.032f, 0, 0), vec3_make(0, 0.0135f, 0),
         vec3_make(0, 0, 0.0120f), 0.012f);
    blob(kit, palm, frame, vec3_make(0.086f, 0.000f, -0.0060f), vec3_make(0.018f, 0, 0), vec3_make(0, 0.033f, 0),
         vec3_make(0, 0, 0.0080f), 0.016f);

    for (int i = 0; i < FINGER_COUNT; i++) {
        vec3 chain[4];
        finger_chain(i, chain);
        int node_finger = zoo_field_node(kit, palm, (i == 0 ? 0.014f : 0.0065f) * scale);

        /* A tube through joints and middles of the bones, where it is slimmer, so that the joints show. */
        vec3 points[6];
        float radii[6];
        for (int k = 0; k < 6; k++) {
            int bone = k / 2;
            vec3 tip = vec3_lerp(chain[2], chain[3], 0.70f);
            points[k] = k == 5 ? tip : k % 2 ? vec3_lerp(chain[bone], chain[bone + 1], 0.5f) : chain[bone];
            radii[k] = 0.5f * (finger_radius(i, (k + 1) / 2) + finger_radius(i, k == 5 ? 3 : k / 2));
            if (k % 2 && k < 5) radii[k] *= 0.97f;
            points[k] = to_scene(frame, points[k]);
            radii[k] *= scale;
        }
        if (i == 0) radii[0] = 0.0150f * scale;
        zoo_field_tube(kit, node_finger, points, radii, 6, vec3_make(0, 1, 0), 1, 0.004f * scale);

        /* The pad of the fingertip. */
        vec3 pad = vec3_lerp(chain[2], chain[3], 0.55f);
        pad.z -= 0.0018f;
        cone(kit, node_finger, frame, pad, finger_radius(i, 3) * 0.94f, pad, finger_radius(i, 3) * 0.94f, 0.003f);
    }
}

/* ---- skeleton and motion ---- */

void zoo_hand_joints(zoo_kit *kit, const char *parent, const char *suffix, const zoo_frame *frame, int region)
{
    float scale = vec3_length(frame->a);
    for (int i = 0; i < FINGER_COUNT; i++) {
        vec3 chain[4];
        finger_chain(i, chain);
        const char *above = parent;

        /* the thumb also moves the palm */
        unsigned mask = 1u << (region + 1 + i);
        if (i == 0) mask |= 1u << region;
        for (int j = 0; j < 3; j++) {
            const char *name = zoo_name(kit, fingers[i].joints[j], suffix);
            vec3 axis = to_scene_vector(frame, vec3_normalize(vec3_sub(chain[j + 1], chain[j])));
            float width = j == 0 ? (i == 0 ? 0.016f : 0.011f) : 0.0085f;
            int added = zoo_joint_add(kit, name, above, to_scene(frame, chain[j]), axis, width * scale, mask);

            /* The thumb's root moves a soft ball of the palm around its first bone, not all that lies beyond a plane.
             */
            if (i == 0 && j == 0) {
                kit->joints[added].centre = to_scene(frame, vec3_lerp(chain[0], chain[1], 0.9f));
                kit->joints[added].radius = 0.048f * scale;
                kit->joints[added].ball_regions = 1u << region;
            }
            above = name;
        }
    }
}

void zoo_hand_pose(const zoo_kit *kit, zoo_pose *pose, const zoo_frame *frame, const char *suffix, int index,
                   double bend_1, double bend_2, double bend_3, double spread)
{
    vec3 chain[4];

    finger_chain(index, chain);
    double bends[3] = {bend_1, bend_2, bend_3};

    /* A mirrored frame turns the other way round. */
    double hand = vec3_dot(vec3_cross(frame->a, frame->b), frame->c) < 0 ? -1 : 1;
    for (int j = 0; j < 3; j++) {
        char name[24];
        snprintf(name, sizeof(name), "%s%s", fingers[index].joints[j], suffix);
        vec3 along = vec3_normalize(vec3_sub(chain[j + 1], chain[j])), up = {0, 0, 1};

        /* Fingers close about the line across them; the thumb folds towards the little finger. */
        if (index == 0) up = vec3_normalize(vec3_make(0.30f, -0.62f, 0.72f));
        vec3 hinge = vec3_normalize(vec3_cross(up, along));
        zoo_pose_turn(kit, pose, name, to_scene_vector(frame, hinge), hand * bends[j]);
        if (j == 0 && spread != 0) {
            double away = index < 2 ? -1 : index == 2 ? 0 : 1;
            zoo_pose_turn(kit, pose, name, frame->c, hand * away * spread);
        }
    }
}

/* ---- the character: a left hand, palm down, fingers forward ---- */

enum { REGION_WRIST, REGION_HAND };

static const zoo_frame hand_frame = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}};

static void pose_all(const zoo_kit *kit, zoo_pose *pose, double bend_1, double bend_2, double bend_3)
{
    for (int i = 1; i < FINGER_COUNT; i++) zoo_hand_pose(kit, pose, &hand_frame, "", i, bend_1, bend_2, bend_3, 0);
}

static void pose_fist(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double close = zoo_ramp(time, 0.1, 1.1) - zoo_ramp(time, 1.7, 2.6);
    double swing = zoo_ramp(time, 0.2, 0.9) - zoo_ramp(time, 1.8, 2.5);
    double late = zoo_ramp(time, 0.65, 1.35) - zoo_ramp(time, 1.5, 2.1);
    pose_all(kit, pose, 76 * close, 90 * close, 56 * close);
    for (int i = 1; i < FINGER_COUNT; i++) {
        static const double gather[FINGER_COUNT] = {0, -9, 0, -5, -12};
        zoo_hand_pose(kit, pose, &hand_frame, "", i, 0, 0, 0, gather[i] * close);
    }

    /* The thumb swings under the palm and lies down across the fingers. */
    zoo_pose_turn(kit, pose, "thumb_1", hand_frame.a, 40 * swing);
    zoo_pose_turn(kit, pose, "thumb_1", hand_frame.b, 36 * swing);
    zoo_pose_turn(kit, pose, "thumb_2", hand_frame.c, 50 * late);
    zoo_pose_turn(kit, pose, "thumb_3", hand_frame.c, 38 * late);
}

static void pose_spread(const zoo_kit *kit, double time, zoo_pose *pose)
{
    static const double widest[FINGER_COUNT] = {14, 12, 0, 9, 15};
    double open = zoo_ramp(time, 0.1, 0.8) - zoo_ramp(time, 1.2, 1.9);
    for (int i = 0; i < FINGER_COUNT; i++)
        zoo_hand_pose(kit, pose, &hand_frame, "", i, i ? -8 * open : 0, -6 * open, -6 * open, widest[i] * open);
}

/*
 * Open over a thing about 6 cm wide that stands below the palm (at grasp_focus), close on it with the thumb behind
 * and the fingers before it, and lift by 0.3 m.
 */
static const float grasp_focus[3] = {0, -0.09f, 0.08f};

static void pose_grasp(const zoo_kit *kit, double time, zoo_pose *pose)
{
    double ready = zoo_ramp(time, 0, 0.7), close = zoo_ramp(time, 0.8, 1.5), lift = zoo_ramp(time, 2.0, 3.2);
    pose_all(kit, pose, 46 * ready + 12 * close, 8 * ready + 14 * close, 4 * ready + 8 * close);

    /* The thumb swings down to stand against the fingers, then moves towards them. */
    zoo_pose_turn(kit, pose, "thumb_1", hand_frame.a, 52 * ready);
    zoo_pose_turn(kit, pose, "thumb_1", hand_frame.b, 44 * ready - 12 * close);
    zoo_hand_pose(kit, pose, &hand_frame, "", 0, 0, 6 * ready + 4 * close, 4 * ready + 6 * close, 0);
    zoo_pose_shift(kit, pose, "forearm", vec3_make(0, (float)(0.3 * lift), 0));
}

void zoo_describe_hand(zoo_kit *kit)
{
    static const vec3 axis_z = {0, 0, 1};
    kit->target_count = 5400;

    /* A stub of the forearm, closed, then the hand. */
    zoo_patch patch = zoo_patch_start(kit, 4, 2, (zoo_section){{0, 0, -0.072f}, {0.020f, 0, 0}, {0, 0.014f, 0}, 0});
    zoo_patch end = zoo_patch_reverse(&patch);
    zoo_patch_close(kit, &end, REGION_WRIST, 0);
    zoo_section stub[2] = {{{0, 0, -0.055f}, {0.028f, 0, 0}, {0, 0.021f, 0}, 0},
                           {{0, 0, -0.022f}, {0.028f, 0, 0}, {0, 0.020f, 0}, 0}};
    patch = zoo_patch_loft(kit, patch, stub, COUNT_OF(stub), REGION_WRIST);
    zoo_hand_cage(kit, patch, &hand_frame, REGION_HAND);

    /* flesh */
    int wrist = zoo_field_node(kit, -1, 0);
    zoo_field_flat_cone(kit, wrist, vec3_make(0, 0, -0.055f), 0.0205f, vec3_make(0, 0, -0.010f), 0.0172f,
                        vec3_make(1, 0, 0), 1.35f, 0.01f);
    zoo_hand_field(kit, wrist, &hand_frame);

    /* joints and clips */
    zoo_joint_add(kit, "forearm", NULL, vec3_make(0, 0, -0.065f), axis_z, 0, ZOO_ALL_REGIONS);
    zoo_joint_add(kit, "hand", "forearm", vec3_make(0, 0, 0), axis_z, 0.016f, ZOO_ALL_REGIONS);
    zoo_hand_joints(kit, "hand", "", &hand_frame, REGION_HAND);
    zoo_motion_add(kit, "fist", 2.8, 57, false, pose_fist);
    zoo_motion_add(kit, "spread", 2.0, 41, false, pose_spread);
    zoo_motion_add(kit, "grasp", 4.0, 81, false, pose_grasp);
    kit->motions[kit->motion_count - 1].focus = grasp_focus;
}
