/*
 * springs_shapes.h: what the reference shapes of the solver `springs` share. Only springs_reference.c and the shapes'
 * own files include it; the solver sees springs_reference.h.
 */
#ifndef SPRINGS_SHAPES_H
#define SPRINGS_SHAPES_H

#include "character/skinning.h"
#include "solvers/springs/springs_reference.h"

/* ---- the pose ---- */

typedef struct springs_pose {
    const float *skin;  /* (joint_count x 12) joints x inverse bind */
    const int *parents; /* (joint_count) */
    float *turns;       /* (joint_count x 4) memory of skinning_dual_on; NULL: no memory */
} springs_pose;

/* Dual quaternions, which go on past a half turn where there is a memory. */
static inline void springs_dual(const skinning *s, const springs_pose *pose, float *scratch, const cutis_jobs *jobs,
                                float *points)
{
    if (pose->turns)
        skinning_dual_on(s, pose->skin, pose->parents, pose->turns, scratch, jobs, points);
    else
        skinning_dual(s, pose->skin, scratch, jobs, points);
}

/* ---- bones (springs_bones.c) ---- */

/* A straight piece of bone, in the rest pose. A joint has one towards each child, or one towards its points. */
typedef struct springs_bone {
    int joint;
    int child; /* the joint at its end, or -1 */
    vec3 a, b;
    float radius; /* mean distance of its points from the line, at least 1e-4 of the size */
} springs_bone;

typedef struct springs_bones {
    int joint_count, count;
    springs_bone *bones; /* (count), by joint */
    int *first;          /* (joint_count + 1) the bones of each joint; none for a joint that moves no point */
    int *above;          /* (joint_count) nearest ancestor that moves points, or -1 */
    int *point_bones;    /* per influence of the points, as in point_weights: the nearest bone of that joint */
    float size;          /* of the character */
} springs_bones;

cutis_result springs_bones_build(const solver_build *build, springs_bones *bones, arena *memory, cutis_error *error);
/* Nearest point of a bone's line to p: 0 at a, 1 at b. */
float springs_bone_nearest(const springs_bone *bone, vec3 p);

/* The joints that may act on a point that `joint` moves: itself, the one above and those below. */
static inline bool springs_joints_near(const springs_bones *bones, int joint, int other)
{
    return joint == other || bones->above[joint] == other || bones->above[other] == joint;
}

/* An ellipse around a place of a bone: as far as the points there are from their middle. */
typedef struct springs_section {
    vec3 centre;
    vec3 along, axes[2]; /* unit: of the bone, and of the ellipse */
    float radii[2];
} springs_section;

/* Sections at places along a bone (distances from its start, at most 16), seen within `width` to either side. */
void springs_bone_sections(const solver_build *build, const springs_bones *bones, int index, const float *areas,
                           const float *places, int count, float width, springs_section *sections);

/* 0 to 1 as u goes from 0 to 1, smoothly. */
static inline float springs_ramp(float u)
{
    u = CLAMP(u, 0.0f, 1.0f);
    return u * u * (3 - 2 * u);
}

/* ---- folds (springs_bones.c) ---- */

/* A joint that can fold: between the bone that ends there and the one that begins. Rest pose. */
typedef struct springs_hinge {
    int bone;          /* the one that ends there */
    int parent, child; /* the joints that move the two bones */
    vec3 place;
    vec3 before, after; /* unit directions of the two bones */
    float cosine;       /* between them */
    float slender;      /* 0..1: how far the two are limbs in line */
    float radius;
} springs_hinge;

typedef struct springs_hinges {
    int count;
    springs_hinge *hinges;
} springs_hinges;

/* How a point stands to a hinge. */
typedef struct springs_side {
    int hinge;
    float side; /* -1 with the parent .. 1 with the child, 0 halfway */
    float gate; /* 0..1 how much of the point's weight is on the two */
    float rest; /* how far it is on the wrong side at rest, 0 or less */
} springs_side;

/* The fold of a hinge in a pose. */
typedef struct springs_fold {
    float strength; /* 0: as open as at rest; grows as it bends by 25 to 75 degrees more */
    vec3 place;
    vec3 across;  /* normal of the plane that halves the angle, to the child's side */
    vec3 inwards; /* in that plane, to where the bones approach */
    float slope;  /* of the bones: how far inwards they go for a step across */
    vec3 axis;
} springs_fold;

cutis_result springs_hinges_build(const springs_bones *bones, springs_hinges *hinges, arena *memory,
                                  cutis_error *error);
/* How a point with these weights stands to a hinge at rest; false when it has nothing to do with it. */
bool springs_side_find(const springs_bones *bones, const springs_hinges *hinges, int index, vec3 x, const int *joints,
                       const float *weights, int count, springs_side *side);
void springs_hinges_pose(const springs_hinges *hinges, const float *skin, springs_fold *folds);
/* Keep a point on its side of the folds it is in. Returns how much it is in one, 0..1. */
float springs_fold_apply(const springs_hinges *hinges, const springs_fold *folds, const springs_side *sides, int count,
                         float x[3]);

/* ---- metaballs (springs_metaballs.c) ---- */

typedef struct springs_metaballs springs_metaballs;

/* For the points whose mark (point_count) is set. */
cutis_result springs_metaballs_build(const solver_build *build, const springs_bones *bones, const uint8_t *marks,
                                     springs_metaballs **metaballs, cutis_error *error);
size_t springs_metaballs_scratch_size(const springs_metaballs *metaballs);
/* Fill the marked points; the others stay as they are. */
void springs_metaballs_evaluate(const springs_metaballs *metaballs, const springs_pose *pose, void *scratch,
                                const cutis_jobs *jobs, float *points);

/* ---- natural neighbours (springs_sibson.c) ---- */

/* Room for one computation; a thread has its own. */
typedef struct sibson_work sibson_work;
sibson_work *sibson_work_create(int site_limit, arena *memory); /* NULL: no memory */
/*
 * Natural-neighbour coordinates of a point among at most site_limit sites (count x 3), no two of them at one place:
 * shares (count) of 0 or more that sum to 1. False when the point is outside of the sites' convex hull.
 */
bool sibson_coordinates(int count, const float *sites, vec3 point, sibson_work *work, double *shares);

/* ---- Dirichlet free-form deformation (springs_dffd.c) ---- */

typedef struct springs_dffd springs_dffd;

/* For the points whose mark (point_count) is set. */
cutis_result springs_dffd_build(const solver_build *build, springs_reference_parameters parameters,
                                const springs_bones *bones, const uint8_t *marks, springs_dffd **dffd,
                                cutis_error *error);
size_t springs_dffd_scratch_size(const springs_dffd *dffd);
/* Fill the marked points; the others stay as they are. */
void springs_dffd_evaluate(const springs_dffd *dffd, const springs_pose *pose, void *scratch, const cutis_jobs *jobs,
                           float *points);

/* ---- which shape suits a bone (springs_choice.c) ---- */

/* The joint that each joint (joint_count) of a finger springs from, in a chain beside two others or more; -1: none. */
void springs_fingers_find(const springs_bones *bones, int *hands);
/*
 * The shape of each joint (joint_count) that strains the skin least in some poses: metaballs (which serve all points),
 * dffd (those of fingers; may be NULL), or linear skinning where neither is better.
 */
cutis_result springs_shapes_choose(const solver_build *build, const skinning *skin, const int *parents,
                                   const springs_metaballs *metaballs, const springs_dffd *dffd, const int *hands,
                                   arena *temporary, springs_shape *chosen, cutis_error *error);

#endif
