/*
 * beam.h: a closed elastic beam by finite differences: EI q'''' + rho A q.. = f (Bian et al. 2018, equations 4 to 6).
 *
 * q is one coordinate of the deformation at `count` points, evenly spaced over a circumference. Space: the central
 * fourth difference over the periodic neighbours. Time: the average-acceleration form
 *     (q+ - 2 q + q-) / dt^2 + c D4 (q+ + 2 q + q-) / 4 = (f+ + 2 f + f-) / 4,  c = EI / (rho A),
 * of second order in both, and stable for every step. The matrix 1 + dt^2 c D4 / 4 is the same for all beams of one
 * size: it is factored once, in bands with two full last rows.
 */
#ifndef CURVES_BEAM_H
#define CURVES_BEAM_H

#include "base/core.h"

typedef struct beam {
    int count;
    double stiffness;  /* dt^2 c / spacing^4 */
    double *diagonal;  /* (count) of L D L' */
    double *one, *two; /* (count) first and second lower diagonal of L */
    double *last[2];   /* (count) the two last rows of L */
} beam;

/* count: at least 5. NULL memory is reported by false. */
bool beam_factor(beam *b, int count, double stiffness, arena *memory);
/* In place: x = (1 + stiffness / 4 D4)^-1 x. */
void beam_solve(const beam *b, double *x);
/* The central fourth difference over the periodic neighbours. */
void beam_fourth(int count, const double *q, double *result);
/*
 * One step: next from now and before. force: f at the three times, averaged, times dt^2 (count), or NULL. work:
 * (count).
 */
void beam_step(const beam *b, const double *before, const double *now, const double *force, double *work, double *next);
/* The force of a step, averaged over its three times, when it grows evenly from 0 at the start to 1 at the end. */
double beam_ramp(int step, int steps);
/*
 * The amplitude of wave number k after `steps` steps of a force that grows evenly from 0 to 1 (dt^2 included), from
 * rest: what a unit force does to that wave.
 */
double beam_response(const beam *b, int wave, int steps);
/* The same after `step` of them. */
double beam_reach(const beam *b, int wave, int step, int steps);

#endif
