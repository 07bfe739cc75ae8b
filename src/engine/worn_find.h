/*
 * worn_find.h: which points of a character are worn (see worn.h), and where on its flesh they hang.
 */
#ifndef ENGINE_WORN_FIND_H
#define ENGINE_WORN_FIND_H

#include "solvers/solver.h"

typedef struct worn_points {
    int piece_count;      /* pieces that are worn; 0: all is flesh, and the arrays may be NULL */
    int example, carrier; /* a point of the first and one of what carries it */
    bool *worn;           /* (point_count) */
    int *anchors;         /* (point_count x 3) points of the flesh's triangle below */
    float *weights;       /* (point_count x 3) */
} worn_points;

cutis_result worn_find(const cutis_character *character, const mesh *m, const point_weights *weights, arena *memory,
                       worn_points *found, cutis_error *error);

#endif
