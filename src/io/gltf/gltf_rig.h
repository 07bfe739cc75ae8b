/*
 * gltf_rig.h: a glTF file with another skeleton and other weights.
 */
#ifndef IO_GLTF_RIG_H
#define IO_GLTF_RIG_H

#include "cutis/io.h"
#include "io/files.h"

/*
 * Write the file `source` (its bytes in data) as a .glb with the skeleton and the weights of `character`, which was
 * made from it and has the same vertices. CUTIS_ERROR_UNSUPPORTED when its primitives are not the character's one by
 * one. external: buffers beside the source may be read. store: takes the file; NULL: the disk.
 */
cutis_result gltf_rig_write(const cutis_character *character, const void *data, size_t size, const char *source,
                            bool external, file_store *store, const char *path, cutis_error *error);

#endif
