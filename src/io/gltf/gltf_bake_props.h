/*
 * gltf_bake_props.h: the props of a bake, put into its document.
 */
#ifndef IO_GLTF_BAKE_PROPS_H
#define IO_GLTF_BAKE_PROPS_H

#include "cutis/bake.h"
#include "io/gltf/gltf_build.h"

/*
 * Nodes, meshes and channels of def->props. joint_nodes: (known_count) the node of each joint that the document has, of
 * the character's first ones. animation: of the clip; times: accessor of the frames' times.
 */
void gltf_bake_props(gltf_builder *out, const int *joint_nodes, int known_count, const cutis_morphs_def *def,
                     json_t *animation, int times);

#endif
