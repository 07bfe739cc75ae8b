/* fuzz_dae.c: the COLLADA reader under libFuzzer; see fuzz.sh. */
#include "cutis/cutis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cutis_character *character;
    if (cutis_character_load_memory(data, size, "a.dae", NULL, &character, NULL) == CUTIS_OK)
        cutis_character_destroy(character);
    return 0;
}
