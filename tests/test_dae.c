/* test_dae.c: COLLADA files give the mesh, the skeleton and the motion that they hold, in metres and y up. */
#include "testing.h"

#include "base/core.h"
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

/* The sample with changes; see text_changed. */
static cutis_character *load_changed(const char *const *changes)
{
    char *text = text_changed(dae_sample, changes);
    cutis_character *c = NULL;
    cutis_error error = {0};
    cutis_result result = cutis_character_load_memory(text, strlen(text), "a.dae", NULL, &c, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    free(text);
    return c;
}

/* The turn of the second joint at a time of the clip, degrees. */
static float turn_at(const cutis_character *c, double time)
{
    float joints[24];
    cutis_pose_sample(c, 0, time, joints);
    return atan2f(joints[12 + 2], joints[12 + 6]) * 57.29577951f; /* where the bone's z points: up goes to +x */
}

/* Segments by their kinds; each expected value is that of the formula of the specification. */
static void test_curves_by_tangents(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *in, *out, *count;
        float quarter, half;
    } cases[] = {
        {"STEP", "", "", "0", 0, 0},
        {"LINEAR", "", "", "0", 22.5f, 45},
        /* inner points (1/3, 0), (2/3, 90): 90 (3 s^2 - 2 s^3) */
        {"BEZIER", "0 0 0.6666666667 90", "0.3333333333 0 0 0", "4", 14.0625f, 45},
        /* inner points (0, 0), (0, 90): time is s^3 */
        {"BEZIER", "0 0 0 90", "0 0 0 0", "4", 62.1496f, 80.0893f},
        /* numbers alone: a third of the time apart */
        {"BEZIER", "0 90", "0 0", "2", 14.0625f, 45},
        /* level tangents; then tangents of 90 at both ends, which is a straight line */
        {"HERMITE", "0 0 1 0", "1 0 0 0", "4", 14.0625f, 45},
        {"HERMITE", "0 0 1 90", "1 90 0 0", "4", 22.5f, 45},
        {"CARDINAL", "", "", "0", 22.5f, 45},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char kinds[64], sources[600];
        snprintf(kinds, sizeof kinds, ">%s %s<", cases[i].kind, cases[i].kind);
        snprintf(sources, sizeof sources,
                 "<source id=\"ti\"><float_array count=\"%s\">%s</float_array></source>"
                 "<source id=\"to\"><float_array count=\"%s\">%s</float_array></source>"
                 "<sampler id=\"as\"><input semantic=\"IN_TANGENT\" source=\"#ti\"/>"
                 "<input semantic=\"OUT_TANGENT\" source=\"#to\"/>",
                 cases[i].count, cases[i].in, cases[i].count, cases[i].out);
        cutis_character *c =
            load_changed((const char *[]){">LINEAR LINEAR<", kinds, "<sampler id=\"as\">", sources, NULL});
        float quarter = turn_at(c, 0.25), half = turn_at(c, 0.5);
        if (fabsf(quarter - cases[i].quarter) > 0.02f || fabsf(half - cases[i].half) > 0.02f)
            print_error("case %d: %g and %g\n", i, (double)quarter, (double)half);
        assert_true(fabsf(quarter - cases[i].quarter) <= 0.02f && fabsf(half - cases[i].half) <= 0.02f);
        cutis_character_destroy(c);
    }
}

static const char morph_controller[] =
    "<library_controllers><controller id=\"m\"><morph source=\"#g\" method=\"%s\">"
    "<source id=\"mt\"><IDREF_array count=\"1\">g2</IDREF_array></source>"
    "<source id=\"mw\"><float_array id=\"mwa\" count=\"1\">0.5</float_array></source>"
    "<targets><input semantic=\"MORPH_TARGET\" source=\"#mt\"/><input semantic=\"MORPH_WEIGHT\" source=\"#mw\"/>"
    "</targets></morph></controller>";
static const char morph_geometry[] =
    "<library_geometries><geometry id=\"g2\" name=\"bulge\"><mesh>"
    "<source id=\"hp\"><float_array id=\"hpa\" count=\"18\">%s</float_array>"
    "<technique_common><accessor source=\"#hpa\" count=\"6\" stride=\"3\"/></technique_common></source>"
    "<vertices id=\"hv\"><input semantic=\"POSITION\" source=\"#hp\"/></vertices></mesh></geometry>";

/* A skin of a morph: whole shapes and differences; weights at rest and in a clip. */
static void test_morphs(void **state)
{
    (void)state;
    static const char *const methods[2][2] = {{"NORMALIZED", "-5 0 0 5 0 0 -5 0 10 5 0 10 -5 0 20 5 -4 20"},
                                              {"RELATIVE", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -4 0"}};
    for (int i = 0; i < 2; i++) {
        char controller[800], geometry[800];
        snprintf(controller, sizeof controller, morph_controller, methods[i][0]);
        snprintf(geometry, sizeof geometry, morph_geometry, methods[i][1]);
        cutis_character *c = load_changed((const char *[]){
            "<skin source=\"#g\">", "<skin source=\"#m\">", "<library_controllers>", controller, "<library_geometries>",
            geometry, "<channel source=\"#as\" target=\"n2/turn.ANGLE\"/>",
            "<channel source=\"#as\" target=\"n2/turn.ANGLE\"/><channel source=\"#as\" target=\"mw(0)\"/>", NULL});
        assert_int_equal(c->morph_count, 1);
        assert_string_equal(c->morphs[0].name, "bulge");
        assert_near(c->morphs[0].deltas + 15, 0, 0, 0.04f); /* -y of the file is z here */
        assert_near(c->morphs[0].deltas + 12, 0, 0, 0);
        assert_near(c->positions + 15, 0.05f, 0.2f, 0.02f); /* half of it at rest */
        float weight;
        cutis_pose_morphs(c, 0, 0.25, &weight);
        assert_true(fabsf(weight - (22.5f - 0.5f)) < 1e-3f); /* over that of the rest shape */
        cutis_character_destroy(c);
    }
}

/* A node of library_nodes, twice in the scene, with an animation that moves both; one that holds itself ends. */
static void test_instances_of_nodes(void **state)
{
    (void)state;
    static const char library[] =
        "<library_nodes><node id=\"plate\" name=\"plate\"><rotate sid=\"turn\">0 1 0 0</rotate>"
        "<instance_geometry url=\"#g\"/></node>"
        "<node id=\"loop\"><instance_node url=\"#loop\"/></node></library_nodes>\n<library_visual_scenes>";
    static const char two[] = "<node id=\"n3\"><instance_node url=\"#plate\"/>"
                              "<node id=\"n4\"><translate>0 0 100</translate><instance_node url=\"#plate\"/></node>"
                              "<instance_node url=\"#loop\"/></node>";
    cutis_character *c = load_changed((const char *[]){
        "<library_visual_scenes>", library,
        "<node id=\"n3\"><instance_controller url=\"#c\"><skeleton>#n1</skeleton></instance_controller></node>", two,
        "target=\"n2/turn.ANGLE\"", "target=\"plate/turn.ANGLE\"", NULL});
    assert_int_equal(c->vertex_count, 12);
    assert_near(c->positions + 3 * 11, 0.05f, 1.2f, 0);
    int plates = 0;
    for (int t = 0; t < c->clips[0].track_count; t++) plates += c->clips[0].tracks[t].path == CUTIS_PATH_ROTATION;
    assert_int_equal(plates, 2);
    assert_true(c->warning_count > 0);
    cutis_character_destroy(c);
}

/* A strip and a fan of the same quads give the triangles of both. */
static void test_strips_and_fans(void **state)
{
    (void)state;
    static const char from[] = "<polylist material=\"skin\" count=\"2\">", rest[] = "<vcount>4 4</vcount>",
                      indices[] = "<p>0 0 1 1 3 1 2 0 2 0 3 1 5 1 4 0</p></polylist>";
    cutis_character *c = load_changed((const char *[]){from, "<tristrips material=\"skin\" count=\"1\">", rest, "",
                                                       indices, "<p>0 0 1 1 2 0 3 1</p></tristrips>", NULL});
    assert_int_equal(c->face_count, 2);
    assert_memory_equal(c->corners, ((int[]){0, 1, 2, 1, 3, 2}), 6 * sizeof(int));
    cutis_character_destroy(c);
    c = load_changed((const char *[]){from, "<trifans material=\"skin\" count=\"1\">", rest, "", indices,
                                      "<p>0 0 1 1 3 0 2 1</p></trifans>", NULL});
    assert_int_equal(c->face_count, 2);
    assert_memory_equal(c->corners, ((int[]){0, 1, 3, 0, 3, 2}), 6 * sizeof(int));
    cutis_character_destroy(c);
}

/* A clip of the file takes a part of its animation, from its own zero on. */
static void test_clips_have_ranges(void **state)
{
    (void)state;
    cutis_character *c = load_changed(
        (const char *[]){"<library_visual_scenes>",
                         "<library_animation_clips><animation_clip name=\"end\" start=\"0.5\" end=\"0.75\">"
                         "<instance_animation url=\"#bend\"/></animation_clip></library_animation_clips>"
                         "<library_visual_scenes>",
                         NULL});
    assert_string_equal(c->clips[0].name, "end");
    assert_true(fabs(c->clips[0].end - 0.25) < 1e-6);
    assert_true(fabsf(turn_at(c, 0) - 45) < 0.02f && fabsf(turn_at(c, 0.25) - 67.5f) < 0.02f);
    cutis_character_destroy(c);
}

/* The same text in UTF-16, in either order of bytes. */
static void test_utf16(void **state)
{
    (void)state;
    static uint8_t wide[2 * sizeof dae_sample + 2];
    for (int big = 0; big < 2; big++) {
        size_t size = 0;
        wide[size++] = big ? 0xfe : 0xff;
        wide[size++] = big ? 0xff : 0xfe;
        for (size_t i = 0; i + 1 < sizeof dae_sample; i++) {
            wide[size++] = big ? 0 : (uint8_t)dae_sample[i];
            wide[size++] = big ? (uint8_t)dae_sample[i] : 0;
        }
        cutis_character *c = NULL;
        assert_int_equal(cutis_character_load_memory(wide, size, "a.dae", NULL, &c, NULL), CUTIS_OK);
        assert_int_equal(c->vertex_count, 6);
        cutis_character_destroy(c);
    }
}

static void test_damage_is_named(void **state)
{
    (void)state;
    refuse("<p>0 0 1 1 3 1", "<p>0 0 1 1 9 1", "uses a vertex that does not exist, in mesh 'ladder'");
    refuse("</COLLADA>", "", "its XML is damaged or cut short");
    refuse("<COLLADA version", "<html version", "damaged or cut short");
    refuse("<instance_controller url=\"#c\"", "<instance_controller url=\"#x\"", "it holds no mesh; it is a motion");
    refuse("<translate>0 0 10<", "<translate>0 0<", "too few numbers in a transform of node 'n2'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ladder),
                                       cmocka_unit_test(test_names_of_two_skeletons),
                                       cmocka_unit_test(test_curves_by_tangents),
                                       cmocka_unit_test(test_morphs),
                                       cmocka_unit_test(test_instances_of_nodes),
                                       cmocka_unit_test(test_strips_and_fans),
                                       cmocka_unit_test(test_clips_have_ranges),
                                       cmocka_unit_test(test_utf16),
                                       cmocka_unit_test(test_damage_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
