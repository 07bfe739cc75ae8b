/*
 * lattice_model.h: the built model of solver `lattice`, and its parameters.
 */
#ifndef LATTICE_LATTICE_MODEL_H
#define LATTICE_LATTICE_MODEL_H

#include "solvers/lattice/lattice.h"

/* Voxel arrays are padded to this many, whatever LANES is, so that a state has the same bytes everywhere. */
#define LATTICE_PAD 8

/* The parameters, in the order of the table in lattice_model.c. */
enum {
    LATTICE_RESOLUTION,
    LATTICE_ADAPTIVE,
    LATTICE_REGION,
    LATTICE_ITERATIONS,
    LATTICE_BONE_WIDTH,
    LATTICE_RATIO, /* muscle, fat, inner3, inner4 */
    LATTICE_SKIN_LAYER = LATTICE_RATIO + LATTICE_INNER_COUNT,
    LATTICE_MIXED,
    LATTICE_STIFFNESS,                                        /* muscle, fat, inner3, inner4, skin */
    LATTICE_DAMPING = LATTICE_STIFFNESS + LATTICE_LAYERS - 1, /* the same */
    LATTICE_GAIN = LATTICE_DAMPING + LATTICE_LAYERS - 1,
    LATTICE_INERTIA,
    LATTICE_STRETCH,
    LATTICE_NEIGHBOUR_SET,
    LATTICE_VOLUME,
    LATTICE_ALPHA,
    LATTICE_FALLOFF,
    LATTICE_PARAMETERS
};

extern const cutis_parameter lattice_parameters[LATTICE_PARAMETERS];

typedef struct lattice_model {
    const cutis_character *character;
    int count, bone_count, padded; /* voxels; bone voxels come first */
    int joint_count, iterations, region;
    int reference;         /* joint whose motion sums are relative to; joint_count: the scene */
    float origin[3], size; /* scene place = origin + size x place */
    double substep;

    const quad *rest;      /* (padded) rest places, 0 in w */
    const float *masses;   /* (padded) */
    const int *joints;     /* (count x LATTICE_JOINTS) */
    const float *weights;  /* (count x LATTICE_JOINTS) */
    const uint8_t *turned; /* (count) whether the skeleton's rotation of the voxel is needed */
    const float *gains;    /* (padded) of equation 5, for one substep; 0 for bone */
    const float *keeps;    /* (padded) share of the velocity that damping leaves */
    const float *inertias; /* (padded) share of the target's acceleration that is felt */
    const float *layers;   /* (count) output: the layer of each voxel */
    const float *shares;   /* (count x LATTICE_LAYERS) output */
    const float *edges;    /* (count) output: edge length, scene units */

    lattice_sweep sweep;
    lattice_regions regions;
    lattice_stretch stretch;
    lattice_volume volume;
    lattice_surface surface;
    const float *softness; /* (vertex_count) output: 1 minus the gain of what carries the vertex; 0 is bone */
    bool has_stretch, has_volume;
} lattice_model;

cutis_result lattice_model_build(const solver_build *build, void **data, cutis_error *error);

#endif
