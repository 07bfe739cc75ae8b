/* Loops: the state that a period of the drive maps to itself. */
#include "engine/model_object.h"
#include "testing.h"

typedef struct looped {
    cutis_character *character;
    cutis_model *model;
    cutis_state *state, *seam;
    cutis_clip_motion motion;
    double period;
} looped;

/* A character at rest in the first pose of a clip, with a substep that divides the clip. */
static looped looped_make(const char *name, double resolution, const char *clip, const char *by, double substep,
                          const cutis_setting *settings, int setting_count)
{
    looped l = {0};
    l.character = test_zoo(name, resolution);
    int index = cutis_character_find_clip(l.character, clip);
    assert_true(index >= 0);
    l.motion = (cutis_clip_motion){l.character, index, 0};
    l.period = (double)l.character->clips[index].end - (double)l.character->clips[index].start;
    l.model = test_build_def((cutis_model_def){.character = l.character,
                                               .solver = by,
                                               .substep = l.period / ceil(l.period / substep),
                                               .settings = settings,
                                               .setting_count = setting_count});
    l.state = test_state(l.model, NULL);
    float *joints = malloc((size_t)l.character->joint_count * 12 * sizeof(float));
    cutis_clip_motion_sample(&l.motion, 0, joints);
    cutis_state_reset(l.model, l.state, joints);
    free(joints);
    return l;
}

static looped looped_lattice(const char *name, const char *clip)
{
    return looped_make(name, 0.3, clip, "lattice", 1.0 / 120, NULL, 0);
}

static looped looped_layers(const char *name, const char *clip)
{
    return looped_make(name, 0.15, clip, "layers", 0.005, NULL, 0);
}

static void looped_free(looped *l)
{
    cutis_state_destroy(l->state);
    cutis_state_destroy(l->seam);
    cutis_model_destroy(l->model);
    cutis_character_destroy(l->character);
}

static cutis_loop_def looped_def(looped *l)
{
    return (cutis_loop_def){.motion = {&l->motion, cutis_clip_motion_sample}, .period = l->period};
}

/* Whole substeps of the loop's motion from the state's time. */
static void run_substeps(looped *l, cutis_state *state, int count)
{
    double substep = cutis_model_get_info(l->model).substep;
    cutis_step_input input = {.motion = {&l->motion, cutis_clip_motion_sample}};
    for (int i = 0; i < count; i++) cutis_state_step(l->model, state, &input, substep);
}

/* The end of a stretch of motion depends on nothing but the state at its start: not on what was computed before. */
static void a_period_depends_on_the_state_alone(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        looped l = i ? looped_layers("cat", "walk") : looped_lattice("man", "walk");
        cutis_state *other = test_state(l.model, NULL);
        run_substeps(&l, other, 3); /* its scratch holds other things */
        run_substeps(&l, l.state, 12);
        cutis_state_copy(l.model, other, l.state);
        run_substeps(&l, l.state, 12);
        run_substeps(&l, other, 12);
        assert_true(cutis_state_hash(l.model, l.state) == cutis_state_hash(l.model, other));
        cutis_state_destroy(other);
        looped_free(&l);
    }
}

/* The cat's legs rub against its body as it walks. What rounding does to that stays small. */
static void contact_does_not_magnify_rounding(void **unused)
{
    (void)unused;
    test_is_heavy();
    looped l = looped_layers("cat", "walk");
    cutis_state *other = test_state(l.model, NULL);
    run_substeps(&l, l.state, 10);
    assert_true(cutis_state_stats(l.model, l.state)->contacts > 0);
    cutis_state_copy(l.model, other, l.state);
    const stage *part = &l.model->stages[0];
    float *floats = (float *)((char *)other + part->state);
    for (size_t i = 0; i < part->solver->state_size(part->data) / sizeof *floats; i++)
        floats[i] *= i % 3 ? 1 + 1.2e-7f : 1 - 1.2e-7f;
    double largest = 0;
    for (int step = 0; step < 40; step++) {
        run_substeps(&l, l.state, 1);
        run_substeps(&l, other, 1);
        const float *a = cutis_state_positions(l.model, l.state), *b = cutis_state_positions(l.model, other);
        for (int k = 0; k < 3 * l.character->vertex_count; k++)
            largest = fmax(largest, fabs((double)a[k] - (double)b[k]) / (double)l.character->size);
    }
    print_message("rounding grows to %.2g of the size\n", largest);
    assert_true(largest > 0 && largest < 1e-4); /* 3e-4 where contact takes hold at the first touch */
    cutis_state_destroy(other);
    looped_free(&l);
}

/*
 * A loop of flesh that touches itself, cut at the best instant: run to there, and on from the state found for it, the
 * period ends where it began to the bit.
 */
static void the_seam_may_be_anywhere(void **unused)
{
    (void)unused;
    test_is_heavy();
    looped l = looped_layers("cat", "walk");
    cutis_loop_def def = looped_def(&l);
    cutis_loop_info info;
    def.seam = test_state(l.model, NULL);
    def.position_tolerance = 1e-5, def.velocity_tolerance = 1e-3; /* below what the clip's start allows */
    def.period_limit = 3;
    assert_int_equal(cutis_state_find_loop(l.model, l.state, &def, NULL, &info, NULL), CUTIS_OK);
    print_message("layers: seam %.2g of the size, %.2g of the speed, at %.3f s, %d periods\n", info.position_seam,
                  info.velocity_seam, info.seam_time, info.periods);
    assert_true(info.position_seam < 1e-4 && info.velocity_seam < 1e-2);
    assert_true(cutis_state_time(l.state) == 0);
    double substep = cutis_model_get_info(l.model).substep;
    int all = (int)(l.period / substep + 0.5), before = (int)(info.seam_time / substep + 0.5);
    size_t floats = (size_t)l.character->vertex_count * 3;
    float *start = malloc(floats * sizeof *start);
    memcpy(start, cutis_state_positions(l.model, l.state), floats * sizeof *start);
    run_substeps(&l, l.state, before);
    const float *a = cutis_state_positions(l.model, l.state), *b = cutis_state_positions(l.model, def.seam);
    double seam = 0;
    for (size_t i = 0; i < floats; i += 3) {
        double d2 = 0;
        for (size_t k = i; k < i + 3; k++) d2 += pow((double)a[k] - (double)b[k], 2);
        seam = fmax(seam, sqrt(d2) / (double)l.character->size);
    }
    assert_true(info.seam_time == 0 || fabs(seam - info.position_seam) < 1e-9);
    assert_true(fabs(cutis_state_time(def.seam) - info.seam_time) < 1e-9);
    cutis_state_copy(l.model, l.state, def.seam);
    run_substeps(&l, l.state, all - before);
    if (info.seam_time > 0) assert_memory_equal(cutis_state_positions(l.model, l.state), start, floats * sizeof *start);
    free(start);
    cutis_state_destroy(def.seam);
    looped_free(&l);
}

/* After the search one more period ends where it began. */
static void one_period_leads_back(void **unused)
{
    (void)unused;
    looped l = looped_lattice("man", "walk");
    cutis_loop_def def = looped_def(&l);
    cutis_loop_info info;
    assert_int_equal(cutis_state_find_loop(l.model, l.state, &def, NULL, &info, NULL), CUTIS_OK);
    assert_true(info.closed);
    assert_true(info.position_seam <= 1e-5 && info.velocity_seam <= 1e-3);
    assert_true(cutis_state_time(l.state) == 0);

    size_t floats = (size_t)l.character->vertex_count * 3;
    float *start = malloc(floats * sizeof *start);
    memcpy(start, cutis_state_positions(l.model, l.state), floats * sizeof *start);
    cutis_state_step(l.model, l.state, &(cutis_step_input){.motion = def.motion}, l.period / 2);
    double away = 0, back = 0;
    const float *now = cutis_state_positions(l.model, l.state);
    for (size_t i = 0; i < floats; i++) away = fmax(away, fabs((double)now[i] - (double)start[i]));
    cutis_state_step(l.model, l.state, &(cutis_step_input){.motion = def.motion}, l.period / 2);
    now = cutis_state_positions(l.model, l.state);
    for (size_t i = 0; i < floats; i++) back = fmax(back, fabs((double)now[i] - (double)start[i]));
    assert_true(away > 0.02 * (double)l.character->size);
    assert_true(back < 1e-4 * (double)l.character->size);
    free(start);
    looped_free(&l);
}

/* Hardly damped flesh forgets its start slowly; mixing gets there in fewer periods. */
static void acceleration_saves_periods(void **unused)
{
    (void)unused;
    test_is_heavy();
    const cutis_setting soft[] = {{"muscle_damping", "0.5"}, {"fat_damping", "0.5"},    {"skin_damping", "0.5"},
                                  {"fat_stiffness", "3"},    {"muscle_stiffness", "4"}, {"inertia", "1"}};
    int periods[2];
    for (int i = 0; i < 2; i++) {
        looped l = looped_make("man", 0.3, "walk", "lattice", 1.0 / 120, soft, 6);
        cutis_loop_def def = looped_def(&l);
        cutis_loop_info info;
        def.plain = i == 0;
        def.period_limit = 60;
        assert_int_equal(cutis_state_find_loop(l.model, l.state, &def, NULL, &info, NULL), CUTIS_OK);
        print_message("%s: %d periods, closed %d, seam %.2g, %.2g\n", i ? "accelerated" : "plain", info.periods,
                      info.closed, info.position_seam, info.velocity_seam);
        assert_int_equal(info.accelerated, i == 1);
        if (i == 1) assert_true(info.closed);
        periods[i] = info.periods;
        looped_free(&l);
    }
    assert_true(periods[1] < periods[0]);
}

static void nonsense_is_refused(void **unused)
{
    (void)unused;
    looped l = looped_lattice("man", "walk");
    cutis_loop_def def = looped_def(&l);
    cutis_loop_info info;
    cutis_error error;
    def.period = 0;
    assert_int_equal(cutis_state_find_loop(l.model, l.state, &def, NULL, &info, &error), CUTIS_ERROR_ARGUMENT);
    def.period = l.period * 1.001;
    assert_int_equal(cutis_state_find_loop(l.model, l.state, &def, NULL, &info, &error), CUTIS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "whole number of substeps"));
    looped_free(&l);
}

/* Every allocation of the search may fail. */
static bool search_with(void *context, const cutis_allocator *allocator)
{
    looped *l = context;
    cutis_loop_def def = looped_def(l);
    cutis_loop_info info;
    def.period_limit = 1;
    def.seam = l->seam;
    return cutis_state_find_loop(l->model, l->state, &def, allocator, &info, NULL) == CUTIS_OK;
}

static void memory_may_run_out(void **unused)
{
    (void)unused;
    looped l = looped_lattice("cylinder", "twist");
    l.seam = test_state(l.model, NULL);
    assert_true(test_every_allocation(search_with, &l) > 2);
    looped_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_period_depends_on_the_state_alone),
        cmocka_unit_test(contact_does_not_magnify_rounding),
        cmocka_unit_test(one_period_leads_back),
        cmocka_unit_test(the_seam_may_be_anywhere),
        cmocka_unit_test(acceleration_saves_periods),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
