/*
 * texture.h: images in the texture space of a character: which place of the skin every texel shows, borders around the
 * islands of a texture for skin that slides across seams, and wrinkles as a normal map.
 *
 * Every function may be called from any thread.
 */
#ifndef CUTIS_TEXTURE_H
#define CUTIS_TEXTURE_H

#include "character.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a texel shows: a place of the surface. Texel x, y has its centre at u = (x + 0.5) / width, v likewise. */
typedef struct cutis_texel {
    int triangle;     /* of the character's triangles; -1: none */
    float weights[3]; /* of its corners */
    int island;       /* the triangle whose texture coordinates reach it; another one in borders */
    float distance;   /* texels to the island whose border this is; 0: the centre is inside of an island; below 0: a
                         border texel that some face reads by linear interpolation, whose image is kept */
} cutis_texel;

/*
 * Fill texels (height x width): those inside of faces, and around the islands a border of up to `border` texels. The
 * border continues an island across its seam by the skin of the neighbouring island, unfolded, as moving texture
 * coordinates do; at an open edge it repeats the edge. Texels of other islands are never taken. Coordinates outside of
 * 0..1 repeat. CUTIS_ERROR_DATA without texture coordinates, CUTIS_ERROR_ARGUMENT for sizes outside of 1..16384.
 */
CUTIS_API cutis_result cutis_texture_map(const cutis_character *character, int width, int height, double border,
                                         const cutis_allocator *allocator, cutis_texel *texels, cutis_error *error);

/* Values between texel centres, by linear interpolation; repeats outside of 0..1. image: (height x width x channels).
 */
CUTIS_API void cutis_texture_sample(const float *image, int width, int height, int channels, double u, double v,
                                    float *values);

/*
 * Fill the borders of an image (height x width x channels) from its insides. Texels without a place keep their values,
 * and so do those that faces read: the character looks the same until its texture coordinates move.
 */
CUTIS_API cutis_result cutis_texture_extend(const cutis_character *character, const cutis_texel *texels, int width,
                                            int height, int channels, const cutis_allocator *allocator, float *image,
                                            cutis_error *error);

/*
 * The texture of slid skin at one instant, to be shown with the character's own texture coordinates. sliding:
 * (vertex_count x 3), the output of solver slide. image, slid: (height x width x channels). Borders are filled as by
 * cutis_texture_extend; they need not be wider than the filter of whoever draws, 2 texels at least. Across seams it
 * shows the same skin on both sides, which moving texture coordinates do only where islands are stretched alike.
 */
CUTIS_API cutis_result cutis_texture_slide(const cutis_character *character, const cutis_texel *texels, int width,
                                           int height, int channels, const float *sliding, const float *image,
                                           const cutis_allocator *allocator, float *slid, cutis_error *error);

/*
 * Wrinkles of a motion. folds: (frame_count x vertex_count x 3), the output of solver slide: directions across wrinkles
 * in the rest pose, as long as the share of skin that they take up. wavelength: of the wrinkles, file units.
 * buckling: the share that skin bears before it buckles into waves; 0: none.
 *
 * normals: (height x width x 3) unit vectors in tangent space as glTF wants them (x along u, y against v, z out), and
 * heights: (height x width) in file units; either may be NULL. Both are those of the strongest compression of each
 * place. weights: (frame_count x vertex_count) 0..1, or NULL: by how much of them a frame shows; slopes and heights are
 * proportional to it. An engine multiplies the normal map's strength by it.
 */
CUTIS_API cutis_result cutis_texture_wrinkles(const cutis_character *character, const cutis_texel *texels, int width,
                                              int height, const float *folds, int frame_count, double wavelength,
                                              double buckling, const cutis_allocator *allocator, float *normals,
                                              float *heights, float *weights, cutis_error *error);

#ifdef __cplusplus
}
#endif

#endif
