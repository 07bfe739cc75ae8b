/*
 * body_union.c: the union of pieces of flesh, from the solid that they enclose (see body_union.h).
 *
 * The level 0 of the solid's distances is cut out by marching tetrahedra: each cube of eight cell centres is parted
 * into six tetrahedra around its diagonal, alike in every cube, so that the surface is closed and manifold whatever the
 * distances are (Doi, Koide 1991, "An efficient method of triangulating equi-valued surfaces by using tetrahedral
 * cells"). Slivers at crossings near a centre are avoided by keeping crossings away from the ends of their edge; what
 * is left goes with the remeshing that follows.
 */
#include "body/body_union.h"

#include <string.h>

#include "body/solid.h"

/* Crossings stay this part of an edge away from its ends. */
static const float END_MARGIN = 0.1f;
/* Components of less than this part of the area are dropped: slivers of a gap. */
static const double SCRAP_AREA = 0.01;
/* So are those of less volume over area than this part of a cell: tatters of a sheet that the grid cannot hold. */
static const double SCRAP_THICKNESS = 0.5;

/* ---- overlap ---- */

typedef struct cross_search {
    const base_piece *a, *b;
    int triangle; /* of a */
    bool found;
} cross_search;

static bool cross_visit(void *context, int triangle)
{
    cross_search *s = context;
    const float *one[3], *two[3];
    for (int k = 0; k < 3; k++) {
        one[k] = s->a->surface.positions + 3 * (size_t)s->a->surface.triangles[3 * s->triangle + k];
        two[k] = s->b->surface.positions + 3 * (size_t)s->b->surface.triangles[3 * triangle + k];
    }
    s->found = triangles_intersect(one, two);
    return !s->found;
}

static bool pieces_cross(const base_piece *a, const base_piece *b, const bvh *tree)
{
    cross_search s = {.a = a, .b = b};
    for (s.triangle = 0; s.triangle < a->surface.triangle_count && !s.found; s.triangle++) {
        const int *c = a->surface.triangles + 3 * (size_t)s.triangle;
        vec3 p = vec3_load(a->surface.positions + 3 * (size_t)c[0]);
        vec3 low = p, high = p;

        for (int k = 1; k < 3; k++) {
            p = vec3_load(a->surface.positions + 3 * (size_t)c[k]);
            low = vec3_min(low, p);
            high = vec3_max(high, p);
        }

        bvh_overlap(tree, low, high, cross_visit, &s);
    }

    return s.found;
}

cutis_result union_needed(const base_piece *const *pieces, int count, arena *memory, bool *needed, cutis_error *error)
{
    *needed = false;
    for (int i = 0; i < count && !*needed; i++) {
        const surface *s = &pieces[i]->surface;
        bvh tree;
        cutis_result result = bvh_build(&tree, s->triangle_count, s->triangles, s->positions, memory, error);
        if (result) return result;
        for (int k = 0; k < i && !*needed; k++) *needed = pieces_cross(pieces[k], pieces[i], &tree);
    }
    return CUTIS_OK;
}

/* ---- all as one ---- */

cutis_result union_pieces(const base_piece *const *pieces, int count, arena *memory, base_piece *result,
                          cutis_error *error)
{
    base_piece *r = result;
    *r = (base_piece){0};

    /* how much there is */
    int cap_point_count = 0;
    for (int i = 0; i < count; i++) {
        const base_piece *p = pieces[i];
        r->surface.point_count += p->surface.point_count;
        r->surface.triangle_count += p->surface.triangle_count;
        r->cap_count += p->cap_count;
        cap_point_count += p->cap_first[p->cap_count];
    }

    surface *s = &r->surface;
    s->positions = ARENA_ARRAY(memory, float, 3 * (size_t)s->point_count);
    s->triangles = ARENA_ARRAY(memory, int, 3 * (size_t)s->triangle_count);
    r->sources = ARENA_ARRAY(memory, int, s->point_count);
    r->cap_first = ARENA_ARRAY(memory, int, r->cap_count + 1);
    r->cap_points = ARENA_ARRAY(memory, int, cap_point_count + 1);
    if (memory->failed) return error_memory(error, "a simulation body");

    /* piece by piece; centres of caps come last */
    int point = 0, triangle = 0, cap = 0, first_cap = s->point_count - r->cap_count;
    for (int i = 0; i < count; i++) {
        const base_piece *p = pieces[i];
        int own = p->surface.point_count - p->cap_count;

        /* points */
        for (int k = 0; k < p->surface.point_count; k++) {
            int to = k < own ? point + k : first_cap + cap + k - own;
            memcpy(s->positions + 3 * (size_t)to, p->surface.positions + 3 * (size_t)k, 3 * sizeof(float));
            r->sources[to] = p->sources[k];
        }

        /* triangles */
        for (int k = 0; k < 3 * p->surface.triangle_count; k++) {
            int from = p->surface.triangles[k];
            s->triangles[3 * (size_t)triangle + (size_t)k] = from < own ? point + from : first_cap + cap + from - own;
        }

        /* loops of the caps */
        for (int k = 0; k < p->cap_count; k++) {
            int length = p->cap_first[k + 1] - p->cap_first[k];
            int begin = r->cap_first[cap + k];
            memcpy(r->cap_points + begin, p->cap_points + p->cap_first[k], (size_t)length * sizeof(int));
            r->cap_first[cap + k + 1] = begin + length;
        }

        point += own;
        triangle += p->surface.triangle_count;
        cap += p->cap_count;
    }

    return CUTIS_OK;
}

/* ---- the surface of the solid ---- */

/* Points of the surface by the edge of the lattice that they lie on. */
typedef struct crossing_table {
    size_t mask;
    uint64_t *keys; /* edge + 1; 0: free */
    int *points;
} crossing_table;

typedef struct marching {
    const solid *solid;
    crossing_table table;
    surface *surface;
    int point_limit, triangle_limit;
} marching;

static size_t corner_cell(const solid *s, size_t cell, int corner)
{
    size_t row = (size_t)s->size[0], layer = row * (size_t)s->size[1];
    return cell + (corner & 1 ? 1 : 0) + (corner & 2 ? row : 0) + (corner & 4 ? layer : 0);
}

static vec3 cell_place(const solid *s, size_t cell)
{
    size_t row = (size_t)s->size[0], layer = row * (size_t)s->size[1];
    return solid_centre(s, (int)(cell % row), (int)(cell % layer / row), (int)(cell / layer));
}

static bool is_inside(const solid *s, size_t cell) { return s->distance[cell] < 0; }

/* The point where the surface crosses the edge between two corners of a cube, made when it is first asked for. */
static int crossing(marching *m, size_t cell, int a, int b)
{
    /* an edge is known by its lower end and its direction, of which there are seven */
    size_t from = corner_cell(m->solid, cell, MIN(a, b));
    size_t to = corner_cell(m->solid, cell, MAX(a, b));
    uint64_t key = (uint64_t)from * 8 + (uint64_t)(a ^ b) + 1;
    size_t slot = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & m->table.mask;
    while (m->table.keys[slot] && m->table.keys[slot] != key) slot = (slot + 1) & m->table.mask;
    if (m->table.keys[slot]) return m->table.points[slot];

    /* a new point, where the distance is zero */
    float da = m->solid->distance[from], db = m->solid->distance[to];
    float t = CLAMP(da / (da - db), END_MARGIN, 1 - END_MARGIN);
    int point = m->surface->point_count++;
    vec3_store(m->surface->positions + 3 * (size_t)point,
               vec3_lerp(cell_place(m->solid, from), cell_place(m->solid, to), t));

    m->table.keys[slot] = key;
    m->table.points[slot] = point;
    return point;
}

/* A triangle that faces from `in` to `out`. */
static void add_triangle(marching *m, int a, int b, int c, vec3 outwards)
{
    const float *x = m->surface->positions;
    vec3 p = vec3_load(x + 3 * (size_t)a);
    vec3 n = vec3_cross(vec3_sub(vec3_load(x + 3 * (size_t)b), p), vec3_sub(vec3_load(x + 3 * (size_t)c), p));
    bool turn = vec3_dot(n, outwards) < 0;
    int *t = m->surface->triangles + 3 * (size_t)m->surface->triangle_count++;
    t[0] = a;
    t[1] = turn ? c : b;
    t[2] = turn ? b : c;
}

static void march_tetrahedron(marching *m, size_t cell, const int corners[4])
{
    int in[4], out[4], in_count = 0, out_count = 0;
    vec3 in_sum = {0, 0, 0}, out_sum = {0, 0, 0};

    /* corners inside and outside */
    for (int k = 0; k < 4; k++) {
        size_t at = corner_cell(m->solid, cell, corners[k]);
        if (is_inside(m->solid, at)) {
            in[in_count++] = corners[k];
            in_sum = vec3_add(in_sum, cell_place(m->solid, at));
        } else {
            out[out_count++] = corners[k];
            out_sum = vec3_add(out_sum, cell_place(m->solid, at));
        }
    }

    if (in_count == 0 || out_count == 0) return;
    vec3 outwards = vec3_sub(vec3_scale(out_sum, 1.0f / (float)out_count), vec3_scale(in_sum, 1.0f / (float)in_count));

    /* one corner apart from three, or two from two */
    if (in_count == 2) {
        int a = crossing(m, cell, in[0], out[0]), b = crossing(m, cell, in[0], out[1]);
        int c = crossing(m, cell, in[1], out[1]), d = crossing(m, cell, in[1], out[0]);
        add_triangle(m, a, b, c, outwards);
        add_triangle(m, a, c, d, outwards);
    } else {
        int lone = in_count == 1 ? in[0] : out[0];
        const int *three = in_count == 1 ? out : in;
        add_triangle(m, crossing(m, cell, lone, three[0]), crossing(m, cell, lone, three[1]),
                     crossing(m, cell, lone, three[2]), outwards);
    }
}

/* Cubes that the surface passes through, in order. */
static size_t find_cubes(const solid *s, size_t *cubes)
{
    size_t count = 0;
    for (int z = 0; z + 1 < s->size[2]; z++) {
        for (int y = 0; y + 1 < s->size[1]; y++) {
            for (int x = 0; x + 1 < s->size[0]; x++) {
                size_t cell = solid_index(s, x, y, z);
                int inside = 0;
                for (int k = 0; k < 8; k++) inside += is_inside(s, corner_cell(s, cell, k));
                if (inside == 0 || inside == 8) continue;
                if (cubes) cubes[count] = cell;
                count++;
            }
        }
    }

    return count;
}

static cutis_result march(const solid *s, arena *memory, surface *result, cutis_error *error)
{
    static const int tetrahedra[6][4] = {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7},
                                         {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}};

    size_t count = find_cubes(s, NULL);
    size_t *cubes = ARENA_ARRAY(memory, size_t, MAX(count, 1));

    /* a cube has at most 19 edges with a crossing and 12 triangles; neighbours share most points */
    size_t slots = 64;
    while (slots < 20 * count) slots *= 2;

    marching m = {.solid = s, .surface = result};
    m.table.mask = slots - 1;
    m.table.keys = ARENA_ARRAY(memory, uint64_t, slots);
    m.table.points = ARENA_ARRAY(memory, int, slots);

    *result = (surface){0};
    result->positions = ARENA_ARRAY(memory, float, 3 * 19 * MAX(count, 1));
    result->triangles = ARENA_ARRAY(memory, int, 3 * 12 * MAX(count, 1));
    if (memory->failed) return error_memory(error, "a simulation body");

    /* six tetrahedra a cube */
    find_cubes(s, cubes);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 6; k++) march_tetrahedron(&m, cubes[i], tetrahedra[k]);
    return CUTIS_OK;
}

/* Volume between a triangle and the first point of the surface; over a closed component they sum to its volume. */
static double wedge_volume(const surface *s, int triangle)
{
    const float *origin = s->positions;
    double x[3][3];
    for (int k = 0; k < 3; k++) {
        const float *p = s->positions + 3 * (size_t)s->triangles[3 * triangle + k];
        for (int e = 0; e < 3; e++) x[k][e] = (double)p[e] - (double)origin[e];
    }
    return (x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) + x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
            x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0])) /
           6;
}

/* Without the components that are only scraps, numbered anew in place. */
static cutis_result drop_scraps(surface *s, float spacing, arena *memory, cutis_error *error)
{
    mesh m;
    cutis_result result = mesh_build(&m, s->point_count, s->positions, s->triangle_count, s->triangles, memory, error);
    if (result) return result;

    double *areas = ARENA_ARRAY(memory, double, m.component_count);
    double *volumes = ARENA_ARRAY(memory, double, m.component_count);
    int *index = ARENA_ARRAY(memory, int, s->point_count);
    if (memory->failed) return error_memory(error, "a simulation body");

    /* area and volume of each component */
    double total = 0;
    for (int t = 0; t < s->triangle_count; t++) {
        double area = mesh_area(1, s->triangles + 3 * (size_t)t, s->positions);
        areas[m.point_component[s->triangles[3 * t]]] += area;
        volumes[m.point_component[s->triangles[3 * t]]] += wedge_volume(s, t);
        total += area;
    }

    /* points of those that are large and thick enough */
    int points = 0, triangles = 0;
    for (int p = 0; p < s->point_count; p++) {
        int own = m.point_component[p];
        bool kept = areas[own] >= SCRAP_AREA * total && volumes[own] >= SCRAP_THICKNESS * (double)spacing * areas[own];
        index[p] = kept ? points : -1;
        if (kept) memmove(s->positions + 3 * (size_t)points++, s->positions + 3 * (size_t)p, 3 * sizeof(float));
    }

    /* and their triangles */
    for (int t = 0; t < s->triangle_count; t++) {
        if (index[s->triangles[3 * t]] < 0) continue;
        for (int k = 0; k < 3; k++) s->triangles[3 * triangles + k] = index[s->triangles[3 * t + k]];
        triangles++;
    }

    s->point_count = points;
    s->triangle_count = triangles;
    return CUTIS_OK;
}

cutis_result union_surface(const base_piece *const *pieces, int count, float spacing, const cutis_jobs *jobs,
                           arena *memory, surface *result, cutis_error *error)
{
    arena scratch = arena_create(&memory->allocator);

    base_piece all;
    solid s;
    surface fine;
    cutis_result status = union_pieces(pieces, count, &scratch, &all, error);

    /* the solid that the pieces enclose together, and its surface */
    if (!status) {
        solid_def def = {.point_count = all.surface.point_count,
                         .positions = all.surface.positions,
                         .triangle_count = all.surface.triangle_count,
                         .triangles = all.surface.triangles,
                         .spacing = spacing,
                         .gap = spacing,
                         .jobs = jobs};
        status = solid_build(&def, &scratch, &s, error);
    }

    if (!status) status = march(&s, &scratch, &fine, error);
    if (!status) status = drop_scraps(&fine, spacing, &scratch, error);

    /* even triangles of twice the spacing */
    if (!status) {
        fine.lengths = ARENA_ARRAY(&scratch, float, fine.point_count);
        if (!fine.lengths) status = error_memory(error, "a simulation body");
    }

    if (!status) {
        for (int p = 0; p < fine.point_count; p++) fine.lengths[p] = 2 * spacing;
        status = surface_remesh(&fine, fine.point_count, memory, result, error);
    }

    arena_destroy(&scratch);
    return status;
}
