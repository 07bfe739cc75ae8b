/*
 * cmd_bench.c: the benchmark table.
 *
 * Times are minima over many runs, because disturbances on a shared machine only make a run longer.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

/* Every benchmark, in the order it is run: NAME stands for bench_NAME of bench_NAME.c (or of its family's file). */
#define BENCHES(ENTRY) \
    ENTRY(lbs)         \
    ENTRY(dqs)         \
    ENTRY(lattice)     \
    ENTRY(region)      \
    ENTRY(crowd)       \
    ENTRY(layers)      \
    ENTRY(layers_sums) \
    ENTRY(tissue)      \
    ENTRY(springs)     \
    ENTRY(slide)       \
    ENTRY(solvers)     \
    ENTRY(rig)

#define DECLARE(name) extern const bench bench_##name;
#define LIST(name) &bench_##name,
BENCHES(DECLARE)
static const bench *const benches[] = {BENCHES(LIST)};

struct bench_context {
    double seconds;
    cutis_pool *pool; /* for the last thread count requested */
    int row_count;
    bench_row *rows;
};

double bench_seconds(const bench_context *context) { return context->seconds; }

cutis_pool *bench_pool(bench_context *context, int thread_count)
{
    if (context->pool && cutis_pool_thread_count(context->pool) == thread_count) return context->pool;
    cutis_pool_destroy(context->pool);
    context->pool = cli_create_pool(thread_count);
    return context->pool;
}

void bench_add(bench_context *context, const bench_row *row)
{
    context->rows = cli_resize(context->rows, (size_t)context->row_count + 1, sizeof *context->rows);
    context->rows[context->row_count++] = *row;
}

/* Maximum number of steps of a row for which the slowest step is reported. */
enum { STEPS_TOLD = 64 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int bench_steps(const bench_context *context, const cutis_model *model, cutis_state *state,
                const cutis_step_input *input, double dt, int steps, bench_row *row)
{
    cutis_error error;
    cutis_state *start;

    if (cutis_state_create(model, NULL, &start, &error) != CUTIS_OK) return cli_library_error(&error);
    cutis_state_copy(model, start, state);

    /* The names of the parts, of the first solver of a stack. */
    char name[64];
    const char *solver_name = cutis_model_get_info(model).solver;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(solver_name, "+"), solver_name);
    const cutis_solver_info *solver = cutis_solver_find(name);
    row->part_count = solver && solver->part_count > 1 ? solver->part_count : 0;
    for (int i = 0; i < row->part_count; i++) row->part_names[i] = solver->parts[i];

    /* the fastest run from the same start, and the fastest of each step */
    double each[STEPS_TOLD];
    double end = cli_clock() + context->seconds;
    row->ms = 0;
    for (int runs = 0; (runs < 3 || cli_clock() < end) && !cli_interrupted(); runs++) {
        double parts[CUTIS_MAX_PARTS] = {0};
        cutis_state_copy(model, state, start);

        /* the steps, with the time of each part */
        double begin = cli_clock(), last = begin;
        for (int i = 0; i < steps; i++) {
            cutis_state_step(model, state, input, dt);
            double now = cli_clock();
            if (i < STEPS_TOLD && (runs == 0 || now - last < each[i])) each[i] = now - last;
            last = now;
            const cutis_step_stats *stats = cutis_state_stats(model, state);
            for (int p = 0; p < row->part_count; p++) parts[p] += stats->part_ms[p];
        }
        double ms = (cli_clock() - begin) * 1e3 / steps;

        if (runs > 0 && ms >= row->ms) continue;
        row->ms = ms;
        for (int p = 0; p < row->part_count; p++) row->part_ms[p] = parts[p] / steps;
    }

    if (steps > 2 && steps <= STEPS_TOLD) {
        qsort(each, (size_t)steps, sizeof *each, compare_doubles);
        row->slowest = each[steps - 1] / each[steps / 2];
    }
    cutis_state_destroy(start);
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

/* The clip's model on a character, and its state at the measured time. Returns an exit code, message printed. */
static int clip_start(const bench_clip *clip, const cutis_character *character, const cutis_step_input *input,
                      double duration, cutis_model **model, cutis_state **state)
{
    /* the model and a state */
    cutis_error error;
    cutis_model_def def = cutis_model_def_default();
    def.character = character;
    def.solver = clip->solver;
    def.settings = clip->settings;
    def.setting_count = clip->setting_count;
    def.substep = clip->substep;
    def.jobs = input->jobs;

    if (cutis_model_build(&def, model, &error) != CUTIS_OK ||
        cutis_state_create(*model, NULL, state, &error) != CUTIS_OK)
        return cli_library_error(&error);

    cutis_state_step(*model, *state, input, duration);
    return CLI_OK;
}

/* Rms distance of two states of a character, over its size. */
static double states_distance(const cutis_character *character, const float *a, const float *b)
{
    double sum = 0;
    for (int i = 0; i < 3 * character->vertex_count; i++) sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sqrt(sum / character->vertex_count) / character->size;
}

int bench_clip_run(bench_context *context, const bench_clip *clip, bench_row *row)
{
    cutis_error error;
    cutis_character *character = NULL;
    cutis_model *model = NULL, *exact_model = NULL;
    cutis_state *state = NULL, *exact = NULL;

    cutis_pool *pool = bench_pool(context, row->threads);
    if (!pool) return CLI_FAILURE;
    if (cutis_zoo_make(clip->character, clip->resolution, NULL, &character, &error) != CUTIS_OK)
        return cli_library_error(&error);

    if (clip->prop) {
        cutis_prop_request request = {.name = clip->prop};
        cutis_character *more;
        int index = cutis_character_find_clip(character, clip->clip);
        cutis_result result = cutis_bake_add_props(character, &request, 1, index, NULL, NULL, NULL, &more, &error);
        cutis_character_destroy(character);
        if (result != CUTIS_OK) return cli_library_error(&error);
        character = more;
    }

    cutis_clip_motion motion = {character, cutis_character_find_clip(character, clip->clip), 0.25};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}, .jobs = cutis_pool_jobs(pool)};
    double duration = motion.lead_in + clip->time;
    int status = clip_start(clip, character, &input, duration, &model, &state);

    if (status == CLI_OK && clip->reference) {
        status = clip_start(clip->reference, character, &input, duration, &exact_model, &exact);
        if (status == CLI_OK)
            row->error = states_distance(character, cutis_state_positions(model, state),
                                         cutis_state_positions(exact_model, exact));
    }

    /* the time of steps from there on */
    if (status == CLI_OK) {
        bool vertices = strcmp(row->element, "vertices") == 0;
        row->count = vertices ? character->vertex_count : cutis_model_get_info(model).element_count;
        status = bench_steps(context, model, state, &input, clip->dt, clip->steps, row);
        if (status == CLI_OK) bench_add(context, row);
    }

    cutis_state_destroy(exact);
    cutis_model_destroy(exact_model);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(character);
    return status;
}

/* ---- output ---- */

static json_t *rows_json(const bench_context *context)
{
    json_t *rows = json_array();
    for (int i = 0; i < context->row_count; i++) {
        const bench_row *row = &context->rows[i];
        json_t *object = json_pack("{s:s, s:I, s:i, s:o}", "name", row->name, row->element, (json_int_t)row->count,
                                   "threads", row->threads, "ms", cli_json_real(row->ms));

        /* optional fields */
        if (row->each) {
            char key[64];
            snprintf(key, sizeof key, "ns_per_%s", row->each);
            json_object_set_new(object, key, cli_json_real(row->ms * 1e6 / (double)row->count));
        }

        /* beside the paper, and its parts */
        if (row->paper_ms > 0) json_object_set_new(object, "paper_ms", cli_json_real(row->paper_ms));
        if (row->error > 0) json_object_set_new(object, "error", cli_json_real(row->error));
        if (row->slowest > 0) json_object_set_new(object, "slowest", cli_json_real(row->slowest));

        if (row->part_count) {
            json_t *parts = json_array();
            for (int p = 0; p < row->part_count; p++) {
                json_t *part =
                    json_pack("{s:s, s:o}", "name", row->part_names[p], "ms", cli_json_real(row->part_ms[p]));
                if (row->part_paper_ms[p] > 0)
                    json_object_set_new(part, "paper_ms", cli_json_real(row->part_paper_ms[p]));
                json_array_append_new(parts, part);
            }
            json_object_set_new(object, "parts", parts);
        }

        json_array_append_new(rows, object);
    }
    return json_pack("{s:o}", "rows", rows);
}

static void print_rows(const bench_context *context)
{
    cli_table *table = cli_table_create("lrlrrrrrrr");
    char buffer[32];
    cli_table_heads(table, "name|size||threads|ms|slowest|ns each|paper ms|ratio|error");

    for (int i = 0; i < context->row_count; i++) {
        const bench_row *row = &context->rows[i];
        cli_table_cell(table, "%s", row->name);
        cli_table_cell(table, "%s", cli_format_count(row->count, buffer));
        cli_table_cell(table, "%s", row->element);
        cli_table_cell(table, "%d", row->threads);
        cli_table_cell(table, "%.4g", row->ms);
        if (row->slowest > 0)
            cli_table_cell(table, "x%.1f", row->slowest);
        else
            cli_table_cell(table, "%s", "");

        /* time of one element */
        if (row->each)
            cli_table_cell(table, "%.2f", row->ms * 1e6 / (double)row->count);
        else
            cli_table_cell(table, "%s", "");

        /* beside the paper's time, where it has one */
        if (row->paper_ms > 0) {
            cli_table_cell(table, "%.4g", row->paper_ms);
            cli_table_cell(table, "1/%.1f", row->paper_ms / row->ms);
        } else {
            cli_table_cell(table, "%s", "");
            cli_table_cell(table, "%s", "");
        }

        if (row->error > 0)
            cli_table_cell(table, "%.1e", row->error);
        else
            cli_table_cell(table, "%s", "");

        /* parts below their whole */
        for (int p = 0; p < row->part_count; p++) {
            cli_table_cell(table, "  %s", row->part_names[p]);
            for (int c = 0; c < 3; c++) cli_table_cell(table, "%s", "");
            cli_table_cell(table, "%.4g", row->part_ms[p]);
            for (int c = 0; c < 2; c++) cli_table_cell(table, "%s", "");
            if (row->part_paper_ms[p] > 0)
                cli_table_cell(table, "%.4g", row->part_paper_ms[p]);
            else
                cli_table_cell(table, "%s", "");
            for (int c = 0; c < 2; c++) cli_table_cell(table, "%s", "");
        }
    }
    cli_table_print(table, "");
}

static const bench *find_bench(const char *name)
{
    for (int i = 0; i < CLI_COUNT(benches); i++)
        if (strcmp(benches[i]->name, name) == 0) return benches[i];
    return NULL;
}

static int unknown_bench(const cli_arguments *arguments, const char *name)
{
    const char *names[CLI_COUNT(benches)];
    for (int i = 0; i < CLI_COUNT(benches); i++) names[i] = benches[i]->name;
    const char *nearest = cli_nearest(name, names, CLI_COUNT(benches));
    if (nearest) return cli_usage_error(arguments, "unknown benchmark '%s'; did you mean '%s'?", name, nearest);
    return cli_usage_error(arguments, "unknown benchmark '%s'; 'cutis bench list' names them", name);
}

static int run(const cli_arguments *arguments)
{
    if (arguments->positional_count == 1 && strcmp(arguments->positionals[0], "list") == 0) {
        for (int i = 0; i < CLI_COUNT(benches); i++) printf("%-10s %s\n", benches[i]->name, benches[i]->summary);
        return CLI_OK;
    }

    /* check the names before a long run */
    int wanted = arguments->positional_count;
    for (int i = 0; i < wanted; i++)
        if (!find_bench(arguments->positionals[i])) return unknown_bench(arguments, arguments->positionals[i]);

    bench_context context = {.seconds = cli_number(arguments, "seconds")};
    cli_progress progress;
    int total = wanted ? wanted : CLI_COUNT(benches), status = CLI_OK;
    cli_progress_begin(&progress, "measuring", total, false);
    for (int i = 0; i < total && status == CLI_OK; i++) {
        cli_progress_update(&progress, i);
        status = (wanted ? find_bench(arguments->positionals[i]) : benches[i])->run(&context);
    }
    cli_progress_end(&progress);

    if (status == CLI_OK && cli_flag(arguments, "json"))
        status = cli_json_print(rows_json(&context));
    else if (status == CLI_OK)
        print_rows(&context);

    cutis_pool_destroy(context.pool);
    free(context.rows);
    return status;
}

static const cli_option options[] = {
    {.name = "seconds",
     .kind = CLI_NUMBER,
     .value = "S",
     .help = "time to spend on each row",
     .fallback = "1",
     .min = 0,
     .max = 600},
};

const cli_command cmd_bench = {
    .name = "bench",
    .usage = "[NAME ...|list] [--json]",
    .summary = "run benchmarks",
    .description = "Runs the named benchmarks, or all; 'cutis bench list' names them. A time is the minimum over many "
                   "runs of one frame or step.",
    .examples = "cutis bench lbs\ncutis bench --json",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_max = -1,
    .run = run,
    .json = true,
};
