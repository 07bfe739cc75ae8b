/*
 * cmd_bake.c: simulate a character through a clip and write the result.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bake_face.h"
#include "quality.h"

static bool output_is_glb(const char *path) { return cli_has_ending(path, ".glb") || cli_has_ending(path, ".vrm"); }

/* A hint for an extension that is not supported. */
static const char *ending_hint(const char *path)
{
    if (cli_has_ending(path, ".gltf")) return "; glTF is written as .glb";
    if (cli_has_ending(path, ".vrm")) return "; a .vrm is written from a .vrm alone";
    if (cli_has_ending(path, ".usd") || cli_has_ending(path, ".usdc") || cli_has_ending(path, ".usdz"))
        return "; USD is written as .usda";
    if (cli_has_ending(path, ".png") || cli_has_ending(path, ".mp4") || cli_has_ending(path, ".gif") ||
        cli_has_ending(path, ".webm"))
        return "; 'cutis render' draws pictures and videos";
    return "";
}

/* Refuse outputs that overwrite the files that are read besides the input. */
static int check_others(const cli_arguments *arguments, const cutis_bake_def *def, const char *output)
{
    const char *read[] = {def->motion.name, def->surface.name, cli_text(arguments, "config")};
    int status = CLI_OK;
    for (int i = 0; i < CLI_COUNT(read) && status == CLI_OK; i++) status = cli_check_apart(output, read[i]);
    for (int i = 0; i < def->example_count && status == CLI_OK; i++)
        status = cli_check_apart(output, def->examples[i].name);
    for (int i = 0; i < def->prop_count && status == CLI_OK; i++) status = cli_check_apart(output, def->props[i].name);
    return status;
}

static int check_paths(const cli_arguments *arguments, const cutis_bake_def *def, const char *report)
{
    const char *output = def->output;

    /* the format must be supported */
    if (!output) return cli_usage_error(arguments, "the output is missing: -o OUT (%s)", cli_cache_endings());
    bool vrm = cli_has_ending(output, ".vrm") && cli_has_ending(arguments->positionals[0], ".vrm");
    if (!cutis_cache_known(output) && !cli_has_ending(output, ".glb") && !vrm)
        return cli_usage_error(arguments, "cannot detect the format of '%s' from its extension; use one of %s%s",
                               output, cli_cache_endings(), ending_hint(output));

    /* no input is overwritten */
    const char *input = cli_is_built_in(arguments->positionals[0]) ? NULL : arguments->positionals[0];
    int status = cli_check_output(output, input, cli_has_ending(output, ".obj"));
    if (status == CLI_OK) status = check_others(arguments, def, output);

    /* the report overwrites neither the output nor an input */
    if (status != CLI_OK || !report) return status;
    if (strcmp(report, output) == 0)
        return cli_usage_error(arguments, "--report and -o name the same file, '%s'", report);
    status = cli_check_output(report, input, false);
    return status == CLI_OK ? check_others(arguments, def, report) : status;
}

/* The exit code of a finished bake. */
static int judge(const cutis_bake_result *result)
{
    /* interrupted, with a partial result */
    int status = result->interrupted ? CLI_INTERRUPTED : CLI_OK;
    if (result->interrupted) fprintf(stderr, "cutis: interrupted: %d frames were written\n", result->frame_count);

    if (result->failed_checks) {
        quality_print_failures(result->checks, result->check_count);
        if (status == CLI_OK) status = CLI_CHECK;
    }
    if (result->check_count && result->has_verdict && result->verdict.level == CUTIS_BAD) {
        fprintf(stderr, "cutis: check failed: the verdict is %s\n", result->verdict.text);
        if (status == CLI_OK) status = CLI_CHECK;
    }

    if (result->has_loop && !result->loop.closed) {
        fprintf(stderr,
                "cutis: check failed: the loop does not close: its seam is %.2g %% of the size (at most %g %%) and "
                "%.2g %% of the "
                "speed (at most %g %%)\n",
                100 * result->loop.position_seam, 100 * CUTIS_BAKE_SEAM_POSITION, 100 * result->loop.velocity_seam,
                100 * CUTIS_BAKE_SEAM_VELOCITY);
        status = CLI_CHECK;
    }
    return status;
}

static int run_def(const cli_arguments *arguments, const cutis_bake_def *def)
{
    const char *report = cli_text(arguments, "report");
    bool quiet = cli_flag(arguments, "quiet");
    int status = check_paths(arguments, def, report);
    cutis_bake_result *result;
    if (status == CLI_OK) status = bake_run(arguments->positionals[0], def, quiet, &result);
    if (status != CLI_OK) return status;

    /* report, summary and exit code */
    if (!quiet) bake_print_summary(def, result);
    if (report) status = cli_text_save(result->report, report);

    int judgement = judge(result);
    cutis_bake_destroy(result);
    return status == CLI_OK ? judgement : status;
}

/* --targets: a number; "safe": 8 position targets; "exact": one target per frame. */
static int targets_parse(const cli_arguments *arguments, cutis_bake_def *def)
{
    enum { SAFE_TARGETS = 8, MAX_TARGETS = 32 };
    const char *text = cli_text(arguments, "targets");
    double count = 0;

    def->positions_only = strcmp(text, "safe") == 0;
    def->exact = strcmp(text, "exact") == 0;
    if (def->positions_only) count = SAFE_TARGETS;
    if (def->exact) count = MAX_TARGETS;

    if (count == 0 && !cli_parse_numbers(text, ',', 1, &count)) count = 0;
    if (!(count >= 1 && count <= MAX_TARGETS && count == floor(count)))
        return cli_usage_error(arguments, "--targets takes a number from 1 to %d, safe or exact, not '%s'", MAX_TARGETS,
                               text);

    def->targets = (int)count;
    return CLI_OK;
}

/* Parse a --set key of an external force. *known: the key is one of them. */
static int force_setting(const cli_arguments *arguments, const cutis_setting *s, cutis_bake_def *def,
                         cutis_bake_blow *blows, bool *known)
{
    double n[8];
    bool acceleration = strcmp(s->key, "acceleration") == 0, wind = strcmp(s->key, "wind") == 0;
    *known = acceleration || wind || strcmp(s->key, "blow") == 0;
    if (!*known) return CLI_OK;

    /* constant over the clip */
    if (acceleration || wind) {
        if (!cli_parse_numbers(s->value, ',', 3, n))
            return cli_usage_error(arguments, "--set %s takes X,Y,Z, not '%s'", s->key, s->value);
        for (int k = 0; k < 3; k++) (wind ? def->wind : def->acceleration)[k] = (float)n[k];
        return CLI_OK;
    }

    /* a blow; the key may be repeated */
    if (!cli_parse_numbers(s->value, ',', 8, n))
        return cli_usage_error(arguments, "--set blow takes TIME,X,Y,Z,RADIUS,VX,VY,VZ, not '%s'", s->value);

    cutis_bake_blow *blow = &blows[def->blow_count++];
    *blow = (cutis_bake_blow){.time = n[0], .impulse.radius = (float)n[4]};
    for (int k = 0; k < 3; k++) {
        blow->impulse.place[k] = (float)n[1 + k];
        blow->impulse.velocity[k] = (float)n[5 + k];
    }
    return CLI_OK;
}

/* Move settings of the bake (not of a solver) from `settings` to `def`. blows: (setting_count) to be filled. */
static int bake_settings(const cli_arguments *arguments, cutis_setting *settings, cutis_bake_def *def,
                         cutis_bake_blow *blows)
{
    const struct {
        const char *key;
        double low, high;
        double *value;
    } own[] = {{"substep", 0.0005, 0.05, &def->substep}, {"example_time", 0.01, 1000, &def->example_seconds}};

    int kept = 0;
    for (int i = 0; i < def->setting_count; i++) {
        int k = 0;
        bool known;

        /* external forces */
        int status = force_setting(arguments, &settings[i], def, blows, &known);
        if (status != CLI_OK) return status;
        if (known) continue;

        /* numbers of the bake; all others belong to the solver */
        while (k < CLI_COUNT(own) && strcmp(settings[i].key, own[k].key) != 0) k++;
        if (k == CLI_COUNT(own)) {
            settings[kept++] = settings[i];
            continue;
        }

        if (!cli_parse_numbers(settings[i].value, ',', 1, own[k].value) || *own[k].value < own[k].low ||
            *own[k].value > own[k].high)
            return cli_usage_error(arguments, "--set %s must be between %g and %g seconds, not '%s'", own[k].key,
                                   own[k].low, own[k].high, settings[i].value);
    }
    def->setting_count = kept;
    return CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    cutis_bake_def def = cutis_bake_def_default();
    if (!cli_detail(arguments, &def.detail)) return CLI_USAGE;

    cutis_prop_request *props;
    int example_count;
    int status = cli_prop_requests(arguments, &props, &def.prop_count);
    const char **paths = cli_texts(arguments, "example", &example_count);
    cutis_file *examples = cli_allocate((size_t)example_count, sizeof *examples);
    cutis_setting *settings = cli_pairs(arguments, "set", &def.setting_count);
    cutis_name_pair *map = cli_map(arguments, &def.map_count);
    for (int i = 0; i < example_count; i++) examples[i].name = paths[i];

    def.clip = cli_text(arguments, "clip");
    const char *motion = cli_text(arguments, "motion");

    /* a cache is a surface; any other file is a motion */
    bool surface = motion && cutis_cache_known(motion) && !cli_has_ending(motion, ".glb");
    *(surface ? &def.surface.name : &def.motion.name) = motion;

    def.map = map;
    def.examples = examples;
    def.example_count = example_count;
    def.fps = cli_number(arguments, "fps");
    def.start = cli_number(arguments, "start");
    def.end = cli_number(arguments, "end");
    def.lead_in = cli_number(arguments, "lead-in");
    def.loop = cli_flag(arguments, "loop");
    def.props = props;

    def.solver = cli_text(arguments, "solver");
    def.settings = settings;

    cutis_bake_key *keys = NULL;
    if (status == CLI_OK) status = cli_keys(arguments, &keys, &def.key_count);
    def.keys = keys;

    cutis_bake_blow *blows = cli_allocate((size_t)def.setting_count, sizeof *blows);
    def.blows = blows;
    if (status == CLI_OK) status = bake_settings(arguments, settings, &def, blows);
    def.threads = cli_integer(arguments, "threads");

    def.output = cli_text(arguments, "output");
    def.outputs = cli_text(arguments, "outputs");
    def.tolerance = cli_number(arguments, "tolerance") / 100;

    if (status == CLI_OK) status = targets_parse(arguments, &def);
    def.checks = cli_text(arguments, "check");
    def.partial = cli_flag(arguments, "partial");

    /* compression is a separate step on the file */
    cutis_compression compression;
    bool known = cli_compression(cli_text(arguments, "compress"), &compression);
    bool compressed = compression != CUTIS_COMPRESSION_NONE;
    if (!known || (compressed && (!def.output || !output_is_glb(def.output))))
        status = cli_usage_error(arguments, "--compress takes none, or for a .glb output quantize or meshopt");
    if (status == CLI_OK) status = run_def(arguments, &def);

    if (compressed && (status == CLI_OK || status == CLI_CHECK)) {
        int packed = cli_compress(def.output, compression, cli_flag(arguments, "quiet"));
        if (packed != CLI_OK) status = packed;
    }

    free(map);
    free(keys);
    free(blows);
    free(settings);
    free(examples);
    free(paths);
    cli_prop_requests_free(props, def.prop_count);
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_OUTPUT("OUT", "file to write; its extension selects the format"),
    {.name = "solver",
     .letter = 's',
     .kind = CLI_TEXT,
     .value = "S",
     .help = "solver, or a stack such as tissue+slide (default tissue; lbs for a mesh without skin weights)"},
    CLI_OPTION_CLIP("clip to bake; default: the first"),
    CLI_OPTION_MOTION("use the motion of this file as the clip; a mesh without a skeleton is rigged first; from a "
                      "cache, use its surface (solver slide)"),
    CLI_OPTION_EXAMPLE("the same mesh in another pose, for solver curves; a mesh without a skeleton is rigged first"),
    CLI_OPTION_FPS("frames written per second; the simulation does not depend on it", "30"),
    CLI_OPTION_RANGE,
    CLI_OPTION_SET("a parameter of the solver; bones.NAME.KEY=VALUE for one joint; substep or example_time in seconds; "
                   "or forces on the flesh: acceleration=X,Y,Z, wind=X,Y,Z, blow=TIME,X,Y,Z,RADIUS,VX,VY,VZ"),
    CLI_OPTION_AMOUNT,
    CLI_OPTION_PRESET,
    CLI_OPTION_DETAIL,
    CLI_OPTION_PROP,
    {.name = "outputs",
     .kind = CLI_TEXT,
     .value = "NAMES",
     .help = "outputs of the solver to write as OUT.NAME.npy, separated by commas, such as texcoords,touch"},
    {.name = "config",
     .kind = CLI_TEXT,
     .value = "F.json",
     .help = "read options from a file; options on the command line override it"},
    {.name = "lead-in",
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .help = "time from the rest pose to the clip's first pose (default: 0.75 to 4, from the damping; 0 for a clip "
             "that starts at rest); 0: start at rest in that pose",
     .min = 0,
     .max = 60},
    {.name = "loop", .kind = CLI_FLAG, .help = "find the periodic motion and write exactly one period of it"},
    {.name = "partial", .kind = CLI_FLAG, .help = "write the finished frames on Ctrl-C or SIGTERM (exit code 130)"},
    {.name = "check",
     .kind = CLI_TEXT,
     .value = "BOUNDS",
     .help =
         "exit with code 3 when a bound is exceeded or the verdict is bad, as in \"verdict,volume_error_max<0.01\""},
    {.name = "tolerance",
     .kind = CLI_NUMBER,
     .value = "PERCENT",
     .help = ".glb: maximum vertex error of the morph targets, in percent of the bounding-box diagonal",
     .fallback = "0.1",
     .min = 0.0001,
     .max = 100},
    {.name = "targets",
     .kind = CLI_TEXT,
     .value = "K|safe|exact",
     .help = ".glb: at most K morph targets, 1 to 32; safe: 8 without normals, which every player supports; exact: one "
             "per frame",
     .fallback = "32"},
    CLI_OPTION_COMPRESS,
    {.name = "report",
     .kind = CLI_TEXT,
     .value = "R.json",
     .help = "write parameters, timings, memory, verdict and hash to this file"},
};

const cli_command cmd_bake = {
    .name = "bake",
    .usage = "FILE|NAME -o OUT [--solver S] [--clip C] [options]",
    .summary = "simulate a character through a clip and write the result",
    .description =
        "Frame i shows the clip at START + i / F seconds, from the first key to the last, or from --start to --end. A "
        "dynamic solver starts at rest and moves into the clip's first pose before frame 0 (--lead-in), so that "
        "nothing pops. Before a --start inside the clip, half a second of the clip is simulated but not written.\n"
        "A .glb output keeps the whole input file and adds morph targets with animated weights: the difference from "
        "skinning. It plays in any engine. With --loop, the last key equals the first.\n"
        "--prop adds an object to touch: cube and soft_ball (soft), block, ball, can, capsule and pencil (rigid), "
        "table "
        "and floor (fixed), or the nodes of a .glb. "
        "Solver springs moves soft and rigid props, and the report contains their motion. Under tissue, layers and "
        "lattice they follow their node. Solvers with a touch output also report the force on each part of the skin.\n"
        "--set acceleration applies a constant acceleration (gravity, a vehicle); wind and blow apply external forces. "
        "blow may be repeated. A moving --prop also pushes the flesh. Lengths are in the file's unit; times are times "
        "of the clip.\n"
        "A configuration file contains the same options: {\"solver\": \"tissue\", \"fps\": 60, \"set\": {\"tissue\": "
        "{\"fat_stiffness\": 10}, \"acceleration\": [0, -9.81, 0]}, \"bones\": {\"Spine\": {\"friction\": 0.9}}}.",
    .examples = "cutis bake arm -o arm.glb\n"
                "cutis bake man --solver lattice --clip walk --loop -o walk.glb\n"
                "cutis bake arm --solver dqs --clip flex -o arm.pc2\n"
                "cutis bake hero.glb --solver lbs --fps 60 --report hero.json -o hero.npy\n"
                "cutis bake torus --solver slide --outputs texcoords -o torus.pc2\n"
                "cutis bake hand --solver springs --clip grasp --prop cube -o grasp.glb\n"
                "cutis bake hero.glb --motion walk.bvh --map Hips=pelvis -o walk.mdd",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = 1,
    .run = run,
};
