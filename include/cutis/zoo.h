/*
 * zoo.h: built-in characters and props, for trials, tests and measurements without files. Characters have skeleton,
 * weights, texture coordinates and clips. All are in metres, +Y up, facing +Z.
 */
#ifndef CUTIS_ZOO_H
#define CUTIS_ZOO_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cutis_zoo_entry {
    const char *name;
    const char *summary; /* one line */
} cutis_zoo_entry;

CUTIS_API int cutis_zoo_count(void);
CUTIS_API cutis_zoo_entry cutis_zoo(int index);

/*
 * Make a character; the caller destroys it. resolution (0.1 to 20, 1 = default) scales the number of vertices. Fails
 * with CUTIS_ERROR_ARGUMENT for an unknown name or a resolution out of range.
 */
CUTIS_API cutis_result cutis_zoo_make(const char *name, double resolution, const cutis_allocator *allocator,
                                      cutis_character **character, cutis_error *error);

/* The built-in props: cube, ball, table, floor, block, soft_ball, capsule, can, pencil. */
CUTIS_API int cutis_zoo_prop_count(void);
CUTIS_API cutis_zoo_entry cutis_zoo_prop(int index);

/*
 * Make a built-in prop with a size and position that fit the character and a clip (-1: none). The cube and the ball are
 * placed at the clip's focus. Without a clip, the first clip with a focus is used; without any focus, they are placed
 * in front of the character. The table's top is below the clip's motion and below existing props. The floor is a plane
 * at the lowest point of the rest pose. position: (3) centre of the prop (of a table: centre of its top), or NULL for
 * the above. scale: factor on its size. The prop owns no memory. Fails with CUTIS_ERROR_ARGUMENT for an unknown name or
 * a scale that is not above 0.
 */
CUTIS_API cutis_result cutis_zoo_prop_make(const char *name, const cutis_character *character, int clip,
                                           const float *position, double scale, const cutis_allocator *allocator,
                                           cutis_placed_prop *prop, cutis_error *error);

#ifdef __cplusplus
}
#endif
#endif
