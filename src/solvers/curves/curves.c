/*
 * curves.c: solver `curves`: physically based in-betweens of example poses.
 *
 * Bian, Zheng, Chaudhry, You, Zhang 2018, section 6, after Chaudhry et al. 2015. The deformation of each
 * iso-parametric curve from one example to the next is that of a closed elastic beam (beam.h) that starts at rest
 * and arrives at the next example exactly. Examples are the character's morph targets, or else the poses of a clip
 * at even times. The skeleton's pose picks the place between them.
 *
 * Departures. (1) Rigid motion is taken out: examples are carried back to the rest pose by the inverse of
 * dual-quaternion skinning, the beams bend there, and skinning carries the result forward, so that a turning limb keeps
 * its thickness. (2) The force of equation 4 grows evenly in time instead of being constant. With a constant force a
 * wave whose period divides the duration returns to 0 at the end, and no force leads it to the example; with a growing
 * one every wave arrives, without turning back. (3) Time is warped: soft waves come late (with the cube of time) and
 * stiff ones early (with time itself); the place between examples goes mostly by the progress of a curve's girth, so
 * that volume changes evenly, and a little by the time, so that stiff waves do not jump. (4) The velocity is continuous
 * through middle examples. (5) Points on no closed curve follow their neighbours: their departure from the even motion
 * is the harmonic continuation of the curves'. (6) Where quads make no grid, closed loops of edges along level sets
 * take the place of iso-parametric curves.
 */
#include <string.h>

#include "character/skinning.h"
#include "rig/carry.h"
#include "rig/level_rings.h"
#include "solvers/curves/beam.h"
#include "solvers/curves/warp.h"
#include "solvers/solver_kit.h"

enum { LEVELS = 16, EXAMPLES_MAX = 16, SIZES_MAX = 512, SMOOTH = 30, EVEN_OUT = 6 };

enum { P_YOUNG, P_POISSON, P_DENSITY, P_THICKNESS, P_GIRTH, P_DURATION, P_CLIP, P_EXAMPLES, P_WARP, P_COUNT };

static const cutis_parameter PARAMETERS[P_COUNT] = {
    [P_YOUNG] = {PARAMETER_FLOAT("young", 420000, 1000, 1e8, "Pa"), .help = "Young's modulus of the skin"},
    [P_POISSON] = {PARAMETER_FLOAT("poisson", 0.46, 0, 0.499, ""), .help = "Poisson's ratio of the skin"},
    [P_DENSITY] = {PARAMETER_FLOAT("density", 1100, 100, 10000, "kg/m3"), .help = "density of the skin"},
    [P_THICKNESS] = {PARAMETER_FLOAT("thickness", 0.002, 0.0001, 0.1, "m"), .help = "thickness of the skin"},
    [P_GIRTH] = {PARAMETER_FLOAT("girth", 0.4, 0.01, 10, "m"), .help = "circumference that a curve stands for"},
    [P_DURATION] = {PARAMETER_FLOAT("duration", 1, 0.01, 100, "s"), .help = "time from one example to the next"},
    [P_CLIP] = {PARAMETER_INT("clip", 0, 0, 1000), .help = "number of the clip whose poses the examples belong to"},
    [P_EXAMPLES] = {PARAMETER_INT("examples", 2, 1, EXAMPLES_MAX),
                    .help = "poses of the clip to take as examples, when there are no morph targets"},
    [P_WARP] = {PARAMETER_FLOAT("warp", 1, 0, 1, ""),
                .help = "the place between examples: 0 goes by the time, 1 by the progress of the volume"},
};

typedef struct curves {
    const cutis_character *character;
    skinning base;
    int segment_count; /* examples after the rest pose */
    int feature_count; /* 9 a joint */
    float *features;   /* ((segment_count + 1) x feature_count) relative rotations of the examples' poses */
    double *lengths;   /* (segment_count) of the way between their poses */
    float *levels;     /* (segment_count x (LEVELS + 1) x point_count x 3) positions in the rest pose */
    float *warps;      /* (segment_count x (LEVELS + 1)) the place, 0 to 1, that a level stands for */
    int ring_count, ring_points;
    int point_count;
    bool seamless; /* each vertex is the point of its own number */
} curves;

static const float *warp_of(const curves *c, int segment) { return c->warps + (size_t)segment * (LEVELS + 1); }

/* ---- the pose's place ---- */

/* Rotations of each joint in its parent, as nine numbers a joint. */
static void features_make(const cutis_character *c, const float *joints, float *features)
{
    for (int j = 0; j < c->joint_count; j++) {
        const float *m = joints + 12 * j;
        mat3 own, local;
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) own.m[3 * r + k] = m[4 * r + k];
        local = own;
        if (c->joints[j].parent >= 0) {
            const float *p = joints + 12 * c->joints[j].parent;
            mat3 parent;
            for (int r = 0; r < 3; r++)
                for (int k = 0; k < 3; k++) parent.m[3 * r + k] = p[4 * r + k];
            local = mat3_multiply(mat3_transpose(parent), own);
        }
        memcpy(features + 9 * j, local.m, sizeof local.m);
    }
}

/* The nearest place of the polyline through the examples. */
static void place_find(const curves *c, const float *features, int *segment, float *along)
{
    double best = INFINITY;
    *segment = 0;
    *along = 0;
    for (int s = 0; s < c->segment_count; s++) {
        const float *a = c->features + (size_t)s * (size_t)c->feature_count, *b = a + c->feature_count;
        double dot = 0, length = 0, distance = 0;
        for (int i = 0; i < c->feature_count; i++) {
            double way = (double)b[i] - a[i];
            dot += way * ((double)features[i] - a[i]);
            length += way * way;
        }
        double t = length > 0 ? CLAMP(dot / length, 0.0, 1.0) : 0;
        for (int i = 0; i < c->feature_count; i++) {
            double d = features[i] - (a[i] + t * ((double)b[i] - a[i]));
            distance += d * d;
        }
        if (distance < best) best = distance, *segment = s, *along = (float)t;
    }
}

/* The way from one example's pose to the next; poses that do not differ are a unit apart. */
static double way_length(const curves *c, int segment)
{
    const float *a = c->features + (size_t)segment * (size_t)c->feature_count, *b = a + c->feature_count;
    double sum = 0;
    for (int i = 0; i < c->feature_count; i++) sum += ((double)b[i] - a[i]) * ((double)b[i] - a[i]);
    return sum > 1e-12 ? sqrt(sum) : 1;
}

/* The cosine of the turn that the way takes at an example. */
static double way_cosine(const curves *c, int example)
{
    const float *a = c->features + (size_t)(example - 1) * (size_t)c->feature_count;
    const float *b = a + c->feature_count, *d = b + c->feature_count;
    double sum = 0;
    for (int i = 0; i < c->feature_count; i++) sum += ((double)b[i] - a[i]) * ((double)d[i] - b[i]);
    return sum / (c->lengths[example - 1] * c->lengths[example]);
}

/* ---- build ---- */

typedef struct beam_size {
    int count;
    beam beam;
    double *kernel; /* (count) first row of the inverse response: final deformation -> force */
} beam_size;

static bool size_make(beam_size *size, int count, double stiffness, arena *memory)
{
    size->count = count;
    size->kernel = ARENA_ARRAY(memory, double, count);
    double *cosines = ARENA_ARRAY(memory, double, count), *inverse = ARENA_ARRAY(memory, double, count);
    if (memory->failed || !beam_factor(&size->beam, count, stiffness, memory)) return false;
    for (int k = 0; k < count; k++) {
        cosines[k] = det_cos(6.283185307179586 * k / count);
        inverse[k] = 1 / beam_response(&size->beam, k, LEVELS);
    }
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int k = 0; k < count; k++) sum += inverse[k] * cosines[(long)i * k % count];
        size->kernel[i] = sum / count;
    }
    return true;
}

/* The levels of one coordinate of one ring: q from 0 to `end`. q: ((LEVELS + 1) x count). work: (2 x count). */
static void ring_bend(const beam_size *size, const double *end, double *work, double *q)
{
    int n = size->count;
    double *force = work, *scaled = work + n;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += size->kernel[(i - k + n) % n] * end[k];
        force[i] = sum;
    }
    memset(q, 0, (size_t)n * sizeof *q);
    double *scratch = q + (size_t)(LEVELS + 1) * (size_t)n;
    for (int level = 0; level < LEVELS; level++) {
        double ramp = beam_ramp(level, LEVELS);
        for (int i = 0; i < n; i++) scaled[i] = ramp * force[i];
        const double *now = q + (size_t)level * (size_t)n, *before = level ? now - n : now;
        beam_step(&size->beam, before, now, scaled, scratch, q + (size_t)(level + 1) * (size_t)n);
    }
    memcpy(q + (size_t)LEVELS * (size_t)n, end, (size_t)n * sizeof *q); /* to the last bit */
}

/* The levels of one segment: deltas of all points from one example to the next (point_count x 3). */
static void segment_bend(const rings *r, const mesh *m, const beam_size *sizes, const int *size_of, const float *from,
                         const float *to, const float *even, bool zigzag, double *work, float *levels)
{
    size_t stride = 3 * (size_t)m->point_count;
    for (int level = 0; level <= LEVELS; level++)
        for (size_t i = 0; i < stride; i++) levels[(size_t)level * stride + i] = even[level] * (to[i] - from[i]);
    for (int ring = 0; ring < r->count; ring++) {
        const int *points = r->points + r->first[ring];
        const beam_size *size = &sizes[size_of[ring]];
        int n = size->count;
        double *end = work, *q = work + 3 * n;
        for (int axis = 0; axis < 3; axis++) {
            for (int i = 0; i < n; i++) end[i] = (double)to[3 * points[i] + axis] - from[3 * points[i] + axis];
            ring_bend(size, end, work + n, q);
            for (int level = 0; level <= LEVELS; level++)
                for (int i = 0; i < n; i++)
                    levels[(size_t)level * stride + 3 * (size_t)points[i] + (size_t)axis] =
                        (float)q[(size_t)level * (size_t)n + (size_t)i];
        }
    }
    /*
     * Off the curves: what the neighbours do beyond the even motion, continued harmonically. Curves along level sets
     * zigzag from edge to edge: there, what they do themselves is evened out a little afterwards.
     */
    for (int level = 1; level < LEVELS; level++) {
        float *at = levels + (size_t)level * stride;
        for (int sweep = 0; sweep < SMOOTH + (zigzag ? EVEN_OUT : 0); sweep++)
            for (int p = 0; p < m->point_count; p++) {
                int first = m->point_neighbour_first[p], last = m->point_neighbour_first[p + 1];
                bool free = r->ring_of[p] < 0;
                if (first == last || (!free && sweep < SMOOTH)) continue;
                float share = free ? 1 : 0.5f;
                for (int axis = 0; axis < 3; axis++) {
                    float sum = 0;
                    for (int e = first; e < last; e++) {
                        int q = 3 * m->point_neighbours[e] + axis;
                        sum += at[q] - even[level] * (to[q] - from[q]);
                    }
                    int own = 3 * p + axis;
                    float straight = even[level] * (to[own] - from[own]), mean = sum / (float)(last - first);
                    at[own] = straight + share * mean + (1 - share) * (at[own] - straight);
                }
            }
    }
    for (int level = 0; level <= LEVELS; level++)
        for (size_t i = 0; i < stride; i++) {
            float *value = &levels[(size_t)level * stride + i];
            *value = level == LEVELS ? to[i] : from[i] + *value;
        }
}

/* Positions of example `index` (from 1) in the rest pose, and its pose's features. */
static cutis_result example_make(const solver_build *b, int clip, int index, int count, arena *scratch, float *joints,
                                 float *example, float *features, cutis_error *error)
{
    const cutis_character *c = b->character;
    double start = c->clips[clip].start, end = c->clips[clip].end;
    cutis_pose_sample(c, clip, start + (end - start) * index / count, joints);
    features_make(c, joints, features);
    if (c->morph_count > 0) {
        for (int p = 0; p < b->mesh->point_count; p++)
            for (int k = 0; k < 3; k++)
                example[3 * p + k] =
                    b->mesh->positions[3 * p + k] + c->morphs[index - 1].deltas[3 * c->point_vertices[p] + k];
        return CUTIS_OK;
    }
    float *skin = ARENA_ARRAY(scratch, float, 12 * (size_t)c->joint_count);
    if (!skin) return error_memory(error, "curves");
    skin_matrices(c, joints, skin);
    carry_body body = {b->mesh->point_count,
                       b->mesh->positions,
                       b->weights->first,
                       b->weights->joints,
                       b->weights->weights,
                       c->joint_count,
                       c->size};
    return carry_back(&body, skin, NULL, b->jobs, scratch, example, error);
}

/* EI / (rho A) of a strip of skin, bent as a plate is, over the girth: the curve's own length is 1. */
static double stiffness_of(const double *v)
{
    double girth = v[P_GIRTH], thickness = v[P_THICKNESS];
    return v[P_YOUNG] * thickness * thickness / (12 * v[P_DENSITY] * (1 - v[P_POISSON] * v[P_POISSON])) /
           (girth * girth * girth * girth);
}

/*
 * The progress of a curve's girth and roundness, its waves of number 1. Waves of number 0 come later, higher ones
 * earlier.
 */
static void girth_make(const double *v, float *girth)
{
    enum { FINE = 256 };
    double dt = v[P_DURATION] / LEVELS;
    beam fine = {.count = FINE, .stiffness = dt * dt * stiffness_of(v) * FINE * FINE * FINE * FINE};
    double whole = beam_response(&fine, 1, LEVELS);
    for (int level = 0; level <= LEVELS; level++) girth[level] = (float)(beam_reach(&fine, 1, level, LEVELS) / whole);
}

static cutis_result beams_make(const solver_build *b, const rings *r, arena *scratch, beam_size **sizes, int *size_of,
                               int *longest, cutis_error *error)
{
    const double *v = b->values;
    double c = stiffness_of(v), dt = v[P_DURATION] / LEVELS;
    int count = 0;
    *sizes = ARENA_ARRAY(scratch, beam_size, SIZES_MAX);
    if (!*sizes) return error_memory(error, "curves");
    *longest = 5;
    for (int ring = 0; ring < r->count; ring++) {
        int n = r->first[ring + 1] - r->first[ring], at = 0;
        while (at < count && (*sizes)[at].count != n) at++;
        if (at == count) {
            double spacing = 1.0 / n;
            double stiffness = dt * dt * c / (spacing * spacing * spacing * spacing);
            if (!size_make(&(*sizes)[count++], n, stiffness, scratch)) return error_memory(error, "curves");
        }
        size_of[ring] = at;
        *longest = MAX(*longest, n);
    }
    return CUTIS_OK;
}

/*
 * A body that goes through a middle example does not stop there. In each coordinate it passes with the harmonic mean of
 * the mean velocities before and after (Fritsch and Butland 1984), 0 where it turns back, so that it never overshoots.
 * What its own mean velocity lacks is added along the segment by cubics that vanish at both ends. Where the way through
 * the poses itself turns back, there is nothing to go on with.
 */
static void velocities_join(curves *c)
{
    size_t stride = 3 * (size_t)c->point_count, segment_stride = (LEVELS + 1) * stride;
    for (int e = 1; e < c->segment_count; e++) {
        float *before = c->levels + (size_t)(e - 1) * segment_stride, *after = before + segment_stride;
        double length[2] = {c->lengths[e - 1], c->lengths[e]}, straight = CLAMP(way_cosine(c, e), 0.0, 1.0);
        for (size_t i = 0; i < stride; i++) {
            /* The ends of a segment stay as they are, so that its mean velocity is right whatever was added before. */
            double mean[2] = {((double)before[LEVELS * stride + i] - before[i]) / length[0],
                              ((double)after[LEVELS * stride + i] - after[i]) / length[1]};
            double through = mean[0] * mean[1] > 0 ? 2 * mean[0] * mean[1] / (mean[0] + mean[1]) : 0;
            for (int level = 1; level < LEVELS; level++) {
                double a = warp_of(c, e - 1)[level], b = 1 - a;
                before[(size_t)level * stride + i] += (float)(-a * a * b * length[0] * straight * (through - mean[0]));
                a = warp_of(c, e)[level], b = 1 - a;
                after[(size_t)level * stride + i] += (float)(a * b * b * length[1] * straight * (through - mean[1]));
            }
        }
    }
}

/* A frozen point does not take part in the examples: it stays with the skeleton, wholly at 1. */
static void frozen_hold(const cutis_character *character, const mesh *m, curves *c)
{
    size_t stride = 3 * (size_t)c->point_count, rows = (size_t)c->segment_count * (LEVELS + 1);
    for (int i = 0; i < character->map_count; i++) {
        if (strcmp(character->maps[i].name, "freeze") != 0) continue;
        for (size_t at = 0; at < rows * stride; at++) {
            float frozen = CLAMP(character->maps[i].values[character->point_vertices[at % stride / 3]], 0.0f, 1.0f);
            c->levels[at] += frozen * (m->positions[at % stride] - c->levels[at]);
        }
    }
}

static cutis_result examples_build(const solver_build *b, curves *c, arena *scratch, cutis_error *error)
{
    const cutis_character *character = b->character;
    const mesh *m = b->mesh;
    int n = m->point_count, clip = (int)b->values[P_CLIP], longest = 0;
    int count = character->morph_count > 0 ? character->morph_count : (int)b->values[P_EXAMPLES];
    if (clip >= character->clip_count)
        return error_set(error, CUTIS_ERROR_DATA,
                         "curves: '%s' has %d clips, none of number %d; the clip tells which poses the examples are",
                         character->name, character->clip_count, clip);
    if (count > EXAMPLES_MAX) {
        b->warn(b->warn_context, "curves: only the first 16 morph targets are taken as examples");
        count = EXAMPLES_MAX;
    }
    rings r = {0};
    beam_size *sizes = NULL;
    int *size_of = ARENA_ARRAY(scratch, int, n);
    size_t pose_count = 12 * (size_t)character->joint_count;
    float *poses[2] = {ARENA_ARRAY(scratch, float, pose_count), ARENA_ARRAY(scratch, float, pose_count)};
    float *shapes[2] = {ARENA_ARRAY(scratch, float, 3 * (size_t)n), ARENA_ARRAY(scratch, float, 3 * (size_t)n)};
    if (scratch->failed) return error_memory(error, "curves");
    quads q;
    cutis_result result = quads_build(&q, character, scratch, error);
    if (result == CUTIS_OK) result = rings_reserve(&q, m, scratch, &r, error);
    if (result != CUTIS_OK) return result;
    rings_trace(&q, m, vec3_lerp(vec3_load(character->bounds_min), vec3_load(character->bounds_max), 0.5f),
                character->size, &r);
    /* Without a grid of quads over most of the body, level sets give the curves. */
    bool zigzag = r.count == 0 || 4 * r.first[r.count] < n;
    if (zigzag) {
        result = level_rings_trace(m, character->size, scratch, &r, error);
        if (result != CUTIS_OK) return result;
    }
    result = beams_make(b, &r, scratch, &sizes, size_of, &longest, error);
    if (result != CUTIS_OK) return result;
    if (r.count == 0) b->warn(b->warn_context, "curves: no closed curve was found; shapes are blended evenly");
    c->ring_count = r.count;
    c->ring_points = r.count ? r.first[r.count] : 0;

    float girth[LEVELS + 1];
    girth_make(b->values, girth);
    size_t stride = 3 * (size_t)n, work_count = (size_t)longest * (LEVELS + 8);
    c->feature_count = 9 * character->joint_count;
    c->features = ARENA_ARRAY(b->memory, float, (size_t)(count + 1) * (size_t)c->feature_count);
    c->lengths = ARENA_ARRAY(b->memory, double, count);
    c->warps = ARENA_ARRAY(b->memory, float, (size_t)count *(LEVELS + 1));
    c->levels = ARENA_ARRAY(b->memory, float, (size_t)count *(LEVELS + 1) * stride);
    double *work = ARENA_ARRAY(scratch, double, work_count);
    if (scratch->failed || b->memory->failed) return error_memory(error, "curves");
    warp_work warp;
    result = warp_prepare(b, scratch, &warp, error);
    if (result != CUTIS_OK) return result;
    cutis_pose_rest(character, poses[0]);
    features_make(character, poses[0], c->features);
    memcpy(shapes[0], m->positions, stride * sizeof(float));
    for (int e = 1; e <= count; e++) {
        float *from = shapes[(e - 1) % 2], *to = shapes[e % 2];
        arena local = arena_create(&b->allocator);
        result = example_make(b, clip, e, count, &local, poses[e % 2], to,
                              c->features + (size_t)e * (size_t)c->feature_count, error);
        arena_destroy(&local);
        if (result != CUTIS_OK) return result;
        c->lengths[e - 1] = way_length(c, e - 1);
        segment_bend(&r, m, sizes, size_of, from, to, girth, zigzag, work,
                     c->levels + (size_t)(e - 1) * (LEVELS + 1) * stride);
        warp_find(&warp, c->levels + (size_t)(e - 1) * (LEVELS + 1) * stride, LEVELS + 1, poses[(e - 1) % 2],
                  poses[e % 2], girth, b->values[P_WARP], c->warps + (size_t)(e - 1) * (LEVELS + 1));
    }
    c->segment_count = count;
    velocities_join(c);
    frozen_hold(character, m, c);
    return CUTIS_OK;
}

static cutis_result curves_build(const solver_build *b, void **data, cutis_error *error)
{
    const cutis_character *character = b->character;
    curves *c = ARENA_ARRAY(b->memory, curves, 1);
    if (!c) return error_memory(error, "curves");
    if (character->joint_count == 0)
        return error_set(error, CUTIS_ERROR_DATA, "curves: '%s' has no skeleton; 'cutis rig' makes one",
                         character->name);
    *data = c;
    c->character = character;
    c->point_count = b->mesh->point_count;
    c->seamless = character->vertex_count == character->point_count;
    for (int v = 0; v < character->vertex_count; v++) c->seamless = c->seamless && character->vertex_points[v] == v;
    cutis_result result = skinning_build(&c->base, character->vertex_count, character->positions,
                                         character->influence_first, character->influence_joints,
                                         character->influence_weights, character->joint_count, b->memory, error);
    if (result != CUTIS_OK) return result;
    arena scratch = arena_create(&b->allocator);
    result = examples_build(b, c, &scratch, error);
    arena_destroy(&scratch);
    return result;
}

static long curves_element_count(const void *data) { return ((const curves *)data)->ring_count; }

static size_t curves_state_size(const void *data)
{
    (void)data;
    return 0;
}

static size_t curves_scratch_size(const void *data)
{
    const curves *c = data;
    return (skinning_scratch_count(&c->base) + 3 * (size_t)c->base.count + (size_t)c->feature_count) * sizeof(float);
}

/* A sum of four levels. */
typedef struct blend_job {
    const curves *c;
    const float *levels[4];
    float shares[4];
    float *shape;
} blend_job;

static void blend_block(void *context, int begin, int end)
{
    const blend_job *job = context;
    const float *a = job->levels[0], *b = job->levels[1], *c = job->levels[2], *d = job->levels[3];
    const float *w = job->shares;
    const int *points = job->c->character->vertex_points;
    float *shape = job->shape, wa = w[0], wb = w[1], wc = w[2], wd = w[3];
    if (job->c->seamless) {
        for (int i = 3 * begin; i < 3 * end; i++) shape[i] = (wb * b[i] + wc * c[i]) + (wa * a[i] + wd * d[i]);
        return;
    }
    for (int v = begin; v < end; v++)
        for (int k = 0; k < 3; k++) {
            size_t i = 3 * (size_t)points[v] + (size_t)k;
            shape[3 * (size_t)v + (size_t)k] = (wb * b[i] + wc * c[i]) + (wa * a[i] + wd * d[i]);
        }
}

/* Where level `level` of a segment lies on the way through all examples, from the segment's start; -1 and LEVELS + 1
 * are levels of its neighbours. */
static double level_place(const curves *c, int segment, int level)
{
    if (level < 0) return -c->lengths[segment - 1] * (1 - (double)warp_of(c, segment - 1)[LEVELS - 1]);
    if (level > LEVELS) return c->lengths[segment] + c->lengths[segment + 1] * (double)warp_of(c, segment + 1)[1];
    return c->lengths[segment] * (double)warp_of(c, segment)[level];
}

static const float *level_shape(const curves *c, int segment, int level)
{
    size_t stride = 3 * (size_t)c->point_count;
    if (level < 0) segment--, level = LEVELS - 1;
    if (level > LEVELS) segment++, level = 1;
    return c->levels + ((size_t)segment * (LEVELS + 1) + (size_t)level) * stride;
}

/* The cubic between two levels whose slopes at both are those of parabolas through three levels each. */
static void shares_find(const curves *c, int segment, float along, blend_job *job)
{
    int level = 0;
    while (level < LEVELS - 1 && warp_of(c, segment)[level + 1] <= along) level++;
    bool first = segment == 0 && level == 0, last = segment == c->segment_count - 1 && level == LEVELS - 1;
    double x1 = level_place(c, segment, level), x2 = level_place(c, segment, level + 1), h = x2 - x1;
    double t = h > 0 ? CLAMP((along * c->lengths[segment] - x1) / h, 0.0, 1.0) : 0;
    if (along >= 1) t = 1;
    double in = t * (1 - t) * (1 - t), out = -t * t * (1 - t), end = t * t * (3 - 2 * t);
    double shares[4] = {0, 1 - end, end, 0};
    /* Slopes times h, as sums of the differences between neighbours; at the very ends, of one difference. */
    double before = 0, at_first = 1, at_last = 1, after = 0;
    if (!first) {
        double h0 = x1 - level_place(c, segment, level - 1);
        before = h * h / (h0 * (h0 + h)), at_first = h0 / (h0 + h);
    }
    if (!last) {
        double h2 = level_place(c, segment, level + 2) - x2;
        at_last = h2 / (h + h2), after = h * h / (h2 * (h + h2));
    }
    shares[0] -= in * before;
    shares[1] += in * (before - at_first) - out * at_last;
    shares[2] += in * at_first + out * (at_last - after);
    shares[3] += out * after;
    for (int k = 0; k < 4; k++) {
        bool missing = (k == 0 && first) || (k == 3 && last);
        job->levels[k] = level_shape(c, segment, missing ? level : level - 1 + k);
        job->shares[k] = (float)shares[k];
    }
}

static void curves_evaluate(const curves *c, float *scratch, const solver_input *input, float *vertices)
{
    float *features = scratch, *shape = features + c->feature_count, *work = shape + 3 * (size_t)c->base.count;
    blend_job job = {.c = c, .shape = shape};
    int segment;
    float along;
    features_make(c->character, input->joints, features);
    place_find(c, features, &segment, &along);
    shares_find(c, segment, along, &job);
    parallel_for(input->jobs, c->base.count, 4096, blend_block, &job);
    skinning base = c->base;
    base.rest = shape;
    skinning_dual(&base, input->skin, work, input->jobs, vertices);
}

static void curves_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    (void)state;
    curves_evaluate(data, scratch, input, points);
}

static void curves_step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                        cutis_step_stats *stats)
{
    (void)state, (void)stats;
    curves_evaluate(data, scratch, input, points);
}

extern const solver solver_curves;
const solver solver_curves = {
    .info = {.name = "curves",
             .summary = "in-betweens of example poses from elastic curves around limbs",
             .paper = "Bian, Zheng, Chaudhry, You, Zhang 2018, Automatic generation of dynamic skin deformation for "
                      "animated characters",
             .element = "curves",
             .parameters = PARAMETERS,
             .parameter_count = P_COUNT,
             .flags = CUTIS_SOLVER_GEOMETRIC},
    .build = curves_build,
    .element_count = curves_element_count,
    .state_size = curves_state_size,
    .scratch_size = curves_scratch_size,
    .reset = curves_reset,
    .step = curves_step,
};
