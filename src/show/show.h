/*
 * show.h: the drawn mesh at one instant of a simulation.
 *
 *     drawn vertex = linear skinning + amount x bounded deviation of the simulation + morphs
 *
 * In this order, each once per instant: linear skinning; the deviation of the simulated points, interpolated between
 * the ends of their substep (embedding.h); the volume that flat triangles lose (volume_restore.h); crossing triangles
 * (crossings.h); the bound against skinning (deviation.h); normals. Nothing here acts on the simulation.
 */
#ifndef SHOW_SHOW_H
#define SHOW_SHOW_H

#include "character/normals.h"
#include "show/crossings.h"
#include "show/deviation.h"
#include "show/embedding.h"
#include "show/volume_restore.h"

/* What is drawn of a character; the same for all instants. */
typedef struct display {
    const cutis_character *character;
    const sim_body *body;      /* whose points are simulated; NULL: the drawn points are */
    skinning vertices;         /* linear, of the drawn vertices */
    skinning points;           /* linear, of the drawn points, where there is a body or a bound */
    const float *amounts;      /* (vertex_count) painted factor of the amount; NULL: 1 */
    normal_frames normals;     /* the file's own */
    bool restores_volume;      /* of closed meshes */
    volume_restore volume;     /* if so */
    crossing_repair crossings; /* without a mesh: crossings stay */
    deviation_bound bound;     /* without points: nothing is bounded */
} display;

/* An instant, and the two ends of the substep that it is in. */
typedef struct display_instant {
    const float *joints;         /* pose of the instant (joint_count x 12) */
    const float *joints_ends[2]; /* poses at the ends */
    const float *points_ends[2]; /* points at the ends: drawn, or of the body */
    bool of_body;
    float alpha;         /* of the way from the first end to the second; 1: exactly the second */
    float amount;        /* of the deviation from skinning: 0 skinning, 1 as simulated, 2 twice */
    const float *morphs; /* weights (morph_count) of morphs to be added; NULL: none */
    const float *rest;   /* (vertex_count x 3) rest positions of the points; NULL: the character's */
    deviation_slack slack;
    const cutis_jobs *jobs;
} display_instant;

typedef struct display_stats {
    int limited, limited_vertex; /* as in cutis_step_stats */
    int repairs;                 /* morph weights that are not finite */
} display_stats;

/*
 * Prepare the display, whose arrays are in `memory`. body: NULL or one whose character is not NULL. bounded: against
 * skinning, and crossing triangles of a body are moved apart. The display must stay in its place; the character, the
 * body and the cracks must outlive it.
 */
cutis_result display_build(display *d, const cutis_character *character, const drawn_cracks *cracks,
                           const sim_body *body, bool bounded, const cutis_jobs *jobs, arena *memory,
                           cutis_error *error);
/* Floats of scratch that the functions below need; the scratch is aligned as a double. */
size_t display_scratch_count(const display *d);
/* Drawn points (point_count x 3) of a simulation body at the end of a substep, in the pose of `skin`. */
void display_points(const display *d, const float *skin, const float *body_points, float *scratch,
                    const cutis_jobs *jobs, float *points);
/* The vertices (vertex_count x 3) of an instant. */
display_stats display_run(const display *d, const display_instant *instant, float *scratch, float *vertices);
/*
 * Scale the deviation of vertices (vertex_count x 3) from linear skinning by an amount, and by the painted factors.
 * rest: morphed rest positions; NULL: the character's.
 */
void display_scale(const display *d, const float *skin, const float *rest, float amount, float *scratch,
                   const cutis_jobs *jobs, float *vertices);

#endif
