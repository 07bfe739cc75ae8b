/*
 * morphs_save.c: frames fitted by morph targets and written as a .glb.
 */
#include <math.h>

#include "bake/bake_private.h"
#include "bake/morph_fit.h"
#include "io/files.h"
#include "io/gltf_bake.h"

enum { TARGET_LIMIT = 32 };
static const double DEFAULT_TOLERANCE = 0.001; /* of the size */

static cutis_result check_def(const cutis_morphs_def *def, const char *path, cutis_error *error)
{
    if (!def->character || !def->frames || def->frame_count < 1 || !(def->fps > 0) || !isfinite(def->start) ||
        def->clip >= def->character->clip_count)
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

    /* what the fit reached, over the size */
    info->target_count = fit.count;
    info->rms_error = fit.rms / (double)c->size;
    info->max_error = fit.max / (double)c->size;
    info->residual = fit.residual / (double)c->size;
    info->worst_frame = fit.worst_frame;
    info->flat_blends = fit.flat_blends;
    info->interrupted = fit.interrupted;

    /* the file */
    gltf_bake_def out = {def, fit.count, fit.deltas, fit.normals, fit.weights};
    if (result == CUTIS_OK && !fit.interrupted) result = gltf_bake_write(&out, store, path, info, error);

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
