/*
 * bake_corrections.c: how far contact moves limbs away from the clip, against how deep the clip has bones in flesh.
 *
 * Solvers are judged against linear skinning of the corrected pose, which tells nothing about the correction itself. A
 * right one takes a bone out of the flesh that the clip drives it into. A wrong one moves a limb far for nothing, or
 * moves it in jumps that the clip does not have.
 */
#include <string.h>

#include "bake/bake_private.h"
#include "character/skinning.h"
#include "engine/model_object.h"
#include "math/math3.h"

/* A joint is turned from here on, degrees. */
static const double TURNED = 0.2;
/* The end of a limb is so many times as far from the joint as the bone in flesh: a forearm in the middle, and its hand.
 */
static const double LEVER = 4;

typedef struct corrections {
    skinning points;
    float *skin, *scratch;
    float *clip[2],
        *shift[3]; /* (point_count x 3) of the last frames, the newest first: the clip's, and the way from it */
    int *owners;   /* (point_count) the joint that moves a point most */
    int *tops;     /* (joint_count) the first turned joint from the root to each; -1: none */
} corrections;

static cutis_result corrections_build(bake *b, corrections *c, arena *memory)
{
    const cutis_character *character = b->character;
    arena scratch = arena_create(b->def->allocator);
    cutis_result result = skinning_build_points(&c->points, character, &scratch, memory, b->error);
    arena_destroy(&scratch);
    if (result != CUTIS_OK) return result;

    const int points = character->point_count;
    c->skin = ARENA_ARRAY(memory, float, 12 * (size_t)character->joint_count);
    c->scratch = ARENA_ARRAY(memory, float, skinning_scratch_count(&c->points));
    for (int i = 0; i < 2; i++) c->clip[i] = ARENA_ARRAY(memory, float, 3 * (size_t)points);
    for (int i = 0; i < 3; i++) c->shift[i] = ARENA_ARRAY(memory, float, 3 * (size_t)points);
    c->owners = ARENA_ARRAY(memory, int, points);
    c->tops = ARENA_ARRAY(memory, int, character->joint_count);
    if (memory->failed) return error_memory(b->error, "a verdict");

    for (int p = 0; p < points; p++) {
        int vertex = character->point_vertices[p];
        float most = 0;
        c->owners[p] = -1;
        for (int i = character->influence_first[vertex]; i < character->influence_first[vertex + 1]; i++) {
            if (character->influence_weights[i] <= most) continue;
            most = character->influence_weights[i];
            c->owners[p] = character->influence_joints[i];
        }
    }
    return CUTIS_OK;
}

/* The first turned joint on the way from the root to each. */
static void find_tops(const bake *b, corrections *c, int frame)
{
    const cutis_joint *joints = b->character->joints;
    for (int j = 0; j < b->character->joint_count; j++) {
        int parent = joints[j].parent, above = parent >= 0 ? c->tops[parent] : -1;
        c->tops[j] = above >= 0 || bake_joint_turn(b, frame, j) < TURNED ? above : j;
    }
}

static bool joint_below(const cutis_character *c, int joint, int top)
{
    while (joint > top) joint = c->joints[joint].parent;
    return joint == top;
}

/* How deep, over the size, the clip has bones of a limb in flesh, or other bones in its flesh. */
static double limb_depth(const bake *b, const cutis_bone_in_flesh *bones, int bone_count, int top)
{
    double depth = 0;
    for (int i = 0; i < bone_count; i++)
        if (joint_below(b->character, bones[i].joint, top) || joint_below(b->character, bones[i].into, top))
            depth = MAX(depth, bones[i].depth);
    return depth;
}

static float *turn_over(float **frames, int count)
{
    float *oldest = frames[count - 1];
    for (int i = count - 1; i > 0; i--) frames[i] = frames[i - 1];
    return frames[0] = oldest;
}

/* The clip and the way from it, of all points, in a frame. */
static void place_frame(const bake *b, corrections *c, int frame)
{
    size_t at = (size_t)frame * 12 * (size_t)b->character->joint_count, floats = 3 * (size_t)b->character->point_count;
    float *clip = turn_over(c->clip, 2), *shift = turn_over(c->shift, 3);
    skin_matrices(b->character, b->animated + at, c->skin);
    skinning_linear(&c->points, c->skin, c->scratch, b->jobs, clip);
    skin_matrices(b->character, b->poses + at, c->skin);
    skinning_linear(&c->points, c->skin, c->scratch, b->jobs, shift);
    for (size_t i = 0; i < floats; i++) shift[i] -= clip[i];
}

/*
 * The jump of a point: the second difference of the way from the clip. A limb that the clip drives into flesh stops
 * within a frame, so the clip's own step is no jump of the correction.
 */
static double find_jump(const corrections *c, size_t at)
{
    vec3 now = vec3_load(c->shift[0] + at), last = vec3_load(c->shift[1] + at), before = vec3_load(c->shift[2] + at);
    double jump = (double)vec3_length(vec3_sub(vec3_sub(now, last), vec3_sub(last, before)));
    return jump - (double)vec3_distance(vec3_load(c->clip[0] + at), vec3_load(c->clip[1] + at));
}

/* A point of the joint that turns a point, so that a finding names it; the point itself where there is none. */
static int turned_point(const corrections *c, int count, int point)
{
    int top = point >= 0 && c->owners[point] >= 0 ? c->tops[c->owners[point]] : -1;
    for (int p = 0; p < count && top >= 0; p++)
        if (c->owners[p] == top) return p;
    return point;
}

static void judge_frame(bake *b, corrections *c, const double *depths, int frame)
{
    const double size = (double)b->character->size;
    double way = 0, jump = 0;
    int way_point = -1, jump_point = -1;
    place_frame(b, c, frame);
    find_tops(b, c, frame);

    for (int p = 0; p < b->character->point_count; p++) {
        int top = c->owners[p] >= 0 ? c->tops[c->owners[p]] : -1;
        size_t at = 3 * (size_t)p;
        double own = top >= 0 ? (double)vec3_length(vec3_load(c->shift[0] + at)) / size - LEVER * depths[top] : 0;
        if (own > way) {
            way = own;
            way_point = p;
        }
        own = frame >= 2 ? find_jump(c, at) / size : 0;
        if (own > jump) {
            jump = own;
            jump_point = p;
        }
    }
    const int count = b->character->point_count;
    cutis_judge_correction(b->judge, frame, way, turned_point(c, count, way_point), jump,
                           turned_point(c, count, jump_point));
}

cutis_result bake_corrections_judge(bake *b, const cutis_bone_in_flesh *bones, int bone_count)
{
    /* props, blows and weak joints move limbs as far as they do */
    const cutis_character *character = b->character;
    if (!b->judge || character->prop_count > 0 || b->def->blow_count > 0 || b->model->articulation.weak)
        return CUTIS_OK;

    arena memory = arena_create(b->def->allocator);
    corrections c = {0};
    cutis_result result = corrections_build(b, &c, &memory);
    double *depths = ARENA_ARRAY(&memory, double, character->joint_count);
    if (result == CUTIS_OK && !depths) result = error_memory(b->error, "a verdict");
    for (int j = 0; j < character->joint_count && result == CUTIS_OK; j++)
        depths[j] = limb_depth(b, bones, bone_count, j);
    for (int f = 0; f < b->result->frame_count && result == CUTIS_OK; f++) judge_frame(b, &c, depths, f);
    arena_destroy(&memory);
    return result;
}
