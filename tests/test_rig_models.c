/*
 * test_rig_models.c: skeletons and weights found for bodies from elsewhere, beside the rigs that people made for them.
 */
#include "testing.h"

#include "character/skinning.h"

/* Our joints that are compared; $ stands for both sides. */
#define ARMS "upper_arm_$", "forearm_$", "hand_$"
#define LEGS "thigh_$", "shin_$", "foot_$"
static const char *const HUMAN[] = {"neck", ARMS, LEGS, NULL};
static const char *const ANIMAL[] = {"hips", "head", "tail_1", ARMS, LEGS, NULL};
static const char *const FOX[] = {"hips", "neck", "head", "tail_1", ARMS, LEGS, NULL};
static const char *const HAND[] = {"hand",    "thumb_1",  "thumb_2",  "thumb_3",  "index_1", "index_2",
                                   "index_3", "middle_1", "middle_2", "middle_3", "ring_1",  "ring_2",
                                   "ring_3",  "pinky_1",  "pinky_2",  "pinky_3",  NULL};

static void joint_place(const cutis_character *c, int joint, float place[3])
{
    float *pose = malloc(12 * (size_t)c->joint_count * sizeof *pose);
    cutis_pose_rest(c, pose);
    for (int k = 0; k < 3; k++) place[k] = pose[12 * joint + 4 * k + 3];
    free(pose);
}

/* Prints a line for each joint; returns the mean over the longest side. */
static double joints_compare(const cutis_character *found, const cutis_character *made, const char *const *names)
{
    double sum = 0, longest = 0;
    int compared = 0, *matches = malloc((size_t)found->joint_count * sizeof *matches);
    assert_int_equal(cutis_character_match_joints(found, made, matches, NULL), CUTIS_OK);
    for (int k = 0; k < 3; k++) longest = fmax(longest, made->bounds_max[k] - made->bounds_min[k]);
    for (; *names; names++)
        for (int side = 0; side < (strchr(*names, '$') ? 2 : 1); side++) {
            char name[64];
            snprintf(name, sizeof name, "%s", *names);
            if (strchr(name, '$')) *strchr(name, '$') = side ? 'r' : 'l';
            int a = cutis_character_find_joint(found, name), b = a < 0 ? -1 : matches[a];
            if (a < 0 || b < 0) fail_msg("%s is missing", name);
            float pa[3], pb[3];
            double square = 0;
            joint_place(found, a, pa);
            joint_place(made, b, pb);
            for (int k = 0; k < 3; k++) square += (pa[k] - pb[k]) * (pa[k] - pb[k]);
            print_message("  %-14s %-36s %5.2f %%\n", name, made->joints[b].name, 100 * sqrt(square) / longest);
            sum += sqrt(square) / longest;
            compared++;
        }
    free(matches);
    return sum / compared;
}

typedef struct body {
    const char *mesh, *rig, *skeleton;
    const char *const *joints;
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
        double mean = joints_compare(rig->character, made, bodies[i].joints);
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
        {"makehuman-cmu-average/mh_average-body-quads.obj", "makehuman-cmu-average/mh_average.glb", "biped", HUMAN,
         0.05},
        {"makehuman-cmu-heavy/mh_heavy-body-quads.obj", "makehuman-cmu-heavy/mh_heavy.glb", "biped", HUMAN, 0.05},
        {"webxr-generic-hand/left.glb", "webxr-generic-hand/left.glb", "hand", HAND, 0.05},
        {"webxr-generic-hand/right.glb", "webxr-generic-hand/right.glb", "hand", HAND, 0.05},
    };
    (void)state;
    bodies_check(bodies, COUNT_OF(bodies));
}

/* Templates and scores were tuned with these among others. */
static void bodies_never_seen_are_within_five_percent(void **state)
{
    static const body bodies[] = {
        {"khronos-CesiumMan/CesiumMan.glb", "khronos-CesiumMan/CesiumMan.glb", "biped", HUMAN, 0.05},
        {"khronos-Fox/Fox.glb", "khronos-Fox/Fox.glb", "quadruped", FOX, 0.05},
        {"mesh2motion-horse/horse.glb", "mesh2motion-horse/horse.glb", "quadruped", ANIMAL, 0.05},
        {"mesh2motion-kaiju/kaiju.glb", "mesh2motion-kaiju/kaiju.glb", "biped", ANIMAL, 0.05},
    };
    (void)state;
    bodies_check(bodies, COUNT_OF(bodies));
}

/* The same cow as a cage of 188 points, as 2,930 points in quads, and in triangles. */
static void a_cow_is_a_quadruped_at_any_resolution(void **state)
{
    static const char *const files[] = {"spot_control_mesh", "spot_quadrangulated", "spot_triangulated"};
    (void)state;
    for (int i = 0; i < COUNT_OF(files); i++) {
        char name[128];
        snprintf(name, sizeof name, "crane-spot/spot/%s.obj", files[i]);
        const char *path = test_model(name);
        cutis_character *c;
        cutis_rig *rig;
        cutis_error error;
        cutis_rig_def def = cutis_rig_def_default();
        if (!path) skip();
        if (cutis_character_load(path, NULL, &c, &error) != CUTIS_OK) fail_msg("%s", error.text);
        def.character = c;
        if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
        print_message("%s: template %s\n", files[i], rig->skeleton);
        assert_string_equal(rig->skeleton, "quadruped");
        /* The head is in front of the hips and above the feet. */
        float hips[3], head[3], foot[3];
        joint_place(rig->character, cutis_character_find_joint(rig->character, "hips"), hips);
        joint_place(rig->character, cutis_character_find_joint(rig->character, "head"), head);
        joint_place(rig->character, cutis_character_find_joint(rig->character, "foot_l"), foot);
        assert_true(head[2] < hips[2] - 0.2f * c->size && head[1] > foot[1] + 0.1f * c->size);
        cutis_rig_destroy(rig);
        cutis_character_destroy(c);
    }
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

/* Shares of the weight of one part's vertices that arms hold. */
static double arms_share(const cutis_character *c, const cutis_part *part)
{
    double sum = 0;
    int count = 0;
    for (int v = part->first_vertex; v < part->first_vertex + part->vertex_count; v++, count++)
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            const char *name = c->joints[c->influence_joints[i]].name;
            if (strstr(name, "arm_") || strstr(name, "hand_")) sum += c->influence_weights[i];
        }
    return sum / count;
}

static void what_a_thick_head_wears_does_not_follow_the_arms(void **state)
{
    (void)state;
    static const char *const files[] = {"rigs/kaykit-knight/Knight-body.glb", "rigs/kaykit-mage/Mage-body.glb"};
    static const char *const parts[] = {"Head", "Helmet", "Hat"};
    for (int i = 0; i < COUNT_OF(files); i++) {
        const char *path = test_model(files[i]);
        if (!path) skip();
        cutis_character *character;
        cutis_rig *rig;
        cutis_error error;
        cutis_rig_def def = cutis_rig_def_default();
        if (cutis_character_load(path, NULL, &character, &error) != CUTIS_OK) fail_msg("%s", error.text);
        def.character = character;
        if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);

        /* ears in the helmet are of the head's mesh */
        int looked = 0;
        for (int p = 0; p < character->part_count; p++)
            for (int k = 0; k < COUNT_OF(parts); k++) {
                if (!strstr(character->parts[p].name, parts[k])) continue;
                double share = arms_share(rig->character, &character->parts[p]);
                print_message("%s: arms hold %.1f %%\n", character->parts[p].name, 100 * share);
                assert_true(share < 0.01);
                looked++;
            }
        assert_int_equal(looked, 2);
        cutis_rig_destroy(rig);
        cutis_character_destroy(character);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makehuman_and_webxr_joints_are_within_five_percent),
        cmocka_unit_test(bodies_never_seen_are_within_five_percent),
        cmocka_unit_test(a_cow_is_a_quadruped_at_any_resolution),
        cmocka_unit_test(heat_comes_near_makehuman_weights),
        cmocka_unit_test(what_a_thick_head_wears_does_not_follow_the_arms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
