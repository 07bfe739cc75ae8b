/* fuzz_cache.c: the readers of .pc2, .mdd and .npy under libFuzzer; see fuzz.sh. */
#include "io/cache/cache_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a.pc2", "a.mdd", "a.npy"};
    for (int i = 0; i < COUNT_OF(names); i++) {
        cutis_cache *cache;
        if (cache_read_memory(data, size, names[i], NULL, &cache, NULL) == CUTIS_OK) cutis_cache_destroy(cache);
    }
    return 0;
}
