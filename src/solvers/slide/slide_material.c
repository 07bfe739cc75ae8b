/*
 * slide_material.c: the elastic energy of triangles of skin (Section 3.4), as a function of where their corners lie on
 * the skin, for a body that is still.
 *
 * The paper differentiates the energy by a computer algebra system. Here it is written for the inverse P of the
 * reduced deformation gradient, per area of the body instead of per area of the skin: then D_x is constant, P is
 * linear in the unknowns, and an isotropic material is a function of S = |P|^2 and J = det P alone:
 *
 *     d Phi / d P   = 2 Phi_S P + Phi_J cof P
 *     d2 Phi / d P2 = 2 Phi_S I + Phi_J K + 4 Phi_SS P P^T + 2 Phi_SJ (P c^T + c P^T) + Phi_JJ c c^T,   c = cof P
 *
 * In the basis of the two rotations and the two reflections of the plane, P has the coordinates sqrt 2 (E, H, F, G)
 * and K is diag(1, 1, -1, -1), which gives the eigenvectors without angles: the turn of (E, H), with the eigenvalue
 * 2 Phi_S + Phi_J; the turn of (F, G), with 2 Phi_S - Phi_J; and two in the plane of (E, H) and (F, G). Leaving out
 * the negative ones is the exact projection on positive semi-definite matrices. Movements out of the triangle's
 * plane do not mix with these in second order and add 2 Phi_S + Phi_J sigma_other / sigma_own along either principal
 * direction.
 *
 * Beyond the paper, where a strain is beyond the material: below J = 0.2 (skin at five times its area) the powers
 * 1 / J^n go on as parabolas and a logarithmic barrier is added, infinite at J = 0, so that skin is never turned inside
 * out and yet the stiffness grows slowly. Skin that is pressed together beyond a limit is stiffened: the energy of
 * St. Venant and Kirchhoff has none left for it (at 42 % it gives way), and that of the others little. The exponential
 * of the Fung-type material ends at twenty times the stiffness at rest.
 */
#include "solvers/slide/slide_material.h"

#include <math.h>

#include "math/math3.h"

/* ---- densities ---- */

/* Below this skin area per body area, powers are extrapolated and the barrier acts. Larger is softer for extreme
 * stretch. */
static const double least_j = 0.2;
/* Strength of the barrier in moduli lambda + 2 mu: about the energy at least_j where half of that is left. */
static const double barrier_strength = 25;
/* Above this skin area per body area, pressing skin together stiffens it; the first for neo-Hookean skin. */
static const double largest_j[2] = {2.5, 1.5};
/* Where the exponential of the Fung-type material stops growing as such: e^3 is 20 times the initial stiffness. */
static const double largest_exponent = 3.0;

/*
 * Stretches of the body's triangles against rest are taken within these limits. Beyond them a triangle is a fold or a
 * tear of the skinning, which tells nothing about the skin on it.
 */
static const double least_stretch = 0.2, largest_stretch = 5;

/* A function of one variable with two derivatives. */
typedef struct jet {
    d4 f, d, dd;
} jet;

/* 1 / j^n, n = 1 to 4, or its parabola. */
static jet reciprocal(d4 j, int n)
{
    d4 at = d4_max(j, d4_set(least_j));
    d4 inverse = 1 / at;
    d4 power = inverse;
    for (int i = 1; i < n; i++) power *= inverse;
    d4 t = j - at;
    jet r = {power, -n * power * inverse, n * (n + 1) * power * inverse * inverse};
    r.f += r.d * t + 0.5 * r.dd * t * t;
    r.d += r.dd * t;
    return r;
}

/* j, or below least_j a positive function of the same value and slope. */
static jet positive(d4 j)
{
    d4_mask inside = j >= least_j;
    d4 inverse = 1 / (2 * least_j - d4_min(j, d4_set(least_j)));
    double e2 = least_j * least_j;
    return (jet){d4_select(inside, j, e2 * inverse), d4_select(inside, d4_set(1), e2 * inverse * inverse),
                 d4_select(inside, d4_set(0), 2 * e2 * inverse * inverse * inverse)};
}

/* -(j - a)^2 log(j / a) for 0 < j < a = least_j: twice differentiable, infinite at 0. Lanes with j <= 0 get any number.
 */
static jet barrier(d4 j)
{
    jet r = {d4_set(0), d4_set(0), d4_set(0)};
    if (!d4_any(j < least_j)) return r;
    for (int lane = 0; lane < 4; lane++) {
        if (!(j[lane] < least_j && j[lane] > 0)) continue;
        double t = j[lane] - least_j;
        double ratio = t / j[lane];
        double log = det_log(j[lane] / least_j);

        r.f[lane] = -t * t * log;
        r.d[lane] = -2 * t * log - t * ratio;
        r.dd[lane] = -2 * log - 4 * ratio + ratio * ratio;
    }
    return r;
}

/* t^3 / (t + a) with t = j - a > 0: begins as a cube, goes on as a parabola. */
static jet stiffening(d4 j, double a)
{
    jet none = {d4_set(0), d4_set(0), d4_set(0)};
    if (!d4_any(j > a)) return none;
    d4 t = d4_max(j - a, d4_set(0));
    d4 inverse = 1 / (t + a);
    d4 slope = (2 * t + 3 * a) * t * t * inverse * inverse;
    d4 curvature = (2 * t * t + 6 * a * t + 6 * a * a) * t * inverse * inverse * inverse;
    return (jet){t * t * t * inverse, slope, curvature};
}

/* e^x, and beyond the largest exponent a hyperbola that goes on nearly straight. */
static jet exponential(d4 x)
{
    d4 at = d4_min(x, d4_set(largest_exponent)), e;
    for (int lane = 0; lane < 4; lane++) e[lane] = det_exp(at[lane]);
    d4 t = x - at;
    d4 inverse = 1 / (1 + t);
    d4 slope = 1 + 0.5 * t * (t + 2) * inverse * inverse;
    return (jet){e * (1 + t + 0.5 * t * t * inverse), e * slope, e * inverse * inverse * inverse};
}

/* lambda / 2 tr(E)^2 + mu tr(E^2), times J (with 1 / J^3, 1 / J, J) or plain (with 1 / J^4, 1 / J^2, 1). */
static slide_density green_energy(const slide_material *m, d4 s, jet first, jet second, jet unit)
{
    double a = m->lambda / 8 + m->mu / 4, b = m->lambda / 2 + m->mu / 2;
    return (slide_density){
        .value = a * s * s * first.f - (b * s + m->mu / 2) * second.f + b * unit.f,
        .s = 2 * a * s * first.f - b * second.f,
        .j = a * s * s * first.d - (b * s + m->mu / 2) * second.d + b * unit.d,
        .ss = 2 * a * first.f,
        .sj = 2 * a * s * first.d - b * second.d,
        .jj = a * s * s * first.dd - (b * s + m->mu / 2) * second.dd,
    };
}

/* mu / b (exp(b Q) - 1) with Q = the St. Venant-Kirchhoff energy over mu: the same for small strain. */
static slide_density fung_energy(const slide_material *m, d4 s, d4 j)
{
    slide_density q = green_energy(m, s, reciprocal(j, 4), reciprocal(j, 2), (jet){d4_set(1), d4_set(0), d4_set(0)});
    double b = m->fung / m->mu, scale = 1 / b;
    jet e = exponential(b * q.value), p = positive(j);

    /* chain rule for the exponential */
    d4 f = scale * (e.f - 1), fs = e.d * q.s, fj = e.d * q.j;
    d4 fss = e.d * q.ss + b * e.dd * q.s * q.s, fsj = e.d * q.sj + b * e.dd * q.s * q.j;
    d4 fjj = e.d * q.jj + b * e.dd * q.j * q.j;

    /* per area of the body: product rule with J */
    return (slide_density){.value = p.f * f,
                           .s = p.f * fs,
                           .j = p.d * f + p.f * fj,
                           .ss = p.f * fss,
                           .sj = p.d * fs + p.f * fsj,
                           .jj = p.dd * f + 2 * p.d * fj + p.f * fjj};
}

/*
 * Stable neo-Hookean (Smith, de Goes, Kim 2018) in two dimensions: mu / 2 (I - 2) + k / 2 (J_F - 1 - mu / k)^2 with
 * k = lambda + mu, so that it agrees with Lame's constants for small strain; times J.
 */
static slide_density neo_hookean_energy(const slide_material *m, d4 s, d4 j)
{
    jet r = reciprocal(j, 1);
    double k = m->lambda + m->mu;
    d4 head = 0.5 * (m->mu * s + k);
    return (slide_density){.value = head * r.f + 0.5 * k * j - k - m->mu,
                           .s = 0.5 * m->mu * r.f,
                           .j = head * r.d + 0.5 * k,
                           .ss = d4_set(0),
                           .sj = 0.5 * m->mu * r.d,
                           .jj = head * r.dd};
}

static inline slide_density density_at(const slide_material *m, d4 s, d4 j)
{
    slide_density d = {0};
    switch (m->kind) {
    case SLIDE_STVK:
        d = green_energy(m, s, reciprocal(j, 3), reciprocal(j, 1), (jet){j, d4_set(1), d4_set(0)});
        break;
    case SLIDE_NEO_HOOKEAN:
        d = neo_hookean_energy(m, s, j);
        break;
    case SLIDE_FUNG:
        d = fung_energy(m, s, j);
        break;
    }

    if (m->area > 0) {
        /* J (1 / J - 1)^2 */
        jet r = reciprocal(j, 1);
        d.value += 0.5 * m->area * (r.f - 2 + j);
        d.j += 0.5 * m->area * (r.d + 1);
        d.jj += 0.5 * m->area * r.dd;
    }

    /* what is beyond the material */
    double modulus = m->lambda + 2 * m->mu;
    jet wall = barrier(j);
    jet pressed = stiffening(j, largest_j[m->kind != SLIDE_NEO_HOOKEAN]);
    d.value += modulus * (barrier_strength * wall.f + pressed.f);
    d.j += modulus * (barrier_strength * wall.d + pressed.d);
    d.jj += modulus * (barrier_strength * wall.dd + pressed.dd);

    /* inside out is not allowed */
    d.value = d4_select(j > 0, d.value, d4_set(HUGE_VAL));
    return d;
}

slide_density slide_density_at(const slide_material *material, d4 s, d4 j) { return density_at(material, s, j); }

/* ---- small algebra ---- */

static d4 dot3(const d4 a[3], const d4 b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross3(const d4 a[3], const d4 b[3], d4 c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Eigenvalues of [a b; b c], the larger first, and the unit eigenvector of the first; the second is (-y, x). */
static void eigen2(d4 a, d4 b, d4 c, d4 values[2], d4 vector[2])
{
    d4 middle = 0.5 * (a + c), half = 0.5 * (a - c), radius = d4_sqrt(half * half + b * b);
    values[0] = middle + radius;
    values[1] = middle - radius;

    /* The longer of two formulas for the same direction. */
    d4_mask wide = half >= 0;
    d4 x = d4_select(wide, half + radius, b), y = d4_select(wide, b, radius - half), length = d4_sqrt(x * x + y * y);
    d4_mask some = length > 0;
    d4 inverse = 1 / d4_select(some, length, d4_set(1));
    vector[0] = d4_select(some, x * inverse, d4_set(1));
    vector[1] = d4_select(some, y * inverse, d4_set(0));
}

/* x / length, y / length; (1, 0) for length 0. Returns the length. */
static d4 normalize2(d4 x, d4 y, d4 unit[2])
{
    d4 length = d4_sqrt(x * x + y * y);
    d4_mask some = length > 0;
    d4 inverse = 1 / d4_select(some, length, d4_set(1));
    unit[0] = d4_select(some, x * inverse, d4_set(1));
    unit[1] = y * inverse;
    return length;
}

/* ---- elements ---- */

slide_body slide_body_make(const d4 slopes[4], const d4 x[3][3], double stretch, d4 metric[3])
{
    /* products of the edges of x from corner 0 */
    d4 d1[3], d2[3], zero = d4_set(0);
    for (int e = 0; e < 3; e++) {
        d1[e] = x[1][e] - x[0][e];
        d2[e] = x[2][e] - x[0][e];
    }
    d4 g11 = dot3(d1, d1), g12 = dot3(d1, d2), g22 = dot3(d2, d2);

    /* the same in the plane of the triangle at rest */
    d4 side = slopes[1] * g11 + slopes[2] * g12;
    metric[0] = slopes[0] * slopes[0] * g11;
    metric[1] = slopes[0] * side;
    metric[2] = slopes[1] * side + slopes[2] * (slopes[1] * g12 + slopes[2] * g22);

    /* principal stretches within the limits: where the product and the sum of their squares do not tell, exactly */
    const double least = least_stretch * least_stretch, most = largest_stretch * largest_stretch;
    d4 c11 = metric[0], c12 = metric[1], square = c11 * metric[2] - c12 * c12, sum = c11 + metric[2];
    d4_mask some = slopes[3] > 0, beyond = some & ~((sum <= most) & (square > least * sum));
    if (d4_any(beyond)) {
        d4 values[2], u[2];
        eigen2(c11, c12, metric[2], values, u);
        for (int i = 0; i < 2; i++) values[i] = d4_min(d4_max(values[i], d4_set(least)), d4_set(most));
        c11 = d4_select(beyond, values[0] * u[0] * u[0] + values[1] * u[1] * u[1], c11);
        c12 = d4_select(beyond, (values[0] - values[1]) * u[0] * u[1], c12);
        square = d4_select(beyond, values[0] * values[1], square);
    }

    /* the triangular factor of the edges; its own at rest is twice the area times [slopes_2 0; -slopes_1 slopes_0] */
    d4 twice = 2 * slopes[3], k11 = twice * slopes[2];
    d4 along = d4_sqrt(c11), area = twice * d4_sqrt(square);
    d4 narrow = 1 / (stretch * area);
    d4 l11 = k11 * along, l12 = twice * (slopes[0] * c12 - slopes[1] * c11) / along;

    slide_body body;
    body.area = d4_select(some, 0.5 * area, zero);
    body.b[1][0] = d4_select(some, 1 / (l11 * stretch), zero);
    body.b[1][1] = d4_select(some, -l12 * narrow, zero);
    body.b[2][0] = zero;
    body.b[2][1] = d4_select(some, l11 * narrow, zero);
    for (int e = 0; e < 2; e++) body.b[0][e] = -body.b[1][e] - body.b[2][e];
    return body;
}

/* The frame of a lane whose triangle is a line or a point: as good as can be. */
static void make_degenerate_frame(const d4 d1[3], const d4 normal[3], int lane, d4 frame[3][3])
{
    double unit[3], t[3], m[3], size = 0, length = 0;
    for (int e = 0; e < 3; e++) {
        unit[e] = normal[e][lane];
        size += unit[e] * unit[e];
    }

    for (int e = 0; e < 3; e++) unit[e] = size > 0 ? unit[e] / sqrt(size) : e == 2;

    /* along the first edge, if it has a length */
    for (int e = 0; e < 3; e++) {
        t[e] = d1[e][lane];
        length += t[e] * t[e];
    }

    if (!(length > 1e-60)) {
        /* The axis that lies flattest, made tangent. */
        int k = fabs(unit[0]) < fabs(unit[1]) ? 0 : 1;
        if (fabs(unit[2]) < fabs(unit[k])) k = 2;
        length = 0;
        for (int e = 0; e < 3; e++) {
            t[e] = (e == k) - unit[k] * unit[e];
            length += t[e] * t[e];
        }
    }

    for (int e = 0; e < 3; e++) t[e] /= sqrt(length);

    /* at right angles to it, towards the side that is out */
    double along = unit[0] * t[0] + unit[1] * t[1] + unit[2] * t[2], left = 0;
    for (int e = 0; e < 3; e++) {
        m[e] = unit[e] - along * t[e];
        left += m[e] * m[e];
    }

    /* parallel to the normal: any direction across */
    if (!(left > 1e-18)) {
        const double axis[3] = {fabs(t[0]) < 0.7, !(fabs(t[0]) < 0.7), 0};
        m[0] = t[1] * axis[2] - t[2] * axis[1];
        m[1] = t[2] * axis[0] - t[0] * axis[2];
        m[2] = t[0] * axis[1] - t[1] * axis[0];
        left = m[0] * m[0] + m[1] * m[1] + m[2] * m[2];
    }

    for (int e = 0; e < 3; e++) {
        frame[0][e][lane] = t[e];
        frame[2][e][lane] = m[e] / sqrt(left);
    }
}

/*
 * Where the surface bends sharply a triangle of skin may turn away from the normals of its corners; it is inside out
 * when the cosine of the angle is less than this. On even ground a triangle cannot come there but through having no
 * area.
 */
static const double facing = -0.5;

/* Skin triangles by their edges from corner 0. */
typedef struct skin_edges {
    d4 d1[3], d2[3], n[3]; /* n: their cross product */
    d4 g11, g12, g22;      /* products of the edges */
    d4 area;               /* twice, negative when it is inside out */
    d4 s, j;               /* |P|^2 and det P */
} skin_edges;

static inline skin_edges edges_make(const slide_body *body, const d4 places[3][3], const d4 normal[3])
{
    skin_edges x;
    const d4(*b)[2] = body->b;
    for (int e = 0; e < 3; e++) {
        x.d1[e] = places[1][e] - places[0][e];
        x.d2[e] = places[2][e] - places[0][e];
    }

    cross3(x.d1, x.d2, x.n);
    d4 area = d4_sqrt(dot3(x.n, x.n));
    x.area = d4_select(dot3(x.n, normal) < facing * area * d4_sqrt(dot3(normal, normal)), -area, area);

    /* of P = R L^-1 by R^T R; b[2][0] is 0 */
    x.g11 = dot3(x.d1, x.d1);
    x.g12 = dot3(x.d1, x.d2);
    x.g22 = dot3(x.d2, x.d2);
    x.s = x.g11 * (b[1][0] * b[1][0] + b[1][1] * b[1][1]);
    x.s += b[2][1] * (2 * x.g12 * b[1][1] + x.g22 * b[2][1]);
    x.j = x.area * b[1][0] * b[2][1];
    return x;
}

/* Skin triangles in their own planes: R of the thin QR (r22 < 0 when inside out), then P = R L^-1 = [a b; 0 d]. */
typedef struct flat_triangle {
    d4 r11, r12, r22;
    d4 a, b, d;
    d4 s, j;
} flat_triangle;

/* With an orthonormal frame, the third axis on the side of `normal`, also when the triangle has no area. */
static flat_triangle flatten(const slide_body *body, const d4 places[3][3], const d4 normal[3], d4 frame[3][3])
{
    flat_triangle p;
    skin_edges x = edges_make(body, places, normal);
    d4 size = d4_abs(x.area), one = d4_set(1);

    /* lanes whose triangle has an area */
    d4_mask fine = (size > 1e-9 * (x.g11 + x.g22)) & (size > 1e-60) & (x.g11 > 1e-60);
    d4 along = 1 / d4_sqrt(d4_select(fine, x.g11, one)), out = 1 / d4_select(fine, x.area, one);
    for (int e = 0; e < 3; e++) {
        frame[0][e] = x.d1[e] * along;
        frame[2][e] = x.n[e] * out;
    }

    if (d4_any(~fine)) {
        for (int lane = 0; lane < 4; lane++)
            if (!fine[lane]) make_degenerate_frame(x.d1, normal, lane, frame);
    }

    cross3(frame[2], frame[0], frame[1]);

    /* edges in the plane of the triangle, and P */
    p.r11 = dot3(x.d1, frame[0]);
    p.r12 = dot3(x.d2, frame[0]);
    p.r22 = dot3(x.d2, frame[1]);
    p.a = p.r11 * body->b[1][0];
    p.b = p.r11 * body->b[1][1] + p.r12 * body->b[2][1];
    p.d = p.r22 * body->b[2][1];
    p.s = x.s;
    p.j = x.j;
    return p;
}

d4 slide_element_energy(const slide_material *material, d4 stiffness, const slide_body *body, const d4 places[3][3],
                        const d4 normal[3], d4 *skin)
{
    skin_edges x = edges_make(body, places, normal);
    *skin = 0.5 * x.area;
    return body->area * stiffness * density_at(material, x.s, x.j).value;
}

/* One term of the Hessian: curvature along the change `n` (2 x 2) of P. */
static inline void set_in_plane(slide_element *out, int term, const slide_body *body, d4 weight, const d4 n[4])
{
    out->weights[term] = weight;
    for (int k = 0; k < 3; k++) {
        out->factors[term][k][0] = n[0] * body->b[k][0] + n[1] * body->b[k][1];
        out->factors[term][k][1] = n[2] * body->b[k][0] + n[3] * body->b[k][1];
    }
}

void slide_element_make(const slide_material *material, d4 stiffness, const slide_body *body, const d4 places[3][3],
                        const d4 normal[3], bool project, slide_element *out)
{
    flat_triangle p = flatten(body, places, normal, out->axes);
    const d4(*b)[2] = body->b;
    slide_density phi = density_at(material, p.s, p.j);
    d4 scale = body->area * stiffness;

    out->s = p.s;
    out->j = p.j;
    out->skin = 0.5 * p.r11 * p.r22;
    out->energy = scale * phi.value;

    /* Gradient. */
    d4 ga = 2 * phi.s * p.a + phi.j * p.d, gb = 2 * phi.s * p.b;
    d4 gc = -phi.j * p.b, gd = 2 * phi.s * p.d + phi.j * p.a;
    for (int k = 0; k < 3; k++) {
        out->gradient[k][0] = scale * (ga * b[k][0] + gb * b[k][1]);
        out->gradient[k][1] = scale * (gc * b[k][0] + gd * b[k][1]);
    }

    /* Coordinates along rotations (E, H) and reflections (F, G), as lengths and unit vectors. */
    d4 eh[2], fg[2];
    d4 q = normalize2(0.5 * (p.a + p.d), -0.5 * p.b, eh), r = normalize2(0.5 * (p.a - p.d), 0.5 * p.b, fg);
    const double root = 0.70710678118654752440;
    for (int e = 0; e < 2; e++) {
        eh[e] *= root;
        fg[e] *= root;
    }

    /* Unit 2 x 2 matrices: along the rotation, the reflection, and the turns of both. */
    const d4 nq[4] = {eh[0], -eh[1], eh[1], eh[0]}, nr[4] = {fg[0], fg[1], fg[1], -fg[0]};
    const d4 nq_turn[4] = {-eh[1], -eh[0], eh[0], -eh[1]}, nr_turn[4] = {-fg[1], fg[0], fg[0], fg[1]};
    d4 twist = 2 * phi.s + phi.j, flip = 2 * phi.s - phi.j, least = d4_set(project ? 0 : -HUGE_VAL);
    set_in_plane(out, 0, body, scale * d4_max(twist, least), nq_turn);
    set_in_plane(out, 1, body, scale * d4_max(flip, least), nr_turn);

    /* P = sqrt 2 (q, r), c = sqrt 2 (q, -r) in the plane of nq and nr. */
    d4 qq = 2 * q * q, rr = 2 * r * r, qr = 2 * q * r, values[2], vector[2];
    eigen2(twist + (4 * phi.ss + 4 * phi.sj + phi.jj) * qq, (4 * phi.ss - phi.jj) * qr,
           flip + (4 * phi.ss - 4 * phi.sj + phi.jj) * rr, values, vector);
    for (int i = 0; i < 2; i++) {
        d4 x = i == 0 ? vector[0] : -vector[1], y = i == 0 ? vector[1] : vector[0];
        const d4 n[4] = {x * nq[0] + y * nr[0], x * nq[1] + y * nr[1], x * nq[2] + y * nr[2], x * nq[3] + y * nr[3]};
        set_in_plane(out, 2 + i, body, scale * d4_max(values[i], least), n);
    }

    /* Out of the plane: 2 Phi_s I + Phi_j J (P^T P)^-1, as its triangular factors where it is positive. */
    d4 k = phi.j / p.j, n11 = 2 * phi.s + k * (p.b * p.b + p.d * p.d), n12 = -k * p.a * p.b;
    d4 n22 = 2 * phi.s + k * p.a * p.a, ratio = n12 / n11, left = n22 - ratio * n12;
    if (!d4_any(~((n11 > 0) & (left >= 0) & (p.j > 1e-6)))) {
        out->weights[4] = scale * n11;
        out->weights[5] = scale * left;
        for (int i = 0; i < 3; i++) {
            out->factors[4][i][0] = b[i][0] + ratio * b[i][1];
            out->factors[5][i][0] = b[i][1];
        }
        return;
    }

    /* Else along the principal directions of P. */
    d4 squares[2], principal[2];
    eigen2(p.a * p.a, p.a * p.b, p.b * p.b + p.d * p.d, squares, principal);
    for (int i = 0; i < 2; i++) {
        d4 value = 2 * phi.s + phi.j * p.j / d4_max(squares[i], d4_set(1e-12));
        d4 x = i == 0 ? principal[0] : -principal[1], y = i == 0 ? principal[1] : principal[0];
        out->weights[4 + i] = scale * d4_max(value, least);
        for (int corner = 0; corner < 3; corner++) out->factors[4 + i][corner][0] = x * b[corner][0] + y * b[corner][1];
    }
}

void slide_stress_make(const slide_material *material, d4 stiffness, const slide_body *body, const d4 places[3][3],
                       const d4 normal[3], slide_stress *out)
{
    flat_triangle p = flatten(body, places, normal, out->axes);
    slide_density phi = density_at(material, p.s, p.j);
    d4 squares[2], principal[2], zero = d4_set(0);
    eigen2(p.a * p.a, p.a * p.b, p.b * p.b + p.d * p.d, squares, principal);

    /* Cauchy stress = Phi I - P^T dPhi/dP; the larger one belongs to the smaller stretch of P. */
    d4 common = phi.value - p.j * phi.j;
    out->stress[0] = stiffness * (common - 2 * phi.s * d4_max(squares[1], zero));
    out->stress[1] = stiffness * (common - 2 * phi.s * squares[0]);

    for (int i = 0; i < 2; i++) out->stretch[i] = d4_sqrt(d4_max(squares[i], zero));

    /* in the skin it has the direction of P applied to the body's */
    normalize2(p.a * principal[0] + p.b * principal[1], p.d * principal[1], out->pressed);
}
