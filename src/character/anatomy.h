/*
 * anatomy.h: how soft the flesh of a character is, point by point, from its joints and its shape.
 *
 * The map needs no painted data: joints are recognised by name, by a role in the file, or by the shape of the skeleton;
 * the trunk gets a frame (spine, left, belly side) from them; place on the trunk, place along a limb and thickness give
 * a softness. The result does not depend on units, on the orientation of the character, or on the resolution of its
 * mesh. docs/ANATOMY.md has the regions. Any number of threads may call it.
 */
#ifndef CHARACTER_ANATOMY_H
#define CHARACTER_ANATOMY_H

#include "character/joint_parts.h"
#include "mesh/mesh.h"

typedef struct anatomy_request {
    const cutis_character *character;
    const mesh *mesh;        /* of the points, rest scene space */
    const int *weight_first; /* (point_count + 1), with joints and weights as in cutis_character */
    const int *weight_joints;
    const float *weights;
} anatomy_request;

typedef struct anatomy {
    joint_part *parts; /* (joint_count) what each joint is; JOINT_OTHER: not known */
    bool known;        /* some limb or the trunk was recognised */
    bool upright;      /* the trunk stands on the legs; false: it lies on them, as that of an animal */
    bool has_frame;
    vec3 spine, left, front; /* unit: from the hips to the shoulders, to the left, and to the side of the belly */
    float *softness;         /* (point_count) 0: firm as on a skull, 0.5: muscle, 1: fat of a belly */
} anatomy;

/* What each joint is: by the role that the file gives, by name, or by the skeleton's shape in any orientation. */
cutis_result anatomy_parts(const cutis_character *character, const mesh *mesh, const int *weight_first,
                           const int *weight_joints, const float *weights, arena *scratch, joint_part *parts,
                           cutis_error *error);

/* The map. parts and softness are in `memory`. */
cutis_result anatomy_find(const anatomy_request *request, arena *memory, arena *scratch, anatomy *result,
                          cutis_error *error);

/*
 * Length of the file's unit in metres, guessed from the height of a person, or else from the size of a body: 1 where
 * the file may be in metres.
 */
double anatomy_unit(const cutis_character *character, const anatomy *a);

#endif
