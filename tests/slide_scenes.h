/*
 * slide_scenes.h: runs a character under a motion and keeps where its vertices, or the points of its skin, are.
 */
#ifndef TESTS_SLIDE_SCENES_H
#define TESTS_SLIDE_SCENES_H

#include "testing.h"

#include "engine/model_object.h"
#include "solvers/slide/slide.h"

/* A clip, or a motion made by code, or both: `pose` changes what the clip gives. */
typedef struct scene_motion {
    const cutis_character *character;
    int clip;    /* -1: rest */
    double stop; /* seconds after which the clip stands still; 0: never */
    void (*pose)(const struct scene_motion *motion, double time, float *joints);
    double amount;
    const char *joint;
} scene_motion;

static inline void scene_sample(void *context, double time, float *joints)
{
    const scene_motion *m = context;
    double at = m->stop > 0 ? fmin(time, m->stop) : time;
    if (m->clip >= 0)
        cutis_pose_sample(m->character, m->clip, (double)m->character->clips[m->clip].start + at, joints);
    else
        cutis_pose_rest(m->character, joints);
    if (m->pose) m->pose(m, time, joints);
}

/* Turn a joint, with all below it, by radians about an axis of the scene through `joint`'s place. */
static inline void scene_turn(const cutis_character *c, float *joints, const char *name, const double axis[3],
                              double angle)
{
    int root = cutis_character_find_joint(c, name);
    assert_true(root >= 0);
    double s = sin(angle), k = 1 - cos(angle), x = axis[0], y = axis[1], z = axis[2];
    double r[3][3] = {{1 - k * (y * y + z * z), k * x * y - s * z, k * x * z + s * y},
                      {k * x * y + s * z, 1 - k * (x * x + z * z), k * y * z - s * x},
                      {k * x * z - s * y, k * y * z + s * x, 1 - k * (x * x + y * y)}};
    double origin[3] = {(double)joints[12 * root + 3], (double)joints[12 * root + 7], (double)joints[12 * root + 11]};
    bool *below = calloc((size_t)c->joint_count, sizeof *below);
    for (int j = root; j < c->joint_count; j++) {
        below[j] = j == root || (c->joints[j].parent >= 0 && below[c->joints[j].parent]);
        if (!below[j]) continue;
        double old[12];
        for (int e = 0; e < 12; e++) old[e] = (double)joints[12 * j + e];
        for (int e = 0; e < 3; e++) old[4 * e + 3] -= origin[e];
        for (int row = 0; row < 3; row++)
            for (int col = 0; col < 4; col++) {
                double sum = col == 3 ? origin[row] : 0;
                for (int e = 0; e < 3; e++) sum += r[row][e] * old[4 * e + col];
                joints[12 * j + 4 * row + col] = (float)sum;
            }
    }
    free(below);
}

/* A copy of a character with one painted map. Frees the old one. */
static inline cutis_character *scene_paint(cutis_character *c, const char *name,
                                           float (*value)(const cutis_character *c, int vertex))
{
    float *values = malloc((size_t)c->vertex_count * sizeof *values);
    for (int v = 0; v < c->vertex_count; v++) values[v] = value(c, v);
    cutis_map map = {name, values};
    cutis_character given = *c, *painted = NULL;
    cutis_error error;
    given.maps = &map;
    given.map_count = 1;
    assert_int_equal(cutis_character_create(&given, NULL, &painted, &error), CUTIS_OK);
    free(values);
    cutis_character_destroy(c);
    return painted;
}

/* The elastic energy of the last stage, which is slide; its triangles' stay in the scratch. */
static inline double scene_energy(const cutis_model *model, cutis_state *state, const slide_model **m, slide_scratch *s)
{
    const stage *last = &model->stages[model->stage_count - 1];
    slide_state own;
    *m = last->data;
    slide_state_view(*m, (char *)state + last->state, &own);
    slide_scratch_view(*m, (char *)state + model->state_bytes + last->scratch, s);
    s->anchors = own.anchors;
    for (int i = 0; i < 3 * (*m)->point_count; i++) s->x[i] = (double)own.surface[i] / (*m)->unit;
    slide_system_shapes(*m, s, NULL);
    slide_skin_points(*m, s, own.places, NULL);
    return slide_system_energy(*m, s, NULL);
}

/* After a step: nothing was repaired, all converged, and no triangle of skin is inside out. */
static inline void scene_assert_sound(const cutis_model *model, cutis_state *state)
{
    const cutis_step_stats *stats = cutis_state_stats(model, state);
    const stage *last = &model->stages[model->stage_count - 1];
    assert_int_equal(stats->repairs, 0);
    assert_int_equal(stats->unconverged, 0);
    if (strcmp(last->solver->info.name, "slide") != 0) return;
    const slide_model *m;
    slide_scratch s;
    assert_true(scene_energy(model, state, &m, &s) < HUGE_VAL);
}

/* Positions (count x vertex_count x 3) at the instants given, in order; free them. */
static inline float *scene_run(const cutis_character *c, const char *stack, const char *const *settings,
                               const scene_motion *motion, const double *times, int count)
{
    cutis_model *model = test_build(c, stack, settings);
    cutis_state *state = test_state(model, NULL);
    scene_motion own = *motion;
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof *joints);
    scene_sample(&own, 0, joints);
    cutis_state_reset(model, state, joints);
    free(joints);
    cutis_step_input input = {.motion = {&own, scene_sample}};
    size_t frame = 3 * (size_t)c->vertex_count;
    float *positions = malloc((size_t)count * frame * sizeof *positions);
    for (int i = 0; i < count; i++) {
        cutis_state_step(model, state, &input, times[i] - cutis_state_time(state));
        scene_assert_sound(model, state);
        memcpy(positions + (size_t)i * frame, cutis_state_positions(model, state), frame * sizeof *positions);
    }
    for (size_t i = 0; i < (size_t)count * frame; i++) assert_true(isfinite(positions[i]));
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return positions;
}

/* ---- measures ---- */

static inline double triangle_area(const int *t, const float *p)
{
    double a[3], b[3];
    for (int e = 0; e < 3; e++) {
        a[e] = (double)p[3 * t[1] + e] - (double)p[3 * t[0] + e];
        b[e] = (double)p[3 * t[2] + e] - (double)p[3 * t[0] + e];
    }
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    return 0.5 * sqrt(x * x + y * y + z * z);
}

/* The larger principal stretch of a triangle, less 1. */
static inline double triangle_strain(const int *t, const float *rest, const float *p)
{
    double g[3] = {0}, h[3] = {0};
    for (int e = 0; e < 3; e++) {
        double a = (double)rest[3 * t[1] + e] - (double)rest[3 * t[0] + e];
        double b = (double)rest[3 * t[2] + e] - (double)rest[3 * t[0] + e];
        double c = (double)p[3 * t[1] + e] - (double)p[3 * t[0] + e];
        double d = (double)p[3 * t[2] + e] - (double)p[3 * t[0] + e];
        g[0] += a * a, g[1] += a * b, g[2] += b * b, h[0] += c * c, h[1] += c * d, h[2] += d * d;
    }
    double det = g[0] * g[2] - g[1] * g[1];
    if (!(det > 0)) return 0;
    double trace = (g[2] * h[0] - 2 * g[1] * h[1] + g[0] * h[2]) / det, other = (h[0] * h[2] - h[1] * h[1]) / det;
    double larger = 0.5 * trace + sqrt(fmax(0.25 * trace * trace - other, 0));
    return sqrt(larger) - 1;
}

#endif
