/*
 * picture_mesh.c: smooth normals for drawing.
 *
 * A corner's normal is the sum, weighted by angle, of the triangles around its point that join it smoothly.
 * Which do is decided once, at rest: faces that meet at less than the crease angle, compared triangle by
 * triangle. So a box keeps its edges, and a fold that opens or closes in motion never switches its shading.
 */
#include "picture.h"

#include <stdlib.h>

struct picture_smooth {
    const int *triangles;
    int triangle_count;
    int *first;     /* (triangle_count x 3 + 1) */
    int *joined;    /* corners that add to each corner */
    float *weighed; /* (triangle_count x 3 x 3) scratch: triangle normal x angle at the corner */
};

void picture_smooth_destroy(picture_smooth *smooth)
{
    if (!smooth) return;
    free(smooth->first);
    free(smooth->joined);
    free(smooth->weighed);
    free(smooth);
}

static pvec triangle_normal(const float *positions, const int *t)
{
    pvec a = pvec_load(positions + (size_t)t[0] * 3), b = pvec_load(positions + (size_t)t[1] * 3);
    return pvec_unit(pvec_cross(pvec_sub(b, a), pvec_sub(pvec_load(positions + (size_t)t[2] * 3), a)));
}

picture_smooth *picture_smooth_create(const float *rest, const int *triangles, int triangle_count, const int *points,
                                      int point_count, float crease_degrees)
{
    size_t corner_count = (size_t)triangle_count * 3;
    picture_smooth *smooth = calloc(1, sizeof *smooth);
    int *start = calloc((size_t)point_count + 2, sizeof *start);
    int *around = malloc((corner_count + 1) * sizeof *around);
    pvec *normals = malloc((size_t)(triangle_count + 1) * sizeof *normals);
    if (!smooth || !start || !around || !normals) goto failed;

    smooth->triangles = triangles;
    smooth->triangle_count = triangle_count;
    smooth->first = malloc((corner_count + 1) * sizeof *smooth->first);
    smooth->weighed = malloc((corner_count + 1) * 3 * sizeof *smooth->weighed);
    if (!smooth->first || !smooth->weighed) goto failed;

    /* Corners around each point. */
    for (size_t c = 0; c < corner_count; c++) start[points[triangles[c]] + 2]++;
    for (int p = 0; p < point_count; p++) start[p + 2] += start[p + 1];
    for (size_t c = 0; c < corner_count; c++) around[start[points[triangles[c]] + 1]++] = (int)c;
    for (int t = 0; t < triangle_count; t++) normals[t] = triangle_normal(rest, triangles + (size_t)t * 3);

    /* Count, then fill: a corner always joins itself, and joins triangles of no area. */
    float limit = cosf(crease_degrees * 3.14159265f / 180);
    for (int pass = 0; pass < 2; pass++) {
        int count = 0;
        for (size_t c = 0; c < corner_count; c++) {
            int p = points[triangles[c]];
            smooth->first[c] = count;
            for (int i = start[p]; i < start[p + 1]; i++) {
                int other = around[i];
                pvec a = normals[c / 3], b = normals[other / 3];
                bool joins =
                    (size_t)other == c || pvec_dot(a, b) >= limit || pvec_dot(a, a) == 0 || pvec_dot(b, b) == 0;

                if (!joins) continue;
                if (pass == 1) smooth->joined[count] = other;
                count++;
            }
        }

        smooth->first[corner_count] = count;
        if (pass == 0 && !(smooth->joined = malloc(((size_t)count + 1) * sizeof *smooth->joined))) goto failed;
    }

    free(start);
    free(around);
    free(normals);
    return smooth;

failed:
    free(start);
    free(around);
    free(normals);
    picture_smooth_destroy(smooth);
    return NULL;
}

void picture_smooth_normals(const picture_smooth *smooth, const float *positions, float *corner_normals)
{
    /* normals weighed by the angle at each corner */
    for (int t = 0; t < smooth->triangle_count; t++) {
        const int *v = smooth->triangles + (size_t)t * 3;
        pvec n = triangle_normal(positions, v), p[3];
        for (int k = 0; k < 3; k++) p[k] = pvec_load(positions + (size_t)v[k] * 3);

        /* angles at the corners */
        for (int k = 0; k < 3; k++) {
            pvec a = pvec_unit(pvec_sub(p[(k + 1) % 3], p[k])), b = pvec_unit(pvec_sub(p[(k + 2) % 3], p[k]));
            float angle = acosf(fmaxf(-1, fminf(1, pvec_dot(a, b))));
            float *w = smooth->weighed + ((size_t)t * 3 + (size_t)k) * 3;
            w[0] = n.x * angle;
            w[1] = n.y * angle;
            w[2] = n.z * angle;
        }
    }

    /* their sum over the corners that it is smooth with */
    for (size_t c = 0; c < (size_t)smooth->triangle_count * 3; c++) {
        pvec sum = {0, 0, 0};
        for (int i = smooth->first[c]; i < smooth->first[c + 1]; i++)
            sum = pvec_add(sum, pvec_load(smooth->weighed + (size_t)smooth->joined[i] * 3));

        sum = pvec_unit(sum);
        float *n = corner_normals + c * 3;
        n[0] = sum.x;
        n[1] = sum.y;
        n[2] = sum.z;
    }
}

float *picture_smooth_once(const picture_mesh *mesh)
{
    int *points = malloc(((size_t)mesh->vertex_count + 1) * sizeof *points);
    float *normals = malloc(((size_t)mesh->triangle_count + 1) * 9 * sizeof *normals);

    /* every vertex is a point of its own */
    for (int i = 0; points && i < mesh->vertex_count; i++) points[i] = i;

    /* smooth below 40 degrees */
    picture_smooth *smooth = points && normals
                                 ? picture_smooth_create(mesh->positions, mesh->triangles, mesh->triangle_count, points,
                                                         mesh->vertex_count, 40)
                                 : NULL;
    if (smooth) picture_smooth_normals(smooth, mesh->positions, normals);

    if (!smooth) {
        free(normals);
        normals = NULL;
    }

    picture_smooth_destroy(smooth);
    free(points);
    return normals;
}
