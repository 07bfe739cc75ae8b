/*
 * batch.h: a list of bakes and what became of each, for `cutis batch` on one machine (cmd_batch.c) and on a cluster
 * (farm.c). The files beside the outputs are the only memory, so that one may go on where the other stopped.
 */
#ifndef CLI_BATCH_H
#define CLI_BATCH_H

#include "base/system.h"
#include "cli.h"
#include "process.h"

typedef enum batch_status {
    BATCH_WAITING,
    BATCH_RUNNING,
    BATCH_DONE,
    BATCH_SKIPPED,
    BATCH_FAILED,
    BATCH_STATUS_COUNT
} batch_status;

extern const char *const batch_status_names[BATCH_STATUS_COUNT];

typedef struct batch_job {
    const char *input, *output; /* of the job's JSON */
    json_t *options;            /* borrowed */
    char **argv;                /* of the bake, NULL-terminated */
    int argc;
    char *record, *report; /* paths */
    char *failure;         /* path of what a bake that failed leaves behind */
    int piece_count;       /* above 0: joins the so many jobs before it in the list */
    int whole;             /* of a piece: jobs from here to the one that joins it; else 0 */
    char key[20];
    batch_status status;
    FILE *messages; /* what it says on stderr */
    double start, seconds;
    int exit_code;
    char reason[400];
} batch_job;

typedef struct batch {
    const cli_arguments *arguments;
    json_t *root;
    batch_job *jobs;
    process *processes; /* (job_count) those that run */
    int job_count, parallel, finished;
    char program[SYSTEM_PATH_BYTES];
} batch;

/* A JSON file, or NULL without a word. */
json_t *batch_json_read(const char *path);
/* Whether the record says that this very job, or the whole it is a piece of, was done, and its output is still there.
 */
bool batch_job_done(const batch_job *job);
/* Whether this very job was tried and failed; exit code and reason are those of then. */
bool batch_job_failed(batch_job *job);

/* Replace each job with "split" by its pieces and the job that joins them; the caller releases `expanded`. */
int split_expand(json_t *jobs, json_t *defaults, json_t **expanded);
/* Join the pieces before this job in the list; the seams go to its report. */
int split_join(const batch_job *job);

/* Submit what is left as one Slurm array: all that is neither done nor queued, or of that only what failed. */
int farm_submit(batch *b, bool failed_only);
/* Print what is done, queued, running and failed, with reasons. */
int farm_status(batch *b);

#endif
