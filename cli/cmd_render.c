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
    SHEET_FRAMES = 12, /* of a sheet of one source when no frames are asked for */
    SHEET_COLUMNS = 6  /* frames a row when there are several sources */
};

/* ---- sources and frames ---- */

static int sources_open(picture_job *r)
{
    const cli_arguments *a = r->arguments;
    int status = CLI_OK;

    /* Without a cache: linear-blend skinning of the clip when an option needs a clip, else the rest pose. */
    bool moves = r->video || r->sheet || cli_given(a, "clip") || cli_given(a, "motion") || cli_given(a, "frame");
    const char *fallback = moves && r->character->clip_count > 0 ? cutis_model_def_default().solver : "rest";

    /* each source that is named, or the one that stands in */
    int count = a->positional_count - 1;
    r->sources = cli_allocate((size_t)(count > 0 ? count : 1), sizeof *r->sources);

    do {
        const char *word = count > 0 ? a->positionals[r->source_count + 1] : fallback;
        status = picture_source_open(r->character, word, cli_text(a, "clip"), &r->sources[r->source_count++]);
    } while (status == CLI_OK && r->source_count < count);
    return status;
}

/* A cache of the skin does not contain the motion of free props. */
static void warn_hidden_props(const picture_job *r)
{
    const cutis_character *c = r->character;
    const char *cache = NULL, *prop = NULL;
    for (int i = 0; i < r->source_count; i++)
        if (r->sources[i].kind == SOURCE_CACHE && r->sources[i].cache->prop_count == 0) cache = r->sources[i].name;
    for (int i = 0; i < c->prop_count; i++)
        if (c->props[i].role != CUTIS_PROP_COLLIDER) prop = c->props[i].name;
    if (cache && prop && !r->quiet)
        cli_warning(
            "prop '%s' is not drawn, because '%s' does not contain its motion; pass the solver's name, or bake a .glb",
            prop, cache);
}

static int clip_choose(picture_job *r)
{
    const cutis_character *c = r->character;
    r->clip = c->clip_count == 0 ? -1 : cli_given(r->arguments, "motion") ? c->clip_count - 1 : 0;
    if (!cli_given(r->arguments, "clip")) return CLI_OK;
    r->clip = cli_find_clip(c, cli_text(r->arguments, "clip"));
    return r->clip < 0 ? CLI_USAGE : CLI_OK;
}

/* Select the --set options for a source's solvers. */
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
            return cli_usage_error(r->arguments, "--set %s=%s: none of the solvers drawn has this parameter",
                                   r->settings[i].key, r->settings[i].value);
    }
    return CLI_OK;
}

/* Run the solvers, and read values and texture coordinates from files. */
static int sources_run(picture_job *r)
{
    const cli_arguments *a = r->arguments;
    int status = CLI_OK;
    for (int i = 0; i < r->source_count && status == CLI_OK; i++) {
        picture_source *s = &r->sources[i];

        /* keep the solver's outputs that the picture needs */
        if (s->kind == SOURCE_SOLVER) {
            picture_wants wants = {.value = r->paint == PAINT_VALUES ? r->color_name : NULL,
                                   .texcoords = r->texture != PICTURE_TEXTURE_NONE || r->has_normal_map,
                                   .tissues = cli_given(a, "cut"),
                                   .elements = r->style.elements,
                                   .keys = r->keys,
                                   .key_count = r->key_count};

            cutis_setting *settings = cli_allocate((size_t)r->setting_count, sizeof *settings);
            int setting_count = settings_pick(r, s, settings);
            status = picture_source_run(s, r->character, r->clip, &r->times, settings, setting_count, r->pool, &wants,
                                        r->quiet);
            free(settings);
        }

        /* what comes from files */
        if (status == CLI_OK && r->values_from_files)
            status = picture_source_read_values(s, r->character, &r->times, r->color);
        if (status == CLI_OK && (r->texture != PICTURE_TEXTURE_NONE || r->has_normal_map))
            status = picture_source_read_texcoords(s, r->character, &r->times);
        if (status == CLI_OK && r->has_normal_map)
            status = picture_source_read_weights(s, r->character, &r->times, r->normal_path);

        for (int t = 0; t < SOURCE_TISSUES; t++) r->tissues |= s->tissues[t] != NULL;
        r->elements |= s->elements != NULL;
    }

    /* no source supports the style */
    if (status == CLI_OK && r->style.elements && !r->elements)
        status = cli_error("--style elements: none of the sources is a solver with voxels or particles");

    if (status == CLI_OK) picture_paint_range(r);
    return status;
}

/* ---- preparation ---- */

static int body_prepare(picture_job *r)
{
    const cutis_character *c = r->character;

    /* whether this build draws */
    if (!picture_possible())
        return cli_error("this build of cutis cannot draw pictures, because it was built without Embree; baking, "
                         "measuring and rigging work");

    r->tracer = picture_tracer_create();
    if (!r->tracer) return cli_error("the ray tracer (Embree) cannot be started");

    if (!picture_body_create(c, &r->body)) return cli_error("out of memory");
    if (r->paint == PAINT_VOLUME && !picture_body_find_opposites(&r->body, r->tracer))
        return cli_error("out of memory");

    r->normals = cli_allocate((size_t)c->triangle_count, 9 * sizeof(float));
    r->values = cli_allocate((size_t)c->vertex_count, sizeof(float));
    r->scratch = cli_allocate((size_t)c->point_count, 2 * sizeof(float));
    r->joints = cli_allocate((size_t)c->joint_count, 12 * sizeof(float));

    if (r->paint == PAINT_MATERIAL) {
        int status = picture_materials_load(r);
        if (status != CLI_OK) return status;
    }
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

    /* keep only a complete video */
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
    int status = picture_options_read(r);
    const char *input = a->positionals[0];
    if (status == CLI_OK) status = cli_check_output(r->output, cli_is_built_in(input) ? NULL : input, false);
    if (status == CLI_OK && r->video && !picture_video_possible())
        status =
            cli_error("videos need the program ffmpeg, which was not found; install it, or write a .png with --sheet");
    if (status != CLI_OK) return status;

    /* No file is open until drawing starts. */
    cli_interrupt_at_once(true);
    r->character = cli_load_character(input, r->quiet, &status);
    if (!r->character) return status;

    r->pool = cli_create_pool(cli_integer(a, "threads"));
    if (!r->pool) return CLI_FAILURE;

    status = cli_add_given_motion(a, r->quiet, &r->character);
    if (status == CLI_OK) status = clip_choose(r);
    if (status == CLI_OK) status = cli_add_given_props(a, r->clip, r->quiet, &r->character);
    if (status == CLI_OK) status = sources_open(r);
    if (status == CLI_OK) warn_hidden_props(r);

    if (status == CLI_OK)
        status = picture_times_find(a, r->character, r->clip, r->sources, r->source_count, r->quiet, &r->times);

    int spread = r->sheet ? (r->source_count * r->view_count > 1 ? SHEET_COLUMNS : SHEET_FRAMES) : 1;
    if (status == CLI_OK) status = picture_times_choose(a, r->video ? 0 : spread, &r->times);

    /* Check all options before anything slow. */
    if (status == CLI_OK) status = picture_paint_choose(r);
    if (status == CLI_OK) status = settings_check(r);
    if (status == CLI_OK) status = picture_panel_check(r);
    if (status == CLI_OK) status = sources_run(r);
    if (status == CLI_OK) status = body_prepare(r);
    cli_interrupt_at_once(false);
    if (status != CLI_OK) return status;

    /* the page, and every panel on it */
    picture_page_bounds(r);
    status = picture_page_layout(r);
    if (status == CLI_OK) status = picture_page_cameras(r);
    if (status != CLI_OK) return status;

    picture_image page;
    if (!picture_image_create(r->width, r->height, &page)) return cli_error("out of memory");
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
    int status = cli_keys(arguments, &r.keys, &r.key_count);
    if (status == CLI_OK) status = render_run(&r);

    /* all that it has taken */
    for (int i = 0; i < r.source_count; i++) picture_source_close(&r.sources[i]);
    picture_body_destroy(&r.body);
    picture_tracer_destroy(r.tracer);
    cutis_pool_destroy(r.pool);
    cutis_character_destroy(r.character);
    free(r.sources);
    free(r.times.frames);
    picture_materials_free(&r);
    free(r.normals);
    free(r.values);
    free(r.scratch);
    free(r.colors);
    free(r.joints);
    free(r.prop_points);
    free(r.settings);
    free(r.keys);
    picture_image_destroy(&r.image);
    picture_image_destroy(&r.normal_map);
    free(r.normal_path);
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_OUTPUT("OUT", "picture (.png) or video (.mp4, .webm, .gif)"),
    {.name = "frame",
     .kind = CLI_TEXT,
     .value = "N|A:B:STEP",
     .help = "frame to show, from 0 (-1 is the last), or a time, 1.5s; for a video or sheet the frames A:B:STEP, or a "
             "range of time, 0.5s:2s; parts may be omitted"},
    CLI_OPTION_CLIP("clip for solvers and skeleton; default: the first"),
    CLI_OPTION_MOTION("use the motion of this file (.bvh or another character) as the clip"),
    CLI_OPTION_FPS("frames per second of clips, and of caches without a rate", NULL),
    CLI_OPTION_SET("a parameter of the solvers that are run"),
    CLI_OPTION_PRESET,
    CLI_OPTION_AMOUNT,
    CLI_OPTION_PROP,
    {.name = "sheet", .kind = CLI_FLAG, .help = "contact sheet: frames in a row, caches below each other"},
    {.name = "size",
     .kind = CLI_TEXT,
     .value = "WxH",
     .help = "size of the whole picture in pixels (default 640x480 for one panel)"},
    {.name = "view",
     .kind = CLI_TEXT,
     .value = "AZ,EL",
     .help = "azimuth (0: front, 90: left side) and elevation in degrees, or front, side, top, ...; front@DEGREES for "
             "a character turned by this angle; separate several by blanks or commas",
     .fallback = "30,12"},
    {.name = "zoom",
     .kind = CLI_TEXT,
     .value = "X",
     .help = "magnification, 0.05 to 100; with a centre: 3@JOINT, 3@X,Y,Z",
     .fallback = "1"},
    {.name = "color",
     .kind = CLI_TEXT,
     .value = "WHAT",
     .help = "material (base colour, normal map and holes of the file; clay without a material), clay, stretch, area, "
             "volume, weights, weights:JOINT, part, a map or output by name, or FILE.npy (frames x vertices); with a "
             "range: volume@0.9,1.1",
     .fallback = "material"},
    {.name = "style",
     .kind = CLI_TEXT,
     .value = "A,B,...",
     .repeats = true,
     .help = "wire, skeleton, numbers (of joints), no-floor, no-legend, white or transparent (background), elements or "
             "elements:LAYER (voxels or particles of solvers: bone, muscle, fat, skin), columns:N (panels in a row), "
             "samples:N (N x N per pixel; 3, videos 2), z-up (the mesh stands along z), strip (panels "
             "without captions, legend and gaps)"},
    {.name = "cut", .kind = CLI_TEXT, .value = "PLANE", .help = "cut plane: x, y, z, x=OFFSET, or NX,NY,NZ,D"},
    {.name = "texture",
     .kind = CLI_TEXT,
     .value = "T",
     .help = "texture to apply: checker, grid, tattoo or veins, with the number of squares: checker@8; FILE.png; "
             "normals:FILE.png, a normal map such as those of 'cutis texture'; or both: A,normals:B",
     .fallback = "none"},
};

const cli_command cmd_render = {
    .name = "render",
    .usage = "FILE|NAME [CACHE ...] -o OUT.png|.mp4|.webm|.gif [options]",
    .summary = "draw a character or caches, side by side, as a picture or video",
    .description =
        "A CACHE is an output of 'cutis bake' (a .glb is played, with its props), the name of a solver, which is run "
        "on the clip, or 'rest'. Several are drawn side by side with their names; \"TEXT=CACHE\" changes a name. "
        "Without a CACHE, the clip is drawn with linear-blend skinning, or the rest pose when neither a clip nor a "
        "frame is given.\n"
        "All panels share one camera.\n"
        "--color stretch shows the most stretched or compressed edge at a vertex, area the triangles around it, volume "
        "the flesh between them and the middle of the body; 1 means unchanged. Outputs of 'cutis bake --outputs NAME' "
        "beside a cache are found: --color NAME shows them, and --texture follows moving texture coordinates.\n"
        "--cut removes the half in front of the plane (for NX,NY,NZ,D: where N . p > D). The inside of closed surfaces "
        "is drawn solid, with an outline, and darker where the body penetrates itself. Open surfaces show their "
        "inside. Solvers with layers show their layers.\n"
        "Videos are encoded by the program ffmpeg.",
    .examples = "cutis render arm --clip flex --frame 1s -o arm.png\n"
                "cutis render arm \"linear blend=lbs.pc2\" \"dual quaternions=dqs.pc2\" --frame 30 -o both.png\n"
                "cutis render arm rest lbs dqs --clip twist --frame 40 --color volume -o twist.png\n"
                "cutis render man lbs --clip walk --sheet -o walk.png\n"
                "cutis render man --view front,side,back,three-quarter --style wire -o man.png\n"
                "cutis render hero.glb hero.pc2 --cut x --size 1280x720 -o hero.mp4",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = -1,
    .run = run,
};
