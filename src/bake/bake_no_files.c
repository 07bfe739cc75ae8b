/*
 * bake_no_files.c: a bake in a library that was built without src/io: characters come from the host, frames go to it.
 */
#include "bake/bake_private.h"

static cutis_result unsupported(cutis_error *error)
{
    return error_set(error, CUTIS_ERROR_UNSUPPORTED, "this library was built without files");
}

bool bake_is_gltf(const char *path) { return (void)path, false; }
bool bake_is_glb(const char *path) { return (void)path, false; }
cutis_result bake_check_format(const char *path, cutis_error *error) { return (void)path, unsupported(error); }
cutis_result bake_load_character(bake *b) { return unsupported(b->error); }
cutis_result bake_add_motion(bake *b) { return unsupported(b->error); }
cutis_result bake_load_surface(bake *b) { return unsupported(b->error); }
void bake_unload_surface(bake *b) { (void)b; }
cutis_result bake_rig_source(bake *b) { return unsupported(b->error); }
cutis_result bake_load_examples(bake *b, const float ***positions) { return (void)positions, unsupported(b->error); }
cutis_result bake_add_prop_file(const cutis_character *character, const cutis_prop_request *request,
                                void (*message)(void *context, cutis_bake_message kind, const char *text),
                                void *context, const cutis_allocator *allocator, cutis_character **result,
                                cutis_error *error)
{
    (void)character, (void)request, (void)message, (void)context, (void)allocator, (void)result;
    return unsupported(error);
}
cutis_result bake_files_open(bake *b) { return unsupported(b->error); }
cutis_result bake_files_append(bake *b, int frame) { return (void)frame, unsupported(b->error); }
cutis_result bake_files_finish(bake *b) { return unsupported(b->error); }
void bake_files_discard(bake *b) { (void)b; }
