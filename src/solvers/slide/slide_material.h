/*
 * slide_material.h: the elastic energy of triangles of skin, with its derivatives in closed form. Four triangles at a
 * time, one a lane; lanes do not mix.
 *
 * Glossary (the paper's symbols in brackets). A triangle has three places on the skin, X (the blackboard X), and
 * three in space, x. D are its two edges as columns. L is the triangular factor of the thin QR of D_x, R that of
 * D_X; P = R L^-1 is the inverse of the reduced deformation gradient F = L R^-1. S = |P|^2, J = det P: how much skin
 * lies on a unit of body surface. The energy of the triangle is A_x Phi(S, J), Phi = J W(1 / P).
 */
#ifndef SLIDE_MATERIAL_H
#define SLIDE_MATERIAL_H

#include "math/simd_double.h"

/* Unlike fmax and fmin these are single instructions; the second operand when one is no number. */
static inline double slide_max(double a, double b) { return a > b ? a : b; }
static inline double slide_min(double a, double b) { return a < b ? a : b; }

typedef enum slide_material_kind { SLIDE_STVK, SLIDE_NEO_HOOKEAN, SLIDE_FUNG } slide_material_kind;

typedef struct slide_material {
    slide_material_kind kind;
    double lambda, mu; /* Lame's constants of a membrane over its density, (lengths / s)^2 */
    double fung;       /* exponent of the Fung-type material */
    double area;       /* modulus against change of area, beyond the material's own */
    double stretch;    /* by how much the skin is stretched where it lies as at rest; 1: not */
} slide_material;

/* Phi and its derivatives. Infinite for j <= 0: skin does not turn inside out. */
typedef struct slide_density {
    d4 value, s, j, ss, sj, jj;
} slide_density;

slide_density slide_density_at(const slide_material *material, d4 s, d4 j);

/* Triangles on the body now: what stays as it is while the skin slides. */
typedef struct slide_body {
    d4 area;    /* 0: the triangle has no elasticity */
    d4 b[3][2]; /* rows of L^-1 for corners 1 and 2, and minus their sum for corner 0 */
} slide_body;

/*
 * slopes: of the triangles at rest (slide_atlas.h), from which principal stretches to x are taken within limits.
 * stretch: of the material. metric: products of the body's derivatives by the chart, xx, xy and yy, without limits.
 */
slide_body slide_body_make(const d4 slopes[4], const d4 x[3][3], double stretch, d4 metric[3]);

typedef struct slide_element {
    d4 energy;
    d4 s, j;           /* at P */
    d4 skin;           /* area of the skin */
    d4 axes[3][3];     /* two unit vectors in the plane of the skin triangle, and its normal */
    d4 gradient[3][2]; /* d energy / d X of each corner, along the two axes in the plane */
    /*
     * Hessian = sum over m of weights[m] (factor as vector of all corners)(same)^T. The first four factors lie in the
     * plane, the last two along the normal (their second entries are not used).
     */
    d4 weights[6];
    d4 factors[6][3][2];
} slide_element;

/*
 * Energy, gradient and Hessian for places X whose side of the surface is `normal` (any length). project: leave out
 * the directions of negative curvature, so that the Hessian is positive semi-definite.
 */
void slide_element_make(const slide_material *material, d4 stiffness, const slide_body *body, const d4 places[3][3],
                        const d4 normal[3], bool project, slide_element *element);

typedef struct slide_stress {
    d4 stress[2];  /* principal Cauchy stresses over the density, the larger first */
    d4 stretch[2]; /* skin on a length of the body along the principal directions, the larger first */
    d4 pressed[2]; /* unit direction of the smaller stress in the skin, along the two axes in the plane */
    d4 axes[3][3]; /* as in slide_element */
} slide_stress;

void slide_stress_make(const slide_material *material, d4 stiffness, const slide_body *body, const d4 places[3][3],
                       const d4 normal[3], slide_stress *stress);
/* The energy and the area of the skin alone; the energy is infinite when the skin is inside out. */
d4 slide_element_energy(const slide_material *material, d4 stiffness, const slide_body *body, const d4 places[3][3],
                        const d4 normal[3], d4 *skin);

#endif
