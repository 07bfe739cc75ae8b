/*
 * bare_mesh.h: what the readers of bare meshes (PLY, STL, OFF) share: a polygon mesh that grows while a file is read,
 * and words of a text.
 */
#ifndef IO_BARE_MESH_H
#define IO_BARE_MESH_H

#include "cutis/io.h"
#include "io/files.h"

typedef struct bare_mesh {
    const char *name; /* base name, for messages */
    cutis_error *error;
    arena memory;
    warning_list warnings;
    float *positions; /* (vertex_count x 3) */
    float *texcoords; /* (corner_count x 2), or NULL */
    int *face_first;  /* (face_count + 1) when finished */
    int *corners;
    cutis_part *parts; /* first_face and name are set by the reader */
    size_t vertex_count, face_count, corner_count, part_count;
    size_t vertex_capacity, face_capacity, corner_capacity, part_capacity;
    int short_faces; /* faces of fewer than three corners, left out */
} bare_mesh;

bare_mesh bare_mesh_create(const char *path, const cutis_allocator *allocator, cutis_error *error);
void bare_mesh_destroy(bare_mesh *mesh);

/* Append one; false when memory runs out or the mesh is too large (bare_mesh_full says which). */
bool bare_mesh_vertex(bare_mesh *mesh, const float position[3]);
bool bare_mesh_face(bare_mesh *mesh, const int *corners, int count); /* fewer than three corners: counted, left out */
bool bare_mesh_part(bare_mesh *mesh, const char *name);              /* faces from now on belong to it */
cutis_result bare_mesh_full(const bare_mesh *mesh);

/* "hero.ply: " and the sentence. */
cutis_result bare_mesh_error(const bare_mesh *mesh, cutis_result code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Check that there is a mesh, and make the character. */
cutis_result bare_mesh_finish(bare_mesh *mesh, const char *path, const cutis_allocator *allocator,
                              cutis_character **character);

/* ---- words of a text ---- */

typedef struct word_reader {
    const char *at, *end;
    int line;
    bool returns; /* lines end in carriage returns alone */
} word_reader;

/* The next word on any line, or (same_line) on this one; 0 when there is none. */
size_t word_next(word_reader *reader, bool same_line, const char **word);
void word_skip_line(word_reader *reader); /* to the start of the next line */
bool word_number(word_reader *reader, bool same_line, double *value);
bool word_is(const char *word, size_t length, const char *text); /* letter case ignored */

/* ---- the readers; path: what messages call the file ---- */

cutis_result ply_character_read(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                                cutis_character **character, cutis_error *error);
cutis_result stl_character_read(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                                cutis_character **character, cutis_error *error);
cutis_result off_character_read(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                                cutis_character **character, cutis_error *error);

#endif
