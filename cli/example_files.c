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

int examples_rig(cutis_character **character, const example_set *set, bool quiet)
{
    cutis_error error;
    cutis_rig *rig = NULL;
    cutis_rig_def def = cutis_rig_def_default();
    def.character = *character;
    def.poses = set->positions;
    def.pose_count = set->count;
    if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) return cli_library_error(&error);
    for (int i = 0; i < rig->sentence_count && !quiet; i++) printf("  rig: %s\n", rig->sentences[i]);
    cutis_character *made;
    cutis_result result = cutis_character_create(rig->character, NULL, &made, &error);
    cutis_rig_destroy(rig);
    if (result != CUTIS_OK) return cli_library_error(&error);
    cutis_character_destroy(*character);
    *character = made;
    return CLI_OK;
}

int examples_add(cutis_character **character, const example_set *set, double seconds)
{
    cutis_error error;
    cutis_character *made;
    if (cutis_rig_examples(*character, set->count, set->positions, seconds, NULL, &made, &error) != CUTIS_OK)
        return cli_library_error(&error);
    cutis_character_destroy(*character);
    *character = made;
    return CLI_OK;
}
