/*
 * skinning.c: the two skinning kernels.
 *
 * A matrix is kept as four columns of four floats, so that a blend is a sum of whole vectors and a
 * transformed point is columns times coordinates: no step mixes the lanes of a vector except one fixed sum of
 * two halves. The order of additions is the same in the scalar build, so the bits are too.
 */
#include "character/skinning.h"

#include <string.h>

#include "math/math3.h"
#include "math/simd.h"

enum {
    GRAIN = 2048, /* positions a block */
    COLUMN_FLOATS =
        SKINNING_COLUMNS /* a joint's four columns; for dual quaternions: real and dual part, then 8 unused */
};

cutis_result skinning_build(skinning *s, int count, const float *rest, const int *first, const int *joints,
                            const float *weights, int joint_count, arena *memory, cutis_error *error)
{
    /* Runs of 2 to 4 influences take 4 places: most characters then have one kind of run. */
    int *own_first = ARENA_ARRAY(memory, int, count + 1);
    if (!own_first) return error_memory(error, "skinning weights");

    /* where each run begins */
    size_t total = 0;
    for (int i = 0; i < count; i++) {
        int n = first ? first[i + 1] - first[i] : 0;
        own_first[i] = (int)total;
        total += (size_t)(n >= 2 && n <= 4 ? 4 : n);
    }
    if (total > INT32_MAX) return error_memory(error, "skinning weights");
    own_first[count] = (int)total;

    int *own_offsets = ARENA_ARRAY(memory, int, total);
    float *own_weights = ARENA_ARRAY(memory, float, total);
    float *own_rest = arena_copy(memory, rest, (size_t)count * 3, sizeof(float));
    if (!own_offsets || !own_weights || !own_rest) return error_memory(error, "skinning weights");

    /* the largest weight first: dual quaternions are turned to its side */
    for (int i = 0; first && i < count; i++) {
        int n = first[i + 1] - first[i], base = own_first[i];
        for (int k = 0; k < n; k++) {
            /* Insertion by weight, the largest first; equal weights keep their order. */
            int at = base + k;
            float weight = weights[first[i] + k];
            for (; at > base && own_weights[at - 1] < weight; at--) {
                own_weights[at] = own_weights[at - 1];
                own_offsets[at] = own_offsets[at - 1];
            }
            own_weights[at] = weight;
            own_offsets[at] = COLUMN_FLOATS * joints[first[i] + k];
        }

        /* the places that are left repeat the first joint with weight 0 */
        for (int k = n; k < own_first[i + 1] - base; k++) own_offsets[base + k] = own_offsets[base];
    }
    *s = (skinning){count, joint_count, own_rest, own_first, own_offsets, own_weights};
    return CUTIS_OK;
}

cutis_result skinning_build_points(skinning *s, const cutis_character *c, arena *scratch, arena *memory,
                                   cutis_error *error)
{
    float *rest = ARENA_ARRAY(scratch, float, 3 * (size_t)c->point_count);
    int *first = c->influence_first ? ARENA_ARRAY(scratch, int, c->point_count + 1) : NULL;
    int total = c->influence_first ? c->influence_first[c->vertex_count] : 0;
    int *joints = ARENA_ARRAY(scratch, int, total);
    float *weights = ARENA_ARRAY(scratch, float, total);
    if (scratch->failed) return error_memory(error, "skinning");
    for (int p = 0; p < c->point_count; p++) {
        int v = c->point_vertices[p];
        memcpy(rest + 3 * (size_t)p, c->positions + 3 * (size_t)v, 3 * sizeof(float));
        if (!first) continue;

        /* the influences of the point's first vertex */
        int count = c->influence_first[v + 1] - c->influence_first[v];
        memcpy(joints + first[p], c->influence_joints + c->influence_first[v], (size_t)count * sizeof(int));
        memcpy(weights + first[p], c->influence_weights + c->influence_first[v], (size_t)count * sizeof(float));
        first[p + 1] = first[p] + count;
    }
    return skinning_build(s, c->point_count, rest, first, joints, weights, c->joint_count, memory, error);
}

bool vertices_move_alike(const cutis_character *c, int a, int b)
{
    if (!c->influence_first) return true;

    /* the share of a's weights that b does not have */
    float difference = 0;
    for (int i = c->influence_first[a]; i < c->influence_first[a + 1]; i++) {
        float other = 0;
        for (int k = c->influence_first[b]; k < c->influence_first[b + 1]; k++) {
            if (c->influence_joints[k] == c->influence_joints[i]) other = c->influence_weights[k];
        }
        difference += MAX(c->influence_weights[i] - other, 0);
    }

    /* Exporters quantise weights to bytes: a few steps of 1/255 are noise. */
    bool both =
        (c->influence_first[a + 1] > c->influence_first[a]) == (c->influence_first[b + 1] > c->influence_first[b]);
    return both && difference <= 0.02f;
}

void skin_matrices(const cutis_character *character, const float *joints, float *skin)
{
    for (int j = 0; j < character->joint_count; j++) {
        mat34 world, bind;
        memcpy(&world, joints + 12 * j, sizeof world);
        memcpy(&bind, character->joints[j].inverse_bind, sizeof bind);
        mat34 product = mat34_multiply(world, bind);
        memcpy(skin + 12 * j, &product, sizeof product);
    }
}

vec3 joint_bind_place(const cutis_joint *joint)
{
    mat34 inverse, bind;
    memcpy(inverse.m, joint->inverse_bind, sizeof inverse.m);
    mat34_inverse(inverse, &bind);
    return vec3_make(bind.m[3], bind.m[7], bind.m[11]);
}

vec3 skinning_place(const skinning *s, const float *skin, int position)
{
    vec3 rest = vec3_load(s->rest + 3 * (size_t)position), sum = {0, 0, 0};
    if (s->first[position] == s->first[position + 1]) return rest;
    for (int n = s->first[position]; n < s->first[position + 1]; n++)
        sum = vec3_madd(sum, mat34_point(skin + 12 * (s->offsets[n] / COLUMN_FLOATS), rest), s->weights[n]);
    return sum;
}

vec3 skinning_direction(const skinning *s, const float *skin, int position, vec3 direction)
{
    vec3 sum = {0, 0, 0};
    for (int n = s->first[position]; n < s->first[position + 1]; n++) {
        const float *joint = skin + 12 * (s->offsets[n] / COLUMN_FLOATS);
        sum = vec3_madd(sum, mat34_vector(joint, direction), s->weights[n]);
    }
    float length = vec3_length(sum);
    return length > 0 ? vec3_scale(sum, vec3_length(direction) / length) : direction;
}

/* Columns or dual quaternions, and for the latter one 3 x 3 stretch per joint behind them, plus a flag. */
size_t skinning_scratch_count(const skinning *s) { return (size_t)s->joint_count * (COLUMN_FLOATS + 9) + 16; }

/* ---- linear blend ---- */

typedef struct skinning_job {
    const skinning *s;
    const float *columns; /* (joint_count x 16) */
    const float *stretch; /* (joint_count x 9), or NULL when all are the identity */
    float *positions;
    float side; /* cosine between two dual quaternions below which one is turned to the other's side */
} skinning_job;

/* A blended matrix: columns 0 and 1, columns 2 and 3. */
typedef struct blended {
    f8 c01, c23;
} blended;

static inline blended blend_columns(const float *columns, const int *offsets, const float *weights, int count)
{
    const float *m = columns + offsets[0];
    f8 w = f8_set(weights[0]);
    blended b = {f8_mul(w, f8_load(m)), f8_mul(w, f8_load(m + 8))};
    for (int k = 1; k < count; k++) {
        m = columns + offsets[k];
        w = f8_set(weights[k]);
        b.c01 = f8_add(b.c01, f8_mul(w, f8_load(m)));
        b.c23 = f8_add(b.c23, f8_mul(w, f8_load(m + 8)));
    }
    return b;
}

static inline f4 blended_point(blended b, const float *p)
{
    f8 sum = f8_add(f8_mul(b.c01, f8_pair(p[0], p[1])), f8_mul(b.c23, f8_pair(p[2], 1)));
    return f4_add(f8_low(sum), f8_high(sum));
}

/* A position with any number of influences. */
static void linear_one(const skinning_job *job, int i, float result[4])
{
    int at = job->s->first[i], count = job->s->first[i + 1] - at;
    const float *p = job->s->rest + 3 * (size_t)i;
    if (count > 0) {
        f4_store(result,
                 blended_point(blend_columns(job->columns, job->s->offsets + at, job->s->weights + at, count), p));
    } else {
        memcpy(result, p, 3 * sizeof *p);
    }
}

static void linear_block(void *context, int begin, int end)
{
    const skinning_job *job = context;
    const float *columns = job->columns, *rest = job->s->rest, *weights = job->s->weights;
    const int *first = job->s->first, *offsets = job->s->offsets;
    float *positions = job->positions;

    /*
     * Four floats are stored where three are wanted: the next position overwrites the fourth. The last one of
     * the block must not touch its neighbour's, so it is done apart.
     */
    int i = begin;
    while (i < end - 1) {
        for (int at = first[i]; i < end - 1 && first[i + 1] == at + 4; i++, at += 4) {
            f4_store(positions + 3 * (size_t)i,
                     blended_point(blend_columns(columns, offsets + at, weights + at, 4), rest + 3 * (size_t)i));
        }
        for (; i < end - 1 && first[i + 1] != first[i] + 4; i++) linear_one(job, i, positions + 3 * (size_t)i);
    }

    /* the last one, through a buffer */
    float last[4];
    linear_one(job, i, last);
    memcpy(positions + 3 * (size_t)i, last, 3 * sizeof(float));
}

void skinning_linear(const skinning *s, const float *skin, float *scratch, const cutis_jobs *jobs, float *positions)
{
    for (int j = 0; j < s->joint_count; j++) {
        const float *m = skin + 12 * j;
        float *c = scratch + COLUMN_FLOATS * j;
        for (int column = 0; column < 4; column++) {
            for (int row = 0; row < 3; row++) c[4 * column + row] = m[4 * row + column];
            c[4 * column + 3] = 0;
        }
    }
    skinning_job job = {s, scratch, NULL, positions, 0};
    parallel_for(jobs, s->count, GRAIN, linear_block, &job);
}

/* ---- dual quaternions ---- */

static void dual_some(const skinning_job *job, int begin, int end)
{
    const skinning *s = job->s;

    for (int i = begin; i < end; i++) {
        int first = s->first[i], count = s->first[i + 1] - first;
        vec3 p = vec3_load(s->rest + 3 * i);
        if (count == 0) {
            vec3_store(job->positions + 3 * i, p);
            continue;
        }

        const int *offsets = s->offsets + first;
        const float *weights = s->weights + first;

        /* Stretch first, blended linearly. */
        if (job->stretch) {
            mat3 stretch = {{0}};
            for (int k = 0; k < count; k++) {
                for (int e = 0; e < 9; e++)
                    stretch.m[e] += weights[k] * job->stretch[offsets[k] / COLUMN_FLOATS * 9 + e];
            }
            p = mat3_vector(stretch, p);
        }

        /* Then the rigid part: q and -q are one rotation, so all are turned to the side of the pivot. */
        const float *pivot = job->columns + offsets[0];
        f8 sum = f8_mul(f8_set(weights[0]), f8_load(pivot));
        for (int k = 1; k < count; k++) {
            const float *dq = job->columns + offsets[k];
            float dot = (pivot[0] * dq[0] + pivot[1] * dq[1]) + (pivot[2] * dq[2] + pivot[3] * dq[3]);
            sum = f8_add(sum, f8_mul(f8_set(dot < job->side ? -weights[k] : weights[k]), f8_load(dq)));
        }

        /* unit length */
        float b[8];
        memcpy(b, &sum, sizeof b);
        float norm = sqrtf((b[0] * b[0] + b[1] * b[1]) + (b[2] * b[2] + b[3] * b[3]));

        /* The real parts lie nearly in one half space, so only rounding can bring the norm to zero. */
        if (!(norm > 1e-12f)) {
            memcpy(b, pivot, sizeof b);
            norm = 1;
        }

        float inverse = 1 / norm;
        for (int e = 0; e < 8; e++) b[e] *= inverse;
        quat real = {b[0], b[1], b[2], b[3]};
        vec3 rv = {b[0], b[1], b[2]}, dv = {b[4], b[5], b[6]};

        /* translation = 2 (w dv - dw rv + rv x dv) */
        vec3 t = vec3_sub(vec3_scale(dv, b[3]), vec3_scale(rv, b[7]));
        t = vec3_scale(vec3_add(t, vec3_cross(rv, dv)), 2);
        vec3_store(job->positions + 3 * i, vec3_add(quat_rotate(real, p), t));
    }
}

/* The same, and the same bits, for LANES positions of one to four influences each, from i on; nothing is stretched. */
static void dual_lanes(const skinning_job *job, int i)
{
    const skinning *s = job->s;
    int32_t places[LANES], joints[4][LANES];
    float shares[4][LANES];
    vfloat pivot[4], real[4], dual[4], p[4];

    /* offsets and weights across the lanes; what is missing weighs 0 */
    for (int lane = 0; lane < LANES; lane++) {
        int at = s->first[i + lane], count = s->first[i + lane + 1] - at;
        for (int k = 0; k < 4; k++) {
            joints[k][lane] = s->offsets[at + (k < count ? k : 0)];
            shares[k][lane] = k < count ? s->weights[at + (k < count ? k : 0)] : 0;
        }
    }

    /* blend, each turned to the side of the first */
    for (int k = 0; k < 4; k++) {
        vfloat q[4], d[4], w = v_load(shares[k]);
        v_load4(job->columns, joints[k], q);
        v_load4(job->columns + 4, joints[k], d);
        if (k == 0) {
            for (int e = 0; e < 4; e++) {
                pivot[e] = q[e];
                real[e] = w * q[e];
                dual[e] = w * d[e];
            }
            continue;
        }
        vfloat dot = (pivot[0] * q[0] + pivot[1] * q[1]) + (pivot[2] * q[2] + pivot[3] * q[3]);
        w = v_select(v_less(dot, v_set(job->side)), -w, w);
        for (int e = 0; e < 4; e++) {
            real[e] = real[e] + w * q[e];
            dual[e] = dual[e] + w * d[e];
        }
    }

    /* a blend without length in any lane: one at a time */
    vfloat norm = v_sqrt((real[0] * real[0] + real[1] * real[1]) + (real[2] * real[2] + real[3] * real[3]));
    vint sound = v_less(v_set(1e-12f), norm);
    for (int lane = 0; lane < LANES; lane++)
        if (!((const int32_t *)&sound)[lane]) {
            dual_some(job, i, i + LANES);
            return;
        }

    /* unit length */
    vfloat inverse = v_set(1) / norm;
    for (int e = 0; e < 4; e++) {
        real[e] = real[e] * inverse;
        dual[e] = dual[e] * inverse;
    }

    /* rotate and translate the rest positions */
    for (int lane = 0; lane < LANES; lane++) places[lane] = 3 * (i + lane);
    v_load4(s->rest, places, p);
    vfloat result[4], turn[3];
    for (int e = 0; e < 3; e++) {
        int f = (e + 1) % 3, g = (e + 2) % 3;
        turn[e] = (real[f] * p[g] - real[g] * p[f]) * v_set(2);
    }
    for (int e = 0; e < 3; e++) {
        int f = (e + 1) % 3, g = (e + 2) % 3;
        vfloat move = dual[e] * real[3] - real[e] * dual[3];
        move = (move + (real[f] * dual[g] - real[g] * dual[f])) * v_set(2);
        result[e] = (p[e] + turn[e] * real[3] + (real[f] * turn[g] - real[g] * turn[f])) + move;
    }

    /* back to three floats a position */
    result[3] = v_set(0);
    float records[4 * LANES];
    for (int lane = 0; lane < LANES; lane++) places[lane] = 4 * lane;
    v_store4(records, places, result);
    for (int lane = 0; lane < LANES; lane++)
        memcpy(job->positions + 3 * ((size_t)i + (size_t)lane), records + 4 * lane, 3 * sizeof(float));
}

static void dual_block(void *context, int begin, int end)
{
    const skinning_job *job = context;

    const int *first = job->s->first;
    int i = begin;
    while (i < end) {
        /* Four floats are read where three are wanted: the last position of all is done apart. */
        bool lanes = !job->stretch && i + LANES <= end && i + LANES < job->s->count;
        for (int lane = 0; lane < LANES && lanes; lane++)
            lanes = (unsigned)(first[i + lane + 1] - first[i + lane] - 1) < 4;
        if (lanes) {
            dual_lanes(job, i);
            i += LANES;
        } else {
            dual_some(job, i, i + 1);
            i++;
        }
    }
}

/* The largest entry of rotation^T x linear - 1. */
static float stretch_find(quat rotation, mat3 linear, float *stretch)
{
    mat3 product = mat3_multiply(mat3_transpose(quat_matrix(rotation)), linear), identity = mat3_identity();
    float largest = 0;
    for (int e = 0; e < 9; e++) {
        stretch[e] = product.m[e];
        largest = fmaxf(largest, fabsf(product.m[e] - identity.m[e]));
    }
    return largest;
}

/*
 * Dual quaternions and stretches of the joints into scratch. Returns the stretches, or NULL when there are none. A
 * matrix that is a rotation to `rigid` is taken as it is, for the search of the nearest one takes as long as a thousand
 * vertices.
 */
static const float *duals_find(const skinning *s, const float *skin, float rigid, float *scratch)
{
    float *stretches = scratch + (size_t)COLUMN_FLOATS * (size_t)s->joint_count;
    bool stretched = false;
    for (int j = 0; j < s->joint_count; j++) {
        mat34 m;
        memcpy(&m, skin + 12 * j, sizeof m);
        mat3 linear = {{m.m[0], m.m[1], m.m[2], m.m[4], m.m[5], m.m[6], m.m[8], m.m[9], m.m[10]}};
        vec3 translation, scale;
        quat guess;
        mat34_decompose(m, &translation, &guess, &scale);

        /* A mirrored matrix keeps its mirror in the stretch: rotation x stretch is the matrix in any case. */
        quat r = guess;
        float largest = stretch_find(r, linear, stretches + 9 * j);
        if (!(largest < rigid)) {
            r = polar_rotation(linear, guess, 30);
            largest = stretch_find(r, linear, stretches + 9 * j);
        }
        stretched = stretched || largest > 1e-5f;

        /* dual part = translation x real / 2 */
        quat t = {translation.x, translation.y, translation.z, 0};
        quat d = quat_multiply(t, r);
        float *dq = scratch + COLUMN_FLOATS * j;
        dq[0] = r.x;
        dq[1] = r.y;
        dq[2] = r.z;
        dq[3] = r.w;
        dq[4] = d.x / 2;
        dq[5] = d.y / 2;
        dq[6] = d.z / 2;
        dq[7] = d.w / 2;
    }
    return stretched ? stretches : NULL;
}

void skinning_dual(const skinning *s, const float *skin, float *scratch, const cutis_jobs *jobs, float *positions)
{
    skinning_job job = {s, scratch, duals_find(s, skin, 2e-6f, scratch), positions, 0};
    parallel_for(jobs, s->count, GRAIN, dual_block, &job);
}

/*
 * Cosines of half the turn of a bone against its parent at which it counts as the shorter turn the other way
 * (215 degrees), and of the same between any two bones of a position (240): blends further apart cancel.
 */
static const float TURN_SIDE = -0.3f, PAIR_SIDE = -0.5f;

/* Turn the signs of the joints' dual quaternions, in scratch, so that rotations go on from `turns`. */
static void signs_keep(int joint_count, const int *parents, float *turns, float *scratch)
{
    for (int j = 1; j < joint_count; j++) {
        /* Joints without a parent follow the first joint: which sign that one has does not matter. */
        float *dq = scratch + COLUMN_FLOATS * j, *last = turns + 4 * j;
        const float *p = scratch + COLUMN_FLOATS * MAX(parents[j], 0);
        quat turn = quat_multiply(quat_conjugate((quat){p[0], p[1], p[2], p[3]}), (quat){dq[0], dq[1], dq[2], dq[3]});
        float along = (turn.x * last[0] + turn.y * last[1]) + (turn.z * last[2] + turn.w * last[3]);
        bool other = along != 0 ? along < 0 : turn.w < 0;
        if ((other ? -turn.w : turn.w) < TURN_SIDE) other = !other;
        for (int e = 0; e < 8 && other; e++) dq[e] = -dq[e];
        last[0] = other ? -turn.x : turn.x;
        last[1] = other ? -turn.y : turn.y;
        last[2] = other ? -turn.z : turn.z;
        last[3] = other ? -turn.w : turn.w;
    }
}

void skinning_dual_on(const skinning *s, const float *skin, const int *parents, float *turns, float *scratch,
                      const cutis_jobs *jobs, float *positions)
{
    skinning_job job = {s, scratch, duals_find(s, skin, 0, scratch), positions, PAIR_SIDE};
    signs_keep(s->joint_count, parents, turns, scratch);
    parallel_for(jobs, s->count, GRAIN, dual_block, &job);
}

bool skinning_rotations(const skinning *s, const float *skin, const int *parents, float *turns, float *scratch,
                        float *rotations)
{
    bool stretched = duals_find(s, skin, 2e-6f, scratch) != NULL;
    signs_keep(s->joint_count, parents, turns, scratch);
    for (int j = 0; j < s->joint_count; j++)
        memcpy(rotations + 4 * (size_t)j, scratch + COLUMN_FLOATS * (size_t)j, 4 * sizeof(float));
    return stretched;
}
