/*
 * test_grasp.c: fingers are found, closing stops at contact, contacts and their score are right, the clip lifts.
 */
#include "testing.h"

#include "character/joint_parts.h"
#include "grasp/grasp_private.h"

enum { LOW_RESOLUTION = 30 }; /* percent */

/* ---- hands ---- */

/* A copy of a character moved by M = scale x rotation, with optional changes of the skeleton. */

static quat random_rotation(unsigned seed)
{
    float v[4];
    for (int k = 0; k < 4; k++) {
        seed = seed * 1664525u + 1013904223u;
        v[k] = (float)(seed >> 8) / (1 << 23) - 1;
    }
    return quat_normalize((quat){v[0], v[1], v[2], v[3]});
}

static cutis_transform transform_of(mat34 m)
{
    vec3 t, s;
    quat r;
    mat34_decompose(m, &t, &r, &s);
    return (cutis_transform){{t.x, t.y, t.z}, {r.x, r.y, r.z, r.w}, {s.x, s.y, s.z}};
}

/* flat: all joints become children of the root; nameless: joints are called j0, j1, ... */
static cutis_character *change_hand(const cutis_character *c, quat rotation, float scale, bool flat, bool nameless)
{
    cutis_character given = *c, *made = NULL;
    cutis_joint *joints = calloc((size_t)c->joint_count, sizeof *joints);
    float *positions = malloc(3 * (size_t)c->vertex_count * sizeof(float));
    char(*names)[16] = calloc((size_t)c->joint_count, sizeof *names);
    float *rest = malloc(12 * (size_t)c->joint_count * sizeof(float));
    mat34 move = mat34_compose(vec3_make(0.3f, -0.2f, 0.1f), rotation, vec3_make(scale, scale, scale)), back;
    mat34_inverse(move, &back);
    cutis_pose_rest(c, rest);
    for (int v = 0; v < c->vertex_count; v++)
        vec3_store(positions + 3 * v, mat34_point(move.m, vec3_load(c->positions + 3 * v)));
    for (int j = 0; j < c->joint_count; j++) {
        mat34 own, bind, parent, inverse;
        joints[j] = c->joints[j];
        if (flat && j > 1) joints[j].parent = 0;
        sprintf(names[j], "j%d", j);
        if (nameless) joints[j].name = names[j];

        /* the moved scene transform, in the parent's space */
        memcpy(own.m, rest + 12 * j, sizeof own.m);
        own = mat34_multiply(move, own);
        if (joints[j].parent >= 0) {
            memcpy(parent.m, rest + 12 * joints[j].parent, sizeof parent.m);
            parent = mat34_multiply(move, parent);
            mat34_inverse(parent, &inverse);
            own = mat34_multiply(inverse, own);
        }
        joints[j].rest = transform_of(own);
        joints[j].idle = joints[j].rest;
        memcpy(bind.m, c->joints[j].inverse_bind, sizeof bind.m);
        bind = mat34_multiply(bind, back);
        memcpy(joints[j].inverse_bind, bind.m, sizeof bind.m);
    }
    given.positions = positions;
    given.joints = joints;
    given.clip_count = 0;
    given.normals = NULL;
    cutis_error error;
    if (cutis_character_create(&given, NULL, &made, &error) != CUTIS_OK) fail_msg("%s", error.text);
    free(joints);
    free(positions);
    free(names);
    free(rest);
    return made;
}

static cutis_hand_info find_hand(const cutis_character *c, bool by_shape)
{
    cutis_hand_info hand;
    cutis_error error;
    if (cutis_hand_find(c, CUTIS_GRASP_ANY, by_shape, NULL, &hand, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return hand;
}

static void fingers_are_found_on_turned_and_scaled_hands(void **state)
{
    (void)state;
    cutis_character *hand = test_zoo("hand", 0.2);
    cutis_hand_info first = find_hand(hand, false);
    assert_int_equal(first.finger_count, 5);
    assert_int_equal(first.side, CUTIS_GRASP_LEFT);
    for (unsigned i = 0; i < 24; i++) {
        const float scales[] = {1, 0.01f, 100, 39.37f};
        quat turn = random_rotation(i + 1);
        bool flat = i % 2, nameless = i % 3 == 0;
        cutis_character *changed = change_hand(hand, turn, scales[i % 4], flat, nameless);
        cutis_hand_info found = find_hand(changed, i % 3 == 1);
        assert_int_equal(found.finger_count, 5);
        assert_int_equal(found.side, first.side);
        assert_int_equal(found.wrist, first.wrist);
        assert_memory_equal(found.links, first.links, sizeof found.links);
        assert_true(fabsf(found.length / (first.length * scales[i % 4]) - 1) < 1e-3f);
        vec3 palm = quat_rotate(turn, vec3_load(first.palm));
        assert_true(vec3_dot(palm, vec3_load(found.palm)) > 0.999f);
        cutis_character_destroy(changed);
    }
    cutis_character_destroy(hand);
}

static void people_have_two_hands(void **state)
{
    (void)state;
    cutis_character *man = test_zoo("man", 0.3);
    for (int by_shape = 0; by_shape < 2; by_shape++)
        for (int side = CUTIS_GRASP_LEFT; side <= CUTIS_GRASP_RIGHT; side++) {
            cutis_hand_info hand;
            assert_int_equal(cutis_hand_find(man, side, by_shape, NULL, &hand, NULL), CUTIS_OK);
            assert_int_equal(hand.side, side);
            assert_int_equal(hand.finger_count, 5);
            assert_string_equal(man->joints[hand.wrist].name, side == CUTIS_GRASP_LEFT ? "hand_l" : "hand_r");
        }
    cutis_character_destroy(man);
}

static void a_body_without_fingers_is_an_error(void **state)
{
    (void)state;
    static const char *const names[] = {"arm", "cat", "cylinder", "neck"};
    for (int i = 0; i < COUNT_OF(names); i++) {
        cutis_character *c = NULL;
        cutis_hand_info hand;
        cutis_error error = {.text = ""};
        if (cutis_zoo_make(names[i], 0.3, NULL, &c, NULL) != CUTIS_OK) continue;
        for (int by_shape = 0; by_shape < 2; by_shape++) {
            assert_int_equal(cutis_hand_find(c, CUTIS_GRASP_ANY, by_shape, NULL, &hand, &error),
                             CUTIS_ERROR_UNSUPPORTED);
            assert_non_null(strstr(error.text, "cutis rig"));
        }
        cutis_character_destroy(c);
    }

    /* the built-in hand is a left one */
    cutis_character *c = test_zoo("hand", 0.2);
    cutis_hand_info hand;
    assert_int_equal(cutis_hand_find(c, CUTIS_GRASP_RIGHT, false, NULL, &hand, NULL), CUTIS_ERROR_UNSUPPORTED);
    cutis_character_destroy(c);
}

/* ---- force closure ---- */

static void closure_of_axes_is_known(void **state)
{
    (void)state;
    /* both ways of each axis, of length a_i: the ball in the cross-polytope has radius 1 / sqrt(sum 1 / a_i^2) */
    const double lengths[6] = {1, 1, 1, 0.5, 0.7, 2};
    double columns[6 * 12] = {0}, sum = 0;
    for (int k = 0; k < 6; k++) {
        columns[6 * (2 * k) + k] = lengths[k];
        columns[6 * (2 * k + 1) + k] = -lengths[k];
        sum += 1 / (lengths[k] * lengths[k]);
    }
    assert_true(fabs(grasp_closure(columns, 12, 40) - 1 / sqrt(sum)) < 1e-6);

    /* two units along the fourth axis cost four columns of half a unit */
    const double target[6] = {0, 0, 0, 2, 0, 0};
    assert_true(fabs(grasp_gauge(columns, 12, target, NULL) - 4) < 1e-9);

    /* one side of an axis is missing */
    assert_true(grasp_closure(columns, 11, 40) == 0);
    const double missing[6] = {0, 0, 0, 0, 0, -1};
    assert_true(isinf(grasp_gauge(columns, 11, missing, NULL)));
}

static void closure_agrees_with_search(void **state)
{
    (void)state;
    /* random wrenches: no direction has a smaller support than the score */
    unsigned seed = 7;
    for (int trial = 0; trial < 5; trial++) {
        double columns[6 * 40];
        for (int i = 0; i < 240; i++) {
            seed = seed * 1664525u + 1013904223u;
            columns[i] = (double)(seed >> 8) / (1 << 23) - 1;
        }
        double score = grasp_closure(columns, 40, 40), least = 1e9;
        assert_true(score > 0);
        for (int i = 0; i < 20000; i++) {
            double u[6], length = 0, most = -1e9;
            for (int k = 0; k < 6; k++) {
                seed = seed * 1664525u + 1013904223u;
                u[k] = (double)(seed >> 8) / (1 << 23) - 1;
                length += u[k] * u[k];
            }
            for (int c = 0; c < 40; c++) {
                double h = 0;
                for (int k = 0; k < 6; k++) h += columns[6 * c + k] * u[k];
                most = fmax(most, h / sqrt(length));
            }
            least = fmin(least, most);
        }
        assert_true(score <= least + 1e-9);
    }
}

static void closure_of_contacts_is_known(void **state)
{
    (void)state;
    double columns[6 * TOUCH_LIMIT * CONE_EDGES];
    const vec3 centre = {0, 0, 0};

    /* two opposite points cannot hold a torque about their line, whatever the friction */
    grasp_touch two[2] = {{{1, 0, 0}, {-1, 0, 0}}, {{-1, 0, 0}, {1, 0, 0}}};
    int count = grasp_wrenches(two, 2, 0.8, centre, 1, columns);
    assert_int_equal(count, 16);
    assert_true(grasp_closure(columns, count, 40) == 0);

    /* but they hold a weight w across: w / friction on both together, as the pyramid has an edge that way */
    const double up[6] = {0, 1, 0, 0, 0, 0};
    double needed = grasp_gauge(columns, count, up, NULL);
    assert_true(needed >= 1 / 0.8 - 1e-6 && needed < 1.09 / 0.8);

    /* six faces of a cube: without friction no torque is held; with it, all are */
    grasp_touch six[6];
    for (int i = 0; i < 6; i++) {
        float side = i % 2 ? 1 : -1;
        float axis[3] = {i / 2 == 0, i / 2 == 1, i / 2 == 2};
        six[i].place = vec3_scale(vec3_load(axis), side);
        six[i].normal = vec3_scale(vec3_load(axis), -side);
    }
    count = grasp_wrenches(six, 6, 0, centre, 1, columns);
    assert_true(grasp_closure(columns, count, 40) == 0);
    count = grasp_wrenches(six, 6, 0.5, centre, 1, columns);
    double score = grasp_closure(columns, count, 40);
    assert_true(score > 0.05 && score < 1);

    /* more friction is never worse */
    count = grasp_wrenches(six, 6, 0.8, centre, 1, columns);
    assert_true(grasp_closure(columns, count, 40) > score);
}

/* ---- grasps ---- */

static cutis_placed_prop make_prop(const cutis_character *c, const char *name)
{
    cutis_placed_prop prop;
    cutis_error error;
    if (cutis_zoo_prop_make(name, c, -1, NULL, 1, NULL, &prop, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return prop;
}

static cutis_grasp *make_grasp(const cutis_character *c, const char *name, cutis_grasp_type type)
{
    cutis_placed_prop prop = make_prop(c, name);
    cutis_grasp_def def = cutis_grasp_def_default();
    def.character = c;
    def.prop = &prop;
    def.type = type;
    cutis_grasp *grasp = NULL;
    cutis_error error;
    if (cutis_grasp_create(&def, &grasp, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return grasp;
}

static void built_in_props_are_closed_and_face_outwards(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("hand", 0.2);
    for (int i = 0; i < cutis_zoo_prop_count(); i++) {
        cutis_placed_prop prop = make_prop(c, cutis_zoo_prop(i).name);
        if (prop.prop.shape != CUTIS_PROP_MESH) continue;
        mesh m;
        arena memory = arena_create(NULL);
        assert_int_equal(mesh_build(&m, prop.prop.vertex_count, prop.prop.positions, prop.prop.triangle_count,
                                    prop.prop.triangles, &memory, NULL),
                         CUTIS_OK);
        assert_int_equal(m.component_count, 1);
        assert_true(m.component_closed[0]);

        /* 24 sides: 12 sin(15 degrees) of area, height 2 */
        double volume = mesh_volume(m.triangle_count, m.triangles, m.positions);
        assert_true(fabs(volume - 24 * 0.2588190) < 1e-3);
        arena_destroy(&memory);
    }
    cutis_character_destroy(c);
}

static void contacts_point_into_the_prop(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("hand", 0.01 * LOW_RESOLUTION);
    for (int type = CUTIS_GRASP_POWER; type <= CUTIS_GRASP_HOOK; type++) {
        cutis_grasp *g = make_grasp(c, "ball", (cutis_grasp_type)type);
        const float *focus = g->character->clips[g->clip].focus;
        assert_true(g->contact_count >= 2);
        for (int i = 0; i < g->contact_count; i++) {
            const cutis_grasp_contact *contact = &g->contacts[i];
            vec3 inwards = vec3_normalize(vec3_sub(vec3_load(focus), vec3_load(contact->place)));
            assert_true(vec3_dot(inwards, vec3_load(contact->normal)) > 0.9f);
            assert_true(contact->area > 0 && contact->force >= 0);
        }
        if (type == CUTIS_GRASP_POWER) assert_true(g->score > 0.1 && isfinite(g->force_needed));
        cutis_grasp_destroy(g);
    }
    cutis_character_destroy(c);
}

/* Depth of the deepest skin of fingers in a ball of the clip, at a time. */
static float deepest_skin(const cutis_grasp *g, const cutis_character *hand, double time)
{
    const cutis_character *c = g->character;
    const cutis_prop *prop = &c->props[g->prop];
    float *joints = malloc(12 * (size_t)c->joint_count * sizeof(float)), deepest = -1;
    float *skin = malloc(12 * (size_t)c->joint_count * sizeof(float));
    cutis_pose_sample(c, g->clip, time, joints);
    for (int j = 0; j < c->joint_count; j++) {
        mat34 own, bind;
        memcpy(own.m, joints + 12 * j, sizeof own.m);
        memcpy(bind.m, c->joints[j].inverse_bind, sizeof bind.m);
        own = mat34_multiply(own, bind);
        memcpy(skin + 12 * j, own.m, sizeof own.m);
    }
    const float *m = joints + 12 * prop->joint;
    vec3 centre = {m[3], m[7], m[11]};
    for (int v = 0; v < hand->vertex_count; v++) {
        vec3 x = {0, 0, 0};
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++)
            x = vec3_madd(x, mat34_point(skin + 12 * c->influence_joints[i], vec3_load(c->positions + 3 * v)),
                          c->influence_weights[i]);
        deepest = fmaxf(deepest, prop->size[0] - vec3_distance(x, centre));
    }
    free(joints);
    free(skin);
    return deepest;
}

static void closing_stops_at_contact(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("hand", 0.01 * LOW_RESOLUTION);
    cutis_grasp *g = make_grasp(c, "ball", CUTIS_GRASP_POWER);

    /* clear of the prop until the fingers close; touching it then; pressed in afterwards */
    for (int i = 0; i < 12; i++) assert_true(deepest_skin(g, c, 0.05 * i) < 0);
    float touch = deepest_skin(g, c, g->touch_time), squeezed = deepest_skin(g, c, g->squeeze_time);
    assert_true(touch > -0.001f && touch < 0.002f);
    assert_true(squeezed > touch && squeezed < 0.010f);
    cutis_grasp_destroy(g);
    cutis_character_destroy(c);
}

static void clip_starts_at_rest_and_lifts_the_wrist(void **state)
{
    (void)state;
    cutis_character *hands[] = {test_zoo("hand", 0.2), test_zoo("man", 0.2)};
    for (int h = 0; h < 2; h++) {
        cutis_character *c = hands[h];
        cutis_placed_prop prop = make_prop(c, "ball");
        for (int k = 0; k < 3 && h == 1; k++) prop.prop.size[k] = 0.03f;
        cutis_grasp_def def = cutis_grasp_def_default();
        def.character = c;
        def.prop = &prop;
        def.lift = 0.15;
        cutis_grasp *g = NULL;
        cutis_error error;
        if (cutis_grasp_create(&def, &g, &error) != CUTIS_OK) fail_msg("%s", error.text);
        const cutis_character *made = g->character;
        assert_string_equal(made->clips[g->clip].name, "grasp");
        float *rest = malloc(12 * (size_t)made->joint_count * sizeof(float));
        float *now = malloc(12 * (size_t)made->joint_count * sizeof(float));
        cutis_pose_rest(made, rest);
        cutis_pose_sample(made, g->clip, 0, now);
        for (int i = 0; i < 12 * made->joint_count; i++) assert_true(fabsf(rest[i] - now[i]) < 1e-4f);

        /* bones keep their lengths all the way, and the wrist rises */
        int w = g->hand.wrist, p = made->joints[w].parent;
        for (double t = 0; t < 4; t += 0.25) {
            cutis_pose_sample(made, g->clip, t, now);
            vec3 a = {rest[12 * w + 3], rest[12 * w + 7], rest[12 * w + 11]};
            vec3 b = {rest[12 * p + 3], rest[12 * p + 7], rest[12 * p + 11]};
            vec3 d = {now[12 * w + 3], now[12 * w + 7], now[12 * w + 11]};
            vec3 e = {now[12 * p + 3], now[12 * p + 7], now[12 * p + 11]};
            assert_true(fabsf(vec3_distance(a, b) - vec3_distance(d, e)) < 1e-4f);
        }
        cutis_pose_sample(made, g->clip, g->lift_start, rest);
        cutis_pose_sample(made, g->clip, g->lift_end, now);
        assert_true(fabs((double)(now[12 * w + 7] - rest[12 * w + 7]) - g->lift) < 1e-3);
        assert_true(g->lift > 0.1);
        free(rest);
        free(now);
        cutis_grasp_destroy(g);
        cutis_character_destroy(c);
    }
}

static void a_flat_skeleton_grasps_as_the_same_tree(void **state)
{
    (void)state;
    cutis_character *hand = test_zoo("hand", 0.2);
    cutis_character *flat = change_hand(hand, quat_identity(), 1, true, false);
    cutis_character *tree = change_hand(hand, quat_identity(), 1, false, false);
    cutis_grasp *one = make_grasp(flat, "cube", CUTIS_GRASP_POWER), *two = make_grasp(tree, "cube", CUTIS_GRASP_POWER);
    assert_int_equal(one->contact_count, two->contact_count);
    float *a = malloc(12 * (size_t)one->character->joint_count * sizeof(float));
    float *b = malloc(12 * (size_t)two->character->joint_count * sizeof(float));
    for (double t = 0; t < 4; t += 0.5) {
        cutis_pose_sample(one->character, one->clip, t, a);
        cutis_pose_sample(two->character, two->clip, t, b);
        for (int i = 0; i < 12 * hand->joint_count; i++) assert_true(fabsf(a[i] - b[i]) < 2e-3f);
    }
    free(a);
    free(b);
    cutis_grasp_destroy(one);
    cutis_grasp_destroy(two);
    cutis_character_destroy(flat);
    cutis_character_destroy(tree);
    cutis_character_destroy(hand);
}

static void invalid_definitions_are_reported(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("hand", 0.2);
    cutis_placed_prop table = make_prop(c, "table"), ball = make_prop(c, "ball"), house = ball;
    cutis_grasp *g;
    cutis_error error;
    cutis_grasp_def def = cutis_grasp_def_default();
    def.character = c;
    assert_int_equal(cutis_grasp_create(&def, &g, &error), CUTIS_ERROR_ARGUMENT);
    def.prop = &table;
    assert_int_equal(cutis_grasp_create(&def, &g, &error), CUTIS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "table"));
    def.prop = &ball;
    def.force = -1;
    assert_int_equal(cutis_grasp_create(&def, &g, &error), CUTIS_ERROR_ARGUMENT);
    def.force = NAN;
    assert_int_equal(cutis_grasp_create(&def, &g, &error), CUTIS_ERROR_ARGUMENT);
    def.force = 0;

    /* a ball of two metres */
    house.prop.size[0] = 1;
    def.prop = &house;
    assert_int_equal(cutis_grasp_create(&def, &g, &error), CUTIS_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "scale"));
    assert_null(g);
    cutis_character_destroy(c);
}

static bool find_with(void *context, const cutis_allocator *allocator)
{
    cutis_hand_info hand;
    return cutis_hand_find(context, CUTIS_GRASP_ANY, false, allocator, &hand, NULL) == CUTIS_OK;
}

static void every_failing_allocation_is_an_error(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("hand", 0.2);
    test_every_allocation(find_with, c);

    /* of a whole grasp a sample, because the search takes its time */
    cutis_placed_prop ball = make_prop(c, "ball");
    for (long fail_at = 1; fail_at < 400; fail_at += 1 + fail_at / 3) {
        test_memory memory = {.fail_at = fail_at};
        cutis_allocator allocator = test_allocator(&memory);
        cutis_grasp_def def = cutis_grasp_def_default();
        def.character = c;
        def.prop = &ball;
        def.allocator = &allocator;
        cutis_grasp *g = NULL;
        cutis_result result = cutis_grasp_create(&def, &g, NULL);
        assert_true((result == CUTIS_OK) == (atomic_load(&memory.failures) == 0));
        cutis_grasp_destroy(g);
        assert_memory_clean(&memory);
    }
    cutis_character_destroy(c);
}

static void a_ball_is_lifted_and_slips_without_friction(void **state)
{
    (void)state;
    test_is_heavy();
    cutis_character *c = test_zoo("hand", 0.2);
    for (int slippery = 0; slippery < 2; slippery++) {
        cutis_placed_prop ball = make_prop(c, slippery ? "block" : "ball");
        cutis_grasp_def def = cutis_grasp_def_default();
        def.character = c;
        def.prop = &ball;
        def.friction = slippery ? 0 : 0.8;
        def.lift = 0.1;
        cutis_grasp *g;
        cutis_grasp_trial trial;
        assert_int_equal(cutis_grasp_create(&def, &g, NULL), CUTIS_OK);
        assert_int_equal(cutis_grasp_try(g, NULL, NULL, NULL, &trial, NULL), CUTIS_OK);
        assert_int_equal(trial.held, !slippery);
        if (!slippery) {
            assert_true(trial.slip < 0.005);
            assert_true(trial.bone_depth < 0.0005);
        }
        cutis_grasp_destroy(g);
    }
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fingers_are_found_on_turned_and_scaled_hands),
        cmocka_unit_test(people_have_two_hands),
        cmocka_unit_test(a_body_without_fingers_is_an_error),
        cmocka_unit_test(closure_of_axes_is_known),
        cmocka_unit_test(closure_agrees_with_search),
        cmocka_unit_test(closure_of_contacts_is_known),
        cmocka_unit_test(built_in_props_are_closed_and_face_outwards),
        cmocka_unit_test(contacts_point_into_the_prop),
        cmocka_unit_test(closing_stops_at_contact),
        cmocka_unit_test(clip_starts_at_rest_and_lifts_the_wrist),
        cmocka_unit_test(a_flat_skeleton_grasps_as_the_same_tree),
        cmocka_unit_test(invalid_definitions_are_reported),
        cmocka_unit_test(every_failing_allocation_is_an_error),
        cmocka_unit_test(a_ball_is_lifted_and_slips_without_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
