/*
 * contact_release.h: skin at which contact rests, because a clip drives bones through flesh there.
 *
 * A solver decides where contact asks for too much; what follows is the same for all: a release spreads along the
 * surface, lasts as long as the skin crosses itself, and ends when it neither does so nor lies inside the body.
 */
#ifndef CONTACT_CONTACT_RELEASE_H
#define CONTACT_CONTACT_RELEASE_H

#include "contact/contact.h"

typedef struct contact_release {
    const mesh *skin;
    const contact_surface *surface;
    const float *rest;      /* (point_count x 3) */
    const float *positions; /* (point_count x 3), in the same unit */
    float *released;        /* (point_count) above 0 where contact rests; pairs of such points are not searched */
    uint8_t *marks;         /* (point_count) scratch: points of triangles that cross */
} contact_release;

/*
 * Release the `count` points of `queue`, and what lies around them on the rest surface. left: (point_count) how far the
 * release spreads from each of them, -1 elsewhere. queue has room for all points.
 */
void contact_release_spread(const contact_release *r, int *queue, int count, float *left);

/* Whether a triangle has a point at which contact rests. */
bool contact_release_has(const contact_release *r, const int *corners);

/*
 * Mark the points of triangles that cross each other, of released ones (whole: of all). tree: of the skin, at the
 * positions. Those that cross at rest already have contact of their own and do not count.
 */
void contact_release_mark(const contact_release *r, const bvh *tree, bool whole);

/* Whether the skin at a point lies inside the body. */
bool contact_release_inside(const contact_release *r, const bvh *tree, int point);

#endif
