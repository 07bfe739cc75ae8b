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
    LATTICE_OUTPUT_COUNT
};

/* ---- memory: all arrays are padded ---- */

typedef struct lattice_state {
    quad *positions, *velocities, *targets;
    quad *deviations; /* of positions from where flesh rests in the pose, in the frame of the voxel at rest */
    quad *bulges;     /* (padded) how far flesh rests from its target so that the pose keeps its volume, same frame */
    float *rotations; /* (4 x padded) of the regions, in the same frame */
    float *volumes;   /* (padded) of the voxels where flesh rests in the pose, negative where joints mirror */
    lattice_frame *priors; /* (padded) r: how the skeleton turns a voxel in that frame; only with its own shape */
    float *voxels;         /* (count x 3) outputs, scene space */
    float *scene_targets;
} lattice_state;

/* Pieces of skin, and where to find them. */
typedef struct lattice_discs {
    int count, bucket_count;
    float inverse_cell;
    quad *places, *normals, *rests; /* (count) in sizes */
    uint8_t *fixed;                 /* (count) it does not move */
    int *first;                     /* (bucket_count + 1) */
    int *order;                     /* (count) by bucket */
    int *buckets;                   /* (count) */
} lattice_discs;

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
    quad *displacements;   /* of voxels from their targets */
    float *skinning;       /* scratch of the surface's skinning */
    float *base;           /* (point_count x 3) the surface without the lattice's doing */
    quad *shares;          /* scratch of the volume constraints */
    float *scales;         /* (joint_count + 1) of the joints, negative where they mirror */
    int *repairs;          /* by block of voxels */
    quad *wishes;          /* of contact */
    lattice_contact_work contact;
    lattice_discs voxel_discs, point_discs;
    quad *voxel_moves, *point_moves; /* of the discs; w above 0: it meets another */
    int *point_list;                 /* points that are discs */
    uint8_t *touched;                /* (padded) voxels that meet others */
} lattice_scratch;

typedef struct lattice_step_job {
    const lattice_model *m;
    lattice_state s;
    lattice_scratch t;
    const solver_input *input;
    lattice_frame reference; /* rigid motion of the body as a whole, from rest place to place */
    lattice_frame whole;     /* its frame */
    float whole_size;        /* its scale */
    const quad *shown;       /* the voxels that displace_block shows */
    float h;
    float step;    /* share of the forces that is taken: 1, less while settling */
    bool settling; /* without velocities */
} lattice_step_job;

/* Move voxels at the guess out of each other; fills touched. Returns the number of contacts. */
int lattice_touch_voxels(const lattice_model *m, lattice_scratch *t, const quad *targets, const cutis_jobs *jobs);
/* Move points (point_count x 3, scene) on voxels that were touched out of each other. */
void lattice_touch_points(const lattice_model *m, lattice_scratch *t, float *points, const cutis_jobs *jobs);
void lattice_touch_carve(const lattice_model *m, kit_block *block, lattice_scratch *t);

/* Views of a block; with memory NULL only its size, which they return. */
size_t lattice_state_view(const lattice_model *m, void *memory, lattice_state *s);
size_t lattice_scratch_view(const lattice_model *m, void *memory, lattice_scratch *s);
size_t lattice_state_size(const void *data);
size_t lattice_scratch_size(const void *data);
void lattice_teleport(const void *data, void *state, const float transform[12]);
bool lattice_output(const void *data, const void *state, int index, cutis_output *output);

#endif
