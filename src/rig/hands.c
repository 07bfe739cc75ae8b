/*
 * hands.c: the fingers of a body whose arms are known: each hand is cut out of the mesh, whatever other parts the body
 * has; of the far ends of the piece, five beyond the wrist are fingers.
 */
#include "rig/hands.h"

/* Lengths in forearms. A hand is three quarters of one (Winter 2009, figure 4.1: 0.108 and 0.146 of the height). */
static const float CUT_BEHIND = 0.5f; /* of the wrist: what is left of the forearm says where the hand ends */
static const float REACH = 1.15f;     /* of fingers from the wrist, which may be off by a third of a hand */
static const float MIN_FINGER = 0.2f; /* of a finger's tip beyond the wrist */
static const float MIN_REACH = 0.04f; /* by which a finger stands out: a fifth of what is seen of a thumb */

enum { MIN_POINTS = 60, MAX_PIECES = 3 };

typedef struct hand_cut {
    const mesh *m;
    vec3 elbow, wrist;
    int *label;  /* (point_count) piece of each point, -1 outside the cut */
    int *number; /* (point_count) of the point in its piece */
    int pieces;
    int sizes[MAX_PIECES], labels[MAX_PIECES]; /* the largest ones, by falling size */
} hand_cut;

/* Label what hangs together around the hand; keep the largest pieces. */
static void pieces_find(hand_cut *c, int *stack)
{
    const mesh *m = c->m;
    vec3 arm = vec3_sub(c->wrist, c->elbow);
    float length = vec3_length(arm);
    vec3 along = vec3_scale(arm, 1 / length);

    /* points around the hand */
    for (int i = 0; i < m->point_count; i++) {
        vec3 from = vec3_sub(vec3_load(m->positions + 3 * (size_t)i), c->wrist);
        bool in = vec3_dot(from, along) > -CUT_BEHIND * length && vec3_length(from) < REACH * length;
        c->label[i] = in ? -2 : -1;
    }

    /* flood over edges */
    int label = 0;
    for (int seed = 0; seed < m->point_count; seed++) {
        int top = 0, size = 0;
        if (c->label[seed] != -2) continue;
        stack[top++] = seed;
        c->label[seed] = label;
        while (top > 0) {
            int i = stack[--top];
            size++;
            for (int k = m->point_neighbour_first[i]; k < m->point_neighbour_first[i + 1]; k++) {
                int other = m->point_neighbours[k];
                if (c->label[other] != -2) continue;
                c->label[other] = label;
                stack[top++] = other;
            }
        }

        /* an insertion among the largest */
        int at = c->pieces < MAX_PIECES ? c->pieces++ : MAX_PIECES;
        for (; at > 0 && c->sizes[at - 1] < size; at--)
            if (at < MAX_PIECES) {
                c->sizes[at] = c->sizes[at - 1];
                c->labels[at] = c->labels[at - 1];
            }
        if (at < MAX_PIECES) {
            c->sizes[at] = size;
            c->labels[at] = label;
        }
        label++;
    }
}

/* One piece as a mesh of its own. */
static cutis_result piece_mesh(hand_cut *c, int label, int size, arena *memory, mesh *piece, float *extent,
                               cutis_error *error)
{
    const mesh *m = c->m;
    float *positions = ARENA_ARRAY(memory, float, 3 * (size_t)size);
    int *triangles = ARENA_ARRAY(memory, int, 3 * (size_t)m->triangle_count);
    if (memory->failed) return error_memory(error, "a hand");

    int count = 0, triangle_count = 0;
    vec3 low = {INFINITY, INFINITY, INFINITY}, high = vec3_scale(low, -1);
    for (int i = 0; i < m->point_count; i++) {
        if (c->label[i] != label) continue;
        vec3 p = vec3_load(m->positions + 3 * (size_t)i);
        vec3_store(positions + 3 * (size_t)count, p);
        low = (vec3){MIN(low.x, p.x), MIN(low.y, p.y), MIN(low.z, p.z)};
        high = (vec3){MAX(high.x, p.x), MAX(high.y, p.y), MAX(high.z, p.z)};
        c->number[i] = count++;
    }

    for (int t = 0; t < m->triangle_count; t++) {
        const int *corners = m->triangles + 3 * (size_t)t;
        if (c->label[corners[0]] != label || c->label[corners[1]] != label || c->label[corners[2]] != label) continue;
        for (int k = 0; k < 3; k++) triangles[3 * (size_t)triangle_count + k] = c->number[corners[k]];
        triangle_count++;
    }

    *extent = vec3_distance(low, high);
    return mesh_build(piece, count, positions, triangle_count, triangles, memory, error);
}

bool fingers_in_a_row(const skeleton *s)
{
    static const char *const ROOTS[4] = {"index_1", "middle_1", "ring_1", "pinky_1"};
    vec3 roots[4];
    for (int k = 0; k < 4; k++) {
        int joint = skeleton_find(s, ROOTS[k]);
        if (joint < 0) return false;
        roots[k] = s->joints[joint].position;
    }

    /* those between, along the line and off it, over its length */
    vec3 line = vec3_sub(roots[3], roots[0]);
    float length2 = vec3_length2(line), along[2];
    for (int k = 0; k < 2; k++) {
        vec3 way = vec3_sub(roots[k + 1], roots[0]);
        along[k] = vec3_dot(way, line) / length2;
        if (!(vec3_length2(vec3_madd(way, line, -along[k])) < 0.4f * 0.4f * length2)) return false;
    }
    return along[0] > 0.1f && along[1] > along[0] && along[1] < 0.9f;
}

/* The five far ends beyond the wrist that stand out most, of a piece. */
static finger_set fingers_choose(const hand_cut *c, const posture *piece)
{
    finger_set set = {0};
    vec3 arm = vec3_sub(c->wrist, c->elbow);
    const limbs *f = piece->f;
    for (int i = 0; i < f->count && set.count < 5; i++) { /* by falling reach */
        float beyond = vec3_dot(vec3_sub(posture_tip(piece, i), c->wrist), arm) / vec3_length2(arm);
        if (beyond > MIN_FINGER && f->all[i].reach > MIN_REACH * vec3_length(arm)) set.limbs[set.count++] = i;
    }
    return set.count == 5 ? set : (finger_set){0};
}

/* A hand with five fingers in one of the pieces; count 0 where none is one. */
static cutis_result hand_fit(hand_cut *c, const cutis_allocator *allocator, skeleton *hand, cutis_error *error)
{
    static const limb_poses none = {0};
    cutis_result result = CUTIS_OK;
    hand->count = 0;
    for (int k = 0; k < c->pieces && hand->count == 0 && result == CUTIS_OK; k++) {
        if (c->sizes[k] < MIN_POINTS) break;
        arena memory = arena_create(allocator);
        mesh piece;
        limbs found;
        float extent = 0;

        /* its far ends, point by point */
        result = piece_mesh(c, c->labels[k], c->sizes[k], &memory, &piece, &extent, error);
        if (result == CUTIS_OK) result = limbs_find(&piece, extent, true, NULL, &memory, &found, error);
        if (result == CUTIS_OK) result = limbs_ring(&piece, extent, &none, NULL, &memory, &found, error);

        /* five of them in a row are fingers */
        if (result == CUTIS_OK) {
            posture b = {.m = &piece, .f = &found};
            finger_set set = fingers_choose(c, &b);
            if (set.count) {
                fingers_order(&b, &set, c->wrist);
                fingers_add(&b, &set, skeleton_add(hand, "hand", -1, c->wrist), 0, hand);
                if (!fingers_in_a_row(hand)) hand->count = 0;
            }
        }
        arena_destroy(&memory);
    }
    return result;
}

cutis_result hands_add(const mesh *m, const cutis_allocator *allocator, skeleton *s, cutis_error *error)
{
    arena memory = arena_create(allocator);
    int *label = ARENA_ARRAY(&memory, int, m->point_count);
    int *number = ARENA_ARRAY(&memory, int, m->point_count);
    skeleton *hand = ARENA_ARRAY(&memory, skeleton, 1);
    cutis_result result = memory.failed ? error_memory(error, "a rig") : CUTIS_OK;

    for (int side = 0; side < 2 && result == CUTIS_OK; side++) {
        int forearm = skeleton_find(s, side ? "forearm_r" : "forearm_l");
        int wrist = skeleton_find(s, side ? "hand_r" : "hand_l");
        if (forearm < 0 || wrist < 0) continue;

        /* the hand in a mesh of its own */
        hand_cut cut = {m, s->joints[forearm].position, s->joints[wrist].position, label, number, 0, {0}, {0}};
        if (!(vec3_distance(cut.elbow, cut.wrist) > 0)) continue;
        pieces_find(&cut, number);
        result = hand_fit(&cut, allocator, hand, error);

        /* its fingers, below the wrist of the arm */
        int added[SKELETON_MAX];
        added[0] = wrist;
        for (int j = 1; j < hand->count; j++) {
            const skeleton_joint *joint = &hand->joints[j];
            added[j] = skeleton_add_side(s, joint->name, side ? 'r' : 'l', added[joint->parent], joint->position);
        }
    }

    arena_destroy(&memory);
    return result;
}
