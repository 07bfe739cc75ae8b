/* geometric.c: the common part of the solvers lbs and dqs. */
#include "solvers/geometric.h"

cutis_result geometric_build(const solver_build *build, void **data, cutis_error *error)
{
    const cutis_character *c = build->character;
    skinning *s = ARENA_ARRAY(build->memory, skinning, 1);
    if (!s) return error_memory(error, "a solver");
    *data = s;
    return skinning_build(s, c->vertex_count, c->positions, c->influence_first, c->influence_joints,
                          c->influence_weights, c->joint_count, build->memory, error);
}

long geometric_element_count(const void *data) { return ((const skinning *)data)->count; }

size_t geometric_state_size(const void *data)
{
    (void)data;
    return 0;
}

size_t geometric_scratch_size(const void *data) { return skinning_scratch_count(data) * sizeof(float); }

skinning geometric_morphed(const void *data, const solver_input *input)
{
    skinning s = *(const skinning *)data;
    if (input->rest) s.rest = input->rest;
    return s;
}
