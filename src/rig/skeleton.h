#ifndef RIG_SKELETON_H
#define RIG_SKELETON_H
#endif
