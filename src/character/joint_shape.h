/*
 * joint_shape.h: what a joint is by the shape of its skeleton, for skeletons whose names do not tell.
 */
#ifndef CUTIS_JOINT_SHAPE_H
#define CUTIS_JOINT_SHAPE_H

#include <stdbool.h>

#include "base/core.h"
#include "character/joint_parts.h"

/*
 * The parts of an upright body with two legs and two arms, +Y up: hips, spine, neck, head, and of each side the collar,
 * the arm's three joints and the leg's four. A parent stands before its children. places: (count) at rest.
 * skins: (count) the middle of the skin that each joint moves, or its place; NULL: nothing is known. uses: (count)
 * joints that move skin, by themselves or by a joint below; others are looked over. False, and every part
 * JOINT_OTHER, when the skeleton is no such body or memory runs out.
 */
bool joint_parts_by_shape(arena *memory, int count, const int *parents, const double (*places)[3],
                          const double (*skins)[3], const bool *uses, joint_part *parts);

#endif
