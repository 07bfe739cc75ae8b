/*
 * layers_fibres.c: muscles that swell when the joint at the end of their bone bends (parameter `muscle_bulge`). Beyond
 * the paper.
 *
 * The fibres of a limb run along its bone; when the joint beyond it bends, those on the inner side shorten, and since
 * flesh keeps its volume they thicken. Here the places that the skeleton asks for are moved away from the bone, by the
 * bend, most in the middle of the bone and on the side towards which the joint bends; volume conservation takes from
 * the rest of the limb what the muscle gains.
 */
#include <string.h>

#include "solvers/layers/layers_step.h"

/* ---- bones with a muscle ---- */

/*
 * The joint at the far end of a limb's bone; -1 where there is none: at an end, and where the skeleton branches.
 * Joints on the way, such as those that spread a twist, are no branches.
 */
static int bone_end(const cutis_character *character, int joint)
{
    vec3 start = joint_bind_place(&character->joints[joint]);
    int end = -1;
    float length = 0;

    for (int c = joint + 1; c < character->joint_count; c++) {
        float distance =
            character->joints[c].parent == joint ? vec3_distance(joint_bind_place(&character->joints[c]), start) : 0;
        if (distance > length) {
            end = c;
            length = distance;
        }
    }

    if (!(length > 1e-3f * character->size)) return -1;

    /* others lie on the line */
    vec3 along = vec3_normalize(vec3_sub(joint_bind_place(&character->joints[end]), start));
    for (int c = joint + 1; c < character->joint_count; c++) {
        if (character->joints[c].parent != joint) continue;
        vec3 way = vec3_sub(joint_bind_place(&character->joints[c]), start);
        if (vec3_length(vec3_cross(way, along)) > FIBRE_BRANCH * length || vec3_dot(way, along) < 0) return -1;
    }

    return end;
}

/* Bone and bend of a joint; .end is -1 where no muscle bulges. */
static layers_muscle muscle_find(const solver_build *build, int joint)
{
    const cutis_character *character = build->character;
    layers_muscle muscle = {.end = -1, .strength = (float)kit_bone_value(build, joint, LAYERS_MUSCLE_BULGE)};
    int end = muscle.strength > 0 ? bone_end(character, joint) : -1;
    if (end < 0) return muscle;
    int beyond = bone_end(character, end);
    muscle.start = joint_bind_place(&character->joints[joint]);
    muscle.along = vec3_sub(joint_bind_place(&character->joints[end]), muscle.start);
    muscle.beyond =
        beyond < 0 ? muscle.along
                   : vec3_sub(joint_bind_place(&character->joints[beyond]), joint_bind_place(&character->joints[end]));
    muscle.end = end;
    return muscle;
}

cutis_result layers_fibres_build(const solver_build *build, layers_model *model, cutis_error *error)
{
    int joints = model->joint_count, n = model->point_count;
    bool asked = false;
    for (int j = 0; j < joints; j++) asked = asked || kit_bone_value(build, j, LAYERS_MUSCLE_BULGE) > 0;
    if (!asked) return CUTIS_OK;

    model->muscles = ARENA_ARRAY(build->memory, layers_muscle, joints);
    model->fibre_bones = ARENA_ARRAY(build->memory, int, n);
    model->fibre_shares = ARENA_ARRAY(build->memory, float, n);
    if (build->memory->failed) return error_memory(error, "the muscles");
    for (int j = 0; j < joints; j++) model->muscles[j] = muscle_find(build, j);

    /* each place's, by its largest weight: most in the middle of the bone */
    const point_weights *weights = build->weights;
    for (int k = 0; k < n; k++) {
        int point = model->paths.points[k];
        float most = 0;

        for (int i = weights->first[point]; i < weights->first[point + 1]; i++) {
            const layers_muscle *muscle = &model->muscles[weights->joints[i]];
            if (muscle->end < 0 || weights->weights[i] <= most) continue;
            most = weights->weights[i];

            /* 0 at both ends of the bone, 1 in the middle */
            vec3 x = vec3_load(build->mesh->positions + 3 * (size_t)point);
            float t = vec3_dot(vec3_sub(x, muscle->start), muscle->along) / vec3_length2(muscle->along);
            float middle = CLAMP(4 * t * (1 - t), 0.0f, 1.0f);
            model->fibre_bones[k] = weights->joints[i];
            model->fibre_shares[k] = muscle->strength * most * middle * middle;
        }
    }

    return CUTIS_OK;
}

/* ---- the swelling ---- */

/* A muscle in the pose: the direction to which its joint has bent, as long as the bend: 1 at 90 degrees. */
static vec3 muscle_bend(const layers_muscle *muscle, int bone, const float *skin)
{
    vec3 along = vec3_normalize(mat34_vector(skin + 12 * bone, muscle->along));
    vec3 straight = vec3_normalize(mat34_vector(skin + 12 * bone, muscle->beyond));
    vec3 bent = vec3_normalize(mat34_vector(skin + 12 * muscle->end, muscle->beyond));
    vec3 change = vec3_sub(bent, straight);
    vec3 side = vec3_madd(change, along, -vec3_dot(change, along));
    return vec3_scale(vec3_normalize(side), 1 - vec3_dot(straight, bent));
}

void layers_fibres_contract(layers_run *run, float *positions)
{
    const layers_model *m = run->m;
    if (!m->muscles) return;
    int bone = -1;
    vec3 bend = {0, 0, 0};
    for (int k = 0; k < m->point_count; k++) {
        if (!(m->fibre_shares[k] > 0)) continue;

        /* neighbours are mostly of the same muscle */
        if (m->fibre_bones[k] != bone) {
            bone = m->fibre_bones[k];
            bend = muscle_bend(&m->muscles[bone], bone, run->input->skin);
        }
        float amount = vec3_length(bend);
        if (!(amount > 0)) continue;

        /* away from the bone, on the side of the bend */
        vec3 skin = vec3_load(positions + 3 * (size_t)k),
             inner = vec3_load(positions + 3 * (size_t)(m->point_count + k));
        vec3 way = vec3_sub(skin, inner);
        float cosine = vec3_dot(vec3_normalize(way), bend) / amount, side = 0.5f + 0.5f * cosine;
        vec3_store(positions + 3 * (size_t)k, vec3_madd(skin, way, m->fibre_shares[k] * amount * side * side));
    }
}
