/* Painted regions: each map changes what it is for, in every solver that knows it, and survives a file. */
#include "testing.h"

#include <unistd.h>

/* The zoo's arm with one map: `value` beyond the middle of its length, `other` before. */
static cutis_character *paint(const char *map_name, float value, float other)
{
    cutis_character *painted = NULL;
    cutis_character *plain = test_zoo("arm", 0.15);
    cutis_character given = *plain;
    float *values = malloc((size_t)plain->vertex_count * sizeof *values);
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (plain->bounds_max[k] - plain->bounds_min[k] > plain->bounds_max[axis] - plain->bounds_min[axis]) axis = k;
    float middle = 0.5f * (plain->bounds_min[axis] + plain->bounds_max[axis]);
    for (int v = 0; v < plain->vertex_count; v++) values[v] = plain->positions[3 * v + axis] > middle ? value : other;
    cutis_map map = {map_name, values};
    given.maps = &map;
    given.map_count = 1;
    assert_int_equal(cutis_character_create(&given, NULL, &painted, NULL), CUTIS_OK);
    free(values);
    cutis_character_destroy(plain);
    return painted;
}

/*
 * Positions after half a second, or an output of three numbers a vertex. Under springs after 1.3 s, in the elbow's
 * contact: its free skin is the reference shape, whatever its stiffness.
 */
static float *simulate(const cutis_character *c, const char *solver, const char *output_name)
{
    cutis_model *model = test_build(c, solver, NULL);
    cutis_state *state = test_state(model, NULL);
    cutis_clip_motion motion = {c, cutis_character_find_clip(c, "flex"), 0};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    int steps = strcmp(solver, "springs") == 0 ? 13 : 5;
    for (int i = 1; i <= steps; i++) cutis_state_step(model, state, &input, 0.1);
    float *positions = malloc((size_t)c->vertex_count * 3 * sizeof(float));
    cutis_output output = {.count = c->vertex_count, .components = 3, .values = cutis_state_positions(model, state)};
    if (output_name) assert_true(cutis_state_output(model, state, output_name, &output));
    assert_int_equal(output.count * output.components, 3 * c->vertex_count);
    memcpy(positions, output.values, (size_t)c->vertex_count * 3 * sizeof(float));
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return positions;
}

/* Both give finite results that differ. */
static void expect_difference(const cutis_character *plain, const cutis_character *other, const char *solver,
                              const char *output, const char *what)
{
    float *a = simulate(plain, solver, output), *b = simulate(other, solver, output);
    double largest = 0;
    for (int k = 0; k < 3 * plain->vertex_count; k++) {
        assert_true(isfinite(b[k]));
        largest = fmax(largest, fabs((double)a[k] - (double)b[k]));
    }
    print_message("%s, %s: %.2g %% of the size\n", solver, what, 100 * largest / (double)plain->size);
    assert_true(largest > 1e-5 * (double)plain->size);
    free(a);
    free(b);
}

static void maps_change_what_they_are_for(void **unused)
{
    (void)unused;
    test_is_heavy();
    /* unpainted: the value that counts where nothing is painted */
    static const struct {
        const char *solver, *map, *output; /* output: NULL for positions */
        float painted, unpainted;
    } cases[] = {{"layers", "stiffness", NULL, 0.1f, 1},   {"layers", "fat", NULL, 0, 1},
                 {"layers", "freeze", NULL, 1, 0},         {"lattice", "stiffness", NULL, 0.1f, 1},
                 {"lattice", "fat", NULL, 0, 1},           {"lattice", "freeze", NULL, 1, 0},
                 {"tissue", "stiffness", NULL, 0.1f, 1},   {"tissue", "fat", NULL, 0, 1},
                 {"tissue", "freeze", NULL, 1, 0},         {"springs", "stiffness", NULL, 0.1f, 1},
                 {"springs", "freeze", NULL, 1, 0},        {"curves", "freeze", NULL, 1, 0},
                 {"lbs+slide", "freeze", "sliding", 1, 0}, {"lbs+slide", "stiffness", "sliding", 0.05f, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cutis_character *plain = paint(cases[i].map, cases[i].unpainted, cases[i].unpainted);
        cutis_character *painted = paint(cases[i].map, cases[i].painted, cases[i].unpainted);
        expect_difference(plain, painted, cases[i].solver, cases[i].output, cases[i].map);
        cutis_character_destroy(plain);
        cutis_character_destroy(painted);
    }
}

/* A joint's own parameter, as `extras` of a file give it: it acts in every solver that has one, and survives a file. */
static void joints_carry_parameters(void **unused)
{
    (void)unused;
    test_is_heavy();
    static const struct {
        const char *solver, *key, *value, *output;
    } cases[] = {{"layers", "layers.bones.forearm.flesh_depth", "0.01", NULL},
#ifdef CUTIS_TISSUE
                 {"tissue", "bones.forearm.flesh_depth", "0.01", NULL},
#endif
                 {"lattice", "bones.forearm.bone_width", "0.06", NULL},
                 {"springs", "bones.forearm.flesh_young", "0.5", NULL},
                 {"lbs+slide", "bones.forearm.attach", "1", "sliding"}};
    char path[64];
    snprintf(path, sizeof path, "/tmp/cutis_paint_joint_%ld.glb", (long)getpid());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cutis_character *plain = paint("stiffness", 1, 1), *given = NULL, *loaded = NULL;
        cutis_setting setting = {cases[i].key, cases[i].value};
        cutis_character with = *plain;
        with.settings = &setting;
        with.setting_count = 1;
        assert_int_equal(cutis_character_create(&with, NULL, &given, NULL), CUTIS_OK);
        assert_int_equal(cutis_character_save(given, path, NULL), CUTIS_OK);
        assert_int_equal(cutis_character_load(path, NULL, &loaded, NULL), CUTIS_OK);
        expect_difference(plain, loaded, cases[i].solver, cases[i].output, cases[i].key);
        cutis_character_destroy(plain);
        cutis_character_destroy(given);
        cutis_character_destroy(loaded);
    }
    remove(path);
}

static void maps_survive_a_file(void **unused)
{
    (void)unused;
    static const char *const names[] = {"stiffness", "fat", "freeze", "depth", "curve", "zeta"};
    char path[64];
    snprintf(path, sizeof path, "/tmp/cutis_paint_%ld.glb", (long)getpid());
    for (int i = 0; i < 6; i++) {
        cutis_character *c = paint(names[i], 0.25f, 0.75f), *loaded = NULL;
        assert_int_equal(cutis_character_save(c, path, NULL), CUTIS_OK);
        assert_int_equal(cutis_character_load(path, NULL, &loaded, NULL), CUTIS_OK);
        assert_int_equal(loaded->map_count, 1);
        assert_string_equal(loaded->maps[0].name, names[i]);
        assert_memory_equal(loaded->maps[0].values, c->maps[0].values, (size_t)c->vertex_count * sizeof(float));
        cutis_character_destroy(c);
        cutis_character_destroy(loaded);
    }
    /* A name that no solver knows is warned of. */
    cutis_character *c = paint("glitter", 1, 0), *loaded = NULL;
    assert_int_equal(cutis_character_save(c, path, NULL), CUTIS_OK);
    assert_int_equal(cutis_character_load(path, NULL, &loaded, NULL), CUTIS_OK);
    bool warned = false;
    for (int i = 0; i < loaded->warning_count; i++) warned |= strstr(loaded->warnings[i], "_CUTIS_GLITTER") != NULL;
    assert_true(warned);
    cutis_character_destroy(c);
    cutis_character_destroy(loaded);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps_change_what_they_are_for),
                                       cmocka_unit_test(joints_carry_parameters),
                                       cmocka_unit_test(maps_survive_a_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
