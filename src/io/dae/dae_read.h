/*
 * dae_read.h: a character from a COLLADA file.
 */
#ifndef IO_DAE_READ_H
#define IO_DAE_READ_H

#include "cutis/io.h"
#include "io/dae/xml_parse.h"

/*
 * motion_only: a file without a mesh will do; see scene_build.h. external: images may be read from files beside it.
 */
cutis_result dae_character_read(const void *data, size_t size, const char *path, bool motion_only, bool external,
                                const cutis_allocator *allocator, cutis_character **character, cutis_error *error);

/*
 * Materials that the scene binds, by the symbols that polygons name. path: where images are looked for; NULL: nowhere.
 * NULL when memory runs out.
 */
const cutis_material *dae_materials_read(const xml_node *root, const char *path, arena *memory, warning_list *warnings,
                                         int *count);

#endif
