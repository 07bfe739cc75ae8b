/*
 * hash.c: a 64-bit hash of bytes. Eight bytes at a time are multiplied by an odd constant and folded; a
 * final avalanche makes every bit count. Not for adversaries, only for replays.
 */
#include <string.h>

#include "base/core.h"

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 29;
    x *= 0xa0761d6478bd642fu;
    return x ^ (x >> 32);
}

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *bytes = data;
    uint64_t hash = mix(seed + 0x9e3779b97f4a7c15u) ^ size;

    /* eight bytes at a time */
    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0xe7037ed1a0b428dbu;
        hash ^= hash >> 31;
    }

    uint64_t tail = 0;
    if (size) memcpy(&tail, bytes, size);
    return mix(hash ^ tail);
}
