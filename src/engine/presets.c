/*
 * presets.c: kinds of bodies. A preset is a row of values for the parameters that solvers of flesh share; it comes
 * before the settings of the file and of the user, which win.
 */
#include "engine/presets.h"

#include <math.h>
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

static const preset *preset_find(const char *name)
{
    for (int i = 0; i < COUNT_OF(PRESETS); i++)
        if (strcmp(PRESETS[i].info.name, name) == 0) return &PRESETS[i];
    return NULL;
}

/* The value for a parameter, within its range; NAN: none. */
static double value_of(const preset *p, const cutis_parameter *parameter)
{
    const struct {
        const char *name;
        double value;
    } values[] = {{"anatomy", p->anatomy},
                  {"fatness", p->fatness},
                  {"firmness", p->firmness},
                  {"muscle_bulge", p->muscle_bulge * parameter->default_value},
                  {"gravity", p->gravity * parameter->default_value},
                  {"damping", p->damping * parameter->default_value}};
    for (int i = 0; i < COUNT_OF(values); i++)
        if (strcmp(values[i].name, parameter->name) == 0) return CLAMP(values[i].value, parameter->min, parameter->max);
    return NAN;
}

double cutis_preset_value(const char *name, const char *solver_name, const char *parameter)
{
    const preset *found = preset_find(name);
    const cutis_solver_info *info = cutis_solver_find(solver_name);
    bool flesh = false;
    double value = NAN;
    for (int i = 0; found && info && i < info->parameter_count; i++) {
        flesh |= strcmp(info->parameters[i].name, "anatomy") == 0;
        if (strcmp(info->parameters[i].name, parameter) == 0) value = value_of(found, &info->parameters[i]);
    }
    return flesh ? value : NAN;
}

cutis_result presets_apply(solver_values *stages, int stage_count, const cutis_character *character, const char *name,
                           cutis_error *error)
{
    const preset *found = preset_find(name);
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
        int count = stages[i].solver->info.parameter_count;
        for (int k = 0; k < count; k++) {
            double value = value_of(found, &stages[i].solver->info.parameters[k]);
            if (isnan(value)) continue;
            stages[i].values[k] = value;
            for (int j = 0; j < character->joint_count; j++)
                stages[i].bone_values[(size_t)j * (size_t)count + (size_t)k] = value;
        }
    }
    if (!any)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "preset '%s' has no effect: no solver here simulates flesh",
                         name);
    return CUTIS_OK;
}
