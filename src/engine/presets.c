/*
 * presets.c: kinds of bodies. A preset is a row of values for the parameters that solvers of flesh share; it comes
 * before the settings of the file and of the user, which win.
 */
#include "engine/presets.h"

#include <stdio.h>
#include <string.h>

/* anatomy, fatness and firmness as they are; the others as factors on each solver's default. */
typedef struct preset {
    cutis_preset info;
    double anatomy, fatness, firmness, muscle_bulge, gravity, damping;
} preset;

static const preset PRESETS[] = {
    {{"athletic", "firm muscle, little fat"}, 1, 0.5, 1.35, 1.8, 1, 1},
    {{"average", "the defaults: as the body's proportions show"}, 1, 1, 1, 1, 1, 1},
    {{"heavy", "more and softer fat"}, 1, 2, 0.85, 0.5, 1, 0.9},
    {{"old", "loose skin and slack muscle"}, 1, 1.3, 0.65, 0.4, 1, 1.5},
    {{"toy", "soft rubber all over"}, 0, 1, 0.6, 0, 1, 0.5},
    {{"statue", "hard all over"}, 0, 1, 10, 0, 0, 4},
};

int cutis_preset_count(void) { return COUNT_OF(PRESETS); }

const cutis_preset *cutis_preset_get(int index)
{
    return index >= 0 && index < COUNT_OF(PRESETS) ? &PRESETS[index].info : NULL;
}

const char *presets_named(const cutis_setting *settings, int setting_count)
{
    const char *name = NULL;
    for (int i = 0; i < setting_count; i++)
        if (strcmp(settings[i].key, SETTING_PRESET) == 0) name = settings[i].value;
    return name;
}

/* A value for all joints of a stage that has the parameter, within its range. */
static void value_put(solver_values *stage, const cutis_character *character, const char *name, double value,
                      bool factor)
{
    int index = solver_parameter_index(stage->solver, name);
    if (index < 0) return;
    const cutis_parameter *p = &stage->solver->info.parameters[index];
    if (factor) value *= p->default_value;
    value = CLAMP(value, p->min, p->max);
    stage->values[index] = value;
    for (int j = 0; j < character->joint_count; j++)
        stage->bone_values[(size_t)j * (size_t)stage->solver->info.parameter_count + (size_t)index] = value;
}

cutis_result presets_apply(solver_values *stages, int stage_count, const cutis_character *character, const char *name,
                           cutis_error *error)
{
    const preset *found = NULL;
    for (int i = 0; i < COUNT_OF(PRESETS); i++)
        if (strcmp(PRESETS[i].info.name, name) == 0) found = &PRESETS[i];
    if (!found) {
        char list[160] = "";
        for (int i = 0; i < COUNT_OF(PRESETS); i++) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", PRESETS[i].info.name);
        }
        return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no preset '%s'; use one of %s", name, list);
    }

    bool any = false;
    for (int i = 0; i < stage_count; i++) {
        if (solver_parameter_index(stages[i].solver, "anatomy") < 0) continue;
        any = true;
        value_put(&stages[i], character, "anatomy", found->anatomy, false);
        value_put(&stages[i], character, "fatness", found->fatness, false);
        value_put(&stages[i], character, "firmness", found->firmness, false);
        value_put(&stages[i], character, "muscle_bulge", found->muscle_bulge, true);
        value_put(&stages[i], character, "gravity", found->gravity, true);
        value_put(&stages[i], character, "damping", found->damping, true);
    }
    if (!any)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "preset '%s' has no effect: no solver here simulates flesh", name);
    return CUTIS_OK;
}
