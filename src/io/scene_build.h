/*
 * scene_build.h: a character from the scene of a format other than glTF (FBX, COLLADA): nodes, polygon meshes, clusters
 * of weights, blend shapes and sampled motion, in the file's own axes and unit.
 */
#ifndef IO_SCENE_BUILD_H
#define IO_SCENE_BUILD_H

#include "cutis/io.h"
#include "io/affine.h"
#include "io/files.h"

typedef struct scene_node {
    const char *name;
    int parent; /* lower than the own index; -1: a root */
    affine_parts local;
    bool is_bone; /* kept as a joint even when it moves nothing */
} scene_node;

/* The vertices that one bone moves. */
typedef struct scene_cluster {
    int node;
    affine to_bone; /* the mesh's space -> the bone's, when they were bound */
    affine bound;   /* the bone's space -> scene then */
    int count;
    const int *vertices;
    const double *weights;
} scene_cluster;

typedef struct scene_morph {
    const char *name;
    double weight; /* without a clip */
    int count;
    const int *vertices;
    const double *deltas; /* (count x 3), the mesh's space */
} scene_morph;

typedef struct scene_mesh {
    const char *name;
    int node;
    affine to_node; /* the mesh's space -> the node's, not inherited by children */
    int vertex_count, face_count;
    const double *positions;   /* (vertex_count x 3) */
    const int *face_first;     /* (face_count + 1) */
    const int *corners;        /* below vertex_count */
    const float *texcoords;    /* (corners x 2), v downwards; or NULL */
    const int *face_materials; /* (face_count) indices of materials; or NULL */
    const char *const *materials;
    int material_count;
    int cluster_count, morph_count;
    const scene_cluster *clusters;
    const scene_morph *morphs;
} scene_mesh;

/* Local transforms of a node at keys. */
typedef struct scene_track {
    int node;
    int key_count;
    const float *times;
    affine_parts *keys;
} scene_track;

typedef struct scene_morph_track {
    int mesh, morph;
    int key_count;
    const float *times;
    const float *weights;
} scene_morph_track;

typedef struct scene_clip {
    const char *name;
    int track_count, morph_track_count;
    const scene_track *tracks;
    const scene_morph_track *morph_tracks;
} scene_clip;

typedef struct scene {
    const char *name; /* base name, for messages */
    arena *memory;
    warning_list *warnings;
    cutis_error *error;
    double turn[4]; /* the file's axes -> y up, facing z */
    double unit;    /* metres */
    int node_count, mesh_count, clip_count;
    scene_node *nodes;
    scene_mesh *meshes;
    scene_clip *clips;
    int material_count;
    const cutis_material *materials;
    bool motion_only; /* all nodes are joints, and a scene without meshes gets a triangle that nobody sees */
} scene;

/* path: names the character. */
cutis_result scene_build(const scene *s, const char *path, const cutis_allocator *allocator,
                         cutis_character **character);
/* A triangle that carries a motion without a mesh through the checks of a character. */
void scene_stand_in(cutis_character *given);

#endif
