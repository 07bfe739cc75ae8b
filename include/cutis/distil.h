/*
 * distil.h: learn the flesh of a character from simulations, for players that cost about as much as skinning.
 *
 *     cutis_distil_def def = {.source.name = "hero.glb", .output = "hero_live.glb"};
 *     cutis_distil_result *result;
 *     if (cutis_distil(&def, &result, &error) == CUTIS_OK) ... result->report ... cutis_distil_destroy(result);
 *
 * A solver moves the character through sampled poses. A linear model predicts the result from joint rotations, from the
 * depths at which limbs lie in other flesh, and from the motion. The output is the source with the extension
 * CUTIS_flesh, which players/cutis_live.h plays. docs/reference/distil.md has the format and the equations.
 */
#ifndef CUTIS_DISTIL_H
#define CUTIS_DISTIL_H

#include "bake.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cutis_distil_stage {
    CUTIS_DISTIL_BUILD, /* the model; 0 of 1, then 1 of 1 */
    CUTIS_DISTIL_TEACH, /* done and total in simulated frames */
    CUTIS_DISTIL_FIT,   /* done and total in frames */
    CUTIS_DISTIL_WRITE
} cutis_distil_stage;

/* What the model may use. */
enum {
    CUTIS_DISTIL_POSE = 1,     /* rotations of joints */
    CUTIS_DISTIL_CONTACT = 2,  /* depths of limbs in other flesh */
    CUTIS_DISTIL_DYNAMICS = 4, /* oscillators */
    CUTIS_DISTIL_ALL = 7
};

enum {
    CUTIS_DISTIL_POSES = 600,       /* default number of simulated poses */
    CUTIS_DISTIL_POINTS = 300,      /* default number of surface points */
    CUTIS_DISTIL_PHONE_POINTS = 120 /* for phones */
};

typedef struct cutis_distil_def {
    const cutis_character *character; /* read during the call only; NULL: loaded from the source */
    cutis_file source;                /* the file it is loaded from, or was loaded from; its contents are kept */
    const char *const *clips;         /* (clip_count) clips whose poses are sampled; 0: all */
    int clip_count;
    const char *solver;            /* the teacher; NULL: chosen for the character */
    const cutis_setting *settings; /* (setting_count) of the teacher */
    int setting_count;
    int detail; /* of the teacher, as in cutis_model_def */
    int poses;  /* 8 to 100,000; 0 = CUTIS_DISTIL_POSES */
    int points; /* 16 to 20,000; 0 = CUTIS_DISTIL_POINTS; at most the points of the character are used */
    int terms;  /* CUTIS_DISTIL_...; 0 = all */
    const char
        *data; /* path: keeps finished simulations. A second run with the same definition continues; NULL: none */
    const char *output; /* .glb; NULL: only the result in memory */

    /* Called several times per second. Return false to stop. NULL: never stop. */
    bool (*progress)(void *context, cutis_distil_stage stage, long done, long total);
    void *context;
    const cutis_jobs *jobs; /* NULL: a temporary pool of `threads` threads */
    int threads;            /* 0 = one per processor; does not affect the result */
    const cutis_allocator *allocator;
} cutis_distil_def;

/* Errors of a part of the surface on simulations that the fit did not use, scene units. */
typedef struct cutis_distil_region {
    const char *joint; /* points that this joint moves most */
    int points;
    double skinning_rms; /* distance of linear skinning from the teacher */
    double rms;          /* distance of the learned flesh from the teacher */
} cutis_distil_region;

/* The result owns all of its data. */
typedef struct cutis_distil_result {
    const void *data; /* (size) the data of the extension, for players */
    size_t size;
    const char *solver;
    int poses, points, frames, test_frames; /* frames: simulated in all; test_frames: not used by the fit */
    double skinning_rms, rms;               /* as of a region, over all points and test frames */
    double skinning_p99, p99;               /* 99th percentiles of the same distances */
    int region_count;
    const cutis_distil_region *regions;
    double teach_seconds, fit_seconds;
    size_t file_bytes;  /* of the output */
    const char *report; /* JSON, one object */
} cutis_distil_result;

/*
 * Simulate, fit and write; destroy the result with cutis_distil_destroy. The file appears complete or not at all. Fails
 * with CUTIS_ERROR_INTERRUPTED when progress stops it. On every failure *result is NULL.
 */
CUTIS_API cutis_result cutis_distil(const cutis_distil_def *def, cutis_distil_result **result, cutis_error *error);
CUTIS_API void cutis_distil_destroy(cutis_distil_result *result); /* NULL is allowed */

/* A clip to play. */
typedef struct cutis_distil_play_def {
    const cutis_character *character; /* the one that the data was made for */
    const void *data;                 /* (size) */
    size_t size;
    int clip;          /* -1: the idle pose */
    double start, fps; /* frame i shows the clip at start + i / fps */
    int frame_count;
    const cutis_allocator *allocator;
} cutis_distil_play_def;

/*
 * Play a clip with the learned flesh: frames (frame_count x vertex_count x 3), and how far each pose is outside the
 * trained range, 0..1 (frame_count), NULL to skip it. The first frame is at rest.
 */
CUTIS_API cutis_result cutis_distil_play(const cutis_distil_play_def *def, float *frames, float *outside,
                                         cutis_error *error);

/*
 * Load the data from a file of cutis_distil; release it with cutis_distil_data_destroy. Fails with CUTIS_ERROR_DATA
 * when the file has none.
 */
CUTIS_API cutis_result cutis_distil_load(const char *path, const cutis_allocator *allocator, cutis_file *data,
                                         cutis_error *error);
CUTIS_API void cutis_distil_data_destroy(cutis_file *data, const cutis_allocator *allocator);

#ifdef __cplusplus
}
#endif
#endif
