/*
 * testing.h: what the tests share: an allocator that counts, limits and fails on demand, job systems to test
 * thread independence with, and paths of the models kept outside the repository. Brings tube.h along.
 *
 * Includes cmocka and all that must come before it. A test includes this file first.
 */
#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cutis/cutis.h"
#include "tube.h"

/* ---- time ---- */

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define TEST_SANITIZED 1
#elif defined __has_feature
#define TEST_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define TEST_SANITIZED 0
#endif

/* First line of a test of accuracy that takes a second or more: a sanitizer would take six times as long to find
 * nothing that the golden scenes and the shorter tests do not show it. */
static inline void test_is_heavy(void)
{
    if (TEST_SANITIZED) skip();
}

/* ---- memory ---- */

/*
 * An allocator that keeps the books. Zero-initialise it, then set fail_at to the number of the allocation that
 * shall fail (1 = the first; 0 = none). Blocks carry their size in front, so that a wrong size given to release
 * is noticed. Safe from several threads.
 */
typedef struct test_memory {
    atomic_long live_blocks, live_bytes; /* not yet released */
    atomic_long allocations;             /* calls in all, failed ones too */
    atomic_long failures;                /* calls that were answered with NULL */
    atomic_long wrong_sizes;             /* releases whose size was not the one asked for */
    long fail_at;
} test_memory;

/* Distance between the start of the malloc block and the block given out: room for the size and for alignment. */
enum { TEST_MEMORY_HEADER = 64 };

static inline void *test_memory_allocate(void *context, size_t size, size_t alignment)
{
    test_memory *memory = context;
    long number = atomic_fetch_add(&memory->allocations, 1) + 1;
    char *block = NULL;
    (void)alignment; /* at most 64, which every block has */
    if (number != memory->fail_at) block = aligned_alloc(64, TEST_MEMORY_HEADER + (size + 63) / 64 * 64);
    if (!block) {
        atomic_fetch_add(&memory->failures, 1);
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    memset(block + TEST_MEMORY_HEADER, 0xa5, size); /* nobody may count on zeros */
    atomic_fetch_add(&memory->live_blocks, 1);
    atomic_fetch_add(&memory->live_bytes, (long)size);
    return block + TEST_MEMORY_HEADER;
}

static inline void test_memory_release(void *context, void *block, size_t size)
{
    test_memory *memory = context;
    if (!block) return;
    size_t asked;
    memcpy(&asked, (char *)block - TEST_MEMORY_HEADER, sizeof asked);
    if (asked != size) atomic_fetch_add(&memory->wrong_sizes, 1);
    atomic_fetch_sub(&memory->live_blocks, 1);
    atomic_fetch_sub(&memory->live_bytes, (long)asked);
    free((char *)block - TEST_MEMORY_HEADER);
}

static inline cutis_allocator test_allocator(test_memory *memory)
{
    return (cutis_allocator){memory, test_memory_allocate, test_memory_release};
}

/* Nothing is left over, and every release gave the right size. */
static inline void assert_memory_clean(test_memory *memory)
{
    assert_int_equal(atomic_load(&memory->live_blocks), 0);
    assert_int_equal(atomic_load(&memory->live_bytes), 0);
    assert_int_equal(atomic_load(&memory->wrong_sizes), 0);
}

/*
 * Run body again and again, with its first, second, third, ... allocation failing, until none fails. body uses the
 * given allocator for everything, frees what it made, and returns whether it succeeded: it must do so exactly when
 * no allocation failed. Returns the number of allocations of the undisturbed run.
 */
static inline long test_every_allocation(bool (*body)(void *context, const cutis_allocator *allocator), void *context)
{
    /* every one of them; under a sanitizer, which repeats it slowly, ever fewer of the later ones */
    for (long fail_at = 1;; fail_at += TEST_SANITIZED ? 1 + fail_at / 8 : 1) {
        test_memory memory = {.fail_at = fail_at};
        cutis_allocator allocator = test_allocator(&memory);
        bool succeeded = body(context, &allocator);
        bool failed = atomic_load(&memory.failures) > 0;
        if (succeeded == failed) {
            print_error("allocation %ld failing: body says %s\n", fail_at, succeeded ? "success" : "failure");
        }
        assert_true(succeeded != failed);
        assert_memory_clean(&memory);
        if (!failed) return atomic_load(&memory.allocations);
    }
}

/* ---- characters, models and states: made, or the test fails with the library's sentence ---- */

static inline cutis_character *test_zoo(const char *name, double resolution)
{
    cutis_character *character = NULL;
    cutis_error error;
    if (cutis_zoo_make(name, resolution, NULL, &character, &error) != CUTIS_OK) fail_msg("%s: %s", name, error.text);
    return character;
}

/* A round collider on a joint (-1: fixed in the scene), with the solver's own friction. */
static inline cutis_prop test_ball(float radius, int joint)
{
    return (cutis_prop){.name = "ball",
                        .role = CUTIS_PROP_COLLIDER,
                        .shape = CUTIS_PROP_SPHERE,
                        .size = {radius},
                        .joint = joint,
                        .friction = -1,
                        .restitution = -1};
}

/* Without a detail: on the drawn mesh, so that small scenes stay small. */
static inline cutis_model *test_build_def(cutis_model_def def)
{
    if (def.detail == 0) def.detail = CUTIS_DETAIL_DRAWN;
    cutis_model *model = NULL;
    cutis_error error;
    if (cutis_model_build(&def, &model, &error) != CUTIS_OK) fail_msg("%s: %s", def.solver, error.text);
    return model;
}

/* settings: texts "key=value", ended by NULL; or NULL. */
static inline cutis_model *test_build(const cutis_character *character, const char *name, const char *const *settings)
{
    enum { LIMIT = 32 };
    cutis_setting pairs[LIMIT];
    char texts[LIMIT][128];
    int count = 0;
    for (; settings && settings[count]; count++) {
        assert_true(count < LIMIT && strlen(settings[count]) < sizeof texts[0]);
        strcpy(texts[count], settings[count]);
        char *middle = strchr(texts[count], '=');
        assert_non_null(middle);
        *middle = 0;
        pairs[count] = (cutis_setting){texts[count], middle + 1};
    }
    return test_build_def(
        (cutis_model_def){.character = character, .solver = name, .settings = pairs, .setting_count = count});
}

static inline cutis_state *test_state(const cutis_model *model, const cutis_allocator *allocator)
{
    cutis_state *state = NULL;
    assert_int_equal(cutis_state_create(model, allocator, &state, NULL), CUTIS_OK);
    return state;
}

/* For test_every_allocation: model and state of a cutis_model_def, and a step. */
static inline bool test_build_and_step(void *context, const cutis_allocator *allocator)
{
    cutis_model_def def = *(const cutis_model_def *)context;
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    def.allocator = allocator;
    if (def.detail == 0) def.detail = CUTIS_DETAIL_DRAWN;
    bool fine = cutis_model_build(&def, &model, NULL) == CUTIS_OK &&
                cutis_state_create(model, allocator, &state, NULL) == CUTIS_OK;
    if (fine) cutis_state_step(model, state, &(cutis_step_input){0}, 0.003);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return fine;
}

/* ---- job systems ---- */

/* The caller's thread, last index first: finds code that counts on the order of jobs. */
static inline void test_jobs_backward_run(void *context, int count, void (*job)(void *data, int index), void *data)
{
    (void)context;
    for (int i = count - 1; i >= 0; i--) job(data, i);
}

static const cutis_jobs test_jobs_backward = {NULL, test_jobs_backward_run};

/* ---- models that are not part of the repository ---- */

/*
 * Path of a model, such as "khronos-Fox/Fox.glb", under ../shared/models, relative to the source root, where ctest
 * runs the tests. NULL, with a message, when it is not there: the test then calls skip(). The text is valid until
 * the eighth call after this one.
 */
static inline const char *test_model(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "../shared/models/%s", name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        print_message("skipped: %s is not there\n", path);
        return NULL;
    }
    fclose(file);
    return path;
}

/* A text with changes: pairs of what to replace (once; it must be there) and by what, ended by NULL. Free it. */
static inline char *text_changed(const char *text, const char *const *changes)
{
    size_t room = strlen(text) + 1;
    for (int i = 0; changes[i]; i += 2) room += strlen(changes[i + 1]);
    char *now = malloc(room), *next = malloc(room);
    strcpy(now, text);
    for (; changes[0]; changes += 2) {
        const char *at = strstr(now, changes[0]);
        assert_non_null(at);
        snprintf(next, room, "%.*s%s%s", (int)(at - now), now, changes[1], at + strlen(changes[0]));
        char *swap = now;
        now = next;
        next = swap;
    }
    free(next);
    return now;
}

#endif
