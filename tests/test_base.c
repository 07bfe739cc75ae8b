/* Memory, hash, names and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core.h"

static void arena_blocks_are_zero_aligned_and_apart(void **unused)
{
    (void)unused;
    arena a = arena_create(NULL);
    unsigned char *last = NULL;
    for (size_t size = 1; size < 300000; size = size * 3 + 1) {
        unsigned char *block = arena_push(&a, size, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        for (size_t i = 0; i < size; i++) assert_int_equal(block[i], 0);
        memset(block, 0xff, size);
        if (last) assert_int_equal(last[0], 0xff);
        last = block;
    }
    arena_destroy(&a);
}

static void arena_refuses_sizes_that_overflow(void **unused)
{
    (void)unused;
    arena a = arena_create(NULL);
    assert_null(arena_push(&a, SIZE_MAX / 2, 8));
    assert_true(a.failed);
    arena_destroy(&a);
    assert_null(memory_allocate(NULL, SIZE_MAX, 16));
}

static void hash_depends_on_every_byte(void **unused)
{
    (void)unused;
    unsigned char bytes[41] = {0};
    uint64_t base = hash_bytes(bytes, sizeof bytes, 0);
    for (size_t i = 0; i < sizeof bytes; i++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (unsigned char)(1 << bit);
            assert_true(hash_bytes(bytes, sizeof bytes, 0) != base);
            bytes[i] ^= (unsigned char)(1 << bit);
        }
    }
    assert_true(hash_bytes(bytes, sizeof bytes, 1) != base);
    assert_true(hash_bytes(bytes, sizeof bytes - 1, 0) != base);
    assert_true(hash_bytes(bytes, sizeof bytes, 0) == base);
}

static const char *nearest_solver(const char *name)
{
    const char *names[] = {"layers", "lattice", "springs", "lbs"};
    name_search search = name_search_start(name);
    for (int i = 0; i < 4; i++) name_search_offer(&search, names[i]);
    return search.nearest;
}

static void nearest_name_finds_slips_and_nothing_else(void **unused)
{
    (void)unused;
    assert_string_equal(nearest_solver("layer"), "layers");
    assert_string_equal(nearest_solver("latice"), "lattice");
    assert_string_equal(nearest_solver("bls"), "lbs");
    assert_string_equal(nearest_solver("LATTICE"), "lattice");
    assert_null(nearest_solver("zebra"));
    assert_null(nearest_solver(""));
}

static const char *nearest_of_words(const char *name)
{
    const char *names[] = {"fat_stiffness", "skin_damping", "Armature|Walk", "mixamorig:LeftUpLeg", "Hips"};
    name_search search = name_search_start(name);
    for (int i = 0; i < 5; i++) name_search_offer(&search, names[i]);
    return search.nearest;
}

static void nearest_name_knows_words_of_names(void **unused)
{
    (void)unused;
    assert_string_equal(nearest_of_words("stiffness"), "fat_stiffness");
    assert_string_equal(nearest_of_words("stifness"), "fat_stiffness");
    assert_string_equal(nearest_of_words("damping"), "skin_damping");
    assert_string_equal(nearest_of_words("walk"), "Armature|Walk");
    assert_string_equal(nearest_of_words("UpLeg"), "mixamorig:LeftUpLeg");
    assert_string_equal(nearest_of_words("hips"), "Hips");
    assert_null(nearest_of_words("head"));
}

static void error_text_is_one_line(void **unused)
{
    (void)unused;
    cutis_error error;
    assert_int_equal(error_set(&error, CUTIS_ERROR_DATA, "a\nb%s", "\tc"), CUTIS_ERROR_DATA);
    assert_string_equal(error.text, "a?b?c");
    assert_int_equal(error_set(NULL, CUTIS_ERROR_FILE, "x"), CUTIS_ERROR_FILE);
}

typedef struct visits {
    atomic_int hits[1000];
    long sums[1000];
} visits;

static void visit(void *context, int begin, int end)
{
    visits *v = context;
    for (int i = begin; i < end; i++) {
        atomic_fetch_add(&v->hits[i], 1);
        v->sums[begin / 7] += i;
    }
}

static void parallel_for_visits_each_item_once_for_any_thread_count(void **unused)
{
    (void)unused;
    for (int threads = 0; threads <= 5; threads++) {
        cutis_pool *pool = NULL;
        assert_int_equal(cutis_pool_create(threads, NULL, &pool, NULL), CUTIS_OK);
        for (int round = 0; round < 200; round++) {
            static visits v;
            memset(&v, 0, sizeof v);
            parallel_for(cutis_pool_jobs(pool), 1000, 7, visit, &v);
            long sum = 0;
            for (int i = 0; i < 1000; i++) {
                assert_int_equal(atomic_load(&v.hits[i]), 1);
                sum += v.sums[i];
            }
            assert_int_equal(sum, 999 * 1000 / 2);
        }
        cutis_pool_destroy(pool);
    }
    cutis_error error;
    cutis_pool *pool;
    assert_int_equal(cutis_pool_create(-1, NULL, &pool, &error), CUTIS_ERROR_ARGUMENT);
    assert_int_equal(cutis_pool_create(1000, NULL, &pool, &error), CUTIS_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_blocks_are_zero_aligned_and_apart),
        cmocka_unit_test(arena_refuses_sizes_that_overflow),
        cmocka_unit_test(hash_depends_on_every_byte),
        cmocka_unit_test(nearest_name_finds_slips_and_nothing_else),
        cmocka_unit_test(nearest_name_knows_words_of_names),
        cmocka_unit_test(error_text_is_one_line),
        cmocka_unit_test(parallel_for_visits_each_item_once_for_any_thread_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
