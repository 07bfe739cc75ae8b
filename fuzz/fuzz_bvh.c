/* fuzz_bvh.c: the BVH reader under libFuzzer, its motion put on a small character; see fuzz.sh. */
#include "../tests/tube.h"
#include "retarget/bvh_motion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cutis_character *tube;
    if (!tube && test_tube(NULL, &tube, NULL) != CUTIS_OK) return 0;
    cutis_character *moved;
    if (bvh_motion_add(tube, (const char *)data, size, "a.bvh", NULL, 0, NULL, &moved, NULL) == CUTIS_OK)
        cutis_character_destroy(moved);
    return 0;
}
