/*
 * gltf_build.h: a glTF document being made: its JSON and its one binary chunk.
 *
 * A failure (memory) is remembered in `failed`, so that a writer may check once at its end; functions then do nothing
 * and return NULL or 0.
 */
#ifndef IO_GLTF_BUILD_H
#define IO_GLTF_BUILD_H

#include <jansson.h>

#include "io/files.h"

enum { GLTF_TARGET_NONE = 0, GLTF_TARGET_VERTICES = 34962, GLTF_TARGET_INDICES = 34963 };

typedef struct gltf_builder {
    arena memory;   /* of whoever builds */
    uint8_t *bytes; /* the binary chunk */
    size_t size, capacity;
    json_t *root;              /* owned */
    json_t *accessors, *views; /* borrowed from root */
    bool failed;               /* memory ran out */
} gltf_builder;

void gltf_builder_destroy(gltf_builder *builder);
/* The .glb as bytes, in the builder's memory. */
cutis_result gltf_builder_pack(gltf_builder *builder, const char *path, uint8_t **data, size_t *size,
                               cutis_error *error);
/* Write the .glb, put in place when whole, or into a store that is not NULL. size (may be NULL): of the file. */
cutis_result gltf_builder_save(gltf_builder *builder, file_store *store, const char *path, size_t *size,
                               cutis_error *error);

/* ---- JSON; values are taken over in any case ---- */

json_t *gltf_keep(gltf_builder *builder, json_t *value); /* the value; NULL is a failure */
void gltf_put(gltf_builder *builder, json_t *object, const char *key, json_t *value);
void gltf_append(gltf_builder *builder, json_t *array, json_t *value);
/* A new object or array inside another. */
json_t *gltf_put_object(gltf_builder *builder, json_t *object, const char *key);
json_t *gltf_put_array(gltf_builder *builder, json_t *object, const char *key);
json_t *gltf_append_object(gltf_builder *builder, json_t *array);
void gltf_put_floats(gltf_builder *builder, json_t *object, const char *key, const float *values, int count);
/* Text that may hold bytes which are not UTF-8, which JSON refuses. */
void gltf_put_string(gltf_builder *builder, json_t *object, const char *key, const char *text);

/* ---- bytes and accessors ---- */

/* Room for `size` bytes at a multiple of 4; NULL when memory runs out. Valid until the next call. */
uint8_t *gltf_bytes_push(gltf_builder *builder, size_t size);
/* An accessor over the bytes from `offset` on, in a buffer view of its own. Returns its index. */
int gltf_accessor_add(gltf_builder *builder, size_t offset, int count, int components, int type, int target);
/* An accessor of floats (count x components), with its bounds when asked for. */
int gltf_floats_add(gltf_builder *builder, const float *values, int count, int components, int target, bool bounds);
/* An accessor of vertex numbers, in two bytes each when they fit (65535 itself is reserved). */
int gltf_indices_add(gltf_builder *builder, const int *values, int count, int limit);

#endif
