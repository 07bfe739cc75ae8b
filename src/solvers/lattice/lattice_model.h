/*
 * lattice_model.h: the built model of solver `lattice`, and its parameters.
 */
#ifndef SOLVERS_LATTICE_MODEL_H
#define SOLVERS_LATTICE_MODEL_H

#include "contact/contact.h"
#include "solvers/lattice/lattice.h"

/* Voxel arrays are padded to this many, whatever LANES is, so that a state has the same bytes everywhere. */
#define LATTICE_PAD 8

/* The parameters, in the order of the table in lattice.c. */
enum {
    LATTICE_RESOLUTION,
    LATTICE_ADAPTIVE,
    LATTICE_REGION,
    LATTICE_BONE_WIDTH,
    LATTICE_RATIO, /* muscle, fat, inner3 to inner8 */
    LATTICE_SKIN_LAYER = LATTICE_RATIO + LATTICE_INNER_COUNT,
    LATTICE_MIXED,
    LATTICE_STIFFNESS,                                        /* muscle, fat, inner3 to inner8, skin */
    LATTICE_DAMPING = LATTICE_STIFFNESS + LATTICE_LAYERS - 1, /* the same */
    LATTICE_GAIN = LATTICE_DAMPING + LATTICE_LAYERS - 1,
    LATTICE_INERTIA,
    LATTICE_GIVE,
    LATTICE_STRETCH,
    LATTICE_NEIGHBOUR_SET,
    LATTICE_VOLUME,
    LATTICE_SHAPE,
    LATTICE_WEIGHTS,
    LATTICE_ALPHA,
    LATTICE_FALLOFF,
    LATTICE_SELF_COLLISION,
    LATTICE_TOUCH,
    LATTICE_PROPS,
    LATTICE_CONTACT_GAP,
    LATTICE_FRICTION,
    LATTICE_GRAVITY,
    LATTICE_UNIT,
    LATTICE_ANATOMY,
    LATTICE_FATNESS,
    LATTICE_FIRMNESS,
    LATTICE_PARAMETERS
};

/* Choices of `shape` and `weights`. */
enum { LATTICE_SHAPE_SKINNING, LATTICE_SHAPE_LATTICE };
enum { LATTICE_WEIGHTS_FILE, LATTICE_WEIGHTS_DISTANCE };

/* Contact of the skin. Lengths in scene units. */
typedef struct lattice_contact {
    bool self, with_props;
    float thickness;
    contact_surface surface;
    contact_props props;
    const float *inverse_masses; /* (point_count) */
    const float *press;          /* (point_count) how far a prop may press a point in, sizes; NULL: any depth */
} lattice_contact;

/* Scratch of contact. */
typedef struct lattice_contact_work {
    contact_work work;
    contact_plane *planes; /* (point_count) */
    float *points;         /* (point_count x 3) the skin as it would be */
    float *start, *end;    /* (point_count x 3) the skin in the space of the reference motion */
    float *places;         /* (point_count x 3) the skin where the skeleton has it; only with press */
} lattice_contact_work;

/* Contact of the skin with itself in real time: the skin in patches, lengths in sizes. */
typedef struct lattice_touch {
    bool on;
    int count, bucket_count;
    const quad *rests;       /* (count) middle of the patch at rest, and its width in w */
    const quad *normals;     /* (count) at rest, and the thickness of the flesh behind in w */
    const int *leads;        /* (count) a point in the middle, whose joints turn the patch */
    const int *member_first; /* (count + 1) */
    const int *members;      /* points of each patch */
    const int *near_first;   /* (count + 1) */
    const int *nears;        /* patches beside each */
    const float *ways;       /* to them */
    const int *blend_first;  /* (point_count + 1) */
    const int *blends;       /* patches around each point; none for points that stay where skinning puts them */
    const float *shares;     /* of each, sum to 1 */
    float gap;
    const mesh *surface;
} lattice_touch;

typedef struct lattice_model {
    const cutis_character *character;
    int count, bone_count, padded; /* voxels; bone voxels come first */
    int joint_count, region;
    int reference;         /* joint that moves the body as a whole; joint_count: the scene */
    bool own_shape;        /* flesh rests where the lattice settles around its bones, not where skinning puts it */
    float origin[3], size; /* scene place = origin + size x place */
    double substep;

    const quad *rest;     /* (padded) rest places, 0 in w */
    const float *masses;  /* (padded) */
    const int *joints;    /* (count x LATTICE_JOINTS) */
    const float *weights; /* (count x LATTICE_JOINTS) */
    const quad *arms;     /* (count) from the centre about which joints turn a voxel to its rest place; 0: one joint */
    const int *parents;   /* (joint_count) */
    int turned_count;
    const int *turned_points; /* (turned_count) surface points that more than one joint moves */
    const quad *point_arms;   /* (turned_count) the same of those points */
    const float *gains;    /* (padded) k_s of equation 5 as the regions around make it, and the spring that holds flesh
                              where it rests, for one substep; 0 for bone */
    const float *keeps;    /* (padded) share of the velocity that damping leaves */
    const float *bounds;   /* (padded) how far flesh gives way from where it rests, sizes; NULL: any way */
    const float *inertias; /* (padded) share of the target's acceleration that is felt */
    const float *holds;    /* (padded) share of the way to where it rests that very stiff flesh is put each substep */
    const float *freezes;  /* (padded) share of the way to the target that a voxel is put each substep; NULL: none */
    const quad
        *outward; /* (padded) unit normal of the skin on a voxel at rest, and the flesh behind it in w; 0: none */
    const float *layers; /* (count) output: the layer of each voxel */
    const float *shares; /* (count x LATTICE_LAYERS) output */
    const float *edges;  /* (count) output: edge length, scene units */

    lattice_sweep sweep;
    lattice_regions regions;
    lattice_stretch stretch;
    lattice_volume volume;
    lattice_surface surface;
    float bulge_gain;      /* factor on the push of volume that bulges take in a substep */
    float bulge_keep;      /* share of them that is kept */
    float settle;          /* share of all forces that settles without overshooting */
    const float *tissue;   /* (vertex_count) output: the anatomy map */
    float gravity;         /* sizes/s2 */
    const float *softness; /* (vertex_count) output: 1 minus the gain of what carries the vertex; 0 is bone */
    bool has_stretch, has_volume;
    lattice_contact contact;
    lattice_touch touch;
} lattice_model;

/* points: (point_count x 3) at rest, in sizes. After the surface. */
cutis_result lattice_touch_build(lattice_model *m, const solver_build *build, const float *points, float gap,
                                 cutis_error *error);

/* thickness in sizes. */
cutis_result lattice_contact_build(lattice_contact *contact, const solver_build *build, bool self, bool props,
                                   float thickness, float friction, cutis_error *error);
/*
 * How contact wants the voxels to move (padded, in sizes), if the skin moved from start to work->points, while the
 * body as a whole moved from old_reference to reference. Returns the
 * number of contacts. Call it for rounds 0, 1, ... of a substep.
 */
int lattice_contact_wishes(const lattice_model *m, lattice_contact_work *work, const solver_input *input,
                           const lattice_frame *old_reference, const lattice_frame *reference, const float *start,
                           int round, quad *wishes);
/* Keep the skin out of props, and from passing through itself on its way from start to end. */
void lattice_contact_finish(const lattice_model *m, lattice_contact_work *work, const solver_input *input,
                            const lattice_frame *reference, const float *start, float *end);

cutis_result lattice_model_build(const solver_build *build, void **data, cutis_error *error);

#endif
