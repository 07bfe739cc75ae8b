/*
 * zoo_kit.h: the modelling kit with which the zoo's characters are made.
 *
 * A character is described by four short lists and the kit does the rest:
 *   1. a CAGE of quads: tubes of sections, extruded from patches of faces, so that rings of edges run around
 *      every limb. Each quad carries a region (which limb it belongs to) and a place in a texture chart.
 *   2. a FIELD: a smooth union of round cones and ellipsoids, whose zero set is the wanted surface. The cage is
 *      cut into a grid, pulled onto the field and relaxed along it.
 *   3. a SKELETON: joints with a plane and a width over which weight passes from parent to child, and the
 *      regions that the joint may move, so that weights never leak from limb to limb.
 *   4. MOTIONS: functions of time that turn joints.
 *
 * Space: metres, +Y up, the character faces +Z, its left is +X.
 */
#ifndef ZOO_ZOO_KIT_H
#define ZOO_ZOO_KIT_H

#include "base/core.h"
#include "cutis/character.h"
#include "math/math3.h"

enum {
    ZOO_MAX_POINTS = 4096,
    ZOO_MAX_FACES = 2048,
    ZOO_MAX_CHARTS = 160,
    ZOO_MAX_REGIONS = 32,
    ZOO_MAX_GRID = 4, /* faces along a side of a patch */
    ZOO_MAX_LOOP = 4 * ZOO_MAX_GRID,
    ZOO_MAX_SHAPES = 320,
    ZOO_MAX_NODES = 48,
    ZOO_MAX_JOINTS = 96,
    ZOO_MAX_CLIPS = 4,
    ZOO_MAX_MAGNETS = 8,
    ZOO_MAX_TUBE = 512
};

#define ZOO_ALL_REGIONS 0xffffffffu

/* ---- cage ---- */

/* A cross-section: points (s, t) of the square -1..1 go to an ellipse around the centre. */
typedef struct zoo_section {
    vec3 centre;
    vec3 u, v;    /* half axes; u x v points out of the end of the tube */
    float square; /* 0: an ellipse, 1: a rectangle */
} zoo_section;

/*
 * A grid of cage points, the open end of a tube: point (c, r) is points[r * (cols + 1) + c]. Its loop runs
 * (0,0) .. (cols,0) .. (cols,rows) .. (0,rows), counter-clockwise when seen from outside.
 */
typedef struct zoo_patch {
    int cols, rows;
    int points[(ZOO_MAX_GRID + 1) * (ZOO_MAX_GRID + 1)];
    bool flip;                      /* mirrored: the loop is clockwise, faces are turned round */
    float bias;                     /* how much the rows of new rings crowd towards v = -1, 0..0.5 */
    int chart;                      /* the texture chart that the next ring continues; -1: a new one */
    float along;                    /* texture coordinate reached, metres */
    float around[ZOO_MAX_LOOP + 1]; /* texture coordinate of each loop point, metres */
} zoo_patch;

typedef struct zoo_face {
    int points[4];
    int region;
    int chart;
    float texcoords[4][2]; /* metres in the chart */
} zoo_face;

/* ---- field ---- */

typedef struct zoo_shape {
    int node;
    bool carve;
    mat3 to_local; /* scene -> local directions */
    vec3 origin;
    float radius_a, radius_b, length; /* round cone from the origin along local +y */
    int tube_first, tube_count;       /* instead: a tube along these of the kit's tube points */
    float slope, cosine;              /* of the cone's flank */
    float blend;
    float reach;    /* how far beyond the value of the whole field it can still act */
    vec3 low, high; /* bounding box */
} zoo_shape;

/* A set of shapes that is united with its parent with its own blend width. Parents come first. */
typedef struct zoo_node {
    int parent;
    float blend;
    int first_shape, shape_count;
    int first_child, next_sibling; /* -1: none */
    float reach;                   /* the largest of its shapes, its descendants' among them */
    vec3 low, high;                /* bounding box */
} zoo_node;

/* A ball in which the mesh shall be finer: cells shrink to 1 / (1 + strength) at its centre. */
typedef struct zoo_magnet {
    vec3 centre;
    float radius, strength;
} zoo_magnet;

/* A place and three directions, right- or left-handed, in which a limb is described. */
typedef struct zoo_frame {
    vec3 origin, a, b, c;
} zoo_frame;

/* ---- skeleton ---- */

typedef struct zoo_joint {
    const char *name;
    int parent;
    vec3 position;
    vec3 axis;   /* towards the child: the joint's +Y, and the normal of its weight plane */
    float width; /* half the distance over which weight passes from parent to child; 0: takes none */
    vec3 centre; /* in ball_regions the weight is a soft ball instead of a plane */
    float radius;
    unsigned ball_regions;
    float gate;       /* with a gate, the ball fades out over this distance on both sides of the plane x = 0; 0: none */
    unsigned regions; /* mask of the regions that it, or its descendants, may move */
    unsigned full_regions; /* of these, where it takes all the weight of its parent */
    quat rest;             /* scene rotation at rest */
} zoo_joint;

/* ---- motions ---- */

/* Turns and shifts of joints from rest, in scene axes as if the parent were at rest. */
typedef struct zoo_pose {
    quat turn[ZOO_MAX_JOINTS];
    vec3 shift[ZOO_MAX_JOINTS];
} zoo_pose;

typedef struct zoo_kit zoo_kit;

typedef struct zoo_motion {
    const char *name;
    double duration;
    int key_count; /* uniform keys; the curve between them is a cubic with central differences */
    bool loop;     /* tangents at the ends wrap round */
    void (*pose)(const zoo_kit *kit, double time, zoo_pose *pose);
    const float *focus; /* (3) of the clip, or NULL */
} zoo_motion;

struct zoo_kit {
    const char *name;
    int target_count; /* vertices at resolution 1 */
    int relax_count;  /* relaxation passes along the field */
    int weight_passes;
    /* For regular shapes: where a place of a cage face lies, instead of field and relaxation; or NULL. */
    vec3 (*place)(const zoo_kit *kit, int face, float s, float t);
    /* Weights of a position, instead of planes and smoothing; or NULL. weights: (joint_count) */
    void (*weigh)(const zoo_kit *kit, vec3 position, float *weights);

    int point_count, face_count, chart_count;
    vec3 points[ZOO_MAX_POINTS];
    zoo_face faces[ZOO_MAX_FACES];
    float chart_sizes[ZOO_MAX_CHARTS][2];
    float chart_places[ZOO_MAX_CHARTS][2];
    float density[ZOO_MAX_REGIONS]; /* how much finer than elsewhere the region's grid is */

    int shape_count, node_count;
    zoo_shape shapes[ZOO_MAX_SHAPES];
    zoo_node nodes[ZOO_MAX_NODES];
    int tube_count;
    vec3 tube_points[ZOO_MAX_TUBE]; /* in their shape's local space */
    float tube_radii[ZOO_MAX_TUBE];
    int magnet_count;
    zoo_magnet magnets[ZOO_MAX_MAGNETS];

    int joint_count;
    zoo_joint joints[ZOO_MAX_JOINTS];

    int name_count;
    char names[ZOO_MAX_JOINTS][24]; /* of joints on one side of the body */

    int motion_count;
    zoo_motion motions[ZOO_MAX_CLIPS];
    const struct biped *biped; /* who moves, for motions that several characters have; or NULL */
};

/* zoo_cage.c */
int zoo_point_add(zoo_kit *kit, vec3 position);
int zoo_chart_add(zoo_kit *kit, float width, float height);
void zoo_face_add(zoo_kit *kit, const int points[4], const float texcoords[4][2], int region, int chart, bool flip);
zoo_patch zoo_patch_start(zoo_kit *kit, int cols, int rows, zoo_section section);
/* One ring from the patch's loop to a new section; bit i of skip leaves the face on loop edge i open. */
zoo_patch zoo_patch_extrude(zoo_kit *kit, const zoo_patch *patch, zoo_section section, int region, unsigned skip);
zoo_patch zoo_patch_loft(zoo_kit *kit, zoo_patch patch, const zoo_section *sections, int count, int region);
/* The part of cols c0..c1 and rows r0..r1, to extrude from on its own. */
zoo_patch zoo_patch_part(const zoo_patch *patch, int c0, int c1, int r0, int r1);
/* Close the tube with the patch's faces; mask bit (r * cols + c) leaves a face open. */
void zoo_patch_close(zoo_kit *kit, const zoo_patch *patch, int region, unsigned skip);
/* The same patch seen from the other side. */
zoo_patch zoo_patch_reverse(const zoo_patch *patch);
/* Loop index -> point. */
int zoo_patch_loop_count(const zoo_patch *patch);
int zoo_patch_loop(const zoo_patch *patch, int index);
void zoo_cage_finish(zoo_kit *kit); /* drops unused points, packs the charts */

/* zoo_field.c */
int zoo_field_node(zoo_kit *kit, int parent, float blend);
void zoo_field_cone(zoo_kit *kit, int node, vec3 a, float radius_a, vec3 b, float radius_b, float blend);
/* The cone made `factor` times as wide along the unit vector `axis`. */
void zoo_field_flat_cone(zoo_kit *kit, int node, vec3 a, float radius_a, vec3 b, float radius_b, vec3 axis,
                         float factor, float blend);
/* A smooth tube through points (count >= 2), flattened as a flat cone is. */
void zoo_field_tube(zoo_kit *kit, int node, const vec3 *points, const float *radii, int count, vec3 axis, float factor,
                    float blend);
void zoo_field_ellipsoid(zoo_kit *kit, int node, vec3 centre, vec3 radii, float blend);
/* An ellipsoid with half axes a, b, c, at right angles to each other. */
void zoo_field_blob(zoo_kit *kit, int node, vec3 centre, vec3 a, vec3 b, vec3 c, float blend);
void zoo_field_magnet(zoo_kit *kit, vec3 centre, float radius, float strength);
/* Turn the last shape added into one that is taken away. */
void zoo_field_carve(zoo_kit *kit);
void zoo_field_finish(zoo_kit *kit);
/* First-order distance to the surface, and its gradient. Fastest when the distance is below `near`. */
float zoo_field_value(const zoo_kit *kit, vec3 p, float near, vec3 *gradient);

/* zoo_motion.c */
const char *zoo_name(zoo_kit *kit, const char *name, const char *suffix); /* joined; lives as long as the kit */
int zoo_joint_add(zoo_kit *kit, const char *name, const char *parent, vec3 position, vec3 axis, float width,
                  unsigned regions);
int zoo_joint_find(const zoo_kit *kit, const char *name); /* must be there */
void zoo_motion_add(zoo_kit *kit, const char *name, double duration, int key_count, bool loop,
                    void (*pose)(const zoo_kit *kit, double time, zoo_pose *pose));
/* Turn a joint by degrees about a scene axis, after what it has been turned already. */
void zoo_pose_turn(const zoo_kit *kit, zoo_pose *pose, const char *joint, vec3 axis, double degrees);
void zoo_pose_shift(const zoo_kit *kit, zoo_pose *pose, const char *joint, vec3 shift);
/* Where the rest point p that belongs to `joint` is in the pose, and how the joint is turned there. */
vec3 zoo_pose_point(const zoo_kit *kit, const zoo_pose *pose, int joint, vec3 p, quat *turn);
/*
 * Turn joints `upper` and `lower` so that the rest point `end` of the lower one comes to `target`, the joint
 * between them bending towards `bend`; then turn joint `foot` (at `end`) so that it stands in the scene as `level`.
 */
void zoo_pose_reach(const zoo_kit *kit, zoo_pose *pose, const char *upper, const char *lower, const char *foot,
                    vec3 target, vec3 bend, quat level);
cutis_result zoo_motion_clips(const zoo_kit *kit, arena *memory, cutis_joint *joints, cutis_clip *clips,
                              cutis_error *error);
double zoo_smooth(double t);                       /* 0..1 with soft ends, clamped */
double zoo_ramp(double t, double from, double to); /* zoo_smooth of the place of t between from and to */
/* A smooth periodic curve through `count` values at even phases; phase 1 is one turn. */
double zoo_cycle(const double *values, int count, double phase);
/* A foot's place along the step, -0.5 .. 0.5: backwards at one speed while it stands, smoothly forwards after. */
double zoo_stride(double phase, double stance);
double zoo_sin(double turns); /* sine of turns x 360 degrees */
double zoo_cos(double turns);

/* zoo_sculpt.c */
cutis_result zoo_sculpt(zoo_kit *kit, double resolution, const cutis_allocator *allocator, cutis_character **character,
                        cutis_error *error);

/* zoo_hand.c */

/* Where a hand begins in the numbering of regions; it takes ZOO_HAND_REGIONS of them. */
enum { ZOO_HAND_REGIONS = 6 };

static inline vec3 zoo_frame_point(const zoo_frame *f, float a, float b, float c)
{
    return vec3_madd(vec3_madd(vec3_madd(f->origin, f->a, a), f->b, b), f->c, c);
}

static inline vec3 zoo_frame_vector(const zoo_frame *f, float a, float b, float c)
{
    return vec3_madd(vec3_madd(vec3_scale(f->a, a), f->b, b), f->c, c);
}

/*
 * A hand in a frame whose origin is the wrist: a towards the fingers, b from thumb to little finger, c out of
 * the back of the hand. The directions carry the scale (length 1: an adult's hand). patch: 4 x 2, at the wrist.
 */
void zoo_hand_cage(zoo_kit *kit, zoo_patch patch, const zoo_frame *frame, int region);
void zoo_hand_field(zoo_kit *kit, int node, const zoo_frame *frame);
/* Finger joints under the joint `parent`, their names ending in `suffix`. */
void zoo_hand_joints(zoo_kit *kit, const char *parent, const char *suffix, const zoo_frame *frame, int region);
/*
 * Bend finger `finger` (0 thumb .. 4 little finger) at its three joints by degrees towards the palm, and
 * sideways by `spread` degrees (away from the middle finger).
 */
void zoo_hand_pose(const zoo_kit *kit, zoo_pose *pose, const zoo_frame *frame, const char *suffix, int finger,
                   double bend_1, double bend_2, double bend_3, double spread);

/* zoo_head.c */

/* How a head differs from the plain one, as factors. */
typedef struct zoo_head {
    float width, jaw, brow;
    float fat; /* 0: lean */
} zoo_head;

/* A human head with the point between its ears at the origin; returns its node. scale 1: 0.23 m high. */
int zoo_head_field(zoo_kit *kit, int parent, vec3 origin, float scale, const zoo_head *style);

/* The characters. */
void zoo_describe_arm(zoo_kit *kit);
void zoo_describe_hand(zoo_kit *kit);
void zoo_describe_man(zoo_kit *kit);
void zoo_describe_cat(zoo_kit *kit);
void zoo_describe_dancer(zoo_kit *kit);
void zoo_describe_bunny(zoo_kit *kit);
void zoo_describe_torus(zoo_kit *kit);
void zoo_describe_cylinder(zoo_kit *kit);
void zoo_describe_neck(zoo_kit *kit);

#endif
