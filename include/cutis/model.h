/*
 * model.h: solvers, models and states, the core of cutis.
 *
 *     character --build--> model (immutable, shared by threads) --create--> state (one block) --step--> positions
 *
 * build is slow, allocates memory and may fail with an error. step never allocates, never fails and never returns a
 * value that is not finite. A state is one block of memory: copy it to take a snapshot, hash it to verify a replay.
 * Results do not depend on the number of threads or on the frame rate.
 */
#ifndef CUTIS_MODEL_H
#define CUTIS_MODEL_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- solvers and their parameters ---- */

typedef enum cutis_parameter_type {
    CUTIS_PARAMETER_FLOAT,
    CUTIS_PARAMETER_INT,
    CUTIS_PARAMETER_BOOL,  /* "on"/"off", "true"/"false", "1"/"0" */
    CUTIS_PARAMETER_CHOICE /* one of `choices` */
} cutis_parameter_type;

/* Meaning of a parameter for code outside its solver, independent of the parameter's name. */
typedef enum cutis_parameter_role {
    CUTIS_PARAMETER_PLAIN,
    CUTIS_PARAMETER_SELF_COLLISION, /* BOOL: the skin collides with itself */
    CUTIS_PARAMETER_DAMPING, /* 1/s: the rate at which motion decays; the smallest one determines the settling time */
    CUTIS_PARAMETER_PROP_CONTACT /* BOOL: the skin collides with props */
} cutis_parameter_role;

typedef struct cutis_parameter {
    const char *name;
    cutis_parameter_type type;
    double default_value; /* CHOICE: index into choices */
    double min, max;      /* FLOAT and INT, both inclusive */
    const char *unit;    /* "m", "s", "1/s", "Hz", "size" (cutis_character.size), ... or "" for a dimensionless value */
    const char *choices; /* CHOICE: names separated by '|'; else NULL */
    bool per_bone;       /* may be set for one joint: bones.NAME.parameter */
    cutis_parameter_role role;
    const char *former; /* former names, separated by '|', so that an error can report the new name; or NULL */
    const char *help;   /* one line */
} cutis_parameter;

/* ---- additional solver outputs ---- */

typedef enum cutis_domain { CUTIS_DOMAIN_VERTEX, CUTIS_DOMAIN_CORNER, CUTIS_DOMAIN_ELEMENT } cutis_domain;

/* Meaning of an output for code outside its solver, independent of the output's name. */
typedef enum cutis_output_role {
    CUTIS_OUTPUT_PLAIN,
    CUTIS_OUTPUT_TEXCOORDS,       /* CORNER x 2: texture coordinates that replace the file's */
    CUTIS_OUTPUT_SLIDING,         /* VERTEX x 3: displacement of the sliding skin; absent when positions contain it */
    CUTIS_OUTPUT_TOUCH,           /* VERTEX x 3: force on the skin, newtons */
    CUTIS_OUTPUT_TISSUE,          /* VERTEX x 3: an inner surface in scene space; the outermost first */
    CUTIS_OUTPUT_ELEMENTS,        /* ELEMENT x 3: positions of particles or voxels in scene space */
    CUTIS_OUTPUT_ELEMENT_LAYER,   /* ELEMENT x 1: 0 bone, 1 muscle, 2 fat, 3 to 8 other inner layers, 9 skin */
    CUTIS_OUTPUT_ELEMENT_EDGE,    /* ELEMENT x 1: edge of a voxel, scene units */
    CUTIS_OUTPUT_TEXCOORDS_STEADY /* CORNER x 2: texture coordinates without jumps over time, for interpolation */
} cutis_output_role;

/* The colour scale of an output in a picture. */
typedef enum cutis_palette {
    CUTIS_PALETTE_SEQUENTIAL, /* from low to high */
    CUTIS_PALETTE_TOUCH,      /* from 0, shown in the skin's own colour */
    CUTIS_PALETTE_CATEGORY    /* integers, one colour per value */
} cutis_palette;

typedef struct cutis_output_info {
    const char *name;
    cutis_output_role role;
    cutis_domain domain;
    int components;
    const char *unit; /* as of a parameter */
    cutis_palette palette;
    float range[2];   /* bounds of the colour scale, in the unit (of a vector: its length); equal: from the values */
    const char *help; /* one line */
} cutis_output_info;

/* ---- solvers ---- */

enum {
    CUTIS_SOLVER_GEOMETRIC = 1,    /* depends only on the pose: evaluated once at the end of a step, without substeps */
    CUTIS_SOLVER_SURFACE = 2,      /* runs on the surface of the previous solver of a stack, or of the baseline */
    CUTIS_SOLVER_SELF_CONTACT = 4, /* its skin can collide with itself, if its parameter of role SELF_COLLISION is on */
    CUTIS_SOLVER_BASELINE = 8,     /* plain skinning: for meshes without a skin, below surface solvers, as reference */
    CUTIS_SOLVER_PREFERRED = 16,   /* the default for skinned characters */
    CUTIS_SOLVER_BODY = 32,        /* simulates flesh on the character's simulation body, see cutis_model_def.detail */
    CUTIS_SOLVER_PROP_CONTACT = 64, /* its skin collides with props, unless a parameter of role PROP_CONTACT is off */
    CUTIS_SOLVER_PROP_MOTION = 128  /* moves free props; under other solvers they follow their node */
};

typedef struct cutis_solver_info {
    const char *name;
    const char *summary;      /* one line */
    const char *paper;        /* authors, year, title; "" for none */
    const char *element;      /* name of its elements: "vertices", "particles", "voxels", "dofs" */
    const char *const *parts; /* names of the timed phases of a step */
    int part_count;
    double substep; /* default, seconds; 0 for a GEOMETRIC solver */
    const cutis_parameter *parameters;
    int parameter_count;
    const cutis_output_info *outputs; /* in addition to positions and normals */
    int output_count;
    unsigned flags; /* CUTIS_SOLVER_... */
} cutis_solver_info;

CUTIS_API int cutis_solver_count(void);
CUTIS_API const cutis_solver_info *cutis_solver(int index);
/* Return the solver of that name (a single solver, not a stack), or NULL. */
CUTIS_API const cutis_solver_info *cutis_solver_find(const char *name);
/* Return the first solver that has all of these flags, or NULL. */
CUTIS_API const cutis_solver_info *cutis_solver_with(unsigned flags);
/* Return the solver to use when nobody names one: flesh for a skinned character, else the baseline. */
CUTIS_API const cutis_solver_info *cutis_solver_default(const cutis_character *character);

/* ---- presets ---- */

/*
 * A kind of body as values for the parameters that solvers of flesh share. The setting "preset" = its name takes it;
 * all other settings win over it.
 */
typedef struct cutis_preset {
    const char *name;
    const char *summary; /* one line */
} cutis_preset;

CUTIS_API int cutis_preset_count(void);
/* NULL behind the last one. */
CUTIS_API const cutis_preset *cutis_preset_get(int index);
/* Return the value that a preset gives to a parameter of a solver; NAN: none, the parameter keeps its default. */
CUTIS_API double cutis_preset_value(const char *preset, const char *solver, const char *parameter);

/* ---- model ---- */

typedef struct cutis_model cutis_model;

/* Number of points of the simulation body. */
enum { CUTIS_DETAIL_DRAWN = -1, CUTIS_DETAIL_DRAFT = 1500, CUTIS_DETAIL_DEFAULT = 4000, CUTIS_DETAIL_LIMIT = 100000 };

typedef struct cutis_model_def {
    const cutis_character *character; /* must outlive the model */
    const char *solver;               /* "tissue", or a stack "tissue+slide": a body solver, then surface solvers */
    double substep;                   /* seconds, 0.0005 to 0.05; 0 = the solver's default; of a stack: the body's */
    const cutis_setting *settings;    /* override the character's own; the last of equal keys applies */
    int setting_count;
    /*
     * Flesh solvers run on a simulation body: a uniform surface of about `detail` points, made from the flesh parts of
     * the mesh. A drawn mesh that is such a surface already is used directly. Drawn vertices follow the body. Rigid
     * parts, clothing and hair are not simulated. 0 = CUTIS_DETAIL_DEFAULT; CUTIS_DETAIL_DRAWN forces the drawn mesh.
     */
    int detail;
    const cutis_jobs *jobs;           /* threads for the build; NULL = the calling thread */
    const cutis_allocator *allocator; /* NULL = malloc and free */
} cutis_model_def;

/* Return a definition with the baseline solver (lbs) and all other fields zero. */
CUTIS_API cutis_model_def cutis_model_def_default(void);

/*
 * Check the settings and build the solver's data; the caller destroys the model. Fails with an error that names an
 * unknown key, a value out of range, or why the solver cannot use the character.
 */
CUTIS_API cutis_result cutis_model_build(const cutis_model_def *def, cutis_model **model, cutis_error *error);
CUTIS_API void cutis_model_destroy(cutis_model *model); /* NULL is allowed; states first */

typedef struct cutis_model_info {
    const char *solver; /* as given in the definition */
    double substep;     /* seconds; 0 for a geometric solver; of a stack: the body's, the longest */
    long element_count; /* particles, voxels, ... of the first solver of the stack */
    int body_points;    /* simulated points; 0: none */
    bool body_is_drawn; /* the simulated points are the points of the drawn mesh */
    int flesh_pieces, rigid_pieces, carried_pieces; /* pieces of the mesh by kind; 0 when the drawn mesh is simulated */
    size_t model_bytes, state_bytes;
    int warning_count;
    const char *const *warnings;
    int note_count; /* sentences: automatic choices of the solver */
    const char *const *notes;
} cutis_model_info;

CUTIS_API cutis_model_info cutis_model_get_info(const cutis_model *model);
/* Return the value in use of a parameter ("stiffness", or "slide.stiffness" in a stack); NAN if it does not exist. */
CUTIS_API double cutis_model_parameter(const cutis_model *model, const char *name);

/* Return output `index` of that role, over all solvers of the stack; NULL when index is out of range. */
CUTIS_API const cutis_output_info *cutis_model_find_output(const cutis_model *model, cutis_output_role role, int index);

/* ---- state ---- */

typedef struct cutis_state cutis_state;

/* Create a state at rest in the rest pose, at time 0. The caller destroys it. */
CUTIS_API cutis_result cutis_state_create(const cutis_model *model, const cutis_allocator *allocator,
                                          cutis_state **state, cutis_error *error);
CUTIS_API void cutis_state_destroy(cutis_state *state); /* NULL is allowed */
/* Reset the state to time 0, at rest in this pose (joint_count x 12; NULL = the rest pose). */
CUTIS_API void cutis_state_reset(const cutis_model *model, cutis_state *state, const float *joints);
/*
 * Move the whole state by a rigid transform (3 x 4) and rotate its velocities. The flesh does not react to this move.
 * The next pose must be at the new place.
 */
CUTIS_API void cutis_state_teleport(const cutis_model *model, cutis_state *state, const float transform[12]);
/* Copy `from` to `to`; both must belong to the same model. A second state serves as a snapshot. */
CUTIS_API void cutis_state_copy(const cutis_model *model, cutis_state *to, const cutis_state *from);
/*
 * Return a hash of everything that influences future steps, and of what is drawn. Equal hashes mean equal replays.
 */
CUTIS_API uint64_t cutis_state_hash(const cutis_model *model, const cutis_state *state);
/* Return the seconds since reset. */
CUTIS_API double cutis_state_time(const cutis_state *state);

/* A motion known in advance. sample writes joints (joint_count x 12) for a time in the state's seconds. */
typedef struct cutis_motion {
    void *context;
    void (*sample)(void *context, double time, float *joints);
} cutis_motion;

/*
 * A clip as a motion. For `lead_in` seconds it eases from the rest pose to the clip's first pose, which it reaches at
 * the clip's speed so that nothing pops. The clip follows; its last pose is held after its end. Pass the address of
 * this struct as the context of cutis_clip_motion_sample.
 */
typedef struct cutis_clip_motion {
    const cutis_character *character;
    int clip;       /* -1: the idle pose */
    double lead_in; /* seconds */
} cutis_clip_motion;

CUTIS_API void cutis_clip_motion_sample(void *clip_motion, double time, float *joints);
/* Write the morph weights of the same motion: (morph_count), for cutis_step_input.morphs. */
CUTIS_API void cutis_clip_motion_morphs(const cutis_clip_motion *clip_motion, double time, float *weights);

/*
 * A surface known in advance. sample writes positions (vertex_count x 3) for a time in the state's seconds. It replaces
 * the first solver of a stack, or the baseline below a single surface solver. Skin can thus slide on the output of
 * another program. Other solvers ignore it.
 */
typedef struct cutis_surface {
    void *context;
    void (*sample)(void *context, double time, float *positions);
} cutis_surface;

/* Pull a vertex towards a position, for example with the mouse. */
typedef struct cutis_drag {
    int vertex;
    float target[3];
    float strength; /* 0..1: 0 no effect, 1 pinned */
} cutis_drag;

#define CUTIS_MAX_IMPULSES 16
#define CUTIS_MAX_AMOUNT 2.0

/* A blow: flesh within `radius` of `place` gains a velocity, which falls from full at the centre to zero at the rim. */
typedef struct cutis_impulse {
    float place[3];
    float radius;      /* scene units, above 0 */
    float velocity[3]; /* scene units/s, at the centre */
} cutis_impulse;

typedef struct cutis_step_input {
    /* Live input: the pose at the end of this step (joint_count x 12). Poses in between are interpolated. */
    const float *joints;
    /* When joints is NULL: a motion, sampled at every substep, so the result is independent of the frame rate. */
    cutis_motion motion;
    /* For surface solvers: the surface, sampled at every substep. Unused when its sample is NULL. */
    cutis_surface surface;
    /*
     * Morph weights at the end of this step (morph_count); NULL = all 0. A geometric solver deforms the morphed rest
     * shape. With a dynamic solver, the morphs are rotated with the surface and added to it.
     */
    const float *morphs;
    const cutis_drag *drags;
    int drag_count;
    const cutis_jobs *jobs; /* NULL = the calling thread */
    /*
     * Acceleration of the flesh during this step, scene units/s2, in addition to the motion of the bones and the
     * solver's own gravity. For a braking vehicle, pass the opposite of the vehicle's acceleration. It acts on all
     * flesh under tissue, layers and lattice, on the skin along the body under slide, and on free props under
     * springs. Geometric solvers ignore it.
     */
    float acceleration[3];
    /*
     * Velocity of the air, scene units/s. Its pressure acts on the surfaces that face it; flesh is a thousand times as
     * dense as air. Tissue, layers and lattice use it.
     */
    float wind[3];
    /*
     * Blows at the start of this step, at most CUTIS_MAX_IMPULSES; the next substep applies them. The same solvers use
     * them as use acceleration.
     */
    const cutis_impulse *impulses;
    int impulse_count;
    /*
     * How much of the deviation from linear skinning is drawn, for every solver: 0 is skinning, 1 the result of the
     * simulation, 2 twice its deviation; 0 to CUTIS_MAX_AMOUNT. It changes what is drawn, never the simulation.
     * NULL: 1.
     */
    const float *amount;
} cutis_step_input;

#define CUTIS_MAX_PARTS 8

typedef struct cutis_step_stats {
    int substeps;                    /* taken in the last step; of a stack: those of the shortest substep */
    int iterations;                  /* of the solver's main loop, all substeps */
    int contacts;                    /* in the last substep */
    double residual;                 /* of the last substep, in a unit of the solver; 0 when it has none */
    int unconverged;                 /* substeps that did not meet the tolerance within the iteration limit */
    int repairs;                     /* non-finite values reset */
    int limited;                     /* points clamped towards linear skinning, see docs/reference/body.md */
    int limited_vertex;              /* a vertex of the most clamped point; -1: none */
    double part_ms[CUTIS_MAX_PARTS]; /* time of each phase in cutis_solver_info.parts; summed over the stack */
} cutis_step_stats;

/*
 * Simulate up to `time` (seconds since reset), which may lie inside a substep. Nothing is drawn. Live steps (with
 * input->joints) are clamped to 0.25 s. interrupted (may be NULL) is called between substeps; when it returns true, the
 * state takes one more substep and stops at its end. Returns whether `time` was reached.
 */
CUTIS_API bool cutis_state_advance(const cutis_model *model, cutis_state *state, const cutis_step_input *input,
                                   double time, bool (*interrupted)(void *context), void *context);
/*
 * Compute positions and outputs of the current instant. A second call returns at once. Of the input (NULL: all zero)
 * only the amount and the jobs are read. The simulation does not depend on this call.
 */
CUTIS_API void cutis_state_show(const cutis_model *model, cutis_state *state, const cutis_step_input *input);
/* Advance by dt seconds (0 or more), then show. */
CUTIS_API void cutis_state_step(const cutis_model *model, cutis_state *state, const cutis_step_input *input, double dt);

/* ---- loops ---- */

typedef struct cutis_loop_def {
    cutis_motion motion;   /* sampled from 0 to the period */
    double period;         /* seconds, a whole number of the model's substeps */
    const float *travel;   /* rigid transform (3 x 4) from the pose at time 0 to the pose at the period; NULL: none */
    float acceleration[3]; /* constant, as in cutis_step_input */
    float wind[3];         /* constant, as in cutis_step_input */
    double position_tolerance; /* largest distance between start and end, divided by the size; 0 = 1e-4 */
    double velocity_tolerance; /* the same for velocities, divided by the RMS speed; 0 = 1e-2 */
    int period_limit;          /* maximum number of periods to simulate; 0 = 64 */
    bool plain;                /* plain repetition, without convergence acceleration */
    cutis_state *seam;         /* allows the seam at any time, see below: a state of the same model; NULL: at time 0 */
    bool (*interrupted)(void *context); /* called after every substep; true stops. NULL: never stop */
    void *context;
    const cutis_jobs *jobs;
} cutis_loop_def;

typedef struct cutis_loop_info {
    bool closed;      /* within both tolerances */
    bool accelerated; /* convergence acceleration was used */
    bool interrupted;
    int periods;          /* simulated */
    double position_seam; /* distance between start and end of the period found, divided by the size */
    double velocity_seam; /* the same for velocities, divided by the RMS speed */
    double speed;         /* RMS over vertices and the period, units per second */
    double seam_time;     /* time at which the period begins and ends, seconds; 0 without cutis_loop_def.seam */
} cutis_loop_info;

/*
 * Find the periodic motion. Starting from `state`, the motion is repeated until its end equals its start; convergence
 * acceleration shortens slow cases. The search aims at a tenth of the tolerances and otherwise keeps the best period.
 * The state is then at time 0, the start of that period; replaying it reproduces the reported seam. With a geometric
 * solver, the loop is closed at once. A loop that does not close within the limit is not an error: see info.
 *
 * Contact makes seams larger. With def->seam, the period may begin and end at any time: run the state from 0 to
 * info->seam_time and copy def->seam into it there. That changes the state by the reported seam. Then run to the end of
 * the period; it equals the start bit for bit.
 */
CUTIS_API cutis_result cutis_state_find_loop(const cutis_model *model, cutis_state *state, const cutis_loop_def *def,
                                             const cutis_allocator *allocator, cutis_loop_info *info,
                                             cutis_error *error);

/* ---- results of the last show, step or reset: pointers are valid until the state changes ---- */

/* Return the positions: (vertex_count x 3), scene space, the file's vertex order. */
CUTIS_API const float *cutis_state_positions(const cutis_model *model, const cutis_state *state);
/*
 * The shown pose (joint_count x 12): the given or sampled one, with joints turned where contact holds bones out of
 * other flesh (docs/reference/joints.md).
 */
CUTIS_API const float *cutis_state_joints(const cutis_model *model, const cutis_state *state);
/*
 * Write unit normals of the current positions: (vertex_count x 3). They are the file's own normals, turned by the local
 * deformation; for a character without normals, area-weighted ones, smooth across texture seams.
 */
CUTIS_API void cutis_state_normals(const cutis_model *model, const cutis_state *state, float *normals);
CUTIS_API const cutis_step_stats *cutis_state_stats(const cutis_model *model, const cutis_state *state);

typedef struct cutis_output {
    cutis_domain domain;
    int count, components;
    const float *values; /* (count x components) */
} cutis_output;

/* Get an output of the solver by name; false when it does not exist. */
CUTIS_API bool cutis_state_output(const cutis_model *model, const cutis_state *state, const char *name,
                                  cutis_output *output);
/* Get output `index` of a role; false when it does not exist. */
CUTIS_API bool cutis_state_output_role(const cutis_model *model, const cutis_state *state, cutis_output_role role,
                                       int index, cutis_output *output);

/* The current state of a prop. */
typedef struct cutis_prop_state {
    float transform[12];              /* its own space -> scene space; of a soft prop, the best rigid fit */
    int vertex_count, triangle_count; /* of a SOFT prop that the solver deforms; else 0 */
    const float *positions;           /* (vertex_count x 3), scene space; the order of a MESH's own positions */
    const int *triangles;             /* (triangle_count x 3) */
    float force[3];                   /* force of the skin on it, newtons, mean over the last step */
    float penetration; /* depth of the deepest skin point in the prop, or of the prop in the skin, scene units; 0: none,
                          or not measured */
    int crossings;     /* intersecting pairs of skin and prop triangles; 0: none, or not measured */
    int bone;          /* joint of the bone that is deepest in the prop; -1: none */
    float bone_depth;  /* depth of that bone, scene units */
    bool dropped;      /* it fell out of range and no longer moves */
} cutis_prop_state;

/* Get the state of prop `index` of the character. Free props move with the solver, others with their node. */
CUTIS_API void cutis_state_prop(const cutis_model *model, const cutis_state *state, int index, cutis_prop_state *prop);

#ifdef __cplusplus
}
#endif
#endif
