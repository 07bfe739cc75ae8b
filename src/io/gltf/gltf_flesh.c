/*
 * gltf_flesh.c: add the extension CUTIS_flesh to a glTF file.
 *
 * The data is one buffer view. The extension names it, and the nodes of the joints in the order of the data. All else
 * of the file stays as it is, so every engine plays it with plain skinning.
 */
#include "io/gltf/gltf_flesh.h"

#include <string.h>

#include "io/gltf/gltf_edit.h"
#include "io/gltf/gltf_read.h"

static const char EXTENSION[] = "CUTIS_flesh";

static void list_extension(gltf_builder *out)
{
    json_t *used = gltf_edit_list(out, "extensionsUsed");
    for (size_t i = 0; i < json_array_size(used); i++) {
        const char *name = json_string_value(json_array_get(used, i));
        if (name && strcmp(name, EXTENSION) == 0) return;
    }
    gltf_append(out, used, json_string(EXTENSION));
}

static void put_data(const gltf_flesh_def *def, const gltf_reader *reader, gltf_builder *out)
{
    uint8_t *bytes = gltf_bytes_push(out, def->size);
    if (!bytes) return;
    memcpy(bytes, def->data, def->size);

    json_t *view = gltf_append_object(out, out->views);
    gltf_put(out, view, "buffer", json_integer(0));
    gltf_put(out, view, "byteOffset", json_integer((json_int_t)(bytes - out->bytes)));
    gltf_put(out, view, "byteLength", json_integer((json_int_t)def->size));

    json_t *extensions = json_object_get(out->root, "extensions");
    if (!extensions) extensions = gltf_put_object(out, out->root, "extensions");
    json_t *flesh = gltf_put_object(out, extensions, EXTENSION);
    gltf_put(out, flesh, "version", json_integer(1));
    gltf_put(out, flesh, "bufferView", json_integer((json_int_t)json_array_size(out->views) - 1));
    json_t *joints = gltf_put_array(out, flesh, "joints");
    for (int j = 0; j < def->joint_count; j++)
        gltf_append(out, joints, json_integer(reader->joint_nodes[def->joints[j]]));
    list_extension(out);
}

cutis_result gltf_flesh_write(const gltf_flesh_def *def, const char *path, size_t *file_bytes, cutis_error *error)
{
    gltf_document document;
    gltf_builder out = {.memory = arena_create(def->allocator)};
    cutis_result result =
        gltf_document_parse(&document, def->source, def->source_size, def->name, def->external, def->allocator, error);
    gltf_reader reader = {.document = &document};
    reader.warnings.memory = &document.memory;
    if (result == CUTIS_OK) result = gltf_read_all(&reader);

    if (result == CUTIS_OK &&
        (reader.given.vertex_count != def->character->vertex_count || reader.joint_count < def->character->joint_count))
        result = error_set(error, CUTIS_ERROR_DATA,
                           "'%.200s' has %d vertices, but the character has %d: it was not loaded from this file",
                           def->name, reader.given.vertex_count, def->character->vertex_count);
    if (result == CUTIS_OK) {
        gltf_edit_begin(&out, &document);
        gltf_edit_images(&out, def->external ? def->name : NULL);
        if (!out.failed) put_data(def, &reader, &out);
        gltf_edit_end(&out);
        if (out.failed) result = error_memory(error, "a glTF document");
    }

    if (result == CUTIS_OK) result = gltf_builder_save(&out, NULL, path, file_bytes, error);
    gltf_builder_destroy(&out);
    gltf_document_destroy(&document);
    return result;
}
