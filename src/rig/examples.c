/*
 * examples.c: posed shapes of one mesh (sculpted, scanned, or from another program) as poses of its skeleton and what
 * is left over: the input that solver `curves` makes in-betweens of.
 *
 * Each joint takes the rigid motion that carries the vertices it weighs nearest to the example (least squares, the
 * rotation by polar decomposition). What this motion does not explain becomes a morph target in the rest pose, so that
 * dual-quaternion skinning of the morphed rest shape in that pose is the example again.
 */
#include <string.h>

#include "character/carry.h"
#include "character/skinning.h"
#include "cutis/rig.h"
#include "math/math3.h"

static mat34 joint_bind(const cutis_joint *joint)
{
    mat34 inverse, bind;
    memcpy(inverse.m, joint->inverse_bind, sizeof inverse.m);
    if (!mat34_inverse(inverse, &bind)) bind = inverse;
    return bind;
}

/* Sums over the vertices of one joint. */
typedef struct fit_sums {
    double weight, rest[3], posed[3], products[9]; /* posed x rest^T */
} fit_sums;

/* The motion of each joint from the rest shape to the example: rest scene space -> posed scene space. */
static void motions_fit(const cutis_character *c, const float *example, fit_sums *sums, mat34 *motions)
{
    /* weighted sums of each joint: centres and covariance of its vertices */
    memset(sums, 0, (size_t)c->joint_count * sizeof *sums);
    for (int v = 0; v < c->vertex_count; v++)
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            /* Squared: what a joint has for itself tells its motion, not what it shares. */
            double w = (double)c->influence_weights[i] * c->influence_weights[i];
            const float *x = c->positions + 3 * (size_t)v, *y = example + 3 * (size_t)v;
            fit_sums *s = &sums[c->influence_joints[i]];
            s->weight += w;
            for (int r = 0; r < 3; r++) {
                s->rest[r] += w * x[r];
                s->posed[r] += w * y[r];
                for (int k = 0; k < 3; k++) s->products[3 * r + k] += w * y[r] * x[k];
            }
        }

    /* fit a rigid motion; the parent's is the guess and the fallback */
    for (int j = 0; j < c->joint_count; j++) {
        const fit_sums *s = &sums[j];
        int parent = c->joints[j].parent;
        mat34 guess = parent >= 0 ? motions[parent] : mat34_identity();
        motions[j] = guess;
        if (!(s->weight > 1e-3)) continue; /* nothing to tell by: it goes with its parent */

        /* covariance about the centres; its polar factor is the rotation */
        mat3 a, turn = {{guess.m[0], guess.m[1], guess.m[2], guess.m[4], guess.m[5], guess.m[6], guess.m[8], guess.m[9],
                         guess.m[10]}};
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                a.m[3 * r + k] = (float)(s->products[3 * r + k] - s->posed[r] * s->rest[k] / s->weight);
        mat3 rotation = quat_matrix(polar_rotation(a, quat_from_matrix(turn), 60));

        /* the translation takes the centre at rest to the posed one */
        for (int r = 0; r < 3; r++) {
            double at = s->posed[r] / s->weight;
            for (int k = 0; k < 3; k++) {
                motions[j].m[4 * r + k] = rotation.m[3 * r + k];
                at -= (double)rotation.m[3 * r + k] * s->rest[k] / s->weight;
            }
            motions[j].m[4 * r + 3] = (float)at;
        }
    }
}

/*
 * Local transforms of the moved joints into key `key` of the tracks: a rotation and a translation track a joint. A key
 * holds its tangent before, its value, and its tangent after.
 */
static void keys_set(const cutis_character *c, const mat34 *motions, int key, float *const *rotations,
                     float *const *translations)
{
    for (int j = 0; j < c->joint_count; j++) {
        mat34 local = joint_bind(&c->joints[j]), inverse;
        int parent = c->joints[j].parent;
        if (motions) local = mat34_multiply(motions[j], local);

        /* relative to the parent */
        if (parent >= 0) {
            mat34 above = joint_bind(&c->joints[parent]);
            if (motions) above = mat34_multiply(motions[parent], above);
            if (mat34_inverse(above, &inverse)) local = mat34_multiply(inverse, local);
        }

        vec3 translation, scale;
        quat rotation;
        mat34_decompose(local, &translation, &rotation, &scale);

        /* the value of the key, between its tangents */
        float *r = rotations[j] + 12 * key + 4, side = 0;
        const float values[4] = {rotation.x, rotation.y, rotation.z, rotation.w};
        for (int k = 0; k < 4 && key > 0; k++) side += values[k] * r[k - 12];
        for (int k = 0; k < 4; k++) r[k] = side < 0 ? -values[k] : values[k]; /* the shorter way from the last key */

        vec3_store(translations[j] + 9 * key + 3, translation);
    }
}

/*
 * Velocities at the keys, so that the pose goes through the middle ones without a stop or an overshoot: the harmonic
 * mean of the mean velocities on both sides, 0 where they differ in direction. It rests at both ends (the paper's
 * equation 5).
 */
static void tangents_set(float *values, int components, int count, double seconds)
{
    for (int key = 1; key < count; key++)
        for (int k = 0; k < components; k++) {
            float *at = values + (size_t)(3 * components) * (size_t)key + components + k;
            double before = ((double)at[0] - at[-3 * components]) / seconds;
            double after = ((double)at[3 * components] - at[0]) / seconds;
            double through = before * after > 0 ? 2 * before * after / (before + after) : 0;
            at[-components] = at[components] = (float)through;
        }
}

/* The clip through the rest pose and the poses of all examples. */
static bool clip_make(const cutis_character *c, int count, const float *const *examples, double seconds, arena *memory,
                      cutis_clip *clip)
{
    /* a rotation and a translation track for each joint */
    int n = c->joint_count;
    float *times = ARENA_ARRAY(memory, float, count + 1);
    float **rotations = ARENA_ARRAY(memory, float *, n), **translations = ARENA_ARRAY(memory, float *, n);
    cutis_track *tracks = ARENA_ARRAY(memory, cutis_track, 2 * (size_t)n);
    mat34 *motions = ARENA_ARRAY(memory, mat34, n);
    fit_sums *sums = ARENA_ARRAY(memory, fit_sums, n);
    if (memory->failed) return false;
    for (int j = 0; j < n; j++) {
        rotations[j] = ARENA_ARRAY(memory, float, 12 * (size_t)(count + 1));
        translations[j] = ARENA_ARRAY(memory, float, 9 * (size_t)(count + 1));
        if (memory->failed) return false;
        tracks[2 * j] =
            (cutis_track){j, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_CUBIC, count + 1, times, rotations[j]};
        tracks[2 * j + 1] =
            (cutis_track){j, CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_CUBIC, count + 1, times, translations[j]};
    }

    /* key 0 is the rest pose, then a key for each example */
    keys_set(c, NULL, 0, rotations, translations);
    for (int e = 0; e < count; e++) {
        times[e + 1] = (float)(seconds * (e + 1));
        motions_fit(c, examples[e], sums, motions);
        keys_set(c, motions, e + 1, rotations, translations);
    }

    /* tangents need all keys */
    for (int j = 0; j < n; j++) {
        tangents_set(rotations[j], 4, count, seconds);
        tangents_set(translations[j], 3, count, seconds);
    }

    *clip = (cutis_clip){.name = "examples", .track_count = 2 * n, .tracks = tracks};
    return true;
}

/* What the poses leave over, as morph targets. */
static cutis_result morphs_make(const cutis_character *moved, int count, const float *const *examples, arena *memory,
                                cutis_morph *morphs, cutis_error *error)
{
    /* joints and body of the posed character */
    int n = moved->vertex_count;
    float *joints = ARENA_ARRAY(memory, float, 12 * (size_t)moved->joint_count);
    float *skin = ARENA_ARRAY(memory, float, 12 * (size_t)moved->joint_count);
    carry_body body = {n,
                       moved->positions,
                       moved->influence_first,
                       moved->influence_joints,
                       moved->influence_weights,
                       moved->joint_count,
                       moved->size};
    cutis_result result = memory->failed ? error_memory(error, "examples") : CUTIS_OK;

    /* a morph target for each example */
    for (int e = 0; e < count && result == CUTIS_OK; e++) {
        float *deltas = ARENA_ARRAY(memory, float, 3 * (size_t)n);
        char *name = arena_format(memory, "example_%d", e + 1);
        if (memory->failed) return error_memory(error, "examples");

        /* the pose at the example's key */
        const cutis_clip *clip = &moved->clips[0];
        cutis_pose_sample(moved, 0, clip->start + (double)(clip->end - clip->start) * (e + 1) / count, joints);
        skin_matrices(moved, joints, skin);

        /* undo the skinning of the example; the difference from the rest shape is the target */
        arena scratch = arena_create(&memory->allocator);
        result = carry_back(&body, skin, examples[e], NULL, &scratch, deltas, error);
        arena_destroy(&scratch);
        for (int i = 0; i < 3 * n; i++) deltas[i] -= moved->positions[i];
        morphs[e] = (cutis_morph){name, deltas};
    }

    return result;
}

cutis_result cutis_rig_examples(const cutis_character *character, int count, const float *const *examples,
                                double seconds, const cutis_allocator *allocator, cutis_character **made,
                                cutis_error *error)
{
    /* arguments that cannot give a pose */
    *made = NULL;
    if (count < 1) return error_set(error, CUTIS_ERROR_ARGUMENT, "there must be at least one example");
    if (!(seconds > 0)) return error_set(error, CUTIS_ERROR_ARGUMENT, "the time between examples must be above 0");
    if (character->joint_count == 0 || !character->influence_first)
        return error_set(error, CUTIS_ERROR_DATA, "'%s' has no skeleton to pose; cutis_rig_create makes one",
                         character->name);
    for (int e = 0; e < count; e++)
        for (int i = 0; i < 3 * character->vertex_count; i++)
            if (!isfinite(examples[e][i]))
                return error_set(error, CUTIS_ERROR_DATA, "example %d: vertex %d is not finite", e + 1, i / 3);

    /* the clip through the poses */
    arena memory = arena_create(allocator);
    cutis_clip clip;
    cutis_character given = *character, *moved = NULL;
    cutis_morph *morphs = ARENA_ARRAY(&memory, cutis_morph, count);
    cutis_result result = CUTIS_OK;
    if (!morphs || !clip_make(character, count, examples, seconds, &memory, &clip))
        result = error_memory(error, "examples");

    /* skinning by the clip shows what the poses leave over */
    given.clip_count = 1;
    given.clips = &clip;
    given.morph_count = 0;
    if (result == CUTIS_OK) result = cutis_character_create(&given, allocator, &moved, error);
    if (result == CUTIS_OK) result = morphs_make(moved, count, examples, &memory, morphs, error);

    /* the character with clip and morph targets */
    given.morph_count = count;
    given.morphs = morphs;
    if (result == CUTIS_OK) result = cutis_character_create(&given, allocator, made, error);

    cutis_character_destroy(moved);
    arena_destroy(&memory);
    return result;
}
