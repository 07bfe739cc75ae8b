/* inflate.c: zlib streams into a block of known size, by zlib (see inflate.h). */
#include "io/inflate.h"

#include <limits.h>
#include <stddef.h>

#define ZLIB_CONST
#include <zlib.h>

/* Inflating in one call needs no window: zlib takes one small block, for its state. */
typedef struct state_block {
    max_align_t bytes[1024];
    bool taken;
} state_block;

static void *block_take(void *opaque, unsigned count, unsigned size)
{
    state_block *block = opaque;
    if (block->taken || (size_t)count * size > sizeof block->bytes) return NULL;
    block->taken = true;
    return block->bytes;
}

static void block_release(void *opaque, void *address)
{
    (void)opaque;
    (void)address;
}

bool inflate_zlib(const uint8_t *data, size_t size, uint8_t *out, size_t out_size)
{
    /* the head of two bytes; the stream behind it is inflated raw, without the check sum */
    if (size < 2 || size > UINT_MAX || out_size > UINT_MAX) return false;
    if ((data[0] & 15) != Z_DEFLATED || (data[0] * 256 + data[1]) % 31 != 0 || data[1] & 32) return false;

    state_block block = {.taken = false};
    z_stream stream = {.next_in = data + 2, .avail_in = (unsigned)size - 2, .next_out = out};
    stream.avail_out = (unsigned)out_size;
    stream.zalloc = block_take;
    stream.zfree = block_release;
    stream.opaque = &block;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;

    bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    return whole;
}
