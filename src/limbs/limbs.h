/*
 * limbs.h: the far ends of a body, the rings that lead from them to the trunk, and the curves through their centres.
 */
#ifndef LIMBS_LIMBS_H
#define LIMBS_LIMBS_H

#include "limbs/patches.h"

enum { LIMBS_MAX = 24, LIMB_RINGS_MAX = 160 };

/* A ring: a band of a level set, its centre moved onto the curve of centres of quads' curves (curve_centres.c). */
typedef struct limb_ring {
    vec3 centre;
    float radius;   /* mean distance of its points to the centre */
    float distance; /* along the surface from the tip */
    int count;      /* points */
} limb_ring;

typedef struct limb {
    int tip;  /* point at the far end */
    int seam; /* point where it meets the rest of the body, -1 for the only limb */
    int tip_patch, seam_patch;
    float reach;         /* how far it stands out: surface distance from tip to seam, seen from the body's middle */
    float seam_distance; /* surface distance from the tip to the seam point */
    bool main;           /* a limb of its own; else a finger, an ear, a toe of another */
    int branch;          /* leaf of the tree of branches */
    int ring_count;
    limb_ring *rings;
    int pose_count;
    vec3 *pose_centres; /* (pose_count x ring_count) centres of the same rings in other poses */
} limb;

/* Other poses of the mesh, or none. */
typedef struct limb_poses {
    int count;
    const float *const *positions; /* (count) of (vertex_count x 3) */
    const int *vertices;           /* (point_count) the vertex of each point */
} limb_poses;

typedef struct limb_branch {
    int parent; /* -1: the trunk */
    int alias;  /* the branch that swallowed this one; itself when it stands */
    int tip;
    float top;
} limb_branch;

typedef struct limbs {
    int count;
    limb all[LIMBS_MAX]; /* by falling reach */
    int main_count;      /* the first ones */
    float farthest;      /* largest distance from the body's middle */
    patches patches;     /* of the body */
    int *order;          /* (patches.count) the farthest from the middle first */
    float *distances;    /* (patches.count) from the middle */
    int *branches;       /* (patches.count) */
    int branch_count;
    limb_branch *tree;
    int curve_count;
    limb_ring *curves; /* iso-parametric curves of quads; distance is not set */
} limbs;

/*
 * Find the limbs of the largest component of a mesh. Their tips, seams and rings follow by limbs_ring. fine: look at
 * every point, not at patches of them.
 */
cutis_result limbs_find(const mesh *m, float size, bool fine, const cutis_jobs *jobs, arena *memory, limbs *found,
                        cutis_error *error);
/* The rings of the limbs that were found. */
cutis_result limbs_ring(const mesh *m, float size, const limb_poses *poses, const cutis_jobs *jobs, arena *memory,
                        limbs *found, cutis_error *error);
/* The way over patches from one of them (patches.count), INFINITY beyond `limit`. False when memory runs out. */
bool limbs_spread(const limbs *f, int patch, float limit, arena *scratch, float *distances);

#endif
