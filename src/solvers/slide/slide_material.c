/*
 * slide_material.c: the elastic energy of one triangle of skin (Section 3.4), as a function of where its corners lie
 * on the skin, for a body that is still.
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
 * Beyond the paper: powers 1 / J^n go over into their tangents below J = 0.2, so that skin that is pulled to more
 * than five times its area, or inside out, has a finite energy whose force leads back. The exponential of the
 * Fung-type material goes over into a parabola likewise.
 */
#include "solvers/slide/slide_material.h"

#include <math.h>

#include "math/math3.h"

/* ---- densities ---- */

/* Below this skin area per body area, the energy is extrapolated. Larger is softer for extreme stretch. */
static const double least_j = 0.2;
/* Where the exponential of the Fung-type material goes over into a parabola: e^3 is 20 times the initial stiffness. */
static const double largest_exponent = 3.0;

/* A function of one variable with two derivatives. */
typedef struct jet {
    double f, d, dd;
} jet;

/* 1 / j^n, n = 1 to 4, or its tangent. */
static jet reciprocal(double j, int n)
{
    double at = j > least_j ? j : least_j, inverse = 1 / at, power = inverse;
    for (int i = 1; i < n; i++) power *= inverse;
    jet r = {power, -n * power * inverse, j > least_j ? n * (n + 1) * power * inverse * inverse : 0};
    r.f += r.d * (j - at);
    return r;
}

/* j, or beyond least_j a positive function of the same value and slope. */
static jet positive(double j)
{
    if (j >= least_j) return (jet){j, 1, 0};
    double inverse = 1 / (2 * least_j - j), e2 = least_j * least_j;
    return (jet){e2 * inverse, e2 * inverse * inverse, 2 * e2 * inverse * inverse * inverse};
}

static jet exponential(double x)
{
    double at = x < largest_exponent ? x : largest_exponent, e = det_exp(at), t = x - at;
    return (jet){e * (1 + t + 0.5 * t * t), e * (1 + t), e};
}

/* lambda / 2 tr(E)^2 + mu tr(E^2), times J (with 1 / J^3, 1 / J, J) or plain (with 1 / J^4, 1 / J^2, 1). */
static slide_density green_energy(const slide_material *m, double s, jet first, jet second, jet unit)
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
static slide_density fung_energy(const slide_material *m, double s, double j)
{
    slide_density q = green_energy(m, s, reciprocal(j, 4), reciprocal(j, 2), (jet){1, 0, 0});
    double b = m->fung / m->mu, scale = 1 / b;
    jet e = exponential(b * q.value), p = positive(j);
    double f = scale * (e.f - 1), fs = e.d * q.s, fj = e.d * q.j;
    double fss = e.d * q.ss + b * e.dd * q.s * q.s, fsj = e.d * q.sj + b * e.dd * q.s * q.j;
    double fjj = e.d * q.jj + b * e.dd * q.j * q.j;
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
static slide_density neo_hookean_energy(const slide_material *m, double s, double j)
{
    jet r = reciprocal(j, 1);
    double k = m->lambda + m->mu, head = 0.5 * (m->mu * s + k);
    return (slide_density){.value = head * r.f + 0.5 * k * j - k - m->mu,
                           .s = 0.5 * m->mu * r.f,
                           .j = head * r.d + 0.5 * k,
                           .ss = 0,
                           .sj = 0.5 * m->mu * r.d,
                           .jj = head * r.dd};
}

slide_density slide_density_at(const slide_material *m, double s, double j)
{
    slide_density d = {0};
    switch (m->kind) {
    case SLIDE_STVK:
        d = green_energy(m, s, reciprocal(j, 3), reciprocal(j, 1), (jet){j, 1, 0});
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
    return d;
}

/* ---- small algebra ---- */

static double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross3(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static void scale3(double a[3], double s) { a[0] *= s, a[1] *= s, a[2] *= s; }

/* Eigenvalues of [a b; b c], the larger first, and the unit eigenvector of the first; the second is (-y, x). */
static void eigen2(double a, double b, double c, double values[2], double vector[2])
{
    double middle = 0.5 * (a + c), half = 0.5 * (a - c), radius = sqrt(half * half + b * b);
    values[0] = middle + radius;
    values[1] = middle - radius;
    /* The longer of two formulas for the same direction. */
    double x = half >= 0 ? half + radius : b, y = half >= 0 ? b : radius - half, length = sqrt(x * x + y * y);
    vector[0] = length > 0 ? x / length : 1;
    vector[1] = length > 0 ? y / length : 0;
}

/* ---- elements ---- */

slide_body slide_body_make(const double x[3][3], double stretch)
{
    slide_body body = {0};
    double d1[3], d2[3], n[3];
    for (int e = 0; e < 3; e++) d1[e] = x[1][e] - x[0][e], d2[e] = x[2][e] - x[0][e];
    cross3(d1, d2, n);
    double l11 = sqrt(dot3(d1, d1)), twice = sqrt(dot3(n, n));
    if (!(twice > 0) || !(l11 > 0)) return body;
    double l12 = dot3(d1, d2) / l11, l22 = twice / l11;
    body.area = 0.5 * twice;
    body.b[1][0] = 1 / (l11 * stretch);
    body.b[1][1] = -l12 / (l11 * l22 * stretch);
    body.b[2][1] = 1 / (l22 * stretch);
    for (int e = 0; e < 2; e++) body.b[0][e] = -body.b[1][e] - body.b[2][e];
    return body;
}

/* An orthonormal frame t1, t2, m of the skin triangle, m on the side of `normal`, also when it has no area. */
static void make_frame(const double d1[3], const double d2[3], const double normal[3], double t1[3], double t2[3],
                       double m[3])
{
    double length = sqrt(dot3(d1, d1)), n[3], unit[3] = {normal[0], normal[1], normal[2]};
    double size = sqrt(dot3(unit, unit));
    if (size > 0)
        scale3(unit, 1 / size);
    else
        unit[2] = 1;
    for (int e = 0; e < 3; e++) t1[e] = d1[e];
    if (length > 1e-30) {
        scale3(t1, 1 / length);
    } else {
        /* The axis that lies flattest, made tangent. */
        int k = fabs(unit[0]) < fabs(unit[1]) ? 0 : 1;
        if (fabs(unit[2]) < fabs(unit[k])) k = 2;
        for (int e = 0; e < 3; e++) t1[e] = (e == k) - unit[k] * unit[e];
        scale3(t1, 1 / sqrt(dot3(t1, t1)));
    }
    cross3(d1, d2, n);
    double area = sqrt(dot3(n, n));
    if (area > 1e-9 * (dot3(d1, d1) + dot3(d2, d2)) && area > 1e-60) {
        double sign = dot3(n, unit) < 0 ? -1 : 1;
        for (int e = 0; e < 3; e++) m[e] = sign * n[e] / area;
    } else {
        double along = dot3(unit, t1);
        for (int e = 0; e < 3; e++) m[e] = unit[e] - along * t1[e];
        double left = sqrt(dot3(m, m));
        if (left > 1e-9) {
            scale3(m, 1 / left);
        } else {
            const double axis[3] = {fabs(t1[0]) < 0.7 ? 1 : 0, fabs(t1[0]) < 0.7 ? 0 : 1, 0};
            cross3(t1, axis, m);
            scale3(m, 1 / sqrt(dot3(m, m)));
        }
    }
    cross3(m, t1, t2);
}

/* One term of the Hessian: curvature along the change `n` (2 x 2) of P. */
static void set_in_plane(slide_element *out, int term, const slide_body *body, double weight, const double n[4])
{
    out->weights[term] = weight;
    for (int k = 0; k < 3; k++) {
        out->factors[term][k][0] = n[0] * body->b[k][0] + n[1] * body->b[k][1];
        out->factors[term][k][1] = n[2] * body->b[k][0] + n[3] * body->b[k][1];
    }
}

void slide_element_make(const slide_material *material, double stiffness, const slide_body *body,
                        const double places[3][3], const double normal[3], bool project, slide_element *out)
{
    double d1[3], d2[3], *t1 = out->axes[0], *t2 = out->axes[1];
    for (int e = 0; e < 3; e++) d1[e] = places[1][e] - places[0][e], d2[e] = places[2][e] - places[0][e];
    make_frame(d1, d2, normal, t1, t2, out->axes[2]);
    /* R of the thin QR (r22 < 0 when inside out), then P = R L^-1 = [a b; c d]. */
    double r11 = dot3(d1, t1), r12 = dot3(d2, t1), r22 = dot3(d2, t2);
    const double(*b)[2] = body->b;
    double pa = r11 * b[1][0] + r12 * b[2][0], pb = r11 * b[1][1] + r12 * b[2][1];
    double pc = r22 * b[2][0], pd = r22 * b[2][1];
    double s = pa * pa + pb * pb + pc * pc + pd * pd, j = pa * pd - pb * pc;
    slide_density phi = slide_density_at(material, s, j);
    double scale = body->area * stiffness;
    out->s = s;
    out->j = j;
    out->energy = scale * phi.value;

    /* Heights, for the limit of a step: twice the area over the longest edge. */
    double longest = r11 * r11, edge = r12 * r12 + r22 * r22;
    if (edge > longest) longest = edge;
    edge = (r12 - r11) * (r12 - r11) + r22 * r22;
    if (edge > longest) longest = edge;
    out->altitude = longest > 0 ? fabs(r11 * r22) / sqrt(longest) : 0;

    /* Gradient. */
    double ga = 2 * phi.s * pa + phi.j * pd, gb = 2 * phi.s * pb - phi.j * pc;
    double gc = 2 * phi.s * pc - phi.j * pb, gd = 2 * phi.s * pd + phi.j * pa;
    for (int k = 0; k < 3; k++) {
        out->gradient[k][0] = scale * (ga * b[k][0] + gb * b[k][1]);
        out->gradient[k][1] = scale * (gc * b[k][0] + gd * b[k][1]);
    }

    /* Coordinates along rotations (E, H) and reflections (F, G), as lengths and unit vectors. */
    double e0 = 0.5 * (pa + pd), h0 = 0.5 * (pc - pb), f0 = 0.5 * (pa - pd), g0 = 0.5 * (pb + pc);
    double q = sqrt(e0 * e0 + h0 * h0), r = sqrt(f0 * f0 + g0 * g0);
    double eq = q > 0 ? e0 / q : 1, hq = q > 0 ? h0 / q : 0, fr = r > 0 ? f0 / r : 1, gr = r > 0 ? g0 / r : 0;
    const double root = 0.70710678118654752440;
    /* Unit 2 x 2 matrices: along the rotation, the reflection, and the turns of both. */
    const double nq[4] = {root * eq, -root * hq, root * hq, root * eq};
    const double nr[4] = {root * fr, root * gr, root * gr, -root * fr};
    const double nq_turn[4] = {-root * hq, -root * eq, root * eq, -root * hq};
    const double nr_turn[4] = {-root * gr, root * fr, root * fr, root * gr};
    double twist = 2 * phi.s + phi.j, flip = 2 * phi.s - phi.j;
    double least = project ? 0 : -HUGE_VAL;
    set_in_plane(out, 0, body, scale * slide_max(twist, least), nq_turn);
    set_in_plane(out, 1, body, scale * slide_max(flip, least), nr_turn);

    /* P = sqrt 2 (q, r), c = sqrt 2 (q, -r) in the plane of nq and nr. */
    double qq = 2 * q * q, rr = 2 * r * r, qr = 2 * q * r;
    double values[2], vector[2];
    eigen2(twist + (4 * phi.ss + 4 * phi.sj + phi.jj) * qq, (4 * phi.ss - phi.jj) * qr,
           flip + (4 * phi.ss - 4 * phi.sj + phi.jj) * rr, values, vector);
    for (int i = 0; i < 2; i++) {
        double x = i == 0 ? vector[0] : -vector[1], y = i == 0 ? vector[1] : vector[0];
        const double n[4] = {x * nq[0] + y * nr[0], x * nq[1] + y * nr[1], x * nq[2] + y * nr[2],
                             x * nq[3] + y * nr[3]};
        set_in_plane(out, 2 + i, body, scale * slide_max(values[i], least), n);
    }

    /* Out of the plane, along the principal directions of P. */
    double squares[2], principal[2];
    eigen2(pa * pa + pc * pc, pa * pb + pc * pd, pb * pb + pd * pd, squares, principal);
    for (int i = 0; i < 2; i++) {
        double own = squares[i] > 1e-12 ? squares[i] : 1e-12;
        double value = 2 * phi.s + phi.j * j / own;
        double x = i == 0 ? principal[0] : -principal[1], y = i == 0 ? principal[1] : principal[0];
        out->weights[4 + i] = scale * slide_max(value, least);
        for (int k = 0; k < 3; k++) {
            out->factors[4 + i][k][0] = x * b[k][0] + y * b[k][1];
            out->factors[4 + i][k][1] = 0;
        }
    }

    /* Cauchy stress = Phi I - P^T dPhi/dP; the larger one belongs to the smaller stretch of P. */
    double common = phi.value - j * phi.j;
    out->stress[0] = stiffness * (common - 2 * phi.s * slide_max(squares[1], 0));
    out->stress[1] = stiffness * (common - 2 * phi.s * squares[0]);
}
