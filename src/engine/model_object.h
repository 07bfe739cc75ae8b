/*
 * model_object.h: how a model and a state look inside.
 *
 * A state is one block: a header, then arrays at offsets that the model knows. It holds no pointers, so that
 * a copy of the bytes is a snapshot. What only lives within a step (scratch) lies behind it and is neither
 * copied nor hashed.
 *
 *     header | instant, morph_weights, body_points_old | joints | joints_old | joints_given | vertices | stage 0:
 * joints, joints_old (of a stage with a substep of its own), points_old, points, body_points (of one on a body), state
 * | stage 1 ... | links, animated (of an articulation) || scratch
 *
 * What is between the header and the joints determines what is drawn of an instant, and not how the state goes on: it
 * is copied, and not hashed.
 */
#ifndef ENGINE_MODEL_OBJECT_H
#define ENGINE_MODEL_OBJECT_H

#include "articulation/articulation.h"
#include "body/body.h"
#include "character/skinning.h"
#include "engine/settings.h"
#include "show/show.h"

enum { STAGE_LIMIT = 4, DRAG_LIMIT = 256 };

/* One solver of the stack. */
typedef struct stage {
    const solver *solver;
    void *data;
    solver_values values;
    int span;                  /* substeps of the last stage that one of this stage takes */
    double substep;            /* seconds */
    size_t joints, joints_old; /* offsets: the poses at the ends of its own substep; the model's where the span is 1 */
    size_t points_old, points; /* offsets, of the drawn mesh; a geometric stage has none: its result is in vertices */
    bool on_body;              /* runs on the simulation body: */
    size_t body_points;        /* offset, of its points; the drawn points follow them */
    size_t body_points_old;    /* offset, at the end of the substep before; of a single stage */
    size_t state;              /* offset */
    size_t scratch;            /* offset into the scratch */
} stage;

struct cutis_model {
    arena memory;
    const cutis_character *character;
    const char *solver_name;
    mesh mesh;
    drawn_cracks cracks; /* of the mesh */
    point_weights weights;
    double substep; /* of the first dynamic stage, a whole number of those of the last; 0: all are geometric */
    int parts;      /* substeps of the last stage in it */
    int stage_count;
    stage stages[STAGE_LIMIT];
    size_t joints, joints_old, joints_given, vertices; /* offsets into the state */
    size_t state_bytes;                                /* up to the scratch */
    size_t skin, target, scratch_bytes;                /* offsets into the scratch: two poses; its size */
    size_t morphed;                                    /* offset into the scratch: morphed rest positions, or offsets */
    size_t surface; /* offset into the scratch: points between two substeps of a stage */
    sim_body body;  /* of the first stage, where that runs on one */
    point_weights body_weights;
    display display;      /* what is drawn; only a single dynamic solver is bounded */
    size_t show;          /* offset into the scratch: what the display needs */
    size_t instant;       /* offset into the state: the pose of the instant */
    size_t morph_weights; /* offset into the state: (morph_count), at the instant */
    size_t drags;         /* offset into the scratch: (drag_limit) drags of the body's points */
    size_t outputs; /* offset into the scratch: (outputs of the first stage x vertex_count x 3) at the drawn vertices */
    articulation articulation;           /* of the first stage's flesh; no links: joints are fixed */
    size_t links, animated;              /* offsets into the state: corrections, and the pose without them */
    size_t articulation_scratch, before; /* offsets into the scratch; a pose */
    const char *warnings[32];
    int warning_count;
    const char *notes[8];
    int note_count;
};

/* A blow, until all stages have begun a substep. */
typedef struct pending_blow {
    cutis_impulse impulse;
    unsigned stages; /* bits of those that have not felt it */
} pending_blow;

struct cutis_state {
    /* Of this object: not part of the simulation. */
    cutis_allocator allocator;
    size_t block_bytes;
    /* Of the simulation. */
    double time;      /* seconds since reset */
    int64_t substeps; /* of the last stage, taken since reset */
    cutis_step_stats stats;
    pending_blow blows[CUTIS_MAX_IMPULSES]; /* (blow_count) that not every stage has felt */
    int blow_count;
    deviation_slack slack; /* of drags, forces and blows, in the bounds of what is drawn */
    bool shown;            /* the vertices are those of the instant, */
    float amount;          /* with this amount of the deviation */
};

/* A geometric stage depends on the pose alone. */
static inline bool stage_is_geometric(const stage *s) { return s->solver->info.flags & CUTIS_SOLVER_GEOMETRIC; }

/* Whether a stage has points of the drawn mesh in the state: a single one on a body has the body's alone. */
static inline bool stage_has_points(const cutis_model *m, const stage *s)
{
    return m->stage_count > 1 || !(stage_is_geometric(s) || s->on_body);
}

static inline float *state_floats(const cutis_state *state, size_t offset) { return (float *)((char *)state + offset); }

static inline void *state_scratch(const cutis_model *m, const cutis_state *state, size_t offset)
{
    return (char *)state + m->state_bytes + offset;
}

/* An instant this near a substep's end, in substeps, is that end. */
static const double INSTANT_TOLERANCE = 1e-6;

/* Substeps of the last stage up to the state's time. */
static inline double state_reached(const cutis_model *m, const cutis_state *state)
{
    return state->time / m->stages[m->stage_count - 1].substep;
}

/* Whether the state's time is the end of its last substep, as it always is of a geometric one. */
static inline bool state_is_exact(const cutis_model *m, const cutis_state *state)
{
    return m->substep == 0 || !(state_reached(m, state) < (double)state->substeps - INSTANT_TOLERANCE);
}

/* state.c: evaluate a stack without a dynamic stage in the pose of the state; let every stage fill its outputs. */
void state_run_geometric(const cutis_model *m, cutis_state *state, const cutis_jobs *jobs);
void state_finish(const cutis_model *m, cutis_state *state, const cutis_jobs *jobs);

#endif
