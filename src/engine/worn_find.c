/*
 * worn_find.c: which pieces of the surface are worn, and what carries them.
 *
 * Pieces (components over points) are taken from the largest area down. One is worn when a quarter of its points lie
 * on or in a piece that is flesh, or when it is rigid, moved by one joint alone, and passes through flesh. What is not
 * rigid is never worn by what is: a body may stand in a room. And a body is not worn by its clothes: of two pieces of
 * much the same area the inner one is flesh.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/worn_find.h"

/* Nearer than this, over the size, is on the surface: wide enough for a coat, narrower than a finger is long. */
static const float NEAR_SHARE = 0.015f;
/* Share of a piece's points that must lie on or in another. */
static const float WORN_SHARE = 0.25f;
/* A piece inside another that has at least this part of its area is the body, and the other what it wears. */
static const double BODY_SHARE = 0.5;

typedef struct piece {
    int component;
    int point_count, triangle_count;
    const int *points;    /* (point_count) */
    const int *triangles; /* (triangle_count x 3), over points */
    double area;
    vec3 low, high;
    bool rigid;
    bool flesh;
    int by;   /* what carries it; -1: none, or flesh now */
    bvh tree; /* of flesh, built when it is first asked */
} piece;

/* ---- pieces ---- */

/* Whether all points of a piece hang on one and the same joint, or on none. */
static bool piece_is_rigid(const piece *p, const point_weights *w)
{
    int joint = -2;
    for (int i = 0; i < p->point_count; i++) {
        int point = p->points[i], own = -1;
        float most = 0;
        for (int k = w->first[point]; w->joints && k < w->first[point + 1]; k++)
            if (w->weights[k] > most) most = w->weights[k], own = w->joints[k];
        if (own >= 0 && most < 0.999f) return false;
        if (joint == -2) joint = own;
        if (own != joint) return false;
    }
    return true;
}

/* Largest first; equal ones by number. */
static int piece_compare(const void *a, const void *b)
{
    const piece *p = a, *q = b;
    if (p->area != q->area) return p->area > q->area ? -1 : 1;
    return p->component - q->component;
}

static piece *pieces_make(const mesh *m, const point_weights *weights, arena *memory)
{
    int count = m->component_count;
    piece *pieces = ARENA_ARRAY(memory, piece, count);
    int *points = ARENA_ARRAY(memory, int, m->point_count),
        *triangles = ARENA_ARRAY(memory, int, 3 * m->triangle_count);
    if (memory->failed) return NULL;
    for (int p = 0; p < m->point_count; p++) pieces[m->point_component[p]].point_count++;
    for (int t = 0; t < m->triangle_count; t++) pieces[m->point_component[m->triangles[3 * t]]].triangle_count++;
    int point = 0, triangle = 0;
    for (int i = 0; i < count; i++) {
        piece *p = &pieces[i];
        p->component = i, p->by = -1;
        p->points = points + point, p->triangles = triangles + 3 * triangle;
        point += p->point_count, triangle += p->triangle_count;
        p->point_count = p->triangle_count = 0;
        p->low = vec3_make(INFINITY, INFINITY, INFINITY), p->high = vec3_make(-INFINITY, -INFINITY, -INFINITY);
    }
    for (int i = 0; i < m->point_count; i++) {
        piece *p = &pieces[m->point_component[i]];
        vec3 x = vec3_load(m->positions + 3 * i);
        points[p->points - points + p->point_count++] = i;
        p->low = vec3_make(MIN(p->low.x, x.x), MIN(p->low.y, x.y), MIN(p->low.z, x.z));
        p->high = vec3_make(MAX(p->high.x, x.x), MAX(p->high.y, x.y), MAX(p->high.z, x.z));
    }
    for (int t = 0; t < m->triangle_count; t++) {
        piece *p = &pieces[m->point_component[m->triangles[3 * t]]];
        memcpy(triangles + (p->triangles - triangles) + 3 * p->triangle_count++, m->triangles + 3 * t, 3 * sizeof(int));
    }
    for (int i = 0; i < count; i++) {
        pieces[i].area = mesh_area(pieces[i].triangle_count, pieces[i].triangles, m->positions);
        pieces[i].rigid = piece_is_rigid(&pieces[i], weights);
    }
    qsort(pieces, (size_t)count, sizeof *pieces, piece_compare);
    return pieces;
}

/* ---- one piece against another ---- */

/* Inside by most of three rays, so that a hole in their way does not decide. */
static bool is_inside(const piece *b, const float *positions, vec3 x)
{
    /* Askew, so that rays seldom meet edges of models that are made along the axes. */
    static const float ways[3][3] = {{1, 0.0113f, 0.0271f}, {0.0191f, 1, 0.0137f}, {0.0173f, 0.0229f, 1}};
    if (x.x < b->low.x || x.y < b->low.y || x.z < b->low.z || x.x > b->high.x || x.y > b->high.y || x.z > b->high.z)
        return false;
    int votes = 0;
    for (int i = 0; i < 3; i++) votes += bvh_ray_winding(&b->tree, positions, x, vec3_load(ways[i]), -1) != 0;
    return votes >= 2;
}

typedef struct cross_search {
    const float *positions;
    const int *corners;
    const piece *other;
    bool found;
} cross_search;

static bool cross_visit(void *context, int triangle)
{
    cross_search *s = context;
    s->found = mesh_triangles_relate(s->corners, s->other->triangles + 3 * triangle, s->positions) == TRIANGLES_CROSS;
    return !s->found;
}

static bool passes_through(const piece *a, const piece *b, const float *positions)
{
    cross_search s = {.positions = positions, .other = b};
    for (int t = 0; t < a->triangle_count && !s.found; t++) {
        s.corners = a->triangles + 3 * t;
        vec3 p = vec3_load(positions + 3 * s.corners[0]), low = p, high = p;
        for (int k = 1; k < 3; k++) {
            p = vec3_load(positions + 3 * s.corners[k]);
            low = vec3_make(MIN(low.x, p.x), MIN(low.y, p.y), MIN(low.z, p.z));
            high = vec3_make(MAX(high.x, p.x), MAX(high.y, p.y), MAX(high.z, p.z));
        }
        bvh_overlap(&b->tree, low, high, cross_visit, &s);
    }
    return s.found;
}

typedef enum relation { APART, WORN, BODY } relation; /* of a piece to a larger one: on or in it, or its body */

static relation relate(const piece *a, const piece *b, const float *positions, float near)
{
    if (a->low.x > b->high.x + near || a->low.y > b->high.y + near || a->low.z > b->high.z + near ||
        b->low.x > a->high.x + near || b->low.y > a->high.y + near || b->low.z > a->high.z + near)
        return APART;
    if (b->rigid && !a->rigid) return APART;
    int count = 0, inside_count = 0;
    for (int i = 0; i < a->point_count; i++) {
        vec3 x = vec3_load(positions + 3 * a->points[i]);
        bool inside = is_inside(b, positions, x);
        count += inside || bvh_closest(&b->tree, positions, x, near).triangle >= 0;
        inside_count += inside;
    }
    if (2 * inside_count > a->point_count && a->area >= BODY_SHARE * b->area && !a->rigid) return BODY;
    bool worn = (float)count >= WORN_SHARE * (float)a->point_count || (a->rigid && passes_through(a, b, positions));
    return worn ? WORN : APART;
}

/* ---- anchors ---- */

/* Where the points of a worn piece hang; full weight on the surface, none four times as far as near. */
static void anchor(const piece *a, const piece *b, const float *positions, float near, worn_points *found)
{
    for (int i = 0; i < a->point_count; i++) {
        int p = a->points[i];
        bvh_hit hit = bvh_closest(&b->tree, positions, vec3_load(positions + 3 * p), INFINITY);
        if (hit.triangle < 0) hit = (bvh_hit){.triangle = 0, .distance = INFINITY};
        float u = CLAMP((hit.distance - near) / (3 * near), 0, 1);
        float follow = a->rigid ? 0 : 1 - u * u * (3 - 2 * u);
        found->worn[p] = true;
        memcpy(found->anchors + 3 * p, b->triangles + 3 * hit.triangle, 3 * sizeof(int));
        found->weights[3 * p] = follow * (1 - hit.u - hit.v);
        found->weights[3 * p + 1] = follow * hit.u;
        found->weights[3 * p + 2] = follow * hit.v;
    }
}

cutis_result worn_find(const cutis_character *character, const mesh *m, const point_weights *weights, arena *memory,
                       worn_points *found, cutis_error *error)
{
    *found = (worn_points){0};
    if (m->component_count < 2) return CUTIS_OK;
    arena scratch = arena_create(&memory->allocator);
    cutis_result result = CUTIS_OK;
    float near = NEAR_SHARE * character->size;
    piece *pieces = pieces_make(m, weights, &scratch);
    found->worn = ARENA_ARRAY(memory, bool, m->point_count);
    found->anchors = ARENA_ARRAY(memory, int, 3 * m->point_count);
    found->weights = ARENA_ARRAY(memory, float, 3 * m->point_count);
    if (!pieces || memory->failed) result = error_memory(error, "parts that are worn");
    for (int i = 0; !result && i < m->component_count; i++) {
        piece *a = &pieces[i];
        if (a->triangle_count == 0) continue; /* a point alone hurts nobody */
        for (int k = 0; k < i && a->by < 0; k++) {
            relation r = pieces[k].flesh ? relate(a, &pieces[k], m->positions, near) : APART;
            if (r == WORN) a->by = k;
            if (r == BODY) pieces[k].flesh = false, pieces[k].by = i;
        }
        a->flesh = a->by < 0;
        if (a->flesh) result = bvh_build(&a->tree, a->triangle_count, a->triangles, m->positions, &scratch, error);
    }
    for (int i = 0; !result && i < m->component_count; i++) {
        if (pieces[i].by < 0) continue;
        int by = pieces[i].by;
        while (pieces[by].by >= 0) by = pieces[by].by; /* a button on a coat on a body */
        anchor(&pieces[i], &pieces[by], m->positions, near, found);
        if (found->piece_count++ == 0) found->example = pieces[i].points[0], found->carrier = pieces[by].points[0];
    }
    arena_destroy(&scratch);
    return result;
}
