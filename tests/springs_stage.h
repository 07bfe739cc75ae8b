/*
 * springs_stage.h: a character with props, a model of solver springs and its state, for the tests of that solver.
 * Include testing.h before it.
 */
#ifndef TESTS_SPRINGS_STAGE_H
#define TESTS_SPRINGS_STAGE_H

#include "math/math3.h"
#include "mesh/mesh.h"

enum { STAGE_PROPS = 4, STAGE_SETTINGS = 16 };

typedef struct springs_scene {
    cutis_character *character;
    cutis_model *model;
    cutis_state *state;
    int first_node; /* joint that carries the first prop; the others follow */
    int clip;
    /* Moves the joints of the pose at `time`; NULL: the clip alone. */
    void (*pose)(struct springs_scene *stage, double time, float *joints);
    arena memory;
    mesh mesh;
    bvh tree;
    float *points;
} springs_scene;

typedef struct stage_prop {
    cutis_prop prop; /* its joint is filled in */
    float place[3];
} stage_prop;

static inline void stage_sample(void *context, double time, float *joints)
{
    springs_scene *s = context;
    if (s->clip >= 0)
        cutis_pose_sample(s->character, s->clip, time, joints);
    else
        cutis_pose_rest(s->character, joints);
    if (s->pose) s->pose(s, time, joints);
}

/* What steps said, over many of them. */
typedef struct stage_counts {
    int unconverged, substeps, iterations;
    int contacts; /* most */
} stage_counts;

static inline void stage_count(stage_counts *counts, const cutis_step_stats *stats)
{
    counts->unconverged += stats->unconverged, counts->substeps += stats->substeps;
    counts->iterations += stats->iterations;
    counts->contacts = stats->contacts > counts->contacts ? stats->contacts : counts->contacts;
}

/* The soft cube that the built-in hand grasps. */
static const stage_prop cube = {{.role = CUTIS_PROP_SOFT,
                                 .shape = CUTIS_PROP_BOX,
                                 .size = {0.03f, 0.03f, 0.03f},
                                 .mass = 0.2f,
                                 .friction = -1,
                                 .restitution = -1,
                                 .stiffness = 0.5f},
                                {0, -0.09f, 0.08f}};

/* The same with props that are turned. base is freed. settings: "key=value" texts, ended by NULL. */
static inline springs_scene *stage_open_turned(cutis_character *base, const char *clip, const stage_prop *props,
                                               int prop_count, quat turn, const char *const *settings)
{
    springs_scene *s = calloc(1, sizeof *s);
    cutis_error error;
    int joints = base->joint_count;
    cutis_joint *all = calloc((size_t)(joints + prop_count) + 1, sizeof *all);
    cutis_prop *own = calloc((size_t)prop_count + 1, sizeof *own);
    static const char *const names[STAGE_PROPS] = {"prop_a", "prop_b", "prop_c", "prop_d"};
    if (joints > 0) memcpy(all, base->joints, (size_t)joints * sizeof *all);
    for (int i = 0; i < prop_count; i++) {
        const float *at = props[i].place;
        cutis_transform rest = {{at[0], at[1], at[2]}, {turn.x, turn.y, turn.z, turn.w}, {1, 1, 1}};
        all[joints + i] = (cutis_joint){.name = names[i],
                                        .parent = -1,
                                        .rest = rest,
                                        .idle = rest,
                                        .inverse_bind = {1, 0, 0, -at[0], 0, 1, 0, -at[1], 0, 0, 1, -at[2]}};
        own[i] = props[i].prop;
        own[i].name = names[i];
        own[i].joint = joints + i;
    }
    cutis_character given = *base;
    given.joints = all;
    given.joint_count = joints + prop_count;
    given.props = own;
    given.prop_count = prop_count;
    if (cutis_character_create(&given, NULL, &s->character, &error) != CUTIS_OK) fail_msg("%s", error.text);
    cutis_character_destroy(base);
    free(all), free(own);
    s->first_node = joints;
    s->clip = clip ? cutis_character_find_clip(s->character, clip) : -1;

    s->model = test_build(s->character, "springs", settings);
    s->state = test_state(s->model, NULL);

    s->memory = arena_create(NULL);
    assert_int_equal(mesh_build_character(&s->mesh, s->character, &s->memory, NULL), CUTIS_OK);
    assert_int_equal(
        bvh_build(&s->tree, s->mesh.triangle_count, s->mesh.triangles, s->mesh.positions, &s->memory, NULL), CUTIS_OK);
    s->points = calloc((size_t)s->character->point_count * 3, sizeof(float));
    return s;
}

static inline springs_scene *stage_open(cutis_character *base, const char *clip, const stage_prop *props,
                                        int prop_count, const char *const *settings)
{
    return stage_open_turned(base, clip, props, prop_count, quat_identity(), settings);
}

static inline void stage_close(springs_scene *s)
{
    cutis_state_destroy(s->state);
    cutis_model_destroy(s->model);
    cutis_character_destroy(s->character);
    arena_destroy(&s->memory);
    free(s->points);
    free(s);
}

/* Step to a time, and gather the points. */
static inline const cutis_step_stats *stage_step(springs_scene *s, double time)
{
    cutis_step_input input = {.motion = {s, stage_sample}};
    cutis_state_step(s->model, s->state, &input, time - cutis_state_time(s->state));
    const float *x = cutis_state_positions(s->model, s->state);
    for (int p = 0; p < s->character->point_count; p++)
        memcpy(s->points + 3 * p, x + 3 * s->character->point_vertices[p], 3 * sizeof(float));
    return cutis_state_stats(s->model, s->state);
}

static inline int stage_intersections(springs_scene *s)
{
    bvh_refit(&s->tree, s->points, 0);
    return mesh_self_intersections(&s->mesh, &s->tree, s->points, NULL, NULL, 0);
}

static inline cutis_prop_state stage_prop_state(const springs_scene *s, int index)
{
    cutis_prop_state prop;
    cutis_state_prop(s->model, s->state, index, &prop);
    return prop;
}

/* Sum of the touch map; returns how many vertices are touched. */
static inline int stage_touch(const springs_scene *s, double sum[3])
{
    cutis_output output;
    assert_true(cutis_state_output(s->model, s->state, "touch", &output));
    int touched = 0;
    sum[0] = sum[1] = sum[2] = 0;
    for (int v = 0; v < output.count; v++) {
        const float *f = output.values + 3 * v;
        touched += f[0] != 0 || f[1] != 0 || f[2] != 0;
        for (int k = 0; k < 3; k++) sum[k] += (double)f[k];
    }
    return touched;
}

/*
 * Deepest place of the skin in a soft prop's surface or of that surface in the skin, by winding numbers and nearest
 * triangles: independent of the solver's own contacts.
 */
static inline double stage_depth_soft(springs_scene *s, int index)
{
    cutis_prop_state prop = stage_prop_state(s, index);
    arena memory = arena_create(NULL);
    bvh tree;
    assert_int_equal(bvh_build(&tree, prop.triangle_count, prop.triangles, prop.positions, &memory, NULL), CUTIS_OK);
    bvh_refit(&s->tree, s->points, 0);
    const vec3 way = {0.301f, 0.871f, 0.389f};
    double deepest = 0;
    const bvh_node *bounds = tree.nodes;
    for (int p = 0; p < s->character->point_count; p++) {
        vec3 x = vec3_load(s->points + 3 * p);
        bool near = true;
        for (int k = 0; k < 3; k++) near = near && vec3_axis(x, k) > bounds->min[k] && vec3_axis(x, k) < bounds->max[k];
        if (!near || bvh_ray_winding(&tree, prop.positions, x, way, -1) < 1) continue;
        deepest = fmax(deepest, (double)bvh_closest(&tree, prop.positions, x, 1e9f).distance);
    }
    for (int p = 0; p < prop.vertex_count; p++) {
        vec3 x = vec3_load(prop.positions + 3 * p);
        if (bvh_ray_winding(&s->tree, s->points, x, way, -1) < 1) continue;
        deepest = fmax(deepest, (double)bvh_closest(&s->tree, s->points, x, 1e9f).distance);
    }
    arena_destroy(&memory);
    return deepest;
}

static inline double stage_ramp(double time, double begin, double end)
{
    double u = (time - begin) / (end - begin);
    u = u < 0 ? 0 : u > 1 ? 1 : u;
    return u * u * (3 - 2 * u);
}

#endif
