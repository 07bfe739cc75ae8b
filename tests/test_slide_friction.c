/*
 * test_slide_friction.c: friction between skin and body: zeta = 1 sticks, viscous friction decays at its rate, dry
 * friction holds up to its limit and does not creep.
 */
#include "slide_scenes.h"

/* A strip of length 1 whose skin begins slid by 0.003 sin(pi x) along it. Its edges may slide along themselves only. */
static const double first_slide = 0.003;

static cutis_character *make_strip(void)
{
    enum { COLUMNS = 24, ROWS = 2, VERTICES = (COLUMNS + 1) * (ROWS + 1), FACES = COLUMNS * ROWS };
    float positions[3 * VERTICES] = {0}, maps[3][VERTICES] = {{0}};
    int corners[4 * FACES], first[FACES + 1];
    for (int v = 0; v < VERTICES; v++) {
        positions[3 * v] = (float)(v % (COLUMNS + 1)) / COLUMNS;
        positions[3 * v + 1] = 0.05f * (float)(v / (COLUMNS + 1)) / ROWS;
        maps[0][v] = (float)(first_slide * sin(3.14159265358979 * (double)positions[3 * v]));
    }
    for (int f = 0; f < FACES; f++) {
        int at = f / COLUMNS * (COLUMNS + 1) + f % COLUMNS;
        const int own[4] = {at, at + 1, at + COLUMNS + 2, at + COLUMNS + 1};
        memcpy(corners + 4 * f, own, sizeof own);
        first[f] = 4 * f;
    }
    first[FACES] = 4 * FACES;
    cutis_map painted[3] = {{"slide_x", maps[0]}, {"slide_y", maps[1]}, {"slide_z", maps[2]}};
    cutis_character given = {.name = "strip",
                             .vertex_count = VERTICES,
                             .positions = positions,
                             .face_count = FACES,
                             .face_first = first,
                             .corners = corners,
                             .maps = painted,
                             .map_count = 3};
    cutis_character *c = NULL;
    cutis_error error;
    assert_int_equal(cutis_character_create(&given, NULL, &c, &error), CUTIS_OK);
    return c;
}

/* The sliding of the strip's middle at some instants, in order. */
static void run_strip(const char *const *settings, const double *times, int count, double *middle)
{
    cutis_character *c = make_strip();
    cutis_model *model = test_build(c, "slide", settings);
    cutis_state *run = test_state(model, NULL);
    cutis_step_input input = {0};
    for (int i = 0; i < count; i++) {
        cutis_output sliding;
        cutis_state_step(model, run, &input, times[i] - cutis_state_time(run));
        scene_assert_sound(model, run);
        assert_true(cutis_state_output(model, run, "sliding", &sliding));
        middle[i] = 0;
        for (int v = 0; v < c->vertex_count; v++) middle[i] = fmax(middle[i], fabs((double)sliding.values[3 * v]));
    }
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

/* ---- zeta ---- */

static double largest_slide(const cutis_character *c, const char *zeta, double time)
{
    const char *const settings[] = {zeta, NULL};
    cutis_model *model = test_build(c, "slide", settings);
    cutis_state *run = test_state(model, NULL);
    scene_motion motion = {.character = c, .clip = cutis_character_find_clip(c, "flex")};
    cutis_step_input input = {.motion = {&motion, scene_sample}};
    cutis_output sliding;
    cutis_state_step(model, run, &input, time);
    assert_true(cutis_state_output(model, run, "sliding", &sliding));
    double largest = 0;
    for (int v = 0; v < c->vertex_count; v++) {
        const float *d = sliding.values + 3 * v;
        largest = fmax(largest,
                       sqrt((double)d[0] * (double)d[0] + (double)d[1] * (double)d[1] + (double)d[2] * (double)d[2]));
    }
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    return largest / (double)c->size;
}

/* The paper: zeta = 1 is infinite friction. Skin sticks to a body that deforms, and values near 1 lead there. */
static void skin_sticks_at_zeta_one(void **state)
{
    (void)state;
    static const char *const values[] = {"zeta=0.3", "zeta=0.999", "zeta=0.9999999", "zeta=0.999999999", "zeta=1"};
    cutis_character *c = test_zoo("arm", 0.3);
    double slides[5];
    for (int i = 0; i < 5; i++) {
        slides[i] = largest_slide(c, values[i], 0.6);
        print_message("arm flex, %s: slides by %.3g of the size\n", values[i], slides[i]);
    }
    assert_true(slides[0] > 0.01);
    assert_true(slides[1] > 0.8 * slides[0]);
    assert_true(slides[2] < slides[1] && slides[3] < 0.1 * slides[1]);
    assert_true(slides[4] == 0);
    cutis_character_destroy(c);
}

/* ---- viscous friction ---- */

/* Strained skin in strong drag d relaxes at the slow root of r^2 - d r + w^2, w its frequency without drag. */
static void drag_slows_the_skin_at_its_rate(void **state)
{
    (void)state;
    static const double drags[] = {200, 500, 2000};
    double w = 3.14159265358979 * 15 * sqrt(1 + 0.05 * 0.05) / sqrt(1 - 0.3 * 0.3);
    for (int i = 0; i < 3; i++) {
        char drag[32];
        snprintf(drag, sizeof drag, "drag=%g", drags[i]);
        const char *const settings[] = {"zeta=0", "damping=0", drag, NULL};
        double middle[2], right = 0.5 * drags[i] * (1 - sqrt(1 - 4 * w * w / (drags[i] * drags[i])));
        const double times[] = {0.1, 0.1 + 1 / right};
        run_strip(settings, times, 2, middle);
        double rate = log(middle[0] / middle[1]) / (times[1] - times[0]);
        print_message("drag %g: skin relaxes at %.3f 1/s, theory %.3f\n", drags[i], rate, right);
        assert_true(fabs(rate / right - 1) < 0.03);
    }
}

/* ---- dry friction ---- */

/*
 * The skin's elastic force over the area is E / (1 - nu^2) u'', at most 0.0325 E here. More friction holds it for ever;
 * less lets it go until u'' is what friction holds, which leaves a parabola.
 */
static void dry_friction_holds_up_to_its_limit(void **state)
{
    (void)state;
    const double times[] = {2, 4};
    double held[2], slid[2], loose[2];
    const char *const strong[] = {"zeta=0", "friction=0.05", NULL};
    const char *const weak[] = {"zeta=0", "friction=0.01", "drag=400", NULL};
    const char *const none[] = {"zeta=0", "drag=400", NULL};
    run_strip(strong, times, 2, held);
    run_strip(weak, times, 2, slid);
    run_strip(none, times, 2, loose);
    double parabola = 0.01 * (1 - 0.3 * 0.3) / 8;
    print_message(
        "slid by %.4f at first; friction 0.05 holds %.5f, after 4 s %.5f; friction 0.01 %.5f, after 4 s %.5f, "
        "theory %.5f; none %.5f\n",
        first_slide, held[0], held[1], slid[0], slid[1], parabola, loose[1]);
    assert_true(held[0] > first_slide - 2e-4);
    assert_true(fabs(held[1] - held[0]) < 1e-6);
    assert_true(fabs(slid[1] / parabola - 1) < 0.15);
    assert_true(fabs(slid[1] - slid[0]) < 1e-5);
    assert_true(loose[1] < 0.2 * slid[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skin_sticks_at_zeta_one),
        cmocka_unit_test(drag_slows_the_skin_at_its_rate),
        cmocka_unit_test(dry_friction_holds_up_to_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
