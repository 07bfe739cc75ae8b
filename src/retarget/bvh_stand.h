/*
 * bvh_stand.h: captures whose vertical is not y, or whose zero pose is no standing body.
 */
#ifndef IO_BVH_STAND_H
#define IO_BVH_STAND_H

#include "character/joint_parts.h"
#include "io/bvh_read.h"

/*
 * Make y the vertical of a person's capture and its zero pose a standing one. parts: what its joints are. A capture
 * that is so already, or whose limbs are not known, stays as it is, to the bit. Before bvh_drop_calibration: a frame of
 * a T pose is the best zero pose.
 */
cutis_result bvh_stand(bvh_reader *r, const joint_part *parts, warning_list *warnings);

#endif
