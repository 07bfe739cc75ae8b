/*
 * predicates.h: signs of determinants that are right for every input.
 */
#ifndef MESH_PREDICATES_H
#define MESH_PREDICATES_H

#include <math.h>

/* The plane through three points, with what the signs of several points need. */
typedef struct orient_plane {
    const float *a, *b, *c;
    double normal[3]; /* (b - a) x (c - a) */
    double bound[3];  /* its rounding: the same with all signs positive, times the constant below */
} orient_plane;

static inline orient_plane orient_plane_make(const float *a, const float *b, const float *c)
{
    orient_plane plane = {a, b, c, {0}, {0}};
    double u[3], v[3];

    for (int k = 0; k < 3; k++) {
        u[k] = (double)b[k] - a[k];
        v[k] = (double)c[k] - a[k];
    }

    /* normal, and how far each component may be off */
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        double p = u[l] * v[m], q = u[m] * v[l];
        plane.normal[k] = p - q;
        /* Shewchuk's bound for this order of operations: (7 + 56 eps) eps, eps = 2^-53, rounded up. */
        plane.bound[k] = 7.7715611723762e-16 * (fabs(p) + fabs(q));
    }

    return plane;
}

/* Only orient_plane_side calls this. */
int orient3d_exact(const float *a, const float *b, const float *c, const float *d);

/*
 * Sign (-1, 0, 1) of (b - a) x (c - a) . (d - a): 1 when d lies on the side of the plane a b c from which the
 * three run counter-clockwise. Exact for all finite floats.
 */
static inline int orient_plane_side(const orient_plane *plane, const float *d)
{
    double determinant = 0, bound = 0;

    for (int k = 0; k < 3; k++) {
        double w = (double)d[k] - plane->a[k];
        determinant += plane->normal[k] * w;
        bound += plane->bound[k] * fabs(w);
    }

    /* certain beyond the bound */
    if (determinant > bound) return 1;
    if (-determinant > bound) return -1;
    /* Every product has a factor that is 0, and so exact: points in a plane along the axes, which are common. */
    if (bound == 0) return 0;
    return orient3d_exact(plane->a, plane->b, plane->c, d);
}

static inline int orient3d(const float *a, const float *b, const float *c, const float *d)
{
    orient_plane plane = orient_plane_make(a, b, c);
    return orient_plane_side(&plane, d);
}

#endif
