/*
 * level_rings.h: closed curves over the edges of any triangles, around limbs and trunk: what iso-parametric curves are
 * to quads.
 */
#ifndef LIMBS_LEVEL_RINGS_H
#define LIMBS_LEVEL_RINGS_H

#include "limbs/rings.h"

/* Curves of a mesh of any triangles; `found` was reserved for it. A body without limbs gets none. */
cutis_result level_rings_trace(const mesh *m, float size, arena *memory, rings *found, cutis_error *error);

#endif
