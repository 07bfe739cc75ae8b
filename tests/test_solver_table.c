/* The table of solvers: every entry declares itself fully, and outputs are what their entries say. */
#include "testing.h"

#include <glob.h>

#include "solvers/layers/layers_limits.h"
#include "solvers/solver.h"

static void parameters_are_declared_in_full(void **unused)
{
    (void)unused;
    for (int s = 0; s < solver_table_count; s++) {
        const cutis_solver_info *info = &solver_table[s]->info;
        for (int i = 0; i < info->parameter_count; i++) {
            const cutis_parameter *p = &info->parameters[i];
            assert_true(p->name && p->name[0] && p->unit && p->help && p->help[0]);
            assert_int_equal(solver_parameter_index(solver_table[s], p->name), i);
            bool number = p->type == CUTIS_PARAMETER_FLOAT || p->type == CUTIS_PARAMETER_INT;
            if (number) assert_true(p->min < p->max && p->default_value >= p->min && p->default_value <= p->max);
            assert_true((p->type == CUTIS_PARAMETER_CHOICE) == (p->choices != NULL));
        }
    }
}

/* One vocabulary: a name means the same in every solver, in a unit of a short list. */
static void names_and_units_mean_the_same_everywhere(void **unused)
{
    (void)unused;
    static const char *const units[] = {"",    "m", "m/s",   "m/s2", "s",      "1/s",    "Hz",
                                        "kPa", "N", "kg/m3", "size", "size/s", "size/s2"};
    for (int s = 0; s < solver_table_count; s++) {
        const cutis_solver_info *info = &solver_table[s]->info;
        for (int i = 0; i < info->parameter_count; i++) {
            const cutis_parameter *p = &info->parameters[i];
            bool known = false;
            for (size_t u = 0; u < sizeof units / sizeof *units; u++) known |= strcmp(units[u], p->unit) == 0;
            if (!known) fail_msg("%s.%s: unit '%s'", info->name, p->name, p->unit);
            for (int other = 0; other < s; other++) {
                int index = solver_parameter_index(solver_table[other], p->name);
                if (index < 0) continue;
                const cutis_parameter *q = &solver_table[other]->info.parameters[index];
                if (p->type != q->type || strcmp(p->unit, q->unit) != 0)
                    fail_msg("%s: '%s' in %s, '%s' in %s", p->name, p->unit, info->name, q->unit,
                             solver_table[other]->info.name);
            }

            /* a name of before is no name of now, and belongs to one parameter */
            if (p->former) assert_int_equal(solver_parameter_index(solver_table[s], p->former), -1);
        }
        for (int i = 0; i < info->output_count; i++) {
            bool known = false;
            for (size_t u = 0; u < sizeof units / sizeof *units; u++)
                known |= strcmp(units[u], info->outputs[i].unit) == 0;
            assert_true(known);
        }
    }
}

static void roles_and_flags_agree(void **unused)
{
    (void)unused;
    int baselines = 0, preferred = 0;
    for (int s = 0; s < solver_table_count; s++) {
        const cutis_solver_info *info = &solver_table[s]->info;
        int collision = solver_role_index(solver_table[s], CUTIS_PARAMETER_SELF_COLLISION);
        if (collision >= 0) {
            assert_int_equal(info->parameters[collision].type, CUTIS_PARAMETER_BOOL);
            assert_true(info->flags & CUTIS_SOLVER_SELF_CONTACT);
        }
        for (int i = 0; i < info->parameter_count; i++)
            if (info->parameters[i].role == CUTIS_PARAMETER_DAMPING)
                assert_string_equal(info->parameters[i].unit, "1/s");
        assert_true((info->substep == 0) == ((info->flags & CUTIS_SOLVER_GEOMETRIC) != 0));
        baselines += (info->flags & CUTIS_SOLVER_BASELINE) != 0;
        preferred += (info->flags & CUTIS_SOLVER_PREFERRED) != 0;
    }
    assert_int_equal(baselines, 1);
    assert_int_equal(preferred, 1);
    assert_string_equal(cutis_model_def_default().solver, cutis_solver_with(CUTIS_SOLVER_BASELINE)->name);
    assert_true(cutis_solver_with(CUTIS_SOLVER_BASELINE | CUTIS_SOLVER_SURFACE) == NULL);
}

/* What each role promises to those who act on it. */
static void role_hold(const cutis_output_info *info)
{
    static const struct {
        cutis_domain domain;
        int components;
    } roles[] = {[CUTIS_OUTPUT_TEXCOORDS] = {CUTIS_DOMAIN_CORNER, 2},
                 [CUTIS_OUTPUT_SLIDING] = {CUTIS_DOMAIN_VERTEX, 3},
                 [CUTIS_OUTPUT_TOUCH] = {CUTIS_DOMAIN_VERTEX, 3},
                 [CUTIS_OUTPUT_TISSUE] = {CUTIS_DOMAIN_VERTEX, 3},
                 [CUTIS_OUTPUT_ELEMENTS] = {CUTIS_DOMAIN_ELEMENT, 3},
                 [CUTIS_OUTPUT_ELEMENT_LAYER] = {CUTIS_DOMAIN_ELEMENT, 1},
                 [CUTIS_OUTPUT_ELEMENT_EDGE] = {CUTIS_DOMAIN_ELEMENT, 1},
                 [CUTIS_OUTPUT_TEXCOORDS_STEADY] = {CUTIS_DOMAIN_CORNER, 2}};
    if (info->role == CUTIS_OUTPUT_PLAIN) return;
    assert_int_equal(info->domain, roles[info->role].domain);
    assert_int_equal(info->components, roles[info->role].components);
}

static void outputs_are_what_they_are_declared_to_be(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 0.1);
    for (int s = 0; s < solver_table_count; s++) {
        const cutis_solver_info *info = &solver_table[s]->info;
        if (info->output_count == 0) continue;
        cutis_model *model = test_build_def((cutis_model_def){.character = c, .solver = info->name});
        cutis_state *state = test_state(model, NULL);
        for (int i = 0; i < info->output_count; i++) {
            const cutis_output_info *out = &info->outputs[i];
            assert_true(out->name && out->name[0] && out->unit && out->help && out->help[0]);
            assert_true(out->range[0] <= out->range[1]);
            role_hold(out);

            cutis_output output;
            assert_true(cutis_state_output(model, state, out->name, &output));
            int counts[] = {[CUTIS_DOMAIN_VERTEX] = c->vertex_count, [CUTIS_DOMAIN_CORNER] = c->corner_count};
            assert_int_equal(output.domain, out->domain);
            assert_int_equal(output.components, out->components);
            if (out->domain != CUTIS_DOMAIN_ELEMENT) assert_int_equal(output.count, counts[out->domain]);

            /* and found by its role */
            bool found = false;
            const cutis_output_info *other;
            for (int k = 0; (other = cutis_model_find_output(model, out->role, k)); k++) found |= other == out;
            assert_true(found);
        }
        cutis_output none;
        assert_false(cutis_state_output_role(model, state, CUTIS_OUTPUT_TOUCH, 7, &none));
        cutis_state_destroy(state);
        cutis_model_destroy(model);
    }
    cutis_character_destroy(c);
}

/* ---- constants ---- */

#define NAME_OF_TEST(type, name, value, unit, meaning, origin, test) {#name, unit, meaning, origin, test},

/* Whether some tests/test_*.c has a test of that name. */
static bool test_exists(const char *name)
{
    char wanted[160];
    bool found = false;
    glob_t files;
    snprintf(wanted, sizeof wanted, "static void %s(void **", name);
    if (glob("tests/test_*.c", 0, NULL, &files)) return false;
    for (size_t i = 0; i < files.gl_pathc && !found; i++) {
        static char text[1 << 18];
        FILE *file = fopen(files.gl_pathv[i], "r");
        if (!file) continue;
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        found = strstr(text, wanted) != NULL;
    }
    globfree(&files);
    return found;
}

static void every_limit_says_where_it_comes_from_and_which_test_holds_it(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *unit, *meaning, *origin, *test;
    } limits[] = {LAYERS_LIMITS(NAME_OF_TEST)};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        assert_true(limits[i].meaning[0] && limits[i].origin[0]);
        if (!test_exists(limits[i].test)) fail_msg("%s: there is no test %s", limits[i].name, limits[i].test);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_declared_in_full),
        cmocka_unit_test(names_and_units_mean_the_same_everywhere),
        cmocka_unit_test(roles_and_flags_agree),
        cmocka_unit_test(outputs_are_what_they_are_declared_to_be),
        cmocka_unit_test(every_limit_says_where_it_comes_from_and_which_test_holds_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
