/* Crossings of the drawn mesh: shallow ones are parted, what is modelled or not flesh stays. */
#include "testing.h"

#include "character/skinning.h"
#include "show/crossings.h"

enum { SIDE = 9, PLATE = SIDE * SIDE, POINTS = 2 * PLATE, TRIANGLES = 4 * (SIDE - 1) * (SIDE - 1), MIDDLE = PLATE / 2 };

/* Two plates of 1 x 1 that face each other, 0.1 apart. */
typedef struct plates {
    float positions[3 * POINTS], skinned[3 * POINTS], points[3 * POINTS];
    int triangles[3 * TRIANGLES];
    arena memory;
    mesh mesh;
    crossing_repair repair;
    float *scratch;
} plates;

static void plates_shape(plates *p)
{
    int count = 0;
    for (int i = 0; i < POINTS; i++) {
        float *x = p->positions + 3 * (size_t)i;
        x[0] = (float)(i % PLATE % SIDE) / (SIDE - 1);
        x[1] = (float)(i % PLATE / SIDE) / (SIDE - 1);
        x[2] = i < PLATE ? 0 : 0.1f;
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < PLATE; i++) {
            if (i % SIDE == SIDE - 1 || i / SIDE == SIDE - 1) continue;
            int c[4] = {i, i + 1, i + 1 + SIDE, i + SIDE};
            const int order[2][6] = {{0, 1, 2, 0, 2, 3}, {0, 2, 1, 0, 3, 2}};
            for (int e = 0; e < 6; e++) p->triangles[count++] = c[order[k][e]] + k * PLATE;
        }
}

/* Built from their positions; shown there, and skinned beside it, so that all is flesh. */
static void plates_build(plates *p)
{
    cutis_error error;
    p->memory = arena_create(NULL);
    assert_int_equal(mesh_build(&p->mesh, POINTS, p->positions, TRIANGLES, p->triangles, &p->memory, &error), CUTIS_OK);
    assert_int_equal(crossings_build(&p->repair, &p->mesh, NULL, &p->memory, &error), CUTIS_OK);
    p->scratch = ARENA_ARRAY(&p->memory, float, crossings_scratch_count(&p->repair));
    assert_non_null(p->scratch);
    memcpy(p->points, p->positions, sizeof p->points);
    for (int i = 0; i < 3 * POINTS; i++) p->skinned[i] = p->positions[i] + 0.01f;
}

static int crossings(const mesh *m, const float *points)
{
    arena memory = arena_create(NULL);
    bvh tree;
    cutis_error error;
    assert_int_equal(bvh_build(&tree, m->triangle_count, m->triangles, points, &memory, &error), CUTIS_OK);
    int count = mesh_self_intersections(m, &tree, points, NULL, NULL, 0);
    arena_destroy(&memory);
    return count;
}

static int plates_crossings(const plates *p) { return crossings(&p->mesh, p->points); }

static int plates_run(plates *p)
{
    return crossings_separate(&p->repair, p->skinned, 1.42f, p->scratch, NULL, p->points);
}

static float way(const plates *p, const float *from)
{
    float most = 0;
    for (int i = 0; i < POINTS; i++)
        most = fmaxf(most, vec3_distance(vec3_load(p->points + 3 * i), vec3_load(from + 3 * i)));
    return most;
}

static void shallow_crossings_are_parted(void **state)
{
    (void)state;
    plates p;
    plates_shape(&p);
    plates_build(&p);

    /* nothing crosses, nothing moves */
    assert_int_equal(plates_run(&p), 0);
    assert_memory_equal(p.points, p.positions, sizeof p.points);

    /* a point of the upper plate dips through the lower one */
    p.points[3 * (PLATE + MIDDLE) + 2] = -0.003f;
    float before[3 * POINTS];
    memcpy(before, p.points, sizeof before);
    assert_true(plates_crossings(&p) > 0);
    assert_true(plates_run(&p) > 0);
    assert_int_equal(plates_crossings(&p), 0);
    assert_true(way(&p, before) < 0.006f);

    /* what is not around it stays */
    assert_memory_equal(p.points, before, 2 * 3 * SIDE * sizeof(float));
    arena_destroy(&p.memory);
}

static void what_is_not_flesh_stays(void **state)
{
    (void)state;
    plates p;
    plates_shape(&p);
    plates_build(&p);
    p.points[3 * (PLATE + MIDDLE) + 2] = -0.003f;
    memcpy(p.skinned, p.points, 3 * PLATE * sizeof(float)); /* the lower plate is where skinning has it */
    assert_true(plates_run(&p) > 0);
    assert_int_equal(plates_crossings(&p), 0);
    assert_memory_equal(p.points, p.skinned, 3 * PLATE * sizeof(float));

    /* both are: nothing moves */
    p.points[3 * (PLATE + MIDDLE) + 2] = -0.003f;
    memcpy(p.skinned, p.points, sizeof p.points);
    assert_int_equal(plates_run(&p), 0);
    assert_memory_equal(p.points, p.skinned, sizeof p.points);
    arena_destroy(&p.memory);
}

static void what_crosses_at_rest_stays(void **state)
{
    (void)state;
    plates p;
    plates_shape(&p);
    p.positions[3 * (PLATE + MIDDLE) + 2] = -0.003f;
    plates_build(&p);
    assert_true(p.repair.rest_count > 0);
    assert_int_equal(plates_run(&p), 0);
    assert_memory_equal(p.points, p.positions, sizeof p.points);

    /* but not where skinning takes it out */
    p.skinned[3 * (PLATE + MIDDLE) + 2] = 0.05f;
    assert_true(plates_run(&p) > 0);
    assert_int_equal(plates_crossings(&p), 0);
    arena_destroy(&p.memory);
}

static void crossings_of_other_pieces_stay_where_skinning_has_them(void **state)
{
    (void)state;
    plates p;
    plates_shape(&p);
    plates_build(&p);
    p.points[3 * (PLATE + MIDDLE) + 2] = -0.003f;
    for (int i = 0; i < 3 * POINTS; i++) p.skinned[i] = p.points[i] + 0.01f;
    assert_int_equal(plates_run(&p), 0);
    arena_destroy(&p.memory);
}

static void nothing_goes_far(void **state)
{
    (void)state;
    plates p;
    plates_shape(&p);
    plates_build(&p);

    /* the plates pass through each other, askew */
    for (int i = PLATE; i < POINTS; i++) p.points[3 * i + 2] = 0.1f * (p.points[3 * i] - 0.47f);
    float before[3 * POINTS];
    memcpy(before, p.points, sizeof before);
    const float size = 0.2f; /* so that the way that is allowed is shorter than what parting takes */
    assert_true(crossings_separate(&p.repair, p.skinned, size, p.scratch, NULL, p.points) > 0);
    assert_true(way(&p, before) <= 0.01001f * size);
    arena_destroy(&p.memory);
}

/* Drawn triangles of a coarse character cross no more than under linear skinning, in every frame. */
static void a_run_crosses_no_more_than_skinning(void **state)
{
    (void)state;
    const char *path = test_model("khronos-Fox/Fox.glb");
    if (!path) skip();
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);

    /* the drawn mesh, by points, and its skinning */
    arena memory = arena_create(NULL);
    cutis_error error;
    mesh m;
    skinning own;
    assert_int_equal(mesh_build_character(&m, c, &memory, &error), CUTIS_OK);
    assert_int_equal(skinning_build_points(&own, c, &memory, &memory, &error), CUTIS_OK);
    size_t bytes = 3 * (size_t)c->point_count * sizeof(float);
    float *points = arena_push(&memory, 1, bytes), *linear = arena_push(&memory, 1, bytes);
    float *joints = ARENA_ARRAY(&memory, float, 12 * (size_t)c->joint_count);
    float *skin = ARENA_ARRAY(&memory, float, 12 * (size_t)c->joint_count);
    float *scratch = ARENA_ARRAY(&memory, float, skinning_scratch_count(&own));
    assert_false(memory.failed);

    /* six frames of the clip that folds it most */
    cutis_model_def def = cutis_model_def_default();
    def.character = c;
    def.solver = "layers";
    def.detail = 1500;
    cutis_model *model = NULL;
    cutis_state *s = NULL;
    assert_int_equal(cutis_model_build(&def, &model, &error), CUTIS_OK);
    assert_int_equal(cutis_state_create(model, NULL, &s, &error), CUTIS_OK);
    cutis_clip_motion motion = {c, cutis_character_find_clip(c, "Run"), 0.2};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    int sums[2] = {0, 0};
    for (int frame = 0; frame < 6; frame++) {
        double time = motion.lead_in + frame / 30.0;
        cutis_state_step(model, s, &input, time - cutis_state_time(s));
        for (int p = 0; p < c->point_count; p++)
            memcpy(points + 3 * p, cutis_state_positions(model, s) + 3 * c->point_vertices[p], 3 * sizeof(float));
        cutis_clip_motion_sample(&motion, time, joints);
        skin_matrices(c, joints, skin);
        skinning_linear(&own, skin, scratch, NULL, linear);

        int counts[2] = {crossings(&m, points), crossings(&m, linear)};
        print_message("frame %d: %d pairs, linear skinning %d\n", frame, counts[0], counts[1]);
        assert_true(counts[0] <= counts[1]);
        for (int k = 0; k < 2; k++) sums[k] += counts[k];
    }
    assert_true(2 * sums[0] < sums[1]);

    cutis_state_destroy(s);
    cutis_model_destroy(model);
    arena_destroy(&memory);
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shallow_crossings_are_parted),
        cmocka_unit_test(what_is_not_flesh_stays),
        cmocka_unit_test(what_crosses_at_rest_stays),
        cmocka_unit_test(crossings_of_other_pieces_stay_where_skinning_has_them),
        cmocka_unit_test(nothing_goes_far),
        cmocka_unit_test(a_run_crosses_no_more_than_skinning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
