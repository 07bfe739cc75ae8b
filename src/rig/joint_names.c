/*
 * joint_names.c: the names that rigs made elsewhere give to our joints, for comparisons with them: MakeHuman and CMU,
 * WebXR hands, and the rigs of Khronos' CesiumMan and Fox and of Mesh2Motion's animals.
 *
 * In a pattern $ stands for the side l or r, # for L or R, @ for Left or Right.
 */
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "cutis/rig.h"

static const struct {
    const char *ours, *theirs;
} NAMES[] = {
    /* MakeHuman's cmu_mb */
    {"hips", "Hips"},
    {"neck", "Neck"},
    {"head", "Head"},
    {"upper_arm_$", "@Arm"},
    {"forearm_$", "@ForeArm"},
    {"hand_$", "@Hand"},
    {"thigh_$", "@UpLeg"},
    {"shin_$", "@Leg"},
    {"foot_$", "@Foot"},
    {"toe_$", "@ToeBase"},
    /* WebXR */
    {"hand", "wrist"},
    {"thumb_1", "thumb-metacarpal"},
    {"thumb_2", "thumb-phalanx-proximal"},
    {"thumb_3", "thumb-phalanx-distal"},
    {"index_1", "index-finger-phalanx-proximal"},
    {"index_2", "index-finger-phalanx-intermediate"},
    {"index_3", "index-finger-phalanx-distal"},
    {"middle_1", "middle-finger-phalanx-proximal"},
    {"middle_2", "middle-finger-phalanx-intermediate"},
    {"middle_3", "middle-finger-phalanx-distal"},
    {"ring_1", "ring-finger-phalanx-proximal"},
    {"ring_2", "ring-finger-phalanx-intermediate"},
    {"ring_3", "ring-finger-phalanx-distal"},
    {"pinky_1", "pinky-finger-phalanx-proximal"},
    {"pinky_2", "pinky-finger-phalanx-intermediate"},
    {"pinky_3", "pinky-finger-phalanx-distal"},
    /* CesiumMan */
    {"neck", "Skeleton_neck_joint_1"},
    {"upper_arm_l", "Skeleton_arm_joint_L__4_"},
    {"upper_arm_r", "Skeleton_arm_joint_R"},
    {"forearm_l", "Skeleton_arm_joint_L__3_"},
    {"forearm_r", "Skeleton_arm_joint_R__2_"},
    {"hand_l", "Skeleton_arm_joint_L__2_"},
    {"hand_r", "Skeleton_arm_joint_R__3_"},
    {"thigh_$", "leg_joint_#_1"},
    {"shin_$", "leg_joint_#_2"},
    {"foot_$", "leg_joint_#_3"},
    /* Fox */
    {"hips", "b_Hip_01"},
    {"neck", "b_Neck_04"},
    {"head", "b_Head_05"},
    {"upper_arm_l", "b_LeftUpperArm_09"},
    {"upper_arm_r", "b_RightUpperArm_06"},
    {"forearm_l", "b_LeftForeArm_010"},
    {"forearm_r", "b_RightForeArm_07"},
    {"hand_l", "b_LeftHand_011"},
    {"hand_r", "b_RightHand_08"},
    {"tail_1", "b_Tail01_012"},
    {"thigh_l", "b_LeftLeg01_015"},
    {"thigh_r", "b_RightLeg01_019"},
    {"shin_l", "b_LeftLeg02_016"},
    {"shin_r", "b_RightLeg02_020"},
    {"foot_l", "b_LeftFoot01_017"},
    {"foot_r", "b_RightFoot01_021"},
    /* Mesh2Motion: horse and kaiju */
    {"upper_arm_$", "front_humerus_$"},
    {"forearm_$", "front_leg_upper_$"},
    {"hand_$", "front_leg_lower_$"},
    {"thigh_$", "back_leg_upper_$"},
    {"shin_$", "back_leg_lower_$"},
    {"foot_$", "back_leg_ankle_$"},
    {"upper_arm_$", "Front_Leg_Upper_#"},
    {"forearm_$", "Front_Leg_Lower_#"},
    {"hand_$", "Hand_#"},
    {"thigh_$", "Back_Leg_Upper_#"},
    {"shin_$", "Back_Leg_Lower_#"},
    {"foot_$", "Back_Leg_Ankle_#"},
    {"tail_1", "Tail_Base"},
};

/* Put a side into a pattern. */
static void side_put(const char *pattern, bool right, char *out, size_t size)
{
    size_t at = 0;
    for (; *pattern && at + 6 < size; pattern++) {
        const char *part = *pattern == '$'   ? (right ? "r" : "l")
                           : *pattern == '#' ? (right ? "R" : "L")
                           : *pattern == '@' ? (right ? "Right" : "Left")
                                             : NULL;
        if (part)
            at += (size_t)snprintf(out + at, size - at, "%s", part);
        else
            out[at++] = *pattern;
    }
    out[at] = 0;
}

int cutis_rig_counterpart(const cutis_character *other, const char *joint)
{
    int found = cutis_character_find_joint(other, joint);
    for (int i = 0; i < COUNT_OF(NAMES) && found < 0; i++)
        for (int right = 0; right < 2 && found < 0; right++) {
            char ours[64], theirs[64];
            side_put(NAMES[i].ours, right, ours, sizeof ours);
            side_put(NAMES[i].theirs, right, theirs, sizeof theirs);
            if (strcmp(ours, joint) == 0) found = cutis_character_find_joint(other, theirs);
        }
    return found;
}
