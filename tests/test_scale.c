/* A character in centimetres, inches or metres gives the same shape; a rate does not change the motion. */
#include "testing.h"

/* The zoo's character in other units: positions, bones and motion. */
static cutis_character *character_scale(const cutis_character *c, float scale)
{
    cutis_character given = *c, *result = NULL;
    float *positions = malloc((size_t)c->vertex_count * 3 * sizeof(float));
    cutis_joint *joints = malloc((size_t)c->joint_count * sizeof *joints);
    cutis_clip *clips = malloc((size_t)c->clip_count * sizeof *clips);
    for (int i = 0; i < 3 * c->vertex_count; i++) positions[i] = scale * c->positions[i];
    for (int j = 0; j < c->joint_count; j++) {
        joints[j] = c->joints[j];
        for (int k = 0; k < 3; k++) {
            joints[j].rest.translation[k] *= scale;
            joints[j].idle.translation[k] *= scale;
            joints[j].inverse_bind[4 * k + 3] *= scale;
        }
    }
    for (int i = 0; i < c->clip_count; i++) {
        cutis_track *tracks = malloc((size_t)c->clips[i].track_count * sizeof *tracks);
        for (int t = 0; t < c->clips[i].track_count; t++) {
            tracks[t] = c->clips[i].tracks[t];
            if (tracks[t].path != CUTIS_PATH_TRANSLATION) continue;
            size_t count =
                (size_t)tracks[t].key_count * 3 * (tracks[t].interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1);
            float *values = malloc(count * sizeof *values);
            for (size_t k = 0; k < count; k++) values[k] = scale * tracks[t].values[k];
            tracks[t].values = values;
        }
        clips[i] = c->clips[i];
        clips[i].tracks = tracks;
    }
    given.positions = positions;
    given.joints = joints;
    given.clips = clips;
    given.prop_count = 0;
    assert_int_equal(cutis_character_create(&given, NULL, &result, NULL), CUTIS_OK);
    for (int i = 0; i < c->clip_count; i++) {
        for (int t = 0; t < c->clips[i].track_count; t++)
            if (clips[i].tracks[t].path == CUTIS_PATH_TRANSLATION) free((void *)clips[i].tracks[t].values);
        free((void *)clips[i].tracks);
    }
    free(positions);
    free(joints);
    free(clips);
    return result;
}

/* Every solver of the table, then stacks. */
static const char *solver_name(int index)
{
    static const char *const stacks[] = {"layers+slide", "lattice+slide"};
    int single = cutis_solver_count(), count = (int)(sizeof stacks / sizeof *stacks);
    return index < single ? cutis_solver(index)->name : index < single + count ? stacks[index - single] : NULL;
}

static bool has_parameter(const char *solver, const char *name)
{
    const cutis_solver_info *info = cutis_solver_find(solver);
    for (int i = 0; info && i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, name) == 0) return true;
    return false;
}

/*
 * Positions at `count` instants of a clip, `seconds` apart, of frames at `fps`, of a character `scale` times as large
 * in its unit. The caller frees.
 */
static float *simulate(const cutis_character *c, const char *solver, int clip, double seconds, int count, double fps,
                       float scale)
{
    /* Skin that slides is seen in positions only when it moves them. A unit as odd as that cannot be guessed. */
    char unit[32];
    snprintf(unit, sizeof unit, "%.9g", 1 / (double)scale);
    cutis_setting setting = {"output", "vertices"};
    if (has_parameter(solver, "unit")) setting = (cutis_setting){"unit", unit};
    bool set = strstr(solver, "slide") || has_parameter(solver, "unit");
    cutis_model *model =
        test_build_def((cutis_model_def){.character = c, .solver = solver, .settings = &setting, .setting_count = set});
    cutis_state *state = test_state(model, NULL);
    cutis_clip_motion motion = {c, clip, 0};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    size_t floats = 3 * (size_t)c->vertex_count;
    float *positions = malloc((size_t)count * floats * sizeof(float));
    for (int k = 0, i = 1; k < count; k++) {
        int frames = (int)floor((k + 1) * seconds * fps + 0.5);
        for (; i <= frames; i++) cutis_state_step(model, state, &input, i / fps - cutis_state_time(state));
        memcpy(positions + (size_t)k * floats, cutis_state_positions(model, state), floats * sizeof(float));
    }
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return positions;
}

static double largest_difference(const cutis_character *c, const float *a, const float *b, float scale)
{
    double largest = 0;
    for (int i = 0; i < 3 * c->vertex_count; i++)
        largest = fmax(largest, fabs((double)a[i] - (double)b[i] / (double)scale));
    return largest / (double)c->size;
}

static void units_do_not_matter(void **unused)
{
    (void)unused;
    test_is_heavy();
    static const float scales[] = {100, 39.3700787f, 0.001f};
    cutis_character *c = test_zoo("arm", 0.15);
    const char *solver;
    for (int n = 0; (solver = solver_name(n)); n++) {
        float *metres = simulate(c, solver, 0, 0.4, 1, 10, 1);
        for (int i = 0; i < 3; i++) {
            cutis_character *other = character_scale(c, scales[i]);
            float *scaled = simulate(other, solver, 0, 0.4, 1, 10, scales[i]);
            double difference = largest_difference(c, metres, scaled, scales[i]);
            print_message("%s x %g: %.2g of the size\n", solver, (double)scales[i], difference);
            assert_true(difference <= 1e-4);
            free(scaled);
            cutis_character_destroy(other);
        }
        free(metres);
    }
    cutis_character_destroy(c);
}

/* At half a second, which is a substep of every solver, to the bit; at sixths, which are not, within 0.05 %. */
static void rates_do_not_matter(void **unused)
{
    (void)unused;
    test_is_heavy();
    static const double rates[] = {24, 30, 60, 120, 144};
    cutis_character *c = test_zoo("arm", 0.15);
    size_t floats = 3 * (size_t)c->vertex_count;
    const char *solver;
    for (int n = 0; (solver = solver_name(n)); n++) {
        float *first = simulate(c, solver, 0, 1.0 / 6, 3, rates[0], 1);
        double largest = 0;
        for (int i = 1; i < 5; i++) {
            float *other = simulate(c, solver, 0, 1.0 / 6, 3, rates[i], 1);
            for (size_t k = 0; k < 2; k++)
                largest = fmax(largest, largest_difference(c, first + k * floats, other + k * floats, 1));
            if (memcmp(first + 2 * floats, other + 2 * floats, floats * sizeof(float)) != 0)
                fail_msg("%s differs at %g frames per second", solver, rates[i]);
            free(other);
        }
        print_message("%s: between substeps within %.2g of the size\n", solver, largest);
        assert_true(largest <= 5e-4);
        free(first);
    }
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(units_do_not_matter), cmocka_unit_test(rates_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
