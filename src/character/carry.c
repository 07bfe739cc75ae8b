/*
 * carry.c: the inverse of dual-quaternion skinning. For one position it is a rigid motion (with what the joints
 * stretch), which four places near the position give.
 */
#include "character/carry.h"

#include <string.h>

#include "character/skinning.h"
#include "math/math3.h"

cutis_result carry_back(const carry_body *body, const float *skin, const float *posed, const cutis_jobs *jobs,
                        arena *scratch, float *shape, cutis_error *error)
{
    int n = body->count, at = 0;
    float step = 0.01f * body->size;

    float *places = ARENA_ARRAY(scratch, float, 12 * (size_t)n), *moved = ARENA_ARRAY(scratch, float, 12 * (size_t)n);
    float *linear = posed ? NULL : ARENA_ARRAY(scratch, float, 12 * (size_t)n);
    int *first = ARENA_ARRAY(scratch, int, 4 * (size_t)n + 1);
    size_t influences = 4 * (size_t)body->first[n];
    int *joints = ARENA_ARRAY(scratch, int, influences + 1);
    float *weights = ARENA_ARRAY(scratch, float, influences + 1);
    skinning four;
    if (scratch->failed) return error_memory(error, "examples");

    /* each point four times: at rest, and a small step along each axis */
    for (int p = 0; p < n; p++)
        for (int k = 0; k < 4; k++) {
            float *place = places + 3 * (4 * (size_t)p + (size_t)k);
            memcpy(place, body->rest + 3 * (size_t)p, 3 * sizeof *place);
            if (k) place[k - 1] += step;
            first[4 * p + k] = at;
            for (int i = body->first[p]; i < body->first[p + 1]; i++, at++) {
                joints[at] = body->joints[i];
                weights[at] = body->weights[i];
            }
        }
    first[4 * n] = at;

    /* skin them, rigidly blended (and linearly, where the pose is not given) */
    cutis_result result =
        skinning_build(&four, 4 * n, places, first, joints, weights, body->joint_count, scratch, error);
    if (result != CUTIS_OK) return result;
    float *work = ARENA_ARRAY(scratch, float, skinning_scratch_count(&four));
    if (!work) return error_memory(error, "examples");
    if (linear) skinning_linear(&four, skin, work, jobs, linear);
    skinning_dual(&four, skin, work, jobs, moved);

    /* the four places give the frame of the skinning at a point; its inverse brings the point back */
    for (int p = 0; p < n; p++) {
        mat34 frame, inverse;
        const float *origin = moved + 12 * (size_t)p;
        for (int r = 0; r < 3; r++) {
            for (int k = 0; k < 3; k++) frame.m[4 * r + k] = (origin[3 * (k + 1) + r] - origin[r]) / step;
            frame.m[4 * r + 3] = 0;
        }
        vec3 target = vec3_load(posed ? posed + 3 * (size_t)p : linear + 12 * (size_t)p);
        vec3 rest = vec3_load(body->rest + 3 * (size_t)p);
        if (mat34_inverse(frame, &inverse))
            rest = vec3_add(rest, mat34_vector(inverse.m, vec3_sub(target, vec3_load(origin))));
        vec3_store(shape + 3 * (size_t)p, rest);
    }
    return CUTIS_OK;
}
