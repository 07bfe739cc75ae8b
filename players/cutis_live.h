/*
 * cutis_live.h: play flesh that `cutis distil` has learned. One file, C99 or C++, no library, no allocation.
 *
 *     cutis_live live;
 *     size_t size;
 *     const void *data = cutis_live_find(glb, glb_size, &size);     the bytes of the extension CUTIS_flesh
 *     if (!data || !cutis_live_open(&live, data, size)) ...         not a file of `cutis distil`
 *     float *memory = malloc(cutis_live_memory(&live));
 *     cutis_live_begin(&live, memory);                              at rest
 *
 *     each frame:
 *     cutis_live_update(&live, skin, dt);                           skin: (joint_count x 12), see below
 *     cutis_live_vertices(&live, offsets);                          (vertex_count x 3), add to rest positions
 *     skin the mesh by live.skin                                    the pose with limbs held out of other flesh
 *
 * `skin` has a 3 x 4 row-major matrix per joint of the extension's list: pose x inverse bind, rest scene space to posed
 * scene space. Offsets are in rest scene space. docs/reference/distil.md has the format and the equations.
 *
 * The data must stay valid and must start at a multiple of 4. It is little-endian, as the machine must be. One thread
 * at a time may use a cutis_live; several may share the data.
 */
#ifndef CUTIS_LIVE_H
#define CUTIS_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- constants of the format ---- */

enum {
    CUTIS_LIVE_INFLUENCES = 4,  /* joints that move a point */
    CUTIS_LIVE_POSE_JOINTS = 5, /* joints whose rotations a point depends on */
    CUTIS_LIVE_JOINT_FEATURES = 9,
    CUTIS_LIVE_NEAR = 12,        /* points whose depths a point depends on, itself first */
    CUTIS_LIVE_NEAR_PATCHES = 8, /* patches per level, likewise */
    CUTIS_LIVE_OSCILLATORS = 4,
    CUTIS_LIVE_CLUSTER = 8, /* consecutive points of a joint that are near each other */
    CUTIS_LIVE_WEIGHTS = 6, /* points that a vertex follows */

    /* features of a point */
    CUTIS_LIVE_POSE = 0,
    CUTIS_LIVE_CONTACT = 48,
    CUTIS_LIVE_DYNAMICS = 88,
    CUTIS_LIVE_FEATURES = 104
};

/* Lengths are shares of the character's size. */
#define CUTIS_LIVE_GAP 0.01f       /* distance outside the skin at which contact begins */
#define CUTIS_LIVE_REACH 0.077f    /* depth of the search below the skin */
#define CUTIS_LIVE_RADIUS 0.03f    /* radius of the search around the normal */
#define CUTIS_LIVE_DEEP 0.022f     /* depth from which the second feature of depth counts */
#define CUTIS_LIVE_MAX_DEPTH 0.08f /* deeper points count as this deep */
#define CUTIS_LIVE_FADE 0.5f       /* distance outside the trained range at which flesh has faded to skinning */
#define CUTIS_LIVE_MAX_STEP 0.1f   /* seconds; oscillators rest over longer steps */
#define CUTIS_LIVE_MAGIC "CUTIS_flesh 1\0\0"

/* Frequencies, Hz, and decay rates, 1/s, of the oscillators. */
static const double cutis_live_frequencies[CUTIS_LIVE_OSCILLATORS] = {3, 5, 8, 13};
static const double cutis_live_decays[CUTIS_LIVE_OSCILLATORS] = {4, 5, 8, 13};

typedef struct cutis_live {
    /* ---- the data ---- */
    int joint_count, point_count, vertex_count, patch_counts[2];
    float size;
    const int32_t *parents;          /* (joint_count) index in the list, -1: none */
    const float *low, *high;         /* (joint_count x 3) trained range of rotations */
    const float *pivots;             /* (joint_count x 3) the joint's place, rest space */
    const float *turn_limits;        /* (joint_count) largest trained turn by contact; 0: never turns */
    const float *turn_scales;        /* (joint_count x 3) */
    const int16_t *turns;            /* (joint_count x 3 x patches of both levels) */
    const uint8_t *opposed;          /* (joint_count x joint_count) 1: points of these joints can touch */
    const int32_t *joint_first;      /* (joint_count + 1) first point of each joint */
    const float *rest, *normals;     /* (point_count x 3) */
    const float *rest_depths;        /* (point_count) depth in the rest pose, which is subtracted */
    const uint16_t *joints;          /* (point_count x INFLUENCES) */
    const float *weights;            /* (point_count x INFLUENCES) */
    const uint16_t *pose_joints;     /* (point_count x POSE_JOINTS), 65535: none */
    const uint16_t *near;            /* (point_count x NEAR) */
    const uint16_t *patches[2];      /* (point_count) */
    const uint16_t *near_patches[2]; /* (point_count x NEAR_PATCHES) */
    const float *scales;             /* (FEATURES) */
    const int16_t *coefficients;     /* (point_count x 3 x FEATURES) */
    const uint16_t *vertex_points;   /* (vertex_count x WEIGHTS) */
    const uint8_t *vertex_weights;   /* (vertex_count x WEIGHTS), sum 255 */

    /* ---- the state ---- */
    float *skin;           /* (joint_count x 12) the pose as it is to be shown */
    float *joint_features; /* (joint_count x JOINT_FEATURES) */
    float *fades;          /* (joint_count) 1 inside the trained range, 0 far outside */
    float *boxes;          /* (joint_count x 6) of the posed points of each joint */
    float *spheres;        /* (point_count x 4) centre and radius of each cluster, at its first point */
    float *matrices;       /* (point_count x 9) */
    float *places, *directions, *places_old, *velocities; /* (point_count x 3) */
    float *depths;                                        /* (point_count) */
    float *patch_depths[2];                               /* (patch_counts) */
    float *swings, *rates;                                /* (point_count x OSCILLATORS x 3) */
    float *offsets;                                       /* (point_count x 3) result */
    int steps;                                            /* since begin, at most 2 */
    float outside; /* 0: the pose is in the trained range; 1: at least one joint has faded to skinning */
} cutis_live;

/* ---- opening ---- */

/* Return the data in a .glb and its size, or NULL. The bytes of the .glb must start at a multiple of 4. */
static inline const void *cutis_live_find(const void *glb, size_t glb_size, size_t *size)
{
    const char *bytes = (const char *)glb;
    for (size_t at = 0; at + 20 <= glb_size; at += 4) {
        int k = 0;
        while (k < 16 && bytes[at + (size_t)k] == CUTIS_LIVE_MAGIC[k]) k++;
        if (k < 16) continue;
        *size = (size_t)(*(const uint32_t *)(const void *)(bytes + at + 16));
        return *size <= glb_size - at ? bytes + at : NULL;
    }
    return NULL;
}

/* Take an array of the data; false when it ends before. */
static inline bool cutis_live_take(const char **at, size_t *left, size_t count, size_t width, const void **array)
{
    size_t bytes = (count * width + 3) / 4 * 4;
    if (bytes > *left) return false;
    *array = *at;
    *at += bytes;
    *left -= bytes;
    return true;
}

static inline bool cutis_live_below(const uint16_t *values, size_t count, int limit, bool none)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] >= limit && !(none && values[i] == 65535)) return false;
    return true;
}

/* Check the data and point into it. False when it is damaged or of another version. */
static inline bool cutis_live_open(cutis_live *live, const void *data, size_t size)
{
    static const cutis_live empty = {0};
    const char *at = (const char *)data;
    if (size < 64) return false;
    for (int k = 0; k < 16; k++)
        if (at[k] != CUTIS_LIVE_MAGIC[k]) return false;

    /* counts: bounded, so that no product overflows */
    const uint32_t *head = (const uint32_t *)(const void *)(at + 16);
    if (head[0] != size) return false;
    for (int k = 1; k < 6; k++)
        if (head[k] > (k == 3 ? 100000000u : 65534u) || (head[k] == 0 && k != 4 && k != 5)) return false;
    if (head[1] > 4096) return false;
    *live = empty;
    live->joint_count = (int)head[1];
    live->point_count = (int)head[2];
    live->vertex_count = (int)head[3];
    live->patch_counts[0] = (int)head[4];
    live->patch_counts[1] = (int)head[5];
    live->size = *(const float *)(const void *)(at + 40);

    /* the arrays, in the order of the format */
    size_t joints = head[1], points = head[2], vertices = head[3], left = size - 64;
    at += 64;
    const void *arrays[24];
    const size_t shapes[24][2] = {{joints, 4},
                                  {joints * 3, 4},
                                  {joints * 3, 4},
                                  {joints * 3, 4},
                                  {joints, 4},
                                  {joints * 3, 4},
                                  {joints * 3 * ((size_t)head[4] + head[5]), 2},
                                  {joints * joints, 1},
                                  {joints + 1, 4},
                                  {points * 3, 4},
                                  {points * 3, 4},
                                  {points, 4},
                                  {points * CUTIS_LIVE_INFLUENCES, 2},
                                  {points * CUTIS_LIVE_INFLUENCES, 4},
                                  {points * CUTIS_LIVE_POSE_JOINTS, 2},
                                  {points * CUTIS_LIVE_NEAR, 2},
                                  {points, 2},
                                  {points, 2},
                                  {points * CUTIS_LIVE_NEAR_PATCHES, 2},
                                  {points * CUTIS_LIVE_NEAR_PATCHES, 2},
                                  {CUTIS_LIVE_FEATURES, 4},
                                  {points * 3 * CUTIS_LIVE_FEATURES, 2},
                                  {vertices * CUTIS_LIVE_WEIGHTS, 2},
                                  {vertices * CUTIS_LIVE_WEIGHTS, 1}};
    for (int k = 0; k < 24; k++)
        if (!cutis_live_take(&at, &left, shapes[k][0], shapes[k][1], &arrays[k])) return false;
    live->parents = (const int32_t *)arrays[0];
    live->low = (const float *)arrays[1];
    live->high = (const float *)arrays[2];
    live->pivots = (const float *)arrays[3];
    live->turn_limits = (const float *)arrays[4];
    live->turn_scales = (const float *)arrays[5];
    live->turns = (const int16_t *)arrays[6];
    live->opposed = (const uint8_t *)arrays[7];
    live->joint_first = (const int32_t *)arrays[8];
    live->rest = (const float *)arrays[9];
    live->normals = (const float *)arrays[10];
    live->rest_depths = (const float *)arrays[11];
    live->joints = (const uint16_t *)arrays[12];
    live->weights = (const float *)arrays[13];
    live->pose_joints = (const uint16_t *)arrays[14];
    live->near = (const uint16_t *)arrays[15];
    live->patches[0] = (const uint16_t *)arrays[16];
    live->patches[1] = (const uint16_t *)arrays[17];
    live->near_patches[0] = (const uint16_t *)arrays[18];
    live->near_patches[1] = (const uint16_t *)arrays[19];
    live->scales = (const float *)arrays[20];
    live->coefficients = (const int16_t *)arrays[21];
    live->vertex_points = (const uint16_t *)arrays[22];
    live->vertex_weights = (const uint8_t *)arrays[23];

    /* every index is in range */
    for (int j = 0; j < live->joint_count; j++) {
        if (live->parents[j] < -1 || live->parents[j] >= j) return false;
        if (live->joint_first[j] < 0 || live->joint_first[j] > live->joint_first[j + 1]) return false;
    }
    bool valid = left == 0 && live->size > 0 && live->joint_first[live->joint_count] == live->point_count;
    valid = valid && cutis_live_below(live->joints, points * CUTIS_LIVE_INFLUENCES, live->joint_count, false);
    valid = valid && cutis_live_below(live->pose_joints, points * CUTIS_LIVE_POSE_JOINTS, live->joint_count, true);
    valid = valid && cutis_live_below(live->near, points * CUTIS_LIVE_NEAR, live->point_count, false);
    for (int l = 0; l < 2 && valid; l++)
        valid = cutis_live_below(live->patches[l], points, live->patch_counts[l], false) &&
                cutis_live_below(live->near_patches[l], points * CUTIS_LIVE_NEAR_PATCHES, live->patch_counts[l], false);
    return valid && cutis_live_below(live->vertex_points, vertices * CUTIS_LIVE_WEIGHTS, live->point_count, false);
}

/* Return the bytes of memory that cutis_live_begin takes. */
static inline size_t cutis_live_memory(const cutis_live *live)
{
    size_t joints = (size_t)live->joint_count, points = (size_t)live->point_count;
    size_t patches = (size_t)(live->patch_counts[0] + live->patch_counts[1]);
    size_t per_point = 4 + 9 + 4 * 3 + 1 + 2 * 3 * CUTIS_LIVE_OSCILLATORS + 3;
    return sizeof(float) * (joints * (12 + CUTIS_LIVE_JOINT_FEATURES + 1 + 6) + points * per_point + patches);
}

/* Put the state at rest in this memory, which stays the caller's. Call it again after a jump of the character. */
static inline void cutis_live_begin(cutis_live *live, float *memory)
{
    size_t joints = (size_t)live->joint_count, points = (size_t)live->point_count;
    size_t floats = cutis_live_memory(live) / sizeof(float);
    for (size_t i = 0; i < floats; i++) memory[i] = 0;

    live->skin = memory;
    live->joint_features = live->skin + 12 * joints;
    live->fades = live->joint_features + joints * CUTIS_LIVE_JOINT_FEATURES;
    live->boxes = live->fades + joints;
    live->spheres = live->boxes + 6 * joints;
    live->matrices = live->spheres + 4 * points;
    live->places = live->matrices + 9 * points;
    live->directions = live->places + 3 * points;
    live->places_old = live->directions + 3 * points;
    live->velocities = live->places_old + 3 * points;
    live->depths = live->velocities + 3 * points;
    live->patch_depths[0] = live->depths + points;
    live->patch_depths[1] = live->patch_depths[0] + live->patch_counts[0];
    live->swings = live->patch_depths[1] + live->patch_counts[1];
    live->rates = live->swings + 3 * CUTIS_LIVE_OSCILLATORS * points;
    live->offsets = live->rates + 3 * CUTIS_LIVE_OSCILLATORS * points;
    live->steps = 0;
    live->outside = 0;
}

/* ---- mathematics ---- */

/* Newton's iteration, so that no library is needed and all players agree. */
static inline float cutis_live_sqrt(float x)
{
    union {
        float value;
        uint32_t bits;
    } guess;
    if (!(x > 1e-30f)) return 0;
    guess.value = x;
    guess.bits = 0x1fbd1df5u + (guess.bits >> 1);
    float y = guess.value;
    for (int i = 0; i < 3; i++) y = 0.5f * (y + x / y);
    return y;
}

/* exp(real + i imaginary), by squaring a Taylor series of the 1024th part. */
static inline void cutis_live_exp(double real, double imaginary, double result[2])
{
    double x = real / 1024, y = imaginary / 1024, re = 1, im = 0;
    for (int k = 6; k >= 1; k--) {
        double r = 1 + (re * x - im * y) / k;
        im = (re * y + im * x) / k;
        re = r;
    }
    for (int k = 0; k < 10; k++) {
        double r = re * re - im * im;
        im = 2 * re * im;
        re = r;
    }
    result[0] = re;
    result[1] = im;
}

/* Columns of a joint's matrix at unit length: its rotation. */
static inline void cutis_live_rotation(const float *m, float r[9])
{
    for (int c = 0; c < 3; c++) {
        float length = cutis_live_sqrt(m[c] * m[c] + m[4 + c] * m[4 + c] + m[8 + c] * m[8 + c]);
        float scale = length > 0 ? 1 / length : 0;
        for (int k = 0; k < 3; k++) r[3 * k + c] = m[4 * k + c] * scale;
    }
}

/* Modified Rodrigues vector 4 tan(angle / 4) axis of a rotation: nearly the rotation vector, without trigonometry. */
static inline void cutis_live_vector(const float r[9], float v[3])
{
    float q[4], trace = r[0] + r[4] + r[8];
    if (trace > 0) {
        float s = cutis_live_sqrt(trace + 1);
        q[3] = 0.5f * s;
        q[0] = (r[7] - r[5]) * 0.5f / s;
        q[1] = (r[2] - r[6]) * 0.5f / s;
        q[2] = (r[3] - r[1]) * 0.5f / s;
    } else {
        /* the largest diagonal entry first, so that the root is not small */
        int i = r[4] > r[0] ? 1 : 0;
        if (r[8] > r[4 * i]) i = 2;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        float s = cutis_live_sqrt(r[4 * i] - r[4 * j] - r[4 * k] + 1);
        float inverse = s > 0 ? 0.5f / s : 0;
        q[i] = 0.5f * s;
        q[3] = (r[3 * k + j] - r[3 * j + k]) * inverse;
        q[j] = (r[3 * j + i] + r[3 * i + j]) * inverse;
        q[k] = (r[3 * k + i] + r[3 * i + k]) * inverse;
    }
    float sign = q[3] < 0 ? -1.0f : 1.0f;
    for (int k = 0; k < 3; k++) v[k] = 4 * sign * q[k] / (1 + sign * q[3]);
}

/* ---- a step ---- */

/* Rotation of each joint relative to its parent, its distance from the trained range, and its features. */
static inline void cutis_live_pose(cutis_live *live, const float *skin)
{
    live->outside = 0;
    for (int j = 0; j < live->joint_count; j++) {
        float *f = live->joint_features + CUTIS_LIVE_JOINT_FEATURES * j;
        live->fades[j] = 1;
        for (int k = 0; k < CUTIS_LIVE_JOINT_FEATURES; k++) f[k] = 0;
        if (live->parents[j] < 0) continue;

        /* relative to the parent, in rest axes */
        float own[9], parent[9], relative[9], v[3];
        cutis_live_rotation(skin + 12 * j, own);
        cutis_live_rotation(skin + 12 * live->parents[j], parent);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                relative[3 * a + b] = parent[a] * own[b] + parent[3 + a] * own[3 + b] + parent[6 + a] * own[6 + b];
        cutis_live_vector(relative, v);

        /* clamp to the range */
        float beyond = 0;
        for (int k = 0; k < 3; k++) {
            float low = live->low[3 * j + k], high = live->high[3 * j + k];
            float clamped = v[k] < low ? low : v[k] > high ? high : v[k];
            beyond += (v[k] - clamped) * (v[k] - clamped);
            v[k] = clamped;
        }
        float share = cutis_live_sqrt(beyond) / CUTIS_LIVE_FADE;
        live->fades[j] = share < 1 ? 1 - share : 0;
        if (1 - live->fades[j] > live->outside) live->outside = 1 - live->fades[j];

        /* linear and quadratic */
        for (int k = 0; k < 3; k++) {
            f[k] = v[k];
            f[3 + k] = v[k] * v[k];
            f[6 + k] = v[k] * v[(k + 1) % 3];
        }
    }
}

/* The sphere around points [first, last): their mean and the largest distance from it. */
static inline void cutis_live_sphere(cutis_live *live, int first, int last)
{
    float *sphere = live->spheres + 4 * first, largest = 0;
    for (int k = 0; k < 3; k++) {
        sphere[k] = 0;
        for (int i = first; i < last; i++) sphere[k] += live->places[3 * i + k];
        sphere[k] /= (float)(last - first);
    }
    for (int i = first; i < last; i++) {
        const float *p = live->places + 3 * i;
        float x = p[0] - sphere[0], y = p[1] - sphere[1], z = p[2] - sphere[2], squares = x * x + y * y + z * z;
        if (squares > largest) largest = squares;
    }
    sphere[3] = cutis_live_sqrt(largest);
}

/* Linear skinning of the points; boxes around the points of each joint, and spheres around their clusters. */
static inline void cutis_live_skin(cutis_live *live, const float *skin)
{
    for (int j = 0; j < live->joint_count; j++) {
        float *box = live->boxes + 6 * j;
        for (int k = 0; k < 3; k++) {
            box[k] = 1e30f;
            box[3 + k] = -1e30f;
        }

        for (int i = live->joint_first[j]; i < live->joint_first[j + 1]; i++) {
            /* the blended matrix */
            float m[12] = {0};
            for (int w = 0; w < CUTIS_LIVE_INFLUENCES; w++) {
                const float *s = skin + 12 * live->joints[CUTIS_LIVE_INFLUENCES * i + w];
                float weight = live->weights[CUTIS_LIVE_INFLUENCES * i + w];
                if (weight == 0) continue;
                for (int k = 0; k < 12; k++) m[k] += weight * s[k];
            }

            /* position and normal */
            const float *p = live->rest + 3 * i, *n = live->normals + 3 * i;
            float *place = live->places + 3 * i, *direction = live->directions + 3 * i;
            float squares = 0;
            for (int k = 0; k < 3; k++) {
                const float *row = m + 4 * k;
                place[k] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
                direction[k] = row[0] * n[0] + row[1] * n[1] + row[2] * n[2];
                squares += direction[k] * direction[k];
                for (int c = 0; c < 3; c++) live->matrices[9 * i + 3 * k + c] = row[c];
                if (place[k] < box[k]) box[k] = place[k];
                if (place[k] > box[3 + k]) box[3 + k] = place[k];
            }
            float length = cutis_live_sqrt(squares);
            for (int k = 0; k < 3 && length > 0; k++) direction[k] /= length;
        }

        for (int i = live->joint_first[j]; i < live->joint_first[j + 1]; i += CUTIS_LIVE_CLUSTER) {
            int last = i + CUTIS_LIVE_CLUSTER;
            cutis_live_sphere(live, i, last < live->joint_first[j + 1] ? last : live->joint_first[j + 1]);
        }
    }
}

/* The depth at which points [first, last) lie below the skin at a point: the largest of them, at least `depth`. */
static inline float cutis_live_depth(const cutis_live *live, int point, int first, int last, float depth)
{
    const float *p = live->places + 3 * point, *n = live->directions + 3 * point;
    float gap = CUTIS_LIVE_GAP * live->size, reach = CUTIS_LIVE_REACH * live->size;
    float radius = CUTIS_LIVE_RADIUS * live->size, inverse = 1 / (radius * radius);

    for (int cluster = first; cluster < last; cluster += CUTIS_LIVE_CLUSTER) {
        /* a cluster that is outside the searched cylinder */
        const float *s = live->spheres + 4 * cluster;
        float c[3] = {s[0] - p[0], s[1] - p[1], s[2] - p[2]};
        float along = -(c[0] * n[0] + c[1] * n[1] + c[2] * n[2]), wide = radius + s[3];
        if (along <= -gap - s[3] || along >= reach + s[3]) continue;
        if (c[0] * c[0] + c[1] * c[1] + c[2] * c[2] - along * along >= wide * wide) continue;

        int end = cluster + CUTIS_LIVE_CLUSTER < last ? cluster + CUTIS_LIVE_CLUSTER : last;
        for (int a = cluster; a < end; a++) {
            const float *q = live->places + 3 * a, *o = live->directions + 3 * a;
            float w[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
            float t = -(w[0] * n[0] + w[1] * n[1] + w[2] * n[2]);
            float near = 1 - (w[0] * w[0] + w[1] * w[1] + w[2] * w[2] - t * t) * inverse;
            if (t <= -gap || t >= reach || near <= 0) continue;

            /* only surfaces that face this one */
            float facing = (-(n[0] * o[0] + n[1] * o[1] + n[2] * o[2]) - 0.1f) / 0.3f;
            facing = facing < 0 ? 0 : facing > 1 ? 1 : facing;
            float value = (t + gap) * near * facing;
            if (value > depth) depth = value;
        }
    }
    return depth;
}

/* Contact: depths at all points, divided by the size, and their means over patches. */
static inline void cutis_live_contact(cutis_live *live)
{
    float half = 0.5f * (CUTIS_LIVE_REACH - CUTIS_LIVE_GAP) * live->size;
    float middle = 0.5f * (CUTIS_LIVE_REACH + CUTIS_LIVE_GAP) * live->size + CUTIS_LIVE_RADIUS * live->size;
    float far = CUTIS_LIVE_REACH * live->size;

    for (int i = 0; i < live->point_count; i++) live->depths[i] = 0;
    for (int a = 0; a < live->joint_count; a++) {
        for (int b = 0; b < live->joint_count; b++) {
            if (!live->opposed[a * live->joint_count + b]) continue;

            /* boxes that are too far apart */
            const float *box = live->boxes + 6 * b, *own = live->boxes + 6 * a;
            bool apart = live->joint_first[b] == live->joint_first[b + 1];
            for (int k = 0; k < 3; k++) apart = apart || own[k] - far > box[3 + k] || own[3 + k] + far < box[k];
            if (apart) continue;

            for (int i = live->joint_first[a]; i < live->joint_first[a + 1]; i++) {
                /* the middle of the searched cylinder against the box */
                const float *p = live->places + 3 * i, *n = live->directions + 3 * i;
                bool outside = false;
                for (int k = 0; k < 3; k++) {
                    float c = p[k] - n[k] * half;
                    outside = outside || c + middle < box[k] || c - middle > box[3 + k];
                }
                if (outside) continue;
                live->depths[i] =
                    cutis_live_depth(live, i, live->joint_first[b], live->joint_first[b + 1], live->depths[i]);
            }
        }
    }

    for (int i = 0; i < live->point_count; i++) {
        float depth = live->depths[i] / live->size;
        live->depths[i] = (depth < CUTIS_LIVE_MAX_DEPTH ? depth : CUTIS_LIVE_MAX_DEPTH) - live->rest_depths[i];
    }

    /* means; a patch without points stays 0 */
    for (int l = 0; l < 2; l++) {
        float *means = live->patch_depths[l];
        for (int k = 0; k < live->patch_counts[l]; k++) means[k] = 0;
        for (int i = 0; i < live->point_count; i++) means[live->patches[l][i]] += live->depths[i];
        for (int k = 0; k < live->patch_counts[l]; k++)
            means[k] *= (float)live->patch_counts[l] / (float)live->point_count;
    }
}

/* Damped oscillators, driven by the accelerations of the points. */
static inline void cutis_live_swing(cutis_live *live, float dt)
{
    /* the free motion of each over a step: (swing, rate) -> 2 x 2 matrix x (swing, rate) */
    float free[CUTIS_LIVE_OSCILLATORS][4];
    bool moves = dt > 0 && dt <= CUTIS_LIVE_MAX_STEP;
    for (int o = 0; o < CUTIS_LIVE_OSCILLATORS && moves; o++) {
        double speed = 6.283185307179586 * cutis_live_frequencies[o], decay = cutis_live_decays[o], e[2];
        cutis_live_exp(-decay * (double)dt, speed * (double)dt, e);
        free[o][0] = (float)(e[0] + decay * e[1] / speed);
        free[o][1] = (float)(e[1] / speed);
        free[o][2] = (float)(-(speed * speed + decay * decay) * e[1] / speed);
        free[o][3] = (float)(e[0] - decay * e[1] / speed);
    }

    float inverse = moves ? 1 / dt : 0;
    for (int i = 0; i < 3 * live->point_count; i++) {
        /* the change of velocity in this step */
        float velocity = (live->places[i] - live->places_old[i]) * inverse;
        float change = live->steps == 2 && moves ? velocity - live->velocities[i] : 0;
        live->velocities[i] = velocity;
        live->places_old[i] = live->places[i];

        float *z = live->swings + (size_t)(i / 3) * 3 * CUTIS_LIVE_OSCILLATORS + i % 3;
        float *v = live->rates + (size_t)(i / 3) * 3 * CUTIS_LIVE_OSCILLATORS + i % 3;
        for (int o = 0; o < CUTIS_LIVE_OSCILLATORS; o++, z += 3, v += 3) {
            if (!moves) {
                *z = 0;
                *v = 0;
                continue;
            }
            float rate = *v - change, swing = *z;
            *z = free[o][0] * swing + free[o][1] * rate;
            *v = free[o][2] * swing + free[o][3] * rate;
        }
    }
    live->steps = !moves ? 1 : live->steps < 2 ? live->steps + 1 : 2;
}

/* Write the features of a point: (FEATURES). Returns how much of the result the trained range allows, 0..1. */
static inline float cutis_live_features(const cutis_live *live, int point, float *f)
{
    float amount = 1;
    for (int k = 0; k < CUTIS_LIVE_FEATURES; k++) f[k] = 0;

    /* rotations around it */
    for (int k = 0; k < CUTIS_LIVE_POSE_JOINTS; k++) {
        int j = live->pose_joints[CUTIS_LIVE_POSE_JOINTS * point + k];
        if (j == 65535) continue;
        const float *from = live->joint_features + CUTIS_LIVE_JOINT_FEATURES * j;
        for (int n = 0; n < CUTIS_LIVE_JOINT_FEATURES; n++)
            f[CUTIS_LIVE_POSE + CUTIS_LIVE_JOINT_FEATURES * k + n] = from[n];
        if (live->fades[j] < amount) amount = live->fades[j];
    }

    /* depths around it */
    float *c = f + CUTIS_LIVE_CONTACT;
    for (int k = 0; k < CUTIS_LIVE_NEAR; k++) {
        float depth = live->depths[live->near[CUTIS_LIVE_NEAR * point + k]];
        c[k] = depth;
        c[CUTIS_LIVE_NEAR + k] = depth > CUTIS_LIVE_DEEP ? depth - CUTIS_LIVE_DEEP : 0;
    }
    c += 2 * CUTIS_LIVE_NEAR;
    for (int l = 0; l < 2; l++)
        for (int k = 0; k < CUTIS_LIVE_NEAR_PATCHES; k++)
            *c++ = live->patch_depths[l][live->near_patches[l][CUTIS_LIVE_NEAR_PATCHES * point + k]];

    /* oscillators, turned to the rest pose */
    const float *m = live->matrices + 9 * point, *z = live->swings + 3 * CUTIS_LIVE_OSCILLATORS * point;
    float inverse = 1 / live->size;
    float *d = f + CUTIS_LIVE_DYNAMICS;
    for (int o = 0; o < CUTIS_LIVE_OSCILLATORS; o++, z += 3)
        for (int k = 0; k < 3; k++) *d++ = (m[k] * z[0] + m[3 + k] * z[1] + m[6 + k] * z[2]) * inverse;
    return amount;
}

/* The rotation of a modified Rodrigues vector. */
static inline void cutis_live_turn(const float v[3], float r[9])
{
    float x = 0.25f * v[0], y = 0.25f * v[1], z = 0.25f * v[2], s = x * x + y * y + z * z, d = 1 / (1 + s);
    float w = (1 - s) * d;
    x *= 2 * d;
    y *= 2 * d;
    z *= 2 * d;
    r[0] = 1 - 2 * (y * y + z * z);
    r[1] = 2 * (x * y - w * z);
    r[2] = 2 * (x * z + w * y);
    r[3] = 2 * (x * y + w * z);
    r[4] = 1 - 2 * (x * x + z * z);
    r[5] = 2 * (y * z - w * x);
    r[6] = 2 * (x * z - w * y);
    r[7] = 2 * (y * z + w * x);
    r[8] = 1 - 2 * (x * x + y * y);
}

/* c = a after b, 3 x 4 each. */
static inline void cutis_live_multiply(const float *a, const float *b, float *c)
{
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 4; k++)
            c[4 * r + k] =
                a[4 * r] * b[k] + a[4 * r + 1] * b[4 + k] + a[4 * r + 2] * b[8 + k] + (k == 3 ? a[4 * r + 3] : 0);
}

/* Inverse of a 3 x 4 matrix; false when it is singular. */
static inline bool cutis_live_inverse(const float *m, float *inverse)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int a = (c + 1) % 3, b = (c + 2) % 3, d = (r + 1) % 3, e = (r + 2) % 3;
            inverse[4 * r + c] = m[4 * a + d] * m[4 * b + e] - m[4 * a + e] * m[4 * b + d];
        }
    float determinant = m[0] * inverse[0] + m[1] * inverse[4] + m[2] * inverse[8];
    if (!(determinant > 1e-20f || determinant < -1e-20f)) return false;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) inverse[4 * r + c] /= determinant;
        inverse[4 * r + 3] = -(inverse[4 * r] * m[3] + inverse[4 * r + 1] * m[7] + inverse[4 * r + 2] * m[11]);
    }
    return true;
}

/* How contact turns a joint, from the depths of all patches. */
static inline float cutis_live_joint_turn(const cutis_live *live, int joint, float v[3])
{
    int patches = live->patch_counts[0] + live->patch_counts[1];
    float squares = 0;
    for (int axis = 0; axis < 3; axis++) {
        const int16_t *c = live->turns + (size_t)(3 * joint + axis) * (size_t)patches;
        float sum = 0;
        for (int k = 0; k < patches; k++) sum += live->patch_depths[0][k] * (float)c[k]; /* both levels, one array */
        v[axis] = sum * live->turn_scales[3 * joint + axis];
        squares += v[axis] * v[axis];
    }

    float length = cutis_live_sqrt(squares), limit = live->turn_limits[joint];
    for (int k = 0; k < 3 && length > limit; k++) v[k] *= limit / length;
    return squares;
}

/* Turn limbs out of other flesh: live->skin from the pose that is given. Returns whether a joint has turned. */
static inline bool cutis_live_correct(cutis_live *live, const float *skin)
{
    bool any = false;
    for (int j = 0; j < live->joint_count; j++) {
        const float *own = skin + 12 * j, *pivot = live->pivots + 3 * j;
        float *result = live->skin + 12 * j, v[3], r[9], inverse[12], local[12], turned[12], q[3];
        int parent = live->parents[j];
        bool turns = parent >= 0 && live->turn_limits[j] > 0 && cutis_live_joint_turn(live, j, v) > 1e-14f;
        bool carried = false;
        for (int k = 0; k < 12; k++) result[k] = own[k];
        for (int k = 0; k < 12 && parent >= 0 && any; k++)
            carried = carried || live->skin[12 * parent + k] != skin[12 * parent + k];
        if ((!turns && !carried) || !cutis_live_inverse(skin + 12 * parent, inverse)) continue;

        /* relative to the parent; turned about the joint */
        cutis_live_multiply(inverse, own, local);
        if (turns) {
            cutis_live_turn(v, r);
            for (int k = 0; k < 3; k++)
                q[k] = local[4 * k] * pivot[0] + local[4 * k + 1] * pivot[1] + local[4 * k + 2] * pivot[2] +
                       local[4 * k + 3];
            float about[12];
            for (int k = 0; k < 3; k++) {
                for (int c = 0; c < 3; c++) about[4 * k + c] = r[3 * k + c];
                about[4 * k + 3] = q[k] - (r[3 * k] * q[0] + r[3 * k + 1] * q[1] + r[3 * k + 2] * q[2]);
            }
            cutis_live_multiply(about, local, turned);
            for (int k = 0; k < 12; k++) local[k] = turned[k];
            any = true;
        }
        cutis_live_multiply(live->skin + 12 * parent, local, result);
    }
    return any;
}

/* Contact in the pose that is given: for trainers. */
static inline void cutis_live_detect(cutis_live *live, const float *skin)
{
    cutis_live_skin(live, skin);
    cutis_live_contact(live);
}

/* Everything up to the features: for trainers, and for players that evaluate on a graphics card. */
static inline void cutis_live_observe(cutis_live *live, const float *skin, float dt)
{
    cutis_live_detect(live, skin);
    if (cutis_live_correct(live, skin)) cutis_live_skin(live, live->skin);
    cutis_live_pose(live, live->skin);
    cutis_live_swing(live, dt);
}

/* Offsets of all points from the features. */
static inline void cutis_live_evaluate(cutis_live *live)
{
    enum { LANES = 8 };
    for (int i = 0; i < live->point_count; i++) {
        float f[CUTIS_LIVE_FEATURES];
        float amount = cutis_live_features(live, i, f) * live->size;
        for (int k = 0; k < CUTIS_LIVE_FEATURES; k++) f[k] *= live->scales[k];

        const int16_t *c = live->coefficients + (size_t)i * 3 * CUTIS_LIVE_FEATURES;
        for (int axis = 0; axis < 3; axis++, c += CUTIS_LIVE_FEATURES) {
            float sums[LANES] = {0};
            for (int k = 0; k < CUTIS_LIVE_FEATURES; k += LANES)
                for (int l = 0; l < LANES; l++) sums[l] += f[k + l] * (float)c[k + l];
            float sum = 0;
            for (int l = 0; l < LANES; l++) sum += sums[l];
            live->offsets[3 * i + axis] = sum * amount;
        }
    }
}

/* Advance by dt seconds to a pose. dt 0: no oscillation. */
static inline void cutis_live_update(cutis_live *live, const float *skin, float dt)
{
    cutis_live_observe(live, skin, dt);
    cutis_live_evaluate(live);
}

/* Write the offsets of all vertices: (vertex_count x 3), rest scene space. */
static inline void cutis_live_vertices(const cutis_live *live, float *offsets)
{
    const uint16_t *points = live->vertex_points;
    const uint8_t *weights = live->vertex_weights;
    for (int v = 0; v < live->vertex_count; v++, points += CUTIS_LIVE_WEIGHTS, weights += CUTIS_LIVE_WEIGHTS) {
        float x = 0, y = 0, z = 0;
        for (int k = 0; k < CUTIS_LIVE_WEIGHTS; k++) {
            const float *o = live->offsets + 3 * (size_t)points[k];
            float weight = (float)weights[k];
            x += weight * o[0];
            y += weight * o[1];
            z += weight * o[2];
        }
        offsets[3 * (size_t)v] = x * (1.0f / 255);
        offsets[3 * (size_t)v + 1] = y * (1.0f / 255);
        offsets[3 * (size_t)v + 2] = z * (1.0f / 255);
    }
}

#endif
