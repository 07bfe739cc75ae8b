/*
 * flesh.c: direction and depth of the flesh under a surface. After Deul and Bender 2013, section 3: each point is
 * projected onto the centre lines of its bones. Departures:
 * - The nearest points of all bones of the point are blended by squared weights, so that the depth has no step where
 *   the preferred bone changes.
 * - A joint without children has no centre line in the file: it gets one towards the mean of its points.
 * - The way to the bone is limited to a depth of flesh, so that a torso has a rib cage.
 */
#include "solvers/flesh.h"

#include <string.h>

#include "character/skinning.h"
#include "solvers/solver_kit.h"

/* Minimum depth of flesh, sizes: a tenth of a fingernail of a person. */
static const float MIN_DEPTH = 6e-4f;
/* Depth of flesh on a point without a bone, sizes. */
static const float BARE_DEPTH = 0.02f;
/* Maximum depth of flesh over the thickness of the body there: less than half, so that two sides do not meet. */
static const float MAX_CHORD_SHARE = 0.4f;
/* Minimum cosine between the flesh's direction and the inner normals around: the bone of an ear lies outside of it. */
static const float MIN_INWARD_COSINE = 0.3f;
/* Steps in which a direction is turned inwards, and passes of the search for the direction that faces all triangles. */
enum { TURN_STEPS = 8, FACING_PASSES = 16 };
/* Of two distances squared the second must be below this share of the first to count as less: above rounding. */
static const float NEARER_SHARE = 0.9999f;
/* Share of the reach of its points that the bone of a joint without children is long. */
static const float TIP_SHARE = 0.8f;
/* Passes of smoothing, so that direction and depth have no steps. */
enum { SMOOTH_PASSES = 3 };

typedef struct bone_lines {
    vec3 joint; /* rest position, sizes */
    vec3 *ends; /* (end_count) */
    int end_count;
} bone_lines;

static vec3 to_sizes(const flesh_request *r, vec3 p)
{
    return vec3_scale(vec3_sub(p, vec3_load(r->centre)), 1 / r->size);
}

/* ---- bones ---- */

/* Give joints without children a line towards the mean of their points. */
static void add_tips(const flesh_request *r, bone_lines *bones, vec3 *ends, vec3 *sums, float *totals, float *reaches)
{
    const point_weights *weights = r->build->weights;
    const mesh *m = r->build->mesh;
    int joints = r->build->character->joint_count;

    for (int p = 0; p < m->point_count; p++) {
        vec3 x = to_sizes(r, vec3_load(m->positions + 3 * p));
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            float w = weights->weights[i] * weights->weights[i];
            sums[weights->joints[i]] = vec3_madd(sums[weights->joints[i]], x, w);
            totals[weights->joints[i]] += w;
        }
    }

    /* direction of each tip, in place of the sum */
    for (int j = 0; j < joints; j++)
        if (totals[j] > 0) sums[j] = vec3_normalize(vec3_sub(vec3_scale(sums[j], 1 / totals[j]), bones[j].joint));

    /* how far its points reach along it */
    for (int p = 0; p < m->point_count; p++) {
        vec3 x = to_sizes(r, vec3_load(m->positions + 3 * p));
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            int j = weights->joints[i];
            if (weights->weights[i] >= 0.5f)
                reaches[j] = MAX(reaches[j], vec3_dot(vec3_sub(x, bones[j].joint), sums[j]));
        }
    }

    for (int j = 0; j < joints; j++) {
        if (bones[j].end_count > 0 || !(totals[j] > 0)) continue;
        *ends = vec3_madd(bones[j].joint, sums[j], TIP_SHARE * reaches[j]);
        bones[j].ends = ends++;
        bones[j].end_count = 1;
    }
}

static bone_lines *find_bones(const flesh_request *r, arena *scratch)
{
    const cutis_character *character = r->build->character;
    int n = character->joint_count, used = 0;
    bone_lines *bones = ARENA_ARRAY(scratch, bone_lines, n + 1);
    vec3 *ends = ARENA_ARRAY(scratch, vec3, 2 * n + 1);
    vec3 *sums = ARENA_ARRAY(scratch, vec3, n + 1);
    float *totals = ARENA_ARRAY(scratch, float, n + 1);
    float *reaches = ARENA_ARRAY(scratch, float, n + 1);
    if (scratch->failed) return NULL;

    /* lines to the children's joints */
    for (int j = 0; j < n; j++) bones[j].joint = to_sizes(r, joint_bind_place(&character->joints[j]));
    for (int j = 0; j < n; j++) {
        bones[j].ends = ends + used;
        for (int c = j + 1; c < n; c++) {
            if (character->joints[c].parent != j) continue;
            if (vec3_distance(bones[c].joint, bones[j].joint) < 1e-3f) continue;
            bones[j].ends[bones[j].end_count++] = bones[c].joint;
            used++;
        }
    }

    add_tips(r, bones, ends + used, sums, totals, reaches);
    return bones;
}

static vec3 bone_nearest(const bone_lines *bone, vec3 p)
{
    vec3 best = bone->joint;
    float best2 = vec3_length2(vec3_sub(p, best));
    for (int e = 0; e < bone->end_count; e++) {
        vec3 line = vec3_sub(bone->ends[e], bone->joint);
        float length2 = vec3_length2(line);
        float t = length2 > 0 ? vec3_dot(vec3_sub(p, bone->joint), line) / length2 : 0;
        vec3 q = vec3_madd(bone->joint, line, CLAMP(t, 0.0f, 1.0f));

        float d2 = vec3_length2(vec3_sub(p, q));
        if (d2 < NEARER_SHARE * best2) {
            best = q;
            best2 = d2;
        }
    }
    return best;
}

/* The blended nearest point of the bones of point k. */
static vec3 axis_of(const flesh_request *r, const bone_lines *bones, int k)
{
    const point_weights *weights = r->build->weights;
    vec3 x = vec3_load(r->surface->positions + 3 * k), sum = {0, 0, 0};
    float total = 0;
    int point = r->points[k];
    for (int i = weights->first[point]; i < weights->first[point + 1]; i++) {
        float w = weights->weights[i] * weights->weights[i];
        sum = vec3_madd(sum, bone_nearest(bones + weights->joints[i], x), w);
        total += w;
    }
    return total > 0 ? vec3_scale(sum, 1 / total) : x;
}

/* ---- direction ---- */

static vec3 triangle_normal(const mesh *m, int t)
{
    const int *v = m->triangles + 3 * t;
    vec3 a = vec3_load(m->positions + 3 * v[0]);
    vec3 b = vec3_sub(vec3_load(m->positions + 3 * v[1]), a);
    vec3 c = vec3_sub(vec3_load(m->positions + 3 * v[2]), a);
    return vec3_normalize(vec3_cross(b, c));
}

/* Minimum cosine between a direction and the inner normals around point k; *worst: the normal of the minimum. */
static float inward_cosine(const mesh *m, int k, vec3 way, vec3 *worst)
{
    float least = 1;
    for (int i = m->point_triangle_first[k]; i < m->point_triangle_first[k + 1]; i++) {
        vec3 normal = triangle_normal(m, m->point_triangles[i]);
        float cosine = -vec3_dot(way, normal);
        if (cosine >= least) continue;
        least = cosine;
        *worst = normal;
    }
    return least;
}

/* The direction inwards that faces all triangles around, as far as there is one. */
static vec3 inward_of(const mesh *m, int k, vec3 normal)
{
    vec3 inward = vec3_scale(normal, -1), best = inward, worst = normal;
    float most = -1;
    for (int pass = 1; pass <= FACING_PASSES; pass++) {
        float cosine = inward_cosine(m, k, inward, &worst);
        if (cosine > most) {
            most = cosine;
            best = inward;
        }
        inward = vec3_normalize(vec3_madd(inward, worst, -1 / (float)(pass + 1)));
    }
    return best;
}

/* Turn a direction inwards until it faces all triangles around. */
static vec3 turn_inward(const mesh *m, int k, vec3 way, vec3 normal)
{
    vec3 worst, inward = inward_of(m, k, normal), turned = way;
    float wanted = MIN(MIN_INWARD_COSINE, 0.5f * inward_cosine(m, k, inward, &worst));
    for (int i = 0; i <= TURN_STEPS; i++) {
        float share = (float)i / TURN_STEPS;
        turned = vec3_normalize(vec3_madd(vec3_scale(way, 1 - share), inward, share));
        if (inward_cosine(m, k, turned, &worst) >= wanted) break;
    }
    return turned;
}

/* Directions from the skin towards the bones, smooth over the surface and facing inwards. */
static void find_ways(const flesh_request *r, const vec3 *axis, const float *normals, vec3 *ways, vec3 *next)
{
    const mesh *m = r->surface;
    for (int k = 0; k < m->point_count; k++) {
        /* a point on its own bone, or without one, goes inwards */
        vec3 way = vec3_sub(axis[k], vec3_load(m->positions + 3 * k));
        ways[k] = vec3_length(way) > MIN_DEPTH ? vec3_normalize(way) : vec3_scale(vec3_load(normals + 3 * k), -1);
    }
    for (int pass = 0; pass < SMOOTH_PASSES; pass++) {
        for (int k = 0; k < m->point_count; k++) {
            vec3 sum = ways[k];
            for (int i = m->point_neighbour_first[k]; i < m->point_neighbour_first[k + 1]; i++)
                sum = vec3_add(sum, ways[m->point_neighbours[i]]);
            next[k] = vec3_length2(sum) > 1e-6f ? vec3_normalize(sum) : ways[k];
        }
        memcpy(ways, next, (size_t)m->point_count * sizeof *ways);
    }
    for (int k = 0; k < m->point_count; k++) ways[k] = turn_inward(m, k, ways[k], vec3_load(normals + 3 * k));
}

/* ---- depth ---- */

/* Depth of the flesh under point k: down to near the bone, but not through thin parts. */
static float find_depth(const flesh_request *r, vec3 axis, int k, vec3 way)
{
    vec3 x = vec3_load(r->surface->positions + 3 * k);
    float length = vec3_distance(axis, x);
    if (!(length > MIN_DEPTH)) length = BARE_DEPTH;
    float flesh = (float)kit_point_value(r->build, r->points[k], r->flesh_depth);
    float depth = MIN((float)kit_point_value(r->build, r->points[k], r->bone_depth) * length, flesh);
    if (r->surface->triangle_count > 0) {
        bvh_hit hit = bvh_ray(r->tree, r->surface->positions, x, way, 0.1f * MIN_DEPTH, depth / MAX_CHORD_SHARE);
        if (hit.triangle >= 0) depth = MIN(depth, MAX_CHORD_SHARE * hit.distance);
    }
    return depth * (r->depth_map ? r->depth_map[k] : 1);
}

/* No steps: each at most the mean of those around it. */
static void smooth_depths(const mesh *m, float *depths, float *next)
{
    for (int pass = 0; pass < SMOOTH_PASSES; pass++) {
        for (int k = 0; k < m->point_count; k++) {
            float sum = depths[k];
            int first = m->point_neighbour_first[k], last = m->point_neighbour_first[k + 1];
            for (int i = first; i < last; i++) sum += depths[m->point_neighbours[i]];
            next[k] = MIN(depths[k], sum / (float)(last - first + 1));
        }
        memcpy(depths, next, (size_t)m->point_count * sizeof(float));
    }
}

cutis_result flesh_find(const flesh_request *request, flesh_columns *columns, arena *scratch, cutis_error *error)
{
    const mesh *m = request->surface;
    int n = m->point_count;
    const bone_lines *bones = find_bones(request, scratch);
    columns->axis = ARENA_ARRAY(scratch, vec3, n);
    columns->ways = ARENA_ARRAY(scratch, vec3, n);
    columns->depths = ARENA_ARRAY(scratch, float, n);
    float *normals = ARENA_ARRAY(scratch, float, 3 * (size_t)n);
    vec3 *next = ARENA_ARRAY(scratch, vec3, n);
    if (scratch->failed) return error_memory(error, "the flesh");

    mesh_normals(m, m->positions, normals, NULL);
    for (int k = 0; k < n; k++) columns->axis[k] = axis_of(request, bones, k);
    find_ways(request, columns->axis, normals, columns->ways, next);
    for (int k = 0; k < n; k++) columns->depths[k] = find_depth(request, columns->axis[k], k, columns->ways[k]);
    smooth_depths(m, columns->depths, (float *)next);
    for (int k = 0; k < n; k++) columns->depths[k] = MAX(columns->depths[k], MIN_DEPTH);
    return CUTIS_OK;
}
