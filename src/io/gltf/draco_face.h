/*
 * draco_face.h: Draco's decoder for C. It is C++ and may throw; nothing of that comes out here. Only in builds with
 * CUTIS_HAS_DRACO.
 */
#ifndef IO_DRACO_FACE_H
#define IO_DRACO_FACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct draco_face draco_face;

/* Decode a mesh; NULL and a reason (of the library, or a literal) when it is damaged. */
draco_face *draco_face_open(const void *bytes, size_t size, char reason[128]);
void draco_face_close(draco_face *face); /* NULL is allowed */
size_t draco_face_points(const draco_face *face);
size_t draco_face_triangles(const draco_face *face);
/* (triangles x 3); false when an index is not below the number of points. */
bool draco_face_indices(const draco_face *face, uint32_t *indices);
/* An attribute by its id as glTF components (5120 to 5126): (points x components). False when there is none. */
bool draco_face_attribute(const draco_face *face, uint32_t id, int type, int components, void *values);

#ifdef __cplusplus
}
#endif
#endif
