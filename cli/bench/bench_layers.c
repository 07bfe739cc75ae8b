/*
 * bench_layers.c: solver layers beside Table 1 of Deul and Bender 2013, and its sums along paths beside naive ones.
 *
 * The paper's three models have their counterparts in the zoo, with about as many points: one 5 ms substep at the
 * moment of strongest contact of each clip, everything on, on two threads. The paper's times are of four cores of
 * 2011; it gives elasticity, volume and the total.
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
                       .steps = 4};
    bench_row row = {.name = scene->name, .element = "particles", .threads = scene->threads, .paper_ms = scene->total};
    row.part_paper_ms[0] = scene->elasticity;
    row.part_paper_ms[2] = scene->volume;
    return bench_clip_run(context, &clip, &row);
}

static int layers_run(bench_context *context)
{
    static const layers_scene scenes[] = {
        {"layers arm", "arm", "flex", 1.0, {{"iterations", "20"}}, 1, 68.4, 1.8, 77.5, 2},
        {"layers hand", "hand", "fist", 1.2, {{"iterations", "15"}}, 1, 131.7, 3.7, 144.1, 2},
        {"layers man", "man", "walk", 0.5, {{"iterations", "15"}}, 1, 172.6, 4.8, 191.8, 2},
    };
    int status = CLI_OK;
    for (int i = 0; i < CLI_COUNT(scenes) && status == CLI_OK; i++) status = scene_run(context, scenes + i);
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
    int status = CLI_OK;
    for (int i = 0; i < CLI_COUNT(scenes) && status == CLI_OK; i++) status = scene_run(context, scenes + i);
    return status;
}

const bench bench_layers = {"layers", "a 5 ms step of solver layers beside the paper's Table 1", layers_run};
const bench bench_layers_sums = {"layers_sums", "sums along paths against naive sums, solver layers", sums_run};
