/*
 * volume_restore.h: gives a drawn mesh back the volume that its flat triangles lose in bends.
 *
 * The triangles of a coarse drawn mesh are chords of the simulation body's surface. Where flesh bends they lie deeper
 * in it than at rest, although every drawn point is where it belongs: the body keeps its volume, and what is shown
 * loses 2 to 6 %. Points of closed components are moved along their normals until each component has its rest volume:
 * where joints bend in the pose, and the less the thinner the flesh is.
 */
#ifndef SHOW_VOLUME_RESTORE_H
#define SHOW_VOLUME_RESTORE_H

#include "mesh/mesh.h"

/* A point that goes with a place of flesh: clothing, so that flesh does not come through it. */
typedef struct volume_tie {
    int point, corners[3];
    float weights[3]; /* sum to how far it goes with it */
} volume_tie;

typedef struct volume_restore {
    const cutis_character *character; /* the drawn one, for its skin weights */
    const mesh *mesh;                 /* drawn, without cracks */
    const int *joined;                /* (point_count) the point whose move each takes; NULL: its own */
    const float *gives;    /* (point_count) how far a point may go, scene units; 0: it stays, as all but flesh does */
    const float *follows;  /* (point_count) 0..1, how far a point that stays goes with the flesh nearest to it */
    const float *areas;    /* (point_count) squared length of the normal at rest, summed over triangles */
    const double *volumes; /* (component_count) six times that at rest; 0: the component is open, or no flesh, and stays
                            */
    int tie_count;
    const volume_tie *ties; /* of the points that follow */
} volume_restore;

/* Floats of scratch that volume_restore_run needs. */
size_t volume_restore_scratch_count(const volume_restore *f);
/* Find areas, volumes and ties, in `memory`; the other fields are given. */
cutis_result volume_restore_build(volume_restore *f, arena *scratch, arena *memory, cutis_error *error);
/*
 * Move the points (point_count x 3) that are shown in the pose of `skin` (joint_count x 12), to the volume at rest
 * times what joints scale it by. A component within 0.01 % of that is left to the bit. The scratch begins as a double
 * may.
 */
void volume_restore_run(const volume_restore *f, const float *skin, float *scratch, float *points);

#endif
