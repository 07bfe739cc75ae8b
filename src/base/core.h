/*
 * core.h: errors, memory, hash, threads and clock, used by every module.
 */
#ifndef BASE_CORE_H
#define BASE_CORE_H

#include <stdarg.h>
#include <stdint.h>

#include "cutis/base.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CLAMP(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))

/* ---- errors ---- */

/* Fill `error` (may be NULL) and return `code`, so that a caller can write `return error_set(...)`. */
cutis_result error_set(cutis_error *error, cutis_result code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "out of memory", with what it was for. */
cutis_result error_memory(cutis_error *error, const char *what);
/*
 * A search for the valid name nearest to a mistyped one, for "did you mean". Start it, offer every candidate
 * (kept by reference), then read `nearest`: NULL when none is near.
 */
typedef struct name_search {
    const char *name;
    const char *nearest;
    int distance; /* of the nearest; candidates must be below it */
} name_search;

name_search name_search_start(const char *name);
void name_search_offer(name_search *search, const char *candidate);

/* ---- numbers as text, without the locale ---- */

/*
 * Read a decimal number at *cursor (no leading space) and move behind it. False, cursor unmoved, when there is none.
 * Too large gives infinity; "nan" and "inf" are not numbers.
 */
bool text_number(const char **cursor, const char *end, double *value);

/* ---- memory ---- */

/* 64-byte aligned, zeroed; NULL on failure (or when count x size overflows). */
void *memory_allocate(const cutis_allocator *allocator, size_t count, size_t size);
void memory_release(const cutis_allocator *allocator, void *block, size_t count, size_t size);
/* The allocator to use for a possibly NULL one, by value, so that an object can keep it. */
cutis_allocator memory_resolve(const cutis_allocator *allocator);

/* The largest resident memory of this process so far, bytes; 0 where the system does not tell. */
double memory_peak(void);

/*
 * Memory that is freed all at once. Blocks are zeroed and 64-byte aligned. After a failed push, `failed`
 * stays true, so that a builder may check once at its end, as long as it does not touch NULL in between.
 */
typedef struct arena {
    cutis_allocator allocator;
    struct arena_chunk *chunks;
    size_t used;  /* of the first chunk */
    size_t bytes; /* handed out in all */
    bool failed;
} arena;

arena arena_create(const cutis_allocator *allocator);
void arena_destroy(arena *a);
void *arena_push(arena *a, size_t count, size_t size);
char *arena_string(arena *a, const char *text);
char *arena_format(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *arena_copy(arena *a, const void *from, size_t count, size_t size); /* NULL from or 0 count: NULL */
#define ARENA_ARRAY(a, type, count) ((type *)arena_push((a), (size_t)(count), sizeof(type)))

/* ---- forests ---- */

/* The root of `i` in a forest of parents, where roots are their own parents. Shortens the way on which it looks. */
static inline int forest_root(int *parents, int i)
{
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
}

/* Make the trees of a and b one. The lower root stays one, so that the order of joins does not matter. */
static inline void forest_join(int *parents, int a, int b)
{
    a = forest_root(parents, a);
    b = forest_root(parents, b);
    parents[MAX(a, b)] = MIN(a, b);
}

/* ---- hash ---- */

/* 64-bit hash of bytes; the same on every little-endian machine. */
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);

/* ---- threads ---- */

/*
 * Call body(context, begin, end) for consecutive blocks of `grain` items that cover [0, count). The split
 * depends on count and grain alone, so a body that writes only its own items gives the same bits on any
 * number of threads. For a reduction, let each block write its partial result by begin / grain and add
 * them in order afterwards.
 */
void parallel_for(const cutis_jobs *jobs, int count, int grain, void (*body)(void *context, int begin, int end),
                  void *context);

/* ---- clock ---- */

/* Seconds of a monotonic clock, for statistics only: results never depend on it. */
double clock_seconds(void);

#endif
