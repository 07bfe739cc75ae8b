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
    double volume_union;   /* largest |U/U_rest - 1| over frames, U the volume with overlaps counted once */
    int worst_union_frame; /* -1: none */
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

enum { CUTIS_QUALITY_FIGURES = 13 };
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

/* ---- verdict: a result against plain skinning of the same poses ---- */

typedef enum cutis_level {
    CUTIS_GOOD,
    CUTIS_LOOK, /* somewhere, for some frames, worth a look */
    CUTIS_BAD   /* worse than plain skinning */
} cutis_level;

/* What is looked at. Lengths are over the size; all are the worst of any frame. "Reference" is linear skinning. */
typedef enum cutis_harm {
    CUTIS_HARM_DISPLACEMENT_MAX, /* distance of a point from the reference */
    CUTIS_HARM_DISPLACEMENT_P99, /* 99th percentile of that in a frame */
    CUTIS_HARM_ANGLE_MAX,        /* degrees by which a patch of skin is turned against the reference */
    CUTIS_HARM_ANGLE_P95,        /* 95th percentile of that over patches and frames */
    CUTIS_HARM_TORN,          /* share of near pairs of points more than 2.5 times as far apart as in the reference */
    CUTIS_HARM_GAP,           /* distance of the torn pair that is farthest apart */
    CUTIS_HARM_STRETCH,       /* 99th percentile in a frame of edges over the longer of reference and rest */
    CUTIS_HARM_BONE,          /* share of the innermost tissue that is outside of the skin; 0 where there is none */
    CUTIS_HARM_INTERSECTIONS, /* pairs of triangles that intersect beyond those of the reference, over those; some
                                 frames */
    CUTIS_HARM_SPIKE,         /* distance by which a point stands out of the surface of its neighbours */
    CUTIS_HARM_POP,           /* jump of a region between two frames */
    CUTIS_HARM_REST,          /* movement per frame of a region while the reference stands still */
    CUTIS_HARM_FLOOR,         /* depth below the lowest place that the reference ever reaches, along y */
    CUTIS_HARM_JITTER,        /* amplitude by which a region trembles from frame to frame */
    CUTIS_HARM_VOLUME,        /* |V / V_rest - 1| of the closed parts, where it is larger than the reference's */
    CUTIS_HARM_NON_FINITE,    /* values that are not finite */
    CUTIS_HARM_REPAIRS,       /* values that were not finite and were put back, as the solver told */
    CUTIS_HARM_UNCONVERGED,   /* share of substeps that did not converge, as the solver told */
    CUTIS_HARM_FALLBACK,      /* share of the skin that is shown nearer to the reference than the solver had it */
    CUTIS_HARM_DROPPED,       /* props that fell out of reach, see cutis_prop_state.dropped */
    CUTIS_HARM_SECTION,       /* share of its area at rest that the narrowest cross-section of a limb has lost */
    CUTIS_HARM_SLIDING,       /* distance that skin has slid under positions that stay; 0 where it does not */
    CUTIS_HARM_SLIDING_JUMP,  /* what this distance jumps between frames: its second difference */
    CUTIS_HARM_COUNT
} cutis_harm;

/* Name of a figure ("displacement_max") and the values above which it is worth a look, and bad. */
CUTIS_API const char *cutis_harm_name(cutis_harm harm);
CUTIS_API double cutis_harm_bound(cutis_harm harm, cutis_level level);

/* A figure that is out of its bounds. */
typedef struct cutis_finding {
    cutis_harm harm;
    cutis_level level;
    double value, bound;
    int first_frame, last_frame, worst_frame; /* around the worst; -1: of the result as a whole */
    int vertex, joint, part;                  /* where it is worst, the joint that moves it most; -1: not known */
    char text[320];                           /* "frames 12 to 18: left thumb, turned by 70 degrees ..." */
} cutis_finding;

/* What the result has that plain skinning has not. */
typedef struct cutis_gains {
    char text[400];                             /* "601 of 640 skin intersections removed; belly moves by ..." */
    char missed[240];                           /* what is no better than under plain skinning, or "" */
    int intersections, reference_intersections; /* in the sampled frame in which the reference has most */
    double movement;                            /* largest mean displacement of a patch, over the size */
    int movement_joint;                         /* the joint that moves that patch most; -1: none */
    char place[128];                            /* that patch in words, or "" */
    int volume_joint;                           /* the bend that keeps most flesh; -1: none */
    double volume, reference_volume; /* kept there, over rest, in the frame in which the reference loses most */
} cutis_gains;

typedef struct cutis_verdict {
    cutis_gains gained;
    cutis_level level;
    char text[520];                   /* "good: ...", "look at frames ...", "bad: ..." */
    double figures[CUTIS_HARM_COUNT]; /* NAN: not measured */
    int worst_frames[CUTIS_HARM_COUNT];
    int intersections, reference_intersections; /* in the frame that has the most, of those looked at */
    int finding_count;
    cutis_finding findings[CUTIS_HARM_COUNT]; /* worst first */
} cutis_verdict;

/* Judges frames as they come, so that a bake knows what it made. One thread at a time. */
typedef struct cutis_judge cutis_judge;

/* frame_count: that will come at most. jobs and character must outlive the judge. */
CUTIS_API cutis_result cutis_judge_create(const cutis_character *character, int frame_count, const cutis_jobs *jobs,
                                          const cutis_allocator *allocator, cutis_judge **judge, cutis_error *error);
/* The next frame, each (vertex_count x 3): the result, the reference, and the innermost tissue or NULL. */
CUTIS_API void cutis_judge_frame(cutis_judge *judge, const float *positions, const float *reference,
                                 const float *inner);
/* Length of the file's unit in metres, for lengths in words; 1 if it is never called. */
CUTIS_API void cutis_judge_unit(cutis_judge *judge, double metres);
/* Of the frame judged last: the share of the points that fell back to the reference, and a vertex of the worst. */
CUTIS_API void cutis_judge_fallback(cutis_judge *judge, double share, int vertex);
/* Of the frame judged last: how many props have been dropped, and one of them, an index of the character's. */
CUTIS_API void cutis_judge_dropped(cutis_judge *judge, int count, int prop);
/* Of the frame judged last: how far the skin has slid (vertex_count x 3), which positions do not show. */
CUTIS_API void cutis_judge_sliding(cutis_judge *judge, const float *sliding);
/* All frames seen. substeps may be 0: nothing is known of unconverged and repairs. */
CUTIS_API void cutis_judge_finish(cutis_judge *judge, long substeps, long unconverged, long repairs,
                                  cutis_verdict *verdict);
CUTIS_API void cutis_judge_destroy(cutis_judge *judge); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
