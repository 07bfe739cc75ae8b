/*
 * bench_layers.c: solver layers beside Table 1 of Deul and Bender 2013, and its sums along paths beside naive ones.
 *
 * The paper's three models have their counterparts in the zoo, with about as many points: one 5 ms substep at the
 * moment of strongest contact of each clip, everything on, on two threads. The paper's times are of four cores of
 * 2011; it gives elasticity, volume and the total.
 *
 * Then whole frames at 30 a second, for substeps of several lengths and numbers of iterations, with their error against
 * substeps of a quarter of the default and five times its iterations.
 */
#include "bench.h"

typedef struct layers_scene {
    const char *name, *character, *clip;
    double time; /* of the clip at which the measured steps begin */
    cutis_setting settings[4];
    int setting_count;
    double elasticity, volume, total; /* the paper's milliseconds; 0: none */
    int threads;
} layers_scene;

static int scene_run(bench_context *context, const layers_scene *scene)
{
    bench_clip clip = {.solver = "layers",
                       .character = scene->character,
                       .clip = scene->clip,
                       .resolution = 1,
                       .time = scene->time,
                       .settings = scene->settings,
                       .setting_count = scene->setting_count,
                       .dt = 0.005,
                       .steps = 4,
                       .substep = 0.005};

    bench_row row = {.name = scene->name, .element = "particles", .threads = scene->threads, .paper_ms = scene->total};
    row.part_paper_ms[0] = scene->elasticity;
    row.part_paper_ms[2] = scene->volume;

    return bench_clip_run(context, &clip, &row);
}

/* A frame at 30 a second. */
typedef struct layers_frame {
    const char *name, *character, *clip;
    double resolution, time, substep; /* substep 0: the default */
    const char *iterations;           /* NULL: the default */
} layers_frame;

static int frame_run(bench_context *context, const layers_frame *frame)
{
    const cutis_setting many = {"iterations", "40"}, few = {"iterations", frame->iterations};
    bench_clip exact = {.solver = "layers", .settings = &many, .setting_count = 1, .substep = 1.0 / 480};
    bench_clip clip = {.solver = "layers",
                       .character = frame->character,
                       .clip = frame->clip,
                       .resolution = frame->resolution,
                       .time = frame->time,
                       .settings = &few,
                       .setting_count = frame->iterations != NULL,
                       .dt = 1.0 / 30,
                       .steps = 2,
                       .substep = frame->substep,
                       .reference = &exact};

    bench_row row = {.name = frame->name, .element = "particles", .threads = 2};
    return bench_clip_run(context, &clip, &row);
}

static int layers_run(bench_context *context)
{
    static const layers_scene scenes[] = {
        {"layers arm", "arm", "flex", 1.0, {{"iterations", "20"}}, 1, 68.4, 1.8, 77.5, 2},
        {"layers hand", "hand", "fist", 1.2, {{"iterations", "15"}}, 1, 131.7, 3.7, 144.1, 2},
        {"layers man", "man", "walk", 0.5, {{"iterations", "15"}}, 1, 172.6, 4.8, 191.8, 2},
    };
    static const layers_frame frames[] = {
        {"frame arm flex", "arm", "flex", 1, 1.0, 0, NULL},
        {"frame man walk", "man", "walk", 1, 0.5, 0, NULL},
        {"frame shimmy", "man", "shimmy", 0.2, 0.6, 0, NULL},
        {"  5 ms, 4 iterations", "man", "shimmy", 0.2, 0.6, 0, "4"},
        {"  5 ms, 15 iterations", "man", "shimmy", 0.2, 0.6, 0, "15"},
        {"  8.3 ms, 8 iterations", "man", "shimmy", 0.2, 0.6, 1.0 / 120, NULL},
        {"  16.7 ms, 8 iterations", "man", "shimmy", 0.2, 0.6, 1.0 / 60, NULL},
        {"  33 ms, 15 iterations", "man", "shimmy", 0.2, 0.6, 1.0 / 30, "15"},
    };

    /* the paper's scenes, then frames at other steps and iterations */
    int status = CLI_OK;
    for (int i = 0; i < CLI_COUNT(scenes) && status == CLI_OK; i++) status = scene_run(context, scenes + i);
    for (int i = 0; i < CLI_COUNT(frames) && status == CLI_OK; i++) status = frame_run(context, frames + i);
    return status;
}

/* Elasticity alone, one thread, the arm: regions of 1 to 4 rings, and 3 rings without paths. */
static int sums_run(bench_context *context)
{
#define SUMS_SCENE(name, rings, summation)                                                                             \
    {                                                                                                                  \
        name, "arm", "flex", 0.2,                                                                                      \
            {{"radius", rings}, {"summation", summation}, {"self_collision", "off"}, {"volume", "off"}}, 4, 0, 0, 0, 1 \
    }
    static const layers_scene scenes[] = {
        SUMS_SCENE("paths w=1", "1", "fast"),  SUMS_SCENE("paths w=2", "2", "fast"),
        SUMS_SCENE("paths w=3", "3", "fast"),  SUMS_SCENE("paths w=4", "4", "fast"),
        SUMS_SCENE("naive w=3", "3", "naive"),
    };

    /* the cost of each radius */
    int status = CLI_OK;
    for (int i = 0; i < CLI_COUNT(scenes) && status == CLI_OK; i++) status = scene_run(context, scenes + i);
    return status;
}

const bench bench_layers = {"layers", "a 5 ms step of solver layers beside the paper's Table 1", layers_run};
const bench bench_layers_sums = {"layers_sums", "sums along paths against naive sums, solver layers", sums_run};
