/* toy_state.c: the state of the solver `toy` and its scratch as views of one block each; teleport and outputs. */
#include "toy.h"

size_t toy_state_view(const toy_model *m, void *memory, toy_state *s)
{
    kit_block block = {.memory = memory};
    s->points = KIT_CARVE(&block, float, m->point_count * 3);
    s->lag = KIT_CARVE(&block, float, m->character->vertex_count * 3);
    return block.used;
}

size_t toy_scratch_view(const toy_model *m, void *memory, toy_scratch *s)
{
    kit_block block = {.memory = memory};
    s->targets = KIT_CARVE(&block, float, m->point_count * 3);
    s->skinning = KIT_CARVE(&block, float, skinning_scratch_count(&m->skin));
    return block.used;
}

size_t toy_state_size(const void *data)
{
    toy_state unused;
    return toy_state_view(data, NULL, &unused);
}

size_t toy_scratch_size(const void *data)
{
    toy_scratch unused;
    return toy_scratch_view(data, NULL, &unused);
}

void toy_teleport(const void *data, void *state, const float transform[12])
{
    const toy_model *m = data;
    toy_state s;
    toy_state_view(m, state, &s);
    for (int p = 0; p < m->point_count; p++)
        vec3_store(s.points + 3 * p, mat34_point(transform, vec3_load(s.points + 3 * p)));
}

bool toy_output(const void *data, const void *state, int index, cutis_output *output)
{
    const toy_model *m = data;
    toy_state s;
    toy_state_view(m, (void *)state, &s); /* only read through */
    (void)index;
    *output = (cutis_output){CUTIS_DOMAIN_VERTEX, m->character->vertex_count, 3, s.lag};
    return true;
}
