/*
 * texcoord_fit.c: moving texture coordinates as morph targets.
 *
 * Coordinates are turned into lengths on the skin, so that the tolerance of positions holds for them too, and fitted as
 * the positions of a character without a skeleton (morph_fit.c). A vertex has one pair of coordinates: where the
 * corners around it disagree, which they do a little beyond seams, it gets their mean, and the error counts the
 * difference.
 */
#include "bake/texcoord_fit.h"

#include <math.h>

#include "io/mesh/obj_file.h"
#include "math/math3.h"

typedef struct texcoord_work {
    const cutis_morphs_def *def;
    corner_split split;
    float *scales; /* (split.count x 3) lower triangular matrix from lengths on the skin to coordinates: 00, 10, 11 */
    float *rest;   /* (split.count x 3) coordinates as lengths, and 0 */
    float *frames; /* (frame_count x split.count x 3) likewise */
} texcoord_work;

static void to_lengths(const float scale[3], const double uv[2], double lengths[2])
{
    lengths[0] = uv[0] / (double)scale[0];
    lengths[1] = (uv[1] - (double)scale[1] * lengths[0]) / (double)scale[2];
}

/*
 * How a triangle lies in the texture: area times the symmetric matrix M M' of M, the derivative of the coordinates by
 * the place in its plane. Returns the area. A triangle without area in the texture adds little or nothing, while the
 * inverse of M would be infinite.
 */
static double measure_triangle(const cutis_character *c, int t, double sum[3])
{
    const int *v = c->triangles + 3 * t, *k = c->triangle_corners + 3 * t;
    vec3 a = vec3_load(c->positions + 3 * v[0]);
    vec3 ab = vec3_sub(vec3_load(c->positions + 3 * v[1]), a), ac = vec3_sub(vec3_load(c->positions + 3 * v[2]), a);

    /* the triangle laid flat: ab along x */
    double length = (double)vec3_length(ab), area = (double)vec3_length(vec3_cross(ab, ac)) / 2;
    sum[0] = sum[1] = sum[2] = 0;
    if (!(length > 0 && area > 1e-12 * length * length)) return 0;
    double x = (double)vec3_dot(ab, ac) / length, y = 2 * area / length;

    /* derivatives of both coordinates */
    double rates[2][2];
    for (int e = 0; e < 2; e++) {
        double b = (double)c->texcoords[2 * k[1] + e] - (double)c->texcoords[2 * k[0] + e];
        double d = (double)c->texcoords[2 * k[2] + e] - (double)c->texcoords[2 * k[0] + e];
        rates[e][0] = b / length;
        rates[e][1] = (d - x * rates[e][0]) / y;
    }

    sum[0] = area * (rates[0][0] * rates[0][0] + rates[0][1] * rates[0][1]);
    sum[1] = area * (rates[0][0] * rates[1][0] + rates[0][1] * rates[1][1]);
    sum[2] = area * (rates[1][0] * rates[1][0] + rates[1][1] * rates[1][1]);
    return area;
}

/* The scales of all vertices: a Cholesky factor of the mean over the triangles around. */
static bool measure_scales(texcoord_work *w, arena *memory)
{
    const cutis_character *c = w->def->character;
    double *sums = ARENA_ARRAY(memory, double, 4 * (size_t)w->split.count);
    w->scales = ARENA_ARRAY(memory, float, 3 * (size_t)w->split.count);
    if (memory->failed) return false;

    /* sums around each vertex, and the mean square of all derivatives */
    double all[2] = {0, 0};
    for (int t = 0; t < c->triangle_count; t++) {
        double own[3], area = measure_triangle(c, t, own);
        all[0] += own[0] + own[2];
        all[1] += 2 * area;
        for (int k = 0; k < 3; k++) {
            double *sum = sums + 4 * (size_t)w->split.corners[c->triangle_corners[3 * t + k]];
            for (int e = 0; e < 3; e++) sum[e] += own[e];
            sum[3] += area;
        }
    }

    /* at least a thousandth of the mean, so that there is an inverse where all coordinates are the same */
    double mean = all[1] > 0 && all[0] > 0 ? all[0] / all[1] : 1 / ((double)c->size * (double)c->size);
    for (int v = 0; v < w->split.count; v++) {
        const double *sum = sums + 4 * v;
        double area = sum[3] > 0 ? sum[3] : 1;
        double h00 = sum[0] / area + 1e-6 * mean, h10 = sum[1] / area, h11 = sum[2] / area + 1e-6 * mean;
        double c00 = sqrt(h00), c10 = h10 / c00;
        w->scales[3 * v] = (float)c00;
        w->scales[3 * v + 1] = (float)c10;
        w->scales[3 * v + 2] = (float)sqrt(fmax(h11 - c10 * c10, 1e-6 * mean));
    }

    return true;
}

/* Coordinates of corners as lengths at vertices: the mean of the corners around each, and 0. */
static void gather(const texcoord_work *w, const float *corners, double *sums, int *counts, float *vertices)
{
    int count = w->split.count;
    for (int v = 0; v < count; v++) {
        sums[2 * v] = sums[2 * v + 1] = 0;
        counts[v] = 0;
    }
    for (int k = 0; k < w->def->character->corner_count; k++) {
        int v = w->split.corners[k];
        sums[2 * v] += (double)corners[2 * k];
        sums[2 * v + 1] += (double)corners[2 * k + 1];
        counts[v]++;
    }
    for (int v = 0; v < count; v++) {
        double many = MAX(counts[v], 1), uv[2] = {sums[2 * v] / many, sums[2 * v + 1] / many}, lengths[2];
        to_lengths(w->scales + 3 * v, uv, lengths);
        vertices[3 * v] = (float)lengths[0];
        vertices[3 * v + 1] = (float)lengths[1];
        vertices[3 * v + 2] = 0;
    }
}

/* The largest distance on the skin between the coordinates wanted and those of the first `count` targets. */
static double measure_error(const texcoord_work *w, const morph_fit *fit, int count)
{
    const cutis_character *c = w->def->character;
    size_t plane = 3 * (size_t)w->split.count;
    double largest = 0;

    for (int f = 0; f < w->def->frame_count; f++) {
        const float *wanted = w->def->texcoords + (size_t)f * 2 * (size_t)c->corner_count;
        for (int k = 0; k < c->corner_count; k++) {
            size_t v = (size_t)w->split.corners[k];
            double uv[2], off[2];
            for (int e = 0; e < 2; e++) uv[e] = (double)wanted[2 * k + e] - (double)c->texcoords[2 * k + e];
            to_lengths(w->scales + 3 * v, uv, off);
            for (int i = 0; i < count; i++)
                for (size_t e = 0; e < 2; e++)
                    off[e] -= (double)fit->weights[(size_t)f * (size_t)fit->count + (size_t)i] *
                              (double)fit->deltas[(size_t)i * plane + 3 * v + e];
            largest = fmax(largest, off[0] * off[0] + off[1] * off[1]);
        }
    }

    return sqrt(largest);
}

static cutis_result prepare(texcoord_work *w, arena *memory, cutis_error *error)
{
    const cutis_morphs_def *def = w->def;
    if (!corner_split_make(def->character, memory, &w->split) || !measure_scales(w, memory))
        return error_memory(error, "morph targets");

    size_t count = (size_t)w->split.count, corners = (size_t)def->character->corner_count;
    double *sums = ARENA_ARRAY(memory, double, 2 * count);
    int *counts = ARENA_ARRAY(memory, int, count);
    w->rest = ARENA_ARRAY(memory, float, 3 * count);
    w->frames = ARENA_ARRAY(memory, float, 3 * count * (size_t)def->frame_count);
    if (memory->failed) return error_memory(error, "morph targets");

    gather(w, def->character->texcoords, sums, counts, w->rest);
    for (size_t f = 0; f < (size_t)def->frame_count; f++)
        gather(w, def->texcoords + 2 * f * corners, sums, counts, w->frames + 3 * f * count);
    return CUTIS_OK;
}

cutis_result texcoord_fit_make(const cutis_morphs_def *def, double tolerance, int limit, arena *memory,
                               texcoord_fit *fit, cutis_error *error)
{
    *fit = (texcoord_fit){0};
    arena scratch = arena_create(def->allocator);
    texcoord_work w = {.def = def};
    morph_fit found = {0};
    cutis_result result = prepare(&w, &scratch, error);

    /* coordinates as a character that has no skeleton */
    if (result == CUTIS_OK) {
        cutis_character flat = {.vertex_count = w.split.count, .positions = w.rest, .size = def->character->size};
        morph_fit_def fit_def = {.character = &flat,
                                 .clip = -1,
                                 .fps = def->fps,
                                 .frame_count = def->frame_count,
                                 .frames = w.frames,
                                 .tolerance = tolerance,
                                 .limit = limit,
                                 .exact = def->exact,
                                 .interrupted = def->interrupted,
                                 .context = def->context,
                                 .jobs = def->jobs};
        result = morph_fit_make(&fit_def, &scratch, &found, error);
    }

    /* back from lengths to coordinates */
    fit->interrupted = found.interrupted;
    if (result == CUTIS_OK && !found.interrupted) {
        size_t count = (size_t)w.split.count, frames = (size_t)def->frame_count;
        fit->count = found.count;
        fit->residual = measure_error(&w, &found, 0);
        fit->max = measure_error(&w, &found, found.count);
        fit->deltas = ARENA_ARRAY(memory, float, (size_t)found.count * 2 * count + 1);
        fit->weights = ARENA_ARRAY(memory, float, (size_t)found.count *frames + 1);
        if (memory->failed) result = error_memory(error, "morph targets");
        for (size_t i = 0; i < (size_t)found.count * count && result == CUTIS_OK; i++) {
            const float *scale = w.scales + 3 * (i % count), *lengths = found.deltas + 3 * i;
            fit->deltas[2 * i] = scale[0] * lengths[0];
            fit->deltas[2 * i + 1] = scale[1] * lengths[0] + scale[2] * lengths[1];
        }
        for (size_t i = 0; i < (size_t)found.count * frames && result == CUTIS_OK; i++)
            fit->weights[i] = found.weights[i];
    }

    arena_destroy(&scratch);
    return result;
}
