/* solver_kit.c: what solvers share, see solver_kit.h. */
#include "solvers/solver_kit.h"

#include <stdio.h>
#include <string.h>

#include "character/skinning.h"

/* ---- memory ---- */

void *kit_carve(kit_block *block, size_t count, size_t size)
{
    void *array = block->memory ? block->memory + block->used : NULL;
    block->used += (count * size + 63) / 64 * 64;
    return array;
}

/* ---- statistics and warnings ---- */

void kit_lap(double *clock, cutis_step_stats *stats, int part)
{
    double now = clock_seconds();
    stats->part_ms[part] += (now - *clock) * 1e3;
    *clock = now;
}

void kit_note(const solver_build *build, const char *format, ...)
{
    if (!build->note) return;
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    build->note(build->warn_context, sentence);
}

void kit_warn(const solver_build *build, const char *format, ...)
{
    if (!build->warn) return;
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    build->warn(build->warn_context, sentence);
}

/* ---- values by bone and by painted map ---- */

double kit_bone_value(const solver_build *build, int joint, int parameter)
{
    return build->bone_values[(size_t)joint * (size_t)build->parameter_count + (size_t)parameter];
}

double kit_point_value(const solver_build *build, int point, int parameter)
{
    const point_weights *weights = build->weights;
    if (!weights->joints) return build->values[parameter];

    /* the mean by weight, and to the bit what all bones have where they agree */
    double sum = 0, total = 0, first = build->values[parameter];
    bool same = true;

    for (int i = weights->first[point]; i < weights->first[point + 1]; i++) {
        double own = kit_bone_value(build, weights->joints[i], parameter);
        if (total == 0) first = own;
        same = same && own == first;
        sum += (double)weights->weights[i] * own;
        total += (double)weights->weights[i];
    }

    return same || !(total > 0) ? first : sum / total;
}

const float *kit_map_find(const cutis_character *character, const char *name)
{
    for (int i = 0; i < character->map_count; i++)
        if (strcmp(character->maps[i].name, name) == 0) return character->maps[i].values;
    return NULL;
}

float kit_map_at(const cutis_character *character, const float *map, int point, float unpainted)
{
    return map ? CLAMP(map[character->point_vertices[point]], 0.0f, 1.0f) : unpainted;
}

/* ---- poses ---- */

/* A joint of a pose in its parent's space. */
static mat34 joint_local(const cutis_character *character, const float *pose, int joint)
{
    int parent = character->joints[joint].parent;
    mat34 own, above, inverse;
    memcpy(own.m, pose + 12 * joint, sizeof own.m);
    if (parent < 0) return own;

    /* a flat parent has no inverse: then in the scene's space */
    memcpy(above.m, pose + 12 * parent, sizeof above.m);
    return mat34_inverse(above, &inverse) ? mat34_multiply(inverse, own) : own;
}

void kit_pose_between(const cutis_character *character, const float *from, const float *to, float t, float *pose)
{
    /* the last pose to the bit */
    if (t >= 1) {
        memcpy(pose, to, (size_t)character->joint_count * 12 * sizeof(float));
        return;
    }

    for (int j = 0; j < character->joint_count; j++) {
        int parent = character->joints[j].parent;

        /* mix in the parent's space */
        vec3 translations[2], scales[2];
        quat rotations[2];
        mat34_decompose(joint_local(character, from, j), &translations[0], &rotations[0], &scales[0]);
        mat34_decompose(joint_local(character, to, j), &translations[1], &rotations[1], &scales[1]);
        mat34 mixed = mat34_compose(vec3_lerp(translations[0], translations[1], t),
                                    quat_slerp(rotations[0], rotations[1], t), vec3_lerp(scales[0], scales[1], t));

        /* back to the scene; parents come first */
        if (parent >= 0) {
            mat34 above;
            memcpy(above.m, pose + 12 * parent, sizeof above.m);
            mixed = mat34_multiply(above, mixed);
        }
        memcpy(pose + 12 * j, mixed.m, sizeof mixed.m);
    }
}

size_t kit_walk_floats(const cutis_character *character) { return (size_t)character->joint_count * 36; }

kit_walk kit_walk_start(const cutis_character *character, float *memory, int step_count, solver_input *input)
{
    size_t floats = (size_t)character->joint_count * 12;
    kit_walk walk = {.character = character, .target = input->joints};

    walk.rest = memory;
    walk.joints = walk.rest + floats;
    walk.skin = walk.joints + floats;

    cutis_pose_rest(character, walk.rest);
    memcpy(walk.joints, walk.rest, floats * sizeof(float));
    skin_matrices(character, walk.joints, walk.skin);

    /* a walk only where there is a way to go */
    if (memcmp(walk.rest, walk.target, floats * sizeof(float)) != 0) walk.step_count = step_count;

    /* the solver sees the walk */
    input->joints = walk.joints;
    input->joints_old = walk.joints;
    input->skin = walk.skin;
    input->drag_count = 0;
    return walk;
}

bool kit_walk_next(kit_walk *walk)
{
    if (walk->step >= walk->step_count) return false;
    walk->step++;

    /* the pose that far on the way, and its skin matrices */
    float t = (float)walk->step / (float)walk->step_count;
    kit_pose_between(walk->character, walk->rest, walk->target, t, walk->joints);
    skin_matrices(walk->character, walk->joints, walk->skin);
    return true;
}

vec3 kit_transform(const float transform[12], vec3 centre, float size, vec3 x)
{
    vec3 moved = mat34_point(transform, vec3_madd(centre, x, size));
    return vec3_scale(vec3_sub(moved, centre), 1 / size);
}

/* ---- what acts on flesh besides its bones ---- */

vec3 kit_blow(const solver_input *input, vec3 place)
{
    vec3 sum = {0, 0, 0};

    for (int i = 0; i < input->impulse_count; i++) {
        const cutis_impulse *blow = &input->impulses[i];
        vec3 away = vec3_sub(place, vec3_load(blow->place));
        float share = 1 - vec3_length2(away) / (blow->radius * blow->radius);
        if (share > 0) sum = vec3_madd(sum, vec3_load(blow->velocity), share * share);
    }

    return sum;
}

bool kit_windy(const solver_input *input) { return input->wind[0] != 0 || input->wind[1] != 0 || input->wind[2] != 0; }

/* Density of air over that of flesh. */
#define AIR 0.0012f
/* The greatest acceleration of thin flesh, so that a storm does not throw it away in one substep: 1/s2 of thickness. */
#define WIND_MOST 1000.0f

vec3 kit_wind(const solver_input *input, vec3 normal, vec3 velocity, float thickness)
{
    /* the dynamic pressure of the air that comes towards the skin, over the flesh's mass for each area */
    float speed = vec3_dot(normal, vec3_sub(vec3_load(input->wind), velocity));
    if (!(speed < 0) || !(thickness > 0)) return vec3_make(0, 0, 0);

    float push = 0.5f * AIR * speed * speed / thickness;
    return vec3_scale(normal, -MIN(push, WIND_MOST * thickness));
}

float kit_wind_most(float speed) { return speed * sqrtf(0.5f * AIR * WIND_MOST); }

/* ---- recovery ---- */

void kit_skin_limit(const float *before, int point_count, float reach, float *skin)
{
    double sum[3] = {0};
    for (int p = 0; p < point_count; p++)
        for (int c = 0; c < 3; c++) sum[c] += (double)skin[3 * p + c] - (double)before[3 * p + c];

    int n = MAX(point_count, 1);
    vec3 mean = {(float)(sum[0] / n), (float)(sum[1] / n), (float)(sum[2] / n)};

    /* no point further from it than its reach */
    for (int p = 0; p < point_count; p++) {
        vec3 old = vec3_add(vec3_load(before + 3 * p), mean);
        vec3 way = vec3_sub(vec3_load(skin + 3 * p), old);
        float length2 = vec3_length2(way);
        if (length2 > reach * reach) vec3_store(skin + 3 * p, vec3_madd(old, way, reach / sqrtf(length2)));
    }
}

bool kit_skin_strays(const float *skin, const float *places, int point_count, int stride, float limit)
{
    for (int p = 0; p < point_count; p++) {
        vec3 away = vec3_sub(vec3_load(skin + stride * p), vec3_load(places + stride * p));
        if (!(vec3_length2(away) < limit * limit)) return true; /* also when it is not a number */
    }
    return false;
}

bool kit_skin_tangled(const mesh *m, const bvh *rest_tree, bvh_node *nodes, const float *skin, int rest_intersections,
                      const cutis_jobs *jobs)
{
    if (rest_tree->node_count == 0) return false;
    bvh tree = *rest_tree;
    tree.nodes = nodes;
    memcpy(tree.nodes, rest_tree->nodes, (size_t)tree.node_count * sizeof(bvh_node));
    bvh_refit(&tree, skin, 0);
    return mesh_self_intersections(m, &tree, skin, jobs, NULL, 0) > rest_intersections;
}
