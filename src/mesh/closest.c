/*
 * closest.c: nearest points of triangles and segments.
 *
 * Both work in double, where the products of float differences are exact or nearly so, and both accept
 * degenerate input: a triangle of no area is taken as its edges, a segment of no length as a point.
 */
#include "mesh/mesh.h"

static inline double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void difference3(double d[3], vec3 a, vec3 b)
{
    d[0] = (double)a.x - b.x;
    d[1] = (double)a.y - b.y;
    d[2] = (double)a.z - b.z;
}

/* Parameter in 0..1 of the nearest point of a segment: along = offset . edge, length2 = edge . edge. */
static inline double edge_parameter(double along, double length2)
{
    return along <= 0 || length2 <= 0 ? 0 : along >= length2 ? 1 : along / length2;
}

vec3 triangle_closest(vec3 p, vec3 a, vec3 b, vec3 c, float weights[3])
{
    double ab[3], ac[3], ap[3];
    difference3(ab, b, a);
    difference3(ac, c, a);
    difference3(ap, p, a);

    /* Barycentric weights of the projection onto the plane, times the squared double area. */
    double d00 = dot3(ab, ab), d01 = dot3(ab, ac), d11 = dot3(ac, ac), d20 = dot3(ap, ab), d21 = dot3(ap, ac);
    double area2 = d00 * d11 - d01 * d01;
    double v = d11 * d20 - d01 * d21, w = d00 * d21 - d01 * d20;
    if (area2 > 1e-14 * d00 * d11 && v >= 0 && w >= 0 && v + w <= area2) {
        v /= area2;
        w /= area2;
    } else {
        /* Outside, or of no area: the nearest of the three edges. Offsets are in the basis ab, ac. */
        double best = INFINITY, best_v = 0, best_w = 0;
        double t_ab = edge_parameter(d20, d00);
        double t_ac = edge_parameter(d21, d11);
        double t_bc = edge_parameter((d21 - d20) + (d00 - d01), d00 - 2 * d01 + d11);
        double tries[3][2] = {{t_ab, 0}, {0, t_ac}, {1 - t_bc, t_bc}};

        for (int i = 0; i < 3; i++) {
            double e[3];
            for (int k = 0; k < 3; k++) e[k] = ap[k] - (tries[i][0] * ab[k] + tries[i][1] * ac[k]);
            double distance2 = dot3(e, e);
            if (distance2 < best) {
                best = distance2;
                best_v = tries[i][0];
                best_w = tries[i][1];
            }
        }

        v = best_v;
        w = best_w;
    }

    /* weights of the corners */
    if (weights) {
        weights[0] = (float)MAX(1 - v - w, 0);
        weights[1] = (float)v;
        weights[2] = (float)w;
    }

    return (vec3){(float)(a.x + v * ab[0] + w * ac[0]), (float)(a.y + v * ab[1] + w * ac[1]),
                  (float)(a.z + v * ab[2] + w * ac[2])};
}

float segment_closest(vec3 p0, vec3 p1, vec3 q0, vec3 q1, float *s, float *t)
{
    double d1[3], d2[3], r[3];
    difference3(d1, p1, p0);
    difference3(d2, q1, q0);
    difference3(r, p0, q0);
    double a = dot3(d1, d1), e = dot3(d2, d2), f = dot3(d2, r), c = dot3(d1, r), b = dot3(d1, d2);

    /* Nearest on the first line to the second (0 when parallel), then clamp each in turn. */
    double denominator = a * e - b * b;
    double along1 = denominator > 1e-14 * a * e ? edge_parameter(b * f - c * e, denominator) : 0;
    double along2 = edge_parameter(b * along1 + f, e);
    along1 = edge_parameter(b * along2 - c, a);

    /* distance of the two places */
    double distance2 = 0;
    for (int k = 0; k < 3; k++) {
        double x = r[k] + along1 * d1[k] - along2 * d2[k];
        distance2 += x * x;
    }

    if (s) *s = (float)along1;
    if (t) *t = (float)along2;
    return (float)distance2;
}
