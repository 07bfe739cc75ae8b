/*
 * measure.h: how good a deformed character is, in figures. docs/CONVENTIONS.md defines each one.
 */
#ifndef CUTIS_MEASURE_H
#define CUTIS_MEASURE_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cutis_quality {
    int frames, vertices;
    double size;             /* of the rest pose */
    double volume_rest;      /* closed components, file units cubed; 0 when none is closed */
    double volume_error_max; /* largest |V/V_rest - 1| over frames; 0 when none is closed */
    double volume_error_mean;
    double volume_min_ratio;     /* smallest V/V_rest */
    int self_intersections_rest; /* pairs of triangles that share no point and intersect */
    int self_intersections_max;  /* over frames */
    double self_intersections_mean;
    double stretch_p99;         /* 99th percentile over edges and frames of max(l/l0, l0/l) */
    double area_distortion_p99; /* the same of triangle areas */
    double acceleration_rms;    /* second difference of positions x fps^2, over the size: 1/s^2 */
    double
        min_section_ratio;  /* smallest area of a cross-section around a bone over its rest value; NAN without bones */
    double penetration_max; /* deepest surface point inside the body, over the size */
    int non_finite;         /* values that are not finite */
    int worst_volume_frame, worst_intersection_frame, worst_section_frame, worst_penetration_frame; /* -1: none */
} cutis_quality;

/* Measure frames (frame_count x vertex_count x 3) against the rest pose. */
CUTIS_API cutis_result cutis_measure(const cutis_character *character, const float *frames, int frame_count, double fps,
                                     const cutis_jobs *jobs, const cutis_allocator *allocator, cutis_quality *quality,
                                     cutis_error *error);

/* ---- bounds on figures ---- */

/* A figure by its name. */
typedef struct cutis_figure {
    const char *name;
    double value; /* NAN: the result has none */
} cutis_figure;

enum { CUTIS_QUALITY_FIGURES = 12 };
/* The figures of a quality that can be bounded, by the names of docs/CONVENTIONS.md: (CUTIS_QUALITY_FIGURES). */
CUTIS_API void cutis_quality_figures(const cutis_quality *quality, cutis_figure *figures);

/* One bound: "volume_error_max<0.01". */
typedef struct cutis_check {
    char name[64];
    char relation[4]; /* "<", "<=", ">", ">=" or "=" */
    double bound;
    double value; /* NAN: the result has no such figure */
    bool passed;
} cutis_check;

/*
 * Parse bounds separated by commas. names: (name_count) the figures that may be bounded. *count: all there are, of
 * which at most capacity are written; at least one. ARGUMENT says what is wrong, with the nearest name.
 */
CUTIS_API cutis_result cutis_checks_parse(const char *text, const char *const *names, int name_count,
                                          cutis_check *checks, int capacity, int *count, cutis_error *error);
/* Look the figures up and decide. Returns the number of bounds that do not hold. */
CUTIS_API int cutis_checks_decide(cutis_check *checks, int check_count, const cutis_figure *figures, int figure_count);

/* Per frame, for plots: each array (frame_count), NULL to leave out. */
CUTIS_API cutis_result cutis_measure_frames(const cutis_character *character, const float *frames, int frame_count,
                                            const cutis_jobs *jobs, const cutis_allocator *allocator,
                                            double *volume_ratios, int *self_intersections, double *penetrations,
                                            cutis_error *error);

/* A bone that the motion drives into other flesh of the character, where no skin can lie well. */
typedef struct cutis_bone_in_flesh {
    int joint, into; /* the bone begins at joint; it is in the part that joint `into` moves most */
    int frames;      /* in which it is there */
    int worst_frame; /* the deepest of them */
    double depth;    /* deepest distance of the bone's line from that part's surface, over the size */
} cutis_bone_in_flesh;

/*
 * Bones in other flesh under these poses (frame_count x joint_count x 12), the flesh skinned linearly: by the order of
 * joint, then into. *count: all there are, of which at most capacity are written. Neighbours in the skeleton do not
 * count: flesh folds there.
 */
CUTIS_API cutis_result cutis_measure_bones(const cutis_character *character, const float *poses, int frame_count,
                                           const cutis_jobs *jobs, const cutis_allocator *allocator,
                                           cutis_bone_in_flesh *entries, int capacity, int *count, cutis_error *error);

#ifdef __cplusplus
}
#endif
#endif
