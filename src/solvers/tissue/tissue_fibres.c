/*
 * tissue_fibres.c: muscles that swell when the joint at the end of their bone bends (parameter `muscle_bulge`).
 *
 * Fibres on the inner side of a bend shorten and thicken, those on the outer side get longer and thinner. Muscle wedges
 * are bonded to the bone layer, where real muscle slides, so that a tension along them would thicken nothing. Instead
 * their volume at rest changes by a share g: the term K/(2 V0) (V - a V0)^2 with a + g in place of a adds the force
 * K g dV/dx on a node, where dV/dx is the integral of its shape function's gradient, at rest and turned with the bone.
 * Around the bone the gains and losses cancel: a limb keeps its volume.
 */
#include "solvers/tissue/tissue.h"

/* Gain of volume of a muscle wedge at a bend of 90 degrees, in the middle of the bone, per unit of the side below. */
static const float SWELLING = 0.5f;
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
    model->fibre_pulls = ARENA_ARRAY(build->memory, float, 18 * (size_t)model->mesh->triangle_count + 1);
    if (build->memory->failed) return error_memory(error, "the muscles");
    for (int k = 0; k < model->count; k++)
        model->fibre_bones[k] = muscle_of_point(build, model->muscles, model->points[k], &model->fibre_shares[k]);
    return CUTIS_OK;
}

void tissue_fibres_add(tissue_model *model, int triangle, const double flow[6][3], double bulk)
{
    if (!model->muscles) return;
    float *pulls = model->fibre_pulls + 18 * (size_t)triangle;
    for (int i = 0; i < 6; i++)
        for (int c = 0; c < 3; c++) pulls[3 * i + c] = (float)(bulk * flow[i][c]);
}

void tissue_fibres_bend(tissue_run *run)
{
    const tissue_model *m = run->m;
    int bone = -1;
    vec3 bend = {0, 0, 0};
    for (int k = 0; k < m->count && m->muscles; k++) {
        run->w.gains[k] = 0;
        if (!(m->fibre_shares[k] > 0)) continue;
        if (m->fibre_bones[k] != bone) {
            bone = m->fibre_bones[k];
            bend = muscle_bend(&m->muscles[bone], bone, run->input->skin);
        }
        float amount = vec3_length(bend);
        if (!(amount > 0)) continue;
        vec3 skin = vec3_load(run->w.drive + 3 * k), inner = vec3_load(run->w.drive + 3 * (m->count + k));
        float side = muscle_side(vec3_sub(skin, inner), bend) - MEAN_SIDE;
        run->w.gains[k] = SWELLING * m->fibre_shares[k] * MIN(amount, 1.0f) * side;
    }
}

vec3 tissue_fibres_force(const tissue_run *run, int k, int layer)
{
    const tissue_model *m = run->m;
    const mesh *surface = m->mesh;
    vec3 sum = {0, 0, 0};
    if (!m->muscles || layer < TISSUE_MUSCLE || !(m->fibre_shares[k] > 0)) return sum;
    for (int i = surface->point_triangle_first[k]; i < surface->point_triangle_first[k + 1]; i++) {
        int t = surface->point_triangles[i];
        const int *v = surface->triangles + 3 * t;
        float gain = (run->w.gains[v[0]] + run->w.gains[v[1]] + run->w.gains[v[2]]) / 3;
        int corner = v[0] == k ? 0 : v[1] == k ? 1 : 2;
        sum = vec3_madd(sum, vec3_load(m->fibre_pulls + 18 * (size_t)t + 3 * (corner + 3 * (layer - TISSUE_MUSCLE))), gain);
    }
    return mat34_vector(run->input->skin + 12 * m->fibre_bones[k], sum);
}
