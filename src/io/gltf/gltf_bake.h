/*
 * gltf_bake.h: a simulated clip as a .glb: skeleton, skin and animated morph targets.
 */
#ifndef IO_GLTF_BAKE_H
#define IO_GLTF_BAKE_H

#include "cutis/bake.h"
#include "io/files.h"

typedef struct gltf_bake_def {
    const cutis_morphs_def *morphs; /* character, source, clip, frames' times, props */
    int target_count;
    int position_count;                 /* the first targets, which move positions */
    const float *deltas;                /* (position_count x vertex_count x 3), rest scene space */
    const float *normals;               /* the same of unit normals, or NULL */
    const float *weights;               /* (frame_count x target_count) */
    int texcoord_first, texcoord_count; /* targets that move texture coordinates */
    const float *texcoords;             /* (texcoord_count x vertices as corner_split_make splits them x 2) */
    int track_count;
    const cutis_track *tracks; /* (track_count) rotations of joints that replace those of the clip */
} gltf_bake_def;

/* Write the .glb, or into a store that is not NULL. Fills file_bytes and image_count of info. */
cutis_result gltf_bake_write(const gltf_bake_def *def, file_store *store, const char *path, cutis_morphs_info *info,
                             cutis_error *error);

#endif
