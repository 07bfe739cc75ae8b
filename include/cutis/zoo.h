/*
 * zoo.h: characters made by code, with skeleton, weights, texture coordinates and clips, so that everything
 * can be tried, tested and measured without a file. All are in metres, +Y up, facing +Z.
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
 * Make a character. resolution scales the number of vertices (1 = the entry's own; 0.1 to 20). Fails with
 * CUTIS_ERROR_ARGUMENT for an unknown name or a resolution out of range.
 */
CUTIS_API cutis_result cutis_zoo_make(const char *name, double resolution, const cutis_allocator *allocator,
                                      cutis_character **character, cutis_error *error);

/* Things to touch: cube, ball, table, floor. */
CUTIS_API int cutis_zoo_prop_count(void);
CUTIS_API cutis_zoo_entry cutis_zoo_prop(int index);

/*
 * A built-in prop for a character: as large as suits it, and where a clip (-1: none) expects it. The cube and the ball
 * lie at the clip's focus (without a clip: the first there is), and in front of a character that has none; the table's
 * top is below all that the clip does and below the props that are there; the floor is a plane at the lowest point of
 * the character at rest. position: (3) where its middle stands instead (of a table: the middle of its top), or NULL;
 * scale: factor on its size. The prop holds no memory of its own. CUTIS_ERROR_ARGUMENT for an unknown name or a scale
 * that is not above 0.
 */
CUTIS_API cutis_result cutis_zoo_prop_make(const char *name, const cutis_character *character, int clip,
                                           const float *position, double scale, const cutis_allocator *allocator,
                                           cutis_placed_prop *prop, cutis_error *error);

#ifdef __cplusplus
}
#endif
#endif
