/* toy_table.c: the table of solvers with one more, `toy`. Nothing else of the library or the program is changed. */
#define SOLVER_LIST(ENTRY) ENTRY(lbs) ENTRY(layers) ENTRY(slide) ENTRY(toy)
#include "solvers/solver_table.c"
