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

int examples_add(cutis_character **character, int count, const char *const *paths, double seconds, bool quiet)
{
    example_set set;
    cutis_error error;
    cutis_rig *rig = NULL;
    cutis_character *made = NULL;
    const cutis_character *rigged = *character;
    int status = examples_load(*character, count, paths, &set);
    if (status == CLI_OK && (*character)->joint_count == 0) {
        cutis_rig_def def = cutis_rig_def_default();
        def.character = *character;
        def.poses = set.positions;
        def.pose_count = set.count;
        if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK)
            status = cli_library_error(&error);
        else
            rigged = rig->character;
        for (int i = 0; rig && i < rig->sentence_count && !quiet; i++) printf("  rig: %s\n", rig->sentences[i]);
    }
    if (status == CLI_OK &&
        cutis_rig_examples(rigged, set.count, set.positions, seconds, NULL, &made, &error) != CUTIS_OK)
        status = cli_library_error(&error);
    if (status == CLI_OK) {
        cutis_character_destroy(*character);
        *character = made;
    }
    cutis_rig_destroy(rig);
    examples_free(&set);
    return status;
}
