/*
 * bench_springs.c: frames per second of solver springs beside the figures of Cordier and Magnenat-Thalmann.
 *
 * The paper computes one image of a hand of 3,000 polygons in a second, on one processor of 400 MHz. Here an image is a
 * frame of 1/30 s, contact and self-collision on, on two threads: the hand in the middle of closing to a fist, as a
 * closed fist, and with a soft cube in its grasp, from closing to lifting; a man of 12,000 polygons in the middle of a
 * step. Polygons are triangles.
 */
#include "bench.h"

static int springs_run(bench_context *context)
{
    static const struct {
        const char *name;
        bench_clip clip;
        double paper_ms;
    } scenes[] = {
        {"springs hand", {"springs", "hand", "fist", 0.305, 0.8, NULL, 0, 1 / 30.0, 10, 0, NULL, NULL}, 1000},
        {"springs fist", {"springs", "hand", "fist", 0.305, 1.3, NULL, 0, 1 / 30.0, 10, 0, NULL, NULL}, 1000},
        {"springs grasp", {"springs", "hand", "grasp", 0.305, 1.2, NULL, 0, 1 / 30.0, 60, 0, NULL, "cube"}, 1000},
        {"springs man", {"springs", "man", "walk", 0.7, 0.4, NULL, 0, 1 / 30.0, 10, 0, NULL, NULL}, 0},
    };

    int status = CLI_OK;
    for (int i = 0; i < CLI_COUNT(scenes) && status == CLI_OK; i++) {
        bench_row row = {.name = scenes[i].name, .element = "vertices", .threads = 2, .paper_ms = scenes[i].paper_ms};
        status = bench_clip_run(context, &scenes[i].clip, &row);
    }
    return status;
}

const bench bench_springs = {"springs", "a frame of solver springs; the paper computes one per second", springs_run};
