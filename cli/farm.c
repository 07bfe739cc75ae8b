/*
 * farm.c: a list of bakes on a cluster, by Slurm. Slurm schedules; here the list becomes arrays, and what Slurm and the
 * records beside the outputs say becomes a table.
 *
 * A task of an array is `cutis batch LIST --task N`, so it does what one machine does for that job and leaves the same
 * records. LIST.slurm.json remembers which array holds which jobs. A job that was submitted, is no longer queued and
 * left no record was lost with its node.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"

/* Tasks in one array: Slurm's MaxArraySize is 1001 where an administrator has not changed it. */
enum { ARRAY_TASKS = 1000 };

typedef enum farm_place { FARM_NOWHERE, FARM_LEFT, FARM_QUEUED, FARM_RUNNING } farm_place;

/* ---- what was submitted ---- */

static char *memory_path(const batch *b) { return cli_format("%s.slurm.json", b->arguments->positionals[0]); }

/* The arrays of this list, {"arrays": [{"id": 7, "offset": 0, "tasks": [0, 1, 5]}, ...]}. */
static json_t *memory_load(const batch *b)
{
    char *path = memory_path(b);
    json_t *memory = batch_json_read(path);
    free(path);
    if (json_is_array(json_object_get(memory, "arrays"))) return memory;
    json_decref(memory);
    return json_pack("{s:i, s:[]}", "schema", 1, "arrays");
}

/* ---- asking Slurm ---- */

/* Run a program and read what it prints; NULL, with a message, when it cannot be run or fails. The caller frees. */
static char *ask(char *const *argv)
{
    process child = {0};
    FILE *output = system_temporary();
    FILE *messages = system_temporary();
    int exit_code = 127;

    /* run it to its end */
    bool ran = output && messages && process_start(&child, argv, output, messages) &&
               process_wait_any(&child, 1, &exit_code) == 0;

    /* what it said, of the two what matters */
    FILE *said = ran && exit_code == 0 ? output : messages;
    char *text = said ? cli_allocate(1 << 22, 1) : NULL;
    if (said) {
        rewind(said);
        text[fread(text, 1, (1 << 22) - 1, said)] = 0;
    }

    if (output) fclose(output);
    if (messages) fclose(messages);
    if (ran && exit_code == 0) return text;

    /* the reason, in a sentence */
    if (exit_code == 127)
        cli_error("cannot run '%s'; is Slurm installed on this machine?", argv[0]);
    else
        cli_error("%s: %.*s", argv[0], text ? (int)strcspn(text, "\n") : 0, text ? text : "");

    free(text);
    return NULL;
}

/* Where Slurm has each job of the list, (job_count); NULL on failure. The caller frees. */
static farm_place *places_find(const batch *b, const json_t *memory)
{
    farm_place *places = cli_allocate((size_t)b->job_count, sizeof *places);
    json_t *arrays = json_object_get(memory, "arrays");
    size_t array_count = json_array_size(arrays);
    if (array_count == 0) return places;

    /* submitted once: gone, unless the queue says otherwise */
    for (size_t i = 0; i < array_count; i++) {
        json_t *tasks = json_object_get(json_array_get(arrays, i), "tasks");
        for (size_t k = 0; k < json_array_size(tasks); k++) {
            json_int_t task = json_integer_value(json_array_get(tasks, k));
            if (task >= 0 && task < b->job_count) places[task] = FARM_LEFT;
        }
    }

    char *const argv[] = {"squeue", "--noheader", "--array", "--format=%F %K %T", NULL};
    char *text = ask(argv);
    if (!text) {
        free(places);
        return NULL;
    }

    /* a line a task */
    for (char *line = text; *line;) {
        char state[32];
        long long id, index;
        bool read = sscanf(line, "%lld %lld %31s", &id, &index, state) == 3;

        /* the array that the task belongs to */
        for (size_t i = 0; read && i < array_count; i++) {
            json_t *array = json_array_get(arrays, i);
            if (json_integer_value(json_object_get(array, "id")) != id) continue;
            long long task = json_integer_value(json_object_get(array, "offset")) + index;
            if (task >= 0 && task < b->job_count)
                places[task] = strcmp(state, "PENDING") == 0 ? FARM_QUEUED : FARM_RUNNING;
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }

    free(text);
    return places;
}

/* ---- submitting ---- */

/* A word in single quotes, as a shell reads it back. The caller frees. */
static char *shell_quote(const char *word)
{
    char *quoted = cli_allocate(4 * strlen(word) + 3, 1);
    char *to = quoted;
    *to++ = '\'';

    /* a quote ends the string, stands escaped, and begins the next */
    for (const char *c = word; *c; c++) {
        if (*c == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *c;
        }
    }

    *to = '\'';
    return quoted;
}

/* The command line of sbatch for one array; the words that follow --sbatch come last, so that they win. */
static char **sbatch_arguments(const batch *b, const char *array, const char *after, const char *command, int *count)
{
    const char *given = cli_text(b->arguments, "sbatch");
    char *words = cli_format("%s", given ? given : "");
    char **argv = cli_allocate(strlen(words) / 2 + 16, sizeof *argv);
    int n = 0;

    argv[n++] = cli_format("sbatch");
    argv[n++] = cli_format("--parsable");
    argv[n++] = cli_format("--job-name=cutis");
    argv[n++] = cli_format("--output=/dev/null");
    argv[n++] = cli_format("--array=%s%%%d", array, b->parallel);
    if (*after) argv[n++] = cli_format("--dependency=afterany%s", after);

    /* what the user adds */
    for (char *word = words; *word;) {
        word += strspn(word, " ");
        size_t length = strcspn(word, " ");
        if (length) argv[n++] = cli_format("%.*s", (int)length, word);
        word += length;
    }

    /* the command of a task */
    argv[n++] = cli_format("--wrap=%s", command);
    free(words);
    *count = n;
    return argv;
}

/*
 * Submit the jobs of `tasks` (a JSON array of indices within one block of ARRAY_TASKS) and remember them. They wait for
 * the arrays ":ID:ID..." of `after`; *id is their own.
 */
static int array_submit(batch *b, json_t *memory, int offset, json_t *tasks, const char *after, long long *id)
{
    /* the indices of the array, and what one task runs */
    char *array = cli_format("%s", "");
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        char *longer =
            cli_format("%s%s%lld", array, i ? "," : "", json_integer_value(json_array_get(tasks, i)) - offset);
        free(array);
        array = longer;
    }

    /* quoted for the shell */
    char *program = shell_quote(b->program);
    char *list = shell_quote(b->arguments->positionals[0]);
    char *command = cli_format("exec %s batch %s --quiet --task $((%d + SLURM_ARRAY_TASK_ID)) "
                               "--threads ${SLURM_CPUS_PER_TASK:-1}%s",
                               program, list, offset, cli_flag(b->arguments, "force") ? " --force" : "");

    int argc;
    char **argv = sbatch_arguments(b, array, after, command, &argc);

    /* the number of the array is all that sbatch prints */
    char *answer = ask(argv);
    *id = answer ? strtoll(answer, NULL, 10) : 0;
    int status = answer && *id > 0 ? CLI_OK : CLI_FAILURE;
    if (status == CLI_OK) {
        printf("array %lld: %d job%s\n", *id, (int)json_array_size(tasks), json_array_size(tasks) == 1 ? "" : "s");
        json_array_append_new(json_object_get(memory, "arrays"),
                              json_pack("{s:I, s:i, s:O}", "id", (json_int_t)*id, "offset", offset, "tasks", tasks));
        char *path = memory_path(b);

        status = cli_json_save(json_incref(memory), path);
        free(path);
    }

    free(answer);
    for (int i = 0; i < argc; i++) free(argv[i]);
    free(argv);
    free(command);
    free(list);
    free(program);
    free(array);
    return status;
}

int farm_submit(batch *b, bool failed_only)
{
    json_t *memory = memory_load(b);
    farm_place *places = places_find(b, memory);
    int status = places ? CLI_OK : CLI_FAILURE;
    int done = 0, queued = 0, submitted = 0;

    /* blocks of jobs, each an array of its own; what joins pieces waits for all that was submitted before it */
    char *after = cli_format("%s", "");
    for (int joins = 0; joins < 2; joins++) {
        for (int first = 0; first < b->job_count && status == CLI_OK; first += ARRAY_TASKS) {
            json_t *tasks = json_array();
            for (int i = first; i < b->job_count && i < first + ARRAY_TASKS; i++) {
                batch_job *job = &b->jobs[i];
                if ((job->piece_count > 0) != joins) continue;

                bool is_done = !cli_flag(b->arguments, "force") && batch_job_done(job);
                bool is_queued = !is_done && (places[i] == FARM_QUEUED || places[i] == FARM_RUNNING);
                bool wanted = !failed_only || batch_job_failed(job) || places[i] == FARM_LEFT;
                done += is_done;
                queued += is_queued;
                if (!is_done && !is_queued && wanted) json_array_append_new(tasks, json_integer(i));
            }

            /* submit them, and remember what to wait for */
            submitted += (int)json_array_size(tasks);
            if (json_array_size(tasks)) {
                long long id;
                status = array_submit(b, memory, first, tasks, joins ? after : "", &id);
                char *longer = cli_format("%s:%lld", after, id);
                free(after);
                after = longer;
            }
            json_decref(tasks);
        }
    }

    free(after);

    if (status == CLI_OK)
        printf("%d submitted, %d done already, %d queued or running already; 'cutis batch %s --status' shows the "
               "progress\n",
               submitted, done, queued, b->arguments->positionals[0]);

    free(places);
    json_decref(memory);
    return status;
}

/* ---- status ---- */

int farm_status(batch *b)
{
    json_t *memory = memory_load(b);
    farm_place *places = places_find(b, memory);
    json_decref(memory);
    if (!places) return CLI_FAILURE;

    /* failures with their reasons, the rest as counts */
    int done = 0, failed = 0, running = 0, queued = 0;
    for (int i = 0; i < b->job_count; i++) {
        batch_job *job = &b->jobs[i];
        if (batch_job_done(job)) {
            done++;
        } else if (places[i] == FARM_RUNNING) {
            running++;
            printf("running  job %d  %s\n", i, job->output);
        } else if (places[i] == FARM_QUEUED) {
            queued++;
        } else if (batch_job_failed(job)) {
            failed++;
            printf("failed   job %d  %s  (exit code %d) %s\n", i, job->output, job->exit_code, job->reason);
        } else if (places[i] == FARM_LEFT) {
            failed++;
            printf("failed   job %d  %s  ended without a record: killed, out of time or memory, or the node was lost\n",
                   i, job->output);
        }
    }

    printf("%d done, %d running, %d queued, %d failed, %d not submitted, of %d\n", done, running, queued, failed,
           b->job_count - done - running - queued - failed, b->job_count);
    free(places);
    return failed ? CLI_FAILURE : CLI_OK;
}
