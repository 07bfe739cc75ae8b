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

/* Load them all; the set is to be freed in any case. Returns an exit code, message printed. */
int examples_load(const cutis_character *character, int count, const char *const *paths, example_set *set);
void examples_free(example_set *set);

/*
 * Put the character that goes through the examples, `seconds` apart, in the place of *character; one without a skeleton
 * gets one, which is told unless quiet. Returns an exit code, message printed.
 */
int examples_add(cutis_character **character, int count, const char *const *paths, double seconds, bool quiet);

#endif
