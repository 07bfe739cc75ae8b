/*
 * presets.h: kinds of bodies as parameter values, for every solver of flesh that has them.
 */
#ifndef ENGINE_PRESETS_H
#define ENGINE_PRESETS_H

#include "engine/settings.h"

/* Put the values of a preset into all stages of flesh; a name that is none is an error that lists them. */
cutis_result presets_apply(solver_values *stages, int stage_count, const cutis_character *character, const char *name,
                           cutis_error *error);

/* The value of the last setting that names a preset; NULL: none. */
const char *presets_named(const cutis_setting *settings, int setting_count);

#endif
