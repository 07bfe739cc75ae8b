/*
 * cmd_render.c: pictures and videos of a character: the rest pose, baked caches and solvers side by side.
 *
 * A picture is a grid of panels. A panel shows one source (rest pose, cache or solver) at one frame from one
 * view. All panels of a view share one camera, which sees everything that is shown at any frame, so that shapes
 * can be compared and a video does not swim.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture/picture_job.h"

enum {
    MAX_SIDE = 16384,  /* pixels */
    SHEET_FRAMES = 12, /* of a sheet of one source when no frames are asked for */
    SHEET_COLUMNS = 6  /* frames a row when there are several sources */
};

/* ---- options ---- */

static const struct {
    const char *name;
    float azimuth, elevation;
} NAMED_VIEWS[] = {{"front", 0, 5},    {"left", 90, 5},           {"right", -90, 5},
                   {"side", 90, 5},    {"back", 180, 5},          {"top", 0, 89},
                   {"bottom", 0, -89}, {"three-quarter", 35, 15}, {"three-quarter-back", 145, 15}};

/* One view: a name, or "AZ,EL". */
static int view_parse(const cli_arguments *arguments, const char *word, picture_view *view)
{
    double numbers[2];
    for (int i = 0; i < CLI_COUNT(NAMED_VIEWS); i++)
        if (strcmp(word, NAMED_VIEWS[i].name) == 0) {
            snprintf(view->name, sizeof view->name, "%s", word);
            view->azimuth = NAMED_VIEWS[i].azimuth, view->elevation = NAMED_VIEWS[i].elevation;
            return CLI_OK;
        }
    if (cli_parse_numbers(word, ',', 2, numbers) && fabs(numbers[1]) <= 90 && fabs(numbers[0]) <= 3600) {
        snprintf(view->name, sizeof view->name, "%g, %g", numbers[0], numbers[1]);
        view->azimuth = (float)numbers[0];
        /* Straight down has no up; a hair less has. */
        view->elevation = (float)fmin(89.9, fmax(-89.9, numbers[1]));
        return CLI_OK;
    }
    const char *names[CLI_COUNT(NAMED_VIEWS)];
    for (int i = 0; i < CLI_COUNT(NAMED_VIEWS); i++) names[i] = NAMED_VIEWS[i].name;
    const char *nearest = cli_nearest(word, names, CLI_COUNT(NAMED_VIEWS));
    if (nearest) return cli_usage_error(arguments, "'%s' is no view; did you mean '%s'?", word, nearest);
    return cli_usage_error(arguments,
                           "'%s' is no view: give AZIMUTH,ELEVATION in degrees (elevation -90 to 90), or front, side, "
                           "left, right, back, top, bottom, three-quarter",
                           word);
}

/* --view: names and "AZ,EL" between commas or blanks; a number takes the next one with it. */
static int views_parse(picture_job *r, const char *text)
{
    char *copy = cli_format("%s", text), *word = copy;
    int status = CLI_OK;
    while (*word && status == CLI_OK) {
        size_t length = strcspn(word, ", ;");
        bool number = strchr("+-.0123456789", *word) != NULL && length > 0;
        if (number && word[length] == ',') length += 1 + strcspn(word + length + 1, ", ;");
        char *next = word[length] ? word + length + 1 : word + length;
        word[length] = 0;
        if (length > 0 && r->view_count == PICTURE_MAX_VIEWS)
            status = cli_usage_error(r->arguments, "more than %d views do not fit into a picture", PICTURE_MAX_VIEWS);
        else if (length > 0)
            status = view_parse(r->arguments, word, &r->views[r->view_count++]);
        word = next;
    }
    free(copy);
    if (status == CLI_OK && r->view_count == 0) status = cli_usage_error(r->arguments, "--view names no view");
    return status;
}

static int options_check(picture_job *r)
{
    const cli_arguments *a = r->arguments;
    r->output = cli_text(a, "output");
    if (!r->output) return cli_usage_error(a, "the output is missing: -o OUT (.png, .mp4, .webm or .gif)");
    r->video =
        cli_has_ending(r->output, ".mp4") || cli_has_ending(r->output, ".webm") || cli_has_ending(r->output, ".gif");
    if (!r->video && !cli_has_ending(r->output, ".png"))
        return cli_usage_error(a, "the ending of '%s' tells no format; use one of .png, .mp4, .webm, .gif", r->output);
    r->sheet = cli_flag(a, "sheet");
    r->quiet = cli_flag(a, "quiet");
    if (r->sheet && r->video) return cli_usage_error(a, "--sheet makes a .png, not a video");
    if (cli_given(a, "frame") && cli_given(a, "time"))
        return cli_usage_error(a, "only one of --frame and --time can be given");
    if (r->video && (cli_given(a, "time") || (cli_given(a, "frame") && !strchr(cli_text(a, "frame"), ':'))))
        return cli_usage_error(a, "a video shows many frames; choose them by --frame A:B:STEP");
    if (cli_given(a, "values") && cli_text_count(a, "values") > 1 &&
        cli_text_count(a, "values") != a->positional_count - 1)
        return cli_usage_error(a, "give one --values for all caches, or one for each");
    if (cli_given(a, "size")) {
        double size[2];
        if (!cli_parse_numbers(cli_text(a, "size"), 'x', 2, size) || size[0] < 16 || size[1] < 16 ||
            size[0] > MAX_SIDE || size[1] > MAX_SIDE || size[0] != floor(size[0]) || size[1] != floor(size[1]))
            return cli_usage_error(a, "--size %s: give WIDTHxHEIGHT, each from 16 to %d pixels, such as 640x480",
                                   cli_text(a, "size"), MAX_SIDE);
        r->width = (int)size[0], r->height = (int)size[1];
    }
    r->up = strcmp(cli_text(a, "up"), "z") == 0 ? pvec_make(0, 0, 1) : pvec_make(0, 1, 0);
    return views_parse(r, cli_text(a, "view"));
}

/* ---- sources and frames ---- */

static int sources_open(picture_job *r)
{
    const cli_arguments *a = r->arguments;
    int status = CLI_OK;
    /* Without a cache: the clip under linear blend skinning when there is a wish for one, else the rest pose. */
    bool moves = r->video || cli_given(a, "motion") || cli_given(a, "start") || cli_given(a, "end") || r->sheet ||
                 cli_given(a, "clip") || cli_given(a, "time") || cli_given(a, "frame");
    const char *fallback = moves && r->character->clip_count > 0 ? cutis_model_def_default().solver : "rest";
    int count = a->positional_count - 1;
    r->sources = cli_allocate((size_t)(count > 0 ? count : 1), sizeof *r->sources);
    do {
        const char *word = count > 0 ? a->positionals[r->source_count + 1] : fallback;
        status = picture_source_open(r->character, word, cli_text(a, "clip"), &r->sources[r->source_count++]);
    } while (status == CLI_OK && r->source_count < count);
    return status;
}

static int clip_choose(picture_job *r)
{
    const cutis_character *c = r->character;
    r->clip = c->clip_count > 0 ? 0 : -1;
    if (!cli_given(r->arguments, "clip")) return CLI_OK;
    r->clip = cli_find_clip(c, cli_text(r->arguments, "clip"));
    return r->clip < 0 ? CLI_USAGE : CLI_OK;
}

/* The motion of a file, as the clip. */
static int motion_add(picture_job *r)
{
    cutis_character *moved;
    cutis_error error;
    const char *path = cli_text(r->arguments, "motion");
    if (r->character->joint_count == 0)
        return cli_error("%s has no skeleton to move; 'cutis rig' makes one", r->character->name);
    if (cutis_character_add_bvh(r->character, path, NULL, 0, NULL, &moved, &error) != CUTIS_OK)
        return cli_library_error(&error);
    cutis_character_destroy(r->character);
    r->character = moved;
    r->clip = moved->clip_count - 1;
    return CLI_OK;
}

/* The --set options that concern a source's solvers; what is known to none of them is left to others. */
static int settings_pick(const picture_job *r, const picture_source *source, cutis_setting *picked)
{
    int count = 0;
    for (int i = 0; i < r->setting_count; i++)
        if (picture_source_has_parameter(source, r->settings[i].key)) picked[count++] = r->settings[i];
    return count;
}

static int settings_check(const picture_job *r)
{
    for (int i = 0; i < r->setting_count; i++) {
        bool known = false;
        for (int k = 0; k < r->source_count; k++)
            known |= picture_source_has_parameter(&r->sources[k], r->settings[i].key);
        if (!known)
            return cli_usage_error(r->arguments, "--set %s=%s: no solver shown has such a parameter",
                                   r->settings[i].key, r->settings[i].value);
    }
    return CLI_OK;
}

/* Run the solvers, and read the values and texture coordinates that come in files. */
static int sources_run(picture_job *r)
{
    const cli_arguments *a = r->arguments;
    int status = CLI_OK;
    for (int i = 0; i < r->source_count && status == CLI_OK; i++) {
        picture_source *s = &r->sources[i];
        bool file = cli_given(a, "values");
        if (s->kind == SOURCE_SOLVER) {
            picture_wants wants = {.value = r->paint == PAINT_VALUES && !file ? r->color_name : NULL,
                                   .texcoords = strcmp(cli_text(a, "texture"), "none") != 0,
                                   .tissues = cli_given(a, "cut"),
                                   .elements = cli_given(a, "elements")};
            cutis_setting *settings = cli_allocate((size_t)r->setting_count, sizeof *settings);
            int setting_count = settings_pick(r, s, settings);
            status = picture_source_run(s, r->character, r->clip, &r->times, settings, setting_count, r->pool, &wants,
                                        r->quiet);
            free(settings);
        }
        if (status == CLI_OK && file)
            status = picture_source_read_values(s, r->character, &r->times,
                                                cli_text_at(a, "values", cli_text_count(a, "values") > 1 ? i : 0));
        if (status == CLI_OK && i < cli_text_count(a, "texcoords"))
            status = picture_source_read_texcoords(s, r->character, &r->times, cli_text_at(a, "texcoords", i));
        for (int t = 0; t < SOURCE_TISSUES; t++) r->tissues |= s->tissues[t] != NULL;
        r->elements |= s->elements != NULL;
    }
    if (status == CLI_OK && cli_given(a, "elements") && !r->elements)
        status = cli_error("--elements: none of the sources is a solver that has voxels or particles to show");
    if (status == CLI_OK) picture_paint_range(r);
    return status;
}

/* ---- preparation ---- */

static int body_prepare(picture_job *r)
{
    const cutis_character *c = r->character;
    if (!picture_possible())
        return cli_error("this build of cutis draws no pictures, because it was built without Embree; "
                         "baking, measuring and rigging work");
    r->tracer = picture_tracer_create();
    if (!r->tracer) return cli_error("the ray tracer (Embree) cannot be started");
    if (!picture_body_create(c, &r->body)) return cli_error("no memory is left");
    if (r->paint == PAINT_VOLUME && !picture_body_find_opposites(&r->body, r->tracer))
        return cli_error("no memory is left");
    r->normals = cli_allocate((size_t)c->triangle_count, 9 * sizeof(float));
    r->values = cli_allocate((size_t)c->vertex_count, sizeof(float));
    r->scratch = cli_allocate((size_t)c->point_count, 2 * sizeof(float));
    r->joints = cli_allocate((size_t)c->joint_count, 12 * sizeof(float));
    if (r->paint == PAINT_WEIGHTS || r->paint == PAINT_PART) {
        r->colors = cli_allocate((size_t)c->vertex_count, 3 * sizeof(float));
        (r->paint == PAINT_PART ? picture_colors_parts : picture_colors_weights)(c, r->colors);
    }
    return CLI_OK;
}

static int still_write(picture_job *r, picture_image *page)
{
    cutis_error error;
    cli_progress progress;
    long done = 0, total = (long)r->source_count * r->view_count * (r->sheet ? r->times.count : 1);
    cli_progress_begin(&progress, "drawing", total, r->quiet || total == 1);
    int status = picture_page_draw(r, 0, page, &progress, &done);
    cli_progress_end(&progress);
    if (status == CLI_OK && picture_png_write(r->output, page, &error) != CUTIS_OK) status = cli_library_error(&error);
    return status;
}

static int video_write(picture_job *r, picture_image *page)
{
    cutis_error error;
    picture_video *video;
    cli_progress progress;
    long done = 0;
    if (picture_video_create(r->output, r->width, r->height, picture_times_rate(&r->times), &video, &error) != CUTIS_OK)
        return cli_library_error(&error);
    cli_progress_begin(&progress, "drawing", (long)r->times.count * r->source_count * r->view_count, r->quiet);
    int status = CLI_OK;
    for (int i = 0; i < r->times.count && status == CLI_OK; i++) {
        status = picture_page_draw(r, i, page, &progress, &done);
        if (status == CLI_OK && picture_video_append(video, page, &error) != CUTIS_OK)
            status = cli_library_error(&error);
    }
    cli_progress_end(&progress);
    if (status != CLI_OK) {
        picture_video_discard(video);
        return status;
    }
    return picture_video_finish(video, &error) == CUTIS_OK ? CLI_OK : cli_library_error(&error);
}

/* ---- the command ---- */

static int render_run(picture_job *r)
{
    const cli_arguments *a = r->arguments;
    int status = options_check(r);
    const char *input = a->positionals[0];
    if (status == CLI_OK) status = cli_check_output(r->output, cli_is_built_in(input) ? NULL : input, false);
    if (status == CLI_OK && r->video && !picture_video_possible())
        status =
            cli_error("the program ffmpeg, which makes videos, is not found; install it, or write a .png with --sheet");
    if (status != CLI_OK) return status;
    /* Until something is drawn no file is open. */
    cli_interrupt_at_once(true);
    r->character = cli_load_character(input, r->quiet, &status);
    if (!r->character) return status;
    r->pool = cli_create_pool(cli_integer(a, "threads"));
    if (!r->pool) return CLI_FAILURE;
    status = cli_given(a, "motion") ? motion_add(r) : clip_choose(r);
    if (status == CLI_OK) status = cli_add_given_props(a, r->clip, r->quiet, &r->character);
    if (status == CLI_OK) status = sources_open(r);
    if (status == CLI_OK)
        status = picture_times_find(a, r->character, r->clip, r->sources, r->source_count, r->quiet, &r->times);
    if (status == CLI_OK && (cli_given(a, "start") || cli_given(a, "end"))) status = picture_times_limit(a, &r->times);
    int spread = r->sheet ? (r->source_count * r->view_count > 1 ? SHEET_COLUMNS : SHEET_FRAMES) : 1;
    if (status == CLI_OK) status = picture_times_choose(a, r->video ? 0 : spread, &r->times);
    /* Everything that can be wrong with the options before anything that takes time. */
    if (status == CLI_OK) status = picture_paint_choose(r);
    if (status == CLI_OK) status = settings_check(r);
    if (status == CLI_OK) status = picture_panel_check(r);
    if (status == CLI_OK) status = sources_run(r);
    if (status == CLI_OK) status = body_prepare(r);
    cli_interrupt_at_once(false);
    if (status != CLI_OK) return status;
    picture_page_bounds(r);
    status = picture_page_layout(r);
    if (status == CLI_OK) status = picture_page_cameras(r);
    if (status != CLI_OK) return status;
    picture_image page;
    if (!picture_image_create(r->width, r->height, &page)) return cli_error("no memory is left");
    status = r->video ? video_write(r, &page) : still_write(r, &page);
    picture_image_destroy(&page);
    if (status == CLI_OK && !r->quiet) {
        printf("%s (%d x %d", r->output, r->width, r->height);
        if (r->video) printf(", %d frames at %.4g per second", r->times.count, picture_times_rate(&r->times));
        printf(")\n");
    }
    return status;
}

static int run(const cli_arguments *arguments)
{
    picture_job r = {.arguments = arguments};
    r.settings = cli_pairs(arguments, "set", &r.setting_count);
    int status = render_run(&r);
    for (int i = 0; i < r.source_count; i++) picture_source_close(&r.sources[i]);
    picture_body_destroy(&r.body);
    picture_tracer_destroy(r.tracer);
    cutis_pool_destroy(r.pool);
    cutis_character_destroy(r.character);
    free(r.sources);
    free(r.times.frames);
    free(r.normals);
    free(r.values);
    free(r.scratch);
    free(r.colors);
    free(r.joints);
    free(r.prop_points);
    free(r.settings);
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_OUTPUT("OUT", "picture (.png) or video (.mp4, .webm, .gif)"),
    {.name = "frame",
     .kind = CLI_TEXT,
     .value = "N|A:B:STEP",
     .help = "the frame shown, from 0 (-1 is the last), or frames of a video or sheet; parts may be left out"},
    CLI_OPTION_CLIP("clip for solvers and bones; the first when not given"),
    CLI_OPTION_MOTION("take the motion from this file instead of a clip"),
    CLI_OPTION_RANGE,
    {.name = "time", .kind = CLI_NUMBER, .value = "SECONDS", .help = "an instant of the clip instead of a frame"},
    CLI_OPTION_FPS("frames per second of clips, and of caches that do not tell", NULL),
    CLI_OPTION_SET("a parameter of the solvers that run here"),
    CLI_OPTION_PROP,
    {.name = "sheet", .kind = CLI_FLAG, .help = "a contact sheet: frames in a row, caches one under the other"},
    {.name = "columns", .kind = CLI_INTEGER, .value = "N", .help = "panels in a row", .min = 1, .max = 100},
    {.name = "size",
     .kind = CLI_TEXT,
     .value = "WxH",
     .help = "pixels of the whole picture (default 640x480 for one panel)"},
    {.name = "view",
     .kind = CLI_TEXT,
     .value = "AZ,EL",
     .help = "azimuth (0 sees the front, 90 the left side) and elevation in degrees, or front, side, top, ...; "
             "several: A B",
     .fallback = "30,12"},
    {.name = "zoom",
     .kind = CLI_NUMBER,
     .value = "X",
     .help = "magnification",
     .fallback = "1",
     .min = 0.05,
     .max = 100},
    {.name = "focus", .kind = CLI_TEXT, .value = "X,Y,Z|JOINT", .help = "what stands in the middle of the picture"},
    {.name = "color",
     .kind = CLI_TEXT,
     .value = "WHAT",
     .help = "none, stretch, area, volume, weights, weights:JOINT, part, layer, pressure, or a map or output by name",
     .fallback = "none"},
    {.name = "values",
     .kind = CLI_TEXT,
     .value = "FILE.npy",
     .help = "colour by these numbers, (frames x vertices); one for all caches or one for each",
     .repeats = true},
    {.name = "range", .kind = CLI_TEXT, .value = "LOW,HIGH", .help = "values at the ends of the colour bar"},
    {.name = "elements",
     .kind = CLI_CHOICE,
     .value = "LAYER",
     .help = "draw the voxels or particles of solvers instead of the skin: all, or those of one layer",
     .choices = "all|bone|muscle|fat|inner3|inner4|skin"},
    {.name = "no-legend", .kind = CLI_FLAG, .help = "no colour bar"},
    {.name = "wire", .kind = CLI_FLAG, .help = "draw the edges of the faces"},
    {.name = "skeleton", .kind = CLI_FLAG, .help = "draw the bones over the picture"},
    {.name = "cut", .kind = CLI_TEXT, .value = "PLANE", .help = "cut it open: x, y, z, x=OFFSET, or NX,NY,NZ,D"},
    {.name = "texture",
     .kind = CLI_CHOICE,
     .value = "T",
     .help = "pattern on the texture coordinates",
     .fallback = "none",
     .choices = "none|checker|grid|tattoo|veins"},
    {.name = "texcoords",
     .kind = CLI_TEXT,
     .value = "FILE.npy",
     .help = "moving texture coordinates, (frames x corners x 2); one for each cache",
     .repeats = true},
    {.name = "texture-scale",
     .kind = CLI_NUMBER,
     .value = "N",
     .help = "squares of the pattern across the texture",
     .fallback = "16",
     .min = 0.01,
     .max = 10000},
    {.name = "caption",
     .kind = CLI_TEXT,
     .value = "TEXT",
     .help = "text under a cache's panels, in the order of the caches",
     .repeats = true},
    {.name = "background",
     .kind = CLI_CHOICE,
     .value = "B",
     .help = "what is behind",
     .fallback = "studio",
     .choices = "studio|white|transparent"},
    {.name = "no-floor", .kind = CLI_FLAG, .help = "no shadow on the floor"},
    {.name = "up",
     .kind = CLI_CHOICE,
     .value = "AXIS",
     .help = "the axis that points up",
     .fallback = "y",
     .choices = "y|z"},
    {.name = "quality",
     .kind = CLI_INTEGER,
     .value = "N",
     .help = "N x N samples a pixel (default 3; 2 for videos)",
     .min = 1,
     .max = 8},
    CLI_OPTION_THREADS,
    CLI_OPTION_QUIET("print nothing but errors"),
};

const cli_command cmd_render = {
    .name = "render",
    .usage = "FILE|NAME [CACHE ...] -o OUT.png|.mp4|.webm|.gif [options]",
    .summary = "draw a character, its caches side by side, or a video",
    .description =
        "A CACHE is a file that 'cutis bake' wrote (a .glb is played), the name of a solver, which then runs here "
        "along the clip, or 'rest'. "
        "Several stand side by side under their names. Without any, the clip is shown under linear blend skinning, or "
        "the rest pose when neither a clip nor frames are asked for.\n"
        "Everything in a picture is seen by the same camera. --size is the size of the whole picture.\n"
        "--color stretch shows, of the edges at a vertex, the one that is longest or shortest against rest; area the "
        "triangles around it; volume the flesh between them and the middle of the body; 1 means as at rest.\n"
        "--cut takes away the half in front of the plane (for NX,NY,NZ,D: where N . p > D). The matter of closed "
        "surfaces is shown at the plane as solid, with an outline, and darker where the body passes through itself; "
        "open "
        "surfaces show their inside. Solvers with "
        "layers "
        "show them.\n"
        "Videos are encoded by the program ffmpeg.",
    .examples = "cutis render arm --clip flex --time 1 -o arm.png\n"
                "cutis render arm lbs.pc2 dqs.pc2 --frame 30 --caption \"linear blend\" --caption \"dual quaternions\" "
                "-o both.png\n"
                "cutis render arm rest lbs dqs --clip twist --frame 40 --color volume -o twist.png\n"
                "cutis render man lbs --clip walk --sheet -o walk.png\n"
                "cutis render man --view front,side,back,three-quarter --wire -o man.png\n"
                "cutis render hero.glb hero.pc2 --cut x --size 1280x720 -o hero.mp4",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = -1,
    .run = run,
};
