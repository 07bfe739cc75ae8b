/*
 * warp.h: how far the beams of a body have come at each place between two poses.
 */
#ifndef CURVES_WARP_H
#define CURVES_WARP_H

#include "character/skinning.h"
#include "solvers/solver.h"

typedef struct warp_work {
    const cutis_character *character;
    const mesh *mesh;
    const cutis_jobs *jobs;
    skinning points; /* of the mesh */
    bool closed;     /* some component has a volume */
    float *pose, *skin, *posed, *scratch;
} warp_work;

cutis_result warp_prepare(const solver_build *build, arena *memory, warp_work *work, cutis_error *error);

/*
 * The place, 0 to 1, that each of level_count levels (of point_count x 3, in the rest pose) stands for between two
 * poses (joint_count x 12): where dual-quaternion skinning of the level has the volume that lies as far between the
 * volumes of the ends. girth: (level_count) the progress to go by where the volume does not tell. share: 1 by all this,
 * 0 by time.
 */
void warp_find(warp_work *work, const float *levels, int level_count, const float *pose_from, const float *pose_to,
               const float *girth, double share, float *places);

#endif
