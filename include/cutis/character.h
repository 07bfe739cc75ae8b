/*
 * character.h: a mesh with skeleton, weights, clips and props. Every solver reads this struct.
 *
 * A loader (io.h), the zoo (zoo.h) or cutis_character_create (from a host's own arrays) makes a character. It is
 * read-only afterwards, so any number of threads may share it.
 *
 * Space: all positions are in scene space, the space in which glTF defines skinned positions. It is right-handed; unit
 * and up axis are the file's (glTF: metres, +Y). Matrices are 3 x 4, row-major: m[0..3] is the first row, m[3], m[7],
 * m[11] the translation. Quaternions are x, y, z, w.
 *
 * Terms: a VERTEX is an entry of the file's vertex array; all results use that order. A POINT is a position on the
 * surface: vertices that share a position (at texture seams) are one point. Simulation runs on points. A CORNER is one
 * use of a vertex by one face.
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
    int parent;             /* index of the parent, always lower than the joint's own index; -1 for a root */
    cutis_transform rest;   /* local transform in the rest (bind) pose */
    cutis_transform idle;   /* local transform while no clip moves the joint (the file's node transform) */
    float inverse_bind[12]; /* rest scene space -> joint space */
    bool deforms;           /* derived: at least one vertex has a weight for it */
    const char *role;       /* humanoid bone named by the file ("leftUpperLeg" in VRM), or NULL */
} cutis_joint;

typedef enum cutis_path {
    CUTIS_PATH_TRANSLATION, /* 3 floats per key */
    CUTIS_PATH_ROTATION,    /* 4 floats per key, x y z w */
    CUTIS_PATH_SCALE,       /* 3 floats per key */
    CUTIS_PATH_MORPH        /* 1 float per key: the weight of morph `target` */
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
    const float *focus; /* (3) position the motion reaches for, scene space; NULL: none */
} cutis_clip;

/* A range of vertices and faces from one mesh primitive (glTF) or object (OBJ). */
typedef struct cutis_part {
    const char *name;     /* never NULL */
    const char *material; /* name, or "" */
    int first_vertex, vertex_count;
    int first_face, face_count;
} cutis_part;

/*
 * A material of a file that is not glTF (a bake of a glTF file keeps the file's own materials). Only writers read it;
 * no solver does.
 */
typedef struct cutis_material {
    const char *name;  /* as in cutis_part.material */
    float color[4];    /* base colour (linear, as in glTF) and opacity, 0..1; multiplied with the image */
    bool cutout;       /* the image's alpha cuts holes: hair, lashes */
    const void *image; /* (image_size bytes) a PNG or JPEG file of the base colour, or NULL */
    size_t image_size;
} cutis_material;

/* A painted value per vertex, 0..1. The glTF attribute _CUTIS_STIFFNESS becomes the map "stiffness". */
typedef struct cutis_map {
    const char *name;
    const float *values; /* (vertex_count) */
} cutis_map;

typedef struct cutis_morph {
    const char *name;
    const float *deltas; /* (vertex_count x 3), added to the rest position */
} cutis_morph;

/*
 * A parameter as text. Keys: "fat_stiffness"; "bones.NAME.fat_stiffness" for one joint; "tissue.fat_stiffness" and
 * "tissue.bones.NAME.fat_stiffness" for one solver.
 */
typedef struct cutis_setting {
    const char *key;
    const char *value;
} cutis_setting;

/* An object that the character can touch: a mesh or primitive on a joint (node) of the skeleton. */
typedef enum cutis_prop_role {
    CUTIS_PROP_COLLIDER, /* moved only by its node */
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
    int joint;                        /* the node it is attached to; -1: fixed in the scene */
    float mass;                       /* kg; 0 = computed from the volume at 1000 kg/m3 */
    float friction;                   /* Coulomb coefficient, 0..2; negative = the solver's default */
    float restitution;                /* 0..1; negative = the solver's default */
    float stiffness;                  /* 0..1, for SOFT */
    int vertex_count, triangle_count; /* MESH only */
    const float *positions;           /* (vertex_count x 3), in the joint's space (scene space for -1) */
    const int *triangles;             /* (triangle_count x 3) */
} cutis_prop;

/*
 * A character. cutis_character_create reads only the first section and computes the second. Any array whose count is 0
 * may be NULL.
 */
typedef struct cutis_character {
    /* ---- given ---- */
    const char *name;
    int vertex_count;
    const float *positions; /* (vertex_count x 3), rest pose, scene space */
    int face_count;
    const int *face_first;      /* (face_count + 1) index of each face's first corner; polygons of 3 or more corners */
    const int *corners;         /* (corner_count) vertex of each corner */
    const float *texcoords;     /* (corner_count x 2), or NULL; v grows downwards as in glTF */
    const float *normals;       /* (vertex_count x 3) of the file, rest pose, scene space; 0: none; NULL: smooth ones */
    const int *influence_first; /* (vertex_count + 1), or NULL when nothing is skinned */
    const int *influence_joints;    /* (influence_first[vertex_count]) */
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
    const cutis_setting *settings; /* from the file (extras); the settings of cutis_model_def override them */
    int material_count;
    const cutis_material *materials; /* materials of parts; parts without material have none */
    int warning_count;
    const char *const *warnings; /* sentences; cutis_character_create appends its own */

    /* ---- derived ---- */
    int corner_count;
    int triangle_count;
    const int *triangles;        /* (triangle_count x 3) vertices; the faces, triangulated */
    const int *triangle_faces;   /* (triangle_count) the face each came from */
    const int *triangle_corners; /* (triangle_count x 3) the corner each came from */
    int point_count;
    const int *vertex_points;   /* (vertex_count) the point of each vertex */
    const int *point_vertices;  /* (point_count) one vertex of each point, the lowest */
    const int *point_triangles; /* (point_triangle_count x 3) triangles of points, without those that weld to a line or
                                   point */
    int point_triangle_count;
    float bounds_min[3], bounds_max[3];
    float size; /* diagonal of the bounds; "size" in relative quantities means this length */
} cutis_character;

/*
 * Check and copy `given`, weld, triangulate and normalise. The character owns copies of all arrays; `given` may be
 * freed afterwards. Fails with CUTIS_ERROR_DATA (empty, not finite, index out of range, cycle, ...) or
 * CUTIS_ERROR_MEMORY.
 */
CUTIS_API cutis_result cutis_character_create(const cutis_character *given, const cutis_allocator *allocator,
                                              cutis_character **character, cutis_error *error);
CUTIS_API void cutis_character_destroy(cutis_character *character); /* NULL is allowed */

/*
 * For each joint of `one`, find the joint of `two` for the same body part, by name and position in the skeleton:
 * forearm_l, LeftForeArm and lowerarm.L match. matches: (one->joint_count) joint of `two`, or -1.
 */
CUTIS_API cutis_result cutis_character_match_joints(const cutis_character *one, const cutis_character *two,
                                                    int *matches, cutis_error *error);

/* Return the index of a name, or -1. */
CUTIS_API int cutis_character_find_joint(const cutis_character *character, const char *name);
CUTIS_API int cutis_character_find_clip(const cutis_character *character, const char *name);

/* A prop and its placement. */
typedef struct cutis_placed_prop {
    cutis_prop prop; /* its joint is ignored */
    float place[12]; /* its own space -> scene space, 3 x 4 */
} cutis_placed_prop;

/*
 * Copy `character` and append props to its own. Each new prop gets a root joint of the same name, which no clip moves.
 * A number is appended to names that exist already. Fails with CUTIS_ERROR_DATA (a placement that is singular or not
 * finite, a damaged mesh) or CUTIS_ERROR_MEMORY.
 */
CUTIS_API cutis_result cutis_character_add_props(const cutis_character *character, const cutis_placed_prop *props,
                                                 int prop_count, const cutis_allocator *allocator,
                                                 cutis_character **result, cutis_error *error);

/*
 * Triangulate the surface of a prop of any shape, in its own space. A plane becomes a thin slab that extends `plane`
 * units to each side. Call first with NULL arrays to get the counts, then with positions (vertex_count x 3) and
 * triangles (triangle_count x 3).
 */
CUTIS_API void cutis_prop_surface(const cutis_prop *prop, float plane, int *vertex_count, int *triangle_count,
                                  float *positions, int *triangles);

/* Topology of the surface; all counts are over points. */
typedef struct cutis_topology {
    int point_count, triangle_count, edge_count;
    int component_count;
    int closed_component_count;    /* every edge has two triangles that face the same way */
    int boundary_edge_count;       /* edges of one triangle */
    int boundary_loop_count;       /* holes */
    int nonmanifold_edge_count;    /* edges of three or more triangles */
    int nonmanifold_point_count;   /* points whose triangles do not form one fan */
    int inconsistent_edge_count;   /* edges whose two triangles have opposite orientation */
    int degenerate_triangle_count; /* triangles of zero area */
    int isolated_point_count;      /* points that no triangle uses */
    int quad_count;                /* faces with four corners */
    int self_intersection_count;   /* intersecting pairs of triangles in the rest pose, neighbours excluded */
    double area;                   /* of all triangles */
    double volume;                 /* of the closed components, signed */
} cutis_topology;

CUTIS_API cutis_result cutis_character_topology(const cutis_character *character, const cutis_allocator *allocator,
                                                cutis_topology *topology, cutis_error *error);

/* ---- poses: joint_count 3 x 4 matrices, joint space -> scene space ---- */

/* Write the rest pose. joints: (joint_count x 12). */
CUTIS_API void cutis_pose_rest(const cutis_character *character, float *joints);
/* Write the pose of clip `clip` at `time` seconds, clamped to the clip. clip -1: the idle pose. */
CUTIS_API void cutis_pose_sample(const cutis_character *character, int clip, double time, float *joints);
/* The same, blended with the rest pose per joint: blend 0 is the rest pose, 1 the clip. */
CUTIS_API void cutis_pose_blend(const cutis_character *character, int clip, double time, float blend, float *joints);
/*
 * Convert local transforms (joint_count), as game engines have them, to a pose. A joint without a parent is in the
 * scene: multiply it by the place of the character in the host's world, or leave that to the host.
 */
CUTIS_API void cutis_pose_from_locals(const cutis_character *character, const cutis_transform *locals, float *joints);
/* Write the morph weights of a clip at `time` seconds: (morph_count), 0 for morphs without a track. */
CUTIS_API void cutis_pose_morphs(const cutis_character *character, int clip, double time, float *weights);

#ifdef __cplusplus
}
#endif
#endif
