/*
 * bench_lattice.c: solver `lattice` beside its paper's Table 1 and Figure 8.
 *
 * A row's time is that of a frame of 1/60 s of a clip, with all there is to it: two substeps, the poses, the skin. The
 * paper's frame is one simulation step, without its mesh. Our characters stand in for the paper's: the resolution is
 * chosen so that there are as many voxels. The parts but the last are those of Figure 8.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

/* Frames into the clip before the measurement, and frames of a run: few, so that most runs are undisturbed. */
enum { LEAD_FRAMES = 60, FRAMES = 2 };

typedef struct scene {
    const char *name, *character, *clip, *resolution, *region;
    double paper_ms;
} scene;

static int time_scene(bench_context *context, const scene *s)
{
    int status = CLI_FAILURE;
    cutis_error error;
    cutis_character *character = NULL;
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    /* as in the paper, the joints do not yield to contact: that is not the solver's time */
    const cutis_setting settings[] = {{"resolution", s->resolution}, {"region", s->region}, {"joints", "fixed"}};
    if (cutis_zoo_make(s->character, 1, NULL, &character, &error) != CUTIS_OK) return cli_library_error(&error);

    /* the model at the scene's resolution */
    cutis_model_def def = cutis_model_def_default();
    def.character = character;
    def.solver = "lattice";
    def.settings = settings;
    def.setting_count = CLI_COUNT(settings);
    if (cutis_model_build(&def, &model, &error) != CUTIS_OK ||
        cutis_state_create(model, NULL, &state, &error) != CUTIS_OK) {
        status = cli_library_error(&error);
    } else {
        /* past the lead-in, then the timed frames */
        cutis_clip_motion motion = {character, cutis_character_find_clip(character, s->clip), 0.5};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
        bench_row row = {.name = s->name,
                         .element = "voxels",
                         .count = cutis_model_get_info(model).element_count,
                         .threads = 1,
                         .paper_ms = s->paper_ms,
                         .each = "voxel"};

        for (int i = 0; i < LEAD_FRAMES; i++) cutis_state_step(model, state, &input, 1.0 / 60);
        status = bench_steps(context, model, state, &input, 1.0 / 60, FRAMES, &row);
        if (status == CLI_OK) bench_add(context, &row);
    }

    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(character);
    return status;
}

static int run_scenes(bench_context *context, const scene *scenes, int count)
{
    int status = CLI_OK;
    for (int i = 0; i < count && status == CLI_OK; i++) status = time_scene(context, &scenes[i]);
    return status;
}

static int run_table(bench_context *context)
{
    static const scene scenes[] = {
        {"lattice bunny d_r 3", "bunny", "dance", "43", "3", 19.47},
        {"lattice dancer at 64 d_r 3", "dancer", "jump", "64", "3", 36.36},
        {"lattice big bunny d_r 3", "bunny", "dance", "48", "3", 32.45},
        {"lattice small bunny d_r 2", "bunny", "dance", "25", "2", 5.47},
    };
    return run_scenes(context, scenes, CLI_COUNT(scenes));
}

static int run_regions(bench_context *context)
{
    static const scene scenes[] = {
        {"lattice d_r 2", "bunny", "dance", "43", "2", 0}, {"lattice d_r 3", "bunny", "dance", "43", "3", 0},
        {"lattice d_r 4", "bunny", "dance", "43", "4", 0}, {"lattice d_r 5", "bunny", "dance", "43", "5", 0},
        {"lattice d_r 6", "bunny", "dance", "43", "6", 0},
    };
    return run_scenes(context, scenes, CLI_COUNT(scenes));
}

/* ---- a crowd ---- */

enum { CROWD = 1000 };

typedef struct crowd {
    const cutis_model *model;
    cutis_state **states; /* (CROWD) */
    const cutis_character *character;
    int clip;
} crowd;

/* One frame of one instance; each is at an instant of its own, so that nothing is the same for two. */
static void crowd_step(void *context, int index)
{
    const crowd *c = context;
    cutis_clip_motion motion = {c->character, c->clip, 0.25 + 0.001 * index};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    cutis_state_step(c->model, c->states[index], &input, 1.0 / 60);
}

static int crowd_time(bench_context *context, const crowd *c, const cutis_jobs *jobs, bench_row *row)
{
    for (int i = 0; i < 30; i++) jobs->run(jobs->context, CROWD, crowd_step, (void *)c);
    double end = cli_clock() + bench_seconds(context);
    for (int i = 0; (i < 20 || cli_clock() < end) && !cli_interrupted(); i++) {
        double begin = cli_clock();
        jobs->run(jobs->context, CROWD, crowd_step, (void *)c);
        double ms = (cli_clock() - begin) * 1e3;
        if (i == 0 || ms < row->ms) row->ms = ms;
    }
    bench_add(context, row);
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

/* A coarse bunny, one substep a frame and the volume left alone, a thousand times. */
static int run_crowd(bench_context *context)
{
    cutis_error error;
    int status = CLI_FAILURE;
    crowd c = {0};
    cutis_character *bunny = NULL;
    cutis_model *model = NULL;
    static const cutis_setting settings[] = {{"resolution", "8"}, {"volume_stiffness", "0"}};

    cutis_pool *pool = bench_pool(context, 2);
    if (!pool) return status;
    if (cutis_zoo_make("bunny", 0.1, NULL, &bunny, &error) != CUTIS_OK) return cli_library_error(&error);

    cutis_model_def def = cutis_model_def_default();
    def.character = bunny;
    def.solver = "lattice";
    def.substep = 1.0 / 60;
    def.settings = settings;
    def.setting_count = CLI_COUNT(settings);
    cutis_result result = cutis_model_build(&def, &model, &error);

    c = (crowd){model, cli_allocate(CROWD, sizeof *c.states), bunny, cutis_character_find_clip(bunny, "dance")};
    for (int i = 0; i < CROWD; i++) c.states[i] = NULL;
    for (int i = 0; i < CROWD && result == CUTIS_OK; i++)
        result = cutis_state_create(model, NULL, &c.states[i], &error);

    /* all of them in each step */
    if (result == CUTIS_OK) {
        bench_row row = {.name = "lattice crowd of 1,000",
                         .element = "voxels",
                         .count = CROWD * cutis_model_get_info(model).element_count,
                         .threads = 2,
                         .each = "voxel"};
        status = crowd_time(context, &c, cutis_pool_jobs(pool), &row);
    } else {
        status = cli_library_error(&error);
    }

    for (int i = 0; i < CROWD; i++) cutis_state_destroy(c.states[i]);
    free(c.states);
    cutis_model_destroy(model);
    cutis_character_destroy(bunny);
    return status;
}

const bench bench_crowd = {
    "crowd", "1,000 instances of a coarse character under lattice: one frame of all, two threads", run_crowd};
const bench bench_lattice = {"lattice", "lattice beside its paper's Table 1: one frame of 1/60 s, one thread",
                             run_table};
const bench bench_region = {"region", "lattice with regions from 2 to 6 voxels wide, one thread", run_regions};
