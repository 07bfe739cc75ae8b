/*
 * picture_overlay.c: what is drawn besides the skin: the skeleton over the picture, props, and the elements (voxels,
 * particles) of a solver as cubes.
 */
#include "picture_character.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the skeleton ---- */

typedef struct bone {
    int number;
    float x0, y0, x1, y1, depth;
    bool joint_only; /* a joint without a parent to draw from */
} bone;

static int bone_farther(const void *a, const void *b)
{
    float p = ((const bone *)a)->depth, q = ((const bone *)b)->depth;
    return (p < q) - (p > q);
}

/* A kite of two shades, wide near its root, with a dark outline. */
static void bone_draw(picture_image *image, const bone *b, float scale)
{
    const picture_color light = {0.55f, 0.76f, 0.95f, 0.92f}, dark = {0.26f, 0.50f, 0.76f, 0.92f};
    const picture_color line = {0.08f, 0.20f, 0.36f, 0.95f};

    float dx = b->x1 - b->x0, dy = b->y1 - b->y0, length = sqrtf(dx * dx + dy * dy);
    if (!b->joint_only && length > 1) {
        float width = fminf(length * 0.11f, 9 * scale);
        float mx = b->x0 + dx * 0.18f, my = b->y0 + dy * 0.18f;
        float nx = -dy / length * width, ny = dx / length * width;
        const float left[6] = {b->x0, b->y0, mx + nx, my + ny, b->x1, b->y1};
        const float right[6] = {b->x0, b->y0, b->x1, b->y1, mx - nx, my - ny};
        picture_draw_polygon(image, left, 3, light);
        picture_draw_polygon(image, right, 3, dark);

        float thin = fmaxf(1, 1.1f * scale);
        picture_draw_line(image, b->x0, b->y0, mx + nx, my + ny, thin, line);
        picture_draw_line(image, mx + nx, my + ny, b->x1, b->y1, thin, line);
        picture_draw_line(image, b->x0, b->y0, mx - nx, my - ny, thin, line);
        picture_draw_line(image, mx - nx, my - ny, b->x1, b->y1, thin, line);
    }

    float radius = fminf(3.2f * scale, b->joint_only ? 3.2f * scale : 1.4f * scale + length * 0.06f);
    picture_draw_disc(image, b->x1, b->y1, radius + fmaxf(1, scale), line);
    picture_draw_disc(image, b->x1, b->y1, radius, (picture_color){1.0f, 0.93f, 0.62f, 1});
}

void picture_skeleton_draw(picture_image *image, const picture_camera *camera, const cutis_character *c,
                           const float *joints, bool numbers)
{
    /* Nodes that move no vertex and carry no joint that does are scaffolding, unless nothing is skinned yet. */
    bool *shown = calloc((size_t)c->joint_count + 1, sizeof *shown);
    bone *bones = calloc((size_t)c->joint_count + 1, sizeof *bones);
    bool any = false;
    int count = 0;

    for (int j = c->joint_count - 1; j >= 0 && shown && bones; j--) {
        any |= c->joints[j].deforms;
        shown[j] |= c->joints[j].deforms;
        if (shown[j] && c->joints[j].parent >= 0) shown[c->joints[j].parent] = true;
    }

    /* bones on the image */
    for (int j = 0; j < c->joint_count && shown && bones; j++) {
        if (any && !shown[j]) continue;

        /* where it is seen */
        const float *m = joints + (size_t)j * 12;
        bone b = {.number = j};
        float depth, root_depth;
        if (!picture_camera_project(camera, image->width, image->height, pvec_make(m[3], m[7], m[11]), &b.x1, &b.y1,
                                    &depth))
            continue;

        int parent = c->joints[j].parent;
        b.depth = depth;
        b.joint_only = true;

        /* A root above the first bone that deforms (a scene node at the origin) is not a bone. */
        if (parent >= 0 && (!any || c->joints[parent].deforms)) {
            const float *p = joints + (size_t)parent * 12;
            b.joint_only = !picture_camera_project(camera, image->width, image->height, pvec_make(p[3], p[7], p[11]),
                                                   &b.x0, &b.y0, &root_depth);
            if (!b.joint_only) b.depth = 0.5f * (depth + root_depth);
        } else if (any && !c->joints[j].deforms) {
            continue;
        }

        bones[count++] = b;
    }

    /* Ties do not matter: equal bones look alike. Far ones first. */
    if (bones) qsort(bones, (size_t)count, sizeof *bones, bone_farther);
    float scale = (float)image->height / 480;
    scale = scale < 0.5f ? 0.5f : scale;
    for (int i = 0; i < count; i++) bone_draw(image, &bones[i], scale);

    for (int i = 0; i < count && numbers; i++) {
        /* beside the joint, away from the bone, on a light ground */
        char text[16];
        snprintf(text, sizeof text, "%d", bones[i].number);
        float height = 7 * scale;
        float width = picture_text_width(text, height);

        bool left = !bones[i].joint_only && bones[i].x1 < bones[i].x0;
        float x = bones[i].x1 + (left ? -5 * scale - width : 5 * scale);
        float y = bones[i].y1 - 2 * scale;
        const float box[8] = {x - 1,         y + 1.5f,          x + width + 1, y + 1.5f,
                              x + width + 1, y - height - 1.5f, x - 1,         y - height - 1.5f};

        /* text on a light ground */
        picture_draw_polygon(image, box, 4, (picture_color){1, 1, 1, 0.6f});
        picture_text_draw(image, x, y, height, (picture_color){0.6f, 0.05f, 0.05f, 1}, text);
    }

    free(shown);
    free(bones);
}

/* ---- props ---- */

bool picture_prop_mesh(const cutis_prop *prop, const float *motion, float size, picture_mesh *mesh, float **vertices,
                       int **triangles)
{
    int vertex_count, triangle_count;

    /* its surface at rest */
    cutis_prop_surface(prop, size, &vertex_count, &triangle_count, NULL, NULL);
    *vertices = malloc(((size_t)vertex_count + 1) * 3 * sizeof **vertices);
    *triangles = malloc(((size_t)triangle_count + 1) * 3 * sizeof **triangles);
    if (!*vertices || !*triangles) return false;
    cutis_prop_surface(prop, size, &vertex_count, &triangle_count, *vertices, *triangles);

    /* to where it is */
    for (int i = 0; motion && i < vertex_count; i++) {
        float *v = *vertices + (size_t)i * 3;
        pvec p = pvec_load(v);
        for (int k = 0; k < 3; k++)
            v[k] = motion[k * 4] * p.x + motion[k * 4 + 1] * p.y + motion[k * 4 + 2] * p.z + motion[k * 4 + 3];
    }

    *mesh = picture_prop_look(*vertices, vertex_count, *triangles, triangle_count);
    return true;
}

picture_mesh picture_prop_look(const float *vertices, int vertex_count, const int *triangles, int triangle_count)
{
    return (picture_mesh){.vertex_count = vertex_count,
                          .triangle_count = triangle_count,
                          .positions = vertices,
                          .triangles = triangles,
                          .color = {0.62f, 0.68f, 0.74f},
                          .inside_color = {0.50f, 0.54f, 0.58f},
                          .cap_color = {0.50f, 0.54f, 0.58f}};
}

/* ---- elements ---- */

/* Of a cube whose corner i lies at the high end of axis k when bit k of i is set. */
static const int BOX_TRIANGLES[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                      2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};

const char *const picture_tissue_names[PICTURE_TISSUES] = {"bone",   "muscle", "fat",    "inner3", "inner4",
                                                           "inner5", "inner6", "inner7", "inner8", "skin"};

picture_color picture_tissue_color(int layer)
{
    static const uint8_t colors[PICTURE_TISSUES][3] = {
        {236, 226, 200}, {182, 66, 64},  {238, 196, 104}, {132, 168, 120}, {112, 146, 186},
        {150, 110, 160}, {204, 130, 60}, {90, 160, 156},  {150, 130, 100}, {226, 164, 138}};
    const uint8_t *c = colors[layer < 0 ? 0 : layer > PICTURE_SKIN ? PICTURE_SKIN : layer];
    return (picture_color){(float)c[0] / 255, (float)c[1] / 255, (float)c[2] / 255, 1};
}

bool picture_elements_mesh(const picture_elements *elements, const picture_scene *scene, picture_mesh *mesh,
                           float **vertices, float **colors, int **triangles)
{
    size_t count = (size_t)elements->count;
    *vertices = malloc((count * 8 + 1) * 3 * sizeof **vertices);
    *colors = malloc((count * 8 + 1) * 3 * sizeof **colors);
    *triangles = malloc((count * 12 + 1) * 3 * sizeof **triangles);
    if (!*vertices || !*colors || !*triangles) return false;

    /* boxes of the elements that are shown */
    int kept = 0;
    for (size_t e = 0; e < count; e++) {
        pvec p = pvec_load(elements->positions + e * 3);
        if (scene->cut && pvec_dot(p, scene->cut_normal) > scene->cut_offset) continue;
        if (elements->only >= 0 && elements->layers && (int)elements->layers[e] != elements->only) continue;

        /* A little smaller than their place, so that neighbours stay apart to the eye. */
        float half = 0.46f * (elements->edges ? elements->edges[e] : elements->edge);
        picture_color color = picture_tissue_color(elements->layers ? (int)elements->layers[e] : PICTURE_SKIN);

        /* a box each */
        for (int i = 0; i < 8; i++) {
            float *v = *vertices + ((size_t)kept * 8 + (size_t)i) * 3,
                  *c = *colors + ((size_t)kept * 8 + (size_t)i) * 3;
            v[0] = p.x + (i & 1 ? half : -half);
            v[1] = p.y + (i & 2 ? half : -half);
            v[2] = p.z + (i & 4 ? half : -half);
            c[0] = color.r;
            c[1] = color.g;
            c[2] = color.b;
        }

        for (int i = 0; i < 36; i++) (*triangles)[(size_t)kept * 36 + (size_t)i] = kept * 8 + BOX_TRIANGLES[i];
        kept++;
    }

    /* a mesh of all */
    *mesh = (picture_mesh){.vertex_count = kept * 8,
                           .triangle_count = kept * 12,
                           .positions = *vertices,
                           .triangles = *triangles,
                           .vertex_colors = *colors};
    return true;
}
