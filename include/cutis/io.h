/*
 * io.h: characters and caches from and to files. Needs libjansson; the rest of the library does not.
 *
 * Readers check everything: a damaged file gives an error that names the place, never a crash. Writers put
 * their output under a temporary name beside the target and rename it when it is whole, so that a failed or
 * interrupted run leaves the previous file as it was.
 */
#ifndef CUTIS_IO_H
#define CUTIS_IO_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- characters ---- */

/*
 * Load .glb, .gltf, .vrm (a .glb), .fbx (6.1 to 7.7) and .dae (in metres and y up), .obj, .ply, .stl (equal positions
 * are one vertex, in the order of their first use) or .off, by the file's ending. Vertices are in the file's order: of
 * glTF the mesh nodes as the scene is traversed, each with its primitives in order, where primitives of one node with
 * the same attributes share their vertices and count once.
 */
CUTIS_API cutis_result cutis_character_load(const char *path, const cutis_allocator *allocator,
                                            cutis_character **character, cutis_error *error);
/*
 * The same from memory. name: what the file would be called; its ending tells the format, and errors show
 * it. A .gltf in memory may only use embedded (data URI) buffers.
 */
CUTIS_API cutis_result cutis_character_load_memory(const void *data, size_t size, const char *name,
                                                   const cutis_allocator *allocator, cutis_character **character,
                                                   cutis_error *error);

/* How a material looks, for those who draw pictures. */
typedef struct cutis_look {
    const char *name;  /* as parts call it */
    float color[4];    /* base colour (linear) and opacity, 0..1; multiplied with the image */
    float cutoff;      /* the surface has holes where its opacity is below this; 0: none */
    const void *image; /* (image_size bytes) an image file of the base colour, or NULL */
    size_t image_size;
    const void *normals; /* (normals_size bytes) an image file of a normal map in tangent space, or NULL */
    size_t normals_size;
    bool left_out; /* it has an image that could not be had: see cutis_looks_load */
} cutis_look;

typedef struct cutis_looks {
    int look_count;
    const cutis_look *looks; /* (look_count) */
} cutis_looks;

/*
 * The materials of a .glb, .gltf or .vrm, which cutis_character_load leaves out. Images that are missing are NULL, as
 * are those in data URIs and those that lie on other texture coordinates than the first; left_out tells.
 */
CUTIS_API cutis_result cutis_looks_load(const char *path, const cutis_allocator *allocator, cutis_looks **looks,
                                        cutis_error *error);
CUTIS_API void cutis_looks_destroy(cutis_looks *looks); /* NULL is allowed */

/* Props from a file. */
typedef struct cutis_props {
    int count;
    const cutis_placed_prop *props; /* (count) */
    int warning_count;
    const char *const *warnings;
} cutis_props;

/*
 * Every node of a .glb or .gltf that has a mesh or a role, as a prop where it stands: what extras.cutis say ("role",
 * "shape", "mass", ...), a collider without. Its animations are left out. Fails when the scene holds no such node.
 */
CUTIS_API cutis_result cutis_props_load(const char *path, const cutis_allocator *allocator, cutis_props **props,
                                        cutis_error *error);
CUTIS_API void cutis_props_destroy(cutis_props *props); /* NULL is allowed */

/* A line of a name map: motion joint `from` drives character joint `to`. */
typedef struct cutis_name_pair {
    const char *from, *to;
} cutis_name_pair;

/*
 * A copy of `character` with the motion of a .bvh file added as one more clip, named after the file; or with the clips
 * of another character (.glb, .gltf, .vrm, .fbx, .dae, with or without a mesh), its first one last. Joints are matched
 * by name (pairs first, then equal names, letter case and separators ignored, then what the names mean: LeftForeArm
 * drives forearm_l and lowerarm.L), and where names tell no limb of a person by the shape of the skeleton; the motion
 * is turned to the character's rest pose and scaled to its legs. Fails when no joint matches.
 */
CUTIS_API cutis_result cutis_character_add_bvh(const cutis_character *character, const char *path,
                                               const cutis_name_pair *pairs, int pair_count,
                                               const cutis_allocator *allocator, cutis_character **result,
                                               cutis_error *error);

/*
 * Write a character as .glb (skeleton, weights, clips; quads by FB_ngon_encoding) or .obj (rest mesh). The vertex order
 * is kept; vertices that texture seams double in a .glb come after all others.
 */
CUTIS_API cutis_result cutis_character_save(const cutis_character *character, const char *path, cutis_error *error);
/*
 * Write the .glb or .gltf file `source` as a .glb with the skeleton and the weights of `character`, which was made from
 * it by cutis_rig_create, and with all else it holds: materials, textures, vertex order, extensions. Skins and
 * animations of an old skeleton go. CUTIS_ERROR_UNSUPPORTED when the file cannot be edited so (a mesh that stands in
 * the scene twice); cutis_character_save then serves.
 */
CUTIS_API cutis_result cutis_character_save_rig(const cutis_character *character, const char *source, const char *path,
                                                cutis_error *error);

typedef enum cutis_compression {
    CUTIS_COMPRESSION_NONE,
    CUTIS_COMPRESSION_MESHOPT, /* EXT_meshopt_compression; needs a library built with meshoptimizer */
    CUTIS_COMPRESSION_QUANTIZE /* KHR_mesh_quantization: 8- and 16-bit integers */
} cutis_compression;

typedef struct cutis_convert_info {
    size_t file_bytes;     /* of a .glb made from a glTF file or compressed; else 0 */
    double position_error; /* largest rounding of a coordinate by the compression, in the file's unit */
    int image_count;       /* images that the file still takes from elsewhere, because they could not be read */
} cutis_convert_info;

/*
 * Write any file that can be loaded as .glb (.vrm) or .obj. A glTF file keeps all it holds, unpacked and with the
 * images beside it; of others the character is written. The target may be the source. info: may be NULL.
 */
CUTIS_API cutis_result cutis_convert(const char *source, const char *path, cutis_compression compression,
                                     const cutis_allocator *allocator, cutis_convert_info *info, cutis_error *error);

/* What a file is made of. */
typedef struct cutis_file_details {
    const char *reader; /* what reads it: "glTF reader, libdraco" */
    int extension_count;
    const char *const *extensions; /* that a glTF file uses */
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
    int components;                   /* numbers a vertex, 0 = 3; other than 3 only in .npy */
} cutis_cache_info;

typedef struct cutis_cache_writer cutis_cache_writer;

/*
 * Start a cache; its ending chooses the format: .pc2, .mdd, .npy (frames x vertices x 3, float32), .obj (a folder of
 * that name with frame_0000.obj, ...), .usda (points, normals, texture coordinates) or .vat (JSON that describes the
 * textures NAME.vat.png and NAME.vat.normal.png). The last three need the character.
 */
CUTIS_API cutis_result cutis_cache_create(const char *path, const cutis_cache_info *info,
                                          const cutis_allocator *allocator, cutis_cache_writer **writer,
                                          cutis_error *error);
/* Add the next frame: (vertex_count x 3), or x components. */
CUTIS_API cutis_result cutis_cache_append(cutis_cache_writer *writer, const float *positions, cutis_error *error);
/* Moving texture coordinates of the frame just appended: (corner_count x 2). Formats without a place for them pass. */
CUTIS_API cutis_result cutis_cache_append_texcoords(cutis_cache_writer *writer, const float *texcoords,
                                                    cutis_error *error);
/* Check the count, put the file in place and free the writer, also on failure. */
CUTIS_API cutis_result cutis_cache_finish(cutis_cache_writer *writer, cutis_error *error);
/* Throw the unfinished cache away and free the writer; NULL is allowed. */
CUTIS_API void cutis_cache_discard(cutis_cache_writer *writer);
/* Whether a path has an ending that cutis_cache_create knows. */
CUTIS_API bool cutis_cache_known(const char *path);

/* A surface of a prop as a played file shows it. */
typedef struct cutis_cache_prop {
    const char *name;
    int vertex_count, triangle_count;
    const float *positions; /* (frame_count x vertex_count x 3), scene space */
    const int *triangles;   /* (triangle_count x 3) */
} cutis_cache_prop;

typedef struct cutis_cache {
    int vertex_count, frame_count;
    double start, fps;      /* 0 and 30 when the format does not say */
    const float *positions; /* (frame_count x vertex_count x 3) */
    int prop_count;
    const cutis_cache_prop *props; /* (prop_count) of a played .glb or .gltf; no other format has props */
} cutis_cache;

/*
 * Read a cache that cutis (or another program) wrote: .pc2, .mdd, .npy, a folder .obj, or a .glb or .gltf, which is
 * played (cutis_cache_play with all its choices left open).
 */
CUTIS_API cutis_result cutis_cache_load(const char *path, const cutis_allocator *allocator, cutis_cache **cache,
                                        cutis_error *error);
/*
 * Play a .glb or .gltf, such as cutis_morphs_save wrote: skeleton, skin, morph targets and props at every frame, as any
 * player shows them. clip: NULL = the first whose morph targets move, else the first; a file without clips is one
 * frame. fps: 0 = where the keys of the morph targets are, else 30. vertex_count: 0 = all; else only the first so many,
 * for a character whose file has copies of vertices behind them (cutis_character_save). ARGUMENT for an unknown clip.
 */
CUTIS_API cutis_result cutis_cache_play(const char *path, const char *clip, double fps, int vertex_count,
                                        const cutis_allocator *allocator, cutis_cache **cache, cutis_error *error);
CUTIS_API void cutis_cache_destroy(cutis_cache *cache); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
