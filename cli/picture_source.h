/*
 * picture_source.h: where the shapes of a picture come from: the rest pose, a cache, or a solver that runs here.
 */
#ifndef CLI_PICTURE_SOURCE_H
#define CLI_PICTURE_SOURCE_H

#include "cli.h"
#include "picture.h"

typedef enum source_kind { SOURCE_REST, SOURCE_CACHE, SOURCE_SOLVER } source_kind;

typedef struct picture_source {
    source_kind kind;
    const char *name;   /* as given */
    char *label;        /* its caption */
    cutis_cache *cache; /* SOURCE_CACHE */
    float *frames;      /* SOURCE_SOLVER: (frame_count x vertex_count x 3), the frames that are shown */
    float *values;      /* (frame_count x vertex_count) to colour by, or NULL */
} picture_source;

/* The instants that a picture shows. */
typedef struct picture_times {
    double fps;
    double start;  /* seconds of frame 0 */
    int available; /* frames that all sources have */
    int count;     /* that are shown */
    int *frames;   /* (count) */
    bool exact;    /* one instant, `time`, instead of a frame */
    double time;   /* seconds */
} picture_times;

/* What a word of the command line names; loads caches. CLI_OK, or an exit code with the message printed. */
int picture_source_open(const cutis_character *character, const char *word, picture_source *source);
void picture_source_close(picture_source *source);
/*
 * Run a solver along a clip (-1: the idle pose) as `cutis bake` does and keep the frames shown; with them, one of
 * its outputs by name when `output` is not NULL (*found tells whether it has it).
 */
int picture_source_run(picture_source *source, const cutis_character *character, int clip, const picture_times *times,
                       const cutis_setting *settings, int setting_count, cutis_pool *pool, const char *output,
                       bool quiet);
/* Positions of the i-th frame shown. */
const float *picture_source_positions(const picture_source *source, const cutis_character *character,
                                      const picture_times *times, int i);
/* Read values for all frames shown from a NumPy file: (frames x vertices) or (vertices). */
int picture_source_read_values(picture_source *source, const cutis_character *character, const picture_times *times,
                               const char *path);

#endif
