/* test_joint_parts.c: joints are told by the names that usual tools give them. */
#include "testing.h"

#include "character/joint_parts.h"
#include "character/joint_shape.h"
#include "cutis/zoo.h"

typedef struct expectation {
    const char *name;
    int parent, kind, side, index;
} expectation;

enum { NONE = JOINT_SIDE_NONE, LEFT = JOINT_SIDE_LEFT, RIGHT = JOINT_SIDE_RIGHT };

static void expect(const expectation *joints, int count)
{
    const char *names[32];
    int parents[32];
    joint_part parts[32];
    assert_in_range(count, 1, 32);
    for (int j = 0; j < count; j++) names[j] = joints[j].name, parents[j] = joints[j].parent;
    joint_parts_find(count, names, parents, parts);
    for (int j = 0; j < count; j++) {
        if (parts[j].kind != joints[j].kind ||
            (joints[j].kind != JOINT_OTHER && (parts[j].index != joints[j].index || parts[j].side != joints[j].side)))
            fail_msg("%s is kind %d, side %d, index %d", names[j], parts[j].kind, parts[j].side, parts[j].index);
    }
}

#define EXPECT(joints) expect(joints, (int)(sizeof(joints) / sizeof(joints)[0]))

static void test_names_of_captures(void **state)
{
    (void)state;
    const expectation joints[] = {
        {"Hips", -1, JOINT_HIPS, NONE, 0},
        {"LHipJoint", 0, JOINT_OTHER, LEFT, 0},
        {"LeftUpLeg", 1, JOINT_UPPER_LEG, LEFT, 0},
        {"LeftLeg", 2, JOINT_LOWER_LEG, LEFT, 0},
        {"LeftFoot", 3, JOINT_FOOT, LEFT, 0},
        {"LeftToeBase", 4, JOINT_TOE, LEFT, 0},
        {"LowerBack", 0, JOINT_SPINE, NONE, 0},
        {"Spine", 6, JOINT_SPINE, NONE, 1},
        {"Spine1", 7, JOINT_SPINE, NONE, 2},
        {"Neck", 8, JOINT_NECK, NONE, 0},
        {"Neck1", 9, JOINT_NECK, NONE, 1},
        {"Head", 10, JOINT_HEAD, NONE, 0},
        {"RightShoulder", 8, JOINT_COLLAR, RIGHT, 0},
        {"RightArm", 12, JOINT_UPPER_ARM, RIGHT, 0},
        {"RightForeArm", 13, JOINT_FOREARM, RIGHT, 0},
        {"RightHand", 14, JOINT_HAND, RIGHT, 0},
        {"RightHandIndex1", 15, JOINT_INDEX, RIGHT, 0},
        {"RThumb", 15, JOINT_THUMB, RIGHT, 0},
        {"", 17, JOINT_OTHER, NONE, 0},
    };
    EXPECT(joints);
    /* The older manner: joints are called after the joints, not after the bones. */
    const expectation older[] = {
        {"Hips", -1, JOINT_HIPS, NONE, 0},
        {"LeftHip", 0, JOINT_UPPER_LEG, LEFT, 0},
        {"LeftKnee", 1, JOINT_LOWER_LEG, LEFT, 0},
        {"LeftAnkle", 2, JOINT_FOOT, LEFT, 0},
        {"Chest", 0, JOINT_SPINE, NONE, 0},
        {"LeftCollar", 4, JOINT_COLLAR, LEFT, 0},
        {"LeftShoulder", 5, JOINT_UPPER_ARM, LEFT, 0},
        {"LeftElbow", 6, JOINT_FOREARM, LEFT, 0},
        {"LeftWrist", 7, JOINT_HAND, LEFT, 0},
    };
    EXPECT(older);
}

static void test_digits_hang_on_limbs(void **state)
{
    (void)state;
    const expectation horse[] = {
        {"hips", -1, JOINT_HIPS, NONE, 0},        {"spine_1", 0, JOINT_SPINE, NONE, 0},
        {"ribcage_middle", 1, JOINT_OTHER, 0, 0}, {"ball", 0, JOINT_OTHER, 0, 0},
        {"hand_r", 1, JOINT_HAND, RIGHT, 0},      {"palm", 4, JOINT_OTHER, 0, 0},
        {"middle_r", 5, JOINT_MIDDLE, RIGHT, 0},  {"foot_l", 0, JOINT_FOOT, LEFT, 0},
        {"ball_l", 7, JOINT_TOE, LEFT, 0},        {"ring", 1, JOINT_OTHER, 0, 0},
    };
    EXPECT(horse);
    /* nothing known above: a hand whose joints all hang on one */
    const expectation hand[] = {
        {"armature", -1, JOINT_OTHER, 0, 0},
        {"wrist_l", 0, JOINT_HAND, LEFT, 0},
        {"index_1_l", 0, JOINT_INDEX, LEFT, 0},
        {"index_2_l", 2, JOINT_INDEX, LEFT, 1},
    };
    EXPECT(hand);
}

static void test_names_of_tools(void **state)
{
    (void)state;
    const expectation mixamo[] = {
        {"mixamorig:Hips", -1, JOINT_HIPS, NONE, 0},          {"mixamorig:Spine", 0, JOINT_SPINE, NONE, 0},
        {"mixamorig:LeftShoulder", 1, JOINT_COLLAR, LEFT, 0}, {"mixamorig:LeftArm", 2, JOINT_UPPER_ARM, LEFT, 0},
        {"mixamorig:LeftForeArm", 3, JOINT_FOREARM, LEFT, 0}, {"mixamorig:LeftHand", 4, JOINT_HAND, LEFT, 0},
        {"mixamorig:LeftHandRing1", 5, JOINT_RING, LEFT, 0},  {"mixamorig:LeftHandRing2", 6, JOINT_RING, LEFT, 1},
        {"mixamorig:HeadTop_End", 1, JOINT_OTHER, NONE, 0},
    };
    EXPECT(mixamo);
    const expectation unreal[] = {
        {"pelvis", -1, JOINT_HIPS, NONE, 0},        {"spine_01", 0, JOINT_SPINE, NONE, 0},
        {"clavicle_r", 1, JOINT_COLLAR, RIGHT, 0},  {"upperarm_r", 2, JOINT_UPPER_ARM, RIGHT, 0},
        {"lowerarm_r", 3, JOINT_FOREARM, RIGHT, 0}, {"lowerarm_twist_01_r", 4, JOINT_OTHER, RIGHT, 0},
        {"hand_r", 4, JOINT_HAND, RIGHT, 0},        {"thigh_r", 0, JOINT_UPPER_LEG, RIGHT, 0},
        {"calf_r", 7, JOINT_LOWER_LEG, RIGHT, 0},   {"foot_r", 8, JOINT_FOOT, RIGHT, 0},
        {"ball_r", 9, JOINT_TOE, RIGHT, 0},         {"ik_foot_r", 0, JOINT_OTHER, RIGHT, 0},
    };
    EXPECT(unreal);
    const expectation blender[] = {
        {"DEF-spine", -1, JOINT_SPINE, NONE, 0},          {"DEF-shoulder.L", 0, JOINT_COLLAR, LEFT, 0},
        {"DEF-upper_arm.L", 1, JOINT_UPPER_ARM, LEFT, 0}, {"DEF-forearm.L", 2, JOINT_FOREARM, LEFT, 0},
        {"DEF-hand.L", 3, JOINT_HAND, LEFT, 0},           {"DEF-f_index.01.L", 4, JOINT_INDEX, LEFT, 0},
        {"DEF-thigh.L", 0, JOINT_UPPER_LEG, LEFT, 0},     {"DEF-shin.L", 6, JOINT_LOWER_LEG, LEFT, 0},
    };
    EXPECT(blender);
    const expectation glued[] = {
        {"hip", -1, JOINT_HIPS, NONE, 0},
        {"abdomen", 0, JOINT_SPINE, NONE, 0},
        {"lCollar", 1, JOINT_COLLAR, LEFT, 0},
        {"lShldr", 2, JOINT_UPPER_ARM, LEFT, 0},
        {"lForeArm", 3, JOINT_FOREARM, LEFT, 0},
        {"rthigh", 0, JOINT_UPPER_LEG, RIGHT, 0},
        {"rightshin", 5, JOINT_LOWER_LEG, RIGHT, 0},
        {"ring1", 4, JOINT_RING, NONE, 0},
    };
    EXPECT(glued);
}

/* Limbs that are only numbered go in order from the body; hips that have no name are where the legs meet. */
static void test_numbered_limbs(void **state)
{
    (void)state;
    const expectation joints[] = {
        {"Armature", -1, JOINT_OTHER, NONE, 0},          {"torso_joint_1", 0, JOINT_HIPS, NONE, 0},
        {"torso_joint_2", 1, JOINT_SPINE, NONE, 0},      {"arm_joint_L__4_", 2, JOINT_UPPER_ARM, LEFT, 0},
        {"arm_joint_L__3_", 3, JOINT_FOREARM, LEFT, 0},  {"arm_joint_L__2_", 4, JOINT_HAND, LEFT, 0},
        {"leg_joint_L_1", 1, JOINT_UPPER_LEG, LEFT, 0},  {"leg_joint_L_2", 6, JOINT_LOWER_LEG, LEFT, 0},
        {"leg_joint_L_3", 7, JOINT_FOOT, LEFT, 0},       {"leg_joint_L_5", 8, JOINT_TOE, LEFT, 0},
        {"leg_joint_R_1", 1, JOINT_UPPER_LEG, RIGHT, 0}, {"leg_joint_R_2", 10, JOINT_LOWER_LEG, RIGHT, 0},
    };
    EXPECT(joints);
}

/* A second chain of the same part, such as controls beside the bones, is not mixed into the first. */
/* Legs of animals: what is spelled out wins over letters, f is the front. */
static void test_names_of_animals(void **state)
{
    (void)state;
    const expectation above[] = {
        {"Back", -1, JOINT_HIPS, NONE, 0},
        {"BackLeg.L", 0, JOINT_UPPER_LEG, LEFT, 0}, /* the first of three bones: the foot is a control */
        {"BackUpperLeg.L", 1, JOINT_LOWER_LEG, LEFT, 0},
        {"BackLowerLeg.L", 2, JOINT_FOOT, LEFT, 0},
        {"BackLeg.R", 0, JOINT_UPPER_LEG, RIGHT, 0},
        {"BackUpperLeg.R", 4, JOINT_LOWER_LEG, RIGHT, 0},
        {"BackLowerLeg.R", 5, JOINT_FOOT, RIGHT, 0},
    };
    EXPECT(above);
    const expectation ended[] = {
        {"Hips", -1, JOINT_HIPS, NONE, 0},
        {"Leg.L", 0, JOINT_OTHER, LEFT, 0}, /* where the leg joins the body */
        {"UpperLeg.L", 1, JOINT_UPPER_LEG, LEFT, 0},
        {"LowerLeg.L", 2, JOINT_LOWER_LEG, LEFT, 0},
        {"Foot.L", 3, JOINT_FOOT, LEFT, 0},
    };
    EXPECT(ended);
    const expectation ankles[] = {
        {"L_Hip", -1, JOINT_UPPER_LEG, LEFT, 0},
        {"L_Knee", 0, JOINT_LOWER_LEG, LEFT, 0},
        {"L_Ankle", 1, JOINT_FOOT, LEFT, 0},
        {"L_Foot", 2, JOINT_TOE, LEFT, 0}, /* below an ankle */
    };
    EXPECT(ankles);
    const expectation words[] = {
        {"pelvis", -1, JOINT_HIPS, NONE, 0},           {"left_r_thigh", 0, JOINT_UPPER_LEG, LEFT, 0},
        {"left_r_shin", 1, JOINT_LOWER_LEG, LEFT, 0},  {"right_r_thigh", 0, JOINT_UPPER_LEG, RIGHT, 0},
        {"right_f_leg", 0, JOINT_UPPER_ARM, RIGHT, 0}, {"left_f_leg", 0, JOINT_UPPER_ARM, LEFT, 0},
    };
    EXPECT(words);
    const expectation letters[] = {
        {"Hips", -1, JOINT_HIPS, NONE, 0},          {"Thigh_BL", 0, JOINT_UPPER_LEG, LEFT, 0},
        {"Thigh_RR", 0, JOINT_UPPER_LEG, RIGHT, 0}, {"FL_Leg", 0, JOINT_UPPER_ARM, LEFT, 0},
        {"Leg.FR", 0, JOINT_UPPER_ARM, RIGHT, 0},
    };
    EXPECT(letters);
}

static void test_second_chains_are_left_out(void **state)
{
    (void)state;
    const expectation joints[] = {
        {"hips", -1, JOINT_HIPS, NONE, 0},
        {"thigh.L", 0, JOINT_UPPER_LEG, LEFT, 0},
        {"thigh_parent.L", 0, JOINT_OTHER, LEFT, 0},
        {"a_name_of_very_many_words_and_more_words_than_one_can_count", 0, JOINT_OTHER, NONE, 0},
        {"averyveryveryveryveryverylongsingleword", 0, JOINT_OTHER, NONE, 0},
    };
    EXPECT(joints);
}

/* Front legs are arms; fingers may be in any order when their names tell it. */
static void test_animals_and_fingers(void **state)
{
    (void)state;
    const expectation horse[] = {
        {"hips", -1, JOINT_HIPS, NONE, 0},
        {"front_scapula_l", 0, JOINT_COLLAR, LEFT, 0},
        {"front_humerus_l", 1, JOINT_UPPER_ARM, LEFT, 0},
        {"front_leg_upper_l", 2, JOINT_FOREARM, LEFT, 0},
        {"front_leg_lower_l", 3, JOINT_HAND, LEFT, 0},
        {"front_leg_ankle_l", 4, JOINT_OTHER, LEFT, 0},
        {"tail_1", 0, JOINT_TAIL, NONE, 0},
        {"tail_2", 6, JOINT_TAIL, NONE, 1},
        {"back_leg_pelvis_l", 0, JOINT_OTHER, LEFT, 0},
        {"back_leg_upper_l", 8, JOINT_UPPER_LEG, LEFT, 0},
        {"back_leg_lower_l", 9, JOINT_LOWER_LEG, LEFT, 0},
        {"back_leg_ankle_l", 10, JOINT_FOOT, LEFT, 0},
    };
    EXPECT(horse);
    const expectation hand[] = {
        {"wrist", -1, JOINT_HAND, NONE, 0},
        {"index-finger-tip", -1, JOINT_OTHER, NONE, 0},
        {"index-finger-phalanx-distal", -1, JOINT_INDEX, NONE, 2},
        {"index-finger-phalanx-intermediate", -1, JOINT_INDEX, NONE, 1},
        {"index-finger-phalanx-proximal", -1, JOINT_INDEX, NONE, 0},
        {"index-finger-metacarpal", -1, JOINT_OTHER, NONE, 0},
        {"thumb-phalanx-distal", -1, JOINT_THUMB, NONE, 2},
        {"thumb-phalanx-proximal", -1, JOINT_THUMB, NONE, 1},
        {"thumb-metacarpal", -1, JOINT_THUMB, NONE, 0},
    };
    EXPECT(hand);
}

/* The built-in man without his names; a tail or a snake is no person. */
static void test_shape_tells_a_person(void **state)
{
    (void)state;
    static const char *const BODIES[] = {"man", "dancer", "cat", "arm", "hand"};
    for (int b = 0; b < 5; b++) {
        cutis_character *c = NULL;
        assert_int_equal(cutis_zoo_make(BODIES[b], 0.3, NULL, &c, NULL), CUTIS_OK);
        const char *names[256];
        int parents[256];
        double places[256][3];
        bool uses[256];
        float rest[12 * 256];
        joint_part named[256], shaped[256];
        assert_in_range(c->joint_count, 1, 256);
        cutis_pose_rest(c, rest);
        for (int j = 0; j < c->joint_count; j++) {
            names[j] = c->joints[j].name;
            parents[j] = c->joints[j].parent;
            uses[j] = true;
            for (int k = 0; k < 3; k++) places[j][k] = rest[12 * j + 4 * k + 3];
        }
        joint_parts_find(c->joint_count, names, parents, named);

        arena memory = arena_create(NULL);
        bool found =
            joint_parts_by_shape(&memory, c->joint_count, parents, (const double(*)[3])places, NULL, uses, shaped);
        arena_destroy(&memory);
        assert_int_equal(found, b < 2);
        int limbs = 0;
        for (int j = 0; j < c->joint_count && found; j++) {
            if (named[j].kind < JOINT_UPPER_ARM || named[j].kind > JOINT_FOOT) continue;
            if (shaped[j].kind != named[j].kind || shaped[j].side != named[j].side)
                fail_msg("%s %s is kind %d, side %d", BODIES[b], names[j], shaped[j].kind, shaped[j].side);
            limbs++;
        }
        if (found) assert_true(limbs >= 8);
        cutis_character_destroy(c);
    }
}

/* Thumbs of a game character that are named after the other side belong to the arm that they hang on. */
static void test_digits_of_the_wrong_side(void **state)
{
    (void)state;
    const expectation joints[] = {
        {"Torso", -1, JOINT_SPINE, NONE, 0},          {"UpperArm.L", 0, JOINT_UPPER_ARM, LEFT, 0},
        {"LowerArm.L", 1, JOINT_FOREARM, LEFT, 0},    {"Hand.L", 2, JOINT_HAND, LEFT, 0},
        {"Thumb.R", 2, JOINT_THUMB, LEFT, 0},         {"Thumb2.R", 4, JOINT_THUMB, LEFT, 1},
        {"UpperArm.R", 0, JOINT_UPPER_ARM, RIGHT, 0}, {"LowerArm.R", 6, JOINT_FOREARM, RIGHT, 0},
        {"Hand.R", 7, JOINT_HAND, RIGHT, 0},          {"Thumb.L", 7, JOINT_THUMB, RIGHT, 0},
        {"Thumb2.L", 9, JOINT_THUMB, RIGHT, 1},
    };
    EXPECT(joints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_captures),
        cmocka_unit_test(test_digits_hang_on_limbs),
        cmocka_unit_test(test_names_of_tools),
        cmocka_unit_test(test_numbered_limbs),
        cmocka_unit_test(test_animals_and_fingers),
        cmocka_unit_test(test_digits_of_the_wrong_side),
        cmocka_unit_test(test_second_chains_are_left_out),
        cmocka_unit_test(test_names_of_animals),
        cmocka_unit_test(test_shape_tells_a_person),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
