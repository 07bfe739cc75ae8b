/*
 * layers_fibres.c: muscles that swell when the joint at the end of their bone bends (parameter `muscle_bulge`). Beyond
 * the paper.
 *
 * When a joint bends, the fibres on the inner side shorten (muscles.h), and since flesh keeps its volume they thicken.
 * Here the places that the skeleton asks for are moved away from the bone, by the bend, most in the middle of the bone
 * and on the side towards which the joint bends; volume conservation takes from the rest of the limb what the muscle
 * gains.
 */
#include "solvers/layers/layers_step.h"

cutis_result layers_fibres_build(const solver_build *build, layers_model *model, cutis_error *error)
{
    int n = model->point_count;
    cutis_result result = muscles_find(build, LAYERS_MUSCLE_BULGE, NULL, build->memory, &model->muscles, error);
    if (result != CUTIS_OK || !model->muscles) return result;

    model->fibre_bones = ARENA_ARRAY(build->memory, int, n);
    model->fibre_shares = ARENA_ARRAY(build->memory, float, n);
    if (build->memory->failed) return error_memory(error, "the muscles");
    for (int k = 0; k < n; k++)
        model->fibre_bones[k] = muscle_of_point(build, model->muscles, model->paths.points[k], &model->fibre_shares[k]);
    return CUTIS_OK;
}

void layers_fibres_contract(layers_run *run, float *positions)
{
    const layers_model *m = run->m;
    if (!m->muscles) return;
    int bone = -1;
    vec3 bend = {0, 0, 0};
    for (int k = 0; k < m->point_count; k++) {
        if (!(m->fibre_shares[k] > 0)) continue;

        /* neighbours are mostly of the same muscle */
        if (m->fibre_bones[k] != bone) {
            bone = m->fibre_bones[k];
            bend = muscle_bend(&m->muscles[bone], bone, run->input->skin);
        }
        float amount = vec3_length(bend);
        if (!(amount > 0)) continue;

        /* away from the bone, on the side of the bend */
        vec3 skin = vec3_load(positions + 3 * (size_t)k),
             inner = vec3_load(positions + 3 * (size_t)(m->point_count + k));
        vec3 way = vec3_sub(skin, inner);
        vec3_store(positions + 3 * (size_t)k,
                   vec3_madd(skin, way, m->fibre_shares[k] * amount * muscle_side(way, bend)));
    }
}
