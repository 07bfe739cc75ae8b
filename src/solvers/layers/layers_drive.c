/*
 * layers_drive.c: what the skeleton asks of the flesh: places under skinning alone, distances from joints and from
 * twisted bones, and what painted maps say. After Deul and Bender 2013, sections 3 and 4.4.
 *
 * Departures from the paper:
 * - The bone layer is driven by dual quaternions by default (parameter `drive`): driven linearly it collapses
 *   itself in a twist, and the flesh with it.
 * - In a twist the flesh keeps its distance from the bone's line, not only from the joint.
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

void layers_drive_find(layers_run *run, float *positions)
{
    const layers_model *m = run->m;
    const float *skin = run->input->skin;

    /* in the scene */
    if (m->drive_linear)
        skinning_linear(&m->drive, skin, run->w.skinning, run->input->jobs, positions);
    else
        skinning_dual_on(&m->drive, skin, m->parents, run->s.turns, run->w.skinning, run->input->jobs, positions);
    if (m->frozen_count > 0) frozen_place(run, positions);

    /* in sizes */
    float scale = 1 / m->size;
    for (int i = 0; i < m->drive.count; i++)
        for (int c = 0; c < 3; c++) positions[3 * i + c] = (positions[3 * i + c] - m->centre[c]) * scale;
}

float layers_drive_at(const layers_model *m, const float *drive, int k, int l, int c)
{
    float skin = drive[3 * k + c];
    float bone = drive[3 * (m->point_count + k) + c];
    return skin + m->depths[4 * k + l] * (bone - skin);
}

void layers_shift_find(layers_run *run)
{
    const layers_model *m = run->m;
    double sum[3] = {0};
    for (int k = 0; k < m->point_count; k++)
        for (int c = 0; c < 3; c++) sum[c] += (double)run->w.drive[3 * k + c] - m->mesh->positions[3 * k + c];
    for (int c = 0; c < 3; c++) run->w.iterate.shift[c] = (float)(sum[c] / m->point_count);
}

/* ---- joints ---- */

/* The rotation of a skinning transform. */
static quat skin_rotation(const float *transform)
{
    mat34 matrix;
    vec3 translation, scale;
    quat rotation;
    memcpy(matrix.m, transform, sizeof matrix.m);
    mat34_decompose(matrix, &translation, &rotation, &scale);
    return rotation;
}

/* How much a turn of that axis (its length the sine of half the angle) is a twist about the bone, 0..1. */
static float twist_amount(vec3 axis, float sine, vec3 bone)
{
    float along = fabsf(vec3_dot(axis, bone)) / sine;
    return CLAMP((along - 0.7f) / 0.25f, 0.0f, 1.0f) * MIN(sine / 0.35f, 1.0f);
}

void layers_twists_find(layers_run *run)
{
    const layers_model *m = run->m;
    for (int j = 0; j < m->joint_count; j++) {
        layers_twist *twist = run->w.twists + j;
        const float *joint = run->input->joints + 12 * j;
        int parent = m->character->joints[j].parent;
        *twist = (layers_twist){.centre = {(joint[3] - m->centre[0]) / m->size, (joint[7] - m->centre[1]) / m->size,
                                           (joint[11] - m->centre[2]) / m->size}};
        if (parent < 0) continue;

        /* the joint's turn against its parent */
        quat own = skin_rotation(run->input->skin + 12 * j);
        quat above = skin_rotation(run->input->skin + 12 * parent);
        quat turn = quat_multiply(quat_conjugate(above), own);
        vec3 axis = {turn.x, turn.y, turn.z};
        float sine = vec3_length(axis);
        if (!(sine > 1e-4f)) continue;

        /* about the bone that it twists most */
        for (int side = 0; side < 2; side++) {
            vec3 bone = m->bone_axes[2 * j + side];
            float amount = twist_amount(axis, sine, bone);
            if (!(amount > twist->amount)) continue;
            twist->amount = amount;
            twist->side = side;
            twist->line = quat_rotate(own, bone);
        }
    }
}

void layers_holds_project(layers_run *run, int path_begin, int path_end)
{
    const layers_model *m = run->m;
    float **x = run->w.iterate.x;
    for (int i = m->hold_first[path_begin]; i < m->hold_first[path_end]; i++) {
        const layers_hold *hold = m->holds + i;
        const layers_twist *twist = run->w.twists + hold->joint;
        bool twisted = twist->amount > 0;
        if (!(hold->distance > 0) && !twisted) continue;

        /* nearly all are far enough: spare their roots */
        vec3 p = vec3_make(x[0][hold->particle], x[1][hold->particle], x[2][hold->particle]);
        vec3 way = vec3_sub(p, twist->centre);
        float length2 = vec3_length2(way);
        bool near = length2 < 1.0001f * hold->distance * hold->distance;
        if (!near && !twisted) continue;

        /* out to the bound, along the ray from the joint's centre */
        float length = sqrtf(length2);
        if (length < hold->distance && length > 1e-6f) {
            way = vec3_scale(way, hold->distance / length);
            p = vec3_add(twist->centre, way);
        }

        /* and away from the line of a twisted bone */
        vec3 radial = vec3_madd(way, twist->line, -vec3_dot(way, twist->line));
        float radius = vec3_length(radial);
        float least = TWIST_RADIUS * twist->amount * hold->radius[twist->side];
        if (radius < least && radius > 1e-6f) p = vec3_madd(p, radial, least / radius - 1);
        for (int c = 0; c < 3; c++) x[c][hold->particle] = (&p.x)[c];
    }
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
        for (int c = 0; c < 3; c++) x[c][i] += (least - along) * (&out.x)[c];
    }
}

/* The tie of a frozen place joins inertia and elasticity in the particle's balance. */
static void freeze_tie(layers_run *run, int k)
{
    const layers_model *m = run->m;
    float **x = run->w.iterate.x;
    float **target = run->w.iterate.target;
    float h2 = (float)(run->h * run->h);
    float share = m->freeze[k] / (1 - m->freeze[k]);
    float tie = FREEZE_STIFFNESS * h2 * share * share;
    for (int i = 4 * k; i < 4 * k + LAYERS; i++) {
        float keep = m->freeze[k] >= 1 ? 0 : 1 / (1 + tie / (1 + h2 * m->regions.kappa_mean[i]));
        for (int c = 0; c < 3; c++) x[c][i] = target[c][i] + keep * (x[c][i] - target[c][i]);
    }
}

void layers_maps_project(layers_run *run, int begin, int end)
{
    const layers_model *m = run->m;
    for (int k = begin; k < end && m->press; k++)
        if (m->press[k] < 1) press_limit(run, k);
    for (int k = begin; k < end && m->freeze; k++)
        if (m->freeze[k] > 0) freeze_tie(run, k);
}
