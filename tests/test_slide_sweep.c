/*
 * test_slide_sweep.c: the solver slide stays sound in every material on every body: nothing reset, every step
 * converged, no triangle of skin inside out.
 *
 * Run by itself it takes the short form: coarse characters of the zoo, a part of every clip. scripts/slide_sweep.sh
 * runs one of its scenes at a time, with whole clips, all resolutions and the characters of ../shared/models:
 *
 *     test_slide_sweep CHARACTER RESOLUTION ZETA SECONDS [MATERIAL...]
 *
 * prints a row of the table for every clip, of which it runs the first SECONDS (0: all), and exits with 1 when one is
 * not sound, with 2 when there is no such character; `zoo` is all characters of the zoo.
 */
#include "slide_scenes.h"

static const char *const materials[] = {"stvk", "neohookean", "fung"};

/* What went wrong in a run. */
typedef struct findings {
    int steps, resets, unconverged, inside_out;
} findings;

/* Triangles of skin that are inside out after the last step. */
static int count_inside_out(const cutis_model *model, cutis_state *state)
{
    const slide_model *m;
    slide_scratch s;
    scene_energy(model, state, &m, &s);
    int count = 0;
    for (int t = 0; t < m->free_triangle_count; t++) count += !(s.energies[m->free_triangles[t]] < HUGE_VAL);
    return count;
}

/* A clip from its beginning, for `seconds` or to its end. */
static findings run_clip(const cutis_character *c, int clip, const char *const *settings, double seconds)
{
    findings found = {0};
    cutis_model *model = test_build(c, "slide", settings);
    cutis_state *state = test_state(model, NULL);
    scene_motion motion = {.character = c, .clip = clip};
    cutis_step_input input = {.motion = {&motion, scene_sample}};
    double end = clip < 0 ? 0.1 : (double)(c->clips[clip].end - c->clips[clip].start);

    /* on the first pose, as a bake begins */
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof *joints);
    scene_sample(&motion, 0, joints);
    cutis_state_reset(model, state, joints);
    free(joints);

    /* frame by frame */
    for (double time = 0.02; time < fmin(end, seconds) + 0.01; time += 0.02) {
        cutis_state_step(model, state, &input, time - cutis_state_time(state));
        const cutis_step_stats *stats = cutis_state_stats(model, state);
        found.steps += 5;
        found.resets += stats->repairs;
        found.unconverged += stats->unconverged;
        found.inside_out += count_inside_out(model, state);
    }
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return found;
}

static bool is_sound(findings f) { return f.resets == 0 && f.unconverged == 0 && f.inside_out == 0; }

/* ---- the short form ---- */

static void every_material_stays_sound(void **unused)
{
    (void)unused;
    test_is_heavy();
    findings all = {0};
    for (int i = 0; i < cutis_zoo_count(); i++) {
        cutis_character *c = test_zoo(cutis_zoo(i).name, 0.1);
        for (int k = 0; k < 3 * c->clip_count; k++) {
            /* materials and zeta by turns, so that each clip meets some and each material many */
            char material[32];
            snprintf(material, sizeof material, "material=%s", materials[(k + i) % 3]);
            const char *const settings[] = {material, k % 2 ? "zeta=0.3" : "zeta=1", NULL};
            findings found = run_clip(c, k % c->clip_count, settings, 0.3);
            if (!is_sound(found))
                print_message("%s %s %s %s: %d reset, %d unconverged, %d inside out\n", c->name,
                              c->clips[k % c->clip_count].name, material, settings[1], found.resets, found.unconverged,
                              found.inside_out);
            all.steps += found.steps;
            all.resets += found.resets;
            all.unconverged += found.unconverged;
            all.inside_out += found.inside_out;
        }
        cutis_character_destroy(c);
    }
    print_message("sweep: %d steps, %d reset, %d unconverged, %d inside out\n", all.steps, all.resets, all.unconverged,
                  all.inside_out);
    assert_true(all.steps > 1000);
    assert_true(is_sound(all));
}

/* ---- one scene of the whole form ---- */

static int sweep_character(const char *name, const char *resolution, const char *zeta, double seconds, char **chosen,
                           int chosen_count)
{
    /* the character */
    cutis_character *c = NULL;
    cutis_error error;
    cutis_result result = strchr(name, '.') ? cutis_character_load(name, NULL, &c, &error)
                                            : cutis_zoo_make(name, atof(resolution), NULL, &c, &error);
    if (result != CUTIS_OK) {
        fprintf(stderr, "%s: %s\n", name, error.text);
        return 2;
    }

    /* a row for each clip and material */
    int status = 0;
    for (int k = 0; k < (chosen_count > 0 ? chosen_count : 3); k++) {
        char material[32], follow[32];
        const char *kind = chosen_count > 0 ? chosen[k] : materials[k];
        snprintf(material, sizeof material, "material=%s", kind);
        snprintf(follow, sizeof follow, "zeta=%s", zeta);
        const char *const settings[] = {material, follow, NULL};
        for (int clip = c->clip_count > 0 ? 0 : -1; clip < c->clip_count; clip++) {
            findings found = run_clip(c, clip, settings, seconds);
            printf("| %s | %s | %s | %s | %s | %d | %d | %d | %d | %d |\n", c->name, resolution,
                   clip < 0 ? "rest" : c->clips[clip].name, kind, zeta, 2 * c->point_count, found.steps, found.resets,
                   found.unconverged, found.inside_out);
            fflush(stdout);
            if (!is_sound(found)) status = 1;
        }
    }
    cutis_character_destroy(c);
    return status;
}

int main(int count, char **arguments)
{
    if (count > 4) {
        bool zoo = strcmp(arguments[1], "zoo") == 0;
        double seconds = atof(arguments[4]) > 0 ? atof(arguments[4]) : HUGE_VAL;
        int status = 0;
        for (int i = 0; i < (zoo ? cutis_zoo_count() : 1); i++)
            status |= sweep_character(zoo ? cutis_zoo(i).name : arguments[1], arguments[2], arguments[3], seconds,
                                      arguments + 5, count - 5);
        return status;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_material_stays_sound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
