/* The tree of boxes against searches over all triangles. */
#include "mesh_shapes.h"

static const vec3 zero3 = {0, 0, 0};

static vec3 random_vec3(float size)
{
    float x = size * shape_random(), y = size * shape_random(), z = size * shape_random();
    return (vec3){x, y, z};
}

static bvh shape_tree(const shape *s, arena *memory)
{
    bvh tree;
    assert_int_equal(bvh_build(&tree, s->triangle_count, s->triangles, s->positions, memory, NULL), CUTIS_OK);
    return tree;
}

static vec3 corner_of(const shape *s, int triangle, int k)
{
    return vec3_load(s->positions + 3 * s->triangles[3 * triangle + k]);
}

/* Each triangle in one leaf, children after parents, every box around what is below it. */
static void check_tree(const shape *s, const bvh *tree)
{
    int *seen = calloc((size_t)s->triangle_count, sizeof *seen);
    assert_true(tree->node_count <= 2 * s->triangle_count - 1);
    for (int n = 0; n < tree->node_count; n++) {
        const bvh_node *node = tree->nodes + n;
        if (node->count == 0) {
            assert_true(node->first > n && node->first + 1 < tree->node_count);
            for (int c = 0; c < 2; c++) {
                for (int k = 0; k < 3; k++) {
                    assert_true(tree->nodes[node->first + c].min[k] >= node->min[k]);
                    assert_true(tree->nodes[node->first + c].max[k] <= node->max[k]);
                }
            }
            continue;
        }
        for (int i = 0; i < node->count; i++) {
            int triangle = tree->order[node->first + i];
            seen[triangle]++;
            for (int k = 0; k < 9; k++) {
                float x = s->positions[3 * s->triangles[3 * triangle + k / 3] + k % 3];
                assert_true(x >= node->min[k % 3] && x <= node->max[k % 3]);
            }
        }
    }
    for (int t = 0; t < s->triangle_count; t++) assert_int_equal(seen[t], 1);
    free(seen);
}

/* Moller and Trumbore in long double; -1 for a miss. */
static double brute_ray(const shape *s, int triangle, vec3 origin, vec3 direction)
{
    vec3 corners[3];
    for (int k = 0; k < 3; k++) corners[k] = corner_of(s, triangle, k);
    long double e1[3] = {(long double)corners[1].x - corners[0].x, (long double)corners[1].y - corners[0].y,
                         (long double)corners[1].z - corners[0].z};
    long double e2[3] = {(long double)corners[2].x - corners[0].x, (long double)corners[2].y - corners[0].y,
                         (long double)corners[2].z - corners[0].z};
    long double o[3] = {(long double)origin.x - corners[0].x, (long double)origin.y - corners[0].y,
                        (long double)origin.z - corners[0].z};
    long double d[3] = {direction.x, direction.y, direction.z};
    long double p[3] = {d[1] * e2[2] - d[2] * e2[1], d[2] * e2[0] - d[0] * e2[2], d[0] * e2[1] - d[1] * e2[0]};
    long double q[3] = {o[1] * e1[2] - o[2] * e1[1], o[2] * e1[0] - o[0] * e1[2], o[0] * e1[1] - o[1] * e1[0]};
    long double det = e1[0] * p[0] + e1[1] * p[1] + e1[2] * p[2];
    if (det == 0) return -1;
    long double u = (o[0] * p[0] + o[1] * p[1] + o[2] * p[2]) / det;
    long double v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
    if (u < 0 || v < 0 || u + v > 1) return -1;
    return (double)((e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]) / det);
}

static void check_rays(const shape *s, const bvh *tree, int rounds)
{
    int hits = 0;
    for (int round = 0; round < rounds; round++) {
        vec3 origin = random_vec3(2), direction = random_vec3(1);
        if (round % 4 == 0) direction.x = 0;
        if (round % 8 == 0) direction.y = -0.0f;
        int count = 0, best = -1;
        double nearest = INFINITY;
        for (int t = 0; t < s->triangle_count; t++) {
            double distance = brute_ray(s, t, origin, direction);
            if (distance < 0) continue;
            count++;
            if (distance < nearest) nearest = distance, best = t;
        }
        bvh_hit hit = bvh_ray(tree, s->positions, origin, direction, 0, INFINITY);
        assert_int_equal(hit.triangle, best);
        assert_int_equal(bvh_ray_count(tree, s->positions, origin, direction), count);
        if (best < 0) continue;
        hits++;
        assert_float_equal(hit.distance, nearest, 1e-5 * nearest);
        vec3 a = corner_of(s, best, 0), b = corner_of(s, best, 1), c = corner_of(s, best, 2);
        vec3 at = vec3_add(vec3_scale(a, 1 - hit.u - hit.v), vec3_add(vec3_scale(b, hit.u), vec3_scale(c, hit.v)));
        assert_true(vec3_distance(at, hit.point) < 1e-5f);
        /* the range is respected */
        float after = nextafterf(hit.distance, INFINITY) * 1.00001f, before = hit.distance * 0.9999f;
        assert_true(bvh_ray(tree, s->positions, origin, direction, after, INFINITY).triangle != best);
        assert_int_equal(bvh_ray(tree, s->positions, origin, direction, 0, before).triangle, -1);
    }
    assert_true(hits > rounds / 50);
}

static void check_closest(const shape *s, const bvh *tree, int rounds)
{
    int *labels = calloc((size_t)s->triangle_count, sizeof *labels);
    for (int t = 0; t < s->triangle_count; t++) labels[t] = t % 3;
    for (int round = 0; round < rounds; round++) {
        vec3 p = random_vec3(2);
        float best = INFINITY, best_labelled = INFINITY;
        for (int t = 0; t < s->triangle_count; t++) {
            float weights[3];
            vec3 q = triangle_closest(p, corner_of(s, t, 0), corner_of(s, t, 1), corner_of(s, t, 2), weights);
            float distance = vec3_distance(p, q);
            if (distance < best) best = distance;
            if (labels[t] != 1 && distance < best_labelled) best_labelled = distance;
        }
        bvh_hit hit = bvh_closest(tree, s->positions, p, INFINITY);
        assert_true(hit.distance == best);
        assert_float_equal(vec3_distance(p, hit.point), best, 1e-6);
        hit = bvh_closest_labelled(tree, s->positions, p, INFINITY, labels, 1);
        assert_true(hit.distance == best_labelled);
        assert_true(labels[hit.triangle] != 1);
        assert_int_equal(bvh_closest(tree, s->positions, p, best * 0.99f).triangle, -1);
        assert_true(bvh_closest(tree, s->positions, p, best * 1.01f).triangle >= 0);
    }
    free(labels);
}

typedef struct visits {
    int *counts;
    int stop_after, total;
} visits;

static bool visit_triangle(void *context, int triangle)
{
    visits *v = context;
    v->counts[triangle]++;
    return ++v->total != v->stop_after;
}

static bool box_meets(const shape *s, int t, vec3 low, vec3 high)
{
    vec3 a = corner_of(s, t, 0), b = corner_of(s, t, 1), c = corner_of(s, t, 2);
    vec3 min = vec3_min(a, vec3_min(b, c)), max = vec3_max(a, vec3_max(b, c));
    return min.x <= high.x && max.x >= low.x && min.y <= high.y && max.y >= low.y && min.z <= high.z && max.z >= low.z;
}

static void check_overlap(const shape *s, const bvh *tree, int rounds)
{
    visits v = {calloc((size_t)s->triangle_count, sizeof(int)), 0, 0};
    for (int round = 0; round < rounds; round++) {
        vec3 a = random_vec3(1), b = random_vec3(1), low = vec3_min(a, b), high = vec3_max(a, b);
        memset(v.counts, 0, (size_t)s->triangle_count * sizeof(int));
        v.stop_after = 0, v.total = 0;
        bvh_overlap(tree, low, high, visit_triangle, &v);
        for (int t = 0; t < s->triangle_count; t++) {
            assert_true(v.counts[t] <= 1);
            if (box_meets(s, t, low, high)) assert_int_equal(v.counts[t], 1);
        }
        if (v.total > 5) {
            v.stop_after = 5, v.total = 0;
            bvh_overlap(tree, low, high, visit_triangle, &v);
            assert_int_equal(v.total, 5);
        }
    }
    free(v.counts);
}

typedef struct pair_marks {
    const shape *s;
    uint8_t *seen; /* (triangle_count x triangle_count) */
} pair_marks;

static void mark_pair(void *context, int a, int b)
{
    pair_marks *marks = context;
    assert_true(a < b);
    marks->seen[(size_t)a * (size_t)marks->s->triangle_count + (size_t)b]++;
}

static void check_pairs(const shape *s, const bvh *tree)
{
    size_t n = (size_t)s->triangle_count;
    uint8_t *once = calloc(n * n, 1), *parted = calloc(n * n, 1);
    pair_marks marks = {s, once};
    bvh_self_pairs(tree, mark_pair, &marks);
    for (int a = 0; a < s->triangle_count; a++) {
        vec3 p = corner_of(s, a, 0), q = corner_of(s, a, 1), r = corner_of(s, a, 2);
        vec3 low = vec3_min(p, vec3_min(q, r)), high = vec3_max(p, vec3_max(q, r));
        for (int b = a + 1; b < s->triangle_count; b++) {
            uint8_t seen = once[(size_t)a * n + (size_t)b];
            assert_true(seen <= 1);
            if (box_meets(s, b, low, high)) assert_int_equal(seen, 1);
        }
    }
    /* the same pairs from any number of parts */
    int limits[] = {3, 10, 64, 500};
    for (int i = 0; i < COUNT_OF(limits); i++) {
        bvh_pair tasks[500];
        int count = bvh_pair_tasks(tree, tasks, limits[i]);
        assert_true(count >= 1 && count <= limits[i]);
        memset(parted, 0, n * n);
        marks.seen = parted;
        for (int t = 0; t < count; t++) bvh_pair_visit(tree, tasks[t], mark_pair, &marks);
        assert_memory_equal(once, parted, n * n);
    }
    free(parted);
    free(once);
}

static void queries_agree_with_brute_force_on_a_soup(void **unused)
{
    (void)unused;
    float sizes[] = {0.02f, 0.2f, 1};
    for (int i = 0; i < COUNT_OF(sizes); i++) {
        shape *s = shape_create();
        shape_soup(s, 700, sizes[i]);
        arena memory = arena_create(NULL);
        bvh tree = shape_tree(s, &memory);
        check_tree(s, &tree);
        check_closest(s, &tree, 200);
        check_overlap(s, &tree, 100);
        check_pairs(s, &tree);
        if (sizes[i] > 0.1f) check_rays(s, &tree, 400);
        arena_destroy(&memory);
        free(s);
    }
}

static void refit_follows_moved_points(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_soup(s, 600, 0.3f);
    arena memory = arena_create(NULL);
    bvh tree = shape_tree(s, &memory);
    for (int i = 0; i < 3 * s->point_count; i++) s->positions[i] += 0.2f * shape_random();
    bvh_refit(&tree, s->positions, 0);
    check_tree(s, &tree);
    check_rays(s, &tree, 200);
    check_closest(s, &tree, 100);
    check_pairs(s, &tree);

    /* a margin grows every box by that much on each side */
    bvh_node root = tree.nodes[0];
    bvh_refit(&tree, s->positions, 0.25f);
    for (int k = 0; k < 3; k++) {
        assert_float_equal(tree.nodes[0].min[k], root.min[k] - 0.25f, 1e-6);
        assert_float_equal(tree.nodes[0].max[k], root.max[k] + 0.25f, 1e-6);
    }
    arena_destroy(&memory);
    free(s);
}

static void degenerate_input_still_makes_a_tree(void **unused)
{
    (void)unused;
    /* all triangles in one place; a list whose sizes grow geometrically; nothing at all */
    shape *s = shape_create();
    for (int t = 0; t < 1000; t++) {
        int first = s->point_count;
        for (int k = 0; k < 3; k++) shape_point(s, 1, k == 1, k == 2);
        shape_triangle(s, first, first + 1, first + 2);
    }
    arena memory = arena_create(NULL);
    bvh tree = shape_tree(s, &memory);
    check_tree(s, &tree);
    s->point_count = s->triangle_count = 0;
    for (int t = 0; t < 250; t++) {
        int first = s->point_count;
        double x = ldexp(1, t - 125);
        for (int k = 0; k < 3; k++) shape_point(s, x * (1 + 0.1 * k), k == 1 ? x : 0, k == 2 ? x : 0);
        shape_triangle(s, first, first + 1, first + 2);
    }
    tree = shape_tree(s, &memory);
    check_tree(s, &tree);
    s->triangle_count = 0;
    tree = shape_tree(s, &memory);
    assert_int_equal(bvh_ray(&tree, s->positions, zero3, (vec3){1, 0, 0}, 0, 1).triangle, -1);
    assert_int_equal(bvh_closest(&tree, s->positions, zero3, INFINITY).triangle, -1);
    assert_int_equal(bvh_ray_count(&tree, s->positions, zero3, (vec3){1, 0, 0}), 0);
    bvh_self_pairs(&tree, mark_pair, NULL);
    bvh_refit(&tree, s->positions, 1);
    arena_destroy(&memory);
    free(s);
}

/* Rays from and through lattice points meet edges and corners of a lattice box all the time. */
static void rays_through_edges_and_points_count_once(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_box(s, (vec3){-4, -4, -4}, (vec3){4, 4, 4}, 8);
    shape_box(s, (vec3){-2, -2, -2}, (vec3){8, 2, 2}, 4);
    arena memory = arena_create(NULL);
    bvh tree = shape_tree(s, &memory);
    for (int x = -5; x <= 9; x++) {
        for (int y = -3; y <= 3; y += 2) {
            for (int z = -3; z <= 3; z += 2) {
                /* the origin lies on no surface: odd coordinates, and planes at even ones, but for x = -3..9 */
                vec3 p = {(float)x + 0.5f, (float)y, (float)z};
                int inside = (p.x > -4 && p.x < 4) + (p.x > -2 && p.x < 8 && abs(y) < 2 && abs(z) < 2);
                for (int d = 0; d < 27; d++) {
                    vec3 direction = {(float)(d % 3 - 1), (float)(d / 3 % 3 - 1), (float)(d / 9 - 1)};
                    if (d == 13) continue;
                    if (x % 2) direction = vec3_scale(direction, -1); /* -0 as well */
                    assert_int_equal(bvh_ray_winding(&tree, s->positions, p, direction, -1), inside);
                    assert_int_equal(bvh_ray_count(&tree, s->positions, p, direction) & 1, inside & 1);
                    bvh_hit hit = bvh_ray(&tree, s->positions, p, direction, 0, INFINITY);
                    assert_true((hit.triangle >= 0) ==
                                (bvh_ray(&tree, s->positions, p, direction, 0, 100).triangle >= 0));
                    if (inside) assert_true(hit.triangle >= 0);
                }
            }
        }
    }
    arena_destroy(&memory);
    free(s);
}

static void ray_winding_agrees_with_solid_angles(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_sphere(s, zero3, 1, 24, 16);
    shape_sphere(s, (vec3){0.5f, 0.2f, 0}, 0.9, 24, 16);
    int first = 3 * s->triangle_count;
    shape_box(s, (vec3){-0.4f, -0.4f, -0.4f}, (vec3){0.4f, 0.4f, 0.4f}, 2);
    for (int i = first; i < 3 * s->triangle_count; i += 3) { /* a cavity */
        int swap = s->triangles[i];
        s->triangles[i] = s->triangles[i + 1], s->triangles[i + 1] = swap;
    }
    arena memory = arena_create(NULL);
    bvh tree = shape_tree(s, &memory);
    for (int round = 0; round < 500; round++) {
        vec3 p = random_vec3(1.5f);
        double exact = mesh_winding(s->triangle_count, s->triangles, s->positions, p);
        assert_float_equal(bvh_ray_winding(&tree, s->positions, p, random_vec3(1), -1), exact, 1e-5);
    }
    /* just outside of a triangle along its own normal: other flesh alone counts */
    vec3 a = corner_of(s, 300, 0), b = corner_of(s, 300, 1), c = corner_of(s, 300, 2);
    vec3 centre = vec3_scale(vec3_add(a, vec3_add(b, c)), 1.0f / 3),
         normal = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
    double outside =
        mesh_winding(s->triangle_count, s->triangles, s->positions, vec3_madd(centre, vec3_normalize(normal), 1e-4f));
    assert_float_equal(bvh_ray_winding(&tree, s->positions, centre, normal, 300), outside, 1e-5);
    arena_destroy(&memory);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_agree_with_brute_force_on_a_soup),
        cmocka_unit_test(refit_follows_moved_points),
        cmocka_unit_test(degenerate_input_still_makes_a_tree),
        cmocka_unit_test(rays_through_edges_and_points_count_once),
        cmocka_unit_test(ray_winding_agrees_with_solid_angles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
