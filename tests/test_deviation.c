/* Bounds of what is shown against linear skinning: what keeps them is left alone, what breaks them falls back. */
#include "testing.h"

#include "random_pose.h"
#include "show/deviation.h"

typedef struct stage {
    cutis_character *character;
    arena memory;
    mesh mesh;
    drawn_cracks cracks;
    skinning skinning;
    deviation_bound bound;
    float *joints, *skin, *scratch, *linear, *dual, *points; /* linear, dual: skinned places; points: what is shown */
} stage;

/* Skinning in the pose of the stage's joints; the points are where linear skinning has them. */
static void stage_pose(stage *s)
{
    skin_matrices(s->character, s->joints, s->skin);
    skinning_linear(&s->skinning, s->skin, s->scratch, NULL, s->linear);
    skinning_dual(&s->skinning, s->skin, s->scratch, NULL, s->dual);
    memcpy(s->points, s->linear, 3 * (size_t)s->mesh.point_count * sizeof(float));
}

/* A character of the zoo, or the tube (NULL), at a part of a clip. */
static void stage_make(stage *s, const char *name, const char *clip, double resolution, double part)
{
    *s = (stage){0};
    cutis_error error;
    cutis_result made =
        name ? cutis_zoo_make(name, resolution, NULL, &s->character, &error) : test_tube(NULL, &s->character, &error);
    assert_int_equal(made, CUTIS_OK);
    s->memory = arena_create(NULL);
    const cutis_character *c = s->character;
    assert_int_equal(mesh_build_character(&s->mesh, c, &s->memory, &error), CUTIS_OK);
    assert_int_equal(cracks_close(&s->cracks, c, &s->mesh, &s->memory, &error), CUTIS_OK);
    arena scratch = arena_create(NULL);
    assert_int_equal(skinning_build_points(&s->skinning, c, &scratch, &s->memory, &error), CUTIS_OK);
    arena_destroy(&scratch);
    assert_int_equal(deviation_build(&s->bound, c, &s->cracks, &s->skinning, &s->memory, &error), CUTIS_OK);
    s->skin = ARENA_ARRAY(&s->memory, float, 12 * (size_t)c->joint_count);
    s->scratch = ARENA_ARRAY(&s->memory, float, deviation_scratch_count(&s->bound));
    float **places[3] = {&s->linear, &s->dual, &s->points};
    for (int i = 0; i < 3; i++) *places[i] = ARENA_ARRAY(&s->memory, float, 3 * (size_t)c->point_count);

    /* the pose */
    s->joints = ARENA_ARRAY(&s->memory, float, 12 * (size_t)c->joint_count);
    assert_false(s->memory.failed);
    int index = cutis_character_find_clip(c, clip);
    cutis_pose_sample(c, index, c->clips[index].start + part * (c->clips[index].end - c->clips[index].start),
                      s->joints);
    stage_pose(s);
}

static void stage_end(stage *s)
{
    arena_destroy(&s->memory);
    cutis_character_destroy(s->character);
}

static float apart(const float *x, int a, int b) { return vec3_distance(vec3_load(x + 3 * a), vec3_load(x + 3 * b)); }

/* The diagonal of what linear skinning shows: random poses are larger than the rest pose. */
static float frame_size(const stage *s)
{
    vec3 low = vec3_load(s->linear), high = low;
    for (int p = 1; p < s->mesh.point_count; p++) {
        low = vec3_min(low, vec3_load(s->linear + 3 * p));
        high = vec3_max(high, vec3_load(s->linear + 3 * p));
    }
    return MAX(vec3_distance(low, high), s->character->size);
}

/* Times that a pair is as far apart as it may be, over all pairs the most. */
static float tear_most(const stage *s)
{
    float most = 0, speck = 1e-3f * frame_size(s);
    for (int i = 0; i < s->bound.pair_count; i++) {
        int a = s->bound.pairs[2 * i], b = s->bound.pairs[2 * i + 1];
        float bound = 2.5f * MAX(apart(s->linear, a, b), s->bound.spans[i]) + speck;
        most = MAX(most, apart(s->points, a, b) / bound);
    }
    return most;
}

static deviation_stats limit(stage *s)
{
    deviation_frame frame = {.skin = s->skin, .skinned = s->linear, .size = frame_size(s), .amount = 1};
    return deviation_limit(&s->bound, &frame, s->scratch, NULL, s->points);
}

static void smooth_flesh_is_left_alone_to_the_bit(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, "man", "walk", 0.3, 0.5);
    size_t bytes = 3 * (size_t)s.mesh.point_count * sizeof(float);
    float *before = ARENA_ARRAY(&s.memory, float, 3 * (size_t)s.mesh.point_count);

    /* a swing of 5 % of the size, over a tenth of it */
    float wave = 2 * 3.14159265f / (0.1f * s.character->size);
    for (int p = 0; p < s.mesh.point_count; p++)
        s.points[3 * p] += 0.05f * s.character->size * (0.5f + 0.5f * sinf(0.2f * wave * s.linear[3 * p + 1]));
    memcpy(before, s.points, bytes);
    deviation_stats stats = limit(&s);
    assert_int_equal(stats.points, 0);
    assert_int_equal(stats.worst, -1);
    assert_memory_equal(before, s.points, bytes);
    stage_end(&s);
}

static void a_torn_place_comes_back_and_the_rest_stays(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, "man", "walk", 0.3, 0.5);
    float size = s.character->size;
    int torn = s.mesh.point_count / 3;
    s.points[3 * torn + 2] += 0.05f * size;
    float *before = ARENA_ARRAY(&s.memory, float, 3 * (size_t)s.mesh.point_count);
    memcpy(before, s.points, 3 * (size_t)s.mesh.point_count * sizeof(float));
    assert_true(tear_most(&s) > 1.2f);
    deviation_stats stats = limit(&s);
    assert_int_equal(stats.worst, torn);
    assert_true(tear_most(&s) <= 1.001f);

    /* it keeps what is allowed of its way, and nothing else moved, for nothing else deviates */
    assert_true(s.points[3 * torn + 2] > s.linear[3 * torn + 2] + 0.001f * size);
    for (int p = 0; p < s.mesh.point_count; p++)
        if (p != torn) assert_memory_equal(before + 3 * p, s.points + 3 * p, 3 * sizeof(float));
    stage_end(&s);
}

/* A torn point amid flesh that deviates as a whole: the flesh around it keeps its deviation. */
static void a_torn_place_does_not_move_the_flesh_around_it(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, "man", "walk", 0.3, 0.5);
    float size = s.character->size;
    int torn = s.mesh.point_count / 3;
    for (int p = 0; p < s.mesh.point_count; p++) s.points[3 * p + 2] += 0.04f * size;
    s.points[3 * torn + 2] += 0.05f * size;
    limit(&s);
    assert_true(tear_most(&s) <= 1.001f);

    int moved = 0;
    for (int p = 0; p < s.mesh.point_count; p++)
        moved += fabsf(s.points[3 * p + 2] - s.linear[3 * p + 2] - 0.04f * size) > 1e-4f * size;
    assert_true(moved >= 1 && moved <= 40);
    stage_end(&s);
}

static void explosions_of_any_kind_end_within_the_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *name, *clip;
        double resolution;
    } scenes[] = {{"man", "walk", 0.3}, {"hand", "fist", 0.25}, {"arm", "twist", 0.2}, {"cat", "walk", 0.3}};
    seed = 7;
    for (int k = 0; k < 4; k++) {
        stage s;
        stage_make(&s, scenes[k].name, scenes[k].clip, scenes[k].resolution, 0.5);
        float size = s.character->size;
        for (int round = 0; round < 8; round++) {
            /* a pose of the clip, then poses that no animator would make */
            if (round > 0) pose_random(s.character, s.joints);
            stage_pose(&s);

            /* some points, each by itself, as far as half the size; then a shift of all */
            float share = uniform(0, 1), length = uniform(0, 0.5f) * size, shift = uniform(0, 0.2f) * size;
            for (int i = 0; i < 3 * s.mesh.point_count; i++) s.points[i] = s.linear[i] + shift;
            for (int p = 0; p < s.mesh.point_count; p++)
                for (int e = 0; e < 3; e++)
                    if (uniform(0, 1) < share) s.points[3 * p + e] += uniform(-length, length);
            limit(&s);
            assert_true(tear_most(&s) <= 1.001f);
            for (int p = 0; p < s.mesh.point_count; p++) {
                float away = vec3_distance(vec3_load(s.points + 3 * p), vec3_load(s.linear + 3 * p));
                float slack = vec3_distance(vec3_load(s.dual + 3 * p), vec3_load(s.linear + 3 * p));
                assert_true(away <= 0.0801f * frame_size(&s) + slack);
            }
        }
        stage_end(&s);
    }
}

/* A patch that moves away, and one point of it that moves further: the drawn points follow without jumps. */
static void bounds_take_hold_without_jumps(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, "man", "walk", 0.3, 0.5);
    const float size = s.character->size, step = 2e-4f;
    int centre = s.mesh.point_count / 3, limited = 0;
    size_t count = 3 * (size_t)s.mesh.point_count;
    float *before = ARENA_ARRAY(&s.memory, float, count), jump = 0;

    for (int i = 0; i <= 300; i++) {
        float way = (float)i * step * size;
        for (int p = 0; p < s.mesh.point_count; p++) {
            float near = 1 - apart(s.mesh.positions, p, centre) / (0.1f * size);
            memcpy(s.points + 3 * (size_t)p, s.linear + 3 * (size_t)p, 3 * sizeof(float));
            s.points[3 * (size_t)p] += way * (p == centre ? 1.5f : MAX(near, 0));
        }
        limited += limit(&s).points > 0;
        for (size_t k = 0; k < count && i > 0; k++) jump = MAX(jump, fabsf(before[k] - s.points[k]));
        memcpy(before, s.points, count * sizeof(float));
    }

    print_message("%d of 301 steps are bounded; jumps of %.3g steps\n", limited, (double)(jump / (step * size)));
    assert_true(limited > 100 && limited < 301);
    assert_true(jump < 4 * step * size);
    stage_end(&s);
}

static void a_twist_that_skinning_collapses_keeps_its_volume(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, NULL, "twist", 1, 0.9);
    size_t bytes = 3 * (size_t)s.mesh.point_count * sizeof(float);
    memcpy(s.points, s.dual, bytes);
    float furthest = 0;
    for (int p = 0; p < s.mesh.point_count; p++)
        furthest = MAX(furthest, vec3_distance(vec3_load(s.dual + 3 * p), vec3_load(s.linear + 3 * p)));
    assert_true(furthest > 0.08f * s.character->size); /* or the test shows nothing */
    assert_int_equal(limit(&s).points, 0);
    assert_memory_equal(s.dual, s.points, bytes);
    stage_end(&s);
}

/* A pose that never changes, as a motion. */
typedef struct still {
    const float *joints;
    size_t bytes;
} still;

static void still_sample(void *context, double time, float *joints)
{
    const still *s = context;
    (void)time;
    memcpy(joints, s->joints, s->bytes);
}

/* A cylinder whose bones are torn apart, further than flesh follows within a frame. */
typedef struct thrown {
    cutis_character *character;
    cutis_model *model;
    cutis_state *state;
    still pose;
    cutis_step_input input;
} thrown;

static void thrown_make(thrown *t)
{
    cutis_error error;
    assert_int_equal(cutis_zoo_make("cylinder", 0.25, NULL, &t->character, &error), CUTIS_OK);
    cutis_model_def def = cutis_model_def_default();
    cutis_character *c = t->character;
    def.character = c;
    def.solver = "layers";
    assert_int_equal(cutis_model_build(&def, &t->model, &error), CUTIS_OK);
    assert_int_equal(cutis_state_create(t->model, NULL, &t->state, &error), CUTIS_OK);

    int clip = cutis_character_find_clip(c, "twist");
    float *joints = malloc(12 * (size_t)c->joint_count * sizeof(float));
    cutis_pose_sample(c, clip, c->clips[clip].start + 0.3 * (c->clips[clip].end - c->clips[clip].start), joints);
    for (int j = 1; j < c->joint_count; j++) joints[12 * j + 7] += 20 * c->size;
    t->pose = (still){joints, 12 * (size_t)c->joint_count * sizeof(float)};
    t->input = (cutis_step_input){.motion = {&t->pose, still_sample}};
}

static void thrown_free(thrown *t)
{
    free((void *)t->pose.joints);
    cutis_state_destroy(t->state);
    cutis_model_destroy(t->model);
    cutis_character_destroy(t->character);
}

/* The most points that fall back while the character is thrown from rest into the pose; positions at the end. */
static int thrown_run(thrown *t, float *positions)
{
    int most = 0;
    cutis_state_reset(t->model, t->state, NULL);
    for (int i = 0; i < 4; i++) {
        cutis_state_step(t->model, t->state, &t->input, 1.0 / 60);
        most = MAX(most, cutis_state_stats(t->model, t->state)->limited);
    }
    memcpy(positions, cutis_state_positions(t->model, t->state),
           3 * (size_t)t->character->vertex_count * sizeof(float));
    return most;
}

/* The largest distance between two results, over the size. */
static double difference(const cutis_character *c, const float *a, const float *b)
{
    double most = 0;
    for (int i = 0; i < 3 * c->vertex_count; i++) most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most / (double)c->size;
}

/* Bounds hold under forces, which widen them by what they can move: a tiny force is as good as none. */
static void tiny_forces_leave_the_bounds_as_they_are(void **state)
{
    (void)state;
    thrown t;
    thrown_make(&t);
    size_t bytes = 3 * (size_t)t.character->vertex_count * sizeof(float);
    float *free_of = malloc(bytes), *forced = malloc(bytes);
    int limited = thrown_run(&t, free_of);
    assert_true(limited > 0);

    /* each kind of force by itself */
    float place[3];
    memcpy(place, t.character->positions, sizeof place);
    cutis_impulse blow = {.place = {place[0], place[1], place[2]}, .velocity = {0, -1e-5f, 0}, .radius = 0.1f};
    for (int kind = 0; kind < 3; kind++) {
        t.input.acceleration[1] = kind == 0 ? -1e-5f : 0;
        t.input.wind[1] = kind == 1 ? -1e-5f : 0;
        t.input.impulses = &blow;
        t.input.impulse_count = kind == 2;
        int count = thrown_run(&t, forced);
        double moved = difference(t.character, free_of, forced);
        print_message("force %d: %d points fall back, %d without; %.2g of the size apart\n", kind, count, limited,
                      moved);
        assert_true(abs(count - limited) <= limited / 50 + 1);
        assert_true(moved < 1e-3);
    }

    /* gravity keeps the bounds */
    t.input = (cutis_step_input){.motion = t.input.motion, .acceleration = {0, -9.81f, 0}};
    int heavy = thrown_run(&t, forced);
    print_message("gravity: %d points fall back\n", heavy);
    assert_true(heavy > limited / 2);
    free(free_of);
    free(forced);
    thrown_free(&t);
}

/*
 * A drag moves its vertex further than the bounds of free flesh, and when it ends, what is shown is what the solver has
 * at once: the bounds come back slower than the flesh does.
 */
static void dragged_vertices_reach_their_target_and_come_back_without_a_jump(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("cylinder", 0.25);
    cutis_model_def def = cutis_model_def_default();
    def.character = c;
    def.solver = "layers";
    cutis_model *bounded = test_build_def(def);
    def.detail = CUTIS_DETAIL_DRAWN;
    cutis_model *plain = test_build_def(def);
    cutis_state *shown = test_state(bounded, NULL), *simulated = test_state(plain, NULL);

    /* the vertex furthest from the axis near the middle, drawn out by a tenth of the size */
    int vertex = 0;
    float middle = 0.5f * (c->bounds_min[1] + c->bounds_max[1]);
    for (int v = 0; v < c->vertex_count; v++)
        if (fabsf(c->positions[3 * v + 1] - middle) < fabsf(c->positions[3 * vertex + 1] - middle)) vertex = v;
    cutis_drag drag = {.vertex = vertex, .strength = 1};
    for (int k = 0; k < 3; k++) drag.target[k] = c->positions[3 * vertex + k];
    vec3 out = vec3_normalize(vec3_make(drag.target[0], 0, drag.target[2]));
    for (int k = 0; k < 3; k += 2) drag.target[k] += 0.1f * c->size * (k == 0 ? out.x : out.z);

    double most = 0;
    float before = 0;
    for (int f = 0; f < 40; f++) {
        cutis_step_input input = {.drags = &drag, .drag_count = f < 20};
        cutis_state_step(bounded, shown, &input, 1 / 60.0);
        cutis_state_step(plain, simulated, &input, 1 / 60.0);
        const float *a = cutis_state_positions(bounded, shown), *b = cutis_state_positions(plain, simulated);
        most = fmax(most, difference(c, a, b));
        if (f == 19) before = vec3_distance(vec3_load(a + 3 * vertex), vec3_load(drag.target)) / c->size;
    }
    print_message("dragged: %.3g of the size from its target, shown %.3g from the solver's\n", (double)before, most);
    assert_true((double)before < 0.02);
    assert_true(most < 0.01);
    cutis_state_destroy(shown);
    cutis_state_destroy(simulated);
    cutis_model_destroy(bounded);
    cutis_model_destroy(plain);
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_flesh_is_left_alone_to_the_bit),
        cmocka_unit_test(a_torn_place_comes_back_and_the_rest_stays),
        cmocka_unit_test(a_torn_place_does_not_move_the_flesh_around_it),
        cmocka_unit_test(explosions_of_any_kind_end_within_the_bounds),
        cmocka_unit_test(bounds_take_hold_without_jumps),
        cmocka_unit_test(a_twist_that_skinning_collapses_keeps_its_volume),
        cmocka_unit_test(tiny_forces_leave_the_bounds_as_they_are),
        cmocka_unit_test(dragged_vertices_reach_their_target_and_come_back_without_a_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
