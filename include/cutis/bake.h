/*
 * bake.h: simulate a character through a clip in one call: load, build, simulate, measure, report, write.
 *
 *     cutis_bake_def def = cutis_bake_def_default();
 *     def.source.name = "hero.glb";
 *     def.output = "hero_baked.glb";
 *     cutis_bake_result *result;
 *     if (cutis_bake(&def, &result, &error) == CUTIS_OK) ... result->report ... cutis_bake_destroy(result);
 *
 * Every front end (program, Blender, Python, browser) uses this call. There is no global state, so several threads may
 * bake at the same time. Files appear complete or not at all.
 */
#ifndef CUTIS_BAKE_H
#define CUTIS_BAKE_H

#include "io.h"
#include "measure.h"
#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the definition ---- */

/* An input file: a path, or bytes in memory. */
typedef struct cutis_file {
    const char *name; /* path, or with data a file name; the extension selects the format. NULL: no file */
    const void *data; /* (size), or NULL: read the path */
    size_t size;
} cutis_file;

/* A prop to add to the scene. */
typedef struct cutis_prop_request {
    const char *name;  /* a built-in prop (see zoo.h), or the path of a .glb or .gltf */
    bool placed;       /* use `position`; false: a built-in prop goes to the clip's focus, a file keeps its position */
    float position[3]; /* scene space; for a file: offset from its position */
    double scale;      /* above 0; 0 = 1 */
} cutis_prop_request;

/* A blow at a time of the clip. */
typedef struct cutis_bake_blow {
    double time; /* seconds in the clip */
    cutis_impulse impulse;
} cutis_bake_blow;

/*
 * A value at an instant of the clip: of "amount" (cutis_step_input.amount). Values are linear between keys, and
 * constant before the first and behind the last. Keys of one name are in the order of their times.
 */
typedef struct cutis_bake_key {
    const char *name;
    double time; /* seconds of the clip */
    double value;
} cutis_bake_key;

typedef enum cutis_bake_stage {
    CUTIS_BAKE_LOAD,    /* the character, its motion and props; reported once, as 0 of 1 */
    CUTIS_BAKE_BUILD,   /* the model; reported before (0 of 1) and after; no file is open in between */
    CUTIS_BAKE_LEAD_IN, /* from the rest pose to the clip's first pose; done and total in substeps */
    CUTIS_BAKE_LOOP,    /* the search for the periodic motion */
    CUTIS_BAKE_FRAMES,  /* done and total in frames */
    CUTIS_BAKE_MEASURE, /* quality, bones, verdict */
    CUTIS_BAKE_WRITE    /* files */
} cutis_bake_stage;

typedef enum cutis_bake_message {
    CUTIS_BAKE_NOTE,   /* an automatic choice, such as a skeleton for a bare mesh */
    CUTIS_BAKE_WARNING /* the result contains the same sentences */
} cutis_bake_message;

typedef struct cutis_bake_def {
    /* ---- the character: `character`, `source`, or both ---- */
    const cutis_character *character; /* read during the call only; NULL: loaded from the source */
    cutis_file source; /* the file it is loaded from, or was loaded from; a .glb output keeps all of its contents */

    /* ---- the motion ---- */
    const char *clip;  /* name; NULL: the clip of `motion`, else the first */
    cutis_file motion; /* a .bvh, or another character's file, that becomes the clip; a bare mesh gets a skeleton */
    const cutis_name_pair *map; /* (map_count) matches of motion joints and character joints */
    int map_count;
    const cutis_file *examples; /* (example_count) the mesh in other poses, as the clip for solver curves */
    int example_count;
    double example_seconds; /* seconds between examples; 0 = 1 */
    cutis_file surface;     /* a cache whose frames replace the body solver; for surface solvers */
    double fps;             /* frames per second; 0 = 30 */
    double start, end;      /* seconds of the clip; NAN (default): its first and last key */
    double lead_in;         /* seconds; NAN (default): cutis_bake_clip_lead_in; 0: start at rest in the first pose */
    bool loop;              /* bake one period of the periodic motion; excludes start and end */
    const cutis_prop_request *props; /* (prop_count) in addition to the character's own */
    int prop_count;

    /* ---- the simulation ---- */
    const char *solver;            /* name or stack ("tissue+slide"); NULL: chosen for the character */
    const cutis_setting *settings; /* (setting_count), as in cutis_model_def */
    int setting_count;
    double substep;               /* seconds; 0 = the solver's default */
    int detail;                   /* points of the simulation body, as in cutis_model_def */
    float acceleration[3];        /* constant, as in cutis_step_input; scene units/s2 */
    float wind[3];                /* constant, as in cutis_step_input; scene units/s */
    const cutis_bake_blow *blows; /* (blow_count); excludes loop */
    int blow_count;
    const cutis_bake_key *keys; /* (key_count) values over time; with a loop, the same at both ends of the period */
    int key_count;

    /* ---- the output ---- */
    const char *output;  /* path; the extension selects the format (.glb, or a cache, see io.h); NULL: no file */
    const char *format;  /* with output NULL: ".glb", ".npy", ...: the result holds the files in memory; NULL: none */
    const char *outputs; /* names of solver outputs, separated by commas; each becomes OUTPUT.NAME.npy; NULL: none */
    double tolerance;    /* .glb: maximum distance of a vertex, divided by the size; 0 = 0.001 */
    int targets;         /* .glb: maximum number of morph targets, 1 to 32; 0 = 32 */
    bool positions_only; /* .glb: targets without normals */
    bool exact;          /* .glb: one target per frame */
    bool keep_frames;    /* keep all frames in the result */
    bool measure;        /* compute the result's quality; implied by checks */
    const char *checks;  /* bounds: "volume_error_max<0.01,unconverged<=0"; NULL: none */
    bool no_verdict;     /* do not compare the frames with linear-blend skinning */
    bool partial;        /* when progress stops the bake during the frames: write the frames so far */

    /* ---- the host ---- */
    /* Called several times per second. total 0: unknown. Return false to stop. NULL: never stop. */
    bool (*progress)(void *context, cutis_bake_stage stage, long done, long total);
    /* Called with each note and warning as it occurs; NULL: none. */
    void (*message)(void *context, cutis_bake_message kind, const char *text);
    void *context;          /* passed to both functions */
    const cutis_jobs *jobs; /* NULL: a temporary pool of `threads` threads */
    int threads;            /* 0 = one per processor; does not affect the result */
    const cutis_allocator *allocator;
} cutis_bake_def;

/* Return a definition with all fields NULL, 0 or false; NAN where the field says so. */
CUTIS_API cutis_bake_def cutis_bake_def_default(void);

/* ---- the result ---- */

/* Largest seam of a closed loop: position divided by the size, velocity divided by the RMS speed. */
#define CUTIS_BAKE_SEAM_POSITION 1e-4
#define CUTIS_BAKE_SEAM_VELOCITY 1e-2

/* How accurately morph targets reproduce the frames. */
typedef struct cutis_morphs_info {
    int target_count;            /* targets of positions plus targets of texture coordinates */
    double rms_error, max_error; /* distance of the file's vertices from the frames, divided by the size */
    double residual;             /* largest distance with skeleton and skin only, divided by the size */
    int worst_frame;
    double flat_blends; /* share of vertex frames with a nearly singular blend of skin matrices (opposite twists) */
    size_t file_bytes;
    bool interrupted;          /* stopped; nothing was written */
    int image_count;           /* images that stay external because they could not be read */
    int spring_count;          /* spring bones (VRM) removed, because the bake moves their vertices */
    int texcoord_target_count; /* targets that move texture coordinates */
    double texcoord_max_error; /* largest distance on the skin from the texture coordinates, divided by the size */
    double texcoord_residual;  /* the same without targets */
} cutis_morphs_info;

/* A file in memory. */
typedef struct cutis_bake_file {
    const char *name; /* "bake.glb", "bake.touch.npy", "bake.obj/frame_0000.obj", ... */
    const void *data; /* (size) */
    size_t size;
} cutis_bake_file;

/* A joint that contact turned away from the motion. */
typedef struct cutis_turned_joint {
    int joint;
    const char *name;
    double degrees;  /* maximum */
    int worst_frame; /* frame of the maximum */
    int frames;      /* number of frames with 0.2 degrees or more */
} cutis_turned_joint;

/* The result owns all of its data. Times are in seconds. */
typedef struct cutis_bake_result {
    int frame_count, vertex_count;
    double fps, start; /* frame i shows the clip at start + i / fps */
    double lead_in, substep;
    bool interrupted;    /* progress stopped the bake; `partial` kept frame_count frames */
    int threads;         /* threads used; 0: the host's jobs */
    const char *solver;  /* the solver or stack used */
    const char *clip;    /* name; NULL for the idle pose */
    const char *element; /* name of the elements: particles, voxels, ... */
    long element_count;
    int body_points;                  /* points of a separate simulation body; 0: none */
    int rigid_pieces, carried_pieces; /* pieces of the drawn mesh that are not simulated */
    double size;                      /* cutis_character.size */

    const float *positions; /* (frame_count x vertex_count x 3) with keep_frames; else NULL */
    int file_count;
    const cutis_bake_file *files; /* (file_count) with format */
    const char *report;           /* JSON, one object; see docs/reference/report.md */
    int warning_count;
    const char *const *warnings; /* sentences */

    double load_seconds, build_seconds, lead_in_seconds, total_seconds;
    double step_min, step_median, step_mean, step_max; /* per frame */
    const double *step_series;                         /* (frame_count) */
    double part_ms[CUTIS_MAX_PARTS];                   /* mean per frame; names in cutis_solver_info.parts */
    double model_bytes, state_bytes, peak_bytes;       /* peak: resident memory of the process; 0: unknown */
    long substeps, iterations, unconverged, repairs;   /* over all frames and the lead-in */
    int contacts_max;
    double residual_max;

    bool has_verdict; /* false with no_verdict, or when nothing is skinned */
    cutis_verdict verdict;
    double volume_min, volume_max; /* relative to rest, over frames; NAN when no part is closed */
    const double *volume_ratios;   /* (frame_count) */
    int bone_count;
    const cutis_bone_in_flesh *bones; /* (bone_count) bones that the shown motion drives into other flesh */
    const char *const *bone_names;    /* (bone_count x 2) names of the joints */
    int held_count;
    const cutis_bone_in_flesh
        *held;                     /* (held_count) bones in other flesh in the given motion, which contact holds out */
    const char *const *held_names; /* (held_count x 2) names of the joints */
    int turned_count;
    const cutis_turned_joint
        *turned;      /* (turned_count) joints that contact turned away from the motion, largest first */
    bool props_moved; /* the solver moved free props; a cache of the skin does not contain them */
    bool has_loop;
    cutis_loop_info loop; /* of the baked period */
    bool has_quality;
    cutis_quality quality;
    int check_count, failed_checks;
    const cutis_check *checks; /* (check_count) evaluated */
    bool has_morphs;           /* a .glb was written */
    cutis_morphs_info morphs;
    uint64_t hash; /* of all positions: equal hashes mean equal results */
} cutis_bake_result;

/*
 * Run a bake; destroy the result with cutis_bake_destroy. Fails with CUTIS_ERROR_INTERRUPTED when progress stops it,
 * unless `partial` kept the frames so far. On every failure, *result is NULL and no file has changed.
 */
CUTIS_API cutis_result cutis_bake(const cutis_bake_def *def, cutis_bake_result **result, cutis_error *error);
CUTIS_API void cutis_bake_destroy(cutis_bake_result *result); /* NULL is allowed */

/* ---- parts of a bake, for hosts that step a state themselves ---- */

/* Return the value of the keys of a name at an instant of the clip; `otherwise` when there are none. */
CUTIS_API double cutis_bake_key_value(const cutis_bake_key *keys, int key_count, const char *name, double time,
                                      double otherwise);

/*
 * Return the default lead-in of a bake, in seconds: the time from the rest pose to the clip's first pose. 0 for a
 * geometric solver.
 */
CUTIS_API double cutis_bake_lead_in(const cutis_model *model);
/*
 * The same for a clip that starts at `start` seconds. It is 0 where the clip starts without speed in the rest pose, up
 * to a rigid transform, because the flesh is at rest there; reset the state to that pose. character: the model's, or
 * one with the same joints that has the clip. clip -1: the idle pose.
 */
CUTIS_API double cutis_bake_clip_lead_in(const cutis_model *model, const cutis_character *character, int clip,
                                         double start);

/*
 * Copy `character` and add props; the caller destroys the result. clip: the clip to bake, -1: none. message: receives
 * file warnings; may be NULL.
 */
CUTIS_API cutis_result cutis_bake_add_props(const cutis_character *character, const cutis_prop_request *props,
                                            int prop_count, int clip,
                                            void (*message)(void *context, cutis_bake_message kind, const char *text),
                                            void *context, const cutis_allocator *allocator, cutis_character **result,
                                            cutis_error *error);

/* The motion of a prop over all frames, from cutis_state_prop. */
typedef struct cutis_moving_prop {
    const float *motions;             /* (frame_count x 12) its own space -> scene space */
    int vertex_count, triangle_count; /* of a deformed soft prop; else 0 */
    const float *positions;           /* (frame_count x vertex_count x 3), scene space */
    const int *triangles;             /* (triangle_count x 3) */
} cutis_moving_prop;

/* Frames to convert to skeleton and morph targets. */
typedef struct cutis_morphs_def {
    const cutis_character *character;
    cutis_file source;      /* the .glb or .gltf that the character was loaded from, whose contents are kept; or none */
    int clip;               /* the baked clip; -1: the idle pose */
    double start, fps;      /* frame i shows the clip at start + i / fps seconds */
    int frame_count;        /* at least 1 */
    const float *frames;    /* (frame_count x vertex_count x 3) */
    const float *joints;    /* (frame_count x joint_count x 12) poses that the clip plays; NULL: the clip's own */
    const float *texcoords; /* (frame_count x corner_count x 2) of sliding skin, without jumps over time; or NULL */
    double
        tolerance; /* maximum distance of a vertex, or of texture coordinates on the skin, over the size; 0 = 0.001 */
    int target_limit;    /* 1 to 32, for positions and texture coordinates separately; 0 = 32 */
    bool exact;          /* one target per frame */
    bool positions_only; /* no normals in the targets */
    /*
     * (prop_count of the character), or NULL: props stay as they are in the file. Free props become animated nodes;
     * soft props also get morph targets. Props that the source does not contain get new nodes.
     */
    const cutis_moving_prop *props;
    bool (*interrupted)(void *context); /* called from time to time; true stops. NULL: never stop */
    void *context;
    const cutis_jobs *jobs;
    const cutis_allocator *allocator;
} cutis_morphs_def;

/*
 * Write a .glb that plays the frames in any engine. It contains the source (or the character) and morph targets: the
 * principal components of the difference from linear-blend skinning, as many as the tolerance needs. Their weights are
 * animated in the clip of the same name, which is added when the source does not have it.
 */
CUTIS_API cutis_result cutis_morphs_save(const cutis_morphs_def *def, const char *path, cutis_morphs_info *info,
                                         cutis_error *error);

#ifdef __cplusplus
}
#endif
#endif
