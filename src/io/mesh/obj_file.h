/*
 * obj_file.h: Wavefront OBJ in and out: polygons, texture coordinates, groups.
 */
#ifndef IO_OBJ_FILE_H
#define IO_OBJ_FILE_H

#include "cutis/io.h"
#include "io/files.h"

/* path: what messages call the file. external: its materials may be read from files beside it. */
cutis_result obj_character_read(const void *data, size_t size, const char *path, bool external,
                                const cutis_allocator *allocator, cutis_character **character, cutis_error *error);

/* Materials of the library that the .obj at `path` names, and their images; NULL: there is none. */
const cutis_material *obj_materials_read(const char *path, const char *library, arena *memory, warning_list *warnings,
                                         int *count);

/* Only the positions, for a frame of a cache: *vertex_count and, when not NULL, positions (capacity x 3). */
cutis_result obj_positions_read(const char *data, size_t size, const char *path, int capacity, float *positions,
                                int *vertex_count, cutis_error *error);

/*
 * Each corner's place in a list of vertices that is split at texture seams: the character's own vertices in
 * order, then a copy for each further texture coordinate of a vertex.
 */
typedef struct corner_split {
    int count;              /* vertices with the copies */
    const int *corners;     /* (corner_count) */
    const int *originals;   /* (count) the character's vertex */
    const float *texcoords; /* (count x 2), or NULL when the character has none */
} corner_split;

/* False when memory runs out. */
bool corner_split_make(const cutis_character *character, arena *memory, corner_split *split);

/* Write positions (vertex_count x 3) and the character's faces. split: may be NULL. */
void obj_write(file_writer *writer, const cutis_character *character, const float *positions,
               const corner_split *split);

#endif
