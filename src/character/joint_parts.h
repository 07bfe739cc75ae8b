/*
 * joint_parts.h: what a joint is by its name, so that a motion finds the joints of a skeleton that another tool named.
 */
#ifndef CUTIS_JOINT_PARTS_H
#define CUTIS_JOINT_PARTS_H

typedef enum joint_kind {
    JOINT_OTHER,
    JOINT_HIPS,
    JOINT_SPINE,
    JOINT_NECK,
    JOINT_HEAD,
    JOINT_COLLAR,
    JOINT_UPPER_ARM,
    JOINT_FOREARM,
    JOINT_HAND,
    JOINT_UPPER_LEG,
    JOINT_LOWER_LEG,
    JOINT_FOOT,
    JOINT_TOE,
    JOINT_TAIL,
    JOINT_THUMB,
    JOINT_INDEX,
    JOINT_MIDDLE,
    JOINT_RING,
    JOINT_PINKY,
    JOINT_KIND_COUNT
} joint_kind;

enum { JOINT_SIDE_NONE, JOINT_SIDE_LEFT, JOINT_SIDE_RIGHT, JOINT_SIDE_COUNT };

typedef struct joint_part {
    int kind; /* a joint_kind */
    int side;
    int index; /* in the chain of joints of the same kind and side, from the body outwards */
} joint_part;

/*
 * The part that each joint of a skeleton is, by the names that usual tools give (LeftArm, upper_arm.L, upperarm_l,
 * lShldr, ...) and by what else the skeleton has: a LeftShoulder is the collar bone where there is a LeftArm, and the
 * upper arm where there is a LeftCollar; front legs are arms. A parent stands before its children.
 */
void joint_parts_find(int count, const char *const *names, const int *parents, joint_part *parts);

#endif
