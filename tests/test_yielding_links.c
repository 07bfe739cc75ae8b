/* Which joints yield to contact, and to what: things that hands hold, legs in skirts, arms that touch a head. */
#include "testing.h"

#include "articulation/articulation.h"
#include "character/skinning.h"
#include "engine/model_object.h"

enum { SIDES = 12, RING_COUNT = 9 };

static int joint_find(const cutis_character *c, const char *name)
{
    int joint = cutis_character_find_joint(c, name);
    if (joint < 0) fail_msg("no joint %s", name);
    return joint;
}

static void *grown(const void *old, size_t count, size_t more, size_t size)
{
    void *made = calloc(count + more, size);
    if (count) memcpy(made, old, count * size);
    return made;
}

/* A tube along y about a place, open at its ends, that one joint moves. */
typedef struct tube {
    int joint;
    float place[3], radius, low, high;
} tube;

/* A character with rigid tubes beside it; joint_count joints of which the last may be new. */
static cutis_character *with_tubes(const cutis_character *c, const cutis_joint *joints, int joint_count,
                                   const tube *tubes, int count)
{
    const int points = count * SIDES * RING_COUNT, faces = count * SIDES * (RING_COUNT - 1);
    const int corners = c->face_first[c->face_count], influences = c->influence_first[c->vertex_count];
    float *positions = grown(c->positions, 3 * (size_t)c->vertex_count, 3 * (size_t)points, sizeof *positions);
    float *weights = grown(c->influence_weights, (size_t)influences, (size_t)points, sizeof *weights);
    int *face_first = grown(c->face_first, (size_t)c->face_count + 1, (size_t)faces, sizeof(int));
    int *corner = grown(c->corners, (size_t)corners, 4 * (size_t)faces, sizeof(int));
    int *first = grown(c->influence_first, (size_t)c->vertex_count + 1, (size_t)points, sizeof(int));
    int *owners = grown(c->influence_joints, (size_t)influences, (size_t)points, sizeof(int));

    for (int i = 0; i < points; i++) {
        const tube *t = &tubes[i / (SIDES * RING_COUNT)];
        int ring = i / SIDES % RING_COUNT, vertex = c->vertex_count + i;
        double angle = 2 * 3.14159265358979 * (i % SIDES) / SIDES;
        positions[3 * vertex] = t->place[0] + t->radius * (float)cos(angle);
        positions[3 * vertex + 1] = t->place[1] + t->low + (t->high - t->low) * (float)ring / (RING_COUNT - 1);
        positions[3 * vertex + 2] = t->place[2] - t->radius * (float)sin(angle);
        weights[influences + i] = 1;
        owners[influences + i] = t->joint;
        first[vertex + 1] = influences + i + 1;
    }
    for (int i = 0; i < faces; i++) {
        int ring = i / SIDES, side = i % SIDES, next = (side + 1) % SIDES;
        int base = c->vertex_count + (ring + ring / (RING_COUNT - 1)) * SIDES;
        const int own[4] = {base + side, base + next, base + SIDES + next, base + SIDES + side};
        memcpy(corner + corners + 4 * i, own, sizeof own);
        face_first[c->face_count + i + 1] = corners + 4 * (i + 1);
    }

    cutis_character given = {.name = "tubes",
                             .vertex_count = c->vertex_count + points,
                             .positions = positions,
                             .face_count = c->face_count + faces,
                             .face_first = face_first,
                             .corners = corner,
                             .influence_first = first,
                             .influence_joints = owners,
                             .influence_weights = weights,
                             .joint_count = joint_count,
                             .joints = joints};
    cutis_character *made = NULL;
    assert_int_equal(cutis_character_create(&given, NULL, &made, NULL), CUTIS_OK);
    free(positions);
    free(weights);
    free(face_first);
    free(corner);
    free(first);
    free(owners);
    return made;
}

/* Two swords that coincide in one hand are no links, no flesh and no limbs of the hand, so the arm yields as before. */
static void things_in_a_hand_are_no_flesh(void **unused)
{
    (void)unused;
    cutis_character *man = test_zoo("man", 0.5);
    cutis_model *bare = test_build(man, "lattice", NULL);
    int hand = joint_find(man, "hand_l"), count = man->joint_count;
    cutis_joint *joints = grown(man->joints, (size_t)count, 2, sizeof *joints);
    vec3 place = joint_bind_place(&joints[hand]);
    tube swords[2];
    for (int i = 0; i < 2; i++) {
        joints[count + i] = joints[hand];
        joints[count + i].name = i ? "sword_2" : "sword_1";
        joints[count + i].parent = hand;
        joints[count + i].rest = joints[count + i].idle = (cutis_transform){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        swords[i] = (tube){count + i, {place.x, place.y, place.z}, 0.02f * man->size, 0, 0.5f * man->size};
    }

    cutis_character *armed = with_tubes(man, joints, count + 2, swords, 2);
    cutis_model *model = test_build(armed, "lattice", NULL);
    const articulation *a = &model->articulation, *b = &bare->articulation;
    assert_int_equal(a->link_count, b->link_count);
    assert_true(fabs(a->mass / b->mass - 1) < 1e-3);
    for (int j = 0; j < count; j++) assert_int_equal(a->joint_links[j], b->joint_links[j]);
    for (int i = 0; i < 2; i++) assert_int_equal(a->joint_links[count + i], a->joint_links[hand]);
    for (int l = 0; l < a->link_count; l++) {
        assert_int_equal(a->links[l].turns, b->links[l].turns);
        assert_int_equal(a->links[l].tree.triangle_count, b->links[l].tree.triangle_count);
    }
    for (int i = 0; i < a->sample_count; i++) assert_true(a->samples[i].joint < count);

    cutis_model_destroy(model);
    cutis_model_destroy(bare);
    cutis_character_destroy(armed);
    cutis_character_destroy(man);
    free(joints);
}

/* Samples of a limb that may touch the skin of the hips. */
static int free_samples(const articulation *a, int limb, int hips)
{
    int count = 0;
    for (int i = 0; i < a->sample_count; i++)
        count += a->links[a->samples[i].link].limb == limb &&
                 a->gaps[(size_t)i * (size_t)a->link_count + (size_t)hips] > -INFINITY;
    return count;
}

/* A leg whose thigh is in a skirt at rest has no contact with it, nor have shin and foot, which come out below. */
static void a_leg_in_a_skirt_has_no_contact_with_it(void **unused)
{
    (void)unused;
    cutis_character *man = test_zoo("man", 0.5);
    int hips = joint_find(man, "hips"), shin = joint_find(man, "shin_l");
    float knee = joint_bind_place(&man->joints[shin]).y, waist = joint_bind_place(&man->joints[hips]).y;
    tube skirt = {hips, {0, 0, 0}, 0.16f * man->size, knee - 0.3f * (waist - knee), waist};
    for (int dressed = 0; dressed < 2; dressed++) {
        cutis_character *c = with_tubes(man, man->joints, man->joint_count, &skirt, dressed);
        cutis_model *model = test_build(c, "lattice", NULL);
        const articulation *a = &model->articulation;
        int link = a->joint_links[hips], leg = a->links[a->joint_links[shin]].limb;
        assert_true(leg >= 0);
        int count = free_samples(a, leg, link);
        if (dressed ? count != 0 : count == 0) fail_msg("%d samples meet the hips, dressed %d", count, dressed);
        assert_true(free_samples(a, a->links[a->joint_links[joint_find(man, "forearm_l")]].limb, link) > 0);
        cutis_model_destroy(model);
        cutis_character_destroy(c);
    }
    cutis_character_destroy(man);
}

/* An arm that skin joins to the head near where both begin turns as before. */
static void a_head_on_the_shoulders_leaves_arms_free(void **unused)
{
    (void)unused;
    cutis_character *man = test_zoo("man", 0.5);
    int neck_joint = joint_find(man, "neck"), arm = joint_find(man, "upper_arm_l");
    vec3 neck = joint_bind_place(&man->joints[neck_joint]), shoulder = joint_bind_place(&man->joints[arm]);

    /* the neck's skin at the side goes with the upper arm */
    int changed = 0;
    for (int v = 0; v < man->vertex_count; v++) {
        vec3 x = vec3_load(man->positions + 3 * (size_t)v);
        if (!(vec3_distance(x, neck) < 0.04f * man->size) || !(x.x * shoulder.x > 0)) continue;
        for (int i = man->influence_first[v]; i < man->influence_first[v + 1]; i++)
            ((int *)man->influence_joints)[i] = arm;
        changed++;
    }
    assert_true(changed > 0);
    cutis_model *model = test_build(man, "lattice", NULL);
    const articulation *a = &model->articulation;
    assert_true(a->links[a->joint_links[arm]].turns);
    assert_true(a->links[a->joint_links[joint_find(man, "forearm_l")]].turns);
    cutis_model_destroy(model);
    cutis_character_destroy(man);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_in_a_hand_are_no_flesh),
        cmocka_unit_test(a_leg_in_a_skirt_has_no_contact_with_it),
        cmocka_unit_test(a_head_on_the_shoulders_leaves_arms_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
