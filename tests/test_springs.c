/* What solver springs promises, besides the paper's scenes (test_springs_scenes.c). */
#include "testing.h"

#include "character/skinning.h"
#include "engine/model_object.h"
#include "solvers/springs/springs.h"
#include "springs_stage.h"

/* ---- forces ---- */

/* One edge with its four nodes, in all lanes. */
typedef struct one_edge {
    springs_model model;
    springs_run run;
    solver_input input;
    int nodes[4 * LANES], slots[4 * LANES];
    float arrays[7][LANES];
    float x[4 * NODE + 16], forces[EDGE * LANES];
} one_edge;

static void edge_open(one_edge *e, float stretch, float bend)
{
    *e = (one_edge){0};
    const float values[7] = {1, stretch, bend, sinf(0.2f), 10, 10, cosf(0.2f)};
    for (int lane = 0; lane < LANES; lane++) {
        for (int k = 0; k < 4; k++) {
            e->nodes[k * LANES + lane] = NODE * k;
            e->slots[k * LANES + lane] = EDGE * lane + 4 * k;
        }
        for (int k = 0; k < 7; k++) e->arrays[k][lane] = values[k];
    }
    e->model.edges = (springs_edges){.count = LANES,
                                     .blocks = 1,
                                     .nodes = e->nodes,
                                     .slots = e->slots,
                                     .stretch = e->arrays[1],
                                     .bend = e->arrays[2],
                                     .low = {e->arrays[4], e->arrays[5]}};
    e->run = (springs_run){.m = &e->model, .input = &e->input, .at = e->x};
    e->run.w.edge_forces = e->forces;
    e->run.w.rest = e->arrays[0];
    e->run.w.sine = e->arrays[3];
    e->run.w.cosine = e->arrays[6];
    static const float places[4][3] = {{0, 0, 0}, {1.2f, 0.1f, 0}, {0.4f, 0.9f, 0.3f}, {0.6f, -0.8f, 0.2f}};
    for (int k = 0; k < 4; k++) memcpy(e->x + NODE * k, places[k], sizeof places[k]);
}

static void forces_of_an_edge_balance(void **unused)
{
    (void)unused;
    static one_edge e;
    for (int kind = 0; kind < 2; kind++) {
        edge_open(&e, kind == 0, kind == 1);
        springs_forces(&e.run);
        double sum[3] = {0}, moment[3] = {0}, largest = 0;
        for (int k = 0; k < 4; k++) {
            const float *f = e.forces + 4 * k, *x = e.x + NODE * k;
            for (int c = 0; c < 3; c++) {
                int d = (c + 1) % 3, g = (c + 2) % 3;
                sum[c] += (double)f[c];
                moment[c] += (double)x[d] * (double)f[g] - (double)x[g] * (double)f[d];
                largest = fmax(largest, fabs((double)f[c]));
            }
        }
        assert_true(largest > 0.05);
        for (int c = 0; c < 3; c++) {
            assert_true(fabs(sum[c]) < 1e-6 * largest + 1e-7);
            assert_true(fabs(moment[c]) < 1e-6 * largest + 1e-7);
        }
    }
}

/* A force is the gradient of an energy exactly when its derivatives are symmetric; and it resists. */
static void forces_of_an_edge_come_from_an_energy(void **unused)
{
    (void)unused;
    /* A usual edge, a deep fold, and triangles so low that the bending fades. */
    static const float places[3][2][3] = {{{0.4f, 0.9f, 0.3f}, {0.6f, -0.8f, 0.2f}},
                                          {{0.4f, 0.3f, 0.9f}, {0.6f, -0.3f, 0.9f}},
                                          {{0.4f, 0.9f, 0.3f}, {0.6f, -0.8f, 0.9f}}};
    static one_edge e;
    for (int kind = 0; kind < 3; kind++) {
        edge_open(&e, 1, 1);
        for (int k = 0; k < 2; k++) memcpy(e.x + NODE * (2 + k), places[kind][k], sizeof places[kind][k]);
        for (int k = 0; k < 2 * LANES; k++) e.arrays[4 + k / LANES][k % LANES] = kind == 2 ? 1.5f : 0.1f;
        double jacobian[12][12], largest = 0, skew = 0;
        const float step = 1e-3f;
        for (int j = 0; j < 12; j++) {
            float *x = e.x + NODE * (j / 3) + j % 3, kept = *x, values[2][12];
            for (int side = 0; side < 2; side++) {
                *x = kept + (side ? step : -step);
                springs_forces(&e.run);
                for (int i = 0; i < 12; i++) values[side][i] = e.forces[4 * (i / 3) + i % 3];
            }
            *x = kept;
            for (int i = 0; i < 12; i++) jacobian[i][j] = (double)(values[1][i] - values[0][i]) / (2 * (double)step);
        }
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < 12; j++) {
                largest = fmax(largest, fabs(jacobian[i][j]));
                skew = fmax(skew, fabs(jacobian[i][j] - jacobian[j][i]));
            }
        assert_true(largest > 0.5);
        assert_true(skew < 1e-3 * largest);
    }
}

static double edge_angle(const float *x)
{
    vec3 b = vec3_load(x), c = vec3_load(x + NODE), a = vec3_load(x + 2 * NODE), d = vec3_load(x + 3 * NODE);
    vec3 e = vec3_sub(c, b);
    vec3 na = vec3_normalize(vec3_cross(e, vec3_sub(a, b))), nd = vec3_normalize(vec3_cross(vec3_sub(d, b), e));
    return atan2((double)vec3_dot(vec3_cross(nd, na), vec3_normalize(e)), (double)vec3_dot(na, nd));
}

/* A fold that turns over, its far triangle lower than at rest, is pushed about as before: no force jumps. */
static void forces_of_a_fold_do_not_jump(void **unused)
{
    (void)unused;
    static one_edge e;
    edge_open(&e, 0, 1);
    for (int lane = 0; lane < LANES; lane++) e.arrays[4][lane] = e.arrays[5][lane] = 1.5f;
    float last[EDGE];
    double largest = 0, jump = 0;
    for (int step = 0; step <= 360; step++) {
        /* D goes round the edge, which lies along x, in steps of a degree */
        double angle = step * 3.14159265358979 / 180;
        const float round[3][3] = {
            {1.2f, 0, 0}, {0.4f, 0.5f, 0}, {0.6f, 0.5f * (float)cos(angle), 0.5f * (float)sin(angle)}};
        for (int k = 0; k < 3; k++) memcpy(e.x + NODE * (k + 1), round[k], sizeof round[k]);
        springs_forces(&e.run);
        for (int i = 0; i < EDGE; i++) {
            largest = fmax(largest, fabs((double)e.forces[i]));
            if (step > 0) jump = fmax(jump, fabs((double)e.forces[i] - (double)last[i]));
        }
        memcpy(last, e.forces, sizeof last);
    }
    print_message("force of a fold that goes round by 360 degrees: changes by at most %.3f of %.3f a degree\n", jump,
                  largest);
    assert_true(largest > 0.1);
    assert_true(jump < 0.05 * largest);
}

/* Along its own force an edge comes nearer to its rest length, and a fold to its rest angle, from either side. */
static void forces_of_an_edge_restore(void **unused)
{
    (void)unused;
    static one_edge e;
    for (int side = 0; side < 2; side++) {
        for (int kind = 0; kind < 2; kind++) {
            edge_open(&e, kind == 0, kind == 1);
            float length = vec3_distance(vec3_load(e.x), vec3_load(e.x + NODE));
            double angle = edge_angle(e.x);
            for (int lane = 0; lane < LANES; lane++) {
                e.arrays[0][lane] = side ? 0.9f * length : 1.1f * length;
                e.arrays[3][lane] = sinf((float)angle + (side ? -0.1f : 0.1f));
                e.arrays[6][lane] = cosf((float)angle + (side ? -0.1f : 0.1f));
            }
            springs_forces(&e.run);
            double rest = kind ? angle + (side ? -0.1 : 0.1) : (double)e.arrays[0][0];
            double before = fabs((kind ? angle : (double)length) - rest);
            for (int k = 0; k < 4; k++)
                for (int c = 0; c < 3; c++) e.x[NODE * k + c] += 0.02f * e.forces[4 * k + c];
            double now = kind ? edge_angle(e.x) : (double)vec3_distance(vec3_load(e.x), vec3_load(e.x + NODE));
            double after = fabs(now - rest);
            assert_true(after < before - 1e-4);
        }
    }
}

/* ---- integration ---- */

/* The same state, disturbed, brought forward by pseudo-time 8 in `steps` steps. */
static double *rk_run(const cutis_model *model, int steps)
{
    const springs_model *m = model->stages[0].data;
    const solver *s = model->stages[0].solver;
    float *joints = calloc((size_t)model->character->joint_count * 24 + 24, sizeof(float)), *skin = joints;
    joints += 12 * model->character->joint_count;
    cutis_pose_rest(model->character, joints);
    skin_matrices(model->character, joints, skin);
    solver_input input = {.joints = joints, .joints_old = joints, .skin = skin, .h = model->substep};
    size_t state_bytes = s->state_size(m), scratch_bytes = s->scratch_size(m);
    void *state = memory_allocate(NULL, state_bytes, 1), *scratch = memory_allocate(NULL, scratch_bytes, 1);
    float *points = calloc((size_t)m->point_count * 3, sizeof(float));
    s->reset(m, state, scratch, &input, points);
    springs_run run = springs_run_make(m, state, scratch, &input);
    /* Stretched everywhere, where forces are smooth, and wavy. */
    for (int p = 0; p < m->point_count; p++)
        for (int c = 0; c < 3; c++)
            run.s.x[NODE * p + c] = 1.3f * run.s.reference[NODE * p + c] +
                                    0.002f * (float)sin(20 * (double)run.s.reference[NODE * p + (c + 1) % 3] + c);
    double *result = calloc((size_t)m->point_count * 3, sizeof(double));
    for (int i = 0; i < steps; i++) {
        springs_rk_step(&run, run.s.x, 8.0f / (float)steps);
        memcpy(run.s.x, run.w.next, (size_t)m->node_count * NODE * sizeof(float));
    }
    for (int p = 0; p < m->point_count; p++)
        for (int c = 0; c < 3; c++) result[3 * p + c] = (double)run.s.x[NODE * p + c];
    memory_release(NULL, state, state_bytes, 1), memory_release(NULL, scratch, scratch_bytes, 1);
    free(points), free(skin);
    return result;
}

static void runge_kutta_is_of_fourth_order(void **unused)
{
    (void)unused;
    static const char *const settings[] = {"integrator=rk4", "self_collision=off", "bend=0", NULL};
    springs_scene *s = stage_open(test_zoo("arm", 0.1), NULL, NULL, 0, settings);
    int n = s->character->point_count * 3;
    double *exact = rk_run(s->model, 64), errors[3];
    for (int i = 0; i < 3; i++) {
        double *x = rk_run(s->model, 4 << i);
        errors[i] = 0;
        for (int k = 0; k < n; k++) errors[i] += (x[k] - exact[k]) * (x[k] - exact[k]);
        errors[i] = sqrt(errors[i] / n);
        free(x);
    }
    double order = log2(errors[0] / errors[1]), next = log2(errors[1] / errors[2]);
    print_message("Runge-Kutta: errors %.2g %.2g %.2g of 4, 8 and 16 steps: order %.2f, %.2f\n", errors[0], errors[1],
                  errors[2], order, next);
    assert_true(order > 3.8 && order < 5.2);
    free(exact);
    stage_close(s);
}

/* The first prop goes down by 4 cm. */
static void press_pose(springs_scene *s, double time, float *joints)
{
    joints[12 * s->first_node + 7] -= (float)(0.04 * stage_ramp(time, 0, 0.4));
}

/* A ball that is pressed onto the arm, under the two: free skin lies on its reference, so there must be contact. */
static void both_integrators_reach_the_same_shape(void **unused)
{
    (void)unused;
    static const char *const fast[] = {"iterations=2000", "tolerance=0.00004", NULL};
    static const char *const rk4[] = {"iterations=2000", "tolerance=0.00004", "integrator=rk4", NULL};
    stage_prop ball = {
        {.role = CUTIS_PROP_COLLIDER, .shape = CUTIS_PROP_SPHERE, .size = {0.05f}, .friction = 0, .restitution = -1},
        {0}};
    cutis_character *arm = test_zoo("arm", 0.1);
    ball.place[0] = 0.5f * (arm->bounds_min[0] + arm->bounds_max[0]);
    ball.place[1] = arm->bounds_max[1] + 0.05f;
    cutis_character_destroy(arm);
    springs_scene *a = stage_open(test_zoo("arm", 0.1), NULL, &ball, 1, fast);
    springs_scene *b = stage_open(test_zoo("arm", 0.1), NULL, &ball, 1, rk4);
    a->pose = press_pose;
    b->pose = press_pose;
    double difference = 0, moved = 0;
    stage_counts counts[2] = {{0}};
    for (int f = 1; f <= 15; f++) {
        stage_count(&counts[0], stage_step(a, f / 30.0));
        stage_count(&counts[1], stage_step(b, f / 30.0));
        for (int i = 0; i < 3 * a->character->point_count; i++) {
            difference = fmax(difference, fabs((double)a->points[i] - (double)b->points[i]));
            moved = fmax(moved, fabs((double)a->points[i] - (double)a->mesh.positions[i]));
        }
    }
    double size = (double)a->character->size;
    print_message("fast and rk4 differ by at most %.2g of the size where a ball presses by %.2g; %d iterations and %d "
                  "steps of six evaluations\n",
                  difference / size, moved / size, counts[0].iterations, counts[1].iterations);
    assert_int_equal(counts[0].unconverged + counts[1].unconverged, 0);
    assert_true(moved > 0.005 * size);
    assert_true(counts[0].iterations > 20);
    assert_true(difference < 2e-4 * size);
    stage_close(a);
    stage_close(b);
}

/* How far the shapes of two tolerances are apart: a ball pressed onto an arm with friction, an elbow, a fist. */
static double tolerances_differ(int kind, const char *const *settings)
{
    stage_prop ball = {
        {.role = CUTIS_PROP_COLLIDER, .shape = CUTIS_PROP_SPHERE, .size = {0.05f}, .friction = 0.8f, .restitution = -1},
        {0}};
    cutis_character *arm = test_zoo("arm", 0.2);
    ball.place[0] = 0.5f * (arm->bounds_min[0] + arm->bounds_max[0]);
    ball.place[1] = arm->bounds_max[1] + 0.05f;
    cutis_character_destroy(arm);
    springs_scene *s[2];
    for (int i = 0; i < 2; i++) {
        const char *const own[] = {settings[i], "iterations=3000", NULL};
        s[i] = kind == 0   ? stage_open(test_zoo("arm", 0.2), NULL, &ball, 1, own)
               : kind == 1 ? stage_open(test_zoo("arm", 0.2), "flex", NULL, 0, own)
                           : stage_open(test_zoo("hand", 0.2), "fist", NULL, 0, own);
        if (kind == 0) s[i]->pose = press_pose;
    }
    double worst = 0, moved = 0, size = (double)s[0]->character->size;
    for (int f = 1; f <= (kind ? 42 : 15); f++) {
        for (int i = 0; i < 2; i++) moved += stage_step(s[i], f / 30.0)->iterations;
        for (int p = 0; p < s[0]->character->point_count; p++)
            worst =
                fmax(worst, (double)vec3_distance(vec3_load(s[0]->points + 3 * p), vec3_load(s[1]->points + 3 * p)));
    }
    assert_true(moved > 0);
    stage_close(s[0]);
    stage_close(s[1]);
    return worst / size;
}

/* Halving the tolerance changes the shape by less than twice the tolerance, contact and friction included. */
static void tolerance_bounds_the_shape(void **unused)
{
    (void)unused;
    static const char *const names[] = {"ball on an arm", "arm flex", "fist"};
    static const char *const settings[][2] = {{"tolerance=0.0002", "tolerance=0.0001"},
                                              {"tolerance=0.0001", "tolerance=0.00005"},
                                              {"tolerance=0.00005", "tolerance=0.000025"}};
    for (int kind = 0; kind < 3; kind++)
        for (int i = 0; i < COUNT_OF(settings); i++) {
            double differ = tolerances_differ(kind, settings[i]), stated = 2e-4 / (1 << i);
            print_message("%s: half the tolerance of %.0e changes the shape by at most %.2g of the size\n", names[kind],
                          stated, differ);
            assert_true(differ < 2 * stated);
        }
}

static void rest_pose_is_the_reference_to_the_bit(void **unused)
{
    (void)unused;
    static const char *const names[] = {"arm", "hand", "man"};
    for (int i = 0; i < 3; i++) {
        springs_scene *s = stage_open(test_zoo(names[i], 0.1), NULL, NULL, 0, NULL);
        stage_step(s, 0.5);
        assert_int_equal(cutis_state_stats(s->model, s->state)->iterations, 0);
        const springs_model *m = s->model->stages[0].data;
        float *joints = calloc((size_t)m->joint_count * 24, sizeof(float)), *skin = joints + 12 * m->joint_count;
        float *points = calloc((size_t)m->point_count * 3, sizeof(float));
        size_t bytes = springs_reference_scratch_size(m->reference);
        void *scratch = memory_allocate(NULL, bytes + 1, 1);
        cutis_pose_rest(s->character, joints);
        skin_matrices(s->character, joints, skin);
        springs_reference_evaluate(m->reference, skin, NULL, scratch, NULL, points);
        assert_memory_equal(s->points, points, (size_t)m->point_count * 3 * sizeof(float));
        memory_release(NULL, scratch, bytes + 1, 1);
        free(joints), free(points);
        stage_close(s);
    }
}

/* ---- contact ---- */

static void corrections_conserve_momentum(void **unused)
{
    (void)unused;
    uint32_t seed = 1;
    double worst = 0;
    for (int trial = 0; trial < 1000; trial++) {
        float give[4], w[4];
        for (int k = 0; k < 4; k++) {
            seed = seed * 1664525u + 1013904223u;
            give[k] = 1e-4f + (float)(seed >> 8) * 1e-9f;
            seed = seed * 1664525u + 1013904223u;
            w[k] = (float)(seed >> 8) / 16777216.0f;
        }
        float sum = w[1] + w[2] + w[3];
        springs_contact c = {.count = 4, .v = {0, 1, 2, 3}, .body = {-1, -1}};
        c.w[0] = 1;
        for (int k = 1; k < 4; k++) c.w[k] = -w[k] / sum;
        vec3 shifts[4], impulse = {w[0], 0.3f, -w[1]};
        springs_contact_shift(&c, give, impulse, shifts);
        double total[3] = {0}, size = 0;
        for (int k = 0; k < 4; k++)
            for (int d = 0; d < 3; d++) {
                double momentum = (double)vec3_axis(shifts[k], d) / (double)give[k];
                total[d] += momentum;
                size += fabs(momentum);
            }
        for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(total[d]) / size);
    }
    print_message("momentum of position corrections: off by at most %.2g of what was exchanged\n", worst);
    assert_true(worst < 1e-6);
}

/* The same of a whole correction: a fist whose skin is pushed into itself, all contacts swept, friction included. */
static void a_whole_correction_conserves_momentum(void **unused)
{
    (void)unused;
    springs_scene *s = stage_open(test_zoo("hand", 0.2), "fist", NULL, 0, NULL);
    const springs_model *m = s->model->stages[0].data;
    const solver *table = s->model->stages[0].solver;
    int joint_count = s->character->joint_count;
    float *joints = calloc((size_t)joint_count * 24, sizeof(float)), *skin = joints + 12 * joint_count;
    assert_non_null(joints);
    stage_sample(s, 1.3, joints);
    skin_matrices(s->character, joints, skin);
    solver_input input = {.joints = joints, .joints_old = joints, .skin = skin, .h = s->model->substep};
    size_t state_bytes = table->state_size(m), scratch_bytes = table->scratch_size(m);
    void *state = memory_allocate(NULL, state_bytes, 1), *scratch = memory_allocate(NULL, scratch_bytes, 1);
    float *points = calloc((size_t)m->point_count * 3, sizeof(float)), *x = calloc((size_t)m->node_count, 16);
    assert_true(points && x);
    table->reset(m, state, scratch, &input, points);
    springs_run run = springs_run_make(m, state, scratch, &input);
    for (int p = 0; p < m->contact_count; p++) memcpy(run.w.start + 3 * p, run.s.x + NODE * p, 3 * sizeof(float));
    memset(run.w.push, 0, (size_t)m->node_count * NODE * sizeof(float));
    springs_contacts_find(&run);
    assert_true(run.contact_count > 10);

    /* every contact is entered by a little */
    for (int i = 0; i < run.contact_count; i++) run.w.contacts[i].gap += 0.5f * m->thickness;
    memcpy(x, run.s.x, (size_t)m->node_count * NODE * sizeof(float));
    float moved = springs_contacts_correct(&run, x);
    double total[3] = {0}, size = 0;
    for (int p = 0; p < m->point_count; p++)
        for (int k = 0; k < 3; k++) {
            double momentum = (double)(x[NODE * p + k] - run.s.x[NODE * p + k]) / (double)run.w.give[p];
            total[k] += momentum;
            size += fabs(momentum);
        }
    double worst = fmax(fabs(total[0]), fmax(fabs(total[1]), fabs(total[2]))) / size;
    print_message("%d contacts move skin by up to %.2g: momentum off by %.2g of what was exchanged\n",
                  run.contact_count, (double)moved, worst);
    assert_true(moved > 1e-4f);
    assert_true(worst < 1e-4);

    /* contacts that have come apart push no longer, and never pull */
    int bearing = 0;
    for (int i = 0; i < run.contact_count; i++) {
        bearing += run.w.contacts[i].lambda > 0;
        run.w.contacts[i].gap -= 20 * m->thickness;
    }
    for (int i = 0; i < 20; i++) springs_contacts_correct(&run, x);
    assert_true(bearing > 10);
    for (int i = 0; i < run.contact_count; i++) assert_true(run.w.contacts[i].lambda == 0);
    memory_release(NULL, state, state_bytes, 1);
    memory_release(NULL, scratch, scratch_bytes, 1);
    free(joints);
    free(points);
    free(x);
    stage_close(s);
}

/* Sum of the unit normals around a point, places x 3. */
static vec3 point_faces(const mesh *m, const float *x, int p)
{
    vec3 sum = {0, 0, 0};
    for (int i = m->point_triangle_first[p]; i < m->point_triangle_first[p + 1]; i++) {
        const int *t = m->triangles + 3 * m->point_triangles[i];
        vec3 a = vec3_load(x + 3 * t[0]), b = vec3_load(x + 3 * t[1]), c = vec3_load(x + 3 * t[2]);
        sum = vec3_add(sum, vec3_normalize(vec3_cross(vec3_sub(b, a), vec3_sub(c, a))));
    }
    return sum;
}

static void cones_prune_what_cannot_touch(void **unused)
{
    (void)unused;
    springs_scene *s = stage_open(test_zoo("hand", 0.5), "fist", NULL, 0, NULL);
    const springs_model *m = s->model->stages[0].data;
    stage_step(s, 1.3);
    float *x = calloc((size_t)m->point_count * 3, sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < 3 * m->point_count; i++) x[i] = (s->points[i] - m->centre[i % 3]) / m->size;
    size_t bytes = contact_work_size(&m->surface);
    void *memory = memory_allocate(NULL, bytes, 1);
    contact_work work = contact_work_make(&m->surface, memory);
    contact_search_options options = {.margin = m->thickness, .thickness = m->thickness};
    int contacts[2];
    long tests[2];
    for (int i = 0; i < 2; i++) {
        options.exhaustive = i == 1;
        int found = contact_search(&m->surface, &work, x, x, &options, NULL);
        tests[i] = work.tests;
        contacts[i] = 0;
        for (int k = 0; k < found; k++) {
            /* skin that faces skin: neighbours in flat skin that is pressed together are near, too, but touch nothing
             */
            const contact_pair *pair = work.pairs + k;
            vec3 first = point_faces(&m->mesh, x, pair->v[0]), second = point_faces(&m->mesh, x, pair->v[3]);
            contacts[i] += pair->distance < 1.2f * pair->gap && vec3_dot(first, second) < 0;
        }
    }
    print_message("fist of %d triangles: %ld tests of pairs with normal cones, %ld without; %d and %d contacts\n",
                  m->mesh.triangle_count, tests[0], tests[1], contacts[0], contacts[1]);
    assert_true(tests[0] * 3 <= tests[1]);
    assert_true(contacts[0] > 10);
    assert_int_equal(contacts[0], contacts[1]);
    memory_release(NULL, memory, bytes, 1);
    free(x);
    stage_close(s);
}

/* ---- maps ---- */

/* A ball pressed onto the arm's middle from above; with a map of one value painted on all. */
static void ball_press(const char *map, float value, double *force, double *off)
{
    cutis_character *arm = test_zoo("arm", 0.2), *painted = NULL;
    float top = -1e9f, *values = malloc((size_t)arm->vertex_count * sizeof(float));
    for (int v = 0; v < arm->vertex_count; v++) {
        values[v] = value;
        const float *x = arm->positions + 3 * v;
        if (fabsf(x[0] - 0.5f * (arm->bounds_min[0] + arm->bounds_max[0])) < 0.05f) top = fmaxf(top, x[1]);
    }
    cutis_map own = {map, values};
    cutis_character given = *arm;
    given.maps = &own, given.map_count = map ? 1 : 0;
    assert_int_equal(cutis_character_create(&given, NULL, &painted, NULL), CUTIS_OK);
    stage_prop ball = {
        {.role = CUTIS_PROP_COLLIDER, .shape = CUTIS_PROP_SPHERE, .size = {0.05f}, .friction = -1, .restitution = -1},
        {0.5f * (arm->bounds_min[0] + arm->bounds_max[0]), top + 0.075f, 0}};
    cutis_character_destroy(arm);
    springs_scene *s = stage_open(painted, NULL, &ball, 1, NULL);
    s->pose = press_pose;
    stage_step(s, 0.5);
    double sum[3];
    stage_touch(s, sum);
    *force = -sum[1];
    *off = 0;
    for (int i = 0; i < 3 * s->character->point_count; i++)
        *off = fmax(*off, fabs((double)s->points[i] - (double)s->mesh.positions[i]));
    stage_close(s);
    free(values);
}

static void painted_maps_count(void **unused)
{
    (void)unused;
    double plain, soft, shallow, frozen, off[4];
    ball_press(NULL, 1, &plain, &off[0]);
    ball_press("stiffness", 0.3f, &soft, &off[1]);
    ball_press("depth", 0.2f, &shallow, &off[2]);
    ball_press("freeze", 1, &frozen, &off[3]);
    print_message(
        "ball 15 mm into the arm: %.2f N; stiffness 0.3: %.2f N; depth 0.2: %.2f N; frozen skin moves by %.2g\n", plain,
        soft, shallow, off[3]);
    assert_true(plain > 0.1 && off[0] > 0.005);
    assert_true(fabs(soft / plain - 0.3) < 0.05);
    assert_true(shallow > 1.5 * plain);
    assert_true(off[3] < 1e-6);
}

/* ---- props ---- */

static void props_come_to_rest_on_a_table(void **unused)
{
    (void)unused;
    test_is_heavy();
    /* Beside the arm: a table, on it a rigid ball and a soft box, and a rigid box on that one. */
    const stage_prop props[] = {
        {{.role = CUTIS_PROP_COLLIDER, .shape = CUTIS_PROP_BOX, .size = {0.3f, 0.05f, 0.3f}, .friction = 0.5f},
         {0, 0.5f, 1}},
        {{.role = CUTIS_PROP_RIGID, .shape = CUTIS_PROP_SPHERE, .size = {0.05f}, .mass = 0.3f, .friction = 0.5f},
         {-0.15f, 0.62f, 1}},
        {{.role = CUTIS_PROP_SOFT,
          .shape = CUTIS_PROP_BOX,
          .size = {0.05f, 0.05f, 0.05f},
          .mass = 0.5f,
          .friction = 0.5f,
          .stiffness = 0.8f},
         {0.1f, 0.62f, 1}},
        {{.role = CUTIS_PROP_RIGID,
          .shape = CUTIS_PROP_BOX,
          .size = {0.03f, 0.02f, 0.03f},
          .mass = 0.1f,
          .friction = 0.5f},
         {0.1f, 0.71f, 1}},
    };
    static const char *const settings[] = {"stand=off", NULL};
    springs_scene *s = stage_open(test_zoo("arm", 0.1), NULL, props, 4, settings);
    for (int f = 1; f <= 60; f++) stage_step(s, f / 30.0);
    double before[3], y[3];
    for (int i = 0; i < 3; i++) before[i] = (double)stage_prop_state(s, i + 1).transform[7];
    for (int f = 61; f <= 75; f++) stage_step(s, f / 30.0);
    for (int i = 0; i < 3; i++) y[i] = (double)stage_prop_state(s, i + 1).transform[7];
    print_message("on a table of height 0.55: ball at %.4f, soft box at %.4f, box on it at %.4f\n", y[0], y[1], y[2]);
    assert_true(fabs(y[0] - 0.60) < 0.003);
    assert_true(y[1] < 0.601 && y[1] > 0.599);
    assert_true(fabs(y[2] - (y[1] + 0.07)) < 0.002);
    for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - before[i]) < 0.001);
    stage_close(s);
}

/* ---- a closed mesh as a soft prop ---- */

enum { ROUNDS = 6, AROUND = 10, BALL_POINTS = 2 + (ROUNDS - 1) * AROUND, BALL_TRIANGLES = 2 * (ROUNDS - 1) * AROUND };

/* A pear: a ball whose upper half is drawn out, which no built-in shape is. */
static void pear_make(float *positions, int *triangles)
{
    int last = BALL_POINTS - 1, t = 0;
    for (int i = 0; i <= ROUNDS; i++)
        for (int k = 0; k < (i == 0 || i == ROUNDS ? 1 : AROUND); k++) {
            double angle = 3.14159265358979 * ((double)i / ROUNDS - 0.5), around = 6.28318530717959 * k / AROUND;
            float *x = positions + 3 * (i == 0 ? 0 : 1 + (i - 1) * AROUND + k);
            double y = sin(angle), r = cos(angle) * (y > 0 ? 1 - 0.4 * y : 1);
            x[0] = (float)(0.05 * r * sin(around)), x[1] = (float)(0.05 * (y > 0 ? 1.4 * y : y));
            x[2] = (float)(0.05 * r * cos(around));
        }
    for (int k = 0; k < AROUND; k++) {
        int next = (k + 1) % AROUND, top = 1 + (ROUNDS - 2) * AROUND;
        const int ends[6] = {0, 1 + next, 1 + k, last, top + k, top + next};
        memcpy(triangles + 3 * t, ends, sizeof ends);
        t += 2;
        for (int i = 0; i + 2 < ROUNDS; i++) {
            int a = 1 + i * AROUND + k, b = 1 + i * AROUND + next;
            const int two[6] = {a, b, b + AROUND, a, b + AROUND, a + AROUND};
            memcpy(triangles + 3 * t, two, sizeof two);
            t += 2;
        }
    }
}

static double surface_volume(const float *x, const int *triangles, int count)
{
    double six = 0;
    for (int t = 0; t < count; t++) {
        vec3 a = vec3_load(x + 3 * triangles[3 * t]), b = vec3_load(x + 3 * triangles[3 * t + 1]),
             c = vec3_load(x + 3 * triangles[3 * t + 2]);
        six += (double)vec3_dot(a, vec3_cross(b, c));
    }
    return six / 6;
}

static void soft_mesh_is_filled_and_comes_to_rest(void **unused)
{
    (void)unused;
    static float positions[3 * BALL_POINTS];
    static int triangles[3 * BALL_TRIANGLES];
    pear_make(positions, triangles);
    double volume = surface_volume(positions, triangles, BALL_TRIANGLES);
    const stage_prop props[] = {
        {{.role = CUTIS_PROP_COLLIDER, .shape = CUTIS_PROP_BOX, .size = {0.3f, 0.05f, 0.3f}, .friction = 0.5f},
         {0, 0.5f, 1}},
        {{.role = CUTIS_PROP_SOFT,
          .shape = CUTIS_PROP_MESH,
          .vertex_count = BALL_POINTS,
          .positions = positions,
          .triangle_count = BALL_TRIANGLES,
          .triangles = triangles,
          .mass = 0.3f,
          .friction = 0.5f,
          .stiffness = 0.6f},
         {0, 0.61f, 1}},
    };
    static const char *const settings[] = {"stand=off", NULL};
    springs_scene *s = stage_open(test_zoo("arm", 0.1), NULL, props, 2, settings);
    const springs_model *m = s->model->stages[0].data;
    assert_true(m->props[1].inner_count > 10);
    for (int f = 1; f <= 45; f++) stage_step(s, f / 30.0);
    cutis_prop_state prop = stage_prop_state(s, 1);
    assert_int_equal(prop.vertex_count, BALL_POINTS);
    assert_int_equal(prop.triangle_count, BALL_TRIANGLES);
    double lowest = 1e9, kept = surface_volume(prop.positions, prop.triangles, prop.triangle_count) / volume;
    for (int v = 0; v < prop.vertex_count; v++) lowest = fmin(lowest, (double)prop.positions[3 * v + 1]);
    print_message("soft pear of %d springs on a table of height 0.55: lowest at %.4f, %.1f %% of its volume\n",
                  m->soft.spring_count, lowest, 100 * kept);
    assert_true(volume > 0);
    assert_true(lowest > 0.5499 && lowest < 0.553);
    assert_true(kept > 0.9 && kept < 1.05);
    stage_close(s);
}

/* A prop far away adds a joint, weights are normalised once more; the skin comes to rest within the tolerance. */
static void far_prop_changes_nothing(void **unused)
{
    (void)unused;
    test_is_heavy();
    const stage_prop far = {{.role = CUTIS_PROP_SOFT, .shape = CUTIS_PROP_BOX, .size = {0.03f, 0.03f, 0.03f}},
                            {0, 5, 5}};
    springs_scene *with = stage_open(test_zoo("hand", 0.1), "fist", &far, 1, NULL);
    springs_scene *without = stage_open(test_zoo("hand", 0.1), "fist", NULL, 0, NULL);
    cutis_character *once = test_zoo("hand", 0.1);
    double weights = 0, points = 0;
    for (int i = 0; i < once->influence_first[once->vertex_count]; i++)
        weights =
            fmax(weights, fabs((double)with->character->influence_weights[i] - (double)once->influence_weights[i]));
    cutis_character_destroy(once);
    stage_step(with, 1), stage_step(without, 1);
    for (int i = 0; i < 3 * with->character->point_count; i++)
        points = fmax(points, fabs((double)with->points[i] - (double)without->points[i]));
    print_message("a prop far away changes weights by %.2g and the skin by %.2g of the size\n", weights,
                  points / (double)with->character->size);
    assert_true(weights < 1e-6);
    assert_true(points < 5e-4 * (double)with->character->size);
    stage_close(with);
    stage_close(without);
}

/* ---- the state ---- */

static uint64_t grasp_hash(const cutis_jobs *jobs)
{
    springs_scene *s = stage_open(test_zoo("hand", 0.1), "grasp", &cube, 1, NULL);
    cutis_step_input input = {.motion = {s, stage_sample}, .jobs = jobs};
    for (int f = 1; f <= 42; f++) cutis_state_step(s->model, s->state, &input, f / 30.0 - cutis_state_time(s->state));
    uint64_t hash = cutis_state_hash(s->model, s->state);
    stage_close(s);
    return hash;
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    cutis_pool *pool = NULL;
    assert_int_equal(cutis_pool_create(3, NULL, &pool, NULL), CUTIS_OK);
    uint64_t first = grasp_hash(NULL);
    assert_true(grasp_hash(&test_jobs_backward) == first);
    assert_true(grasp_hash(cutis_pool_jobs(pool)) == first);
    cutis_pool_destroy(pool);
}

static void snapshot_continues_alike_and_nothing_is_allocated(void **unused)
{
    (void)unused;
    springs_scene *s = stage_open(test_zoo("hand", 0.1), "grasp", &cube, 1, NULL);
    test_memory memory = {0};
    cutis_allocator allocator = test_allocator(&memory);
    cutis_state *own = test_state(s->model, &allocator), *copy = test_state(s->model, &allocator);
    long before = atomic_load(&memory.allocations);
    cutis_step_input input = {.motion = {s, stage_sample}};
    cutis_state_step(s->model, own, &input, 1.3);
    cutis_state_copy(s->model, copy, own);
    cutis_state_step(s->model, own, &input, 0.2);
    cutis_state_step(s->model, copy, &input, 0.2);
    assert_true(cutis_state_hash(s->model, own) == cutis_state_hash(s->model, copy));
    assert_int_equal(atomic_load(&memory.allocations), before);
    cutis_state_destroy(own);
    cutis_state_destroy(copy);
    assert_memory_clean(&memory);
    stage_close(s);
}

static void cruelty_leaves_everything_finite(void **unused)
{
    (void)unused;
    springs_scene *s = stage_open(test_zoo("hand", 0.1), "grasp", &cube, 1, NULL);
    int joints = s->character->joint_count;
    float *pose = calloc((size_t)joints * 12, sizeof(float));
    uint32_t seed = 7;
    for (int round = 0; round < (TEST_SANITIZED ? 2 : 6); round++) {
        cutis_pose_sample(s->character, s->clip, 0.1 * round, pose);
        /* Bones flung about; once the whole character far away and back. */
        for (int j = 0; j < joints; j++)
            for (int k = 3; k < 12; k += 4) {
                seed = seed * 1664525u + 1013904223u;
                float fling = (float)(seed >> 8) / 16777216.0f - 0.5f;
                pose[12 * j + k] += round % 3 == 0 ? 0.6f * fling : round == 4 ? 50 : 0;
            }
        cutis_step_input input = {.joints = pose};
        cutis_state_step(s->model, s->state, &input, 1 / 30.0);
        const float *x = cutis_state_positions(s->model, s->state);
        for (int i = 0; i < 3 * s->character->vertex_count; i++) assert_true(fabsf(x[i]) < 1e4f);
        cutis_prop_state prop = stage_prop_state(s, 0);
        for (int i = 0; i < 3 * prop.vertex_count; i++) assert_true(fabsf(prop.positions[i]) < 1e4f);
    }
    /* And the skin comes home. */
    cutis_pose_rest(s->character, pose);
    cutis_step_input input = {.joints = pose};
    for (int f = 0; f < (TEST_SANITIZED ? 3 : 20); f++) cutis_state_step(s->model, s->state, &input, 1 / 30.0);
    const float *x = cutis_state_positions(s->model, s->state);
    double off = 0;
    for (int i = 0; i < 3 * s->character->vertex_count; i++)
        off = fmax(off, fabs((double)x[i] - (double)s->character->positions[i]));
    print_message("after cruelty the skin is %.2g of the size from where it belongs\n",
                  off / (double)s->character->size);
    assert_true(TEST_SANITIZED || off < 0.01 * (double)s->character->size);
    free(pose);
    stage_close(s);
}

static void failed_allocations_are_survived(void **unused)
{
    (void)unused;
    springs_scene *s = stage_open(test_zoo("hand", 0.1), NULL, &cube, 1, NULL);
    cutis_model_def def = {.character = s->character, .solver = "springs"};
    assert_true(test_every_allocation(test_build_and_step, &def) > 3);
    stage_close(s);
}

static void props_that_make_no_sense_are_refused(void **unused)
{
    (void)unused;
    cutis_character *arm = test_zoo("arm", 0.1), *c = NULL;
    cutis_prop plane = {.name = "sea", .role = CUTIS_PROP_RIGID, .shape = CUTIS_PROP_PLANE, .joint = -1};
    cutis_character given = *arm;
    given.props = &plane, given.prop_count = 1;
    assert_int_equal(cutis_character_create(&given, NULL, &c, NULL), CUTIS_OK);
    cutis_model_def def = cutis_model_def_default();
    cutis_model *model = NULL;
    cutis_error error;
    def.character = c, def.solver = "springs";
    assert_int_equal(cutis_model_build(&def, &model, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "sea"));
    cutis_character_destroy(c);
    cutis_character_destroy(arm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_of_an_edge_balance),
        cmocka_unit_test(forces_of_an_edge_come_from_an_energy),
        cmocka_unit_test(forces_of_a_fold_do_not_jump),
        cmocka_unit_test(forces_of_an_edge_restore),
        cmocka_unit_test(runge_kutta_is_of_fourth_order),
        cmocka_unit_test(both_integrators_reach_the_same_shape),
        cmocka_unit_test(tolerance_bounds_the_shape),
        cmocka_unit_test(rest_pose_is_the_reference_to_the_bit),
        cmocka_unit_test(corrections_conserve_momentum),
        cmocka_unit_test(a_whole_correction_conserves_momentum),
        cmocka_unit_test(cones_prune_what_cannot_touch),
        cmocka_unit_test(painted_maps_count),
        cmocka_unit_test(props_come_to_rest_on_a_table),
        cmocka_unit_test(soft_mesh_is_filled_and_comes_to_rest),
        cmocka_unit_test(far_prop_changes_nothing),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(snapshot_continues_alike_and_nothing_is_allocated),
        cmocka_unit_test(cruelty_leaves_everything_finite),
        cmocka_unit_test(failed_allocations_are_survived),
        cmocka_unit_test(props_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
