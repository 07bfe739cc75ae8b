/*
 * affine.h: affine maps in double precision, for loaders. Files give chains of matrices and their inverses;
 * doubles keep the products exact to the last bit of the floats that a character stores.
 */
#ifndef IO_AFFINE_H
#define IO_AFFINE_H

#include "cutis/character.h"

/* 3 x 4, row-major: m[3], m[7], m[11] is the translation. */
typedef struct affine {
    double m[12];
} affine;

/* Scale, then rotation (x, y, z, w), then translation. */
typedef struct affine_parts {
    double translation[3], rotation[4], scale[3];
} affine_parts;

affine affine_identity(void);
/* a after b. */
affine affine_multiply(const affine *a, const affine *b);
/* False (and the identity) when a is singular or not finite. */
bool affine_inverse(const affine *a, affine *inverse);
double affine_determinant(const affine *a);
bool affine_finite(const affine *a);
void affine_point(const affine *a, const double p[3], double result[3]);
void affine_vector(const affine *a, const double p[3], double result[3]);

affine_parts affine_parts_identity(void);
affine affine_compose(const affine_parts *parts);
/* False when the map holds shear, which the parts cannot express and which is lost. A mirrored map gets a
 * negative x scale. */
bool affine_decompose(const affine *a, affine_parts *parts);

void affine_store(const affine *a, float m[12]);
affine affine_load(const float m[12]);
affine_parts affine_parts_load(const cutis_transform *transform);
cutis_transform affine_parts_store(const affine_parts *parts);

/* ---- quaternions x, y, z, w in doubles ---- */

void rotation_multiply(const double a[4], const double b[4], double result[4]); /* a after b */
void rotation_conjugate(const double a[4], double result[4]);
void rotation_normalize(double a[4]); /* identity for zero */
void rotation_apply(const double a[4], const double p[3], double result[3]);
/* The share of the way from a to b at an even speed, as they stand: negate one first for the shorter way. */
void rotation_blend(const double a[4], const double b[4], double share, double result[4]);
/* The shortest rotation that takes the direction of `from` to that of `to`; neither needs unit length. */
void rotation_between(const double from[3], const double to[3], double result[4]);

#endif
