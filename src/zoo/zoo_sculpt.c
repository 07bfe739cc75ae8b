/*
 * zoo_sculpt.c: from a described character (cage, field, skeleton, motions) to a finished one.
 *
 * Every quad of the cage becomes a grid. Edges that face each other across quads form a chord and share one
 * number of pieces, in proportion to the chord's mean length, so that the mesh stays all-quad and its cells
 * nearly square; a bisection on the cell size meets the wanted number of vertices. The grid is first made at
 * resolution 1, pulled onto the field by Newton steps and relaxed along it, and given weights there; any other
 * resolution samples that one and is pulled onto the field again. So the shape and the weights do not depend
 * on the resolution.
 */
#include <string.h>

#include "zoo/zoo_kit.h"

enum { MAX_EDGES = 2 * ZOO_MAX_FACES, MAX_INFLUENCES = 6, MAX_PIECES = 256 };

/* ---- chords ---- */

typedef struct cage_edges {
    int edge_count;
    int ends[MAX_EDGES][2];    /* lower point first */
    int next[MAX_EDGES];       /* next edge with the same lower point */
    int first[ZOO_MAX_POINTS]; /* first edge of a lower point, or -1 */
    int face_edges[ZOO_MAX_FACES][4];
    int chord[MAX_EDGES];          /* representative edge */
    float chord_length[MAX_EDGES]; /* mean length x density, at the representative */
    int pieces[MAX_EDGES];         /* at every edge */
} cage_edges;

static int edge_find(cage_edges *edges, int a, int b)
{
    int low = MIN(a, b), high = MAX(a, b);
    for (int e = edges->first[low]; e >= 0; e = edges->next[e])
        if (edges->ends[e][1] == high) return e;
    int e = edges->edge_count++;
    edges->ends[e][0] = low;
    edges->ends[e][1] = high;
    edges->next[e] = edges->first[low];
    edges->first[low] = e;
    edges->chord[e] = e;
    return e;
}

static void edges_build(const zoo_kit *kit, cage_edges *edges)
{
    /* edges of faces */
    for (int i = 0; i < kit->point_count; i++) edges->first[i] = -1;
    for (int f = 0; f < kit->face_count; f++)
        for (int k = 0; k < 4; k++)
            edges->face_edges[f][k] = edge_find(edges, kit->faces[f].points[k], kit->faces[f].points[(k + 1) % 4]);

    /* opposite edges of a quad have equally many pieces: chords */
    for (int f = 0; f < kit->face_count; f++)
        for (int k = 0; k < 2; k++) forest_join(edges->chord, edges->face_edges[f][k], edges->face_edges[f][k + 2]);

    /* the mean length of a chord, by density */
    int members[MAX_EDGES] = {0};
    for (int f = 0; f < kit->face_count; f++)
        for (int k = 0; k < 4; k++) {
            int e = edges->face_edges[f][k], root = forest_root(edges->chord, e);
            float density = kit->density[kit->faces[f].region];
            edges->chord_length[root] += (density > 0 ? density : 1) *
                                         vec3_distance(kit->points[edges->ends[e][0]], kit->points[edges->ends[e][1]]);
            members[root]++;
        }
    for (int e = 0; e < edges->edge_count; e++)
        if (members[e]) edges->chord_length[e] /= (float)members[e];
}

/* Cut every chord into pieces of about `cell`; returns the number of vertices that gives. */
static int edges_cut(const zoo_kit *kit, cage_edges *edges, float cell)
{
    int count = kit->point_count;
    for (int e = 0; e < edges->edge_count; e++) {
        int pieces = (int)floorf(edges->chord_length[forest_root(edges->chord, e)] / cell + 0.5f);
        edges->pieces[e] = CLAMP(pieces, 1, MAX_PIECES);
        count += edges->pieces[e] - 1;
    }
    for (int f = 0; f < kit->face_count; f++)
        count += (edges->pieces[edges->face_edges[f][0]] - 1) * (edges->pieces[edges->face_edges[f][1]] - 1);
    return count;
}

static void edges_fit(const zoo_kit *kit, cage_edges *edges, double wanted)
{
    float fine = 1e-5f, coarse = 10, best_cell = coarse;
    double best = 1e30;
    for (int i = 0; i < 60; i++) {
        float cell = sqrtf(fine * coarse);
        int count = edges_cut(kit, edges, cell);
        double miss = count > wanted ? count - wanted : wanted - count;
        if (miss < best) {
            best = miss;
            best_cell = cell;
        }
        if (count > wanted)
            fine = cell;
        else
            coarse = cell;
    }
    edges_cut(kit, edges, best_cell);
}

/* ---- grid ---- */

typedef struct grid {
    int vertex_count, quad_count;
    int *first;       /* (face_count + 1) into index */
    int *cols, *rows; /* (face_count) pieces along the face's first and second edge */
    int *index;       /* vertex at (i, j): index[first + j * (cols + 1) + i] */
    vec3 *positions;  /* (vertex_count) */
    vec3 *normals;    /* (vertex_count) field gradients */
    float *pull;      /* (vertex_count) how fine the mesh shall be here */
    int *home;        /* (vertex_count) a face that holds the vertex */
    float *place;     /* (vertex_count x 2) where in that face, 0..1 */
    int *neighbour_first, *neighbours;
} grid;

static int grid_vertex(const grid *g, int face, int i, int j)
{
    return g->index[g->first[face] + j * (g->cols[face] + 1) + i];
}

/* The vertex of each grid place: cage points, then points inside edges, then points inside faces. */
static void grid_number(const zoo_kit *kit, const cage_edges *edges, const int *edge_first, grid *g)
{
    int inside = edge_first[edges->edge_count - 1] + edges->pieces[edges->edge_count - 1] - 1;
    for (int f = 0; f < kit->face_count; f++) {
        int cols = g->cols[f], rows = g->rows[f];
        const int *corner = kit->faces[f].points;
        for (int j = 0; j <= rows; j++)
            for (int i = 0; i <= cols; i++) {
                /* corner, edge or inside */
                int v, side = j == 0 ? 0 : i == cols ? 1 : j == rows ? 2 : i == 0 ? 3 : -1;
                bool at_corner = (i == 0 || i == cols) && (j == 0 || j == rows);
                if (at_corner) {
                    v = corner[j == 0 ? (i == 0 ? 0 : 1) : (i == 0 ? 3 : 2)];
                } else if (side >= 0) {
                    int e = edges->face_edges[f][side], at = side == 0 || side == 2 ? i : j;
                    int from = side == 0 || side == 3 ? corner[0] : side == 1 ? corner[1] : corner[3];
                    if (edges->ends[e][0] != from) at = edges->pieces[e] - at;
                    v = edge_first[e] + at - 1;
                } else {
                    v = inside++;
                }

                /* its place on the face */
                g->index[g->first[f] + j * (cols + 1) + i] = v;
                g->home[v] = f;
                g->place[2 * v] = (float)i / (float)cols;
                g->place[2 * v + 1] = (float)j / (float)rows;
            }
    }
}

/* In a closed, consistently turned surface the edges that leave a vertex, face by face, are all its edges. */
static void grid_link(const zoo_kit *kit, grid *g)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int f = 0; f < kit->face_count; f++)
            for (int j = 0; j < g->rows[f]; j++)
                for (int i = 0; i < g->cols[f]; i++) {
                    int q[4] = {grid_vertex(g, f, i, j), grid_vertex(g, f, i + 1, j), grid_vertex(g, f, i + 1, j + 1),
                                grid_vertex(g, f, i, j + 1)};
                    for (int k = 0; k < 4; k++) {
                        if (pass == 0)
                            g->neighbour_first[q[k] + 1]++;
                        else
                            g->neighbours[g->neighbour_first[q[k]]++] = q[(k + 1) % 4];
                    }
                }
        if (pass == 0)
            for (int v = 0; v < g->vertex_count; v++) g->neighbour_first[v + 1] += g->neighbour_first[v];
        else
            for (int v = g->vertex_count; v > 0; v--) g->neighbour_first[v] = g->neighbour_first[v - 1];
    }
    g->neighbour_first[0] = 0;
}

/* Rows and columns of every face, and the vertices that they share. */
static cutis_result grid_build(const zoo_kit *kit, const cage_edges *edges, arena *memory, grid *g, cutis_error *error)
{
    g->first = ARENA_ARRAY(memory, int, kit->face_count + 1);
    g->cols = ARENA_ARRAY(memory, int, kit->face_count);
    g->rows = ARENA_ARRAY(memory, int, kit->face_count);
    int *edge_first = ARENA_ARRAY(memory, int, edges->edge_count);
    if (memory->failed) return error_memory(error, "a grid");

    /* count, and lay out faces */
    int count = kit->point_count, total = 0;
    g->quad_count = 0;
    for (int e = 0; e < edges->edge_count; e++) {
        edge_first[e] = count;
        count += edges->pieces[e] - 1;
    }

    for (int f = 0; f < kit->face_count; f++) {
        int cols = g->cols[f] = edges->pieces[edges->face_edges[f][0]];
        int rows = g->rows[f] = edges->pieces[edges->face_edges[f][1]];
        g->first[f] = total;
        total += (cols + 1) * (rows + 1);
        g->quad_count += cols * rows;
        count += (cols - 1) * (rows - 1);
    }

    /* room */
    g->first[kit->face_count] = total;
    g->vertex_count = count;
    g->index = ARENA_ARRAY(memory, int, total);
    g->positions = ARENA_ARRAY(memory, vec3, count);
    g->normals = ARENA_ARRAY(memory, vec3, count);
    g->pull = ARENA_ARRAY(memory, float, count);
    g->home = ARENA_ARRAY(memory, int, count);
    g->place = ARENA_ARRAY(memory, float, 2 * count);
    g->neighbour_first = ARENA_ARRAY(memory, int, count + 1);
    g->neighbours = ARENA_ARRAY(memory, int, 4 * g->quad_count);
    if (memory->failed) return error_memory(error, "a grid");

    grid_number(kit, edges, edge_first, g);
    grid_link(kit, g);
    return CUTIS_OK;
}

static vec3 face_point(const zoo_kit *kit, int face, float s, float t)
{
    if (kit->place) return kit->place(kit, face, s, t);
    const int *p = kit->faces[face].points;
    return vec3_lerp(vec3_lerp(kit->points[p[0]], kit->points[p[1]], s),
                     vec3_lerp(kit->points[p[3]], kit->points[p[2]], s), t);
}

static void grid_place(const zoo_kit *kit, grid *g)
{
    for (int v = 0; v < g->vertex_count; v++)
        g->positions[v] = face_point(kit, g->home[v], g->place[2 * v], g->place[2 * v + 1]);
}

/* ---- shape ---- */

/* Newton steps along the gradient, bounded so that a far start does not overshoot. */
static void grid_project(const zoo_kit *kit, grid *g, int steps, float limit)
{
    for (int v = 0; v < g->vertex_count; v++)
        for (int s = 0; s < steps; s++) {
            float value = zoo_field_value(kit, g->positions[v], limit, &g->normals[v]);
            value /= MAX(vec3_length2(g->normals[v]), 0.25f);
            g->positions[v] = vec3_madd(g->positions[v], g->normals[v], -CLAMP(value, -limit, limit));

            /* Newton's error falls with the square: from a thousandth of the limit the next step would change nothing.
             */
            if (fabsf(value) < 1e-3f * limit) break;
        }
}

/*
 * Move along the mesh's own normals until the field is met. Unlike Newton steps this brings the flat end of a tube
 * onto the tip in front of it, where the field's gradient points to the sides.
 */
static void grid_march(const zoo_kit *kit, grid *g, int steps, float limit)
{
    /* normals of the mesh */
    memset(g->normals, 0, (size_t)g->vertex_count * sizeof(vec3));
    for (int f = 0; f < kit->face_count; f++)
        for (int j = 0; j < g->rows[f]; j++)
            for (int i = 0; i < g->cols[f]; i++) {
                int q[4] = {grid_vertex(g, f, i, j), grid_vertex(g, f, i + 1, j), grid_vertex(g, f, i + 1, j + 1),
                            grid_vertex(g, f, i, j + 1)};
                vec3 normal = vec3_cross(vec3_sub(g->positions[q[2]], g->positions[q[0]]),
                                         vec3_sub(g->positions[q[3]], g->positions[q[1]]));
                for (int k = 0; k < 4; k++) g->normals[q[k]] = vec3_add(g->normals[q[k]], normal);
            }

    /* march */
    for (int v = 0; v < g->vertex_count; v++) {
        vec3 along = vec3_normalize(g->normals[v]);
        for (int s = 0; s < steps; s++) {
            float value = zoo_field_value(kit, g->positions[v], limit, &g->normals[v]);
            g->positions[v] = vec3_madd(g->positions[v], along, -CLAMP(value, -limit, limit));
            if (fabsf(value) < 1e-3f * limit) break;
        }
    }
}

/* How fine the mesh shall be at each vertex. */
static void grid_attract(const zoo_kit *kit, grid *g)
{
    for (int v = 0; v < g->vertex_count; v++) {
        float pull = 1;
        for (int i = 0; i < kit->magnet_count; i++) {
            const zoo_magnet *magnet = &kit->magnets[i];
            float distance2 =
                vec3_length2(vec3_sub(g->positions[v], magnet->centre)) / (magnet->radius * magnet->radius);
            if (distance2 < 1) pull += magnet->strength * (1 - distance2) * (1 - distance2);
        }
        g->pull[v] = pull;
    }
}

/*
 * Move every vertex towards the mean of its neighbours: along the surface by `slide`, across it by `press`.
 * Neighbours count by their pull, which makes cells smaller in inverse proportion to it.
 */
static void grid_smooth(grid *g, vec3 *scratch, float slide, float press)
{
    for (int v = 0; v < g->vertex_count; v++) {
        int first = g->neighbour_first[v], last = g->neighbour_first[v + 1];
        vec3 mean = {0, 0, 0};
        float sum = 0;

        /* the mean of the neighbours */
        for (int n = first; n < last; n++) {
            float pull = g->pull[g->neighbours[n]];
            mean = vec3_madd(mean, g->positions[g->neighbours[n]], pull);
            sum += pull;
        }

        /* along and across the surface */
        vec3 move = vec3_sub(vec3_scale(mean, 1 / sum), g->positions[v]);
        vec3 normal = vec3_normalize(g->normals[v]);
        float across = vec3_dot(move, normal);
        move = vec3_scale(vec3_madd(move, normal, -across), slide);
        scratch[v] = vec3_add(g->positions[v], vec3_madd(move, normal, across * press));
    }
    memcpy(g->positions, scratch, (size_t)g->vertex_count * sizeof(vec3));
}

static void grid_relax(const zoo_kit *kit, grid *g, vec3 *scratch, int passes, float limit)
{
    grid_project(kit, g, 3, limit);
    for (int i = 0; i < passes; i++) {
        if (i % 4 == 0) grid_attract(kit, g);
        grid_smooth(g, scratch, 0.5f, 0);
        if (i % 4 == 3) grid_project(kit, g, 1, 0.2f * limit);
    }
    grid_project(kit, g, 2, 0.2f * limit);
}

/* ---- weights ---- */

/* The part of its parent's weight that a joint takes at a position. */
static float joint_share(const zoo_joint *joint, vec3 p, int region)
{
    if (joint->parent < 0 || joint->full_regions >> region & 1) return 1;
    if (!(joint->regions >> region & 1)) return 0;
    if (joint->ball_regions >> region & 1) {
        double share = zoo_smooth(1.25 * (1 - vec3_distance(p, joint->centre) / joint->radius));
        if (joint->gate > 0) share *= zoo_smooth(0.5 + 0.5 * (joint->centre.x > 0 ? p.x : -p.x) / joint->gate);
        return (float)share;
    }
    if (joint->width <= 0) return 0;
    return (float)zoo_smooth(0.5 + 0.5 * vec3_dot(vec3_sub(p, joint->position), joint->axis) / joint->width);
}

/* Weight passes down the tree: joints take from their parent, in proportion where they ask for more than all. */
static void vertex_weights(const zoo_kit *kit, vec3 p, int region, float *weights)
{
    if (kit->weigh) {
        kit->weigh(kit, p, weights);
        return;
    }

    /* what each joint asks for */
    float shares[ZOO_MAX_JOINTS], asked[ZOO_MAX_JOINTS] = {0};
    for (int j = 0; j < kit->joint_count; j++) {
        shares[j] = joint_share(&kit->joints[j], p, region);
        if (kit->joints[j].parent >= 0) asked[kit->joints[j].parent] += shares[j];
    }

    /* from parents to children */
    float totals[ZOO_MAX_JOINTS];
    for (int j = 0; j < kit->joint_count; j++) {
        int parent = kit->joints[j].parent;
        totals[j] = parent < 0 ? 1 : totals[parent] * shares[j] / MAX(asked[parent], 1.0f);
        weights[j] = totals[j];
        if (parent >= 0) weights[parent] -= totals[j];
    }
    for (int j = 0; j < kit->joint_count; j++) weights[j] = MAX(weights[j], 0.0f);
}

static float *grid_weights(const zoo_kit *kit, const grid *g, arena *memory)
{
    int width = kit->joint_count;
    size_t total = (size_t)g->vertex_count * (size_t)width;
    float *weights = ARENA_ARRAY(memory, float, total), *next = ARENA_ARRAY(memory, float, total);
    if (memory->failed) return NULL;

    /* weights by the joints' planes and balls */
    for (int v = 0; v < g->vertex_count; v++)
        vertex_weights(kit, g->positions[v], kit->faces[g->home[v]].region, weights + (size_t)v * (size_t)width);

    /* smooth along edges */
    for (int pass = 0; pass < kit->weight_passes; pass++) {
        for (int v = 0; v < g->vertex_count; v++) {
            float *to = next + (size_t)v * (size_t)width;
            const float *own = weights + (size_t)v * (size_t)width;
            int first = g->neighbour_first[v], last = g->neighbour_first[v + 1];
            float part = 0.5f / (float)(last - first);
            for (int j = 0; j < width; j++) to[j] = 0.5f * own[j];
            for (int n = first; n < last; n++) {
                const float *from = weights + (size_t)g->neighbours[n] * (size_t)width;
                for (int j = 0; j < width; j++) to[j] += part * from[j];
            }
        }

        float *swap = weights;
        weights = next;
        next = swap;
    }
    return weights;
}

/* Keep the largest few of `row`, normalised, in the order of the joints; returns how many. */
static int influences_pick(const float *row, int width, int *joints, float *weights)
{
    static const float least = 0.004f; /* below this an influence cannot be seen */
    int count = 0;
    for (int j = 0; j < width; j++) {
        if (row[j] < least) continue;

        /* the least goes when there are too many */
        if (count == MAX_INFLUENCES) {
            int low = 0;
            for (int i = 1; i < count; i++)
                if (weights[i] < weights[low]) low = i;
            if (weights[low] >= row[j]) continue;
            for (int i = low; i + 1 < count; i++) {
                joints[i] = joints[i + 1];
                weights[i] = weights[i + 1];
            }
            count--;
        }
        joints[count] = j;
        weights[count++] = row[j];
    }

    /* sum to 1 */
    float sum = 0;
    for (int i = 0; i < count; i++) sum += weights[i];
    for (int i = 0; i < count; i++) weights[i] /= sum;
    return count;
}

/* ---- sampling ---- */

/* The four vertices of `from` around a place in a face of the cage, and their bilinear weights. */
static void grid_locate(const grid *from, int face, const float place[2], int vertices[4], float weights[4])
{
    float x = place[0] * (float)from->cols[face], y = place[1] * (float)from->rows[face];
    int i = MIN((int)x, from->cols[face] - 1), j = MIN((int)y, from->rows[face] - 1);
    x -= (float)i;
    y -= (float)j;
    for (int k = 0; k < 4; k++) {
        int di = k == 1 || k == 2, dj = k >= 2;
        vertices[k] = grid_vertex(from, face, i + di, j + dj);
        weights[k] = (di ? x : 1 - x) * (dj ? y : 1 - y);
    }
}

static void grid_resample(const grid *from, grid *to)
{
    for (int v = 0; v < to->vertex_count; v++) {
        int vertices[4];
        float weights[4];
        grid_locate(from, to->home[v], to->place + 2 * v, vertices, weights);
        vec3 p = {0, 0, 0}, n = {0, 0, 0};
        for (int k = 0; k < 4; k++) {
            p = vec3_madd(p, from->positions[vertices[k]], weights[k]);
            n = vec3_madd(n, from->normals[vertices[k]], weights[k]);
        }
        to->positions[v] = p;
        to->normals[v] = n;
    }
}

/* Sample a finished grid; a finer one is rounded off where sampling left facets, and evened out along the field. */
static void grid_refine(const zoo_kit *kit, const grid *from, grid *to, vec3 *scratch, float limit)
{
    grid_resample(from, to);
    if (to->vertex_count > from->vertex_count) {
        grid_attract(kit, to);
        for (int i = 0; i < 2; i++) grid_smooth(to, scratch, 0.5f, 0.5f);
        grid_march(kit, to, 4, limit);
        grid_project(kit, to, 1, limit);
        for (int i = 0; i < 16; i++) {
            grid_smooth(to, scratch, 0.5f, 0);
            if (i % 4 == 3) grid_project(kit, to, 1, limit);
        }
    }
    grid_project(kit, to, 2, limit);
}

/* ---- the finished character ---- */

static cutis_result faces_fill(const zoo_kit *kit, const grid *g, arena *memory, cutis_character *out,
                               cutis_error *error)
{
    int *first = ARENA_ARRAY(memory, int, g->quad_count + 1), *corners = ARENA_ARRAY(memory, int, 4 * g->quad_count);
    float *texcoords = ARENA_ARRAY(memory, float, 8 * g->quad_count);
    if (memory->failed) return error_memory(error, "faces");

    /* a quad each cell, texture coordinates bilinear */
    int quad = 0;
    for (int f = 0; f < kit->face_count; f++)
        for (int j = 0; j < g->rows[f]; j++)
            for (int i = 0; i < g->cols[f]; i++, quad++) {
                first[quad + 1] = 4 * (quad + 1);
                for (int k = 0; k < 4; k++) {
                    int x = i + (k == 1 || k == 2), y = j + (k >= 2);
                    float s = (float)x / (float)g->cols[f], t = (float)y / (float)g->rows[f];
                    corners[4 * quad + k] = grid_vertex(g, f, x, y);
                    for (int c = 0; c < 2; c++) {
                        const float(*uv)[2] = kit->faces[f].texcoords;
                        float low = uv[0][c] + (uv[1][c] - uv[0][c]) * s, high = uv[3][c] + (uv[2][c] - uv[3][c]) * s;
                        texcoords[8 * quad + 2 * k + c] = low + (high - low) * t;
                    }
                }
            }

    /* hand over */
    out->face_count = g->quad_count;
    out->face_first = first;
    out->corners = corners;
    out->texcoords = texcoords;
    return CUTIS_OK;
}

static cutis_result influences_fill(const zoo_kit *kit, const grid *base, const float *weights, const grid *g,
                                    arena *memory, cutis_character *out, cutis_error *error)
{
    int *first = ARENA_ARRAY(memory, int, g->vertex_count + 1);
    int *joints = ARENA_ARRAY(memory, int, (size_t)g->vertex_count *MAX_INFLUENCES);
    float *shares = ARENA_ARRAY(memory, float, (size_t)g->vertex_count *MAX_INFLUENCES);
    if (memory->failed) return error_memory(error, "weights");

    /* from the base, so that weights do not depend on the resolution */
    for (int v = 0; v < g->vertex_count; v++) {
        int vertices[4];
        float parts[4], row[ZOO_MAX_JOINTS] = {0};
        grid_locate(base, g->home[v], g->place + 2 * v, vertices, parts);
        for (int k = 0; k < 4; k++)
            for (int j = 0; j < kit->joint_count; j++)
                row[j] += parts[k] * weights[(size_t)vertices[k] * (size_t)kit->joint_count + (size_t)j];
        first[v + 1] = first[v] + influences_pick(row, kit->joint_count, joints + first[v], shares + first[v]);
    }

    /* hand over */
    out->influence_first = first;
    out->influence_joints = joints;
    out->influence_weights = shares;
    return CUTIS_OK;
}

static cutis_result character_fill(zoo_kit *kit, double resolution, arena *memory, cutis_character *out,
                                   cutis_error *error)
{
    zoo_cage_finish(kit);
    zoo_field_finish(kit);

    /* chords of the cage */
    cage_edges *edges = ARENA_ARRAY(memory, cage_edges, 1);
    if (!edges) return error_memory(error, "a cage");
    edges_build(kit, edges);

    /* The base, at resolution 1. */
    grid base = {0}, fine = {0};
    edges_fit(kit, edges, kit->target_count);
    cutis_result result = grid_build(kit, edges, memory, &base, error);
    if (result != CUTIS_OK) return result;
    vec3 *scratch = ARENA_ARRAY(memory, vec3, base.vertex_count);
    if (!scratch) return error_memory(error, "a grid");
    grid_place(kit, &base);
    float size = 0;
    for (int v = 0; v < base.vertex_count; v++) size = MAX(size, vec3_distance(base.positions[v], base.positions[0]));

    /* pull it onto the surface, and weigh it there */
    if (!kit->place) grid_relax(kit, &base, scratch, kit->relax_count, 0.05f * size);
    float *weights = grid_weights(kit, &base, memory);
    if (!weights) return error_memory(error, "weights");

    /* The resolution asked for; a much finer one by way of grids between, so that relaxation keeps up. */
    grid *g = &base, between = base;
    for (double reached = 1; reached != resolution;) {
        reached = resolution > 2.5 * reached ? 2.5 * reached : resolution;
        fine = (grid){0};
        edges_fit(kit, edges, kit->target_count * reached);
        result = grid_build(kit, edges, memory, &fine, error);
        if (result != CUTIS_OK) return result;
        scratch = ARENA_ARRAY(memory, vec3, fine.vertex_count);
        if (!scratch) return error_memory(error, "a grid");
        if (kit->place)
            grid_place(kit, &fine);
        else
            grid_refine(kit, &between, &fine, scratch, 0.01f * size);
        between = fine;
        g = &fine;
    }

    /* Hand over. */
    cutis_joint *joints = ARENA_ARRAY(memory, cutis_joint, kit->joint_count);
    cutis_clip *clips = ARENA_ARRAY(memory, cutis_clip, MAX(kit->motion_count, 1));
    if (memory->failed) return error_memory(error, "a skeleton");

    /* hand over */
    out->name = kit->name;
    out->vertex_count = g->vertex_count;
    out->positions = &g->positions[0].x;
    out->joint_count = kit->joint_count;
    out->joints = joints;
    out->clip_count = kit->motion_count;
    out->clips = clips;
    result = faces_fill(kit, g, memory, out, error);
    if (result == CUTIS_OK) result = influences_fill(kit, &base, weights, g, memory, out, error);
    if (result == CUTIS_OK) result = zoo_motion_clips(kit, memory, joints, clips, error);
    return result;
}

cutis_result zoo_sculpt(zoo_kit *kit, double resolution, const cutis_allocator *allocator, cutis_character **character,
                        cutis_error *error)
{
    arena memory = arena_create(allocator);
    cutis_character given = {0};
    cutis_result result = character_fill(kit, resolution, &memory, &given, error);
    if (result == CUTIS_OK) result = cutis_character_create(&given, allocator, character, error);
    arena_destroy(&memory);
    return result;
}
