/*
 * gltf_flesh.h: the extension CUTIS_flesh of a glTF file: learned flesh, as bytes for players.
 */
#ifndef IO_GLTF_FLESH_H
#define IO_GLTF_FLESH_H

#include "cutis/io.h"
#include "io/files.h"

typedef struct gltf_flesh_def {
    const cutis_character *character; /* loaded from the source */
    const void *source;               /* (source_size) bytes of the file, whose contents are kept */
    size_t source_size;
    const char *name; /* of the file, for messages */
    bool external;    /* buffers and images beside it may be read */
    const void *data; /* (size) */
    size_t size;
    const int *joints; /* (joint_count) joints of the character in the order of the data */
    int joint_count;
    const cutis_allocator *allocator;
} gltf_flesh_def;

/* Write the source with the extension as a .glb. A former extension of that name is replaced. */
cutis_result gltf_flesh_write(const gltf_flesh_def *def, const char *path, size_t *file_bytes, cutis_error *error);

#endif
