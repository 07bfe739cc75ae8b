/* springs_reference.c: the reference shape by linear-blend skinning. */
#include "solvers/springs/springs_reference.h"

#include "character/skinning.h"

struct springs_reference {
    skinning points;
};

cutis_result springs_reference_build(const solver_build *build, int parameter, springs_reference **reference,
                                     cutis_error *error)
{
    (void)parameter;
    *reference = ARENA_ARRAY(build->memory, springs_reference, 1);
    if (!*reference) return error_memory(error, "the reference shape");
    return skinning_build(&(*reference)->points, build->mesh->point_count, build->mesh->positions,
                          build->weights->first, build->weights->joints, build->weights->weights,
                          build->character->joint_count, build->memory, error);
}

size_t springs_reference_scratch_size(const springs_reference *reference)
{
    return skinning_scratch_count(&reference->points) * sizeof(float);
}

void springs_reference_evaluate(const springs_reference *reference, const float *skin, void *scratch,
                                const cutis_jobs *jobs, float *points)
{
    skinning_linear(&reference->points, skin, scratch, jobs, points);
}
