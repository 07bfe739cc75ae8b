/*
 * judge.c: a result against linear skinning of the same poses: where, when and by how much it differs, in figures with
 * bounds and in words.
 *
 * Skinning is what the animator saw, so flesh may bulge, lag and slide around it, but not leave it: points stay near,
 * patches keep their direction, neighbours stay neighbours, nothing trembles, sinks through the floor, loses its
 * volume or cuts itself where skinning does not. Every figure is taken per frame and point, so that the worst place has
 * a bone, a part and a run of frames.
 *
 * - Near pairs are the four nearest points of each at rest, over parts too: a hand that leaves its arm is torn.
 * - A patch is the points of one cell of a grid at rest; its rotation is the polar part of the covariance of reference
 *   and result. A patch is left out where the reference itself does not move it like one piece: bent in a fold, or
 *   collapsed to less than half its width (a twisted joint under linear skinning), or where its points lie on a line.
 * - Trembling is the second difference of the displacement where it turns about from one frame to the next, less what
 *   it had in that direction one frame earlier: a swing of flesh (less than a quarter of the frame rate) turns about
 *   from a push to a pull of several frames each, noise and snaps within one. The amplitude is a quarter of it.
 * - Intersections are counted in a few frames only, for they cost more than all else.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "character/joint_parts.h"
#include "cutis/measure.h"
#include "math/math3.h"
#include "measure/judge_gains.h"
#include "measure/section.h"
#include "mesh/mesh.h"

enum {
    PATCH_LEAST = 8,   /* points of a patch */
    SAMPLES = 5,       /* frames in which intersections are counted */
    ANGLE_BINS = 1800, /* of a tenth of a degree */
    HISTORY = 5,       /* frames whose places and displacements are kept */
    TREMBLES = 2,      /* frames before in which a point must have trembled as well */
    STILL_FRAMES = 15  /* the reference must stand for so long before movement counts as movement at rest */
};
static const double PATCH_CELL = 0.06; /* of the size; twice that where points are few */
static const double TORN_RATIO = 2.5, TORN_LEAST = 1e-3;
static const double PATCH_WIDTH = 0.1; /* least second extent of a patch over its first */
static const double PATCH_SOUND = 0.9; /* of the second extent at rest: above, the reference is taken as it is */
static const double PATCH_BENT =
    0.25; /* RMS over the extent: above, the reference bends a patch too much to have a direction */
static const double PATCH_COLLAPSE = 0.5;        /* of the second extent at rest */
static const double BONE_MARGIN = 1e-3;          /* of the size that a bone may be above the skin next to it */
static const double VOLUME_SLACK = 1e-3;         /* of the volume that is no finding */
static const double VOLUME_SCALED = 0.2;         /* of the volume: more is lost or gained by no joint that bends */
static const double INTERSECTIONS_UNSEEN = 0.02; /* pairs over triangles: a fold of so few shows nothing */
static const double SPIKE_SEEN = 0.004;          /* of the size: a point that stands out by less shows nothing */
static const double STILL_STEP = 1e-5;           /* of the size per frame: the reference stands still */

static const double MIN_REPORTED_SLIDING = 1e-4; /* of the size; twice what the rounding of a body of floats moves */

/* A figure, when it is worth a look and when it is bad, and its words. */
typedef struct harm_row {
    const char *name;
    double look, bad;
    double scale; /* of the value in the text */
    const char *text;
} harm_row;

static const harm_row rows[CUTIS_HARM_COUNT] = {
    {"displacement_max", 0.08, 0.2, 100, "%.2g %% of the size away from linear skinning"},
    {"displacement_p99", 0.04, 0.1, 100,
     "one point in a hundred is more than %.2g %% of the size from linear skinning"},
    {"patch_angle_max", 75, 150, 1, "turned by %.0f degrees relative to linear skinning"},
    {"patch_angle_p95", 20, 45, 1, "one patch in twenty is turned by %.0f degrees or more relative to linear skinning"},
    {"torn", 0.0005, 0.01, 100, "%.2g %% of nearby points are torn apart"},
    {"torn_gap", 0.03, 0.15, 100, "torn open by %.2g %% of the size"},
    {"skin_stretch_p99", 2, 4, 1, "one edge in a hundred is stretched %.2g times or more"},
    {"bone_outside", 0.02, 0.15, 100, "%.2g %% of the bone layer is outside the skin"},
    {"intersections_added", 0.5, 10, 100, "%.2g %% more pairs of triangles intersect than under linear skinning"},
    {"spike", 0.65, 5, 1, "a point protrudes from the surrounding surface by %.2g times the length of its edges"},
    {"pop", 0.01, 0.1, 100, "jumps by %.2g %% of the size between two frames"},
    {"rest_motion", 0.0005, 0.01, 100, "moves by %.2g %% of the size per frame while the pose is still"},
    {"floor_depth", 0.01, 0.05, 100, "%.2g %% of the size below the lowest point of linear skinning"},
    {"jitter", 0.003, 0.05, 100, "vibrates by %.2g %% of the size"},
    {"volume_error", 0.05, 0.2, 100, "the volume is off by %.2g %%"},
    {"non_finite", 0, 0, 1, "%.0f values are not finite"},
    {"repairs", 0, 1000, 1, "%.0f non-finite values were reset"},
    {"unconverged_share", 0.2, 2, 100, "%.2g %% of the substeps did not converge"},
    {"fallback", 0.1, 0.5, 100, "%.2g %% of the skin is clamped towards linear skinning"},
    {"props_dropped", 0, 1000, 1, "%.0f props were dropped"},
    {"section_lost", 0.9, 0.98, 100, "a limb's cross-section loses %.2g %% of its rest area"},
    {"sliding", 0.08, 0.2, 100, "the skin slides by %.2g %% of the size"},                /* as displacement_max */
    {"sliding_jump", 0.03, 0.15, 100, "the skin jumps by %.2g %% of the size per frame"}, /* as torn_gap */
    {"correction", 0.08, 0.2, 100, "contact moves it by %.2g %% of the size more than overlaps of bones explain"},
    {"correction_jump", 0.03, 0.15, 100,
     "contact moves it in a jump of %.2g %% of the size that the clip does not have"},
};

const char *cutis_harm_name(cutis_harm harm) { return rows[harm].name; }
double cutis_harm_bound(cutis_harm harm, cutis_level level)
{
    return level == CUTIS_BAD ? rows[harm].bad : level == CUTIS_LOOK ? rows[harm].look : 0;
}

typedef struct frame_figure {
    float value;
    int point; /* where; -1: nowhere in particular */
} frame_figure;

struct cutis_judge {
    cutis_allocator allocator;
    arena memory;
    const cutis_character *character;
    const cutis_jobs *jobs;
    int capacity, frame_count;
    frame_figure (*frames)[CUTIS_HARM_COUNT]; /* (capacity) */
    double size;

    mesh m;
    bvh tree;
    double outside;      /* 1; -1 when the normals of the whole surface point inwards */
    int *near;           /* (point_count x MESH_NEAR), -1 where there is none */
    float *rest_lengths; /* (edge_count) */
    int patch_count;
    int *patch_first, *patch_points; /* (patch_count + 1), points of each */
    float *patch_width;              /* (patch_count) second extent at rest */
    float *patch_slack;              /* (patch_count) by how much the reference has collapsed in this frame */
    quat *patch_turns;               /* (patch_count) from rest to the reference in this frame */
    uint8_t *patch_whole;            /* (patch_count) the reference moves it like one piece in this frame */
    int *point_patch;                /* (point_count) -1: none */

    float *points[2];             /* (point_count x 3) result and reference */
    int still_frames;             /* for how many frames the reference has stood still */
    float *displacement[HISTORY]; /* (point_count x 3) of the last frames, the newest first */
    float *places[HISTORY];       /* (point_count x 3) of the last frames, the newest first */
    float *before[2];             /* (point_count x 6) second differences of places and displacements, of 2 frames */
    float *trembles;              /* (point_count x TREMBLES) of the last frames */
    float *slid[2];               /* (point_count x 3) of the last frames, the newest first; zeros before the first */
    int slid_count;               /* frames of them */
    float *values;                /* (max of points, edges, patches) scratch of percentiles */
    long angle_bins[ANGLE_BINS];
    long angle_count;
    double floor;  /* lowest place of the reference so far */
    float *lowest; /* (capacity) of the result */
    int *lowest_points;
    double rest_volume;
    section *sections; /* NULL: none */
    int intersections, reference_intersections;
    int dropped_prop; /* the first that was dropped; -1: none */
    judge_gains gains;
    int gain_intersections[2]; /* result and reference where the reference has most */
    double unit;               /* metres of the file's unit */
};

/* ---- preparation ---- */

/* Second extent of a set of points: the root of the second eigenvalue of their covariance; first: the first. */
static double patch_extent(const float *x, const int *points, int count, double *first)
{
    double mean[3] = {0, 0, 0}, c[6] = {0, 0, 0, 0, 0, 0};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) mean[k] += (double)x[3 * (size_t)points[i] + (size_t)k] / count;

    /* covariance */
    for (int i = 0; i < count; i++) {
        const float *p = x + 3 * (size_t)points[i];
        double d[3] = {(double)p[0] - mean[0], (double)p[1] - mean[1], (double)p[2] - mean[2]};
        for (int k = 0, at = 0; k < 3; k++)
            for (int l = k; l < 3; l++) c[at++] += d[k] * d[l] / count;
    }

    float values[3];
    mat3 vectors, a = {{(float)c[0], (float)c[1], (float)c[2], (float)c[1], (float)c[3], (float)c[4], (float)c[2],
                        (float)c[4], (float)c[5]}};

    /* square roots of its two largest eigenvalues */
    eigen_symmetric(a, values, &vectors);
    if (first) *first = sqrt(MAX((double)values[0], 0));
    return sqrt(MAX((double)values[1], 0));
}

/* Cells that hold enough points which do not lie on a line. Returns how many points they hold. */
static int patches_make(cutis_judge *j, double cell, int64_t (*cells)[2])
{
    int held = 0;
    cells_sort(j->m.point_count, j->m.positions, j->character->bounds_min, cell, cells);
    j->patch_count = 0;

    /* a run of equal cells each */
    for (int begin = 0, end; begin < j->m.point_count; begin = end) {
        for (end = begin; end < j->m.point_count && cells[end][0] == cells[begin][0];) end++;

        if (end - begin < PATCH_LEAST) continue;
        int *points = j->patch_points + held;
        for (int i = begin; i < end; i++) points[i - begin] = (int)cells[i][1];

        /* a line has no orientation */
        double first, second = patch_extent(j->m.positions, points, end - begin, &first);
        if (second < PATCH_WIDTH * first) continue;
        j->patch_width[j->patch_count] = (float)second;
        j->patch_first[j->patch_count++] = held;
        held += end - begin;
    }
    j->patch_first[j->patch_count] = held;

    return held;
}

static double distance(const float *x, int a, int b)
{
    const float *p = x + 3 * (size_t)a, *q = x + 3 * (size_t)b;
    double dx = (double)p[0] - (double)q[0], dy = (double)p[1] - (double)q[1], dz = (double)p[2] - (double)q[2];
    return sqrt(dx * dx + dy * dy + dz * dz);
}

static cutis_result judge_build(cutis_judge *j, cutis_error *error)
{
    arena *memory = &j->memory;
    cutis_result result = mesh_build_character(&j->m, j->character, memory, error);
    if (result == CUTIS_OK)
        result = bvh_build(&j->tree, j->m.triangle_count, j->m.triangles, j->m.positions, memory, error);
    if (result != CUTIS_OK) return result;

    int points = j->m.point_count;
    int64_t(*cells)[2] = memory_allocate(&j->allocator, (size_t)points, sizeof *cells);
    j->frames = arena_push(memory, (size_t)j->capacity, sizeof *j->frames);
    j->near = ARENA_ARRAY(memory, int, MESH_NEAR *(size_t)points);
    j->rest_lengths = ARENA_ARRAY(memory, float, j->m.edge_count);
    j->patch_first = ARENA_ARRAY(memory, int, points + 1);
    j->patch_points = ARENA_ARRAY(memory, int, points + 1);
    j->patch_width = ARENA_ARRAY(memory, float, points + 1);
    j->patch_slack = ARENA_ARRAY(memory, float, points + 1);
    j->patch_turns = ARENA_ARRAY(memory, quat, points / PATCH_LEAST + 1);
    j->patch_whole = ARENA_ARRAY(memory, uint8_t, points / PATCH_LEAST + 1);
    j->gains.swings = ARENA_ARRAY(memory, gain_swing, points / PATCH_LEAST + 1);
    j->point_patch = ARENA_ARRAY(memory, int, points + 1);

    for (int i = 0; i < 2; i++) j->points[i] = ARENA_ARRAY(memory, float, 3 * (size_t)points);
    for (int i = 0; i < HISTORY; i++) {
        j->displacement[i] = ARENA_ARRAY(memory, float, 3 * (size_t)points);
        j->places[i] = ARENA_ARRAY(memory, float, 3 * (size_t)points);
    }

    for (int i = 0; i < 2; i++) j->before[i] = ARENA_ARRAY(memory, float, 6 * (size_t)points);
    j->trembles = ARENA_ARRAY(memory, float, TREMBLES *(size_t)points);
    for (int i = 0; i < 2; i++) j->slid[i] = ARENA_ARRAY(memory, float, 3 * (size_t)points);
    j->values = ARENA_ARRAY(memory, float, MAX(points, j->m.edge_count));
    j->lowest = ARENA_ARRAY(memory, float, j->capacity);
    j->lowest_points = ARENA_ARRAY(memory, int, j->capacity);

    if (memory->failed || !cells) {
        memory_release(&j->allocator, cells, (size_t)points, sizeof *cells);
        return error_memory(error, "a verdict");
    }

    /* what is near, and what is a patch */
    mesh_near(&j->m, j->character->bounds_min, j->size, cells, j->near);
    if (2 * patches_make(j, PATCH_CELL * j->size, cells) < points) patches_make(j, 2 * PATCH_CELL * j->size, cells);
    memory_release(&j->allocator, cells, (size_t)points, sizeof *cells);

    for (int e = 0; e < j->m.edge_count; e++)
        j->rest_lengths[e] = (float)distance(j->m.positions, j->m.edges[2 * e], j->m.edges[2 * e + 1]);
    for (int p = 0; p < points; p++) j->point_patch[p] = -1;
    for (int i = 0; i < j->patch_count; i++)
        for (int k = j->patch_first[i]; k < j->patch_first[i + 1]; k++) j->point_patch[j->patch_points[k]] = i;

    j->rest_volume = mesh_closed_volume(&j->m, j->m.positions);
    j->outside = mesh_volume(j->m.triangle_count, j->m.triangles, j->m.positions) < 0 ? -1 : 1;

    j->floor = HUGE_VAL;
    result = gains_build(&j->gains, &j->m, j->character, memory, error);
    return result == CUTIS_OK ? sections_build(&j->sections, j->character, &j->m, memory, error) : result;
}

cutis_result cutis_judge_create(const cutis_character *character, int frame_count, const cutis_jobs *jobs,
                                const cutis_allocator *allocator, cutis_judge **judge, cutis_error *error)
{
    *judge = NULL;
    if (frame_count < 1) return error_set(error, CUTIS_ERROR_ARGUMENT, "there are no frames to judge");

    /* an object of its own */
    cutis_judge *j = memory_allocate(allocator, 1, sizeof *j);
    if (!j) return error_memory(error, "a verdict");
    j->allocator = memory_resolve(allocator);
    j->memory = arena_create(allocator);
    j->character = character;
    j->jobs = jobs;
    j->capacity = frame_count;
    j->dropped_prop = -1;
    j->size = MAX((double)character->size, 1e-30);
    j->unit = 1;

    /* all of it or nothing */
    cutis_result result = judge_build(j, error);
    if (result == CUTIS_OK)
        *judge = j;
    else
        cutis_judge_destroy(j);
    return result;
}

void cutis_judge_destroy(cutis_judge *j)
{
    if (!j) return;
    cutis_allocator allocator = j->allocator;
    arena_destroy(&j->memory);
    memory_release(&allocator, j, 1, sizeof *j);
}

/* ---- a frame ---- */

/* The value that `share` of the values do not exceed; the values are put in another order. */
static float percentile(float *values, int count, double share)
{
    if (count < 1) return 0;
    int rank = (int)ceil(share * count) - 1, low = 0, high = count - 1;
    rank = CLAMP(rank, 0, count - 1);

    while (low < high) {
        /* parts below and above the pivot */
        float pivot = values[low + (high - low) / 2];
        int i = low, k = high;
        while (i <= k) {
            while (values[i] < pivot) i++;
            while (values[k] > pivot) k--;
            if (i > k) break;
            float swap = values[i];
            values[i++] = values[k];
            values[k--] = swap;
        }

        /* go on where the rank lies */
        if (rank <= k)
            high = k;
        else if (rank >= i)
            low = i;
        else
            break;
    }

    return values[rank];
}

static void put(frame_figure *row, cutis_harm harm, double value, int point)
{
    row[harm] = (frame_figure){(float)value, point};
}

static void judge_displacement(cutis_judge *j, frame_figure *row)
{
    const float *x = j->points[0], *r = j->points[1];
    int worst = 0;

    /* the newest of the last frames */
    float *history = j->displacement[HISTORY - 1], *places = j->places[HISTORY - 1];
    for (int i = HISTORY - 1; i > 0; i--) {
        j->displacement[i] = j->displacement[i - 1];
        j->places[i] = j->places[i - 1];
    }
    j->displacement[0] = history;
    j->places[0] = places;
    memcpy(places, x, 3 * (size_t)j->m.point_count * sizeof(float));

    /* distance of every point */
    for (int p = 0; p < j->m.point_count; p++) {
        double d2 = 0;
        for (size_t k = 3 * (size_t)p; k < 3 * (size_t)p + 3; k++) {
            history[k] = x[k] - r[k];
            d2 += (double)history[k] * (double)history[k];
        }

        /* Where the reference collapses, the result has to be elsewhere. */
        double slack = j->point_patch[p] >= 0 ? (double)j->patch_slack[j->point_patch[p]] : 0;
        j->values[p] = (float)(MAX(sqrt(d2) - slack, 0) / j->size);
        if (j->values[p] > j->values[worst]) worst = p;
    }

    /* the worst, and one in a hundred */
    put(row, CUTIS_HARM_DISPLACEMENT_MAX, (double)j->values[worst], worst);
    put(row, CUTIS_HARM_DISPLACEMENT_P99, (double)percentile(j->values, j->m.point_count, 0.99), worst);
}

/*
 * The rotation that brings a patch from `from` nearest to where it is in `to`; residual: RMS distance that it leaves,
 * over the RMS extent of the patch.
 */
static quat patch_turn(const float *from, const float *to, const int *points, int count, double *residual)
{
    double mean[2][3] = {{0}}, c[9] = {0}, norm = 0, extent[2] = {0, 0};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            mean[0][k] += (double)to[3 * (size_t)points[i] + (size_t)k] / count;
            mean[1][k] += (double)from[3 * (size_t)points[i] + (size_t)k] / count;
        }

    /* covariance */
    for (int i = 0; i < count; i++) {
        double d[2][3];
        for (int k = 0; k < 3; k++) {
            d[0][k] = (double)to[3 * (size_t)points[i] + (size_t)k] - mean[0][k];
            d[1][k] = (double)from[3 * (size_t)points[i] + (size_t)k] - mean[1][k];
            extent[0] += d[0][k] * d[0][k];
            extent[1] += d[1][k] * d[1][k];
        }
        for (int k = 0; k < 9; k++) c[k] += d[0][k / 3] * d[1][k % 3];
    }

    *residual = 1;
    for (int k = 0; k < 9; k++) norm += c[k] * c[k];
    if (!(norm > 0)) return quat_identity();

    /* the polar part of the covariance, scaled to 1 */
    mat3 a;
    for (int k = 0; k < 9; k++) a.m[k] = (float)(c[k] / sqrt(norm));
    quat turn = polar_rotation(a, quat_identity(), 24);
    mat3 rotation = quat_matrix(turn);

    double trace = 0;
    for (int k = 0; k < 9; k++) trace += (double)rotation.m[k] * c[k];
    *residual = sqrt(MAX(extent[0] + extent[1] - 2 * trace, 0) / extent[1]);
    return turn;
}

/*
 * Degrees by which a patch is turned; negative: it cannot be told, for the reference does not move it like one piece.
 * Notes by how much the reference has collapsed there.
 */
static double patch_angle(cutis_judge *j, int patch)
{
    const int *points = j->patch_points + j->patch_first[patch];

    int count = j->patch_first[patch + 1] - j->patch_first[patch];
    const float *x = j->points[0], *r = j->points[1];

    /* the reference against rest */
    double first, bent, residual, width = patch_extent(r, points, count, &first);
    double lost = (double)j->patch_width[patch] - width;
    j->patch_turns[patch] = patch_turn(j->m.positions, r, points, count, &bent);
    j->patch_slack[patch] = lost > (1 - PATCH_SOUND) * (double)j->patch_width[patch] ? (float)(2 * lost) : 0;
    if (width < PATCH_COLLAPSE * (double)j->patch_width[patch] || width < PATCH_WIDTH * first || bent > PATCH_BENT)
        return -1;

    /* the result against the reference */
    quat turn = patch_turn(r, x, points, count, &residual);
    return 2 * det_acos(fabs((double)turn.w)) * 180 / 3.14159265358979323846;
}

static void judge_patches(cutis_judge *j, frame_figure *row)
{
    int count = 0, worst = -1;
    float most = 0;

    /* angles of all patches that still have an orientation */
    for (int i = 0; i < j->patch_count; i++) {
        double angle = patch_angle(j, i);
        j->patch_whole[i] = angle >= 0;
        if (angle < 0) continue;

        j->values[count++] = (float)angle;
        j->angle_bins[MIN((int)(angle * 10), ANGLE_BINS - 1)]++;
        j->angle_count++;

        if ((float)angle <= most) continue;
        most = (float)angle;
        worst = j->patch_points[j->patch_first[i]];
    }

    put(row, CUTIS_HARM_ANGLE_MAX, (double)most, worst);
    put(row, CUTIS_HARM_ANGLE_P95, (double)percentile(j->values, count, 0.95), worst);
}

static void judge_pairs(cutis_judge *j, frame_figure *row)
{
    const float *x = j->points[0], *r = j->points[1];
    long torn = 0, pairs = 0;
    double most = 0;
    int where = -1;

    /* every point and its nearest */
    for (int p = 0; p < j->m.point_count; p++)
        for (int i = 0; i < MESH_NEAR; i++) {
            int q = j->near[MESH_NEAR * (size_t)p + (size_t)i];
            if (q < 0) break;
            double apart = distance(x, p, q);
            pairs++;

            /* both stretch and distance count: near points at rest that the reference has far apart are not torn */
            double base = MAX(distance(r, p, q), distance(j->m.positions, p, q));
            if (apart <= TORN_RATIO * base + TORN_LEAST * j->size) continue;
            torn++;
            if (apart <= most) continue;
            most = apart;
            where = p;
        }

    /* the share, and the widest gap */
    put(row, CUTIS_HARM_TORN, pairs ? (double)torn / (double)pairs : 0, where);
    put(row, CUTIS_HARM_GAP, most / j->size, where);
}

static void judge_stretch(cutis_judge *j, frame_figure *row)
{
    const mesh *m = &j->m;
    int count = 0, where = -1;
    float most = 0;

    /* ratio of each edge to the longer of reference and rest */
    for (int e = 0; e < m->edge_count; e++) {
        int a = m->edges[2 * e], b = m->edges[2 * e + 1];
        double base = MAX(distance(j->points[1], a, b), (double)j->rest_lengths[e]);
        if (base < 1e-4 * j->size) continue; /* a speck that stretches shows nothing */

        float ratio = (float)(distance(j->points[0], a, b) / base);
        j->values[count++] = ratio;

        if (ratio <= most) continue;
        most = ratio;
        where = a;
    }

    put(row, CUTIS_HARM_STRETCH, (double)percentile(j->values, count, 0.99), where);
}

/* The normal of the surface at a point, outwards, of any length. */
static vec3 point_normal(const cutis_judge *j, const float *x, int point)
{
    const mesh *m = &j->m;
    vec3 sum = {0, 0, 0};

    for (int i = m->point_triangle_first[point]; i < m->point_triangle_first[point + 1]; i++) {
        const int *t = m->triangles + 3 * (size_t)m->point_triangles[i];
        vec3 a = vec3_load(x + 3 * (size_t)t[0]);
        vec3 u = vec3_sub(vec3_load(x + 3 * (size_t)t[1]), a);
        vec3 v = vec3_sub(vec3_load(x + 3 * (size_t)t[2]), a);
        sum = vec3_add(sum, vec3_cross(u, v));
    }

    return vec3_scale(sum, (float)j->outside);
}

/* Height of a point above the mean of the points that edges join it to, along its normal. */
static double ring_height(const cutis_judge *j, const float *x, int point)
{
    const mesh *m = &j->m;
    int first = m->point_neighbour_first[point], count = m->point_neighbour_first[point + 1] - first;
    vec3 mean = {0, 0, 0}, normal = point_normal(j, x, point);
    if (count == 0 || !(vec3_length2(normal) > 0)) return 0;

    for (int i = first; i < first + count; i++)
        mean = vec3_add(mean, vec3_load(x + 3 * (size_t)m->point_neighbours[i]));
    mean = vec3_scale(mean, 1 / (float)count);
    return (double)vec3_dot(vec3_sub(vec3_load(x + 3 * (size_t)point), mean), vec3_normalize(normal));
}

/* Mean length of the edges of a point. */
static double ring_edge(const cutis_judge *j, const float *x, int point)
{
    const mesh *m = &j->m;
    int first = m->point_neighbour_first[point], end = m->point_neighbour_first[point + 1];
    double sum = 0;
    for (int i = first; i < end; i++) sum += distance(x, point, m->point_neighbours[i]);
    return sum / MAX(end - first, 1);
}

/*
 * Points that stand out of the surface of their neighbours by more than under linear skinning and at rest, over the
 * length of their edges: on a coarse mesh flesh that swells moves single points, and only their slope shows a spike.
 * Outwards alone: a point that lies deep in a fold is what flesh is for.
 */
static void judge_spikes(cutis_judge *j, frame_figure *row)
{
    int worst = -1;
    double most = 0;

    for (int p = 0; p < j->m.point_count; p++) {
        double height = ring_height(j, j->points[0], p);
        if (height < SPIKE_SEEN * j->size) continue; /* the reference can only take from it */

        double base = MAX(ring_height(j, j->points[1], p), ring_height(j, j->m.positions, p));
        height -= MAX(base, 0);
        if (height < SPIKE_SEEN * j->size) continue;

        double edge = MAX(ring_edge(j, j->points[1], p), ring_edge(j, j->m.positions, p));
        if (height <= most * edge) continue;
        most = height / edge;
        worst = p;
    }

    put(row, CUTIS_HARM_SPIKE, most, worst);
}

/* Whether the surface encloses a place, by most of three rays; the tree is that of the result. */
static bool is_enclosed(const cutis_judge *j, vec3 x)
{
    /* askew, so that rays seldom meet edges of models that are made along the axes */
    static const float ways[3][3] = {{1, 0.0113f, 0.0271f}, {0.0191f, 1, 0.0137f}, {0.0173f, 0.0229f, 1}};
    int votes = 0;
    for (int i = 0; i < 3; i++) votes += bvh_ray_winding(&j->tree, j->points[0], x, vec3_load(ways[i]), -1) != 0;
    return votes >= 2;
}

/*
 * The innermost tissue above the skin next to it, and not enclosed by any: where a sheet or a coarse crease turns its
 * normal away from the flesh, the bone below it is above it and inside all the same.
 */
static void judge_bone(cutis_judge *j, const float *inner, frame_figure *row)
{
    const mesh *m = &j->m;
    long outside = 0, count = 0;
    int where = -1;
    float highest = 0;

    bool fitted = false;
    for (int p = 0; p < m->point_count; p++) {
        vec3 bone = vec3_load(inner + 3 * (size_t)j->character->point_vertices[p]);
        vec3 normal = point_normal(j, j->points[0], p);
        if (!(vec3_length2(normal) > 0)) continue;
        count++;

        /* most bones are below the skin next to them */
        float height = vec3_dot(vec3_sub(bone, vec3_load(j->points[0] + 3 * (size_t)p)), vec3_normalize(normal));
        if ((double)height <= BONE_MARGIN * j->size) continue;
        if (!fitted) bvh_refit(&j->tree, j->points[0], 0);
        fitted = true;
        if (is_enclosed(j, bone)) continue;

        outside++;
        if (height <= highest) continue;
        highest = height;
        where = p;
    }

    put(row, CUTIS_HARM_BONE, count ? (double)outside / (double)count : 0, where);
}

static void judge_floor(cutis_judge *j)
{
    int lowest = 0;
    for (int p = 0; p < j->m.point_count; p++) {
        j->floor = MIN(j->floor, (double)j->points[1][3 * (size_t)p + 1]);
        if (j->points[0][3 * (size_t)p + 1] < j->points[0][3 * (size_t)lowest + 1]) lowest = p;
    }
    j->lowest[j->frame_count] = j->points[0][3 * (size_t)lowest + 1];
    j->lowest_points[j->frame_count] = lowest;
}

/* ---- steps between frames ---- */

/*
 * How far a point trembles by the last three places of a series (the newest first) and the second differences of the
 * two frames before: `then`, which the difference of now turns about, and `earlier`, whose share in the direction of
 * `then` is a swing.
 */
static double tremble(float *const series[HISTORY], float *before, int point)
{
    float *then = before + 6 * (size_t)point, *earlier = then + 3;
    double now2 = 0, then2 = 0, turn = 0, swing = 0;

    for (int k = 0; k < 3; k++) {
        size_t at = 3 * (size_t)point + (size_t)k;
        double now = (double)series[0][at] - 2 * (double)series[1][at] + (double)series[2][at];
        now2 += now * now;
        then2 += (double)then[k] * (double)then[k];
        turn += now * (double)then[k];
        swing += (double)earlier[k] * (double)then[k];

        earlier[k] = then[k];
        then[k] = (float)now;
    }

    if (!(turn < 0)) return 0;
    return 0.25 * MAX(sqrt(MIN(now2, then2)) - MAX(swing, 0) / sqrt(then2), 0);
}

/* The mean over a point and its nearest of what `values` hold: one point alone is a spike, no region. */
static double region_mean(const cutis_judge *j, int point)
{
    double sum = (double)j->values[point];
    int count = 1;
    for (int i = 0; i < MESH_NEAR; i++, count++) {
        int q = j->near[MESH_NEAR * (size_t)point + (size_t)i];
        if (q < 0) break;
        sum += (double)j->values[q];
    }
    return sum / count;
}

/* The region of the largest mean. */
static void put_region(const cutis_judge *j, frame_figure *row, cutis_harm harm)
{
    int worst = -1;
    double most = 0;

    for (int p = 0; p < j->m.point_count; p++) {
        if ((double)j->values[p] <= 0) continue;
        double mean = region_mean(j, p);
        if (mean <= most) continue;
        most = mean;
        worst = p;
    }

    put(row, harm, most / j->size, worst);
}

/*
 * A tremble shows both by itself and against the reference: the reference may jump, and the motion may be sudden. It
 * lasts: flesh that turns about in one frame alone is a swing that ends at a contact.
 */
static void judge_jitter(cutis_judge *j, frame_figure *row)
{
    for (int p = 0; p < j->m.point_count; p++) {
        double by_itself = tremble(j->places, j->before[0], p);
        double against = tremble(j->displacement, j->before[1], p);
        float now = (float)MIN(by_itself, against), *last = j->trembles + TREMBLES * (size_t)p;

        j->values[p] = MIN(now, MIN(last[0], last[1]));
        last[1] = last[0];
        last[0] = now;
    }

    put_region(j, row, CUTIS_HARM_JITTER);
}

/* Length of the step of a point between two frames of a series. */
static double step_length(float *const series[HISTORY], int frame, int point)
{
    double sum = 0;
    for (size_t k = 3 * (size_t)point; k < 3 * (size_t)point + 3; k++) {
        double d = (double)series[frame][k] - (double)series[frame + 1][k];
        sum += d * d;
    }
    return sqrt(sum);
}

/*
 * The length of a jump in the middle of the last four steps of a point: of one step, or of one there and one back; less
 * twice the longer of the steps around it, because fast motion has long steps.
 */
static double jump_length(float *const series[HISTORY], int point)
{
    double steps[HISTORY - 1], back = 0;
    for (int i = 0; i < HISTORY - 1; i++) steps[i] = step_length(series, i, point);
    for (size_t k = 3 * (size_t)point; k < 3 * (size_t)point + 3; k++)
        back += ((double)series[1][k] - (double)series[2][k]) * ((double)series[2][k] - (double)series[3][k]);

    double once = steps[1] - 2 * MAX(steps[0], steps[2]);
    double there_and_back = back < 0 ? MIN(steps[1], steps[2]) - 2 * MAX(steps[0], steps[3]) : 0;
    return MAX(MAX(once, there_and_back), 0);
}

/* Regions that jump between two frames and move slowly before and after. */
static void judge_pops(cutis_judge *j)
{
    for (int p = 0; p < j->m.point_count; p++) {
        double against = jump_length(j->displacement, p);
        j->values[p] = against > 0 ? (float)MIN(against, jump_length(j->places, p)) : 0;
    }
    /* the frame before a jump, or between one there and one back */
    put_region(j, j->frames[j->frame_count - 2], CUTIS_HARM_POP);
}

/* What still moves after the reference has stood still for a while. */
static void judge_rest(cutis_judge *j, frame_figure *row)
{
    /* the reference moves by as much as the result that is not displacement */
    double driven = 0;
    for (size_t i = 0; i < 3 * (size_t)j->m.point_count; i++) {
        double now = (double)j->places[0][i] - (double)j->displacement[0][i];
        double before = (double)j->places[1][i] - (double)j->displacement[1][i];
        driven = MAX(driven, fabs(now - before));
    }

    j->still_frames = driven < STILL_STEP * j->size ? j->still_frames + 1 : 0;
    if (j->still_frames < STILL_FRAMES) return;

    for (int p = 0; p < j->m.point_count; p++) j->values[p] = (float)step_length(j->displacement, 0, p);
    put_region(j, row, CUTIS_HARM_REST);
}

static void judge_intersections(cutis_judge *j, frame_figure *row)
{
    int counts[2], pair[2] = {-1, -1};

    for (int i = 1; i >= 0; i--) {
        bvh_refit(&j->tree, j->points[i], 0);
        counts[i] = mesh_self_intersections(&j->m, &j->tree, j->points[i], j->jobs, i ? NULL : pair, i ? 0 : 1);
    }

    int added = counts[0] - counts[1];
    int where = counts[0] > 0 && pair[0] >= 0 ? j->m.triangles[3 * (size_t)pair[0]] : -1;
    double unseen = MAX(INTERSECTIONS_UNSEEN * j->m.triangle_count, 1);
    put(row, CUTIS_HARM_INTERSECTIONS, added > 0 ? added / (counts[1] + unseen) : 0, where);

    /* what was gained where there was most to gain */
    if (counts[1] > j->gain_intersections[1]) memcpy(j->gain_intersections, counts, sizeof counts);

    if (counts[0] <= j->intersections) return;
    j->intersections = counts[0];
    j->reference_intersections = counts[1];
}

static void judge_volume(cutis_judge *j, frame_figure *row)
{
    if (j->rest_volume == 0) return;

    double volume = mesh_closed_volume(&j->m, j->points[0]) / j->rest_volume;
    double reference = mesh_closed_volume(&j->m, j->points[1]) / j->rest_volume;

    /*
     * Morphs and scaled joints change the volume on purpose, and then the reference tells how large the body is; bones
     * that a clip draws out lengthen flesh, which keeps the volume of rest. All between the two is right.
     */
    bool scaled = fabs(reference - 1) > VOLUME_SCALED && reference != 0;
    double right = scaled ? CLAMP(volume, MIN(reference, 1), MAX(reference, 1)) : 1;
    double error = right != 0 ? fabs(volume / right - 1) : 1;
    bool worse = scaled || error > fabs(reference - 1) + VOLUME_SLACK;

    /* a whole has no place, but what is furthest from the reference tells where to look */
    put(row, CUTIS_HARM_VOLUME, worse ? error : 0, row[CUTIS_HARM_DISPLACEMENT_MAX].point);
}

/* Against the rest shape: where a twisted limb collapses, linear skinning collapses as well. */
static void judge_section(cutis_judge *j, frame_figure *row)
{
    if (!j->sections) return;
    double ratio = sections_ratio(j->sections, j->points[0]);
    put(row, CUTIS_HARM_SECTION, ratio < 1 ? 1 - ratio : 0, row[CUTIS_HARM_DISPLACEMENT_MAX].point);
}

/* Whether intersections are counted in a frame: in SAMPLES of them, spread evenly, not in the first. */
static bool is_sample(const cutis_judge *j, int frame)
{
    long before = (long)frame * SAMPLES / j->capacity, after = ((long)frame + 1) * SAMPLES / j->capacity;
    return after > before;
}

void cutis_judge_frame(cutis_judge *j, const float *positions, const float *reference, const float *inner)
{
    if (j->frame_count == j->capacity) return;
    const cutis_character *c = j->character;

    frame_figure *row = j->frames[j->frame_count];
    for (int i = 0; i < CUTIS_HARM_COUNT; i++) row[i] = (frame_figure){0, -1};

    /* the points of both; a frame that is not finite is judged by that alone */
    long broken = 0;
    for (size_t i = 0; i < 3 * (size_t)c->vertex_count; i++) broken += !isfinite(positions[i]);
    put(row, CUTIS_HARM_NON_FINITE, (double)broken, -1);
    for (int p = 0; p < j->m.point_count; p++) {
        size_t from = 3 * (size_t)c->point_vertices[p];
        memcpy(j->points[0] + 3 * (size_t)p, positions + from, 3 * sizeof(float));
        memcpy(j->points[1] + 3 * (size_t)p, reference + from, 3 * sizeof(float));
    }

    /* every figure of the frame */
    j->lowest[j->frame_count] = (float)HUGE_VAL;
    if (broken == 0 && j->m.point_count > 0) {
        judge_patches(j, row);
        judge_displacement(j, row);
        judge_pairs(j, row);
        judge_stretch(j, row);
        if (inner) judge_bone(j, inner, row);
        judge_floor(j);
        judge_spikes(j, row);
        if (j->frame_count >= 2) judge_jitter(j, row);
        if (j->frame_count >= HISTORY - 1) judge_pops(j);
        if (j->frame_count >= 1) judge_rest(j, row);
        judge_volume(j, row);
        judge_section(j, row);
        if (is_sample(j, j->frame_count)) judge_intersections(j, row);

        gains_volumes(&j->gains, j->points[0], j->points[1]);
        for (int i = 0; i < j->patch_count; i++)
            if (j->patch_whole[i])
                gains_movement(&j->gains, i, j->displacement[0], j->patch_points + j->patch_first[i],
                               j->patch_first[i + 1] - j->patch_first[i], j->patch_turns[i]);
    }

    j->frame_count++;
}

void cutis_judge_unit(cutis_judge *j, double metres) { j->unit = metres; }

void cutis_judge_fallback(cutis_judge *j, double share, int vertex)
{
    if (j->frame_count == 0) return;
    int point = vertex >= 0 && vertex < j->character->vertex_count ? j->character->vertex_points[vertex] : -1;
    put(j->frames[j->frame_count - 1], CUTIS_HARM_FALLBACK, share, point);
}

void cutis_judge_dropped(cutis_judge *j, int count, int prop)
{
    if (j->frame_count < 1) return;
    put(j->frames[j->frame_count - 1], CUTIS_HARM_DROPPED, count, -1);
    if (count > 0 && j->dropped_prop < 0) j->dropped_prop = prop;
}

void cutis_judge_sliding(cutis_judge *j, const float *sliding)
{
    if (j->frame_count == 0) return;
    const cutis_character *c = j->character;
    frame_figure *row = j->frames[j->frame_count - 1];
    double way = 0, jump = 0;
    int way_point = -1, jump_point = -1;

    /* the longest way, and where it turns most: steady sliding has no second difference, whatever the frame rate */
    for (int p = 0; p < j->m.point_count; p++) {
        vec3 now = vec3_load(sliding + 3 * (size_t)c->point_vertices[p]);
        vec3 last = vec3_load(j->slid[0] + 3 * (size_t)p), before = vec3_load(j->slid[1] + 3 * (size_t)p);
        double length = (double)vec3_length(now) / j->size;
        double turn = (double)vec3_length(vec3_sub(vec3_sub(now, last), vec3_sub(last, before))) / j->size;
        if (length > way) {
            way = length;
            way_point = p;
        }
        if (turn > jump) {
            jump = turn;
            jump_point = p;
        }
        vec3_store(j->slid[1] + 3 * (size_t)p, last);
        vec3_store(j->slid[0] + 3 * (size_t)p, now);
    }

    put(row, CUTIS_HARM_SLIDING, way, way_point);
    if (++j->slid_count > 2) put(row, CUTIS_HARM_SLIDING_JUMP, jump, jump_point);
}

void cutis_judge_correction(cutis_judge *j, int frame, double way, int way_point, double jump, int jump_point)
{
    if (frame < 0 || frame >= j->frame_count) return;
    put(j->frames[frame], CUTIS_HARM_CORRECTION, way, way_point);
    put(j->frames[frame], CUTIS_HARM_CORRECTION_JUMP, jump, jump_point);
}

/* ---- the verdict ---- */

/* Where something is, in the field's words where the joint's name tells, else by that name. */
static void place_words(const cutis_judge *j, const joint_part *parts, const cutis_finding *f, char *text, size_t size)
{
    static const char *const kinds[JOINT_KIND_COUNT] = {
        [JOINT_HIPS] = "hips",          [JOINT_SPINE] = "torso",
        [JOINT_NECK] = "neck",          [JOINT_HEAD] = "head",
        [JOINT_COLLAR] = "shoulder",    [JOINT_UPPER_ARM] = "upper arm",
        [JOINT_FOREARM] = "forearm",    [JOINT_HAND] = "hand",
        [JOINT_UPPER_LEG] = "thigh",    [JOINT_LOWER_LEG] = "lower leg",
        [JOINT_FOOT] = "foot",          [JOINT_TOE] = "toes",
        [JOINT_TAIL] = "tail",          [JOINT_THUMB] = "thumb",
        [JOINT_INDEX] = "index finger", [JOINT_MIDDLE] = "middle finger",
        [JOINT_RING] = "ring finger",   [JOINT_PINKY] = "little finger"};
    static const char *const sides[] = {"", "left ", "right "};

    const cutis_character *c = j->character;
    text[0] = 0;
    if (f->joint >= 0) {
        const joint_part *part = parts ? &parts[f->joint] : NULL;
        const char *kind = part && kinds[part->kind] ? kinds[part->kind] : c->joints[f->joint].name;
        const char *side = part && kinds[part->kind] ? sides[part->side] : "";
        snprintf(text, size, "%s%.60s", side, kind);
    }

    /* the part, where there are several */
    size_t used = strlen(text);
    if (f->part >= 0 && c->part_count > 1)
        snprintf(text + used, size - used, "%s%.40s", used ? " of " : "", c->parts[f->part].name);
}

/* The frames around the worst in which the figure is above its bound. */
static void finding_frames(const cutis_judge *j, cutis_finding *f, double bound)
{
    f->first_frame = f->worst_frame;
    f->last_frame = f->worst_frame;
    if (f->worst_frame < 0) return;
    while (f->first_frame > 0 && (double)j->frames[f->first_frame - 1][f->harm].value > bound) f->first_frame--;
    while (f->last_frame + 1 < j->frame_count && (double)j->frames[f->last_frame + 1][f->harm].value > bound)
        f->last_frame++;
}

/* The vertex of a point, the joint that moves it most and its part. */
static void finding_place(const cutis_judge *j, cutis_finding *f, int point)
{
    const cutis_character *c = j->character;
    f->vertex = point >= 0 ? c->point_vertices[point] : -1;
    f->joint = -1;
    f->part = -1;

    float most = 0;
    for (int i = f->vertex >= 0 && c->influence_first ? c->influence_first[f->vertex] : 0;
         f->vertex >= 0 && c->influence_first && i < c->influence_first[f->vertex + 1]; i++) {
        if (c->influence_weights[i] <= most) continue;
        most = c->influence_weights[i];
        f->joint = c->influence_joints[i];
    }

    for (int i = 0; f->vertex >= 0 && i < c->part_count; i++)
        if (f->vertex >= c->parts[i].first_vertex && f->vertex < c->parts[i].first_vertex + c->parts[i].vertex_count)
            f->part = i;
}

static void finding_fill(const cutis_judge *j, const joint_part *parts, cutis_finding *f)
{
    const harm_row *row = &rows[f->harm];

    finding_place(j, f, f->worst_frame >= 0 ? j->frames[f->worst_frame][f->harm].point : -1);

    char frames[48] = "all frames", place[128], what[120];
    if (f->worst_frame < 0 || (f->first_frame == 0 && f->last_frame == j->frame_count - 1))
        ;
    else if (f->first_frame == f->last_frame)
        snprintf(frames, sizeof frames, "frame %d", f->first_frame);
    else
        snprintf(frames, sizeof frames, "frames %d to %d", f->first_frame, f->last_frame);

    place_words(j, parts, f, place, sizeof place);
    if (f->harm == CUTIS_HARM_DROPPED && f->value == 1)
        snprintf(what, sizeof what, "prop '%.40s' fell out of range and no longer moves",
                 j->character->props[j->dropped_prop].name);
    else
        snprintf(what, sizeof what, row->text, f->value * row->scale);
    snprintf(f->text, sizeof f->text, "%s: %s%s%s", frames, place, place[0] ? ", " : "", what);
}

/* How far a finding is out of its bounds, for the order. */
static double finding_weight(const cutis_finding *f)
{
    double look = rows[f->harm].look;
    return f->level * 1e6 + (look > 0 ? MIN(f->value / look, 1e5) : 1);
}

static int compare_findings(const void *a, const void *b)
{
    const cutis_finding *x = a, *y = b;
    double u = finding_weight(x), v = finding_weight(y);
    return u != v ? (u < v) - (u > v) : (int)x->harm - (int)y->harm;
}

/* What the joints are by their names; NULL when memory runs out. */
static joint_part *parts_find(cutis_judge *j)
{
    const cutis_character *c = j->character;

    joint_part *parts = ARENA_ARRAY(&j->memory, joint_part, c->joint_count + 1);
    const char **names = ARENA_ARRAY(&j->memory, const char *, c->joint_count + 1);
    int *parents = ARENA_ARRAY(&j->memory, int, c->joint_count + 1);
    if (!parts || !names || !parents) return NULL;

    for (int i = 0; i < c->joint_count; i++) {
        names[i] = c->joints[i].name;
        parents[i] = c->joints[i].parent;
    }

    joint_parts_find(c->joint_count, names, parents, parts);
    return parts;
}

/* The figures of the whole, each with its worst frame. */
static void figures_sum(cutis_judge *j, cutis_verdict *v)
{
    /* depth below the lowest floor of the clip */
    for (int f = 0; f < j->frame_count; f++) {
        double depth = (j->floor - (double)j->lowest[f]) / j->size;
        j->frames[f][CUTIS_HARM_FLOOR] = (frame_figure){(float)MAX(depth, 0), j->lowest_points[f]};
    }

    /* the worst frame of each */
    for (int h = 0; h < CUTIS_HARM_COUNT; h++) {
        v->figures[h] = 0;
        v->worst_frames[h] = -1;
        for (int f = 0; f < j->frame_count; f++) {
            if (!((double)j->frames[f][h].value > v->figures[h])) continue;
            v->figures[h] = (double)j->frames[f][h].value;
            v->worst_frames[h] = f;
        }
    }

    /* the angle is a percentile over all frames */
    long seen = 0, bin = 0;
    while (bin < ANGLE_BINS - 1 && (double)(seen + j->angle_bins[bin]) < 0.95 * (double)j->angle_count)
        seen += j->angle_bins[bin++];
    v->figures[CUTIS_HARM_ANGLE_P95] = j->angle_count ? ((double)bin + 0.5) / 10 : 0;
    if (v->figures[CUTIS_HARM_ANGLE_P95] < 0.1) v->figures[CUTIS_HARM_ANGLE_P95] = 0;
}

void cutis_judge_finish(cutis_judge *j, long substeps, long unconverged, long repairs, cutis_verdict *v)
{
    *v = (cutis_verdict){.intersections = j->intersections, .reference_intersections = j->reference_intersections};
    figures_sum(j, v);
    v->figures[CUTIS_HARM_REPAIRS] = (double)repairs;
    v->figures[CUTIS_HARM_UNCONVERGED] = substeps > 0 ? (double)unconverged / (double)substeps : 0;

    /* what is out of its bounds, worst first */
    joint_part *parts = parts_find(j);
    for (int h = 0; h < CUTIS_HARM_COUNT; h++) {
        double value = v->figures[h];
        cutis_level level = value > rows[h].bad ? CUTIS_BAD : value > rows[h].look ? CUTIS_LOOK : CUTIS_GOOD;
        if (level == CUTIS_GOOD) continue;
        cutis_finding *f = &v->findings[v->finding_count++];
        *f = (cutis_finding){.harm = (cutis_harm)h, .level = level, .value = value};
        f->bound = level == CUTIS_BAD ? rows[h].bad : rows[h].look;
        f->worst_frame = v->worst_frames[h];
        finding_frames(j, f, rows[h].look);
        finding_fill(j, parts, f);
        v->level = MAX(v->level, level);
    }
    qsort(v->findings, (size_t)v->finding_count, sizeof *v->findings, compare_findings);

    cutis_finding moved;
    finding_place(j, &moved, j->gains.movement_point);
    place_words(j, parts, &moved, v->gained.place, sizeof v->gained.place);
    v->gained.movement_joint = moved.joint;
    v->gained.intersections = j->gain_intersections[0];
    v->gained.reference_intersections = j->gain_intersections[1];
    gains_finish(&j->gains, j->character, parts, j->unit, &v->gained);

    char more[48] = "";
    if (v->finding_count > 1)
        snprintf(more, sizeof more, " (and %d more finding%s)", v->finding_count - 1, v->finding_count > 2 ? "s" : "");
    char slides[48] = "";
    if (v->figures[CUTIS_HARM_SLIDING] > MIN_REPORTED_SLIDING)
        snprintf(slides, sizeof slides, ", the skin slides by %.2g %%", 100 * v->figures[CUTIS_HARM_SLIDING]);
    if (v->level == CUTIS_GOOD)
        snprintf(v->text, sizeof v->text, "good: at most %.2g %% of the size from linear skinning%s",
                 100 * v->figures[CUTIS_HARM_DISPLACEMENT_MAX], slides);
    else
        snprintf(v->text, sizeof v->text, "%s %s%s", v->level == CUTIS_BAD ? "bad:" : "look at", v->findings[0].text,
                 more);

    /* a dropped prop is named even where the skin is worse */
    for (int i = 1; i < v->finding_count; i++) {
        const cutis_finding *f = &v->findings[i];
        size_t used = strlen(v->text);
        if (f->harm == CUTIS_HARM_DROPPED) snprintf(v->text + used, sizeof v->text - used, "; %.150s", f->text);
    }
}
