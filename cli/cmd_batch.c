/*
 * cmd_batch.c: a resumable list of bakes, several at a time.
 *
 * Every bake runs in its own process, so a failure or crash affects no other bake. Outputs appear complete or not at
 * all (a bake renames them into place). After each output, a record OUTPUT.job.json is written. Its key is the hash of
 * everything that the result depends on. A job is skipped when its record has the current key and its output still has
 * the recorded size.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"

extern const cli_command cmd_bake;

const char *const batch_status_names[BATCH_STATUS_COUNT] = {"waiting", "running", "done", "skipped", "failed"};

/* ---- reading the list ---- */

static void add_argument(batch_job *job, char *text)
{
    job->argv = cli_resize(job->argv, (size_t)job->argc + 2, sizeof *job->argv);
    job->argv[job->argc++] = text;
    job->argv[job->argc] = NULL;
}

/* A number, string or boolean as option text; NULL for anything else. */
static char *value_text(const json_t *value)
{
    if (json_is_string(value)) return cli_format("%s", json_string_value(value));
    if (json_is_integer(value)) return cli_format("%lld", (long long)json_integer_value(value));
    if (json_is_real(value)) return cli_format("%.17g", json_real_value(value));
    if (json_is_boolean(value)) return cli_format("%s", json_is_true(value) ? "on" : "off");
    return NULL;
}

/* {"a": 1, "b": {"c": 2}} as --OPTION a=1 --OPTION b.c=2. */
static bool add_pairs(batch_job *job, const char *option, const char *prefix, json_t *object)
{
    const char *key;
    json_t *value;
    bool fine = true;

    json_object_foreach(object, key, value)
    {
        char *name = cli_format("%s%s%s", prefix, *prefix ? "." : "", key);
        char *text = value_text(value);

        /* objects nest, scalars become NAME=TEXT */
        if (json_is_object(value)) {
            fine &= add_pairs(job, option, name, value);
        } else if (text) {
            add_argument(job, cli_format("--%s", option));
            add_argument(job, cli_format("%s=%s", name, text));
        } else {
            fine = false;
        }

        free(text);
        free(name);
    }
    return fine;
}

static int read_option(batch_job *job, int index, const char *key, json_t *value)
{
    /* files may spell options with underscores */
    char name[64];
    snprintf(name, sizeof name, "%s", key);
    for (char *c = name; *c; c++) *c = *c == '_' ? '-' : *c;

    /* keys that are not options of a bake */
    static const char *const own[] = {"input", "output", "name", "split", "pieces", "clip-start"};
    for (int i = 0; i < CLI_COUNT(own); i++)
        if (strcmp(name, own[i]) == 0) return CLI_OK;
    if (strcmp(name, "bones") == 0 && json_is_object(value))
        return add_pairs(job, "set", "bones", value) ? CLI_OK : cli_error("job %d: 'bones' contains a list", index);

    const cli_option *option = cli_find_option(&cmd_bake, name);
    if (!option || strcmp(name, "report") == 0) {
        const char *names[64];
        int count = 0;
        for (int i = 0; i < cmd_bake.option_count && i < CLI_COUNT(names); i++)
            names[count++] = cmd_bake.options[i].name;
        const char *nearest = cli_nearest(name, names, count);
        return cli_error("job %d: 'cutis bake' has no option '%s'%s%s%s", index, key, nearest ? "; did you mean '" : "",
                         nearest ? nearest : "", nearest ? "'?" : "");
    }

    /* objects become pairs, flags have no value */
    if (json_is_object(value))
        return add_pairs(job, name, "", value) ? CLI_OK : cli_error("job %d: '%s' contains a list", index, key);
    if (option->kind == CLI_FLAG) {
        if (json_is_true(value)) add_argument(job, cli_format("--%s", name));
        return CLI_OK;
    }

    char *text = value_text(value);
    if (!text) return cli_error("job %d: '%s' must be a number or a string", index, key);
    add_argument(job, cli_format("--%s", name));
    add_argument(job, text);
    return CLI_OK;
}

/* Hash the bytes of a file. A file that cannot be read is hashed by its name only. */
static uint64_t hash_file(const char *path, uint64_t seed)
{
    uint64_t hash = cli_hash(path, strlen(path), seed);
    FILE *file = system_open(path, "rb");
    char buffer[65536];
    size_t n;
    while (file && (n = fread(buffer, 1, sizeof buffer, file)) > 0) hash = cli_hash(buffer, n, hash);
    if (file) fclose(file);
    return hash;
}

/* Everything the result depends on: program, options, and the files they name. */
static void make_key(batch_job *job)
{
    uint64_t hash = cli_hash(cutis_version(), strlen(cutis_version()), 1);
    for (int i = 1; i < job->argc; i++) {
        hash = cli_hash(job->argv[i], strlen(job->argv[i]) + 1, hash);
        if (strcmp(job->argv[i], "-o") == 0) i++; /* the output path does not affect the result */
    }

    /* files that the result depends on */
    hash = hash_file(job->input, hash);
    const char *motion = json_string_value(json_object_get(job->options, "motion"));
    const char *config = json_string_value(json_object_get(job->options, "config"));
    if (motion) hash = hash_file(motion, hash);
    if (config) hash = hash_file(config, hash);

    snprintf(job->key, sizeof job->key, "%016llx", (unsigned long long)hash);
}

static int read_job(batch *b, int index, json_t *given, json_t *defaults)
{
    batch_job *job = &b->jobs[index];
    if (!json_is_object(given)) return cli_error("job %d is not an object", index);

    /* defaults apply where the job has no key */
    json_t *all = json_object();
    json_object_update(all, defaults);
    json_object_update(all, given);
    json_array_append_new(json_object_get(b->root, "merged"), all);
    job->options = all;

    job->input = json_string_value(json_object_get(all, "input"));
    job->output = json_string_value(json_object_get(all, "output"));
    if (!job->input || !job->output) return cli_error("job %d: needs 'input' and 'output'", index);
    for (int i = 0; i < index; i++)
        if (strcmp(b->jobs[i].output, job->output) == 0)
            return cli_error("jobs %d and %d write the same file, '%s'", i, index, job->output);

    /* files beside the output */
    job->record = cli_format("%s.job.json", job->output);
    job->report = cli_format("%s.job.tmp", job->output);
    job->failure = cli_format("%s.job.failed.json", job->output);

    /* this job joins pieces, in its own process */
    job->piece_count = (int)json_array_size(json_object_get(all, "pieces"));
    if (job->piece_count) {
        uint64_t hash = cli_hash(job->output, strlen(job->output), 1);
        for (int k = index - job->piece_count; k < index; k++) {
            b->jobs[k].whole = index - k;
            hash = cli_hash(b->jobs[k].key, strlen(b->jobs[k].key), hash);
        }
        snprintf(job->key, sizeof job->key, "%016llx", (unsigned long long)hash);

        add_argument(job, cli_format("%s", b->program));
        add_argument(job, cli_format("batch"));
        add_argument(job, cli_format("%s", b->arguments->positionals[0]));
        add_argument(job, cli_format("--task"));
        add_argument(job, cli_format("%d", index));
        if (cli_flag(b->arguments, "force")) add_argument(job, cli_format("--force"));
        return CLI_OK;
    }

    /* the command line of the job, which is its key */
    add_argument(job, cli_format("%s", b->program));
    add_argument(job, cli_format("bake"));
    add_argument(job, cli_format("%s", job->input));
    add_argument(job, cli_format("-o"));
    add_argument(job, cli_format("%s", job->output));

    /* every other key is an option */
    const char *key;
    json_t *value;
    int status = CLI_OK;
    json_object_foreach(all, key, value)
    {
        if (status == CLI_OK) status = read_option(job, index, key, value);
    }
    if (status != CLI_OK) return status;
    make_key(job);

    /* Options that do not change the result are added after the key is computed. */
    if (!json_object_get(all, "threads")) {
        int wanted = cli_given(b->arguments, "threads") ? cli_integer(b->arguments, "threads") : 0;
        int threads = wanted > 0 ? wanted : cli_processor_count() / b->parallel;
        add_argument(job, cli_format("--threads"));
        add_argument(job, cli_format("%d", threads > 1 ? threads : 1));
    }

    add_argument(job, cli_format("--quiet"));
    add_argument(job, cli_format("--report"));
    add_argument(job, cli_format("%s", job->report));
    return CLI_OK;
}

static int read_list(batch *b)
{
    json_t *loaded = cli_json_load(b->arguments->positionals[0]);
    if (!loaded) return CLI_FAILURE;

    /* jobs borrow from these objects */
    b->root = json_object();
    json_object_set_new(b->root, "loaded", loaded);
    json_object_set_new(b->root, "merged", json_array());

    /* a list, or an object with jobs and defaults */
    json_t *list = json_is_array(loaded) ? loaded : json_object_get(loaded, "jobs");
    json_t *defaults = json_object_get(loaded, "defaults"), *empty = json_object();
    if (!json_is_array(list) || json_array_size(list) == 0) {
        json_decref(empty);
        return cli_error("'%s' contains no jobs: {\"jobs\": [{\"input\": ..., \"output\": ...}, ...]}",
                         b->arguments->positionals[0]);
    }

    /* clips that are split */
    json_t *expanded;
    int status = split_expand(list, json_is_object(defaults) ? defaults : empty, &expanded);
    json_object_set_new(b->root, "expanded", expanded);
    list = expanded;

    b->job_count = (int)json_array_size(list);
    b->jobs = cli_allocate((size_t)b->job_count, sizeof *b->jobs);
    b->processes = cli_allocate((size_t)b->job_count, sizeof *b->processes);
    for (int i = 0; i < b->job_count && status == CLI_OK; i++)
        status = read_job(b, i, json_array_get(list, (size_t)i), json_is_object(defaults) ? defaults : empty);

    json_decref(empty);
    return status;
}

/* ---- running ---- */

static double output_bytes(const char *path)
{
    system_file about;
    return system_look(path, &about) ? (double)about.size : -1;
}

json_t *batch_json_read(const char *path)
{
    json_error_t error;
    FILE *file = system_open(path, "rb");
    json_t *value = file ? json_loadf(file, 0, &error) : NULL;
    if (file) fclose(file);
    return value;
}

bool batch_job_done(const batch_job *job)
{
    if (job->whole && batch_job_done(job + job->whole)) return true;
    json_t *record = batch_json_read(job->record);
    const char *key = json_string_value(json_object_get(record, "key"));
    double bytes = json_number_value(json_object_get(record, "output_bytes"));
    bool done = key && strcmp(key, job->key) == 0 && output_bytes(job->output) == bytes;
    json_decref(record);
    return done;
}

bool batch_job_failed(batch_job *job)
{
    json_t *failure = batch_json_read(job->failure);
    const char *key = json_string_value(json_object_get(failure, "key"));
    const char *reason = json_string_value(json_object_get(failure, "reason"));
    bool failed = key && strcmp(key, job->key) == 0;
    if (failed) {
        job->exit_code = (int)json_integer_value(json_object_get(failure, "exit_code"));
        snprintf(job->reason, sizeof job->reason, "%s", reason ? reason : "");
    }
    json_decref(failure);
    return failed;
}

static void say(const batch *b, const batch_job *job, const char *what)
{
    char seconds[32];
    int digits = snprintf(NULL, 0, "%d", b->job_count);

    /* the line of the job */
    printf("[%*d/%d] %-7s %s", digits, b->finished, b->job_count, what, job->output);
    if (job->seconds > 0) printf("  %s", cli_format_seconds(job->seconds, seconds));
    if (job->status == BATCH_FAILED) printf("  (exit code %d) %s", job->exit_code, job->reason);

    /* a joined clip tells its seam */
    if (job->status == BATCH_DONE && job->piece_count) {
        json_t *record = batch_json_read(job->record);
        json_t *seam = json_object_get(json_object_get(record, "report"), "seam");
        printf("  %d pieces, seam %.2g of the size", job->piece_count, json_number_value(seam));
        json_decref(record);
    }

    printf("\n");
    fflush(stdout);
}

/* Remove what a bake of this output left behind when it was killed: OUTPUT.tmp-PROCESS-NUMBER, PROCESS gone. */
static void sweep(const batch_job *job)
{
    const char *slash = strrchr(job->output, '/'), *base = slash ? slash + 1 : job->output;
    char *folder = slash ? cli_format("%.*s", (int)(slash - job->output + 1), job->output) : cli_format("./");
    system_listing listing;
    size_t length = strlen(base);
    bool open = system_listing_open(&listing, folder);

    /* files of the same base whose process is gone */
    for (const char *name; open && (name = system_listing_next(&listing));) {
        static const char *const marks[] = {".tmp-", ".job.tmp.tmp-", ".job.json.tmp-"};
        if (strncmp(name, base, length) != 0) continue;

        /* temporary files whose owner no longer runs */
        for (int i = 0; i < CLI_COUNT(marks); i++) {
            if (strncmp(name + length, marks[i], strlen(marks[i])) != 0) continue;
            long owner = strtol(name + length + strlen(marks[i]), NULL, 10);
            if (owner <= 0 || system_process_lives(owner)) continue;
            char *path = cli_format("%s%s", folder, name);
            system_remove(path);
            free(path);
        }
    }

    if (open) system_listing_close(&listing);
    free(folder);
}

static void start_job(batch *b, batch_job *job)
{
    job->messages = system_temporary();
    job->start = cli_clock();
    job->status = BATCH_RUNNING;
    system_remove(job->failure);
    if (process_start(&b->processes[job - b->jobs], job->argv, NULL, job->messages)) return;
    job->status = BATCH_FAILED;
    job->exit_code = CLI_FAILURE;
    snprintf(job->reason, sizeof job->reason, "cannot start a process: %s", strerror(errno));
    b->finished++;
    say(b, job, "failed");
}

/* The first line of what a process said, without the program's name. */
static void take_reason(batch_job *job)
{
    if (!job->messages) return;

    rewind(job->messages);
    char line[sizeof job->reason];

    /* the first line that is an error or a failed check */
    while (fgets(line, sizeof line, job->messages)) {
        line[strcspn(line, "\n")] = 0;
        const char *text = strncmp(line, "cutis: error: ", 14) == 0 ? line + 14
                           : strncmp(line, "cutis: check", 12) == 0 ? line + 7
                                                                    : NULL;

        if (!text) continue;
        memmove(job->reason, text, strlen(text) + 1);
        break;
    }

    fclose(job->messages);
    job->messages = NULL;
}

static void end_job(batch *b, batch_job *job, int exit_code)
{
    job->seconds = cli_clock() - job->start;
    job->exit_code = exit_code;

    if (exit_code > 128) snprintf(job->reason, sizeof job->reason, "killed by signal %d", exit_code - 128);
    take_reason(job);
    job->status = job->exit_code == CLI_OK ? BATCH_DONE : BATCH_FAILED;

    bool recorded = job->piece_count && batch_job_done(job);
    if (job->status == BATCH_DONE && !recorded) {
        json_t *report = batch_json_read(job->report), *record = json_object();
        json_object_set_new(record, "schema", json_integer(1));
        json_object_set_new(record, "key", cli_json_string(job->key));
        json_object_set_new(record, "output_bytes", cli_json_real(output_bytes(job->output)));
        json_object_set_new(record, "report", report ? report : json_null());
        cli_json_save(record, job->record);
    } else if (job->status == BATCH_FAILED && !cli_interrupted()) {
        cli_json_save(json_pack("{s:i, s:s, s:i, s:o}", "schema", 1, "key", job->key, "exit_code", exit_code, "reason",
                                cli_json_string(job->reason)),
                      job->failure);
    }

    /* the record contains the report */
    system_remove(job->report);
    b->finished++;
    say(b, job, job->status == BATCH_DONE ? "done" : "failed");
}

/* Jobs first to last - 1, `parallel` at a time. */
static int run_jobs(batch *b, int first, int last)
{
    int running = 0, next = first;
    while (running > 0 || next < last) {
        while (running < b->parallel && next < last && !cli_interrupted()) {
            batch_job *job = &b->jobs[next];
            if (job->piece_count && running > 0) break; /* wait for its pieces */
            next++;

            sweep(job);
            if (!cli_flag(b->arguments, "force") && batch_job_done(job)) {
                job->status = BATCH_SKIPPED;
                b->finished++;
                say(b, job, "skipped");
                continue;
            }

            start_job(b, job);
            running += job->status == BATCH_RUNNING;
        }
        if (running == 0) break;

        int exit_code;
        int ended = process_wait_any(b->processes, b->job_count, &exit_code);
        if (ended < 0) return cli_error("lost a process: %s", strerror(errno));
        end_job(b, &b->jobs[ended], exit_code);
        running--;
    }

    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

/* Run one job of the list, as a cluster task. */
static int run_task(batch *b, int task)
{
    if (task >= b->job_count) return cli_error("the list has no job %d; the last is %d", task, b->job_count - 1);
    batch_job *job = &b->jobs[task];

    /* a joined clip has no bake */
    if (job->piece_count) {
        if (!cli_flag(b->arguments, "force") && batch_job_done(job)) return CLI_OK;
        job->start = cli_clock();
        int joined = split_join(job);
        if (joined != CLI_OK) snprintf(job->reason, sizeof job->reason, "the pieces cannot be joined");
        end_job(b, job, joined);
        return joined;
    }

    int status = run_jobs(b, task, task + 1);
    return status == CLI_OK && b->jobs[task].status == BATCH_FAILED ? CLI_FAILURE : status;
}

/* ---- summary ---- */

static int write_summary(const batch *b, int counts[BATCH_STATUS_COUNT])
{
    char *path = cli_format("%s.summary.json", b->arguments->positionals[0]);
    json_t *root = json_object(), *list = json_array();

    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "version", cli_json_string(cutis_version()));
    for (int i = BATCH_DONE; i <= BATCH_FAILED; i++)
        json_object_set_new(root, batch_status_names[i], json_integer(counts[i]));
    json_object_set_new(root, "left", json_integer(counts[BATCH_WAITING] + counts[BATCH_RUNNING]));
    json_object_set_new(root, "jobs", list);

    for (int i = 0; i < b->job_count; i++) {
        const batch_job *job = &b->jobs[i];
        json_t *entry = json_object();

        json_object_set_new(entry, "input", cli_json_string(job->input));
        json_object_set_new(entry, "output", cli_json_string(job->output));
        json_object_set_new(entry, "status", cli_json_string(batch_status_names[job->status]));
        json_object_set_new(entry, "seconds", cli_json_real(job->seconds));
        json_object_set_new(entry, "record", cli_json_string(job->record));

        if (job->status == BATCH_FAILED) {
            json_object_set_new(entry, "exit_code", json_integer(job->exit_code));
            json_object_set_new(entry, "reason", cli_json_string(job->reason));
        }

        json_array_append_new(list, entry);
    }

    int status = cli_json_save(root, path);
    if (status == CLI_OK)
        printf("%d done, %d skipped, %d failed%s: %s\n", counts[BATCH_DONE], counts[BATCH_SKIPPED],
               counts[BATCH_FAILED], counts[BATCH_WAITING] ? ", the others not started" : "", path);
    free(path);
    return status;
}

static int run(const cli_arguments *arguments)
{
    batch b = {.arguments = arguments, .parallel = cli_integer(arguments, "jobs")};
    if (!system_program(b.program, sizeof b.program))
        snprintf(b.program, sizeof b.program, "cutis"); /* from the path */

    int status = read_list(&b), counts[BATCH_STATUS_COUNT] = {0};
    bool status_only = cli_flag(arguments, "status");
    bool cluster = cli_flag(arguments, "slurm") || cli_flag(arguments, "resubmit");

    if (status == CLI_OK && status_only) {
        status = farm_status(&b);
    } else if (status == CLI_OK && cluster) {
        status = farm_submit(&b, cli_flag(arguments, "resubmit"));
    } else if (status == CLI_OK && cli_given(arguments, "task")) {
        status = run_task(&b, cli_integer(arguments, "task"));
    } else if (status == CLI_OK) {
        status = run_jobs(&b, 0, b.job_count);
    }

    /* a run on this machine ends with a summary */
    bool here = !status_only && !cluster && !cli_given(arguments, "task");
    if (here && (status == CLI_OK || status == CLI_INTERRUPTED)) {
        for (int i = 0; i < b.job_count; i++) counts[b.jobs[i].status]++;
        int written = write_summary(&b, counts);
        if (status == CLI_OK) status = written;
        if (status == CLI_OK && counts[BATCH_FAILED]) status = CLI_FAILURE;
    }

    for (int i = 0; b.jobs && i < b.job_count; i++) {
        for (int k = 0; k < b.jobs[i].argc; k++) free(b.jobs[i].argv[k]);
        free(b.jobs[i].argv);
        free(b.jobs[i].record);
        free(b.jobs[i].report);
        free(b.jobs[i].failure);
    }
    free(b.jobs);
    free(b.processes);
    json_decref(b.root);
    return status;
}

static const cli_option options[] = {
    {.name = "jobs",
     .letter = 'j',
     .kind = CLI_INTEGER,
     .value = "N",
     .help = "number of parallel bakes; each gets an equal share of the processors",
     .fallback = "1",
     .min = 1,
     .max = 256},
    {.name = "force", .kind = CLI_FLAG, .help = "repeat bakes that are up to date"},
    {.name = "slurm",
     .kind = CLI_FLAG,
     .help = "submit the remaining jobs as Slurm arrays, at most --jobs bakes at a time, and return"},
    {.name = "sbatch",
     .kind = CLI_TEXT,
     .value = "OPTIONS",
     .help = "options for sbatch, as in --sbatch='--partition=long --time=60 --cpus-per-task=2'"},
    {.name = "status",
     .kind = CLI_FLAG,
     .help = "list the jobs that are done, running and failed, with reasons, and return"},
    {.name = "resubmit",
     .kind = CLI_FLAG,
     .help = "like --slurm, but only jobs that failed or were lost with their node"},
    {.name = "task",
     .kind = CLI_INTEGER,
     .value = "N",
     .help = "run only job N of the list, counted from 0",
     .min = 0,
     .max = 1e8},
};

const cli_command cmd_batch = {
    .name = "batch",
    .usage = "JOBS.json [--jobs N]",
    .summary = "run a list of bakes; rerun to resume",
    .description =
        "JOBS.json: {\"defaults\": {\"solver\": \"tissue\"}, \"jobs\": [{\"input\": \"hero.glb\", \"clip\": \"walk\", "
        "\"output\": \"walk.glb\", \"loop\": true, \"check\": \"volume_error_max<0.01\", \"set\": {\"tissue\": "
        "{\"fat_stiffness\": 10}}}, ...]}. Keys are the options of 'cutis bake'; those of a job override the "
        "defaults.\n"
        "Each bake runs in its own process. OUTPUT.job.json beside each output records its inputs, parameters and "
        "version. A rerun skips jobs whose record is current. You can interrupt at any time; finished outputs are "
        "kept. The exit code is 1 when a job failed.\n"
        "A job with \"split\": SECONDS is baked in parallel pieces, which are then joined.\n"
        "With --slurm the list runs on a cluster, one task per job. The records are the same, so a list can be "
        "continued on either.",
    .examples = "cutis batch jobs.json --jobs 4\n"
                "cutis batch jobs.json --slurm --jobs 100 --sbatch='--partition=long --time=60'\n"
                "cutis batch jobs.json --status",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = 1,
    .run = run,
};
