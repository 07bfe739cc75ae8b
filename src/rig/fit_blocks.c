/*
 * fit_blocks.c: people put together from boxes.
 *
 * The limbs of figures of boxes or bricks are loose pieces that lie side by side: arms on the trunk, one leg on the
 * other. One solid of them all has no limbs, but the pieces tell: two twins that stand on the ground, a trunk upon
 * them, a head upon the trunk, and two twins beside it. Each limb turns where its box begins.
 */
#include <stdlib.h>
#include <string.h>

#include "rig/fit.h"
#include "rig/skeleton_template.h"

enum { BLOCKS_MIN = 6, BLOCKS_MAX = 32, TRIANGLES_MAX = 8192, NONE = -1 };
/* Least surface of a block, of the whole; smaller pieces (buttons, eyes) are none. */
static const float BLOCK_AREA = 0.005f;
/* Least volume of a block in that of the box around it, and of all blocks in that of all pieces. */
static const float FULL = 0.8f, ALL_FULL = 0.8f;
/* A block inside another one that is so many times larger belongs to it: a head in a hat. */
static const float WITHIN = 1.15f;
/* Sizes of twins differ by less. */
static const float TWINS = 0.12f;
/* Places that meet are nearer than this, of the height. */
static const float MEET = 0.08f;
/* The score of such a person. */
static const float SCORE = 0.9f;

typedef struct block {
    float volume;     /* that it encloses */
    float largest[2]; /* areas of the triangles that tell the first two axes */
    vec3 axes[3];     /* unit, along the edges of the box around it */
    vec3 middle;
    float half[3];
    float bottom, top; /* heights */
    int within;        /* a block that it is inside of, NONE */
} block;

/* What a person of boxes is made of. */
typedef struct block_person {
    int trunk, head, arms[2], legs[2];
    float volume;
} block_person;

typedef struct blocks {
    int count;
    int roots[BLOCKS_MAX]; /* triangle of the forest that stands for each */
    block blocks[BLOCKS_MAX];
    vec3 up;
    float ground, height;
} blocks;

/* ---- pieces ---- */

/* A side of a triangle; a < b. */
typedef struct edge_side {
    int a, b;
    int triangle;
    bool along; /* the triangle runs from a to b */
    float angle;
} edge_side;

static int side_compare(const void *one, const void *two)
{
    const edge_side *s = one, *t = two;
    if (s->a != t->a) return s->a < t->a ? -1 : 1;
    if (s->b != t->b) return s->b < t->b ? -1 : 1;
    return s->triangle < t->triangle ? -1 : s->triangle > t->triangle;
}

/* The angle of each of the triangles at one edge, about that edge. */
static void sides_turn(const float *positions, const int *triangles, edge_side *sides, int count)
{
    vec3 a = vec3_load(positions + 3 * (size_t)sides->a);
    vec3 along = vec3_normalize(vec3_sub(vec3_load(positions + 3 * (size_t)sides->b), a));
    vec3 x = vec3_orthogonal(along), y = vec3_cross(along, x);
    for (int i = 0; i < count; i++) {
        const int *corners = triangles + 3 * (size_t)sides[i].triangle;
        int third = corners[0] + corners[1] + corners[2] - sides[i].a - sides[i].b;
        vec3 out = vec3_sub(vec3_load(positions + 3 * (size_t)third), a);
        sides[i].angle = (float)det_atan2((double)vec3_dot(out, y), (double)vec3_dot(out, x));
    }
}

/*
 * Join triangles to pieces over their edges. Boxes that touch share points and edges: there a triangle goes on in the
 * one that bounds the same flesh, which lies to the right of those that run along the edge, and to the left of others.
 * sides: (3 x triangle_count), roots: (triangle_count).
 */
static void pieces_join(const float *positions, int triangle_count, const int *triangles, edge_side *sides, int *roots)
{
    for (int i = 0; i < 3 * triangle_count; i++) {
        int a = triangles[i], b = triangles[i % 3 == 2 ? i - 2 : i + 1];
        sides[i] = (edge_side){MIN(a, b), MAX(a, b), i / 3, a < b, 0};
    }
    qsort(sides, 3 * (size_t)triangle_count, sizeof *sides, side_compare);
    for (int t = 0; t < triangle_count; t++) roots[t] = t;

    for (int i = 0, count; i < 3 * triangle_count; i += count) {
        count = 1;
        while (i + count < 3 * triangle_count && sides[i + count].a == sides[i].a && sides[i + count].b == sides[i].b)
            count++;
        if (count == 2) forest_join(roots, sides[i].triangle, sides[i + 1].triangle);
        if (count <= 2) continue;

        /* the nearest one on the side of the flesh; one at the same place, back to back, is the farthest */
        sides_turn(positions, triangles, sides + i, count);
        for (int k = i; k < i + count; k++) {
            int best = NONE;
            float nearest = INFINITY;
            for (int n = i; n < i + count; n++) {
                if (!sides[k].along || sides[n].along) continue;
                float turn = sides[k].angle - sides[n].angle;
                if (turn < 1e-3f) turn += 6.2831853f;
                if (turn >= nearest) continue;
                nearest = turn;
                best = n;
            }
            if (best != NONE) forest_join(roots, sides[k].triangle, sides[best].triangle);
        }
    }
}

/* ---- the blocks ---- */

static vec3 triangle_normal(const float *positions, const int *corners)
{
    vec3 a = vec3_load(positions + 3 * (size_t)corners[0]);
    vec3 b = vec3_load(positions + 3 * (size_t)corners[1]);
    vec3 c = vec3_load(positions + 3 * (size_t)corners[2]);
    return vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
}

static int block_of(const blocks *found, int root)
{
    for (int i = 0; i < found->count; i++)
        if (found->roots[i] == root) return i;
    return NONE;
}

/* The axes of each block: the normal of its largest triangle, of the largest one across, and across both. */
static void axes_find(blocks *found, int *roots, const float *positions, int triangle_count, const int *triangles)
{
    for (int axis = 0; axis < 2; axis++)
        for (int t = 0; t < triangle_count; t++) {
            const int *corners = triangles + 3 * (size_t)t;
            int i = block_of(found, forest_root(roots, t));
            if (i == NONE) continue;
            block *b = &found->blocks[i];
            vec3 normal = triangle_normal(positions, corners);
            float area = vec3_length(normal);
            if (axis == 1) normal = vec3_madd(normal, b->axes[0], -vec3_dot(normal, b->axes[0]));
            if (!(area > b->largest[axis]) || vec3_length(normal) < 0.9f * area) continue;
            b->largest[axis] = area;
            b->axes[axis] = vec3_normalize(normal);
        }
    for (int i = 0; i < found->count; i++)
        found->blocks[i].axes[2] = vec3_cross(found->blocks[i].axes[0], found->blocks[i].axes[1]);
}

/* The box around each block along its axes, and its volume. */
static void boxes_find(blocks *found, int *roots, const float *positions, int triangle_count, const int *triangles)
{
    float low[BLOCKS_MAX][3], high[BLOCKS_MAX][3];
    for (int i = 0; i < found->count; i++)
        for (int k = 0; k < 3; k++) {
            low[i][k] = INFINITY;
            high[i][k] = -INFINITY;
        }

    /* extents, and the volume as cones from the origin */
    for (int t = 0; t < triangle_count; t++) {
        const int *corners = triangles + 3 * (size_t)t;
        int i = block_of(found, forest_root(roots, t));
        if (i == NONE) continue;
        block *b = &found->blocks[i];
        b->volume += vec3_dot(triangle_normal(positions, corners), vec3_load(positions + 3 * (size_t)corners[0])) / 6;
        for (int n = 0; n < 3; n++)
            for (int k = 0; k < 3; k++) {
                float along = vec3_dot(b->axes[k], vec3_load(positions + 3 * (size_t)corners[n]));
                low[i][k] = MIN(low[i][k], along);
                high[i][k] = MAX(high[i][k], along);
            }
    }

    /* middle, half sides and heights */
    found->ground = INFINITY;
    float highest = -INFINITY;
    for (int i = 0; i < found->count; i++) {
        block *b = &found->blocks[i];
        float rise = 0;
        b->volume = fabsf(b->volume);
        b->middle = vec3_make(0, 0, 0);
        for (int k = 0; k < 3; k++) {
            b->half[k] = 0.5f * (high[i][k] - low[i][k]);
            b->middle = vec3_madd(b->middle, b->axes[k], 0.5f * (high[i][k] + low[i][k]));
            rise += b->half[k] * fabsf(vec3_dot(b->axes[k], found->up));
        }
        b->bottom = vec3_dot(b->middle, found->up) - rise;
        b->top = vec3_dot(b->middle, found->up) + rise;
        found->ground = MIN(found->ground, b->bottom);
        highest = MAX(highest, b->top);
    }
    found->height = highest - found->ground;
}

static float box_volume(const block *b) { return 8 * b->half[0] * b->half[1] * b->half[2]; }

/* Whether the corners of one box are inside of another, WITHIN times as large. */
static bool box_within(const block *inner, const block *outer)
{
    for (int i = 0; i < 8; i++) {
        vec3 corner = inner->middle;
        for (int k = 0; k < 3; k++)
            corner = vec3_madd(corner, inner->axes[k], i >> k & 1 ? inner->half[k] : -inner->half[k]);
        for (int k = 0; k < 3; k++)
            if (fabsf(vec3_dot(vec3_sub(corner, outer->middle), outer->axes[k])) > WITHIN * outer->half[k])
                return false;
    }
    return true;
}

/* The large pieces of a surface. False where they are too few, too many or no boxes. */
static bool blocks_find(vec3 up, const float *positions, int triangle_count, const int *triangles, int *roots,
                        float *areas, blocks *found)
{
    float all = 0;
    memset(areas, 0, (size_t)triangle_count * sizeof *areas);
    for (int t = 0; t < triangle_count; t++) {
        float area = 0.5f * vec3_length(triangle_normal(positions, triangles + 3 * (size_t)t));
        areas[forest_root(roots, t)] += area;
        all += area;
    }

    *found = (blocks){.up = up};
    for (int i = 0; i < triangle_count; i++) {
        if (areas[i] < BLOCK_AREA * all || !(areas[i] > 0)) continue;
        if (found->count == BLOCKS_MAX) return false;
        found->blocks[found->count].within = NONE;
        found->roots[found->count++] = i;
    }
    if (found->count < BLOCKS_MIN) return false;
    axes_find(found, roots, positions, triangle_count, triangles);
    boxes_find(found, roots, positions, triangle_count, triangles);

    /* most of the body is boxes; what is in another box counts with that */
    float full = 0, sum = 0;
    for (int i = 0; i < found->count; i++) {
        const block *b = &found->blocks[i];
        sum += b->volume;
        if (b->volume > FULL * box_volume(b)) full += b->volume;
        for (int k = 0; k < found->count; k++)
            if (k != i && box_volume(&found->blocks[k]) > box_volume(b) && box_within(b, &found->blocks[k]))
                found->blocks[i].within = k;
    }
    return full > ALL_FULL * sum;
}

/* ---- the person ---- */

/* Its longest edge, or the upright one where none is much longer. */
static vec3 block_along(const block *b, vec3 up)
{
    int best = 0;
    for (int k = 1; k < 3; k++) {
        float now = b->half[k] * (1 + 0.3f * fabsf(vec3_dot(b->axes[k], up)));
        if (now > b->half[best] * (1 + 0.3f * fabsf(vec3_dot(b->axes[best], up)))) best = k;
    }
    return vec3_scale(b->axes[best], b->half[best]);
}

/* Whether two boxes have the same edges, and one height. */
static bool blocks_twins(const blocks *found, int i, int k)
{
    const block *a = &found->blocks[i], *b = &found->blocks[k];
    if (fabsf(a->bottom - b->bottom) > MEET * found->height || fabsf(a->top - b->top) > MEET * found->height)
        return false;

    /* volume, longest and shortest edge */
    float edges[2][2];
    for (int n = 0; n < 2; n++) {
        const float *half = n ? b->half : a->half;
        edges[n][0] = MIN(half[0], MIN(half[1], half[2]));
        edges[n][1] = MAX(half[0], MAX(half[1], half[2]));
    }
    return fabsf(box_volume(a) / box_volume(b) - 1) < 2 * TWINS && fabsf(edges[0][0] / edges[1][0] - 1) < TWINS &&
           fabsf(edges[0][1] / edges[1][1] - 1) < TWINS;
}

/* From the second to the first twin, level and unit. */
static vec3 twins_across(const blocks *found, const int twins[2])
{
    vec3 way = vec3_sub(found->blocks[twins[0]].middle, found->blocks[twins[1]].middle);
    return vec3_normalize(vec3_madd(way, found->up, -vec3_dot(way, found->up)));
}

/* The block that stands on a height in the plane between twins: the largest. */
static int block_upon(const blocks *found, float height, vec3 across, vec3 middle, const bool *used)
{
    int best = NONE;
    for (int i = 0; i < found->count; i++) {
        const block *b = &found->blocks[i];
        if (used[i] || b->within != NONE || fabsf(b->bottom - height) > MEET * found->height) continue;
        vec3 off = vec3_sub(b->middle, middle);
        off = vec3_madd(off, found->up, -vec3_dot(off, found->up));
        if (fabsf(vec3_dot(off, across)) > 0.5f * MEET * found->height || vec3_length(off) > 2 * MEET * found->height)
            continue;
        if (best == NONE || box_volume(b) > box_volume(&found->blocks[best])) best = i;
    }
    return best;
}

/* How far a block reaches from its middle along a direction. */
static float block_reach(const block *b, vec3 way)
{
    float reach = 0;
    for (int k = 0; k < 3; k++) reach += b->half[k] * fabsf(vec3_dot(b->axes[k], way));
    return reach;
}

/* Twins beside a trunk, with an end at the height of its upper half. */
static bool arms_find(const blocks *found, const bool *used, vec3 across, block_person *p)
{
    const block *trunk = &found->blocks[p->trunk];
    float best = 0;
    for (int i = 0; i < found->count; i++)
        for (int k = 0; k < found->count; k++) {
            if (i == k || used[i] || used[k] || found->blocks[i].within != NONE || found->blocks[k].within != NONE)
                continue;
            const block *a = &found->blocks[i], *b = &found->blocks[k];
            if (!blocks_twins(found, i, k) || vec3_dot(twins_across(found, (int[2]){i, k}), across) < 0.95f) continue;

            /* one on either side, against the trunk, below its top and not below its half */
            float side_a = vec3_dot(vec3_sub(a->middle, trunk->middle), across);
            float side_b = vec3_dot(vec3_sub(b->middle, trunk->middle), across);
            float edge = block_reach(trunk, across);
            bool beside = side_a > 0.8f * edge && side_b < -0.8f * edge &&
                          side_a - block_reach(a, across) < edge + MEET * found->height;
            bool high = a->top < trunk->top + 2 * MEET * found->height && a->top > 0.5f * (trunk->top + trunk->bottom);
            float volume = a->volume + b->volume;
            if (!beside || !high || volume <= best) continue;
            best = volume;
            p->arms[0] = i;
            p->arms[1] = k;
        }
    return best > 0;
}

/* The largest person that the blocks make. */
static bool person_find(const blocks *found, block_person *best)
{
    best->volume = 0;
    for (int i = 0; i < found->count; i++)
        for (int k = 0; k < i; k++) {
            /* twins on the ground */
            const block *a = &found->blocks[i], *b = &found->blocks[k];
            if (a->within != NONE || b->within != NONE || a->bottom > found->ground + MEET * found->height ||
                !blocks_twins(found, i, k))
                continue;

            /* a trunk upon them, a head upon that, twins beside */
            bool used[BLOCKS_MAX] = {false};
            block_person p = {.legs = {i, k}};
            vec3 across = twins_across(found, p.legs), middle = vec3_lerp(a->middle, b->middle, 0.5f);
            used[i] = used[k] = true;
            p.trunk = block_upon(found, 0.5f * (a->top + b->top), across, middle, used);
            if (p.trunk == NONE) continue;
            used[p.trunk] = true;
            p.head = block_upon(found, found->blocks[p.trunk].top, across, middle, used);
            if (p.head == NONE) continue;
            used[p.head] = true;
            if (!arms_find(found, used, across, &p)) continue;

            const int parts[6] = {p.trunk, p.head, p.arms[0], p.arms[1], i, k};
            for (int n = 0; n < 6; n++) p.volume += found->blocks[parts[n]].volume;
            if (p.volume > best->volume) *best = p;
        }
    return best->volume > 0;
}

/* Where a person of boxes looks: to the side where noses, feet and toes are, else ahead. */
static vec3 person_ahead(const blocks *found, const block_person *p, vec3 across, vec3 ahead)
{
    vec3 forward = vec3_cross(across, found->up);
    float sum = 0, whole = 0;
    for (int i = 0; i < found->count; i++) {
        const block *b = &found->blocks[i];
        bool own = i == p->trunk || i == p->head || b->within != NONE;
        for (int k = 0; k < 2; k++) own = own || i == p->arms[k] || i == p->legs[k];
        whole += b->volume;
        if (!own) sum += b->volume * vec3_dot(vec3_sub(b->middle, found->blocks[p->trunk].middle), forward);
    }
    bool back = fabsf(sum) > 1e-3f * whole * found->height ? sum < 0 : vec3_dot(forward, ahead) < 0;
    return back ? vec3_scale(forward, -1) : forward;
}

/* Root and far end of a limb: the ends of its box, the root where it is nearer to a place. */
static void limb_ends(const blocks *found, int which, vec3 near, vec3 *root, vec3 *end)
{
    const block *b = &found->blocks[which];
    vec3 along = block_along(b, found->up);
    *root = vec3_add(b->middle, along);
    *end = vec3_sub(b->middle, along);
    if (vec3_distance(*root, near) <= vec3_distance(*end, near)) return;
    vec3 other = *root;
    *root = *end;
    *end = other;
}

/* The skeleton: limbs turn where their boxes begin. */
static void person_place(const blocks *found, const block_person *p, vec3 forward, skeleton *s)
{
    const block *trunk = &found->blocks[p->trunk], *head = &found->blocks[p->head];
    vec3 up = found->up, left = vec3_cross(up, forward);
    float rise = vec3_dot(trunk->middle, up);
    vec3 pelvis = vec3_madd(trunk->middle, up, trunk->bottom - rise);
    vec3 neck = vec3_madd(trunk->middle, up, trunk->top - rise);

    s->count = 0;
    int hips = skeleton_add(s, "hips", -1, vec3_lerp(pelvis, neck, 0.02f));
    int spine = skeleton_add(s, "spine", hips, vec3_lerp(pelvis, neck, 0.22f));
    int chest = skeleton_add(s, "chest", spine, vec3_lerp(pelvis, neck, 0.52f));
    int j = skeleton_add(s, "neck", chest, neck);
    skeleton_add(s, "head", j, vec3_lerp(neck, head->middle, 0.3f));

    for (int n = 0; n < 2; n++) {
        char letter = n ? 'r' : 'l';
        vec3 root, end, high = vec3_lerp(pelvis, neck, 0.9f);
        vec3 side = vec3_scale(left, n ? -1 : 1);

        /* an arm turns as deep below the top of its box as that is wide */
        int arm = p->arms[vec3_dot(vec3_sub(found->blocks[p->arms[0]].middle, trunk->middle), side) > 0 ? 0 : 1];
        limb_ends(found, arm, high, &root, &end);
        float wide = block_reach(&found->blocks[arm], side);
        root = vec3_lerp(root, end, MIN(wide / vec3_distance(root, end), 0.2f));
        j = skeleton_add_side(s, "shoulder", letter, chest, vec3_lerp(high, root, 0.3f));
        j = skeleton_add_side(s, "upper_arm", letter, j, root);
        j = skeleton_add_side(s, "forearm", letter, j, vec3_lerp(root, end, 0.36f));
        skeleton_add_side(s, "hand", letter, j, vec3_lerp(root, end, 0.72f));

        /* a leg below the trunk */
        int leg = p->legs[vec3_dot(vec3_sub(found->blocks[p->legs[0]].middle, trunk->middle), side) > 0 ? 0 : 1];
        limb_ends(found, leg, pelvis, &root, &end);
        float deep = block_reach(&found->blocks[leg], forward);
        j = skeleton_add_side(s, "thigh", letter, hips, root);
        j = skeleton_add_side(s, "shin", letter, j, vec3_lerp(root, end, 0.47f));
        j = skeleton_add_side(s, "foot", letter, j, vec3_lerp(root, end, 0.92f));
        skeleton_add_side(s, "toe", letter, j, vec3_madd(vec3_lerp(root, end, 0.97f), forward, 0.6f * deep));
    }
}

bool fit_blocks(const float *positions, int triangle_count, const int *triangles, bool y_up, arena *memory, fit *made)
{
    if (triangle_count > TRIANGLES_MAX) return false;
    int *roots = ARENA_ARRAY(memory, int, triangle_count);
    float *areas = ARENA_ARRAY(memory, float, triangle_count);
    edge_side *sides = ARENA_ARRAY(memory, edge_side, 3 * (size_t)triangle_count);
    blocks *found = ARENA_ARRAY(memory, blocks, 1);
    if (memory->failed) return false;
    pieces_join(positions, triangle_count, triangles, sides, roots);

    /* +Y up, or +Z where the file does not say */
    for (int axis = 0; axis < (y_up ? 1 : 2); axis++) {
        vec3 up = axis ? vec3_make(0, 0, 1) : vec3_make(0, 1, 0);
        block_person person;
        if (!blocks_find(up, positions, triangle_count, triangles, roots, areas, found)) return false;
        if (!person_find(found, &person)) continue;

        vec3 across = twins_across(found, person.arms);
        vec3 forward = person_ahead(found, &person, across, axis ? vec3_make(0, -1, 0) : vec3_make(0, 0, 1));
        *made = (fit){.name = "biped", .kind = "biped", .score = SCORE, .up = up, .forward = forward};
        made->skeleton.name = "biped";
        person_place(found, &person, forward, &made->skeleton);
        return true;
    }
    return false;
}
