/*
 * embed.c: cutis inside a game: the host's own memory, own worker threads and own loop. Usage: embed [FILE]
 */
#include <cutis/cutis.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static long allocations;
static void *host_allocate(void *heap, size_t size, size_t alignment)
{
    (void)heap, allocations++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
static void host_release(void *heap, void *block, size_t size) { (void)heap, (void)size, free(block); }

/* The host's job system: three threads and the caller, each takes the next index until none is left. */
typedef struct workers {
    sem_t start, done;
    atomic_int next;
    int count;
    void (*job)(void *data, int index);
    void *data;
} workers;
static void take(workers *w)
{
    for (int i; (i = atomic_fetch_add(&w->next, 1)) < w->count;) w->job(w->data, i);
}
static void *work(void *context)
{
    workers *w = context;
    while (!sem_wait(&w->start)) take(w), sem_post(&w->done);
    return NULL;
}
static void run(void *context, int count, void (*job)(void *data, int index), void *data)
{
    workers *w = context;
    w->count = count, w->job = job, w->data = data, atomic_store(&w->next, 0);
    for (int i = 0; i < 3; i++) sem_post(&w->start);
    take(w);
    for (int i = 0; i < 3; i++) sem_wait(&w->done);
}

int main(int argc, char **argv)
{
    static workers crew;
    sem_init(&crew.start, 0, 0), sem_init(&crew.done, 0, 0);
    for (int i = 0; i < 3; i++) pthread_create(&(pthread_t){0}, NULL, work, &crew);
    cutis_jobs jobs = {&crew, run};
    cutis_allocator heap = {NULL, host_allocate, host_release};

    /* Load and build: slow, allocates, may fail. */
    cutis_error error;
    cutis_character *hero = NULL;
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    if (argc > 1 ? cutis_character_load(argv[1], &heap, &hero, &error)
                 : cutis_zoo_make("arm", 1.0, &heap, &hero, &error))
        return fprintf(stderr, "%s\n", error.text), 1;
    cutis_model_def def = {.character = hero, .solver = "dqs", .jobs = &jobs, .allocator = &heap};
    if (cutis_model_build(&def, &model, &error) || cutis_state_create(model, &heap, &state, &error))
        return fprintf(stderr, "%s\n", error.text), 1;

    /* The game loop: each frame a pose comes from the host (here from a clip). Step neither allocates nor fails. */
    float *pose = malloc(sizeof(float) * 12 * (size_t)hero->joint_count), top = 0;
    long before = allocations;
    for (int frame = 0; pose && frame < 120; frame++) {
        cutis_pose_sample(hero, hero->clip_count ? 0 : -1, frame / 60.0, pose);
        cutis_state_step(model, state, &(cutis_step_input){.joints = pose, .jobs = &jobs}, 1.0 / 60);
        const float *positions = cutis_state_positions(model, state); /* vertex_count x 3: to the vertex buffer */
        for (int v = 0; v < hero->vertex_count; v++) top = positions[v * 3 + 1] > top ? positions[v * 3 + 1] : top;
    }
    printf("%s: 120 frames, highest point %.3f, %ld allocations while stepping, state %016llx\n", hero->name, top,
           allocations - before, (unsigned long long)cutis_state_hash(model, state));
    free(pose);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(hero);
    return allocations != before;
}
