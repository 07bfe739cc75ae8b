/*
 * springs_dffd.c: a reference shape by Dirichlet free-form deformation.
 *
 * Moccozet and Magnenat-Thalmann 1997, "Dirichlet free-form deformations and their application to hand simulation", the
 * source of the hand's shape in Cordier and Magnenat-Thalmann. Control points around the skin are attached to the
 * skeleton; every point of the skin has natural-neighbour coordinates in them (springs_sibson.c) and moves by the
 * displacements of the control points, weighted by its coordinates. Since that interpolates smoothly between few
 * control points, palm and undersides of fingers wrinkle softly.
 *
 * Departures:
 * - Nobody places the control points: rings of them are laid around each bone, with one on its line, and around each
 *   joint, a little outside of the skin. How many and how far is set for each bone.
 * - A ring around a joint turns by half with either bone (dual quaternions). On the inside of a bend it draws in, which
 *   makes the crease, and the rings beside it stay on their sides of the fold (springs_bones.c).
 * - There is one diagram for each joint, of the control points of its bones and of those next to it in the skeleton, so
 *   that a finger does not hang on the control points of its neighbour; a point mixes those of its joints by its
 *   weights. Each is a partition of unity that gives back the point, so their mix is too.
 * - Eight far control points around each diagram, which move with the joint, make sure that no point is outside.
 */
#include <string.h>

#include "solvers/solver_kit.h"
#include "solvers/springs/springs_shapes.h"

enum {
    RING_POINTS = 8,
    RING_LIMIT = 8,    /* rings along one bone */
    ENTRY_LIMIT = 64,  /* control points of one point */
    BUILD_GRAIN = 256, /* points a block, at build time */
    GRAIN = 1024       /* the same in a step */
};

static const float usual_radius = 1.25f;    /* of a ring, in radii of the section */
static const float fold_trespass = 0.25f;   /* of control points, in radii: how far they are outside of the skin */
static const float least_share = 1e-5f;     /* coordinates below it are left out */
static const float least_weight = 0.02f;    /* joints of a point with less weight are left out, smoothly */
static const float same_place = 1e-4f;      /* control points nearer than this, over the size, are one */
static const float enclosure_margin = 1.5f; /* of the far control points, in widths of what they enclose */

typedef struct control {
    vec3 rest;
    int joints[2]; /* that move it; the second -1: the first alone */
    float turn;    /* 0..1: the second one's weight */
    int hinge;     /* whose ring it is of, or -1 */
    bool far;      /* of an enclosure */
} control;

struct springs_dffd {
    int count, point_count; /* of control points; of skin points that are served */
    float *controls;        /* (count x 3) rest */
    int *hinge_of;          /* (count) the hinge whose ring it is of, or -1 */
    skinning skin;          /* of the control points */
    springs_hinges hinges;
    int *side_first; /* (count + 1) */
    springs_side *sides;
    int *point_side_first; /* (point_count + 1) */
    springs_side *point_sides;
    int *points;      /* (point_count) */
    float *rest;      /* (point_count x 3) */
    int *entry_first; /* (point_count + 1) */
    int *entries;     /* control points */
    float *shares;    /* of each entry */
};

/* ---- control points ---- */

typedef struct dffd_builder {
    const solver_build *build;
    const springs_bones *bones;
    springs_dffd *dffd;
    arena *temporary;
    float *areas;
    control *controls;
    int count, capacity;
    springs_reference_parameters parameters;
} dffd_builder;

static double bone_value(const dffd_builder *b, int joint, int parameter, double usual)
{
    return parameter < 0 ? usual : kit_bone_value(b->build, joint, parameter);
}

/* like: what moves it; its place is `rest`. */
static void control_add(dffd_builder *b, vec3 rest, control like)
{
    float least = same_place * b->bones->size;
    for (int i = 0; i < b->count; i++)
        if (vec3_length2(vec3_sub(b->controls[i].rest, rest)) < least * least) return;
    like.rest = rest;
    if (b->count < b->capacity) b->controls[b->count++] = like;
}

static void ring_add(dffd_builder *b, const springs_section *s, float factor, control like)
{
    for (int k = 0; k < RING_POINTS; k++) {
        double angle = 2 * 3.14159265358979323846 * (k + 0.5) / RING_POINTS;
        float x = factor * s->radii[0] * (float)det_cos(angle), y = factor * s->radii[1] * (float)det_sin(angle);
        control_add(b, vec3_madd(vec3_madd(s->centre, s->axes[0], x), s->axes[1], y), like);
    }
    like.hinge = -1;
    control_add(b, s->centre, like);
}

/* How far the points of a bone reach along it, from its start: before 0 and beyond its length. */
static void bone_extent(const dffd_builder *b, int index, float *low, float *high)
{
    const springs_bone *bone = &b->bones->bones[index];
    const point_weights *weights = b->build->weights;

    vec3 along = vec3_normalize(vec3_sub(bone->b, bone->a));
    *low = 0;
    *high = vec3_distance(bone->a, bone->b);

    for (int p = 0; p < b->build->mesh->point_count; p++) {
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            if (b->bones->point_bones[i] != index || weights->weights[i] < 0.5f) continue;
            float t = vec3_dot(vec3_sub(vec3_load(b->build->mesh->positions + 3 * p), bone->a), along);
            *low = MIN(*low, t);
            *high = MAX(*high, t);
        }
    }
}

static int hinge_find(const springs_hinges *hinges, int bone)
{
    for (int h = 0; h < hinges->count; h++)
        if (hinges->hinges[h].bone == bone) return h;
    return -1;
}

/* The hinge at the start of a joint's bones, or -1. */
static int hinge_before(const springs_hinges *hinges, int joint)
{
    for (int h = 0; h < hinges->count; h++)
        if (hinges->hinges[h].child == joint) return h;
    return -1;
}

/* Whether a bone is long enough for a ring at its end to be around a limb. */
static bool bone_is_limb(const springs_bone *bone) { return vec3_distance(bone->a, bone->b) > 1.8f * bone->radius; }

/* Whether such a bone ends where the joint's bones begin. */
static bool joint_is_led_to(const springs_bones *bones, int joint)
{
    int above = bones->above[joint];
    for (int b = above >= 0 ? bones->first[above] : 0; above >= 0 && b < bones->first[above + 1]; b++)
        if (bones->bones[b].child == joint && bone_is_limb(&bones->bones[b])) return true;
    return false;
}

static void bone_controls(dffd_builder *b, int index)
{
    const springs_bone *bone = &b->bones->bones[index];
    const springs_hinges *hinges = &b->dffd->hinges;
    int before = hinge_before(hinges, bone->joint), after = hinge_find(hinges, index);
    int above = b->bones->above[bone->joint];

    /* how many rings, how wide */
    float length = vec3_distance(bone->a, bone->b);
    float factor = (float)bone_value(b, bone->joint, b->parameters.control_radius, (double)usual_radius);
    int rings = (int)bone_value(b, bone->joint, b->parameters.control_rings, 0);
    if (rings <= 0) rings = CLAMP((int)(length / (1.6f * bone->radius) + 0.5f), 1, 4);
    rings = MIN(rings, RING_LIMIT);

    /* Rings that only this bone moves, then one at its end and one at its start, and one beside each. */
    float places[RING_LIMIT + 4], beside = MIN(0.6f * bone->radius, 0.2f * length);
    springs_section sections[RING_LIMIT + 4];
    for (int k = 0; k < rings; k++) places[k] = ((float)k + 0.5f) * length / (float)rings;
    if (rings > 1) {
        /* Out of the way of those beside the ends. */
        for (int k = 0; k < rings; k++) places[k] = 2 * beside + (length - 4 * beside) * (float)k / (float)(rings - 1);
    }

    places[rings] = length;
    places[rings + 1] = 0;
    places[rings + 2] = length - beside;
    places[rings + 3] = beside;

    springs_bone_sections(b->build, b->bones, index, b->areas, places, rings + 4,
                          MAX(0.7f * length / (float)rings, 0.7f * bone->radius), sections);

    const springs_section *end = &sections[rings], *start = &sections[rings + 1];
    const control own = {.joints = {bone->joint, -1}, .hinge = -1};
    for (int k = 0; k < rings; k++) ring_add(b, &sections[k], factor, own);

    /* A bend: quarter, half and three quarters of the turn. */
    if (bone->child >= 0 && bone_is_limb(bone)) {
        control like = {.joints = {bone->joint, bone->child}, .turn = 0.5f, .hinge = after};
        ring_add(b, end, factor, like);
        like.turn = 0.15f;
        like.hinge = -1;
        if (after >= 0) ring_add(b, &sections[rings + 2], factor, like);
    }

    if (before >= 0) {
        control like = {.joints = {bone->joint, above}, .turn = 0.15f, .hinge = -1};
        ring_add(b, &sections[rings + 3], factor, like);
    }

    /* the end of a chain is closed by a ring and a tip */
    float low, high;
    bone_extent(b, index, &low, &high);
    if (bone->child < 0) {
        ring_add(b, end, factor, own);
        control_add(b, vec3_madd(bone->a, end->along, high + 0.3f * bone->radius), own);
    }

    /* Where the body does not bend like a limb, the bone begins with a ring that turns by half. */
    if (above >= 0 && !joint_is_led_to(b->bones, bone->joint)) {
        control like = {.joints = {bone->joint, above}, .turn = 0.5f, .hinge = -1};
        ring_add(b, start, factor, like);
    }

    /* so is its beginning */
    if (above < 0) {
        ring_add(b, start, factor, own);
        control_add(b, vec3_madd(bone->a, start->along, low - 0.3f * bone->radius), own);
    }
}

/* ---- diagrams ---- */

/* The control points of one joint's diagram. */
typedef struct diagram {
    int count;
    int *controls;
    float *sites;          /* (count x 3) */
    int enclosure;         /* first of its eight far control points; they are its last */
    float low[3], high[3]; /* of the enclosure */
} diagram;

static bool control_near(const springs_bones *bones, const control *c, int joint)
{
    for (int k = 0; k < 2; k++)
        if (c->joints[k] >= 0 && springs_joints_near(bones, joint, c->joints[k])) return true;
    return false;
}

static void box_grow(float low[3], float high[3], const float *p)
{
    for (int a = 0; a < 3; a++) {
        low[a] = MIN(low[a], p[a]);
        high[a] = MAX(high[a], p[a]);
    }
}

static cutis_result diagram_build(dffd_builder *b, int joint, int near_count, diagram *d, cutis_error *error)
{
    d->controls = ARENA_ARRAY(b->temporary, int, near_count + 8);
    d->sites = ARENA_ARRAY(b->temporary, float, 3 * ((size_t)near_count + 8));
    if (!d->controls || !d->sites) return error_memory(error, "control points");
    for (int a = 0; a < 3; a++) {
        d->low[a] = INFINITY;
        d->high[a] = -INFINITY;
    }

    /* the control points near the joint */
    for (int i = 0; i < b->count; i++) {
        const control *c = &b->controls[i];
        if (c->far || !control_near(b->bones, c, joint)) continue;
        vec3_store(d->sites + 3 * d->count, c->rest);
        box_grow(d->low, d->high, d->sites + 3 * d->count);
        d->controls[d->count++] = i;
    }

    /* a box around them and the points that it moves, with a margin */
    const point_weights *weights = b->build->weights;
    for (int p = 0; p < b->build->mesh->point_count; p++)
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++)
            if (weights->joints[i] == joint) box_grow(d->low, d->high, b->build->mesh->positions + 3 * p);

    float widest = 0;
    for (int a = 0; a < 3; a++) widest = MAX(widest, d->high[a] - d->low[a]);
    for (int a = 0; a < 3; a++) {
        d->low[a] -= enclosure_margin * widest;
        d->high[a] += enclosure_margin * widest;
    }

    /* its corners are control points too, so that every point lies inside */
    d->enclosure = b->count;
    for (int k = 0; k < 8; k++) {
        vec3 x = {k & 1 ? d->high[0] : d->low[0], k & 2 ? d->high[1] : d->low[1], k & 4 ? d->high[2] : d->low[2]};
        vec3_store(d->sites + 3 * d->count, x);
        d->controls[d->count++] = b->count;
        b->controls[b->count++] = (control){.rest = x, .joints = {joint, -1}, .hinge = -1, .far = true};
    }

    return CUTIS_OK;
}

/* ---- coordinates of the points ---- */

typedef struct coordinate_job {
    const dffd_builder *b;
    const diagram *diagrams;
    sibson_work **works; /* one a block */
    double *shares;      /* (block x site limit) */
    int site_limit;
    int *counts;      /* (point_count) */
    int *entries;     /* (point_count x ENTRY_LIMIT) */
    double *weighted; /* the same shape */
} coordinate_job;

static void entry_add(coordinate_job *job, int point, int index, double share)
{
    int *entries = job->entries + (size_t)point * ENTRY_LIMIT, *count = &job->counts[point];
    double *weighted = job->weighted + (size_t)point * ENTRY_LIMIT;
    for (int i = 0; i < *count; i++) {
        if (entries[i] != index) continue;
        weighted[i] += share;
        return;
    }
    if (*count == ENTRY_LIMIT) return; /* shares_correct makes up for it */
    entries[*count] = index;
    weighted[(*count)++] = share;
}

static void coordinates_block(void *context, int begin, int end)
{
    coordinate_job *job = context;
    const dffd_builder *b = job->b;
    const point_weights *weights = b->build->weights;
    double *shares = job->shares + (size_t)(begin / BUILD_GRAIN) * (size_t)job->site_limit;
    for (int i = begin; i < end; i++) {
        int p = b->dffd->points[i];
        vec3 x = vec3_load(b->build->mesh->positions + 3 * p);

        /* weights without the least ones */
        double total = 0;
        for (int k = weights->first[p]; k < weights->first[p + 1]; k++)
            total += MAX(weights->weights[k] - least_weight, 0);

        /* shares in the diagram of each joint */
        for (int k = weights->first[p]; k < weights->first[p + 1]; k++) {
            const diagram *d = &job->diagrams[weights->joints[k]];
            double w = total > 0 ? MAX(weights->weights[k] - least_weight, 0) / total : weights->weights[k];
            if (!(w > 0)) continue;
            if (sibson_coordinates(d->count, d->sites, x, job->works[begin / BUILD_GRAIN], shares)) {
                for (int s = 0; s < d->count; s++)
                    if (shares[s] > least_share) entry_add(job, i, d->controls[s], w * shares[s]);
                continue;
            }

            /* Only when the diagram is too intricate: the coordinates in the enclosing box. */
            for (int c = 0; c < 8; c++) {
                double share = w;
                for (int a = 0; a < 3; a++) {
                    double t = (vec3_axis(x, a) - d->low[a]) / ((double)d->high[a] - d->low[a]);
                    share *= c >> a & 1 ? t : 1 - t;
                }
                entry_add(job, i, d->enclosure + c, share);
            }
        }
    }
}

/*
 * What was left out (small shares, weights) has moved the sum of share x control point off the point, by little. Put it
 * back: share x (1 + a + b . (control - point)), with the four numbers that make both sums right again.
 */
static void shares_correct(const dffd_builder *b, vec3 x, const int *entries, double *shares, int count)
{
    /* normal equations, in units of the mean distance */
    double m[4][5] = {{0}}, scale = 0;
    for (int i = 0; i < count; i++) scale += shares[i] * vec3_distance(b->controls[entries[i]].rest, x);
    if (!(scale > 0)) return;
    for (int i = 0; i < count; i++) {
        vec3 c = b->controls[entries[i]].rest;
        const double d[4] = {1, ((double)c.x - x.x) / scale, ((double)c.y - x.y) / scale, ((double)c.z - x.z) / scale};
        for (int row = 0; row < 4; row++) {
            for (int k = 0; k < 4; k++) m[row][k] += shares[i] * d[row] * d[k];
            m[row][4] -= shares[i] * d[row];
        }
    }

    m[0][4] += 1;

    /* Elimination; the matrix is symmetric and positive when the control points do not lie in a plane. */
    for (int k = 0; k < 4; k++) {
        if (!(m[k][k] > 1e-12)) return;
        for (int row = 0; row < 4; row++) {
            double factor = row == k ? 0 : m[row][k] / m[k][k];
            for (int column = k; column < 5; column++) m[row][column] -= factor * m[k][column];
        }
    }

    for (int i = 0; i < count; i++) {
        vec3 c = b->controls[entries[i]].rest;
        double factor = 1 + m[0][4] / m[0][0];
        for (int a = 0; a < 3; a++)
            factor += m[a + 1][4] / m[a + 1][a + 1] * ((double)vec3_axis(c, a) - vec3_axis(x, a)) / scale;
        shares[i] *= factor;
    }
}

static cutis_result coordinates_build(dffd_builder *b, const diagram *diagrams, cutis_error *error)
{
    springs_dffd *d = b->dffd;
    arena *memory = b->build->memory;

    /* room for each point's entries and each block's work */
    int blocks = (d->point_count + BUILD_GRAIN - 1) / BUILD_GRAIN, site_limit = 8;
    for (int j = 0; j < b->bones->joint_count; j++) site_limit = MAX(site_limit, diagrams[j].count);
    size_t places = (size_t)d->point_count * ENTRY_LIMIT;
    coordinate_job job = {.b = b,
                          .diagrams = diagrams,
                          .site_limit = site_limit,
                          .works = ARENA_ARRAY(b->temporary, sibson_work *, blocks + 1),
                          .shares = ARENA_ARRAY(b->temporary, double, (size_t)blocks *(size_t)site_limit + 1),
                          .counts = ARENA_ARRAY(b->temporary, int, d->point_count + 1),
                          .entries = ARENA_ARRAY(b->temporary, int, places + 1),
                          .weighted = ARENA_ARRAY(b->temporary, double, places + 1)};
    for (int i = 0; job.works && i < blocks; i++) job.works[i] = sibson_work_create(site_limit, b->temporary);
    d->entry_first = ARENA_ARRAY(memory, int, d->point_count + 1);
    if (b->temporary->failed || !d->entry_first) return error_memory(error, "control points");

    parallel_for(b->build->jobs, d->point_count, BUILD_GRAIN, coordinates_block, &job);

    /* as many as there are, corrected */
    for (int i = 0; i < d->point_count; i++) d->entry_first[i + 1] = d->entry_first[i] + job.counts[i];
    d->entries = ARENA_ARRAY(memory, int, d->entry_first[d->point_count] + 1);
    d->shares = ARENA_ARRAY(memory, float, d->entry_first[d->point_count] + 1);
    if (!d->entries || !d->shares) return error_memory(error, "control points");

    for (int i = 0; i < d->point_count; i++) {
        double *from = job.weighted + (size_t)i * ENTRY_LIMIT;
        const int *entries = job.entries + (size_t)i * ENTRY_LIMIT;

        shares_correct(b, vec3_load(d->rest + 3 * i), entries, from, job.counts[i]);
        for (int k = 0; k < job.counts[i]; k++) {
            d->entries[d->entry_first[i] + k] = entries[k];
            d->shares[d->entry_first[i] + k] = (float)from[k];
        }
    }

    return CUTIS_OK;
}

/* ---- the whole ---- */

/* What moves the control points, and the folds they may be in. */
static cutis_result controls_finish(dffd_builder *b, cutis_error *error)
{
    springs_dffd *d = b->dffd;
    arena *memory = b->build->memory;

    int n = b->count;
    d->count = n;
    d->controls = ARENA_ARRAY(memory, float, 3 * (size_t)n + 1);
    d->hinge_of = ARENA_ARRAY(memory, int, n + 1);
    d->side_first = ARENA_ARRAY(memory, int, n + 1);
    int *first = ARENA_ARRAY(b->temporary, int, n + 1), *joints = ARENA_ARRAY(b->temporary, int, 2 * n + 1);
    float *weights = ARENA_ARRAY(b->temporary, float, 2 * n + 1);
    if (memory->failed || b->temporary->failed) return error_memory(error, "control points");

    /* a control point follows one or two joints */
    int at = 0;
    for (int i = 0; i < n; i++) {
        const control *c = &b->controls[i];
        bool two = c->joints[1] >= 0;
        vec3_store(d->controls + 3 * i, c->rest);
        d->hinge_of[i] = c->hinge;
        first[i] = at;
        joints[at] = c->joints[0];
        weights[at++] = two ? 1 - c->turn : 1;
        if (two) {
            joints[at] = c->joints[1];
            weights[at++] = c->turn;
        }
    }

    first[n] = at;

    /* the folds that it may be in: counted, then listed */
    for (int pass = 0; pass < 2; pass++) {
        int total = 0;

        for (int i = 0; i < n; i++) {
            d->side_first[i] = total;
            for (int h = 0; h < d->hinges.count && !b->controls[i].far; h++) {
                springs_side side;
                if (!springs_side_find(b->bones, &d->hinges, h, b->controls[i].rest, joints + first[i],
                                       weights + first[i], first[i + 1] - first[i], &side))
                    continue;

                /* They lie a little outside of the skin, which is what shall meet. */
                side.rest = MIN(side.rest, -fold_trespass * d->hinges.hinges[h].radius);
                if (pass == 1) d->sides[total] = side;
                total++;
            }
        }

        d->side_first[n] = total;
        if (pass == 0) d->sides = ARENA_ARRAY(memory, springs_side, total + 1);
        if (!d->sides) return error_memory(error, "control points");
    }

    return skinning_build(&d->skin, n, d->controls, first, joints, weights, b->bones->joint_count, memory, error);
}

/* The same of the points: what the control points leave over of a fold. */
static cutis_result sides_build(dffd_builder *b, cutis_error *error)
{
    springs_dffd *d = b->dffd;
    const point_weights *weights = b->build->weights;

    d->point_side_first = ARENA_ARRAY(b->build->memory, int, d->point_count + 1);
    if (!d->point_side_first) return error_memory(error, "control points");

    /* counted, then listed */
    for (int pass = 0; pass < 2; pass++) {
        int total = 0;

        for (int i = 0; i < d->point_count; i++) {
            d->point_side_first[i] = total;
            int first = weights->first[d->points[i]], count = weights->first[d->points[i] + 1] - first;
            for (int h = 0; h < d->hinges.count; h++) {
                springs_side side;
                if (!springs_side_find(b->bones, &d->hinges, h, vec3_load(d->rest + 3 * i), weights->joints + first,
                                       weights->weights + first, count, &side))
                    continue;
                if (pass == 1) d->point_sides[total] = side;
                total++;
            }
        }

        d->point_side_first[d->point_count] = total;
        if (pass == 0) d->point_sides = ARENA_ARRAY(b->build->memory, springs_side, (size_t)total + 1);
        if (!d->point_sides) return error_memory(error, "control points");
    }

    return CUTIS_OK;
}

static cutis_result dffd_make(dffd_builder *b, const uint8_t *marks, cutis_error *error)
{
    const springs_bones *bones = b->bones;
    const mesh *m = b->build->mesh;
    springs_dffd *d = b->dffd;
    cutis_result result = springs_hinges_build(bones, &d->hinges, b->build->memory, error);
    if (result) return result;

    b->capacity = bones->count * (RING_LIMIT + 4) * (RING_POINTS + 2);
    b->areas = ARENA_ARRAY(b->temporary, float, m->point_count + 1);
    b->controls = ARENA_ARRAY(b->temporary, control, b->capacity + 8 * bones->joint_count + 1);
    diagram *diagrams = ARENA_ARRAY(b->temporary, diagram, bones->joint_count + 1);
    d->points = ARENA_ARRAY(b->build->memory, int, m->point_count + 1);
    if (b->temporary->failed || !d->points) return error_memory(error, "control points");

    /* the points that it serves */
    for (int p = 0; p < m->point_count; p++)
        if (marks[p]) d->points[d->point_count++] = p;

    d->rest = ARENA_ARRAY(b->build->memory, float, 3 * (size_t)d->point_count + 1);
    if (!d->rest) return error_memory(error, "control points");
    for (int i = 0; i < d->point_count; i++) vec3_store(d->rest + 3 * i, vec3_load(m->positions + 3 * d->points[i]));

    /* control points along the bones */
    mesh_point_areas(m, m->positions, b->areas);
    for (int i = 0; i < bones->count; i++) bone_controls(b, i);

    /* coordinates of the points among those near each joint */
    int near_count = b->count;
    for (int j = 0; j < bones->joint_count && !result; j++) {
        if (bones->first[j] == bones->first[j + 1]) continue; /* it moves no point */
        result = diagram_build(b, j, near_count, &diagrams[j], error);
    }

    if (!result) result = coordinates_build(b, diagrams, error);
    if (!result) result = controls_finish(b, error);
    if (!result) result = sides_build(b, error);
    return result;
}

cutis_result springs_dffd_build(const solver_build *build, springs_reference_parameters parameters,
                                const springs_bones *bones, const uint8_t *marks, springs_dffd **dffd,
                                cutis_error *error)
{
    springs_dffd *d = ARENA_ARRAY(build->memory, springs_dffd, 1);
    if (!d) return error_memory(error, "control points");
    *dffd = d;
    arena temporary = arena_create(&build->allocator);
    dffd_builder b = {.build = build, .parameters = parameters, .bones = bones, .dffd = d, .temporary = &temporary};
    cutis_result result = dffd_make(&b, marks, error);
    arena_destroy(&temporary);
    return result;
}

/* ---- evaluation ---- */

static size_t whole_floats(size_t count) { return (count + 15) & ~(size_t)15; }
static size_t control_floats(const springs_dffd *d) { return whole_floats((size_t)d->count * 3); }
static size_t fold_floats(const springs_dffd *d)
{
    return whole_floats((size_t)d->hinges.count * sizeof(springs_fold) / sizeof(float));
}

size_t springs_dffd_scratch_size(const springs_dffd *d)
{
    return (control_floats(d) + fold_floats(d) + skinning_scratch_count(&d->skin)) * sizeof(float);
}

/* Displacements of the control points, in place of their positions. */
static void controls_move(const springs_dffd *d, const springs_fold *folds, float *controls)
{
    for (int i = 0; i < d->count; i++) {
        float *x = controls + 3 * i;

        if (d->hinge_of[i] >= 0) {
            /* The ring of a bent joint draws in on the inside, as far as the middle of the chord: cos(angle / 2). */
            const springs_fold *f = &folds[d->hinge_of[i]];
            vec3 off = vec3_sub(vec3_load(x), f->place);
            float radius = d->hinges.hinges[d->hinge_of[i]].radius;
            float inside = f->strength * springs_ramp(vec3_dot(off, f->inwards) / (0.5f * radius));
            float factor = 1 + inside * (1 / sqrtf(1 + f->slope * f->slope) - 1);
            vec3_store(x, vec3_madd(f->place, off, factor));
        }

        /* out of the folds; then less the rest position */
        springs_fold_apply(&d->hinges, folds, d->sides + d->side_first[i], d->side_first[i + 1] - d->side_first[i], x);
        for (int a = 0; a < 3; a++) x[a] -= d->controls[3 * i + a];
    }
}

typedef struct dffd_job {
    const springs_dffd *d;
    const float *moves;
    const springs_fold *folds;
    float *points;
} dffd_job;

static void dffd_block(void *context, int begin, int end)
{
    const dffd_job *job = context;
    const springs_dffd *d = job->d;
    for (int i = begin; i < end; i++) {
        vec3 sum = {0, 0, 0};
        for (int e = d->entry_first[i]; e < d->entry_first[i + 1]; e++)
            sum = vec3_madd(sum, vec3_load(job->moves + 3 * (size_t)d->entries[e]), d->shares[e]);
        float *x = job->points + 3 * (size_t)d->points[i];
        vec3_store(x, vec3_add(vec3_load(d->rest + 3 * (size_t)i), sum));
        int side = d->point_side_first[i];
        springs_fold_apply(&d->hinges, job->folds, d->point_sides + side, d->point_side_first[i + 1] - side, x);
    }
}

void springs_dffd_evaluate(const springs_dffd *d, const springs_pose *pose, void *scratch, const cutis_jobs *jobs,
                           float *points)
{
    float *controls = scratch;
    springs_fold *folds = (springs_fold *)(controls + control_floats(d));
    float *work = (float *)folds + fold_floats(d);
    springs_dual(&d->skin, pose, work, jobs, controls);
    springs_hinges_pose(&d->hinges, pose->skin, folds);
    controls_move(d, folds, controls);
    dffd_job job = {d, controls, folds, points};
    parallel_for(jobs, d->point_count, GRAIN, dffd_block, &job);
}
