/* The report on a character's surface, on hand-made cases of everything that can be wrong with one. */
#include "mesh_shapes.h"

typedef struct reported {
    const cutis_character *character;
    const cutis_topology *topology;
} reported;

static bool report_again(void *context, const cutis_allocator *allocator)
{
    const reported *r = context;
    cutis_topology again;
    cutis_result result = cutis_character_topology(r->character, allocator, &again, NULL);
    if (result == CUTIS_OK)
        assert_memory_equal(&again, r->topology, sizeof again);
    else
        assert_int_equal(result, CUTIS_ERROR_MEMORY);
    return result == CUTIS_OK;
}

/* The report, which is the same with every allocation failing in turn before it succeeds. */
static cutis_topology report(const shape *s)
{
    static int firsts[SHAPE_TRIANGLES + 1];
    for (int t = 0; t <= s->triangle_count; t++) firsts[t] = 3 * t;
    cutis_character given = {.name = "shape",
                             .vertex_count = s->point_count,
                             .positions = s->positions,
                             .face_count = s->triangle_count,
                             .face_first = firsts,
                             .corners = s->triangles};
    cutis_character *character = NULL;
    cutis_error error = {0};
    cutis_result result = cutis_character_create(&given, NULL, &character, &error);
    if (result != CUTIS_OK) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    cutis_topology topology;
    assert_int_equal(cutis_character_topology(character, NULL, &topology, &error), CUTIS_OK);

    reported r = {character, &topology};
    test_every_allocation(report_again, &r);
    cutis_character_destroy(character);
    return topology;
}

static void a_closed_box_is_clean(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_box(s, (vec3){0, 0, 0}, (vec3){1, 2, 3}, 3);
    cutis_topology t = report(s);
    assert_int_equal(t.point_count, 56);
    assert_int_equal(t.triangle_count, 108);
    assert_int_equal(t.edge_count, 162); /* Euler: 56 - 162 + 108 = 2 */
    assert_int_equal(t.component_count, 1);
    assert_int_equal(t.closed_component_count, 1);
    assert_int_equal(t.boundary_edge_count, 0);
    assert_int_equal(t.boundary_loop_count, 0);
    assert_int_equal(t.nonmanifold_edge_count, 0);
    assert_int_equal(t.nonmanifold_point_count, 0);
    assert_int_equal(t.inconsistent_edge_count, 0);
    assert_int_equal(t.degenerate_triangle_count, 0);
    assert_int_equal(t.isolated_point_count, 0);
    assert_int_equal(t.self_intersection_count, 0);
    assert_float_equal(t.area, 22, 1e-6);
    assert_float_equal(t.volume, 6, 1e-6);
    free(s);
}

static void holes_are_counted_by_loops(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_tube(s, 3, 1, 10, 4, false);
    cutis_topology t = report(s);
    assert_int_equal(t.boundary_edge_count, 20);
    assert_int_equal(t.boundary_loop_count, 2);
    assert_int_equal(t.closed_component_count, 0);
    assert_true(t.volume == 0);

    /* two triangles that meet in a corner are two sheets, each with its own rim */
    s->point_count = s->triangle_count = 0;
    int middle = shape_point(s, 0, 0, 0);
    for (int side = -1; side <= 1; side += 2) {
        int a = shape_point(s, side, -1, 0), b = shape_point(s, side, 1, 0);
        shape_triangle(s, middle, a, b);
    }
    t = report(s);
    assert_int_equal(t.boundary_edge_count, 6);
    assert_int_equal(t.boundary_loop_count, 2);
    assert_int_equal(t.nonmanifold_point_count, 1);
    assert_int_equal(t.component_count, 1);
    free(s);
}

static void edges_of_three_triangles_are_reported(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_box(s, (vec3){0, 0, 0}, (vec3){1, 1, 1}, 1);
    int fin = shape_point(s, 2, 2, 2);
    shape_triangle(s, s->triangles[0], s->triangles[1], fin);
    cutis_topology t = report(s);
    assert_int_equal(t.nonmanifold_edge_count, 1);
    assert_int_equal(t.nonmanifold_point_count, 2);
    assert_int_equal(t.boundary_edge_count, 2);
    assert_int_equal(t.boundary_loop_count, 1);
    assert_int_equal(t.closed_component_count, 0);
    free(s);
}

static void points_of_two_fans_are_reported(void **unused)
{
    (void)unused;
    /* two tetrahedra tip to tip */
    shape *s = shape_create();
    int tip = shape_point(s, 0, 0, 0);
    for (int side = -1; side <= 1; side += 2) {
        int a = shape_point(s, 1, side, 0), b = shape_point(s, -1, side, 1), c = shape_point(s, -1, side, -1);
        if (side > 0) {
            int swap = b;
            b = c, c = swap;
        }
        shape_triangle(s, tip, a, b);
        shape_triangle(s, tip, b, c);
        shape_triangle(s, tip, c, a);
        shape_triangle(s, a, c, b);
    }
    cutis_topology t = report(s);
    assert_int_equal(t.nonmanifold_point_count, 1);
    assert_int_equal(t.nonmanifold_edge_count, 0);
    assert_int_equal(t.inconsistent_edge_count, 0);
    assert_int_equal(t.component_count, 1);
    assert_int_equal(t.closed_component_count, 1);
    free(s);
}

static void triangles_turned_the_other_way_are_reported(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_sphere(s, (vec3){0, 0, 0}, 1, 8, 6);
    int *corner = s->triangles + 3 * 40;
    int swap = corner[0];
    corner[0] = corner[1], corner[1] = swap;
    cutis_topology t = report(s);
    assert_int_equal(t.inconsistent_edge_count, 3);
    assert_int_equal(t.closed_component_count, 0); /* it encloses no volume that could be told */
    assert_true(t.volume == 0);
    free(s);
}

static void triangles_without_area_and_loose_points_are_counted(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_box(s, (vec3){0, 0, 0}, (vec3){1, 1, 1}, 1);
    shape_point(s, 9, 9, 9);
    int a = shape_point(s, 5, 0, 0), b = shape_point(s, 6, 1, 1), c = shape_point(s, 7, 2, 2);
    int d = shape_point(s, 6, 1, 1);
    shape_triangle(s, a, b, c); /* on a line */
    shape_triangle(s, a, b, d); /* two vertices in one place */
    cutis_topology t = report(s);
    assert_int_equal(t.isolated_point_count, 1);
    assert_int_equal(t.degenerate_triangle_count, 2);
    assert_int_equal(t.point_count, 12);
    assert_int_equal(t.triangle_count, 13);
    assert_int_equal(t.component_count, 3);
    free(s);
}

static void self_intersections_at_rest_are_counted(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_box(s, (vec3){0, 0, 0}, (vec3){1, 1, 0.1f}, 1);
    shape_box(s, (vec3){0.8f, 0.4f, -1}, (vec3){0.9f, 0.6f, 1}, 1);
    cutis_topology t = report(s);
    assert_int_equal(t.self_intersection_count, 16);
    assert_int_equal(t.closed_component_count, 2);
    free(s);
}

static void quads_are_counted_as_faces(void **unused)
{
    (void)unused;
    float positions[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 2, 0, 0};
    int firsts[] = {0, 4, 7}, corners[] = {0, 1, 2, 3, 1, 4, 2};
    cutis_character given = {.name = "two",
                             .vertex_count = 5,
                             .positions = positions,
                             .face_count = 2,
                             .face_first = firsts,
                             .corners = corners};
    cutis_character *character = NULL;
    cutis_topology t;
    assert_int_equal(cutis_character_create(&given, NULL, &character, NULL), CUTIS_OK);
    assert_int_equal(cutis_character_topology(character, NULL, &t, NULL), CUTIS_OK);
    assert_int_equal(t.quad_count, 1);
    assert_int_equal(t.triangle_count, 3);
    assert_int_equal(t.boundary_edge_count, 5);
    assert_int_equal(t.boundary_loop_count, 1);
    cutis_character_destroy(character);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_box_is_clean),
        cmocka_unit_test(holes_are_counted_by_loops),
        cmocka_unit_test(edges_of_three_triangles_are_reported),
        cmocka_unit_test(points_of_two_fans_are_reported),
        cmocka_unit_test(triangles_turned_the_other_way_are_reported),
        cmocka_unit_test(triangles_without_area_and_loose_points_are_counted),
        cmocka_unit_test(self_intersections_at_rest_are_counted),
        cmocka_unit_test(quads_are_counted_as_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
