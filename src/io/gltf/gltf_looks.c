/*
 * gltf_looks.c: how a glTF file's materials look: base colour, opacity, normal map; for those who draw pictures.
 *
 * Images are handed on as the bytes of their files. The reader of characters leaves all of this out: a bake needs none
 * of it, and keeps the file's own materials.
 */
#include <string.h>

#include "cutis/io.h"
#include "io/gltf/gltf_document.h"

typedef struct looks_owner {
    cutis_looks looks; /* first: what the caller holds */
    arena memory;
} looks_owner;

/* Copy the bytes of the image of a texture; leaves *bytes NULL where it cannot be had. */
static void image_copy(gltf_document *document, const char *path, const json_t *use, arena *memory, const void **bytes,
                       size_t *size)
{
    const json_t *textures = json_object_get(document->root, "textures");
    const json_t *images = json_object_get(document->root, "images");
    json_int_t index = json_integer_value(json_object_get(use, "index"));
    const json_t *texture = use && index >= 0 ? json_array_get(textures, (size_t)index) : NULL;
    const json_t *source = json_object_get(texture, "source");
    json_int_t image_index = json_integer_value(source);
    const json_t *image = source && image_index >= 0 ? json_array_get(images, (size_t)image_index) : NULL;
    if (!image) return;

    /* in a buffer, or in a file beside this one */
    const json_t *view = json_object_get(image, "bufferView");
    const char *uri = gltf_get_string(image, "uri");
    json_int_t view_index = json_integer_value(view);
    const uint8_t *found = NULL;
    size_t found_size = 0;
    file_data file = {0};

    if (json_is_integer(view) && view_index >= 0 && view_index < document->view_count) {
        if (gltf_view_bytes(document, (int)view_index, &found, &found_size) != CUTIS_OK) found = NULL;
    } else if (uri && gltf_image_read(path, uri, &document->memory, &file)) {
        found = file.bytes;
        found_size = file.size;
    }

    if (found) *bytes = arena_copy(memory, found, found_size, 1);
    if (*bytes) *size = found_size;
    file_release(&file);
}

/* Whether a texture is laid out by the first texture coordinates, the only ones that a character has. */
static bool use_is_first(const json_t *use) { return json_integer_value(json_object_get(use, "texCoord")) == 0; }

static void look_read(gltf_document *document, const char *path, int index, arena *memory, cutis_look *look)
{
    const json_t *material = json_array_get(document->materials, (size_t)index);
    const json_t *surface = json_object_get(material, "pbrMetallicRoughness");
    const json_t *base = json_object_get(surface, "baseColorTexture"),
                 *bumps = json_object_get(material, "normalTexture");

    /* the name that parts have it by */
    const char *name = gltf_get_string(material, "name");
    look->name = name && *name ? arena_string(memory, name) : arena_format(memory, "material_%d", index);

    /* colour; glTF's default is white */
    double color[4] = {1, 1, 1, 1};
    bool found;
    if (gltf_get_numbers(document, surface, "baseColorFactor", "a material", 4, color, &found) != CUTIS_OK || !found)
        for (int k = 0; k < 4; k++) color[k] = 1;
    for (int k = 0; k < 4; k++) look->color[k] = (float)color[k];

    /* holes; what is blended is drawn where it is more than half opaque */
    const char *mode = gltf_get_string(material, "alphaMode");
    const json_t *cutoff = json_object_get(material, "alphaCutoff");
    if (mode && strcmp(mode, "MASK") == 0)
        look->cutoff = json_is_number(cutoff) ? (float)json_number_value(cutoff) : 0.5f;
    else if (mode && strcmp(mode, "BLEND") == 0)
        look->cutoff = 0.5f;

    if (base && use_is_first(base)) image_copy(document, path, base, memory, &look->image, &look->image_size);
    if (bumps && use_is_first(bumps)) image_copy(document, path, bumps, memory, &look->normals, &look->normals_size);
    look->left_out = (base && !look->image) || (bumps && !look->normals);
}

cutis_result cutis_looks_load(const char *path, const cutis_allocator *allocator, cutis_looks **looks,
                              cutis_error *error)
{
    *looks = NULL;
    if (!path_is_gltf(path))
        return error_set(error, CUTIS_ERROR_UNSUPPORTED, "%s: materials can only be read from glTF files", path);

    file_data file = {0};
    gltf_document document = {0};
    cutis_result result = file_read(path, 0, allocator, &file, error);
    if (result != CUTIS_OK) return result;
    result = gltf_document_parse(&document, file.bytes, file.size, path, true, allocator, error);

    /* its materials, in memory of their own */
    looks_owner *owner = result == CUTIS_OK ? memory_allocate(allocator, 1, sizeof *owner) : NULL;
    if (result == CUTIS_OK && !owner) result = error_memory(error, "materials");
    if (result == CUTIS_OK) {
        owner->memory = arena_create(allocator);
        cutis_look *list = ARENA_ARRAY(&owner->memory, cutis_look, document.material_count + 1);
        for (int i = 0; list && i < document.material_count; i++)
            look_read(&document, path, i, &owner->memory, &list[i]);

        owner->looks.looks = list;
        owner->looks.look_count = document.material_count;
        *looks = &owner->looks;
        if (owner->memory.failed) {
            cutis_looks_destroy(*looks);
            *looks = NULL;
            result = error_memory(error, "materials");
        }
    }

    gltf_document_destroy(&document);
    file_release(&file);
    return result;
}

void cutis_looks_destroy(cutis_looks *looks)
{
    if (!looks) return;
    looks_owner *owner = (looks_owner *)looks;
    cutis_allocator allocator = owner->memory.allocator;
    arena_destroy(&owner->memory);
    memory_release(&allocator, owner, 1, sizeof *owner);
}
