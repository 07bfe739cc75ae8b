/*
 * bvh_read.h: the skeleton and the frames of a .bvh file.
 */
#ifndef IO_BVH_READ_H
#define IO_BVH_READ_H

#include "io/files.h"

enum { BVH_CHANNELS = 6 };

/* Channels: 0..2 position x, y, z; 3..5 rotation about x, y, z. */
typedef struct bvh_joint {
    const char *name; /* "" for an End Site */
    int parent;
    double offset[3];
    double place[3]; /* in the zero pose */
    int channel_count, first_channel;
    int channels[BVH_CHANNELS];
    uint64_t key; /* hash of the name as it is compared */
} bvh_joint;

/* A file while it is read, and what it holds then. */
typedef struct bvh_reader {
    const char *name;
    const char *cursor, *end;
    int line;
    arena memory;
    cutis_error *error;
    bvh_joint *joints;
    int joint_count, channel_count;
    int frame_count;
    double frame_time;
    float *values; /* (frame_count x channel_count) */
} bvh_reader;

/* Read all of it. The caller has set name, cursor, end, line 1, memory and error. */
cutis_result bvh_read(bvh_reader *r);
/*
 * Captures often begin with one frame of a T pose, which is no part of the motion: flesh would be torn from it to the
 * second frame. The joints of such a first frame move farther to the next, against the root, than between any two later
 * frames. It is left out, with a warning. Rotations do not detect it: some axes turn by 30 degrees within a frame.
 */
cutis_result bvh_drop_calibration(bvh_reader *r, warning_list *warnings);
/* World rotations and places of all joints at a frame. */
void bvh_pose(const bvh_reader *r, int frame, double (*rotations)[4], double (*places)[3]);
/*
 * Channels of place and rotation for all joints, from a zero pose in which they are at `places` (joint_count x 3), and
 * room for frame_count frames of them. The caller has set names and parents. False when memory runs out.
 */
bool bvh_channels_make(bvh_reader *r, double (*places)[3]);
/* A frame of such channels: world rotations since the zero pose, and places. */
void bvh_frame_store(bvh_reader *r, int frame, double (*rotations)[4], double (*places)[3]);
/* Hash of a name without letter case, separators and the prefix that Mixamo puts before its joints. */
uint64_t bvh_name_key(const char *name);

#endif
