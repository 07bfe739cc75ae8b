/* test_bare.c: PLY, STL and OFF files of every flavour give the mesh that they hold, and errors name the place. */
#include "testing.h"

#include "io/files.h"

static cutis_character *load_bytes(const void *bytes, size_t size, const char *name)
{
    cutis_character *c = NULL;
    cutis_error error = {0};
    cutis_result result = cutis_character_load_memory(bytes, size, name, NULL, &c, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    return c;
}

static cutis_character *load(const char *text, const char *name) { return load_bytes(text, strlen(text), name); }

static void refuse(const void *bytes, size_t size, const char *name, const char *expected)
{
    cutis_character *c = NULL;
    cutis_error error = {0};
    assert_int_not_equal(cutis_character_load_memory(bytes, size, name, NULL, &c, &error), CUTIS_OK);
    if (!strstr(error.text, expected)) print_error("'%s' is not in '%s'\n", expected, error.text);
    assert_non_null(strstr(error.text, expected));
    assert_null(c);
}

static void refuse_text(const char *text, const char *name, const char *expected)
{
    refuse(text, strlen(text), name, expected);
}

/* ---- PLY ---- */

static void test_ply_text_with_strangers_among_its_properties(void **state)
{
    (void)state;
    cutis_character *c =
        load("ply\r\nformat ascii 1.0\r\ncomment made by hand\r\nelement vertex 5\r\nproperty uchar red\r\n"
             "property double x\r\nproperty list uchar float odd\r\nproperty float y\r\n"
             "property float z\r\nproperty float s\r\nproperty float t\r\nelement camera 1\r\n"
             "property float fov\r\nelement face 2\r\nproperty uchar flags\r\n"
             "property list uint8 int32 vertex_index\r\nelement edge 1\r\nproperty int vertex1\r\n"
             "end_header\r\n7 0 2 1 2 0 0 0 0.25\r\n7 1 0 0 0 0 0\r\n7 1 1 5 1 0 0 0\r\n7 0 0 1 0 0 0\r\n"
             "7 0 0 0 1 1 1\r\n90\r\n1 4 0 1 2 3\r\n1 3 0 1 4\r\n3\r\n",
             "a/thing.PLY");
    assert_string_equal(c->name, "thing");
    assert_int_equal(c->vertex_count, 5);
    assert_int_equal(c->face_count, 2);
    assert_memory_equal(c->corners, ((int[]){0, 1, 2, 3, 0, 1, 4}), 7 * sizeof(int));
    assert_true(c->positions[6] == 1 && c->positions[7] == 1);
    assert_true(c->texcoords[1] == 0.75f);
    cutis_character_destroy(c);
}

/* Lines that end in carriage returns alone (old Macintosh programs, Rhino), with data that starts with a line feed. */
static void test_lines_that_end_in_returns(void **state)
{
    (void)state;
    static const char head[] =
        "ply\rformat binary_little_endian 1.0\relement vertex 3\rproperty uchar x\rproperty uchar y\r"
        "property uchar z\relement face 1\rproperty list uchar uchar vertex_index\rend_header\r";
    uint8_t bytes[sizeof head + 13];
    memcpy(bytes, head, sizeof head - 1);
    memcpy(bytes + sizeof head - 1, "\n\1\1\2\1\1\1\4\1\3\0\1\2", 13);
    cutis_character *c = load_bytes(bytes, sizeof head - 1 + 13, "a.ply");
    assert_true(c->vertex_count == 3 && c->positions[0] == 10 && c->positions[7] == 4);
    cutis_character_destroy(c);
    c = load("v 0 0 0\rv 1 0 0\rv 0 1 0\r# a note\rf 1 2 3\r", "a.obj");
    assert_int_equal(c->face_count, 1);
    cutis_character_destroy(c);
    c = load("OFF\r3 1 0\r0 0 0\r1 0 0\r0 1 0\r3 0 1 2\r", "a.off");
    assert_int_equal(c->face_count, 1);
    cutis_character_destroy(c);
}

/* A value of PLY in either order of bytes. */
static size_t put_value(uint8_t *out, uint64_t bits, int size, bool big)
{
    for (int i = 0; i < size; i++) out[i] = (uint8_t)(bits >> 8 * (big ? size - 1 - i : i));
    return (size_t)size;
}

static size_t put_double(uint8_t *out, double value, bool big)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_value(out, bits, 8, big);
}

/* A square pyramid as a strip of triangles with a break, or as faces. */
static size_t make_binary_ply(uint8_t *out, bool big, bool strips)
{
    static const double points[5][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1}};
    size_t size =
        (size_t)sprintf((char *)out,
                        "ply\nformat binary_%s_endian 1.0\nelement vertex 5\nproperty double x\n"
                        "property short skip\nproperty double y\nproperty double z\nelement %s\n"
                        "property list %s vertex_indices\nend_header\n",
                        big ? "big" : "little", strips ? "tristrips 1" : "face 3", strips ? "int int" : "uchar uint");
    for (int v = 0; v < 5; v++) {
        size += put_double(out + size, points[v][0], big);
        size += put_value(out + size, 0xffff, 2, big);
        size += put_double(out + size, points[v][1], big);
        size += put_double(out + size, points[v][2], big);
    }
    if (strips) {
        static const int strip[] = {8, 0, 3, 1, 2, -1, 0, 1, 4};
        for (int i = 0; i < 9; i++) size += put_value(out + size, (uint32_t)strip[i], 4, big);
        return size;
    }
    static const int faces[] = {3, 0, 3, 1, 3, 1, 3, 2, 3, 0, 1, 4};
    for (int i = 0; i < 12; i++) size += put_value(out + size, (uint32_t)faces[i], i % 4 ? 4 : 1, big);
    return size;
}

static void test_ply_binary_and_strips(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        uint8_t bytes[1024];
        size_t size = make_binary_ply(bytes, variant & 1, variant & 2);
        cutis_character *c = load_bytes(bytes, size, "a.ply");
        assert_int_equal(c->vertex_count, 5);
        assert_true(c->positions[12] == 0.5f && c->positions[14] == 1);
        assert_int_equal(c->face_count, 3);
        assert_memory_equal(c->corners, ((int[]){0, 3, 1, 1, 3, 2, 0, 1, 4}), 9 * sizeof(int));
        cutis_character_destroy(c);
        for (size_t cut = 0; cut < size; cut++) {
            cutis_error error = {0};
            assert_int_not_equal(cutis_character_load_memory(bytes, cut, "a.ply", NULL, &c, &error), CUTIS_OK);
        }
    }
}

static void test_ply_texture_coordinates_of_corners(void **state)
{
    (void)state;
    cutis_character *c =
        load("ply\nformat ascii 1.0\nelement face 2\nproperty list uchar int vertex_indices\nproperty list uchar float "
             "texcoord\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
             "2 0 1 0\n3 0 1 2 6 0 0 1 0 0.5 0.25\n0 0 0\n1 0 0\n0 1 0\n",
             "a.ply");
    assert_int_equal(c->face_count, 1);
    assert_true(c->texcoords[4] == 0.5f && c->texcoords[5] == 0.75f);
    assert_true(c->warning_count > 0);
    cutis_character_destroy(c);
}

#define PLY_HEAD "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"

static void test_ply_damage_is_named(void **state)
{
    (void)state;
    refuse_text("plx\n", "a.ply", "does not start with 'ply'");
    refuse_text(PLY_HEAD, "a.ply", "its header does not end");
    refuse_text(PLY_HEAD "end_header\n0 0 0\n1 0 0\n0 1 0\n", "a.ply", "3 points and no faces");
    refuse_text(PLY_HEAD "end_header\n0 0 0\n1 0", "a.ply", "cut short at vertex 1 of 3");
    refuse_text(PLY_HEAD "end_header\n0 0 0\n1 x 0\n0 1 0\n", "a.ply", "line 9: vertex 1");
    refuse_text(PLY_HEAD "property half w\nend_header\n", "a.ply", "'half' is not a PLY type");
    refuse_text(PLY_HEAD
                "element face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
                "a.ply", "uses vertex 3, but there are only 3");
    refuse_text("ply\nelement vertex 1\nend_header\n", "a.ply", "defines no format");
}

/* ---- STL ---- */

static void test_stl_text_is_welded_and_solids_are_parts(void **state)
{
    (void)state;
    cutis_character *c = load("solid left half\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n"
                              "   vertex 0 1 0\n  endloop\n endfacet\nendsolid left half\nsolid empty\nendsolid\n"
                              "SOLID\nFACET NORMAL 0 0 1\nOUTER LOOP\nVERTEX 1 0 0\nVERTEX 1E0 1 -0\nVERTEX -0 1 0\n"
                              "ENDLOOP\nENDFACET\nENDSOLID\n",
                              "a.stl");
    assert_int_equal(c->vertex_count, 4);
    assert_memory_equal(c->corners, ((int[]){0, 1, 2, 1, 3, 2}), 6 * sizeof(int));
    assert_int_equal(c->part_count, 2);
    assert_string_equal(c->parts[0].name, "left half");
    cutis_character_destroy(c);
}

static size_t make_binary_stl(uint8_t *out, const char *head, int count)
{
    memset(out, 0, 84);
    strcpy((char *)out, head);
    put_value(out + 80, (uint64_t)count, 4, false);
    size_t size = 84;
    for (int t = 0; t < count; t++) {
        const float values[12] = {0, 0, 1, 0, 0, (float)t, 1, 0, 0, 0, 1, 0};
        for (int i = 0; i < 12; i++) size += put_value(out + size, bytes_from_float(values[i]), 4, false);
        size += put_value(out + size, 0, 2, false);
    }
    return size;
}

static void test_stl_binary_even_when_it_calls_itself_solid(void **state)
{
    (void)state;
    uint8_t bytes[512];
    size_t size = make_binary_stl(bytes, "solid of some exporter", 2);
    cutis_character *c = load_bytes(bytes, size, "a.stl");
    assert_int_equal(c->vertex_count, 4);
    assert_int_equal(c->face_count, 2);
    cutis_character_destroy(c);
    make_binary_stl(bytes, "binary", 2);
    refuse(bytes, size - 1, "a.stl", "2 triangles are declared, 1 exist");
    refuse(bytes, 60, "a.stl", "too short");
}

static void test_stl_damage_is_named(void **state)
{
    (void)state;
    refuse_text("solid a\nfacet\nouter loop\nvertex 0 0\nvertex 1 0 0\n", "a.stl", "line 5: a vertex needs 3");
    refuse_text("solid a\nvertex 0 0 0\n", "a.stl", "outside a loop");
    refuse_text("solid a\nfacet outer loop vertex 0 0 0 vertex 1 0 0\n", "a.stl", "its last loop does not end");
    refuse_text("solid a\nendsolid a\n", "a.stl", "the mesh is empty");
}

/* ---- OFF ---- */

static void test_off_with_colours_comments_and_without_keyword(void **state)
{
    (void)state;
    static const char *const texts[] = {"OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n",
                                        "# made by hand\nCOFF 4 2 0 # counts\n\n0 0 0 255 0 0 255\n1 0 0 1 1 1\n1 1 0 "
                                        "0.5 0 0\n0 1 0\n3 0 1 2  0.1 0.2 0.3\n"
                                        "3 0 2 3 9\n",
                                        "4 2 5\r\n0 0 0\r\n1 0 0\r\n1 1 0\r\n0 1 0\r\n3 0 1 2\r\n3 0 2 3",
                                        "4OFF\n4 2 0\n0 0 0 1\n2 0 0 2\n3 3 0 3\n0 1 0 1\n3 0 1 2\n3 0 2 3\n"};
    for (int i = 0; i < 4; i++) {
        cutis_character *c = load(texts[i], "a.off");
        assert_int_equal(c->vertex_count, 4);
        assert_true(c->positions[6] == 1 && c->positions[7] == 1 && c->positions[8] == 0);
        assert_memory_equal(c->corners, ((int[]){0, 1, 2, 0, 2, 3}), 6 * sizeof(int));
        cutis_character_destroy(c);
    }
}

static void test_off_damage_is_named(void **state)
{
    (void)state;
    refuse_text("", "a.off", "it is empty");
    refuse_text("hello\n", "a.off", "does not start with OFF");
    refuse_text("OFF\n", "a.off", "the counts are missing");
    refuse_text("OFF BINARY\n", "a.off", "binary OFF is not supported");
    refuse_text("OFF\n3 1 0\n0 0 0\n1 0 0\n", "a.off", "2 of 3 vertices");
    refuse_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n", "a.off", "0 of 1 faces");
    refuse_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "a.off", "line 6: corner 2 is not an index of the 3");
    refuse_text("OFF\n1 0 0\n0 0 0\n", "a.off", "1 points and no faces");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ply_text_with_strangers_among_its_properties),
        cmocka_unit_test(test_lines_that_end_in_returns),
        cmocka_unit_test(test_ply_binary_and_strips),
        cmocka_unit_test(test_ply_texture_coordinates_of_corners),
        cmocka_unit_test(test_ply_damage_is_named),
        cmocka_unit_test(test_stl_text_is_welded_and_solids_are_parts),
        cmocka_unit_test(test_stl_binary_even_when_it_calls_itself_solid),
        cmocka_unit_test(test_stl_damage_is_named),
        cmocka_unit_test(test_off_with_colours_comments_and_without_keyword),
        cmocka_unit_test(test_off_damage_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
