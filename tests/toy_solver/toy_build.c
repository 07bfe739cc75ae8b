/* toy_build.c: the model of the solver `toy`. */
#include "toy.h"

cutis_result toy_build(const solver_build *build, void **data, cutis_error *error)
{
    toy_model *m = ARENA_ARRAY(build->memory, toy_model, 1);
    if (!m) return error_memory(error, "solver toy");
    *data = m;
    m->character = build->character;
    m->point_count = build->mesh->point_count;

    /* values by bone */
    m->following = ARENA_ARRAY(build->memory, float, m->point_count);
    if (!m->following) return error_memory(error, "solver toy");
    for (int p = 0; p < m->point_count; p++) m->following[p] = (float)kit_point_value(build, p, TOY_FOLLOWING);

    return skinning_build(&m->skin, m->point_count, build->mesh->positions, build->weights->first,
                          build->weights->joints, build->weights->weights, build->character->joint_count, build->memory,
                          error);
}
