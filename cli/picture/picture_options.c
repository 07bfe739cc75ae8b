/*
 * picture_options.c: the options of `cutis render` that hold more than a number, read into a job.
 *
 * Several of them are lists or carry a qualifier behind '@': --style wire,no-floor, --zoom 3@head, --color
 * volume@0.9,1.1,
 * --texture checker@8.
 */
#include "picture_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 16384 /* pixels */ };

/* ---- views ---- */

static const struct {
    const char *name;
    float azimuth, elevation;
} NAMED_VIEWS[] = {{"front", 0, 5},    {"left", 90, 5},           {"right", -90, 5},
                   {"side", 90, 5},    {"back", 180, 5},          {"top", 0, 89},
                   {"bottom", 0, -89}, {"three-quarter", 35, 15}, {"three-quarter-back", 145, 15}};

/* One view: a name, which "@DEGREES" turns with a character that faces another way, or "AZ,EL". */
static int view_parse(const cli_arguments *arguments, const char *word, picture_view *view)
{
    size_t length = strcspn(word, "@");
    double turn = 0;
    bool turned = word[length] == 0 || (cli_parse_numbers(word + length + 1, ',', 1, &turn) && fabs(turn) <= 3600);
    for (int i = 0; i < CLI_COUNT(NAMED_VIEWS) && turned; i++)
        if (strlen(NAMED_VIEWS[i].name) == length && strncmp(word, NAMED_VIEWS[i].name, length) == 0) {
            snprintf(view->name, sizeof view->name, "%s", NAMED_VIEWS[i].name);
            view->azimuth = NAMED_VIEWS[i].azimuth + (float)turn;
            view->elevation = NAMED_VIEWS[i].elevation;
            return CLI_OK;
        }

    /* by angles; straight down has no up, a hair less has */
    double numbers[2];
    if (cli_parse_numbers(word, ',', 2, numbers) && fabs(numbers[1]) <= 90 && fabs(numbers[0]) <= 3600) {
        snprintf(view->name, sizeof view->name, "%g, %g", numbers[0], numbers[1]);
        view->azimuth = (float)numbers[0];
        view->elevation = (float)fmin(89.9, fmax(-89.9, numbers[1]));
        return CLI_OK;
    }

    const char *names[CLI_COUNT(NAMED_VIEWS)];
    for (int i = 0; i < CLI_COUNT(NAMED_VIEWS); i++) names[i] = NAMED_VIEWS[i].name;
    const char *nearest = cli_nearest(word, names, CLI_COUNT(NAMED_VIEWS));
    if (nearest) return cli_usage_error(arguments, "unknown view '%s'; did you mean '%s'?", word, nearest);
    return cli_usage_error(
        arguments,
        "unknown view '%s': give AZIMUTH,ELEVATION in degrees (elevation -90 to 90), or front, side, "
        "left, right, back, top, bottom, three-quarter",
        word);
}

/* --view: names and "AZ,EL" between commas or blanks; a number takes the next one with it. */
static int views_parse(picture_job *r)
{
    char *copy = cli_format("%s", cli_text(r->arguments, "view"));
    char *word = copy;
    int status = CLI_OK;

    while (*word && status == CLI_OK) {
        /* a name, or two numbers */
        size_t length = strcspn(word, ", ;");
        bool number = strchr("+-.0123456789", *word) != NULL && length > 0;
        if (number && word[length] == ',') length += 1 + strcspn(word + length + 1, ", ;");

        char *next = word[length] ? word + length + 1 : word + length;
        word[length] = 0;

        /* a view each */
        if (length > 0 && r->view_count == PICTURE_MAX_VIEWS)
            status = cli_usage_error(r->arguments, "more than %d views do not fit into a picture", PICTURE_MAX_VIEWS);
        else if (length > 0)
            status = view_parse(r->arguments, word, &r->views[r->view_count++]);
        word = next;
    }

    free(copy);
    if (status == CLI_OK && r->view_count == 0) status = cli_usage_error(r->arguments, "--view is empty");
    return status;
}

/* ---- style ---- */

enum {
    STYLE_WIRE,
    STYLE_SKELETON,
    STYLE_NO_FLOOR,
    STYLE_NO_LEGEND,
    STYLE_WHITE,
    STYLE_TRANSPARENT,
    STYLE_ELEMENTS,
    STYLE_NUMBERS,
    STYLE_Z_UP,
    STYLE_STRIP
};
static const char *const STYLE_WORDS[] = {"wire",        "skeleton", "no-floor", "no-legend", "white",
                                          "transparent", "elements", "numbers",  "z-up",      "strip"};

/* The index of a word among names; -1: none. */
static int word_find(const char *word, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0) return i;
    return -1;
}

static int style_unknown(const picture_job *r, const char *word)
{
    const char *nearest = cli_nearest(word, STYLE_WORDS, CLI_COUNT(STYLE_WORDS));
    if (nearest) return cli_usage_error(r->arguments, "--style has no value '%s'; did you mean %s?", word, nearest);
    return cli_usage_error(r->arguments,
                           "--style has no value '%s'; it takes wire, skeleton, numbers, no-floor, no-legend, white, "
                           "transparent, elements, elements:LAYER, columns:N, samples:N, z-up, strip",
                           word);
}

/* "NAME:N" as a whole number from 1 to `most`. Sets *known when the word begins with NAME. */
static int style_number(const picture_job *r, const char *word, const char *name, int most, bool *known, int *number)
{
    size_t length = strlen(name);
    double value;
    if (strncmp(word, name, length) != 0 || word[length] != ':') return CLI_OK;
    *known = true;
    if (!cli_parse_numbers(word + length + 1, ',', 1, &value) || value < 1 || value > most || value != floor(value))
        return cli_usage_error(r->arguments, "--style %s: give a whole number from 1 to %d", word, most);
    *number = (int)value;
    return CLI_OK;
}

/* One word of --style. */
static int style_add(picture_job *r, const char *word)
{
    picture_style *s = &r->style;

    /* words with a number */
    bool numbered = false;
    int status = style_number(r, word, "columns", 100, &numbered, &s->columns);
    if (status == CLI_OK) status = style_number(r, word, "samples", 8, &numbered, &s->samples);
    if (numbered || status != CLI_OK) return status;

    bool layered = strncmp(word, "elements:", 9) == 0;
    switch (layered ? STYLE_ELEMENTS : word_find(word, STYLE_WORDS, CLI_COUNT(STYLE_WORDS))) {
    case STYLE_WIRE:
        s->wire = true;
        break;
    case STYLE_SKELETON:
        s->skeleton = true;
        break;
    case STYLE_NUMBERS:
        s->skeleton = true;
        s->numbers = true;
        break;
    case STYLE_NO_FLOOR:
        s->no_floor = true;
        break;
    case STYLE_NO_LEGEND:
        s->no_legend = true;
        break;
    case STYLE_STRIP:
        s->strip = true;
        s->no_legend = true;
        break;
    case STYLE_Z_UP:
        s->z_up = true;
        break;
    case STYLE_WHITE:
        s->background = PICTURE_BACKGROUND_WHITE;
        break;
    case STYLE_TRANSPARENT:
        s->background = PICTURE_BACKGROUND_TRANSPARENT;
        break;
    case STYLE_ELEMENTS:
        s->elements = true;
        s->element_layer = layered ? word_find(word + 9, picture_tissue_names, PICTURE_TISSUES) : -1;
        if (layered && s->element_layer < 0)
            return cli_usage_error(r->arguments, "--style %s: the layers are bone, muscle, fat, inner3 to inner8, skin",
                                   word);
        break;
    default:
        return style_unknown(r, word);
    }
    return CLI_OK;
}

/* --style: words between commas; given several times, they add up. */
static int style_parse(picture_job *r)
{
    r->style = (picture_style){.background = PICTURE_BACKGROUND_STUDIO, .element_layer = -1};
    int status = CLI_OK;
    for (int i = 0; i < cli_text_count(r->arguments, "style") && status == CLI_OK; i++) {
        char *copy = cli_format("%s", cli_text_at(r->arguments, "style", i));
        for (char *word = strtok(copy, ", "); word && status == CLI_OK; word = strtok(NULL, ", "))
            status = style_add(r, word);
        free(copy);
    }
    return status;
}

/* ---- values with a qualifier ---- */

/* --size: WIDTHxHEIGHT. */
static int size_parse(picture_job *r)
{
    const char *text = cli_text(r->arguments, "size");

    double size[2];
    if (!text) return CLI_OK;

    /* two whole numbers */
    bool good = cli_parse_numbers(text, 'x', 2, size);
    for (int i = 0; i < 2 && good; i++) good = size[i] >= 16 && size[i] <= MAX_SIDE && size[i] == floor(size[i]);
    if (!good)
        return cli_usage_error(r->arguments, "--size %s: give WIDTHxHEIGHT, each from 16 to %d pixels, such as 640x480",
                               text, MAX_SIDE);

    r->width = (int)size[0];
    r->height = (int)size[1];
    return CLI_OK;
}

/* --zoom: X, X@JOINT or X@X,Y,Z. */
static int zoom_parse(picture_job *r)
{
    const char *text = cli_text(r->arguments, "zoom");
    const char *at = strchr(text, '@');
    char number[32];
    double zoom;

    /* a number before the @ */
    snprintf(number, sizeof number, "%.*s", at ? (int)(at - text) : (int)strlen(text), text);
    if (!cli_parse_numbers(number, ',', 1, &zoom) || !(zoom >= 0.05 && zoom <= 100) || (at && !at[1]))
        return cli_usage_error(
            r->arguments, "--zoom %s: give a magnification from 0.05 to 100, or with a centre: 3@JOINT, 3@X,Y,Z", text);

    r->zoom = (float)zoom;
    r->focus = at ? at + 1 : NULL;
    return CLI_OK;
}

static int image_read(const char *path, picture_image *image)
{
    cutis_error error;
    return picture_png_read(path, image, &error) == CUTIS_OK ? CLI_OK : cli_library_error(&error);
}

/* One word of --texture: NAME, NAME@SQUARES, FILE.png or normals:FILE.png. */
static int texture_add(picture_job *r, const char *word)
{
    if (strncmp(word, "normals:", 8) == 0 && !r->has_normal_map) {
        r->has_normal_map = true;
        r->normal_path = cli_format("%s", word + 8);
        return image_read(word + 8, &r->normal_map);
    }
    if (cli_has_ending(word, ".png") && r->texture == PICTURE_TEXTURE_NONE) {
        r->texture = PICTURE_TEXTURE_IMAGE;
        return image_read(word, &r->image);
    }

    int index = picture_texture_find(word, &r->texture_scale);
    if (index < 0 || r->texture != PICTURE_TEXTURE_NONE)
        return cli_usage_error(r->arguments,
                               "--texture %s: give checker, grid, tattoo or veins, with the number of squares across "
                               "the texture: checker@8; or FILE.png; and normals:FILE.png for a normal map",
                               word);

    r->texture = (picture_texture)index;
    return CLI_OK;
}

/* --texture: words between commas. */
static int texture_parse(picture_job *r)
{
    char *copy = cli_format("%s", cli_text(r->arguments, "texture"));
    int status = CLI_OK;
    r->texture_scale = 16;
    for (char *word = strtok(copy, ","); word && status == CLI_OK; word = strtok(NULL, ","))
        status = texture_add(r, word);
    free(copy);
    return status;
}

/* --color: WHAT or WHAT@LOW,HIGH. */
static int color_parse(picture_job *r)
{
    const char *text = cli_text(r->arguments, "color");
    const char *at = strrchr(text, '@');
    double range[2];

    /* a range behind the last @ */
    r->range_given = at && cli_parse_numbers(at + 1, ',', 2, range);
    if (r->range_given && !(range[0] < range[1]))
        return cli_usage_error(r->arguments, "--color %s: give WHAT@LOW,HIGH with LOW below HIGH", text);

    /* the name before it */
    size_t length = r->range_given ? (size_t)(at - text) : strlen(text);
    if (length >= sizeof r->color)
        return cli_usage_error(r->arguments, "--color: the name has more than %d characters", (int)sizeof r->color - 1);

    memcpy(r->color, text, length);
    r->color[length] = 0;

    for (int i = 0; i < 2 && r->range_given; i++) r->range[i] = (float)range[i];
    return CLI_OK;
}

int picture_options_read(picture_job *r)
{
    const cli_arguments *a = r->arguments;

    r->output = cli_text(a, "output");
    if (!r->output) return cli_usage_error(a, "the output is missing: -o OUT (.png, .mp4, .webm or .gif)");
    r->video =
        cli_has_ending(r->output, ".mp4") || cli_has_ending(r->output, ".webm") || cli_has_ending(r->output, ".gif");
    if (!r->video && !cli_has_ending(r->output, ".png"))
        return cli_usage_error(
            a, "cannot detect the format of '%s' from its extension; use one of .png, .mp4, .webm, .gif", r->output);

    r->sheet = cli_flag(a, "sheet");
    r->quiet = cli_flag(a, "quiet");

    if (r->sheet && r->video) return cli_usage_error(a, "--sheet makes a .png, not a video");
    if (r->video && cli_given(a, "frame") && !strchr(cli_text(a, "frame"), ':'))
        return cli_usage_error(a, "a video shows many frames; choose them by --frame A:B:STEP");

    int status = size_parse(r);
    if (status == CLI_OK) status = views_parse(r);
    if (status == CLI_OK) status = style_parse(r);
    r->up = r->style.z_up ? pvec_make(0, 0, 1) : pvec_make(0, 1, 0);
    if (status == CLI_OK) status = zoom_parse(r);
    if (status == CLI_OK) status = texture_parse(r);
    if (status == CLI_OK) status = color_parse(r);
    return status;
}
