/*
 * tissue.h: what the files of the solver `tissue` share.
 *
 * Names: a column is the flesh under one point of the surface: four nodes, skin, fat, muscle and bone layer. A wedge is
 * the flesh between two layers of one triangle. Columns are stored colour by colour, so that no two neighbours have
 * the same colour. A column's positions are a record of COLUMN floats: x of its four layers, then y, then z.
 * Lengths are in sizes (the diagonal of the character's bounds at rest), relative to the centre of its bounds; the
 * density is 1, so that masses are volumes and moduli are squares of speeds.
 */
#ifndef SOLVERS_TISSUE_H
#define SOLVERS_TISSUE_H

#include "character/anatomy.h"
#include "character/skinning.h"
#include "contact/contact.h"
#include "math/simd.h"
#include "solvers/muscles.h"
#include "solvers/solver.h"
#include "solvers/solver_kit.h"

enum { TISSUE_SKIN, TISSUE_FAT, TISSUE_MUSCLE, TISSUE_BONE, TISSUE_LAYERS };
enum { TISSUE_WEDGES = TISSUE_LAYERS - 1 };
/* Floats of a column's record; the last four are 0. */
enum { COLUMN = 16 };
/* Floats of what contact adds to a column: gradient 3, upper half of the Hessian 6, step limit, two unused. */
enum { TOUCH = 12 };
/* Coefficients of an entry: shear coupling 10 (4 within layers, 3 to the layer below, 3 above), then 6 per wedge. */
enum { ENTRY_SHEAR = 10, WEDGE = 6, ENTRY = ENTRY_SHEAR + WEDGE * TISSUE_WEDGES };
/* Coefficients of a column of its own: shear within layers 4, between layers 3. */
enum { OWN = 7 };
/* Iterations that the acceleration remembers. */
enum { ANDERSON = 5 };

/* ---- constants that are no parameters ---- */

/* Depth of flesh, sizes, whose frequency a stiffness gives; thinner flesh has the same modulus and is firmer. */
static const double REFERENCE_DEPTH = 0.05;
/* Bulk over shear modulus: Poisson's ratio 0.49, as for soft tissue. */
static const double BULK_RATIO = 50;
/* Bulk modulus within a wedge, over that of the wedge: above mu, or it is unstable; small, so that it bends softly. */
static const double INNER_BULK_SHARE = 0.25;
/* Generalised-alpha integration (Chung, Hulbert 1993): factor per step of what is too fast for the substep. */
static const double SPECTRAL_RADIUS = 0.5;
/* Maximum motion of a node in one iteration, sizes: within the range of the quadratic model. */
static const float MAX_STEP = 0.004f;
/* Share of the distance to what it may touch that a point may use in one iteration; two of them stay below 1. */
static const float SAFE_SHARE = 0.45f;

/* ---- the model ---- */

typedef struct tissue_model {
    const cutis_character *character;
    const mesh *mesh; /* the skin in the order of columns, in sizes */
    int count;        /* columns */
    int joint_count;
    float size, centre[3];
    int *points;           /* (count) the build's point of each column */
    int *columns;          /* (count) the column of each point */
    float *rest;           /* (count x COLUMN) */
    float *mass;           /* (count x 4) volume of each node */
    float *shares;         /* (count x 4) depth of each node over that of the bone layer, 0..1 */
    float *bone_springs;   /* (count) stiffness of the bone layer's spring to the skeleton */
    float *freeze;         /* (count) stiffness of the painted tie of the skin, over mass, 1/s^2; NULL: none */
    float *touch_scale;    /* (count) force at which contact is half closed */
    float *friction;       /* (count) */
    float *depths;         /* (count) of the flesh */
    float *radii;          /* (count) distance of the skin from the bones' centre lines */
    float *inverse_masses; /* (count) of columns */
    float *dampings;       /* (count) decay rate of velocity relative to the skeleton, 1/s */
    float *tissue;         /* (vertex_count) output: the anatomy map */

    /* colours: blocks of LANES columns, and their entries */
    int colour_count;
    int *colour_first;   /* (colour_count + 1) first column of each */
    int *colour_blocks;  /* (colour_count + 1) first block of each */
    int32_t *block_own;  /* (block_count x LANES) offsets of the columns' records */
    int *block_entries;  /* (block_count + 1) first entry of each */
    int32_t *entry_ends; /* (entry_count x 2 x LANES) offsets of the two other columns of a triangle */
    float *entry_values; /* (entry_count x ENTRY x LANES) */
    float *own_values;   /* (block_count x OWN x LANES) */
    int block_count;

    /* muscles; NULL where none bulges */
    muscle_bone *muscles; /* (joint_count) */
    int *fibre_bones;     /* (count) */
    float *fibre_shares;  /* (count) */

    /* skeleton */
    int *parents;   /* (joint_count) */
    skinning drive; /* skin of all columns, their bone layers, then their axis points */
    skinning axis_drive;

    /* contact */
    contact_surface surface;
    bvh tree;
    contact_props props;

    /* parameters */
    int iterations;
    bool drive_linear, self_contact;
    float gap, gravity, tolerance;
} tissue_model;

cutis_result tissue_model_build(const solver_build *build, tissue_model *model, cutis_error *error);

enum {
    TISSUE_ITERATIONS,
    TISSUE_DRIVE,
    TISSUE_SKIN_STIFFNESS,
    TISSUE_FAT_STIFFNESS,
    TISSUE_MUSCLE_STIFFNESS,
    TISSUE_BONE_STIFFNESS,
    TISSUE_FAT_DEPTH,
    TISSUE_MUSCLE_DEPTH,
    TISSUE_BONE_DEPTH,
    TISSUE_FLESH_DEPTH,
    TISSUE_DAMPING,
    TISSUE_GRAVITY,
    TISSUE_SELF_COLLISION,
    TISSUE_CONTACT_GAP,
    TISSUE_FRICTION,
    TISSUE_UNIT,
    TISSUE_MUSCLE_BULGE,
    TISSUE_ANATOMY,
    TISSUE_FATNESS,
    TISSUE_FIRMNESS,
    TISSUE_PARAMETER_COUNT
};

enum {
    TISSUE_OUTPUT_FAT,
    TISSUE_OUTPUT_MUSCLE,
    TISSUE_OUTPUT_BONE,
    TISSUE_OUTPUT_CONTACT,
    TISSUE_OUTPUT_TISSUE,
    TISSUE_OUTPUT_COUNT
};

/* ---- the state ---- */

/* Only floats. */
typedef struct tissue_state {
    float *z;        /* (count x COLUMN) positions that are shown, and at which forces are taken */
    float *x;        /* (count x COLUMN) the integrator's positions */
    float *v;        /* (count x COLUMN) velocities */
    float *a;        /* (count x COLUMN) accelerations */
    float *turns;    /* (joint_count x 4) see skinning_dual_on */
    float *drive;    /* (drive.count x 3) skeleton's positions at the last substep, sizes */
    float *slip;     /* (count x 3) elastic slip of what touches, see tissue_friction.c */
    float *released; /* (count) above 0 where contact is disabled, see tissue_yield.c */
    float *outputs;  /* (vertex_count x 3) of three layers, then (vertex_count) of contact */
} tissue_state;

/* A pair of features as contact energy. */
typedef struct tissue_pair {
    contact_pair base;  /* nearest points at the last evaluation */
    float force, slope; /* minus the energy's derivative by distance, and its second derivative */
    float stiffness;    /* of the energy */
    float friction;
    vec3 slip; /* elastic slip at the start of the substep */
} tissue_pair;

typedef struct tissue_work {
    float *z;                                       /* (count x COLUMN) iterate */
    float *last;                                    /* (count x COLUMN) the iterate before */
    float *residual, *result;                       /* (count x COLUMN) motion and result of the last sweep */
    float *residuals[ANDERSON], *results[ANDERSON]; /* their differences between iterations */
    double gram[ANDERSON][ANDERSON];                /* products of the residuals' differences */
    double norm2;                                   /* square of the last residual */
    double *sums;
    int history;        /* differences so far */
    float *pull;        /* (count x COLUMN) where inertia, damping and springs together want the node */
    float *pull_weight; /* (count x 4) how much */
    float *touch;       /* (count x TOUCH) */
    float *drive;       /* (drive.count x 3) */
    float *skinning;
    float *axis; /* (count x 3) */
    float *walk;
    float *moves;    /* (block_count) largest motion of a node in this iteration, squared */
    float *skin_old; /* (count x 3) skin at the start of the substep */
    float *skin;     /* (count x 3) at the last evaluation of contact */
    float *limits;   /* (count) step limits by contact */
    float *slips;    /* (count x 4) sums of slip, and of weights */
    tissue_pair *pairs;
    int *pair_first; /* (count + 1) pairs of each column */
    int *pair_list;
    int pair_capacity;
    contact_plane *planes;
    int *plane_first; /* (count + 1) */
    int *plane_list;
    int plane_capacity;
    contact_work contact;
    bvh_node *nodes; /* of the tree, refitted */
    uint8_t *marks;  /* (count) */
    int *queue;      /* (count) */
    float *spread;   /* (count) */
} tissue_work;

/* Everything a substep works with. */
typedef struct tissue_run {
    const tissue_model *m;
    tissue_state s;
    tissue_work w;
    const solver_input *input;
    double h;
    bool still;     /* no inertia: the walk of a reset */
    int iterations; /* of this substep, at most */
    int pair_count, plane_count;
    int colour;
} tissue_run;

size_t tissue_state_size(const void *data);
size_t tissue_scratch_size(const void *data);
tissue_run tissue_run_make(const void *data, void *state, void *scratch, const solver_input *input);
void tissue_state_rest(tissue_run *run);
void tissue_teleport(const void *data, void *state, const float transform[12]);
void tissue_results_write(tissue_run *run, float *points);
bool tissue_output(const void *data, const void *state, int index, cutis_output *output);

/* Positions (drive.count x 3) under the skeleton alone, in sizes (tissue_drive.c). */
void tissue_drive_find(tissue_run *run, float *positions);
/* Coordinate c of the nodes of column k in a drive: between skin and bone layer by depth. */
static inline void tissue_drive_column(const tissue_model *m, const float *drive, int k, int c, float column[4])
{
    float skin = drive[3 * k + c];
    float way = drive[3 * (m->count + k) + c] - skin;
    for (int l = 0; l < TISSUE_LAYERS; l++) column[l] = skin + m->shares[4 * k + l] * way;
}

/* Inertia, damping and springs as one quadratic per node; the first iterate into w.z (tissue_drive.c). */
void tissue_predict(tissue_run *run);
/* Velocities and accelerations from the result in w.z (tissue_drive.c). */
void tissue_advance(tissue_run *run);

/* Muscles (tissue_fibres.c): which columns have one; what they do to the skeleton's positions. */
cutis_result tissue_fibres_build(const solver_build *build, const anatomy *a, tissue_model *model, cutis_error *error);
void tissue_fibres_contract(const tissue_run *run, float *positions);

/* One sweep of block descent over all columns; returns the largest motion of a node (tissue_cells.c). */
float tissue_sweep(tissue_run *run, int iteration);

/* The next iterate from the last sweeps (tissue_accelerate.c). */
void tissue_accelerate(tissue_run *run, int iteration);

/* Contact (tissue_contact.c): candidates for the first iterate, which is shortened to a safe one. */
void tissue_contact_begin(tissue_run *run);
/* Distances, forces and step limits at the iterate. */
void tissue_contact_evaluate(tissue_run *run);
/* Gradient and Hessian of contact for the columns of a colour. */
void tissue_contact_gather(tissue_run *run, int begin, int end);
/* Shorten the result to a safe one. Returns false when candidates were lost. */
bool tissue_contact_end(tissue_run *run);
int tissue_contact_count(const tissue_run *run);
/* Elastic slip of a pair, or of a plane's point, at the iterate; force of a plane. */
vec3 tissue_pair_slip(const tissue_run *run, const tissue_pair *pair);
vec3 tissue_plane_slip(const tissue_run *run, const contact_plane *plane);
float tissue_plane_force(const tissue_run *run, const contact_plane *plane);

/* Friction (tissue_friction.c): slip of a pair at the start of a substep, force over slip, slip to be kept. */
vec3 tissue_slip_start(const tissue_run *run, const contact_pair *pair);
float tissue_friction_slope(float friction, float force, float slip);
void tissue_slip_update(tissue_run *run);

/* Where contact is disabled from now on (tissue_yield.c). */
void tissue_yield_update(tissue_run *run, bool impacts_left);

#endif
