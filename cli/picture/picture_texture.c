/*
 * picture_texture.c: what is on the texture coordinates: squares, a grid, a tattoo, veins that stand out, images and
 * normal maps.
 */
#include <string.h>

#include "cli.h"
#include "picture.h"

int picture_texture_find(const char *text, float *squares)
{
    static const char *const names[] = {"none", "checker", "grid", "tattoo", "veins"};
    size_t length = strcspn(text, "@");
    double given = 16;
    if (text[length] == '@' && !(cli_parse_numbers(text + length + 1, ',', 1, &given) && given >= 0.01 && given <= 1e4))
        return -1;

    *squares = (float)given;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strlen(names[i]) == length && memcmp(text, names[i], length) == 0) return i;
    return -1;
}

static float fraction(float x) { return x - floorf(x); }

/* Distance to the nearest whole number. */
static float wave(float x) { return fabsf(fraction(x + 0.5f) - 0.5f); }

static float segment_distance(float px, float py, float x0, float y0, float x1, float y1)
{
    float dx = x1 - x0, dy = y1 - y0;
    float t = picture_clamp01(((px - x0) * dx + (py - y0) * dy) / (dx * dx + dy * dy));
    float ex = px - x0 - t * dx, ey = py - y0 - t * dy;
    return sqrtf(ex * ex + ey * ey);
}

/* Ink of a tattoo, 0..1, in a tile of the texture: a ring, a star of eight points and waves around it. */
static float tattoo_ink(float u, float v)
{
    float x = fraction(u) - 0.5f, y = fraction(v) - 0.5f;
    float r = sqrtf(x * x + y * y), a = atan2f(y, x);
    const float pi = 3.14159265f;

    /* a star, a ring around it and four rays */
    float star = 0.13f + 0.09f * (1 - 2 * wave(a * 8 / (2 * pi)) * 2);
    float ink = r < star && r > star * 0.45f ? 1.0f : 0.0f;
    if (r < 0.035f) ink = 1;

    float ring = 0.31f + 0.022f * sinf(a * 12);
    if (fabsf(r - ring) < 0.013f || fabsf(r - 0.385f) < 0.008f) ink = 1;

    for (int i = 0; i < 4; i++) {
        float b = pi / 4 + (float)i * pi / 2;
        float d = segment_distance(x, y, cosf(b) * 0.41f, sinf(b) * 0.41f, cosf(b) * 0.49f, sinf(b) * 0.49f);
        if (d < 0.016f * (1 - (r - 0.41f) * 9)) ink = 1;
    }

    return ink;
}

/* Height of the skin over veins, 0..1: winding lines that branch, one tree in each tile of the texture. */
static float vein_height(float u, float v)
{
    float height = 0;
    for (int i = 0; i < 5; i++) {
        float f = (float)i;
        float bend = 0.035f * sinf(v * 21 + f * 1.7f) + 0.018f * sinf(v * 47 + f * 4.1f);
        float d = wave(u - (0.1f + 0.2f * f) - bend) * (1.0f + 0.25f * f);
        float side = wave(u * 0.9f + v * (i % 2 ? 0.9f : -0.8f) + 0.23f * f + 0.03f * sinf(u * 31 + f)) * 1.5f;
        float near = fmaxf(expf(-d * d * 9000), 0.6f * expf(-side * side * 14000));
        height = fmaxf(height, near);
    }
    return height;
}

void picture_image_sample(const picture_image *image, const float uv[2], float rgba[4])
{
    float x = fraction(uv[0]) * (float)image->width - 0.5f, y = fraction(uv[1]) * (float)image->height - 0.5f;
    int column = (int)floorf(x), row = (int)floorf(y);
    float fx = x - (float)column, fy = y - (float)row;
    for (int c = 0; c < 4; c++) rgba[c] = 0;
    for (int k = 0; k < 4; k++) {
        int at_x = (column + k % 2 + image->width) % image->width, at_y = (row + k / 2 + image->height) % image->height;
        const uint8_t *pixel = image->pixels + 4 * ((size_t)at_y * (size_t)image->width + (size_t)at_x);
        float share = (k % 2 ? fx : 1 - fx) * (k / 2 ? fy : 1 - fy) / 255;
        for (int c = 0; c < 4; c++) rgba[c] += share * (float)pixel[c];
    }
}

void picture_material_color(const picture_material *material, const float *uv, float rgba[4])
{
    for (int c = 0; c < 4; c++) rgba[c] = 1;
    if (uv && material->image.pixels) picture_image_sample(&material->image, uv, rgba);
    for (int c = 0; c < 3; c++) rgba[c] = picture_linear(rgba[c]);
    for (int c = 0; c < 4; c++) rgba[c] *= material->color[c];
}

void picture_texture_apply(const picture_mesh *mesh, const float uv[2], float albedo[3])
{
    float u = uv[0] * mesh->texture_scale, v = uv[1] * mesh->texture_scale;
    float ink = 0;
    const float blue[3] = {0.05f, 0.09f, 0.13f}, vein[3] = {0.30f, 0.36f, 0.42f};

    /* what is drawn on the skin */
    switch (mesh->texture) {
    case PICTURE_TEXTURE_NONE:
        return;
    case PICTURE_TEXTURE_CHECKER:
        if (fmodf(fabsf(floorf(u) + floorf(v)), 2) == 1)
            for (int c = 0; c < 3; c++) albedo[c] *= 0.38f;
        return;
    case PICTURE_TEXTURE_GRID:
        if (wave(u) < 0.04f || wave(v) < 0.04f)
            for (int c = 0; c < 3; c++) albedo[c] *= 0.25f;
        else if (wave(u * 4) < 0.05f || wave(v * 4) < 0.05f)
            for (int c = 0; c < 3; c++) albedo[c] *= 0.7f;
        return;
    case PICTURE_TEXTURE_TATTOO:
        ink = tattoo_ink(u / 4, v / 4) * 0.9f;
        for (int c = 0; c < 3; c++) albedo[c] += (blue[c] - albedo[c]) * ink;
        return;
    case PICTURE_TEXTURE_VEINS:
        ink = vein_height(u / 4, v / 4) * 0.35f;
        for (int c = 0; c < 3; c++) albedo[c] += (vein[c] - albedo[c]) * ink;
        return;
    case PICTURE_TEXTURE_IMAGE: {
        float rgba[4];
        picture_image_sample(mesh->image, uv, rgba);
        for (int c = 0; c < 3; c++) albedo[c] += (picture_linear(rgba[c]) - albedo[c]) * rgba[3];
        return;
    }
    }
}

pvec picture_texture_bump(const picture_mesh *mesh, const picture_image *normals, const float *t, const pvec p[3],
                          const float uv[2], float strength, pvec n)
{
    bool veins = mesh->texture == PICTURE_TEXTURE_VEINS;
    if (!veins && !normals) return n;

    /* the axes of the texture on the triangle */
    float du1 = t[2] - t[0], dv1 = t[3] - t[1], du2 = t[4] - t[0], dv2 = t[5] - t[1];
    float det = du1 * dv2 - du2 * dv1;
    if (fabsf(det) < 1e-20f) return n;

    /* tangents along u and v */
    pvec e1 = pvec_sub(p[1], p[0]), e2 = pvec_sub(p[2], p[0]);
    pvec x = pvec_unit(pvec_scale(pvec_sub(pvec_scale(e1, dv2), pvec_scale(e2, dv1)), 1 / det));
    pvec y = pvec_unit(pvec_scale(pvec_sub(pvec_scale(e2, du1), pvec_scale(e1, du2)), 1 / det));
    float slope_u = 0, slope_v = 0;

    /* A vein stands out by 0.6 % of the length of a tile. */
    if (veins) {
        float s = mesh->texture_scale / 4, u = uv[0] * s, v = uv[1] * s, step = 0.002f;
        slope_u += (vein_height(u + step, v) - vein_height(u - step, v)) / (2 * step) * 0.006f;
        slope_v += (vein_height(u, v + step) - vein_height(u, v - step)) / (2 * step) * 0.006f;
    }

    /* a normal map has y against v */
    if (normals) {
        float rgba[4];
        picture_image_sample(normals, uv, rgba);

        float out = fmaxf(2 * rgba[2] - 1, 0.1f);
        slope_u -= strength * (2 * rgba[0] - 1) / out;
        slope_v += strength * (2 * rgba[1] - 1) / out;
    }
    return pvec_unit(pvec_sub(n, pvec_add(pvec_scale(x, slope_u), pvec_scale(y, slope_v))));
}
