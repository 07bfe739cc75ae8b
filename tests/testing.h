/*
 * testing.h: what the tests share: an allocator that counts, limits and fails on demand, job systems to test
 * thread independence with, paths of the models kept outside the repository, and a small character made by hand.
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
    for (long fail_at = 1;; fail_at++) {
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

/* ---- a character made by hand ---- */

enum {
    TEST_TUBE_RINGS = 24,
    TEST_TUBE_SIDES = 12,
    TEST_TUBE_VERTICES = TEST_TUBE_RINGS * TEST_TUBE_SIDES + 2,
    TEST_TUBE_FACES = (TEST_TUBE_RINGS - 1) * TEST_TUBE_SIDES + 2 * TEST_TUBE_SIDES
};

/*
 * A closed round bar along +X, length 2, radius 0.25, quads with triangles at the ends, two joints ("upper" at
 * x = 0, "lower" at x = 1) with smooth weights, and two clips of 1 second: "bend" (lower joint 0 to 120 degrees
 * about z and back) and "twist" (0 to 180 degrees about x). Uses no sin or cos, so that it has the same bits
 * everywhere. Release it with cutis_character_destroy.
 */
static inline cutis_result test_tube(const cutis_allocator *allocator, cutis_character **character, cutis_error *error)
{
    /* sin(i * 30 degrees) */
    static const float circle[TEST_TUBE_SIDES] = {0.0f, 0.5f,  0.8660254f,  1.0f,  0.8660254f,  0.5f,
                                                  0.0f, -0.5f, -0.8660254f, -1.0f, -0.8660254f, -0.5f};
    float positions[TEST_TUBE_VERTICES * 3];
    int influence_first[TEST_TUBE_VERTICES + 1], influence_joints[TEST_TUBE_VERTICES * 2];
    float influence_weights[TEST_TUBE_VERTICES * 2];
    int face_first[TEST_TUBE_FACES + 1], corners[TEST_TUBE_FACES * 4];

    for (int ring = 0, v = 0; ring < TEST_TUBE_RINGS; ring++)
        for (int side = 0; side < TEST_TUBE_SIDES; side++, v++) {
            positions[v * 3 + 0] = 2.0f * (float)ring / (float)(TEST_TUBE_RINGS - 1);
            positions[v * 3 + 1] = 0.25f * circle[side];
            positions[v * 3 + 2] = 0.25f * circle[(side + 3) % TEST_TUBE_SIDES];
        }
    const int tip = TEST_TUBE_RINGS * TEST_TUBE_SIDES; /* the two points at the ends */
    for (int end = 0; end < 2; end++) {
        positions[(tip + end) * 3 + 0] = end ? 2.05f : -0.05f;
        positions[(tip + end) * 3 + 1] = positions[(tip + end) * 3 + 2] = 0.0f;
    }

    /* a smooth step of the lower joint's weight over x = 0.7 .. 1.3 */
    for (int v = 0; v < TEST_TUBE_VERTICES; v++) {
        float t = (positions[v * 3] - 0.7f) / 0.6f;
        t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
        float weight = t * t * (3.0f - 2.0f * t);
        influence_first[v] = v * 2;
        influence_joints[v * 2] = 0, influence_joints[v * 2 + 1] = 1;
        influence_weights[v * 2] = 1.0f - weight, influence_weights[v * 2 + 1] = weight;
    }
    influence_first[TEST_TUBE_VERTICES] = TEST_TUBE_VERTICES * 2;

    /* quads between rings, outside out; then fans to the tips */
    int face = 0, corner = 0;
    for (int ring = 0; ring + 1 < TEST_TUBE_RINGS; ring++)
        for (int side = 0; side < TEST_TUBE_SIDES; side++) {
            int a = ring * TEST_TUBE_SIDES + side, b = ring * TEST_TUBE_SIDES + (side + 1) % TEST_TUBE_SIDES;
            face_first[face++] = corner;
            corners[corner++] = b, corners[corner++] = a;
            corners[corner++] = a + TEST_TUBE_SIDES, corners[corner++] = b + TEST_TUBE_SIDES;
        }
    for (int side = 0; side < TEST_TUBE_SIDES; side++) {
        int next = (side + 1) % TEST_TUBE_SIDES, last = (TEST_TUBE_RINGS - 1) * TEST_TUBE_SIDES;
        face_first[face++] = corner;
        corners[corner++] = side, corners[corner++] = next, corners[corner++] = tip;
        face_first[face++] = corner;
        corners[corner++] = last + next, corners[corner++] = last + side, corners[corner++] = tip + 1;
    }
    face_first[face] = corner;

    cutis_joint joints[2] = {{.name = "upper", .parent = -1}, {.name = "lower", .parent = 0}};
    for (int j = 0; j < 2; j++) {
        cutis_transform local = {{j ? 1.0f : 0.0f, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        const float inverse[12] = {1, 0, 0, j ? -1.0f : 0.0f, 0, 1, 0, 0, 0, 0, 1, 0};
        joints[j].rest = joints[j].idle = local;
        memcpy(joints[j].inverse_bind, inverse, sizeof inverse);
    }

    static const float times[3] = {0.0f, 0.5f, 1.0f};
    static const float bend[12] = {0, 0, 0, 1, 0, 0, 0.8660254f, 0.5f, 0, 0, 0, 1};          /* 120 degrees about z */
    static const float twist[12] = {0, 0, 0, 1, 0.70710678f, 0, 0, 0.70710678f, 1, 0, 0, 0}; /* 90 and 180 about x */
    const cutis_track tracks[2] = {{1, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, 3, times, bend},
                                   {1, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, 3, times, twist}};
    const cutis_clip clips[2] = {{.name = "bend", .track_count = 1, .tracks = &tracks[0]},
                                 {.name = "twist", .track_count = 1, .tracks = &tracks[1]}};

    const cutis_character given = {.name = "tube",
                                   .vertex_count = TEST_TUBE_VERTICES,
                                   .positions = positions,
                                   .face_count = TEST_TUBE_FACES,
                                   .face_first = face_first,
                                   .corners = corners,
                                   .influence_first = influence_first,
                                   .influence_joints = influence_joints,
                                   .influence_weights = influence_weights,
                                   .joint_count = 2,
                                   .joints = joints,
                                   .clip_count = 2,
                                   .clips = clips};
    return cutis_character_create(&given, allocator, character, error);
}

#endif
