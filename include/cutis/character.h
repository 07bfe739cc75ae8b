/*
 * character.h: a mesh, its skeleton, weights and motion, as every solver sees them.
 *
 * A character is made by a loader (io.h), by the zoo (zoo.h) or from a host's own arrays
 * (cutis_character_create), and is read-only from then on: any number of threads may share it.
 *
 * Space: all positions are in scene space, the space in which glTF defines skinned positions. Units are the
 * file's own (glTF: metres), the hand is right, up is the file's (glTF: +Y). Matrices are 3 x 4, row-major:
 * m[0..3] is the first row, m[3], m[7], m[11] the translation. Quaternions are x, y, z, w.
 *
 * Words: a VERTEX is an entry of the file's vertex array, and all results keep that order. A POINT is a
 * place of the surface: vertices that share a position (texture seams) are one point. Simulation runs on
 * points. A CORNER is a vertex as used by one face.
 */
#ifndef CUTIS_CHARACTER_H
#define CUTIS_CHARACTER_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scale first, then rotate, then translate. */
typedef struct cutis_transform {
    float translation[3];
    float rotation[4]; /* unit quaternion x, y, z, w */
    float scale[3];
} cutis_transform;

/* A node of the skeleton: a bone's joint, or a node between or above joints. */
typedef struct cutis_joint {
    const char *name;       /* unique, never NULL or empty */
    int parent;             /* index of the parent, always lower than the own one; -1 for a root */
    cutis_transform rest;   /* local transform in the rest (bind) pose */
    cutis_transform idle;   /* local transform where a clip does not move it (the file's own) */
    float inverse_bind[12]; /* rest scene space -> joint space */
    bool deforms;           /* derived: some vertex has a weight for it */
    const char *role;       /* the bone of a humanoid that the file says it is ("leftUpperLeg" of VRM), or NULL */
} cutis_joint;

typedef enum cutis_path {
    CUTIS_PATH_TRANSLATION, /* 3 floats a key */
    CUTIS_PATH_ROTATION,    /* 4 floats a key, x y z w */
    CUTIS_PATH_SCALE,       /* 3 floats a key */
    CUTIS_PATH_MORPH        /* 1 float a key: the weight of morph `target` */
} cutis_path;

typedef enum cutis_interpolation {
    CUTIS_INTERPOLATION_STEP,
    CUTIS_INTERPOLATION_LINEAR, /* spherical for rotations */
    CUTIS_INTERPOLATION_CUBIC   /* Hermite; each key holds in-tangent, value, out-tangent */
} cutis_interpolation;

typedef struct cutis_track {
    int target; /* joint, or morph for CUTIS_PATH_MORPH */
    cutis_path path;
    cutis_interpolation interpolation;
    int key_count;       /* at least 1 */
    const float *times;  /* (key_count), seconds, ascending */
    const float *values; /* (key_count x components), x 3 for CUBIC */
} cutis_track;

typedef struct cutis_clip {
    const char *name; /* unique */
    float start, end; /* derived: first and last key, seconds */
    int track_count;
    const cutis_track *tracks;
    const float *focus; /* (3) where it reaches for a thing, in scene space; NULL: for none */
} cutis_clip;

/* A run of vertices and faces that came from one mesh primitive (glTF) or object (OBJ). */
typedef struct cutis_part {
    const char *name;     /* never NULL */
    const char *material; /* name, or "" */
    int first_vertex, vertex_count;
    int first_face, face_count;
} cutis_part;

/*
 * How parts of one material look, of files other than glTF (a glTF file is kept with its own materials). For writers
 * alone: no solver reads it.
 */
typedef struct cutis_material {
    const char *name;  /* as parts call it */
    float color[4];    /* base colour (linear, as in glTF) and opacity, 0..1; multiplied with the image */
    bool cutout;       /* the image's alpha cuts holes: hair, lashes */
    const void *image; /* (image_size bytes) a PNG or JPEG file of the base colour, or NULL */
    size_t image_size;
} cutis_material;

/* A painted value per vertex, 0..1: glTF attribute _CUTIS_STIFFNESS has the name "stiffness". */
typedef struct cutis_map {
    const char *name;
    const float *values; /* (vertex_count) */
} cutis_map;

typedef struct cutis_morph {
    const char *name;
    const float *deltas; /* (vertex_count x 3), added to the rest position */
} cutis_morph;

/*
 * A parameter as text. Keys: "stiffness", or "bones.NAME.stiffness" for one joint; "layers.stiffness" and
 * "layers.bones.NAME.stiffness" for one solver.
 */
typedef struct cutis_setting {
    const char *key;
    const char *value;
} cutis_setting;

/* Something the character touches: a mesh or primitive that moves with a joint (node) of the skeleton. */
typedef enum cutis_prop_role {
    CUTIS_PROP_COLLIDER, /* moved by its node alone */
    CUTIS_PROP_RIGID,    /* free rigid body */
    CUTIS_PROP_SOFT      /* free deformable body */
} cutis_prop_role;

typedef enum cutis_prop_shape {
    CUTIS_PROP_MESH,
    CUTIS_PROP_PLANE,   /* y = 0 of the node's space, solid below */
    CUTIS_PROP_SPHERE,  /* radius = size[0] */
    CUTIS_PROP_CAPSULE, /* radius = size[0], along y from -size[1] to size[1] */
    CUTIS_PROP_BOX      /* half extents = size */
} cutis_prop_shape;

typedef struct cutis_prop {
    const char *name;
    cutis_prop_role role;
    cutis_prop_shape shape;
    float size[3];
    int joint;                        /* the node that carries it; -1: fixed in the scene */
    float mass;                       /* kg; 0 = from the volume at 1000 kg per m3 */
    float friction;                   /* Coulomb coefficient, 0..2; negative = the solver's default */
    float restitution;                /* 0..1; negative = the solver's default */
    float stiffness;                  /* 0..1, for SOFT */
    int vertex_count, triangle_count; /* MESH only */
    const float *positions;           /* (vertex_count x 3), in the joint's space (scene space for -1) */
    const int *triangles;             /* (triangle_count x 3) */
} cutis_prop;

/*
 * All of a character. cutis_character_create reads the first section only; the second it derives.
 * Any array whose count is 0 may be NULL.
 */
typedef struct cutis_character {
    /* ---- given ---- */
    const char *name;
    int vertex_count;
    const float *positions; /* (vertex_count x 3), rest pose, scene space */
    int face_count;
    const int *face_first;       /* (face_count + 1) index of each face's first corner; polygons of 3 or more corners */
    const int *corners;          /* (corner_count) vertex of each corner */
    const float *texcoords;      /* (corner_count x 2), or NULL; v grows downwards as in glTF */
    const float *normals;        /* (vertex_count x 3) of the file, rest pose, scene space; 0: none; NULL: smooth ones */
    const int *influence_first;  /* (vertex_count + 1), or NULL when nothing is skinned */
    const int *influence_joints; /* (influence_first[vertex_count]) */
    const float *influence_weights; /* same shape; normalised by create */
    int joint_count;
    const cutis_joint *joints;
    int clip_count;
    const cutis_clip *clips;
    int part_count;
    const cutis_part *parts; /* NULL: one part */
    int map_count;
    const cutis_map *maps;
    int morph_count;
    const cutis_morph *morphs;
    int prop_count;
    const cutis_prop *props;
    int setting_count;
    const cutis_setting *settings; /* from the file itself (extras); a model's own settings win */
    int material_count;
    const cutis_material *materials; /* of parts that have one; may be fewer */
    int warning_count;
    const char *const *warnings; /* sentences; create adds its own */

    /* ---- derived ---- */
    int corner_count;
    int triangle_count;
    const int *triangles;        /* (triangle_count x 3) vertices; faces cut into triangles */
    const int *triangle_faces;   /* (triangle_count) the face each came from */
    const int *triangle_corners; /* (triangle_count x 3) the corner each came from */
    int point_count;
    const int *vertex_points;   /* (vertex_count) the point of each vertex */
    const int *point_vertices;  /* (point_count) one vertex of each point, the lowest */
    const int *point_triangles; /* (point_triangle_count x 3) triangles over points, collapsed ones left out */
    int point_triangle_count;
    float bounds_min[3], bounds_max[3];
    float size; /* length of the diagonal of the bounds: "the size" of every relative figure */
} cutis_character;

/*
 * Check and copy `given`, weld, triangulate and normalise. Owns all it holds; nothing of `given` is kept.
 * Fails with CUTIS_ERROR_DATA (empty, not finite, index out of range, cycle, ...) or CUTIS_ERROR_MEMORY.
 */
CUTIS_API cutis_result cutis_character_create(const cutis_character *given, const cutis_allocator *allocator,
                                              cutis_character **character, cutis_error *error);
CUTIS_API void cutis_character_destroy(cutis_character *character); /* NULL is allowed */

/*
 * For each joint of `one`, the joint of `two` that is the same part of the body by its name and place (forearm_l,
 * LeftForeArm, lowerarm.L; the second joint of the left thumb), or -1.
 */
CUTIS_API cutis_result cutis_character_match_joints(const cutis_character *one, const cutis_character *two,
                                                    int *matches, cutis_error *error);

/* Index of a name, or -1. */
CUTIS_API int cutis_character_find_joint(const cutis_character *character, const char *name);
CUTIS_API int cutis_character_find_clip(const cutis_character *character, const char *name);

/* A prop and where it stands. */
typedef struct cutis_placed_prop {
    cutis_prop prop; /* its joint is not looked at */
    float place[12]; /* its own space -> scene space, 3 x 4 */
} cutis_placed_prop;

/*
 * A copy of `character` with props behind its own. Each stands on a new joint without parent that carries its name and
 * that no clip moves. Names that are taken get a number. Fails with CUTIS_ERROR_DATA (a place that is flat or not
 * finite, a damaged mesh) or CUTIS_ERROR_MEMORY.
 */
CUTIS_API cutis_result cutis_character_add_props(const cutis_character *character, const cutis_placed_prop *props,
                                                 int prop_count, const cutis_allocator *allocator,
                                                 cutis_character **result, cutis_error *error);

/*
 * The surface of a prop of any shape as triangles, in its own space: a plane as a thin slab `plane` wide to each side.
 * Call with NULL arrays for the counts, then with positions (vertex_count x 3) and triangles (triangle_count x 3).
 */
CUTIS_API void cutis_prop_surface(const cutis_prop *prop, float plane, int *vertex_count, int *triangle_count,
                                  float *positions, int *triangles);

/* The surface's topology, over points. */
typedef struct cutis_topology {
    int point_count, triangle_count, edge_count;
    int component_count;
    int closed_component_count;    /* every edge has two triangles that face the same way */
    int boundary_edge_count;       /* edges of one triangle */
    int boundary_loop_count;       /* holes */
    int nonmanifold_edge_count;    /* edges of three or more triangles */
    int nonmanifold_point_count;   /* points whose triangles do not form one fan */
    int inconsistent_edge_count;   /* edges that their two triangles run in the same direction */
    int degenerate_triangle_count; /* of no area */
    int isolated_point_count;      /* used by no triangle */
    int quad_count;                /* faces of four corners */
    int self_intersection_count;   /* pairs of triangles at rest, neighbours excluded */
    double area;                   /* of all triangles */
    double volume;                 /* of the closed components, signed */
} cutis_topology;

CUTIS_API cutis_result cutis_character_topology(const cutis_character *character, const cutis_allocator *allocator,
                                                cutis_topology *topology, cutis_error *error);

/* ---- poses: joint_count 3 x 4 matrices, joint space -> scene space ---- */

/* The rest pose. joints: (joint_count x 12). */
CUTIS_API void cutis_pose_rest(const cutis_character *character, float *joints);
/* Clip `clip` at `time` seconds (clamped to the clip; -1 for no clip: the idle pose). */
CUTIS_API void cutis_pose_sample(const cutis_character *character, int clip, double time, float *joints);
/* The same, blended from the rest pose joint by joint: blend 0 is rest, 1 the clip. */
CUTIS_API void cutis_pose_blend(const cutis_character *character, int clip, double time, float blend, float *joints);
/* The morph weights of a clip at `time`: (morph_count), 0 for a morph that the clip does not move. */
CUTIS_API void cutis_pose_morphs(const cutis_character *character, int clip, double time, float *weights);

#ifdef __cplusplus
}
#endif
#endif
