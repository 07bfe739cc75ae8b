/*
 * texture.h: images in the texture space of a character. It maps texels to the skin, adds borders around texture
 * islands for skin that slides across seams, and computes wrinkles as a normal map.
 *
 * Any thread may call any function.
 */
#ifndef CUTIS_TEXTURE_H
#define CUTIS_TEXTURE_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The surface position that a texel shows. The centre of texel x, y is at u = (x + 0.5) / width, v likewise. */
typedef struct cutis_texel {
    int triangle;     /* index into the character's triangles; -1: none */
    float weights[3]; /* barycentric, of its corners */
    int island; /* the triangle whose texture coordinates contain or border it; differs from `triangle` in borders */
    float distance; /* distance in texels to the island that this borders; 0: the centre is inside an island; below 0: a
                       border texel that a face reads by linear interpolation, so its image is kept */
} cutis_texel;

/*
 * Fill texels (height x width): those inside faces, and a border of up to `border` texels around the islands. Across a
 * seam, the border continues with the unfolded skin of the neighbouring island, as moving texture coordinates do. At an
 * open edge, it repeats the edge. A border never overwrites texels of another island. Coordinates outside 0..1 repeat.
 * Fails with CUTIS_ERROR_DATA without texture coordinates, CUTIS_ERROR_ARGUMENT for sizes outside 1..16384.
 */
CUTIS_API cutis_result cutis_texture_map(const cutis_character *character, int width, int height, double border,
                                         const cutis_allocator *allocator, cutis_texel *texels, cutis_error *error);

/* Interpolate an image (height x width x channels) linearly between texel centres. Coordinates repeat outside 0..1. */
CUTIS_API void cutis_texture_sample(const float *image, int width, int height, int channels, double u, double v,
                                    float *values);

/*
 * Fill the borders of an image (height x width x channels) from the texels inside the islands. Texels without a surface
 * position keep their values. Texels that faces read keep them too, so the character looks the same until its texture
 * coordinates move.
 */
CUTIS_API cutis_result cutis_texture_extend(const cutis_character *character, const cutis_texel *texels, int width,
                                            int height, int channels, const cutis_allocator *allocator, float *image,
                                            cutis_error *error);

/*
 * Compute the texture of skin that has slid, for one instant. Draw it with the character's own texture coordinates.
 * sliding: (vertex_count x 3), the output of solver slide. image, slid: (height x width x channels). Borders are filled
 * as by cutis_texture_extend; they must be as wide as the renderer's filter, and at least 2 texels. Both sides of a
 * seam show the same skin. Moving texture coordinates achieve that only where both islands are stretched equally.
 */
CUTIS_API cutis_result cutis_texture_slide(const cutis_character *character, const cutis_texel *texels, int width,
                                           int height, int channels, const float *sliding, const float *image,
                                           const cutis_allocator *allocator, float *slid, cutis_error *error);

/*
 * Compute the wrinkles of a motion. folds: (frame_count x vertex_count x 3), an output of solver slide: directions
 * across the wrinkles in the rest pose; the length is the compressed share of the skin. wavelength: of the wrinkles,
 * file units. buckling: compression at which wrinkles start, as a share; 0: at once.
 *
 * normals: (height x width x 3) unit vectors in glTF tangent space (x along u, y against v, z out). heights: (height x
 * width), file units. Either may be NULL. Both hold the strongest compression of each position over all frames.
 * weights: (frame_count x vertex_count) 0..1, or NULL: the share of slopes and heights visible in a frame. An engine
 * multiplies the normal map's strength by it.
 */
CUTIS_API cutis_result cutis_texture_wrinkles(const cutis_character *character, const cutis_texel *texels, int width,
                                              int height, const float *folds, int frame_count, double wavelength,
                                              double buckling, const cutis_allocator *allocator, float *normals,
                                              float *heights, float *weights, cutis_error *error);

#ifdef __cplusplus
}
#endif

#endif
