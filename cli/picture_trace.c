/*
 * picture_trace.c: the renderer: one camera, soft light from all around, a key light and a rim light with
 * soft shadows, and a floor that takes shadows, traced with Embree.
 *
 * A picture is made tile by tile. Each pixel has quality x quality samples. For each sample the surface is
 * found, then a few shadow rays are shot; the light they bring (not the colour of the surface) is smoothed
 * over near samples of the same surface, which takes the noise away and leaves edges and textures sharp.
 * Directions come from Sobol's first two dimensions, handed to samples along a shuffled Z-order curve, so
 * that every square of 2^n samples holds a well-spread set (Ahmed and Wonka 2020, Screen-space blue-noise
 * diffusion of Monte Carlo sampling error via hierarchical ordering of pixels).
 *
 * Coarse meshes with smooth normals darken in facets where the light grazes; shadow rays start on the
 * rounded surface that the normals describe (Hanika 2021, Hacking the shadow terminator).
 *
 * A cut takes a half-space away: every ray is shortened to the part of it that lies in the kept half, which
 * is one interval. Where a camera ray enters the kept half inside a solid (it leaves the mesh more often than
 * it enters it from there on), the matter at the plane is drawn, in the mesh's cap colour; darker where it is
 * inside twice, that is, where a body passes through itself. Of nested solids, the last in the scene's list wins. A
 * mesh with holes has no inside; rays through its holes show through.
 */
#include "picture.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include <embree3/rtcore.h>

#define TILE 64 /* pixels along a side */

/* Which solids a ray meets at most when the matter at the cut is found. */
#define MAX_CROSSINGS 64
#define MAX_SOLIDS 16

struct picture_tracer {
    RTCDevice device;
};

picture_tracer *picture_tracer_create(void)
{
    picture_tracer *tracer = calloc(1, sizeof *tracer);
    if (!tracer) return NULL;
    /* One building thread: the same tree every time, and the caller's jobs are the only threads. */
    tracer->device = rtcNewDevice("threads=1,set_affinity=0");
    if (!tracer->device) {
        free(tracer);
        return NULL;
    }
    return tracer;
}

void picture_tracer_destroy(picture_tracer *tracer)
{
    if (!tracer) return;
    rtcReleaseDevice(tracer->device);
    free(tracer);
}

/* ---- the picture in work ---- */

enum { KIND_NONE, KIND_FLOOR, KIND_SURFACE, KIND_CAP };
enum { LIGHT_SKY, LIGHT_OPEN, LIGHT_KEY, LIGHT_RIM, LIGHT_COUNT };

typedef struct sample {
    pvec position; /* of the surface, moved out for shadow rays */
    pvec normal;   /* unit, towards the camera */
    float albedo[3];
    float wire; /* 0..1 darkening by an edge */
    uint8_t kind;
    uint8_t id; /* mesh + 1 */
} sample;

typedef struct light {
    float v[LIGHT_COUNT];
} light;

typedef struct work {
    const picture_scene *scene;
    RTCScene rtc;
    picture_image *image;
    int side;      /* samples along a pixel's side */
    int sky_rays;  /* a sample */
    int reach;     /* of smoothing, samples; twice that on the floor */
    int border;    /* pixels around a tile that are traced for smoothing */
    int columns;   /* of tiles */
    float epsilon; /* ray offset */
    float pixel;   /* size of a pixel at distance 1 */
    pvec key, key_x, key_y, rim;
    float (*palettes)[256][3]; /* linear colours of each mesh's map */
    uint16_t *curve;           /* (BLOCK x BLOCK) place of each sample on the shuffled curve */
    uint32_t (*points)[2];     /* (BLOCK x BLOCK x sky_rays) points of the unit square, in Sobol's order */
    bool failed;
} work;

static float clamp01(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; } /* 0 for NaN */
static float smoothstep(float low, float high, float x)
{
    float t = clamp01((x - low) / (high - low));
    return t * t * (3 - 2 * t);
}

/* ---- sampling ---- */

static uint32_t hash32(uint32_t x)
{
    x ^= x >> 16, x *= 0x7feb352du;
    x ^= x >> 15, x *= 0x846ca68bu;
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

#define BLOCK 32 /* samples along a side of the shuffled curve; the next block scrambles its values anew */

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

static void points_make(work *w)
{
    for (uint32_t i = 0; i < BLOCK * BLOCK; i++) w->curve[i] = (uint16_t)curve_index(i % BLOCK, i / BLOCK);
    for (uint32_t i = 0; i < BLOCK * BLOCK * (uint32_t)w->sky_rays; i++)
        w->points[i][0] = reverse_bits(i), w->points[i][1] = sobol2(i);
}

static void basis_make(pvec n, pvec *x, pvec *y)
{
    pvec helper = fabsf(n.x) < 0.6f ? pvec_make(1, 0, 0) : pvec_make(0, 1, 0);
    *x = pvec_unit(pvec_cross(helper, n));
    *y = pvec_cross(n, *x);
}

/* ---- rays ---- */

/* The part of a ray that lies in the kept half of a cut scene; false when there is none. */
static bool ray_clip(const picture_scene *scene, pvec origin, pvec direction, float *near, float *far)
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

/* Shadow rays wait here until there are eight. */
typedef struct queue {
    struct RTCRay8 rays;
    _Alignas(32) int valid[8];
    float weight[8];
    light *target[8];
    int channel[8];
    int count;
} queue;

static void queue_flush(work *w, queue *q, enum RTCIntersectContextFlags flags)
{
    if (q->count == 0) return;
    for (int i = 0; i < 8; i++) q->valid[i] = i < q->count ? -1 : 0;
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = flags;
    rtcOccluded8(q->valid, w->rtc, &context, &q->rays);
    for (int i = 0; i < q->count; i++) {
        if (q->rays.tfar[i] < 0) continue; /* something is in the way */
        q->target[i]->v[q->channel[i]] += q->weight[i];
        if (q->channel[i] == LIGHT_SKY) q->target[i]->v[LIGHT_OPEN] += 1.0f / (float)w->sky_rays;
    }
    q->count = 0;
}

static void queue_add(work *w, queue *q, enum RTCIntersectContextFlags flags, pvec origin, pvec direction,
                      light *target, int channel, float weight)
{
    float near = w->epsilon, far = FLT_MAX;
    if (!ray_clip(w->scene, origin, direction, &near, &far)) {
        target->v[channel] += weight;
        if (channel == LIGHT_SKY) target->v[LIGHT_OPEN] += 1.0f / (float)w->sky_rays;
        return;
    }
    int i = q->count++;
    q->rays.org_x[i] = origin.x, q->rays.org_y[i] = origin.y, q->rays.org_z[i] = origin.z;
    q->rays.dir_x[i] = direction.x, q->rays.dir_y[i] = direction.y, q->rays.dir_z[i] = direction.z;
    q->rays.tnear[i] = near, q->rays.tfar[i] = far;
    q->rays.time[i] = 0, q->rays.mask[i] = ~0u, q->rays.id[i] = 0, q->rays.flags[i] = 0;
    q->target[i] = target, q->channel[i] = channel, q->weight[i] = weight;
    if (q->count == 8) queue_flush(w, q, flags);
}

/* ---- surfaces ---- */

static float fraction(float x) { return x - floorf(x); }

/* Distance to the nearest whole number. */
static float wave(float x) { return fabsf(fraction(x + 0.5f) - 0.5f); }

static float segment_distance(float px, float py, float x0, float y0, float x1, float y1)
{
    float dx = x1 - x0, dy = y1 - y0;
    float t = clamp01(((px - x0) * dx + (py - y0) * dy) / (dx * dx + dy * dy));
    float ex = px - x0 - t * dx, ey = py - y0 - t * dy;
    return sqrtf(ex * ex + ey * ey);
}

/* Ink of a tattoo, 0..1, in a tile of the texture: a ring, a star of eight points and waves around it. */
static float tattoo_ink(float u, float v)
{
    float x = fraction(u) - 0.5f, y = fraction(v) - 0.5f;
    float r = sqrtf(x * x + y * y), a = atan2f(y, x);
    const float pi = 3.14159265f;
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

static void texture_apply(const picture_mesh *mesh, const float uv[2], float albedo[3])
{
    float u = uv[0] * mesh->texture_scale, v = uv[1] * mesh->texture_scale;
    float ink = 0;
    const float blue[3] = {0.05f, 0.09f, 0.13f}, vein[3] = {0.30f, 0.36f, 0.42f};
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
    }
}

/* Tilt the normal by the height map of the texture, whose axes are found from the triangle. */
static pvec texture_bump(const picture_mesh *mesh, const float *t, const pvec p[3], const float uv[2], pvec n)
{
    if (mesh->texture != PICTURE_TEXTURE_VEINS) return n;
    float du1 = t[2] - t[0], dv1 = t[3] - t[1], du2 = t[4] - t[0], dv2 = t[5] - t[1];
    float det = du1 * dv2 - du2 * dv1;
    if (fabsf(det) < 1e-20f) return n;
    pvec e1 = pvec_sub(p[1], p[0]), e2 = pvec_sub(p[2], p[0]);
    pvec along_u = pvec_scale(pvec_sub(pvec_scale(e1, dv2), pvec_scale(e2, dv1)), 1 / det);
    pvec along_v = pvec_scale(pvec_sub(pvec_scale(e2, du1), pvec_scale(e1, du2)), 1 / det);
    /* A vein stands out by 0.6 % of the length of a tile. */
    float s = mesh->texture_scale / 4, u = uv[0] * s, v = uv[1] * s, step = 0.002f;
    float slope_u = (vein_height(u + step, v) - vein_height(u - step, v)) / (2 * step) * 0.006f;
    float slope_v = (vein_height(u, v + step) - vein_height(u, v - step)) / (2 * step) * 0.006f;
    pvec x = pvec_unit(along_u), y = pvec_unit(along_v);
    return pvec_unit(pvec_sub(n, pvec_add(pvec_scale(x, slope_u), pvec_scale(y, slope_v))));
}

/* Fill a sample from a hit. */
static void surface_resolve(const work *w, pvec origin, pvec direction, float t, const struct RTCHit *hit, sample *s)
{
    const picture_mesh *mesh = &w->scene->meshes[hit->geomID];
    size_t triangle = hit->primID;
    const int *corners = mesh->triangles + triangle * 3;
    const float bary[3] = {1 - hit->u - hit->v, hit->u, hit->v};
    pvec p[3];
    for (int k = 0; k < 3; k++) p[k] = pvec_load(mesh->positions + (size_t)corners[k] * 3);
    pvec flat = pvec_unit(pvec_cross(pvec_sub(p[1], p[0]), pvec_sub(p[2], p[0])));
    bool inside = pvec_dot(flat, direction) > 0;
    float side = inside ? -1.0f : 1.0f;
    flat = pvec_scale(flat, side);
    pvec position = pvec_madd(origin, direction, t);

    /* The smooth normal, and the place on the rounded surface. */
    pvec normal = flat, rounded = position;
    if (mesh->corner_normals) {
        normal = (pvec){0, 0, 0};
        const float *n = mesh->corner_normals + triangle * 9;
        for (int k = 0; k < 3; k++) {
            pvec corner = pvec_scale(pvec_load(n + k * 3), side);
            normal = pvec_madd(normal, corner, bary[k]);
            float below = pvec_dot(pvec_sub(position, p[k]), corner);
            if (below < 0) rounded = pvec_madd(rounded, corner, -below * bary[k]);
        }
        normal = pvec_unit(normal);
        if (pvec_dot(normal, normal) == 0) normal = flat;
    }

    /* Colour. */
    float rgb[3];
    memcpy(rgb, inside ? mesh->inside_color : mesh->color, sizeof rgb);
    bool painted = !inside || !w->scene->cut;
    if (painted && mesh->vertex_values) {
        float value = 0;
        for (int k = 0; k < 3; k++) value += bary[k] * mesh->vertex_values[corners[k]];
        if (mesh->map == PICTURE_MAP_CATEGORY || !isfinite(value)) {
            /* The nearest corner's: a whole number has no in-between. */
            int best = bary[1] > bary[0] ? 1 : 0;
            if (bary[2] > bary[best]) best = 2;
            picture_color c = picture_map_color(mesh->map, mesh->vertex_values[corners[best]], mesh->range);
            rgb[0] = c.r, rgb[1] = c.g, rgb[2] = c.b;
            for (int c3 = 0; c3 < 3; c3++) s->albedo[c3] = picture_linear(rgb[c3]);
        } else {
            float span = mesh->range[1] - mesh->range[0];
            float place = span != 0 ? (value - mesh->range[0]) / span : 0.5f;
            memcpy(s->albedo, w->palettes[hit->geomID][(int)(clamp01(place) * 255 + 0.5f)], sizeof s->albedo);
        }
    } else {
        if (painted && mesh->vertex_colors)
            for (int c = 0; c < 3; c++) {
                rgb[c] = 0;
                for (int k = 0; k < 3; k++) rgb[c] += bary[k] * mesh->vertex_colors[(size_t)corners[k] * 3 + (size_t)c];
            }
        for (int c = 0; c < 3; c++) s->albedo[c] = picture_linear(rgb[c]);
    }
    if (painted && mesh->corner_texcoords && mesh->texture != PICTURE_TEXTURE_NONE) {
        const float *tex = mesh->corner_texcoords + triangle * 6;
        float uv[2] = {bary[0] * tex[0] + bary[1] * tex[2] + bary[2] * tex[4],
                       bary[0] * tex[1] + bary[1] * tex[3] + bary[2] * tex[5]};
        texture_apply(mesh, uv, s->albedo);
        normal = texture_bump(mesh, tex, p, uv, normal);
    }

    /* Edges of the faces: lines of one pixel. */
    s->wire = 0;
    if (mesh->wire) {
        float line = t * w->pixel * 0.55f, soft = t * w->pixel / (float)w->side;
        int mask = mesh->edges ? mesh->edges[triangle] : 7;
        float area2 = pvec_length(pvec_cross(pvec_sub(p[1], p[0]), pvec_sub(p[2], p[0])));
        for (int k = 0; k < 3; k++) {
            if (!(mask >> k & 1)) continue;
            float length = pvec_length(pvec_sub(p[(k + 1) % 3], p[k]));
            float distance = length > 0 ? bary[(k + 2) % 3] * area2 / length : FLT_MAX;
            s->wire = fmaxf(s->wire, clamp01((line - distance) / soft + 0.5f));
        }
    }
    s->kind = KIND_SURFACE;
    s->id = (uint8_t)(hit->geomID < 254 ? hit->geomID + 1 : 255);
    s->normal = normal;
    s->position = pvec_madd(rounded, flat, w->epsilon);
}

/* All that a ray meets, gathered by a filter that turns every hit down. */
typedef struct crossings {
    struct RTCIntersectContext context; /* first: Embree hands it back */
    const picture_mesh *meshes;
    int count;
    unsigned triangles[MAX_CROSSINGS];
    float distances[MAX_CROSSINGS];
    uint8_t solids[MAX_CROSSINGS];
    int8_t sides[MAX_CROSSINGS]; /* 1: the ray leaves the solid, -1: it enters */
} crossings;

/* Whether two triangles of a mesh have a corner at the same place. */
static bool triangles_touch(const picture_mesh *mesh, unsigned a, unsigned b)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const float *p = mesh->positions + (size_t)mesh->triangles[(size_t)a * 3 + (size_t)i] * 3;
            const float *q = mesh->positions + (size_t)mesh->triangles[(size_t)b * 3 + (size_t)k] * 3;
            if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) return true;
        }
    return false;
}

static void crossing_add(const struct RTCFilterFunctionNArguments *arguments)
{
    crossings *c = (crossings *)arguments->context;
    arguments->valid[0] = 0;
    /* For single rays, as here, the layouts of the two structures are those of RTCRay and RTCHit. */
    const struct RTCRay *ray = (const struct RTCRay *)(const void *)arguments->ray;
    const struct RTCHit *hit = (const struct RTCHit *)(const void *)arguments->hit;
    if (c->count == MAX_CROSSINGS || hit->geomID >= MAX_SOLIDS) return;
    float facing = hit->Ng_x * ray->dir_x + hit->Ng_y * ray->dir_y + hit->Ng_z * ray->dir_z, t = ray->tfar;
    int8_t side = facing > 0 ? 1 : -1;
    /* A ray through an edge meets both of its triangles: that is one crossing. */
    for (int i = 0; i < c->count; i++)
        if (c->solids[i] == hit->geomID && c->sides[i] == side && fabsf(c->distances[i] - t) <= 1e-4f * t &&
            triangles_touch(&c->meshes[hit->geomID], c->triangles[i], hit->primID))
            return;
    c->triangles[c->count] = hit->primID;
    c->distances[c->count] = t, c->solids[c->count] = (uint8_t)hit->geomID, c->sides[c->count] = side;
    c->count++;
}

/* At a cut: the solid in which the ray enters the kept half, or -1; *twice: it is inside some solid two times. */
static int cap_find(const work *w, pvec origin, pvec direction, float start, bool *twice)
{
    crossings c = {.meshes = w->scene->meshes};
    rtcInitIntersectContext(&c.context);
    c.context.filter = crossing_add;
    struct RTCRayHit r = {
        .ray = {origin.x, origin.y, origin.z, start, direction.x, direction.y, direction.z, 0, FLT_MAX, ~0u, 0, 0}};
    r.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(w->rtc, &c.context, &r);
    int winding[MAX_SOLIDS] = {0}, innermost = -1;
    for (int i = 0; i < c.count; i++) winding[c.solids[i]] += c.sides[i];
    *twice = false;
    for (int i = 0; i < MAX_SOLIDS; i++) {
        if (winding[i] > 0) innermost = i;
        if (winding[i] > 1) *twice = true;
    }
    return innermost;
}

/* ---- a tile ---- */

typedef struct patch {
    int width, height; /* samples, border included */
    int x0, y0;        /* place of its first sample in the picture's grid of samples; may be negative */
    sample *samples;
    light *lights, *smooth;
} patch;

/* The ray of a sample: inside a pixel, samples stand so that all rows and columns differ. */
static void camera_ray(const work *w, int gx, int gy, pvec *origin, pvec *direction)
{
    const picture_camera *camera = &w->scene->camera;
    int side = w->side, big = side * 4096;
    int i = (gx + big) % side, j = (gy + big) % side;
    float x = ((float)gx + ((float)j + 0.5f) / (float)side) / (float)side;
    float y = ((float)gy + ((float)i + 0.5f) / (float)side) / (float)side;
    float px = (x / (float)w->image->width * 2 - 1) * camera->tan_x;
    float py = (1 - y / (float)w->image->height * 2) * camera->tan_y;
    *origin = camera->position;
    *direction =
        pvec_unit(pvec_add(camera->forward, pvec_add(pvec_scale(camera->right, px), pvec_scale(camera->up, py))));
}

/* How much of the floor's shadow is shown at a place: it fades away from the character. */
static float floor_strength(const picture_scene *scene, pvec p)
{
    pvec d = pvec_sub(p, scene->centre);
    d = pvec_madd(d, scene->up, -pvec_dot(d, scene->up));
    return 1 - smoothstep(1.2f, 3.2f, pvec_length(d) / scene->radius);
}

static void tile_trace(const work *w, patch *tile)
{
    const picture_scene *scene = w->scene;
    struct RTCRayHit8 r;
    _Alignas(32) int valid[8];
    pvec origins[8], directions[8];
    for (int y = 0; y < tile->height; y++)
        for (int x = 0; x < tile->width; x += 8) {
            float starts[8];
            for (int i = 0; i < 8; i++) {
                camera_ray(w, tile->x0 + x + i, tile->y0 + y, &origins[i], &directions[i]);
                float near = 0, far = FLT_MAX;
                bool any = x + i < tile->width && ray_clip(scene, origins[i], directions[i], &near, &far);
                valid[i] = any ? -1 : 0;
                starts[i] = near;
                r.ray.org_x[i] = origins[i].x, r.ray.org_y[i] = origins[i].y, r.ray.org_z[i] = origins[i].z;
                r.ray.dir_x[i] = directions[i].x, r.ray.dir_y[i] = directions[i].y, r.ray.dir_z[i] = directions[i].z;
                r.ray.tnear[i] = near, r.ray.tfar[i] = far, r.ray.time[i] = 0;
                r.ray.mask[i] = ~0u, r.ray.id[i] = 0, r.ray.flags[i] = 0;
                r.hit.geomID[i] = RTC_INVALID_GEOMETRY_ID;
            }
            struct RTCIntersectContext context;
            rtcInitIntersectContext(&context);
            context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
            rtcIntersect8(valid, w->rtc, &context, &r);

            for (int i = 0; i < 8 && x + i < tile->width; i++) {
                sample *s = &tile->samples[(size_t)y * (size_t)tile->width + (size_t)(x + i)];
                s->kind = KIND_NONE, s->id = 0, s->wire = 0;
                bool hit = valid[i] && r.hit.geomID[i] != RTC_INVALID_GEOMETRY_ID;
                float t = hit ? r.ray.tfar[i] : FLT_MAX;
                if (hit) {
                    bool twice = false;
                    int solid = -1;
                    if (scene->cut && starts[i] > 0) solid = cap_find(w, origins[i], directions[i], starts[i], &twice);
                    if (solid >= 0) {
                        t = starts[i];
                        s->kind = KIND_CAP, s->id = (uint8_t)(solid + 1 + (twice ? MAX_SOLIDS : 0));
                        s->normal = scene->cut_normal;
                        s->position = pvec_madd(origins[i], directions[i], t);
                        for (int c = 0; c < 3; c++)
                            s->albedo[c] = picture_linear(scene->meshes[solid].cap_color[c]) * (twice ? 0.3f : 1.0f);
                    } else {
                        struct RTCHit h = {r.hit.Ng_x[i], r.hit.Ng_y[i],   r.hit.Ng_z[i],   r.hit.u[i],
                                           r.hit.v[i],    r.hit.primID[i], r.hit.geomID[i], {0}};
                        surface_resolve(w, origins[i], directions[i], t, &h, s);
                    }
                }
                /* The floor is seen from above alone. */
                float drop = pvec_dot(scene->up, directions[i]);
                float height = pvec_dot(scene->up, origins[i]) - scene->floor;
                if (scene->ground && drop < 0 && height > 0 && -height / drop < t) {
                    s->position = pvec_madd(origins[i], directions[i], -height / drop);
                    s->normal = scene->up;
                    s->kind = floor_strength(scene, s->position) > 0 ? KIND_FLOOR : KIND_NONE;
                    s->id = 0, s->wire = 0;
                }
            }
        }
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

static void tile_light(work *w, patch *tile)
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
                const sample *s = &tile->samples[at];
                if (s->kind == KIND_NONE || s->kind == KIND_CAP) continue;
                light *target = &tile->lights[at];
                bool is_floor = s->kind == KIND_FLOOR;
                /* The floor's light is smoothed more, so it needs fewer rays. */
                int rays = is_floor ? (w->sky_rays + 1) / 2 : w->sky_rays;
                if ((is_floor && pass == 1) || pass >= 2 + rays) continue;
                uint32_t gx = (uint32_t)(tile->x0 + x + (1 << 20)), gy = (uint32_t)(tile->y0 + y + (1 << 20));
                uint32_t salt = hash32((gx / BLOCK) * 7919u + (gy / BLOCK) * 104729u + (pass < 2 ? (uint32_t)pass : 2));
                /* Each sample takes one point for a lamp, and `rays` in a row for the sky. */
                size_t place = w->curve[(gy % BLOCK) * BLOCK + gx % BLOCK];
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

/* How alike two samples are as places of one surface, 0..1. */
static inline float likeness(const sample *a, const sample *b, float tolerance)
{
    if (a->kind != b->kind || a->id != b->id) return 0;
    float turn = pvec_dot(a->normal, b->normal);
    float offset = fabsf(pvec_dot(a->normal, pvec_sub(b->position, a->position)));
    float w = (turn - 0.75f) * 4;
    if (w <= 0 || offset >= tolerance) return 0;
    return w * (1 - offset / tolerance);
}

/* Smooth the light along rows, then along columns, over samples of the same surface. */
static void tile_smooth(const work *w, patch *tile)
{
    for (int pass = 0; pass < 2; pass++) {
        const light *from = pass == 0 ? tile->lights : tile->smooth;
        light *to = pass == 0 ? tile->smooth : tile->lights;
        ptrdiff_t stride = pass == 0 ? 1 : tile->width;
        for (int y = 0; y < tile->height; y++)
            for (int x = 0; x < tile->width; x++) {
                size_t at = (size_t)y * (size_t)tile->width + (size_t)x;
                const sample *s = &tile->samples[at];
                if (s->kind == KIND_NONE) continue;
                float depth = pvec_dot(pvec_sub(s->position, w->scene->camera.position), w->scene->camera.forward);
                float tolerance = depth * w->pixel * 2.5f;
                int here = pass == 0 ? x : y, end = pass == 0 ? tile->width : tile->height;
                light sum = from[at];
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

/* ---- shading ---- */

/* The studio behind: a light grey that brightens towards the horizon line; display colours. */
static picture_color backdrop(const picture_scene *scene, float x, float y)
{
    if (scene->background == PICTURE_BACKGROUND_WHITE) return (picture_color){1, 1, 1, 1};
    if (scene->background == PICTURE_BACKGROUND_TRANSPARENT) return (picture_color){0, 0, 0, 0};
    float dx = x - 0.5f, dy = y - 0.62f;
    float dim = 0.085f * smoothstep(0.15f, 0.95f, sqrtf(dx * dx + dy * dy));
    return (picture_color){0.950f - dim, 0.953f - dim * 0.97f, 0.957f - dim * 0.92f, 1};
}

static float tone(float x) { return x < 0.6f ? x : 0.6f + 0.4f * (1 - expf(-(x - 0.6f) / 0.4f)); }

/* Display-linear colour of a surface sample. */
static void shade(const work *w, const sample *s, const light *l, pvec view, float rgb[3])
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
        float albedo = s->albedo[c];
        float direct = fmaxf(0, (facing + wrap[c]) / (1 + wrap[c]));
        /* Light that other skin sends back where the sky is hidden. */
        float bounce = (1 - clamp01(l->v[LIGHT_OPEN])) * albedo * 0.75f;
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
static bool cap_outline(const patch *tile, int x, int y, int reach)
{
    const sample *s = &tile->samples[(size_t)y * (size_t)tile->width + (size_t)x];
    static const int around[12][2] = {{4, 0},  {-4, 0},  {0, 4}, {0, -4},  {3, 3},  {3, -3},
                                      {-3, 3}, {-3, -3}, {2, 4}, {-2, -4}, {4, -2}, {-4, 2}};
    for (int i = 0; i < 12; i++) {
        int ox = x + around[i][0] * reach / 4, oy = y + around[i][1] * reach / 4;
        if (ox < 0 || oy < 0 || ox >= tile->width || oy >= tile->height) continue;
        const sample *o = &tile->samples[(size_t)oy * (size_t)tile->width + (size_t)ox];
        if (o->kind != KIND_CAP || o->id != s->id) return true;
    }
    return false;
}

static void tile_shade(const work *w, const patch *tile, int px0, int py0)
{
    const picture_scene *scene = w->scene;
    picture_image *image = w->image;
    int side = w->side;
    int outline = (side * 5 + 2) / 4 > 0 ? (side * 5 + 2) / 4 : 1;
    for (int py = py0; py < py0 + TILE && py < image->height; py++)
        for (int px = px0; px < px0 + TILE && px < image->width; px++) {
            picture_color back =
                backdrop(scene, ((float)px + 0.5f) / (float)image->width, ((float)py + 0.5f) / (float)image->height);
            const float back_linear[3] = {picture_linear(back.r), picture_linear(back.g), picture_linear(back.b)};
            float sum[3] = {0, 0, 0}, alpha = 0; /* premultiplied */
            for (int j = 0; j < side; j++)
                for (int i = 0; i < side; i++) {
                    int x = px * side + i - tile->x0, y = py * side + j - tile->y0;
                    size_t at = (size_t)y * (size_t)tile->width + (size_t)x;
                    const sample *s = &tile->samples[at];
                    const light *l = &tile->lights[at];
                    float rgb[3] = {back_linear[0], back_linear[1], back_linear[2]}, a = back.a;
                    if (s->kind == KIND_FLOOR) {
                        float shadow = 1 - (0.55f * l->v[LIGHT_SKY] + 0.45f * l->v[LIGHT_KEY]);
                        shadow = clamp01(shadow) * floor_strength(scene, s->position) * 0.80f;
                        static const float dark[3] = {1.0f, 0.975f, 0.94f}; /* shadows lean to blue */
                        if (scene->background == PICTURE_BACKGROUND_TRANSPARENT)
                            rgb[0] = rgb[1] = rgb[2] = 0, a = shadow * 0.6f;
                        else
                            for (int c = 0; c < 3; c++) rgb[c] *= 1 - shadow * dark[c];
                    } else if (s->kind != KIND_NONE) {
                        pvec view = pvec_unit(pvec_sub(scene->camera.position, s->position));
                        shade(w, s, l, view, rgb);
                        if (s->kind == KIND_CAP && cap_outline(tile, x, y, outline))
                            for (int c = 0; c < 3; c++) rgb[c] *= 0.3f;
                        a = 1;
                    }
                    for (int c = 0; c < 3; c++) sum[c] += rgb[c] * a;
                    alpha += a;
                }
            uint8_t *pixel = image->pixels + ((size_t)py * (size_t)image->width + (size_t)px) * 4;
            for (int c = 0; c < 3; c++) {
                float value = alpha > 0 ? picture_srgb(sum[c] / alpha) : 0;
                pixel[c] = (uint8_t)(clamp01(value) * 255 + 0.5f);
            }
            pixel[3] = (uint8_t)(clamp01(alpha / (float)(side * side)) * 255 + 0.5f);
        }
}

static void tile_job(void *data, int index)
{
    work *w = data;
    int px0 = index % w->columns * TILE, py0 = index / w->columns * TILE;
    patch tile = {0};
    tile.width = tile.height = (TILE + 2 * w->border) * w->side;
    tile.x0 = (px0 - w->border) * w->side, tile.y0 = (py0 - w->border) * w->side;
    size_t count = (size_t)tile.width * (size_t)tile.height;
    tile.samples = malloc(count * sizeof *tile.samples);
    tile.lights = malloc(count * sizeof *tile.lights);
    tile.smooth = malloc(count * sizeof *tile.smooth);
    if (tile.samples && tile.lights && tile.smooth) {
        tile_trace(w, &tile);
        tile_light(w, &tile);
        tile_smooth(w, &tile);
        tile_shade(w, &tile, px0, py0);
    } else {
        __atomic_store_n(&w->failed, true, __ATOMIC_RELAXED);
    }
    free(tile.samples);
    free(tile.lights);
    free(tile.smooth);
}

/* ---- the picture ---- */

static void lights_place(work *w)
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

/* Attach one mesh; false without memory. Embree reads 16 bytes at the last vertex, so positions are copied. */
static bool mesh_attach(RTCDevice device, RTCScene scene, const picture_mesh *mesh)
{
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *vertices =
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, (size_t)mesh->vertex_count);
    unsigned *indices =
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, (size_t)mesh->triangle_count);
    bool good = vertices && indices;
    if (good) {
        memcpy(vertices, mesh->positions, (size_t)mesh->vertex_count * 12);
        memcpy(indices, mesh->triangles, (size_t)mesh->triangle_count * 12);
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(scene, geometry);
    }
    rtcReleaseGeometry(geometry);
    return good;
}

bool picture_render(picture_tracer *tracer, const picture_scene *scene, const cutis_jobs *jobs, picture_image *image)
{
    work w = {0};
    w.scene = scene;
    w.image = image;
    w.side = scene->quality < 1 ? 1 : scene->quality > 8 ? 8 : scene->quality;
    static const int sky_rays[9] = {0, 8, 4, 3, 2, 2, 2, 2, 2};
    w.sky_rays = sky_rays[w.side];
    w.reach = w.side + 1;
    w.border = (2 * w.reach + w.side - 1) / w.side;
    w.epsilon = 1e-4f * scene->radius;
    w.pixel = 2 * scene->camera.tan_y / (float)image->height;
    w.columns = (image->width + TILE - 1) / TILE;
    lights_place(&w);

    w.rtc = rtcNewScene(tracer->device);
    w.palettes = malloc((size_t)(scene->mesh_count + 1) * sizeof *w.palettes);
    w.curve = malloc(BLOCK * BLOCK * sizeof *w.curve);
    w.points = malloc((size_t)(BLOCK * BLOCK * w.sky_rays) * sizeof *w.points);
    bool good = w.rtc && w.palettes && w.curve && w.points;
    if (good)
        rtcSetSceneFlags(w.rtc, RTC_SCENE_FLAG_ROBUST |
                                    (scene->cut ? RTC_SCENE_FLAG_CONTEXT_FILTER_FUNCTION : RTC_SCENE_FLAG_NONE));
    if (good) points_make(&w);
    for (int i = 0; i < scene->mesh_count && good; i++) {
        const picture_mesh *mesh = &scene->meshes[i];
        good = mesh_attach(tracer->device, w.rtc, mesh);
        const float whole[2] = {0, 255};
        for (int k = 0; k < 256 && mesh->map != PICTURE_MAP_CATEGORY; k++) {
            picture_color c = picture_map_color(mesh->map, (float)k, whole);
            w.palettes[i][k][0] = picture_linear(c.r);
            w.palettes[i][k][1] = picture_linear(c.g);
            w.palettes[i][k][2] = picture_linear(c.b);
        }
    }
    if (good) {
        rtcCommitScene(w.rtc);
        good = rtcGetDeviceError(tracer->device) == RTC_ERROR_NONE;
    }
    if (good) {
        int count = w.columns * ((image->height + TILE - 1) / TILE);
        if (jobs)
            jobs->run(jobs->context, count, tile_job, &w);
        else
            for (int i = 0; i < count; i++) tile_job(&w, i);
        good = !w.failed;
    }
    if (w.rtc) rtcReleaseScene(w.rtc);
    free(w.palettes);
    free(w.curve);
    free(w.points);
    return good;
}

bool picture_find_opposites(picture_tracer *tracer, const picture_mesh *mesh, const float *normals, float near,
                            int *opposites, float *bary)
{
    RTCScene scene = rtcNewScene(tracer->device);
    if (!scene || !mesh_attach(tracer->device, scene, mesh)) {
        if (scene) rtcReleaseScene(scene);
        return false;
    }
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    rtcCommitScene(scene);
    for (int i = 0; i < mesh->vertex_count; i++) {
        pvec p = pvec_load(mesh->positions + (size_t)i * 3);
        pvec d = pvec_scale(pvec_unit(pvec_load(normals + (size_t)i * 3)), -1);
        float start = near;
        opposites[i] = -1;
        for (int k = 0; k < MAX_CROSSINGS && pvec_dot(d, d) > 0; k++) {
            struct RTCRayHit r = {.ray = {p.x, p.y, p.z, start, d.x, d.y, d.z, 0, FLT_MAX, ~0u, 0, 0}};
            r.hit.geomID = RTC_INVALID_GEOMETRY_ID;
            struct RTCIntersectContext context;
            rtcInitIntersectContext(&context);
            rtcIntersect1(scene, &context, &r);
            if (r.hit.geomID == RTC_INVALID_GEOMETRY_ID) break;
            if (r.hit.Ng_x * d.x + r.hit.Ng_y * d.y + r.hit.Ng_z * d.z > 0) {
                opposites[i] = (int)r.hit.primID;
                bary[i * 3] = 1 - r.hit.u - r.hit.v, bary[i * 3 + 1] = r.hit.u, bary[i * 3 + 2] = r.hit.v;
                break;
            }
            start = r.ray.tfar + near;
        }
    }
    rtcReleaseScene(scene);
    return true;
}
