/*
 * lattice_step.h: the state of the solver `lattice` and its scratch, and what a substep works with.
 */
#ifndef SOLVERS_LATTICE_STEP_H
#define SOLVERS_LATTICE_STEP_H

#include "solvers/lattice/lattice_model.h"
#include "solvers/solver_kit.h"

/* Voxels that a thread takes at once; fixed, so that results do not depend on threads. */
enum { VOXEL_GRAIN = 512 };

enum {
    LATTICE_OUTPUT_VOXELS,
    LATTICE_OUTPUT_TARGETS,
    LATTICE_OUTPUT_LAYERS,
    LATTICE_OUTPUT_SHARES,
    LATTICE_OUTPUT_EDGES,
    LATTICE_OUTPUT_SOFTNESS,
    LATTICE_OUTPUT_TISSUE,
    LATTICE_OUTPUT_COUNT
};

/* ---- memory: all arrays are padded ---- */

typedef struct lattice_state {
    quad *positions, *velocities, *targets;
    quad *deviations;   /* of positions from where flesh rests in the pose, in the frame of the voxel at rest */
    quad *bulges;       /* (padded) how far flesh rests from its target so that the pose keeps its volume, same frame */
    float *rotations;   /* (4 x padded) of the regions, in the same frame */
    float *volumes;     /* (padded) of the voxels where flesh rests in the pose, negative where joints mirror */
    float *joint_turns; /* (joint_count x 4) memory of skinning_rotations */
    lattice_frame *priors; /* (padded) r: how the skeleton turns a voxel in that frame; only with its own shape */
    float *voxels;         /* (count x 3) outputs, scene space */
    float *scene_targets;
} lattice_state;

/* A weighted mean of planes n x = o, n away from the own side. */
typedef struct lattice_middle {
    quad side;     /* sum of n, and of the weights in w */
    quad squares;  /* of n, x x, y y, z z; how far a point may be moved in w */
    quad products; /* x y, x z, y z */
    quad offset;   /* of n o */
} lattice_middle;

/* The patches of skin, where they are. */
typedef struct lattice_patches {
    quad *places, *normals;  /* (count) in sizes */
    quad *projected;         /* (count) places on the planes */
    lattice_middle *found;   /* (count) between the patch and those that it meets */
    lattice_middle *middles; /* (count) what it does not go beyond */
    float *sure;             /* (count) 0..1, whether it meets any */
    int (*from)[2];   /* (count) the nearest patch that meets another, and the nearest of the opposite side; or -1 */
    float (*ways)[2]; /* (count) to them over the skin */
    int *reached;     /* patches that have such */
    quad *moves, *smooth; /* (point_count) of the points, scene; in w how much they follow those around */
    int *first;           /* (bucket_count + 1) */
    int *order, *buckets; /* (count) by bucket, and the bucket of each */
    float *sorted[9];     /* (count and a vector) in that order: place, normal and rest place by axis */
} lattice_patches;

typedef struct lattice_scratch {
    quad *guess;   /* predicted positions */
    quad *carried; /* velocity of the targets */
    quad *weighted;
    quad *places;  /* rest places plus deviations */
    quad *pulls;   /* of stretch, in the frame at rest */
    quad *pushes;  /* of volume */
    quad *bulged;  /* targets with their bulges */
    float *wanted; /* volumes at rest, as the joints' scale makes them */
    float *found;  /* volumes as they are */
    float *intact;
    lattice_frame *a, *b, *frames;
    lattice_frame *loans;  /* (loan_most) of the sums */
    lattice_frame *turns;  /* r: the voxel's frame now, its columns times the joints' scale; b: 1 / scale^2, scale^3 */
    lattice_frame *joints; /* (joint_count + 1) skinning maps, in sizes */
    lattice_frame *turned; /* (joint_count + 1) r: rotations of the joints, b: the same as quaternions */
    quad *displacements;   /* of voxels from their targets */
    float *skinning;       /* scratch of the surface's skinning */
    float *base;           /* (point_count x 3) the surface without the lattice's doing */
    quad *shares;          /* scratch of the volume constraints */
    float *scales;         /* (joint_count + 1) of the joints, negative where they mirror */
    int *repairs;          /* by block of voxels */
    quad *wishes;          /* of contact */
    lattice_contact_work contact;
    lattice_patches patches;
} lattice_scratch;

typedef struct lattice_step_job {
    const lattice_model *m;
    lattice_state s;
    lattice_scratch t;
    const solver_input *input;
    lattice_frame reference; /* rigid motion of the body as a whole, from rest place to place */
    lattice_frame whole;     /* its frame */
    float whole_size;        /* its scale */
    bool stretched;          /* whether any joint does more than turn and move */
    float *base;             /* the points that base_turn_block turns */
    const quad *shown;       /* the voxels that displace_block shows */
    float h;
    float step;    /* share of the forces that is taken: 1, less while settling */
    bool settling; /* without velocities */
} lattice_step_job;

/* ---- blended rotations ---- */

static inline void lattice_rotation_columns(quad q, quad r[3])
{
    float x = q[0], y = q[1], z = q[2], w = q[3];
    r[0] = (quad){1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 0};
    r[1] = (quad){2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), 0};
    r[2] = (quad){2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), 0};
}

/* Cosine of half the turn between two joints of a voxel beyond which they are blended the other way round (240
 * degrees).
 */
#define LATTICE_PAIR_SIDE -0.5f

static inline float lattice_quaternion_dot(quad a, quad b)
{
    quad products = a * b;
    return (products[0] + products[1]) + (products[2] + products[3]);
}

/* Rotation of a blend of joints, each given by `unit` times its number. */
static inline void lattice_rotation_blend(const lattice_frame *joints_turned, const int *joints, int unit,
                                          const float *weights, int count, quad turned[3])
{
    quad first = joints_turned[joints[0] / unit].b, sum = first * weights[0];
    for (int i = 1; i < count && weights[i] > 0; i++) {
        quad other = joints_turned[joints[i] / unit].b;
        sum += other * (lattice_quaternion_dot(other, first) < LATTICE_PAIR_SIDE ? -weights[i] : weights[i]);
    }
    float length2 = lattice_quaternion_dot(sum, sum);
    if (!(length2 > 1e-6f)) {
        sum = first;
        length2 = 1;
    }
    lattice_rotation_columns(sum * (1 / sqrtf(length2)), turned);
}

/* ---- contact, memory ---- */

/* Bring sheets of the skin (point_count x 3, scene) that have passed each other back to their sides; skin: of the pose.
 * Returns the number of patches that meet others or lie between such. */
int lattice_touch_points(const lattice_model *m, lattice_scratch *t, const float *skin, float *points,
                         const cutis_jobs *jobs);
void lattice_touch_carve(const lattice_model *m, kit_block *block, lattice_scratch *t);

/* Views of a block; with memory NULL only its size, which they return. */
size_t lattice_state_view(const lattice_model *m, void *memory, lattice_state *s);
size_t lattice_scratch_view(const lattice_model *m, void *memory, lattice_scratch *s);
size_t lattice_state_size(const void *data);
size_t lattice_scratch_size(const void *data);
void lattice_teleport(const void *data, void *state, const float transform[12]);
bool lattice_output(const void *data, const void *state, int index, cutis_output *output);

#endif
