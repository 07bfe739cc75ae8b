/*
 * remesh.c: edge splits, collapses, flips and relaxation on a half-edge surface.
 *
 * Botsch, Kobbelt 2004, section 4: an edge is split above 4/3 of the wanted length and collapsed below 4/5. Departures:
 * the wanted length is a field, so that thin limbs get short edges; a collapse or flip that would fold a triangle over
 * is left out; a point is projected onto the nearest place of the original surface only where that faces the same way,
 * so that thin sheets are not pulled to their other side.
 *
 * Half-edge h runs from corner h to the next corner of triangle h / 3; twins[h] is the half-edge the other way.
 */
#include "body/remesh.h"

#include <stdlib.h>
#include <string.h>

static const float SPLIT = 4.0f / 3, COLLAPSE = 0.8f;
/* Cosine between the normals of a triangle before and after an operation, at least. */
static const float FOLD_COSINE = 0.3f;
/* Rounds of split, collapse, flip, relax: lengths settle in about five. */
enum { ROUNDS = 6, VALENCE = 6, FAN_LIMIT = 64 };

typedef struct half_edges {
    int point_count, triangle_count; /* used so far, removed ones included */
    int point_limit, triangle_limit;
    int *corners;   /* (triangle_limit x 3) points; corners[3 t] < 0: triangle t is removed */
    int *twins;     /* (triangle_limit x 3) */
    int *outgoing;  /* (point_limit) a half-edge that starts at the point; -1: removed */
    float *x;       /* (point_limit x 3) */
    float *lengths; /* (point_limit) */
} half_edges;

static int next_of(int h) { return h % 3 == 2 ? h - 2 : h + 1; }
static int previous_of(int h) { return h % 3 == 0 ? h + 2 : h - 1; }
static int start_of(const half_edges *m, int h) { return m->corners[h]; }
static int end_of(const half_edges *m, int h) { return m->corners[next_of(h)]; }
static vec3 place(const half_edges *m, int point) { return vec3_load(m->x + 3 * (size_t)point); }

/* A new point in the middle of an edge; its two triangles become four. */
static void split_edge(half_edges *m, int h);

/* ---- from and to a surface ---- */

typedef struct edge_key {
    uint64_t key; /* start and end point */
    int half_edge;
} edge_key;

static int edge_key_compare(const void *a, const void *b)
{
    const edge_key *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->half_edge - q->half_edge;
}

/*
 * Twins by sorting; false when a half-edge stays alone. Two points may be joined by two edges where a file's mesh was
 * cut apart: one of them is split, since the operations tell edges by their ends.
 */
static bool pair_twins(half_edges *m, arena *memory)
{
    int count = 3 * m->triangle_count;
    edge_key *keys = ARENA_ARRAY(memory, edge_key, count);
    int *doubled = ARENA_ARRAY(memory, int, count);
    if (!keys || !doubled) return false;
    int doubled_count = 0;

    /* half-edges by their ends */
    for (int h = 0; h < count; h++) {
        uint64_t a = (uint64_t)start_of(m, h);
        uint64_t b = (uint64_t)end_of(m, h);
        keys[h] = (edge_key){MIN(a, b) << 32 | MAX(a, b), h};
    }

    qsort(keys, (size_t)count, sizeof *keys, edge_key_compare);
    for (int h = 0; h < count; h++) m->twins[h] = -1;

    /* of those between the same ends, two that run opposite ways */
    for (int begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && keys[end].key == keys[begin].key) end++;
        for (int i = begin; i < end; i++) {
            int h = keys[i].half_edge;
            for (int k = i + 1; k < end && m->twins[h] < 0; k++) {
                int g = keys[k].half_edge;
                if (m->twins[g] >= 0 || start_of(m, g) == start_of(m, h)) continue;
                m->twins[h] = g;
                m->twins[g] = h;
                if (i > begin) doubled[doubled_count++] = h;
            }

            if (m->twins[h] < 0) return false;
        }
    }

    /* edges that stand for more than one pair get points of their own */
    for (int i = 0; i < doubled_count && m->point_count < m->point_limit; i++) split_edge(m, doubled[i]);
    return true;
}

static cutis_result half_edges_make(half_edges *m, const surface *from, int point_limit, arena *memory,
                                    cutis_error *error)
{
    int points = MAX(point_limit, from->point_count) + 16;
    *m = (half_edges){.point_count = from->point_count,
                      .triangle_count = from->triangle_count,
                      .point_limit = points,
                      .triangle_limit = 2 * points + from->triangle_count};

    m->corners = ARENA_ARRAY(memory, int, 3 * (size_t)m->triangle_limit);
    m->twins = ARENA_ARRAY(memory, int, 3 * (size_t)m->triangle_limit);
    m->outgoing = ARENA_ARRAY(memory, int, m->point_limit);
    m->x = ARENA_ARRAY(memory, float, 3 * (size_t)m->point_limit);
    m->lengths = ARENA_ARRAY(memory, float, m->point_limit);
    if (memory->failed) return error_memory(error, "a simulation body");

    /* the surface as it comes */
    memcpy(m->corners, from->triangles, 3 * (size_t)from->triangle_count * sizeof(int));
    memcpy(m->x, from->positions, 3 * (size_t)from->point_count * sizeof(float));
    if (from->lengths) memcpy(m->lengths, from->lengths, (size_t)from->point_count * sizeof(float));

    /* any half-edge that leaves a point */
    for (int p = 0; p < from->point_count; p++) m->outgoing[p] = -1;
    for (int h = 0; h < 3 * m->triangle_count; h++) m->outgoing[m->corners[h]] = h;

    /* and what meets at each edge */
    if (!pair_twins(m, memory)) {
        if (memory->failed) return error_memory(error, "a simulation body");
        return error_set(error, CUTIS_ERROR_DATA, "the surface to remesh is not closed and manifold");
    }

    return CUTIS_OK;
}

/* Without the removed points and triangles. */
static cutis_result half_edges_pack(const half_edges *m, arena *memory, surface *to, cutis_error *error)
{
    int *index = ARENA_ARRAY(memory, int, m->point_count);
    *to = (surface){0};
    to->positions = ARENA_ARRAY(memory, float, 3 * (size_t)m->point_count);
    to->lengths = ARENA_ARRAY(memory, float, m->point_count);
    to->triangles = ARENA_ARRAY(memory, int, 3 * (size_t)m->triangle_count);
    if (memory->failed) return error_memory(error, "a simulation body");

    /* points that are left */
    for (int p = 0; p < m->point_count; p++) {
        if (m->outgoing[p] < 0) continue;
        index[p] = to->point_count++;
        memcpy(to->positions + 3 * (size_t)index[p], m->x + 3 * (size_t)p, 3 * sizeof(float));
        to->lengths[index[p]] = m->lengths[p];
    }

    /* and their triangles */
    for (int t = 0; t < m->triangle_count; t++) {
        if (m->corners[3 * t] < 0) continue;
        int *corners = to->triangles + 3 * (size_t)to->triangle_count++;
        for (int k = 0; k < 3; k++) corners[k] = index[m->corners[3 * t + k]];
    }

    return CUTIS_OK;
}

/* ---- fans ---- */

/* Half-edges that start at a point, around it. Returns how many; -1: more than FAN_LIMIT. */
static int fan(const half_edges *m, int point, int *half_edges_out)
{
    int first = m->outgoing[point];
    int count = 0;
    for (int h = first;;) {
        if (count == FAN_LIMIT) return -1;
        half_edges_out[count++] = h;
        h = m->twins[previous_of(h)];
        if (h == first) return count;
    }
}

static vec3 triangle_normal(vec3 a, vec3 b, vec3 c) { return vec3_cross(vec3_sub(b, a), vec3_sub(c, a)); }

static vec3 normal_of(const half_edges *m, int triangle)
{
    const int *c = m->corners + 3 * (size_t)triangle;
    return triangle_normal(place(m, c[0]), place(m, c[1]), place(m, c[2]));
}

static vec3 point_normal(const half_edges *m, int point)
{
    int around[FAN_LIMIT];
    int count = fan(m, point, around);
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < count; i++) sum = vec3_add(sum, normal_of(m, around[i] / 3));
    return vec3_normalize(sum);
}

/* Whether two normals (not of unit length) agree; a triangle without area agrees with all. */
static bool same_side(vec3 a, vec3 b)
{
    float lengths = vec3_length(a) * vec3_length(b);
    return vec3_dot(a, b) >= FOLD_COSINE * lengths;
}

/* ---- operations ---- */

static float edge_length(const half_edges *m, int h)
{
    return vec3_distance(place(m, start_of(m, h)), place(m, end_of(m, h)));
}

static float wanted_length(const half_edges *m, int h)
{
    return MIN(m->lengths[start_of(m, h)], m->lengths[end_of(m, h)]);
}

static void split_edge(half_edges *m, int h)
{
    int g = m->twins[h];
    int hn = next_of(h);
    int a = start_of(m, h), b = end_of(m, h);
    int c = start_of(m, previous_of(h)), d = start_of(m, previous_of(g));
    int p = m->point_count++;
    int t = m->triangle_count;
    m->triangle_count += 2;

    /* the new point */
    vec3_store(m->x + 3 * (size_t)p, vec3_lerp(place(m, a), place(m, b), 0.5f));
    m->lengths[p] = 0.5f * (m->lengths[a] + m->lengths[b]);

    /* triangle a b c becomes a p c and p b c; triangle b a d becomes p a d and b p d */
    int hn_twin = m->twins[hn], gp = previous_of(g), gp_twin = m->twins[gp];
    int u = 3 * t, v = 3 * (t + 1);
    m->corners[u] = p;
    m->corners[u + 1] = b;
    m->corners[u + 2] = c;
    m->corners[v] = b;
    m->corners[v + 1] = p;
    m->corners[v + 2] = d;
    m->corners[hn] = p;
    m->corners[g] = p;

    /* h: a p, hn: p c, g: p a, gn: a d, gp: d p; u: p b, u+1: b c, u+2: c p; v: b p, v+1: p d, v+2: d b */
    m->twins[h] = g;
    m->twins[g] = h;
    m->twins[u] = v;
    m->twins[v] = u;
    m->twins[hn] = u + 2;
    m->twins[u + 2] = hn;
    m->twins[u + 1] = hn_twin;
    m->twins[hn_twin] = u + 1;
    m->twins[gp] = v + 1;
    m->twins[v + 1] = gp;
    m->twins[v + 2] = gp_twin;
    m->twins[gp_twin] = v + 2;

    /* a half-edge that leaves each point */
    m->outgoing[a] = h;
    m->outgoing[b] = v;
    m->outgoing[p] = u;
    m->outgoing[c] = u + 2;
    m->outgoing[d] = gp;
}

/* Whether point b is at the other end of one of these half-edges. */
static bool ends_at(const half_edges *m, const int *around, int count, int b)
{
    for (int i = 0; i < count; i++)
        if (end_of(m, around[i]) == b) return true;
    return false;
}

/* Whether moving the fan of `point` to `to` turns none of its triangles over; those with `other` as a corner go. */
static bool fan_may_move(const half_edges *m, const int *around, int count, int other, vec3 to)
{
    for (int i = 0; i < count; i++) {
        int b = end_of(m, around[i]);
        int c = start_of(m, previous_of(around[i]));
        if (b == other || c == other) continue;
        vec3 before = normal_of(m, around[i] / 3);
        vec3 after = triangle_normal(to, place(m, b), place(m, c));
        if (!same_side(before, after)) return false;
        if (vec3_length(after) <= 0) return false;
    }
    return true;
}

/* Join the ends of an edge in its middle, where that keeps the surface manifold and unfolded. */
static bool collapse_edge(half_edges *m, int h)
{
    int g = m->twins[h];
    int a = start_of(m, h), b = end_of(m, h);
    int around_a[FAN_LIMIT], around_b[FAN_LIMIT];

    int count_a = fan(m, a, around_a), count_b = fan(m, b, around_b);
    int c = start_of(m, previous_of(h)), d = start_of(m, previous_of(g));
    if (count_a < 0 || count_b < 0 || c == d || count_a + count_b > FAN_LIMIT) return false;

    /* the ends may share the two opposite points only, and those must keep three neighbours */
    int shared = 0;
    for (int i = 0; i < count_a; i++) shared += ends_at(m, around_b, count_b, end_of(m, around_a[i]));
    int scratch[FAN_LIMIT];
    if (shared != 2 || fan(m, c, scratch) <= 3 || fan(m, d, scratch) <= 3) return false;

    /* no triangle folds over, no edge becomes too long */
    vec3 to = vec3_lerp(place(m, a), place(m, b), 0.5f);
    if (!fan_may_move(m, around_a, count_a, b, to) || !fan_may_move(m, around_b, count_b, a, to)) return false;

    float wanted = 0.5f * (m->lengths[a] + m->lengths[b]);
    for (int side = 0; side < 2; side++) {
        const int *around = side ? around_b : around_a;
        for (int i = 0; i < (side ? count_b : count_a); i++) {
            int e = end_of(m, around[i]);
            if (e != a && e != b && vec3_distance(to, place(m, e)) > SPLIT * MIN(wanted, m->lengths[e])) return false;
        }
    }

    /* b's corners become a's; the two triangles of the edge go */
    vec3_store(m->x + 3 * (size_t)a, to);
    m->lengths[a] = wanted;
    for (int i = 0; i < count_b; i++) m->corners[around_b[i]] = a;

    /* the edges beside them become one each */
    int h1 = m->twins[next_of(h)], h2 = m->twins[previous_of(h)];
    int g1 = m->twins[next_of(g)], g2 = m->twins[previous_of(g)];
    m->twins[h1] = h2;
    m->twins[h2] = h1;
    m->twins[g1] = g2;
    m->twins[g2] = g1;

    /* half-edges that leave what is left */
    m->outgoing[a] = h2;
    m->outgoing[c] = h1;
    m->outgoing[d] = g1;
    m->outgoing[b] = -1;

    m->corners[3 * (h / 3)] = -1;
    m->corners[3 * (g / 3)] = -1;
    return true;
}

/* Turn the edge of two triangles to their other diagonal. */
static void flip_edge(half_edges *m, int h)
{
    int g = m->twins[h];
    int hn = next_of(h), hp = previous_of(h), gn = next_of(g), gp = previous_of(g);
    int a = start_of(m, h), b = end_of(m, h), c = start_of(m, hp), d = start_of(m, gp);
    int hn_twin = m->twins[hn], gn_twin = m->twins[gn];

    /* triangles a b c and b a d become d c a and c d b */
    m->corners[h] = d;
    m->corners[hn] = c;
    m->corners[hp] = a;
    m->corners[g] = c;
    m->corners[gn] = d;
    m->corners[gp] = b;

    /* h: d c, hn: c a, hp: a d; g: c d, gn: d b, gp: b c */
    int hp_twin = m->twins[hp], gp_twin = m->twins[gp];
    m->twins[hn] = hp_twin;
    m->twins[hp_twin] = hn;
    m->twins[hp] = gn_twin;
    m->twins[gn_twin] = hp;
    m->twins[gn] = gp_twin;
    m->twins[gp_twin] = gn;
    m->twins[gp] = hn_twin;
    m->twins[hn_twin] = gp;

    m->outgoing[a] = hp;
    m->outgoing[b] = gp;
    m->outgoing[c] = g;
    m->outgoing[d] = h;
}

/* ---- passes ---- */

typedef struct long_edge {
    float excess; /* length over the wanted one */
    int half_edge, start, end;
} long_edge;

/* Longest first; equal ones by number. */
static int long_edge_compare(const void *a, const void *b)
{
    const long_edge *p = a, *q = b;
    if (p->excess != q->excess) return p->excess > q->excess ? -1 : 1;
    return p->half_edge - q->half_edge;
}

/*
 * Split edges that are too long, the longest first, so that triangles stay well shaped. Splits renumber edges beside
 * them: those wait for the next round. fixed_length: 0 means the wanted lengths of the points.
 */
static bool split_pass(half_edges *m, float fixed_length, int point_limit, arena *memory)
{
    for (;;) {
        arena scratch = arena_create(&memory->allocator);
        long_edge *list = ARENA_ARRAY(&scratch, long_edge, 3 * (size_t)m->triangle_count);
        int count = 0, splits = 0;

        /* edges that are too long, the longest first */
        for (int h = 0; list && h < 3 * m->triangle_count; h++) {
            if (m->corners[3 * (h / 3)] < 0 || m->twins[h] < h) continue;
            float wanted = fixed_length > 0 ? fixed_length : SPLIT * wanted_length(m, h);
            float excess = edge_length(m, h) / wanted;
            if (excess > 1) list[count++] = (long_edge){excess, h, start_of(m, h), end_of(m, h)};
        }
        if (list) qsort(list, (size_t)count, sizeof *list, long_edge_compare);

        /* split those that are still there */
        for (int i = 0; i < count; i++) {
            const long_edge *e = &list[i];
            if (m->point_count >= point_limit || m->triangle_count + 2 > m->triangle_limit) break;
            if (start_of(m, e->half_edge) != e->start || end_of(m, e->half_edge) != e->end) continue;
            split_edge(m, e->half_edge);
            splits++;
        }

        arena_destroy(&scratch);
        if (!list) return false;
        if (splits == 0) return true;
    }
}

static void collapse_pass(half_edges *m)
{
    for (int h = 0; h < 3 * m->triangle_count; h++) {
        if (m->corners[3 * (h / 3)] < 0 || m->twins[h] < h) continue;
        if (edge_length(m, h) < COLLAPSE * wanted_length(m, h)) collapse_edge(m, h);
    }
}

static int valence_error(int count) { return (count - VALENCE) * (count - VALENCE); }

/* Flip where it brings the numbers of neighbours nearer to six. */
static void flip_pass(half_edges *m)
{
    int around[FAN_LIMIT];
    for (int h = 0; h < 3 * m->triangle_count; h++) {
        if (m->corners[3 * (h / 3)] < 0 || m->twins[h] < h) continue;

        int g = m->twins[h];
        int a = start_of(m, h), b = end_of(m, h);
        int c = start_of(m, previous_of(h)), d = start_of(m, previous_of(g));
        int va = fan(m, a, around), vb = fan(m, b, around), vd = fan(m, d, around), vc = fan(m, c, around);
        if (va < 0 || vb < 0 || vc < 0 || vd < 0 || va <= 3 || vb <= 3 || c == d) continue;

        /* how far from six neighbours, before and after */
        int before = valence_error(va) + valence_error(vb) + valence_error(vc) + valence_error(vd);
        int after = valence_error(va - 1) + valence_error(vb - 1) + valence_error(vc + 1) + valence_error(vd + 1);
        if (after >= before || ends_at(m, around, vc, d)) continue;

        /* both new triangles must face as the old ones do */
        vec3 n = vec3_add(normal_of(m, h / 3), normal_of(m, g / 3));
        vec3 n1 = triangle_normal(place(m, d), place(m, c), place(m, a));
        vec3 n2 = triangle_normal(place(m, c), place(m, d), place(m, b));
        if (!same_side(n, n1) || !same_side(n, n2) || vec3_dot(n, n1) <= 0 || vec3_dot(n, n2) <= 0) continue;
        flip_edge(m, h);
    }
}

/* Where points are put back to: the original surface. */
typedef struct original {
    const surface *surface;
    bvh tree;
} original;

static void project(half_edges *m, const original *o, int point, vec3 x, vec3 normal)
{
    /* the nearest place on the original, if it faces the same way */
    bvh_hit hit = bvh_closest(&o->tree, o->surface->positions, x, INFINITY);
    if (hit.triangle < 0) return;
    const int *c = o->surface->triangles + 3 * (size_t)hit.triangle;
    const float *p = o->surface->positions;
    vec3 n = triangle_normal(vec3_load(p + 3 * (size_t)c[0]), vec3_load(p + 3 * (size_t)c[1]),
                             vec3_load(p + 3 * (size_t)c[2]));
    if (vec3_dot(n, normal) < 0) return;

    /* moved there unless a triangle would fold over */
    int around[FAN_LIMIT];
    int count = fan(m, point, around);
    if (count < 0 || !fan_may_move(m, around, count, -1, hit.point)) return;

    vec3_store(m->x + 3 * (size_t)point, hit.point);
    m->lengths[point] = (1 - hit.u - hit.v) * o->surface->lengths[c[0]] + hit.u * o->surface->lengths[c[1]] +
                        hit.v * o->surface->lengths[c[2]];
}

/* Move each point towards the mean of its neighbours in its tangent plane, then back onto the original. */
static void relax_pass(half_edges *m, const original *o)
{
    int around[FAN_LIMIT];
    for (int p = 0; p < m->point_count; p++) {
        if (m->outgoing[p] < 0) continue;
        int count = fan(m, p, around);
        if (count < 3) continue;

        /* the mean of the neighbours */
        vec3 normal = point_normal(m, p);
        vec3 mean = {0, 0, 0};
        for (int i = 0; i < count; i++) mean = vec3_add(mean, place(m, end_of(m, around[i])));
        mean = vec3_scale(mean, 1.0f / (float)count);

        /* along the tangent plane, and back onto the original */
        vec3 way = vec3_sub(mean, place(m, p));
        way = vec3_madd(way, normal, -vec3_dot(way, normal));
        project(m, o, p, vec3_add(place(m, p), way), normal);
    }
}

/* ---- calls ---- */

cutis_result surface_refine(const surface *from, float length, int point_limit, arena *memory, surface *to,
                            cutis_error *error)
{
    half_edges m;
    arena scratch = arena_create(&memory->allocator);
    cutis_result result = half_edges_make(&m, from, point_limit, &scratch, error);
    if (!result) {
        bool split = split_pass(&m, length, point_limit, &scratch);
        result = split ? half_edges_pack(&m, memory, to, error) : error_memory(error, "a simulation body");
    }
    arena_destroy(&scratch);
    return result;
}

cutis_result surface_remesh(const surface *from, int point_limit, arena *memory, surface *to, cutis_error *error)
{
    half_edges m;
    original o = {.surface = from};
    arena scratch = arena_create(&memory->allocator);
    int room = 2 * MAX(point_limit, from->point_count);

    cutis_result result = half_edges_make(&m, from, room, &scratch, error);
    if (!result) {
        result = bvh_build(&o.tree, from->triangle_count, from->triangles, from->positions, &scratch, error);
    }

    /* split, collapse, flip and relax in turn */
    for (int round = 0; !result && round < ROUNDS; round++) {
        if (!split_pass(&m, 0, room, &scratch)) result = error_memory(error, "a simulation body");
        collapse_pass(&m);
        flip_pass(&m);
        relax_pass(&m, &o);
        relax_pass(&m, &o);

        /* removed points and triangles leave room for the next round */
        surface packed;
        if (!result) result = half_edges_pack(&m, &scratch, &packed, error);
        if (!result) result = half_edges_make(&m, &packed, room, &scratch, error);
    }

    if (!result) result = half_edges_pack(&m, memory, to, error);
    arena_destroy(&scratch);
    return result;
}

void surface_normals(const surface *s, float *normals)
{
    for (int t = 0; t < s->triangle_count; t++) {
        const int *c = s->triangles + 3 * (size_t)t;
        vec3 a = vec3_load(s->positions + 3 * (size_t)c[0]);
        vec3 u = vec3_sub(vec3_load(s->positions + 3 * (size_t)c[1]), a);
        vec3 v = vec3_sub(vec3_load(s->positions + 3 * (size_t)c[2]), a);
        vec3_store(normals + 3 * (size_t)t, vec3_normalize(vec3_cross(u, v)));
    }
}
