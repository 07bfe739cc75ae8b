/*
 * checks.c: bounds on figures, as text and decided.
 */
#include <math.h>
#include <string.h>

#include "base/core.h"
#include "cutis/measure.h"

void cutis_quality_figures(const cutis_quality *q, cutis_figure *figures)
{
    const cutis_figure all[CUTIS_QUALITY_FIGURES] = {
        {"volume_error_max", q->volume_error_max},
        {"volume_error_mean", q->volume_error_mean},
        {"volume_min_ratio", q->volume_min_ratio},
        {"volume_union", q->volume_union},
        {"self_intersections_max", q->self_intersections_max},
        {"self_intersections_mean", q->self_intersections_mean},
        {"self_intersections_rest", q->self_intersections_rest},
        {"stretch_p99", q->stretch_p99},
        {"area_distortion_p99", q->area_distortion_p99},
        {"acceleration_rms", q->acceleration_rms},
        {"min_section_ratio", q->min_section_ratio},
        {"penetration_max", q->penetration_max},
        {"non_finite", q->non_finite},
    };
    memcpy(figures, all, sizeof all);
}

/* One bound from its text, which is changed. */
static cutis_result parse_one(char *text, const char *const *names, int name_count, cutis_check *check,
                              cutis_error *error)
{
    /* "verdict" alone: it is not bad */
    if (strcmp(text + strspn(text, " "), "verdict") == 0) strcpy(text, "verdict<2");

    /* the name, the relation, the number */
    char *name = text + strspn(text, " ");
    char *end = name + strcspn(name, "<>= ");
    char *relation = end + strspn(end, " ");
    size_t length = strspn(relation, "<>=");
    const char *number = relation + length + strspn(relation + length, " ");

    char sign[4] = "";
    if (length >= 1 && length <= 2) memcpy(sign, relation, length);
    if (strcmp(sign, "==") == 0) sign[1] = 0;

    bool known = strcmp(sign, "<") == 0 || strcmp(sign, "<=") == 0 || strcmp(sign, ">") == 0 ||
                 strcmp(sign, ">=") == 0 || strcmp(sign, "=") == 0;

    double bound = 0;
    bool fine = known && text_number(&number, number + strlen(number), &bound) && isfinite(bound);
    if (!fine || number[strspn(number, " ")] != 0)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "the bound '%s' is not of the form NAME<NUMBER (or <=, >, >=, =)",
                         text);

    /* a figure of that name */
    *end = 0;
    name_search search = name_search_start(name);
    for (int i = 0; i < name_count; i++) {
        name_search_offer(&search, names[i]);
        if (strcmp(name, names[i]) != 0) continue;
        *check = (cutis_check){.bound = bound, .value = (double)NAN};
        strncpy(check->name, name, sizeof check->name - 1);
        memcpy(check->relation, sign, sizeof sign);
        return CUTIS_OK;
    }

    if (search.nearest)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no measure '%s'; did you mean '%s'?", name,
                         search.nearest);
    return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no measure '%s'; docs/reference/report.md lists them",
                     name);
}

cutis_result cutis_checks_parse(const char *text, const char *const *names, int name_count, cutis_check *checks,
                                int capacity, int *count, cutis_error *error)
{
    *count = 0;

    while (*text) {
        char copy[128];
        size_t length = strcspn(text, ","), kept = MIN(length, sizeof copy - 1);

        memcpy(copy, text, kept);
        copy[kept] = 0;

        if (copy[strspn(copy, " ")]) {
            cutis_check check;
            cutis_result result = parse_one(copy, names, name_count, &check, error);
            if (result != CUTIS_OK) return result;
            if (*count < capacity) checks[*count] = check;
            ++*count;
        }
        text += length + (text[length] == ',');
    }

    return *count ? CUTIS_OK : error_set(error, CUTIS_ERROR_ARGUMENT, "the list of bounds is empty");
}

int cutis_checks_decide(cutis_check *checks, int check_count, const cutis_figure *figures, int figure_count)
{
    int failed = 0;

    for (int i = 0; i < check_count; i++) {
        cutis_check *check = &checks[i];
        const char *r = check->relation;

        check->value = (double)NAN;
        for (int k = 0; k < figure_count; k++)
            if (strcmp(figures[k].name, check->name) == 0) check->value = figures[k].value;

        bool equal = check->value == check->bound;
        check->passed = (r[0] == '<' && check->value < check->bound) || (r[0] == '>' && check->value > check->bound) ||
                        ((r[0] == '=' || r[1] == '=') && equal);
        failed += !check->passed;
    }

    return failed;
}
