/* Soft props of solver springs keep their cells right side out, whatever happens to them. */
#include "testing.h"

#include "engine/model_object.h"
#include "solvers/springs/springs.h"
#include "springs_stage.h"

/* The least volume of a cell's corner over that at rest; below 0 it is inside out. */
static double least_volume(const springs_scene *s, int index)
{
    const springs_model *m = s->model->stages[0].data;
    const springs_prop *prop = m->props + index;
    char *state = (char *)s->state + s->model->stages[0].state;
    springs_run run = springs_run_make(m, state, NULL, &(solver_input){.h = s->model->substep});
    double least = 1e9;
    for (int t = prop->first_tetra; t < prop->first_tetra + prop->tetra_count; t++) {
        vec3 p[4];
        for (int k = 0; k < 4; k++) p[k] = vec3_load(run.s.x + NODE * m->soft.nodes[m->soft.tetras[4 * t + k]]);
        vec3 a = vec3_sub(p[1], p[0]), b = vec3_sub(p[2], p[0]), c = vec3_sub(p[3], p[0]);
        least = fmin(least, (double)(vec3_dot(a, vec3_cross(b, c)) / m->soft.volumes[t]));
    }
    return least;
}

/* What a soft prop went through: its cells are right side out and it is finite after every substep. */
typedef struct soft_fate {
    double least;  /* volume of a cell's corner over that at rest */
    double below;  /* surface below the floor, metres */
    double volume; /* at the end, over that at rest */
} soft_fate;

static double prop_volume(const cutis_prop_state *prop)
{
    double volume = 0;
    for (int t = 0; t < prop->triangle_count; t++) {
        const int *c = prop->triangles + 3 * t;
        vec3 a = vec3_load(prop->positions + 3 * c[0]), b = vec3_load(prop->positions + 3 * c[1]);
        volume += (double)vec3_dot(a, vec3_cross(b, vec3_load(prop->positions + 3 * c[2]))) / 6;
    }
    return volume;
}

/* Substeps of 1/60 s of the first prop of a scene, a blow in the first. */
static soft_fate soft_suffer(springs_scene *s, int steps, const cutis_impulse *blow)
{
    soft_fate fate = {.least = 1e9};
    cutis_prop_state prop = stage_prop_state(s, 0);
    double rest = prop_volume(&prop);
    for (int f = 0; f < steps; f++) {
        cutis_step_input input = {.motion = {s, stage_sample}, .impulses = blow, .impulse_count = blow && f == 0};
        cutis_state_step(s->model, s->state, &input, 1 / 60.0);
        fate.least = fmin(fate.least, least_volume(s, 0));
        prop = stage_prop_state(s, 0);
        for (int i = 0; i < 3 * prop.vertex_count; i++) assert_true(fabsf(prop.positions[i]) < 1e3f);
        for (int v = 0; v < prop.vertex_count; v++) fate.below = fmax(fate.below, -(double)prop.positions[3 * v + 1]);
    }
    fate.volume = prop_volume(&prop) / rest;
    return fate;
}

static const char *const loose[] = {"stand=off", NULL};
static const stage_prop ground = {
    {.role = CUTIS_PROP_COLLIDER, .shape = CUTIS_PROP_PLANE, .friction = 0.5f, .restitution = -1}, {0}};

/* Down at a floor 0.2 m below, and aside as fast; a metre from the hand. */
static soft_fate thrown(float speed, float aside, float stiffness, cutis_prop_shape shape)
{
    stage_prop props[2] = {cube, ground};
    props[0].prop.stiffness = stiffness;
    props[0].prop.shape = shape;
    memcpy(props[0].place, (float[3]){1, 0.2f, 0}, sizeof props[0].place);
    springs_scene *s = stage_open(test_zoo("hand", 0.1), NULL, props, 2, loose);
    const cutis_impulse blow = {{1, 0.2f, 0}, 1000, {aside * speed, -speed, 0.3f * speed}};
    soft_fate fate = soft_suffer(s, 75, &blow);
    print_message("thrown down at %.0f m/s and aside at %.0f, stiffness %.1f: least cell %.3f of its volume, ends with "
                  "%.3f of its own, surface below the floor by %.2g m at most\n",
                  (double)speed, (double)(aside * speed), (double)stiffness, fate.least, fate.volume, fate.below);
    stage_close(s);
    return fate;
}

static void thrown_cube_stays_sound(void **unused)
{
    (void)unused;
    static const float speeds[] = {1, 4, 40};
    for (int i = 0; i < COUNT_OF(speeds); i++) {
        soft_fate foam = thrown(speeds[i], 0, 0.5f, CUTIS_PROP_BOX), jelly = thrown(speeds[i], 1, 0, CUTIS_PROP_BOX);
        assert_true(foam.least > 0 && jelly.least > 0);
        assert_true(foam.volume > 0.97 && jelly.volume > 0.8);
        if (speeds[i] <= 4) assert_true(foam.below < 0.0002);
    }
    soft_fate ball = thrown(10, 1, 0.3f, CUTIS_PROP_SPHERE);
    assert_true(ball.least > 0 && ball.volume > 0.9);
}

/* A plate comes down on a cube that stands on the floor, to a tenth of its height, and rises again. */
static void plate_pose(springs_scene *s, double time, float *joints)
{
    double way = stage_ramp(time, 0.1, 0.5) - stage_ramp(time, 0.7, 1);
    joints[12 * (s->first_node + 2) + 7] -= (float)(0.064 * way);
}

static void stamped_cube_stays_sound(void **unused)
{
    (void)unused;
    stage_prop props[3] = {cube, ground, ground};
    props[2].prop.shape = CUTIS_PROP_BOX;
    memcpy(props[2].prop.size, (float[3]){0.1f, 0.02f, 0.1f}, sizeof props[2].prop.size);
    memcpy(props[0].place, (float[3]){1, 0.03f, 0}, sizeof props[0].place);
    memcpy(props[2].place, (float[3]){1, 0.09f, 0}, sizeof props[2].place);
    springs_scene *s = stage_open(test_zoo("hand", 0.1), NULL, props, 3, loose);
    s->pose = plate_pose;
    soft_fate fate = soft_suffer(s, 90, NULL);
    print_message("stamped to a tenth of its height: least cell %.3f of its volume, ends with %.3f of its own\n",
                  fate.least, fate.volume);
    assert_true(fate.least > 0);
    assert_true(fate.least < 0.5);
    assert_true(fate.volume > 0.97);
    stage_close(s);
}

/* Cells of a large thing are as fine as a fingertip, within what is affordable. */
static void cells_are_as_fine_as_a_fingertip(void **unused)
{
    (void)unused;
    stage_prop large = cube;
    for (int k = 0; k < 3; k++) large.prop.size[k] = 0.07f;
    springs_scene *s = stage_open(test_zoo("hand", 0.1), NULL, &large, 1, loose);
    const springs_model *m = s->model->stages[0].data;
    double edge = 1e9;
    for (int i = 0; i < m->soft.spring_count; i++) edge = fmin(edge, (double)m->soft.rest[i]);
    print_message("cells of %.1f mm in a cube of 140 mm; fingers are %.1f mm wide\n", 1e3 * edge * (double)m->size,
                  1e3 * (double)(m->fingertip * m->size));
    assert_true(m->fingertip * m->size > 0.008f && m->fingertip * m->size < 0.025f);
    assert_true(edge <= 1.05 * (double)m->fingertip);
    stage_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thrown_cube_stays_sound),
                                       cmocka_unit_test(stamped_cube_stays_sound),
                                       cmocka_unit_test(cells_are_as_fine_as_a_fingertip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
