/* settings.c: from text to parameter values, with an error that names what is wrong and what would be right. */
#include "engine/settings.h"

#include <stdio.h>
#include <string.h>

enum { NAME_LIMIT = 128 };

cutis_result settings_default(solver_values *stages, int stage_count, const cutis_character *character, arena *memory,
                              cutis_error *error)
{
    /* defaults for all joints */
    for (int i = 0; i < stage_count; i++) {
        const cutis_solver_info *info = &stages[i].solver->info;
        size_t count = (size_t)info->parameter_count;
        stages[i].values = ARENA_ARRAY(memory, double, count);
        stages[i].bone_values = ARENA_ARRAY(memory, double, count *(size_t)character->joint_count);
        if (memory->failed) return error_memory(error, "parameters");

        for (size_t p = 0; p < count; p++) {
            stages[i].values[p] = info->parameters[p].default_value;
            for (int j = 0; j < character->joint_count; j++) {
                stages[i].bone_values[(size_t)j * count + p] = info->parameters[p].default_value;
            }
        }
    }

    return CUTIS_OK;
}

/* Index of text among the names of "a|b|c"; -1 when it is none of them. */
static int choice_find(const char *choices, const char *text)
{
    size_t length = strlen(text);
    int index = 0;
    for (const char *at = choices; at; index++) {
        const char *end = strchr(at, '|');
        size_t n = end ? (size_t)(end - at) : strlen(at);
        if (n == length && strncmp(at, text, n) == 0) return index;
        at = end ? end + 1 : NULL;
    }
    return -1;
}

static cutis_result value_parse(const cutis_parameter *p, const cutis_setting *setting, double *value,
                                cutis_error *error)
{
    const char *text = setting->value;

    switch (p->type) {
    case CUTIS_PARAMETER_BOOL:
        *value = -1;
        if (!strcmp(text, "on") || !strcmp(text, "true") || !strcmp(text, "1")) *value = 1;
        if (!strcmp(text, "off") || !strcmp(text, "false") || !strcmp(text, "0")) *value = 0;
        if (*value >= 0) return CUTIS_OK;
        return error_set(error, CUTIS_ERROR_ARGUMENT, "%s = '%s': use on or off", setting->key, text);
    case CUTIS_PARAMETER_CHOICE:
        *value = choice_find(p->choices, text);
        if (*value >= 0) return CUTIS_OK;
        return error_set(error, CUTIS_ERROR_ARGUMENT, "%s = '%s': use one of %s", setting->key, text, p->choices);
    case CUTIS_PARAMETER_INT:
    case CUTIS_PARAMETER_FLOAT:
        break;
    }

    /* switched off or on: nothing, or as usual */
    bool off = strcmp(text, "off") == 0;
    if ((off || strcmp(text, "on") == 0) && p->min <= 0 && p->max >= 0) {
        *value = off ? 0 : p->default_value;
        return CUTIS_OK;
    }

    /* a number, whole where it must be, within its range */
    const char *cursor = text, *end = text + strlen(text);
    if (!text_number(&cursor, end, value) || cursor != end) {
        return error_set(error, CUTIS_ERROR_ARGUMENT, "%s = '%s' is not a number", setting->key, text);
    }
    if (p->type == CUTIS_PARAMETER_INT && *value != floor(*value)) {
        return error_set(error, CUTIS_ERROR_ARGUMENT, "%s = '%s' is not a whole number", setting->key, text);
    }
    if (!(*value >= p->min && *value <= p->max)) {
        return error_set(error, CUTIS_ERROR_ARGUMENT, "%s = %s is out of range: %g to %g%s%s", setting->key, text,
                         p->min, p->max, p->unit[0] ? " " : "", p->unit);
    }

    return CUTIS_OK;
}

/* A key taken apart. */
typedef struct setting_target {
    int stage; /* -1: every stage that has the parameter */
    int joint; /* -1: all joints */
    const char *parameter;
} setting_target;

/* Whether a key begins with "NAME."; what follows in *rest. */
static bool key_has_prefix(const char *key, const char *name, const char **rest)
{
    size_t n = strlen(name);
    if (strncmp(key, name, n) != 0 || key[n] != '.') return false;
    *rest = key + n + 1;
    return true;
}

/* The solver that a key names, NULL for none; *rest is what follows. */
static const solver *key_solver(const char *key, const char **rest)
{
    *rest = key;
    for (int i = 0; i < solver_table_count; i++)
        if (key_has_prefix(key, solver_table[i]->info.name, rest)) return solver_table[i];
    return NULL;
}

static cutis_result key_parse(const solver_values *stages, int stage_count, const cutis_character *character,
                              const char *key, setting_target *target, cutis_error *error)
{
    /* the solver */
    *target = (setting_target){-1, -1, key};
    const solver *named = key_solver(key, &target->parameter);
    for (int i = 0; i < stage_count && named; i++)
        if (stages[i].solver == named) target->stage = i;
    if (named && target->stage < 0)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "'%s': solver %s does not run here", key, named->info.name);

    /* the joint */
    key = target->parameter;
    if (strncmp(key, "bones.", 6) != 0) return CUTIS_OK;

    /* A joint's name may hold dots: the parameter is what follows the last one. */
    const char *name = key + 6, *dot = strrchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) : 0;
    if (n == 0) return error_set(error, CUTIS_ERROR_ARGUMENT, "'%s': write bones.JOINT.PARAMETER", key);

    for (int j = 0; j < character->joint_count; j++) {
        const char *joint = character->joints[j].name;
        if (strlen(joint) == n && strncmp(joint, name, n) == 0) target->joint = j;
    }
    target->parameter = dot + 1;
    if (target->joint >= 0) return CUTIS_OK;

    /* no such joint: offer the nearest name */
    char text[NAME_LIMIT];
    snprintf(text, sizeof text, "%.*s", (int)MIN(n, sizeof text - 1), name);
    name_search search = name_search_start(text);
    for (int j = 0; j < character->joint_count; j++) name_search_offer(&search, character->joints[j].name);
    if (search.nearest) {
        return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no joint '%s'; did you mean '%s'?", text,
                         search.nearest);
    }
    return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no joint '%s'; 'cutis info' lists them", text);
}

/* The parameter of a solver that once had this name; NULL: none had. */
static const cutis_parameter *former_find(const solver *s, const char *name)
{
    for (int i = 0; i < s->info.parameter_count; i++) {
        const cutis_parameter *p = &s->info.parameters[i];
        if (p->former && choice_find(p->former, name) >= 0) return p;
    }
    return NULL;
}

/* "there is no parameter 'stifness'; did you mean 'stiffness'?" */
static cutis_result unknown_parameter(const solver_values *stages, int stage_count, const setting_target *target,
                                      cutis_error *error)
{
    const char *owner = stages[target->stage >= 0 ? target->stage : stage_count - 1].solver->info.name;
    name_search search = name_search_start(target->parameter);

    for (int i = 0; i < stage_count; i++) {
        const cutis_solver_info *info = &stages[i].solver->info;
        if (target->stage >= 0 && target->stage != i) continue;

        /* a name of before */
        const cutis_parameter *renamed = former_find(stages[i].solver, target->parameter);
        if (renamed)
            return error_set(error, CUTIS_ERROR_ARGUMENT, "parameter '%s' of solver %s is now called '%s'%s%s%s",
                             target->parameter, info->name, renamed->name, renamed->unit[0] ? " (" : "", renamed->unit,
                             renamed->unit[0] ? ")" : "");

        for (int p = 0; p < info->parameter_count; p++) name_search_offer(&search, info->parameters[p].name);
        if (info->parameter_count > 0) owner = info->name;
    }

    /* no name alike in any, or the nearest one */
    if (target->stage < 0 && stage_count > 1 && !search.nearest)
        return error_set(error, CUTIS_ERROR_ARGUMENT,
                         "no solver here has a parameter '%s'; 'cutis solvers %s' lists them", target->parameter,
                         owner);
    if (search.nearest) {
        return error_set(error, CUTIS_ERROR_ARGUMENT, "solver %s has no parameter '%s'; did you mean '%s'?", owner,
                         target->parameter, search.nearest);
    }
    return error_set(error, CUTIS_ERROR_ARGUMENT, "solver %s has no parameter '%s'; 'cutis solvers %s' lists them",
                     owner, target->parameter, owner);
}

/* A key without a solver stands for all of a stack, which must mean the same by it. */
static cutis_result meaning_check(const solver_values *stages, int stage_count, const char *name, cutis_error *error)
{
    const cutis_parameter *first = NULL;
    const char *owner = NULL;

    for (int i = 0; i < stage_count; i++) {
        int index = solver_parameter_index(stages[i].solver, name);
        if (index < 0) continue;
        const cutis_parameter *p = &stages[i].solver->info.parameters[index];

        if (first && (first->type != p->type || strcmp(first->unit, p->unit) != 0))
            return error_set(error, CUTIS_ERROR_ARGUMENT,
                             "'%s' differs between solvers %s and %s: write %s.%s or %s.%s", name, owner,
                             stages[i].solver->info.name, owner, name, stages[i].solver->info.name, name);

        first = p;
        owner = stages[i].solver->info.name;
    }
    return CUTIS_OK;
}

bool settings_concern(const solver_values *stages, int stage_count, const char *key)
{
    const char *rest;
    const solver *named = key_solver(key, &rest);
    const char *dot = strrchr(rest, '.');
    const char *name = dot ? dot + 1 : rest;

    for (int i = 0; i < stage_count; i++) {
        const solver *own = stages[i].solver;
        if (named) {
            if (own == named) return true;
        } else if (solver_parameter_index(own, name) >= 0 || former_find(own, name)) {
            return true;
        }
    }
    return false;
}

/* A value into a stage, for all joints or one. */
static cutis_result value_set(solver_values *stage, const cutis_character *character, const setting_target *target,
                              int index, const cutis_setting *setting, cutis_error *error)
{
    const cutis_parameter *parameter = &stage->solver->info.parameters[index];
    size_t count = (size_t)stage->solver->info.parameter_count;
    double value;

    cutis_result result = value_parse(parameter, setting, &value, error);
    if (result) return result;

    if (target->joint >= 0 && !parameter->per_bone)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "%s: '%s' cannot be set for one joint", setting->key,
                         target->parameter);

    /* for all joints, or for one */
    if (target->joint < 0) stage->values[index] = value;
    for (int j = 0; j < character->joint_count; j++)
        if (target->joint < 0 || target->joint == j) stage->bone_values[(size_t)j * count + (size_t)index] = value;
    return CUTIS_OK;
}

/* One setting into all stages that it means. */
static cutis_result setting_apply(solver_values *stages, int stage_count, const cutis_character *character,
                                  const setting_target *target, const cutis_setting *setting, cutis_error *error)
{
    bool found = false;

    /* a bare name must mean the same in all stages */
    if (target->stage < 0) {
        cutis_result result = meaning_check(stages, stage_count, target->parameter, error);
        if (result) return result;
    }

    for (int s = 0; s < stage_count; s++) {
        int index = solver_parameter_index(stages[s].solver, target->parameter);
        if (index < 0 || (target->stage >= 0 && target->stage != s)) continue;

        found = true;
        cutis_result result = value_set(&stages[s], character, target, index, setting, error);
        if (result) return result;
    }

    return found ? CUTIS_OK : unknown_parameter(stages, stage_count, target, error);
}

/* The last part of a key: the parameter. */
static const char *key_name(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

bool settings_of_model(const char *key)
{
    return strcmp(key, "joints") == 0 || strcmp(key_name(key), "joint_strength") == 0;
}

cutis_result settings_joints(const cutis_setting *settings, int setting_count, bool *yields, bool *given,
                             cutis_error *error)
{
    for (int i = 0; i < setting_count; i++) {
        if (strcmp(settings[i].key, "joints") != 0) continue;
        int choice = choice_find("fixed|yield", settings[i].value);
        if (choice < 0)
            return error_set(error, CUTIS_ERROR_ARGUMENT, "joints = '%s': use one of fixed|yield", settings[i].value);
        *yields = choice == 1;
        *given |= choice == 1;
    }
    return CUTIS_OK;
}

cutis_result settings_strengths(const solver_values *stages, int stage_count, const cutis_character *character,
                                const cutis_setting *settings, int setting_count, double *strengths, bool *given,
                                cutis_error *error)
{
    static const cutis_parameter parameter = {.name = "joint_strength", .default_value = 1, .max = 1, .unit = ""};

    /* values of all joints first, then those of one */
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < setting_count; i++) {
            setting_target target;
            double value;
            if (strcmp(key_name(settings[i].key), parameter.name) != 0) continue;
            cutis_result result = key_parse(stages, stage_count, character, settings[i].key, &target, error);
            if (!result) result = value_parse(&parameter, &settings[i], &value, error);
            if (result) return result;
            *given = true;
            for (int j = 0; j < character->joint_count && (target.joint >= 0) == (pass == 1); j++)
                if (target.joint < 0 || target.joint == j) strengths[j] = value;
        }
    return CUTIS_OK;
}

cutis_result settings_apply(solver_values *stages, int stage_count, const cutis_character *character,
                            const cutis_setting *settings, int setting_count, cutis_error *error)
{
    /* values of all joints first, then those of one */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < setting_count; i++) {
            if (strcmp(settings[i].key, SETTING_PRESET) == 0) continue; /* no parameter */

            setting_target target;
            if (settings_of_model(settings[i].key)) continue;
            cutis_result result = key_parse(stages, stage_count, character, settings[i].key, &target, error);
            if (!result && (target.joint >= 0) == (pass == 1))
                result = setting_apply(stages, stage_count, character, &target, &settings[i], error);
            if (result) return result;
        }
    }

    return CUTIS_OK;
}
