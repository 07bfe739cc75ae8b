/*
 * springs_reference.c: the reference shape of the solver `springs`: the mix of the bones' shapes.
 *
 * Cordier and Magnenat-Thalmann (section 3) take metaballs for the body and Dirichlet free-form deformation for the
 * hands. Here every bone chooses, and a point mixes the shapes of the bones that move it by their weights, so that
 * there is no seam where two kinds meet.
 */
#include "solvers/springs/springs_reference.h"

#include <stdio.h>
#include <string.h>

#include "solvers/solver_kit.h"
#include "solvers/springs/springs_shapes.h"

enum { GRAIN = 2048 }; /* points a block */

struct springs_reference {
    int point_count;
    bool used[SPRINGS_SHAPE_COUNT];
    bool mixed;       /* more than one shape is used */
    const float *mix; /* (point_count x SPRINGS_SHAPE_COUNT), when mixed */
    skinning skin;
    int *parents; /* (joint_count) */
    springs_metaballs *metaballs;
    springs_dffd *dffd;
};

/* ---- the mix ---- */

static springs_shape bone_shape(const solver_build *build, int joint, int parameter)
{
    return (springs_shape)build->bone_values[(size_t)joint * (size_t)build->parameter_count + (size_t)parameter];
}

static cutis_result mix_build(const solver_build *build, const springs_shape *shapes, springs_reference *r,
                              cutis_error *error)
{
    const point_weights *weights = build->weights;
    float *mix = ARENA_ARRAY(build->memory, float, (size_t)r->point_count *SPRINGS_SHAPE_COUNT);
    if (!mix) return error_memory(error, "a reference shape");

    /* shares of the shapes, by the weights of the joints that use them */
    for (int p = 0; p < r->point_count; p++) {
        float *own = mix + (size_t)p * SPRINGS_SHAPE_COUNT;
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            springs_shape shape = shapes[weights->joints[i]];
            own[shape] += weights->weights[i];
            if (weights->weights[i] > 0) r->used[shape] = true;
        }

        /* A point that no bone moves is at rest in every shape. */
        if (weights->first[p] == weights->first[p + 1]) own[SPRINGS_SHAPE_LBS] = 1;
    }

    int kinds = 0;
    for (int s = 0; s < SPRINGS_SHAPE_COUNT; s++) kinds += r->used[s];
    if (kinds == 0) r->used[SPRINGS_SHAPE_LBS] = true;

    /* Points without bones are marked lbs: any single shape leaves them at rest too. */
    r->mixed = kinds > 1;
    r->mix = mix;
    return CUTIS_OK;
}

/* The points that take a share of a shape. */
static void shape_marks(const springs_reference *r, springs_shape shape, uint8_t *marks)
{
    for (int p = 0; p < r->point_count; p++) marks[p] = r->mix[(size_t)p * SPRINGS_SHAPE_COUNT + (size_t)shape] > 0;
}

static cutis_result shapes_build(const solver_build *build, springs_reference_parameters parameters,
                                 const springs_bones *bones, springs_reference *r, arena *temporary, cutis_error *error)
{
    cutis_result result = CUTIS_OK;
    uint8_t *marks = ARENA_ARRAY(temporary, uint8_t, r->point_count + 1);
    if (!marks) return error_memory(error, "a reference shape");

    /* each shape for the points that it serves; one that serves none goes */
    if (!r->used[SPRINGS_SHAPE_METABALLS])
        r->metaballs = NULL;
    else if (!r->metaballs) {
        shape_marks(r, SPRINGS_SHAPE_METABALLS, marks);
        result = springs_metaballs_build(build, bones, marks, &r->metaballs, error);
    }

    if (!r->used[SPRINGS_SHAPE_DFFD])
        r->dffd = NULL;
    else if (!result && !r->dffd) {
        shape_marks(r, SPRINGS_SHAPE_DFFD, marks);
        result = springs_dffd_build(build, parameters, bones, marks, &r->dffd, error);
    }

    return result;
}

/* ---- the choice ---- */

/* Say what was chosen, and where skinning stays. */
static void choice_tell(const solver_build *build, int parameter, const springs_bones *bones,
                        const springs_shape *chosen)
{
    /* count, and name the first few that skinning serves */
    const cutis_character *c = build->character;
    int counts[SPRINGS_SHAPE_COUNT] = {0};
    char names[128] = "";
    size_t used = 0;
    for (int j = 0; j < c->joint_count; j++) {
        if (bones->first[j] == bones->first[j + 1] || bone_shape(build, j, parameter) != SPRINGS_SHAPE_AUTO) continue;
        counts[chosen[j]]++;
        if (chosen[j] != SPRINGS_SHAPE_LBS || counts[SPRINGS_SHAPE_LBS] > 3 || !c->joints[j].name) continue;
        int length = snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", c->joints[j].name);
        if (length > 0) used = MIN(used + (size_t)length, sizeof names - 1);
    }

    if (counts[SPRINGS_SHAPE_LBS] == 0) {
        kit_note(build, "reference shape: metaballs at %d bones, dffd at %d", counts[SPRINGS_SHAPE_METABALLS],
                 counts[SPRINGS_SHAPE_DFFD]);
        return;
    }

    kit_note(build,
             "reference shape: metaballs at %d bones, dffd at %d, skinning at %d where it strains the skin less (%s%s)",
             counts[SPRINGS_SHAPE_METABALLS], counts[SPRINGS_SHAPE_DFFD], counts[SPRINGS_SHAPE_LBS], names,
             counts[SPRINGS_SHAPE_LBS] > 3 ? ", ..." : "");
}

/*
 * Shapes that were made for the choice serve all points that could need them, and stay. An explicit dffd elsewhere
 * needs more points than those of fingers: then it is made again.
 */
static void choice_release(const solver_build *build, springs_reference_parameters parameters, springs_reference *r)
{
    for (int j = 0; j < build->character->joint_count; j++)
        if (bone_shape(build, j, parameters.reference) == SPRINGS_SHAPE_DFFD) r->dffd = NULL;
}

/* Replace SPRINGS_SHAPE_AUTO by the shape that suits each joint. */
static cutis_result choice_make(const solver_build *build, springs_reference_parameters parameters,
                                const springs_bones *bones, springs_reference *r, springs_shape *shapes,
                                cutis_error *error)
{
    const point_weights *weights = build->weights;
    int joint_count = build->character->joint_count;

    arena temporary = arena_create(&build->allocator);
    uint8_t *marks = ARENA_ARRAY(&temporary, uint8_t, r->point_count + 1);
    int *hands = ARENA_ARRAY(&temporary, int, joint_count + 1);
    springs_shape *chosen = ARENA_ARRAY(&temporary, springs_shape, joint_count + 1);
    cutis_result result = temporary.failed ? error_memory(error, "the choice of a reference shape") : CUTIS_OK;

    /* metaballs for all points */
    if (!result) {
        memset(marks, 1, (size_t)r->point_count);
        result = springs_metaballs_build(build, bones, marks, &r->metaballs, error);
    }

    /* dffd for those of fingers */
    bool any = false;
    if (!result) {
        springs_fingers_find(bones, hands);
        for (int p = 0; p < r->point_count; p++) {
            marks[p] = 0;
            for (int i = weights->first[p]; i < weights->first[p + 1]; i++)
                marks[p] |= weights->weights[i] > 0 && hands[weights->joints[i]] >= 0;
            any = any || marks[p];
        }
        if (any) result = springs_dffd_build(build, parameters, bones, marks, &r->dffd, error);
    }

    /* the choice, where none was made */
    if (!result)
        result =
            springs_shapes_choose(build, &r->skin, r->parents, r->metaballs, r->dffd, hands, &temporary, chosen, error);
    for (int j = 0; j < joint_count && !result; j++)
        if (shapes[j] == SPRINGS_SHAPE_AUTO) shapes[j] = chosen[j];

    if (!result) choice_tell(build, parameters.reference, bones, shapes);
    if (!result) choice_release(build, parameters, r);
    arena_destroy(&temporary);
    return result;
}

static cutis_result reference_make(const solver_build *build, springs_reference_parameters parameters,
                                   springs_reference *r, arena *temporary, cutis_error *error)
{
    int joint_count = build->character->joint_count;
    springs_bones bones = {0};
    springs_shape *shapes = ARENA_ARRAY(temporary, springs_shape, joint_count + 1);
    if (!shapes) return error_memory(error, "a reference shape");

    /* what is asked for at each joint */
    bool choose = false, fitted = false;
    for (int j = 0; j < joint_count; j++) {
        shapes[j] = bone_shape(build, j, parameters.reference);
        choose = choose || shapes[j] == SPRINGS_SHAPE_AUTO;
        fitted = fitted || shapes[j] >= SPRINGS_SHAPE_METABALLS;
    }

    /* bones, the choice, then the shapes themselves */
    cutis_result result = CUTIS_OK;
    if (fitted) result = springs_bones_build(build, &bones, temporary, error);
    if (!result && choose) result = choice_make(build, parameters, &bones, r, shapes, error);
    if (!result) result = mix_build(build, shapes, r, error);
    if (!result && fitted) result = shapes_build(build, parameters, &bones, r, temporary, error);
    return result;
}

cutis_result springs_reference_build(const solver_build *build, springs_reference_parameters parameters,
                                     springs_reference **reference, cutis_error *error)
{
    springs_reference *r = ARENA_ARRAY(build->memory, springs_reference, 1);
    if (!r) return error_memory(error, "a reference shape");

    r->parents = ARENA_ARRAY(build->memory, int, build->character->joint_count + 1);
    if (!r->parents) return error_memory(error, "a reference shape");
    for (int j = 0; j < build->character->joint_count; j++) r->parents[j] = build->character->joints[j].parent;
    r->point_count = build->mesh->point_count;

    /* skinning, which every other shape starts from */
    cutis_result result =
        skinning_build(&r->skin, r->point_count, build->mesh->positions, build->weights->first, build->weights->joints,
                       build->weights->weights, build->character->joint_count, build->memory, error);

    if (!result) {
        arena temporary = arena_create(&build->allocator);
        result = reference_make(build, parameters, r, &temporary, error);
        arena_destroy(&temporary);
    }

    if (!result) *reference = r;
    return result;
}

/* ---- evaluation ---- */

static size_t whole_floats(size_t count) { return (count + 15) & ~(size_t)15; }

/* Scratch: that of the skinning, a set of points for each shape when they are mixed, then that of the shapes. */
static size_t skin_floats(const springs_reference *r) { return whole_floats(skinning_scratch_count(&r->skin)); }
static size_t point_floats(const springs_reference *r) { return whole_floats((size_t)r->point_count * 3); }

size_t springs_reference_scratch_size(const springs_reference *r)
{
    size_t floats = skin_floats(r) + (r->mixed ? SPRINGS_SHAPE_COUNT * point_floats(r) : 0);

    /* One after the other in the same place. */
    size_t balls = r->metaballs ? springs_metaballs_scratch_size(r->metaballs) : 0;
    size_t controls = r->dffd ? springs_dffd_scratch_size(r->dffd) : 0;
    return floats * sizeof(float) + MAX(balls, controls);
}

typedef struct mix_job {
    const springs_reference *reference;
    const float *shapes[SPRINGS_SHAPE_COUNT]; /* NULL: not used */
    float *points;
} mix_job;

static void mix_block(void *context, int begin, int end)
{
    const mix_job *job = context;

    for (int p = begin; p < end; p++) {
        const float *mix = job->reference->mix + (size_t)p * SPRINGS_SHAPE_COUNT;
        vec3 sum = {0, 0, 0};
        float total = 0;
        for (int s = 0; s < SPRINGS_SHAPE_COUNT; s++) {
            if (!job->shapes[s] || !(mix[s] > 0)) continue; /* a shape fills the points that it serves alone */
            sum = vec3_madd(sum, vec3_load(job->shapes[s] + 3 * (size_t)p), mix[s]);
            total += mix[s];
        }

        /* Without bones and without lbs among the shapes, every shape has the point at rest. */
        if (!(total > 0)) {
            sum = vec3_load(job->reference->skin.rest + 3 * (size_t)p);
            total = 1;
        }

        vec3_store(job->points + 3 * (size_t)p, vec3_scale(sum, 1 / total));
    }
}

void springs_reference_evaluate(const springs_reference *r, const float *skin, float *turns, void *scratch,
                                const cutis_jobs *jobs, float *points)
{
    /* buffers: one a shape where several are mixed */
    springs_pose pose = {skin, r->parents, turns};
    float *work = scratch;
    float *buffers = work + skin_floats(r);
    float *rest = buffers + (r->mixed ? SPRINGS_SHAPE_COUNT * point_floats(r) : 0);
    mix_job job = {.reference = r, .points = points};

    float *shapes[SPRINGS_SHAPE_COUNT];
    for (int s = 0; s < SPRINGS_SHAPE_COUNT; s++) {
        shapes[s] = r->mixed ? buffers + (size_t)s * point_floats(r) : points;
        if (r->used[s]) job.shapes[s] = shapes[s];
    }

    if (r->used[SPRINGS_SHAPE_LBS]) skinning_linear(&r->skin, skin, work, jobs, shapes[SPRINGS_SHAPE_LBS]);
    if (r->used[SPRINGS_SHAPE_DQS]) springs_dual(&r->skin, &pose, work, jobs, shapes[SPRINGS_SHAPE_DQS]);

    /* The other two fill the points that they serve; those that no bone moves are at rest. */
    if (!r->mixed && (r->metaballs || r->dffd))
        memcpy(points, r->skin.rest, (size_t)r->point_count * 3 * sizeof(float));
    if (r->metaballs) springs_metaballs_evaluate(r->metaballs, &pose, rest, jobs, shapes[SPRINGS_SHAPE_METABALLS]);
    if (r->dffd) springs_dffd_evaluate(r->dffd, &pose, rest, jobs, shapes[SPRINGS_SHAPE_DFFD]);

    if (r->mixed) parallel_for(jobs, r->point_count, GRAIN, mix_block, &job);
}
