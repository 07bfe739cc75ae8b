/*
 * grasp_closure.c: whether contacts with friction hold a body against any load.
 *
 * C. Ferrari, J. Canny 1992, "Planning optimal grasps" (ICRA): the score is the radius of the largest ball about the
 * origin in the convex hull of the contacts' wrenches, where all normal forces sum to one. A cone of friction is
 * replaced by a pyramid of CONE_EDGES edges. Torques are divided by the largest distance of the surface from the centre
 * of mass, as in A. Miller, P. Allen 1999, "Examples of 3D grasp quality computations" (ICRA), so that the score has no
 * unit.
 *
 * The hull in six dimensions is not built. The radius is the least value on the unit sphere of the support function
 * h(u) = max_i w_i . u, and 1 / h is the length of the vector of direction u on the boundary of the polar body
 * { y: w_i . y <= 1 }. The longest vector of that body is a vertex of it. From a start, y is replaced by the vertex
 * that is farthest in its direction (a linear program) until it stays: the length grows with every step. Several starts
 * are taken, so the score is exact where one of them ends at the longest vertex, and else too large by little.
 */
#include "grasp/grasp_private.h"

#include <math.h>
#include <string.h>

enum { ROWS = 6, COLUMN_LIMIT = TOUCH_LIMIT * CONE_EDGES, PIVOT_LIMIT = 200, STEP_LIMIT = 20 };
static const double TINY = 1e-9;
/* Cost of a wrench that no contact gives. Scaled columns are about 1, so real costs are far below. */
static const double MISSING_COST = 1e6;
/* A gauge above this counts as none: a ball of radius below 1e-4. */
static const double LARGEST_GAUGE = 1e4;

int grasp_wrenches(const grasp_touch *touches, int count, double friction, vec3 centre, double radius, double *columns)
{
    int used = 0;
    for (int i = 0; i < count; i++) {
        vec3 n = touches[i].normal, u = vec3_orthogonal(n), v = vec3_cross(n, u);
        vec3 arm = vec3_scale(vec3_sub(touches[i].place, centre), (float)(1 / radius));
        int edges = friction > 0 ? CONE_EDGES : 1;
        for (int e = 0; e < edges; e++) {
            double angle = 2 * 3.14159265358979323846 * e / edges;
            vec3 f = n;
            if (friction > 0) {
                f = vec3_madd(f, u, (float)(friction * det_cos(angle)));
                f = vec3_madd(f, v, (float)(friction * det_sin(angle)));
            }

            /* force, and torque in units of force */
            vec3 t = vec3_cross(arm, f);
            double *w = columns + (size_t)ROWS * (size_t)used++;
            w[0] = (double)f.x;
            w[1] = (double)f.y;
            w[2] = (double)f.z;
            w[3] = (double)t.x;
            w[4] = (double)t.y;
            w[5] = (double)t.z;
        }
    }
    return used;
}

/* ---- linear programs ---- */

/* Solve y . basis column = cost of each, by elimination with pivots. */
static bool solve_dual(double a[ROWS][ROWS + 1], double y[ROWS])
{
    for (int k = 0; k < ROWS; k++) {
        int pivot = k;
        for (int i = k + 1; i < ROWS; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
        if (fabs(a[pivot][k]) < 1e-12) return false;
        for (int j = 0; j <= ROWS; j++) {
            double swap = a[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = swap;
        }
        for (int i = 0; i < ROWS; i++) {
            if (i == k) continue;
            double f = a[i][k] / a[k][k];
            for (int j = k; j <= ROWS; j++) a[i][j] -= f * a[k][j];
        }
    }
    for (int k = 0; k < ROWS; k++) y[k] = a[k][ROWS] / a[k][k];
    return true;
}

/*
 * Revised simplex method: minimise the sum of x with columns x = target, x >= 0. The inverse of the basis is kept; the
 * first basis is that of missing wrenches at a high cost. Dantzig's rule; after half the limit of pivots, Bland's,
 * which cannot circle.
 */
double grasp_gauge(const double *columns, int count, const double target[6], double *dual)
{
    double inverse[ROWS][ROWS] = {{0}}, x[ROWS], y[ROWS];
    int basis[ROWS];
    for (int i = 0; i < ROWS; i++) {
        basis[i] = -1 - i;
        inverse[i][i] = target[i] < 0 ? -1 : 1;
        x[i] = fabs(target[i]);
    }

    for (int pivot = 0; pivot < PIVOT_LIMIT; pivot++) {
        /* prices */
        for (int k = 0; k < ROWS; k++) {
            y[k] = 0;
            for (int i = 0; i < ROWS; i++) y[k] += (basis[i] < 0 ? MISSING_COST : 1) * inverse[i][k];
        }

        /* the column that gains most */
        int enter = -1;
        double best = 1e-9;
        for (int c = 0; c < count; c++) {
            const double *w = columns + (size_t)ROWS * (size_t)c;
            double gain = -1;
            for (int k = 0; k < ROWS; k++) gain += y[k] * w[k];
            if (gain <= best) continue;
            enter = c;
            if (2 * pivot > PIVOT_LIMIT) break;
            best = gain;
        }
        if (enter < 0) break;

        /* the row that reaches zero first; missing wrenches leave first */
        double way[ROWS], least = INFINITY;
        int leave = -1;
        for (int i = 0; i < ROWS; i++) {
            way[i] = 0;
            for (int k = 0; k < ROWS; k++) way[i] += inverse[i][k] * columns[(size_t)ROWS * (size_t)enter + (size_t)k];
            if (way[i] < TINY) continue;
            double ratio = x[i] / way[i];
            if (ratio < least - TINY || (ratio < least + TINY && leave >= 0 && basis[i] < basis[leave])) {
                least = MIN(ratio, least);
                leave = i;
            }
        }
        if (leave < 0) break;

        /* the new basis */
        double scale = 1 / way[leave];
        for (int k = 0; k < ROWS; k++) inverse[leave][k] *= scale;
        x[leave] *= scale;
        for (int i = 0; i < ROWS; i++) {
            if (i == leave) continue;
            for (int k = 0; k < ROWS; k++) inverse[i][k] -= way[i] * inverse[leave][k];
            x[i] = MAX(x[i] - way[i] * x[leave], 0.0);
        }
        basis[leave] = enter;
    }

    /* a wrench that is missing still */
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        if (basis[i] < 0 && x[i] > 1e-7) return INFINITY;
        sum += basis[i] < 0 ? 0 : x[i];
    }
    if (!dual) return sum;

    /* the vertex of the polar body; without rank there is none */
    double a[ROWS][ROWS + 1];
    for (int i = 0; i < ROWS; i++) {
        if (basis[i] < 0) return INFINITY;
        for (int k = 0; k < ROWS; k++) a[i][k] = columns[(size_t)ROWS * (size_t)basis[i] + (size_t)k];
        a[i][ROWS] = 1;
    }
    return solve_dual(a, dual) ? sum : INFINITY;
}

/* ---- the score ---- */

static double length6(const double *y)
{
    double sum = 0;
    for (int k = 0; k < ROWS; k++) sum += y[k] * y[k];
    return sqrt(sum);
}

/* Starts: both ways of each axis, then directions of a fixed sequence. */
static void start_direction(int index, double u[ROWS])
{
    memset(u, 0, ROWS * sizeof *u);
    if (index < 2 * ROWS) {
        u[index / 2] = index % 2 ? -1 : 1;
        return;
    }
    uint32_t seed = 2654435761u * (uint32_t)index;
    for (int k = 0; k < ROWS; k++) {
        seed = seed * 1664525u + 1013904223u;
        u[k] = (double)(seed >> 8) / (1 << 23) - 1;
    }
}

double grasp_closure(const double *columns, int count, int starts)
{
    double longest = 0;
    for (int s = 0; s < starts; s++) {
        double u[ROWS], y[ROWS], last = 0;
        start_direction(s, u);
        for (int step = 0; step < STEP_LIMIT; step++) {
            double gauge = grasp_gauge(columns, count, u, y);
            if (!(gauge < LARGEST_GAUGE)) return 0;

            /* from here on in the direction of the vertex */
            double length = length6(y);
            if (!(length < LARGEST_GAUGE)) return 0;
            if (length <= last * (1 + 1e-9)) break;
            last = length;
            for (int k = 0; k < ROWS; k++) u[k] = y[k] / length;
        }
        longest = MAX(longest, last);
    }
    return longest > 0 ? 1 / longest : 0;
}
