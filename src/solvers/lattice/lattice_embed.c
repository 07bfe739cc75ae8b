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
 * second derivative across voxels, so that the grid does not show.
 *
 * Voxels are found along links from the point's own one: a point of one part never hangs on another part that happens
 * to be near. Where cells are split, between an arm and the chest, a voxel counts no more than the way to it: with the
 * least weight along the best path of links. So its share fades out as the path does, and the split does not show. On a
 * full grid that changes nothing, because weights fall along every axis.
 *
 * What lies on each other and follows the same joints moves as one: a belt on a coat, an eye in its socket. Voxels that
 * links do not reach count by how alike their skin weights are to the point's, so that layers of clothing are not torn
 * apart, while lips, feet and fingers stay apart.
 */
#include "solvers/lattice/lattice.h"

#include <string.h>

/* Most voxels that carry one point: 64 on a full grid, more where voxels of two sizes meet. */
#define CARRIERS 192

/* Shares of voxels below this are left out: half of the carriers are the corners of the spline, with next to nothing.
 */
#define LEAST_SHARE 0.001

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

    /* apply it */
    for (int i = 0; i < count; i++) {
        double along = 0;
        for (int k = 0; k < 3; k++)
            along += slope[k] * (((double)graph->rest[4 * voxels[i] + k] - point[k]) / edge - mean[k]);
        weights[i] *= 1 - along;
    }
}

/* ---- voxels by place ---- */

/* Voxels by cells of a grid that are twice the largest edge: those that reach a point are in the 27 around its own. */
typedef struct voxel_index {
    float low[3], cell;
    int dims[3];
    int *first;  /* (cells + 1) */
    int *voxels; /* (count) */
} voxel_index;

static int index_cell(const voxel_index *index, int axis, float x)
{
    return CLAMP((int)((x - index->low[axis]) / index->cell), 0, index->dims[axis] - 1);
}

static cutis_result voxel_index_build(voxel_index *index, const lattice_graph *graph, arena *memory, cutis_error *error)
{
    /* the extent */
    float high[3] = {-1e30f, -1e30f, -1e30f};
    for (int k = 0; k < 3; k++) index->low[k] = 1e30f;
    for (int v = 0; v < graph->count; v++) {
        const float *at = graph->rest + 4 * (size_t)v;
        index->cell = MAX(index->cell, 2 * at[3]);
        for (int k = 0; k < 3; k++) {
            index->low[k] = MIN(index->low[k], at[k]);
            high[k] = MAX(high[k], at[k]);
        }
    }

    /* cells of the index */
    size_t cells = 1;
    for (int k = 0; k < 3; k++) {
        index->dims[k] = (int)((high[k] - index->low[k]) / index->cell) + 1;
        cells *= (size_t)index->dims[k];
    }

    /* count, then place; filling moves first[c] to the end of c */
    index->first = ARENA_ARRAY(memory, int, cells + 2);
    index->voxels = ARENA_ARRAY(memory, int, graph->count + 1);
    int *home = ARENA_ARRAY(memory, int, graph->count + 1);
    if (memory->failed) return error_memory(error, "the lattice's surface");
    for (int v = 0; v < graph->count; v++) {
        const float *at = graph->rest + 4 * (size_t)v;
        home[v] = (index_cell(index, 2, at[2]) * index->dims[1] + index_cell(index, 1, at[1])) * index->dims[0] +
                  index_cell(index, 0, at[0]);
        index->first[home[v] + 2]++;
    }
    for (size_t c = 0; c <= cells; c++) index->first[c + 1] += index->first[c];
    for (int v = 0; v < graph->count; v++) index->voxels[index->first[home[v] + 1]++] = v;
    return CUTIS_OK;
}

/* ---- carriers ---- */

typedef struct embedder {
    const lattice_graph *graph;
    const lattice_affinity *affinity; /* NULL: links alone */
    voxel_index index;
    int *marks; /* (count) place of a voxel among the carriers plus 1; 0: none */
} embedder;

/* Skin weights that differ by less than ALIKE in sum are one part's, by more than UNLIKE those of parts that go apart.
 */
#define ALIKE 0.4f
#define UNLIKE 1.2f

/* How far a voxel of another part moves along with a point, 0..1. */
static double affinity_of(const lattice_affinity *affinity, int point, int voxel)
{
    const point_weights *w = affinity->points;
    float difference = 0, common = 0, total = 0;
    for (int i = w->first[point]; i < w->first[point + 1]; i++) {
        float own = w->weights[i], other = 0;
        for (int k = 0; k < LATTICE_JOINTS; k++)
            if (affinity->joints[LATTICE_JOINTS * voxel + k] == w->joints[i])
                other += affinity->weights[LATTICE_JOINTS * voxel + k];
        difference += fabsf(own - other);
        common += other;
        total += own;
    }
    if (!(total > 0)) return 0;
    difference += 1 - common;
    return CLAMP((UNLIKE - difference) / (UNLIKE - ALIKE), 0.0f, 1.0f);
}

/* Voxels along links from the point's own one: the weight of each, or the least on the best way to it. */
static int linked_find(const embedder *e, int home, const float point[3], int *voxels, double *weights)
{
    const lattice_graph *graph = e->graph;
    uint8_t done[CARRIERS] = {0};
    int count = 1;
    voxels[0] = home;
    weights[0] = spline_weight(graph->rest + 4 * (size_t)home, point);

    /* A point outside its voxel's reach (of no triangle, or rounded away) hangs on that voxel alone. */
    if (!(weights[0] > 0)) weights[0] = 1;
    e->marks[home] = 1;

    for (;;) {
        /* the widest way that has not been followed */
        int at = -1;
        for (int i = 0; i < count; i++)
            if (!done[i] && (at < 0 || weights[i] > weights[at])) at = i;
        if (at < 0) return count;
        done[at] = 1;

        /* on to its neighbours */
        int end = graph->link_first[(voxels[at] + 1) * LATTICE_DIRECTIONS];
        for (int i = graph->link_first[voxels[at] * LATTICE_DIRECTIONS]; i < end; i++) {
            int next = graph->links[i];
            double weight = MIN(spline_weight(graph->rest + 4 * (size_t)next, point), weights[at]);
            int known = e->marks[next] - 1;
            if (known >= 0 && weight > weights[known]) weights[known] = weight;
            if (known >= 0 || !(weight > 0) || count == CARRIERS) continue;
            e->marks[next] = count + 1;
            voxels[count] = next;
            weights[count++] = weight;
        }
    }
}

/* Voxels that no way leads to, or only a narrow one, by their skin weights. Returns the count with them. */
static int alike_find(const embedder *e, int p, const float point[3], int *voxels, double *weights, int count)
{
    /* the cells within a voxel's reach */
    const voxel_index *index = &e->index;
    int low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = index_cell(index, k, point[k] - index->cell);
        high[k] = index_cell(index, k, point[k] + index->cell);
    }

    /* voxels in reach */
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++) {
            int row = (z * index->dims[1] + y) * index->dims[0];
            for (int i = index->first[row + low[0]]; i < index->first[row + high[0] + 1]; i++) {
                int v = index->voxels[i], known = e->marks[v] - 1;

                /* a voxel counts as far as its joints are the point's */
                double weight = spline_weight(e->graph->rest + 4 * (size_t)v, point);
                if (!(weight > 0) || (known >= 0 && weights[known] >= weight)) continue;
                weight *= affinity_of(e->affinity, p, v);
                if (known >= 0) {
                    weights[known] = MAX(weights[known], weight);
                } else if (weight > 0 && count < CARRIERS) {
                    e->marks[v] = count + 1;
                    voxels[count] = v;
                    weights[count++] = weight;
                }
            }
        }
    return count;
}

/* The voxels that carry a point. Returns their number. */
static int carriers_find(const embedder *e, int p, const float point[3], int *voxels, double *weights)
{
    /* along links, then across gaps for what is not hard */
    int home = e->graph->point_voxels[p];
    int count = linked_find(e, home, point, voxels, weights);
    bool hard = e->affinity && e->affinity->hard && e->affinity->hard[e->graph->components[home]];
    if (e->affinity && !hard) count = alike_find(e, p, point, voxels, weights, count);

    /* sum, and clear the marks */
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += weights[i];
        e->marks[voxels[i]] = 0;
    }

    /* the least shares go, and others fade out towards that without a kink; the own voxel stays first */
    int kept = 0;
    double left = 0;
    for (int i = 0; i < count; i++) {
        double beyond = MAX(weights[i] / sum - LEAST_SHARE, i == 0 ? LEAST_SHARE : 0);
        if (!(beyond > 0)) continue;
        voxels[kept] = voxels[i];
        weights[kept] = beyond * beyond / (beyond + LEAST_SHARE);
        left += weights[kept++];
    }

    /* sum to 1, and linear functions exactly */
    count = kept;
    for (int i = 0; i < count; i++) weights[i] /= left;
    weights_correct(e->graph, point, voxels, weights, count);
    return count;
}

cutis_result lattice_embed(const lattice_graph *graph, const float *points, int point_count,
                           const lattice_affinity *affinity, arena *memory, lattice_surface *surface,
                           cutis_error *error)
{
    arena temporary = arena_create(&memory->allocator);
    embedder e = {.graph = graph, .affinity = affinity, .marks = ARENA_ARRAY(&temporary, int, graph->count + 1)};
    int *first = ARENA_ARRAY(memory, int, point_count + 1);
    cutis_result result = memory->failed || temporary.failed ? error_memory(error, "the lattice's surface") : CUTIS_OK;
    if (result == CUTIS_OK && affinity) result = voxel_index_build(&e.index, graph, &temporary, error);

    /* once to count, once to fill */
    int found[CARRIERS];
    double shares[CARRIERS];
    for (int p = 0; p < point_count && result == CUTIS_OK; p++)
        first[p + 1] = first[p] + carriers_find(&e, p, points + 3 * (size_t)p, found, shares);
    int *voxels = ARENA_ARRAY(memory, int, result == CUTIS_OK ? first[point_count] + 1 : 1);
    float *weights = ARENA_ARRAY(memory, float, result == CUTIS_OK ? first[point_count] + 1 : 1);
    if (result == CUTIS_OK && memory->failed) result = error_memory(error, "the lattice's surface");
    for (int p = 0; p < point_count && result == CUTIS_OK; p++) {
        int count = carriers_find(&e, p, points + 3 * (size_t)p, found, shares);
        for (int i = 0; i < count; i++) {
            voxels[first[p] + i] = found[i];
            weights[first[p] + i] = (float)shares[i];
        }
    }

    arena_destroy(&temporary);
    if (result != CUTIS_OK) return result;
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
