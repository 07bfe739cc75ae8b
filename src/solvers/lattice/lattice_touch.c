/*
 * lattice_touch.c: contact of the skin with itself in real time. The paper has none.
 *
 * Skinning drives sheets of skin through each other: an arm into the flank, and in a deep bend the two sides of a
 * crease, between which the skin is turned inside out. Spheres or discs of skin cannot tell on which side of each other
 * such sheets belong. Here both sheets agree on a surface in the middle, and each is brought back to its own side of
 * it.
 *
 * The skin is divided into patches. Two patches that face each other, and are much nearer than at rest, have a plane in
 * the middle; a patch takes the mean of its pairs. In a crease nothing faces anything: there planes spread over the
 * skin from both sides, and how far a patch is from each side tells on which side of the plane it belongs. Points take
 * the planes of the patches around them, averaged over both sheets, so that what meets is pressed flat along one smooth
 * surface.
 *
 * A mean of planes n x = o is kept as the sums of n (which side), of n n^T and of n o (the plane, whatever the side).
 * Only what is shown is moved; flesh does not feel it. So it costs nothing in substeps that are not shown.
 */
#include <float.h>
#include <string.h>

#include "math/simd.h"
#include "solvers/lattice/lattice_step.h"
#include "solvers/solver_kit.h"

/* Width of a patch: of the size, and of the thickness of the flesh behind it, at most. */
#define PATCH_WIDTH 0.015f
#define PATCH_THIN 0.35f
/* Reach of a patch beside itself, in its widths. */
#define REACH 2.5f
/* How deep sheets find each other, of the size; and no deeper than the flesh of either. */
#define DEPTH 0.08f
/* Width of a cell of the search. */
#define CELL 0.05f
/* Cosine of the normals from which on patches face each other fully; they begin to at a right angle. */
#define FACING 0.5f
/* Rest distance over distance from which on patches have come nearer, and over how much of their reach. */
#define NEARER 1.2f
#define NEARER_FADE 0.25f
/* Skin from one side of a crease to the other, in thicknesses of its flesh, at most. */
#define CREASE 3.0f
/* How far a point is moved, in thicknesses; in a crease, in ways to its middle: skin that is turned inside out hangs as
 * far beyond it as it is long, and joints draw it out.
 */
#define MOVE_MOST 0.7f
#define CREASE_MOST 2.5f
/* Way over which both sheets agree on their planes, in widths of a patch. */
#define AGREE 8.0f
/* Rounds in which moves are smoothed where no sheet faces another, and how much of the mean each takes. */
#define SMOOTH_ROUNDS 1
#define SMOOTH 0.7f
/* Factor on how much a point belongs to one side, beyond which its move is not smoothed. */
#define SIDED 10.0f
/* Rounds in which planes spread. */
#define ROUNDS 8
/* Most patches beside one. */
#define BESIDE 24

static inline float dot3(quad a, quad b)
{
    quad products = a * b;
    return products[0] + products[1] + products[2];
}

static inline quad unit3(quad a) { return a * (1 / sqrtf(MAX(dot3(a, a), 1e-30f))); }

static inline float distance3(quad a, quad b) { return sqrtf(dot3(a - b, a - b)); }

/* 0 below 0, 1 above 1, smooth between. */
static inline float ease(float x)
{
    x = CLAMP(x, 0.0f, 1.0f);
    return x * x * (3 - 2 * x);
}

static inline quad load3(const float *x) { return (quad){x[0], x[1], x[2], 0}; }

/* ---- hashing ---- */

typedef struct cell_key {
    int x, y, z;
} cell_key;

static inline cell_key key_of(quad place)
{
    quad at = place * (1 / CELL);
    return (cell_key){(int)floorf(at[0]), (int)floorf(at[1]), (int)floorf(at[2])};
}

static inline int key_bucket(cell_key k, int bucket_count)
{
    uint32_t h = (uint32_t)k.x * 73856093u ^ (uint32_t)k.y * 19349663u ^ (uint32_t)k.z * 83492791u;
    return (int)((h ^ h >> 15) & (uint32_t)(bucket_count - 1));
}

/* Sort patches into buckets: those of one are a run of `order`. */
static void patches_hash(lattice_patches *d, const quad *rests, int count, int bucket_count)
{
    memset(d->first, 0, ((size_t)bucket_count + 1) * sizeof *d->first);
    for (int i = 0; i < count; i++) {
        d->buckets[i] = key_bucket(key_of(d->places[i]), bucket_count);
        d->first[d->buckets[i] + 1]++;
    }
    for (int b = 0; b < bucket_count; b++) d->first[b + 1] += d->first[b];
    for (int i = count - 1; i >= 0; i--) d->order[--d->first[d->buckets[i] + 1]] = i;

    /* filling backwards left first[b + 1] at the start of b */
    memmove(d->first, d->first + 1, (size_t)bucket_count * sizeof *d->first);
    d->first[bucket_count] = count;

    /* what the search looks at first, by axis */
    for (int k = 0; k < count; k++) {
        int i = d->order[k];
        for (int axis = 0; axis < 3; axis++) {
            d->sorted[axis][k] = d->places[i][axis];
            d->sorted[3 + axis][k] = d->normals[i][axis];
            d->sorted[6 + axis][k] = rests[i][axis];
        }
    }
}

/* ---- means of planes ---- */

/* Add a plane: unit normal n away from the own side, n x = offset. */
static void middle_add(lattice_middle *m, quad n, float offset, float weight)
{
    quad w = {weight, weight, weight, weight};
    m->side += (quad){n[0], n[1], n[2], 1} * w;
    m->squares += (quad){n[0] * n[0], n[1] * n[1], n[2] * n[2], 0} * w;
    m->products += (quad){n[0] * n[1], n[0] * n[2], n[1] * n[2], 0} * w;
    m->offset += n * (quad){offset, offset, offset, 0} * w;
}

static void middle_mix(lattice_middle *m, const lattice_middle *other, float weight)
{
    m->side += other->side * weight;
    m->squares += other->squares * weight;
    m->products += other->products * weight;
    m->offset += other->offset * weight;
}

/* The plane of a mean: its normal, and in w the offset. alike: how much the planes agree, 0..1; side: to which side. */
static quad middle_plane(const lattice_middle *m, float *alike, float *side)
{
    quad s = m->squares, p = m->products;
    quad rows[3] = {{s[0], p[0], p[1], 0}, {p[0], s[1], p[2], 0}, {p[1], p[2], s[2], 0}};

    /* the largest eigenvalue, by iteration from the largest row */
    quad n = s[0] > s[1] && s[0] > s[2] ? rows[0] : s[1] > s[2] ? rows[1] : rows[2];
    float value = 0;
    for (int i = 0; i < 6; i++) {
        n = unit3(n);
        quad next = rows[0] * n[0] + rows[1] * n[1] + rows[2] * n[2];
        value = dot3(next, n);
        n = next;
    }
    n = unit3(n);

    /* away from the own side */
    float weight = m->side[3], away = dot3(n, m->side) / weight;
    if (away < 0) n = n * -1.0f;
    *side = fabsf(away);
    *alike = value / weight;
    n[3] = dot3(n, m->offset) / MAX(value, 1e-30f);
    return n;
}

/* ---- patches that face each other ---- */

typedef struct touch_job {
    const lattice_model *m;
    lattice_patches *d;
    float *points;
    int reached_count;
} touch_job;

/*
 * Whether two patches lie back to back at rest, with flesh between them: 0..1. Then they are sides of one limb, and
 * near each other because it is thin or bent.
 */
static float back_to_back(quad away, float rest, quad normal, quad other)
{
    float behind = 0.5f * (dot3(away, normal) - dot3(away, other)) / MAX(rest, 1e-12f);
    if (!(behind > 0.1f)) return 0;
    return ease((behind - 0.1f) / 0.3f) * ease((0.3f - dot3(normal, other)) / 0.4f);
}

/* How much patches i and j meet, 0..1; their common normal, and how far i is beyond j along it. */
static float patches_meet(const touch_job *job, int i, int j, quad *normal, float *beyond)
{
    /* facing each other, and within reach beside */
    const lattice_touch *touch = &job->m->touch;
    const lattice_patches *d = job->d;
    float facing = -dot3(d->normals[i], d->normals[j]);
    if (!(facing > 0)) return 0;
    quad away = d->places[i] - d->places[j];
    *normal = unit3(d->normals[i] - d->normals[j]);
    *beyond = dot3(away, *normal);
    float far2 = dot3(away, away), reach = REACH * MAX(touch->rests[i][3], touch->rests[j][3]);
    float beside = 1 - (far2 - *beyond * *beyond) / (reach * reach);
    if (!(beside > 0)) return 0;

    /* no deeper than flesh, and nearer than at rest */
    float depth = MIN(DEPTH, MIN(touch->normals[i][3], touch->normals[j][3]));
    quad apart = touch->rests[i] - touch->rests[j];
    float rest = sqrtf(dot3(apart, apart));
    float nearer = (rest - NEARER * sqrtf(far2)) / (NEARER_FADE * reach);
    if (!(fabsf(*beyond) < depth && nearer > 0)) return 0;

    return beside * beside * beside * ease(facing / FACING) * ease(4 * (1 - fabsf(*beyond) / depth)) * ease(nearer) *
           (1 - back_to_back(apart, rest, touch->normals[i], touch->normals[j]));
}

/* Which of the sorted patches from k on a patch may meet, a bit each: most do not face it, or are as near as at rest.
 */
static inline unsigned patches_near(const touch_job *job, int i, int k, float far_most2)
{
    const lattice_patches *d = job->d;
    const quad own[3] = {d->places[i], d->normals[i], job->m->touch.rests[i]};
    vfloat sums[3] = {v_set(0), v_set(0), v_set(0)};
    for (int axis = 0; axis < 3; axis++) {
        vfloat away = v_set(own[0][axis]) - v_load(d->sorted[axis] + k);
        vfloat apart = v_set(own[2][axis]) - v_load(d->sorted[6 + axis] + k);
        sums[0] = sums[0] + away * away;
        sums[1] = sums[1] + v_set(own[1][axis]) * v_load(d->sorted[3 + axis] + k);
        sums[2] = sums[2] + apart * apart;
    }
    return v_mask(v_less(sums[1], v_set(0)) & v_less(sums[0], v_set(far_most2)) &
                  v_less(v_set(NEARER * NEARER) * sums[0], sums[2]));
}

/* The plane between a patch and those that it meets; sure: 0..1, whether it meets any. */
static void patch_meet(const touch_job *job, int i)
{
    const lattice_touch *touch = &job->m->touch;
    lattice_patches *d = job->d;
    lattice_middle sum = {0};
    float beyond_sum = 0;

    /* cells from the patch inwards, as deep as its flesh is */
    float depth = MIN(DEPTH, touch->normals[i][3]), wide = REACH * PATCH_WIDTH;
    quad place = d->places[i], deep = place - d->normals[i] * depth, lowest, highest;
    for (int k = 0; k < 4; k++) {
        lowest[k] = MIN(place[k], deep[k]) - wide;
        highest[k] = MAX(place[k], deep[k]) + wide;
    }
    cell_key from = key_of(lowest), to = key_of(highest), key;
    float far_most2 = (depth + wide) * (depth + wide);
    for (key.z = from.z; key.z <= to.z; key.z++)
        for (key.y = from.y; key.y <= to.y; key.y++)
            for (key.x = from.x; key.x <= to.x; key.x++) {
                int bucket = key_bucket(key, touch->bucket_count);
                for (int k = d->first[bucket]; k < d->first[bucket + 1]; k += LANES) {
                    unsigned hits = patches_near(job, i, k, far_most2);
                    for (int lane = 0; hits >> lane; lane++) {
                        if (!(hits >> lane & 1) || k + lane >= d->first[bucket + 1]) continue;

                        /* another cell of the same bucket is looked at by itself */
                        int j = d->order[k + lane];
                        cell_key own = key_of(d->places[j]);
                        if (own.x != key.x || own.y != key.y || own.z != key.z) continue;

                        quad normal;
                        float beyond, weight = patches_meet(job, i, j, &normal, &beyond);
                        if (!(weight > 0)) continue;
                        middle_add(&sum, normal, 0.5f * dot3(normal, place + d->places[j]), weight);
                        beyond_sum += weight * beyond;
                    }
                }
            }

    /* their mean; from a width before they touch */
    float weight = sum.side[3];
    d->sure[i] = 0;
    d->found[i] = (lattice_middle){0};
    if (!(weight > 1e-6f)) return;
    middle_mix(&d->found[i], &sum, 1 / weight);
    d->sure[i] = ease(2 * weight) * ease(beyond_sum / (weight * touch->rests[i][3]) + 1);
}

static void meet_block(void *context, int begin, int end)
{
    for (int i = begin; i < end; i++) patch_meet(context, i);
}

/* ---- creases ---- */

/* A patch hears of a plane that is `way` off over the skin; keeps the nearest, and the nearest of the other side. */
static bool plane_offer(lattice_patches *d, int i, int from, float way)
{
    int *kept = d->from[i];
    float *ways = d->ways[i];
    bool opposite[2];
    for (int k = 0; k < 2; k++) opposite[k] = kept[k] >= 0 && dot3(d->found[from].side, d->found[kept[k]].side) < -0.3f;

    /* the new nearest one; what it is opposite to stays */
    if (way < ways[0]) {
        if (opposite[0]) {
            kept[1] = kept[0];
            ways[1] = ways[0];
        } else if (!opposite[1]) {
            kept[1] = -1;
            ways[1] = FLT_MAX;
        }
        kept[0] = from;
        ways[0] = way;
        return true;
    }

    /* or the nearest of the other side */
    if (!(opposite[0] && way < ways[1])) return false;
    kept[1] = from;
    ways[1] = way;
    return true;
}

/* Spread planes over the skin around what meets. Returns the number of patches that they reach, in d->reached. */
static int planes_spread(const lattice_touch *touch, lattice_patches *d)
{
    /* from those that meet; the less sure, the further off */
    int count = 0;
    for (int i = 0; i < touch->count; i++) {
        bool meets = d->sure[i] > 0.01f;
        d->from[i][0] = meets ? i : -1;
        d->from[i][1] = -1;
        d->ways[i][0] = meets ? (1 - d->sure[i]) * CREASE * touch->normals[i][3] : FLT_MAX;
        d->ways[i][1] = FLT_MAX;
        d->middles[i].side[3] = 0;
        if (meets) d->reached[count++] = i;
    }

    /* to the patches beside, as far as a crease is wide */
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (int n = 0; n < count; n++) {
            int i = d->reached[n];
            for (int k = touch->near_first[i]; k < touch->near_first[i + 1]; k++) {
                int to = touch->nears[k];
                bool fresh = d->from[to][0] < 0;
                for (int side = 0; side < 2; side++) {
                    float way = d->ways[i][side] + touch->ways[k];
                    if (d->from[i][side] < 0 || way > CREASE * touch->normals[to][3]) continue;
                    changed |= plane_offer(d, to, d->from[i][side], way);
                }
                if (fresh && d->from[to][0] >= 0) d->reached[count++] = to;
            }
        }
    }
    return count;
}

/* The plane of a patch: its own, and in a crease those of both sides by how near they are. */
static void patch_finish(const lattice_touch *touch, lattice_patches *d, int i)
{
    float sure = d->sure[i], thickness = touch->normals[i][3], move = sure * MOVE_MOST * thickness;
    lattice_middle sum = {0};
    middle_mix(&sum, &d->found[i], sure);

    /* in a crease */
    int one = d->from[i][0], other = d->from[i][1];
    if (other >= 0) {
        float *ways = d->ways[i], way = ways[0] + ways[1];
        float thin = MIN(thickness, MIN(touch->normals[one][3], touch->normals[other][3]));
        float crease = (1 - sure) * ease(2 * (1 - way / (CREASE * thin)));
        middle_mix(&sum, &d->found[one], crease * ways[1] / MAX(way, 1e-12f));
        middle_mix(&sum, &d->found[other], crease * ways[0] / MAX(way, 1e-12f));
        move += crease * MIN(CREASE_MOST * 0.5f * (ways[1] - ways[0]), MOVE_MOST * thickness);
    }
    sum.squares[3] = move;
    d->middles[i] = sum;
}

/* ---- one surface for both sheets ---- */

/* Patches that have a plane, to the front of d->reached, with their places on it. Returns how many. */
static int places_project(lattice_patches *d, int count)
{
    int kept = 0;
    for (int n = 0; n < count; n++) {
        int i = d->reached[n];
        if (!(d->middles[i].side[3] > 1e-3f)) continue;
        float alike, side;
        quad plane = middle_plane(&d->middles[i], &alike, &side), place = d->places[i];
        float beyond = dot3(plane, place) - plane[3];
        plane[3] = 0;
        d->projected[i] = place - plane * beyond;
        d->reached[kept++] = i;
    }
    return kept;
}

/* The mean of all planes around a patch, whichever sheet they are of; which side is its own stays. */
static void agree_block(void *context, int begin, int end)
{
    const touch_job *job = context;
    lattice_patches *d = job->d;
    for (int n = begin; n < end; n++) {
        int i = d->reached[n];
        float width = AGREE * job->m->touch.rests[i][3], scale = 1 / (width * width);
        lattice_middle sum = {0};
        for (int k = 0; k < job->reached_count; k++) {
            int j = d->reached[k];
            quad away = d->projected[i] - d->projected[j];
            float share = 1 - dot3(away, away) * scale;
            if (share > 0) middle_mix(&sum, &d->middles[j], share * share * share);
        }

        /* with its own weight */
        const lattice_middle *own = &d->middles[i];
        float factor = own->side[3] / sum.side[3];
        d->found[i] = *own;
        d->found[i].squares = sum.squares * factor;
        d->found[i].products = sum.products * factor;
        d->found[i].offset = sum.offset * factor;
        d->found[i].squares[3] = own->squares[3];
    }
}

/* ---- points ---- */

static void point_block(void *context, int begin, int end)
{
    const touch_job *job = context;
    const lattice_model *m = job->m;
    const lattice_touch *touch = &m->touch;
    for (int p = begin; p < end; p++) {
        /* the planes around it */
        lattice_middle sum = {0};
        for (int k = touch->blend_first[p]; k < touch->blend_first[p + 1]; k++) {
            const lattice_middle *middle = &job->d->middles[touch->blends[k]];
            if (middle->side[3] > 0) middle_mix(&sum, middle, touch->shares[k]);
        }
        float weight = sum.side[3], alike, side;
        job->d->moves[p] = (quad){0, 0, 0, 1};
        if (!(weight > 1e-3f)) continue;
        quad plane = middle_plane(&sum, &alike, &side);
        job->d->moves[p][3] = 1 - MIN(1, weight) * MIN(1, SIDED * side);

        /* how far it is beyond, with the gap, which closes in the middle of a crease */
        quad place = load3(job->points + 3 * (size_t)p) * (1 / m->size);
        float beyond = dot3(plane, place) - plane[3] + touch->gap * MIN(1, 2 * side);
        if (!(beyond > 0)) continue;

        /* back to its own side */
        float move = MIN(beyond * ease(2 * weight) * ease(5 * alike - 2), sum.squares[3] / weight);
        plane[3] = 0;
        job->d->moves[p] -= plane * (m->size * move);
    }
}

/* Moves of points between sheets and beside them follow those around, so that the end of a crease does not crumple. */
static void smooth_block(void *context, int begin, int end)
{
    const touch_job *job = context;
    const mesh *s = job->m->touch.surface;
    const quad *moves = job->d->moves;
    for (int p = begin; p < end; p++) {
        quad sum = {0, 0, 0, 0}, own = moves[p];
        int first = s->point_neighbour_first[p], last = s->point_neighbour_first[p + 1];
        for (int k = first; k < last; k++) sum += moves[s->point_neighbours[k]];
        float share = SMOOTH * own[3];
        quad mixed = own * (1 - share) + sum * (share / (float)MAX(last - first, 1));
        mixed[3] = own[3];
        bool moves_at_all = job->m->touch.blend_first[p] < job->m->touch.blend_first[p + 1];
        job->d->smooth[p] = moves_at_all ? mixed : own;
    }
}

int lattice_touch_points(const lattice_model *m, lattice_scratch *t, const float *skin, float *points,
                         const cutis_jobs *jobs)
{
    const lattice_touch *touch = &m->touch;
    lattice_patches *d = &t->patches;
    touch_job job = {m, d, points, 0};

    /* where the patches are, and how the joints have turned them */
    for (int i = 0; i < touch->count; i++) {
        quad sum = {0, 0, 0, 0}, n = touch->normals[i];
        for (int k = touch->member_first[i]; k < touch->member_first[i + 1]; k++)
            sum += load3(points + 3 * (size_t)touch->members[k]);
        d->places[i] = sum * (1 / (m->size * (float)(touch->member_first[i + 1] - touch->member_first[i])));
        vec3 turned = skinning_direction(&m->surface.base, skin, touch->leads[i], (vec3){n[0], n[1], n[2]});
        d->normals[i] = unit3((quad){turned.x, turned.y, turned.z, 0});
    }

    /* who meets whom */
    patches_hash(d, touch->rests, touch->count, touch->bucket_count);
    parallel_for(jobs, touch->count, 64, meet_block, &job);

    /* creases, one surface for all, then the points */
    int count = planes_spread(touch, d);
    for (int n = 0; n < count; n++) patch_finish(touch, d, d->reached[n]);
    job.reached_count = count = places_project(d, count);
    parallel_for(jobs, count, 32, agree_block, &job);
    for (int n = 0; n < count; n++) d->middles[d->reached[n]] = d->found[d->reached[n]];
    if (count == 0) return 0;
    parallel_for(jobs, m->surface.point_count, 256, point_block, &job);
    for (int round = 0; round < SMOOTH_ROUNDS; round++) {
        parallel_for(jobs, m->surface.point_count, 256, smooth_block, &job);
        quad *other = d->moves;
        d->moves = d->smooth;
        d->smooth = other;
    }
    for (int p = 0; p < m->surface.point_count; p++)
        for (int k = 0; k < 3; k++) points[3 * (size_t)p + k] += d->moves[p][k];
    return count;
}

/* ---- build ---- */

typedef struct touch_build {
    const mesh *surface;
    const float *points;        /* (point_count x 3) at rest, in sizes */
    vec3 *normals;              /* (point_count) */
    float *thicknesses, *other; /* (point_count) of the flesh behind, sizes */
    int *heads, *next;          /* patches by bucket of their first point */
    int *owners, *leads;        /* (point_count) patch of each point, and the first point of each patch */
    quad *rests, *outward;      /* (point_count) of the patches */
    int bucket_count, count;
} touch_build;

static quad place_of(const touch_build *b, int p) { return load3(b->points + 3 * (size_t)p); }

static quad normal_of(const touch_build *b, int p)
{
    vec3 n = b->normals[p];
    return (quad){n.x, n.y, n.z, 0};
}

/* Thickness of the flesh behind each point along its normal, as the points around have it, too. */
static cutis_result thicknesses_find(touch_build *b, arena *memory, cutis_error *error)
{
    const mesh *s = b->surface;
    bvh tree;
    cutis_result result = bvh_build(&tree, s->triangle_count, s->triangles, b->points, memory, error);
    if (result != CUTIS_OK) return result;
    for (int p = 0; p < s->point_count; p++) {
        bvh_hit hit =
            bvh_ray(&tree, b->points, vec3_load(b->points + 3 * (size_t)p), vec3_scale(b->normals[p], -1), 1e-4f, 1);
        b->thicknesses[p] = hit.triangle < 0 ? 0 : hit.distance;
    }

    /* smoothed */
    for (int round = 0; round < 3; round++) {
        for (int p = 0; p < s->point_count; p++) {
            int first = s->point_neighbour_first[p], last = s->point_neighbour_first[p + 1];
            float sum = b->thicknesses[p];
            for (int k = first; k < last; k++) sum += b->thicknesses[s->point_neighbours[k]];
            b->other[p] = sum / (float)(last - first + 1);
        }
        memcpy(b->thicknesses, b->other, (size_t)s->point_count * sizeof(float));
    }
    return CUTIS_OK;
}

/* Calls visit for patches in the cells around a place. */
static void patches_visit(const touch_build *b, quad place, void (*visit)(void *context, int patch), void *context)
{
    cell_key home = key_of(place);
    for (int c = 0; c < 27; c++) {
        cell_key key = {home.x + c % 3 - 1, home.y + c / 3 % 3 - 1, home.z + c / 9 - 1};
        for (int i = b->heads[key_bucket(key, b->bucket_count)]; i >= 0; i = b->next[i]) {
            cell_key own = key_of(b->rests[i]);
            if (own.x == key.x && own.y == key.y && own.z == key.z) visit(context, i);
        }
    }
}

/* The patch nearest to a point that faces the same way; with shares, those around it. */
typedef struct patch_search {
    const touch_build *b;
    quad place, normal;
    int best;
    float nearest, width; /* over the mean width of both */
    int *blends;
    float *shares, sum;
    int count, limit;
} patch_search;

static void nearest_visit(void *context, int patch)
{
    patch_search *s = context;
    const touch_build *b = s->b;
    float far = distance3(s->place, b->rests[patch]), alike = dot3(s->normal, b->outward[patch]);
    float over = far / (0.5f * (s->width + b->rests[patch][3]));
    if (alike > 0.5f && over < s->nearest) {
        s->nearest = over;
        s->best = patch;
    }

    /* shares, for points; patches are in place by then */
    float reach = REACH * b->rests[patch][3], share = 1 - far * far / (reach * reach);
    if (!s->blends || !(alike > 0 && share > 0.1f) || s->count == s->limit) return;
    s->blends[s->count] = patch;
    s->shares[s->count++] = share * share * share;
    s->sum += share * share * share;
}

/* Divide the points into patches: a point that no patch is near begins one. */
static void patches_make(touch_build *b)
{
    for (int i = 0; i < b->bucket_count; i++) b->heads[i] = -1;

    /* patches first, then the nearest one for all */
    for (int round = 0; round < 2; round++)
        for (int p = 0; p < b->surface->point_count; p++) {
            float width = CLAMP(PATCH_THIN * b->thicknesses[p], 1e-4f, PATCH_WIDTH);
            patch_search s = {b, place_of(b, p), normal_of(b, p), -1, FLT_MAX, width, NULL, NULL, 0, 0, 0};
            patches_visit(b, s.place, nearest_visit, &s);

            /* a new one */
            if (round == 0 && !(s.nearest < 1)) {
                int bucket = key_bucket(key_of(s.place), b->bucket_count);
                b->rests[b->count] = s.place;
                b->rests[b->count][3] = width;
                b->outward[b->count] = s.normal;
                b->next[b->count] = b->heads[bucket];
                b->heads[bucket] = b->count;
                b->leads[b->count] = p;
                s.best = b->count++;
            }
            b->owners[p] = s.best;
        }
}

/* The members of each patch, and its middle, normal, thickness and first point. */
static cutis_result members_gather(touch_build *b, lattice_touch *touch, arena *memory, cutis_error *error)
{
    int points = b->surface->point_count, count = b->count;
    int *first = ARENA_ARRAY(memory, int, count + 2), *members = ARENA_ARRAY(memory, int, points + 1);
    quad *rests = ARENA_ARRAY(memory, quad, count + 1), *normals = ARENA_ARRAY(memory, quad, count + 1);
    if (memory->failed) return error_memory(error, "the lattice's contact");

    /* sorted by patch */
    for (int p = 0; p < points; p++) first[b->owners[p] + 1]++;
    for (int i = 0; i < count; i++) first[i + 1] += first[i];
    for (int p = points - 1; p >= 0; p--) members[--first[b->owners[p] + 1]] = p;
    memmove(first, first + 1, (size_t)count * sizeof *first);
    first[count] = points;

    /* means over the members */
    for (int i = 0; i < count; i++) {
        float size = (float)(first[i + 1] - first[i]), thickness = 0;
        for (int k = first[i]; k < first[i + 1]; k++) {
            rests[i] += place_of(b, members[k]);
            normals[i] += normal_of(b, members[k]);
            thickness += b->thicknesses[members[k]];
        }
        rests[i] = rests[i] * (1 / size);
        rests[i][3] = b->rests[i][3];
        normals[i] = unit3(normals[i]);
        normals[i][3] = thickness / size;
    }

    /* hand over */
    touch->count = count;
    touch->leads = arena_copy(memory, b->leads, (size_t)MAX(count, 1), sizeof(int));
    if (!touch->leads) return error_memory(error, "the lattice's contact");
    touch->member_first = first;
    touch->members = members;
    touch->rests = rests;
    touch->normals = normals;
    return CUTIS_OK;
}

/* Which patches lie beside each other: those that an edge joins. */
static cutis_result nears_gather(touch_build *b, lattice_touch *touch, arena *memory, cutis_error *error)
{
    const mesh *s = b->surface;
    int *first = ARENA_ARRAY(memory, int, b->count + 2), *nears = ARENA_ARRAY(memory, int, BESIDE *(b->count + 1));
    float *ways = ARENA_ARRAY(memory, float, BESIDE *(b->count + 1));
    if (memory->failed) return error_memory(error, "the lattice's contact");

    /* over the edges of the members */
    int total = 0;
    for (int i = 0; i < b->count; i++) {
        first[i] = total;
        for (int k = touch->member_first[i]; k < touch->member_first[i + 1]; k++) {
            int p = touch->members[k];
            for (int n = s->point_neighbour_first[p]; n < s->point_neighbour_first[p + 1]; n++) {
                /* each once */
                int other = b->owners[s->point_neighbours[n]];
                bool known = other == i || total - first[i] == BESIDE;
                for (int a = first[i]; a < total && !known; a++) known = nears[a] == other;
                if (known) continue;
                ways[total] = distance3(touch->rests[i], touch->rests[other]);
                nears[total++] = other;
            }
        }
    }
    first[b->count] = total;
    touch->near_first = first;
    touch->nears = nears;
    touch->ways = ways;
    return CUTIS_OK;
}

/* The patches around each point that moves; none for what stays where skinning puts it. */
static cutis_result blends_gather(touch_build *b, const lattice_surface *surface, lattice_touch *touch, arena *memory,
                                  cutis_error *error)
{
    enum { BLEND = 24 };
    int points = b->surface->point_count, total = 0;
    int *first = ARENA_ARRAY(memory, int, points + 1), *blends = ARENA_ARRAY(memory, int, BLEND *((size_t)points + 1));
    float *shares = ARENA_ARRAY(memory, float, BLEND *((size_t)points + 1));
    if (memory->failed) return error_memory(error, "the lattice's contact");

    /* patches at their middles */
    memcpy(b->rests, touch->rests, (size_t)b->count * sizeof(quad));
    memcpy(b->outward, touch->normals, (size_t)b->count * sizeof(quad));
    for (int i = 0; i < b->bucket_count; i++) b->heads[i] = -1;
    for (int i = 0; i < b->count; i++) {
        int bucket = key_bucket(key_of(b->rests[i]), b->bucket_count);
        b->next[i] = b->heads[bucket];
        b->heads[bucket] = i;
    }

    /* shares of those around each point */
    for (int p = 0; p < points; p++) {
        float moves = 0;
        for (int i = surface->first[p]; i < surface->first[p + 1]; i++) moves += surface->weights[i];
        first[p] = total;
        if (!(moves > 0.5f)) continue;

        patch_search s = {b, place_of(b, p), normal_of(b, p), -1, FLT_MAX, 0, blends + total, shares + total, 0,
                          0, BLEND};
        patches_visit(b, s.place, nearest_visit, &s);
        for (int i = 0; i < s.count; i++) shares[total + i] /= s.sum;
        total += s.count;
    }
    first[points] = total;
    touch->blend_first = first;
    touch->blends = blends;
    touch->shares = shares;
    return CUTIS_OK;
}

cutis_result lattice_touch_build(lattice_model *m, const solver_build *build, const float *points, float gap,
                                 cutis_error *error)
{
    lattice_touch *touch = &m->touch;
    arena temporary = arena_create(&build->allocator);
    int count = build->mesh->point_count;
    touch_build b = {.surface = build->mesh, .points = points, .bucket_count = 64};
    while (b.bucket_count < 2 * count) b.bucket_count *= 2;

    /* scratch */
    b.normals = ARENA_ARRAY(&temporary, vec3, count + 1);
    b.thicknesses = ARENA_ARRAY(&temporary, float, count + 1);
    b.other = ARENA_ARRAY(&temporary, float, count + 1);
    b.heads = ARENA_ARRAY(&temporary, int, b.bucket_count);
    b.next = ARENA_ARRAY(&temporary, int, count + 1);
    b.owners = ARENA_ARRAY(&temporary, int, count + 1);
    b.leads = ARENA_ARRAY(&temporary, int, count + 1);
    b.rests = ARENA_ARRAY(&temporary, quad, count + 1);
    b.outward = ARENA_ARRAY(&temporary, quad, count + 1);
    cutis_result result = temporary.failed ? error_memory(error, "the lattice's contact") : CUTIS_OK;

    /* patches, and what they need to know of each other and of the points */
    if (result == CUTIS_OK) {
        mesh_normals(build->mesh, points, (float *)b.normals, NULL);
        result = thicknesses_find(&b, &temporary, error);
    }
    if (result == CUTIS_OK) {
        patches_make(&b);
        result = members_gather(&b, touch, build->memory, error);
    }
    if (result == CUTIS_OK) result = nears_gather(&b, touch, build->memory, error);
    if (result == CUTIS_OK) result = blends_gather(&b, &m->surface, touch, build->memory, error);
    touch->gap = gap;
    touch->surface = build->mesh;
    touch->bucket_count = 64;
    while (touch->bucket_count < 2 * touch->count) touch->bucket_count *= 2;
    arena_destroy(&temporary);
    return result;
}

void lattice_touch_carve(const lattice_model *m, kit_block *block, lattice_scratch *t)
{
    const lattice_touch *touch = &m->touch;
    lattice_patches *d = &t->patches;
    size_t n = (size_t)touch->count + 1;
    d->places = KIT_CARVE(block, quad, n);
    d->normals = KIT_CARVE(block, quad, n);
    d->projected = KIT_CARVE(block, quad, n);
    d->found = KIT_CARVE(block, lattice_middle, n);
    d->middles = KIT_CARVE(block, lattice_middle, n);
    d->sure = KIT_CARVE(block, float, n);
    d->from = (int(*)[2])KIT_CARVE(block, int, 2 * n);
    d->ways = (float(*)[2])KIT_CARVE(block, float, 2 * n);
    d->reached = KIT_CARVE(block, int, n);
    d->moves = KIT_CARVE(block, quad, m->surface.point_count + 1);
    d->smooth = KIT_CARVE(block, quad, m->surface.point_count + 1);
    d->first = KIT_CARVE(block, int, touch->bucket_count + 2);
    d->order = KIT_CARVE(block, int, n);
    d->buckets = KIT_CARVE(block, int, n);
    for (int k = 0; k < COUNT_OF(d->sorted); k++) d->sorted[k] = KIT_CARVE(block, float, n + LANES);
}
