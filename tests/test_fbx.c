/* test_fbx.c: FBX files give the mesh, the skeleton and the motion that they hold, in metres and y up. */
#include "testing.h"

#include "fbx_sample.h"
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
    refuse("a: 0,1,3,-3", "a: 0,1,9,-3", "names vertex 9, but there are only 6");
    refuse("Indexes: *4 {\n\t\t\ta: 0,1", "Indexes: *4 {\n\t\t\ta: 0,7", "names vertex 7");
    refuse("FBXVersion: 7400", "FBXVersion: 4000", "before 2004");
    refuse("FBXHeaderExtension", "Something", "not an FBX file");
    refuse("C: \"OO\",21,0\n", "C: \"OO\",21,22\n", "is its own ancestor");
    refuse("\tC: \"OO\",10,20\n", "", "it holds no mesh; it is a motion");
    refuse("\"d|DeformPercent\"\n}\n", "\"d|", "a text does not end");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_binary),
                                       cmocka_unit_test(test_version_5000), cmocka_unit_test(test_damage_is_named),
                                       cmocka_unit_test(test_inflate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
