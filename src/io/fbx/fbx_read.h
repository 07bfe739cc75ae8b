/*
 * fbx_read.h: a character from an FBX file.
 */
#ifndef IO_FBX_READ_H
#define IO_FBX_READ_H

#include "cutis/io.h"

/*
 * motion_only: a file without a mesh will do; see scene_build.h. external: images may be read from files beside it.
 */
cutis_result fbx_character_read(const void *data, size_t size, const char *path, bool motion_only, bool external,
                                const cutis_allocator *allocator, cutis_character **character, cutis_error *error);

#endif
