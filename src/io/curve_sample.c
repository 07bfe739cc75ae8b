/*
 * curve_sample.c: instants to sample animation curves at, and cubic segments.
 */
#include "io/curve_sample.h"

#include <math.h>
#include <stdlib.h>

#include "base/core.h"

enum { SAMPLE_RATE = 60, SAMPLE_LIMIT = 1 << 20 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Equal steps from one key to the next. */
static double key_steps(const double *keys, size_t i) { return ceil((keys[i + 1] - keys[i]) * SAMPLE_RATE - 1e-3); }

size_t instants_prepare(double *keys, size_t *key_count, bool *dense)
{
    if (*key_count == 0) return 0;
    qsort(keys, *key_count, sizeof *keys, compare_doubles);

    /* join what is close */
    size_t kept = 1;
    for (size_t i = 1; i < *key_count; i++)
        if (keys[i] - keys[kept - 1] > 1e-5) keys[kept++] = keys[i];
    *key_count = kept;

    /* samples between the keys, unless they become too many */
    double total = 1;
    for (size_t i = 0; i + 1 < kept; i++) total += MAX(key_steps(keys, i), 1.0);
    if (!(total <= SAMPLE_LIMIT)) *dense = false;
    return *dense ? (size_t)total : kept;
}

void instants_fill(const double *keys, size_t key_count, bool dense, double *instants)
{
    for (size_t i = 0; i < key_count; i++) {
        *instants++ = keys[i];
        int steps = dense && i + 1 < key_count ? (int)key_steps(keys, i) : 0;
        for (int k = 1; k < steps; k++) *instants++ = keys[i] + (keys[i + 1] - keys[i]) * k / steps;
    }
}

int instants_find(const double *times, int count, double time)
{
    int low = 0, high = count;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (times[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The parameter at which a Bezier curve with these inner times is at `share`. */
static double bezier_parameter(double share, double one, double two)
{
    if (fabs(one - 1.0 / 3) < 1e-6 && fabs(two - 2.0 / 3) < 1e-6) return share;

    /* bisection of the cubic in time, which rises */
    double low = 0, high = 1;
    for (int i = 0; i < 40; i++) {
        double s = (low + high) / 2, t = 1 - s;
        double x = 3 * t * t * s * one + 3 * t * s * s * two + s * s * s;
        if (x < share)
            low = s;
        else
            high = s;
    }

    return (low + high) / 2;
}

double bezier_value(double share, double one, double two, const double values[4])
{
    double s = bezier_parameter(share, one, two), t = 1 - s;
    return t * t * t * values[0] + 3 * t * t * s * values[1] + 3 * t * s * s * values[2] + s * s * s * values[3];
}
