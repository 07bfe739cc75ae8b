/*
 * weld.c: finds vertices that share a position, by hashing positions (or the cells of a grid) into chains.
 *
 * Vertices are taken in order; each joins the lowest earlier point within the tolerance, or opens a new one.
 * A point's place is that of its first vertex, so that a row of close vertices never melts into one.
 */
#include "mesh/mesh.h"

#include <assert.h>
#include <string.h>

typedef struct weld_table {
    int *heads; /* (bucket_count) latest point of each bucket, -1 for none */
    int *next;  /* (vertex_count) earlier point of the same bucket */
    int *first; /* (vertex_count) first vertex of each point */
    uint64_t bucket_mask;
} weld_table;

/* Bucket of a position or cell. + 0.0 makes equal numbers equal bits (-0 and 0). */
static uint64_t weld_bucket(const weld_table *table, double x, double y, double z)
{
    double key[3] = {x + 0.0, y + 0.0, z + 0.0};
    uint64_t bits[3];
    memcpy(bits, key, sizeof bits);
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        hash = (hash ^ bits[k]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash & table->bucket_mask;
}

/* Lowest point in one bucket that vertex v may join, or `best`. */
static int weld_search(const weld_table *table, uint64_t bucket, int v, const float *positions, double tolerance,
                       bool (*same)(void *context, int a, int b), void *context, int best)
{
    const float *p = positions + 3 * (size_t)v;
    for (int point = table->heads[bucket]; point >= 0; point = table->next[point]) {
        if (best >= 0 && point > best) continue;
        const float *q = positions + 3 * (size_t)table->first[point];
        double dx = (double)p[0] - q[0], dy = (double)p[1] - q[1], dz = (double)p[2] - q[2];
        if (!(dx * dx + dy * dy + dz * dz <= tolerance * tolerance)) continue;
        if (same && !same(context, v, table->first[point])) continue;
        best = point;
    }
    return best;
}

int weld_positions(int vertex_count, const float *positions, float tolerance, bool (*same)(void *context, int a, int b),
                   void *context, const cutis_allocator *allocator, int *vertex_points)
{
    assert(vertex_count >= 0 && tolerance >= 0);
    if (vertex_count == 0) return 0;

    size_t count = (size_t)vertex_count, bucket_count = 16;
    while (bucket_count < 2 * count) bucket_count *= 2;

    weld_table table = {.bucket_mask = bucket_count - 1};
    table.heads = memory_allocate(allocator, bucket_count, sizeof *table.heads);
    table.next = memory_allocate(allocator, count, sizeof *table.next);
    table.first = memory_allocate(allocator, count, sizeof *table.first);

    /* every vertex joins the first point near it, or becomes one */
    int point_count = -1;
    if (table.heads && table.next && table.first) {
        point_count = 0;
        memset(table.heads, 0xFF, bucket_count * sizeof *table.heads);
        for (int v = 0; v < vertex_count; v++) {
            /* With a tolerance the key is the cell, and points within it lie in the 27 cells around. */
            const float *p = positions + 3 * (size_t)v;
            double cell[3] = {p[0], p[1], p[2]};
            int point = -1;
            uint64_t home;

            if (tolerance > 0) {
                for (int k = 0; k < 3; k++) cell[k] = floor(cell[k] / tolerance);
                home = weld_bucket(&table, cell[0], cell[1], cell[2]);
                for (int n = 0; n < 27; n++) {
                    uint64_t bucket =
                        weld_bucket(&table, cell[0] + n % 3 - 1, cell[1] + n / 3 % 3 - 1, cell[2] + n / 9 - 1);
                    point = weld_search(&table, bucket, v, positions, tolerance, same, context, point);
                }
            } else {
                home = weld_bucket(&table, cell[0], cell[1], cell[2]);
                point = weld_search(&table, home, v, positions, 0, same, context, -1);
            }

            if (point < 0) {
                point = point_count++;
                table.first[point] = v;
                table.next[point] = table.heads[home];
                table.heads[home] = point;
            }

            vertex_points[v] = point;
        }
    }

    memory_release(allocator, table.first, count, sizeof *table.first);
    memory_release(allocator, table.next, count, sizeof *table.next);
    memory_release(allocator, table.heads, bucket_count, sizeof *table.heads);
    return point_count;
}
