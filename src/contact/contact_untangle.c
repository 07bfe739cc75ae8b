/*
 * contact_untangle.c: takes small intersections out of a rest shape.
 *
 * Toes, lips and mirrored halves are often modelled a little inside each other, or exactly in touch. Contact has no
 * side to keep such triangles on, and while the skin bends ever more of them cross: two mirrored sheets that cross
 * along their plane of symmetry have half as many pairs there as anywhere else, where their edges no longer meet. So
 * before anything is built on the shape, they are parted as far as that takes next to no motion.
 *
 * Along the axis on which two triangles overlap least (triangles_axis), points of both are taken back to where there is
 * a gap: Gauss-Seidel, in passes over all pairs. Groups of triangles that cross even then, or that would have to go too
 * far, stay as they were modelled.
 */
#include <string.h>

#include "contact/contact.h"

/* Small overlaps are gone after two or three passes; what takes more is not small. */
enum { PASSES = 12 };
/* The gap grows with each pass, so that triangles do not push each other to and fro. */
static const float GAP_GROWTH = 1.1f;

typedef struct untangler {
    const mesh *m;
    const contact_untangle_options *options;
    float *x;
    int *groups; /* (point_count) by union-find: points that cross or touch each other; -1: none */
    float gap;
    bool check; /* nothing is moved */
    int crossing, touching;
    uint8_t *failed; /* (point_count) at the roots of groups */
} untangler;

static void groups_join(int *groups, const int *corners, int *root)
{
    for (int c = 0; c < 3; c++) {
        int p = corners[c];
        if (groups[p] < 0) groups[p] = p;
        p = forest_root(groups, p);
        if (*root < 0) *root = p;
        groups[MAX(p, *root)] = MIN(p, *root);
        *root = MIN(p, *root);
    }
}

/* Corners of a triangle to no lower than `level` along the axis. */
static void corners_raise(untangler *u, const int *corners, const vec3 p[3], vec3 axis, float level)
{
    for (int c = 0; c < 3; c++) {
        float rise = level - vec3_dot(axis, p[c]);
        if (!(rise > 0) || (u->options->fixed && u->options->fixed[corners[c]])) continue;
        vec3_store(u->x + 3 * corners[c], vec3_madd(p[c], axis, rise));
    }
}

static bool corners_fixed(const untangler *u, const int *corners)
{
    const uint8_t *fixed = u->options->fixed;
    return fixed && (fixed[corners[0]] || fixed[corners[1]] || fixed[corners[2]]);
}

/* Two triangles without a common point: if they cross or touch, to the gap. */
static void triangles_part(void *context, int first, int second)
{
    untangler *u = context;
    const int *corners_a = u->m->triangles + 3 * first, *corners_b = u->m->triangles + 3 * second;
    if (triangles_share_point(corners_a, corners_b)) return;

    vec3 a[3], b[3], axis = {0, 0, 0};
    for (int c = 0; c < 3; c++) a[c] = vec3_load(u->x + 3 * corners_a[c]), b[c] = vec3_load(u->x + 3 * corners_b[c]);

    /* close or crossing */
    float apart = triangles_axis(a, b, &axis);
    if (apart > u->options->touch) return;
    bool cross = mesh_triangles_relate(corners_a, corners_b, u->x) == TRIANGLES_CROSS;

    /* one group with all that hang together */
    int root = -1;
    groups_join(u->groups, corners_a, &root);
    groups_join(u->groups, corners_b, &root);
    u->crossing += cross;
    u->touching += !cross;

    if (u->check) {
        if (cross) u->failed[root] = 1;
        return;
    }

    /* Both by half of it; but where one holds points that stay, the other by all. */
    float below = triangle_highest(axis, b), above = triangle_lowest(axis, a), middle = 0.5f * (below + above);
    bool a_fixed = corners_fixed(u, corners_a), b_fixed = corners_fixed(u, corners_b);
    if (a_fixed && !b_fixed) middle = above - 0.5f * u->gap;
    if (b_fixed && !a_fixed) middle = below + 0.5f * u->gap;
    corners_raise(u, corners_a, a, axis, middle + 0.5f * u->gap);
    corners_raise(u, corners_b, b, vec3_scale(axis, -1), 0.5f * u->gap - middle);
}

static void pass_run(untangler *u, bvh *tree)
{
    bvh_refit(tree, u->x, u->options->touch);
    u->crossing = u->touching = 0;
    bvh_self_pairs(tree, triangles_part, u);
}

cutis_result contact_untangle(const mesh *m, const contact_untangle_options *options, const cutis_allocator *allocator,
                              float *positions, uint8_t *parted, contact_untangle_stats *stats, cutis_error *error)
{
    *stats = (contact_untangle_stats){0};
    memset(parted, 0, (size_t)m->point_count);
    if (m->triangle_count == 0) return CUTIS_OK;
    arena scratch = arena_create(allocator);

    size_t n = (size_t)m->point_count;
    untangler u = {.m = m, .options = options, .gap = options->gap};
    u.x = arena_copy(&scratch, positions, 3 * n, sizeof(float));
    u.groups = ARENA_ARRAY(&scratch, int, n);
    u.failed = ARENA_ARRAY(&scratch, uint8_t, n);

    bvh tree;
    cutis_result result = scratch.failed ? error_memory(error, "the rest shape") : CUTIS_OK;
    if (result == CUTIS_OK) result = bvh_build(&tree, m->triangle_count, m->triangles, positions, &scratch, error);
    if (result != CUTIS_OK) {
        arena_destroy(&scratch);
        return result;
    }
    memset(u.failed, 0, n);
    for (int p = 0; p < m->point_count; p++) u.groups[p] = -1;

    /* push apart, with a wider gap each pass */
    for (int pass = 0; pass < PASSES; pass++) {
        pass_run(&u, &tree);
        if (u.crossing + u.touching == 0) break;
        u.gap *= GAP_GROWTH;
    }

    /* what still crosses */
    u.check = true;
    if (u.crossing + u.touching > 0) pass_run(&u, &tree);

    /* What is free of crossings now, and has not gone too far, stays there. */
    for (int p = 0; p < m->point_count; p++) {
        float moved = vec3_distance(vec3_load(u.x + 3 * p), vec3_load(positions + 3 * p));

        if (u.groups[p] >= 0 && !(moved <= options->limit)) u.failed[forest_root(u.groups, p)] = 1;
    }

    for (int p = 0; p < m->point_count; p++) {
        if (u.groups[p] < 0) continue;
        if (u.failed[forest_root(u.groups, p)]) {
            stats->left++;
            continue;
        }

        float moved = vec3_distance(vec3_load(u.x + 3 * p), vec3_load(positions + 3 * p));
        parted[p] = 1;
        stats->moved += moved > 0;
        stats->distance = MAX(stats->distance, moved);
        memcpy(positions + 3 * p, u.x + 3 * p, 3 * sizeof(float));
    }

    arena_destroy(&scratch);
    return CUTIS_OK;
}
