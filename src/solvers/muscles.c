/*
 * muscles.c: bones with a muscle, see muscles.h. The fibres of a limb run along its bone; when the joint beyond it
 * bends, those on the inner side shorten.
 */
#include "solvers/muscles.h"

#include "character/skinning.h"

/* How far from a bone's line its other children lie at most, over its length: twist joints do, legs of a pelvis do not.
 */
static const float FIBRE_BRANCH = 0.2f;

/*
 * The joint at the far end of a limb's bone; -1 where there is none: at an end, and where the skeleton branches.
 * Joints on the way, such as those that spread a twist, are no branches.
 */
static int bone_end(const cutis_character *character, int joint)
{
    vec3 start = joint_bind_place(&character->joints[joint]);
    int end = -1;
    float length = 0;

    /* the farthest child */
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
static muscle_bone muscle_find(const cutis_character *character, int joint, float strength)
{
    muscle_bone m = {.end = -1, .strength = strength};
    int end = strength > 0 ? bone_end(character, joint) : -1;
    if (end < 0) return m;
    int beyond = bone_end(character, end);
    m.start = joint_bind_place(&character->joints[joint]);
    m.along = vec3_sub(joint_bind_place(&character->joints[end]), m.start);
    m.beyond = beyond < 0
                   ? m.along
                   : vec3_sub(joint_bind_place(&character->joints[beyond]), joint_bind_place(&character->joints[end]));
    m.end = end;
    return m;
}

cutis_result muscles_find(const solver_build *build, int parameter, const float *shares, arena *memory,
                          muscle_bone **muscles, cutis_error *error)
{
    int joints = build->character->joint_count;
    bool asked = false;
    *muscles = NULL;
    for (int j = 0; j < joints; j++)
        asked = asked || (kit_bone_value(build, j, parameter) > 0 && !(shares && shares[j] <= 0));
    if (!asked) return CUTIS_OK;

    *muscles = ARENA_ARRAY(memory, muscle_bone, joints);
    if (!*muscles) return error_memory(error, "the muscles");
    for (int j = 0; j < joints; j++) {
        float strength = (float)kit_bone_value(build, j, parameter);
        (*muscles)[j] = muscle_find(build->character, j, shares ? strength * shares[j] : strength);
    }
    return CUTIS_OK;
}

int muscle_of_point(const solver_build *build, const muscle_bone *muscles, int point, float *share)
{
    const point_weights *weights = build->weights;
    int bone = -1;
    float most = 0;
    *share = 0;

    for (int i = weights->first[point]; i < weights->first[point + 1]; i++) {
        const muscle_bone *m = &muscles[weights->joints[i]];
        if (m->end < 0 || weights->weights[i] <= most) continue;
        most = weights->weights[i];

        /* 0 at both ends of the bone, 1 in the middle */
        vec3 x = vec3_load(build->mesh->positions + 3 * (size_t)point);
        float t = vec3_dot(vec3_sub(x, m->start), m->along) / vec3_length2(m->along);
        float middle = CLAMP(4 * t * (1 - t), 0.0f, 1.0f);
        bone = weights->joints[i];
        *share = m->strength * most * middle * middle;
    }
    return bone;
}

vec3 muscle_bend(const muscle_bone *m, int joint, const float *skin)
{
    vec3 along = vec3_normalize(mat34_vector(skin + 12 * joint, m->along));
    vec3 straight = vec3_normalize(mat34_vector(skin + 12 * joint, m->beyond));
    vec3 bent = vec3_normalize(mat34_vector(skin + 12 * m->end, m->beyond));
    vec3 change = vec3_sub(bent, straight);
    vec3 side = vec3_madd(change, along, -vec3_dot(change, along));
    return vec3_scale(vec3_normalize(side), 1 - vec3_dot(straight, bent));
}

float muscle_side(vec3 way, vec3 bend)
{
    float cosine = vec3_dot(vec3_normalize(way), bend) / vec3_length(bend), side = 0.5f + 0.5f * cosine;
    return side * side;
}
