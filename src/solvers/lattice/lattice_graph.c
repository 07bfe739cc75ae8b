/*
 * lattice_graph.c: links between voxels by direction, and the voxel at a place.
 */
#include "solvers/lattice/lattice.h"

#include <stdlib.h>
#include <string.h>

static int link_order(const void *left, const void *right)
{
    const int *a = left, *b = right;
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1; /* voxel x 6 + direction */
    if (a[2] != b[2]) return a[2] > b[2] ? -1 : 1; /* strongest contact first */
    return a[1] < b[1] ? -1 : a[1] > b[1];         /* lowest voxel */
}

static int pair_order(const void *left, const void *right)
{
    const int *a = left, *b = right;
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return a[1] < b[1] ? -1 : a[1] > b[1];
}

cutis_result lattice_graph_link(lattice_graph *graph, int *pairs, size_t count, arena *memory, cutis_error *error)
{
    /* Both orders are total: entries that compare equal are equal. */
    qsort(pairs, count, 3 * sizeof(int), pair_order);

    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && pair_order(pairs + 3 * (kept - 1), pairs + 3 * i) == 0)
            pairs[3 * (kept - 1) + 2] += pairs[3 * i + 2];
        else
            memmove(pairs + 3 * kept++, pairs + 3 * i, 3 * sizeof(int));
    }

    /* by voxel, the most frequent first */
    qsort(pairs, kept, 3 * sizeof(int), link_order);

    /* room */
    graph->link_first = ARENA_ARRAY(memory, int, (size_t)graph->count *LATTICE_DIRECTIONS + 1);
    graph->links = ARENA_ARRAY(memory, int, kept + 1);
    if (memory->failed) return error_memory(error, "the lattice's links");

    /* by voxel and direction */
    for (size_t i = 0; i < kept; i++) {
        graph->link_first[pairs[3 * i] + 1]++;
        graph->links[i] = pairs[3 * i + 1];
    }
    for (int i = 0; i < graph->count * LATTICE_DIRECTIONS; i++) graph->link_first[i + 1] += graph->link_first[i];
    return CUTIS_OK;
}

int lattice_locate(const lattice_graph *graph, int component, const double place[3])
{
    /* the cell, and the place within the component's grid in samples */
    const lattice_grid *grid = &graph->grids[component];
    int cell[3];
    double local[3];
    for (int k = 0; k < 3; k++) {
        double at = (place[k] - graph->origin[k]) / graph->step - grid->low[k];
        if (!(at >= 0 && at < grid->dims[k])) return -1;
        cell[k] = (int)at;
        local[k] = at * graph->samples;
    }

    /* the nearest sample of the same cell that is inside */
    int s = graph->samples;
    int near = -1;
    double nearest = 1e300;
    for (int i = 0; i < s * s * s; i++) {
        int at[3] = {cell[0] * s + i % s, cell[1] * s + i / s % s, cell[2] * s + i / s / s};
        int voxel = grid->sample_voxels[((size_t)at[2] * grid->dims[1] * s + at[1]) * (grid->dims[0] * s) + at[0]];
        double distance = 0;
        for (int k = 0; k < 3; k++) distance += (at[k] + 0.5 - local[k]) * (at[k] + 0.5 - local[k]);
        if (voxel < 0 || distance >= nearest) continue;
        nearest = distance;
        near = voxel;
    }

    /* no sample: the cell's own voxel */
    if (near >= 0) return near;
    return grid->cell_voxels[((size_t)cell[2] * grid->dims[1] + cell[1]) * grid->dims[0] + cell[0]];
}
