/*
 * anatomy.c: how soft flesh is, from joints and shape; see anatomy.h.
 *
 * 1. What each joint is. One that is not known belongs to the nearest known joint above it, as a twist bone or an eye.
 * 2. A frame of the trunk: spine from the middle of the thighs' joints to that of the arms', left, and the belly's
 * side: where the legs go for an animal, across spine and left for an upright body. Its cross-sections are measured in
 * bins along the spine, so that places are relative to the body's own width and depth.
 * 3. Each point gets the mean over its joints of a softness by place: on the trunk by place along the spine and around
 *    it, on a limb by place along the bone, on an unknown body by its thickness. Thick limbs are softer, thin ones
 * firmer.
 * 4. Diffusion over the surface by a fixed length removes the steps of coarse weights.
 */
#include "character/anatomy.h"

#include <math.h>
#include <string.h>

#include "character/anatomy_limits.h"
#include "character/joint_shape.h"
#include "character/skinning.h"

/* Bins along the trunk, and the range of t that they cover. */
enum { BIN_COUNT = 24 };
static const float BIN_LOW = -0.7f, BIN_HIGH = 1.3f;

/* Softness of a limb from where its bone begins to where it ends, upright and of an animal. */
static const struct limb_row {
    int kind;
    float begin, end, animal_begin, animal_end;
} LIMBS[] = {
    {JOINT_UPPER_ARM, 0.5f, 0.25f, 0.45f, 0.15f}, {JOINT_FOREARM, 0.35f, 0.08f, 0.2f, 0.05f},
    {JOINT_UPPER_LEG, 0.8f, 0.2f, 0.6f, 0.2f},    {JOINT_LOWER_LEG, 0.15f, 0.05f, 0.15f, 0.03f},
    {JOINT_NECK, 0.35f, 0.2f, 0.35f, 0.25f},      {JOINT_TAIL, 0.35f, 0.25f, 0.35f, 0.25f},
};

/* The bone that a joint's flesh belongs to. */
typedef struct limb_region {
    int kind;        /* joint_kind */
    vec3 begin, end; /* of the bone */
    float girth;     /* thickness over that of an average body */
} limb_region;

typedef struct bin {
    float weight, x, z, xx, zz; /* sums, then means of places across the spine */
    float width, depth;         /* half of each */
    float ridge_weight, ridge;  /* place of the front in the middle: a sternum */
    float crest_weight, crest;  /* place of the back in the middle */
} bin;

typedef struct trunk {
    vec3 origin; /* middle of the hips */
    float length;
    bin bins[BIN_COUNT];
    float girth;
    float crest; /* mean place of the back */
} trunk;

typedef struct finder {
    const anatomy_request *request;
    anatomy *a;
    arena *scratch;
    limb_region *regions; /* (joint_count) */
    int *owners;          /* (joint_count) the known joint that each belongs to; -1: none */
    float *areas;         /* (point_count) */
    trunk trunk;
    vec3 head_up; /* head: from neck to crown, times its height */
    vec3 head_place;
    float head_height;
} finder;

static float smoothstep(float low, float high, float x)
{
    float t = CLAMP((x - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3 - 2 * t);
}

/* 1 between b and c, 0 below a and above d. */
static float window(float a, float b, float c, float d, float x)
{
    return smoothstep(a, b, x) * (1 - smoothstep(c, d, x));
}

static float mix(float a, float b, float t) { return a + (b - a) * t; }

/* ---- 1. joints ---- */

static bool limb_known(const joint_part *parts, int count)
{
    for (int j = 0; j < count; j++)
        if (parts[j].kind == JOINT_UPPER_LEG || parts[j].kind == JOINT_UPPER_ARM) return true;
    return false;
}

/* By shape: with +Y up, and then with other axes up. */
static cutis_result parts_shape(const cutis_character *c, const mesh *m, const int *first, const int *joints,
                                const float *weights, const int *parents, const bool *uses, arena *scratch,
                                joint_part *parts, cutis_error *error)
{
    /* rotations that bring an axis to +Y: rows of axis and sign */
    static const int turns[6][3][2] = {{{0, 1}, {1, 1}, {2, 1}},  {{0, 1}, {2, 1}, {1, -1}},
                                       {{0, 1}, {2, -1}, {1, 1}}, {{1, -1}, {0, 1}, {2, 1}},
                                       {{1, 1}, {0, -1}, {2, 1}}, {{0, -1}, {1, -1}, {2, 1}}};
    int n = c->joint_count;
    double(*places)[3] = arena_push(scratch, (size_t)n + 1, sizeof *places);
    double(*skins)[3] = arena_push(scratch, (size_t)n + 1, sizeof *skins);
    double(*turned)[3] = arena_push(scratch, 2 * (size_t)n + 1, sizeof *turned);
    double *totals = ARENA_ARRAY(scratch, double, n + 1);
    if (scratch->failed) return error_memory(error, "the anatomy");

    for (int p = 0; p < m->point_count; p++)
        for (int i = first[p]; i < first[p + 1]; i++) {
            totals[joints[i]] += (double)weights[i];
            for (int k = 0; k < 3; k++) skins[joints[i]][k] += (double)weights[i] * (double)m->positions[3 * p + k];
        }
    for (int j = 0; j < n; j++) {
        vec3 x = joint_bind_place(&c->joints[j]);
        for (int k = 0; k < 3; k++) {
            places[j][k] = (double)vec3_axis(x, k);
            skins[j][k] = totals[j] > 0 ? skins[j][k] / totals[j] : places[j][k];
        }
    }

    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < n; j++)
            for (int k = 0; k < 3; k++) {
                turned[j][k] = turns[i][k][1] * places[j][turns[i][k][0]];
                turned[n + j][k] = turns[i][k][1] * skins[j][turns[i][k][0]];
            }
        if (joint_parts_by_shape(scratch, n, parents, (const double(*)[3])turned, (const double(*)[3])(turned + n),
                                 uses, parts))
            break;
        if (scratch->failed) return error_memory(error, "the anatomy");
    }
    return CUTIS_OK;
}

cutis_result anatomy_parts(const cutis_character *c, const mesh *m, const int *first, const int *weight_joints,
                           const float *weights, arena *scratch, joint_part *parts, cutis_error *error)
{
    int n = c->joint_count;
    const char **names = ARENA_ARRAY(scratch, const char *, n + 1);
    int *parents = ARENA_ARRAY(scratch, int, n + 1);
    bool *uses = ARENA_ARRAY(scratch, bool, n + 1);
    if (scratch->failed) return error_memory(error, "the anatomy");

    /* joints that move skin, by themselves or by others below */
    for (int p = 0; p < m->point_count; p++)
        for (int i = first[p]; i < first[p + 1]; i++) uses[weight_joints[i]] = true;
    for (int j = n - 1; j >= 0; j--) {
        parents[j] = c->joints[j].parent;
        if (parents[j] >= 0 && uses[j]) uses[parents[j]] = true;
    }
    for (int j = 0; j < n; j++) names[j] = !uses[j] ? "" : c->joints[j].role ? c->joints[j].role : c->joints[j].name;

    joint_parts_find(n, names, parents, parts);
    if (limb_known(parts, n)) return CUTIS_OK;
    joint_part *shaped = ARENA_ARRAY(scratch, joint_part, n + 1);
    if (!shaped) return error_memory(error, "the anatomy");
    cutis_result result = parts_shape(c, m, first, weight_joints, weights, parents, uses, scratch, shaped, error);
    if (result == CUTIS_OK && limb_known(shaped, n)) memcpy(parts, shaped, (size_t)n * sizeof *parts);
    return result;
}

/* The last joint of a neck that carries no joint named head is the head. */
static void head_find(int count, joint_part *parts)
{
    int last = -1;
    for (int j = 0; j < count; j++) {
        if (parts[j].kind == JOINT_HEAD) return;
        if (parts[j].kind == JOINT_NECK && (last < 0 || parts[j].index > parts[last].index)) last = j;
    }
    if (last >= 0 && parts[last].index > 0) parts[last] = (joint_part){JOINT_HEAD, JOINT_SIDE_NONE, 0};
}

/* The known joint that each belongs to: itself, or the nearest one above. */
static void owners_find(finder *f)
{
    const cutis_character *c = f->request->character;
    for (int j = 0; j < c->joint_count; j++) {
        int parent = c->joints[j].parent;
        f->owners[j] = f->a->parts[j].kind != JOINT_OTHER ? j : parent >= 0 ? f->owners[parent] : -1;
    }
}

/* ---- 2. frame ---- */

static int joint_find(const finder *f, int kind, int side)
{
    for (int j = 0; j < f->request->character->joint_count; j++)
        if (f->a->parts[j].kind == kind && f->a->parts[j].side == side) return j;
    return -1;
}

static vec3 place_of(const finder *f, int joint) { return joint_bind_place(&f->request->character->joints[joint]); }

/* The middle of a pair of joints, and from right to left between them. */
static bool pair_find(const finder *f, int kind, vec3 *middle, vec3 *across)
{
    int left = joint_find(f, kind, JOINT_SIDE_LEFT), right = joint_find(f, kind, JOINT_SIDE_RIGHT);
    if (left < 0 || right < 0) return false;
    *middle = vec3_scale(vec3_add(place_of(f, left), place_of(f, right)), 0.5f);
    *across = vec3_sub(place_of(f, left), place_of(f, right));
    return true;
}

static vec3 without(vec3 v, vec3 unit) { return vec3_madd(v, unit, -vec3_dot(v, unit)); }

/* Where a pair of limbs goes: from its upper joints to the last of its joints that is known; not of length 1. */
static vec3 limbs_direction(const finder *f, int upper)
{
    vec3 from, to, across;
    if (!pair_find(f, upper, &from, &across)) return vec3_make(0, 0, 0);
    for (int kind = upper + 2; kind > upper; kind--)
        if (pair_find(f, kind, &to, &across)) return vec3_sub(to, from);
    return vec3_make(0, 0, 0);
}

static void frame_find(finder *f)
{
    anatomy *a = f->a;
    vec3 hips, shoulders, hip_across, shoulder_across, left = {0, 0, 0};
    bool legs = pair_find(f, JOINT_UPPER_LEG, &hips, &hip_across);
    bool arms = pair_find(f, JOINT_UPPER_ARM, &shoulders, &shoulder_across);
    if (legs) left = vec3_add(left, hip_across);
    if (arms) left = vec3_add(left, shoulder_across);
    if (!legs && !arms) return;

    /* a body without legs or without arms: from its hips, to its neck or head */
    if (!legs) {
        int joint = joint_find(f, JOINT_HIPS, JOINT_SIDE_NONE);
        if (joint < 0) joint = joint_find(f, JOINT_SPINE, JOINT_SIDE_NONE);
        if (joint < 0) return;
        hips = place_of(f, joint);
    }
    if (!arms) {
        int joint = joint_find(f, JOINT_NECK, JOINT_SIDE_NONE);
        if (joint < 0) joint = joint_find(f, JOINT_HEAD, JOINT_SIDE_NONE);
        if (joint < 0) return;
        shoulders = place_of(f, joint);
    }

    vec3 spine = vec3_sub(shoulders, hips);
    f->trunk.origin = hips;
    f->trunk.length = vec3_length(spine);
    if (!(f->trunk.length > 0.02f * f->request->character->size)) return;
    a->spine = vec3_normalize(spine);
    a->left = vec3_normalize(without(left, a->spine));
    if (!(vec3_length(a->left) > 0.5f)) return;

    /* legs along the spine: upright; else the belly is where the legs go */
    vec3 down = vec3_normalize(limbs_direction(f, JOINT_UPPER_LEG));
    a->upright = !legs || -vec3_dot(down, a->spine) > LYING_COSINE;
    a->front = vec3_cross(a->left, a->spine);
    if (!a->upright) {
        vec3 belly = without(without(down, a->spine), a->left);
        if (!(vec3_length(belly) > 0.1f)) return;
        a->front = vec3_normalize(belly);
    }
    a->has_frame = true;
}

/* Place of a point on the trunk: t, and across it to the left and to the front, in lengths of the trunk. */
static vec3 trunk_place(const finder *f, int point)
{
    vec3 x = vec3_sub(vec3_load(f->request->mesh->positions + 3 * point), f->trunk.origin);
    float scale = 1 / f->trunk.length;
    return vec3_make(vec3_dot(x, f->a->spine) * scale, vec3_dot(x, f->a->left) * scale,
                     vec3_dot(x, f->a->front) * scale);
}

static int bin_at(float t, float *share)
{
    float x = CLAMP((t - BIN_LOW) / (BIN_HIGH - BIN_LOW) * BIN_COUNT - 0.5f, 0.0f, BIN_COUNT - 1.001f);
    int i = (int)x;
    *share = x - (float)i;
    return i;
}

static bool kind_of_trunk(int kind) { return kind == JOINT_HIPS || kind == JOINT_SPINE || kind == JOINT_COLLAR; }

/* Share of a point that its weights give to the trunk. */
static float trunk_share(const finder *f, int point)
{
    const anatomy_request *r = f->request;
    float sum = 0;
    for (int i = r->weight_first[point]; i < r->weight_first[point + 1]; i++) {
        int owner = f->owners[r->weight_joints[i]];
        if (owner >= 0 && kind_of_trunk(f->a->parts[owner].kind)) sum += r->weights[i];
    }
    return sum;
}

/* A cross-section by interpolation between bins. */
static bin section_at(const trunk *t, float at)
{
    float share;
    int i = bin_at(at, &share);
    const bin *a = &t->bins[i], *b = &t->bins[i + 1];
    return (bin){.x = mix(a->x, b->x, share),
                 .z = mix(a->z, b->z, share),
                 .width = mix(a->width, b->width, share),
                 .depth = mix(a->depth, b->depth, share),
                 .ridge = mix(a->ridge, b->ridge, share),
                 .crest = mix(a->crest, b->crest, share)};
}

/* Coarse meshes have bins with one ring of points, or with a part of one: smooth along the spine. */
static void bins_smooth(bin *bins)
{
    for (int pass = 0; pass < 2; pass++) {
        bin before[BIN_COUNT];
        memcpy(before, bins, sizeof before);
        for (int i = 0; i < BIN_COUNT; i++) {
            const bin *a = &before[MAX(i - 1, 0)], *b = &before[i], *c = &before[MIN(i + 1, BIN_COUNT - 1)];
            bins[i].x = 0.25f * (a->x + 2 * b->x + c->x);
            bins[i].z = 0.25f * (a->z + 2 * b->z + c->z);
            bins[i].width = 0.25f * (a->width + 2 * b->width + c->width);
            bins[i].depth = 0.25f * (a->depth + 2 * b->depth + c->depth);
        }
    }
}

/* Where nothing was measured, what is nearest. */
static void bins_fill(bin *bins, size_t value, size_t weight)
{
    for (int i = 0; i < BIN_COUNT; i++) {
        if (*(float *)((char *)&bins[i] + weight) > 0) continue;
        for (int d = 1; d < BIN_COUNT; d++) {
            int low = i - d, high = i + d;
            int from = low >= 0 && *(float *)((char *)&bins[low] + weight) > 0        ? low
                       : high<BIN_COUNT &&*(float *)((char *)&bins[high] + weight)> 0 ? high
                                                                                      : -1;
            if (from < 0) continue;
            *(float *)((char *)&bins[i] + value) = *(float *)((char *)&bins[from] + value);
            break;
        }
    }
}

/* Middle, width and depth of the cross-sections; the middle of the front and of the back. */
static void trunk_measure(finder *f)
{
    trunk *t = &f->trunk;
    int n = f->request->mesh->point_count;
    for (int p = 0; p < n; p++) {
        float weight = trunk_share(f, p) * f->areas[p], share;
        if (!(weight > 0)) continue;
        vec3 x = trunk_place(f, p);
        int i = bin_at(x.x, &share);
        for (int k = 0; k < 2; k++) {
            bin *b = &t->bins[i + k];
            float w = weight * (k == 0 ? 1 - share : share);
            b->weight += w;
            b->x += w * x.y;
            b->z += w * x.z;
            b->xx += w * x.y * x.y;
            b->zz += w * x.z * x.z;
        }
    }
    for (int i = 0; i < BIN_COUNT; i++) {
        bin *b = &t->bins[i];
        if (!(b->weight > 0)) continue;
        b->x /= b->weight;
        b->z /= b->weight;
        /* half the axis of an ellipse is the root of twice the variance of its rim */
        b->width = sqrtf(MAX(2 * (b->xx / b->weight - b->x * b->x), 1e-6f));
        b->depth = sqrtf(MAX(2 * (b->zz / b->weight - b->z * b->z), 1e-6f));
    }
    bins_fill(t->bins, offsetof(bin, x), offsetof(bin, weight));
    bins_fill(t->bins, offsetof(bin, z), offsetof(bin, weight));
    bins_fill(t->bins, offsetof(bin, width), offsetof(bin, weight));
    bins_fill(t->bins, offsetof(bin, depth), offsetof(bin, weight));
    bins_smooth(t->bins);

    /* the middle */
    float crest_weight = 0;
    for (int p = 0; p < n; p++) {
        float weight = trunk_share(f, p) * f->areas[p], share;
        if (!(weight > 0)) continue;
        vec3 x = trunk_place(f, p);
        bin section = section_at(t, x.x);
        float across = (x.y - section.x) / section.width;
        weight *= 1 - smoothstep(0.15f, 0.35f, fabsf(across));
        int i = bin_at(x.x, &share);
        for (int k = 0; k < 2; k++) {
            bin *b = &t->bins[i + k];
            float w = weight * (k == 0 ? 1 - share : share);
            if (x.z > section.z) {
                b->ridge_weight += w;
                b->ridge += w * x.z;
            } else {
                b->crest_weight += w;
                b->crest += w * x.z;
            }
        }
        if (x.z <= section.z && x.x > 0 && x.x < 1) {
            t->crest += weight * x.z;
            crest_weight += weight;
        }
    }
    for (int i = 0; i < BIN_COUNT; i++) {
        bin *b = &t->bins[i];
        if (b->ridge_weight > 0) b->ridge /= b->ridge_weight;
        if (b->crest_weight > 0) b->crest /= b->crest_weight;
    }
    bins_fill(t->bins, offsetof(bin, ridge), offsetof(bin, ridge_weight));
    bins_fill(t->bins, offsetof(bin, crest), offsetof(bin, crest_weight));
    if (crest_weight > 0) t->crest /= crest_weight;

    /* depth of the waist over that of an average person */
    float sum = 0, total = 0;
    for (int i = 0; i < BIN_COUNT; i++) {
        float at = BIN_LOW + (BIN_HIGH - BIN_LOW) * ((float)i + 0.5f) / BIN_COUNT,
              w = window(-0.1f, 0.1f, 0.5f, 0.7f, at);
        sum += w * t->bins[i].depth;
        total += w;
    }
    t->girth = CLAMP(sum / total / TRUNK_GIRTH, MIN_GIRTH, MAX_GIRTH);
}

/* ---- limbs ---- */

static float segment_distance(vec3 p, vec3 a, vec3 b, float *t)
{
    vec3 line = vec3_sub(b, a);
    float length2 = vec3_length2(line);
    *t = length2 > 0 ? vec3_dot(vec3_sub(p, a), line) / length2 : 0;
    return vec3_distance(p, vec3_madd(a, line, CLAMP(*t, 0.0f, 1.0f)));
}

/* Bones: from a joint to the next known one of the limb, or through the middle of its points. */
static void regions_find(finder *f)
{
    const anatomy_request *r = f->request;
    int n = r->character->joint_count;
    vec3 *sums = ARENA_ARRAY(f->scratch, vec3, n + 1);
    float *totals = ARENA_ARRAY(f->scratch, float, n + 1);
    if (f->scratch->failed) return;

    for (int p = 0; p < r->mesh->point_count; p++)
        for (int i = r->weight_first[p]; i < r->weight_first[p + 1]; i++) {
            int owner = f->owners[r->weight_joints[i]];
            if (owner < 0) continue;
            float w = r->weights[i] * f->areas[p];
            sums[owner] = vec3_madd(sums[owner], vec3_load(r->mesh->positions + 3 * p), w);
            totals[owner] += w;
        }

    for (int j = 0; j < n; j++) {
        if (f->owners[j] != j) continue;
        const joint_part *part = &f->a->parts[j];
        limb_region *region = &f->regions[j];
        *region = (limb_region){.kind = part->kind, .begin = place_of(f, j), .girth = 1};
        int next = part->kind == JOINT_UPPER_ARM || part->kind == JOINT_FOREARM || part->kind == JOINT_UPPER_LEG ||
                           part->kind == JOINT_LOWER_LEG
                       ? joint_find(f, part->kind + 1, part->side)
                   : part->kind == JOINT_NECK ? joint_find(f, JOINT_HEAD, JOINT_SIDE_NONE)
                                              : -1;
        region->end = region->begin;
        if (next >= 0)
            region->end = place_of(f, next);
        else if (totals[j] > 0)
            region->end = vec3_madd(region->begin, vec3_sub(vec3_scale(sums[j], 1 / totals[j]), region->begin), 2);
    }

    /* girth: both sides alike */
    static const int kinds[2] = {JOINT_UPPER_LEG, JOINT_UPPER_ARM};
    for (int k = 0; k < 2; k++) {
        double sum = 0, total = 0;
        for (int p = 0; p < r->mesh->point_count; p++)
            for (int i = r->weight_first[p]; i < r->weight_first[p + 1]; i++) {
                int owner = f->owners[r->weight_joints[i]];
                if (owner < 0 || f->a->parts[owner].kind != kinds[k] || r->weights[i] < 0.5f) continue;
                const limb_region *own = &f->regions[owner];
                float t, d = segment_distance(vec3_load(r->mesh->positions + 3 * p), own->begin, own->end, &t);
                sum += (double)(d * f->areas[p]);
                total += (double)(vec3_distance(own->begin, own->end) * f->areas[p]);
            }
        float average = k == 0 ? THIGH_GIRTH : ARM_GIRTH;
        for (int j = 0; j < n; j++)
            if (f->owners[j] == j && f->a->parts[j].kind == kinds[k] && total > 0)
                f->regions[j].girth = CLAMP((float)(sum / total) / average, MIN_GIRTH, MAX_GIRTH);
    }

    /* the head's height above its joint */
    int head = joint_find(f, JOINT_HEAD, JOINT_SIDE_NONE);
    if (head < 0 || !f->a->has_frame) return;
    f->head_place = place_of(f, head);
    for (int p = 0; p < r->mesh->point_count; p++)
        for (int i = r->weight_first[p]; i < r->weight_first[p + 1]; i++)
            if (f->owners[r->weight_joints[i]] == head && r->weights[i] >= 0.5f)
                f->head_height =
                    MAX(f->head_height,
                        vec3_dot(vec3_sub(vec3_load(r->mesh->positions + 3 * p), f->head_place), f->a->spine));
}

/* ---- 3. softness by place ---- */

/* Thick parts are softer, thin ones firmer; 0 and 1 stay. */
static float with_girth(float soft, float girth)
{
    return (float)det_pow(MAX((double)soft, 1e-6), 1 / (double)(girth * girth));
}

static float buttock_at(vec3 x, float side)
{
    return BUTTOCK_SOFT * window(-0.6f, -0.35f, 0.08f, 0.25f, x.x) * smoothstep(-0.1f, 0.5f, -side);
}

static float upright_trunk(const finder *f, vec3 x, float side, float across, const bin *section)
{
    float ribs = window(0.45f, 0.65f, 1.2f, 1.3f, x.x) * smoothstep(-0.6f, 0.1f, side);
    float soft = mix(TRUNK_SOFT, RIBS_SOFT, ribs);
    float girth = f->trunk.girth;

    float belly = window(-0.25f, 0.05f, 0.4f, 0.62f, x.x) * smoothstep(-0.6f, 0.3f, side);
    float stands_out = smoothstep(-0.06f, 0.05f, x.z - section->ridge);
    float breast = window(0.42f, 0.58f, 0.78f, 0.98f, x.x) * smoothstep(0.1f, 0.6f, side) *
                   window(0.1f, 0.35f, 0.8f, 1.05f, fabsf(across));
    soft = mix(soft, MAX(soft, with_girth(BELLY_SOFT, girth)), belly);
    soft = mix(soft, MAX(soft, mix(with_girth(PECTORAL_SOFT, girth), BREAST_SOFT, stands_out)), breast);
    return MAX(soft, with_girth(buttock_at(x, side), girth));
}

static float animal_trunk(const finder *f, vec3 x, float side)
{
    float soft = ANIMAL_TRUNK_SOFT;
    float belly = window(-0.1f, 0.15f, 0.75f, 1.05f, x.x) * smoothstep(-0.3f, 0.7f, side);
    soft = mix(soft, ANIMAL_BELLY_SOFT, belly);
    float rump = (1 - smoothstep(-0.05f, 0.25f, x.x)) * smoothstep(-0.2f, 0.5f, -side);
    soft = MAX(soft, ANIMAL_RUMP_SOFT * rump);

    /* a hump rises above the mean of the back */
    if (f->trunk.crest < 0) {
        float rise = smoothstep(HUMP_RISE, HUMP_RISE + 0.35f, x.z / f->trunk.crest);
        soft = MAX(soft, HUMP_SOFT * rise * window(-0.1f, 0.15f, 0.85f, 1.0f, x.x));
    }
    return soft;
}

/* Side and place across of a point in its section; side: the cosine around the section's ellipse. */
static void section_place(const bin *section, vec3 x, float *side, float *across)
{
    *across = (x.y - section->x) / section->width;
    float out = (x.z - section->z) / section->depth;
    float length = sqrtf(*across * *across + out * out);
    *side = length > 1e-6f ? out / length : 0;
}

static float head_soft(const finder *f, int point)
{
    if (!f->a->has_frame || !f->a->upright || !(f->head_height > 0)) return 0;
    vec3 x = vec3_sub(vec3_load(f->request->mesh->positions + 3 * point), f->head_place);
    float up = vec3_dot(x, f->a->spine) / f->head_height, ahead = vec3_dot(x, f->a->front) / f->head_height;
    return CHEEK_SOFT * (1 - smoothstep(0.15f, 0.5f, up)) * smoothstep(0.0f, 0.4f, ahead);
}

/* Thickness alone. */
static float unknown_soft(const finder *f, int point, int joint)
{
    const cutis_character *c = f->request->character;
    vec3 p = vec3_load(f->request->mesh->positions + 3 * point), begin = place_of(f, joint);
    float t, nearest = vec3_distance(p, begin);
    for (int i = joint + 1; i < c->joint_count; i++)
        if (c->joints[i].parent == joint) nearest = MIN(nearest, segment_distance(p, begin, place_of(f, i), &t));
    return UNKNOWN_SOFT * smoothstep(UNKNOWN_THIN, UNKNOWN_THICK, nearest / c->size);
}

static float limb_soft(const finder *f, int point, const limb_region *region)
{
    const anatomy *a = f->a;
    vec3 p = vec3_load(f->request->mesh->positions + 3 * point);
    bool animal = a->has_frame && !a->upright;
    float t, distance = segment_distance(p, region->begin, region->end, &t);
    t = CLAMP(t, 0.0f, 1.0f);

    for (int i = 0; i < COUNT_OF(LIMBS); i++) {
        const struct limb_row *row = &LIMBS[i];
        if (row->kind != region->kind) continue;
        float soft = animal ? mix(row->animal_begin, row->animal_end, t) : mix(row->begin, row->end, t);
        if (!a->has_frame) return soft;

        /* the side of the belly or the back, as the surface is around the bone */
        vec3 out = vec3_sub(p, vec3_madd(region->begin, vec3_sub(region->end, region->begin), t));
        float side = distance > 0 ? vec3_dot(out, a->front) / distance : 0;
        if (region->kind == JOINT_LOWER_LEG && a->upright)
            soft += 0.35f * smoothstep(-0.2f, 0.7f, -side) * window(-0.05f, 0.15f, 0.4f, 0.75f, t); /* calf */
        if (region->kind == JOINT_NECK)
            soft = mix(soft, a->upright ? THROAT_SOFT : DEWLAP_SOFT, smoothstep(0.2f, 0.9f, side));
        return with_girth(soft, region->girth);
    }
    return 0; /* hands, fingers, feet */
}

/* One joint's say in a point. */
static float softness_by(const finder *f, int point, int joint, vec3 x, float side, float across, const bin *section)
{
    int owner = f->owners[joint];
    if (owner < 0) return unknown_soft(f, point, joint);
    const limb_region *region = &f->regions[owner];

    if (region->kind == JOINT_HEAD) return head_soft(f, point);
    if (kind_of_trunk(region->kind)) {
        if (!f->a->has_frame) return unknown_soft(f, point, joint);
        return f->a->upright ? upright_trunk(f, x, side, across, section) : animal_trunk(f, x, side);
    }

    /* buttocks reach down to the thighs */
    float soft = limb_soft(f, point, region);
    if (region->kind == JOINT_UPPER_LEG && f->a->has_frame && f->a->upright)
        soft = MAX(soft, with_girth(buttock_at(x, side), region->girth));
    return soft;
}

static void softness_find(finder *f)
{
    const anatomy_request *r = f->request;
    for (int p = 0; p < r->mesh->point_count; p++) {
        vec3 x = {0, 0, 0};
        float side = 0, across = 0, sum = 0, total = 0;
        bin section = {0};
        if (f->a->has_frame) {
            x = trunk_place(f, p);
            section = section_at(&f->trunk, x.x);
            section_place(&section, x, &side, &across);
        }
        for (int i = r->weight_first[p]; i < r->weight_first[p + 1]; i++) {
            if (!(r->weights[i] > 0)) continue;
            sum += r->weights[i] * softness_by(f, p, r->weight_joints[i], x, side, across, &section);
            total += r->weights[i];
        }
        f->a->softness[p] = total > 0 ? CLAMP(sum / total, 0.0f, 1.0f) : 0;
    }
}

/* ---- 4. diffusion ---- */

/* Cotangent weights of edges, none below 0. */
static void edge_weights(const mesh *m, double *weights)
{
    for (int t = 0; t < m->triangle_count; t++)
        for (int i = 0; i < 3; i++) {
            const int *v = m->triangles + 3 * t;
            vec3 a = vec3_load(m->positions + 3 * v[i]), b = vec3_load(m->positions + 3 * v[(i + 1) % 3]);
            vec3 c = vec3_load(m->positions + 3 * v[(i + 2) % 3]), u = vec3_sub(a, c), w = vec3_sub(b, c);
            double area = (double)vec3_length(vec3_cross(u, w)), dot = (double)vec3_dot(u, w);
            if (area > 0) weights[m->triangle_edges[3 * t + i]] += 0.5 * CLAMP(dot / area, -10.0, 10.0);
        }
    for (int e = 0; e < m->edge_count; e++) weights[e] = MAX(weights[e], 0);
}

/* y = (mass + time x stiffness) x. */
static void heat_apply(const mesh *m, const double *mass, const double *weights, double time, const double *x,
                       double *y)
{
    for (int p = 0; p < m->point_count; p++) y[p] = mass[p] * x[p];
    for (int e = 0; e < m->edge_count; e++) {
        int a = m->edges[2 * e], b = m->edges[2 * e + 1];
        double flow = time * weights[e] * (x[a] - x[b]);
        y[a] += flow;
        y[b] -= flow;
    }
}

/* An implicit step of heat flow over the surface, by conjugate gradients: (M + t L) s = M s0. */
static cutis_result diffuse(finder *f, cutis_error *error)
{
    const mesh *m = f->request->mesh;
    int n = m->point_count;
    double time = (double)SMOOTH_LENGTH * (double)f->request->character->size;
    time *= time;
    double *mass = ARENA_ARRAY(f->scratch, double, n + 1),
           *weights = ARENA_ARRAY(f->scratch, double, m->edge_count + 1);
    double *x = ARENA_ARRAY(f->scratch, double, n + 1), *residual = ARENA_ARRAY(f->scratch, double, n + 1);
    double *way = ARENA_ARRAY(f->scratch, double, n + 1), *product = ARENA_ARRAY(f->scratch, double, n + 1);
    if (f->scratch->failed) return error_memory(error, "the anatomy");

    double total = 0;
    for (int p = 0; p < n; p++) total += (double)f->areas[p] / MAX(n, 1);
    for (int p = 0; p < n; p++) {
        mass[p] = MAX((double)f->areas[p], 1e-3 * total);
        x[p] = (double)f->a->softness[p];
    }
    if (!(total > 0)) return CUTIS_OK;
    edge_weights(m, weights);

    heat_apply(m, mass, weights, time, x, product);
    double rr = 0, scale = 0;
    for (int p = 0; p < n; p++) {
        residual[p] = mass[p] * x[p] - product[p];
        way[p] = residual[p];
        rr += residual[p] * residual[p];
        scale += mass[p] * mass[p];
    }
    for (int i = 0; i < 200 && rr > 1e-12 * scale; i++) {
        double along = 0, next = 0;
        heat_apply(m, mass, weights, time, way, product);
        for (int p = 0; p < n; p++) along += way[p] * product[p];
        if (!(along > 0)) break;
        double step = rr / along;
        for (int p = 0; p < n; p++) {
            x[p] += step * way[p];
            residual[p] -= step * product[p];
            next += residual[p] * residual[p];
        }
        for (int p = 0; p < n; p++) way[p] = residual[p] + next / rr * way[p];
        rr = next;
    }
    for (int p = 0; p < n; p++) f->a->softness[p] = (float)CLAMP(x[p], 0.0, 1.0);
    return CUTIS_OK;
}

/* ---- all of it ---- */

cutis_result anatomy_find(const anatomy_request *request, arena *memory, arena *scratch, anatomy *result,
                          cutis_error *error)
{
    const mesh *m = request->mesh;
    int n = request->character->joint_count;
    *result = (anatomy){.upright = true};
    result->parts = ARENA_ARRAY(memory, joint_part, n + 1);
    result->softness = ARENA_ARRAY(memory, float, m->point_count + 1);
    finder f = {.request = request, .a = result, .scratch = scratch};
    f.regions = ARENA_ARRAY(scratch, limb_region, n + 1);
    f.owners = ARENA_ARRAY(scratch, int, n + 1);
    f.areas = ARENA_ARRAY(scratch, float, m->point_count + 1);
    if (memory->failed || scratch->failed) return error_memory(error, "the anatomy");
    mesh_point_areas(m, m->positions, f.areas);

    cutis_result code = anatomy_parts(request->character, m, request->weight_first, request->weight_joints,
                                      request->weights, scratch, result->parts, error);
    if (code != CUTIS_OK) return code;
    result->known = limb_known(result->parts, n);
    if (!result->known)
        for (int j = 0; j < n; j++) result->parts[j] = (joint_part){JOINT_OTHER, JOINT_SIDE_NONE, 0};
    head_find(n, result->parts);
    owners_find(&f);
    frame_find(&f);
    if (result->has_frame) trunk_measure(&f);
    regions_find(&f);
    if (scratch->failed) return error_memory(error, "the anatomy");
    softness_find(&f);
    return diffuse(&f, error);
}

/* ---- units ---- */

double anatomy_unit(const cutis_character *c, const anatomy *a)
{
    static const double people[] = {1, 0.01, 0.001, 0.1, 0.0254, 0.3048, 10, 100, 1000};
    double size = (double)c->size;
    if (!(size > 0)) return 1;

    if (a && a->has_frame && a->upright) {
        double low = 1e30, high = -1e30;
        for (int v = 0; v < c->vertex_count; v++) {
            double x = (double)vec3_dot(vec3_load(c->positions + 3 * v), a->spine);
            low = MIN(low, x);
            high = MAX(high, x);
        }
        double height = high - low;
        if (height >= (double)MIN_HEIGHT && height <= (double)MAX_HEIGHT) return 1;
        double best = 1, least = 1e30;
        for (int i = 1; i < COUNT_OF(people) && height > 0; i++) {
            double apart = fabs(det_log(height * people[i] / (double)HEIGHT));
            if (apart >= least) continue;
            least = apart;
            best = people[i];
        }
        return best;
    }

    /* any other body: the most common unit that gives a plausible size */
    static const double others[] = {1, 0.01, 0.001, 100, 1000};
    for (int i = 0; i < COUNT_OF(others); i++)
        if (size * others[i] >= (double)MIN_SIZE && size * others[i] <= (double)MAX_SIZE) return others[i];
    return 1 / size;
}
