/*
 * grasp.h: place a prop in a hand, close the fingers on it and lift it.
 *
 *     cutis_grasp_def def = cutis_grasp_def_default();
 *     def.character = hand;
 *     def.prop = &prop;
 *     cutis_grasp *grasp;
 *     if (cutis_grasp_create(&def, &grasp, &error) == CUTIS_OK) ... grasp->character has the prop and the clip "grasp"
 *
 * The fingers are found by the names of joints or by the shape of the skeleton. Lengths are in the character's unit,
 * forces in newtons. No function keeps global state; several threads may plan grasps at the same time.
 */
#ifndef CUTIS_GRASP_H
#define CUTIS_GRASP_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cutis_grasp_type {
    CUTIS_GRASP_POWER, /* prop against the palm, all fingers around it */
    CUTIS_GRASP_PINCH, /* between the thumb and the tips of index and middle finger */
    CUTIS_GRASP_HOOK   /* fingers around it, without the thumb */
} cutis_grasp_type;

typedef enum cutis_grasp_side { CUTIS_GRASP_ANY, CUTIS_GRASP_LEFT, CUTIS_GRASP_RIGHT } cutis_grasp_side;

/* The hand of a character, as it was found. */
typedef struct cutis_hand_info {
    int wrist;             /* joint */
    cutis_grasp_side side; /* by names, else by the shape of the hand */
    int finger_count;      /* 2 to 5, the thumb first */
    int links[5][4];       /* joints of each finger from the palm to the tip; -1: none */
    const char *kinds[5];  /* "thumb", "index", "middle", "ring", "pinky" */
    bool by_names;         /* false: by the shape of the skeleton */
    float forward[3];      /* unit, from the wrist to the fingers, rest pose */
    float palm[3];         /* unit, out of the palm */
    float length;          /* from the wrist to the farthest fingertip */
} cutis_hand_info;

/*
 * Find the fingers of a hand. Fails with CUTIS_ERROR_UNSUPPORTED when the skeleton has no fingers. by_shape: ignore the
 * names of joints.
 */
CUTIS_API cutis_result cutis_hand_find(const cutis_character *character, cutis_grasp_side side, bool by_shape,
                                       const cutis_allocator *allocator, cutis_hand_info *hand, cutis_error *error);

typedef struct cutis_grasp_def {
    const cutis_character *character;
    const cutis_placed_prop *prop; /* the planner reads its surface and scale, and chooses its place; rigid or soft */
    cutis_grasp_type type;
    cutis_grasp_side side;
    double force; /* normal force of the thumb, and of the fingers together, newtons; 0: twice the weight's, at friction
                     0.3 */
    double friction;    /* coefficient; negative: the prop's own, else 0.8 */
    double lift;        /* height; negative: one and a half lengths of the hand */
    double unit;        /* metres per unit of the character; 0: guess from the length of the hand */
    double flesh_young; /* Young's modulus of the flesh of fingers, kPa; 0 = 30 */
    const cutis_allocator *allocator;
} cutis_grasp_def;

CUTIS_API cutis_grasp_def cutis_grasp_def_default(void);

/* A patch of skin that touches the prop. */
typedef struct cutis_grasp_contact {
    const char *finger; /* kind of the finger, or "palm" */
    const char *joint;  /* name of the bone below */
    float place[3];     /* scene space, hand closed, before the lift */
    float normal[3];    /* unit, into the prop */
    double area;        /* square metres */
    double force;       /* predicted normal force, newtons */
    double depth;       /* of the skin pressed in, scene units */
    double cone;        /* half angle of the friction cone, degrees */
} cutis_grasp_contact;

typedef struct cutis_grasp {
    cutis_character *character; /* copy of the given one with the prop and the clip "grasp" */
    int clip, prop;             /* indices */
    cutis_hand_info hand;
    double unit; /* metres per unit */
    int contact_count;
    const cutis_grasp_contact *contacts; /* (contact_count) */
    double friction;
    double weight;       /* newtons */
    double force;        /* normal force of the thumb and of the fingers together, newtons */
    double force_needed; /* least sum of normal forces that holds the weight; INFINITY: no forces hold it */
    double score;        /* force closure: 0 none, at most 1; see docs/reference/grasp.md */
    double bone_depth;   /* depth of the deepest bone in the prop, scene units; 0: none */
    bool force_reached;  /* false: a finger reached its limit, or its bone the prop, at less force */
    int tried;           /* number of placements */
    double touch_time, squeeze_time, lift_start, lift_end; /* seconds of the clip */
    double lift;
} cutis_grasp;

/*
 * Plan a grasp; destroy it with cutis_grasp_destroy. Fails with CUTIS_ERROR_UNSUPPORTED when the character has no hand
 * with fingers or when no placement gives a contact on two sides of the prop.
 */
CUTIS_API cutis_result cutis_grasp_create(const cutis_grasp_def *def, cutis_grasp **grasp, cutis_error *error);
CUTIS_API void cutis_grasp_destroy(cutis_grasp *grasp); /* NULL is allowed */

/* Result of a simulated grasp. */
typedef struct cutis_grasp_trial {
    const char *solver;
    bool held;            /* lifted by 95 to 105 % and not dropped */
    double lifted;        /* height that the prop rose, scene units */
    double slip;          /* motion of the prop relative to the wrist during the lift, scene units */
    double force[3];      /* of the skin on the prop at the end, newtons */
    double penetration;   /* depth of the deepest skin in the prop during the lift, divided by the size */
    double bone_depth;    /* depth of the deepest bone in the prop during squeeze and lift, scene units */
    int bone;             /* its joint; -1: none */
    long unconverged;     /* substeps */
    double step_ms;       /* mean time of a frame of 1/30 s */
    double limited_share; /* frames with skin that fell back towards skinning */
} cutis_grasp_trial;

/*
 * Simulate the clip with the first solver that moves free props. progress (may be NULL) returns false to stop, which
 * fails with CUTIS_ERROR_INTERRUPTED. jobs: NULL = the calling thread.
 */
CUTIS_API cutis_result cutis_grasp_try(const cutis_grasp *grasp, const cutis_jobs *jobs,
                                       bool (*progress)(void *context, long done, long total), void *context,
                                       cutis_grasp_trial *trial, cutis_error *error);

#ifdef __cplusplus
}
#endif
#endif
