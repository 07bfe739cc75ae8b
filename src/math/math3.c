/* math3.c: matrices, rotations, polar decomposition, the symmetric eigenproblem and small symmetric systems. */
#include "math/math3.h"

#include <string.h>

vec3 vec3_orthogonal(vec3 a)
{
    /* The axis least along a. */
    vec3 axis = {0, 0, 0};
    if (fabsf(a.x) <= fabsf(a.y) && fabsf(a.x) <= fabsf(a.z)) {
        axis.x = 1;
    } else if (fabsf(a.y) <= fabsf(a.z)) {
        axis.y = 1;
    } else {
        axis.z = 1;
    }

    return vec3_normalize(vec3_cross(a, axis));
}

/* ---- matrices ---- */

mat34 mat34_identity(void) { return (mat34){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}}; }

mat34 mat34_multiply(mat34 a, mat34 b)
{
    mat34 c;
    for (int row = 0; row < 3; row++) {
        const float *r = a.m + 4 * row;

        for (int column = 0; column < 4; column++) {
            c.m[4 * row + column] = r[0] * b.m[column] + r[1] * b.m[4 + column] + r[2] * b.m[8 + column];
        }
        c.m[4 * row + 3] += r[3];
    }

    return c;
}

bool mat34_inverse(mat34 a, mat34 *inverse)
{
    /* In double: bind matrices of characters in millimetres lose too much in float. */
    double m[12], c[9];
    for (int i = 0; i < 12; i++) m[i] = (double)a.m[i];

    /* cofactors */
    c[0] = m[5] * m[10] - m[6] * m[9];
    c[1] = m[2] * m[9] - m[1] * m[10];
    c[2] = m[1] * m[6] - m[2] * m[5];
    c[3] = m[6] * m[8] - m[4] * m[10];
    c[4] = m[0] * m[10] - m[2] * m[8];
    c[5] = m[2] * m[4] - m[0] * m[6];
    c[6] = m[4] * m[9] - m[5] * m[8];
    c[7] = m[1] * m[8] - m[0] * m[9];
    c[8] = m[0] * m[5] - m[1] * m[4];

    /* a flat matrix has no inverse */
    double determinant = m[0] * c[0] + m[1] * c[3] + m[2] * c[6];
    if (!(fabs(determinant) > 1e-30)) {
        *inverse = mat34_identity();
        return false;
    }

    /* linear part, and the translation brought back by it */
    for (int row = 0; row < 3; row++) {
        double *r = c + 3 * row;
        for (int column = 0; column < 3; column++) {
            r[column] /= determinant;
            inverse->m[4 * row + column] = (float)r[column];
        }
        inverse->m[4 * row + 3] = (float)-(r[0] * m[3] + r[1] * m[7] + r[2] * m[11]);
    }

    return true;
}

mat34 mat34_compose(vec3 translation, quat rotation, vec3 scale)
{
    mat3 r = quat_matrix(rotation);
    return (mat34){{r.m[0] * scale.x, r.m[1] * scale.y, r.m[2] * scale.z, translation.x, //
                    r.m[3] * scale.x, r.m[4] * scale.y, r.m[5] * scale.z, translation.y, //
                    r.m[6] * scale.x, r.m[7] * scale.y, r.m[8] * scale.z, translation.z}};
}

void mat34_decompose(mat34 m, vec3 *translation, quat *rotation, vec3 *scale)
{
    *translation = vec3_make(m.m[3], m.m[7], m.m[11]);
    vec3 x = {m.m[0], m.m[4], m.m[8]}, y = {m.m[1], m.m[5], m.m[9]}, z = {m.m[2], m.m[6], m.m[10]};
    *scale = vec3_make(vec3_length(x), vec3_length(y), vec3_length(z));

    /* the axes, right-handed: a mirrored frame has a negative scale along x */
    x = vec3_normalize(x);
    y = vec3_normalize(y);
    z = vec3_normalize(z);
    if (vec3_dot(vec3_cross(x, y), z) < 0) {
        scale->x = -scale->x;
        x = vec3_scale(x, -1);
    }

    /* An axis of no length is made from the others. */
    if (vec3_length2(z) == 0) z = vec3_length2(x) > 0 && vec3_length2(y) > 0 ? vec3_cross(x, y) : z;
    if (vec3_length2(x) == 0) x = vec3_cross(y, z);
    if (vec3_length2(y) == 0) y = vec3_cross(z, x);

    *rotation = quat_from_matrix((mat3){{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}});
}

mat3 mat3_identity(void) { return (mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}}; }

mat3 mat3_multiply(mat3 a, mat3 b)
{
    mat3 c;
    for (int row = 0; row < 3; row++) {
        const float *r = a.m + 3 * row;
        for (int column = 0; column < 3; column++) {
            c.m[3 * row + column] = r[0] * b.m[column] + r[1] * b.m[3 + column] + r[2] * b.m[6 + column];
        }
    }
    return c;
}

mat3 mat3_transpose(mat3 a) { return (mat3){{a.m[0], a.m[3], a.m[6], a.m[1], a.m[4], a.m[7], a.m[2], a.m[5], a.m[8]}}; }

/* ---- rotations ---- */

quat quat_identity(void) { return (quat){0, 0, 0, 1}; }

quat quat_multiply(quat a, quat b)
{
    return (quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

quat quat_normalize(quat q)
{
    float length = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (!(length > 1e-20f) || !isfinite(length)) return quat_identity();
    float s = 1 / length;
    return (quat){q.x * s, q.y * s, q.z * s, q.w * s};
}

quat quat_axis_angle(vec3 unit_axis, double radians)
{
    float s = (float)det_sin(radians / 2), c = (float)det_cos(radians / 2);
    return (quat){unit_axis.x * s, unit_axis.y * s, unit_axis.z * s, c};
}

quat quat_slerp(quat a, quat b, float t)
{
    double dot = (double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z + (double)a.w * b.w;

    /* along the shorter arc: q and -q are the same rotation */
    double sign = dot < 0 ? -1 : 1;
    dot = fabs(dot);
    double u = 1 - (double)t, v = (double)t;

    /* Below 2.5 degrees the chord and the arc are the same to a float. */
    if (dot < 0.99975) {
        double angle = det_acos(dot), s = det_sin(angle);
        u = det_sin(u * angle) / s;
        v = det_sin(v * angle) / s;
    }

    v *= sign;
    quat q = {(float)(u * a.x + v * b.x), (float)(u * a.y + v * b.y), (float)(u * a.z + v * b.z),
              (float)(u * a.w + v * b.w)};
    return quat_normalize(q);
}

vec3 quat_rotate(quat q, vec3 p)
{
    vec3 u = {q.x, q.y, q.z};
    vec3 t = vec3_scale(vec3_cross(u, p), 2);
    return vec3_add(vec3_madd(p, t, q.w), vec3_cross(u, t));
}

mat3 quat_matrix(quat q)
{
    float xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    float xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    float wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (mat3){{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy), //
                   2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx), //
                   2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}};
}

quat quat_from_matrix(mat3 rotation)
{
    /* From the largest of the four squares, so that nothing small is divided by. */
    const float *m = rotation.m;
    float trace = m[0] + m[4] + m[8];
    quat q;
    if (trace > 0) {
        float s = sqrtf(trace + 1) * 2;
        q = (quat){(m[7] - m[5]) / s, (m[2] - m[6]) / s, (m[3] - m[1]) / s, s / 4};
    } else if (m[0] > m[4] && m[0] > m[8]) {
        float s = sqrtf(1 + m[0] - m[4] - m[8]) * 2;
        q = (quat){s / 4, (m[1] + m[3]) / s, (m[2] + m[6]) / s, (m[7] - m[5]) / s};
    } else if (m[4] > m[8]) {
        float s = sqrtf(1 + m[4] - m[0] - m[8]) * 2;
        q = (quat){(m[1] + m[3]) / s, s / 4, (m[5] + m[7]) / s, (m[2] - m[6]) / s};
    } else {
        float s = sqrtf(1 + m[8] - m[0] - m[4]) * 2;
        q = (quat){(m[2] + m[6]) / s, (m[5] + m[7]) / s, s / 4, (m[3] - m[1]) / s};
    }

    return quat_normalize(q);
}

quat quat_between(vec3 a, vec3 b)
{
    float dot = vec3_dot(a, b);
    if (dot < -0.999999f) {
        vec3 axis = vec3_orthogonal(a);
        return (quat){axis.x, axis.y, axis.z, 0};
    }
    vec3 cross = vec3_cross(a, b);
    return quat_normalize((quat){cross.x, cross.y, cross.z, 1 + dot});
}

quat polar_rotation(mat3 a, quat guess, int iterations)
{
    quat q = quat_normalize(guess);
    vec3 a0 = {a.m[0], a.m[3], a.m[6]}, a1 = {a.m[1], a.m[4], a.m[7]}, a2 = {a.m[2], a.m[5], a.m[8]};

    /* The iteration is the same for every scale of a; this guard only has to be far below the entries. */
    float guard = 1e-9f * (vec3_length(a0) + vec3_length(a1) + vec3_length(a2)) + 1e-30f;

    for (int i = 0; i < iterations; i++) {
        /* the turn that lowers the energy */
        mat3 r = quat_matrix(q);
        vec3 r0 = {r.m[0], r.m[3], r.m[6]}, r1 = {r.m[1], r.m[4], r.m[7]}, r2 = {r.m[2], r.m[5], r.m[8]};
        vec3 torque = vec3_add(vec3_add(vec3_cross(r0, a0), vec3_cross(r1, a1)), vec3_cross(r2, a2));
        float energy = fabsf(vec3_dot(r0, a0) + vec3_dot(r1, a1) + vec3_dot(r2, a2));
        vec3 omega = vec3_scale(torque, 1 / (energy + guard));
        float angle = vec3_length(omega);
        if (!(angle > 1e-9f)) break;

        /* Far from the solution the quotient overshoots: a step is at most half a radian. */
        if (angle > 0.5f) {
            omega = vec3_scale(omega, 0.5f / angle);
            angle = 0.5f;
        }

        q = quat_normalize(quat_multiply(quat_axis_angle(vec3_scale(omega, 1 / angle), (double)angle), q));
    }

    return q;
}

void eigen_symmetric(mat3 a, float values[3], mat3 *vectors)
{
    double m[3][3], v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

    for (int i = 0; i < 9; i++) m[i / 3][i % 3] = (double)a.m[i];
    for (int sweep = 0; sweep < 12; sweep++) {
        /* done when nothing is left off the diagonal */
        double off = m[0][1] * m[0][1] + m[0][2] * m[0][2] + m[1][2] * m[1][2];
        double diagonal = m[0][0] * m[0][0] + m[1][1] * m[1][1] + m[2][2] * m[2][2];
        if (off <= 1e-26 * diagonal || off == 0) break;

        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                if (m[p][q] == 0) continue;

                /* The rotation in plane p, q that makes m[p][q] vanish. */
                double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;

                /* applied to the columns, then to the rows and the eigenvectors */
                for (int k = 0; k < 3; k++) {
                    double x = m[k][p], y = m[k][q];
                    m[k][p] = c * x - s * y;
                    m[k][q] = s * x + c * y;
                }

                for (int k = 0; k < 3; k++) {
                    double x = m[p][k], y = m[q][k];
                    m[p][k] = c * x - s * y;
                    m[q][k] = s * x + c * y;
                    x = v[k][p];
                    y = v[k][q];
                    v[k][p] = c * x - s * y;
                    v[k][q] = s * x + c * y;
                }
            }
        }
    }

    /* in descending order */
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2 - i; j++) {
            if (m[order[j]][order[j]] < m[order[j + 1]][order[j + 1]]) {
                int swap = order[j];
                order[j] = order[j + 1];
                order[j + 1] = swap;
            }
        }
    }

    /* values, and vectors as columns */
    for (int column = 0; column < 3; column++) {
        values[column] = (float)m[order[column]][order[column]];
        for (int row = 0; row < 3; row++) vectors->m[3 * row + column] = (float)v[row][order[column]];
    }
}

bool cholesky_solve(double *a, double *x, int n)
{
    /* a = L L', in place */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0)) return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    }

    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }

    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }

    return true;
}
