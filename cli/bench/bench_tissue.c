/*
 * bench_tissue.c: solver tissue: 5 ms substeps at the moment of strongest contact, then whole frames.
 *
 * The scenes are those of bench_layers.c, so that both solvers can be compared. The error of a frame is the distance
 * from substeps of a quarter of the default with five times its iterations.
 */
#include "bench.h"

typedef struct tissue_scene {
    const char *name, *character, *clip;
    double resolution, time; /* time: of the clip at which the measured steps begin */
    double dt;
    int steps, threads;
    cutis_setting setting;
    bool compared; /* with the reference */
} tissue_scene;

static int tissue_run(bench_context *context)
{
    /* what is timed, and against what */
    static const double substep = 0.005, frame = 1.0 / 30;
    static const cutis_setting many = {"iterations", "40"};
    static const tissue_scene scenes[] = {
        {"tissue arm", "arm", "flex", 1, 1.0, substep, 4, 2, {NULL, NULL}, false},
        {"tissue arm, one thread", "arm", "flex", 1, 1.0, substep, 4, 1, {NULL, NULL}, false},
        {"tissue hand", "hand", "fist", 1, 1.2, substep, 4, 2, {NULL, NULL}, false},
        {"tissue man", "man", "walk", 1, 0.5, substep, 4, 2, {NULL, NULL}, false},
        {"frame arm flex", "arm", "flex", 1, 1.0, frame, 2, 2, {NULL, NULL}, false},
        {"frame man walk", "man", "walk", 1, 0.5, frame, 2, 2, {NULL, NULL}, false},
        {"frame shimmy", "man", "shimmy", 0.2, 0.6, frame, 2, 2, {NULL, NULL}, true},
        {"  4 iterations", "man", "shimmy", 0.2, 0.6, frame, 2, 2, {"iterations", "4"}, true},
        {"  15 iterations", "man", "shimmy", 0.2, 0.6, frame, 2, 2, {"iterations", "15"}, true},
    };
    const bench_clip reference = {.solver = "tissue", .settings = &many, .setting_count = 1, .substep = substep / 4};

    /* a row each */
    int status = CLI_OK;
    for (int i = 0; i < CLI_COUNT(scenes) && status == CLI_OK; i++) {
        const tissue_scene *scene = scenes + i;
        bench_clip clip = {.solver = "tissue",
                           .character = scene->character,
                           .clip = scene->clip,
                           .resolution = scene->resolution,
                           .time = scene->time,
                           .settings = &scene->setting,
                           .setting_count = scene->setting.key != NULL,
                           .dt = scene->dt,
                           .steps = scene->steps,
                           .substep = substep,
                           .reference = scene->compared ? &reference : NULL};
        bench_row row = {.name = scene->name, .element = "wedges", .threads = scene->threads};
        status = bench_clip_run(context, &clip, &row);
    }
    return status;
}

const bench bench_tissue = {"tissue", "a 5 ms step and a frame of 1/30 s of solver tissue", tissue_run};
