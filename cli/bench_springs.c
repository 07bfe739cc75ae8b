/*
 * bench_springs.c: images a second of solver springs beside what Cordier and Magnenat-Thalmann tell.
 *
 * The paper computes one image of a hand of 3,000 polygons in a second, on one processor of 400 MHz. Here an image is a
 * frame of 1/30 s, contact and self-collision on, on two threads: the hand in the middle of closing to a fist, and a
 * man of 12,000 polygons in the middle of a step. Polygons are triangles.
 */
#include "bench.h"

typedef struct springs_scene {
    const char *name, *character, *clip;
    double resolution, time, paper_ms;
} springs_scene;

static int scene_run(bench_context *context, const springs_scene *scene)
{
    enum { THREADS = 2 };
    cutis_error error;
    cutis_character *character = NULL;
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    cutis_pool *pool = bench_pool(context, THREADS);
    int status = CLI_FAILURE;
    if (!pool) return status;
    if (cutis_zoo_make(scene->character, scene->resolution, NULL, &character, &error) != CUTIS_OK)
        return cli_library_error(&error);
    cutis_model_def def = cutis_model_def_default();
    def.character = character;
    def.solver = "springs";
    def.jobs = cutis_pool_jobs(pool);
    if (cutis_model_build(&def, &model, &error) != CUTIS_OK ||
        cutis_state_create(model, NULL, &state, &error) != CUTIS_OK) {
        status = cli_library_error(&error);
    } else {
        cutis_clip_motion motion = {character, cutis_character_find_clip(character, scene->clip), 0.25};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}, .jobs = cutis_pool_jobs(pool)};
        cutis_state_step(model, state, &input, motion.lead_in + scene->time);
        bench_row row = {.name = scene->name,
                         .element = "vertices",
                         .count = character->vertex_count,
                         .threads = THREADS,
                         .paper_ms = scene->paper_ms};
        status = bench_steps(context, model, state, &input, 1 / 30.0, 10, &row);
        if (status == CLI_OK) bench_add(context, &row);
    }
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(character);
    return status;
}

static int springs_run(bench_context *context)
{
    static const springs_scene scenes[] = {
        {"springs hand", "hand", "fist", 0.305, 0.8, 1000},
        {"springs man", "man", "walk", 0.7, 0.4, 0},
    };
    int status = CLI_OK;
    for (int i = 0; i < CLI_COUNT(scenes) && status == CLI_OK; i++) status = scene_run(context, scenes + i);
    return status;
}

const bench bench_springs = {"springs", "an image of solver springs beside the paper's one a second", springs_run};
