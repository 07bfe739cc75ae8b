/*
 * zoo_biped.h: what the two-legged characters have in common: cage, skeleton and motions, from a table of
 * landmarks and widths. The shape itself (field) is each character's own.
 */
#ifndef ZOO_ZOO_BIPED_H
#define ZOO_ZOO_BIPED_H

#include "zoo/zoo_kit.h"

enum {
    BIPED_TORSO,
    BIPED_HEAD,
    BIPED_ARM_L,
    BIPED_ARM_R,
    BIPED_LEG_L,
    BIPED_LEG_R,
    BIPED_FOOT_L,
    BIPED_FOOT_R,
    BIPED_EAR_L,
    BIPED_EAR_R,
    BIPED_HAND_L,
    BIPED_HAND_R = BIPED_HAND_L + ZOO_HAND_REGIONS,
    BIPED_TORSO_LEVELS = 7,
    BIPED_HEAD_LEVELS = 6
};

/* A ring of torso or head: height, half width, half depth, centre's z, and how much higher its back is than its front.
 */
typedef struct biped_ring {
    float y, width, depth, z, tilt;
} biped_ring;

/* How it moves. */
typedef struct biped_style {
    double stride;    /* metres from heel to heel of one foot's step, over the leg's length */
    double bounce;    /* metres */
    double sway;      /* metres sideways */
    double arm_swing; /* degrees */
    double arms_down; /* degrees that the arms drop from the A pose */
    double hip_turn;  /* degrees */
} biped_style;

/* Landmarks of the left side, and the cage around them. */
typedef struct biped {
    vec3 hips, spine, chest, neck, head, crown;
    vec3 clavicle, shoulder, elbow, wrist;
    vec3 hip, knee, ankle, ball, toe;
    biped_ring torso[BIPED_TORSO_LEVELS]; /* crotch, hip, waist, ribs, armpit, shoulder, top */
    biped_ring skull[BIPED_HEAD_LEVELS];  /* neck, jaw, ... crown */
    float arm[4];                         /* cage radii: shoulder, mid upper arm, elbow, wrist */
    float leg[4];                         /* cage radii: hip, mid thigh, knee, ankle */
    float foot_width, foot_height;
    float hand_scale; /* 0: a mitten of length `mitten` */
    float mitten;
    bool ears;
    vec3 knob; /* a ball on the back, of the head (a bun) or of the hips (a tail); radius 0: none */
    float knob_radius;
    bool knob_on_head;
    bool short_legs; /* two rings a leg, not seven */
    biped_style style;
} biped;

/* A muscle of the arm: where its middle is, its half extents along the bone, outwards and to the front, its blend. */
typedef struct biped_muscle {
    float along; /* of the bone: a share of it, of the deltoid a length from the shoulder */
    float off;   /* to the front; of deltoid and forearm outwards */
    float half[3];
    float blend;
} biped_muscle;

/* Flesh of an arm, metres. */
typedef struct biped_arm_flesh {
    float blend;                /* with the body */
    float shoulder, elbow;      /* radii of the upper arm */
    float forearm_elbow, wrist; /* radii of the forearm */
    biped_muscle deltoid, biceps, triceps, forearm;
} biped_arm_flesh;

void biped_cage(zoo_kit *kit, const biped *b);
/* The arm and hand of a side as part of field node `body`. */
void biped_arm_field(zoo_kit *kit, int body, const biped *b, const biped_arm_flesh *flesh, float side);
void biped_joints(zoo_kit *kit, const biped *b);
/* Frame of the left (side 1) or right (side -1) hand; directions of length 1, or scaled to the hand. */
zoo_frame biped_hand_frame(const biped *b, float side);
zoo_frame biped_hand_scaled(const biped *b, float side);
static inline vec3 biped_mirror(vec3 p, float side) { return vec3_make(p.x * side, p.y, p.z); }

/* The clips walk, jump and shimmy, by landmarks, so that legs of any length walk. */
void biped_motions(zoo_kit *kit, const biped *b);
/* Put a foot (ankle joint) at `target` with the foot turned by `pitch` degrees (toes down positive). */
void biped_leg(const zoo_kit *kit, float side, vec3 target, double pitch, zoo_pose *pose);
/* Lower the arms, swing them (degrees, forward positive), bend the elbow, turn the wrist in. */
void biped_arm(const zoo_kit *kit, const biped *b, float side, double down, double swing, double bend, zoo_pose *pose);

#endif
