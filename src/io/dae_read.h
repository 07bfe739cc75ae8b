/*
 * dae_read.h: a character from a COLLADA file.
 */
#ifndef IO_DAE_READ_H
#define IO_DAE_READ_H

#include "cutis/io.h"

/* motion_only: a file without a mesh will do; see scene_build.h. */
cutis_result dae_character_read(const void *data, size_t size, const char *path, bool motion_only,
                                const cutis_allocator *allocator, cutis_character **character, cutis_error *error);

#endif
