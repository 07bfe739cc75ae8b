/*
 * rigging.h: what the files of the rig module share.
 *
 * Weights are made on points. A BONE is a segment that belongs to a joint: from the joint to a child, or from a leaf
 * towards the tip of its part. A joint may have several.
 */
#ifndef RIG_RIGGING_H
#define RIG_RIGGING_H

#include "base/core.h"
#include "body/solid.h"
#include "cutis/rig.h"
#include "mesh/mesh.h"

enum { RIG_MAX_INFLUENCES = 8, RIG_MAX_SENTENCES = 40, RIG_BONE_RADII = 17 };

typedef struct rig_bone {
    int joint;
    vec3 a, b;
} rig_bone;

/* Weights of points in fixed slots, largest first; a slot of weight 0 is empty. */
typedef struct rig_influences {
    int limit;      /* slots a point */
    int *joints;    /* (point_count x limit) */
    float *weights; /* (point_count x limit) */
} rig_influences;

/* Sentences for the user; more than RIG_MAX_SENTENCES are dropped. */
typedef struct rig_report {
    arena *memory;
    int count;
    const char *sentences[RIG_MAX_SENTENCES];
} rig_report;

void rig_say(rig_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The solid of all parts, along its own axes. */
typedef struct rig_solid {
    solid solid;
    quat turn; /* of the mesh into those axes */
} rig_solid;

/* What all makers of weights read. */
typedef struct rig_body {
    const mesh *mesh;
    const bvh *tree;
    const rig_solid *whole;            /* what the skeleton was fitted to, or NULL */
    const float *normals;              /* (point_count x 3), outwards where the component is closed */
    const uint8_t *component_inverted; /* (component_count) closed, but turned inwards */
    int bone_count;
    const rig_bone *bones;
    const float *bone_radii; /* (bone_count x RIG_BONE_RADII) of the largest balls in the solid around places from a to
                                b; NULL without a solid */
    int joint_count;
    float size;
    const cutis_jobs *jobs;
} rig_body;

/* Nearest point of a bone to p. */
vec3 rig_bone_closest(const rig_bone *bone, vec3 p);

/* Put the `limit` largest of `values` (joint_count) into the slots of a point, normalised. False when all are 0. */
bool rig_influences_set(rig_influences *influences, int point, const double *values, int joint_count);

/*
 * Bone heat. component_served[c] is set for every component that some bone is visible from; the points of the others
 * are left alone. visible_share[c] tells which part of a component's points saw a bone that is about the nearest one.
 */
cutis_result heat_weights(const rig_body *body, const cutis_allocator *allocator, rig_influences *influences,
                          uint8_t *component_served, float *visible_share, cutis_error *error);

/*
 * Geodesic voxel binding for all points; point_served[p] is 0 where the point's voxel cannot be reached from any bone.
 */
cutis_result voxel_weights(const rig_body *body, int resolution, const cutis_allocator *allocator,
                           rig_influences *influences, uint8_t *point_served, cutis_error *error);

/* Bones of a skeleton: joints (joint_count x 3 positions), parents, and which take part. Leaves get a tip by a ray. */
cutis_result rig_bones_make(int joint_count, const int *parents, const float *positions, const bool *takes_part,
                            const mesh *m, const bvh *tree, float size, arena *memory, rig_bone **bones,
                            int *bone_count, cutis_error *error);

/* How thick the body is around the bones. radii: (bone_count x RIG_BONE_RADII). */
void rig_bones_measure(const rig_solid *whole, int bone_count, const rig_bone *bones, float *radii);

/* Weights of all points by the method of the definition, with islands and gaps closed. whole: as rig_body's. */
typedef struct rig_weights_result {
    rig_influences influences;
    int heat_points, voxel_points, follow_points;
} rig_weights_result;

cutis_result rig_weights_make(const cutis_rig_def *def, const mesh *m, const rig_solid *whole, int joint_count,
                              const int *parents, const float *positions, const bool *takes_part,
                              const char *const *names, arena *memory, rig_report *report, rig_weights_result *result,
                              cutis_error *error);

/* Keep the weights of left and right joints on their own side of the body (sides.c). */
void rig_sides_part(const mesh *m, int joint_count, const char *const *names, const float *positions,
                    rig_influences *w);

#endif
