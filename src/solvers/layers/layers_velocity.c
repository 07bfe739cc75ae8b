/*
 * layers_velocity.c: where inertia takes the particles, and the velocities that a substep leaves: damping, divergence,
 * friction and restitution. After Deul and Bender 2013, algorithm 1, lines 1 to 4 and 14 to 18.
 *
 * Departures from the paper:
 * - Velocities are damped relative to the skeleton's motion, by a rate in 1/s.
 * - Gravity acts on tissue that bears it at rest (`gravity`); loads without such a past are accelerations.
 * - Tissue stiffens when it is strained: flesh is tied to its place under the skeleton by the square of its deviation
 *   over its bound (parameter `give`).
 */
#include <string.h>

#include "solvers/layers/layers_step.h"

/* ---- prediction ---- */

/*
 * Strained tissue stiffens: a particle at deviation d from its place is pulled back by the tissue's stiffness times
 * t(d) d, t = s^2 / (1 - s^2) with s = |d| / bound, up to s^2 = TIE_SHARE. The force is linearised at the deviation y
 * at the start of the substep, with its slope along y, t + |y| t', in all directions: t(y) y + (t + |y| t') (d - y).
 * With a smaller slope, such as t(y) alone, the force acts on the next substep more than on this one, and flesh that
 * contact holds near its bound never comes to rest.
 */
static void ties_find(layers_run *run, int begin, int end)
{
    const layers_model *m = run->m;
    const layers_iterate *iterate = &run->w.iterate;
    float h2 = (float)(run->h * run->h);

    for (int i = LAYERS * begin; i < LAYERS * end; i++) {
        int k = i / LAYERS;
        float bound = m->bounds[k] * (1 - m->depths[i]);

        /* how far it was from its place */
        float away[3], away2 = 0;
        for (int c = 0; c < 3; c++) {
            float before[LAYERS];
            layers_drive_column(m, run->s.drive, k, c, before);
            away[c] = run->w.old[c][i] - before[i % LAYERS];
            away2 += away[c] * away[c];
        }

        /* the tie there, and its slope: |y| t' is twice s^2 / (1 - s^2)^2 */
        float share2 = bound > 0 ? MIN(away2 / (bound * bound), TIE_SHARE) : 0;
        float tie = share2 / (1 - share2), slope = share2 < TIE_SHARE ? tie + 2 * tie / (1 - share2) : tie;

        /* what is painted half frozen is tied by as much again as its flesh holds it */
        float freeze = m->freeze ? MIN(m->freeze[k], FREEZE_MOST) : 0;
        float frozen = freeze / (1 - freeze);
        run->w.ties[i] = m->frequencies[k] * (slope + frozen * frozen);
        float pull = m->regions.mass[i] * h2 * m->frequencies[k] * (slope - tie);
        for (int c = 0; c < 3; c++) iterate->pulls[c][i] = pull * away[c];
    }
}

/* Unit normal of the skin at a place, outwards. */
static vec3 skin_normal(const layers_run *run, int k)
{
    const mesh *skin = run->m->mesh;
    vec3 sum = {0, 0, 0};

    for (int n = skin->point_triangle_first[k]; n < skin->point_triangle_first[k + 1]; n++) {
        const int *corner = skin->triangles + 3 * (size_t)skin->point_triangles[n];
        vec3 p[3];

        for (int e = 0; e < 3; e++)
            p[e] = vec3_make(run->s.x[0][LAYERS * corner[e]], run->s.x[1][LAYERS * corner[e]],
                             run->s.x[2][LAYERS * corner[e]]);
        sum = vec3_add(sum, vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
    }

    float length = vec3_length(sum);
    return length > 0 ? vec3_scale(sum, 1 / length) : sum;
}

/*
 * Gravity on flesh that hangs under it already. At rest the stress of the tissue bears the weight, and it turns with
 * the tissue: what is left is the weight less the weight as the bones turn it, none in the pose of rest.
 */
static vec3 weight_left(const layers_run *run, int k)
{
    vec3 down = {0, -run->m->gravity, 0};
    return vec3_sub(down, skinning_direction(&run->m->drive, run->input->skin, k, down));
}

/* Gravity, blows, and the wind on the skin, which all layers above the bone bear alike. */
static void outer_forces(layers_run *run, int begin, int end)
{
    const layers_model *m = run->m;
    const solver_input *input = run->input;
    bool windy = kit_windy(input);
    bool heavy = m->gravity > 0 || m->gravity < 0;
    if (!windy && !heavy && input->impulse_count == 0) return;
    float h = (float)run->h;

    /* the gain of velocity at each place */
    for (int k = begin; k < end; k++) {
        vec3 normal = windy ? skin_normal(run, k) : vec3_make(0, 0, 0);
        vec3 fall = heavy ? vec3_scale(weight_left(run, k), h) : vec3_make(0, 0, 0);

        for (int i = LAYERS * k; i < LAYERS * k + LAYER_BONE; i++) {
            vec3 x = {run->s.x[0][i], run->s.x[1][i], run->s.x[2][i]};
            vec3 v = {run->s.v[0][i], run->s.v[1][i], run->s.v[2][i]};
            vec3 gain = kit_blow(input, vec3_madd(vec3_load(m->centre), x, m->size));

            if (windy) {
                vec3 wind = kit_wind(input, normal, vec3_scale(v, m->size), m->flesh[k] * m->size);
                gain = vec3_madd(gain, wind, h);
            }

            run->s.v[0][i] += gain.x / m->size + fall.x;
            run->s.v[1][i] += gain.y / m->size + fall.y;
            run->s.v[2][i] += gain.z / m->size + fall.z;
        }
    }
}

static void predict_block(void *context, int begin, int end)
{
    layers_run *run = context;
    const layers_model *m = run->m;
    layers_iterate *iterate = &run->w.iterate;
    float h = (float)run->h;
    outer_forces(run, begin, end);

    /* inertia; the bone layer is where the skeleton has it */
    for (int c = 0; c < 3; c++) {
        float fall = run->input->acceleration[c] / m->size * h;
        for (int k = begin; k < end; k++) {
            int at = LAYERS * k;
            float x[LAYERS], target[LAYERS], inert[LAYERS];

            layers_drive_column(m, run->w.drive, k, c, target);
            memcpy(x, run->s.x[c] + at, sizeof x);
            for (int l = 0; l < LAYERS; l++) inert[l] = x[l] + h * (run->s.v[c][at + l] + fall);
            run->w.skin_old[3 * k + c] = x[LAYER_SKIN];
            memcpy(run->w.old[c] + at, x, sizeof x);
            memcpy(iterate->target[c] + at, target, sizeof target);
            memcpy(iterate->inert[c] + at, inert, sizeof inert);

            inert[LAYER_BONE] = target[LAYER_BONE];
            memcpy(iterate->x[c] + at, inert, sizeof inert);
            memcpy(iterate->last[c] + at, inert, sizeof inert);
        }
    }

    /* the columns, stiffened by ties */
    ties_find(run, begin, end);
    layers_columns_factor(&m->regions, run->w.ties, run->h, begin, end, iterate);

    for (int k = begin; k < end; k++)
        run->w.inverses[k] = iterate->columns[16 * k] * (m->freeze ? 1 - m->freeze[k] : 1);
}

void layers_predict(layers_run *run)
{
    parallel_for(run->input->jobs, run->m->point_count, POINT_GRAIN, predict_block, run);
}

/* ---- damping ---- */

static void damp_block(void *context, int begin, int end)
{
    layers_run *run = context;
    const layers_model *m = run->m;
    const layers_iterate *iterate = &run->w.iterate;
    float inverse = (float)(1 / run->h);
    float keep = *run->s.recovering != 0 ? 0 : (float)det_exp(-(double)m->damping * run->h);

    for (int k = begin; k < end; k++) {
        int at = LAYERS * k;
        float relative[3][LAYERS], bone[3][LAYERS];
        float length2[LAYERS] = {0}, cut[LAYERS] = {1, 1, 1, 1};

        /* relative to the bones, damped */
        for (int c = 0; c < 3; c++) {
            float before[LAYERS];
            layers_drive_column(m, run->s.drive, k, c, before);
            for (int l = 0; l < LAYERS; l++) {
                bone[c][l] = (iterate->target[c][at + l] - before[l]) * inverse;
                relative[c][l] = ((iterate->x[c][at + l] - run->w.old[c][at + l]) * inverse - bone[c][l]) * keep;
                length2[l] += relative[c][l] * relative[c][l];
            }
        }

        /* no faster than flesh is */
        for (int l = 0; l < LAYERS; l++)
            if (length2[l] > SPEED_LIMIT * SPEED_LIMIT) cut[l] = SPEED_LIMIT / sqrtf(length2[l]);
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < LAYERS; l++) run->s.v[c][at + l] = bone[c][l] + cut[l] * relative[c][l];
    }
}

/* ---- the skin: divergence, friction, restitution ---- */

/* Take out what changes the volumes. */
static void divergence_remove(layers_run *run, float *v)
{
    const layers_model *m = run->m;
    int n = m->point_count;
    float inverse = (float)(1 / run->h);
    const float *now = run->w.drive + 6 * n;
    const float *old = run->s.drive + 6 * n;
    for (int i = 0; i < 3 * m->volumes.centre_count; i++) v[3 * n + i] = (now[i] - old[i]) * inverse;
    layers_volume_velocity(&m->volumes, n, &run->w.volume, run->input->jobs, v);
}

/* Friction and restitution of a pair that presses. */
static void pair_rub(layers_run *run, const contact_pair *pair, float *v)
{
    const layers_model *m = run->m;
    float inverse = (float)(1 / run->h);
    float before[3] = {0, 0, 0}, friction = 0, restitution = 0, mass = 0;

    /* of the pair: relative velocity before contact, friction, restitution, inverse mass */
    for (int k = 0; k < 4; k++) {
        int p = pair->v[k];
        for (int c = 0; c < 3; c++)
            before[c] += pair->weights[k] * (run->w.iterate.inert[c][4 * p] - run->w.old[c][4 * p]) * inverse;

        friction += 0.5f * fabsf(pair->weights[k]) * m->friction[p];
        restitution += 0.5f * fabsf(pair->weights[k]) * m->restitution[p];
        mass += run->w.inverses[p] * pair->weights[k] * pair->weights[k];
    }

    contact_pair_velocity(pair, run->w.inverses, friction, restitution, vec3_dot(vec3_load(before), pair->normal),
                          pair->lambda * mass * inverse, v);
}

/* The same against a prop. */
static void plane_rub(layers_run *run, const contact_plane *plane, float *v)
{
    float inverse = (float)(1 / run->h);
    float *x = v + 3 * plane->point;
    int i = LAYERS * plane->point;

    /* Coulomb friction cuts the slip */
    vec3 relative = vec3_sub(vec3_load(x), plane->velocity);
    float normal = vec3_dot(relative, plane->normal);
    vec3 slip = vec3_madd(relative, plane->normal, -normal);
    float speed = vec3_length(slip);
    float cut =
        speed > 0 ? MIN(plane->friction * plane->lambda * run->w.inverses[plane->point] * inverse, speed) / speed : 0;

    /* the speed of approach comes back in part */
    vec3 step = vec3_make(run->w.iterate.inert[0][i] - run->w.old[0][i], run->w.iterate.inert[1][i] - run->w.old[1][i],
                          run->w.iterate.inert[2][i] - run->w.old[2][i]);
    vec3 before = vec3_sub(step, vec3_scale(plane->velocity, (float)run->h));
    float approach = vec3_dot(before, plane->normal) * inverse;
    float wanted = approach < 0 ? -plane->restitution * approach : 0;

    /* slip less friction, and the larger of both normal speeds */
    relative = vec3_madd(vec3_scale(slip, 1 - cut), plane->normal, MAX(normal, wanted));
    vec3_store(x, vec3_add(relative, plane->velocity));
}

static void skin_correct(layers_run *run)
{
    const layers_model *m = run->m;
    float *v = run->w.velocities;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < m->point_count; k++) v[3 * k + c] = run->s.v[c][4 * k];
    if (m->volume_on && *run->s.recovering == 0 && layers_volume_share(run) == 1) divergence_remove(run, v);
    for (int i = 0; i < run->touch_count; i++) pair_rub(run, run->w.touches + i, v);
    for (int i = 0; i < run->plane_count; i++)
        if (run->w.planes[i].lambda > 0) plane_rub(run, run->w.planes + i, v);
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < m->point_count; k++) run->s.v[c][4 * k] = v[3 * k + c];
}

void layers_velocities_find(layers_run *run)
{
    parallel_for(run->input->jobs, run->m->point_count, POINT_GRAIN, damp_block, run);
    skin_correct(run);
}
