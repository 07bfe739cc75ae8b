/*
 * union.c: the volume that a surface encloses, with overlapping flesh counted once.
 *
 * Parallel rays through a grid over the surface's box, along its shortest side; along each the winding number is
 * counted from the crossings in order, and the lengths where it is 1 or more are summed. Of the signed volume, flesh
 * that passes through flesh counts twice, which flatters plain skinning.
 */
#include "measure/union.h"

#include <math.h>
#include <string.h>

/* Rays along the longer side of the grid, and room for crossings. */
enum { SIDE = 160, RAYS = SIDE * SIDE, HITS = 8 * RAYS };

void union_scratch_create(union_scratch *scratch, arena *memory)
{
    scratch->first = ARENA_ARRAY(memory, int, RAYS + 1);
    scratch->hits = ARENA_ARRAY(memory, union_hit, HITS);
}

typedef struct ray_grid {
    int axis, u, v; /* rays run along axis */
    double low[3];  /* of the box */
    double spacing; /* of rays */
    int counts[2];  /* of rays along u and v */
} ray_grid;

static ray_grid grid_make(const mesh *m, const float *positions)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int p = 0; p < m->point_count; p++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], (double)positions[3 * (size_t)p + (size_t)k]);
            high[k] = fmax(high[k], (double)positions[3 * (size_t)p + (size_t)k]);
        }

    /* along its shortest side */
    ray_grid g = {.axis = 0};
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] < high[g.axis] - low[g.axis]) g.axis = k;
    g.u = (g.axis + 1) % 3;
    g.v = (g.axis + 2) % 3;
    memcpy(g.low, low, sizeof low);

    /* square cells */
    g.spacing = fmax(high[g.u] - low[g.u], high[g.v] - low[g.v]) / SIDE;
    g.counts[0] = g.spacing > 0 ? (int)fmin(ceil((high[g.u] - low[g.u]) / g.spacing), SIDE) : 0;
    g.counts[1] = g.spacing > 0 ? (int)fmin(ceil((high[g.v] - low[g.v]) / g.spacing), SIDE) : 0;
    return g;
}

/* First and last ray within an interval, along one side of the grid. Rays stand in the middle of their cells. */
static void ray_range(const ray_grid *g, int side, double low, double high, int range[2])
{
    double from = g->low[side ? g->v : g->u];
    range[0] = (int)fmax(ceil((low - from) / g->spacing - 0.5), 0);
    range[1] = (int)fmin(floor((high - from) / g->spacing - 0.5), g->counts[side] - 1);
}

/* Count the crossings of a triangle by ray, or put them into the list. */
static void triangle_cross(const ray_grid *g, const float *const p[3], union_scratch *s, bool fill)
{
    double u[3], v[3], w[3];

    for (int k = 0; k < 3; k++) {
        u[k] = (double)p[k][g->u];
        v[k] = (double)p[k][g->v];
        w[k] = (double)p[k][g->axis];
    }

    double area = (u[1] - u[0]) * (v[2] - v[0]) - (u[2] - u[0]) * (v[1] - v[0]);
    if (area == 0) return;

    /* the rays within its bounds */
    int across[2], up[2];
    ray_range(g, 0, fmin(u[0], fmin(u[1], u[2])), fmax(u[0], fmax(u[1], u[2])), across);
    ray_range(g, 1, fmin(v[0], fmin(v[1], v[2])), fmax(v[0], fmax(v[1], v[2])), up);

    /* those that meet it */
    for (int j = up[0]; j <= up[1]; j++)
        for (int i = across[0]; i <= across[1]; i++) {
            double x = g->low[g->u] + (i + 0.5) * g->spacing, y = g->low[g->v] + (j + 0.5) * g->spacing;
            double b1 = ((x - u[0]) * (v[2] - v[0]) - (u[2] - u[0]) * (y - v[0])) / area;
            double b2 = ((u[1] - u[0]) * (y - v[0]) - (x - u[0]) * (v[1] - v[0])) / area;

            /* count, or note height and side */
            if (b1 < 0 || b2 < 0 || b1 + b2 > 1) continue;
            int ray = j * g->counts[0] + i;
            if (!fill) {
                s->first[ray + 1]++;
                continue;
            }
            s->hits[s->first[ray]++] =
                (union_hit){(float)(w[0] + b1 * (w[1] - w[0]) + b2 * (w[2] - w[0])), area < 0 ? 1 : -1};
        }
}

static void triangles_cross(const mesh *m, const ray_grid *g, const float *positions, union_scratch *s, bool fill)
{
    for (int t = 0; t < m->triangle_count; t++) {
        const int *c = m->triangles + 3 * (size_t)t;
        if (!m->component_closed[m->point_component[c[0]]]) continue;
        const float *p[3] = {positions + 3 * (size_t)c[0], positions + 3 * (size_t)c[1], positions + 3 * (size_t)c[2]};
        triangle_cross(g, p, s, fill);
    }
}

/* Length of a ray inside, from its crossings, which get sorted. */
static double ray_length(union_hit *hits, int count)
{
    /* hits by depth */
    for (int i = 1; i < count; i++) {
        union_hit hit = hits[i];
        int at = i;
        for (; at > 0 && hits[at - 1].depth > hit.depth; at--) hits[at] = hits[at - 1];
        hits[at] = hit;
    }

    double length = 0;
    int winding = 0;

    /* add up where the winding number is positive */
    for (int i = 0; i + 1 < count; i++) {
        winding += hits[i].step;
        if (winding >= 1) length += (double)hits[i + 1].depth - (double)hits[i].depth;
    }

    return length;
}

double union_volume(const mesh *m, const float *positions, union_scratch *s)
{
    ray_grid g = grid_make(m, positions);

    int rays = g.counts[0] * g.counts[1];
    if (rays == 0) return 0;

    /* crossings by ray: counted, then listed */
    memset(s->first, 0, ((size_t)rays + 1) * sizeof *s->first);
    triangles_cross(m, &g, positions, s, false);
    for (int r = 0; r < rays; r++) s->first[r + 1] += s->first[r];
    if (s->first[rays] > HITS) return NAN;
    triangles_cross(m, &g, positions, s, true);

    /* each list ends where the next began */
    double sum = 0;
    int begin = 0;
    for (int r = 0; r < rays; r++) {
        sum += ray_length(s->hits + begin, s->first[r] - begin);
        begin = s->first[r];
    }

    return sum * g.spacing * g.spacing;
}
