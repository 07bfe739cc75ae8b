/*
 * bones.c: where a motion drives bones into other flesh of the character.
 *
 * No skin can lie well around a bone that the skeleton puts inside another part of the body, so a report names such
 * places. A bone is the line from a joint to its children, or towards the middle of the points that it moves most; it
 * is looked at in a few samples that lie inside the body at rest. The flesh is the linearly skinned surface, holes
 * closed. A sample is in other flesh when the winding number there is higher than at rest: its own flesh goes round it
 * once, the other once more. The other is the part (triangles that one joint moves most) that spans the largest solid
 * angle around the sample; when that is the joint's own part, its parent's or a child's, the flesh has only folded.
 */
#include <assert.h>
#include <math.h>

#include "character/skinning.h"
#include "cutis/measure.h"
#include "math/math3.h"
#include "measure/depth.h"

/* Samples of a line, and the least winding number of one part alone around a sample in it. Parts are open tubes. */
enum { SAMPLES = 6 };
static const double PART_WINDING = 0.2;
static const double PI = 3.14159265358979323846;

typedef struct bone_sample {
    int joint;
    vec3 rest;
    int winding; /* at rest */
} bone_sample;

/*
 * Half a solid angle that is summed as the angle of a product of complex numbers, which takes few arctangents: as long
 * as the product and the next factor stay in the right half plane, no turn is lost.
 */
typedef struct angle_sum {
    double real, imaginary; /* of the product since the last arctangent */
    double angle;           /* before it */
} angle_sum;

typedef struct bone_search {
    const cutis_character *character;
    mesh m;
    depth_solid b;
    depth_scratch scratch;
    skinning points;
    int *parts;           /* (triangle_count) the joint that moves it most, -1: none */
    int *point_parts;     /* (point_count) */
    bone_sample *samples; /* (sample_count) */
    int sample_count;
    float *skin, *skinning_scratch, *positions;
    angle_sum *windings;          /* (joint_count) */
    cutis_bone_in_flesh *entries; /* (joint_count x joint_count) */
    int *last_frames;             /* the same: frame that was counted last, -1 none */
} bone_search;

static int point_part(const cutis_character *c, int point)
{
    int vertex = c->point_vertices[point], best = -1;
    float most = 0;
    for (int i = c->influence_first[vertex]; i < c->influence_first[vertex + 1]; i++)
        if (c->influence_weights[i] > most) {
            most = c->influence_weights[i];
            best = c->influence_joints[i];
        }
    return best;
}

static int sample_winding(const bone_search *q, vec3 x)
{
    /* Any direction would do; one along no axis meets no row of edges. */
    vec3 direction = vec3_normalize(vec3_make(0.36f, 0.48f, 0.8f));
    return q->b.outside * bvh_ray_winding(&q->scratch.tree, q->scratch.positions, x, direction, -1);
}

static void line_sample(bone_search *q, int joint, vec3 from, vec3 to)
{
    for (int i = 0; i < SAMPLES; i++) {
        vec3 x = vec3_lerp(from, to, (float)(i + 1) / (SAMPLES + 1));
        int winding = sample_winding(q, x);
        if (winding >= 1) q->samples[q->sample_count++] = (bone_sample){joint, x, winding};
    }
}

/* Samples of all bones, in the rest pose, which scratch holds. */
static void samples_find(bone_search *q, const float *rest)
{
    const cutis_character *c = q->character;
    for (int j = 0; j < c->joint_count; j++) {
        /* the flesh of the joint */
        double sum[3] = {0}, count = 0;

        for (int p = 0; p < q->m.point_count; p++) {
            if (q->point_parts[p] != j) continue;
            for (int k = 0; k < 3; k++) sum[k] += q->m.positions[3 * p + k];
            count++;
        }
        if (count == 0) continue;

        /* towards each child; a leaf goes as far beyond the middle of its flesh */
        vec3 from = vec3_make(rest[12 * j + 3], rest[12 * j + 7], rest[12 * j + 11]);
        bool leaf = true;
        for (int child = j + 1; child < c->joint_count; child++) {
            if (c->joints[child].parent != j) continue;
            leaf = false;
            line_sample(q, j, from, vec3_make(rest[12 * child + 3], rest[12 * child + 7], rest[12 * child + 11]));
        }
        vec3 middle = {(float)(sum[0] / count), (float)(sum[1] / count), (float)(sum[2] / count)};
        if (leaf) line_sample(q, j, from, vec3_madd(middle, vec3_sub(middle, from), 0.5f));
    }
}

/* The arctangent of the product, added to the angle. */
static void angle_take(angle_sum *s)
{
    s->angle += det_atan2(s->imaginary, s->real);
    s->real = 1;
    s->imaginary = 0;
}

/* Add the solid angle of a triangle (van Oosterom, Strackee 1983). */
static void angle_add(angle_sum *s, vec3 a, vec3 b, vec3 c)
{
    double la = vec3_length(a), lb = vec3_length(b), lc = vec3_length(c);
    double volume = vec3_dot(a, vec3_cross(b, c));
    double rest = la * lb * lc + vec3_dot(a, b) * lc + vec3_dot(b, c) * la + vec3_dot(c, a) * lb;
    if (rest <= 1e-9 * fabs(volume)) {
        s->angle += det_atan2(volume, rest);
        return;
    }

    /* the product, scaled to stay in range */
    double tangent = volume / rest;
    double real = s->real - s->imaginary * tangent;
    double imaginary = s->imaginary + s->real * tangent;
    double scale = 1 / (fabs(real) + fabs(imaginary));
    s->real = real * scale;
    s->imaginary = imaginary * scale;
    if (s->real <= 0) angle_take(s);
}

static bool joints_adjacent(const cutis_character *c, int a, int b)
{
    return a == b || c->joints[a].parent == b || c->joints[b].parent == a;
}

/* The part around x that is not next to the joint; -1 when there is none. */
static int part_around(const bone_search *q, int joint, vec3 x)
{
    const float *positions = q->scratch.positions;

    /* solid angle of each part as seen from x */
    for (int j = 0; j < q->character->joint_count; j++) q->windings[j] = (angle_sum){.real = 1};
    for (int t = 0; t < q->m.triangle_count; t++) {
        const int *corner = q->m.triangles + 3 * (size_t)t;
        if (q->parts[t] < 0) continue;
        angle_add(&q->windings[q->parts[t]], vec3_sub(vec3_load(positions + 3 * corner[0]), x),
                  vec3_sub(vec3_load(positions + 3 * corner[1]), x), vec3_sub(vec3_load(positions + 3 * corner[2]), x));
    }

    /* the part that is wound around x most */
    int best = -1;
    double most = PART_WINDING;
    for (int j = 0; j < q->character->joint_count; j++) {
        if (j == joint) continue;
        angle_take(&q->windings[j]);
        double winding = q->b.outside * q->windings[j].angle / (2 * PI);
        if (winding <= most) continue;
        most = winding;
        best = j;
    }

    return best >= 0 && joints_adjacent(q->character, joint, best) ? -1 : best;
}

/* Distance of x from the surface of a part. */
static double part_depth(const bone_search *q, int part, vec3 x)
{
    const float *positions = q->scratch.positions;
    float least = INFINITY;
    for (int t = 0; t < q->m.triangle_count; t++) {
        if (q->parts[t] != part) continue;
        const int *corner = q->m.triangles + 3 * (size_t)t;
        vec3 nearest = triangle_closest(x, vec3_load(positions + 3 * corner[0]), vec3_load(positions + 3 * corner[1]),
                                        vec3_load(positions + 3 * corner[2]), NULL);
        least = MIN(least, vec3_distance(x, nearest));
    }
    return least;
}

static void frame_search(bone_search *q, const float *joints, int frame, const cutis_jobs *jobs)
{
    const cutis_character *c = q->character;

    /* the surface in this pose */
    skin_matrices(c, joints, q->skin);
    skinning_linear(&q->points, q->skin, q->skinning_scratch, jobs, q->positions);
    depth_place(&q->b, q->positions, q->scratch.positions);
    bvh_refit(&q->scratch.tree, q->scratch.positions, 0);

    /* samples that are deeper in flesh than at rest */
    for (int i = 0; i < q->sample_count; i++) {
        const bone_sample *sample = q->samples + i;
        vec3 x = mat34_point(q->skin + 12 * sample->joint, sample->rest);

        if (sample_winding(q, x) <= sample->winding) continue;
        int into = part_around(q, sample->joint, x);
        if (into < 0) continue;

        /* the deepest of the pair, and in how many frames */
        size_t at = (size_t)sample->joint * (size_t)c->joint_count + (size_t)into;
        cutis_bone_in_flesh *entry = q->entries + at;
        double depth = part_depth(q, into, x) / (c->size > 0 ? (double)c->size : 1);
        entry->frames += q->last_frames[at] != frame;
        q->last_frames[at] = frame;
        if (depth > entry->depth) {
            entry->depth = depth;
            entry->worst_frame = frame;
        }
    }
}

static cutis_result search_build(bone_search *q, arena *memory, cutis_error *error)
{
    const cutis_character *c = q->character;

    cutis_result result = mesh_build_character(&q->m, c, memory, error);
    if (result == CUTIS_OK) result = depth_build(&q->b, &q->m, memory, error);
    if (result != CUTIS_OK) return result;

    size_t n = (size_t)q->m.point_count, joints = (size_t)c->joint_count;
    q->parts = ARENA_ARRAY(memory, int, q->m.triangle_count);
    q->point_parts = ARENA_ARRAY(memory, int, n);
    q->samples = ARENA_ARRAY(memory, bone_sample, 2 * SAMPLES * joints);
    q->skin = ARENA_ARRAY(memory, float, 12 * joints);
    q->windings = ARENA_ARRAY(memory, angle_sum, joints);
    q->entries = ARENA_ARRAY(memory, cutis_bone_in_flesh, joints * joints);
    q->last_frames = ARENA_ARRAY(memory, int, joints *joints);
    q->positions = ARENA_ARRAY(memory, float, 3 * n);
    int *first = ARENA_ARRAY(memory, int, n + 1),
        *order = ARENA_ARRAY(memory, int, c->influence_first[c->vertex_count]);

    float *weights = ARENA_ARRAY(memory, float, c->influence_first[c->vertex_count]);
    float *rest = ARENA_ARRAY(memory, float, 12 * joints);
    if (memory->failed || !depth_scratch_create(&q->scratch, &q->b, memory))
        return error_memory(error, "the search for bones in flesh");

    /* influences by point, and the part that each point belongs to */
    for (int p = 0; p < q->m.point_count; p++) {
        int vertex = c->point_vertices[p], at = first[p];
        for (int i = c->influence_first[vertex]; i < c->influence_first[vertex + 1]; i++) {
            order[at] = c->influence_joints[i];
            weights[at++] = c->influence_weights[i];
        }
        first[p + 1] = at;

        q->point_parts[p] = point_part(c, p);
    }

    for (int t = 0; t < q->m.triangle_count; t++) q->parts[t] = q->point_parts[q->m.triangles[3 * (size_t)t]];
    for (size_t i = 0; i < joints * joints; i++) q->last_frames[i] = -1;

    /* the skinning of frames */
    result = skinning_build(&q->points, q->m.point_count, q->m.positions, first, order, weights, c->joint_count, memory,
                            error);
    if (result != CUTIS_OK) return result;
    q->skinning_scratch = ARENA_ARRAY(memory, float, skinning_scratch_count(&q->points));
    if (!q->skinning_scratch) return error_memory(error, "the search for bones in flesh");

    /* samples, with their winding numbers at rest */
    cutis_pose_rest(c, rest);
    depth_place(&q->b, q->m.positions, q->scratch.positions);
    bvh_refit(&q->scratch.tree, q->scratch.positions, 0);
    samples_find(q, rest);
    return CUTIS_OK;
}

cutis_result cutis_measure_bones(const cutis_character *character, const float *poses, int frame_count,
                                 const cutis_jobs *jobs, const cutis_allocator *allocator, cutis_bone_in_flesh *entries,
                                 int capacity, int *count, cutis_error *error)
{
    assert(character && count && (frame_count == 0 || poses));
    *count = 0;

    /* without weights or surface there is nothing to find */
    if (!character->influence_first || character->joint_count == 0 || character->point_triangle_count == 0)
        return CUTIS_OK;

    arena memory = arena_create(allocator);
    bone_search q = {.character = character};
    cutis_result result = search_build(&q, &memory, error);

    size_t joints = (size_t)character->joint_count;
    for (int f = 0; f < frame_count && result == CUTIS_OK; f++)
        frame_search(&q, poses + (size_t)f * joints * 12, f, jobs);

    /* the pairs that were met */
    for (size_t i = 0; i < joints * joints && result == CUTIS_OK; i++) {
        if (q.entries[i].frames == 0) continue;
        q.entries[i].joint = (int)(i / joints);
        q.entries[i].into = (int)(i % joints);
        if (*count < capacity) entries[*count] = q.entries[i];
        ++*count;
    }

    arena_destroy(&memory);
    return result;
}
