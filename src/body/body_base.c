/*
 * body_base.c: orients, cuts and caps the drawn mesh (see body_base.h).
 *
 * Half-edge h runs from corner h to the next corner of triangle h / 3. Half-edges of opposite directions are paired
 * along each edge; corners that meet at paired half-edges are one point of the base, so that a point between two fans
 * of triangles becomes two, and an edge of four triangles becomes two edges. Half-edges that stay alone are boundary:
 * each point has at most one that starts there, so that loops are followed without choice. A cap is a fan around the
 * centre of its loop. Half-edges of different sheets are not paired. The loops that this opens are slits: their two
 * sides are sewn together where they match, and what is left is closed across, by the shortest edges. A fan around the
 * middle of a bent slit would hang into the piece.
 */
#include "body/body_base.h"

#include <stdlib.h>
#include <string.h>

static int next_of(int h) { return h % 3 == 2 ? h - 2 : h + 1; }

/* Points on both sides of a slit that are nearer than this to each other, over the edges between them, are one. */
static const float SEAM_SHARE = 0.3f;
/* Longest loop of a cut that is closed across; longer ones get a fan. */
enum { SLIT_LIMIT = 4096 };

typedef struct cutting {
    const mesh *mesh;
    const int *sheets; /* (triangles) as given to base_build; NULL: none */
    bool *cut;         /* (count) at the edge between a sheet and the rest of its piece */
    bool *crowded;     /* (count) at an edge of more than two triangles */
    int count;         /* of half-edges: 3 a triangle */
    bool *turned;      /* (triangles) runs the other way round than in the file */
    int *corners;      /* (count) drawn points */
    int *twins;        /* (count) -1: boundary */
    int *points;       /* (count) forest of corners, then the base point of each corner */
    int *outgoing;     /* (base points) the boundary half-edge that starts there; -1: none */
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

static int sheet_of(const cutting *c, int h) { return c->sheets ? c->sheets[h / 3] : 0; }

/* Pair half-edges of opposite directions along each edge, in order, within each sheet. */
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
            c->crowded[h] = end - begin > 2;
            for (int k = begin; k < end; k++) {
                int other = sheet_of(c, keys[k].half_edge);
                if (other != 0 && sheet_of(c, h) != 0 && other != sheet_of(c, h)) c->cut[h] = true;
            }

            for (int k = i + 1; k < end && c->twins[h] < 0; k++) {
                int g = keys[k].half_edge;
                if (c->twins[g] >= 0 || c->corners[g] == c->corners[h] || sheet_of(c, g) != sheet_of(c, h)) continue;
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
    c->point_count = 0;
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

/* ---- seams ---- */

static vec3 corner_place(const cutting *c, int h) { return vec3_load(c->mesh->positions + 3 * (size_t)c->corners[h]); }

/* Whether h and g, which follows it along a slit, are the two sides of its end. */
static bool sides_match(const cutting *c, int h, int g)
{
    if (h == g || !c->cut[h] || !c->cut[g]) return false;
    vec3 a = corner_place(c, h), b = corner_place(c, next_of(h));
    vec3 d = corner_place(c, g), e = corner_place(c, next_of(g));
    return vec3_distance(a, e) < SEAM_SHARE * MIN(vec3_distance(a, b), vec3_distance(d, e));
}

/*
 * Pair the sides of all slits from their ends on, as a zip is shut. next, last: (count) the half-edge of the border
 * that follows each and that it follows; sewn: (count) whether it was paired here. Returns how many were.
 */
static int sew(cutting *c, int *next, int *last, bool *sewn)
{
    /* the border as rings */
    for (int h = 0; h < c->count; h++) {
        if (c->twins[h] >= 0) continue;
        next[h] = c->outgoing[c->points[next_of(h)]];
        last[next[h]] = h;
    }

    /* from wherever two sides meet, backwards along the ring */
    int count = 0;
    for (int start = 0; start < c->count; start++) {
        int h = start;
        while (c->twins[h] < 0 && sides_match(c, h, next[h])) {
            int g = next[h];
            int before = last[h];
            c->twins[h] = g;
            c->twins[g] = h;
            sewn[h] = sewn[g] = true;
            count++;
            if (before == g) break; /* these were the last two */

            next[before] = next[g];
            last[next[g]] = before;
            h = before;
        }
    }

    return count;
}

/*
 * Part sewn half-edges again at edges that more than two triangles have since. Returns how many. keys, bad: (count)
 * scratch.
 */
static int unpick(cutting *c, edge_key *keys, bool *bad, bool *sewn)
{
    for (int h = 0; h < c->count; h++) {
        uint64_t a = (uint64_t)c->points[h];
        uint64_t b = (uint64_t)c->points[next_of(h)];
        keys[h] = (edge_key){MIN(a, b) << 32 | MAX(a, b), h};
    }

    qsort(keys, (size_t)c->count, sizeof *keys, edge_key_compare);

    /* all seams at the ends of such an edge */
    for (int p = 0; p < c->point_count; p++) bad[p] = false;
    for (int begin = 0, end = 0; begin < c->count; begin = end) {
        while (end < c->count && keys[end].key == keys[begin].key) end++;
        for (int i = begin; end - begin > 2 && i < end; i++) {
            bad[c->points[keys[i].half_edge]] = true;
            bad[c->points[next_of(keys[i].half_edge)]] = true;
        }
    }

    int count = 0;
    for (int h = 0; h < c->count; h++) {
        if (!sewn[h] || !(bad[c->points[h]] || bad[c->points[next_of(h)]])) continue;
        int g = c->twins[h];
        sewn[h] = sewn[g] = false;
        c->twins[h] = c->twins[g] = -1;
        count++;
    }

    return count;
}

/* Sew the slits that sheets leave, and number the points anew. */
static bool sew_slits(cutting *c, arena *scratch)
{
    int *next = ARENA_ARRAY(scratch, int, c->count);
    int *last = ARENA_ARRAY(scratch, int, c->count);
    bool *sewn = ARENA_ARRAY(scratch, bool, c->count);
    edge_key *keys = ARENA_ARRAY(scratch, edge_key, c->count);
    bool *bad = ARENA_ARRAY(scratch, bool, c->count);
    if (scratch->failed) return false;

    int count = sew(c, next, last, sewn);
    while (count > 0) {
        if (!number_points(c, scratch)) return false;
        count = unpick(c, keys, bad, sewn);
    }
    return true;
}

static cutis_result cut(cutting *c, const mesh *m, const int *sheets, arena *scratch, cutis_error *error)
{
    *c = (cutting){.mesh = m, .sheets = sheets, .count = 3 * m->triangle_count};
    c->cut = ARENA_ARRAY(scratch, bool, c->count);
    c->crowded = ARENA_ARRAY(scratch, bool, c->count);
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

    bool done = pair(c, scratch) && number_points(c, scratch);
    if (done && sheets) done = sew_slits(c, scratch);
    return done ? CUTIS_OK : error_memory(error, "a simulation body");
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

    for (int t = 0; t < p->drawn_triangle_count; t++) {
        int first = p->corner_sources[3 * t];
        p->corner_sources[3 * t] = p->corner_sources[3 * t + 1];
        p->corner_sources[3 * t + 1] = first;
    }

    p->volume = -p->volume;
}

/* A loop on its way to be closed across: the points that are left, in a ring. */
typedef struct slit {
    int count;
    int *points;      /* (count) of the piece */
    int *next, *last; /* (count) */
    int taken_count;
    int (*taken)[2]; /* (taken_count) edges between points of the loop that exist already, places in the loop, lower
                        first */
} slit;

static int taken_compare(const void *a, const void *b)
{
    const int *p = a, *q = b;
    return p[0] != q[0] ? p[0] - q[0] : p[1] - q[1];
}

/* Edges of the piece between points of the loop. places: (points of the piece) scratch, -1 before and after. */
static bool slit_taken(slit *l, const surface *s, int *places, arena *scratch)
{
    for (int i = 0; i < l->count; i++) places[l->points[i]] = i;

    /* count, then fill */
    for (int fill = 0; fill < 2; fill++) {
        l->taken_count = 0;
        for (int h = 0; h < 3 * s->triangle_count; h++) {
            int a = places[s->triangles[h]];
            int b = places[s->triangles[next_of(h)]];
            if (a < 0 || b < 0) continue;
            if (fill) {
                l->taken[l->taken_count][0] = MIN(a, b);
                l->taken[l->taken_count][1] = MAX(a, b);
            }
            l->taken_count++;
        }
        if (!fill) l->taken = (int(*)[2])ARENA_ARRAY(scratch, int, 2 * (size_t)l->taken_count);
        if (!l->taken) break;
    }

    for (int i = 0; i < l->count; i++) places[l->points[i]] = -1;
    if (!l->taken) return false;
    qsort(l->taken, (size_t)l->taken_count, sizeof *l->taken, taken_compare);
    return true;
}

/* Squared length of the edge across that cuts a place off; INFINITY when there is such an edge already. */
static float slit_width(const slit *l, const float *positions, int place)
{
    int a = l->last[place];
    int b = l->next[place];
    int key[2] = {MIN(a, b), MAX(a, b)};
    if (bsearch(key, l->taken, (size_t)l->taken_count, sizeof *l->taken, taken_compare)) return INFINITY;
    return vec3_length2(
        vec3_sub(vec3_load(positions + 3 * (size_t)l->points[a]), vec3_load(positions + 3 * (size_t)l->points[b])));
}

/*
 * Close a slit across: cut the corner with the shortest edge across off, again and again. Returns whether all of it is
 * closed; if not, the surface is as before. places: (points of the piece) -1.
 */
static bool slit_close(slit *l, surface *s, int *places, arena *scratch)
{
    int before = s->triangle_count;
    l->next = ARENA_ARRAY(scratch, int, l->count);
    l->last = ARENA_ARRAY(scratch, int, l->count);
    if (scratch->failed || !slit_taken(l, s, places, scratch)) return false;
    for (int i = 0; i < l->count; i++) {
        l->next[i] = (i + 1) % l->count;
        l->last[i] = (i + l->count - 1) % l->count;
    }

    int start = 0;
    for (int left = l->count; left >= 3; left--) {
        /* the corner with the shortest edge; of the last three any */
        int best = left == 3 ? start : -1;
        float shortest = INFINITY;
        for (int i = 0, place = start; left > 3 && i < left; i++, place = l->next[place]) {
            float width = slit_width(l, s->positions, place);
            if (width >= shortest) continue;
            shortest = width;
            best = place;
        }

        if (best < 0) {
            s->triangle_count = before;
            return false;
        }

        /* a triangle there, and the ring without it */
        int a = l->last[best];
        int b = l->next[best];
        int *t = s->triangles + 3 * (size_t)s->triangle_count++;
        t[0] = l->points[b];
        t[1] = l->points[best];
        t[2] = l->points[a];
        l->next[a] = b;
        l->last[b] = a;
        start = a;
    }

    return true;
}

/* What the caps of a piece are made from. */
typedef struct capping {
    const cutting *cutting;
    const int *half_edges; /* of the piece's border */
    int half_edge_count;
    const int *local; /* (base points) number in the piece */
    bool *done;       /* (half-edges) */
    int *loop;        /* (half-edges of the border) scratch */
    int *places;      /* (points of the largest piece) scratch, -1 */
    arena *scratch;
} capping;

/* The half-edges of the loop that begins at h, and whether a cut opened it. Returns how many. */
static int loop_follow(const capping *k, int h, bool *cut)
{
    const cutting *c = k->cutting;
    int count = 0;
    *cut = false;
    for (; !k->done[h]; h = c->outgoing[c->points[next_of(h)]]) {
        k->done[h] = true;
        k->loop[count++] = h;
        *cut = *cut || c->cut[h];
    }
    return count;
}

/* Caps of all loops of a piece, behind its points and triangles. */
static void piece_cap(base_piece *p, const capping *k)
{
    const cutting *c = k->cutting;
    surface *s = &p->surface;
    int filled = 0;
    for (int i = 0; i < k->half_edge_count; i++) {
        if (k->done[k->half_edges[i]]) continue;

        /* loops of cuts are closed across */
        bool across;
        int count = loop_follow(k, k->half_edges[i], &across);
        if (across && count >= 3 && count <= SLIT_LIMIT) {
            slit l = {.count = count, .points = ARENA_ARRAY(k->scratch, int, count)};
            for (int n = 0; l.points && n < count; n++) l.points[n] = k->local[c->points[k->loop[n]]];
            if (l.points && slit_close(&l, s, k->places, k->scratch)) continue;
        }

        /* a fan around the mean of the loop */
        int centre = s->point_count++;
        vec3 sum = {0, 0, 0};
        p->cap_first[p->cap_count] = filled;

        for (int n = 0; n < count; n++) {
            int h = k->loop[n];
            int *t = s->triangles + 3 * (size_t)s->triangle_count++;
            t[0] = k->local[c->points[next_of(h)]];
            t[1] = k->local[c->points[h]];
            t[2] = centre;
            sum = vec3_add(sum, vec3_load(s->positions + 3 * (size_t)t[1]));
            p->cap_points[filled++] = p->sources[t[1]];
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
        p->triangle_sources = ARENA_ARRAY(memory, int, s->triangle_count);
        p->corner_sources = ARENA_ARRAY(memory, int, 3 * (size_t)s->triangle_count);
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
        b->pieces[i].corner_sources[3 * (size_t)s->triangle_count + (size_t)(h % 3)] = c->corners[h];
        if (h % 3 == 2) b->pieces[i].triangle_sources[s->triangle_count++] = h / 3;
        if (c->twins[h] < 0) loops[i][boundary[i]++] = h;
    }

    /* caps, then measures */
    capping k = {.cutting = c, .local = local, .done = done, .scratch = scratch};
    k.loop = ARENA_ARRAY(scratch, int, c->count);
    k.places = ARENA_ARRAY(scratch, int, c->point_count + c->count);
    if (scratch->failed) return error_memory(error, "a simulation body");
    for (int p = 0; p < c->point_count + c->count; p++) k.places[p] = -1;
    for (int i = 0; i < b->piece_count; i++) {
        base_piece *p = &b->pieces[i];
        k.half_edges = loops[i];
        k.half_edge_count = boundary[i];
        p->cut = sheet_of(c, 3 * p->triangle_sources[0]) != 0;
        p->sheet = sheet_of(c, 3 * p->triangle_sources[0]) > 0;
        for (int h = 0; h < 3 * p->drawn_triangle_count; h++)
            p->welded |= c->crowded[3 * p->triangle_sources[h / 3] + h % 3];
        piece_cap(p, &k);
        piece_measure(p);
    }

    if (scratch->failed) return error_memory(error, "a simulation body");

    return CUTIS_OK;
}

cutis_result base_build(const mesh *m, const int *sheets, arena *memory, base *b, cutis_error *error)
{
    *b = (base){0};
    b->point_pieces = ARENA_ARRAY(memory, int, m->point_count);
    if (!b->point_pieces) return error_memory(error, "a simulation body");
    for (int p = 0; p < m->point_count; p++) b->point_pieces[p] = -1;
    arena scratch = arena_create(&memory->allocator);
    cutting c;
    cutis_result result = cut(&c, m, sheets, &scratch, error);
    if (!result) result = make_pieces(&c, memory, &scratch, b, error);
    arena_destroy(&scratch);
    return result;
}
