/*
 * test_rig.c: automatic weights and skeletons: sums, coverage, accuracy against hand-made rigs, and every failure that
 * bone heat alone would have.
 */
#define _DEFAULT_SOURCE /* mkstemps */
#include "testing.h"

#include <unistd.h>

#include "character/skinning.h"
#include "rig/skeleton_template.h"

static void assert_full_weights(const cutis_character *c)
{
    for (int v = 0; v < c->vertex_count; v++) {
        double sum = 0;
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            assert_true(c->influence_weights[i] >= 0);
            sum += c->influence_weights[i];
        }
        assert_true(fabs(sum - 1) < 1e-5);
    }
}

static cutis_rig *bind(const cutis_character *character, cutis_rig_method method)
{
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig *rig = NULL;
    cutis_error error;
    def.character = character;
    def.method = method;
    if (cutis_rig_bind(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
    assert_full_weights(rig->character);
    return rig;
}

/* Mean distance over all clips of the two characters' linear-blend vertices, over the size. */
static double clip_error(const cutis_character *a, const cutis_character *b)
{
    int n = a->vertex_count;
    float *joints = malloc((size_t)a->joint_count * 12 * sizeof *joints);
    float *skin = malloc((size_t)a->joint_count * 12 * sizeof *joints);
    float *pa = malloc(3 * (size_t)n * sizeof *pa), *pb = malloc(3 * (size_t)n * sizeof *pb);
    arena memory = arena_create(NULL);
    skinning sa, sb;
    cutis_error error;
    double sum = 0;
    long count = 0;
    assert_int_equal(skinning_build(&sa, n, a->positions, a->influence_first, a->influence_joints, a->influence_weights,
                                    a->joint_count, &memory, &error),
                     CUTIS_OK);
    assert_int_equal(skinning_build(&sb, n, b->positions, b->influence_first, b->influence_joints, b->influence_weights,
                                    b->joint_count, &memory, &error),
                     CUTIS_OK);
    float *scratch = malloc(skinning_scratch_count(&sa) * sizeof *scratch);
    for (int c = 0; c < a->clip_count; c++)
        for (int frame = 0; frame <= 10; frame++) {
            double time = a->clips[c].start + (a->clips[c].end - a->clips[c].start) * frame / 10.0;
            cutis_pose_sample(a, c, time, joints);
            skin_matrices(a, joints, skin);
            skinning_linear(&sa, skin, scratch, NULL, pa);
            skinning_linear(&sb, skin, scratch, NULL, pb);
            for (int v = 0; v < n; v++, count++) {
                double d2 = 0;
                for (int k = 0; k < 3; k++) d2 += (pa[3 * v + k] - pb[3 * v + k]) * (pa[3 * v + k] - pb[3 * v + k]);
                sum += sqrt(d2);
            }
        }
    arena_destroy(&memory);
    free(joints), free(skin), free(pa), free(pb), free(scratch);
    return sum / (double)count / a->size;
}

static void heat_comes_near_hand_made_weights(void **state)
{
    static const char *const names[] = {"arm", "man", "hand", "cat", "dancer"};
    (void)state;
    test_is_heavy();
    for (int i = 0; i < 5; i++) {
        cutis_character *character = test_zoo(names[i], 1);
        cutis_rig *rig = bind(character, CUTIS_RIG_AUTO);
        double error = clip_error(character, rig->character);
        print_message("%-12s heat weights %6.1f ms, mean error %.2f %% of the size\n", names[i], rig->weight_ms,
                      100 * error);
        assert_true(error < 0.02);
        cutis_rig_destroy(rig);
        cutis_character_destroy(character);
    }
}

static void voxels_alone_weigh_everything(void **state)
{
    (void)state;
    cutis_character *character = test_zoo("man", 1);
    cutis_rig *rig = bind(character, CUTIS_RIG_VOXEL);
    double error = clip_error(character, rig->character);
    print_message("man: voxel weights %.1f ms, mean error %.2f %% of the size\n", rig->weight_ms, 100 * error);
    assert_int_equal(rig->heat_points, 0);
    assert_true(error < 0.03);
    cutis_rig_destroy(rig);
    cutis_character_destroy(character);
}

/* Mean distance of the joints that both characters name alike, over the longest side; each is printed. */
static double joint_error(const cutis_character *a, const cutis_character *b)
{
    double sum = 0, longest = 0;
    int found = 0;
    float *pa = malloc(12 * (size_t)a->joint_count * sizeof *pa),
          *pb = malloc(12 * (size_t)b->joint_count * sizeof *pb);
    for (int k = 0; k < 3; k++) longest = fmax(longest, b->bounds_max[k] - b->bounds_min[k]);
    cutis_pose_rest(a, pa);
    cutis_pose_rest(b, pb);
    for (int j = 0; j < a->joint_count; j++) {
        int other = cutis_character_find_joint(b, a->joints[j].name);
        if (other < 0) continue;
        double square = 0;
        for (int k = 0; k < 3; k++) {
            double d = pa[12 * j + 4 * k + 3] - pb[12 * other + 4 * k + 3];
            square += d * d;
        }
        print_message("  %-14s %5.2f %%\n", a->joints[j].name, 100 * sqrt(square) / longest);
        sum += sqrt(square);
        found++;
    }
    free(pa), free(pb);
    assert_int_equal(found, b->joint_count);
    return sum / found / longest;
}

static cutis_rig *create(const cutis_character *character, const cutis_allocator *allocator)
{
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig *rig = NULL;
    cutis_error error;
    def.character = character;
    def.allocator = allocator;
    if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
    assert_full_weights(rig->character);
    return rig;
}

static void zoo_skeletons_are_found_within_three_percent(void **state)
{
    static const char *const names[][2] = {
        {"man", "biped"}, {"dancer", "biped"}, {"cat", "quadruped"}, {"hand", "hand"}};
    (void)state;
    test_is_heavy();
    for (int i = 0; i < 4; i++) {
        cutis_character *character = test_zoo(names[i][0], 1);
        cutis_rig *rig = create(character, NULL);
        double error = joint_error(rig->character, character);
        print_message("%-8s %-10s joints %.2f %% of the height\n", names[i][0], rig->skeleton, 100 * error);
        assert_string_equal(rig->skeleton, names[i][1]);
        assert_true(error < 0.03);
        cutis_rig_destroy(rig);
        cutis_character_destroy(character);
    }
}

static void skeletons_of_symmetric_bodies_are_symmetric(void **state)
{
    (void)state;
    cutis_character *character = test_zoo("man", 1);
    cutis_rig *rig = create(character, NULL);
    const cutis_character *c = rig->character;
    int l = cutis_character_find_joint(c, "forearm_l"), r = cutis_character_find_joint(c, "forearm_r");
    float middle = 0.5f * (character->bounds_min[0] + character->bounds_max[0]);
    assert_true(l >= 0 && r >= 0);
    assert_true(-c->joints[l].inverse_bind[3] > middle); /* the zoo faces +Z, so that left is +X */
    assert_true(fabsf(c->joints[l].inverse_bind[3] + c->joints[r].inverse_bind[3] + 2 * middle) < 1e-5f);
    assert_true(fabsf(c->joints[l].inverse_bind[7] - c->joints[r].inverse_bind[7]) < 1e-6f);
    cutis_rig_destroy(rig);
    cutis_character_destroy(character);
}

static void landmarks_and_templates_are_obeyed(void **state)
{
    (void)state;
    cutis_character *character = test_zoo("man", 1);
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig_landmark landmark = {"head", {0.01f, 1.6f, 0.02f}};
    cutis_rig *rig;
    cutis_error error;
    def.character = character;
    def.landmarks = &landmark;
    def.landmark_count = 1;
    assert_int_equal(cutis_rig_create(&def, &rig, &error), CUTIS_OK);
    int head = cutis_character_find_joint(rig->character, "head");
    assert_true(fabsf(rig->character->joints[head].inverse_bind[7] + 1.6f) < 1e-5f);
    cutis_rig_destroy(rig);
    landmark.name = "haed";
    assert_int_equal(cutis_rig_create(&def, &rig, &error), CUTIS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "'head'"));
    def.landmark_count = 0;
    def.skeleton = "bipd";
    assert_int_equal(cutis_rig_create(&def, &rig, &error), CUTIS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "'biped'"));
    def.skeleton = "quadruped";
    assert_int_equal(cutis_rig_create(&def, &rig, &error), CUTIS_ERROR_DATA);
    def.skeleton = "chain";
    assert_int_equal(cutis_rig_create(&def, &rig, &error), CUTIS_OK);
    assert_full_weights(rig->character);
    cutis_rig_destroy(rig);
    cutis_character_destroy(character);
}

static bool says(const cutis_rig *rig, const char *what)
{
    for (int i = 0; i < rig->sentence_count; i++)
        if (strstr(rig->sentences[i], what)) return true;
    return false;
}

/* The man cut into triangles, so that the solid is used, with two eyes: closed parts of their own before the face. */
static cutis_character *man_with_eyes(const cutis_character *man)
{
    static const float corners[4][3] = {{-1, -1, -1}, {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}};
    static const int faces[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
    int head = cutis_character_find_joint(man, "head");
    int n = man->vertex_count, t = man->triangle_count;
    float *positions = malloc(3 * sizeof *positions * (size_t)(n + 8));
    int *triangles = malloc(3 * sizeof *triangles * (size_t)(t + 8));
    int *first = malloc(sizeof *first * (size_t)(t + 9));
    assert_true(positions && triangles && first && head >= 0);
    memcpy(positions, man->positions, 3 * sizeof *positions * (size_t)n);
    memcpy(triangles, man->triangles, 3 * sizeof *triangles * (size_t)t);

    for (int eye = 0; eye < 2; eye++)
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) {
                float middle = -man->joints[head].inverse_bind[4 * k + 3] + (k == 0 ? (eye ? 0.03f : -0.03f) : 0.05f);
                positions[3 * (n + 4 * eye + i) + k] = middle + 0.012f * corners[i][k];
                triangles[3 * (t + 4 * eye + i) + k] = n + 4 * eye + faces[i][k];
            }
    for (int i = 0; i <= t + 8; i++) first[i] = 3 * i;

    cutis_character given = {.name = "man with eyes", .vertex_count = n + 8, .positions = positions};
    cutis_character *made = NULL;
    given.face_count = t + 8;
    given.face_first = first;
    given.corners = triangles;
    assert_int_equal(cutis_character_create(&given, NULL, &made, NULL), CUTIS_OK);
    free(positions);
    free(triangles);
    free(first);
    return made;
}

/* Parts of their own, such as eyes, do not cost the fingers: each hand is found by itself. */
static void test_fingers_are_found_on_a_body_of_several_parts(void **state)
{
    (void)state;
    cutis_character *man = test_zoo("man", 1), *body = man_with_eyes(man);
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig *rig;
    def.character = body;
    def.y_up = true;
    assert_int_equal(cutis_rig_create(&def, &rig, NULL), CUTIS_OK);
    double height = (double)(man->bounds_max[1] - man->bounds_min[1]), sum = 0;
    int count = 0;
    for (int j = 0; j < man->joint_count; j++) {
        static const char *const FINGERS[] = {"thumb", "index", "middle", "ring", "pinky"};
        for (int k = 0; k < 5; k++) {
            if (strncmp(man->joints[j].name, FINGERS[k], strlen(FINGERS[k])) != 0) continue;
            int own = cutis_character_find_joint(rig->character, man->joints[j].name);
            assert_true(own >= 0);
            vec3 a = joint_bind_place(&man->joints[j]), b = joint_bind_place(&rig->character->joints[own]);
            sum += 100 * (double)vec3_distance(a, b) / height;
            count++;
        }
    }
    print_message("%d finger joints, %.2f %% of the height in the mean\n", count, sum / count);
    assert_int_equal(count, 30);
    assert_true(sum / count < 1.5);
    cutis_rig_destroy(rig);
    cutis_character_destroy(body);
    cutis_character_destroy(man);
}

/* The tip of a short little finger is nearer to the thumb's than that of the ring finger: the row decides. */
static void test_fingers_are_in_the_order_of_their_row(void **state)
{
    (void)state;
    /* thumb, index, middle, ring, pinky; shuffled for the search, the wrist at the origin */
    static const float tips[5][3] = {{4, 7, 0}, {2, 13, 0}, {0.5f, 14, 0}, {-1, 13.5f, 0}, {-2, 9, 0}};
    static const int shuffled[5] = {3, 1, 4, 0, 2};
    const float to_ring = (float)hypot(5, 6.5), to_pinky = (float)hypot(6, 2);
    assert_true(to_pinky < to_ring);
    limbs *f = calloc(1, sizeof *f);
    assert_non_null(f);
    finger_set set = {.count = 5};
    for (int i = 0; i < 5; i++) {
        f->all[i].tip = i;
        set.limbs[i] = shuffled[i];
    }
    mesh m = {.point_count = 5, .positions = tips[0]};
    posture b = {.m = &m, .f = f};
    fingers_order(&b, &set, (vec3){0, 0, 0});
    for (int i = 0; i < 5; i++) assert_int_equal(set.limbs[i], i);
    free(f);
}

/* Which axis is up is a field of the result; y_up leaves the other one out. */
static void test_the_up_axis_is_reported_and_can_be_pinned(void **state)
{
    (void)state;
    cutis_character *man = test_zoo("man", 0.3), *lying;
    float *positions = malloc(3 * sizeof *positions * (size_t)man->vertex_count);
    assert_non_null(positions);
    for (int v = 0; v < man->vertex_count; v++) {
        positions[3 * v] = man->positions[3 * v];
        positions[3 * v + 1] = -man->positions[3 * v + 2];
        positions[3 * v + 2] = man->positions[3 * v + 1];
    }
    cutis_character given = *man;
    given.positions = positions;
    assert_int_equal(cutis_character_create(&given, NULL, &lying, NULL), CUTIS_OK);

    cutis_rig_def def = cutis_rig_def_default();
    def.character = lying;
    def.skeleton = "biped";
    for (int pinned = 0; pinned < 2; pinned++) {
        cutis_rig *rig;
        def.y_up = pinned;
        assert_int_equal(cutis_rig_create(&def, &rig, NULL), CUTIS_OK);
        assert_int_equal(rig->z_up, !pinned);
        assert_int_equal(says(rig, "+Z points up"), !pinned);
        assert_int_equal(rig->recognised, !pinned); /* a man on his back is no good biped that stands */
        cutis_rig_destroy(rig);
    }
    free(positions);
    cutis_character_destroy(lying);
    cutis_character_destroy(man);
}

/* The man with a hole in the back, a stray tetrahedron, and a triangle that joins his two legs. */
static cutis_character *broken_man(const cutis_character *man)
{
    cutis_character given = *man, *broken;
    cutis_error error;
    int n = man->vertex_count, faces = 0, corners = 0;
    float *positions = malloc(3 * (size_t)(n + 4) * sizeof *positions);
    int *face_first = malloc((size_t)(man->face_count + 8) * sizeof *face_first);
    int *all = malloc((size_t)(man->corner_count + 32) * sizeof *all), left = -1, right = -1;
    memcpy(positions, man->positions, 3 * (size_t)n * sizeof *positions);
    for (int k = 0; k < 4; k++) {
        positions[3 * (n + k)] = 0.5f + (k == 1 ? 0.01f : 0);
        positions[3 * (n + k) + 1] = 1.3f + (k == 2 ? 0.01f : 0);
        positions[3 * (n + k) + 2] = k == 3 ? 0.01f : 0;
    }
    for (int f = 0; f < man->face_count; f++) {
        const int *c = man->corners + man->face_first[f];
        const float *p = man->positions + 3 * c[0];
        if (fabsf(p[0]) < 0.05f && fabsf(p[1] - 1.2f) < 0.05f && p[2] < 0) continue; /* the hole */
        if (left < 0 && p[0] > 0.05f && fabsf(p[1] - 0.4f) < 0.02f) left = f;
        if (right < 0 && p[0] < -0.05f && fabsf(p[1] - 0.4f) < 0.02f) right = f;
        face_first[faces++] = corners;
        for (int k = 0; k < 4; k++) all[corners++] = c[k];
    }
    assert_true(left >= 0 && right >= 0 && faces < man->face_count);
    static const int tetrahedron[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    for (int f = 0; f < 4; f++) {
        face_first[faces++] = corners;
        for (int k = 0; k < 3; k++) all[corners++] = n + tetrahedron[f][k];
    }
    const int *a = man->corners + man->face_first[left], *b = man->corners + man->face_first[right];
    face_first[faces++] = corners;
    all[corners++] = a[0], all[corners++] = a[1], all[corners++] = b[0];
    face_first[faces] = corners;
    given.positions = positions;
    given.vertex_count = n + 4;
    given.face_count = faces;
    given.face_first = face_first;
    given.corners = all;
    given.texcoords = NULL;
    given.influence_first = NULL;
    given.part_count = given.map_count = given.morph_count = 0;
    if (cutis_character_create(&given, NULL, &broken, &error) != CUTIS_OK) fail_msg("%s", error.text);
    free(positions), free(face_first), free(all);
    return broken;
}

static void broken_meshes_get_full_weights_and_sentences(void **state)
{
    (void)state;
    cutis_character *man = test_zoo("man", 1), *broken = broken_man(man);
    for (int method = 0; method < 3; method++) {
        cutis_rig *rig = bind(broken, (cutis_rig_method)method);
        assert_true(says(rig, "holes"));
        assert_true(says(rig, "three or more triangles"));
        assert_true(says(rig, "loose pieces"));
        if (method == 0)
            for (int i = 0; i < rig->sentence_count; i++) print_message("  %s\n", rig->sentences[i]);
        /* The island moves as one, with the arm that it floats at. */
        const cutis_character *c = rig->character;
        int v = broken->vertex_count - 4, first = c->influence_first[v];
        assert_non_null(strstr(c->joints[c->influence_joints[first]].name, "_l"));
        for (int k = 1; k < 4; k++)
            assert_int_equal(c->influence_joints[c->influence_first[v + k]], c->influence_joints[first]);
        /* The legs touch, but neither follows the other. */
        int legs = 0;
        double astray = 0;
        for (int p = 0; p < man->vertex_count; p++) {
            if (fabsf(man->positions[3 * p]) < 0.03f || fabsf(man->positions[3 * p + 1] - 0.4f) > 0.05f) continue;
            const char *other = man->positions[3 * p] > 0 ? "_r" : "_l";
            legs++;
            for (int i = c->influence_first[p]; i < c->influence_first[p + 1]; i++)
                if (strstr(c->joints[c->influence_joints[i]].name, other)) astray += (double)c->influence_weights[i];
        }
        print_message("method %d: %.2f %% of the weights of %d points of the legs are the other leg's\n", method,
                      100 * astray / legs, legs);
        assert_true(legs > 100 && astray < 0.02 * legs);
        cutis_rig_destroy(rig);
    }
    cutis_character_destroy(broken);
    cutis_character_destroy(man);
}

/* A cylinder has no limbs to see: four landmarks lay a person through it, and hold. One on the surface goes inside. */
static void landmarks_lay_a_body_where_no_limbs_are_seen(void **state)
{
    (void)state;
    cutis_character *cylinder = test_zoo("cylinder", 1);
    const float *low = cylinder->bounds_min;
    const float *high = cylinder->bounds_max;
    double height = (double)high[1] - low[1];
    float middle[2] = {0.5f * (low[0] + high[0]), 0.5f * (low[2] + high[2])};
    cutis_rig_landmark landmarks[4] = {{"hips", {middle[0], (float)(low[1] + 0.5 * height), middle[1]}},
                                       {"head", {middle[0], (float)(low[1] + 0.9 * height), middle[1]}},
                                       {"foot_l", {high[0], (float)(low[1] + 0.05 * height), middle[1]}},
                                       {"foot_r", {low[0], (float)(low[1] + 0.05 * height), middle[1]}}};
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig *rig = NULL;
    cutis_error error;
    def.character = cylinder;
    def.skeleton = "biped";
    def.landmarks = landmarks;
    def.landmark_count = 4;
    if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
    const cutis_character *c = rig->character;
    int hips = cutis_character_find_joint(c, "hips");
    int neck = cutis_character_find_joint(c, "neck");
    int foot = cutis_character_find_joint(c, "foot_l");
    assert_true(neck >= 0 && foot >= 0 && c->joint_count == 21);
    assert_true(fabsf(c->joints[hips].inverse_bind[7] + landmarks[0].position[1]) < 1e-4f * c->size);
    assert_true(-c->joints[neck].inverse_bind[7] > landmarks[0].position[1]);
    assert_true(-c->joints[foot].inverse_bind[3] < high[0] - 0.01f * c->size);
    cutis_rig_destroy(rig);
    cutis_character_destroy(cylinder);
}

/* The man's skeleton in the dancer: its names and joints, in the dancer's places. */
static void a_foreign_skeleton_is_fitted(void **state)
{
    (void)state;
    cutis_character *man = test_zoo("man", 1);
    cutis_character *dancer = test_zoo("dancer", 1);
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig *rig = NULL;
    cutis_error error;
    def.character = dancer;
    def.pattern = man;
    if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
    const cutis_character *c = rig->character;
    assert_int_equal(c->joint_count, man->joint_count);
    double worst = 0;
    double height = (double)dancer->bounds_max[1] - dancer->bounds_min[1];
    float *made = malloc(12 * (size_t)c->joint_count * sizeof *made);
    float *truth = malloc(12 * (size_t)dancer->joint_count * sizeof *truth);
    cutis_pose_rest(c, made);
    cutis_pose_rest(dancer, truth);
    for (int j = 0; j < c->joint_count; j++) {
        assert_string_equal(c->joints[j].name, man->joints[j].name);
        int k = cutis_character_find_joint(dancer, c->joints[j].name);
        double square = 0;
        for (int i = 0; i < 3 && k >= 0; i++)
            square += pow((double)made[12 * j + 4 * i + 3] - truth[12 * k + 4 * i + 3], 2);
        worst = fmax(worst, sqrt(square) / height);
    }
    print_message("the man's skeleton in the dancer: worst joint %.2f %% of the height\n", 100 * worst);
    assert_true(worst < 0.06);
    free(made);
    free(truth);
    cutis_rig_destroy(rig);

    /* a skeleton that shares no part is refused with a sentence */
    cutis_character *bar = test_zoo("torus", 1);
    def.pattern = bar;
    assert_int_not_equal(cutis_rig_create(&def, &rig, &error), CUTIS_OK);
    cutis_character_destroy(bar);
    cutis_character_destroy(man);
    cutis_character_destroy(dancer);
}

static bool rig_small(void *context, const cutis_allocator *allocator)
{
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig *rig = NULL;
    cutis_error error;
    def.character = context;
    def.allocator = allocator;
    def.voxel_resolution = 16;
    bool made = cutis_rig_create(&def, &rig, &error) == CUTIS_OK;
    cutis_rig_destroy(rig);
    if (made) {
        def.method = CUTIS_RIG_VOXEL;
        made = cutis_rig_create(&def, &rig, &error) == CUTIS_OK;
        cutis_rig_destroy(rig);
    }
    return made;
}

static void rigging_survives_every_failed_allocation(void **state)
{
    (void)state;
    cutis_character *arm = test_zoo("arm", 0.15);
    print_message("%ld allocations\n", test_every_allocation(rig_small, arm));
    cutis_character_destroy(arm);
}

static void threads_do_not_change_a_rig(void **state)
{
    (void)state;
    cutis_character *cat = test_zoo("cat", 1);
    cutis_rig_def def = cutis_rig_def_default();
    cutis_rig *a, *b;
    cutis_error error;
    def.character = cat;
    assert_int_equal(cutis_rig_create(&def, &a, &error), CUTIS_OK);
    def.jobs = &test_jobs_backward;
    assert_int_equal(cutis_rig_create(&def, &b, &error), CUTIS_OK);
    const cutis_character *x = a->character, *y = b->character;
    int n = x->influence_first[x->vertex_count];
    assert_int_equal(n, y->influence_first[y->vertex_count]);
    assert_memory_equal(x->influence_joints, y->influence_joints, (size_t)n * sizeof(int));
    assert_memory_equal(x->influence_weights, y->influence_weights, (size_t)n * sizeof(float));
    cutis_rig_destroy(a);
    cutis_rig_destroy(b);
    cutis_character_destroy(cat);
}

static void rigging_a_gltf_file_keeps_all_else(void **state)
{
    const char *source = test_model("khronos-Fox/Fox.glb");
    char path[] = "/tmp/cutis_rig_XXXXXX.glb";
    cutis_character *fox, *again;
    cutis_error error;
    (void)state;
    if (!source) skip();
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(cutis_character_load(source, NULL, &fox, &error), CUTIS_OK);
    cutis_rig *rig = create(fox, NULL);
    assert_string_equal(rig->skeleton, "quadruped");
    if (cutis_character_save_rig(rig->character, source, path, &error) != CUTIS_OK) fail_msg("%s", error.text);
    assert_int_equal(cutis_character_load(path, NULL, &again, &error), CUTIS_OK);
    const cutis_character *c = rig->character;
    assert_int_equal(again->vertex_count, fox->vertex_count);
    assert_int_equal(again->joint_count, c->joint_count);
    assert_string_equal(again->parts[0].material, fox->parts[0].material);
    assert_int_equal(again->corner_count, fox->corner_count);
    assert_memory_equal(again->corners, fox->corners, (size_t)fox->corner_count * sizeof(int));
    assert_memory_equal(again->texcoords, fox->texcoords, 2 * (size_t)fox->corner_count * sizeof(float));
    for (int i = 0; i < 3 * fox->vertex_count; i++)
        assert_true(fabsf(again->positions[i] - fox->positions[i]) < 1e-5f * fox->size);
    for (int v = 0; v < fox->vertex_count; v++)
        assert_int_equal(again->influence_first[v + 1], c->influence_first[v + 1]);
    cutis_character_destroy(again);
    cutis_rig_destroy(rig);
    cutis_character_destroy(fox);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingers_are_found_on_a_body_of_several_parts),
        cmocka_unit_test(test_fingers_are_in_the_order_of_their_row),
        cmocka_unit_test(test_the_up_axis_is_reported_and_can_be_pinned),
        cmocka_unit_test(heat_comes_near_hand_made_weights),
        cmocka_unit_test(landmarks_lay_a_body_where_no_limbs_are_seen),
        cmocka_unit_test(a_foreign_skeleton_is_fitted),
        cmocka_unit_test(voxels_alone_weigh_everything),
        cmocka_unit_test(zoo_skeletons_are_found_within_three_percent),
        cmocka_unit_test(skeletons_of_symmetric_bodies_are_symmetric),
        cmocka_unit_test(landmarks_and_templates_are_obeyed),
        cmocka_unit_test(broken_meshes_get_full_weights_and_sentences),
        cmocka_unit_test(rigging_survives_every_failed_allocation),
        cmocka_unit_test(threads_do_not_change_a_rig),
        cmocka_unit_test(rigging_a_gltf_file_keeps_all_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
