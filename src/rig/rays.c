/* rays.c: the paper's test of both directions at one vertex, with its hits, for pictures and questions. */
#include <math.h>

#include "cutis/rig.h"
#include "rig/quads.h"
#include "rig/ray_test.h"

static cutis_result rays_shoot_at(const cutis_character *character, int vertex, arena *memory, cutis_rig_rays *rays,
                                  cutis_error *error)
{
    mesh m;
    quads q = {0};
    cutis_result result = mesh_build_character(&m, character, memory, error);
    if (result == CUTIS_OK) result = quads_build(&q, character, memory, error);
    if (result != CUTIS_OK) return result;
    int p = character->vertex_points[vertex];
    if (q.valence[p] != 4)
        return error_set(error, CUTIS_ERROR_DATA,
                         "vertex %d is not where four quads meet: the test of its directions needs two curves", vertex);
    const float *x = m.positions;
    int first = q.spokes[p], second = quad_turn(&q, first);
    vec3 at = vec3_load(x + 3 * (size_t)p);
    vec3 a = vec3_sub(vec3_load(x + 3 * (size_t)quad_end(&q, first)), at);
    vec3 b = vec3_sub(vec3_load(x + 3 * (size_t)quad_end(&q, second)), at);
    /* As in rings.c: into the facet between the edges, or the other way on a surface that is turned inside out. */
    for (int side = 0; side < 2; side++) {
        vec3 inward = side ? vec3_cross(a, b) : vec3_cross(b, a);
        rays->spreads[0] = section_test(&m, p, inward, a, &rays->hits[0][0][0]);
        rays->spreads[1] = section_test(&m, p, inward, b, &rays->hits[1][0][0]);
        if (rays->spreads[0] < INFINITY || rays->spreads[1] < INFINITY) break;
    }
    return CUTIS_OK;
}

cutis_result cutis_rig_shoot_rays(const cutis_character *character, int vertex, const cutis_allocator *allocator,
                                  cutis_rig_rays *rays, cutis_error *error)
{
    *rays = (cutis_rig_rays){.spreads = {INFINITY, INFINITY}};
    if (vertex < 0 || vertex >= character->vertex_count)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no vertex %d: '%s' has %d, numbered from 0", vertex,
                         character->name, character->vertex_count);
    arena memory = arena_create(allocator);
    cutis_result result = rays_shoot_at(character, vertex, &memory, rays, error);
    arena_destroy(&memory);
    return result;
}
