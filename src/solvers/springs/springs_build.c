/*
 * springs_build.c: the skin's springs, made from a rigged surface.
 *
 * Cordier and Magnenat-Thalmann leave stiffnesses to the user; here they follow from the flesh. Flesh of Young's
 * modulus E between the skin and a bone at depth d holds a piece of skin of area A like a spring of E A / d: firm where
 * the bone is near, soft where it is far, and in units of force. Skin of membrane stiffness `stretch` E d spreads a
 * dent over about sqrt(stretch) depths, a bending stiffness of `bend` E d^3 over about bend^(1/4) depths. So
 * stiffnesses go with the character's size, and the shape does not depend on its units.
 *
 * The depth is the distance to the bones' centre lines, less the bone's own radius: `bone` of the distance of its
 * nearest skin (a tenth of the points may be nearer).
 */
#include <string.h>

#include "character/skinning.h"
#include "solvers/solver_kit.h"
#include "solvers/springs/springs.h"

/* Least depth, in sizes, and greatest. */
static const float LEAST_DEPTH = 0.004f, GREATEST_DEPTH = 0.06f;
/* Radii of a bone are sorted into so many classes up to GREATEST_DEPTH. */
enum { RADIUS_CLASSES = 256 };
/* Bending of one edge may hold a node this much more firmly than its anchor: slivers would slow down all. */
static const float BEND_LIMIT = 4;
/* Weights below this do not make a point part of a bone. */
static const float BONE_WEIGHT = 0.3f;

/* Contacts settle to this share of the tolerance: what they are off by is kept, as friction. */
static const float CONTACT_STRICTER = 0.25f;

typedef struct bone_line {
    vec3 joint;
    vec3 *ends;
    int end_count;
    float radius;
    float skin; /* distance of the nearest skin: a tenth of the points may be nearer; 0: it moves none */
} bone_line;

typedef struct builder {
    const solver_build *build;
    springs_model *model;
    const float *rest; /* (point_count x 3) sizes */
    bone_line *bones;
    float *depths, *areas;
} builder;

static vec3 segment_nearest(vec3 p, vec3 a, vec3 b)
{
    vec3 ab = vec3_sub(b, a);
    float length2 = vec3_length2(ab);
    float t = length2 > 0 ? vec3_dot(vec3_sub(p, a), ab) / length2 : 0;
    return vec3_madd(a, ab, CLAMP(t, 0.0f, 1.0f));
}

static float bone_distance(const bone_line *bone, vec3 p)
{
    float best2 = vec3_length2(vec3_sub(p, bone->joint));
    for (int e = 0; e < bone->end_count; e++)
        best2 = MIN(best2, vec3_length2(vec3_sub(p, segment_nearest(p, bone->joint, bone->ends[e]))));
    return sqrtf(best2);
}

/* Centre lines from joint to child; of a joint without children towards the mean of its points. */
static cutis_result bones_build(builder *b, arena *scratch, cutis_error *error)
{
    const cutis_character *character = b->build->character;
    const point_weights *weights = b->build->weights;

    int n = character->joint_count, used = 0;
    b->bones = ARENA_ARRAY(scratch, bone_line, n + 1);
    vec3 *ends = ARENA_ARRAY(scratch, vec3, 2 * (size_t)n + 1), *sums = ARENA_ARRAY(scratch, vec3, n + 1);
    float *totals = ARENA_ARRAY(scratch, float, n + 1);
    int *classes = ARENA_ARRAY(scratch, int, RADIUS_CLASSES + 1);
    float *rest = ARENA_ARRAY(scratch, float, 3 * (size_t)b->model->point_count + 3);
    if (scratch->failed) return error_memory(error, "the bones of solver springs");

    for (int i = 0; i < 3 * b->model->point_count; i++)
        rest[i] = (b->build->mesh->positions[i] - b->model->centre[i % 3]) / b->model->size;
    b->rest = rest;

    for (int j = 0; j < n; j++) {
        vec3 at = joint_bind_place(&character->joints[j]);
        b->bones[j].joint = vec3_scale(vec3_sub(at, vec3_load(b->model->centre)), 1 / b->model->size);
    }

    /* the mean of each joint's points */
    for (int p = 0; p < b->model->point_count; p++)
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            float w = weights->weights[i] * weights->weights[i];
            int j = weights->joints[i];
            sums[j] = vec3_madd(sums[j], vec3_load(b->rest + 3 * p), w);
            totals[j] += w;
        }

    /* lines to the children, or beyond that mean */
    for (int j = 0; j < n; j++) {
        bone_line *bone = b->bones + j;
        bone->ends = ends + used;
        for (int c = j + 1; c < n; c++)
            if (character->joints[c].parent == j && vec3_distance(b->bones[c].joint, bone->joint) > 1e-3f)
                bone->ends[bone->end_count++] = b->bones[c].joint;
        if (bone->end_count == 0 && totals[j] > 0) {
            vec3 way = vec3_sub(vec3_scale(sums[j], 1 / totals[j]), bone->joint);
            bone->ends[bone->end_count++] = vec3_madd(bone->joint, way, 1.5f);
        }
        used += bone->end_count;
    }

    /* The distance that a tenth of the bone's points undercut. */
    for (int j = 0; j < n; j++) {
        int count = 0, sum = 0, at = 0;
        memset(classes, 0, (size_t)(RADIUS_CLASSES + 1) * sizeof *classes);

        /* how many lie how far */
        for (int p = 0; p < b->model->point_count; p++)
            for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
                if (weights->joints[i] != j || weights->weights[i] < BONE_WEIGHT) continue;
                float d = bone_distance(b->bones + j, vec3_load(b->rest + 3 * p)) / GREATEST_DEPTH;
                classes[(int)(MIN(d, 1.0f) * RADIUS_CLASSES)]++;
                count++;
            }

        /* a tenth of them, times the share asked for */
        while (at < RADIUS_CLASSES && (sum += classes[at]) * 10 < count) at++;
        double share = kit_bone_value(b->build, j, SPRINGS_BONE_RADIUS);
        float nearest = GREATEST_DEPTH * ((float)at + 0.5f) / RADIUS_CLASSES;
        b->bones[j].radius = (float)share * nearest;
        b->bones[j].skin = count > 0 ? nearest : 0;
    }

    return CUTIS_OK;
}

/* The width of the thinnest limbs: a quarter of the bones with skin may be thinner. */
static float fingertip_find(const builder *b, int joint_count, arena *scratch)
{
    float *radii = ARENA_ARRAY(scratch, float, joint_count + 1);
    int count = 0;
    if (!radii) return 0;

    /* sorted by insertion */
    for (int j = 0; j < joint_count; j++) {
        float radius = b->bones[j].skin;
        if (!(radius > 0)) continue;
        int at = count++;
        for (; at > 0 && radii[at - 1] > radius; at--) radii[at] = radii[at - 1];
        radii[at] = radius;
    }

    return count > 0 ? 2 * radii[count / 4] : 0;
}

/* A painted map at a point, `unpainted` where there is none. */
static float map_value(const builder *b, const char *name, int point, float unpainted)
{
    const cutis_character *character = b->build->character;
    return kit_map_at(character, kit_map_find(character, name), point, unpainted);
}

static void depths_find(builder *b)
{
    const point_weights *weights = b->build->weights;
    for (int p = 0; p < b->model->point_count; p++) {
        float sum = 0, total = 0;
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            const bone_line *bone = b->bones + weights->joints[i];
            float d = bone_distance(bone, vec3_load(b->rest + 3 * p)) - bone->radius, w = weights->weights[i];
            sum += w * CLAMP(d, LEAST_DEPTH, GREATEST_DEPTH);
            total += w;
        }
        b->depths[p] = total > 0 ? sum / total : 0.5f * GREATEST_DEPTH;
    }
}

static void strongest_find(builder *b)
{
    const point_weights *weights = b->build->weights;
    for (int p = 0; p < b->model->point_count; p++) {
        float most = 0;
        b->model->bone[p] = -1;
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            if (!(weights->weights[i] > most)) continue;
            most = weights->weights[i];
            b->model->bone[p] = weights->joints[i];
        }
    }
}

/* Anchors: E A / d in newtons per size. A square size has metres^2, d metres, a size metres: E A / d scales by
 * metres^2. */
static void anchors_build(builder *b)
{
    springs_model *m = b->model;

    /* triangles of no area count a tenth of the mean */
    float unit = m->metres * m->metres;
    double mean = 0;
    for (int p = 0; p < m->point_count; p++) mean += (double)b->areas[p] / MAX(m->point_count, 1);
    for (int p = 0; p < m->point_count; p++) {
        float modulus = 1000 * (float)kit_point_value(b->build, p, SPRINGS_FLESH_YOUNG) *
                        MAX(map_value(b, "stiffness", p, 1), 0.01f);
        float freeze = map_value(b, "freeze", p, 0);
        float area = MAX(b->areas[p], 0.1f * (float)mean);
        if (!(area > 0)) area = 1e-6f;

        /* frozen skin is a thousand times as stiff */
        m->anchor[p] = modulus * area / b->depths[p] * unit / MAX(1 - freeze, 0.001f);
        m->frozen[p] = freeze > 0.999f;

        /* flesh stiffens as it is pressed together */
        float depth = b->depths[p] * MAX(map_value(b, "depth", p, 1), 0.01f);
        m->depth[p] = 1 / (depth * depth);
        m->flesh[p] = b->depths[p];
        m->area[p] = area;
        m->bulge[p] = (float)kit_point_value(b->build, p, SPRINGS_BULGE);
    }
}

/* Distance of a from the line through b and c. */
static float edge_height(vec3 b, vec3 c, vec3 a)
{
    vec3 e = vec3_sub(c, b);
    float length = vec3_length(e);
    return length > 0 ? vec3_length(vec3_cross(e, vec3_sub(a, b))) / length : 0;
}

static int opposite(const int *triangle, int b, int c)
{
    for (int k = 0; k < 3; k++)
        if (triangle[k] != b && triangle[k] != c) return triangle[k];
    return b;
}

static bool runs(const int *triangle, int b, int c)
{
    for (int k = 0; k < 3; k++)
        if (triangle[k] == b && triangle[(k + 1) % 3] == c) return true;
    return false;
}

/* An edge and the triangles at its sides, at rest. */
typedef struct edge_rest {
    int nodes[4];     /* B, C, A, D */
    int sides[2];     /* triangles; -1: none */
    bool hinge, flat; /* two triangles; and neither is a sliver */
    float length, heights[2];
} edge_rest;

static edge_rest edge_look(const builder *b, int e)
{
    const mesh *skin = b->build->mesh;
    const int *sides = skin->edge_triangles + 2 * e;
    edge_rest r = {.nodes = {skin->edges[2 * e], skin->edges[2 * e + 1]},
                   .sides = {sides[0], sides[1]},
                   .hinge = skin->edge_triangle_counts[e] == 2,
                   .heights = {1, 1}};

    /* the corners opposite the edge */
    for (int k = 0; k < 2; k++)
        r.nodes[2 + k] = sides[k] >= 0 ? opposite(skin->triangles + 3 * sides[k], r.nodes[0], r.nodes[1]) : r.nodes[k];

    /* A lies to the left of B C as seen from outside. */
    if (r.hinge && !runs(skin->triangles + 3 * sides[0], r.nodes[0], r.nodes[1])) {
        int swap = r.nodes[2];
        r.nodes[2] = r.nodes[3];
        r.nodes[3] = swap;
    }

    /* lengths and heights at rest */
    vec3 p[4];
    for (int k = 0; k < 4; k++) p[k] = vec3_load(b->rest + 3 * r.nodes[k]);
    r.length = vec3_distance(p[0], p[1]);
    for (int k = 0; k < 2 && r.hinge; k++) r.heights[k] = edge_height(p[0], p[1], p[2 + k]);
    r.flat = r.hinge && r.heights[0] > 0.02f * r.length && r.heights[1] > 0.02f * r.length;
    return r;
}

/* How strongly edge i resists stretch and bend, from the flesh at its ends. */
static void edge_strengthen(builder *b, const edge_rest *r, size_t i)
{
    springs_model *m = b->model;
    springs_edges *edges = &m->edges;
    float tension = m->metres * m->metres; /* E d: N per metre of width; x metres^2: N per size */
    double depth = 0, modulus = 0, stretch = 0, bend = 0, length = (double)r->length;
    for (int k = 0; k < 2; k++) {
        int q = r->nodes[k];
        float painted = MAX(map_value(b, "stiffness", q, 1), 0.01f);
        depth += 0.5 * (double)b->depths[q];
        modulus += 500 * kit_point_value(b->build, q, SPRINGS_FLESH_YOUNG) * (double)painted;
        stretch += 0.5 * kit_point_value(b->build, q, SPRINGS_STRETCH);
        bend += 0.5 * kit_point_value(b->build, q, SPRINGS_BEND);
    }

    /* Springs along the edges of a net stand for a membrane by the area of the edge's two triangles. */
    double area = 0.5 * length *
                  ((r->sides[0] >= 0 ? (double)r->heights[0] : 0) + (r->sides[1] >= 0 ? (double)r->heights[1] : 0));
    if (!r->hinge) area = 0.4 * length * length;
    double share = r->length > 0 ? CLAMP(area / (length * length), 0.1, 2) : 0;
    edges->stretch[i] = (float)(modulus * stretch * depth * share) * tension;
    if (!r->flat) return;

    /* A plate of stiffness B bends over the strip of the two triangles: moment = B length / width per radian. */
    double width = 0.5 * ((double)r->heights[0] + (double)r->heights[1]) / 1.5;
    float ga = edges->low[0][i], gd = edges->low[1][i], row = 2 * MAX(ga, gd) * (ga + gd);
    float hold = 0;
    for (int k = 0; k < 4; k++) hold += 0.25f * m->anchor[r->nodes[k]];
    edges->bend[i] = (float)(modulus * bend * depth * depth * depth * length / width) * tension;
    edges->bend[i] = MIN(edges->bend[i], BEND_LIMIT * hold / row);
}

/* Bounds of the rows: 2 k for a spring, |g_i| sum |g_j| for a moment of gradient g. */
static void edge_bound(springs_model *m, const edge_rest *r, size_t i)
{
    const springs_edges *edges = &m->edges;
    for (int k = 0; k < 2; k++) m->diagonal[r->nodes[k]] += 2 * edges->stretch[i];
    if (!r->flat) return;
    float ga = edges->low[0][i], gd = edges->low[1][i], sum = 4 * (ga + gd); /* twice, for the moment's own turn */
    for (int k = 0; k < 2; k++) m->diagonal[r->nodes[k]] += edges->bend[i] * 0.6f * (ga + gd) * sum;
    m->diagonal[r->nodes[2]] += edges->bend[i] * ga * sum;
    m->diagonal[r->nodes[3]] += edges->bend[i] * gd * sum;
}

/* The forces that act on each point, by the counts in incident_first. */
static cutis_result incident_build(springs_model *m, arena *memory, cutis_error *error)
{
    const springs_edges *edges = &m->edges;

    /* starts of the lists */
    for (int p = 0; p < m->point_count; p++) m->incident_first[p + 1] += m->incident_first[p];
    m->incident = ARENA_ARRAY(memory, int, m->incident_first[m->point_count] + 1);
    if (memory->failed) return error_memory(error, "the springs of the skin");

    /* fill them, which shifts the starts by one */
    for (int e = 0; e < edges->count; e++)
        for (int k = 0; k < 4; k++) {
            if (k >= 2 && !(edges->bend[e] > 0)) continue;
            size_t block = (size_t)e / LANES, lane = (size_t)e % LANES;
            int p = edges->nodes[(block * 4 + (size_t)k) * LANES + lane] / NODE;
            m->incident[m->incident_first[p]++] = EDGE * e + 4 * k;
        }

    for (int p = m->point_count; p > 0; p--) m->incident_first[p] = m->incident_first[p - 1];
    m->incident_first[0] = 0;
    return CUTIS_OK;
}

static cutis_result edges_build(builder *b, cutis_error *error)
{
    springs_model *m = b->model;
    springs_edges *edges = &m->edges;
    arena *memory = b->build->memory;

    edges->count = b->build->mesh->edge_count;
    edges->blocks = LANE_BLOCKS(edges->count);
    size_t lanes = (size_t)edges->blocks * LANES;
    edges->nodes = ARENA_ARRAY(memory, int, 4 * lanes);
    edges->slots = ARENA_ARRAY(memory, int, 4 * lanes);
    float **arrays[] = {&edges->stretch, &edges->bend, &edges->low[0], &edges->low[1]};
    for (int i = 0; i < COUNT_OF(arrays); i++) *arrays[i] = ARENA_ARRAY(memory, float, lanes);
    m->incident_first = ARENA_ARRAY(memory, int, (size_t)m->point_count + 2);
    if (memory->failed) return error_memory(error, "the springs of the skin");
    if (lanes * EDGE > INT32_MAX)
        return error_set(error, CUTIS_ERROR_UNSUPPORTED,
                         "solver springs takes at most 134 million edges; this mesh "
                         "has %d: simplify it",
                         edges->count);

    for (size_t i = 0; i < lanes; i++) {
        /* Lanes beyond the end work on the last edge without strength. */
        edge_rest r = edge_look(b, MIN((int)i, edges->count - 1));
        size_t block = i / LANES, lane = i % LANES;
        for (size_t k = 0; k < 4; k++) {
            edges->nodes[(block * 4 + k) * LANES + lane] = NODE * r.nodes[k];
            edges->slots[(block * 4 + k) * LANES + lane] = (int)(EDGE * i + 4 * k);
        }

        for (int k = 0; k < 2; k++) edges->low[k][i] = 1 / MAX(0.7f * r.heights[k], 1e-12f);
        if ((int)i >= edges->count) continue;
        edge_strengthen(b, &r, i);
        edge_bound(m, &r, i);

        /* count what meets at each node */
        for (int k = 0; k < 4; k++) m->incident_first[r.nodes[k] + 1] += k < 2 || edges->bend[i] > 0;
    }

    return incident_build(m, memory, error);
}

/* Stiffness of the slowest change of a soft prop's shape, over a node's: of 12 cells, (1 - cos(pi / 12)) / 2. */
static const float SLOWEST_SHAPE = 0.017f;

/*
 * Radius of the plain iteration from the condition of the nodes: how much stiffer than its anchor, or inertia, a node
 * is held by its neighbours. A tenth of the nodes may be worse. Soft props go as a whole besides (springs_soft_step),
 * so that changes of their shape are what is left to nodes.
 */
static float spectral_find(const springs_model *m, double h, arena *scratch)
{
    enum { CLASSES = 400 };
    float worst = 1;
    int *classes = ARENA_ARRAY(scratch, int, CLASSES);
    if (!classes) return 0;

    /* skin, then soft props: classes of twentieths of an octave */
    for (int pass = 0; pass < 2; pass++) {
        int count = pass ? m->soft.node_count : m->point_count, sum = 0, at = CLASSES - 1;
        memset(classes, 0, CLASSES * sizeof *classes);
        for (int i = 0; i < count; i++) {
            float hold = pass ? m->soft.mass[i] / (float)(h * h) : m->anchor[i];
            float row = m->diagonal[pass ? m->soft.nodes[i] : i] + hold;
            if (pass) hold = MAX(hold, SLOWEST_SHAPE * row);
            classes[(int)CLAMP(20 * det_log((double)(row / hold)) / 0.6931471805599453, 0, CLASSES - 1)]++;
        }

        /* the class that a tenth exceeds */
        while (at > 0 && (sum += classes[at]) * 10 < count) at--;
        if (count > 0) worst = MAX(worst, (float)det_exp(0.6931471805599453 * (at + 1) / 20));
    }

    return CLAMP(1 - 1 / worst, 0.0f, 0.9999f);
}

cutis_result springs_model_build(const solver_build *build, springs_model *model, cutis_error *error)
{
    const cutis_character *character = build->character;
    const double *values = build->values;
    arena *memory = build->memory;
    int n = build->mesh->point_count;
    *model = (springs_model){.character = character,
                             .skin = build->mesh,
                             .point_count = n,
                             .joint_count = character->joint_count,
                             .size = character->size,
                             .rk4 = values[SPRINGS_INTEGRATOR] > 0.5,
                             .self_contact = values[SPRINGS_SELF_COLLISION] > 0.5,
                             .stand = values[SPRINGS_STAND] > 0.5,
                             .iterations = (int)values[SPRINGS_ITERATIONS],
                             .tolerance = (float)values[SPRINGS_TOLERANCE],
                             .contact_tolerance = CONTACT_STRICTER * (float)values[SPRINGS_TOLERANCE],
                             .thickness = (float)values[SPRINGS_CONTACT_GAP],
                             .damping = (float)values[SPRINGS_PROP_DAMPING],
                             .friction_default = (float)values[SPRINGS_FRICTION]};
    if (!(model->size > 0)) model->size = 1;

    model->metres = (float)((double)model->size * values[SPRINGS_UNIT]);
    model->gravity = (float)values[SPRINGS_GRAVITY] / model->metres;
    for (int k = 0; k < 3; k++) model->centre[k] = 0.5f * (character->bounds_min[k] + character->bounds_max[k]);

    /* the shape that skin is anchored to, and props */
    springs_reference_parameters shapes = {SPRINGS_REFERENCE, SPRINGS_CONTROL_RINGS, SPRINGS_CONTROL_RADIUS};
    cutis_result result = springs_reference_build(build, shapes, &model->reference, error);
    if (result != CUTIS_OK) return result;

    /* bones, which say how fine props must be */
    arena scratch = arena_create(&build->allocator);
    builder b = {.build = build, .model = model};
    result = bones_build(&b, &scratch, error);
    if (result == CUTIS_OK) {
        model->fingertip = fingertip_find(&b, character->joint_count, &scratch);
        result = springs_props_build(build, model, error);
    }

    if (result != CUTIS_OK) {
        arena_destroy(&scratch);
        return result;
    }

    /* room for what follows */
    b.rest = model->mesh.positions;
    b.depths = ARENA_ARRAY(&scratch, float, n + 1);
    b.areas = ARENA_ARRAY(&scratch, float, n + 1);
    model->anchor = ARENA_ARRAY(memory, float, n + 1);
    model->depth = ARENA_ARRAY(memory, float, n + 1);
    model->flesh = ARENA_ARRAY(memory, float, n + 1);
    model->area = ARENA_ARRAY(memory, float, n + 1);
    model->bulge = ARENA_ARRAY(memory, float, n + 1);
    model->bone = ARENA_ARRAY(memory, int, n + 1);
    model->frozen = ARENA_ARRAY(memory, uint8_t, n + 1);
    model->vertex_share = ARENA_ARRAY(memory, float, character->vertex_count + 1);
    int *counts = ARENA_ARRAY(&scratch, int, n + 1);
    if (memory->failed || scratch.failed) result = error_memory(error, "solver springs");

    /* flesh below each point, and the springs of the skin */
    if (result == CUTIS_OK) {
        for (int v = 0; v < character->vertex_count; v++) counts[character->vertex_points[v]]++;
        for (int v = 0; v < character->vertex_count; v++)
            model->vertex_share[v] = 1 / (float)counts[character->vertex_points[v]];

        for (int p = 0; p < n; p++) model->friction[p] = (float)kit_point_value(build, p, SPRINGS_FRICTION);
        mesh_point_areas(build->mesh, b.rest, b.areas);
        depths_find(&b);
        strongest_find(&b);
        anchors_build(&b);

        if (build->mesh->edge_count > 0)
            result = edges_build(&b, error);
        else {
            model->incident_first = ARENA_ARRAY(memory, int, n + 2);
            if (!model->incident_first) result = error_memory(error, "solver springs");
        }
    }

    /* how fast plain iterations converge */
    if (result == CUTIS_OK) model->spectral = spectral_find(model, build->substep, &scratch);

    /* The skin's own tree and its intersections at rest, to know when a torn skin is whole again. */
    if (result == CUTIS_OK && build->mesh->triangle_count > 0)
        result = bvh_build(&model->tree, build->mesh->triangle_count, build->mesh->triangles, b.rest, memory, error);
    if (result == CUTIS_OK && build->mesh->triangle_count > 0)
        model->rest_intersections = mesh_self_intersections(build->mesh, &model->tree, b.rest, build->jobs, NULL, 0);
    arena_destroy(&scratch);
    return result;
}
