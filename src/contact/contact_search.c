/*
 * contact_search.c: pairs of features of a deforming surface that come close within a step.
 *
 * The tree's boxes hold where points start and how they move. Flat parts are left out, as by Volino and
 * Magnenat-Thalmann 1994: a piece whose normals all lie on one side of some plane, and whose outline does not cross
 * itself in that plane's direction, is a height field and cannot touch itself. Here this holds for the whole step, not
 * for its ends only:
 * - normals: that of a triangle whose corners move straight is quadratic in time; the bounds hold its three Bezier
 *   control vectors, as the continuous normal cones of Tang, Curtis, Yoon, Manocha 2009. Departure: the cone is a box
 *   around unit vectors, which merges by minima and needs no trigonometry;
 * - outline: it is looked at from its middle, where all its edges must run the same way round (their turning is
 *   quadratic in time, too) and go round once: as the star-shaped contours of Schvartzman, Perez, Otaduy 2010. The
 *   number of layers over a place is how often the outline goes round it, and so is one at most.
 *
 * A bound is the minimum of where the points start, minus their maximum, then the same of their motions and of the
 * normals: all merge by minima. That motions have bounds of their own, instead of boxes swept over them, spares the
 * parts of a hand that swings from meeting each other along their common way.
 */
#include <string.h>

#include "contact/contact.h"
#include "math/simd.h"

/* Cosine of the angle that all normals of a flat part stay within of their middle. */
static const float FLAT_COSINE = 0.3f;
/*
 * How far a point may go from the end that was searched, over the thickness, and over the width of its narrowest
 * triangle. A part that was left out because it is flat on the way to that end may fold on the way to another: it then
 * touches itself only where it was closer to itself than twice this, and contact keeps it further apart; or where
 * contact does not, on a fine mesh, a triangle of it has turned over, for which its points must go by some part of its
 * width.
 */
static const float FLAT_STRAY = 0.2f, WIDTH_STRAY = 0.15f;
/* Where in a bound motions and normals stand. */
enum { MOTIONS = 6, NORMALS = 12 };
/*
 * Numbers of a triangle's shape, each an array over all triangles: where its centre starts, the corners from there, the
 * mean motion and how far those of the corners are from it, and the largest scale of the corners. So a triangle is
 * tested against all of a leaf at once.
 */
enum { SHAPE_CENTRE = 0, SHAPE_CORNERS = 3, SHAPE_MEAN = 12, SHAPE_SPREAD = 15, SHAPE_SCALE = 16 };
/* Pairs of nodes that wait: of each of at most 160 levels all but one pair of three children each. */
enum { STACK = 160 * 8 + 1 };

typedef struct search {
    const contact_surface *surface;
    contact_work *work;
    const float *start, *end;
    const contact_search_options *options;
    bool partial; /* only pairs with a marked point; the rest of the bounds stands from the search before */
    /* Where a block that overflowed is searched again: the rest of the list; NULL: every block has its own part. */
    contact_pair *room;
    int room_count;
} search;

/* The part of the margin above the hard gap, a tenth of the thickness: what points may stray by, two together. */
static float play(const contact_surface *surface, const contact_search_options *options, float scale)
{
    float all = options->margin - 0.1f * options->thickness;
    return surface->edge_mean > 0 ? all * scale / surface->edge_mean : all;
}

/* Where edges are as long as scale, for this gap; with the thickness for it the most that a pair can have there. */
static float reach_of(const contact_surface *surface, const contact_search_options *options, float scale, float gap)
{
    return options->touching ? options->margin : MAX(gap, 0.1f * gap + play(surface, options, scale));
}

float contact_reach(const contact_surface *surface, const contact_search_options *options, const contact_pair *pair)
{
    float scale = 0;
    for (int k = 0; k < 4; k++) scale = MAX(scale, surface->scales[pair->v[k]]);
    return reach_of(surface, options, scale, pair->gap);
}

bool contact_strayed(const contact_surface *surface, const contact_work *work, const float *end,
                     const contact_search_options *options, int p)
{
    float stray = MIN(0.5f * play(surface, options, surface->scales[p]), FLAT_STRAY * options->thickness);
    stray = MIN(stray, WIDTH_STRAY * surface->widths[p]);
    return !(vec3_length2(vec3_sub(vec3_load(work->saved + 3 * p), vec3_load(end + 3 * p))) <= stray * stray);
}

/* ---- refit ---- */

static void points_load(void *context, int begin, int end)
{
    const search *s = context;
    for (int p = begin; p < end; p++) {
        if (s->partial && !s->work->marks[p]) continue;
        float *a = s->work->starts + 4 * p, *b = s->work->ends + 4 * p;
        vec3_store(a, vec3_load(s->start + 3 * p));
        vec3_store(b, vec3_load(s->end + 3 * p));
        a[3] = b[3] = 0;
    }
}

static void v_cross(const vfloat a[3], const vfloat b[3], vfloat out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* The shapes of LANES triangles from i on. p: start and end of their corners. */
static void shapes_store(const search *s, int i, vfloat p[2][3][4])
{
    float *shapes = s->work->shapes + i;
    size_t stride = (size_t)s->work->shape_stride;
    vfloat third = v_set(1.0f / 3);
    vfloat mean[3];

    /* centroid, corners about it and mean motion */
    for (int k = 0; k < 3; k++) {
        vfloat centre = (p[0][0][k] + p[0][1][k] + p[0][2][k]) * third;
        v_store(shapes + stride * (size_t)(SHAPE_CENTRE + k), centre);
        for (int c = 0; c < 3; c++) v_store(shapes + stride * (size_t)(SHAPE_CORNERS + 3 * c + k), p[0][c][k] - centre);

        vfloat sum = p[1][0][k] - p[0][0][k];
        for (int c = 1; c < 3; c++) sum = sum + (p[1][c][k] - p[0][c][k]);
        mean[k] = sum * third;
        v_store(shapes + stride * (size_t)(SHAPE_MEAN + k), mean[k]);
    }

    /* how far the corners' motions are from their mean */
    vfloat spread = v_set(0);
    for (int c = 0; c < 3; c++) {
        vfloat d2 = v_set(0);
        for (int k = 0; k < 3; k++) {
            vfloat d = p[1][c][k] - p[0][c][k] - mean[k];
            d2 = d2 + d * d;
        }
        spread = v_max(spread, d2);
    }
    v_store(shapes + stride * SHAPE_SPREAD, v_sqrt(spread));

    /* the longest edges around the corners */
    const int *corners = s->surface->corners + 3 * i;
    for (int lane = 0; lane < LANES; lane++) {
        float scale = 0;
        for (int c = 0; c < 3; c++) scale = MAX(scale, s->surface->scales[corners[3 * lane + c]]);
        shapes[stride * SHAPE_SCALE + (size_t)lane] = scale;
    }
}

/* Bounds and shapes of LANES triangles from i on. */
static void triangles_bound(const search *s, int i)
{
    const int *corners = s->surface->corners + 3 * i;
    vfloat p[2][3][4], low[3], high[3], motion_low[3], motion_high[3], normal_low[3], normal_high[3];
    int32_t index[LANES], to[LANES];

    /* corners at both ends of the step, several triangles at a time */
    for (int c = 0; c < 3; c++) {
        for (int lane = 0; lane < LANES; lane++) index[lane] = 4 * corners[3 * lane + c];
        v_load4(s->work->starts, index, p[0][c]);
        v_load4(s->work->ends, index, p[1][c]);
    }

    /* boxes of positions and of motions */
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = p[0][0][k];
        motion_low[k] = motion_high[k] = p[1][0][k] - p[0][0][k];
        for (int c = 1; c < 3; c++) {
            vfloat motion = p[1][c][k] - p[0][c][k];
            low[k] = v_min(low[k], p[0][c][k]);
            high[k] = v_max(high[k], p[0][c][k]);
            motion_low[k] = v_min(motion_low[k], motion);
            motion_high[k] = v_max(motion_high[k], motion);
        }
    }

    vfloat edges[2][2][3];
    for (int side = 0; side < 2; side++)
        for (int e = 0; e < 2; e++)
            for (int k = 0; k < 3; k++) edges[side][e][k] = p[side][e + 1][k] - p[side][0][k];

    /* normals of the moving triangle: control vectors of their quadratic */
    for (int control = 0; control < 3; control++) {
        vfloat n[3], other[3];
        v_cross(edges[control == 2][0], edges[control > 0][1], n);
        if (control == 1) {
            v_cross(edges[1][0], edges[0][1], other);
            for (int k = 0; k < 3; k++) n[k] = n[k] + other[k];
        }

        vfloat length = v_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        vfloat inverse = v_set(1) / v_max(length, v_set(1e-30f));
        for (int k = 0; k < 3; k++) {
            vfloat unit = n[k] * inverse;
            normal_low[k] = control == 0 ? unit : v_min(normal_low[k], unit);
            normal_high[k] = control == 0 ? unit : v_max(normal_high[k], unit);
        }
    }
    shapes_store(s, i, p);

    /* Boxes grow by half of the margin each, so that two of them overlap when their features may be close. */
    vfloat grow = v_set(0.5f * s->options->margin);
    for (int k = 0; k < 3; k++) low[k] = low[k] - grow, high[k] = high[k] + grow;

    /* upper ends are stored negated: a union is one minimum */
    const vfloat records[CONTACT_BOUND / 4][4] = {
        {low[0], low[1], low[2], -high[0]},
        {-high[1], -high[2], motion_low[0], motion_low[1]},
        {motion_low[2], -motion_high[0], -motion_high[1], -motion_high[2]},
        {normal_low[0], normal_low[1], normal_low[2], -normal_high[0]},
        {-normal_high[1], -normal_high[2], v_set(0), v_set(0)},
    };
    for (int r = 0; r < CONTACT_BOUND / 4; r++) {
        for (int lane = 0; lane < LANES; lane++) to[lane] = CONTACT_BOUND * (i + lane) + 4 * r;
        v_store4(s->work->triangles, to, records[r]);
    }
}

/* A grain is a whole number of LANES, and corners and bounds have room beyond their end. */
static void triangles_refit(void *context, int begin, int end)
{
    const search *s = context;
    for (int i = begin; i < end; i += LANES) {
        bool needed = !s->partial;
        const int *corners = s->surface->corners + 3 * i;
        for (int c = 0; c < 3 * LANES && !needed; c++) needed = s->work->marks[corners[c]];
        if (needed) triangles_bound(s, i);
    }
}

static void bound_merge(float *a, const float *b)
{
    for (int k = 0; k < CONTACT_BOUND; k++) a[k] = MIN(a[k], b[k]);
}

static void leaves_refit(void *context, int begin, int end)
{
    const search *s = context;
    const contact_surface *surface = s->surface;
    for (int leaf = begin; leaf < end; leaf++) {
        if (s->partial && !s->work->node_marks[leaf]) continue;
        float *bound = s->work->nodes + (size_t)leaf * CONTACT_BOUND;
        const float *triangle = s->work->triangles + (size_t)surface->leaf_first[leaf] * CONTACT_BOUND;
        int count = surface->leaf_first[leaf + 1] - surface->leaf_first[leaf];
        memcpy(bound, triangle, CONTACT_BOUND * sizeof(float));
        for (int i = 1; i < count; i++) bound_merge(bound, triangle + i * CONTACT_BOUND);
    }
}

static void nodes_refit(const search *s)
{
    const contact_surface *surface = s->surface;
    for (int node = surface->leaf_count; node < surface->node_count; node++) {
        if (s->partial && !s->work->node_marks[node]) continue;
        float *bound = s->work->nodes + (size_t)node * CONTACT_BOUND;
        const float *child = s->work->nodes + (size_t)surface->child_first[node] * CONTACT_BOUND;
        memcpy(bound, child, CONTACT_BOUND * sizeof(float));
        for (int i = surface->child_first[node] + 1; i < surface->child_first[node + 1]; i++)
            bound_merge(bound, child += CONTACT_BOUND);
    }
}

/* ---- flat parts ---- */

/* Whether the outline, in the direction of `axis`, goes round its middle once, all the time. */
static bool outline_star(const search *s, contact_outline outline, vec3 axis)
{
    /* Two directions across the axis. */
    vec3 side = fabsf(axis.x) < 0.7f ? vec3_make(1, 0, 0) : vec3_make(0, 1, 0);
    vec3 u = vec3_normalize(vec3_cross(axis, side)), v = vec3_cross(axis, u);

    const int *points = s->surface->outline_points + outline.first;
    int n = outline.count;
    float x[2][CONTACT_OUTLINE + LANES + 1], y[2][CONTACT_OUTLINE + LANES + 1];

    /* both shapes seen along the axis */
    for (int i = 0; i < n; i += LANES) {
        int32_t index[LANES];
        for (int lane = 0; lane < LANES; lane++) index[lane] = 4 * points[MIN(i + lane, n - 1)];
        for (int t = 0; t < 2; t++) {
            vfloat p[4];
            v_load4(t ? s->work->ends : s->work->starts, index, p);
            v_store(x[t] + i, p[0] * v_set(u.x) + p[1] * v_set(u.y) + p[2] * v_set(u.z));
            v_store(y[t] + i, p[0] * v_set(v.x) + p[1] * v_set(v.y) + p[2] * v_set(v.z));
        }
    }
    vfloat sizes = v_set(0);

    /* about the centre between two of its points; the first follows the last */
    for (int t = 0; t < 2; t++) {
        const float *from = t ? s->work->ends : s->work->starts;
        const float *a = from + 4 * outline.centre[0], *b = from + 4 * outline.centre[1];
        vec3 middle = vec3_scale(vec3_add(vec3_load(a), vec3_load(b)), 0.5f);
        vfloat middle_x = v_set(vec3_dot(middle, u)), middle_y = v_set(vec3_dot(middle, v));
        for (int i = 0; i < n; i += LANES) {
            vfloat across = v_load(x[t] + i) - middle_x, along = v_load(y[t] + i) - middle_y;
            v_store(x[t] + i, across);
            v_store(y[t] + i, along);
            sizes = v_max(sizes, v_max(v_abs(across), v_abs(along)));
        }
        for (int i = n; i <= LANE_ROUND(n); i++) {
            x[t][i] = x[t][0];
            y[t][i] = y[t][0];
        }
    }

    /* Above the rounding of positions, which are at most a few hundred times larger than the outline. */
    float largest = 0;
    for (int lane = 0; lane < LANES; lane++) largest = MAX(largest, v_lane(sizes, lane));
    vfloat least = v_set(1e-4f * largest * largest), zero = v_set(0);
    int rounds = 0;

    /* every edge turns the same way around the centre for the whole step, and once in all */
    for (int i = 0; i < n; i += LANES) {
        vfloat p[2][2], q[2][2];
        for (int t = 0; t < 2; t++) {
            p[t][0] = v_load(x[t] + i);
            p[t][1] = v_load(y[t] + i);
            q[t][0] = v_load(x[t] + i + 1);
            q[t][1] = v_load(y[t] + i + 1);
        }
        vfloat c0 = p[0][0] * q[0][1] - q[0][0] * p[0][1];
        vfloat c2 = p[1][0] * q[1][1] - q[1][0] * p[1][1];
        vfloat c1 = p[0][0] * q[1][1] - q[0][0] * p[1][1] + p[1][0] * q[0][1] - q[1][0] * p[0][1];

        unsigned edges = n - i < LANES ? (1u << (n - i)) - 1 : (1u << LANES) - 1;
        unsigned turns = v_mask(v_less(least, c0) & v_less(least, c1) & v_less(least, c2));
        if ((turns & edges) != edges) return false;
        rounds += __builtin_popcount(v_mask(v_less_equal(p[0][1], zero) & v_less(zero, q[0][1])) & edges);
    }

    return rounds == 1;
}

/* Whether the triangles of the nodes, which lie within the outline, make a height field throughout the step. */
static bool nodes_flat(const search *s, const int *nodes, int count, contact_outline outline)
{
    if (outline.count == 0 || s->options->exhaustive) return false;
    float low[6];

    /* the box of all their normals */
    memcpy(low, s->work->nodes + (size_t)nodes[0] * CONTACT_BOUND + NORMALS, sizeof low);
    for (int i = 1; i < count; i++) {
        const float *bound = s->work->nodes + (size_t)nodes[i] * CONTACT_BOUND + NORMALS;
        for (int k = 0; k < 6; k++) low[k] = MIN(low[k], bound[k]);
    }
    float middle[3], worst = 0, length2 = 0;

    /* its middle as axis, and the largest angle to it */
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5f * (low[k] - low[k + 3]);
        worst += middle[k] * (middle[k] > 0 ? low[k] : -low[k + 3]);
        length2 += middle[k] * middle[k];
    }

    /* a narrow cone, and an outline that stays star-shaped */
    if (!(worst > 0 && worst * worst > FLAT_COSINE * FLAT_COSINE * length2)) return false;
    return outline_star(s, outline, vec3_scale(vec3_load(middle), 1 / sqrtf(length2)));
}

static bool union_flat(const search *s, int x, int y)
{
    const contact_surface *surface = s->surface;
    for (int i = surface->union_first[x]; i < surface->union_first[x + 1]; i++) {
        if (surface->union_others[i] != y) continue;
        const contact_union *u = surface->unions + i;
        return nodes_flat(s, surface->union_nodes + u->nodes, u->node_count, u->outline);
    }
    return false;
}

/* ---- features ---- */

/* The axes (a lane each, and one without a meaning) along which a lies apart above b, for as long as they move. */
static inline vrecord_mask axes_apart(const float *a, const float *b)
{
    vrecord room = record_load(a) + record_load(b + 3);
    vrecord left = room + record_load(a + MOTIONS) + record_load(b + MOTIONS + 3);
    return (room > 0) & (left > 0);
}

/* Apart along an axis at the start, and by no less than their motions can close. */
static inline bool boxes_apart(const float *a, const float *b)
{
    return (record_bits(axes_apart(a, b) | axes_apart(b, a)) & 7) != 0;
}

/* Whether a side's points all belong to the same tangle as the other side's. */
static bool pair_tangled(const contact_surface *surface, const int v[4], int first)
{
    int group = surface->tangle[v[0]];
    for (int i = 1; i < first && group < 0; i++) group = surface->tangle[v[i]];
    if (group < 0) return false;
    for (int i = first; i < 4; i++)
        if (surface->tangle[v[i]] == group) return true;
    return false;
}

/* Whether contact rests at a point of each side: see contact_search_options. */
static bool pair_released(const float *released, const int v[4], int first)
{
    float most[2] = {0, 0}, least[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        most[i >= first] = MAX(most[i >= first], released[v[i]]);
        least[i >= first] = MIN(least[i >= first], released[v[i]]);
    }
    return (most[0] > 0 && most[1] > 0) || (most[0] > 1 && least[1] < 0) || (most[1] > 1 && least[0] < 0);
}

/* Whether the features are further apart than `limit`, by balls around the first point of each. */
static bool balls_apart(const float *positions, const int v[4], int first, float limit)
{
    float radii[2] = {0, 0};
    for (int i = 1; i < 4; i++) {
        int side = i >= first, centre = v[side ? first : 0];
        float length2 = vec3_length2(vec3_sub(vec3_load(positions + 3 * v[i]), vec3_load(positions + 3 * centre)));
        radii[side] = MAX(radii[side], length2);
    }
    float room = limit + sqrtf(radii[0]) + sqrtf(radii[1]);
    vec3 way = vec3_sub(vec3_load(positions + 3 * v[0]), vec3_load(positions + 3 * v[first]));
    return vec3_length2(way) > room * room;
}

/* The distance that a pair keeps: the thickness, or less where the rest pose is closer. */
static float gap_of(const search *s, const contact_pair *pair, int first)
{
    const float *rest_positions = s->surface->mesh->positions;
    float thickness = s->options->thickness;
    if (balls_apart(rest_positions, pair->v, first, 2.001f * thickness)) return thickness;

    contact_pair rest = *pair;
    contact_pair_nearest(&rest, rest_positions);
    return MIN(thickness, 0.5f * rest.distance);
}

/*
 * A pair that may come closer than its reach while its features move by `motion` against each other: to the list, when
 * its nearest points say so too. reach: the most it can be.
 */
static void pair_consider(const search *s, int block, const int v[4], contact_kind kind, float reach, float motion)
{
    const contact_search_options *options = s->options;
    int first = kind == CONTACT_POINT_TRIANGLE ? 1 : 2;
    const uint8_t *marks = s->work->marks;

    if (s->partial && !(marks[v[0]] | marks[v[1]] | marks[v[2]] | marks[v[3]])) return;
    if (options->released && pair_released(options->released, v, first)) return;

    /* distance now, and the gap that the rest shape allows */
    contact_pair pair = {.v = {v[0], v[1], v[2], v[3]}, .kind = kind};
    contact_pair_nearest(&pair, s->start);
    if (pair.distance > reach + motion || pair_tangled(s->surface, v, first)) return;

    pair.gap = gap_of(s, &pair, first);

    /* Neighbours on a fine mesh are always near: what they may come to counts by their own gap. */
    if (pair.distance > contact_reach(s->surface, options, &pair) + motion) return;

    /* Touching, now or at rest: no side to keep. */
    if (!options->touching && (!(pair.distance > 1e-3f * pair.gap) || pair.gap < 0.01f * options->thickness)) return;

    contact_block *found = s->work->block_counts + block;
    if (found->pairs >= (s->room ? s->room_count : s->work->block_capacity)) {
        found->dropped++;
        return;
    }
    contact_pair *list = s->room ? s->room : s->work->pairs + (size_t)block * (size_t)s->work->block_capacity;
    list[found->pairs++] = pair;
}

/* A triangle of the pair in hand: corners, start, motion. */
typedef struct face {
    const int *v;
    vec3 p[3], move[3];
    vec3 centre, mean; /* of start, of motion */
    float spread;
    float scale; /* the largest of the corners' */
    unsigned owned;
} face;

static face face_load(const search *s, int i)
{
    face f = {.v = s->surface->corners + 3 * i, .owned = s->surface->owned[i]};

    for (int c = 0; c < 3; c++) {
        f.p[c] = vec3_load(s->work->starts + 4 * f.v[c]);
        f.move[c] = vec3_sub(vec3_load(s->work->ends + 4 * f.v[c]), f.p[c]);
    }

    /* as in shapes_store: what its arrays hold is far apart */
    float spread2 = 0;
    f.centre = vec3_scale(vec3_add(vec3_add(f.p[0], f.p[1]), f.p[2]), 1.0f / 3);
    f.mean = vec3_scale(vec3_add(vec3_add(f.move[0], f.move[1]), f.move[2]), 1.0f / 3);
    for (int c = 0; c < 3; c++) {
        spread2 = MAX(spread2, vec3_length2(vec3_sub(f.move[c], f.mean)));
        f.scale = MAX(f.scale, s->surface->scales[f.v[c]]);
    }
    f.spread = sqrtf(spread2);

    return f;
}

/* How far the corners extend from the centre along a direction. */
static float face_extent(const face *f, vec3 way)
{
    float extent = vec3_dot(way, vec3_sub(f->p[0], f->centre));
    for (int c = 1; c < 3; c++) extent = MAX(extent, vec3_dot(way, vec3_sub(f->p[c], f->centre)));
    return extent;
}

/*
 * Whether two features stay more than `limit` apart: along the line of their centres, at the start. limit: their reach
 * and how far they move against each other. Nearly all neighbours on a surface are, and need no nearest points.
 */
static bool along_apart(vec3 way, float extent, float limit)
{
    float length2 = vec3_length2(way), room = length2 - extent;
    return room > 0 && room * room > limit * limit * length2;
}

/* The owned points of a against b. */
static void points_consider(const search *s, int block, const face *a, const face *b, float reach)
{
    for (int c = 0; c < 3; c++) {
        int p = a->v[c];
        if (!(a->owned >> c & 1) || p == b->v[0] || p == b->v[1] || p == b->v[2]) continue;
        s->work->block_counts[block].tests++;
        float motion = b->spread + vec3_distance(a->move[c], b->mean);
        vec3 way = vec3_sub(a->p[c], b->centre);
        if (along_apart(way, face_extent(b, way), reach + motion)) continue;
        pair_consider(s, block, (int[4]){p, b->v[0], b->v[1], b->v[2]}, CONTACT_POINT_TRIANGLE, reach, motion);
    }
}

static void edges_consider(const search *s, int block, const face *a, const face *b, float reach)
{
    for (int c = 0; c < 3; c++) {
        if (!(a->owned >> (3 + c) & 1)) continue;

        /* half the edge, its middle and their motion */
        int a0 = a->v[c], a1 = a->v[(c + 1) % 3];
        vec3 half_a = vec3_scale(vec3_sub(a->p[(c + 1) % 3], a->p[c]), 0.5f), centre_a = vec3_add(a->p[c], half_a);
        vec3 turn_a = vec3_scale(vec3_sub(a->move[(c + 1) % 3], a->move[c]), 0.5f);
        vec3 move_a = vec3_add(a->move[c], turn_a);
        float spread = vec3_length(turn_a);
        for (int d = 0; d < 3; d++) {
            int b0 = b->v[d], b1 = b->v[(d + 1) % 3];
            if (!(b->owned >> (3 + d) & 1) || a0 == b0 || a0 == b1 || a1 == b0 || a1 == b1) continue;
            s->work->block_counts[block].tests++;

            /* bounding segments along the line between the middles */
            vec3 half_b = vec3_scale(vec3_sub(b->p[(d + 1) % 3], b->p[d]), 0.5f), centre_b = vec3_add(b->p[d], half_b);
            vec3 turn_b = vec3_scale(vec3_sub(b->move[(d + 1) % 3], b->move[d]), 0.5f);
            float motion = spread + vec3_length(turn_b) + vec3_distance(move_a, vec3_add(b->move[d], turn_b));
            vec3 way = vec3_sub(centre_a, centre_b);
            if (along_apart(way, fabsf(vec3_dot(way, half_a)) + fabsf(vec3_dot(way, half_b)), reach + motion)) continue;
            pair_consider(s, block, (int[4]){MIN(a0, a1), MAX(a0, a1), MIN(b0, b1), MAX(b0, b1)}, CONTACT_EDGE_EDGE,
                          reach, motion);
        }
    }
}

static void faces_consider(const search *s, int block, const face *a, const face *b)
{
    float reach = reach_of(s->surface, s->options, MAX(a->scale, b->scale), s->options->thickness);
    points_consider(s, block, a, b, reach);
    points_consider(s, block, b, a, reach);
    edges_consider(s, block, a, b, reach);
}

/* ---- nodes ---- */

/* The largest of the corners' extents from their centre along directions. corners: as in a shape. */
static inline vfloat extents(const vfloat corners[9], const vfloat way[3])
{
    vfloat extent = corners[0] * way[0] + corners[1] * way[1] + corners[2] * way[2];
    for (int c = 1; c < 3; c++)
        extent = v_max(extent, corners[3 * c] * way[0] + corners[3 * c + 1] * way[1] + corners[3 * c + 2] * way[2]);
    return extent;
}

/*
 * Mask of the LANES triangles from j on that may come within reach of triangle i: along the line of the centres, at
 * the start. Nearly all neighbours on a surface do not.
 */
static unsigned shapes_near(const search *s, int i, int j)
{
    const float *one = s->work->shapes + i, *others = s->work->shapes + j;
    size_t stride = (size_t)s->work->shape_stride;
    vfloat a[CONTACT_SHAPE], b[CONTACT_SHAPE];

    for (int k = 0; k < CONTACT_SHAPE; k++) {
        a[k] = v_set(one[stride * (size_t)k]);
        b[k] = v_load(others + stride * (size_t)k);
    }

    /* the room between them */
    vfloat way[3], back[3], length2 = v_set(0);
    for (int k = 0; k < 3; k++) {
        way[k] = a[SHAPE_CENTRE + k] - b[SHAPE_CENTRE + k];
        back[k] = -way[k];
        length2 = length2 + way[k] * way[k];
    }
    vfloat room = length2 - (extents(a + SHAPE_CORNERS, back) + extents(b + SHAPE_CORNERS, way));

    /* their reach, and how far they move against each other */
    const contact_search_options *options = s->options;
    float slope = play(s->surface, options, 1), gap = options->thickness;
    vfloat scale = v_max(a[SHAPE_SCALE], b[SHAPE_SCALE]);
    vfloat reach = v_max(v_set(gap), v_set(0.1f * gap) + v_set(slope) * (s->surface->edge_mean > 0 ? scale : v_set(1)));
    if (options->touching) reach = v_set(options->margin);

    vfloat moved2 = v_set(0);
    for (int k = 0; k < 3; k++) {
        vfloat d = a[SHAPE_MEAN + k] - b[SHAPE_MEAN + k];
        moved2 = moved2 + d * d;
    }

    vfloat limit = reach + a[SHAPE_SPREAD] + b[SHAPE_SPREAD] + v_sqrt(moved2);
    vint apart = v_less(v_set(0), room) & v_less(limit * limit * length2, room * room);
    return ~v_mask(apart) & ((1u << LANES) - 1);
}

/* Whether a point of the triangle strayed. */
static bool triangle_marked(const search *s, int i)
{
    const int *v = s->surface->corners + 3 * i;
    return s->work->marks[v[0]] | s->work->marks[v[1]] | s->work->marks[v[2]];
}

/* The triangles of two leaves, or of one. */
static void leaves_consider(const search *s, int block, int leaf, int other)
{
    const contact_surface *surface = s->surface;
    const float *bound = s->work->nodes + (size_t)other * CONTACT_BOUND;
    int last = surface->leaf_first[other + 1];
    for (int i = surface->leaf_first[leaf]; i < surface->leaf_first[leaf + 1]; i++) {
        const float *triangle = s->work->triangles + (size_t)i * CONTACT_BOUND;
        if (boxes_apart(triangle, bound)) continue;

        /* against those of the other leaf, several at a time */
        bool wanted = !s->partial || triangle_marked(s, i);
        face first;
        bool loaded = false;
        for (int j = leaf == other ? i + 1 : surface->leaf_first[other]; j < last; j += LANES) {
            unsigned near = shapes_near(s, i, j);
            for (int k = j; k < MIN(j + LANES, last); k++) {
                if (!(near >> (k - j) & 1) || (!wanted && !triangle_marked(s, k))) continue;
                if (boxes_apart(triangle, s->work->triangles + (size_t)k * CONTACT_BOUND)) continue;
                if (!loaded) first = face_load(s, i);
                loaded = true;

                face second = face_load(s, k);
                faces_consider(s, block, &first, &second);
            }
        }
    }
}

/* Everything below a against everything below b, of the same level, or a against itself when they are the same node. */
static void nodes_search(const search *s, int block, int a, int b)
{
    const contact_surface *surface = s->surface;
    const int *child_first = surface->child_first;
    int stack[STACK][2], depth = 0;

    /* pairs of nodes still to visit */
    stack[depth][0] = a;
    stack[depth++][1] = b;
    while (depth > 0) {
        depth--;
        int x = stack[depth][0], y = stack[depth][1];
        if (s->partial && !(s->work->node_marks[x] | s->work->node_marks[y])) continue;

        /* what is flat or apart cannot touch */
        if (x == y
                ? nodes_flat(s, &x, 1, surface->outlines[x])
                : boxes_apart(s->work->nodes + (size_t)x * CONTACT_BOUND, s->work->nodes + (size_t)y * CONTACT_BOUND) ||
                      union_flat(s, x, y))
            continue;

        /* leaves, or all pairs of children */
        if (x < surface->leaf_count) {
            leaves_consider(s, block, x, y);
            continue;
        }
        for (int i = child_first[x]; i < child_first[x + 1]; i++)
            for (int j = x == y ? i : child_first[y]; j < child_first[y + 1]; j++) {
                stack[depth][0] = i;
                stack[depth++][1] = j;
            }
    }
}

static void blocks_search(void *context, int begin, int end)
{
    const search *s = context;
    int first = s->surface->node_count - s->surface->block_count;
    for (int block = begin; block < end; block++) {
        s->work->block_counts[block] = (contact_block){0};
        for (int other = block; other < s->surface->block_count; other++)
            nodes_search(s, block, first + block, first + other);
    }
}

/* Pairs of the search, behind `count` that the list holds already. */
static int search_run(search *s, int count, const cutis_jobs *jobs)
{
    const contact_surface *surface = s->surface;
    contact_work *work = s->work;
    int n = surface->mesh->point_count;

    /* refit the hierarchy, then search it */
    parallel_for(jobs, n, 2048, points_load, s);
    parallel_for(jobs, surface->mesh->triangle_count, 1024, triangles_refit, s);
    parallel_for(jobs, surface->leaf_count, 512, leaves_refit, s);
    nodes_refit(s);
    parallel_for(jobs, surface->block_count, 1, blocks_search, s);

    /* One list, in the order of blocks. */
    work->pair_count = work->dropped = 0;
    work->tests = 0;
    for (int block = 0; block < surface->block_count; block++) {
        const contact_block *found = work->block_counts + block;
        work->tests += found->tests;
        if (found->dropped > 0) continue;
        memmove(work->pairs + work->pair_count, work->pairs + (size_t)block * (size_t)work->block_capacity,
                (size_t)found->pairs * sizeof(contact_pair));
        work->pair_count += found->pairs;
    }

    /* Blocks that had too many pairs, such as a hand of a fine mesh, take what others have left. */
    for (int block = 0; block < surface->block_count; block++) {
        if (work->block_counts[block].dropped == 0) continue;
        s->room = work->pairs + work->pair_count;
        s->room_count = work->pair_capacity - work->pair_count;
        blocks_search(s, block, block + 1);
        work->pair_count += work->block_counts[block].pairs;
        work->dropped += work->block_counts[block].dropped;
    }
    int room = MIN(count, work->pair_capacity - work->pair_count);

    /* pairs that are still valid */
    memcpy(work->pairs + work->pair_count, work->kept, (size_t)room * sizeof(contact_pair));
    work->pair_count += room;
    work->dropped += count - room;
    return work->pair_count;
}

int contact_search(const contact_surface *surface, contact_work *work, const float *start, const float *end,
                   const contact_search_options *options, const cutis_jobs *jobs)
{
    work->pair_count = work->dropped = 0;
    work->tests = 0;
    memcpy(work->saved, end, (size_t)surface->mesh->point_count * 3 * sizeof(float));
    if (surface->leaf_count == 0) return 0;
    search s = {.surface = surface, .work = work, .start = start, .end = end, .options = options};
    return search_run(&s, 0, jobs);
}

/* Mark nodes with marked points, from the leaves up. */
static void nodes_mark(const contact_surface *surface, contact_work *work)
{
    for (int leaf = 0; leaf < surface->leaf_count; leaf++) {
        uint8_t mark = 0;
        for (int i = 3 * surface->leaf_first[leaf]; i < 3 * surface->leaf_first[leaf + 1]; i++)
            mark |= work->marks[surface->corners[i]];
        work->node_marks[leaf] = mark;
    }

    /* children come before their parents */
    for (int node = surface->leaf_count; node < surface->node_count; node++) {
        uint8_t mark = 0;
        for (int i = surface->child_first[node]; i < surface->child_first[node + 1]; i++) mark |= work->node_marks[i];
        work->node_marks[node] = mark;
    }
}

int contact_search_update(const contact_surface *surface, contact_work *work, const float *start, const float *end,
                          const contact_search_options *options, const cutis_jobs *jobs)
{
    int n = surface->mesh->point_count, marked = 0, kept = 0;

    /* points beyond what the last search allows for */
    for (int p = 0; p < n; p++) {
        work->marks[p] = contact_strayed(surface, work, end, options, p);
        marked += work->marks[p];
    }

    /* pairs of all others stay valid */
    for (int i = 0; i < work->pair_count; i++) {
        const int *v = work->pairs[i].v;
        if (work->marks[v[0]] | work->marks[v[1]] | work->marks[v[2]] | work->marks[v[3]]) continue;
        if (kept < work->kept_capacity) work->kept[kept] = work->pairs[i];
        kept++;
    }

    /* an update does not pay where most have moved */
    if (2 * marked > n || kept > work->kept_capacity || work->dropped > 0 || surface->leaf_count == 0)
        return contact_search(surface, work, start, end, options, jobs);
    if (marked == 0) return work->pair_count;

    /* The others stay with the end they were searched for, from which they have not strayed. */
    for (int p = 0; p < n; p++)
        if (work->marks[p]) memcpy(work->saved + 3 * p, end + 3 * p, 3 * sizeof(float));

    nodes_mark(surface, work);
    search s = {
        .surface = surface, .work = work, .start = start, .end = work->saved, .options = options, .partial = true};
    return search_run(&s, kept, jobs);
}
