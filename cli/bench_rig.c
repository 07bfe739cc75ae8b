/*
 * bench_rig.c: automatic rigging and in-betweens, beside Table 1 of Bian et al. 2018 (an Intel machine of 2017).
 *
 * VI: curve finding, SC: skeleton creation, SD: skin deformation of one frame. The paper's meshes are of 7,207 and
 * 13,201 vertices; the zoo's cat and dancer have nearly as many. Their times do not hold the mesh's topology, which is
 * input to both.
 */
#include <math.h>

#include "bench.h"

/* The fastest of several runs; *rings is the number of curves. */
static int time_rig(const bench_context *context, const cutis_character *character, double *curve_ms,
                    double *skeleton_ms)
{
    double end = cli_clock() + bench_seconds(context);
    *curve_ms = *skeleton_ms = HUGE_VAL;
    for (int i = 0; (i < 3 || cli_clock() < end) && !cli_interrupted(); i++) {
        cutis_rig_def def = cutis_rig_def_default();
        cutis_rig *rig;
        cutis_error error;
        def.character = character;
        if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) return cli_library_error(&error);
        *curve_ms = fmin(*curve_ms, rig->curve_ms);
        *skeleton_ms = fmin(*skeleton_ms, rig->skeleton_ms);
        cutis_rig_destroy(rig);
    }
    return CLI_OK;
}

static int time_deformation(const bench_context *context, const cutis_character *character, double *ms)
{
    cutis_model_def def = cutis_model_def_default();
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    cutis_error error;
    int status = CLI_OK;
    def.character = character;
    def.solver = "curves";
    if (cutis_model_build(&def, &model, &error) != CUTIS_OK ||
        cutis_state_create(model, NULL, &state, &error) != CUTIS_OK) {
        status = cli_library_error(&error);
    } else {
        cutis_clip_motion clip = {character, 0, 0};
        cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}};
        bench_row row = {0};
        status = bench_steps(context, model, state, &input, 1.0 / 60, 20, &row);
        *ms = row.ms;
    }
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return status;
}

static int time_character(bench_context *context, const char *name, double resolution, bool deform,
                          const double paper[4])
{
    cutis_character *character;
    cutis_error error;
    if (cutis_zoo_make(name, resolution, NULL, &character, &error) != CUTIS_OK) return cli_library_error(&error);
    double parts[3] = {0, 0, 0};
    int status = time_rig(context, character, &parts[0], &parts[1]);
    if (status == CLI_OK && deform) status = time_deformation(context, character, &parts[2]);
    if (status == CLI_OK && cli_interrupted()) status = CLI_INTERRUPTED;
    if (status == CLI_OK) {
        bench_row row = {.name = name,
                         .element = "vertices",
                         .count = character->vertex_count,
                         .threads = 1,
                         .ms = parts[0] + parts[1] + parts[2],
                         .paper_ms = paper[3],
                         .part_count = deform ? 3 : 2,
                         .part_names = {"curves", "skeleton", "deformation"}};
        for (int k = 0; k < 3; k++) row.part_ms[k] = parts[k], row.part_paper_ms[k] = paper[k];
        bench_add(context, &row);
    }
    cutis_character_destroy(character);
    return status;
}

static int run(bench_context *context)
{
    static const double cat[4] = {1.32, 0.269, 1.517, 3.106}, dancer[4] = {2.03, 0.431, 2.830, 5.291};
    static const double human[4] = {0, 0, 0, 5};
    int status = time_character(context, "cat", 1, true, cat);
    if (status == CLI_OK) status = time_character(context, "dancer", 1, true, dancer);
    if (status == CLI_OK) status = time_character(context, "man", 3.64, false, human);
    return status;
}

const bench bench_rig = {"rig", "curve finding, skeleton and in-betweens, beside Table 1 of Bian et al. 2018", run};
