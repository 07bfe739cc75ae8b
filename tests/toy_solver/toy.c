/*
 * toy.c: solver `toy`: a skin that follows linear skinning with a lag.
 *
 * The smallest solver that has everything: a parameter by bone, a state, an output. The table and the step stand here,
 * the build in toy_build.c, the views of state and scratch in toy_state.c.
 */
#include <string.h>

#include "toy.h"

static const cutis_parameter toy_parameters[TOY_PARAMETER_COUNT] = {
    [TOY_FOLLOWING] = {PARAMETER_FLOAT("following", 20, 0.1, 1000, "1/s"), .per_bone = true,
                       .role = CUTIS_PARAMETER_DAMPING, .help = "rate at which the lag dies away"},
};

static const char *const toy_parts[] = {"follow"};

static const cutis_output_info toy_outputs[TOY_OUTPUT_COUNT] = {
    [TOY_OUTPUT_LAG] = {.name = "lag", .components = 3, .unit = "m", .help = "how far the skin is behind its place"},
};

static void targets_find(const toy_model *m, const toy_scratch *w, const solver_input *input)
{
    skinning_linear(&m->skin, input->skin, w->skinning, input->jobs, w->targets);
}

/* The points, and how far each vertex is behind. */
static void results_write(const toy_model *m, const toy_state *s, const toy_scratch *w, float *points)
{
    memcpy(points, s->points, (size_t)m->point_count * 3 * sizeof(float));
    for (int v = 0; v < m->character->vertex_count; v++) {
        int p = m->character->vertex_points[v];
        for (int c = 0; c < 3; c++) s->lag[3 * v + c] = s->points[3 * p + c] - w->targets[3 * p + c];
    }
}

static void toy_step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                     cutis_step_stats *stats)
{
    const toy_model *m = data;
    toy_state s;
    toy_scratch w;
    double clock = clock_seconds();
    toy_state_view(m, state, &s);
    toy_scratch_view(m, scratch, &w);

    /* each point goes its share of the way */
    targets_find(m, &w, input);
    for (int p = 0; p < m->point_count; p++) {
        float keep = (float)det_exp(-(double)m->following[p] * input->h);
        for (int c = 0; c < 3; c++) {
            float target = w.targets[3 * p + c];
            s.points[3 * p + c] = target + keep * (s.points[3 * p + c] - target);
        }
    }
    results_write(m, &s, &w, points);
    kit_lap(&clock, stats, 0);
}

static void toy_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    const toy_model *m = data;
    toy_state s;
    toy_scratch w;
    toy_state_view(m, state, &s);
    toy_scratch_view(m, scratch, &w);
    targets_find(m, &w, input);
    memcpy(s.points, w.targets, (size_t)m->point_count * 3 * sizeof(float));
    results_write(m, &s, &w, points);
}

static long toy_element_count(const void *data) { return ((const toy_model *)data)->point_count; }

extern const solver solver_toy;
const solver solver_toy = {
    .info = {.name = "toy",
             .summary = "skin that follows linear skinning with a lag",
             .paper = "",
             .element = "points",
             .parts = toy_parts,
             .part_count = COUNT_OF(toy_parts),
             .substep = 0.01,
             .parameters = toy_parameters,
             .parameter_count = TOY_PARAMETER_COUNT,
             .outputs = toy_outputs,
             .output_count = TOY_OUTPUT_COUNT},
    .float_state = true,
    .build = toy_build,
    .element_count = toy_element_count,
    .state_size = toy_state_size,
    .scratch_size = toy_scratch_size,
    .reset = toy_reset,
    .step = toy_step,
    .teleport = toy_teleport,
    .output = toy_output,
};
