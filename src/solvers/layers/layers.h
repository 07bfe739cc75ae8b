/*
 * layers.h: what the files of the solver `layers` share.
 *
 * Names: a point is a welded place of the surface; a particle is (point, layer). Everything is stored in path
 * order: `place` k of a point along the path layout (layers_paths.c), and in it the four layers side by side,
 * so that the array of one component is (point_count x LAYERS) and four layers fill a vector register.
 * Lengths are in units of the character's size, relative to the centre of its bounds; masses are relative to
 * the mean.
 *
 * Symbols of the paper: w rings, m mass, x position, x0 rest position, R rotation and c centre of a region,
 * g goal. kappa is the region's stiffness in 1/s^2 (departure: see layers_match.c).
 */
#ifndef SOLVERS_LAYERS_H
#define SOLVERS_LAYERS_H

#include "character/skinning.h"
#include "contact/contact.h"
#include "math/simd.h"
#include "solvers/muscles.h"
#include "solvers/solver.h"

enum { LAYER_SKIN, LAYER_FAT, LAYER_MUSCLE, LAYER_BONE, LAYERS };

/* Numbers of a region: a 3 x 3 matrix by rows, then a vector. */
enum { SUM_COMPONENTS = 12 };
/* Numbers that one place takes in an array of sums: component by component, the four layers of each. */
enum { SUM_STRIDE = SUM_COMPONENTS * LAYERS };
/* The same for the sums of a substep's first iterate: moments, mass times deviation, mass times place. */
enum { BASE_COMPONENTS = 15, BASE_STRIDE = BASE_COMPONENTS * LAYERS };

/* ---- path layout (layers_paths.c) ---- */

typedef struct layers_interval {
    int begin, end; /* entries of the prefix array: place + path, exclusive end */
} layers_interval;

typedef struct layers_paths {
    int point_count, path_count;
    int *points;     /* (point_count) point at each place */
    int *places;     /* (point_count) place of each point */
    int *path_first; /* (path_count + 1) first place of each path */
    int *path_of;    /* (point_count) path of each place */
    /* The region of each place: the places around it, as intervals of paths and, for the naive sum, as places. */
    int *interval_first; /* (point_count + 1) */
    layers_interval *intervals;
    int *member_first; /* (point_count + 1) */
    int *members;
} layers_paths;

/* The paths of a mesh; without regions. */
cutis_result layers_paths_build(layers_paths *paths, const mesh *m, arena *memory, const cutis_allocator *allocator,
                                cutis_error *error);
/*
 * The regions: places whose distance along edges is at most the radius of both, and neighbours in any case. m: the mesh
 * in the order of places; radii: (point_count).
 */
cutis_result layers_paths_regions(layers_paths *paths, const mesh *m, const float *radii, arena *memory,
                                  const cutis_allocator *allocator, cutis_error *error);

/* ---- shape matching (layers_match.c) ---- */

/* Constants of the regions, all (point_count x LAYERS). */
typedef struct layers_regions {
    float *mass;           /* m */
    float *masses;         /* m over the number of regions that hold the particle */
    float *rest[3];        /* x0 */
    float *moments;        /* a of A_i = a R_i */
    float *kappa;          /* of the region centred at the particle, 1/s^2 */
    float *kappa_mean;     /* over the regions that hold the particle */
    float *weights;        /* of the region in the goals of its particles: kappa, scaled */
    float *weight_inverse; /* 1 / sum of weights of the regions that hold the particle */
    float *mass_inverse;   /* 1 / sum of masses of the region */
    float *springs;        /* k between the particle and that of the next layer of its column, mass/s^2 */
} layers_regions;

/* What an iteration works on; all (point_count x LAYERS). */
typedef struct layers_iterate {
    float *x[3];      /* current iterate */
    float *inert[3];  /* where inertia would take the particle */
    float *last[3];   /* iterate before the current one, for the acceleration */
    float *q[4];      /* rotations of regions, x y z w */
    float *target[3]; /* where the skeleton wants the particle */
    float *pulls[3];  /* the part of linearised ties that does not depend on the iterate, mass x size (ties_find) */
    float *push[3];   /* impulses on the skin layer times h, mass x size (point_count each) */
    float *centre[3]; /* of the regions, under the skeleton */
    float *columns;   /* (point_count x LAYERS x LAYERS) inverse of each column's matrix, diagonal by diagonal */
    /* The first iterate, and the moments of the regions there (point_count x SUM_STRIDE). */
    float *base_x[3], *base;
    double *base_sums; /* ((point_count + path_count) x BASE_STRIDE) prefix sums of what they are made of */
    float *sums; /* ((point_count + path_count) x SUM_STRIDE) prefix sums of what was moved since; naive: the rotations
                    of places */
    float *maps; /* the same of the regions' rigid maps */
} layers_iterate;

/* ---- columns (layers_columns.c) ---- */

/*
 * Springs between the layers. moduli: (point_count x 3) of the tissue from each layer to the next, as the frequency
 * squared of a column of it, 1/s^2. frequencies: (point_count) squares of the columns' own, 1/s^2.
 */
void layers_columns_build(int point_count, const double *moduli, layers_regions *regions, float *frequencies);
/* The columns' inverse matrices for a substep. ties: (point_count x LAYERS) stiffness of the tie to the skeleton. */
void layers_columns_factor(const layers_regions *regions, const float *ties, double h, int begin, int end,
                           layers_iterate *iterate);

/* ---- volume (layers_pieces.c, layers_volume.c) ---- */

/* Triangles that a thread sums at once. */
enum { LAYERS_PART_TRIANGLES = 512 };

/* Pieces of the skin around joints, closed by fans to centres that move with the skeleton. */
typedef struct layers_volumes {
    int count;
    double *rest;        /* (count) rest volumes, sizes cubed; 0: not kept */
    int *triangle_first; /* (count + 1) */
    int *triangles;      /* (x 3) corners: a place of the skin, or point_count + centre */
    float *shares;       /* (x 3, and one more) how far a corner's displacement serves this volume; 0 for centres */
    int *part_first;     /* (count + 1) runs of triangles of each volume, for the threads */
    int *part_pieces;    /* the volume of each part */
    int centre_count;    /* of fans */
    float *centre_rest;  /* (centre_count x 3), scene space */
    int *centre_first;   /* (centre_count + 1) influences of each */
    int *centre_joints;
    float *centre_weights;
    int *point_first; /* (point_count + 1) the volumes that each point serves */
    int *point_volumes;
    float *point_shares; /* sum to 1 for each point */
    float *softness;     /* (point_count) how much the point gives way, 0..1 */
    float *areas;        /* (point_count) at rest */
    double *give;        /* (count) areas x softness x shares of all points, frozen or not */
    float deepest;       /* depth of flesh where softness is 1, sizes */
    double *depths;      /* (count) how far the skin would go for all of the volume, or all of its flesh: the less */
    float *freedom;      /* (count) what part of give is not frozen */
} layers_volumes;

/* Scratch of the volume loop: sizes in brackets. Positions, directions and velocities have room for one float more. */
typedef struct layers_volume_work {
    float *positions;  /* ((point_count + centre_count) x 3) skin by place, then the centres of fans */
    float *directions; /* (point_count x 3) along which each point gives way, at full softness */
    double *sums;      /* (part count x 3) */
    double *targets;   /* (count) what each volume is kept at in this substep; 0: not kept */
    float *lambdas;    /* (count) */
    float *totals;     /* (count) lambdas added up over the iterations */
    float *freedom;    /* (count) what part of the piece is neither frozen nor held, 0..1 */
} layers_volume_work;

/* The volume of a piece, for positions (point_count points and the centres x 3, room for one float more). */
double layers_volume_of(const layers_volumes *volumes, int piece, int point_count, const float *positions);
/* directions: unit normals of the current skin times softness times free (point_count, 0..1). */
void layers_volume_directions(const layers_volumes *volumes, const mesh *m, const float *free, layers_volume_work *work,
                              const cutis_jobs *jobs);
/* After maps are known: what is frozen for the most part has its volume from the skeleton, and it is not kept. */
void layers_volumes_freeze(layers_volumes *volumes, const mesh *m);
/* freedom (count): what part of each piece is free. free: (point_count, 0..1), NULL: all of it, but for frozen points.
 */
void layers_volume_freedom(const layers_volumes *volumes, int point_count, const float *free, float *freedom);
/* Find the targets from the places of skin and centres under the skeleton alone, in work->positions. */
void layers_volume_targets(const layers_volumes *volumes, int point_count, layers_volume_work *work,
                           const cutis_jobs *jobs);
/* One iteration: each volume back to its target, to first order. Returns whether one was off by more than a slack.
 */
bool layers_volume_project(const layers_volumes *volumes, int point_count, layers_volume_work *work,
                           const cutis_jobs *jobs);
/* errors (count): change of each kept volume, over its rest value; 0 where it is not kept. */
void layers_volume_errors(const layers_volumes *volumes, int point_count, layers_volume_work *work,
                          const cutis_jobs *jobs, float *errors);
/* What pressures (count) push each point by, along the directions. push: three arrays (point_count). */
void layers_volume_push(const layers_volumes *volumes, int point_count, layers_volume_work *work,
                        const float *pressures, const cutis_jobs *jobs, float *const push[3]);
/* Take the part out of velocities ((point_count + centre_count) x 3) that changes volumes. */
void layers_volume_velocity(const layers_volumes *volumes, int point_count, layers_volume_work *work,
                            const cutis_jobs *jobs, float *velocities);

/* ---- the model ---- */

typedef struct layers_model {
    const cutis_character *character;
    const mesh *mesh; /* the skin in place order, in sizes */
    int point_count, joint_count;
    float size, centre[3];
    layers_paths paths;
    layers_regions regions;
    float *least;       /* (triangle_count x 3) heights that the flesh below each layer keeps as it is shown, sizes */
    float *depths;      /* (point_count x LAYERS) depth of the particle over that of the bone layer, 0..1 */
    float *frequencies; /* (point_count) squares of those of the columns of flesh, 1/s^2 */
    float *flesh;       /* (point_count) depth of the bone layer under the skin, sizes */
    float *bounds;      /* (point_count) how far the skin gives way from its place under the skeleton, sizes */
    layers_volumes volumes;
    float *vertex_pieces; /* (vertex_count) the sub-volume that each vertex serves most */
    int *parents;         /* (joint_count) */
    skinning drive;       /* skin by place, bone layer by place, then the centres of fans, then axis points */
    skinning axis_drive;  /* axis points, linearly */
    /* Muscles that bulge; NULL where none does. */
    muscle_bone *muscles; /* (joint_count) strength: how much thicker at 90 degrees, over the depth */
    int *fibre_bones;     /* (point_count) */
    float *fibre_shares;  /* (point_count) how much thicker at 90 degrees, on the inner side */
    /* Painted maps; arrays are NULL, and counts 0, where nothing is painted. */
    float *freeze; /* (point_count) how far the point follows linear blend skinning, 0..1 */
    float *press;  /* (point_count) how far into its flesh the point may be pressed, over its depth, 0..1 */
    int frozen_count;
    int *frozen;           /* (frozen_count) places with freeze > 0 */
    skinning frozen_drive; /* their skin, then their bone layer */
    contact_surface surface;
    bvh tree; /* of the skin, for what crosses */
    contact_props props;
    float *friction, *restitution; /* (point_count) */
    int iterations, volume_iterations, match_every;
    bool naive, drive_linear, self_contact, volume_on;
    float damping, thickness, gravity; /* gravity in sizes / s^2 */
} layers_model;

cutis_result layers_model_build(const solver_build *build, layers_model *model, cutis_error *error);
/* Least heights of the flesh between the layers, from the rest positions. */
void layers_apart_build(layers_model *model);
cutis_result layers_fibres_build(const solver_build *build, layers_model *model, cutis_error *error);
cutis_result layers_volumes_build(const solver_build *build, layers_model *model, cutis_error *error);

/* Which parameter stands where in solver_build.values. */
enum {
    LAYERS_ITERATIONS,
    LAYERS_MATCH_EVERY,
    LAYERS_VOLUME_ITERATIONS,
    LAYERS_RADIUS,
    LAYERS_SUMMATION,
    LAYERS_DRIVE,
    LAYERS_SKIN_STIFFNESS,
    LAYERS_FAT_STIFFNESS,
    LAYERS_MUSCLE_STIFFNESS,
    LAYERS_BONE_STIFFNESS,
    LAYERS_FAT_DEPTH,
    LAYERS_MUSCLE_DEPTH,
    LAYERS_BONE_DEPTH,
    LAYERS_FLESH_DEPTH,
    LAYERS_GIVE,
    LAYERS_MUSCLE_BULGE,
    LAYERS_DAMPING,
    LAYERS_GRAVITY,
    LAYERS_SELF_COLLISION,
    LAYERS_CONTACT_GAP,
    LAYERS_FRICTION,
    LAYERS_RESTITUTION,
    LAYERS_VOLUME,
    LAYERS_CUT,
    LAYERS_SHARE_VOLUME,
    LAYERS_UNIT,
    LAYERS_ANATOMY,
    LAYERS_FATNESS,
    LAYERS_FIRMNESS,
    LAYERS_PARAMETER_COUNT
};

enum {
    LAYERS_OUTPUT_FAT,
    LAYERS_OUTPUT_MUSCLE,
    LAYERS_OUTPUT_BONE,
    LAYERS_OUTPUT_CONTACT,
    LAYERS_OUTPUT_RELEASED,
    LAYERS_OUTPUT_PIECE,
    LAYERS_OUTPUT_VOLUME,
    LAYERS_OUTPUT_COUNT
};

/* Where a frequency (Hz) lies between the softest flesh, 0, and the firmest, 1, evenly in the logarithm; and back, as
 * the square of the angular frequency, 1/s^2 (layers_match.c). */
double layers_level(double hertz);
double layers_kappa(double level);

/* Constants that follow from mass and kappa. */
void layers_regions_finish(const layers_paths *paths, layers_regions *regions);

/* The first iterate: prefix sums of its moments, then the moments of regions. For path ranges. */
void layers_match_base_sums(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate,
                            int path_begin, int path_end);
void layers_match_base(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate,
                       int path_begin, int path_end);
/* One iteration of shape matching for all particles: kernels of path ranges. */
void layers_match_sums(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, bool naive,
                       int path_begin, int path_end);
void layers_match_maps(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, bool naive,
                       int path_begin, int path_end);
void layers_match_blend(const layers_paths *paths, const layers_regions *regions, layers_iterate *iterate, bool naive,
                        double h, float omega, int path_begin, int path_end);

#endif
