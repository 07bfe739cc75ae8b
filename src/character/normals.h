/*
 * normals.h: normals of a character in any shape.
 *
 * A file's own normals turn with the surface around them: hard edges stay hard, and normals that an artist has edited
 * keep their place in the surface. Where a file has none, they are smooth.
 */
#ifndef CHARACTER_NORMALS_H
#define CHARACTER_NORMALS_H

#include "base/core.h"
#include "cutis/character.h"

/*
 * The file's normals in frames of the surface at rest: area-weighted normal, tangent, and their cross product.
 * Vertices of a point whose normals agree share a frame. All NULL for a character without normals.
 */
typedef struct normal_frames {
    const int *leaders;  /* (vertex_count) the vertex whose frame each has, not a later one */
    const int *tangents; /* (vertex_count) the vertex towards which a leader's tangent points; -1: there is no frame */
    const float *local;  /* (vertex_count x 3) the normal in the frame; without one: in the scene */
} normal_frames;

cutis_result normal_frames_build(normal_frames *frames, const cutis_character *character, arena *memory,
                                 cutis_error *error);
/*
 * Unit normals. positions and normals: (vertex_count x 3); scratch: (point_count x 3). Smooth ones are area-weighted,
 * the same on both sides of a texture seam, and zero where there is no area.
 */
void character_normals(const cutis_character *character, const normal_frames *frames, const float *positions,
                       float *scratch, float *normals);

#endif
