/* bake_lead_in.c: how long the way from rest into a clip takes, and whether any is needed. */
#include <math.h>
#include <stdio.h>

#include "bake/bake_private.h"
#include "character/skinning.h"
#include "engine/model_object.h"

/* Seconds of a lead-in: the way into the first pose, and as long as flesh of the softest damping needs to settle. */
static const double LEAD_IN_WAY = 0.25, LEAD_IN_LEAST = 0.75, LEAD_IN_MOST = 4;
/*
 * Flesh is at rest where skinning is this near to its rest shape, over the size, and this slow, sizes a second. Flesh
 * of 3 Hz that is struck by that speed swings by 0.03 % of the size.
 */
static const float REST_DISTANCE = 1e-4f, REST_SPEED = 5e-3f;
/* Seconds between the poses that the speed is taken from: clips are mostly sampled at this rate. */
static const double SPEED_INTERVAL = 1.0 / 30;

/*
 * From the material: twice the decay time of the least damped tissue, after the way there. The way eases in and out, so
 * that flesh hardly swings at its end: at the first frame 0.01 % of the size of a lead-in of 4 s (knight, donkey).
 */
double cutis_bake_lead_in(const cutis_model *model)
{
    cutis_model_info info = cutis_model_get_info(model);
    if (!(info.substep > 0)) return 0;

    /* the least damping of the stack */
    double least = HUGE_VAL;
    const cutis_solver_info *named;
    for (const char *rest = info.solver; (named = bake_stack_next(&rest));) {
        char key[128];
        for (int i = 0; i < named->parameter_count; i++) {
            const cutis_parameter *parameter = &named->parameters[i];
            if (parameter->role != CUTIS_PARAMETER_DAMPING) continue;
            snprintf(key, sizeof key, "%s.%s", named->name, parameter->name);
            double value = cutis_model_parameter(model, key);
            if (value >= 0 && value < least) least = value;
        }
    }

    /* whole substeps */
    double seconds = LEAD_IN_WAY + (least < HUGE_VAL ? 2 / MAX(least, 0.1) : LEAD_IN_LEAST);
    seconds = CLAMP(seconds, LEAD_IN_LEAST, LEAD_IN_MOST);

    return floor(seconds / info.substep + 0.5) * info.substep;
}

/* Where linear skinning has a vertex. */
static vec3 vertex_place(const cutis_character *c, const float *skin, int vertex)
{
    vec3 rest = vec3_load(c->positions + 3 * (size_t)vertex), place = {0, 0, 0};
    for (int k = c->influence_first[vertex]; k < c->influence_first[vertex + 1]; k++) {
        vec3 moved = mat34_point(skin + 12 * (size_t)c->influence_joints[k], rest);
        place = vec3_madd(place, moved, c->influence_weights[k]);
    }
    return place;
}

/* Whether all vertices are where the rest pose has them, moved by one way, and start without speed. */
static bool skin_rests(const cutis_character *c, const float *rest, float *const poses[3])
{
    float distance = REST_DISTANCE * c->size, way = REST_SPEED * c->size * (float)(2 * SPEED_INTERVAL);
    bool rests = true, any = false;
    vec3 moved = {0, 0, 0};

    for (int v = 0; v < c->vertex_count && rests; v++) {
        if (c->influence_first[v] == c->influence_first[v + 1]) continue;
        vec3 x[3];
        for (int k = 0; k < 3; k++) x[k] = vertex_place(c, poses[k], v);

        /* as far from rest as the first one */
        vec3 from_rest = vec3_sub(x[0], vertex_place(c, rest, v));
        if (!any) moved = from_rest;
        any = true;
        rests = vec3_distance(from_rest, moved) <= distance;

        /* the derivative at the first of three poses, exact for a steady acceleration: 2 h v = 4 x1 - 3 x0 - x2 */
        vec3 speed = vec3_sub(vec3_scale(vec3_sub(x[1], x[0]), 4), vec3_sub(x[2], x[0]));
        rests = rests && vec3_length(speed) <= way;
    }

    return rests;
}

/* Whether the morphs of a clip are at rest. */
static bool morphs_rest(const cutis_character *c, int clip, double start, float *weights)
{
    cutis_pose_morphs(c, clip, start, weights);
    for (int i = 0; i < c->morph_count; i++)
        if (weights[i] != 0) return false;
    return true;
}

double cutis_bake_clip_lead_in(const cutis_model *model, const cutis_character *character, int clip, double start)
{
    const cutis_character *c = model->character;
    double whole = cutis_bake_lead_in(model);

    /* props fall and press from the first instant on; a skin is needed to tell */
    if (!(whole > 0) || c->prop_count > 0 || !c->influence_first || character->joint_count != c->joint_count)
        return whole;

    /* room for the rest pose, and three of the clip */
    size_t floats = 12 * (size_t)c->joint_count;
    arena scratch = arena_create(&model->memory.allocator);
    float *joints = ARENA_ARRAY(&scratch, float, floats), *rest = ARENA_ARRAY(&scratch, float, floats);
    float *weights = ARENA_ARRAY(&scratch, float, character->morph_count + 1), *poses[3];
    for (int k = 0; k < 3; k++) poses[k] = ARENA_ARRAY(&scratch, float, floats);

    /* without memory it takes its time */
    bool rests = !scratch.failed && morphs_rest(character, clip, start, weights);
    if (rests) {
        cutis_pose_rest(character, joints);
        skin_matrices(c, joints, rest);
        for (int k = 0; k < 3; k++) {
            cutis_pose_sample(character, clip, start + k * SPEED_INTERVAL, joints);
            skin_matrices(c, joints, poses[k]);
        }
        rests = skin_rests(c, rest, poses);
    }

    arena_destroy(&scratch);
    return rests ? 0 : whole;
}
