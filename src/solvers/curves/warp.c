/*
 * warp.c: the time warp between two examples. Flesh is nearly incompressible: between two examples that differ in
 * volume, the volume goes evenly with the pose. The bones' part of it follows from the pose alone, so that the time of
 * the beams is what can be chosen: it is looked for at a few places between the poses.
 */
#include "solvers/curves/warp.h"

#include "solvers/solver_kit.h"

enum { PLACES = 8 };

cutis_result warp_prepare(const solver_build *build, arena *memory, warp_work *work, cutis_error *error)
{
    const cutis_character *c = build->character;
    const mesh *m = build->mesh;

    *work = (warp_work){.character = c, .mesh = m, .jobs = build->jobs};
    for (int i = 0; i < m->component_count; i++) work->closed = work->closed || m->component_closed[i];

    cutis_result result =
        skinning_build(&work->points, m->point_count, m->positions, build->weights->first, build->weights->joints,
                       build->weights->weights, c->joint_count, memory, error);
    if (result != CUTIS_OK) return result;

    work->pose = ARENA_ARRAY(memory, float, 12 * (size_t)c->joint_count);
    work->skin = ARENA_ARRAY(memory, float, 12 * (size_t)c->joint_count);
    work->posed = ARENA_ARRAY(memory, float, 3 * (size_t)m->point_count);
    work->scratch = ARENA_ARRAY(memory, float, skinning_scratch_count(&work->points));
    return memory->failed ? error_memory(error, "curves") : CUTIS_OK;
}

static double volume_of(warp_work *w, const float *shape)
{
    skinning s = w->points;
    s.rest = shape;
    skinning_dual(&s, w->skin, w->scratch, w->jobs, w->posed);
    return mesh_closed_volume(w->mesh, w->posed);
}

/* The level that has come as far as `progress`, by steps of the girth. */
static double level_at(const float *girth, int level_count, double progress)
{
    int level = 0;
    while (level < level_count - 2 && girth[level + 1] < progress) level++;
    double span = (double)girth[level + 1] - girth[level];
    return level + (span > 0 ? CLAMP((progress - girth[level]) / span, 0.0, 1.0) : 0);
}

/* Where the volume of the levels, in the pose of w->skin, is `target`: the place nearest to `guess`, or guess itself.
 */
static double level_of_volume(warp_work *w, const float *levels, int level_count, double target, double guess)
{
    size_t stride = 3 * (size_t)w->mesh->point_count;

    double best = guess, nearest = level_count, last = 0;

    for (int level = 0; level < level_count; level += 2) {
        double off = volume_of(w, levels + (size_t)level * stride) - target;
        if (level > 0 && (off >= 0) != (last >= 0)) {
            double at = level - 2 + 2 * last / (last - off);
            if (fabs(at - guess) < nearest) {
                nearest = fabs(at - guess);
                best = at;
            }
        }

        last = off;
    }

    return best;
}

void warp_find(warp_work *w, const float *levels, int level_count, const float *pose_from, const float *pose_to,
               const float *girth, double share, float *places)
{
    /* the volumes at both ends */
    const cutis_character *c = w->character;
    size_t stride = 3 * (size_t)w->mesh->point_count;
    double at[PLACES + 1], last = level_count - 1, ends[2] = {0, 0};
    if (w->closed) {
        skin_matrices(c, pose_from, w->skin);
        ends[0] = volume_of(w, levels);
        skin_matrices(c, pose_to, w->skin);
        ends[1] = volume_of(w, levels + (size_t)(level_count - 1) * stride);
    }

    /* levels of even time: by girth, or better by volume */
    at[0] = 0;
    at[PLACES] = last;
    for (int i = 1; i < PLACES; i++) {
        double along = (double)i / PLACES;
        at[i] = level_at(girth, level_count, along);
        if (w->closed) {
            kit_pose_between(c, pose_from, pose_to, (float)along, w->pose);
            skin_matrices(c, w->pose, w->skin);
            at[i] = level_of_volume(w, levels, level_count, ends[0] + (ends[1] - ends[0]) * along, at[i]);
        }
        at[i] = (1 - share) * along * last + share * at[i];
    }

    /* Time never stands still nor runs back. */
    double least = 0.25 * last / PLACES;
    for (int i = 1; i < PLACES; i++) at[i] = MIN(MAX(at[i], at[i - 1] + least), last - least * (PLACES - i));

    /* the inverse: the time of each level */
    for (int level = 0, i = 0; level < level_count; level++) {
        while (i < PLACES - 1 && at[i + 1] < level) i++;
        places[level] = (float)((i + (level - at[i]) / (at[i + 1] - at[i])) / PLACES);
    }

    places[0] = 0;
    places[level_count - 1] = 1;
}
