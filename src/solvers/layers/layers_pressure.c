/*
 * layers_pressure.c: volumes within the substep: which points may move for them, and the pressures that keep them.
 * After Deul and Bender 2013, section 4.6; layers_pieces.c finds the sub-volumes, layers_volume.c keeps them.
 *
 * Departure from the paper: the pressure that kept a volume in the substeps before acts from the first iteration on, so
 * that elasticity and contact find their balance with it. It is the sum of the corrections so far, which forgets
 * slowly. Joints that a clip scales change the volume: the more they do, the less it is kept.
 */
#include <string.h>

#include "solvers/layers/layers_step.h"

float layers_volume_share(const layers_run *run)
{
    const layers_model *m = run->m;
    double most = 0;
    for (int j = 0; j < m->joint_count; j++) {
        if (!m->character->joints[j].deforms) continue;
        const float *skin = run->input->skin + 12 * j;
        vec3 columns[3];
        for (int c = 0; c < 3; c++) columns[c] = vec3_make(skin[c], skin[4 + c], skin[8 + c]);

        /* the determinant of a skin matrix is how its bone swells */
        double volume = fabs((double)vec3_dot(columns[0], vec3_cross(columns[1], columns[2])));
        most = MAX(most, fabs(volume - 1));
    }

    /* smoothly from 1, bones that keep their size, to 0 */
    double u = CLAMP((most - SCALE_LEAST) / (SCALE_MOST - SCALE_LEAST), 0, 1);
    return (float)(1 - u * u * (3 - 2 * u));
}

void layers_pressures_apply(layers_run *run)
{
    const layers_model *m = run->m;
    layers_volume_work *work = &run->w.volume;

    /* what the skeleton alone does to the volumes */
    memcpy(work->positions, run->w.drive, (size_t)m->point_count * 3 * sizeof(float));
    memcpy(work->positions + 3 * m->point_count, run->w.drive + 6 * m->point_count,
           (size_t)m->volumes.centre_count * 3 * sizeof(float));
    if (m->volumes.count > 0) layers_volume_targets(&m->volumes, m->point_count, work, run->input->jobs);

    /* the pressures of before */
    memcpy(work->positions, run->w.skin_old, (size_t)m->point_count * 3 * sizeof(float));
    for (int k = 0; k < m->point_count; k++) run->w.free[k] = 1;
    layers_volume_directions(&m->volumes, m->mesh, run->w.free, work, run->input->jobs);
    layers_volume_push(&m->volumes, m->point_count, work, run->s.pressures, run->input->jobs, run->w.iterate.push);

    /* impulses that would move the skin so far if nothing held it */
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < m->point_count; k++) run->w.iterate.push[c][k] *= m->regions.mass[4 * k];
}

/* Contact moved the point by this much in the substep, and so holds it. */
static void point_hold(layers_run *run, int k, float push)
{
    run->w.free[k] = MIN(run->w.free[k], MAX(1 - push / (HELD_PUSH * run->m->thickness), 0.0f));
}

/* Mark the points that contact holds; returns how many times. */
static int points_hold(layers_run *run)
{
    int held = 0;

    for (int i = 0; i < run->pair_count; i++) {
        const contact_pair *pair = run->w.contact.pairs + i;
        for (int v = 0; v < 4 && pair->lambda > 0; v++) {
            point_hold(run, pair->v[v], pair->lambda * run->w.inverses[pair->v[v]] * fabsf(pair->weights[v]));
            held++;
        }
    }

    for (int i = 0; i < run->plane_count; i++) {
        if (!(run->w.planes[i].lambda > 0)) continue;
        int k = run->w.planes[i].point;
        point_hold(run, k, run->w.planes[i].lambda * run->w.inverses[k]);
        held++;
    }

    return held;
}

/* How free each point is: 0 in contact, smoothly to 1 away from it, and where contact only begins. */
static void freedom_find(layers_run *run)
{
    const layers_model *m = run->m;
    const mesh *skin = m->mesh;

    for (int k = 0; k < m->point_count; k++) run->w.free[k] = 1;
    int held = points_hold(run);
    if (held == 0) {
        memcpy(run->w.volume.freedom, m->volumes.freedom, (size_t)m->volumes.count * sizeof(float));
        return;
    }

    /* smooth over two rings, never up */
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < m->point_count; k++) {
            float sum = run->w.free[k];
            int first = skin->point_neighbour_first[k];
            int last = skin->point_neighbour_first[k + 1];
            for (int i = first; i < last; i++) sum += run->w.free[skin->point_neighbours[i]];
            run->w.free_next[k] = run->w.free[k] * sum / (float)(last - first + 1);
        }
        memcpy(run->w.free, run->w.free_next, (size_t)m->point_count * sizeof(float));
    }

    layers_volume_freedom(&m->volumes, m->point_count, run->w.free, run->w.volume.freedom);
}

void layers_volumes_keep(layers_run *run)
{
    const layers_model *m = run->m;
    layers_volume_work *work = &run->w.volume;

    /* centres of fans follow the skeleton */
    memcpy(work->positions + 3 * m->point_count, run->w.drive + 6 * m->point_count,
           (size_t)m->volumes.centre_count * 3 * sizeof(float));

    /* sub-volumes, which tile the body: with them its whole volume is kept */
    freedom_find(run);
    layers_volume_directions(&m->volumes, m->mesh, run->w.free, work, run->input->jobs);
    memset(work->totals, 0, (size_t)m->volumes.count * sizeof(float));

    bool off = true;
    for (int i = 0; i < m->volume_iterations && off; i++)
        off = layers_volume_project(&m->volumes, m->point_count, work, run->input->jobs);

    /* a skeleton that swells or shrinks says itself how large the flesh is */
    float share = layers_volume_share(run);
    for (int i = 0; i < 3 * m->point_count && share < 1; i++)
        work->positions[i] = run->w.before[i] + share * (work->positions[i] - run->w.before[i]);

    /* in the next substep all points do what the free ones did in this */
    float keep = share * (float)det_exp(-PRESSURE_RATE * run->h);
    float reach = PRESSURE_LIMIT * (float)(run->h * run->h / (PRESSURE_STEP * PRESSURE_STEP));
    for (int p = 0; p < m->volumes.count; p++) {
        float limit = reach * (float)m->volumes.depths[p];
        run->s.pressures[p] =
            CLAMP(run->s.pressures[p] * keep + share * work->freedom[p] * work->totals[p], -limit, limit);
    }
}

void layers_pressures_clear(layers_run *run)
{
    const layers_volumes *volumes = &run->m->volumes;
    memset(run->s.pressures, 0, (size_t)volumes->count * sizeof(float));
    memcpy(run->w.volume.freedom, volumes->freedom, (size_t)volumes->count * sizeof(float));
}

void layers_skin_scatter(layers_run *run)
{
    const layers_model *m = run->m;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < m->point_count; k++) {
            if (m->freeze && m->freeze[k] >= 1) continue;
            float *x = run->w.iterate.x[c] + 4 * k;
            float skin = run->w.volume.positions[3 * k + c];
            float step = skin - run->w.before[3 * k + c];
            x[LAYER_SKIN] = skin;
            for (int l = LAYER_FAT; l < LAYER_BONE; l++) x[l] += step * (1 - m->depths[4 * k + l]);
        }
}
