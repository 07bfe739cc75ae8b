/* normals.c: smooth normals of a character in any shape. */
#include "character/normals.h"

#include <string.h>

#include "math/math3.h"

void character_normals(const cutis_character *c, const float *positions, float *points, float *normals)
{
    memset(points, 0, (size_t)c->point_count * 3 * sizeof *points);
    for (int t = 0; t < c->point_triangle_count; t++) {
        const int *p = c->point_triangles + 3 * (size_t)t;
        vec3 x[3];
        for (int k = 0; k < 3; k++) x[k] = vec3_load(positions + 3 * (size_t)c->point_vertices[p[k]]);
        float scale = 1 / c->size; /* keeps squares of tiny units from vanishing */
        vec3 n = vec3_cross(vec3_scale(vec3_sub(x[1], x[0]), scale), vec3_scale(vec3_sub(x[2], x[0]), scale));
        for (int k = 0; k < 3; k++)
            vec3_store(points + 3 * (size_t)p[k], vec3_add(vec3_load(points + 3 * (size_t)p[k]), n));
    }
    for (int v = 0; v < c->vertex_count; v++)
        vec3_store(normals + 3 * (size_t)v,
                   vec3_normalize(vec3_scale(vec3_load(points + 3 * (size_t)c->vertex_points[v]), 1e6f)));
}
