/* test_obj.c: OBJ files keep their polygons, order and groups, and errors name the line. */
#include "testing.h"

#include <unistd.h>

#include "io/files.h"

static cutis_character *load(const char *text)
{
    cutis_character *c = NULL;
    cutis_error error = {0};
    cutis_result result = cutis_character_load_memory(text, strlen(text), "some/thing.obj", NULL, &c, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    return c;
}

static void test_polygons_and_order_are_kept(void **state)
{
    (void)state;
    cutis_character *c = load("# comment\nv 0 0 0\nv 9 9 9 # unused\nv 1 0 0 1 0.5 0.5\nv 1 1 0\nv 0.5 1.5 0\nv 0 1 0\n"
                              "f 1 3 4 5 6\nf 1 3 4\n");
    assert_string_equal(c->name, "thing");
    assert_int_equal(c->vertex_count, 6);
    assert_true(c->positions[3] == 9);
    assert_int_equal(c->face_count, 2);
    assert_memory_equal(c->face_first, ((int[]){0, 5, 8}), 3 * sizeof(int));
    assert_memory_equal(c->corners, ((int[]){0, 2, 3, 4, 5, 0, 2, 3}), 8 * sizeof(int));
    assert_null(c->texcoords);
    cutis_character_destroy(c);
}

static void test_texcoords_are_per_corner_and_turned_over(void **state)
{
    (void)state;
    cutis_character *c =
        load("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0.25\nvn 0 0 1\nf 1/1/1 2/2/1 3//1\nf 1/2 2/1 3/1\n");
    const float expected[12] = {0, 1, 1, 0.75f, 0, 0, 1, 0.75f, 0, 1, 0, 1};
    for (int i = 0; i < 12; i++) assert_true(c->texcoords[i] == expected[i]);
    assert_int_equal(c->vertex_count, 3);
    cutis_character_destroy(c);
}

static void test_relative_indices_line_ends_and_continuations(void **state)
{
    (void)state;
    cutis_character *c =
        load("v 0 0 0\r\nv 1 0 0\r\nv 0 \\\r\n1 0\r\nvt 0 0\r\nf -3/-1 -2/1 \\\n -1/1\r\nv 0 0 1\nf -4 -3 -1");
    assert_int_equal(c->vertex_count, 4);
    assert_true(c->positions[7] == 1);
    assert_memory_equal(c->corners, ((int[]){0, 1, 2, 0, 1, 3}), 6 * sizeof(int));
    cutis_character_destroy(c);
}

static void test_groups_and_materials_make_parts(void **state)
{
    (void)state;
    cutis_character *c =
        load("o body\ng\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\ng left arm\nusemtl skin\nf 1 2 3\nusemtl cloth\nf 2 3 4\n"
             "f 1 3 4\no other\nusemtl cloth\ng eyes\nf 1 2 4\n");
    assert_int_equal(c->part_count, 3);
    assert_string_equal(c->parts[0].name, "left arm");
    assert_string_equal(c->parts[0].material, "skin");
    assert_string_equal(c->parts[1].name, "left arm_2");
    assert_string_equal(c->parts[1].material, "cloth");
    assert_int_equal(c->parts[1].face_count, 2);
    assert_string_equal(c->parts[2].name, "eyes");
    assert_int_equal(c->parts[2].first_face, 3);
    cutis_character_destroy(c);
}

static void test_numbers_are_read_to_the_last_bit(void **state)
{
    (void)state;
    const struct {
        const char *text;
        float value;
    } cases[] = {{"0.1", 0.1f},
                 {"-1.5e-3", -1.5e-3f},
                 {"+.5", 0.5f},
                 {"5.", 5.0f},
                 {"123456789", 123456789.0f},
                 {"3.4028234e15", 3.4028234e15f},
                 {"1e-30", 1e-30f},
                 {"0.30000001192092896", 0.3f},
                 {"16777217", 16777216.0f},
                 {"0.000000000000000000000000012345", 1.2345e-26f}};
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        const char *cursor = cases[i].text, *end = cursor + strlen(cursor);
        double value;
        assert_true(text_number(&cursor, end, &value));
        assert_ptr_equal(cursor, end);
        assert_true((float)value == cases[i].value);
        char text[32];
        int length = text_from_float(cases[i].value, text);
        cursor = text;
        assert_true(text_number(&cursor, text + length, &value) && (float)value == cases[i].value);
    }
}

static void test_errors_name_the_line(void **state)
{
    (void)state;
    const struct {
        const char *text, *message;
    } cases[] = {
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "thing.obj: line 4: a face uses vertex 4, but there are only 3"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "line 4: a face uses vertex 0"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", "line 4: a face uses vertex -4"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1 2/1 3/1\n",
         "line 4: a face uses texture coordinate 1, but there are only 0"},
        {"v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n", "line 2: a vertex needs 3 numbers"},
        {"v 0 0 0\nv 1 1e99 0\nv 0 1 0\nf 1 2 3\n", "line 2: a vertex is not a finite number"},
        {"v 0 0 0\nv 1 \\\n\nv 0 1 0\nf 1 2 3\n", "line 2: a vertex needs 3 numbers"},
        {"v 0 0 0\nv 1 \\\n0 0\nv 0 1 0\nf 1 b 3\n", "line 5: a face contains something that is not a number"},
        {"v 0 0 0\n", "the mesh is empty"},
        {"", "the mesh is empty"},
        {"v 0 0 0\nv 1 0 0\nf 1 2\n", "the mesh is empty"},
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        cutis_character *c = NULL;
        cutis_error error = {0};
        cutis_result result =
            cutis_character_load_memory(cases[i].text, strlen(cases[i].text), "some/thing.obj", NULL, &c, &error);
        if (!strstr(error.text, cases[i].message)) print_error("case %d: %s\n", i, error.text);
        assert_true(result == CUTIS_ERROR_FORMAT || result == CUTIS_ERROR_DATA);
        assert_non_null(strstr(error.text, cases[i].message));
        assert_null(c);
    }
}

static void test_saving_and_loading_gives_the_same_mesh(void **state)
{
    (void)state;
    char folder[] = "/tmp/cutis_obj_XXXXXX", path[100];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/thing.obj", folder);
    cutis_character *c = load("g one\nv 0.1 0 0\nv 1000 0.333333343 0\nv 0 123.456789 0\nv 0 0 1677.7215\nvt 0 "
                              "0.25\nvt 1 0.5\nf 1/1 2/2 3/1 4/2\n"
                              "g two\nusemtl red\nf 1/2 3/1 2/2\n");
    cutis_error error = {0};
    assert_int_equal(cutis_character_save(c, path, &error), CUTIS_OK);
    cutis_character *back;
    assert_int_equal(cutis_character_load(path, NULL, &back, &error), CUTIS_OK);
    assert_int_equal(back->vertex_count, c->vertex_count);
    assert_memory_equal(back->positions, c->positions, (size_t)c->vertex_count * 12);
    assert_int_equal(back->face_count, c->face_count);
    assert_memory_equal(back->corners, c->corners, (size_t)c->corner_count * sizeof(int));
    assert_memory_equal(back->texcoords, c->texcoords, (size_t)c->corner_count * 8);
    assert_string_equal(back->parts[1].name, "two");
    assert_string_equal(back->parts[1].material, "red");
    cutis_character_destroy(back);
    cutis_character_destroy(c);
    remove(path);
    assert_int_equal(rmdir(folder), 0);
}

static void test_shared_models_load(void **state)
{
    (void)state;
    const struct {
        const char *path;
        int vertices, faces;
    } models[] = {{"crane-spot/spot/spot_quadrangulated.obj", 2930, 2928},
                  {"crane-spot/spot/spot_triangulated.obj", 2930, 5856},
                  {"crane-spot/spot/spot_control_mesh.obj", 188, 180},
                  {"makehuman-cmu-average/mh_average-body-quads.obj", 13380, 13378},
                  {"makehuman-source/base.obj", 19158, 18486}};
    for (int i = 0; i < (int)(sizeof models / sizeof models[0]); i++) {
        const char *path = test_model(models[i].path);
        if (!path) skip();
        cutis_character *c;
        cutis_error error = {0};
        assert_int_equal(cutis_character_load(path, NULL, &c, &error), CUTIS_OK);
        assert_int_equal(c->vertex_count, models[i].vertices);
        assert_int_equal(c->face_count, models[i].faces);
        cutis_character_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polygons_and_order_are_kept),
        cmocka_unit_test(test_texcoords_are_per_corner_and_turned_over),
        cmocka_unit_test(test_relative_indices_line_ends_and_continuations),
        cmocka_unit_test(test_groups_and_materials_make_parts),
        cmocka_unit_test(test_numbers_are_read_to_the_last_bit),
        cmocka_unit_test(test_errors_name_the_line),
        cmocka_unit_test(test_saving_and_loading_gives_the_same_mesh),
        cmocka_unit_test(test_shared_models_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
