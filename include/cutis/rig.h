/*
 * rig.h: create a skeleton and weights for a mesh, or new weights for an existing skeleton.
 *
 * Rigging reads the rest mesh of a character. It creates a second character with the same vertices, faces, parts and
 * texture coordinates. Every vertex of the result has weights that sum to 1, and `sentences` reports the method used
 * for each part. The same input gives the same bits. Any thread may call any function. This part of the library needs
 * AMD and LDL.
 */
#ifndef CUTIS_RIG_H
#define CUTIS_RIG_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cutis_rig_method {
    CUTIS_RIG_AUTO, /* heat; voxels where heat is unavailable */
    CUTIS_RIG_HEAT, /* bone heat (Baran and Popovic 2007); other points follow the nearest part */
    CUTIS_RIG_VOXEL /* geodesic voxel binding (Dionne and de Lasa 2013) everywhere */
} cutis_rig_method;

/*
 * A joint position given by the user: joint `name` of the template is at `position` (scene space). A position on the
 * surface means the middle of the body below it. Landmarks disambiguate the fit. Three or more are enough to place a
 * biped or quadruped when no limbs are detected.
 */
typedef struct cutis_rig_landmark {
    const char *name;
    float position[3];
} cutis_rig_landmark;

typedef struct cutis_rig_def {
    const cutis_character *character; /* read during the call only */
    const char *skeleton;             /* name of a template; NULL or "auto": the best fit */
    const cutis_character *pattern; /* skeleton to fit, or NULL: matched joints take the template's positions, unmatched
                                       joints follow their parents */
    const cutis_rig_landmark *landmarks; /* (landmark_count), or NULL */
    int landmark_count;
    const float *const *poses; /* (pose_count) of (vertex_count x 3): other poses of the mesh, or NULL; joints go where
                                  limbs bend most */
    int pose_count;
    bool y_up;      /* +Y is up, as in glTF; false: +Z is tried too */
    bool no_curves; /* do not use quad curves: vertex_curves is NULL, and limbs follow level sets only */
    cutis_rig_method method;
    int max_influences;               /* 1 to 8 joints per vertex; default 4 */
    int voxel_resolution;             /* 16 to 256 voxels along the longest side; default 96 */
    const cutis_jobs *jobs;           /* NULL: the calling thread */
    const cutis_allocator *allocator; /* NULL: malloc and free */
} cutis_rig_def;

/* Return a definition with 4 influences, 96 voxels and all other fields zero. */
CUTIS_API cutis_rig_def cutis_rig_def_default(void);

typedef struct cutis_rig {
    cutis_character *character; /* owned by the rig: the input mesh with the new skeleton and weights */
    const char *skeleton;       /* name of the template used; "" when the skeleton was kept */
    bool recognised;            /* false: a generic skeleton, or an ambiguous fit (template, facing or up axis) */
    bool z_up;                  /* the body was fitted with +Z up; false: with +Y up */
    float score; /* score of the template, 0 to 1; below 0.5 a generic skeleton along the limbs is used */
    int sentence_count;
    const char *const *sentences; /* report of the steps and findings, in order */
    int ring_count;               /* rings of the limbs, from level sets */
    const int *vertex_curves; /* (vertex_count) curve of each vertex, or -1; NULL when the skeleton was kept, or with
                                 no_curves */
    int closed_count;         /* closed curves: iso-parametric curves of quads, else level sets */
    int heat_points, voxel_points, follow_points; /* points weighted by each method */
    double topology_ms;                           /* time for the adjacency of points, triangles and quads */
    double curve_ms, skeleton_ms, weight_ms;      /* time of the three stages */
} cutis_rig;

/* Create skeleton and weights. Fails with ARGUMENT for an unknown template or landmark, DATA for an unusable mesh. */
CUTIS_API cutis_result cutis_rig_create(const cutis_rig_def *def, cutis_rig **rig, cutis_error *error);
/*
 * Keep the character's skeleton and clips and compute new weights. Joints that have weights get new ones; all joints do
 * when none has weights. def->skeleton and the landmarks are ignored.
 */
CUTIS_API cutis_result cutis_rig_bind(const cutis_rig_def *def, cutis_rig **rig, cutis_error *error);
CUTIS_API void cutis_rig_destroy(cutis_rig *rig); /* NULL is allowed */

/*
 * Convert posed shapes of a rigged character (count arrays of vertex_count x 3, scene space) for solver `curves`. The
 * result is a copy of the character with a clip "examples". The clip goes from the rest pose through the pose of each
 * shape, `seconds` apart. Each shape also becomes a morph target, which holds what the skeleton does not explain, in
 * the rest pose. Other clips and morph targets are removed. Fails with CUTIS_ERROR_DATA without a skeleton or for a
 * value that is not finite.
 */
CUTIS_API cutis_result cutis_rig_examples(const cutis_character *character, int count, const float *const *examples,
                                          double seconds, const cutis_allocator *allocator, cutis_character **made,
                                          cutis_error *error);

/* A skeleton template. */
typedef struct cutis_rig_template {
    const char *name;
    const char *summary; /* one line */
} cutis_rig_template;

CUTIS_API int cutis_rig_template_count(void);
CUTIS_API cutis_rig_template cutis_rig_template_at(int index);

#ifdef __cplusplus
}
#endif
#endif
