/*
 * zoo_biped.c: cage and skeleton of two-legged characters.
 *
 * The torso is a tube of 4 x 4 faces. Both legs grow out of its lower end (2 x 4 each), the neck out of the
 * middle of its upper end (2 x 4), the arms out of its sides (4 x 2, over the two uppermost rings).
 */
#include "zoo/zoo_biped.h"

static const vec3 axis_y = {0, 1, 0}, axis_z = {0, 0, 1};

static zoo_section ring_section(const biped_ring *ring)
{
    return (zoo_section){{0, ring->y, ring->z}, {ring->width, 0, 0}, {0, 0.5f * ring->tilt, -ring->depth}, 0.15f};
}

/* A section across the line a -> b at t, with half axes made square to it from `u` and `v`. */
static zoo_section limb_section(vec3 a, vec3 b, float t, vec3 u, vec3 v, float width, float depth)
{
    vec3 along = vec3_normalize(vec3_sub(b, a));
    u = vec3_normalize(vec3_madd(u, along, -vec3_dot(u, along)));
    v = vec3_normalize(vec3_madd(v, along, -vec3_dot(v, along)));
    return (zoo_section){vec3_lerp(a, b, t), vec3_scale(u, width), vec3_scale(v, depth), 0};
}

static zoo_section section_mirror(zoo_section s, float side)
{
    return (zoo_section){biped_mirror(s.centre, side), biped_mirror(s.u, side), biped_mirror(s.v, side), s.square};
}

zoo_frame biped_hand_frame(const biped *b, float side)
{
    /* The thumb points forwards and the palm to the body. */
    vec3 along = vec3_normalize(vec3_sub(b->wrist, b->elbow));
    vec3 across = vec3_scale(axis_z, -1);
    across = vec3_normalize(vec3_madd(across, along, -vec3_dot(across, along)));
    vec3 up = vec3_cross(along, across);
    return (zoo_frame){biped_mirror(b->wrist, side), biped_mirror(along, side), biped_mirror(across, side),
                       biped_mirror(up, side)};
}

zoo_frame biped_hand_scaled(const biped *b, float side)
{
    zoo_frame frame = biped_hand_frame(b, side);
    frame.a = vec3_scale(frame.a, b->hand_scale);
    frame.b = vec3_scale(frame.b, b->hand_scale);
    frame.c = vec3_scale(frame.c, b->hand_scale);
    return frame;
}

static void arm_cage(zoo_kit *kit, const biped *b, zoo_patch patch, float side)
{
    int region = side > 0 ? BIPED_ARM_L : BIPED_ARM_R;
    zoo_frame hand = biped_hand_frame(b, 1);
    vec3 s = b->shoulder, e = b->elbow, w = b->wrist, u = hand.b, v = hand.c;
    const float *r = b->arm;
    zoo_section sections[] = {
        limb_section(s, e, 0.22f, u, v, r[0], r[0]),        limb_section(s, e, 0.60f, u, v, r[1], r[1]),
        limb_section(s, e, 0.88f, u, v, r[2], r[2]),        limb_section(e, w, 0.0f, u, v, r[2], r[2]),
        limb_section(e, w, 0.15f, u, v, r[2], r[2]),        limb_section(e, w, 0.5f, u, v, r[2], r[2]),
        limb_section(e, w, 0.9f, u, v, r[3], r[3] * 0.75f),
    };

    /* the arm itself */
    for (int i = 0; i < COUNT_OF(sections); i++) sections[i] = section_mirror(sections[i], side);
    patch = zoo_patch_loft(kit, patch, sections, COUNT_OF(sections), region);

    /* a hand with fingers */
    if (b->hand_scale > 0) {
        zoo_frame frame = biped_hand_scaled(b, side);
        zoo_hand_cage(kit, patch, &frame, side > 0 ? BIPED_HAND_L : BIPED_HAND_R);
        return;
    }

    /* or a mitten */
    int mitten = side > 0 ? BIPED_HAND_L : BIPED_HAND_R;
    vec3 tip = vec3_madd(w, hand.a, b->mitten);
    zoo_section paw[] = {limb_section(w, tip, 0.35f, u, v, b->mitten * 0.5f, b->mitten * 0.42f),
                         limb_section(w, tip, 0.8f, u, v, b->mitten * 0.38f, b->mitten * 0.3f)};
    for (int i = 0; i < COUNT_OF(paw); i++) paw[i] = section_mirror(paw[i], side);
    patch = zoo_patch_loft(kit, patch, paw, COUNT_OF(paw), mitten);
    zoo_patch_close(kit, &patch, mitten, 0);
}

static void leg_cage(zoo_kit *kit, const biped *b, zoo_patch patch, float side)
{
    int region = side > 0 ? BIPED_LEG_L : BIPED_LEG_R, foot = side > 0 ? BIPED_FOOT_L : BIPED_FOOT_R;
    vec3 h = b->hip, k = b->knee, a = b->ankle, u = {1, 0, 0}, v = axis_z;
    const float *r = b->leg;
    float w = b->foot_width, top = b->foot_height;
    float heel = 0.45f * vec3_distance(b->ankle, b->ball);
    zoo_section sections[] = {
        limb_section(h, k, 0.28f, u, v, r[0], r[0]), limb_section(h, k, 0.60f, u, v, r[1], r[1]),
        limb_section(h, k, 0.88f, u, v, r[2], r[2]), limb_section(k, a, 0.0f, u, v, r[2], r[2]),
        limb_section(k, a, 0.12f, u, v, r[2], r[2]), limb_section(k, a, 0.45f, u, v, r[2], r[2]),
        limb_section(k, a, 0.85f, u, v, r[3], r[3]),
    };

    /* Round the heel: one slanted ring, then upright ones to the toes. */
    zoo_section ends[] = {
        {{a.x, 0.48f * a.y + 0.01f, a.z - 0.15f * heel}, {w * 0.85f, 0, 0}, {0, 0.55f * a.y, heel}, 0.2f},
        {{0.5f * (a.x + b->ball.x), 0.55f * top, 0.45f * a.z + 0.55f * b->ball.z},
         {w, 0, 0},
         {0, 0.5f * top, 0.2f * top},
         0.3f},
        {{b->ball.x, 0.42f * top, b->ball.z}, {w * 1.05f, 0, 0}, {0, 0.38f * top, 0}, 0.3f},
        {{b->toe.x, 0.32f * top, b->toe.z - 0.12f * (b->toe.z - b->ball.z)},
         {w * 0.85f, 0, 0},
         {0, 0.26f * top, 0},
         0.3f},
    };

    /* short legs have no thigh of their own */
    int count = COUNT_OF(sections);
    if (b->short_legs) {
        sections[0] = limb_section(k, a, 0, u, v, r[2], r[2]);
        sections[1] = limb_section(k, a, 0.6f, u, v, r[3], r[3]);
        count = 2;
    }

    /* both on their side */
    for (int i = 0; i < count; i++) sections[i] = section_mirror(sections[i], side);
    for (int i = 0; i < COUNT_OF(ends); i++) ends[i] = section_mirror(ends[i], side);
    patch = zoo_patch_loft(kit, patch, sections, count, region);
    patch = zoo_patch_loft(kit, patch, ends, COUNT_OF(ends), foot);
    zoo_patch_close(kit, &patch, foot, 0);
}

static void ear_cage(zoo_kit *kit, const biped *b, zoo_patch patch, float side)
{
    int region = side > 0 ? BIPED_EAR_L : BIPED_EAR_R;
    vec3 root = {0.45f * b->skull[4].width, b->crown.y - 0.01f, b->crown.z};
    vec3 tip = vec3_add(root, vec3_make(0.075f, 0.27f, -0.02f));
    static const float stops[5] = {0.12f, 0.35f, 0.6f, 0.82f, 0.95f},
                       widths[5] = {0.024f, 0.034f, 0.038f, 0.030f, 0.018f};
    for (int i = 0; i < 5; i++) {
        /* One column, two rows; u across the ear, v to its back. */
        zoo_section s =
            limb_section(root, tip, stops[i], vec3_make(1, 0, 0), vec3_make(0, 0, -1), widths[i], 0.5f * widths[i]);
        patch = zoo_patch_extrude(kit, &patch, section_mirror(s, side), region, 0);
    }
    zoo_patch_close(kit, &patch, region, 0);
}

/* A ball grown out of two faces of the back, between the loops `low` and `high`, from loop index `first`. */
static void knob_cage(zoo_kit *kit, const biped *b, const zoo_patch *low, const zoo_patch *high, int first, int region)
{
    zoo_patch patch = {.cols = 2, .rows = 1, .chart = -1};
    for (int c = 0; c < 3; c++) {
        patch.points[c] = zoo_patch_loop(low, first + c);
        patch.points[3 + c] = zoo_patch_loop(high, first + c);
    }
    static const float back[3] = {-0.45f, 0.1f, 0.7f}, wide[3] = {0.8f, 0.95f, 0.7f};
    for (int i = 0; i < 3; i++) {
        float r = wide[i] * b->knob_radius;
        zoo_section section = {vec3_madd(b->knob, axis_z, -back[i] * b->knob_radius), {-r, 0, 0}, {0, r, 0}, 0};
        patch = zoo_patch_extrude(kit, &patch, section, region, 0);
    }
    zoo_patch_close(kit, &patch, region, 0);
}

void biped_cage(zoo_kit *kit, const biped *b)
{
    enum { SIDES = 0xf0 | 0xf000 }; /* loop edges 4..7 and 12..15: the left and right side */
    zoo_patch levels[BIPED_TORSO_LEVELS];

    /* rings of the torso, open where arms and tail begin */
    levels[0] = zoo_patch_start(kit, 4, 4, ring_section(&b->torso[0]));
    bool tail = b->knob_radius > 0 && !b->knob_on_head, bun = b->knob_radius > 0 && b->knob_on_head;
    for (int i = 1; i < BIPED_TORSO_LEVELS; i++) {
        unsigned skip = i >= 5 ? SIDES : i == 1 && tail ? 1 << 9 | 1 << 10 : 0;
        levels[i] = zoo_patch_extrude(kit, &levels[i - 1], ring_section(&b->torso[i]), BIPED_TORSO, skip);
    }
    if (tail) knob_cage(kit, b, &levels[0], &levels[1], 9, BIPED_TORSO);

    /* Top: the shoulders' outer columns are closed, the two in the middle go on as neck and head. */
    const zoo_patch *top = &levels[BIPED_TORSO_LEVELS - 1];
    zoo_patch_close(kit, top, BIPED_TORSO, 0x6666);
    zoo_patch head = zoo_patch_part(top, 1, 3, 0, 4);
    head.bias = 0.25f; /* the face needs more columns than the back of the head */
    for (int i = 0; i < BIPED_HEAD_LEVELS; i++) {
        zoo_patch below = head;
        bool here = bun && i == 4;
        head = zoo_patch_extrude(kit, &head, ring_section(&b->skull[i]), BIPED_HEAD, here ? 1 << 6 | 1 << 7 : 0);
        if (here) knob_cage(kit, b, &below, &head, 6, BIPED_HEAD);
    }
    zoo_patch_close(kit, &head, BIPED_HEAD, b->ears ? 0x3c : 0);

    /* limbs of either side */
    for (int k = 0; k < 2; k++) {
        float side = k == 0 ? 1 : -1;

        /* Arms: columns from front to back, rows upwards. */
        zoo_patch arm = {.cols = 4, .rows = 2, .flip = side < 0, .chart = -1};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c <= 4; c++)
                arm.points[5 * r + c] = zoo_patch_loop(&levels[4 + r], side > 0 ? 4 + c : 16 - c);
        arm_cage(kit, b, arm, side);

        /* Legs: columns outwards from the middle, rows from back to front. */
        zoo_patch leg = {.cols = 2, .rows = 4, .flip = side < 0, .chart = -1};
        for (int r = 0; r <= 4; r++)
            for (int c = 0; c <= 2; c++)
                leg.points[3 * r + c] = levels[0].points[5 * (4 - r) + (side > 0 ? 2 + c : 2 - c)];
        leg_cage(kit, b, leg, side);

        /* Ears: one column of the crown each, its two middle rows. */
        if (b->ears) {
            zoo_patch ear = zoo_patch_part(&head, side > 0 ? 1 : 0, side > 0 ? 2 : 1, 1, 3);
            if (side < 0) {
                /* Mirrored: columns run outwards on both sides. */
                for (int r = 0; r < 3; r++) {
                    int swap = ear.points[2 * r];
                    ear.points[2 * r] = ear.points[2 * r + 1];
                    ear.points[2 * r + 1] = swap;
                }
                ear.flip = true;
            }
            ear_cage(kit, b, ear, side);
        }
    }
}

/* The spine from the hips to the head. */
static void trunk_joints(zoo_kit *kit, const biped *b)
{
    unsigned all = ZOO_ALL_REGIONS;
    float trunk = b->neck.y - b->hips.y;
    unsigned head = 1u << BIPED_TORSO | 1u << BIPED_HEAD | 1u << BIPED_EAR_L | 1u << BIPED_EAR_R;
    zoo_joint_add(kit, "hips", NULL, b->hips, axis_y, 0, all);
    unsigned upper = all & ~(1u << BIPED_LEG_L | 1u << BIPED_LEG_R | 1u << BIPED_FOOT_L | 1u << BIPED_FOOT_R);

    /* Hanging arms reach below the planes of the spine, and yet follow the chest. */
    int spine = zoo_joint_add(kit, "spine", "hips", b->spine, axis_y, 0.16f * trunk, upper);
    int chest = zoo_joint_add(kit, "chest", "spine", b->chest, axis_y, 0.16f * trunk, upper);
    kit->joints[spine].full_regions = kit->joints[chest].full_regions =
        1u << BIPED_ARM_L | 1u << BIPED_ARM_R | 0xfffu << BIPED_HAND_L;
    zoo_joint_add(kit, "neck", "chest", b->neck, vec3_sub(b->head, b->neck), 0.40f * vec3_distance(b->head, b->neck),
                  1u << BIPED_HEAD | 1u << BIPED_EAR_L | 1u << BIPED_EAR_R);
    zoo_joint_add(kit, "head", "neck", b->head, axis_y, 0.35f * vec3_distance(b->head, b->neck), head);
}

static void muscle_field(zoo_kit *kit, int arm, vec3 middle, vec3 along, vec3 out, vec3 front, const biped_muscle *m)
{
    zoo_field_blob(kit, arm, middle, vec3_scale(along, m->half[0]), vec3_scale(out, m->half[1]),
                   vec3_scale(front, m->half[2]), m->blend);
}

void biped_arm_field(zoo_kit *kit, int body, const biped *b, const biped_arm_flesh *flesh, float side)
{
    zoo_frame f = biped_hand_frame(b, side);
    vec3 shoulder = biped_mirror(b->shoulder, side), elbow = biped_mirror(b->elbow, side),
         wrist = biped_mirror(b->wrist, side);
    vec3 upper = vec3_normalize(vec3_sub(elbow, shoulder)), out = f.c, front = vec3_scale(f.b, -1);
    const biped_muscle *deltoid = &flesh->deltoid, *biceps = &flesh->biceps, *triceps = &flesh->triceps,
                       *forearm = &flesh->forearm;

    /* upper arm */
    int arm = zoo_field_node(kit, body, flesh->blend);
    zoo_field_cone(kit, arm, shoulder, flesh->shoulder, elbow, flesh->elbow, 0.02f);
    vec3 middle = vec3_madd(vec3_madd(shoulder, upper, deltoid->along), out, deltoid->off);
    muscle_field(kit, arm, middle, upper, out, front, deltoid);
    middle = vec3_madd(vec3_lerp(shoulder, elbow, biceps->along), front, biceps->off);
    muscle_field(kit, arm, middle, upper, out, front, biceps);
    middle = vec3_madd(vec3_lerp(shoulder, elbow, triceps->along), front, triceps->off);
    muscle_field(kit, arm, middle, upper, out, front, triceps);

    /* forearm and hand */
    zoo_field_cone(kit, arm, elbow, flesh->forearm_elbow, wrist, flesh->wrist, 0.03f);
    middle = vec3_madd(vec3_lerp(elbow, wrist, forearm->along), out, forearm->off);
    muscle_field(kit, arm, middle, f.a, out, front, forearm);
    zoo_frame hand = biped_hand_scaled(b, side);
    zoo_hand_field(kit, arm, &hand);
}

static void arm_joints(zoo_kit *kit, const biped *b, float side)
{
    /* names and regions */
    const char *suffix = side > 0 ? "_l" : "_r";
    const char *names[4] = {zoo_name(kit, "shoulder", suffix), zoo_name(kit, "upper_arm", suffix),
                            zoo_name(kit, "forearm", suffix), zoo_name(kit, "hand", suffix)};
    int hand_region = side > 0 ? BIPED_HAND_L : BIPED_HAND_R;
    unsigned hand = 0x3fu << hand_region, arm = 1u << (side > 0 ? BIPED_ARM_L : BIPED_ARM_R) | hand;

    /* places */
    vec3 clavicle = biped_mirror(b->clavicle, side), shoulder = biped_mirror(b->shoulder, side);
    vec3 elbow = biped_mirror(b->elbow, side), wrist = biped_mirror(b->wrist, side);

    /* The shoulder girdle takes a soft ball of the torso around the arm's root. */
    int girdle =
        zoo_joint_add(kit, names[0], "chest", clavicle, vec3_sub(shoulder, clavicle), 0, arm | 1u << BIPED_TORSO);
    kit->joints[girdle].centre = shoulder;
    kit->joints[girdle].radius = 1.7f * b->arm[0] + 0.5f * vec3_distance(shoulder, clavicle);
    kit->joints[girdle].ball_regions = 1u << BIPED_TORSO;
    kit->joints[girdle].full_regions = arm;

    /* the upper arm takes a part of it */
    int upper_arm = zoo_joint_add(kit, names[1], names[0], shoulder, vec3_sub(elbow, shoulder), 1.1f * b->arm[0],
                                  arm | 1u << BIPED_TORSO);
    kit->joints[upper_arm].centre = vec3_lerp(shoulder, elbow, 0.15f);
    kit->joints[upper_arm].radius = 1.7f * b->arm[0];
    kit->joints[upper_arm].ball_regions = 1u << BIPED_TORSO;

    /* elbow, wrist and fingers */
    zoo_joint_add(kit, names[2], names[1], elbow, vec3_sub(wrist, elbow), 1.1f * b->arm[2], arm);
    zoo_joint_add(kit, names[3], names[2], wrist, vec3_sub(wrist, elbow), 1.0f * b->arm[3], arm);
    if (b->hand_scale > 0) {
        zoo_frame frame = biped_hand_scaled(b, side);
        zoo_hand_joints(kit, names[3], suffix, &frame, hand_region);
    }
}

static void leg_joints(zoo_kit *kit, const biped *b, float side)
{
    const char *suffix = side > 0 ? "_l" : "_r";
    const char *names[4] = {zoo_name(kit, "thigh", suffix), zoo_name(kit, "shin", suffix),
                            zoo_name(kit, "foot", suffix), zoo_name(kit, "toe", suffix)};

    /* regions and places */
    unsigned foot = 1u << (side > 0 ? BIPED_FOOT_L : BIPED_FOOT_R);
    unsigned leg = 1u << (side > 0 ? BIPED_LEG_L : BIPED_LEG_R) | foot;

    /* places */
    vec3 hip = biped_mirror(b->hip, side), knee = biped_mirror(b->knee, side), ankle = biped_mirror(b->ankle, side);
    vec3 ball = biped_mirror(b->ball, side), toe = biped_mirror(b->toe, side);

    /* The thigh takes a soft ball of the pelvis along, on its own side. */
    int thigh =
        zoo_joint_add(kit, names[0], "hips", hip, vec3_sub(knee, hip), 1.1f * b->leg[0], leg | 1u << BIPED_TORSO);
    kit->joints[thigh].centre = vec3_lerp(hip, knee, 0.08f);
    kit->joints[thigh].radius = 1.9f * b->leg[0];
    kit->joints[thigh].ball_regions = 1u << BIPED_TORSO;
    kit->joints[thigh].gate = 0.35f * b->leg[0];
    zoo_joint_add(kit, names[1], names[0], knee, vec3_sub(ankle, knee), 1.0f * b->leg[2], leg);
    zoo_joint_add(kit, names[2], names[1], ankle, vec3_normalize(vec3_sub(ball, ankle)), 0.9f * b->leg[3], leg);
    zoo_joint_add(kit, names[3], names[2], ball, vec3_sub(toe, ball), 0.35f * b->foot_width, foot);
}

static void ear_joints(zoo_kit *kit, const biped *b, float side)
{
    static const char *const names[3] = {"ear_1", "ear_2", "ear_3"};
    const char *above = "head";
    vec3 root = biped_mirror(vec3_make(0.45f * b->skull[4].width, b->crown.y, b->crown.z), side);
    vec3 along = biped_mirror(vec3_make(0.075f, 0.27f, -0.02f), side);
    for (int i = 0; i < 3; i++) {
        const char *name = zoo_name(kit, names[i], side > 0 ? "_l" : "_r");
        zoo_joint_add(kit, name, above, vec3_madd(root, along, 0.04f + 0.31f * (float)i), along, 0.035f,
                      1u << (side > 0 ? BIPED_EAR_L : BIPED_EAR_R));
        above = name;
    }
}

void biped_joints(zoo_kit *kit, const biped *b)
{
    trunk_joints(kit, b);
    for (int side = 1; side >= -1; side -= 2) {
        arm_joints(kit, b, (float)side);
        leg_joints(kit, b, (float)side);
    }
    for (int side = 1; side >= -1 && b->ears; side -= 2) ear_joints(kit, b, (float)side);
}
