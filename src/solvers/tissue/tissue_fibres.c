/*
 * tissue_fibres.c: muscles that swell when the joint at the end of their bone bends (parameter `muscle_bulge`).
 *
 * Fibres on the inner side of a bend shorten and thicken, those on the outer side get longer and thinner (muscles.h).
 * The deep muscle below the bone layer does so: targets of the column move away from the bone, or towards it, and
 * elasticity carries fat and skin along. Around the bone gains and losses cancel, so that a limb keeps its volume.
 */
#include "solvers/tissue/tissue.h"

/* Motion of the targets at a bend of 90 degrees, over the radius of the limb, per unit of the side below. */
static const float SWELLING = 0.22f;
/* Mean of muscle_side around a bone. */
static const float MEAN_SIDE = 0.375f;

cutis_result tissue_fibres_build(const solver_build *build, const anatomy *a, tissue_model *model, cutis_error *error)
{
    /* which bones have how much of a muscle; a skeleton without names has them on all limbs */
    static const struct {
        int kind;
        float share;
    } MUSCLES[] = {{JOINT_UPPER_ARM, 1}, {JOINT_FOREARM, 0.4f}, {JOINT_UPPER_LEG, 0.7f}, {JOINT_LOWER_LEG, 0.6f}};
    int n = build->character->joint_count;
    float *shares = ARENA_ARRAY(build->memory, float, n + 1);
    if (!shares) return error_memory(error, "the muscles");
    for (int j = 0; j < n; j++) {
        shares[j] = a->known ? 0 : 1;
        for (int i = 0; i < COUNT_OF(MUSCLES); i++)
            if (a->parts[j].kind == MUSCLES[i].kind) shares[j] = MUSCLES[i].share;
    }

    cutis_result result = muscles_find(build, TISSUE_MUSCLE_BULGE, shares, build->memory, &model->muscles, error);
    if (result != CUTIS_OK || !model->muscles) return result;
    model->fibre_bones = ARENA_ARRAY(build->memory, int, model->count);
    model->fibre_shares = ARENA_ARRAY(build->memory, float, model->count);
    if (build->memory->failed) return error_memory(error, "the muscles");
    for (int k = 0; k < model->count; k++)
        model->fibre_bones[k] = muscle_of_point(build, model->muscles, model->points[k], &model->fibre_shares[k]);
    return CUTIS_OK;
}

void tissue_fibres_contract(const tissue_run *run, float *positions)
{
    const tissue_model *m = run->m;
    size_t n = (size_t)m->count;
    int bone = -1;
    vec3 bend = {0, 0, 0};
    for (size_t k = 0; k < n && m->muscles; k++) {
        if (!(m->fibre_shares[k] > 0)) continue;

        /* neighbours are mostly of the same muscle */
        if (m->fibre_bones[k] != bone) {
            bone = m->fibre_bones[k];
            bend = muscle_bend(&m->muscles[bone], bone, run->input->skin);
        }
        float amount = vec3_length(bend);
        if (!(amount > 0)) continue;

        /* skin and bone layer alike, by the distance of the skin from the axis */
        float *skin = positions + 3 * k, *inner = positions + 3 * (n + k);
        vec3 way = vec3_normalize(vec3_sub(vec3_load(skin), vec3_load(inner)));
        float side = muscle_side(way, bend) - MEAN_SIDE;
        vec3 move = vec3_scale(way, SWELLING * m->radii[k] * m->fibre_shares[k] * MIN(amount, 1.0f) * side);
        vec3_store(skin, vec3_add(vec3_load(skin), move));
        vec3_store(inner, vec3_add(vec3_load(inner), move));
    }
}
