/*
 * geometric.h: what lbs and dqs share. Both are a pose applied to the vertices, without past or parameters.
 */
#ifndef SOLVERS_GEOMETRIC_H
#define SOLVERS_GEOMETRIC_H

#include "character/skinning.h"
#include "solvers/solver.h"

/* The data of a geometric solver is a `skinning` of the vertices. */
cutis_result geometric_build(const solver_build *build, void **data, cutis_error *error);
long geometric_element_count(const void *data);
size_t geometric_state_size(const void *data);
size_t geometric_scratch_size(const void *data);
/* The skinning of the data, with the rest positions of the input when it brings morphed ones. */
skinning geometric_morphed(const void *data, const solver_input *input);

#endif
