/*
 * bench_slide.c: one step of 4 ms of the solver slide, in scenes of the size of those of Table 2 of Li et al. 2013,
 * one thread; and of a tenfold mesh, for the growth of cost.
 *
 * The paper gives its times "per frame" and takes steps of 1 ms, but does not tell how long a frame is. Rows "NAME"
 * compare a step with the paper's time, rows "NAME, frame" a frame of 1/30 s, 8.3 steps, with it.
 *
 * Meshes are those of the zoo nearest above the paper's count of unknowns (two a vertex); hand and dinosaur are not
 * made that coarse, so an arm stands for them. The time is the mean over the steps of 20 ms, their outputs
 * included, in a piece of the clip in which the body moves most.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { STEPS = 5 }; /* that are timed at once, of which outputs are made once */
static const double step_seconds = 0.004;

typedef struct scene {
    const char *name, *character, *clip;
    int dofs; /* at least */
    double paper_ms, paper_solve_ms;
    double start; /* seconds of the clip */
    const char *settings[4];
} scene;

static const scene scenes[] = {
    {"slide torus", "torus", "squash", 1152, 22.44, 14.73, 0.2, {NULL}},
    {"slide cylinder", "cylinder", "twist", 1320, 33.72, 25.67, 0.3, {"bones.turn_8.attach", "1"}},
    {"slide head", "neck", "look_up", 1724, 50.75, 39.95, 0.3, {"bones.chest.attach", "1"}},
    {"slide hand", "arm", "flex", 516, 9.00, 5.83, 0.3, {"bones.hand.attach", "1"}},
    {"slide cloth", "man", "shimmy", 3320, 164.04, 144.75, 0.3, {"bones.head.attach", "1"}},
    {"slide torus shaken", "torus", "shake", 1152, 23.37, 14.45, 0.8, {"zeta", "0"}},
    {"slide dinosaur", "arm", "shake", 560, 6.27, 2.73, 0.6, {"zeta", "0.5"}},
    {"slide 3,000", "torus", "squash", 3000, 0, 0, 0.2, {NULL}},
    {"slide 30,000", "torus", "squash", 30000, 0, 0, 0.2, {NULL}},
};

/* The coarsest character with at least that many unknowns. */
static cutis_character *make_character(const scene *s)
{
    cutis_error error;
    cutis_character *c;

    /* bisection of the resolution */
    double low = 0.1, high = 20, chosen = 20;
    for (int i = 0; i < 12; i++) {
        double middle = i == 0 ? low : 0.5 * (low + high);

        if (cutis_zoo_make(s->character, middle, NULL, &c, &error) != CUTIS_OK) {
            cli_library_error(&error);
            return NULL;
        }

        /* twice the points are the degrees of freedom */
        bool enough = 2 * c->point_count >= s->dofs;
        cutis_character_destroy(c);

        if (enough)
            chosen = high = middle;
        else
            low = middle;
        if (enough && i == 0) break;
    }

    /* the one that was chosen */
    if (cutis_zoo_make(s->character, chosen, NULL, &c, &error) == CUTIS_OK) return c;
    cli_library_error(&error);
    return NULL;
}

static int time_scene(bench_context *context, const scene *s)
{
    cutis_error error;
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    cutis_character *c = make_character(s);
    if (!c) return CLI_FAILURE;

    /* the scene's own settings, at the paper's step */
    cutis_setting settings[2];
    int setting_count = 0;
    for (; setting_count < 2 && s->settings[2 * setting_count]; setting_count++)
        settings[setting_count] = (cutis_setting){s->settings[2 * setting_count], s->settings[2 * setting_count + 1]};

    cutis_model_def def = cutis_model_def_default();
    def.character = c;
    def.solver = "slide";
    def.substep = step_seconds;
    def.settings = settings;
    def.setting_count = setting_count;

    int status;
    if (cutis_model_build(&def, &model, &error) != CUTIS_OK ||
        cutis_state_create(model, NULL, &state, &error) != CUTIS_OK) {
        status = cli_library_error(&error);
    } else {
        /* into the motion, then the timed steps */
        cutis_clip_motion motion = {c, cutis_character_find_clip(c, s->clip), 0};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
        cutis_state_step(model, state, &input, s->start);

        bench_row row = {.name = s->name, .element = "dofs", .count = 2L * c->point_count, .threads = 1};
        row.paper_ms = s->paper_ms;
        row.part_paper_ms[2] = s->paper_solve_ms;
        status = bench_steps(context, model, state, &input, STEPS * step_seconds, 1, &row);

        row.ms /= STEPS;
        for (int i = 0; i < row.part_count; i++) row.part_ms[i] /= STEPS;
        if (status == CLI_OK) bench_add(context, &row);

        /* the other reading of the paper's time */
        static char names[CLI_COUNT(scenes)][48];
        char *name = names[s - scenes];
        snprintf(name, sizeof names[0], "%s, frame", s->name);
        row.name = name;
        row.ms /= 30 * step_seconds;
        for (int i = 0; i < row.part_count; i++) row.part_ms[i] /= 30 * step_seconds;
        if (status == CLI_OK && s->paper_ms > 0) bench_add(context, &row);
    }

    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
    return status;
}

static int run_slide(bench_context *context)
{
    int status = CLI_OK;
    for (int i = 0; i < CLI_COUNT(scenes) && status == CLI_OK; i++) status = time_scene(context, &scenes[i]);
    return status;
}

const bench bench_slide = {"slide", "skin that slides over the body: one step of 4 ms, one thread", run_slide};
