/* readme.c: the example of README.md, kept equal to it by a test. */
#include <cutis/cutis.h>
#include <stdio.h>

int main(void)
{
    cutis_character *arm;
    cutis_model *model;
    cutis_state *state;
    if (cutis_zoo_make("arm", 1.0, NULL, &arm, NULL)) return 1; /* or cutis_character_load("hero.glb", ...) */
    cutis_model_def def = {.character = arm, .solver = "lattice"};
    if (cutis_model_build(&def, &model, NULL) || cutis_state_create(model, NULL, &state, NULL)) return 1;

    cutis_clip_motion flex = {.character = arm, .clip = cutis_character_find_clip(arm, "flex")};
    cutis_step_input input = {.motion = {&flex, cutis_clip_motion_sample}};
    for (int frame = 0; frame < 60; frame++) cutis_state_step(model, state, &input, 1.0 / 60);
    const float *p = cutis_state_positions(model, state); /* vertex_count x 3, the character's vertex order */
    printf("vertex 0 of %d is at %.3f %.3f %.3f after a second\n", arm->vertex_count, p[0], p[1], p[2]);

    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(arm);
}
