/* Moving morphs: a solver without a past deforms the morphed shape, under one with a past they are added afterwards. */
#include "testing.h"

#include "bar.h"
#include "math/math3.h"
#include "solvers/solver.h"

static void morphs_are_added_turned_along(void **unused)
{
    (void)unused;
    bar b = bar_make(8, 12, 3);
    const float times[] = {0, 0.1f}, turns[] = {0, 0, 0, 1, 0, 0, 0.70710678f, 0.70710678f};
    cutis_track track = {0, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, 2, times, turns};
    cutis_clip clip = {.name = "turn", .track_count = 1, .tracks = &track};
    float *deltas = calloc(3 * (size_t)b.given.vertex_count, sizeof *deltas);
    for (int v = 0; v < b.given.vertex_count; v++) deltas[3 * v] = 0.05f, deltas[3 * v + 2] = 0.01f * (float)(v % 3);
    cutis_morph morph = {"fat", deltas};
    b.given.clips = &clip, b.given.clip_count = 1, b.given.morphs = &morph, b.given.morph_count = 1;
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
    for (int s = 0; s < solver_table_count; s++) {
        const char *name = solver_table[s]->info.name;
        if (strcmp(name, "curves") == 0) continue; /* morph targets are its examples */
        cutis_model *model = test_build(c, name, NULL);
        cutis_state *plain = test_state(model, NULL), *fat = test_state(model, NULL);
        cutis_clip_motion motion = {c, 0, 0};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
        for (int i = 1; i <= 30; i++) {
            float weight = (float)i / 30;
            input.morphs = NULL;
            cutis_state_step(model, plain, &input, 0.01);
            input.morphs = &weight;
            cutis_state_step(model, fat, &input, 0.01);
        }
        /* The whole bar has turned by a quarter about Z: x became y. Elastic skin on a fatter body may slide a little.
         */
        double worst = 0;
        for (int v = 0; v < c->vertex_count; v++) {
            vec3 off = vec3_sub(vec3_load(cutis_state_positions(model, fat) + 3 * v),
                                vec3_load(cutis_state_positions(model, plain) + 3 * v));
            vec3 want = vec3_make(-deltas[3 * v + 1], deltas[3 * v], deltas[3 * v + 2]);
            worst = fmax(worst, (double)vec3_distance(off, want));
        }
        print_message("%s: morphs off by %.2g\n", name, worst);
        assert_true(worst < 1e-5);
        /* The morph is no force: the flesh has not felt it. */
        if (!(solver_table[s]->info.flags & (CUTIS_SOLVER_GEOMETRIC | CUTIS_SOLVER_SURFACE))) {
            input.morphs = NULL;
            cutis_state_step(model, plain, &input, 0.02);
            cutis_state_step(model, fat, &input, 0.02);
            assert_memory_equal(cutis_state_positions(model, plain), cutis_state_positions(model, fat),
                                3 * (size_t)c->vertex_count * sizeof(float));
        }
        cutis_state_destroy(plain);
        cutis_state_destroy(fat);
        cutis_model_destroy(model);
    }
    free(deltas);
    bar_free(&b);
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(morphs_are_added_turned_along)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
