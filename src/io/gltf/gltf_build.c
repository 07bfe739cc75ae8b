/*
 * gltf_build.c: the pieces that a .glb file is put together from.
 */
#include "io/gltf/gltf_build.h"

#include <string.h>

#include "io/gltf/gltf_document.h"

/* ---- JSON and bytes; failures are remembered ---- */

json_t *gltf_keep(gltf_builder *w, json_t *value)
{
    if (!value) w->failed = true;
    return value;
}

/* object[key] = value; value is taken over in any case. */
void gltf_put(gltf_builder *w, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, gltf_keep(w, value)) != 0) w->failed = true;
}

void gltf_append(gltf_builder *w, json_t *array, json_t *value)
{
    if (json_array_append_new(array, gltf_keep(w, value)) != 0) w->failed = true;
}

/* A new object or array inside another. */
json_t *gltf_put_object(gltf_builder *w, json_t *object, const char *key)
{
    gltf_put(w, object, key, json_object());
    return json_object_get(object, key);
}

json_t *gltf_put_array(gltf_builder *w, json_t *object, const char *key)
{
    gltf_put(w, object, key, json_array());
    return json_object_get(object, key);
}

json_t *gltf_append_object(gltf_builder *w, json_t *array)
{
    gltf_append(w, array, json_object());
    return json_array_get(array, json_array_size(array) - 1);
}

void gltf_put_floats(gltf_builder *w, json_t *object, const char *key, const float *values, int count)
{
    json_t *array = gltf_put_array(w, object, key);
    for (int i = 0; i < count; i++) gltf_append(w, array, json_real((double)values[i]));
}

/* Text that may hold bytes which are not UTF-8, which JSON refuses. */
void gltf_put_string(gltf_builder *w, json_t *object, const char *key, const char *text)
{
    json_t *value = json_string(text);
    if (!value) {
        char *plain = arena_string(&w->memory, text);
        for (char *c = plain; plain && *c; c++)
            if ((unsigned char)*c >= 128) *c = '_';
        value = plain ? json_string(plain) : NULL;
    }
    gltf_put(w, object, key, value);
}

/* Room for `size` bytes at a multiple of 4; NULL when memory runs out. Valid until the next call. */
uint8_t *gltf_bytes_push(gltf_builder *w, size_t size)
{
    /* views are aligned to 4 bytes */
    size_t at = (w->size + 3) & ~(size_t)3;
    if (w->failed || size > SIZE_MAX / 4 - at) {
        w->failed = true;
        return NULL;
    }

    /* grow by doubling */
    if (at + size > w->capacity) {
        size_t capacity = MAX(2 * w->capacity, at + size + 65536);
        uint8_t *larger = memory_allocate(NULL, capacity, 1);
        if (!larger) {
            w->failed = true;
            return NULL;
        }

        if (w->size) memcpy(larger, w->bytes, w->size);
        memory_release(NULL, w->bytes, w->capacity, 1);
        w->bytes = larger;
        w->capacity = capacity;
    }

    w->size = at + size;
    return w->bytes + at;
}

/* ---- accessors ---- */

static const char *const type_names[17] = {[1] = "SCALAR", [2] = "VEC2", [3] = "VEC3", [4] = "VEC4", [16] = "MAT4"};

/* An accessor over the bytes from `offset` on, in a buffer view of its own. Returns its index. */
int gltf_accessor_add(gltf_builder *w, size_t offset, int count, int components, int type, int target)
{
    json_t *view = gltf_append_object(w, w->views), *accessor = gltf_append_object(w, w->accessors);
    gltf_put(w, view, "buffer", json_integer(0));
    gltf_put(w, view, "byteOffset", json_integer((json_int_t)offset));
    gltf_put(w, view, "byteLength", json_integer((json_int_t)(w->size - offset)));
    if (target) gltf_put(w, view, "target", json_integer(target));
    gltf_put(w, accessor, "bufferView", json_integer((json_int_t)json_array_size(w->views) - 1));
    gltf_put(w, accessor, "componentType", json_integer(type));
    gltf_put(w, accessor, "count", json_integer(count));
    gltf_put(w, accessor, "type", json_string(type_names[components]));
    return (int)json_array_size(w->accessors) - 1;
}

/* An accessor of floats (count x components), with its bounds when asked for. */
int gltf_floats_add(gltf_builder *w, const float *values, int count, int components, int target, bool bounds)
{
    size_t total = (size_t)count * (size_t)components;

    uint8_t *bytes = gltf_bytes_push(w, total * 4);
    if (!bytes) return 0;
    for (size_t i = 0; i < total; i++) bytes_put_u32(bytes + 4 * i, bytes_from_float(values[i]));
    int index = gltf_accessor_add(w, (size_t)(bytes - w->bytes), count, components, GLTF_FLOAT, target);

    /* bounds, where they are wanted */
    if (bounds && count > 0) {
        float low[16], high[16];
        for (int c = 0; c < components; c++) low[c] = high[c] = values[c];
        for (size_t i = 0; i < total; i++) {
            size_t c = i % (size_t)components;
            low[c] = MIN(low[c], values[i]);
            high[c] = MAX(high[c], values[i]);
        }

        json_t *accessor = json_array_get(w->accessors, (size_t)index);
        gltf_put_floats(w, accessor, "min", low, components);
        gltf_put_floats(w, accessor, "max", high, components);
    }

    return index;
}

/* An accessor of vertex numbers, in two bytes each when they fit (65535 itself is reserved). */
int gltf_indices_add(gltf_builder *w, const int *values, int count, int limit)
{
    size_t width = limit <= 65535 ? 2 : 4;
    uint8_t *bytes = gltf_bytes_push(w, (size_t)count * width);
    if (!bytes) return 0;
    for (size_t i = 0; i < (size_t)count; i++)
        for (size_t k = 0; k < width; k++) bytes[i * width + k] = (uint8_t)((uint32_t)values[i] >> (8 * k));
    return gltf_accessor_add(w, (size_t)(bytes - w->bytes), count, 1,
                             width == 2 ? GLTF_UNSIGNED_SHORT : GLTF_UNSIGNED_INT, GLTF_TARGET_INDICES);
}

cutis_result gltf_builder_pack(gltf_builder *w, const char *path, uint8_t **data, size_t *size, cutis_error *error)
{
    if (w->failed) return error_memory(error, "a glTF document");

    /* the JSON's length first: chunks are padded to a multiple of 4 */
    size_t length = json_dumpb(w->root, NULL, 0, JSON_COMPACT), padded = (length + 3) & ~(size_t)3;
    if (length == 0) return error_memory(error, "a glTF document");

    /* lengths in a .glb have 32 bits */
    size_t total = 12 + 8 + padded + 8 + w->size;
    if (total > UINT32_MAX)
        return error_set(error, CUTIS_ERROR_UNSUPPORTED, "cannot write '%s': a .glb file holds at most 4 GB", path);
    uint8_t *bytes = arena_push(&w->memory, total, 1);
    if (!bytes) return error_memory(error, "a glTF document");

    /* header: magic 'glTF', version, length */
    bytes_put_u32(bytes, 0x46546C67);
    bytes_put_u32(bytes + 4, 2);
    bytes_put_u32(bytes + 8, (uint32_t)total);

    /* JSON chunk, padded with spaces */
    bytes_put_u32(bytes + 12, (uint32_t)padded);
    bytes_put_u32(bytes + 16, 0x4E4F534A);
    if (json_dumpb(w->root, (char *)bytes + 20, length, JSON_COMPACT) != length)
        return error_memory(error, "a glTF document");
    memset(bytes + 20 + length, ' ', padded - length);

    /* binary chunk, which the caller has padded */
    bytes_put_u32(bytes + 20 + padded, (uint32_t)w->size);
    bytes_put_u32(bytes + 24 + padded, 0x004E4942);
    if (w->size) memcpy(bytes + 28 + padded, w->bytes, w->size);

    *data = bytes;
    *size = total;
    return CUTIS_OK;
}

cutis_result gltf_builder_save(gltf_builder *w, file_store *store, const char *path, size_t *size, cutis_error *error)
{
    uint8_t *data = NULL;
    size_t length = 0;
    cutis_result result = gltf_builder_pack(w, path, &data, &length, error);
    if (result != CUTIS_OK) return result;
    file_writer writer;
    result = file_writer_open(&writer, store, path, NULL, error);
    if (result != CUTIS_OK) return result;
    file_writer_put(&writer, data, length);
    if (size) *size = length;
    return file_writer_finish(&writer, error);
}

void gltf_builder_destroy(gltf_builder *w)
{
    json_decref(w->root);
    memory_release(NULL, w->bytes, w->capacity, 1);
    arena_destroy(&w->memory);
    *w = (gltf_builder){0};
}
