/*
 * affine.c: affine maps and rotations in double precision.
 */
#include "io/affine.h"

#include <math.h>
#include <string.h>

#include "math/math3.h"

affine affine_identity(void) { return (affine){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}}; }

affine affine_multiply(const affine *a, const affine *b)
{
    affine c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            c.m[4 * i + j] = a->m[4 * i] * b->m[j] + a->m[4 * i + 1] * b->m[4 + j] + a->m[4 * i + 2] * b->m[8 + j] +
                             (j == 3 ? a->m[4 * i + 3] : 0);
    return c;
}

double affine_determinant(const affine *a)
{
    const double *m = a->m;
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
           m[2] * (m[4] * m[9] - m[5] * m[8]);
}

bool affine_finite(const affine *a)
{
    for (int i = 0; i < 12; i++)
        if (!isfinite(a->m[i])) return false;
    return true;
}

bool affine_inverse(const affine *a, affine *inverse)
{
    const double *m = a->m;

    /* Singular relative to the size of the columns, so that small units do not count as flat. */
    double product = 1;
    for (int j = 0; j < 3; j++) product *= sqrt(m[j] * m[j] + m[4 + j] * m[4 + j] + m[8 + j] * m[8 + j]);

    double determinant = affine_determinant(a);
    *inverse = affine_identity();
    if (!affine_finite(a) || !(fabs(determinant) > 1e-12 * product) || !isfinite(1 / determinant)) return false;

    /* the adjugate over the determinant, then the translation */
    affine r;
    double s = 1 / determinant;
    r.m[0] = (m[5] * m[10] - m[6] * m[9]) * s;
    r.m[1] = (m[2] * m[9] - m[1] * m[10]) * s;
    r.m[2] = (m[1] * m[6] - m[2] * m[5]) * s;
    r.m[4] = (m[6] * m[8] - m[4] * m[10]) * s;
    r.m[5] = (m[0] * m[10] - m[2] * m[8]) * s;
    r.m[6] = (m[2] * m[4] - m[0] * m[6]) * s;
    r.m[8] = (m[4] * m[9] - m[5] * m[8]) * s;
    r.m[9] = (m[1] * m[8] - m[0] * m[9]) * s;
    r.m[10] = (m[0] * m[5] - m[1] * m[4]) * s;
    for (int i = 0; i < 3; i++) r.m[4 * i + 3] = -(r.m[4 * i] * m[3] + r.m[4 * i + 1] * m[7] + r.m[4 * i + 2] * m[11]);

    if (!affine_finite(&r)) return false;
    *inverse = r;
    return true;
}

void affine_vector(const affine *a, const double p[3], double result[3])
{
    double x = p[0], y = p[1], z = p[2];
    for (int i = 0; i < 3; i++) result[i] = a->m[4 * i] * x + a->m[4 * i + 1] * y + a->m[4 * i + 2] * z;
}

void affine_point(const affine *a, const double p[3], double result[3])
{
    affine_vector(a, p, result);
    for (int i = 0; i < 3; i++) result[i] += a->m[4 * i + 3];
}

affine_parts affine_parts_identity(void) { return (affine_parts){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}}; }

affine affine_compose(const affine_parts *parts)
{
    const double *q = parts->rotation, *s = parts->scale, *t = parts->translation;
    double x = q[0], y = q[1], z = q[2], w = q[3];
    return (affine){{(1 - 2 * (y * y + z * z)) * s[0], 2 * (x * y - w * z) * s[1], 2 * (x * z + w * y) * s[2], t[0],
                     2 * (x * y + w * z) * s[0], (1 - 2 * (x * x + z * z)) * s[1], 2 * (y * z - w * x) * s[2], t[1],
                     2 * (x * z - w * y) * s[0], 2 * (y * z + w * x) * s[1], (1 - 2 * (x * x + y * y)) * s[2], t[2]}};
}

static double vector_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void vector_cross(const double a[3], const double b[3], double c[3])
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    c[0] = x;
    c[1] = y;
    c[2] = z;
}

/* A unit vector at right angles to the unit vector a. */
static void vector_orthogonal(const double a[3], double b[3])
{
    double axis[3] = {0, 0, 0};
    int smallest = fabs(a[0]) <= fabs(a[1]) && fabs(a[0]) <= fabs(a[2]) ? 0 : fabs(a[1]) <= fabs(a[2]) ? 1 : 2;
    axis[smallest] = 1;
    vector_cross(a, axis, b);
    double length = sqrt(vector_dot(b, b));
    for (int i = 0; i < 3; i++) b[i] /= length;
}

/* Unit quaternion of a rotation given by its columns; the largest component first, for accuracy. */
static void rotation_from_columns(double c[3][3], double q[4])
{
    double trace = c[0][0] + c[1][1] + c[2][2];

    /* from the trace, or from the largest diagonal element where that is small */
    if (trace > 0) {
        double s = 2 * sqrt(trace + 1);
        q[3] = s / 4;
        q[0] = (c[1][2] - c[2][1]) / s;
        q[1] = (c[2][0] - c[0][2]) / s;
        q[2] = (c[0][1] - c[1][0]) / s;
    } else {
        int i = c[0][0] >= c[1][1] && c[0][0] >= c[2][2] ? 0 : c[1][1] >= c[2][2] ? 1 : 2;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double s = 2 * sqrt(1 + c[i][i] - c[j][j] - c[k][k]);
        q[i] = s / 4;
        q[3] = (c[j][k] - c[k][j]) / s;
        q[j] = (c[i][j] + c[j][i]) / s;
        q[k] = (c[i][k] + c[k][i]) / s;
    }

    rotation_normalize(q);
}

bool affine_decompose(const affine *a, affine_parts *parts)
{
    *parts = affine_parts_identity();
    if (!affine_finite(a)) return false;

    /* scale: the lengths of the columns */
    double c[3][3]; /* unit columns */
    bool flat[3];
    for (int j = 0; j < 3; j++) {
        double length = 0;
        for (int i = 0; i < 3; i++) {
            c[j][i] = a->m[4 * i + j];
            length += c[j][i] * c[j][i];
        }

        length = sqrt(length);
        parts->scale[j] = length;
        flat[j] = !(length > 1e-30) || !isfinite(length);
        for (int i = 0; i < 3; i++) c[j][i] = flat[j] ? 0 : c[j][i] / length;
        parts->translation[j] = a->m[4 * j + 3];
    }

    /* A flattened axis gets the direction that the others leave. */
    for (int j = 0; j < 3; j++) {
        int k = (j + 1) % 3, l = (j + 2) % 3;
        if (!flat[j]) continue;
        if (!flat[k] && !flat[l])
            vector_cross(c[k], c[l], c[j]);
        else if (!flat[k])
            vector_orthogonal(c[k], c[j]);
        else if (!flat[l])
            vector_orthogonal(c[l], c[j]);
        else
            c[j][j] = 1;

        double length = sqrt(vector_dot(c[j], c[j]));
        if (length > 1e-12) {
            for (int i = 0; i < 3; i++) c[j][i] /= length;
        } else {
            vector_orthogonal(c[k], c[j]);
        }
        flat[j] = false;
    }

    /* columns at right angles: no shear */
    bool square = fabs(vector_dot(c[0], c[1])) < 1e-4 && fabs(vector_dot(c[0], c[2])) < 1e-4 &&
                  fabs(vector_dot(c[1], c[2])) < 1e-4;

    /* a mirrored map has its first scale negated */
    double normal[3];
    vector_cross(c[0], c[1], normal);
    if (vector_dot(normal, c[2]) < 0) {
        parts->scale[0] = -parts->scale[0];
        for (int i = 0; i < 3; i++) c[0][i] = -c[0][i];
    }

    /* Gram-Schmidt removes rounding, and shear if there is any. */
    double d = vector_dot(c[0], c[1]), length = 0;
    for (int i = 0; i < 3; i++) {
        c[1][i] -= d * c[0][i];
        length += c[1][i] * c[1][i];
    }
    if (length > 1e-20)
        for (int i = 0; i < 3; i++) c[1][i] /= sqrt(length);
    else
        vector_orthogonal(c[0], c[1]);

    /* the third axis follows */
    vector_cross(c[0], c[1], c[2]);
    rotation_from_columns(c, parts->rotation);

    return square;
}

void affine_store(const affine *a, float m[12])
{
    for (int i = 0; i < 12; i++) m[i] = (float)a->m[i];
}

affine affine_load(const float m[12])
{
    affine a;
    for (int i = 0; i < 12; i++) a.m[i] = m[i];
    return a;
}

affine_parts affine_parts_load(const cutis_transform *transform)
{
    affine_parts parts;
    for (int i = 0; i < 3; i++) {
        parts.translation[i] = transform->translation[i];
        parts.scale[i] = transform->scale[i];
    }
    for (int i = 0; i < 4; i++) parts.rotation[i] = transform->rotation[i];
    rotation_normalize(parts.rotation);
    return parts;
}

cutis_transform affine_parts_store(const affine_parts *parts)
{
    cutis_transform t;
    for (int i = 0; i < 3; i++) {
        t.translation[i] = (float)parts->translation[i];
        t.scale[i] = (float)parts->scale[i];
    }
    for (int i = 0; i < 4; i++) t.rotation[i] = (float)parts->rotation[i];
    return t;
}

void rotation_multiply(const double a[4], const double b[4], double result[4])
{
    double r[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1], a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3], a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
    memcpy(result, r, sizeof r);
}

void rotation_conjugate(const double a[4], double result[4])
{
    for (int i = 0; i < 3; i++) result[i] = -a[i];
    result[3] = a[3];
}

void rotation_normalize(double a[4])
{
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]);
    if (!(length > 1e-30) || !isfinite(length)) {
        a[0] = a[1] = a[2] = 0;
        a[3] = 1;
        return;
    }
    for (int i = 0; i < 4; i++) a[i] /= length;
}

void rotation_apply(const double a[4], const double p[3], double result[3])
{
    double t[3], u[3];
    vector_cross(a, p, t);
    for (int i = 0; i < 3; i++) t[i] *= 2;
    vector_cross(a, t, u);
    for (int i = 0; i < 3; i++) result[i] = p[i] + a[3] * t[i] + u[i];
}

void rotation_blend(const double a[4], const double b[4], double share, double result[4])
{
    /* the angle from chords, which are exact for small ones */
    double apart = 0, together = 0;
    for (int k = 0; k < 4; k++) {
        apart += (a[k] - b[k]) * (a[k] - b[k]);
        together += (a[k] + b[k]) * (a[k] + b[k]);
    }

    /* spherical interpolation; linear where the two nearly coincide */
    double angle = 2 * det_atan2(sqrt(apart), sqrt(together)), sine = det_sin(angle);
    bool close = sine < 1e-9; /* or opposite, where no way is shorter */
    double from = close ? 1 - share : det_sin((1 - share) * angle) / sine;
    double to = close ? share : det_sin(share * angle) / sine;

    for (int k = 0; k < 4; k++) result[k] = from * a[k] + to * b[k];
    rotation_normalize(result);
}

void rotation_between(const double from[3], const double to[3], double result[4])
{
    double a = sqrt(vector_dot(from, from)), b = sqrt(vector_dot(to, to));
    result[0] = result[1] = result[2] = 0;
    result[3] = 1;
    if (!(a > 0) || !(b > 0)) return;

    double cosine = vector_dot(from, to) / (a * b);
    if (cosine < -1 + 1e-12) { /* opposite: half a turn about any axis across */
        double unit[3] = {from[0] / a, from[1] / a, from[2] / a};
        vector_orthogonal(unit, result);
        result[3] = 0;
        return;
    }

    /* half of the angle: (a x b, 1 + a.b) at unit length */
    vector_cross(from, to, result);
    for (int i = 0; i < 3; i++) result[i] /= a * b;
    result[3] = 1 + cosine;
    rotation_normalize(result);
}
