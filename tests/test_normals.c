/* Normals: a file's own turn with the surface; hard edges stay hard. */
#include "testing.h"

#include "character/normals.h"
#include "math/math3.h"

enum { SIDES = 6, VERTICES = 4 * SIDES };

/* A cube of 24 vertices, whose faces have normals of their own, on one joint; tilt: of every normal, in its face. */
static cutis_character *cube_make(float tilt, bool with_normals)
{
    static float positions[3 * VERTICES], normals[3 * VERTICES], weights[VERTICES];
    static int first[VERTICES + 1], joints_of[VERTICES], face_first[SIDES + 1], corners[VERTICES];
    for (int side = 0; side < SIDES; side++) {
        int axis = side / 2, one = (axis + 1) % 3, two = (axis + 2) % 3;
        float sign = side % 2 ? 1.0f : -1.0f;
        for (int k = 0; k < 4; k++) {
            int v = 4 * side + k;
            float a = k == 1 || k == 2 ? 1.0f : -1.0f, b = k >= 2 ? 1.0f : -1.0f;
            positions[3 * v + axis] = sign;
            positions[3 * v + one] = a;
            positions[3 * v + two] = sign * b;

            float *normal = normals + 3 * v;
            normal[axis] = sign;
            normal[one] = tilt * a;
            normal[two] = tilt * 0.5f;
            vec3_store(normal, vec3_normalize(vec3_load(normal)));
            corners[v] = v;
            first[v] = v;
            joints_of[v] = 0;
            weights[v] = 1;
        }
        face_first[side] = 4 * side;
    }
    face_first[SIDES] = first[VERTICES] = VERTICES;

    cutis_joint joint = {.name = "root", .parent = -1, .inverse_bind = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    joint.rest = joint.idle = (cutis_transform){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
    cutis_character given = {.name = "cube",
                             .vertex_count = VERTICES,
                             .positions = positions,
                             .normals = with_normals ? normals : NULL,
                             .face_count = SIDES,
                             .face_first = face_first,
                             .corners = corners,
                             .influence_first = first,
                             .influence_joints = joints_of,
                             .influence_weights = weights,
                             .joint_count = 1,
                             .joints = &joint};
    cutis_character *made;
    assert_int_equal(cutis_character_create(&given, NULL, &made, NULL), CUTIS_OK);
    return made;
}

/* Positions (and with a length of 0 directions) of the cube moved by a matrix. */
static void cube_normals(const cutis_character *c, const mat34 *pose, float positions[], float normals[])
{
    cutis_model *model = test_build(c, "lbs", NULL);
    cutis_state *state = test_state(model, NULL);
    cutis_state_step(model, state, &(cutis_step_input){.joints = pose->m}, 0.1);
    cutis_state_normals(model, state, normals);
    memcpy(positions, cutis_state_positions(model, state), 3 * VERTICES * sizeof(float));
    cutis_state_destroy(state);
    cutis_model_destroy(model);
}

static void a_rigid_motion_turns_normals_exactly(void **unused)
{
    (void)unused;
    for (int i = 0; i < 8; i++) {
        cutis_character *c = cube_make(0.1f * (float)i, true);
        quat turn = quat_axis_angle(vec3_normalize(vec3_make(1, (float)i - 3, 2)), 0.9 * i);
        mat34 pose = mat34_compose(vec3_make(3, -1, 2), turn, vec3_make(1, 1, 1));
        float positions[3 * VERTICES], normals[3 * VERTICES];
        cube_normals(c, &pose, positions, normals);
        for (int v = 0; v < VERTICES; v++) {
            vec3 wanted = mat34_vector(pose.m, vec3_load(c->normals + 3 * v));
            assert_true(vec3_distance(wanted, vec3_load(normals + 3 * v)) < 1e-6f);
        }
        cutis_character_destroy(c);
    }
}

/* Stretched and sheared, each side is a parallelogram: its four normals are its own. */
static void a_cube_with_hard_edges_keeps_six_flat_sides(void **unused)
{
    (void)unused;
    cutis_character *c = cube_make(0, true);
    mat34 pose = {{1, 0.4f, 0, 0, 0, 1.5f, 0.2f, 0, 0.3f, 0, 0.8f, 1}};
    float positions[3 * VERTICES], normals[3 * VERTICES];
    cube_normals(c, &pose, positions, normals);
    for (int side = 0; side < SIDES; side++) {
        const float *x = positions + 12 * side;
        vec3 one = vec3_sub(vec3_load(x + 3), vec3_load(x)), two = vec3_sub(vec3_load(x + 6), vec3_load(x));
        vec3 wanted = vec3_normalize(vec3_cross(one, two));
        for (int k = 0; k < 4; k++) assert_true(vec3_distance(wanted, vec3_load(normals + 12 * side + 3 * k)) < 1e-5f);
    }
    cutis_character_destroy(c);
}

static void without_normals_in_the_file_they_are_smooth(void **unused)
{
    (void)unused;
    cutis_character *c = cube_make(0, false);
    mat34 pose = mat34_compose(vec3_make(0, 0, 0), quat_axis_angle(vec3_make(0, 1, 0), 0.3), vec3_make(1, 1, 1));
    float positions[3 * VERTICES], normals[3 * VERTICES];
    cube_normals(c, &pose, positions, normals);
    for (int v = 0; v < VERTICES; v++)
        for (int w = 0; w < VERTICES; w++)
            if (c->vertex_points[v] == c->vertex_points[w]) assert_memory_equal(normals + 3 * v, normals + 3 * w, 12);
    cutis_character_destroy(c);
}

/* A vertex without a direction gets that of its surface; one without a surface keeps its own. */
static void missing_normals_are_those_of_the_surface(void **unused)
{
    (void)unused;
    cutis_character *whole = cube_make(0, true), *c;
    float given_normals[3 * VERTICES];
    memcpy(given_normals, whole->normals, sizeof given_normals);
    memset(given_normals, 0, 3 * 4 * sizeof(float));
    given_normals[3 * 4] = NAN;
    cutis_character given = *whole;
    given.normals = given_normals;
    assert_int_equal(cutis_character_create(&given, NULL, &c, NULL), CUTIS_OK);

    arena memory = arena_create(NULL);
    normal_frames frames;
    float normals[3 * VERTICES];
    assert_int_equal(normal_frames_build(&frames, c, &memory, NULL), CUTIS_OK);
    character_normals(c, &frames, c->positions, NULL, normals);
    for (int v = 0; v < VERTICES; v++)
        assert_true(vec3_distance(vec3_load(normals + 3 * v), vec3_load(whole->normals + 3 * v)) < 1e-6f);
    arena_destroy(&memory);
    cutis_character_destroy(c);
    cutis_character_destroy(whole);
}

/* A .glb that is written and read again has the normals it was given, and its bake turns them. */
static void normals_survive_a_file(void **unused)
{
    (void)unused;
    cutis_character *c = cube_make(0.3f, true), *back;
    const char *path = "test_normals.glb";
    assert_int_equal(cutis_character_save(c, path, NULL), CUTIS_OK);
    assert_int_equal(cutis_character_load(path, NULL, &back, NULL), CUTIS_OK);
    assert_non_null(back->normals);
    assert_int_equal(back->vertex_count, VERTICES);
    for (int e = 0; e < 3 * VERTICES; e++) assert_true(fabsf(back->normals[e] - c->normals[e]) < 1e-6f);
    cutis_character_destroy(back);
    cutis_character_destroy(c);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rigid_motion_turns_normals_exactly),
        cmocka_unit_test(a_cube_with_hard_edges_keeps_six_flat_sides),
        cmocka_unit_test(without_normals_in_the_file_they_are_smooth),
        cmocka_unit_test(missing_normals_are_those_of_the_surface),
        cmocka_unit_test(normals_survive_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
