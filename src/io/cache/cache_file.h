/*
 * cache_file.h: what the cache's reader and writer share.
 *
 * .pc2  little-endian: "POINTCACHE2\0", int32 1, int32 vertices, float32 start, float32 rate, int32 frames, then
 *       float32 x, y, z. Start and rate are in frames, as 3ds Max and Blender write them: a rate of 1 is one
 *       sample a frame, and how long a frame is the file does not say
 * .mdd  big-endian: int32 frames, int32 vertices, float32 time of each frame in seconds, then float32 x, y, z
 * .npy  NumPy's format 1.0, '<f4', C order, shape (frames, vertices, 3)
 * .usda USD as text: points, normals and texture coordinates as time samples (written only)
 * .vat  JSON that describes textures of positions and normals beside it, .vat.png and .vat.normal.png (written only)
 * .obj  a folder of frame_0000.obj, frame_0001.obj, ..., each starting with a comment that tells start and rate
 */
#ifndef IO_CACHE_FILE_H
#define IO_CACHE_FILE_H

#include "cutis/io.h"
#include "io/files.h"

typedef enum cache_format {
    CACHE_PC2,
    CACHE_MDD,
    CACHE_NPY,
    CACHE_OBJ,
    CACHE_USDA,
    CACHE_VAT,
    CACHE_UNKNOWN
} cache_format;

/* All frames of a cache, for formats that need them at once. */
typedef struct cache_frames {
    file_store *store; /* takes the files; NULL: the disk */
    cutis_cache_info info;
    float *positions; /* (frame_count x vertex_count x 3) */
    float *texcoords; /* (frame_count x corner_count x 2), or NULL when they do not move */
} cache_frames;

cutis_result cache_write_usda(const cache_frames *frames, const char *path, const cutis_allocator *allocator,
                              cutis_error *error);
cutis_result cache_write_vat(const cache_frames *frames, const char *path, const cutis_allocator *allocator,
                             cutis_error *error);

/* cutis_cache_create into a store, which must outlive the writer; NULL: the disk. */
cutis_result cache_create_in(file_store *store, const char *path, const cutis_cache_info *info,
                             const cutis_allocator *allocator, cutis_cache_writer **writer, cutis_error *error);

cache_format cache_format_of(const char *path);
/* The number in "frame_NUMBER.obj"; -1 for any other name. */
int cache_frame_number(const char *name);

/* Rates are stored as float32 periods: 1/30 comes back as 29.9999995, which is meant to be 30. */
double cache_rate_round(double fps);
/* A cache with room for its positions, to be filled. */
cutis_result cache_make(size_t frames, size_t vertices, const cutis_allocator *allocator, cutis_cache **cache,
                        cutis_error *error);

/* Memory that goes with the cache, for its props. */
arena *cache_memory(cutis_cache *cache);

/* Read all but a folder from memory. name: tells the format, and what messages call it. */
cutis_result cache_read_memory(const void *data, size_t size, const char *name, const cutis_allocator *allocator,
                               cutis_cache **cache, cutis_error *error);

#endif
