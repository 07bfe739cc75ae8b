/* test_packed.c: compressed glTF gives the character of the plain file, and damage in it is an error. */
#include "testing.h"

#include "io/gltf/draco_face.h"
#include "io/gltf/meshopt_decode.h"
#include "pack_sample.h"

static cutis_character *load(sample *s)
{
    cutis_character *c = NULL;
    cutis_error error = {0};
    sample_build(s);
    cutis_result result = cutis_character_load_memory(s->file, s->size, "packed.glb", NULL, &c, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    return c;
}

static void refuse(sample *s, const char *expected)
{
    cutis_character *c = NULL;
    cutis_error error = {0};
    sample_build(s);
    assert_int_not_equal(cutis_character_load_memory(s->file, s->size, "packed.glb", NULL, &c, &error), CUTIS_OK);
    if (!strstr(error.text, expected)) print_error("'%s' is not in '%s'\n", expected, error.text);
    assert_non_null(strstr(error.text, expected));
}

static void test_meshopt_gives_the_plain_character(void **state)
{
    (void)state;
    sample plain = sample_make();
    cutis_character *a = load(&plain);
    static const int modes[] = {0, 1, 2, 2 | 5 << 4, 2 | 15 << 4};
    for (int i = 0; i < 10; i++) {
        sample s = pack_sample_make(i % 2 ? "EXT_meshopt_compression" : "KHR_meshopt_compression", modes[i / 2], i % 2);
        cutis_character *b = load(&s);
        assert_int_equal(a->vertex_count, b->vertex_count);
        assert_memory_equal(a->positions, b->positions, (size_t)a->vertex_count * 12);
        assert_int_equal(a->corner_count, b->corner_count);
        assert_memory_equal(a->corners, b->corners, (size_t)a->corner_count * sizeof(int));
        assert_int_equal(a->influence_first[6], b->influence_first[6]);
        assert_memory_equal(a->influence_weights, b->influence_weights, (size_t)a->influence_first[6] * sizeof(float));
        cutis_character_destroy(b);
    }
    cutis_character_destroy(a);
}

static void test_meshopt_damage_is_named(void **state)
{
    (void)state;
    sample s = pack_sample_make("EXT_meshopt_compression", 0, true);
    s.bin[SAMPLE_BYTES] = 0xa2;
    refuse(&s, "buffer view 0: its meshopt data is damaged");
    s = pack_sample_make("EXT_meshopt_compression", 0, true);
    sample_edit(&s, "'mode':'TRIANGLES'", "'mode':'SQUARES'");
    refuse(&s, "buffer view 3: its meshopt data is damaged");
    s = pack_sample_make("EXT_meshopt_compression", 0, true);
    sample_edit(&s, "'mode':'ATTRIBUTES'", "'filter':'BLUR','mode':'ATTRIBUTES'");
    refuse(&s, "unknown filter");
    s = pack_sample_make("EXT_meshopt_compression", 0, true);
    sample_edit(&s, "'byteStride':12", "'byteStride':9999999999");
    refuse(&s, "no size");
}

/* The streams at every length, from blocks of their own so that a sanitizer sees a read beyond them. */
static void test_meshopt_streams_that_are_cut_short(void **state)
{
    (void)state;
    uint8_t data[96], stream[1024], out[1024];
    for (int i = 0; i < 96; i++) data[i] = (uint8_t)(i * 37);
    const uint16_t indices[12] = {0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4};
    for (int kind = 0; kind < 4; kind++) {
        size_t size = kind < 2    ? pack_attributes(stream, kind, 1, data, 6, 16)
                      : kind == 2 ? pack_triangles(stream, indices, 12)
                                  : pack_indices(stream, indices, 12);
        for (size_t cut = 0; cut <= size; cut++) {
            uint8_t *copy = malloc(cut ? cut : 1);
            memcpy(copy, stream, cut);
            bool good = kind < 2    ? meshopt_attributes(copy, cut, 6, 16, out)
                        : kind == 2 ? meshopt_triangles(copy, cut, 12, 2, out)
                                    : meshopt_indices(copy, cut, 12, 2, out);
            assert_int_equal(good, cut == size);
            free(copy);
        }
        assert_memory_equal(out, kind < 2 ? (const void *)data : indices, kind < 2 ? 96 : 24);
    }
}

/* The worked example of the extension's appendix, and single values of each filter. */
static void test_meshopt_groups_and_filters(void **state)
{
    (void)state;
    static const uint8_t group[10] = {0x17, 0x5f, 0xf0, 0xbc, 0x77, 0xa9, 0x21, 0x00, 0x34, 0xb5};
    static const int deltas[16] = {-1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0};
    uint8_t stream[80] = {0xa0, 2}, out[64];
    memcpy(stream + 2, group, 10); /* first byte in 4 bits, the others zero; then the padded tail */
    assert_true(meshopt_attributes(stream, 2 + 10 + 3 + 32, 16, 4, out));
    uint8_t value = 0;
    for (int i = 0; i < 16; i++) {
        value = (uint8_t)(value + deltas[i]);
        assert_int_equal(out[4 * i], value);
    }
    int16_t quaternion[4] = {0, 16383, 0, 0x7ffc | 3}; /* the largest is w, K = 16 */
    assert_true(meshopt_filter(MESHOPT_FILTER_QUATERNION, (uint8_t *)quaternion, 1, 8));
    assert_true(abs(quaternion[1] - 11584) <= 1 && abs(quaternion[3] - 30650) <= 2 && quaternion[0] == 0);
    int8_t normal[4] = {0, 0, 127, 5};
    assert_true(meshopt_filter(MESHOPT_FILTER_OCTAHEDRAL, (uint8_t *)normal, 1, 4));
    assert_true(normal[0] == 0 && normal[1] == 0 && normal[2] == 127 && normal[3] == 5);
    uint8_t number[4] = {0xfd, 0xff, 0xff, 0xff}; /* -3 x 2^-1 */
    assert_true(meshopt_filter(MESHOPT_FILTER_EXPONENTIAL, number, 1, 4));
    float real;
    memcpy(&real, number, 4);
    assert_true(real == -1.5f);
    uint8_t color[4] = {128, 0, 0, 0xff}; /* grey, opaque, K = 8 */
    assert_true(meshopt_filter(MESHOPT_FILTER_COLOR, color, 1, 4));
    assert_true(color[0] == 128 && color[1] == 128 && color[2] == 128 && color[3] == 255);
    assert_false(meshopt_filter(MESHOPT_FILTER_QUATERNION, number, 1, 4));
}

static void test_draco(void **state)
{
    (void)state;
    sample s = draco_sample_make();
#ifdef CUTIS_HAS_DRACO
    cutis_character *c = load(&s);
    assert_int_equal(c->vertex_count, 4);
    assert_int_equal(c->face_count, 2);
    assert_true(fabsf(c->size - 1.5f) < 1e-3f);
    cutis_character_destroy(c);
    s = draco_sample_make();
    sample_edit(&s, "'attributes':{'POSITION':0}}}", "'attributes':{'POSITION':7}}}");
    refuse(&s, "no attribute 7 for POSITION");
    s = draco_sample_make();
    s.bin[30] ^= 0xff;
    s.bin[2] ^= 0xff;
    refuse(&s, "mesh 0 primitive 0: its Draco data is damaged");
#else
    refuse(&s, "build of cutis has no Draco; install libdraco");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshopt_gives_the_plain_character),
        cmocka_unit_test(test_meshopt_damage_is_named),
        cmocka_unit_test(test_meshopt_streams_that_are_cut_short),
        cmocka_unit_test(test_meshopt_groups_and_filters),
        cmocka_unit_test(test_draco),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
