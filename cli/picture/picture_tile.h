/*
 * picture_tile.h: a picture in work, for the files that render it: picture_trace.c finds what samples show,
 * picture_light.c how much light reaches them, picture_shade.c what colour that gives. Nobody else includes this.
 */
#ifndef CLI_PICTURE_TILE_H
#define CLI_PICTURE_TILE_H

#include <embree3/rtcore.h>

#include "picture.h"

enum {
    PICTURE_TILE = 64,  /* pixels along a side */
    PICTURE_BLOCK = 32, /* samples along a side of the shuffled curve; the next block scrambles its values anew */
};

enum { KIND_NONE, KIND_FLOOR, KIND_SURFACE, KIND_CAP };
enum { LIGHT_SKY, LIGHT_OPEN, LIGHT_KEY, LIGHT_RIM, LIGHT_COUNT };

typedef struct picture_sample {
    pvec position; /* of the surface, moved out for shadow rays */
    pvec normal;   /* unit, towards the camera */
    float albedo[3];
    float wire; /* 0..1 darkening by an edge */
    uint8_t kind;
    uint8_t id; /* mesh + 1 */
} picture_sample;

typedef struct picture_light {
    float v[LIGHT_COUNT];
} picture_light;

typedef struct picture_work {
    const picture_scene *scene;
    RTCScene rtc;
    picture_image *image;
    int side;      /* samples along a pixel's side */
    int sky_rays;  /* a picture_sample */
    int reach;     /* of smoothing, samples; twice that on the floor */
    int border;    /* pixels around a tile that are traced for smoothing */
    int columns;   /* of tiles */
    float epsilon; /* ray offset */
    float pixel;   /* size of a pixel at distance 1 */
    pvec key, key_x, key_y, rim;
    float (*palettes)[256][3]; /* linear colours of each mesh's map */
    uint16_t *curve;           /* (PICTURE_BLOCK x PICTURE_BLOCK) place of each sample on the shuffled curve */
    uint32_t (*points)[2]; /* (PICTURE_BLOCK x PICTURE_BLOCK x sky_rays) points of the unit square, in Sobol's order */
    bool failed;
} picture_work;

typedef struct picture_tile {
    int width, height; /* samples, border included */
    int x0, y0;        /* place of its first sample in the picture's grid of samples; may be negative */
    picture_sample *samples;
    picture_light *lights, *smooth;
} picture_tile;

static inline float picture_smoothstep(float low, float high, float x)
{
    float t = picture_clamp01((x - low) / (high - low));
    return t * t * (3 - 2 * t);
}

/* The part of a ray that lies in the kept half of a cut scene; false when there is none. */
static inline bool picture_ray_clip(const picture_scene *scene, pvec origin, pvec direction, float *near, float *far)
{
    if (!scene->cut) return true;
    float height = pvec_dot(scene->cut_normal, origin) - scene->cut_offset;
    float rise = pvec_dot(scene->cut_normal, direction);
    if (rise == 0) return height <= 0;
    float t = -height / rise;
    if (rise > 0)
        *far = fminf(*far, t);
    else
        *near = fmaxf(*near, t);
    return *near < *far;
}

/* ---- picture_trace.c ---- */

/* How much of the floor's shadow is shown at a place: it fades away from the character. */
float picture_floor_strength(const picture_scene *scene, pvec p);

/* ---- picture_light.c ---- */

/* Fill the work's curve and points. */
void picture_points_make(picture_work *w);
void picture_lights_place(picture_work *w);
/* Shoot the shadow rays of a tile; then smooth the light over near samples of the same surface. */
void picture_tile_light(picture_work *w, picture_tile *tile);
void picture_tile_smooth(const picture_work *w, picture_tile *tile);

/* ---- picture_shade.c ---- */

/* Write the pixels of a tile, the first at px0, py0. */
void picture_tile_shade(const picture_work *w, const picture_tile *tile, int px0, int py0);

#endif
