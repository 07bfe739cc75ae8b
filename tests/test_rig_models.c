/*
 * test_rig_models.c: skeletons and weights found for bodies from elsewhere, beside the rigs that people made for them.
 */
#include "testing.h"

#include "character/skinning.h"

typedef struct joint_pair {
    const char *ours, *theirs; /* a trailing # stands for both sides: _l and _r; in theirs L / Left and R / Right */
} joint_pair;

/* Put the side into a name: # in ours is l or r; in theirs @ is Left or Right, # is L or R, $ is l or r. */
static void name_side(const char *name, int side, char *out)
{
    for (; *name; name++) {
        const char *part = *name == '@' ? (side ? "Right" : "Left") : *name == '#' ? (side ? "R" : "L") : NULL;
        if (*name == '$') part = side ? "r" : "l";
        if (part)
            out += sprintf(out, "%s", part);
        else
            *out++ = *name;
    }
    *out = 0;
}

static const joint_pair MAKEHUMAN[] = {{"neck", "Neck"},    {"upper_arm_$", "@Arm"}, {"forearm_$", "@ForeArm"},
                                       {"hand_$", "@Hand"}, {"thigh_$", "@UpLeg"},   {"shin_$", "@Leg"},
                                       {"foot_$", "@Foot"}};
static const joint_pair WEBXR[] = {{"hand", "wrist"},
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
                                   {"pinky_3", "pinky-finger-phalanx-distal"}};
static const joint_pair CESIUM[] = {{"neck", "Skeleton_neck_joint_1"},
                                    {"upper_arm_l", "Skeleton_arm_joint_L__4_"},
                                    {"upper_arm_r", "Skeleton_arm_joint_R"},
                                    {"forearm_l", "Skeleton_arm_joint_L__3_"},
                                    {"forearm_r", "Skeleton_arm_joint_R__2_"},
                                    {"hand_l", "Skeleton_arm_joint_L__2_"},
                                    {"hand_r", "Skeleton_arm_joint_R__3_"},
                                    {"thigh_$", "leg_joint_#_1"},
                                    {"shin_$", "leg_joint_#_2"},
                                    {"foot_$", "leg_joint_#_3"}};
static const joint_pair FOX[] = {{"hips", "b_Hip_01"},
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
                                 {"foot_r", "b_RightFoot01_021"}};
static const joint_pair HORSE[] = {{"hips", "hips"},
                                   {"head", "head"},
                                   {"tail_1", "tail_1"},
                                   {"upper_arm_$", "front_humerus_$"},
                                   {"forearm_$", "front_leg_upper_$"},
                                   {"hand_$", "front_leg_lower_$"},
                                   {"thigh_$", "back_leg_upper_$"},
                                   {"shin_$", "back_leg_lower_$"},
                                   {"foot_$", "back_leg_ankle_$"}};
static const joint_pair KAIJU[] = {{"hips", "Hips"},
                                   {"head", "Head"},
                                   {"upper_arm_$", "Front_Leg_Upper_#"},
                                   {"forearm_$", "Front_Leg_Lower_#"},
                                   {"hand_$", "Hand_#"},
                                   {"thigh_$", "Back_Leg_Upper_#"},
                                   {"shin_$", "Back_Leg_Lower_#"},
                                   {"foot_$", "Back_Leg_Ankle_#"},
                                   {"tail_1", "Tail_Base"}};

static void joint_place(const cutis_character *c, int joint, float place[3])
{
    float *pose = malloc(12 * (size_t)c->joint_count * sizeof *pose);
    cutis_pose_rest(c, pose);
    for (int k = 0; k < 3; k++) place[k] = pose[12 * joint + 4 * k + 3];
    free(pose);
}

/* Prints a line for each joint; returns the mean over the longest side. */
static double joints_compare(const cutis_character *found, const cutis_character *made, const joint_pair *pairs,
                             int count)
{
    double sum = 0, longest = 0;
    int compared = 0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, made->bounds_max[k] - made->bounds_min[k]);
    for (int i = 0; i < count; i++)
        for (int side = 0; side < (strchr(pairs[i].ours, '$') ? 2 : 1); side++) {
            char ours[64], theirs[64];
            name_side(pairs[i].ours, side, ours);
            name_side(pairs[i].theirs, side, theirs);
            int a = cutis_character_find_joint(found, ours), b = cutis_character_find_joint(made, theirs);
            if (a < 0 || b < 0) fail_msg("%s or %s is missing", ours, theirs);
            float pa[3], pb[3];
            double square = 0;
            joint_place(found, a, pa);
            joint_place(made, b, pb);
            for (int k = 0; k < 3; k++) square += (pa[k] - pb[k]) * (pa[k] - pb[k]);
            print_message("  %-14s %-36s %5.2f %%\n", ours, theirs, 100 * sqrt(square) / longest);
            sum += sqrt(square) / longest;
            compared++;
        }
    return sum / compared;
}

typedef struct body {
    const char *mesh, *rig, *skeleton;
    const joint_pair *pairs;
    int pair_count;
    double most; /* mean error allowed */
} body;

static void bodies_check(const body *bodies, int count)
{
    for (int i = 0; i < count; i++) {
        const char *mesh_path = test_model(bodies[i].mesh), *rig_path = test_model(bodies[i].rig);
        cutis_character *mesh, *made;
        cutis_rig *rig;
        cutis_error error;
        cutis_rig_def def = cutis_rig_def_default();
        if (!mesh_path || !rig_path) skip();
        if (cutis_character_load(mesh_path, NULL, &mesh, &error) != CUTIS_OK) fail_msg("%s", error.text);
        if (cutis_character_load(rig_path, NULL, &made, &error) != CUTIS_OK) fail_msg("%s", error.text);
        def.character = mesh;
        if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
        print_message("%s, template %s\n", bodies[i].mesh, rig->skeleton);
        assert_string_equal(rig->skeleton, bodies[i].skeleton);
        double mean = joints_compare(rig->character, made, bodies[i].pairs, bodies[i].pair_count);
        print_message("  mean %.2f %% of the height\n", 100 * mean);
        assert_true(mean < bodies[i].most);
        cutis_rig_destroy(rig);
        cutis_character_destroy(mesh);
        cutis_character_destroy(made);
    }
}

static void makehuman_and_webxr_joints_are_within_five_percent(void **state)
{
    static const body bodies[] = {
        {"makehuman-cmu-average/mh_average-body-quads.obj", "makehuman-cmu-average/mh_average.glb", "biped", MAKEHUMAN,
         COUNT_OF(MAKEHUMAN), 0.05},
        {"makehuman-cmu-heavy/mh_heavy-body-quads.obj", "makehuman-cmu-heavy/mh_heavy.glb", "biped", MAKEHUMAN,
         COUNT_OF(MAKEHUMAN), 0.05},
        {"webxr-generic-hand/left.glb", "webxr-generic-hand/left.glb", "hand", WEBXR, COUNT_OF(WEBXR), 0.05},
        {"webxr-generic-hand/right.glb", "webxr-generic-hand/right.glb", "hand", WEBXR, COUNT_OF(WEBXR), 0.05},
    };
    (void)state;
    bodies_check(bodies, COUNT_OF(bodies));
}

/* No template was set from these. */
static void bodies_never_seen_get_the_right_template(void **state)
{
    static const body bodies[] = {
        {"khronos-CesiumMan/CesiumMan.glb", "khronos-CesiumMan/CesiumMan.glb", "biped", CESIUM, COUNT_OF(CESIUM), 0.06},
        {"khronos-Fox/Fox.glb", "khronos-Fox/Fox.glb", "quadruped", FOX, COUNT_OF(FOX), 0.1},
        {"mesh2motion-horse/horse.glb", "mesh2motion-horse/horse.glb", "quadruped", HORSE, COUNT_OF(HORSE), 0.1},
        {"mesh2motion-kaiju/kaiju.glb", "mesh2motion-kaiju/kaiju.glb", "biped", KAIJU, COUNT_OF(KAIJU), 0.1},
    };
    (void)state;
    bodies_check(bodies, COUNT_OF(bodies));
}

/* Mean distance of the vertices under both sets of weights, over `frames` instants of each clip. */
static double clips_compare(const cutis_character *a, const cutis_character *b, int frames)
{
    int n = a->vertex_count;
    arena memory = arena_create(NULL);
    const cutis_character *both[2] = {a, b};
    skinning s[2];
    cutis_error error;
    double sum = 0;
    long count = 0;
    float *joints = ARENA_ARRAY(&memory, float, 12 * (size_t)a->joint_count);
    float *skin = ARENA_ARRAY(&memory, float, 12 * (size_t)a->joint_count), *positions[2];
    for (int k = 0; k < 2; k++) {
        positions[k] = ARENA_ARRAY(&memory, float, 3 * (size_t)n);
        assert_int_equal(skinning_build(&s[k], n, both[k]->positions, both[k]->influence_first,
                                        both[k]->influence_joints, both[k]->influence_weights, both[k]->joint_count,
                                        &memory, &error),
                         CUTIS_OK);
    }
    float *scratch = ARENA_ARRAY(&memory, float, skinning_scratch_count(&s[0]));
    for (int c = 0; c < a->clip_count; c++)
        for (int frame = 0; frame < frames; frame++) {
            double time = a->clips[c].start + (a->clips[c].end - a->clips[c].start) * frame / (frames - 1.0);
            cutis_pose_sample(a, c, time, joints);
            skin_matrices(a, joints, skin);
            for (int k = 0; k < 2; k++) skinning_linear(&s[k], skin, scratch, NULL, positions[k]);
            for (int v = 0; v < n; v++, count++) {
                double square = 0;
                for (int k = 0; k < 3; k++)
                    square += ((double)positions[0][3 * v + k] - positions[1][3 * v + k]) *
                              ((double)positions[0][3 * v + k] - positions[1][3 * v + k]);
                sum += sqrt(square);
            }
        }
    arena_destroy(&memory);
    return sum / (double)count / a->size;
}

static void heat_comes_near_makehuman_weights(void **state)
{
    static const char *const files[] = {"makehuman-cmu-average/mh_average.glb", "makehuman-cmu-heavy/mh_heavy.glb"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *path = test_model(files[i]);
        cutis_character *character;
        cutis_rig *rig;
        cutis_error error;
        cutis_rig_def def = cutis_rig_def_default();
        if (!path) skip();
        assert_int_equal(cutis_character_load(path, NULL, &character, &error), CUTIS_OK);
        def.character = character;
        assert_int_equal(cutis_rig_bind(&def, &rig, &error), CUTIS_OK);
        double mean = clips_compare(character, rig->character, 40);
        print_message("%s: %d vertices, %d joints, %d clips: weights in %.0f ms, mean error %.2f %% of the size\n",
                      files[i], character->vertex_count, character->joint_count, character->clip_count, rig->weight_ms,
                      100 * mean);
        assert_true(character->clip_count > 0);
        assert_true(mean < 0.02);
        cutis_rig_destroy(rig);
        cutis_character_destroy(character);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makehuman_and_webxr_joints_are_within_five_percent),
        cmocka_unit_test(bodies_never_seen_get_the_right_template),
        cmocka_unit_test(heat_comes_near_makehuman_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
