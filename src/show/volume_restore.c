/*
 * volume_restore.c: gives a drawn mesh back the volume that its flat triangles lose in bends (see volume_restore.h).
 *
 * Newton's method on the signed volume V of a component: points move by h w n, n their normals, the directions of
 * dV/dx, and h the same for all. The weights w are how much the joints of a point turn against each other, and a small
 * share everywhere; times the edge length of the body, which follows the thickness of flesh; less where skin is
 * compressed, in the crease of a bend.
 */
#include "show/volume_restore.h"

#include <string.h>

/* Steps of Newton's method: what is left is 0.01 % of the volume, where no move is bounded. */
enum { STEPS = 2 };
/* Weight of a point whose joints do not bend; a right angle between two equal influences weighs 1. */
static const float STRAIGHT = 0.05f;
/* Error of the volume that is left, and twice this from which on all of it is taken away. */
static const double SLACK = 1e-4;
/* 0 up to 1, 1 from 2 on, smooth between. */
static double rise(double u)
{
    u = CLAMP(u - 1, 0, 1);
    return u * u * (3 - 2 * u);
}

size_t volume_restore_scratch_count(const volume_restore *f)
{
    return 6 * (size_t)f->mesh->component_count + 5 * (size_t)f->mesh->point_count;
}

/* Volumes of the components, and normals (point_count x 3) of the points: sums of the cross products around them. */
static void measure(const mesh *m, const float *points, double *volumes, float *normals)
{
    memset(volumes, 0, (size_t)m->component_count * sizeof *volumes);
    memset(normals, 0, 3 * (size_t)m->point_count * sizeof *normals);
    for (int t = 0; t < m->triangle_count; t++) {
        const int *corners = m->triangles + 3 * (size_t)t;
        vec3 origin = vec3_load(points); /* any will do, and a near one rounds least */
        vec3 a = vec3_sub(vec3_load(points + 3 * (size_t)corners[0]), origin);
        vec3 b = vec3_sub(vec3_load(points + 3 * (size_t)corners[1]), origin);
        vec3 c = vec3_sub(vec3_load(points + 3 * (size_t)corners[2]), origin);
        vec3 cross = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));

        volumes[m->point_component[corners[0]]] += (double)vec3_dot(a, cross);
        for (int k = 0; k < 3; k++) {
            float *normal = normals + 3 * (size_t)corners[k];
            vec3_store(normal, vec3_add(vec3_load(normal), cross));
        }
    }
}

/* Ties of the points that follow, to the nearest triangles that can move. */
static cutis_result find_ties(volume_restore *f, arena *scratch, arena *memory, cutis_error *error)
{
    const mesh *m = f->mesh;
    bvh tree;
    int *stays = ARENA_ARRAY(scratch, int, m->triangle_count);
    bool *flesh = ARENA_ARRAY(scratch, bool, m->component_count);
    volume_tie *ties = ARENA_ARRAY(memory, volume_tie, m->point_count);
    cutis_result result = bvh_build(&tree, m->triangle_count, m->triangles, m->positions, scratch, error);
    if (result) return result;
    if (memory->failed || scratch->failed) return error_memory(error, "a simulation body");

    /* triangles that can move */
    for (int t = 0; t < m->triangle_count; t++) {
        stays[t] = f->volumes[m->point_component[m->triangles[3 * (size_t)t]]] == 0;
        for (int k = 0; k < 3; k++) stays[t] |= !(f->gives[m->triangles[3 * (size_t)t + (size_t)k]] > 0);
    }

    /* whole pieces only: what lies deep in a union would change the volume that its own piece is filled to */
    for (int p = 0; p < m->point_count; p++) flesh[m->point_component[p]] |= f->gives[p] > 0;
    for (int p = 0; p < m->point_count; p++) {
        int first = f->joined ? f->joined[p] : p;
        if (!(f->follows[p] > 0) || flesh[m->point_component[first]]) continue;

        vec3 x = vec3_load(m->positions + 3 * (size_t)first);
        bvh_hit hit = bvh_closest_labelled(&tree, m->positions, x, INFINITY, stays, 1);
        if (hit.triangle < 0) break;

        volume_tie *tie = &ties[f->tie_count++];
        *tie = (volume_tie){.point = p, .weights = {1 - hit.u - hit.v, hit.u, hit.v}};
        memcpy(tie->corners, m->triangles + 3 * (size_t)hit.triangle, sizeof tie->corners);
        for (int k = 0; k < 3; k++) tie->weights[k] *= f->follows[p];
    }

    f->ties = ties;
    return CUTIS_OK;
}

cutis_result volume_restore_build(volume_restore *f, arena *scratch, arena *memory, cutis_error *error)
{
    const mesh *m = f->mesh;
    double *volumes = ARENA_ARRAY(memory, double, m->component_count);
    float *areas = ARENA_ARRAY(memory, float, m->point_count);
    float *normals = ARENA_ARRAY(scratch, float, 3 * (size_t)m->point_count);
    if (memory->failed || scratch->failed) return error_memory(error, "a simulation body");

    measure(m, m->positions, volumes, normals);
    for (int p = 0; p < m->point_count; p++) areas[p] = vec3_length2(vec3_load(normals + 3 * (size_t)p));
    for (int i = 0; i < m->component_count; i++)
        if (!m->component_closed[i]) volumes[i] = 0;

    f->areas = areas;
    f->volumes = volumes;
    return find_ties(f, scratch, memory, error);
}

/* How much the joints of a vertex turn against each other: the variance of their matrices by skin weight. */
static float vertex_bend(const cutis_character *c, int vertex, const float *skin)
{
    float mean[12] = {0}, squares = 0, total = 0;
    if (!c->influence_first) return 0;
    for (int k = c->influence_first[vertex]; k < c->influence_first[vertex + 1]; k++) {
        const float *matrix = skin + 12 * (size_t)c->influence_joints[k];
        float weight = c->influence_weights[k];
        total += weight;
        for (int i = 0; i < 12; i++) {
            if (i % 4 == 3) continue; /* where a joint is does not count */
            mean[i] += weight * matrix[i];
            squares += weight * matrix[i] * matrix[i];
        }
    }

    float bend = total * squares;
    for (int i = 0; i < 12; i++) bend -= mean[i] * mean[i];
    return MAX(bend, 0.0f);
}

/* How much larger the joints of a vertex make it: the mean of their determinants. */
static float vertex_scale(const cutis_character *c, int vertex, const float *skin)
{
    float scale = 0;
    if (!c->influence_first) return 1;
    for (int k = c->influence_first[vertex]; k < c->influence_first[vertex + 1]; k++) {
        const float *matrix = skin + 12 * (size_t)c->influence_joints[k];
        vec3 x = vec3_load(matrix), y = vec3_load(matrix + 4), z = vec3_load(matrix + 8);
        scale += c->influence_weights[k] * vec3_dot(x, vec3_cross(y, z));
    }
    return scale;
}

/* The volume of each component over that at rest, as far as joints scale it; 1: at a component without points. */
static void find_scales(const volume_restore *f, const float *skin, double *sums, double *scales)
{
    const mesh *m = f->mesh;
    memset(sums, 0, (size_t)m->component_count * sizeof *sums);
    memset(scales, 0, (size_t)m->component_count * sizeof *scales);
    for (int p = 0; p < m->point_count; p++) {
        int component = m->point_component[p];
        double area = (double)sqrtf(f->areas[p]);
        sums[component] += area;
        scales[component] += area * (double)vertex_scale(f->character, f->character->point_vertices[p], skin);
    }

    for (int i = 0; i < m->component_count; i++) scales[i] = sums[i] > 0 ? scales[i] / sums[i] : 1;
}

static void point_move(float *x, vec3 move, float share) { vec3_store(x, vec3_madd(vec3_load(x), move, share)); }

void volume_restore_run(const volume_restore *f, const float *skin, float *scratch, float *points)
{
    const mesh *m = f->mesh;
    double *volumes = (double *)scratch, *slopes = volumes + m->component_count, *scales = slopes + m->component_count;
    float *bends = (float *)(scales + m->component_count), *ways = bends + m->point_count;
    float *normals = ways + m->point_count;
    find_scales(f, skin, slopes, scales);

    for (int p = 0; p < m->point_count; p++) {
        bool stays = !(f->gives[p] > 0) || f->volumes[m->point_component[p]] == 0;
        int vertex = f->character->point_vertices[p];
        bends[p] = stays ? 0 : f->gives[p] * (STRAIGHT + vertex_bend(f->character, vertex, skin));
    }

    for (int step = 0; step < STEPS; step++) {
        measure(m, points, volumes, normals);

        /* ways, less where skin is compressed or folds, and the volume that they add */
        memset(slopes, 0, (size_t)m->component_count * sizeof *slopes);
        for (int p = 0; p < m->point_count; p++) {
            float area = vec3_length2(vec3_load(normals + 3 * (size_t)p));
            ways[p] = area > 0 ? bends[p] * area / (area + f->areas[p]) : 0;
            slopes[m->point_component[p]] += (double)(ways[p] * sqrtf(area));
        }

        /* how far each component goes */
        for (int i = 0; i < m->component_count; i++) {
            double lost = scales[i] * f->volumes[i] - volumes[i];
            double part = f->volumes[i] != 0 ? rise(fabs(lost / f->volumes[i]) / SLACK) : 0;
            slopes[i] = slopes[i] > 0 ? part * lost / slopes[i] : 0;
        }

        /* moves in place of normals; no point goes further than it may */
        for (int p = 0; p < m->point_count; p++) {
            float way = (float)slopes[m->point_component[p]] * ways[p];
            float far = fabsf(way) > 0 ? way / f->gives[p] : 0;
            vec3 normal = vec3_normalize(vec3_load(normals + 3 * (size_t)p));
            vec3_store(normals + 3 * (size_t)p, vec3_scale(normal, fabsf(way) > 0 ? way / sqrtf(1 + far * far) : 0));
        }

        /* both sides of a crack go alike, and what lies on flesh goes with it */
        for (int p = 0; p < m->point_count; p++) {
            vec3 move = vec3_load(normals + 3 * (size_t)(f->joined ? f->joined[p] : p));
            if (vec3_length2(move) > 0) point_move(points + 3 * (size_t)p, move, 1);
        }
        for (int i = 0; i < f->tie_count; i++) {
            const volume_tie *tie = &f->ties[i];
            for (int k = 0; k < 3; k++) {
                vec3 move = vec3_load(normals + 3 * (size_t)tie->corners[k]);
                if (vec3_length2(move) > 0) point_move(points + 3 * (size_t)tie->point, move, tie->weights[k]);
            }
        }
    }
}
