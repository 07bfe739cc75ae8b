/* lead_in.h: the way from the rest pose into a clip that is on the move already. */
#ifndef CHARACTER_LEAD_IN_H
#define CHARACTER_LEAD_IN_H

#include "cutis/character.h"

/* From 0 to 1 during a lead-in (seconds), without a jerk at either end. */
double lead_in_ease(double time, double lead_in);
/*
 * The pose (joint_count x 12) at a time of a lead-in, 0..lead_in: eased from rest to the clip at `first`. It comes
 * there as fast as the clip goes on, so that flesh is not struck: the clip before `first` is what follows it, in
 * reverse and mirrored, ever slower the further back, without turns that are jumps of the clip.
 */
void pose_lead_in(const cutis_character *character, int clip, double first, double time, double lead_in, float *joints);

#endif
