/* fuzz_gltf.c: the glTF reader under libFuzzer; see fuzz.sh. A file that is read is posed as well. */
#include <stdlib.h>
#include <string.h>

#include "cutis/cutis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool binary = size >= 4 && memcmp(data, "glTF", 4) == 0;
    cutis_character *character;
    if (cutis_character_load_memory(data, size, binary ? "a.glb" : "a.gltf", NULL, &character, NULL) != CUTIS_OK)
        return 0;
    float *joints = malloc((size_t)character->joint_count * 12 * sizeof(float) + 1);
    cutis_pose_rest(character, joints);
    for (int clip = -1; clip < character->clip_count; clip++) cutis_pose_sample(character, clip, 0.3, joints);
    free(joints);
    cutis_character_destroy(character);
    return 0;
}
