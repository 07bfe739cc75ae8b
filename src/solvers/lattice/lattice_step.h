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
    float *rotations; /* (4 x padded) of the regions */
    float *errors;    /* (padded) of volume, remembered */
    float *voxels;    /* (count x 3) outputs, scene space */
    float *scene_targets;
} lattice_state;

typedef struct lattice_scratch {
    quad *guess, *moved; /* predicted positions */
    quad *carried;       /* velocity of the targets */
    quad *weighted;
    lattice_frame *a, *b, *frames;
    lattice_frame *loans;  /* (loan_most) of the sums */
    lattice_frame *turns;  /* r: how the skeleton turns a voxel, where the voxel needs it */
    lattice_frame *joints; /* (joint_count + 1) skinning maps, in sizes */
    quad *displacements;   /* of voxels from their targets */
    float *skinning;       /* scratch of the surface's skinning */
    float *base;           /* (point_count x 3) the surface without the lattice's doing */
    quad *pushes;
    int *repairs; /* by block of voxels */
    quad *wishes; /* of contact */
    lattice_contact_work contact;
} lattice_scratch;

typedef struct lattice_step_job {
    const lattice_model *m;
    lattice_state s;
    lattice_scratch t;
    const solver_input *input;
    lattice_frame reference; /* rigid motion that sums are relative to, from rest place to place */
    const quad *shown;       /* the voxels that displace_block shows */
    float h;
} lattice_step_job;

/* Views of a block; with memory NULL only its size, which they return. */
size_t lattice_state_view(const lattice_model *m, void *memory, lattice_state *s);
size_t lattice_scratch_view(const lattice_model *m, void *memory, lattice_scratch *s);
size_t lattice_state_size(const void *data);
size_t lattice_scratch_size(const void *data);
void lattice_teleport(const void *data, void *state, const float transform[12]);
bool lattice_output(const void *data, const void *state, int index, cutis_output *output);

#endif
