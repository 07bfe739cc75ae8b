/*
 * gltf_unpack.h: compressed glTF made plain: Draco meshes (KHR_draco_mesh_compression) and meshopt buffer views
 * (EXT_meshopt_compression, KHR_meshopt_compression).
 */
#ifndef IO_GLTF_UNPACK_H
#define IO_GLTF_UNPACK_H

#include "io/gltf/gltf_document.h"

/* The extension by which a buffer view is compressed, as an object of the JSON, or NULL. */
json_t *gltf_view_packing(const json_t *view);

/*
 * Decode all that is compressed and edit the JSON as if it had never been: one buffer, plain views and accessors, and
 * the extensions gone from every list. Nothing happens to a document without compression. Called by the parser.
 */
cutis_result gltf_document_unpack(gltf_document *document);

#endif
