/* near.c: the points nearest to each point of a mesh, by the cells of a grid. */
#include <math.h>
#include <stdlib.h>

#include "mesh/mesh.h"

enum {
    CELL_LIMIT = 64,     /* points looked at in a cell; denser cells have near ones among the first */
    AXIS_CELLS = 1 << 21 /* along an axis; three of them fit a key */
};

static int64_t cell_along(float at, float origin, double cell)
{
    return (int64_t)CLAMP(((double)at - (double)origin) / cell, 0, AXIS_CELLS - 1);
}

static int64_t cell_key(int64_t x, int64_t y, int64_t z) { return (x * AXIS_CELLS + y) * AXIS_CELLS + z; }

static int compare_cells(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

void cells_sort(int count, const float *positions, const float *origin, double cell, int64_t (*cells)[2])
{
    for (int p = 0; p < count; p++) {
        const float *x = positions + 3 * (size_t)p;
        cells[p][0] = cell_key(cell_along(x[0], origin[0], cell), cell_along(x[1], origin[1], cell),
                               cell_along(x[2], origin[2], cell));
        cells[p][1] = p;
    }
    qsort(cells, (size_t)count, sizeof *cells, compare_cells);
}

/* Put a neighbour among the nearest of a point. */
static void near_offer(int *near, double *distances, int point, double distance)
{
    if (distance >= distances[MESH_NEAR - 1]) return;
    int at = MESH_NEAR - 1;
    for (; at > 0 && distance < distances[at - 1]; at--) {
        distances[at] = distances[at - 1];
        near[at] = near[at - 1];
    }
    distances[at] = distance;
    near[at] = point;
}

/* The first entry of a cell, or -1. */
static int cell_find(int64_t (*cells)[2], int count, int64_t key)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (cells[middle][0] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && cells[low][0] == key ? low : -1;
}

/* Files keep vertices that no face uses. */
static bool point_is_drawn(const mesh *m, int point)
{
    return m->point_triangle_first[point + 1] > m->point_triangle_first[point];
}

/* The nearest of one point, within its own cell and those around it. */
static void point_near(const mesh *m, int point, const float *origin, double cell, int64_t (*cells)[2], int *near)
{
    const float *a = m->positions + 3 * (size_t)point;
    double distances[MESH_NEAR];
    int64_t at[3];

    for (int i = 0; i < MESH_NEAR; i++) {
        near[i] = -1;
        distances[i] = HUGE_VAL;
    }
    if (!point_is_drawn(m, point)) return;
    for (int k = 0; k < 3; k++) at[k] = cell_along(a[k], origin[k], cell);

    /* all in 27 cells */
    for (int n = 0; n < 27; n++) {
        int64_t x = at[0] + n / 9 - 1, y = at[1] + n / 3 % 3 - 1, z = at[2] + n % 3 - 1;
        if (x < 0 || y < 0 || z < 0) continue;
        int64_t key = cell_key(x, y, z);
        int first = cell_find(cells, m->point_count, key);
        for (int i = first; i >= 0 && i < m->point_count && cells[i][0] == key && i < first + CELL_LIMIT; i++) {
            int q = (int)cells[i][1];

            if (q == point || !point_is_drawn(m, q)) continue;
            const float *b = m->positions + 3 * (size_t)q;
            double dx = (double)a[0] - (double)b[0], dy = (double)a[1] - (double)b[1], dz = (double)a[2] - (double)b[2];
            near_offer(near, distances, q, dx * dx + dy * dy + dz * dz);
        }
    }
}

void mesh_near(const mesh *m, const float *origin, double size, int64_t (*cells)[2], int *near)
{
    double cell = 2 * size / sqrt(MAX(m->point_count, 1));
    cells_sort(m->point_count, m->positions, origin, cell, cells);
    for (int p = 0; p < m->point_count; p++) point_near(m, p, origin, cell, cells, near + MESH_NEAR * (size_t)p);
}
