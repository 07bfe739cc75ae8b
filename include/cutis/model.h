/*
 * model.h: solvers, models and states, the heart of cutis.
 *
 *     character --build--> model (immutable, shared by threads) --create--> state (one block) --step--> positions
 *
 * build is slow, allocates and may fail with a clear error. step never allocates, never fails and never
 * yields a number that is not finite. A state is one block of memory: copy it to take a snapshot, hash it to
 * check a replay. Results do not depend on the number of threads or on the frame rate.
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

/* Meaning of a parameter that others than its solver act on, whatever its name. */
typedef enum cutis_parameter_role {
    CUTIS_PARAMETER_PLAIN,
    CUTIS_PARAMETER_SELF_COLLISION, /* BOOL: the skin collides with itself */
    CUTIS_PARAMETER_DAMPING, /* 1/s: the rate at which motion dies away; the least of them tells how long it goes on */
    CUTIS_PARAMETER_PROP_CONTACT /* BOOL: the skin collides with props */
} cutis_parameter_role;

typedef struct cutis_parameter {
    const char *name;
    cutis_parameter_type type;
    double default_value; /* CHOICE: index into choices */
    double min, max;      /* FLOAT and INT, both inclusive */
    const char *unit;     /* "m", "s", "1/s", "Hz", "size" (the character's), ... or "" when it has none */
    const char *choices;  /* CHOICE: names separated by '|'; else NULL */
    bool per_bone;        /* may be set for one joint: bones.NAME.parameter */
    cutis_parameter_role role;
    const char *former; /* names that it had before, separated by '|', so that an error can say the new one; or NULL */
    const char *help;   /* one line */
} cutis_parameter;

/* ---- what a solver tells beyond positions and normals ---- */

typedef enum cutis_domain { CUTIS_DOMAIN_VERTEX, CUTIS_DOMAIN_CORNER, CUTIS_DOMAIN_ELEMENT } cutis_domain;

/* Meaning of an output that others than its solver act on, whatever its name. */
typedef enum cutis_output_role {
    CUTIS_OUTPUT_PLAIN,
    CUTIS_OUTPUT_TEXCOORDS,       /* CORNER x 2: texture coordinates that take the place of the file's */
    CUTIS_OUTPUT_SLIDING,         /* VERTEX x 3: how far the skin has slid; none when positions show it */
    CUTIS_OUTPUT_TOUCH,           /* VERTEX x 3: force on the skin, newtons */
    CUTIS_OUTPUT_TISSUE,          /* VERTEX x 3: an inner surface in scene space; listed from outside in */
    CUTIS_OUTPUT_ELEMENTS,        /* ELEMENT x 3: places of particles or voxels in scene space */
    CUTIS_OUTPUT_ELEMENT_LAYER,   /* ELEMENT x 1: 0 bone, 1 muscle, 2 fat, 3 to 8 other inner layers, 9 skin */
    CUTIS_OUTPUT_ELEMENT_EDGE,    /* ELEMENT x 1: edge of a voxel, scene units */
    CUTIS_OUTPUT_TEXCOORDS_STEADY /* CORNER x 2: texture coordinates that change without jumps: for interpolation */
} cutis_output_role;

/* How a picture colours values. */
typedef enum cutis_palette {
    CUTIS_PALETTE_SEQUENTIAL, /* from low to high */
    CUTIS_PALETTE_TOUCH,      /* from 0, where the skin has its own colour */
    CUTIS_PALETTE_CATEGORY    /* whole numbers, a colour each */
} cutis_palette;

typedef struct cutis_output_info {
    const char *name;
    cutis_output_role role;
    cutis_domain domain;
    int components;
    const char *unit; /* as of a parameter */
    cutis_palette palette;
    float range[2]; /* of the colours of a picture, in the unit (of a vector: its length); equal: that of the values */
    const char *help; /* one line */
} cutis_output_info;

/* ---- solvers ---- */

enum {
    CUTIS_SOLVER_GEOMETRIC = 1,    /* depends on the pose alone: evaluated once at the end of a step, no substeps */
    CUTIS_SOLVER_SURFACE = 2,      /* runs on the surface of the solver before it in a stack, alone on the baseline's */
    CUTIS_SOLVER_SELF_CONTACT = 4, /* its skin can collide with itself: a parameter of role SELF_COLLISION says so */
    CUTIS_SOLVER_BASELINE = 8,   /* plain skinning: for meshes without a skin, below surface solvers, to compare with */
    CUTIS_SOLVER_PREFERRED = 16, /* for a skinned character, when nobody says which */
    CUTIS_SOLVER_BODY = 32,      /* simulates flesh on the character's simulation body, see cutis_model_def.detail */
    CUTIS_SOLVER_PROP_CONTACT = 64, /* its skin collides with props: unless a parameter of role PROP_CONTACT is off */
    CUTIS_SOLVER_PROP_MOTION = 128  /* moves free props; under other solvers they go where their node goes */
};

typedef struct cutis_solver_info {
    const char *name;
    const char *summary;      /* one line */
    const char *paper;        /* authors, year, title; "" for none */
    const char *element;      /* what it counts: "vertices", "particles", "voxels", "dofs" */
    const char *const *parts; /* names of the timed parts of a step */
    int part_count;
    double substep; /* default, seconds; 0 for a GEOMETRIC solver */
    const cutis_parameter *parameters;
    int parameter_count;
    const cutis_output_info *outputs; /* beyond positions and normals */
    int output_count;
    unsigned flags; /* CUTIS_SOLVER_... */
} cutis_solver_info;

CUTIS_API int cutis_solver_count(void);
CUTIS_API const cutis_solver_info *cutis_solver(int index);
/* The solver of that name (one, not a stack), or NULL. */
CUTIS_API const cutis_solver_info *cutis_solver_find(const char *name);
/* The first solver that has all of these flags, or NULL. */
CUTIS_API const cutis_solver_info *cutis_solver_with(unsigned flags);

/* ---- model ---- */

typedef struct cutis_model cutis_model;

/* Points of the simulation body. */
enum { CUTIS_DETAIL_DRAWN = -1, CUTIS_DETAIL_DRAFT = 1500, CUTIS_DETAIL_DEFAULT = 4000, CUTIS_DETAIL_LIMIT = 100000 };

typedef struct cutis_model_def {
    const cutis_character *character; /* must outlive the model */
    const char *solver;               /* "layers", or a stack "layers+slide": a body solver, then surface solvers */
    double substep;                   /* seconds, 0.0005 to 0.05; 0 = the solver's default; of a stack: the body's */
    const cutis_setting *settings;    /* win over the character's own; the last of equal keys wins */
    int setting_count;
    /*
     * Solvers of flesh run on a simulation body: an even surface of about `detail` points made from the parts that are
     * flesh, or the drawn mesh itself where it is such a surface. Drawn vertices follow it; rigid things, clothing and
     * hair are not simulated. 0 = CUTIS_DETAIL_DEFAULT; CUTIS_DETAIL_DRAWN: the drawn mesh itself, whatever it is.
     */
    int detail;
    const cutis_jobs *jobs;           /* threads for the build; NULL = the caller's */
    const cutis_allocator *allocator; /* NULL = malloc and free */
} cutis_model_def;

/* A definition with the baseline solver (lbs) and all else zero. */
CUTIS_API cutis_model_def cutis_model_def_default(void);

/*
 * Check the settings and prepare the solver. An unknown key, a value out of range or a character that the
 * solver cannot take is an error that names it.
 */
CUTIS_API cutis_result cutis_model_build(const cutis_model_def *def, cutis_model **model, cutis_error *error);
CUTIS_API void cutis_model_destroy(cutis_model *model); /* NULL is allowed; states first */

typedef struct cutis_model_info {
    const char *solver; /* as given in the definition */
    double substep;     /* seconds; 0 for a geometric solver; of a stack: the body's, the longest */
    long element_count; /* particles, voxels, ... of the first solver of the stack */
    int body_points;    /* points that are simulated; 0: nothing is */
    bool body_is_drawn; /* they are the points of the drawn mesh */
    int flesh_pieces, rigid_pieces, carried_pieces; /* of a simulation body; 0 where the drawn mesh is taken as it is */
    size_t model_bytes, state_bytes;
    int warning_count;
    const char *const *warnings;
    int note_count; /* what the solver chose by itself, sentences */
    const char *const *notes;
} cutis_model_info;

CUTIS_API cutis_model_info cutis_model_get_info(const cutis_model *model);
/* The value in force of a parameter ("stiffness", or "slide.stiffness" in a stack); NAN if there is none. */
CUTIS_API double cutis_model_parameter(const cutis_model *model, const char *name);

/* The index-th output of that role, over the solvers of the model's stack; NULL behind the last one. */
CUTIS_API const cutis_output_info *cutis_model_find_output(const cutis_model *model, cutis_output_role role, int index);

/* ---- state ---- */

typedef struct cutis_state cutis_state;

/* A state at rest in the rest pose, at time 0. */
CUTIS_API cutis_result cutis_state_create(const cutis_model *model, const cutis_allocator *allocator,
                                          cutis_state **state, cutis_error *error);
CUTIS_API void cutis_state_destroy(cutis_state *state); /* NULL is allowed */
/* Put the state at time 0, at rest in this pose (joint_count x 12; NULL = the rest pose). */
CUTIS_API void cutis_state_reset(const cutis_model *model, cutis_state *state, const float *joints);
/*
 * Move the whole state by a rigid transform (3 x 4), velocities turned along: the character is elsewhere, without
 * exciting the simulation. The next pose is expected there.
 */
CUTIS_API void cutis_state_teleport(const cutis_model *model, cutis_state *state, const float transform[12]);
/* Make `to` equal to `from`; both of the same model. A snapshot is a second state. */
CUTIS_API void cutis_state_copy(const cutis_model *model, cutis_state *to, const cutis_state *from);
/* A hash of everything that influences the future, and of what is drawn: equal hashes, equal replays. */
CUTIS_API uint64_t cutis_state_hash(const cutis_model *model, const cutis_state *state);
/* Seconds since reset. */
CUTIS_API double cutis_state_time(const cutis_state *state);

/* A motion known in advance: fills joints (joint_count x 12) for a time in the state's seconds. */
typedef struct cutis_motion {
    void *context;
    void (*sample)(void *context, double time, float *joints);
} cutis_motion;

/*
 * A clip as a motion: for `lead_in` seconds an eased way from the rest pose to the clip's first pose, which it reaches
 * at the clip's speed (so that nothing pops), then the clip from its start, its last pose held when it ends. Pass its
 * address as the context of cutis_clip_motion_sample.
 */
typedef struct cutis_clip_motion {
    const cutis_character *character;
    int clip;       /* -1: the idle pose */
    double lead_in; /* seconds */
} cutis_clip_motion;

CUTIS_API void cutis_clip_motion_sample(void *clip_motion, double time, float *joints);
/* The morph weights of the same motion: (morph_count), for cutis_step_input.morphs. */
CUTIS_API void cutis_clip_motion_morphs(const cutis_clip_motion *clip_motion, double time, float *weights);

/*
 * A surface known in advance: fills positions (vertex_count x 3) for a time in the state's seconds. It replaces the
 * first solver of a stack (or the baseline below a surface solver that stands alone), so that skin can slide on what
 * another program made. Other solvers ignore it.
 */
typedef struct cutis_surface {
    void *context;
    void (*sample)(void *context, double time, float *positions);
} cutis_surface;

/* Pull a vertex towards a place, as with the mouse. */
typedef struct cutis_drag {
    int vertex;
    float target[3];
    float strength; /* 0..1: 0 nothing, 1 pinned */
} cutis_drag;

#define CUTIS_MAX_IMPULSES 16
#define CUTIS_MAX_AMOUNT 2.0

/* A blow: flesh within `radius` of a place gets a velocity, all of it in the middle, none at the rim. */
typedef struct cutis_impulse {
    float place[3];
    float radius;      /* scene units, more than 0 */
    float velocity[3]; /* scene units/s, in the middle */
} cutis_impulse;

typedef struct cutis_step_input {
    /* Live: the pose at the end of this step (joint_count x 12); poses in between are interpolated. */
    const float *joints;
    /* Or, when joints is NULL: sampled at every substep, so that the frame rate does not matter. */
    cutis_motion motion;
    /* For surface solvers, when its sample is not NULL: the surface at every substep. */
    cutis_surface surface;
    /*
     * Morph weights at the end of this step (morph_count); NULL = all 0. A geometric solver deforms the
     * morphed rest shape; under a dynamic one the morphs are added to the surface, turned along with it.
     */
    const float *morphs;
    const cutis_drag *drags;
    int drag_count;
    const cutis_jobs *jobs; /* NULL = the calling thread */
    /*
     * What flesh feels besides the motion of its bones, during this step: gravity, a lift, a vehicle's brake (what is
     * felt is the opposite of how the vehicle accelerates). Scene units/s2, added to a solver's own gravity. Layers and
     * lattice: all flesh; slide: the skin, along the body; springs: free props. Geometric solvers ignore it.
     */
    float acceleration[3];
    /*
     * Velocity of the air, scene units/s: its pressure acts on what faces it, as on flesh a thousand times as dense.
     * Layers, lattice.
     */
    float wind[3];
    /*
     * Blows at the start of this step, at most CUTIS_MAX_IMPULSES at once; the first substep that begins then feels
     * them. The same solvers as acceleration.
     */
    const cutis_impulse *impulses;
    int impulse_count;
    /*
     * How much of the deviation from linear skinning is drawn, for every solver: 0 is skinning, 1 the result of the
     * simulation, 2 twice its deviation; 0 to CUTIS_MAX_AMOUNT. It changes what is drawn, never the simulation. NULL: 1.
     */
    const float *amount;
} cutis_step_input;

#define CUTIS_MAX_PARTS 8

typedef struct cutis_step_stats {
    int substeps;       /* taken in the last step; of a stack: the shortest */
    int iterations;     /* of the solver's main loop, all substeps */
    int contacts;       /* in the last substep */
    double residual;    /* of the last substep, in the solver's own measure; 0 when it has none */
    int unconverged;    /* substeps whose tolerance was not met within the allowed work */
    int repairs;        /* non-finite values reset */
    int limited;        /* points that are shown nearer to linear skinning than the solver has them: see BODY.md */
    int limited_vertex; /* a vertex of the one that falls back most; -1: none */
    double part_ms[CUTIS_MAX_PARTS]; /* time in each part, cutis_solver_info.parts; summed over the stack */
} cutis_step_stats;

/*
 * Simulate up to `time` (seconds since reset), which may lie inside a substep; nothing is drawn. With live poses a step
 * is limited to 0.25 s. interrupted (may be NULL) is called between substeps. When it returns true, one more substep is
 * taken, and the state is at its end. Returns whether the time was reached.
 */
CUTIS_API bool cutis_state_advance(const cutis_model *model, cutis_state *state, const cutis_step_input *input,
                                   double time, bool (*interrupted)(void *context), void *context);
/*
 * Compute positions and outputs of the instant that was reached, once: a second call returns at once. Of the input
 * (NULL: all zero) only the amount and the jobs count. The simulation does not depend on whether it is called.
 */
CUTIS_API void cutis_state_show(const cutis_model *model, cutis_state *state, const cutis_step_input *input);
/* Both: advance by dt seconds (0 or more), then show. */
CUTIS_API void cutis_state_step(const cutis_model *model, cutis_state *state, const cutis_step_input *input, double dt);

/* ---- loops ---- */

typedef struct cutis_loop_def {
    cutis_motion motion;       /* sampled from 0 to the period */
    double period;             /* seconds, a whole number of the model's substeps */
    const float *travel;       /* rigid transform (3 x 4) from the pose at 0 to that at the period; NULL: none */
    float acceleration[3];     /* of flesh all the time, as in cutis_step_input */
    float wind[3];             /* likewise */
    double position_tolerance; /* largest distance of start and end, over the size; 0 = 1e-4 */
    double velocity_tolerance; /* the same of velocities, over the RMS speed; 0 = 1e-2 */
    int period_limit;          /* periods to try; 0 = 64 */
    bool plain;                /* repeat only, without acceleration */
    cutis_state *seam; /* of the same model: allows the seam to be anywhere in the period, see below; NULL: at 0 */
    bool (*interrupted)(void *context); /* asked after every substep; NULL: never */
    void *context;
    const cutis_jobs *jobs;
} cutis_loop_def;

typedef struct cutis_loop_info {
    bool closed;      /* within both tolerances */
    bool accelerated; /* mixed states were used */
    bool interrupted;
    int periods;          /* simulated */
    double position_seam; /* between start and end of the period that starts with the state found, over the size */
    double velocity_seam; /* the same, over the RMS speed */
    double speed;         /* RMS over vertices and the period, units per second */
    double seam_time;     /* where the period begins and ends, seconds; 0 without cutis_loop_def.seam */
} cutis_loop_info;

/*
 * Find the periodic motion: repeat the motion from the state given until its end is its start, faster than by plain
 * repetition where that is slow. The search aims at a tenth of the tolerances and takes the best period when that is
 * not to be had. The state is then at time 0, the start of that period: run again, it ends with the seam told. A
 * geometric solver has nothing to find. A loop that does not close within the limit is no error: see info.
 *
 * Where flesh touches, seams close worse than elsewhere. With def->seam the period may begin and end at any instant:
 * run the state from 0 to info->seam_time, copy def->seam into it there (a step as large as the seam told), and run on
 * to the period's end, which is then its start to the bit.
 */
CUTIS_API cutis_result cutis_state_find_loop(const cutis_model *model, cutis_state *state, const cutis_loop_def *def,
                                             const cutis_allocator *allocator, cutis_loop_info *info,
                                             cutis_error *error);

/* ---- results, of the last cutis_state_show (or step, or reset): valid until the next change of the state ---- */

/* (vertex_count x 3), scene space, the file's vertex order. */
CUTIS_API const float *cutis_state_positions(const cutis_model *model, const cutis_state *state);
/*
 * Unit normals of the current positions: (vertex_count x 3). The file's own normals, turned by the local deformation; of
 * a character without normals, area-weighted ones, smooth across texture seams.
 */
CUTIS_API void cutis_state_normals(const cutis_model *model, const cutis_state *state, float *normals);
CUTIS_API const cutis_step_stats *cutis_state_stats(const cutis_model *model, const cutis_state *state);

typedef struct cutis_output {
    cutis_domain domain;
    int count, components;
    const float *values; /* (count x components) */
} cutis_output;

/* One of the solver's own outputs by name; false when it has none of that name. */
CUTIS_API bool cutis_state_output(const cutis_model *model, const cutis_state *state, const char *name,
                                  cutis_output *output);
/* The same by role: the index-th output of that role. */
CUTIS_API bool cutis_state_output_role(const cutis_model *model, const cutis_state *state, cutis_output_role role,
                                       int index, cutis_output *output);

/* A prop as it is now. */
typedef struct cutis_prop_state {
    float transform[12];              /* its own space -> scene space; of a soft one the best rigid fit */
    int vertex_count, triangle_count; /* SOFT under a solver that moves it; else 0 */
    const float *positions;           /* (vertex_count x 3), scene space; the order of a MESH's own positions */
    const int *triangles;             /* (triangle_count x 3) */
    float force[3];                   /* by which the skin pushes it, newtons, mean over the last step */
    float penetration; /* of the deepest skin point in it, or the reverse, scene units; 0: none, or not measured */
    int crossings;     /* pairs of triangles of skin and prop that pass through each other; likewise */
    int bone;          /* joint whose bone is deepest in it; -1: none */
    float bone_depth;  /* how deep, scene units */
    bool dropped;      /* it fell out of reach, and stays where it is */
} cutis_prop_state;

/* Prop `index` of the character: free ones as the solver moves them, else as their node carries them. */
CUTIS_API void cutis_state_prop(const cutis_model *model, const cutis_state *state, int index, cutis_prop_state *prop);

#ifdef __cplusplus
}
#endif
#endif
