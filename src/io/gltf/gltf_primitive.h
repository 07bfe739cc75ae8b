/*
 * gltf_primitive.h: primitives of a glTF mesh: what the readers of surfaces and of props open them with.
 */
#ifndef IO_GLTF_PRIMITIVE_H
#define IO_GLTF_PRIMITIVE_H

#include "io/gltf/gltf_read.h"

enum { GLTF_VERTEX_LIMIT = 1 << 27 };
enum { GLTF_TRIANGLES = 4, GLTF_STRIP = 5, GLTF_FAN = 6 }; /* modes */

typedef struct gltf_primitive {
    int mesh, index; /* in the file */
    int block, mode, material;
    int index_accessor; /* -1: none */
    int index_count;
    bool ngons;
    gltf_place place;
    const char *name;
} gltf_primitive;

json_t *gltf_primitives(const gltf_document *document, int mesh);
/* The triangles of `count` indices, and the indices of one of them. */
int gltf_triangle_count(int mode, int count);
void gltf_triangle(int mode, int triangle, int corner[3]);
/* Open the POSITION accessor; NULL bytes would make vertices out of nothing. */
cutis_result gltf_positions_open(gltf_document *document, const json_t *attributes, const char *place,
                                 gltf_accessor *accessor);
/* Mode and index count of a primitive; *usable is false for one that cutis leaves out, with a warning. */
cutis_result gltf_primitive_open(gltf_reader *reader, const json_t *object, const char *place, int vertex_count,
                                 gltf_primitive *primitive, bool *usable);
/* The vertex numbers of a primitive, each below vertex_count. */
cutis_result gltf_indices_read(gltf_document *document, const gltf_primitive *primitive, int vertex_count,
                               uint32_t **indices);

#endif
