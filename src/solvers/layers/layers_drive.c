/*
 * layers_drive.c: what the skeleton asks of the flesh: places under skinning alone, and what painted maps say. After
 * Deul and Bender 2013, sections 3 and 4.4.
 *
 * Departures from the paper:
 * - Flesh keeps no least distance from joints (the paper's section 4.4): it is held by its column of springs, and the
 *   crease of a bent joint has to come near to it.
 * - The skeleton moves flesh by the blended rotation of dual quaternions about the nearest
 * point of the bones' lines, which goes where linear skinning has it (after Le and Hodgins 2016, who search for the
 * centre of rotation of each vertex). Linear skinning alone collapses in a twist, and the flesh with it; dual
 * quaternions alone bulge where bones bend.
 */
#include <string.h>

#include "solvers/layers/layers_step.h"

/* ---- places ---- */

/* Frozen places follow linear skinning, whatever drives the others. */
static void frozen_place(layers_run *run, float *positions)
{
    const layers_model *m = run->m;
    float *frozen = run->w.frozen;
    skinning_linear(&m->frozen_drive, run->input->skin, run->w.skinning, run->input->jobs, frozen);
    for (int i = 0; i < m->frozen_count; i++) {
        float *skin = positions + 3 * m->frozen[i];
        float *bone = positions + 3 * (m->point_count + m->frozen[i]);
        memcpy(skin, frozen + 3 * i, 3 * sizeof(float));
        memcpy(bone, frozen + 3 * (m->frozen_count + i), 3 * sizeof(float));
    }
}

/*
 * Put the middle of each point's flesh, on the line of its bones, where linear skinning has it; the rotation about it
 * stays that of the dual quaternion.
 */
static void axes_place(layers_run *run, float *positions)
{
    const layers_model *m = run->m;
    int n = m->point_count;
    const float *turned = positions + 3 * (2 * n + m->volumes.centre_count);
    skinning_linear(&m->axis_drive, run->input->skin, run->w.skinning, run->input->jobs, run->w.axis);
    for (int i = 0; i < 3 * n; i++) {
        float move = run->w.axis[i] - turned[i];
        positions[i] += move;
        positions[3 * n + i] += move;
    }
}

void layers_drive_find(layers_run *run, float *positions)
{
    const layers_model *m = run->m;
    const float *skin = run->input->skin;

    if (m->drive_linear)
        skinning_linear(&m->drive, skin, run->w.skinning, run->input->jobs, positions);
    else
        skinning_dual_on(&m->drive, skin, m->parents, run->s.turns, run->w.skinning, run->input->jobs, positions);
    if (!m->drive_linear) axes_place(run, positions);
    layers_fibres_contract(run, positions);
    if (m->frozen_count > 0) frozen_place(run, positions);

    float scale = 1 / m->size;
    for (int i = 0; i < m->drive.count; i++)
        for (int c = 0; c < 3; c++) positions[3 * i + c] = (positions[3 * i + c] - m->centre[c]) * scale;
}

/* ---- painted maps ---- */

/* A place is pressed towards its bone by no more than the painted share of its depth. */
static void press_limit(layers_run *run, int k)
{
    const layers_model *m = run->m;
    float **x = run->w.iterate.x;
    float **target = run->w.iterate.target;

    /* the way out of the flesh */
    int bone_at = 4 * k + LAYER_BONE;
    vec3 skin = vec3_make(target[0][4 * k], target[1][4 * k], target[2][4 * k]);
    vec3 bone = vec3_make(target[0][bone_at], target[1][bone_at], target[2][bone_at]);
    vec3 way = vec3_sub(skin, bone);
    float depth = vec3_length(way);
    if (!(depth > 1e-6f)) return;
    vec3 out = vec3_scale(way, 1 / depth);

    /* the layers above the bone */
    for (int i = 4 * k; i < bone_at; i++) {
        vec3 off = vec3_make(x[0][i] - target[0][i], x[1][i] - target[1][i], x[2][i] - target[2][i]);
        float least = -m->press[k] * (1 - m->depths[i]) * depth;
        float along = vec3_dot(off, out);
        if (along >= least) continue;
        for (int c = 0; c < 3; c++) x[c][i] += (least - along) * vec3_axis(out, c);
    }
}

/* A wholly frozen place stays with the skeleton; others are tied to it, see ties_find. */
static void place_hold(layers_run *run, int k)
{
    for (int c = 0; c < 3; c++)
        memcpy(run->w.iterate.x[c] + LAYERS * k, run->w.iterate.target[c] + LAYERS * k, LAYERS * sizeof(float));
}

void layers_maps_project(layers_run *run, int begin, int end)
{
    const layers_model *m = run->m;
    for (int k = begin; k < end && m->press; k++)
        if (m->press[k] < 1) press_limit(run, k);
    for (int k = begin; k < end && m->freeze; k++)
        if (m->freeze[k] >= 1) place_hold(run, k);
}
