/* test_bvhfile.c: BVH motion moves the joints of the same names, turned to the character's rest pose. */
#include "testing.h"

#include "retarget/bvh_motion.h"

/* Three joints in a row along +Y, as a BVH whose bones lie along +Y too. */
static const char chain[] =
    "HIERARCHY\nROOT upper\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
    " JOINT lower\n {\n  OFFSET 10 0 0\n  CHANNELS 3 Zrotation Xrotation Yrotation\n  End Site\n  {\n   OFFSET 10 0 "
    "0\n  }\n }\n}\n"
    "MOTION\nFrames: 3\nFrame Time: 0.04\n"
    "0 0 0 0 0 0 0 0 0\n10 20 30 90 0 0 0 0 0\n0 0 0 0 0 90 30 40 50\n";

static cutis_character *tube_with(const char *text, const cutis_name_pair *pairs, int pair_count)
{
    cutis_character *tube, *moved = NULL;
    cutis_error error = {0};
    assert_int_equal(test_tube(NULL, &tube, &error), CUTIS_OK);
    cutis_result result =
        bvh_motion_add(tube, text, strlen(text), "dir/steps.bvh", pairs, pair_count, NULL, &moved, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    cutis_character_destroy(tube);
    return moved;
}

/* The tube's bones lie along +X as those of the chain do, so world rotations are the file's own. */
static void test_rotations_follow_the_channel_order(void **state)
{
    (void)state;
    cutis_character *c = tube_with(chain, NULL, 0);
    assert_int_equal(c->clip_count, 3);
    assert_string_equal(c->clips[2].name, "steps");
    assert_true(fabsf(c->clips[2].end - 0.08f) < 1e-6f);
    float joints[24];
    cutis_pose_sample(c, 2, 0, joints);
    for (int i = 0; i < 9; i++) assert_true(fabsf(joints[4 * (i / 3) + i % 3] - (i % 4 == 0)) < 1e-6f);
    /* frame 1: the root turned by 90 degrees about z, moved by a tenth: bones of 10 are 1 long here */
    cutis_pose_sample(c, 2, 0.04, joints);
    assert_true(fabsf(joints[4] - 1) < 1e-6f && fabsf(joints[1] + 1) < 1e-6f);
    assert_true(fabsf(joints[3] - 1) < 1e-5f && fabsf(joints[11] - 3) < 1e-5f);
    assert_true(fabsf(joints[15] - 1) < 1e-5f &&
                fabsf(joints[19] - joints[7] - 1) < 1e-5f); /* the lower joint above it */
    /* frame 2: root Ry(90), lower Rz(30) Rx(40) Ry(50) */
    cutis_pose_sample(c, 2, 0.08, joints);
    double a = 30 * 0.017453292519943295, b = 40 * 0.017453292519943295, g = 50 * 0.017453292519943295;
    double z[9] = {cos(a), -sin(a), 0, sin(a), cos(a), 0, 0, 0, 1},
           x[9] = {1, 0, 0, 0, cos(b), -sin(b), 0, sin(b), cos(b)};
    double y[9] = {cos(g), 0, sin(g), 0, 1, 0, -sin(g), 0, cos(g)}, root[9] = {0, 0, 1, 0, 1, 0, -1, 0, 0};
    const double *factors[] = {root, z, x, y};
    double product[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int f = 0; f < 4; f++) {
        double next[9] = {0};
        for (int i = 0; i < 9; i++)
            for (int k = 0; k < 3; k++) next[i] += product[3 * (i / 3) + k] * factors[f][3 * k + i % 3];
        memcpy(product, next, sizeof next);
    }
    for (int i = 0; i < 9; i++) assert_true(fabs(joints[12 + 4 * (i / 3) + i % 3] - product[i]) < 1e-5);
    cutis_character_destroy(c);
}

static void test_names_match_without_case_separators_and_prefix(void **state)
{
    (void)state;
    char text[1000];
    const char *upper = strstr(chain, "upper"), *lower = strstr(chain, "lower");
    snprintf(text, sizeof text, "%.*smixamorig:Up_Per%.*sLOWER%s", (int)(upper - chain), chain,
             (int)(lower - upper - 5), upper + 5, lower + 5);
    cutis_character *c = tube_with(text, NULL, 0);
    assert_int_equal(c->clips[2].track_count, 3); /* two rotations and the root's path */
    cutis_character_destroy(c);

    /* A name map turns the two around. */
    const cutis_name_pair pairs[] = {{"upper", "lower"}, {"nobody", "upper"}};
    c = tube_with(chain, pairs, 2);
    assert_int_equal(c->clips[2].track_count, 2);
    assert_int_equal(c->clips[2].tracks[0].target, cutis_character_find_joint(c, "lower"));
    assert_int_equal(c->warning_count, 2);
    assert_non_null(strstr(c->warnings[0], "'nobody' is not a joint of the motion"));
    cutis_character_destroy(c);
}

static void test_bones_that_rest_otherwise_are_aligned(void **state)
{
    (void)state;
    /* The file's bones lie along -Y: in its zero pose the tube's lower bone must point down. */
    const char text[] =
        "HIERARCHY\nROOT upper\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nJOINT lower\n{\nOFFSET 0 -2 "
        "0\n"
        "CHANNELS 3 Zrotation Xrotation Yrotation\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0 0 0 0\n";
    cutis_character *c = tube_with(text, NULL, 0);
    float joints[24];
    cutis_pose_sample(c, 2, 0, joints);
    assert_true(fabsf(joints[15] - joints[3]) < 1e-5f && fabsf(joints[19] - joints[7] + 1) < 1e-5f);
    cutis_character_destroy(c);
}

static void test_errors_name_the_line(void **state)
{
    (void)state;
    const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"OFFSET 10 0 0", "OFFSET 10 0 x", "line 8: an offset is not a finite number"},
        {"CHANNELS 3", "CHANNELS 7", "line 9: a joint has 0 to 6 channels"},
        {"Zrotation", "Wrotation", "line 5: 'Wrotation' is not a channel"},
        {"Frames: 3", "Frames: 4000000000", "4e+09 frames are declared, more than the file holds"},
        {"Frames: 3", "Frames: 4", "4 frames are declared, more than the file holds"},
        {"90 0 0 0 0 0", "90.0000000000000000000000", "the file is cut short: it holds 2 of 3 frames"},
        {"Frame Time: 0.04", "Frame Time: 0", "a frame time of 0 s"},
        {"MOTION", "MOTIO", "'MOTIO' is unexpected here"},
        {"HIERARCHY", "HIER", "line 1: 'HIERARCHY' is expected"},
        {"90 0 0 0", "90 nan 0 0", "a channel is not a finite number"},
        {"JOINT lower", "ROOT lower", "'ROOT' is unexpected here"},
        {"Frames: 3", "Frames: 0", "the motion has no frames"},
        {"HIERARCHY", "\xEF\xBB\xBFHIERARCHY", ""}, /* a byte order mark is no part of the text */
        {"ROOT upper", "ROOT someone", ""},
    };
    cutis_character *tube, *moved;
    cutis_error error = {0};
    assert_int_equal(test_tube(NULL, &tube, &error), CUTIS_OK);
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        char text[1000];
        const char *at = strstr(chain, cases[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - chain), chain, cases[i].to, at + strlen(cases[i].from));
        cutis_result result = bvh_motion_add(tube, text, strlen(text), "steps.bvh", NULL, 0, NULL, &moved, &error);
        if (!cases[i].message[0]) { /* one joint fewer is fine */
            assert_int_equal(result, CUTIS_OK);
            cutis_character_destroy(moved);
            continue;
        }
        if (result != CUTIS_ERROR_FORMAT || !strstr(error.text, cases[i].message))
            print_error("case %d: %s\n", i, error.text);
        assert_int_equal(result, CUTIS_ERROR_FORMAT);
        assert_non_null(strstr(error.text, cases[i].message));
    }
    const char *strangers =
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xposition\n}\nMOTION\nFrames: 1\nFrame Time: 1\n0\n";
    assert_int_equal(bvh_motion_add(tube, strangers, strlen(strangers), "s.bvh", NULL, 0, NULL, &moved, &error),
                     CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "pass a name map"));
    assert_int_equal(cutis_character_add_bvh(tube, "/nowhere/x.bvh", NULL, 0, NULL, &moved, &error), CUTIS_ERROR_FILE);
    cutis_character_destroy(tube);
}

/* A first frame far from a motion that is otherwise steady is left out, with a warning; a quick motion is not. */
static void test_a_calibration_pose_is_left_out(void **state)
{
    (void)state;
    const char *motion = strstr(chain, "MOTION");
    for (int apart = 0; apart < 2; apart++) {
        char text[3000];
        int length =
            snprintf(text, sizeof text, "%.*sMOTION\nFrames: 12\nFrame Time: 0.04\n", (int)(motion - chain), chain);
        for (int f = 0; f < 12; f++)
            length += snprintf(text + length, sizeof text - (size_t)length, "0 0 0 %d 0 0 0 0 0\n",
                               f == 0 ? 0 : (apart ? 80 : 0) + 15 * f);
        cutis_character *c = tube_with(text, NULL, 0);
        assert_true(fabsf(c->clips[2].end - (apart ? 0.40f : 0.44f)) < 1e-5f);
        assert_int_equal(c->warning_count > 0 && strstr(c->warnings[c->warning_count - 1], "calibration pose") != NULL,
                         apart);
        cutis_character_destroy(c);
    }
}

/* A joint that twists about its own bone moves no other joint: the calibration pose is still detected. */
static void test_twisting_joints_do_not_hide_a_calibration_pose(void **state)
{
    (void)state;
    const char *motion = strstr(chain, "MOTION");
    char text[3000];
    int length =
        snprintf(text, sizeof text, "%.*sMOTION\nFrames: 12\nFrame Time: 0.04\n", (int)(motion - chain), chain);
    for (int f = 0; f < 12; f++)
        length += snprintf(text + length, sizeof text - (size_t)length, "0 0 0 %d 0 0 0 %d 0\n",
                           f == 0 ? 0 : 80 + 2 * f, f % 2 ? 60 : 0);
    cutis_character *c = tube_with(text, NULL, 0);
    assert_true(fabsf(c->clips[2].end - 0.40f) < 1e-5f);
    cutis_character_destroy(c);
}

/* A character whose joints are named in another manner follows: the same bones point the same way. */
static void test_names_that_mean_the_same_match(void **state)
{
    (void)state;
    static const char text[] =
        "HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHANNELS 3 Xposition Yposition Zposition\n"
        " JOINT LeftCollar\n {\n  OFFSET 0 5 0\n  CHANNELS 0\n  JOINT LeftShoulder\n  {\n   OFFSET 2 0 0\n"
        "   CHANNELS 1 Zrotation\n   JOINT LeftElbow\n   {\n    OFFSET 3 0 0\n    CHANNELS 1 Yrotation\n"
        "    JOINT LeftWrist\n    {\n     OFFSET 3 0 0\n     CHANNELS 0\n     End Site\n     {\n      OFFSET 1 0 0\n"
        "     }\n    }\n   }\n  }\n }\n}\nMOTION\nFrames: 1\nFrame Time: 0.04\n0 0 0 40 -70\n";
    cutis_character *moved;
    cutis_error error = {0};
    cutis_character *man = test_zoo("man", 0.2);
    assert_int_equal(bvh_motion_add(man, text, sizeof text - 1, "arm.bvh", NULL, 0, NULL, &moved, &error), CUTIS_OK);
    float *joints = malloc(12 * sizeof(float) * (size_t)moved->joint_count);
    assert_non_null(joints);
    cutis_pose_sample(moved, moved->clip_count - 1, 0, joints);
    int chain_of[3] = {cutis_character_find_joint(moved, "upper_arm_l"), cutis_character_find_joint(moved, "forearm_l"),
                       cutis_character_find_joint(moved, "hand_l")};
    double a = 40 * 0.017453292519943295, b = 70 * 0.017453292519943295;
    const double upper[3] = {cos(a), sin(a), 0}, fore[3] = {cos(a) * cos(b), sin(a) * cos(b), sin(b)};
    for (int i = 0; i < 2; i++) {
        const double *way = i ? fore : upper;
        double d[3], length = 0, dot = 0;
        assert_true(chain_of[i] >= 0 && chain_of[i + 1] >= 0);
        for (int k = 0; k < 3; k++) {
            d[k] = (double)(joints[12 * chain_of[i + 1] + 4 * k + 3] - joints[12 * chain_of[i] + 4 * k + 3]);
            length += d[k] * d[k], dot += d[k] * way[k];
        }
        assert_true(dot / sqrt(length) > 0.9999);
    }
    free(joints);
    cutis_character_destroy(moved);
    cutis_character_destroy(man);
}

/* The GLB's clips were made from the same captures by others: joints must be in the same places. */
static void test_mocap_lands_where_the_packaged_clip_is(void **state)
{
    (void)state;
    const struct {
        const char *capture, *clip;
    } cases[] = {
        {"cmu-mocap/02_01.bvh", "walk"}, {"cmu-mocap/02_03.bvh", "run"}, {"cmu-mocap/02_04.bvh", "jump_balance"}};
    const char *path = test_model("makehuman-cmu-average/mh_average.glb");
    if (!path) skip();
    cutis_character *c, *moved;
    cutis_error error = {0};
    assert_int_equal(cutis_character_load(path, NULL, &c, &error), CUTIS_OK);
    for (int i = 0; i < 3; i++) {
        const char *capture = test_model(cases[i].capture);
        if (!capture) skip();
        assert_int_equal(cutis_character_add_bvh(c, capture, NULL, 0, NULL, &moved, &error), CUTIS_OK);
        int packaged = cutis_character_find_clip(moved, cases[i].clip), own = moved->clip_count - 1;
        assert_true(packaged >= 0);
        float a[31 * 12], b[31 * 12];
        double largest = 0, legs = 0, root = 0, height = 0;
        for (double t = 0; t < (double)moved->clips[packaged].end; t += 0.1) {
            cutis_pose_sample(moved, packaged, t, a);
            cutis_pose_sample(moved, own, t, b);
            for (int j = 0; j < moved->joint_count; j++) {
                /* Hands and feet roll about their bones as each way of aligning has it: their tips may differ. */
                bool tip = strstr(moved->joints[j].name, "Finger") || strstr(moved->joints[j].name, "Thumb");
                bool leg = strstr(moved->joints[j].name, "Leg") || strstr(moved->joints[j].name, "Foot") ||
                           strstr(moved->joints[j].name, "Toe");
                double d = 0;
                for (int k = 3; k < 12; k += 4) d += pow((a[12 * j + k] - a[k]) - (b[12 * j + k] - b[k]), 2);
                if (leg) legs = fmax(legs, sqrt(d)); /* feet that slide in the packaged clip stand in this one */
                if (!tip && !leg) largest = fmax(largest, sqrt(d));
            }
            root = fmax(root, fmax(fabs(a[3] - b[3]), fabs(a[11] - b[11])));
            height = fmax(height, fabs(a[7] - b[7]));
        }
        print_message("%s: joints within %.2g m of the packaged clip, legs within %.2g m, path within %.2g m, height "
                      "within %.2g m\n",
                      cases[i].capture, largest, legs, root, height);
        assert_true(largest < 0.001 && legs < 0.08 && root < 0.05 && height < 0.03);
        cutis_character_destroy(moved);
    }
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotations_follow_the_channel_order),
        cmocka_unit_test(test_names_match_without_case_separators_and_prefix),
        cmocka_unit_test(test_bones_that_rest_otherwise_are_aligned),
        cmocka_unit_test(test_errors_name_the_line),
        cmocka_unit_test(test_a_calibration_pose_is_left_out),
        cmocka_unit_test(test_twisting_joints_do_not_hide_a_calibration_pose),
        cmocka_unit_test(test_names_that_mean_the_same_match),
        cmocka_unit_test(test_mocap_lands_where_the_packaged_clip_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
