/*
 * skeleton.h: template skeletons put into a body by its limbs.
 */
#ifndef RIG_SKELETON_H
#define RIG_SKELETON_H

#include "limbs/limbs.h"
#include "rig/rigging.h"

enum { SKELETON_MAX = 96 };

typedef struct skeleton_joint {
    char name[32];
    int parent;
    int mirror; /* the joint on the other side, itself on the middle plane, -1 without symmetry */
    vec3 position;
} skeleton_joint;

typedef struct skeleton {
    const char *name; /* of the template */
    int count;
    skeleton_joint joints[SKELETON_MAX];
} skeleton;

/* Put the template of that name (NULL: the one that fits) into the body. ARGUMENT for an unknown name. */
cutis_result skeleton_fit(const mesh *m, const limbs *f, const char *name, const cutis_rig_landmark *landmarks,
                          int landmark_count, rig_report *report, skeleton *s, cutis_error *error);
/*
 * Put joints where the user knows them to be; those between two known ones come along, and all others too where the
 * skeleton is far from the landmarks (`far`, a distance; 0: never). ARGUMENT for a name that the skeleton has not.
 */
cutis_result skeleton_landmarks(const cutis_rig_landmark *landmarks, int count, float far, skeleton *s,
                                cutis_error *error);
/* A standing person or animal of height 1 that faces +Z, for bodies without limbs to see. False for other templates. */
bool skeleton_typical(const char *name, skeleton *s);
/* The joint of that name, or -1. */
int skeleton_find(const skeleton *s, const char *name);
/*
 * Carry joints along with the held ones, whose places in `to` are given. stay: those that are not between two held
 * joints keep their places. from, to: (count).
 */
void skeleton_carry(int count, const int *parents, const vec3 *from, const bool *held, bool stay, vec3 *to);

#endif
