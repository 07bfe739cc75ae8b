/*
 * grasp_private.h: the hand as the planner sees it, its poses, contacts, and the measures of a grasp.
 *
 * A hand is a wrist and up to five fingers of up to four links. Link k of a finger turns about its hinge; all links
 * beyond turn with it. Everything is in scene space of the rest pose, in the character's unit.
 */
#ifndef GRASP_GRASP_PRIVATE_H
#define GRASP_GRASP_PRIVATE_H

#include "base/core.h"
#include "contact/contact.h"
#include "cutis/grasp.h"
#include "math/math3.h"

enum { FINGER_LIMIT = 5, LINK_LIMIT = 4, LINK_TOTAL = FINGER_LIMIT * LINK_LIMIT, PALM = -1 };

/* A bone of a finger at rest. */
typedef struct grasp_link {
    int joint;
    vec3 place, end; /* of a last link: the tip of the skin */
    vec3 hinge;      /* unit; a positive angle bends the finger towards the palm */
    float low, high; /* limits of its angle, radians, from the rest pose */
    float radius;    /* of the bone, as flesh begins there */
} grasp_link;

typedef struct grasp_finger {
    int kind; /* a joint_kind, JOINT_THUMB to JOINT_PINKY */
    int link_count;
    grasp_link links[LINK_LIMIT];
} grasp_finger;

/* A point of the skin of the hand. */
typedef struct grasp_point {
    vec3 rest, normal;
    int links[4]; /* finger x LINK_LIMIT + link, or PALM */
    float weights[4];
    int link;    /* the strongest */
    float flesh; /* depth of the flesh below */
    float area;
} grasp_point;

typedef struct grasp_hand {
    int wrist, side, finger_count;
    bool by_names, has_thumb;
    vec3 origin;                  /* of the wrist */
    vec3 forward, across, normal; /* unit: to the fingers, to the thumb's side, out of the palm */
    float length, palm_length;    /* wrist to the farthest tip, and to the mean knuckle */
    grasp_finger fingers[FINGER_LIMIT];
    int *tree;    /* (joint_count) parents, by position where the file's skeleton is flat */
    int *link_of; /* (joint_count) the link that a joint moves with, PALM with the wrist, -2: not of the hand */
    int point_count;
    grasp_point *points;       /* sorted by strongest link, those of the palm first */
    int first[LINK_TOTAL + 2]; /* points of link l: first[l + 1] to first[l + 2]; palm: first[0] to [1] */
} grasp_hand;

/* Find the hand; only joints. */
cutis_result grasp_hand_find(const cutis_character *character, cutis_grasp_side side, bool by_shape, arena *memory,
                             grasp_hand *hand, cutis_error *error);
/* Add the skin: points, flesh, tips. */
cutis_result grasp_hand_skin(const cutis_character *character, arena *memory, grasp_hand *hand, cutis_error *error);

/* Angles of all links, radians from the rest pose, and the turn of the thumb about the palm. */
typedef struct grasp_pose {
    float angles[FINGER_LIMIT][LINK_LIMIT];
    float swing;
    vec3 thumb_hinge; /* about which the thumb closes, at rest; zero: its own */
} grasp_pose;

/* Transforms of all links, rest -> posed. */
void grasp_hand_pose(const grasp_hand *hand, const grasp_pose *pose, mat34 links[LINK_TOTAL]);
/* A point of the skin by linear blending. */
vec3 grasp_point_place(const grasp_point *point, const mat34 links[LINK_TOTAL]);

/* ---- force closure ---- */

typedef struct grasp_touch {
    vec3 place, normal; /* unit, into the prop */
} grasp_touch;

enum { CONE_EDGES = 8, TOUCH_LIMIT = 48 };

/* Wrenches of contacts with friction about `centre`: (6 x wrench count), a column per edge of a cone. Returns columns.
 */
int grasp_wrenches(const grasp_touch *touches, int count, double friction, vec3 centre, double radius, double *columns);
/*
 * Least sum of non-negative factors of the columns that gives `target` (6). INFINITY: none does. dual (6): y with
 * columns . y <= 1 and target . y = the sum; may be NULL.
 */
double grasp_gauge(const double *columns, int count, const double target[6], double *dual);
/* Radius of the largest ball about the origin in the convex hull of the columns, at most; 0: no force closure. */
double grasp_closure(const double *columns, int count, int starts);

/* ---- the plan ---- */

typedef struct grasp_scene {
    const cutis_character *character;
    const grasp_hand *hand;
    contact_prop prop;
    vec3 extent;  /* half widths of the prop in its own space */
    vec3 middle;  /* of its bounds, own space */
    vec3 centre;  /* of mass, own space */
    float radius; /* from the centre of mass to the farthest point of the surface */
    double volume, mass;
    double friction, unit, young, soft; /* soft: Young's modulus of the prop, Pa; 0: rigid */
    vec3 approach;                      /* way of the hand to the prop */
    float *body;                        /* (body_count x 3) points of the skin that are not of the hand */
    int body_count;
} grasp_scene;

/* Distance of a point of scene space from the prop, and the normal out of it. place: prop -> scene, rigid. */
float grasp_prop_distance(const grasp_scene *scene, const mat34 *inverse, const mat34 *place, vec3 p, float most,
                          vec3 *normal);

typedef struct grasp_patch {
    int link; /* or PALM */
    vec3 place, normal;
    float area; /* square units */
    float depth;
    double force;
} grasp_patch;

typedef struct grasp_plan {
    mat34 place; /* of the prop */
    grasp_pose open, touch, closed;
    int patch_count;
    grasp_patch patches[LINK_TOTAL + 1];
    int touch_count;
    grasp_touch touches[TOUCH_LIMIT];
    double score, quality, needed, force;
    double bone_depth;
    bool force_reached;
    int tried;
} grasp_plan;

/* Search placements; false when none touches the prop on two sides. */
bool grasp_plan_search(const grasp_scene *scene, cutis_grasp_type type, grasp_plan *plan);
/* Press the fingers on the prop. force 0: twice what is needed. */
void grasp_plan_squeeze(const grasp_scene *scene, cutis_grasp_type type, double force, grasp_plan *plan);

/* ---- the clip ---- */

typedef struct grasp_times {
    double shape, near, touch, squeeze, lift_start, lift_end, end; /* seconds, ascending */
} grasp_times;

/* What moves the hand. */
typedef struct grasp_arm {
    int shoulder, elbow; /* joints; -1: no arm, the root is moved */
    int root;            /* joint above all */
    vec3 places[3];      /* shoulder, elbow, wrist at rest */
} grasp_arm;

/* Displacements of the wrist, one after the other. */
typedef struct grasp_way {
    vec3 approach, lift;
} grasp_way;

/* rest: (joint_count x 12) transforms of the rest pose. */
void grasp_arm_find(const cutis_character *character, const grasp_hand *hand, const float *rest, grasp_arm *arm);
/* The displacement of the wrist nearest to the wanted one that the arm reaches. */
vec3 grasp_arm_reach(const grasp_arm *arm, vec3 displacement);
/* Angles at a time of the clip. */
grasp_pose grasp_pose_at(const grasp_plan *plan, const grasp_times *times, double time);
/* Tracks of all joints that differ from the idle pose. */
cutis_result grasp_clip_make(const cutis_character *character, const grasp_hand *hand, const grasp_plan *plan,
                             const grasp_arm *arm, const grasp_times *times, const grasp_way *way, arena *memory,
                             cutis_clip *clip, cutis_error *error);

#endif
