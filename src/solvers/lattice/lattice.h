/*
 * lattice.h: what the files of solver `lattice` share. lattice.c holds the table entry and the step.
 *
 * Build:  lattice_voxelise  mesh -> graph of voxels (lattice_voxels.c, lattice_adapt.c)
 *         lattice_classify  bones, layers, lattice weights (lattice_layers.c)
 *         lattice_chains    rods of voxels along each axis, for the sweeps (lattice_sweep.c)
 *         lattice_embed     surface points in the voxels (lattice_embed.c)
 * Step:   lattice_stretch_pull, lattice_volume_push (lattice_constraints.c), lattice_rotations (lattice_match.c)
 *
 * Lengths inside the solver are in units of the character's size, around the centre of its bounds.
 */
#ifndef LATTICE_LATTICE_H
#define LATTICE_LATTICE_H

#include "character/skinning.h"
#include "math/simd.h"
#include "solvers/solver.h"

/* Four floats, for work on one voxel at a time: position and weight, or one column of a frame. */
typedef float quad __attribute__((vector_size(16)));

static inline quad quad_set(float x) { return x - (quad){0, 0, 0, 0}; }

/* A column each of rotation, and the position: what moves with a voxel. One cache line. */
typedef struct lattice_frame {
    quad b; /* position; w counts */
    quad r[3];
} lattice_frame;

/* ---- the voxels as a graph ---- */

/* Directions of face links: -x, +x, -y, +y, -z, +z. */
enum { LATTICE_DIRECTIONS = 6 };

/* Finding the voxel of a place in one component of the surface: samples of its inside on a regular grid. */
typedef struct lattice_grid {
    int low[3], dims[3]; /* its cells among those of the graph */
    int *sample_voxels;  /* (dims x samples^3), -1 outside */
    int *cell_voxels;    /* (dims) first voxel of a cell, -1 for none */
} lattice_grid;

typedef struct lattice_graph {
    int count;
    float *rest;        /* (count x 4) centre, and edge length in w */
    int *link_first;    /* (count x 6 + 1) links of voxel v in direction d: link_first[6 v + d] up to the next */
    int *links;         /* voxels joined through the face, strongest contact first, then lowest index */
    int *point_voxels;  /* (point_count) the voxel each surface point lies in */
    int *components;    /* (count) component of the surface that a voxel belongs to; links never leave it */
    float cell;         /* edge of a voxel of the asked-for resolution */
    int cell_conflicts; /* cells that hold more than one voxel */

    int dims[3], samples;   /* cells of the voxelised grid, samples along a cell's edge */
    double origin[3], step; /* place of the grid's corner, and edge of a grid cell */
    int grid_count;         /* components of the surface; one without triangles has no cells */
    lattice_grid *grids;
} lattice_graph;

typedef struct lattice_shape {
    int point_count, triangle_count;
    const float *points; /* (point_count x 3), in sizes */
    const int *triangles;
    const mesh *mesh;
} lattice_shape;

/*
 * Voxels of a surface: those that it passes through and those inside, at `resolution` voxels along the longest side.
 * A cell that separate flesh passes through gets a voxel for each, and components of the surface share none. Everything
 * lives in `memory`; *open_edges tells how many boundary edges had to be closed.
 */
cutis_result lattice_voxelise(const lattice_shape *shape, int resolution, arena *memory, lattice_graph *graph,
                              int *open_edges, cutis_error *error);
/* Merge the voxels of a graph made at twice the resolution: kept small where flesh is thin, larger deep inside. */
cutis_result lattice_adapt(const lattice_graph *fine, int point_count, arena *memory, lattice_graph *graph,
                           cutis_error *error);
/*
 * Turn pairs (count x 3: voxel x 6 + direction, voxel, contacts) into the graph's sorted links. Pairs that occur more
 * than once add up their contacts.
 */
cutis_result lattice_graph_link(lattice_graph *graph, int *pairs, size_t count, arena *memory, cutis_error *error);
/* The voxel of a component at a place (in sizes), -1 outside. */
int lattice_locate(const lattice_graph *graph, int component, const double place[3]);
/* The first link of a voxel in a direction, -1 for none. */
static inline int lattice_link(const lattice_graph *graph, int voxel, int direction)
{
    int at = graph->link_first[voxel * LATTICE_DIRECTIONS + direction];
    return at < graph->link_first[voxel * LATTICE_DIRECTIONS + direction + 1] ? graph->links[at] : -1;
}

/* ---- layers and weights ---- */

#define LATTICE_JOINTS 4
enum { LATTICE_INNER_COUNT = 8 }; /* muscle, fat and six more between bone and skin; rows of them in lattice.c */
enum {
    LATTICE_BONE,
    LATTICE_MUSCLE,
    LATTICE_FAT,
    LATTICE_INNER3,
    LATTICE_SKIN = LATTICE_MUSCLE + LATTICE_INNER_COUNT,
    LATTICE_LAYERS
};

typedef struct lattice_layers {
    uint8_t *layer;    /* (count) the layer with the largest share */
    float *shares;     /* (count x LATTICE_LAYERS) how much of a voxel is of each layer; sums to 1 */
    int *joints;       /* (count x LATTICE_JOINTS) */
    float *weights;    /* (count x LATTICE_JOINTS), sum to 1; joint_count stands for the scene */
    float *skin_depth; /* (count) Manhattan distance to the skin */
    float *bone_depth; /* (count) to the bone layer; FLT_MAX: there is none */
    uint8_t *hard;     /* (components of the mesh) parts that hang on one joint as a whole; NULL: none */
    int loose;         /* voxels of pieces that no bone runs through */
} lattice_layers;

/* What of the parameters the classification needs, per joint where the parameter is. */
typedef struct lattice_layer_rules {
    const float *bone_width;                 /* (joint_count + 1), in sizes; the last for the scene */
    const float *ratio[LATTICE_INNER_COUNT]; /* (joint_count + 1) shares of muscle, fat, ... */
    const float *fat_map;                    /* (point_count) painted factor on the share of fat, or NULL */
    bool skin, mixed;
    bool file_weights; /* voxels follow the weights of the surface around them, not those of equation 1 */
    float alpha, falloff;
} lattice_layer_rules;

cutis_result lattice_classify(const lattice_graph *graph, const solver_build *build, const float *points,
                              const lattice_layer_rules *rules, arena *memory, lattice_layers *layers,
                              cutis_error *error);
/* Values of points (point_count) for all voxels: the mean of a voxel's points, or of the nearest voxel that has some.
 */
cutis_result lattice_spread(const lattice_graph *graph, int point_count, const float *values, arena *memory,
                            float **voxels, cutis_error *error);
/*
 * Manhattan distance along links from the voxels whose `distance` is 0 on entry; the others get theirs, or FLT_MAX
 * where no path leads. sources (may be NULL): which of those voxels is the nearest. heap: (2 x count) scratch.
 */
void lattice_distance(const lattice_graph *graph, float *distance, int *sources, int *heap);

/* ---- sweeps ---- */

/* A rod of voxels along one axis. Entries outside own_first..own_last are only summed over: they belong to other rods.
 */
typedef struct lattice_chain {
    int first, count; /* in chain_voxels */
    int own_first, own_last;
    int borrowed; /* number of its first borrowed entry among those of the axis */
} lattice_chain;

typedef struct lattice_sweep {
    int count; /* voxels */
    int region;
    const quad *rest; /* (count) */
    int chain_counts[3];
    const lattice_chain *chains[3];
    const int *chain_voxels[3];
    int lender_counts[3];
    const int *lenders[3]; /* voxels that rods borrow, and the place of each one's copies in loans */
    const int *loans[3];   /* numbers of borrowed entries */
    int loan_most;         /* borrowed entries of an axis, at most */
} lattice_sweep;

cutis_result lattice_chains(const lattice_graph *graph, int region, const quad *rest, arena *memory,
                            lattice_sweep *sweep, cutis_error *error);
/*
 * Moments of each region: result.b = sum of positions (w: of masses), result.r[k] = sum of position x (rest
 * offset from the region's voxel)_k. positions: (count) mass x position, mass in w. a and b are scratch of the
 * result's shape; the result is a.
 */
void lattice_sum_moments(const lattice_sweep *sweep, const quad *positions, lattice_frame *a, lattice_frame *b,
                         const cutis_jobs *jobs);
/*
 * Sum over the regions that hold a voxel of their affine maps, at the voxel's rest place: the transpose of the sum of
 * moments. in is kept; the result is a. loans: (loan_most) scratch.
 */
void lattice_sum_frames(const lattice_sweep *sweep, const lattice_frame *in, lattice_frame *a, lattice_frame *b,
                        lattice_frame *loans, const cutis_jobs *jobs);

/* ---- shape matching, constraints ---- */

/* Static data of the regions, blocks of LANES. */
typedef struct lattice_regions {
    int count, padded;
    const float *offset[3];      /* (padded) centroid of the region minus the voxel's rest place */
    const float *inverse_mass;   /* (padded) */
    const float *shape[6];       /* (padded) second moments of the rest shape: xx xy xz yy yz zz */
    const float *prior[3];       /* (padded) weight of the skeleton's rotation where a region has no width */
    const uint8_t *thin;         /* (padded) for each block of LANES: whether any prior is not 0 */
    const float *stiffness;      /* (padded) of the region, for one substep */
    const float *inverse_counts; /* (padded) one over the number of regions that hold the voxel */
} lattice_regions;

/*
 * The rotation of each region, warm-started from rotations (4 x padded, x y z w one after the other), and its map.
 * moments are those of the deviations from the rest places, and the maps are minus the identity: frames[v].b = how far
 * the region puts its own voxel from its rest place, .r = its rotation's columns, minus the identity's; all times the
 * region's stiffness, which is also in w of b. priors: rotations for regions without width; NULL: the identity.
 */
void lattice_rotations(const lattice_regions *regions, const lattice_frame *moments, const lattice_frame *priors,
                       float *rotations, lattice_frame *frames, const cutis_jobs *jobs);

#define LATTICE_NEIGHBOURS 26

typedef struct lattice_stretch {
    int first, last, slot_count; /* voxels that move, slots of each */
    int padded;                  /* entries of one slot */
    const int32_t *neighbours;   /* (slot_count x padded) 4 x voxel; the voxel itself where there is none */
    const float *lengths;        /* (slot_count x padded) rest length */
    float *gains;                /* (padded) stiffness over mass; 0 behind the last */
} lattice_stretch;

/* Pull of the stretch constraints between voxels at places (count x 4), into pulls (count x 4). intact: (padded) as
 * lattice_volume_push leaves it. */
void lattice_stretch_pull(const lattice_stretch *stretch, const quad *places, const float *intact, quad *pulls,
                          const cutis_jobs *jobs);

typedef struct lattice_volume {
    int count, first, padded;
    const int32_t *ends[LATTICE_DIRECTIONS];      /* (padded) 4 x voxel at each end of the central difference */
    const float *rest_volume;                     /* (padded) 0 where there is no constraint */
    const float *least;                           /* (padded) denominator of equation 6 at rest */
    const float *end_weights[LATTICE_DIRECTIONS]; /* (padded) inverse mass of the voxel at that end; 0 for bone */
    const int *givers;    /* (count x 6) voxel whose end in that direction this voxel is; padded for none */
    const quad *own_ends; /* (count) per axis: 1 where the voxel is its own plus end, -1 its own minus end */
    float *gains;         /* (count) stiffness over mass */
} lattice_volume;

/*
 * Push of the volume constraints on voxels at positions, into pushes (count). wanted: (padded) the volumes they should
 * have, negative for what is mirrored; found: (padded) those they have. intact: (padded) 1, or 0 for a voxel that is
 * turned inside out. shares: (padded + 1) x 3 quads of scratch.
 */
void lattice_volume_push(const lattice_volume *volume, const quad *positions, const float *wanted, float *found,
                         float *intact, quad *shares, quad *pushes, const cutis_jobs *jobs);
/* Volume of a voxel from its three central differences (equation 11), and its gradient to each. */
float lattice_volume_of(const float a[3], const float b[3], const float c[3], float gradients[9]);

/* ---- surface ---- */

typedef struct lattice_surface {
    int point_count;
    skinning base;    /* where the points are without the lattice's doing */
    const int *first; /* (point_count + 1) */
    const int *voxels;
    float *weights; /* sum to 1, less where the surface is frozen; some may be negative */
} lattice_surface;

/* Skin weights of points and voxels, by which parts that lie on each other move as one. */
typedef struct lattice_affinity {
    const point_weights *points;
    const int *joints;    /* (count x LATTICE_JOINTS) */
    const float *weights; /* (count x LATTICE_JOINTS) */
    const uint8_t *hard;  /* (components) parts that stay where skinning puts them; NULL: none */
} lattice_affinity;

/* Everything but the base. affinity: NULL for links alone. */
cutis_result lattice_embed(const lattice_graph *graph, const float *points, int point_count,
                           const lattice_affinity *affinity, arena *memory, lattice_surface *surface,
                           cutis_error *error);

/* What displacements (count) of the voxels make of a point. */
static inline quad lattice_surface_displacement(const lattice_surface *surface, int point, const quad *displacements)
{
    quad sum = {0, 0, 0, 0};
    for (int i = surface->first[point]; i < surface->first[point + 1]; i++)
        sum += displacements[surface->voxels[i]] * surface->weights[i];
    return sum;
}

/* Add size x displacements of the voxels, as they act on each point, to points (point_count x 3). */
void lattice_surface_displace(const lattice_surface *surface, const quad *displacements, float size, float *points,
                              const cutis_jobs *jobs);

#endif
