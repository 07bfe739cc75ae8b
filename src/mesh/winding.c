/*
 * winding.c: the generalised winding number, also of surfaces with holes.
 *
 * Jacobson, Kavan, Sorkine-Hornung 2013, "Robust inside-outside segmentation using generalized winding
 * numbers": the sum of the solid angles of the triangles over 4 pi, each by the formula of van Oosterom and
 * Strackee 1983.
 */
#include "mesh/mesh.h"

double mesh_winding(int triangle_count, const int *triangles, const float *positions, vec3 p)
{
    double sum = 0;

    for (int t = 0; t < triangle_count; t++) {
        /* corners as seen from p */
        double r[3][3], length[3];
        for (int k = 0; k < 3; k++) {
            const float *q = positions + 3 * (size_t)triangles[3 * (size_t)t + k];
            r[k][0] = (double)q[0] - p.x;
            r[k][1] = (double)q[1] - p.y;
            r[k][2] = (double)q[2] - p.z;
            length[k] = sqrt(r[k][0] * r[k][0] + r[k][1] * r[k][1] + r[k][2] * r[k][2]);
        }

        /* solid angle (van Oosterom and Strackee): tan(angle / 2) = determinant / divisor */
        double determinant = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) +
                             r[0][1] * (r[1][2] * r[2][0] - r[1][0] * r[2][2]) +
                             r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);

        double dot01 = r[0][0] * r[1][0] + r[0][1] * r[1][1] + r[0][2] * r[1][2];
        double dot12 = r[1][0] * r[2][0] + r[1][1] * r[2][1] + r[1][2] * r[2][2];
        double dot20 = r[2][0] * r[0][0] + r[2][1] * r[0][1] + r[2][2] * r[0][2];
        double divisor = length[0] * length[1] * length[2] + dot01 * length[2] + dot12 * length[0] + dot20 * length[1];

        /* In the triangle's plane the angle is 0 or undefined: half on either side cancels out. */
        if (determinant != 0) sum += det_atan2(determinant, divisor);
    }

    return sum / (2 * 3.14159265358979323846);
}
