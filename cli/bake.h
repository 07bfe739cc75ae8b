/*
 * bake.h: one bake as a job, for the command `bake` and for whatever runs several (batch, compare).
 */
#ifndef CLI_BAKE_H
#define CLI_BAKE_H

#include "quality.h"

/* The seam that a loop may have: of the size, and in velocity of the RMS speed. */
static const double BAKE_SEAM_POSITION = 1e-4, BAKE_SEAM_VELOCITY = 1e-2;

typedef struct bake_job {
    const char *input;  /* file or built-in name */
    const char *output; /* its ending chooses the format; NULL: nothing is written */
    const char *solver; /* NULL: chosen for the character */
    const char *clip;   /* name, or NULL: the first */
    const char *motion; /* .bvh that becomes the clip, or NULL */
    const cutis_name_pair *map;
    int map_count;
    const char *const *examples; /* (example_count) files of the mesh in other poses, which become the clip */
    int example_count;
    double example_seconds; /* from one to the next */
    double fps;
    double substep;      /* seconds; 0: the solver's own */
    bool all_flesh;      /* nothing is carried along */
    double lead_in;      /* seconds; NAN: 0 for a solver without a past, else from its damping */
    const char *body;    /* cache whose surface takes the place of the body solver, or NULL */
    const char *outputs; /* names of outputs of the solver, separated by commas, or NULL: written to OUT.NAME.npy */
    const char *const *props; /* texts of --prop */
    int prop_count;
    const cutis_setting *settings;
    int setting_count;
    double tolerance;      /* .glb: largest error over the size */
    int targets;           /* .glb: at most */
    bool safe, exact;      /* .glb: positions only; one target a frame */
    bool loop;             /* write one period of the periodic motion */
    bool measure;          /* fill the result's quality; implied by checks */
    bool keep;             /* leave all frames in the result */
    quality_check *checks; /* decided in place */
    int check_count;
    int threads; /* 0: one per processor */
    bool quiet;  /* neither warnings nor progress */
} bake_job;

/* What came out. Times in seconds. */
typedef struct bake_result {
    int frames, vertices, threads;
    double fps, start, lead_in, substep;
    const char *solver;  /* in force */
    char *clip;          /* name; NULL for the idle pose */
    const char *element; /* what element_count counts */
    long element_count;
    double load_seconds, build_seconds, lead_in_seconds, total_seconds;
    double step_min, step_median, step_mean, step_max; /* of one frame */
    double part_ms[CUTIS_MAX_PARTS];                   /* of one frame, mean; named by the solver */
    double volume_min, volume_max;                     /* relative to rest, over frames; NAN when nothing is closed */
    double model_bytes, state_bytes, peak_bytes;
    long substeps, iterations, unconverged, repairs; /* over all frames, the lead-in included */
    int contacts_max;
    cutis_bone_in_flesh *bones; /* (bone_count) that the motion drives into other flesh */
    char **bone_names;          /* (bone_count x 2) of the joints */
    int bone_count;
    double residual_max;
    bool props_moved;     /* the solver moved free props, which a cache of the skin does not hold */
    bool has_loop;        /* --loop was asked for: */
    cutis_loop_info loop; /* of the period written */
    bool has_quality;
    cutis_quality quality;
    double *volume_ratios; /* (frames) */
    double *step_series;   /* (frames) seconds */
    float *positions;      /* (frames x vertices x 3), when they were to be kept */
    int failed_checks;
    bool has_morphs; /* a .glb was written: */
    cutis_bake_info morphs;
    uint64_t hash;  /* of all positions written */
    json_t *report; /* all of this, the parameters in force and the warnings, by the schema of docs */
} bake_result;

/* Run a job. Prints errors and returns an exit code; *result is only filled on CLI_OK, free it with bake_result_free.
 */
int bake_run(const bake_job *job, bake_result *result);
/* What a bake came to, in a few lines on stdout. */
void bake_print_summary(const bake_job *job, const bake_result *result);
void bake_result_free(bake_result *result);

#endif
