/*
 * lattice_match.c: the rotation of each region, by polar decomposition of its moments (section 6.1 of the paper;
 * Mueller, Heidelberger, Teschner, Gross 2005), LANES regions at a time.
 *
 * The rotation is improved from the last substep's by Newton steps on the rotation vector: with H = R^T A the energy
 * of shape matching has gradient axial(A R^T) and second derivative tr(H) 1 - H. Two steps reach single precision at
 * the turns of one substep. Where the second derivative is not positive (a region turned inside out) the step of
 * Mueller, Bender, Chentanez and Macklin 2016 stands in, which is stable always.
 *
 * Positions come as deviations from the rest places, in the frame of each voxel, and leave so: what is summed is small,
 * and a body that rests in its pose is exact to the last digits.
 *
 * A region that is one voxel thin along an axis has no moment there, and does not know its own twist; one that is a
 * mere row would hang like a chain. It takes the missing columns from how the skeleton turns its voxel. In the same way
 * the region of a bone voxel takes its rotation from the bone: a row of bone voxels alone could not tell flesh that the
 * bone turns about its own length, and a head would not follow a shaken neck.
 */
#include "solvers/lattice/lattice.h"

#define POLAR_STEPS 2
/* Voxels in one block of work, a multiple of any LANES. */
#define REGION_GRAIN 512

typedef struct rotation_job {
    const lattice_regions *regions;
    const lattice_frame *moments, *priors;
    float *rotations;
    lattice_frame *frames;
} rotation_job;

typedef struct vrotation {
    vfloat m[9]; /* row-major */
} vrotation;

static inline vrotation rotation_of(const vfloat q[4])
{
    vfloat two = v_set(2), one = v_set(1);
    vfloat xx = q[0] * q[0], yy = q[1] * q[1], zz = q[2] * q[2], xy = q[0] * q[1], xz = q[0] * q[2], yz = q[1] * q[2],
           wx = q[3] * q[0], wy = q[3] * q[1], wz = q[3] * q[2];
    return (vrotation){{one - two * (yy + zz), two * (xy - wz), two * (xz + wy), two * (xy + wz), one - two * (xx + zz),
                        two * (yz - wx), two * (xz - wy), two * (yz + wx), one - two * (xx + yy)}};
}

/* One step from rotation q towards the rotation of a. */
static inline void polar_step(const vfloat a[9], vfloat q[4])
{
    vrotation r = rotation_of(q);

    /* S = A R^T, its axial vector g and symmetric part. */
    vfloat s[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s[3 * i + j] = a[3 * i] * r.m[3 * j] + a[3 * i + 1] * r.m[3 * j + 1] + a[3 * i + 2] * r.m[3 * j + 2];
    vfloat half = v_set(0.5f), zero = v_set(0);
    vfloat gx = s[7] - s[5], gy = s[2] - s[6], gz = s[3] - s[1];
    vfloat trace = s[0] + s[4] + s[8];

    /* G = tr(S) 1 - sym(S). */
    vfloat g00 = trace - s[0], g11 = trace - s[4], g22 = trace - s[8];
    vfloat g01 = -half * (s[1] + s[3]), g02 = -half * (s[2] + s[6]), g12 = -half * (s[5] + s[7]);
    vfloat c00 = g11 * g22 - g12 * g12, c01 = g02 * g12 - g01 * g22, c02 = g01 * g12 - g02 * g11;
    vfloat c11 = g00 * g22 - g02 * g02, c12 = g01 * g02 - g00 * g12, c22 = g00 * g11 - g01 * g01;
    vfloat det = g00 * c00 + g01 * c01 + g02 * c02;
    vfloat scale = v_abs(trace);

    /* Positive definite, and well enough so: leading minors against the trace. */
    vint sound = v_less(v_set(1e-3f) * scale, g00) & v_less(v_set(1e-3f) * scale * scale, c22) &
                 v_less(v_set(1e-4f) * scale * scale * scale, det);
    vfloat inverse = v_set(1) / v_select(sound, det, v_set(1));
    vfloat fallback = v_set(1) / (scale + v_set(1e-20f));
    vfloat wx = v_select(sound, (c00 * gx + c01 * gy + c02 * gz) * inverse, gx * fallback);
    vfloat wy = v_select(sound, (c01 * gx + c11 * gy + c12 * gz) * inverse, gy * fallback);
    vfloat wz = v_select(sound, (c02 * gx + c12 * gy + c22 * gz) * inverse, gz * fallback);

    /* At most about 114 degrees a step. */
    vfloat length2 = wx * wx + wy * wy + wz * wz;
    vfloat shrink = v_select(v_less(v_set(4), length2), v_set(2) / v_sqrt(v_max(length2, v_set(4))), v_set(1));
    shrink = v_select(v_less(length2, v_set(1e30f)), shrink, zero) * half;
    wx = wx * shrink;
    wy = wy * shrink;
    wz = wz * shrink;

    /* the first-order step of the quaternion */
    vfloat n[4] = {q[0] + wx * q[3] + wy * q[2] - wz * q[1], q[1] + wy * q[3] + wz * q[0] - wx * q[2],
                   q[2] + wz * q[3] + wx * q[1] - wy * q[0], q[3] - wx * q[0] - wy * q[1] - wz * q[2]};
    vfloat norm2 = n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3];

    /* Moments that are not finite leave the rotation as it was. */
    vint finite = v_less(v_set(0.5f), norm2) & v_less(norm2, v_set(1e6f));
    vfloat norm = v_set(1) / v_sqrt(v_select(finite, norm2, v_set(1)));
    for (int i = 0; i < 4; i++) q[i] = v_select(finite, n[i] * norm, q[i]);
}

static void rotations_block(void *context, int begin, int end)
{
    const rotation_job *job = context;
    const lattice_regions *regions = job->regions;
    int stride = (int)(sizeof(lattice_frame) / sizeof(float)), padded = regions->padded;
    int32_t index[LANES];
    for (int lane = 0; lane < LANES; lane++) index[lane] = lane * stride;

    for (int v = begin; v < end; v += LANES) {
        /* the sums of the region, and its rest shape */
        const float *moments = (const float *)&job->moments[v];
        vfloat sum[4], column[4], shape[6], a[9], q[4], offset[3];
        v_load4(moments, index, sum);
        for (int i = 0; i < 3; i++) offset[i] = v_load(regions->offset[i] + v);
        for (int i = 0; i < 6; i++) shape[i] = v_load(regions->shape[i] + v);

        /* A = sum of x (x0 - c0)^T, of which the rest places' share is the rest shape. */
        static const int symmetric[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
        for (int k = 0; k < 3; k++) {
            v_load4(moments + 4 * (k + 1), index, column);
            for (int i = 0; i < 3; i++) a[3 * i + k] = column[i] - sum[i] * offset[k] + shape[symmetric[3 * i + k]];
        }

        /* The skeleton's rotation where a region is thin, or bone. */
        if (regions->thin[v / LANES]) {
            for (int k = 0; k < 3; k++) {
                vfloat prior = v_load(regions->prior[k] + v);
                if (!job->priors) {
                    a[4 * k] = a[4 * k] + prior;
                    continue;
                }
                v_load4((const float *)&job->priors[v].r[k], index, column);
                for (int i = 0; i < 3; i++) a[3 * i + k] = a[3 * i + k] + prior * column[i];
            }
        }

        /* from the last rotation, a few steps */
        for (int i = 0; i < 4; i++) q[i] = v_load(job->rotations + (size_t)i * padded + v);
        for (int i = 0; i < POLAR_STEPS; i++) polar_step(a, q);
        for (int i = 0; i < 4; i++) v_store(job->rotations + (size_t)i * padded + v, q[i]);

        /* The map minus the identity: where it puts its own voxel, and its rotation; times the region's stiffness. */
        vrotation r = rotation_of(q);
        for (int i = 0; i < 9; i += 4) r.m[i] = r.m[i] - v_set(1);
        vfloat inverse_mass = v_load(regions->inverse_mass + v);
        vfloat stiffness = v_load(regions->stiffness + v);
        vfloat place[4];
        for (int i = 0; i < 3; i++)
            place[i] = stiffness * (sum[i] * inverse_mass -
                                    (r.m[3 * i] * offset[0] + r.m[3 * i + 1] * offset[1] + r.m[3 * i + 2] * offset[2]));
        place[3] = stiffness;
        v_store4((float *)&job->frames[v], index, place);
        for (int k = 0; k < 3; k++) {
            vfloat out[4] = {stiffness * r.m[k], stiffness * r.m[3 + k], stiffness * r.m[6 + k], v_set(0)};
            v_store4((float *)&job->frames[v].r[k], index, out);
        }
    }
}

void lattice_rotations(const lattice_regions *regions, const lattice_frame *moments, const lattice_frame *priors,
                       float *rotations, lattice_frame *frames, const cutis_jobs *jobs)
{
    rotation_job job = {regions, moments, priors, rotations, frames};
    parallel_for(jobs, regions->padded, REGION_GRAIN, rotations_block, &job);
}
