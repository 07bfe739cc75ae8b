/*
 * gltf_read.c: a character from a .glb or .gltf file.
 */
#include "io/gltf/gltf_read.h"

cutis_result gltf_read_all(gltf_reader *reader)
{
    cutis_result (*const steps[])(gltf_reader *) = {gltf_read_nodes,   gltf_read_skeleton, gltf_read_settings,
                                                    gltf_read_surface, gltf_read_props,    gltf_read_clips};
    cutis_result result = CUTIS_OK;
    for (int i = 0; result == CUTIS_OK && i < COUNT_OF(steps); i++) result = steps[i](reader);
    return result;
}

static cutis_result read_character(gltf_reader reader, const void *data, size_t size, const char *path, bool external,
                                   const cutis_allocator *allocator, cutis_character **character, cutis_error *error)
{
    gltf_document document;
    reader.document = &document;
    reader.warnings.memory = &document.memory;

    cutis_result result = gltf_document_parse(&document, data, size, path, external, allocator, error);
    if (result == CUTIS_OK) result = gltf_read_all(&reader);

    /* with a name and what the reader noticed */
    cutis_character *given = &reader.given;
    if (result == CUTIS_OK) {
        given->name = path_stem(&document.memory, path);
        given->warning_count = warning_finish(&reader.warnings);
        given->warnings = reader.warnings.sentences;
        result = document.memory.failed ? gltf_error_memory(&document)
                                        : cutis_character_create(given, allocator, character, error);
    }

    gltf_document_destroy(&document);
    return result;
}

cutis_result gltf_character_read(const void *data, size_t size, const char *path, bool external,
                                 const cutis_allocator *allocator, cutis_character **character, cutis_error *error)
{
    return read_character((gltf_reader){0}, data, size, path, external, allocator, character, error);
}

cutis_result gltf_motion_read(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                              cutis_character **character, cutis_error *error)
{
    return read_character((gltf_reader){.motion_only = true}, data, size, path, true, allocator, character, error);
}

/* Whether some prop has a mesh. */
static cutis_result find_prop_mesh(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                                   bool *found, cutis_error *error)
{
    gltf_document document;
    gltf_reader reader = {.document = &document, .props_as_mesh = true};
    reader.warnings.memory = &document.memory;

    cutis_result result = gltf_document_parse(&document, data, size, path, true, allocator, error);
    if (result == CUTIS_OK) result = gltf_read_nodes(&reader);
    *found = false;
    for (int i = 0; result == CUTIS_OK && i < document.node_count; i++)
        *found |= reader.nodes[i].in_scene && reader.nodes[i].mesh >= 0;
    gltf_document_destroy(&document);
    return result;
}

cutis_result gltf_props_read(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                             cutis_character **character, cutis_error *error)
{
    bool found;
    *character = NULL;
    cutis_result result = find_prop_mesh(data, size, path, allocator, &found, error);
    if (result != CUTIS_OK || !found) return result;
    return read_character((gltf_reader){.props_as_mesh = true}, data, size, path, true, allocator, character, error);
}
