/* test_fbx.c: FBX files give the mesh, the skeleton and the motion that they hold, in metres and y up. */
#include "testing.h"

#include "fbx_sample.h"
#include "io/fbx/fbx_scene.h"
#include "io/inflate.h"

static cutis_character *load(const void *bytes, size_t size)
{
    cutis_character *c = NULL;
    cutis_error error = {0};
    cutis_result result = cutis_character_load_memory(bytes, size, "some/ladder.fbx", NULL, &c, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    return c;
}

static void assert_near(const float *p, float x, float y, float z)
{
    if (!(fabsf(p[0] - x) < 1e-5f && fabsf(p[1] - y) < 1e-5f && fabsf(p[2] - z) < 1e-5f))
        print_error("%g %g %g is not %g %g %g\n", (double)p[0], (double)p[1], (double)p[2], (double)x, (double)y,
                    (double)z);
    assert_true(fabsf(p[0] - x) < 1e-5f && fabsf(p[1] - y) < 1e-5f && fabsf(p[2] - z) < 1e-5f);
}

/* A vertex where its joints put it. */
static void skin(const cutis_character *c, const float *joints, int v, float out[3])
{
    memset(out, 0, 3 * sizeof(float));
    for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
        const float *bind = c->joints[c->influence_joints[i]].inverse_bind, *p = c->positions + 3 * v;
        const float *m = joints + 12 * c->influence_joints[i];
        float local[3];
        for (int k = 0; k < 3; k++)
            local[k] = bind[4 * k] * p[0] + bind[4 * k + 1] * p[1] + bind[4 * k + 2] * p[2] + bind[4 * k + 3];
        for (int k = 0; k < 3; k++)
            out[k] += c->influence_weights[i] *
                      (m[4 * k] * local[0] + m[4 * k + 1] * local[1] + m[4 * k + 2] * local[2] + m[4 * k + 3]);
    }
}

static void check(const cutis_character *c)
{
    assert_string_equal(c->name, "ladder");
    assert_int_equal(c->vertex_count, 6);
    assert_int_equal(c->face_count, 2);
    assert_int_equal(c->part_count, 2);
    assert_string_equal(c->parts[0].material, "skin");
    assert_string_equal(c->parts[1].material, "cloth");
    assert_memory_equal(c->corners, ((int[]){2, 3, 5, 4, 0, 1, 3, 2}), 8 * sizeof(int));
    assert_true(c->texcoords[3] == 0.75f);
    assert_near(c->positions + 15, 0.05f, 0.2f, 0);
    assert_int_equal(c->joint_count, 2);
    assert_string_equal(c->joints[1].name, "upper");
    assert_int_equal(c->morph_count, 1);
    assert_near(c->morphs[0].deltas + 15, 0, 0, 0.01f);

    float joints[24], place[3];
    cutis_pose_rest(c, joints);
    skin(c, joints, 5, place);
    assert_near(place, 0.05f, 0.2f, 0);
    assert_near((float[]){joints[15], joints[19], joints[23]}, 0, 0.13f, -0.03f);

    /* a quarter turn about the bone's z, which the pre-rotation laid along -y of the file, around (0, 3 - 3, 13) */
    assert_int_equal(c->clip_count, 1);
    assert_string_equal(c->clips[0].name, "bend");
    assert_true(c->clips[0].end == 1);
    cutis_pose_sample(c, 0, 1, joints);
    skin(c, joints, 4, place);
    assert_near(place, -0.07f, 0.08f, 0);

    /* the curve is a cubic with level ends: a quarter of the time is 5/32 of the way */
    cutis_pose_sample(c, 0, 0.25, joints);
    float angle = acosf(joints[12]);
    assert_true(fabsf(angle - 5.0f / 32 * 1.5707963f) < 1e-3f);
    float weight;
    cutis_pose_morphs(c, 0, 0.25, &weight);
    assert_true(fabsf(weight - 0.25f) < 1e-5f);
}

static void test_text(void **state)
{
    (void)state;
    cutis_character *c = load(fbx_sample, sizeof fbx_sample - 1);
    check(c);
    cutis_character_destroy(c);
}

static void test_binary(void **state)
{
    (void)state;
    static uint8_t bytes[16384];
    size_t size = fbx_sample_binary(bytes);
    cutis_character *c = load(bytes, size);
    check(c);
    cutis_character_destroy(c);
}

/* Version 5000: models at the top, with channels, children and links of their own. */
static void test_version_5000(void **state)
{
    (void)state;
    static const char text[] =
        "; FBX 5.0.0 project file\nFBXHeaderExtension:  {\n\tFBXVersion: 5000\n}\n"
        "Model: \"root\" {\n\tType: \"Null\"\n\tChannel: \"Transform\" {\n\t\tChannel: \"T\" {\n"
        "\t\t\tChannel: \"Y\" {\n\t\t\t\tDefault: 100\n\t\t\t}\n\t\t}\n\t}\n\tChildren: \"body\",\"lower\"\n}\n"
        "Model: \"body\" {\n\tVertices: -5,0,0,5,0,0,-5,20,0,5,20,0\n\tPolygonVertexIndex: 0,1,3,-3\n"
        "\tMaterialAssignation: \"AllSame\"\n\tMaterials: 0\n\tMaterial: \"hide\" {\n\t}\n"
        "\tGeometryUVInfo:  {\n\t\tMappingInformationType: \"ByPolygon\"\n\t\tTextureUV: 0,0,1,0.25\n"
        "\t\tTextureUVVerticeIndex: 0,1,1,0\n\t}\n"
        "\tLink: \"lower\" {\n\t\tIndexes: 0,1\n\t\tWeights: 1,1\n\t\tTransform: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1\n"
        "\t\tTransformLink: 1,0,0,0,0,1,0,0,0,0,1,0,0,100,0,1\n\t}\n"
        "\tLink: \"upper\" {\n\t\tIndexes: 2,3\n\t\tWeights: 1,1\n\t\tTransform: 1,0,0,0,0,1,0,0,0,0,1,0,0,-10,0,1\n"
        "\t\tTransformLink: 1,0,0,0,0,1,0,0,0,0,1,0,0,110,0,1\n\t}\n}\n"
        "Model: \"lower\" {\n\tType: \"LimbNode\"\n\tChildren: \"upper\"\n}\n"
        "Model: \"upper\" {\n\tType: \"LimbNode\"\n\tChannel: \"Transform\" {\n\t\tChannel: \"T\" {\n"
        "\t\t\tChannel: \"Y\" {\n\t\t\t\tDefault: 10\n\t\t\t}\n\t\t}\n\t}\n}\n"
        "Takes:  {\n\tTake: \"bend\" {\n\t\tModel: \"upper\" {\n\t\t\tChannel: \"Transform\" {\n\t\t\t\tChannel: \"R\" "
        "{\n"
        "\t\t\t\t\tChannel: \"Z\" {\n\t\t\t\t\t\tKey: "
        "0,0,L,46186158000,90,L\n\t\t\t\t\t}\n\t\t\t\t}\n\t\t\t}\n\t\t}\n\t}\n}\n";
    cutis_character *c = load(text, sizeof text - 1);
    assert_int_equal(c->vertex_count, 4);
    assert_string_equal(c->parts[0].material, "hide");
    assert_true(c->texcoords[3] == 0.75f);
    assert_near(c->positions + 9, 0.05f, 1.2f, 0);
    assert_int_equal(c->joint_count, 3);
    float joints[36], place[3];
    cutis_pose_sample(c, 0, 1, joints);
    skin(c, joints, 3, place);
    assert_near(place, -0.1f, 1.15f, 0); /* (5, 10) from the bone, a quarter turn */
    cutis_character_destroy(c);
}

/* The sample with changes; see text_changed. */
static cutis_character *load_changed(const char *const *changes)
{
    char *text = text_changed(fbx_sample, changes);
    cutis_character *c = load(text, strlen(text));
    free(text);
    return c;
}

/* The turn of the second bone about its z at a time, degrees. */
static float turn_at(const cutis_character *c, double time)
{
    float joints[24];
    cutis_pose_sample(c, 0, time, joints);
    return acosf(CLAMP(joints[12], -1.0f, 1.0f)) * 57.29577951f;
}

/* A second layer that turns by 40 degrees about z all the time, on top of 0 to 90 in the first. */
static void test_layers_of_animation(void **state)
{
    (void)state;
    static const struct {
        const char *properties;
        float start, end;
    } cases[] = {
        {"", 40, 130},                                                          /* added by default */
        {"P: \"Weight\", \"Number\", \"\", \"A\",25\n", 10, 100},               /* a quarter of it */
        {"P: \"RotationAccumulationMode\", \"enum\", \"\", \"\",1\n", 40, 130}, /* angle by angle */
        {"P: \"BlendMode\", \"enum\", \"\", \"\",1\n", 40, 40},                 /* replaces */
        {"P: \"BlendMode\", \"enum\", \"\", \"\",2\nP: \"Weight\", \"Number\", \"\", \"A\",50\n", 20,
         65}, /* half way */
        {"P: \"Mute\", \"bool\", \"\", \"\",1\n", 0, 90},
        {"P: \"Solo\", \"bool\", \"\", \"\",1\n", 40, 40},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char layer[1200];
        snprintf(layer, sizeof layer,
                 "\tAnimationLayer: 61, \"AnimLayer::more\", \"\" {\nProperties70:  {\n%s}\n}\n"
                 "\tAnimationCurveNode: 62, \"AnimCurveNode::R\", \"\" {\n}\n"
                 "\tAnimationCurve: 64, \"AnimCurve::\", \"\" {\n\t\tKeyTime: *2 {\n\t\t\ta: 0,46186158000\n\t\t}\n"
                 "\t\tKeyValueFloat: *2 {\n\t\t\ta: 40,40\n\t\t}\n\t\tKeyAttrFlags: *1 {\n\t\t\ta: 4\n\t\t}\n"
                 "\t\tKeyAttrRefCount: *1 {\n\t\t\ta: 2\n\t\t}\n\t}\n\tAnimationCurveNode: 52",
                 cases[i].properties);
        cutis_character *c = load_changed((const char *[]){
            "\tAnimationCurveNode: 52", layer, "\tC: \"OO\",52,51\n",
            "\tC: \"OO\",52,51\n\tC: \"OO\",61,50\n\tC: \"OO\",62,61\n\tC: \"OP\",62,22, \"Lcl Rotation\"\n"
            "\tC: \"OP\",64,62, \"d|Z\"\n",
            NULL});
        float start = turn_at(c, 0), end = turn_at(c, 1);
        if (fabsf(start - cases[i].start) > 0.05f || fabsf(end - cases[i].end) > 0.05f)
            print_error("case %d: %g and %g\n", i, (double)start, (double)end);
        assert_true(fabsf(start - cases[i].start) <= 0.05f && fabsf(end - cases[i].end) <= 0.05f);
        cutis_character_destroy(c);
    }
}

/* Rotations of two layers about different axes follow each other, in every order of the angles. */
static void test_angles_come_back(void **state)
{
    (void)state;
    for (int order = 0; order < 6; order++)
        for (int i = 0; i < 27; i++) {
            double angles[3] = {80 * (i % 3) - 80, 85 * (i / 3 % 3) - 85, 170 * (i / 9) - 170}, found[3], a[4], b[4];
            fbx_euler(angles, order, a);
            fbx_euler_find(a, order, found);
            fbx_euler(found, order, b);
            double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
            assert_true(fabs(fabs(dot) - 1) < 1e-12);
        }
    double level[4], angles[3], back[4]; /* where two of the axes fall together */
    fbx_euler((double[]){30, 90, 20}, 0, level);
    fbx_euler_find(level, 0, angles);
    fbx_euler(angles, 0, back);
    assert_true(fabs(fabs(level[0] * back[0] + level[1] * back[1] + level[2] * back[2] + level[3] * back[3]) - 1) <
                1e-9);
}

/* A channel with an in-between at 40 %: that rises first, then gives way to the last shape. */
static void test_in_between_shapes(void **state)
{
    (void)state;
    cutis_character *c = load_changed(
        (const char *[]){"\tModel: 20,",
                         "\tGeometry: 12, \"Geometry::half\", \"Shape\" {\n\t\tIndexes: *1 {\n\t\t\ta: 4\n\t\t}\n"
                         "\t\tVertices: *3 {\n\t\t\ta: 2,0,0\n\t\t}\n\t}\n\tModel: 20,",
                         "DeformPercent: 0\n", "DeformPercent: 0\n\t\tFullWeights: *2 {\n\t\t\ta: 40,100\n\t\t}\n",
                         "\tC: \"OO\",11,44\n", "\tC: \"OO\",12,44\n\tC: \"OO\",11,44\n", NULL});
    assert_int_equal(c->morph_count, 2);
    assert_string_equal(c->morphs[0].name, "bulge at 40 %");
    assert_string_equal(c->morphs[1].name, "bulge");
    assert_near(c->morphs[0].deltas + 12, 0.02f, 0, 0);
    static const float expected[5][3] = {{0, 0, 0}, {0.2f, 0.5f, 0}, {0.4f, 1, 0}, {0.7f, 0.5f, 0.5f}, {1, 0, 1}};
    for (int i = 0; i < 5; i++) {
        float weights[2];
        cutis_pose_morphs(c, 0, (double)expected[i][0], weights);
        assert_near((float[]){weights[0], weights[1], 0}, expected[i][1], expected[i][2], 0);
    }
    cutis_character_destroy(c);
}

/* The text form of Maya starts a long list with a comma. */
static void test_a_list_behind_a_comma(void **state)
{
    (void)state;
    cutis_character *c = load_changed((const char *[]){
        "\tMaterial: 30,",
        "\tVideo: 90, \"Video::v\", \"Clip\" {\n\t\tContent: ,\n \"iVBORw0KGgo=\",\n \"AAAA\"\n\t}\n\tMaterial: 30,",
        NULL});
    check(c);
    cutis_character_destroy(c);
}

static void refuse(const char *from, const char *to, const char *expected)
{
    char *text = malloc(sizeof fbx_sample + 200);
    const char *at = strstr(fbx_sample, from);
    assert_non_null(at);
    sprintf(text, "%.*s%s%s", (int)(at - fbx_sample), fbx_sample, to, at + strlen(from));
    cutis_character *c = NULL;
    cutis_error error = {0};
    assert_int_not_equal(cutis_character_load_memory(text, strlen(text), "a.fbx", NULL, &c, &error), CUTIS_OK);
    if (!strstr(error.text, expected)) print_error("'%s' is not in '%s'\n", expected, error.text);
    assert_non_null(strstr(error.text, expected));
    free(text);
}

static void test_damage_is_named(void **state)
{
    (void)state;
    refuse("a: 0,1,3,-3", "a: 0,1,9,-3", "uses vertex 9, but there are only 6");
    refuse("Indexes: *4 {\n\t\t\ta: 0,1", "Indexes: *4 {\n\t\t\ta: 0,7", "uses vertex 7");
    refuse("FBXVersion: 7400", "FBXVersion: 4000", "before 2004");
    refuse("FBXHeaderExtension", "Something", "not an FBX file");
    refuse("C: \"OO\",21,0\n", "C: \"OO\",21,22\n", "is its own ancestor");
    refuse("\tC: \"OO\",10,20\n", "", "it holds no mesh; it is a motion");
    refuse("\"d|DeformPercent\"\n}\n", "\"d|", "a string does not end");
}

static void test_inflate(void **state)
{
    (void)state;
    /* "hello hello hello hello" by zlib: fixed codes with a match; and stored */
    static const uint8_t fixed[] = {0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57,
                                    0xc8, 0x40, 0x27, 0x01, 0x68, 0x03, 0x08, 0xb1};
    static const uint8_t stored[] = {0x78, 0x01, 1, 5, 0, 0xfa, 0xff, 'h', 'e', 'l', 'l', 'o'};
    uint8_t out[32];
    assert_true(inflate_zlib(fixed, sizeof fixed, out, 23));
    assert_memory_equal(out, "hello hello hello hello", 23);
    assert_false(inflate_zlib(fixed, sizeof fixed, out, 22));
    assert_false(inflate_zlib(fixed, 9, out, 23));
    assert_true(inflate_zlib(stored, sizeof stored, out, 5));
    assert_false(inflate_zlib(stored, sizeof stored - 1, out, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text),
                                       cmocka_unit_test(test_binary),
                                       cmocka_unit_test(test_version_5000),
                                       cmocka_unit_test(test_layers_of_animation),
                                       cmocka_unit_test(test_angles_come_back),
                                       cmocka_unit_test(test_in_between_shapes),
                                       cmocka_unit_test(test_a_list_behind_a_comma),
                                       cmocka_unit_test(test_damage_is_named),
                                       cmocka_unit_test(test_inflate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
