/*
 * parallel.c: parallel_for over a host's jobs, and the built-in pool of threads.
 *
 * A worker sleeps on a condition variable until a new run is posted, joins it, and takes indices from an atomic
 * counter until none is left. The caller of run works too, and when no index is left it closes the run: it waits
 * for those who joined, not for those whom a busy machine has not woken yet. Between runs that follow each other
 * closely a worker spins for a short while before it sleeps, because a step posts many small runs.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/core.h"

enum { THREAD_LIMIT = 256, SPIN_COUNT = 2000 };

struct cutis_pool {
    cutis_allocator allocator;
    cutis_jobs jobs;
    int thread_count; /* the caller among them */
    int started;      /* threads that run */
    pthread_t threads[THREAD_LIMIT];
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    atomic_uint generation; /* of the run posted last */
    bool stop, open;        /* under the mutex: the pool ends; the run may be joined */
    atomic_int next;        /* index to take */
    atomic_int joined;      /* workers in the run */
    int count;
    void (*job)(void *data, int index);
    void *data;
};

static void pool_work(cutis_pool *pool)
{
    int count = pool->count;
    for (int index; (index = atomic_fetch_add(&pool->next, 1)) < count;) pool->job(pool->data, index);
}

static void *pool_thread(void *context)
{
    cutis_pool *pool = context;
    unsigned seen = 0;
    for (;;) {
        /* Wait for the next run: spin first, then sleep. */
        for (int spin = 0; spin < SPIN_COUNT && atomic_load(&pool->generation) == seen; spin++) {
            if (spin % 64 == 63) sched_yield();
        }
        pthread_mutex_lock(&pool->mutex);
        while (atomic_load(&pool->generation) == seen) pthread_cond_wait(&pool->wake, &pool->mutex);
        seen = atomic_load(&pool->generation);
        bool stop = pool->stop, join = pool->open;
        if (join) atomic_fetch_add(&pool->joined, 1);
        pthread_mutex_unlock(&pool->mutex);
        if (stop) return NULL;
        if (!join) continue;
        pool_work(pool);
        atomic_fetch_sub(&pool->joined, 1);
    }
}

/* Wake the workers, for a run or to end. */
static void pool_post(cutis_pool *pool, bool stop)
{
    pthread_mutex_lock(&pool->mutex);
    pool->stop = stop;
    pool->open = !stop;
    atomic_fetch_add(&pool->generation, 1);
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
    pool->count = count, pool->job = job, pool->data = data;
    atomic_store(&pool->next, 0);
    pool_post(pool, false);
    pool_work(pool);
    pthread_mutex_lock(&pool->mutex);
    pool->open = false;
    pthread_mutex_unlock(&pool->mutex);
    /* Whoever joined must have left before the next run may change the fields. */
    for (int spin = 0; atomic_load(&pool->joined) > 0; spin++) {
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
    if (thread_count == 0) thread_count = (int)CLAMP(sysconf(_SC_NPROCESSORS_ONLN), 1, THREAD_LIMIT);
    cutis_pool *pool = memory_allocate(allocator, 1, sizeof *pool);
    if (!pool) return error_memory(error, "a thread pool");
    pool->allocator = memory_resolve(allocator);
    pool->jobs = (cutis_jobs){pool, pool_run};
    pool->thread_count = thread_count;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    for (int i = 0; i < thread_count - 1; i++) {
        if (pthread_create(&pool->threads[i], NULL, pool_thread, pool) != 0) {
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
    pool_post(pool, true);
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
