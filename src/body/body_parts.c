/*
 * body_parts.c: sorts the pieces of a character into flesh, rigid and carried ones.
 *
 * A guess may be wrong without doing harm: what is not flesh is shown by the file's own skinning, moved along with the
 * flesh around it. So the rules are few and geometric.
 */
#include "body/body_parts.h"

#include <stdlib.h>
#include <string.h>

#include "character/skinning.h"

/* A piece is rigid when one joint, or joints that move as one, have at least this weight in all of its points. */
static const float RIGID_WEIGHT = 0.99f;
/* Joints move as one when no corner of the character's box tells them apart by more than this, over the size. */
static const float TOGETHER = 1e-3f;
/* Poses in which that is looked at: of a clip, and of all. */
enum { CLIP_POSES = 24, POSE_LIMIT = 400 };
/* Share of the joints that the clips must bend for them to tell which never do. */
static const double BENT_SHARE = 0.3;
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

/* ---- joints that move as one ---- */

/* How far two joints move a corner of the character's box, at most, apart. */
static float joints_apart(const cutis_character *c, const float *a, const float *b)
{
    float most = 0;
    for (int corner = 0; corner < 8; corner++) {
        vec3 x = vec3_make(corner & 1 ? c->bounds_max[0] : c->bounds_min[0],
                           corner & 2 ? c->bounds_max[1] : c->bounds_min[1],
                           corner & 4 ? c->bounds_max[2] : c->bounds_min[2]);
        most = MAX(most, vec3_distance(mat34_point(a, x), mat34_point(b, x)));
    }
    return most;
}

/* Whether two joints move alike in all poses: (pose_count x joint_count x 12). */
static bool joints_together(const cutis_character *c, const float *poses, int pose_count, int a, int b)
{
    for (int i = 0; i < pose_count; i++) {
        const float *skin = poses + (size_t)i * 12 * (size_t)c->joint_count;
        if (!(joints_apart(c, skin + 12 * (size_t)a, skin + 12 * (size_t)b) <= TOGETHER * c->size)) return false;
    }
    return true;
}

/*
 * The first joint with which each moves as one over all clips; itself when there is none. Clips that bend few joints
 * say nothing about the others: other motions may follow.
 */
static cutis_result group_joints(const cutis_character *c, arena *scratch, int *groups, cutis_error *error)
{
    for (int j = 0; j < c->joint_count; j++) groups[j] = j;
    int samples = c->clip_count > 0 ? CLAMP(POSE_LIMIT / c->clip_count, 1, CLIP_POSES) : 0;
    int pose_count = MIN(c->clip_count * samples, POSE_LIMIT);

    /* poses */
    float *joints = ARENA_ARRAY(scratch, float, 12 * (size_t)c->joint_count);
    float *poses = ARENA_ARRAY(scratch, float, 12 * (size_t)c->joint_count * (size_t)pose_count);
    if (scratch->failed) return error_memory(error, "a simulation body");
    if (pose_count == 0 || c->joint_count == 0) return CUTIS_OK;

    /* poses spread over all clips */
    for (int i = 0; i < pose_count; i++) {
        const cutis_clip *clip = &c->clips[i / samples];
        double share = samples > 1 ? (double)(i % samples) / (samples - 1) : 0.5;
        cutis_pose_sample(c, i / samples, (double)clip->start + share * (double)(clip->end - clip->start), joints);
        skin_matrices(c, joints, poses + (size_t)i * 12 * (size_t)c->joint_count);
    }

    /* groups, and how many joints bend */
    int bent = 0;
    for (int j = 0; j < c->joint_count; j++) {
        for (int k = 0; k < j && groups[j] == j; k++)
            if (groups[k] == k && joints_together(c, poses, pose_count, j, k)) groups[j] = k;

        int parent = c->joints[j].parent;
        bent += parent >= 0 && groups[parent] != groups[j];
    }

    /* too few bend for the clips to tell */
    if (bent < BENT_SHARE * c->joint_count)
        for (int j = 0; j < c->joint_count; j++) groups[j] = j;
    return CUTIS_OK;
}

/* The group that moves a vertex alone; -1: more than one, -2: none. */
static int vertex_group(const cutis_character *c, const int *groups, int vertex)
{
    int first = c->influence_first ? c->influence_first[vertex] : 0;
    int end = c->influence_first ? c->influence_first[vertex + 1] : 0;
    if (first == end) return -2;
    int heaviest = first;
    for (int k = first; k < end; k++)
        if (c->influence_weights[k] > c->influence_weights[heaviest]) heaviest = k;
    int group = groups[c->influence_joints[heaviest]];
    float sum = 0;
    for (int k = first; k < end; k++)
        if (groups[c->influence_joints[k]] == group) sum += c->influence_weights[k];
    return sum >= RIGID_WEIGHT ? group : -1;
}

static bool is_rigid(const cutis_character *c, const int *groups, const base_piece *p)
{
    int common = -3;
    for (int i = 0; i < p->surface.point_count; i++) {
        if (p->sources[i] < 0) continue;
        int group = vertex_group(c, groups, c->point_vertices[p->sources[i]]);
        if (common == -3) common = group;
        if (group == -1 || group != common) return false;
    }
    return true;
}

/* ---- what lies on what ---- */

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

        /* on or in a larger piece that is flesh itself */
        for (int k = 0; k < i && roles[list[i].piece] == PART_FLESH; k++) {
            const base_piece *other = &b->pieces[list[k].piece];
            if (roles[list[k].piece] != PART_FLESH || apart(own, other, near)) continue;
            double on, in;
            nest(own, other, &list[k].tree, near, &on, &in);
            if (on < CARRIED_SHARE) continue;
            bool inner = in > 0.5 && own->area >= BODY_SHARE * other->area;
            roles[inner ? list[k].piece : list[i].piece] = PART_CARRIED;
        }

        /* what stays flesh gets a tree for the smaller ones */
        if (roles[list[i].piece] != PART_FLESH) continue;
        cutis_result result = bvh_build(&list[i].tree, own->surface.triangle_count, own->surface.triangles,
                                        own->surface.positions, scratch, error);
        if (result) return result;
    }

    return CUTIS_OK;
}

cutis_result parts_find(const cutis_character *character, const base *b, float size, arena *memory, part_role *roles,
                        cutis_error *error)
{
    arena scratch = arena_create(&memory->allocator);

    candidate *list = ARENA_ARRAY(&scratch, candidate, b->piece_count);
    int *groups = ARENA_ARRAY(&scratch, int, MAX(character->joint_count, 1));
    cutis_result result = scratch.failed ? error_memory(error, "a simulation body") : CUTIS_OK;
    if (!result && b->piece_count > 1) result = group_joints(character, &scratch, groups, error);

    /* rigid pieces, sheets and small things; all else may be flesh */
    double total = 0;
    for (int i = 0; i < b->piece_count; i++) total += b->pieces[i].area;
    int count = 0;
    for (int i = 0; !result && i < b->piece_count; i++) {
        const base_piece *p = &b->pieces[i];
        bool sheet = p->cap_area > SHEET_CAPS * p->area || p->volume < SHEET_THICKNESS * p->area * (double)size;
        bool small = p->area < SMALL_AREA * total;
        bool part = p->cut || (sheet && p->welded); /* of flesh, and moves with it */
        bool rigid = b->piece_count > 1 && !part && is_rigid(character, groups, p);
        roles[i] = rigid ? PART_RIGID : sheet || small || p->sheet ? PART_CARRIED : PART_FLESH;
        if (roles[i] == PART_FLESH) list[count++] = (candidate){.piece = i, .area = p->area};
    }

    /* flesh that lies on or in larger flesh is carried */
    if (!result) {
        qsort(list, (size_t)count, sizeof *list, candidate_compare);
        result = find_carried(b, list, count, NEAR_SHARE * size, roles, &scratch, error);
    }

    arena_destroy(&scratch);
    return result;
}
