/*
 * example_files.h: posed shapes of a character's mesh from files.
 */
#ifndef CLI_EXAMPLE_FILES_H
#define CLI_EXAMPLE_FILES_H

#include "cli.h"

typedef struct example_set {
    int count;
    cutis_character **characters; /* (count) */
    const float **positions;      /* (count) of (vertex_count x 3) */
} example_set;

/* These return an exit code, message printed. */

/* Load them all; the set is to be freed in any case. */
int examples_load(const cutis_character *character, int count, const char *const *paths, example_set *set);
void examples_free(example_set *set);

#endif
