/*
 * motion_source.h: the motion of another character's clip, as the frames of a capture.
 */
#ifndef IO_MOTION_SOURCE_H
#define IO_MOTION_SOURCE_H

#include "cutis/io.h"
#include "io/bvh_read.h"

/* A character with the clips of a .glb, .gltf, .vrm or .fbx file, which need not hold a mesh. */
cutis_result motion_source_load(const char *path, const cutis_allocator *allocator, cutis_character **source,
                                cutis_error *error);
/* Fill the joints and the frames of a capture from a clip. The caller has set name, memory and error. */
cutis_result motion_source_read(bvh_reader *r, const cutis_character *source, int clip);

#endif
