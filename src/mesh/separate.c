/*
 * separate.c: the axis along which two triangles are furthest apart, or overlap least.
 *
 * Two triangles are apart when they are along one of the normals of their planes, of their edges in their planes, or
 * of two edges: the theorem of separating axes, Gottschalk, Lin, Manocha 1996.
 */
#include "mesh/mesh.h"

/* Normals of both planes, of three edges in each, and of all pairs of edges. */
enum { FACE_AXES = 4, AXES = FACE_AXES + 3 + 3 + 9 };

float triangle_lowest(vec3 axis, const vec3 p[3])
{
    return MIN(MIN(vec3_dot(axis, p[0]), vec3_dot(axis, p[1])), vec3_dot(axis, p[2]));
}

float triangle_highest(vec3 axis, const vec3 p[3]) { return -triangle_lowest(vec3_scale(axis, -1), p); }

float triangles_axis(const vec3 a[3], const vec3 b[3], vec3 *axis)
{
    vec3 axes[AXES], sides[2][3];

    for (int i = 0; i < 3; i++) {
        sides[0][i] = vec3_sub(a[(i + 1) % 3], a[i]);
        sides[1][i] = vec3_sub(b[(i + 1) % 3], b[i]);
    }
    vec3 normals[2] = {vec3_cross(sides[0][0], sides[0][1]), vec3_cross(sides[1][0], sides[1][1])};

    /* First the way out of both, which wins a tie: flesh lies behind skin, and coincident sheets face each other. */
    int count = 0;
    axes[count++] = vec3_scale(normals[0], -1);
    axes[count++] = normals[1];
    axes[count++] = normals[0];
    axes[count++] = vec3_scale(normals[1], -1);
    for (int i = 0; i < 3; i++) {
        for (int side = 0; side < 2; side++) axes[count++] = vec3_cross(normals[side], sides[side][i]);
        for (int j = 0; j < 3; j++) axes[count++] = vec3_cross(sides[0][i], sides[1][j]);
    }
    float best = -1e30f;

    /* the axis of least penetration */
    for (int i = 0; i < count; i++) {
        float length = vec3_length(axes[i]);
        if (!(length > 1e-18f)) continue;
        vec3 unit = vec3_scale(axes[i], 1 / length);

        float front = triangle_lowest(unit, a) - triangle_highest(unit, b),
              back = triangle_lowest(unit, b) - triangle_highest(unit, a);
        if (front > best) {
            best = front;
            *axis = unit;
        }
        if (i >= FACE_AXES && back > best) {
            best = back;
            *axis = vec3_scale(unit, -1);
        }
    }
    return best;
}
