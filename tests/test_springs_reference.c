/* test_springs_reference.c: what the reference shapes of the solver springs promise. */
#include "testing.h"

#include "solvers/springs/springs_shapes.h"

/* A character with all that a solver's build gets, and one parameter: the shape of each bone. */
typedef struct subject {
    cutis_character *character;
    arena memory;
    mesh mesh;
    point_weights weights;
    double *shapes; /* (joint_count) */
    solver_build build;
    springs_reference *reference;
    void *scratch;
    float *joints, *skin, *points;
    void (*note)(void *context, const char *sentence);
    char *note_text;
} subject;

static void no_warning(void *context, const char *sentence)
{
    (void)context;
    fail_msg("a warning: %s", sentence);
}

static void subject_start(subject *s, const char *name, double resolution, const cutis_allocator *allocator)
{
    memset(s, 0, sizeof *s);
    s->character = test_zoo(name, resolution);
    s->memory = arena_create(allocator);
}

/* False when memory ran out. */
static bool subject_build(subject *s, springs_shape shape, const cutis_allocator *allocator)
{
    const cutis_character *c = s->character;
    arena *memory = &s->memory;
    if (mesh_build_character(&s->mesh, c, memory, NULL)) return false;
    int *first = ARENA_ARRAY(memory, int, c->point_count + 1);
    int *joints = ARENA_ARRAY(memory, int, c->influence_first[c->vertex_count]);
    float *weights = ARENA_ARRAY(memory, float, c->influence_first[c->vertex_count]);
    if (!s->shapes) {
        s->shapes = ARENA_ARRAY(memory, double, c->joint_count);
        if (s->shapes) {
            for (int j = 0; j < c->joint_count; j++) s->shapes[j] = shape;
        }
    }
    if (memory->failed) return false;
    for (int p = 0; p < c->point_count; p++) {
        int v = c->point_vertices[p];
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            joints[first[p] + i - c->influence_first[v]] = c->influence_joints[i];
            weights[first[p] + i - c->influence_first[v]] = c->influence_weights[i];
        }
        first[p + 1] = first[p] + c->influence_first[v + 1] - c->influence_first[v];
    }
    s->weights = (point_weights){first, joints, weights};
    s->build = (solver_build){.character = c,
                              .mesh = &s->mesh,
                              .weights = &s->weights,
                              .values = s->shapes,
                              .bone_values = s->shapes,
                              .parameter_count = 1,
                              .substep = 0.01,
                              .memory = memory,
                              .allocator = memory_resolve(allocator),
                              .warn = no_warning,
                              .note = s->note,
                              .warn_context = s->note_text};
    if (springs_reference_build(&s->build, (springs_reference_parameters){0, -1, -1}, &s->reference, NULL))
        return false;
    s->scratch = arena_push(memory, springs_reference_scratch_size(s->reference), 1);
    s->joints = ARENA_ARRAY(memory, float, 12 * c->joint_count);
    s->skin = ARENA_ARRAY(memory, float, 12 * c->joint_count);
    s->points = ARENA_ARRAY(memory, float, 3 * c->point_count);
    return !memory->failed;
}

static void subject_end(subject *s)
{
    arena_destroy(&s->memory);
    cutis_character_destroy(s->character);
}

static void subject_make(subject *s, const char *name, double resolution, springs_shape shape)
{
    subject_start(s, name, resolution, NULL);
    assert_true(subject_build(s, shape, NULL));
}

static void subject_pose(subject *s, const char *clip, double time, const cutis_jobs *jobs)
{
    if (clip) {
        cutis_pose_sample(s->character, cutis_character_find_clip(s->character, clip), time, s->joints);
    } else {
        cutis_pose_rest(s->character, s->joints);
    }
    skin_matrices(s->character, s->joints, s->skin);
    springs_reference_evaluate(s->reference, s->skin, NULL, s->scratch, jobs, s->points);
}

static double worst_distance(const float *a, const float *b, int count)
{
    double worst = 0;
    for (int p = 0; p < count; p++) {
        double d2 = 0;
        for (int k = 0; k < 3; k++) d2 += pow(a[3 * p + k] - b[3 * p + k], 2);
        worst = fmax(worst, sqrt(d2));
    }
    return worst;
}

/* Vertices of a clip under a shape, for cutis_measure. */
static cutis_quality subject_measure(subject *s, const char *clip, double from, double to, int frames)
{
    int n = s->character->vertex_count;
    float *positions = malloc((size_t)frames * (size_t)n * 3 * sizeof *positions);
    assert_non_null(positions);
    for (int f = 0; f < frames; f++) {
        subject_pose(s, clip, from + (to - from) * f / (frames - 1), NULL);
        for (int v = 0; v < n; v++) {
            memcpy(positions + ((size_t)f * (size_t)n + (size_t)v) * 3, s->points + 3 * s->character->vertex_points[v],
                   3 * sizeof *positions);
        }
    }
    cutis_quality quality;
    assert_int_equal(cutis_measure(s->character, positions, frames, 30, NULL, NULL, &quality, NULL), CUTIS_OK);
    free(positions);
    return quality;
}

static const springs_shape all_shapes[] = {SPRINGS_SHAPE_LBS, SPRINGS_SHAPE_DQS, SPRINGS_SHAPE_METABALLS,
                                           SPRINGS_SHAPE_DFFD};

static void rest_pose_gives_rest_positions(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(all_shapes); i++) {
        subject s;
        subject_make(&s, "hand", 0.5, all_shapes[i]);
        subject_pose(&s, NULL, 0, NULL);
        assert_true(worst_distance(s.points, s.mesh.positions, s.mesh.point_count) < 2e-6 * s.character->size);
        subject_end(&s);
    }
}

static void rigid_motion_moves_the_shape_along(void **state)
{
    (void)state;
    test_is_heavy();
    quat turn = quat_axis_angle(vec3_normalize(vec3_make(1, 2, -1)), 2);
    mat34 motion = mat34_compose(vec3_make(0.3f, -0.2f, 0.5f), turn, vec3_make(1, 1, 1));
    for (int i = 0; i < COUNT_OF(all_shapes); i++) {
        subject s;
        subject_make(&s, "hand", 0.5, all_shapes[i]);
        subject_pose(&s, "grasp", 1.5, NULL);
        float *moved = malloc((size_t)s.mesh.point_count * 3 * sizeof *moved);
        assert_non_null(moved);
        for (int p = 0; p < s.mesh.point_count; p++)
            vec3_store(moved + 3 * p, mat34_point(motion.m, vec3_load(s.points + 3 * p)));
        for (int j = 0; j < s.character->joint_count; j++) {
            mat34 own;
            memcpy(own.m, s.skin + 12 * j, sizeof own.m);
            own = mat34_multiply(motion, own);
            memcpy(s.skin + 12 * j, own.m, sizeof own.m);
        }
        springs_reference_evaluate(s.reference, s.skin, NULL, s.scratch, NULL, s.points);
        assert_true(worst_distance(s.points, moved, s.mesh.point_count) < 2e-5 * s.character->size);
        free(moved);
        subject_end(&s);
    }
}

/* A bone's points take its shape, and between two shapes there is no seam. */
static void bones_choose_their_shapes(void **state)
{
    (void)state;
    subject plain, balls, mixed;
    subject_make(&plain, "arm", 0.5, SPRINGS_SHAPE_LBS);
    subject_make(&balls, "arm", 0.5, SPRINGS_SHAPE_METABALLS);
    subject_start(&mixed, "arm", 0.5, NULL);
    int joint_count = mixed.character->joint_count, forearm = cutis_character_find_joint(mixed.character, "forearm");
    mixed.shapes = ARENA_ARRAY(&mixed.memory, double, joint_count);
    for (int j = 0; j < joint_count; j++) mixed.shapes[j] = j == forearm ? SPRINGS_SHAPE_METABALLS : SPRINGS_SHAPE_LBS;
    assert_true(subject_build(&mixed, SPRINGS_SHAPE_LBS, NULL));
    subject_pose(&plain, "flex", 0.8, NULL);
    subject_pose(&balls, "flex", 0.8, NULL);
    subject_pose(&mixed, "flex", 0.8, NULL);
    int both = 0;
    for (int p = 0; p < mixed.mesh.point_count; p++) {
        float share = 0;
        for (int i = mixed.weights.first[p]; i < mixed.weights.first[p + 1]; i++)
            if (mixed.weights.joints[i] == forearm) share += mixed.weights.weights[i];
        vec3 a = vec3_load(plain.points + 3 * p), b = vec3_load(balls.points + 3 * p);
        assert_true(vec3_distance(vec3_lerp(a, b, share), vec3_load(mixed.points + 3 * p)) < 1e-6f);
        both += share > 0.1f && share < 0.9f && vec3_distance(a, b) > 1e-3f;
    }
    assert_true(both > 20);
    subject_end(&plain);
    subject_end(&balls);
    subject_end(&mixed);
}

/* Figures: cutis measure on a bake with --set reference=... */
static void metaballs_keep_a_twisted_and_a_bent_elbow(void **state)
{
    (void)state;
    subject plain, balls;
    subject_make(&plain, "arm", 0.5, SPRINGS_SHAPE_LBS);
    subject_make(&balls, "arm", 0.5, SPRINGS_SHAPE_METABALLS);
    cutis_quality a = subject_measure(&plain, "twist", 0, 2.6, 14), b = subject_measure(&balls, "twist", 0, 2.6, 14);
    print_message("twist: smallest section lbs %.3f, metaballs %.3f\n", a.min_section_ratio, b.min_section_ratio);
    assert_true(a.min_section_ratio < 0.1);
    assert_true(b.min_section_ratio > 0.95);
    assert_true(b.volume_min_ratio > 0.99);
    a = subject_measure(&plain, "flex", 0, 2.6, 14), b = subject_measure(&balls, "flex", 0, 2.6, 14);
    print_message("flex: smallest section lbs %.3f, metaballs %.3f; penetration %.5f and %.5f\n", a.min_section_ratio,
                  b.min_section_ratio, a.penetration_max, b.penetration_max);
    assert_true(a.min_section_ratio < 0.5 && a.penetration_max > 0.03);
    assert_true(b.min_section_ratio > 0.65);
    assert_true(b.penetration_max < 0.002);
    subject_end(&plain);
    subject_end(&balls);
}

/* Also in the smallest meshes, and for bones that the clip never moves as far. */
static void metaballs_are_smooth_over_the_surface(void **state)
{
    (void)state;
    subject plain, balls;
    subject_make(&plain, "man", 0.5, SPRINGS_SHAPE_DQS);
    subject_make(&balls, "man", 0.5, SPRINGS_SHAPE_METABALLS);
    for (int step = 0; step < 6; step++) {
        subject_pose(&plain, "jump", 0.3 + 0.3 * step, NULL);
        subject_pose(&balls, "jump", 0.3 + 0.3 * step, NULL);
        /* The field moves neighbours alike: differences of an edge's ends, over its length at rest. */
        const mesh *m = &balls.mesh;
        double worst = 0;
        for (int e = 0; e < m->edge_count; e++) {
            int p = m->edges[2 * e], q = m->edges[2 * e + 1];
            vec3 dp = vec3_sub(vec3_load(balls.points + 3 * p), vec3_load(plain.points + 3 * p));
            vec3 dq = vec3_sub(vec3_load(balls.points + 3 * q), vec3_load(plain.points + 3 * q));
            float length = vec3_distance(vec3_load(m->positions + 3 * p), vec3_load(m->positions + 3 * q));
            if (length < 2e-3f * balls.character->size) continue;
            worst = fmax(worst, vec3_distance(dp, dq) / length);
        }
        if (!(worst < 1.2)) print_error("step %d: %g\n", step, worst);
        assert_true(worst < 1.2);
    }
    subject_end(&plain);
    subject_end(&balls);
}

/* The field is sampled at each point, so a pose a little further moves points a little further. */
static void shapes_follow_the_pose_without_jumps(void **state)
{
    (void)state;
    test_is_heavy();
    for (int i = 0; i < COUNT_OF(all_shapes); i++) {
        subject s;
        subject_make(&s, "hand", 0.5, all_shapes[i]);
        float *last = malloc((size_t)s.mesh.point_count * 3 * sizeof *last);
        assert_non_null(last);
        double worst = 0;
        for (int f = 0; f <= 280; f++) {
            subject_pose(&s, "fist", 0.01 * f, NULL);
            if (f > 0) worst = fmax(worst, worst_distance(s.points, last, s.mesh.point_count));
            memcpy(last, s.points, (size_t)s.mesh.point_count * 3 * sizeof *last);
        }
        /* Fingertips travel 0.15 m in about half a second. */
        assert_true(worst < 0.02 * s.character->size);
        free(last);
        subject_end(&s);
    }
}

static void shapes_do_not_depend_on_threads(void **state)
{
    (void)state;
    test_is_heavy();
    for (int i = 0; i < COUNT_OF(all_shapes); i++) {
        subject s;
        subject_make(&s, "man", 0.5, all_shapes[i]);
        subject_pose(&s, "jump", 0.7, NULL);
        size_t bytes = (size_t)s.mesh.point_count * 3 * sizeof(float);
        float *first = malloc(bytes);
        assert_non_null(first);
        memcpy(first, s.points, bytes);
        subject_pose(&s, "jump", 0.2, NULL);
        subject_pose(&s, "jump", 0.7, &test_jobs_backward);
        assert_memory_equal(first, s.points, bytes);
        free(first);
        subject_end(&s);
    }
}

/* Degenerate skin matrices give finite points. */
static void flattened_bones_stay_finite(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(all_shapes); i++) {
        subject s;
        subject_make(&s, "arm", 0.3, all_shapes[i]);
        subject_pose(&s, "flex", 1, NULL);
        for (int variant = 0; variant < 3; variant++) {
            for (int e = 0; e < 12; e++) s.skin[12 * variant + e] *= variant == 2 && e % 4 < 3 ? -1 : e % 4 < 3 ? 0 : 1;
            springs_reference_evaluate(s.reference, s.skin, NULL, s.scratch, NULL, s.points);
            for (int e = 0; e < 3 * s.mesh.point_count; e++) assert_true(isfinite(s.points[e]));
        }
        subject_end(&s);
    }
}

/* ---- natural neighbours ---- */

enum { SITES = 60 };

/* Sites without order, the eight corners of a box around them first. */
static void sites_make(float *sites)
{
    unsigned random = 12345;
    for (int i = 0; i < SITES; i++) {
        for (int a = 0; a < 3; a++) {
            random = random * 1664525u + 1013904223u;
            sites[3 * i + a] = i < 8 ? (i >> a & 1 ? 1.5f : -0.5f) : (float)(random >> 8) / (float)(1 << 24);
        }
    }
}

static void natural_neighbours_are_a_partition_that_gives_back_the_point(void **state)
{
    (void)state;
    arena memory = arena_create(NULL);
    sibson_work *work = sibson_work_create(SITES, &memory);
    assert_non_null(work);
    float sites[3 * SITES];
    double shares[SITES];
    sites_make(sites);
    unsigned random = 99;
    for (int trial = 0; trial < 200; trial++) {
        float x[3];
        for (int a = 0; a < 3; a++) {
            random = random * 1664525u + 1013904223u;
            x[a] = (float)(random >> 8) / (float)(1 << 24);
        }
        assert_true(sibson_coordinates(SITES, sites, vec3_load(x), work, shares));
        double sum = 0, back[3] = {0, 0, 0};
        for (int i = 0; i < SITES; i++) {
            assert_true(shares[i] >= 0);
            sum += shares[i];
            for (int a = 0; a < 3; a++) back[a] += shares[i] * sites[3 * i + a];
        }
        assert_true(fabs(sum - 1) < 1e-12);
        for (int a = 0; a < 3; a++) assert_true(fabs(back[a] - x[a]) < 1e-9);
    }
    arena_destroy(&memory);
}

static void natural_neighbours_are_known_in_simple_places(void **state)
{
    (void)state;
    arena memory = arena_create(NULL);
    sibson_work *work = sibson_work_create(27, &memory);
    assert_non_null(work);
    float sites[3 * 27];
    double shares[27];
    for (int i = 0; i < 27; i++) {
        sites[3 * i] = (float)(i % 3), sites[3 * i + 1] = (float)(i / 3 % 3), sites[3 * i + 2] = (float)(i / 9);
    }
    /* On a site: that site alone. In the middle of a cube of the grid: its corners alike, and nothing else. */
    assert_true(sibson_coordinates(27, sites, vec3_make(1, 1, 1), work, shares));
    assert_true(shares[13] == 1);
    assert_true(sibson_coordinates(27, sites, vec3_make(0.5f, 0.5f, 1.5f), work, shares));
    for (int i = 0; i < 27; i++) {
        bool near =
            fabsf(sites[3 * i] - 0.5f) < 1 && fabsf(sites[3 * i + 1] - 0.5f) < 1 && fabsf(sites[3 * i + 2] - 1.5f) < 1;
        assert_true(fabs(shares[i] - (near ? 0.125 : 0)) < 1e-9);
    }
    /* Smooth: a small step changes them a little. */
    double last[27];
    for (int step = 0; step <= 100; step++) {
        float t = 0.4f + 0.002f * (float)step;
        assert_true(sibson_coordinates(27, sites, vec3_make(t, 0.93f * t, 1.5f - 0.3f * t), work, shares));
        for (int i = 0; step > 0 && i < 27; i++) assert_true(fabs(shares[i] - last[i]) < 0.01);
        memcpy(last, shares, sizeof last);
    }
    /* Outside there are none. */
    assert_false(sibson_coordinates(27, sites, vec3_make(1, 1, 2.5f), work, shares));
    arena_destroy(&memory);
}

/* Figures: cutis measure on a bake with --set reference=dffd. */
static void control_points_fold_without_passing_through(void **state)
{
    (void)state;
    subject plain, free_form;
    subject_make(&plain, "arm", 0.5, SPRINGS_SHAPE_LBS);
    subject_make(&free_form, "arm", 0.5, SPRINGS_SHAPE_DFFD);
    cutis_quality a = subject_measure(&plain, "flex", 0, 2.6, 14), b = subject_measure(&free_form, "flex", 0, 2.6, 14);
    print_message("flex: penetration lbs %.5f, dffd %.5f; intersections %d and %d; section %.2f and %.2f\n",
                  a.penetration_max, b.penetration_max, a.self_intersections_max, b.self_intersections_max,
                  a.min_section_ratio, b.min_section_ratio);
    assert_true(b.penetration_max < 0.001);
    assert_true(b.self_intersections_max * 10 <= a.self_intersections_max);
    assert_true(b.min_section_ratio > a.min_section_ratio);
    b = subject_measure(&free_form, "twist", 0, 2.6, 14);
    assert_true(b.min_section_ratio > 0.5);
    subject_end(&plain);
    subject_end(&free_form);
}

static bool build_once(void *context, const cutis_allocator *allocator)
{
    subject s;
    subject_start(&s, "arm", 0.1, allocator);
    bool built = subject_build(&s, *(springs_shape *)context, allocator);
    subject_end(&s);
    return built;
}

static void build_survives_every_failed_allocation(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(all_shapes); i++) {
        springs_shape shape = all_shapes[i];
        assert_true(test_every_allocation(build_once, &shape) > 5);
    }
}

/* Fingers get free-form deformation, a limb metaballs; a bone whose skin a shape would strain keeps skinning. */
static void notes_keep(void *context, const char *sentence) { snprintf(context, 256, "%s", sentence); }

static void choice_follows_what_is_measured(void **state)
{
    (void)state;
    static const struct {
        const char *name, *sentence;
    } cases[] = {{"arm", "reference shape: metaballs at 4 bones, dffd at 0"},
                 {"hand", "reference shape: metaballs at 2 bones, dffd at 15"}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char note[256] = "";
        subject s;
        subject_start(&s, cases[i].name, 0.2, NULL);
        s.note = notes_keep;
        s.note_text = note;
        assert_true(subject_build(&s, SPRINGS_SHAPE_AUTO, NULL));
        assert_string_equal(note, cases[i].sentence);
        subject_end(&s);
    }

    /* every joint far beside its skin: metaballs would tear it */
    subject s;
    char note[256] = "";
    subject_start(&s, "arm", 0.2, NULL);
    cutis_joint *joints = (cutis_joint *)s.character->joints;
    for (int j = 0; j < s.character->joint_count; j++) joints[j].inverse_bind[7] += 1.5f;
    s.note = notes_keep;
    s.note_text = note;
    assert_true(subject_build(&s, SPRINGS_SHAPE_AUTO, NULL));
    assert_non_null(strstr(note, "skinning at"));
    subject_end(&s);
}

/* Fingers of one shape beside a palm of another tear nothing: the thumb of a grasp was open by 6 % of the size. */
static void chosen_shapes_tear_nothing(void **state)
{
    (void)state;
    subject chosen, linear;
    subject_make(&chosen, "hand", 1, SPRINGS_SHAPE_AUTO);
    subject_make(&linear, "hand", 1, SPRINGS_SHAPE_LBS);
    float worst = 0;
    for (int i = 1; i <= 6; i++) {
        subject_pose(&chosen, "grasp", 0.2 * i, NULL);
        subject_pose(&linear, "grasp", 0.2 * i, NULL);
        for (int e = 0; e < chosen.mesh.edge_count; e++) {
            const int *ends = chosen.mesh.edges + 2 * e;
            float length[3];
            const float *places[3] = {chosen.points, linear.points, chosen.mesh.positions};
            for (int k = 0; k < 3; k++)
                length[k] = vec3_distance(vec3_load(places[k] + 3 * ends[0]), vec3_load(places[k] + 3 * ends[1]));
            worst = fmaxf(worst, length[0] / fmaxf(length[1], length[2]));
        }
    }
    print_message("longest edge over that of skinning and of rest: %.2f\n", (double)worst);
    assert_true(worst < 2);
    subject_end(&chosen);
    subject_end(&linear);
}

/* Give every joint other axes of its own, so that nothing else changes; without clips. */
static void turn_axes(cutis_character *c)
{
    cutis_joint *joints = (cutis_joint *)c->joints;
    const quat turn = {0.5f, 0.5f, 0.5f, 0.5f}; /* x to y to z */
    for (int j = 0; j < c->joint_count; j++) {
        cutis_transform *rest = &joints[j].rest;
        quat rotation = {rest->rotation[0], rest->rotation[1], rest->rotation[2], rest->rotation[3]};
        rotation = quat_multiply(rotation, turn);
        if (joints[j].parent >= 0) {
            rotation = quat_multiply(quat_conjugate(turn), rotation);
            vec3_store(rest->translation, quat_rotate(quat_conjugate(turn), vec3_load(rest->translation)));
        }
        memcpy(rest->rotation, &rotation, sizeof rest->rotation);

        /* scene space to the new axes */
        mat34 old, back = mat34_compose(vec3_make(0, 0, 0), quat_conjugate(turn), vec3_make(1, 1, 1));
        memcpy(old.m, joints[j].inverse_bind, sizeof old.m);
        old = mat34_multiply(back, old);
        memcpy(joints[j].inverse_bind, old.m, sizeof old.m);
    }
}

/* Programs give joints other axes when they read a file and write it again: the choice of shapes does not see them. */
static void choice_does_not_depend_on_the_axes_of_joints(void **state)
{
    (void)state;
    subject own, turned;
    subject_start(&own, "man", 0.2, NULL);
    subject_start(&turned, "man", 0.2, NULL);
    turn_axes(turned.character);

    /* by made poses alone: the clips have the old axes */
    int clips = own.character->clip_count;
    own.character->clip_count = turned.character->clip_count = 0;
    assert_true(subject_build(&own, SPRINGS_SHAPE_AUTO, NULL));
    assert_true(subject_build(&turned, SPRINGS_SHAPE_AUTO, NULL));
    own.character->clip_count = clips;

    /* the same motion of the skin under both */
    subject_pose(&own, "walk", 0.3, NULL);
    springs_reference_evaluate(turned.reference, own.skin, NULL, turned.scratch, NULL, turned.points);
    float worst = 0;
    for (int i = 0; i < 3 * own.character->point_count; i++)
        worst = fmaxf(worst, fabsf(own.points[i] - turned.points[i]));
    print_message("%.1e of the size\n", (double)(worst / own.character->size));
    assert_true(worst < 2e-6f * own.character->size);
    subject_end(&own);
    subject_end(&turned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_pose_gives_rest_positions),
        cmocka_unit_test(rigid_motion_moves_the_shape_along),
        cmocka_unit_test(bones_choose_their_shapes),
        cmocka_unit_test(metaballs_keep_a_twisted_and_a_bent_elbow),
        cmocka_unit_test(metaballs_are_smooth_over_the_surface),
        cmocka_unit_test(shapes_follow_the_pose_without_jumps),
        cmocka_unit_test(shapes_do_not_depend_on_threads),
        cmocka_unit_test(flattened_bones_stay_finite),
        cmocka_unit_test(natural_neighbours_are_a_partition_that_gives_back_the_point),
        cmocka_unit_test(natural_neighbours_are_known_in_simple_places),
        cmocka_unit_test(control_points_fold_without_passing_through),
        cmocka_unit_test(build_survives_every_failed_allocation),
        cmocka_unit_test(choice_follows_what_is_measured),
        cmocka_unit_test(chosen_shapes_tear_nothing),
        cmocka_unit_test(choice_does_not_depend_on_the_axes_of_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
