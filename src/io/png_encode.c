/* png_encode.c: PNG (ISO/IEC 15948), compressed by zlib (see png_encode.h). */
#include "io/png_encode.h"

#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

#include "io/files.h"

/* Length before and check sum behind a chunk whose kind and data start at `at` + 4. Returns the next chunk. */
static size_t chunk_close(uint8_t *bytes, size_t at, size_t size)
{
    uint32_t check = (uint32_t)crc32(0, bytes + at + 4, (uInt)size + 4);
    bytes_put_u32_big(bytes + at, (uint32_t)size);
    bytes_put_u32_big(bytes + at + 8 + size, check);
    return at + size + 12;
}

/* Rows minus the pixel before each (filter 1). */
static uint8_t *rows_filter(const uint8_t *pixels, int width, int height, int channels, arena *memory)
{
    size_t row = (size_t)width * (size_t)channels;
    uint8_t *rows = ARENA_ARRAY(memory, uint8_t, (row + 1) * (size_t)height);
    for (size_t y = 0; rows && y < (size_t)height; y++) {
        uint8_t *out = rows + y * (row + 1);
        const uint8_t *in = pixels + y * row;
        *out++ = 1;
        for (size_t x = 0; x < row; x++)
            out[x] = (uint8_t)(in[x] - (x >= (size_t)channels ? in[x - (size_t)channels] : 0));
    }
    return rows;
}

static void *arena_take(void *memory, unsigned count, unsigned size) { return arena_push(memory, count, size); }

static void arena_keep(void *memory, void *address)
{
    (void)memory;
    (void)address;
}

/* A zlib stream of `plain`. Returns its size; 0: memory ran out, or it is longer than `limit`. */
static size_t rows_deflate(const uint8_t *plain, size_t size, arena *memory, uint8_t *out, size_t limit)
{
    z_stream stream = {.zalloc = arena_take, .zfree = arena_keep, .opaque = memory};
    if (deflateInit(&stream, Z_DEFAULT_COMPRESSION) != Z_OK) return 0;
    stream.next_in = plain;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)limit;

    bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    size_t packed = limit - stream.avail_out;
    deflateEnd(&stream);
    return whole ? packed : 0;
}

uint8_t *png_encode(const uint8_t *pixels, int width, int height, int channels, arena *memory, size_t *size)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10};
    size_t plain = ((size_t)width * (size_t)channels + 1) * (size_t)height;
    if (plain > (size_t)1 << 30) return NULL;

    size_t limit = compressBound((uLong)plain);
    uint8_t *rows = rows_filter(pixels, width, height, channels, memory);
    uint8_t *bytes = ARENA_ARRAY(memory, uint8_t, limit + 200);
    if (!rows || !bytes) return NULL;

    memcpy(bytes, signature, 8);
    memcpy(bytes + 12, "IHDR", 4);
    bytes_put_u32_big(bytes + 16, (uint32_t)width);
    bytes_put_u32_big(bytes + 20, (uint32_t)height);
    memcpy(bytes + 24, (uint8_t[]){8, channels == 4 ? 6 : 2, 0, 0, 0}, 5);
    size_t at = chunk_close(bytes, 8, 13);

    memcpy(bytes + at + 4, "IDAT", 4);
    size_t packed = rows_deflate(rows, plain, memory, bytes + at + 8, limit);
    if (packed == 0) return NULL;
    at = chunk_close(bytes, at, packed);

    memcpy(bytes + at + 4, "IEND", 4);
    *size = chunk_close(bytes, at, 0);
    return bytes;
}
