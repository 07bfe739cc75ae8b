/*
 * Solver layers, mechanism by mechanism: sub-volumes, velocities without divergence, oriented particles, contact within
 * the loop, friction and restitution. Each test fails when its mechanism is taken out (scripts/mutants.sh does so).
 */
#include "testing.h"

#include "bar.h"
#include "engine/model_object.h"
#include "math/math3.h"
#include "solvers/layers/layers.h"

/* ---- volumes ---- */

/* The largest error of a sub-volume, as the solver tells it. */
static double volume_error(const cutis_model *model, const cutis_state *state)
{
    cutis_output output;
    assert_true(cutis_state_output(model, state, "volume", &output));
    const float *values = output.values;
    double worst = 0;
    for (int v = 0; v < output.count; v++) worst = fmax(worst, fabs((double)values[v]));
    return worst;
}

/* The strongest bends of the built-in characters. */
static const struct {
    const char *name, *clip;
    double resolution;
} bends[] = {{"arm", "flex", 0.3}, {"hand", "fist", 0.2}};

/* Each piece keeps its own volume in the strongest bends, by default to half a percent. */
static void every_sub_volume_is_kept(void **unused)
{
    (void)unused;
    test_is_heavy();
    for (int i = 0; i < COUNT_OF(bends); i++) {
        cutis_character *c = test_zoo(bends[i].name, bends[i].resolution);
        cutis_model *model = test_build_def((cutis_model_def){.character = c, .solver = "layers"});
        cutis_state *state = test_state(model, NULL);
        cutis_clip_motion motion = {c, cutis_character_find_clip(c, bends[i].clip), 0.25};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
        double worst = 0;
        int contacts = 0;
        for (int f = 0; f < 36; f++) {
            cutis_state_step(model, state, &input, 1 / 24.0);
            worst = fmax(worst, volume_error(model, state));
            contacts += cutis_state_stats(model, state)->contacts;
        }
        print_message("%s %s: a sub-volume is off by %.3f %% at most, %d contacts press\n", bends[i].name,
                      bends[i].clip, 100 * worst, contacts);
        assert_true(worst < 0.005);
        assert_true(contacts > 100); /* within the loop, not only in the end */
        cutis_state_destroy(state);
        cutis_model_destroy(model);
        cutis_character_destroy(c);
    }
}

/* A clip that stops at a time. */
typedef struct stopped {
    cutis_clip_motion motion;
    double at;
} stopped;

static void stopped_sample(void *context, double time, float *joints)
{
    const stopped *s = context;
    cutis_clip_motion_sample((void *)&s->motion, fmin(time, s->at), joints);
}

/* The furthest that a vertex moves in a frame of the last half second, over the size: the flexed arm is held still. */
static double held_motion(const cutis_character *c, const char *fat_stiffness)
{
    cutis_setting setting = {"fat_stiffness", fat_stiffness};
    cutis_model *model =
        test_build_def((cutis_model_def){.character = c, .solver = "layers", .settings = &setting, .setting_count = 1});
    cutis_state *state = test_state(model, NULL);
    stopped motion = {{c, cutis_character_find_clip(c, "flex"), 0}, 1.3};
    cutis_step_input input = {.motion = {&motion, stopped_sample}};
    size_t bytes = 3 * (size_t)c->vertex_count * sizeof(float);
    float *before = malloc(bytes);
    double most = 0;

    for (int f = 0; f < 75; f++) {
        cutis_state_step(model, state, &input, 1 / 30.0);
        const float *now = cutis_state_positions(model, state);
        for (int v = 0; v < c->vertex_count && f >= 60; v++)
            most = fmax(most, (double)vec3_distance(vec3_load(now + 3 * v), vec3_load(before + 3 * v)));
        memcpy(before, now, bytes);
    }

    assert_true(cutis_state_stats(model, state)->contacts > 50);
    free(before);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return most / (double)c->size;
}

/* Flesh that contact holds near its bound does not swing for ever. */
static void held_flesh_calms_down(void **unused)
{
    (void)unused;
    test_is_heavy();
    static const char *const stiffnesses[] = {"2", "4", "8", "20"};
    cutis_character *c = test_zoo("arm", 0.3);
    for (int i = 0; i < COUNT_OF(stiffnesses); i++) {
        double most = held_motion(c, stiffnesses[i]);
        print_message("held arm, fat of %s Hz: %.3f %% of the size a frame\n", stiffnesses[i], 100 * most);
        assert_true(most < 0.006);
    }
    cutis_character_destroy(c);
}

/* The layers of a character, with what the volume loop works on. */
typedef struct volume_bench {
    cutis_character *character;
    cutis_model *model;
    const layers_model *layers;
    arena memory;
    layers_volume_work work;
    float *velocities; /* as the positions */
    float *errors;
} volume_bench;

static volume_bench bench_make_with(const char *name, double resolution, const cutis_setting *setting)
{
    volume_bench b = {.character = test_zoo(name, resolution), .memory = arena_create(NULL)};
    b.model = test_build_def((cutis_model_def){
        .character = b.character, .solver = "layers", .settings = setting, .setting_count = setting != NULL});
    b.layers = b.model->stages[0].data;
    const layers_volumes *v = &b.layers->volumes;
    size_t n = (size_t)b.layers->point_count, all = 3 * (n + (size_t)v->centre_count) + 1;
    b.work = (layers_volume_work){.positions = ARENA_ARRAY(&b.memory, float, all),
                                  .directions = ARENA_ARRAY(&b.memory, float, 3 * n + 1),
                                  .sums = ARENA_ARRAY(&b.memory, double, 3 * (size_t)v->part_first[v->count] + 1),
                                  .targets = ARENA_ARRAY(&b.memory, double, v->count),
                                  .lambdas = ARENA_ARRAY(&b.memory, float, v->count),
                                  .totals = ARENA_ARRAY(&b.memory, float, v->count),
                                  .freedom = ARENA_ARRAY(&b.memory, float, v->count)};
    b.velocities = ARENA_ARRAY(&b.memory, float, all);
    b.errors = ARENA_ARRAY(&b.memory, float, v->count);
    float *free = ARENA_ARRAY(&b.memory, float, n);

    /* at rest, all of it free */
    memcpy(b.work.positions, b.layers->mesh->positions, 3 * n * sizeof(float));
    for (int i = 0; i < 3 * v->centre_count; i++)
        b.work.positions[3 * n + (size_t)i] = (v->centre_rest[i] - b.layers->centre[i % 3]) / b.layers->size;
    for (size_t k = 0; k < n; k++) free[k] = 1;
    for (int p = 0; p < v->count; p++) b.work.freedom[p] = 1;
    layers_volume_directions(v, b.layers->mesh, free, &b.work, NULL);
    return b;
}

static volume_bench bench_make(const char *name, double resolution) { return bench_make_with(name, resolution, NULL); }

static void bench_free(volume_bench *b)
{
    arena_destroy(&b->memory);
    cutis_model_destroy(b->model);
    cutis_character_destroy(b->character);
}

/* Flesh makes up for what skinning presses out of a piece, but not for a piece that skinning makes another one. */
static void cuts_that_move_harm_no_limb(void **unused)
{
    (void)unused;
    volume_bench b = bench_make("man", 0.12);
    const layers_volumes *v = &b.layers->volumes;
    const double ratios[] = {0.85, 0.55, 0.3, 1.5, 1.9}; /* of volumes after skinning to those at rest */
    int nodes = 3 * (b.layers->point_count + v->centre_count);
    float before = 1;
    for (int i = 0; i < 5; i++) {
        float scale = (float)cbrt(ratios[i]);
        for (int k = 0; k < nodes; k++) b.work.positions[k] *= scale / before;
        before = scale;
        layers_volume_targets(v, b.layers->point_count, &b.work, NULL);
        for (int p = 0; p < v->count; p++) {
            double kept = v->rest[p] != 0 ? b.work.targets[p] / v->rest[p] : 1;
            if (v->rest[p] == 0) continue;
            if (i == 0) assert_true(fabs(kept - 1) < 1e-4);
            if (i == 1 || i == 3) assert_true(fmin(ratios[i], 1) + 0.05 < kept && kept < fmax(ratios[i], 1) - 0.05);
            if (i == 2 || i == 4) assert_true(fabs(kept - ratios[i]) < 1e-4);
        }
    }
    bench_free(&b);
}

/*
 * A piece is kept by its flesh: where skinning changes it by more than all of its flesh, as at the root of a tail whose
 * little skin closes off a deep fan, it stays as it is skinned. Here flesh is thin on all pieces.
 */
static void flesh_answers_for_no_more_than_itself(void **unused)
{
    (void)unused;
    const cutis_setting thin = {"flesh_depth", "0.004"};
    volume_bench b = bench_make_with("man", 0.12, &thin);
    const layers_volumes *v = &b.layers->volumes;
    int nodes = 3 * (b.layers->point_count + v->centre_count), thick = 0;
    for (int k = 0; k < nodes; k++) b.work.positions[k] *= (float)cbrt(0.85);
    layers_volume_targets(v, b.layers->point_count, &b.work, NULL);
    for (int p = 0; p < v->count; p++) {
        double flesh = v->give[p] * (double)v->deepest;
        if (v->rest[p] == 0 || 0.15 * v->rest[p] < 0.6 * flesh) continue;
        assert_true(fabs(b.work.targets[p] / v->rest[p] - 0.85) < 1e-4);
        thick++;
    }
    assert_true(thick > 0);
    bench_free(&b);
}

/* The pieces and their fans are the body: their volumes sum to its own, at rest and bent. */
static void sub_volumes_tile_the_body(void **unused)
{
    (void)unused;
    volume_bench b = bench_make("man", 0.12);
    const layers_volumes *v = &b.layers->volumes;
    const mesh *m = b.layers->mesh;
    int n = b.layers->point_count;
    assert_true(v->count > 5);
    for (int bent = 0; bent < 2; bent++) {
        /* any motion of points and centres will do */
        for (int i = 0; i < 3 * (n + v->centre_count) && bent; i++)
            b.work.positions[i] += 0.01f * sinf(40 * b.work.positions[i - i % 3] + (float)(i % 3));
        double whole = 0, pieces = 0;
        for (int t = 0; t < m->triangle_count; t++) {
            const int *c = m->triangles + 3 * t;
            vec3 p = vec3_load(b.work.positions + 3 * c[0]), q = vec3_load(b.work.positions + 3 * c[1]);
            whole += vec3_dot(p, vec3_cross(q, vec3_load(b.work.positions + 3 * c[2]))) / 6;
        }
        layers_volume_errors(v, n, &b.work, NULL, b.errors);
        for (int p = 0; p < v->count; p++) pieces += v->rest[p] * (1 + (double)b.errors[p]);
        print_message("%d pieces: %.6f of the body\n", v->count, pieces / whole);
        assert_true(fabs(pieces / whole - 1) < 1e-5);
    }
    bench_free(&b);
}

/* Velocities are freed of what changes the sub-volumes, each in its own place. */
static void velocities_keep_the_volumes(void **unused)
{
    (void)unused;
    volume_bench b = bench_make("arm", 0.2);
    const layers_volumes *v = &b.layers->volumes;
    int n = b.layers->point_count;
    float *start = ARENA_ARRAY(&b.memory, float, 3 * (n + v->centre_count));
    memcpy(start, b.work.positions, 3 * (size_t)(n + v->centre_count) * sizeof(float));
    for (int i = 0; i < 3 * n; i++) b.velocities[i] = start[i] * (1 + 3 * start[i - i % 3]); /* it swells, unevenly */
    double rates[2] = {0, 0};
    for (int pass = 0; pass < 2; pass++) {
        const float step = 1e-2f;
        for (int i = 0; i < 3 * (n + v->centre_count); i++) b.work.positions[i] = start[i] + step * b.velocities[i];
        layers_volume_errors(v, n, &b.work, NULL, b.errors);
        for (int p = 0; p < v->count; p++) rates[pass] = fmax(rates[pass], fabs((double)(b.errors[p] / step)));
        memcpy(b.work.positions, start, 3 * (size_t)(n + v->centre_count) * sizeof(float));
        for (int i = 0; i < 4; i++) layers_volume_velocity(v, n, &b.work, NULL, b.velocities);
    }
    print_message("volumes grow by %.3g, after the projection by %.3g of themselves a second\n", rates[0], rates[1]);
    assert_true(rates[0] > 0.5);
    assert_true(rates[1] < 0.05 * rates[0]);
    bench_free(&b);
}

/* ---- oriented particles ---- */

/* The half angle about y of particle i, from its quaternion. */
static double half_turn(const layers_iterate *iterate, int i) { return fabs((double)iterate->q[1][i]); }

/*
 * Places on a line do not tell how a region is turned about it; the particles' own orientations do. Regions turned this
 * way and that are levelled out by their neighbours, and without moments would stay as they are.
 */
static void orientations_level_out_on_a_line(void **unused)
{
    (void)unused;
    volume_bench b = bench_make("arm", 0.15);
    const layers_model *m = b.layers;
    size_t n = (size_t)m->point_count, particles = n * LAYERS, entries = n + (size_t)m->paths.path_count;
    layers_iterate it = {.columns = ARENA_ARRAY(&b.memory, float, particles *LAYERS),
                         .base = ARENA_ARRAY(&b.memory, float, n *SUM_STRIDE),
                         .base_sums = ARENA_ARRAY(&b.memory, double, entries *BASE_STRIDE),
                         .sums = ARENA_ARRAY(&b.memory, float, entries *SUM_STRIDE),
                         .maps = ARENA_ARRAY(&b.memory, float, entries *SUM_STRIDE)};
    float *ties = ARENA_ARRAY(&b.memory, float, particles);
    float **arrays[] = {it.x, it.inert, it.last, it.target, it.centre, it.base_x, it.pulls};
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++)
        for (int c = 0; c < 3; c++) arrays[a][c] = ARENA_ARRAY(&b.memory, float, particles);
    for (int c = 0; c < 3; c++) it.push[c] = ARENA_ARRAY(&b.memory, float, n);
    for (int c = 0; c < 4; c++) it.q[c] = ARENA_ARRAY(&b.memory, float, particles);

    /* all places on the axis y, where they should be; every other region turned about it */
    double before = 0, after = 0;
    for (size_t i = 0; i < particles; i++) {
        it.x[1][i] = it.inert[1][i] = it.last[1][i] = it.target[1][i] = m->regions.rest[1][i];
        it.q[1][i] = i / LAYERS % 2 ? 0.4f : -0.4f;
        it.q[3][i] = sqrtf(1 - 0.16f);
        before += half_turn(&it, (int)i) / (double)particles;
    }
    const double h = 0.005;
    layers_columns_factor(&m->regions, ties, h, 0, (int)n, &it);
    layers_match_base_sums(&m->paths, &m->regions, &it, 0, m->paths.path_count);
    layers_match_base(&m->paths, &m->regions, &it, 0, m->paths.path_count);
    for (int i = 0; i < 20; i++) {
        layers_match_sums(&m->paths, &m->regions, &it, false, 0, m->paths.path_count);
        layers_match_maps(&m->paths, &m->regions, &it, false, 0, m->paths.path_count);
        layers_match_blend(&m->paths, &m->regions, &it, false, h, 1, 0, m->paths.path_count);
    }
    for (size_t i = 0; i < particles; i++) after += half_turn(&it, (int)i) / (double)particles;
    print_message("regions on a line: turned by %.3f in the mean, after 20 iterations by %.3f\n", before, after);
    assert_true(after < 0.5 * before);
    bench_free(&b);
}

/* ---- inner layers ---- */

/* Share of the triangles whose flesh, from one shown layer (vertex_count x 3) to the next, is turned over. */
static double turned_share(const cutis_character *c, const float *upper, const float *lower)
{
    int turned = 0;
    for (int t = 0; t < c->triangle_count; t++) {
        const int *corners = c->triangles + 3 * t;
        vec3 middle[3], column = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            vec3 a = vec3_load(upper + 3 * corners[k]), b = vec3_load(lower + 3 * corners[k]);
            middle[k] = vec3_add(a, b);
            column = vec3_add(column, vec3_sub(a, b));
        }
        vec3 normal = vec3_cross(vec3_sub(middle[1], middle[0]), vec3_sub(middle[2], middle[0]));
        turned += vec3_dot(normal, column) <= 0;
    }
    return (double)turned / c->triangle_count;
}

/* Contact presses skin below its fat, and layers of two bones overlap: as shown they do not. */
static void inner_layers_do_not_turn_over(void **unused)
{
    (void)unused;
    test_is_heavy();
    for (int i = 0; i < COUNT_OF(bends); i++) {
        cutis_character *c = test_zoo(bends[i].name, bends[i].resolution);
        cutis_model *model = test_build(c, "layers", NULL);
        cutis_state *state = test_state(model, NULL);
        cutis_clip_motion motion = {c, cutis_character_find_clip(c, bends[i].clip), 0.25};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
        double worst[3] = {0, 0, 0};
        for (int f = 0; f < 36; f++) {
            cutis_state_step(model, state, &input, 1 / 24.0);
            if (f < 6) continue; /* from the pose of rest into the clip at once */

            /* the layers from the outside in */
            const float *layers[LAYERS] = {cutis_state_positions(model, state)};
            const char *const names[LAYERS] = {NULL, "fat", "muscle", "bone"};
            for (int l = 1; l < LAYERS; l++) {
                cutis_output output;
                assert_true(cutis_state_output(model, state, names[l], &output));
                layers[l] = output.values;
            }
            for (int l = 0; l < 3; l++) worst[l] = fmax(worst[l], turned_share(c, layers[l], layers[l + 1]));
        }
        print_message("%s %s: %.2f, %.2f, %.2f %% of the flesh below skin, fat, muscle is turned over\n", bends[i].name,
                      bends[i].clip, 100 * worst[0], 100 * worst[1], 100 * worst[2]);
        for (int l = 0; l < 3; l++) assert_true(worst[l] < 0.004);
        cutis_state_destroy(state);
        cutis_model_destroy(model);
        cutis_character_destroy(c);
    }
}

/*
 * A bar is bent and twisted by a joint in its middle: where prisms face away from the skin, their normals lead out of
 * the body. Moved along them, the layers grow out of the skin as spikes, more in every substep.
 */
static void inner_layers_stay_in_the_skin(void **unused)
{
    (void)unused;
    test_is_heavy();
    bar b = bar_make(32, 60, 2);
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
    bar_free(&b);
    cutis_model *model = test_build(c, "layers", NULL);
    cutis_state *state = test_state(model, NULL);
    cutis_judge *judge = NULL;
    assert_int_equal(cutis_judge_create(c, 24, NULL, NULL, &judge, NULL), CUTIS_OK);

    for (int f = 0; f < 24; f++) {
        float joints[24], angle = 2 * sinf(0.2617994f * (float)f);
        quat turn = quat_axis_angle(vec3_normalize(vec3_make(1, 0.5f, 0)), angle);
        cutis_pose_rest(c, joints);
        mat34 pose = mat34_compose(vec3_make(0, 0.5f, 0), turn, vec3_make(1, 1, 1));
        memcpy(joints + 12, pose.m, sizeof pose.m);
        cutis_state_step(model, state, &(cutis_step_input){.joints = joints}, 1 / 24.0);

        cutis_output bone;
        assert_true(cutis_state_output(model, state, "bone", &bone));
        const float *x = cutis_state_positions(model, state);
        cutis_judge_frame(judge, x, x, bone.values);
    }

    cutis_verdict verdict;
    cutis_judge_finish(judge, 0, 0, 0, &verdict);
    print_message("bar, bent and twisted: %.2f %% of the bone layer is outside the skin\n",
                  100 * verdict.figures[CUTIS_HARM_BONE]);
    assert_true(verdict.figures[CUTIS_HARM_BONE] < 0.005);
    cutis_judge_destroy(judge);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

/* ---- friction and restitution ---- */

/* Coulomb's law on a slope: a pair pressed by N holds a slip of friction x N and lets a larger one go by as much. */
static void pairs_slip_by_coulombs_law(void **unused)
{
    (void)unused;
    const float inverse[4] = {1, 0.5f, 2, 1};
    for (int degrees = 5; degrees < 60; degrees += 1) {
        /* a point on a triangle in the plane y = 0, under gravity on a slope: N = cos, slip = sin */
        const float x[12] = {0, 0.01f, 0, -1, 0, -1, 1, 0, -1, 0, 0, 1};
        contact_pair pair = {.v = {0, 1, 2, 3}, .kind = CONTACT_POINT_TRIANGLE};
        contact_pair_nearest(&pair, x);
        float angle = (float)degrees * 0.01745329f, friction = 0.5f; /* slips from 26.6 degrees on */
        float v[12] = {sinf(angle), 0, 0};
        contact_pair_velocity(&pair, inverse, friction, 0, 0, cosf(angle), v);
        float slip = 0;
        for (int k = 0; k < 4; k++) slip += pair.weights[k] * v[3 * k];
        float wanted = fmaxf(sinf(angle) - friction * cosf(angle), 0);
        assert_true(fabsf(slip - wanted) < 1e-5f);
        assert_true((slip > 1e-5f) == (degrees >= 27));
    }
}

/* What comes back of the speed of approach: the height of a bounce goes with its square. */
static void pairs_bounce_by_their_restitution(void **unused)
{
    (void)unused;
    const float inverse[4] = {1, 0.5f, 2, 1};
    const float x[12] = {0, 0.01f, 0, -1, 0, -1, 1, 0, -1, 0, 0, 1};
    contact_pair pair = {.v = {0, 1, 2, 3}, .kind = CONTACT_POINT_TRIANGLE};
    contact_pair_nearest(&pair, x);
    for (float restitution = 0; restitution <= 1; restitution += 0.25f) {
        float v[12] = {0}; /* contact has stopped it */
        contact_pair_velocity(&pair, inverse, 0, restitution, -3, 1, v);
        float speed = 0;
        for (int k = 0; k < 4; k++) speed += pair.weights[k] * v[3 * k + 1];
        double height = (double)(speed * speed) / 9;
        assert_true(fabs(height - (double)(restitution * restitution)) <=
                    0.05 * (double)(restitution * restitution) + 1e-6);
    }
}

/* A bar is pressed against a ball and moves along it: how far the skin that touches stays behind, in the mean. */
static double ball_rub(const char *friction)
{
    bar b = bar_make(24, 32, 2);
    cutis_prop ball = test_ball(0.1f, -1);
    bar_shift(&b, 0.3f, -0.5f);
    b.given.props = &ball;
    b.given.prop_count = 1;
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
    bar_free(&b);
    cutis_setting setting = {"friction", friction};
    cutis_model *model =
        test_build_def((cutis_model_def){.character = c, .solver = "layers", .settings = &setting, .setting_count = 1});
    cutis_state *state = test_state(model, NULL);

    /* in by a third of the ball; then up */
    double sum = 0;
    int count = 0;
    for (int f = 0; f < 60; f++) {
        float joints[24];
        cutis_pose_rest(c, joints);
        float in = -0.085f * fminf((float)f / 20, 1), up = f > 25 ? 0.002f * (float)(f - 25) : 0;
        for (int j = 0; j < 2; j++) {
            joints[12 * j + 3] += in;
            joints[12 * j + 7] += up;
        }
        cutis_step_input input = {.joints = joints};
        cutis_state_step(model, state, &input, 0.01);
        const float *x = cutis_state_positions(model, state);
        for (int v = 0; v < c->vertex_count && f > 40; v++) {
            vec3 rigid = vec3_add(vec3_load(c->positions + 3 * v), vec3_make(in, up, 0));
            if (vec3_length(rigid) > 0.09f) continue; /* only what the ball pushes */
            sum += (double)(rigid.y - x[3 * v + 1]);
            count++;
        }
    }
    assert_true(count > 50);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
    return sum / count;
}

static void props_drag_skin_by_friction(void **unused)
{
    (void)unused;
    double smooth = ball_rub("0"), rough = ball_rub("2");
    print_message("skin stays behind by %.4f on a smooth ball, by %.4f on a rough one\n", smooth, rough);
    assert_true(rough > smooth + 0.001);
}

/* A bar flies at a ball, and its bones stop where the skin just touches: how far the skin is thrown back, in metres. */
static double ball_throw(const char *restitution, double substep)
{
    const float stop = 0.6f, dt = 0.0025f;
    const cutis_setting settings[] = {{"restitution", restitution}, {"damping", "0"}, {"friction", "0"}};
    bar b = bar_make(24, 32, 2);
    cutis_prop ball = test_ball(0.1f, -1);
    bar_shift(&b, 0.25f + stop, -0.5f);
    b.given.props = &ball;
    b.given.prop_count = 1;
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_create(&b.given, NULL, &c, NULL), CUTIS_OK);
    bar_free(&b);
    cutis_model *model = test_build_def((cutis_model_def){
        .character = c, .solver = "layers", .settings = settings, .setting_count = 3, .substep = substep});
    cutis_state *state = test_state(model, NULL);

    /* up to 1 m/s in 0.4 s, on at that speed, then at rest */
    double back = 0;
    for (int f = 0; f < 400; f++) {
        float joints[24], t = (float)f * dt;
        cutis_pose_rest(c, joints);
        float in = fminf(t < 0.4f ? t * t / 0.8f : t - 0.2f, stop);
        for (int j = 0; j < 2; j++) joints[12 * j + 3] -= in;
        cutis_step_input input = {.joints = joints};
        cutis_state_step(model, state, &input, (double)dt);

        /* the skin nearest to the ball */
        const float *x = cutis_state_positions(model, state);
        for (int v = 0; v < c->vertex_count && in == stop; v++) {
            vec3 rigid = vec3_add(vec3_load(c->positions + 3 * v), vec3_make(-in, 0, 0));
            if (vec3_length(rigid) < 0.102f) back = fmax(back, (double)(x[3 * v] - rigid.x));
        }
    }

    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
    return back;
}

/* What comes back at the skin swings faster than substeps of 5 ms can follow: implicit Euler damps it. */
static void props_throw_skin_back_in_short_substeps(void **unused)
{
    (void)unused;
    double coarse[2] = {ball_throw("0", 0.005), ball_throw("1", 0.005)};
    double fine[2] = {ball_throw("0", 0.000625), ball_throw("1", 0.000625)};
    print_message("restitution 0 and 1: thrown back by %.1f and %.1f mm, in substeps of 0.6 ms by %.1f and %.1f mm\n",
                  1e3 * coarse[0], 1e3 * coarse[1], 1e3 * fine[0], 1e3 * fine[1]);
    assert_true(fine[1] > 1.5 * fine[0]);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sub_volume_is_kept),
        cmocka_unit_test(held_flesh_calms_down),
        cmocka_unit_test(cuts_that_move_harm_no_limb),
        cmocka_unit_test(flesh_answers_for_no_more_than_itself),
        cmocka_unit_test(sub_volumes_tile_the_body),
        cmocka_unit_test(velocities_keep_the_volumes),
        cmocka_unit_test(orientations_level_out_on_a_line),
        cmocka_unit_test(inner_layers_do_not_turn_over),
        cmocka_unit_test(inner_layers_stay_in_the_skin),
        cmocka_unit_test(pairs_slip_by_coulombs_law),
        cmocka_unit_test(pairs_bounce_by_their_restitution),
        cmocka_unit_test(props_drag_skin_by_friction),
        cmocka_unit_test(props_throw_skin_back_in_short_substeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
