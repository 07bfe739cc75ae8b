/*
 * io.h: read and write characters and caches. Only this part of the library needs libjansson and zlib.
 *
 * Readers check all data: a damaged file causes an error with the location, never a crash. Writers write to a temporary
 * file beside the target and rename it when it is complete. A failed or interrupted run leaves the previous file
 * unchanged.
 */
#ifndef CUTIS_IO_H
#define CUTIS_IO_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- characters ---- */

/*
 * Load a character. The file name extension selects the format: .glb, .gltf, .vrm (a .glb), .fbx (6.1 to 7.7), .dae,
 * .obj, .ply, .stl or .off. FBX and COLLADA are converted to metres and +Y up. In .stl, equal positions become one
 * vertex, in the order of first use. Vertices keep the file's order. In glTF, that is the order of the mesh nodes in
 * the scene, then of the primitives; primitives of one node with the same attribute accessors share their vertices.
 */
CUTIS_API cutis_result cutis_character_load(const char *path, const cutis_allocator *allocator,
                                            cutis_character **character, cutis_error *error);
/*
 * The same from memory. name: a file name; its extension selects the format, and errors contain it. A .gltf in memory
 * may only use embedded (data URI) buffers.
 */
CUTIS_API cutis_result cutis_character_load_memory(const void *data, size_t size, const char *name,
                                                   const cutis_allocator *allocator, cutis_character **character,
                                                   cutis_error *error);

/* The appearance of a material, for renderers. */
typedef struct cutis_look {
    const char *name;  /* as in cutis_part.material */
    float color[4];    /* base colour (linear) and opacity, 0..1; multiplied with the image */
    float cutoff;      /* the surface has holes where the opacity is below this value; 0: none */
    const void *image; /* (image_size bytes) an image file of the base colour, or NULL */
    size_t image_size;
    const void *normals; /* (normals_size bytes) an image file of a normal map in tangent space, or NULL */
    size_t normals_size;
    bool left_out; /* it has an image that could not be loaded, see cutis_looks_load */
} cutis_look;

typedef struct cutis_looks {
    int look_count;
    const cutis_look *looks; /* (look_count) */
} cutis_looks;

/*
 * Load the materials of a .glb, .gltf or .vrm, which cutis_character_load does not read. image is NULL, and left_out
 * set, when an image file is missing, is a data URI, or uses other texture coordinates than the first set.
 */
CUTIS_API cutis_result cutis_looks_load(const char *path, const cutis_allocator *allocator, cutis_looks **looks,
                                        cutis_error *error);
CUTIS_API void cutis_looks_destroy(cutis_looks *looks); /* NULL is allowed */

/* Props of a file. */
typedef struct cutis_props {
    int count;
    const cutis_placed_prop *props; /* (count) */
    int warning_count;
    const char *const *warnings;
} cutis_props;

/*
 * Load every node of a .glb or .gltf that has a mesh or a role as a prop, at its position in the scene. extras.cutis
 * sets its properties ("role", "shape", "mass", ...); without them, it is a collider. Animations are ignored. Fails
 * when the scene has no such node.
 */
CUTIS_API cutis_result cutis_props_load(const char *path, const cutis_allocator *allocator, cutis_props **props,
                                        cutis_error *error);
CUTIS_API void cutis_props_destroy(cutis_props *props); /* NULL is allowed */

/* An entry of a name map: motion joint `from` drives character joint `to`. */
typedef struct cutis_name_pair {
    const char *from, *to;
} cutis_name_pair;

/*
 * Copy `character` and add a motion: a .bvh file becomes one clip, named after the file. Another character (.glb,
 * .gltf, .vrm, .fbx, .dae, with or without a mesh) adds all of its clips; its first clip becomes the last. Joints are
 * matched by `pairs`, then by equal names (ignoring letter case and separators), then by the meaning of the names:
 * LeftForeArm drives forearm_l and lowerarm.L. When names identify no human limbs, the shape of the skeleton is used.
 * The motion is adapted to the character's rest pose and scaled to the length of its legs. Fails when no joint matches.
 */
CUTIS_API cutis_result cutis_character_add_bvh(const cutis_character *character, const char *path,
                                               const cutis_name_pair *pairs, int pair_count,
                                               const cutis_allocator *allocator, cutis_character **result,
                                               cutis_error *error);

/*
 * Write a character as .glb (skeleton, weights, clips; quads by FB_ngon_encoding) or .obj (rest mesh). The vertex order
 * is kept. Vertices that a .glb must duplicate at texture seams follow after all others.
 */
CUTIS_API cutis_result cutis_character_save(const cutis_character *character, const char *path, cutis_error *error);
/*
 * Write the .glb or .gltf file `source` as a .glb with the skeleton and weights of `character`, which cutis_rig_create
 * made from it. All other contents are kept: materials, textures, vertex order, extensions. Skins and animations of an
 * old skeleton are removed. Fails with CUTIS_ERROR_UNSUPPORTED when the file cannot be edited (a mesh that is in the
 * scene twice); use cutis_character_save then.
 */
CUTIS_API cutis_result cutis_character_save_rig(const cutis_character *character, const char *source, const char *path,
                                                cutis_error *error);

typedef enum cutis_compression {
    CUTIS_COMPRESSION_NONE,
    CUTIS_COMPRESSION_MESHOPT, /* EXT_meshopt_compression; needs a library built with meshoptimizer */
    CUTIS_COMPRESSION_QUANTIZE /* KHR_mesh_quantization: 8- and 16-bit integers */
} cutis_compression;

typedef struct cutis_convert_info {
    size_t file_bytes;     /* size of a .glb that was made from a glTF file or compressed; else 0 */
    double position_error; /* largest rounding error of a coordinate by compression, in the file's unit */
    int image_count;       /* images that stay external because they could not be read */
} cutis_convert_info;

/*
 * Convert any file that can be loaded to .glb (.vrm) or .obj. A glTF file keeps all of its contents; it is
 * decompressed, and external images are embedded. From other formats, the character is written. path may equal source.
 * info: may be NULL.
 */
CUTIS_API cutis_result cutis_convert(const char *source, const char *path, cutis_compression compression,
                                     const cutis_allocator *allocator, cutis_convert_info *info, cutis_error *error);

/* Technical details of a file. */
typedef struct cutis_file_details {
    const char *reader; /* the code that reads it: "glTF reader, libdraco" */
    int extension_count;
    const char *const *extensions; /* extensions that a glTF file uses */
} cutis_file_details;

CUTIS_API cutis_result cutis_file_details_load(const char *path, const cutis_allocator *allocator,
                                               cutis_file_details **details, cutis_error *error);
CUTIS_API void cutis_file_details_destroy(cutis_file_details *details); /* NULL is allowed */

/* ---- caches: positions of every vertex at every frame ---- */

typedef struct cutis_cache_info {
    int vertex_count;
    int frame_count;
    double start; /* seconds of frame 0 */
    double fps;
    const cutis_character *character; /* for formats that carry faces (.obj folder); else NULL is allowed */
    int components;                   /* numbers per vertex; 0 = 3. Only .npy supports other values than 3 */
} cutis_cache_info;

typedef struct cutis_cache_writer cutis_cache_writer;

/*
 * Start a cache. The file name extension selects the format: .pc2, .mdd, .npy (frames x vertices x 3, float32), .obj (a
 * folder of that name with frame_0000.obj, ...), .usda (points, normals, texture coordinates) or .vat (JSON that
 * describes the textures NAME.vat.png and NAME.vat.normal.png). The last three need info->character. The caller must
 * finish or discard the writer.
 */
CUTIS_API cutis_result cutis_cache_create(const char *path, const cutis_cache_info *info,
                                          const cutis_allocator *allocator, cutis_cache_writer **writer,
                                          cutis_error *error);
/* Append a frame: (vertex_count x 3), or x components. */
CUTIS_API cutis_result cutis_cache_append(cutis_cache_writer *writer, const float *positions, cutis_error *error);
/* Set texture coordinates of the frame just appended: (corner_count x 2). Formats without them ignore the call. */
CUTIS_API cutis_result cutis_cache_append_texcoords(cutis_cache_writer *writer, const float *texcoords,
                                                    cutis_error *error);
/* Check the number of frames, move the file into place and free the writer, also on failure. */
CUTIS_API cutis_result cutis_cache_finish(cutis_cache_writer *writer, cutis_error *error);
/* Delete the unfinished cache and free the writer; NULL is allowed. */
CUTIS_API void cutis_cache_discard(cutis_cache_writer *writer);
/* Return whether cutis_cache_create supports the extension of a path. */
CUTIS_API bool cutis_cache_known(const char *path);

/* The animated surface of a prop. */
typedef struct cutis_cache_prop {
    const char *name;
    int vertex_count, triangle_count;
    const float *positions; /* (frame_count x vertex_count x 3), scene space */
    const int *triangles;   /* (triangle_count x 3) */
} cutis_cache_prop;

typedef struct cutis_cache {
    int vertex_count, frame_count;
    double start, fps;      /* 0 and 30 when the format does not store them */
    const float *positions; /* (frame_count x vertex_count x 3) */
    int prop_count;
    const cutis_cache_prop *props; /* (prop_count) only from .glb and .gltf */
} cutis_cache;

/*
 * Read a cache of cutis or another program: .pc2, .mdd, .npy or an .obj folder. A .glb or .gltf is played with the
 * defaults of cutis_cache_play.
 */
CUTIS_API cutis_result cutis_cache_load(const char *path, const cutis_allocator *allocator, cutis_cache **cache,
                                        cutis_error *error);
/*
 * Play a .glb or .gltf, for example from cutis_morphs_save: evaluate skeleton, skin, morph targets and props at every
 * frame, as any player does. clip: NULL = the first clip that animates morph targets, else the first; a file without
 * clips has one frame. fps: 0 = at the keys of the morph targets, else 30. vertex_count: 0 = all, else the number of
 * leading vertices to read; cutis_character_save appends duplicates after them. Fails with CUTIS_ERROR_ARGUMENT for an
 * unknown clip.
 */
CUTIS_API cutis_result cutis_cache_play(const char *path, const char *clip, double fps, int vertex_count,
                                        const cutis_allocator *allocator, cutis_cache **cache, cutis_error *error);
CUTIS_API void cutis_cache_destroy(cutis_cache *cache); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
