/* Topology and volume of characters that others made, against the figures that came with them. */
#include "testing.h"

static cutis_character *model_load(const char *name)
{
    const char *path = test_model(name);
    if (!path) skip();
    cutis_character *character = NULL;
    cutis_error error = {0};
    if (cutis_character_load(path, NULL, &character, &error) != CUTIS_OK) print_error("%s\n", error.text);
    assert_non_null(character);
    return character;
}

static void topology_agrees_with_their_description(void **unused)
{
    (void)unused;
    const struct {
        const char *name;
        int points, triangles, quads, closed, loops, boundary_edges, intersections;
    } models[] = {
        {"makehuman-cmu-average/mh_average.glb", 13380, 26756, -1, 1, 0, 0, 50},
        {"makehuman-cmu-heavy/mh_heavy.glb", 13380, 26756, -1, 1, 0, 0, 64},
        {"makehuman-cmu-average/mh_average-body-quads.obj", 13380, 26756, 13378, 1, 0, 0, -1},
        {"mesh2motion-horse/horse.glb", 1709, 3414, -1, 1, 0, 0, -1},
        {"mesh2motion-kaiju/kaiju.glb", 1169, 2318, -1, 0, 1, 18, -1},
        {"khronos-CesiumMan/CesiumMan.glb", 2338, 4672, -1, 1, 0, 0, -1},
        {"khronos-Fox/Fox.glb", 290, 576, -1, 1, 0, 0, -1},
        {"crane-spot/spot/spot_quadrangulated.obj", 2930, 5856, 2928, 1, 0, 0, -1},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        cutis_character *character = model_load(models[i].name);
        cutis_topology topology;
        assert_int_equal(cutis_character_topology(character, NULL, &topology, NULL), CUTIS_OK);
        assert_int_equal(topology.point_count, models[i].points);
        assert_int_equal(topology.triangle_count, models[i].triangles);
        if (models[i].quads >= 0) assert_int_equal(topology.quad_count, models[i].quads);
        assert_int_equal(topology.component_count, 1);
        assert_int_equal(topology.closed_component_count, models[i].closed);
        assert_int_equal(topology.boundary_loop_count, models[i].loops);
        assert_int_equal(topology.boundary_edge_count, models[i].boundary_edges);
        assert_int_equal(topology.nonmanifold_edge_count, 0);
        assert_int_equal(topology.inconsistent_edge_count, 0);
        if (models[i].intersections >= 0) assert_int_equal(topology.self_intersection_count, models[i].intersections);
        cutis_character_destroy(character);
    }
}

static cutis_quality skinned_quality(const cutis_character *character, const char *clip_name, const char *solver)
{
    const double fps = 30;
    int clip = cutis_character_find_clip(character, clip_name);
    assert_true(clip >= 0);
    const cutis_clip *c = &character->clips[clip];
    int frame_count = (int)((c->end - c->start) * fps + 1e-3) + 1;
    size_t frame_size = 3 * (size_t)character->vertex_count;
    float *frames = malloc((size_t)frame_count * frame_size * sizeof *frames);
    float *joints = malloc(12 * (size_t)character->joint_count * sizeof *joints);
    cutis_model *model = test_build(character, solver, NULL);
    cutis_state *state = test_state(model, NULL);
    for (int f = 0; f < frame_count; f++) {
        cutis_pose_sample(character, clip, c->start + f / fps, joints);
        cutis_state_reset(model, state, joints);
        memcpy(frames + (size_t)f * frame_size, cutis_state_positions(model, state), frame_size * sizeof *frames);
    }
    cutis_quality quality;
    assert_int_equal(cutis_measure(character, frames, frame_count, fps, NULL, NULL, &quality, NULL), CUTIS_OK);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    free(joints);
    free(frames);
    return quality;
}

/* The folder's notes give the smallest part of the rest volume that linear blending keeps: 0.957 for this run. */
static void volume_under_linear_blending_agrees_with_their_description(void **unused)
{
    (void)unused;
    cutis_character *character = model_load("makehuman-cmu-average/mh_average.glb");
    cutis_quality quality = skinned_quality(character, "run", "lbs");
    assert_true(fabs(quality.volume_min_ratio - 0.957) < 0.003);
    assert_int_equal(quality.self_intersections_rest, 50);
    assert_true(quality.self_intersections_max > 50);
    assert_true(quality.min_section_ratio > 0.5 && quality.min_section_ratio < 0.7); /* the bent knee */
    assert_true(quality.penetration_max > 0.005 && quality.penetration_max < 0.05);
    assert_int_equal(quality.non_finite, 0);
    cutis_character_destroy(character);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topology_agrees_with_their_description),
        cmocka_unit_test(volume_under_linear_blending_agrees_with_their_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
