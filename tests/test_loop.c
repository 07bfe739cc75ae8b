/* Loops: the state that a period of the drive maps to itself. */
#include "testing.h"

typedef struct looped {
    cutis_character *character;
    cutis_model *model;
    cutis_state *state;
    cutis_clip_motion motion;
    double period;
} looped;

/* A character at rest in the first pose of a clip, with a substep that divides the clip. */
static looped looped_make(const char *name, const char *clip, const cutis_setting *settings, int setting_count)
{
    looped l = {0};
    cutis_error error;
    assert_int_equal(cutis_zoo_make(name, 0.3, NULL, &l.character, NULL), CUTIS_OK);
    int index = cutis_character_find_clip(l.character, clip);
    assert_true(index >= 0);
    l.motion = (cutis_clip_motion){l.character, index, 0};
    l.period = (double)l.character->clips[index].end - (double)l.character->clips[index].start;
    cutis_model_def def = cutis_model_def_default();
    def.character = l.character;
    def.solver = "lattice";
    def.settings = settings;
    def.setting_count = setting_count;
    def.substep = l.period / ceil(l.period / (1.0 / 120));
    if (cutis_model_build(&def, &l.model, &error) != CUTIS_OK) fail_msg("%s", error.text);
    assert_int_equal(cutis_state_create(l.model, NULL, &l.state, NULL), CUTIS_OK);
    float *joints = malloc((size_t)l.character->joint_count * 12 * sizeof(float));
    cutis_clip_motion_sample(&l.motion, 0, joints);
    cutis_state_reset(l.model, l.state, joints);
    free(joints);
    return l;
}

static void looped_free(looped *l)
{
    cutis_state_destroy(l->state);
    cutis_model_destroy(l->model);
    cutis_character_destroy(l->character);
}

static cutis_loop_def looped_def(looped *l)
{
    return (cutis_loop_def){.motion = {&l->motion, cutis_clip_motion_sample}, .period = l->period};
}

/* After the search one more period ends where it began. */
static void one_period_leads_back(void **unused)
{
    (void)unused;
    looped l = looped_make("man", "walk", NULL, 0);
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
    const cutis_setting soft[] = {{"muscle_damping", "0.1"}, {"fat_damping", "0.1"},    {"skin_damping", "0.1"},
                                  {"fat_stiffness", "3"},    {"muscle_stiffness", "4"}, {"inertia", "1"}};
    int periods[2];
    for (int i = 0; i < 2; i++) {
        looped l = looped_make("man", "walk", soft, 6);
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
    looped l = looped_make("man", "walk", NULL, 0);
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
    return cutis_state_find_loop(l->model, l->state, &def, allocator, &info, NULL) == CUTIS_OK;
}

static void memory_may_run_out(void **unused)
{
    (void)unused;
    looped l = looped_make("cylinder", "twist", NULL, 0);
    assert_true(test_every_allocation(search_with, &l) > 2);
    looped_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_period_leads_back),
        cmocka_unit_test(acceleration_saves_periods),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
