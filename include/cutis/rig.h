/*
 * rig.h: a skeleton and weights for a mesh that has none, or better weights for a skeleton that is there.
 *
 * Rigging reads the rest mesh of a character and makes a second character with the same vertices, faces, parts and
 * texture coordinates. It never fails silently: every vertex of the result has weights that sum to 1, and `sentences`
 * says which method served where. The same input gives the same bits. Any thread may call; needs AMD and LDL.
 */
#ifndef CUTIS_RIG_H
#define CUTIS_RIG_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cutis_rig_method {
    CUTIS_RIG_AUTO, /* heat, and voxels where heat cannot reach */
    CUTIS_RIG_HEAT, /* bone heat (Baran and Popovic 2007); the rest follows the nearest part */
    CUTIS_RIG_VOXEL /* geodesic voxel binding (Dionne and de Lasa 2013) everywhere */
} cutis_rig_method;

/*
 * A place that the user knows better: joint `name` of the template stands at `position` (scene space). A place on the
 * surface stands for the middle of the body below it. Landmarks choose among the ways to see a body, and three or more
 * lay a biped or quadruped through a body without limbs to see.
 */
typedef struct cutis_rig_landmark {
    const char *name;
    float position[3];
} cutis_rig_landmark;

typedef struct cutis_rig_def {
    const cutis_character *character;    /* read during the call only */
    const char *skeleton;                /* name of a template; NULL or "auto": the one that fits best */
    const cutis_character *pattern;      /* NULL, or a rigged character whose skeleton shall be fitted: its joints go */
                                         /* where the template's of the same part go, and the others with them */
    const cutis_rig_landmark *landmarks; /* (landmark_count), or NULL */
    int landmark_count;
    const float *const
        *poses;     /* (pose_count) of (vertex_count x 3): other poses of the mesh, or NULL; joints are put */
    int pose_count; /* where the limbs bend most in any of them */
    bool y_up;      /* +Y is known to point up, as in glTF; false: +Z is tried too */
    bool no_curves; /* leave out the curves of quads: vertex_curves stays NULL, limbs follow their level sets alone */
    cutis_rig_method method;
    int max_influences;               /* 1 to 8 joints a vertex; default 4 */
    int voxel_resolution;             /* 16 to 256 voxels along the longest side; default 96 */
    const cutis_jobs *jobs;           /* NULL: the calling thread */
    const cutis_allocator *allocator; /* NULL: malloc and free */
} cutis_rig_def;

/* Four influences, 96 voxels, all else zero. */
CUTIS_API cutis_rig_def cutis_rig_def_default(void);

typedef struct cutis_rig {
    cutis_character *character; /* owned by the rig; mesh of the input, skeleton and weights of the rig */
    const char *skeleton;       /* name of the template that was used; "" when the skeleton was kept */
    bool recognised;            /* false: a tree of limbs, or a fit with a near rival: another kind of template */
                                /* (unless def->skeleton names one), facing or up axis */
    bool z_up;                  /* the body was fitted with +Z up; false: with +Y up */
    float score;                /* of the template, 0 to 1; below 0.5 the skeleton is a tree of limbs */
    int sentence_count;
    const char *const *sentences; /* what was done and found, in order */
    int ring_count;               /* rings of the limbs, by level sets */
    const int *vertex_curves;     /* (vertex_count) the curve that a vertex is on, or -1; NULL when kept or left out */
    int closed_count;             /* curves over edges: iso-parametric ones of quads, else of level sets */
    int heat_points, voxel_points, follow_points; /* points served by each method */
    double topology_ms;                           /* time of the adjacency of points, triangles and quads, */
    double curve_ms, skeleton_ms, weight_ms;      /* and of the three stages */
} cutis_rig;

/* Make skeleton and weights. Fails with ARGUMENT for an unknown template or landmark, DATA for an unusable mesh. */
CUTIS_API cutis_result cutis_rig_create(const cutis_rig_def *def, cutis_rig **rig, cutis_error *error);
/*
 * Keep the character's own skeleton and clips and make new weights for it. The joints that have weights now take part,
 * or all joints when nothing is weighted. def->skeleton and the landmarks are not looked at.
 */
CUTIS_API cutis_result cutis_rig_bind(const cutis_rig_def *def, cutis_rig **rig, cutis_error *error);
CUTIS_API void cutis_rig_destroy(cutis_rig *rig); /* NULL is allowed */

/*
 * Posed shapes of a rigged character (count of vertex_count x 3, scene space), for solver `curves`: the character with
 * a clip "examples" that goes from the rest pose through the pose of each, `seconds` apart, and a morph target each of
 * what the skeleton does not explain, in the rest pose. Its other clips and morph targets go. DATA without a skeleton
 * or for a value that is not finite.
 */
CUTIS_API cutis_result cutis_rig_examples(const cutis_character *character, int count, const float *const *examples,
                                          double seconds, const cutis_allocator *allocator, cutis_character **made,
                                          cutis_error *error);

/* The templates. */
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
