/*
 * gltf_edit.h: a glTF document that was read, being changed: its own JSON stays, its buffers become one, and a
 * gltf_builder appends to it.
 */
#ifndef IO_GLTF_EDIT_H
#define IO_GLTF_EDIT_H

#include "io/gltf/gltf_build.h"
#include "io/gltf/gltf_document.h"

/* A top-level list of the document, made when it is absent. */
json_t *gltf_edit_list(gltf_builder *out, const char *key);
/* Let the builder, whose memory is set, go on with the document: one buffer, views that point there. */
void gltf_edit_begin(gltf_builder *out, const gltf_document *document);
/*
 * Put the image of a file beside `source` (NULL: there is no folder) into the buffer. False when it cannot be read: it
 * stays a reference.
 */
bool gltf_edit_image(gltf_builder *out, json_t *image, const char *source);
/*
 * Images in files beside `source` (NULL: there is no folder) go into the buffer; what cannot be read stays a reference.
 * Returns how many do.
 */
int gltf_edit_images(gltf_builder *out, const char *source);
/* The buffer's entry, once all bytes are there. */
void gltf_edit_end(gltf_builder *out);

#endif
