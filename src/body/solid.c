/*
 * solid.c: the solid that a surface encloses, as signed distances on a grid.
 *
 * 1. Cells near the surface get their nearest triangle.
 * 2. Air floods the grid from its border; a surface thickened by half the gap stops it. The side that sees this air
 *    tells which way open parts face (solid_orient.c).
 * 3. Cells of winding number 1/2 and more are inside (solid_winding.c): overlapping parts are united, and a hole is
 *    closed by the surface on which the number is 1/2. Blocks of cells without surface are tried at their corners
 * first: the number is harmonic there, so that its extremes lie on the border of the block. Air that the border of the
 * grid is not joined with is filled.
 * 4. Places of the surface with cells of both kinds around them bound the solid. Each cell takes the nearest such place
 *    that it or one of its 26 neighbours knows, in two sweeps (Danielsson 1980, "Euclidean distance mapping").
 */
#include "body/solid.h"

#include <assert.h>
#include <string.h>

#include "body/solid_private.h"

enum { PADDING = 4, BLOCK = 4, SLAB = 4 };

/* Cells up to this far from a triangle, in cells, look for their nearest place on it. */
static const float REACH = 1.0f;

typedef struct solid_work {
    const solid_def *def;
    solid *out;
    size_t count;
    float *squared;   /* (count) squared distance to the nearest place */
    int *nearest;     /* (count) triangle of that place, -1: none, or a place where a hole is closed */
    vec3 *places;     /* (count) the place */
    uint8_t *inside;  /* (count) */
    uint8_t *flooded; /* (count) air joined with the border of the grid */
    uint8_t *again;   /* (count) the nearest place does not bound the solid: look for another */
    float *winding;   /* (count) */
    int *stack;       /* (count) */
    int (*slabs)[2];  /* (triangle_count) first and last slab with cells within reach of a triangle */
    winding_tree tree;
    bool bounding; /* take only places that bound the solid */
} solid_work;

/* ---- the grid ---- */

void solid_cell(const solid *s, vec3 place, int cell[3])
{
    vec3 p = vec3_scale(vec3_sub(place, s->origin), 1 / s->spacing);
    const float at[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++) {
        float limit = (float)(s->size[k] - 1);
        cell[k] = (int)(CLAMP(at[k], 0, limit) + 0.5f);
    }
}

/* The cell below `place`, clamped so that its upper neighbours exist, and the weights of those. */
static size_t solid_corner(const solid *s, vec3 place, float weights[3])
{
    vec3 p = vec3_scale(vec3_sub(place, s->origin), 1 / s->spacing);
    const float at[3] = {p.x, p.y, p.z};
    int cell[3];
    for (int k = 0; k < 3; k++) {
        float limit = (float)(s->size[k] - 1);
        float x = CLAMP(at[k], 0, limit);
        cell[k] = MIN((int)x, s->size[k] - 2);
        weights[k] = x - (float)cell[k];
    }
    return solid_index(s, cell[0], cell[1], cell[2]);
}

static void corners_get(const solid *s, size_t first, float values[8])
{
    size_t row = (size_t)s->size[0];
    size_t layer = row * (size_t)s->size[1];
    for (int k = 0; k < 8; k++)
        values[k] = s->distance[first + (size_t)(k & 1) + (k & 2 ? row : 0) + (k & 4 ? layer : 0)];
}

static float mix(float a, float b, float t) { return a + (b - a) * t; }

float solid_sample(const solid *s, vec3 place)
{
    float w[3];
    float v[8];
    corners_get(s, solid_corner(s, place, w), v);
    float low = mix(mix(v[0], v[1], w[0]), mix(v[2], v[3], w[0]), w[1]);
    float high = mix(mix(v[4], v[5], w[0]), mix(v[6], v[7], w[0]), w[1]);
    float value = mix(low, high, w[2]);

    /* beyond the grid: the way to it */
    vec3 last = solid_centre(s, s->size[0] - 1, s->size[1] - 1, s->size[2] - 1);
    vec3 clamped = vec3_min(vec3_max(place, s->origin), last);
    return value + vec3_distance(place, clamped);
}

vec3 solid_gradient(const solid *s, vec3 place)
{
    float w[3];
    float v[8];
    corners_get(s, solid_corner(s, place, w), v);
    vec3 g;
    g.x = mix(mix(v[1] - v[0], v[3] - v[2], w[1]), mix(v[5] - v[4], v[7] - v[6], w[1]), w[2]);
    g.y = mix(mix(v[2] - v[0], v[3] - v[1], w[0]), mix(v[6] - v[4], v[7] - v[5], w[0]), w[2]);
    g.z = mix(mix(v[4] - v[0], v[5] - v[1], w[0]), mix(v[6] - v[2], v[7] - v[3], w[0]), w[1]);
    return vec3_scale(g, 1 / s->spacing);
}

static cutis_result grid_size(const solid_def *def, solid *out, cutis_error *error)
{
    vec3 low = {INFINITY, INFINITY, INFINITY};
    vec3 high = {-INFINITY, -INFINITY, -INFINITY};

    /* bounds of the points in use */
    for (size_t i = 0; i < 3 * (size_t)def->triangle_count; i++) {
        vec3 p = vec3_load(def->positions + 3 * (size_t)def->triangles[i]);
        if (!(p.x - p.x == 0 && p.y - p.y == 0 && p.z - p.z == 0))
            return error_set(error, CUTIS_ERROR_DATA, "a solid: point %d has a position that is not finite",
                             def->triangles[i]);
        low = vec3_min(low, p);
        high = vec3_max(high, p);
    }

    /* a surface that has none is an error */
    vec3 extent = vec3_sub(high, low);
    const float sides[3] = {extent.x, extent.y, extent.z};
    if (def->triangle_count == 0 || !(MAX(sides[0], MAX(sides[1], sides[2])) > 0))
        return error_set(error, CUTIS_ERROR_DATA, "a solid: the surface has no extent");
    if (!(def->spacing > 0)) return error_set(error, CUTIS_ERROR_ARGUMENT, "a solid: cells need a positive size");

    /* cells along each axis, with padding */
    double count = 1;
    for (int k = 0; k < 3; k++) {
        double cells = ceil((double)sides[k] / def->spacing) + 1 + 2 * PADDING;
        count *= cells;
        if (!(count <= SOLID_MAX_CELLS))
            return error_set(error, CUTIS_ERROR_DATA, "a solid: cells of %g make too many of them; take larger ones",
                             (double)def->spacing);
        out->size[k] = (int)cells;
    }

    out->spacing = def->spacing;

    /* the surface in the middle, so that mirrored bodies get mirrored cells */
    vec3 middle = vec3_lerp(low, high, 0.5f);
    vec3 half = {0.5f * (float)(out->size[0] - 1), 0.5f * (float)(out->size[1] - 1), 0.5f * (float)(out->size[2] - 1)};
    out->origin = vec3_madd(middle, half, -def->spacing);
    return CUTIS_OK;
}

/* ---- nearest places ---- */

static void triangle_load(const solid_def *def, int t, vec3 p[3])
{
    for (int k = 0; k < 3; k++) p[k] = vec3_load(def->positions + 3 * (size_t)def->triangles[3 * (size_t)t + k]);
}

/* Share of the cells around a place that are inside, trilinear. */
static float inside_share(const solid_work *w, vec3 place)
{
    float t[3];
    const uint8_t *in = w->inside + solid_corner(w->out, place, t);
    const uint8_t *up = in + (size_t)w->out->size[0];
    size_t layer = (size_t)w->out->size[0] * (size_t)w->out->size[1];
    float low = mix(mix(in[0], in[1], t[0]), mix(up[0], up[1], t[0]), t[1]);
    float high = mix(mix(in[layer], in[layer + 1], t[0]), mix(up[layer], up[layer + 1], t[0]), t[1]);
    return mix(low, high, t[2]);
}

/*
 * Whether a place of a triangle, the nearest one to a cell, bounds the solid. Seen from outside it does unless it is of
 * a sheet without thickness. Seen from inside, its two sides must differ: on a plane the shares differ by about 0.8, at
 * the corner of a box by a quarter, on a wall within the solid not at all.
 */
static bool place_bounds(const solid_work *w, size_t cell, vec3 place, vec3 normal)
{
    float share = inside_share(w, place);
    if (!w->inside[cell] && share > 0 && share < 1) return true;
    float front = inside_share(w, vec3_madd(place, normal, 0.75f * w->out->spacing));
    float back = inside_share(w, vec3_madd(place, normal, -0.75f * w->out->spacing));
    return fabsf(front - back) > 0.12f;
}

static vec3 triangle_normal(const vec3 p[3])
{
    return vec3_normalize(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
}

/* The slabs with cells within reach of each triangle, so that a slab passes by the others quickly. */
static void slabs_find(const solid_work *w)
{
    const solid *s = w->out;
    float reach = REACH * s->spacing;
    for (int t = 0; t < w->def->triangle_count; t++) {
        vec3 p[3];
        triangle_load(w->def, t, p);
        float low = (MIN(p[0].z, MIN(p[1].z, p[2].z)) - reach - s->origin.z) / s->spacing;
        float high = (MAX(p[0].z, MAX(p[1].z, p[2].z)) + reach - s->origin.z) / s->spacing;
        w->slabs[t][0] = (int)floorf(low) / SLAB;
        w->slabs[t][1] = (int)ceilf(high) / SLAB;
    }
}

/* Offer a triangle to the cells of layers begin..end that are within reach of it. */
static void triangle_offer(const solid_work *w, int t, int begin, int end)
{
    const solid *s = w->out;
    vec3 p[3];
    triangle_load(w->def, t, p);

    /* cells within reach of the triangle's bounds */
    float reach = REACH * s->spacing;
    vec3 margin = {reach, reach, reach};
    vec3 low = vec3_scale(vec3_sub(vec3_sub(vec3_min(p[0], vec3_min(p[1], p[2])), margin), s->origin), 1 / s->spacing);
    vec3 high = vec3_scale(vec3_sub(vec3_add(vec3_max(p[0], vec3_max(p[1], p[2])), margin), s->origin), 1 / s->spacing);

    int z0 = MAX((int)ceilf(low.z), begin);
    int z1 = MIN((int)floorf(high.z), end - 1);
    if (z0 > z1) return;
    vec3 normal = triangle_normal(p);

    for (int z = z0; z <= z1; z++)
        for (int y = (int)ceilf(low.y); y <= (int)floorf(high.y); y++)
            for (int x = (int)ceilf(low.x); x <= (int)floorf(high.x); x++) {
                size_t cell = solid_index(s, x, y, z);
                if (w->bounding && !w->again[cell]) continue;

                /* the plane is a lower bound */
                vec3 centre = solid_centre(s, x, y, z);
                float plane = vec3_dot(normal, vec3_sub(centre, p[0]));
                if (plane * plane > MIN(w->squared[cell], reach * reach)) continue;

                /* the exact distance, if the place may bound the solid */
                vec3 place = triangle_closest(centre, p[0], p[1], p[2], NULL);
                float squared = vec3_length2(vec3_sub(place, centre));
                if (squared > reach * reach || squared >= w->squared[cell]) continue;
                if (w->bounding && !place_bounds(w, cell, place, normal)) continue;

                /* the nearest so far */
                w->squared[cell] = squared;
                w->nearest[cell] = t;
                w->places[cell] = place;
            }
}

static void nearest_slabs(void *context, int begin, int end)
{
    const solid_work *w = context;
    for (int slab = begin; slab < end; slab++) {
        int last = MIN((slab + 1) * SLAB, w->out->size[2]);
        for (int t = 0; t < w->def->triangle_count; t++)
            if (w->slabs[t][0] <= slab && slab <= w->slabs[t][1]) triangle_offer(w, t, slab * SLAB, last);
    }
}

/* ---- air ---- */

/* Flood cells for which blocked is 0 from the border of the grid. */
static void air_flood(const solid_work *w, const uint8_t *blocked)
{
    const int *size = w->out->size;
    const size_t steps[3] = {1, (size_t)size[0], (size_t)size[0] * (size_t)size[1]};
    size_t depth = 0;

    memset(w->flooded, 0, w->count);
    w->flooded[0] = 1;
    w->stack[depth++] = 0;

    /* from a corner of the grid, which is always air */
    while (depth > 0) {
        size_t cell = (size_t)w->stack[--depth];
        const int at[3] = {(int)(cell % steps[1]), (int)(cell / steps[1] % (size_t)size[1]), (int)(cell / steps[2])};

        /* neighbours along the axes that are still dry */
        for (int k = 0; k < 6; k++) {
            int axis = k / 2;
            if (k % 2 ? at[axis] + 1 >= size[axis] : at[axis] == 0) continue;
            size_t next = k % 2 ? cell + steps[axis] : cell - steps[axis];
            if (w->flooded[next] || blocked[next]) continue;
            w->flooded[next] = 1;
            w->stack[depth++] = (int)next;
        }
    }
}

static int air_outside(void *context, vec3 place)
{
    const solid_work *w = context;
    int cell[3];
    solid_cell(w->out, place, cell);
    size_t i = solid_index(w->out, cell[0], cell[1], cell[2]);
    return w->inside[i] ? -1 : w->flooded[i];
}

/* ---- inside ---- */

/* Points of a block: all of its cells, or those at its corners. */
static int block_points(int edge, float spacing, float *x, float *y, float *z)
{
    float middle = 0.5f * (BLOCK - 1);
    float stride = edge == BLOCK ? 1 : (float)(BLOCK - 1);
    int n = 0;
    for (int k = 0; k < edge; k++)
        for (int j = 0; j < edge; j++)
            for (int i = 0; i < edge; i++, n++) {
                x[n] = ((float)i * stride - middle) * spacing;
                y[n] = ((float)j * stride - middle) * spacing;
                z[n] = ((float)k * stride - middle) * spacing;
            }
    return n;
}

static void block_evaluate(const solid_work *w, const int low[3])
{
    const solid *s = w->out;
    float x[WINDING_POINTS];
    float y[WINDING_POINTS];
    float z[WINDING_POINTS];
    float numbers[WINDING_POINTS];
    float half = 0.5f * (BLOCK - 1);
    vec3 centre = vec3_madd(solid_centre(s, low[0], low[1], low[2]), (vec3){half, half, half}, s->spacing);
    float radius = 1.7320508f * half * s->spacing;

    /* blocks that the surface does not touch */
    bool touched = false;
    for (int i = 0; i < BLOCK * BLOCK * BLOCK && !touched; i++) {
        int cx = MIN(low[0] + i % BLOCK, s->size[0] - 1);
        int cy = MIN(low[1] + i / BLOCK % BLOCK, s->size[1] - 1);
        int cz = MIN(low[2] + i / BLOCK / BLOCK, s->size[2] - 1);
        touched = w->nearest[solid_index(s, cx, cy, cz)] >= 0;
    }

    /* far from the surface eight numbers tell whether all are alike */
    bool uniform = !touched;
    float mean = 0;
    if (!touched) {
        int count = block_points(2, s->spacing, x, y, z);
        winding_evaluate(&w->tree, centre, radius, count, x, y, z, numbers);
        for (int i = 0; i < count; i++) {
            uniform = uniform && (numbers[i] > 0.5f) == (numbers[0] > 0.5f) && fabsf(numbers[i] - 0.5f) > 0.15f;
            mean += 0.125f * numbers[i];
        }
    }

    /* else every cell */
    if (!uniform) {
        int count = block_points(BLOCK, s->spacing, x, y, z);
        winding_evaluate(&w->tree, centre, radius, count, x, y, z, numbers);
    }

    /* to the cells of the grid */
    for (int i = 0; i < BLOCK * BLOCK * BLOCK; i++) {
        int cx = low[0] + i % BLOCK;
        int cy = low[1] + i / BLOCK % BLOCK;
        int cz = low[2] + i / BLOCK / BLOCK;
        if (cx < s->size[0] && cy < s->size[1] && cz < s->size[2])
            w->winding[solid_index(s, cx, cy, cz)] = uniform ? mean : numbers[i];
    }
}

static void inside_rows(void *context, int begin, int end)
{
    const solid_work *w = context;
    int rows = (w->out->size[1] + BLOCK - 1) / BLOCK;
    for (int row = begin; row < end; row++)
        for (int x = 0; x < w->out->size[0]; x += BLOCK)
            block_evaluate(w, (const int[3]){x, row % rows * BLOCK, row / rows * BLOCK});
}

static cutis_result inside_find(solid_work *w, arena *memory, cutis_error *error)
{
    const solid *s = w->out;
    uint8_t *flips = ARENA_ARRAY(memory, uint8_t, w->def->triangle_count);
    if (memory->failed) return error_memory(error, "a solid");

    /* walls that stop the air; half a cell has no leak between neighbours */
    float wall = CLAMP(0.5f * w->def->gap, 0.5f * s->spacing, REACH * s->spacing) + 1e-3f * s->spacing;
    for (size_t i = 0; i < w->count; i++) w->inside[i] = w->squared[i] <= wall * wall;
    air_flood(w, w->inside);

    /* triangles turned outwards by the air, and a tree for winding numbers */
    solid_air air = {w, air_outside, wall + 0.87f * s->spacing};
    cutis_result result = solid_orient(w->def, &air, memory, flips, error);
    if (result == CUTIS_OK) result = winding_tree_build(&w->tree, w->def, flips, memory, error);
    if (result != CUTIS_OK) return result;

    /* inside: a winding number of at least a half */
    int rows = (s->size[1] + BLOCK - 1) / BLOCK * ((s->size[2] + BLOCK - 1) / BLOCK);
    parallel_for(w->def->jobs, rows, 8, inside_rows, w);
    for (size_t i = 0; i < w->count; i++) w->inside[i] = w->winding[i] >= 0.5f;

    /* many open sheets that face each other have such numbers far away, too: the border of the grid is air */
    size_t row = (size_t)s->size[0];
    size_t layer = row * (size_t)s->size[1];
    for (size_t i = 0; i < w->count; i++) {
        int x = (int)(i % row);
        int y = (int)(i % layer / row);
        int z = (int)(i / layer);
        bool border = x == 0 || y == 0 || z == 0 || x + 1 == s->size[0] || y + 1 == s->size[1] || z + 1 == s->size[2];
        if (border) w->inside[i] = 0;
    }

    /* fill what air cannot reach */
    air_flood(w, w->inside);
    w->out->inside_count = 0;
    for (size_t i = 0; i < w->count; i++) {
        w->inside[i] = !w->flooded[i];
        w->out->inside_count += w->inside[i];
    }

    return CUTIS_OK;
}

/* ---- distances ---- */

/* Keep the places that bound the solid, look for others where they do not, and add those where holes are closed. */
static void places_bound(solid_work *w)
{
    const solid *s = w->out;
    bool lost = false;

    /* places that do not bound are looked for again */
    for (size_t i = 0; i < w->count; i++) {
        if (w->nearest[i] < 0) continue;
        vec3 p[3];
        triangle_load(w->def, w->nearest[i], p);
        if (place_bounds(w, i, w->places[i], triangle_normal(p))) continue;

        w->again[i] = 1;
        w->squared[i] = INFINITY;
        w->nearest[i] = -1;
        lost = true;
    }

    /* places for them */
    w->bounding = true;
    if (lost) parallel_for(w->def->jobs, (s->size[2] + SLAB - 1) / SLAB, 1, nearest_slabs, w);

    /* between cells where a hole is closed */
    const size_t steps[3] = {1, (size_t)s->size[0], (size_t)s->size[0] * (size_t)s->size[1]};
    for (int z = 0; z + 1 < s->size[2]; z++)
        for (int y = 0; y + 1 < s->size[1]; y++)
            for (int x = 0; x + 1 < s->size[0]; x++) {
                size_t a = solid_index(s, x, y, z);
                for (int axis = 0; axis < 3; axis++) {
                    size_t b = a + steps[axis];
                    if (w->inside[a] == w->inside[b] || w->nearest[a] >= 0 || w->nearest[b] >= 0) continue;

                    /* where the winding number is a half */
                    float rise = w->winding[b] - w->winding[a];
                    float t = rise != 0 ? CLAMP((0.5f - w->winding[a]) / rise, 0.02f, 0.98f) : 0.5f;
                    vec3 from = solid_centre(s, x, y, z);
                    vec3 to = solid_centre(s, x + (axis == 0), y + (axis == 1), z + (axis == 2));

                    for (int end = 0; end < 2; end++) {
                        size_t cell = end ? b : a;
                        float length = (end ? 1 - t : t) * s->spacing;
                        if (length * length >= w->squared[cell]) continue;
                        w->squared[cell] = length * length;
                        w->places[cell] = vec3_lerp(from, to, t);
                    }
                }
            }
}

/* One sweep: neighbours that come before a cell offer it their places. Rows run to and fro. */
static void places_sweep(solid_work *w, int direction)
{
    const solid *s = w->out;
    const size_t row = (size_t)s->size[0];
    const size_t layer = row * (size_t)s->size[1];

    /* the neighbours that a sweep has passed */
    size_t offsets[13];
    int away[13][3];
    int count = 0;
    for (int k = -1; k <= 0; k++)
        for (int j = -1; j <= (k ? 1 : 0); j++)
            for (int i = -1; i <= (k || j ? 1 : -1); i++) {
                away[count][0] = direction * i;
                away[count][1] = direction * j;
                away[count][2] = direction * k;
                offsets[count++] = (size_t)direction * ((size_t)i + (size_t)j * row + (size_t)k * layer);
            }

    /* each cell takes the nearest place that any of them knows */
    for (int iz = 0; iz < s->size[2]; iz++)
        for (int iy = 0; iy < s->size[1]; iy++)
            for (int ix = 0; ix < s->size[0]; ix++) {
                int x = direction > 0 ? ix : s->size[0] - 1 - ix;
                int y = direction > 0 ? iy : s->size[1] - 1 - iy;
                int z = direction > 0 ? iz : s->size[2] - 1 - iz;
                bool border = ix == 0 || iy == 0 || iz == 0 || ix + 1 == s->size[0] || iy + 1 == s->size[1];
                size_t cell = solid_index(s, x, y, z);
                vec3 centre = solid_centre(s, x, y, z);
                float best = w->squared[cell];
                size_t from = cell;

                /* the nearest of the places that neighbours know */
                for (int k = 0; k < count; k++) {
                    if (border && ((unsigned)(x + away[k][0]) >= (unsigned)s->size[0] ||
                                   (unsigned)(y + away[k][1]) >= (unsigned)s->size[1] ||
                                   (unsigned)(z + away[k][2]) >= (unsigned)s->size[2]))
                        continue;

                    size_t other = cell + offsets[k];
                    if (w->squared[other] == INFINITY) continue;
                    float squared = vec3_length2(vec3_sub(w->places[other], centre));
                    if (squared >= best) continue;
                    best = squared;
                    from = other;
                }

                if (from == cell) continue;
                w->squared[cell] = best;
                w->places[cell] = w->places[from];
                w->nearest[cell] = w->nearest[from];
            }
}

/* Near the surface the nearest place of the triangle that a cell was offered, then root and sign. */
static void distance_layers(void *context, int begin, int end)
{
    const solid_work *w = context;
    const solid *s = w->out;
    float near = 4 * s->spacing;

    for (int z = begin; z < end; z++)
        for (int y = 0; y < s->size[1]; y++)
            for (int x = 0; x < s->size[0]; x++) {
                size_t cell = solid_index(s, x, y, z);
                float squared = w->squared[cell];

                /* the nearest place of the triangle itself, where a neighbour's was taken over */
                if (squared < near * near && squared > 0.5f * s->spacing * s->spacing && w->nearest[cell] >= 0) {
                    vec3 p[3];
                    triangle_load(w->def, w->nearest[cell], p);
                    vec3 centre = solid_centre(s, x, y, z);
                    vec3 place = triangle_closest(centre, p[0], p[1], p[2], NULL);
                    if (place_bounds(w, cell, place, triangle_normal(p)))
                        squared = MIN(squared, vec3_length2(vec3_sub(place, centre)));
                }

                /* the root, negative inside */
                float distance = squared < INFINITY ? sqrtf(squared) : (float)s->size[0] * s->spacing;
                s->distance[cell] = w->inside[cell] ? -distance : distance;
            }
}

/* ---- build ---- */

cutis_result solid_build(const solid_def *def, arena *memory, solid *out, cutis_error *error)
{
    *out = (solid){0};

    cutis_result result = grid_size(def, out, error);
    if (result != CUTIS_OK) return result;

    /* room for every cell */
    arena scratch = arena_create(&memory->allocator);
    solid_work w = {.def = def, .out = out};
    w.count = (size_t)out->size[0] * (size_t)out->size[1] * (size_t)out->size[2];
    out->distance = ARENA_ARRAY(memory, float, w.count);
    w.squared = ARENA_ARRAY(&scratch, float, w.count);
    w.nearest = ARENA_ARRAY(&scratch, int, w.count);
    w.places = ARENA_ARRAY(&scratch, vec3, w.count);
    w.inside = ARENA_ARRAY(&scratch, uint8_t, w.count);
    w.flooded = ARENA_ARRAY(&scratch, uint8_t, w.count);
    w.again = ARENA_ARRAY(&scratch, uint8_t, w.count);
    w.winding = ARENA_ARRAY(&scratch, float, w.count);
    w.stack = ARENA_ARRAY(&scratch, int, w.count);
    w.slabs = arena_push(&scratch, (size_t)def->triangle_count, sizeof *w.slabs);
    if (memory->failed || scratch.failed) {
        arena_destroy(&scratch);
        return error_memory(error, "a solid");
    }

    /* nothing is known yet */
    for (size_t i = 0; i < w.count; i++) w.squared[i] = INFINITY;
    memset(w.nearest, 0xFF, w.count * sizeof *w.nearest);

    slabs_find(&w);

    /* cells near triangles, then which are inside, then distances of all */
    parallel_for(def->jobs, (out->size[2] + SLAB - 1) / SLAB, 1, nearest_slabs, &w);
    result = inside_find(&w, &scratch, error);
    if (result == CUTIS_OK) {
        places_bound(&w);
        places_sweep(&w, 1);
        places_sweep(&w, -1);
        parallel_for(def->jobs, out->size[2], 1, distance_layers, &w);
    }

    arena_destroy(&scratch);
    return result;
}
