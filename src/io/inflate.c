/*
 * inflate.c: the DEFLATE format (Deutsch 1996, RFC 1951) in its zlib wrapping (RFC 1950), for arrays of FBX files.
 *
 * Codes are decoded bit by bit by counting lengths, which needs no tables; arrays of characters are small.
 */
#include "io/inflate.h"

#include <string.h>

enum { LENGTH_LIMIT = 15, LITERALS = 288, DISTANCES = 30 };

typedef struct bit_reader {
    const uint8_t *at, *end;
    uint32_t bits;
    int count;
    bool failed; /* ran out of input */
} bit_reader;

static unsigned bits_read(bit_reader *r, int count)
{
    while (r->count < count) {
        if (r->at == r->end) {
            r->failed = true;
            return 0;
        }
        r->bits |= (uint32_t)*r->at++ << r->count;
        r->count += 8;
    }

    unsigned value = r->bits & ((1u << count) - 1);
    r->bits >>= count;
    r->count -= count;
    return value;
}

/* A canonical prefix code: how many codes each length has, and the symbols in the order of their codes. */
typedef struct prefix_code {
    uint16_t counts[LENGTH_LIMIT + 1];
    uint16_t symbols[LITERALS];
} prefix_code;

static bool code_make(prefix_code *code, const uint8_t *lengths, int symbol_count)
{
    uint16_t starts[LENGTH_LIMIT + 2] = {0};

    /* how many codes of each length */
    memset(code->counts, 0, sizeof code->counts);
    for (int i = 0; i < symbol_count; i++) code->counts[lengths[i]]++;
    code->counts[0] = 0;

    /* codes of each length must fit into its bits */
    int left = 1;
    for (int length = 1; length <= LENGTH_LIMIT; length++) {
        left = 2 * left - code->counts[length];
        if (left < 0) return false; /* more codes than bits */
        starts[length + 1] = (uint16_t)(starts[length] + code->counts[length]);
    }

    /* symbols by length, then in their order */
    for (int i = 0; i < symbol_count; i++)
        if (lengths[i]) code->symbols[starts[lengths[i]]++] = (uint16_t)i;
    return true;
}

/* The next symbol, or -1. */
static int symbol_read(bit_reader *r, const prefix_code *code)
{
    int value = 0;
    int first = 0;
    int index = 0;

    /* canonical codes of a length are consecutive */
    for (int length = 1; length <= LENGTH_LIMIT; length++) {
        value |= (int)bits_read(r, 1);
        if (r->failed) return -1;

        int count = code->counts[length];
        if (value - first < count) return code->symbols[index + value - first];

        index += count;
        first = 2 * (first + count);
        value *= 2;
    }
    return -1;
}

typedef struct output {
    uint8_t *bytes;
    size_t size, used;
} output;

static bool stored_read(bit_reader *r, output *out)
{
    r->bits = 0;
    r->count = 0;

    /* behind the rest of the byte: length and its complement */
    if (r->end - r->at < 4) return false;
    size_t length = (size_t)r->at[0] | (size_t)r->at[1] << 8;
    size_t check = (size_t)r->at[2] | (size_t)r->at[3] << 8;
    r->at += 4;
    if ((length ^ check) != 0xffff || (size_t)(r->end - r->at) < length || out->size - out->used < length) return false;

    memcpy(out->bytes + out->used, r->at, length);
    r->at += length;
    out->used += length;
    return true;
}

static bool block_read(bit_reader *r, const prefix_code *literals, const prefix_code *distances, output *out)
{
    static const uint16_t length_base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                             31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                            2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t distance_base[DISTANCES] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                      33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                      1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    static const uint8_t distance_bits[DISTANCES] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                                     6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

    /* symbols until the one that ends the block */
    for (;;) {
        int symbol = symbol_read(r, literals);
        if (symbol == 256) return true;
        if (symbol < 0 || symbol > 285) return false;

        /* a literal byte */
        if (symbol < 256) {
            if (out->used == out->size) return false;
            out->bytes[out->used++] = (uint8_t)symbol;
            continue;
        }

        /* a match: length and distance, each a code and extra bits */
        size_t length = length_base[symbol - 257] + bits_read(r, length_bits[symbol - 257]);
        symbol = symbol_read(r, distances);
        if (symbol < 0 || symbol >= DISTANCES) return false;
        size_t distance = distance_base[symbol] + bits_read(r, distance_bits[symbol]);

        /* copied byte by byte: a match may overlap itself */
        if (r->failed || distance > out->used || length > out->size - out->used) return false;
        for (size_t i = 0; i < length; i++, out->used++) out->bytes[out->used] = out->bytes[out->used - distance];
    }
}

static bool fixed_read(bit_reader *r, output *out)
{
    uint8_t lengths[LITERALS];
    prefix_code literals, distances;
    for (int i = 0; i < LITERALS; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    code_make(&literals, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    code_make(&distances, lengths, DISTANCES);
    return block_read(r, &literals, &distances, out);
}

static bool dynamic_read(bit_reader *r, output *out)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

    /* sizes of the tables */
    int literal_count = (int)bits_read(r, 5) + 257;
    int distance_count = (int)bits_read(r, 5) + 1;
    int code_count = (int)bits_read(r, 4) + 4;
    if (literal_count > 286 || distance_count > DISTANCES) return false;

    /* lengths of the code that the lengths are coded in */
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    prefix_code code;
    for (int i = 0; i < code_count; i++) lengths[order[i]] = (uint8_t)bits_read(r, 3);
    if (r->failed || !code_make(&code, lengths, 19)) return false;

    /* the lengths of both codes, with runs */
    memset(lengths, 0, sizeof lengths);
    for (int i = 0; i < literal_count + distance_count;) {
        int symbol = symbol_read(r, &code);
        if (symbol < 0) return false;

        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }

        if (symbol == 16 && i == 0) return false;
        uint8_t repeated = symbol == 16 ? lengths[i - 1] : 0;
        int run = symbol == 16   ? 3 + (int)bits_read(r, 2)
                  : symbol == 17 ? 3 + (int)bits_read(r, 3)
                                 : 11 + (int)bits_read(r, 7);

        if (r->failed || i + run > literal_count + distance_count) return false;
        while (run-- > 0) lengths[i++] = repeated;
    }

    prefix_code literals, distances;
    return code_make(&literals, lengths, literal_count) &&
           code_make(&distances, lengths + literal_count, distance_count) && block_read(r, &literals, &distances, out);
}

bool inflate_zlib(const uint8_t *data, size_t size, uint8_t *out, size_t out_size)
{
    /* the head of zlib, without a dictionary */
    if (size < 2 || (data[0] & 15) != 8 || (data[0] * 256 + data[1]) % 31 != 0 || data[1] & 32) return false;
    bit_reader r = {.at = data + 2, .end = data + size};
    output o = {out, out_size, 0};
    for (;;) {
        /* a block: stored, fixed codes or codes of its own */
        unsigned last = bits_read(&r, 1);
        unsigned kind = bits_read(&r, 2);
        if (r.failed) return false;
        bool good = kind == 0   ? stored_read(&r, &o)
                    : kind == 1 ? fixed_read(&r, &o)
                                : kind == 2 && dynamic_read(&r, &o);

        if (!good) return false;
        if (last) return o.used == o.size;
    }
}
