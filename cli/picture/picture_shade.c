/*
 * picture_shade.c: the colour of samples from their light, what is behind them, and the pixels of a tile.
 */
#include "picture_tile.h"

/* The studio behind: a light grey that brightens towards the horizon line; display colours. */
static picture_color backdrop(const picture_scene *scene, float x, float y)
{
    if (scene->background == PICTURE_BACKGROUND_WHITE) return (picture_color){1, 1, 1, 1};
    if (scene->background == PICTURE_BACKGROUND_TRANSPARENT) return (picture_color){0, 0, 0, 0};
    float dx = x - 0.5f, dy = y - 0.62f;
    float dim = 0.085f * picture_smoothstep(0.15f, 0.95f, sqrtf(dx * dx + dy * dy));
    return (picture_color){0.950f - dim, 0.953f - dim * 0.97f, 0.957f - dim * 0.92f, 1};
}

static float tone(float x) { return x < 0.6f ? x : 0.6f + 0.4f * (1 - expf(-(x - 0.6f) / 0.4f)); }

/* Display-linear colour of a surface sample. */
static void shade(const picture_work *w, const picture_sample *s, const picture_light *l, pvec view, float rgb[3])
{
    const picture_scene *scene = w->scene;

    /* The cut face is a diagram, not a thing: one even colour from wherever it is seen. */
    if (s->kind == KIND_CAP) {
        for (int c = 0; c < 3; c++) rgb[c] = s->albedo[c];
        return;
    }

    /* Skin lets light bleed over the edge of shade, red the farthest: wrapped cosines by channel. */
    static const float wrap[3] = {0.22f, 0.10f, 0.07f};
    static const float key_color[3] = {1.00f, 0.98f, 0.95f}, rim_color[3] = {0.86f, 0.93f, 1.0f};

    /* how it faces the lights and the viewer */
    float facing = pvec_dot(s->normal, w->key), edge = fmaxf(0, pvec_dot(s->normal, w->rim));
    float up = pvec_dot(s->normal, scene->up) * 0.5f + 0.5f;
    const float sky_color[3] = {1.10f - 0.12f * up, 1.0f, 0.93f + 0.12f * up};

    float grazing = 1 - fmaxf(0, pvec_dot(s->normal, view));
    float fresnel = grazing * grazing * grazing * grazing;

    /* A soft shine from the key light. */
    pvec half = pvec_unit(pvec_add(view, w->key));
    float cosine = fmaxf(0, pvec_dot(s->normal, half));
    float shine = (0.075f * powf(cosine, 14) + 0.10f * powf(cosine, 60)) * l->v[LIGHT_KEY];
    float strongest = fmaxf(1e-3f, fmaxf(s->albedo[0], fmaxf(s->albedo[1], s->albedo[2])));

    for (int c = 0; c < 3; c++) {
        /* direct light */
        float albedo = s->albedo[c];
        float direct = fmaxf(0, (facing + wrap[c]) / (1 + wrap[c]));

        /* Light that other skin sends back where the sky is hidden. */
        float bounce = (1 - picture_clamp01(l->v[LIGHT_OPEN])) * albedo * 0.75f;

        /* Light that has been through skin has its colour twice; it is what fills shade. */
        float deep = albedo * (0.6f + 0.4f * albedo / strongest);
        float value =
            deep * 0.56f * (l->v[LIGHT_SKY] * sky_color[c] + bounce) +
            albedo * (0.92f * direct * l->v[LIGHT_KEY] * key_color[c] + 0.28f * edge * l->v[LIGHT_RIM] * rim_color[c]);

        value += (shine * key_color[c] + 0.16f * fresnel * l->v[LIGHT_SKY] * sky_color[c] +
                  0.30f * fresnel * edge * l->v[LIGHT_RIM] * rim_color[c]) *
                 0.8f;

        value *= 1 - 0.72f * s->wire;
        rgb[c] = tone(value);
    }
}

/* Whether a sample of the cut face lies at the outline of its section. */
static bool cap_outline(const picture_tile *tile, int x, int y, int reach)
{
    const picture_sample *s = &tile->samples[(size_t)y * (size_t)tile->width + (size_t)x];
    static const int around[12][2] = {{4, 0},  {-4, 0},  {0, 4}, {0, -4},  {3, 3},  {3, -3},
                                      {-3, 3}, {-3, -3}, {2, 4}, {-2, -4}, {4, -2}, {-4, 2}};
    for (int i = 0; i < 12; i++) {
        int ox = x + around[i][0] * reach / 4, oy = y + around[i][1] * reach / 4;
        if (ox < 0 || oy < 0 || ox >= tile->width || oy >= tile->height) continue;
        const picture_sample *o = &tile->samples[(size_t)oy * (size_t)tile->width + (size_t)ox];
        if (o->kind != KIND_CAP || o->id != s->id) return true;
    }
    return false;
}

void picture_tile_shade(const picture_work *w, const picture_tile *tile, int px0, int py0)
{
    const picture_scene *scene = w->scene;
    picture_image *image = w->image;
    int side = w->side;
    int outline = (side * 5 + 2) / 4 > 0 ? (side * 5 + 2) / 4 : 1;

    for (int py = py0; py < py0 + PICTURE_TILE && py < image->height; py++)
        for (int px = px0; px < px0 + PICTURE_TILE && px < image->width; px++) {
            picture_color back =
                backdrop(scene, ((float)px + 0.5f) / (float)image->width, ((float)py + 0.5f) / (float)image->height);
            const float back_linear[3] = {picture_linear(back.r), picture_linear(back.g), picture_linear(back.b)};
            float sum[3] = {0, 0, 0}, alpha = 0; /* premultiplied */

            /* samples of the pixel */
            for (int j = 0; j < side; j++)
                for (int i = 0; i < side; i++) {
                    int x = px * side + i - tile->x0, y = py * side + j - tile->y0;
                    size_t at = (size_t)y * (size_t)tile->width + (size_t)x;
                    const picture_sample *s = &tile->samples[at];
                    const picture_light *l = &tile->lights[at];
                    float rgb[3] = {back_linear[0], back_linear[1], back_linear[2]}, a = back.a;

                    /* shadow on the floor, or a surface */
                    if (s->kind == KIND_FLOOR) {
                        float shadow = 1 - (0.55f * l->v[LIGHT_SKY] + 0.45f * l->v[LIGHT_KEY]);
                        shadow = picture_clamp01(shadow) * picture_floor_strength(scene, s->position) * 0.80f;
                        static const float dark[3] = {1.0f, 0.975f, 0.94f}; /* shadows lean to blue */
                        if (scene->background == PICTURE_BACKGROUND_TRANSPARENT) {
                            rgb[0] = rgb[1] = rgb[2] = 0;
                            a = shadow * 0.6f;
                        } else
                            for (int c = 0; c < 3; c++) rgb[c] *= 1 - shadow * dark[c];
                    } else if (s->kind != KIND_NONE) {
                        pvec view = pvec_unit(pvec_sub(scene->camera.position, s->position));
                        shade(w, s, l, view, rgb);
                        if (s->kind == KIND_CAP && cap_outline(tile, x, y, outline))
                            for (int c = 0; c < 3; c++) rgb[c] *= 0.3f;
                        a = 1;
                    }

                    /* sum, premultiplied */
                    for (int c = 0; c < 3; c++) sum[c] += rgb[c] * a;
                    alpha += a;
                }

            /* as sRGB */
            uint8_t *pixel = image->pixels + ((size_t)py * (size_t)image->width + (size_t)px) * 4;
            for (int c = 0; c < 3; c++) {
                float value = alpha > 0 ? picture_srgb(sum[c] / alpha) : 0;
                pixel[c] = (uint8_t)(picture_clamp01(value) * 255 + 0.5f);
            }
            pixel[3] = (uint8_t)(picture_clamp01(alpha / (float)(side * side)) * 255 + 0.5f);
        }
}
