/* Contact: pairs, impact times, search against brute force, resolution of fast motion, rest shapes, props. */
#include "testing.h"

#include "contact/contact.h"
#include "cutis/zoo.h"
#include "leaves.h"
#include "math/math3.h"

/* A small generator of its own, so that the cases are the same everywhere. */
static uint32_t seed;

static float uniform(float low, float high)
{
    seed = seed * 1664525u + 1013904223u;
    return low + (high - low) * (float)(seed >> 8) / 16777216.0f;
}

static void fill_random(float *values, int count, float size)
{
    for (int i = 0; i < count; i++) values[i] = uniform(-size, size);
}

static void projection_reaches_the_gap_and_keeps_momentum(void **unused)
{
    (void)unused;
    seed = 1;
    for (int i = 0; i < 200; i++) {
        float x[12], before[12], masses[4], sum[3] = {0};
        fill_random(x, 12, 1);
        contact_pair pair = {.v = {0, 1, 2, 3}, .kind = i % 2, .gap = 0};
        contact_pair_nearest(&pair, x);
        if (pair.distance < 1e-3f) continue;
        pair.gap = pair.distance + 0.5f;
        for (int k = 0; k < 4; k++) masses[k] = uniform(0.1f, 2);
        float inverse[4] = {1 / masses[0], 1 / masses[1], 1 / masses[2], 1 / masses[3]};
        memcpy(before, x, sizeof x);
        assert_true(contact_pair_project(&pair, inverse, x) > 0);
        assert_true(fabsf(contact_pair_value(&pair, x) - pair.gap) < 1e-4f);
        for (int k = 0; k < 12; k++) sum[k % 3] += masses[k / 3] * (x[k] - before[k]);
        for (int k = 0; k < 3; k++) assert_true(fabsf(sum[k]) < 1e-5f);
        /* With the push no longer needed, the same pair takes it back, and not more. */
        pair.gap = 0;
        contact_pair_project(&pair, inverse, x);
        assert_true(pair.lambda == 0);
        for (int k = 0; k < 12; k++) assert_true(fabsf(x[k] - before[k]) < 1e-4f);
    }
}

/* Along the way from start to end, up to the time `t` of the impact told, the features keep apart. */
static void assert_gap_is_kept(contact_pair pair, const float *start, const float *end, float t, int steps, float least)
{
    float at[12];
    for (int step = 0; step <= steps && (float)step / (float)steps <= t; step++) {
        for (int k = 0; k < 12; k++) at[k] = start[k] + (float)step / (float)steps * (end[k] - start[k]);
        contact_pair now = pair;
        contact_pair_nearest(&now, at);
        assert_true(now.distance > least);
    }
}

static void impact_times_are_never_late(void **unused)
{
    (void)unused;
    seed = 7;
    int hits = 0;
    for (int i = 0; i < 3000; i++) {
        float start[12], end[12];
        fill_random(start, 12, 1);
        fill_random(end, 12, 1);
        contact_pair pair = {.v = {0, 1, 2, 3}, .kind = i % 2};
        contact_pair_nearest(&pair, start);
        if (pair.distance < 0.02f) continue;
        float gap = 0.1f * pair.distance, t = contact_pair_impact(&pair, start, end, gap);
        hits += t <= 1;
        assert_gap_is_kept(pair, start, end, t, 200, 0.9f * gap);
    }
    assert_in_range(hits, 100, 2900);
}

/* Features all but touching that swing and turn against each other: neither late nor, when they keep apart, ever. */
static void impact_times_are_not_late_for_touching_features(void **unused)
{
    (void)unused;
    seed = 11;
    int hits = 0;
    for (int i = 0; i < 2000; i++) {
        float start[12], end[12];
        contact_pair pair = {.v = {0, 1, 2, 3}, .kind = i % 2};
        fill_random(start, 12, 1);
        contact_pair_nearest(&pair, start);
        if (pair.distance < 0.1f) continue;
        float wanted = uniform(1e-4f, 1e-3f);
        for (int k = 0; k < (pair.kind == CONTACT_POINT_TRIANGLE ? 3 : 6); k++)
            start[k] -= vec3_axis(pair.normal, k % 3) * (pair.distance - wanted);
        contact_pair_nearest(&pair, start);
        fill_random(end, 12, 0.1f);
        for (int k = 0; k < 12; k++) end[k] += start[k];
        float gap = 0.9f * pair.distance, t = contact_pair_impact(&pair, start, end, gap);
        hits += t <= 1;
        assert_gap_is_kept(pair, start, end, t, 2000, 0.98f * gap);
    }
    assert_in_range(hits, 100, 1500);
}

static void sliding_features_do_not_hit(void **unused)
{
    (void)unused;
    seed = 12;
    static const float shapes[2][12] = {{0, 0, 0, -1, -1, 0, 1, -1, 0, 0, 1, 0},
                                        {-1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1, 0}};
    for (int i = 0; i < 400; i++) {
        contact_pair pair = {.v = {0, 1, 2, 3}, .kind = i % 2};
        int upper = pair.kind == CONTACT_POINT_TRIANGLE ? 1 : 2;
        float start[12], end[12], rise = i % 3 ? uniform(0, 0.1f) : 0;
        memcpy(start, shapes[pair.kind], sizeof start);
        for (int p = 0; p < upper; p++) start[3 * p + 2] = 1e-5f;
        for (int p = 0; p < 4; p++) {
            end[3 * p] = start[3 * p] + uniform(-0.2f, 0.2f), end[3 * p + 1] = start[3 * p + 1] + uniform(-0.2f, 0.2f);
            end[3 * p + 2] = start[3 * p + 2] + (p < upper ? rise : 0);
        }
        contact_pair_nearest(&pair, start);
        assert_true(contact_pair_impact(&pair, start, end, 0.9f * pair.distance) > 1);
    }
}

/* Two spheres of latitude and longitude, side by side along x at `distance`, as one mesh. */
typedef struct two_spheres {
    arena memory;
    mesh m;
    contact_surface surface;
    float *start, *end, *inverse;
    contact_work work;
} two_spheres;

enum { ACROSS = 12, AROUND = 20, SPHERE_POINTS = ACROSS * AROUND + 2 };

static void spheres_make(two_spheres *s, float distance)
{
    *s = (two_spheres){.memory = arena_create(NULL)};
    float positions[2 * SPHERE_POINTS * 3];
    int triangles[2 * ACROSS * AROUND * 2 * 3], count = 0;
    for (int body = 0; body < 2; body++) {
        float *p = positions + 3 * body * SPHERE_POINTS, shift = body ? 0.5f * distance : -0.5f * distance;
        int base = body * SPHERE_POINTS, south = base + ACROSS * AROUND, north = south + 1;
        for (int i = 0; i < ACROSS; i++)
            for (int j = 0; j < AROUND; j++) {
                double a = 3.14159265 * (i + 1) / (ACROSS + 1), b = 6.2831853 * (j + 0.5 * body) / AROUND;
                float *q = p + 3 * (i * AROUND + j);
                q[0] = (float)(det_sin(a) * det_cos(b)) + shift, q[1] = -(float)det_cos(a);
                q[2] = (float)(det_sin(a) * det_sin(b));
            }
        vec3_store(p + 3 * ACROSS * AROUND, vec3_make(shift, -1, 0));
        vec3_store(p + 3 * (ACROSS * AROUND + 1), vec3_make(shift, 1, 0));
        for (int j = 0; j < AROUND; j++) {
            int k = (j + 1) % AROUND, last = (ACROSS - 1) * AROUND;
            const int caps[6] = {south, base + j, base + k, north, base + last + k, base + last + j};
            memcpy(triangles + 3 * count, caps, sizeof caps);
            count += 2;
            for (int i = 0; i + 1 < ACROSS; i++) {
                int a = base + i * AROUND + j, b = base + i * AROUND + k, c = a + AROUND, d = b + AROUND;
                const int faces[6] = {a, c, b, b, c, d};
                memcpy(triangles + 3 * count, faces, sizeof faces);
                count += 2;
            }
        }
    }
    assert_int_equal(mesh_build(&s->m, 2 * SPHERE_POINTS, positions, count, triangles, &s->memory, NULL), CUTIS_OK);
    assert_int_equal(contact_surface_build(&s->surface, &s->m, &s->memory, NULL, NULL), CUTIS_OK);
    s->start = arena_copy(&s->memory, positions, 2 * SPHERE_POINTS * 3, sizeof(float));
    s->end = arena_copy(&s->memory, positions, 2 * SPHERE_POINTS * 3, sizeof(float));
    s->inverse = ARENA_ARRAY(&s->memory, float, 2 * SPHERE_POINTS);
    for (int i = 0; i < 2 * SPHERE_POINTS; i++) s->inverse[i] = 1;
    s->work = contact_work_make(&s->surface, arena_push(&s->memory, contact_work_size(&s->surface), 1));
}

static int mesh_intersections(const mesh *m, const float *positions, arena *memory)
{
    bvh tree;
    assert_int_equal(bvh_build(&tree, m->triangle_count, m->triangles, positions, memory, NULL), CUTIS_OK);
    return mesh_self_intersections(m, &tree, positions, NULL, NULL, 0);
}

static int compare_pairs(const void *a, const void *b)
{
    const contact_pair *x = a, *y = b;
    int order = memcmp(x->v, y->v, sizeof x->v);
    return order ? order : x->kind - y->kind;
}

/* Whether the pair is so near that a search of standing points has to report it. */
static bool pair_near(const two_spheres *s, contact_pair pair, const contact_search_options *options)
{
    contact_pair rest = pair;
    contact_pair_nearest(&rest, s->m.positions);
    contact_pair_nearest(&pair, s->start);
    pair.gap = fminf(options->thickness, 0.5f * rest.distance);
    return pair.distance <= contact_reach(&s->surface, options, &pair);
}

/* Every point-triangle and edge-edge pair between the two bodies that comes near, and no other between them. */
static void search_finds_what_brute_force_finds(void **unused)
{
    (void)unused;
    two_spheres s;
    spheres_make(&s, 2.05f);
    seed = 3;
    for (int i = 0; i < 3 * s.m.point_count; i++) s.start[i] += uniform(-0.02f, 0.02f), s.end[i] = s.start[i];
    contact_search_options options = {.margin = 0.25f, .thickness = 0.05f};
    int count = contact_search(&s.surface, &s.work, s.start, s.end, &options, NULL), found = 0, expected = 0;
    assert_int_equal(s.work.dropped, 0);
    for (int i = 0; i < count; i++) {
        const contact_pair *pair = s.work.pairs + i;
        assert_true(pair->distance <= options.margin);
        found += (pair->v[0] < SPHERE_POINTS) != (pair->v[3] < SPHERE_POINTS);
    }
    for (int p = 0; p < s.m.point_count; p++)
        for (int t = 0; t < s.m.triangle_count; t++) {
            const int *c = s.m.triangles + 3 * t;
            if ((p < SPHERE_POINTS) == (c[0] < SPHERE_POINTS)) continue;
            contact_pair pair = {.v = {p, c[0], c[1], c[2]}, .kind = CONTACT_POINT_TRIANGLE};
            expected += pair_near(&s, pair, &options);
        }
    for (int e = 0; e < s.m.edge_count; e++)
        for (int f = 0; f < e; f++) {
            const int *a = s.m.edges + 2 * e, *b = s.m.edges + 2 * f;
            if ((a[0] < SPHERE_POINTS) == (b[0] < SPHERE_POINTS)) continue;
            contact_pair pair = {.v = {a[0], a[1], b[0], b[1]}, .kind = CONTACT_EDGE_EDGE};
            expected += pair_near(&s, pair, &options);
        }
    assert_true(expected > 20);
    assert_int_equal(found, expected);

    /* None twice. */
    qsort(s.work.pairs, (size_t)count, sizeof(contact_pair), compare_pairs);
    for (int i = 1; i < count; i++) assert_true(compare_pairs(s.work.pairs + i - 1, s.work.pairs + i) != 0);
    arena_destroy(&s.memory);
}

/* A search renewed for the points that moved holds every pair that one from scratch reports for its own ends. */
static void renewed_search_equals_a_new_one(void **unused)
{
    (void)unused;
    two_spheres s;
    spheres_make(&s, 2.05f);
    contact_search_options options = {.margin = 0.06f, .thickness = 0.02f};
    contact_search(&s.surface, &s.work, s.start, s.end, &options, NULL);
    int before = s.work.pair_count;
    for (int p = 0; p < SPHERE_POINTS; p++)
        if (s.start[3 * p] > -0.3f) s.end[3 * p] += 0.1f; /* only the part that faces the other sphere */
    int count = contact_search_update(&s.surface, &s.work, s.start, s.end, &options, NULL);
    long partial = s.work.tests;
    contact_pair *renewed = malloc((size_t)count * sizeof(contact_pair));
    memcpy(renewed, s.work.pairs, (size_t)count * sizeof(contact_pair));
    float *saved = arena_copy(&s.memory, s.work.saved, 3 * (size_t)s.m.point_count, sizeof(float));
    assert_int_equal(contact_search(&s.surface, &s.work, s.start, saved, &options, NULL), count);
    assert_true(count > before && partial < s.work.tests);
    qsort(renewed, (size_t)count, sizeof(contact_pair), compare_pairs);
    qsort(s.work.pairs, (size_t)count, sizeof(contact_pair), compare_pairs);
    for (int i = 0; i < count; i++) assert_int_equal(compare_pairs(renewed + i, s.work.pairs + i), 0);
    free(renewed);
    arena_destroy(&s.memory);
}

static void search_does_not_depend_on_threads(void **unused)
{
    (void)unused;
    two_spheres s;
    spheres_make(&s, 2.02f);
    cutis_pool *pool = NULL;
    assert_int_equal(cutis_pool_create(3, NULL, &pool, NULL), CUTIS_OK);
    contact_search_options options = {.margin = 0.2f, .thickness = 0.05f};
    int count = contact_search(&s.surface, &s.work, s.start, s.end, &options, NULL);
    uint64_t hash = hash_bytes(s.work.pairs, (size_t)count * sizeof(contact_pair), 0);
    assert_true(count > 0);
    assert_int_equal(contact_search(&s.surface, &s.work, s.start, s.end, &options, cutis_pool_jobs(pool)), count);
    assert_true(hash_bytes(s.work.pairs, (size_t)count * sizeof(contact_pair), 0) == hash);
    cutis_pool_destroy(pool);
    arena_destroy(&s.memory);
}

/* A sphere thrown right through the other in one step stops before it, also when it turns and is dented. */
static void fast_bodies_do_not_tunnel(void **unused)
{
    (void)unused;
    static const float ways[3] = {0.5f, 1.5f, 4.0f};
    for (int i = 0; i < 3; i++) {
        two_spheres s;
        spheres_make(&s, 2.2f);
        seed = 11u + (uint32_t)i;
        for (int p = 0; p < SPHERE_POINTS; p++) {
            s.end[3 * p] += ways[i];
            for (int c = 0; c < 3; c++) s.end[3 * p + c] += uniform(-0.05f, 0.05f);
        }
        contact_search_options options = {.margin = 0.05f, .thickness = 0.02f};
        contact_resolve_stats stats =
            contact_resolve(&s.surface, &s.work, s.start, s.end, s.inverse, &options, false, NULL);
        assert_false(stats.failed);
        assert_true(stats.impacts > 0);
        assert_int_equal(mesh_intersections(&s.m, s.end, &s.memory), 0);
        /* Not inside one another either: the first body's middle is still on its side of the second's. */
        double middle[2] = {0};
        for (int p = 0; p < 2 * SPHERE_POINTS; p++) middle[p / SPHERE_POINTS] += s.end[3 * p] / SPHERE_POINTS;
        assert_true(middle[0] < middle[1]);
        arena_destroy(&s.memory);
    }
}

/*
 * An edge above another tilts so that it dips towards it, and at the end is well above: the way must be lifted, which
 * projection of the end alone does not do. No rigid zone is needed.
 */
static void a_dip_on_the_way_is_lifted(void **unused)
{
    (void)unused;
    const float rest[18] = {-1, 0, 0, 1, 0, 0, 0, 0, -1, 0, -1, 1, 0, 1, 1, 0, 0, 2};
    const int triangles[6] = {0, 1, 2, 3, 4, 5};
    const float height = 0.024f;
    float start[18], end[18], inverse[6] = {1, 1, 1, 1, 1, 1};
    memcpy(start, rest, sizeof start);
    for (int p = 3; p < 6; p++) start[3 * p + 2] += height - 1;
    memcpy(end, start, sizeof end);
    for (int p = 3; p < 6; p++) end[3 * p + 1] -= 1.8f;
    end[3 * 3 + 2] -= 2, end[3 * 4 + 2] += 1, end[3 * 5 + 2] += 1;
    arena memory = arena_create(NULL);
    mesh m;
    contact_surface surface;
    assert_int_equal(mesh_build(&m, 6, rest, 2, triangles, &memory, NULL), CUTIS_OK);
    assert_int_equal(contact_surface_build(&surface, &m, &memory, NULL, NULL), CUTIS_OK);
    contact_work work = contact_work_make(&surface, arena_push(&memory, contact_work_size(&surface), 1));
    contact_search_options options = {.margin = 0.06f, .thickness = 0.05f};
    contact_resolve_stats stats = contact_resolve(&surface, &work, start, end, inverse, &options, false, NULL);
    assert_true(stats.impacts > 0);
    assert_int_equal(stats.zone_points, 0);
    assert_false(stats.failed);
    arena_destroy(&memory);
}

static void restful_steps_are_left_alone(void **unused)
{
    (void)unused;
    two_spheres s;
    spheres_make(&s, 2.2f);
    for (int i = 0; i < 3 * s.m.point_count; i++) s.end[i] += 0.3f; /* all together */
    float *wish = arena_copy(&s.memory, s.end, 3 * (size_t)s.m.point_count, sizeof(float));
    contact_search_options options = {.margin = 0.05f, .thickness = 0.02f};
    contact_resolve_stats stats =
        contact_resolve(&s.surface, &s.work, s.start, s.end, s.inverse, &options, false, NULL);
    assert_int_equal(stats.impacts, 0);
    assert_memory_equal(wish, s.end, 3 * (size_t)s.m.point_count * sizeof(float));
    arena_destroy(&s.memory);
}

/* ---- pruning of flat parts ---- */

typedef struct sheet {
    arena memory;
    mesh m;
    contact_surface surface;
    contact_work work;
    float *start, *end;
} sheet;

static void sheet_build(sheet *s, int points, float *positions, int triangles, const int *corners)
{
    assert_int_equal(mesh_build(&s->m, points, positions, triangles, corners, &s->memory, NULL), CUTIS_OK);
    assert_int_equal(contact_surface_build(&s->surface, &s->m, &s->memory, NULL, NULL), CUTIS_OK);
    s->work = contact_work_make(&s->surface, arena_push(&s->memory, contact_work_size(&s->surface), 1));
    s->start = arena_copy(&s->memory, positions, 3 * (size_t)points, sizeof(float));
    s->end = arena_copy(&s->memory, positions, 3 * (size_t)points, sizeof(float));
}

/* A strip of quads, `across` by `along` of them, whose points place(context, u, v) gives, u and v in 0..1. */
static void sheet_make(sheet *s, int across, int along, vec3 (*place)(float u, float v))
{
    *s = (sheet){.memory = arena_create(NULL)};
    int points = (across + 1) * (along + 1), triangles = 2 * across * along, count = 0;
    float *positions = ARENA_ARRAY(&s->memory, float, 3 * points);
    int *corners = ARENA_ARRAY(&s->memory, int, 3 * triangles);
    for (int j = 0; j <= along; j++)
        for (int i = 0; i <= across; i++)
            vec3_store(positions + 3 * (j * (across + 1) + i),
                       place((float)i / (float)across, (float)j / (float)along));
    for (int j = 0; j < along; j++)
        for (int i = 0; i < across; i++) {
            int a = j * (across + 1) + i, b = a + 1, c = a + across + 1, d = c + 1;
            const int faces[6] = {a, b, c, b, d, c};
            memcpy(corners + 3 * count, faces, sizeof faces);
            count += 2;
        }
    sheet_build(s, points, positions, triangles, corners);
}

/* Pairs that hit each other on the way, to the front of the list, sorted. Returns their number, -1 when there is no
 * room for all. */
static int impacts_find(const contact_surface *surface, contact_work *work, const float *start, const float *end,
                        const contact_search_options *options)
{
    int hits = 0, count = contact_search(surface, work, start, end, options, NULL);
    if (work->dropped > 0) return -1;
    for (int i = 0; i < count; i++) {
        const contact_pair *pair = work->pairs + i;
        if (contact_pair_impact(pair, start, end, MIN(0.9f * pair->distance, 0.1f * pair->gap)) <= 1)
            work->pairs[hits++] = *pair;
    }
    qsort(work->pairs, (size_t)hits, sizeof(contact_pair), compare_pairs);
    return hits;
}

/* The same impacts with and without pruning. Returns their number, -1 when there is no room for all, and how many tests
 * each search made. */
static int impacts_compare(const contact_surface *surface, contact_work *work, const float *start, const float *end,
                           contact_search_options options, long tests[2])
{
    options.exhaustive = true;
    int all = impacts_find(surface, work, start, end, &options);
    tests[1] = work->tests;
    if (all < 0) return -1;
    contact_pair *kept = malloc(((size_t)all + 1) * sizeof(contact_pair));
    memcpy(kept, work->pairs, (size_t)all * sizeof(contact_pair));
    options.exhaustive = false;
    int found = impacts_find(surface, work, start, end, &options);
    tests[0] = work->tests;
    assert_int_equal(found, all);
    for (int i = 0; i < all; i++) assert_int_equal(compare_pairs(kept + i, work->pairs + i), 0);
    free(kept);
    return all;
}

/* A spiral stair of two and a half turns: all its normals point up, and yet its turns lie above each other. */
static vec3 stair(float u, float v)
{
    double turn = 5 * 3.14159265358979 * v;
    float radius = 0.2f + 0.3f * u;
    return vec3_make(radius * (float)det_cos(turn), radius * (float)det_sin(turn), 0.12f * v);
}

/* The same about a pole so thin that a turn is a few triangles. */
static vec3 steep_stair(float u, float v)
{
    double turn = 7 * 3.14159265358979 * v;
    float radius = 0.01f + 0.08f * u;
    return vec3_make(radius * (float)det_cos(turn), radius * (float)det_sin(turn), 0.2f * v);
}

/* Folds that lean over each other, like a bellows. */
static vec3 bellows(float u, float v)
{
    double fold = 6 * 6.28318530717959 * v;
    return vec3_make(u, 0.5f * v + 0.03f * (float)det_sin(2 * fold), 0.08f * (float)det_sin(fold));
}

static vec3 plain(float u, float v) { return vec3_make(u, v, 0); }

/*
 * Surfaces on which normals alone would prune too much: their turns are pressed together, sheared, wrung and shaken in
 * one step, and the search that prunes finds every impact that the exhaustive one finds.
 */
static void pruning_loses_no_impact(void **unused)
{
    (void)unused;
    test_is_heavy();
    static vec3 (*const shapes[])(float, float) = {stair, steep_stair, bellows, plain};
    static const int sizes[][2] = {{6, 60}, {2, 24}, {8, 96}, {24, 24}};
    int total = 0, pruned = 0, compared = 0;
    for (int shape = 0; shape < COUNT_OF(shapes); shape++) {
        sheet s;
        sheet_make(&s, sizes[shape][0], sizes[shape][1], shapes[shape]);
        for (int i = 0; i < 30; i++) {
            seed = (uint32_t)(100 * shape + i);
            float press = uniform(-0.2f, 1), shear = uniform(-0.5f, 0.5f), shake = uniform(0, i % 3 * 0.03f);
            double wring = uniform(-3, 3);
            for (int p = 0; p < s.m.point_count; p++) {
                vec3 x = vec3_load(s.start + 3 * p);
                float sine = (float)det_sin(wring * x.z), cosine = (float)det_cos(wring * x.z);
                if (shape == 3) x.z = 0.5f * press * x.x * x.x; /* the plain sheet rolls up */
                x = vec3_make(cosine * x.x - sine * x.y + shear * x.z, sine * x.x + cosine * x.y, press * x.z);
                for (int c = 0; c < 3; c++) s.end[3 * p + c] = vec3_axis(x, c) + uniform(-shake, shake);
            }
            contact_search_options options = {.margin = 0.004f, .thickness = 0.002f};
            long tests[2];
            int hits = impacts_compare(&s.surface, &s.work, s.start, s.end, options, tests);
            if (hits < 0) continue;
            total += hits;
            compared++;
            pruned += tests[0] < tests[1] / 4 * 3;
        }
        arena_destroy(&s.memory);
    }
    print_message("%d impacts in %d searches, %d of them with less than three quarters of the tests\n", total, compared,
                  pruned);
    assert_true(total > 1000 && compared > 80 && pruned > 20);
}

/*
 * A disc that goes twice round its middle and crosses itself, as modelled skin may: all its normals point up and its
 * outline never turns back, and yet one of its layers lies above the other and comes down on it.
 */
static void outlines_that_go_round_twice_are_no_height_fields(void **unused)
{
    (void)unused;
    enum { TURN = 16, RINGS = 2 };
    sheet s = {.memory = arena_create(NULL)};
    float positions[3 * (1 + RINGS * TURN)] = {0};
    int corners[3 * TURN * (2 * RINGS - 1)], count = 0;
    for (int r = 0; r < RINGS; r++) {
        for (int i = 0; i < TURN; i++) {
            double turn = 4 * 3.14159265358979 * i / TURN;
            float radius = (float)(r + 1) / RINGS;
            vec3 x = {radius * (float)det_cos(turn), radius * (float)det_sin(turn),
                      0.05f * radius * (float)det_sin(0.5 * turn)};
            vec3_store(positions + 3 * (1 + r * TURN + i), x);

            /* to the ring inside, or to the middle */
            int own = 1 + r * TURN + i, next = 1 + r * TURN + (i + 1) % TURN;
            const int outer[3] = {r > 0 ? own - TURN : 0, own, next};
            const int inner[3] = {own - TURN, next, next - TURN};
            memcpy(corners + 3 * count++, outer, sizeof outer);
            if (r > 0) memcpy(corners + 3 * count++, inner, sizeof inner);
        }
    }
    sheet_build(&s, 1 + RINGS * TURN, positions, count, corners);

    /* what is above goes below */
    for (int p = 0; p < s.m.point_count; p++) s.end[3 * p + 2] *= -1;
    contact_search_options options = {.margin = 0.004f, .thickness = 0.002f};
    long tests[2];
    int hits = impacts_compare(&s.surface, &s.work, s.start, s.end, options, tests);
    print_message("a disc that goes round twice: %d impacts\n", hits);
    assert_true(hits > 50);
    arena_destroy(&s.memory);
}

/* Rows of slivers between rows of wide triangles. */
static vec3 sliver_place(float u, float v)
{
    int row = (int)(v * 16 + 0.5f);
    return vec3_make(u, 0.05f * u * u, 0.06f * (float)(row / 2) + (row % 2 ? 0.0001f : 0));
}

/*
 * A search that found a part flat, and so looked at no pairs in it, holds for ends nearby only as long as no sliver can
 * turn over on the way there.
 */
static void slivers_do_not_turn_over_behind_the_search(void **unused)
{
    (void)unused;
    sheet s;
    sheet_make(&s, 16, 16, sliver_place);
    int n = s.m.point_count, crossing = 0;
    float *inverse = ARENA_ARRAY(&s.memory, float, n);
    for (int p = 0; p < n; p++) inverse[p] = 1;
    const contact_search_options options = {.margin = 0.006f, .thickness = 0.001f};
    seed = 21;
    for (int round = 0; round < 20; round++) {
        contact_search(&s.surface, &s.work, s.start, s.start, &options, NULL);
        for (int i = 0; i < 3 * n; i++) s.end[i] = s.start[i] + uniform(-1.1e-4f, 1.1e-4f);
        crossing += mesh_intersections(&s.m, s.end, &s.memory) > 0;
        contact_resolve_stats stats =
            contact_resolve(&s.surface, &s.work, s.start, s.end, inverse, &options, true, NULL);
        assert_false(stats.failed);
        assert_int_equal(mesh_intersections(&s.m, s.end, &s.memory), 0);
    }
    print_message("slivers: %d of 20 ends crossed themselves before\n", crossing);
    assert_true(crossing > 5);
    arena_destroy(&s.memory);
}

/* The hand at rest, and from there a step of its fist: a tenth of the tests, the same contacts. */
static void pruning_saves_nine_tenths_on_the_hand(void **unused)
{
    (void)unused;
    cutis_character *hand = test_zoo("hand", 1);
    sheet s = {.memory = arena_create(NULL)};
    assert_int_equal(mesh_build_character(&s.m, hand, &s.memory, NULL), CUTIS_OK);
    assert_int_equal(contact_surface_build(&s.surface, &s.m, &s.memory, NULL, NULL), CUTIS_OK);
    s.work = contact_work_make(&s.surface, arena_push(&s.memory, contact_work_size(&s.surface), 1));
    s.end = ARENA_ARRAY(&s.memory, float, 3 * s.m.point_count);
    float thickness = 0.001f * hand->size;
    contact_search_options options = {.margin = thickness + 0.1f * s.surface.edge_mean, .thickness = thickness};
    for (int move = 0; move < 2; move++) {
        seed = 5;
        for (int i = 0; i < 3 * s.m.point_count; i++)
            s.end[i] = s.m.positions[i] + (move ? uniform(-2, 2) * thickness : 0);
        long tests[2];
        int hits = impacts_compare(&s.surface, &s.work, s.m.positions, s.end, options, tests);
        print_message("hand %s: %ld tests with cones, %ld without; %d impacts\n", move ? "shaken" : "at rest", tests[0],
                      tests[1], hits);
        if (move == 0) assert_true(10 * tests[0] <= tests[1]);
    }
    arena_destroy(&s.memory);
    cutis_character_destroy(hand);
}

/* ---- the rest shape ---- */

/* The most pairs that intersect in some turned copies, by whose rounding no symmetry and no touch survives. */
static int turned_intersections(const mesh *m, const float *positions, arena *memory)
{
    float *turned = ARENA_ARRAY(memory, float, 3 * m->point_count);
    int most = 0;
    seed = 5;
    for (int i = 0; i < 8; i++) {
        quat q = quat_normalize((quat){uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)});
        for (int p = 0; p < m->point_count; p++)
            vec3_store(turned + 3 * p, quat_rotate(q, vec3_load(positions + 3 * p)));
        most = MAX(most, mesh_intersections(m, turned, memory));
    }
    return most;
}

/* Untangle; what was not parted must be as it was, to the bit. */
static contact_untangle_stats untangle(const mesh *m, const uint8_t *fixed, float limit, arena *memory,
                                       float *positions)
{
    const contact_untangle_options options = {.touch = 2e-5f, .gap = 1e-4f, .limit = limit, .fixed = fixed};
    uint8_t *parted = ARENA_ARRAY(memory, uint8_t, m->point_count);
    contact_untangle_stats stats;
    memcpy(positions, m->positions, 3 * (size_t)m->point_count * sizeof(float));
    assert_int_equal(contact_untangle(m, &options, NULL, positions, parted, &stats, NULL), CUTIS_OK);
    int moved = 0;
    for (int p = 0; p < m->point_count; p++) {
        float way = vec3_distance(vec3_load(positions + 3 * p), vec3_load(m->positions + 3 * p));
        assert_true(way <= limit);
        assert_true(way == 0 || (parted[p] && !(fixed && fixed[p])));
        moved += way > 0;
    }
    assert_int_equal(moved, stats.moved);
    return stats;
}

static void small_overlaps_are_parted_and_large_ones_left(void **unused)
{
    (void)unused;
    two_spheres s;
    spheres_make(&s, 1.971f);
    assert_true(mesh_intersections(&s.m, s.m.positions, &s.memory) > 0);
    contact_untangle_stats stats = untangle(&s.m, NULL, 0.005f, &s.memory, s.end);
    assert_true(stats.moved > 0 && stats.left == 0);
    assert_int_equal(mesh_intersections(&s.m, s.end, &s.memory), 0);
    /* Points that must stay leave all of the way to the others. */
    uint8_t *fixed = ARENA_ARRAY(&s.memory, uint8_t, 2 * SPHERE_POINTS);
    memset(fixed, 1, SPHERE_POINTS);
    stats = untangle(&s.m, fixed, 0.005f, &s.memory, s.end);
    assert_true(stats.moved > 0 && stats.left == 0);
    assert_int_equal(mesh_intersections(&s.m, s.end, &s.memory), 0);
    arena_destroy(&s.memory);

    spheres_make(&s, 1.6f);
    assert_true(mesh_intersections(&s.m, s.m.positions, &s.memory) > 0);
    stats = untangle(&s.m, NULL, 0.005f, &s.memory, s.end);
    assert_true(stats.moved == 0 && stats.left > 0);
    arena_destroy(&s.memory);
}

static void leaves_make(mesh *m, arena *memory, leaf_place place)
{
    float positions[3 * LEAVES_POINTS];
    int quads[4 * LEAVES_QUADS], triangles[6 * LEAVES_QUADS];
    leaves_fill(place, positions, quads);
    for (int q = 0; q < LEAVES_QUADS; q++)
        for (int k = 0; k < 6; k++) triangles[6 * q + k] = quads[4 * q + (const int[]){0, 3, 1, 3, 2, 1}[k]];
    assert_int_equal(mesh_build(m, LEAVES_POINTS, positions, 2 * LEAVES_QUADS, triangles, memory, NULL), CUTIS_OK);
}

static void mirrored_halves_and_coincident_sheets_are_parted(void **unused)
{
    (void)unused;
    leaf_place places[] = {leaf_lip, leaf_coincident};
    for (int i = 0; i < 2; i++) {
        arena memory = arena_create(NULL);
        mesh m;
        float positions[3 * LEAVES_POINTS];
        leaves_make(&m, &memory, places[i]);
        /* As it was modelled, edges meet edges exactly; anywhere else they cross. */
        int modelled = mesh_intersections(&m, m.positions, &memory);
        int turned = turned_intersections(&m, m.positions, &memory);
        contact_untangle_stats stats = untangle(&m, NULL, 2e-3f, &memory, positions);
        print_message("%s: %d pairs, %d when turned; %d points moved by %.2g\n", i ? "coincident sheets" : "lips",
                      modelled, turned, stats.moved, (double)stats.distance);
        assert_true(turned > modelled);
        assert_int_equal(stats.left, 0);
        assert_int_equal(mesh_intersections(&m, positions, &memory), 0);
        assert_int_equal(turned_intersections(&m, positions, &memory), 0);
        arena_destroy(&memory);
    }
}

static bool untangle_with(void *context, const cutis_allocator *allocator)
{
    const two_spheres *s = context;
    const contact_untangle_options options = {.touch = 2e-5f, .gap = 1e-4f, .limit = 0.005f};
    contact_untangle_stats stats;
    uint8_t parted[2 * SPHERE_POINTS];
    memcpy(s->end, s->m.positions, 2 * SPHERE_POINTS * 3 * sizeof(float));
    return contact_untangle(&s->m, &options, allocator, s->end, parted, &stats, NULL) == CUTIS_OK;
}

static void untangling_survives_every_failing_allocation(void **unused)
{
    (void)unused;
    two_spheres s;
    spheres_make(&s, 1.971f);
    assert_true(test_every_allocation(untangle_with, &s) > 0);
    arena_destroy(&s.memory);
}

static void primitives_know_their_distance(void **unused)
{
    (void)unused;
    const struct {
        cutis_prop prop;
        vec3 p, normal;
        float distance;
    } cases[] = {
        {{.shape = CUTIS_PROP_PLANE}, {3, -0.5f, 2}, {0, 1, 0}, -0.5f},
        {{.shape = CUTIS_PROP_SPHERE, .size = {2}}, {0, 0, 3}, {0, 0, 1}, 1},
        {{.shape = CUTIS_PROP_CAPSULE, .size = {0.5f, 1}}, {0, 2, 0}, {0, 1, 0}, 0.5f},
        {{.shape = CUTIS_PROP_CAPSULE, .size = {0.5f, 1}}, {0.25f, 0.7f, 0}, {1, 0, 0}, -0.25f},
        {{.shape = CUTIS_PROP_BOX, .size = {1, 2, 3}}, {0, 2.5f, 0}, {0, 1, 0}, 0.5f},
        {{.shape = CUTIS_PROP_BOX, .size = {1, 2, 3}}, {-0.75f, 0, 0}, {-1, 0, 0}, -0.25f},
        {{.shape = CUTIS_PROP_BOX, .size = {1, 1, 1}}, {4, 5, 1}, {0.6f, 0.8f, 0}, 5},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        contact_prop prop = {.source = &cases[i].prop};
        vec3 normal;
        assert_true(fabsf(contact_prop_distance(&prop, cases[i].p, 100, &normal) - cases[i].distance) < 1e-5f);
        assert_true(vec3_distance(normal, cases[i].normal) < 1e-5f);
    }
}

/* Points above a plate that moves up through them within one step: mesh and box alike catch them. */
static void props_catch_what_they_sweep(void **unused)
{
    (void)unused;
    static const float corners[] = {-1, 0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1};
    static const int faces[] = {0, 2, 1, 0, 3, 2};
    for (int shape = 0; shape < 2; shape++) {
        cutis_prop prop = {.name = "plate",
                           .role = CUTIS_PROP_COLLIDER,
                           .shape = shape ? CUTIS_PROP_BOX : CUTIS_PROP_MESH,
                           .size = {1, 0.01f, 1},
                           .friction = -1,
                           .restitution = -1,
                           .vertex_count = 4,
                           .triangle_count = 2,
                           .positions = corners,
                           .triangles = faces};
        cutis_character character = {.prop_count = 1, .props = &prop};
        arena memory = arena_create(NULL);
        contact_props props;
        const float origin[3] = {0, 0, 0}, start[3] = {0.2f, 0.5f, 0.1f};
        assert_int_equal(
            contact_props_build(&props, &character, CONTACT_COLLIDERS, 1, origin, 0.4f, 0.1f, &memory, NULL), CUTIS_OK);
        float before[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, after[12] = {1, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1, 0};
        contact_plane plane;
        int count = contact_props_search(&props, before, after, 0.01, 1, start, start, 0.05f, 0.01f, &plane, 1);
        assert_int_equal(count, 1);
        assert_true(plane.normal.y > 0.99f);
        assert_true(plane.offset > 1.9f && plane.offset < 2.1f);
        assert_true(fabsf(plane.velocity.y - 200) < 1);
        assert_true(plane.friction == 0.4f);
        arena_destroy(&memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection_reaches_the_gap_and_keeps_momentum),
        cmocka_unit_test(impact_times_are_never_late),
        cmocka_unit_test(impact_times_are_not_late_for_touching_features),
        cmocka_unit_test(sliding_features_do_not_hit),
        cmocka_unit_test(search_finds_what_brute_force_finds),
        cmocka_unit_test(renewed_search_equals_a_new_one),
        cmocka_unit_test(search_does_not_depend_on_threads),
        cmocka_unit_test(fast_bodies_do_not_tunnel),
        cmocka_unit_test(a_dip_on_the_way_is_lifted),
        cmocka_unit_test(restful_steps_are_left_alone),
        cmocka_unit_test(pruning_loses_no_impact),
        cmocka_unit_test(outlines_that_go_round_twice_are_no_height_fields),
        cmocka_unit_test(slivers_do_not_turn_over_behind_the_search),
        cmocka_unit_test(pruning_saves_nine_tenths_on_the_hand),
        cmocka_unit_test(small_overlaps_are_parted_and_large_ones_left),
        cmocka_unit_test(mirrored_halves_and_coincident_sheets_are_parted),
        cmocka_unit_test(untangling_survives_every_failing_allocation),
        cmocka_unit_test(primitives_know_their_distance),
        cmocka_unit_test(props_catch_what_they_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
