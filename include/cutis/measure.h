/* measure.h: quality measures of a deformed character. docs/reference/conventions.md defines each one. */
#ifndef CUTIS_MEASURE_H
#define CUTIS_MEASURE_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cutis_quality {
    int frames, vertices;
    double size;             /* of the rest pose */
    double volume_rest;      /* volume of closed components, file units cubed; 0 when none is closed */
    double volume_error_max; /* largest |V/V_rest - 1| over frames; 0 when none is closed */
    double volume_error_mean;
    double volume_min_ratio;     /* smallest V/V_rest */
    int self_intersections_rest; /* pairs of triangles that share no point and intersect */
    int self_intersections_max;  /* over frames */
    double self_intersections_mean;
    double stretch_p99;         /* 99th percentile over edges and frames of max(l/l0, l0/l) */
    double area_distortion_p99; /* the same of triangle areas */
    double acceleration_rms;    /* RMS second difference of positions x fps^2, divided by the size: 1/s^2 */
    double min_section_ratio; /* smallest ratio of a cross-section around a bone to its rest area; NAN without bones */
    double penetration_max;   /* depth of the deepest surface point inside the body, divided by the size */
    int non_finite;           /* values that are not finite */
    int worst_volume_frame, worst_intersection_frame, worst_section_frame, worst_penetration_frame; /* -1: none */
    double volume_union;   /* largest |U/U_rest - 1| over frames; U is the volume that counts overlaps once */
    int worst_union_frame; /* -1: none */
} cutis_quality;

/* Measure frames (frame_count x vertex_count x 3) against the rest pose. */
CUTIS_API cutis_result cutis_measure(const cutis_character *character, const float *frames, int frame_count, double fps,
                                     const cutis_jobs *jobs, const cutis_allocator *allocator, cutis_quality *quality,
                                     cutis_error *error);

/* ---- bounds on measures ---- */

/* A named value. */
typedef struct cutis_figure {
    const char *name;
    double value; /* NAN: not available */
} cutis_figure;

enum { CUTIS_QUALITY_FIGURES = 13 };
/* List the values that can be bounded, with the names of docs/reference/conventions.md: (CUTIS_QUALITY_FIGURES). */
CUTIS_API void cutis_quality_figures(const cutis_quality *quality, cutis_figure *figures);

/* One bound: "volume_error_max<0.01". */
typedef struct cutis_check {
    char name[64];
    char relation[4]; /* "<", "<=", ">", ">=" or "=" */
    double bound;
    double value; /* NAN: not available */
    bool passed;
} cutis_check;

/*
 * Parse bounds separated by commas. names: (name_count) names that may be bounded. *count: the number of bounds, at
 * least 1; at most capacity are written. Fails with CUTIS_ERROR_ARGUMENT and suggests the nearest name.
 */
CUTIS_API cutis_result cutis_checks_parse(const char *text, const char *const *names, int name_count,
                                          cutis_check *checks, int capacity, int *count, cutis_error *error);
/* Evaluate the bounds. Returns the number of bounds that fail. */
CUTIS_API int cutis_checks_decide(cutis_check *checks, int check_count, const cutis_figure *figures, int figure_count);

/* Measure every frame, for plots. Each array is (frame_count), or NULL to skip it. */
CUTIS_API cutis_result cutis_measure_frames(const cutis_character *character, const float *frames, int frame_count,
                                            const cutis_jobs *jobs, const cutis_allocator *allocator,
                                            double *volume_ratios, int *self_intersections, double *penetrations,
                                            cutis_error *error);

/* A bone that the motion drives into other flesh of the character. No solver can place skin well there. */
typedef struct cutis_bone_in_flesh {
    int joint, into; /* the bone starts at `joint`; it is inside the part dominated by joint `into` */
    int frames;      /* number of frames with the bone inside */
    int worst_frame; /* frame of the greatest depth */
    double depth;    /* greatest depth of the bone below that part's surface, divided by the size */
} cutis_bone_in_flesh;

/*
 * Find bones inside other flesh for poses (frame_count x joint_count x 12), with linearly skinned flesh. Entries are
 * sorted by joint, then into. *count: the number found, of which at most capacity are written. Neighbours in the
 * skeleton are excluded because flesh folds there.
 */
CUTIS_API cutis_result cutis_measure_bones(const cutis_character *character, const float *poses, int frame_count,
                                           const cutis_jobs *jobs, const cutis_allocator *allocator,
                                           cutis_bone_in_flesh *entries, int capacity, int *count, cutis_error *error);

/* ---- verdict: compare a result with linear-blend skinning of the same poses ---- */

typedef enum cutis_level {
    CUTIS_GOOD,
    CUTIS_LOOK, /* inspect some frames */
    CUTIS_BAD   /* worse than linear-blend skinning */
} cutis_level;

/*
 * The measures of a verdict. Lengths are divided by the size. Each is the worst of all frames. "Reference" is
 * linear-blend skinning.
 */
typedef enum cutis_harm {
    CUTIS_HARM_DISPLACEMENT_MAX, /* distance of a point from the reference */
    CUTIS_HARM_DISPLACEMENT_P99, /* 99th percentile of that in a frame */
    CUTIS_HARM_ANGLE_MAX,        /* rotation of a patch of skin relative to the reference, degrees */
    CUTIS_HARM_ANGLE_P95,        /* 95th percentile of that over patches and frames */
    CUTIS_HARM_TORN,          /* share of nearby pairs of points more than 2.5 times as far apart as in the reference */
    CUTIS_HARM_GAP,           /* distance of the torn pair that is farthest apart */
    CUTIS_HARM_STRETCH,       /* 99th percentile per frame of edge length / max(reference length, rest length) */
    CUTIS_HARM_BONE,          /* share of the innermost tissue outside the skin; 0 without inner tissue */
    CUTIS_HARM_INTERSECTIONS, /* intersecting triangle pairs in excess of the reference's, divided by the reference's;
                                 sampled frames */
    CUTIS_HARM_SPIKE,         /* distance of a point from the surface of its neighbours */
    CUTIS_HARM_POP,           /* jump of a region between two frames */
    CUTIS_HARM_REST,          /* movement of a region per frame while the reference is still */
    CUTIS_HARM_FLOOR,         /* depth below the lowest point of the reference in any frame, along y */
    CUTIS_HARM_JITTER,        /* amplitude of a region's vibration between frames */
    CUTIS_HARM_VOLUME,        /* |V / V_rest - 1| of the closed parts, where larger than the reference's */
    CUTIS_HARM_NON_FINITE,    /* values that are not finite */
    CUTIS_HARM_REPAIRS,       /* non-finite values that the solver reset, from its statistics */
    CUTIS_HARM_UNCONVERGED,   /* share of substeps that did not converge, from the solver's statistics */
    CUTIS_HARM_FALLBACK,      /* share of the skin that is clamped towards the reference */
    CUTIS_HARM_DROPPED,       /* props that fell out of range, see cutis_prop_state.dropped */
    CUTIS_HARM_SECTION,       /* largest relative loss of area of a limb's cross-section */
    CUTIS_HARM_SLIDING,       /* sliding distance of the skin that positions do not show; 0 without sliding */
    CUTIS_HARM_SLIDING_JUMP,  /* second difference of the sliding distance over frames */
    CUTIS_HARM_CORRECTION,    /* how far contact moves a limb away from the clip, beyond what bones in flesh need */
    CUTIS_HARM_CORRECTION_JUMP, /* second difference of that over frames, less the clip's own step */
    CUTIS_HARM_COUNT
} cutis_harm;

/* Name of a measure ("displacement_max"), and the bound above which its level is CUTIS_LOOK or CUTIS_BAD. */
CUTIS_API const char *cutis_harm_name(cutis_harm harm);
CUTIS_API double cutis_harm_bound(cutis_harm harm, cutis_level level);

/* A measure that exceeds a bound. */
typedef struct cutis_finding {
    cutis_harm harm;
    cutis_level level;
    double value, bound;
    int first_frame, last_frame, worst_frame; /* range around the worst frame; -1: concerns the whole result */
    int vertex, joint, part;                  /* the worst vertex, its dominant joint and its part; -1: unknown */
    char text[320];                           /* "frames 12 to 18: left thumb, turned by 70 degrees ..." */
} cutis_finding;

/* Improvements over linear-blend skinning. */
typedef struct cutis_gains {
    char text[400];                             /* "601 of 640 skin intersections removed; belly moves by ..." */
    char missed[240];                           /* what is no better than with linear-blend skinning, or "" */
    int intersections, reference_intersections; /* in the sampled frame in which the reference has the most */
    double movement;                            /* farthest that a patch moves against the reference, over the size */
    int movement_joint;                         /* the dominant joint of that patch; -1: none */
    char place[128];                            /* description of that patch, or "" */
    int volume_joint; /* the bend that retains the most volume relative to the reference; -1: none */
    double volume,
        reference_volume; /* volume there, divided by rest, in the frame in which the reference loses the most */
} cutis_gains;

typedef struct cutis_verdict {
    cutis_gains gained;
    cutis_level level;
    char text[520];                   /* "good: ...", "look at frames ...", "bad: ..." */
    double figures[CUTIS_HARM_COUNT]; /* NAN: not measured */
    int worst_frames[CUTIS_HARM_COUNT];
    int intersections, reference_intersections; /* in the sampled frame that has the most */
    int finding_count;
    cutis_finding findings[CUTIS_HARM_COUNT]; /* worst first */
} cutis_verdict;

/* Judges frames one by one, during a bake. Only one thread may use it at a time. */
typedef struct cutis_judge cutis_judge;

/* Create a judge for at most frame_count frames. jobs and character must outlive it. */
CUTIS_API cutis_result cutis_judge_create(const cutis_character *character, int frame_count, const cutis_jobs *jobs,
                                          const cutis_allocator *allocator, cutis_judge **judge, cutis_error *error);
/* Add a frame, each (vertex_count x 3): the result, the reference, and the innermost tissue or NULL. */
CUTIS_API void cutis_judge_frame(cutis_judge *judge, const float *positions, const float *reference,
                                 const float *inner);
/* Set the length of the file's unit in metres, for lengths in text; the default is 1. */
CUTIS_API void cutis_judge_unit(cutis_judge *judge, double metres);
/* For the last frame: set the share of points clamped towards the reference, and a vertex of the worst. */
CUTIS_API void cutis_judge_fallback(cutis_judge *judge, double share, int vertex);
/* For the last frame: set the number of dropped props, and the index of one of them. */
CUTIS_API void cutis_judge_dropped(cutis_judge *judge, int count, int prop);
/* For the last frame: set the displacement of sliding skin (vertex_count x 3), which positions do not show. */
CUTIS_API void cutis_judge_sliding(cutis_judge *judge, const float *sliding);
/*
 * What contact does to the pose in a frame that was judged: the figures of the two measures, each with its point (-1:
 * none).
 */
CUTIS_API void cutis_judge_correction(cutis_judge *judge, int frame, double way, int way_point, double jump,
                                      int jump_point);
/* Compute the verdict after all frames. substeps 0 means that unconverged and repairs are unknown. */
CUTIS_API void cutis_judge_finish(cutis_judge *judge, long substeps, long unconverged, long repairs,
                                  cutis_verdict *verdict);
CUTIS_API void cutis_judge_destroy(cutis_judge *judge); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
