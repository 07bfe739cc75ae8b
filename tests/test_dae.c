/* test_dae.c: COLLADA files give the mesh, the skeleton and the motion that they hold, in metres and y up. */
#include "testing.h"

#include "dae_sample.h"

static void assert_near(const float *p, float x, float y, float z)
{
    if (!(fabsf(p[0] - x) < 1e-5f && fabsf(p[1] - y) < 1e-5f && fabsf(p[2] - z) < 1e-5f))
        print_error("%g %g %g\n", (double)p[0], (double)p[1], (double)p[2]);
    assert_true(fabsf(p[0] - x) < 1e-5f && fabsf(p[1] - y) < 1e-5f && fabsf(p[2] - z) < 1e-5f);
}

static void test_ladder(void **state)
{
    (void)state;
    cutis_character *c = NULL;
    cutis_error error = {0};
    cutis_result result =
        cutis_character_load_memory(dae_sample, sizeof dae_sample - 1, "a/ladder.dae", NULL, &c, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    assert_int_equal(c->vertex_count, 6);
    assert_memory_equal(c->corners, ((int[]){0, 1, 3, 2, 2, 3, 5, 4}), 8 * sizeof(int));
    assert_true(c->texcoords[3] == 0.75f);
    assert_near(c->positions + 15, 0.05f, 0.2f, 0);
    assert_string_equal(c->parts[0].material, "skin");
    assert_int_equal(c->joint_count, 2);
    assert_int_equal(c->influence_first[4] - c->influence_first[3], 2);
    assert_string_equal(c->clips[0].name, "bend");

    /* half of a quarter turn about y of the file, -z here: up goes to +x */
    float joints[24];
    cutis_pose_sample(c, 0, 0.5, joints);
    const float *m = joints + 12;
    assert_near((float[]){m[3], m[7], m[11]}, 0, 0.1f, 0);
    float up[3];
    for (int k = 0; k < 3; k++) up[k] = m[4 * k + 2]; /* the bone's z, which was up in the file */
    assert_near(up, 0.70710678f, 0.70710678f, 0);
    cutis_character_destroy(c);
}

static void refuse(const char *from, const char *to, const char *expected)
{
    char *text = malloc(sizeof dae_sample + 200);
    const char *at = strstr(dae_sample, from);
    assert_non_null(at);
    sprintf(text, "%.*s%s%s", (int)(at - dae_sample), dae_sample, to, at + strlen(from));
    cutis_character *c = NULL;
    cutis_error error = {0};
    assert_int_not_equal(cutis_character_load_memory(text, strlen(text), "a.dae", NULL, &c, &error), CUTIS_OK);
    if (!strstr(error.text, expected)) print_error("'%s' is not in '%s'\n", expected, error.text);
    assert_non_null(strstr(error.text, expected));
    free(text);
}

/* Another skeleton with the same names comes first: the one that the instance names counts. */
static void test_names_of_two_skeletons(void **state)
{
    (void)state;
    static const char decoy[] = "<node id=\"d1\" sid=\"lower\" name=\"other\" type=\"JOINT\">"
                                "<node id=\"d2\" sid=\"upper\" name=\"other\" type=\"JOINT\"></node></node>";
    static const char mark[] = "<visual_scene id=\"s\">";
    char *text = malloc(sizeof dae_sample + sizeof decoy);
    const char *at = strstr(dae_sample, mark) + strlen(mark);
    sprintf(text, "%.*s%s%s", (int)(at - dae_sample), dae_sample, decoy, at);
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_load_memory(text, strlen(text), "a.dae", NULL, &c, NULL), CUTIS_OK);
    assert_int_equal(c->joint_count, 4);
    assert_string_equal(c->joints[c->influence_joints[c->influence_first[0]]].name, "lower");
    assert_string_equal(c->joints[c->influence_joints[c->influence_first[5]]].name, "upper");
    cutis_character_destroy(c);
    free(text);
}

static void test_damage_is_named(void **state)
{
    (void)state;
    refuse("<p>0 0 1 1 3 1", "<p>0 0 1 1 9 1", "names a vertex that does not exist, in mesh 'ladder'");
    refuse("</COLLADA>", "", "its XML is damaged or cut short");
    refuse("<COLLADA version", "<html version", "damaged or cut short");
    refuse("<instance_controller url=\"#c\"", "<instance_controller url=\"#x\"", "it holds no mesh; it is a motion");
    refuse("<translate>0 0 10<", "<translate>0 0<", "too few numbers in a transform of node 'n2'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ladder), cmocka_unit_test(test_names_of_two_skeletons),
                                       cmocka_unit_test(test_damage_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
