/*
 * springs_reference.h: the reference shape, where the skin would lie without elasticity and contact.
 *
 * Each bone chooses a shape (parameter `reference`, per bone); a point takes the mix of the shapes of the bones that
 * move it, by their weights. In the rest pose every shape gives the rest positions exactly.
 */
#ifndef SPRINGS_REFERENCE_H
#define SPRINGS_REFERENCE_H

#include "solvers/solver.h"

/* In the order of the parameter's choices: "lbs|dqs|metaballs|dffd|auto". */
typedef enum springs_shape {
    SPRINGS_SHAPE_LBS,
    SPRINGS_SHAPE_DQS,
    SPRINGS_SHAPE_METABALLS,
    SPRINGS_SHAPE_DFFD,
    SPRINGS_SHAPE_COUNT,
    SPRINGS_SHAPE_AUTO = SPRINGS_SHAPE_COUNT /* one of these for each bone, by measuring */
} springs_shape;

typedef struct springs_reference springs_reference;

/* Where the parameters of the shapes stand in build->values; -1: not there, take the usual value. */
typedef struct springs_reference_parameters {
    int reference;
    int control_rings, control_radius; /* of dffd */
} springs_reference_parameters;

/* Immutable, in build->memory. */
cutis_result springs_reference_build(const solver_build *build, springs_reference_parameters parameters,
                                     springs_reference **reference, cutis_error *error);
size_t springs_reference_scratch_size(const springs_reference *reference);
/*
 * Fill points (point_count x 3), scene space, for a pose: skin (joint_count x 12) is joints x inverse bind. turns: the
 * memory of skinning_dual_on, so that a twist goes on past a half turn; NULL: none.
 */
void springs_reference_evaluate(const springs_reference *reference, const float *skin, float *turns, void *scratch,
                                const cutis_jobs *jobs, float *points);

#endif
