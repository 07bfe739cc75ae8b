/*
 * bvh_motion.h: motion capture in Biovision's BVH format, put on a character's skeleton.
 */
#ifndef IO_BVH_MOTION_H
#define IO_BVH_MOTION_H

#include "cutis/io.h"

/* cutis_character_add_bvh from memory. path: names the clip and is what messages call the file. */
cutis_result bvh_motion_add(const cutis_character *character, const char *data, size_t size, const char *path,
                            const cutis_name_pair *pairs, int pair_count, const cutis_allocator *allocator,
                            cutis_character **result, cutis_error *error);

#endif
