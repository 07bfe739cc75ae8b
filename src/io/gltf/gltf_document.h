/*
 * gltf_document.h: a glTF 2.0 file as it stands: its JSON, its buffers, its accessors.
 *
 * This layer knows the container (.glb chunks, .gltf with external or data-URI buffers), checks extensions and
 * the bounds of everything that can be reached, and decodes accessors. It does not know what a character is:
 * gltf_read.c builds one from it, and a writer that keeps the input's own JSON edits `root`.
 *
 * JSON objects are borrowed from `root`. After a successful parse every top-level list that cutis reads is
 * an array of objects (or absent).
 */
#ifndef IO_GLTF_DOCUMENT_H
#define IO_GLTF_DOCUMENT_H

#include <jansson.h>

#include "io/files.h"

typedef struct gltf_buffer {
    const uint8_t *bytes;
    size_t size;    /* byteLength; at least so much is there */
    file_data file; /* what an external buffer was read into */
} gltf_buffer;

typedef struct gltf_document {
    const char *name; /* base name, for messages */
    json_t *root;     /* owned */
    json_t *scenes, *nodes, *meshes, *skins, *animations, *accessors, *buffer_views,
        *materials; /* borrowed, may be NULL */
    int scene_count, node_count, mesh_count, skin_count, animation_count, accessor_count, view_count, material_count;
    gltf_buffer *buffers;
    int buffer_count;
    const char *const *extensions; /* (extension_count) used by the file, also those that were unpacked */
    int extension_count;
    arena memory;       /* of decoded buffers and of whoever reads the document */
    size_t input_bytes; /* of the file and its external buffers */
    size_t charged;     /* see gltf_charge */
    cutis_error *error; /* where errors go; may be NULL */
} gltf_document;

/*
 * Parse `size` bytes that stay valid as long as the document. path: what messages call the file, and the
 * folder that external buffers are beside; external: whether they may be read at all. The document must be
 * destroyed in any case.
 */
cutis_result gltf_document_parse(gltf_document *document, const void *data, size_t size, const char *path,
                                 bool external, const cutis_allocator *allocator, cutis_error *error);
void gltf_document_destroy(gltf_document *document);

/*
 * Read the image that `uri` names beside the file at `path`. Returns its media type; NULL when it is elsewhere, of an
 * unknown kind or cannot be read. file is to be released in any case.
 */
const char *gltf_image_read(const char *path, const char *uri, arena *memory, file_data *file);

/* An error of this document: "hero.glb: " and the sentence. */
cutis_result gltf_error(const gltf_document *document, cutis_result code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "out of memory", or that the file declares more than it holds: the reason of a failed gltf_allocate. */
cutis_result gltf_error_memory(const gltf_document *document);

/*
 * Memory for decoded data. A small file can declare huge things (an instance of an instance, zeros without a buffer),
 * so what it may take is bounded by its own size: NULL beyond 256 MB + 64 x the input, or when memory runs out.
 */
void *gltf_allocate(gltf_document *document, size_t count, size_t size);
/* Count bytes that will be copied elsewhere towards the same bound. */
bool gltf_charge(gltf_document *document, size_t count, size_t size);

/* Where something is, for messages. */
typedef struct gltf_place {
    char text[160];
} gltf_place;

gltf_place gltf_place_make(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- values ---- */

/* object[key] as an index below `count`. *index is -1 when the key is absent and it is not required. */
cutis_result gltf_get_index(const gltf_document *document, const json_t *object, const char *key, const char *place,
                            int count, bool required, int *index);
/* object[key] as a size; `missing` when absent. */
cutis_result gltf_get_size(const gltf_document *document, const json_t *object, const char *key, const char *place,
                           size_t missing, size_t *size);
/* object[key] as `count` numbers that are finite as floats; *found is false when the key is absent. */
cutis_result gltf_get_numbers(const gltf_document *document, const json_t *object, const char *key, const char *place,
                              int count, double *values, bool *found);
/* object[key] when it is a string, else NULL. */
const char *gltf_get_string(const json_t *object, const char *key);
/* object.extras.cutis when it is an object, else NULL. */
json_t *gltf_get_extras(const json_t *object);

/* ---- accessors ---- */

/* Bytes of a component type, and components of a type such as "VEC3"; 0 when it is not one of glTF. */
size_t gltf_component_size(int type);
int gltf_type_components(const char *type);
/* The bytes of a buffer view, within its buffer. */
cutis_result gltf_view_bytes(const gltf_document *document, int index, const uint8_t **bytes, size_t *size);

enum {
    GLTF_BYTE = 5120,
    GLTF_UNSIGNED_BYTE = 5121,
    GLTF_SHORT = 5122,
    GLTF_UNSIGNED_SHORT = 5123,
    GLTF_UNSIGNED_INT = 5125,
    GLTF_FLOAT = 5126
};

/* An accessor with all its bounds checked. */
typedef struct gltf_accessor {
    int index;
    int count;      /* elements, at least 1 */
    int components; /* 1, 2, 3, 4 or 16 */
    int type;       /* GLTF_FLOAT, ... */
    bool normalized;
    const uint8_t *bytes; /* NULL: all zero */
    size_t stride;
    int sparse_count;
    const uint8_t *sparse_indices, *sparse_values;
    int sparse_type;
} gltf_accessor;

/*
 * Open accessor `index`. use: what it is for, such as "JOINTS_0 of mesh 0 primitive 1". components: 1, 2, 3, 4 or 16 (a
 * 4 x 4 matrix); 34 takes 3 or 4.
 */
cutis_result gltf_accessor_open(gltf_document *document, int index, const char *use, int components,
                                gltf_accessor *accessor);
/* Decode to floats, normalised integers to 0..1 or -1..1: (count x components). Fails on a value that is not finite. */
cutis_result gltf_accessor_floats(const gltf_document *document, const gltf_accessor *accessor, const char *use,
                                  float *values);
/* The same, whatever the values are. */
void gltf_accessor_decode(const gltf_accessor *accessor, float *values);
/* Decode unsigned integers. */
cutis_result gltf_accessor_integers(const gltf_document *document, const gltf_accessor *accessor, const char *use,
                                    uint32_t *values);

#endif
