/*
 * lattice_constraints.c: the stretch and volume constraints (section 6.2 of the paper).
 *
 * The paper projects positions. Here both are forces of an energy, k C^2 / 2 for each constraint C, of equal size on
 * both ends and divided by the mass that shape matching implies (lattice_build.c): without damping nothing gains or
 * loses. Equation 13's weights are left out for that; the skin is lighter than the inside already.
 *
 * Stretch. The direction of equation 9 for each neighbour. The paper counts "20 neighbours that share
 * either a face or a corner"; a cube has 6 face neighbours, 12 more that share an edge and 8 more that share only a
 * corner. lattice_build.c fills up to 20 places: edge and corner neighbours first (12 + 8 inside the body), then face
 * neighbours where others are missing, so that thin parts, for which the paper wants more than 6, use all they have.
 *
 * Volume. Equation 11 as printed has one wrong sign (its third term must start from p^x-, see the test); corrected,
 * its eight determinants are the expansion of a single one,
 *     V = det(p^x+ - p^x-, p^y+ - p^y-, p^z+ - p^z-),
 * because each is linear in each point. So the gradients of equation 12 are three cross products,
 *     dV/dp^x+ = b x c,  dV/dp^y+ = c x a,  dV/dp^z+ = a x b,  and the opposite for the minus points,
 * with a, b, c the three differences. (The printed lines name some points wrongly; the test compares with finite
 * differences.) As the surface points are midway to the neighbours, the corrections go to the neighbours.
 */
#include "solvers/lattice/lattice.h"

/* ---- stretch ---- */

/* Constraints in one block of work, a multiple of any LANES. */
#define CONSTRAINT_GRAIN 256

typedef struct stretch_job {
    const lattice_stretch *stretch;
    const quad *places;
    const float *intact;
    quad *pulls;
} stretch_job;

static void stretch_block(void *context, int begin, int end)
{
    const stretch_job *job = context;
    const lattice_stretch *s = job->stretch;

    const float *from = (const float *)job->places;
    int32_t own[LANES];
    for (int v = begin; v < end; v += LANES) {
        /* the voxels' own places */
        for (int lane = 0; lane < LANES; lane++) own[lane] = 4 * (s->first + v + lane);
        vfloat here[4], there[4];
        v_load4(from, own, here);
        vfloat sx = v_set(0), sy = v_set(0), sz = v_set(0), one = v_set(1), zero = v_set(0);

        /* too short pushes, too long pulls */
        for (int slot = 0; slot < s->slot_count; slot++) {
            const int32_t *neighbour = s->neighbours + (size_t)slot * s->padded + v;
            vfloat length = v_load(s->lengths + (size_t)slot * s->padded + v);
            v_load4(from, neighbour, there);
            vfloat dx = here[0] - there[0], dy = here[1] - there[1], dz = here[2] - there[2];
            vfloat now = v_sqrt(dx * dx + dy * dy + dz * dz);
            vfloat factor = length / v_max(now, v_set(1e-12f)) - one;
            factor = v_select(v_less(zero, now), factor, zero);
            sx = sx + factor * dx;
            sy = sy + factor * dy;
            sz = sz + factor * dz;
        }

        /* a voxel turned inside out has its lengths all the same: they must not hold it there */
        vfloat gain = v_load(s->gains + v) * v_load(job->intact + s->first + v);
        vfloat pull[4] = {gain * sx, gain * sy, gain * sz, zero};
        v_store4((float *)job->pulls, own, pull);
    }
}

void lattice_stretch_pull(const lattice_stretch *stretch, const quad *places, const float *intact, quad *pulls,
                          const cutis_jobs *jobs)
{
    stretch_job job = {stretch, places, intact, pulls};
    parallel_for(jobs, LANE_ROUND(stretch->last - stretch->first), CONSTRAINT_GRAIN, stretch_block, &job);
}

/* ---- volume ---- */

float lattice_volume_of(const float a[3], const float b[3], const float c[3], float gradients[9])
{
    for (int k = 0; k < 3; k++) {
        int u = (k + 1) % 3, w = (k + 2) % 3;
        gradients[k] = b[u] * c[w] - b[w] * c[u];
        gradients[3 + k] = c[u] * a[w] - c[w] * a[u];
        gradients[6 + k] = a[u] * b[w] - a[w] * b[u];
    }
    return a[0] * gradients[0] + a[1] * gradients[1] + a[2] * gradients[2];
}

/* Share of its volume below which a voxel counts as turned inside out. */
#define INSIDE_OUT 0.05f
/* Share of a voxel's volume beyond which its push no longer grows: what skinning has folded is not thrown about. */
#define ERROR_MOST 0.5f

typedef struct volume_job {
    const lattice_volume *volume;
    const quad *positions;
    const float *wanted;
    float *found, *intact;
    quad *shares; /* (count x 3) multiplier x gradient to the plus point of each axis */
    quad *pushes;
} volume_job;

/* The multiplier of each voxel's constraint (equation 6), times its gradients. */
static void volume_block(void *context, int begin, int end)
{
    const volume_job *job = context;
    const lattice_volume *vol = job->volume;
    const float *p = (const float *)job->positions;
    int32_t triple[LANES];
    for (int lane = 0; lane < LANES; lane++) triple[lane] = 12 * lane;
    for (int v = begin; v < end; v += LANES) {
        /* the three central differences, and the gradients */
        vfloat d[9], g[9];
        for (int axis = 0; axis < 3; axis++) {
            vfloat a[4], b[4];
            v_load4(p, vol->ends[2 * axis + 1] + v, a);
            v_load4(p, vol->ends[2 * axis] + v, b);
            for (int k = 0; k < 3; k++) d[3 * axis + k] = a[k] - b[k];
        }
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, w = (k + 2) % 3;
            g[k] = d[3 + u] * d[6 + w] - d[3 + w] * d[6 + u];
            g[3 + k] = d[6 + u] * d[w] - d[6 + w] * d[u];
            g[6 + k] = d[u] * d[3 + w] - d[w] * d[3 + u];
        }

        /* the error; a voxel without a constraint has rest volume 0 */
        vfloat rest = v_load(vol->rest_volume + v);
        vfloat wanted = v_load(job->wanted + v);
        vfloat volume = d[0] * g[0] + d[1] * g[1] + d[2] * g[2];
        vfloat bound = v_set(ERROR_MOST) * v_max(v_abs(wanted), rest);
        vfloat c = v_min(v_max(volume - wanted, -bound), bound);
        c = v_select(v_less(v_set(0), rest), c, v_set(0));
        vint inverted = v_less(volume * wanted, v_set(INSIDE_OUT) * wanted * wanted);
        v_store(job->intact + v, v_select(inverted, v_set(0), v_set(1)));
        c = v_select(inverted, v_set(0), c);
        v_store(job->found + v, volume);

        /* the denominator of rest makes it the force of an energy; where the gradient grows it grows along, so that
         * what is blown up is not thrown about (without that a kicked torus explodes at 1/60 s) */
        vfloat sum = v_set(0);
        for (int axis = 0; axis < 3; axis++) {
            vfloat length2 =
                g[3 * axis] * g[3 * axis] + g[3 * axis + 1] * g[3 * axis + 1] + g[3 * axis + 2] * g[3 * axis + 2];
            sum = sum + (v_load(vol->end_weights[2 * axis] + v) + v_load(vol->end_weights[2 * axis + 1] + v)) * length2;
        }
        vfloat multiplier = c / v_max(sum, v_load(vol->least + v));
        for (int axis = 0; axis < 3; axis++) {
            vfloat push[4] = {multiplier * g[3 * axis], multiplier * g[3 * axis + 1], multiplier * g[3 * axis + 2],
                              v_set(0)};
            v_store4((float *)&job->shares[3 * v + axis], triple, push);
        }
    }
}

/* Each voxel collects what the constraints of its neighbours (and its own) want of it. */
static void volume_collect(void *context, int begin, int end)
{
    const volume_job *job = context;
    const lattice_volume *vol = job->volume;
    for (int i = begin; i < end; i++) {
        int v = vol->first + i;
        const int *givers = vol->givers + LATTICE_DIRECTIONS * (size_t)v;
        quad sum = {0, 0, 0, 0};
        for (int axis = 0; axis < 3; axis++) {
            sum += job->shares[3 * givers[2 * axis] + axis];
            sum -= job->shares[3 * givers[2 * axis + 1] + axis];
            sum -= job->shares[3 * v + axis] * vol->own_ends[v][axis];
        }
        job->pushes[v] = sum * vol->gains[v];
    }
}

void lattice_volume_push(const lattice_volume *volume, const quad *positions, const float *wanted, float *found,
                         float *intact, quad *shares, quad *pushes, const cutis_jobs *jobs)
{
    volume_job job = {volume, positions, wanted, found, intact, shares, pushes};
    parallel_for(jobs, LANE_ROUND(volume->count), CONSTRAINT_GRAIN, volume_block, &job);

    /* The last entry stands for no giver. */
    for (int axis = 0; axis < 3; axis++) shares[3 * volume->padded + axis] = (quad){0, 0, 0, 0};
    parallel_for(jobs, volume->count - volume->first, CONSTRAINT_GRAIN, volume_collect, &job);
}
