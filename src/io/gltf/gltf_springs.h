/*
 * gltf_springs.h: spring bones of VRM in a bake.
 */
#ifndef IO_GLTF_SPRINGS_H
#define IO_GLTF_SPRINGS_H

#include "io/gltf/gltf_bake.h"
#include "io/gltf/gltf_build.h"
#include "io/gltf/gltf_read.h"

/*
 * Take the spring bones out of the document whose vertices the bake moves itself: a player would swing them a second
 * time. Those of hair and clothes that the bake leaves to the skeleton stay. Returns how many were taken out. A failure
 * of memory is remembered by `out`.
 */
int gltf_springs_release(gltf_builder *out, const gltf_reader *reader, const gltf_bake_def *def);

#endif
