/*
 * settings.h: parameter values from text: "key" = "value", for all joints or for one.
 */
#ifndef ENGINE_SETTINGS_H
#define ENGINE_SETTINGS_H

#include "solvers/solver.h"

/* The values of one solver of a stack. */
typedef struct solver_values {
    const solver *solver;
    double *values;      /* (parameter_count) */
    double *bone_values; /* (joint_count x parameter_count) */
} solver_values;

/* Defaults for every stage of a stack. */
cutis_result settings_default(solver_values *stages, int stage_count, const cutis_character *character, arena *memory,
                              cutis_error *error);
/*
 * Put settings in, in order. Keys: NAME, bones.JOINT.NAME, and both with "SOLVER." before them to mean one
 * solver of a stack. Values for all joints are applied before those for one, whatever their order.
 */
cutis_result settings_apply(solver_values *stages, int stage_count, const cutis_character *character,
                            const cutis_setting *settings, int setting_count, cutis_error *error);

#endif
