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

#include "cli.h"
#include "picture.h"
#include "picture_character.h"
#include "picture_source.h"

enum {
    MAX_VIEWS = 12,
    MAX_SIDE = 16384,   /* pixels */
    SHEET_FRAMES = 12,  /* of a sheet of one source when no frames are asked for */
    SHEET_COLUMNS = 6,  /* frames a row when there are several sources */
    PANEL_HEIGHT = 480, /* when no size is asked for */
    SHEET_HEIGHT = 240
};

typedef struct render_view {
    char name[32];
    float azimuth, elevation;
    picture_camera camera; /* of a panel */
} render_view;

/* What colours the surface. */
typedef enum paint {
    PAINT_NONE,
    PAINT_STRETCH,
    PAINT_AREA,
    PAINT_VOLUME,
    PAINT_WEIGHT,  /* of one joint */
    PAINT_WEIGHTS, /* of all, mixed colours */
    PAINT_PART,
    PAINT_MAP,   /* painted by the artist, in the file */
    PAINT_VALUES /* from a file or from the solver */
} paint;

typedef struct render {
    const cli_arguments *arguments;
    const char *output;
    bool video, sheet, quiet;
    cutis_character *character;
    int clip; /* -1: none */
    picture_source *sources;
    int source_count;
    picture_times times;
    render_view views[MAX_VIEWS];
    int view_count;

    cutis_pool *pool;
    picture_tracer *tracer;
    picture_body body;
    float *normals;                /* (triangle_count x 9) of the panel in work */
    float *values, *scratch;       /* (vertex_count), (point_count x 2) of the panel in work */
    float *colors;                 /* (vertex_count x 3), the same in all panels, or NULL */
    float *joints;                 /* (joint_count x 12) of the panel in work */
    pvec up, low, high;            /* bounds of all that is shown */
    const cutis_setting *settings; /* of solvers that run here */
    int setting_count;

    paint paint;
    const char *color_name; /* for the legend */
    picture_map map;
    float range[2];
    int joint; /* PAINT_WEIGHT */

    /* Layout, pixels. */
    int width, height, columns, rows;
    int legend, caption; /* heights of the strips; 0: none */
    int gap;
    float text; /* height of capitals */
} render;

/* ---- options ---- */

static const struct {
    const char *name;
    float azimuth, elevation;
} NAMED_VIEWS[] = {{"front", 0, 5},    {"left", 90, 5},           {"right", -90, 5},
                   {"side", 90, 5},    {"back", 180, 5},          {"top", 0, 89},
                   {"bottom", 0, -89}, {"three-quarter", 35, 15}, {"three-quarter-back", 145, 15}};

/* One view: a name, or "AZ,EL". Takes what it reads from *text. */
static int view_parse(const cli_arguments *arguments, const char *word, render_view *view)
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

/* --views: names and "AZ,EL" between commas or blanks; a number takes the next one with it. */
static int views_parse(render *r, const char *text)
{
    char *copy = cli_format("%s", text), *word = copy;
    int status = CLI_OK;
    while (*word && status == CLI_OK) {
        size_t length = strcspn(word, ", ;");
        bool number = strchr("+-.0123456789", *word) != NULL && length > 0;
        if (number && word[length] == ',') length += 1 + strcspn(word + length + 1, ", ;");
        char *next = word[length] ? word + length + 1 : word + length;
        word[length] = 0;
        if (length > 0 && r->view_count == MAX_VIEWS)
            status = cli_usage_error(r->arguments, "more than %d views do not fit into a picture", MAX_VIEWS);
        else if (length > 0)
            status = view_parse(r->arguments, word, &r->views[r->view_count++]);
        word = next;
    }
    free(copy);
    if (status == CLI_OK && r->view_count == 0) status = cli_usage_error(r->arguments, "--views names no view");
    return status;
}

static int options_check(render *r)
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
    if (cli_given(a, "frame") + cli_given(a, "frames") + cli_given(a, "time") > 1)
        return cli_usage_error(a, "only one of --frame, --frames and --time can be given");
    if (r->video && (cli_given(a, "frame") || cli_given(a, "time")))
        return cli_usage_error(a, "a video shows many frames; choose them by --frames A:B:STEP");
    if (cli_given(a, "view") && cli_given(a, "views"))
        return cli_usage_error(a, "--view and --views exclude each other");
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
    if (cli_given(a, "views")) return views_parse(r, cli_text(a, "views"));
    r->view_count = 1;
    return view_parse(a, cli_text(a, "view"), &r->views[0]);
}

/* ---- sources and frames ---- */

static int sources_open(render *r)
{
    const cli_arguments *a = r->arguments;
    int status = CLI_OK;
    /* Without a cache: the clip under linear blend skinning when there is a wish for one, else the rest pose. */
    bool moves = r->video || r->sheet || cli_given(a, "clip") || cli_given(a, "time") || cli_given(a, "frame") ||
                 cli_given(a, "frames");
    const char *fallback = moves && r->character->clip_count > 0 ? "lbs" : "rest";
    int count = a->positional_count - 1;
    r->sources = cli_allocate((size_t)(count > 0 ? count : 1), sizeof *r->sources);
    do {
        const char *word = count > 0 ? a->positionals[r->source_count + 1] : fallback;
        status = picture_source_open(r->character, word, &r->sources[r->source_count++]);
    } while (status == CLI_OK && r->source_count < count);
    return status;
}

static int clip_choose(render *r)
{
    const cutis_character *c = r->character;
    r->clip = c->clip_count > 0 ? 0 : -1;
    if (!cli_given(r->arguments, "clip")) return CLI_OK;
    r->clip = cli_find_clip(c, cli_text(r->arguments, "clip"));
    return r->clip < 0 ? CLI_USAGE : CLI_OK;
}

/* How many frames there are and at what rate: the caches tell, or else the clip. */
static int times_find(render *r)
{
    const cutis_clip *clip = r->clip >= 0 ? &r->character->clips[r->clip] : NULL;
    picture_times *t = &r->times;
    bool cached = false, moving = false, uneven = false;
    for (int i = 0; i < r->source_count; i++) {
        const cutis_cache *cache = r->sources[i].cache;
        if (r->sources[i].kind == SOURCE_SOLVER) moving = true;
        if (!cache) continue;
        uneven |= cached && (cache->frame_count != t->available || cache->fps != t->fps);
        if (!cached) t->fps = cache->fps, t->start = cache->start, t->available = cache->frame_count;
        if (cache->frame_count < t->available) t->available = cache->frame_count;
        cached = true;
    }
    if (uneven && !r->quiet) cli_warning("the caches differ in length or rate; frames are matched by number");
    if (cli_given(r->arguments, "fps")) t->fps = cli_number(r->arguments, "fps");
    if (!cached && !cli_given(r->arguments, "fps")) t->fps = 30;
    if (!(t->fps > 0)) t->fps = 30;
    if (!cached) {
        double length = clip && moving ? (double)clip->end - (double)clip->start : 0;
        double frames = floor(length * t->fps + 1e-6) + 1;
        if (!(frames >= 1 && frames <= 1e6)) return cli_error("clip '%s' has too many frames", clip->name);
        t->available = (int)frames;
        t->start = clip && moving ? (double)clip->start : 0;
    }
    return CLI_OK;
}

static int frames_range_error(const render *r, const char *text)
{
    return cli_error("--frames %s: give FIRST:LAST or FIRST:LAST:STEP within 0:%d", text, r->times.available - 1);
}

/* "A:B:STEP"; a part that is left out is the first frame, the last, or 1. */
static int frames_parse(render *r, const char *text)
{
    long part[3] = {0, r->times.available - 1, 1};
    const char *s = text;
    for (int i = 0; i < 3; i++) {
        char *end;
        long n = strtol(s, &end, 10);
        if (end != s) part[i] = n;
        s = end;
        if (*s == 0) break;
        if (*s++ != ':' || i == 2) return frames_range_error(r, text);
        if (i == 0 && *s == 0) break;
    }
    if (!strchr(text, ':')) part[1] = part[0];
    for (int i = 0; i < 2; i++)
        if (part[i] < 0) part[i] += r->times.available; /* from the end */
    if (part[0] < 0 || part[1] < part[0] || part[1] >= r->times.available || part[2] < 1)
        return frames_range_error(r, text);
    r->times.count = (int)((part[1] - part[0]) / part[2]) + 1;
    r->times.frames = cli_allocate((size_t)r->times.count, sizeof *r->times.frames);
    for (int i = 0; i < r->times.count; i++) r->times.frames[i] = (int)(part[0] + i * part[2]);
    if (r->video) r->times.fps = r->times.fps + 0; /* frames keep their own times; see video_rate */
    return CLI_OK;
}

/* Frames per second of the video: left-out frames do not speed it up. */
static double video_rate(const render *r)
{
    const picture_times *t = &r->times;
    return t->count > 1 ? t->fps / (t->frames[1] - t->frames[0]) : t->fps;
}

static int frames_choose(render *r)
{
    const cli_arguments *a = r->arguments;
    picture_times *t = &r->times;
    if (cli_given(a, "frames")) return frames_parse(r, cli_text(a, "frames"));
    if (r->video) return frames_parse(r, ":");
    if (cli_given(a, "time")) {
        double end = t->start + (t->available - 1) / t->fps;
        t->exact = true;
        t->time = cli_number(a, "time");
        if (t->time < t->start - 1e-6 || t->time > end + 1 / t->fps)
            return cli_error("--time %g is out of range: the motion runs from %g to %g s", t->time, t->start, end);
    }
    int wanted = r->sheet ? (r->source_count * r->view_count > 1 ? SHEET_COLUMNS : SHEET_FRAMES) : 1;
    t->count = wanted < t->available ? wanted : t->available;
    t->frames = cli_allocate((size_t)t->count, sizeof *t->frames);
    /* Spread evenly over the motion, both ends included. */
    for (int i = 0; i < t->count; i++)
        t->frames[i] = t->count > 1 ? (int)((long)i * (t->available - 1) / (t->count - 1)) : 0;
    if (cli_given(a, "frame")) {
        int frame = cli_integer(a, "frame");
        t->frames[0] = frame < 0 ? frame + t->available : frame;
        if (t->frames[0] < 0 || t->frames[0] >= t->available)
            return cli_error("there is no frame %d; the frames are 0 to %d", frame, t->available - 1);
        t->count = 1;
    }
    return CLI_OK;
}

/* ---- colours ---- */

static int joint_find(const render *r, const char *name, const char *option)
{
    int joint = cutis_character_find_joint(r->character, name);
    if (joint >= 0) return joint;
    const char **names = cli_allocate((size_t)r->character->joint_count, sizeof *names);
    for (int i = 0; i < r->character->joint_count; i++) names[i] = r->character->joints[i].name;
    const char *nearest = cli_nearest(name, names, r->character->joint_count);
    free(names);
    if (nearest)
        cli_error("%s: there is no joint '%s'; did you mean '%s'?", option, name, nearest);
    else
        cli_error("%s: %s has no joint '%s'; 'cutis info' lists its joints", option, r->character->name, name);
    return -1;
}

/* Whether some solver of the picture has an output of that name. */
static bool output_known(const render *r, const char *name)
{
    for (int i = 0; i < r->source_count; i++) {
        if (r->sources[i].kind != SOURCE_SOLVER) continue;
        for (const char *at = r->sources[i].name; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL) {
            char solver[64];
            snprintf(solver, sizeof solver, "%.*s", (int)strcspn(at, "+"), at);
            const cutis_solver_info *info = cutis_solver_find(solver);
            for (int k = 0; info && k < info->output_count; k++)
                if (strcmp(info->outputs[k], name) == 0) return true;
        }
    }
    return false;
}

static int color_unknown(const render *r, const char *name)
{
    static const char *const known[] = {"none",   "layer",   "stretch", "area", "pressure",
                                        "volume", "weights", "part",    "value"};
    const char *nearest = cli_nearest(name, known, CLI_COUNT(known));
    if (strcmp(name, "layer") == 0 || strcmp(name, "pressure") == 0 || strcmp(name, "value") == 0)
        return cli_usage_error(r->arguments,
                               "--color %s needs values: --values FILE.npy (frames x vertices), or a solver that gives "
                               "them in place of a cache",
                               name);
    if (nearest) return cli_usage_error(r->arguments, "there is no colouring '%s'; did you mean '%s'?", name, nearest);
    return cli_usage_error(
        r->arguments,
        "there is no colouring '%s': it is none of none, stretch, area, volume, weights, part, layer, "
        "pressure, a painted map of the character, or an output of the solvers shown",
        name);
}

static int paint_choose(render *r)
{
    const cli_arguments *a = r->arguments;
    const char *name = cli_given(a, "color") ? cli_text(a, "color") : cli_given(a, "values") ? "value" : "none";
    const cutis_character *c = r->character;
    r->color_name = name;
    r->map = PICTURE_MAP_DIVERGING;
    r->range[0] = 0.5f, r->range[1] = 1.5f;
    if (strcmp(name, "none") == 0) {
        r->paint = PAINT_NONE;
    } else if (cli_given(a, "values") || output_known(r, name)) {
        r->paint = PAINT_VALUES;
        r->map = strcmp(name, "layer") == 0                                    ? PICTURE_MAP_CATEGORY
                 : strcmp(name, "pressure") == 0 || strcmp(name, "touch") == 0 ? PICTURE_MAP_TOUCH
                                                                               : PICTURE_MAP_SEQUENTIAL;
        r->range[0] = r->range[1] = NAN; /* found from the values */
    } else if (strcmp(name, "stretch") == 0) {
        r->paint = PAINT_STRETCH;
    } else if (strcmp(name, "area") == 0) {
        r->paint = PAINT_AREA;
    } else if (strcmp(name, "volume") == 0) {
        r->paint = PAINT_VOLUME;
    } else if (strcmp(name, "weights") == 0) {
        r->paint = cli_given(a, "joint") ? PAINT_WEIGHT : PAINT_WEIGHTS;
        r->map = PICTURE_MAP_SEQUENTIAL;
        r->range[0] = 0, r->range[1] = 1;
        if (!c->influence_first) return cli_error("%s has no weights to colour by", c->name);
        r->joint = r->paint == PAINT_WEIGHT ? joint_find(r, cli_text(a, "joint"), "--joint") : 0;
        if (r->joint < 0) return CLI_USAGE;
        if (r->paint == PAINT_WEIGHT) r->color_name = c->joints[r->joint].name;
    } else if (strcmp(name, "part") == 0) {
        r->paint = PAINT_PART;
    } else {
        int map = 0;
        while (map < c->map_count && strcmp(c->maps[map].name, name) != 0) map++;
        if (map == c->map_count) return color_unknown(r, name);
        r->paint = PAINT_MAP;
        r->joint = map;
        r->map = PICTURE_MAP_SEQUENTIAL;
        r->range[0] = 0, r->range[1] = 1;
    }
    if (cli_given(a, "range")) {
        double range[2];
        if (!cli_parse_numbers(cli_text(a, "range"), ',', 2, range) || !(range[0] < range[1]))
            return cli_usage_error(a, "--range %s: give LOW,HIGH with LOW below HIGH", cli_text(a, "range"));
        r->range[0] = (float)range[0], r->range[1] = (float)range[1];
    }
    return CLI_OK;
}

/* Values that come from outside: files, or outputs of solvers, which run here. */
static int sources_run(render *r)
{
    const cli_arguments *a = r->arguments;
    int status = CLI_OK;
    for (int i = 0; i < r->source_count && status == CLI_OK; i++) {
        picture_source *s = &r->sources[i];
        bool file = cli_given(a, "values");
        if (s->kind == SOURCE_SOLVER) {
            const char *output = r->paint == PAINT_VALUES && !file ? r->color_name : NULL;
            status = picture_source_run(s, r->character, r->clip, &r->times, r->settings, r->setting_count, r->pool,
                                        output, r->quiet);
        }
        if (status == CLI_OK && file) {
            int which = cli_text_count(a, "values") > 1 ? i : 0;
            status = picture_source_read_values(s, r->character, &r->times, cli_text_at(a, "values", which));
        }
    }
    if (status != CLI_OK || r->paint != PAINT_VALUES || !isnan(r->range[0])) return status;

    /* The range of all that is shown; a pressure begins at 0. */
    float low = INFINITY, high = -INFINITY;
    for (int i = 0; i < r->source_count; i++) {
        const float *values = r->sources[i].values;
        size_t count = values ? (size_t)r->times.count * (size_t)r->character->vertex_count : 0;
        for (size_t k = 0; k < count; k++)
            if (isfinite(values[k])) low = fminf(low, values[k]), high = fmaxf(high, values[k]);
    }
    if (!(low <= high)) low = 0, high = 1;
    if (r->map == PICTURE_MAP_TOUCH && low > 0) low = 0;
    if (low == high) high = low + 1;
    r->range[0] = low, r->range[1] = high;
    return CLI_OK;
}

/* The values of one panel into the mesh. */
static void paint_apply(render *r, const picture_source *source, int frame, const float *positions, picture_mesh *mesh)
{
    const cutis_character *c = r->character;
    mesh->map = r->map;
    mesh->range[0] = r->range[0], mesh->range[1] = r->range[1];
    mesh->vertex_values = r->values;
    switch (r->paint) {
    case PAINT_NONE:
        mesh->vertex_values = NULL;
        break;
    case PAINT_STRETCH:
        picture_value_stretch(c, positions, r->scratch, r->values);
        break;
    case PAINT_AREA:
        picture_value_area(c, positions, r->scratch, r->values);
        break;
    case PAINT_VOLUME:
        picture_value_volume(&r->body, positions, r->scratch, r->values);
        break;
    case PAINT_WEIGHT:
        picture_value_weight(c, r->joint, r->values);
        break;
    case PAINT_WEIGHTS:
    case PAINT_PART:
        mesh->vertex_values = NULL;
        mesh->vertex_colors = r->colors;
        break;
    case PAINT_MAP:
        mesh->vertex_values = c->maps[r->joint].values;
        break;
    case PAINT_VALUES:
        mesh->vertex_values = source->values ? source->values + (size_t)frame * (size_t)c->vertex_count : NULL;
        break;
    }
}

/* ---- preparation ---- */

/* The pose of the i-th frame shown, as far as it is known. */
static void pose_find(render *r, const picture_source *source, int i)
{
    const picture_times *t = &r->times;
    if (source->kind == SOURCE_REST) {
        cutis_pose_rest(r->character, r->joints);
        return;
    }
    double origin = r->clip >= 0 ? (double)r->character->clips[r->clip].start : 0;
    cutis_pose_sample(r->character, r->clip, t->exact ? t->time : origin + t->frames[i] / t->fps, r->joints);
}

static int body_prepare(render *r)
{
    const cutis_character *c = r->character;
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
    if (cli_flag(r->arguments, "skeleton") && c->joint_count == 0) return cli_error("%s has no skeleton", c->name);
    bool cached = false;
    for (int i = 0; i < r->source_count; i++) cached |= r->sources[i].kind == SOURCE_CACHE;
    if (cli_flag(r->arguments, "skeleton") && cached && c->clip_count > 1 && !cli_given(r->arguments, "clip"))
        return cli_usage_error(r->arguments, "a cache does not tell the pose of the bones: --skeleton needs --clip");
    return CLI_OK;
}

static void bounds_find(render *r)
{
    const cutis_character *c = r->character;
    r->low = pvec_make(INFINITY, INFINITY, INFINITY);
    r->high = pvec_make(-INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < r->source_count; i++)
        for (int f = 0; f < r->times.count; f++) {
            const float *p = picture_source_positions(&r->sources[i], c, &r->times, f);
            for (int v = 0; v < c->vertex_count; v++, p += 3) {
                if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue;
                r->low = pvec_make(fminf(r->low.x, p[0]), fminf(r->low.y, p[1]), fminf(r->low.z, p[2]));
                r->high = pvec_make(fmaxf(r->high.x, p[0]), fmaxf(r->high.y, p[1]), fmaxf(r->high.z, p[2]));
            }
        }
    if (!(r->low.x <= r->high.x)) r->low = pvec_load(c->bounds_min), r->high = pvec_load(c->bounds_max);
}

/* Everything that a view must see. */
static picture_frame view_extent(const render *r, const picture_camera *camera)
{
    picture_frame frame = picture_frame_start();
    for (int i = 0; i < r->source_count; i++)
        for (int f = 0; f < r->times.count; f++)
            picture_frame_add(&frame, camera, picture_source_positions(&r->sources[i], r->character, &r->times, f),
                              r->character->vertex_count);
    return frame;
}

/* Width over height of what a view sees, for pictures whose size is not given. */
static float view_aspect(const render *r, const render_view *view)
{
    picture_camera camera = picture_camera_aim(view->azimuth, view->elevation, 1, r->up);
    camera.tan_x = camera.tan_y = 1e-3f; /* from afar, where perspective does not matter */
    picture_frame frame = view_extent(r, &camera);
    float across = frame.high[0] - frame.low[0], down = frame.high[1] - frame.low[1];
    return across > 0 && down > 0 ? across / down : 1;
}

/* ---- layout ---- */

static bool captions_wanted(const render *r)
{
    return r->sheet || r->source_count > 1 || r->view_count > 1 || cli_text_count(r->arguments, "caption") > 0;
}

static bool legend_wanted(const render *r)
{
    return r->paint != PAINT_NONE && r->paint != PAINT_WEIGHTS && r->paint != PAINT_PART &&
           r->map != PICTURE_MAP_CATEGORY && !cli_flag(r->arguments, "no-legend");
}

static int layout_make(render *r)
{
    const cli_arguments *a = r->arguments;
    int frames = r->sheet ? r->times.count : 1, others = r->source_count * r->view_count;
    int panels = frames * others;
    /* Frames run along rows; without a sheet, sources do, or the views of a single source. */
    r->columns = r->sheet && others > 1 ? frames : r->source_count > 1 ? r->source_count : r->view_count;
    if (r->sheet && others == 1)
        r->columns = panels <= 4 ? panels : panels <= 8 ? (panels + 1) / 2 : panels <= 12 ? 4 : 6;
    if (cli_given(a, "columns")) r->columns = cli_integer(a, "columns");
    if (r->columns > panels) r->columns = panels;
    r->rows = (panels + r->columns - 1) / r->columns;

    bool sized = cli_given(a, "size"), captions = captions_wanted(r), legend = legend_wanted(r);
    int panel_height = sized ? r->height / r->rows : r->sheet ? SHEET_HEIGHT : PANEL_HEIGHT;
    r->text = fmaxf(6, fminf(18, (float)panel_height * (r->rows > 1 ? 0.036f : 0.028f)));
    r->caption = captions ? (int)(r->text * 2.5f) : 0;
    r->legend = legend ? (int)(fmaxf(9, r->text) * 3.6f) : 0;
    r->gap = panels > 1 ? (int)fmaxf(2, (float)panel_height * 0.012f) : 0;
    if (!sized) {
        float aspect = 0;
        for (int i = 0; i < r->view_count; i++) aspect = fmaxf(aspect, view_aspect(r, &r->views[i]));
        int panel_width = 640;
        if (panels > 1) panel_width = (int)((float)panel_height * fmaxf(0.62f, fminf(1.4f, aspect * 1.06f)));
        /* A row of many panels shrinks to a width that a page can show. */
        float shrink = fminf(1, 2400.0f / (float)(panel_width * r->columns));
        r->width = (int)((float)panel_width * shrink) * r->columns + r->gap * (r->columns - 1);
        r->height = ((int)((float)panel_height * shrink) + r->caption) * r->rows + r->gap * (r->rows - 1) + r->legend;
        if (panels == 1 && !captions && !legend) r->width = 640, r->height = 480;
        r->width += r->width & 1, r->height += r->height & 1; /* video codecs want even sides */
    }
    int smallest = (r->height - r->legend - r->gap * (r->rows - 1)) / r->rows - r->caption;
    if (smallest < 8 || (r->width - r->gap * (r->columns - 1)) / r->columns < 8)
        return cli_usage_error(a, "%d x %d panels do not fit into %d x %d pixels; give a larger --size", r->columns,
                               r->rows, r->width, r->height);
    if ((long)r->width * r->height > 200000000L)
        return cli_usage_error(a, "the picture is too large; give a smaller --size");
    return CLI_OK;
}

/* Pixels of panel i, caption excluded. */
static void panel_place(const render *r, int i, int *x, int *y, int *width, int *height)
{
    int column = i % r->columns, row = i / r->columns;
    int across = r->width - r->gap * (r->columns - 1), down = r->height - r->legend - r->gap * (r->rows - 1);
    *x = column * across / r->columns + column * r->gap;
    *y = row * down / r->rows + row * r->gap;
    *width = (column + 1) * across / r->columns - column * across / r->columns;
    *height = (row + 1) * down / r->rows - row * down / r->rows - r->caption;
}

/* --focus: a place, or a joint at the first frame shown. */
static int focus_find(render *r, pvec *focus)
{
    const char *text = cli_text(r->arguments, "focus");
    double p[3];
    if (cli_parse_numbers(text, ',', 3, p)) {
        *focus = pvec_make((float)p[0], (float)p[1], (float)p[2]);
        return CLI_OK;
    }
    int joint = joint_find(r, text, "--focus");
    if (joint < 0) return CLI_USAGE;
    pose_find(r, &r->sources[0], 0);
    const float *m = r->joints + (size_t)joint * 12;
    *focus = pvec_make(m[3], m[7], m[11]);
    return CLI_OK;
}

static int cameras_stand(render *r)
{
    int x, y, width, height;
    panel_place(r, 0, &x, &y, &width, &height);
    pvec focus = {0, 0, 0};
    int status = cli_given(r->arguments, "focus") ? focus_find(r, &focus) : CLI_OK;
    for (int i = 0; i < r->view_count && status == CLI_OK; i++) {
        render_view *v = &r->views[i];
        v->camera = picture_camera_aim(v->azimuth, v->elevation, (float)width / (float)height, r->up);
        picture_frame frame = view_extent(r, &v->camera);
        picture_camera_stand(&v->camera, &frame, 0.13f);
        if (cli_given(r->arguments, "focus")) {
            pvec d = pvec_sub(focus, v->camera.position);
            v->camera.position = pvec_madd(v->camera.position, v->camera.right, pvec_dot(d, v->camera.right));
            v->camera.position = pvec_madd(v->camera.position, v->camera.up, pvec_dot(d, v->camera.up));
        }
        float zoom = (float)cli_number(r->arguments, "zoom");
        v->camera.tan_x /= zoom, v->camera.tan_y /= zoom;
    }
    return status;
}

/* --cut: an axis, "x=0.1", or the four numbers of a plane. */
static int cut_parse(const render *r, const render_view *view, picture_scene *scene)
{
    const char *text = cli_text(r->arguments, "cut");
    if (!text) return CLI_OK;
    const cutis_character *c = r->character;
    double plane[4], offset;
    scene->cut = true;
    int axis = text[0] >= 'x' && text[0] <= 'z' ? text[0] - 'x' : -1;
    if (axis >= 0 && (text[1] == 0 || (text[1] == '=' && cli_parse_numbers(text + 2, ',', 1, &offset)))) {
        float middle = 0.5f * (c->bounds_min[axis] + c->bounds_max[axis]);
        float at = text[1] ? (float)offset : middle;
        float normal[3] = {0, 0, 0};
        normal[axis] = 1;
        scene->cut_normal = pvec_load(normal);
        /* The half towards the viewer goes. */
        float side = pvec_dot(scene->cut_normal, view->camera.forward) > 0 ? -1.0f : 1.0f;
        scene->cut_normal = pvec_scale(scene->cut_normal, side);
        scene->cut_offset = at * side;
        return CLI_OK;
    }
    if (cli_parse_numbers(text, ',', 4, plane)) {
        pvec normal = pvec_make((float)plane[0], (float)plane[1], (float)plane[2]);
        float length = pvec_length(normal);
        if (length > 0) {
            scene->cut_normal = pvec_scale(normal, 1 / length);
            scene->cut_offset = (float)plane[3] / length;
            return CLI_OK;
        }
    }
    return cli_usage_error(r->arguments, "--cut %s: give x, y or z, x=OFFSET, or a plane NX,NY,NZ,D", text);
}

/* ---- drawing ---- */

static const picture_color INK = {0.16f, 0.17f, 0.19f, 1};

/* A line of text in the middle of a strip, made smaller when it does not fit. */
static void text_centre(picture_image *image, const char *text, float x, float width, float base, float height)
{
    float wide = picture_text_width(text, height);
    if (wide > width * 0.96f) height *= width * 0.96f / wide;
    picture_text_draw(image, x + 0.5f * (width - picture_text_width(text, height)), base, height, INK, text);
}

static void caption_draw(const render *r, picture_image *page, int source, int view, int frame, const float place[4])
{
    const cli_arguments *a = r->arguments;
    int given = cli_text_count(a, "caption");
    const char *label = source < given ? cli_text_at(a, "caption", source) : r->sources[source].label;
    bool name = r->source_count > 1 || given > 0;
    char text[400] = "";
    if (name) snprintf(text, sizeof text, "%s", label);
    if (r->view_count > 1) {
        size_t end = strlen(text);
        snprintf(text + end, sizeof text - end, "%s%s", end ? ", " : "", r->views[view].name);
    }
    if (r->sheet) {
        size_t end = strlen(text);
        snprintf(text + end, sizeof text - end, "%sframe %d", end ? ", " : "", r->times.frames[frame]);
    }
    text_centre(page, text, place[0], place[2], place[1] + place[3] + (float)r->caption * 0.64f, r->text);
}

/* The colour bar: name, bar, ticks at both ends and in the middle. */
static void legend_draw(const render *r, picture_image *page)
{
    float text = fmaxf(9, r->text), width = fminf((float)r->width * 0.6f, 420), height = text * 0.9f;
    float x = ((float)r->width - width) / 2, y = (float)(r->height - r->legend) + text * 0.7f;
    float left = picture_text_width(r->color_name, text) + text;
    if (x < left) x = left, width = fmaxf(20, (float)r->width - x - text * 3);
    picture_text_draw(page, x - left + text * 0.3f, y + height, text, INK, r->color_name);
    for (int i = 0; i < (int)width; i++) {
        float value = r->range[0] + (r->range[1] - r->range[0]) * ((float)i + 0.5f) / width;
        picture_draw_rectangle(page, x + (float)i, y, 1, height, picture_map_color(r->map, value, r->range));
    }
    for (int i = 0; i < 3; i++) {
        float at = x + width * (float)i / 2;
        char number[32];
        double value = (double)r->range[0] + ((double)r->range[1] - (double)r->range[0]) * i / 2;
        if (fabs(value) < 1e-12) value = 0;
        snprintf(number, sizeof number, "%.3g", value);
        picture_draw_rectangle(page, at - 0.5f, y + height, 1, text * 0.3f, INK);
        float wide = picture_text_width(number, text * 0.85f);
        picture_text_draw(page, at - wide / 2, y + height + text * 1.4f, text * 0.85f, INK, number);
    }
}

/* One panel. */
static int panel_draw(render *r, int source_index, int frame, int view_index, picture_image *image)
{
    const cli_arguments *a = r->arguments;
    const picture_source *source = &r->sources[source_index];
    const cutis_character *c = r->character;
    const float *positions = picture_source_positions(source, c, &r->times, frame);
    const render_view *v = &r->views[view_index];

    int mesh_count = 1;
    picture_mesh *meshes = cli_allocate((size_t)c->prop_count + 1, sizeof *meshes);
    float **vertices = cli_allocate((size_t)c->prop_count + 1, sizeof *vertices);
    int **triangles = cli_allocate((size_t)c->prop_count + 1, sizeof *triangles);
    meshes[0] = picture_body_mesh(&r->body, positions, r->normals);
    paint_apply(r, source, frame, positions, &meshes[0]);
    meshes[0].wire = cli_flag(a, "wire");
    const char *texture = cli_text(a, "texture");
    static const char *const textures[] = {"none", "checker", "grid", "tattoo", "veins"};
    for (int i = 0; i < CLI_COUNT(textures); i++)
        if (strcmp(texture, textures[i]) == 0) meshes[0].texture = (picture_texture)i;
    meshes[0].texture_scale = (float)cli_number(a, "texture-scale");
    pose_find(r, source, frame);
    for (int i = 0; i < c->prop_count; i++) {
        /* Free props move by themselves; a cache does not say where to. */
        if (c->props[i].role != CUTIS_PROP_COLLIDER) continue;
        if (picture_prop_mesh(&c->props[i], r->joints, c->size, &meshes[mesh_count], &vertices[mesh_count],
                              &triangles[mesh_count]))
            mesh_count++;
    }

    picture_scene scene = {.mesh_count = mesh_count, .meshes = meshes, .camera = v->camera, .up = r->up};
    scene.centre = pvec_scale(pvec_add(r->low, r->high), 0.5f);
    scene.radius = 0.5f * pvec_length(pvec_sub(r->high, r->low));
    if (!(scene.radius > 0)) scene.radius = 1;
    scene.floor = pvec_dot(r->low, r->up);
    scene.quality = cli_integer(a, "quality");
    const char *background = cli_text(a, "background");
    scene.background = strcmp(background, "white") == 0         ? PICTURE_BACKGROUND_WHITE
                       : strcmp(background, "transparent") == 0 ? PICTURE_BACKGROUND_TRANSPARENT
                                                                : PICTURE_BACKGROUND_STUDIO;
    scene.ground = !cli_flag(a, "no-floor");
    int status = cut_parse(r, v, &scene);
    if (status == CLI_OK && !picture_render(r->tracer, &scene, cutis_pool_jobs(r->pool), image))
        status = cli_error("no memory is left to draw %d x %d pixels", image->width, image->height);
    if (status == CLI_OK && cli_flag(a, "skeleton")) picture_skeleton_draw(image, &v->camera, c, r->joints);
    for (int i = 0; i <= c->prop_count; i++) free(vertices[i]), free(triangles[i]);
    free(vertices);
    free(triangles);
    free(meshes);
    return status;
}

/* All panels of one instant (or of a whole sheet) into the page. */
static int page_draw(render *r, int first_frame, picture_image *page, cli_progress *progress, long *done)
{
    bool clear = strcmp(cli_text(r->arguments, "background"), "transparent") == 0;
    picture_image_fill(page, clear ? (picture_color){0, 0, 0, 0} : (picture_color){1, 1, 1, 1});
    int frames = r->sheet ? r->times.count : 1, status = CLI_OK, panel = 0;
    /* Rows of views or of sources; in a row, what differs most often. */
    int outer_count = r->sheet ? r->source_count * r->view_count : r->view_count;
    int inner_count = r->sheet ? frames : r->source_count;
    for (int outer = 0; outer < outer_count && status == CLI_OK; outer++)
        for (int inner = 0; inner < inner_count && status == CLI_OK; inner++, panel++) {
            int source = r->sheet ? outer / r->view_count : inner;
            int view = r->sheet ? outer % r->view_count : outer;
            int frame = r->sheet ? inner : first_frame;
            int x, y, width, height;
            panel_place(r, panel, &x, &y, &width, &height);
            picture_image image;
            if (!picture_image_create(width, height, &image)) return cli_error("no memory is left");
            status = panel_draw(r, source, frame, view, &image);
            picture_image_place(page, &image, x, y);
            picture_image_destroy(&image);
            const float place[4] = {(float)x, (float)y, (float)width, (float)height};
            if (r->caption) caption_draw(r, page, source, view, frame, place);
            cli_progress_update(progress, ++*done);
            if (cli_interrupted() && status == CLI_OK) status = CLI_INTERRUPTED;
        }
    if (r->legend) legend_draw(r, page);
    return status;
}

static int still_write(render *r, picture_image *page)
{
    cutis_error error;
    cli_progress progress;
    long done = 0, total = (long)r->source_count * r->view_count * (r->sheet ? r->times.count : 1);
    cli_progress_begin(&progress, "drawing", total, r->quiet || total == 1);
    int status = page_draw(r, 0, page, &progress, &done);
    cli_progress_end(&progress);
    if (status == CLI_OK && picture_png_write(r->output, page, &error) != CUTIS_OK) status = cli_library_error(&error);
    return status;
}

static int video_write(render *r, picture_image *page)
{
    cutis_error error;
    picture_video *video;
    cli_progress progress;
    long done = 0;
    if (picture_video_create(r->output, r->width, r->height, video_rate(r), &video, &error) != CUTIS_OK)
        return cli_library_error(&error);
    cli_progress_begin(&progress, "drawing", (long)r->times.count * r->source_count * r->view_count, r->quiet);
    int status = CLI_OK;
    for (int i = 0; i < r->times.count && status == CLI_OK; i++) {
        status = page_draw(r, i, page, &progress, &done);
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

static int render_run(render *r)
{
    const cli_arguments *a = r->arguments;
    int status = options_check(r);
    const char *input = a->positionals[0];
    if (status == CLI_OK) status = cli_check_output(r->output, cli_is_built_in(input) ? NULL : input, false);
    if (status != CLI_OK) return status;
    r->character = cli_load_character(input, r->quiet, &status);
    if (!r->character) return status;
    r->pool = cli_create_pool(cli_integer(a, "threads"));
    if (!r->pool) return CLI_FAILURE;
    status = clip_choose(r);
    if (status == CLI_OK) status = sources_open(r);
    if (status == CLI_OK) status = times_find(r);
    if (status == CLI_OK) status = frames_choose(r);
    if (status == CLI_OK) status = paint_choose(r);
    if (status == CLI_OK) status = sources_run(r);
    if (status == CLI_OK) status = body_prepare(r);
    if (status != CLI_OK) return status;
    bounds_find(r);
    status = layout_make(r);
    if (status == CLI_OK) status = cameras_stand(r);
    if (status != CLI_OK) return status;
    picture_image page;
    if (!picture_image_create(r->width, r->height, &page)) return cli_error("no memory is left");
    status = r->video ? video_write(r, &page) : still_write(r, &page);
    picture_image_destroy(&page);
    if (status == CLI_OK && !r->quiet) {
        printf("%s (%d x %d", r->output, r->width, r->height);
        if (r->video) printf(", %d frames at %.4g per second", r->times.count, video_rate(r));
        printf(")\n");
    }
    return status;
}

static int run(const cli_arguments *arguments)
{
    render r = {.arguments = arguments};
    int setting_count = cli_text_count(arguments, "set");
    cutis_setting *settings = cli_allocate((size_t)setting_count, sizeof *settings);
    char **copies = cli_allocate((size_t)setting_count, sizeof *copies);
    for (int i = 0; i < setting_count; i++) {
        copies[i] = cli_format("%s", cli_text_at(arguments, "set", i));
        char *middle = strchr(copies[i], '=');
        *middle = 0;
        settings[i] = (cutis_setting){copies[i], middle + 1};
    }
    r.settings = settings, r.setting_count = setting_count;
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
    for (int i = 0; i < setting_count; i++) free(copies[i]);
    free(copies);
    free(settings);
    return status;
}

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "OUT",
     .help = "picture (.png) or video (.mp4, .webm, .gif)"},
    {.name = "frame", .kind = CLI_INTEGER, .value = "N", .help = "the frame shown, from 0; -1 is the last"},
    {.name = "frames",
     .kind = CLI_TEXT,
     .value = "A:B:STEP",
     .help = "the frames of a video or a sheet; each part may be left out"},
    {.name = "clip",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "C",
     .help = "clip for solvers and bones; the first when not given"},
    {.name = "time", .kind = CLI_NUMBER, .value = "SECONDS", .help = "an instant of the clip instead of a frame"},
    {.name = "fps",
     .kind = CLI_NUMBER,
     .value = "F",
     .help = "frames per second of clips, and of caches that do not tell",
     .min = 0.01,
     .max = 10000},
    {.name = "set", .kind = CLI_PAIR, .value = "KEY=VALUE", .help = "a parameter of the solvers that run here"},
    {.name = "sheet", .kind = CLI_FLAG, .help = "a contact sheet: frames in a row, caches one under the other"},
    {.name = "columns", .kind = CLI_INTEGER, .value = "N", .help = "panels in a row", .min = 1, .max = 100},
    {.name = "size",
     .kind = CLI_TEXT,
     .value = "WxH",
     .help = "pixels of the whole picture (default 640x480 for one panel)"},
    {.name = "view",
     .kind = CLI_TEXT,
     .value = "AZ,EL",
     .help = "azimuth (0 sees the front, 90 the left side) and elevation in degrees, or a name",
     .fallback = "30,12"},
    {.name = "views",
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "several: front,side,back,top,three-quarter or AZ,EL pairs"},
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
     .help = "none, stretch, area, volume, weights, part, layer, pressure, or a painted map or output by name",
     .fallback = "none"},
    {.name = "values",
     .kind = CLI_TEXT,
     .value = "FILE.npy",
     .help = "colour by these numbers, (frames x vertices); one for all caches or one for each",
     .repeats = true},
    {.name = "joint", .kind = CLI_TEXT, .value = "NAME", .help = "the joint whose weights --color weights shows"},
    {.name = "range", .kind = CLI_TEXT, .value = "LOW,HIGH", .help = "values at the ends of the colour bar"},
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
     .help = "N x N samples a pixel",
     .fallback = "3",
     .min = 1,
     .max = 8},
    {.name = "threads",
     .letter = 'j',
     .kind = CLI_INTEGER,
     .value = "N",
     .help = "threads; 0 for one per processor; the picture is the same",
     .fallback = "0",
     .min = 0,
     .max = 256},
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "print nothing but errors"},
};

const cli_command cmd_render = {
    .name = "render",
    .usage = "FILE|NAME [CACHE ...] -o OUT.png|.mp4|.webm|.gif [options]",
    .summary = "draw a character, its caches side by side, or a video",
    .description =
        "A CACHE is a file that 'cutis bake' wrote, the name of a solver, which then runs here along the clip, or "
        "'rest'. "
        "Several stand side by side under their names. Without any, the clip is shown under linear blend skinning, or "
        "the rest pose when neither a clip nor frames are asked for.\n"
        "Everything in a picture is seen by the same camera. --size is the size of the whole picture.\n"
        "--color stretch shows, of the edges at a vertex, the one that is longest or shortest against rest; area the "
        "triangles around it; volume the flesh between them and the middle of the body; 1 means as at rest.\n"
        "--cut takes away the half in front of the plane (for NX,NY,NZ,D: where N . p > D). The matter of closed "
        "surfaces is shown at the plane as solid, with an outline; open surfaces show their inside.\n"
        "Videos are encoded by the program ffmpeg.",
    .examples = "cutis render arm --clip flex --time 1 -o arm.png\n"
                "cutis render arm lbs.pc2 dqs.pc2 --frame 30 --caption \"linear blend\" --caption \"dual quaternions\" "
                "-o both.png\n"
                "cutis render arm rest lbs dqs --clip twist --frame -1 --color volume -o twist.png\n"
                "cutis render man lbs --clip walk --sheet -o walk.png\n"
                "cutis render man --views front,side,back,three-quarter --wire -o man.png\n"
                "cutis render hero.glb hero.pc2 --cut x --size 1280x720 -o hero.mp4",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = -1,
    .run = run,
};
