/* lbs.c: linear-blend skinning: the plain weighted sum of bone matrices. */
#include "solvers/geometric.h"

static void lbs_step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                     cutis_step_stats *stats)
{
    (void)state;
    (void)stats;
    skinning morphed = geometric_morphed(data, input);
    skinning_linear(&morphed, input->skin, scratch, input->jobs, points);
}

static void lbs_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    lbs_step(data, state, scratch, input, points, NULL);
}

extern const solver solver_lbs;
const solver solver_lbs = {
    .info = {.name = "lbs",
             .summary = "linear-blend skinning: the plain weighted sum of bone matrices",
             .paper = "Magnenat-Thalmann, Laperriere, Thalmann 1988, Joint-dependent local deformations for hand "
                      "animation and object grasping",
             .element = "vertices",
             .flags = CUTIS_SOLVER_GEOMETRIC | CUTIS_SOLVER_BASELINE},
    .build = geometric_build,
    .element_count = geometric_element_count,
    .state_size = geometric_state_size,
    .scratch_size = geometric_scratch_size,
    .reset = lbs_reset,
    .step = lbs_step,
};
