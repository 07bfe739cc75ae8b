/*
 * bench.h: what a benchmark is. Add one by defining `const bench bench_NAME` in bench_NAME.c and naming it in the
 * list of cmd_bench.c.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"

typedef struct bench_row {
    const char *name;    /* of the scene: "lbs", "layers arm" */
    const char *element; /* "vertices", "particles", "voxels" or "dofs" */
    long count;          /* of these */
    int threads;
    double ms;        /* of one frame or step: the minimum of all runs */
    double slowest;   /* the slowest step over the median one, each the fastest of all runs; 0: not told */
    double paper_ms;  /* what the paper reports; 0: nothing */
    double error;     /* against a reference: rms distance over the size; 0: none was asked for */
    const char *each; /* "vertex": tell the nanoseconds per one of them as well; NULL: not */
    int part_count;   /* parts of the time, if told */
    const char *part_names[CUTIS_MAX_PARTS];
    double part_ms[CUTIS_MAX_PARTS];
    double part_paper_ms[CUTIS_MAX_PARTS]; /* 0: nothing */
} bench_row;

typedef struct bench_context bench_context;

typedef struct bench {
    const char *name;
    const char *summary; /* one line */
    /* Measure and call bench_add for each row. Returns an exit code, message printed. */
    int (*run)(bench_context *context);
} bench;

/* Seconds to spend on one row. */
double bench_seconds(const bench_context *context);
/* The pool of `thread_count` threads (1 to 256), kept by the context; NULL on failure, message printed. */
cutis_pool *bench_pool(bench_context *context, int thread_count);
void bench_add(bench_context *context, const bench_row *row);

/*
 * Time cutis_state_step: `steps` times dt from the state's time on, as often as the seconds of a row allow (the
 * state is put back to where it was each time). Fills ms (minimum over the runs of the mean of one step) and the
 * parts of the fastest run, named by the model's first solver. Returns an exit code (CLI_INTERRUPTED).
 */
int bench_steps(const bench_context *context, const cutis_model *model, cutis_state *state,
                const cutis_step_input *input, double dt, int steps, bench_row *row);

/* A clip of a built-in character under a solver. */
typedef struct bench_clip {
    const char *solver, *character, *clip;
    double resolution;
    double time; /* of the clip at which the measured steps begin, after a lead-in of a quarter of a second */
    const cutis_setting *settings;
    int setting_count;
    double dt; /* of a step */
    int steps;
    double substep;                     /* of the solver; 0: its default */
    const struct bench_clip *reference; /* what the state at `time` is compared with, on the same character; or NULL */
    const char *prop;                   /* built-in thing beside the character; NULL: none */
} bench_clip;

/*
 * Build it on row->threads threads, time its steps and add the row. Fills count (vertices when that is the row's
 * element, else the solver's own elements), ms, parts and error. Returns an exit code, message printed.
 */
int bench_clip_run(bench_context *context, const bench_clip *clip, bench_row *row);

#endif
