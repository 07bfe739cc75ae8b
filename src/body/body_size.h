/*
 * body_size.h: how long the edges of a simulation body should be.
 *
 * The wanted length follows the local thickness, so that a finger gets as many points around it as a thigh, within a
 * budget of points for the whole body.
 */
#ifndef BODY_BODY_SIZE_H
#define BODY_BODY_SIZE_H

#include "body/remesh.h"

/* Local thickness at every point: the distance through the surface to its other side, smoothed. Fills thickness. */
cutis_result surface_thickness(const surface *s, const cutis_jobs *jobs, arena *memory, float *thickness,
                               cutis_error *error);
/*
 * Lower the thickness to about the radius of the surface where it is hollow, so that edges do not bridge a crease: a
 * body without the fold between thigh and belly cannot keep them apart. `size` is the character's.
 */
cutis_result surface_creases(const surface *s, float size, const cutis_jobs *jobs, arena *memory, float *thickness,
                             cutis_error *error);
/*
 * Wanted lengths (surface.lengths) of several surfaces so that all together get about `budget` points. `size` is the
 * character's. thickness: one array a surface.
 */
cutis_result surface_sizes(surface *surfaces, float *const *thickness, int surface_count, int budget, float size,
                           arena *memory, cutis_error *error);
/* About how many points a surface has once it is remeshed to its lengths. */
double surface_point_estimate(const surface *s);

#endif
