/*
 * test_slide_motion.c: the motion of the skin in time: energy, waves (Eq. 6), advection (Eq. 8), constant velocities of
 * the body, and constraints.
 */
#include "slide_scenes.h"

/* ---- a strip in the plane ---- */

/* Of length 1 along x and `rows` quads across, whose body is moved by code. */
typedef struct strip {
    cutis_character *character;
    double stretch;  /* of the body along x */
    double velocity; /* that the body takes up along x within 0.1 s, sizes a second */
} strip;

static strip make_strip(int columns, double stretch)
{
    enum { ROWS = 2 };
    int vertices = (columns + 1) * (ROWS + 1), faces = columns * ROWS;
    float *positions = calloc(3 * (size_t)vertices, sizeof *positions);
    int *corners = malloc(4 * (size_t)faces * sizeof *corners), *first = malloc(((size_t)faces + 1) * sizeof *first);
    for (int v = 0; v < vertices; v++) {
        positions[3 * v] = (float)(v % (columns + 1)) / (float)columns;
        positions[3 * v + 1] = 0.05f * (float)(v / (columns + 1)) / ROWS;
    }
    for (int f = 0; f < faces; f++) {
        int at = f / columns * (columns + 1) + f % columns;
        const int own[4] = {at, at + 1, at + columns + 2, at + columns + 1};
        memcpy(corners + 4 * f, own, sizeof own);
        first[f] = 4 * f;
    }
    first[faces] = 4 * faces;
    cutis_character given = {.name = "strip",
                             .vertex_count = vertices,
                             .positions = positions,
                             .face_count = faces,
                             .face_first = first,
                             .corners = corners};
    strip s = {.stretch = stretch};
    cutis_error error;
    assert_int_equal(cutis_character_create(&given, NULL, &s.character, &error), CUTIS_OK);
    free(positions), free(corners), free(first);
    return s;
}

static void sample_strip(void *context, double time, float *positions)
{
    const strip *s = context;
    double t = fmin(time, 0.1), shift = s->velocity * (0.5 * t - sin(31.415926535897932 * t) / 62.831853 + time - t);
    for (int v = 0; v < s->character->vertex_count; v++) {
        const float *p = s->character->positions + 3 * v;
        positions[3 * v] = (float)(s->stretch * (double)p[0] + shift);
        positions[3 * v + 1] = p[1];
        positions[3 * v + 2] = p[2];
    }
}

/* The frequency at which the skin swings along the strip after a pull, by the times at which its mean passes rest. */
static double strip_frequency(int columns, double stretch, double substep)
{
    strip s = make_strip(columns, stretch);
    static const cutis_setting settings[] = {{"zeta", "0"}, {"damping", "0"}};
    cutis_model *model = test_build_def((cutis_model_def){
        .character = s.character, .solver = "slide", .substep = substep, .settings = settings, .setting_count = 2});
    cutis_state *state = test_state(model, NULL);
    s.velocity = 0.03;

    /* the body is as it will be from the beginning */
    const slide_model *m = model->stages[1].data;
    slide_state own;
    slide_state_view(m, (char *)state + model->stages[1].state, &own);
    sample_strip(&s, 0, own.surface);
    cutis_step_input input = {.surface = {&s, sample_strip}};
    double last = 0, first_time = 0, last_time = 0;
    int crossings = 0;
    for (double time = substep; time < 0.7; time += substep) {
        cutis_output sliding;
        cutis_state_step(model, state, &input, time - cutis_state_time(state));
        assert_true(cutis_state_output(model, state, "sliding", &sliding));
        double mean = 0;
        for (int v = 0; v < s.character->vertex_count; v++)
            mean += sin(3.14159265358979 * (double)s.character->positions[3 * v]) * (double)sliding.values[3 * v];
        if (time > 0.12 && last * mean < 0) {
            last_time = time - substep * mean / (mean - last);
            if (crossings++ == 0) first_time = last_time;
        }
        if (fabs(mean) > 1e-6) last = mean;
    }
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(s.character);
    assert_true(crossings > 3);
    return 0.5 * (crossings - 1) / (last_time - first_time);
}

/* The frequency that theory gives: sqrt(W'') / 2 for a length of 1, W the energy of the skin by its stretch. */
static double wave_frequency(double stretch, double size)
{
    double young = 15 * 15, nu = 0.3, e = 1e-4, w[3];
    slide_material m = {SLIDE_NEO_HOOKEAN, young * nu / (1 - nu * nu), young / (2 * (1 + nu)), 10, 0, 1};
    for (int i = 0; i < 3; i++) {
        double p = 1 / (stretch + (i - 1) * e);
        w[i] = slide_density_at(&m, d4_set(p * p + 1), d4_set(p)).value[0] / p;
    }
    return 0.5 * sqrt((w[0] - 2 * w[1] + w[2]) / (e * e)) * size;
}

/* Eq. (6): a stretched body carries waves as the metric says; convergence in mesh and step. */
static void waves_have_their_speed(void **state)
{
    (void)state;
    double size = sqrt(1 + 0.05 * 0.05); /* of the strip; the wave speed is in sizes */
    static const double stretches[] = {1, 1.2, 1.4};
    for (int i = 0; i < 3; i++) {
        double right = wave_frequency(stretches[i], size), got = strip_frequency(24, stretches[i], 0.002);
        print_message("strip stretched to %.1f: %.3f Hz, theory %.3f Hz\n", stretches[i], got, right);
        assert_true(fabs(got / right - 1) < 0.02);
    }
    double right = wave_frequency(1.2, size), steps[3], meshes[2];
    for (int i = 0; i < 3; i++) steps[i] = strip_frequency(32, 1.2, 0.008 / (1 << i)) / right - 1;
    for (int i = 0; i < 2; i++) meshes[i] = strip_frequency(8 << i, 1.2, 0.0005) / right - 1;
    print_message("error of the frequency for steps of 8, 4, 2 ms: %.4f %.4f %.4f; for 8, 16 columns: %.4f %.4f\n",
                  steps[0], steps[1], steps[2], meshes[0], meshes[1]);
    assert_true(fabs(steps[1] - steps[2]) < 0.4 * fabs(steps[0] - steps[1]));
    assert_true(fabs(meshes[1]) < 0.5 * fabs(meshes[0]) + 1e-3);
}

/* ---- advection ---- */

/* Eq. (8): a wave of velocities that is carried along comes out where it should, the better the finer the mesh. */
static double advection_error(int columns)
{
    strip s = make_strip(columns, 1);
    cutis_model *model = test_build(s.character, "slide", (const char *const[]){"boundary=free", NULL});
    const slide_model *m = model->stages[1].data;
    void *block = aligned_alloc(64, (slide_scratch_size(m) + 63) / 64 * 64);
    slide_scratch scratch;
    slide_scratch_view(m, block, &scratch);
    int n = m->point_count;
    double *v = calloc(2 * (size_t)n, sizeof *v), *way = calloc(2 * (size_t)n, sizeof *way), worst = 0;
    for (int i = 0; i < 3 * n; i++) scratch.x[i] = m->atlas.positions[i];
    slide_system_body(m, &scratch, NULL);
    double shift = 0.1, step = shift / 20;
    for (int i = 0; i < n; i++) {
        const double *g = scratch.gammas[i];
        double x = m->atlas.positions[3 * i], wave = sin(12 * x);
        for (int e = 0; e < 2; e++) v[2 * i + e] = wave * g[e], way[2 * i + e] = step * g[e];
    }
    for (int k = 0; k < 20; k++) slide_advect(m, &scratch, way, v, NULL);
    for (int i = 0; i < n; i++) {
        const double *g = scratch.gammas[i];
        double x = m->atlas.positions[3 * i];
        if (x < 0.3 || x > 0.9) continue;
        worst = fmax(worst, fabs(g[0] * v[2 * i] + g[1] * v[2 * i + 1] - sin(12 * (x - shift))));
    }
    free(v), free(way), free(block);
    cutis_model_destroy(model);
    cutis_character_destroy(s.character);
    return worst;
}

static void velocities_are_carried_along(void **state)
{
    (void)state;
    double coarse = advection_error(32), fine = advection_error(64);
    print_message("advection by a tenth: error %.4f, on half the mesh size %.4f\n", coarse, fine);
    assert_true(fine < 0.02);
    assert_true(fine < 0.4 * coarse);
}

/* ---- constant velocities ---- */

static void glide(const scene_motion *m, double time, float *joints)
{
    for (int j = 0; j < m->character->joint_count; j++) {
        joints[12 * j + 3] += (float)(m->amount * time);
        joints[12 * j + 11] -= (float)(0.5 * m->amount * time);
    }
}

/* Physics is the same in every frame that moves evenly. */
static void gliding_leaves_no_trace(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("torus", 0.3);
    const double times[] = {0.2, 0.8}, speeds[] = {0.3, 3};
    for (int k = 0; k < 2; k++) {
        const char *const settings[] = {"output=vertices", "zeta=0", NULL};
        scene_motion motion = {c, -1, 0, glide, speeds[k] * (double)c->size, NULL};
        float *plain = scene_run(c, "lbs", NULL, &motion, times, 2),
              *skin = scene_run(c, "slide", settings, &motion, times, 2);
        double worst = 0;
        for (int i = 0; i < 6 * c->vertex_count; i++)
            worst = fmax(worst, fabs((double)plain[i] - (double)skin[i]) / (double)c->size);
        print_message("torus gliding at %.1f sizes a second: largest slide %.2g of the size\n", speeds[k], worst);
        assert_true(worst < 1e-4);
        free(plain), free(skin);
    }
    cutis_character_destroy(c);
}

/* The mean sliding of a strip along x whose body leaps in the first step and is still from then on. */
static double slide_after_leap(const char *zeta, double substep)
{
    strip s = make_strip(16, 1.2);
    const cutis_setting settings[] = {{"zeta", zeta}};
    cutis_model *model = test_build_def((cutis_model_def){
        .character = s.character, .solver = "slide", .substep = substep, .settings = settings, .setting_count = 1});
    cutis_state *state = test_state(model, NULL);
    cutis_step_input input = {.surface = {&s, sample_strip}};
    double mean = 0;
    for (int i = 0; i < 5; i++) {
        cutis_output sliding;
        cutis_state_step(model, state, &input, 0.008);
        assert_true(cutis_state_output(model, state, "sliding", &sliding));
        for (int v = 0; v < s.character->vertex_count; v++)
            mean += fabs((double)sliding.values[3 * v]) / (5 * s.character->vertex_count);
    }
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(s.character);
    return mean;
}

/* A host that does not begin in the pose of the reset throws no skin about, whatever the step. */
static void leap_into_the_first_pose_leaves_no_trace(void **state)
{
    (void)state;
    double still[2], loose[2];
    for (int i = 0; i < 2; i++) {
        double substep = i == 0 ? 0.004 : 0.001;
        still[i] = slide_after_leap("1", substep);
        loose[i] = slide_after_leap("0", substep);
    }
    print_message(
        "leap into the first pose: mean slide %.2g and %.2g for steps of 4 and 1 ms; with zeta 0 %.2g and %.2g\n",
        still[0], still[1], loose[0], loose[1]);
    for (int i = 0; i < 2; i++) assert_true(fabs(loose[i] - still[i]) < 1e-6);
}

/* ---- what is given ---- */

static float bulge(const cutis_character *c, int v) { return 0.03f * sinf(3.14159265f * c->positions[3 * v]); }

/* The strip with three maps of a name, of which x is `value` and the others are 0, and those of freeze. */
static void paint_strip(strip *s, const char *const names[3], float (*value)(const cutis_character *c, int v),
                        float (*freeze)(const cutis_character *c, int v))
{
    int count = s->character->vertex_count;
    float *values = calloc(4 * (size_t)count, sizeof *values);
    cutis_map maps[4] = {
        {names[0], values}, {names[1], values + count}, {names[2], values + 2 * count}, {"freeze", values + 3 * count}};
    for (int v = 0; v < count; v++) values[v] = value(s->character, v);
    for (int v = 0; v < count && freeze; v++) values[3 * count + v] = freeze(s->character, v);
    cutis_character given = *s->character, *painted = NULL;
    cutis_error error;
    given.maps = maps;
    given.map_count = 4;
    assert_int_equal(cutis_character_create(&given, NULL, &painted, &error), CUTIS_OK);
    cutis_character_destroy(s->character);
    s->character = painted;
    free(values);
}

/* Strain at the beginning, u(0): the skin starts as painted and comes to rest where it is unstrained. */
static void initial_strain_is_taken(void **state)
{
    (void)state;
    static const char *const names[] = {"slide_x", "slide_y", "slide_z"};
    strip s = make_strip(24, 1);
    paint_strip(&s, names, bulge, NULL);
    cutis_model *model = test_build(s.character, "slide", NULL);
    cutis_state *run = test_state(model, NULL);
    cutis_output sliding;
    double worst = 0, left = 0;
    assert_true(cutis_state_output(model, run, "sliding", &sliding));
    for (int v = 0; v < s.character->vertex_count; v++)
        worst = fmax(worst, fabs((double)sliding.values[3 * v] - (double)bulge(s.character, v)));
    cutis_step_input input = {.surface = {&s, sample_strip}};
    for (int i = 0; i < 100; i++) {
        cutis_state_step(model, run, &input, 0.02);
        scene_assert_sound(model, run);
    }
    assert_true(cutis_state_output(model, run, "sliding", &sliding));
    for (int v = 0; v < s.character->vertex_count; v++) left = fmax(left, fabs((double)sliding.values[3 * v]));
    print_message("initial strain: taken within %.2g, after 2 s %.2g is left of 0.03\n", worst, left);
    assert_true(worst < 1e-4);
    assert_true(left < 3e-3);
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    cutis_character_destroy(s.character);
}

static float middle_column(const cutis_character *c, int v) { return fabsf(c->positions[3 * v] - 0.5f) < 0.01f; }
static float pull_speed(const cutis_character *c, int v) { return 0.1f * middle_column(c, v); }

/* Eq. (10) with g: attached skin goes at the velocity that is given, and the skin around evenly with it. */
static void attached_skin_is_pulled(void **state)
{
    (void)state;
    static const char *const names[] = {"pull_x", "pull_y", "pull_z"};
    strip s = make_strip(24, 1);
    paint_strip(&s, names, pull_speed, middle_column);
    cutis_model *model = test_build(s.character, "slide", NULL);
    cutis_state *run = test_state(model, NULL);
    cutis_step_input input = {.surface = {&s, sample_strip}};
    for (int i = 0; i < 50; i++) {
        cutis_state_step(model, run, &input, 0.02);
        scene_assert_sound(model, run);
    }
    cutis_output sliding, attached;
    double pulled = 0, half = 0;
    int pulled_count = 0, half_count = 0;
    assert_true(cutis_state_output(model, run, "sliding", &sliding));
    assert_true(cutis_state_output(model, run, "attached", &attached));
    for (int v = 0; v < s.character->vertex_count; v++) {
        double x = (double)s.character->positions[3 * v];
        if (middle_column(s.character, v) > 0) {
            pulled += (double)sliding.values[3 * v], pulled_count++;
            assert_true(attached.values[v] == 1);
        } else if (fabs(x - 0.25) < 0.01) {
            half += (double)sliding.values[3 * v], half_count++;
        }
    }
    pulled /= pulled_count, half /= half_count;
    print_message("pulled skin: %.4f after a second at 0.1 a second, half way to the end %.4f\n", pulled, half);
    assert_true(fabs(pulled - 0.1) < 0.01);
    assert_true(half > 0.3 * pulled && half < 0.7 * pulled);
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    cutis_character_destroy(s.character);
}

/* ---- energy ---- */

/* The body is squashed and stands still; the skin starts where plain texture would be, strained. */
static void run_released(const char *kind, const char *damping, double seconds, double *first, double *lowest,
                         double *highest, double *growth)
{
    cutis_character *c = test_zoo("torus", 0.2);
    const char *const settings[] = {kind, damping, "zeta=0", NULL};
    cutis_model *model = test_build(c, "slide", settings);
    const slide_model *m = model->stages[1].data;
    cutis_state *run = test_state(model, NULL);
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof *joints);
    cutis_pose_sample(c, cutis_character_find_clip(c, "squash"), 0.5, joints);
    cutis_state_reset(model, run, joints);
    void *own = (char *)run + model->stages[1].state;
    void *scratch = (char *)run + model->state_bytes + model->stages[1].scratch;
    const float *surface = (const float *)((char *)run + model->stages[0].points);
    double kinetic, last = slide_energy(m, own, scratch, surface, &kinetic) + kinetic;
    *first = *lowest = *highest = last;
    *growth = 0;
    for (int i = 0; i < seconds / m->h; i++) {
        cutis_step_input input = {.joints = joints};
        cutis_state_step(model, run, &input, m->h);
        scene_assert_sound(model, run);
        double total = slide_energy(m, own, scratch, surface, &kinetic) + kinetic;
        *growth = fmax(*growth, (total - last) / *first);
        *lowest = fmin(*lowest, total), *highest = fmax(*highest, total);
        last = total;
    }
    free(joints);
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

static void energy_is_kept_or_lost_but_never_gained(void **state)
{
    (void)state;
    test_is_heavy();
    static const char *const kinds[] = {"material=stvk", "material=neohookean", "material=fung"};
    for (int k = 0; k < 3; k++) {
        double first, lowest, highest, growth;
        run_released(kinds[k], "damping=0", 1, &first, &lowest, &highest, &growth);
        print_message("%s, undamped: energy within %+.4f %% and %+.4f %% of the first over a second\n", kinds[k],
                      100 * (lowest / first - 1), 100 * (highest / first - 1));
        assert_true(lowest > 0.99 * first && highest < 1.01 * first);
        run_released(kinds[k], "damping=4", 0.5, &first, &lowest, &highest, &growth);
        print_message("%s, damped: energy falls to %.2f, largest growth in a step %.2g of the first\n", kinds[k],
                      lowest / first, growth);
        assert_true(growth <= 1e-9);
        assert_true(lowest < 0.95 * first);
    }
}

/* ---- accuracy ---- */

/* The sliding (vertex_count x 3) of a clip after `seconds`; tolerance 0: as it is. Free it. */
static float *slide_of(const cutis_character *c, const char *clip, const char *zeta, double substep, double tolerance,
                       double seconds)
{
    const cutis_setting setting = {"zeta", zeta};
    cutis_model *model = test_build_def((cutis_model_def){
        .character = c, .solver = "slide", .settings = &setting, .setting_count = 1, .substep = substep});
    slide_model *own = model->stages[model->stage_count - 1].data;
    if (tolerance > 0) own->tolerance = tolerance;
    cutis_state *state = test_state(model, NULL);
    scene_motion motion = {.character = c, .clip = cutis_character_find_clip(c, clip)};
    cutis_step_input input = {.motion = {&motion, scene_sample}};

    /* on the first pose, for a leap into it is none of the clip's motion */
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof *joints);
    scene_sample(&motion, 0, joints);
    cutis_state_reset(model, state, joints);
    free(joints);
    cutis_state_step(model, state, &input, seconds);
    cutis_output sliding;
    assert_true(cutis_state_output(model, state, "sliding", &sliding));
    size_t bytes = 3 * (size_t)c->vertex_count * sizeof(float);
    float *copy = malloc(bytes);
    memcpy(copy, sliding.values, bytes);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return copy;
}

/* Root of the mean square of a - b, or of a, over the vertices. */
static double root_mean_square(const cutis_character *c, const float *a, const float *b)
{
    double sum = 0;
    for (int i = 0; i < 3 * c->vertex_count; i++) {
        double d = (double)a[i] - (b ? (double)b[i] : 0);
        sum += d * d;
    }
    return sqrt(sum / c->vertex_count) / (double)c->size;
}

/* What the linear system is not solved to is far below what shorter steps change, and that below what is seen. */
static void shape_is_accurate(void **state)
{
    (void)state;
    test_is_heavy();
    static const struct {
        const char *character, *clip, *zeta;
        double resolution, seconds;
    } cases[] = {{"torus", "squash", "0.999", 0.5, 0.8},
                 {"torus", "shake", "0", 0.5, 0.6},
                 {"hand", "fist", "0.999", 0.2, 0.5},
                 {"man", "jump", "0.3", 0.2, 0.5}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        cutis_character *c = test_zoo(cases[i].character, cases[i].resolution);
        float *usual = slide_of(c, cases[i].clip, cases[i].zeta, 0, 0, cases[i].seconds);
        float *solved = slide_of(c, cases[i].clip, cases[i].zeta, 0, 1e-9, cases[i].seconds);
        float *short_steps = slide_of(c, cases[i].clip, cases[i].zeta, 0.001, 1e-9, cases[i].seconds);
        double size = root_mean_square(c, solved, NULL), system = root_mean_square(c, usual, solved);
        double step = root_mean_square(c, solved, short_steps);
        print_message("%s %s: slides by %.2g of the size; the system solved to 1e-9 changes %.2g, steps of 1 ms %.2g\n",
                      cases[i].character, cases[i].clip, size, system, step);
        assert_true(system < 0.2 * step);
        assert_true(step < 0.02 * size);
        free(usual);
        free(solved);
        free(short_steps);
        cutis_character_destroy(c);
    }
}

/* Vertices that move with their skin enclose what the body encloses, though they go from flat to curved places. */
static void moved_vertices_keep_the_volume(void **state)
{
    (void)state;
    static const struct {
        const char *character, *clip;
        double time;
    } cases[] = {{"hand", "fist", 0.9}, {"torus", "squash", 0.8}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        cutis_character *c = test_zoo(cases[i].character, 0.5);
        static const char *const settings[] = {"output=vertices", NULL};
        cutis_model *model = test_build(c, "slide", settings), *body = test_build(c, "lbs", NULL);
        cutis_state *run = test_state(model, NULL), *plain = test_state(body, NULL);
        scene_motion motion = {.character = c, .clip = cutis_character_find_clip(c, cases[i].clip)};
        cutis_step_input input = {.motion = {&motion, scene_sample}};
        cutis_state_step(model, run, &input, cases[i].time);
        cutis_state_step(body, plain, &input, cases[i].time);

        double volumes[2];
        const float *shown[2] = {cutis_state_positions(model, run), cutis_state_positions(body, plain)};
        for (int k = 0; k < 2; k++)
            assert_int_equal(cutis_measure_frames(c, shown[k], 1, NULL, NULL, volumes + k, NULL, NULL, NULL), CUTIS_OK);
        double moved = 0;
        for (int k = 0; k < 3 * c->vertex_count; k++)
            moved = fmax(moved, fabs((double)shown[0][k] - (double)shown[1][k]) / (double)c->size);
        print_message("%s: vertices move by %.3f sizes; volume %.4f, of the body %.4f\n", c->name, moved, volumes[0],
                      volumes[1]);
        assert_true(moved > 0.02);
        assert_true(fabs(volumes[0] - volumes[1]) < 3e-3);
        cutis_state_destroy(run);
        cutis_state_destroy(plain);
        cutis_model_destroy(model);
        cutis_model_destroy(body);
        cutis_character_destroy(c);
    }
}

int main(int count, char **arguments)
{
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_have_their_speed),
        cmocka_unit_test(velocities_are_carried_along),
        cmocka_unit_test(gliding_leaves_no_trace),
        cmocka_unit_test(leap_into_the_first_pose_leaves_no_trace),
        cmocka_unit_test(initial_strain_is_taken),
        cmocka_unit_test(attached_skin_is_pulled),
        cmocka_unit_test(energy_is_kept_or_lost_but_never_gained),
        cmocka_unit_test(shape_is_accurate),
        cmocka_unit_test(moved_vertices_keep_the_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
