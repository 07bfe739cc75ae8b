/*
 * settings.h: parameter values from text: "key" = "value", for all joints or for one.
 */
#ifndef ENGINE_SETTINGS_H
#define ENGINE_SETTINGS_H

#include "solvers/solver.h"

/* The key under which settings name a preset (presets.h); settings_apply passes it over. */
#define SETTING_PRESET "preset"

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
 * solver of a stack. Without one, all solvers that have the parameter are meant, and must mean the same by it (type and
 * unit). Values for all joints are applied before those for one, whatever their order. A name that a parameter had
 * before is an error that says the new one.
 */
cutis_result settings_apply(solver_values *stages, int stage_count, const cutis_character *character,
                            const cutis_setting *settings, int setting_count, cutis_error *error);

/*
 * The setting "joints" of the model itself: whether joints yield to contact ("yield") or follow the pose exactly
 * ("fixed"). *yields keeps its value when no setting has that key; *given becomes true when one says "yield".
 */
cutis_result settings_joints(const cutis_setting *settings, int setting_count, bool *yields, bool *given,
                             cutis_error *error);
/* The settings "joint_strength" and "bones.NAME.joint_strength" into strengths (joint_count). */
cutis_result settings_strengths(const solver_values *stages, int stage_count, const cutis_character *character,
                                const cutis_setting *settings, int setting_count, double *strengths, bool *given,
                                cutis_error *error);
/* Whether a key is a setting of the model, which no solver has. */
bool settings_of_model(const char *key);

/* Whether a key is about one of these solvers: it names one, or a parameter (also by a former name) of one. */
bool settings_concern(const solver_values *stages, int stage_count, const char *key);

#endif
