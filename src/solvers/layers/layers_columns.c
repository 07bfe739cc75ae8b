/*
 * layers_columns.c: the springs that join the four layers of a point, and the matrices of these columns.
 *
 * Deul and Bender 2013 join the layers by taking the siblings of a region's centre into the region. Here a spring
 * holds the deviation of a particle from its place under the skeleton near that of the particle below it. Its
 * stiffness is that of a column of tissue in shear, modulus times area over length, scaled so that a column of one
 * tissue, free at the skin and fixed at the bone, has the tissue's frequency as its lowest, whatever the mesh.
 */
#include "solvers/layers/layers.h"

/* Iterations of the power method, for an eigenvalue right to a percent or better. */
enum { POWER_STEPS = 12 };

/* Inverse of the symmetric tridiagonal matrix of the three free layers: upper half by rows, off: next to the diagonal.
 */
static void column_invert(const double diagonal[3], const double off[2], double inverse[6])
{
    double d = diagonal[1] * diagonal[2] - off[1] * off[1];
    double determinant = diagonal[0] * d - off[0] * off[0] * diagonal[2];
    inverse[0] = d / determinant;
    inverse[1] = -off[0] * diagonal[2] / determinant;
    inverse[2] = off[0] * off[1] / determinant;
    inverse[3] = diagonal[0] * diagonal[2] / determinant;
    inverse[4] = -diagonal[0] * off[1] / determinant;
    inverse[5] = (diagonal[0] * diagonal[1] - off[0] * off[0]) / determinant;
}

/* The lowest eigenvalue of a column, 1/s^2. */
static double column_lowest(const float mass[LAYERS], const double springs[3])
{
    double diagonal[3], off[2], inverse[6], u[3] = {3, 2, 1}, largest = 0;

    /* stiffness matrix, and its inverse */
    for (int l = 0; l < 3; l++) diagonal[l] = springs[l] + (l > 0 ? springs[l - 1] : 0);
    for (int l = 0; l < 2; l++) off[l] = -springs[l];
    column_invert(diagonal, off, inverse);

    /* power iteration on the inverse: its largest eigenvalue is 1 / the lowest */
    for (int step = 0; step < POWER_STEPS; step++) {
        double a[3], next[3];
        for (int l = 0; l < 3; l++) a[l] = mass[l] * u[l];
        next[0] = inverse[0] * a[0] + inverse[1] * a[1] + inverse[2] * a[2];
        next[1] = inverse[1] * a[0] + inverse[3] * a[1] + inverse[4] * a[2];
        next[2] = inverse[2] * a[0] + inverse[4] * a[1] + inverse[5] * a[2];

        largest = next[0] / u[0];
        for (int l = 0; l < 3; l++) u[l] = next[l] / next[0];
    }

    return 1 / largest;
}

void layers_columns_build(int point_count, const double *moduli, layers_regions *regions, float *frequencies)
{
    for (int k = 0; k < point_count; k++) {
        const float *mass = regions->mass + 4 * k;
        double springs[3];

        /* springs by the inverse of the layers' distances */
        for (int l = 0; l < 3; l++) {
            double length2 = 0;
            for (int c = 0; c < 3; c++) {
                double d = (double)regions->rest[c][4 * k + l + 1] - regions->rest[c][4 * k + l];
                length2 += d * d;
            }
            springs[l] = 1 / sqrt(MAX(length2, 1e-16));
        }

        /* in units in which the lowest frequency is 1, then by the moduli */
        double scale = 1 / column_lowest(mass, springs);
        for (int l = 0; l < 3; l++) springs[l] *= scale * moduli[3 * k + l];
        for (int l = 0; l < 3; l++) regions->springs[4 * k + l] = (float)springs[l];
        regions->springs[4 * k + LAYER_BONE] = 0;

        frequencies[k] = (float)column_lowest(mass, springs);
    }
}

void layers_columns_factor(const layers_regions *regions, const float *ties, double h, int begin, int end,
                           layers_iterate *iterate)
{
    double h2 = h * h;

    for (int k = begin; k < end; k++) {
        double diagonal[3], off[2], inverse[6];
        const float *springs = regions->springs + 4 * k;

        /* implicit Euler: mass, and h^2 times the stiffnesses */
        for (int l = 0; l < 3; l++) {
            int i = 4 * k + l;
            diagonal[l] = regions->mass[i] * (1 + h2 * ((double)regions->kappa_mean[i] + ties[i])) +
                          h2 * (springs[l] + (l > 0 ? springs[l - 1] : 0));
        }

        for (int l = 0; l < 2; l++) off[l] = -h2 * springs[l];
        column_invert(diagonal, off, inverse);

        /* entry (l, l + d) of the inverse, by d; the bone layer stays where the skeleton has it */
        double full[LAYERS][LAYERS] = {{inverse[0], inverse[1], inverse[2]},
                                       {inverse[1], inverse[3], inverse[4]},
                                       {inverse[2], inverse[4], inverse[5]}};
        for (int d = 0; d < LAYERS; d++)
            for (int l = 0; l < LAYERS; l++) iterate->columns[16 * k + 4 * d + l] = (float)full[l][(l + d) % LAYERS];
    }
}
