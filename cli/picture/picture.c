/*
 * picture.c: images, soft-edged shapes drawn into them, and cameras.
 *
 * Shapes are drawn by distance: the coverage of a pixel is half a pixel plus the signed distance of its
 * centre to the shape's edge, cut to 0..1. That is exact for straight edges along the axes and close to it
 * for all others, and needs no sampling.
 */
#include "picture.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

bool picture_image_create(int width, int height, picture_image *image)
{
    *image = (picture_image){width, height, calloc((size_t)width * (size_t)height, 4)};
    return image->pixels != NULL;
}

void picture_image_destroy(picture_image *image)
{
    free(image->pixels);
    *image = (picture_image){0};
}

static uint8_t byte_of(float value) { return (uint8_t)(value > 0 ? (value < 1 ? value * 255 + 0.5f : 255) : 0); }

void picture_image_fill(picture_image *image, picture_color color)
{
    uint8_t pixel[4] = {byte_of(color.r), byte_of(color.g), byte_of(color.b), byte_of(color.a)};
    size_t count = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < count; i++) memcpy(image->pixels + i * 4, pixel, 4);
}

void picture_image_place(picture_image *to, const picture_image *from, int x, int y)
{
    int first = x < 0 ? -x : 0;
    int last = from->width < to->width - x ? from->width : to->width - x;
    if (first >= last) return;
    for (int row = 0; row < from->height; row++) {
        if (y + row < 0 || y + row >= to->height) continue;
        memcpy(to->pixels + ((size_t)(y + row) * (size_t)to->width + (size_t)(x + first)) * 4,
               from->pixels + ((size_t)row * (size_t)from->width + (size_t)first) * 4, (size_t)(last - first) * 4);
    }
}

void picture_image_blend(picture_image *image, int x, int y, picture_color color, float coverage)
{
    float alpha = color.a * (coverage > 1 ? 1 : coverage);
    if (alpha <= 0) return;
    uint8_t *pixel = image->pixels + ((size_t)y * (size_t)image->width + (size_t)x) * 4;
    float below = (float)pixel[3] / 255 * (1 - alpha);
    float total = alpha + below;
    const float over[3] = {color.r, color.g, color.b};
    for (int c = 0; c < 3; c++) pixel[c] = byte_of((over[c] * alpha + (float)pixel[c] / 255 * below) / total);
    pixel[3] = byte_of(total);
}

typedef struct box {
    int x0, y0, x1, y1;
} box;

/* The pixels that a shape within these bounds can touch. */
static box box_make(const picture_image *image, float x0, float y0, float x1, float y1)
{
    float limit_x = (float)image->width, limit_y = (float)image->height;
    box b = {0, 0, 0, 0};

    /* Written so that NaN and infinite bounds give an empty or a cut box. */
    if (!(x1 > -1 && y1 > -1 && x0 < limit_x + 1 && y0 < limit_y + 1)) return b;
    b.x0 = x0 <= 1 ? 0 : (int)(x0 - 1);
    b.y0 = y0 <= 1 ? 0 : (int)(y0 - 1);
    b.x1 = x1 + 2 >= limit_x ? image->width : (int)(x1 + 2);
    b.y1 = y1 + 2 >= limit_y ? image->height : (int)(y1 + 2);
    return b;
}

static float clamp01(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; } /* 0 for NaN */

void picture_draw_rectangle(picture_image *image, float x, float y, float width, float height, picture_color color)
{
    box b = box_make(image, x, y, x + width, y + height);
    for (int py = b.y0; py < b.y1; py++)
        for (int px = b.x0; px < b.x1; px++) {
            /* The area of the pixel that is covered. */
            float across = fminf((float)px + 1, x + width) - fmaxf((float)px, x);
            float down = fminf((float)py + 1, y + height) - fmaxf((float)py, y);
            if (across > 0 && down > 0) picture_image_blend(image, px, py, color, across * down);
        }
}

static float segment_distance(float px, float py, float x0, float y0, float x1, float y1)
{
    float dx = x1 - x0, dy = y1 - y0;
    float length2 = dx * dx + dy * dy;
    float t = length2 > 0 ? clamp01(((px - x0) * dx + (py - y0) * dy) / length2) : 0;
    float ex = px - x0 - t * dx, ey = py - y0 - t * dy;
    return sqrtf(ex * ex + ey * ey);
}

void picture_draw_line(picture_image *image, float x0, float y0, float x1, float y1, float width, picture_color color)
{
    float r = width / 2;
    box b = box_make(image, fminf(x0, x1) - r, fminf(y0, y1) - r, fmaxf(x0, x1) + r, fmaxf(y0, y1) + r);
    for (int py = b.y0; py < b.y1; py++)
        for (int px = b.x0; px < b.x1; px++)
            picture_image_blend(
                image, px, py, color,
                clamp01(r + 0.5f - segment_distance((float)px + 0.5f, (float)py + 0.5f, x0, y0, x1, y1)));
}

void picture_draw_disc(picture_image *image, float x, float y, float radius, picture_color color)
{
    picture_draw_line(image, x, y, x, y, radius * 2, color);
}

void picture_draw_polygon(picture_image *image, const float *points, int count, picture_color color)
{
    float low[2] = {FLT_MAX, FLT_MAX}, high[2] = {-FLT_MAX, -FLT_MAX}, area = 0;
    for (int i = 0; i < count; i++) {
        const float *p = points + i * 2, *q = points + (i + 1) % count * 2;
        for (int k = 0; k < 2; k++) {
            low[k] = fminf(low[k], p[k]);
            high[k] = fmaxf(high[k], p[k]);
        }

        area += p[0] * q[1] - p[1] * q[0];
    }

    float side = area < 0 ? -1.0f : 1.0f;

    /* coverage of each pixel */
    box b = box_make(image, low[0], low[1], high[0], high[1]);
    for (int py = b.y0; py < b.y1; py++)
        for (int px = b.x0; px < b.x1; px++) {
            /* Depth inside: the smallest distance to the lines of the edges. */
            float depth = FLT_MAX;
            for (int i = 0; i < count; i++) {
                const float *p = points + i * 2, *q = points + (i + 1) % count * 2;
                float dx = q[0] - p[0], dy = q[1] - p[1], length = sqrtf(dx * dx + dy * dy);
                if (length == 0) continue;

                float d = side * (dx * ((float)py + 0.5f - p[1]) - dy * ((float)px + 0.5f - p[0])) / length;
                if (d < depth) depth = d;
            }
            picture_image_blend(image, px, py, color, clamp01(depth + 0.5f));
        }
}

/* ---- cameras ---- */

picture_camera picture_camera_aim(float azimuth, float elevation, float aspect, pvec up)
{
    /* A basis whose second axis is up and whose third the character faces. */
    pvec front = up.z > 0.5f ? pvec_make(0, -1, 0) : pvec_make(0, 0, 1);
    pvec side = pvec_cross(up, front);
    const float degree = 3.14159265f / 180;

    /* from angles to directions */
    float ca = cosf(azimuth * degree), sa = sinf(azimuth * degree);
    float ce = cosf(elevation * degree), se = sinf(elevation * degree);
    pvec level = pvec_add(pvec_scale(front, ca), pvec_scale(side, sa));
    pvec back = pvec_add(pvec_scale(level, ce), pvec_scale(up, se)); /* from the scene to the camera */

    picture_camera camera = {0};
    camera.forward = pvec_scale(back, -1);
    camera.right = pvec_sub(pvec_scale(side, ca), pvec_scale(front, sa));
    camera.up = pvec_cross(back, camera.right);

    /* A long lens, as for a portrait: 24 degrees along the picture's longer side. */
    const float reach = 0.2126f;
    camera.tan_x = aspect >= 1 ? reach : reach * aspect;
    camera.tan_y = aspect >= 1 ? reach / aspect : reach;
    return camera;
}

picture_frame picture_frame_start(void)
{
    return (picture_frame){{FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX}, FLT_MAX, 0};
}

/*
 * A point (a, b, c) in camera axes is seen from (A, B, C) when |a - A| <= tan_x (c - C), and so for b. So
 * A - tan_x C >= max(a - tan_x c) and A + tan_x C <= min(a + tan_x c): four numbers hold all that matters.
 */
void picture_frame_add(picture_frame *frame, const picture_camera *camera, const float *positions, int count)
{
    const float tangents[2] = {camera->tan_x, camera->tan_y};
    for (int i = 0; i < count; i++) {
        /* planes of the view that touch each point */
        pvec p = pvec_load(positions + (size_t)i * 3);
        if (!pvec_usable(p)) continue;

        float depth = pvec_dot(camera->forward, p);
        float across[2] = {pvec_dot(camera->right, p), pvec_dot(camera->up, p)};
        for (int k = 0; k < 2; k++) {
            frame->high[k] = fmaxf(frame->high[k], across[k] - tangents[k] * depth);
            frame->low[k] = fminf(frame->low[k], across[k] + tangents[k] * depth);
        }

        frame->near = fminf(frame->near, depth);
        frame->count++;
    }
}

void picture_camera_stand(picture_camera *camera, const picture_frame *frame, float margin)
{
    const float tangents[2] = {camera->tan_x, camera->tan_y};
    float centre[2] = {0, 0}, depth = FLT_MAX;

    /* the nearest place from which all of them are in view */
    for (int k = 0; k < 2 && frame->count > 0; k++) {
        centre[k] = (frame->high[k] + frame->low[k]) / 2;
        depth = fminf(depth, (frame->low[k] - frame->high[k]) / (2 * tangents[k]));
    }

    if (frame->count == 0) depth = -1;
    camera->position = pvec_add(pvec_scale(camera->right, centre[0]),
                                pvec_add(pvec_scale(camera->up, centre[1]), pvec_scale(camera->forward, depth)));

    /* The margin widens the lens, which keeps the perspective. */
    camera->tan_x *= 1 + margin;
    camera->tan_y *= 1 + margin;
}

bool picture_camera_project(const picture_camera *camera, int width, int height, pvec p, float *x, float *y,
                            float *depth)
{
    pvec d = pvec_sub(p, camera->position);
    *depth = pvec_dot(d, camera->forward);
    if (!(*depth > 0)) return false;
    *x = (0.5f + 0.5f * pvec_dot(d, camera->right) / (*depth * camera->tan_x)) * (float)width;
    *y = (0.5f - 0.5f * pvec_dot(d, camera->up) / (*depth * camera->tan_y)) * (float)height;
    return true;
}
