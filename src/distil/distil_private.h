/*
 * distil_private.h: what the files of src/distil share.
 *
 * distil.c is the order of the work: joints and points (distil_points.c), poses (distil_poses.c), simulations
 * (distil_teach.c), the fit and its error (distil_fit.c). distil_play.c plays the result.
 */
#ifndef DISTIL_DISTIL_PRIVATE_H
#define DISTIL_DISTIL_PRIVATE_H

#include "base/core.h"
#include "cutis/distil.h"
#include "math/math3.h"

#include "../../players/cutis_live.h"

/* Frames per second of the simulations. */
#define DISTIL_FPS 30.0
/* Frames from one sampled pose to the next. */
enum { DISTIL_POSE_FRAMES = 10 };

/* The joints that deform a character, as players see them. */
typedef struct distil_joints {
    int count;
    int *joints;  /* (count) joint of the character */
    int *listed;  /* (character's joint_count) index in the list, of a joint or of its nearest listed ancestor; -1 */
    int *parents; /* (count) nearest listed ancestor, -1 */
    int *limbs;   /* (count) first joint of its limb, index in the list */
} distil_joints;

cutis_result distil_joints_find(const cutis_character *character, arena *memory, distil_joints *joints,
                                cutis_error *error);
/* Matrices of the listed joints from a pose of all joints: (count x 12). */
void distil_skin(const cutis_character *character, const distil_joints *joints, const float *pose, float *skin);
/* The matrix by which linear skinning moves a vertex. skin: (count x 12) of the listed joints. */
void distil_vertex_matrix(const cutis_character *character, const distil_joints *joints, const float *skin, int vertex,
                          double m[12]);

typedef struct distil {
    const cutis_distil_def *def;
    const cutis_character *character;
    cutis_character *owned;
    cutis_distil_result *result;
    const char *solver;
    int point_limit;
    const int *clips; /* (clip_count) whose poses are sampled */
    int clip_count;

    distil_joints joints;
    int point_count;
    int *vertices; /* (point_count) */

    /* the data of the players, and a player of it */
    char *data;
    size_t size;
    float *low, *high, *scales, *rest_depths, *turn_limits, *turn_scales; /* in the data */
    int16_t *coefficients, *turns;
    cutis_live live;
    float *live_memory;

    /* simulations: takes of equal length; the last test_takes are not used by the fit */
    int take_count, take_poses, take_frames, test_takes;
    float *skins;  /* (take_count x take_frames x joints.count x 12) the pose that was asked for */
    float *shown;  /* the same of the pose that the teacher shows */
    float *places; /* (take_count x take_frames x point_count x 3) where the teacher shows the points */

    bool stopped;
    cutis_pool *pool;
    const cutis_jobs *jobs;
    arena *memory;  /* of the result */
    arena *scratch; /* of the call */
    cutis_error *error;
} distil;

bool distil_progress(distil *d, cutis_distil_stage stage, long done, long total);

/* Choose points and make the data, without coefficients. */
cutis_result distil_points_make(distil *d);

/* A take: rotations of all joints at each of its poses; the first is the rest pose. */
typedef struct distil_take {
    const cutis_character *character;
    int pose_count;
    quat *rotations; /* (pose_count x joint_count) local */
    vec3 *roots;     /* (pose_count) displacement of root joints */
} distil_take;

/* Sample the poses of take `index`. */
cutis_result distil_take_sample(const distil *d, int index, arena *memory, distil_take *take);
/* cutis_motion.sample of a take. */
void distil_take_pose(void *take, double time, float *joints);

/* Simulate all takes. */
cutis_result distil_teach(distil *d);
/* Fit how contact turns joints; then the offsets in the pose so corrected. */
cutis_result distil_fit_turns(distil *d);
cutis_result distil_fit(distil *d);
/* Measure the error on the test takes. */
cutis_result distil_judge(distil *d);

#endif
