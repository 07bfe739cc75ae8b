/*
 * texel.c: which place of the skin every texel of a texture shows, and borders around the islands of a texture.
 *
 * Skin that slides takes its texture coordinates across seams: a face of which a part lies beyond a seam goes on in the
 * coordinates of the island that most of it is in. Li, Sueda, Neog and Pai 2013 ("Thin Skin Elastodynamics", appendix
 * A.2) extend the pixels of each chart by those of its neighbours for that. Here a texel outside of all islands belongs
 * to the nearest seam; the triangle at that seam is continued to the texel, the triangles beyond are unfolded into its
 * plane, and the texel shows the one that it then lies in.
 */
#include <math.h>
#include <string.h>

#include "cutis/texture.h"
#include "mesh/mesh.h"

enum { SIDE_LIMIT = 16384, UNFOLD_LIMIT = 64 };

static int next3(int k) { return k == 2 ? 0 : k + 1; }

/* Triangles with their neighbours across edges. */
typedef struct texture_mesh {
    const cutis_character *character;
    int *across; /* (triangle_count x 3) 3 x triangle + corner beyond the edge opposite each corner; -1: none */
} texture_mesh;

static const float *corner_texcoord(const texture_mesh *m, int triangle, int k)
{
    return m->character->texcoords + 2 * m->character->triangle_corners[3 * triangle + k];
}

static int corner_point(const cutis_character *c, int triangle, int k)
{
    return c->vertex_points[c->triangles[3 * triangle + k]];
}

/* Find neighbours: edges of exactly two triangles that run them in opposite directions. */
static cutis_result find_neighbours(texture_mesh *m, arena *memory, cutis_error *error)
{
    const cutis_character *c = m->character;
    mesh surface;
    cutis_result result = mesh_build_character(&surface, c, memory, error);
    if (result) return result;

    int *sources = ARENA_ARRAY(memory, int, surface.triangle_count);
    m->across = ARENA_ARRAY(memory, int, 3 * (size_t)c->triangle_count);
    if (memory->failed) return error_memory(error, "texture");

    /* the mesh leaves out triangles that welding has collapsed */
    for (int t = 0, at = 0; t < c->triangle_count; t++) {
        const int p[3] = {corner_point(c, t, 0), corner_point(c, t, 1), corner_point(c, t, 2)};
        for (int k = 0; k < 3; k++) m->across[3 * t + k] = -1;
        if (at < surface.triangle_count && memcmp(p, surface.triangles + 3 * at, sizeof p) == 0) sources[at++] = t;
    }

    for (int e = 0; e < surface.edge_count; e++) {
        if (surface.edge_triangle_counts[e] != 2) continue;

        int sides[2], starts[2];
        for (int i = 0; i < 2; i++) {
            int t = surface.edge_triangles[2 * e + i];
            const int *p = surface.triangles + 3 * t;
            int k = 0;
            while (p[k] == surface.edges[2 * e] || p[k] == surface.edges[2 * e + 1]) k++;
            sides[i] = 3 * sources[t] + k;
            starts[i] = p[next3(k)];
        }

        if (starts[0] == starts[1]) continue;
        m->across[sides[0]] = sides[1];
        m->across[sides[1]] = sides[0];
    }

    return CUTIS_OK;
}

/* Whether the texture ends at the edge opposite corner k. */
static bool is_seam(const texture_mesh *m, int t, int k)
{
    int across = m->across[3 * t + k];
    if (across < 0) return true;
    int other = across / 3, l = across % 3;
    const float *a = corner_texcoord(m, t, next3(k)), *a2 = corner_texcoord(m, other, next3(next3(l)));
    const float *b = corner_texcoord(m, t, next3(next3(k))), *b2 = corner_texcoord(m, other, next3(l));
    return memcmp(a, a2, 2 * sizeof *a) != 0 || memcmp(b, b2, 2 * sizeof *b) != 0;
}

/* ---- triangles in the plane ---- */

/* Weights of a point in a triangle of the plane; false when it has no area. */
static bool plane_weights(const double p[3][2], double x, double y, double w[3])
{
    double ax = p[1][0] - p[0][0], ay = p[1][1] - p[0][1], bx = p[2][0] - p[0][0], by = p[2][1] - p[0][1];
    double det = ax * by - ay * bx;
    if (!(fabs(det) > 1e-12 * (ax * ax + ay * ay + bx * bx + by * by))) return false;
    w[1] = ((x - p[0][0]) * by - (y - p[0][1]) * bx) / det;
    w[2] = (ax * (y - p[0][1]) - ay * (x - p[0][0])) / det;
    w[0] = 1 - w[1] - w[2];
    return true;
}

/* Where corner k of a triangle at rest lies in a plane in which corners k + 1 and k + 2 are at a and b. left: side. */
static void lay_corner(const cutis_character *c, int t, int k, const double a[2], const double b[2], double place[2])
{
    /* its place along the edge and its distance from it, in lengths of the edge */
    const float *own = c->positions + 3 * c->triangles[3 * t + k];
    const float *pa = c->positions + 3 * c->triangles[3 * t + next3(k)];
    const float *pb = c->positions + 3 * c->triangles[3 * t + next3(next3(k))];

    double edge = 0, along = 0, square = 0;
    for (int e = 0; e < 3; e++) {
        double d = (double)pb[e] - (double)pa[e], o = (double)own[e] - (double)pa[e];
        edge += d * d;
        along += d * o;
        square += o * o;
    }
    double share = edge > 0 ? along / edge : 0, off = edge > 0 ? sqrt(fmax(square / edge - share * share, 0)) : 0;

    /* the same beside the laid edge */
    double dx = b[0] - a[0], dy = b[1] - a[1];
    place[0] = a[0] + share * dx - off * dy;
    place[1] = a[1] + share * dy + off * dx;
}

/* A triangle at rest, laid flat, counter-clockwise. */
static void lay_triangle(const cutis_character *c, int t, double p[3][2])
{
    const float *x0 = c->positions + 3 * c->triangles[3 * t], *x1 = c->positions + 3 * c->triangles[3 * t + 1];
    double edge = 0;
    for (int e = 0; e < 3; e++) edge += ((double)x1[e] - (double)x0[e]) * ((double)x1[e] - (double)x0[e]);
    p[0][0] = 0;
    p[0][1] = 0;
    p[1][0] = sqrt(edge);
    p[1][1] = 0;
    lay_corner(c, t, 2, p[0], p[1], p[2]);
}

/*
 * The place of the skin at weights w of triangle t, which lie outside of it beyond the edge opposite k: neighbours are
 * unfolded until the place lies in one. At an open edge it ends there.
 */
static void unfold(const texture_mesh *m, int t, int k, double w[3], cutis_texel *texel)
{
    const cutis_character *c = m->character;
    double p[3][2], x = 0, y = 0;
    lay_triangle(c, t, p);

    /* the place in the plane of the triangle */
    for (int i = 0; i < 3; i++) {
        x += w[i] * p[i][0];
        y += w[i] * p[i][1];
    }

    /* hop from triangle to triangle */
    for (int hop = 0; hop < UNFOLD_LIMIT && k >= 0; hop++) {
        int across = m->across[3 * t + k];
        if (across < 0) break;

        /* corner k + 1 here is l + 2 there */
        int other = across / 3, l = across % 3;
        double q[3][2];
        memcpy(q[next3(next3(l))], p[next3(k)], sizeof q[0]);
        memcpy(q[next3(l)], p[next3(next3(k))], sizeof q[0]);
        lay_corner(c, other, l, q[next3(l)], q[next3(next3(l))], q[l]);

        if (!plane_weights((const double(*)[2])q, x, y, w)) break;
        memcpy(p, q, sizeof p);
        t = other;

        /* on, across the edge that it lies farthest beyond, but never back */
        k = triangle_exit(w, l);
    }

    /* what is still outside is brought to the edge */
    triangle_weights_clamp(w);
    texel->triangle = t;
    for (int i = 0; i < 3; i++) texel->weights[i] = (float)w[i];
}

/* ---- the map ---- */

typedef struct texel_map {
    const texture_mesh *mesh;
    int width, height;
    cutis_texel *texels;
    int *seams; /* (height x width) 3 x triangle + corner of the nearest seam */
} texel_map;

static cutis_texel *texel_at(const texel_map *map, int x, int y, size_t *index)
{
    int column = x % map->width, row = y % map->height;
    if (column < 0) column += map->width;
    if (row < 0) row += map->height;
    *index = (size_t)row * (size_t)map->width + (size_t)column;
    return &map->texels[*index];
}

/* Corners of a triangle in texels. Its box, grown by `border`; false when it is no triangle of the texture. */
static bool triangle_box(const texel_map *map, int t, double border, double p[3][2], int low[2], int high[2])
{
    const int sides[2] = {map->width, map->height};

    for (int e = 0; e < 2; e++) {
        double least = HUGE_VAL, most = -HUGE_VAL;
        for (int k = 0; k < 3; k++) {
            p[k][e] = (double)corner_texcoord(map->mesh, t, k)[e] * sides[e] - 0.5;
            least = fmin(least, p[k][e]);
            most = fmax(most, p[k][e]);
        }

        if (!(fabs(least) < 1e7 && fabs(most) < 1e7)) return false;
        low[e] = (int)floor(least - border);
        high[e] = (int)ceil(most + border);

        /* a triangle that goes round the texture more than once is drawn once */
        high[e] = MIN(high[e], low[e] + 2 * sides[e]);
    }

    return true;
}

static void fill_inside(const texel_map *map, int t)
{
    double p[3][2], w[3];
    int low[2], high[2];
    if (!triangle_box(map, t, 0, p, low, high)) return;

    for (int y = low[1]; y <= high[1]; y++) {
        for (int x = low[0]; x <= high[0]; x++) {
            size_t index;
            cutis_texel *texel = texel_at(map, x, y, &index);

            if (texel->triangle >= 0 || !plane_weights((const double(*)[2])p, x, y, w)) continue;
            if (!(w[0] >= -1e-9 && w[1] >= -1e-9 && w[2] >= -1e-9)) continue;

            texel->triangle = t;
            texel->island = t;
            for (int k = 0; k < 3; k++) texel->weights[k] = (float)w[k];
        }
    }
}

/* Texels near the edge opposite k and on its outer side, to which no other seam is nearer. */
static void claim_border(const texel_map *map, int t, int k, double border)
{
    double p[3][2];
    int low[2], high[2];
    if (!triangle_box(map, t, border, p, low, high)) return;

    /* the edge, and which side of it is inside */
    const double *a = p[next3(k)], *b = p[next3(next3(k))];
    double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
    if (!(square > 0)) return;
    double inward = dx * (p[k][1] - a[1]) - dy * (p[k][0] - a[0]);

    /* texels within reach of it */
    for (int e = 0; e < 2; e++) {
        low[e] = MAX(low[e], (int)floor(fmin(a[e], b[e]) - border));
        high[e] = MIN(high[e], (int)ceil(fmax(a[e], b[e]) + border));
    }
    for (int y = low[1]; y <= high[1]; y++) {
        for (int x = low[0]; x <= high[0]; x++) {
            /* distance to the edge, on the side away from the triangle */
            double ox = x - a[0], oy = y - a[1];
            double side = dx * oy - dy * ox;
            if (side * inward > 0) continue;

            double share = CLAMP((ox * dx + oy * dy) / square, 0.0, 1.0);
            double fx = ox - share * dx, fy = oy - share * dy;
            double distance = sqrt(fx * fx + fy * fy);

            size_t index;
            cutis_texel *texel = texel_at(map, x, y, &index);
            bool inside = texel->triangle >= 0 && map->seams[index] < 0;
            if (inside || distance > border) continue;

            /* of two seams that meet, the one it lies beyond more squarely */
            double off = fabs(side) / sqrt(square), squarely = distance + 1e-3 * (distance - off);
            if (texel->triangle >= 0 && squarely >= (double)texel->distance) continue;

            texel->triangle = t;
            texel->island = t;
            texel->distance = (float)squarely;
            map->seams[index] = 3 * t + k;

            double w[3];
            if (!plane_weights((const double(*)[2])p, x, y, w)) w[0] = w[1] = w[2] = 1.0 / 3;
            for (int i = 0; i < 3; i++) texel->weights[i] = (float)w[i];
        }
    }
}

/* Whether a triangle of the plane, or the line or point it has collapsed to, reaches into the square around (x, y). */
static bool reaches_square(const double p[3][2], double x, double y, double half)
{
    /* they are apart when some axis separates them: x, y, or the normal of an edge */
    for (int axis = 0; axis < 5; axis++) {
        const double *a = p[axis % 3], *b = p[next3(axis % 3)];
        double nx = axis < 3 ? a[1] - b[1] : axis == 3, ny = axis < 3 ? b[0] - a[0] : axis == 4;

        double least = HUGE_VAL, most = -HUGE_VAL, reach = half * (fabs(nx) + fabs(ny));
        for (int k = 0; k < 3; k++) {
            double along = nx * (p[k][0] - x) + ny * (p[k][1] - y);
            least = fmin(least, along);
            most = fmax(most, along);
        }

        if (reach > 0 && (least >= reach || most <= -reach)) return false;
    }

    return true;
}

/*
 * Texels outside of islands that a triangle reads all the same, because linear interpolation between texel centres
 * reaches one texel far. They keep what the image has there: an island of a palette may hold no texel centre at all.
 */
static void keep_read(const texel_map *map, int t)
{
    double p[3][2];
    int low[2], high[2];
    if (!triangle_box(map, t, 1, p, low, high)) return;

    for (int y = low[1]; y <= high[1]; y++) {
        for (int x = low[0]; x <= high[0]; x++) {
            size_t index;
            cutis_texel *texel = texel_at(map, x, y, &index);
            if (texel->distance > 0 && reaches_square((const double(*)[2])p, x, y, 1)) texel->distance *= -1;
        }
    }
}

cutis_result cutis_texture_map(const cutis_character *character, int width, int height, double border,
                               const cutis_allocator *allocator, cutis_texel *texels, cutis_error *error)
{
    if (width < 1 || height < 1 || width > SIDE_LIMIT || height > SIDE_LIMIT || !(border >= 0 && border < SIDE_LIMIT))
        return error_set(error, CUTIS_ERROR_ARGUMENT,
                         "a texture has 1 to %d texels per side and a border of 0 to %d, not %d x %d and %g",
                         SIDE_LIMIT, SIDE_LIMIT, width, height, border);
    if (!character->texcoords)
        return error_set(error, CUTIS_ERROR_DATA, "'%s' has no texture coordinates; unwrap it first", character->name);

    arena memory = arena_create(allocator);
    size_t count = (size_t)width * (size_t)height;

    texture_mesh m = {.character = character};
    texel_map map = {&m, width, height, texels, ARENA_ARRAY(&memory, int, count)};
    cutis_result result = find_neighbours(&m, &memory, error);
    if (result == CUTIS_OK && memory.failed) result = error_memory(error, "texture");
    if (result == CUTIS_OK) {
        for (size_t i = 0; i < count; i++) {
            texels[i] = (cutis_texel){.triangle = -1, .island = -1};
            map.seams[i] = -1;
        }
        for (int t = 0; t < character->triangle_count; t++) fill_inside(&map, t);

        /* who has which border */
        for (int t = 0; t < character->triangle_count; t++)
            for (int k = 0; k < 3; k++)
                if (is_seam(&m, t, k)) claim_border(&map, t, k, border);

        /* what lies beyond the seam */
        for (size_t i = 0; i < count; i++) {
            if (map.seams[i] < 0) continue;
            double w[3] = {(double)texels[i].weights[0], (double)texels[i].weights[1], (double)texels[i].weights[2]};
            unfold(&m, map.seams[i] / 3, map.seams[i] % 3, w, &texels[i]);
        }

        /* what faces read already */
        for (int t = 0; t < character->triangle_count; t++) keep_read(&map, t);
    }

    arena_destroy(&memory);
    return result;
}

/* ---- images ---- */

/* The four texels around a place, and their shares. */
typedef struct texel_square {
    size_t texels[4];
    double shares[4];
} texel_square;

static texel_square square_around(int width, int height, double u, double v)
{
    double x = (u - floor(u)) * width - 0.5, y = (v - floor(v)) * height - 0.5;
    int column = (int)floor(x), row = (int)floor(y);
    double fx = x - column, fy = y - row;
    texel_square square;
    for (int k = 0; k < 4; k++) {
        int at_x = (column + k % 2 + width) % width, at_y = (row + k / 2 + height) % height;
        square.texels[k] = (size_t)at_y * (size_t)width + (size_t)at_x;
        square.shares[k] = (k % 2 ? fx : 1 - fx) * (k / 2 ? fy : 1 - fy);
    }
    return square;
}

static void square_sample(const texel_square *square, const float *image, int channels, float *values)
{
    for (int c = 0; c < channels; c++) {
        double sum = 0;
        for (int k = 0; k < 4; k++)
            sum += square->shares[k] * (double)image[square->texels[k] * (size_t)channels + (size_t)c];
        values[c] = (float)sum;
    }
}

void cutis_texture_sample(const float *image, int width, int height, int channels, double u, double v, float *values)
{
    texel_square square = square_around(width, height, u, v);
    square_sample(&square, image, channels, values);
}

/* Leave out texels whose centre is outside of islands; false when all are. */
static bool keep_insides(texel_square *square, const cutis_texel *texels)
{
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        const cutis_texel *texel = &texels[square->texels[k]];
        if (texel->triangle < 0 || texel->distance != 0) square->shares[k] = 0;
        sum += square->shares[k];
    }
    for (int k = 0; k < 4 && sum > 0; k++) square->shares[k] /= sum;
    return sum > 0;
}

cutis_result cutis_texture_extend(const cutis_character *character, const cutis_texel *texels, int width, int height,
                                  int channels, const cutis_allocator *allocator, float *image, cutis_error *error)
{
    size_t count = (size_t)width * (size_t)height, size = count * (size_t)channels;

    float *filled = memory_allocate(allocator, size, sizeof *filled);
    if (!filled) return error_memory(error, "texture");

    /* borders are sampled beyond their seam, where interpolation reads borders too: first without these, then with */
    for (int pass = 0; pass < 3; pass++) {
        memcpy(filled, image, size * sizeof *filled);
        for (size_t i = 0; i < count; i++) {
            const cutis_texel *texel = &texels[i];
            if (texel->triangle < 0 || !(texel->distance > 0)) continue;

            /* where it is in the other island */
            double uv[2] = {0, 0};
            for (int k = 0; k < 3; k++) {
                const float *own = character->texcoords + 2 * character->triangle_corners[3 * texel->triangle + k];
                uv[0] += (double)texel->weights[k] * (double)own[0];
                uv[1] += (double)texel->weights[k] * (double)own[1];
            }

            texel_square square = square_around(width, height, uv[0], uv[1]);
            if (pass > 0 || keep_insides(&square, texels))
                square_sample(&square, image, channels, filled + i * (size_t)channels);
        }
        memcpy(image, filled, size * sizeof *filled);
    }

    memory_release(allocator, filled, size, sizeof *filled);
    return CUTIS_OK;
}
