/*
 * solver.h: the table that every solver is an entry of, and what the engine hands to it.
 *
 * To add a solver: a folder src/solvers/NAME with a file that defines `const solver solver_NAME`, and a line
 * in solver_table.c. Solvers never include each other.
 */
#ifndef SOLVERS_SOLVER_H
#define SOLVERS_SOLVER_H

#include "base/core.h"
#include "cutis/model.h"
#include "mesh/mesh.h"

/* Weights of the welded points, the average over a point's vertices. CSR as in cutis_character. */
typedef struct point_weights {
    const int *first; /* (point_count + 1) */
    const int *joints;
    const float *weights; /* sum to 1 for a skinned point; a point without influences does not move */
} point_weights;

typedef struct solver_build {
    const cutis_character *character;
    const mesh *mesh;             /* topology and rest positions of the points; lives as long as the model */
    const point_weights *weights; /* likewise */
    const double *values;         /* (parameter_count), in the order of the solver's table */
    const double *bone_values;    /* (joint_count x parameter_count): values, with those set for one joint put in */
    int parameter_count;          /* of the solver's table */
    double substep;               /* seconds */
    const cutis_jobs *jobs;
    arena *memory;             /* all of the model's memory; freed by the engine */
    cutis_allocator allocator; /* for temporary memory */
    void (*warn)(void *warn_context, const char *sentence);
    void (*note)(void *warn_context,
                 const char *sentence); /* of a choice that is nothing to worry about; may be NULL */
    void *warn_context;
} solver_build;

/* One substep's input. */
typedef struct solver_input {
    const float *joints;     /* (joint_count x 12) pose at the end of the substep */
    const float *joints_old; /* the same at its start */
    const float *skin;       /* (joint_count x 12) joints x inverse bind: rest scene space -> posed scene space */
    const float *rest;       /* for a geometric solver: morphed rest positions (vertex_count x 3), NULL: as built */
    const float *surface;    /* for a surface solver: the body's points at the end of the substep (point_count x 3) */
    double time;             /* at the end of the substep, seconds since reset */
    double h;                /* length, seconds */
    const cutis_drag *drags;
    int drag_count;
    float acceleration[3];         /* of flesh besides that of its bones, scene units/s2 */
    float wind[3];                 /* velocity of the air, scene units/s */
    const cutis_impulse *impulses; /* (impulse_count) at the start of this substep; finite */
    int impulse_count;
    bool between; /* nobody looks at this substep's points, for another follows at once: they may stay as they are */
    const cutis_jobs *jobs;
} solver_input;

typedef struct solver {
    cutis_solver_info info;
    bool float_state; /* the state is an array of floats, and a mean of near states is a state */
    /* Fill *data (in build->memory). */
    cutis_result (*build)(const solver_build *build, void **data, cutis_error *error);
    long (*element_count)(const void *data);
    /* Bytes of what changes (copied, hashed; hold no pointers) and of scratch (neither). */
    size_t (*state_size)(const void *data);
    size_t (*scratch_size)(const void *data);
    /* Put the state at rest in the pose of input, and fill points. */
    void (*reset)(const void *data, void *state, void *scratch, const solver_input *input, float *points);
    /*
     * Advance by one substep and fill points (point_count x 3; for a geometric solver the vertices). points
     * holds the last result on entry. Never allocates, never leaves a non-finite value.
     */
    void (*step)(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                 cutis_step_stats *stats);
    /* Fill what `output` gives, once after all substeps of a step and after a reset; NULL when step does so. */
    void (*finish)(const void *data, void *state, void *scratch, const solver_input *input);
    /* Move everything rigidly, velocities turned along; NULL for a solver without positions of its own. */
    void (*teleport)(const void *data, void *state, const float transform[12]);
    /* One of info.outputs; NULL when there are none. */
    bool (*output)(const void *data, const void *state, int index, cutis_output *output);
    /*
     * A prop as it is now; *prop comes as its node carries it, so that a collider needs its force and penetration
     * only. NULL for a solver that neither moves props nor weighs their touch.
     */
    void (*prop)(const void *data, const void *state, int index, cutis_prop_state *prop);
} solver;

extern const solver *const solver_table[];
extern const int solver_table_count;

/* Index of a parameter in a solver's table; -1 when there is none. */
int solver_parameter_index(const solver *s, const char *name);
/* Index of the first parameter of a role; -1 when there is none. */
int solver_role_index(const solver *s, cutis_parameter_role role);

#endif
