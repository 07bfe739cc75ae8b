/* cmd_rates.c: bake a clip at several frame rates and compare the results at common times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bake_face.h"

static const int rates[] = {24, 30, 60, 120, 144};
enum { RATE_COUNT = CLI_COUNT(rates) };

/* The difference of two results at their common times. */
typedef struct rate_difference {
    long shared, identical; /* instants */
    double largest;         /* distance over the size */
} rate_difference;

static void compare_pair(const cutis_bake_result *a, const cutis_bake_result *b, int rate_a, int rate_b, double size,
                         rate_difference *difference)
{
    size_t floats = 3 * (size_t)a->vertex_count;

    /* frames of both that show the same instant */
    for (int i = 0; i < a->frame_count; i++) {
        if ((long)i * rate_b % rate_a != 0) continue;
        int j = (int)((long)i * rate_b / rate_a);
        if (j >= b->frame_count) continue;

        /* bit by bit, then the largest distance */
        const float *x = a->positions + (size_t)i * floats, *y = b->positions + (size_t)j * floats;
        difference->shared++;
        difference->identical += memcmp(x, y, floats * sizeof *x) == 0;
        for (size_t k = 0; k < floats; k += 3) {
            double d2 = 0;
            for (size_t e = k; e < k + 3; e++) d2 += pow((double)x[e] - (double)y[e], 2);
            difference->largest = fmax(difference->largest, sqrt(d2) / size);
        }
    }
}

static int run_solver(const cli_arguments *arguments, const char *solver, double size, cli_table *table)
{
    cutis_bake_result *results[RATE_COUNT] = {0};
    int done = 0, status = CLI_OK;

    /* the same clip at every rate */
    for (; done < RATE_COUNT && status == CLI_OK; done += status == CLI_OK) {
        cutis_bake_def def = cutis_bake_def_default();
        def.solver = solver;
        def.clip = cli_text(arguments, "clip");
        def.fps = rates[done];
        def.threads = cli_integer(arguments, "threads");
        def.keep_frames = true;
        def.no_verdict = true;
        status = bake_run(arguments->positionals[0], &def, true, &results[done]);
    }

    /* each against all others, at shared instants */
    for (int i = 0; i < RATE_COUNT && status == CLI_OK; i++) {
        rate_difference difference = {0};
        for (int j = 0; j < RATE_COUNT; j++)
            if (j != i) compare_pair(results[i], results[j], rates[i], rates[j], size, &difference);

        cli_table_cell(table, "%s", solver);
        cli_table_cell(table, "%d", rates[i]);
        cli_table_cell(table, "%d", results[i]->frame_count);
        cli_table_cell(table, "%ld", difference.shared);
        cli_table_cell(table, "%ld", difference.identical);
        cli_table_cell(table, "%.2g", 100 * difference.largest);
    }

    for (int i = 0; i < done; i++) cutis_bake_destroy(results[i]);
    return status;
}

static int run(const cli_arguments *arguments)
{
    int status;
    cutis_character *character = cli_load_character(arguments->positionals[0], false, &status);
    if (!character) return status;

    /* a table of all */
    double size = (double)character->size;
    cutis_character_destroy(character);

    cli_table *table = cli_table_create("lrrrrr");
    cli_table_heads(table, "solver|rate|frames|common times|identical|largest difference, % of the size");

    /* all solvers, or those of the list */
    const char *list = arguments->positional_count > 1 ? arguments->positionals[1] : NULL;
    for (int i = 0; !list && i < cutis_solver_count() && status == CLI_OK; i++)
        status = run_solver(arguments, cutis_solver(i)->name, size, table);
    while (list && *list && status == CLI_OK) {
        char *name = cli_format("%.*s", (int)strcspn(list, ","), list);
        list += strlen(name) + (list[strlen(name)] == ',');
        status = run_solver(arguments, name, size, table);
        free(name);
    }

    cli_table_print(table, "");
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_CLIP("clip; default: the first"),
};

const cli_command cmd_rates = {
    .name = "rates",
    .usage = "FILE|NAME [SOLVER,...] [--clip C]",
    .summary = "bake one clip at 24 to 144 frames per second and compare",
    .description =
        "Bakes the clip at 24, 30, 60, 120 and 144 frames per second. Each rate is compared with all others at their "
        "common times: the number of those times, the number with bit-identical surfaces, and the largest difference.",
    .examples = "cutis rates arm lbs,lattice --clip flex",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = 2,
    .run = run,
};
