/*
 * lattice_layers.c: which voxel is bone, muscle, fat or skin (section 4 of the paper), and how bones move voxels
 * (section 5.1, equations 1 and 2; Dionne and de Lasa 2013).
 *
 * Departures: a voxel between muscle and fat is a mixture of both by the share of its depth (the paper's own wish in
 * its section 8). Distances are measured in sizes of the character, not in voxels, so that a finer lattice has the
 * same bones. The influence of equation 1 is kept for the LATTICE_JOINTS strongest bones. Voxels of a piece that no
 * bone runs through (an eye, a floating hat) have nothing to drive them: they follow the mesh's own weights.
 */
#include "solvers/lattice/lattice.h"

#include <float.h>
#include <string.h>

/* Equation 2: the least distance, in units of the falloff length. It bounds the weight of a bone in its own voxels,
 * so that two bones blend over about one falloff length on either side of their joint. */
#define DISTANCE_FLOOR 0.5f

/* Parts of a voxel's edge that ways along links are counted in: links are whole numbers of quarters. */
#define WAY_PARTS 16
/* Weights and shares that differ by less than this are equal. */
#define TIE 1e-3f

/* ---- Manhattan distance ---- */

static bool heap_before(const float *distance, int a, int b)
{
    return distance[a] < distance[b] || (distance[a] == distance[b] && a < b);
}

static void heap_lift(const float *distance, int *heap, int *place, int at)
{
    int voxel = heap[at];
    while (at > 0 && heap_before(distance, voxel, heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        place[heap[at]] = at;
        at = (at - 1) / 2;
    }
    heap[at] = voxel;
    place[voxel] = at;
}

static int heap_take(const float *distance, int *heap, int *place, int *count)
{
    int first = heap[0], last = heap[--*count], at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= *count) break;
        if (child + 1 < *count && heap_before(distance, heap[child + 1], heap[child])) child++;
        if (!heap_before(distance, heap[child], last)) break;
        heap[at] = heap[child];
        place[heap[at]] = at;
        at = child;
    }
    heap[at] = last;
    place[last] = at;
    place[first] = -1;
    return first;
}

void lattice_distance(const lattice_graph *graph, float *distance, int *sources, int *heap)
{
    /* sources have distance 0 */
    int *place = heap + graph->count, count = 0;
    for (int v = 0; v < graph->count; v++) {
        place[v] = -1;
        if (sources) sources[v] = v;
        if (distance[v] == 0) {
            heap[count] = v;
            place[v] = count;
            count++;
        } else
            distance[v] = FLT_MAX;
    }

    /* Dijkstra, in parts of a voxel that sum without rounding: of equal ways the lower number wins, not the last bit */
    float part = graph->cell / WAY_PARTS;
    while (count > 0) {
        int v = heap_take(distance, heap, place, &count);

        /* shorter ways through it */
        const float *here = graph->rest + 4 * v;
        int end = graph->link_first[(v + 1) * LATTICE_DIRECTIONS];
        for (int i = graph->link_first[v * LATTICE_DIRECTIONS]; i < end; i++) {
            int next = graph->links[i];
            const float *there = graph->rest + 4 * next;
            float way = fabsf(here[0] - there[0]) + fabsf(here[1] - there[1]) + fabsf(here[2] - there[2]);
            float length = distance[v] + rintf(way / part);
            if (length >= distance[next]) continue;
            distance[next] = length;
            if (sources) sources[next] = sources[v];
            if (place[next] < 0) {
                heap[count] = next;
                place[next] = count++;
            }
            heap_lift(distance, heap, place, place[next]);
        }
    }

    /* in sizes */
    for (int v = 0; v < graph->count; v++)
        if (distance[v] < FLT_MAX) distance[v] *= part;
}

/* ---- bones ---- */

typedef struct classifier {
    const lattice_graph *graph;
    const solver_build *build;
    const float *points; /* (point_count x 3), in sizes */
    const lattice_layer_rules *rules;
    lattice_layers *layers;
    vec3 *joints;     /* (joint_count) rest places, in sizes */
    vec3 *tips;       /* (joint_count) end of a bone without children */
    uint8_t *is_bone; /* (joint_count) */
    uint8_t *is_leaf;
    uint8_t *moves;  /* (components of the surface x joint_count) whether a joint moves points of it; NULL: all */
    uint8_t *rigid;  /* (components of the surface) whether a single joint moves all of it */
    float *distance; /* (count) scratch */
    float *nearest;  /* (count) smallest distance minus width to any bone; <= 0 in the bone layer */
    int *heap;       /* (2 x count) */
    int *components; /* (count) */
} classifier;

/* Mark the voxels that a line touches, in the parts that the joint moves; returns how many. */
static int segment_mark(const classifier *c, int joint, vec3 from, vec3 to)
{
    int marked = 0, steps = (int)(vec3_distance(from, to) / c->graph->step * 8) + 1;
    steps = MIN(steps, 100000);
    for (int i = 0; i <= steps; i++) {
        double s = (double)i / steps;
        double place[3] = {from.x + s * ((double)to.x - from.x), from.y + s * ((double)to.y - from.y),
                           from.z + s * ((double)to.z - from.z)};
        for (int g = 0; g < c->graph->grid_count; g++) {
            if (c->moves && !c->moves[(size_t)g * c->build->character->joint_count + joint]) continue;
            int voxel = lattice_locate(c->graph, g, place);
            if (voxel < 0) continue;
            marked += c->distance[voxel] != 0;
            c->distance[voxel] = 0;
        }
    }
    return marked;
}

/* A bone that misses the body starts at the voxel nearest to it among those whose points follow it most. */
static int nearest_mark(const classifier *c, int joint)
{
    const point_weights *w = c->build->weights;

    int best = -1;
    float nearest = INFINITY, strongest = 0;

    /* its weight here */
    for (int p = 0; w->first && p < c->build->mesh->point_count; p++) {
        float weight = 0;
        for (int i = w->first[p]; i < w->first[p + 1]; i++)
            if (w->joints[i] == joint) weight += w->weights[i];

        /* near the strongest, the nearest counts */
        if (weight <= 0 || weight < strongest - 0.25f) continue;
        float distance = vec3_distance(vec3_load(c->points + 3 * p), c->joints[joint]);
        if (weight > strongest + 0.25f || distance < nearest) {
            best = c->graph->point_voxels[p];
            nearest = distance;
            strongest = fmaxf(strongest, weight);
        }
    }

    /* mark it */
    if (best >= 0) c->distance[best] = 0;
    return best >= 0;
}

/* Voxels touched by bone `joint`: from it to each child, or to its tip. */
static int bone_mark(const classifier *c, int joint)
{
    const cutis_character *character = c->build->character;
    int marked = 0;
    for (int v = 0; v < c->graph->count; v++) c->distance[v] = FLT_MAX;
    for (int child = joint + 1; child < character->joint_count; child++)
        if (character->joints[child].parent == joint && c->is_bone[child])
            marked += segment_mark(c, joint, c->joints[joint], c->joints[child]);
    if (c->is_leaf[joint]) marked += segment_mark(c, joint, c->joints[joint], c->tips[joint]);
    return marked ? marked : nearest_mark(c, joint);
}

/* Which joints are bones, where they lie at rest, and where those without children end. */
static void bones_find(classifier *c)
{
    const cutis_character *character = c->build->character;
    const point_weights *w = c->build->weights;

    bool skinned = false;
    for (int j = 0; j < character->joint_count; j++) skinned |= character->joints[j].deforms;
    vec3 centre = vec3_scale(vec3_add(vec3_load(character->bounds_min), vec3_load(character->bounds_max)), 0.5f);
    for (int j = 0; j < character->joint_count; j++) {
        mat34 inverse_bind, bind;
        memcpy(inverse_bind.m, character->joints[j].inverse_bind, sizeof inverse_bind.m);
        bool regular = mat34_inverse(inverse_bind, &bind);

        /* A skeleton that moves no vertex yet is bound here, as Dionne and de Lasa do. */
        c->is_bone[j] = regular && (character->joints[j].deforms || !skinned);
        vec3 at = {bind.m[3], bind.m[7], bind.m[11]};
        c->joints[j] = vec3_scale(vec3_sub(at, centre), 1 / character->size);
    }

    /* a leaf has no bone below it */
    for (int j = 0; j < character->joint_count; j++) {
        c->is_leaf[j] = c->is_bone[j];
        for (int child = j + 1; child < character->joint_count; child++)
            if (character->joints[child].parent == j && c->is_bone[child]) c->is_leaf[j] = 0;
        c->tips[j] = c->joints[j];
    }

    /* The tip lies beyond the middle of the points that follow the joint: a hand or a head has no bone of its own. */
    if (!w->first) return;
    for (int j = 0; j < character->joint_count; j++) {
        if (!c->is_leaf[j]) continue;

        /* the mean place of its points */
        double sum[3] = {0, 0, 0}, total = 0;
        for (int p = 0; p < c->build->mesh->point_count; p++)
            for (int i = w->first[p]; i < w->first[p + 1]; i++) {
                if (w->joints[i] != j) continue;
                total += w->weights[i];
                for (int k = 0; k < 3; k++) sum[k] += (double)w->weights[i] * c->points[3 * p + k];
            }

        /* half as far beyond it */
        if (total <= 0) continue;
        vec3 middle = {(float)(sum[0] / total), (float)(sum[1] / total), (float)(sum[2] / total)};
        c->tips[j] = vec3_madd(c->joints[j], vec3_sub(middle, c->joints[j]), 1.5f);
    }
}

/*
 * Which joints move which component of the surface, and which components are hard: those that hang on one joint as a
 * whole, beside others that do not.
 */
static void parts_find(classifier *c)
{
    const point_weights *w = c->build->weights;
    const mesh *m = c->build->mesh;
    int joint_count = c->build->character->joint_count;
    for (int p = 0; p < m->point_count; p++)
        for (int i = w->first[p]; i < w->first[p + 1]; i++)
            if (w->weights[i] > 0.01f) c->moves[(size_t)m->point_component[p] * joint_count + w->joints[i]] = 1;
    bool soft = false;
    for (int g = 0; g < m->component_count; g++) {
        int count = 0;
        for (int j = 0; j < joint_count; j++) count += c->moves[(size_t)g * joint_count + j];
        c->rigid[g] = count <= 1;
        soft |= count > 1;
    }
    for (int g = 0; g < m->component_count && !soft; g++) c->rigid[g] = 0;
}

/* Share of a hard part's joint in flesh that the part holds. */
#define HELD_SHARE 0.7f

/* Whether a hard part that hangs on one of a voxel's own joints reaches into it, or into one beside it. */
static bool is_held(const classifier *c, int voxel)
{
    const lattice_graph *graph = c->graph;
    int joint_count = c->build->character->joint_count;

    const float *rest = graph->rest + 4 * (size_t)voxel;
    for (int g = 0; g < graph->grid_count; g++) {
        if (!c->rigid[g]) continue;

        /* how far the voxel follows the joints of that part */
        float share = 0;
        for (int k = 0; k < LATTICE_JOINTS; k++) {
            int joint = c->layers->joints[LATTICE_JOINTS * voxel + k];
            if (joint < joint_count && c->moves[(size_t)g * joint_count + joint])
                share += c->layers->weights[LATTICE_JOINTS * voxel + k];
        }

        /* its own place, and those beside it */
        for (int i = 0; i < 7 && share > HELD_SHARE; i++) {
            double place[3] = {rest[0], rest[1], rest[2]};
            if (i > 0) place[(i - 1) / 2] += (i & 1 ? 1 : -1) * (double)rest[3];
            if (lattice_locate(graph, g, place) >= 0) return true;
        }
    }
    return false;
}

/* Equation 1. */
static float influence(float distance, float alpha, float falloff)
{
    float d = distance / falloff + DISTANCE_FLOOR;
    float inverse = 1 / ((1 - alpha) * d + alpha * d * d);
    return inverse * inverse;
}

/* Keep the strongest influences, strongest first. */
static void influence_add(lattice_layers *layers, int voxel, int joint, float weight)
{
    int *joints = layers->joints + LATTICE_JOINTS * voxel;
    float *weights = layers->weights + LATTICE_JOINTS * voxel;
    int at = LATTICE_JOINTS;
    while (at > 0 && weight > (1 + TIE) * weights[at - 1]) at--;
    for (int i = LATTICE_JOINTS - 1; i > at; i--) {
        joints[i] = joints[i - 1];
        weights[i] = weights[i - 1];
    }
    if (at < LATTICE_JOINTS) {
        joints[at] = joint;
        weights[at] = weight;
    }
}

/* Make the weights sum to 1. What no joint moves hangs on `still`, the index after the last joint. */
static void influences_normalise(lattice_layers *layers, int voxel, int still)
{
    float *weights = layers->weights + LATTICE_JOINTS * voxel, sum = 0;
    for (int i = 0; i < LATTICE_JOINTS; i++) sum += weights[i];
    for (int i = 0; i < LATTICE_JOINTS && sum > 0; i++) weights[i] /= sum;
    if (!(sum > 0)) {
        layers->joints[LATTICE_JOINTS * voxel] = still;
        weights[0] = 1;
    }
}

/* ---- pieces without bones ---- */

/* Number the connected pieces of the lattice. */
static int components_find(classifier *c)
{
    int count = 0;
    for (int v = 0; v < c->graph->count; v++) c->components[v] = -1;
    for (int start = 0; start < c->graph->count; start++) {
        if (c->components[start] >= 0) continue;

        /* flood */
        int top = 0;
        c->heap[top++] = start;
        c->components[start] = count;
        while (top > 0) {
            int v = c->heap[--top], end = c->graph->link_first[(v + 1) * LATTICE_DIRECTIONS];
            for (int i = c->graph->link_first[v * LATTICE_DIRECTIONS]; i < end; i++) {
                int next = c->graph->links[i];
                if (c->components[next] >= 0) continue;
                c->components[next] = count;
                c->heap[top++] = next;
            }
        }
        count++;
    }
    return count;
}

/* Let the voxels of pieces without bones follow the weights of the surface in them; all of them count as bone. */
static cutis_result loose_bind(classifier *c, const uint8_t *has_bone, cutis_error *error)
{
    const lattice_graph *graph = c->graph;
    const point_weights *w = c->build->weights;

    /* room */
    arena temporary = arena_create(&c->build->allocator);
    int *first = ARENA_ARRAY(&temporary, int, graph->count + 1);
    int *list = ARENA_ARRAY(&temporary, int, c->build->mesh->point_count + 1);
    int *sources = ARENA_ARRAY(&temporary, int, graph->count + 1);
    float *sums = ARENA_ARRAY(&temporary, float, c->build->character->joint_count + 1);
    if (temporary.failed) {
        arena_destroy(&temporary);
        return error_memory(error, "the lattice's layers");
    }

    /* points by voxel */
    for (int p = 0; p < c->build->mesh->point_count; p++) first[graph->point_voxels[p] + 1]++;
    for (int v = 0; v < graph->count; v++) first[v + 1] += first[v];
    for (int p = c->build->mesh->point_count - 1; p >= 0; p--) list[--first[graph->point_voxels[p] + 1]] = p;

    /* Filling backwards left first[v + 1] at the start of v. */
    for (int v = 0; v < graph->count; v++) {
        int begin = first[v + 1], end = v + 1 < graph->count ? first[v + 2] : c->build->mesh->point_count;
        c->distance[v] = 1;
        if (has_bone[c->components[v]] || begin == end || !w->first) continue;

        /* sum of their weights */
        int low = c->build->character->joint_count, high = -1;
        for (int i = begin; i < end; i++)
            for (int k = w->first[list[i]]; k < w->first[list[i] + 1]; k++) {
                sums[w->joints[k]] += w->weights[k];
                low = MIN(low, w->joints[k]);
                high = MAX(high, w->joints[k]);
            }

        /* hand over, and clear the sums */
        for (int j = low; j <= high; j++) {
            if (sums[j] > 0) influence_add(c->layers, v, j, sums[j]);
            sums[j] = 0;
        }
        if (high >= 0) c->distance[v] = 0;
    }

    /* others take the weights of the nearest that has some */
    lattice_distance(graph, c->distance, sources, c->heap);
    for (int v = 0; v < graph->count; v++) {
        if (has_bone[c->components[v]]) continue;
        c->layers->loose++;
        c->nearest[v] = 0;
        memcpy(c->layers->joints + LATTICE_JOINTS * v, c->layers->joints + LATTICE_JOINTS * sources[v],
               sizeof(int) * LATTICE_JOINTS);
        memcpy(c->layers->weights + LATTICE_JOINTS * v, c->layers->weights + LATTICE_JOINTS * sources[v],
               sizeof(float) * LATTICE_JOINTS);
    }
    arena_destroy(&temporary);
    return CUTIS_OK;
}

/* ---- the file's weights ---- */

/* Passes of the relaxation that carries weights inwards, and its factor beyond Gauss and Seidel's. */
#define SPREAD_PASSES 40
#define SPREAD_BEYOND 1.5f

/* Carry the values of voxels with points, which `counts` tells, to the others: a harmonic function along links. */
static void weights_spread(const lattice_graph *graph, const int *counts, const int *sources, float *values)
{
    /* start from the nearest */
    for (int v = 0; v < graph->count; v++)
        if (!counts[v]) values[v] = values[sources[v]];

    /* Gauss-Seidel with over-relaxation, in alternating directions; the last two passes without */
    for (int pass = 0; pass < SPREAD_PASSES; pass++) {
        for (int i = 0; i < graph->count; i++) {
            int v = pass & 1 ? graph->count - 1 - i : i;
            if (counts[v]) continue;

            /* the mean of the neighbours */
            int begin = graph->link_first[v * LATTICE_DIRECTIONS];
            int end = graph->link_first[(v + 1) * LATTICE_DIRECTIONS];
            if (begin == end) continue;
            float sum = 0;
            for (int k = begin; k < end; k++) sum += values[graph->links[k]];
            float beyond = pass < SPREAD_PASSES - 2 ? SPREAD_BEYOND : 1;
            values[v] += beyond * (sum / (float)(end - begin) - values[v]);
            values[v] = CLAMP(values[v], 0.0f, 1.0f);
        }
    }
}

/*
 * Let voxels follow the file's weights instead of those of equation 1: where the surface has points, the mean of
 * theirs; between and inside, what is harmonic.
 */
static cutis_result file_bind(classifier *c, cutis_error *error)
{
    const lattice_graph *graph = c->graph;
    const point_weights *w = c->build->weights;
    int point_count = c->build->mesh->point_count;
    int joint_count = c->build->character->joint_count;
    arena temporary = arena_create(&c->build->allocator);
    int *counts = ARENA_ARRAY(&temporary, int, graph->count + 1);
    int *sources = ARENA_ARRAY(&temporary, int, graph->count + 1);
    int *joint_first = ARENA_ARRAY(&temporary, int, joint_count + 2);
    int *entries = ARENA_ARRAY(&temporary, int, 2 * (size_t)w->first[point_count] + 1);
    float *values = ARENA_ARRAY(&temporary, float, graph->count + 1);
    if (temporary.failed) {
        arena_destroy(&temporary);
        return error_memory(error, "the lattice's layers");
    }

    /* the points by joint, and the voxels that have points */
    for (int p = 0; p < point_count; p++) counts[graph->point_voxels[p]]++;
    for (int i = 0; i < w->first[point_count]; i++) joint_first[w->joints[i] + 1]++;
    for (int j = 0; j < joint_count; j++) joint_first[j + 1] += joint_first[j];
    for (int p = 0; p < point_count; p++)
        for (int i = w->first[p]; i < w->first[p + 1]; i++) {
            int *entry = entries + 2 * (size_t)joint_first[w->joints[i]]++;
            entry[0] = p;
            entry[1] = i;
        }
    for (int v = 0; v < graph->count; v++) c->distance[v] = counts[v] ? 0 : 1;
    lattice_distance(graph, c->distance, sources, c->heap);

    /* one joint after the other; filling left joint_first[j] at the end of j */
    memset(c->layers->joints, 0, sizeof(int) * (size_t)LATTICE_JOINTS * graph->count);
    memset(c->layers->weights, 0, sizeof(float) * (size_t)LATTICE_JOINTS * graph->count);
    for (int j = 0, begin = 0; j < joint_count; j++) {
        int end = joint_first[j];
        if (begin == end) continue;

        /* the joint's weights where there are points */
        for (int v = 0; v < graph->count; v++) values[v] = 0;
        for (int i = begin; i < end; i++) {
            int voxel = graph->point_voxels[entries[2 * (size_t)i]];
            values[voxel] += w->weights[entries[2 * (size_t)i + 1]] / (float)counts[voxel];
        }

        /* and in between */
        weights_spread(graph, counts, sources, values);
        for (int v = 0; v < graph->count; v++)
            if (values[v] > 1e-4f) influence_add(c->layers, v, j, values[v]);
        begin = end;
    }
    arena_destroy(&temporary);
    return CUTIS_OK;
}

/* A character without skeleton hangs on the voxel deepest inside each piece, which stays where it is. */
static void still_bind(classifier *c, int component_count)
{
    for (int i = 0; i < component_count; i++) {
        int deepest = -1;
        for (int v = 0; v < c->graph->count; v++)
            if (c->components[v] == i && (deepest < 0 || c->layers->skin_depth[v] > c->layers->skin_depth[deepest]))
                deepest = v;
        c->nearest[deepest] = 0;
    }
}

/* ---- layers ---- */

static bool at_surface(const lattice_graph *graph, int voxel)
{
    for (int d = 0; d < LATTICE_DIRECTIONS; d++)
        if (lattice_link(graph, voxel, d) < 0) return true;
    return false;
}

/* Shares of the inner layers for a voxel that takes up low..high of the way from bone to skin. */
static void inner_shares(const float ratio[LATTICE_INNER_COUNT], float low, float high, bool mixed, float *shares)
{
    float total = 0, from = 0;
    for (int i = 0; i < LATTICE_INNER_COUNT; i++) total += ratio[i];
    if (!mixed) low = high = 0.5f * (low + high);
    for (int i = 0; i < LATTICE_INNER_COUNT; i++) {
        float share = total > 0 ? ratio[i] / total : (i == 0 ? 1.0f : 0.0f), to = from + share;
        if (i == LATTICE_INNER_COUNT - 1) to = 1;
        if (mixed) {
            float overlap = fminf(high, to) - fmaxf(low, from);
            shares[LATTICE_MUSCLE + i] = overlap > 0 && high > low ? overlap / (high - low) : 0;
        } else {
            shares[LATTICE_MUSCLE + i] = low >= from && (low < to || (to >= 1 && from < 1)) ? 1 : 0;
        }
        from = to;
    }
}

static void layers_divide(classifier *c, const float *bone_distance, const float *skin_distance, const float *fat)
{
    const lattice_graph *graph = c->graph;
    const lattice_layer_rules *rules = c->rules;
    lattice_layers *layers = c->layers;
    for (int v = 0; v < graph->count; v++) {
        float *shares = layers->shares + LATTICE_LAYERS * v, h = graph->rest[4 * v + 3];
        if (c->nearest[v] <= 0) {
            shares[LATTICE_BONE] = 1;
        } else if (rules->skin && at_surface(graph, v)) {
            shares[LATTICE_SKIN] = 1;
        } else {
            /* With a skin layer, skin_distance counts from its voxels; without, from beyond the outermost voxel. */
            float inner = bone_distance[v], outer = skin_distance[v] + (rules->skin ? 0 : h);
            float total = fmaxf(inner + outer - h, h);

            /* thickness of flesh around the voxel, and where it lies in it */
            float low = CLAMP((inner - h) / total, 0.0f, 1.0f), high = CLAMP(inner / total, 0.0f, 1.0f);

            /* shares by the ratios of its joints */
            float ratio[LATTICE_INNER_COUNT] = {0};
            for (int i = 0; i < LATTICE_INNER_COUNT; i++)
                for (int k = 0; k < LATTICE_JOINTS; k++)
                    ratio[i] += layers->weights[LATTICE_JOINTS * v + k] *
                                rules->ratio[i][layers->joints[LATTICE_JOINTS * v + k]];
            if (fat) ratio[LATTICE_FAT - LATTICE_MUSCLE] *= fat[v];
            inner_shares(ratio, low, high, rules->mixed, shares);
            float sum = 0;
            for (int i = 0; i < LATTICE_LAYERS; i++) sum += shares[i];
            if (!(sum > 0)) shares[LATTICE_MUSCLE] = sum = 1;
            for (int i = 0; i < LATTICE_LAYERS; i++) shares[i] /= sum;
        }

        /* the layer of the largest share */
        layers->layer[v] = 0;
        for (int i = 1; i < LATTICE_LAYERS; i++)
            if (shares[i] > shares[layers->layer[v]] + TIE) layers->layer[v] = (uint8_t)i;
    }
}

cutis_result lattice_spread(const lattice_graph *graph, int point_count, const float *values, arena *memory,
                            float **voxels, cutis_error *error)
{
    /* room */
    float *result = ARENA_ARRAY(memory, float, graph->count), *distance = ARENA_ARRAY(memory, float, graph->count);
    int *counts = ARENA_ARRAY(memory, int, graph->count), *sources = ARENA_ARRAY(memory, int, graph->count),
        *heap = ARENA_ARRAY(memory, int, (size_t)2 * graph->count);
    if (memory->failed) return error_memory(error, "the lattice's painted maps");

    /* the mean of the points in a voxel */
    for (int p = 0; p < point_count; p++) {
        result[graph->point_voxels[p]] += values[p];
        counts[graph->point_voxels[p]]++;
    }
    for (int v = 0; v < graph->count; v++) {
        if (counts[v]) result[v] /= (float)counts[v];
        distance[v] = counts[v] ? 0 : 1;
    }

    /* others take that of the nearest */
    lattice_distance(graph, distance, sources, heap);
    for (int v = 0; v < graph->count; v++)
        if (!counts[v]) result[v] = result[sources[v]];
    *voxels = result;
    return CUTIS_OK;
}

static cutis_result classifier_room(classifier *c, arena *memory, arena *temporary, cutis_error *error)
{
    /* results */
    const cutis_character *character = c->build->character;
    lattice_layers *layers = c->layers;
    int count = c->graph->count;
    layers->layer = ARENA_ARRAY(memory, uint8_t, count);
    layers->shares = ARENA_ARRAY(memory, float, (size_t)count *LATTICE_LAYERS);
    layers->joints = ARENA_ARRAY(memory, int, (size_t)count *LATTICE_JOINTS);
    layers->weights = ARENA_ARRAY(memory, float, (size_t)count *LATTICE_JOINTS);
    layers->skin_depth = ARENA_ARRAY(memory, float, count);
    layers->bone_depth = ARENA_ARRAY(memory, float, count);

    /* scratch */
    c->joints = ARENA_ARRAY(temporary, vec3, character->joint_count + 1);
    c->tips = ARENA_ARRAY(temporary, vec3, character->joint_count + 1);
    c->is_bone = ARENA_ARRAY(temporary, uint8_t, character->joint_count + 1);
    c->is_leaf = ARENA_ARRAY(temporary, uint8_t, character->joint_count + 1);
    c->distance = ARENA_ARRAY(temporary, float, count);
    c->nearest = ARENA_ARRAY(temporary, float, count);
    c->heap = ARENA_ARRAY(temporary, int, (size_t)2 * count);
    c->components = ARENA_ARRAY(temporary, int, count);
    return memory->failed || temporary->failed ? error_memory(error, "the lattice's layers") : CUTIS_OK;
}

/*
 * Weights (equations 1 and 2) and the bone layer: voxels within a bone's width, and those it touches. Returns whether
 * there is any bone. has_bone: (component_count) 1 for the pieces that one runs through.
 */
static bool bones_reach(classifier *c, uint8_t *has_bone)
{
    const lattice_graph *graph = c->graph;
    bool any = false;
    for (int j = 0; j < c->build->character->joint_count; j++) {
        if (!c->is_bone[j] || !bone_mark(c, j)) continue;
        any = true;
        lattice_distance(graph, c->distance, NULL, c->heap);
        for (int v = 0; v < graph->count; v++) {
            if (c->distance[v] == FLT_MAX) continue;
            influence_add(c->layers, v, j, influence(c->distance[v], c->rules->alpha, c->rules->falloff));
            float beyond = c->distance[v] == 0 ? 0 : c->distance[v] - c->rules->bone_width[j];
            c->nearest[v] = fminf(c->nearest[v], beyond);
            has_bone[c->components[v]] = 1;
        }
    }
    return any;
}

static cutis_result classify(classifier *c, arena *memory, arena *temporary, cutis_error *error)
{
    const lattice_graph *graph = c->graph;
    const cutis_character *character = c->build->character;
    lattice_layers *layers = c->layers;
    int count = graph->count;
    uint8_t *has_bone = ARENA_ARRAY(temporary, uint8_t, count);
    cutis_result result = classifier_room(c, memory, temporary, error);
    if (result != CUTIS_OK) return result;

    /* depth below the skin, and connected pieces */
    for (int v = 0; v < count; v++) {
        layers->skin_depth[v] = at_surface(graph, v) ? 0 : 1;
        c->nearest[v] = FLT_MAX;
    }
    lattice_distance(graph, layers->skin_depth, NULL, c->heap);
    int component_count = components_find(c);

    /* parts that move as one joint does */
    bones_find(c);
    bool skinned = false;
    for (int j = 0; j < character->joint_count; j++) skinned |= character->joints[j].deforms;
    if (skinned && c->build->weights->first) {
        c->moves = ARENA_ARRAY(temporary, uint8_t, (size_t)c->build->mesh->component_count * character->joint_count);
        c->rigid = ARENA_ARRAY(memory, uint8_t, c->build->mesh->component_count);
        layers->hard = c->rigid;
        if (memory->failed || temporary->failed) return error_memory(error, "the lattice's layers");
        parts_find(c);
    }

    /* weights: by the bones, without any bone, where no bone runs through, or as the file has them */
    if (!bones_reach(c, has_bone)) {
        memset(has_bone, 1, count);
        still_bind(c, component_count);
    }
    result = loose_bind(c, has_bone, error);
    if (result == CUTIS_OK && c->rules->file_weights) result = file_bind(c, error);
    if (result != CUTIS_OK) return result;
    for (int v = 0; v < count; v++) influences_normalise(layers, v, character->joint_count);

    /* what is hard is bone throughout */
    for (int v = 0; v < count && c->rigid; v++)
        if (c->rigid[graph->components[v]]) c->nearest[v] = 0;

    /* and holds the flesh that it lies on: eyes do not leave their sockets, a helmet does not leave the head */
    for (int v = 0; v < count && c->rigid; v++)
        if (c->nearest[v] > 0 && is_held(c, v)) c->nearest[v] = 0;

    /* layers between bone and skin */
    for (int v = 0; v < count; v++) layers->bone_depth[v] = c->nearest[v] <= 0 ? 0 : 1;
    lattice_distance(graph, layers->bone_depth, NULL, c->heap);
    float *fat = NULL;
    if (c->rules->fat_map)
        result = lattice_spread(graph, c->build->mesh->point_count, c->rules->fat_map, temporary, &fat, error);
    if (result != CUTIS_OK) return result;
    layers_divide(c, layers->bone_depth, layers->skin_depth, fat);
    return CUTIS_OK;
}

cutis_result lattice_classify(const lattice_graph *graph, const solver_build *build, const float *points,
                              const lattice_layer_rules *rules, arena *memory, lattice_layers *layers,
                              cutis_error *error)
{
    memset(layers, 0, sizeof *layers);
    classifier c = {.graph = graph, .build = build, .points = points, .rules = rules, .layers = layers};
    arena temporary = arena_create(&build->allocator);
    cutis_result result = classify(&c, memory, &temporary, error);
    arena_destroy(&temporary);
    return result;
}
