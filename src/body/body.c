/* body.c: builds the simulation body of a character and its embedding (see body.h). */
#include "body/body.h"

#include <string.h>

#include "body/body_parts.h"
#include "body/body_sheets.h"
#include "body/body_size.h"
#include "body/body_union.h"
#include "cutis/model.h"

/* The drawn mesh is its own body up to this many times the budget (once for a draft), if it is even and fine enough. */
static const double OWN_BODY_POINTS = 2.5;
/* Longest edges of a drawn mesh that is its own body, over the local thickness: three around a limb. */
static const float OWN_BODY_EDGE = 1.0f;
/* Share of its edges that may be longer. */
static const double OWN_BODY_LONG = 0.1;
/* Edges of the surface on which thickness is measured, over the size. */
static const float SAMPLE_EDGE = 0.015f;
enum { SAMPLE_LIMIT = 60000, POINT_FLOOR = 24 };
/* Growth of the body until the drawn points lie in it: rounds, and the most in each, over the edges there. */
enum { GROWTH_ROUNDS = 1, UNDO_ROUNDS = 3 };
static const float GROWTH_LIMIT = 0.15f;
/* Points are not held to the body where skin weights differ by more than this (eyelids: finer than the body's edges).
 */
static const float HOLD_WEIGHTS = 0.2f;
/* Drawn points further than this from the surface of a union lie in it, over the edges there. */
static const float DEEP_EDGES = 1;
/*
 * Least cosine of the normals of a drawn point and of its place on the body, for flesh to lie below it: the lining of a
 * thin hood, which is fused with its outside, has its place there, and flesh above it.
 */
static const float BARE_FACING = 0.3f;
/* Carried points follow fully when nearer than this to flesh, over the size, and not at all beyond four times that. */
static const float CARRIED_NEAR = 0.015f;
/* Cells of the grid for the union of pieces: their edge over the size at least, and their number at most, about. */
static const float UNION_SPACING = 0.004f;
static const double UNION_CELLS = 4e6;
/*
 * Lattice that rest positions are rounded to, cells over the size: far below the shortest edges, far above the rounding
 * of files and programs, which else would decide where a symmetric mesh ties.
 */
static const float LATTICE = 4096;
/* Steps of the size that the lattice is made for, from one power of two to the next. */
static const float SIZE_STEPS = 2048;
/* Influences below this are dropped from a body's point. */
static const float WEIGHT_FLOOR = 2e-3f;

/* One piece of flesh on its way from the drawn mesh to the body. */
typedef struct flesh {
    const base_piece *piece; /* what weights and painted maps come from */
    const surface *shape;    /* its surface, or the union of several */
    surface sampled;         /* the shape, refined: where thickness and lengths are known */
    surface even;            /* the body's surface */
    int first_point;         /* of the body */
    bvh tree;                /* of `even` */
    float *normals;          /* of `even`'s triangles, unit */
} flesh;

/* Lengths are in cells of the lattice, so that rounding of the file makes no difference. */
typedef struct work {
    const body_def *def;
    float cell;        /* edge of a cell, scene units */
    mesh mesh;         /* the drawn one, on the lattice */
    const int *joined; /* as def->cracks has it */
    base base;
    part_role *roles;
    int flesh_count;
    flesh *flesh;
    int *piece_flesh; /* (pieces) index of flesh; -1 */
    int point_count, triangle_count;
    surface rigid; /* the rigid pieces together */
    bvh rigid_tree;
    arena *scratch;
} work;

/* ---- the surface ---- */

static cutis_result sample_flesh(work *w, float **thickness, cutis_error *error)
{
    for (int i = 0; i < w->flesh_count; i++) {
        flesh *f = &w->flesh[i];
        int limit = MAX(SAMPLE_LIMIT / w->flesh_count, 2 * f->shape->point_count);
        cutis_result result = surface_refine(f->shape, SAMPLE_EDGE * LATTICE, limit, w->scratch, &f->sampled, error);
        if (result) return result;
        thickness[i] = ARENA_ARRAY(w->scratch, float, f->sampled.point_count);
        if (!thickness[i]) return error_memory(error, "a simulation body");
        result = surface_thickness(&f->sampled, w->def->jobs, w->scratch, thickness[i], error);
        if (result) return result;
    }
    return CUTIS_OK;
}

/* Whether the drawn mesh can be simulated as it is. */
static cutis_result is_own_body(const work *w, const float *thickness, int budget, bool *own, cutis_error *error)
{
    const mesh *m = w->def->mesh;
    *own = false;

    /* one piece of flesh, closed, small enough, and as it is drawn */
    if (w->flesh_count != 1 || w->base.piece_count != 1) return CUTIS_OK;
    const base_piece *p = w->flesh[0].piece;
    if (p->cap_count > 0 || p->surface.point_count != m->point_count) return CUTIS_OK;
    double most = budget <= CUTIS_DETAIL_DRAFT ? 1 : OWN_BODY_POINTS;
    if (m->point_count > most * budget || !m->component_closed[0]) return CUTIS_OK;
    for (int h = 0; h < 3 * m->triangle_count; h++)
        if (p->sources[p->surface.triangles[h]] != m->triangles[h]) return CUTIS_OK; /* turned */

    /* fine enough everywhere; the first points of the sampled surface are those of the piece */
    int long_count = 0;
    for (int h = 0; h < 3 * m->triangle_count; h++) {
        int a = p->surface.triangles[h];
        int b = p->surface.triangles[h % 3 == 2 ? h - 2 : h + 1];
        const float *x = p->surface.positions;
        float length = vec3_distance(vec3_load(x + 3 * (size_t)a), vec3_load(x + 3 * (size_t)b));
        long_count += length > OWN_BODY_EDGE * MIN(thickness[a], thickness[b]);
    }

    if (long_count > OWN_BODY_LONG * 3 * m->triangle_count) return CUTIS_OK;

    /* and free of intersections */
    bvh tree;
    cutis_result result = bvh_build(&tree, m->triangle_count, m->triangles, m->positions, w->scratch, error);
    if (!result) *own = mesh_self_intersections(m, &tree, m->positions, w->def->jobs, NULL, 0) == 0;
    return result;
}

static cutis_result remesh_flesh(work *w, float *const *thickness, int budget, cutis_error *error)
{
    surface *sampled = ARENA_ARRAY(w->scratch, surface, w->flesh_count);
    if (!sampled) return error_memory(error, "a simulation body");
    for (int i = 0; i < w->flesh_count; i++) sampled[i] = w->flesh[i].sampled;

    /* wanted lengths of edges, shorter in creases, which spend the budget over all pieces */
    cutis_result result = CUTIS_OK;
    for (int i = 0; !result && i < w->flesh_count; i++)
        result = surface_creases(&sampled[i], LATTICE, w->def->jobs, w->scratch, thickness[i], error);
    if (!result) result = surface_sizes(sampled, thickness, w->flesh_count, budget, LATTICE, w->scratch, error);

    /* an even surface of each */
    for (int i = 0; !result && i < w->flesh_count; i++) {
        flesh *f = &w->flesh[i];
        f->sampled = sampled[i];
        int limit = 2 * (int)surface_point_estimate(&sampled[i]) + POINT_FLOOR;
        result = surface_remesh(&f->sampled, limit, w->scratch, &f->even, error);

        f->first_point = w->point_count;
        w->point_count += f->even.point_count;
        w->triangle_count += f->even.triangle_count;
    }

    return result;
}

/* ---- what the body takes over from the drawn mesh ---- */

/* The share of each drawn point in a place of a base piece, added up by a visitor. */
typedef void (*share_visit)(void *context, int drawn_point, float share);

static void shares_of(const base_piece *p, bvh_hit hit, share_visit visit, void *context)
{
    const int *corners = p->surface.triangles + 3 * (size_t)hit.triangle;
    float shares[3] = {1 - hit.u - hit.v, hit.u, hit.v};
    for (int k = 0; k < 3; k++) {
        int source = p->sources[corners[k]];
        if (source >= 0) {
            visit(context, source, shares[k]);
            continue;
        }

        /* the centre of a cap is the mean of its loop */
        int cap = corners[k] - (p->surface.point_count - p->cap_count);
        int count = p->cap_first[cap + 1] - p->cap_first[cap];
        for (int i = p->cap_first[cap]; i < p->cap_first[cap + 1]; i++)
            visit(context, p->cap_points[i], shares[k] / (float)count);
    }
}

typedef struct gathering {
    const cutis_character *drawn;
    float *joints; /* (joint_count) summed weights */
    float *maps;   /* (map_count) summed values */
} gathering;

static void gather(void *context, int point, float share)
{
    gathering *g = context;
    const cutis_character *c = g->drawn;
    int vertex = c->point_vertices[point];
    for (int m = 0; m < c->map_count; m++) g->maps[m] += share * c->maps[m].values[vertex];
    if (!c->influence_first) return;
    for (int k = c->influence_first[vertex]; k < c->influence_first[vertex + 1]; k++)
        g->joints[c->influence_joints[k]] += share * c->influence_weights[k];
}

/* The arrays of the body's character while it is put together. */
typedef struct draft {
    float *positions;
    int *face_first, *corners;
    int *influence_first, *joints;
    float *weights;
    int influence_count, influence_limit;
    cutis_map *maps;
    float **map_values;
} draft;

static void take_influences(draft *d, const gathering *g, int vertex)
{
    int joint_count = g->drawn->joint_count;
    float sum = 0;
    d->influence_first[vertex] = d->influence_count;
    for (int j = 0; j < joint_count; j++) {
        if (g->joints[j] >= WEIGHT_FLOOR) sum += g->joints[j];
    }
    for (int j = 0; j < joint_count && d->influence_count < d->influence_limit; j++) {
        if (g->joints[j] < WEIGHT_FLOOR) continue;
        d->joints[d->influence_count] = j;
        d->weights[d->influence_count++] = g->joints[j] / sum;
    }
}

static bool draft_allocate(draft *d, const work *w)
{
    const cutis_character *c = w->def->character;
    arena *a = w->scratch;

    /* geometry and skin weights */
    d->influence_limit = w->point_count * MIN(c->joint_count, 32);
    d->positions = ARENA_ARRAY(a, float, 3 * (size_t)w->point_count);
    d->face_first = ARENA_ARRAY(a, int, w->triangle_count + 1);
    d->corners = ARENA_ARRAY(a, int, 3 * (size_t)w->triangle_count);
    d->influence_first = ARENA_ARRAY(a, int, w->point_count + 1);
    d->joints = ARENA_ARRAY(a, int, d->influence_limit);
    d->weights = ARENA_ARRAY(a, float, d->influence_limit);

    /* painted maps */
    d->maps = ARENA_ARRAY(a, cutis_map, c->map_count);
    d->map_values = ARENA_ARRAY(a, float *, c->map_count);
    for (int m = 0; !a->failed && m < c->map_count; m++) {
        d->map_values[m] = ARENA_ARRAY(a, float, w->point_count);
        d->maps[m] = (cutis_map){c->maps[m].name, d->map_values[m]};
    }

    return !a->failed;
}

/* Positions, faces, weights and painted maps of one piece. */
static cutis_result draft_flesh(draft *d, const work *w, const flesh *f, int first_triangle, cutis_error *error)
{
    const cutis_character *c = w->def->character;
    const surface *from = &f->piece->surface;
    bvh tree;

    /* a tree of the drawn piece, and room for its shares */
    cutis_result result = bvh_build(&tree, from->triangle_count, from->triangles, from->positions, w->scratch, error);
    gathering g = {c, ARENA_ARRAY(w->scratch, float, c->joint_count), ARENA_ARRAY(w->scratch, float, c->map_count)};
    if (!result && w->scratch->failed) result = error_memory(error, "a simulation body");
    if (result) return result;

    /* what the nearest place of the drawn piece has */
    for (int i = 0; i < f->even.point_count; i++) {
        int vertex = f->first_point + i;
        memset(g.joints, 0, (size_t)c->joint_count * sizeof(float));
        if (g.maps) memset(g.maps, 0, (size_t)c->map_count * sizeof(float));
        vec3 x = vec3_load(f->even.positions + 3 * (size_t)i);
        bvh_hit hit = bvh_closest(&tree, from->positions, x, INFINITY);
        if (hit.triangle >= 0) shares_of(f->piece, hit, gather, &g);

        vec3_store(d->positions + 3 * (size_t)vertex, vec3_scale(x, w->cell));
        take_influences(d, &g, vertex);
        for (int m = 0; m < c->map_count; m++) d->map_values[m][vertex] = CLAMP(g.maps[m], 0, 1);
    }

    /* triangles as faces */
    for (int t = 0; t < f->even.triangle_count; t++) {
        d->face_first[first_triangle + t] = 3 * (first_triangle + t);
        for (int k = 0; k < 3; k++)
            d->corners[3 * (first_triangle + t) + k] = f->first_point + f->even.triangles[3 * (size_t)t + (size_t)k];
    }

    return CUTIS_OK;
}

static cutis_result make_character(const work *w, sim_body *b, arena *memory, cutis_error *error)
{
    const cutis_character *c = w->def->character;
    draft d = {0};
    if (!draft_allocate(&d, w)) return error_memory(error, "a simulation body");

    /* piece by piece */
    int triangle = 0;
    for (int i = 0; i < w->flesh_count; i++) {
        cutis_result result = draft_flesh(&d, w, &w->flesh[i], triangle, error);
        if (result) return result;
        triangle += w->flesh[i].even.triangle_count;
    }

    d.influence_first[w->point_count] = d.influence_count;
    d.face_first[triangle] = 3 * triangle;

    /* skeleton, props and settings are the drawn character's; its clips may move morphs, which a body does not have */
    cutis_character given = *c;
    given.vertex_count = w->point_count;
    given.positions = d.positions;
    given.face_count = triangle;
    given.face_first = d.face_first;
    given.corners = d.corners;
    given.texcoords = NULL;
    given.normals = NULL;
    given.influence_first = c->influence_first ? d.influence_first : NULL;
    given.influence_joints = d.joints;
    given.influence_weights = d.weights;
    given.part_count = 0;
    given.parts = NULL;
    given.maps = d.maps;
    given.morph_count = 0;
    given.morphs = NULL;
    given.clip_count = 0;
    given.clips = NULL;
    given.warning_count = 0;
    given.warnings = NULL;
    return cutis_character_create(&given, &memory->allocator, &b->character, error);
}

/* ---- embedding ---- */

typedef struct near_search {
    const flesh *flesh;
    vec3 x, normal;
    float distance;
    bvh_hit hit;
} near_search;

static bool near_visit(void *context, int triangle)
{
    near_search *s = context;
    const int *c = s->flesh->even.triangles + 3 * (size_t)triangle;
    const float *p = s->flesh->even.positions;

    /* only triangles that face the same way */
    if (vec3_dot(vec3_load(s->flesh->normals + 3 * (size_t)triangle), s->normal) <= 0) return true;

    float weights[3];
    vec3 place = triangle_closest(s->x, vec3_load(p + 3 * (size_t)c[0]), vec3_load(p + 3 * (size_t)c[1]),
                                  vec3_load(p + 3 * (size_t)c[2]), weights);
    float distance = vec3_distance(place, s->x);

    if (distance >= s->distance) return true;
    s->distance = distance;
    s->hit = (bvh_hit){triangle, distance, weights[1], weights[2], place};
    return true;
}

/* The nearest place of flesh that faces as the drawn point does, so that a finger is not tied to the next one. */
static bvh_hit find_facing(const flesh *f, vec3 x, vec3 normal, float reach)
{
    near_search s = {f, x, normal, INFINITY, {.triangle = -1}};
    vec3 box = vec3_make(reach, reach, reach);
    bvh_overlap(&f->tree, vec3_sub(x, box), vec3_add(x, box), near_visit, &s);
    if (s.hit.triangle >= 0) return s.hit;
    return bvh_closest(&f->tree, f->even.positions, x, INFINITY);
}

/* Anchors of one drawn point while they are gathered. */
enum { ANCHOR_LIMIT = 48 };
typedef struct anchor_list {
    int count;
    int points[ANCHOR_LIMIT];
    float weights[ANCHOR_LIMIT];
} anchor_list;

static void anchor_add(anchor_list *list, int point, float weight)
{
    if (!(weight > 0)) return;

    /* once for each point */
    for (int i = 0; i < list->count; i++) {
        if (list->points[i] != point) continue;
        list->weights[i] += weight;
        return;
    }

    if (list->count == ANCHOR_LIMIT) {
        /* the least gives way, so that near points count in whatever order they come */
        int least = 0;
        for (int i = 1; i < list->count; i++)
            if (list->weights[i] < list->weights[least]) least = i;
        if (list->weights[least] >= weight) return;
        list->points[least] = point;
        list->weights[least] = weight;
        return;
    }

    list->points[list->count] = point;
    list->weights[list->count++] = weight;
}

static void anchor_triangle(anchor_list *list, const flesh *f, bvh_hit hit, float weight)
{
    const int *c = f->even.triangles + 3 * (size_t)hit.triangle;
    anchor_add(list, f->first_point + c[0], weight * (1 - hit.u - hit.v));
    anchor_add(list, f->first_point + c[1], weight * hit.u);
    anchor_add(list, f->first_point + c[2], weight * hit.v);
}

static void anchor_scale(anchor_list *list, float total)
{
    float sum = 0;
    for (int i = 0; i < list->count; i++) sum += list->weights[i];
    for (int i = 0; i < list->count; i++) list->weights[i] *= sum > 0 ? total / sum : 0;
}

/*
 * Flesh and what it carries come to the skinned pose where they meet a rigid piece, within two edges of it: a hand does
 * not leave its bracelet, nor a neck the head.
 */
static void anchor_rigid(const work *w, vec3 x, float length, anchor_list *list)
{
    if (w->rigid.triangle_count == 0) return;
    bvh_hit hit = bvh_closest(&w->rigid_tree, w->rigid.positions, x, 2 * length);
    if (hit.triangle < 0) return;
    float free = 1 - smooth_fall(hit.distance / (2 * length));
    for (int i = 0; i < list->count; i++) list->weights[i] *= free;
}

/* A carried point follows the flesh around it: the further away it is, the wider the place it follows. */
static void anchor_carried(const work *w, vec3 x, anchor_list *list)
{
    float near = CARRIED_NEAR * LATTICE;

    /* the nearest place of any flesh */
    float distance = 4 * near, length = near;
    for (int i = 0; i < w->flesh_count; i++) {
        const flesh *f = &w->flesh[i];
        bvh_hit hit = bvh_closest(&f->tree, f->even.positions, x, distance);
        if (hit.triangle < 0) continue;
        distance = hit.distance;
        length = f->even.lengths[f->even.triangles[3 * (size_t)hit.triangle]];
    }

    /* how far it follows */
    float follow = smooth_fall((distance - near) / (3 * near));
    if (follow == 0) return;

    /* what is around the nearest place, the nearer the more */
    float radius = distance + MAX(1.5f * length, distance);
    for (int i = 0; i < w->flesh_count; i++) {
        const flesh *f = &w->flesh[i];
        for (int p = 0; p < f->even.point_count; p++) {
            float r = vec3_distance(vec3_load(f->even.positions + 3 * (size_t)p), x) / radius;
            if (r < 1) anchor_add(list, f->first_point + p, (1 - r * r) * (1 - r * r));
        }
    }

    anchor_scale(list, follow);
    anchor_rigid(w, x, length, list);
}

/*
 * A point of flesh hangs on its own piece, and where it meets another piece on both alike: then borders that adjoin get
 * the same deviation. What lies deep in a union (the end of a leg inside of a robe) has no place on its surface, and
 * follows what is around it. Returns whether it is on the surface, with flesh below it.
 */
static bool anchor_flesh(const work *w, int own, vec3 x, vec3 normal, anchor_list *list)
{
    const flesh *f = &w->flesh[own];

    bvh_hit hit = find_facing(f, x, normal, 2 * CARRIED_NEAR * LATTICE);
    if (hit.triangle < 0) return false;

    /* deep inside of a union */
    float reach = 2 * f->even.lengths[f->even.triangles[3 * (size_t)hit.triangle]];
    bool united = f->shape != &f->piece->surface, deep = hit.distance > DEEP_EDGES * 0.5f * reach;
    if (united && deep) {
        anchor_carried(w, x, list);
        return false;
    }

    /* on its own piece, and on others within reach */
    anchor_triangle(list, f, hit, 1);
    for (int i = 0; i < w->flesh_count; i++) {
        if (i == own) continue;
        bvh_hit other = bvh_closest(&w->flesh[i].tree, w->flesh[i].even.positions, x, reach);
        if (other.triangle >= 0) anchor_triangle(list, &w->flesh[i], other, smooth_fall(other.distance / reach));
    }

    anchor_scale(list, 1);
    anchor_rigid(w, x, 0.5f * reach, list);
    return !deep && vec3_dot(vec3_load(f->normals + 3 * (size_t)hit.triangle), normal) > BARE_FACING;
}

/* All rigid pieces as one surface with a tree. */
static cutis_result gather_rigid(work *w, cutis_error *error)
{
    /* how many there are */
    int points = 0, triangles = 0;
    for (int i = 0; i < w->base.piece_count; i++) {
        if (w->roles[i] != PART_RIGID) continue;
        points += w->base.pieces[i].surface.point_count;
        triangles += w->base.pieces[i].drawn_triangle_count;
    }

    if (triangles == 0) return CUTIS_OK;

    /* room for all */
    surface *r = &w->rigid;
    r->positions = ARENA_ARRAY(w->scratch, float, 3 * (size_t)points);
    r->triangles = ARENA_ARRAY(w->scratch, int, 3 * (size_t)triangles);
    if (w->scratch->failed) return error_memory(error, "a simulation body");

    /* one after the other */
    for (int i = 0; i < w->base.piece_count; i++) {
        const base_piece *p = &w->base.pieces[i];
        if (w->roles[i] != PART_RIGID) continue;
        memcpy(r->positions + 3 * (size_t)r->point_count, p->surface.positions,
               3 * (size_t)p->surface.point_count * sizeof(float));
        for (int k = 0; k < 3 * p->drawn_triangle_count; k++)
            r->triangles[3 * r->triangle_count + k] = r->point_count + p->surface.triangles[k];

        r->point_count += p->surface.point_count;
        r->triangle_count += p->drawn_triangle_count;
    }

    return bvh_build(&w->rigid_tree, r->triangle_count, r->triangles, r->positions, w->scratch, error);
}

static cutis_result prepare_trees(work *w, cutis_error *error)
{
    for (int i = 0; i < w->flesh_count; i++) {
        flesh *f = &w->flesh[i];
        const surface *s = &f->even;
        cutis_result result = bvh_build(&f->tree, s->triangle_count, s->triangles, s->positions, w->scratch, error);
        if (result) return result;
        f->normals = ARENA_ARRAY(w->scratch, float, 3 * (size_t)s->triangle_count);
        if (!f->normals) return error_memory(error, "a simulation body");
        surface_normals(s, f->normals);
    }
    return CUTIS_OK;
}

/* Unit normals of the drawn points, by the orientation of the base. */
static float *drawn_normals(const work *w)
{
    int count = w->mesh.point_count;
    float *normals = ARENA_ARRAY(w->scratch, float, 3 * (size_t)count);
    if (!normals) return NULL;

    /* sums of the triangles around, by area */
    for (int i = 0; i < w->base.piece_count; i++) {
        const base_piece *p = &w->base.pieces[i];
        for (int t = 0; t < p->drawn_triangle_count; t++) {
            const int *c = p->surface.triangles + 3 * (size_t)t;
            vec3 a = vec3_load(p->surface.positions + 3 * (size_t)c[0]);
            vec3 u = vec3_sub(vec3_load(p->surface.positions + 3 * (size_t)c[1]), a);
            vec3 v = vec3_sub(vec3_load(p->surface.positions + 3 * (size_t)c[2]), a);
            vec3 n = vec3_cross(u, v);
            for (int k = 0; k < 3; k++) {
                int source = p->corner_sources[3 * (size_t)t + (size_t)k];
                /* the root of a fin faces as its trunk */
                if (w->roles[i] == PART_CARRIED && (p->cut || p->welded) && w->base.point_pieces[source] != i) continue;
                float *sum = normals + 3 * (size_t)source;
                vec3_store(sum, vec3_add(vec3_load(sum), n));
            }
        }
    }

    /* both sides of a crack have one normal */
    for (int p = 0; w->joined && p < count; p++)
        memcpy(normals + 3 * (size_t)p, normals + 3 * (size_t)w->joined[p], 3 * sizeof(float));

    return normals;
}

/* How far drawn points stand out from the triangles of flesh that they lie over, at the corners of these. */
static void find_heights(const work *w, const float *normals, float **heights)
{
    const mesh *m = &w->mesh;
    for (int p = 0; p < m->point_count; p++) {
        int piece = w->base.point_pieces[p];
        if (piece < 0 || w->roles[piece] != PART_FLESH) continue;

        /* the place that it lies over */
        int own = w->piece_flesh[piece];
        const flesh *f = &w->flesh[own];
        vec3 x = vec3_load(m->positions + 3 * (size_t)p);
        vec3 normal = vec3_normalize(vec3_load(normals + 3 * (size_t)p));
        bvh_hit hit = find_facing(f, x, normal, 2 * CARRIED_NEAR * LATTICE);
        if (hit.triangle < 0) continue;

        /* the height over it, at the three corners */
        float height = vec3_dot(vec3_sub(x, hit.point), vec3_load(f->normals + 3 * (size_t)hit.triangle));
        const int *c = f->even.triangles + 3 * (size_t)hit.triangle;
        for (int k = 0; k < 3; k++) heights[own][c[k]] = MAX(heights[own][c[k]], height);
    }
}

/* Put points back to where they were before, where triangles cross since: in grooves there is no room to grow. */
static cutis_result undo_crossings(const work *w, surface *s, const float *before, cutis_error *error)
{
    enum { PAIR_LIMIT = 1024 };
    for (int round = 0; round < UNDO_ROUNDS; round++) {
        /* a tree of the surface as it is now */
        arena scratch = arena_create(&w->scratch->allocator);
        mesh m;
        bvh tree;
        int *pairs = ARENA_ARRAY(&scratch, int, 2 * PAIR_LIMIT);
        cutis_result result = pairs ? CUTIS_OK : error_memory(error, "a simulation body");
        if (!result)
            result = mesh_build(&m, s->point_count, s->positions, s->triangle_count, s->triangles, &scratch, error);
        if (!result) result = bvh_build(&tree, s->triangle_count, s->triangles, s->positions, &scratch, error);

        /* the corners of triangles that cross */
        int count = result ? 0 : mesh_self_intersections(&m, &tree, s->positions, w->def->jobs, pairs, PAIR_LIMIT);
        for (int k = 0; k < 6 * MIN(count, PAIR_LIMIT); k++) {
            size_t point = 3 * (size_t)s->triangles[3 * (size_t)pairs[k / 3] + (size_t)(k % 3)];
            memcpy(s->positions + point, before + point, 3 * sizeof(float));
        }

        arena_destroy(&scratch);
        if (result || count == 0) return result;
    }

    return CUTIS_OK;
}

/*
 * An even surface cuts the corners of the one it was made from. Contact keeps the body's surfaces apart, so that what
 * stands out from them could still cross: the body is grown until the drawn points lie in or on it.
 */
static cutis_result grow_flesh(work *w, cutis_error *error)
{
    float *normals = drawn_normals(w);
    float **heights = ARENA_ARRAY(w->scratch, float *, w->flesh_count);
    if (!normals || !heights) return error_memory(error, "a simulation body");

    for (int round = 0; round < GROWTH_ROUNDS; round++) {
        cutis_result result = prepare_trees(w, error);
        for (int i = 0; !result && i < w->flesh_count; i++) {
            heights[i] = ARENA_ARRAY(w->scratch, float, w->flesh[i].even.point_count);
            if (!heights[i]) result = error_memory(error, "a simulation body");
        }
        if (result) return result;

        /* how far drawn points stand out */
        find_heights(w, normals, heights);
        for (int i = 0; i < w->flesh_count; i++) {
            surface *s = &w->flesh[i].even;
            float *sums = ARENA_ARRAY(w->scratch, float, 3 * (size_t)s->point_count);
            if (!sums) return error_memory(error, "a simulation body");

            /* directions of growth: sums of the normals around */
            for (int h = 0; h < 3 * s->triangle_count; h++) {
                float *sum = sums + 3 * (size_t)s->triangles[h];
                vec3_store(sum, vec3_add(vec3_load(sum), vec3_load(w->flesh[i].normals + 3 * (size_t)(h / 3))));
            }

            /* outwards by that much */
            float *before = arena_copy(w->scratch, s->positions, 3 * (size_t)s->point_count, sizeof(float));
            if (!before) return error_memory(error, "a simulation body");
            for (int p = 0; p < s->point_count; p++) {
                float *x = s->positions + 3 * (size_t)p;
                vec3 outwards = vec3_normalize(vec3_load(sums + 3 * (size_t)p));
                vec3_store(x, vec3_madd(vec3_load(x), outwards, MIN(heights[i][p], GROWTH_LIMIT * s->lengths[p])));
            }

            result = undo_crossings(w, s, before, error);
            if (result) return result;
        }
    }

    return CUTIS_OK;
}

/* Wanted edge length at a vertex of the body, scene units. */
static float body_length(const work *w, int vertex)
{
    int i = 0;
    while (i + 1 < w->flesh_count && vertex >= w->flesh[i + 1].first_point) i++;
    return w->cell * w->flesh[i].even.lengths[vertex - w->flesh[i].first_point];
}

void body_normals(const mesh *m, const float *positions, float *normals)
{
    memset(normals, 0, 3 * (size_t)m->point_count * sizeof(float));

    /* sums of the triangles around, by area */
    for (int t = 0; t < m->triangle_count; t++) {
        const int *c = m->triangles + 3 * (size_t)t;
        vec3 a = vec3_load(positions + 3 * (size_t)c[0]);
        vec3 u = vec3_sub(vec3_load(positions + 3 * (size_t)c[1]), a);
        vec3 v = vec3_sub(vec3_load(positions + 3 * (size_t)c[2]), a);
        vec3 n = vec3_cross(u, v);
        for (int k = 0; k < 3; k++) {
            float *sum = normals + 3 * (size_t)c[k];
            vec3_store(sum, vec3_add(vec3_load(sum), n));
        }
    }

    for (int p = 0; p < m->point_count; p++) {
        float *n = normals + 3 * (size_t)p;
        vec3_store(n, vec3_normalize(vec3_load(n)));
    }
}

/* Add the skin weights of a vertex to sums over the joints. */
static void add_weights(const cutis_character *c, int vertex, float factor, float *sums)
{
    if (!c->influence_first) return;
    for (int i = c->influence_first[vertex]; i < c->influence_first[vertex + 1]; i++)
        sums[c->influence_joints[i]] += factor * c->influence_weights[i];
}

/* Where a drawn point lies at rest over its place on the body: along the normal there, and beside it. */
static void rest_offset(sim_body *b, int point, vec3 x, const float *normals, float *height, float *side)
{
    vec3 place = {0, 0, 0}, normal = {0, 0, 0};
    for (int k = b->anchor_first[point]; k < b->anchor_first[point + 1]; k++) {
        place = vec3_madd(place, vec3_load(b->mesh.positions + 3 * (size_t)b->anchors[k]), b->anchor_weights[k]);
        normal = vec3_madd(normal, vec3_load(normals + 3 * (size_t)b->anchors[k]), b->anchor_weights[k]);
    }
    vec3 offset = vec3_sub(x, place);
    normal = vec3_normalize(normal);
    *height = vec3_dot(offset, normal);
    *side = vec3_length(vec3_madd(offset, normal, -*height));
}

/*
 * How far a drawn point can be held to its place on the body: wholly where its anchors hold it wholly and have its skin
 * weights. sums: (joint_count), all 0 before and after.
 */
static float find_hold(const sim_body *b, const cutis_character *drawn, int point, float *sums)
{
    /* its own weights less those of its place */
    float held = 0, apart = 0;
    add_weights(drawn, drawn->point_vertices[point], 1, sums);
    for (int k = b->anchor_first[point]; k < b->anchor_first[point + 1]; k++) {
        add_weights(b->character, b->character->point_vertices[b->anchors[k]], -b->anchor_weights[k], sums);
        held += b->anchor_weights[k];
    }

    /* half the sum of the differences: 0 for equal weights, 1 for other joints */
    for (int j = 0; j < drawn->joint_count; j++) {
        apart += 0.5f * fabsf(sums[j]);
        sums[j] = 0;
    }

    return held > 0.999f ? smooth_fall(apart / HOLD_WEIGHTS - 1) : 0;
}

/* Heights, sides and holds of all drawn points. */
static cutis_result find_places(const work *w, sim_body *b, arena *memory, cutis_error *error)
{
    const mesh *m = w->def->mesh;
    cutis_result result = mesh_build_character(&b->mesh, b->character, memory, error);

    float *normals = ARENA_ARRAY(w->scratch, float, 3 * (size_t)b->character->point_count);
    float *sums = ARENA_ARRAY(w->scratch, float, MAX(b->character->joint_count, 1));
    float *heights = ARENA_ARRAY(memory, float, m->point_count);
    float *sides = ARENA_ARRAY(memory, float, m->point_count);
    float *holds = ARENA_ARRAY(memory, float, m->point_count);
    if (!result && (memory->failed || w->scratch->failed)) result = error_memory(error, "a simulation body");
    if (result) return result;

    /* place at rest, and how far it holds */
    body_normals(&b->mesh, b->mesh.positions, normals);
    for (int p = 0; p < m->point_count; p++) {
        rest_offset(b, p, vec3_load(m->positions + 3 * (size_t)p), normals, &heights[p], &sides[p]);
        holds[p] = find_hold(b, w->def->character, p, sums);
    }

    b->heights = heights;
    b->sides = sides;
    b->holds = holds;
    return CUTIS_OK;
}

static cutis_result embed(work *w, sim_body *b, arena *memory, cutis_error *error)
{
    const mesh *m = &w->mesh;
    cutis_result result = prepare_trees(w, error);
    if (!result) result = gather_rigid(w, error);
    if (result) return result;

    float *normals = drawn_normals(w);
    anchor_list *lists = ARENA_ARRAY(w->scratch, anchor_list, m->point_count);
    int *first = ARENA_ARRAY(memory, int, m->point_count + 1);
    float *lengths = ARENA_ARRAY(memory, float, m->point_count);
    bool *bare = ARENA_ARRAY(memory, bool, m->point_count);
    if (!normals || !lists || memory->failed) return error_memory(error, "a simulation body");

    /* anchors of every drawn point */
    b->example_carried = -1;
    for (int p = 0; p < m->point_count; p++) {
        int piece = w->base.point_pieces[p];
        part_role role = piece >= 0 ? w->roles[piece] : PART_CARRIED; /* vertices of no face follow the flesh */
        vec3 x = vec3_load(m->positions + 3 * (size_t)p);
        if (w->joined && w->joined[p] < p) {
            lists[p] = lists[w->joined[p]]; /* cracks stay as narrow as they are */
            bare[p] = bare[w->joined[p]];
        } else if (role == PART_FLESH) {
            vec3 normal = vec3_normalize(vec3_load(normals + 3 * (size_t)p));
            bare[p] = anchor_flesh(w, w->piece_flesh[piece], x, normal, &lists[p]);
        } else if (role == PART_CARRIED) {
            anchor_carried(w, x, &lists[p]);
            if (b->example_carried < 0 && piece >= 0) b->example_carried = w->def->character->point_vertices[p];
        }

        first[p + 1] = first[p] + lists[p].count;
    }

    /* packed */
    int *anchors = ARENA_ARRAY(memory, int, MAX(first[m->point_count], 1));
    float *weights = ARENA_ARRAY(memory, float, MAX(first[m->point_count], 1));
    if (memory->failed) return error_memory(error, "a simulation body");
    for (int p = 0; p < m->point_count; p++) {
        for (int k = 0; k < lists[p].count; k++)
            anchors[first[p] + k] = b->character->vertex_points[lists[p].points[k]];
        memcpy(weights + first[p], lists[p].weights, (size_t)lists[p].count * sizeof(float));
    }

    /* edge lengths of the body at each drawn point */
    for (int p = 0; p < m->point_count; p++) {
        for (int k = 0; k < lists[p].count; k++) lengths[p] += lists[p].weights[k] * body_length(w, lists[p].points[k]);
    }

    /* places on the body at rest */
    b->bare = bare;
    b->anchor_first = first;
    b->anchors = anchors;
    b->anchor_weights = weights;
    b->lengths = lengths;
    result = find_places(w, b, memory, error);
    if (result) return result;

    /* linear skinning of both meshes */
    result = skinning_build_points(&b->drawn_skinning, w->def->character, w->scratch, memory, error);
    if (result) return result;
    return skinning_build_points(&b->body_skinning, b->character, w->scratch, memory, error);
}

/* ---- build ---- */

/* Pieces of flesh that pass through each other become one. */
static cutis_result unite_flesh(work *w, cutis_error *error)
{
    const base_piece **pieces = ARENA_ARRAY(w->scratch, const base_piece *, w->flesh_count);
    base_piece *all = ARENA_ARRAY(w->scratch, base_piece, 1);
    surface *shape = ARENA_ARRAY(w->scratch, surface, 1);
    if (w->scratch->failed) return error_memory(error, "a simulation body");

    /* only where pieces cross */
    for (int i = 0; i < w->flesh_count; i++) pieces[i] = w->flesh[i].piece;
    bool needed;
    cutis_result result = union_needed(pieces, w->flesh_count, w->scratch, &needed, error);
    if (result || !needed) return result;

    /* cells: fine enough for fingers, as far as memory and time allow */
    vec3 low = pieces[0]->low, high = pieces[0]->high;
    for (int i = 1; i < w->flesh_count; i++) {
        low = vec3_min(low, pieces[i]->low);
        high = vec3_max(high, pieces[i]->high);
    }

    /* no more than UNION_CELLS cells in all */
    vec3 extent = vec3_sub(high, low);
    float room = extent.x * extent.y * extent.z;
    float spacing = MAX(UNION_SPACING * LATTICE, (float)det_pow((double)room / UNION_CELLS + 1e-30, 1.0 / 3));

    /* one piece, whose shape is the surface of the union */
    result = union_pieces(pieces, w->flesh_count, w->scratch, all, error);
    if (!result) result = union_surface(pieces, w->flesh_count, spacing, w->def->jobs, w->scratch, shape, error);
    if (result) return result;

    w->flesh_count = 1;
    w->flesh[0] = (flesh){.piece = all, .shape = shape};
    for (int i = 0; i < w->base.piece_count; i++)
        if (w->piece_flesh[i] >= 0) w->piece_flesh[i] = 0;
    return CUTIS_OK;
}

/* Rest positions in whole cells of the lattice. */
static cutis_result to_lattice(work *w, cutis_error *error)
{
    const mesh *m = w->def->mesh;
    float *positions = ARENA_ARRAY(w->scratch, float, 3 * (size_t)m->point_count);
    if (!positions) return error_memory(error, "a simulation body");

    /* a size of few digits, so that rounding does not change it either */
    int exponent;
    float digits = frexpf(w->def->character->size > 0 ? w->def->character->size : 1, &exponent);
    w->cell = ldexpf(rintf(SIZE_STEPS * digits) / (SIZE_STEPS * LATTICE), exponent);

    /* whole cells */
    for (int i = 0; i < 3 * m->point_count; i++) positions[i] = rintf(m->positions[i] / w->cell);

    w->mesh = *m;
    w->mesh.positions = positions;
    return CUTIS_OK;
}

/* Pieces of the mesh without its cracks, on the lattice, and their roles. sheets: as for base_build. */
static cutis_result find_pieces(work *w, const mesh *closed, const int *sheets, cutis_error *error)
{
    cutis_result result = base_build(closed, sheets, w->scratch, &w->base, error);
    if (result) return result;
    w->roles = ARENA_ARRAY(w->scratch, part_role, w->base.piece_count);
    if (!w->roles) return error_memory(error, "a simulation body");
    result = parts_find(w->def->character, &w->base, LATTICE, w->scratch, w->roles, error);

    /* points at the root of a sheet are flesh */
    int *owners = w->base.point_pieces;
    for (int i = 0; !result && i < w->base.piece_count; i++) {
        const base_piece *p = &w->base.pieces[i];
        for (int h = 0; w->roles[i] == PART_FLESH && h < 3 * p->drawn_triangle_count; h++) {
            int point = p->corner_sources[h];
            const base_piece *owner = owners[point] >= 0 ? &w->base.pieces[owners[point]] : NULL;
            bool part = !owner || owner->cut || owner->welded;
            if (part && (!owner || w->roles[owners[point]] == PART_CARRIED)) owners[point] = i;
        }
    }

    return result;
}

static cutis_result find_flesh(work *w, sim_body *b, cutis_error *error)
{
    mesh closed = w->def->cracks->closed;
    w->joined = w->def->cracks->joined;
    cutis_result result = to_lattice(w, error);
    if (result) return result;

    /* pieces; sheets of flesh are pieces of their own */
    closed.positions = w->mesh.positions;
    int sheet_count = 0;
    int *sheets = ARENA_ARRAY(w->scratch, int, closed.triangle_count);
    if (!sheets) return error_memory(error, "a simulation body");
    result = find_pieces(w, &closed, NULL, error);
    if (!result)
        result = sheets_find(&w->base, w->roles, closed.triangle_count, LATTICE, w->def->jobs, w->scratch, sheets,
                             &sheet_count, error);
    if (!result && sheet_count > 0) result = find_pieces(w, &closed, sheets, error);
    if (result) return result;

    /* both sides of a crack belong to the same piece */
    for (int p = 0; w->joined && p < closed.point_count; p++)
        w->base.point_pieces[p] = w->base.point_pieces[w->joined[p]];

    /* room for one entry a piece */
    w->flesh = ARENA_ARRAY(w->scratch, flesh, w->base.piece_count);
    w->piece_flesh = ARENA_ARRAY(w->scratch, int, w->base.piece_count);
    if (w->scratch->failed) return error_memory(error, "a simulation body");

    /* flesh, rigid and carried pieces */
    for (int i = 0; i < w->base.piece_count; i++) {
        w->piece_flesh[i] = w->roles[i] == PART_FLESH ? w->flesh_count : -1;
        if (w->roles[i] == PART_FLESH) {
            w->flesh[w->flesh_count].shape = &w->base.pieces[i].surface;
            w->flesh[w->flesh_count++].piece = &w->base.pieces[i];
        }
        b->rigid_count += w->roles[i] == PART_RIGID;
        b->carried_count += w->roles[i] == PART_CARRIED;
    }

    b->flesh_count = w->flesh_count;
    return w->flesh_count > 1 ? unite_flesh(w, error) : CUTIS_OK;
}

cutis_result body_build(const body_def *def, arena *memory, sim_body *result_body, cutis_error *error)
{
    *result_body = (sim_body){.example_carried = -1};
    arena scratch = arena_create(&memory->allocator);

    work w = {.def = def, .scratch = &scratch};
    int budget = def->point_budget;
    cutis_result result = find_flesh(&w, result_body, error);

    /* the drawn mesh itself where it is fit, else a surface made from it */
    float **thickness = ARENA_ARRAY(&scratch, float *, MAX(w.flesh_count, 1));
    if (!result && !thickness) result = error_memory(error, "a simulation body");
    if (!result && w.flesh_count > 0) {
        bool own = false;
        result = sample_flesh(&w, thickness, error);
        if (!result) result = is_own_body(&w, thickness[0], budget, &own, error);
        if (!result && !own) {
            result = remesh_flesh(&w, thickness, budget, error);
            if (!result) result = grow_flesh(&w, error);
            if (!result) result = make_character(&w, result_body, memory, error);
            if (!result) result = embed(&w, result_body, memory, error);
        }
    }

    arena_destroy(&scratch);
    if (result) body_release(result_body);
    return result;
}

void body_release(sim_body *b)
{
    cutis_character_destroy(b->character);
    b->character = NULL;
}
