/*
 * layers_volume.c: conservation of the sub-volumes that layers_pieces.c has found.
 *
 * After Deul and Bender 2013, section 4.6: one constraint a piece, V(x) = V0, solved after the elastic loop, points in
 * contact held. Departure: a correction moves points along their normals, scaled by the depth of flesh under them; the
 * inner layers follow it by depth.
 */
#include <string.h>

#include "solvers/layers/layers.h"
#include "solvers/layers/layers_limits.h"

/* Sums that the triangles of a part go to in turn: a whole number of vectors. */
enum { SLOTS = 8 };
/* Points that a thread takes at once. */
enum { POINT_GRAIN = 1024 };

/* ---- sums ---- */

/*
 * Sums over the triangles begin..end of a piece, with corners relative to origin: six volumes; six times its
 * derivative along the shared directions (NULL: 0); and along velocities of all corners (NULL: 0). Positions and
 * velocities (n points and the centres x 3) and directions (n x 3) have room for one float more.
 */
static void triangles_sum(const layers_volumes *v, int begin, int end, int n, vec3 origin, const float *positions,
                          const float *directions, const float *velocities, double sums[3])
{
    double slots[3][SLOTS] = {{0}};
    const float from[3] = {origin.x, origin.y, origin.z};
    int kinds = velocities ? 3 : directions ? 2 : 1;

    for (int t = begin; t < end; t += LANES) {
        int32_t at[3][LANES], inner[3][LANES], shares_at[LANES];
        vfloat x[3][4], area[3][3], field[4], shares[4], terms[3] = {v_set(0), v_set(0), v_set(0)};

        /* corners of the triangles, the last one repeated */
        for (int lane = 0; lane < LANES; lane++) {
            shares_at[lane] = 3 * MIN(t + lane, end - 1);
            for (int k = 0; k < 3; k++) {
                at[k][lane] = 3 * v->triangles[shares_at[lane] + k];
                inner[k][lane] = MIN(at[k][lane], 3 * (n - 1)); /* centres have no share */
            }
        }

        for (int k = 0; k < 3; k++) {
            v_load4(positions, at[k], x[k]);
            for (int c = 0; c < 3; c++) x[k][c] = x[k][c] - v_set(from[c]);
        }

        /* cross products of the other two corners */
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++) {
                const vfloat *a = x[(k + 1) % 3], *b = x[(k + 2) % 3];
                area[k][c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
            }

        /* volume, its derivative along the directions, and along the velocities */
        for (int c = 0; c < 3; c++) terms[0] = terms[0] + x[0][c] * area[0][c];
        if (directions) v_load4(v->shares, shares_at, shares);
        for (int k = 0; k < 3 && directions; k++) {
            v_load4(directions, inner[k], field);
            terms[1] = terms[1] + shares[k] * (area[k][0] * field[0] + area[k][1] * field[1] + area[k][2] * field[2]);
        }

        for (int k = 0; k < 3 && velocities; k++) {
            v_load4(velocities, at[k], field);
            terms[2] = terms[2] + (area[k][0] * field[0] + area[k][1] * field[1] + area[k][2] * field[2]);
        }

        /* The slots depend on the triangle alone, whatever the number of lanes; beyond the end nothing is added. */
        for (int i = 0; i < kinds; i++) {
            float values[LANES];
            double *slot = slots[i] + (t - begin) % SLOTS;
            v_store(values, terms[i]);
            for (int lane = MAX(end - t, 0); lane < LANES; lane++) values[lane] = 0;
            for (int lane = 0; lane < LANES; lane++) slot[lane] += (double)values[lane];
        }
    }

    /* the sum of the slots */
    for (int i = 0; i < 3; i++) {
        sums[i] = 0;
        for (int slot = 0; slot < SLOTS; slot++) sums[i] += slots[i][slot];
    }
}

static vec3 piece_origin(const layers_volumes *v, int p, const float *positions)
{
    return vec3_load(positions + 3 * v->triangles[3 * v->triangle_first[p]]);
}
double layers_volume_of(const layers_volumes *volumes, int piece, int point_count, const float *positions)
{
    double sums[3];
    triangles_sum(volumes, volumes->triangle_first[piece], volumes->triangle_first[piece + 1], point_count,
                  piece_origin(volumes, piece, positions), positions, NULL, NULL, sums);
    return sums[0] / 6;
}

/* ---- the loop ---- */

typedef struct volume_task {
    const layers_volumes *v;
    int n;
    layers_volume_work *work;
    const float *free;   /* of layers_volume_directions */
    float *velocities;   /* NULL: positions */
    const float *values; /* (count) that field_apply shares out: lambdas or pressures */
    float *const *push;
} volume_task;

static void directions_scale(void *context, int begin, int end)
{
    const volume_task *task = context;
    for (int k = begin; k < end; k++)
        for (int c = 0; c < 3; c++) task->work->directions[3 * k + c] *= task->v->softness[k] * task->free[k];
}

void layers_volume_directions(const layers_volumes *volumes, const mesh *m, const float *free, layers_volume_work *work,
                              const cutis_jobs *jobs)
{
    volume_task task = {.v = volumes, .n = m->point_count, .work = work, .free = free};
    mesh_normals(m, work->positions, work->directions, jobs);
    parallel_for(jobs, m->point_count, POINT_GRAIN, directions_scale, &task);
}

void layers_volume_freedom(const layers_volumes *volumes, int point_count, const float *free, float *freedom)
{
    for (int p = 0; p < volumes->count; p++) freedom[p] = 0;
    for (int k = 0; k < point_count; k++) {
        float give = volumes->areas[k] * volumes->softness[k] * (free ? free[k] : 1);
        for (int s = volumes->point_first[k]; s < volumes->point_first[k + 1]; s++)
            freedom[volumes->point_volumes[s]] += give * volumes->point_shares[s];
    }
    for (int p = 0; p < volumes->count; p++)
        freedom[p] = volumes->give[p] > 0 ? MIN((float)(freedom[p] / volumes->give[p]), 1.0f) : 0;
}

void layers_volumes_freeze(layers_volumes *volumes, const mesh *m)
{
    layers_volume_freedom(volumes, m->point_count, NULL, volumes->freedom);
    for (int p = 0; p < volumes->count; p++)
        if (volumes->freedom[p] < FREEDOM_LEAST) volumes->rest[p] = 0;
}

static void parts_sum(void *context, int begin, int end)
{
    const volume_task *task = context;
    const layers_volumes *v = task->v;
    const float *positions = task->work->positions;
    for (int part = begin; part < end; part++) {
        int p = v->part_pieces[part];
        int first = v->triangle_first[p] + (part - v->part_first[p]) * LAYERS_PART_TRIANGLES;
        triangles_sum(v, first, MIN(first + LAYERS_PART_TRIANGLES, v->triangle_first[p + 1]), task->n,
                      piece_origin(v, p, positions), positions, task->work->directions, task->velocities,
                      task->work->sums + 3 * part);
    }
}

/* The volume of a piece, after parts_sum. */
static double piece_volume(const volume_task *task, int p)
{
    double volume = 0;
    for (int part = task->v->part_first[p]; part < task->v->part_first[p + 1]; part++)
        volume += task->work->sums[3 * part] / 6;
    return volume;
}

/*
 * Where skinning alone changes a piece by a part of its flesh, flesh makes up for it. Where it changes it by more than
 * half of that, no flesh was pressed: the cuts around the piece have moved, as in a rest pose far from the clip's, at
 * the hem of an open skirt, or at the root of a tail, where little skin answers for a deep fan; and that skin would
 * have to go in to the bone or as far out. The more it does, the less is made up for.
 */
void layers_volume_targets(const layers_volumes *volumes, int point_count, layers_volume_work *work,
                           const cutis_jobs *jobs)
{
    volume_task task = {.v = volumes, .n = point_count, .work = work};
    parallel_for(jobs, volumes->part_first[volumes->count], 1, parts_sum, &task);
    for (int p = 0; p < volumes->count; p++) {
        double rest = volumes->rest[p];
        double skinned = piece_volume(&task, p);
        double change = rest != 0 ? fabs(skinned - rest) / (volumes->depths[p] * volumes->give[p]) : 0;
        double u = CLAMP((change - CHANGE_LEAST) / (CHANGE_MOST - CHANGE_LEAST), 0, 1);
        double share = 1 - u * u * (3 - 2 * u);
        work->targets[p] = rest != 0 ? skinned + share * (rest - skinned) : 0;
    }
}

/* How far the points of each piece must go along their directions. Returns the largest error of a piece that can move.
 */
static double lambdas_find(volume_task *task, const cutis_jobs *jobs)
{
    const layers_volumes *v = task->v;
    double worst = 0;

    parallel_for(jobs, v->part_first[v->count], 1, parts_sum, task);
    for (int p = 0; p < v->count; p++) {
        double sums[3] = {0};
        for (int part = v->part_first[p]; part < v->part_first[p + 1]; part++)
            for (int i = 0; i < 3; i++) sums[i] += task->work->sums[3 * part + i] / 6;

        /* what is asked: a volume, or that it does not change */
        double target = task->velocities ? v->rest[p] : task->work->targets[p];
        double wanted = task->velocities ? -sums[2] : target - sums[0];

        /*
         * A piece whose points are nearly all held cannot be helped: the few others would have to make room for all,
         * and burst. They go FREEDOM_LEAST^-1 times as far at most as all would have to, and a part of the depth.
         */
        double lambda = target != 0 && sums[1] > 0 ? wanted / sums[1] : 0;
        lambda *= MIN(task->work->freedom[p] / FREEDOM_LEAST, 1.0f);

        /* no further in one step than a part of the depth */
        double limit = STEP_LIMIT * v->depths[p];
        if (!task->velocities) lambda = CLAMP(lambda, -limit, limit);
        task->work->lambdas[p] = (float)lambda;
        if (lambda != 0) worst = MAX(worst, fabs(wanted / target));
    }

    return worst;
}

/* The sum of the values of the pieces that point k serves, by its shares. */
static float point_value(const volume_task *task, int k)
{
    const layers_volumes *v = task->v;
    float step = 0;
    for (int s = v->point_first[k]; s < v->point_first[k + 1]; s++)
        step += v->point_shares[s] * task->values[v->point_volumes[s]];
    return step;
}

static void field_apply(void *context, int begin, int end)
{
    const volume_task *task = context;
    float *field = task->velocities ? task->velocities : task->work->positions;
    for (int k = begin; k < end; k++) {
        float step = point_value(task, k);
        for (int c = 0; c < 3; c++) field[3 * k + c] += step * task->work->directions[3 * k + c];
    }
}

bool layers_volume_project(const layers_volumes *volumes, int point_count, layers_volume_work *work,
                           const cutis_jobs *jobs)
{
    volume_task task = {.v = volumes, .n = point_count, .work = work, .values = work->lambdas};
    if (lambdas_find(&task, jobs) < VOLUME_SLACK) return false;
    parallel_for(jobs, point_count, POINT_GRAIN, field_apply, &task);
    for (int p = 0; p < volumes->count; p++) work->totals[p] += work->lambdas[p];
    return true;
}

void layers_volume_errors(const layers_volumes *volumes, int point_count, layers_volume_work *work,
                          const cutis_jobs *jobs, float *errors)
{
    volume_task task = {.v = volumes, .n = point_count, .work = work};
    parallel_for(jobs, volumes->part_first[volumes->count], 1, parts_sum, &task);
    for (int p = 0; p < volumes->count; p++) {
        errors[p] = volumes->rest[p] != 0 ? (float)(piece_volume(&task, p) / volumes->rest[p] - 1) : 0;
    }
}

static void push_apply(void *context, int begin, int end)
{
    const volume_task *task = context;
    for (int k = begin; k < end; k++) {
        float step = point_value(task, k);
        for (int c = 0; c < 3; c++) task->push[c][k] = step * task->work->directions[3 * k + c];
    }
}

void layers_volume_push(const layers_volumes *volumes, int point_count, layers_volume_work *work,
                        const float *pressures, const cutis_jobs *jobs, float *const push[3])
{
    volume_task task = {.v = volumes, .n = point_count, .work = work, .values = pressures, .push = push};
    parallel_for(jobs, point_count, POINT_GRAIN, push_apply, &task);
}

void layers_volume_velocity(const layers_volumes *volumes, int point_count, layers_volume_work *work,
                            const cutis_jobs *jobs, float *velocities)
{
    volume_task task = {
        .v = volumes, .n = point_count, .work = work, .velocities = velocities, .values = work->lambdas};
    lambdas_find(&task, jobs);
    parallel_for(jobs, point_count, POINT_GRAIN, field_apply, &task);
}
