/*
 * lattice.c: solver `lattice`: a body of voxels in layers of bone, muscle, fat and skin, for motion in real time.
 *
 * Iwamoto, Shum, Yang, Morishima 2015, "Multi-layer lattice model for real-time dynamic character deformation".
 * A substep is Algorithm 1 with stretch, volume and lattice shape matching taken once, at its start.
 * The other files of this folder hold its parts, each with its departures from the paper;
 * docs/reference/solvers/lattice.md describes the method. Departures in this file:
 *
 * - The surface is the file's own skinning plus what the lattice adds (lattice_embed.c), and voxels are skinned with
 *   the file's weights, unless `weights` asks for those of equation 1.
 * - Flesh rests where skinning puts it: the regions match the deviations of voxels from their targets, each turned back
 *   into the rest pose by the voxel's frame, so that a lattice at rest in a pose adds nothing to what the artist made
 *   but bulges where skinning loses volume. With `shape` = lattice they match the places themselves, turned back as a
 * whole, and flesh rests where it settles around its bones, as in the paper.
 * - Forces are taken where the voxels are at the start of a substep, not where they are predicted: the leapfrog of
 *   Verlet. It is of second order, keeps the energy, and is stable as long as no mode has more than 4 / s^2
 *   (lattice_build.c sees to it), so that damping is what the user asked for. Equation 5 on predicted places is
 * implicit Euler, which takes most of the energy in a second. n_total is gone: a shorter substep is its like.
 * - Targets are turned by blended rotations about the centre of the flesh that has the same weights (Le and Hodgins
 *   2016, "Real-time skeletal skinning with optimized centers of rotation"), so that a twist does not collapse. The
 *   centre goes where linear skinning has it. The surface is turned likewise.
 * - All voxels are skinned (equation 3), not only those of the bone layer: this target of a voxel tells how fast its
 *   body part moves. Damping acts on the velocity relative to that, so that a character carried along is not held
 *   back by the air the paper's k_d amounts to.
 * - Flesh feels only the share `inertia` of its target's acceleration. A skeleton of lines leaves out ribs, pelvis and
 *   all that holds flesh in place, and without this a body thick around its spine swings like a bell. Velocities in the
 *   state are those left when the other share of the target's velocity is taken away.
 * - A voxel that is not finite, or has come further from its target than a whole size, is put back on it.
 */
#include <math.h>
#include <string.h>

#include "solvers/flesh_map.h"
#include "solvers/lattice/lattice_step.h"

/* Rows of the inner layers that are nothing unless asked for, counted from the bone. */
#define INNER_RATIO(n)                                                                              \
    [LATTICE_RATIO + n - 1] = {PARAMETER_FLOAT("inner" #n "_ratio", 0, 0, 1, ""), .per_bone = true, \
                               .help = "share of inner layer " #n ", counted from the bone"}
#define INNER_STIFFNESS(n)                                                                                        \
    [LATTICE_STIFFNESS + n - 1] = {PARAMETER_FLOAT("inner" #n "_stiffness", 5, 0.5, 200, "Hz"), .per_bone = true, \
                                   .help = "stiffness of inner layer " #n}
#define INNER_DAMPING(n)                                                                                      \
    [LATTICE_DAMPING + n - 1] = {PARAMETER_FLOAT("inner" #n "_damping", 22, 0, 200, "1/s"), .per_bone = true, \
                                 .role = CUTIS_PARAMETER_DAMPING, .help = "damping of inner layer " #n}

static const cutis_parameter lattice_parameters[LATTICE_PARAMETERS] = {
    [LATTICE_RESOLUTION] = {PARAMETER_INT("resolution", 32, 4, 128), .help = "voxels along the longest side"},
    [LATTICE_ADAPTIVE] = {PARAMETER_BOOL("adaptive", 0),
                          .help = "voxels of half the size where the body is thin, of twice the size deep inside"},
    [LATTICE_REGION] = {PARAMETER_INT("region", 0, 0, 8), .help = "width d_r of a region in voxels, 2 to 8; 0: 3"},
    [LATTICE_BONE_WIDTH] = {PARAMETER_FLOAT("bone_width", 0.02, 0, 0.5, "size"), .per_bone = true,
                            .help = "Manhattan distance from the skeleton up to which voxels are bone"},
    [LATTICE_RATIO] = {PARAMETER_FLOAT("muscle_ratio", 0.5, 0, 1, ""), .per_bone = true,
                       .help = "share of muscle between bone and skin"},
    [LATTICE_RATIO + 1] = {PARAMETER_FLOAT("fat_ratio", 0.5, 0, 1, ""), .per_bone = true,
                           .help = "share of fat between bone and skin"},
    INNER_RATIO(3),
    INNER_RATIO(4),
    INNER_RATIO(5),
    INNER_RATIO(6),
    INNER_RATIO(7),
    INNER_RATIO(8),
    [LATTICE_SKIN_LAYER] = {PARAMETER_BOOL("skin_layer", 1), .former = "skin",
                            .help = "whether the outermost voxels are a skin layer"},
    [LATTICE_MIXED] = {PARAMETER_BOOL("mixed", 1),
                       .help = "voxels on the border of two inner layers have the mean of their properties"},
    [LATTICE_STIFFNESS] = {PARAMETER_FLOAT("muscle_stiffness", 6, 0.5, 200, "Hz"), .per_bone = true,
                           .help = "stiffness of muscle"},
    [LATTICE_STIFFNESS + 1] = {PARAMETER_FLOAT("fat_stiffness", 3, 0.5, 200, "Hz"), .per_bone = true,
                               .help = "stiffness of fat"},
    INNER_STIFFNESS(3),
    INNER_STIFFNESS(4),
    INNER_STIFFNESS(5),
    INNER_STIFFNESS(6),
    INNER_STIFFNESS(7),
    INNER_STIFFNESS(8),
    [LATTICE_STIFFNESS + LATTICE_INNER_COUNT] = {PARAMETER_FLOAT("skin_stiffness", 5, 0.5, 200, "Hz"), .per_bone = true,
                                                 .help = "stiffness of skin"},
    [LATTICE_DAMPING] = {PARAMETER_FLOAT("muscle_damping", 26, 0, 200, "1/s"), .per_bone = true,
                         .role = CUTIS_PARAMETER_DAMPING, .help = "damping of muscle"},
    [LATTICE_DAMPING + 1] = {PARAMETER_FLOAT("fat_damping", 10, 0, 200, "1/s"), .per_bone = true,
                             .role = CUTIS_PARAMETER_DAMPING, .help = "damping of fat"},
    INNER_DAMPING(3),
    INNER_DAMPING(4),
    INNER_DAMPING(5),
    INNER_DAMPING(6),
    INNER_DAMPING(7),
    INNER_DAMPING(8),
    [LATTICE_DAMPING + LATTICE_INNER_COUNT] = {PARAMETER_FLOAT("skin_damping", 16, 0, 200, "1/s"), .per_bone = true,
                                               .role = CUTIS_PARAMETER_DAMPING, .help = "damping of skin"},
    [LATTICE_GAIN] = {PARAMETER_FLOAT("gain", 1, 0, 4, ""), .per_bone = true,
                      .help =
                          "factor on the stiffness k_s of every layer; not stabilised: large values may diverge, as in "
                          "the paper"},
    [LATTICE_INERTIA] = {PARAMETER_FLOAT("inertia", 0.3, 0, 1, ""), .per_bone = true,
                         .help = "share of a body part's acceleration that its flesh feels; less jiggles less"},
    [LATTICE_GIVE] = {PARAMETER_FLOAT("give", 0.5, 0.01, 10, ""), .per_bone = true,
                      .help = "maximum displacement of flesh from its skinned position, divided by the flesh depth"},
    [LATTICE_STRETCH] = {PARAMETER_FLOAT("stretch_stiffness", 0, 0, 1000, "Hz"),
                         .help = "stiffness of the stretch constraints; 0 disables them"},
    [LATTICE_NEIGHBOUR_SET] = {PARAMETER_CHOICE("neighbours", 2, "6|14|20|26"),
                               .help =
                                   "number of neighbours with stretch constraints: faces; faces and corners; edges, "
                                   "corners and missing ones; all"},
    [LATTICE_VOLUME] = {PARAMETER_FLOAT("volume_stiffness", 40, 0, 1000, "Hz"),
                        .help = "stiffness of the volume constraints; 0 disables them"},
    [LATTICE_SHAPE] = {PARAMETER_CHOICE("shape", LATTICE_SHAPE_SKINNING, "skinning|lattice"),
                       .help = "rest shape in a pose: the skinned shape, or the shape that the lattice settles to"},
    [LATTICE_WEIGHTS] = {PARAMETER_CHOICE("weights", LATTICE_WEIGHTS_FILE, "file|distance"),
                         .help = "skin weights: the file's own, or the paper's from distances to the bones"},
    [LATTICE_ALPHA] = {PARAMETER_FLOAT("weight_alpha", 0.5, 0, 1, ""),
                       .help = "how fast a bone's influence falls off with weights=distance, alpha of equation 1"},
    [LATTICE_FALLOFF] = {PARAMETER_FLOAT("weight_falloff", 0.02, 0.001, 1, "size"),
                         .help = "unit of distance of a bone's influence with weights=distance, over the size"},
    [LATTICE_SELF_COLLISION] = {PARAMETER_BOOL("self_collision", 0), .role = CUTIS_PARAMETER_SELF_COLLISION,
                                .help = "keep the skin from passing through itself; not for real time"},
    [LATTICE_TOUCH] = {PARAMETER_BOOL("touch", 0), .help = "real-time self-collision of the displayed skin"},
    [LATTICE_PROPS] = {PARAMETER_BOOL("props", 1), .role = CUTIS_PARAMETER_PROP_CONTACT,
                       .help = "collide with the character's props"},
    [LATTICE_CONTACT_GAP] = {PARAMETER_FLOAT("contact_gap", 0.001, 0.00001, 0.02, "size"), .former = "thickness",
                             .help = "minimum distance kept by contact"},
    [LATTICE_FRICTION] = {PARAMETER_FLOAT("friction", 0.5, 0, 2, ""), .help = "friction for props that do not set one"},
    [LATTICE_GRAVITY] = {PARAMETER_FLOAT("gravity", 9.81, -100, 100, "m/s2"),
                         .help = "weight along -y; the modelled shape is the shape under gravity"},
    [LATTICE_UNIT] = {FLESH_PARAMETER_UNIT},
    [LATTICE_ANATOMY] = {FLESH_PARAMETER_ANATOMY},
    [LATTICE_FATNESS] = {FLESH_PARAMETER_FATNESS},
    [LATTICE_FIRMNESS] = {FLESH_PARAMETER_FIRMNESS},
};

enum {
    PART_PRIMARY,
    PART_PREDICTION,
    PART_MATCHING,
    PART_STRETCH,
    PART_VOLUME,
    PART_UPDATE,
    PART_SURFACE,
    PART_CONTACT,
    PART_COUNT
};
/* The first six are those of the paper's Figure 8. */
static const char *const part_names[PART_COUNT] = {"primary", "prediction", "matching", "stretch",
                                                   "volume",  "update",     "surface",  "contact"};

static const cutis_output_info lattice_outputs[LATTICE_OUTPUT_COUNT] = {
    [LATTICE_OUTPUT_VOXELS] = {.name = "voxels",
                               .role = CUTIS_OUTPUT_ELEMENTS,
                               .domain = CUTIS_DOMAIN_ELEMENT,
                               .components = 3,
                               .unit = "m",
                               .help = "middles of the voxels"},
    [LATTICE_OUTPUT_TARGETS] = {.name = "targets",
                                .domain = CUTIS_DOMAIN_ELEMENT,
                                .components = 3,
                                .unit = "m",
                                .help = "where skinning alone puts them"},
    [LATTICE_OUTPUT_LAYERS] = {.name = "layer",
                               .role = CUTIS_OUTPUT_ELEMENT_LAYER,
                               .domain = CUTIS_DOMAIN_ELEMENT,
                               .components = 1,
                               .unit = "",
                               .palette = CUTIS_PALETTE_CATEGORY,
                               .help =
                                   "layer of the voxel: 0 bone, 1 muscle, 2 fat, 3 to 8 other inner layers, 9 skin"},
    [LATTICE_OUTPUT_SHARES] = {.name = "shares",
                               .domain = CUTIS_DOMAIN_ELEMENT,
                               .components = LATTICE_LAYERS,
                               .unit = "",
                               .help = "share of each layer in the voxel"},
    [LATTICE_OUTPUT_EDGES] = {.name = "edges",
                              .role = CUTIS_OUTPUT_ELEMENT_EDGE,
                              .domain = CUTIS_DOMAIN_ELEMENT,
                              .components = 1,
                              .unit = "m",
                              .help = "edge of the voxel"},
    [LATTICE_OUTPUT_SOFTNESS] = {.name = "softness",
                                 .components = 1,
                                 .unit = "",
                                 .range = {0, 1},
                                 .help = "1 less the gain of the voxels that carry the vertex; 0 is bone"},
    [LATTICE_OUTPUT_TISSUE] = {.name = "tissue",
                               .components = 1,
                               .unit = "",
                               .range = {0, 1},
                               .help = "softness of the flesh: 0 firm, 0.5 muscle, 1 fat"},
};

/* How far a voxel may be from its target before it is put back, in sizes. */
#define LEASH 1.0f
/* Rounds of contact at voxel level in a substep. */
#define CONTACT_ROUNDS 2
/* The furthest that a drag pulls in one substep, in sizes. */
#define DRAG_REACH 0.5f
/* The furthest that flesh bulges to keep the volume of a pose, in sizes and of the way that it gives, and how much of
 * the way to its neighbours' a bulge takes in a substep, so that it is smooth. */
#define BULGE_MOST 0.02f
#define BULGE_GIVE 0.8f
#define BULGE_SPREAD 0.3f

/* ---- one substep ---- */

/* A skinning matrix as a map in sizes, about the middle of the rest pose. */
static void joint_map(const lattice_model *m, const float matrix[12], lattice_frame *joint)
{
    vec3 moved = mat34_point(matrix, vec3_load(m->origin));
    joint->b = (quad){(moved.x - m->origin[0]) / m->size, (moved.y - m->origin[1]) / m->size,
                      (moved.z - m->origin[2]) / m->size, 0};
    for (int k = 0; k < 3; k++) joint->r[k] = (quad){matrix[k], matrix[4 + k], matrix[8 + k], 0};
}

/* Scale of a joint's map: the cube root of its determinant, and exactly 1 where it is so up to rounding. */
static float joint_scale(const lattice_frame *joint)
{
    const quad *r = joint->r;
    double det = (double)r[0][0] * ((double)r[1][1] * r[2][2] - (double)r[1][2] * r[2][1]) -
                 (double)r[1][0] * ((double)r[0][1] * r[2][2] - (double)r[0][2] * r[2][1]) +
                 (double)r[2][0] * ((double)r[0][1] * r[1][2] - (double)r[0][2] * r[1][1]);
    if (fabs(det - 1) < 1e-4) return 1;
    double scale = det_pow(fmax(fabs(det), 1e-9), 1.0 / 3);
    return (float)(det < 0 ? -scale : scale);
}

/* All of them; the last one is the scene. */
static void joints_prepare(const lattice_model *m, const float *skin, lattice_frame *joints, float *scales)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    for (int j = 0; j < m->joint_count; j++) joint_map(m, skin + 12 * j, &joints[j]);
    joint_map(m, identity, &joints[m->joint_count]);
    for (int j = 0; j <= m->joint_count; j++) scales[j] = joint_scale(&joints[j]);
}

/* Rotations of the joints, which go on from those of the last substep. */
static void joints_turn(lattice_step_job *job)
{
    const lattice_model *m = job->m;

    /* at the end of the frames' memory: each is read before its frame is written */
    float *rotations = (float *)job->t.turned + 12 * (size_t)m->joint_count;
    if (m->joint_count)
        job->stretched = skinning_rotations(&m->surface.base, job->input->skin, m->parents, job->s.joint_turns,
                                            job->t.skinning, rotations);
    for (int j = 0; j <= m->joint_count; j++) {
        const float *q = rotations + 4 * (size_t)j;
        quad turn = {0, 0, 0, 1};
        if (j < m->joint_count) turn = (quad){q[0], q[1], q[2], q[3]};
        job->t.turned[j].b = turn;
        lattice_rotation_columns(turn, job->t.turned[j].r);
    }
}

static inline float quad_dot(quad a, quad b)
{
    quad products = a * b;
    return products[0] + products[1] + products[2];
}

static inline quad quad_cross(quad a, quad b)
{
    return (quad){a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0};
}

/* The frame of a map that blends rotations: its columns made orthogonal, times `scale`, mirrored where that is less
 * than 0. A column that the blend has cancelled is taken from `stand_in`. */
static inline lattice_frame frame_of(const quad r[3], float scale, const quad stand_in[3])
{
    /* the first column, unit */
    float size = fabsf(scale);
    quad x = r[0];
    float length2 = quad_dot(x, x);
    if (!(length2 > 1e-4f * size * size)) {
        x = stand_in[0];
        length2 = quad_dot(x, x);
    }
    x *= 1 / sqrtf(fmaxf(length2, 1e-20f));

    /* the second at right angles to it; where both are cancelled, any direction serves */
    quad y = r[1] - x * quad_dot(x, r[1]);
    length2 = quad_dot(y, y);
    if (!(length2 > 1e-4f * size * size)) {
        y = stand_in[1] - x * quad_dot(x, stand_in[1]);
        length2 = quad_dot(y, y);
    }
    if (!(length2 > 1e-8f * size * size)) {
        quad axis = fabsf(x[0]) < 0.7f ? (quad){1, 0, 0, 0} : (quad){0, 1, 0, 0};
        y = quad_cross(x, axis);
        length2 = quad_dot(y, y);
    }

    /* the third completes them */
    y *= 1 / sqrtf(length2);
    quad z = quad_cross(x, y);
    lattice_frame frame = {{1 / (size * size), scale * size * size, 0, 0}, {x * size, y * size, z * scale}};
    return frame;
}

/* Where the motion of the whole body puts a voxel. */
static inline quad reference_place(const lattice_step_job *job, int v)
{
    quad rest = job->m->rest[v];
    return job->reference.b + job->reference.r[0] * rest[0] + job->reference.r[1] * rest[1] +
           job->reference.r[2] * rest[2];
}

/* A vector of the scene in a voxel's frame at rest, and back. */
static inline quad frame_enter(const lattice_frame *frame, quad x)
{
    return (quad){quad_dot(frame->r[0], x), quad_dot(frame->r[1], x), quad_dot(frame->r[2], x), 0} * frame->b[0];
}

static inline quad frame_leave(const lattice_frame *frame, quad x)
{
    return frame->r[0] * x[0] + frame->r[1] * x[1] + frame->r[2] * x[2];
}

/* The same blended as matrices, which is what linear skinning does. */
static inline void rotation_linear(const lattice_frame *joints_turned, const int *joints, int unit,
                                   const float *weights, int count, quad linear[3])
{
    for (int k = 0; k < 3; k++) linear[k] = joints_turned[joints[0] / unit].r[k] * weights[0];
    for (int i = 1; i < count && weights[i] > 0; i++)
        for (int k = 0; k < 3; k++) linear[k] += joints_turned[joints[i] / unit].r[k] * weights[i];
}

/* Equation 3 for all voxels: targets, how fast they move, and the frames. */
static void primary_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    const lattice_model *m = job->m;
    quad inverse_h = quad_set(1 / job->h);
    for (int v = begin; v < end; v++) {
        const int *joints = m->joints + LATTICE_JOINTS * v;
        const float *weights = m->weights + LATTICE_JOINTS * v;
        lattice_frame map = job->t.joints[joints[0]];
        float scale = job->t.scales[joints[0]];
        quad rest = m->rest[v], linear[3], turned[3];

        /* the blend of the joints */
        bool blended = weights[1] > 0;
        if (blended) {
            map.b *= weights[0];
            for (int k = 0; k < 3; k++) map.r[k] *= weights[0];
            scale *= weights[0];
        }
        for (int i = 1; i < LATTICE_JOINTS && weights[i] > 0; i++) {
            const lattice_frame *joint = &job->t.joints[joints[i]];
            quad w = quad_set(weights[i]);
            map.b += joint->b * w;
            for (int k = 0; k < 3; k++) map.r[k] += joint->r[k] * w;
            scale += weights[i] * job->t.scales[joints[i]];
        }
        if (fabsf(scale) < 1e-3f) scale = scale < 0 ? -1e-3f : 1e-3f;

        /* where linear skinning has it, and the target: turned about its centre instead */
        quad target = map.b + map.r[0] * rest[0] + map.r[1] * rest[1] + map.r[2] * rest[2];
        const quad *turn = job->t.turned[joints[0]].r;
        if (blended && scale > 0) {
            const quad *plain = map.r;
            quad arm = m->arms[v] * scale;
            lattice_rotation_blend(job->t.turned, joints, 1, weights, LATTICE_JOINTS, turned);
            if (job->stretched) {
                rotation_linear(job->t.turned, joints, 1, weights, LATTICE_JOINTS, linear);
                plain = linear;
            }
            for (int k = 0; k < 3; k++) target += (turned[k] - plain[k]) * arm[k];
            turn = turned;
        }
        job->t.carried[v] = (target - job->s.targets[v]) * inverse_h;
        job->s.targets[v] = target;

        /* the frame; that of the whole body where the lattice has a shape of its own */
        const lattice_frame *strongest = &job->t.joints[joints[0]];
        if (m->own_shape) {
            lattice_frame own = frame_of(map.r, 1, strongest->r);
            for (int k = 0; k < 3; k++) job->s.priors[v].r[k] = frame_enter(&job->whole, own.r[k] * job->whole_size);
            job->t.turns[v] = job->whole;
        } else if (scale > 0) {
            job->t.turns[v].b = (quad){1 / (scale * scale), scale * scale * scale, 0, 0};
            for (int k = 0; k < 3; k++) job->t.turns[v].r[k] = turn[k] * scale;
        } else {
            job->t.turns[v] = frame_of(map.r, scale, strongest->r);
        }
    }
}

/* Targets with their bulges, and the volumes that the voxels should have. */
static void bulged_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    for (int v = begin; v < end; v++) {
        job->t.bulged[v] = job->s.targets[v] + frame_leave(&job->t.turns[v], job->s.bulges[v]);
        job->t.wanted[v] = job->m->volume.rest_volume[v] * job->t.turns[v].b[1];
    }
}

/* A step of the bulges down the error of volume, and towards each other. */
static void bulge_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    const lattice_model *m = job->m;
    for (int i = begin; i < end; i++) {
        int v = m->bone_count + i;

        /* the mean of the neighbours' */
        quad mean = {0, 0, 0, 0};
        for (int d = 0; d < LATTICE_DIRECTIONS; d++) mean += job->s.bulges[m->volume.ends[d][v] / 4];
        quad bulge = job->s.bulges[v];
        bulge += (mean * (1.0f / LATTICE_DIRECTIONS) - bulge) * BULGE_SPREAD;
        bulge += frame_enter(&job->t.turns[v], job->t.pushes[v]) * m->bulge_gain;
        bulge *= m->bulge_keep;
        if (m->freezes) bulge *= 1 - m->freezes[v];

        /* never further than a share of the size */
        float length2 = quad_dot(bulge, bulge);
        float most = MIN(BULGE_MOST, BULGE_GIVE * m->bounds[v]);
        if (!(length2 < most * most)) bulge *= most / sqrtf(fmaxf(length2, 1e-20f));
        if (!(length2 < 1e6f)) bulge = (quad){0, 0, 0, 0};
        job->t.pulls[v] = bulge;
    }
}

/*
 * What the pose does to the volume is made good by bulges of the flesh: displacements of where it rests, that follow
 * the gradient of the error without inertia. They depend on the pose alone, not on how the flesh moves: they can give
 * it no energy. Each pass takes one step.
 */
static void bulges_follow(lattice_step_job *job)
{
    const lattice_model *m = job->m;
    const cutis_jobs *jobs = job->input->jobs;
    if (!m->has_volume) return;
    parallel_for(jobs, m->count, VOXEL_GRAIN, bulged_block, job);
    if (m->own_shape) {
        memcpy(job->s.volumes, job->t.wanted, (size_t)m->count * sizeof(float));
        return;
    }
    lattice_volume_push(&m->volume, job->t.bulged, job->t.wanted, job->s.volumes, job->t.intact, job->t.shares,
                        job->t.pushes, jobs);
    parallel_for(jobs, m->count - m->bone_count, VOXEL_GRAIN, bulge_block, job);
    memcpy(job->s.bulges + m->bone_count, job->t.pulls + m->bone_count,
           (size_t)(m->count - m->bone_count) * sizeof(quad));
}

/* Deviations, as what the regions sum and as places. */
static void weigh_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    for (int v = begin; v < end; v++) {
        quad d = job->s.deviations[v];
        job->t.places[v] = job->m->rest[v] + d;
        d[3] = 1;
        job->t.weighted[v] = d * job->m->masses[v];
    }
}

/* All forces on the voxels where they are: shape matching into a, stretch into pulls, volume into pushes. */
static void forces(lattice_step_job *job, cutis_step_stats *stats)
{
    const lattice_model *m = job->m;
    const cutis_jobs *jobs = job->input->jobs;
    double clock = clock_seconds();

    /* volume */
    if (m->has_volume)
        lattice_volume_push(&m->volume, job->s.positions, job->s.volumes, job->t.found, job->t.intact, job->t.shares,
                            job->t.pushes, jobs);
    kit_lap(&clock, stats, PART_VOLUME);

    /* stretch */
    parallel_for(jobs, m->count, VOXEL_GRAIN, weigh_block, job);
    if (m->has_stretch) lattice_stretch_pull(&m->stretch, job->t.places, job->t.intact, job->t.pulls, jobs);
    kit_lap(&clock, stats, PART_STRETCH);

    /* shape matching */
    lattice_sum_moments(&m->sweep, job->t.weighted, job->t.a, job->t.b, jobs);
    lattice_rotations(&m->regions, job->t.a, m->own_shape ? job->s.priors : NULL, job->s.rotations, job->t.frames,
                      jobs);
    lattice_sum_frames(&m->sweep, job->t.frames, job->t.a, job->t.b, job->t.loans, jobs);
    kit_lap(&clock, stats, PART_MATCHING);
}

/* Blows, and the wind on what of the skin faces it. */
static void strike_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    const lattice_model *m = job->m;
    bool windy = kit_windy(job->input);
    for (int v = MAX(begin, m->bone_count); v < end; v++) {
        /* blows */
        quad p = job->s.positions[v];
        vec3 gain = {0, 0, 0};
        if (job->input->impulse_count > 0) {
            vec3 place = {m->origin[0] + m->size * p[0], m->origin[1] + m->size * p[1], m->origin[2] + m->size * p[2]};
            gain = kit_blow(job->input, place);
        }

        /* wind */
        float thickness = m->outward[v][3];
        if (windy && thickness > 0) {
            quad n = frame_leave(&job->t.turns[v], m->outward[v]);
            n *= 1 / sqrtf(fmaxf(quad_dot(n, n), 1e-20f));
            quad u = job->s.velocities[v] * m->size;
            vec3 push =
                kit_wind(job->input, vec3_make(n[0], n[1], n[2]), vec3_make(u[0], u[1], u[2]), thickness * m->size);
            gain = vec3_madd(gain, push, job->h);
        }
        job->s.velocities[v] += (quad){gain.x, gain.y, gain.z, 0} * (1 / m->size);
    }
}

/* Flesh hardens beyond half of the way that it gives, and never gets beyond the whole. */
static inline quad give_way(const lattice_step_job *job, int v, quad p)
{
    const lattice_frame *frame = &job->t.turns[v];
    quad rest = job->s.targets[v] + frame_leave(frame, job->s.bulges[v]);
    quad away = p - rest;
    float half = 0.5f * job->m->bounds[v];
    float length2 = quad_dot(away, away) * frame->b[0];
    if (!(length2 > half * half) || !(length2 < 1e12f)) return p;
    float over = sqrtf(length2) / half - 1;
    return rest + away * ((1 + over / (1 + over)) / (1 + over));
}

/* Equations 4 and 5, and the way of a substep. */
static void advance_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    const lattice_model *m = job->m;

    /* what all voxels share: the felt acceleration is a force on their mass */
    quad h = quad_set(job->settling ? 0 : job->h);
    const float *felt = job->input->acceleration;
    quad weight = {0, -m->gravity * job->h * job->h, 0, 0};
    quad fall = (quad){felt[0], felt[1], felt[2], 0} * (job->h * job->h / m->size);
    for (int v = begin; v < end; v++) {
        /* bones are where the skeleton puts them */
        if (v < m->bone_count) {
            job->t.guess[v] = job->s.targets[v];
            continue;
        }

        /* the sum of all regions' pulls: each region's stiffness times the way to where it puts the voxel */
        quad pull = job->t.a[v].b * m->regions.inverse_counts[v] - job->s.deviations[v] * m->gains[v];
        if (m->has_stretch) pull += job->t.pulls[v];
        quad way = frame_leave(&job->t.turns[v], pull) + fall;

        /* gravity on flesh that hangs under it already: the weight less the weight as the bones turn it */
        quad borne = frame_leave(&job->t.turns[v], weight);
        way += weight - borne * sqrtf(job->t.turns[v].b[0]);
        if (m->has_volume) way += job->t.pushes[v];

        /* what moves on, what is pulled, what is frozen */
        quad speed = job->s.velocities[v] + job->t.carried[v] * (1 - m->inertias[v]);
        quad p = job->s.positions[v] + speed * h + way * job->step;
        p[3] = 0;
        if (m->bounds) p = give_way(job, v, p);
        if (m->holds[v] > 0) {
            quad rest = job->s.targets[v] + frame_leave(&job->t.turns[v], job->s.bulges[v]);
            p += (rest - p) * m->holds[v];
        }
        if (m->freezes) p += (job->s.targets[v] - p) * m->freezes[v];
        job->t.guess[v] = p;
    }
}

/* How far the voxels are from their targets; shown: the guess, or any other places. */
static void displace_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    for (int v = begin; v < end; v++) job->t.displacements[v] = job->shown[v] - job->s.targets[v];
}

/* Points of several joints, turned about their centres instead of blended. */
static void base_turn_block(void *context, int begin, int end)
{
    const lattice_step_job *job = context;
    const lattice_model *m = job->m;
    const skinning *base = &m->surface.base;
    for (int i = begin; i < end; i++) {
        int p = m->turned_points[i], first = base->first[p], count = base->first[p + 1] - first;
        const int *offsets = base->offsets + first;
        const float *weights = base->weights + first;
        float scale = 1;
        if (job->stretched) {
            scale = 0;
            for (int k = 0; k < count; k++) scale += weights[k] * job->t.scales[offsets[k] / SKINNING_COLUMNS];
            if (!(scale > 0)) continue;
        }

        quad turned[3], linear[3], arm = m->point_arms[i] * (scale * m->size), move = {0, 0, 0, 0};
        lattice_rotation_blend(job->t.turned, offsets, SKINNING_COLUMNS, weights, count, turned);
        rotation_linear(job->t.turned, offsets, SKINNING_COLUMNS, weights, count, linear);
        for (int k = 0; k < 3; k++) move += (turned[k] - linear[k]) * arm[k];
        for (int k = 0; k < 3; k++) job->base[3 * (size_t)p + k] += move[k];
    }
}

/* The surface without the lattice's doing. */
static void base_write(lattice_step_job *job, float *points)
{
    skinning_linear(&job->m->surface.base, job->input->skin, job->t.skinning, job->input->jobs, points);
    job->base = points;
    parallel_for(job->input->jobs, job->m->turned_count, 256, base_turn_block, job);
}

/* The surface that voxels at `shown` carry. */
static void surface_write(lattice_step_job *job, const quad *shown, float *points)
{
    job->shown = shown;
    base_write(job, points);
    parallel_for(job->input->jobs, job->m->count, VOXEL_GRAIN, displace_block, job);
    lattice_surface_displace(&job->m->surface, job->t.displacements, job->m->size, points, job->input->jobs);
}

/* Where a surface point is, in sizes, with the voxels at the guess; base: (point_count x 3). */
static quad point_place(const lattice_step_job *job, const float *base, int point)
{
    const lattice_model *m = job->m;
    const lattice_surface *surface = &m->surface;
    quad place = {0, 0, 0, 0};
    for (int k = 0; k < 3; k++) place[k] = (base[3 * point + k] - m->origin[k]) / m->size;
    for (int i = surface->first[point]; i < surface->first[point + 1]; i++) {
        int v = surface->voxels[i];
        place += (job->t.guess[v] - job->s.targets[v]) * surface->weights[i];
    }
    return place;
}

/*
 * Pull surface points towards their targets: the constraint that the point is there, solved by equation 6 for the
 * voxels that carry it. A strength of 1 pins; less closes that share of the way in a 120th of a second.
 */
static void drag(lattice_step_job *job)
{
    const lattice_model *m = job->m;
    if (job->input->drag_count > 0) base_write(job, job->t.base);

    for (int i = 0; i < job->input->drag_count; i++) {
        /* which point, how firmly, where to; targets that are not finite do not count */
        const cutis_drag *d = &job->input->drags[i];
        if (d->vertex < 0 || d->vertex >= m->character->vertex_count || !(d->strength > 0)) continue;
        int point = m->character->vertex_points[d->vertex];
        double strength = d->strength >= 1 ? 1 : 1 - det_pow(1 - (double)d->strength, 120.0 * job->h);
        quad target;
        bool finite = true;
        for (int k = 0; k < 3; k++) {
            target[k] = (d->target[k] - m->origin[k]) / m->size;
            finite &= fabsf(target[k]) < 1e6f;
        }
        target[3] = 0;
        if (!finite) continue;

        /* the way, at most DRAG_REACH in a substep */
        quad pull = (target - point_place(job, job->t.base, point)) * (float)strength;
        float length = sqrtf(pull[0] * pull[0] + pull[1] * pull[1] + pull[2] * pull[2]), sum = 0;
        if (length > DRAG_REACH) pull *= quad_set(DRAG_REACH / length);

        /* spread over the voxels that carry the point, bones excepted */
        int first = m->surface.first[point], last = m->surface.first[point + 1];
        for (int k = first; k < last; k++)
            if (m->surface.voxels[k] >= m->bone_count) sum += m->surface.weights[k] * m->surface.weights[k];
        if (!(sum > 1e-6f)) continue;
        for (int k = first; k < last; k++)
            if (m->surface.voxels[k] >= m->bone_count)
                job->t.guess[m->surface.voxels[k]] += pull * (m->surface.weights[k] / sum);
    }
}

/* Velocities and damping. */
static void update_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    const lattice_model *m = job->m;
    quad inverse_h = quad_set(1 / job->h), scale = quad_set(m->size);
    quad origin = {m->origin[0], m->origin[1], m->origin[2], 0};
    int *repairs = &job->t.repairs[begin / VOXEL_GRAIN];
    *repairs = 0;

    for (int v = begin; v < end; v++) {
        quad p = job->t.guess[v], target = job->s.targets[v];

        /* damped against the motion of the skeleton; a voxel that is off its leash returns to the target */
        if (v >= m->bone_count) {
            quad away = p - target, carried = job->t.carried[v];
            float distance2 = away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
            quad speed = (p - job->s.positions[v]) * inverse_h;
            speed = carried + (speed - carried) * m->keeps[v];
            if (!(distance2 < LEASH * LEASH)) {
                p = target;
                job->t.guess[v] = target;
                speed = carried;
                ++*repairs;
            }
            job->s.velocities[v] = speed - carried * (1 - m->inertias[v]);
        }

        /* what the next substep starts from */
        job->s.positions[v] = p;
        quad base = m->own_shape ? reference_place(job, v) : target;
        job->s.deviations[v] = frame_enter(&job->t.turns[v], p - base) - job->s.bulges[v];

        /* outputs, in scene units */
        quad scene = origin + p * scale, scene_target = origin + target * scale;
        for (int k = 0; k < 3; k++) job->s.voxels[3 * v + k] = scene[k];
        for (int k = 0; k < 3; k++) job->s.scene_targets[3 * v + k] = scene_target[k];
    }
}

/* The rigid part of a joint's motion. */
static lattice_frame rigid_part(const lattice_frame *joint)
{
    mat34 map = {{0}};
    for (int k = 0; k < 9; k++) map.m[k / 3 * 4 + k % 3] = joint->r[k % 3][k / 3];
    vec3 translation, scale;
    quat turn;
    mat34_decompose(map, &translation, &turn, &scale);
    mat3 r = quat_matrix(quat_normalize(turn));
    lattice_frame rigid = {.b = joint->b};
    for (int k = 0; k < 3; k++) rigid.r[k] = (quad){r.m[k], r.m[3 + k], r.m[6 + k], 0};
    return rigid;
}

static void job_prepare(lattice_step_job *job, const void *data, void *state, void *scratch, const solver_input *input)
{
    const lattice_model *m = data;
    memset(job, 0, sizeof *job);
    job->m = m;
    job->input = input;
    job->h = (float)m->substep;
    lattice_state_view(m, state, &job->s);
    lattice_scratch_view(m, scratch, &job->t);

    /* The regions' padding is computed with; nothing else ever writes it. */
    for (int v = m->count; v < m->padded; v++) job->t.a[v] = (lattice_frame){{0}, {{0}, {0}, {0}}};
    joints_prepare(m, input->skin, job->t.joints, job->t.scales);
    joints_turn(job);
    job->step = 1;
    if (!m->has_volume)
        for (int v = 0; v < m->padded; v++) job->t.intact[v] = 1;

    /* how the body as a whole has moved */
    float scale = job->t.scales[m->reference];
    job->reference = rigid_part(&job->t.joints[m->reference]);
    job->whole_size = fabsf(scale);
    job->whole = frame_of(job->reference.r, scale, job->reference.r);
    for (int k = 0; k < 3; k++) job->reference.r[k] = job->whole.r[k];
}

/* How the body as a whole had moved at the start of the substep. */
static lattice_frame reference_before(const lattice_step_job *job)
{
    const lattice_model *m = job->m;
    if (m->reference >= m->joint_count) return job->reference;
    mat34 pose, bind, skin;
    memcpy(pose.m, job->input->joints_old + 12 * m->reference, sizeof pose.m);
    memcpy(bind.m, m->character->joints[m->reference].inverse_bind, sizeof bind.m);
    skin = mat34_multiply(pose, bind);
    lattice_frame joint;
    joint_map(m, skin.m, &joint);
    return rigid_part(&joint);
}

/* Let the voxels give way where the skin touches; start: the skin of the last substep. */
static int collide(lattice_step_job *job, const lattice_frame *before, const float *start)
{
    int most = 0;
    if (job->m->contact.press) base_write(job, job->t.contact.places);
    for (int round = 0; round < CONTACT_ROUNDS; round++) {
        surface_write(job, job->t.guess, job->t.contact.points);
        int contacts = lattice_contact_wishes(job->m, &job->t.contact, job->input, before, &job->reference, start,
                                              round, job->t.wishes);
        if (!contacts) break;
        most = MAX(most, contacts);
        for (int v = job->m->bone_count; v < job->m->count; v++) job->t.guess[v] += job->t.wishes[v];
    }
    return most;
}

/* Algorithm 1. */
static void lattice_step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                         cutis_step_stats *stats)
{
    const lattice_model *m = data;
    lattice_step_job job;
    double clock = clock_seconds();

    /* stretch, volume and shape matching where the voxels are */
    job_prepare(&job, data, state, scratch, input);
    forces(&job, stats);

    /* primary deformation: where the skeleton has the voxels at the end of the substep */
    clock = clock_seconds();
    parallel_for(input->jobs, m->count, VOXEL_GRAIN, primary_block, &job);
    kit_lap(&clock, stats, PART_PRIMARY);

    /* blows and wind, where the voxels go, and what the user drags */
    if (input->impulse_count > 0 || kit_windy(input))
        parallel_for(input->jobs, m->count, VOXEL_GRAIN, strike_block, &job);
    parallel_for(input->jobs, m->count, VOXEL_GRAIN, advance_block, &job);
    drag(&job);
    kit_lap(&clock, stats, PART_PREDICTION);

    /* the volume of the pose */
    bulges_follow(&job);
    kit_lap(&clock, stats, PART_VOLUME);

    /* contact, at the level of voxels */
    bool touches = m->contact.self || m->contact.with_props;
    if (touches) {
        lattice_frame before = reference_before(&job);
        stats->contacts += collide(&job, &before, points);
    }
    kit_lap(&clock, stats, PART_CONTACT);

    /* velocities */
    parallel_for(input->jobs, m->count, VOXEL_GRAIN, update_block, &job);
    for (int i = 0; i * VOXEL_GRAIN < m->count; i++) stats->repairs += job.t.repairs[i];
    kit_lap(&clock, stats, PART_UPDATE);

    /* the surface; contact needs it of every substep: where it was, and where it goes */
    if (!touches) {
        if (!input->between) surface_write(&job, job.t.guess, points);
        kit_lap(&clock, stats, PART_SURFACE);
        if (!input->between && m->touch.on)
            stats->contacts = lattice_touch_points(m, &job.t, input->skin, points, input->jobs);
        kit_lap(&clock, stats, PART_CONTACT);
        return;
    }
    surface_write(&job, job.t.guess, job.t.contact.points);
    kit_lap(&clock, stats, PART_SURFACE);
    if (m->touch.on) lattice_touch_points(m, &job.t, input->skin, job.t.contact.points, input->jobs);
    lattice_contact_finish(m, &job.t.contact, input, &job.reference, points, job.t.contact.points);
    memcpy(points, job.t.contact.points, (size_t)m->surface.point_count * 3 * sizeof(float));
    kit_lap(&clock, stats, PART_CONTACT);
}

/* ---- reset ---- */

/* Rotations of the regions as the skeleton turns them, in the frame that they are in. */
static void rotations_reset(lattice_step_job *job)
{
    const lattice_model *m = job->m;
    for (int v = 0; v < m->padded; v++) {
        quat q = quat_identity();
        if (v < m->count && m->own_shape) {
            mat3 turn;
            for (int k = 0; k < 9; k++) turn.m[k] = job->s.priors[v].r[k % 3][k / 3];
            q = polar_rotation(turn, quat_identity(), 60);
        }
        const float parts[4] = {q.x, q.y, q.z, q.w};
        for (int i = 0; i < 4; i++) job->s.rotations[(size_t)i * m->padded + v] = parts[i];
    }
}

/* Substeps without velocity until the body rests in the pose, so that the first frame does not start with a jerk. */
#define SETTLE_STEPS 120
#define SETTLED 1e-7f

static void lattice_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    const lattice_model *m = data;

    lattice_step_job job;
    cutis_step_stats unused = {0};
    memset(state, 0, lattice_state_size(m));
    job_prepare(&job, data, state, scratch, input);

    /* on the targets */
    primary_block(&job, 0, m->count);
    rotations_reset(&job);
    job.settling = true;
    job.step = m->settle;
    for (int v = 0; v < m->count; v++) {
        job.t.guess[v] = job.s.targets[v];
        job.s.positions[v] = job.s.targets[v];
        job.t.carried[v] = (quad){0, 0, 0, 0};
    }
    for (int begin = 0; begin < m->count; begin += VOXEL_GRAIN)
        update_block(&job, begin, MIN(begin + VOXEL_GRAIN, m->count));

    /* bulges that keep the volume of the pose, then down to where the forces are in balance */
    for (int i = 0; i < SETTLE_STEPS; i++) bulges_follow(&job);
    for (int v = m->bone_count; v < m->count && !m->own_shape; v++) {
        job.t.guess[v] += frame_leave(&job.t.turns[v], job.s.bulges[v]);
        job.s.positions[v] = job.t.guess[v];
        job.s.deviations[v] = (quad){0, 0, 0, 0};
    }
    for (int i = 0; i < SETTLE_STEPS; i++) {
        float moved = 0;
        forces(&job, &unused);
        advance_block(&job, 0, m->count);
        for (int v = m->bone_count; v < m->count; v++) {
            quad d = job.t.guess[v] - job.s.positions[v];
            moved = fmaxf(moved, fmaxf(fabsf(d[0]), fmaxf(fabsf(d[1]), fabsf(d[2]))));
        }
        for (int begin = 0; begin < m->count; begin += VOXEL_GRAIN)
            update_block(&job, begin, MIN(begin + VOXEL_GRAIN, m->count));
        if (!(moved > SETTLED)) break;
    }

    /* nothing moves */
    for (int v = 0; v < m->count; v++) job.s.velocities[v] = (quad){0, 0, 0, 0};
    surface_write(&job, job.t.guess, points);
    if (m->touch.on) lattice_touch_points(m, &job.t, input->skin, points, input->jobs);
}

static long lattice_element_count(const void *data) { return ((const lattice_model *)data)->count; }

extern const solver solver_lattice;
const solver solver_lattice = {
    .info = {.name = "lattice",
             .summary = "voxels in layers of bone, muscle, fat and skin, by lattice shape matching; for real time",
             .paper = "Iwamoto, Shum, Yang, Morishima 2015, Multi-layer lattice model for real-time dynamic character "
                      "deformation",
             .element = "voxels",
             .parts = part_names,
             .part_count = PART_COUNT,
             .substep = 1.0 / 120,
             .parameters = lattice_parameters,
             .parameter_count = LATTICE_PARAMETERS,
             .outputs = lattice_outputs,
             .output_count = LATTICE_OUTPUT_COUNT,
             .flags = CUTIS_SOLVER_SELF_CONTACT | CUTIS_SOLVER_PROP_CONTACT},
    .float_state = true,
    .build = lattice_model_build,
    .element_count = lattice_element_count,
    .state_size = lattice_state_size,
    .scratch_size = lattice_scratch_size,
    .reset = lattice_reset,
    .step = lattice_step,
    .teleport = lattice_teleport,
    .output = lattice_output,
};
