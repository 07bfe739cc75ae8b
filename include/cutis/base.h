/*
 * base.h: results, errors, memory and threads, shared by every other header of cutis.
 *
 * The library never prints, exits or aborts, and keeps no global state. A function that can fail returns
 * a cutis_result and, when `error` is not NULL, fills it with a sentence that says what is wrong, where,
 * and what to do. All functions may be called from any thread, as long as one object is not written by two.
 */
#ifndef CUTIS_BASE_H
#define CUTIS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUTIS_VERSION_MAJOR 0
#define CUTIS_VERSION_MINOR 2
#define CUTIS_VERSION_PATCH 0

#if defined(_WIN32) && defined(CUTIS_BUILD)
#define CUTIS_API __declspec(dllexport)
#elif defined(_WIN32)
#define CUTIS_API
#elif defined(__GNUC__)
#define CUTIS_API __attribute__((visibility("default")))
#else
#define CUTIS_API
#endif

/* "MAJOR.MINOR.PATCH" of the library that is linked. */
CUTIS_API const char *cutis_version(void);

typedef enum cutis_result {
    CUTIS_OK = 0,
    CUTIS_ERROR_ARGUMENT,    /* a name, option or value that is not valid */
    CUTIS_ERROR_MEMORY,      /* the allocator returned NULL */
    CUTIS_ERROR_FILE,        /* a file cannot be opened, read or written */
    CUTIS_ERROR_FORMAT,      /* a file is damaged or breaks its format's rules */
    CUTIS_ERROR_UNSUPPORTED, /* valid, but asks for something cutis does not have */
    CUTIS_ERROR_DATA,        /* well formed, but not usable as a character (empty, not finite, ...) */
    CUTIS_ERROR_INTERRUPTED  /* the host asked to stop */
} cutis_result;

/* What went wrong. Zero-initialise it or not: it is only written on failure. */
typedef struct cutis_error {
    cutis_result code;
    char text[500]; /* one sentence, no newline, always terminated */
} cutis_error;

/*
 * Where an object takes its memory from. allocate returns NULL on failure; alignment is a power of two of
 * at most 64. release gets the block's size back. Both may be called by whatever thread calls the library.
 * Everywhere in this API a NULL allocator stands for malloc and free.
 */
typedef struct cutis_allocator {
    void *context;
    void *(*allocate)(void *context, size_t size, size_t alignment);
    void (*release)(void *context, void *block, size_t size);
} cutis_allocator;

/*
 * How work is spread over threads. run must call job(data, i) exactly once for each i in [0, count), on any
 * threads and in any order, and return when all are done. A host wraps its own job system in this; a NULL
 * pointer stands for the calling thread. Results never depend on the number of threads.
 */
typedef struct cutis_jobs {
    void *context;
    void (*run)(void *context, int count, void (*job)(void *data, int index), void *data);
} cutis_jobs;

/* A pool of threads, for hosts that have none. One pool serves one caller at a time. */
typedef struct cutis_pool cutis_pool;

/*
 * Start a pool in which `thread_count` threads work, the caller of run among them (so 1 starts none);
 * 0 takes one per processor. The range is 0 to 256.
 */
CUTIS_API cutis_result cutis_pool_create(int thread_count, const cutis_allocator *allocator, cutis_pool **pool,
                                         cutis_error *error);
CUTIS_API void cutis_pool_destroy(cutis_pool *pool); /* NULL is allowed */
/* The pool as a cutis_jobs; the pointer lives as long as the pool. */
CUTIS_API const cutis_jobs *cutis_pool_jobs(cutis_pool *pool);
/* How many threads work in the pool, the caller among them. */
CUTIS_API int cutis_pool_thread_count(const cutis_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
