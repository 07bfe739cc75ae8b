/*
 * bake.h: a character through a clip in one call: load, build, simulate, measure, report, write.
 *
 *     cutis_bake_def def = cutis_bake_def_default();
 *     def.source.name = "hero.glb";
 *     def.output = "hero_baked.glb";
 *     cutis_bake_result *result;
 *     if (cutis_bake(&def, &result, &error) == CUTIS_OK) ... result->report ... cutis_bake_destroy(result);
 *
 * Every front end (program, Blender, Python, browser) is a thin face over this call. Nothing is global: several bakes
 * may run at once on threads of their own. Files appear whole or not at all.
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

/* A file that is read: by its path, or its bytes in memory. */
typedef struct cutis_file {
    const char *name; /* path; with data: what the file would be called. Its ending tells the format. NULL: no file */
    const void *data; /* (size), or NULL: read from the path */
    size_t size;
} cutis_file;

/* A prop that is put beside the character. */
typedef struct cutis_prop_request {
    const char *name;  /* one of the zoo (cube, ball, table, floor), or the path of a .glb or .gltf */
    bool placed;       /* position is given; else a built-in one goes where the clip reaches, a file where it stands */
    float position[3]; /* scene space; of a file: added to where it stands */
    double scale;      /* above 0; 0 = 1 */
} cutis_prop_request;

/* A blow at an instant of the clip. */
typedef struct cutis_bake_blow {
    double time; /* seconds of the clip */
    cutis_impulse impulse;
} cutis_bake_blow;

/*
 * A value at an instant of the clip: of "amount" (cutis_step_input.amount). Values are linear between keys, and constant
 * before the first and behind the last. Keys of one name are in the order of their times.
 */
typedef struct cutis_bake_key {
    const char *name;
    double time; /* seconds of the clip */
    double value;
} cutis_bake_key;

typedef enum cutis_bake_stage {
    CUTIS_BAKE_LOAD,    /* the character, its motion and props; told once, with 0 of 1 */
    CUTIS_BAKE_BUILD,   /* the model, in one piece: told before (0 of 1) and after; no file is open in between */
    CUTIS_BAKE_LEAD_IN, /* from rest to the clip's first pose; done and total in substeps */
    CUTIS_BAKE_LOOP,    /* the search for the periodic motion */
    CUTIS_BAKE_FRAMES,  /* done and total in frames */
    CUTIS_BAKE_MEASURE, /* quality, bones, verdict */
    CUTIS_BAKE_WRITE    /* files */
} cutis_bake_stage;

typedef enum cutis_bake_message {
    CUTIS_BAKE_NOTE,   /* something that was done without being asked for, such as a skeleton for a bare mesh */
    CUTIS_BAKE_WARNING /* the same sentences are in the result */
} cutis_bake_message;

typedef struct cutis_bake_def {
    /* ---- the character: one of the two, or both ---- */
    const cutis_character *character; /* NULL: loaded from the source. Must outlive the call only */
    cutis_file source;                /* the file it is loaded (or came) from, all of which a .glb keeps */

    /* ---- the motion ---- */
    const char *clip;           /* name; NULL: the motion that is given here, else the first */
    cutis_file motion;          /* .bvh (or, from its file, another character) that becomes the clip; a bare mesh gets
                                   a skeleton */
    const cutis_name_pair *map; /* (map_count) joints of the motion and of the character */
    int map_count;
    const cutis_file *examples; /* (example_count) the mesh in other poses, which become the clip, for solver curves */
    int example_count;
    double example_seconds; /* from one example to the next; 0 = 1 */
    cutis_file surface;     /* cache whose frames take the place of the body solver; for surface solvers */
    double fps;             /* frames per second; 0 = 30 */
    double start, end;      /* seconds of the clip; NAN (default): its first and last key */
    double lead_in;         /* seconds; NAN (default): cutis_bake_clip_lead_in; 0: flesh rests in the first pose */
    bool loop;              /* one period of the periodic motion; not together with a range */
    const cutis_prop_request *props; /* (prop_count) beside the character's own */
    int prop_count;

    /* ---- the simulation ---- */
    const char *solver;            /* or a stack "layers+slide"; NULL: chosen for the character */
    const cutis_setting *settings; /* (setting_count), as in cutis_model_def */
    int setting_count;
    double substep;               /* seconds; 0 = the solver's own */
    int detail;                   /* points of the simulation body, as in cutis_model_def */
    float acceleration[3];        /* of flesh all the time, as in cutis_step_input; scene units/s2 */
    float wind[3];                /* likewise, scene units/s */
    const cutis_bake_blow *blows; /* (blow_count); not together with loop */
    int blow_count;
    const cutis_bake_key *keys; /* (key_count) values over time; with a loop, the same at both ends of the period */
    int key_count;

    /* ---- the output ---- */
    const char *output;  /* path; its ending chooses the format (.glb or one of a cache, see io.h); NULL: no file */
    const char *format;  /* with output NULL: ".glb", ".npy", ...: the files go to memory, see result; NULL: none */
    const char *outputs; /* outputs of the solver, separated by commas, each written as OUTPUT.NAME.npy; NULL: none */
    double tolerance;    /* .glb: largest distance of a vertex, over the size; 0 = 0.001 */
    int targets;         /* .glb: morph targets at most, 1 to 32; 0 = 32 */
    bool positions_only; /* .glb: targets without normals */
    bool exact;          /* .glb: one target for each frame */
    bool keep_frames;    /* leave all frames in the result */
    bool measure;        /* fill the result's quality; implied by checks */
    const char *checks;  /* bounds: "volume_error_max<0.01,unconverged<=0"; NULL: none */
    bool no_verdict;     /* do not judge the frames against linear skinning */
    bool partial;        /* when progress asks to stop while frames are baked: finish with the frames there are */

    /* ---- the host ---- */
    /* Called several times a second. total 0: not known. Returns false to stop. NULL: never stop. */
    bool (*progress)(void *context, cutis_bake_stage stage, long done, long total);
    /* A sentence as soon as it is known; NULL: none. */
    void (*message)(void *context, cutis_bake_message kind, const char *text);
    void *context;          /* of both */
    const cutis_jobs *jobs; /* NULL: a pool of `threads` that the bake starts and ends */
    int threads;            /* 0 = one per processor; the result does not depend on it */
    const cutis_allocator *allocator;
} cutis_bake_def;

/* All NULL, 0 and false; NAN where the field says so. */
CUTIS_API cutis_bake_def cutis_bake_def_default(void);

/* ---- the result ---- */

/* The seam that a loop may have to be closed: of the size, and in velocity of the RMS speed. */
#define CUTIS_BAKE_SEAM_POSITION 1e-4
#define CUTIS_BAKE_SEAM_VELOCITY 1e-2

/* How well morph targets give the frames back. */
typedef struct cutis_morphs_info {
    int target_count;            /* of positions and of texture coordinates together */
    double rms_error, max_error; /* distance of the file's vertices from the frames, over the size */
    double residual;             /* the same of skeleton and skin alone: largest distance */
    int worst_frame;
    double flat_blends; /* share of vertices and frames whose blend of skin matrices is nearly flat (opposite twists) */
    size_t file_bytes;
    bool interrupted;          /* given up, and nothing written */
    int image_count;           /* images that the file still takes from elsewhere, because they could not be read */
    int spring_count;          /* spring bones (VRM) left out, because the bake moves their vertices itself */
    int texcoord_target_count; /* of these, targets that move texture coordinates */
    double texcoord_max_error; /* largest distance on the skin from the texture coordinates, over the size */
    double texcoord_residual;  /* the same without any target */
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
    double degrees;  /* at most */
    int worst_frame; /* of that */
    int frames;      /* in which it is turned by 0.2 degrees or more */
} cutis_turned_joint;

/* All of it belongs to the result. Times in seconds. */
typedef struct cutis_bake_result {
    int frame_count, vertex_count;
    double fps, start; /* frame i shows the clip at start + i / fps */
    double lead_in, substep;
    bool interrupted;    /* progress asked to stop, and `partial` kept frame_count frames */
    int threads;         /* that worked; 0: the host's jobs */
    const char *solver;  /* in force */
    const char *clip;    /* name; NULL for the idle pose */
    const char *element; /* what element_count counts: particles, voxels, ... */
    long element_count;
    int body_points;                  /* of a simulation body apart from the drawn mesh; 0: there is none */
    int rigid_pieces, carried_pieces; /* of the drawn mesh, which are not simulated */
    double size;                      /* of the character */

    const float *positions; /* (frame_count x vertex_count x 3) with keep_frames; else NULL */
    int file_count;
    const cutis_bake_file *files; /* (file_count) with format */
    const char *report;           /* JSON, one object; see docs/REPORT.md */
    int warning_count;
    const char *const *warnings; /* sentences */

    double load_seconds, build_seconds, lead_in_seconds, total_seconds;
    double step_min, step_median, step_mean, step_max; /* of one frame */
    const double *step_series;                         /* (frame_count) */
    double part_ms[CUTIS_MAX_PARTS];                   /* of one frame, mean; named by the solver */
    double model_bytes, state_bytes, peak_bytes;       /* peak: resident memory of the process; 0: not known */
    long substeps, iterations, unconverged, repairs;   /* over all frames, the lead-in included */
    int contacts_max;
    double residual_max;

    bool has_verdict; /* unless the definition says so, or nothing is skinned: */
    cutis_verdict verdict;
    double volume_min, volume_max; /* relative to rest, over frames; NAN when nothing is closed */
    const double *volume_ratios;   /* (frame_count) */
    int bone_count;
    const cutis_bone_in_flesh *bones; /* (bone_count) that the motion drives into other flesh */
    const char *const *bone_names;    /* (bone_count x 2) of the joints */
    int held_count;
    const cutis_bone_in_flesh *held; /* (held_count) of the motion before contact turned joints, as far as that helps */
    const char *const *held_names;   /* (held_count x 2) of the joints */
    int turned_count;
    const cutis_turned_joint *turned; /* (turned_count) joints that contact turned away from the motion, most first */
    bool props_moved;                 /* the solver moved free props, which a cache of the skin does not hold */
    bool has_loop;
    cutis_loop_info loop; /* of the period written */
    bool has_quality;
    cutis_quality quality;
    int check_count, failed_checks;
    const cutis_check *checks; /* (check_count) decided */
    bool has_morphs;           /* a .glb was written: */
    cutis_morphs_info morphs;
    uint64_t hash; /* of all positions: equal hashes, equal results */
} cutis_bake_result;

/*
 * Run a bake. CUTIS_ERROR_INTERRUPTED when progress asked to stop (unless `partial` kept what there was); then, as on
 * every failure, *result is NULL and no file has changed.
 */
CUTIS_API cutis_result cutis_bake(const cutis_bake_def *def, cutis_bake_result **result, cutis_error *error);
CUTIS_API void cutis_bake_destroy(cutis_bake_result *result); /* NULL is allowed */

/* ---- pieces, for hosts that drive a state themselves ---- */

/* The value of the keys of a name at an instant of the clip; `otherwise` when there are none. */
CUTIS_API double cutis_bake_key_value(const cutis_bake_key *keys, int key_count, const char *name, double time,
                                      double otherwise);

/* Seconds from rest to a clip's first pose that a bake of this model takes by default; 0 for a solver without a past.
 */
CUTIS_API double cutis_bake_lead_in(const cutis_model *model);
/*
 * The same for a clip from `start` seconds on: 0 where flesh is at rest there already, that is, where the clip starts
 * without speed in the rest pose, perhaps elsewhere. A state is then reset to that pose. character: the model's, or one
 * of the same joints that has the clip; clip: -1 for the idle pose.
 */
CUTIS_API double cutis_bake_clip_lead_in(const cutis_model *model, const cutis_character *character, int clip,
                                         double start);

/*
 * A copy of `character` with props beside its own. clip: that will be shown, -1: none. message (may be NULL) hears
 * warnings of files.
 */
CUTIS_API cutis_result cutis_bake_add_props(const cutis_character *character, const cutis_prop_request *props,
                                            int prop_count, int clip,
                                            void (*message)(void *context, cutis_bake_message kind, const char *text),
                                            void *context, const cutis_allocator *allocator, cutis_character **result,
                                            cutis_error *error);

/* A prop through frames, as cutis_state_prop told them. */
typedef struct cutis_moving_prop {
    const float *motions;             /* (frame_count x 12) its own space -> scene space */
    int vertex_count, triangle_count; /* of a soft one that was deformed; else 0 */
    const float *positions;           /* (frame_count x vertex_count x 3), scene space */
    const int *triangles;             /* (triangle_count x 3) */
} cutis_moving_prop;

/* Frames that become skeleton and morph targets. */
typedef struct cutis_morphs_def {
    const cutis_character *character;
    cutis_file source;      /* the .glb or .gltf that the character was loaded from, all of which is kept; or none */
    int clip;               /* that was simulated; -1: the idle pose */
    double start, fps;      /* frame i shows the clip at start + i / fps; start in the clip's own seconds */
    int frame_count;        /* at least 1 */
    const float *frames;    /* (frame_count x vertex_count x 3) */
    const float *joints;    /* (frame_count x joint_count x 12) their poses, which the clip then plays; NULL: its own */
    const float *texcoords; /* (frame_count x corner_count x 2) of skin that slides, without jumps in time; or NULL */
    double
        tolerance; /* largest distance of a vertex, and of texture coordinates on the skin, over the size; 0 = 0.001 */
    int target_limit;    /* 1 to 32, of positions and of texture coordinates each; 0 = 32 */
    bool exact;          /* one target for each frame instead */
    bool positions_only; /* no normals in the targets */
    /*
     * (prop_count of the character), or NULL: props stay as they are in the file. Free ones become animated nodes, soft
     * ones with morph targets of their own; props that the source does not have get nodes.
     */
    const cutis_moving_prop *props;
    bool (*interrupted)(void *context); /* asked now and then; NULL: never */
    void *context;
    const cutis_jobs *jobs;
    const cutis_allocator *allocator;
} cutis_morphs_def;

/*
 * Write a .glb that plays the frames anywhere: the source with everything it holds (or the character), and in the
 * clip of the same name (added when the source does not have it) animated weights of as many morph targets as
 * the tolerance needs: the principal components of what linear-blend skinning misses.
 */
CUTIS_API cutis_result cutis_morphs_save(const cutis_morphs_def *def, const char *path, cutis_morphs_info *info,
                                         cutis_error *error);

#ifdef __cplusplus
}
#endif
#endif
