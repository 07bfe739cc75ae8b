/*
 * ray_test.h: the paper's test of a direction on a surface: how unevenly far the skin is, seen from the middle of the
 * body, in one plane.
 */
#ifndef LIMBS_RAY_TEST_H
#define LIMBS_RAY_TEST_H

#include "mesh/mesh.h"

enum { SECTION_RAYS = 20 };

/*
 * Bian et al. 2018, section 4: a line from `point` along `inward` meets the other side; through the middle of the two
 * go 10 lines in the plane of `inward` and `along`, 18 degrees apart. Returns d_max - d_min of their 20 hits from the
 * hits' centre; INFINITY where the section is open. hits: (20 x 3), or NULL.
 */
float section_test(const mesh *m, int point, vec3 inward, vec3 along, float *hits);

#endif
