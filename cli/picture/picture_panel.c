/*
 * picture_panel.c: one panel: the meshes of a source at a frame, cut and coloured, and what is drawn over them.
 */
#include "picture_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The pose of the i-th frame shown, as far as it is known. */
void picture_job_pose(picture_job *r, const picture_source *source, int i)
{
    const picture_times *t = &r->times;
    if (source->kind == SOURCE_REST) {
        cutis_pose_rest(r->character, r->joints);
        return;
    }
    double origin = r->clip >= 0 ? (double)r->character->clips[r->clip].start : 0;
    cutis_pose_sample(r->character, r->clip, t->exact ? t->time : origin + t->frames[i] / t->fps, r->joints);
}

/* --cut: an axis, "x=0.1", or the four numbers of a plane. */
static int cut_parse(const picture_job *r, const picture_view *view, picture_scene *scene)
{
    const char *text = cli_text(r->arguments, "cut");
    if (!text) return CLI_OK;

    const cutis_character *c = r->character;
    double plane[4], offset;
    scene->cut = true;

    /* an axis, through the middle or at an offset */
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

int picture_panel_check(const picture_job *r)
{
    const cutis_character *c = r->character;

    picture_scene scene = {0};
    int status = cut_parse(r, &r->views[0], &scene);
    if (status != CLI_OK) return status;

    if ((r->texture != PICTURE_TEXTURE_NONE || r->has_normal_map) && !c->texcoords)
        return cli_error("--texture: %s has no texture coordinates", c->name);

    /* a skeleton needs a pose, which a cache does not tell */
    if (!r->style.skeleton) return CLI_OK;
    if (c->joint_count == 0) return cli_error("--style skeleton: %s has no skeleton", c->name);
    for (int i = 0; i < r->source_count; i++)
        if (r->sources[i].kind == SOURCE_CACHE && c->clip_count > 1 && !cli_given(r->arguments, "clip"))
            return cli_usage_error(r->arguments, "a cache holds no skeleton: --style skeleton needs --clip");

    return CLI_OK;
}

/* The meshes of one panel and the memory that goes with them. */
typedef struct panel_meshes {
    picture_mesh *meshes;
    int mesh_count;
    void **blocks;
    int block_count;
} panel_meshes;

static void *panel_keep(panel_meshes *p, void *block)
{
    p->blocks[p->block_count++] = block;
    return block;
}

/* The texture coordinates of a frame, corner by corner of the triangles. */
static const float *texcoords_find(const picture_job *r, const picture_source *source, int frame, panel_meshes *p)
{
    const cutis_character *c = r->character;
    if (!source->texcoords) return r->body.texcoords;
    float *triangles = panel_keep(p, cli_allocate((size_t)c->triangle_count, 6 * sizeof(float)));
    const float *corners = source->texcoords + (size_t)frame * (size_t)c->corner_count * 2;
    for (size_t i = 0; i < (size_t)c->triangle_count * 3; i++)
        memcpy(triangles + i * 2, corners + (size_t)c->triangle_corners[i] * 2, 2 * sizeof(float));
    return triangles;
}

/* The skin, and inside it what a cut shows: the solver's inner surfaces, from outside in. */
static void panel_add_body(picture_job *r, const picture_source *source, int frame, panel_meshes *p)
{
    const cutis_character *c = r->character;
    const float *positions = picture_source_positions(source, c, &r->times, frame);

    picture_mesh *skin = &p->meshes[p->mesh_count++];
    *skin = picture_body_mesh(&r->body, positions, r->normals);
    picture_paint_apply(r, source, frame, positions, skin);

    skin->wire = r->style.wire;
    skin->corner_texcoords = texcoords_find(r, source, frame, p);
    skin->texture = r->texture;
    skin->texture_scale = r->texture_scale;
    skin->image = &r->image;
    skin->normals = r->has_normal_map ? &r->normal_map : NULL;
    if (source->normal_weights) skin->normal_weights = source->normal_weights + (size_t)frame * (size_t)c->vertex_count;

    for (int t = 0; t < SOURCE_TISSUES; t++) {
        if (!source->tissues[t]) continue;
        float *normals = panel_keep(p, cli_allocate((size_t)c->triangle_count, 9 * sizeof(float)));
        picture_mesh *tissue = &p->meshes[p->mesh_count++];
        *tissue =
            picture_body_mesh(&r->body, source->tissues[t] + (size_t)frame * (size_t)c->vertex_count * 3, normals);

        picture_color color = picture_tissue_color(SOURCE_TISSUES - 1 - t);
        const float rgb[3] = {color.r, color.g, color.b};
        memcpy(tissue->color, rgb, sizeof rgb);
        memcpy(tissue->cap_color, rgb, sizeof rgb);
        memcpy(tissue->inside_color, rgb, sizeof rgb);

        /* Between skin and fat there is skin. */
        color = picture_tissue_color(PICTURE_SKIN);
        const float outer[3] = {color.r, color.g, color.b};
        memcpy(p->meshes[0].cap_color, outer, sizeof outer);
    }
}

int picture_job_prop_count(const picture_job *r, const picture_source *source)
{
    return r->character->prop_count + (source->cache ? source->cache->prop_count : 0);
}

bool picture_job_prop(const picture_job *r, const picture_source *source, int frame, int index, picture_mesh *mesh,
                      float **vertices, int **triangles)
{
    const cutis_character *c = r->character;
    *vertices = NULL;
    *triangles = NULL;

    /* of the file that is played */
    if (index >= c->prop_count) {
        const cutis_cache_prop *own = &source->cache->props[index - c->prop_count];
        long at = picture_source_frame(source, &r->times, frame);
        *mesh = picture_prop_look(own->positions + (size_t)at * (size_t)own->vertex_count * 3, own->vertex_count,
                                  own->triangles, own->triangle_count);
        return true;
    }
    const cutis_prop *prop = &c->props[index];

    /* where its joint has it */
    const float *motion = prop->joint >= 0 ? r->joints + (size_t)prop->joint * 12 : NULL;

    /* moved by a solver */
    if (source->props) {
        const picture_prop *moved = &source->props[index];
        motion = moved->motions + (size_t)frame * 12;
        if (moved->shapes) {
            *mesh = picture_prop_look(moved->shapes + (size_t)frame * (size_t)moved->vertex_count * 3,
                                      moved->vertex_count, moved->triangles, moved->triangle_count);
            return true;
        }
    } else if (prop->role != CUTIS_PROP_COLLIDER && source->kind != SOURCE_REST) {
        return false; /* free props move by themselves; a cache does not say where to */
    }
    return picture_prop_mesh(prop, motion, c->size, mesh, vertices, triangles);
}

static void panel_add_props(const picture_job *r, const picture_source *source, int frame, panel_meshes *p)
{
    for (int i = 0; i < picture_job_prop_count(r, source); i++) {
        /* each prop in its place */
        float *vertices;
        int *triangles;
        picture_mesh *mesh = &p->meshes[p->mesh_count];
        bool made = picture_job_prop(r, source, frame, i, mesh, &vertices, &triangles);

        panel_keep(p, vertices);
        panel_keep(p, triangles);

        if (!made) continue;
        mesh->corner_normals = panel_keep(p, picture_smooth_once(mesh));
        p->mesh_count++;
    }
}

static void panel_add_elements(const picture_job *r, const picture_source *source, int frame,
                               const picture_scene *scene, panel_meshes *p)
{
    /* where they are, how large and of what */
    picture_elements elements = {.count = source->element_count, .edge = 0.015f * r->character->size};
    elements.positions = source->elements + (size_t)frame * (size_t)source->element_count * 3;
    elements.layers = source->element_layers;
    elements.edges = source->element_edges;
    elements.only = r->style.element_layer;

    float *vertices, *colors;
    int *triangles;
    if (picture_elements_mesh(&elements, scene, &p->meshes[p->mesh_count], &vertices, &colors, &triangles))
        p->mesh_count++;

    panel_keep(p, vertices);
    panel_keep(p, colors);
    panel_keep(p, triangles);
}

int picture_panel_draw(picture_job *r, int source_index, int frame, int view_index, picture_image *image)
{
    const picture_source *source = &r->sources[source_index];
    const cutis_character *c = r->character;
    const picture_view *v = &r->views[view_index];

    picture_scene scene = {.camera = v->camera, .up = r->up};
    scene.centre = pvec_scale(pvec_add(r->low, r->high), 0.5f);
    scene.radius = 0.5f * pvec_length(pvec_sub(r->high, r->low));
    if (!(scene.radius > 1e-15f)) scene.radius = 1;
    scene.floor = pvec_dot(r->low, r->up);

    /* Frames of a video are looked at for a moment. */
    scene.quality = r->style.samples ? r->style.samples : r->video ? 2 : 3;
    scene.background = r->style.background;
    scene.ground = !r->style.no_floor;

    int status = cut_parse(r, v, &scene);
    if (status != CLI_OK) return status;

    /* what is in it */
    size_t props = (size_t)picture_job_prop_count(r, source);
    panel_meshes p = {.meshes = cli_allocate(props + 2 + SOURCE_TISSUES, sizeof *p.meshes),
                      .blocks = cli_allocate(props * 3 + 8 + SOURCE_TISSUES, sizeof *p.blocks)};

    picture_job_pose(r, source, frame);
    if (source->elements) {
        panel_add_elements(r, source, frame, &scene, &p);
        scene.cut = false; /* whole elements were taken away */
    } else {
        panel_add_body(r, source, frame, &p);
    }
    panel_add_props(r, source, frame, &p);

    scene.meshes = p.meshes;
    scene.mesh_count = p.mesh_count;
    if (!picture_render(r->tracer, &scene, cutis_pool_jobs(r->pool), image))
        status = cli_error("out of memory to draw %d x %d pixels", image->width, image->height);
    if (status == CLI_OK && r->style.skeleton) picture_skeleton_draw(image, &v->camera, c, r->joints, r->style.numbers);

    for (int i = 0; i < p.block_count; i++) free(p.blocks[i]);
    free(p.blocks);
    free(p.meshes);
    return status;
}
