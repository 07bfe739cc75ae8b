/*
 * png_encode.h: pixels as a PNG file, small enough to be part of a .glb.
 */
#ifndef IO_PNG_ENCODE_H
#define IO_PNG_ENCODE_H

#include "base/core.h"

/* pixels: (height x width x channels) bytes, 3 (RGB) or 4 (RGBA) channels. NULL when memory runs out. */
uint8_t *png_encode(const uint8_t *pixels, int width, int height, int channels, arena *memory, size_t *size);

#endif
