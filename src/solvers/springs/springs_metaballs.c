/*
 * springs_metaballs.c: a reference shape made of ellipsoidal metaballs that move with the bones.
 *
 * After Shen and Thalmann 1995, "Interactive shape design using metaballs and splines", the source of the body's shape
 * in Cordier and Magnenat-Thalmann. A ball is an ellipsoid with a field that falls off from its centre; the body is
 * where the sum of the fields has a certain value. In a pose each point goes to where the sum of the moved fields has
 * the value that the point had at rest.
 *
 * Departures:
 * - Nobody places the balls: rows of them are fitted along the bones, each to the points around its place (centre,
 *   axes and strength). Since every point keeps its own field value, the fit may be rough, and details of the surface
 *   that no ball has survive.
 * - The mesh stays: points start from dual quaternions, which leaves them near the shape and well spread, and then move
 *   along a ray: the gradient at rest, turned by the same dual quaternions. (Vaillant and others 2013, "Implicit
 *   skinning", follow the gradient of the pose, which can lead to the far side of a folded limb.)
 * - Where a joint folds so far that its two sides meet, a sum of fields would push the skin out of the fold. There the
 *   sides are kept apart (springs_bones.c), and the field has no say.
 * - A field that never ends, s / (1 + r^2)^4, so that every point has a gradient. To keep a finger from growing towards
 *   the palm that it nears, a point feels the balls of its own bones and of those next to them in the skeleton; a gate
 *   that follows the weights fades them in, so that neighbours on the surface feel the same.
 *
 * Symbols: F field, q = 1 / (1 + r^2), phi = F^(-1/4), which for one ball is its level 1 + r^2: nearly quadratic in the
 * distance, so that Newton's method is at home after a few steps.
 */
#include <string.h>

#include "math/simd.h"
#include "solvers/springs/springs_shapes.h"

enum {
    BALL_LIMIT = 8,   /* balls along one bone */
    BALL_FLOATS = 16, /* posed: 3 x 3 rows, the centre's image, strength, 3 unused */
    STEPS = 4,        /* of Newton's method, to the field value */
    BLOCK_GRAIN = 16, /* blocks of LANES points in a job */
    FIT_ROUNDS = 6    /* of the strengths */
};

/* Field on the rest surface that the strengths aim at: that of a lone ball of strength 1 on its ellipsoid. */
static const float surface_field = 1.0f / 16;
/* Fields below this are none. */
static const float field_floor = 1e-20f;
/* Rays along which the level rises by less than this in a distance from the bone are none. */
static const float least_slope = 0.05f;
/* Flesh of a bent limb keeps its volume, which the field does not know: of its pull inwards only this counts. */
static const float inward_share = 0.5f;
/* How far a step and all steps together may go, in distances of the point from its bone. */
static const float step_reach = 0.4f, total_reach = 0.4f;

typedef struct ball {
    int joint;
    vec3 centre; /* rest, scene space */
    mat3 shape;  /* rest scene space -> the unit ball, around the centre */
    float strength;
} ball;

/* The balls of one joint as a block of points feels them. */
typedef struct ball_entry {
    int ball_begin, ball_end;
    float gates[LANES]; /* 0..1 */
} ball_entry;

struct springs_metaballs {
    int ball_count, block_count;
    int used_count;   /* blocks that are evaluated; the others served the fit */
    ball *balls;      /* (ball_count) by joint */
    int *joint_first; /* (joint_count + 1) */
    int *points;      /* (block_count x LANES), -1 fills up the last block */
    int *entry_first; /* (block_count + 1) */
    ball_entry *entries;
    float *levels;  /* (block_count x LANES) phi at rest */
    float *trusts;  /* (block_count x LANES) 0..1: how far the field is to be followed */
    float *reaches; /* (block_count x LANES) distance from the bone at rest */
    springs_hinges hinges;
    int *side_first; /* (used_count x LANES + 1) */
    springs_side *sides;
    skinning start; /* (2 x used_count x LANES): where points start, then a second place outwards of each */
};

/* ---- field ---- */

/* Put the balls where the skin matrices take them. */
static void balls_pose(const springs_metaballs *m, const float *skin, float *posed)
{
    int joint = -1;
    mat34 motion = mat34_identity(), inverse = motion;

    for (int b = 0; b < m->ball_count; b++) {
        const ball *from = &m->balls[b];
        float *to = posed + (size_t)b * BALL_FLOATS;

        /* balls of one joint follow each other */
        if (from->joint != joint) {
            joint = from->joint;
            if (skin) memcpy(motion.m, skin + 12 * joint, sizeof motion.m);
            mat34_inverse(motion, &inverse);
        }

        /* the inverse map, by which the field is evaluated */
        mat3 back = {{inverse.m[0], inverse.m[1], inverse.m[2], inverse.m[4], inverse.m[5], inverse.m[6], inverse.m[8],
                      inverse.m[9], inverse.m[10]}};
        mat3 shape = mat3_multiply(from->shape, back);
        vec3 image = mat3_vector(shape, mat34_point(motion.m, from->centre));

        memcpy(to, shape.m, sizeof shape.m);
        vec3_store(to + 9, image);
        to[12] = from->strength;
    }
}

static inline vfloat dot(const vfloat a[3], const vfloat b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* steepness: the lengths of the joints' gradients added up, so that of the whole gradient when they agree. */
static inline vfloat field_at(const springs_metaballs *m, int block, const float *posed, const vfloat x[3],
                              vfloat gradient[3], vfloat *steepness)
{
    vfloat zero = v_set(0), one = v_set(1), sum = zero;
    for (int a = 0; a < 3; a++) gradient[a] = zero;
    *steepness = zero;
    for (int e = m->entry_first[block]; e < m->entry_first[block + 1]; e++) {
        const ball_entry *entry = &m->entries[e];
        vfloat gate = v_load(entry->gates), g[3] = {zero, zero, zero};

        /* the field of a joint's balls at all lanes */
        for (int b = entry->ball_begin; b < entry->ball_end; b++) {
            const float *s = posed + (size_t)b * BALL_FLOATS;
            vfloat u = (s[0] * x[0] + s[1] * x[1]) + (s[2] * x[2] - s[9]);
            vfloat v = (s[3] * x[0] + s[4] * x[1]) + (s[5] * x[2] - s[10]);
            vfloat w = (s[6] * x[0] + s[7] * x[1]) + (s[8] * x[2] - s[11]);
            vfloat q = one / (one + (u * u + v * v + w * w));
            vfloat q2 = q * q, f = (gate * s[12]) * (q2 * q2), slope = f * q;
            sum = sum + f;
            u = u * slope;
            v = v * slope;
            w = w * slope;
            g[0] = g[0] + ((s[0] * u + s[3] * v) + s[6] * w);
            g[1] = g[1] + ((s[1] * u + s[4] * v) + s[7] * w);
            g[2] = g[2] + ((s[2] * u + s[5] * v) + s[8] * w);
        }

        for (int a = 0; a < 3; a++) gradient[a] = gradient[a] + g[a];
        *steepness = *steepness + v_sqrt(dot(g, g));
    }

    /* d F / d x = -8 sum of f q M^T (M x - m) */
    for (int a = 0; a < 3; a++) gradient[a] = -8 * gradient[a];
    *steepness = 8 * *steepness;
    return sum;
}

/*
 * Where limbs meet, as at the thumb's root, their fields fall against each other, and their sum says little: 0 when the
 * gradient is `low` of the steepness or less, 1 for `high`.
 */
static inline vfloat agreement(const vfloat gradient[3], vfloat steepness, float low, float high)
{
    vfloat u = v_sqrt(dot(gradient, gradient)) / v_max(steepness, v_set(1e-30f));
    u = v_min(v_max((u - low) * (1 / (high - low)), v_set(0)), v_set(1));
    return u * u * (3 - 2 * u);
}

/* phi of a field. */
static inline vfloat level_of(vfloat value) { return v_set(1) / v_sqrt(v_sqrt(v_max(value, v_set(field_floor)))); }

static void block_load(const springs_metaballs *m, int block, const float *points, float to[3][LANES])
{
    for (int lane = 0; lane < LANES; lane++) {
        int p = m->points[block * LANES + lane];
        if (p < 0) p = m->points[block * LANES];
        for (int a = 0; a < 3; a++) to[a][lane] = points[3 * (size_t)p + (size_t)a];
    }
}

/* ---- fit ---- */

static int bone_ball_count(const springs_bone *bone)
{
    float length = vec3_distance(bone->a, bone->b);
    return CLAMP((int)(length / (0.8f * bone->radius) + 0.5f), 1, BALL_LIMIT);
}

static void bone_fit(const solver_build *build, const springs_bones *bones, int index, const float *areas, ball *balls)
{
    const springs_bone *bone = &bones->bones[index];
    int count = bone_ball_count(bone);

    /* ellipses of the limb at even places */
    float length = vec3_distance(bone->a, bone->b), spacing = length / (float)count, places[BALL_LIMIT];
    springs_section sections[BALL_LIMIT];
    for (int k = 0; k < count; k++) places[k] = ((float)k + 0.5f) * spacing;
    springs_bone_sections(build, bones, index, areas, places, count, MAX(1.2f * spacing, 0.7f * bone->radius),
                          sections);

    /* a ball in each, as long as it is wide or as the places are apart */
    for (int k = 0; k < count; k++) {
        const springs_section *s = &sections[k];
        float reach = MAX(0.5f * (s->radii[0] + s->radii[1]), 1.2f * spacing);
        ball *b = &balls[k];
        *b = (ball){.joint = bone->joint, .centre = s->centre, .strength = 1};
        vec3 rows[3] = {vec3_scale(s->axes[0], 1 / s->radii[0]), vec3_scale(s->axes[1], 1 / s->radii[1]),
                        vec3_scale(s->along, 1 / reach)};
        memcpy(b->shape.m, rows, sizeof rows);
    }
}

/* ---- blocks of points ---- */

/* How strongly point p feels the balls of a joint: fully when half its weight is on that joint and its neighbours. */
static float gate_of(const solver_build *build, const springs_bones *bones, int p, int joint)
{
    const point_weights *weights = build->weights;
    float near = 0;
    for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
        if (springs_joints_near(bones, weights->joints[i], joint)) near += weights->weights[i];
    }
    return springs_ramp(2 * near);
}

static int strongest_joint(const point_weights *weights, int p)
{
    int best = -1;
    float most = 0;
    for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
        if (weights->weights[i] > most) {
            most = weights->weights[i];
            best = weights->joints[i];
        }
    }
    return best;
}

/*
 * Points by their strongest joint, so that a block has few joints. The marked ones come first; the others serve the
 * fit, so that it does not depend on which bones use it. Returns how many there are, and how many are marked.
 */
static int points_order(const solver_build *build, const uint8_t *marks, int joint_count, int *order, int *marked)
{
    int count = 0;
    for (int want = 1; want >= 0; want--) {
        for (int j = 0; j < joint_count; j++) {
            for (int p = 0; p < build->mesh->point_count; p++) {
                if (marks[p] == want && strongest_joint(build->weights, p) == j) order[count++] = p;
            }
        }
        if (want) *marked = count;
    }
    return count;
}

static cutis_result blocks_build(const solver_build *build, const springs_bones *bones, const uint8_t *marks,
                                 springs_metaballs *m, arena *temporary, cutis_error *error)
{
    /* points in the order of the joints that move them, in blocks */
    int joint_count = bones->joint_count;
    int *order = ARENA_ARRAY(temporary, int, build->mesh->point_count + 1);
    if (!order) return error_memory(error, "metaballs");
    int marked, count = points_order(build, marks, joint_count, order, &marked);
    m->block_count = LANE_BLOCKS(count);
    m->used_count = LANE_BLOCKS(marked);

    size_t places = (size_t)m->block_count * LANES;
    m->points = ARENA_ARRAY(build->memory, int, places + 1);
    m->levels = ARENA_ARRAY(build->memory, float, places + 1);
    m->trusts = ARENA_ARRAY(build->memory, float, places + 1);
    m->reaches = ARENA_ARRAY(build->memory, float, places + 1);
    m->entry_first = ARENA_ARRAY(build->memory, int, m->block_count + 1);
    if (build->memory->failed) return error_memory(error, "metaballs");
    for (size_t i = 0; i < places; i++) m->points[i] = i < (size_t)count ? order[i] : -1;

    /* Joints that some point of a block feels: counted, then filled. */
    for (int pass = 0; pass < 2; pass++) {
        size_t total = 0;
        for (int block = 0; block < m->block_count; block++) {
            m->entry_first[block] = (int)total;
            for (int j = 0; j < joint_count; j++) {
                if (m->joint_first[j] == m->joint_first[j + 1]) continue;
                ball_entry entry = {m->joint_first[j], m->joint_first[j + 1], {0}};
                bool felt = false;
                for (int lane = 0; lane < LANES; lane++) {
                    int p = m->points[block * LANES + lane];
                    if (p < 0) p = m->points[block * LANES];
                    entry.gates[lane] = gate_of(build, bones, p, j);
                    felt |= entry.gates[lane] > 0;
                }

                if (!felt) continue;
                if (pass == 1) m->entries[total] = entry;
                total++;
            }
        }

        m->entry_first[m->block_count] = (int)total;
        if (pass == 0) m->entries = ARENA_ARRAY(build->memory, ball_entry, total + 1);
        if (!m->entries) return error_memory(error, "metaballs");
    }

    /* How far a point is from the bone that moves it most. */
    for (size_t i = 0; i < places; i++) {
        int p = m->points[i] >= 0 ? m->points[i] : m->points[i / LANES * LANES];
        int best = -1;
        float most = 0;
        for (int k = build->weights->first[p]; k < build->weights->first[p + 1]; k++) {
            if (build->weights->weights[k] > most) {
                most = build->weights->weights[k];
                best = bones->point_bones[k];
            }
        }

        m->reaches[i] = 0;
        if (best < 0) continue;
        const springs_bone *bone = &bones->bones[best];
        vec3 x = vec3_load(build->mesh->positions + 3 * p);
        m->reaches[i] = vec3_distance(x, vec3_lerp(bone->a, bone->b, springs_bone_nearest(bone, x)));
    }

    return CUTIS_OK;
}

/* Strengths that give the rest surface about the same field everywhere, so that no bone drowns its neighbours. */
static cutis_result strengths_fit(const solver_build *build, springs_metaballs *m, arena *temporary, cutis_error *error)
{
    float *posed = ARENA_ARRAY(temporary, float, (size_t)m->ball_count *BALL_FLOATS + 1);
    double *sums = ARENA_ARRAY(temporary, double, 2 * (size_t)m->ball_count + 1);
    if (temporary->failed) return error_memory(error, "metaballs");

    for (int round = 0; round <= FIT_ROUNDS; round++) {
        balls_pose(m, NULL, posed);
        memset(sums, 0, 2 * (size_t)m->ball_count * sizeof *sums);

        /* the field at the surface, averaged over the points of each ball */
        for (int block = 0; block < m->block_count; block++) {
            float at[3][LANES];
            block_load(m, block, build->mesh->positions, at);
            vfloat x[3] = {v_load(at[0]), v_load(at[1]), v_load(at[2])};
            vfloat gradient[3], steepness, value = field_at(m, block, posed, x, gradient, &steepness);
            v_store(m->levels + (size_t)block * LANES, level_of(value));
            v_store(m->trusts + (size_t)block * LANES, agreement(gradient, steepness, 0.8f, 0.97f));

            for (int lane = 0; lane < LANES; lane++) {
                int p = m->points[block * LANES + lane];
                for (int i = p >= 0 ? build->weights->first[p] : 0; p >= 0 && i < build->weights->first[p + 1]; i++) {
                    /* The balls that have the point at their side. */
                    int joint = build->weights->joints[i];
                    for (int b = m->joint_first[joint]; b < m->joint_first[joint + 1]; b++) {
                        vec3 off = vec3_sub(vec3_load(build->mesh->positions + 3 * p), m->balls[b].centre);
                        float r2 = vec3_length2(mat3_vector(m->balls[b].shape, off));
                        float q = 1 / (1 + r2);
                        double w = (double)build->weights->weights[i] * (q * q) * (q * q);
                        sums[2 * b] += w;
                        sums[2 * b + 1] += w * v_lane(value, lane);
                    }
                }
            }
        }

        /* towards the field that is wanted */
        for (int b = 0; round < FIT_ROUNDS && b < m->ball_count; b++) {
            if (!(sums[2 * b] > 0)) continue;
            double ratio = surface_field * sums[2 * b] / sums[2 * b + 1];
            m->balls[b].strength = CLAMP(m->balls[b].strength * (float)CLAMP(ratio, 0.25, 4.0), 0.02f, 50.0f);
        }
    }

    return CUTIS_OK;
}

/* The folds that each point may be in. */
static cutis_result sides_build(const solver_build *build, const springs_bones *bones, springs_metaballs *m,
                                cutis_error *error)
{
    const point_weights *weights = build->weights;
    int places = m->used_count * LANES;
    m->side_first = ARENA_ARRAY(build->memory, int, places + 1);
    if (!m->side_first) return error_memory(error, "metaballs");

    /* counted, then listed */
    for (int pass = 0; pass < 2; pass++) {
        int total = 0;

        for (int i = 0; i < places; i++) {
            m->side_first[i] = total;
            int p = m->points[i] >= 0 ? m->points[i] : m->points[i / LANES * LANES], first = weights->first[p];
            vec3 x = vec3_load(build->mesh->positions + 3 * p);
            for (int h = 0; h < m->hinges.count; h++) {
                springs_side side;
                if (!springs_side_find(bones, &m->hinges, h, x, weights->joints + first, weights->weights + first,
                                       weights->first[p + 1] - first, &side))
                    continue;

                if (pass == 1) m->sides[total] = side;
                total++;
            }
        }

        m->side_first[places] = total;
        if (pass == 0) m->sides = ARENA_ARRAY(build->memory, springs_side, (size_t)total + 1);
        if (!m->sides) return error_memory(error, "metaballs");
    }

    return CUTIS_OK;
}

/* Starts and rays: the points at rest, and the same moved outwards, with the weights of the points. */
static cutis_result starts_build(const solver_build *build, springs_metaballs *m, arena *temporary, cutis_error *error)
{
    const point_weights *weights = build->weights;

    int places = m->used_count * LANES;
    size_t total = 0;
    for (int i = 0; i < places; i++) {
        int p = m->points[i] >= 0 ? m->points[i] : m->points[i / LANES * LANES];
        total += (size_t)(weights->first[p + 1] - weights->first[p]);
    }

    float *posed = ARENA_ARRAY(temporary, float, (size_t)m->ball_count *BALL_FLOATS + 1);
    float *rest = ARENA_ARRAY(temporary, float, 6 * (size_t)places + 1);
    int *first = ARENA_ARRAY(temporary, int, 2 * (size_t)places + 1);
    int *joints = ARENA_ARRAY(temporary, int, 2 * total + 1);
    float *shares = ARENA_ARRAY(temporary, float, 2 * total + 1);
    if (temporary->failed) return error_memory(error, "metaballs");

    /* at rest, and outwards against the gradient */
    balls_pose(m, NULL, posed);
    for (int block = 0; block < m->used_count; block++) {
        float at[3][LANES];
        block_load(m, block, build->mesh->positions, at);
        vfloat x[3] = {v_load(at[0]), v_load(at[1]), v_load(at[2])}, g[3];
        vfloat steepness;
        field_at(m, block, posed, x, g, &steepness);

        vfloat inverse = -v_load(m->reaches + (size_t)block * LANES) / v_max(v_sqrt(dot(g, g)), v_set(1e-30f));
        for (int a = 0; a < 3; a++) {
            for (int lane = 0; lane < LANES; lane++) {
                size_t place = (size_t)block * LANES + (size_t)lane;
                rest[3 * place + (size_t)a] = at[a][lane];
                rest[3 * (place + (size_t)places) + (size_t)a] = at[a][lane] + v_lane(g[a] * inverse, lane);
            }
        }
    }

    /* the weights of the points, twice */
    int at = 0;
    for (int i = 0; i < 2 * places; i++) {
        int place = i % places, p = m->points[place] >= 0 ? m->points[place] : m->points[place / LANES * LANES];
        first[i] = at;
        for (int k = weights->first[p]; k < weights->first[p + 1]; k++) {
            joints[at] = weights->joints[k];
            shares[at++] = weights->weights[k];
        }
    }

    first[2 * places] = at;
    return skinning_build(&m->start, 2 * places, rest, first, joints, shares, build->character->joint_count,
                          build->memory, error);
}

cutis_result springs_metaballs_build(const solver_build *build, const springs_bones *bones, const uint8_t *marks,
                                     springs_metaballs **metaballs, cutis_error *error)
{
    springs_metaballs *m = ARENA_ARRAY(build->memory, springs_metaballs, 1);
    ball *balls = ARENA_ARRAY(build->memory, ball, (size_t)bones->count * BALL_LIMIT + 1);
    int *joint_first = ARENA_ARRAY(build->memory, int, bones->joint_count + 1);
    if (!m || !balls || !joint_first) return error_memory(error, "metaballs");
    m->balls = balls;
    m->joint_first = joint_first;

    arena temporary = arena_create(&build->allocator);
    float *areas = ARENA_ARRAY(&temporary, float, build->mesh->point_count + 1);
    cutis_result result = areas ? CUTIS_OK : error_memory(error, "metaballs");

    /* balls of all bones */
    if (!result) {
        mesh_point_areas(build->mesh, build->mesh->positions, areas);
        for (int j = 0; j < bones->joint_count; j++) {
            joint_first[j] = m->ball_count;
            for (int b = bones->first[j]; b < bones->first[j + 1]; b++) {
                bone_fit(build, bones, b, areas, balls + m->ball_count);
                m->ball_count += bone_ball_count(&bones->bones[b]);
            }
        }
        joint_first[bones->joint_count] = m->ball_count;
        result = blocks_build(build, bones, marks, m, &temporary, error);
    }

    if (!result) result = strengths_fit(build, m, &temporary, error);
    if (!result) result = springs_hinges_build(bones, &m->hinges, build->memory, error);
    if (!result) result = sides_build(build, bones, m, error);
    if (!result) result = starts_build(build, m, &temporary, error);

    arena_destroy(&temporary);
    *metaballs = m;
    return result;
}

/* ---- evaluation ---- */

static size_t posed_floats(const springs_metaballs *m) { return (size_t)m->ball_count * BALL_FLOATS; }
static size_t fold_floats(const springs_metaballs *m)
{
    return ((size_t)m->hinges.count * sizeof(springs_fold) / sizeof(float) + 15) & ~(size_t)15;
}
static size_t start_floats(const springs_metaballs *m) { return ((size_t)m->start.count * 3 + 15) & ~(size_t)15; }

size_t springs_metaballs_scratch_size(const springs_metaballs *m)
{
    return (posed_floats(m) + fold_floats(m) + start_floats(m) + skinning_scratch_count(&m->start)) * sizeof(float);
}

typedef struct balls_job {
    const springs_metaballs *m;
    const float *posed;
    const springs_fold *folds;
    const float *starts; /* (2 x used_count x LANES x 3) */
    float *points;
} balls_job;

static void balls_block(void *context, int begin, int end)
{
    const balls_job *job = context;
    const springs_metaballs *m = job->m;

    for (int block = begin; block < end; block++) {
        /* starts, out of folds */
        float at[3][LANES], outer[3][LANES], frees[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            size_t place = (size_t)block * LANES + (size_t)lane, other = place + (size_t)m->used_count * LANES;
            for (int a = 0; a < 3; a++) {
                at[a][lane] = job->starts[3 * place + (size_t)a];
                outer[a][lane] = job->starts[3 * other + (size_t)a] - at[a][lane];
            }

            float lifted[3] = {at[0][lane], at[1][lane], at[2][lane]};
            int side = m->side_first[place];
            frees[lane] = 1 - springs_fold_apply(&m->hinges, job->folds, m->sides + side,
                                                 m->side_first[place + 1] - side, lifted);
            for (int a = 0; a < 3; a++) at[a][lane] = lifted[a];
        }

        /* unit rays outwards */
        vfloat start[3], x[3], ray[3];
        for (int a = 0; a < 3; a++) {
            start[a] = x[a] = v_load(at[a]);
            ray[a] = v_load(outer[a]);
        }
        vfloat inverse = 1 / v_max(v_sqrt(dot(ray, ray)), v_set(1e-30f));
        for (int a = 0; a < 3; a++) ray[a] = ray[a] * inverse;

        /* levels and reaches at rest, and how far the field is to be trusted */
        vfloat level = v_load(m->levels + (size_t)block * LANES), reach = v_load(m->reaches + (size_t)block * LANES);
        vfloat free = v_load(frees) * v_load(m->trusts + (size_t)block * LANES);

        /* Newton's method along the ray */
        vfloat way = v_set(0);
        for (int step = 0; step < STEPS; step++) {
            vfloat g[3], steepness, value = field_at(m, block, job->posed, x, g, &steepness), phi = level_of(value);
            if (step == 0) free = free * agreement(g, steepness, 0.5f, 0.9f);

            /* d phi / d ray = -(phi / F / 4) grad F . ray: levels rise outwards. Where they do not, the point stays. */
            vfloat slope = -0.25f * phi / v_max(value, v_set(field_floor)) * dot(g, ray);
            vfloat length = (level - phi) / v_max(slope, v_set(1e-30f));
            length = v_select(v_less(slope * reach, v_set(least_slope)), v_set(0), length);
            way = way + v_min(v_max(length, -reach * step_reach), reach * step_reach);
            for (int a = 0; a < 3; a++) x[a] = start[a] + ray[a] * way;
        }

        /* As far as the field is to be trusted, and never far: the bound sets in smoothly. */
        vfloat share = way / v_max(reach * total_reach, v_set(1e-30f));
        way = way * free / v_sqrt(1 + share * share);
        way = v_select(v_less(way, v_set(0)), way * inward_share, way);

        /* to the points; lanes beyond the last are left out */
        for (int a = 0; a < 3; a++) v_store(at[a], start[a] + ray[a] * way);
        for (int lane = 0; lane < LANES; lane++) {
            int p = m->points[block * LANES + lane];
            for (int a = 0; p >= 0 && a < 3; a++) job->points[3 * (size_t)p + (size_t)a] = at[a][lane];
        }
    }
}

void springs_metaballs_evaluate(const springs_metaballs *m, const springs_pose *pose, void *scratch,
                                const cutis_jobs *jobs, float *points)
{
    float *posed = scratch;
    springs_fold *folds = (springs_fold *)(posed + posed_floats(m));
    float *starts = (float *)folds + fold_floats(m), *work = starts + start_floats(m);
    balls_pose(m, pose->skin, posed);
    springs_hinges_pose(&m->hinges, pose->skin, folds);
    springs_dual(&m->start, pose, work, jobs, starts);
    balls_job job = {m, posed, folds, starts, points};
    parallel_for(jobs, m->used_count, BLOCK_GRAIN, balls_block, &job);
}
