/*
 * curve_sample.h: what readers of animation curves share: the instants to sample them at, and cubic segments.
 */
#ifndef IO_CURVE_SAMPLE_H
#define IO_CURVE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Sort the times of keys and join those within 1e-5 s; *key_count becomes what is left. The result is how many instants
 * instants_fill makes of them: the keys, and with *dense at least 60 a second. *dense is cleared where those would be
 * more than a million.
 */
size_t instants_prepare(double *keys, size_t *key_count, bool *dense);
/* instants: room for as many as instants_prepare said. */
void instants_fill(const double *keys, size_t key_count, bool dense, double *instants);

/* The last of count rising times that is not after `time`; 0 before the first. */
int instants_find(const double *times, int count, double time);

/*
 * A Bezier segment at a share (0..1) of its time. one, two: the times of its inner points, as shares of the segment's.
 * values: of its four points.
 */
double bezier_value(double share, double one, double two, const double values[4]);

#endif
