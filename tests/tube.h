/*
 * tube.h: a small character made by hand, for tests and golden hashes.
 */
#ifndef TESTS_TUBE_H
#define TESTS_TUBE_H

#include <string.h>

#include "cutis/character.h"

enum {
    TEST_TUBE_RINGS = 24,
    TEST_TUBE_SIDES = 12,
    TEST_TUBE_VERTICES = TEST_TUBE_RINGS * TEST_TUBE_SIDES + 2,
    TEST_TUBE_FACES = (TEST_TUBE_RINGS - 1) * TEST_TUBE_SIDES + 2 * TEST_TUBE_SIDES
};

/*
 * A closed round bar along +X, length 2, radius 0.25, quads with triangles at the ends, two joints ("upper" at
 * x = 0, "lower" at x = 1) with smooth weights, and two clips of 1 second: "bend" (lower joint 0 to 120 degrees
 * about z and back) and "twist" (0 to 180 degrees about x). Uses no sin or cos, so that it has the same bits
 * everywhere. Release it with cutis_character_destroy.
 */
static inline cutis_result test_tube(const cutis_allocator *allocator, cutis_character **character, cutis_error *error)
{
    /* sin(i * 30 degrees) */
    static const float circle[TEST_TUBE_SIDES] = {0.0f, 0.5f,  0.8660254f,  1.0f,  0.8660254f,  0.5f,
                                                  0.0f, -0.5f, -0.8660254f, -1.0f, -0.8660254f, -0.5f};
    float positions[TEST_TUBE_VERTICES * 3];
    int influence_first[TEST_TUBE_VERTICES + 1], influence_joints[TEST_TUBE_VERTICES * 2];
    float influence_weights[TEST_TUBE_VERTICES * 2];
    int face_first[TEST_TUBE_FACES + 1], corners[TEST_TUBE_FACES * 4];

    for (int ring = 0, v = 0; ring < TEST_TUBE_RINGS; ring++)
        for (int side = 0; side < TEST_TUBE_SIDES; side++, v++) {
            positions[v * 3 + 0] = 2.0f * (float)ring / (float)(TEST_TUBE_RINGS - 1);
            positions[v * 3 + 1] = 0.25f * circle[side];
            positions[v * 3 + 2] = 0.25f * circle[(side + 3) % TEST_TUBE_SIDES];
        }
    const int tip = TEST_TUBE_RINGS * TEST_TUBE_SIDES; /* the two points at the ends */
    for (int end = 0; end < 2; end++) {
        positions[(tip + end) * 3 + 0] = end ? 2.05f : -0.05f;
        positions[(tip + end) * 3 + 1] = positions[(tip + end) * 3 + 2] = 0.0f;
    }

    /* a smooth step of the lower joint's weight over x = 0.7 .. 1.3 */
    for (int v = 0; v < TEST_TUBE_VERTICES; v++) {
        float t = (positions[v * 3] - 0.7f) / 0.6f;
        t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
        float weight = t * t * (3.0f - 2.0f * t);
        influence_first[v] = v * 2;
        influence_joints[v * 2] = 0, influence_joints[v * 2 + 1] = 1;
        influence_weights[v * 2] = 1.0f - weight, influence_weights[v * 2 + 1] = weight;
    }
    influence_first[TEST_TUBE_VERTICES] = TEST_TUBE_VERTICES * 2;

    /* quads between rings, outside out; then fans to the tips */
    int face = 0, corner = 0;
    for (int ring = 0; ring + 1 < TEST_TUBE_RINGS; ring++)
        for (int side = 0; side < TEST_TUBE_SIDES; side++) {
            int a = ring * TEST_TUBE_SIDES + side, b = ring * TEST_TUBE_SIDES + (side + 1) % TEST_TUBE_SIDES;
            face_first[face++] = corner;
            corners[corner++] = b, corners[corner++] = a;
            corners[corner++] = a + TEST_TUBE_SIDES, corners[corner++] = b + TEST_TUBE_SIDES;
        }
    for (int side = 0; side < TEST_TUBE_SIDES; side++) {
        int next = (side + 1) % TEST_TUBE_SIDES, last = (TEST_TUBE_RINGS - 1) * TEST_TUBE_SIDES;
        face_first[face++] = corner;
        corners[corner++] = side, corners[corner++] = next, corners[corner++] = tip;
        face_first[face++] = corner;
        corners[corner++] = last + next, corners[corner++] = last + side, corners[corner++] = tip + 1;
    }
    face_first[face] = corner;

    cutis_joint joints[2] = {{.name = "upper", .parent = -1}, {.name = "lower", .parent = 0}};
    for (int j = 0; j < 2; j++) {
        cutis_transform local = {{j ? 1.0f : 0.0f, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        const float inverse[12] = {1, 0, 0, j ? -1.0f : 0.0f, 0, 1, 0, 0, 0, 0, 1, 0};
        joints[j].rest = joints[j].idle = local;
        memcpy(joints[j].inverse_bind, inverse, sizeof inverse);
    }

    static const float times[3] = {0.0f, 0.5f, 1.0f};
    static const float bend[12] = {0, 0, 0, 1, 0, 0, 0.8660254f, 0.5f, 0, 0, 0, 1};          /* 120 degrees about z */
    static const float twist[12] = {0, 0, 0, 1, 0.70710678f, 0, 0, 0.70710678f, 1, 0, 0, 0}; /* 90 and 180 about x */
    const cutis_track tracks[2] = {{1, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, 3, times, bend},
                                   {1, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, 3, times, twist}};
    const cutis_clip clips[2] = {{.name = "bend", .track_count = 1, .tracks = &tracks[0]},
                                 {.name = "twist", .track_count = 1, .tracks = &tracks[1]}};

    const cutis_character given = {.name = "tube",
                                   .vertex_count = TEST_TUBE_VERTICES,
                                   .positions = positions,
                                   .face_count = TEST_TUBE_FACES,
                                   .face_first = face_first,
                                   .corners = corners,
                                   .influence_first = influence_first,
                                   .influence_joints = influence_joints,
                                   .influence_weights = influence_weights,
                                   .joint_count = 2,
                                   .joints = joints,
                                   .clip_count = 2,
                                   .clips = clips};
    return cutis_character_create(&given, allocator, character, error);
}

#endif
