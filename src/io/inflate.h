/*
 * inflate.h: data that zlib compressed (RFC 1950, 1951), into a block of known size.
 */
#ifndef IO_INFLATE_H
#define IO_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False unless the stream is whole and gives exactly out_size bytes. The check sum behind it is not looked at. */
bool inflate_zlib(const uint8_t *data, size_t size, uint8_t *out, size_t out_size);

#endif
