/*
 * wrinkle.c: wrinkles of a motion as a normal map, a height map and the share of them that each frame shows.
 *
 * Skin that is pressed together by a share e of its length takes up that share in waves: a sine of wavelength l and
 * amplitude l sqrt(e (1 + 3/4 e)) / pi is longer than its base by e, to third order. The direction across the waves is
 * that of the strongest compression of the whole motion at each point, so that wrinkles stay where they are in the skin
 * and only grow and fade. The phase of the waves is one number a point: each takes the mean of those that its
 * neighbours foretell by their direction, as in the stripe patterns of Knoeppel, Crane, Pinkall and Schroeder 2015, but
 * by sweeps from the strongest compression on instead of an eigenvalue problem. Directions have no sign: a neighbour
 * that points the other way counts with its phase turned round.
 */
#include <math.h>
#include <string.h>

#include "cutis/texture.h"
#include "mesh/mesh.h"

enum { SWEEPS = 20 };

/* A larger share is a fold that closes, whose slope no height over the surface has; the rest of it is not seen. */
static const double largest_excess = 0.25;

static const double pi = 3.14159265358979323846;

typedef struct wrinkle_field {
    const cutis_character *character;
    double wave;             /* radians a file unit */
    double *excess;          /* (point_count) largest share that is taken up */
    double (*directions)[3]; /* (point_count) unit, or zero */
    double *phases;          /* (point_count) */
    int *order;              /* (point_count) in which phases are found */
} wrinkle_field;

static double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The share of skin that is seen as waves: what it bears without buckling is not. */
static double fold_length(const float *fold, double buckling)
{
    double x = (double)fold[0], y = (double)fold[1], z = (double)fold[2];
    double length = sqrt(x * x + y * y + z * z);
    return length < 1e3 ? fmin(fmax(length - buckling, 0), largest_excess) : 0;
}

/* The strongest direction of a point over all frames: that of the sum of the folds' squares, by repeated squaring. */
static void find_direction(const float *folds, int frame_count, int vertex_count, int vertex, double buckling,
                           double *excess, double direction[3])
{
    double sum[3][3] = {{0}};

    *excess = 0;

    /* sum of the folds' outer products, and the strongest fold */
    for (int f = 0; f < frame_count; f++) {
        const float *fold = folds + 3 * ((size_t)f * (size_t)vertex_count + (size_t)vertex);
        double length = fold_length(fold, buckling);
        if (!(length > 0)) continue;
        *excess = fmax(*excess, length);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) sum[a][b] += (double)fold[a] * (double)fold[b] / length;
    }

    /* the matrix to the power of 64, whose largest column is the direction */
    for (int power = 0; power < 6; power++) {
        double trace = sum[0][0] + sum[1][1] + sum[2][2], square[3][3];
        if (!(trace > 0)) break;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                square[a][b] =
                    (sum[a][0] * sum[0][b] + sum[a][1] * sum[1][b] + sum[a][2] * sum[2][b]) / (trace * trace);
        memcpy(sum, square, sizeof sum);
    }

    int k = sum[0][0] >= sum[1][1] && sum[0][0] >= sum[2][2] ? 0 : sum[1][1] >= sum[2][2] ? 1 : 2;
    const double column[3] = {sum[0][k], sum[1][k], sum[2][k]};
    double length = sqrt(dot3(column, column));

    for (int e = 0; e < 3; e++) direction[e] = length > 0 ? column[e] / length : 0;
}

/* The order in which phases are found: from the strongest point of every part of the surface outwards. */
static void order_points(const wrinkle_field *field, const mesh *m, uint8_t *known)
{
    int count = 0;
    for (int done = 0; done < m->point_count;) {
        /* the strongest of what is left */
        int seed = -1;
        for (int i = 0; i < m->point_count; i++)
            if (!known[i] && (seed < 0 || field->excess[i] > field->excess[seed])) seed = i;
        known[seed] = 1;
        field->order[count++] = seed;

        /* and all that hangs together with it */
        for (; done < count; done++) {
            int i = field->order[done];
            for (int n = m->point_neighbour_first[i]; n < m->point_neighbour_first[i + 1]; n++) {
                int j = m->point_neighbours[n];
                if (known[j]) continue;
                known[j] = 1;
                field->order[count++] = j;
            }
        }
    }

    memset(known, 0, (size_t)m->point_count);
}

/* The phase that point `from` foretells at a place x, seen along `direction`. */
static double foretell(const wrinkle_field *field, int from, const double x[3], const double direction[3])
{
    const float *at = field->character->positions + 3 * field->character->point_vertices[from];
    const double *own = field->directions[from];
    double sign = dot3(own, direction) < 0 ? -1 : 1, phase = field->phases[from];
    for (int e = 0; e < 3; e++) phase += field->wave * own[e] * (x[e] - (double)at[e]);
    return sign * phase;
}

/* Phases: each point takes the mean of what its neighbours foretell; in the first sweep, those before it. */
static void find_phases(const wrinkle_field *field, const mesh *m, uint8_t *known)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int k = 0; k < m->point_count; k++) {
            int i = field->order[k];

            const float *own = field->character->positions + 3 * field->character->point_vertices[i];
            const double x[3] = {(double)own[0], (double)own[1], (double)own[2]};
            double real = 0, imaginary = 0;

            /* mean of what the neighbours foretell, as a complex number */
            for (int n = m->point_neighbour_first[i]; n < m->point_neighbour_first[i + 1]; n++) {
                int j = m->point_neighbours[n];
                if (!known[j]) continue;
                double phase = foretell(field, j, x, field->directions[i]);
                double share = field->excess[j] + 1e-6;
                real += share * det_cos(phase);
                imaginary += share * det_sin(phase);
            }

            if (real != 0 || imaginary != 0) field->phases[i] = det_atan2(imaginary, real);
            known[i] = 1;
        }
    }
}

/* The wave at a place of a triangle: height, and its slope as a vector along the surface. */
static double wave_at(const wrinkle_field *field, const int points[3], const float weights[3], double slope[3])
{
    /* the place, and the strongest corner, which tells the sign */
    const cutis_character *c = field->character;
    double x[3] = {0, 0, 0}, excess = 0, strongest = -1, real = 0, imaginary = 0, mean[3] = {0, 0, 0};
    const double *reference = field->directions[points[0]];
    for (int k = 0; k < 3; k++) {
        const float *at = c->positions + 3 * c->point_vertices[points[k]];
        double share = (double)weights[k] * field->excess[points[k]];
        for (int e = 0; e < 3; e++) x[e] += (double)weights[k] * (double)at[e];

        excess += share;
        if (share <= strongest) continue;
        strongest = share;
        reference = field->directions[points[k]];
    }

    /* the corners' waves together */
    for (int k = 0; k < 3; k++) {
        double phase = foretell(field, points[k], x, reference), share = (double)weights[k];
        double sign = dot3(field->directions[points[k]], reference) < 0 ? -share : share;
        real += share * det_cos(phase);
        imaginary += share * det_sin(phase);
        for (int e = 0; e < 3; e++) mean[e] += sign * field->directions[points[k]][e];
    }

    /* where corners disagree, the wave fades */
    double strength = sqrt(real * real + imaginary * imaginary);
    double scale = strength > 0 ? fmin(2 * strength, 1) / strength : 0;
    double amplitude = 2 * sqrt(excess * (1 + 0.75 * excess)) / field->wave;
    double length = sqrt(dot3(mean, mean));
    for (int e = 0; e < 3; e++)
        slope[e] = length > 0 ? -amplitude * field->wave * scale * imaginary * mean[e] / length : 0;

    return amplitude * scale * real;
}

/* The unit normal in the tangent space of a triangle: x along u, y against v. */
static void tangent_normal(const cutis_character *c, int t, const double slope[3], float normal[3])
{
    const float *p[3], *uv[3];
    for (int k = 0; k < 3; k++) {
        p[k] = c->positions + 3 * c->triangles[3 * t + k];
        uv[k] = c->texcoords + 2 * c->triangle_corners[3 * t + k];
    }

    /* tangent of the texture's u */
    double u1 = (double)uv[1][0] - (double)uv[0][0], v1 = (double)uv[1][1] - (double)uv[0][1];
    double u2 = (double)uv[2][0] - (double)uv[0][0], v2 = (double)uv[2][1] - (double)uv[0][1];

    double det = u1 * v2 - u2 * v1, along[3], across[3], e1[3], e2[3];
    for (int e = 0; e < 3; e++) {
        e1[e] = (double)p[1][e] - (double)p[0][e];
        e2[e] = (double)p[2][e] - (double)p[0][e];
        along[e] = det < 0 ? v1 * e2[e] - v2 * e1[e] : v2 * e1[e] - v1 * e2[e];
    }

    /* the second axis at right angles to the first, on the side against v; a mirrored texture has it on the other */
    const double n[3] = {e1[1] * e2[2] - e1[2] * e2[1], e1[2] * e2[0] - e1[0] * e2[2], e1[0] * e2[1] - e1[1] * e2[0]};
    double sign = det < 0 ? 1 : -1;
    for (int e = 0; e < 3; e++) {
        int f = (e + 1) % 3, g = (e + 2) % 3;
        across[e] = sign * (n[f] * along[g] - n[g] * along[f]);
    }

    double a = sqrt(dot3(along, along)), b = sqrt(dot3(across, across));
    double x = a > 0 ? -dot3(slope, along) / a : 0, y = b > 0 ? -dot3(slope, across) / b : 0;

    double length = sqrt(1 + x * x + y * y);
    normal[0] = (float)(x / length);
    normal[1] = (float)(y / length);
    normal[2] = (float)(1 / length);
}

cutis_result cutis_texture_wrinkles(const cutis_character *character, const cutis_texel *texels, int width, int height,
                                    const float *folds, int frame_count, double wavelength, double buckling,
                                    const cutis_allocator *allocator, float *normals, float *heights, float *weights,
                                    cutis_error *error)
{
    const cutis_character *c = character;

    if (!(wavelength > 0 && buckling >= 0))
        return error_set(error, CUTIS_ERROR_ARGUMENT,
                         "the wavelength must be positive, and buckling must not be negative");

    arena memory = arena_create(allocator);
    mesh m;

    cutis_result result = mesh_build_character(&m, c, &memory, error);
    wrinkle_field field = {.character = c, .wave = 2 * pi / wavelength};

    size_t points = (size_t)c->point_count;
    field.excess = ARENA_ARRAY(&memory, double, points);
    field.directions = arena_push(&memory, points, sizeof *field.directions);
    field.phases = ARENA_ARRAY(&memory, double, points);
    field.order = ARENA_ARRAY(&memory, int, points);
    uint8_t *known = ARENA_ARRAY(&memory, uint8_t, points);

    if (result == CUTIS_OK && memory.failed) result = error_memory(error, "wrinkles");
    if (result == CUTIS_OK) {
        /* where the motion presses most, and the waves of it */
        for (int i = 0; i < c->point_count; i++)
            find_direction(folds, frame_count, c->vertex_count, c->point_vertices[i], buckling, &field.excess[i],
                           field.directions[i]);
        order_points(&field, &m, known);
        find_phases(&field, &m, known);

        for (size_t i = 0; i < (size_t)width * (size_t)height && (normals || heights); i++) {
            const cutis_texel *texel = &texels[i];

            double slope[3] = {0, 0, 0}, own = 0;
            float flat[3] = {0, 0, 1};
            if (texel->triangle >= 0) {
                int corners[3];
                for (int k = 0; k < 3; k++) corners[k] = c->vertex_points[c->triangles[3 * texel->triangle + k]];
                own = wave_at(&field, corners, texel->weights, slope);
                tangent_normal(c, texel->island, slope, flat);
            }

            if (normals) memcpy(normals + 3 * i, flat, sizeof flat);
            if (heights) heights[i] = (float)own;
        }

        /* how much of them is seen */
        for (int f = 0; f < frame_count && weights; f++) {
            for (int v = 0; v < c->vertex_count; v++) {
                size_t at = (size_t)f * (size_t)c->vertex_count + (size_t)v;
                double most = field.excess[c->vertex_points[v]];
                weights[at] = most > 0 ? (float)sqrt(fold_length(folds + 3 * at, buckling) / most) : 0;
            }
        }
    }

    arena_destroy(&memory);
    return result;
}
