/*
 * lattice_build.c: the parameters of solver `lattice`, and the tables of a model: constraints, gains and order of the
 * voxels.
 *
 * Stiffness. The paper's k_s and k_d of a step depend on the step's length and on the resolution. Here a layer's
 * stiffness is a frequency f: that at which flesh of the layer, LENGTH_REFERENCE thick and fixed to bone on one side,
 * swings to and fro. That is a quarter wave of shear, u_y = sin(theta x / h) with theta = pi h / 2 L. A region of width
 * d_r takes part of it for its own motion, and the mean of the regions that hold a voxel part of that:
 *     S = sin(d_r theta / 2) / (d_r sin(theta / 2))                   moved,
 *     D^2 / 2 I,  D = mean of j sin(theta j),  I = mean of j^2        turned, j from -(d_r - 1) / 2 to (d_r - 1) / 2,
 * and what is left, l = 1 - S^2 - D^2 / 2 I, is pulled back. (Pressed instead of sheared, nothing is turned and about
 * twice as much is left: the same flesh is sqrt 2 as fast to the press, before volume is kept.) Leapfrog with steps s
 * of ddx = -k l x / s^2 has the frequency 2 sin(pi f s) = sqrt(k l), hence k_s = 4 sin^2(pi f s) / l. Stretch
 * constraints add to that; what they add is taken off. Damping c (1/s) leaves exp(-c s) of the velocity. So both mean
 * the same at any substep, resolution and region width. k_s is at most what is stable; springs that hold flesh where
 * it rests add what is left.
 *
 * Stability. A region pulls with the stiffness of the voxel that it is the region of, where the paper has the stiffness
 * of the voxel that is pulled: then the pulls of a region are in balance. All forces are those of one energy for voxels
 * of mass m |R|, m the voxel's volume and |R| the number of regions that hold it. Leapfrog is stable while the modes of
 * force over mass stay below 2 + 2 keep (stiffness_most): shape matching has at most its k_s, stretch and volume what a
 * power iteration finds.
 */
#include "solvers/flesh_map.h"
#include "solvers/lattice/lattice_model.h"
#include "solvers/solver_kit.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* Thickness of the flesh whose frequency is the stiffness, in sizes. */
#define LENGTH_REFERENCE 0.1
/* Thinner flesh than this share of that is damped no faster: it hardly moves against its bone. */
#define THIN_MOST 10.0
/* Damping per substep beyond which anatomy and thinness add none: the stronger, the less stiffness is stable. */
#define DAMPING_MOST 0.8
/* How fast bulges follow the volume of the pose: the rate of the stiffest mode, 1/s, and the time in which they fade.
 */
#define BULGE_RATE 100.0
#define BULGE_FADING 0.5
/* Damping that is always there, 1/s: more than the tenth of a percent a second that large deflections add to the energy
 * at the longest substeps. */
#define LOSS 0.004
#define PI 3.14159265358979323846
/* How much faster than its quarter wave a slab has to be made: its free side, where regions are cut, is softer.
 * Measured, and the same at any resolution, region and substep (test stiffness_is_a_frequency). */
#define FREE_SIDE 1.1
/* Greatest sum of all stiffness per substep, of that at which the leapfrog is unstable, and shape matching's share. */
#define STABLE_MOST 0.95
#define STIFFNESS_SHARE 0.5
/* Greatest stiffness per substep of the stretch and of the volume constraints. */
#define STRETCH_MOST 0.3
#define VOLUME_MOST 0.8
/* How fast bulges follow the volume of the pose: the rate of the stiffest mode, 1/s, and the time in which they fade.
 */
#define BULGE_RATE 100.0
#define BULGE_FADING 0.5
/* Damping that is always there, 1/s: more than the tenth of a percent a second that large deflections add to the energy
 * at the longest substeps. */
#define LOSS 0.004
#define PI 3.14159265358979323846
/* How much faster than its quarter wave a slab has to be made: its free side, where regions are cut, is softer.
 * Measured, and the same at any resolution, region and substep (test stiffness_is_a_frequency). */
#define FREE_SIDE 1.1
/* Greatest stiffness per substep of the springs that hold flesh where it rests. */
#define HOLD_MOST 1.3
/* How much more of the acceleration of its bones the softest flesh feels: no ribs hold a belly. */
#define FAT_INERTIA 1.0
/* Flesh deeper than this gives way no further, in sizes: a trunk is no softer than a thigh. */
#define DEPTH_MOST 0.06f
/* Passes of the power iteration that finds a constraint's stiffest mode. */
#define MODE_PASSES 40
/* Stiffness of unit springs to 20 neighbours against shear of unit slope: sum of (d_x d_y / d)^2 / 2 over them. */
#define STRETCH_SHEAR 2.333
/* Weight of a bone voxel's own rotation in its region, against that of the voxels around it (about 2/3 for d_r = 3). */
#define BONE_GRIP 4.0f
/* Width of a region in voxels when none is set. */
#define DEFAULT_REGION 3

typedef struct builder {
    const solver_build *build;
    lattice_model *model;
    arena *memory;   /* the model's */
    arena temporary; /* of the build */
    float *points;   /* (point_count x 3), in sizes */
    lattice_graph graph;
    lattice_layers layers;
    flesh_map anatomy;
    float *soft;      /* (count) softness of the anatomy map */
    float *stiffness; /* the model's, while they are filled */
    float *gains;
    double stretch;        /* of one spring, for one substep */
    float *inverse_masses; /* (count) against that of a voxel deep inside; 0 for bone */
} builder;

static float bone_value(const builder *b, int joint, int parameter)
{
    if (joint >= b->build->character->joint_count) return (float)b->build->values[parameter];
    return (float)kit_bone_value(b->build, joint, parameter);
}

/* A parameter at a voxel: of its joints, by their weight. */
static float voxel_value(const builder *b, int voxel, int parameter)
{
    float value = 0;
    for (int i = 0; i < LATTICE_JOINTS; i++) {
        float weight = b->layers.weights[LATTICE_JOINTS * voxel + i];
        if (weight > 0) value += weight * bone_value(b, b->layers.joints[LATTICE_JOINTS * voxel + i], parameter);
    }
    return value;
}

/* ---- voxels ---- */

static cutis_result voxels_make(builder *b, cutis_error *error)
{
    const solver_build *build = b->build;
    const cutis_character *character = build->character;
    lattice_model *m = b->model;

    /* lengths are shares of the size, from the middle of the bounds */
    for (int k = 0; k < 3; k++) m->origin[k] = 0.5f * (character->bounds_min[k] + character->bounds_max[k]);
    m->size = character->size;
    if (!(m->size > 0) || build->mesh->triangle_count == 0)
        return error_set(error, CUTIS_ERROR_DATA,
                         "solver lattice needs a surface with some extent, but the mesh has %d triangles and size %g",
                         build->mesh->triangle_count, m->size);
    b->points = ARENA_ARRAY(b->memory, float, (size_t)3 * build->mesh->point_count);
    if (b->memory->failed) return error_memory(error, "the lattice");
    for (int p = 0; p < build->mesh->point_count; p++)
        for (int k = 0; k < 3; k++) b->points[3 * p + k] = (build->mesh->positions[3 * p + k] - m->origin[k]) / m->size;

    /* voxels, at twice the resolution where they are merged afterwards */
    lattice_shape shape = {build->mesh->point_count, build->mesh->triangle_count, b->points, build->mesh->triangles,
                           build->mesh};
    int resolution = (int)build->values[LATTICE_RESOLUTION], open_edges = 0;
    bool adaptive = build->values[LATTICE_ADAPTIVE] != 0;
    lattice_graph fine;
    cutis_result result =
        lattice_voxelise(&shape, adaptive ? 2 * resolution : resolution, &b->temporary, &fine, &open_edges, error);
    if (result != CUTIS_OK) return result;

    if (open_edges)
        kit_note(build, "the mesh is open at %d edges; each hole was closed by a cone, to define the inside",
                 open_edges);

    if (!adaptive) {
        b->graph = fine;
        return CUTIS_OK;
    }
    return lattice_adapt(&fine, shape.point_count, &b->temporary, &b->graph, error);
}

/* A painted map at the points; false when the character has none of that name. */
static bool map_points(const cutis_character *character, const char *name, float *values)
{
    const float *map = kit_map_find(character, name);
    for (int p = 0; p < character->point_count && map; p++) values[p] = kit_map_at(character, map, p, 0);
    return map != NULL;
}

/* Whether voxels and surface follow the file's weights; a skeleton that moves no vertex yet has none. */
static bool file_weights(const solver_build *build)
{
    bool skinned = false;
    for (int j = 0; j < build->character->joint_count; j++) skinned |= build->character->joints[j].deforms;
    return skinned && build->weights->first && build->values[LATTICE_WEIGHTS] == LATTICE_WEIGHTS_FILE;
}

static cutis_result layers_make(builder *b, cutis_error *error)
{
    const solver_build *build = b->build;
    const cutis_character *character = build->character;

    /* rules that hold for all joints */
    lattice_layer_rules rules = {.skin = build->values[LATTICE_SKIN_LAYER] != 0,
                                 .mixed = build->values[LATTICE_MIXED] != 0,
                                 .file_weights = file_weights(build),
                                 .alpha = (float)build->values[LATTICE_ALPHA],
                                 .falloff = (float)build->values[LATTICE_FALLOFF]};

    /* rules by joint */
    int joint_count = character->joint_count;
    float *widths = ARENA_ARRAY(&b->temporary, float, joint_count + 1);
    float *ratios = ARENA_ARRAY(&b->temporary, float, (size_t)LATTICE_INNER_COUNT *(joint_count + 1));
    float *fat = ARENA_ARRAY(&b->temporary, float, build->mesh->point_count);
    if (b->temporary.failed) return error_memory(error, "the lattice");
    rules.bone_width = widths;
    for (int j = 0; j <= joint_count; j++) widths[j] = bone_value(b, j, LATTICE_BONE_WIDTH);
    for (int i = 0; i < LATTICE_INNER_COUNT; i++) {
        rules.ratio[i] = ratios + (size_t)i * (joint_count + 1);
        for (int j = 0; j <= joint_count; j++)
            ratios[(size_t)i * (joint_count + 1) + j] = bone_value(b, j, LATTICE_RATIO + i);
    }

    /* voxels by layer */
    if (map_points(character, "fat", fat)) rules.fat_map = fat;
    cutis_result result = lattice_classify(&b->graph, build, b->points, &rules, &b->temporary, &b->layers, error);
    if (result == CUTIS_OK && b->layers.loose)
        kit_note(build, "%d of %d voxels are in pieces that no bone runs through; they follow their skin weights",
                 b->layers.loose, b->graph.count);
    return result;
}

/* Bring bone voxels to the front, and otherwise keep the order; all that follows relies on it. */
static cutis_result voxels_order(builder *b, cutis_error *error)
{
    lattice_graph *graph = &b->graph, old = *graph;
    lattice_layers *layers = &b->layers, before = *layers;
    int count = graph->count, point_count = b->build->mesh->point_count;

    /* room for what is ordered */
    arena *t = &b->temporary;
    int *places = ARENA_ARRAY(t, int, count), at = 0;
    graph->rest = ARENA_ARRAY(t, float, (size_t)4 * count);
    graph->link_first = ARENA_ARRAY(t, int, (size_t)LATTICE_DIRECTIONS *count + 1);
    graph->links = ARENA_ARRAY(t, int, old.link_first[LATTICE_DIRECTIONS * count] + 1);
    graph->point_voxels = ARENA_ARRAY(t, int, point_count);
    graph->components = ARENA_ARRAY(t, int, count);
    layers->layer = ARENA_ARRAY(t, uint8_t, count);
    layers->shares = ARENA_ARRAY(t, float, (size_t)LATTICE_LAYERS *count);
    layers->joints = ARENA_ARRAY(t, int, (size_t)LATTICE_JOINTS *count);
    layers->weights = ARENA_ARRAY(t, float, (size_t)LATTICE_JOINTS *count);
    layers->skin_depth = ARENA_ARRAY(t, float, count);
    layers->bone_depth = ARENA_ARRAY(t, float, count);
    if (t->failed) return error_memory(error, "the lattice");

    /* bone first */
    for (int bone = 1; bone >= 0; bone--) {
        for (int v = 0; v < count; v++)
            if ((before.layer[v] == LATTICE_BONE) == bone) places[v] = at++;
        if (bone) b->model->bone_count = at;
    }

    /* each voxel with its layer and joints */
    for (int v = 0; v < count; v++) {
        int to = places[v];
        memcpy(graph->rest + 4 * to, old.rest + 4 * v, 4 * sizeof(float));
        layers->layer[to] = before.layer[v];
        layers->skin_depth[to] = before.skin_depth[v];
        layers->bone_depth[to] = before.bone_depth[v];
        memcpy(layers->shares + LATTICE_LAYERS * to, before.shares + LATTICE_LAYERS * v,
               LATTICE_LAYERS * sizeof(float));
        memcpy(layers->joints + LATTICE_JOINTS * to, before.joints + LATTICE_JOINTS * v, LATTICE_JOINTS * sizeof(int));
        memcpy(layers->weights + LATTICE_JOINTS * to, before.weights + LATTICE_JOINTS * v,
               LATTICE_JOINTS * sizeof(float));
        for (int d = 0; d < LATTICE_DIRECTIONS; d++)
            graph->link_first[LATTICE_DIRECTIONS * to + d + 1] =
                old.link_first[LATTICE_DIRECTIONS * v + d + 1] - old.link_first[LATTICE_DIRECTIONS * v + d];
    }

    /* links to the new numbers */
    for (int i = 0; i < LATTICE_DIRECTIONS * count; i++) graph->link_first[i + 1] += graph->link_first[i];
    for (int v = 0; v < count; v++)
        for (int d = 0; d < LATTICE_DIRECTIONS; d++) {
            int from = old.link_first[LATTICE_DIRECTIONS * v + d], end = old.link_first[LATTICE_DIRECTIONS * v + d + 1];
            int to = graph->link_first[LATTICE_DIRECTIONS * places[v] + d];
            for (int i = from; i < end; i++) graph->links[to + i - from] = places[old.links[i]];
        }

    /* points and parts follow */
    for (int p = 0; p < point_count; p++) graph->point_voxels[p] = places[old.point_voxels[p]];
    for (int v = 0; v < count; v++) graph->components[places[v]] = old.components[v];
    return CUTIS_OK;
}

/* ---- anatomy ---- */

/* What kind of flesh each voxel is, and the weight of all. */
static cutis_result anatomy_make(builder *b, cutis_error *error)
{
    const solver_build *build = b->build;
    const cutis_character *character = build->character;
    lattice_model *m = b->model;
    flesh_map_request request = {build, LATTICE_ANATOMY, LATTICE_FATNESS, LATTICE_FIRMNESS, LATTICE_UNIT};
    cutis_result result = flesh_map_find(&request, &b->anatomy, &b->temporary, error);
    if (result == CUTIS_OK)
        result =
            lattice_spread(&b->graph, build->mesh->point_count, b->anatomy.softness, &b->temporary, &b->soft, error);
    float *tissue = ARENA_ARRAY(b->memory, float, character->vertex_count);
    if (result == CUTIS_OK && b->memory->failed) result = error_memory(error, "the lattice");
    if (result != CUTIS_OK) return result;

    for (int v = 0; v < character->vertex_count; v++) tissue[v] = b->anatomy.softness[character->vertex_points[v]];
    m->tissue = tissue;
    m->gravity = (float)flesh_gravity(build->values[LATTICE_GRAVITY], b->anatomy.unit, (double)m->size);
    return CUTIS_OK;
}

/* Factor on the frequency of a layer at a voxel, by anatomy and by the parameter `firmness`. */
static double anatomy_stiffness(const builder *b, int v, int layer)
{
    static const int tissues[LATTICE_LAYERS] = {[LATTICE_MUSCLE] = FLESH_MUSCLE, [LATTICE_MUSCLE + 1] = FLESH_FAT};
    int tissue = layer == LATTICE_LAYERS - 1 ? FLESH_SKIN : layer <= LATTICE_MUSCLE + 1 ? tissues[layer] : FLESH_MUSCLE;
    double amount = voxel_value(b, v, LATTICE_ANATOMY), firmness = voxel_value(b, v, LATTICE_FIRMNESS);
    return firmness * flesh_stiffness(tissue, (double)b->soft[v], amount);
}

/* ---- tables ---- */

/* How much of a quarter wave of shear in LENGTH_REFERENCE shape matching pulls back, for voxels of edge h. */
static double shear_left(int region, double h)
{
    double theta = PI * h / (2 * LENGTH_REFERENCE);
    double moved = det_sin(region * theta / 2) / (region * det_sin(theta / 2));
    double turned = 0, width = 0;
    for (int i = 0; i < region; i++) {
        double j = i - (region - 1) / 2.0;
        turned += j * det_sin(theta * j) / region;
        width += j * j / region;
    }
    return fmax(1 - moved * moved - turned * turned / (2 * width), 1e-6);
}

/* Stiffness of one substep that swings at a frequency: 4 sin^2(pi f s), at most 4. */
static double step_stiffness(double frequency, double substep)
{
    double phase = PI * frequency * substep;
    if (phase >= PI / 2) return 4;
    double sine = det_sin(phase);
    return 4 * sine * sine;
}

/* Frequency of the flesh of a voxel, of all its layers and joints; bone holds on as muscle does. */
static double voxel_frequency(const builder *b, int v, bool by_anatomy)
{
    if (v < b->model->bone_count) return voxel_value(b, v, LATTICE_STIFFNESS);
    double frequency = 0;
    for (int i = LATTICE_MUSCLE; i < LATTICE_LAYERS; i++) {
        float share = b->layers.shares[LATTICE_LAYERS * v + i];
        double factor = by_anatomy ? anatomy_stiffness(b, v, i) : 1;
        if (share > 0) frequency += share * voxel_value(b, v, LATTICE_STIFFNESS + i - 1) * factor;
    }
    return frequency;
}

static cutis_result voxel_tables(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    int count = b->graph.count;

    /* how wide a region is */
    m->count = count;
    m->region = (int)b->build->values[LATTICE_REGION];
    m->region = m->region == 0 ? DEFAULT_REGION : MAX(m->region, 2);

    /* room */
    m->padded = (count + LATTICE_PAD - 1) / LATTICE_PAD * LATTICE_PAD;
    quad *rest = ARENA_ARRAY(b->memory, quad, m->padded + LATTICE_PAD);
    float *masses = ARENA_ARRAY(b->memory, float, m->padded), *gains = ARENA_ARRAY(b->memory, float, m->padded),
          *keeps = ARENA_ARRAY(b->memory, float, m->padded), *layers = ARENA_ARRAY(b->memory, float, count),
          *edges = ARENA_ARRAY(b->memory, float, count), *inertias = ARENA_ARRAY(b->memory, float, m->padded);
    m->joints = arena_copy(b->memory, b->layers.joints, (size_t)LATTICE_JOINTS * count, sizeof(int));
    m->weights = arena_copy(b->memory, b->layers.weights, (size_t)LATTICE_JOINTS * count, sizeof(float));
    m->shares = arena_copy(b->memory, b->layers.shares, (size_t)LATTICE_LAYERS * count, sizeof(float));
    if (b->memory->failed) return error_memory(error, "the lattice");
    m->rest = rest;
    m->masses = masses;
    m->gains = gains;
    m->keeps = keeps;
    m->layers = layers;
    m->edges = edges;
    m->inertias = inertias;
    b->gains = gains;

    /* The reference motion is that of the joint that carries most. */
    float *carried = ARENA_ARRAY(&b->temporary, float, m->joint_count + 1);
    if (b->temporary.failed) return error_memory(error, "the lattice");
    for (int i = 0; i < LATTICE_JOINTS * count; i++) carried[m->joints[i]] += m->weights[i];
    for (int j = 0; j <= m->joint_count; j++)
        if (carried[j] > carried[m->reference]) m->reference = j;

    /* A painted map tells how far voxels only follow the skeleton. */
    float *painted = ARENA_ARRAY(&b->temporary, float, m->character->point_count), *frozen = NULL;
    if (b->temporary.failed) return error_memory(error, "the lattice");
    cutis_result result = CUTIS_OK;
    if (map_points(m->character, "freeze", painted))
        result = lattice_spread(&b->graph, m->character->point_count, painted, &b->temporary, &frozen, error);
    float *freezes = frozen ? ARENA_ARRAY(b->memory, float, m->padded) : NULL;
    float *bounds = m->own_shape ? NULL : ARENA_ARRAY(b->memory, float, m->padded);
    if (result == CUTIS_OK && b->memory->failed) result = error_memory(error, "the lattice");
    if (result != CUTIS_OK) return result;

    m->freezes = freezes;
    m->bounds = bounds;

    /* each voxel: place, mass, and the damping of its layers */
    for (int v = 0; v < count; v++) {
        const float *at = b->graph.rest + 4 * v;
        float ratio = at[3] / b->graph.cell;
        rest[v] = (quad){at[0], at[1], at[2], 0};
        masses[v] = ratio * ratio * ratio;
        layers[v] = b->layers.layer[v];
        edges[v] = at[3] * m->size;
        if (v < m->bone_count) continue;

        /* damping by the shares of the layers */
        double damping = 0;
        for (int i = LATTICE_MUSCLE; i < LATTICE_LAYERS; i++) {
            float share = b->layers.shares[LATTICE_LAYERS * v + i];
            if (share > 0) damping += share * voxel_value(b, v, LATTICE_DAMPING + i - 1);
        }
        double amount = voxel_value(b, v, LATTICE_ANATOMY), fat = amount * MAX(2 * (double)b->soft[v] - 1, 0);
        double usual = damping;
        damping *= flesh_damping((double)b->soft[v], amount);

        /* thin flesh swings faster than that of the reference thickness, and is damped as much faster */
        float thickness = b->layers.bone_depth[v] + b->layers.skin_depth[v];
        damping *= fmin(fmax(1, LENGTH_REFERENCE / fmaxf(thickness, 1e-6f)), THIN_MOST);
        damping = fmin(damping, fmax(usual, DAMPING_MOST / m->substep));

        /* what is left of it after a substep */
        if (frozen) freezes[v] = frozen[v] >= 1 ? 1 : (float)(1 - det_pow(1 - (double)frozen[v], 60 * m->substep));
        keeps[v] = (float)det_exp(-(damping + LOSS) * m->substep);
        inertias[v] = (float)fmin(voxel_value(b, v, LATTICE_INERTIA) * (1 + FAT_INERTIA * fat), 1);
        if (bounds) bounds[v] = voxel_value(b, v, LATTICE_GIVE) * MIN(b->layers.bone_depth[v], DEPTH_MOST);
    }
    return CUTIS_OK;
}

/* ---- centres of rotation ---- */

/* Weights further apart than this share no centre, and voxels among which the centres are summed. */
#define CENTRE_WIDTH 0.3f
#define CENTRE_SAMPLES 1024

/* Points that blended rotations move by less than this, in sizes, are left to linear skinning. */
#define LEAST_TURN 5e-5f

/* How alike two voxels are moved by pairs of joints, equation 5 of Le and Hodgins 2016 with a kernel of finite width.
 */
static float weights_alike(const lattice_layers *layers, int v, int w)
{
    const int *joints = layers->joints + LATTICE_JOINTS * (size_t)v,
              *others = layers->joints + LATTICE_JOINTS * (size_t)w;
    const float *weights = layers->weights + LATTICE_JOINTS * (size_t)v;
    float shares[LATTICE_JOINTS], sum = 0;
    for (int i = 0; i < LATTICE_JOINTS; i++) {
        shares[i] = 0;
        for (int k = 0; k < LATTICE_JOINTS; k++)
            if (others[k] == joints[i]) shares[i] += layers->weights[LATTICE_JOINTS * (size_t)w + k];
    }
    for (int i = 0; i < LATTICE_JOINTS; i++)
        for (int k = 0; k < i; k++) {
            float apart = (weights[i] * shares[k] - weights[k] * shares[i]) / CENTRE_WIDTH;
            float near = 1 - apart * apart;
            if (near > 0) sum += weights[i] * weights[k] * shares[i] * shares[k] * near * near * near;
        }
    return sum;
}

/* The middle of the flesh that has the same weights as a voxel: blended rotations turn the voxel about it. */
static cutis_result centre_tables(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    const lattice_layers *layers = &b->layers;
    quad *arms = ARENA_ARRAY(b->memory, quad, m->padded);
    int *parents = ARENA_ARRAY(b->memory, int, m->joint_count + 1);
    int *blended = ARENA_ARRAY(&b->temporary, int, m->count), blended_count = 0;
    if (b->memory->failed || b->temporary.failed) return error_memory(error, "the lattice");
    m->arms = arms;
    m->parents = parents;
    for (int j = 0; j < m->joint_count; j++) parents[j] = m->character->joints[j].parent;

    for (int v = 0; v < m->count; v++)
        if (layers->weights[LATTICE_JOINTS * v + 1] > 0) blended[blended_count++] = v;
    int stride = (blended_count + CENTRE_SAMPLES - 1) / CENTRE_SAMPLES;
    for (int i = 0; i < blended_count; i++) {
        int v = blended[i];
        quad sum = {0, 0, 0, 0};
        for (int k = 0; k < blended_count; k += stride) {
            quad other = m->rest[blended[k]];
            other[3] = 1;
            sum += other * (m->masses[blended[k]] * weights_alike(layers, v, blended[k]));
        }
        if (!(sum[3] > 1e-9f)) continue;
        arms[v] = m->rest[v] - sum * (1 / sum[3]);
        arms[v][3] = 0;
    }
    return CUTIS_OK;
}

/*
 * Masses, centroids and thin axes of the regions: one sweep over the rest shape.
 *
 * Rivers and James 2007 weigh a voxel in a region by m / |R|, |R| regions holding it. Here it weighs m: the pulls are
 * then in balance for voxels of mass m |R|, so that a skin voxel, which fewer regions hold, is lighter. With m / |R|
 * the flexed arm crosses itself at 290 instead of 150 pairs of triangles (linear blending: 168), for regions at the
 * surface follow the surface instead of the flesh below.
 */
static cutis_result region_tables(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;

    /* rods along each axis */
    int padded = m->padded;
    cutis_result result = lattice_chains(&b->graph, m->region, m->rest, b->memory, &m->sweep, error);
    if (result != CUTIS_OK) return result;

    /* room */
    float *tables[8], *shape[6];
    for (int i = 0; i < 8; i++) tables[i] = ARENA_ARRAY(b->memory, float, padded);
    for (int i = 0; i < 6; i++) m->regions.shape[i] = shape[i] = ARENA_ARRAY(b->memory, float, padded);
    uint8_t *thin = ARENA_ARRAY(b->memory, uint8_t, padded);
    b->stiffness = ARENA_ARRAY(b->memory, float, padded);
    b->inverse_masses = ARENA_ARRAY(&b->temporary, float, padded);
    quad *places = ARENA_ARRAY(&b->temporary, quad, padded);
    lattice_frame *in = ARENA_ARRAY(&b->temporary, lattice_frame, padded),
                  *sums = ARENA_ARRAY(&b->temporary, lattice_frame, padded),
                  *other = ARENA_ARRAY(&b->temporary, lattice_frame, padded);
    if (b->memory->failed || b->temporary.failed) return error_memory(error, "the lattice");

    /* how many regions hold a voxel */
    lattice_frame *loans = ARENA_ARRAY(&b->temporary, lattice_frame, m->sweep.loan_most + 1);
    if (b->temporary.failed) return error_memory(error, "the lattice");
    for (int v = 0; v < m->count; v++) in[v].b = (quad){0, 0, 0, 1};
    lattice_sum_frames(&m->sweep, in, sums, other, loans, NULL);
    for (int v = 0; v < m->count; v++) {
        tables[7][v] = 1 / sums[v].b[3];
        float full = (float)(m->region * m->region * m->region);
        b->inverse_masses[v] = v < m->bone_count ? 0 : full * tables[7][v] / m->masses[v];
        places[v] = m->rest[v] * m->masses[v];
        places[v][3] = m->masses[v];
    }

    /* centre and second moments of each region at rest */
    lattice_sum_moments(&m->sweep, places, sums, other, NULL);
    for (int v = 0; v < m->count; v++) {
        float mass = sums[v].b[3], h = b->graph.rest[4 * v + 3];

        tables[3][v] = 1 / mass;
        for (int k = 0; k < 3; k++) {
            float offset = sums[v].r[k][3] / mass; /* w of the moments: mass x rest offset */
            tables[k][v] = offset;
        }

        /* Second moments of the rest shape about its centroid. */
        for (int i = 0, k = 0; k < 3; k++)
            for (int j = k; j < 3; j++, i++) shape[i][v] = sums[v].r[k][j] - sums[v].b[j] * tables[k][v];

        /* a region that is thin along an axis has no rotation of its own there, and bone turns with the skeleton */
        static const int diagonal[3] = {0, 3, 5};
        for (int k = 0; k < 3; k++) {
            if (v < m->bone_count)
                tables[4 + k][v] = BONE_GRIP * mass * h * h;
            else if (shape[diagonal[k]][v] < 0.05f * mass * h * h)
                tables[4 + k][v] = 0.25f * mass * h * h;
            else
                continue;
            thin[v / LANES] = 1;
        }
    }
    m->regions.count = m->count;
    m->regions.padded = padded;
    m->regions.thin = thin;
    for (int k = 0; k < 3; k++) {
        m->regions.offset[k] = tables[k];
        m->regions.prior[k] = tables[4 + k];
    }
    m->regions.stiffness = b->stiffness;
    m->regions.inverse_mass = tables[3];
    m->regions.inverse_counts = tables[7];
    return CUTIS_OK;
}

/* The voxel `steps` away (each -1, 0 or 1) along links, in any order of axes; -1 for none. */
static int neighbour_at(const lattice_graph *graph, int voxel, const int steps[3])
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 6; i++) {
        int at = voxel;
        for (int k = 0; k < 3 && at >= 0; k++) {
            int axis = orders[i][k];
            if (steps[axis]) at = lattice_link(graph, at, 2 * axis + (steps[axis] > 0));
        }
        if (at >= 0) return at;
    }
    return -1;
}

/* Neighbours of a voxel by the chosen set, see lattice_constraints.c. Returns their number. */
static int neighbours_find(const lattice_graph *graph, int voxel, int set, int found[LATTICE_NEIGHBOURS])
{
    /* Which kinds (by number of axes stepped along: 1 face, 2 edge, 3 corner) come in which order. */
    static const int kinds[4][3] = {{1, 0, 0}, {1, 3, 0}, {2, 3, 1}, {1, 2, 3}};
    static const int limits[4] = {6, 14, 20, 26};

    /* kind by kind, as many as the set takes */
    int count = 0;
    for (int i = 0; i < 3; i++) {
        for (int code = 0; code < 27 && count < limits[set]; code++) {
            int steps[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
            int kind = (steps[0] != 0) + (steps[1] != 0) + (steps[2] != 0);
            if (!kind || kind != kinds[set][i]) continue;
            int next = neighbour_at(graph, voxel, steps);

            /* coarse voxels are met more than once */
            if (next < 0 || next == voxel) continue;
            bool known = false;
            for (int k = 0; k < count; k++) known |= found[k] == next;
            if (!known) found[count++] = next;
        }
    }
    return count;
}

/* ---- modes ---- */

/* The greatest stiffness of a constraint's modes, force over mass, by power iteration about the rest shape. */
typedef void mode_force(const lattice_model *m, const quad *places, quad *forces, void *scratch);

static cutis_result mode_greatest(builder *b, mode_force *force, double *greatest, cutis_error *error)
{
    const lattice_model *m = b->model;
    size_t n = (size_t)m->padded + LATTICE_PAD;

    /* room */
    const float small = 1e-3f * b->graph.cell;
    quad *mode = ARENA_ARRAY(&b->temporary, quad, n);
    quad *places = ARENA_ARRAY(&b->temporary, quad, n);
    quad *forces = ARENA_ARRAY(&b->temporary, quad, n);
    quad *scratch = ARENA_ARRAY(&b->temporary, quad, 4 * n + 3);
    if (b->temporary.failed) return error_memory(error, "the lattice");

    /* begin with all modes: numbers that do not repeat */
    for (int v = m->bone_count; v < m->count; v++)
        for (int k = 0; k < 3; k++) mode[v][k] = (float)((v * 7919 + k * 104729) % 1009) / 504.5f - 1;

    /* power iteration: the force of a mode is its next iterate */
    *greatest = 0;
    for (int pass = 0; pass < MODE_PASSES; pass++) {
        double before = 0, after = 0;
        for (int v = 0; v < m->count; v++)
            for (int k = 0; k < 3 && v >= m->bone_count; k++)
                before += (double)mode[v][k] * mode[v][k] / b->inverse_masses[v];
        if (!(before > 0)) return CUTIS_OK;

        /* a small displacement of that shape, for which the force is linear */
        float scale = (float)(small * sqrt((double)(m->count - m->bone_count) / before));
        for (int v = 0; v < m->count; v++) {
            forces[v] = (quad){0, 0, 0, 0};
            places[v] = m->rest[v] + (v < m->bone_count ? (quad){0, 0, 0, 0} : mode[v] * scale);
        }

        /* the next iterate */
        force(m, places, forces, scratch);
        for (int v = m->bone_count; v < m->count; v++) {
            mode[v] = -forces[v];
            for (int k = 0; k < 3; k++) after += (double)mode[v][k] * mode[v][k] / b->inverse_masses[v];
        }

        *greatest = sqrt(after / before) / scale;
    }
    return CUTIS_OK;
}

static void stretch_force(const lattice_model *m, const quad *places, quad *forces, void *scratch)
{
    float *intact = scratch;
    for (int v = 0; v < m->padded + LATTICE_PAD; v++) intact[v] = 1;
    lattice_stretch_pull(&m->stretch, places, intact, forces, NULL);
}

static void volume_force(const lattice_model *m, const quad *places, quad *forces, void *scratch)
{
    quad *shares = scratch;
    float *intact = (float *)(shares + 3 * ((size_t)m->padded + 1));
    float *found = intact + m->padded;
    lattice_volume_push(&m->volume, places, m->volume.rest_volume, found, intact, shares, forces, NULL);
}

/* ---- stretch ---- */

/* Neighbours of all voxels; whoever has a neighbour is one to it, so that the pulls of a pair are in balance. */
static void neighbours_agree(const builder *b, int set, int *counts, int *lists)
{
    int found[LATTICE_NEIGHBOURS], count = b->model->count;
    for (int v = 0; v < count; v++) {
        int n = neighbours_find(&b->graph, v, set, found);
        for (int i = 0; i < n; i++) {
            int pair[2] = {v, found[i]};
            bool room = counts[v] < LATTICE_NEIGHBOURS && counts[found[i]] < LATTICE_NEIGHBOURS;
            bool known = false;
            for (int k = 0; k < counts[v]; k++) known |= lists[LATTICE_NEIGHBOURS * v + k] == found[i];
            for (int k = 0; k < 2 && room && !known; k++)
                lists[LATTICE_NEIGHBOURS * pair[k] + counts[pair[k]]++] = pair[1 - k];
        }
    }
}

static cutis_result stretch_tables(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    int first = m->bone_count, count = m->count - first, slots = 0;
    int padded = (count + LATTICE_PAD - 1) / LATTICE_PAD * LATTICE_PAD;

    /* whether there is any */
    double frequency = b->build->values[LATTICE_STRETCH];
    m->has_stretch = frequency > 0 && count > 0;
    if (!m->has_stretch) return CUTIS_OK;

    /* who is whose neighbour */
    int *counts = ARENA_ARRAY(&b->temporary, int, m->count);
    int *lists = ARENA_ARRAY(&b->temporary, int, (size_t)LATTICE_NEIGHBOURS * m->count);
    if (b->temporary.failed) return error_memory(error, "the lattice");
    neighbours_agree(b, (int)b->build->values[LATTICE_NEIGHBOUR_SET], counts, lists);

    /* a slot for each; what has fewer is its own neighbour at distance 0 */
    for (int v = first; v < m->count; v++) slots = MAX(slots, counts[v]);
    int32_t *neighbours = ARENA_ARRAY(b->memory, int32_t, (size_t)slots * padded + 1);
    float *lengths = ARENA_ARRAY(b->memory, float, (size_t)slots *padded + 1);
    float *gains = ARENA_ARRAY(b->memory, float, padded + 1);
    if (b->memory->failed) return error_memory(error, "the lattice");

    /* lane by lane, padding included */
    for (int i = 0; i < padded; i++) {
        int v = first + MIN(i, count - 1), n = i < count ? counts[v] : 0;
        for (int slot = 0; slot < slots; slot++) {
            int other = slot < n ? lists[LATTICE_NEIGHBOURS * v + slot] : v;
            quad d = m->rest[v] - m->rest[other];
            neighbours[(size_t)slot * padded + i] = 4 * (slot < n ? other : first + i);
            lengths[(size_t)slot * padded + i] = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
        gains[i] = i < count ? b->inverse_masses[v] : 0;
    }
    m->stretch = (lattice_stretch){first, m->count, slots, padded, neighbours, lengths, gains};

    /* the stiffest mode swings at the frequency that is asked for */
    double greatest = 0;
    cutis_result result = mode_greatest(b, stretch_force, &greatest, error);
    double stiffness = MIN(step_stiffness(frequency, m->substep), STRETCH_MOST);
    b->stretch = greatest > 0 ? stiffness / greatest : 0;
    for (int i = 0; i < padded; i++) gains[i] *= (float)b->stretch;
    return result;
}

/* ---- stiffness ---- */

/* Stiffness per substep left to shape matching and holds: the leapfrog is stable below 2 + 2 keep. */
static double stiffness_most(const lattice_model *m)
{
    float keep = 1;
    for (int v = m->bone_count; v < m->count; v++) keep = MIN(keep, m->keeps[v]);
    return STABLE_MOST * (2 + 2 * (double)keep) - VOLUME_MOST - (m->has_stretch ? STRETCH_MOST : 0);
}

static cutis_result stiffness_tables(builder *b, cutis_error *error)
{
    /* painted, softer parts */
    lattice_model *m = b->model;
    float *painted = ARENA_ARRAY(&b->temporary, float, m->character->point_count), *softer = NULL;
    lattice_frame *in = ARENA_ARRAY(&b->temporary, lattice_frame, m->padded),
                  *sums = ARENA_ARRAY(&b->temporary, lattice_frame, m->padded),
                  *other = ARENA_ARRAY(&b->temporary, lattice_frame, m->padded),
                  *loans = ARENA_ARRAY(&b->temporary, lattice_frame, m->sweep.loan_most + 1);
    if (b->temporary.failed) return error_memory(error, "the lattice");
    cutis_result result = CUTIS_OK;
    if (map_points(m->character, "stiffness", painted))
        result = lattice_spread(&b->graph, m->character->point_count, painted, &b->temporary, &softer, error);
    if (result != CUTIS_OK) return result;

    /* the stiffness of each region, and of the spring that adds what regions cannot reach */
    float *springs = ARENA_ARRAY(&b->temporary, float, m->padded), *holds = ARENA_ARRAY(b->memory, float, m->padded);
    if (b->temporary.failed || b->memory->failed) return error_memory(error, "the lattice");
    double asked = 0, most = stiffness_most(m);
    float stiffest = 0;
    for (int v = 0; v < m->count; v++) {
        double h = b->graph.rest[4 * v + 3];
        double painted_factor = FREE_SIDE * (softer ? (double)softer[v] : 1);
        double frequency = painted_factor * voxel_frequency(b, v, true);
        double plain = painted_factor * voxel_frequency(b, v, false);
        double theta = PI * h / (2 * LENGTH_REFERENCE);
        double left = shear_left(m->region, h);
        double by_stretch = m->has_stretch ? STRETCH_SHEAR * b->stretch * theta * theta : 0;
        double whole = step_stiffness(frequency, m->substep);
        double wanted = fmin(whole, step_stiffness(plain, m->substep));
        double k = fmin(fmax(wanted - by_stretch, 0.1 * wanted) / left, STIFFNESS_SHARE * most);

        /* the rest as a spring; a lattice of its own shape has no place to be held at */
        double reached = k * left + by_stretch;
        if (!m->own_shape) springs[v] = (float)CLAMP(wanted - reached, 0.0, most - k);
        reached += (double)springs[v];
        if (reached < 0.9 * wanted) asked = fmax(asked, plain);

        /* flesh that anatomy makes firmer, by an implicit step: it hardly swings, and does not overshoot */
        double firmer = m->own_shape ? 0 : fmax(whole - wanted, 0);
        holds[v] = (float)(firmer / (1 + firmer));

        /* what the regions take */
        b->stiffness[v] = (float)k * voxel_value(b, v, LATTICE_GAIN);
        stiffest = MAX(stiffest, b->stiffness[v] + springs[v]);
        in[v].b = (quad){0, 0, 0, b->stiffness[v]};
    }
    if (asked > 0)
        kit_warn(b->build, "flesh of %.3g Hz is softer than that at substeps of %.4g s; use a shorter substep",
                 asked / FREE_SIDE, m->substep);
    m->holds = holds;

    m->settle = 1.9f / fmaxf(stiffest + (float)(STRETCH_MOST + VOLUME_MOST), 1.9f);

    /* what the regions that hold a voxel have on average */
    lattice_sum_frames(&m->sweep, in, sums, other, loans, NULL);
    for (int v = m->bone_count; v < m->count; v++)
        b->gains[v] = sums[v].b[3] * m->regions.inverse_counts[v] + springs[v];
    return CUTIS_OK;
}

/* ---- volume ---- */

/* The tables of the volume constraint while they are filled. */
typedef struct volume_fill {
    int32_t *ends[LATTICE_DIRECTIONS];
    float *weights[LATTICE_DIRECTIONS];
    float *rest_volume, *least;
    int *givers;
    quad *own_ends;
} volume_fill;

/* Neighbours of a voxel on both sides along each axis, and the volume that they span at rest. */
static void volume_row(builder *b, const volume_fill *f, int v)
{
    const lattice_model *m = b->model;
    const lattice_graph *graph = &b->graph;
    float d[9] = {0}, gradients[9];
    int at[LATTICE_DIRECTIONS];

    /* flesh on some side along each axis, all of it the voxel's own part; where parts meet or flesh is one voxel thin,
     * voxels are held too loosely, and there is no constraint */
    bool whole = v < m->count;
    for (int direction = 0; direction < LATTICE_DIRECTIONS; direction++) {
        int next = v < m->count ? lattice_link(graph, v, direction) : -1;
        if (next >= 0 && lattice_link(graph, next, direction ^ 1) != v) whole = false;
        at[direction] = next >= 0 ? next : MIN(v, m->count - 1);
        f->ends[direction][v] = 4 * at[direction];
    }
    for (int axis = 0; axis < 3; axis++) whole &= at[2 * axis] != at[2 * axis + 1];
    f->least[v] = 1;
    if (!whole) return;

    /* who pushes whom */
    for (int direction = 0; direction < LATTICE_DIRECTIONS; direction++) {
        int axis = direction / 2;
        f->weights[direction][v] = b->inverse_masses[at[direction]];
        if (at[direction] == v)
            f->own_ends[v][axis] = direction & 1 ? 1 : -1;
        else
            f->givers[LATTICE_DIRECTIONS * at[direction] + direction] = v;
    }

    /* the volume between the neighbours */
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < 3; k++) d[3 * axis + k] = m->rest[at[2 * axis + 1]][k] - m->rest[at[2 * axis]][k];
    f->rest_volume[v] = lattice_volume_of(d, d + 3, d + 6, gradients);

    /* the denominator of equation 6 */
    float sum = 0;
    for (int i = 0; i < 9; i++)
        sum += (f->weights[2 * (i / 3)][v] + f->weights[2 * (i / 3) + 1][v]) * gradients[i] * gradients[i];
    f->least[v] = fmaxf(sum, 1e-30f);
}

static cutis_result volume_tables(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    int padded = m->padded;

    double frequency = b->build->values[LATTICE_VOLUME];
    m->has_volume = frequency > 0;
    if (!m->has_volume) return CUTIS_OK;

    /* room */
    volume_fill f;
    for (int d = 0; d < LATTICE_DIRECTIONS; d++) {
        m->volume.ends[d] = f.ends[d] = ARENA_ARRAY(b->memory, int32_t, padded);
        m->volume.end_weights[d] = f.weights[d] = ARENA_ARRAY(b->memory, float, padded);
    }
    m->volume.rest_volume = f.rest_volume = ARENA_ARRAY(b->memory, float, padded);
    m->volume.least = f.least = ARENA_ARRAY(b->memory, float, padded);
    m->volume.givers = f.givers = ARENA_ARRAY(b->memory, int, (size_t)LATTICE_DIRECTIONS * m->count);
    m->volume.own_ends = f.own_ends = ARENA_ARRAY(b->memory, quad, m->count);
    float *gains = ARENA_ARRAY(b->memory, float, m->count);
    if (b->memory->failed) return error_memory(error, "the lattice");

    /* a constraint for each voxel */
    for (int i = 0; i < LATTICE_DIRECTIONS * m->count; i++) f.givers[i] = padded;
    for (int v = 0; v < padded; v++) volume_row(b, &f, v);

    /* hand over */
    m->volume.count = m->count;
    m->volume.first = m->bone_count;
    m->volume.padded = padded;
    m->volume.gains = gains;
    for (int v = 0; v < m->count; v++) gains[v] = b->inverse_masses[v];

    /* the stiffest mode swings at the frequency that is asked for */
    double greatest = 0;
    cutis_result result = mode_greatest(b, volume_force, &greatest, error);
    double stiffness = MIN(step_stiffness(frequency, m->substep), VOLUME_MOST);
    for (int v = 0; v < m->count; v++) gains[v] *= greatest > 0 ? (float)(stiffness / greatest) : 0;

    /* bulges: how fast they grow, how slowly they fade */
    m->bulge_gain = (float)(MIN(BULGE_RATE * m->substep, 1.5) / stiffness);
    m->bulge_keep = (float)det_exp(-m->substep / BULGE_FADING);
    return result;
}

/* Weights of the points, blended from those of the voxels around them. */
static cutis_result base_blend(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    int point_count = m->surface.point_count;
    int joint_count = m->joint_count;

    /* room */
    int entry_most = LATTICE_JOINTS * m->surface.first[point_count];
    int *first = ARENA_ARRAY(&b->temporary, int, point_count + 1);
    int *joints = ARENA_ARRAY(&b->temporary, int, entry_most + 1);
    float *weights = ARENA_ARRAY(&b->temporary, float, entry_most + 1);
    float *sums = ARENA_ARRAY(&b->temporary, float, joint_count + 1);
    if (b->temporary.failed) return error_memory(error, "the lattice");

    for (int p = 0; p < point_count; p++) {
        /* add up by joint; what hangs on the scene is left without weight */
        int at = first[p];
        float total = 0;
        for (int i = m->surface.first[p]; i < m->surface.first[p + 1]; i++) {
            int v = m->surface.voxels[i];
            float share = MAX(m->surface.weights[i], 0.0f);
            for (int k = 0; k < LATTICE_JOINTS; k++) {
                int joint = m->joints[LATTICE_JOINTS * v + k];
                float weight = share * m->weights[LATTICE_JOINTS * v + k];
                if (weight <= 0 || joint >= joint_count) continue;
                if (sums[joint] == 0) joints[at++] = joint;
                sums[joint] += weight;
                total += weight;
            }
        }

        /* hand over, and clear the sums */
        for (int i = first[p]; i < at; i++) {
            weights[i] = sums[joints[i]] / total;
            sums[joints[i]] = 0;
        }
        first[p + 1] = at;
    }
    return skinning_build(&m->surface.base, point_count, b->build->mesh->positions, first, joints, weights, joint_count,
                          b->memory, error);
}

/* The skin that each voxel bears: normal, and the volume of flesh for its area. */
static cutis_result outward_table(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    const lattice_surface *s = &m->surface;
    const mesh *surface = b->build->mesh;
    quad *outward = ARENA_ARRAY(b->memory, quad, m->padded);
    if (!outward) return error_memory(error, "the lattice");
    m->outward = outward;

    /* a third of each triangle to each corner, and on to the voxels that carry it */
    for (int t = 0; t < surface->triangle_count; t++) {
        const int *corner = surface->triangles + 3 * (size_t)t;
        vec3 p[3];
        for (int e = 0; e < 3; e++) p[e] = vec3_load(b->points + 3 * (size_t)corner[e]);
        vec3 area = vec3_scale(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])), 1.0f / 6);
        for (int e = 0; e < 3; e++)
            for (int i = s->first[corner[e]]; i < s->first[corner[e] + 1]; i++)
                outward[s->voxels[i]] += (quad){area.x, area.y, area.z, 0} * s->weights[i];
    }

    /* unit normals; the volume of the voxel over its area is how thick its flesh is */
    for (int v = 0; v < m->count; v++) {
        quad n = outward[v];
        float area = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        float h = b->graph.rest[4 * v + 3];
        outward[v] = area > 1e-3f * h * h ? n * (1 / area) : (quad){0, 0, 0, 0};
        outward[v][3] = area > 1e-3f * h * h ? h * h * h / area : 0;
    }
    return CUTIS_OK;
}

/* Which points several joints move, and from where each is turned: the mean of its voxels' centres. */
static cutis_result point_arm_table(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    const skinning *base = &m->surface.base;
    int *points = ARENA_ARRAY(b->memory, int, base->count + 1);
    quad *arms = ARENA_ARRAY(b->memory, quad, base->count + 1);
    float *frozen = ARENA_ARRAY(&b->temporary, float, base->count + 1);
    if (b->memory->failed || b->temporary.failed) return error_memory(error, "the lattice");
    map_points(m->character, "freeze", frozen);

    for (int p = 0; p < base->count; p++) {
        bool blended = base->first[p + 1] - base->first[p] > 1 && base->weights[base->first[p] + 1] > 0;
        float total = 0;
        quad sum = {0, 0, 0, 0}, rest = {b->points[3 * p], b->points[3 * p + 1], b->points[3 * p + 2], 0};
        for (int i = m->surface.first[p]; i < m->surface.first[p + 1] && blended; i++) {
            int v = m->surface.voxels[i];
            if (!(m->surface.weights[i] > 0) || !(m->weights[LATTICE_JOINTS * v + 1] > 0)) continue;
            sum += (m->rest[v] - m->arms[v]) * m->surface.weights[i];
            total += m->surface.weights[i];
        }

        /* what is painted to be frozen stays with linear skinning */
        if (!(total > 1e-6f) || frozen[p] >= 1) continue;
        quad arm = (rest - sum * (1 / total)) * MIN(1.0f, 4 * (1 - frozen[p]));
        arm[3] = 0;

        /* and what half a turn would hardly move */
        float length = sqrtf(arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]);
        if (2 * (1 - base->weights[base->first[p]]) * length < LEAST_TURN) continue;
        points[m->turned_count] = p;
        arms[m->turned_count++] = arm;
    }
    m->turned_points = points;
    m->point_arms = arms;
    return CUTIS_OK;
}

static cutis_result surface_tables(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;

    /* the voxels that carry each point */
    const cutis_character *character = m->character;
    const lattice_affinity affinity = {b->build->weights, m->joints, m->weights, b->layers.hard};
    cutis_result result = lattice_embed(&b->graph, b->points, b->build->mesh->point_count,
                                        file_weights(b->build) ? &affinity : NULL, b->memory, &m->surface, error);
    if (result == CUTIS_OK) result = outward_table(b, error);
    if (result != CUTIS_OK) return result;

    /* a point that is painted to be frozen gets nothing, even from voxels beside it that are not */
    float *frozen = ARENA_ARRAY(&b->temporary, float, m->surface.point_count);
    if (b->temporary.failed) return error_memory(error, "the lattice");
    if (map_points(character, "freeze", frozen)) {
        for (int p = 0; p < m->surface.point_count; p++)
            for (int i = m->surface.first[p]; i < m->surface.first[p + 1]; i++)
                m->surface.weights[i] *= MIN(1.0f, 4 * (1 - frozen[p]));
    }

    /* where the points are without the lattice's doing */
    const point_weights *w = b->build->weights;
    if (file_weights(b->build))
        result = skinning_build(&m->surface.base, m->surface.point_count, b->build->mesh->positions, w->first,
                                w->joints, w->weights, m->joint_count, b->memory, error);
    else
        result = base_blend(b, error);
    if (result == CUTIS_OK) result = point_arm_table(b, error);
    if (result != CUTIS_OK) return result;
    float *under = ARENA_ARRAY(b->memory, float, character->vertex_count);
    if (b->memory->failed) return error_memory(error, "the lattice");

    /* How soft a vertex is: what its voxels' gains are on average. */
    for (int v = 0; v < character->vertex_count; v++) {
        int p = character->vertex_points[v];
        for (int i = m->surface.first[p]; i < m->surface.first[p + 1]; i++)
            under[v] += m->surface.weights[i] *
                        (1 - (m->surface.voxels[i] < m->bone_count ? 1 : MIN(m->gains[m->surface.voxels[i]], 1.0f)));
    }
    m->softness = under;
    return CUTIS_OK;
}

/* The painted depth, of the way from each point to the nearest bone voxel. */
static cutis_result press_table(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    int count = b->build->mesh->point_count;
    float *press = ARENA_ARRAY(b->memory, float, count);
    if (!press) return error_memory(error, "the lattice's painted depths");

    if (m->bone_count == 0 || !map_points(m->character, "depth", press)) return CUTIS_OK;

    /* how far skin may be pressed: to the nearest bone */
    for (int p = 0; p < count; p++) {
        float nearest2 = FLT_MAX;
        vec3 at = vec3_load(b->points + 3 * p);
        for (int v = 0; v < m->bone_count; v++) {
            vec3 bone = {m->rest[v][0], m->rest[v][1], m->rest[v][2]};
            nearest2 = MIN(nearest2, vec3_length2(vec3_sub(bone, at)));
        }
        press[p] = press[p] >= 1 ? 1e6f : press[p] * sqrtf(nearest2);
    }
    m->contact.press = press;
    return CUTIS_OK;
}

static cutis_result contact_tables(builder *b, cutis_error *error)
{
    const double *values = b->build->values;
    cutis_result result = press_table(b, error);
    if (result != CUTIS_OK) return result;
    b->model->touch.on = values[LATTICE_TOUCH] != 0;
    if (b->model->touch.on)
        result = lattice_touch_build(b->model, b->build, b->points, (float)values[LATTICE_CONTACT_GAP], error);
    if (result != CUTIS_OK) return result;
    return lattice_contact_build(&b->model->contact, b->build, values[LATTICE_SELF_COLLISION] != 0,
                                 values[LATTICE_PROPS] != 0, (float)values[LATTICE_CONTACT_GAP],
                                 (float)values[LATTICE_FRICTION], error);
}

cutis_result lattice_model_build(const solver_build *build, void **data, cutis_error *error)
{
    lattice_model *m = arena_push(build->memory, 1, sizeof *m);
    if (!m) return error_memory(error, "the lattice");
    *data = m;
    m->character = build->character;
    m->joint_count = build->character->joint_count;
    m->own_shape = build->values[LATTICE_SHAPE] == LATTICE_SHAPE_LATTICE;
    m->substep = build->substep;
    builder b = {.build = build, .model = m, .memory = build->memory, .temporary = arena_create(&build->allocator)};
    cutis_result (*const stages[])(builder *, cutis_error *) = {
        voxels_make,   layers_make,    voxels_order,     anatomy_make,  voxel_tables,   centre_tables,
        region_tables, stretch_tables, stiffness_tables, volume_tables, surface_tables, contact_tables};
    cutis_result result = CUTIS_OK;
    for (int i = 0; i < COUNT_OF(stages) && result == CUTIS_OK; i++) result = stages[i](&b, error);
    arena_destroy(&b.temporary);
    return result;
}
