/*
 * bench_lattice.c: solver `lattice` beside its paper's Table 1 and Figure 8.
 *
 * A row's time is that of a frame of 1/60 s of a clip, with all there is to it: two substeps, the poses, the skin. The
 * paper's frame is one simulation step, without its mesh. Our characters stand in for the paper's: the resolution is
 * chosen so that there are as many voxels. The parts but the last are those of Figure 8.
 */
#include <stdio.h>

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
    const cutis_setting settings[] = {{"resolution", s->resolution}, {"region", s->region}};
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

const bench bench_lattice = {"lattice", "lattice beside its paper's Table 1: one frame of 1/60 s, one thread",
                             run_table};
const bench bench_region = {"region", "lattice with regions from 2 to 6 voxels wide, one thread", run_regions};
