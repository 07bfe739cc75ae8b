/*
 * test_curves_triangles.c: curves around limbs on meshes of triangles, and the in-betweens that solver `curves` makes
 * of them: the zoo's bodies cut into triangles, and models from elsewhere.
 */
#include "curves_stage.h"

#include "character/skinning.h"
#include "limbs/level_rings.h"

/* A zoo character whose faces are triangles. */
static cutis_character *triangulated(const char *name, double resolution)
{
    cutis_character *cut;
    cutis_error error;
    cutis_character *c = test_zoo(name, resolution);
    cutis_character given = *c;
    int *first = malloc(((size_t)c->triangle_count + 1) * sizeof *first);
    for (int t = 0; t <= c->triangle_count; t++) first[t] = 3 * t;
    given.face_count = c->triangle_count;
    given.face_first = first;
    given.corners = c->triangles;
    given.texcoords = NULL;
    given.part_count = 0;
    given.parts = NULL;
    assert_int_equal(cutis_character_create(&given, NULL, &cut, &error), CUTIS_OK);
    free(first);
    cutis_character_destroy(c);
    return cut;
}

/* NULL with a message when the model is not there. */
static cutis_character *model(const char *name)
{
    const char *path = test_model(name);
    cutis_character *c = NULL;
    cutis_error error;
    if (path && cutis_character_load(path, NULL, &c, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return c;
}

static const struct {
    const char *name;
    bool zoo;
    int clip;
} BODIES[] = {{"arm", true, 0},
              {"cat", true, 0},
              {"khronos-CesiumMan/CesiumMan.glb", false, 0},
              {"khronos-Fox/Fox.glb", false, 0},
              {"mesh2motion-horse/horse.glb", false, 0},
              {"mesh2motion-kaiju/kaiju.glb", false, 0},
              {"webxr-generic-hand/left.glb", false, -1}};

static cutis_character *body(int i) { return BODIES[i].zoo ? triangulated(BODIES[i].name, 1) : model(BODIES[i].name); }

static void curves_run_over_edges_and_visit_points_once(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(BODIES); i++) {
        cutis_character *c = body(i);
        if (!c) continue;
        arena memory = arena_create(NULL);
        cutis_error error;
        mesh m;
        quads q = {0};
        rings r;
        assert_int_equal(mesh_build_character(&m, c, &memory, &error), CUTIS_OK);
        assert_int_equal(quads_build(&q, c, &memory, &error), CUTIS_OK);
        assert_int_equal(rings_reserve(&q, &m, &memory, &r, &error), CUTIS_OK);
        rings_trace(&q, &m, (vec3){0, 0, 0}, c->size, &r);
        assert_int_equal(r.count, 0);
        assert_int_equal(level_rings_trace(&m, c->size, &memory, &r, &error), CUTIS_OK);
        rings_check(&m, &r, 5, &memory);
        double share = r.count ? (double)r.first[r.count] / m.point_count : 0;
        print_message("%-34s %5d points, %3d curves through %.0f %% of them\n", BODIES[i].name, m.point_count, r.count,
                      100 * share);
        assert_true(r.count >= 10 && share > 0.3);
        arena_destroy(&memory);
        cutis_character_destroy(c);
    }
}

/* The longest edge over what it is at the longer of both ends. */
static double longest_stretch(const cutis_character *c, const float *a, const float *b, const float *between)
{
    double worst = 0;
    for (int t = 0; t < c->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            int p = c->triangles[3 * t + k], q = c->triangles[3 * t + (k + 1) % 3];
            const float *shapes[3] = {a, b, between};
            double lengths[3];
            for (int i = 0; i < 3; i++) {
                lengths[i] = 0;
                for (int x = 0; x < 3; x++) {
                    double d = (double)shapes[i][3 * p + x] - shapes[i][3 * q + x];
                    lengths[i] += d * d;
                }
            }
            double ends = fmax(lengths[0], lengths[1]);
            if (ends > 1e-8 * c->size * c->size) worst = fmax(worst, sqrt(lengths[2] / ends));
        }
    return worst;
}

/* Ends, volume and edges between the rest pose and the middle of a clip. Returns whether curves keep the volume best.
 */
static bool between_check(const cutis_character *c, const char *name, int clip)
{
    char number[16];
    snprintf(number, sizeof number, "%d", clip);
    const cutis_setting settings[] = {{"clip", number}, {"examples", "2"}};
    runner all[3] = {runner_make(c, "curves", settings, 2), runner_make(c, "lbs", NULL, 0),
                     runner_make(c, "dqs", NULL, 0)};
    size_t count = 3 * (size_t)c->vertex_count;
    float *joints = malloc(12 * (size_t)c->joint_count * sizeof *joints), *blend = malloc(count * sizeof *blend);
    float *ends[2] = {malloc(count * sizeof **ends), malloc(count * sizeof **ends)};
    double middle = 0.5 * (c->clips[clip].start + c->clips[clip].end), sums[4] = {0}, stretch = 0, off = 0, even[2];
    assert_true(cutis_model_get_info(all[0].model).element_count > 0); /* curves */
    for (int e = 0; e < 2; e++) {
        if (e)
            cutis_pose_sample(c, clip, middle, joints);
        else
            cutis_pose_rest(c, joints);
        memcpy(ends[e], runner_pose(&all[0], joints), count * sizeof **ends);
        const float *exact = runner_pose(&all[1], joints);
        for (size_t i = 0; i < count; i++) off = fmax(off, fabs((double)ends[e][i] - exact[i]));
        even[e] = mesh_volume(c->triangle_count, c->triangles, ends[e]);
    }
    assert_true(off < 1e-6 * c->size);
    for (int place = 1; place < 4; place++) {
        float t = 0.25f * (float)place;
        double target = even[0] + (even[1] - even[0]) * (double)t;
        for (size_t i = 0; i < count; i++) blend[i] = ends[0][i] + t * (ends[1][i] - ends[0][i]);
        cutis_pose_blend(c, clip, middle, t, joints);
        for (int k = 0; k < 4; k++) {
            const float *shape = k < 3 ? runner_pose(&all[k], joints) : blend;
            sums[k] += 100 * fabs(mesh_volume(c->triangle_count, c->triangles, shape) / target - 1) / 3;
            if (k == 0) stretch = fmax(stretch, longest_stretch(c, ends[0], ends[1], shape));
        }
    }
    print_message("%-34s ends %.1e  volume off by %.3f %%, lbs %.3f, dqs %.3f, blend %.3f  longest edge %.2f\n", name,
                  off / c->size, sums[0], sums[1], sums[2], sums[3], stretch);
    assert_true(stretch < 1.5); /* no cracks, no spikes */
    for (int e = 0; e < 2; e++) free(ends[e]);
    free(joints), free(blend);
    for (int k = 0; k < 3; k++) runner_free(&all[k]);
    return sums[0] < sums[1] && sums[0] < sums[2] && sums[0] < sums[3];
}

static void in_betweens_of_triangles_meet_their_ends_and_keep_volume(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(BODIES); i++) {
        cutis_character *c = BODIES[i].clip >= 0 ? body(i) : NULL;
        if (!c) continue;
        bool best = between_check(c, BODIES[i].name, BODIES[i].clip);
        assert_true(best);
        cutis_character_destroy(c);
    }
}

static void building_survives_every_failed_allocation(void **state)
{
    cutis_character *arm = triangulated("arm", 0.3);
    (void)state;
    cutis_model_def def = {.character = arm, .solver = "curves"};
    cutis_model *model = test_build_def(def);
    assert_true(cutis_model_get_info(model).element_count > 0);
    cutis_model_destroy(model);
    print_message("%ld allocations\n", test_every_allocation(test_build_and_step, &def));
    cutis_character_destroy(arm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_run_over_edges_and_visit_points_once),
        cmocka_unit_test(in_betweens_of_triangles_meet_their_ends_and_keep_volume),
        cmocka_unit_test(building_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
