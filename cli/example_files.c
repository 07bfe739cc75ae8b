/*
 * example_files.c: posed shapes of a character's mesh from files, for solver `curves` and for rigging.
 */
#include "example_files.h"

#include <stdlib.h>

int examples_load(const cutis_character *character, int count, const char *const *paths, example_set *set)
{
    int status = CLI_OK;
    *set = (example_set){.characters = cli_allocate((size_t)count + 1, sizeof *set->characters),
                         .positions = cli_allocate((size_t)count + 1, sizeof *set->positions)};

    for (int i = 0; i < count && status == CLI_OK; i++) {
        cutis_character *example = cli_load_character(paths[i], true, &status);
        if (!example) break;

        set->characters[set->count] = example;
        set->positions[set->count++] = example->positions;

        /* the same mesh in another pose */
        char own[32], other[32];
        if (example->vertex_count != character->vertex_count)
            status = cli_error("example '%s' has %s vertices and '%s' has %s; an example must be the same mesh in "
                               "another pose, with its vertices in the same order",
                               paths[i], cli_format_count(example->vertex_count, other), character->name,
                               cli_format_count(character->vertex_count, own));
    }

    return status;
}

void examples_free(example_set *set)
{
    for (int i = 0; i < set->count; i++) cutis_character_destroy(set->characters[i]);
    free(set->characters);
    free(set->positions);
    *set = (example_set){0};
}
