/* Exact signs, triangles through triangles, and the number of them in a mesh. */
#include "mesh_shapes.h"

#include "mesh/predicates.h"

typedef __int128 wide;

static int sign_of(wide x) { return (x > 0) - (x < 0); }

static wide orient_wide(const int64_t *a, const int64_t *b, const int64_t *c, const int64_t *d)
{
    wide u[3], v[3], w[3];
    for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = d[k] - a[k];
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
}

static int64_t random_integer(int64_t limit) { return (int64_t)((double)shape_random() * (double)limit); }

/* Points of 24-bit integers in and next to a plane, where plain double arithmetic often gives the wrong sign. */
static void orientation_has_the_exact_sign(void **unused)
{
    (void)unused;
    int zeros = 0, fooled = 0;
    for (int round = 0; round < 200000; round++) {
        int64_t p[4][3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) p[i][k] = random_integer(1 << 21);
        /* the fourth is a whole combination of the others, at times moved by one */
        int64_t m = random_integer(3), n = random_integer(3);
        for (int k = 0; k < 3; k++) p[3][k] = p[0][k] + m * (p[1][k] - p[0][k]) + n * (p[2][k] - p[0][k]);
        if (round % 3) p[3][round % 3] += random_integer(2);
        float f[4][3];
        double u[3], v[3], w[3];
        bool fits = true;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) {
                f[i][k] = ldexpf((float)p[i][k], -round % 90);
                fits = fits && p[i][k] < (1 << 24) && p[i][k] > -(1 << 24);
            }
        if (!fits) continue;
        int expected = sign_of(orient_wide(p[0], p[1], p[2], p[3]));
        zeros += expected == 0;
        for (int k = 0; k < 3; k++) {
            u[k] = (double)f[1][k] - f[0][k], v[k] = (double)f[2][k] - f[0][k], w[k] = (double)f[3][k] - f[0][k];
        }
        double plain = u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
                       u[2] * (v[0] * w[1] - v[1] * w[0]);
        fooled += ((plain > 0) - (plain < 0)) != expected;
        assert_int_equal(orient3d(f[0], f[1], f[2], f[3]), expected);
        assert_int_equal(orient3d(f[1], f[0], f[2], f[3]), -expected);
        assert_int_equal(orient3d(f[3], f[2], f[1], f[0]), expected);
    }
    assert_true(zeros > 1000);
    assert_true(fooled > 100); /* else the test says nothing */
}

/* Coordinates of very different size: differences of floats are then not exact in double. */
static void orientation_is_exact_across_magnitudes(void **unused)
{
    (void)unused;
    float big = 0x1p100f, small = 0x1p-100f;
    float a[3] = {0, 0, 0}, b[3] = {big, 0, 0}, c[3] = {0, big, 0}, d[3] = {big, big, small};
    assert_int_equal(orient3d(a, b, c, d), 1);
    d[2] = -small;
    assert_int_equal(orient3d(a, b, c, d), -1);
    d[2] = 0;
    assert_int_equal(orient3d(a, b, c, d), 0);
    /* a plane far from 0 along x and a step of the smallest float along y */
    float p[3] = {big, 0x1p-149f, 0}, q[3] = {big, 0, 0}, r[3] = {big, 0, 1}, s[3] = {-big, 1, 1};
    assert_int_equal(orient3d(p, q, r, s), -orient3d(q, p, r, s));
    assert_true(orient3d(p, q, r, s) != 0);
}

/* Whether the integer triangles' intervals on the common line overlap in more than a point: all in integers. */
static bool intersect_wide(int64_t a[3][3], int64_t b[3][3])
{
    int64_t(*t[2])[3] = {a, b};
    wide distance[2][3];
    for (int i = 0; i < 2; i++) {
        int above = 0, below = 0;
        for (int k = 0; k < 3; k++) {
            distance[i][k] = orient_wide(t[1 - i][0], t[1 - i][1], t[1 - i][2], t[i][k]);
            above += distance[i][k] > 0, below += distance[i][k] < 0;
        }
        if (!above || !below) return false;
    }
    wide n[2][3], line[3];
    for (int i = 0; i < 2; i++) {
        wide u[3], v[3];
        for (int k = 0; k < 3; k++) u[k] = t[i][1][k] - t[i][0][k], v[k] = t[i][2][k] - t[i][0][k];
        for (int k = 0; k < 3; k++) n[i][k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    }
    for (int k = 0; k < 3; k++) line[k] = n[0][(k + 1) % 3] * n[1][(k + 2) % 3] - n[0][(k + 2) % 3] * n[1][(k + 1) % 3];
    /* interval ends as fractions with positive denominators */
    wide low[2][2], high[2][2];
    for (int i = 0; i < 2; i++) {
        bool first = true;
        for (int k = 0; k < 3; k++) {
            int l = (k + 1) % 3;
            wide dk = distance[i][k], dl = distance[i][l];
            if (dk == dl || sign_of(dk) * sign_of(dl) > 0) continue;
            wide sk = 0, sl = 0;
            for (int c = 0; c < 3; c++) sk += line[c] * t[i][k][c], sl += line[c] * t[i][l][c];
            wide top = sk * dl - sl * dk, bottom = dl - dk;
            if (bottom < 0) top = -top, bottom = -bottom;
            if (first || top * low[i][1] < low[i][0] * bottom) low[i][0] = top, low[i][1] = bottom;
            if (first || top * high[i][1] > high[i][0] * bottom) high[i][0] = top, high[i][1] = bottom;
            first = false;
        }
    }
    return low[0][0] * high[1][1] < high[1][0] * low[0][1] && low[1][0] * high[0][1] < high[0][0] * low[1][1];
}

/* Small integers make every degenerate case: shared corners, edges in planes, touching points, no area. */
static void intersection_agrees_with_integer_arithmetic(void **unused)
{
    (void)unused;
    int limits[] = {2, 3, 4, 8, 100}, found = 0;
    for (int round = 0; round < 300000; round++) {
        int64_t t[2][3][3];
        float f[2][3][3];
        const float *p[2][3];
        for (int i = 0; i < 18; i++) {
            t[i / 9][i / 3 % 3][i % 3] = random_integer(limits[round % 5]);
            f[i / 9][i / 3 % 3][i % 3] = (float)t[i / 9][i / 3 % 3][i % 3] * 0.125f + 3;
            p[i / 9][i / 3 % 3] = f[i / 9][i / 3 % 3];
        }
        bool expected = intersect_wide(t[0], t[1]);
        found += expected;
        assert_int_equal(triangles_intersect(p[0], p[1]), expected);
        assert_int_equal(triangles_intersect(p[1], p[0]), expected);
        const float *turned[3] = {p[0][2], p[0][1], p[0][0]};
        assert_int_equal(triangles_intersect(turned, p[1]), expected);
    }
    assert_true(found > 10000);
}

static void touching_and_coplanar_triangles_do_not_intersect(void **unused)
{
    (void)unused;
    float base[3][3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};
    float others[][3][3] = {
        {{1, 1, 0}, {2, 1, 0}, {1, 2, 0}},     /* within the same plane */
        {{1, 1, 0}, {1, 1, 1}, {2, 1, 1}},     /* a corner on the face */
        {{1, 1, 0}, {2, 1, 0}, {1, 1, 1}},     /* an edge on the face */
        {{4, 0, -1}, {4, 0, 1}, {5, 0, 0}},    /* an edge through a corner */
        {{0, 2, -1}, {0, 2, 1}, {-3, 2, 0}},   /* an edge across an edge */
        {{1, 1, -1}, {1, 1, 1}, {1, 1, 0.5f}}, /* without area, through the face */
    };
    float crossing[3][3] = {{1, 1, -1}, {1, 1, 1}, {1.5f, 1, 0}};
    const float *a[3] = {base[0], base[1], base[2]};
    for (int i = 0; i < COUNT_OF(others); i++) {
        const float *b[3] = {others[i][0], others[i][1], others[i][2]};
        assert_false(triangles_intersect(a, b));
        assert_false(triangles_intersect(b, a));
    }
    const float *b[3] = {crossing[0], crossing[1], crossing[2]};
    assert_true(triangles_intersect(a, b));
}

static int count_intersections(const shape *s, const cutis_jobs *jobs, int *pairs, int limit)
{
    arena memory = arena_create(NULL);
    mesh m;
    bvh tree;
    assert_int_equal(mesh_build(&m, s->point_count, s->positions, s->triangle_count, s->triangles, &memory, NULL),
                     CUTIS_OK);
    assert_int_equal(bvh_build(&tree, m.triangle_count, m.triangles, m.positions, &memory, NULL), CUTIS_OK);
    int count = mesh_self_intersections(&m, &tree, m.positions, jobs, pairs, limit);
    arena_destroy(&memory);
    return count;
}

static void counts_agree_with_brute_force(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_soup(s, 500, 0.2f);
    int expected = 0;
    for (int a = 0; a < s->triangle_count; a++) {
        for (int b = a + 1; b < s->triangle_count; b++) {
            const float *p[3], *q[3];
            for (int k = 0; k < 3; k++) {
                p[k] = s->positions + 3 * s->triangles[3 * a + k];
                q[k] = s->positions + 3 * s->triangles[3 * b + k];
            }
            expected += triangles_intersect(p, q);
        }
    }
    assert_true(expected > 100);
    int *pairs = malloc(2 * (size_t)expected * sizeof *pairs), *threaded = malloc(2 * (size_t)expected * sizeof *pairs);
    assert_int_equal(count_intersections(s, NULL, NULL, 0), expected);
    assert_int_equal(count_intersections(s, NULL, pairs, expected), expected);
    for (int i = 0; i < expected; i++) {
        assert_true(pairs[2 * i] < pairs[2 * i + 1]);
        for (int j = 0; j < i; j++) assert_true(pairs[2 * j] != pairs[2 * i] || pairs[2 * j + 1] != pairs[2 * i + 1]);
        assert_int_equal(
            mesh_triangles_relate(s->triangles + 3 * pairs[2 * i], s->triangles + 3 * pairs[2 * i + 1], s->positions),
            TRIANGLES_CROSS);
    }
    cutis_pool *pool = NULL;
    assert_int_equal(cutis_pool_create(3, NULL, &pool, NULL), CUTIS_OK);
    assert_int_equal(count_intersections(s, cutis_pool_jobs(pool), threaded, expected), expected);
    cutis_pool_destroy(pool);
    assert_memory_equal(pairs, threaded, 2 * (size_t)expected * sizeof *pairs);
    /* a short list holds the first ones */
    memset(threaded, 0xff, 2 * (size_t)expected * sizeof *pairs);
    assert_int_equal(count_intersections(s, NULL, threaded, 7), expected);
    assert_memory_equal(pairs, threaded, 14 * sizeof *pairs);
    assert_int_equal(threaded[14], -1);
    free(threaded);
    free(pairs);
    free(s);
}

static void a_box_through_a_box_is_found_and_one_beside_it_is_not(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_box(s, (vec3){0, 0, 0}, (vec3){1, 1, 1}, 4);
    assert_int_equal(count_intersections(s, NULL, NULL, 0), 0);
    shape_box(s, (vec3){1, 0, 0}, (vec3){2, 1, 1}, 4); /* face to face, point on point */
    shape_box(s, (vec3){0.25f, 1, 0.25f}, (vec3){0.75f, 2, 0.75f}, 3);
    assert_int_equal(count_intersections(s, NULL, NULL, 0), 0);
    shape_box(s, (vec3){0.3f, 0.3f, 0.3f}, (vec3){0.6f, 0.7f, 0.8f}, 3); /* wholly inside */
    assert_int_equal(count_intersections(s, NULL, NULL, 0), 0);

    /* One pole of four sides, of two triangles each, through a wall of two: each side's triangles cross it. */
    s->point_count = s->triangle_count = 0;
    shape_box(s, (vec3){0, 0, 0}, (vec3){1, 1, 0.1f}, 1);
    shape_box(s, (vec3){0.8f, 0.4f, -1}, (vec3){0.9f, 0.6f, 1}, 1);
    assert_int_equal(count_intersections(s, NULL, NULL, 0), 16);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orientation_has_the_exact_sign),
        cmocka_unit_test(orientation_is_exact_across_magnitudes),
        cmocka_unit_test(intersection_agrees_with_integer_arithmetic),
        cmocka_unit_test(touching_and_coplanar_triangles_do_not_intersect),
        cmocka_unit_test(counts_agree_with_brute_force),
        cmocka_unit_test(a_box_through_a_box_is_found_and_one_beside_it_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
