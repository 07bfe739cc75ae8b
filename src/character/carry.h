/*
 * carry.h: take the motion of the bones out of a posed shape.
 */
#ifndef CHARACTER_CARRY_H
#define CHARACTER_CARRY_H

#include "base/core.h"

/* Positions at rest with their weights, as in cutis_character. */
typedef struct carry_body {
    int count;
    const float *rest; /* (count x 3) */
    const int *first;  /* (count + 1) */
    const int *joints;
    const float *weights;
    int joint_count;
    float size;
} carry_body;

/*
 * The shape (count x 3) in the rest pose that dual-quaternion skinning by `skin` (joint_count x 12) carries to `posed`;
 * posed NULL: to what linear blending makes of the rest shape.
 */
cutis_result carry_back(const carry_body *body, const float *skin, const float *posed, const cutis_jobs *jobs,
                        arena *scratch, float *shape, cutis_error *error);

#endif
