/*
 * hands.h: fingers for a body whose arms are known.
 */
#ifndef RIG_HANDS_H
#define RIG_HANDS_H

#include "rig/skeleton_template.h"

/*
 * Add the fingers of each hand of a skeleton with joints forearm_l, hand_l, forearm_r, hand_r, where the mesh shows
 * five. The body may have any number of parts.
 */
cutis_result hands_add(const mesh *m, const cutis_allocator *allocator, skeleton *s, cutis_error *error);
/*
 * Whether the fingers of a hand grow in a row: in order along the line from index to pinky, and not far from it. The
 * legs of an animal are parallel, too, but stand in a rectangle.
 */
bool fingers_in_a_row(const skeleton *s);

#endif
