/*
 * zoo.c: the list of characters made by code, and the way to make one.
 */
#include <string.h>

#include "cutis/zoo.h"
#include "zoo/zoo_kit.h"

typedef struct zoo_species {
    cutis_zoo_entry entry;
    void (*describe)(zoo_kit *kit);
} zoo_species;

static const zoo_species species[] = {
    {{"arm", "an arm with a fist: flex, twist, shake"}, zoo_describe_arm},
    {{"hand", "a hand with five fingers: fist, spread, grasp"}, zoo_describe_hand},
    {{"man", "a broad man with a belly: walk, jump, shimmy"}, zoo_describe_man},
    {{"cat", "a cat on four legs, with a tail: walk, stretch"}, zoo_describe_cat},
    {{"dancer", "a slim dancer: walk, jump, shimmy"}, zoo_describe_dancer},
    {{"bunny", "a toy with long ears, thin arms and a big belly: dance"}, zoo_describe_bunny},
    {{"torus", "a ring: squash, shake"}, zoo_describe_torus},
    {{"cylinder", "a closed cylinder whose right half turns: twist"}, zoo_describe_cylinder},
    {{"neck", "head and throat, with an Adam's apple under the skin: look_up, swallow"}, zoo_describe_neck},
};

int cutis_zoo_count(void) { return COUNT_OF(species); }

cutis_zoo_entry cutis_zoo(int index)
{
    if (index < 0 || index >= COUNT_OF(species)) return (cutis_zoo_entry){NULL, NULL};
    return species[index].entry;
}

cutis_result cutis_zoo_make(const char *name, double resolution, const cutis_allocator *allocator,
                            cutis_character **character, cutis_error *error)
{
    /* the species, or the nearest name */
    const zoo_species *found = NULL;
    name_search search = name_search_start(name);
    for (int i = 0; i < COUNT_OF(species); i++) {
        name_search_offer(&search, species[i].entry.name);
        if (strcmp(name, species[i].entry.name) == 0) found = &species[i];
    }
    if (!found && search.nearest)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no built-in character '%s'; did you mean '%s'?", name,
                         search.nearest);
    if (!found) return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no built-in character '%s'", name);

    if (!(resolution >= 0.1 && resolution <= 20))
        return error_set(error, CUTIS_ERROR_ARGUMENT, "resolution %g is not between 0.1 and 20", resolution);

    /* describe, then sculpt */
    zoo_kit *kit = memory_allocate(allocator, 1, sizeof(zoo_kit));
    if (!kit) return error_memory(error, "a character of the zoo");
    kit->name = found->entry.name;
    kit->relax_count = 24;
    kit->weight_passes = 6;
    found->describe(kit);
    cutis_result result = zoo_sculpt(kit, resolution, allocator, character, error);
    memory_release(allocator, kit, 1, sizeof(zoo_kit));
    return result;
}
