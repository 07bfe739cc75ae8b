/*
 * contact_release.c: skin at which contact rests, see contact_release.h (after Baraff, Witkin, Kass 2003, who let go
 * what is pinched between bodies).
 *
 * Pairs with a released point on each side are left out by the search, so only triangles with released points can
 * cross. A solver may release all points of crossing triangles (springs), or leave a release as wide as it is (layers).
 */
#include "contact/contact_release.h"

#include <string.h>

void contact_release_spread(const contact_release *r, int *queue, int count, float *left)
{
    const mesh *skin = r->skin;

    /* along the edges; a point that is reached by a shorter way later on is not visited again */
    for (int head = 0; head < count; head++) {
        int p = queue[head];
        r->released[p] = 1;
        for (int i = skin->point_neighbour_first[p]; i < skin->point_neighbour_first[p + 1]; i++) {
            int q = skin->point_neighbours[i];
            float rest = left[p] - vec3_distance(vec3_load(r->rest + 3 * p), vec3_load(r->rest + 3 * q));
            if (!(rest > left[q])) continue;
            if (left[q] < 0 && rest >= 0) queue[count++] = q;
            left[q] = rest;
        }
    }
}

bool contact_release_has(const contact_release *r, const int *corners)
{
    const float *released = r->released;
    return released[corners[0]] > 0 || released[corners[1]] > 0 || released[corners[2]] > 0;
}

typedef struct crossing_search {
    const contact_release *release;
    bool whole;
} crossing_search;

static void triangles_visit(void *context, int a, int b)
{
    const crossing_search *search = context;
    const contact_release *r = search->release;
    const int *first = r->skin->triangles + 3 * (size_t)a, *second = r->skin->triangles + 3 * (size_t)b;
    if (!search->whole && (!contact_release_has(r, first) || !contact_release_has(r, second))) return;
    if (triangles_share_point(first, second)) return;

    /* those that cross at rest have contact of their own */
    if (r->surface->tangle[first[0]] >= 0 && r->surface->tangle[second[0]] >= 0) return;
    if (mesh_triangles_relate(first, second, r->positions) != TRIANGLES_CROSS) return;

    for (int k = 0; k < 3; k++) {
        r->marks[first[k]] = 1;
        r->marks[second[k]] = 1;
    }
}

void contact_release_mark(const contact_release *r, const bvh *tree, bool whole)
{
    crossing_search search = {r, whole};
    memset(r->marks, 0, (size_t)r->skin->point_count);
    bvh_self_pairs(tree, triangles_visit, &search);
}

bool contact_release_inside(const contact_release *r, const bvh *tree, int point)
{
    const mesh *skin = r->skin;
    if (skin->point_triangle_first[point] == skin->point_triangle_first[point + 1]) return false;

    /* the middle of a triangle there, and its normal */
    int triangle = skin->point_triangles[skin->point_triangle_first[point]];
    const int *corner = skin->triangles + 3 * (size_t)triangle;
    vec3 a = vec3_load(r->positions + 3 * corner[0]);
    vec3 b = vec3_load(r->positions + 3 * corner[1]);
    vec3 c = vec3_load(r->positions + 3 * corner[2]);
    vec3 normal = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
    vec3 middle = vec3_scale(vec3_add(vec3_add(a, b), c), 1.0f / 3);
    if (!(vec3_length2(normal) > 0)) return false;

    /* how often the rest of the surface is wound around it */
    return bvh_ray_winding(tree, r->positions, middle, vec3_normalize(normal), triangle) >= 1;
}
