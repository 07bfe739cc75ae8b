/*
 * cmd_solvers.c: the solvers, and the parameter table of one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char *const type_names[] = {"number", "whole", "on/off", "choice"};

/* The name of entry `index` of "a|b|c". */
static void choice_name(const char *choices, int index, char *name, size_t size)
{
    while (index-- > 0 && strchr(choices, '|')) choices = strchr(choices, '|') + 1;
    snprintf(name, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

static void default_text(const cutis_parameter *parameter, char *text, size_t size)
{
    if (parameter->type == CUTIS_PARAMETER_BOOL)
        snprintf(text, size, "%s", parameter->default_value != 0 ? "on" : "off");
    else if (parameter->type == CUTIS_PARAMETER_CHOICE)
        choice_name(parameter->choices, (int)parameter->default_value, text, size);
    else
        snprintf(text, size, "%.9g", parameter->default_value);
}

static json_t *parameter_json(const cutis_parameter *parameter)
{
    static const char *const json_types[] = {"float", "int", "bool", "choice"};

    json_t *object = json_pack("{s:s, s:s}", "name", parameter->name, "type", json_types[parameter->type]);
    char text[64];
    default_text(parameter, text, sizeof text);

    /* the default, by type */
    switch (parameter->type) {
    case CUTIS_PARAMETER_FLOAT:
        json_object_set_new(object, "default", cli_json_real(parameter->default_value));
        break;
    case CUTIS_PARAMETER_INT:
        json_object_set_new(object, "default", json_integer((json_int_t)parameter->default_value));
        break;
    case CUTIS_PARAMETER_BOOL:
        json_object_set_new(object, "default", json_boolean(parameter->default_value != 0));
        break;
    case CUTIS_PARAMETER_CHOICE: {
        json_t *choices = json_array();
        for (const char *at = parameter->choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
            json_array_append_new(choices, json_stringn(at, strcspn(at, "|")));
        json_object_set_new(object, "default", cli_json_string(text));
        json_object_set_new(object, "choices", choices);
        break;
    }
    }

    if (parameter->type == CUTIS_PARAMETER_FLOAT || parameter->type == CUTIS_PARAMETER_INT) {
        json_object_set_new(object, "min", cli_json_real(parameter->min));
        json_object_set_new(object, "max", cli_json_real(parameter->max));
    }

    json_object_set_new(object, "unit", cli_json_string(parameter->unit));
    json_object_set_new(object, "per_bone", json_boolean(parameter->per_bone));
    json_object_set_new(object, "help", cli_json_string(parameter->help));
    return object;
}

static json_t *names_json(const char *const *names, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(array, cli_json_string(names[i]));
    return array;
}

static const char *const domain_names[] = {"vertex", "corner", "element"};

static json_t *outputs_json(const cutis_solver_info *solver)
{
    json_t *array = json_array();
    for (int i = 0; i < solver->output_count; i++) {
        const cutis_output_info *output = &solver->outputs[i];
        json_t *object =
            json_pack("{s:s, s:s, s:i, s:s, s:s}", "name", output->name, "domain", domain_names[output->domain],
                      "components", output->components, "unit", output->unit, "help", output->help);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *solver_json(const cutis_solver_info *solver)
{
    json_t *parameters = json_array();
    for (int i = 0; i < solver->parameter_count; i++)
        json_array_append_new(parameters, parameter_json(&solver->parameters[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "name", solver->name, "summary", solver->summary,
                     "paper", solver->paper, "element", solver->element, "substep", cli_json_real(solver->substep),
                     "parts", names_json(solver->parts, solver->part_count), "outputs", outputs_json(solver),
                     "parameters", parameters);
}

static void print_outputs(const cutis_solver_info *solver)
{
    if (solver->output_count == 0) return;
    cli_table *table = cli_table_create("lllll");
    cli_table_heads(table, "output|per|numbers|unit|meaning");

    for (int i = 0; i < solver->output_count; i++) {
        const cutis_output_info *output = &solver->outputs[i];
        cli_table_cell(table, "%s", output->name);
        cli_table_cell(table, "%s", domain_names[output->domain]);
        cli_table_cell(table, "%d", output->components);
        cli_table_cell(table, "%s", output->unit);
        cli_table_cell(table, "%s", output->help);
    }

    putchar('\n');
    cli_table_print(table, "");
    printf("\nWrite outputs beside the result with 'cutis bake --outputs %s'.\n", solver->outputs[0].name);
}

static void print_solver(const cutis_solver_info *solver)
{
    printf("%s: %s\n", solver->name, solver->summary);
    if (solver->paper[0]) cli_print_wrapped(stdout, solver->paper, 2, 110);
    if (solver->substep > 0)
        printf("  substep %.9g s, elements: %s\n", solver->substep, solver->element);
    else
        printf("  geometric: each frame depends only on its pose; elements: %s\n", solver->element);

    if (solver->parameter_count == 0) {
        printf("  no parameters\n");
        return;
    }

    cli_table *table = cli_table_create("lllllll");
    bool any_bone = false;
    cli_table_heads(table, "parameter|type|default|range|unit|bone|what");

    for (int i = 0; i < solver->parameter_count; i++) {
        const cutis_parameter *parameter = &solver->parameters[i];
        char text[64];
        default_text(parameter, text, sizeof text);
        cli_table_cell(table, "%s", parameter->name);
        cli_table_cell(table, "%s", type_names[parameter->type]);
        cli_table_cell(table, "%s", text);

        /* the range, where it has one */
        if (parameter->type == CUTIS_PARAMETER_CHOICE)
            cli_table_cell(table, "%s", parameter->choices);
        else if (parameter->type == CUTIS_PARAMETER_BOOL)
            cli_table_cell(table, "%s", "");
        else
            cli_table_cell(table, "%.9g to %.9g", parameter->min, parameter->max);
        cli_table_cell(table, "%s", parameter->unit);
        cli_table_cell(table, "%s", parameter->per_bone ? "*" : "");
        cli_table_cell(table, "%s", parameter->help);
        any_bone |= parameter->per_bone;
    }

    /* how to set them */
    putchar('\n');
    cli_table_print(table, "");
    printf("\nSet one with --set %s=VALUE", solver->parameters[0].name);
    if (any_bone) printf("; parameters marked * can be set for one bone: --set bones.NAME.parameter=VALUE");
    printf(".\n");
    if (!(solver->flags & (CUTIS_SOLVER_GEOMETRIC | CUTIS_SOLVER_SURFACE)))
        printf("Joints yield to contact: --set joints=fixed keeps the clip's pose, and --set "
               "bones.NAME.joint_strength=0..1\n"
               "lets a joint hang and swing (default 1: it holds the clip).\n");

    print_outputs(solver);
}

static int unknown_solver(const cli_arguments *arguments, const char *name)
{
    int count = cutis_solver_count();
    const char **names = cli_allocate((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++) names[i] = cutis_solver(i)->name;
    const char *nearest = cli_nearest(name, names, count);
    int status = nearest ? cli_usage_error(arguments, "unknown solver '%s'; did you mean '%s'?", name, nearest)
                         : cli_usage_error(arguments, "unknown solver '%s'; 'cutis solvers' lists them", name);
    free(names);
    return status;
}

static int run(const cli_arguments *arguments)
{
    bool json = cli_flag(arguments, "json");

    if (arguments->positional_count) {
        const cutis_solver_info *solver = cutis_solver_find(arguments->positionals[0]);
        if (!solver) return unknown_solver(arguments, arguments->positionals[0]);
        if (json) return cli_json_print(solver_json(solver));
        print_solver(solver);
        return CLI_OK;
    }

    if (json) {
        json_t *solvers = json_array();
        for (int i = 0; i < cutis_solver_count(); i++) json_array_append_new(solvers, solver_json(cutis_solver(i)));
        return cli_json_print(json_pack("{s:o}", "solvers", solvers));
    }

    cli_table *table = cli_table_create("lrl");
    cli_table_heads(table, "solver|parameters|what");
    for (int i = 0; i < cutis_solver_count(); i++) {
        const cutis_solver_info *solver = cutis_solver(i);
        cli_table_cell(table, "%s", solver->name);
        cli_table_cell(table, "%d", solver->parameter_count);
        cli_table_cell(table, "%s", solver->summary);
    }

    cli_table_print(table, "");
    printf("\n'cutis solvers NAME' lists the parameters of a solver.\n");
    return CLI_OK;
}

const cli_command cmd_solvers = {
    .name = "solvers",
    .usage = "[NAME] [--json]",
    .summary = "list the solvers, or the parameters of a solver",
    .examples = "cutis solvers\ncutis solvers lbs",
    .positional_max = 1,
    .run = run,
    .json = true,
};
