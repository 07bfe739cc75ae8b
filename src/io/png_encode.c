/*
 * png_encode.c: PNG (ISO/IEC 15948) with deflate (RFC 1951): one block of fixed codes, matches by the last place of the
 * same three bytes. Half to a third of the plain size for textures; a packer would do better.
 */
#include "io/png_encode.h"

#include <string.h>

#include "io/files.h"

enum { WINDOW = 32768, HASH_BITS = 15, MATCH_LEAST = 3, MATCH_MOST = 258 };

typedef struct bit_writer {
    uint8_t *bytes;
    size_t size;
    uint64_t bits;
    int count;
} bit_writer;

static void bits_put(bit_writer *w, unsigned value, int count)
{
    w->bits |= (uint64_t)value << w->count;
    w->count += count;
    while (w->count >= 8) {
        w->bytes[w->size++] = (uint8_t)w->bits;
        w->bits >>= 8;
        w->count -= 8;
    }
}

/* Huffman codes go with their first bit first. */
static void code_put(bit_writer *w, unsigned code, int count)
{
    unsigned turned = 0;
    for (int i = 0; i < count; i++) turned |= (code >> i & 1) << (count - 1 - i);
    bits_put(w, turned, count);
}

static void symbol_put(bit_writer *w, unsigned symbol)
{
    if (symbol < 144)
        code_put(w, 0x30 + symbol, 8);
    else if (symbol < 256)
        code_put(w, 0x190 + symbol - 144, 9);
    else if (symbol < 280)
        code_put(w, symbol - 256, 7);
    else
        code_put(w, 0xc0 + symbol - 280, 8);
}

/* A length or a distance: its code, and the bits behind it. starts: (count) least value of each code. */
static unsigned code_find(const unsigned *starts, unsigned count, unsigned value)
{
    unsigned code = 0;
    while (code + 1 < count && starts[code + 1] <= value) code++;
    return code;
}

static void match_put(bit_writer *w, unsigned length, unsigned distance)
{
    static const unsigned lengths[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                         31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const unsigned distances[30] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                           33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                           1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};

    /* length: a code, and the bits that it leaves open */
    unsigned code = code_find(lengths, 29, length);
    int extra = code < 8 || code == 28 ? 0 : (int)(code - 4) / 4;
    symbol_put(w, 257 + code);
    bits_put(w, length - lengths[code], extra);

    /* distance: the same */
    code = code_find(distances, 30, distance);
    extra = code < 4 ? 0 : (int)(code - 2) / 2;
    code_put(w, code, 5);
    bits_put(w, distance - distances[code], extra);
}

static size_t deflate(const uint8_t *plain, size_t size, int *last, uint8_t *packed)
{
    bit_writer w = {.bytes = packed};

    for (int i = 0; i < 1 << HASH_BITS; i++) last[i] = -1;
    bits_put(&w, 3, 3); /* the last block, fixed codes */
    for (size_t at = 0; at < size;) {
        /* match with the latest place whose three bytes hash the same */
        size_t length = 0, from = 0;
        if (at + MATCH_LEAST <= size) {
            uint32_t three = (uint32_t)plain[at] | (uint32_t)plain[at + 1] << 8 | (uint32_t)plain[at + 2] << 16;
            int *place = &last[three * 2654435761u >> (32 - HASH_BITS)];

            if (*place >= 0 && at - (size_t)*place <= WINDOW) {
                from = (size_t)*place;
                while (length < MATCH_MOST && at + length < size && plain[from + length] == plain[at + length])
                    length++;
            }
            *place = (int)at;
        }

        /* a match, or the byte itself */
        if (length >= MATCH_LEAST) {
            match_put(&w, (unsigned)length, (unsigned)(at - from));
            at += length;
        } else {
            symbol_put(&w, plain[at++]);
        }
    }

    /* end of the block, and bits to fill its last byte */
    symbol_put(&w, 256);
    bits_put(&w, 0, 7);
    return w.size;
}

/* ---- the file ---- */

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return crc ^ 0xFFFFFFFFu;
}

/* Length before and check behind a chunk whose kind and data stand at `at` + 4. */
static size_t chunk_close(uint8_t *bytes, size_t at, size_t size)
{
    bytes_put_u32_big(bytes + at, (uint32_t)size);
    bytes_put_u32_big(bytes + at + 8 + size, crc_of(bytes + at + 4, size + 4));
    return at + size + 12;
}

/* Rows with what is left when the pixel before (filter 1) is taken away. */
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

uint8_t *png_encode(const uint8_t *pixels, int width, int height, int channels, arena *memory, size_t *size)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10};
    size_t plain = ((size_t)width * (size_t)channels + 1) * (size_t)height;
    if (plain > (size_t)1 << 30) return NULL;

    uint8_t *rows = rows_filter(pixels, width, height, channels, memory);
    uint8_t *bytes = ARENA_ARRAY(memory, uint8_t, plain + plain / 7 + 200); /* nine bits a byte at worst */
    int *last = ARENA_ARRAY(memory, int, 1 << HASH_BITS);
    if (!rows || !bytes || !last) return NULL;

    memcpy(bytes, signature, 8);
    memcpy(bytes + 12, "IHDR", 4);
    bytes_put_u32_big(bytes + 16, (uint32_t)width);
    bytes_put_u32_big(bytes + 20, (uint32_t)height);
    memcpy(bytes + 24, (uint8_t[]){8, channels == 4 ? 6 : 2, 0, 0, 0}, 5);
    size_t at = chunk_close(bytes, 8, 13);

    /* the rows, between zlib's head and its sum */
    memcpy(bytes + at + 4, "IDAT\x78\x01", 6);
    size_t packed = deflate(rows, plain, last, bytes + at + 10);

    /* Adler-32 of the rows */
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < plain; i++) {
        a = (a + rows[i]) % 65521;
        b = (b + a) % 65521;
    }

    bytes_put_u32_big(bytes + at + 10 + packed, b << 16 | a);
    at = chunk_close(bytes, at, packed + 6);

    memcpy(bytes + at + 4, "IEND", 4);
    *size = chunk_close(bytes, at, 0);
    return bytes;
}
