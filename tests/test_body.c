/*
 * The simulation body: closed, even and true to the drawn mesh; rigid and carried pieces follow it and leave it alone;
 * a body without deviation shows the file's own skinning.
 */
#include "testing.h"

#include "body/body_base.h"
#include "body/body_parts.h"
#include "body/body_size.h"
#include "body/body_union.h"
#include "show/embedding.h"

/* Points of the bodies in these tests. */
enum { DETAIL = 500 };

/* The tube; around it a coat, made of the tube itself 7 % wider; in it a cube on the lower joint; apart a stone. */
enum {
    BODY = TEST_TUBE_VERTICES,
    COAT = BODY,
    CUBE = 2 * BODY,
    STONE = CUBE + 8,
    ALL = STONE + 8,
    FACES = 2 * TEST_TUBE_FACES + 12,
    CORNERS = 8 * TEST_TUBE_FACES + 48
};

static void box_add(int first_vertex, const float middle[3], float half, float *positions, int *face_first,
                    int *corners, int *face, int *corner)
{
    static const int sides[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            positions[3 * (first_vertex + i) + k] = middle[k] + (i >> (2 - k) & 1 ? half : -half);
    for (int f = 0; f < 6; f++) {
        face_first[(*face)++] = *corner;
        for (int k = 0; k < 4; k++) corners[(*corner)++] = first_vertex + sides[f][k];
    }
}

static cutis_result dressed_make(const cutis_character *tube, const cutis_allocator *allocator, cutis_character **made,
                                 cutis_error *error)
{
    static float positions[ALL * 3], weights[ALL * 2], deltas[ALL * 3], map[ALL];
    static int first[ALL + 1], joints[ALL * 2], face_first[FACES + 1], corners[CORNERS];
    int face = 0, corner = 0;
    for (int copy = 0; copy < 2; copy++) {
        for (int v = 0; v < BODY; v++) {
            const float *p = tube->positions + 3 * v;
            float *q = positions + 3 * (copy * BODY + v);
            q[0] = copy ? 1 + (p[0] - 1) * 1.02f : p[0];
            q[1] = copy ? p[1] * 1.07f : p[1];
            q[2] = copy ? p[2] * 1.07f : p[2];
        }
        for (int f = 0; f < tube->face_count; f++) {
            face_first[face++] = corner;
            for (int k = tube->face_first[f]; k < tube->face_first[f + 1]; k++)
                corners[corner++] = copy * BODY + tube->corners[k];
        }
    }
    box_add(CUBE, (const float[3]){1.6f, 0.05f, 0}, 0.08f, positions, face_first, corners, &face, &corner);
    box_add(STONE, (const float[3]){1, 1.5f, 0}, 0.1f, positions, face_first, corners, &face, &corner);
    face_first[face] = corner;
    int count = 0;
    for (int v = 0; v < ALL; v++) {
        first[v] = count;
        map[v] = 1;
        deltas[3 * v + 1] = 0.1f;
        if (v >= CUBE) {
            joints[count] = v < STONE ? 1 : 0, weights[count++] = 1;
            continue;
        }
        int from = tube->influence_first[v % BODY], end = tube->influence_first[v % BODY + 1];
        for (int k = from; k < end; k++)
            joints[count] = tube->influence_joints[k], weights[count++] = tube->influence_weights[k];
    }
    first[ALL] = count;
    cutis_part parts[4] = {{"body", "", 0, BODY, 0, TEST_TUBE_FACES},
                           {"coat", "", COAT, BODY, TEST_TUBE_FACES, TEST_TUBE_FACES},
                           {"cube", "", CUBE, 8, 2 * TEST_TUBE_FACES, 6},
                           {"stone", "", STONE, 8, 2 * TEST_TUBE_FACES + 6, 6}};
    cutis_map maps[1] = {{"stiffness", map}};
    cutis_morph morphs[1] = {{"lift", deltas}};
    cutis_character given = *tube;

    /* a clip that moves the morph, beside those of the tube */
    cutis_clip clips[8];
    assert_in_range(tube->clip_count, 0, 7);
    memcpy(clips, tube->clips, (size_t)tube->clip_count * sizeof(cutis_clip));
    cutis_track lift = {.path = CUTIS_PATH_MORPH,
                        .interpolation = CUTIS_INTERPOLATION_LINEAR,
                        .key_count = 2,
                        .times = (const float[2]){0, 1},
                        .values = (const float[2]){0, 1}};
    clips[tube->clip_count] = (cutis_clip){.name = "lift", .track_count = 1, .tracks = &lift};
    given.clips = clips;
    given.clip_count = tube->clip_count + 1;
    given.name = "dressed";
    given.vertex_count = ALL, given.positions = positions;
    given.face_count = face, given.face_first = face_first, given.corners = corners, given.texcoords = NULL;
    given.influence_first = first, given.influence_joints = joints, given.influence_weights = weights;
    given.part_count = 4, given.parts = parts;
    given.map_count = 1, given.maps = maps;
    given.morph_count = 1, given.morphs = morphs;
    return cutis_character_create(&given, allocator, made, error);
}

typedef struct stage {
    cutis_character *tube, *dressed;
    cutis_model *model;
    cutis_state *state;
} stage;

static cutis_model *model_make(const cutis_character *c, const char *solver)
{
    bool lattice = strcmp(solver, "lattice with contact") == 0, layers = strcmp(solver, "layers") == 0;
    cutis_setting setting = {lattice ? "self_collision" : "iterations", lattice ? "on" : "4"};
    return test_build_def((cutis_model_def){.character = c,
                                            .solver = lattice ? "lattice" : solver,
                                            .detail = DETAIL,
                                            .settings = &setting,
                                            .setting_count = lattice || layers});
}

static stage stage_make(const char *solver)
{
    stage s;
    assert_int_equal(test_tube(NULL, &s.tube, NULL), CUTIS_OK);
    assert_int_equal(dressed_make(s.tube, NULL, &s.dressed, NULL), CUTIS_OK);
    s.model = model_make(s.dressed, solver);
    s.state = test_state(s.model, NULL);
    return s;
}

static void stage_free(stage *s)
{
    cutis_state_destroy(s->state);
    cutis_model_destroy(s->model);
    cutis_character_destroy(s->dressed);
    cutis_character_destroy(s->tube);
}

static void run(const cutis_model *model, cutis_state *state, const cutis_character *c, int frames, double dt,
                const float *morphs)
{
    cutis_clip_motion bend = {.character = c, .clip = cutis_character_find_clip(c, "bend")};
    cutis_step_input input = {.motion = {&bend, cutis_clip_motion_sample}, .morphs = morphs};
    for (int i = 0; i < frames; i++) cutis_state_step(model, state, &input, dt);
}

static float distance(const float *a, const float *b)
{
    return sqrtf((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* Asked for, the drawn mesh is simulated as it is, of four particles a point. */
static void the_drawn_mesh_can_be_the_body(void **unused)
{
    (void)unused;
    stage s = stage_make("layers");
    cutis_model *all =
        test_build_def((cutis_model_def){.character = s.dressed, .solver = "layers", .detail = CUTIS_DETAIL_DRAWN});
    cutis_model_info info = cutis_model_get_info(s.model);
    assert_int_equal(info.element_count, 4 * info.body_points);
    assert_false(info.body_is_drawn);
    assert_true(info.body_points > DETAIL / 2 && info.body_points < 2 * DETAIL);
    assert_int_equal(info.flesh_pieces, 1);
    assert_int_equal(info.rigid_pieces, 2);
    assert_int_equal(info.carried_pieces, 1);
    assert_int_equal(cutis_model_get_info(all).element_count, 4 * s.dressed->point_count);
    assert_true(cutis_model_get_info(all).body_is_drawn);
    cutis_model_destroy(all);
    stage_free(&s);
}

static void coat_and_cube_go_with_the_flesh(void **unused)
{
    (void)unused;
    const char *solvers[] = {"layers", "springs"};
    for (int i = 0; i < 2; i++) {
        stage s = stage_make(solvers[i]);
        cutis_model_info info = cutis_model_get_info(s.model);
        assert_string_equal(info.notes[0], "2 rigid pieces follow skinning exactly");
        assert_string_equal(info.notes[1],
                            "1 thin, small or outer piece (coat) follows the flesh and is not simulated");

        run(s.model, s.state, s.dressed, 20, 1.0 / 30, NULL);
        const float *x = cutis_state_positions(s.model, s.state);
        cutis_model *bare = model_make(s.dressed, "lbs");
        cutis_state *skinned = test_state(bare, NULL);
        run(bare, skinned, s.dressed, 20, 1.0 / 30, NULL);
        const float *y = cutis_state_positions(bare, skinned);
        float moved = 0, gap_low = 1, gap_high = 0;
        for (int v = 0; v < BODY; v++) {
            moved = fmaxf(moved, distance(x + 3 * v, y + 3 * v));
            float gap = distance(x + 3 * v, x + 3 * (COAT + v)) /
                        distance(s.dressed->positions + 3 * v, s.dressed->positions + 3 * (COAT + v));
            gap_low = fminf(gap_low, gap), gap_high = fmaxf(gap_high, gap);
        }
        print_message("%s: flesh moved %g, gap to the coat %g to %g\n", solvers[i], (double)moved, (double)gap_low,
                      (double)gap_high);
        assert_true(moved > 0.005f);                    /* it is simulated, */
        assert_true(gap_low > 0.3f && gap_high < 3.0f); /* the coat goes with it, */
        for (int v = CUBE; v < STONE; v++) assert_true(distance(x + 3 * v, y + 3 * v) < 1e-6f); /* the cube is rigid */
        cutis_state_destroy(skinned);
        cutis_model_destroy(bare);
        stage_free(&s);
    }
}

/* Plain skinning takes everything as it is. */
static void skinning_has_no_body(void **unused)
{
    (void)unused;
    const char *solvers[] = {"lbs", "dqs"};
    stage s = stage_make("lbs");
    for (int i = 0; i < 2; i++) {
        cutis_model *model = model_make(s.dressed, solvers[i]);
        assert_int_equal(cutis_model_get_info(model).warning_count, 0);
        assert_int_equal(cutis_model_get_info(model).body_points, 0);
        cutis_model_destroy(model);
    }
    stage_free(&s);
}

static void snapshots_rates_and_places_work_as_without(void **unused)
{
    (void)unused;
    stage s = stage_make("layers");
    cutis_state *other = test_state(s.model, NULL), *quick = test_state(s.model, NULL);
    size_t bytes = ALL * 3 * sizeof(float);
    assert_true(cutis_state_hash(s.model, s.state) == cutis_state_hash(s.model, other));

    run(s.model, s.state, s.dressed, 6, 0.05, NULL);
    assert_true(cutis_state_hash(s.model, s.state) != cutis_state_hash(s.model, other));
    cutis_state_copy(s.model, other, s.state);
    assert_memory_equal(cutis_state_positions(s.model, other), cutis_state_positions(s.model, s.state), bytes);
    assert_true(cutis_state_time(other) == cutis_state_time(s.state));
    run(s.model, s.state, s.dressed, 3, 0.05, NULL);
    run(s.model, other, s.dressed, 3, 0.05, NULL);
    assert_memory_equal(cutis_state_positions(s.model, other), cutis_state_positions(s.model, s.state), bytes);
    assert_true(cutis_state_hash(s.model, s.state) == cutis_state_hash(s.model, other));

    run(s.model, quick, s.dressed, 18, 0.025, NULL);
    assert_memory_equal(cutis_state_positions(s.model, quick), cutis_state_positions(s.model, s.state), bytes);

    const float shift[12] = {1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0};
    cutis_state_teleport(s.model, other, shift);
    for (int v = 0; v < ALL; v++) {
        const float *a = cutis_state_positions(s.model, s.state) + 3 * v;
        const float *b = cutis_state_positions(s.model, other) + 3 * v;
        assert_true(fabsf(a[0] + 5 - b[0]) < 1e-5f && fabsf(a[1] - b[1]) < 1e-5f);
    }

    cutis_output output;
    assert_true(cutis_state_output(s.model, s.state, "contact", &output));
    assert_int_equal(output.count, ALL);
    for (int v = CUBE; v < ALL; v++) assert_true(output.values[v * output.components] == 0);
    cutis_output second;
    assert_true(cutis_state_output(s.model, s.state, "fat", &second));
    assert_true(second.values != output.values && second.count == ALL);
    for (int v = CUBE; v < ALL; v++) /* where it is itself, for pictures of cuts */
        assert_true(distance(second.values + 3 * v, cutis_state_positions(s.model, s.state) + 3 * v) == 0);
    assert_false(cutis_state_output(s.model, s.state, "nothing", &output));

    /* Back to rest, to the bit of a float. */
    cutis_state_reset(s.model, s.state, NULL);
    for (int i = 0; i < ALL * 3; i++)
        assert_true(fabsf(cutis_state_positions(s.model, s.state)[i] - s.dressed->positions[i]) < 1e-5f);
    cutis_state_destroy(other);
    cutis_state_destroy(quick);
    stage_free(&s);
}

/* A morph that lifts all lifts each part once. */
static void morphs_move_all_alike(void **unused)
{
    (void)unused;
    stage s = stage_make("layers");
    cutis_step_input input = {.morphs = (const float[1]){0.5f}};
    cutis_state_step(s.model, s.state, &input, 0.01);
    for (int v = 0; v < ALL; v++)
        assert_true(fabsf(cutis_state_positions(s.model, s.state)[3 * v + 1] - s.dressed->positions[3 * v + 1] -
                          0.05f) < 1e-4f);
    stage_free(&s);
}

static void a_coat_is_dragged_by_the_flesh_below(void **unused)
{
    (void)unused;
    stage s = stage_make("layers");
    int vertex = COAT + 10 * TEST_TUBE_SIDES;
    const float *rest = s.dressed->positions + 3 * vertex;
    cutis_drag drags[2] = {{vertex, {rest[0], rest[1] + 0.1f, rest[2] + 0.1f}, 1}, {CUBE, {0, 0, 0}, 0}};
    cutis_step_input input = {.drags = drags, .drag_count = 2};
    for (int i = 0; i < 10; i++) cutis_state_step(s.model, s.state, &input, 0.02);
    assert_true(distance(cutis_state_positions(s.model, s.state) + 3 * vertex, rest) > 0.02f);
    stage_free(&s);
}

static void a_loop_closes_with_its_coat(void **unused)
{
    (void)unused;
    test_is_heavy();
    stage s = stage_make("layers");
    cutis_state *seam = test_state(s.model, NULL);
    cutis_error error = {0};
    cutis_loop_info info;
    cutis_clip_motion bend = {.character = s.dressed, .clip = cutis_character_find_clip(s.dressed, "bend")};
    cutis_loop_def def = {.motion = {&bend, cutis_clip_motion_sample}, .period = 1, .seam = seam, .period_limit = 3};
    assert_int_equal(cutis_state_find_loop(s.model, s.state, &def, NULL, &info, &error), CUTIS_OK);
    assert_true(info.periods > 0 && cutis_state_time(s.state) == 0);
    stage_free(&s);
    cutis_state_destroy(seam);
}

static void a_step_never_allocates(void **unused)
{
    (void)unused;
    stage s = stage_make("springs");
    test_memory memory = {0};
    cutis_allocator allocator = test_allocator(&memory);
    cutis_state *state = test_state(s.model, &allocator);
    long before = atomic_load(&memory.allocations);
    run(s.model, state, s.dressed, 2, 1.0 / 30, NULL);
    assert_int_equal(atomic_load(&memory.allocations), before);
    cutis_state_destroy(state);
    assert_memory_clean(&memory);
    stage_free(&s);
}

static bool build_once(void *context, const cutis_allocator *allocator)
{
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    cutis_error error = {0};
    cutis_model_def def = {.character = context, .solver = "springs", .detail = DETAIL, .allocator = allocator};
    cutis_result result = cutis_model_build(&def, &model, &error);
    if (!result) result = cutis_state_create(model, allocator, &state, &error);
    if (result) assert_int_equal(error.code, CUTIS_ERROR_MEMORY);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return !result;
}

static void every_failing_allocation_is_survived(void **unused)
{
    (void)unused;
    stage s = stage_make("lbs");
    assert_true(test_every_allocation(build_once, s.dressed) > 10);
    stage_free(&s);
}

/* ---- surfaces ---- */

static const float octahedron[18] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1};
static const int octahedron_triangles[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};

/* Share of triangles whose shape, 1 for an equilateral one, is below a half. */
static double bad_share(const surface *s)
{
    int bad = 0;
    for (int t = 0; t < s->triangle_count; t++) {
        const int *c = s->triangles + 3 * t;
        float squares = 0;
        for (int k = 0; k < 3; k++) {
            float d = distance(s->positions + 3 * c[k], s->positions + 3 * c[(k + 1) % 3]);
            squares += d * d;
        }
        bad += 4 * sqrt(3.0) * mesh_area(1, c, s->positions) < 0.5 * (double)squares;
    }
    return (double)bad / s->triangle_count;
}

/* Edges have the wanted length, the surface stays closed and where it was. */
static void remeshed_surfaces_are_closed_and_even(void **unused)
{
    (void)unused;
    const float lengths[3] = {0.08f, 0.16f, 0.32f};
    for (int i = 0; i < 3; i++) {
        arena memory = arena_create(NULL);
        surface coarse = {6, 8, (float *)octahedron, (int *)octahedron_triangles, NULL}, fine, even;
        assert_int_equal(surface_refine(&coarse, 0.2f, 10000, &memory, &fine, NULL), CUTIS_OK);
        assert_true(fabs(mesh_volume(fine.triangle_count, fine.triangles, fine.positions) - 4.0 / 3) < 1e-5);
        for (int p = 0; p < fine.point_count; p++) fine.lengths[p] = lengths[i];
        assert_int_equal(surface_remesh(&fine, 10000, &memory, &even, NULL), CUTIS_OK);

        mesh m;
        assert_int_equal(
            mesh_build(&m, even.point_count, even.positions, even.triangle_count, even.triangles, &memory, NULL),
            CUTIS_OK);
        assert_int_equal(m.component_count, 1);
        assert_true(m.component_closed[0]);
        assert_int_equal(even.point_count - m.edge_count + even.triangle_count, 2); /* Euler: a sphere */
        double mean = 0;
        for (int e = 0; e < m.edge_count; e++)
            mean += (double)distance(even.positions + 3 * m.edges[2 * e], even.positions + 3 * m.edges[2 * e + 1]);
        mean /= m.edge_count;
        print_message("edges %g for %g, bad triangles %.2f %%\n", mean, (double)lengths[i], 100 * bad_share(&even));
        assert_true(fabs(mean / (double)lengths[i] - 1) < 0.12);
        assert_true(bad_share(&even) < 0.02);
        /* on the octahedron: the sum of the coordinates' amounts is 1 */
        for (int p = 0; p < even.point_count; p++) {
            const float *x = even.positions + 3 * p;
            assert_true(fabsf(fabsf(x[0]) + fabsf(x[1]) + fabsf(x[2]) - 1) < 1e-4f);
        }
        arena_destroy(&memory);
    }
}

/* Two octahedra that share an edge, one with a hole and a triangle turned over. */
static void damaged_meshes_become_closed_pieces(void **unused)
{
    (void)unused;
    float positions[30];
    int triangles[45];
    memcpy(positions, octahedron, sizeof octahedron);
    /* the second shares points 0 and 4 with the first: across that edge */
    const int map[6] = {0, 6, 7, 8, 4, 9};
    for (int i = 0; i < 6; i++) {
        positions[3 * map[i]] = octahedron[3 * i] * (map[i] < 6 ? 1 : 1) + (map[i] < 6 ? 0 : 1);
        positions[3 * map[i] + 1] = octahedron[3 * i + 1];
        positions[3 * map[i] + 2] = octahedron[3 * i + 2] + (map[i] < 6 ? 0 : 1);
    }
    memcpy(triangles, octahedron_triangles, sizeof octahedron_triangles);
    for (int t = 0; t < 7; t++) /* without the last triangle */
        for (int k = 0; k < 3; k++) triangles[24 + 3 * t + k] = map[octahedron_triangles[3 * t + k]];
    int first = triangles[24];
    triangles[24] = triangles[25];
    triangles[25] = first;

    arena memory = arena_create(NULL);
    mesh m;
    base b;
    assert_int_equal(mesh_build(&m, 10, positions, 15, triangles, &memory, NULL), CUTIS_OK);
    assert_int_equal(base_build(&m, NULL, &memory, &b, NULL), CUTIS_OK);
    int triangle_count = 0;
    for (int i = 0; i < b.piece_count; i++) {
        const base_piece *p = &b.pieces[i];
        mesh own;
        triangle_count += p->drawn_triangle_count;
        assert_true(p->volume >= 0);
        assert_int_equal(mesh_build(&own, p->surface.point_count, p->surface.positions, p->surface.triangle_count,
                                    p->surface.triangles, &memory, NULL),
                         CUTIS_OK);
        surface fine;
        assert_int_equal(surface_refine(&p->surface, 0.3f, 4000, &memory, &fine, NULL), CUTIS_OK);
        assert_int_equal(
            mesh_build(&own, fine.point_count, fine.positions, fine.triangle_count, fine.triangles, &memory, NULL),
            CUTIS_OK);
        for (int e = 0; e < own.edge_count; e++) assert_int_equal(own.edge_triangle_counts[e], 2);
    }
    assert_int_equal(triangle_count, 15);
    arena_destroy(&memory);
}

/* Two octahedra that cross become one closed surface around both; apart they stay two. */
static void crossing_pieces_are_united(void **unused)
{
    (void)unused;
    const float shifts[2] = {0.9f, 3.0f};
    for (int i = 0; i < 2; i++) {
        float positions[36];
        int triangles[48];
        for (int k = 0; k < 18; k++) {
            positions[k] = octahedron[k];
            positions[18 + k] = octahedron[k] + (k % 3 == 0 ? shifts[i] : 0);
        }
        for (int k = 0; k < 24; k++) {
            triangles[k] = octahedron_triangles[k];
            triangles[24 + k] = octahedron_triangles[k] + 6;
        }
        arena memory = arena_create(NULL);
        mesh m, own;
        base b;
        bool needed;
        assert_int_equal(mesh_build(&m, 12, positions, 16, triangles, &memory, NULL), CUTIS_OK);
        assert_int_equal(base_build(&m, NULL, &memory, &b, NULL), CUTIS_OK);
        assert_int_equal(b.piece_count, 2);
        const base_piece *pieces[2] = {&b.pieces[0], &b.pieces[1]};
        assert_int_equal(union_needed(pieces, 2, &memory, &needed, NULL), CUTIS_OK);
        assert_int_equal(needed, i == 0);
        surface s;
        assert_int_equal(union_surface(pieces, 2, 0.05f, NULL, &memory, &s, NULL), CUTIS_OK);
        assert_int_equal(mesh_build(&own, s.point_count, s.positions, s.triangle_count, s.triangles, &memory, NULL),
                         CUTIS_OK);
        assert_int_equal(own.component_count, i == 0 ? 1 : 2);
        for (int k = 0; k < own.component_count; k++) assert_true(own.component_closed[k]);

        /* two octahedra less their overlap, which is an octahedron of (2 - shift) / 2 */
        double overlap = i == 0 ? pow((2 - 0.9) / 2, 3) : 0, expected = 4.0 / 3 * (2 - overlap);
        double volume = mesh_volume(s.triangle_count, s.triangles, s.positions);
        print_message("union: volume %g, expected %g\n", volume, expected);
        assert_true(fabs(volume / expected - 1) < 0.03);

        /* as one piece, all points and triangles are there */
        base_piece all;
        assert_int_equal(union_pieces(pieces, 2, &memory, &all, NULL), CUTIS_OK);
        assert_int_equal(all.surface.point_count, 12);
        assert_true(fabs(mesh_volume(all.surface.triangle_count, all.surface.triangles, all.surface.positions) -
                         8.0 / 3) < 1e-5);
        arena_destroy(&memory);
    }
}

/* Of a drawn mesh: a body without holes, folds or intersections, of the budget asked for. */
static void check_body(const cutis_character *c, int budget)
{
    arena memory = arena_create(NULL);
    mesh m;
    drawn_cracks closed;
    sim_body body = {0};
    cutis_error error = {0};
    assert_int_equal(mesh_build_character(&m, c, &memory, NULL), CUTIS_OK);
    assert_int_equal(cracks_close(&closed, c, &m, &memory, NULL), CUTIS_OK);
    body_def def = {.character = c, .mesh = &m, .cracks = &closed, .point_budget = budget};
    if (body_build(&def, &memory, &body, &error)) fail_msg("%s: %s", c->name, error.text);
    if (body.character) {
        cutis_topology t;
        assert_int_equal(cutis_character_topology(body.character, NULL, &t, NULL), CUTIS_OK);
        print_message("%s: %d points drawn, body %d, intersections %d\n", c->name, c->point_count,
                      body.character->point_count, t.self_intersection_count);
        assert_int_equal(t.closed_component_count, t.component_count);
        assert_int_equal(t.self_intersection_count, 0);
        assert_true(body.character->point_count > 0.6 * budget && body.character->point_count < 1.4 * budget);
        /* every drawn point of one flesh hangs on it with weights that sum to 1 */
        for (int p = 0; body.flesh_count == 1 && body.rigid_count + body.carried_count == 0 && p < c->point_count;
             p++) {
            float sum = 0;
            for (int k = body.anchor_first[p]; k < body.anchor_first[p + 1]; k++) sum += body.anchor_weights[k];
            assert_true(fabsf(sum - 1) < 1e-4f);
        }
    }
    body_release(&body);
    arena_destroy(&memory);
}

static void bodies_are_closed_at_every_resolution(void **unused)
{
    (void)unused;
    const char *names[] = {"man", "cat", "hand", "bunny", "arm"};
    const double resolutions[] = {0.1, 0.2, 0.5};
    for (int i = 0; i < COUNT_OF(names); i++) {
        for (int r = 0; r < COUNT_OF(resolutions); r++) {
            cutis_character *c;
            assert_int_equal(cutis_zoo_make(names[i], resolutions[r], NULL, &c, NULL), CUTIS_OK);
            check_body(c, 1500 + 700 * r);
            cutis_character_destroy(c);
        }
    }
}

/*
 * Another character of the same vertices: as many as there are corners, every face for itself and each vertex moved by
 * at most `crack` sizes, or, without cracks, all of them twice, the second time without faces.
 */
static cutis_character *split_make(const cutis_character *c, float crack)
{
    int corner_count = c->face_first[c->face_count];
    int count = crack > 0 ? corner_count : 2 * c->vertex_count;
    float *positions = malloc(3 * (size_t)count * sizeof(float));
    int *corners = malloc((size_t)corner_count * sizeof(int));
    int *first = malloc(((size_t)count + 1) * sizeof(int));
    int *joints = malloc((size_t)count * 8 * sizeof(int));
    float *weights = malloc((size_t)count * 8 * sizeof(float));

    /* each vertex from its own, with its influences */
    uint32_t seed = 1;
    first[0] = 0;
    for (int v = 0; v < count; v++) {
        int from = crack > 0 ? c->corners[v] : v % c->vertex_count;
        float noise = crack > 0 ? crack : v < c->vertex_count ? 0 : 1e-4f;
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            positions[3 * v + k] = c->positions[3 * from + k] + noise * c->size * ((float)(seed >> 8) / 8388608.0f - 1);
        }
        int influences = c->influence_first[from + 1] - c->influence_first[from];
        assert_true(influences <= 8);
        memcpy(joints + first[v], c->influence_joints + c->influence_first[from], (size_t)influences * sizeof(int));
        memcpy(weights + first[v], c->influence_weights + c->influence_first[from], (size_t)influences * sizeof(float));
        first[v + 1] = first[v] + influences;
    }
    for (int i = 0; i < corner_count; i++) corners[i] = crack > 0 ? i : c->corners[i];

    cutis_character given = *c, *made;
    given.vertex_count = count;
    given.positions = positions;
    given.texcoords = NULL;
    given.corners = corners;
    given.influence_first = first;
    given.influence_joints = joints;
    given.influence_weights = weights;
    given.part_count = 0;
    given.map_count = 0;
    assert_int_equal(cutis_character_create(&given, NULL, &made, NULL), CUTIS_OK);
    free(positions);
    free(corners);
    free(first);
    free(joints);
    free(weights);
    return made;
}

/* Faces that were written one by one, with rounding of their own: one closed body, as of the whole surface. */
static void a_cracked_surface_is_one_piece(void **unused)
{
    (void)unused;
    const char *names[] = {"man", "hand", "cat"};
    const float cracks[] = {3e-6f, 3e-5f, 1e-4f};
    for (int i = 0; i < COUNT_OF(names); i++) {
        cutis_character *whole = test_zoo(names[i], 0.2), *cracked = split_make(whole, cracks[i]);
        arena memory = arena_create(NULL);
        mesh m;
        drawn_cracks closed;
        sim_body body = {0};
        assert_int_equal(mesh_build_character(&m, cracked, &memory, NULL), CUTIS_OK);
        assert_int_equal(cracks_close(&closed, cracked, &m, &memory, NULL), CUTIS_OK);
        body_def def = {.character = cracked, .mesh = &m, .cracks = &closed, .point_budget = 1500};
        assert_int_equal(body_build(&def, &memory, &body, NULL), CUTIS_OK);
        assert_non_null(body.character);
        assert_int_equal(body.flesh_count, 1);
        cutis_topology t, expected;
        assert_int_equal(cutis_character_topology(body.character, NULL, &t, NULL), CUTIS_OK);
        assert_int_equal(cutis_character_topology(whole, NULL, &expected, NULL), CUTIS_OK);
        print_message("%s: %d points for %d, body %d, volume %.4f of the whole\n", names[i], cracked->point_count,
                      whole->point_count, body.character->point_count, t.volume / expected.volume);
        assert_int_equal(t.closed_component_count, 1);
        assert_true(fabs(t.volume / expected.volume - 1) < 0.08); /* a body is grown around the drawn points */
        body_release(&body);
        arena_destroy(&memory);
        cutis_character_destroy(cracked);
        cutis_character_destroy(whole);
    }
}

/* Deviations from linear skinning (vertex_count x 3) at the end of half a second of a clip; points that fall back. */
static int deviations_run(const cutis_character *c, const char *clip, int detail, float *deviations)
{
    cutis_model *model = test_build_def((cutis_model_def){.character = c, .solver = "layers", .detail = detail}),
                *skinned = test_build_def((cutis_model_def){.character = c, .solver = "lbs"});
    cutis_state *a = test_state(model, NULL), *b = test_state(skinned, NULL);
    cutis_clip_motion motion = {.character = c, .clip = cutis_character_find_clip(c, clip), .lead_in = 0.3};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    int limited = 0;
    for (int frame = 0; frame < 16; frame++) {
        cutis_state_step(model, a, &input, 0.05);
        cutis_state_step(skinned, b, &input, 0.05);
        limited += cutis_state_stats(model, a)->limited;
    }
    for (int i = 0; i < 3 * c->vertex_count; i++)
        deviations[i] = cutis_state_positions(model, a)[i] - cutis_state_positions(skinned, b)[i];
    cutis_state_destroy(a);
    cutis_state_destroy(b);
    cutis_model_destroy(model);
    cutis_model_destroy(skinned);
    return limited;
}

/* What is shown of faces that were written one by one is what is shown of the whole surface, and no crack opens. */
static void a_soup_of_faces_moves_as_the_whole_surface(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *clip;
        float crack;
    } scenes[] = {{"man", "walk", 1e-5f}, {"man", "walk", 2e-4f}, {"cat", "walk", 1e-4f}, {"arm", "flex", 1e-4f}};
    for (int i = 0; i < COUNT_OF(scenes); i++) {
        cutis_character *whole = test_zoo(scenes[i].name, 0.1), *soup = split_make(whole, scenes[i].crack);
        float *a = malloc(3 * (size_t)whole->vertex_count * sizeof(float)),
              *b = malloc(3 * (size_t)soup->vertex_count * sizeof(float));
        int limited[2] = {deviations_run(whole, scenes[i].clip, 1500, a),
                          deviations_run(soup, scenes[i].clip, 1500, b)};

        /* every corner against its vertex, and against the other corners there */
        float furthest = 0, opened = 0, most = 0;
        double sum = 0;
        float *first = calloc(3 * (size_t)whole->vertex_count, sizeof(float));
        for (int v = 0; v < soup->vertex_count; v++) {
            int from = whole->corners[v];
            float d = distance(a + 3 * from, b + 3 * v);
            furthest = fmaxf(furthest, d);
            most = fmaxf(most, vec3_length(vec3_load(a + 3 * from)));
            sum += (double)d * (double)d;
            if (vec3_length(vec3_load(first + 3 * from)) == 0) memcpy(first + 3 * from, b + 3 * v, 3 * sizeof(float));
            opened = fmaxf(opened, distance(first + 3 * from, b + 3 * v));
        }
        float rms = (float)sqrt(sum / soup->vertex_count) / soup->size;
        print_message("%s, cracks of %.0e: deviations up to %.2f %%, apart by %.3f %% at most, %.3f %% RMS, cracks "
                      "open by %.4f %%, "
                      "%d points fall back (whole: %d)\n",
                      scenes[i].name, (double)scenes[i].crack, 100 * (double)(most / soup->size),
                      100 * (double)(furthest / soup->size), 100 * (double)rms, 100 * (double)(opened / soup->size),
                      limited[1], limited[0]);
        assert_true(furthest < 0.012f * soup->size && rms < 0.002f);
        assert_true(opened < 2e-5f * soup->size);
        assert_int_equal(limited[0], 0);
        assert_int_equal(limited[1], 0);
        free(first);
        free(a);
        free(b);
        cutis_character_destroy(soup);
        cutis_character_destroy(whole);
    }
}

/* Vertices that no face uses are not skin: flesh does not hold on to them. */
static void unused_vertices_hold_no_flesh(void **unused)
{
    (void)unused;
    cutis_character *plain = test_zoo("arm", 0.2), *doubled = split_make(plain, 0);
    const cutis_character *c[2] = {plain, doubled};
    float moved[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        cutis_model *model = test_build_def((cutis_model_def){.character = c[i], .solver = "layers", .detail = 2000}),
                    *skinned = test_build_def((cutis_model_def){.character = c[i], .solver = "lbs"});
        cutis_state *a = test_state(model, NULL), *b = test_state(skinned, NULL);
        cutis_clip_motion flex = {.character = c[i], .clip = cutis_character_find_clip(c[i], "flex")};
        cutis_step_input input = {.motion = {&flex, cutis_clip_motion_sample}};
        for (int frame = 0; frame < 30; frame++) {
            cutis_state_step(model, a, &input, 1.0 / 30);
            cutis_state_step(skinned, b, &input, 1.0 / 30);
        }
        for (int v = 0; v < plain->vertex_count; v++)
            moved[i] = fmaxf(
                moved[i], distance(cutis_state_positions(model, a) + 3 * v, cutis_state_positions(skinned, b) + 3 * v));
        assert_int_equal(cutis_state_stats(model, a)->limited, 0);
        cutis_state_destroy(a);
        cutis_state_destroy(b);
        cutis_model_destroy(model);
        cutis_model_destroy(skinned);
    }
    print_message("largest deviation %.4f, with unused vertices %.4f\n", (double)moved[0], (double)moved[1]);
    assert_true(moved[1] > 0.8f * moved[0]);
    cutis_character_destroy(doubled);
    cutis_character_destroy(plain);
}

/* A thin hood is fused with its lining: inner layers that belong to its outside must not be shown above the lining. */
static void linings_show_no_flesh_above_them(void **unused)
{
    (void)unused;
    const char *path = test_model("rigs/quaternius-woman-medieval/Medieval.glb");
    if (!path) skip();
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
    cutis_model_def def = cutis_model_def_default();
    def.character = c;
    def.solver = "layers";
    cutis_model *model = NULL;
    assert_int_equal(cutis_model_build(&def, &model, NULL), CUTIS_OK);
    cutis_state *state = test_state(model, NULL);
    cutis_judge *judge = NULL;
    assert_int_equal(cutis_judge_create(c, 1, NULL, NULL, &judge, NULL), CUTIS_OK);

    /* the pose of rest */
    float *joints = malloc(12 * (size_t)c->joint_count * sizeof(float));
    assert_non_null(joints);
    cutis_pose_rest(c, joints);
    cutis_state_step(model, state, &(cutis_step_input){.joints = joints}, 1 / 24.0);
    free(joints);
    cutis_output bone;
    assert_true(cutis_state_output(model, state, "bone", &bone));
    const float *x = cutis_state_positions(model, state);
    cutis_judge_frame(judge, x, x, bone.values);
    cutis_verdict verdict;
    cutis_judge_finish(judge, 0, 0, 0, &verdict);
    print_message("%.2f %% of the bone layer is outside the skin\n", 100 * verdict.figures[CUTIS_HARM_BONE]);
    assert_true(verdict.figures[CUTIS_HARM_BONE] < 0.005);

    cutis_judge_destroy(judge);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

/* The floor below which no result may fall: points at their linear skinning show linear skinning, in any pose. */
static void without_deviation_the_files_skinning_is_shown(void **unused)
{
    (void)unused;
    cutis_character *c;
    assert_int_equal(cutis_zoo_make("man", 0.1, NULL, &c, NULL), CUTIS_OK);
    arena memory = arena_create(NULL);
    mesh m;
    drawn_cracks closed;
    sim_body body;
    assert_int_equal(mesh_build_character(&m, c, &memory, NULL), CUTIS_OK);
    assert_int_equal(cracks_close(&closed, c, &m, &memory, NULL), CUTIS_OK);
    body_def def = {.character = c, .mesh = &m, .cracks = &closed, .point_budget = DETAIL};
    assert_int_equal(body_build(&def, &memory, &body, NULL), CUTIS_OK);
    assert_non_null(body.character);
    float *joints = ARENA_ARRAY(&memory, float, 12 * c->joint_count);
    float *skin = ARENA_ARRAY(&memory, float, 12 * c->joint_count);
    float *points = ARENA_ARRAY(&memory, float, 3 * body.character->point_count);
    float *deviation = ARENA_ARRAY(&memory, float, 3 * body.character->point_count);
    float *scratch = ARENA_ARRAY(&memory, float, embedding_scratch_count(&body));
    float *shown = ARENA_ARRAY(&memory, float, 3 * c->point_count);
    float *skinned = ARENA_ARRAY(&memory, float, 3 * c->point_count);
    for (int frame = 0; frame < 20; frame++) {
        cutis_pose_sample(c, frame % c->clip_count, 0.1 * frame, joints);
        skin_matrices(c, joints, skin);
        skinning_linear(&body.body_skinning, skin, scratch, NULL, points);
        skinning_linear(&body.drawn_skinning, skin, scratch, NULL, skinned);
        embedding_deviation(&body, skin, points, scratch, NULL, deviation);
        embedding_show(&body, points, deviation, skinned, scratch, shown);
        assert_memory_equal(shown, skinned, 3 * (size_t)c->point_count * sizeof(float));
    }
    body_release(&body);
    arena_destroy(&memory);
    cutis_character_destroy(c);
}

/* The same character with its points moved by at most `noise` sizes; every vertex of a point alike. */
static cutis_character *noisy_make(const cutis_character *c, float noise, uint32_t seed)
{
    float *positions = malloc(3 * (size_t)c->vertex_count * sizeof(float));
    float *moves = malloc(3 * (size_t)c->point_count * sizeof(float));
    for (int i = 0; i < 3 * c->point_count; i++) {
        seed = seed * 1664525u + 1013904223u;
        moves[i] = noise * c->size * ((float)(seed >> 8) / 8388608.0f - 1);
    }
    for (int i = 0; i < 3 * c->vertex_count; i++)
        positions[i] = c->positions[i] + moves[3 * c->vertex_points[i / 3] + i % 3];
    cutis_character given = *c;
    given.positions = positions;
    cutis_character *made;
    assert_int_equal(cutis_character_create(&given, NULL, &made, NULL), CUTIS_OK);
    free(positions);
    free(moves);
    return made;
}

/* Four frames of a clip: (4 x vertex_count x 3), to be freed. */
static float *four_frames(const cutis_character *c, const char *solver)
{
    cutis_model *model = model_make(c, solver);
    cutis_state *state = test_state(model, NULL);
    cutis_clip_motion clip = {.character = c, .clip = 0};
    cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
    float *frames = malloc(12 * (size_t)c->vertex_count * sizeof(float));
    for (int frame = 0; frame < 4; frame++) {
        cutis_state_step(model, state, &input, 1.0 / 30);
        memcpy(frames + 3 * (size_t)frame * (size_t)c->vertex_count, cutis_state_positions(model, state),
               3 * (size_t)c->vertex_count * sizeof(float));
    }
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return frames;
}

/* In how many of four tries noise of `noise` sizes in a file moves none of four frames by `bound` sizes. */
static int same_under_noise(const cutis_character *c, const char *solver, float noise, float bound)
{
    cutis_character *plain = noisy_make(c, 0, 1); /* made anew like the noisy ones: weights are rounded alike */
    float *expected = four_frames(plain, solver);
    cutis_character_destroy(plain);
    int same = 0;
    for (uint32_t seed = 1; seed <= 4; seed++) {
        cutis_character *noisy = noisy_make(c, noise, seed);
        float *found = four_frames(noisy, solver), worst = 0;
        for (int k = 0; k < 12 * c->vertex_count; k++) worst = fmaxf(worst, fabsf(found[k] - expected[k]));
        print_message("%s, %s: %.1e of the size\n", c->name, solver, (double)(worst / c->size));
        same += worst < bound * c->size;
        free(found);
        cutis_character_destroy(noisy);
    }
    free(expected);
    return same;
}

/* Files of the same character from two programs differ by rounding: the body and what it does must not. */
static void noise_in_the_file_makes_no_difference(void **unused)
{
    (void)unused;
    cutis_character *c[3] = {test_zoo("man", 0.1), test_zoo("cat", 0.3)};
    const char *fox = test_model("khronos-Fox/Fox.glb");
    if (fox) assert_int_equal(cutis_character_load(fox, NULL, &c[2], NULL), CUTIS_OK);
    for (int i = 0; i < 3 && c[i]; i++) {
        assert_true(same_under_noise(c[i], "layers", 1e-8f, 1e-5f) >= 3);
        assert_int_equal(same_under_noise(c[i], "lattice", 2e-7f, 1e-6f), 4);
        cutis_character_destroy(c[i]);
    }
}

/* A fist at half detail: creases narrower than an edge of the body are shown as those of the drawn mesh are. */
static void half_detail_gives_the_same_shape(void **unused)
{
    (void)unused;
    test_is_heavy();
    cutis_character *c = test_zoo("hand", 1);
    cutis_bake_result *results[2];
    for (int i = 0; i < 2; i++) {
        cutis_bake_def def = cutis_bake_def_default();
        def.character = c;
        def.clip = "fist";
        def.solver = "layers";
        def.fps = 10;
        def.end = 0.8;
        def.detail = i ? 2000 : 4000;
        def.keep_frames = true;
        def.no_verdict = true;
        assert_int_equal(cutis_bake(&def, &results[i], NULL), CUTIS_OK);
    }

    /* largest distance of a vertex */
    float worst = 0;
    for (int v = 0; v < results[0]->frame_count * c->vertex_count; v++)
        worst = fmaxf(worst, vec3_distance(vec3_load(results[0]->positions + 3 * (size_t)v),
                                           vec3_load(results[1]->positions + 3 * (size_t)v)));
    print_message("half detail: %.2f %% of the size\n", (double)(100 * worst / c->size));
    assert_true(worst < 0.01f * c->size);
    for (int i = 0; i < 2; i++) cutis_bake_destroy(results[i]);
    cutis_character_destroy(c);
}

/* Boxes in place of a character's surface. */
typedef struct box_set {
    float positions[72], weights[48];
    int face_first[19], corners[72], first[25], joints[48];
    int count, face_count, corner_count;
} box_set;

/* A box with as many equal influences as joints are given. */
static void box_put(box_set *s, float x, float half, int joint_count, const int *joints)
{
    box_add(8 * s->count, (const float[3]){x, 0, 0}, half, s->positions, s->face_first, s->corners, &s->face_count,
            &s->corner_count);
    s->face_first[s->face_count] = s->corner_count;
    for (int v = 8 * s->count; v < 8 * s->count + 8; v++) {
        s->first[v + 1] = s->first[v] + joint_count;
        for (int k = 0; k < joint_count; k++) {
            s->joints[s->first[v] + k] = joints[k];
            s->weights[s->first[v] + k] = 1 / (float)joint_count;
        }
    }
    s->count++;
}

static cutis_character boxes_given(const cutis_character *tube, const box_set *s)
{
    cutis_character given = *tube;
    given.vertex_count = 8 * s->count;
    given.positions = s->positions;
    given.face_count = s->face_count;
    given.face_first = s->face_first;
    given.corners = s->corners;
    given.texcoords = NULL;
    given.influence_first = s->first;
    given.influence_joints = s->joints;
    given.influence_weights = s->weights;
    given.part_count = given.map_count = given.morph_count = 0;
    return given;
}

/* The end of a piece inside of another has no place on their common surface: it follows all that is around it. */
static void what_lies_deep_in_a_union_follows_its_surroundings(void **unused)
{
    (void)unused;
    test_is_heavy();
    cutis_character *tube, *boxes;
    assert_int_equal(test_tube(NULL, &tube, NULL), CUTIS_OK);
    box_set set = {.count = 0};
    const int both[2] = {0, 1};
    box_put(&set, 0.5f, 0.5f, 2, both);
    box_put(&set, 1.05f, 0.2f, 2, both);
    cutis_character given = boxes_given(tube, &set);
    assert_int_equal(cutis_character_create(&given, NULL, &boxes, NULL), CUTIS_OK);
    arena memory = arena_create(NULL);
    mesh m;
    drawn_cracks closed;
    sim_body body;
    assert_int_equal(mesh_build_character(&m, boxes, &memory, NULL), CUTIS_OK);
    assert_int_equal(cracks_close(&closed, boxes, &m, &memory, NULL), CUTIS_OK);
    body_def def = {.character = boxes, .mesh = &m, .cracks = &closed, .point_budget = 2000};
    assert_int_equal(body_build(&def, &memory, &body, NULL), CUTIS_OK);
    assert_int_equal(body.flesh_count, 2);
    for (int v = 0; v < 16; v++) {
        int p = boxes->vertex_points[v];
        bool inside = v >= 8 && set.positions[3 * v] < 1;
        int count = body.anchor_first[p + 1] - body.anchor_first[p];
        if (inside) assert_true(count == 0 || count > 3);
        if (!inside) assert_in_range(count, 1, 3);
    }
    body_release(&body);
    arena_destroy(&memory);
    cutis_character_destroy(boxes);
    cutis_character_destroy(tube);
}

/* Joints that no clip moves against each other hold a piece as one joint does; joints that bend do not. */
static void joints_that_move_as_one_make_a_piece_rigid(void **unused)
{
    (void)unused;
    cutis_character *tube, *boxes;
    assert_int_equal(test_tube(NULL, &tube, NULL), CUTIS_OK);

    /* half of each box on one joint, half on another: the last two joints move as one, the first bends against them */
    box_set set = {.count = 0};
    static const int pairs[3][2] = {{1, 2}, {0, 1}, {0, 2}};
    for (int i = 0; i < 3; i++) box_put(&set, 0.4f + 0.8f * (float)i, 0.3f, 2, pairs[i]);
    cutis_joint chain[3] = {tube->joints[0], tube->joints[1], tube->joints[1]};
    chain[2].name = "tip";
    chain[2].parent = 1;
    for (int k = 0; k < 3; k++) {
        chain[2].rest.translation[k] = k == 0 ? 0.5f : 0;
        chain[2].idle.translation[k] = chain[2].rest.translation[k];
    }
    chain[2].inverse_bind[3] -= 0.5f;
    cutis_character given = boxes_given(tube, &set);
    given.joint_count = 3;
    given.joints = chain;
    for (int clips = 0; clips < 2; clips++) {
        /* without clips nothing is known of the joints */
        given.clip_count = clips ? tube->clip_count : 0;
        assert_int_equal(cutis_character_create(&given, NULL, &boxes, NULL), CUTIS_OK);
        arena memory = arena_create(NULL);
        mesh m;
        base b;
        part_role roles[3];
        assert_int_equal(mesh_build_character(&m, boxes, &memory, NULL), CUTIS_OK);
        assert_int_equal(base_build(&m, NULL, &memory, &b, NULL), CUTIS_OK);
        assert_int_equal(b.piece_count, 3);
        assert_int_equal(parts_find(boxes, &b, boxes->size, &memory, roles, NULL), CUTIS_OK);
        assert_int_equal(roles[0] == PART_RIGID, clips);
        assert_int_not_equal(roles[1], PART_RIGID);
        assert_int_not_equal(roles[2], PART_RIGID);
        arena_destroy(&memory);
        cutis_character_destroy(boxes);
    }
    cutis_character_destroy(tube);
}

/* A robot: two boxes on a joint each. */
static void a_wholly_rigid_character_is_skinned(void **unused)
{
    (void)unused;
    stage s = stage_make("lbs");
    box_set set = {.count = 0};
    for (int i = 0; i < 2; i++) box_put(&set, 0.5f + (float)i, 0.3f, 1, &i);
    cutis_character given = boxes_given(s.tube, &set), *robot;
    assert_int_equal(cutis_character_create(&given, NULL, &robot, NULL), CUTIS_OK);
    cutis_model *model = test_build_def((cutis_model_def){.character = robot, .solver = "layers", .detail = DETAIL});
    cutis_model *plain = test_build_def((cutis_model_def){.character = robot, .solver = "lbs"});
    assert_int_equal(cutis_model_get_info(model).warning_count, 1);
    assert_non_null(strstr(cutis_model_get_info(model).warnings[0], "linear skinning"));
    cutis_state *a = test_state(model, NULL), *b = test_state(plain, NULL);
    run(model, a, robot, 10, 0.05, NULL);
    run(plain, b, robot, 10, 0.05, NULL);
    assert_memory_equal(cutis_state_positions(model, a), cutis_state_positions(plain, b), 48 * sizeof(float));
    cutis_state_destroy(a);
    cutis_state_destroy(b);
    cutis_model_destroy(model);
    cutis_model_destroy(plain);
    cutis_character_destroy(robot);
    stage_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remeshed_surfaces_are_closed_and_even),
        cmocka_unit_test(damaged_meshes_become_closed_pieces),
        cmocka_unit_test(crossing_pieces_are_united),
        cmocka_unit_test(bodies_are_closed_at_every_resolution),
        cmocka_unit_test(a_cracked_surface_is_one_piece),
        cmocka_unit_test(a_soup_of_faces_moves_as_the_whole_surface),
        cmocka_unit_test(unused_vertices_hold_no_flesh),
        cmocka_unit_test(linings_show_no_flesh_above_them),
        cmocka_unit_test(without_deviation_the_files_skinning_is_shown),
        cmocka_unit_test(noise_in_the_file_makes_no_difference),
        cmocka_unit_test(half_detail_gives_the_same_shape),
        cmocka_unit_test(what_lies_deep_in_a_union_follows_its_surroundings),
        cmocka_unit_test(joints_that_move_as_one_make_a_piece_rigid),
        cmocka_unit_test(a_wholly_rigid_character_is_skinned),
        cmocka_unit_test(the_drawn_mesh_can_be_the_body),
        cmocka_unit_test(coat_and_cube_go_with_the_flesh),
        cmocka_unit_test(skinning_has_no_body),
        cmocka_unit_test(snapshots_rates_and_places_work_as_without),
        cmocka_unit_test(morphs_move_all_alike),
        cmocka_unit_test(a_coat_is_dragged_by_the_flesh_below),
        cmocka_unit_test(a_loop_closes_with_its_coat),
        cmocka_unit_test(a_step_never_allocates),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
