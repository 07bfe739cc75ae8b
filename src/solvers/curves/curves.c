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

#include "solvers/curves/curves.h"

static const cutis_parameter curves_parameters[CURVES_PARAMETER_COUNT] = {
    [CURVES_SKIN_YOUNG] = {PARAMETER_FLOAT("skin_young", 420, 1, 1e5, "kPa"), .former = "young",
                           .help = "Young's modulus of the skin"},
    [CURVES_POISSON] = {PARAMETER_FLOAT("poisson", 0.46, 0, 0.499, ""), .help = "Poisson's ratio of the skin"},
    [CURVES_SKIN_DENSITY] = {PARAMETER_FLOAT("skin_density", 1100, 100, 10000, "kg/m3"), .former = "density",
                             .help = "density of the skin"},
    [CURVES_SKIN_THICKNESS] = {PARAMETER_FLOAT("skin_thickness", 0.002, 0.0001, 0.1, "m"), .former = "thickness",
                               .help = "thickness of the skin"},
    [CURVES_GIRTH] = {PARAMETER_FLOAT("girth", 0.4, 0.01, 10, "m"), .help = "circumference that a curve represents"},
    [CURVES_DURATION] = {PARAMETER_FLOAT("duration", 1, 0.01, 100, "s"), .help = "time from one example to the next"},
    [CURVES_CLIP] = {PARAMETER_INT("clip", 0, 0, 1000),
                     .help = "index of the clip that holds the poses of the examples"},
    [CURVES_EXAMPLES] = {PARAMETER_INT("examples", 2, 1, EXAMPLES_MAX),
                         .help = "number of clip poses used as examples when there are no morph targets"},
    [CURVES_WARP] = {PARAMETER_FLOAT("warp", 1, 0, 1, ""),
                     .help = "timing between examples: 0 uniform in time, 1 by the progress of volume"},
};

/* ---- the pose's place ---- */

/* The nearest place of the polyline through the examples. */
static void place_find(const curves *c, const float *features, int *segment, float *along)
{
    double best = INFINITY;
    *segment = 0;
    *along = 0;
    for (int s = 0; s < c->segment_count; s++) {
        /* the foot of the perpendicular */
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

        /* the nearest so far */
        if (!(distance < best)) continue;
        best = distance;
        *segment = s;
        *along = (float)t;
    }
}

/* ---- the shape there ---- */

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

    /* one point for each vertex, in order: the fastest way */
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
    if (level < 0) {
        segment--;
        level = LEVELS - 1;
    } else if (level > LEVELS) {
        segment++;
        level = 1;
    }
    return c->levels + ((size_t)segment * (LEVELS + 1) + (size_t)level) * stride;
}

/* The cubic between two levels whose slopes at both are those of parabolas through three levels each. */
static void shares_find(const curves *c, int segment, float along, blend_job *job)
{
    /* the level before, and how far on the way to the next */
    int level = 0;
    while (level < LEVELS - 1 && warp_of(c, segment)[level + 1] <= along) level++;
    bool first = segment == 0 && level == 0, last = segment == c->segment_count - 1 && level == LEVELS - 1;
    double x1 = level_place(c, segment, level), x2 = level_place(c, segment, level + 1), h = x2 - x1;
    double t = h > 0 ? CLAMP((along * c->lengths[segment] - x1) / h, 0.0, 1.0) : 0;

    if (along >= 1) t = 1;

    /* the cubic's parts: start slope, end slope and end value */
    double in = t * (1 - t) * (1 - t), out = -t * t * (1 - t), end = t * t * (3 - 2 * t);
    double shares[4] = {0, 1 - end, end, 0};

    /* Slopes times h, as sums of the differences between neighbours; at the very ends, of one difference. */
    double before = 0, at_first = 1, at_last = 1, after = 0;
    if (!first) {
        double h0 = x1 - level_place(c, segment, level - 1);
        before = h * h / (h0 * (h0 + h));
        at_first = h0 / (h0 + h);
    }

    if (!last) {
        double h2 = level_place(c, segment, level + 2) - x2;
        at_last = h2 / (h + h2);
        after = h * h / (h2 * (h + h2));
    }

    /* four neighbouring levels and their shares */
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
    curves_features(c->character, input->joints, features);
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
    (void)state;
    (void)stats;
    curves_evaluate(data, scratch, input, points);
}

/* ---- the table ---- */

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

extern const solver solver_curves;
const solver solver_curves = {
    .info = {.name = "curves",
             .summary = "in-betweens of example poses from elastic curves around limbs",
             .paper = "Bian, Zheng, Chaudhry, You, Zhang 2018, Automatic generation of dynamic skin deformation for "
                      "animated characters",
             .element = "curves",
             .parameters = curves_parameters,
             .parameter_count = CURVES_PARAMETER_COUNT,
             .flags = CUTIS_SOLVER_GEOMETRIC},
    .build = curves_build,
    .element_count = curves_element_count,
    .state_size = curves_state_size,
    .scratch_size = curves_scratch_size,
    .reset = curves_reset,
    .step = curves_step,
};
