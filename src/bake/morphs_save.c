/*
 * morphs_save.c: frames fitted by morph targets and written as a .glb.
 */
#include <math.h>
#include <string.h>

#include "bake/bake_private.h"
#include "bake/morph_fit.h"
#include "bake/texcoord_fit.h"
#include "io/files.h"
#include "io/gltf/gltf_bake.h"
#include "math/math3.h"

enum { TARGET_LIMIT = 32 };
static const double DEFAULT_TOLERANCE = 0.001; /* of the size */
static const float SHIFT_COUNTS = 1e-5f;       /* of the size: a shift of a joint that gets a track */

static cutis_result check_def(const cutis_morphs_def *def, const char *path, cutis_error *error)
{
    if (!def->character || !def->frames || (def->texcoords && !def->character->texcoords) || def->frame_count < 1 ||
        !(def->fps > 0) || !isfinite(def->start) || def->clip >= def->character->clip_count)
        return error_set(error, CUTIS_ERROR_ARGUMENT,
                         "a bake needs a character, one of its clips, at least one frame and a rate above 0");
    if (!(def->tolerance >= 0) || def->target_limit < 0 || def->target_limit > TARGET_LIMIT)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "a bake needs a tolerance of 0 or more and 1 to %d targets",
                         TARGET_LIMIT);
    if (!path_ends(path, ".glb") && !path_ends(path, ".vrm"))
        return error_set(error, CUTIS_ERROR_ARGUMENT, "'%.300s' does not end in .glb, which a bake is written as",
                         path);
    return CUTIS_OK;
}

/* A joint's place against its parent, with the sign of its quaternion that is nearer to `near`. */
static void pose_local(const cutis_character *c, const float *pose, int joint, quat near, vec3 *translation,
                       quat *rotation)
{
    mat34 own, parent, inverse;
    vec3 scale;
    quat q;
    memcpy(&own, pose + 12 * (size_t)joint, sizeof own);
    if (c->joints[joint].parent >= 0) {
        memcpy(&parent, pose + 12 * (size_t)c->joints[joint].parent, sizeof parent);
        mat34_inverse(parent, &inverse);
        own = mat34_multiply(inverse, own);
    }
    mat34_decompose(own, translation, &q, &scale);
    bool far = q.x * near.x + q.y * near.y + q.z * near.z + q.w * near.w < 0;
    *rotation = far ? (quat){-q.x, -q.y, -q.z, -q.w} : q;
}

/* The places of one joint in all frames, and whether contact has turned or shifted it. */
static void fill_track(const cutis_morphs_def *def, const float *animated, int joint, float *translations,
                       float *rotations, bool *turned, bool *shifted)
{
    const cutis_character *c = def->character;
    size_t floats = 12 * (size_t)c->joint_count;
    const mat34 identity = mat34_identity();
    quat q = quat_identity();
    *turned = *shifted = false;

    for (size_t f = 0; f < (size_t)def->frame_count; f++) {
        vec3 given, place;
        quat own;
        const float *above =
            c->joints[joint].parent >= 0 ? def->joints + f * floats + 12 * (size_t)c->joints[joint].parent : identity.m;
        pose_local(c, animated + f * floats, joint, q, &given, &own);
        pose_local(c, def->joints + f * floats, joint, f > 0 ? q : own, &place, &q);
        double same = fabs((double)q.x * own.x + (double)q.y * own.y + (double)q.z * own.z + (double)q.w * own.w);
        *turned |= same < 1 - 1e-6;

        /* in scene units */
        mat34 parent;
        memcpy(&parent, above, sizeof parent);
        *shifted |= vec3_length(mat34_vector(parent.m, vec3_sub(place, given))) > SHIFT_COUNTS * c->size;
        memcpy(rotations + 4 * f, &q, sizeof q);
        vec3_store(translations + 3 * f, place);
    }
}

/* Tracks of the joints that contact has turned or shifted away from the clip. */
static cutis_result make_tracks(const cutis_morphs_def *def, arena *memory, gltf_bake_def *out, cutis_error *error)
{
    const cutis_character *c = def->character;
    size_t floats = 12 * (size_t)c->joint_count, frames = (size_t)def->frame_count;
    if (!def->joints) return CUTIS_OK;

    float *animated = ARENA_ARRAY(memory, float, frames *floats), *times = ARENA_ARRAY(memory, float, frames);
    cutis_track *tracks = ARENA_ARRAY(memory, cutis_track, 2 * (size_t)c->joint_count);
    if (memory->failed) return error_memory(error, "the joints' tracks");
    for (int f = 0; f < def->frame_count; f++) {
        times[f] = (float)MAX(def->start + f / def->fps, 0);
        if (f > 0 && !(times[f] > times[f - 1])) times[f] = nextafterf(times[f - 1], INFINITY);
        cutis_pose_sample(c, def->clip, def->start + f / def->fps, animated + (size_t)f * floats);
    }

    for (int j = 0; j < c->joint_count; j++) {
        float *rotations = ARENA_ARRAY(memory, float, 4 * frames),
              *translations = ARENA_ARRAY(memory, float, 3 * frames);
        if (memory->failed) return error_memory(error, "the joints' tracks");

        bool changed[2];
        fill_track(def, animated, j, translations, rotations, &changed[0], &changed[1]);
        for (int i = 0; i < 2; i++)
            if (changed[i])
                tracks[out->track_count++] =
                    (cutis_track){.target = j,
                                  .path = i == 0 ? CUTIS_PATH_ROTATION : CUTIS_PATH_TRANSLATION,
                                  .interpolation = CUTIS_INTERPOLATION_LINEAR,
                                  .key_count = def->frame_count,
                                  .times = times,
                                  .values = i == 0 ? rotations : translations};
    }
    out->tracks = tracks;
    return CUTIS_OK;
}

/*
 * Targets of positions and of texture coordinates in one list: those of texture coordinates follow the others, unless
 * each frame has a target of its own, which then moves both.
 */
static cutis_result join_targets(const cutis_morphs_def *def, const morph_fit *fit, const texcoord_fit *moving,
                                 arena *memory, gltf_bake_def *out, cutis_error *error)
{
    bool shared = def->exact && moving->count == fit->count;
    *out = (gltf_bake_def){.morphs = def,
                           .target_count = shared ? fit->count : fit->count + moving->count,
                           .position_count = fit->count,
                           .deltas = fit->deltas,
                           .normals = fit->normals,
                           .weights = fit->weights,
                           .texcoord_first = shared ? 0 : fit->count,
                           .texcoord_count = moving->count,
                           .texcoords = moving->deltas};
    if (shared || moving->count == 0) return CUTIS_OK;

    /* a row of weights for each frame */
    size_t all = (size_t)out->target_count, first = (size_t)fit->count, rest = (size_t)moving->count;
    float *weights = ARENA_ARRAY(memory, float, all *(size_t)def->frame_count);
    if (!weights) return error_memory(error, "morph targets");
    for (size_t f = 0; f < (size_t)def->frame_count; f++) {
        for (size_t k = 0; k < first; k++) weights[f * all + k] = fit->weights[f * first + k];
        for (size_t k = 0; k < rest; k++) weights[f * all + first + k] = moving->weights[f * rest + k];
    }

    out->weights = weights;
    return CUTIS_OK;
}

cutis_result morphs_save(const cutis_morphs_def *def, struct file_store *store, const char *path,
                         cutis_morphs_info *info, cutis_error *error)
{
    const cutis_character *c = def->character;
    *info = (cutis_morphs_info){0};

    /* the targets that the tolerance needs */
    double tolerance = (def->tolerance > 0 ? def->tolerance : DEFAULT_TOLERANCE) * (double)c->size;
    morph_fit_def fit_def = {.character = c,
                             .clip = def->clip,
                             .start = def->start,
                             .fps = def->fps,
                             .frame_count = def->frame_count,
                             .frames = def->frames,
                             .joints = def->joints,
                             .tolerance = tolerance,
                             .limit = def->target_limit ? def->target_limit : TARGET_LIMIT,
                             .exact = def->exact,
                             .normals = !def->positions_only,
                             .interrupted = def->interrupted,
                             .context = def->context,
                             .jobs = def->jobs};

    morph_fit fit = {0};
    arena memory = arena_create(def->allocator);
    cutis_result result = morph_fit_make(&fit_def, &memory, &fit, error);

    /* texture coordinates that move */
    texcoord_fit moving = {0};
    if (result == CUTIS_OK && !fit.interrupted && def->texcoords)
        result = texcoord_fit_make(def, tolerance, fit_def.limit, &memory, &moving, error);

    gltf_bake_def out = {0};
    if (result == CUTIS_OK) result = join_targets(def, &fit, &moving, &memory, &out, error);

    if (result == CUTIS_OK) result = make_tracks(def, &memory, &out, error);

    /* what the fit reached, over the size */
    info->target_count = out.target_count;
    info->texcoord_target_count = moving.count;
    info->texcoord_max_error = moving.max / (double)c->size;
    info->texcoord_residual = moving.residual / (double)c->size;
    info->rms_error = fit.rms / (double)c->size;
    info->max_error = fit.max / (double)c->size;
    info->residual = fit.residual / (double)c->size;
    info->worst_frame = fit.worst_frame;
    info->flat_blends = fit.flat_blends;
    info->interrupted = fit.interrupted || moving.interrupted;

    /* the file */
    if (result == CUTIS_OK && !info->interrupted) result = gltf_bake_write(&out, store, path, info, error);

    arena_destroy(&memory);
    return result;
}

cutis_result cutis_morphs_save(const cutis_morphs_def *def, const char *path, cutis_morphs_info *info,
                               cutis_error *error)
{
    cutis_morphs_info unused;
    cutis_result result = check_def(def, path, error);
    if (result != CUTIS_OK && info) *info = (cutis_morphs_info){0};
    return result == CUTIS_OK ? morphs_save(def, NULL, path, info ? info : &unused, error) : result;
}
