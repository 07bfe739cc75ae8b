/*
 * predicates.c: the side of a plane on which a point lies, with the exact sign.
 *
 * After Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust geometric predicates":
 * the determinant in double decides when it exceeds its error bound. Departure: there is only one more stage.
 * The coordinates are floats, so all 24 products of three of them can be written as two doubles without
 * rounding and without overflow or underflow; their exact sum gives the sign.
 */
#include "mesh/predicates.h"

/* An exact sum: components that do not overlap, in the order of their magnitude, smallest first. */
typedef struct expansion {
    int count;
    double parts[48];
} expansion;

/* Add one double without loss (Shewchuk's grow-expansion, zeros left out). */
static void expansion_add(expansion *e, double x)
{
    if (x == 0) return;
    int kept = 0;

    /* add x to each part and keep the roundings */
    for (int i = 0; i < e->count; i++) {
        /* sum + error = x + part, exactly (Knuth's two-sum) */
        double part = e->parts[i], sum = x + part, rounded = sum - x;
        double error = (x - (sum - rounded)) + (part - rounded);
        if (error != 0) e->parts[kept++] = error;
        x = sum;
    }

    if (x != 0) e->parts[kept++] = x;
    e->count = kept;
}

/* Add sign x a x b x c. a b is exact in a double; cut in halves of at most 26 bits, so are both products with c. */
static void expansion_add_product(expansion *e, double sign, float a, float b, float c)
{
    double product = sign * ((double)a * b);
    double shifted = 134217729.0 * product; /* 2^27 + 1: Veltkamp's split */
    double high = shifted - (shifted - product), low = product - high;
    expansion_add(e, high * c);
    expansion_add(e, low * c);
}

/* Add the determinant of the rows a, b, c. */
static void expansion_add_determinant(expansion *e, double sign, const float *a, const float *b, const float *c)
{
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        expansion_add_product(e, sign, a[k], b[l], c[m]);
        expansion_add_product(e, -sign, a[k], b[m], c[l]);
    }
}

/* |b-a, c-a, d-a| = |b c d| - |a c d| + |a b d| - |a b c|. */
int orient3d_exact(const float *a, const float *b, const float *c, const float *d)
{
    expansion e = {.count = 0};
    expansion_add_determinant(&e, 1, b, c, d);
    expansion_add_determinant(&e, -1, a, c, d);
    expansion_add_determinant(&e, 1, a, b, d);
    expansion_add_determinant(&e, -1, a, b, c);
    if (e.count == 0) return 0;
    return e.parts[e.count - 1] > 0 ? 1 : -1;
}
