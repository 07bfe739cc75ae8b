/*
 * quality.c: the figures of a result as JSON, and bounds on them.
 */
#include "quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

static json_t *frame_json(int frame) { return frame < 0 ? json_null() : json_integer(frame); }

json_t *quality_json(const cutis_quality *q, double fps)
{
    json_t *root = json_object();
    json_object_set_new(root, "frames", json_integer(q->frames));
    json_object_set_new(root, "fps", cli_json_real(fps));
    json_object_set_new(root, "vertices", json_integer(q->vertices));
    json_object_set_new(root, "size", cli_json_real(q->size));
    json_object_set_new(root, "volume_rest", cli_json_real(q->volume_rest));
    json_object_set_new(root, "volume_error_max", cli_json_real(q->volume_error_max));
    json_object_set_new(root, "volume_error_mean", cli_json_real(q->volume_error_mean));
    json_object_set_new(root, "volume_min_ratio", cli_json_real(q->volume_min_ratio));
    json_object_set_new(root, "self_intersections_rest", json_integer(q->self_intersections_rest));
    json_object_set_new(root, "self_intersections_max", json_integer(q->self_intersections_max));
    json_object_set_new(root, "self_intersections_mean", cli_json_real(q->self_intersections_mean));
    json_object_set_new(root, "stretch_p99", cli_json_real(q->stretch_p99));
    json_object_set_new(root, "area_distortion_p99", cli_json_real(q->area_distortion_p99));
    json_object_set_new(root, "acceleration_rms", cli_json_real(q->acceleration_rms));
    json_object_set_new(root, "min_section_ratio", cli_json_real(q->min_section_ratio));
    json_object_set_new(root, "penetration_max", cli_json_real(q->penetration_max));
    json_object_set_new(root, "non_finite", json_integer(q->non_finite));
    json_object_set_new(root, "worst_volume_frame", frame_json(q->worst_volume_frame));
    json_object_set_new(root, "worst_intersection_frame", frame_json(q->worst_intersection_frame));
    json_object_set_new(root, "worst_section_frame", frame_json(q->worst_section_frame));
    json_object_set_new(root, "worst_penetration_frame", frame_json(q->worst_penetration_frame));
    return root;
}

/* ---- bounds ---- */

/* What can be bounded: the figures of a measurement, and those of a bake. */
static const char *const names[] = {
    "volume_error_max",
    "volume_error_mean",
    "volume_min_ratio",
    "self_intersections_max",
    "self_intersections_mean",
    "self_intersections_rest",
    "stretch_p99",
    "area_distortion_p99",
    "acceleration_rms",
    "min_section_ratio",
    "penetration_max",
    "non_finite",
    "frames",
    "step_ms_median",
    "step_ms_max",
    "peak_memory",
    "repairs",
    "unconverged",
    "morph_targets",
    "morph_error_max",
    "morph_error_rms",
    "file_bytes",
    "seam_position",
    "seam_velocity",
};

static int parse_one(const char *text, size_t length, quality_check *check)
{
    char copy[128];
    if (length >= sizeof copy) length = sizeof copy - 1;
    memcpy(copy, text, length);
    copy[length] = 0;
    char *at = copy + strspn(copy, " "), *end = at + strcspn(at, "<>= ");
    char *sign = end + strspn(end, " ");
    size_t sign_length = strspn(sign, "<>=");
    char operator[4] = "";
    if (sign_length >= 1 && sign_length <= 2) memcpy(operator, sign, sign_length);
    if (strcmp(operator, "==") == 0) operator[1] = 0;
    bool known = strcmp(operator, "<") == 0 || strcmp(operator, "<=") == 0 || strcmp(operator, ">") == 0 ||
                 strcmp(operator, ">=") == 0 || strcmp(operator, "=") == 0;
    char *number = sign + sign_length, *rest;
    double bound = strtod(number, &rest);
    if (!known || rest == number || rest[strspn(rest, " ")] != 0 || !isfinite(bound)) {
        cli_error("--check: '%s' is not of the form NAME<NUMBER (or <=, >, >=, =)", copy);
        return CLI_USAGE;
    }
    *end = 0;
    for (int i = 0; i < CLI_COUNT(names); i++) {
        if (strcmp(at, names[i]) != 0) continue;
        snprintf(check->name, sizeof check->name, "%s", at);
        memcpy(check->operator, operator, sizeof operator);
        check->bound = bound;
        return CLI_OK;
    }
    const char *nearest = cli_nearest(at, names, CLI_COUNT(names));
    if (nearest)
        cli_error("--check: there is no figure '%s'; did you mean '%s'?", at, nearest);
    else
        cli_error("--check: there is no figure '%s'; docs/REPORT.md lists them", at);
    return CLI_USAGE;
}

int quality_parse(const char *text, quality_check **checks, int *check_count)
{
    int capacity = 1, status = CLI_OK;
    for (const char *c = text; *c; c++) capacity += *c == ',';
    *checks = cli_allocate((size_t)capacity, sizeof **checks);
    *check_count = 0;
    while (*text && status == CLI_OK) {
        size_t length = strcspn(text, ",");
        if (length > strspn(text, " ")) status = parse_one(text, length, &(*checks)[(*check_count)++]);
        text += length + (text[length] == ',');
    }
    if (status == CLI_OK && *check_count == 0) {
        cli_error("--check: the list of bounds is empty");
        status = CLI_USAGE;
    }
    if (status != CLI_OK) {
        free(*checks);
        *checks = NULL;
        *check_count = 0;
    }
    return status;
}

int quality_decide(quality_check *checks, int check_count, const json_t *figures)
{
    int failed = 0;
    for (int i = 0; i < check_count; i++) {
        quality_check *check = &checks[i];
        const json_t *figure = json_object_get(figures, check->name);
        const char *o = check->operator;
        check->value = json_is_number(figure) ? json_number_value(figure) : (double)NAN;
        bool equal = check->value == check->bound;
        check->passed = (o[0] == '<' && check->value < check->bound) || (o[0] == '>' && check->value > check->bound) ||
                        ((o[0] == '=' || o[1] == '=') && equal);
        failed += !check->passed;
    }
    return failed;
}

void quality_print_failures(const quality_check *checks, int check_count)
{
    for (int i = 0; i < check_count; i++) {
        const quality_check *check = &checks[i];
        if (check->passed) continue;
        if (isnan(check->value))
            fprintf(stderr, "cutis: check failed: %s%s%.9g, but this result has no such figure\n", check->name,
                    check->operator, check->bound);
        else
            fprintf(stderr, "cutis: check failed: %s%s%.9g, but it is %.9g (off by %.6g)\n", check->name,
                    check->operator, check->bound, check->value, fabs(check->value - check->bound));
    }
}

json_t *quality_checks_json(const quality_check *checks, int check_count)
{
    json_t *list = json_array();
    for (int i = 0; i < check_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:o, s:b}", "figure", checks[i].name, "operator",
                                              checks[i].operator, "bound", checks[i].bound, "value",
                                              cli_json_real(checks[i].value), "passed", (int)checks[i].passed));
    return list;
}
