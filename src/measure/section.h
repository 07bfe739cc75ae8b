/*
 * section.h: rings around the bones, whose area tells whether a limb has collapsed.
 */
#ifndef MEASURE_SECTION_H
#define MEASURE_SECTION_H

#include "mesh/mesh.h"

/* A closed line around a bone. Its points lie on edges of the mesh and move with them. */
typedef struct section {
    struct section *next;
    int point_count;
    int *ends;    /* (point_count x 2) points of the edge that each lies on */
    float *along; /* (point_count) 0 at the first end, 1 at the second */
    double area;  /* at rest */
} section;

/* Sections of a character at rest, in `memory`; NULL when it has no weights, or no bone inside the surface. */
cutis_result sections_build(section **built, const cutis_character *character, const mesh *m, arena *memory,
                            cutis_error *error);
/* The smallest area over its rest value at `positions` (point_count x 3); NAN when there are no sections. */
double sections_ratio(const section *sections, const float *positions);

#endif
