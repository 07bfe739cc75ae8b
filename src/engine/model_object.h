/*
 * model_object.h: how a model and a state look inside.
 *
 * A state is one block: a header, then arrays at offsets that the model knows. It holds no pointers, so that
 * a copy of the bytes is a snapshot. What only lives within a step (scratch) lies behind it and is neither
 * copied nor hashed.
 *
 *     header | joints | joints_old | joints_given | vertices | stage 0: joints, joints_old (of a stage with a substep
 *     of its own), points_old, points, body_points (of one on a body), state | stage 1 ... | links, animated (of an
 *     articulation), shown || scratch
 */
#ifndef ENGINE_MODEL_OBJECT_H
#define ENGINE_MODEL_OBJECT_H

#include "articulation/articulation.h"
#include "body/body.h"
#include "body/deviation.h"
#include "character/skinning.h"
#include "engine/settings.h"
#include "engine/unseen.h"

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
    size_t show; /* offset into the scratch: what body_show needs */
    size_t
        instant; /* offset into the scratch: a pose and three times the drawn points, for instants between substeps */
    deviation_bound bound; /* of what is shown against linear skinning; only a single dynamic solver has one */
    size_t limit;   /* offset into the scratch: a pose, its skin matrices, the drawn points, and what deviation_limit
                       needs */
    size_t drags;   /* offset into the scratch: (drag_limit) drags of the body's points */
    size_t outputs; /* offset into the scratch: (outputs of the first stage x vertex_count x 3) at the drawn vertices */
    articulation articulation;      /* of the first stage's flesh; no links: joints are fixed */
    size_t links, animated, shown;  /* offsets into the state: corrections, the pose without them, the pose shown */
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
    bool unseen; /* see unseen.h */
    /* Of the simulation. */
    double time;      /* seconds since reset */
    int64_t substeps; /* of the last stage, taken since reset */
    cutis_step_stats stats;
    pending_blow blows[CUTIS_MAX_IMPULSES]; /* (blow_count) that not every stage has felt */
    int blow_count;
    deviation_slack slack; /* of drags, forces and blows, in the bounds of what is shown */
};

/* A geometric stage depends on the pose alone. */
static inline bool stage_is_geometric(const stage *s) { return s->solver->info.flags & CUTIS_SOLVER_GEOMETRIC; }

#endif
