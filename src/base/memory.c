/* memory.c: blocks from an allocator, and arenas of them. */
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "base/system.h"

enum { ALIGNMENT = 64, CHUNK_BYTES = 1 << 16 };

static void *default_allocate(void *context, size_t size, size_t alignment)
{
    (void)context;
    return system_allocate(size, alignment);
}

static void default_release(void *context, void *block, size_t size)
{
    (void)context, (void)size;
    system_release(block);
}

cutis_allocator memory_resolve(const cutis_allocator *allocator)
{
    if (allocator) return *allocator;
    return (cutis_allocator){NULL, default_allocate, default_release};
}

/* count x size rounded up to whole alignments; 0 when it overflows. */
static size_t block_bytes(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - ALIGNMENT) / size) return 0;
    size_t bytes = MAX(count * size, 1);
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

void *memory_allocate(const cutis_allocator *allocator, size_t count, size_t size)
{
    size_t bytes = block_bytes(count, size);
    if (bytes == 0) return NULL;
    cutis_allocator a = memory_resolve(allocator);
    void *block = a.allocate(a.context, bytes, ALIGNMENT);
    if (block) memset(block, 0, bytes);
    return block;
}

void memory_release(const cutis_allocator *allocator, void *block, size_t count, size_t size)
{
    if (!block) return;
    cutis_allocator a = memory_resolve(allocator);
    a.release(a.context, block, block_bytes(count, size));
}

double memory_peak(void) { return system_peak_memory(); }

/* The header takes one alignment, so that what follows it is aligned too. */
typedef struct arena_chunk {
    struct arena_chunk *next;
    size_t bytes; /* of the whole chunk, the header among them */
} arena_chunk;

arena arena_create(const cutis_allocator *allocator) { return (arena){.allocator = memory_resolve(allocator)}; }

void arena_destroy(arena *a)
{
    for (arena_chunk *chunk = a->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        a->allocator.release(a->allocator.context, chunk, chunk->bytes);
    }
    *a = (arena){.allocator = a->allocator};
}

void *arena_push(arena *a, size_t count, size_t size)
{
    size_t bytes = block_bytes(count, size);
    if (bytes == 0 || bytes > SIZE_MAX - ALIGNMENT) {
        a->failed = true;
        return NULL;
    }

    /* a new chunk when the last one is full */
    if (!a->chunks || a->chunks->bytes - a->used < bytes) {
        /* Chunks grow with what is already there, so that their number stays small. */
        size_t chunk_bytes = MAX(bytes + ALIGNMENT, MAX((size_t)CHUNK_BYTES, MIN(a->bytes, (size_t)1 << 24)));
        arena_chunk *chunk = a->allocator.allocate(a->allocator.context, chunk_bytes, ALIGNMENT);
        if (!chunk) {
            a->failed = true;
            return NULL;
        }

        /* in front of the others, its header used up */
        *chunk = (arena_chunk){a->chunks, chunk_bytes};
        a->chunks = chunk;
        a->used = ALIGNMENT;
    }

    void *block = (char *)a->chunks + a->used;
    a->used += bytes;
    a->bytes += bytes;
    return memset(block, 0, bytes);
}

void *arena_copy(arena *a, const void *from, size_t count, size_t size)
{
    if (!from || count == 0) return NULL;
    void *block = arena_push(a, count, size);
    return block ? memcpy(block, from, count * size) : NULL;
}

char *arena_string(arena *a, const char *text) { return arena_copy(a, text, strlen(text) + 1, 1); }

char *arena_format(arena *a, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return arena_string(a, text);
}
