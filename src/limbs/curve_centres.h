/*
 * curve_centres.h: the centres of iso-parametric curves, for the curve skeletons of limbs.
 */
#ifndef LIMBS_CURVE_CENTRES_H
#define LIMBS_CURVE_CENTRES_H

#include "limbs/limbs.h"
#include "limbs/rings.h"

/*
 * Move the centres of the limbs' rings onto the curve through the centres of the iso-parametric curves around the limb,
 * where two of these are less than a ring apart. Keeps the centres of all curves (limbs.curves).
 */
cutis_result limbs_centre(const mesh *m, const rings *found, arena *memory, limbs *f, cutis_error *error);

#endif
