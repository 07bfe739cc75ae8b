/*
 * springs_soft.c: bodies of free props: a surface, inner nodes, masses, and the springs of soft ones.
 *
 * Cordier and Magnenat-Thalmann, section 5.2, deform the grasped cube by "a simple spring-mass system". Here boxes,
 * spheres and capsules are lattices of cells, bent to their shape, with springs to all 26 neighbours; a closed mesh is
 * filled with a grid whose nodes are tied to each other and to the surface's points nearby. Springs have a stiffness of
 * c / length, with one c for the body, so that a stretched piece of it has Young's modulus E: a net of springs without
 * a preferred direction has E = sum of stiffness x length^2 / (6 volume) (Poisson's ratio 1/4).
 */
#include <string.h>

#include "solvers/springs/springs.h"

/* Least and most cells along an edge of a cube of the prop's volume, and most along any axis. */
enum { CELLS = 6, FINEST_CELLS = 12, MOST_CELLS = 24 };
/* Pressure of a cell without volume, over Young's modulus: springs alone give way sideways when pressed together. */
static const double CRUSHED_STIFFER = 4;
/* Share of a cell's volume that a tetrahedron at one of its eight corners stands for. */
static const double CORNER_SHARE = 0.125;
/* Links of a node of a filled mesh to inner nodes. */
enum { LINKS = 12 };
/* Most inner nodes of a filled mesh. */
enum { MOST_INNER = 2000 };

typedef struct shape {
    int point_count, inner_count, triangle_count;
    float *nodes; /* points, then inner nodes (x 3) */
    int *triangles;
    int cells[3];
    int *lattice;  /* ((cells + 1) each) node of each lattice place; NULL for a mesh */
    float spacing; /* of a mesh's inner nodes */
} shape;

/* Soft cells are as fine as a fingertip, which presses a dent of its own width. */
static float cell_spacing(const springs_model *m, const springs_prop *prop, double volume)
{
    float edge = (float)det_pow(MAX(volume, 1e-15), 1.0 / 3);
    float spacing = prop->soft && m->fingertip > 0 ? m->fingertip : edge;
    return CLAMP(spacing, edge / FINEST_CELLS, edge / CELLS);
}

/* E from 2 kPa (jelly) over 20 (foam) to 200 (rubber). */
static double prop_modulus(const springs_prop *prop)
{
    return 2000 * det_pow(100, (double)CLAMP(prop->source->stiffness, 0.0f, 1.0f));
}

/* ---- lattices ---- */

static int place(const shape *s, int x, int y, int z) { return (z * (s->cells[1] + 1) + y) * (s->cells[0] + 1) + x; }

/* From the cube -1..1 to the shape: the cube's shells become the sphere's. */
static vec3 shape_bend(const springs_prop *prop, vec3 u)
{
    const float *size = prop->source->size, *scale = prop->scale;
    vec3 p;

    if (prop->source->shape == CUTIS_PROP_BOX) {
        p = vec3_make(u.x * size[0], u.y * size[1], u.z * size[2]);
    } else {
        float shell = MAX(MAX(fabsf(u.x), fabsf(u.y)), fabsf(u.z)), length = vec3_length(u);
        p = length > 0 ? vec3_scale(u, size[0] * shell / length) : u;

        /* A capsule is a ball drawn apart. */
        if (prop->source->shape == CUTIS_PROP_CAPSULE) p.y += size[1] * CLAMP(2 * u.y, -1.0f, 1.0f);
    }

    return vec3_make(p.x * scale[0], p.y * scale[1], p.z * scale[2]);
}

static cutis_result lattice_build(const springs_prop *prop, float spacing, shape *s, arena *memory, cutis_error *error)
{
    const float *size = prop->source->size;

    /* cells along each axis */
    for (int k = 0; k < 3; k++) {
        float half = prop->source->shape == CUTIS_PROP_BOX ? size[k] : size[0];
        if (prop->source->shape == CUTIS_PROP_CAPSULE && k == 1) half += size[1];
        s->cells[k] = (int)CLAMP(2 * half * prop->scale[k] / spacing + 0.5f, 2, MOST_CELLS);

        /* A capsule's middle is a row of its own. */
        if (prop->source->shape != CUTIS_PROP_BOX) s->cells[k] = MAX(s->cells[k] + s->cells[k] % 2, 6);
    }

    const int *c = s->cells;
    int total = (c[0] + 1) * (c[1] + 1) * (c[2] + 1);
    s->lattice = ARENA_ARRAY(memory, int, total);
    s->nodes = ARENA_ARRAY(memory, float, 3 * total);
    s->triangle_count = 4 * (c[0] * c[1] + c[1] * c[2] + c[2] * c[0]);
    s->triangles = ARENA_ARRAY(memory, int, 3 * s->triangle_count);
    if (memory->failed) return error_memory(error, "a prop");

    int node = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int z = 0; z <= c[2]; z++)
            for (int y = 0; y <= c[1]; y++)
                for (int x = 0; x <= c[0]; x++) {
                    bool inner = x > 0 && x < c[0] && y > 0 && y < c[1] && z > 0 && z < c[2];
                    if (inner != (pass == 1)) continue;
                    vec3 u = vec3_make(2 * (float)x / (float)c[0] - 1, 2 * (float)y / (float)c[1] - 1,
                                       2 * (float)z / (float)c[2] - 1);
                    vec3_store(s->nodes + 3 * node, shape_bend(prop, u));
                    s->lattice[place(s, x, y, z)] = node++;
                }
        if (pass == 0) s->point_count = node;
    }

    s->inner_count = node - s->point_count;

    /* two triangles a cell of each side */
    int t = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < c[(axis + 1) % 3]; i++)
                for (int j = 0; j < c[(axis + 2) % 3]; j++) {
                    int q[4];
                    for (int k = 0; k < 4; k++) {
                        int at[3];
                        at[axis] = side ? c[axis] : 0;
                        at[(axis + 1) % 3] = i + (k == 1 || k == 2);
                        at[(axis + 2) % 3] = j + (k >= 2);
                        q[k] = s->lattice[place(s, at[0], at[1], at[2])];
                    }

                    /* Outwards, the diagonals in turn. */
                    int turn = (i + j) % 2, order[6] = {0, 1, 2, 0, 2, 3}, other[6] = {0, 1, 3, 1, 2, 3};
                    for (int k = 0; k < 6; k++) {
                        int corner = side ? (turn ? order : other)[k] : (turn ? order : other)[5 - k];
                        s->triangles[t++] = q[corner];
                    }
                }
    return CUTIS_OK;
}

/* ---- surfaces ---- */

/*
 * The surface that is drawn, of a ball or capsule that does not deform. (A soft one is a lattice, and drawn as that. A
 * box is a lattice in any case, which has the drawn shape.)
 */
static cutis_result round_build(const springs_prop *prop, shape *s, arena *memory, cutis_error *error)
{
    cutis_prop_surface(prop->source, 0, &s->point_count, &s->triangle_count, NULL, NULL);
    s->nodes = ARENA_ARRAY(memory, float, 3 * (size_t)s->point_count);
    s->triangles = ARENA_ARRAY(memory, int, 3 * (size_t)s->triangle_count);
    if (memory->failed) return error_memory(error, "a prop");

    cutis_prop_surface(prop->source, 0, &s->point_count, &s->triangle_count, s->nodes, s->triangles);
    for (int i = 0; i < 3 * s->point_count; i++) s->nodes[i] *= prop->scale[i % 3];
    return CUTIS_OK;
}

/* ---- meshes ---- */

static cutis_result filled_build(const solver_build *build, springs_prop *prop, float spacing, shape *s, arena *memory,
                                 cutis_error *error)
{
    const cutis_prop *source = prop->source;
    float *scaled = ARENA_ARRAY(memory, float, 3 * (size_t)source->vertex_count + 3);
    prop->vertex_points = ARENA_ARRAY(build->memory, int, source->vertex_count + 1);
    s->triangles = ARENA_ARRAY(memory, int, 3 * (size_t)source->triangle_count + 3);
    s->nodes = ARENA_ARRAY(memory, float, 3 * ((size_t)source->vertex_count + MOST_INNER) + 3);
    if (memory->failed || build->memory->failed) return error_memory(error, "a prop");

    /* weld vertices at the same place */
    for (int i = 0; i < 3 * source->vertex_count; i++) scaled[i] = source->positions[i] * prop->scale[i % 3];
    s->point_count =
        weld_positions(source->vertex_count, scaled, 0, NULL, NULL, &build->allocator, prop->vertex_points);
    if (s->point_count < 0) return error_memory(error, "a prop");

    for (int v = 0; v < source->vertex_count; v++)
        memcpy(s->nodes + 3 * prop->vertex_points[v], scaled + 3 * v, 3 * sizeof(float));

    /* triangles of the welded points */
    for (int t = 0; t < source->triangle_count; t++) {
        int c[3];
        for (int k = 0; k < 3; k++) c[k] = prop->vertex_points[source->triangles[3 * t + k]];
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
        memcpy(s->triangles + 3 * s->triangle_count++, c, sizeof c);
    }

    /* a rigid prop needs no more */
    if (!prop->soft || s->triangle_count == 0) return CUTIS_OK;

    bvh tree;
    cutis_result result = bvh_build(&tree, s->triangle_count, s->triangles, s->nodes, memory, error);
    if (result != CUTIS_OK) return result;

    vec3 low = vec3_load(s->nodes), high = low;
    for (int p = 1; p < s->point_count; p++) {
        low = vec3_min(low, vec3_load(s->nodes + 3 * p));
        high = vec3_max(high, vec3_load(s->nodes + 3 * p));
    }

    /* inner nodes on a grid, clear of the surface */
    for (float z = low.z + 0.5f * spacing; z < high.z; z += spacing)
        for (float y = low.y + 0.5f * spacing; y < high.y; y += spacing)
            for (float x = low.x + 0.5f * spacing; x < high.x && s->inner_count < MOST_INNER; x += spacing) {
                vec3 p = vec3_make(x, y, z);
                if (bvh_closest(&tree, s->nodes, p, 0.4f * spacing).triangle >= 0) continue;
                if (bvh_ray_winding(&tree, s->nodes, p, vec3_make(0.301f, 0.871f, 0.389f), -1) < 1) continue;
                vec3_store(s->nodes + 3 * (s->point_count + s->inner_count++), p);
            }
    return CUTIS_OK;
}

/* ---- masses ---- */

/* Volume, centre and second moments of a closed surface, by tetrahedra to the origin. */
static double volume_moments(const shape *s, double centre[3], double second[9])
{
    double volume = 0;

    /* tetrahedra from the origin to each triangle */
    for (int t = 0; t < s->triangle_count; t++) {
        double p[3][3];
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++) p[k][c] = (double)s->nodes[3 * s->triangles[3 * t + k] + c];

        /* six times the volume of the tetrahedron */
        double six = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                     p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                     p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        volume += six / 6;

        for (int i = 0; i < 3; i++) {
            double sum = p[0][i] + p[1][i] + p[2][i];
            centre[i] += six / 24 * sum;
            for (int j = 0; j < 3; j++) {
                double products = p[0][i] * p[0][j] + p[1][i] * p[1][j] + p[2][i] * p[2][j];
                second[3 * i + j] += six / 120 * (products + sum * (p[0][j] + p[1][j] + p[2][j]));
            }
        }
    }

    return volume;
}

/* Inverse of a symmetric matrix of moments; nothing turns about an axis without any. */
static mat3 inertia_inverse(const double a[9])
{
    double cofactor[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int r = (i + 1) % 3, s = (i + 2) % 3, u = (j + 1) % 3, v = (j + 2) % 3;
            cofactor[3 * i + j] = a[3 * r + u] * a[3 * s + v] - a[3 * r + v] * a[3 * s + u];
        }
    double determinant = a[0] * cofactor[0] + a[1] * cofactor[1] + a[2] * cofactor[2];
    mat3 result = {{0}};
    if (determinant > 0)
        for (int i = 0; i < 9; i++) result.m[i] = (float)(cofactor[3 * (i % 3) + i / 3] / determinant);
    return result;
}

static cutis_result masses_find(const springs_model *m, springs_prop *prop, shape *s, double *volume,
                                cutis_error *error)
{
    /* mass: as given, or that of water */
    double centre[3] = {0}, second[9] = {0}, inertia[9];
    *volume = volume_moments(s, centre, second);
    bool solid = *volume > 1e-12;
    double cubic = (double)m->metres * (double)m->metres * (double)m->metres;
    double mass = (double)prop->source->mass;

    if (!solid && !prop->fixed && (prop->soft || !(mass > 0)))
        return error_set(error, CUTIS_ERROR_DATA,
                         "prop \"%s\" encloses no volume, so it has no mass and cannot be filled; close its surface, "
                         "orient its faces outwards, or set the mass of a rigid prop",
                         prop->source->name);

    if (!(mass > 0)) mass = solid ? 1000 * *volume * cubic : 1;
    prop->mass = (float)(mass * (double)m->metres);

    /* centre and second moments: of the volume, or of the points */
    if (solid) {
        for (int k = 0; k < 3; k++) centre[k] /= *volume;
        for (int i = 0; i < 9; i++) second[i] = second[i] / *volume - centre[i / 3] * centre[i % 3];
    } else {
        for (int p = 0; p < s->point_count; p++)
            for (int k = 0; k < 3; k++) centre[k] += (double)s->nodes[3 * p + k] / s->point_count;
        for (int p = 0; p < s->point_count; p++)
            for (int i = 0; i < 9; i++)
                second[i] += ((double)s->nodes[3 * p + i / 3] - centre[i / 3]) *
                             ((double)s->nodes[3 * p + i % 3] - centre[i % 3]) / s->point_count;
    }

    /* inertia, and nodes from the centre */
    double trace = second[0] + second[4] + second[8];
    for (int i = 0; i < 9; i++) inertia[i] = (double)prop->mass * ((i % 4 == 0 ? trace : 0) - second[i]);
    prop->inertia = inertia_inverse(inertia);
    prop->centre = vec3_make((float)centre[0], (float)centre[1], (float)centre[2]);

    /* from the centre of mass */
    for (int i = 0; i < s->point_count + s->inner_count; i++) {
        vec3 p = vec3_sub(vec3_load(s->nodes + 3 * i), prop->centre);
        vec3_store(s->nodes + 3 * i, p);
        prop->radius = MAX(prop->radius, vec3_length(p));
    }

    return CUTIS_OK;
}

/* ---- springs ---- */

typedef struct spring_list {
    int count, capacity;
    int *ends;
} spring_list;

static void spring_add(spring_list *list, int a, int b)
{
    if (a == b || list->count >= list->capacity) return;
    list->ends[2 * list->count] = a;
    list->ends[2 * list->count++ + 1] = b;
}

static void lattice_springs(const shape *s, spring_list *list)
{
    const int *c = s->cells;
    for (int z = 0; z <= c[2]; z++)
        for (int y = 0; y <= c[1]; y++)
            for (int x = 0; x <= c[0]; x++)
                for (int d = 14; d < 27; d++) { /* half of the neighbours */
                    int nx = x + d % 3 - 1, ny = y + d / 3 % 3 - 1, nz = z + d / 9 - 1;
                    if (nx < 0 || nx > c[0] || ny < 0 || ny > c[1] || nz > c[2]) continue;
                    spring_add(list, s->lattice[place(s, x, y, z)], s->lattice[place(s, nx, ny, nz)]);
                }
}

/* The nearest of `count` nodes from `first` on, nearest first, ties by number; returns how many. */
static int nearest_find(const shape *s, int node, int first, int count, int limit, int *found)
{
    int known = 0;
    float distances[LINKS];
    for (int i = first; i < first + count; i++) {
        if (i == node) continue;
        float d = vec3_length2(vec3_sub(vec3_load(s->nodes + 3 * i), vec3_load(s->nodes + 3 * node)));

        /* insertion by distance */
        int at = known;
        if (known == limit && d >= distances[known - 1]) continue;
        if (known == limit) at--;
        for (; at > 0 && distances[at - 1] > d; at--) {
            distances[at] = distances[at - 1];
            found[at] = found[at - 1];
        }

        distances[at] = d;
        found[at] = i;
        if (known < limit) known++;
    }

    return known;
}

static void filled_springs(const shape *s, spring_list *list)
{
    int found[LINKS];

    /* edges of the surface */
    for (int t = 0; t < s->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            int a = s->triangles[3 * t + k], b = s->triangles[3 * t + (k + 1) % 3];
            if (a < b) spring_add(list, a, b); /* each edge is run both ways in a closed surface */
        }

    /* A body too thin for inner nodes is tied together across. */
    int first = s->inner_count >= 4 ? s->point_count : 0;
    int count = s->inner_count >= 4 ? s->inner_count : s->point_count;

    for (int i = 0; i < s->point_count + s->inner_count; i++) {
        int links = nearest_find(s, i, first, count, LINKS, found);
        for (int k = 0; k < links; k++) {
            bool both = false; /* that one has this link too, and is the lower */
            if (found[k] < i && i >= first) {
                int other[LINKS], known = nearest_find(s, found[k], first, count, LINKS, other);
                for (int j = 0; j < known; j++) both = both || other[j] == i;
            }
            if (!both) spring_add(list, i, found[k]);
        }
    }
}

/* ---- cells ---- */

/* Six times the volume of a tetrahedron. */
static float tetra_volume(const float *nodes, const int t[4])
{
    vec3 origin = vec3_load(nodes + 3 * t[0]);
    vec3 a = vec3_sub(vec3_load(nodes + 3 * t[1]), origin);
    vec3 b = vec3_sub(vec3_load(nodes + 3 * t[2]), origin);
    vec3 c = vec3_sub(vec3_load(nodes + 3 * t[3]), origin);
    return vec3_dot(a, vec3_cross(b, c));
}

/* Keep a tetrahedron of the prop's nodes, right way round, unless it is flat at rest. */
static void tetra_add(springs_soft *soft, const shape *s, const int t[4])
{
    float volume = tetra_volume(s->nodes, t), longest = 0;
    for (int k = 1; k < 4; k++)
        longest = MAX(longest, vec3_distance(vec3_load(s->nodes + 3 * t[0]), vec3_load(s->nodes + 3 * t[k])));
    if (fabsf(volume) < 0.05f * longest * longest * longest) return;

    int *kept = soft->tetras + 4 * (size_t)soft->tetra_count;
    memcpy(kept, t, 4 * sizeof *kept);
    if (volume < 0) {
        kept[1] = t[2];
        kept[2] = t[1];
    }

    soft->volumes[soft->tetra_count++] = fabsf(volume);
}

/* The eight corners of each cell of a lattice, with the three edges that leave them. */
static void lattice_tetras(springs_soft *soft, const shape *s)
{
    const int *c = s->cells;
    for (int z = 0; z <= c[2]; z++)
        for (int y = 0; y <= c[1]; y++)
            for (int x = 0; x <= c[0]; x++)
                for (int octant = 0; octant < 8; octant++) {
                    int nx = x + (octant & 1 ? 1 : -1), ny = y + (octant & 2 ? 1 : -1), nz = z + (octant & 4 ? 1 : -1);
                    if (nx < 0 || nx > c[0] || ny < 0 || ny > c[1] || nz < 0 || nz > c[2]) continue;
                    const int t[4] = {s->lattice[place(s, x, y, z)], s->lattice[place(s, nx, y, z)],
                                      s->lattice[place(s, x, ny, z)], s->lattice[place(s, x, y, nz)]};
                    tetra_add(soft, s, t);
                }
}

/* The inner node beside another one, along an axis; -1: there is none. */
static int grid_neighbour(const shape *s, int node, int axis, int step)
{
    float place[3];
    vec3_store(place, vec3_load(s->nodes + 3 * node));
    place[axis] += (float)step * s->spacing;
    for (int i = s->point_count; i < s->point_count + s->inner_count; i++)
        if (vec3_distance(vec3_load(place), vec3_load(s->nodes + 3 * i)) < 0.1f * s->spacing) return i;
    return -1;
}

/* The same of a filled mesh's grid, and each triangle of the surface with the inner node nearest to it. */
static void filled_tetras(springs_soft *soft, const shape *s)
{
    /* octants of the grid around each inner node */
    for (int i = s->point_count; i < s->point_count + s->inner_count; i++) {
        int beside[3][2];
        for (int k = 0; k < 6; k++) beside[k / 2][k % 2] = grid_neighbour(s, i, k / 2, k % 2 ? 1 : -1);
        for (int octant = 0; octant < 8; octant++) {
            const int t[4] = {i, beside[0][octant & 1], beside[1][octant >> 1 & 1], beside[2][octant >> 2 & 1]};
            if (t[1] >= 0 && t[2] >= 0 && t[3] >= 0) tetra_add(soft, s, t);
        }
    }

    for (int k = 0; k < s->triangle_count; k++) {
        const int *c = s->triangles + 3 * k;
        int nearest;
        if (nearest_find(s, c[0], s->point_count, s->inner_count, 1, &nearest) == 0) continue;
        const int t[4] = {c[0], c[1], c[2], nearest};
        tetra_add(soft, s, t);
    }
}

/* Cells of one soft prop, behind those that are there already. */
static cutis_result cells_add(arena *memory, springs_model *m, springs_prop *prop, const shape *s, cutis_error *error)
{
    springs_soft *soft = &m->soft;

    /* grow the arrays of all soft props; there are few */
    int old = soft->tetra_count;
    size_t nodes = (size_t)(s->point_count + s->inner_count);
    size_t most = (size_t)old + 8 * nodes + (size_t)s->triangle_count;
    int *tetras = ARENA_ARRAY(memory, int, 4 * most + 1);
    float *volumes = ARENA_ARRAY(memory, float, most + 1), *pressure = ARENA_ARRAY(memory, float, most + 1);
    if (memory->failed) return error_memory(error, "a soft prop");

    if (old > 0) {
        memcpy(tetras, soft->tetras, 4 * (size_t)old * sizeof *tetras);
        memcpy(volumes, soft->volumes, (size_t)old * sizeof *volumes);
        memcpy(pressure, soft->pressure, (size_t)old * sizeof *pressure);
    }

    soft->tetras = tetras;
    soft->volumes = volumes;
    soft->pressure = pressure;

    if (s->lattice)
        lattice_tetras(soft, s);
    else
        filled_tetras(soft, s);

    prop->first_tetra = old;
    prop->tetra_count = soft->tetra_count - old;
    for (int t = old; t < soft->tetra_count; t++) {
        pressure[t] = (float)(CORNER_SHARE * CRUSHED_STIFFER * prop_modulus(prop)) * m->metres * m->metres;
        for (int k = 0; k < 4; k++) tetras[4 * t + k] += prop->first_soft;
    }

    return CUTIS_OK;
}

/* Masses of nodes and springs of one soft prop, behind those that are there already. */
static cutis_result soft_add(const solver_build *build, springs_model *m, springs_prop *prop, const shape *s,
                             double volume, cutis_error *error)
{
    springs_soft *soft = &m->soft;
    int nodes = s->point_count + s->inner_count;

    spring_list list = {.capacity = s->lattice ? 13 * nodes : 3 * s->triangle_count + LINKS * nodes};
    arena scratch = arena_create(&build->allocator);
    list.ends = ARENA_ARRAY(&scratch, int, 2 * (size_t)list.capacity + 2);
    if (scratch.failed) {
        arena_destroy(&scratch);
        return error_memory(error, "a soft prop");
    }

    if (s->lattice)
        lattice_springs(s, &list);
    else
        filled_springs(s, &list);

    /* Grow the arrays of all soft props; there are few. */
    int total = soft->spring_count + list.count, all = soft->node_count + nodes;
    int *ends = ARENA_ARRAY(build->memory, int, 2 * (size_t)total + 2), *own = ARENA_ARRAY(build->memory, int, all + 1);
    float *rest = ARENA_ARRAY(build->memory, float, total + 1), *stiff = ARENA_ARRAY(build->memory, float, total + 1);
    float *mass = ARENA_ARRAY(build->memory, float, all + 1);
    soft->owners = ARENA_ARRAY(build->memory, int, all + 1); /* filled when all nodes have numbers */
    if (build->memory->failed) {
        arena_destroy(&scratch);
        return error_memory(error, "a soft prop");
    }

    if (soft->spring_count > 0) {
        memcpy(ends, soft->ends, 2 * (size_t)soft->spring_count * sizeof *ends);
        memcpy(rest, soft->rest, (size_t)soft->spring_count * sizeof *rest);
        memcpy(stiff, soft->stiff, (size_t)soft->spring_count * sizeof *stiff);
    }

    if (soft->node_count > 0) {
        memcpy(own, soft->nodes, (size_t)soft->node_count * sizeof *own);
        memcpy(mass, soft->mass, (size_t)soft->node_count * sizeof *mass);
    }

    double length = 0;
    for (int i = 0; i < list.count; i++) {
        const int *e = list.ends + 2 * i;
        float l = vec3_distance(vec3_load(s->nodes + 3 * e[0]), vec3_load(s->nodes + 3 * e[1]));
        rest[soft->spring_count + i] = l;
        length += (double)l;
    }

    /* c = 6 volume E / sum of lengths */
    double c = 6 * volume * prop_modulus(prop) / length * (double)m->metres * (double)m->metres;
    for (int i = 0; i < list.count; i++) {
        int at = soft->spring_count + i;
        stiff[at] = (float)(c / MAX((double)rest[at], 1e-6));

        /* Local numbers now; nodes when all props are placed. */
        for (int k = 0; k < 2; k++) ends[2 * at + k] = list.ends[2 * i + k];
    }

    /* nodes at the surface count half */
    double weights = 0.5 * s->point_count + s->inner_count;
    for (int i = 0; i < nodes; i++)
        mass[soft->node_count + i] = (float)((double)prop->mass * (i < s->point_count ? 0.5 : 1) / weights);

    prop->first_spring = soft->spring_count;
    prop->spring_count = list.count;
    prop->first_soft = soft->node_count;
    soft->spring_count = total;
    soft->node_count = all;
    soft->ends = ends;
    soft->rest = rest;
    soft->stiff = stiff;
    soft->nodes = own;
    soft->mass = mass;

    arena_destroy(&scratch);
    return CUTIS_OK;
}

cutis_result springs_shape_build(const solver_build *build, springs_model *m, springs_prop *prop, cutis_error *error)
{
    arena scratch = arena_create(&build->allocator), *memory = build->memory;
    shape s = {0};
    const cutis_prop *source = prop->source;
    cutis_result result;
    double volume = 0;

    /* the drawn surface, or one with nodes inside: of a mesh, or of a primitive by a lattice */
    bool is_round = source->shape == CUTIS_PROP_SPHERE || source->shape == CUTIS_PROP_CAPSULE;
    if (is_round && !prop->soft) {
        result = round_build(prop, &s, &scratch, error);
    } else if (source->shape == CUTIS_PROP_MESH) {
        vec3 low = {1e30f, 1e30f, 1e30f}, high = {-1e30f, -1e30f, -1e30f};

        for (int v = 0; v < source->vertex_count; v++) {
            vec3 p = vec3_mul(vec3_load(source->positions + 3 * v), vec3_load(prop->scale));
            low = vec3_min(low, p);
            high = vec3_max(high, p);
        }

        vec3 extent = vec3_sub(high, low);
        s.spacing = cell_spacing(m, prop, (double)(extent.x * extent.y * extent.z));
        result = filled_build(build, prop, s.spacing, &s, &scratch, error);
    } else if (source->shape == CUTIS_PROP_PLANE) {
        result = error_set(error, CUTIS_ERROR_DATA,
                           "prop \"%s\" is a plane, which is infinite and cannot move freely; make it a collider",
                           source->name);
    } else {
        const float *size = source->size, *k = prop->scale;
        double extents = source->shape == CUTIS_PROP_BOX
                             ? 8.0 * (double)size[0] * (double)size[1] * (double)size[2]
                             : 8.0 * (double)size[0] * (double)size[0] *
                                   (double)(size[0] + size[1] * (source->shape == CUTIS_PROP_CAPSULE));
        extents *= (double)k[0] * (double)k[1] * (double)k[2];
        result = lattice_build(prop, cell_spacing(m, prop, extents), &s, &scratch, error);
    }

    /* mass and inertia */
    if (result == CUTIS_OK) result = masses_find(m, prop, &s, &volume, error);
    if (result == CUTIS_OK) {
        prop->point_count = s.point_count;
        prop->inner_count = prop->soft ? s.inner_count : 0;
        prop->triangle_count = s.triangle_count;
        prop->rest = arena_copy(memory, s.nodes, 3 * (size_t)(prop->point_count + prop->inner_count), sizeof(float));
        prop->triangles = arena_copy(memory, s.triangles, 3 * (size_t)s.triangle_count, sizeof(int));
        if (memory->failed) result = error_memory(error, "a prop");
    }

    /* springs between the nodes of a soft one */
    if (result == CUTIS_OK && prop->soft) result = soft_add(build, m, prop, &s, volume, error);
    if (result == CUTIS_OK && prop->soft) result = cells_add(memory, m, prop, &s, error);
    arena_destroy(&scratch);
    return result;
}
