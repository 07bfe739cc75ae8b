/* What acts on flesh besides its bones: acceleration, wind and blows, under every dynamic solver, and in a bake. */
#include "testing.h"

#include "mesh/mesh.h"
#include "springs_stage.h"

/* ---- helpers ---- */

typedef struct scene {
    cutis_character *tube;
    cutis_model *model;
    cutis_state *state;
} scene;

static scene scene_make(const char *solver)
{
    scene s = {0};
    assert_int_equal(test_tube(NULL, &s.tube, NULL), CUTIS_OK);
    s.model = test_build(s.tube, solver, NULL);
    s.state = test_state(s.model, NULL);
    return s;
}

static void scene_free(scene *s)
{
    cutis_state_destroy(s->state);
    cutis_model_destroy(s->model);
    cutis_character_destroy(s->tube);
}

/* The tube in its rest pose for some steps of 1/60 s under the same forces; impulses in the first step alone. */
static void scene_hold(scene *s, const cutis_step_input *forces, int steps, double dt)
{
    float joints[24];
    cutis_pose_rest(s->tube, joints);
    cutis_step_input input = *forces;
    input.joints = joints;
    for (int i = 0; i < steps; i++) {
        cutis_state_step(s->model, s->state, &input, dt);
        input.impulse_count = 0;
    }
}

/* Mean displacement of the vertices from rest along an axis, of those with z times `side` above `least`, over the size.
 */
static double displaced(const scene *s, int axis, float side, float least)
{
    const float *p = cutis_state_positions(s->model, s->state);
    double sum = 0;
    int count = 0;
    for (int v = 0; v < s->tube->vertex_count; v++) {
        if (side * s->tube->positions[3 * v + 2] < least) continue;
        sum += p[3 * v + axis] - s->tube->positions[3 * v + axis];
        count++;
    }
    return sum / count / s->tube->size;
}

/* How far the skin of solver slide has slid along the tube, mean over vertices: texture moves the other way. */
static double slid(const scene *s)
{
    cutis_output output;
    assert_true(cutis_state_output(s->model, s->state, "sliding", &output));
    double sum = 0;
    for (int i = 0; i < output.count * output.components; i++) sum += fabs(output.values[i]);
    return sum / output.count;
}

/* ---- flesh ---- */

static void flesh_gives_way_to_acceleration(void **unused)
{
    (void)unused;
    static const char *const solvers[] = {"layers", "lattice", "tissue"};
    for (int i = 0; i < COUNT_OF(solvers); i++) {
        scene s = scene_make(solvers[i]);
        cutis_step_input down = {.acceleration = {0, -10, 0}}, none = {0};
        scene_hold(&s, &down, 90, 1.0 / 60);
        double sags = displaced(&s, 1, 1, -10), aside = displaced(&s, 2, 1, -10);
        scene_hold(&s, &none, 180, 1.0 / 60);
        double back = displaced(&s, 1, 1, -10);
        print_message("%s: under 10 units/s2 flesh sags by %.4f of the size, aside %.1e, back within %.1e\n",
                      solvers[i], sags, aside, back);
        assert_true(sags < -0.001 && sags > -0.2 && fabs(aside) < 0.15 * fabs(sags) && fabs(back) < 0.05 * fabs(sags));
        scene_free(&s);
    }
}

static void wind_presses_what_faces_it(void **unused)
{
    (void)unused;
    static const char *const solvers[] = {"layers", "lattice", "tissue"};
    for (int i = 0; i < COUNT_OF(solvers); i++) {
        scene s = scene_make(solvers[i]);
        cutis_step_input wind = {.wind = {0, 0, -60}};
        scene_hold(&s, &wind, 90, 1.0 / 60);
        double front = displaced(&s, 2, 1, 0.2f), behind = displaced(&s, 2, -1, 0.2f);
        print_message("%s: a wind of 60 units/s presses the front in by %.4f of the size, the back moves by %.4f\n",
                      solvers[i], -front, behind);
        assert_true(front < -1e-4 && front > -0.1 && fabs(behind) < 0.9 * -front);
        scene_free(&s);
    }
}

/* A blow is felt once, in whatever step a substep begins, and where it falls. */
static void a_blow_falls_once(void **unused)
{
    (void)unused;
    static const char *const solvers[] = {"layers", "lattice", "tissue", "layers+slide"};
    const cutis_impulse blow = {{1.5f, 0, 0.25f}, 0.3f, {0, 0, -2}};
    const cutis_impulse mad[2] = {{{NAN, 0, 0}, 1, {0, 0, 0}}, {{0, 0, 0}, 1, {0, INFINITY, 0}}};
    for (int i = 0; i < COUNT_OF(solvers); i++) {
        double moved[2], whole = 0;
        for (int k = 0; k < 2; k++) {
            /* in one step, or in steps most of which are too short to hold a substep */
            scene s = scene_make(solvers[i]);
            cutis_step_input nothing = {0}, hit = {.impulses = &blow, .impulse_count = 1};
            cutis_step_input madness = {.impulses = mad, .impulse_count = 2};
            scene_hold(&s, &madness, 1, 1.0 / 60);
            if (k) scene_hold(&s, &nothing, 1, 1e-4);
            scene_hold(&s, &hit, k ? 200 : 1, k ? 1.0 / 12000 : 1.0 / 60);
            const float *p = cutis_state_positions(s.model, s.state);
            moved[k] = 0;
            for (int v = 0; v < s.tube->vertex_count; v++) {
                double d = fabs(p[3 * v + 2] - s.tube->positions[3 * v + 2]) / s.tube->size;
                if (fabsf(s.tube->positions[3 * v] - 1.5f) < 0.15f) moved[k] = fmax(moved[k], d);
                if (s.tube->positions[3 * v] < 0.5f) whole = fmax(whole, d);
            }
            scene_free(&s);
        }
        print_message("%s: a blow moves flesh by %.4f of the size in a step, %.4f in short steps, %.1e elsewhere\n",
                      solvers[i], moved[0], moved[1], whole);
        /* at most 2 units/s for 1/60 s */
        assert_true(moved[0] > 1e-4 && moved[0] < 0.02 && fabs(moved[1] / moved[0] - 1) < 0.5);
        assert_true(whole < 0.2 * moved[0]);
    }
}

/* ---- skin, props ---- */

static void skin_slides_under_acceleration_and_blows(void **unused)
{
    (void)unused;
    scene s = scene_make("slide");
    cutis_step_input nothing = {0}, along = {.acceleration = {20, 0, 0}};
    const cutis_impulse blow = {{1, 0.25f, 0}, 0.4f, {1, 0, 0}};
    cutis_step_input hit = {.impulses = &blow, .impulse_count = 1};
    scene_hold(&s, &nothing, 12, 1.0 / 60);
    double still = slid(&s);
    scene_hold(&s, &along, 12, 1.0 / 60);
    double pulled = slid(&s);
    cutis_state_reset(s.model, s.state, NULL);
    scene_hold(&s, &hit, 2, 1.0 / 60);
    double struck = slid(&s);
    print_message("slide: skin slides by %.1e at rest, %.1e under 20 units/s2, %.1e after a blow\n", still, pulled,
                  struck);
    assert_true(still < 1e-9 && pulled > 1e-5 && struck > 1e-6);
    scene_free(&s);
}

static void free_props_feel_them(void **unused)
{
    (void)unused;
    cutis_character *tube;
    assert_int_equal(test_tube(NULL, &tube, NULL), CUTIS_OK);
    const stage_prop box = {{.role = CUTIS_PROP_RIGID,
                             .shape = CUTIS_PROP_BOX,
                             .size = {0.1f, 0.1f, 0.1f},
                             .mass = 0.2f,
                             .friction = -1,
                             .restitution = -1},
                            {1, 1.5f, 0}};
    static const char *const settings[] = {"gravity=0", NULL};
    springs_scene *s = stage_open(tube, NULL, &box, 1, settings);
    float joints[36];
    cutis_pose_rest(s->character, joints);
    const cutis_impulse blow = {{1, 1.5f, 0}, 0.4f, {0, 0, 0.5f}};
    cutis_step_input input = {.joints = joints, .acceleration = {2, 0, 0}, .impulses = &blow, .impulse_count = 1};
    for (int i = 0; i < 12; i++) {
        cutis_state_step(s->model, s->state, &input, 1.0 / 60);
        input.impulse_count = 0;
    }
    cutis_prop_state prop = stage_prop_state(s, 0);
    double x = prop.transform[3] - 1, z = prop.transform[11];
    print_message("springs: in 0.2 s a free box goes %.4f under 2 units/s2 (0.04) and %.4f by a blow (0.1)\n", x, z);
    assert_true(fabs(x - 0.04) < 0.006 && fabs(z - 0.1) < 0.01);
    stage_close(s);
}

/* ---- bake ---- */

/* The frame rate does not matter: the blow falls at the same instant, and frames that both show are the same. */
static void a_bake_feels_them_at_any_frame_rate(void **unused)
{
    (void)unused;
    cutis_character *tube;
    cutis_error error;
    assert_int_equal(test_tube(NULL, &tube, NULL), CUTIS_OK);
    const cutis_bake_blow blow = {0.25, {{1.5f, 0, 0.25f}, 0.4f, {0, 0, -2}}};
    static const double rates[] = {10, 20, 60};
    cutis_bake_result *results[3], *plain;
    cutis_bake_def def = cutis_bake_def_default();
    def.character = tube;
    def.solver = "lattice";
    def.clip = "twist";
    def.end = 0.5;
    def.keep_frames = true;
    def.fps = 10;
    if (cutis_bake(&def, &plain, &error) != CUTIS_OK) fail_msg("%s", error.text);
    def.acceleration[1] = -5;
    def.wind[0] = 3;
    def.blows = &blow;
    def.blow_count = 1;
    for (int i = 0; i < 3; i++) {
        def.fps = rates[i];
        if (cutis_bake(&def, &results[i], &error) != CUTIS_OK) fail_msg("%s", error.text);
    }
    size_t floats = 3 * (size_t)tube->vertex_count;
    double moved = 0;
    for (int f = 0; f <= 5; f++) {
        const float *a = results[0]->positions + floats * (size_t)f;
        assert_memory_equal(a, results[1]->positions + floats * (size_t)(2 * f), floats * sizeof(float));
        assert_memory_equal(a, results[2]->positions + floats * (size_t)(6 * f), floats * sizeof(float));
        for (size_t i = 0; i < floats; i++) moved = fmax(moved, fabs(a[i] - plain->positions[floats * (size_t)f + i]));
    }
    assert_true(moved > 1e-3);

    /* what makes no sense is refused */
    cutis_bake_result *result;
    def.loop = true;
    def.end = (double)NAN;
    assert_int_equal(cutis_bake(&def, &result, &error), CUTIS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "happens once"));
    def.loop = false;
    def.end = 0.2;
    assert_int_equal(cutis_bake(&def, &result, &error), CUTIS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "outside the baked range"));
    for (int i = 0; i < 3; i++) cutis_bake_destroy(results[i]);
    cutis_bake_destroy(plain);
    cutis_character_destroy(tube);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flesh_gives_way_to_acceleration),
        cmocka_unit_test(wind_presses_what_faces_it),
        cmocka_unit_test(a_blow_falls_once),
        cmocka_unit_test(skin_slides_under_acceleration_and_blows),
        cmocka_unit_test(free_props_feel_them),
        cmocka_unit_test(a_bake_feels_them_at_any_frame_rate),
    };
    return cmocka_run_group_tests_name("forces", tests, NULL, NULL);
}
