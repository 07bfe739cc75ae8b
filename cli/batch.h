/*
 * batch.h: a list of bakes and their status, for `cutis batch` on one machine (cmd_batch.c) and on a cluster (farm.c).
 * The status is stored only in files beside the outputs, so either can continue the other's work.
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
    char *failure;         /* path of the record of a failed bake */
    int piece_count;       /* above 0: joins this many preceding jobs of the list */
    int whole;             /* of a piece: offset to the job that joins it; else 0 */
    char key[20];
    batch_status status;
    FILE *messages; /* its stderr */
    double start, seconds;
    int exit_code;
    char reason[400];
} batch_job;

typedef struct batch {
    const cli_arguments *arguments;
    json_t *root;
    batch_job *jobs;
    process *processes; /* (job_count) */
    int job_count, parallel, finished;
    char program[SYSTEM_PATH_BYTES];
} batch;

/* Read a JSON file; NULL without a message on failure. */
json_t *batch_json_read(const char *path);
/* Whether the record shows that this job, or the clip it is a piece of, is done, and its output exists. */
bool batch_job_done(const batch_job *job);
/* Whether this job failed before; sets its exit code and reason. */
bool batch_job_failed(batch_job *job);

/* Replace each job with "split" by its pieces and the job that joins them; the caller releases `expanded`. */
int split_expand(json_t *jobs, json_t *defaults, json_t **expanded);
/* Join the pieces before this job in the list; the seams go to its report. */
int split_join(const batch_job *job);

/* Submit the remaining jobs (neither done nor queued), or only the failed ones, as one Slurm array. */
int farm_submit(batch *b, bool failed_only);
/* List the jobs that are done, queued, running and failed, with reasons. */
int farm_status(batch *b);

#endif
