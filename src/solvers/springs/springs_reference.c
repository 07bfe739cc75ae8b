/*
 * springs_reference.c: the reference shape of the solver `springs`: the mix of the bones' shapes, and the straight
 * pieces of bone that the shapes are built on.
 *
 * Cordier and Magnenat-Thalmann (section 3) take metaballs for the body and Dirichlet free-form deformation for the
 * hands. Here every bone chooses, and a point mixes the shapes of the bones that move it by their weights, so that
 * there is no seam where two kinds meet.
 */
#include "solvers/springs/springs_reference.h"

#include <string.h>

#include "solvers/springs/springs_shapes.h"

enum { GRAIN = 2048 }; /* points a block */

struct springs_reference {
    int point_count;
    bool used[SPRINGS_SHAPE_COUNT];
    bool mixed;       /* more than one shape is used */
    const float *mix; /* (point_count x SPRINGS_SHAPE_COUNT), when mixed */
    skinning skin;
    springs_metaballs *metaballs;
};

/* ---- bones ---- */

float springs_bone_nearest(const springs_bone *bone, vec3 p)
{
    vec3 way = vec3_sub(bone->b, bone->a);
    float length2 = vec3_length2(way);
    float t = length2 > 0 ? vec3_dot(vec3_sub(p, bone->a), way) / length2 : 0;
    return CLAMP(t, 0.0f, 1.0f);
}

static vec3 joint_place(const cutis_character *c, int joint)
{
    mat34 inverse, bind;
    memcpy(inverse.m, c->joints[joint].inverse_bind, sizeof inverse.m);
    mat34_inverse(inverse, &bind);
    return vec3_make(bind.m[3], bind.m[7], bind.m[11]);
}

/* Where a joint without children points: the mean of its points, and how far they reach along it. */
static vec3 tip_find(const solver_build *build, int joint, vec3 from)
{
    const point_weights *weights = build->weights;
    double sum[3] = {0}, total = 0;
    for (int p = 0; p < build->mesh->point_count; p++) {
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            if (weights->joints[i] != joint) continue;
            double w = (double)weights->weights[i] * weights->weights[i];
            for (int a = 0; a < 3; a++) sum[a] += w * build->mesh->positions[3 * p + a];
            total += w;
        }
    }
    if (!(total > 0)) return from;
    vec3 mean = {(float)(sum[0] / total), (float)(sum[1] / total), (float)(sum[2] / total)};
    vec3 way = vec3_normalize(vec3_sub(mean, from));
    float reach = vec3_distance(mean, from);
    for (int p = 0; p < build->mesh->point_count; p++) {
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            if (weights->joints[i] != joint || weights->weights[i] < 0.5f) continue;
            reach = MAX(reach, vec3_dot(vec3_sub(vec3_load(build->mesh->positions + 3 * p), from), way));
        }
    }
    /* The line ends inside, about as far from the tip as from the sides. */
    return vec3_madd(from, way, 0.8f * reach);
}

cutis_result springs_bones_build(const solver_build *build, springs_bones *bones, arena *memory, cutis_error *error)
{
    const cutis_character *c = build->character;
    const point_weights *weights = build->weights;
    int n = c->joint_count, influence_count = weights->first[build->mesh->point_count];
    *bones = (springs_bones){.joint_count = n, .size = c->size};
    bones->bones = ARENA_ARRAY(memory, springs_bone, 2 * n + 1);
    bones->first = ARENA_ARRAY(memory, int, n + 1);
    bones->above = ARENA_ARRAY(memory, int, n + 1);
    bones->point_bones = ARENA_ARRAY(memory, int, influence_count + 1);
    uint8_t *moves = ARENA_ARRAY(memory, uint8_t, n + 1);
    vec3 *places = ARENA_ARRAY(memory, vec3, n + 1);
    if (memory->failed) return error_memory(error, "the bones of a reference shape");

    for (int i = 0; i < influence_count; i++) {
        if (weights->weights[i] > 0) moves[weights->joints[i]] = 1;
    }
    for (int j = 0; j < n; j++) {
        places[j] = joint_place(c, j);
        int up = c->joints[j].parent;
        while (up >= 0 && !moves[up]) up = c->joints[up].parent;
        bones->above[j] = up;
    }

    /* A bone to each child; one towards its own points where there is none. */
    float least = 1e-3f * c->size;
    for (int j = 0; j < n; j++) {
        bones->first[j] = bones->count;
        if (!moves[j]) continue;
        for (int k = j + 1; k < n; k++) {
            if (!moves[k] || bones->above[k] != j || vec3_distance(places[j], places[k]) < least) continue;
            bones->bones[bones->count++] = (springs_bone){.joint = j, .child = k, .a = places[j], .b = places[k]};
        }
        if (bones->count == bones->first[j]) {
            bones->bones[bones->count++] =
                (springs_bone){.joint = j, .child = -1, .a = places[j], .b = tip_find(build, j, places[j])};
        }
    }
    bones->first[n] = bones->count;

    /* The nearest bone for each influence, and the mean distance of a bone's points. */
    float *sums = ARENA_ARRAY(memory, float, bones->count + 1), *totals = ARENA_ARRAY(memory, float, bones->count + 1);
    if (memory->failed) return error_memory(error, "the bones of a reference shape");
    for (int p = 0; p < build->mesh->point_count; p++) {
        vec3 x = vec3_load(build->mesh->positions + 3 * p);
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            int j = weights->joints[i], best = -1;
            float best2 = INFINITY;
            for (int b = bones->first[j]; b < bones->first[j + 1]; b++) {
                const springs_bone *bone = &bones->bones[b];
                vec3 q = vec3_lerp(bone->a, bone->b, springs_bone_nearest(bone, x));
                float d2 = vec3_length2(vec3_sub(x, q));
                if (d2 < best2) best2 = d2, best = b;
            }
            bones->point_bones[i] = best;
            if (best < 0) continue;
            float w = weights->weights[i];
            sums[best] += w * sqrtf(best2);
            totals[best] += w;
        }
    }
    for (int b = 0; b < bones->count; b++) {
        springs_bone *bone = &bones->bones[b];
        bone->radius = MAX(totals[b] > 0 ? sums[b] / totals[b] : 0, 1e-4f * c->size);
    }
    return CUTIS_OK;
}

/* ---- the mix ---- */

static springs_shape bone_shape(const solver_build *build, int joint, int parameter)
{
    return (springs_shape)build->bone_values[(size_t)joint * (size_t)build->parameter_count + (size_t)parameter];
}

static cutis_result mix_build(const solver_build *build, int parameter, springs_reference *r, cutis_error *error)
{
    const point_weights *weights = build->weights;
    float *mix = ARENA_ARRAY(build->memory, float, (size_t)r->point_count *SPRINGS_SHAPE_COUNT);
    if (!mix) return error_memory(error, "a reference shape");
    for (int p = 0; p < r->point_count; p++) {
        float *own = mix + (size_t)p * SPRINGS_SHAPE_COUNT;
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            springs_shape shape = bone_shape(build, weights->joints[i], parameter);
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

static cutis_result shapes_build(const solver_build *build, springs_reference *r, arena *temporary, cutis_error *error)
{
    if (!r->used[SPRINGS_SHAPE_METABALLS]) return CUTIS_OK;
    springs_bones bones;
    cutis_result result = springs_bones_build(build, &bones, temporary, error);
    if (result) return result;
    uint8_t *marks = ARENA_ARRAY(temporary, uint8_t, r->point_count + 1);
    if (!marks) return error_memory(error, "a reference shape");
    for (int p = 0; p < r->point_count; p++) {
        marks[p] = r->mix[(size_t)p * SPRINGS_SHAPE_COUNT + SPRINGS_SHAPE_METABALLS] > 0;
    }
    return springs_metaballs_build(build, &bones, marks, &r->metaballs, error);
}

cutis_result springs_reference_build(const solver_build *build, int parameter, springs_reference **reference,
                                     cutis_error *error)
{
    springs_reference *r = ARENA_ARRAY(build->memory, springs_reference, 1);
    if (!r) return error_memory(error, "a reference shape");
    r->point_count = build->mesh->point_count;
    cutis_result result =
        skinning_build(&r->skin, r->point_count, build->mesh->positions, build->weights->first, build->weights->joints,
                       build->weights->weights, build->character->joint_count, build->memory, error);
    if (!result) result = mix_build(build, parameter, r, error);
    if (!result) {
        arena temporary = arena_create(&build->allocator);
        result = shapes_build(build, r, &temporary, error);
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
    return floats * sizeof(float) + (r->metaballs ? springs_metaballs_scratch_size(r->metaballs) : 0);
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
        if (!(total > 0)) sum = vec3_load(job->reference->skin.rest + 3 * (size_t)p), total = 1;
        vec3_store(job->points + 3 * (size_t)p, vec3_scale(sum, 1 / total));
    }
}

void springs_reference_evaluate(const springs_reference *r, const float *skin, void *scratch, const cutis_jobs *jobs,
                                float *points)
{
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
    if (r->used[SPRINGS_SHAPE_DQS]) skinning_dual(&r->skin, skin, work, jobs, shapes[SPRINGS_SHAPE_DQS]);
    if (r->metaballs) {
        float *balls = shapes[SPRINGS_SHAPE_METABALLS];
        /* Points that no bone moves are at rest. */
        if (!r->mixed) memcpy(balls, r->skin.rest, (size_t)r->point_count * 3 * sizeof(float));
        springs_metaballs_evaluate(r->metaballs, skin, rest, jobs, balls);
    }
    if (r->mixed) parallel_for(jobs, r->point_count, GRAIN, mix_block, &job);
}
