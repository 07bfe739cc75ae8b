/*
 * motion_retarget.h: the clip that lets a character follow a capture, once its joints are matched and aligned.
 */
#ifndef IO_MOTION_RETARGET_H
#define IO_MOTION_RETARGET_H

#include "character/joint_parts.h"
#include "io/affine.h"
#include "io/bvh_read.h"

/* How a character stands beside a capture; motion_posture.c finds it. From POSTURE_OWN on it keeps its own rest pose.
 */
typedef enum motion_posture {
    POSTURE_UNKNOWN, /* one of the two has no trunk or no limbs that tell */
    POSTURE_UPRIGHT, /* both stand */
    POSTURE_OWN,     /* one stands, the other does not: a bird, a dinosaur; arms are free */
    POSTURE_FOUR,    /* the capture stands, the character is on four legs */
    POSTURE_ANIMALS, /* neither stands */
    POSTURE_NONE     /* the capture is on four legs, the character stands: no pose of the one tells one of the other */
} motion_posture;

/* What the character's side knows of one joint. */
typedef struct target_joint {
    int source;        /* joint of the capture that drives it, -1: none */
    int aim, aim_bone; /* of a limb of one joint: the last and the second joint of the capture's limb, -1: none */
    bool level;        /* takes the heading alone of what drives it */
    int carrier;       /* joint that it is fixed to in the body: its parent as a rule, -1: none */
    bool carried;      /* the carrier is not its parent; none: it stands in the scene by itself */
    int driven_parent; /* nearest driven joint above it, by carriers, -1: none */
    affine world;      /* at rest */
    double place[3];   /* at rest */
    double rest[4];    /* world rotation at rest */
    double align[4];   /* the turn from its rest pose to the capture's zero pose */
    double spread[9];  /* sum of capture direction x character direction (3 x 3), over its bones */
    int bone_count;
    bool limb_bone;      /* its one bone is that of a limb: upper arm, forearm, thigh, shin */
    double longest_bone; /* to a joint right below it */
    bool trunk;
    double lead[2][3]; /* the directions of the first bone: character's, capture's */
} target_joint;

double place_distance(const double a[3], const double b[3]);

/*
 * Find what carries each joint: its parent, unless the body says otherwise. Thighs that hang on the root are carried by
 * the hips, feet that hang on a control by the shins; a joint that moves skin but hangs on none that is driven by the
 * nearest driven one. order: (joint_count) joints, carriers before what they carry. False when memory runs out.
 */
bool motion_carriers_find(const cutis_character *c, const joint_part *parts, arena *memory, target_joint *targets,
                          int *order);
/* Make the clip: rotations of driven joints, places where a joint is not carried by its parent, and feet that stand. */
cutis_result motion_retarget(const bvh_reader *r, const cutis_character *c, const joint_part *parts,
                             const target_joint *targets, const int *order, motion_posture posture, arena *memory,
                             cutis_clip *clip);

#endif
