/* solver_table.c: every solver, in the order in which they are listed. One line each. */
#include "solvers/solver.h"

#include <string.h>

/* A test brings a list of its own. */
#ifndef SOLVER_LIST
/* clang-format off */
#define SOLVER_LIST(ENTRY) \
    ENTRY(lbs)             \
    ENTRY(dqs)             \
    ENTRY(layers)          \
    ENTRY(tissue)          \
    ENTRY(springs)         \
    ENTRY(curves)          \
    ENTRY(slide)           \
    ENTRY(lattice)
/* clang-format on */
#endif

#define DECLARE(name) extern const solver solver_##name;
#define LIST(name) &solver_##name,
SOLVER_LIST(DECLARE)
const solver *const solver_table[] = {SOLVER_LIST(LIST)};
const int solver_table_count = COUNT_OF(solver_table);

int solver_parameter_index(const solver *s, const char *name)
{
    for (int i = 0; i < s->info.parameter_count; i++) {
        if (strcmp(s->info.parameters[i].name, name) == 0) return i;
    }
    return -1;
}

int solver_role_index(const solver *s, cutis_parameter_role role)
{
    for (int i = 0; i < s->info.parameter_count; i++) {
        if (s->info.parameters[i].role == role) return i;
    }
    return -1;
}

int cutis_solver_count(void) { return solver_table_count; }

const cutis_solver_info *cutis_solver(int index)
{
    return index >= 0 && index < solver_table_count ? &solver_table[index]->info : NULL;
}

const cutis_solver_info *cutis_solver_find(const char *name)
{
    for (int i = 0; i < solver_table_count; i++) {
        if (strcmp(solver_table[i]->info.name, name) == 0) return &solver_table[i]->info;
    }
    return NULL;
}

const cutis_solver_info *cutis_solver_with(unsigned flags)
{
    for (int i = 0; i < solver_table_count; i++) {
        if ((solver_table[i]->info.flags & flags) == flags) return &solver_table[i]->info;
    }
    return NULL;
}

const cutis_solver_info *cutis_solver_default(const cutis_character *character)
{
    bool skinned = character->influence_first && character->influence_first[character->vertex_count] > 0;
    return cutis_solver_with(skinned ? CUTIS_SOLVER_PREFERRED : CUTIS_SOLVER_BASELINE);
}
