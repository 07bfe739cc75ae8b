/*
 * gltf_edit.c: a glTF document that was read, being changed.
 */
#include "io/gltf/gltf_edit.h"

#include <string.h>

json_t *gltf_edit_list(gltf_builder *out, const char *key)
{
    json_t *list = json_object_get(out->root, key);
    return list ? list : gltf_put_array(out, out->root, key);
}

/* Append the document's buffers to the binary chunk and let all views point there. */
static void join_buffers(gltf_builder *out, const gltf_document *d)
{
    size_t *offsets = ARENA_ARRAY(&out->memory, size_t, d->buffer_count + 1);
    if (!offsets) {
        out->failed = true;
        return;
    }

    /* one buffer, padded between its parts */
    for (int i = 0; i < d->buffer_count; i++) {
        uint8_t *bytes = gltf_bytes_push(out, d->buffers[i].size);
        if (!bytes) return;
        offsets[i] = (size_t)(bytes - out->bytes);
        memcpy(bytes, d->buffers[i].bytes, d->buffers[i].size);
    }

    /* views count from its start */
    for (size_t i = 0; i < json_array_size(out->views); i++) {
        json_t *view = json_array_get(out->views, i);
        json_int_t buffer = json_integer_value(json_object_get(view, "buffer"));
        if (buffer < 0 || buffer >= d->buffer_count) continue;

        json_int_t offset = (json_int_t)json_number_value(json_object_get(view, "byteOffset"));
        gltf_put(out, view, "buffer", json_integer(0));
        gltf_put(out, view, "byteOffset", json_integer(offset + (json_int_t)offsets[buffer]));
    }
}

void gltf_edit_begin(gltf_builder *out, const gltf_document *document)
{
    out->root = json_incref(document->root);
    out->accessors = gltf_edit_list(out, "accessors");
    out->views = gltf_edit_list(out, "bufferViews");
    join_buffers(out, document);
}

bool gltf_edit_image(gltf_builder *out, json_t *image, const char *source)
{
    /* what is in the file already stays as it is */
    const char *uri = gltf_get_string(image, "uri");
    if (!uri || strncmp(uri, "data:", 5) == 0) return true;

    /* a view of its bytes in place of the reference */
    file_data file = {0};
    const char *type = source ? gltf_image_read(source, uri, &out->memory, &file) : NULL;
    uint8_t *bytes = type ? gltf_bytes_push(out, file.size) : NULL;
    if (bytes) {
        memcpy(bytes, file.bytes, file.size);
        json_t *view = gltf_append_object(out, out->views);
        gltf_put(out, view, "buffer", json_integer(0));
        gltf_put(out, view, "byteOffset", json_integer((json_int_t)(bytes - out->bytes)));
        gltf_put(out, view, "byteLength", json_integer((json_int_t)file.size));

        gltf_put(out, image, "bufferView", json_integer((json_int_t)json_array_size(out->views) - 1));
        if (!json_object_get(image, "mimeType")) gltf_put(out, image, "mimeType", json_string(type));
        json_object_del(image, "uri");
    }

    file_release(&file);
    return bytes != NULL;
}

int gltf_edit_images(gltf_builder *out, const char *source)
{
    json_t *images = json_object_get(out->root, "images");
    int left = 0;
    for (size_t i = 0; i < json_array_size(images) && !out->failed && source; i++)
        left += !gltf_edit_image(out, json_array_get(images, i), source);
    return left;
}

void gltf_edit_end(gltf_builder *out)
{
    gltf_bytes_push(out, 0);
    if (out->size == 0) return;
    json_t *buffer = gltf_append_object(out, gltf_put_array(out, out->root, "buffers"));
    gltf_put(out, buffer, "byteLength", json_integer((json_int_t)out->size));
}
