/*
 * speed.c: the cost of cutis_live.h on one thread: speed FILE.glb SKINS, where SKINS holds frames of (joint_count x 12)
 * floats. Prints microseconds per frame: contact and pose, offsets of points, offsets of vertices; and bytes of data.
 *
 *     cc -O2 -o speed players/speed.c
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cutis_live.h"

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static char *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) exit(1);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size);
    *size = fread(bytes, 1, *size, file);
    fclose(file);
    return bytes;
}

int main(int count, char **names)
{
    enum { ROUNDS = 20 };
    size_t glb_size, skin_size, size = 0;
    if (count < 3) return 2;
    char *glb = load(names[1], &glb_size), *skins = load(names[2], &skin_size);
    const void *data = cutis_live_find(glb, glb_size, &size);
    cutis_live live;
    if (!data || !cutis_live_open(&live, data, size)) return 1;
    cutis_live_begin(&live, malloc(cutis_live_memory(&live)));
    float *offsets = malloc(sizeof(float) * 3 * (size_t)live.vertex_count);

    /* the fastest of many rounds, because other programs disturb */
    size_t frame = 12 * sizeof(float) * (size_t)live.joint_count, frames = skin_size / frame;
    double best[3] = {1e30, 1e30, 1e30};
    for (int round = 0; round < ROUNDS; round++) {
        double sums[3] = {0};
        for (size_t f = 0; f < frames; f++) {
            double start = microseconds();
            cutis_live_observe(&live, (const float *)(const void *)(skins + f * frame), 1 / 30.0f);
            double observed = microseconds();
            cutis_live_evaluate(&live);
            double evaluated = microseconds();
            cutis_live_vertices(&live, offsets);
            sums[0] += observed - start;
            sums[1] += evaluated - observed;
            sums[2] += microseconds() - evaluated;
        }
        for (int k = 0; k < 3; k++)
            if (sums[k] < best[k]) best[k] = sums[k];
    }
    printf("%d points, %d vertices: contact and pose %.0f us, points %.0f us, vertices %.0f us; %zu bytes\n",
           live.point_count, live.vertex_count, best[0] / (double)frames, best[1] / (double)frames,
           best[2] / (double)frames, size);
    return 0;
}
