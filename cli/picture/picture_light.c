/*
 * picture_light.c: the light that reaches samples: soft from all around, from a key light and a rim light, by shadow
 * rays, smoothed over near samples of the same surface.
 *
 * Directions come from Sobol's first two dimensions, handed to samples along a shuffled Z-order curve, so
 * that every square of 2^n samples holds a well-spread set (Ahmed and Wonka 2020, Screen-space blue-noise
 * diffusion of Monte Carlo sampling error via hierarchical ordering of pixels).
 */
#include "picture_tile.h"

#include <float.h>
#include <string.h>

/* ---- sampling ---- */

static uint32_t hash32(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static uint32_t reverse_bits(uint32_t x)
{
    x = (x << 16) | (x >> 16);
    x = ((x & 0x00ff00ffu) << 8) | ((x >> 8) & 0x00ff00ffu);
    x = ((x & 0x0f0f0f0fu) << 4) | ((x >> 4) & 0x0f0f0f0fu);
    x = ((x & 0x33333333u) << 2) | ((x >> 2) & 0x33333333u);
    return ((x & 0x55555555u) << 1) | ((x >> 1) & 0x55555555u);
}

/* The second dimension of Sobol's sequence. */
static uint32_t sobol2(uint32_t index)
{
    uint32_t result = 0;
    for (uint32_t v = 1u << 31; index; index >>= 1, v ^= v >> 1)
        if (index & 1) result ^= v;
    return result;
}

static float unit_float(uint32_t bits) { return (float)(bits >> 8) * (1.0f / 16777216.0f); }

/* The place of a sample on the shuffled Z-order curve of a block. */
static uint32_t curve_index(uint32_t x, uint32_t y)
{
    uint32_t index = 0;

    for (int level = 4; level >= 0; level--) {
        uint32_t quadrant = ((y >> level) & 1) * 2 + ((x >> level) & 1);

        /* One of eight orders of the four quadrants: turned and mirrored. */
        uint32_t h = hash32(index + ((uint32_t)level << 28));
        if (h & 1) quadrant ^= 1;
        if (h & 2) quadrant ^= 2;
        if (h & 4) quadrant = ((quadrant & 1) << 1) | (quadrant >> 1);

        index = index * 4 + quadrant;
    }

    return index;
}

void picture_points_make(picture_work *w)
{
    for (uint32_t i = 0; i < PICTURE_BLOCK * PICTURE_BLOCK; i++)
        w->curve[i] = (uint16_t)curve_index(i % PICTURE_BLOCK, i / PICTURE_BLOCK);
    for (uint32_t i = 0; i < PICTURE_BLOCK * PICTURE_BLOCK * (uint32_t)w->sky_rays; i++) {
        w->points[i][0] = reverse_bits(i);
        w->points[i][1] = sobol2(i);
    }
}

static void basis_make(pvec n, pvec *x, pvec *y)
{
    pvec helper = fabsf(n.x) < 0.6f ? pvec_make(1, 0, 0) : pvec_make(0, 1, 0);
    *x = pvec_unit(pvec_cross(helper, n));
    *y = pvec_cross(n, *x);
}

void picture_lights_place(picture_work *w)
{
    const picture_scene *scene = w->scene;

    pvec back = pvec_scale(scene->camera.forward, -1);
    pvec level = pvec_madd(back, scene->up, -pvec_dot(back, scene->up));

    /* Seen from straight above, the picture's lower edge is the front. */
    if (pvec_length(level) < 0.05f) level = pvec_scale(scene->camera.up, -1);
    level = pvec_unit(level);
    pvec right = pvec_cross(scene->up, level);

    /* The key light: from the left of the camera, high; the rim light: from behind, at the right. */
    w->key = pvec_unit(
        pvec_add(pvec_scale(level, 0.62f), pvec_add(pvec_scale(right, -0.62f), pvec_scale(scene->up, 0.95f))));
    w->rim = pvec_unit(
        pvec_add(pvec_scale(level, -0.75f), pvec_add(pvec_scale(right, 0.75f), pvec_scale(scene->up, 0.55f))));
    basis_make(w->key, &w->key_x, &w->key_y);
}

/* ---- shadow rays ---- */

/* Shadow rays wait here until there are eight. */
typedef struct queue {
    struct RTCRay8 rays;
    _Alignas(32) int valid[8];
    float weight[8];
    picture_light *target[8];
    int channel[8];
    int count;
} queue;

static void queue_flush(picture_work *w, queue *q, enum RTCIntersectContextFlags flags)
{
    if (q->count == 0) return;
    for (int i = 0; i < 8; i++) q->valid[i] = i < q->count ? -1 : 0;

    /* eight at once */
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = flags;
    rtcOccluded8(q->valid, w->rtc, &context, &q->rays);

    /* what met nothing is lit */
    for (int i = 0; i < q->count; i++) {
        if (q->rays.tfar[i] < 0) continue; /* something is in the way */
        q->target[i]->v[q->channel[i]] += q->weight[i];
        if (q->channel[i] == LIGHT_SKY) q->target[i]->v[LIGHT_OPEN] += 1.0f / (float)w->sky_rays;
    }

    q->count = 0;
}

static void queue_add(picture_work *w, queue *q, enum RTCIntersectContextFlags flags, pvec origin, pvec direction,
                      picture_light *target, int channel, float weight)
{
    float near = w->epsilon, far = FLT_MAX;

    /* a ray that misses the scene's bounds is lit */
    if (!picture_ray_clip(w->scene, origin, direction, &near, &far)) {
        target->v[channel] += weight;
        if (channel == LIGHT_SKY) target->v[LIGHT_OPEN] += 1.0f / (float)w->sky_rays;
        return;
    }

    /* the others are traced eight at a time */
    int i = q->count++;
    q->rays.org_x[i] = origin.x;
    q->rays.org_y[i] = origin.y;
    q->rays.org_z[i] = origin.z;
    q->rays.dir_x[i] = direction.x;
    q->rays.dir_y[i] = direction.y;
    q->rays.dir_z[i] = direction.z;
    q->rays.tnear[i] = near;
    q->rays.tfar[i] = far;
    q->rays.time[i] = 0;
    q->rays.mask[i] = ~0u;
    q->rays.id[i] = 0;
    q->rays.flags[i] = 0;

    q->target[i] = target;
    q->channel[i] = channel;
    q->weight[i] = weight;

    if (q->count == 8) queue_flush(w, q, flags);
}

/* Light that comes from a direction, about 0..1.2: bright above and behind the camera, a lit floor below. */
static float sky_radiance(const picture_scene *scene, pvec direction, float height)
{
    float up = pvec_dot(direction, scene->up);
    float front = fmaxf(0, -pvec_dot(direction, scene->camera.forward));
    float above = 0.72f + 0.33f * up + 0.22f * front;
    if (up >= 0) return above;

    /* Near the floor, its own shadow dims what it sends back. */
    float lit = scene->ground ? height / (height + 0.35f * scene->radius) : 1;
    return 0.5f * (0.35f + 0.65f * lit) + 0.15f * front;
}

void picture_tile_light(picture_work *w, picture_tile *tile)
{
    const picture_scene *scene = w->scene;
    size_t count = (size_t)tile->width * (size_t)tile->height;
    memset(tile->lights, 0, count * sizeof *tile->lights);

    queue q;
    memset(&q, 0, sizeof q);

    /* Pass 0: the key light; 1: the rim light; 2 and on: the sky. Rays of one pass are alike, which is fast. */
    for (int pass = 0; pass < 2 + w->sky_rays; pass++) {
        enum RTCIntersectContextFlags flags =
            pass < 2 ? RTC_INTERSECT_CONTEXT_FLAG_COHERENT : RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT;
        for (int y = 0; y < tile->height; y++)
            for (int x = 0; x < tile->width; x++) {
                size_t at = (size_t)y * (size_t)tile->width + (size_t)x;
                const picture_sample *s = &tile->samples[at];
                if (s->kind == KIND_NONE || s->kind == KIND_CAP) continue;

                picture_light *target = &tile->lights[at];
                bool is_floor = s->kind == KIND_FLOOR;

                /* The floor's light is smoothed more, so it needs fewer rays. */
                int rays = is_floor ? (w->sky_rays + 1) / 2 : w->sky_rays;
                if ((is_floor && pass == 1) || pass >= 2 + rays) continue;

                uint32_t gx = (uint32_t)(tile->x0 + x + (1 << 20)), gy = (uint32_t)(tile->y0 + y + (1 << 20));
                uint32_t salt = hash32((gx / PICTURE_BLOCK) * 7919u + (gy / PICTURE_BLOCK) * 104729u +
                                       (pass < 2 ? (uint32_t)pass : 2));

                /* Each sample takes one point for a lamp, and `rays` in a row for the sky. */
                size_t place = w->curve[(gy % PICTURE_BLOCK) * PICTURE_BLOCK + gx % PICTURE_BLOCK];
                size_t slot = pass < 2 ? place : place * (size_t)rays + (size_t)(pass - 2);
                float a = unit_float(w->points[slot][0] ^ salt);
                float b = unit_float(w->points[slot][1] ^ (salt * 0x9e3779b9u));

                if (pass < 2) {
                    /* A round light: 5.5 degrees across for the key, a point for the rim. */
                    pvec direction = w->rim;
                    if (pass == 0) {
                        float r = 0.075f * sqrtf(a), angle = b * 6.2831853f;
                        direction = pvec_unit(pvec_add(w->key, pvec_add(pvec_scale(w->key_x, r * cosf(angle)),
                                                                        pvec_scale(w->key_y, r * sinf(angle)))));
                    }

                    /* Light enters skin and comes out near by: shadow rays of surfaces start a little above. */
                    float lift = is_floor ? 0 : 0.012f * scene->radius;
                    if (pvec_dot(s->normal, direction) <= (is_floor ? 0 : -0.25f)) continue;
                    pvec origin = pvec_madd(s->position, s->normal, lift);
                    queue_add(w, &q, flags, origin, direction, target, pass == 0 ? LIGHT_KEY : LIGHT_RIM, 1);
                } else {
                    /* a direction with the density of a cosine */
                    pvec tx, ty;
                    basis_make(s->normal, &tx, &ty);
                    float r = sqrtf(a), angle = b * 6.2831853f, up = sqrtf(fmaxf(0, 1 - a));
                    pvec direction = pvec_add(pvec_scale(s->normal, up), pvec_add(pvec_scale(tx, r * cosf(angle)),
                                                                                  pvec_scale(ty, r * sinf(angle))));
                    float height = fmaxf(0, pvec_dot(s->position, scene->up) - scene->floor);

                    /* The floor compares with an empty studio, so it takes all light as equal. */
                    float radiance = is_floor ? 1 : sky_radiance(scene, direction, height);
                    queue_add(w, &q, flags, s->position, direction, target, LIGHT_SKY, radiance / (float)rays);
                }
            }

        queue_flush(w, &q, flags);
    }
}

/* ---- smoothing ---- */

/* How alike two samples are as places of one surface, 0..1. */
static inline float likeness(const picture_sample *a, const picture_sample *b, float tolerance)
{
    if (a->kind != b->kind || a->id != b->id) return 0;
    float turn = pvec_dot(a->normal, b->normal);
    float offset = fabsf(pvec_dot(a->normal, pvec_sub(b->position, a->position)));
    float w = (turn - 0.75f) * 4;
    if (w <= 0 || offset >= tolerance) return 0;
    return w * (1 - offset / tolerance);
}

/* Along rows, then along columns. */
void picture_tile_smooth(const picture_work *w, picture_tile *tile)
{
    for (int pass = 0; pass < 2; pass++) {
        const picture_light *from = pass == 0 ? tile->lights : tile->smooth;
        picture_light *to = pass == 0 ? tile->smooth : tile->lights;
        ptrdiff_t stride = pass == 0 ? 1 : tile->width;

        for (int y = 0; y < tile->height; y++)
            for (int x = 0; x < tile->width; x++) {
                size_t at = (size_t)y * (size_t)tile->width + (size_t)x;
                const picture_sample *s = &tile->samples[at];
                if (s->kind == KIND_NONE) continue;

                /* how near in depth a neighbour has to be */
                float depth = pvec_dot(pvec_sub(s->position, w->scene->camera.position), w->scene->camera.forward);
                float tolerance = depth * w->pixel * 2.5f;

                /* samples along the row or the column */
                int here = pass == 0 ? x : y, end = pass == 0 ? tile->width : tile->height;
                picture_light sum = from[at];
                float total = 1;

                /* Shadows on the floor are soft everywhere. */
                int reach = s->kind == KIND_FLOOR ? 2 * w->reach : w->reach;
                for (int step = -reach; step <= reach; step++) {
                    if (step == 0 || here + step < 0 || here + step >= end) continue;
                    size_t other = (size_t)((ptrdiff_t)at + step * stride);
                    float weight = likeness(s, &tile->samples[other], tolerance);
                    if (weight <= 0) continue;
                    for (int c = 0; c < LIGHT_COUNT; c++) sum.v[c] += from[other].v[c] * weight;
                    total += weight;
                }

                for (int c = 0; c < LIGHT_COUNT; c++) to[at].v[c] = sum.v[c] / total;
            }
    }
}
