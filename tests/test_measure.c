/* The figures of the quality report on motions whose figures are known. */
#include "mesh_shapes.h"

#include "cutis/measure.h"
#include "measure/depth.h"

static const vec3 zero3 = {0, 0, 0};
static const double pi = 3.14159265358979323846;

/* A shape as a character; with joint_count > 0 a chain of joints along x, blended over `blend` around each. */
static cutis_character *shape_character(const shape *s, int joint_count, double spacing, double blend)
{
    static int firsts[SHAPE_TRIANGLES + 1], influence_first[SHAPE_POINTS + 1], influence_joints[2 * SHAPE_POINTS];
    static float weights[2 * SHAPE_POINTS];
    static const char *names[] = {"a", "b", "c", "d"};
    cutis_joint joints[4] = {0};
    for (int t = 0; t <= s->triangle_count; t++) firsts[t] = 3 * t;
    for (int j = 0; j < joint_count; j++) {
        joints[j] = (cutis_joint){.name = names[j], .parent = j - 1};
        joints[j].rest = (cutis_transform){{j ? (float)spacing : 0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        joints[j].idle = joints[j].rest;
        joints[j].inverse_bind[0] = joints[j].inverse_bind[5] = joints[j].inverse_bind[10] = 1;
        joints[j].inverse_bind[3] = -(float)(spacing * j);
    }
    for (int v = 0; v < s->point_count && joint_count; v++) {
        /* The weight of the next joint rises from 0 to 1 through one half at that joint. */
        double x = s->positions[3 * v] / spacing;
        int next = (int)floor(x + 0.5);
        next = next < 1 ? 1 : next > joint_count - 1 ? joint_count - 1 : next;
        double w = (x - next) / blend + 0.5;
        w = w < 0 ? 0 : w > 1 ? 1 : w;
        influence_first[v + 1] = 2 * v + 2;
        influence_joints[2 * v] = next - 1, influence_joints[2 * v + 1] = next;
        weights[2 * v] = (float)(1 - w), weights[2 * v + 1] = (float)w;
    }
    cutis_character given = {.name = "shape",
                             .vertex_count = s->point_count,
                             .positions = s->positions,
                             .face_count = s->triangle_count,
                             .face_first = firsts,
                             .corners = s->triangles,
                             .joint_count = joint_count,
                             .joints = joints};
    if (joint_count) {
        given.influence_first = influence_first;
        given.influence_joints = influence_joints;
        given.influence_weights = weights;
    }
    cutis_character *character = NULL;
    cutis_error error = {0};
    if (cutis_character_create(&given, NULL, &character, &error) != CUTIS_OK) print_error("%s\n", error.text);
    assert_non_null(character);
    return character;
}

static cutis_quality quality_of(const cutis_character *character, const float *frames, int frame_count, double fps)
{
    cutis_quality quality;
    memset(&quality, 0, sizeof quality);
    cutis_error error = {0};
    cutis_result result = cutis_measure(character, frames, frame_count, fps, NULL, NULL, &quality, &error);
    if (result != CUTIS_OK) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    return quality;
}

/* A closed tube of length 3 and radius 0.5, with a character of it. */
static shape *tube_make(int around, int along, cutis_character **character)
{
    shape *s = shape_create();
    shape_tube(s, 3, 0.5, around, along, true);
    *character = shape_character(s, 3, 1, 0.3);
    return s;
}

static void the_rest_pose_is_perfect(void **unused)
{
    (void)unused;
    cutis_character *c;
    shape *s = tube_make(16, 30, &c);
    float *frames = malloc(6 * 3 * (size_t)s->point_count * sizeof *frames);
    for (int f = 0; f < 6; f++)
        memcpy(frames + 3 * s->point_count * f, s->positions, 3 * (size_t)s->point_count * sizeof *frames);
    cutis_quality q = quality_of(c, frames, 6, 30);
    assert_int_equal(q.frames, 6);
    assert_int_equal(q.vertices, s->point_count);
    assert_float_equal(q.volume_rest, 3 * 8 * 0.25 * sin(pi / 8), 1e-5);
    assert_true(q.volume_error_max == 0 && q.volume_error_mean == 0 && q.volume_min_ratio == 1);
    assert_true(q.self_intersections_rest == 0 && q.self_intersections_max == 0);
    assert_true(q.stretch_p99 == 1 && q.area_distortion_p99 == 1);
    assert_true(q.acceleration_rms == 0);
    assert_true(q.min_section_ratio == 1);
    assert_true(q.penetration_max == 0);
    assert_int_equal(q.non_finite, 0);
    assert_int_equal(q.worst_intersection_frame, -1);
    assert_int_equal(q.worst_penetration_frame, -1);

    /* no frames at all */
    q = quality_of(c, NULL, 0, 30);
    assert_int_equal(q.frames, 0);
    assert_true(q.stretch_p99 == 1 && isnan(q.min_section_ratio));
    assert_int_equal(q.worst_volume_frame, -1);
    free(frames);
    cutis_character_destroy(c);
    free(s);
}

static void rigid_motion_and_scaling_give_their_known_figures(void **unused)
{
    (void)unused;
    cutis_character *c;
    shape *s = tube_make(16, 30, &c);
    int n = s->point_count;
    float *frames = malloc(2 * 3 * (size_t)n * sizeof *frames);
    quat r = quat_normalize((quat){0.3f, -0.5f, 0.2f, 0.7f});
    for (int p = 0; p < n; p++) {
        vec3 x = vec3_load(s->positions + 3 * p);
        vec3_store(frames + 3 * p, vec3_add(quat_rotate(r, x), (vec3){4, -3, 2}));
        vec3_store(frames + 3 * (n + p), vec3_scale(x, 1.1f));
    }
    cutis_quality q = quality_of(c, frames, 1, 30);
    assert_float_equal(q.volume_error_max, 0, 1e-5);
    assert_float_equal(q.stretch_p99, 1, 2e-5);
    assert_float_equal(q.area_distortion_p99, 1, 2e-5);
    assert_float_equal(q.min_section_ratio, 1, 1e-5);
    assert_true(q.penetration_max == 0);
    assert_true(q.volume_union < 0.01);
    q = quality_of(c, frames + 3 * n, 1, 30);
    assert_float_equal(q.volume_error_max, 0.331, 1e-5);
    assert_float_equal(q.volume_union, 0.331, 0.01);
    assert_float_equal(q.volume_min_ratio, 1.331, 1e-5);
    assert_float_equal(q.stretch_p99, 1.1, 1e-5);
    assert_float_equal(q.area_distortion_p99, 1.21, 1e-5);
    assert_float_equal(q.min_section_ratio, 1.21, 1e-5);
    q = quality_of(c, frames, 2, 30);
    assert_int_equal(q.worst_volume_frame, 1);
    assert_int_equal(q.worst_section_frame, 0);
    assert_float_equal(q.volume_error_mean, 0.331 / 2, 1e-5);
    free(frames);
    cutis_character_destroy(c);
    free(s);
}

/* Linear blending of a half turn draws the ring at the joint together; a true twist does not. */
/* A bent arm passes through itself under linear skinning: its signed volume counts that twice, the union once. */
static void overlapping_flesh_counts_once(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 0.3);
    cutis_model *model = test_build(c, "lbs", NULL);
    cutis_state *state = test_state(model, NULL);
    cutis_clip_motion motion = {c, cutis_character_find_clip(c, "flex"), 0};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    cutis_state_step(model, state, &input, 1.3);
    cutis_quality q = quality_of(c, cutis_state_positions(model, state), 1, 30);
    print_message("arm flex under lbs: volume off by %.2f %% signed, %.2f %% with overlaps once\n",
                  100 * q.volume_error_max, 100 * q.volume_union);
    assert_true(q.volume_union > 1.5 * q.volume_error_max);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

static void sections_show_the_candy_wrapper(void **unused)
{
    (void)unused;
    test_is_heavy();
    shape *s = shape_create();
    shape_tube(s, 3, 0.5, 24, 60, true);
    cutis_character *c = shape_character(s, 3, 1, 0.4);
    int n = s->point_count;
    float *frames = malloc(3 * 3 * (size_t)n * sizeof *frames);
    for (int p = 0; p < n; p++) {
        const float *x = s->positions + 3 * p;
        double w = fmin(fmax((x[0] - 1) / 0.4 + 0.5, 0), 1); /* of joint "b" and what hangs on it */
        for (int f = 0; f < 3; f++) {
            float *y = frames + 3 * (f * n + p);
            double angle = f < 2 ? pi * (f + 1) / 2 : pi * w; /* 90 and 180 degrees blended; 180 as a twist */
            double cosine = f < 2 ? 1 - w + w * cos(angle) : cos(angle), sine = f < 2 ? w * sin(angle) : sin(angle);
            y[0] = x[0];
            y[1] = (float)(cosine * x[1] - sine * x[2]);
            y[2] = (float)(sine * x[1] + cosine * x[2]);
        }
    }
    assert_float_equal(quality_of(c, frames, 1, 30).min_section_ratio, 0.5, 0.01); /* cos^2 45 degrees */
    assert_true(quality_of(c, frames + 3 * n, 1, 30).min_section_ratio < 0.01);
    assert_true(quality_of(c, frames + 6 * n, 1, 30).min_section_ratio > 0.92); /* edges are chords */
    cutis_quality q = quality_of(c, frames, 3, 30);
    assert_int_equal(q.worst_section_frame, 1);
    cutis_character_destroy(c);

    /* without a skeleton there is nothing to cut */
    c = shape_character(s, 0, 1, 1);
    assert_true(isnan(quality_of(c, frames, 3, 30).min_section_ratio));
    cutis_character_destroy(c);
    free(frames);
    free(s);
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void percentiles_are_exact(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_sphere(s, zero3, 1, 20, 12);
    cutis_character *c = shape_character(s, 0, 1, 1);
    enum { FRAMES = 40 };
    int n = s->point_count;
    float *frames = malloc(FRAMES * 3 * (size_t)n * sizeof *frames);
    for (int i = 0; i < FRAMES * 3 * n; i++)
        frames[i] = s->positions[i % (3 * n)] * (1 + 0.2f * shape_random() * (float)(i / 3 / n) / FRAMES);
    arena memory = arena_create(NULL);
    mesh m;
    assert_int_equal(mesh_build_character(&m, c, &memory, NULL), CUTIS_OK);
    int count = 0;
    float *values = malloc((size_t)m.edge_count * FRAMES * sizeof *values);
    for (int f = 0; f < FRAMES; f++) {
        for (int e = 0; e < m.edge_count; e++) {
            float lengths[2];
            for (int rest = 0; rest < 2; rest++) {
                const float *x = rest ? m.positions : frames + 3 * n * f;
                double sum = 0;
                for (int k = 0; k < 3; k++) {
                    double d = (double)x[3 * m.edges[2 * e] + k] - x[3 * m.edges[2 * e + 1] + k];
                    sum += d * d;
                }
                lengths[rest] = (float)sqrt(sum);
            }
            values[count++] = lengths[0] > lengths[1] ? lengths[0] / lengths[1] : lengths[1] / lengths[0];
        }
    }
    qsort(values, (size_t)count, sizeof *values, compare_floats);
    cutis_quality q = quality_of(c, frames, FRAMES, 30);
    assert_true((float)q.stretch_p99 == values[(int)ceil(0.99 * count) - 1]);
    assert_true(q.area_distortion_p99 > 1);
    free(values);
    arena_destroy(&memory);
    free(frames);
    cutis_character_destroy(c);
    free(s);
}

static void acceleration_is_that_of_the_motion(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_box(s, zero3, (vec3){1, 2, 2}, 2); /* size 3 */
    cutis_character *c = shape_character(s, 0, 1, 1);
    enum { FRAMES = 20 };
    int n = s->point_count;
    float *frames = malloc(FRAMES * 3 * (size_t)n * sizeof *frames);
    const double acceleration = 6, fps = 24;
    for (int f = 0; f < FRAMES; f++) {
        for (int p = 0; p < n; p++) {
            double t = f / fps;
            vec3 offset = {(float)(0.5 * acceleration * t * t), (float)(3 * t), 1};
            vec3_store(frames + 3 * (f * n + p), vec3_add(vec3_load(s->positions + 3 * p), offset));
        }
    }
    assert_float_equal(quality_of(c, frames, FRAMES, fps).acceleration_rms, acceleration / 3, 0.001);
    assert_true(quality_of(c, frames, 2, fps).acceleration_rms == 0);
    free(frames);
    cutis_character_destroy(c);
    free(s);
}

/* Two boxes apart at rest; frames move the second one (points from `first` on) by the offsets. */
static cutis_quality boxes_pushed(const shape *s, int first, const vec3 *offsets, int count)
{
    cutis_character *c = shape_character(s, 0, 1, 1);
    int n = s->point_count;
    float *frames = malloc((size_t)count * 3 * (size_t)n * sizeof *frames);
    for (int f = 0; f < count; f++)
        for (int p = 0; p < n; p++)
            vec3_store(frames + 3 * (f * n + p),
                       vec3_add(vec3_load(s->positions + 3 * p), p < first ? zero3 : offsets[f]));
    cutis_quality q = quality_of(c, frames, count, 30);
    free(frames);
    cutis_character_destroy(c);
    return q;
}

static void turn_inside_out(shape *s)
{
    for (int t = 0; t < s->triangle_count; t++) {
        int swap = s->triangles[3 * t];
        s->triangles[3 * t] = s->triangles[3 * t + 1], s->triangles[3 * t + 1] = swap;
    }
}

static void penetration_is_how_far_things_were_pushed_in(void **unused)
{
    (void)unused;
    test_is_heavy();
    for (int variant = 0; variant < 3; variant++) {
        /* wide slabs face to face */
        shape *s = shape_create();
        shape_box(s, zero3, (vec3){1, 1, 1}, 12);
        int first = s->point_count;
        shape_box(s, (vec3){1.5f, 0.05f, 0.05f}, (vec3){2.5f, 0.95f, 0.95f}, 12);
        if (variant == 1) turn_inside_out(s);
        if (variant == 2) s->triangle_count--; /* with a hole */
        vec3 offsets[4] = {{0, 0, 0}, {-0.4f, 0, 0}, {-0.6f, 0, 0}, {-0.55f, 0, 0}};
        cutis_quality q = boxes_pushed(s, first, offsets, 4);
        assert_float_equal(q.penetration_max * q.size, 0.1, 1e-4);
        assert_int_equal(q.worst_penetration_frame, 2);
        assert_true(q.self_intersections_max > 0 && q.self_intersections_rest == 0);
        assert_true(boxes_pushed(s, first, offsets, 2).penetration_max == 0);

        /* a thin pole pushed in by five times its width */
        s->point_count = s->triangle_count = 0;
        shape_box(s, zero3, (vec3){1, 1, 1}, 10);
        first = s->point_count;
        shape_box(s, (vec3){1.2f, 0.45f, 0.47f}, (vec3){2.2f, 0.55f, 0.57f}, 20);
        if (variant == 1) turn_inside_out(s);
        if (variant == 2) s->triangle_count--;
        vec3 pole[1] = {{-0.7f, 0, 0}};
        q = boxes_pushed(s, first, pole, 1);
        /* a ring of its points lies exactly in the face of the box: nothing crosses, and still it is inside */
        assert_int_equal(q.self_intersections_max, 0);
        assert_true(q.penetration_max * q.size > 0.48 && q.penetration_max * q.size <= 0.5);

        /* wholly inside, where no triangles intersect */
        vec3 inside[1] = {{-1.15f, 0, 0}};
        s->point_count = s->triangle_count = 0;
        shape_box(s, zero3, (vec3){1, 1, 1}, 10);
        first = s->point_count;
        shape_box(s, (vec3){1.6f, 0.45f, 0.45f}, (vec3){1.7f, 0.55f, 0.55f}, 6);
        if (variant == 1) turn_inside_out(s);
        q = boxes_pushed(s, first, inside, 1);
        assert_int_equal(q.self_intersections_max, 0);
        assert_float_equal(q.penetration_max * q.size, 0.45, 0.02);
        free(s);
    }
}

static void penetration_at_rest_does_not_count(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_box(s, zero3, (vec3){1, 1, 1}, 12);
    int first = s->point_count;
    shape_box(s, (vec3){0.8f, 0.05f, 0.05f}, (vec3){1.8f, 0.95f, 0.95f}, 12);
    vec3 offsets[3] = {{0, 0, 0}, {0.1f, 0, 0}, {-0.1f, 0, 0}};
    cutis_quality q = boxes_pushed(s, first, offsets, 2);
    assert_true(q.self_intersections_rest > 0);
    assert_true(q.self_intersections_max > 0);
    assert_true(q.penetration_max == 0);
    q = boxes_pushed(s, first, offsets, 3);
    assert_float_equal(q.penetration_max * q.size, 0.1, 1e-4);
    free(s);
}

/* Buried or not: floods between cuts against the solid angle just outside every triangle. */
static void buried_triangles_agree_with_solid_angles(void **unused)
{
    (void)unused;
    for (int round = 0; round < 4; round++) {
        /* three overlapping spheres, and a tube bent through itself */
        shape *s = shape_create();
        shape_sphere(s, zero3, 1, 24, 16);
        shape_sphere(s, (vec3){1.2f, 0.1f * (float)round, 0.2f}, 0.8, 20, 14);
        shape_sphere(s, (vec3){0.5f, 1.1f, -0.1f * (float)round}, 0.7, 18, 12);
        int first = s->point_count;
        shape_tube(s, 8, 0.4, 14, 60, round % 2 == 0);
        for (int p = first; p < s->point_count; p++) {
            float *x = s->positions + 3 * p;
            double angle = (1.05 + 0.1 * round) * 2 * pi * x[0] / 8, radius = 1.3 + x[1];
            x[0] = (float)(6 + radius * cos(angle)), x[1] = (float)(radius * sin(angle));
        }
        arena memory = arena_create(NULL);
        mesh m;
        depth_solid b;
        depth_scratch scratch;
        assert_int_equal(mesh_build(&m, s->point_count, s->positions, s->triangle_count, s->triangles, &memory, NULL),
                         CUTIS_OK);
        assert_int_equal(depth_build(&b, &m, &memory, NULL), CUTIS_OK);
        assert_true(depth_scratch_create(&scratch, &b, &memory));
        double penetration;
        depth_examine(&b, &scratch, m.positions, &penetration);
        assert_true(penetration == 0); /* all of it is there at rest */
        int buried = 0, wrong = 0;
        for (int t = round; t < m.triangle_count; t += 7) {
            vec3 p[3], normal;
            for (int k = 0; k < 3; k++) p[k] = vec3_load(m.positions + 3 * m.triangles[3 * t + k]);
            normal = vec3_normalize(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
            vec3 centre = vec3_scale(vec3_add(p[0], vec3_add(p[1], p[2])), 1.0f / 3);
            vec3 outside = vec3_madd(centre, normal, 1e-5f);
            double winding = mesh_winding(b.triangle_count, b.triangles, scratch.positions, outside);
            assert_true(fabs(winding - floor(winding + 0.5)) < 1e-3); /* whole, for holes are closed */
            buried += winding > 0.5;
            wrong += (winding > 0.5) != (scratch.depths[t] > 0);
        }
        assert_true(buried > 15);
        assert_int_equal(wrong, 0);
        arena_destroy(&memory);
        free(s);
    }
}

/*
 * A bar with a groove along it, whose walls have passed through each other below about half of its height: from there
 * down the two walls and the bottom are one patch, up to 0.22 wide and 0.52 high.
 */
static void a_fold_through_itself_is_as_deep_as_it_is_wide(void **unused)
{
    (void)unused;
    enum { STEPS = 10, AROUND = 4 + 2 * (STEPS + 1), ALONG = 16 };
    shape *s = shape_create();
    for (int j = 0; j <= ALONG; j++) {
        double z = 4.0 * j / ALONG;
        shape_point(s, -1, 1, z), shape_point(s, -1, -1, z), shape_point(s, 1, -1, z), shape_point(s, 1, 1, z);
        for (int i = 0; i <= STEPS; i++) shape_point(s, 0.1, 1 - (double)i / STEPS, z);
        for (int i = STEPS; i >= 0; i--) shape_point(s, -0.1, 1 - (double)i / STEPS, z);
    }
    for (int j = 0; j < ALONG; j++)
        for (int i = 0; i < AROUND; i++) {
            int next = (i + 1) % AROUND, row = j * AROUND;
            shape_quad(s, row + i, row + next, row + AROUND + next, row + AROUND + i);
        }
    arena memory = arena_create(NULL);
    mesh m;
    depth_solid b;
    depth_scratch scratch;
    assert_int_equal(mesh_build(&m, s->point_count, s->positions, s->triangle_count, s->triangles, &memory, NULL),
                     CUTIS_OK);
    assert_int_equal(depth_build(&b, &m, &memory, NULL), CUTIS_OK);
    assert_true(depth_scratch_create(&scratch, &b, &memory));
    for (int p = 0; p < s->point_count; p++) {
        float *x = s->positions + 3 * p;
        if (fabsf(x[0]) < 0.5f) x[0] *= 2.1f * x[1] - 1.1f;
    }
    double penetration;
    assert_true(depth_examine(&b, &scratch, s->positions, &penetration) > 0);
    assert_true(penetration > 0.15 && penetration <= 0.53);
    int walls = 0;
    for (int t = 0; t < m.triangle_count; t++) {
        vec3 centre = zero3;
        float top = -2, bottom = 2;
        for (int k = 0; k < 3; k++) {
            vec3 p = vec3_load(s->positions + 3 * m.triangles[3 * t + k]);
            centre = vec3_madd(centre, p, 1.0f / 3);
            top = fmaxf(top, p.y), bottom = fminf(bottom, p.y);
        }
        if (fabsf(centre.x) > 0.5f || bottom == 1 || top == bottom) continue; /* outer sides, bottom of the groove */
        float width = 0.2f * (1.1f - 2.1f * centre.y);
        walls++;
        if (centre.y > 0.6f) assert_true(scratch.depths[t] == 0);
        if (centre.y < 0.4f) assert_true(scratch.depths[t] > 0 && scratch.depths[t] <= 1.1f * width);
        if (centre.y < 0.4f && fabsf(centre.z - 2) < 1) assert_true(scratch.depths[t] > 0.5f * width);
    }
    assert_int_equal(walls, 2 * 2 * STEPS * ALONG);
    arena_destroy(&memory);
    free(s);
}

static void frames_that_are_not_finite_are_counted_and_left_out(void **unused)
{
    (void)unused;
    cutis_character *c;
    shape *s = tube_make(8, 12, &c);
    int n = s->point_count;
    float *frames = malloc(4 * 3 * (size_t)n * sizeof *frames);
    for (int i = 0; i < 12 * n; i++) frames[i] = s->positions[i % (3 * n)];
    frames[3 * n + 5] = NAN;
    frames[3 * n + 6] = INFINITY;
    frames[9 * n] = -INFINITY;
    cutis_quality q = quality_of(c, frames, 4, 30);
    assert_int_equal(q.non_finite, 3);
    assert_true(q.volume_error_max == 0 && q.stretch_p99 == 1 && q.min_section_ratio == 1 && q.acceleration_rms == 0);
    double volumes[4], penetrations[4];
    int intersections[4];
    assert_int_equal(cutis_measure_frames(c, frames, 4, NULL, NULL, volumes, intersections, penetrations, NULL),
                     CUTIS_OK);
    assert_true(volumes[0] == 1 && isnan(volumes[1]) && volumes[2] == 1 && isnan(volumes[3]));
    assert_true(isnan(penetrations[1]) && penetrations[2] == 0);
    free(frames);
    cutis_character_destroy(c);
    free(s);
}

/* Frames that make no sense give figures that make none, but no harm. */
static void wild_frames_are_survived(void **unused)
{
    (void)unused;
    enum { FRAMES = 7 };
    shape *s = shape_create();
    shape_tube(s, 3, 0.5, 12, 20, false);
    cutis_character *c = shape_character(s, 3, 1, 0.3);
    int n = s->point_count;
    float *frames = malloc(FRAMES * 3 * (size_t)n * sizeof *frames);
    for (int i = 0; i < 3 * n; i++) {
        frames[i] = 0;                                           /* all in one point */
        frames[3 * n + i] = 3e38f * shape_random();              /* as far apart as can be */
        frames[6 * n + i] = 1e-44f * shape_random();             /* as near */
        frames[9 * n + i] = shape_random();                      /* a tangle */
        frames[12 * n + i] = i % 3 ? s->positions[i] : 0;        /* flat */
        frames[15 * n + i] = i % 3 ? 0 : s->positions[i];        /* a line */
        frames[18 * n + i] = floorf(2 * s->positions[i] + 0.5f); /* on a lattice */
    }
    cutis_quality q = quality_of(c, frames, FRAMES, 30);
    assert_int_equal(q.non_finite, 0);
    assert_true(q.min_section_ratio == 0);
    assert_true(q.stretch_p99 == 1e6f);
    assert_true(isfinite(q.penetration_max) && q.penetration_max > 0);
    free(frames);
    cutis_character_destroy(c);
    free(s);
}

/* A tube that rolls up into itself, frame by frame. */
static float *rolling_frames(const shape *s, int frame_count)
{
    int n = s->point_count;
    float *frames = malloc((size_t)frame_count * 3 * (size_t)n * sizeof *frames);
    for (int f = 0; f < frame_count; f++) {
        double turn = 2.6 * pi * (f + 1) / frame_count;
        for (int p = 0; p < n; p++) {
            const float *x = s->positions + 3 * p;
            double radius = 3 / turn + x[1], angle = turn * x[0] / 3;
            float *y = frames + 3 * (f * n + p);
            y[0] = (float)(radius * sin(angle)), y[1] = (float)(radius * cos(angle)), y[2] = x[2];
        }
    }
    return frames;
}

static void threads_do_not_change_a_bit(void **unused)
{
    (void)unused;
    enum { FRAMES = 23 };
    shape *s = shape_create();
    shape_tube(s, 3, 0.25, 16, 40, true);
    cutis_character *c = shape_character(s, 3, 1, 0.3);
    float *frames = rolling_frames(s, FRAMES);
    cutis_quality serial = quality_of(c, frames, FRAMES, 30);
    assert_true(serial.self_intersections_max > 0 && serial.penetration_max > 0.01);
    for (int threads = 2; threads <= 3; threads++) {
        cutis_pool *pool = NULL;
        assert_int_equal(cutis_pool_create(threads, NULL, &pool, NULL), CUTIS_OK);
        cutis_quality threaded;
        memset(&threaded, 0, sizeof threaded);
        assert_int_equal(cutis_measure(c, frames, FRAMES, 30, cutis_pool_jobs(pool), NULL, &threaded, NULL), CUTIS_OK);
        assert_memory_equal(&serial, &threaded, sizeof serial);
        cutis_pool_destroy(pool);
    }

    /* the figures per frame are the same ones */
    double volumes[FRAMES], penetrations[FRAMES], volume_error = 0, penetration = 0;
    int intersections[FRAMES], most = 0;
    assert_int_equal(cutis_measure_frames(c, frames, FRAMES, NULL, NULL, volumes, intersections, penetrations, NULL),
                     CUTIS_OK);
    for (int f = 0; f < FRAMES; f++) {
        volume_error = fmax(volume_error, fabs(volumes[f] - 1));
        penetration = fmax(penetration, penetrations[f]);
        most = MAX(most, intersections[f]);
    }
    assert_true(volume_error == serial.volume_error_max && penetration == serial.penetration_max);
    assert_int_equal(most, serial.self_intersections_max);
    assert_true(intersections[serial.worst_intersection_frame] == most);
    free(frames);
    cutis_character_destroy(c);
    free(s);
}

typedef struct measured {
    cutis_character *character;
    float *frames;
    int frame_count;
    cutis_quality expected;
} measured;

static bool measure_with(void *context, const cutis_allocator *allocator)
{
    const measured *m = context;
    cutis_quality q;
    memset(&q, 0, sizeof q);
    cutis_error error = {0};
    cutis_result result = cutis_measure(m->character, m->frames, m->frame_count, 30, NULL, allocator, &q, &error);
    if (result == CUTIS_OK)
        assert_memory_equal(&q, &m->expected, sizeof q);
    else
        assert_true(result == CUTIS_ERROR_MEMORY && error.code == CUTIS_ERROR_MEMORY);
    return result == CUTIS_OK;
}

static void every_failing_allocation_is_survived(void **unused)
{
    (void)unused;
    shape *s = shape_create();
    shape_tube(s, 3, 0.25, 12, 30, false);
    measured m = {.character = shape_character(s, 3, 1, 0.3), .frames = rolling_frames(s, 3), .frame_count = 3};
    m.expected = quality_of(m.character, m.frames, m.frame_count, 30);
    assert_true(test_every_allocation(measure_with, &m) > 10);
    free(m.frames);
    cutis_character_destroy(m.character);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_pose_is_perfect),
        cmocka_unit_test(rigid_motion_and_scaling_give_their_known_figures),
        cmocka_unit_test(overlapping_flesh_counts_once),
        cmocka_unit_test(sections_show_the_candy_wrapper),
        cmocka_unit_test(percentiles_are_exact),
        cmocka_unit_test(acceleration_is_that_of_the_motion),
        cmocka_unit_test(penetration_is_how_far_things_were_pushed_in),
        cmocka_unit_test(penetration_at_rest_does_not_count),
        cmocka_unit_test(buried_triangles_agree_with_solid_angles),
        cmocka_unit_test(a_fold_through_itself_is_as_deep_as_it_is_wide),
        cmocka_unit_test(frames_that_are_not_finite_are_counted_and_left_out),
        cmocka_unit_test(wild_frames_are_survived),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
