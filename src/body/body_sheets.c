/*
 * body_sheets.c: finds sheets within pieces of flesh (see body_sheets.h).
 *
 * A triangle is thin where the surface behind it faces the other way and is nearer than a few cells of the lattice. Of
 * a slit that is shut, such as a mouth, the same is true but for the side: flesh lies in front of its triangles.
 */
#include "body/body_sheets.h"

#include <string.h>

/* A sheet is thinner than this, over the size: the shortest edges that the budget gives a body are as long. */
static const float SHEET_DEPTH = 1e-3f;
/* Cosine of the normals of both sides at most. */
static const float SHEET_FACING = -0.5f;
/* Rounding to the lattice moves either side by less than a cell: nearer than this the side is not known. */
static const float SIDE_UNKNOWN = 2;
/*
 * Least area of both sides of a sheet, over the squared size: a fin of 1.6 % by 1.6 % of the size. The rims of ears,
 * nostrils and eyelids are thin over a fifth of that, cost few points, and cuts there would make many caps.
 */
static const double SHEET_AREA = 5e-4;
/* Places of a triangle that are looked at, and how many of them must be thin. */
enum { PLACES = 4, THIN_PLACES = 3, OTHER_PLACES = 2 };

typedef struct sheet_work {
    const base_piece *piece;
    const bvh *tree;
    const float *normals; /* (triangles) unit */
    float depth;
    int *behind; /* (drawn triangles x PLACES) the triangle behind each place; -1: none near */
} sheet_work;

/* ---- what is behind a place ---- */

typedef struct behind_search {
    const sheet_work *work;
    int triangle;
    vec3 x, normal;
    float distance; /* of the nearest so far */
    int found;
} behind_search;

static bool behind_visit(void *context, int triangle)
{
    behind_search *s = context;
    const base_piece *p = s->work->piece;
    if (triangle == s->triangle || triangle >= p->drawn_triangle_count) return true;

    /* faces the other way */
    vec3 normal = vec3_load(s->work->normals + 3 * (size_t)triangle);
    float facing = vec3_dot(normal, s->normal);
    if (!(facing < SHEET_FACING)) return true;

    /* where the ray inwards meets its plane */
    const int *c = p->surface.triangles + 3 * (size_t)triangle;
    vec3 corners[3];
    for (int k = 0; k < 3; k++) corners[k] = vec3_load(p->surface.positions + 3 * (size_t)c[k]);
    float distance = vec3_dot(vec3_sub(s->x, corners[0]), normal) / facing;
    if (distance < -SIDE_UNKNOWN || distance > s->work->depth || fabsf(distance) >= s->distance) return true;

    /* within the triangle, but for rounding */
    vec3 place = vec3_madd(s->x, s->normal, -distance);
    float weights[3];
    vec3 closest = triangle_closest(place, corners[0], corners[1], corners[2], weights);
    if (vec3_distance(closest, place) > 1) return true;

    s->distance = fabsf(distance);
    s->found = triangle;
    return true;
}

/* Whether a place is in the piece by most of three rays, askew as in body_parts.c. */
static bool lies_inside(const sheet_work *w, vec3 x)
{
    static const float ways[3][3] = {{1, 0.0113f, 0.0271f}, {0.0191f, 1, 0.0137f}, {0.0173f, 0.0229f, 1}};
    int votes = 0;
    for (int i = 0; i < 3; i++)
        votes += bvh_ray_winding(w->tree, w->piece->surface.positions, x, vec3_load(ways[i]), -1) > 0;
    return votes >= 2;
}

static int find_behind(const sheet_work *w, int triangle, vec3 x)
{
    vec3 normal = vec3_load(w->normals + 3 * (size_t)triangle);
    behind_search s = {w, triangle, x, normal, INFINITY, -1};
    vec3 inner = vec3_madd(x, normal, -w->depth), outer = vec3_madd(x, normal, SIDE_UNKNOWN);
    vec3 room = vec3_make(1, 1, 1);
    bvh_overlap(w->tree, vec3_sub(vec3_min(inner, outer), room), vec3_add(vec3_max(inner, outer), room), behind_visit,
                &s);

    /* a slit that is shut has flesh in front */
    if (s.found >= 0 && s.distance <= SIDE_UNKNOWN && lies_inside(w, vec3_madd(x, normal, 2 * SIDE_UNKNOWN))) return -1;
    return s.found;
}

static void behind_block(void *context, int begin, int end)
{
    /* the middle, and one near each corner */
    static const float shares[PLACES][3] = {
        {1 / 3.0f, 1 / 3.0f, 1 / 3.0f}, {0.7f, 0.15f, 0.15f}, {0.15f, 0.7f, 0.15f}, {0.15f, 0.15f, 0.7f}};
    const sheet_work *w = context;
    const surface *s = &w->piece->surface;
    for (int t = begin; t < end; t++) {
        const int *c = s->triangles + 3 * (size_t)t;
        for (int i = 0; i < PLACES; i++) {
            vec3 x = {0, 0, 0};
            for (int k = 0; k < 3; k++) x = vec3_madd(x, vec3_load(s->positions + 3 * (size_t)c[k]), shares[i][k]);
            w->behind[PLACES * t + i] = find_behind(w, t, x);
        }
    }
}

/* ---- sheets ---- */

/* Thin triangles: those that are so at most places, and those with thin ones behind them. */
static void mark_thin(const sheet_work *w, bool *thin, bool *other)
{
    int count = w->piece->drawn_triangle_count;
    for (int t = 0; t < count; t++) {
        int places = 0;
        for (int i = 0; i < PLACES; i++) places += w->behind[PLACES * t + i] >= 0;
        thin[t] = places >= THIN_PLACES;
    }

    for (int t = 0; t < count; t++) {
        int places = 0;
        for (int i = 0; i < PLACES; i++) places += w->behind[PLACES * t + i] >= 0 && thin[w->behind[PLACES * t + i]];
        other[t] = places >= OTHER_PLACES;
    }

    for (int t = 0; t < count; t++) thin[t] = thin[t] || other[t];
}

/* Triangles all corners of which lie on thin ones close the rim of a sheet. */
static cutis_result mark_rims(const sheet_work *w, bool *thin, arena *scratch, cutis_error *error)
{
    const surface *s = &w->piece->surface;
    int count = w->piece->drawn_triangle_count;
    int *list = ARENA_ARRAY(scratch, int, 3 * (size_t)count);
    if (!list) return error_memory(error, "a simulation body");

    /* a tree of the thin ones */
    int thin_count = 0;
    for (int t = 0; t < count; t++)
        if (thin[t]) memcpy(list + 3 * (size_t)thin_count++, s->triangles + 3 * (size_t)t, 3 * sizeof(int));
    if (thin_count == 0) return CUTIS_OK;
    bvh tree;
    cutis_result result = bvh_build(&tree, thin_count, list, s->positions, scratch, error);

    /* others with three corners on it */
    for (int t = 0; !result && t < count; t++) {
        if (thin[t]) continue;
        int near = 0;
        for (int k = 0; k < 3; k++) {
            vec3 x = vec3_load(s->positions + 3 * (size_t)s->triangles[3 * t + k]);
            near += bvh_closest(&tree, s->positions, x, w->depth).triangle >= 0;
        }
        thin[t] = near == 3;
    }
    return result;
}

/* Thin triangles that hang together, over edges or through the sheet. forest: (drawn triangles) */
static cutis_result join_thin(const sheet_work *w, const bool *thin, int *forest, arena *scratch, cutis_error *error)
{
    const surface *s = &w->piece->surface;
    int count = w->piece->drawn_triangle_count;
    mesh topology;
    cutis_result result =
        mesh_build(&topology, s->point_count, s->positions, s->triangle_count, s->triangles, scratch, error);
    if (result) return result;

    /* over edges */
    for (int t = 0; t < count; t++) forest[t] = t;
    for (int e = 0; e < topology.edge_count; e++) {
        int a = topology.edge_triangles[2 * e], b = topology.edge_triangles[2 * e + 1];
        if (a < 0 || b < 0 || a >= count || b >= count || !thin[a] || !thin[b]) continue;
        forest_join(forest, a, b);
    }

    /* through the sheet */
    for (int i = 0; i < PLACES * count; i++)
        if (w->behind[i] >= 0 && thin[i / PLACES] && thin[w->behind[i]]) forest_join(forest, i / PLACES, w->behind[i]);
    return CUTIS_OK;
}

/* The sheets of one piece. */
static cutis_result find_in_piece(const base_piece *p, float size, const cutis_jobs *jobs, arena *scratch, int *sheets,
                                  int *count, cutis_error *error)
{
    const surface *s = &p->surface;
    int triangles = p->drawn_triangle_count;
    bvh tree;
    cutis_result result = bvh_build(&tree, s->triangle_count, s->triangles, s->positions, scratch, error);
    float *normals = ARENA_ARRAY(scratch, float, 3 * (size_t)s->triangle_count);
    double *areas = ARENA_ARRAY(scratch, double, triangles);
    int *forest = ARENA_ARRAY(scratch, int, triangles);
    int *numbers = ARENA_ARRAY(scratch, int, triangles);
    bool *thin = ARENA_ARRAY(scratch, bool, triangles);
    bool *other = ARENA_ARRAY(scratch, bool, triangles);
    sheet_work w = {p, &tree, normals, SHEET_DEPTH * size, ARENA_ARRAY(scratch, int, PLACES *(size_t)triangles)};
    if (!result && scratch->failed) result = error_memory(error, "a simulation body");
    if (result) return result;

    /* thin triangles */
    surface_normals(s, normals);
    parallel_for(jobs, triangles, 64, behind_block, &w);
    mark_thin(&w, thin, other);
    result = mark_rims(&w, thin, scratch, error);
    if (!result) result = join_thin(&w, thin, forest, scratch, error);
    if (result) return result;

    /* areas of what hangs together */
    for (int t = 0; t < triangles; t++)
        if (thin[t]) areas[forest_root(forest, t)] += mesh_area(1, s->triangles + 3 * (size_t)t, s->positions);

    /* numbers of those that are large enough; 0: of none */
    int before = *count;
    for (int t = 0; t < triangles; t++) {
        bool large = thin[t] && areas[t] >= SHEET_AREA * (double)size * (double)size;
        numbers[t] = large && forest_root(forest, t) == t ? ++*count : 0;
    }
    for (int t = 0; *count > before && t < triangles; t++) {
        int sheet = numbers[forest_root(forest, t)];
        sheets[p->triangle_sources[t]] = sheet > 0 ? sheet : -1 - before;
    }

    return CUTIS_OK;
}

cutis_result sheets_find(const base *b, const part_role *roles, int drawn_triangle_count, float size,
                         const cutis_jobs *jobs, arena *memory, int *sheets, int *count, cutis_error *error)
{
    cutis_result result = CUTIS_OK;
    *count = 0;
    for (int t = 0; t < drawn_triangle_count; t++) sheets[t] = 0;
    for (int i = 0; !result && i < b->piece_count; i++) {
        if (roles[i] != PART_FLESH) continue;
        arena scratch = arena_create(&memory->allocator);
        result = find_in_piece(&b->pieces[i], size, jobs, &scratch, sheets, count, error);
        arena_destroy(&scratch);
    }
    return result;
}
