/*
 * model_object.h: how a model and a state look inside.
 *
 * A state is one block: a header, then arrays at offsets that the model knows. It holds no pointers, so that
 * a copy of the bytes is a snapshot. What only lives within a step (scratch) lies behind it and is neither
 * copied nor hashed.
 *
 *     header | joints | joints_old | joints_given | vertices | stage 0: joints, joints_old (of a stage with a substep
 *     of its own), points_old, points, state | stage 1 ... || scratch
 */
#ifndef ENGINE_MODEL_OBJECT_H
#define ENGINE_MODEL_OBJECT_H

#include "character/skinning.h"
#include "engine/settings.h"

enum { STAGE_LIMIT = 4 };

/* One solver of the stack. */
typedef struct stage {
    const solver *solver;
    void *data;
    solver_values values;
    int span;                  /* substeps of the last stage that one of this stage takes */
    double substep;            /* seconds */
    size_t joints, joints_old; /* offsets: the poses at the ends of its own substep; the model's where the span is 1 */
    size_t points_old, points; /* offsets; a geometric stage has none: its result is in vertices */
    size_t state;              /* offset */
    size_t scratch;            /* offset into the scratch */
} stage;

typedef struct worn worn;

struct cutis_model {
    arena memory;
    const cutis_character *character;
    const char *solver_name;
    mesh mesh;
    point_weights weights;
    double substep; /* of the first stage with a past, a whole number of those of the last; 0: no stage has a past */
    int parts;      /* substeps of the last stage in it */
    int stage_count;
    stage stages[STAGE_LIMIT];
    size_t joints, joints_old, joints_given, vertices; /* offsets into the state */
    size_t state_bytes;                                /* up to the scratch */
    size_t skin, target, scratch_bytes;                /* offsets into the scratch: two poses; its size */
    size_t morphed;                                    /* offset into the scratch: morphed rest positions, or offsets */
    size_t surface; /* offset into the scratch: points between two substeps of a stage */
    worn *worn;     /* parts that are carried along by a model of the rest (worn.h); NULL: none, all below is used */
    const char *warnings[32];
    int warning_count;
};

struct cutis_state {
    /* Of this object: not part of the simulation. */
    cutis_allocator allocator;
    size_t block_bytes;
    /* Of the simulation. */
    double time;      /* seconds since reset */
    int64_t substeps; /* of the last stage, taken since reset */
    cutis_step_stats stats;
};

/* Room for `bytes` behind *end, which moves behind it, at a line of memory. Returns its offset. */
size_t model_take(size_t *end, size_t bytes);

/*
 * Copy a pose; a joint whose matrix makes no sense keeps what `to` holds: not finite, stretched ten thousand
 * times, or a million sizes away, where floats no longer tell a finger from an arm. Returns their number.
 */
int state_copy_pose(const cutis_model *m, float *to, const float *from);
/* `base` (vertex_count x 3; NULL: zeros) plus all morphs by their weights, into scratch. NULL when none counts. */
float *state_morph_sum(const cutis_model *m, cutis_state *state, const float *weights, const float *base);
/* Move a pose (joint_count x 12), or points (count x 3), rigidly. */
void state_move_joints(const cutis_model *m, float *joints, const float transform[12]);
void state_move_points(float *points, int count, const float transform[12]);

#endif
