/*
 * bind.c: weights for every point of a mesh: bones from joints, bone heat or voxels by component, and whatever
 * neither can reach follows its nearest part. Nothing is left without weights, and every decision is reported.
 */
#include <stdio.h>
#include <string.h>

#include "rig/rigging.h"

/* Of the points of a component, the least that must see a bone for heat to be trusted with it. */
static const float HEAT_SHARE = 0.3f;
/* A piece beside the largest one whose weight is for this share one joint's is a hard part of it: helmet, hair, boot.
 * An open piece may go on in another one across a seam: it must be more clearly the joint's own. */
static const double HARD_SHARE = 0.5;
static const double HARD_SHARE_OPEN = 0.7;
enum { HARD_POINTS = 8 };
/* How far the last bone of a limb may reach through several parts, of the size. */
static const float LEAF_REACH = 0.3f;
/* A loose piece of less than this part of the points and of the size is moved as one rigid thing. */
static const float ISLAND_SHARE = 0.05f, ISLAND_SIZE = 0.1f;
/* One that sees no bone of its own, an ear, a nose or a buckle, is one up to this part of the size. */
static const float PIECE_SIZE = 0.15f;

void rig_say(rig_report *report, const char *format, ...)
{
    char text[400];
    va_list arguments;
    if (report->count == RIG_MAX_SENTENCES) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *kept = arena_string(report->memory, text);
    if (kept) report->sentences[report->count++] = kept;
}

vec3 rig_bone_closest(const rig_bone *bone, vec3 p)
{
    vec3 along = vec3_sub(bone->b, bone->a);
    float length2 = vec3_length2(along);
    float t = length2 > 0 ? vec3_dot(vec3_sub(p, bone->a), along) / length2 : 0;
    return vec3_madd(bone->a, along, CLAMP(t, 0.0f, 1.0f));
}

bool rig_influences_set(rig_influences *influences, int point, const double *values, int joint_count)
{
    int *joints = influences->joints + (size_t)point * (size_t)influences->limit, count = 0;
    float *weights = influences->weights + (size_t)point * (size_t)influences->limit;
    double best[RIG_MAX_INFLUENCES], sum = 0, all = 0;
    for (int j = 0; j < joint_count; j++) all += values[j] > 0 ? values[j] : 0;

    /* the largest values, sorted by insertion; less than a thousandth of all does not count */
    for (int j = 0; j < joint_count; j++) {
        double value = values[j];
        if (!(value > 1e-3 * all) || (count == influences->limit && value <= best[count - 1])) continue;
        int k = count < influences->limit ? count++ : count - 1;
        for (; k > 0 && best[k - 1] < value; k--) {
            best[k] = best[k - 1];
            joints[k] = joints[k - 1];
        }
        best[k] = value;
        joints[k] = j;
    }

    /* weights sum to 1; free slots hold 0 */
    for (int k = 0; k < count; k++) sum += best[k];
    for (int k = 0; k < influences->limit; k++) {
        weights[k] = k < count ? (float)(best[k] / sum) : 0;
        if (k >= count) joints[k] = 0;
    }

    return count > 0;
}

/*
 * Where a leaf's bone ends: most of the way to the surface in the direction that its parent comes from. A body of
 * several parts is left at the last of them, a head through its helmet.
 */
static vec3 leaf_tip(const mesh *m, const bvh *tree, float size, vec3 from, vec3 joint)
{
    vec3 along = vec3_sub(joint, from);
    float length = vec3_length(along);
    if (!(length > 0)) return joint;

    bool parts = m->component_count > 1;
    float reach = parts ? MAX(3.0f, LEAF_REACH * size / length) : 3;

    /* the first hit, or the last one of a body of several parts */
    bvh_hit hit = bvh_ray(tree, m->positions, joint, along, 0, reach);
    float end = hit.triangle >= 0 ? hit.distance : -1;
    for (int round = 0; round < 64 && parts && hit.triangle >= 0; round++) {
        end = hit.distance;
        hit = bvh_ray(tree, m->positions, joint, along, end + 1e-4f * size / length, reach);
    }
    return vec3_madd(joint, along, end >= 0 ? 0.8f * end : 0.5f);
}

cutis_result rig_bones_make(int joint_count, const int *parents, const float *positions, const bool *takes_part,
                            const mesh *m, const bvh *tree, float size, arena *memory, rig_bone **bones,
                            int *bone_count, cutis_error *error)
{
    bool *has_child = ARENA_ARRAY(memory, bool, joint_count);
    rig_bone *made = ARENA_ARRAY(memory, rig_bone, 2 * joint_count);
    int count = 0;
    if (!has_child || !made) return error_memory(error, "bones");

    /* from parent to child, and from leaves on into the body */
    for (int j = 0; j < joint_count; j++)
        if (parents[j] >= 0) has_child[parents[j]] = true;

    for (int j = 0; j < joint_count; j++) {
        vec3 at = vec3_load(positions + 3 * j);
        if (parents[j] >= 0 && takes_part[parents[j]])
            made[count++] = (rig_bone){parents[j], vec3_load(positions + 3 * parents[j]), at};
        if (takes_part[j] && !has_child[j]) {
            vec3 tip = parents[j] >= 0 ? leaf_tip(m, tree, size, vec3_load(positions + 3 * parents[j]), at) : at;
            made[count++] = (rig_bone){j, at, tip};
        }
    }

    *bones = made;
    *bone_count = count;
    return CUTIS_OK;
}

/* The depth of the deepest place that a climb across a bone leads to: a bone that lies off the middle is as thick. */
static float bone_depth(const rig_solid *whole, vec3 place, vec3 along)
{
    const solid *s = &whole->solid;
    float distance = solid_sample(s, place);
    for (int round = 0; round < 60; round++) {
        vec3 up = solid_gradient(s, place);
        up = vec3_normalize(vec3_madd(up, along, -vec3_dot(up, along)));
        vec3 next = vec3_madd(place, up, -0.5f * s->spacing);
        float there = solid_sample(s, next);
        if (!(there < distance)) break;
        distance = there;
        place = next;
    }
    return MAX(-distance, 0.0f);
}

void rig_bones_measure(const rig_solid *whole, int bone_count, const rig_bone *bones, float *radii)
{
    for (int b = 0; b < bone_count; b++) {
        vec3 from = quat_rotate(whole->turn, bones[b].a);
        vec3 to = quat_rotate(whole->turn, bones[b].b);
        vec3 along = vec3_normalize(vec3_sub(to, from));
        float *own = radii + b * RIG_BONE_RADII;
        float sorted[RIG_BONE_RADII];
        for (int k = 0; k < RIG_BONE_RADII; k++) {
            own[k] = bone_depth(whole, vec3_lerp(from, to, (float)k / (RIG_BONE_RADII - 1)), along);
            int at = k;
            for (; at > 0 && sorted[at - 1] > own[k]; at--) sorted[at] = sorted[at - 1];
            sorted[at] = own[k];
        }

        /* the end of a limb in the trunk is as thick as the limb, or as the place is deep */
        for (int k = 0; k < RIG_BONE_RADII; k++) {
            vec3 place = vec3_lerp(from, to, (float)k / (RIG_BONE_RADII - 1));
            own[k] = MAX(MIN(own[k], sorted[RIG_BONE_RADII / 2]), -solid_sample(&whole->solid, place));
        }
    }
}

/* ---- what neither method reached ---- */

/* Mean weights of the points of one component, put into all of them. */
static void component_stiffen(const mesh *m, int component, rig_influences *w, double *values, int joint_count)
{
    memset(values, 0, (size_t)joint_count * sizeof *values);
    for (int p = 0; p < m->point_count; p++)
        for (int k = 0; m->point_component[p] == component && k < w->limit; k++)
            values[w->joints[p * w->limit + k]] += w->weights[p * w->limit + k];
    for (int p = 0; p < m->point_count; p++)
        if (m->point_component[p] == component) rig_influences_set(w, p, values, joint_count);
}

/* Give every unserved point the weights of the nearest place of the served surface, or of the nearest bone. */
static cutis_result points_follow(const rig_body *body, const uint8_t *served, rig_influences *w, arena *memory,
                                  cutis_error *error)
{
    const mesh *m = body->mesh;
    int *triangles = ARENA_ARRAY(memory, int, 3 * (size_t)m->triangle_count);
    int *labels = ARENA_ARRAY(memory, int, m->triangle_count);
    double *values = ARENA_ARRAY(memory, double, body->joint_count);
    int count = 0;
    int waiting = 0;
    bvh tree = *body->tree;
    if (memory->failed) return error_memory(error, "weights");

    for (int p = 0; p < m->point_count; p++) waiting += !served[p];
    if (!waiting) return CUTIS_OK;

    /* triangles that are served: a tree of their own pays for many points; the answer is the same */
    bool few = waiting * 50 < m->point_count;
    for (int t = 0; t < m->triangle_count; t++) {
        const int *c = m->triangles + 3 * t;
        labels[t] = served[c[0]] && served[c[1]] && served[c[2]];
        if (labels[t]) memcpy(triangles + 3 * count++, c, 3 * sizeof *c);
    }

    if (count && !few) {
        cutis_result result = bvh_build(&tree, count, triangles, m->positions, memory, error);
        if (result != CUTIS_OK) return result;
    }

    /* weights of the nearest place on them, or of the nearest bone where there are none */
    for (int p = 0; p < m->point_count; p++) {
        vec3 at = vec3_load(m->positions + 3 * p);
        if (served[p]) continue;

        memset(values, 0, (size_t)body->joint_count * sizeof *values);
        bvh_hit hit = {.triangle = -1};
        if (count) hit = bvh_closest_labelled(&tree, m->positions, at, 1e30f, few ? labels : NULL, 0);
        if (hit.triangle >= 0) {
            const float weights[3] = {1 - hit.u - hit.v, hit.u, hit.v};
            for (int c = 0; c < 3; c++) {
                int from = tree.triangles[3 * hit.triangle + c];
                for (int k = 0; k < w->limit; k++)
                    values[w->joints[from * w->limit + k]] += (double)weights[c] * w->weights[from * w->limit + k];
            }
        } else {
            int nearest = 0;
            float best = INFINITY;
            for (int b = 0; b < body->bone_count; b++) {
                float d = vec3_distance(rig_bone_closest(&body->bones[b], at), at);
                if (d >= best) continue;
                best = d;
                nearest = b;
            }
            values[body->bones[nearest].joint] = 1;
        }

        /* never without a weight */
        if (!rig_influences_set(w, p, values, body->joint_count)) {
            values[body->bones[0].joint] = 1;
            rig_influences_set(w, p, values, body->joint_count);
        }
    }

    return CUTIS_OK;
}

typedef struct component_facts {
    int points, triangles;
    float extent;
    int largest_joint; /* that holds most of its weight */
    bool island;
    bool hard; /* goes with one joint */
} component_facts;

static component_facts *components_look(const mesh *m, float size, arena *memory)
{
    component_facts *facts = ARENA_ARRAY(memory, component_facts, m->component_count);
    float *boxes = ARENA_ARRAY(memory, float, 6 * (size_t)m->component_count);
    int largest = 0;
    if (!facts || !boxes) return NULL;

    /* points, bounding box and triangles of each component */
    for (int c = 0; c < m->component_count; c++)
        for (int k = 0; k < 3; k++) {
            boxes[6 * c + k] = INFINITY;
            boxes[6 * c + 3 + k] = -INFINITY;
        }
    for (int p = 0; p < m->point_count; p++) {
        int c = m->point_component[p];
        facts[c].points++;
        for (int k = 0; k < 3; k++) {
            boxes[6 * c + k] = MIN(boxes[6 * c + k], m->positions[3 * p + k]);
            boxes[6 * c + 3 + k] = MAX(boxes[6 * c + 3 + k], m->positions[3 * p + k]);
        }
    }

    for (int t = 0; t < m->triangle_count; t++) facts[m->point_component[m->triangles[3 * t]]].triangles++;

    /* the diagonal of each, and the largest by points */
    for (int c = 0; c < m->component_count; c++) {
        facts[c].extent = vec3_distance(vec3_load(boxes + 6 * c), vec3_load(boxes + 6 * c + 3));
        largest = MAX(largest, facts[c].points);
    }

    /* islands are small both in points and in size, or have no surface */
    for (int c = 0; c < m->component_count; c++)
        facts[c].island = facts[c].triangles == 0 || ((float)facts[c].points < ISLAND_SHARE * (float)largest &&
                                                      facts[c].extent < ISLAND_SIZE * size);
    return facts;
}

static void troubles_tell(const mesh *m, rig_report *report)
{
    int holes = 0, nonmanifold = 0, open = 0;
    for (int e = 0; e < m->edge_count; e++) {
        holes += m->edge_triangle_counts[e] == 1;
        nonmanifold += m->edge_triangle_counts[e] > 2;
    }
    for (int c = 0; c < m->component_count; c++) open += !m->component_closed[c];
    if (holes) rig_say(report, "%d edges are on holes, in %d of %d components", holes, open, m->component_count);
    if (nonmanifold)
        rig_say(report, "%d edges have three or more triangles, where parts touch or are welded together", nonmanifold);
}

/*
 * Hard parts: a component beside the largest one that belongs to one joint for the most part goes with that joint as a
 * whole. Clothing, which spans several, stays soft, and so do shreds of a torn surface. islands: look at those only, or
 * at the others only. members: (point_count) points by component; first: (component_count + 1). Returns how many.
 */
static int hard_parts_bind(const mesh *m, component_facts *facts, bool islands, uint8_t *served, const int *first,
                           const int *members, rig_influences *w, double *values, int joint_count)
{
    int largest = 0;
    int count = 0;
    for (int c = 1; c < m->component_count; c++)
        if (facts[c].points > facts[largest].points) largest = c;

    for (int c = 0; c < m->component_count; c++) {
        if (c == largest || facts[c].points < HARD_POINTS || facts[c].island != islands) continue;

        /* what each joint holds */
        memset(values, 0, (size_t)joint_count * sizeof *values);
        int most = 0;
        for (int i = first[c]; i < first[c + 1]; i++) {
            const int *joints = w->joints + members[i] * w->limit;
            const float *weights = w->weights + members[i] * w->limit;

            /* far from all bones the voxels' weights mix them: there the nearest one counts */
            bool far = served[members[i]] == 2;
            if (far) values[joints[0]] += 1;
            for (int k = 0; k < w->limit && !far; k++) values[joints[k]] += weights[k];
        }

        /* a part that one joint holds for the most part */
        for (int j = 1; j < joint_count; j++)
            if (values[j] > values[most]) most = j;
        double share = m->component_closed[c] ? HARD_SHARE : HARD_SHARE_OPEN;
        if (!(values[most] > share * facts[c].points)) continue;

        for (int j = 0; j < joint_count; j++) values[j] = j == most;
        for (int i = first[c]; i < first[c + 1]; i++) {
            rig_influences_set(w, members[i], values, joint_count);
            if (!served[members[i]]) served[members[i]] = 2;
        }
        facts[c].hard = true;
        count++;
    }

    return count;
}

/* Small pieces that see no bone and that no joint holds for the most part, an ear or a nose, become islands. */
static void pieces_loosen(const mesh *m, const uint8_t *component_hot, float size, component_facts *facts,
                          uint8_t *served)
{
    for (int c = 0; c < m->component_count; c++)
        if (!component_hot[c] && !facts[c].hard && facts[c].extent < PIECE_SIZE * size) facts[c].island = true;
    for (int p = 0; p < m->point_count; p++)
        if (facts[m->point_component[p]].island) served[p] = 0;
}

/* Points by component, by counting. */
static void members_list(const mesh *m, const component_facts *facts, int *first, int *members)
{
    first[0] = 0;
    for (int c = 0; c < m->component_count; c++) first[c + 1] = first[c] + facts[c].points;
    for (int p = 0; p < m->point_count; p++) members[first[m->point_component[p]]++] = p;
    for (int c = m->component_count; c > 0; c--) first[c] = first[c - 1];
    first[0] = 0;
}

typedef struct binding {
    const cutis_rig_def *def;
    rig_body body;
    component_facts *facts;
    uint8_t *served;        /* (point_count) 0 nothing, 1 heat, 2 voxels */
    uint8_t *component_hot; /* (component_count) */
    float *visible;         /* (component_count) */
} binding;

/* Heat first: what it may keep is marked 1. */
static cutis_result heat_apply(binding *b, rig_influences *w, rig_report *report, cutis_error *error)
{
    const mesh *m = b->body.mesh;
    int cold = 0, blind = 0;
    cutis_result result = heat_weights(&b->body, b->def->allocator, w, b->component_hot, b->visible, error);
    if (result != CUTIS_OK) return result;

    /* components that see no bone, or hardly any */
    for (int c = 0; c < m->component_count; c++) {
        if (b->facts[c].island) continue;
        if (!b->component_hot[c]) cold++;
        if (b->component_hot[c] && b->visible[c] < HEAT_SHARE && b->def->method == CUTIS_RIG_AUTO) {
            blind++;
            b->component_hot[c] = 0;
        }
    }

    for (int p = 0; p < m->point_count; p++) {
        int c = m->point_component[p];
        if (b->component_hot[c] && !b->facts[c].island) b->served[p] = 1;
    }

    if (cold) rig_say(report, "no bone is visible from %d components, so bone heat cannot be used for them", cold);
    if (blind) rig_say(report, "few points of %d components see a bone; voxels are used instead of bone heat", blind);
    return CUTIS_OK;
}

/* Voxels for the points that are not served yet and are no islands. */
static cutis_result voxel_apply(binding *b, rig_influences *w, arena *memory, cutis_error *error)
{
    const mesh *m = b->body.mesh;
    int wanted = 0, slots = w->limit;
    for (int p = 0; p < m->point_count; p++) wanted += !b->served[p] && !b->facts[m->point_component[p]].island;
    if (!wanted) return CUTIS_OK;

    /* weights of their own, taken over where voxels reach */
    rig_influences own = {slots, ARENA_ARRAY(memory, int, (size_t)m->point_count *(size_t)slots),
                          ARENA_ARRAY(memory, float, (size_t)m->point_count *(size_t)slots)};
    uint8_t *reached = ARENA_ARRAY(memory, uint8_t, m->point_count);
    if (memory->failed) return error_memory(error, "weights");

    cutis_result result = voxel_weights(&b->body, b->def->voxel_resolution, b->def->allocator, &own, reached, error);
    for (int p = 0; p < m->point_count && result == CUTIS_OK; p++) {
        if (b->served[p] || !reached[p] || b->facts[m->point_component[p]].island) continue;
        memcpy(w->joints + p * slots, own.joints + p * slots, (size_t)slots * sizeof *own.joints);
        memcpy(w->weights + p * slots, own.weights + p * slots, (size_t)slots * sizeof *own.weights);
        b->served[p] = 2;
    }

    return result;
}

static void served_tell(const binding *b, const rig_influences *w, const char *const *names, rig_report *report,
                        rig_weights_result *result)
{
    const mesh *m = b->body.mesh;
    int islands = 0, first_joint = 0;

    for (int p = 0; p < m->point_count; p++) {
        result->heat_points += b->served[p] == 1;
        result->voxel_points += b->served[p] == 2;
        result->follow_points += b->served[p] == 0;
    }

    /* the joint of the first loose piece, for the sentence */
    for (int p = m->point_count - 1; p >= 0; p--)
        if (b->facts[m->point_component[p]].island) first_joint = w->joints[p * w->limit];
    for (int c = 0; c < m->component_count; c++) islands += b->facts[c].island;

    if (result->heat_points) rig_say(report, "bone-heat weights: %d of %d points", result->heat_points, m->point_count);
    if (result->voxel_points)
        rig_say(report, "geodesic-voxel weights: %d of %d points", result->voxel_points, m->point_count);
    if (result->follow_points)
        rig_say(report, "%d points are out of reach of all bones and follow the nearest part", result->follow_points);
    if (islands)
        rig_say(report, "%d small loose pieces follow the nearest part; the first is '%s'", islands,
                names[first_joint]);
}

cutis_result rig_weights_make(const cutis_rig_def *def, const mesh *m, const rig_solid *whole, int joint_count,
                              const int *parents, const float *positions, const bool *takes_part,
                              const char *const *names, arena *memory, rig_report *report, rig_weights_result *result,
                              cutis_error *error)
{
    arena scratch = arena_create(def->allocator);
    bvh tree;
    rig_bone *bones = NULL;
    int limit = def->max_influences;
    rig_influences *w = &result->influences;

    cutis_result status = bvh_build(&tree, m->triangle_count, m->triangles, m->positions, &scratch, error);
    binding b = {.def = def};
    b.body = (rig_body){.mesh = m,
                        .tree = &tree,
                        .whole = whole,
                        .joint_count = joint_count,
                        .size = def->character->size,
                        .jobs = def->jobs};

    if (status == CUTIS_OK)
        status = rig_bones_make(joint_count, parents, positions, takes_part, m, &tree, b.body.size, &scratch, &bones,
                                &b.body.bone_count, error);
    if (status == CUTIS_OK && b.body.bone_count == 0)
        status = error_set(error, CUTIS_ERROR_DATA, "the skeleton has no bone to compute weights for");

    /* memory of the weights and of what is known of points and components */
    b.body.bones = bones;
    w->limit = limit;
    w->joints = ARENA_ARRAY(memory, int, (size_t)m->point_count *(size_t)limit);
    w->weights = ARENA_ARRAY(memory, float, (size_t)m->point_count *(size_t)limit);
    float *normals = ARENA_ARRAY(&scratch, float, 3 * (size_t)m->point_count);
    uint8_t *inverted = ARENA_ARRAY(&scratch, uint8_t, m->component_count);
    double *volumes = ARENA_ARRAY(&scratch, double, m->component_count);
    double *values = ARENA_ARRAY(&scratch, double, joint_count);
    b.served = ARENA_ARRAY(&scratch, uint8_t, m->point_count);
    b.component_hot = ARENA_ARRAY(&scratch, uint8_t, m->component_count);
    b.visible = ARENA_ARRAY(&scratch, float, m->component_count);
    int *first = ARENA_ARRAY(&scratch, int, m->component_count + 1);
    int *members = ARENA_ARRAY(&scratch, int, m->point_count);
    b.facts = components_look(m, b.body.size, &scratch);
    if (status == CUTIS_OK && (scratch.failed || memory->failed)) status = error_memory(error, "weights");

    /* thickness around the bones */
    float *radii = whole ? ARENA_ARRAY(&scratch, float, b.body.bone_count *RIG_BONE_RADII) : NULL;
    if (status == CUTIS_OK && whole && !radii) status = error_memory(error, "weights");
    if (status == CUTIS_OK && whole) rig_bones_measure(whole, b.body.bone_count, bones, radii);
    b.body.bone_radii = radii;

    /* normals, and components that are inside out; then heat */
    if (status == CUTIS_OK) {
        mesh_normals(m, m->positions, normals, def->jobs);
        for (int t = 0; t < m->triangle_count; t++)
            volumes[m->point_component[m->triangles[3 * t]]] += mesh_volume(1, m->triangles + 3 * t, m->positions);
        for (int c = 0; c < m->component_count; c++) inverted[c] = volumes[c] < 0;
        b.body.normals = normals;
        b.body.component_inverted = inverted;

        troubles_tell(m, report);
        if (def->method != CUTIS_RIG_VOXEL) status = heat_apply(&b, w, report, error);
    }

    /* voxels for what heat does not serve, the nearest part for the rest */
    if (status == CUTIS_OK && def->method != CUTIS_RIG_HEAT) status = voxel_apply(&b, w, &scratch, error);

    /* hard parts move as a whole, before loose pieces follow them */
    int hard = 0;
    if (status == CUTIS_OK) {
        members_list(m, b.facts, first, members);
        hard = hard_parts_bind(m, b.facts, false, b.served, first, members, w, values, joint_count);
        if (def->method == CUTIS_RIG_AUTO) pieces_loosen(m, b.component_hot, b.body.size, b.facts, b.served);
        status = points_follow(&b.body, b.served, w, &scratch, error);
    }

    /* loose pieces, too */
    if (status == CUTIS_OK) {
        for (int c = 0; c < m->component_count; c++)
            if (b.facts[c].island && b.facts[c].points > 1) component_stiffen(m, c, w, values, joint_count);
        hard += hard_parts_bind(m, b.facts, true, b.served, first, members, w, values, joint_count);
        if (hard) rig_say(report, "%d rigid parts, each bound to one joint", hard);
        served_tell(&b, w, names, report, result);
    }

    arena_destroy(&scratch);
    return status;
}
