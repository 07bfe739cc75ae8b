/*
 * gltf_write.h: a character as a .glb file.
 */
#ifndef IO_GLTF_WRITE_H
#define IO_GLTF_WRITE_H

#include "cutis/io.h"

cutis_result gltf_character_write(const cutis_character *character, const char *path, cutis_error *error);

#endif
