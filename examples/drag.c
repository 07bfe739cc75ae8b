/*
 * drag.c: pull a character by a point of its skin, as with the mouse, and write what happens as a cache. Usage:
 * drag CHARACTER JOINT OUT.pc2: the foremost point that follows JOINT is pulled forwards for a second, then let go.
 */
#include <cutis/cutis.h>
#include <stdio.h>
#include <stdlib.h>

enum { FPS = 60, FRAMES = 180, HELD = 60 };

static int foremost(const cutis_character *c, int joint)
{
    int best = -1;
    for (int v = 0; v < c->vertex_count; v++)
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++)
            if (c->influence_joints[i] == joint && c->influence_weights[i] > 0.4f &&
                (best < 0 || c->positions[3 * v + 2] > c->positions[3 * best + 2]))
                best = v;
    return best;
}

int main(int argc, char **argv)
{
    cutis_error error = {0};
    cutis_character *c = NULL;
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    cutis_cache_writer *writer = NULL;
    if (argc != 4) return fprintf(stderr, "usage: drag CHARACTER JOINT OUT.pc2\n"), 2;
    if (cutis_zoo_make(argv[1], 1, NULL, &c, &error)) return fprintf(stderr, "drag: %s\n", error.text), 1;
    int joint = cutis_character_find_joint(c, argv[2]), vertex = joint >= 0 ? foremost(c, joint) : -1;
    if (vertex < 0) return fprintf(stderr, "drag: no point follows a joint '%s'\n", argv[2]), 1;

    cutis_model_def def = cutis_model_def_default();
    def.character = c;
    def.solver = "lattice";
    cutis_cache_info info = {c->vertex_count, FRAMES, 0, FPS, c};
    if (cutis_model_build(&def, &model, &error) || cutis_state_create(model, NULL, &state, &error) ||
        cutis_cache_create(argv[3], &info, NULL, &writer, &error))
        return fprintf(stderr, "drag: %s\n", error.text), 1;

    float *joints = malloc(sizeof(float) * 12 * (size_t)c->joint_count);
    cutis_pose_rest(c, joints);
    for (int f = 0; f < FRAMES; f++) {
        const float *rest = c->positions + 3 * vertex;
        float way = 0.1f * c->size * (f < HELD / 2 ? f / (0.5f * HELD) : 1);
        cutis_drag drag = {vertex, {rest[0], rest[1], rest[2] + way}, 0.9f};
        cutis_step_input input = {.joints = joints, .drags = &drag, .drag_count = f < HELD};
        cutis_state_step(model, state, &input, 1.0 / FPS);
        if (cutis_cache_append(writer, cutis_state_positions(model, state), &error))
            return fprintf(stderr, "drag: %s\n", error.text), 1;
    }
    if (cutis_cache_finish(writer, &error)) return fprintf(stderr, "drag: %s\n", error.text), 1;
    free(joints);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
    return 0;
}
