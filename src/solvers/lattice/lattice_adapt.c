/*
 * lattice_adapt.c: voxels of three sizes, after a wish of the paper's section 8 (Steinemann, Otaduy, Gross 2008).
 *
 * The lattice is made at twice the resolution. Its voxels are then merged, eight into one of the asked-for size, except
 * where flesh is thin (fingers, ears), and sixty-four into one deep inside. Merging joins only voxels of a cell that
 * are linked within it, so parts stay apart. Links between voxels of different size are those of the small ones; the
 * sums of lattice_sweep.c take rods that turn aside in their stride.
 */
#include "solvers/lattice/lattice.h"

#include <float.h>
#include <string.h>

/* Flesh is thin where no voxel nearby is this many small voxels from the surface: less than five across. */
#define THIN_DEPTH 2.5f
/* Deep inside is this many small voxels from the surface, at least. */
#define DEEP_DEPTH 6.5f

typedef struct adapter {
    const lattice_graph *fine;
    float *depth;    /* (count) distance to the surface, in small voxels */
    float *thick;    /* (count) greatest depth near by */
    uint8_t *levels; /* (count) 0 small, 1 asked-for size, 2 double */
    int *parents;    /* (count) union-find */
} adapter;

/* Integer place of a small voxel. */
static void fine_place(const lattice_graph *fine, int v, int place[3])
{
    for (int k = 0; k < 3; k++) place[k] = (int)floor((fine->rest[4 * v + k] - fine->origin[k]) / fine->step);
}

static bool same_block(const lattice_graph *fine, int a, int b, int level)
{
    int pa[3], pb[3];
    fine_place(fine, a, pa), fine_place(fine, b, pb);
    for (int k = 0; k < 3; k++)
        if (pa[k] >> level != pb[k] >> level) return false;
    return true;
}

/* The greatest depth within a few links: a cheap local thickness. */
static void thickness_spread(adapter *a, float *next)
{
    const lattice_graph *fine = a->fine;
    memcpy(a->thick, a->depth, sizeof(float) * fine->count);
    for (int round = 0; round < 4; round++) {
        for (int v = 0; v < fine->count; v++) {
            next[v] = a->thick[v];
            int end = fine->link_first[(v + 1) * LATTICE_DIRECTIONS];
            for (int i = fine->link_first[v * LATTICE_DIRECTIONS]; i < end; i++)
                next[v] = fmaxf(next[v], a->thick[fine->links[i]]);
        }
        memcpy(a->thick, next, sizeof(float) * fine->count);
    }
}

/* Join linked voxels of one block when both are of `level`. */
static void blocks_join(adapter *a, int level)
{
    const lattice_graph *fine = a->fine;
    for (int v = 0; v < fine->count; v++) {
        if (a->levels[v] != level) continue;
        int end = fine->link_first[(v + 1) * LATTICE_DIRECTIONS];
        for (int i = fine->link_first[v * LATTICE_DIRECTIONS]; i < end; i++) {
            int next = fine->links[i];
            if (a->levels[next] != level || !same_block(fine, v, next, level)) continue;
            int x = forest_root(a->parents, v), y = forest_root(a->parents, next);
            if (x < y)
                a->parents[y] = x;
            else
                a->parents[x] = y;
        }
    }
}

/* All voxels of a block get one level, the least that any of them wants. */
static void levels_agree(const adapter *a, int level, int *block_levels, const int dims[3])
{
    const lattice_graph *fine = a->fine;
    size_t count = (size_t)dims[0] * dims[1] * dims[2];
    for (size_t i = 0; i < count; i++) block_levels[i] = level;
    for (int pass = 0; pass < 2; pass++) {
        for (int v = 0; v < fine->count; v++) {
            int place[3];
            fine_place(fine, v, place);
            int *block = &block_levels[((size_t)(place[2] >> level) * dims[1] + (place[1] >> level)) * dims[0] +
                                       (place[0] >> level)];
            if (!pass && a->levels[v] < level) *block = MIN(*block, a->levels[v]);
            if (pass && a->levels[v] == level && *block < level) a->levels[v] = (uint8_t)(level - 1);
        }
    }
}

/* Depth below the surface, in cells, and the level of each cell: coarse deep inside, fine where flesh is thin. */
static void levels_find(adapter *a, float *next, int *heap, int *block_levels)
{
    const lattice_graph *fine = a->fine;
    int count = fine->count;

    /* cells with a free side are at depth 1 */
    for (int v = 0; v < count; v++) {
        a->depth[v] = 1;
        for (int d = 0; d < LATTICE_DIRECTIONS; d++)
            if (lattice_link(fine, v, d) < 0) a->depth[v] = 0;
    }
    lattice_distance(fine, a->depth, NULL, heap);
    for (int v = 0; v < count; v++) a->depth[v] = a->depth[v] < FLT_MAX ? a->depth[v] / (float)fine->step + 1 : 1;

    /* neighbours differ by one level at most */
    thickness_spread(a, next);
    for (int v = 0; v < count; v++) a->levels[v] = a->depth[v] > DEEP_DEPTH ? 2 : a->thick[v] < THIN_DEPTH ? 0 : 1;
    for (int level = 2; level >= 1; level--) {
        int sizes[3];
        for (int k = 0; k < 3; k++) sizes[k] = (fine->dims[k] >> level) + 1;
        levels_agree(a, level, block_levels, sizes);
    }
}

/* The voxels that blocks have become: merged, (fine count) the voxel of each cell. */
static cutis_result voxels_merge(adapter *a, int point_count, arena *memory, int *merged, lattice_graph *graph,
                                 cutis_error *error)
{
    /* number them */
    const lattice_graph *fine = a->fine;
    *graph = *fine;
    graph->count = 0;
    graph->cell = (float)(2 * fine->step);
    for (int v = 0; v < fine->count; v++)
        if (forest_root(a->parents, v) == v) merged[v] = graph->count++;
    graph->rest = ARENA_ARRAY(memory, float, (size_t)4 * graph->count);
    graph->point_voxels = ARENA_ARRAY(memory, int, point_count);
    graph->components = ARENA_ARRAY(memory, int, graph->count);
    if (memory->failed) return error_memory(error, "the lattice's voxels");

    /* a voxel lies in the middle of its block */
    for (int v = 0; v < fine->count; v++) {
        int root = forest_root(a->parents, v), level = a->levels[v], place[3];
        merged[v] = merged[root];
        graph->components[merged[v]] = fine->components[v];
        fine_place(fine, v, place);
        float *rest = graph->rest + 4 * merged[v];
        for (int k = 0; k < 3; k++)
            rest[k] = (float)(fine->origin[k] + (((place[k] >> level) + 0.5) * (1 << level)) * fine->step);
        rest[3] = (float)((1 << level) * fine->step);
    }

    /* points, cells and samples follow their voxels */
    for (int p = 0; p < point_count; p++) graph->point_voxels[p] = merged[fine->point_voxels[p]];
    size_t per = (size_t)fine->samples * fine->samples * fine->samples;
    for (int g = 0; g < graph->grid_count; g++) {
        lattice_grid *grid = &graph->grids[g];
        size_t cells = (size_t)grid->dims[0] * grid->dims[1] * grid->dims[2];
        for (size_t i = 0; i < cells; i++)
            if (grid->cell_voxels[i] >= 0) grid->cell_voxels[i] = merged[grid->cell_voxels[i]];
        for (size_t i = 0; i < cells * per; i++)
            if (grid->sample_voxels[i] >= 0) grid->sample_voxels[i] = merged[grid->sample_voxels[i]];
    }
    return CUTIS_OK;
}

/* Links of cells that have become different voxels; returns how many. pairs: (3 x links of the fine graph). */
static size_t links_merge(const lattice_graph *fine, const int *merged, int *pairs)
{
    size_t count = 0;
    for (int slot = 0; slot < fine->count * LATTICE_DIRECTIONS; slot++)
        for (int i = fine->link_first[slot]; i < fine->link_first[slot + 1]; i++) {
            int voxel = merged[slot / LATTICE_DIRECTIONS], other = merged[fine->links[i]];
            if (other == voxel) continue;
            int *pair = pairs + 3 * count++;
            pair[0] = voxel * LATTICE_DIRECTIONS + slot % LATTICE_DIRECTIONS;
            pair[1] = other;
            pair[2] = 1;
        }
    return count;
}

static cutis_result adapt(adapter *a, int point_count, arena *memory, arena *temporary, lattice_graph *graph,
                          cutis_error *error)
{
    /* room */
    const lattice_graph *fine = a->fine;
    int count = fine->count, dims[3];
    a->depth = ARENA_ARRAY(temporary, float, count);
    a->thick = ARENA_ARRAY(temporary, float, count);
    a->levels = ARENA_ARRAY(temporary, uint8_t, count);
    a->parents = ARENA_ARRAY(temporary, int, count);
    float *next = ARENA_ARRAY(temporary, float, count);
    int *heap = ARENA_ARRAY(temporary, int, (size_t)2 * count);
    int *merged = ARENA_ARRAY(temporary, int, count);
    for (int k = 0; k < 3; k++) dims[k] = fine->dims[k] / 2 + 1;
    int *block_levels = ARENA_ARRAY(temporary, int, (size_t)dims[0] * dims[1] * dims[2]);
    int *pairs = ARENA_ARRAY(temporary, int, (size_t)3 * fine->link_first[count * LATTICE_DIRECTIONS] + 1);
    if (temporary->failed) return error_memory(error, "the lattice's voxels");

    /* cells of a block become one voxel, with the links of all */
    for (int v = 0; v < count; v++) a->parents[v] = v;
    levels_find(a, next, heap, block_levels);
    for (int level = 1; level <= 2; level++) blocks_join(a, level);
    cutis_result result = voxels_merge(a, point_count, memory, merged, graph, error);
    if (result != CUTIS_OK) return result;
    return lattice_graph_link(graph, pairs, links_merge(fine, merged, pairs), memory, error);
}

cutis_result lattice_adapt(const lattice_graph *fine, int point_count, arena *memory, lattice_graph *graph,
                           cutis_error *error)
{
    adapter a = {.fine = fine};
    arena temporary = arena_create(&memory->allocator);
    cutis_result result = adapt(&a, point_count, memory, &temporary, graph, error);
    arena_destroy(&temporary);
    return result;
}
