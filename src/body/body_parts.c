/*
 * body_parts.c: sorts the pieces of a character into flesh, rigid and carried ones.
 *
 * A guess may be wrong without doing harm: what is not flesh is shown by the file's own skinning, moved along with the
 * flesh around it. So the rules are few and geometric.
 */
#include "body/body_parts.h"

#include <stdlib.h>
#include <string.h>

/* A piece is rigid when one joint has at least this weight in all of its points. */
static const float RIGID_WEIGHT = 0.99f;
/* A piece whose holes need caps of more than this part of its own area is a sheet: a cape, a skirt, a strip of hair. */
static const double SHEET_CAPS = 0.35;
/* A piece whose volume over its area and the size is less than this is a sheet: half of a thousandth is its thickness.
 */
static const double SHEET_THICKNESS = 0.001;
/* A piece with less than this part of all area is not worth simulating: a button, an eyelash. */
static const double SMALL_AREA = 0.002;
/* Nearer than this, over the size, is on the surface: wide enough for a coat, narrower than a finger is long. */
static const float NEAR_SHARE = 0.015f;
/* Share of a piece's points that must lie on or in another to be carried by it. */
static const double CARRIED_SHARE = 0.6;
/* A piece inside another that has at least this part of its area is the body, and the other is its clothing. */
static const double BODY_SHARE = 0.5;

typedef struct candidate {
    int piece;
    double area;
    bvh tree;
} candidate;

/* Largest first; equal ones by number. */
static int candidate_compare(const void *a, const void *b)
{
    const candidate *p = a, *q = b;
    if (p->area != q->area) return p->area > q->area ? -1 : 1;
    return p->piece - q->piece;
}

static bool is_rigid(const cutis_character *c, const base_piece *p)
{
    int joint = -2;
    for (int i = 0; i < p->surface.point_count; i++) {
        if (p->sources[i] < 0) continue;
        int vertex = c->point_vertices[p->sources[i]];
        int own = -1;
        for (int k = c->influence_first ? c->influence_first[vertex] : 0;
             c->influence_first && k < c->influence_first[vertex + 1]; k++) {
            if (c->influence_weights[k] >= RIGID_WEIGHT) own = c->influence_joints[k];
        }
        bool skinned = c->influence_first && c->influence_first[vertex + 1] > c->influence_first[vertex];
        if (skinned && own < 0) return false;
        if (joint == -2) joint = own;
        if (own != joint) return false;
    }
    return true;
}

/* Inside by most of three rays, so that one that runs along an edge does not decide. */
static bool is_inside(const base_piece *b, const bvh *tree, vec3 x)
{
    /* askew, so that rays seldom meet edges of models that are made along the axes */
    static const float ways[3][3] = {{1, 0.0113f, 0.0271f}, {0.0191f, 1, 0.0137f}, {0.0173f, 0.0229f, 1}};
    if (x.x < b->low.x || x.y < b->low.y || x.z < b->low.z || x.x > b->high.x || x.y > b->high.y || x.z > b->high.z)
        return false;
    int votes = 0;
    for (int i = 0; i < 3; i++) votes += bvh_ray_winding(tree, b->surface.positions, x, vec3_load(ways[i]), -1) != 0;
    return votes >= 2;
}

/* Points of a on or in b, and in b, both as shares. */
static void nest(const base_piece *a, const base_piece *b, const bvh *tree, float near, double *on, double *in)
{
    int on_count = 0, in_count = 0, count = 0;
    for (int i = 0; i < a->surface.point_count; i++) {
        if (a->sources[i] < 0) continue;
        vec3 x = vec3_load(a->surface.positions + 3 * (size_t)i);
        bool inside = is_inside(b, tree, x);
        on_count += inside || bvh_closest(tree, b->surface.positions, x, near).triangle >= 0;
        in_count += inside;
        count++;
    }
    *on = (double)on_count / MAX(count, 1);
    *in = (double)in_count / MAX(count, 1);
}

static bool apart(const base_piece *a, const base_piece *b, float near)
{
    return a->low.x > b->high.x + near || a->low.y > b->high.y + near || a->low.z > b->high.z + near ||
           b->low.x > a->high.x + near || b->low.y > a->high.y + near || b->low.z > a->high.z + near;
}

/* Of pieces that may be flesh, from the largest down: those that lie on or in larger ones are carried. */
static cutis_result find_carried(const base *b, candidate *list, int count, float near, part_role *roles,
                                 arena *scratch, cutis_error *error)
{
    for (int i = 0; i < count; i++) {
        const base_piece *own = &b->pieces[list[i].piece];
        for (int k = 0; k < i && roles[list[i].piece] == PART_FLESH; k++) {
            const base_piece *other = &b->pieces[list[k].piece];
            if (roles[list[k].piece] != PART_FLESH || apart(own, other, near)) continue;
            double on, in;
            nest(own, other, &list[k].tree, near, &on, &in);
            if (on < CARRIED_SHARE) continue;
            bool inner = in > 0.5 && own->area >= BODY_SHARE * other->area;
            roles[inner ? list[k].piece : list[i].piece] = PART_CARRIED;
        }
        if (roles[list[i].piece] != PART_FLESH) continue;
        cutis_result result = bvh_build(&list[i].tree, own->surface.triangle_count, own->surface.triangles,
                                        own->surface.positions, scratch, error);
        if (result) return result;
    }
    return CUTIS_OK;
}

cutis_result parts_find(const cutis_character *character, const mesh *m, const base *b, arena *memory, part_role *roles,
                        cutis_error *error)
{
    (void)m;
    arena scratch = arena_create(&memory->allocator);
    candidate *list = ARENA_ARRAY(&scratch, candidate, b->piece_count);
    cutis_result result = list ? CUTIS_OK : error_memory(error, "a simulation body");
    double total = 0;
    for (int i = 0; i < b->piece_count; i++) total += b->pieces[i].area;
    int count = 0;
    for (int i = 0; !result && i < b->piece_count; i++) {
        const base_piece *p = &b->pieces[i];
        bool sheet =
            p->cap_area > SHEET_CAPS * p->area || p->volume < SHEET_THICKNESS * p->area * (double)character->size;
        bool small = p->area < SMALL_AREA * total;
        roles[i] = b->piece_count > 1 && is_rigid(character, p) ? PART_RIGID
                   : sheet || small                             ? PART_CARRIED
                                                                : PART_FLESH;
        if (roles[i] == PART_FLESH) list[count++] = (candidate){.piece = i, .area = p->area};
    }
    if (!result) {
        qsort(list, (size_t)count, sizeof *list, candidate_compare);
        result = find_carried(b, list, count, NEAR_SHARE * character->size, roles, &scratch, error);
    }
    arena_destroy(&scratch);
    return result;
}
