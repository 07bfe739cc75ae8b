/*
 * live_solvers.c: the solvers of the small web module. It plays characters live; solvers for bakes (layers, curves, slide)
 * are in the full module.
 */
#define SOLVER_LIST(ENTRY) \
    ENTRY(lbs)             \
    ENTRY(dqs)             \
    ENTRY(tissue)          \
    ENTRY(springs)         \
    ENTRY(lattice)

#include "../src/solvers/solver_table.c"
