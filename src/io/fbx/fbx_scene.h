/*
 * fbx_scene.h: what the parts of the FBX reader share: objects, connections, nodes, curves.
 */
#ifndef IO_FBX_SCENE_H
#define IO_FBX_SCENE_H

#include "io/fbx/fbx_parse.h"
#include "io/scene_build.h"

typedef struct fbx_object {
    uint64_t id;
    const fbx_node *node;
    const char *name, *subtype;
    int index;       /* of the scene's node, mesh or the like that it became; -1: none */
    int first_child; /* connections whose parent it is, -1: none */
} fbx_object;

typedef struct fbx_link {
    int child;         /* object */
    const char *label; /* the property of the parent that it drives, or NULL */
    int next;          /* of the same parent */
} fbx_link;

/* A curve over time of one number. Keys are in seconds. */
typedef struct fbx_curve {
    int key_count;
    double *times, *values;
    double (*tangents)[4]; /* slope behind the key, slope before the next, their weights (share of the interval) */
    char *kinds; /* 's' step, 'n' step to the next value, 'l' linear, 'c' cubic, 'a' cubic, slopes to be found */
} fbx_curve;

/* How an animation layer joins those before it. */
typedef struct fbx_layer {
    enum { FBX_ADDS, FBX_REPLACES, FBX_MIXES } mode;
    bool adds_angles; /* Euler angles are added one by one; else rotations follow each other */
    bool adds_scales; /* scales are added; else multiplied */
    double weight;    /* 0..100 */
    const fbx_curve *weight_curve;
} fbx_layer;

/*
 * What one layer gives a node (its translation, rotation and scaling) or a blend shape channel (the first number of the
 * first path), each curve may be NULL.
 */
typedef struct fbx_motion {
    const fbx_layer *layer;
    const fbx_curve *curves[3][3];
    bool driven[3];          /* whether the layer has the path at all */
    double defaults[3][3];   /* without a curve; of layers above the first */
    struct fbx_motion *next; /* of the layer above */
} fbx_motion;

/* How a node's transform is put together. */
typedef struct fbx_transform {
    double values[3][3]; /* translation, rotation (degrees), scaling */
    double pre[4], post_inverse[4];
    double rotation_offset[3], rotation_pivot[3], scaling_offset[3], scaling_pivot[3];
    int order, inherit;
} fbx_transform;

typedef struct fbx_reader {
    fbx_file file;
    scene s;
    warning_list warnings;
    fbx_object *objects;
    int object_count;
    int *slots; /* (slot_count) object + 1 by the hash of its id */
    size_t slot_count;
    fbx_link *links;
    int link_count;
    int *node_objects;         /* (s.node_count) */
    fbx_transform *transforms; /* (s.node_count) */
    int *helpers;              /* (s.node_count) the node between it and its parent that undoes uneven scale, or -1 */
    bool *is_helper;           /* (s.node_count) */
} fbx_reader;

/* ---- objects ---- */

int fbx_find(const fbx_reader *r, const fbx_value *id);
/* The next object below `object` whose node has this name, from link *cursor on (start with -2); -1 at the end. */
int fbx_next_child(const fbx_reader *r, int object, const char *type, int *cursor, const char **label);
/* A property by name: its node, and the index of its first value; NULL when it is not set. */
const fbx_node *fbx_property(const fbx_node *object, const char *name, int *first);
double fbx_property_number(const fbx_node *object, const char *name, double missing);
void fbx_property_vector(const fbx_node *object, const char *name, double vector[3]);

/*
 * The scale that a node finds above it: its parent's own, or all of it where InheritType is 0 (RrSs). motions (may be
 * NULL): the clip, at `time`.
 */
void fbx_scale_above(const fbx_reader *r, int node, const fbx_motion *motions, double time, double scale[3]);
/*
 * The local transform of a node below such a scale; outer (may be NULL): its first part, which a helper holds, so that
 * the product has no shear.
 */
affine_parts fbx_local(const fbx_transform *t, const double values[3][3], const double scale_above[3],
                       affine_parts *outer);

/* Euler angles in degrees as a quaternion. order: 0 XYZ, 1 XZY, 2 YZX, 3 YXZ, 4 ZXY, 5 ZYX; the first turns first. */
void fbx_euler(const double angles[3], int order, double rotation[4]);
/* The angles that give such a quaternion. */
void fbx_euler_find(const double rotation[4], int order, double angles[3]);

/*
 * The shapes of a blend shape channel in the order of their full weights (percent, rising), those but the last being
 * in-betweens. NULL: none, or no memory.
 */
typedef struct fbx_shape {
    int object;
    double full;
} fbx_shape;
const fbx_shape *fbx_channel_shapes(fbx_reader *r, int channel, int *count);
/* The weight of one of its shapes when the channel is at so many percent. */
double fbx_shape_weight(const fbx_shape *shapes, int count, int shape, double percent);

/* Whether some take of a version before 7000 scales a model unevenly. */
bool fbx_take_uneven(fbx_reader *r, int object);

/* ---- the parts ---- */

cutis_result fbx_read_meshes(fbx_reader *r);
cutis_result fbx_read_clips(fbx_reader *r);
/* path: the file, beside which images are looked for; NULL: nowhere. */
cutis_result fbx_read_materials(fbx_reader *r, const char *path);

#endif
