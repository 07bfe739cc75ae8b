/*
 * curve_search.h: all curves of a body: its limbs with their level sets, and the iso-parametric curves of its quads.
 */
#ifndef LIMBS_CURVE_SEARCH_H
#define LIMBS_CURVE_SEARCH_H

#include "limbs/limbs.h"
#include "limbs/rings.h"

typedef struct curve_search {
    bool bare; /* set before: limbs alone, which is what a skeleton needs */
    mesh mesh;
    quads quads;
    limbs limbs;
    rings rings;
} curve_search;

/* Adjacency, and memory for the search: what comes before curves are looked for. */
cutis_result curve_search_prepare(const cutis_character *character, arena *memory, curve_search *search,
                                  cutis_error *error);
/* Find limbs (poses: may be NULL) and rings, each on a thread of its own when there are two; or limbs on both. */
cutis_result curve_search_run(const cutis_character *character, const limb_poses *poses, const cutis_jobs *jobs,
                              arena *memory, curve_search *search, cutis_error *error);

#endif
