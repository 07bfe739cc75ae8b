/*
 * layers_step.h: the state of the solver `layers`, its scratch, and the steps of a substep, a file each.
 */
#ifndef SOLVERS_LAYERS_STEP_H
#define SOLVERS_LAYERS_STEP_H

#include "solvers/layers/layers.h"
#include "solvers/layers/layers_limits.h"
#include "solvers/solver_kit.h"

/* Paths and points that a thread takes at once; fixed, so that results do not depend on threads. */
enum { PATH_GRAIN = 2, POINT_GRAIN = 512 };

/* ---- memory (layers_state.c) ---- */

/* What changes; only floats. */
typedef struct layers_state {
    float *x[3], *v[3], *q[4]; /* (point_count x LAYERS) */
    float *pressures;          /* (volumes.count) what keeps the sub-volumes, see layers_volumes_keep */
    float *recovering;         /* (1) not 0: the skin is torn or tangled, and contact rests until it is sound */
    float *released;           /* (point_count) above 0: contact rests there, see layers_yield.c */
    float *turns;              /* (joint_count x 4) of joints against their parents, see skinning_dual_on */
    float *drive;              /* (drive.count x 3) skeleton's positions at the last substep, sizes */
    float *apart[3];           /* (point_count x LAYERS) from the simulated layers to those shown, layers_apart.c */
    float *volume_errors;      /* (volumes.count) change of each sub-volume over its rest value */
    float *outputs; /* (vertex_count x 3) of three layers, then (vertex_count) of contact, releases, volume errors */
} layers_state;

typedef struct layers_scratch {
    bvh_node *nodes; /* of the tree that counts intersections */
    layers_iterate iterate;
    float *old[3]; /* (point_count x LAYERS) positions at the start of the substep */
    float *drive;  /* (drive.count x 3) at its end */
    float *skinning;
    float *axis;       /* (point_count x 3) points of the bones' lines under linear skinning */
    float *frozen;     /* (frozen_count x 2 x 3) */
    float *skin_old;   /* (point_count x 3) */
    float *velocities; /* ((point_count + centre_count) x 3) */
    float *before;     /* (point_count x 3) skin before the volume loop */
    float *ties;       /* (point_count x LAYERS) stiffness of the tie to the skeleton, 1/s^2 */
    float *inverses;   /* (point_count) inverse mass of the skin in its column: how far an impulse moves it */
    float *free;       /* (point_count) 0: held by a contact */
    float *free_next;
    float *pressure;      /* (point_count) */
    float *shown[3];      /* (point_count x LAYERS) layers as they are shown: the arrays of the last iterate but one */
    int *prisms;          /* (triangle_count) triangles whose flesh may be turned over */
    uint8_t *prism_marks; /* (triangle_count) */
    float *walk;          /* poses of a reset */
    int *active;          /* (point_count) points in pairs or planes */
    uint8_t *marks;       /* (point_count) */
    contact_plane *planes;
    contact_pair *touches; /* pairs that press */
    int plane_capacity, touch_capacity;
    layers_volume_work volume;
    contact_work contact;
} layers_scratch;

/* Everything a substep works with. */
typedef struct layers_run {
    const layers_model *m;
    layers_state s;
    layers_scratch w;
    const solver_input *input;
    double h;
    float omega;       /* of the acceleration, in this iteration */
    bool walking;      /* to the pose of a reset, at rest: contact does not let go */
    bool impacts_left; /* the end of the substep is not proven free of crossings */
    int pair_count, plane_count, touch_count, active_count;
} layers_run;

size_t layers_state_size(const void *data);
size_t layers_scratch_size(const void *data);
layers_run layers_run_make(const void *data, void *state, void *scratch, const solver_input *input);
/* At rest in the rest pose, which the run's input brings. */
void layers_state_rest(layers_run *run);
/* Move everything by a rigid transform. */
void layers_teleport(const void *data, void *state, const float transform[12]);
/* Reset what is not finite; returns how many particles. */
int layers_repair(layers_run *run);
/* The skin to points, the other layers and the contact pressure to the outputs. */
void layers_results_write(layers_run *run, float *points);
bool layers_output(const void *data, const void *state, int index, cutis_output *output);

/* ---- what the skeleton asks for (layers_drive.c) ---- */

/* Positions (drive.count x 3) of skin, bone layer and fans' centres under the skeleton alone, in sizes. */
void layers_drive_find(layers_run *run, float *positions);
/* Muscles whose joint is bent swell: their skin moves away from the bone layer. (layers_fibres.c) */
void layers_fibres_contract(layers_run *run, float *positions);
/* Coordinate c of the particles of place k in a drive: between skin and bone layer by depth. */
static inline void layers_drive_column(const layers_model *m, const float *drive, int k, int c, float column[LAYERS])
{
    float skin = drive[3 * k + c];
    float way = drive[3 * (m->point_count + k) + c] - skin;
    for (int l = 0; l < LAYERS; l++) column[l] = skin + m->depths[LAYERS * k + l] * way;
}
/* Painted maps: frozen places stay with the skeleton, others are pressed in only so far. */
void layers_maps_project(layers_run *run, int begin, int end);

/* ---- velocities and damping (layers_velocity.c) ---- */

/* Where inertia takes the particles, and where the skeleton wants them. */
void layers_predict(layers_run *run);
/* From the motion of the substep: damping, divergence, friction and restitution. */
void layers_velocities_find(layers_run *run);

/* ---- contact (layers_contact.c) ---- */

/* The pairs of the skin, the planes of props and the dragged points of this substep. */
void layers_contacts_search(layers_run *run);
/* One pass over all of them. */
void layers_contacts_project(layers_run *run);
/* How many press. */
int layers_contacts_count(const layers_run *run);
/* Keep those that press, for friction after layers_contacts_resolve has searched anew, and their pressures. */
void layers_contacts_keep(layers_run *run);
/* Make the motion of the substep free of impacts; returns whether a zone stayed unsolved. *zone_points: in zones. */
bool layers_contacts_resolve(layers_run *run, int *zone_points);
/* The skin of the iterate (point_count x 3). */
void layers_skin_gather(const layers_run *run, float *positions);

/* ---- yielding (layers_yield.c) ---- */

/* Displaced skin (w.volume.positions) comes home slowly. */
void layers_home_slow(layers_run *run);
/* Let contact go where it pushed too far, and take hold again where it can. */
void layers_yield_update(layers_run *run);

/* ---- inner layers as they are shown (layers_apart.c) ---- */

/* Find w.shown from s.x: no prism between two layers is turned over. */
void layers_apart(layers_run *run);

/* ---- recovery (layers_recovery.c) ---- */

/* Whether the skin has to recover, or has recovered. */
void layers_recovery_update(layers_run *run);
/* A substep's way home. */
void layers_recovery_pull(layers_run *run);

/* ---- volume (layers_pressure.c) ---- */

/* How far volumes are kept, 0..1: not where the skeleton swells or shrinks. */
float layers_volume_share(const layers_run *run);
/* The pressures of the substeps before, as impulses in this one. */
void layers_pressures_apply(layers_run *run);
/* The skin (w.volume.positions) back to its volumes, and the pressures that do so. */
void layers_volumes_keep(layers_run *run);
/* No pressures while the skin recovers. */
void layers_pressures_clear(layers_run *run);
/* The skin from w.volume.positions back to the iterate; the layers below follow by depth. */
void layers_skin_scatter(layers_run *run);

#endif
