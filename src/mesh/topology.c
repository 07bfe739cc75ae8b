/*
 * topology.c: what a character's surface is made of, and where it is not a clean closed surface.
 *
 * A fan is a set of triangles around a point joined by edges of two triangles. A point of a manifold has one.
 * Holes are followed from fan to fan: the two boundary edges at the ends of a fan belong to the same loop.
 */
#include "cutis/character.h"
#include "mesh/mesh.h"

static void count_edges(const mesh *m, cutis_topology *topology)
{
    for (int e = 0; e < m->edge_count; e++) {
        int count = m->edge_triangle_counts[e];
        topology->boundary_edge_count += count == 1;
        topology->nonmanifold_edge_count += count > 2;
        topology->inconsistent_edge_count += count == 2 && !mesh_edge_agrees(m, e);
    }
}

/*
 * Fans of point p. fans: (triangle_count) and loops: (edge_count) parents; ends: (triangle_count) -1 everywhere,
 * before and after. Returns how many fans there are.
 */
static int count_fans(const mesh *m, int p, int *fans, int *loops, int *ends)
{
    /* triangles joined by edges around the point */
    int first = m->point_triangle_first[p], last = m->point_triangle_first[p + 1];
    for (int i = first; i < last; i++) fans[m->point_triangles[i]] = m->point_triangles[i];

    int first_edge = m->point_neighbour_first[p], last_edge = m->point_neighbour_first[p + 1];
    for (int i = first_edge; i < last_edge; i++) {
        int e = m->point_edges[i];
        if (m->edge_triangle_counts[e] == 2) forest_join(fans, m->edge_triangles[2 * e], m->edge_triangles[2 * e + 1]);
    }

    /* fans that no edge joins */
    int count = 0;
    for (int i = first; i < last; i++) count += fans[m->point_triangles[i]] == m->point_triangles[i];

    /* Join the boundary edges at both ends of each fan. */
    for (int i = first_edge; i < last_edge; i++) {
        int e = m->point_edges[i];
        if (m->edge_triangle_counts[e] != 1) continue;
        int *end = &ends[forest_root(fans, m->edge_triangles[2 * e])];
        if (*end >= 0) forest_join(loops, *end, e);
        *end = e;
    }

    for (int i = first; i < last; i++) ends[m->point_triangles[i]] = -1;
    return count;
}

static cutis_result count_points(const mesh *m, const cutis_allocator *allocator, cutis_topology *topology,
                                 cutis_error *error)
{
    size_t triangles = (size_t)m->triangle_count, edges = (size_t)m->edge_count;

    /* parents of fans and loops */
    int *fans = memory_allocate(allocator, triangles, sizeof *fans);
    int *ends = memory_allocate(allocator, triangles, sizeof *ends);
    int *loops = memory_allocate(allocator, edges, sizeof *loops);
    bool ok = fans && ends && loops;

    /* every point joins the boundary edges of its fans, so that loops are left */
    if (ok) {
        for (int t = 0; t < m->triangle_count; t++) ends[t] = -1;
        for (int e = 0; e < m->edge_count; e++) loops[e] = e;
        for (int p = 0; p < m->point_count; p++) {
            int count = count_fans(m, p, fans, loops, ends);
            topology->isolated_point_count += count == 0;
            topology->nonmanifold_point_count += count > 1;
        }

        for (int e = 0; e < m->edge_count; e++)
            topology->boundary_loop_count += m->edge_triangle_counts[e] == 1 && forest_root(loops, e) == e;
    }

    memory_release(allocator, loops, edges, sizeof *loops);
    memory_release(allocator, ends, triangles, sizeof *ends);
    memory_release(allocator, fans, triangles, sizeof *fans);
    return ok ? CUTIS_OK : error_memory(error, "the topology");
}

/* No area: twice the area is below what rounding the corners to floats can make of a line. */
static bool triangle_degenerate(const int *corner, const float *positions)
{
    double edge[3][3], longest2 = 0;
    for (int i = 0; i < 3; i++) {
        double length2 = 0;
        for (int k = 0; k < 3; k++) {
            edge[i][k] = (double)positions[3 * (size_t)corner[(i + 1) % 3] + k] - positions[3 * (size_t)corner[i] + k];
            length2 += edge[i][k] * edge[i][k];
        }
        longest2 = MAX(longest2, length2);
    }

    /* twice the area against the longest edge */
    double x = edge[0][1] * edge[1][2] - edge[0][2] * edge[1][1];
    double y = edge[0][2] * edge[1][0] - edge[0][0] * edge[1][2];
    double z = edge[0][0] * edge[1][1] - edge[0][1] * edge[1][0];
    return sqrt(x * x + y * y + z * z) <= 1e-7 * longest2;
}

cutis_result cutis_character_topology(const cutis_character *character, const cutis_allocator *allocator,
                                      cutis_topology *topology, cutis_error *error)
{
    *topology =
        (cutis_topology){.point_count = character->point_count, .triangle_count = character->point_triangle_count};

    /* what is counted on */
    arena memory = arena_create(allocator);
    mesh m;
    bvh tree;

    cutis_result result = mesh_build_character(&m, character, &memory, error);
    if (result == CUTIS_OK) result = count_points(&m, &memory.allocator, topology, error);
    if (result == CUTIS_OK) result = bvh_build(&tree, m.triangle_count, m.triangles, m.positions, &memory, error);

    if (result == CUTIS_OK) {
        topology->edge_count = m.edge_count;
        topology->component_count = m.component_count;
        for (int c = 0; c < m.component_count; c++) topology->closed_component_count += m.component_closed[c];
        count_edges(&m, topology);

        /* Triangles that welding collapsed have no area either. */
        topology->degenerate_triangle_count = character->triangle_count - character->point_triangle_count;
        for (int t = 0; t < m.triangle_count; t++)
            topology->degenerate_triangle_count += triangle_degenerate(m.triangles + 3 * (size_t)t, m.positions);

        for (int f = 0; f < character->face_count; f++)
            topology->quad_count += character->face_first[f + 1] - character->face_first[f] == 4;
        topology->self_intersection_count = mesh_self_intersections(&m, &tree, m.positions, NULL, NULL, 0);
        topology->area = mesh_area(m.triangle_count, m.triangles, m.positions);
        topology->volume = mesh_closed_volume(&m, m.positions);
    }

    arena_destroy(&memory);
    return result;
}
