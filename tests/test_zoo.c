/*
 * test_zoo.c: the built-in characters are what zoo.h and the issue promise.
 */
#include "testing.h"

#include "base/core.h"
#include "math/math3.h"
#include "mesh/mesh.h"

typedef struct promise {
    const char *name;
    int vertices;         /* at resolution 1; 0: not promised */
    const char *clips[4]; /* NULL after the last */
    const char *joints[12];
} promise;

static const promise promises[] = {
    {"arm", 2900, {"flex", "twist", "shake"}, {"shoulder", "upper_arm", "forearm", "hand"}},
    {"hand",
     5400,
     {"fist", "spread", "grasp"},
     {"hand", "thumb_1", "thumb_3", "index_1", "middle_2", "ring_3", "pinky_1", "pinky_3"}},
    {"man",
     8600,
     {"walk", "jump", "shimmy"},
     {"hips", "spine", "chest", "neck", "head", "shoulder_l", "upper_arm_r", "forearm_l", "hand_r", "thigh_l", "shin_r",
      "toe_l"}},
    {"cat",
     7200,
     {"walk", "stretch"},
     {"hips", "spine", "chest", "head", "tail_1", "tail_5", "upper_arm_l", "hand_r", "thigh_l", "shin_r", "foot_l",
      "ear_r"}},
    {"dancer",
     13200,
     {"walk", "jump", "shimmy"},
     {"hips", "spine", "chest", "neck", "head", "shoulder_r", "upper_arm_l", "forearm_r", "index_1_l", "thigh_r",
      "foot_l", "toe_r"}},
    {"bunny", 0, {"dance"}, {"hips", "spine", "head", "ear_1_l", "ear_3_r", "forearm_l", "foot_r"}},
    {"torus", 0, {"squash", "shake"}, {"center", "ring_0"}},
    {"cylinder", 0, {"twist"}, {"base", "turn_1"}},
    {"neck", 0, {"look_up", "swallow"}, {"chest", "neck", "head", "larynx"}},
};

/* ---- shape ---- */

static void zoo_lists_all_characters_with_a_summary(void **state)
{
    (void)state;
    assert_int_equal(cutis_zoo_count(), COUNT_OF(promises));
    for (int i = 0; i < COUNT_OF(promises); i++) {
        assert_string_equal(cutis_zoo(i).name, promises[i].name);
        assert_true(strlen(cutis_zoo(i).summary) > 0);
    }
    assert_null(cutis_zoo(-1).name);
    assert_null(cutis_zoo(COUNT_OF(promises)).name);
}

/* What a mesh without a flaw has, and the numbers of the promise. */
static cutis_topology surface_check(const cutis_character *c, double resolution)
{
    cutis_topology t;
    assert_int_equal(cutis_character_topology(c, NULL, &t, NULL), CUTIS_OK);
    print_message("%s at %g: %d vertices, volume %.5f, %d intersections\n", c->name, resolution, c->vertex_count,
                  t.volume, t.self_intersection_count);
    assert_int_equal(t.point_count, c->vertex_count);
    assert_int_equal(t.quad_count, c->face_count);
    assert_int_equal(t.component_count, 1);
    assert_int_equal(t.closed_component_count, 1);
    assert_int_equal(t.boundary_edge_count, 0);
    assert_int_equal(t.nonmanifold_edge_count, 0);
    assert_int_equal(t.nonmanifold_point_count, 0);
    assert_int_equal(t.inconsistent_edge_count, 0);
    assert_int_equal(t.degenerate_triangle_count, 0);
    assert_int_equal(t.self_intersection_count, 0);
    assert_true(t.volume > 0);

    /* Euler: spheres, but for the torus */
    int euler = t.point_count - t.edge_count + t.triangle_count;
    assert_int_equal(euler, strcmp(c->name, "torus") ? 2 : 0);
    return t;
}

static void surfaces_are_closed_manifold_quads_of_one_shape_at_every_resolution(void **state)
{
    (void)state;
    static const double resolutions[] = {0.1, 0.5, 1, 4};
    for (int i = 0; i < COUNT_OF(promises); i++) {
        double volume = 0;
        float size = 0;
        int vertices = 0;
        for (int r = 0; r < COUNT_OF(resolutions); r++) {
            cutis_character *c = test_zoo(promises[i].name, resolutions[r]);
            cutis_topology t = surface_check(c, resolutions[r]);

            /* as many vertices as promised at resolution 1, four times as many at 4, and the same shape */
            if (resolutions[r] == 1) {
                int wanted = promises[i].vertices;
                if (wanted && abs(c->vertex_count - wanted) > wanted / 20)
                    fail_msg("%s has %d vertices instead of %d", c->name, c->vertex_count, wanted);
                volume = t.volume;
                size = c->size;
                vertices = c->vertex_count;
            } else if (resolutions[r] > 1) {
                double ratio = (double)c->vertex_count / vertices;
                if (ratio < 3.7 || ratio > 4.3) fail_msg("%s: resolution 4 has %g times the vertices", c->name, ratio);
                assert_true(fabs(t.volume / volume - 1) < 0.02);
                assert_true(fabsf(c->size / size - 1) < 0.02f);
            }
            cutis_character_destroy(c);
        }
    }
}

static void quads_are_neither_slivers_nor_folded(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(promises); i++) {
        cutis_character *c = test_zoo(promises[i].name, 1);
        int folded = 0;
        for (int f = 0; f < c->face_count; f++) {
            const int *q = c->corners + 4 * f;
            vec3 p[4], n[4], sum = {0, 0, 0};
            for (int k = 0; k < 4; k++) p[k] = vec3_load(c->positions + 3 * q[k]);
            for (int k = 0; k < 4; k++) {
                n[k] = vec3_cross(vec3_sub(p[(k + 1) % 4], p[k]), vec3_sub(p[(k + 3) % 4], p[k]));
                sum = vec3_add(sum, n[k]);
            }
            for (int k = 0; k < 4; k++)
                if (vec3_dot(n[k], sum) <= 0) {
                    folded++;
                    break;
                }
        }
        print_message("%s: %d of %d quads with a corner turned over\n", c->name, folded, c->face_count);
        assert_true(folded <= c->face_count / 500);
        cutis_character_destroy(c);
    }
}

static void texture_coordinates_lie_in_the_square_and_no_face_is_degenerate(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(promises); i++) {
        cutis_character *c = test_zoo(promises[i].name, 1);
        assert_non_null(c->texcoords);
        for (int f = 0; f < c->face_count; f++) {
            double area = 0;
            for (int k = 0; k < 4; k++) {
                const float *a = c->texcoords + 2 * (4 * f + k), *b = c->texcoords + 2 * (4 * f + (k + 1) % 4);
                assert_true(a[0] >= 0 && a[0] <= 1 && a[1] >= 0 && a[1] <= 1);
                area += 0.5 * ((double)a[0] * b[1] - (double)a[1] * b[0]);
            }
            assert_true(fabs(area) > 1e-8);
        }
        cutis_character_destroy(c);
    }
}

/* ---- weights ---- */

static float weight_of(const cutis_character *c, int vertex, int joint)
{
    for (int k = c->influence_first[vertex]; k < c->influence_first[vertex + 1]; k++)
        if (c->influence_joints[k] == joint) return c->influence_weights[k];
    return 0;
}

static void weights_sum_to_one_and_are_smooth(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(promises); i++) {
        cutis_character *c = test_zoo(promises[i].name, 1);
        float steepest = 0;
        for (int v = 0; v < c->vertex_count; v++) {
            int first = c->influence_first[v], last = c->influence_first[v + 1];
            assert_true(last - first >= 1 && last - first <= 6);
            double sum = 0;
            for (int k = first; k < last; k++) {
                assert_true(c->influence_weights[k] > 0);
                sum += c->influence_weights[k];
            }
            assert_true(fabs(sum - 1) < 1e-5);
        }
        for (int f = 0; f < c->face_count; f++)
            for (int k = 0; k < 4; k++) {
                int a = c->corners[4 * f + k], b = c->corners[4 * f + (k + 1) % 4];
                for (int n = c->influence_first[a]; n < c->influence_first[a + 1]; n++) {
                    int joint = c->influence_joints[n];
                    float step = fabsf(weight_of(c, a, joint) - weight_of(c, b, joint));
                    steepest = MAX(steepest, step);
                }
            }
        print_message("%s: largest step of a weight along an edge %.2f\n", c->name, (double)steepest);
        assert_true(steepest < 0.45f);
        cutis_character_destroy(c);
    }
}

static void weights_do_not_leak_from_leg_to_leg(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("man", 1);
    int left = cutis_character_find_joint(c, "thigh_l"), right = cutis_character_find_joint(c, "shin_r");
    for (int v = 0; v < c->vertex_count; v++) {
        float x = c->positions[3 * v], y = c->positions[3 * v + 1];
        if (y > 0.75f) continue;
        if (x < 0) assert_true(weight_of(c, v, left) == 0);
        if (x > 0) assert_true(weight_of(c, v, right) == 0);
    }
    cutis_character_destroy(c);
}

/* ---- skeleton and clips ---- */

static void joints_and_clips_have_the_promised_names(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(promises); i++) {
        cutis_character *c = test_zoo(promises[i].name, 0.1);
        int clips = 0;
        for (; clips < 4 && promises[i].clips[clips]; clips++)
            if (cutis_character_find_clip(c, promises[i].clips[clips]) < 0)
                fail_msg("%s has no clip %s", c->name, promises[i].clips[clips]);
        assert_int_equal(c->clip_count, clips);
        for (int k = 0; k < 12 && promises[i].joints[k]; k++)
            if (cutis_character_find_joint(c, promises[i].joints[k]) < 0)
                fail_msg("%s has no joint %s", c->name, promises[i].joints[k]);
        for (int k = 0; k < c->clip_count; k++) {
            assert_true(c->clips[k].start == 0);
            assert_true(c->clips[k].end >= 0.9f);
            assert_true(c->clips[k].track_count > 0);
        }
        assert_int_equal(c->warning_count, 0);
        cutis_character_destroy(c);
    }
}

static void every_joint_but_roots_moves_some_vertex(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(promises); i++) {
        cutis_character *c = test_zoo(promises[i].name, 1);
        for (int j = 0; j < c->joint_count; j++)
            if (c->joints[j].parent >= 0 && !c->joints[j].deforms)
                fail_msg("%s: joint %s moves nothing", c->name, c->joints[j].name);
        cutis_character_destroy(c);
    }
}

/* Rotation of a joint from rest, in the axes of its parent: 3 x 3 in m. */
static void local_rotation(const cutis_character *c, const float *pose, int joint, mat3 *r)
{
    const float *p = pose + 12 * c->joints[joint].parent, *q = pose + 12 * joint;
    mat3 local;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) local.m[3 * a + b] = p[a] * q[b] + p[4 + a] * q[4 + b] + p[8 + a] * q[8 + b];
    quat rest = {c->joints[joint].rest.rotation[0], c->joints[joint].rest.rotation[1],
                 c->joints[joint].rest.rotation[2], c->joints[joint].rest.rotation[3]};
    *r = mat3_multiply(local, mat3_transpose(quat_matrix(rest)));
}

static double rotation_degrees(mat3 r)
{
    double cosine = 0.5 * ((double)r.m[0] + (double)r.m[4] + (double)r.m[8] - 1);
    return det_acos(cosine) * 57.29577951308232;
}

static double widest_turn(const cutis_character *c, const char *clip_name, const char *joint_name)
{
    int clip = cutis_character_find_clip(c, clip_name), joint = cutis_character_find_joint(c, joint_name);
    float pose[12 * 64];
    double widest = 0;
    for (int i = 0; i <= 200; i++) {
        mat3 r;
        cutis_pose_sample(c, clip, c->clips[clip].end * i / 200.0, pose);
        local_rotation(c, pose, joint, &r);
        widest = MAX(widest, rotation_degrees(r));
    }
    return widest;
}

static void arm_bends_by_140_and_twists_by_180_degrees(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("arm", 0.1);
    double bend = widest_turn(c, "flex", "forearm"), twist = widest_turn(c, "twist", "forearm");
    print_message("elbow bends %.2f, forearm twists %.2f degrees\n", bend, twist);
    assert_true(fabs(bend - 140) < 0.1);
    assert_true(fabs(twist - 180) < 0.1);

    // Both begin and end at rest; the bend brings the hand up to the shoulder.
    float pose[12 * 64], rest[12 * 64];
    cutis_pose_rest(c, rest);
    int hand = cutis_character_find_joint(c, "hand");
    for (int k = 0; k < 2; k++) {
        int clip = cutis_character_find_clip(c, k ? "twist" : "flex");
        cutis_pose_sample(c, clip, 0, pose);
        for (int i = 0; i < 12 * c->joint_count; i++) assert_true(fabsf(pose[i] - rest[i]) < 1e-5f);
        cutis_pose_sample(c, clip, c->clips[clip].end, pose);
        for (int i = 0; i < 12 * c->joint_count; i++) assert_true(fabsf(pose[i] - rest[i]) < 1e-5f);
    }
    cutis_pose_sample(c, cutis_character_find_clip(c, "flex"), 1.35, pose);
    assert_true(pose[12 * hand + 3] < 0.2f && pose[12 * hand + 7] > 0.1f);
    cutis_character_destroy(c);
}

static void walks_close_in_position_and_velocity(void **state)
{
    (void)state;
    static const char *const walkers[] = {"man", "dancer", "cat"};
    for (int i = 0; i < COUNT_OF(walkers); i++) {
        cutis_character *c = test_zoo(walkers[i], 0.1);
        int walk = cutis_character_find_clip(c, "walk");
        const cutis_clip *clip = &c->clips[walk];
        assert_true(clip->track_count > 10);
        for (int t = 0; t < clip->track_count; t++) {
            const cutis_track *track = &clip->tracks[t];
            int width = (track->path == CUTIS_PATH_ROTATION ? 4 : 3) * 3;
            assert_int_equal(track->interpolation, CUTIS_INTERPOLATION_CUBIC);
            assert_memory_equal(track->values, track->values + width * (track->key_count - 1),
                                (size_t)width * sizeof(float));
        }
        // And it does walk: the left foot goes forth and back.
        float pose[12 * 64];
        int foot = cutis_character_find_joint(c, strcmp(walkers[i], "cat") ? "foot_l" : "hand_l");
        float low = 1e9f, high = -1e9f;
        for (int k = 0; k < 40; k++) {
            cutis_pose_sample(c, walk, clip->end * k / 40.0, pose);
            low = MIN(low, pose[12 * foot + 11]);
            high = MAX(high, pose[12 * foot + 11]);
        }
        assert_true(high - low > 0.1f * c->size);
        cutis_character_destroy(c);
    }
}

/* A foot on the ground is carried backwards at one speed, as on a treadmill. */
static void walking_feet_do_not_slide(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("man", 0.1);
    int walk = cutis_character_find_clip(c, "walk"), toe = cutis_character_find_joint(c, "toe_l");
    float pose[12 * 64], rest[12 * 64];
    cutis_pose_rest(c, rest);
    double speeds[200], mean = 0, worst = 0;
    int count = 0;
    for (int k = 0; k < 200; k++) {
        double time = 1.1 * 0.6 * (0.20 + 0.40 * k / 200);
        cutis_pose_sample(c, walk, time - 0.005, pose);
        float z0 = pose[12 * toe + 11];
        cutis_pose_sample(c, walk, time + 0.005, pose);
        speeds[count] = ((double)pose[12 * toe + 11] - (double)z0) / 0.01;
        mean += speeds[count++] / 200;
    }
    for (int k = 0; k < count; k++) worst = MAX(worst, fabs(speeds[k] / mean - 1));
    print_message("the standing foot moves at %.3f m/s, within %.1f %%\n", mean, 100 * worst);
    assert_true(mean < -0.3);
    assert_true(worst < 0.15);
    cutis_character_destroy(c);
}

/* Plain linear-blend skinning, by points. */
static void skin(const cutis_character *c, const float *pose, float *points)
{
    for (int v = 0; v < c->vertex_count; v++) {
        vec3 p = vec3_load(c->positions + 3 * v), sum = {0, 0, 0};
        for (int k = c->influence_first[v]; k < c->influence_first[v + 1]; k++) {
            int j = c->influence_joints[k];
            vec3 local = mat34_point(c->joints[j].inverse_bind, p);
            sum = vec3_madd(sum, mat34_point(pose + 12 * j, local), c->influence_weights[k]);
        }
        vec3_store(points + 3 * c->vertex_points[v], sum);
    }
}

/* So that a solver that keeps flesh from passing through flesh is not asked for the impossible. */
static void walking_limbs_keep_clear_of_the_body(void **state)
{
    (void)state;
    test_is_heavy();
    static const char *const walkers[] = {"man", "dancer"};
    for (int i = 0; i < COUNT_OF(walkers); i++) {
        cutis_character *c = test_zoo(walkers[i], 1);
        int walk = cutis_character_find_clip(c, "walk");
        arena memory = arena_create(NULL);
        mesh m;
        bvh tree;
        assert_int_equal(mesh_build_character(&m, c, &memory, NULL), CUTIS_OK);
        assert_int_equal(bvh_build(&tree, m.triangle_count, m.triangles, m.positions, &memory, NULL), CUTIS_OK);
        float pose[12 * 64], *points = ARENA_ARRAY(&memory, float, 3 * m.point_count);
        for (int k = 0; k < 8; k++) {
            cutis_pose_sample(c, walk, c->clips[walk].end * k / 8.0, pose);
            skin(c, pose, points);
            bvh_refit(&tree, points, 0);
            assert_int_equal(mesh_self_intersections(&m, &tree, points, NULL, NULL, 0), 0);
        }
        arena_destroy(&memory);
        cutis_character_destroy(c);
    }
}

static void shimmy_holds_still_for_its_last_one_and_a_half_seconds(void **state)
{
    (void)state;
    static const char *const names[] = {"man", "dancer"};
    for (int i = 0; i < COUNT_OF(names); i++) {
        cutis_character *c = test_zoo(names[i], 0.1);
        int clip = cutis_character_find_clip(c, "shimmy");
        float pose[12 * 64], still[12 * 64];
        double end = c->clips[clip].end, moved = 0;
        cutis_pose_sample(c, clip, end, still);
        for (double t = end - 1.5; t < end; t += 0.01) {
            cutis_pose_sample(c, clip, t, pose);
            for (int k = 0; k < 12 * c->joint_count; k++) assert_true(fabsf(pose[k] - still[k]) < 1e-5f);
        }
        for (double t = 0; t < end - 1.8; t += 0.01) {
            cutis_pose_sample(c, clip, t, pose);
            moved = MAX(moved, fabs((double)(pose[3] - still[3])));
        }
        assert_true(moved > 0.02);
        cutis_character_destroy(c);
    }
}

static void jump_leaves_the_ground_and_grasp_lifts_by_30_centimetres(void **state)
{
    (void)state;
    float pose[12 * 64];
    cutis_character *c = test_zoo("man", 0.1);
    int clip = cutis_character_find_clip(c, "jump"), toe = cutis_character_find_joint(c, "toe_l");
    float highest = 0;
    for (int k = 0; k <= 240; k++) {
        cutis_pose_sample(c, clip, 2.4 * k / 240, pose);
        highest = MAX(highest, pose[12 * toe + 7]);
    }
    assert_true(highest > 0.25f);
    cutis_character_destroy(c);

    c = test_zoo("hand", 0.1);
    clip = cutis_character_find_clip(c, "grasp");
    cutis_pose_sample(c, clip, 0, pose);
    float before = pose[7];
    cutis_pose_sample(c, clip, c->clips[clip].end, pose);
    assert_true(fabsf(pose[7] - before - 0.3f) < 1e-4f);
    cutis_character_destroy(c);
}

static void swallowing_moves_the_larynx_by_two_centimetres_and_nothing_else_as_far(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("neck", 1);
    int clip = cutis_character_find_clip(c, "swallow"), larynx = cutis_character_find_joint(c, "larynx");
    float rest[12 * 64], pose[12 * 64], most = 0;
    cutis_pose_rest(c, rest);
    cutis_pose_sample(c, clip, 0.65, pose);
    float way = pose[12 * larynx + 7] - rest[12 * larynx + 7];
    assert_true(way > 0.018f && way < 0.026f);
    for (int v = 0; v < c->vertex_count; v++) most = MAX(most, weight_of(c, v, larynx));
    print_message("larynx goes up %.1f mm; its largest weight is %.2f\n", (double)way * 1000, (double)most);
    assert_true(most > 0.8f);
    cutis_character_destroy(c);
}

/* ---- making ---- */

static uint64_t character_hash(const cutis_character *c)
{
    uint64_t h = hash_bytes(c->positions, 3 * sizeof(float) * (size_t)c->vertex_count, 1);
    h = hash_bytes(c->corners, sizeof(int) * (size_t)c->corner_count, h);
    h = hash_bytes(c->texcoords, 2 * sizeof(float) * (size_t)c->corner_count, h);
    size_t influences = (size_t)c->influence_first[c->vertex_count];
    h = hash_bytes(c->influence_joints, sizeof(int) * influences, h);
    h = hash_bytes(c->influence_weights, sizeof(float) * influences, h);
    for (int i = 0; i < c->clip_count; i++)
        for (int t = 0; t < c->clips[i].track_count; t++) {
            const cutis_track *track = &c->clips[i].tracks[t];
            size_t width = track->path == CUTIS_PATH_ROTATION ? 12 : 9;
            h = hash_bytes(track->values, sizeof(float) * width * (size_t)track->key_count, h);
        }
    return h;
}

static void making_a_character_twice_gives_the_same_bits(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(promises); i++) {
        cutis_character *a = test_zoo(promises[i].name, 1), *b = test_zoo(promises[i].name, 1);
        print_message("%s %016llx\n", a->name, (unsigned long long)character_hash(a));
        assert_true(character_hash(a) == character_hash(b));
        cutis_character_destroy(a);
        cutis_character_destroy(b);
    }
}

static void bad_names_and_resolutions_are_refused_with_a_sentence(void **state)
{
    (void)state;
    cutis_character *c = NULL;
    cutis_error error;
    assert_int_equal(cutis_zoo_make("mann", 1, NULL, &c, &error), CUTIS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "mann"));
    assert_non_null(strstr(error.text, "'man'"));
    static const double bad[] = {0, -1, 0.09, 20.5, NAN};
    for (int i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(cutis_zoo_make("man", bad[i], NULL, &c, &error), CUTIS_ERROR_ARGUMENT);
        assert_non_null(strstr(error.text, "resolution"));
    }
    assert_null(c);
}

static bool make_with(void *context, const cutis_allocator *allocator)
{
    cutis_character *c = NULL;
    cutis_result result = cutis_zoo_make(context, 0.1, allocator, &c, NULL);
    assert_true(result == CUTIS_OK || result == CUTIS_ERROR_MEMORY);
    cutis_character_destroy(c);
    return result == CUTIS_OK;
}

static void every_failing_allocation_is_survived_without_a_leak(void **state)
{
    (void)state;
    test_every_allocation(make_with, "arm");
    test_every_allocation(make_with, "torus");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zoo_lists_all_characters_with_a_summary),
        cmocka_unit_test(surfaces_are_closed_manifold_quads_of_one_shape_at_every_resolution),
        cmocka_unit_test(quads_are_neither_slivers_nor_folded),
        cmocka_unit_test(texture_coordinates_lie_in_the_square_and_no_face_is_degenerate),
        cmocka_unit_test(weights_sum_to_one_and_are_smooth),
        cmocka_unit_test(weights_do_not_leak_from_leg_to_leg),
        cmocka_unit_test(joints_and_clips_have_the_promised_names),
        cmocka_unit_test(every_joint_but_roots_moves_some_vertex),
        cmocka_unit_test(arm_bends_by_140_and_twists_by_180_degrees),
        cmocka_unit_test(walks_close_in_position_and_velocity),
        cmocka_unit_test(walking_feet_do_not_slide),
        cmocka_unit_test(walking_limbs_keep_clear_of_the_body),
        cmocka_unit_test(shimmy_holds_still_for_its_last_one_and_a_half_seconds),
        cmocka_unit_test(jump_leaves_the_ground_and_grasp_lifts_by_30_centimetres),
        cmocka_unit_test(swallowing_moves_the_larynx_by_two_centimetres_and_nothing_else_as_far),
        cmocka_unit_test(making_a_character_twice_gives_the_same_bits),
        cmocka_unit_test(bad_names_and_resolutions_are_refused_with_a_sentence),
        cmocka_unit_test(every_failing_allocation_is_survived_without_a_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
