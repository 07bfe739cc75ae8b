/*
 * math3.h: small vectors, matrices, quaternions and systems, and sin/cos/atan2 that give the same bits everywhere.
 */
#ifndef MATH_MATH3_H
#define MATH_MATH3_H

#include <math.h>
#include <stdbool.h>

typedef struct vec3 {
    float x, y, z;
} vec3;

/* 3 x 3, row-major. */
typedef struct mat3 {
    float m[9];
} mat3;

/* 3 x 4, row-major: rotation and scale, then translation in m[3], m[7], m[11]. */
typedef struct mat34 {
    float m[12];
} mat34;

/* x, y, z, w. */
typedef struct quat {
    float x, y, z, w;
} quat;

static inline vec3 vec3_make(float x, float y, float z) { return (vec3){x, y, z}; }
static inline vec3 vec3_load(const float *p) { return (vec3){p[0], p[1], p[2]}; }
static inline void vec3_store(float *p, vec3 a) { p[0] = a.x, p[1] = a.y, p[2] = a.z; }
/* Coordinate 0, 1 or 2. Never by an index from &a.x: beyond that member C leaves the value open, and clang takes 0. */
static inline float vec3_axis(vec3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }
static inline vec3 vec3_add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec3 vec3_sub(vec3 a, vec3 b) { return (vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vec3 vec3_mul(vec3 a, vec3 b) { return (vec3){a.x * b.x, a.y * b.y, a.z * b.z}; }
static inline vec3 vec3_scale(vec3 a, float s) { return (vec3){a.x * s, a.y * s, a.z * s}; }
static inline vec3 vec3_madd(vec3 a, vec3 b, float s) { return (vec3){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s}; }
static inline vec3 vec3_lerp(vec3 a, vec3 b, float t) { return vec3_madd(a, vec3_sub(b, a), t); }
static inline float vec3_dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec3 vec3_cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline float vec3_length2(vec3 a) { return vec3_dot(a, a); }
static inline float vec3_length(vec3 a) { return sqrtf(vec3_dot(a, a)); }
static inline float vec3_distance(vec3 a, vec3 b) { return vec3_length(vec3_sub(a, b)); }
/* 1 below 0, 0 above 1, smooth between. */
static inline float smooth_fall(float u) { return u >= 1 ? 0 : u <= 0 ? 1 : 1 - u * u * (3 - 2 * u); }
static inline vec3 vec3_min(vec3 a, vec3 b)
{
    return (vec3){a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
static inline vec3 vec3_max(vec3 a, vec3 b)
{
    return (vec3){a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}
/* The zero vector when a has no length. */
static inline vec3 vec3_normalize(vec3 a)
{
    float length = vec3_length(a);
    return length > 0 ? vec3_scale(a, 1 / length) : (vec3){0, 0, 0};
}
/* A unit vector at right angles to the unit vector a. */
vec3 vec3_orthogonal(vec3 a);

/* ---- matrices ---- */

mat34 mat34_identity(void);
/* a after b. */
mat34 mat34_multiply(mat34 a, mat34 b);
/* Inverse of an affine matrix; false (and the identity) when it is singular. */
bool mat34_inverse(mat34 a, mat34 *inverse);
static inline vec3 mat34_point(const float *m, vec3 p)
{
    return (vec3){m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
                  m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
}
static inline vec3 mat34_vector(const float *m, vec3 p)
{
    return (vec3){m[0] * p.x + m[1] * p.y + m[2] * p.z, m[4] * p.x + m[5] * p.y + m[6] * p.z,
                  m[8] * p.x + m[9] * p.y + m[10] * p.z};
}
mat34 mat34_compose(vec3 translation, quat rotation, vec3 scale);
/* Translation, rotation and scale (negative x scale for a mirrored matrix); shear is lost. */
void mat34_decompose(mat34 m, vec3 *translation, quat *rotation, vec3 *scale);

static inline vec3 mat3_vector(mat3 a, vec3 p)
{
    return (vec3){a.m[0] * p.x + a.m[1] * p.y + a.m[2] * p.z, a.m[3] * p.x + a.m[4] * p.y + a.m[5] * p.z,
                  a.m[6] * p.x + a.m[7] * p.y + a.m[8] * p.z};
}
mat3 mat3_identity(void);
mat3 mat3_multiply(mat3 a, mat3 b);
mat3 mat3_transpose(mat3 a);

/* ---- rotations ---- */

quat quat_identity(void);
quat quat_multiply(quat a, quat b); /* a after b */
static inline quat quat_conjugate(quat q) { return (quat){-q.x, -q.y, -q.z, q.w}; }
quat quat_normalize(quat q); /* identity for zero or non-finite input */
quat quat_axis_angle(vec3 unit_axis, double radians);
/* Shortest way; nearly equal rotations are blended linearly. */
quat quat_slerp(quat a, quat b, float t);
vec3 quat_rotate(quat q, vec3 p);
mat3 quat_matrix(quat q);
quat quat_from_matrix(mat3 rotation);
/* The rotation that takes unit vector a to unit vector b the shortest way. */
quat quat_between(vec3 a, vec3 b);

/*
 * The rotation nearest to `a`, starting the iteration at `guess` (warm start). Stable for flat and zero
 * matrices: directions that `a` does not determine keep those of `guess`. (Mueller, Bender, Chentanez,
 * Macklin 2016, "A robust method to extract the rotational part of deformations".)
 */
quat polar_rotation(mat3 a, quat guess, int iterations);

/* Eigenvalues (descending) and unit eigenvectors (columns) of a symmetric 3 x 3 matrix, by Jacobi rotations. */
void eigen_symmetric(mat3 a, float values[3], mat3 *vectors);

/*
 * Solve a x = b by Cholesky factorisation. a: (n x n) symmetric, its lower half is read and becomes the factor; x: b on
 * entry. False when a is not positive definite.
 */
bool cholesky_solve(double *a, double *x, int n);

/* ---- elementary functions with the same bits on every compiler and machine; error below 2 ulp of a float ---- */

double det_sin(double radians);
double det_cos(double radians);
double det_atan2(double y, double x);
double det_acos(double x); /* clamped to [-1, 1] */
double det_exp(double x);
double det_log(double x);           /* x > 0 */
double det_pow(double x, double y); /* x > 0 */

#endif
