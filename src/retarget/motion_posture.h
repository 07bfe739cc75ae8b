/*
 * motion_posture.h: how a character stands beside a capture, and what a body that does not stand as a person does.
 */
#ifndef IO_MOTION_POSTURE_H
#define IO_MOTION_POSTURE_H

#include "character/joint_parts.h"
#include "retarget/motion_retarget.h"

/*
 * Find it, and the turn about the vertical from where the character faces to where the capture's zero pose does. For
 * POSTURE_FOUR the sources of the targets change: see motion_posture.c. places of targets and their sources are known;
 * sources, parts: what the joints of the capture and of the character are. person: whether the capture stands.
 */
motion_posture motion_posture_find(const bvh_reader *r, const cutis_character *c, const joint_part *sources,
                                   const joint_part *parts, target_joint *targets, bool *person, double turn[4]);

#endif
