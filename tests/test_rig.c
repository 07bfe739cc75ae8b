/*
 * test_rig.c: automatic weights and skeletons: sums, coverage, accuracy against hand-made rigs, and every failure that
 * bone heat alone would have.
 */
#include "testing.h"

#include <time.h>

#include "character/skinning.h"

static cutis_character *zoo(const char *name)
{
    cutis_character *character = NULL;
    cutis_error error;
    assert_int_equal(cutis_zoo_make(name, 1, NULL, &character, &error), CUTIS_OK);
    return character;
}

static void assert_full_weights(const cutis_character *c)
{
    for (int v = 0; v < c->vertex_count; v++) {
        double sum = 0;
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            assert_true(c->influence_weights[i] >= 0);
            sum += c->influence_weights[i];
        }
        assert_true(fabs(sum - 1) < 1e-5);
    }
}

static cutis_rig *bind(const cutis_character *character, cutis_rig_method method)
{
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig *rig = NULL;
    cutis_error error;
    def.character = character;
    def.method = method;
    if (cutis_rig_bind(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
    assert_full_weights(rig->character);
    return rig;
}

/* Mean distance over all clips of the two characters' linear-blend vertices, over the size. */
static double clip_error(const cutis_character *a, const cutis_character *b)
{
    int n = a->vertex_count;
    float *joints = malloc((size_t)a->joint_count * 12 * sizeof *joints);
    float *skin = malloc((size_t)a->joint_count * 12 * sizeof *joints);
    float *pa = malloc(3 * (size_t)n * sizeof *pa), *pb = malloc(3 * (size_t)n * sizeof *pb);
    arena memory = arena_create(NULL);
    skinning sa, sb;
    cutis_error error;
    double sum = 0;
    long count = 0;
    assert_int_equal(skinning_build(&sa, n, a->positions, a->influence_first, a->influence_joints, a->influence_weights,
                                    a->joint_count, &memory, &error),
                     CUTIS_OK);
    assert_int_equal(skinning_build(&sb, n, b->positions, b->influence_first, b->influence_joints, b->influence_weights,
                                    b->joint_count, &memory, &error),
                     CUTIS_OK);
    float *scratch = malloc(skinning_scratch_count(&sa) * sizeof *scratch);
    for (int c = 0; c < a->clip_count; c++)
        for (int frame = 0; frame <= 10; frame++) {
            double time = a->clips[c].start + (a->clips[c].end - a->clips[c].start) * frame / 10.0;
            cutis_pose_sample(a, c, time, joints);
            skin_matrices(a, joints, skin);
            skinning_linear(&sa, skin, scratch, NULL, pa);
            skinning_linear(&sb, skin, scratch, NULL, pb);
            for (int v = 0; v < n; v++, count++) {
                double d2 = 0;
                for (int k = 0; k < 3; k++) d2 += (pa[3 * v + k] - pb[3 * v + k]) * (pa[3 * v + k] - pb[3 * v + k]);
                sum += sqrt(d2);
            }
        }
    arena_destroy(&memory);
    free(joints), free(skin), free(pa), free(pb), free(scratch);
    return sum / (double)count / a->size;
}

static void heat_comes_near_hand_made_weights(void **state)
{
    static const char *const names[] = {"arm", "man", "hand", "cat", "dancer"};
    (void)state;
    for (int i = 0; i < 5; i++) {
        cutis_character *character = zoo(names[i]);
        cutis_rig *rig = bind(character, CUTIS_RIG_AUTO);
        double error = clip_error(character, rig->character);
        print_message("%-12s heat weights %6.1f ms, mean error %.2f %% of the size\n", names[i], rig->weight_ms,
                      100 * error);
        assert_true(error < 0.02);
        cutis_rig_destroy(rig);
        cutis_character_destroy(character);
    }
}

static void heat_of_makehuman_is_quick_and_near(void **state)
{
    const char *path = test_model("makehuman-cmu-average/mh_average.glb");
    cutis_character *character;
    cutis_error error;
    double best = 1e9;
    (void)state;
    if (!path) skip();
    assert_int_equal(cutis_character_load(path, NULL, &character, &error), CUTIS_OK);
    for (int run = 0; run < 3; run++) {
        clock_t start = clock();
        cutis_rig *rig = bind(character, CUTIS_RIG_AUTO);
        best = fmin(best, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
        if (run == 0) {
            double mean = clip_error(character, rig->character);
            print_message("mh_average: %d vertices, %d joints, mean error %.2f %%\n", character->vertex_count,
                          character->joint_count, 100 * mean);
            for (int i = 0; i < rig->sentence_count; i++) print_message("  %s\n", rig->sentences[i]);
            assert_true(mean < 0.02);
        }
        cutis_rig_destroy(rig);
    }
    print_message("mh_average: weights and the new character in %.1f ms of processor time\n", best);
    assert_true(best < 300); /* 150 ms when the machine has nothing else to do */
    cutis_character_destroy(character);
}

static void voxels_alone_weigh_everything(void **state)
{
    (void)state;
    cutis_character *character = zoo("man");
    cutis_rig *rig = bind(character, CUTIS_RIG_VOXEL);
    double error = clip_error(character, rig->character);
    print_message("man: voxel weights %.1f ms, mean error %.2f %% of the size\n", rig->weight_ms, 100 * error);
    assert_int_equal(rig->heat_points, 0);
    assert_true(error < 0.03);
    cutis_rig_destroy(rig);
    cutis_character_destroy(character);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heat_comes_near_hand_made_weights),
        cmocka_unit_test(heat_of_makehuman_is_quick_and_near),
        cmocka_unit_test(voxels_alone_weigh_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
