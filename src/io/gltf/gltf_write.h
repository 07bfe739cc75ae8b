/*
 * gltf_write.h: a character as a .glb file.
 */
#ifndef IO_GLTF_WRITE_H
#define IO_GLTF_WRITE_H

#include "cutis/io.h"
#include "io/gltf/gltf_build.h"

cutis_result gltf_character_write(const cutis_character *character, const char *path, cutis_error *error);
/* The same as a document that is not saved yet; to be destroyed in any case. */
cutis_result gltf_character_build(const cutis_character *character, gltf_builder *builder, cutis_error *error);

/* What extras.cutis of a node say of the prop that it carries. */
void gltf_prop_describe(gltf_builder *builder, json_t *node, const cutis_prop *prop);

#endif
