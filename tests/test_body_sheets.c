/*
 * Sheets that are welded to flesh: a tube with a fin of two sides back to back, thin and thicker, fine and coarse,
 * turned. The fin is carried and leaves no trace in the simulation body; a slit that is shut is no sheet.
 */
#include "testing.h"

#include "body/body_parts.h"
#include "body/body_sheets.h"
#include "show/embedding.h"

/* Most rings of a tube, rows of its fin, and points of a body. */
enum { SIDES = 12, MOST_RINGS = 48, ROWS = 4, DETAIL = 800, TOP = 3 };
/* sin(i x 30 degrees) */
static const float circle[SIDES] = {0,    0.5f,  0.8660254f,  1,  0.8660254f,  0.5f,
                                    0.0f, -0.5f, -0.8660254f, -1, -0.8660254f, -0.5f};
static const float RADIUS = 0.25f;

/* A fin on the tube: its thickness over the size, its height over the tube, and whether a strip closes its rim. */
typedef struct fin {
    int rings;
    float thickness, height;
    bool strip, turned;
    bool blunt; /* the ends of its root are as thick as the fin */
    bool still; /* it stands where one joint moves all */
    float arch; /* how high the tube is bent upwards in its middle */
} fin;

typedef struct finned {
    cutis_character *character;
    int vertex_count, face_count, corner_count;
    float positions[3 * (MOST_RINGS * SIDES + 2 + 2 * MOST_RINGS * (ROWS + 1))];
    bool in_fin[MOST_RINGS * SIDES + 2 + 2 * MOST_RINGS * (ROWS + 1)];
    int face_first[MOST_RINGS * (SIDES + 4 * ROWS + 8)];
    int corners[4 * MOST_RINGS * (SIDES + 4 * ROWS + 8)];
    int top[2][MOST_RINGS]; /* points along the top line on both sides */
    int first, last;        /* rings between which the fin stands */
    float arch;
    float turn[9]; /* rows: axes of the tube in the scene */
} finned;

/* How much higher the tube is at x than one that is straight. */
static float rise(const finned *f, float x) { return f->arch * (1 - (x - 1) * (x - 1)); }

static int add_vertex(finned *f, float x, float y, float z)
{
    y += rise(f, x);
    float *p = f->positions + 3 * f->vertex_count;
    for (int k = 0; k < 3; k++) p[k] = x * f->turn[k] + y * f->turn[3 + k] + z * f->turn[6 + k];
    return f->vertex_count++;
}

/* A face of three or four corners; -1: no fourth. */
static void add_face(finned *f, int a, int b, int c, int d)
{
    int corners[4] = {a, b, c, d};
    f->face_first[f->face_count++] = f->corner_count;
    for (int k = 0; k < (d < 0 ? 3 : 4); k++) f->corners[f->corner_count++] = corners[k];
}

/* Points of both sides of the fin, row 0 at its root. */
static void add_fin(finned *f, const fin *def, float size)
{
    static int grid[2][ROWS + 1][MOST_RINGS];
    int first = f->first, last = f->last;
    float half = 0.5f * def->thickness * size;
    for (int row = 0; row <= ROWS; row++) {
        for (int r = first; r <= last; r++) {
            bool rim = row == ROWS || r == first || r == last;
            for (int side = 0; side < 2; side++) {
                float z = (rim && !def->strip ? 0 : half) * (side ? -1 : 1);
                float y = RADIUS + def->height * (float)row / ROWS;
                if (row == 0) {
                    grid[side][row][r] = f->top[side][r];
                } else if (side && rim && !def->strip) {
                    grid[side][row][r] = grid[0][row][r];
                } else {
                    grid[side][row][r] = add_vertex(f, 2.0f * (float)r / (float)(def->rings - 1), y, z);
                    f->in_fin[grid[side][row][r]] = true;
                }
            }
        }
    }

    /* both sides, with other diagonals */
    for (int row = 0; row < ROWS; row++) {
        for (int r = first; r < last; r++) {
            int(*p)[MOST_RINGS] = grid[0] + row, (*n)[MOST_RINGS] = grid[1] + row;
            add_face(f, p[0][r], p[0][r + 1], p[1][r + 1], -1);
            add_face(f, p[0][r], p[1][r + 1], p[1][r], -1);
            add_face(f, n[0][r + 1], n[0][r], n[1][r], -1);
            add_face(f, n[0][r + 1], n[1][r], n[1][r + 1], -1);
        }
    }

    if (!def->strip) return;

    /* the strip around the rim */
    for (int r = first; r < last; r++)
        add_face(f, grid[0][ROWS][r], grid[0][ROWS][r + 1], grid[1][ROWS][r + 1], grid[1][ROWS][r]);
    for (int row = 0; row < ROWS; row++) {
        int(*p)[MOST_RINGS] = grid[0] + row, (*n)[MOST_RINGS] = grid[1] + row;
        bool wide = row > 0 || def->blunt;
        add_face(f, p[0][first], p[1][first], n[1][first], wide ? n[0][first] : -1);
        add_face(f, p[1][last], p[0][last], wide ? n[0][last] : n[1][last], wide ? n[1][last] : -1);
    }
}

/* Skeleton and weights as those of the tube of tube.h. */
static cutis_character *finish(finned *f)
{
    static int first[sizeof f->in_fin + 1], joints[2 * sizeof f->in_fin];
    static float weights[2 * sizeof f->in_fin];
    for (int v = 0; v <= f->vertex_count; v++) first[v] = 2 * v;
    for (int v = 0; v < f->vertex_count; v++) {
        float x = 0;
        for (int k = 0; k < 3; k++) x += f->positions[3 * v + k] * f->turn[k];
        float t = CLAMP((x - 0.7f) / 0.6f, 0, 1);
        weights[2 * v + 1] = t * t * (3 - 2 * t);
        weights[2 * v] = 1 - weights[2 * v + 1];
        joints[2 * v] = 0;
        joints[2 * v + 1] = 1;
    }

    cutis_joint skeleton[2] = {{.name = "upper", .parent = -1}, {.name = "lower", .parent = 0}};
    for (int j = 0; j < 2; j++) {
        const float *x = f->turn;
        cutis_transform local = {{j ? x[0] : 0, j ? x[1] : 0, j ? x[2] : 0}, {0, 0, 0, 1}, {1, 1, 1}};
        const float inverse[12] = {1, 0, 0, -local.translation[0], 0, 1, 0, -local.translation[1],
                                   0, 0, 1, -local.translation[2]};
        skeleton[j].rest = skeleton[j].idle = local;
        memcpy(skeleton[j].inverse_bind, inverse, sizeof inverse);
    }

    static const float times[3] = {0, 0.5f, 1};
    static const float bend[12] = {0, 0, 0, 1, 0, 0, 0.8660254f, 0.5f, 0, 0, 0, 1};
    const cutis_track track = {1, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, 3, times, bend};
    const cutis_clip clip = {.name = "bend", .track_count = 1, .tracks = &track};
    f->face_first[f->face_count] = f->corner_count;
    const cutis_character given = {.name = "finned",
                                   .vertex_count = f->vertex_count,
                                   .positions = f->positions,
                                   .face_count = f->face_count,
                                   .face_first = f->face_first,
                                   .corners = f->corners,
                                   .influence_first = first,
                                   .influence_joints = joints,
                                   .influence_weights = weights,
                                   .joint_count = 2,
                                   .joints = skeleton,
                                   .clip_count = 1,
                                   .clips = &clip};
    cutis_character *made;
    assert_int_equal(cutis_character_create(&given, NULL, &made, NULL), CUTIS_OK);
    return made;
}

/* The tube of tube.h, of any number of rings, with a fin along its upper line. */
static finned *finned_make(const fin *def)
{
    static const float straight[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const float turned[9] = {0.36f, 0.48f, -0.8f, -0.8f, 0.6f, 0, 0.48f, 0.64f, 0.6f};
    finned *f = calloc(1, sizeof *f);
    memcpy(f->turn, def->turned ? turned : straight, sizeof f->turn);
    f->first = def->still ? 1 : def->rings / 4;
    f->last = def->still ? def->rings / 3 - 1 : 3 * def->rings / 4;
    f->arch = def->arch;
    float size = 2.3f;

    /* rings; the upper line is double where the fin stands */
    int ring[MOST_RINGS][SIDES];
    for (int r = 0; r < def->rings; r++) {
        float x = 2.0f * (float)r / (float)(def->rings - 1);
        bool split = (r > f->first && r < f->last) || (def->blunt && (r == f->first || r == f->last));
        for (int s = 0; s < SIDES; s++) {
            float z = split && s == TOP ? 0.5f * def->thickness * size : RADIUS * circle[(s + 3) % SIDES];
            ring[r][s] = add_vertex(f, x, RADIUS * circle[s], z);
        }
        f->top[0][r] = f->top[1][r] = ring[r][TOP];
        if (split) f->top[1][r] = add_vertex(f, x, RADIUS, -0.5f * def->thickness * size);
    }

    for (int r = 0; r + 1 < def->rings; r++) {
        for (int s = 0; s < SIDES; s++) {
            int next = (s + 1) % SIDES;
            int a = s == TOP ? f->top[1][r] : ring[r][s];
            int b = s == TOP ? f->top[1][r + 1] : ring[r + 1][s];
            add_face(f, ring[r][next], a, b, ring[r + 1][next]);
        }
    }

    /* before and behind a blunt root */
    int(*top)[MOST_RINGS] = f->top;
    if (def->blunt) {
        add_face(f, top[0][f->first - 1], top[0][f->first], top[1][f->first], -1);
        add_face(f, top[0][f->last], top[0][f->last + 1], top[1][f->last], -1);
    }

    /* ends */
    int tips[2] = {add_vertex(f, -0.05f, 0, 0), add_vertex(f, 2.05f, 0, 0)};
    for (int s = 0; s < SIDES; s++) {
        int next = (s + 1) % SIDES, end = def->rings - 1;
        add_face(f, ring[0][s], ring[0][next], tips[0], -1);
        add_face(f, ring[end][next], ring[end][s], tips[1], -1);
    }

    add_fin(f, def, size);
    f->character = finish(f);
    return f;
}

static void finned_free(finned *f)
{
    cutis_character_destroy(f->character);
    free(f);
}

/* The body of a character, with what it was made from. */
typedef struct made_body {
    arena memory;
    mesh mesh;
    drawn_cracks cracks;
    sim_body body;
} made_body;

static bool body_make(made_body *b, const cutis_character *c, const cutis_allocator *allocator)
{
    *b = (made_body){.memory = arena_create(allocator)};
    cutis_result result = mesh_build_character(&b->mesh, c, &b->memory, NULL);
    if (!result) result = cracks_close(&b->cracks, c, &b->mesh, &b->memory, NULL);
    body_def def = {.character = c, .mesh = &b->mesh, .cracks = &b->cracks, .point_budget = DETAIL};
    if (!result) result = body_build(&def, &b->memory, &b->body, NULL);
    if (result) arena_destroy(&b->memory);
    return !result;
}

static void body_free(made_body *b)
{
    body_release(&b->body);
    arena_destroy(&b->memory);
}

/* Coordinate of a point along an axis of the tube. */
static float along(const finned *f, const float *p, int axis)
{
    return p[0] * f->turn[3 * axis] + p[1] * f->turn[3 * axis + 1] + p[2] * f->turn[3 * axis + 2];
}

/* Height above the axis of the tube. */
static float height(const finned *f, const float *p) { return along(f, p, 1) - rise(f, along(f, p, 0)); }

/* Whether a point is at an end of the tube, where it is sharp. */
static bool at_end(const finned *f, const float *p) { return along(f, p, 0) < 0.1f || along(f, p, 0) > 1.9f; }

/* Fins that have to be cut off. */
static const fin thin_fins[] = {
    {.rings = 24, .thickness = 0, .height = 0.3f},
    {.rings = 24, .thickness = 0, .height = 0.3f, .turned = true},
    {.rings = 48, .thickness = 0, .height = 0.3f, .turned = true},
    {.rings = 24, .thickness = 1e-5f, .height = 0.3f},
    {.rings = 24, .thickness = 1e-5f, .height = 0.3f, .strip = true, .turned = true},
    {.rings = 48, .thickness = 2e-4f, .height = 0.3f, .strip = true},
    {.rings = 24, .thickness = 3e-4f, .height = 0.2f, .turned = true},
    {.rings = 24, .thickness = 5e-4f, .height = 0.3f, .strip = true, .turned = true},
    {.rings = 36, .thickness = 8e-4f, .height = 0.3f, .strip = true},
    {.rings = 24, .thickness = 8e-4f, .height = 0.15f},
    {.rings = 12, .thickness = 2e-4f, .height = 0.3f, .strip = true},
    {.rings = 24, .thickness = 5e-4f, .height = 0.3f, .strip = true, .blunt = true},
    {.rings = 36, .thickness = 8e-4f, .height = 0.3f, .strip = true, .turned = true, .blunt = true},
    {.rings = 24, .thickness = 0, .height = 0.3f, .still = true},
    {.rings = 24, .thickness = 3e-4f, .height = 0.3f, .strip = true, .blunt = true, .still = true},
    {.rings = 36, .thickness = 1e-5f, .height = 0.3f, .turned = true, .still = true},
    {.rings = 24, .thickness = 5e-4f, .height = 0.3f, .strip = true, .blunt = true, .arch = 0.6f},
    {.rings = 36, .thickness = 1e-5f, .height = 0.3f, .turned = true, .arch = 0.6f},
};

/* The fin is carried, and the body is that of the tube: closed, as large, and without a point in the fin. */
static void a_welded_fin_is_carried(void **unused)
{
    (void)unused;
    double section = 0.5 * SIDES * (double)RADIUS * (double)RADIUS * 0.5; /* of a polygon of 12 sides */
    double expected = section * (2 + 2 * 0.05 / 3);
    for (int i = 0; i < COUNT_OF(thin_fins); i++) {
        finned *f = finned_make(&thin_fins[i]);
        made_body b;
        assert_true(body_make(&b, f->character, NULL));
        assert_non_null(b.body.character);
        assert_int_equal(b.body.flesh_count, 1);
        assert_int_equal(b.body.rigid_count, 0);

        /* points of the fin are carried, those of the tube and of the root are flesh */
        for (int v = 0; v < f->vertex_count; v++) {
            int p = f->character->vertex_points[v];
            float held = 0;
            for (int k = b.body.anchor_first[p]; k < b.body.anchor_first[p + 1]; k++) held += b.body.anchor_weights[k];
            if (f->in_fin[v]) assert_false(b.body.bare[p]);
            if (!f->in_fin[v]) assert_true(fabsf(held - 1) < 1e-4f);
            if (!f->in_fin[v] && !at_end(f, f->positions + 3 * v)) assert_true(b.body.bare[p]);
        }

        /* one closed surface around the tube alone */
        const mesh *m = &b.body.mesh;
        float highest = 0, nearest = RADIUS;
        for (int p = 0; p < m->point_count; p++) {
            const float *x = m->positions + 3 * p;
            highest = MAX(highest, height(f, x));
            if (!at_end(f, x)) nearest = MIN(nearest, hypotf(height(f, x), along(f, x, 2)));
        }

        double volume = mesh_volume(m->triangle_count, m->triangles, m->positions);
        print_message("fin %d: %d points, volume %.4f (%.4f), highest %.4f, nearest %.4f\n", i, m->point_count, volume,
                      expected, (double)highest, (double)nearest);
        assert_int_equal(m->component_count, 1);
        assert_true(m->component_closed[0]);
        assert_true(fabs(volume / expected - 1) < (f->arch > 0 ? 0.07 : 0.05)); /* grown around the drawn points */
        assert_true(highest < 1.06f * RADIUS);
        assert_true(nearest > 0.85f * RADIUS);

        body_free(&b);
        finned_free(f);
    }
}

/* Both sides of the root, and the fin just above, deviate as the tube below. */
static void the_root_of_a_fin_moves_with_its_trunk(void **unused)
{
    (void)unused;
    for (int i = 0; i < COUNT_OF(thin_fins); i++) {
        finned *f = finned_make(&thin_fins[i]);
        const cutis_character *c = f->character;
        made_body b;
        assert_true(body_make(&b, c, NULL));
        float joints[24], skin[24];
        float *points = ARENA_ARRAY(&b.memory, float, 3 * b.body.character->point_count);
        float *deviation = ARENA_ARRAY(&b.memory, float, 3 * b.body.character->point_count);
        float *scratch = ARENA_ARRAY(&b.memory, float, embedding_scratch_count(&b.body));
        float *shown = ARENA_ARRAY(&b.memory, float, 3 * c->point_count);
        float *skinned = ARENA_ARRAY(&b.memory, float, 3 * c->point_count);

        /* bent, and moved by a share of the way along the tube */
        cutis_pose_sample(c, 0, f->arch > 0 ? 0.05 : 0.2, joints);
        skin_matrices(c, joints, skin);
        skinning_linear(&b.body.body_skinning, skin, scratch, NULL, points);
        for (int p = 0; p < b.body.character->point_count; p++)
            points[3 * p + 2] += 0.05f * along(f, b.body.mesh.positions + 3 * p, 0);
        skinning_linear(&b.body.drawn_skinning, skin, scratch, NULL, skinned);
        embedding_deviation(&b.body, skin, points, scratch, NULL, deviation);
        embedding_show(&b.body, points, deviation, skinned, scratch, shown);

        for (int r = f->first; r <= f->last; r++) {
            float wanted = 0.05f * 2.0f * (float)r / (float)(thin_fins[i].rings - 1);
            float moved[2];
            for (int side = 0; side < 2; side++) {
                int p = c->vertex_points[f->top[side][r]];
                moved[side] = shown[3 * p + 2] - skinned[3 * p + 2];
                assert_true(fabsf(moved[side] - wanted) < 0.1f * wanted);
            }
            assert_true(fabsf(moved[0] - moved[1]) < 0.002f);
        }

        /* a fin follows as far as it is near */
        for (int v = 0; v < f->vertex_count; v++) {
            const float *x = f->positions + 3 * v;
            if (!f->in_fin[v] || height(f, x) > RADIUS + 0.03f) continue;
            int p = c->vertex_points[v];
            float wanted = 0.05f * along(f, x, 0);
            assert_true(fabsf(shown[3 * p + 2] - skinned[3 * p + 2] - wanted) < 0.15f * wanted);
        }

        body_free(&b);
        finned_free(f);
    }
}

/* A thicker fin is flesh, and so is a fin that is turned into the tube: a slit. */
static void thick_fins_and_shut_slits_are_flesh(void **unused)
{
    (void)unused;
    static const fin fins[] = {
        {.rings = 24, .thickness = 0.01f, .height = 0.3f, .strip = true},
        {.rings = 24, .thickness = 0.005f, .height = 0.3f, .strip = true, .turned = true},
        {.rings = 24, .thickness = 1e-5f, .height = -0.15f},
        {.rings = 24, .thickness = 1e-5f, .height = -0.15f, .strip = true, .turned = true},
        {.rings = 24, .thickness = 3e-4f, .height = -0.15f, .strip = true},
        {.rings = 24, .thickness = 8e-4f, .height = -0.15f, .turned = true},
    };
    for (int i = 0; i < COUNT_OF(fins); i++) {
        finned *f = finned_make(&fins[i]);
        made_body b;
        assert_true(body_make(&b, f->character, NULL));
        print_message("flesh %d: %d carried\n", i, b.body.carried_count);
        assert_int_equal(b.body.flesh_count, 1);
        assert_int_equal(b.body.carried_count, 0);
        body_free(&b);
        finned_free(f);
    }
}

static bool build_once(void *context, const cutis_allocator *allocator)
{
    const finned *f = context;
    made_body b;
    if (!body_make(&b, f->character, allocator)) return false;
    body_free(&b);
    return true;
}

static void every_failing_allocation_is_survived(void **unused)
{
    (void)unused;
    finned *f = finned_make(&thin_fins[7]);
    assert_true(test_every_allocation(build_once, f) > 10);
    finned_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_welded_fin_is_carried),
        cmocka_unit_test(the_root_of_a_fin_moves_with_its_trunk),
        cmocka_unit_test(thick_fins_and_shut_slits_are_flesh),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
