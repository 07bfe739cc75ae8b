/*
 * cmd_distil.c: learn the flesh of a character for players, and play what was learned.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct distil_face {
    bool quiet;
    cutis_distil_stage stage;
    cli_progress bar;
} distil_face;

static bool on_progress(void *context, cutis_distil_stage stage, long done, long total)
{
    distil_face *f = context;
    static const char *const labels[] = {[CUTIS_DISTIL_BUILD] = "building",
                                         [CUTIS_DISTIL_TEACH] = "simulating",
                                         [CUTIS_DISTIL_FIT] = "fitting",
                                         [CUTIS_DISTIL_WRITE] = "writing"};
    if (!f->bar.active || stage != f->stage) {
        cli_progress_end(&f->bar);
        f->stage = stage;
        cli_progress_begin(&f->bar, labels[stage], total, f->quiet);
    }
    cli_progress_update(&f->bar, done);
    return !cli_interrupted();
}

static void print_summary(const cutis_distil_def *def, const cutis_distil_result *r)
{
    char bytes[32], seconds[32], more[32];
    double size = (double)def->character->size;
    printf("%s: %s\n", def->output, cli_format_bytes((double)r->size, bytes));
    printf("  teacher    %s, %d poses, %d frames in %s\n", r->solver, r->poses, r->frames,
           cli_format_seconds(r->teach_seconds, seconds));
    printf("  fit        %d points in %s\n", r->points, cli_format_seconds(r->fit_seconds, more));
    printf(
        "  error      %.2g %% of the size RMS over %d frames that the fit did not use (skinning %.2g %%); p99 %.2g %% "
        "(%.2g %%)\n",
        100 * r->rms / size, r->test_frames, 100 * r->skinning_rms / size, 100 * r->p99 / size,
        100 * r->skinning_p99 / size);

    cli_table *table = cli_table_create("lrrr");
    cli_table_heads(table, "region|points|skinning %|learned %");
    for (int i = 0; i < r->region_count; i++) {
        const cutis_distil_region *region = &r->regions[i];
        cli_table_cell(table, "%s", region->joint);
        cli_table_cell(table, "%d", region->points);
        cli_table_cell(table, "%.2f", 100 * region->skinning_rms / size);
        cli_table_cell(table, "%.2f", 100 * region->rms / size);
    }
    cli_table_print(table, "  ");
}

/* ---- playing ---- */

static int write_frames(const cutis_character *c, const cutis_distil_play_def *def, const float *frames,
                        const char *output)
{
    cutis_error error;
    cutis_cache_info info = {.vertex_count = c->vertex_count,
                             .frame_count = def->frame_count,
                             .start = def->start,
                             .fps = def->fps,
                             .character = c};
    cutis_cache_writer *writer;
    cutis_result result = cutis_cache_create(output, &info, NULL, &writer, &error);
    if (result != CUTIS_OK) return cli_library_error(&error);
    for (int f = 0; f < def->frame_count && result == CUTIS_OK; f++)
        result = cutis_cache_append(writer, frames + (size_t)f * 3 * (size_t)c->vertex_count, &error);
    if (result == CUTIS_OK)
        result = cutis_cache_finish(writer, &error);
    else
        cutis_cache_discard(writer);
    return result == CUTIS_OK ? CLI_OK : cli_library_error(&error);
}

static int play(const cli_arguments *arguments, const cutis_character *c)
{
    const char *input = arguments->positionals[0], *output = cli_text(arguments, "output");
    if (!cutis_cache_known(output) || cli_has_ending(output, ".glb"))
        return cli_usage_error(arguments, "--play writes a cache (%s), not '%s'", cli_cache_endings(), output);

    cutis_error error;
    cutis_file data;
    cutis_distil_play_def def = {.character = c, .fps = cli_number(arguments, "fps")};
    def.clip = cli_find_clip(c, cli_text(arguments, "play"));
    if (def.clip < 0) return CLI_USAGE;
    if (cutis_distil_load(input, NULL, &data, &error) != CUTIS_OK) return cli_library_error(&error);

    def.data = data.data;
    def.size = data.size;
    def.start = (double)c->clips[def.clip].start;
    def.frame_count = (int)cli_frame_count(&c->clips[def.clip], def.fps);
    float *frames = cli_allocate((size_t)def.frame_count * 3 * (size_t)c->vertex_count, sizeof *frames);
    float *outside = cli_allocate((size_t)def.frame_count, sizeof *outside);
    int status = CLI_OK;
    if (cutis_distil_play(&def, frames, outside, &error) != CUTIS_OK) status = cli_library_error(&error);
    if (status == CLI_OK) status = write_frames(c, &def, frames, output);

    int faded = 0;
    for (int f = 0; f < def.frame_count; f++) faded += outside[f] > 0.05f;
    if (status == CLI_OK && faded && !cli_flag(arguments, "quiet"))
        cli_warning("%d of %d frames leave the trained range and fade to skinning there", faded, def.frame_count);
    free(frames);
    free(outside);
    cutis_distil_data_destroy(&data, NULL);
    return status;
}

/* ---- learning ---- */

/* --terms pose,contact,dynamics */
static int parse_terms(const cli_arguments *arguments, int *terms)
{
    static const char *const names[] = {"pose", "contact", "dynamics"};
    const char *text = cli_text(arguments, "terms");
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ",");
        int k = 0;
        while (k < CLI_COUNT(names) && (strlen(names[k]) != length || strncmp(at, names[k], length) != 0)) k++;
        if (k == CLI_COUNT(names))
            return cli_usage_error(arguments, "--terms takes pose, contact and dynamics, separated by commas, not '%s'",
                                   text);
        *terms |= 1 << k;
        at += length + (at[length] == ',');
    }
    return CLI_OK;
}

static int learn(const cli_arguments *arguments, const cutis_character *c, cutis_distil_def *def)
{
    distil_face face = {.quiet = cli_flag(arguments, "quiet")};
    cutis_distil_result *result;
    cutis_error error;
    def->character = c;
    def->source.name = arguments->positionals[0];
    def->progress = on_progress;
    def->context = &face;
    cutis_result code = cutis_distil(def, &result, &error);
    cli_progress_end(&face.bar);
    if (code == CUTIS_ERROR_INTERRUPTED) return CLI_INTERRUPTED;
    if (code != CUTIS_OK) return cli_library_error(&error);

    int status = CLI_OK;
    if (!face.quiet) print_summary(def, result);
    if (cli_text(arguments, "report")) status = cli_text_save(result->report, cli_text(arguments, "report"));
    cutis_distil_destroy(result);
    return status;
}

static int run(const cli_arguments *arguments)
{
    const char *input = arguments->positionals[0];
    cutis_distil_def def = {.output = cli_text(arguments, "output")};
    if (!def.output) return cli_usage_error(arguments, "the output is missing: -o OUT.glb");
    if (!cli_detail(arguments, &def.detail)) return CLI_USAGE;
    int status = parse_terms(arguments, &def.terms);
    if (status == CLI_OK) status = cli_check_output(def.output, cli_is_built_in(input) ? NULL : input, false);
    const char *others[] = {cli_text(arguments, "data"), cli_text(arguments, "report")};
    for (int i = 0; i < CLI_COUNT(others) && status == CLI_OK; i++)
        if (others[i]) status = cli_check_output(others[i], input, false);
    if (status != CLI_OK) return status;

    cutis_character *character = cli_load_character(input, cli_flag(arguments, "quiet"), &status);
    if (!character) return status;
    def.clips = cli_texts(arguments, "clip", &def.clip_count);
    cutis_setting *settings = cli_pairs(arguments, "set", &def.setting_count);
    def.settings = settings;
    def.solver = cli_text(arguments, "solver");
    def.poses = cli_integer(arguments, "poses");
    def.points = cli_integer(arguments, "points");
    def.data = cli_text(arguments, "data");
    def.threads = cli_integer(arguments, "threads");

    status = cli_text(arguments, "play") ? play(arguments, character) : learn(arguments, character, &def);
    free((void *)def.clips);
    free(settings);
    cutis_character_destroy(character);
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_OUTPUT("OUT.glb", "file to write; with --play a cache"),
    {.name = "solver", .letter = 's', .kind = CLI_TEXT, .value = "S", .help = "the teacher (default: as for bake)"},
    {.name = "clip",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "C",
     .repeats = true,
     .help = "sample the poses of this clip; default: all clips"},
    {.name = "poses",
     .kind = CLI_INTEGER,
     .value = "N",
     .help = "poses to simulate",
     .fallback = "600",
     .min = 8,
     .max = 100000},
    {.name = "points",
     .kind = CLI_INTEGER,
     .value = "N",
     .help = "surface points that learn; 120 for phones",
     .fallback = "300",
     .min = 16,
     .max = 20000},
    {.name = "terms",
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "what the flesh may depend on: pose, contact, dynamics, separated by commas (default: all)"},
    CLI_OPTION_SET("a parameter of the teacher"),
    CLI_OPTION_PRESET,
    CLI_OPTION_DETAIL,
    {.name = "data",
     .kind = CLI_TEXT,
     .value = "F",
     .help = "keep finished simulations in this file; run again to continue, or to fit again"},
    {.name = "play",
     .kind = CLI_TEXT,
     .value = "C",
     .help = "play a clip of a file that was distilled, and write a cache"},
    {.name = "fps",
     .kind = CLI_NUMBER,
     .value = "N",
     .help = "frames per second of --play",
     .fallback = "30",
     .min = 1,
     .max = 1000},
    {.name = "report", .kind = CLI_TEXT, .value = "R.json", .help = "write errors, times and sizes to this file"},
};

const cli_command cmd_distil = {
    .name = "distil",
    .usage = "FILE.glb -o OUT.glb [options] | OUT.glb --play CLIP -o CACHE",
    .summary = "learn the flesh of a character for real-time players",
    .description =
        "Simulates the character in random poses from its clips. Then it learns how the flesh follows from joint "
        "rotations, contact and motion. The output is the input file with the extension CUTIS_flesh. Engines that do "
        "not "
        "know the extension show plain skinning. players/cutis_live.h plays it.\n"
        "The error is measured on simulations that the fit did not use. Outside the range of the simulated poses, "
        "players "
        "fade to skinning.",
    .examples = "cutis distil hero.glb -o hero_live.glb\n"
                "cutis distil hero.glb --points 120 -o hero_phone.glb\n"
                "cutis distil hero_live.glb --play walk -o walk.npy",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = 1,
    .run = run,
};
