/*
 * lattice_embed.c: the surface in the moving voxels.
 *
 * Each point is carried by the rigid maps of the voxels around it, blended with quadratic B-spline weights of its rest
 * place: smooth to the first derivative across voxels, so that the grid does not show, and exact at rest and under
 * rigid motion because the weights sum to 1. Voxels are found along links from the point's own one: a point of one
 * part never hangs on another part that happens to be near.
 */
#include "solvers/lattice/lattice.h"

#include <string.h>

/* Most voxels that carry one point: 27 on a full grid, more where voxels of two sizes meet. */
#define CARRIERS 96

/* The quadratic B-spline: support from -1.5 to 1.5. */
static double spline(double x)
{
    x = fabs(x);
    return x < 0.5 ? 0.75 - x * x : x < 1.5 ? 0.5 * (1.5 - x) * (1.5 - x) : 0;
}

static double spline_weight(const float rest[4], const float point[3])
{
    double weight = 1;
    for (int k = 0; k < 3; k++) weight *= spline(((double)point[k] - rest[k]) / rest[3]);
    return weight;
}

/* The voxels that carry a point, from its own one outwards along links. Returns their number. */
static int carriers_find(const lattice_graph *graph, int home, const float point[3], uint8_t *marks, int *voxels,
                         double *weights)
{
    int count = 0;
    double sum = 0;
    voxels[count] = home, weights[count] = spline_weight(graph->rest + 4 * home, point);
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
            voxels[count] = next, weights[count++] = weight;
        }
    }
    for (int i = 0; i < count; i++) sum += weights[i], marks[voxels[i]] = 0;
    for (int i = 0; i < count; i++) weights[i] /= sum;
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
    *surface = (lattice_surface){point_count, points, first, voxels, weights};
    return CUTIS_OK;
}

typedef struct surface_job {
    const lattice_surface *surface;
    const lattice_frame *maps;
    const lattice_frame *reference;
    float size;
    const float *origin;
    float *points;
} surface_job;

static void surface_block(void *context, int begin, int end)
{
    const surface_job *job = context;
    const lattice_surface *s = job->surface;
    for (int p = begin; p < end; p++) {
        f8 low = f8_set(0), high = f8_set(0);
        for (int i = s->first[p]; i < s->first[p + 1]; i++) {
            const float *map = (const float *)&job->maps[s->voxels[i]];
            f8 w = f8_set(s->weights[i]);
            low = f8_add(low, f8_mul(f8_load(map), w));
            high = f8_add(high, f8_mul(f8_load(map + 8), w));
        }
        lattice_frame sum;
        f4_store((float *)&sum.b, f8_low(low)), f4_store((float *)&sum.r[0], f8_high(low));
        f4_store((float *)&sum.r[1], f8_low(high)), f4_store((float *)&sum.r[2], f8_high(high));
        const float *rest = s->points + 3 * p;
        quad at = job->reference->b + sum.b;
        for (int k = 0; k < 3; k++) at += (job->reference->r[k] + sum.r[k]) * rest[k];
        for (int k = 0; k < 3; k++) job->points[3 * p + k] = job->origin[k] + job->size * at[k];
    }
}

void lattice_surface_evaluate(const lattice_surface *surface, const lattice_frame *maps, const lattice_frame *reference,
                              float size, const float origin[3], float *points, const cutis_jobs *jobs)
{
    surface_job job = {surface, maps, reference, size, origin, points};
    parallel_for(jobs, surface->point_count, 256, surface_block, &job);
}
