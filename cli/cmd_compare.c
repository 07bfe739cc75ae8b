/*
 * cmd_compare.c: one clip under several solvers: a table, a contact sheet and a page that holds all of it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bake_face.h"
#include "base/system.h"

extern const cli_command cmd_render; /* draws the pictures */

enum {
    SOLVER_LIMIT = 16,
    FILM_FRAMES = 24, /* of the page's player, at most */
    FILM_SIDE = 320   /* pixels of its panels */
};

/* One solver's run, with one amount of its flesh. */
typedef struct compared {
    char solver[128];
    cutis_bake_key amount;
    char label[160];           /* as it is shown: the solver, and the amount where there are several */
    char *cache;               /* path */
    cutis_bake_result *result; /* NULL: it could not be done */
    double jiggle;
} compared;

typedef struct comparison {
    const cli_arguments *arguments;
    const char *input, *folder;
    compared *entries;
    int count;
} comparison;

/* ---- solvers ---- */

static void add_solver(comparison *c, const char *name, size_t length)
{
    while (length > 0 && name[0] == ' ') name++, length--;
    while (length > 0 && name[length - 1] == ' ') length--;
    if (c->count == SOLVER_LIMIT || length == 0 || length >= sizeof c->entries[0].solver) return;
    compared *e = &c->entries[c->count++];
    snprintf(e->solver, sizeof e->solver, "%.*s", (int)length, name);
    snprintf(e->label, sizeof e->label, "%s", e->solver);
    e->amount = (cutis_bake_key){"amount", 0, 1};
}

/* A column for each amount of --amount, of every solver that has flesh to show. */
static int choose_amounts(comparison *c)
{
    double amounts[SOLVER_LIMIT];
    int count = 0;
    const char *text = cli_text(c->arguments, "amount");
    if (!text) return CLI_OK;

    for (const char *at = text; at; count++) {
        const char *comma = strchr(at, ',');
        char number[64];
        snprintf(number, sizeof number, "%.*s", comma ? (int)(comma - at) : (int)strlen(at), at);
        if (count == SOLVER_LIMIT || !cli_parse_numbers(number, ',', 1, &amounts[count]) || !(amounts[count] >= 0) ||
            amounts[count] > CUTIS_MAX_AMOUNT)
            return cli_usage_error(c->arguments, "--amount takes numbers from 0 to %g, as in 0,1,2, not '%s'",
                                   CUTIS_MAX_AMOUNT, text);
        at = comma ? comma + 1 : NULL;
    }

    /* solvers times amounts */
    compared *given = c->entries;
    int solver_count = c->count;
    c->entries = cli_allocate(SOLVER_LIMIT, sizeof *c->entries);
    c->count = 0;
    for (int i = 0; i < solver_count; i++) {
        for (int k = 0; k < count && c->count < SOLVER_LIMIT; k++) {
            compared *e = &c->entries[c->count++];
            *e = given[i];
            e->amount.value = amounts[k];
            snprintf(e->label, sizeof e->label, "%s amount %g", e->solver, amounts[k]);
        }
    }
    free(given);
    return CLI_OK;
}

/* --solvers, or all that make a body. */
static void choose_solvers(comparison *c)
{
    const char *list = cli_text(c->arguments, "solvers");
    for (int i = 0; !list && i < cutis_solver_count(); i++)
        add_solver(c, cutis_solver(i)->name, strlen(cutis_solver(i)->name));
    while (list && *list) {
        size_t length = strcspn(list, ",");
        add_solver(c, list, length);
        list += length + (list[length] == ',');
    }
}

/* Names are looked at before anything takes time. */
static int check_solvers(const comparison *c)
{
    for (int i = 0; i < c->count; i++) {
        char stack[sizeof c->entries[0].solver];
        strcpy(stack, c->entries[i].solver);
        for (char *name = strtok(stack, "+"); name; name = strtok(NULL, "+"))
            if (!cutis_solver_find(name)) return cli_unknown_solver(name);
    }
    return CLI_OK;
}

/*
 * Jiggle: the RMS speed of the flesh against the skeleton, over the size: how fast the distance from linear
 * blending changes, which is 0 for a body that only follows its bones.
 */
static double measure_jiggle(const float *frames, const float *base, int frame_count, int vertices, double fps,
                             double size)
{
    size_t floats = 3 * (size_t)vertices;
    double sum = 0;
    if (frame_count < 2) return 0;

    /* difference of the two velocities */
    for (int f = 1; f < frame_count; f++) {
        const float *a = frames + (size_t)(f - 1) * floats, *b = frames + (size_t)f * floats;
        const float *p = base + (size_t)(f - 1) * floats, *q = base + (size_t)f * floats;
        for (size_t i = 0; i < floats; i++) {
            double d = ((double)b[i] - (double)q[i]) - ((double)a[i] - (double)p[i]);
            sum += d * d;
        }
    }

    return fps * sqrt(sum / ((double)(frame_count - 1) * vertices)) / size;
}

static int run_solvers(comparison *c)
{
    const cli_arguments *arguments = c->arguments;

    bool quiet = cli_flag(arguments, "quiet");
    int done = 0;
    cutis_bake_result *base = NULL;
    cutis_prop_request *props;
    cutis_bake_def def = cutis_bake_def_default();
    int status = cli_prop_requests(arguments, &props, &def.prop_count);

    /* linear-blend skinning, which the others are compared with */
    def.props = props;
    def.solver = cutis_solver_with(CUTIS_SOLVER_BASELINE)->name;
    def.clip = cli_text(arguments, "clip");
    def.motion.name = cli_text(arguments, "motion");
    cutis_name_pair *map = cli_map(arguments, &def.map_count);
    def.map = map;
    def.fps = cli_number(arguments, "fps");
    def.start = cli_number(arguments, "start");
    def.end = cli_number(arguments, "end");
    def.threads = cli_integer(arguments, "threads");
    def.keep_frames = true;
    if (status == CLI_OK) status = bake_run(c->input, &def, quiet, &base);

    /* the solvers; one that cannot take this character says why, and is left out */
    def.measure = true;
    for (int i = 0; base && i < c->count && status != CLI_INTERRUPTED; i++) {
        compared *e = &c->entries[i];
        if (!quiet) fprintf(stderr, "cutis: %s (%d of %d)\n", e->label, i + 1, c->count);
        e->cache = cli_format("%s/%s.npy", c->folder, e->label);
        def.solver = e->solver;
        def.keys = &e->amount;
        def.key_count = 1;
        def.output = e->cache;
        def.outputs = strstr(e->solver, cutis_solver_with(CUTIS_SOLVER_SURFACE)->name) ? "texcoords" : NULL;
        status = bake_run(c->input, &def, true, &e->result);

        /* how much it moves beyond linear skinning */
        if (status != CLI_OK) continue;
        done++;
        e->jiggle = measure_jiggle(e->result->positions, base->positions, base->frame_count, base->vertex_count,
                                   base->fps, base->size);
    }

    cutis_bake_destroy(base);
    cli_prop_requests_free(props, def.prop_count);
    free(map);
    if (status == CLI_INTERRUPTED || (!done && status != CLI_OK)) return status;
    return done ? CLI_OK : CLI_FAILURE;
}

/* ---- table ---- */

static void print_table(const comparison *c)
{
    char bytes[32];
    cli_table *table = cli_table_create("lrrrrrrrrrrrl");
    cli_table_heads(table, "solver|volume %|union %|intersections|stretch p99|jitter 1/s2|jiggle 1/s|off %|turned|torn "
                           "%|ms per frame|memory|verdict");

    /* a row for each solver that could take the character */
    for (int i = 0; i < c->count; i++) {
        const compared *e = &c->entries[i];
        if (!e->result) continue;

        /* quality of the surface */
        const cutis_quality *q = &e->result->quality;
        cli_table_cell(table, "%s", e->label);
        cli_table_cell(table, "%.2f", 100 * q->volume_error_max);
        cli_table_cell(table, "%.2f", 100 * q->volume_union);
        cli_table_cell(table, "%d", q->self_intersections_max);
        cli_table_cell(table, "%.3f", q->stretch_p99);
        cli_table_cell(table, "%.2f", q->acceleration_rms);
        cli_table_cell(table, "%.4f", e->jiggle);

        /* harm against linear skinning, and cost */
        const double *harm = e->result->verdict.figures;
        cli_table_cell(table, "%.2f", 100 * harm[CUTIS_HARM_DISPLACEMENT_MAX]);
        cli_table_cell(table, "%.1f", harm[CUTIS_HARM_ANGLE_P95]);
        cli_table_cell(table, "%.2f", 100 * harm[CUTIS_HARM_TORN]);
        cli_table_cell(table, "%.3g", e->result->step_median * 1e3);
        cli_table_cell(table, "%s", cli_format_bytes(e->result->model_bytes + e->result->state_bytes, bytes));
        cli_table_cell(table, "%s", e->result->verdict.text);
    }

    cli_table_print(table, "");
}

/* ---- pictures ---- */

/* Whether the pictures can show the props: a mesh that the bake has rigged has no skeleton here to move them with. */
static bool props_are_shown(const comparison *c)
{
    int status;
    if (!cli_given(c->arguments, "prop") || !cli_given(c->arguments, "motion")) return cli_given(c->arguments, "prop");
    cutis_character *character = cli_load_character(c->input, true, &status);
    bool shown = character && character->joint_count > 0;
    cutis_character_destroy(character);
    if (!shown)
        cli_warning("%s has no skeleton of its own: the pictures do not show the props; 'cutis rig' makes one",
                    c->input);
    return shown;
}

/* Run 'cutis render' on the caches; extra: further arguments, NULL-terminated. */
static int draw(const comparison *c, bool props, const char *output, const char *const *extra)
{
    /* arguments of 'cutis render' */
    bool ranged = cli_given(c->arguments, "start") || cli_given(c->arguments, "end");
    char **argv = cli_allocate(3 * SOLVER_LIMIT + 32 + 2 * (size_t)c->arguments->given_count, sizeof *argv);

    int argc = 0;
    argv[argc++] = (char *)c->input;

    /* A cache does not hold the motion of the props: such a solver runs again for the picture of a whole clip. */
    char *sources[SOLVER_LIMIT];
    int source_count = 0;
    for (int i = 0; i < c->count; i++) {
        const compared *e = &c->entries[i];
        if (!e->result) continue;
        const char *shown = e->result->props_moved && !ranged && props ? e->solver : e->cache;
        sources[source_count] = cli_format("%s=%s", e->label, shown);
        argv[argc++] = sources[source_count++];
    }

    /* the same motion and props as in the bakes */
    char *fps = cli_format("%.9g", cli_number(c->arguments, "fps"));
    const char *fixed[] = {"--fps", fps, "--quiet", "-o", output, NULL};
    for (int i = 0; fixed[i]; i++) argv[argc++] = (char *)fixed[i];

    /* the caches hold the frames; only props need the motion, which may be where --clip is found */
    static const char *const passed[][2] = {
        {"prop", "--prop"}, {"clip", "--clip"}, {"motion", "--motion"}, {"map", "--map"}};
    for (int k = 0; k < CLI_COUNT(passed) && props; k++) {
        for (int i = 0; i < cli_text_count(c->arguments, passed[k][0]); i++) {
            argv[argc++] = (char *)passed[k][1];
            argv[argc++] = (char *)cli_text_at(c->arguments, passed[k][0], i);
        }
    }
    for (int i = 0; extra[i]; i++) argv[argc++] = (char *)extra[i];

    cli_arguments arguments;
    bool help;
    int status = cli_parse(&cmd_render, argc, argv, &arguments, &help);
    if (status == CLI_OK) {
        status = cmd_render.run(&arguments);
        cli_arguments_free(&arguments);
    }

    for (int i = 0; i < source_count; i++) free(sources[i]);
    free(fps);
    free(argv);
    return status;
}

/* ---- page ---- */

static const char *const colors[] = {"#8a8f98", "#2a78d6", "#d64550", "#2f9e63",
                                     "#b06ad4", "#d98a1f", "#178f9c", "#7c5b3a"};

static void write_escaped(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else
            fputc(*text, file);
    }
}

/* The bytes of a picture in base 64, as the data URI of a PNG. */
static void write_data_uri(FILE *file, FILE *image)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char in[3];
    size_t n;

    /* three bytes are four digits of base 64 */
    fputs("data:image/png;base64,", file);
    while ((n = fread(in, 1, 3, image)) > 0) {
        unsigned bits = (unsigned)in[0] << 16 | (n > 1 ? (unsigned)in[1] << 8 : 0) | (n > 2 ? in[2] : 0u);
        fputc(digits[bits >> 18], file);
        fputc(digits[bits >> 12 & 63], file);
        fputc(n > 1 ? digits[bits >> 6 & 63] : '=', file);
        fputc(n > 2 ? digits[bits & 63] : '=', file);
    }
}

/* A picture in the page; nothing when it is not there. */
static void write_image(FILE *file, const char *path, const char *text)
{
    FILE *image = system_open(path, "rb");
    if (!image) return;
    fprintf(file, "<figure><img alt=\"%s\" src=\"", text);
    write_data_uri(file, image);
    fclose(image);
    fprintf(file, "\"><figcaption>%s</figcaption></figure>\n", text);
}

/* ---- player ---- */

/* How many frames of a clip the film shows, and every how many. */
static int film_step(int frames) { return (frames + FILM_FRAMES - 1) / FILM_FRAMES; }
static int film_count(int frames) { return (frames + film_step(frames) - 1) / film_step(frames); }

/* The frames of the film, a row for each solver and panels without gaps, for the page to cut out again. */
static int draw_film(const comparison *c, bool props, const char *output, int frames)
{
    int rows = 0, columns = film_count(frames);
    for (int i = 0; i < c->count; i++) rows += c->entries[i].result != NULL;

    char *range = cli_format("0::%d", film_step(frames)), *style = cli_format("strip,samples:2,columns:%d", columns);
    char *size = cli_format("%dx%d", columns * FILM_SIDE, rows * FILM_SIDE);
    const char *extra[] = {"--sheet", "--frame", range, "--style", style, "--size", size, NULL};
    int status = draw(c, props, output, extra);
    free(range);
    free(style);
    free(size);
    return status;
}

/* Two solvers in one picture, parted by a slider, that plays. */
static void write_player(FILE *file, const comparison *c, const char *film, const cutis_bake_result *first)
{
    FILE *image = system_open(film, "rb");
    if (!image) return;

    /* what is left and right of the slider: skinning first */
    int rows = 0, left = 0;
    for (int i = 0; i < c->count; i++) {
        if (!c->entries[i].result) continue;
        const cutis_solver_info *solver = cutis_solver_find(c->entries[i].solver);
        if (solver && solver->flags & CUTIS_SOLVER_BASELINE) left = rows;
        rows++;
    }
    int right = rows < 2 ? left : left == 0 ? 1 : 0;

    fprintf(file, "<div class=\"player\"><canvas id=\"stage\" width=\"%d\" height=\"%d\"></canvas><br>\n", FILM_SIDE,
            FILM_SIDE);
    for (int side = 0; side < 2; side++) {
        fprintf(file, "<select id=\"%s\" aria-label=\"%s of the slider\">", side ? "right" : "left",
                side ? "right" : "left");
        for (int i = 0, row = 0; i < c->count; i++) {
            if (!c->entries[i].result) continue;
            fprintf(file, "<option value=\"%d\"%s>", row, row == (side ? right : left) ? " selected" : "");
            write_escaped(file, c->entries[i].label);
            fputs("</option>", file);
            row++;
        }
        fputs("</select>", file);
        if (side == 0)
            fputs(" <input id=\"part\" type=\"range\" min=\"0\" max=\"100\" value=\"50\" "
                  "aria-label=\"slider between the two\"> ",
                  file);
    }

    /* playing, and its frames */
    int count = film_count(first->frame_count);
    fprintf(file,
            "<br><button id=\"play\">Pause</button> <input id=\"frame\" type=\"range\" min=\"0\" max=\"%d\" "
            "value=\"0\" aria-label=\"frame\"></div>\n<img id=\"film\" alt=\"\" hidden src=\"",
            count - 1);
    write_data_uri(file, image);
    fclose(image);
    fprintf(
        file,
        "\">\n<script>{\nconst at=id=>document.getElementById(id),side=%d,pen=at('stage').getContext('2d');\n"
        "let playing=true;\nconst paint=()=>{const f=+at('frame').value,x=Math.round(side*at('part').value/100);\n"
        "const cut=(row,from,to)=>to>from&&pen.drawImage(at('film'),f*side+from,row*side,to-from,side,from,0,to-from,"
        "side);\ncut(+at('left').value,0,x);cut(+at('right').value,x,side);pen.fillStyle='#fff';"
        "pen.fillRect(x-1,0,2,side);};\n"
        "for(const id of['left','right','part','frame'])at(id).oninput=paint;\n"
        "at('stage').onpointermove=e=>{if(e.buttons){at('part').value=100*e.offsetX/at('stage').clientWidth;paint();}};"
        "\nat('play').onclick=()=>{playing=!playing;at('play').textContent=playing?'Pause':'Play';};\n"
        "setInterval(()=>{if(playing){at('frame').value=(+at('frame').value+1)%%%d;paint();}},%.4g);\n"
        "at('film').decode().then(paint);\n}</script>\n",
        FILM_SIDE, count, fmax(1000.0 * film_step(first->frame_count) / first->fps, 20));
}

/* What a plot shows of a frame: percent of the rest volume, or the decimal logarithm of milliseconds. */
static double plot_value(const cutis_bake_result *r, int frame, bool volume)
{
    return volume ? 100 * r->volume_ratios[frame] : log10(fmax(1e3 * r->step_series[frame], 1e-3));
}

/* One curve per solver over the frames. */
static void write_plot(FILE *file, const comparison *c, const char *title, bool volume)
{
    const double width = 720, height = 240, left = 60, bottom = 28, top = 12;
    double low = HUGE_VAL, high = -HUGE_VAL;
    int frames = 1;

    /* the range of the values */
    for (int i = 0; i < c->count; i++) {
        const cutis_bake_result *r = c->entries[i].result;
        for (int f = 0; c->entries[i].result && f < r->frame_count; f++) {
            double y = plot_value(r, f, volume);
            if (!isfinite(y)) continue;
            low = fmin(low, y);
            high = fmax(high, y);
        }

        if (c->entries[i].result && r->frame_count > frames) frames = r->frame_count;
    }
    if (!(high >= low)) return;

    double pad = fmax(0.05 * (high - low), 1e-3);
    low -= pad;
    high += pad;

    /* grid lines with their values, and frames below */
    fprintf(file, "<h2>%s</h2>\n<svg viewBox=\"0 0 %g %g\" role=\"img\">\n", title, width, height);
    for (int k = 0; k <= 4; k++) {
        double value = low + (high - low) * k / 4, y = height - bottom - (height - bottom - top) * k / 4;
        fprintf(file,
                "<line x1=\"%g\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/><text x=\"%g\" y=\"%.1f\" "
                "text-anchor=\"end\">%.3g</text>\n",
                left, width - 10, y, y, left - 6, y + 4, volume ? value : pow(10, value));
    }
    for (int k = 0; k <= 4; k++)
        fprintf(file, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%d</text>\n",
                left + (width - 10 - left) * k / 4, height - 8, (frames - 1) * k / 4);

    for (int i = 0; i < c->count; i++) {
        const cutis_bake_result *r = c->entries[i].result;
        if (!c->entries[i].result) continue;
        fprintf(file, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" points=\"",
                colors[i % CLI_COUNT(colors)]);
        for (int f = 0; f < r->frame_count; f++) {
            double y = plot_value(r, f, volume);
            if (!isfinite(y)) continue;
            fprintf(file, "%.1f,%.1f ", left + (width - 10 - left) * f / (frames > 1 ? frames - 1 : 1),
                    height - bottom - (height - bottom - top) * (y - low) / (high - low));
        }

        fprintf(file, "\"/>\n");
    }

    fprintf(file, "</svg>\n<p class=\"legend\">");
    for (int i = 0; i < c->count; i++)
        if (c->entries[i].result)
            fprintf(file, "<span style=\"color:%s\">&#9632;</span> %s &nbsp; ", colors[i % CLI_COUNT(colors)],
                    c->entries[i].label);
    fprintf(file, "</p>\n");
}

static void write_table(FILE *file, const comparison *c)
{
    char bytes[32];
    fprintf(file,
            "<table><tr><th>solver<th>largest volume error<th>the same, overlaps counted once<th>most "
            "intersections<th>stretch, 99th percentile"
            "<th>jitter, 1/s&sup2;<th>jiggle, 1/s<th>largest distance from linear skinning<th>rotation, 95th percentile"
            "<th>ms per frame<th>memory</tr>\n");

    /* a row each */
    for (int i = 0; i < c->count; i++) {
        const compared *e = &c->entries[i];
        if (!e->result) continue;
        const cutis_quality *q = &e->result->quality;
        const double *harm = e->result->verdict.figures;

        fprintf(file,
                "<tr><td>%s<td>%.2f %%<td>%.2f %%<td>%d<td>%.3f<td>%.2f<td>%.4f<td>%.2f %%<td>%.1f&deg;<td>%.3g<td>%s",
                e->label, 100 * q->volume_error_max, 100 * q->volume_union, q->self_intersections_max, q->stretch_p99,
                q->acceleration_rms, e->jiggle, 100 * harm[CUTIS_HARM_DISPLACEMENT_MAX], harm[CUTIS_HARM_ANGLE_P95],
                e->result->step_median * 1e3, cli_format_bytes(e->result->model_bytes + e->result->state_bytes, bytes));

        fprintf(file, "</tr>\n");
    }

    fprintf(file, "</table>\n");
}

/* What each solver gains over linear skinning, and what the verdict finds. */
static void write_verdicts(FILE *file, const comparison *c)
{
    for (int i = 0; i < c->count; i++) {
        if (!c->entries[i].result) continue;
        const cutis_verdict *v = &c->entries[i].result->verdict;
        const char *texts[] = {v->gained.text, v->gained.missed, v->text};
        static const char *const heads[] = {"Gained: ", "Not gained: ", "Verdict: "};

        fputs("<p><b>", file);
        write_escaped(file, c->entries[i].label);
        fputs("</b>", file);
        for (int k = 0; k < CLI_COUNT(texts); k++) {
            if (!texts[k][0]) continue;
            fprintf(file, "<br>%s", heads[k]);
            write_escaped(file, texts[k]);
        }
        fputs("</p>\n", file);
    }
}

static int write_page(const comparison *c, const char *path, const char *bend, const char *sheet, const char *film)
{
    FILE *file = system_open(path, "wb");
    if (!file) return cli_error("cannot write '%s': %s", path, strerror(errno));

    /* any result tells the frames */
    const cutis_bake_result *first = NULL;
    for (int i = 0; i < c->count && !first; i++)
        if (c->entries[i].result) first = c->entries[i].result;

    fprintf(file, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
                  "content=\"width=device-width\"><title>");
    write_escaped(file, c->input);
    fprintf(file,
            "</title>\n<style>body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2em auto;padding:0 1em;"
            "color:#222;background:#fff}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
            "th,td{text-align:right;padding:.3em .8em;border-bottom:1px solid #ddd}th:first-child,td:first-child"
            "{text-align:left}th{font-weight:600;vertical-align:bottom}img{max-width:100%%;border-radius:6px}"
            "figure{margin:1.5em 0}figcaption{color:#666}svg{width:100%%}.grid{stroke:#e4e4e4}svg text{font-size:11px;"
            "fill:#666}canvas{width:100%%;max-width:640px;border-radius:6px}.player{margin:1.5em 0}.legend{margin:.2em "
            "0 1.5em}</style>\n<h1>");
    write_escaped(file, c->input);
    fprintf(file, ", ");
    write_escaped(file, first->clip ? first->clip : "idle pose");

    /* what was run, its figures, pictures and curves */
    fprintf(file, "</h1>\n<p>%d frames at %.4g per second, %d vertices, cutis %s.</p>\n", first->frame_count,
            first->fps, first->vertex_count, cutis_version());
    write_player(file, c, film, first);
    write_table(file, c);
    write_verdicts(file, c);
    write_image(file, bend, "the frame in the middle of the clip");
    write_plot(file, c, "Volume over frames, percent of rest", true);
    write_plot(file, c, "Time per frame, milliseconds, logarithmic", false);
    write_image(file, sheet, "the clip");

    /* a full disk shows when the file is closed */
    bool failed = ferror(file);
    if (fclose(file) != 0 || failed) return cli_error("cannot write '%s'", path);
    return CLI_OK;
}

static json_t *reports(const comparison *c)
{
    json_t *root = json_object(), *list = json_object();

    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "input", cli_json_string(c->input));
    json_object_set_new(root, "solvers", list);

    for (int i = 0; i < c->count; i++) {
        if (!c->entries[i].result) continue;
        json_t *report = bake_report(c->entries[i].result);
        json_object_set_new(report, "jiggle", cli_json_real(c->entries[i].jiggle));
        json_object_set_new(list, c->entries[i].label, report);
    }

    return root;
}

static int run(const cli_arguments *arguments)
{
    comparison c = {
        .arguments = arguments, .input = arguments->positionals[0], .folder = cli_text(arguments, "output")};
    if (!c.folder) return cli_usage_error(arguments, "the output is missing: -o DIR");

    /* what to run, and where to */
    c.entries = cli_allocate(SOLVER_LIMIT, sizeof *c.entries);
    choose_solvers(&c);
    int status = c.count ? check_solvers(&c) : cli_usage_error(arguments, "--solvers names no solver");
    if (status == CLI_OK) status = choose_amounts(&c);

    if (status == CLI_OK) status = cli_check_output(c.folder, NULL, true);
    if (status == CLI_OK && !system_folder_create(c.folder) && errno != EEXIST)
        status = cli_error("cannot make the folder '%s': %s", c.folder, strerror(errno));
    if (status != CLI_OK) {
        free(c.entries);
        return status;
    }

    char *sheet = cli_format("%s/sheet.png", c.folder), *bend = cli_format("%s/bend.png", c.folder);
    char *page = cli_format("%s/index.html", c.folder), *report = cli_format("%s/compare.json", c.folder);
    char *film = cli_format("%s/film.png", c.folder);

    status = run_solvers(&c);
    if (status == CLI_OK) {
        /* how many frames there are */
        int frames = 1;
        for (int i = 0; i < c.count; i++)
            if (c.entries[i].result) frames = c.entries[i].result->frame_count;
        char *middle = cli_format("%d", frames / 2);
        const char *one[] = {"--frame", middle, NULL}, *all[] = {"--sheet", NULL};

        print_table(&c);
        bool props = props_are_shown(&c);
        status = draw(&c, props, bend, one);
        if (status == CLI_OK && frames > 1) status = draw(&c, props, sheet, all);
        if (status == CLI_OK && frames > 1) status = draw_film(&c, props, film, frames);
        free(middle);
    }

    /* report and page */
    if (status == CLI_OK) status = cli_json_save(reports(&c), report);
    if (status == CLI_OK) status = write_page(&c, page, bend, sheet, film);
    if (status == CLI_OK && !cli_flag(arguments, "quiet")) printf("%s\n%s\n%s\n", page, sheet, report);

    for (int i = 0; i < c.count; i++) {
        free(c.entries[i].cache);
        cutis_bake_destroy(c.entries[i].result);
    }
    free(c.entries);
    free(sheet);
    free(bend);
    free(film);
    free(page);
    free(report);
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_OUTPUT("DIR", "folder for the page, the sheet and the caches"),
    CLI_OPTION_CLIP("clip to compare; default: the first"),
    CLI_OPTION_MOTION("use the motion of this file as the clip; a mesh without a skeleton is rigged first"),
    CLI_OPTION_PROP,
    {.name = "solvers", .kind = CLI_TEXT, .value = "A,B,...", .help = "solvers or stacks; default: all"},
    {.name = "amount",
     .kind = CLI_TEXT,
     .value = "A,B,...",
     .help = "a column for each amount of the flesh that is shown: 0 skinning, 1 the simulation, 2 exaggerated"},
    CLI_OPTION_FPS("frames per second", "30"),
    CLI_OPTION_RANGE,
};

const cli_command cmd_compare = {
    .name = "compare",
    .usage = "FILE|NAME -o DIR [--clip C] [--solvers A,B,...]",
    .summary = "bake one clip with several solvers: table, contact sheet and page",
    .description =
        "Bakes the clip with each solver, prints one table and writes DIR/index.html (one file with table, pictures, "
        "plots, and a player with a slider between two solvers), DIR/sheet.png, DIR/compare.json (the report of each "
        "bake) and one cache per solver.\n"
        "volume: largest change against rest. intersections: largest number of triangle pairs in a frame. stretch: "
        "99th "
        "percentile over edges and frames. jitter: RMS acceleration divided by the size. jiggle: RMS speed of the "
        "flesh relative to linear-blend skinning, divided by the size. off: largest distance from linear-blend "
        "skinning, in percent of "
        "the size; turned: 95th percentile of the rotation of patches against it, in degrees; torn: share of nearby "
        "points that are torn apart. memory: of model and state. The size is the bounding-box diagonal at rest.",
    .examples = "cutis compare arm --clip flex -o out/arm\n"
                "cutis compare hero.glb --solvers lbs,tissue,tissue+slide -o out/hero\n"
                "cutis compare hero.glb --solvers tissue --amount 0,1,2 -o out/hero",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = 1,
    .run = run,
};
