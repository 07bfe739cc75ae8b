/*
 * lattice_build.c: the parameters of solver `lattice`, and the tables of a model: constraints, gains and order of the
 * voxels.
 *
 * Stiffness. The paper's k_s and k_d of a step depend on the step's length and on the resolution. Here a layer's
 * stiffness is a frequency f: that at which flesh of the layer, LENGTH_REFERENCE thick and fixed to bone on one side,
 * swings. A voxel's goal is an average over two windows of width d_r h, so that for smooth displacements u
 *     g - p = (d_r^2 - 1) / 12 h^2 u'',
 * and the quarter wave that fits into the thickness L has (d_r^2 - 1) / 12 (pi h / 2 L)^2 of a single voxel's
 * stiffness. Hence the frequency w of a single voxel about its goal, and from the implicit Euler step of that
 * oscillator the gain of one substep of length s, w = 2 pi f / (pi h / 2 L sqrt((d_r^2 - 1) / 12)),   k_s = (w s)^2 /
 * (1 + (w s)^2). Damping c (1/s) leaves exp(-c s) of the velocity. So both mean the same at any substep, resolution and
 * region width, until k_s comes near 1: what is stiffer than that needs a wider region or more iterations.
 */
#include "solvers/lattice/lattice_model.h"
#include "solvers/solver_kit.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* Thickness of the flesh whose frequency is the stiffness, in sizes. */
#define LENGTH_REFERENCE 0.1
/* Seconds in which a lasting error of volume is felt twice, seconds in which it is forgotten, and how much of a voxel's
 * volume it may add up to. */
#define VOLUME_MEMORY 0.04
#define VOLUME_FADING 0.4
#define VOLUME_BOUND 0.5f
/* Weight of a bone voxel's own rotation in its region, against that of the voxels around it (about 2/3 for d_r = 3). */
#define BONE_GRIP 4.0f
/* Width of a region when none is asked for, in sizes: 3 voxels for a man at resolution 32. */
#define REGION_WIDTH 0.08f

typedef struct builder {
    const solver_build *build;
    lattice_model *model;
    arena *memory;   /* the model's */
    arena temporary; /* of the build */
    float *points;   /* (point_count x 3), in sizes */
    lattice_graph graph;
    lattice_layers layers;
    uint8_t *turned; /* the model's, while it is filled */
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

    lattice_shape shape = {build->mesh->point_count, build->mesh->triangle_count, b->points, build->mesh->triangles,
                           build->mesh};
    int resolution = (int)build->values[LATTICE_RESOLUTION], open_edges = 0;
    bool adaptive = build->values[LATTICE_ADAPTIVE] != 0;
    lattice_graph fine;
    cutis_result result =
        lattice_voxelise(&shape, adaptive ? 2 * resolution : resolution, &b->temporary, &fine, &open_edges, error);
    if (result != CUTIS_OK) return result;
    if (open_edges)
        kit_warn(build, "the mesh is open at %d edges; each hole was closed by a cone to tell inside from outside",
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
    lattice_layer_rules rules = {.skin = build->values[LATTICE_SKIN_LAYER] != 0,
                                 .mixed = build->values[LATTICE_MIXED] != 0,
                                 .file_weights = file_weights(build),
                                 .alpha = (float)build->values[LATTICE_ALPHA],
                                 .falloff = (float)build->values[LATTICE_FALLOFF]};
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
    if (map_points(character, "fat", fat)) rules.fat_map = fat;
    cutis_result result = lattice_classify(&b->graph, build, b->points, &rules, &b->temporary, &b->layers, error);
    if (result == CUTIS_OK && b->layers.loose)
        kit_warn(build, "%d of %d voxels are in pieces that no bone runs through; they follow their skin weights",
                 b->layers.loose, b->graph.count);
    return result;
}

/* Bring bone voxels to the front, and otherwise keep the order; all that follows relies on it. */
static cutis_result voxels_order(builder *b, cutis_error *error)
{
    lattice_graph *graph = &b->graph, old = *graph;
    lattice_layers *layers = &b->layers, before = *layers;
    int count = graph->count, point_count = b->build->mesh->point_count;
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
    if (t->failed) return error_memory(error, "the lattice");
    for (int bone = 1; bone >= 0; bone--) {
        for (int v = 0; v < count; v++)
            if ((before.layer[v] == LATTICE_BONE) == bone) places[v] = at++;
        if (bone) b->model->bone_count = at;
    }
    for (int v = 0; v < count; v++) {
        int to = places[v];
        memcpy(graph->rest + 4 * to, old.rest + 4 * v, 4 * sizeof(float));
        layers->layer[to] = before.layer[v];
        layers->skin_depth[to] = before.skin_depth[v];
        memcpy(layers->shares + LATTICE_LAYERS * to, before.shares + LATTICE_LAYERS * v,
               LATTICE_LAYERS * sizeof(float));
        memcpy(layers->joints + LATTICE_JOINTS * to, before.joints + LATTICE_JOINTS * v, LATTICE_JOINTS * sizeof(int));
        memcpy(layers->weights + LATTICE_JOINTS * to, before.weights + LATTICE_JOINTS * v,
               LATTICE_JOINTS * sizeof(float));
        for (int d = 0; d < LATTICE_DIRECTIONS; d++)
            graph->link_first[LATTICE_DIRECTIONS * to + d + 1] =
                old.link_first[LATTICE_DIRECTIONS * v + d + 1] - old.link_first[LATTICE_DIRECTIONS * v + d];
    }
    for (int i = 0; i < LATTICE_DIRECTIONS * count; i++) graph->link_first[i + 1] += graph->link_first[i];
    for (int v = 0; v < count; v++)
        for (int d = 0; d < LATTICE_DIRECTIONS; d++) {
            int from = old.link_first[LATTICE_DIRECTIONS * v + d], end = old.link_first[LATTICE_DIRECTIONS * v + d + 1];
            int to = graph->link_first[LATTICE_DIRECTIONS * places[v] + d];
            for (int i = from; i < end; i++) graph->links[to + i - from] = places[old.links[i]];
        }
    for (int p = 0; p < point_count; p++) graph->point_voxels[p] = places[old.point_voxels[p]];
    for (int v = 0; v < count; v++) graph->components[places[v]] = old.components[v];
    return CUTIS_OK;
}

/* ---- tables ---- */

static double gain_of(double frequency, double substep)
{
    double w = 2 * 3.14159265358979323846 * frequency * substep;
    return w * w / (1 + w * w);
}

static cutis_result voxel_tables(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    int count = b->graph.count;
    m->count = count;
    m->region = (int)b->build->values[LATTICE_REGION];
    if (m->region == 0) m->region = CLAMP((int)(REGION_WIDTH / b->graph.cell + 0.5f), 3, 8);
    m->region = MAX(m->region, 2);
    m->padded = (count + LATTICE_PAD - 1) / LATTICE_PAD * LATTICE_PAD;
    quad *rest = ARENA_ARRAY(b->memory, quad, m->padded + LATTICE_PAD);
    float *masses = ARENA_ARRAY(b->memory, float, m->padded), *gains = ARENA_ARRAY(b->memory, float, m->padded),
          *keeps = ARENA_ARRAY(b->memory, float, m->padded), *layers = ARENA_ARRAY(b->memory, float, count),
          *edges = ARENA_ARRAY(b->memory, float, count), *inertias = ARENA_ARRAY(b->memory, float, m->padded);
    m->joints = arena_copy(b->memory, b->layers.joints, (size_t)LATTICE_JOINTS * count, sizeof(int));
    m->weights = arena_copy(b->memory, b->layers.weights, (size_t)LATTICE_JOINTS * count, sizeof(float));
    m->shares = arena_copy(b->memory, b->layers.shares, (size_t)LATTICE_LAYERS * count, sizeof(float));
    if (b->memory->failed) return error_memory(error, "the lattice");
    m->rest = rest, m->masses = masses, m->gains = gains, m->keeps = keeps, m->layers = layers, m->edges = edges;
    m->inertias = inertias;
    int region = m->region;
    /* The reference motion is that of the joint that carries most. */
    float *carried = ARENA_ARRAY(&b->temporary, float, m->joint_count + 1);
    if (b->temporary.failed) return error_memory(error, "the lattice");
    for (int i = 0; i < LATTICE_JOINTS * count; i++) carried[m->joints[i]] += m->weights[i];
    for (int j = 0; j <= m->joint_count; j++)
        if (carried[j] > carried[m->reference]) m->reference = j;
    /* Painted maps: a factor on stiffness, and how far voxels only follow the skeleton. */
    float *painted = ARENA_ARRAY(&b->temporary, float, m->character->point_count), *softer = NULL, *frozen = NULL;
    if (b->temporary.failed) return error_memory(error, "the lattice");
    cutis_result result = CUTIS_OK;
    if (map_points(m->character, "stiffness", painted))
        result = lattice_spread(&b->graph, m->character->point_count, painted, &b->temporary, &softer, error);
    if (result == CUTIS_OK && map_points(m->character, "freeze", painted))
        result = lattice_spread(&b->graph, m->character->point_count, painted, &b->temporary, &frozen, error);
    float *freezes = frozen ? ARENA_ARRAY(b->memory, float, m->padded) : NULL;
    if (result == CUTIS_OK && b->memory->failed) result = error_memory(error, "the lattice");
    if (result != CUTIS_OK) return result;
    m->freezes = freezes;
    for (int v = 0; v < count; v++) {
        const float *at = b->graph.rest + 4 * v;
        float ratio = at[3] / b->graph.cell;
        rest[v] = (quad){at[0], at[1], at[2], 0};
        masses[v] = ratio * ratio * ratio;
        layers[v] = b->layers.layer[v];
        edges[v] = at[3] * m->size;
        if (v < m->bone_count) continue;
        double frequency = 0, damping = 0;
        for (int i = LATTICE_MUSCLE; i < LATTICE_LAYERS; i++) {
            float share = b->layers.shares[LATTICE_LAYERS * v + i];
            if (share <= 0) continue;
            frequency += share * voxel_value(b, v, LATTICE_STIFFNESS + i - 1);
            damping += share * voxel_value(b, v, LATTICE_DAMPING + i - 1);
        }
        if (softer) frequency *= softer[v];
        if (frozen) freezes[v] = frozen[v] >= 1 ? 1 : (float)(1 - det_pow(1 - (double)frozen[v], 60 * m->substep));
        double wave = 3.14159265358979323846 * at[3] / (2 * LENGTH_REFERENCE) * sqrt((region * region - 1) / 12.0);
        gains[v] = (float)gain_of(frequency / wave, m->substep) * voxel_value(b, v, LATTICE_GAIN);
        keeps[v] = (float)det_exp(-damping * m->substep);
        inertias[v] = voxel_value(b, v, LATTICE_INERTIA);
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
    int padded = m->padded;
    cutis_result result = lattice_chains(&b->graph, m->region, m->rest, b->memory, &m->sweep, error);
    if (result != CUTIS_OK) return result;
    float *tables[8], *shape[6];
    for (int i = 0; i < 8; i++) tables[i] = ARENA_ARRAY(b->memory, float, padded);
    for (int i = 0; i < 6; i++) m->regions.shape[i] = shape[i] = ARENA_ARRAY(b->memory, float, padded);
    uint8_t *thin = ARENA_ARRAY(b->memory, uint8_t, padded), *turned = ARENA_ARRAY(b->memory, uint8_t, padded);
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
        places[v] = m->rest[v] * m->masses[v];
        places[v][3] = m->masses[v];
    }
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
        static const int diagonal[3] = {0, 3, 5};
        for (int k = 0; k < 3; k++) {
            if (v < m->bone_count)
                tables[4 + k][v] = BONE_GRIP * mass * h * h;
            else if (shape[diagonal[k]][v] < 0.05f * mass * h * h)
                tables[4 + k][v] = 0.25f * mass * h * h;
            else
                continue;
            thin[v / LANES] = 1, turned[v] = 1;
        }
    }
    m->regions.count = m->count, m->regions.padded = padded, m->regions.thin = thin;
    for (int k = 0; k < 3; k++) m->regions.offset[k] = tables[k], m->regions.prior[k] = tables[4 + k];
    m->turned = b->turned = turned;
    m->regions.inverse_mass = tables[3], m->regions.inverse_counts = tables[7];
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
    int count = 0;
    for (int i = 0; i < 3; i++) {
        for (int code = 0; code < 27 && count < limits[set]; code++) {
            int steps[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
            int kind = (steps[0] != 0) + (steps[1] != 0) + (steps[2] != 0);
            if (!kind || kind != kinds[set][i]) continue;
            int next = neighbour_at(graph, voxel, steps);
            if (next < 0 || next == voxel) continue;
            bool known = false;
            for (int k = 0; k < count; k++) known |= found[k] == next;
            if (!known) found[count++] = next;
        }
    }
    return count;
}

static cutis_result stretch_tables(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    int first = m->bone_count, count = m->count - first, set = (int)b->build->values[LATTICE_NEIGHBOUR_SET];
    int padded = (count + LATTICE_PAD - 1) / LATTICE_PAD * LATTICE_PAD, slots = 0, found[LATTICE_NEIGHBOURS];
    double frequency = b->build->values[LATTICE_STRETCH];
    m->has_stretch = frequency > 0 && count > 0;
    if (!m->has_stretch) return CUTIS_OK;
    for (int v = first; v < m->count; v++) slots = MAX(slots, neighbours_find(&b->graph, v, set, found));
    int32_t *neighbours = ARENA_ARRAY(b->memory, int32_t, (size_t)slots * padded + 1);
    float *lengths = ARENA_ARRAY(b->memory, float, (size_t)slots *padded + 1);
    float *gains = ARENA_ARRAY(b->memory, float, padded + 1);
    if (b->memory->failed) return error_memory(error, "the lattice");
    for (int i = 0; i < padded; i++) {
        int v = first + MIN(i, count - 1), n = i < count ? neighbours_find(&b->graph, v, set, found) : 0;
        for (int slot = 0; slot < slots; slot++) {
            int other = slot < n ? found[slot] : v;
            quad d = m->rest[v] - m->rest[other];
            float length = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            neighbours[(size_t)slot * padded + i] = 4 * (slot < n ? other : first + i);
            lengths[(size_t)slot * padded + i] = other < m->bone_count ? -length : length;
        }
        gains[i] = n ? (float)gain_of(frequency, m->substep) / (float)n : 0;
    }
    m->stretch = (lattice_stretch){first, m->count, slots, padded, neighbours, lengths, gains};
    return CUTIS_OK;
}

/* The tables of the volume constraint while they are filled. */
typedef struct volume_fill {
    int32_t *ends[LATTICE_DIRECTIONS];
    float *weights[LATTICE_DIRECTIONS], *flat[3];
    float *rest_volume, *least, *memories;
    int *givers;
    quad *own_ends;
    float *own;   /* a voxel's share */
    float memory; /* of a substep */
} volume_fill;

/* Neighbours of a voxel on both sides along each axis, and the volume that they span at rest. */
static void volume_row(builder *b, const volume_fill *f, int v)
{
    const lattice_model *m = b->model;
    const lattice_graph *graph = &b->graph;
    float d[9] = {0}, gradients[9];
    bool whole = true; /* flesh on some side along each axis, all of it the voxel's own part */
    for (int axis = 0; axis < 3; axis++) {
        int at[2];
        for (int side = 0; side < 2; side++) {
            int direction = 2 * axis + side, next = v < m->count ? lattice_link(graph, v, direction) : -1;
            /* Where several parts meet one voxel, it belongs to one of them alone. */
            if (next >= 0 && lattice_link(graph, next, direction ^ 1) != v) next = -1, whole = false;
            at[side] = next >= 0 ? next : v;
            f->ends[direction][v] = 4 * at[side];
        }
        if (at[0] == at[1]) {
            f->flat[axis][v] = v < m->count ? 2 * graph->rest[4 * v + 3] : 0;
            d[3 * axis + axis] = f->flat[axis][v];
            b->turned[v] = 1;
            whole = false;
            continue;
        }
        for (int side = 0; side < 2; side++) {
            f->weights[2 * axis + side][v] = f->own[at[side]];
            if (at[side] == v)
                f->own_ends[v][axis] = side ? 1 : -1;
            else
                f->givers[LATTICE_DIRECTIONS * at[side] + 2 * axis + side] = v;
        }
        for (int k = 0; k < 3; k++) d[3 * axis + k] = m->rest[at[1]][k] - m->rest[at[0]][k];
    }
    f->rest_volume[v] = lattice_volume_of(d, d + 3, d + 6, gradients);
    /* Where parts meet or flesh is one voxel thin, voxels are held too loosely: the constraint would drive them to
     * and fro. It is left out there. */
    f->memories[v] = whole ? f->memory : 0;
    /* A twentieth of the sum of squares at rest. */
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < 3; k++)
            f->least[v] += 0.05f * (f->weights[2 * axis][v] + f->weights[2 * axis + 1][v]) * gradients[3 * axis + k] *
                           gradients[3 * axis + k];
    f->least[v] = whole ? fmaxf(f->least[v], 1e-30f) : 1e30f;
}

static cutis_result volume_tables(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    int padded = m->padded;
    double frequency = b->build->values[LATTICE_VOLUME];
    m->has_volume = frequency > 0;
    if (!m->has_volume) return CUTIS_OK;
    volume_fill f;
    for (int d = 0; d < LATTICE_DIRECTIONS; d++) {
        f.ends[d] = ARENA_ARRAY(b->memory, int32_t, padded);
        f.weights[d] = ARENA_ARRAY(b->memory, float, padded);
        m->volume.ends[d] = f.ends[d], m->volume.end_weights[d] = f.weights[d];
    }
    for (int k = 0; k < 3; k++) m->volume.flat[k] = f.flat[k] = ARENA_ARRAY(b->memory, float, padded);
    m->volume.rest_volume = f.rest_volume = ARENA_ARRAY(b->memory, float, padded);
    m->volume.least = f.least = ARENA_ARRAY(b->memory, float, padded);
    m->volume.memories = f.memories = ARENA_ARRAY(b->memory, float, padded);
    float *gains = ARENA_ARRAY(b->memory, float, m->count);
    f.own = ARENA_ARRAY(&b->temporary, float, m->count);
    m->volume.givers = f.givers = ARENA_ARRAY(b->memory, int, (size_t)LATTICE_DIRECTIONS * m->count);
    m->volume.own_ends = f.own_ends = ARENA_ARRAY(b->memory, quad, m->count);
    if (b->memory->failed || b->temporary.failed) return error_memory(error, "the lattice");

    /* Equation 13. A voxel deepest inside would not take part at all; it keeps a tenth. */
    float deepest = 0;
    for (int v = 0; v < m->count; v++)
        deepest = fmaxf(deepest, b->layers.skin_depth[v] < FLT_MAX ? b->layers.skin_depth[v] : 0);
    for (int v = m->bone_count; v < m->count; v++)
        f.own[v] = deepest > 0 ? fmaxf(1 - b->layers.skin_depth[v] / deepest, 0.1f) : 1;

    for (int i = 0; i < LATTICE_DIRECTIONS * m->count; i++) f.givers[i] = padded;
    f.memory = (float)(1 - det_exp(-m->substep / VOLUME_MEMORY));
    for (int v = 0; v < padded; v++) volume_row(b, &f, v);
    for (int v = m->bone_count; v < m->count; v++) {
        int n = 0;
        for (int d = 0; d < LATTICE_DIRECTIONS; d++) n += f.givers[LATTICE_DIRECTIONS * v + d] < padded;
        for (int axis = 0; axis < 3; axis++) n += f.own_ends[v][axis] != 0;
        gains[v] = n ? f.own[v] * (float)gain_of(frequency, m->substep) * 2 / (float)n : 0;
    }
    m->volume.count = m->count, m->volume.first = m->bone_count, m->volume.padded = padded;
    m->volume.gains = gains;
    m->volume.fading = (float)det_exp(-m->substep / VOLUME_FADING);
    m->volume.bound = VOLUME_BOUND;
    return CUTIS_OK;
}

/* Weights of the points, blended from those of the voxels around them. */
static cutis_result base_blend(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    int point_count = m->surface.point_count;
    int joint_count = m->joint_count;
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

static cutis_result surface_tables(builder *b, cutis_error *error)
{
    lattice_model *m = b->model;
    const cutis_character *character = m->character;
    cutis_result result =
        lattice_embed(&b->graph, b->points, b->build->mesh->point_count, b->memory, &m->surface, error);
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
    if (result != CUTIS_OK) return result;
    float *under = ARENA_ARRAY(b->memory, float, character->vertex_count);
    if (b->memory->failed) return error_memory(error, "the lattice");
    /* How soft a vertex is: what its voxels' gains are on average. */
    for (int v = 0; v < character->vertex_count; v++) {
        int p = character->vertex_points[v];
        for (int i = m->surface.first[p]; i < m->surface.first[p + 1]; i++)
            under[v] += m->surface.weights[i] *
                        (1 - (m->surface.voxels[i] < m->bone_count ? 1 : m->gains[m->surface.voxels[i]]));
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
    m->iterations = (int)build->values[LATTICE_ITERATIONS];
    m->substep = build->substep;
    builder b = {.build = build, .model = m, .memory = build->memory, .temporary = arena_create(&build->allocator)};
    cutis_result (*const stages[])(builder *, cutis_error *) = {voxels_make,   layers_make,    voxels_order,
                                                                voxel_tables,  region_tables,  stretch_tables,
                                                                volume_tables, surface_tables, contact_tables};
    cutis_result result = CUTIS_OK;
    for (int i = 0; i < COUNT_OF(stages) && result == CUTIS_OK; i++) result = stages[i](&b, error);
    arena_destroy(&b.temporary);
    return result;
}
