/* dqs.c: dual-quaternion skinning: blends rotations, so that twists do not collapse. */
#include "solvers/geometric.h"

static void dqs_step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                     cutis_step_stats *stats)
{
    (void)state;
    (void)stats;
    skinning morphed = geometric_morphed(data, input);
    skinning_dual(&morphed, input->skin, scratch, input->jobs, points);
}

static void dqs_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    dqs_step(data, state, scratch, input, points, NULL);
}

extern const solver solver_dqs;
const solver solver_dqs = {
    .info = {.name = "dqs",
             .summary = "dual-quaternion skinning: blends rotations, so that twists do not collapse",
             .paper =
                 "Kavan, Collins, Zara, O'Sullivan 2008, Geometric skinning with approximate dual quaternion blending",
             .element = "vertices",
             .flags = CUTIS_SOLVER_GEOMETRIC},
    .build = geometric_build,
    .element_count = geometric_element_count,
    .state_size = geometric_state_size,
    .scratch_size = geometric_scratch_size,
    .reset = dqs_reset,
    .step = dqs_step,
};
