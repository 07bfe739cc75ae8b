/*
 * The anatomy map: where it has which flesh, and what it does not depend on; what solvers make of it; presets, gravity
 * and muscles by default.
 */
#include "testing.h"

#include "bar.h"
#include "character/anatomy.h"
#include "character/anatomy_limits.h"

/* ---- helpers ---- */

/* A character's map, and all that it needs. */
typedef struct mapped {
    arena memory;
    cutis_character character; /* a copy, so that its arrays can be replaced */
    mesh mesh;
    anatomy anatomy;
} mapped;

/* The map of a character whose positions and joints a transform has moved (NULL: none), with x and z widened. */
static mapped map_make(const cutis_character *c, const mat34 *move, float wide)
{
    mapped m = {.memory = arena_create(NULL), .character = *c};
    arena *a = &m.memory;
    int vertices = c->vertex_count;
    float *positions = arena_copy(a, c->positions, 3 * (size_t)vertices, sizeof(float));
    cutis_joint *joints = arena_copy(a, c->joints, (size_t)c->joint_count, sizeof *joints);
    mat34 whole = move ? *move : mat34_identity(), inverse;
    assert_true(mat34_inverse(whole, &inverse));
    for (int v = 0; v < vertices; v++) {
        vec3 x = vec3_load(positions + 3 * v);
        x.x *= wide;
        x.z *= wide;
        vec3_store(positions + 3 * v, mat34_point(whole.m, x));
    }
    for (int j = 0; j < c->joint_count; j++) {
        mat34 bind;
        memcpy(bind.m, joints[j].inverse_bind, sizeof bind.m);
        bind = mat34_multiply(bind, inverse);
        memcpy(joints[j].inverse_bind, bind.m, sizeof bind.m);
    }
    m.character.positions = positions;
    m.character.joints = joints;

    /* a scale alone changes the size */
    m.character.size = c->size * sqrtf(vec3_length2(vec3_make(whole.m[0], whole.m[4], whole.m[8])));
    assert_int_equal(mesh_build_character(&m.mesh, &m.character, a, NULL), CUTIS_OK);

    /* weights of points: those of one vertex */
    int total = c->influence_first[vertices], at = 0;
    int *first = ARENA_ARRAY(a, int, c->point_count + 1), *owners = ARENA_ARRAY(a, int, total + 1);
    float *weights = ARENA_ARRAY(a, float, total + 1);
    for (int p = 0; p < c->point_count; p++) {
        int v = c->point_vertices[p];
        first[p] = at;
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            owners[at] = c->influence_joints[i];
            weights[at++] = c->influence_weights[i];
        }
    }
    first[c->point_count] = at;
    anatomy_request request = {&m.character, &m.mesh, first, owners, weights};
    arena scratch = arena_create(NULL);
    assert_int_equal(anatomy_find(&request, a, &scratch, &m.anatomy, NULL), CUTIS_OK);
    arena_destroy(&scratch);
    return m;
}

static void map_free(mapped *m) { arena_destroy(&m->memory); }

/* The map at the point nearest to a place, and how far that is. */
static float map_near(const mapped *m, vec3 place, float *distance)
{
    float best = INFINITY, soft = 0;
    for (int p = 0; p < m->mesh.point_count; p++) {
        float d = vec3_distance(vec3_load(m->mesh.positions + 3 * p), place);
        if (d >= best) continue;
        best = d;
        soft = m->anatomy.softness[p];
    }
    *distance = best;
    return soft;
}

/* Mean softness of the points that a joint moves most and whose place a test accepts. */
static double mean_at(const mapped *m, int kind, double low, double high, double front)
{
    const cutis_character *c = &m->character;
    double sum = 0;
    int count = 0;
    for (int p = 0; p < c->point_count; p++) {
        int v = c->point_vertices[p], best = -1;
        float most = 0;
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++)
            if (c->influence_weights[i] > most) {
                most = c->influence_weights[i];
                best = c->influence_joints[i];
            }
        if (best < 0 || m->anatomy.parts[best].kind != kind) continue;
        const float *x = c->positions + 3 * v;
        double height =
            ((double)x[1] - (double)c->bounds_min[1]) / ((double)c->bounds_max[1] - (double)c->bounds_min[1]);
        if (height < low || height > high || front * (double)x[2] < 0) continue;
        sum += (double)m->anatomy.softness[p];
        count++;
    }
    return count > 0 ? sum / count : -1;
}

/* ---- the map ---- */

static void regions_are_where_people_have_them(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 1);
    mapped m = map_make(c, NULL, 1);
    assert_true(m.anatomy.known && m.anatomy.has_frame && m.anatomy.upright);
    double head = mean_at(&m, JOINT_HEAD, 0, 1, 0), hand = mean_at(&m, JOINT_HAND, 0, 1, 0);
    double foot = mean_at(&m, JOINT_FOOT, 0, 1, 0), shin = mean_at(&m, JOINT_LOWER_LEG, 0, 1, 1);
    double thigh = mean_at(&m, JOINT_UPPER_LEG, 0, 1, 0), arm = mean_at(&m, JOINT_UPPER_ARM, 0, 1, 0);
    double belly = mean_at(&m, JOINT_HIPS, 0, 1, 1), trunk = mean_at(&m, JOINT_SPINE, 0.75, 1, -1);
    print_message(
        "head %.2f hand %.2f foot %.2f shin %.2f thigh %.2f upper arm %.2f hips' front %.2f upper back %.2f\n", head,
        hand, foot, shin, thigh, arm, belly, trunk);
    assert_true(head >= 0 && head < 0.15 && hand < 0.15 && foot < 0.15 && shin < 0.3);
    assert_true(arm > 0.2 && arm < 0.6 && trunk > 0.2 && trunk < 0.6);
    assert_true(thigh > arm && belly > 0.6);
    map_free(&m);
    cutis_character_destroy(c);
}

static void regions_are_where_animals_have_them(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("cat", 1);
    mapped m = map_make(c, NULL, 1);
    assert_true(m.anatomy.known && m.anatomy.has_frame && !m.anatomy.upright);
    assert_true(m.anatomy.front.y < -0.8f);

    /* under the trunk soft, on it firmer, paws firm */
    double under = 0, over = 0;
    int below = 0, above = 0;
    for (int p = 0; p < m.mesh.point_count; p++) {
        int v = c->point_vertices[p];
        int joint = c->influence_joints[c->influence_first[v]];
        int kind = m.anatomy.parts[joint].kind;
        if (kind != JOINT_SPINE && kind != JOINT_HIPS) continue;
        float normals[3] = {0, 0, 0};
        for (int i = m.mesh.point_triangle_first[p]; i < m.mesh.point_triangle_first[p + 1]; i++) {
            const int *t = m.mesh.triangles + 3 * m.mesh.point_triangles[i];
            vec3 a = vec3_load(m.mesh.positions + 3 * t[0]), b = vec3_load(m.mesh.positions + 3 * t[1]),
                 d = vec3_load(m.mesh.positions + 3 * t[2]);
            vec3 n = vec3_normalize(vec3_cross(vec3_sub(b, a), vec3_sub(d, a)));
            for (int k = 0; k < 3; k++) normals[k] += vec3_axis(n, k);
        }
        vec3 normal = vec3_normalize(vec3_load(normals));
        if (normal.y < -0.7f) under += (double)m.anatomy.softness[p], below++;
        if (normal.y > 0.7f) over += (double)m.anatomy.softness[p], above++;
    }
    double paw = mean_at(&m, JOINT_FOOT, 0, 1, 0);
    print_message("belly %.2f back %.2f paw %.2f\n", under / below, over / above, paw);
    assert_true(below > 0 && above > 0 && under / below > over / above + 0.2);
    assert_true(paw < 0.15);
    map_free(&m);
    cutis_character_destroy(c);
}

static void map_is_symmetric(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 1);
    mapped m = map_make(c, NULL, 1);
    double mean = 0;
    for (int p = 0; p < m.mesh.point_count; p++) {
        vec3 x = vec3_load(m.mesh.positions + 3 * p);
        x.x = -x.x;
        float distance, other = map_near(&m, x, &distance);
        assert_true(fabsf(other - m.anatomy.softness[p]) < 0.08f);
        mean += fabs((double)other - (double)m.anatomy.softness[p]) / m.mesh.point_count;
    }
    print_message("mean difference of sides %.4f\n", mean);
    assert_true(mean < 0.01);
    map_free(&m);
    cutis_character_destroy(c);
}

static void map_is_smooth(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 2);
    mapped m = map_make(c, NULL, 1);
    double most = 0;
    for (int e = 0; e < m.mesh.edge_count; e++) {
        int a = m.mesh.edges[2 * e], b = m.mesh.edges[2 * e + 1];
        double length =
            vec3_distance(vec3_load(m.mesh.positions + 3 * a), vec3_load(m.mesh.positions + 3 * b)) / c->size;
        double step = fabs((double)m.anatomy.softness[a] - (double)m.anatomy.softness[b]);
        most = fmax(most, step / (length / SMOOTH_LENGTH + 0.5));
    }
    print_message("largest step over three hundredths of the size %.3f\n", most);
    assert_true(most < 0.25);
    map_free(&m);
    cutis_character_destroy(c);
}

static void units_and_orientation_do_not_matter(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 0.5);
    mapped plain = map_make(c, NULL, 1);
    vec3 axis = vec3_normalize(vec3_make(1, 2, -0.5f));
    mat34 moves[3] = {
        mat34_compose(vec3_make(0, 0, 0), quat_identity(), vec3_make(100, 100, 100)),
        mat34_compose(vec3_make(3, -2, 5), quat_axis_angle(axis, 2.1), vec3_make(1, 1, 1)),
        mat34_compose(vec3_make(0, 0, 0), quat_axis_angle(vec3_make(1, 0, 0), 1.5707963), vec3_make(1, 1, 1))};
    for (int i = 0; i < 3; i++) {
        mapped m = map_make(c, &moves[i], 1);
        for (int p = 0; p < c->point_count; p++)
            assert_true(fabsf(m.anatomy.softness[p] - plain.anatomy.softness[p]) < 2e-3f);
        map_free(&m);
    }
    map_free(&plain);
    cutis_character_destroy(c);
}

static void resolution_does_not_matter(void **unused)
{
    (void)unused;
    cutis_character *coarse = test_zoo("man", 0.5), *fine = test_zoo("man", 2);
    mapped a = map_make(coarse, NULL, 1), b = map_make(fine, NULL, 1);
    double mean = 0;
    for (int p = 0; p < coarse->point_count; p++) {
        float distance, other = map_near(&b, vec3_load(a.mesh.positions + 3 * p), &distance);
        mean += fabs((double)other - (double)a.anatomy.softness[p]) / coarse->point_count;
    }
    print_message("mean difference of resolutions %.4f\n", mean);
    assert_true(mean < 0.03);
    map_free(&a);
    map_free(&b);
    cutis_character_destroy(coarse);
    cutis_character_destroy(fine);
}

static void thick_bodies_are_softer(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 0.5);
    mapped plain = map_make(c, NULL, 1), thick = map_make(c, NULL, 1.4f), thin = map_make(c, NULL, 0.7f);
    static const int kinds[] = {JOINT_HIPS, JOINT_UPPER_LEG};
    for (int i = 0; i < 2; i++) {
        double soft[3] = {mean_at(&thin, kinds[i], 0, 1, 0), mean_at(&plain, kinds[i], 0, 1, 0),
                          mean_at(&thick, kinds[i], 0, 1, 0)};
        print_message("thin %.3f average %.3f thick %.3f\n", soft[0], soft[1], soft[2]);
        assert_true(soft[0] < soft[1] && soft[1] < soft[2]);
    }
    map_free(&plain);
    map_free(&thick);
    map_free(&thin);
    cutis_character_destroy(c);
}

static void unknown_bodies_are_soft_where_thick(void **unused)
{
    (void)unused;
    bar b = bar_make(12, 16, 4);
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
    bar_free(&b);
    mapped plain = map_make(c, NULL, 1), wide = map_make(c, NULL, 0.2f);
    assert_false(plain.anatomy.known);
    double sums[2] = {0, 0};
    for (int p = 0; p < c->point_count; p++) {
        sums[0] += (double)plain.anatomy.softness[p];
        sums[1] += (double)wide.anatomy.softness[p];
    }
    print_message("thick %.3f thin %.3f\n", sums[0] / c->point_count, sums[1] / c->point_count);
    assert_true(sums[0] > 2 * sums[1]);
    map_free(&plain);
    map_free(&wide);
    cutis_character_destroy(c);
}

static void unit_is_guessed_from_height(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 0.3);
    static const struct {
        float scale;
        double unit;
    } units[] = {{1, 1}, {100, 0.01}, {1000, 0.001}, {39.37f, 0.0254}, {0.01f, 100}};
    for (int i = 0; i < COUNT_OF(units); i++) {
        mat34 move = mat34_compose(vec3_make(0, 0, 0), quat_axis_angle(vec3_make(1, 0, 0), 0.3 * i),
                                   vec3_make(units[i].scale, units[i].scale, units[i].scale));
        mapped m = map_make(c, &move, 1);
        assert_true(fabs(anatomy_unit(&m.character, &m.anatomy) - units[i].unit) < 1e-9);
        map_free(&m);
    }
    cutis_character_destroy(c);

    /* a body without a known shape: metres where that is plausible, else the next common unit */
    cutis_character *arm = test_zoo("arm", 0.2);
    for (int i = 0; i < COUNT_OF(units); i++) {
        mat34 move = mat34_compose(vec3_make(0, 0, 0), quat_identity(),
                                   vec3_make(units[i].scale, units[i].scale, units[i].scale));
        mapped m = map_make(arm, &move, 1);
        double size = (double)m.character.size * anatomy_unit(&m.character, NULL);
        assert_true(size > 0.05 && size < 15);
        if (units[i].scale <= 100)
            assert_true(anatomy_unit(&m.character, NULL) == units[i].unit || units[i].scale == 39.37f);
        map_free(&m);
    }
    cutis_character_destroy(arm);
}

/* ---- what solvers make of it ---- */

static const char *const flesh_solvers[] = {"tissue", "lattice"};

static cutis_model *model_make(const cutis_character *c, const char *solver, const cutis_setting *settings, int count)
{
    cutis_model_def def = cutis_model_def_default();
    def.character = c;
    def.solver = solver;
    def.detail = 600;
    def.settings = settings;
    def.setting_count = count;
    cutis_model *model = NULL;
    cutis_error error;
    if (cutis_model_build(&def, &model, &error)) fail_msg("%s", error.text);
    return model;
}

/* Positions after a time of a clip, in memory of malloc. */
static float *clip_end(const cutis_character *c, const char *solver, int clip, double seconds,
                       const cutis_setting *settings, int count)
{
    cutis_model *model = model_make(c, solver, settings, count);
    cutis_state *state = test_state(model, NULL);
    cutis_clip_motion motion = {c, clip, 0};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    cutis_state_step(model, state, &input, seconds);
    float *positions = malloc(3 * (size_t)c->vertex_count * sizeof(float));
    memcpy(positions, cutis_state_positions(model, state), 3 * (size_t)c->vertex_count * sizeof(float));
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return positions;
}

static double apart(const cutis_character *c, const float *a, const float *b)
{
    double most = 0;
    for (int v = 0; v < c->vertex_count; v++)
        most = fmax(most, (double)vec3_distance(vec3_load(a + 3 * v), vec3_load(b + 3 * v)));
    return most / (double)c->size;
}

static int clip_find(const cutis_character *c, const char *name)
{
    for (int i = 0; i < c->clip_count; i++)
        if (strcmp(c->clips[i].name, name) == 0) return i;
    fail_msg("no clip %s", name);
    return -1;
}

static void every_preset_differs(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 0.4);
    for (int s = 0; s < COUNT_OF(flesh_solvers); s++) {
        float *ends[16] = {NULL};
        int count = cutis_preset_count();
        assert_true(count == 6 && !cutis_preset_get(count));
        for (int i = 0; i < count; i++) {
            cutis_setting setting = {"preset", cutis_preset_get(i)->name};
            ends[i] = clip_end(c, flesh_solvers[s], clip_find(c, "jump"), 0.8, &setting, 1);
            for (int k = 0; k < i; k++) {
                double difference = apart(c, ends[i], ends[k]);
                print_message("%s: %s and %s differ by %.2f %% of size\n", flesh_solvers[s], cutis_preset_get(i)->name,
                              cutis_preset_get(k)->name, 100 * difference);
                assert_true(difference > 0.001);
            }
        }

        /* average is the default, and what is set wins */
        float *plain = clip_end(c, flesh_solvers[s], clip_find(c, "jump"), 0.8, NULL, 0);
        assert_memory_equal(plain, ends[1], 3 * (size_t)c->vertex_count * sizeof(float));
        free(plain);
        for (int i = 0; i < count; i++) free(ends[i]);
    }

    /* an unknown one is an error that lists them, and one without effect is an error */
    cutis_setting wrong = {"preset", "fat"}, known = {"preset", "heavy"};
    cutis_model_def def = cutis_model_def_default();
    def.character = c;
    def.settings = &wrong;
    def.setting_count = 1;
    def.solver = "tissue";
    cutis_model *model;
    cutis_error error;
    assert_int_equal(cutis_model_build(&def, &model, &error), CUTIS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "athletic, average, heavy, old, toy, statue"));
    def.settings = &known;
    def.solver = "lbs";
    assert_int_equal(cutis_model_build(&def, &model, &error), CUTIS_ERROR_ARGUMENT);
    cutis_character_destroy(c);
}

static void rest_pose_does_not_move_under_gravity(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 0.4);
    float *joints = malloc(12 * (size_t)c->joint_count * sizeof(float));
    cutis_pose_rest(c, joints);
    for (int s = 0; s < COUNT_OF(flesh_solvers); s++) {
        cutis_model *model = model_make(c, flesh_solvers[s], NULL, 0);
        assert_true(cutis_model_parameter(model, "gravity") > 9);
        cutis_state *state = test_state(model, NULL);
        cutis_step_input input = {.joints = joints};
        for (int i = 0; i < 4; i++) cutis_state_step(model, state, &input, 0.1);
        double moved = apart(c, cutis_state_positions(model, state), c->positions);
        print_message("%s: moved by %.2g of the size\n", flesh_solvers[s], moved);
        assert_true(moved < 2e-5);
        cutis_state_destroy(state);
        cutis_model_destroy(model);
    }
    free(joints);
    cutis_character_destroy(c);
}

/* Upside down, flesh hangs towards the head. */
static void flesh_hangs_when_upside_down(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 0.4);
    float *joints = malloc(12 * (size_t)c->joint_count * sizeof(float));
    cutis_pose_rest(c, joints);
    mat34 over = mat34_compose(vec3_make(0, 0, 0), quat_axis_angle(vec3_make(0, 0, 1), 3.14159265), vec3_make(1, 1, 1));
    for (int j = 0; j < c->joint_count; j++) {
        mat34 pose;
        memcpy(pose.m, joints + 12 * j, sizeof pose.m);
        pose = mat34_multiply(over, pose);
        memcpy(joints + 12 * j, pose.m, sizeof pose.m);
    }
    for (int s = 0; s < COUNT_OF(flesh_solvers); s++) {
        cutis_model *model = model_make(c, flesh_solvers[s], NULL, 0);
        cutis_state *state = test_state(model, NULL);
        cutis_step_input input = {.joints = joints};
        cutis_state_reset(model, state, joints);
        for (int i = 0; i < 10; i++) cutis_state_step(model, state, &input, 0.1);
        const float *x = cutis_state_positions(model, state);
        double least = 0;
        for (int v = 0; v < c->vertex_count; v++) {
            vec3 skinned = mat34_point(over.m, vec3_load(c->positions + 3 * v));
            least = fmin(least, ((double)x[3 * v + 1] - (double)skinned.y) / (double)c->size);
        }
        print_message("%s: hangs by %.2f %% of the size\n", flesh_solvers[s], -100 * least);
        assert_true(least < -0.005 && least > -0.1);
        cutis_state_destroy(state);
        cutis_model_destroy(model);
    }
    free(joints);
    cutis_character_destroy(c);
}

/* The output `tissue` of a state. */
static const float *tissue_of(const cutis_model *model, const cutis_state *state)
{
    cutis_output output;
    assert_true(cutis_state_output(model, state, "tissue", &output));
    return output.values;
}

static void painted_map_wins(void **unused)
{
    (void)unused;
    cutis_character *plain = test_zoo("man", 0.4), *c = NULL;
    cutis_character given = *plain;
    float *values = malloc((size_t)plain->vertex_count * sizeof(float));
    for (int v = 0; v < plain->vertex_count; v++) values[v] = 0.3f;
    cutis_map map = {"softness", values};
    given.maps = &map;
    given.map_count = 1;
    assert_int_equal(cutis_character_create(&given, NULL, &c, NULL), CUTIS_OK);
    for (int s = 0; s < COUNT_OF(flesh_solvers); s++) {
        cutis_model *model = model_make(c, flesh_solvers[s], NULL, 0);
        cutis_state *state = test_state(model, NULL);
        const float *soft = tissue_of(model, state);
        for (int v = 0; v < c->vertex_count; v++) assert_true(fabsf(soft[v] - 0.3f) < 1e-3f || soft[v] == 0);
        cutis_state_destroy(state);
        cutis_model_destroy(model);
    }
    free(values);
    cutis_character_destroy(plain);
    cutis_character_destroy(c);
}

static void anatomy_can_be_turned_off(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("man", 0.4);
    static const cutis_setting off[] = {{"anatomy", "off"}}, none[] = {{"anatomy", "0"}}, on[] = {{"anatomy", "on"}};
    for (int s = 0; s < COUNT_OF(flesh_solvers); s++) {
        int clip = clip_find(c, "jump");
        float *ends[4] = {
            clip_end(c, flesh_solvers[s], clip, 0.6, NULL, 0), clip_end(c, flesh_solvers[s], clip, 0.6, on, 1),
            clip_end(c, flesh_solvers[s], clip, 0.6, off, 1), clip_end(c, flesh_solvers[s], clip, 0.6, none, 1)};
        size_t bytes = 3 * (size_t)c->vertex_count * sizeof(float);
        assert_memory_equal(ends[0], ends[1], bytes);
        assert_memory_equal(ends[2], ends[3], bytes);
        assert_true(apart(c, ends[0], ends[2]) > 0.002);
        for (int i = 0; i < 4; i++) free(ends[i]);
    }
    cutis_character_destroy(c);
}

/* The upper arm of the built-in arm gets thicker where it bends. */
static void muscles_swell_by_default(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 0.4);
    static const cutis_setting off[] = {{"muscle_bulge", "off"}, {"gravity", "off"}}, on[] = {{"gravity", "off"}};
    int clip = clip_find(c, "flex");
    double middle = 0.5 * (double)(c->clips[clip].end - c->clips[clip].start);
    float *slack = clip_end(c, "tissue", clip, middle, off, 2), *tense = clip_end(c, "tissue", clip, middle, on, 1);
    double inner = 0;
    for (int v = 0; v < c->vertex_count; v++) {
        double along = (double)(c->positions[3 * v] - c->bounds_min[0]) / (double)(c->bounds_max[0] - c->bounds_min[0]);
        double up = (double)(tense[3 * v + 1] - slack[3 * v + 1]) / (double)c->size;
        if (along > 0.15 && along < 0.45) inner = fmax(inner, up);
    }
    print_message("the upper arm is %.3f %% of the size thicker\n", 100 * inner);
    assert_true(inner > 0.0015 && inner < 0.03);
    free(slack);
    free(tense);
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_where_people_have_them),
        cmocka_unit_test(regions_are_where_animals_have_them),
        cmocka_unit_test(map_is_symmetric),
        cmocka_unit_test(map_is_smooth),
        cmocka_unit_test(units_and_orientation_do_not_matter),
        cmocka_unit_test(resolution_does_not_matter),
        cmocka_unit_test(thick_bodies_are_softer),
        cmocka_unit_test(unknown_bodies_are_soft_where_thick),
        cmocka_unit_test(unit_is_guessed_from_height),
        cmocka_unit_test(every_preset_differs),
        cmocka_unit_test(rest_pose_does_not_move_under_gravity),
        cmocka_unit_test(flesh_hangs_when_upside_down),
        cmocka_unit_test(painted_map_wins),
        cmocka_unit_test(anatomy_can_be_turned_off),
        cmocka_unit_test(muscles_swell_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
