/*
 * bake_rig.c: a skeleton for a bare mesh that is to move, and posed shapes as a clip.
 */
#include <stdio.h>

#include "bake/bake_private.h"
#include "cutis/rig.h"

cutis_result bake_rig(bake *b, const float *const *examples)
{
    cutis_rig *rig = NULL;
    cutis_rig_def def = cutis_rig_def_default();

    /* skeleton and weights, from the example poses where there are any */
    def.character = b->character;
    def.poses = examples;
    def.pose_count = b->def->example_count;
    def.allocator = b->def->allocator;

    cutis_result result = cutis_rig_create(&def, &rig, b->error);
    if (result != CUTIS_OK) return result;

    /* what was recognised */
    for (int i = 0; i < rig->sentence_count; i++) {
        char text[600];
        snprintf(text, sizeof text, "  rig: %.550s", rig->sentences[i]);
        bake_say(b, CUTIS_BAKE_NOTE, text);
    }

    /* the rig's character is the bake's from here on */
    cutis_character *made;
    result = cutis_character_create(rig->character, b->def->allocator, &made, b->error);
    cutis_rig_destroy(rig);
    if (result == CUTIS_OK) bake_replace_character(b, made);
    return result;
}

cutis_result bake_add_examples(bake *b, const float *const *examples)
{
    cutis_character *made;
    double seconds = b->def->example_seconds > 0 ? b->def->example_seconds : 1;
    cutis_result result =
        cutis_rig_examples(b->character, b->def->example_count, examples, seconds, b->def->allocator, &made, b->error);
    if (result == CUTIS_OK) bake_replace_character(b, made);
    return result;
}
