/*
 * test_rig_blocks.c: people put together from boxes, of random proportions: arms that lie on the trunk, legs that lie
 * on each other, some with a hat around the head, some with feet, some with arms held out a little, each turned.
 */
#include "testing.h"

#include "math/math3.h"

enum { BOX_LIMIT = 12, PEOPLE = 24 };

typedef struct boxes {
    int count;
    float positions[BOX_LIMIT * 8 * 3];
    int corners[BOX_LIMIT * 24];
    int first[BOX_LIMIT * 6 + 1];
    vec3 shoulders[2], hips[2], hands[2], soles[2], neck; /* left (+x) first */
    float height;
} boxes;

static unsigned int seed;
static float between(float low, float high)
{
    seed = seed * 1664525u + 1013904223u;
    return low + (high - low) * (float)(seed >> 8) / 16777216.0f;
}

/* A box from low to high, turned by `angle` about the z axis through `hinge`. */
static void box_add(boxes *b, vec3 low, vec3 high, vec3 hinge, float angle)
{
    static const int sides[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
    int base = 8 * b->count;
    for (int i = 0; i < 8; i++) {
        vec3 p = {i & 4 ? high.x : low.x, i & 2 ? high.y : low.y, i & 1 ? high.z : low.z};
        float x = p.x - hinge.x, y = p.y - hinge.y;
        p.x = hinge.x + cosf(angle) * x - sinf(angle) * y;
        p.y = hinge.y + sinf(angle) * x + cosf(angle) * y;
        vec3_store(b->positions + 3 * (base + i), p);
    }
    for (int f = 0; f < 6; f++)
        for (int k = 0; k < 4; k++) b->corners[24 * b->count + 4 * f + k] = base + sides[f][k];
    b->count++;
}

/* A person of height 1 before it is turned; z ahead. */
static void person_make(boxes *b)
{
    float leg = between(0.33f, 0.45f), trunk = between(0.3f, 0.4f), head = 1 - leg - trunk;
    float wide = between(0.18f, 0.3f), deep = between(0.1f, 0.16f), arm_wide = between(0.09f, 0.14f);
    float arm = between(0.85f, 1.15f) * trunk, out = between(0, 1) < 0.5f ? 0 : between(0.03f, 0.3f);
    vec3 none = {0, 0, 0};
    bool hat = between(0, 1) < 0.5f, feet = between(0, 1) < 0.4f;

    /* trunk and head */
    float half = 0.5f * fmaxf(head, 0.2f);
    box_add(b, (vec3){-wide / 2, leg, -deep / 2}, (vec3){wide / 2, leg + trunk, deep / 2}, none, 0);
    box_add(b, (vec3){-half, leg + trunk, -half}, (vec3){half, 1, half}, none, 0);
    float over = 0.06f * half;
    if (hat)
        box_add(b, (vec3){-half - over, leg + trunk - over, -half - over}, (vec3){half + over, 1 + over, half + over},
                none, 0);

    /* limbs of both sides: the left one is at +x */
    for (int k = 0; k < 2; k++) {
        float s = k ? -1 : 1;
        float x[2] = {s * wide / 2, s * (wide / 2 + arm_wide)};
        vec3 hinge = {s * (wide / 2 + 0.5f * arm_wide), leg + trunk - 0.5f * arm_wide, 0};
        box_add(b, (vec3){fminf(x[0], x[1]), leg + trunk - arm, -deep / 2},
                (vec3){fmaxf(x[0], x[1]), leg + trunk, deep / 2}, hinge, s * out);
        b->shoulders[k] = hinge;
        b->hands[k] =
            (vec3){hinge.x + s * sinf(out) * (arm - 0.5f * arm_wide), hinge.y - cosf(out) * (arm - 0.5f * arm_wide), 0};

        box_add(b, (vec3){k ? -wide / 2 : 0, 0, -deep / 2}, (vec3){k ? 0 : wide / 2, leg, deep / 2}, none, 0);
        if (feet) box_add(b, (vec3){k ? -wide / 2 : 0, 0, 0}, (vec3){k ? 0 : wide / 2, 0.06f, deep}, none, 0);
        b->hips[k] = (vec3){s * wide / 4, leg, 0};
        b->soles[k] = (vec3){s * wide / 4, 0, 0};
    }
    b->neck = (vec3){0, leg + trunk, 0};
    b->height = 1;
}

static void turn(boxes *b, float angle)
{
    vec3 *places[9] = {&b->shoulders[0], &b->shoulders[1], &b->hips[0],  &b->hips[1], &b->hands[0],
                       &b->hands[1],     &b->soles[0],     &b->soles[1], &b->neck};
    quat q = quat_axis_angle((vec3){0, 1, 0}, (double)angle);
    for (int i = 0; i < 8 * b->count; i++)
        vec3_store(b->positions + 3 * i, quat_rotate(q, vec3_load(b->positions + 3 * i)));
    for (int i = 0; i < 9; i++) *places[i] = quat_rotate(q, *places[i]);
}

static vec3 joint_at(const cutis_rig *rig, const float *rest, const char *name, int side)
{
    char full[32];
    snprintf(full, sizeof full, side < 0 ? "%s" : side ? "%s_r" : "%s_l", name);
    int j = cutis_character_find_joint(rig->character, full);
    if (j < 0) fail_msg("no joint '%s'", full);
    return (vec3){rest[12 * j + 3], rest[12 * j + 7], rest[12 * j + 11]};
}

/* Whether the joints of one side are where the boxes of that side have them; boxes do not tell where they face. */
static bool side_right(const cutis_rig *rig, const float *rest, const boxes *b, int joint_side, int box_side)
{
    float off[4] = {vec3_distance(joint_at(rig, rest, "upper_arm", joint_side), b->shoulders[box_side]),
                    vec3_distance(joint_at(rig, rest, "hand", joint_side), b->hands[box_side]),
                    vec3_distance(joint_at(rig, rest, "thigh", joint_side), b->hips[box_side]),
                    vec3_distance(joint_at(rig, rest, "foot", joint_side), b->soles[box_side])};
    return off[0] < 0.05f && off[1] < 0.15f && off[2] < 0.06f && off[3] < 0.08f;
}

static bool person_right(boxes *b)
{
    /* rig it */
    for (int f = 0; f <= 6 * b->count; f++) b->first[f] = 4 * f;
    cutis_character given = {.name = "boxes",
                             .vertex_count = 8 * b->count,
                             .positions = b->positions,
                             .face_count = 6 * b->count,
                             .face_first = b->first,
                             .corners = b->corners};
    cutis_character *body = NULL;
    cutis_error error = {0};
    if (cutis_character_create(&given, NULL, &body, &error) != CUTIS_OK) fail_msg("%s", error.text);
    cutis_rig_def def = cutis_rig_def_default();
    def.character = body;
    def.y_up = true;
    cutis_rig *rig = NULL;
    if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);

    /* recognised, and every limb in its box */
    bool right = rig->recognised && strcmp(rig->skeleton, "biped") == 0;
    if (right) {
        float *rest = malloc(12 * (size_t)rig->character->joint_count * sizeof *rest);
        cutis_pose_rest(rig->character, rest);
        right = (side_right(rig, rest, b, 0, 0) && side_right(rig, rest, b, 1, 1)) ||
                (side_right(rig, rest, b, 0, 1) && side_right(rig, rest, b, 1, 0));
        right = right && vec3_distance(joint_at(rig, rest, "neck", -1), b->neck) < 0.06f;
        free(rest);
    }
    if (!right) print_message("%s: %s\n", rig->skeleton, rig->sentences[0]);
    cutis_rig_destroy(rig);
    cutis_character_destroy(body);
    return right;
}

static void people_of_boxes_are_people(void **state)
{
    (void)state;
    int right = 0;
    for (int i = 0; i < PEOPLE; i++) {
        boxes *b = calloc(1, sizeof *b);
        seed = 77u + 1013u * (unsigned int)i;
        person_make(b);
        turn(b, between(0, 6.28f));
        bool fine = person_right(b);
        if (!fine) print_message("person %d is wrong\n", i);
        right += fine;
        free(b);
    }
    print_message("%d of %d people of boxes are right\n", right, PEOPLE);
    assert_in_range(right, PEOPLE - 2, PEOPLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(people_of_boxes_are_people)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
