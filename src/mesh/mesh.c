/*
 * mesh.c: builds the topology of a triangle surface over points: edges, neighbours, fans and components.
 *
 * All lists come out of counting sorts, so the cost is linear and the order depends on the input alone.
 */
#include "mesh/mesh.h"

#include <assert.h>
#include <string.h>

/* Check the indices; the rest of the build relies on them. */
static cutis_result triangles_check(int point_count, int triangle_count, const int *triangles, cutis_error *error)
{
    for (int t = 0; t < triangle_count; t++) {
        const int *corner = triangles + 3 * (size_t)t;
        for (int k = 0; k < 3; k++) {
            if (corner[k] < 0 || corner[k] >= point_count)
                return error_set(error, CUTIS_ERROR_DATA,
                                 "triangle %d uses point %d, but the mesh has %d points; correct its indices", t,
                                 corner[k], point_count);
        }

        if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0])
            return error_set(error, CUTIS_ERROR_DATA,
                             "triangle %d uses a point twice (%d, %d, %d); remove collapsed triangles", t, corner[0],
                             corner[1], corner[2]);
    }

    return CUTIS_OK;
}

/* Turn counts, stored one place to the right, into the first index of each list. */
static void counts_to_firsts(int *firsts, int count)
{
    for (int i = 0; i < count; i++) firsts[i + 1] += firsts[i];
}

/* The lower (side 0) or higher (side 1) point of half edge h: the one from corner h % 3 of triangle h / 3. */
static inline int half_edge_point(const int *triangles, int h, int side)
{
    int t = h / 3, k = h % 3;
    int a = triangles[3 * (size_t)t + k], b = triangles[3 * (size_t)t + (k + 1) % 3];
    return (a < b) == (side == 0) ? a : b;
}

/* Stable counting sort of half edges by one of their points. firsts: (point_count + 1) scratch. */
static void half_edges_sort(int point_count, int half_edge_count, const int *triangles, int side, const int *from,
                            int *to, int *firsts)
{
    memset(firsts, 0, ((size_t)point_count + 1) * sizeof *firsts);
    for (int i = 0; i < half_edge_count; i++) firsts[half_edge_point(triangles, i, side) + 1]++;
    counts_to_firsts(firsts, point_count);
    for (int i = 0; i < half_edge_count; i++) {
        int h = from ? from[i] : i;
        to[firsts[half_edge_point(triangles, h, side)]++] = h;
    }
}

/* Edges sorted by lower, then higher point, each with its first two triangles. */
static bool edges_build(mesh *m, arena *memory)
{
    int half_edge_count = 3 * m->triangle_count;
    size_t list = (size_t)half_edge_count;
    const cutis_allocator *allocator = &memory->allocator;

    /* Sort half edges by the higher point, then stably by the lower: equal edges become neighbours. */
    int *sorted = memory_allocate(allocator, list, sizeof *sorted);
    int *other = memory_allocate(allocator, list, sizeof *other);
    int *firsts = memory_allocate(allocator, (size_t)m->point_count + 1, sizeof *firsts);
    bool ok = sorted && other && firsts;
    if (ok) {
        half_edges_sort(m->point_count, half_edge_count, m->triangles, 1, NULL, other, firsts);
        half_edges_sort(m->point_count, half_edge_count, m->triangles, 0, other, sorted, firsts);

        /* Count the different ones, so that the arrays have their exact size. */
        int edge_count = 0;
        for (int i = 0; i < half_edge_count; i++) {
            bool same =
                i > 0 &&
                half_edge_point(m->triangles, sorted[i], 0) == half_edge_point(m->triangles, sorted[i - 1], 0) &&
                half_edge_point(m->triangles, sorted[i], 1) == half_edge_point(m->triangles, sorted[i - 1], 1);
            other[i] = same ? edge_count - 1 : edge_count++; /* the edge of this half edge */
        }

        int *edges = ARENA_ARRAY(memory, int, 2 * (size_t)edge_count);
        int *edge_triangles = ARENA_ARRAY(memory, int, 2 * (size_t)edge_count);
        int *counts = ARENA_ARRAY(memory, int, edge_count);
        int *triangle_edges = ARENA_ARRAY(memory, int, list);
        ok = !memory->failed;

        if (ok) {
            for (int i = 0; i < 2 * edge_count; i++) edge_triangles[i] = -1;
            for (int i = 0; i < half_edge_count; i++) {
                int h = sorted[i], e = other[i];
                edges[2 * e] = half_edge_point(m->triangles, h, 0);
                edges[2 * e + 1] = half_edge_point(m->triangles, h, 1);
                if (counts[e] < 2) edge_triangles[2 * e + counts[e]] = h / 3;
                counts[e]++;
                triangle_edges[h] = e;
            }

            m->edge_count = edge_count;
            m->edges = edges;
            m->edge_triangles = edge_triangles;
            m->edge_triangle_counts = counts;
            m->triangle_edges = triangle_edges;
        }
    }

    memory_release(allocator, firsts, (size_t)m->point_count + 1, sizeof *firsts);
    memory_release(allocator, other, list, sizeof *other);
    memory_release(allocator, sorted, list, sizeof *sorted);
    return ok;
}

/* Triangles and neighbours around each point, both ascending. */
static bool fans_build(mesh *m, arena *memory)
{
    size_t points = (size_t)m->point_count;
    int *triangle_first = ARENA_ARRAY(memory, int, points + 1);
    int *point_triangles = ARENA_ARRAY(memory, int, 3 * (size_t)m->triangle_count);
    int *neighbour_first = ARENA_ARRAY(memory, int, points + 1);
    int *neighbours = ARENA_ARRAY(memory, int, 2 * (size_t)m->edge_count);
    int *point_edges = ARENA_ARRAY(memory, int, 2 * (size_t)m->edge_count);

    int *cursor = memory_allocate(&memory->allocator, points + 1, sizeof *cursor);
    bool ok = !memory->failed && cursor;
    if (ok) {
        /* Triangles are visited in order, so each point's list ascends. */
        for (int i = 0; i < 3 * m->triangle_count; i++) triangle_first[m->triangles[i] + 1]++;
        counts_to_firsts(triangle_first, m->point_count);
        memcpy(cursor, triangle_first, points * sizeof *cursor);
        for (int i = 0; i < 3 * m->triangle_count; i++) point_triangles[cursor[m->triangles[i]]++] = i / 3;

        /* Edges are sorted by lower, then higher point: all lower neighbours first, then all higher ones. */
        for (int i = 0; i < 2 * m->edge_count; i++) neighbour_first[m->edges[i] + 1]++;
        counts_to_firsts(neighbour_first, m->point_count);
        memcpy(cursor, neighbour_first, points * sizeof *cursor);
        for (int side = 1; side >= 0; side--) {
            for (int e = 0; e < m->edge_count; e++) {
                int at = cursor[m->edges[2 * e + side]]++;
                neighbours[at] = m->edges[2 * e + 1 - side];
                point_edges[at] = e;
            }
        }

        m->point_triangle_first = triangle_first;
        m->point_triangles = point_triangles;
        m->point_neighbour_first = neighbour_first;
        m->point_neighbours = neighbours;
        m->point_edges = point_edges;
    }

    memory_release(&memory->allocator, cursor, points + 1, sizeof *cursor);
    return ok;
}

/* Whether triangle t runs along edge e from its lower to its higher point. */
static bool triangle_runs_up(const mesh *m, int t, int e)
{
    const int *corner = m->triangles + 3 * (size_t)t;
    for (int k = 0; k < 3; k++)
        if (m->triangle_edges[3 * (size_t)t + k] == e) return corner[k] < corner[(k + 1) % 3];
    return false;
}

bool mesh_edge_agrees(const mesh *m, int edge)
{
    const int *of = m->edge_triangles + 2 * (size_t)edge;
    return triangle_runs_up(m, of[0], edge) != triangle_runs_up(m, of[1], edge);
}

/* Components in the order of their lowest points, by flooding along edges. */
static bool components_build(mesh *m, arena *memory)
{
    size_t points = (size_t)m->point_count;
    int *component = ARENA_ARRAY(memory, int, points);
    int *queue = memory_allocate(&memory->allocator, points, sizeof *queue);
    bool ok = !memory->failed && queue;
    int count = 0;

    if (ok) {
        for (int p = 0; p < m->point_count; p++) component[p] = -1;
        for (int seed = 0; seed < m->point_count; seed++) {
            if (component[seed] >= 0) continue;

            /* a seed and all that can be reached from it */
            int queued = 0;
            queue[queued++] = seed;
            component[seed] = count;
            for (int i = 0; i < queued; i++) {
                int p = queue[i];
                for (int n = m->point_neighbour_first[p]; n < m->point_neighbour_first[p + 1]; n++) {
                    int q = m->point_neighbours[n];
                    if (component[q] >= 0) continue;
                    component[q] = count;
                    queue[queued++] = q;
                }
            }
            count++;
        }
    }

    memory_release(&memory->allocator, queue, points, sizeof *queue);
    int *closed = ARENA_ARRAY(memory, int, count);
    if (!ok || memory->failed) return false;

    /* A component with triangles is closed until one of its edges says otherwise. */
    for (int t = 0; t < m->triangle_count; t++) closed[component[m->triangles[3 * (size_t)t]]] = 1;
    for (int e = 0; e < m->edge_count; e++)
        if (m->edge_triangle_counts[e] != 2 || !mesh_edge_agrees(m, e)) closed[component[m->edges[2 * e]]] = 0;

    m->component_count = count;
    m->point_component = component;
    m->component_closed = closed;
    return true;
}

cutis_result mesh_build(mesh *m, int point_count, const float *positions, int triangle_count, const int *triangles,
                        arena *memory, cutis_error *error)
{
    assert(m && memory && point_count >= 0 && triangle_count >= 0);

    *m = (mesh){.point_count = point_count, .triangle_count = triangle_count};

    /* Twice the number of half edges is counted in an int. */
    if (triangle_count > INT32_MAX / 6 || point_count > INT32_MAX / 6)
        return error_set(error, CUTIS_ERROR_UNSUPPORTED,
                         "the mesh has %d points and %d triangles; at most %d of each are supported", point_count,
                         triangle_count, INT32_MAX / 6);

    cutis_result result = triangles_check(point_count, triangle_count, triangles, error);
    if (result != CUTIS_OK) return result;

    /* copies, then everything that follows from them */
    m->positions = arena_copy(memory, positions, 3 * (size_t)point_count, sizeof *positions);
    m->triangles = arena_copy(memory, triangles, 3 * (size_t)triangle_count, sizeof *triangles);
    if (memory->failed || !edges_build(m, memory) || !fans_build(m, memory) || !components_build(m, memory))
        return error_memory(error, "the mesh");

    return CUTIS_OK;
}

cutis_result mesh_build_character(mesh *m, const cutis_character *character, arena *memory, cutis_error *error)
{
    /* The rest position of a point is that of its lowest vertex. */
    size_t count = (size_t)character->point_count;
    float *positions = memory_allocate(&memory->allocator, 3 * count, sizeof *positions);
    if (!positions) return error_memory(error, "the mesh");

    for (size_t p = 0; p < count; p++)
        memcpy(positions + 3 * p, character->positions + 3 * (size_t)character->point_vertices[p],
               3 * sizeof *positions);

    cutis_result result = mesh_build(m, character->point_count, positions, character->point_triangle_count,
                                     character->point_triangles, memory, error);
    memory_release(&memory->allocator, positions, 3 * count, sizeof *positions);
    return result;
}

/* ---- walks over triangles ---- */

int triangle_exit(const double weights[3], int entered)
{
    int corner = -1;
    for (int i = 0; i < 3; i++)
        if (i != entered && weights[i] < -1e-9 && (corner < 0 || weights[i] < weights[corner])) corner = i;
    return corner;
}

void triangle_weights_clamp(double weights[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        weights[i] = fmax(weights[i], 0);
        sum += weights[i];
    }
    for (int i = 0; i < 3; i++) weights[i] /= sum;
}
