/*
 * bake_private.h: a bake while it runs, for the files that make it: bake.c drives, bake_loop.c knows loops,
 * bake_props.c watches the props, bake_output.c collects frames, bake_files.c reads and writes files, bake_rig.c gives
 * bare meshes a skeleton, bake_report.c tells. Nobody else includes this.
 */
#ifndef BAKE_PRIVATE_H
#define BAKE_PRIVATE_H

#include "base/core.h"
#include "cutis/bake.h"
#include "mesh/mesh.h"

/* An output of the solver that is written beside the positions. */
typedef struct bake_extra {
    const char *name;
    int count, components;
    float *values; /* (batch_capacity x count x components) */
} bake_extra;

/* A prop through the frames. */
typedef struct bake_prop {
    float start[3], end[3]; /* where its own space's origin is, in the scene */
    float force[3];         /* at the end, newtons */
    double penetration;     /* deepest */
    int crossings;          /* most pairs of triangles of skin and prop that pass through each other in a frame */
    int dropped_frame;      /* the first in which it has been dropped, -1: none */
    int bone, bone_frame;   /* joint whose bone is deepest in it, -1: none */
    double bone_depth;
    float *motions; /* .glb: (frames x 12) */
    float *shapes;  /* .glb, soft: (frames x vertex_count x 3) */
    int vertex_count, triangle_count;
    const int *triangles; /* borrowed from the model */
    overlap_side surface; /* as it is drawn; points: (surface.count x 3), NULL before the first frame */
    const float *own;     /* (surface.count x 3) in its own space; NULL: a soft prop, which the solver deforms */
} bake_prop;

/* The drawn skin, for the overlap with props. */
typedef struct bake_skin {
    overlap_side surface;
    float *points; /* (point_count x 3) */
    bool fitted;   /* the tree, to this frame */
} bake_skin;

/* How hard the skin that one joint moves most is touched. */
typedef struct bake_touch {
    double most; /* newtons, length of the sum over the region */
    int frame;   /* of that */
    double sum[3];
} bake_touch;

/* A clip as a motion: an eased blend from the rest pose to the pose at `first`, then the clip from there. */
typedef struct bake_motion {
    const cutis_character *character;
    int clip;
    double lead_in, first; /* seconds; first: of the clip */
} bake_motion;

/* The result and the memory that it owns. */
typedef struct bake_owner {
    cutis_bake_result result; /* first: what the host holds */
    arena memory;
    float *frames; /* (frame_capacity x vertex_count x 3), or NULL */
    size_t frame_floats;
    void (*release_files)(void *store, const cutis_allocator *allocator);
    void *store; /* of files in memory, or NULL */
} bake_owner;

/* Everything open during a bake, so that one place closes it. */
typedef struct bake {
    const cutis_bake_def *def;
    bake_owner *owner;
    cutis_bake_result *result; /* of the owner */
    arena *memory;             /* of the owner */
    arena scratch;             /* until the bake ends */
    cutis_error *error;
    bool stopped; /* progress asked to stop; with def->partial the bake goes on with the frames there are */
    const char *warnings[256];

    const char *solver;               /* the definition's, or the one that is chosen for the character */
    const cutis_character *character; /* in use */
    cutis_character *owned;           /* the same when the bake made it; NULL: the host's */
    cutis_file source;                /* the glTF file that a .glb is made from; name NULL: none */
    int clip;
    cutis_cache *surface;
    cutis_pool *pool;
    const cutis_jobs *jobs;
    cutis_model *model;
    cutis_model_info info;
    cutis_state *state;
    bake_motion motion;
    double struck; /* seconds of the state up to which blows have fallen */
    double run_up; /* seconds of the clip before the first frame that are simulated and not written */
    float *morphs; /* (morph_count) weights of the file's own morphs */
    double *volume_ratios, *step_series; /* (frames), of the result */

    /* (frames x joint_count x 12) the poses shown, and those of the motion; NULL: nothing is simulated */
    float *poses, *animated;
    double joint_shift; /* largest distance by which contact shifts a joint without parent, over the size */

    /* the verdict: linear skinning beside the solver */
    cutis_judge *judge;
    cutis_model *reference; /* NULL: a surface is the reference */
    cutis_state *reference_state;
    float *reference_surface; /* (vertex_count x 3) with a surface */
    double judge_seconds;

    /* a loop */
    double period;     /* seconds; 0: no loop */
    cutis_state *seam; /* that goes on from the loop's seam; NULL: none */
    float travel[12];
    bool travels;                    /* the clip ends elsewhere than it began */
    double jump;                     /* of the clip itself at the loop's ends, over the size; 0: it closes */
    double closed_by;                /* seconds added to close the clip; 0: none */
    const cutis_character *original; /* the character before that; NULL: the same */
    cutis_character *original_owned; /* the same when the bake made it */

    /* props and touch */
    bake_prop *props;    /* (prop_count of the character) */
    bake_skin skin;      /* when there are props */
    bake_touch *touches; /* (joint_count), or NULL: the solver does not tell */
    int *regions;        /* (point_count) the joint of the largest weight, -1: none */

    /* files */
    const char *path;         /* of the output, or its name in memory; NULL: nothing is written */
    bool glb;                 /* the output is one, which takes all frames at once */
    struct bake_files *files; /* open writers; bake_files.c */
    bake_extra *extras;       /* (extra_count) */
    int extra_count;
    bool late;        /* files are opened when all frames are there */
    float *batch;     /* (batch_capacity x vertices x 3) frames on their way to the file */
    float *texcoords; /* (batch_capacity x corners x 2) for a format that takes moving ones; or NULL */
    cutis_output_role texcoord_role;
    int texcoord_floats; /* of a frame */
    int batch_count, batch_capacity, written;
} bake;

/* ---- bake.c ---- */

/* Tell progress; false (and b->stopped) when the bake is to stop. */
bool bake_progress(bake *b, cutis_bake_stage stage, long done, long total);
/* CUTIS_ERROR_INTERRUPTED, with its sentence. */
cutis_result bake_interrupted(bake *b);
/* A sentence for the host; a warning is kept for the result. */
void bake_say(bake *b, cutis_bake_message kind, const char *text);
/* Put `made` in the place of the character. */
void bake_replace_character(bake *b, cutis_character *made);
/* The next solver of a stack such as "layers+slide", which is taken off *rest; NULL when none is left. */
const cutis_solver_info *bake_stack_next(const char **rest);

/* The pose (context: a bake_motion) and the morph weights at a time of the state. */
void bake_motion_sample(void *context, double time, float *joints);
void bake_motion_morphs(const bake_motion *motion, double time, float *weights);
/* The surface of the cache (context: a bake) in place of the body. */
void bake_surface_sample(void *context, double time, float *positions);

/* ---- bake_loop.c ---- */

/* See whether the clip closes, close it when only the last key is missing, and take its period. */
cutis_result bake_loop_prepare(bake *b);
/* The substep of a loop: the stack's own (or the one asked for), made to divide the period. */
double bake_loop_substep(const bake *b);
/* Bring the state from the clip's first pose into the periodic motion. */
cutis_result bake_loop_find(bake *b);
/* Measure the seam of all frames, and let the last one be the first. */
void bake_loop_join(bake *b);

/* ---- bake_keys.c ---- */

cutis_result bake_keys_check(const bake *b);
/* The amount of the deviation that is drawn at an instant of the clip. */
float bake_amount(const bake *b, double time);

/* ---- bake_props.c ---- */

cutis_result bake_props_open(bake *b);
/* Note where the props are and what the skin feels at a frame. */
cutis_result bake_props_record(bake *b, int frame);
/* Warn of bones that the motion drives into props. */
void bake_props_warn(bake *b);

/* ---- bake_joints.c ---- */

cutis_result bake_joints_open(bake *b);
/* Note the pose of a frame at a time of the state. */
void bake_joints_record(bake *b, int frame, double time);
/* Bones in other flesh, and joints that contact turned. */
cutis_result bake_joints_finish(bake *b);
/* By how many degrees contact turns a joint away from the motion in a frame. */
double bake_joint_turn(const bake *b, int frame, int joint);

/* ---- bake_corrections.c ---- */

/* Judge how far contact moves limbs away from the motion, which has those bones in flesh. */
cutis_result bake_corrections_judge(bake *b, const cutis_bone_in_flesh *bones, int bone_count);

/* ---- bake_verdict.c ---- */

cutis_result bake_verdict_open(bake *b);
/* Judge the state's frame at a time of the state. */
void bake_verdict_frame(bake *b, double time);
void bake_verdict_finish(bake *b);
void bake_verdict_close(bake *b);

/* ---- bake_output.c ---- */

cutis_result bake_output_open(bake *b);
/* Take the state's positions and outputs as the next frame. */
cutis_result bake_output_append(bake *b);
/* Measure and write the frames that have come together. */
cutis_result bake_output_flush(bake *b);
/* Put the files in place. */
cutis_result bake_output_finish(bake *b);
/* Drop what is not in place. */
void bake_output_close(bake *b);

/* ---- bake_files.c; bake_no_files.c in a library without files ---- */

/* Whether a path names a glTF file, and whether it ends in .glb. */
bool bake_is_gltf(const char *path);
bool bake_is_glb(const char *path);
/* ARGUMENT when `path` has no ending that a bake can be written as. */
cutis_result bake_check_format(const char *path, cutis_error *error);
cutis_result bake_load_character(bake *b);
cutis_result bake_add_motion(bake *b);
/* The surface that takes the place of the body solver: b->surface. */
cutis_result bake_load_surface(bake *b);
void bake_unload_surface(bake *b);
/* Let b->source be the same file with the skeleton of the character. */
cutis_result bake_rig_source(bake *b);
/* Positions of the mesh of def->examples: (example_count) of (vertex_count x 3), in the scratch arena. */
cutis_result bake_load_examples(bake *b, const float ***positions);
/* Props of a file; moved and scaled as one. */
cutis_result bake_add_prop_file(const cutis_character *character, const cutis_prop_request *request,
                                void (*message)(void *context, cutis_bake_message kind, const char *text),
                                void *context, const cutis_allocator *allocator, cutis_character **result,
                                cutis_error *error);
/* Writers of a cache and of the extras; a .glb is written by finish alone. */
cutis_result bake_files_open(bake *b);
cutis_result bake_files_append(bake *b, int frame_of_batch);
cutis_result bake_files_finish(bake *b);
void bake_files_discard(bake *b);

/* ---- bake_rig.c; bake_no_rig.c in a library without rigging ---- */

/* A skeleton for a bare mesh; the examples help to find joints. */
cutis_result bake_rig(bake *b, const float *const *examples);
/* The examples as a clip and morph targets. */
cutis_result bake_add_examples(bake *b, const float *const *examples);

/* ---- morphs_save.c ---- */

struct file_store;
/* cutis_morphs_save into a store, or to the disk when it is NULL. */
cutis_result morphs_save(const cutis_morphs_def *def, struct file_store *store, const char *path,
                         cutis_morphs_info *info, cutis_error *error);

/* ---- bake_report.c ---- */

/* Parse the bounds, so that a mistake shows before anything takes time. */
cutis_result bake_checks_open(bake *b);
/* Decide them, once every figure is known. */
void bake_checks_decide(bake *b);
/* The report as JSON; NULL when memory runs out. */
const char *bake_report_make(bake *b);

#endif
