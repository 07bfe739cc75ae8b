/*
 * picture_color.c: sRGB, and colours for values.
 *
 * The maps are given by a few colours at equal steps, chosen so that lightness runs evenly: the sequential
 * map rises all the way, the diverging one falls to both sides of its middle. Straight lines in between.
 */
#include "picture.h"

float picture_linear(float srgb) { return srgb <= 0.04045f ? srgb / 12.92f : powf((srgb + 0.055f) / 1.055f, 2.4f); }

float picture_srgb(float linear)
{
    return linear <= 0.0031308f ? linear * 12.92f : 1.055f * powf(linear, 1 / 2.4f) - 0.055f;
}

#define STEPS 7
static const uint8_t SEQUENTIAL[STEPS][3] = {{40, 24, 92},   {58, 62, 148},  {42, 110, 164}, {40, 152, 150},
                                             {92, 190, 118}, {180, 216, 92}, {250, 236, 128}};
static const uint8_t DIVERGING[STEPS][3] = {{30, 62, 150},   {74, 128, 204}, {146, 180, 212}, {208, 205, 200},
                                            {226, 160, 130}, {212, 92, 76},  {150, 24, 48}};
static const uint8_t TOUCH[STEPS][3] = {{219, 178, 159}, {232, 176, 130}, {246, 172, 92}, {240, 132, 60},
                                        {220, 84, 48},   {180, 36, 48},   {116, 12, 52}};
static const uint8_t CATEGORY[][3] = {{226, 164, 138}, {240, 206, 106}, {190, 74, 76},   {236, 230, 214},
                                      {98, 150, 196},  {120, 178, 112}, {168, 126, 190}, {224, 142, 70},
                                      {96, 182, 178},  {206, 120, 160}, {140, 140, 140}, {162, 122, 86}};

picture_color picture_map_color(picture_map map, float value, const float range[2])
{
    if (!isfinite(value)) return (picture_color){0.5f, 0.5f, 0.5f, 1};

    /* one of a list */
    if (map == PICTURE_MAP_CATEGORY) {
        int count = (int)(sizeof CATEGORY / sizeof CATEGORY[0]);
        int index = (int)fmodf(floorf(fabsf(value) + 0.5f), (float)count);
        const uint8_t *c = CATEGORY[index];
        return (picture_color){(float)c[0] / 255, (float)c[1] / 255, (float)c[2] / 255, 1};
    }

    /* between two steps of a map */
    const uint8_t(*colors)[3] = map == PICTURE_MAP_DIVERGING ? DIVERGING
                                : map == PICTURE_MAP_TOUCH   ? TOUCH
                                                             : SEQUENTIAL;

    /* place within the range */
    float span = range[1] - range[0];
    float t = span != 0 ? (value - range[0]) / span : 0.5f;
    t = (t < 0 ? 0 : t > 1 ? 1 : t) * (STEPS - 1);
    int step = (int)t < STEPS - 2 ? (int)t : STEPS - 2;
    float f = t - (float)step, rgb[3];
    for (int c = 0; c < 3; c++) rgb[c] = ((float)colors[step][c] * (1 - f) + (float)colors[step + 1][c] * f) / 255;

    return (picture_color){rgb[0], rgb[1], rgb[2], 1};
}
