/*
 * lattice_embed.c: the surface in the moving voxels.
 *
 * A point is where linear blending puts it, plus what the lattice adds: the displacement of the voxels around it from
 * their own targets. Where no voxel leaves its target the surface is plain skinning to the bit. The paper instead
 * carries the surface by its voxels alone, which loses the artist's weights.
 *
 * Displacements are blended with cubic B-spline weights of the rest place, corrected so that a displacement which
 * is linear in the rest place is met (moving least squares of first order; Lancaster and Salkauskas 1981): a point of
 * the surface lies on the rim of its voxels, and their mean would lag behind it. The blend is smooth to the
 * second derivative across voxels, so that the grid does not show. Voxels are found along links from the point's own
 * one: a point of one part never hangs on another part that happens to be near.
 */
#include "solvers/lattice/lattice.h"

#include <string.h>

/* Most voxels that carry one point: 64 on a full grid, more where voxels of two sizes meet. */
#define CARRIERS 192

/* Added to the variance of the voxels around a point, over their edge squared: where they lie in a plane or a row, a
 * slope across it is not known, and is taken for 0. */
#define LEAST_VARIANCE 0.005

/* The cubic B-spline: support from -2 to 2, so that a point on the rim of its voxel reaches those behind it. */
static double spline(double x)
{
    x = fabs(x);
    return x < 1 ? 2.0 / 3 - x * x + 0.5 * x * x * x : x < 2 ? (2 - x) * (2 - x) * (2 - x) / 6 : 0;
}

static double spline_weight(const float rest[4], const float point[3])
{
    double weight = 1;
    for (int k = 0; k < 3; k++) weight *= spline(((double)point[k] - rest[k]) / rest[3]);
    return weight;
}

/* Correct blending weights that sum to 1 so that they meet linear functions at the point. */
static void weights_correct(const lattice_graph *graph, const float point[3], const int *voxels, double *weights,
                            int count)
{
    /* mean and variance of the voxels' rest places about the point, in edges of its own voxel */
    double edge = graph->rest[4 * voxels[0] + 3];
    double mean[3] = {0, 0, 0};
    double v[6] = {LEAST_VARIANCE, 0, 0, LEAST_VARIANCE, 0, LEAST_VARIANCE};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) mean[k] += weights[i] * ((double)graph->rest[4 * voxels[i] + k] - point[k]) / edge;
    for (int i = 0; i < count; i++) {
        double d[3];
        for (int k = 0; k < 3; k++) d[k] = ((double)graph->rest[4 * voxels[i] + k] - point[k]) / edge - mean[k];
        for (int n = 0, k = 0; k < 3; k++)
            for (int j = k; j < 3; j++, n++) v[n] += weights[i] * d[k] * d[j];
    }

    /* slope = variance^-1 mean, by cofactors; the variance is positive definite */
    double c00 = v[3] * v[5] - v[4] * v[4];
    double c01 = v[2] * v[4] - v[1] * v[5];
    double c02 = v[1] * v[4] - v[2] * v[3];
    double c11 = v[0] * v[5] - v[2] * v[2];
    double c12 = v[1] * v[2] - v[0] * v[4];
    double c22 = v[0] * v[3] - v[1] * v[1];
    double det = v[0] * c00 + v[1] * c01 + v[2] * c02;
    double slope[3] = {(c00 * mean[0] + c01 * mean[1] + c02 * mean[2]) / det,
                       (c01 * mean[0] + c11 * mean[1] + c12 * mean[2]) / det,
                       (c02 * mean[0] + c12 * mean[1] + c22 * mean[2]) / det};
    for (int i = 0; i < count; i++) {
        double along = 0;
        for (int k = 0; k < 3; k++)
            along += slope[k] * (((double)graph->rest[4 * voxels[i] + k] - point[k]) / edge - mean[k]);
        weights[i] *= 1 - along;
    }
}

/* The voxels that carry a point, from its own one outwards along links. Returns their number. */
static int carriers_find(const lattice_graph *graph, int home, const float point[3], uint8_t *marks, int *voxels,
                         double *weights)
{
    int count = 0;
    double sum = 0;
    voxels[count] = home;
    weights[count] = spline_weight(graph->rest + 4 * home, point);

    /* A point outside its voxel's reach (of no triangle, or rounded away) hangs on that voxel alone. */
    if (!(weights[0] > 0)) weights[0] = 1;
    count++;
    marks[home] = 1;
    for (int at = 0; at < count; at++) {
        int end = graph->link_first[(voxels[at] + 1) * LATTICE_DIRECTIONS];
        for (int i = graph->link_first[voxels[at] * LATTICE_DIRECTIONS]; i < end && count < CARRIERS; i++) {
            int next = graph->links[i];
            if (marks[next]) continue;
            double weight = spline_weight(graph->rest + 4 * next, point);
            if (!(weight > 0)) continue;
            marks[next] = 1;
            voxels[count] = next;
            weights[count++] = weight;
        }
    }
    for (int i = 0; i < count; i++) {
        sum += weights[i];
        marks[voxels[i]] = 0;
    }
    for (int i = 0; i < count; i++) weights[i] /= sum;
    weights_correct(graph, point, voxels, weights, count);
    return count;
}

cutis_result lattice_embed(const lattice_graph *graph, const float *points, int point_count, arena *memory,
                           lattice_surface *surface, cutis_error *error)
{
    int *first = ARENA_ARRAY(memory, int, point_count + 1);
    uint8_t *marks = memory_allocate(&memory->allocator, graph->count, 1);
    int *voxels = NULL;
    float *weights = NULL;
    if (memory->failed || !marks) {
        memory_release(&memory->allocator, marks, graph->count, 1);
        return error_memory(error, "the lattice's surface");
    }
    int found[CARRIERS];
    double shares[CARRIERS];
    for (int p = 0; p < point_count; p++)
        first[p + 1] = first[p] + carriers_find(graph, graph->point_voxels[p], points + 3 * p, marks, found, shares);
    voxels = ARENA_ARRAY(memory, int, first[point_count] + 1);
    weights = ARENA_ARRAY(memory, float, first[point_count] + 1);
    if (!memory->failed) {
        for (int p = 0; p < point_count; p++) {
            int count = carriers_find(graph, graph->point_voxels[p], points + 3 * p, marks, found, shares);
            for (int i = 0; i < count; i++) {
                voxels[first[p] + i] = found[i];
                weights[first[p] + i] = (float)shares[i];
            }
        }
    }
    memory_release(&memory->allocator, marks, graph->count, 1);
    if (memory->failed) return error_memory(error, "the lattice's surface");
    *surface = (lattice_surface){.point_count = point_count, .first = first, .voxels = voxels, .weights = weights};
    return CUTIS_OK;
}

typedef struct surface_job {
    const lattice_surface *surface;
    const quad *displacements;
    float size;
    float *points;
} surface_job;

static void surface_block(void *context, int begin, int end)
{
    const surface_job *job = context;
    const lattice_surface *s = job->surface;
    for (int p = begin; p < end; p++) {
        quad sum = lattice_surface_displacement(s, p, job->displacements);
        for (int k = 0; k < 3; k++) job->points[3 * p + k] += job->size * sum[k];
    }
}

void lattice_surface_displace(const lattice_surface *surface, const quad *displacements, float size, float *points,
                              const cutis_jobs *jobs)
{
    surface_job job = {surface, displacements, size, points};
    parallel_for(jobs, surface->point_count, 256, surface_block, &job);
}
