/*
 * Bodies made of capsules, each with something that is easily taken for a limb: an animal with a trunk and a hanging
 * tail, a bird with folded wings, a flying bird, a person in a robe to the floor, one with swords and a shield, and a
 * heap that is nothing. A body of blocks has legs in a rectangle.
 */
#include "testing.h"

#include "math/math3.h"

enum { AROUND = 10, ALONG = 6, RING_COUNT = 2 * ALONG, CAPSULE_LIMIT = 24 };

typedef struct capsules {
    int vertex_count, face_count;
    float positions[CAPSULE_LIMIT * RING_COUNT * AROUND * 3];
    int indices[CAPSULE_LIMIT * RING_COUNT * AROUND * 6];
    int first[CAPSULE_LIMIT * RING_COUNT * AROUND * 2 + 1];
} capsules;

static void triangle_add(capsules *c, int a, int b, int d)
{
    int *at = &c->indices[3 * c->face_count++];
    at[0] = a;
    at[1] = b;
    at[2] = d;
}

/* A closed cone with round ends, flattened along z by `flat`. */
static void capsule_add(capsules *c, vec3 a, vec3 b, float radius_a, float radius_b, float flat)
{
    vec3 axis = vec3_normalize(vec3_sub(b, a));
    vec3 side = vec3_orthogonal(axis);
    vec3 other = vec3_cross(axis, side);
    int base = c->vertex_count;
    for (int k = 0; k < RING_COUNT; k++) {
        /* rings of the half sphere at a, then of the one at b */
        bool far = k >= ALONG;
        float angle = 1.5707963f * (float)(far ? k - ALONG : k - ALONG + 1) / (ALONG - 0.5f);
        float radius = far ? radius_b : radius_a;
        vec3 centre = vec3_madd(far ? b : a, axis, radius * sinf(angle));
        for (int i = 0; i < AROUND; i++) {
            float turn = 6.2831853f * (float)i / AROUND;
            vec3 out = vec3_add(vec3_scale(side, cosf(turn)), vec3_scale(other, sinf(turn)));
            vec3 p = vec3_madd(centre, out, radius * cosf(angle));
            p.z = centre.z + (p.z - centre.z) * flat;
            vec3_store(&c->positions[3 * c->vertex_count++], p);
        }
    }
    for (int k = 0; k + 1 < RING_COUNT; k++)
        for (int i = 0; i < AROUND; i++) {
            int low = base + k * AROUND;
            int next = (i + 1) % AROUND;
            triangle_add(c, low + i, low + next, low + AROUND + i);
            triangle_add(c, low + next, low + AROUND + next, low + AROUND + i);
        }
    for (int i = 1; i + 1 < AROUND; i++) {
        int last = base + (RING_COUNT - 1) * AROUND;
        triangle_add(c, base, base + i + 1, base + i);
        triangle_add(c, last, last + i, last + i + 1);
    }
}

/* The same on both sides of x = 0. */
static void pair_add(capsules *c, vec3 a, vec3 b, float radius_a, float radius_b)
{
    capsule_add(c, a, b, radius_a, radius_b, 1);
    capsule_add(c, (vec3){-a.x, a.y, a.z}, (vec3){-b.x, b.y, b.z}, radius_a, radius_b, 1);
}

static cutis_rig *capsules_rig(capsules *c)
{
    for (int f = 0; f <= c->face_count; f++) c->first[f] = 3 * f;
    cutis_character given = {.name = "capsules",
                             .vertex_count = c->vertex_count,
                             .positions = c->positions,
                             .face_count = c->face_count,
                             .face_first = c->first,
                             .corners = c->indices};
    cutis_character *body = NULL;
    cutis_error error = {0};
    if (cutis_character_create(&given, NULL, &body, &error) != CUTIS_OK) fail_msg("%s", error.text);
    cutis_rig_def def = cutis_rig_def_default();
    def.character = body;
    def.y_up = true;
    cutis_rig *rig = NULL;
    if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
    for (int i = 0; i < 2 && i < rig->sentence_count; i++) print_message("%s\n", rig->sentences[i]);
    cutis_character_destroy(body);
    return rig;
}

static vec3 joint_at(const cutis_rig *rig, const char *name)
{
    int j = cutis_character_find_joint(rig->character, name);
    if (j < 0) fail_msg("no joint '%s'", name);
    float *rest = malloc(12 * (size_t)rig->character->joint_count * sizeof *rest);
    cutis_pose_rest(rig->character, rest);
    vec3 p = {rest[12 * j + 3], rest[12 * j + 7], rest[12 * j + 11]};
    free(rest);
    return p;
}

static void trunk_and_tail_are_no_legs(void **unused)
{
    (void)unused;
    capsules *c = calloc(1, sizeof *c);
    capsule_add(c, (vec3){0, 1.5f, -0.8f}, (vec3){0, 1.5f, 0.8f}, 0.5f, 0.5f, 1);
    capsule_add(c, (vec3){0, 1.8f, 0.9f}, (vec3){0, 1.9f, 1.5f}, 0.35f, 0.35f, 1);
    capsule_add(c, (vec3){0, 1.8f, 1.7f}, (vec3){0, 0.15f, 2.0f}, 0.16f, 0.08f, 1);
    capsule_add(c, (vec3){0, 1.6f, -1.2f}, (vec3){0, 0.3f, -1.6f}, 0.09f, 0.06f, 1);
    pair_add(c, (vec3){0.3f, 1.3f, 0.7f}, (vec3){0.3f, 0.15f, 0.75f}, 0.2f, 0.15f);
    pair_add(c, (vec3){0.3f, 1.3f, -0.8f}, (vec3){0.3f, 0.15f, -0.75f}, 0.2f, 0.15f);
    cutis_rig *rig = capsules_rig(c);
    assert_string_equal(rig->skeleton, "quadruped");
    assert_true(rig->recognised);
    for (int k = 0; k < 2; k++) {
        vec3 front = joint_at(rig, k ? "hand_r" : "hand_l");
        vec3 hind = joint_at(rig, k ? "foot_r" : "foot_l");
        assert_true(fabsf(fabsf(front.x) - 0.3f) < 0.15f && fabsf(front.z - 0.72f) < 0.3f);
        assert_true(fabsf(fabsf(hind.x) - 0.3f) < 0.15f && fabsf(hind.z + 0.77f) < 0.3f);
    }

    /* the head is in the skull, not in the trunk */
    vec3 head = joint_at(rig, "head");
    assert_true(head.z > 0.85f && head.z < 1.7f && head.y > 1.6f);
    cutis_rig_destroy(rig);
    free(c);
}

static void folded_wings_make_a_bird(void **unused)
{
    (void)unused;
    capsules *c = calloc(1, sizeof *c);
    capsule_add(c, (vec3){0, 1, -0.3f}, (vec3){0, 1.1f, 0.3f}, 0.3f, 0.3f, 1);
    capsule_add(c, (vec3){0, 1.2f, 0.45f}, (vec3){0, 1.75f, 0.75f}, 0.14f, 0.1f, 1);
    capsule_add(c, (vec3){0, 1.75f, 0.75f}, (vec3){0, 1.72f, 1}, 0.1f, 0.04f, 1);
    for (int k = -1; k <= 1; k++)
        capsule_add(c, (vec3){0, 1.05f, -0.5f}, (vec3){0.15f * (float)k, 1.2f, -1.2f}, 0.1f, 0.07f, 1);
    pair_add(c, (vec3){0.15f, 0.9f, 0}, (vec3){0.15f, 0.05f, 0.03f}, 0.08f, 0.05f);
    cutis_rig *rig = capsules_rig(c);
    assert_string_equal(rig->skeleton, "bird");
    assert_true(joint_at(rig, "head").z > 0.5f);
    assert_true(joint_at(rig, "foot_l").x > 0.08f && joint_at(rig, "foot_r").x < -0.08f);
    assert_true(joint_at(rig, "hand_l").x > 0.1f);
    cutis_rig_destroy(rig);
    free(c);
}

static void flying_bird_needs_no_legs(void **unused)
{
    (void)unused;
    capsules *c = calloc(1, sizeof *c);
    capsule_add(c, (vec3){0, 0, -0.3f}, (vec3){0, 0, 0.3f}, 0.13f, 0.13f, 1);
    capsule_add(c, (vec3){0, 0.05f, 0.35f}, (vec3){0, 0.05f, 0.7f}, 0.1f, 0.03f, 1);
    for (int k = -2; k <= 2; k++)
        capsule_add(c, (vec3){0, 0, -0.3f}, (vec3){0.1f * (float)k, 0, -0.75f}, 0.05f, 0.04f, 1);
    for (int k = 0; k < 5; k++)
        pair_add(c, (vec3){0.05f, 0.05f, 0.2f - 0.08f * (float)k}, (vec3){1, 0.1f, 0.1f - 0.08f * (float)k}, 0.05f,
                 0.04f);
    cutis_rig *rig = capsules_rig(c);
    assert_string_equal(rig->skeleton, "bird");
    assert_true(joint_at(rig, "head").z > 0.2f);
    assert_true(joint_at(rig, "hand_l").x > 0.3f && joint_at(rig, "hand_r").x < -0.3f);
    cutis_rig_destroy(rig);
    free(c);
}

static void robe_hides_two_legs(void **unused)
{
    (void)unused;
    capsules *c = calloc(1, sizeof *c);
    capsule_add(c, (vec3){0, 0.4f, 0}, (vec3){0, 0.95f, 0}, 0.4f, 0.2f, 0.6f);
    capsule_add(c, (vec3){0, 0.9f, 0}, (vec3){0, 1.35f, 0}, 0.2f, 0.17f, 0.6f);
    capsule_add(c, (vec3){0, 1.4f, 0}, (vec3){0, 1.55f, 0}, 0.06f, 0.06f, 1);
    capsule_add(c, (vec3){0, 1.62f, 0}, (vec3){0, 1.7f, 0}, 0.11f, 0.11f, 1);
    pair_add(c, (vec3){0.15f, 1.4f, 0}, (vec3){0.5f, 0.85f, 0}, 0.07f, 0.05f);
    pair_add(c, (vec3){0.14f, 0.06f, 0.1f}, (vec3){0.14f, 0.06f, 0.28f}, 0.06f, 0.06f);
    cutis_rig *rig = capsules_rig(c);
    assert_string_equal(rig->skeleton, "biped");
    for (int k = 0; k < 2; k++) {
        vec3 hip = joint_at(rig, k ? "thigh_r" : "thigh_l");
        vec3 knee = joint_at(rig, k ? "shin_r" : "shin_l");
        vec3 ankle = joint_at(rig, k ? "foot_r" : "foot_l");
        assert_true(hip.y > 0.75f && hip.y < 1.1f);
        assert_true(fabsf(ankle.x - hip.x) < 0.12f && ankle.y < 0.2f);
        assert_true(knee.y > 0.35f * hip.y && knee.y < 0.7f * hip.y);
    }
    assert_true(joint_at(rig, "hand_l").x > 0.3f);
    cutis_rig_destroy(rig);
    free(c);
}

/* A person in pieces, as games have them: without its arms. */
static void trunk_add(capsules *c)
{
    capsule_add(c, (vec3){0, 0.95f, 0}, (vec3){0, 1.35f, 0}, 0.15f, 0.17f, 0.8f);
    capsule_add(c, (vec3){0, 1.6f, 0}, (vec3){0, 1.7f, 0.01f}, 0.1f, 0.11f, 1);
    capsule_add(c, (vec3){0, 1.4f, 0}, (vec3){0, 1.6f, 0}, 0.06f, 0.06f, 1);
    pair_add(c, (vec3){0.1f, 0.9f, 0}, (vec3){0.12f, 0.5f, 0}, 0.09f, 0.07f);
    pair_add(c, (vec3){0.12f, 0.5f, 0}, (vec3){0.12f, 0.09f, -0.02f}, 0.06f, 0.05f);
    pair_add(c, (vec3){0.12f, 0.05f, -0.04f}, (vec3){0.13f, 0.05f, 0.16f}, 0.045f, 0.04f);
}

static void person_add(capsules *c)
{
    trunk_add(c);
    pair_add(c, (vec3){0.2f, 1.4f, 0}, (vec3){0.5f, 1.35f, 0}, 0.06f, 0.05f);
    pair_add(c, (vec3){0.5f, 1.35f, 0}, (vec3){0.82f, 1.3f, 0}, 0.05f, 0.04f);
}

/* Arms that lie on the trunk from the shoulders to the elbows, with the hands before the belly, hang from the
 * shoulders. */
static void arms_that_touch_the_trunk_hang_from_the_shoulders(void **unused)
{
    (void)unused;
    capsules *c = calloc(1, sizeof *c);
    trunk_add(c);
    pair_add(c, (vec3){0.2f, 1.4f, 0}, (vec3){0.22f, 1.12f, -0.02f}, 0.07f, 0.06f);
    pair_add(c, (vec3){0.22f, 1.12f, -0.02f}, (vec3){0.1f, 1.08f, 0.24f}, 0.06f, 0.05f);
    pair_add(c, (vec3){0.1f, 1.08f, 0.24f}, (vec3){0.08f, 1.1f, 0.34f}, 0.05f, 0.03f);
    cutis_rig *rig = capsules_rig(c);
    assert_string_equal(rig->skeleton, "biped");
    assert_true(rig->recognised);
    for (int side = 0; side < 2; side++) {
        float x = side ? -1.0f : 1.0f;
        vec3 shoulder = joint_at(rig, side ? "upper_arm_r" : "upper_arm_l");
        vec3 elbow = joint_at(rig, side ? "forearm_r" : "forearm_l");
        vec3 wrist = joint_at(rig, side ? "hand_r" : "hand_l");
        print_message("shoulder %.2f %.2f, elbow %.2f %.2f, wrist %.2f %.2f %.2f\n", (double)shoulder.x,
                      (double)shoulder.y, (double)elbow.x, (double)elbow.y, (double)wrist.x, (double)wrist.y,
                      (double)wrist.z);
        assert_true(vec3_distance(shoulder, (vec3){0.2f * x, 1.4f, 0}) < 0.1f);
        assert_true(vec3_distance(elbow, (vec3){0.22f * x, 1.12f, -0.02f}) < 0.1f);
        assert_true(vec3_distance(wrist, (vec3){0.1f * x, 1.08f, 0.24f}) < 0.1f);
    }
    cutis_rig_destroy(rig);
    free(c);
}

/* A hand that has grown to the hip is no far end of the body: it is the image of the other one. */
static void hand_that_does_not_show_is_the_image_of_the_other(void **unused)
{
    (void)unused;
    capsules *c = calloc(1, sizeof *c);
    trunk_add(c);
    pair_add(c, (vec3){0.2f, 1.4f, 0}, (vec3){0.27f, 1.12f, -0.02f}, 0.065f, 0.05f);
    pair_add(c, (vec3){0.27f, 1.12f, -0.02f}, (vec3){0.28f, 0.84f, 0.04f}, 0.05f, 0.04f);
    capsule_add(c, (vec3){-0.27f, 0.86f, 0.03f}, (vec3){-0.1f, 0.88f, 0}, 0.05f, 0.05f, 1);
    cutis_rig *rig = capsules_rig(c);
    assert_string_equal(rig->skeleton, "biped");
    assert_true(rig->recognised);
    for (int side = 0; side < 2; side++) {
        float x = side ? -1.0f : 1.0f;
        vec3 elbow = joint_at(rig, side ? "forearm_r" : "forearm_l");
        vec3 wrist = joint_at(rig, side ? "hand_r" : "hand_l");
        print_message("elbow %.2f %.2f, wrist %.2f %.2f %.2f\n", (double)elbow.x, (double)elbow.y, (double)wrist.x,
                      (double)wrist.y, (double)wrist.z);
        assert_true(vec3_distance(elbow, (vec3){0.27f * x, 1.12f, -0.02f}) < 0.1f);
        assert_true(vec3_distance(wrist, (vec3){0.28f * x, 0.94f, 0.02f}) < 0.08f);
    }
    cutis_rig_destroy(rig);
    free(c);
}

/* The hem of a skirt is no crotch: hips are no lower than without it. */
static void hem_is_no_crotch(void **unused)
{
    (void)unused;
    capsules *c = calloc(1, sizeof *c);
    float hips[2];
    for (int skirt = 0; skirt < 2; skirt++) {
        *c = (capsules){0};
        person_add(c);
        if (skirt) capsule_add(c, (vec3){0, 1.0f, 0}, (vec3){0, 0.95f, 0}, 0.17f, 0.3f, 1);
        cutis_rig *rig = capsules_rig(c);
        assert_string_equal(rig->skeleton, "biped");
        assert_true(rig->recognised);
        hips[skirt] = joint_at(rig, "thigh_l").y;
        cutis_rig_destroy(rig);
    }
    print_message("hips %.3f without, %.3f with a skirt\n", (double)hips[0], (double)hips[1]);
    assert_true(hips[1] > hips[0] - 0.01f);
    free(c);
}

/* A shield, and swords longer than arms, do not make a person something else, nor move the hands. */
static void things_in_the_hands_are_no_limbs(void **unused)
{
    (void)unused;
    capsules *c = calloc(1, sizeof *c);
    for (int swords = 1; swords <= 2; swords++) {
        *c = (capsules){0};
        person_add(c);
        capsule_add(c, (vec3){0.78f, 1.3f, -0.3f}, (vec3){0.82f, 1.25f, 1.8f}, 0.04f, 0.03f, 1);
        if (swords == 2) capsule_add(c, (vec3){-0.78f, 1.3f, -0.3f}, (vec3){-0.82f, 1.25f, 1.8f}, 0.04f, 0.03f, 1);
        capsule_add(c, (vec3){-0.8f, 1.0f, 0.1f}, (vec3){-0.8f, 1.5f, 0.1f}, 0.3f, 0.3f, 0.1f);
        cutis_rig *rig = capsules_rig(c);
        assert_string_equal(rig->skeleton, "biped");
        assert_true(rig->recognised);
        assert_true(vec3_distance(joint_at(rig, "hand_l"), (vec3){0.66f, 1.33f, 0}) < 0.12f);
        assert_true(vec3_distance(joint_at(rig, "hand_r"), (vec3){-0.66f, 1.33f, 0}) < 0.12f);
        cutis_rig_destroy(rig);
    }
    free(c);
}

/* ---- closed bodies of one part, made of blocks ---- */

enum { BLOCKS = 48, CORNERS = BLOCKS + 1 };

typedef struct blocks {
    bool filled[BLOCKS][BLOCKS][BLOCKS]; /* x, y, z */
} blocks;

static void block_fill(blocks *b, int x, int y, int z, int wide, int high, int deep)
{
    for (int i = x; i < x + wide; i++)
        for (int j = y; j < y + high; j++)
            for (int k = z; k < z + deep; k++) b->filled[i][j][k] = true;
}

static bool block_at(const blocks *b, const int at[3])
{
    for (int a = 0; a < 3; a++)
        if (at[a] < 0 || at[a] >= BLOCKS) return false;
    return b->filled[at[0]][at[1]][at[2]];
}

/* The quads between what is filled and what is not. */
static cutis_character *blocks_body(const blocks *b)
{
    int *vertices = malloc(sizeof(int) * CORNERS * CORNERS * CORNERS);
    float *positions = malloc(sizeof(float) * 3 * CORNERS * CORNERS * CORNERS);
    int *quads = malloc(sizeof(int) * 4 * 6 * BLOCKS * BLOCKS * BLOCKS);
    int *first = malloc(sizeof(int) * (6 * BLOCKS * BLOCKS * BLOCKS + 1));
    int vertex_count = 0;
    int quad_count = 0;
    memset(vertices, 0xFF, sizeof(int) * CORNERS * CORNERS * CORNERS);
    for (int n = 0; n < BLOCKS * BLOCKS * BLOCKS * 6; n++) {
        const int at[3] = {n / 6 % BLOCKS, n / 6 / BLOCKS % BLOCKS, n / 6 / BLOCKS / BLOCKS};
        int axis = n % 6 / 2;
        int beyond[3] = {at[0], at[1], at[2]};
        beyond[axis] += n % 2 ? 1 : -1;
        if (!block_at(b, at) || block_at(b, beyond)) continue;

        /* the corners of the face, so that it looks outwards */
        for (int k = 0; k < 4; k++) {
            int turn = n % 2 ? k : 3 - k;
            int corner[3] = {at[0], at[1], at[2]};
            corner[axis] += n % 2;
            corner[(axis + 1) % 3] += turn == 1 || turn == 2;
            corner[(axis + 2) % 3] += turn >= 2;
            int *vertex = &vertices[(corner[0] * CORNERS + corner[1]) * CORNERS + corner[2]];
            if (*vertex < 0) {
                *vertex = vertex_count;
                for (int a = 0; a < 3; a++) positions[3 * vertex_count + a] = 0.01f * (float)corner[a];
                vertex_count++;
            }
            quads[4 * quad_count + k] = *vertex;
        }
        first[quad_count] = 4 * quad_count;
        quad_count++;
    }
    first[quad_count] = 4 * quad_count;
    cutis_character given = {.name = "blocks",
                             .vertex_count = vertex_count,
                             .positions = positions,
                             .face_count = quad_count,
                             .face_first = first,
                             .corners = quads};
    cutis_character *body = NULL;
    cutis_error error = {0};
    if (cutis_character_create(&given, NULL, &body, &error) != CUTIS_OK) fail_msg("%s", error.text);
    free(vertices);
    free(positions);
    free(quads);
    free(first);
    return body;
}

/* Five limbs of one thickness are no hand where four of them stand in a rectangle (test_rig has hands that are). */
static void legs_in_a_rectangle_are_no_fingers(void **unused)
{
    (void)unused;
    blocks *b = calloc(1, sizeof *b);
    const int lengths[4] = {20, 22, 21, 18};
    for (int k = 0; k < 4; k++) block_fill(b, 6 + 12 * (k % 2), 24 - lengths[k], 6 + 9 * (k / 2), 4, lengths[k] + 2, 4);
    block_fill(b, 5, 24, 5, 18, 10, 15);
    block_fill(b, 23, 28, 8, 12, 4, 4);
    cutis_character *body = blocks_body(b);
    cutis_rig_def def = cutis_rig_def_default();
    def.character = body;
    cutis_rig *rig = NULL;
    cutis_error error = {0};
    if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
    assert_string_not_equal(rig->skeleton, "hand");
    cutis_rig_destroy(rig);
    cutis_character_destroy(body);
    free(b);
}

static void heap_is_not_recognised(void **unused)
{
    (void)unused;
    capsules *c = calloc(1, sizeof *c);
    static const float WAYS[7][3] = {{1, 0.2f, 0.1f},   {-0.3f, 1, 0.2f},   {0.1f, -0.4f, 1},    {-1, -0.5f, 0.3f},
                                     {0.3f, -1, -0.4f}, {0.2f, 0.5f, -1.f}, {-0.6f, 0.3f, -0.7f}};
    for (int k = 0; k < 7; k++)
        capsule_add(c, (vec3){0, 0, 0}, (vec3){WAYS[k][0], WAYS[k][1], WAYS[k][2]}, 0.12f, 0.06f, 1);
    cutis_rig *rig = capsules_rig(c);
    assert_false(rig->recognised);
    cutis_rig_destroy(rig);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trunk_and_tail_are_no_legs),
        cmocka_unit_test(folded_wings_make_a_bird),
        cmocka_unit_test(flying_bird_needs_no_legs),
        cmocka_unit_test(robe_hides_two_legs),
        cmocka_unit_test(heap_is_not_recognised),
        cmocka_unit_test(arms_that_touch_the_trunk_hang_from_the_shoulders),
        cmocka_unit_test(hand_that_does_not_show_is_the_image_of_the_other),
        cmocka_unit_test(hem_is_no_crotch),
        cmocka_unit_test(things_in_the_hands_are_no_limbs),
        cmocka_unit_test(legs_in_a_rectangle_are_no_fingers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
