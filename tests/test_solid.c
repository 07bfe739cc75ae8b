/* The solid of a surface: volume, distance, holes, overlap, orientation, seams, threads, memory. */
#include "mesh_shapes.h"

#include "body/solid.h"

static const double PI = 3.14159265358979323846;
static const vec3 zero3 = {0, 0, 0};

static solid shape_solid(const shape *s, float spacing, const cutis_jobs *jobs, arena *memory)
{
    solid_def def = {s->point_count, s->positions, s->triangle_count, s->triangles, spacing, 2 * spacing, jobs};
    solid made;
    cutis_error error = {0};
    if (solid_build(&def, memory, &made, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return made;
}

static size_t solid_count(const solid *s) { return (size_t)s->size[0] * (size_t)s->size[1] * (size_t)s->size[2]; }

/* Cells inside, those at the surface in part. */
static double solid_volume(const solid *s)
{
    double sum = 0;
    for (size_t i = 0; i < solid_count(s); i++) {
        double part = 0.5 - (double)s->distance[i] / s->spacing;
        sum += CLAMP(part, 0, 1);
    }
    return sum * s->spacing * s->spacing * s->spacing;
}

static void shape_torus(shape *s, double large, double small, int around, int across)
{
    int first = s->point_count;
    for (int i = 0; i < around; i++)
        for (int j = 0; j < across; j++) {
            double a = 2 * PI * i / around;
            double b = 2 * PI * j / across;
            shape_point(s, (large + small * cos(b)) * cos(a), small * sin(b), -(large + small * cos(b)) * sin(a));
        }
    for (int i = 0; i < around; i++)
        for (int j = 0; j < across; j++) {
            int next = (i + 1) % around;
            int up = (j + 1) % across;
            shape_quad(s, first + i * across + j, first + next * across + j, first + next * across + up,
                       first + i * across + up);
        }
}

/* Every triangle gets corners of its own. */
static void shape_unweld(shape *s)
{
    shape *copy = malloc(sizeof *copy);
    memcpy(copy, s, sizeof *copy);
    s->point_count = 0;
    for (int i = 0; i < 3 * copy->triangle_count; i++) {
        const float *p = copy->positions + 3 * copy->triangles[i];
        s->triangles[i] = shape_point(s, p[0], p[1], p[2]);
    }
    free(copy);
}

static void triangle_flip(shape *s, int t)
{
    int corner = s->triangles[3 * t + 1];
    s->triangles[3 * t + 1] = s->triangles[3 * t + 2];
    s->triangles[3 * t + 2] = corner;
}

/* Largest difference to the true distance over cells within 3 cells of the surface. */
static double worst_distance(const solid *s, double (*truth)(vec3 place))
{
    double worst = 0;
    for (int z = 0; z < s->size[2]; z++)
        for (int y = 0; y < s->size[1]; y++)
            for (int x = 0; x < s->size[0]; x++) {
                double exact = truth(solid_centre(s, x, y, z));
                if (fabs(exact) > 3 * s->spacing) continue;
                worst = fmax(worst, fabs(exact - s->distance[solid_index(s, x, y, z)]) / s->spacing);
            }
    return worst;
}

static double sphere_distance(vec3 p) { return vec3_length(p) - 1.0; }
static double torus_distance(vec3 p)
{
    double ring = sqrt((double)p.x * p.x + (double)p.z * p.z) - 1.0;
    return sqrt(ring * ring + (double)p.y * p.y) - 0.4;
}

static void spheres_and_tori_have_their_volume_and_distance(void **unused)
{
    (void)unused;
    for (int which = 0; which < 2; which++) {
        arena memory = arena_create(NULL);
        shape *s = shape_create();
        if (which)
            shape_torus(s, 1, 0.4, 160, 80);
        else
            shape_sphere(s, zero3, 1, 160, 80);
        solid made = shape_solid(s, 0.04f, NULL, &memory);
        double truth = which ? 2 * PI * PI * 0.16 : 4 * PI / 3;
        assert_true(fabs(solid_volume(&made) / truth - 1) < 0.005);
        double worst = worst_distance(&made, which ? torus_distance : sphere_distance);
        print_message("worst distance: %.3f cells, volume error %.4f\n", worst, solid_volume(&made) / truth - 1);
        assert_true(worst < 0.2);

        /* far inside too */
        if (!which) assert_true(fabsf(solid_sample(&made, zero3) + 1) < 0.04f);
        vec3 g = solid_gradient(&made, vec3_make(which ? 1.4f : 0.95f, 0.0f, 0));
        assert_true(fabsf(g.x - 1) < 0.1f && fabsf(g.y) < 0.2f && fabsf(g.z) < 0.2f);
        arena_destroy(&memory);
        free(s);
    }
}

static void a_hole_is_closed(void **unused)
{
    (void)unused;
    arena memory = arena_create(NULL);
    shape *s = shape_create();
    shape_sphere(s, zero3, 1, 120, 60);

    /* a polar cap of 0.38 across goes */
    int kept = 0;
    for (int t = 0; t < s->triangle_count; t++) {
        bool cap = false;
        for (int k = 0; k < 3; k++) cap = cap || s->positions[3 * s->triangles[3 * t + k] + 1] > 0.982f;
        if (!cap) memcpy(s->triangles + 3 * kept++, s->triangles + 3 * t, 3 * sizeof(int));
    }
    assert_true(kept < s->triangle_count);
    s->triangle_count = kept;
    solid made = shape_solid(s, 0.05f, NULL, &memory);
    assert_true(fabs(solid_volume(&made) / (4 * PI / 3) - 1) < 0.02);
    assert_true(solid_sample(&made, zero3) < -0.8f);
    assert_true(solid_sample(&made, vec3_make(0, 1.2f, 0)) > 0.1f);
    arena_destroy(&memory);
    free(s);
}

static double box_distance(vec3 p, vec3 low, vec3 high)
{
    vec3 centre = vec3_lerp(low, high, 0.5f);
    vec3 half = vec3_scale(vec3_sub(high, low), 0.5f);
    vec3 q = {fabsf(p.x - centre.x) - half.x, fabsf(p.y - centre.y) - half.y, fabsf(p.z - centre.z) - half.z};
    vec3 out = vec3_max(q, (vec3){0, 0, 0});
    return vec3_length(out) + MIN(MAX(q.x, MAX(q.y, q.z)), 0.0f);
}

static const vec3 box_low[2] = {{0, 0, 0}, {0.52f, 0.21f, 0.31f}};
static const vec3 box_high[2] = {{1, 1, 1}, {1.71f, 0.83f, 0.79f}};

/* Within the union the true distance is more than either box's; it is compared outside only. */
static void overlapping_boxes_are_united(void **unused)
{
    (void)unused;
    arena memory = arena_create(NULL);
    shape *s = shape_create();
    shape_box(s, box_low[0], box_high[0], 1);
    int first = s->triangle_count;
    shape_box(s, box_low[1], box_high[1], 1);
    for (int flipped = 0; flipped < 2; flipped++) {
        solid made = shape_solid(s, 0.03f, NULL, &memory);
        double overlap = (1 - 0.52) * (0.83 - 0.21) * (0.79 - 0.31);
        double truth = 1 + (1.71 - 0.52) * (0.83 - 0.21) * (0.79 - 0.31) - overlap;
        assert_true(fabs(solid_volume(&made) / truth - 1) < 0.02);

        /* the buried wall is no surface */
        assert_true(solid_sample(&made, vec3_make(0.75f, 0.52f, 0.55f)) < -0.2f);
        assert_true(solid_sample(&made, vec3_make(1.0f, 0.52f, 0.55f)) < -0.2f);
        double worst = 0;
        for (int z = 0; z < made.size[2]; z++)
            for (int y = 0; y < made.size[1]; y++)
                for (int x = 0; x < made.size[0]; x++) {
                    vec3 p = solid_centre(&made, x, y, z);
                    double a = box_distance(p, box_low[0], box_high[0]);
                    double b = box_distance(p, box_low[1], box_high[1]);
                    double exact = fmin(a, b);
                    float found = made.distance[solid_index(&made, x, y, z)];
                    if (exact > 0 && exact < 0.09) worst = fmax(worst, fabs(exact - found) / made.spacing);
                    if (fabs(exact) > 0.001) assert_true((exact < 0) == (found < 0));
                }
        assert_true(worst < 0.1);

        /* the second box inside out: the same solid */
        for (int t = first; t < s->triangle_count; t++) triangle_flip(s, t);
    }
    arena_destroy(&memory);
    free(s);
}

static void parts_that_stand_apart_stay_apart(void **unused)
{
    (void)unused;
    arena memory = arena_create(NULL);
    shape *s = shape_create();
    shape_box(s, vec3_make(0, 0, 0), vec3_make(1, 0.2f, 0.2f), 4);
    shape_box(s, vec3_make(0, 0.26f, 0), vec3_make(1, 0.46f, 0.2f), 4);
    solid made = shape_solid(s, 0.04f, NULL, &memory);
    for (float x = 0.02f; x < 1; x += 0.02f) assert_true(solid_sample(&made, vec3_make(x, 0.23f, 0.1f)) > 0);
    arena_destroy(&memory);
    free(s);
}

/* Seams, flips and noise leave the solid of a torus as it is. */
static void seams_flips_and_noise_do_not_matter(void **unused)
{
    (void)unused;
    arena memory = arena_create(NULL);
    shape *s = shape_create();
    shape_torus(s, 1, 0.4, 60, 30);
    solid whole = shape_solid(s, 0.05f, NULL, &memory);
    shape_unweld(s);
    solid cut = shape_solid(s, 0.05f, NULL, &memory);
    assert_memory_equal(whole.size, cut.size, sizeof whole.size);
    for (size_t i = 0; i < solid_count(&whole); i++) assert_true(fabsf(whole.distance[i] - cut.distance[i]) < 1e-4f);

    /* triangles lose their neighbours and a tenth their way, and 2 % are missing */
    shape *soup = shape_create();
    for (int round = 0; round < 4; round++) {
        memcpy(soup, s, sizeof *soup);
        int kept = 0;
        for (int t = 0; t < soup->triangle_count; t++) {
            if (shape_random() > 0.96f) continue;
            memcpy(soup->triangles + 3 * kept, soup->triangles + 3 * t, 3 * sizeof(int));
            if (shape_random() > 0.8f) triangle_flip(soup, kept);
            kept++;
        }
        soup->triangle_count = kept;
        for (int i = 0; i < 3 * soup->point_count; i++) soup->positions[i] += 0.004f * shape_random();
        solid noisy = shape_solid(soup, 0.05f, NULL, &memory);
        double volume = solid_volume(&noisy) / solid_volume(&whole);
        if (fabs(volume - 1) > 0.03) print_error("round %d: %.3f of the volume\n", round, volume);
        assert_true(fabs(volume - 1) <= 0.03);
        assert_true(solid_sample(&noisy, zero3) > 0.4f);
    }
    free(soup);
    free(s);
    arena_destroy(&memory);
}

static void threads_give_the_same_bits(void **unused)
{
    (void)unused;
    arena memory = arena_create(NULL);
    shape *s = shape_create();
    shape_soup(s, 300, 0.3f);
    shape_torus(s, 1, 0.4, 50, 20);
    cutis_pool *pool;
    assert_int_equal(cutis_pool_create(3, NULL, &pool, NULL), CUTIS_OK);
    solid a = shape_solid(s, 0.05f, NULL, &memory);
    solid b = shape_solid(s, 0.05f, cutis_pool_jobs(pool), &memory);
    solid c = shape_solid(s, 0.05f, &test_jobs_backward, &memory);
    assert_memory_equal(a.distance, b.distance, solid_count(&a) * sizeof(float));
    assert_memory_equal(a.distance, c.distance, solid_count(&a) * sizeof(float));
    cutis_pool_destroy(pool);
    arena_destroy(&memory);
    free(s);
}

static bool build_body(void *context, const cutis_allocator *allocator)
{
    const shape *s = context;
    arena memory = arena_create(allocator);
    solid_def def = {s->point_count, s->positions, s->triangle_count, s->triangles, 0.1f, 0.2f, NULL};
    solid made;
    bool fine = solid_build(&def, &memory, &made, NULL) == CUTIS_OK;
    arena_destroy(&memory);
    return fine;
}

static void memory_may_run_out_anywhere(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_box(s, box_low[0], box_high[0], 3);
    assert_true(test_every_allocation(build_body, s) > 3);
    free(s);
}

static void what_cannot_be_built_is_told(void **unused)
{
    (void)unused;
    arena memory = arena_create(NULL);
    shape *s = shape_create();
    shape_box(s, box_low[0], box_high[0], 1);
    solid_def def = {s->point_count, s->positions, s->triangle_count, s->triangles, 1e-4f, 0, NULL};
    solid made;
    cutis_error error;
    assert_int_equal(solid_build(&def, &memory, &made, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "too many"));
    def.spacing = 0.1f;
    s->positions[4] = NAN;
    assert_int_equal(solid_build(&def, &memory, &made, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "not finite"));
    memset(s->positions, 0, sizeof s->positions);
    assert_int_equal(solid_build(&def, &memory, &made, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "no extent"));
    arena_destroy(&memory);
    free(s);
}

/* Open sheets that face one way have winding numbers above a half far beyond them. */
static void the_border_of_the_grid_is_air(void **unused)
{
    (void)unused;
    enum { SHEETS = 24 };
    float positions[SHEETS * 12];
    int triangles[SHEETS * 6];
    for (int i = 0; i < SHEETS; i++) {
        float z = 0.01f * (float)i;
        const float corners[12] = {0, 0, z, 1, 0, z, 1, 1, z, 0, 1, z};
        const int faces[6] = {0, 1, 2, 0, 2, 3};
        memcpy(positions + (size_t)12 * i, corners, sizeof corners);
        for (int k = 0; k < 6; k++) triangles[6 * i + k] = 4 * i + faces[k];
    }

    arena memory = arena_create(NULL);
    solid_def def = {4 * SHEETS, positions, 2 * SHEETS, triangles, 0.05f, 0.1f, NULL};
    solid made;
    assert_int_equal(solid_build(&def, &memory, &made, NULL), CUTIS_OK);
    for (int z = 0; z < made.size[2]; z++)
        for (int y = 0; y < made.size[1]; y++)
            for (int x = 0; x < made.size[0]; x++)
                if (x == 0 || y == 0 || z == 0 || x + 1 == made.size[0] || y + 1 == made.size[1] ||
                    z + 1 == made.size[2])
                    assert_true(made.distance[solid_index(&made, x, y, z)] > 0);
    arena_destroy(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_and_tori_have_their_volume_and_distance),
        cmocka_unit_test(a_hole_is_closed),
        cmocka_unit_test(overlapping_boxes_are_united),
        cmocka_unit_test(parts_that_stand_apart_stay_apart),
        cmocka_unit_test(seams_flips_and_noise_do_not_matter),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(what_cannot_be_built_is_told),
        cmocka_unit_test(the_border_of_the_grid_is_air),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
