/*
 * Contact of the skin with the surfaces of props: edges, corners, thin and round things, at three resolutions each. The
 * measure here is the test's own: signed distances of the exact shapes, and the skin's triangles against them.
 */
#include "testing.h"

#include "springs_stage.h"

typedef struct press_scene {
    const char *name, *character, *clip;
    double resolutions[3];
    cutis_prop_shape shape;
    float size[3];
    float line[3];  /* the prop is pressed along `way` through this place */
    float way[3];   /* unit */
    float reach;    /* skin within this distance of the line counts for its start, metres */
    float half;     /* of the prop along the way */
    float axis[3];  /* the prop is turned about this unit axis, */
    double degrees; /* by this angle */
    double press;   /* metres into the skin; 0: it stands at `line` */
    double seconds;
} press_scene;

/* The pencil is no straight press: the clip closes the fingers around it. */
static const press_scene scenes[] = {
    {"edge of a table into a thigh",
     "man",
     NULL,
     {0.12, 0.2, 0.35},
     CUTIS_PROP_BOX,
     {0.3f, 0.015f, 0.1f},
     {0.1f, 0.72f, 0},
     {0, 0, -1},
     0.04f,
     0.1f,
     {0, 1, 0},
     0,
     0.02,
     0.5},
    {"corner of a cube into a fingertip",
     "hand",
     NULL,
     {0.15, 0.25, 0.5},
     CUTIS_PROP_BOX,
     {0.02f, 0.02f, 0.02f},
     {-0.0136f, 0, 0.18f},
     {0, 1, 0},
     0.006f,
     0.0346f,
     {-0.70710678f, 0, 0.70710678f},
     54.7356103,
     0.003,
     0.5},
    {"blade of 1 mm into an arm",
     "arm",
     NULL,
     {0.1, 0.2, 0.4},
     CUTIS_PROP_BOX,
     {0.0005f, 0.03f, 0.08f},
     {0.1f, 0, 0},
     {0, -1, 0},
     0.02f,
     0.03f,
     {0, 1, 0},
     20,
     0.012,
     0.5},
    {"ball into an arm",
     "arm",
     NULL,
     {0.1, 0.2, 0.4},
     CUTIS_PROP_SPHERE,
     {0.03f},
     {0.1f, 0, 0},
     {0, -1, 0},
     0.02f,
     0.03f,
     {0, 1, 0},
     0,
     0.015,
     0.5},
    {"fist around a pencil",
     "hand",
     "fist",
     {0.15, 0.25, 0.5},
     CUTIS_PROP_CAPSULE,
     {0.0035f, 0.045f},
     {0.01f, -0.028f, 0.07f},
     {0, 1, 0},
     0,
     0,
     {0, 0, 1},
     90,
     0,
     1.4},
};

static const press_scene *scene;
static float scene_start[3]; /* where the prop begins */
static double scene_travel;

static quat scene_turn(void) { return quat_axis_angle(vec3_load(scene->axis), scene->degrees * 0.017453292519943295); }

/* The prop's pose: turned, and pressed by 0.4 s. */
static void press_pose(springs_scene *s, double time, float *joints)
{
    double way = scene_travel * stage_ramp(time, 0.05, 0.4);
    vec3 place = vec3_madd(vec3_load(scene_start), vec3_load(scene->way), (float)way);
    mat34 pose = mat34_compose(place, scene_turn(), vec3_make(1, 1, 1));
    memcpy(joints + 12 * s->first_node, pose.m, sizeof pose.m);
}

/* Where the skin begins on the way of the prop. */
static void scene_place(const cutis_character *c)
{
    float first = 1e9f;
    vec3 line = vec3_load(scene->line), way = vec3_load(scene->way);
    for (int v = 0; v < c->vertex_count; v++) {
        vec3 off = vec3_sub(vec3_load(c->positions + 3 * v), line);
        float along = vec3_dot(off, way);
        if (vec3_length(vec3_madd(off, way, -along)) < scene->reach) first = fminf(first, along);
    }
    scene_travel = 0;
    memcpy(scene_start, scene->line, sizeof scene_start);
    if (scene->press == 0) return;
    const float clear = 0.01f;
    vec3_store(scene_start, vec3_madd(line, way, first - clear - scene->half));
    scene_travel = (double)clear + scene->press;
}

/* ---- measures ---- */

static double shape_distance(vec3 p)
{
    const float *size = scene->size;
    if (scene->shape == CUTIS_PROP_SPHERE) return (double)(vec3_length(p) - size[0]);
    if (scene->shape == CUTIS_PROP_CAPSULE) {
        p.y -= fmaxf(-size[1], fminf(p.y, size[1]));
        return (double)(vec3_length(p) - size[0]);
    }
    double inside = -1e9, outside = 0;
    for (int k = 0; k < 3; k++) {
        double d = fabs((double)vec3_axis(p, k)) - (double)size[k];
        inside = fmax(inside, d);
        outside += d > 0 ? d * d : 0;
    }
    return outside > 0 ? sqrt(outside) : inside;
}

/* Whether a triangle (in the prop's space) passes through a box, by the box's twelve triangles. */
static bool box_crossed(const float *const corners[3])
{
    static const int faces[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
    float p[8][3];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) p[i][k] = i >> k & 1 ? scene->size[k] : -scene->size[k];
    for (int f = 0; f < 6; f++)
        for (int half = 0; half < 2; half++) {
            const float *face[3] = {p[faces[f][0]], p[faces[f][1 + half]], p[faces[f][2 + half]]};
            if (triangles_intersect(corners, face)) return true;
        }
    return false;
}

/* How deep a round prop is in a triangle of the skin, in the prop's space. */
static double round_depth(const float *const corners[3])
{
    double deepest = -1e9;
    int samples = scene->shape == CUTIS_PROP_CAPSULE ? 65 : 1;
    for (int i = 0; i < samples; i++) {
        vec3 core = {0, samples > 1 ? scene->size[1] * (2 * (float)i / (float)(samples - 1) - 1) : 0, 0};
        float weights[3];
        vec3 nearest =
            triangle_closest(core, vec3_load(corners[0]), vec3_load(corners[1]), vec3_load(corners[2]), weights);
        deepest = fmax(deepest, (double)(scene->size[0] - vec3_distance(core, nearest)));
    }
    return deepest;
}

static int measure(springs_scene *s, double time, double *deepest)
{
    static float joints[12 * 128];
    stage_sample(s, time, joints);
    mat34 pose, back;
    memcpy(pose.m, joints + 12 * s->first_node, sizeof pose.m);
    assert_true(mat34_inverse(pose, &back));
    int n = s->character->point_count, through = 0;
    float *local = malloc((size_t)n * 3 * sizeof *local);
    assert_non_null(local);
    for (int p = 0; p < n; p++) {
        vec3_store(local + 3 * p, mat34_point(back.m, vec3_load(s->points + 3 * p)));
        *deepest = fmax(*deepest, -shape_distance(vec3_load(local + 3 * p)));
    }
    for (int t = 0; t < s->mesh.triangle_count; t++) {
        const int *c = s->mesh.triangles + 3 * t;
        const float *corners[3] = {local + 3 * c[0], local + 3 * c[1], local + 3 * c[2]};
        if (scene->shape == CUTIS_PROP_BOX)
            through += box_crossed(corners);
        else {
            double depth = round_depth(corners);
            *deepest = fmax(*deepest, depth);
            through += depth > 0.001 * (double)s->character->size;
        }
    }
    free(local);
    return through;
}

static void props_are_surfaces(void **unused)
{
    (void)unused;
    test_is_heavy();
    for (int i = 0; i < COUNT_OF(scenes); i++) {
        for (int r = 0; r < 3; r++) {
            scene = scenes + i;
            cutis_character *c = test_zoo(scene->character, scene->resolutions[r]);
            scene_place(c);
            stage_prop prop = {{.role = CUTIS_PROP_COLLIDER, .shape = scene->shape, .friction = -1, .restitution = -1},
                               {0}};
            memcpy(prop.prop.size, scene->size, sizeof scene->size);
            memcpy(prop.place, scene_start, sizeof prop.place);
            springs_scene *s = stage_open_turned(c, scene->clip, &prop, 1, scene_turn(), NULL);
            s->pose = press_pose;
            double deepest = 0, told = 0, size = (double)s->character->size;
            int through = 0, told_through = 0, touched = 0;
            stage_counts counts = {0};
            for (int f = 1; f <= (int)(scene->seconds * 30); f++) {
                stage_count(&counts, stage_step(s, f / 30.0));
                through += measure(s, f / 30.0, &deepest);
                cutis_prop_state state = stage_prop_state(s, 0);
                told = fmax(told, (double)state.penetration);
                told_through += state.crossings;
            }
            double force[3];
            touched = stage_touch(s, force);
            print_message("%s, %d triangles: deepest %.4f %% (told %.4f), %d triangles through (told %d), %d points "
                          "touched, %d of %d substeps not converged, %d intersections\n",
                          scene->name, s->mesh.triangle_count, 100 * deepest / size, 100 * told / size, through,
                          told_through, touched, counts.unconverged, counts.substeps, stage_intersections(s));
            assert_true(deepest <= 0.001 * size);
            assert_int_equal(through, 0);
            assert_true(told <= 0.001 * size);
            assert_int_equal(told_through, 0);
            assert_true(touched >= 3);
            assert_int_equal(counts.unconverged, 0);
            assert_int_equal(stage_intersections(s), 0);
            stage_close(s);
        }
    }
}

/* What is told is measured: a body that stands in a box from the start on is told to be in it. */
static void penetration_is_told(void **unused)
{
    (void)unused;
    stage_prop box = {{.role = CUTIS_PROP_COLLIDER,
                       .shape = CUTIS_PROP_BOX,
                       .size = {0.02f, 0.5f, 0.5f},
                       .friction = -1,
                       .restitution = -1},
                      {0, 0, 0}};
    static const char *const frozen[] = {"self_collision=off", NULL};
    cutis_character *arm = test_zoo("arm", 0.1);
    float *values = malloc((size_t)arm->vertex_count * sizeof *values);
    assert_non_null(values);
    for (int v = 0; v < arm->vertex_count; v++) values[v] = 1;
    cutis_map freeze = {"freeze", values};
    cutis_character given = *arm, *painted = NULL;
    given.maps = &freeze;
    given.map_count = 1;
    assert_int_equal(cutis_character_create(&given, NULL, &painted, NULL), CUTIS_OK);
    cutis_character_destroy(arm);
    springs_scene *s = stage_open(painted, NULL, &box, 1, frozen);
    stage_step(s, 0.1);
    cutis_prop_state state = stage_prop_state(s, 0);
    print_message("an arm right through a box of 40 mm: told %.1f mm deep, %d triangles through\n",
                  1e3 * (double)state.penetration, state.crossings);
    assert_true(state.penetration > 0.005f);
    assert_true(state.crossings > 20);
    stage_close(s);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(props_are_surfaces), cmocka_unit_test(penetration_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
