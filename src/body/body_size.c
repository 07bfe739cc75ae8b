/*
 * body_size.c: thickness and wanted edge lengths (see body_size.h).
 *
 * Thickness is the shape diameter (Shapira, Shamir, Cohen-Or 2008, "Consistent mesh partitioning and skeletonisation
 * using the shape diameter function"): the median length of rays into the surface, in a cone around the inward normal.
 */
#include "body/body_size.h"

#include <stdlib.h>

/* Rays of a point: one inwards, the others on a cone around it. */
enum { RAYS = 9, SMOOTHING = 4 };
/* Half the opening of the cone, as a slope: 40 degrees. Wider cones see along limbs, narrower ones see noise. */
static const float CONE_SLOPE = 0.84f;
/*
 * Edge lengths over thickness: pi / 10 puts ten points around a limb, and is the coarsest the budget may force. The
 * budget may ask for any number more.
 */
static const float COARSEST = 0.314f;
/* Longest edges, over the size: a belly must still be able to fold. */
static const float LONGEST = 0.04f;
/* Growth of the wanted length per unit of way along the surface: neighbours differ by a third at most. */
static const float GRADING = 0.3f;
/* Thickness in a crease, over its radius: with edges of an eighth of the thickness four or five go around a fold. */
static const float CREASE_RADII = 1.5f;
/* Shortest way over which a crease is looked at, over the size: ten cells of the lattice (body.c), whose rounding is
 * noise. */
static const float CREASE_WAY = 10.0f / 4096;

/* ---- thickness ---- */

typedef struct thickness_work {
    const surface *surface;
    const bvh *tree;
    const float *normals;
    float *thickness;
} thickness_work;

static float median(float *values, int count)
{
    /* insertion sort of a few */
    for (int i = 1; i < count; i++) {
        float v = values[i];
        int k = i;
        for (; k > 0 && values[k - 1] > v; k--) values[k] = values[k - 1];
        values[k] = v;
    }
    return count ? values[count / 2] : 0;
}

static void thickness_block(void *context, int begin, int end)
{
    /* the square and its diagonal directions, eight around */
    static const float ring[8][2] = {{1, 0},  {0.7071f, 0.7071f},   {0, 1},  {-0.7071f, 0.7071f},
                                     {-1, 0}, {-0.7071f, -0.7071f}, {0, -1}, {0.7071f, -0.7071f}};
    const thickness_work *w = context;
    for (int i = begin; i < end; i++) {
        /* a cone of rays inwards */
        vec3 inward = vec3_scale(vec3_load(w->normals + 3 * (size_t)i), -1);
        vec3 x = vec3_load(w->surface->positions + 3 * (size_t)i);
        vec3 u = vec3_orthogonal(inward);
        vec3 v = vec3_cross(inward, u);

        float lengths[RAYS];
        int count = 0;
        for (int r = 0; r < RAYS; r++) {
            vec3 way = inward;
            if (r > 0) {
                way = vec3_madd(way, u, CONE_SLOPE * ring[r - 1][0]);
                way = vec3_madd(way, v, CONE_SLOPE * ring[r - 1][1]);
            }
            way = vec3_normalize(way);

            /* leave the triangles at the point itself behind */
            bvh_hit hit = bvh_ray(w->tree, w->surface->positions, x, way, w->thickness[i], INFINITY);
            if (hit.triangle >= 0) lengths[count++] = hit.distance;
        }

        w->thickness[i] = median(lengths, count);
    }
}

cutis_result surface_thickness(const surface *s, const cutis_jobs *jobs, arena *memory, float *thickness,
                               cutis_error *error)
{
    arena scratch = arena_create(&memory->allocator);

    mesh topology;
    bvh tree;
    cutis_result result =
        mesh_build(&topology, s->point_count, s->positions, s->triangle_count, s->triangles, &scratch, error);
    if (!result) result = bvh_build(&tree, s->triangle_count, s->triangles, s->positions, &scratch, error);

    float *normals = ARENA_ARRAY(&scratch, float, 3 * (size_t)s->point_count);
    float *smooth = ARENA_ARRAY(&scratch, float, s->point_count);
    if (!result && scratch.failed) result = error_memory(error, "a simulation body");
    if (!result) {
        mesh_normals(&topology, s->positions, normals, jobs);

        /* rays begin a hundredth of the shortest edge at the point inside */
        for (int p = 0; p < s->point_count; p++) {
            float shortest = INFINITY;
            for (int k = topology.point_neighbour_first[p]; k < topology.point_neighbour_first[p + 1]; k++) {
                vec3 other = vec3_load(s->positions + 3 * (size_t)topology.point_neighbours[k]);
                float length = vec3_distance(vec3_load(s->positions + 3 * (size_t)p), other);
                if (length > 0) shortest = MIN(shortest, length);
            }
            thickness[p] = shortest < INFINITY ? 0.01f * shortest : 0;
        }

        thickness_work work = {s, &tree, normals, thickness};
        parallel_for(jobs, s->point_count, 64, thickness_block, &work);

        /* points whose rays left through a fold take their neighbours' value; then smooth */
        for (int round = 0; round < SMOOTHING; round++) {
            for (int p = 0; p < s->point_count; p++) {
                float sum = thickness[p];
                int count = thickness[p] > 0;
                for (int k = topology.point_neighbour_first[p]; k < topology.point_neighbour_first[p + 1]; k++) {
                    float other = thickness[topology.point_neighbours[k]];
                    sum += other;
                    count += other > 0;
                }
                smooth[p] = count ? sum / (float)count : 0;
            }

            for (int p = 0; p < s->point_count; p++) thickness[p] = smooth[p];
        }
    }

    arena_destroy(&scratch);
    return result;
}

cutis_result surface_creases(const surface *s, float size, const cutis_jobs *jobs, arena *memory, float *thickness,
                             cutis_error *error)
{
    arena scratch = arena_create(&memory->allocator);

    mesh topology;
    cutis_result result =
        mesh_build(&topology, s->point_count, s->positions, s->triangle_count, s->triangles, &scratch, error);
    float *normals = ARENA_ARRAY(&scratch, float, 3 * (size_t)s->point_count);
    float *bends = ARENA_ARRAY(&scratch, float, s->point_count);
    if (!result && scratch.failed) result = error_memory(error, "a simulation body");

    /* the strongest bend at each point: how fast normals turn towards each other along an edge */
    if (!result) mesh_normals(&topology, s->positions, normals, jobs);
    float shortest = CREASE_WAY * size;
    for (int e = 0; !result && e < topology.edge_count; e++) {
        size_t a = (size_t)topology.edges[2 * e], b = (size_t)topology.edges[2 * e + 1];
        vec3 way = vec3_sub(vec3_load(s->positions + 3 * b), vec3_load(s->positions + 3 * a));
        vec3 turn = vec3_sub(vec3_load(normals + 3 * a), vec3_load(normals + 3 * b));
        float bend = vec3_dot(turn, way) / MAX(vec3_length2(way), shortest * shortest);
        bends[a] = MAX(bends[a], bend);
        bends[b] = MAX(bends[b], bend);
    }

    for (int p = 0; !result && p < s->point_count; p++)
        if (bends[p] * thickness[p] > CREASE_RADII) thickness[p] = CREASE_RADII / bends[p];

    arena_destroy(&scratch);
    return result;
}

/* ---- lengths ---- */

double surface_point_estimate(const surface *s)
{
    /* an even triangle has 0.433 of its squared edge, and there are two triangles a point */
    double count = 0;
    for (int t = 0; t < s->triangle_count; t++) {
        const int *c = s->triangles + 3 * (size_t)t;
        double length = ((double)s->lengths[c[0]] + (double)s->lengths[c[1]] + (double)s->lengths[c[2]]) / 3;
        count += mesh_area(1, c, s->positions) / (0.866 * length * length);
    }
    return count;
}

/* No length more than GRADING times the way longer than that of a neighbour. */
static void grade(surface *s)
{
    for (int round = 0; round < 16; round++) {
        bool changed = false;
        for (int t = 0; t < s->triangle_count; t++) {
            const int *c = s->triangles + 3 * (size_t)t;
            for (int k = 0; k < 3; k++) {
                int a = c[k];
                int b = c[(k + 1) % 3];
                float way =
                    vec3_distance(vec3_load(s->positions + 3 * (size_t)a), vec3_load(s->positions + 3 * (size_t)b));

                /* neither longer than the other allows */
                float bound_a = s->lengths[b] + GRADING * way;
                float bound_b = s->lengths[a] + GRADING * way;
                changed |= s->lengths[a] > bound_a || s->lengths[b] > bound_b;
                s->lengths[a] = MIN(s->lengths[a], bound_a);
                s->lengths[b] = MIN(s->lengths[b], bound_b);
            }
        }

        if (!changed) break;
    }
}

static double set_lengths(surface *surfaces, float *const *thickness, int count, float share, float low, float high)
{
    double points = 0;
    for (int i = 0; i < count; i++) {
        surface *s = &surfaces[i];
        for (int p = 0; p < s->point_count; p++) s->lengths[p] = CLAMP(share * thickness[i][p], low, high);
        grade(s);
        points += surface_point_estimate(s);
    }
    return points;
}

cutis_result surface_sizes(surface *surfaces, float *const *thickness, int surface_count, int budget, float size,
                           arena *memory, cutis_error *error)
{
    for (int i = 0; i < surface_count; i++) {
        surfaces[i].lengths = ARENA_ARRAY(memory, float, surfaces[i].point_count);
        if (!surfaces[i].lengths) return error_memory(error, "a simulation body");
    }

    /* the share of the thickness that spends the budget; the coarsest one may cost more */
    float low = 1e-4f * size, high = LONGEST * size;
    float least = 0.02f, most = COARSEST;
    for (int round = 0; round < 12; round++) {
        float middle = 0.5f * (least + most);
        bool many = set_lengths(surfaces, thickness, surface_count, middle, low, high) > budget;
        if (many) {
            least = middle;
        } else {
            most = middle;
        }
    }

    if (set_lengths(surfaces, thickness, surface_count, most, low, high) <= 1.05 * budget) return CUTIS_OK;

    /* thin sheets would take any number of points: raise the shortest length until the budget holds */
    float most_low = high;
    for (int round = 0; round < 12; round++) {
        float middle = 0.5f * (low + most_low);
        bool many = set_lengths(surfaces, thickness, surface_count, most, middle, high) > budget;
        if (many) {
            low = middle;
        } else {
            most_low = middle;
        }
    }

    /* the shortest length that keeps to the budget */
    set_lengths(surfaces, thickness, surface_count, most, most_low, high);
    return CUTIS_OK;
}
