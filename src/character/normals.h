/*
 * normals.h: smooth normals of a character in any shape.
 */
#ifndef CHARACTER_NORMALS_H
#define CHARACTER_NORMALS_H

#include "cutis/character.h"

/*
 * Area-weighted unit normals, the same on both sides of a texture seam; zero where there is no area. positions and
 * normals: (vertex_count x 3); scratch: (point_count x 3).
 */
void character_normals(const cutis_character *c, const float *positions, float *scratch, float *normals);

#endif
