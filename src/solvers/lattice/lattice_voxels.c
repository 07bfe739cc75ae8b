/*
 * lattice_voxels.c: conservative and solid voxelisation (section 4 of the paper; Schwarz and Seidel 2010), with
 * separate voxels for separate flesh.
 *
 * The paper lets body parts that share a cell fuse and warns of it. Here a cell is looked at more closely: the bits of
 * surface in it (PIECES: a triangle in a cell) and a few samples of its inside are nodes; two nodes are joined when
 * a straight line from one to the other stays inside the flesh, or when the surface itself leads from one to the
 * other. Each connected set of nodes of a cell is a voxel, and lines that cross a face of the cell are links. So
 * thigh and thigh, or arm and flank, get voxels of their own even when they touch.
 *
 * Components of the surface never share a voxel, whether they touch or not: each is voxelised by itself, on the cells
 * of one grid. Flesh of one component that is inside itself at rest (shut lips, a fist) is not joined there: where the
 * winding number rises from 1 to 2 another part begins, and the overlap belongs to neither.
 *
 * Inside is where the winding number is positive, summed along axis-parallel rays. Holes are closed, for this sum
 * alone, by a cone over each set of boundary edges: boundary and cone together are a closed surface whatever the hole
 * looks like, so the winding number is a whole number everywhere.
 *
 * All coordinates in this file are in cells from the grid's corner, in double precision.
 */
#include "solvers/lattice/lattice.h"

#include <stdlib.h>
#include <string.h>

/* Slack of the overlap tests, in cells: a surface that only touches a cell counts (the paper's "inclusive"). */
#define TOUCH 1e-6
/* Share of the inside that may be inside twice before that is taken for flesh of its own. */
#define OVERLAP_MOST 0.3
/* The samples stand a little beside the middle, so that symmetric characters do not put edges on the rays. */
static const double jitter[3] = {1.7e-3, 2.3e-3, 3.1e-3};
/*
 * Room between the surface and the walls of the grid, both sides together, and how far the grid stands beside the
 * middle of the surface, in cells: the points of a symmetric character's middle lie in cells, not on walls, where the
 * last bits of the file would decide.
 */
#define SLACK 0.06
static const double shift[3] = {0.013, 0.017, 0.011};

typedef struct voxeliser {
    const lattice_shape *shape; /* of one component */
    lattice_grid *grid;
    int dims[3], samples;
    size_t cell_count;
    int point_count, triangle_count; /* with those of the caps */
    double *points;                  /* (point_count x 3) */
    int *triangles;
    int8_t *turns;    /* (triangle_count) 1, or -1 for a component that is inside out */
    int *piece_first; /* (shape triangles + 1) */
    int *piece_cells; /* ascending for each triangle */
    int piece_count;
    int *cell_first; /* (cell_count + 1) pieces by cell */
    int *cell_pieces;
    int *piece_triangles;
    int *sample_nodes; /* node of each sample, -1 outside */
    int node_count;
    bool overlaps; /* whether some of the inside is inside twice */
    int *parents;  /* union-find over nodes */
    int *node_cells;
} voxeliser;

static size_t cell_index(const voxeliser *v, int x, int y, int z)
{
    return ((size_t)z * v->dims[1] + y) * v->dims[0] + x;
}

static void cell_place(const voxeliser *v, int cell, int place[3])
{
    place[0] = cell % v->dims[0];
    place[1] = cell / v->dims[0] % v->dims[1];
    place[2] = cell / v->dims[0] / v->dims[1];
}

/* ---- closing holes ---- */

/* How often more an edge is run from its lower to its higher point than back; 0 for a closed, consistent surface. */
static void edge_imbalance(const mesh *m, int *net)
{
    for (int t = 0; t < m->triangle_count; t++) {
        for (int k = 0; k < 3; k++) {
            int from = m->triangles[3 * t + k], to = m->triangles[3 * t + (k + 1) % 3];
            net[m->triangle_edges[3 * t + k]] += from < to ? 1 : -1;
        }
    }
}

/* Copy the surface into cell coordinates, add a cone over each hole, and turn components outwards. */
static cutis_result surface_prepare(voxeliser *v, const double origin[3], double step, arena *memory, int *open_edges,
                                    cutis_error *error)
{
    const mesh *m = v->shape->mesh;
    int *net = ARENA_ARRAY(memory, int, m->edge_count + 1);
    int *groups = ARENA_ARRAY(memory, int, m->point_count + 1);
    int *group_points = ARENA_ARRAY(memory, int, m->point_count + 1);
    if (memory->failed) return error_memory(error, "the lattice's voxels");

    /* edges that are open, joined to holes */
    edge_imbalance(m, net);
    for (int p = 0; p < m->point_count; p++) {
        groups[p] = p;
        group_points[p] = -1;
    }
    int caps = 0, open = 0;
    for (int e = 0; e < m->edge_count; e++) {
        if (net[e] == 0) continue;
        open++;
        caps += abs(net[e]);
        forest_join(groups, m->edges[2 * e], m->edges[2 * e + 1]);
    }
    *open_edges = open;

    /* a tip for each hole */
    int group_count = 0;
    for (int e = 0; e < m->edge_count; e++) {
        int *group = &group_points[forest_root(groups, m->edges[2 * e])];
        if (net[e] != 0 && *group < 0) *group = group_count++;
    }

    /* the closed surface, in cells */
    v->point_count = m->point_count + group_count;
    v->triangle_count = m->triangle_count + caps;
    v->points = ARENA_ARRAY(memory, double, (size_t)3 * v->point_count + 1);
    v->triangles = ARENA_ARRAY(memory, int, (size_t)3 * v->triangle_count + 1);
    v->turns = ARENA_ARRAY(memory, int8_t, v->triangle_count + 1);
    int *group_sizes = ARENA_ARRAY(memory, int, group_count + 1);
    double *volumes = ARENA_ARRAY(memory, double, m->component_count + 1);
    if (memory->failed) return error_memory(error, "the lattice's voxels");
    for (int p = 0; p < m->point_count; p++)
        for (int k = 0; k < 3; k++) v->points[3 * p + k] = (v->shape->points[3 * p + k] - origin[k]) / step;
    memcpy(v->triangles, m->triangles, sizeof(int) * 3 * (size_t)m->triangle_count);

    /* The cone's tip is the middle of the edges' ends. */
    int at = m->triangle_count;
    for (int e = 0; e < m->edge_count; e++) {
        if (net[e] == 0) continue;
        int low = m->edges[2 * e], high = m->edges[2 * e + 1];
        int group = group_points[forest_root(groups, low)], tip = m->point_count + group;
        for (int k = 0; k < 3; k++) v->points[3 * tip + k] += v->points[3 * low + k] + v->points[3 * high + k];
        group_sizes[group] += 2;
        for (int i = 0; i < abs(net[e]); i++, at++) {
            v->triangles[3 * at] = net[e] > 0 ? high : low;
            v->triangles[3 * at + 1] = net[e] > 0 ? low : high;
            v->triangles[3 * at + 2] = tip;
        }
    }

    for (int g = 0; g < group_count; g++)
        for (int k = 0; k < 3; k++) v->points[3 * (m->point_count + g) + k] /= group_sizes[g];

    /* A component with negative volume is inside out; its crossings count the other way. */
    for (int t = 0; t < v->triangle_count; t++) {
        const double *a = v->points + 3 * v->triangles[3 * t], *b = v->points + 3 * v->triangles[3 * t + 1],
                     *c = v->points + 3 * v->triangles[3 * t + 2];
        volumes[m->point_component[v->triangles[3 * t]]] += a[0] * (b[1] * c[2] - b[2] * c[1]) +
                                                            a[1] * (b[2] * c[0] - b[0] * c[2]) +
                                                            a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    for (int t = 0; t < v->triangle_count; t++)
        v->turns[t] = volumes[m->point_component[v->triangles[3 * t]]] < 0 ? -1 : 1;
    return CUTIS_OK;
}

/* ---- conservative voxelisation ---- */

/* Whether a triangle overlaps the box around `centre`, by the separating-axis test. */
static bool triangle_overlaps(const double *const corner[3], const double centre[3], const double half[3])
{
    double p[3][3], e[3][3];

    /* the box's own axes */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) p[i][k] = corner[i][k] - centre[k];
    for (int k = 0; k < 3; k++) {
        if (fmin(p[0][k], fmin(p[1][k], p[2][k])) > half[k] || fmax(p[0][k], fmax(p[1][k], p[2][k])) < -half[k])
            return false;
        e[0][k] = p[1][k] - p[0][k];
        e[1][k] = p[2][k] - p[1][k];
        e[2][k] = p[0][k] - p[2][k];
    }

    /* the triangle's normal */
    double n[3] = {e[0][1] * e[1][2] - e[0][2] * e[1][1], e[0][2] * e[1][0] - e[0][0] * e[1][2],
                   e[0][0] * e[1][1] - e[0][1] * e[1][0]};
    double reach = fabs(n[0]) * half[0] + fabs(n[1]) * half[1] + fabs(n[2]) * half[2];
    if (fabs(n[0] * p[0][0] + n[1] * p[0][1] + n[2] * p[0][2]) > reach) return false;

    /* cross products of axes and edges */
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, w = (k + 2) % 3;
            double a = e[i][w], b = -e[i][u]; /* cross product of the axis with the edge, in the plane u w */
            double r = fabs(a) * half[u] + fabs(b) * half[w];
            double q0 = a * p[0][u] + b * p[0][w], q1 = a * p[1][u] + b * p[1][w], q2 = a * p[2][u] + b * p[2][w];
            if (fmin(q0, fmin(q1, q2)) > r || fmax(q0, fmax(q1, q2)) < -r) return false;
        }
    }
    return true;
}

static void triangle_corners(const voxeliser *v, int t, const double *corner[3])
{
    for (int i = 0; i < 3; i++) corner[i] = v->points + 3 * v->triangles[3 * t + i];
}

/* The cells that triangle t overlaps, ascending; cells may be NULL to count. */
static int triangle_cells(const voxeliser *v, int t, int *cells)
{
    const double *corner[3];

    /* the cells of its bounding box */
    triangle_corners(v, t, corner);
    int low[3], high[3], count = 0;
    for (int k = 0; k < 3; k++) {
        double a = fmin(corner[0][k], fmin(corner[1][k], corner[2][k])) - TOUCH;
        double b = fmax(corner[0][k], fmax(corner[1][k], corner[2][k])) + TOUCH;
        low[k] = CLAMP((int)floor(a), 0, v->dims[k] - 1);
        high[k] = CLAMP((int)floor(b), 0, v->dims[k] - 1);
    }

    /* those that it overlaps */
    static const double half[3] = {0.5 + TOUCH, 0.5 + TOUCH, 0.5 + TOUCH};
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                double centre[3] = {x + 0.5, y + 0.5, z + 0.5};
                if (!triangle_overlaps(corner, centre, half)) continue;
                if (cells) cells[count] = (int)cell_index(v, x, y, z);
                count++;
            }
    return count;
}

static cutis_result pieces_find(voxeliser *v, arena *memory, cutis_error *error)
{
    int surface_count = v->shape->triangle_count;
    v->piece_first = ARENA_ARRAY(memory, int, surface_count + 1);
    v->cell_first = ARENA_ARRAY(memory, int, v->cell_count + 1);
    if (memory->failed) return error_memory(error, "the lattice's voxels");

    /* pieces by triangle: counted, then listed */
    for (int t = 0; t < surface_count; t++) v->piece_first[t + 1] = v->piece_first[t] + triangle_cells(v, t, NULL);
    v->piece_count = v->piece_first[surface_count];
    v->piece_cells = ARENA_ARRAY(memory, int, v->piece_count + 1);
    v->piece_triangles = ARENA_ARRAY(memory, int, v->piece_count + 1);
    v->cell_pieces = ARENA_ARRAY(memory, int, v->piece_count + 1);
    int *cursor = ARENA_ARRAY(memory, int, v->cell_count + 1);
    if (memory->failed) return error_memory(error, "the lattice's voxels");

    /* list them */
    for (int t = 0; t < surface_count; t++) {
        triangle_cells(v, t, v->piece_cells + v->piece_first[t]);
        for (int p = v->piece_first[t]; p < v->piece_first[t + 1]; p++) v->piece_triangles[p] = t;
    }

    /* pieces by cell */
    for (int p = 0; p < v->piece_count; p++) v->cell_first[v->piece_cells[p] + 1]++;
    for (size_t c = 0; c < v->cell_count; c++) v->cell_first[c + 1] += v->cell_first[c];
    memcpy(cursor, v->cell_first, sizeof(int) * v->cell_count);
    for (int p = 0; p < v->piece_count; p++) v->cell_pieces[cursor[v->piece_cells[p]]++] = p;
    return CUTIS_OK;
}

/* The piece of triangle t in a cell, -1 for none. */
static int piece_of(const voxeliser *v, int t, int cell)
{
    int low = v->piece_first[t], high = v->piece_first[t + 1];
    while (low < high) {
        int middle = (low + high) / 2;
        if (v->piece_cells[middle] < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->piece_first[t + 1] && v->piece_cells[low] == cell ? low : -1;
}

/* ---- rays ---- */

typedef struct crossing {
    double depth;
    int triangle;
    int turn; /* what the winding number changes by */
} crossing;

typedef struct rays {
    int axis, u, w; /* the ray's axis and the two across */
    int width, height;
    int *first; /* (width x height + 1) */
    crossing *crossings;
} rays;

static double sample_place(const voxeliser *v, int axis, int index)
{
    return (index + 0.5 + jitter[axis]) / v->samples;
}

/* Twice the area of a, b, p in the plane, with the ends always taken in the same order: the neighbour of a shared
 * edge gets exactly the opposite, so that no ray slips through or hits twice. */
static double edge_side(const double *points, int a, int b, int u, int w, double pu, double pw, bool *left)
{
    bool swap = a > b;
    const double *low = points + 3 * (swap ? b : a), *high = points + 3 * (swap ? a : b);
    double area = (high[u] - low[u]) * (pw - low[w]) - (high[w] - low[w]) * (pu - low[u]);
    *left = (area >= 0) != swap;
    return swap ? -area : area;
}

/* Rays through triangle t; crossings may be NULL to count into first, one place to the right. */
static void triangle_cross(const voxeliser *v, rays *r, int t, int *cursor)
{
    const double *corner[3];
    triangle_corners(v, t, corner);

    /* rays within its bounds */
    int u = r->u, w = r->w, samples = v->samples;
    int low[2], high[2];
    for (int i = 0; i < 2; i++) {
        int k = i ? w : u;
        double a = fmin(corner[0][k], fmin(corner[1][k], corner[2][k]));
        double b = fmax(corner[0][k], fmax(corner[1][k], corner[2][k]));
        low[i] = MAX((int)ceil(a * samples - 0.5 - jitter[k] - 1e-9), 0);
        high[i] = MIN((int)floor(b * samples - 0.5 - jitter[k] + 1e-9), (i ? r->height : r->width) - 1);
    }

    /* those on the same side of all edges */
    const int *tri = v->triangles + 3 * t;
    for (int y = low[1]; y <= high[1]; y++) {
        for (int x = low[0]; x <= high[0]; x++) {
            double pu = sample_place(v, u, x), pw = sample_place(v, w, y);
            bool left[3];
            double side[3];
            for (int i = 0; i < 3; i++)
                side[i] = edge_side(v->points, tri[(i + 1) % 3], tri[(i + 2) % 3], u, w, pu, pw, &left[i]);
            if (left[0] != left[1] || left[1] != left[2]) continue;

            /* count, or note depth and side */
            double area = side[0] + side[1] + side[2];
            if (area == 0) continue;
            size_t ray = (size_t)y * r->width + x;
            if (!cursor) {
                r->first[ray + 1]++;
                continue;
            }
            double depth =
                (side[0] * corner[0][r->axis] + side[1] * corner[1][r->axis] + side[2] * corner[2][r->axis]) / area;

            /* A normal along the ray leaves the flesh, one against it enters. */
            r->crossings[cursor[ray]++] = (crossing){depth, t, (left[0] ? -1 : 1) * v->turns[t]};
        }
    }
}

static bool crossing_before(const crossing *a, const crossing *b)
{
    return a->depth < b->depth || (a->depth == b->depth && a->triangle < b->triangle);
}

static cutis_result rays_cast(const voxeliser *v, int axis, arena *memory, rays *r, cutis_error *error)
{
    r->axis = axis;
    r->u = (axis + 1) % 3;
    r->w = (axis + 2) % 3;
    r->width = v->dims[r->u] * v->samples;
    r->height = v->dims[r->w] * v->samples;
    size_t count = (size_t)r->width * r->height;

    /* crossings by ray: counted, then listed */
    r->first = ARENA_ARRAY(memory, int, count + 1);
    int *cursor = ARENA_ARRAY(memory, int, count + 1);
    if (memory->failed) return error_memory(error, "the lattice's voxels");
    for (int t = 0; t < v->triangle_count; t++) triangle_cross(v, r, t, NULL);
    for (size_t i = 0; i < count; i++) r->first[i + 1] += r->first[i];

    /* list them */
    r->crossings = ARENA_ARRAY(memory, crossing, (size_t)r->first[count] + 1);
    if (memory->failed) return error_memory(error, "the lattice's voxels");
    memcpy(cursor, r->first, sizeof(int) * count);
    for (int t = 0; t < v->triangle_count; t++) triangle_cross(v, r, t, cursor);

    /* in ascending depth */
    for (size_t i = 0; i < count; i++) {
        for (int a = r->first[i] + 1; a < r->first[i + 1]; a++) {
            crossing c = r->crossings[a];
            int b = a;
            for (; b > r->first[i] && crossing_before(&c, &r->crossings[b - 1]); b--)
                r->crossings[b] = r->crossings[b - 1];
            r->crossings[b] = c;
        }
    }
    return CUTIS_OK;
}

/* Index of a sample by its place in all three directions. */
static size_t sample_index(const voxeliser *v, const int place[3])
{
    return ((size_t)place[2] * v->dims[1] * v->samples + place[1]) * (v->dims[0] * v->samples) + place[0];
}

/* Number the samples inside, by rays along z. */
static void samples_find(voxeliser *v, const rays *r)
{
    int depth = v->dims[r->axis] * v->samples, place[3];
    size_t count = (size_t)r->width * r->height * depth;
    size_t inside = 0, shared = 0;

    for (size_t i = 0; i < count; i++) v->sample_nodes[i] = -1;
    for (int y = 0; y < r->height; y++) {
        for (int x = 0; x < r->width; x++) {
            size_t ray = (size_t)y * r->width + x;

            /* walk along the ray */
            int at = r->first[ray], winding = 0, entered = 0;
            place[r->u] = x;
            place[r->w] = y;

            for (int s = 0; s < depth; s++) {
                double here = sample_place(v, r->axis, s);
                for (; at < r->first[ray + 1] && r->crossings[at].depth < here; at++) {
                    int before = winding;
                    winding += r->crossings[at].turn;
                    if (before <= 0) entered = winding;
                }
                place[r->axis] = s;
                if (winding > 0) v->sample_nodes[sample_index(v, place)] = 0;
                if (winding > 0) inside++;
                if (winding <= entered) continue;
                v->sample_nodes[sample_index(v, place)] = -2;
                shared++;
            }
        }
    }

    /* what is mostly inside itself is a surface drawn twice, not parts that overlap */
    v->overlaps = shared > 0 && shared < OVERLAP_MOST * inside;
    for (size_t i = 0; i < count; i++)
        if (v->sample_nodes[i] == -2) v->sample_nodes[i] = v->overlaps ? -1 : 0;

    /* numbers behind those of the pieces */
    v->node_count = v->piece_count;
    for (size_t i = 0; i < count; i++)
        if (v->sample_nodes[i] == 0) v->sample_nodes[i] = v->node_count++;
}

/* ---- joining ---- */

typedef struct link_list {
    int count;
    int *links; /* (count x 3): lower node, higher node along the axis, axis; NULL while counting */
} link_list;

/* Two nodes with nothing but flesh between them. */
static void nodes_meet(voxeliser *v, link_list *list, int a, int b, int axis)
{
    /* of one cell: the same voxel */
    if (v->node_cells[a] == v->node_cells[b]) {
        forest_join(v->parents, a, b);
        return;
    }

    /* of neighbouring cells: a link */
    int pa[3], pb[3];
    cell_place(v, v->node_cells[a], pa), cell_place(v, v->node_cells[b], pb);
    int step = pb[axis] - pa[axis];
    if ((step != 1 && step != -1) || pa[(axis + 1) % 3] != pb[(axis + 1) % 3] ||
        pa[(axis + 2) % 3] != pb[(axis + 2) % 3])
        return;

    /* note it */
    if (list->links) {
        int *link = list->links + 3 * (size_t)list->count;
        link[0] = step > 0 ? a : b;
        link[1] = step > 0 ? b : a;
        link[2] = axis;
    }
    list->count++;
}

/* Walk along each ray and join what follows each other inside. */
static void rays_join(voxeliser *v, const rays *r, link_list *list)
{
    int depth = v->dims[r->axis] * v->samples, place[3], cell[3];
    for (int y = 0; y < r->height; y++) {
        for (int x = 0; x < r->width; x++) {
            size_t ray = (size_t)y * r->width + x;
            int at = r->first[ray], end = r->first[ray + 1], winding = 0, last = -1;
            if (at == end) continue;
            place[r->u] = x;
            place[r->w] = y;
            cell[r->u] = x / v->samples;
            cell[r->w] = y / v->samples;

            for (int s = 0; s <= depth; s++) {
                double here = s < depth ? sample_place(v, r->axis, s) : 1e300;

                /* the surface in front of the sample */
                for (; at < end && r->crossings[at].depth < here; at++) {
                    const crossing *c = &r->crossings[at];
                    int before = winding, node = -1;
                    winding += c->turn;
                    cell[r->axis] = CLAMP((int)floor(c->depth), 0, v->dims[r->axis] - 1);
                    if (c->triangle < v->shape->triangle_count)
                        node = piece_of(v, c->triangle, (int)cell_index(v, cell[0], cell[1], cell[2]));

                    /* join what is inside */
                    if (before > 0 && last >= 0 && node >= 0 && (winding <= 0 || !v->overlaps))
                        nodes_meet(v, list, last, node, r->axis);
                    if (v->overlaps && before > 0)
                        last = -1;
                    else if (winding > 0)
                        last = node >= 0 ? node : before > 0 ? last : -1;
                    else
                        last = -1;
                }

                /* the sample */
                if (s == depth || winding <= 0) continue;
                place[r->axis] = s;
                int node = v->sample_nodes[sample_index(v, place)];
                if (node >= 0 && last >= 0) nodes_meet(v, list, last, node, r->axis);
                last = node;
            }
        }
    }
}

/* Join pieces that the surface connects: across shared edges in one cell, and one triangle from cell to cell. */
static void surface_join(voxeliser *v, link_list *list)
{
    const mesh *m = v->shape->mesh;
    static const double half[3] = {0.5 + TOUCH, 0.5 + TOUCH, 0.5 + TOUCH};

    /* across edges */
    for (int e = 0; e < m->edge_count; e++) {
        int t0 = m->edge_triangles[2 * e], t1 = m->edge_triangles[2 * e + 1];
        if (t1 < 0) continue;
        const double *a = v->points + 3 * m->edges[2 * e], *b = v->points + 3 * m->edges[2 * e + 1];
        const double *edge[3] = {a, b, b};

        /* pieces of both triangles in one cell */
        for (int p = v->piece_first[t0]; p < v->piece_first[t0 + 1]; p++) {
            int q = piece_of(v, t1, v->piece_cells[p]), place[3];
            if (q < 0) continue;
            cell_place(v, v->piece_cells[p], place);
            double centre[3] = {place[0] + 0.5, place[1] + 0.5, place[2] + 0.5};
            if (triangle_overlaps(edge, centre, half)) forest_join(v->parents, p, q);
        }
    }

    /* from cell to cell */
    int stride[3] = {1, v->dims[0], v->dims[0] * v->dims[1]};
    for (int p = 0; p < v->piece_count; p++) {
        int place[3], t = v->piece_triangles[p];
        const double *corner[3];
        cell_place(v, v->piece_cells[p], place);
        triangle_corners(v, t, corner);

        /* the next cell along each axis */
        for (int axis = 0; axis < 3; axis++) {
            if (place[axis] + 1 >= v->dims[axis]) continue;
            int q = piece_of(v, t, v->piece_cells[p] + stride[axis]);
            if (q < 0) continue;
            double centre[3] = {place[0] + 0.5, place[1] + 0.5, place[2] + 0.5}, flat[3] = {0.5, 0.5, 0.5};
            centre[axis] += 0.5;
            flat[axis] = TOUCH;
            if (triangle_overlaps(corner, centre, flat)) nodes_meet(v, list, p, q, axis);
        }
    }
}

/* Where along p + s d (0 < s < limit) triangle t is hit; limit when it is not. */
static double triangle_hit(const voxeliser *v, int t, const double p[3], const double d[3], double limit)
{
    const double *corner[3];
    triangle_corners(v, t, corner);

    /* Moeller and Trumbore */
    double e1[3], e2[3], s[3];
    for (int k = 0; k < 3; k++) {
        e1[k] = corner[1][k] - corner[0][k];
        e2[k] = corner[2][k] - corner[0][k];
        s[k] = p[k] - corner[0][k];
    }
    double h[3] = {d[1] * e2[2] - d[2] * e2[1], d[2] * e2[0] - d[0] * e2[2], d[0] * e2[1] - d[1] * e2[0]};
    double det = e1[0] * h[0] + e1[1] * h[1] + e1[2] * h[2];
    if (det == 0) return limit;
    double u = (s[0] * h[0] + s[1] * h[1] + s[2] * h[2]) / det;
    double q[3] = {s[1] * e1[2] - s[2] * e1[1], s[2] * e1[0] - s[0] * e1[2], s[0] * e1[1] - s[1] * e1[0]};
    double w = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
    double at = (e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]) / det;
    return u < 0 || w < 0 || u + w > 1 || at <= 0 || at >= limit ? limit : at;
}

/* Normal of triangle t, twice its area long. */
static void triangle_normal(const voxeliser *v, int t, double n[3])
{
    const double *c[3];
    triangle_corners(v, t, c);
    double e1[3], e2[3];
    for (int k = 0; k < 3; k++) {
        e1[k] = c[1][k] - c[0][k];
        e2[k] = c[2][k] - c[0][k];
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = e1[i] * e2[j] - e1[j] * e2[i];
    }
}

/* Whether a line along d passes triangle t from outside to inside. */
static bool triangle_entered(const voxeliser *v, int t, const double d[3])
{
    double n[3];
    triangle_normal(v, t, n);
    return v->turns[t] * (n[0] * d[0] + n[1] * d[1] + n[2] * d[2]) < 0;
}

/* A point of triangle t inside the box of a cell: the middle of the triangle cut by the box; false when it misses. */
static bool piece_middle(const voxeliser *v, int t, const int place[3], double middle[3])
{
    const double *corner[3];
    triangle_corners(v, t, corner);

    /* cut by the six sides of the box, one at a time */
    double polygon[16][3], next[16][3];
    int count = 3;
    for (int i = 0; i < 3; i++) memcpy(polygon[i], corner[i], sizeof polygon[i]);
    for (int side = 0; side < 6 && count; side++) {
        int k = side / 2, cut = 0;
        double sign = side & 1 ? -1 : 1, bound = place[k] + (side & 1 ? 1 + TOUCH : -TOUCH);
        for (int i = 0; i < count; i++) {
            const double *a = polygon[i], *b = polygon[(i + 1) % count];
            double da = sign * (a[k] - bound), db = sign * (b[k] - bound);
            if (da >= 0) memcpy(next[cut++], a, sizeof next[0]);
            if ((da >= 0) != (db >= 0)) {
                double s = da / (da - db);
                for (int j = 0; j < 3; j++) next[cut][j] = a[j] + s * (b[j] - a[j]);
                cut++;
            }
        }
        count = cut;
        memcpy(polygon, next, sizeof polygon);
    }

    /* the middle of what is left */
    if (!count) return false;
    for (int k = 0; k < 3; k++) {
        middle[k] = 0;
        for (int i = 0; i < count; i++) middle[k] += polygon[i][k];
        middle[k] /= count;
    }
    return true;
}

/* A look inwards from a bit of surface. */
typedef struct inward_look {
    int place[3]; /* of its cell */
    double start[3], direction[3];
} inward_look;

/* From the middle of piece p; false when it has no area in its cell. */
static bool look_make(const voxeliser *v, int p, inward_look *look)
{
    int t = v->piece_triangles[p];
    double middle[3];
    cell_place(v, v->piece_cells[p], look->place);
    if (!piece_middle(v, t, look->place, middle)) return false;

    /* against the normal */
    double n[3];
    triangle_normal(v, t, n);
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (length == 0) return false;
    for (int k = 0; k < 3; k++) {
        look->direction[k] = -n[k] / length * v->turns[t];
        look->start[k] = middle[k] + 1e-4 * look->direction[k];
    }
    return true;
}

/* The first piece of the same cell that is seen from piece p; -1: the cell's wall. */
static int look_hit(const voxeliser *v, int p, const inward_look *look)
{
    /* how far to the wall */
    const double *start = look->start, *inward = look->direction;
    double nearest = 2;
    for (int k = 0; k < 3; k++) {
        if (inward[k] > 1e-12) nearest = fmin(nearest, (look->place[k] + 1 - start[k]) / inward[k]);
        if (inward[k] < -1e-12) nearest = fmin(nearest, (look->place[k] - start[k]) / inward[k]);
    }

    /* what is hit before it */
    int hit = -1, cell = v->piece_cells[p];
    for (int i = v->cell_first[cell]; i < v->cell_first[cell + 1]; i++) {
        int other = v->cell_pieces[i];
        if (v->piece_triangles[other] == v->piece_triangles[p]) continue;
        double at = triangle_hit(v, v->piece_triangles[other], start, inward, nearest);
        if (at >= nearest) continue;
        nearest = at;
        hit = other;
    }
    return hit;
}

/* The node of the first sample of the cell that lies inwards with nothing in between; -1: none. */
static int look_sample(const voxeliser *v, int p, const inward_look *look)
{
    int s = v->samples, cell = v->piece_cells[p];
    for (int i = 0; i < s * s * s; i++) {
        int at[3] = {look->place[0] * s + i % s, look->place[1] * s + i / s % s, look->place[2] * s + i / s / s};
        int node = v->sample_nodes[sample_index(v, at)];
        if (node < 0) continue;

        /* the way to it leads inwards */
        double d[3];
        for (int k = 0; k < 3; k++) d[k] = sample_place(v, k, at[k]) - look->start[k];
        if (d[0] * look->direction[0] + d[1] * look->direction[1] + d[2] * look->direction[2] <= 0) continue;

        /* and meets no surface */
        bool clear = true;
        for (int j = v->cell_first[cell]; j < v->cell_first[cell + 1] && clear; j++)
            if (v->cell_pieces[j] != p)
                clear = triangle_hit(v, v->piece_triangles[v->cell_pieces[j]], look->start, d, 1) >= 1;
        if (clear) return node;
    }
    return -1;
}

/*
 * A bit of surface that no ray met stands alone although flesh may join it to the rest of its cell. Look inwards from
 * its middle: at the surface on the other side of thin flesh, or else at each sample in the cell.
 */
static void strays_join(voxeliser *v, uint8_t *joined)
{
    for (int p = 0; p < v->piece_count; p++) {
        /* Pieces with company of another kind, or alone in their cell, need no help. */
        int root = forest_root(v->parents, p);
        inward_look look;
        if (joined[root] || !look_make(v, p, &look)) continue;

        /* the surface opposite, unless it is entered there: then it is that of another part */
        int hit = look_hit(v, p, &look);
        if (hit >= 0 && v->overlaps && triangle_entered(v, v->piece_triangles[hit], look.direction)) continue;
        if (hit >= 0) {
            uint8_t both = joined[root] | joined[forest_root(v->parents, hit)];
            forest_join(v->parents, p, hit);
            joined[forest_root(v->parents, p)] = both;
            continue;
        }

        /* nothing is hit: the first sample in sight */
        int node = look_sample(v, p, &look);
        if (node < 0) continue;
        forest_join(v->parents, p, node);
        joined[forest_root(v->parents, p)] = 1;
    }
}

/* ---- the graph ---- */

/* Number the voxels cell by cell, and hand over links, points and samples. */
static cutis_result graph_fill(voxeliser *v, const link_list *list, arena *memory, arena *temporary,
                               lattice_graph *graph, cutis_error *error)
{
    int *voxel_of = ARENA_ARRAY(temporary, int, v->node_count + 1);
    v->grid->cell_voxels = ARENA_ARRAY(memory, int, v->cell_count);
    if (memory->failed || temporary->failed) return error_memory(error, "the lattice's voxels");

    /* numbers, cell by cell: first what has surface, then what has samples */
    int s = v->samples;
    for (int n = 0; n < v->node_count; n++) voxel_of[n] = -1;
    for (size_t c = 0; c < v->cell_count; c++) {
        int place[3], before = graph->count;
        cell_place(v, (int)c, place);
        for (int i = v->cell_first[c]; i < v->cell_first[c + 1]; i++) {
            int root = forest_root(v->parents, v->cell_pieces[i]);
            if (voxel_of[root] < 0) voxel_of[root] = graph->count++;
        }

        /* samples */
        for (int i = 0; i < s * s * s; i++) {
            int sp[3] = {place[0] * s + i % s, place[1] * s + i / s % s, place[2] * s + i / s / s};
            int node = v->sample_nodes[sample_index(v, sp)];
            if (node < 0) continue;
            int root = forest_root(v->parents, node);
            if (voxel_of[root] < 0) voxel_of[root] = graph->count++;
        }

        /* the first of several, and how often there are several */
        v->grid->cell_voxels[c] = graph->count > before ? before : -1;
        graph->cell_conflicts += graph->count > before + 1;
    }

    /* room */
    graph->rest = ARENA_ARRAY(memory, float, (size_t)4 * graph->count + 4);
    graph->point_voxels = ARENA_ARRAY(memory, int, v->shape->point_count + 1);
    int *pairs = ARENA_ARRAY(temporary, int, (size_t)6 * list->count + 1);
    if (memory->failed || temporary->failed) return error_memory(error, "the lattice's voxels");

    /* places */
    for (int n = 0; n < v->node_count; n++) {
        int voxel = voxel_of[forest_root(v->parents, n)], place[3];
        cell_place(v, v->node_cells[n], place);
        for (int k = 0; k < 3; k++)
            graph->rest[4 * voxel + k] = (float)(graph->origin[k] + (v->grid->low[k] + place[k] + 0.5) * graph->step);
        graph->rest[4 * voxel + 3] = (float)graph->step;
    }

    /* links in both directions */
    for (int i = 0; i < list->count; i++) {
        const int *link = list->links + 3 * (size_t)i;
        int a = voxel_of[forest_root(v->parents, link[0])], b = voxel_of[forest_root(v->parents, link[1])];
        int *pair = pairs + 6 * (size_t)i;
        pair[0] = a * LATTICE_DIRECTIONS + 2 * link[2] + 1;
        pair[1] = b;
        pair[2] = 1;
        pair[3] = b * LATTICE_DIRECTIONS + 2 * link[2];
        pair[4] = a;
        pair[5] = 1;
    }

    /* samples */
    size_t sample_count = v->cell_count * s * s * s;
    v->grid->sample_voxels = v->sample_nodes;
    for (size_t i = 0; i < sample_count; i++)
        if (v->sample_nodes[i] >= 0) v->sample_nodes[i] = voxel_of[forest_root(v->parents, v->sample_nodes[i])];

    /* A point lies in the cell of some piece of a triangle around it. */
    const mesh *m = v->shape->mesh;
    for (int p = 0; p < m->point_count; p++) {
        int place[3];
        for (int k = 0; k < 3; k++) place[k] = CLAMP((int)floor(v->points[3 * p + k]), 0, v->dims[k] - 1);
        int cell = (int)cell_index(v, place[0], place[1], place[2]), piece = -1;
        for (int i = m->point_triangle_first[p]; i < m->point_triangle_first[p + 1] && piece < 0; i++)
            piece = piece_of(v, m->point_triangles[i], cell);
        graph->point_voxels[p] = piece >= 0 ? voxel_of[forest_root(v->parents, piece)] : -1;
    }
    return lattice_graph_link(graph, pairs, (size_t)2 * list->count, memory, error);
}

/* A point of no triangle goes to the nearest voxel of the surface. */
static void points_settle(const lattice_shape *shape, lattice_graph *graph)
{
    for (int p = 0; p < shape->point_count; p++) {
        if (graph->point_voxels[p] >= 0) continue;
        vec3 at = vec3_load(shape->points + 3 * p);
        float nearest = INFINITY;
        for (int i = 0; i < graph->count; i++) {
            float distance = vec3_length2(vec3_sub(vec3_load(graph->rest + 4 * i), at));
            if (distance < nearest) {
                nearest = distance;
                graph->point_voxels[p] = i;
            }
        }
    }
}

static cutis_result voxelise(voxeliser *v, arena *memory, arena *temporary, lattice_graph *graph, int *open_edges,
                             cutis_error *error)
{
    /* the surface, cut by cells */
    double corner[3];
    for (int k = 0; k < 3; k++) corner[k] = graph->origin[k] + v->grid->low[k] * graph->step;
    cutis_result result = surface_prepare(v, corner, graph->step, temporary, open_edges, error);
    if (result == CUTIS_OK) result = pieces_find(v, temporary, error);
    if (result != CUTIS_OK) return result;

    /* samples inside, by rays along the three axes */
    int s = v->samples;
    v->sample_nodes = ARENA_ARRAY(memory, int, v->cell_count *s *s *s);
    if (memory->failed) return error_memory(error, "the lattice's voxels");

    rays r[3];
    for (int axis = 2; axis >= 0; axis--) {
        result = rays_cast(v, axis, temporary, &r[axis], error);
        if (result != CUTIS_OK) return result;
        if (axis == 2) samples_find(v, &r[2]);
    }

    /* nodes are pieces of surface and samples; each has a cell */
    v->parents = ARENA_ARRAY(temporary, int, v->node_count + 1);
    v->node_cells = ARENA_ARRAY(temporary, int, v->node_count + 1);
    uint8_t *joined = ARENA_ARRAY(temporary, uint8_t, v->node_count + 1);
    if (temporary->failed) return error_memory(error, "the lattice's voxels");
    for (int n = 0; n < v->node_count; n++) v->parents[n] = n;
    for (int p = 0; p < v->piece_count; p++) v->node_cells[p] = v->piece_cells[p];
    int place[3];
    for (place[2] = 0; place[2] < v->dims[2] * s; place[2]++)
        for (place[1] = 0; place[1] < v->dims[1] * s; place[1]++)
            for (place[0] = 0; place[0] < v->dims[0] * s; place[0]++) {
                int node = v->sample_nodes[sample_index(v, place)];
                if (node >= 0) v->node_cells[node] = (int)cell_index(v, place[0] / s, place[1] / s, place[2] / s);
            }

    /* Once to count the links, once to write them. */
    link_list list = {0, NULL};
    for (int pass = 0; pass < 2; pass++) {
        surface_join(v, &list);
        for (int axis = 0; axis < 3; axis++) rays_join(v, &r[axis], &list);
        if (pass) break;
        list.links = ARENA_ARRAY(temporary, int, (size_t)3 * list.count + 1);
        if (temporary->failed) return error_memory(error, "the lattice's voxels");
        list.count = 0;
    }

    /* bits of surface that no ray met */
    for (int n = v->piece_count; n < v->node_count; n++) joined[forest_root(v->parents, n)] = 1;
    strays_join(v, joined);
    return graph_fill(v, &list, memory, temporary, graph, error);
}

/* ---- components ---- */

/* The part of a shape that is one component, as a shape of its own. */
typedef struct component_shape {
    lattice_shape shape;
    mesh mesh;
    const int *points; /* (shape.point_count) in the whole shape */
} component_shape;

/* Points and triangles by component, in the order of their numbers. */
typedef struct component_lists {
    int *point_first, *points;       /* (component_count + 1), (point_count) */
    int *triangle_first, *triangles; /* likewise */
    int *places;                     /* (point_count) number of a point within its component */
} component_lists;

static cutis_result components_list(const mesh *m, arena *memory, component_lists *lists, cutis_error *error)
{
    lists->point_first = ARENA_ARRAY(memory, int, m->component_count + 2);
    lists->points = ARENA_ARRAY(memory, int, m->point_count + 1);
    lists->triangle_first = ARENA_ARRAY(memory, int, m->component_count + 2);
    lists->triangles = ARENA_ARRAY(memory, int, m->triangle_count + 1);
    lists->places = ARENA_ARRAY(memory, int, m->point_count + 1);
    if (memory->failed) return error_memory(error, "the lattice's voxels");

    /* count two places further on, so that filling leaves the starts behind */
    for (int p = 0; p < m->point_count; p++) lists->point_first[m->point_component[p] + 1]++;
    for (int t = 0; t < m->triangle_count; t++) lists->triangle_first[m->point_component[m->triangles[3 * t]] + 1]++;
    for (int c = 0; c < m->component_count; c++) {
        lists->point_first[c + 1] += lists->point_first[c];
        lists->triangle_first[c + 1] += lists->triangle_first[c];
    }
    for (int p = m->point_count - 1; p >= 0; p--) lists->points[--lists->point_first[m->point_component[p] + 1]] = p;
    for (int t = m->triangle_count - 1; t >= 0; t--)
        lists->triangles[--lists->triangle_first[m->point_component[m->triangles[3 * t]] + 1]] = t;

    /* filling backwards left the start of c at c + 1 */
    for (int c = 0; c < m->component_count; c++) {
        lists->point_first[c] = lists->point_first[c + 1];
        lists->triangle_first[c] = lists->triangle_first[c + 1];
    }
    lists->point_first[m->component_count] = m->point_count;
    lists->triangle_first[m->component_count] = m->triangle_count;

    /* the place of each point in its list */
    for (int c = 0; c < m->component_count; c++)
        for (int i = lists->point_first[c]; i < lists->point_first[c + 1]; i++)
            lists->places[lists->points[i]] = i - lists->point_first[c];
    return CUTIS_OK;
}

static cutis_result component_take(const lattice_shape *shape, const component_lists *lists, int component,
                                   arena *memory, component_shape *out, cutis_error *error)
{
    const int *points = lists->points + lists->point_first[component];
    const int *triangles = lists->triangles + lists->triangle_first[component];
    int point_count = lists->point_first[component + 1] - lists->point_first[component];
    int triangle_count = lists->triangle_first[component + 1] - lists->triangle_first[component];
    float *positions = ARENA_ARRAY(memory, float, 3 * (size_t)point_count + 1);
    int *corners = ARENA_ARRAY(memory, int, 3 * (size_t)triangle_count + 1);
    if (memory->failed) return error_memory(error, "the lattice's voxels");
    for (int p = 0; p < point_count; p++) memcpy(positions + 3 * p, shape->points + 3 * points[p], 3 * sizeof(float));
    for (int t = 0; t < triangle_count; t++)
        for (int k = 0; k < 3; k++) corners[3 * t + k] = lists->places[shape->triangles[3 * triangles[t] + k]];
    cutis_result result = mesh_build(&out->mesh, point_count, positions, triangle_count, corners, memory, error);
    if (result != CUTIS_OK) return result;
    out->shape = (lattice_shape){point_count, triangle_count, positions, out->mesh.triangles, &out->mesh};
    out->points = points;
    return CUTIS_OK;
}

/* The cells of a component, and its voxels as a graph that starts at 0. */
static cutis_result component_voxelise(const component_shape *part, lattice_grid *grid, arena *memory, arena *temporary,
                                       lattice_graph *graph, int *open_edges, cutis_error *error)
{
    voxeliser v = {.shape = &part->shape, .grid = grid, .cell_count = 1, .samples = graph->samples};
    for (int k = 0; k < 3; k++) {
        float low = part->shape.points[k], high = low;
        for (int p = 1; p < part->shape.point_count; p++) {
            low = fminf(low, part->shape.points[3 * p + k]);
            high = fmaxf(high, part->shape.points[3 * p + k]);
        }
        grid->low[k] = CLAMP((int)floor((low - graph->origin[k]) / graph->step - 1e-6), 0, graph->dims[k] - 1);
        int last = CLAMP((int)floor((high - graph->origin[k]) / graph->step + 1e-6), grid->low[k], graph->dims[k] - 1);
        grid->dims[k] = last - grid->low[k] + 1;
        v.dims[k] = grid->dims[k];
        v.cell_count *= (size_t)v.dims[k];
    }
    return voxelise(&v, memory, temporary, graph, open_edges, error);
}

/* Append the graph of a component. */
static void graph_append(lattice_graph *graph, const lattice_graph *part, const component_shape *shape, int component,
                         lattice_grid *grid)
{
    /* voxels and links */
    int base = graph->count;
    int link_base = graph->link_first[base * LATTICE_DIRECTIONS];
    memcpy(graph->rest + 4 * (size_t)base, part->rest, 4 * sizeof(float) * (size_t)part->count);
    for (int i = 0; i < part->count * LATTICE_DIRECTIONS; i++)
        graph->link_first[base * LATTICE_DIRECTIONS + i + 1] = link_base + part->link_first[i + 1];
    for (int i = 0; i < part->link_first[part->count * LATTICE_DIRECTIONS]; i++)
        graph->links[link_base + i] = base + part->links[i];

    /* points */
    for (int v = 0; v < part->count; v++) graph->components[base + v] = component;
    for (int p = 0; p < shape->shape.point_count; p++)
        graph->point_voxels[shape->points[p]] = part->point_voxels[p] < 0 ? -1 : base + part->point_voxels[p];

    /* cells and samples */
    size_t cells = (size_t)grid->dims[0] * grid->dims[1] * grid->dims[2];
    size_t samples = cells * graph->samples * graph->samples * graph->samples;
    for (size_t i = 0; i < cells; i++)
        if (grid->cell_voxels[i] >= 0) grid->cell_voxels[i] += base;
    for (size_t i = 0; i < samples; i++)
        if (grid->sample_voxels[i] >= 0) grid->sample_voxels[i] += base;
    graph->count += part->count;
    graph->cell_conflicts += part->cell_conflicts;
}

static cutis_result components_voxelise(const lattice_shape *shape, arena *memory, arena *temporary,
                                        lattice_graph *graph, int *open_edges, cutis_error *error)
{
    const mesh *m = shape->mesh;
    component_lists lists;
    cutis_result result = components_list(m, temporary, &lists, error);
    if (result != CUTIS_OK) return result;

    /* room */
    graph->grids = ARENA_ARRAY(memory, lattice_grid, m->component_count);
    lattice_graph *parts = ARENA_ARRAY(temporary, lattice_graph, m->component_count);
    component_shape *shapes = ARENA_ARRAY(temporary, component_shape, m->component_count);
    if (memory->failed || temporary->failed) return error_memory(error, "the lattice's voxels");

    /* each by itself; the working memory of one is given back before the next */
    int voxel_count = 0, link_count = 0;
    *open_edges = 0;
    for (int c = 0; c < m->component_count; c++) {
        if (lists.triangle_first[c] == lists.triangle_first[c + 1]) continue;
        int open = 0;
        result = component_take(shape, &lists, c, temporary, &shapes[c], error);
        if (result != CUTIS_OK) return result;
        parts[c] = *graph;
        arena work = arena_create(&memory->allocator);
        result = component_voxelise(&shapes[c], &graph->grids[c], memory, &work, &parts[c], &open, error);
        arena_destroy(&work);
        if (result != CUTIS_OK) return result;
        voxel_count += parts[c].count;
        link_count += parts[c].link_first[parts[c].count * LATTICE_DIRECTIONS];
        *open_edges += open;
    }

    /* one graph of them all */
    graph->grid_count = m->component_count;
    graph->rest = ARENA_ARRAY(memory, float, 4 * (size_t)voxel_count + 4);
    graph->link_first = ARENA_ARRAY(memory, int, (size_t)LATTICE_DIRECTIONS *voxel_count + 1);
    graph->links = ARENA_ARRAY(memory, int, link_count + 1);
    graph->components = ARENA_ARRAY(memory, int, voxel_count + 1);
    graph->point_voxels = ARENA_ARRAY(memory, int, m->point_count + 1);
    if (memory->failed) return error_memory(error, "the lattice's voxels");
    for (int p = 0; p < m->point_count; p++) graph->point_voxels[p] = -1;
    for (int c = 0; c < m->component_count; c++)
        if (parts[c].count) graph_append(graph, &parts[c], &shapes[c], c, &graph->grids[c]);
    return CUTIS_OK;
}

cutis_result lattice_voxelise(const lattice_shape *shape, int resolution, arena *memory, lattice_graph *graph,
                              int *open_edges, cutis_error *error)
{
    /* bounds */
    double low[3] = {0, 0, 0}, high[3] = {0, 0, 0}, side = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = shape->points[k];
        for (int p = 1; p < shape->point_count; p++) {
            low[k] = fmin(low[k], shape->points[3 * p + k]);
            high[k] = fmax(high[k], shape->points[3 * p + k]);
        }
        side = fmax(side, high[k] - low[k]);
    }
    if (!(side > 0)) return error_set(error, CUTIS_ERROR_DATA, "the mesh has no extent; all its points coincide");

    /* The longest side takes `resolution` cells; the others are centred in whole ones. */
    memset(graph, 0, sizeof *graph);
    size_t cell_count = 1;
    graph->step = side / (resolution - SLACK);
    graph->cell = (float)graph->step;
    for (int k = 0; k < 3; k++) {
        graph->dims[k] = MAX((int)ceil((high[k] - low[k]) / graph->step + SLACK - 1e-4), 1);
        graph->origin[k] = 0.5 * (low[k] + high[k]) - (0.5 * graph->dims[k] + shift[k]) * graph->step;
        cell_count *= graph->dims[k];
    }

    /* samples along a cell's edge: fewer where there are many cells */
    graph->samples = cell_count < 600000 ? 3 : 2;
    arena temporary = arena_create(&memory->allocator);
    cutis_result result = components_voxelise(shape, memory, &temporary, graph, open_edges, error);
    arena_destroy(&temporary);
    if (result == CUTIS_OK) points_settle(shape, graph);
    return result;
}
