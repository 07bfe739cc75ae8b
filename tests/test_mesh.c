/* Topology, welding, volume, areas, normals, nearest points and winding numbers. */
#include "mesh_shapes.h"

static const vec3 zero3 = {0, 0, 0};

static mesh shape_mesh(const shape *s, arena *memory)
{
    mesh m;
    cutis_error error = {0};
    cutis_result result = mesh_build(&m, s->point_count, s->positions, s->triangle_count, s->triangles, memory, &error);
    if (result != CUTIS_OK) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    return m;
}

/* Every list of the mesh against a search over all triangles. */
static void check_adjacency(const mesh *m)
{
    int half_edges = 0;
    for (int e = 0; e < m->edge_count; e++) {
        int a = m->edges[2 * e], b = m->edges[2 * e + 1], count = 0, found[2] = {-1, -1};
        assert_true(a < b);
        if (e > 0) assert_true(a > m->edges[2 * e - 2] || (a == m->edges[2 * e - 2] && b > m->edges[2 * e - 1]));
        for (int t = 0; t < m->triangle_count; t++) {
            for (int k = 0; k < 3; k++) {
                int p = m->triangles[3 * t + k], q = m->triangles[3 * t + (k + 1) % 3];
                if (MIN(p, q) != a || MAX(p, q) != b) continue;
                assert_int_equal(m->triangle_edges[3 * t + k], e);
                if (count < 2) found[count] = t;
                count++;
            }
        }
        assert_int_equal(m->edge_triangle_counts[e], count);
        assert_int_equal(m->edge_triangles[2 * e], found[0]);
        assert_int_equal(m->edge_triangles[2 * e + 1], found[1]);
        half_edges += count;
    }
    assert_int_equal(half_edges, 3 * m->triangle_count);
    for (int p = 0; p < m->point_count; p++) {
        for (int i = m->point_triangle_first[p]; i < m->point_triangle_first[p + 1]; i++) {
            const int *t = m->triangles + 3 * m->point_triangles[i];
            assert_true(t[0] == p || t[1] == p || t[2] == p);
            if (i > m->point_triangle_first[p]) assert_true(m->point_triangles[i - 1] < m->point_triangles[i]);
        }
        for (int i = m->point_neighbour_first[p]; i < m->point_neighbour_first[p + 1]; i++) {
            const int *edge = m->edges + 2 * m->point_edges[i];
            assert_true((edge[0] == p && edge[1] == m->point_neighbours[i]) ||
                        (edge[1] == p && edge[0] == m->point_neighbours[i]));
            if (i > m->point_neighbour_first[p]) assert_true(m->point_neighbours[i - 1] < m->point_neighbours[i]);
        }
    }
    assert_int_equal(m->point_triangle_first[m->point_count], 3 * m->triangle_count);
    assert_int_equal(m->point_neighbour_first[m->point_count], 2 * m->edge_count);
}

static void adjacency_agrees_with_a_search(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_sphere(s, zero3, 1, 9, 6);
    shape_box(s, (vec3){3, 0, 0}, (vec3){4, 1, 1}, 2);
    /* and a random tangle, non-manifold in every way */
    int first = s->point_count;
    for (int i = 0; i < 12; i++) shape_point(s, shape_random(), shape_random(), shape_random());
    for (int i = 0; i < 40; i++) {
        int a = first + (int)(6 * (shape_random() + 1)), b = first + (int)(6 * (shape_random() + 1));
        int c = first + (int)(6 * (shape_random() + 1));
        if (a != b && b != c && c != a) shape_triangle(s, a, b, c);
    }
    arena memory = arena_create(NULL);
    mesh m = shape_mesh(s, &memory);
    check_adjacency(&m);
    assert_true(m.component_count >= 3);
    assert_int_equal(m.component_closed[0], 1);
    assert_int_equal(m.component_closed[1], 1);
    assert_int_equal(m.component_closed[m.point_component[first]], 0);
    arena_destroy(&memory);
    free(s);
}

static void components_are_counted_and_isolated_points_stand_alone(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_point(s, 9, 9, 9);
    shape_tube(s, 1, 1, 8, 3, false);
    shape_box(s, zero3, (vec3){1, 1, 1}, 1);
    arena memory = arena_create(NULL);
    mesh m = shape_mesh(s, &memory);
    assert_int_equal(m.component_count, 3);
    assert_int_equal(m.component_closed[0], 0);
    assert_int_equal(m.component_closed[1], 0);
    assert_int_equal(m.component_closed[2], 1);
    assert_float_equal(mesh_closed_volume(&m, m.positions), 1, 1e-6);
    arena_destroy(&memory);
    free(s);
}

static void bad_indices_are_refused_with_their_place(void **unused)
{
    (void)unused;
    float positions[9] = {0};
    arena memory = arena_create(NULL);
    mesh m;
    cutis_error error = {0};
    int outside[6] = {0, 1, 2, 0, 1, 3}, twice[3] = {0, 1, 0};
    assert_int_equal(mesh_build(&m, 3, positions, 2, outside, &memory, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "triangle 1"));
    assert_int_equal(mesh_build(&m, 3, positions, 1, twice, &memory, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "twice"));
    assert_int_equal(mesh_build(&m, 0, NULL, 0, NULL, &memory, &error), CUTIS_OK);
    assert_int_equal(m.component_count, 0);
    arena_destroy(&memory);
}

static bool build_and_weld(void *context, const cutis_allocator *allocator)
{
    const shape *s = context;
    int *points = calloc((size_t)s->point_count, sizeof *points), welded = -1;
    arena memory = arena_create(allocator);
    mesh m;
    bvh tree;
    cutis_error error = {0};
    cutis_result result =
        mesh_build(&m, s->point_count, s->positions, s->triangle_count, s->triangles, &memory, &error);
    if (result == CUTIS_OK) result = bvh_build(&tree, m.triangle_count, m.triangles, m.positions, &memory, &error);
    if (result == CUTIS_OK) welded = weld_positions(s->point_count, s->positions, 0, NULL, NULL, allocator, points);
    if (result != CUTIS_OK) assert_true(result == CUTIS_ERROR_MEMORY && error.code == CUTIS_ERROR_MEMORY);
    if (welded >= 0) assert_int_equal(welded, s->point_count);
    arena_destroy(&memory);
    free(points);
    return welded >= 0;
}

static void every_failing_allocation_is_survived(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_sphere(s, zero3, 1, 40, 30);
    assert_true(test_every_allocation(build_and_weld, s) > 8);
    free(s);
}

static bool same_parity(void *context, int a, int b)
{
    (void)context;
    return a % 2 == b % 2;
}

static void weld_joins_equal_positions_in_the_order_of_first_use(void **unused)
{
    (void)unused;
    float positions[] = {1, 2, 3, 0.0f, 0, 0, 1, 2, 3, -0.0f, 0, 0, 5, 5, 5, 1, 2, 3};
    int points[6];
    assert_int_equal(weld_positions(6, positions, 0, NULL, NULL, NULL, points), 3);
    int expected[6] = {0, 1, 0, 1, 2, 0};
    assert_memory_equal(points, expected, sizeof points);
    /* vertex 5 shares its place with 0 and 2, but not their parity */
    assert_int_equal(weld_positions(6, positions, 0, same_parity, NULL, NULL, points), 4);
    int parted[6] = {0, 1, 0, 1, 2, 3};
    assert_memory_equal(points, parted, sizeof points);
    assert_int_equal(weld_positions(0, NULL, 0, NULL, NULL, NULL, NULL), 0);
}

static void weld_with_tolerance_agrees_with_a_search(void **unused)
{
    (void)unused;
    enum { COUNT = 1500 };
    static float positions[3 * COUNT];
    static int points[COUNT], first[COUNT];
    for (int i = 0; i < 3 * COUNT; i++) positions[i] = 0.2f * shape_random();
    const float tolerance = 0.02f;
    int count = weld_positions(COUNT, positions, tolerance, NULL, NULL, NULL, points);
    int expected = 0;
    for (int v = 0; v < COUNT; v++) {
        int point = -1;
        for (int p = 0; p < expected && point < 0; p++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                double d = (double)positions[3 * v + k] - positions[3 * first[p] + k];
                sum += d * d;
            }
            if (sum <= (double)tolerance * tolerance) point = p;
        }
        if (point < 0) {
            first[expected] = v;
            point = expected++;
        }
        assert_int_equal(points[v], point);
    }
    assert_int_equal(count, expected);
    assert_true(count < COUNT);
}

static void weld_closes_the_seams_of_a_split_surface(void **unused)
{
    (void)unused;
    /* each triangle of a closed box with its own three vertices, as a file without indices has them */
    shape *s = shape_create();
    shape_box(s, zero3, (vec3){1, 2, 3}, 4);
    int count = 3 * s->triangle_count;
    float *split = malloc(3 * (size_t)count * sizeof *split);
    int *points = malloc((size_t)count * sizeof *points);
    for (int i = 0; i < count; i++) memcpy(split + 3 * i, s->positions + 3 * s->triangles[i], 3 * sizeof *split);
    assert_int_equal(weld_positions(count, split, 0, NULL, NULL, NULL, points), s->point_count);
    shape *welded = shape_create();
    for (int i = 0; i < count; i++) {
        welded->point_count = MAX(welded->point_count, points[i] + 1);
        memcpy(welded->positions + 3 * points[i], split + 3 * i, 3 * sizeof *split);
        welded->triangles[i] = points[i];
    }
    welded->triangle_count = count / 3;
    arena memory = arena_create(NULL);
    mesh m = shape_mesh(welded, &memory);
    assert_int_equal(m.component_count, 1);
    assert_int_equal(m.component_closed[0], 1);
    arena_destroy(&memory);
    free(welded);
    free(points);
    free(split);
    free(s);
}

static void volume_and_area_of_known_solids(void **unused)
{
    (void)unused;
    const double pi = 3.14159265358979323846;
    shape *s = shape_create();
    shape_box(s, (vec3){100, 200, 300}, (vec3){102, 203, 304}, 8);
    assert_float_equal(mesh_volume(s->triangle_count, s->triangles, s->positions), 24, 1e-9);
    assert_float_equal(mesh_area(s->triangle_count, s->triangles, s->positions), 52, 1e-9);

    /* a sphere: the error falls with the square of the resolution */
    double errors[2];
    for (int i = 0; i < 2; i++) {
        s->point_count = s->triangle_count = 0;
        shape_sphere(s, (vec3){5, 6, 7}, 2, 40 << i, 20 << i);
        errors[i] = fabs(mesh_volume(s->triangle_count, s->triangles, s->positions) / (4.0 / 3 * pi * 8) - 1);
    }
    assert_true(errors[1] < 0.01);
    assert_true(errors[0] / errors[1] > 3.8 && errors[0] / errors[1] < 4.2);

    /* a prism of 12 sides, turned inside out */
    s->point_count = s->triangle_count = 0;
    shape_tube(s, 3, 1, 12, 5, true);
    for (int t = 0; t < s->triangle_count; t++) {
        int swap = s->triangles[3 * t];
        s->triangles[3 * t] = s->triangles[3 * t + 1], s->triangles[3 * t + 1] = swap;
    }
    assert_float_equal(mesh_volume(s->triangle_count, s->triangles, s->positions), -3 * 6 * sin(pi / 6), 1e-6);
    free(s);
}

static void volume_area_and_point_areas_do_not_change_by_rigid_motion(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_sphere(s, (vec3){0.2f, 0.1f, 0}, 1, 30, 20);
    shape_box(s, (vec3){2, 0, 0}, (vec3){3, 0.5f, 2}, 5);
    arena memory = arena_create(NULL);
    mesh m = shape_mesh(s, &memory);
    float *areas = ARENA_ARRAY(&memory, float, s->point_count),
          *areas_moved = ARENA_ARRAY(&memory, float, s->point_count);
    float *normals = ARENA_ARRAY(&memory, float, 3 * s->point_count);
    float *normals_moved = ARENA_ARRAY(&memory, float, 3 * s->point_count);
    mesh_point_areas(&m, m.positions, areas);
    mesh_normals(&m, m.positions, normals, NULL);
    double volume = mesh_closed_volume(&m, m.positions), area = mesh_area(m.triangle_count, m.triangles, m.positions);

    quat q = quat_normalize((quat){0.3f, -0.5f, 0.2f, 0.7f});
    for (int p = 0; p < s->point_count; p++) {
        vec3 x = vec3_add(quat_rotate(q, vec3_load(s->positions + 3 * p)), (vec3){3, -4, 10});
        vec3_store(s->positions + 3 * p, x);
    }
    assert_float_equal(mesh_closed_volume(&m, s->positions), volume, 1e-5 * volume);
    assert_float_equal(mesh_area(m.triangle_count, m.triangles, s->positions), area, 1e-5 * area);
    mesh_point_areas(&m, s->positions, areas_moved);
    mesh_normals(&m, s->positions, normals_moved, NULL);
    double sum = 0;
    for (int p = 0; p < s->point_count; p++) {
        assert_float_equal(areas[p], areas_moved[p], 1e-4 * areas[p]);
        sum += areas[p];
        vec3 turned = quat_rotate(q, vec3_load(normals + 3 * p));
        assert_true(vec3_distance(turned, vec3_load(normals_moved + 3 * p)) < 1e-4f);
        assert_float_equal(vec3_length(turned), 1, 1e-5);
    }
    assert_float_equal(sum, area, 1e-6 * area);
    arena_destroy(&memory);
    free(s);
}

static void point_areas_sum_to_the_area_for_any_triangles(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_soup(s, 500, 0.5f); /* acute and obtuse ones */
    int p = shape_point(s, 0, 0, 0), q = shape_point(s, 1, 0, 0), r = shape_point(s, 2, 0, 0);
    shape_triangle(s, p, q, r); /* without area */
    arena memory = arena_create(NULL);
    mesh m = shape_mesh(s, &memory);
    float *areas = ARENA_ARRAY(&memory, float, s->point_count), normals[3];
    mesh_point_areas(&m, m.positions, areas);
    double sum = 0;
    for (int i = 0; i < s->point_count; i++) {
        assert_true(areas[i] >= 0);
        sum += areas[i];
    }
    double area = mesh_area(m.triangle_count, m.triangles, m.positions);
    assert_float_equal(sum, area, 1e-6 * area);
    assert_true(areas[q] == 0);
    float *all = ARENA_ARRAY(&memory, float, 3 * s->point_count);
    mesh_normals(&m, m.positions, all, NULL);
    memcpy(normals, all + 3 * q, sizeof normals);
    assert_true(normals[0] == 0 && normals[1] == 1 && normals[2] == 0);
    arena_destroy(&memory);
    free(s);
}

/* An equilateral triangle shares its area equally; a right one gives half of it to the right angle. */
static void voronoi_areas_of_known_triangles(void **unused)
{
    (void)unused;
    float positions[18] = {0, 0, 0, 1, 0, 0, 0.5f, 0.8660254f, 0, 5, 0, 0, 7, 0, 0, 5, 2, 0};
    int triangles[6] = {0, 1, 2, 3, 4, 5};
    arena memory = arena_create(NULL);
    mesh m;
    assert_int_equal(mesh_build(&m, 6, positions, 2, triangles, &memory, NULL), CUTIS_OK);
    float areas[6];
    mesh_point_areas(&m, positions, areas);
    for (int k = 0; k < 3; k++) assert_float_equal(areas[k], 0.4330127 / 3, 1e-6);
    assert_float_equal(areas[3], 1, 1e-6);
    assert_float_equal(areas[4], 0.5, 1e-6);
    assert_float_equal(areas[5], 0.5, 1e-6);
    arena_destroy(&memory);
}

static void normals_have_the_same_bits_on_any_number_of_threads(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_sphere(s, zero3, 1, 100, 70);
    arena memory = arena_create(NULL);
    mesh m = shape_mesh(s, &memory);
    size_t bytes = 3 * (size_t)m.point_count * sizeof(float);
    float *serial = malloc(bytes), *threaded = malloc(bytes);
    mesh_normals(&m, m.positions, serial, NULL);
    for (int p = 0; p < m.point_count; p++)
        assert_true(vec3_distance(vec3_load(serial + 3 * p), vec3_load(m.positions + 3 * p)) < 0.03f);
    cutis_pool *pool = NULL;
    assert_int_equal(cutis_pool_create(3, NULL, &pool, NULL), CUTIS_OK);
    mesh_normals(&m, m.positions, threaded, cutis_pool_jobs(pool));
    cutis_pool_destroy(pool);
    assert_memory_equal(serial, threaded, bytes);
    free(serial);
    free(threaded);
    arena_destroy(&memory);
    free(s);
}

static void rings_grow_by_edges_and_stop_at_the_limit(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_tube(s, 10, 1, 12, 10, false);
    arena memory = arena_create(NULL);
    mesh m = shape_mesh(s, &memory);
    uint8_t *marks = ARENA_ARRAY(&memory, uint8_t, m.point_count);
    int points[200];
    int centre = 5 * 12 + 3;
    assert_int_equal(mesh_rings(&m, centre, 0, points, 200, marks), 1);
    assert_int_equal(points[0], centre);
    int one = mesh_rings(&m, centre, 1, points, 200, marks);
    assert_int_equal(one, 1 + m.point_neighbour_first[centre + 1] - m.point_neighbour_first[centre]);
    int two = mesh_rings(&m, centre, 2, points, 200, marks);
    assert_int_equal(two, 19); /* a regular grid of triangles: 1 + 6 + 12 */
    for (int i = 0; i < two; i++)
        for (int j = 0; j < i; j++) assert_true(points[i] != points[j]);
    assert_int_equal(mesh_rings(&m, centre, 100, points, 200, marks), 132);
    assert_int_equal(mesh_rings(&m, centre, 100, points, 40, marks), 40);
    for (int p = 0; p < m.point_count; p++) assert_int_equal(marks[p], 0);
    arena_destroy(&memory);
    free(s);
}

/* Any point of the triangle is at least as far, and the weights give the point. */
static void closest_point_of_a_triangle_is_the_closest(void **unused)
{
    (void)unused;
    for (int round = 0; round < 2000; round++) {
        vec3 p[4];
        for (int i = 0; i < 4; i++) p[i] = (vec3){shape_random(), shape_random(), shape_random()};
        if (round % 7 == 0) p[3] = vec3_lerp(p[1], p[2], shape_random()); /* corners on a line */
        if (round % 11 == 0) p[2] = p[1];
        if (round % 77 == 0) p[3] = p[2] = p[1];
        float weights[3];
        vec3 q = triangle_closest(p[0], p[1], p[2], p[3], weights);
        float distance = vec3_distance(p[0], q);
        vec3 from_weights = vec3_add(vec3_scale(p[1], weights[0]),
                                     vec3_add(vec3_scale(p[2], weights[1]), vec3_scale(p[3], weights[2])));
        assert_true(vec3_distance(q, from_weights) < 2e-6f);
        for (int k = 0; k < 3; k++) assert_true(weights[k] >= 0 && weights[k] <= 1);
        for (int i = 0; i <= 20; i++) {
            for (int j = 0; i + j <= 20; j++) {
                vec3 x = vec3_add(p[1], vec3_add(vec3_scale(vec3_sub(p[2], p[1]), (float)i / 20),
                                                 vec3_scale(vec3_sub(p[3], p[1]), (float)j / 20)));
                assert_true(vec3_distance(p[0], x) >= distance - 1e-6f);
            }
        }
    }
}

static void closest_points_of_segments_are_the_closest(void **unused)
{
    (void)unused;
    for (int round = 0; round < 2000; round++) {
        vec3 p[4];
        for (int i = 0; i < 4; i++) p[i] = (vec3){shape_random(), shape_random(), shape_random()};
        if (round % 5 == 0) p[3] = vec3_add(p[2], vec3_scale(vec3_sub(p[1], p[0]), 2 * shape_random())); /* parallel */
        if (round % 7 == 0) p[1] = p[0];
        if (round % 13 == 0) p[3] = p[2];
        float s, t;
        float distance2 = segment_closest(p[0], p[1], p[2], p[3], &s, &t);
        assert_true(s >= 0 && s <= 1 && t >= 0 && t <= 1);
        float distance = vec3_distance(vec3_lerp(p[0], p[1], s), vec3_lerp(p[2], p[3], t));
        assert_float_equal(sqrtf(distance2), distance, 1e-6);
        for (int i = 0; i <= 25; i++)
            for (int j = 0; j <= 25; j++)
                assert_true(vec3_distance(vec3_lerp(p[0], p[1], (float)i / 25), vec3_lerp(p[2], p[3], (float)j / 25)) >=
                            distance - 1e-6f);
    }
}

static void winding_number_is_one_inside_and_zero_outside(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_box(s, zero3, (vec3){1, 1, 1}, 3);
    shape_sphere(s, (vec3){1, 0.5f, 0.5f}, 0.4, 20, 15);
    for (int round = 0; round < 300; round++) {
        vec3 p = {0.5f + shape_random(), 0.5f + shape_random(), 0.5f + shape_random()};
        float to_centre = vec3_distance(p, (vec3){1, 0.5f, 0.5f});
        if (to_centre > 0.38f && to_centre < 0.4f) continue; /* between the sphere and its polyhedron */
        int inside = p.x > 0 && p.x < 1 && p.y > 0 && p.y < 1 && p.z > 0 && p.z < 1;
        inside += to_centre < 0.39f;
        assert_float_equal(mesh_winding(s->triangle_count, s->triangles, s->positions, p), inside, 1e-6);
    }
    /* half in the middle of a face, an eighth in a corner, and a fraction through a hole */
    s->triangle_count = 6 * 9 * 2;
    assert_float_equal(mesh_winding(s->triangle_count, s->triangles, s->positions, (vec3){0.4f, 0.6f, 0}), 0.5, 1e-6);
    assert_float_equal(mesh_winding(s->triangle_count, s->triangles, s->positions, zero3), 0.125, 1e-6);
    vec3 middle = {0.5f, 0.5f, 0.5f};
    assert_float_equal(mesh_winding(s->triangle_count - 18, s->triangles, s->positions, middle), 5.0 / 6, 1e-6);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adjacency_agrees_with_a_search),
        cmocka_unit_test(components_are_counted_and_isolated_points_stand_alone),
        cmocka_unit_test(bad_indices_are_refused_with_their_place),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(weld_joins_equal_positions_in_the_order_of_first_use),
        cmocka_unit_test(weld_with_tolerance_agrees_with_a_search),
        cmocka_unit_test(weld_closes_the_seams_of_a_split_surface),
        cmocka_unit_test(volume_and_area_of_known_solids),
        cmocka_unit_test(volume_area_and_point_areas_do_not_change_by_rigid_motion),
        cmocka_unit_test(point_areas_sum_to_the_area_for_any_triangles),
        cmocka_unit_test(voronoi_areas_of_known_triangles),
        cmocka_unit_test(normals_have_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(rings_grow_by_edges_and_stop_at_the_limit),
        cmocka_unit_test(closest_point_of_a_triangle_is_the_closest),
        cmocka_unit_test(closest_points_of_segments_are_the_closest),
        cmocka_unit_test(winding_number_is_one_inside_and_zero_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
