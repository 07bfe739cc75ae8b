/*
 * springs_choice.c: which reference shape suits each bone, found by measuring.
 *
 * Cordier and Magnenat-Thalmann take metaballs for the body and Dirichlet free-form deformation for the hands, of
 * characters made for that. Here neither is taken on trust. The shapes and linear skinning are tried in poses: of the
 * character's own clips, and such that every joint turns by up to 50 degrees about some axis. What counts is how far
 * edges of the skin are stretched or shortened by each, around each joint. Free-form deformation is tried where fingers
 * are found: three chains of bones or more, of like length, that spring from one joint. A joint where the shapes
 * strain the skin more than skinning, or tear it anywhere, keeps skinning.
 */
#include <string.h>

#include "solvers/solver_kit.h"
#include "solvers/springs/springs_shapes.h"

/* Poses of clips, and made ones. */
enum { CLIP_POSES = 12, MADE_POSES = 8 };
/* Largest turn of a made pose, degrees. */
static const double MADE_TURN = 50;
/* Strain is the longer of two lengths over the shorter, less one, up to: */
static const float STRAIN_LIMIT = 4;
/* A shape may strain the skin of a joint this much more than skinning, as it keeps its section in return. */
static const double STRAIN_ALLOWED = 2, STRAIN_FLOOR = 1e-4;
/* An edge is torn that is so many times longer than at rest and under skinning; the share of them is bounded. */
static const float TORN = 2.5f;
static const double TORN_SHARE = 3e-4;

/* ---- fingers ---- */

/* Chains of a hand, and the shortest of them over the longest. */
enum { LEAST_FINGERS = 3 };
static const float LIKE_LENGTH = 0.4f;

/* The only joint below that moves points; -1: none or several. */
static int only_child(const springs_bones *bones, int joint)
{
    int child = -1;
    for (int j = joint + 1; j < bones->joint_count; j++) {
        if (bones->above[j] != joint || bones->first[j] == bones->first[j + 1]) continue;
        if (child >= 0) return -1;
        child = j;
    }
    return child;
}

static bool has_children(const springs_bones *bones, int joint)
{
    for (int j = joint + 1; j < bones->joint_count; j++)
        if (bones->above[j] == joint && bones->first[j] < bones->first[j + 1]) return true;
    return false;
}

/* The length of a chain of two joints or more, without branches; 0 when this is none. */
static float chain_length(const springs_bones *bones, int joint)
{
    float length = 0;
    int count = 0;
    if (bones->first[joint] == bones->first[joint + 1]) return 0;
    for (int j = joint; j >= 0; j = only_child(bones, j), count++) {
        const springs_bone *bone = &bones->bones[bones->first[j]];
        length += vec3_distance(bone->a, bone->b);
        if (only_child(bones, j) < 0 && has_children(bones, j)) return 0;
    }
    return count >= 2 ? length : 0;
}

void springs_fingers_find(const springs_bones *bones, int *hands)
{
    for (int j = 0; j < bones->joint_count; j++) hands[j] = -1;
    for (int palm = 0; palm < bones->joint_count; palm++) {
        /* chains that spring from it, of like length */
        float longest = 0;
        int count = 0;
        for (int j = palm + 1; j < bones->joint_count; j++)
            if (bones->above[j] == palm) longest = MAX(longest, chain_length(bones, j));
        for (int j = palm + 1; j < bones->joint_count; j++)
            count += bones->above[j] == palm && chain_length(bones, j) > LIKE_LENGTH * longest;
        if (count < LEAST_FINGERS) continue;
        for (int j = palm + 1; j < bones->joint_count; j++) {
            if (bones->above[j] != palm || !(chain_length(bones, j) > LIKE_LENGTH * longest)) continue;
            for (int k = j; k >= 0; k = only_child(bones, k)) hands[k] = palm;
        }
    }
}

/* ---- poses ---- */

static double next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

/*
 * Every joint that moves points turned against its parent, about some axis of the scene: which axes joints have of
 * their own, and which others there are between them, is the choice of the program that wrote the file.
 */
static void pose_make(const cutis_character *c, int index, const float *rest, float *joints)
{
    uint32_t seed = 2654435761u * (uint32_t)(index + 1);
    for (int j = 0; j < c->joint_count; j++) {
        mat34 own, parent, back;
        memcpy(own.m, rest + 12 * j, sizeof own.m);

        /* turned where it is at rest, about an axis that is never far from a unit one */
        if (c->joints[j].deforms) {
            vec3 axis = {(float)(next_random(&seed) - 0.5), (float)(next_random(&seed) - 0.5),
                         (float)(next_random(&seed) - 0.5)};
            axis = vec3_length2(axis) > 1e-6f ? vec3_normalize(axis) : vec3_make(1, 0, 0);
            double angle = (2 * next_random(&seed) - 1) * MADE_TURN * 0.017453292519943295;
            mat34 turn = mat34_compose(vec3_make(0, 0, 0), quat_axis_angle(axis, angle), vec3_make(1, 1, 1));
            vec3 place = {own.m[3], own.m[7], own.m[11]};
            own = mat34_multiply(turn, own);
            own.m[3] = place.x;
            own.m[7] = place.y;
            own.m[11] = place.z;
        }

        /* and taken to where its parent is */
        int up = c->joints[j].parent;
        if (up >= 0) {
            memcpy(parent.m, rest + 12 * up, sizeof parent.m);
            if (mat34_inverse(parent, &back)) own = mat34_multiply(back, own);
            memcpy(parent.m, joints + 12 * up, sizeof parent.m);
            own = mat34_multiply(parent, own);
        }
        memcpy(joints + 12 * j, own.m, sizeof own.m);
    }
}

/* Poses of clips are spread over all clips; returns false when there are no more. */
static bool pose_next(const cutis_character *c, int index, const float *rest, float *joints)
{
    int clips = c->clip_count > 0 ? CLIP_POSES : 0;
    if (index >= clips + MADE_POSES) return false;
    if (index >= clips) {
        pose_make(c, index - clips, rest, joints);
        return true;
    }

    /* poses spread over the clips, in the middle of each where there are many */
    int clip = (int)((long)index * c->clip_count / clips);
    double share = ((double)index + 0.5) * c->clip_count / clips;
    share -= (int)share;
    if (c->clip_count > clips) share = 0.5;

    const cutis_clip *from = c->clips + clip;
    cutis_pose_sample(c, clip, from->start + share * (from->end - from->start), joints);
    return true;
}

/* ---- strains ---- */

/* Sums over poses and edges, by the weight of the edge's ends on the joint. */
typedef struct joint_score {
    double weight;
    double strain[SPRINGS_SHAPE_COUNT]; /* squared */
    double torn[SPRINGS_SHAPE_COUNT];
} joint_score;

static float edge_length(const float *points, int a, int b)
{
    return MAX(vec3_distance(vec3_load(points + 3 * a), vec3_load(points + 3 * b)), 1e-12f);
}

/* Skin in a fold is shortened by any shape that does not pass through itself: that counts by half. */
static float strain_of(float length, float rest)
{
    float strain = length > rest ? length / rest - 1 : 0.5f * (rest / length - 1);
    return MIN(strain, STRAIN_LIMIT);
}

static void scores_add(const solver_build *build, float *const *shapes, joint_score *scores)
{
    const mesh *m = build->mesh;
    const point_weights *weights = build->weights;

    for (int e = 0; e < m->edge_count; e++) {
        /* strain of the edge under each shape */
        int ends[2] = {m->edges[2 * e], m->edges[2 * e + 1]};
        float rest = vec3_distance(vec3_load(m->positions + 3 * ends[0]), vec3_load(m->positions + 3 * ends[1]));
        if (!(rest > 0)) continue;

        float strain[SPRINGS_SHAPE_COUNT] = {0}, length[SPRINGS_SHAPE_COUNT] = {0};
        bool any = false;
        for (int s = 0; s < SPRINGS_SHAPE_COUNT; s++) {
            if (!shapes[s]) continue;
            length[s] = edge_length(shapes[s], ends[0], ends[1]);
            strain[s] = strain_of(length[s], rest);
            any = any || strain[s] > 1e-3f;
        }
        if (!any) continue;

        /* for the joints of both ends */
        for (int k = 0; k < 2; k++) {
            for (int i = weights->first[ends[k]]; i < weights->first[ends[k] + 1]; i++) {
                joint_score *score = scores + weights->joints[i];
                double w = (double)weights->weights[i] * (double)rest;

                score->weight += w;
                for (int s = 0; s < SPRINGS_SHAPE_COUNT; s++) {
                    score->strain[s] += w * (double)(strain[s] * strain[s]);
                    if (length[s] > TORN * MAX(rest, length[SPRINGS_SHAPE_LBS])) score->torn[s] += w;
                }
            }
        }
    }
}

/* Whether a shape does no harm: it tears nothing, and strains the skin not much more than skinning. */
static bool shape_sound(const joint_score *score, springs_shape shape)
{
    double allowed = STRAIN_ALLOWED * score->strain[SPRINGS_SHAPE_LBS] + STRAIN_FLOOR * score->weight;
    return score->torn[shape] <= TORN_SHARE * score->weight && score->strain[shape] <= allowed;
}

/* The first joint of a finger, below its palm. */
static int finger_root(const int *parents, int joint, int palm)
{
    while (parents[joint] >= 0 && parents[joint] != palm) joint = parents[joint];
    return joint;
}

/* Whether the finger of a joint is to be of dffd: sound at all of its joints, and with less strain than metaballs. */
static bool finger_suits(const joint_score *scores, const int *hands, const int *parents, int joint_count, int joint)
{
    int palm = hands[joint], root = finger_root(parents, joint, palm);
    double difference = 0;
    for (int j = 0; j < joint_count; j++) {
        if (hands[j] != palm || finger_root(parents, j, palm) != root) continue;
        if (!shape_sound(scores + j, SPRINGS_SHAPE_DFFD)) return false;
        difference += scores[j].strain[SPRINGS_SHAPE_DFFD] - scores[j].strain[SPRINGS_SHAPE_METABALLS];
    }
    return difference < 0;
}

/* What dffd fingers show: palms have metaballs, and points between the two are mixed by their weights. */
static void fingers_mix(const solver_build *build, const int *hands, const float *palm, float *fingers)
{
    const point_weights *weights = build->weights;
    for (int p = 0; p < build->mesh->point_count; p++) {
        float share = 0;
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++)
            if (hands[weights->joints[i]] >= 0) share += weights->weights[i];
        vec3_store(fingers + 3 * p, vec3_lerp(vec3_load(palm + 3 * p), vec3_load(fingers + 3 * p), share));
    }
}

cutis_result springs_shapes_choose(const solver_build *build, const skinning *skin, const int *parents,
                                   const springs_metaballs *metaballs, const springs_dffd *dffd, const int *hands,
                                   arena *temporary, springs_shape *chosen, cutis_error *error)
{
    const cutis_character *c = build->character;

    size_t floats = 3 * (size_t)build->mesh->point_count + 1;
    size_t scratch_size = skinning_scratch_count(skin) * sizeof(float);
    scratch_size = MAX(scratch_size, springs_metaballs_scratch_size(metaballs));
    if (dffd) scratch_size = MAX(scratch_size, springs_dffd_scratch_size(dffd));
    float *shapes[SPRINGS_SHAPE_COUNT] = {NULL};
    shapes[SPRINGS_SHAPE_LBS] = ARENA_ARRAY(temporary, float, floats);
    shapes[SPRINGS_SHAPE_METABALLS] = ARENA_ARRAY(temporary, float, floats);
    if (dffd) shapes[SPRINGS_SHAPE_DFFD] = ARENA_ARRAY(temporary, float, floats);
    float *rest = ARENA_ARRAY(temporary, float, 12 * (size_t)c->joint_count + 1);
    float *joints = ARENA_ARRAY(temporary, float, 12 * (size_t)c->joint_count + 1);
    float *matrices = ARENA_ARRAY(temporary, float, 12 * (size_t)c->joint_count + 1);
    joint_score *scores = ARENA_ARRAY(temporary, joint_score, c->joint_count + 1);
    void *scratch = arena_push(temporary, scratch_size + 64, 1);
    if (temporary->failed || !scratch) return error_memory(error, "the choice of a reference shape");

    /* strains of all shapes in all poses */
    cutis_pose_rest(c, rest);
    for (int i = 0; pose_next(c, i, rest, joints); i++) {
        skin_matrices(c, joints, matrices);
        springs_pose pose = {matrices, parents, NULL};
        skinning_linear(skin, matrices, scratch, build->jobs, shapes[SPRINGS_SHAPE_LBS]);
        for (int s = SPRINGS_SHAPE_METABALLS; s < SPRINGS_SHAPE_COUNT; s++)
            if (shapes[s]) memcpy(shapes[s], shapes[SPRINGS_SHAPE_LBS], (floats - 1) * sizeof(float));
        springs_metaballs_evaluate(metaballs, &pose, scratch, build->jobs, shapes[SPRINGS_SHAPE_METABALLS]);

        if (dffd) {
            springs_dffd_evaluate(dffd, &pose, scratch, build->jobs, shapes[SPRINGS_SHAPE_DFFD]);
            fingers_mix(build, hands, shapes[SPRINGS_SHAPE_METABALLS], shapes[SPRINGS_SHAPE_DFFD]);
        }
        scores_add(build, shapes, scores);
    }

    /* metaballs where they are sound; fingers take control points */
    for (int j = 0; j < c->joint_count; j++) {
        chosen[j] = shape_sound(scores + j, SPRINGS_SHAPE_METABALLS) ? SPRINGS_SHAPE_METABALLS : SPRINGS_SHAPE_LBS;
        if (dffd && hands[j] >= 0 && finger_suits(scores, hands, parents, c->joint_count, j))
            chosen[j] = SPRINGS_SHAPE_DFFD;
    }

    return CUTIS_OK;
}
