/*
 * trig.c: sin, cos, atan2, acos, exp, log and pow with the same bits on every compiler and machine.
 *
 * Only additions, multiplications, divisions and square roots are used (all exact IEEE operations), in
 * double, with polynomial approximations whose error is below 1e-13: far below what a float can hold.
 */
#include <stdint.h>
#include <string.h>

#include "math/math3.h"

static const double PI = 3.14159265358979323846;

/* sin and cos of x in [-pi/4, pi/4] by their Taylor series up to x^17: the next term is below 1e-17. */
static double sin_small(double x)
{
    double y = x * x;
    double s = 1 / 355687428096000.0;
    s = s * y - 1 / 1307674368000.0;
    s = s * y + 1 / 6227020800.0;
    s = s * y - 1 / 39916800.0;
    s = s * y + 1 / 362880.0;
    s = s * y - 1 / 5040.0;
    s = s * y + 1 / 120.0;
    s = s * y - 1 / 6.0;
    return x + x * y * s;
}

static double cos_small(double x)
{
    double y = x * x;
    double c = 1 / 20922789888000.0;
    c = c * y - 1 / 87178291200.0;
    c = c * y + 1 / 479001600.0;
    c = c * y - 1 / 3628800.0;
    c = c * y + 1 / 40320.0;
    c = c * y - 1 / 720.0;
    c = c * y + 1 / 24.0;
    c = c * y - 0.5;
    return 1 + y * c;
}

/* sin(x + quarter x pi/2). Angles beyond 2^30 turns have no meaning here and give 0 or 1. */
static double sin_quarter(double x, int quarter)
{
    if (!(fabs(x) < 1e9)) x = 0;
    double turns = floor(x * (2 / PI) + 0.5);

    /* pi/2 in two parts, so that the difference keeps its digits. */
    double r = (x - turns * 1.57079632673412561417) - turns * 6.07710050650619224932e-11;

    /* the quarter tells which of both, and its sign */
    int q = (int)((int64_t)turns & 3) + quarter;
    double value = q & 1 ? cos_small(r) : sin_small(r);
    return q & 2 ? -value : value;
}

double det_sin(double radians) { return sin_quarter(radians, 0); }
double det_cos(double radians) { return sin_quarter(radians, 1); }

/* atan of x in [0, 1]: two halvings of the angle, then the series of what is left (at most tan(pi/16)). */
static double atan_unit(double x)
{
    x = x / (1 + sqrt(1 + x * x));
    x = x / (1 + sqrt(1 + x * x));

    double y = x * x, s = 0;
    for (int k = 23; k >= 3; k -= 2) s = (s + (k % 4 == 1 ? 1.0 : -1.0) / k) * y;
    return 4 * (x + x * s);
}

double det_atan2(double y, double x)
{
    double ax = fabs(x), ay = fabs(y);
    if (ax == 0 && ay == 0) return 0;

    /* in the first quadrant, then in that of x and y */
    double angle = ay <= ax ? atan_unit(ay / ax) : PI / 2 - atan_unit(ax / ay);
    if (x < 0) angle = PI - angle;
    return y < 0 ? -angle : angle;
}

double det_acos(double x)
{
    x = x < -1 ? -1 : x > 1 ? 1 : x;
    return det_atan2(sqrt((1 - x) * (1 + x)), x);
}

static const double LN2 = 0.693147180559945309417;

double det_exp(double x)
{
    if (x < -700) return 0;
    if (x > 700) x = 700;

    /* x = n log 2 + r */
    double n = floor(x / LN2 + 0.5);
    double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;

    /* the Taylor series of exp(r) */
    double s = 1;
    for (int k = 14; k >= 1; k--) s = 1 + r * s / k;

    /* 2^n by its exponent bits */
    uint64_t bits = (uint64_t)((int64_t)n + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return s * scale;
}

double det_log(double x)
{
    if (!(x > 0)) return -1e300;

    /* the exponent; subnormal numbers have none, and are scaled by 2^54 first */
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    if (exponent == -1023) return det_log(x * 18014398509481984.0) - 54 * LN2;

    /* the mantissa, between sqrt(1/2) and sqrt(2) */
    bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.41421356237309504880) m *= 0.5, exponent++;

    /* log m = 2 atanh((m - 1) / (m + 1)), whose argument is at most 0.172. */
    double z = (m - 1) / (m + 1), y = z * z, s = 0;
    for (int k = 21; k >= 3; k -= 2) s = (s + 1.0 / k) * y;
    return 2 * (z + z * s) + exponent * LN2;
}

double det_pow(double x, double y) { return det_exp(y * det_log(x)); }
