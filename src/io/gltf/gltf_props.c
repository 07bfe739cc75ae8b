/*
 * gltf_props.c: the nodes of a glTF file as props, to be put beside a character.
 */
#include <string.h>

#include "io/gltf/gltf_read.h"

/* The object that is handed out; its arrays live in its arena. */
typedef struct props_object {
    cutis_props props;
    arena memory;
} props_object;

static cutis_result props_copy(gltf_reader *reader, props_object *object, cutis_error *error)
{
    arena *memory = &object->memory;

    int count = reader->given.prop_count, warning_count = warning_finish(&reader->warnings);
    cutis_placed_prop *props = ARENA_ARRAY(memory, cutis_placed_prop, count + 1);
    const char **warnings = ARENA_ARRAY(memory, const char *, warning_count + 1);
    if (!props || !warnings) return error_memory(error, "props");

    /* props by themselves: placed in the scene, not below a joint */
    for (int i = 0; i < count; i++) {
        cutis_prop *prop = &props[i].prop;
        *prop = reader->given.props[i];
        affine_store(&reader->nodes[reader->joint_nodes[prop->joint]].world, props[i].place);
        prop->joint = -1;

        prop->name = arena_string(memory, prop->name);
        prop->positions = arena_copy(memory, prop->positions, (size_t)prop->vertex_count * 3, sizeof(float));
        prop->triangles = arena_copy(memory, prop->triangles, (size_t)prop->triangle_count * 3, sizeof(int));
    }

    for (int i = 0; i < warning_count; i++) warnings[i] = arena_string(memory, reader->warnings.sentences[i]);
    object->props = (cutis_props){count, props, warning_count, warnings};
    return memory->failed ? error_memory(error, "props") : CUTIS_OK;
}

static cutis_result props_read(const file_data *file, const char *path, const cutis_allocator *allocator,
                               props_object *object, cutis_error *error)
{
    gltf_document document;
    gltf_reader reader = {.document = &document, .all_props = true};
    reader.warnings.memory = &document.memory;

    /* nodes, joints and props of the file */
    cutis_result result = gltf_document_parse(&document, file->bytes, file->size, path, true, allocator, error);
    if (result == CUTIS_OK) result = gltf_read_nodes(&reader);
    if (result == CUTIS_OK) result = gltf_read_skeleton(&reader);
    if (result == CUTIS_OK) result = gltf_read_props(&reader);

    if (result == CUTIS_OK && reader.given.prop_count == 0)
        result = error_set(error, CUTIS_ERROR_DATA, "'%.300s' has no mesh that could be a prop", path);
    if (result == CUTIS_OK) result = props_copy(&reader, object, error);

    gltf_document_destroy(&document);
    return result;
}

cutis_result cutis_props_load(const char *path, const cutis_allocator *allocator, cutis_props **props,
                              cutis_error *error)
{
    *props = NULL;

    /* props are nodes of a glTF scene */
    if (!path_is_gltf(path))
        return error_set(error, CUTIS_ERROR_ARGUMENT, "'%.300s' has no extension of a props file: .glb or .gltf", path);
    file_data file = {0};

    cutis_result result = file_read(path, 0, allocator, &file, error);
    if (result != CUTIS_OK) return result;

    /* the object outlives the document, so it copies what it needs */
    props_object *object = memory_allocate(allocator, 1, sizeof *object);
    if (object) {
        object->memory = arena_create(allocator);
        result = props_read(&file, path, allocator, object, error);
        *props = &object->props;
        if (result != CUTIS_OK) {
            cutis_props_destroy(*props);
            *props = NULL;
        }
    } else {
        result = error_memory(error, "props");
    }
    file_release(&file);
    return result;
}

void cutis_props_destroy(cutis_props *props)
{
    if (!props) return;
    props_object *object = (props_object *)props; /* its first member */
    cutis_allocator allocator = object->memory.allocator;
    arena_destroy(&object->memory);
    memory_release(&allocator, object, 1, sizeof *object);
}
