/*
 * gltf_read.h: what the parts of the glTF reader share while they build one character from a document.
 *
 * The reader goes through a document in this order: nodes, roles, skins and joints (gltf_scene.c); vertices,
 * faces, morphs and props (gltf_mesh.c); clips (gltf_clips.c). Each part fills its share of `given`, which
 * cutis_character_create then copies. All memory is the document's.
 *
 * Vertex order: mesh nodes in the order of the scene's traversal, the primitives of each in order. Primitives
 * of one node whose attributes and targets are the same accessors share one run of vertices.
 */
#ifndef IO_GLTF_READ_H
#define IO_GLTF_READ_H

#include "cutis/io.h"
#include "io/affine.h"
#include "io/gltf/gltf_document.h"

typedef struct gltf_node {
    json_t *object;
    int parent, depth;
    int mesh, skin; /* -1: none */
    affine_parts parts;
    affine world;  /* in the file's default pose */
    bool hidden;   /* it or a node above it is not to be shown */
    bool in_scene; /* reached from the active scene */
    bool in_skeleton;
    bool is_prop;    /* carries something the character touches, not its surface */
    int first_joint; /* its first entry among the joints, -1: none; further ones by joint_next */
    int first_morph, morph_count;
    const float *morph_defaults; /* (morph_count) weights that are part of the rest shape */
} gltf_node;

typedef struct gltf_skin {
    bool used;
    int joint_count;
    int *joints;      /* (joint_count) indices of the character's joints */
    affine placement; /* mesh space -> rest scene space */
} gltf_skin;

/* Where a primitive of the file is among the character's vertices. */
typedef struct gltf_run {
    int node, mesh, primitive;
    int first, count; /* vertices */
} gltf_run;

typedef struct gltf_reader {
    gltf_document *document;
    cutis_character given;
    warning_list warnings;
    gltf_node *nodes;
    int *order; /* (node_count) every node, parents before children, the active scene first */
    gltf_skin *skins;
    bool has_skeleton;
    cutis_joint *joints;
    int joint_count;
    int *joint_nodes;   /* (joint_count) */
    int *joint_next;    /* (joint_count) the next joint made from the same node, -1: none */
    affine *joint_rest; /* (joint_count) joint space -> rest scene space */
    bool *joint_bound;  /* (joint_count) its inverse bind matrix is a skin's */
    gltf_run *runs;     /* (run_count) the primitives that the surface is made of */
    int run_count;
    int *clip_animations; /* (given.clip_count) */
    bool motion_only;     /* every node is a joint, and a file without a mesh gets a triangle that nobody sees */
    bool all_props;       /* every node with a mesh is a prop, a collider unless it says otherwise */
    bool props_as_mesh;   /* the meshes of props are the surface, and no others */
} gltf_reader;

cutis_result gltf_read_nodes(gltf_reader *reader);
cutis_result gltf_read_skeleton(gltf_reader *reader);
cutis_result gltf_read_settings(gltf_reader *reader);
cutis_result gltf_read_surface(gltf_reader *reader);
cutis_result gltf_read_props(gltf_reader *reader);
cutis_result gltf_read_clips(gltf_reader *reader);

/* Mesh space -> rest scene space for a node's vertices. */
affine gltf_node_placement(const gltf_reader *reader, const gltf_node *node);

/* All of it: a character from the bytes of a .glb or .gltf. */
cutis_result gltf_character_read(const void *data, size_t size, const char *path, bool external,
                                 const cutis_allocator *allocator, cutis_character **character, cutis_error *error);

/* The same of a file whose clips alone are wanted: every node is a joint, and it need not hold a mesh. */
cutis_result gltf_motion_read(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                              cutis_character **character, cutis_error *error);

/*
 * The meshes of the props of a file alone, as a character that plays their clips; *character is NULL when no prop has a
 * mesh.
 */
cutis_result gltf_props_read(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                             cutis_character **character, cutis_error *error);

/* Fill reader->given from a parsed document: all of the steps above in their order. */
cutis_result gltf_read_all(gltf_reader *reader);

/* "node 3 ('Hips')". */
gltf_place gltf_node_place(const gltf_reader *reader, int node);

#endif
