/*
 * test_rig_curves.c: where curves run on a surface, by the paper's rays and by half-edges; long bodies; several poses
 * of one mesh.
 */
#include "testing.h"

#include "limbs/curve_search.h"
#include "limbs/ray_test.h"

static const double TURN = 6.283185307179586;

/* A closed tube of quads around a curve in the plane y = height, fans at its ends. */
typedef struct tube_shape {
    int rings, sides;
    vec3 (*centre)(double t, double bend);
    double (*radius)(double t);
    double bend;
} tube_shape;

static void tube_positions(const tube_shape *s, float *positions)
{
    int v = 0;
    for (int r = 0; r < s->rings; r++) {
        double t = (double)r / (s->rings - 1), e = 1e-3;
        vec3 at = s->centre(t, s->bend);
        vec3 along = vec3_normalize(vec3_sub(s->centre(t + e, s->bend), s->centre(t - e, s->bend)));
        vec3 side = vec3_normalize(vec3_cross(along, (vec3){0, 1, 0}));
        if (fabsf(along.y) > 0.9f) side = (vec3){1, 0, 0};
        vec3 up = vec3_cross(side, along);
        for (int k = 0; k < s->sides; k++, v++) {
            float c = (float)(s->radius(t) * cos(TURN * k / s->sides)),
                  d = (float)(s->radius(t) * sin(TURN * k / s->sides));
            vec3_store(positions + 3 * v, vec3_madd(vec3_madd(at, side, c), up, d));
        }
    }
    for (int end = 0; end < 2; end++, v++) {
        double t = end, out = end ? 1 : -1;
        vec3 at = s->centre(t, s->bend), near = s->centre(t - 1e-3 * out, s->bend);
        vec3_store(positions + 3 * v, vec3_madd(at, vec3_normalize(vec3_sub(at, near)), (float)(0.7 * s->radius(t))));
    }
}

static cutis_character *tube_make(const tube_shape *s)
{
    int n = s->rings * s->sides, faces = (s->rings - 1) * s->sides + 2 * s->sides, face = 0, corner = 0;
    float *positions = malloc(3 * (size_t)(n + 2) * sizeof *positions);
    int *first = malloc((size_t)(faces + 1) * sizeof *first), *corners = malloc(4 * (size_t)faces * sizeof *corners);
    tube_positions(s, positions);
    for (int r = 0; r + 1 < s->rings; r++)
        for (int k = 0; k < s->sides; k++) {
            int a = r * s->sides + k, b = r * s->sides + (k + 1) % s->sides;
            first[face++] = corner;
            corners[corner++] = a, corners[corner++] = a + s->sides;
            corners[corner++] = b + s->sides, corners[corner++] = b;
        }
    for (int end = 0; end < 2; end++)
        for (int k = 0; k < s->sides; k++) {
            int row = end ? n - s->sides : 0, a = row + k, b = row + (k + 1) % s->sides;
            first[face++] = corner;
            corners[corner++] = n + end, corners[corner++] = end ? b : a, corners[corner++] = end ? a : b;
        }
    first[face] = corner;
    cutis_character given = {.name = "tube",
                             .vertex_count = n + 2,
                             .positions = positions,
                             .face_count = face,
                             .face_first = first,
                             .corners = corners};
    cutis_character *made;
    cutis_error error;
    if (cutis_character_create(&given, NULL, &made, &error) != CUTIS_OK) fail_msg("%s", error.text);
    free(positions), free(first), free(corners);
    return made;
}

static curve_search *search(const cutis_character *c, arena *memory)
{
    curve_search *s = ARENA_ARRAY(memory, curve_search, 1);
    cutis_error error;
    assert_int_equal(curve_search_prepare(c, memory, s, &error), CUTIS_OK);
    assert_int_equal(curve_search_run(c, NULL, NULL, memory, s, &error), CUTIS_OK);
    return s;
}

/* The rays themselves, against the tree of all triangles. */
static float rays_by_force(const mesh *m, const bvh *tree, int point, vec3 inward, vec3 along)
{
    vec3 origin = vec3_load(m->positions + 3 * point), x = vec3_normalize(inward), hits[20], centre = {0, 0, 0};
    vec3 y = vec3_normalize(vec3_madd(along, x, -vec3_dot(along, x)));
    float start = 1e-3f * vec3_length(along), least = INFINITY, most = 0;
    bvh_hit other = bvh_ray(tree, m->positions, origin, x, start, 1e9f);
    if (other.triangle < 0) return INFINITY;
    vec3 middle = vec3_madd(origin, x, 0.5f * other.distance);
    for (int k = 0; k < 20; k++) {
        vec3 d = vec3_add(vec3_scale(x, (float)cos(TURN * k / 20)), vec3_scale(y, (float)sin(TURN * k / 20)));
        bvh_hit hit = bvh_ray(tree, m->positions, middle, d, 0, 1e9f);
        if (hit.triangle < 0) return INFINITY;
        hits[k] = vec3_madd(middle, d, hit.distance);
        centre = vec3_madd(centre, hits[k], 0.05f);
    }
    for (int k = 0; k < 20; k++) {
        float d = vec3_distance(hits[k], centre);
        least = fminf(least, d), most = fmaxf(most, d);
    }
    return most - least;
}

static void rays_along_the_section_are_rays_against_the_mesh(void **state)
{
    static const char *const names[] = {"cat", "man", "arm"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        cutis_error error;
        bvh tree;
        int tested = 0, same = 0, around = 0, decided = 0;
        cutis_character *c = test_zoo(names[i], 1);
        arena memory = arena_create(NULL);
        const curve_search *s = search(c, &memory);
        const mesh *m = &s->mesh;
        assert_int_equal(bvh_build(&tree, m->triangle_count, m->triangles, m->positions, &memory, &error), CUTIS_OK);
        for (int p = 0; p < m->point_count; p += 7) {
            if (s->rings.ring_of[p] < 0) continue;
            int ring = s->rings.ring_of[p], a = s->quads.spokes[p], b = quad_turn(&s->quads, a);
            vec3 at = vec3_load(m->positions + 3 * p), edges[2];
            edges[0] = vec3_sub(vec3_load(m->positions + 3 * quad_end(&s->quads, a)), at);
            edges[1] = vec3_sub(vec3_load(m->positions + 3 * quad_end(&s->quads, b)), at);
            vec3 inward = vec3_cross(edges[1], edges[0]);
            float d[2];
            for (int k = 0; k < 2; k++) {
                float fast = section_test(m, p, inward, edges[k], NULL);
                float slow = rays_by_force(m, &tree, p, inward, edges[k]);
                d[k] = fast;
                tested++;
                same += (isinf(fast) && isinf(slow)) || fabsf(fast - slow) < 1e-3f * c->size;
            }
            /* The paper's rule against the ring that closes there. */
            int circumferential = s->rings.ring_of[quad_end(&s->quads, a)] == ring ? 0 : 1;
            if (isinf(d[0]) && isinf(d[1])) continue;
            decided++;
            around += (d[1] < d[0]) == (circumferential == 1);
        }
        print_message("%-4s %d tests, %.1f %% as by force; rays name the closed curve in %.1f %% of %d\n", names[i],
                      tested, 100.0 * same / tested, 100.0 * around / decided, decided);
        /* Another limb in the way makes the difference, which following the section does not see. */
        assert_true(same > 0.9 * tested);
        assert_true(around > 0.8 * decided);
        arena_destroy(&memory);
        cutis_character_destroy(c);
    }
}

static void rays_decide_on_a_torus(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("torus", 1);
    arena memory = arena_create(NULL);
    const curve_search *s = search(c, &memory);
    double longest = 0;
    for (int r = 0; r < s->rings.count; r++) {
        double length = 0;
        for (int k = s->rings.first[r]; k < s->rings.first[r + 1]; k++) {
            int next = k + 1 < s->rings.first[r + 1] ? k + 1 : s->rings.first[r];
            length += vec3_distance(vec3_load(s->mesh.positions + 3 * s->rings.points[k]),
                                    vec3_load(s->mesh.positions + 3 * s->rings.points[next]));
        }
        longest = fmax(longest, length);
    }
    print_message("torus: %d rings, %d tests by rays, longest %.2f of the size\n", s->rings.count, s->rings.tests,
                  longest / c->size);
    /* Both curves through a point close; the one around the tube is the ring. */
    assert_true(s->rings.tests > 0);
    assert_true(s->rings.count > 10);
    assert_true(longest < 1.2 * c->size);
    assert_int_equal(s->rings.first[s->rings.count], s->mesh.point_count);
    arena_destroy(&memory);
    cutis_character_destroy(c);
}

static vec3 snake_centre(double t, double bend)
{
    return (vec3){(float)(0.12 * sin(9 * t + bend)), 0.03f, (float)(2 * t)};
}

static double snake_radius(double t)
{
    return 0.03 * (t > 0.9 ? 1.3 - 3 * (t - 0.95) * (t - 0.95) : 0.25 + 0.75 * sqrt(t));
}

static vec3 tentacle_centre(double t, double bend)
{
    double turned = t > 0.35 ? t - 0.35 : 0; /* it bends at 0.35 of its length, about x */
    double straight = t - turned;
    return (vec3){0, (float)(straight + turned * cos(bend)), (float)(turned * sin(bend))};
}

static double tentacle_radius(double t) { return 0.05 - 0.03 * t; }

static void a_snake_gets_a_spine_from_head_to_tail(void **state)
{
    (void)state;
    tube_shape shape = {121, 12, snake_centre, snake_radius, 0};
    cutis_character *snake = tube_make(&shape);
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig *rig;
    cutis_error error;
    def.character = snake;
    if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
    for (int i = 0; i < rig->sentence_count; i++) print_message("  %s\n", rig->sentences[i]);
    assert_string_equal(rig->skeleton, "snake");
    const cutis_character *c = rig->character;
    int head = cutis_character_find_joint(c, "head"), hips = cutis_character_find_joint(c, "hips");
    assert_true(head >= 0 && hips == 0 && cutis_character_find_joint(c, "tail_1") >= 0);
    /* The head is the thick end, at z = 2. */
    assert_true(-c->joints[head].inverse_bind[11] > 1.6f);
    assert_true(fabsf(-c->joints[hips].inverse_bind[11] - 1) < 0.15f);
    /* All joints lie in the body: near its middle curve. */
    double worst = 0;
    for (int j = 0; j < c->joint_count; j++) {
        double nearest = 1e9;
        for (int k = 0; k <= 400; k++) {
            vec3 at = snake_centre(k / 400.0, 0);
            vec3 joint = {-c->joints[j].inverse_bind[3], -c->joints[j].inverse_bind[7], -c->joints[j].inverse_bind[11]};
            nearest = fmin(nearest, vec3_distance(at, joint));
        }
        worst = fmax(worst, nearest);
    }
    print_message("snake: %d joints, the farthest %.1f %% of the length from the middle curve\n", c->joint_count,
                  100 * worst / 2);
    assert_true(worst < 0.03);
    cutis_rig_destroy(rig);
    cutis_character_destroy(snake);
}

static void other_poses_move_joints_to_where_limbs_bend(void **state)
{
    (void)state;
    tube_shape shape = {81, 12, tentacle_centre, tentacle_radius, 0};
    cutis_character *tentacle = tube_make(&shape);
    float *pose = malloc(3 * (size_t)tentacle->vertex_count * sizeof *pose);
    const float *const poses[] = {pose};
    double nearest[2];
    shape.bend = 1.2;
    tube_positions(&shape, pose);
    for (int with = 0; with < 2; with++) {
        cutis_rig_def def = cutis_rig_def_default();
        cutis_rig *rig;
        cutis_error error;
        def.skeleton = "chain"; /* a tentacle by itself is taken for a snake */
        def.character = tentacle;
        def.poses = with ? poses : NULL;
        def.pose_count = with;
        if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
        assert_string_equal(rig->skeleton, "chain");
        nearest[with] = 1e9;
        for (int j = 0; j < rig->character->joint_count; j++)
            nearest[with] = fmin(nearest[with], fabs(-rig->character->joints[j].inverse_bind[7] - 0.35));
        cutis_rig_destroy(rig);
    }
    print_message("tentacle that bends at 0.35: nearest joint %.3f away, with the bent pose %.3f\n", nearest[0],
                  nearest[1]);
    assert_true(nearest[1] < 0.03);
    assert_true(nearest[1] < 0.6 * nearest[0]);

    /* A pose that is not finite is refused. */
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig *rig;
    cutis_error error;
    pose[31] = NAN;
    def.character = tentacle;
    def.poses = poses;
    def.pose_count = 1;
    assert_int_equal(cutis_rig_create(&def, &rig, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "vertex 10"));
    free(pose);
    cutis_character_destroy(tentacle);
}

static void rays_of_a_vertex_name_the_curve_around_its_limb(void **state)
{
    float hits[20][3];
    arena memory = arena_create(NULL);
    int asked = 0, right = 0;
    (void)state;
    cutis_character *c = test_zoo("cat", 1);
    const curve_search *s = search(c, &memory);
    for (int v = 0; v < c->vertex_count; v += 97) {
        int p = c->vertex_points[v];
        if (s->quads.valence[p] != 4 || s->rings.ring_of[p] < 0) continue;
        const float *x = s->mesh.positions;
        int one = s->quads.spokes[p], two = quad_turn(&s->quads, one);
        vec3 at = vec3_load(x + 3 * (size_t)p);
        vec3 a = vec3_sub(vec3_load(x + 3 * (size_t)quad_end(&s->quads, one)), at);
        vec3 b = vec3_sub(vec3_load(x + 3 * (size_t)quad_end(&s->quads, two)), at);
        vec3 inward = vec3_cross(b, a);
        float spreads[2] = {section_test(&s->mesh, p, inward, a, &hits[0][0]),
                            section_test(&s->mesh, p, inward, b, &hits[0][0])};
        if (!(spreads[0] < INFINITY && spreads[1] < INFINITY)) continue;
        /* The ring leaves the vertex over the first edge, or over the one after it. */
        int ring = s->rings.ring_of[p], end = quad_end(&s->quads, s->quads.spokes[p]);
        bool first = s->rings.ring_of[end] == ring;
        asked++;
        right += first == (spreads[0] < spreads[1]);
    }
    print_message("rays name the ring at %d of %d vertices\n", right, asked);
    assert_true(asked > 20 && right > 0.9 * asked);
    arena_destroy(&memory);
    cutis_character_destroy(c);
}

static void a_skeleton_needs_no_curves(void **state)
{
    cutis_rig *with, *without;
    cutis_error error;
    cutis_rig_def def = cutis_rig_def_default();
    (void)state;
    cutis_character *c = test_zoo("cat", 1);
    def.character = c;
    assert_int_equal(cutis_rig_create(&def, &with, &error), CUTIS_OK);
    def.no_curves = true;
    assert_int_equal(cutis_rig_create(&def, &without, &error), CUTIS_OK);
    assert_true(with->closed_count > 0 && with->vertex_curves);
    assert_true(without->closed_count == 0 && !without->vertex_curves);
    assert_int_equal(with->character->joint_count, without->character->joint_count);
    float moved = 0;
    for (int j = 0; j < with->character->joint_count; j++) {
        const cutis_joint *one = &with->character->joints[j], *two = &without->character->joints[j];
        assert_string_equal(one->name, two->name);
        for (int k = 0; k < 3; k++) moved = fmaxf(moved, fabsf(one->rest.translation[k] - two->rest.translation[k]));
    }
    assert_true(moved > 0 && moved < 0.02f * c->size);
    cutis_rig_destroy(with);
    cutis_rig_destroy(without);
    cutis_character_destroy(c);
}

/* How much the curve of a limb's ring centres turns to and fro: the mean of second differences over the rings. */
static float limb_rough(const limb *l)
{
    float sum = 0;
    int count = 0;
    for (int r = 2; r + 2 < l->ring_count && l->rings[r + 1].distance < 0.85f * l->seam_distance; r++, count++) {
        const limb_ring *a = &l->rings[r - 1], *b = &l->rings[r], *c = &l->rings[r + 1];
        float t = (b->distance - a->distance) / (c->distance - a->distance);
        sum += vec3_distance(b->centre, vec3_lerp(a->centre, c->centre, t));
    }
    return count > 0 ? sum / (float)count : 0;
}

/* Level sets lean and have more points on one side; the centres of the curves of quads lie on a smooth line. */
static void centres_of_curves_make_smooth_limbs(void **state)
{
    static const char *const names[] = {"man", "dancer"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        cutis_character *c = test_zoo(names[i], 1);
        arena memory = arena_create(NULL);
        cutis_error error;
        const curve_search *with = search(c, &memory);
        curve_search *bare = ARENA_ARRAY(&memory, curve_search, 1);
        bare->bare = true;
        assert_int_equal(curve_search_prepare(c, &memory, bare, &error), CUTIS_OK);
        assert_int_equal(curve_search_run(c, NULL, NULL, &memory, bare, &error), CUTIS_OK);
        assert_int_equal(with->limbs.curve_count, with->rings.count);
        assert_true(with->limbs.main_count == bare->limbs.main_count && bare->limbs.curve_count == 0);

        /* arms and legs together */
        float rough = 0, level = 0;
        for (int k = 0; k < 4; k++) {
            rough += limb_rough(&with->limbs.all[k]);
            level += limb_rough(&bare->limbs.all[k]);
        }
        print_message("%s: %.5f of the size, level sets %.5f\n", names[i], (double)(rough / c->size) / 4,
                      (double)(level / c->size) / 4);
        assert_true(rough < 0.8f * level);
        arena_destroy(&memory);
        cutis_character_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_of_a_vertex_name_the_curve_around_its_limb),
        cmocka_unit_test(a_skeleton_needs_no_curves),
        cmocka_unit_test(centres_of_curves_make_smooth_limbs),
        cmocka_unit_test(rays_along_the_section_are_rays_against_the_mesh),
        cmocka_unit_test(rays_decide_on_a_torus),
        cmocka_unit_test(a_snake_gets_a_spine_from_head_to_tail),
        cmocka_unit_test(other_poses_move_joints_to_where_limbs_bend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
