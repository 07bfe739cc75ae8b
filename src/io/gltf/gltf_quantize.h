/*
 * gltf_quantize.h: a glTF document's floats as 8- and 16-bit integers (KHR_mesh_quantization).
 */
#ifndef IO_GLTF_QUANTIZE_H
#define IO_GLTF_QUANTIZE_H

#include "cutis/io.h"
#include "io/gltf/gltf_build.h"
#include "io/gltf/gltf_document.h"

typedef struct gltf_quantizer gltf_quantizer;

/* Decode what will be rounded, while the document's accessors can be read. NULL with *result set when that fails. */
gltf_quantizer *gltf_quantize_read(gltf_builder *out, gltf_document *document, cutis_result *result);
/* Rewrite accessors, skins and nodes of the document, whose buffers are joined in `out` by now. */
void gltf_quantize_write(gltf_builder *out, const gltf_quantizer *quantizer, cutis_convert_info *info);

#endif
