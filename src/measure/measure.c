/*
 * measure.c: the figures of cutis_quality.
 *
 * Figures are of points (seams welded; a point is where its lowest vertex is), only non_finite of vertices.
 * - volume: signed volume of the closed components, V. volume_error is |V / V_rest - 1|.
 * - self_intersections: pairs of triangles that share no point and pass through each other; see intersect.c.
 * - stretch, area_distortion: of every edge (triangle) in every frame the length (area) over that at rest, or the
 *   inverse when that is larger, and of all these the 99th percentile: the least value that 99 of 100 do not
 *   exceed. Edges and triangles of no size at rest are left out; a ratio counts for at most MAX_RATIO.
 * - acceleration_rms: root of the mean over points and inner frames of |x(f-1) - 2 x(f) + x(f+1)|^2 fps^4,
 *   over the size.
 * - min_section_ratio: see section.c. penetration_max: see depth.c.
 * A frame with a value that is not finite counts in non_finite and in nothing else.
 *
 * Frames are dealt out to a fixed number of blocks, each with its own scratch memory; every frame writes its
 * own results, and sums are taken in the order of frames afterwards. Percentiles are exact: floats from 1 up
 * are ordered as their bits are, so a first pass counts the values by their upper 15 bits and a second one those
 * of the bin in question by their lower 15; counts do not depend on the order.
 */
#include "cutis/measure.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "measure/depth.h"
#include "measure/section.h"
#include "measure/union.h"

enum {
    BLOCKS = 16, /* at most this many frames at a time; each takes some 150 bytes a triangle */
    BIN_BITS = 15,
    BINS = 1 << BIN_BITS
};

static const float MAX_RATIO = 1e6f;

/* What is wanted. */
enum { WANT_VOLUME = 1, WANT_INTERSECTIONS = 2, WANT_PENETRATION = 4, WANT_OTHERS = 8 };

typedef enum ratio_kind { RATIO_STRETCH, RATIO_AREA, RATIO_KINDS } ratio_kind;

/* Counts of one kind of ratio over all frames. */
typedef struct ratio_counts {
    uint64_t bins[BINS];
} ratio_counts;

typedef struct measure_block {
    depth_scratch depth;
    float *points;                     /* (point_count x 3) */
    union_scratch overlap;             /* with WANT_OTHERS */
    ratio_counts *counts[RATIO_KINDS]; /* with WANT_OTHERS */
} measure_block;

typedef struct measure_frame {
    bool finite;
    int non_finite, intersections;
    double volume, volume_union, penetration, section;
    double acceleration2; /* sum over points; negative for a frame without two finite neighbours */
} measure_frame;

typedef struct measurement {
    const cutis_character *character;
    const float *frames; /* (frame_count x vertex_count x 3) */
    int frame_count, wanted, block_count;
    double fps;
    mesh m;
    depth_solid b;
    section *sections;
    float *rest_sizes[RATIO_KINDS]; /* lengths of the edges, areas of the triangles */
    measure_block blocks[BLOCKS];
    measure_frame *results;     /* (frame_count) */
    int pass;                   /* over the ratios: 0 upper, 1 lower bits */
    uint32_t bins[RATIO_KINDS]; /* in pass 1: the upper bits of the percentile */
} measurement;

static const float *frame_positions(const measurement *q, int frame)
{
    return q->frames + 3 * (size_t)q->character->vertex_count * (size_t)frame;
}

/* Where the points are in a frame. */
static void points_gather(const measurement *q, int frame, float *points)
{
    const float *positions = frame_positions(q, frame);
    for (int p = 0; p < q->m.point_count; p++)
        memcpy(points + 3 * (size_t)p, positions + 3 * (size_t)q->character->point_vertices[p], 3 * sizeof *points);
}

/* ---- ratios ---- */

/* Length of an edge or area of a triangle. */
static float item_size(const mesh *m, ratio_kind kind, int item, const float *points)
{
    if (kind == RATIO_AREA) return (float)mesh_area(1, m->triangles + 3 * (size_t)item, points);
    const float *a = points + 3 * (size_t)m->edges[2 * (size_t)item],
                *b = points + 3 * (size_t)m->edges[2 * (size_t)item + 1];
    double x = (double)a[0] - b[0], y = (double)a[1] - b[1], z = (double)a[2] - b[2];
    return (float)sqrt(x * x + y * y + z * z);
}

static int item_count(const mesh *m, ratio_kind kind) { return kind == RATIO_AREA ? m->triangle_count : m->edge_count; }

/* Bits of a ratio of at least 1, from 0 on: 30 of them, in the same order. */
static uint32_t ratio_bits(float ratio)
{
    uint32_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    return bits - UINT32_C(0x3F800000);
}

static void ratios_count(const measurement *q, ratio_kind kind, const float *points, ratio_counts *counts)
{
    const float *rest = q->rest_sizes[kind];
    int count = item_count(&q->m, kind);
    for (int i = 0; i < count; i++) {
        if (!(rest[i] > 0)) continue;
        float size = item_size(&q->m, kind, i, points);
        float ratio = size > rest[i] ? size / rest[i] : rest[i] / size;

        /* first pass: upper bits; second: lower bits within the bin of the percentile */
        uint32_t bits = ratio_bits(ratio < MAX_RATIO ? ratio : MAX_RATIO);
        if (q->pass == 0)
            counts->bins[bits >> BIN_BITS]++;
        else if (bits >> BIN_BITS == q->bins[kind])
            counts->bins[bits & (BINS - 1)]++;
    }
}

/* Add the blocks' counts into the first one's. */
static ratio_counts *ratios_sum(measurement *q, ratio_kind kind)
{
    ratio_counts *sum = q->blocks[0].counts[kind];
    for (int b = 1; b < q->block_count; b++)
        for (int i = 0; i < BINS; i++) sum->bins[i] += q->blocks[b].counts[kind]->bins[i];
    return sum;
}

/* The bin in which the value of this rank (from 0) lies, and its rank within that bin. */
static uint32_t ratios_find(const ratio_counts *counts, uint64_t *rank)
{
    uint32_t bin = 0;
    while (bin + 1 < BINS && *rank >= counts->bins[bin]) *rank -= counts->bins[bin++];
    return bin;
}

/* ---- frames ---- */

static int count_non_finite(const measurement *q, int frame)
{
    const float *x = frame_positions(q, frame);
    size_t length = 3 * (size_t)q->character->vertex_count;
    int count = 0;
    for (size_t i = 0; i < length; i++) count += !isfinite(x[i]);
    return count;
}

static double acceleration2(const measurement *q, int frame)
{
    const float *before = frame_positions(q, frame - 1), *now = frame_positions(q, frame);
    const float *after = frame_positions(q, frame + 1);
    double sum = 0;

    for (int p = 0; p < q->m.point_count; p++) {
        size_t at = 3 * (size_t)q->character->point_vertices[p];
        for (int k = 0; k < 3; k++) {
            double a = (double)before[at + k] - 2 * (double)now[at + k] + after[at + k];
            sum += a * a;
        }
    }

    return sum;
}

/* Frames b, b + block_count, ...: hard frames come in rows, and so are spread over the blocks. */
static void finite_block(void *context, int begin, int end)
{
    measurement *q = context;
    for (int f = begin; f < end; f++) {
        q->results[f].non_finite = count_non_finite(q, f);
        q->results[f].finite = q->results[f].non_finite == 0;
    }
}

static void frames_block(void *context, int begin, int end)
{
    measurement *q = context;
    for (int b = begin; b < end; b++) {
        /* every so manyth frame, so that blocks take equal time */
        measure_block *block = &q->blocks[b];
        for (int f = b; f < q->frame_count; f += q->block_count) {
            measure_frame *result = &q->results[f];

            result->acceleration2 = -1;
            result->section = NAN;

            /* volume and self-intersection */
            if (!result->finite) continue;
            points_gather(q, f, block->points);
            if (q->wanted & WANT_VOLUME) result->volume = mesh_closed_volume(&q->m, block->points);
            if (q->wanted & (WANT_INTERSECTIONS | WANT_PENETRATION))
                result->intersections = depth_examine(&q->b, &block->depth, block->points,
                                                      q->wanted & WANT_PENETRATION ? &result->penetration : NULL);

            /* shape, and motion where both neighbours are there */
            if (!(q->wanted & WANT_OTHERS)) continue;
            result->section = sections_ratio(q->sections, block->points);
            result->volume_union = union_volume(&q->m, block->points, &block->overlap);
            if (f > 0 && f + 1 < q->frame_count && q->results[f - 1].finite && q->results[f + 1].finite)
                result->acceleration2 = acceleration2(q, f);
            for (int kind = 0; kind < RATIO_KINDS; kind++) ratios_count(q, kind, block->points, block->counts[kind]);
        }
    }
}

static void ratios_block(void *context, int begin, int end)
{
    measurement *q = context;
    for (int b = begin; b < end; b++) {
        measure_block *block = &q->blocks[b];
        for (int f = b; f < q->frame_count; f += q->block_count) {
            if (!q->results[f].finite) continue;
            points_gather(q, f, block->points);
            for (int kind = 0; kind < RATIO_KINDS; kind++) ratios_count(q, kind, block->points, block->counts[kind]);
        }
    }
}

/* The 99th percentiles, once frames_block has counted the upper bits. */
static void percentiles(measurement *q, const cutis_jobs *jobs, double values[RATIO_KINDS])
{
    /* the bin of the upper bits that holds the rank */
    uint64_t ranks[RATIO_KINDS], totals[RATIO_KINDS];

    for (int kind = 0; kind < RATIO_KINDS; kind++) {
        ratio_counts *sum = ratios_sum(q, kind);
        totals[kind] = 0;
        for (int i = 0; i < BINS; i++) totals[kind] += sum->bins[i];
        ranks[kind] = totals[kind] - totals[kind] / 100; /* so many must not exceed it: 99 % rounded up */
        if (ranks[kind] > 0) ranks[kind]--;
        q->bins[kind] = ratios_find(sum, &ranks[kind]);
    }

    /* count the lower bits in that bin */
    for (int b = 0; b < q->block_count; b++)
        for (int kind = 0; kind < RATIO_KINDS; kind++) memset(q->blocks[b].counts[kind], 0, sizeof(ratio_counts));
    q->pass = 1;
    parallel_for(jobs, q->block_count, 1, ratios_block, q);

    /* the ratio from all its bits */
    for (int kind = 0; kind < RATIO_KINDS; kind++) {
        uint32_t bits = q->bins[kind] << BIN_BITS | ratios_find(ratios_sum(q, kind), &ranks[kind]);
        bits += UINT32_C(0x3F800000);
        float value;
        memcpy(&value, &bits, sizeof value);
        values[kind] = totals[kind] > 0 ? value : 1;
    }
}

/* ---- the two functions ---- */

/* Prepare everything in `memory` and go through the frames. */
static cutis_result measurement_run(measurement *q, const cutis_jobs *jobs, arena *memory, cutis_error *error)
{
    if (q->frame_count < 0 || (q->frame_count > 0 && !q->frames))
        return error_set(error, CUTIS_ERROR_ARGUMENT, "there are no frames to measure");

    /* surfaces that the figures need */
    cutis_result result = mesh_build_character(&q->m, q->character, memory, error);
    if (result == CUTIS_OK && q->wanted & (WANT_INTERSECTIONS | WANT_PENETRATION))
        result = depth_build(&q->b, &q->m, memory, error);
    if (result == CUTIS_OK && q->wanted & WANT_OTHERS)
        result = sections_build(&q->sections, q->character, &q->m, memory, error);
    if (result != CUTIS_OK) return result;

    /* scratch of each block */
    q->block_count = MAX(1, MIN(q->frame_count, BLOCKS));
    q->results = ARENA_ARRAY(memory, measure_frame, q->frame_count);
    for (int b = 0; b < q->block_count; b++) {
        measure_block *block = &q->blocks[b];
        block->points = ARENA_ARRAY(memory, float, 3 * (size_t)q->m.point_count);
        if (q->wanted & (WANT_INTERSECTIONS | WANT_PENETRATION)) depth_scratch_create(&block->depth, &q->b, memory);
        if (q->wanted & WANT_OTHERS) union_scratch_create(&block->overlap, memory);
        for (int kind = 0; kind < RATIO_KINDS && q->wanted & WANT_OTHERS; kind++)
            block->counts[kind] = ARENA_ARRAY(memory, ratio_counts, 1);
    }

    /* lengths and areas at rest */
    for (int kind = 0; kind < RATIO_KINDS && q->wanted & WANT_OTHERS; kind++) {
        int count = item_count(&q->m, kind);
        q->rest_sizes[kind] = ARENA_ARRAY(memory, float, count);
        for (int i = 0; i < count && !memory->failed; i++)
            q->rest_sizes[kind][i] = item_size(&q->m, kind, i, q->m.positions);
    }

    if (memory->failed) return error_memory(error, "the measurement");
    parallel_for(jobs, q->frame_count, 1, finite_block, q);
    if (q->frame_count > 0) parallel_for(jobs, q->block_count, 1, frames_block, q);

    return CUTIS_OK;
}

/* Sums over the frames that are finite. */
typedef struct quality_sums {
    double volume, intersections, acceleration2, volume_min;
    int count, acceleration_count;
} quality_sums;

/* Raise *most to `value` and note the frame, where it is larger, or the first (frame -1). */
static void extreme_take(double value, int frame, double *most, int *worst)
{
    if (*worst >= 0 && !(value > *most)) return;
    *most = value;
    *worst = frame;
}

/* One frame into the sums and extremes. */
static void quality_add(const measure_frame *frame, int f, double union_rest, quality_sums *sums,
                        cutis_quality *quality)
{
    sums->count++;

    if (quality->volume_rest != 0) {
        double ratio = frame->volume / quality->volume_rest, error = fabs(ratio - 1);
        sums->volume += error;
        sums->volume_min = MIN(sums->volume_min, ratio);
        extreme_take(error, f, &quality->volume_error_max, &quality->worst_volume_frame);
    }
    if (quality->volume_rest != 0 && union_rest > 0 && !isnan(frame->volume_union))
        extreme_take(fabs(frame->volume_union / union_rest - 1), f, &quality->volume_union,
                     &quality->worst_union_frame);

    sums->intersections += frame->intersections;
    if (frame->intersections > quality->self_intersections_max) {
        quality->self_intersections_max = frame->intersections;
        quality->worst_intersection_frame = f;
    }
    if (frame->penetration > 0)
        extreme_take(frame->penetration, f, &quality->penetration_max, &quality->worst_penetration_frame);

    if (frame->section < quality->min_section_ratio || (quality->worst_section_frame < 0 && !isnan(frame->section))) {
        quality->min_section_ratio = frame->section;
        quality->worst_section_frame = f;
    }
    if (frame->acceleration2 >= 0) {
        sums->acceleration2 += frame->acceleration2;
        sums->acceleration_count++;
    }
}

static void quality_fill(measurement *q, const cutis_jobs *jobs, cutis_quality *quality)
{
    /* no frame yet */
    const cutis_character *c = q->character;
    *quality = (cutis_quality){.frames = q->frame_count,
                               .vertices = c->vertex_count,
                               .size = c->size,
                               .volume_rest = mesh_closed_volume(&q->m, q->m.positions),
                               .volume_min_ratio = 1,
                               .min_section_ratio = NAN,
                               .worst_volume_frame = -1,
                               .worst_intersection_frame = -1,
                               .worst_section_frame = -1,
                               .worst_penetration_frame = -1,
                               .worst_union_frame = -1};

    double union_rest = union_volume(&q->m, q->m.positions, &q->blocks[0].overlap);
    quality->self_intersections_rest = depth_examine(&q->b, &q->blocks[0].depth, q->m.positions, NULL);

    /* the frames that are finite */
    quality_sums sums = {.volume_min = INFINITY};
    for (int f = 0; f < q->frame_count; f++) {
        quality->non_finite += q->results[f].non_finite;
        if (q->results[f].finite) quality_add(&q->results[f], f, union_rest, &sums, quality);
    }

    if (sums.count > 0) {
        quality->volume_error_mean = sums.volume / sums.count;
        quality->self_intersections_mean = sums.intersections / sums.count;
        if (quality->volume_rest != 0) quality->volume_min_ratio = sums.volume_min;
    }

    if (c->size > 0) quality->penetration_max /= c->size;
    if (sums.acceleration_count > 0 && q->m.point_count > 0 && c->size > 0)
        quality->acceleration_rms =
            sqrt(sums.acceleration2 / ((double)sums.acceleration_count * q->m.point_count)) * q->fps * q->fps / c->size;

    /* percentiles */
    double values[RATIO_KINDS];
    percentiles(q, jobs, values);
    quality->stretch_p99 = values[RATIO_STRETCH];
    quality->area_distortion_p99 = values[RATIO_AREA];
}

cutis_result cutis_measure(const cutis_character *character, const float *frames, int frame_count, double fps,
                           const cutis_jobs *jobs, const cutis_allocator *allocator, cutis_quality *quality,
                           cutis_error *error)
{
    assert(character && quality);
    arena memory = arena_create(allocator);
    measurement q = {.character = character, .frames = frames, .frame_count = frame_count, .fps = fps};
    q.wanted = WANT_VOLUME | WANT_INTERSECTIONS | WANT_PENETRATION | WANT_OTHERS;
    cutis_result result = measurement_run(&q, jobs, &memory, error);
    if (result == CUTIS_OK) quality_fill(&q, jobs, quality);
    arena_destroy(&memory);
    return result;
}

cutis_result cutis_measure_frames(const cutis_character *character, const float *frames, int frame_count,
                                  const cutis_jobs *jobs, const cutis_allocator *allocator, double *volume_ratios,
                                  int *self_intersections, double *penetrations, cutis_error *error)
{
    assert(character);
    arena memory = arena_create(allocator);

    measurement q = {.character = character, .frames = frames, .frame_count = frame_count};
    q.wanted = (volume_ratios ? WANT_VOLUME : 0) | (self_intersections ? WANT_INTERSECTIONS : 0) |
               (penetrations ? WANT_PENETRATION : 0);
    cutis_result result = measurement_run(&q, jobs, &memory, error);

    /* only those asked for */
    if (result == CUTIS_OK) {
        double rest = mesh_closed_volume(&q.m, q.m.positions);
        for (int f = 0; f < frame_count; f++) {
            const measure_frame *frame = &q.results[f];
            if (volume_ratios) volume_ratios[f] = !frame->finite ? NAN : rest != 0 ? frame->volume / rest : 1;
            if (self_intersections) self_intersections[f] = frame->intersections;
            if (penetrations)
                penetrations[f] = !frame->finite ? NAN : character->size > 0 ? frame->penetration / character->size : 0;
        }
    }

    arena_destroy(&memory);
    return result;
}
