/*
 * springs_bones.c: what the reference shapes are built on: straight pieces of bone, sections of the body across them,
 * and the folds between them.
 *
 * A fold: where a joint bends so far that the two limbs would pass through each other, the points on its inside stop
 * short of the plane that halves the angle of the two bones, each side on its own, so that they lie against each other.
 */
#include <string.h>

#include "character/skinning.h"
#include "solvers/springs/springs_shapes.h"

/* ---- bones ---- */

float springs_bone_nearest(const springs_bone *bone, vec3 p)
{
    vec3 way = vec3_sub(bone->b, bone->a);
    float length2 = vec3_length2(way);
    float t = length2 > 0 ? vec3_dot(vec3_sub(p, bone->a), way) / length2 : 0;
    return CLAMP(t, 0.0f, 1.0f);
}

/* Where a joint without children points: the mean of its points, and how far they reach along it. */
static vec3 tip_find(const solver_build *build, int joint, vec3 from)
{
    const point_weights *weights = build->weights;

    /* the mean of its points, by squared weights */
    double sum[3] = {0}, total = 0;
    for (int p = 0; p < build->mesh->point_count; p++) {
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            if (weights->joints[i] != joint) continue;
            double w = (double)weights->weights[i] * weights->weights[i];
            for (int a = 0; a < 3; a++) sum[a] += w * build->mesh->positions[3 * p + a];
            total += w;
        }
    }

    if (!(total > 0)) return from;
    vec3 mean = {(float)(sum[0] / total), (float)(sum[1] / total), (float)(sum[2] / total)};
    vec3 way = vec3_normalize(vec3_sub(mean, from));

    /* the farthest of those that follow it most */
    float reach = vec3_distance(mean, from);
    for (int p = 0; p < build->mesh->point_count; p++) {
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            if (weights->joints[i] != joint || weights->weights[i] < 0.5f) continue;
            reach = MAX(reach, vec3_dot(vec3_sub(vec3_load(build->mesh->positions + 3 * p), from), way));
        }
    }

    /* The line ends inside, about as far from the tip as from the sides. */
    return vec3_madd(from, way, 0.8f * reach);
}

cutis_result springs_bones_build(const solver_build *build, springs_bones *bones, arena *memory, cutis_error *error)
{
    const cutis_character *c = build->character;
    const point_weights *weights = build->weights;
    int n = c->joint_count, influence_count = weights->first[build->mesh->point_count];

    *bones = (springs_bones){.joint_count = n, .size = c->size};
    bones->bones = ARENA_ARRAY(memory, springs_bone, 2 * n + 1);
    bones->first = ARENA_ARRAY(memory, int, n + 1);
    bones->above = ARENA_ARRAY(memory, int, n + 1);
    bones->point_bones = ARENA_ARRAY(memory, int, influence_count + 1);
    uint8_t *moves = ARENA_ARRAY(memory, uint8_t, n + 1);
    vec3 *places = ARENA_ARRAY(memory, vec3, n + 1);
    if (memory->failed) return error_memory(error, "the bones of a reference shape");

    /* which joints move anything, and the nearest such joint above each */
    for (int i = 0; i < influence_count; i++) {
        if (weights->weights[i] > 0) moves[weights->joints[i]] = 1;
    }
    for (int j = 0; j < n; j++) {
        places[j] = joint_bind_place(&c->joints[j]);
        int up = c->joints[j].parent;
        while (up >= 0 && !moves[up]) up = c->joints[up].parent;
        bones->above[j] = up;
    }

    /* A bone to each child; one towards its own points where there is none. */
    float least = 1e-3f * c->size;
    for (int j = 0; j < n; j++) {
        bones->first[j] = bones->count;
        if (!moves[j]) continue;
        for (int k = j + 1; k < n; k++) {
            if (!moves[k] || bones->above[k] != j || vec3_distance(places[j], places[k]) < least) continue;
            bones->bones[bones->count++] = (springs_bone){.joint = j, .child = k, .a = places[j], .b = places[k]};
        }
        if (bones->count == bones->first[j]) {
            bones->bones[bones->count++] =
                (springs_bone){.joint = j, .child = -1, .a = places[j], .b = tip_find(build, j, places[j])};
        }
    }

    bones->first[n] = bones->count;

    /* The nearest bone for each influence, and the mean distance of a bone's points. */
    float *sums = ARENA_ARRAY(memory, float, bones->count + 1), *totals = ARENA_ARRAY(memory, float, bones->count + 1);
    if (memory->failed) return error_memory(error, "the bones of a reference shape");

    for (int p = 0; p < build->mesh->point_count; p++) {
        vec3 x = vec3_load(build->mesh->positions + 3 * p);
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            int j = weights->joints[i], best = -1;
            float best2 = INFINITY;

            for (int b = bones->first[j]; b < bones->first[j + 1]; b++) {
                const springs_bone *bone = &bones->bones[b];
                vec3 q = vec3_lerp(bone->a, bone->b, springs_bone_nearest(bone, x));
                float d2 = vec3_length2(vec3_sub(x, q));
                if (d2 < best2) {
                    best2 = d2;
                    best = b;
                }
            }

            bones->point_bones[i] = best;
            if (best < 0) continue;

            /* for the mean distance */
            float w = weights->weights[i];
            sums[best] += w * sqrtf(best2);
            totals[best] += w;
        }
    }

    for (int b = 0; b < bones->count; b++) {
        springs_bone *bone = &bones->bones[b];
        bone->radius = MAX(totals[b] > 0 ? sums[b] / totals[b] : 0, 1e-4f * c->size);
    }

    return CUTIS_OK;
}

/* ---- sections ---- */

/* What is seen of the points around one place of a bone, across it. */
typedef struct moments {
    double weight, mean[2], square[3];
} moments;

static float falloff(float u)
{
    float a = 1 - u * u;
    return u < 1 ? a * a : 0;
}

/* Semi-axes along two directions across the bone: a ring of radius r has variance r^2 / 2. */
static void moments_axes(const moments *s, float radius, float radii[2], float turn[2], float centre[2])
{
    radii[0] = radii[1] = radius;
    turn[0] = 1;
    turn[1] = 0;
    centre[0] = centre[1] = 0;

    /* mean and covariance across the bone */
    if (!(s->weight > 0)) return;
    double x = s->mean[0] / s->weight, y = s->mean[1] / s->weight;
    double xx = s->square[0] / s->weight - x * x, xy = s->square[1] / s->weight - x * y;
    double yy = s->square[2] / s->weight - y * y;
    double half = 0.5 * (xx - yy), middle = 0.5 * (xx + yy), spread = sqrt(half * half + xy * xy);

    /* The direction of the larger variance, by half-angle formulas. */
    double cosine = spread > 0 ? half / spread : 1;
    double c = sqrt(MAX(0.5 * (1 + cosine), 0)), d = sqrt(MAX(0.5 * (1 - cosine), 0));
    turn[0] = (float)c;
    turn[1] = (float)(xy < 0 ? -d : d);

    /* semi-axes, neither much thinner nor much thicker than the bone as a whole */
    float large = (float)sqrt(MAX(2 * (middle + spread), 0)), small = (float)sqrt(MAX(2 * (middle - spread), 0));
    radii[0] = CLAMP(large, 0.4f * radius, 3 * radius);
    radii[1] = CLAMP(MAX(small, 0.35f * large), 0.4f * radius, 3 * radius);

    /* the centre stays within the bone */
    centre[0] = (float)x;
    centre[1] = (float)y;
    float off = sqrtf(centre[0] * centre[0] + centre[1] * centre[1]);
    if (off > radius) {
        centre[0] *= radius / off;
        centre[1] *= radius / off;
    }
}

void springs_bone_sections(const solver_build *build, const springs_bones *bones, int index, const float *areas,
                           const float *places, int count, float width, springs_section *sections)
{
    enum { LIMIT = 16 };
    const springs_bone *bone = &bones->bones[index];
    const point_weights *weights = build->weights;
    float length = vec3_distance(bone->a, bone->b);
    vec3 along = vec3_normalize(vec3_sub(bone->b, bone->a));
    if (vec3_length2(along) == 0) along = vec3_make(0, 1, 0);
    vec3 u = vec3_orthogonal(along), v = vec3_cross(along, u);

    /* moments of the skin around the bone, near each place */
    moments sums[LIMIT] = {{0}};
    count = MIN(count, LIMIT);
    for (int p = 0; p < build->mesh->point_count; p++) {
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            if (bones->point_bones[i] != index) continue;

            vec3 x = vec3_load(build->mesh->positions + 3 * p), off = vec3_sub(x, bone->a);
            float t = springs_bone_nearest(bone, x) * length;
            double xu = vec3_dot(off, u), xv = vec3_dot(off, v);

            for (int k = 0; k < count; k++) {
                double w = areas[p] * weights->weights[i] * falloff(fabsf(t - places[k]) / width);
                moments *s = &sums[k];
                s->weight += w;
                s->mean[0] += w * xu;
                s->mean[1] += w * xv;
                s->square[0] += w * xu * xu;
                s->square[1] += w * xu * xv;
                s->square[2] += w * xv * xv;
            }
        }
    }

    for (int k = 0; k < count; k++) {
        springs_section *s = &sections[k];
        float turn[2], centre[2];
        moments_axes(&sums[k], bone->radius, s->radii, turn, centre);
        s->along = along;
        s->axes[0] = vec3_madd(vec3_scale(u, turn[0]), v, turn[1]);
        s->axes[1] = vec3_cross(along, s->axes[0]);
        s->centre = vec3_madd(vec3_madd(vec3_madd(bone->a, along, places[k]), u, centre[0]), v, centre[1]);
    }
}

/* ---- folds ---- */

/* Distance of the two sides of a fold at its edge, in radii. */
static const float fold_gap = 0.08f;

/* The mean direction of a joint's bones. */
static vec3 bones_direction(const springs_bones *bones, int joint, float *radius)
{
    vec3 sum = {0, 0, 0};
    *radius = 0;
    for (int b = bones->first[joint]; b < bones->first[joint + 1]; b++) {
        sum = vec3_add(sum, vec3_sub(bones->bones[b].b, bones->bones[b].a));
        *radius = MAX(*radius, bones->bones[b].radius);
    }
    return vec3_normalize(sum);
}

cutis_result springs_hinges_build(const springs_bones *bones, springs_hinges *hinges, arena *memory, cutis_error *error)
{
    *hinges = (springs_hinges){.hinges = ARENA_ARRAY(memory, springs_hinge, bones->count + 1)};

    /* a bone that leads to another one may fold there */
    if (!hinges->hinges) return error_memory(error, "the folds of a reference shape");
    for (int b = 0; b < bones->count; b++) {
        const springs_bone *bone = &bones->bones[b];
        if (bone->child < 0) continue;

        /* the bones before and after the joint */
        springs_hinge *h = &hinges->hinges[hinges->count];
        float radius;
        *h = (springs_hinge){.bone = b, .parent = bone->joint, .child = bone->child, .place = bone->b};
        h->before = vec3_normalize(vec3_sub(bone->b, bone->a));
        h->after = bones_direction(bones, bone->child, &radius);
        h->cosine = vec3_dot(h->before, h->after);
        h->radius = 0.5f * (radius + bone->radius);

        /* Only slender bones in line fold like a finger; hips and the thumb's root turn in the middle of a body. */
        h->slender = springs_ramp((vec3_distance(bone->a, bone->b) / bone->radius - 1.8f) / 0.8f) *
                     springs_ramp((h->cosine - 0.7f) / 0.2f);
        if (h->slender > 0 && vec3_length2(h->before) > 0 && vec3_length2(h->after) > 0) hinges->count++;
    }

    return CUTIS_OK;
}

/* 1 for a point that is nearer to this bone than to the joint's others, 0 for one that is half as near again. */
static float bone_share(const springs_bones *bones, int index, vec3 x)
{
    float own = 0, nearest = INFINITY;
    int joint = bones->bones[index].joint;
    for (int b = bones->first[joint]; b < bones->first[joint + 1]; b++) {
        const springs_bone *bone = &bones->bones[b];
        float distance = vec3_distance(x, vec3_lerp(bone->a, bone->b, springs_bone_nearest(bone, x)));
        nearest = MIN(nearest, distance);
        if (b == index) own = distance;
    }
    return own > 0 ? springs_ramp(3 * nearest / own - 2) : 1;
}

bool springs_side_find(const springs_bones *bones, const springs_hinges *hinges, int index, vec3 x, const int *joints,
                       const float *weights, int count, springs_side *side)
{
    const springs_hinge *h = &hinges->hinges[index];

    /* what the bones before and after the joint hold of the point */
    float parent = 0, child = 0;
    for (int k = 0; k < count; k++) {
        if (joints[k] == h->parent) parent += weights[k];
        if (joints[k] == h->child) child += weights[k];
    }

    if (parent > 0) parent *= bone_share(bones, h->bone, x);
    if (!(parent + child > 0)) return false;
    *side = (springs_side){.hinge = index, .gate = springs_ramp(2 * (parent + child))};
    side->side = CLAMP(5 * (child - parent) / (child + parent), -1.0f, 1.0f);

    /* how far beyond the fold's plane it is at rest already */
    vec3 across = vec3_normalize(vec3_add(h->before, h->after));
    float s = vec3_dot(vec3_sub(x, h->place), across);
    side->rest = MIN(side->side < 0 ? -s : s, 0.0f);
    return true;
}

void springs_hinges_pose(const springs_hinges *hinges, const float *skin, springs_fold *folds)
{
    for (int h = 0; h < hinges->count; h++) {
        const springs_hinge *from = &hinges->hinges[h];
        springs_fold *to = &folds[h];
        const float *parent = skin + 12 * from->parent, *child = skin + 12 * from->child;

        /* bones before and after, as they are now */
        vec3 before = vec3_normalize(mat34_vector(parent, from->before));
        vec3 after = vec3_normalize(mat34_vector(child, from->after));

        to->strength = from->slender * springs_ramp((from->cosine - vec3_dot(before, after) - 0.1f) / 0.65f);
        to->place = vec3_lerp(mat34_point(parent, from->place), mat34_point(child, from->place), 0.5f);

        to->across = vec3_normalize(vec3_add(before, after));
        to->inwards = vec3_normalize(vec3_sub(after, before));
        to->slope = vec3_dot(after, to->inwards) / MAX(vec3_dot(after, to->across), 0.15f);
        to->axis = vec3_cross(to->across, to->inwards);
    }
}

float springs_fold_apply(const springs_hinges *hinges, const springs_fold *folds, const springs_side *sides, int count,
                         float x[3])
{
    float most = 0;
    for (int i = 0; i < count; i++) {
        const springs_side *side = &sides[i];
        const springs_fold *f = &folds[side->hinge];
        if (!(f->strength > 0)) continue;

        /* where the point lies along the plane's normal */
        float radius = hinges->hinges[side->hinge].radius;
        vec3 off = vec3_sub(vec3_load(x), f->place);
        float sign = side->side < 0 ? -1.0f : 1.0f, s = sign * vec3_dot(off, f->across) - side->rest;

        /* Inside of the bend, seen from the bone's line, and not beside the limb. */
        float height = vec3_dot(off, f->inwards) - MAX(s, 0.0f) * f->slope;
        float inside = f->strength * side->gate * springs_ramp(height / (0.5f * radius)) *
                       (1 - springs_ramp(fabsf(vec3_dot(off, f->axis)) / radius - 1.5f));
        most = MAX(most, inside);

        /* A hyperbola that nears the plane from the own side: smooth, and order is kept. */
        float share = inside * fabsf(side->side), soft = fold_gap * radius;
        float beyond = 0.5f * (sqrtf(s * s + soft * soft) - s);
        vec3_store(x, vec3_madd(vec3_load(x), f->across, sign * share * beyond));
    }

    return most;
}
