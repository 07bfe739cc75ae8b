/*
 * body_base.c: orients, cuts and caps the drawn mesh (see body_base.h).
 *
 * Half-edge h runs from corner h to the next corner of triangle h / 3. Half-edges of opposite directions are paired
 * along each edge; corners that meet at paired half-edges are one point of the base, so that a point between two fans
 * of triangles becomes two, and an edge of four triangles becomes two edges. Half-edges that stay alone are boundary:
 * each point has at most one that starts there, so that loops are followed without choice. A cap is a fan around the
 * centre of its loop.
 */
#include "body/body_base.h"

#include <stdlib.h>
#include <string.h>

static int next_of(int h) { return h % 3 == 2 ? h - 2 : h + 1; }

typedef struct cutting {
    const mesh *mesh;
    int count;     /* of half-edges: 3 a triangle */
    bool *turned;  /* (triangles) runs the other way round than in the file */
    int *corners;  /* (count) drawn points */
    int *twins;    /* (count) -1: boundary */
    int *points;   /* (count) forest of corners, then the base point of each corner */
    int *outgoing; /* (base points) the boundary half-edge that starts there; -1: none */
    int point_count;
} cutting;

/* ---- orientation ---- */

/* Turn triangles so that neighbours over edges of two triangles agree, as far as that is possible. */
static bool orient(cutting *c, arena *scratch)
{
    const mesh *m = c->mesh;

    int *queue = ARENA_ARRAY(scratch, int, m->triangle_count);
    bool *reached = ARENA_ARRAY(scratch, bool, m->triangle_count);
    if (scratch->failed) return false;

    /* from a triangle of each run over all that hang together */
    for (int seed = 0; seed < m->triangle_count; seed++) {
        if (reached[seed]) continue;

        int count = 0;
        queue[count++] = seed;
        reached[seed] = true;
        for (int i = 0; i < count; i++) {
            int t = queue[i];
            for (int k = 0; k < 3; k++) {
                int e = m->triangle_edges[3 * t + k];
                if (m->edge_triangle_counts[e] != 2) continue;

                int other = m->edge_triangles[2 * e] == t ? m->edge_triangles[2 * e + 1] : m->edge_triangles[2 * e];
                if (reached[other]) continue;

                /* neighbours face the same way, or one is turned */
                c->turned[other] = c->turned[t] == mesh_edge_agrees(m, e);
                reached[other] = true;
                queue[count++] = other;
            }
        }
    }

    return true;
}

/* ---- cutting ---- */

typedef struct edge_key {
    uint64_t key;
    int half_edge;
} edge_key;

static int edge_key_compare(const void *a, const void *b)
{
    const edge_key *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->half_edge - q->half_edge;
}

/* Pair half-edges of opposite directions along each edge, in order. */
static bool pair(cutting *c, arena *scratch)
{
    edge_key *keys = ARENA_ARRAY(scratch, edge_key, c->count);
    if (!keys) return false;

    /* half-edges by their ends */
    for (int h = 0; h < c->count; h++) {
        uint64_t a = (uint64_t)c->corners[h];
        uint64_t b = (uint64_t)c->corners[next_of(h)];
        keys[h] = (edge_key){MIN(a, b) << 32 | MAX(a, b), h};
        c->twins[h] = -1;
    }

    qsort(keys, (size_t)c->count, sizeof *keys, edge_key_compare);

    /* of those between the same ends, two that run opposite ways */
    for (int begin = 0, end = 0; begin < c->count; begin = end) {
        while (end < c->count && keys[end].key == keys[begin].key) end++;
        for (int i = begin; i < end; i++) {
            int h = keys[i].half_edge;
            for (int k = i + 1; k < end && c->twins[h] < 0; k++) {
                int g = keys[k].half_edge;
                if (c->twins[g] >= 0 || c->corners[g] == c->corners[h]) continue;
                c->twins[h] = g;
                c->twins[g] = h;
            }
        }
    }

    return true;
}

/* Corners joined over paired half-edges are one point. */
static bool number_points(cutting *c, arena *scratch)
{
    int *number = ARENA_ARRAY(scratch, int, c->count);
    c->outgoing = ARENA_ARRAY(scratch, int, c->count);
    if (scratch->failed) return false;

    /* corners that are one */
    for (int h = 0; h < c->count; h++) c->points[h] = h;
    for (int h = 0; h < c->count; h++) {
        int g = c->twins[h];
        if (g < h) continue;
        forest_join(c->points, h, next_of(g));
        forest_join(c->points, next_of(h), g);
    }

    /* their numbers */
    for (int h = 0; h < c->count; h++) {
        number[h] = forest_root(c->points, h) == h ? c->point_count++ : -1;
    }

    for (int h = 0; h < c->count; h++) {
        int root = forest_root(c->points, h);
        if (root != h) number[h] = number[root];
    }

    memcpy(c->points, number, (size_t)c->count * sizeof *number);

    /* the half-edge at a border that leaves a point */
    for (int p = 0; p < c->point_count; p++) c->outgoing[p] = -1;
    for (int h = 0; h < c->count; h++)
        if (c->twins[h] < 0) c->outgoing[c->points[h]] = h;
    return true;
}

static cutis_result cut(cutting *c, const mesh *m, arena *scratch, cutis_error *error)
{
    *c = (cutting){.mesh = m, .count = 3 * m->triangle_count};
    c->turned = ARENA_ARRAY(scratch, bool, m->triangle_count);
    c->corners = ARENA_ARRAY(scratch, int, c->count);
    c->twins = ARENA_ARRAY(scratch, int, c->count);
    c->points = ARENA_ARRAY(scratch, int, c->count);
    if (scratch->failed || !orient(c, scratch)) return error_memory(error, "a simulation body");

    /* corners of the triangles as they are turned */
    for (int h = 0; h < c->count; h++) {
        int k = h % 3;
        c->corners[h] = m->triangles[h - k + (c->turned[h / 3] ? 2 - k : k)];
    }

    if (!pair(c, scratch) || !number_points(c, scratch)) return error_memory(error, "a simulation body");
    return CUTIS_OK;
}

/* ---- pieces ---- */

static void piece_measure(base_piece *p)
{
    surface *s = &p->surface;

    p->area = mesh_area(p->drawn_triangle_count, s->triangles, s->positions);
    p->cap_area = mesh_area(s->triangle_count, s->triangles, s->positions) - p->area;
    p->volume = mesh_volume(s->triangle_count, s->triangles, s->positions);

    /* bounds */
    p->low = vec3_make(INFINITY, INFINITY, INFINITY);
    p->high = vec3_make(-INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < s->point_count; i++) {
        vec3 x = vec3_load(s->positions + 3 * (size_t)i);
        p->low = vec3_min(p->low, x);
        p->high = vec3_max(p->high, x);
    }

    if (p->volume >= 0) return;

    /* inside out: turn all */
    for (int t = 0; t < s->triangle_count; t++) {
        int first = s->triangles[3 * t];
        s->triangles[3 * t] = s->triangles[3 * t + 1];
        s->triangles[3 * t + 1] = first;
    }

    p->volume = -p->volume;
}

/* Caps of all loops of a piece, behind its points and triangles. */
static void piece_cap(base_piece *p, const cutting *c, const int *half_edges, int half_edge_count, const int *local,
                      bool *done)
{
    surface *s = &p->surface;
    int filled = 0;
    for (int i = 0; i < half_edge_count; i++) {
        if (done[half_edges[i]]) continue;

        /* a fan around the mean of the loop that begins here */
        int centre = s->point_count++;
        vec3 sum = {0, 0, 0};
        int count = 0;
        p->cap_first[p->cap_count] = filled;

        for (int h = half_edges[i]; !done[h]; h = c->outgoing[c->points[next_of(h)]]) {
            done[h] = true;
            int *t = s->triangles + 3 * (size_t)s->triangle_count++;
            t[0] = local[c->points[next_of(h)]];
            t[1] = local[c->points[h]];
            t[2] = centre;
            sum = vec3_add(sum, vec3_load(s->positions + 3 * (size_t)t[1]));
            p->cap_points[filled++] = p->sources[t[1]];
            count++;
        }

        /* its centre */
        vec3_store(s->positions + 3 * (size_t)centre, vec3_scale(sum, 1.0f / (float)count));
        p->sources[centre] = -1;
        p->cap_count++;
    }

    p->cap_first[p->cap_count] = filled;
}

/* Base points into pieces; each piece numbers its points anew. */
static cutis_result make_pieces(const cutting *c, arena *memory, arena *scratch, base *b, cutis_error *error)
{
    int *forest = ARENA_ARRAY(scratch, int, c->point_count);
    int *piece = ARENA_ARRAY(scratch, int, c->point_count);
    int *local = ARENA_ARRAY(scratch, int, c->point_count);
    int *source = ARENA_ARRAY(scratch, int, c->point_count);
    bool *done = ARENA_ARRAY(scratch, bool, c->count);
    if (scratch->failed) return error_memory(error, "a simulation body");

    /* points that hang together are a piece */
    for (int p = 0; p < c->point_count; p++) forest[p] = p;
    for (int h = 0; h < c->count; h++) {
        forest_join(forest, c->points[h], c->points[next_of(h)]);
        source[c->points[h]] = c->corners[h];
    }

    for (int p = 0; p < c->point_count; p++) {
        int root = forest_root(forest, p);
        piece[p] = root == p ? b->piece_count++ : piece[root];
    }

    /* count, then fill */
    b->pieces = ARENA_ARRAY(memory, base_piece, b->piece_count);
    int *boundary = ARENA_ARRAY(scratch, int, b->piece_count);
    if (memory->failed || scratch->failed) return error_memory(error, "a simulation body");

    for (int p = 0; p < c->point_count; p++) b->pieces[piece[p]].surface.point_count++;
    for (int h = 0; h < c->count; h++) {
        if (h % 3 == 0) b->pieces[piece[c->points[h]]].surface.triangle_count++;
        boundary[piece[c->points[h]]] += c->twins[h] < 0;
    }

    /* room for each, caps included */
    int **loops = ARENA_ARRAY(scratch, int *, b->piece_count);
    for (int i = 0; loops && i < b->piece_count; i++) {
        base_piece *p = &b->pieces[i];
        surface *s = &p->surface;
        int caps = boundary[i] / 2 + 1;
        s->positions = ARENA_ARRAY(memory, float, 3 * (size_t)(s->point_count + caps));
        p->sources = ARENA_ARRAY(memory, int, s->point_count + caps);
        s->triangles = ARENA_ARRAY(memory, int, 3 * (size_t)(s->triangle_count + boundary[i]));
        p->cap_first = ARENA_ARRAY(memory, int, caps + 1);
        p->cap_points = ARENA_ARRAY(memory, int, boundary[i]);
        loops[i] = ARENA_ARRAY(scratch, int, boundary[i] + 1);

        p->drawn_triangle_count = s->triangle_count;
        s->point_count = 0;
        s->triangle_count = 0;
        boundary[i] = 0;
    }

    if (memory->failed || scratch->failed) return error_memory(error, "a simulation body");

    /* points */
    for (int p = 0; p < c->point_count; p++) {
        base_piece *own = &b->pieces[piece[p]];
        local[p] = own->surface.point_count++;
        own->sources[local[p]] = source[p];
        memcpy(own->surface.positions + 3 * (size_t)local[p], c->mesh->positions + 3 * (size_t)source[p],
               3 * sizeof(float));
        b->point_pieces[source[p]] = piece[p];
    }

    /* triangles, and the half-edges of the border */
    for (int h = 0; h < c->count; h++) {
        int i = piece[c->points[h]];
        surface *s = &b->pieces[i].surface;
        s->triangles[3 * (size_t)s->triangle_count + (size_t)(h % 3)] = local[c->points[h]];
        s->triangle_count += h % 3 == 2;
        if (c->twins[h] < 0) loops[i][boundary[i]++] = h;
    }

    /* caps, then measures */
    for (int i = 0; i < b->piece_count; i++) {
        piece_cap(&b->pieces[i], c, loops[i], boundary[i], local, done);
        piece_measure(&b->pieces[i]);
    }

    return CUTIS_OK;
}

cutis_result base_build(const mesh *m, arena *memory, base *b, cutis_error *error)
{
    *b = (base){0};
    b->point_pieces = ARENA_ARRAY(memory, int, m->point_count);
    if (!b->point_pieces) return error_memory(error, "a simulation body");
    for (int p = 0; p < m->point_count; p++) b->point_pieces[p] = -1;
    arena scratch = arena_create(&memory->allocator);
    cutting c;
    cutis_result result = cut(&c, m, &scratch, error);
    if (!result) result = make_pieces(&c, memory, &scratch, b, error);
    arena_destroy(&scratch);
    return result;
}
