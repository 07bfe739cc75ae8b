/*
 * base.h: results, errors, memory and threads, shared by every other header of cutis.
 *
 * The library never prints, exits or aborts, and keeps no global state. A function that can fail returns a
 * cutis_result. When `error` is not NULL, it receives one sentence: what is wrong, where, and what to do. Any thread
 * may call any function. Two threads must not write one object at the same time.
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

/* Return "MAJOR.MINOR.PATCH" of the linked library. */
CUTIS_API const char *cutis_version(void);

typedef enum cutis_result {
    CUTIS_OK = 0,
    CUTIS_ERROR_ARGUMENT,    /* a name, option or value that is not valid */
    CUTIS_ERROR_MEMORY,      /* the allocator returned NULL */
    CUTIS_ERROR_FILE,        /* a file cannot be opened, read or written */
    CUTIS_ERROR_FORMAT,      /* a file is damaged or breaks its format's rules */
    CUTIS_ERROR_UNSUPPORTED, /* valid, but it needs a feature that cutis does not have */
    CUTIS_ERROR_DATA,        /* well formed, but unusable as a character (empty, not finite, ...) */
    CUTIS_ERROR_INTERRUPTED  /* the host asked to stop */
} cutis_result;

/* Description of a failure. The library writes it only on failure, so it need not be initialised. */
typedef struct cutis_error {
    cutis_result code;
    char text[500]; /* one sentence, no newline, always terminated */
} cutis_error;

/*
 * The source of an object's memory. allocate returns NULL on failure; alignment is a power of two, at most 64. release
 * receives the size that was allocated. Every thread that calls the library may call both. A NULL allocator means
 * malloc and free, everywhere in this API.
 */
typedef struct cutis_allocator {
    void *context;
    void *(*allocate)(void *context, size_t size, size_t alignment);
    void (*release)(void *context, void *block, size_t size);
} cutis_allocator;

/*
 * An interface to a job system. run must call job(data, i) exactly once for each i in [0, count), on any threads and in
 * any order. It returns when all jobs are done. A host wraps its own job system in this struct. A NULL pointer means
 * the calling thread. Results never depend on the number of threads.
 */
typedef struct cutis_jobs {
    void *context;
    void (*run)(void *context, int count, void (*job)(void *data, int index), void *data);
} cutis_jobs;

/* A thread pool, for hosts without a job system. Only one thread may use a pool at a time. */
typedef struct cutis_pool cutis_pool;

/*
 * Start a pool of `thread_count` threads (0 to 256). The count includes the thread that calls run, so 1 starts no
 * thread. 0 means one thread per processor.
 */
CUTIS_API cutis_result cutis_pool_create(int thread_count, const cutis_allocator *allocator, cutis_pool **pool,
                                         cutis_error *error);
CUTIS_API void cutis_pool_destroy(cutis_pool *pool); /* NULL is allowed */
/* Return the pool as a cutis_jobs. The pointer is valid until the pool is destroyed. */
CUTIS_API const cutis_jobs *cutis_pool_jobs(cutis_pool *pool);
/* Return the number of threads in the pool, including the caller. */
CUTIS_API int cutis_pool_thread_count(const cutis_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
