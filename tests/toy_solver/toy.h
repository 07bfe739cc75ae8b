/*
 * toy.h: what the files of the solver `toy` share. Copy this folder to src/solvers/NAME to begin a solver.
 */
#ifndef SOLVERS_TOY_H
#define SOLVERS_TOY_H

#include "character/skinning.h"
#include "solvers/solver_kit.h"

/* Which parameter stands where in solver_build.values. */
enum { TOY_FOLLOWING, TOY_PARAMETER_COUNT };

enum { TOY_OUTPUT_LAG, TOY_OUTPUT_COUNT };

typedef struct toy_model {
    const cutis_character *character;
    int point_count;
    skinning skin;
    float *following; /* (point_count) 1/s */
} toy_model;

/* What changes; only floats. */
typedef struct toy_state {
    float *points; /* (point_count x 3) scene space */
    float *lag;    /* (vertex_count x 3) output */
} toy_state;

typedef struct toy_scratch {
    float *targets;  /* (point_count x 3) where skinning puts the points */
    float *skinning; /* of the skinning */
} toy_scratch;

/* toy_build.c */
cutis_result toy_build(const solver_build *build, void **data, cutis_error *error);

/* toy_state.c: views of a block; with memory NULL only its size, which they return. */
size_t toy_state_view(const toy_model *m, void *memory, toy_state *s);
size_t toy_scratch_view(const toy_model *m, void *memory, toy_scratch *s);
size_t toy_state_size(const void *data);
size_t toy_scratch_size(const void *data);
void toy_teleport(const void *data, void *state, const float transform[12]);
bool toy_output(const void *data, const void *state, int index, cutis_output *output);

#endif
