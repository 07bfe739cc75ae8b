/*
 * bake_no_rig.c: a bake in a library that was built without src/rig: characters come with their skeletons.
 */
#include "bake/bake_private.h"

static cutis_result unsupported(cutis_error *error)
{
    return error_set(error, CUTIS_ERROR_UNSUPPORTED,
                     "this library was built without rigging; give a character that has a skeleton");
}

cutis_result bake_rig(bake *b, const float *const *examples) { return (void)examples, unsupported(b->error); }
cutis_result bake_add_examples(bake *b, const float *const *examples) { return (void)examples, unsupported(b->error); }
