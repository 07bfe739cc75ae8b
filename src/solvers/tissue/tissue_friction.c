/*
 * tissue_friction.c: Coulomb friction with static friction, as bristles (Dahl 1968; Haessig and Friedland 1991).
 *
 * Two surfaces that touch slip against an elastic deflection s. Friction is mu F s / max(|s|, L): below the length L
 * the contact sticks and springs back, from L on it slides. A friction that starts from zero in every substep resists
 * speed only, so that folded flesh creeps until it snaps. The deflection is kept per pair, for as long as the pair
 * presses. A mean per column would not do: averaging shortens it in every substep, and the flesh creeps after it.
 */
#include <string.h>

#include "solvers/tissue/tissue.h"

/* Deflection at which contact begins to slide, sizes: half a millimetre on a person. */
static const float STICKING_LENGTH = 3e-4f;

/* Records per column, on average: where all skin touches skin, a column has about three pairs that press. */
enum { GRIPS_PER_COLUMN = 4 };

int tissue_grip_capacity(const tissue_model *m) { return m->self_contact ? GRIPS_PER_COLUMN * m->count + 1 : 0; }

static int grip_point(const float *grip) { return (int)fabsf(grip[0]) - 1; }

static void grip_key(const contact_pair *pair, float key[4])
{
    for (int v = 0; v < 4; v++) key[v] = (float)(pair->v[v] + 1);
    if (pair->kind == CONTACT_EDGE_EDGE) key[0] = -key[0];
}

void tissue_slip_start(tissue_run *run)
{
    const float *grips = run->s.grips;
    int *heads = run->w.queue, *next = run->w.grip_next, capacity = tissue_grip_capacity(run->m), count = 0;

    /* the records by their first point */
    for (int k = 0; k < run->m->count; k++) heads[k] = -1;
    for (; count < capacity && grips[GRIP * (size_t)count] != 0; count++) {
        int point = grip_point(grips + GRIP * (size_t)count);
        next[count] = heads[point];
        heads[point] = count;
    }

    /* each pair's own; a pair that did not press has none */
    for (int i = 0; i < run->pair_count; i++) {
        tissue_pair *pair = run->w.pairs + i;
        float key[4];
        grip_key(&pair->base, key);
        pair->slip = vec3_make(0, 0, 0);
        for (int j = heads[pair->base.v[0]]; j >= 0; j = next[j]) {
            const float *grip = grips + GRIP * (size_t)j;
            if (memcmp(grip, key, sizeof key) != 0) continue;
            pair->slip = vec3_load(grip + 4);
            break;
        }
    }
}

float tissue_friction_slope(float friction, float force, float slip)
{
    return friction * force / MAX(slip, STICKING_LENGTH);
}

static vec3 slip_limit(vec3 slip)
{
    float length = vec3_length(slip);
    return length > STICKING_LENGTH ? vec3_scale(slip, STICKING_LENGTH / length) : slip;
}

/* Slip of the pairs that press, for the next substep. */
static void grips_write(tissue_run *run)
{
    float *grip = run->s.grips;
    const float *last = grip + GRIP * ((size_t)tissue_grip_capacity(run->m) - 1);
    for (int i = 0; i < run->pair_count && grip < last; i++) {
        const tissue_pair *pair = run->w.pairs + i;
        if (!(pair->force > 0 && pair->friction > 0)) continue;
        grip_key(&pair->base, grip);
        vec3_store(grip + 4, slip_limit(tissue_pair_slip(run, pair)));
        grip += GRIP;
    }
    grip[0] = 0;
}

void tissue_slip_update(tissue_run *run)
{
    const tissue_model *m = run->m;
    if (m->self_contact) grips_write(run);
    if (m->props.count == 0) return;

    /* against props: the mean over planes that press */
    memset(run->w.slips, 0, (size_t)m->count * 4 * sizeof(float));
    for (int i = 0; i < run->plane_count; i++) {
        const contact_plane *plane = run->w.planes + i;
        float force = tissue_plane_force(run, plane);
        if (!(force > 0)) continue;
        float *sum = run->w.slips + 4 * (size_t)plane->point;
        vec3 slip = slip_limit(tissue_plane_slip(run, plane));
        vec3_store(sum, vec3_madd(vec3_load(sum), slip, force));
        sum[3] += force;
    }
    for (int k = 0; k < m->count; k++) {
        const float *sum = run->w.slips + 4 * (size_t)k;
        for (int c = 0; c < 3; c++) run->s.slip[3 * k + c] = sum[3] > 0 ? sum[c] / sum[3] : 0;
    }
}
