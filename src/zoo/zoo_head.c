/*
 * zoo_head.c: a human head like that of an artist's mannequin, for man, dancer and neck.
 */
#include "zoo/zoo_kit.h"

/* Shapes are written for a head of 0.23 m from chin to crown, between the ears at the origin, facing +z. */
typedef struct head_space {
    zoo_kit *kit;
    int node;
    vec3 origin;
    float scale, width;
} head_space;

static vec3 place(const head_space *h, float x, float y, float z)
{
    return vec3_make(h->origin.x + h->scale * h->width * x, h->origin.y + h->scale * y, h->origin.z + h->scale * z);
}

static void ball(const head_space *h, float x, float y, float z, float rx, float ry, float rz, float blend)
{
    vec3 radii = {rx * h->scale * h->width, ry * h->scale, rz * h->scale};
    zoo_field_ellipsoid(h->kit, h->node, place(h, x, y, z), radii, blend * h->scale);
}

static void cone(const head_space *h, float x0, float y0, float z0, float r0, float x1, float y1, float z1, float r1,
                 float blend)
{
    zoo_field_cone(h->kit, h->node, place(h, x0, y0, z0), r0 * h->scale, place(h, x1, y1, z1), r1 * h->scale,
                   blend * h->scale);
}

int zoo_head_field(zoo_kit *kit, int parent, vec3 origin, float scale, const zoo_head *style)
{
    head_space space = {kit, zoo_field_node(kit, parent, 0.022f * scale), origin, scale, style->width}, *h = &space;
    float jaw = style->jaw, brow = style->brow;

    /* Skull, face, jaw. */
    ball(h, 0, 0.046f, -0.012f, 0.0745f, 0.084f, 0.0945f, 0.01f);
    ball(h, 0, -0.026f, 0.026f, 0.0580f, 0.084f, 0.060f, 0.045f);

    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1, full = 0.85f + 0.30f * style->fat;
        cone(h, s * 0.036f * jaw, -0.062f, 0.006f, 0.018f, s * 0.016f * jaw, -0.092f, 0.056f, 0.016f, 0.030f);
        ball(h, s * 0.037f, -0.024f, 0.048f, 0.022f, 0.020f, 0.025f, 0.026f);               /* cheekbone */
        ball(h, s * 0.030f, -0.056f, 0.040f, 0.026f * full, 0.032f, 0.034f * full, 0.030f); /* cheek */
    }
    ball(h, 0, -0.097f, 0.065f, 0.020f * jaw, 0.016f, 0.017f, 0.022f);                            /* chin */
    if (style->fat > 0) ball(h, 0, -0.112f, 0.026f, 0.042f * style->fat, 0.022f, 0.036f, 0.034f); /* double chin */

    /* Brow, eyes in their sockets. */
    cone(h, -0.026f, 0.020f, 0.071f, 0.011f * brow, 0.026f, 0.020f, 0.071f, 0.011f * brow, 0.022f);
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;
        ball(h, s * 0.031f, -0.003f, 0.096f, 0.020f, 0.014f, 0.020f, 0.014f);
        zoo_field_carve(kit);
        ball(h, s * 0.031f, -0.004f, 0.0685f, 0.0160f, 0.0135f, 0.0135f, 0.004f);
    }

    /* Nose, mouth. */
    cone(h, 0, 0.012f, 0.079f, 0.0085f, 0, -0.033f, 0.0985f, 0.0112f, 0.013f);
    for (int k = 0; k < 2; k++) ball(h, k == 0 ? 0.0110f : -0.0110f, -0.036f, 0.087f, 0.0092f, 0.0082f, 0.011f, 0.009f);
    ball(h, 0, -0.064f, 0.064f, 0.028f, 0.022f, 0.022f, 0.022f);
    cone(h, -0.014f, -0.0590f, 0.0800f, 0.0068f, 0, -0.0575f, 0.0845f, 0.0070f, 0.006f);
    cone(h, 0, -0.0575f, 0.0845f, 0.0070f, 0.014f, -0.0590f, 0.0800f, 0.0068f, 0.006f);
    cone(h, -0.010f, -0.0715f, 0.0800f, 0.0075f, 0.010f, -0.0715f, 0.0800f, 0.0075f, 0.006f);

    /* Ears in low relief: a deep overhang could not be followed by the cage. */
    for (int k = 0; k < 2; k++) {
        float s = k == 0 ? 1 : -1;
        zoo_field_blob(kit, h->node, place(h, s * 0.0695f, -0.008f, -0.008f),
                       vec3_scale(vec3_make(s * 0.0125f, 0, 0.004f), scale),
                       vec3_scale(vec3_make(0, 0.032f, -0.005f), scale),
                       vec3_scale(vec3_make(-s * 0.006f, 0.003f, 0.0185f), scale), 0.013f * scale);
    }

    zoo_field_magnet(kit, place(h, 0, -0.025f, 0.075f), 0.105f * scale, 1.6f);
    return h->node;
}
