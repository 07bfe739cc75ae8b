/*
 * gltf_pack.h: any glTF document as one .glb, plain, quantised or compressed by
 * EXT_meshopt_compression.
 */
#ifndef IO_GLTF_PACK_H
#define IO_GLTF_PACK_H

#include "cutis/io.h"
#include "io/gltf/gltf_build.h"
#include "io/gltf/gltf_document.h"

/*
 * Write a parsed document with all it holds: buffers joined, images beside `source` taken in (NULL: none). The
 * document's JSON is used up.
 */
cutis_result gltf_pack_save(gltf_document *document, const char *source, cutis_compression compression,
                            const char *path, cutis_convert_info *info, cutis_error *error);

#endif
