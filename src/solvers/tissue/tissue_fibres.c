/*
 * tissue_fibres.c: muscles that shorten when the joint at the end of their bone bends (parameter `muscle_bulge`).
 *
 * The fibres of the muscle wedges run along the bone. Active stress s along their direction a adds the energy
 * s/2 |F a|^2; with the fibre's turn R a in place of F a its force on node i is -s V (grad N_i . a) R a, where V grad N_i
 * is the integral of the shape function's gradient over the wedge at rest. Wedges keep their volume, so what shortens
 * thickens, as muscle does. s is `muscle_bulge` x CONTRACTION x the shear modulus at a bend of 90 degrees on the side of the
 * bend, and 0 at rest.
 */
#include "solvers/tissue/tissue.h"

/* Active stress over the shear modulus at a bend of 90 degrees: free fibres shorten by a third. */
static const float CONTRACTION = 1.5f;

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
    model->fibre_pulls = ARENA_ARRAY(build->memory, float, 2 * (size_t)model->count);
    if (build->memory->failed) return error_memory(error, "the muscles");
    for (int k = 0; k < model->count; k++)
        model->fibre_bones[k] = muscle_of_point(build, model->muscles, model->points[k], &model->fibre_shares[k]);
    return CUTIS_OK;
}

void tissue_fibres_add(tissue_model *model, int k, int layer, const double flow[3], double modulus)
{
    if (!model->muscles || !(model->fibre_shares[k] > 0) || layer < TISSUE_MUSCLE) return;
    vec3 along = vec3_normalize(model->muscles[model->fibre_bones[k]].along);
    double pull = flow[0] * (double)along.x + flow[1] * (double)along.y + flow[2] * (double)along.z;
    model->fibre_pulls[2 * k + layer - TISSUE_MUSCLE] -= (float)(modulus * pull);
}

void tissue_fibres_bend(tissue_run *run)
{
    const tissue_model *m = run->m;
    for (int j = 0; j < m->joint_count && m->muscles; j++) {
        const muscle_bone *own = &m->muscles[j];
        vec3 bend = {0, 0, 0}, along = {0, 0, 0};
        if (own->end >= 0) {
            bend = muscle_bend(own, j, run->input->skin);
            along = vec3_normalize(mat34_vector(run->input->skin + 12 * j, own->along));
        }
        vec3_store(run->w.bends + 6 * j, bend);
        vec3_store(run->w.bends + 6 * j + 3, along);
    }
}

vec3 tissue_fibres_force(const tissue_run *run, int k, int layer)
{
    const tissue_model *m = run->m;
    vec3 none = {0, 0, 0};
    if (!m->muscles || layer < TISSUE_MUSCLE || !(m->fibre_shares[k] > 0)) return none;
    const float *bends = run->w.bends + 6 * m->fibre_bones[k];
    vec3 bend = vec3_load(bends);
    float amount = vec3_length(bend);
    if (!(amount > 0)) return none;

    vec3 skin = vec3_load(run->w.drive + 3 * k), bone = vec3_load(run->w.drive + 3 * (m->count + k));
    float stress = CONTRACTION * m->fibre_shares[k] * MIN(amount, 1.0f) * muscle_side(vec3_sub(skin, bone), bend);
    return vec3_scale(vec3_load(bends + 3), stress * m->fibre_pulls[2 * k + layer - TISSUE_MUSCLE]);
}
