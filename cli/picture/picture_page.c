/*
 * picture_page.c: the page: panels in a grid, captions under them, a legend at the foot.
 *
 * All panels of a view share one camera, which sees everything that is shown at any frame, so that shapes can be
 * compared and a video does not swim.
 */
#include "picture_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a panel, in pixels, when no size is asked for. */
enum { PANEL_HEIGHT = 480, SHEET_HEIGHT = 240 };

static void bounds_add(const float *p, int count, pvec *low, pvec *high)
{
    for (int i = 0; i < count; i++, p += 3) {
        if (!pvec_usable(pvec_load(p))) continue;
        *low = pvec_make(fminf(low->x, p[0]), fminf(low->y, p[1]), fminf(low->z, p[2]));
        *high = pvec_make(fmaxf(high->x, p[0]), fmaxf(high->y, p[1]), fmaxf(high->z, p[2]));
    }
}

/* Add a prop's points to what must be seen; planes and props larger than the character's world are scenery. */
static void prop_add(picture_job *r, const picture_mesh *mesh)
{
    pvec low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    bounds_add(mesh->positions, mesh->vertex_count, &low, &high);
    if (!(pvec_length(pvec_sub(high, low)) < 2 * r->character->size)) return;
    size_t count = (size_t)r->prop_point_count + (size_t)mesh->vertex_count;
    r->prop_points = cli_resize(r->prop_points, count, 3 * sizeof(float));
    memcpy(r->prop_points + (size_t)r->prop_point_count * 3, mesh->positions, (size_t)mesh->vertex_count * 12);
    r->prop_point_count = (int)count;
}

/* Where the props are at the frames shown. */
static void props_find(picture_job *r)
{
    const cutis_character *c = r->character;
    for (int s = 0; s < r->source_count; s++) {
        int count = picture_job_prop_count(r, &r->sources[s]);
        if (count == 0) continue;

        /* props where each source has them */
        for (int f = 0; f < r->times.count; f++) {
            picture_job_pose(r, &r->sources[s], f);
            for (int i = 0; i < count; i++) {
                float *vertices;
                int *triangles;
                picture_mesh mesh;

                if (i < c->prop_count && c->props[i].shape == CUTIS_PROP_PLANE) continue;
                if (picture_job_prop(r, &r->sources[s], f, i, &mesh, &vertices, &triangles)) prop_add(r, &mesh);
                free(vertices);
                free(triangles);
            }
        }
    }
}

void picture_page_bounds(picture_job *r)
{
    const cutis_character *c = r->character;

    r->low = pvec_make(INFINITY, INFINITY, INFINITY);
    r->high = pvec_make(-INFINITY, -INFINITY, -INFINITY);

    /* every frame of every source, and the props in them */
    for (int i = 0; i < r->source_count; i++)
        for (int f = 0; f < r->times.count; f++)
            bounds_add(picture_source_positions(&r->sources[i], c, &r->times, f), c->vertex_count, &r->low, &r->high);
    props_find(r);
    bounds_add(r->prop_points, r->prop_point_count, &r->low, &r->high);

    /* nothing that can be shown: the rest pose */
    if (!(r->low.x <= r->high.x)) {
        r->low = pvec_load(c->bounds_min);
        r->high = pvec_load(c->bounds_max);
    }
}

/* Everything that a view must see. */
static picture_frame view_extent(const picture_job *r, const picture_camera *camera)
{
    picture_frame frame = picture_frame_start();
    for (int i = 0; i < r->source_count; i++)
        for (int f = 0; f < r->times.count; f++)
            picture_frame_add(&frame, camera, picture_source_positions(&r->sources[i], r->character, &r->times, f),
                              r->character->vertex_count);
    picture_frame_add(&frame, camera, r->prop_points, r->prop_point_count);
    return frame;
}

/* Width over height of what a view sees, for pictures whose size is not given. */
static float view_aspect(const picture_job *r, const picture_view *view)
{
    picture_camera camera = picture_camera_aim(view->azimuth, view->elevation, 1, r->up);
    camera.tan_x = camera.tan_y = 1e-3f; /* from afar, where perspective does not matter */
    picture_frame frame = view_extent(r, &camera);
    float across = frame.high[0] - frame.low[0], down = frame.high[1] - frame.low[1];
    return across > 0 && down > 0 ? across / down : 1;
}

/* ---- layout ---- */

static bool captions_wanted(const picture_job *r)
{
    return r->sheet || r->source_count > 1 || r->view_count > 1 || r->sources[0].named;
}

static bool legend_wanted(const picture_job *r)
{
    return (picture_paint_has_bar(r) || r->tissues || r->elements) && !r->style.no_legend;
}

int picture_page_layout(picture_job *r)
{
    const cli_arguments *a = r->arguments;
    int frames = r->sheet ? r->times.count : 1, others = r->source_count * r->view_count;
    int panels = frames * others;

    /* Frames run along rows; without a sheet, sources do, or the views of a single source. */
    r->columns = r->sheet && others > 1 ? frames : r->source_count > 1 ? r->source_count : r->view_count;
    if (r->sheet && others == 1)
        r->columns = panels <= 4 ? panels : panels <= 8 ? (panels + 1) / 2 : panels <= 12 ? 4 : 6;
    if (r->style.columns) r->columns = r->style.columns;
    if (r->columns > panels) r->columns = panels;
    r->rows = (panels + r->columns - 1) / r->columns;

    /* room for captions and legend */
    bool sized = cli_given(a, "size"), captions = !r->style.strip && captions_wanted(r), legend = legend_wanted(r);
    int panel_height = sized ? r->height / r->rows : r->sheet ? SHEET_HEIGHT : PANEL_HEIGHT;
    r->text = fmaxf(6, fminf(18, (float)panel_height * (r->rows > 1 ? 0.036f : 0.028f)));
    r->caption = captions ? (int)(r->text * 2.5f) : 0;
    r->legend = legend ? (int)(fmaxf(9, r->text) * 3.6f) : 0;
    r->gap = panels > 1 && !r->style.strip ? (int)fmaxf(2, (float)panel_height * 0.012f) : 0;

    /* without a size asked for: as the content needs */
    if (!sized) {
        float aspect = 0;
        for (int i = 0; i < r->view_count; i++) aspect = fmaxf(aspect, view_aspect(r, &r->views[i]));

        int panel_width = 640;
        if (panels > 1) {
            /* As wide as its content, within reason; what is very wide is lower instead. */
            aspect = fmaxf(0.62f, fminf(2.0f, aspect * 1.06f));
            panel_width = (int)((float)panel_height * fminf(aspect, 1.4f));
            if (aspect > 1.4f) panel_height = (int)((float)panel_width / aspect);
        }

        /* A row of many panels shrinks to a width that a page can show. */
        float shrink = fminf(1, 2400.0f / (float)(panel_width * r->columns));
        r->width = (int)((float)panel_width * shrink) * r->columns + r->gap * (r->columns - 1);
        r->height = ((int)((float)panel_height * shrink) + r->caption) * r->rows + r->gap * (r->rows - 1) + r->legend;
        if (panels == 1 && !captions && !legend) {
            r->width = 640;
            r->height = 480;
        }
        /* video codecs want even sides */
        r->width += r->width & 1;
        r->height += r->height & 1;
    }

    /* what has to fit */
    int smallest = (r->height - r->legend - r->gap * (r->rows - 1)) / r->rows - r->caption;
    if (smallest < 8 || (r->width - r->gap * (r->columns - 1)) / r->columns < 8)
        return cli_usage_error(a, "%d x %d panels do not fit into %d x %d pixels; give a larger --size", r->columns,
                               r->rows, r->width, r->height);
    if ((long)r->width * r->height > 200000000L)
        return cli_usage_error(a, "the picture is too large; give a smaller --size");

    return CLI_OK;
}

/* Pixels of panel i, caption excluded. */
static void panel_place(const picture_job *r, int i, int *x, int *y, int *width, int *height)
{
    int column = i % r->columns, row = i / r->columns;
    int across = r->width - r->gap * (r->columns - 1), down = r->height - r->legend - r->gap * (r->rows - 1);
    *x = column * across / r->columns + column * r->gap;
    *y = row * down / r->rows + row * r->gap;
    *width = (column + 1) * across / r->columns - column * across / r->columns;
    *height = (row + 1) * down / r->rows - row * down / r->rows - r->caption;
}

/* What --zoom puts in the middle: a place, or a joint at the first frame shown. */
static int focus_find(picture_job *r, pvec *focus)
{
    double p[3];

    if (cli_parse_numbers(r->focus, ',', 3, p)) {
        *focus = pvec_make((float)p[0], (float)p[1], (float)p[2]);
        return CLI_OK;
    }

    /* a joint, as the first frame has it */
    int joint = picture_job_joint(r, r->focus, "--zoom");
    if (joint < 0) return CLI_USAGE;

    picture_job_pose(r, &r->sources[0], 0);
    const float *m = r->joints + (size_t)joint * 12;
    *focus = pvec_make(m[3], m[7], m[11]);

    return CLI_OK;
}

int picture_page_cameras(picture_job *r)
{
    int x, y, width, height;
    panel_place(r, 0, &x, &y, &width, &height);

    /* what stands in the middle */
    pvec focus = {0, 0, 0};
    int status = r->focus ? focus_find(r, &focus) : CLI_OK;

    for (int i = 0; i < r->view_count && status == CLI_OK; i++) {
        picture_view *v = &r->views[i];
        v->camera = picture_camera_aim(v->azimuth, v->elevation, (float)width / (float)height, r->up);

        picture_frame frame = view_extent(r, &v->camera);
        picture_camera_stand(&v->camera, &frame, 0.13f);

        /* the focus in the middle */
        if (r->focus) {
            pvec d = pvec_sub(focus, v->camera.position);
            v->camera.position = pvec_madd(v->camera.position, v->camera.right, pvec_dot(d, v->camera.right));
            v->camera.position = pvec_madd(v->camera.position, v->camera.up, pvec_dot(d, v->camera.up));
        }

        v->camera.tan_x /= r->zoom;
        v->camera.tan_y /= r->zoom;
    }

    return status;
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

static void caption_draw(const picture_job *r, picture_image *page, int source, int view, int frame,
                         const float place[4])
{
    /* source, view and frame */
    bool name = r->source_count > 1 || r->sources[0].named;
    char text[400] = "";

    if (name) snprintf(text, sizeof text, "%s", r->sources[source].label);
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

/* Whether a picture shows a layer of tissue: as elements of a source, or as one of the usual surfaces. */
static bool tissue_shown(const picture_job *r, int layer)
{
    bool usual = layer <= 2 || layer == PICTURE_SKIN;
    for (int i = 0; i < r->source_count; i++) {
        const picture_source *source = &r->sources[i];
        for (int e = 0; source->element_layers && e < source->element_count; e++)
            if ((int)source->element_layers[e] == layer) return true;
    }
    return usual;
}

/* Names of the tissues that a cut shows, each beside its colour, from the skin inwards. */
static void swatches_draw(const picture_job *r, picture_image *page)
{
    float text = fmaxf(9, r->text), box = text * 1.2f, step = text * 1.8f, width = -step;

    /* width of the whole row */
    for (int i = PICTURE_SKIN; i >= 0; i--)
        if (tissue_shown(r, i)) width += picture_text_width(picture_tissue_names[i], text) + box * 1.4f + step;

    /* centred below the panels */
    float x = ((float)r->width - width) / 2, y = (float)(r->height - r->legend) + text * 1.2f;
    for (int i = PICTURE_SKIN; i >= 0; i--) {
        if (!tissue_shown(r, i)) continue;
        picture_draw_rectangle(page, x, y, box, box, picture_tissue_color(i));
        picture_text_draw(page, x + box * 1.4f, y + box * 0.5f + text * 0.5f, text, INK, picture_tissue_names[i]);
        x += box * 1.4f + picture_text_width(picture_tissue_names[i], text) + step;
    }
}

/* The colour bar: name, bar, ticks at both ends and in the middle. */
static void legend_draw(const picture_job *r, picture_image *page)
{
    if (!picture_paint_has_bar(r)) {
        swatches_draw(r, page);
        return;
    }

    /* name and bar, side by side */
    float text = fmaxf(9, r->text), width = fminf((float)r->width * 0.6f, 420), height = text * 0.9f;
    float x = ((float)r->width - width) / 2, y = (float)(r->height - r->legend) + text * 0.7f;
    float left = picture_text_width(r->color_name, text) + text;
    if (x < left) {
        x = left;
        width = fmaxf(20, (float)r->width - x - text * 3);
    }
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

/* All panels of one instant (or of a whole sheet) into the page. */
int picture_page_draw(picture_job *r, int first_frame, picture_image *page, cli_progress *progress, long *done)
{
    bool clear = r->style.background == PICTURE_BACKGROUND_TRANSPARENT;

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
            if (!picture_image_create(width, height, &image)) return cli_error("out of memory");

            status = picture_panel_draw(r, source, frame, view, &image);
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
