/*
 * parallel.c: parallel_for over a host's jobs, and the built-in pool of threads.
 *
 * The indices of a run are split into one span for each thread, and a thread that has finished its own helps with the
 * others': so in runs that follow each other over the same data, as the iterations of a solver, a thread mostly meets
 * what its own cache holds. A worker waits for a new run, at first by looking again and again, because a step posts
 * many small runs, then asleep on a condition variable. The caller of run works too, and when no index is left it
 * closes the run: it waits for those who joined, not for those whom a busy machine has not woken yet.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/core.h"
#include "base/system.h"

enum { THREAD_LIMIT = 256, SPIN_COUNT = 20000, CACHE_LINE = 64 };
/* Flag of pool.entry; below it the number of workers in the run. */
enum { ENTRY_OPEN = 1 << 16 };

/* Indices of a run that one thread begins with. */
typedef struct pool_span {
    _Alignas(CACHE_LINE) atomic_int next; /* to take */
    int end;
} pool_span;

typedef struct pool_worker {
    struct cutis_pool *pool;
    int number; /* 1 ..; 0 is the caller */
} pool_worker;

struct cutis_pool {
    cutis_allocator allocator;
    cutis_jobs jobs;
    int thread_count; /* the caller among them */
    int started;      /* threads that run */
    pthread_t threads[THREAD_LIMIT];
    pool_worker workers[THREAD_LIMIT];
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    atomic_int sleepers;    /* workers that are, or are about to be, in the condition variable */
    atomic_uint generation; /* of the run posted last */
    atomic_bool stop;
    atomic_int entry; /* ENTRY_OPEN while the run may be joined, and those who did */
    void (*job)(void *data, int index);
    void *data;
    pool_span spans[THREAD_LIMIT];
};

static void pool_work(cutis_pool *pool, int self)
{
    for (int i = 0; i < pool->thread_count; i++) {
        /* its own span first, then those of the others */
        pool_span *span = pool->spans + (self + i) % pool->thread_count;
        for (int index; (index = atomic_fetch_add(&span->next, 1)) < span->end;) pool->job(pool->data, index);
    }
}

/* Wait until the generation is no longer `seen`. */
static void pool_wait(cutis_pool *pool, unsigned seen)
{
    /* a run often follows soon: spin before sleeping */
    for (int spin = 0; spin < SPIN_COUNT; spin++) {
        if (atomic_load(&pool->generation) != seen) return;
        if (spin % 64 == 63) sched_yield();
    }

    /* counted before the last look, so that pool_post does not miss it */
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->generation) == seen) pthread_cond_wait(&pool->wake, &pool->mutex);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->mutex);
}

static void *pool_thread(void *context)
{
    const pool_worker *worker = context;
    cutis_pool *pool = worker->pool;
    for (unsigned seen = 0;;) {
        pool_wait(pool, seen);
        seen = atomic_load(&pool->generation);
        if (atomic_load(&pool->stop)) return NULL;

        /* join the run while it is open */
        int entry = atomic_load(&pool->entry);
        while (entry & ENTRY_OPEN && !atomic_compare_exchange_weak(&pool->entry, &entry, entry + 1)) continue;
        if (!(entry & ENTRY_OPEN)) continue;

        pool_work(pool, worker->number);
        atomic_fetch_sub(&pool->entry, 1);
    }
}

/* Wake the workers, for a run or to end. Who is about to sleep has counted itself before it looks a last time. */
static void pool_post(cutis_pool *pool)
{
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleepers) == 0) return;

    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static void pool_run(void *context, int count, void (*job)(void *data, int index), void *data)
{
    cutis_pool *pool = context;

    if (pool->started == 0 || count <= 1) {
        for (int index = 0; index < count; index++) job(data, index);
        return;
    }

    /* a span of jobs for each thread; who is done takes from others */
    pool->job = job;
    pool->data = data;
    for (int i = 0; i < pool->thread_count; i++) {
        atomic_store(&pool->spans[i].next, (int)((long long)count * i / pool->thread_count));
        pool->spans[i].end = (int)((long long)count * (i + 1) / pool->thread_count);
    }

    /* open the run, and take part */
    atomic_store(&pool->entry, ENTRY_OPEN);
    pool_post(pool);
    pool_work(pool, 0);

    /* Whoever joined must have left before the next run may change the fields. */
    atomic_fetch_sub(&pool->entry, ENTRY_OPEN);
    for (int spin = 0; atomic_load(&pool->entry) > 0; spin++) {
        if (spin % 64 == 63) sched_yield();
    }
}

cutis_result cutis_pool_create(int thread_count, const cutis_allocator *allocator, cutis_pool **result,
                               cutis_error *error)
{
    *result = NULL;

    if (thread_count < 0 || thread_count > THREAD_LIMIT) {
        return error_set(error, CUTIS_ERROR_ARGUMENT, "%d threads: the range is 0 (one per processor) to %d",
                         thread_count, THREAD_LIMIT);
    }

    if (thread_count == 0) thread_count = MIN(system_processor_count(), THREAD_LIMIT);

    cutis_pool *pool = memory_allocate(allocator, 1, sizeof *pool);
    if (!pool) return error_memory(error, "a thread pool");

    pool->allocator = memory_resolve(allocator);
    pool->jobs = (cutis_jobs){pool, pool_run};
    pool->thread_count = thread_count;

    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);

    /* the caller is one of the threads */
    for (int i = 0; i < thread_count - 1; i++) {
        pool->workers[i] = (pool_worker){pool, i + 1};
        if (pthread_create(&pool->threads[i], NULL, pool_thread, &pool->workers[i]) != 0) {
            cutis_pool_destroy(pool);
            return error_set(error, CUTIS_ERROR_MEMORY, "the system refused to start %d threads", thread_count);
        }
        pool->started++;
    }

    *result = pool;
    return CUTIS_OK;
}

void cutis_pool_destroy(cutis_pool *pool)
{
    if (!pool) return;

    /* wake all threads, and wait for their end */
    atomic_store(&pool->stop, true);
    pool_post(pool);
    for (int i = 0; i < pool->started; i++) pthread_join(pool->threads[i], NULL);

    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    cutis_allocator allocator = pool->allocator;
    memory_release(&allocator, pool, 1, sizeof *pool);
}

const cutis_jobs *cutis_pool_jobs(cutis_pool *pool) { return &pool->jobs; }

int cutis_pool_thread_count(const cutis_pool *pool) { return pool->thread_count; }

typedef struct parallel_blocks {
    int count, grain;
    void (*body)(void *context, int begin, int end);
    void *context;
} parallel_blocks;

static void parallel_block(void *data, int index)
{
    const parallel_blocks *blocks = data;
    int begin = index * blocks->grain;
    blocks->body(blocks->context, begin, MIN(begin + blocks->grain, blocks->count));
}

void parallel_for(const cutis_jobs *jobs, int count, int grain, void (*body)(void *context, int begin, int end),
                  void *context)
{
    if (count <= 0) return;
    parallel_blocks blocks = {count, grain, body, context};
    int block_count = (count - 1) / grain + 1;

    /* in parallel, or here when there is one block only */
    if (jobs && block_count > 1) {
        jobs->run(jobs->context, block_count, parallel_block, &blocks);
    } else {
        for (int index = 0; index < block_count; index++) parallel_block(&blocks, index);
    }
}

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
