/*
 * curves_build.c: the examples of the solver `curves`, and the in-betweens that elastic beams make of them.
 *
 * Bian, Zheng, Chaudhry, You, Zhang 2018, section 6; the departures are told in curves.c.
 */
#include <string.h>

#include "character/carry.h"
#include "limbs/level_rings.h"
#include "solvers/curves/beam.h"
#include "solvers/curves/curves.h"
#include "solvers/curves/warp.h"

/* Different lengths of curves; sweeps off the curves, and over curves that zigzag. */
enum { SIZES_MAX = 512, SMOOTH = 30, EVEN_OUT = 6 };

/* ---- the way through the poses ---- */

/* Rotations of each joint in its parent, as nine numbers a joint. */
void curves_features(const cutis_character *c, const float *joints, float *features)
{
    for (int j = 0; j < c->joint_count; j++) {
        const float *m = joints + 12 * j;

        mat3 own, local;
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) own.m[3 * r + k] = m[4 * r + k];
        local = own;

        /* in the parent's frame, where there is one */
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

/* ---- beams ---- */

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

    /* by the discrete Fourier transform: a kernel of the inverse response */
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
    /* the force that holds the end shape */
    int n = size->count;
    double *force = work, *scaled = work + n;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += size->kernel[(i - k + n) % n] * end[k];
        force[i] = sum;
    }

    /* let it grow from 0 to full */
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
    /* as if everything moved evenly */
    size_t stride = 3 * (size_t)m->point_count;
    for (int level = 0; level <= LEVELS; level++)
        for (size_t i = 0; i < stride; i++) levels[(size_t)level * stride + i] = even[level] * (to[i] - from[i]);

    /* curves bend as beams do, a coordinate at a time */
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

    /* from deltas to positions */
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
    curves_features(c, joints, features);

    /* its shape is a morph target, or what linear skinning makes of the pose */
    if (c->morph_count > 0) {
        for (int p = 0; p < b->mesh->point_count; p++)
            for (int k = 0; k < 3; k++)
                example[3 * p + k] =
                    b->mesh->positions[3 * p + k] + c->morphs[index - 1].deltas[3 * c->point_vertices[p] + k];
        return CUTIS_OK;
    }

    /* brought back to the rest pose */
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
    double girth = v[CURVES_GIRTH], thickness = v[CURVES_SKIN_THICKNESS];
    return 1000 * v[CURVES_SKIN_YOUNG] * thickness * thickness /
           (12 * v[CURVES_SKIN_DENSITY] * (1 - v[CURVES_POISSON] * v[CURVES_POISSON])) /
           (girth * girth * girth * girth);
}

/*
 * The progress of a curve's girth and roundness, its waves of number 1. Waves of number 0 come later, higher ones
 * earlier.
 */
static void girth_make(const double *v, float *girth)
{
    enum { FINE = 256 };
    double dt = v[CURVES_DURATION] / LEVELS;
    beam fine = {.count = FINE, .stiffness = dt * dt * stiffness_of(v) * FINE * FINE * FINE * FINE};
    double whole = beam_response(&fine, 1, LEVELS);
    for (int level = 0; level <= LEVELS; level++) girth[level] = (float)(beam_reach(&fine, 1, level, LEVELS) / whole);
}

static cutis_result beams_make(const solver_build *b, const rings *r, arena *scratch, beam_size **sizes, int *size_of,
                               int *longest, cutis_error *error)
{
    const double *v = b->values;
    double c = stiffness_of(v), dt = v[CURVES_DURATION] / LEVELS;
    int count = 0;
    *sizes = ARENA_ARRAY(scratch, beam_size, SIZES_MAX);
    if (!*sizes) return error_memory(error, "curves");
    *longest = 5;

    /* curves of one size share their factors */
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

            /* what the mean velocity lacks, on both sides of the example */
            for (int level = 1; level < LEVELS; level++) {
                double a = warp_of(c, e - 1)[level], b = 1 - a;
                before[(size_t)level * stride + i] += (float)(-a * a * b * length[0] * straight * (through - mean[0]));
                a = warp_of(c, e)[level];
                b = 1 - a;
                after[(size_t)level * stride + i] += (float)(a * b * b * length[1] * straight * (through - mean[1]));
            }
        }
    }
}

/* A frozen point does not take part in the examples: it stays with the skeleton, wholly at 1. */
static void frozen_hold(const cutis_character *character, const mesh *m, curves *c)
{
    const float *map = kit_map_find(character, "freeze");
    size_t stride = 3 * (size_t)c->point_count;
    size_t rows = (size_t)c->segment_count * (LEVELS + 1);
    for (size_t at = 0; at < rows * stride && map; at++) {
        float frozen = kit_map_at(character, map, (int)(at % stride / 3), 0);
        c->levels[at] += frozen * (m->positions[at % stride] - c->levels[at]);
    }
}

/* The curves of the body: of its quads, or, where these make no grid over most of it, of level sets (*zigzag). */
static cutis_result rings_find(const solver_build *b, arena *scratch, rings *r, bool *zigzag, cutis_error *error)
{
    const cutis_character *character = b->character;
    quads q;
    cutis_result result = quads_build(&q, character, scratch, error);
    if (result == CUTIS_OK) result = rings_reserve(&q, b->mesh, scratch, r, error);
    if (result != CUTIS_OK) return result;
    vec3 middle = vec3_lerp(vec3_load(character->bounds_min), vec3_load(character->bounds_max), 0.5f);
    rings_trace(&q, b->mesh, middle, character->size, r);
    *zigzag = r->count == 0 || 4 * r->first[r->count] < b->mesh->point_count;
    return *zigzag ? level_rings_trace(b->mesh, character->size, scratch, r, error) : CUTIS_OK;
}

/* How many examples there are, and the clip whose poses they have. */
static cutis_result examples_count(const solver_build *b, int *clip, int *count, cutis_error *error)
{
    const cutis_character *character = b->character;
    *clip = (int)b->values[CURVES_CLIP];
    *count = character->morph_count > 0 ? character->morph_count : (int)b->values[CURVES_EXAMPLES];

    if (*clip >= character->clip_count)
        return error_set(error, CUTIS_ERROR_DATA,
                         "curves: '%s' has %d clips and no clip %d, which contains the poses of the examples",
                         character->name, character->clip_count, *clip);

    if (*count > EXAMPLES_MAX) {
        kit_warn(b, "curves: only the first %d morph targets are used as examples", EXAMPLES_MAX);
        *count = EXAMPLES_MAX;
    }
    return CUTIS_OK;
}

static cutis_result examples_build(const solver_build *b, curves *c, arena *scratch, cutis_error *error)
{
    const cutis_character *character = b->character;
    const mesh *m = b->mesh;
    int n = m->point_count;
    size_t stride = 3 * (size_t)n;
    int clip, count, longest = 0;
    cutis_result result = examples_count(b, &clip, &count, error);
    if (result != CUTIS_OK) return result;

    /* curves and their beams */
    rings r = {0};
    bool zigzag;
    beam_size *sizes = NULL;
    int *size_of = ARENA_ARRAY(scratch, int, n);

    if (scratch->failed) return error_memory(error, "curves");
    result = rings_find(b, scratch, &r, &zigzag, error);
    if (result == CUTIS_OK) result = beams_make(b, &r, scratch, &sizes, size_of, &longest, error);
    if (result != CUTIS_OK) return result;

    if (r.count == 0) kit_warn(b, "curves: no closed curve was found; shapes are blended linearly");

    c->ring_count = r.count;
    c->ring_points = r.count ? r.first[r.count] : 0;

    size_t pose_count = 12 * (size_t)character->joint_count;
    float *poses[2] = {ARENA_ARRAY(scratch, float, pose_count), ARENA_ARRAY(scratch, float, pose_count)};
    float *shapes[2] = {ARENA_ARRAY(scratch, float, stride), ARENA_ARRAY(scratch, float, stride)};
    double *work = ARENA_ARRAY(scratch, double, (size_t)longest *(LEVELS + 8));

    c->feature_count = 9 * character->joint_count;
    c->features = ARENA_ARRAY(b->memory, float, (size_t)(count + 1) * (size_t)c->feature_count);
    c->lengths = ARENA_ARRAY(b->memory, double, count);
    c->warps = ARENA_ARRAY(b->memory, float, (size_t)count *(LEVELS + 1));
    c->levels = ARENA_ARRAY(b->memory, float, (size_t)count *(LEVELS + 1) * stride);
    if (scratch->failed || b->memory->failed) return error_memory(error, "curves");

    /* from the rest pose to the first example, and so on to the last */
    float girth[LEVELS + 1];
    warp_work warp;
    girth_make(b->values, girth);
    result = warp_prepare(b, scratch, &warp, error);
    if (result != CUTIS_OK) return result;

    cutis_pose_rest(character, poses[0]);
    curves_features(character, poses[0], c->features);
    memcpy(shapes[0], m->positions, stride * sizeof(float));

    for (int e = 1; e <= count; e++) {
        float *from = shapes[(e - 1) % 2];
        float *to = shapes[e % 2];
        float *levels = c->levels + (size_t)(e - 1) * (LEVELS + 1) * stride;

        arena local = arena_create(&b->allocator);
        result = example_make(b, clip, e, count, &local, poses[e % 2], to,
                              c->features + (size_t)e * (size_t)c->feature_count, error);
        arena_destroy(&local);
        if (result != CUTIS_OK) return result;

        c->lengths[e - 1] = way_length(c, e - 1);
        segment_bend(&r, m, sizes, size_of, from, to, girth, zigzag, work, levels);
        warp_find(&warp, levels, LEVELS + 1, poses[(e - 1) % 2], poses[e % 2], girth, b->values[CURVES_WARP],
                  c->warps + (size_t)(e - 1) * (LEVELS + 1));
    }

    /* smooth through the examples */
    c->segment_count = count;
    velocities_join(c);
    frozen_hold(character, m, c);
    return CUTIS_OK;
}

cutis_result curves_build(const solver_build *b, void **data, cutis_error *error)
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

    /* the skinning that shapes are carried by */
    cutis_result result = skinning_build(&c->base, character->vertex_count, character->positions,
                                         character->influence_first, character->influence_joints,
                                         character->influence_weights, character->joint_count, b->memory, error);
    if (result != CUTIS_OK) return result;

    /* the shapes between the examples */
    arena scratch = arena_create(&b->allocator);
    result = examples_build(b, c, &scratch, error);
    arena_destroy(&scratch);
    return result;
}
