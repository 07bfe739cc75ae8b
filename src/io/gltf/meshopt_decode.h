/*
 * meshopt_decode.h: the streams of EXT_meshopt_compression and KHR_meshopt_compression. Each function writes exactly
 * count x stride bytes and returns false for a damaged stream; it reads nothing beyond `size`.
 */
#ifndef IO_MESHOPT_DECODE_H
#define IO_MESHOPT_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* stride: a multiple of 4, at most 256. */
bool meshopt_attributes(const uint8_t *stream, size_t size, size_t count, size_t stride, uint8_t *out);
/* count: of indices, a multiple of 3; stride: 2 or 4. */
bool meshopt_triangles(const uint8_t *stream, size_t size, size_t count, size_t stride, uint8_t *out);
bool meshopt_indices(const uint8_t *stream, size_t size, size_t count, size_t stride, uint8_t *out);

typedef enum meshopt_filter_kind {
    MESHOPT_FILTER_NONE,
    MESHOPT_FILTER_OCTAHEDRAL,  /* stride 4 or 8 */
    MESHOPT_FILTER_QUATERNION,  /* stride 8 */
    MESHOPT_FILTER_EXPONENTIAL, /* stride a multiple of 4 */
    MESHOPT_FILTER_COLOR        /* stride 4 or 8 */
} meshopt_filter_kind;

/* False when the filter does not go with the stride. */
bool meshopt_filter(meshopt_filter_kind filter, uint8_t *values, size_t count, size_t stride);

#endif
