/*
 * tissue_friction.c: Coulomb friction with static friction, as bristles (Dahl 1968; Haessig and Friedland 1991).
 *
 * Two surfaces that touch slip against an elastic deflection s. Friction is mu F s / max(|s|, L): below the length L
 * the contact sticks and springs back, from L on it slides. A friction that starts from zero in every substep resists
 * speed only, so that folded flesh creeps until it snaps. The deflection is kept per column, since pairs change from
 * substep to substep: that of the column's side against what it touches, averaged over its pairs by force.
 */
#include <string.h>

#include "solvers/tissue/tissue.h"

/* Deflection at which contact begins to slide, sizes: half a millimetre on a person. */
static const float STICKING_LENGTH = 3e-4f;

/* The share of node v in what its side of a pair does; negative on the second side. */
static float side_share(const contact_pair *pair, int v) { return 0.5f * pair->weights[v]; }

vec3 tissue_slip_start(const tissue_run *run, const contact_pair *pair)
{
    vec3 slip = {0, 0, 0};
    for (int v = 0; v < 4; v++) slip = vec3_madd(slip, vec3_load(run->s.slip + 3 * pair->v[v]), side_share(pair, v));
    return slip;
}

float tissue_friction_slope(float friction, float force, float slip)
{
    return friction * force / MAX(slip, STICKING_LENGTH);
}

/* Add a deflection to the mean of column k. */
static void slip_add(tissue_run *run, int k, vec3 slip, vec3 normal, float weight)
{
    slip = vec3_madd(slip, normal, -vec3_dot(slip, normal));
    float length = vec3_length(slip);
    if (length > STICKING_LENGTH) slip = vec3_scale(slip, STICKING_LENGTH / length);
    float *sum = run->w.slips + 4 * (size_t)k;
    sum[0] += weight * slip.x;
    sum[1] += weight * slip.y;
    sum[2] += weight * slip.z;
    sum[3] += weight;
}

void tissue_slip_update(tissue_run *run)
{
    const tissue_model *m = run->m;
    memset(run->w.slips, 0, (size_t)m->count * 4 * sizeof(float));

    /* sums over pairs and planes that press */
    for (int i = 0; i < run->pair_count; i++) {
        const tissue_pair *pair = run->w.pairs + i;
        if (!(pair->force > 0)) continue;
        vec3 slip = tissue_pair_slip(run, pair);
        for (int v = 0; v < 4; v++) {
            float share = pair->base.weights[v];
            vec3 own = vec3_scale(slip, share < 0 ? -1.0f : 1.0f);
            slip_add(run, pair->base.v[v], own, pair->base.normal, fabsf(share) * pair->force);
        }
    }
    for (int i = 0; i < run->plane_count; i++) {
        const contact_plane *plane = run->w.planes + i;
        float force = tissue_plane_force(run, plane);
        if (force > 0) slip_add(run, plane->point, tissue_plane_slip(run, plane), plane->normal, force);
    }

    /* means; 0 where nothing presses */
    for (int k = 0; k < m->count; k++) {
        const float *sum = run->w.slips + 4 * (size_t)k;
        for (int c = 0; c < 3; c++) run->s.slip[3 * k + c] = sum[3] > 0 ? sum[c] / sum[3] : 0;
    }
}
