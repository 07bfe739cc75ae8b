/*
 * heat.c: bone heat. Baran, Popovic 2007, "Automatic rigging and animation of 3D characters", section 4.
 *
 * The surface is an insulated conductor; the nearest visible bone j heats point i to 1, all others to 0, with the
 * coefficient H_i = c / d(i)^2, c = 1. The equilibrium -Laplace(w_j) + H w_j = H p_j becomes, with cotangents and
 * mixed areas A, (L + A H) w_j = A H p_j: one symmetric positive definite matrix, factored once, and one right-hand
 * side a joint.
 *
 * Departures: a bone that is hidden is not an end of the matter: the nearest VISIBLE one of the CANDIDATES nearest is
 * taken (as Blender does), since a thin arm near a thick body often has a hidden bone closest. With a solid of the body
 * at hand, bones end beyond their own thickness (candidates_find). A joint without points
 * of its own needs no solve. Right-hand sides are solved in blocks, so that the factor is read once for many.
 *
 * AMD and LDL are serial and take no part in threads; amd_order uses malloc for its own workspace.
 */
#include <string.h>
#include <suitesparse/amd.h>
#include <suitesparse/ldl.h>

#include "rig/rigging.h"

enum { CANDIDATES = 4, SHARED = 4, BLOCK = 8, GRAIN = 256 };

/* The least cotangent weight of an edge: the matrix stays positive definite, and weights between 0 and 1. */
static const double LEAST_FLOW = 1e-3;

/* A bone that is this many times as far as the nearest one serves a point only because that one is hidden. */
static const float DIRECT = 1.4f;

typedef struct source {
    float heat;         /* H, 1 / distance^2; 0 when nothing is visible */
    int count;          /* joints that share it */
    int joints[SHARED]; /* equally near */
    bool direct;        /* no bone is much nearer that is hidden */
} source;

typedef struct seek {
    const rig_body *body;
    source *sources;
} seek;

/* Whether bone point q sees surface point p through the inside. */
static bool visible(const rig_body *body, int point, vec3 p, vec3 q)
{
    vec3 way = vec3_sub(q, p);
    float distance = vec3_length(way), skip = 1e-4f * body->size;
    int component = body->mesh->point_component[point];
    if (distance <= skip) return true;
    if (body->mesh->component_closed[component]) {
        vec3 normal = vec3_load(body->normals + 3 * point);
        float along = vec3_dot(way, normal);
        if (body->component_inverted[component]) along = -along;
        if (along > 0.2f * distance) return false; /* it would leave the body; sharp tips are forgiven a little */
    }
    return bvh_ray(body->tree, body->mesh->positions, p, way, skip / distance, 0.999f).triangle < 0;
}

/* Bones near a point, by their order. */
typedef struct candidates {
    int count;
    int bones[CANDIDATES];
    float orders[CANDIDATES];    /* squared distance, or how far the point lies beyond the bone's own thickness */
    float distances[CANDIDATES]; /* squared */
} candidates;

/* The radius of the ball around the place of bone b that is nearest to a point. */
static float bone_radius(const rig_body *body, int b, vec3 closest)
{
    const rig_bone *bone = &body->bones[b];
    const float *radii = body->bone_radii + b * RIG_BONE_RADII;
    vec3 along = vec3_sub(bone->b, bone->a);
    float length2 = vec3_length2(along);
    float t = length2 > 0 ? vec3_dot(vec3_sub(closest, bone->a), along) / length2 * (RIG_BONE_RADII - 1) : 0;
    int k = CLAMP((int)t, 0, RIG_BONE_RADII - 2);
    return radii[k] + (radii[k + 1] - radii[k]) * (t - (float)k);
}

/*
 * The nearest bones, by insertion; equal ones keep the order of the bones. Where the solid tells how thick the body is
 * around them, a bone that the point lies farther beyond than beyond the nearest one counts as farther away, as in
 * voxel.c.
 */
static void candidates_find(const rig_body *body, vec3 p, candidates *near)
{
    /* how far the nearest ball is; bones beyond the room for them are looked at twice */
    enum { KEPT = 128 };
    float distances[KEPT], radii[KEPT], nearest = INFINITY;
    for (int b = 0; b < body->bone_count && body->bone_radii; b++) {
        vec3 closest = rig_bone_closest(&body->bones[b], p);
        float distance = vec3_length2(vec3_sub(closest, p));
        float radius = bone_radius(body, b, closest);
        nearest = MIN(nearest, sqrtf(distance) - radius);
        if (b >= KEPT) continue;
        distances[b] = distance;
        radii[b] = radius;
    }

    near->count = 0;
    for (int b = 0; b < body->bone_count; b++) {
        bool kept = body->bone_radii && b < KEPT;
        vec3 closest = kept ? p : rig_bone_closest(&body->bones[b], p);
        float distance = kept ? distances[b] : vec3_length2(vec3_sub(closest, p));
        float order = distance;
        if (body->bone_radii) {
            float radius = kept ? radii[b] : bone_radius(body, b, closest);
            float over = (sqrtf(distance) - radius - nearest) / MAX(radius, 1e-6f * body->size);
            order *= 1 + over * over * over * over;
        }
        if (near->count == CANDIDATES && order >= near->orders[CANDIDATES - 1]) continue;

        int k = near->count < CANDIDATES ? near->count++ : CANDIDATES - 1;
        for (; k > 0 && near->orders[k - 1] > order; k--) {
            near->orders[k] = near->orders[k - 1];
            near->distances[k] = near->distances[k - 1];
            near->bones[k] = near->bones[k - 1];
        }
        near->orders[k] = order;
        near->distances[k] = distance;
        near->bones[k] = b;
    }
}

static void sources_find(void *context, int begin, int end)
{
    const seek *s = context;
    const rig_body *body = s->body;
    for (int point = begin; point < end; point++) {
        vec3 p = vec3_load(body->mesh->positions + 3 * point);
        source *found = &s->sources[point];
        found->heat = 0;
        found->count = 0;
        found->direct = false;
        candidates near;
        candidates_find(body, p, &near);

        /* the first visible one, and those as near as it */
        float limit = INFINITY;
        for (int k = 0; k < near.count; k++) {
            if (near.orders[k] > limit) break;
            const rig_bone *bone = &body->bones[near.bones[k]];
            if (limit == INFINITY && !visible(body, point, p, rig_bone_closest(bone, p))) continue;

            if (limit == INFINITY) {
                float floor2 = 1e-8f * body->size * body->size; /* a bone on the surface would be infinitely hot */
                found->heat = 1 / MAX(near.distances[k], floor2);
                limit = near.orders[k] * 1.0002f;
                found->direct = near.distances[k] < DIRECT * DIRECT * near.distances[0];
            }

            bool known = false;
            for (int j = 0; j < found->count; j++) known = known || found->joints[j] == bone->joint;
            if (!known && found->count < SHARED) found->joints[found->count++] = bone->joint;
        }
    }
}

static double cotangent(vec3 a, vec3 b)
{
    double sine = vec3_length(vec3_cross(a, b)), cosine = vec3_dot(a, b);
    double scale = sqrt((double)vec3_length2(a) * vec3_length2(b));
    if (!(sine > 1e-6 * scale)) return 0; /* a sliver says nothing */
    return cosine / sine;
}

typedef struct heat_system {
    int n, entries;
    int *row_of;   /* (point_count) unknown of a point, -1 when its component is cold */
    int *point_of; /* (n) */
    int *columns, *rows;
    double *values;
    int *factor_columns, *factor_rows, *order, *inverse;
    double *factor, *diagonal;
} heat_system;

/* The full matrix L + A H, rows ascending in each column (the neighbours of a point are). */
static void matrix_fill(const rig_body *body, const source *sources, const float *areas, heat_system *s)
{
    const mesh *m = body->mesh;
    int at = 0;

    for (int k = 0; k < s->n; k++) {
        int p = s->point_of[k], diagonal = -1;
        double sum = 0;
        s->columns[k] = at;

        for (int e = m->point_neighbour_first[p]; e < m->point_neighbour_first[p + 1]; e++) {
            int q = m->point_neighbours[e];
            double weight = 0;

            /* Both (or all, on a non-manifold edge) triangles at the edge p q. */
            for (int i = m->point_triangle_first[p]; i < m->point_triangle_first[p + 1]; i++) {
                const int *t = m->triangles + 3 * m->point_triangles[i];
                int other = -1;
                if (t[0] != q && t[1] != q && t[2] != q) continue;
                for (int c = 0; c < 3; c++)
                    if (t[c] != p && t[c] != q) other = t[c];
                vec3 o = vec3_load(m->positions + 3 * other);
                weight += 0.5 * cotangent(vec3_sub(vec3_load(m->positions + 3 * p), o),
                                          vec3_sub(vec3_load(m->positions + 3 * q), o));
            }

            /* slivers and obtuse pairs would let heat flow uphill, or nowhere */
            weight = MAX(weight, LEAST_FLOW);
            if (diagonal < 0 && q > p) diagonal = at++;
            s->rows[at] = s->row_of[q];
            s->values[at++] = -weight;
            sum += weight;
        }

        if (diagonal < 0) diagonal = at++;
        s->rows[diagonal] = k;
        s->values[diagonal] = sum + (double)areas[p] * sources[p].heat;
    }

    s->columns[s->n] = at;
}

/* x = inverse(L D L') b for BLOCK right-hand sides side by side, in the order of elimination. */
static void block_solve(const heat_system *s, double (*x)[BLOCK])
{
    /* forward, with L */
    for (int j = 0; j < s->n; j++) {
        const double *from = x[j];
        for (int p = s->factor_columns[j]; p < s->factor_columns[j + 1]; p++) {
            double *to = x[s->factor_rows[p]], l = s->factor[p];
            for (int k = 0; k < BLOCK; k++) to[k] -= l * from[k];
        }
    }

    /* back, with D and L' */
    for (int j = s->n - 1; j >= 0; j--) {
        double *to = x[j], sum[BLOCK];
        for (int k = 0; k < BLOCK; k++) sum[k] = to[k] / s->diagonal[j];
        for (int p = s->factor_columns[j]; p < s->factor_columns[j + 1]; p++) {
            const double *from = x[s->factor_rows[p]];
            double l = s->factor[p];
            for (int k = 0; k < BLOCK; k++) sum[k] -= l * from[k];
        }

        for (int k = 0; k < BLOCK; k++) to[k] = sum[k];
    }
}

typedef struct solve_job {
    const heat_system *system;
    const source *sources;
    const float *areas;
    const int *joints; /* (block_count x BLOCK), -1 filled up */
    double (*x)[BLOCK];
    float *heat; /* (n x columns): temperature of every solved joint */
    int columns;
} solve_job;

static void blocks_solve(void *context, int begin, int end)
{
    const solve_job *job = context;
    const heat_system *s = job->system;
    for (int block = begin; block < end; block++) {
        double(*x)[BLOCK] = job->x + (size_t)block * (size_t)s->n;
        const int *joints = job->joints + block * BLOCK;

        /* right-hand sides: the heat that each joint gives a point */
        for (int k = 0; k < s->n; k++) {
            int p = s->point_of[s->order[k]];
            const source *from = &job->sources[p];
            double flow = from->count ? (double)job->areas[p] * from->heat / from->count : 0;
            for (int c = 0; c < BLOCK; c++) {
                x[k][c] = 0;
                for (int i = 0; i < from->count; i++)
                    if (from->joints[i] == joints[c]) x[k][c] = flow;
            }
        }

        block_solve(s, x);
        for (int k = 0; k < s->n; k++)
            for (int c = 0; c < BLOCK; c++)
                job->heat[(size_t)s->order[k] * (size_t)job->columns + (size_t)(block * BLOCK + c)] = (float)x[k][c];
    }
}

/* Order by AMD, factor by LDL. */
static cutis_result matrix_factor(heat_system *s, arena *scratch, arena *memory, cutis_error *error)
{
    int n = s->n;
    int *parent = ARENA_ARRAY(scratch, int, n), *counts = ARENA_ARRAY(scratch, int, n);
    int *flags = ARENA_ARRAY(scratch, int, n), *pattern = ARENA_ARRAY(scratch, int, n);
    double *work = ARENA_ARRAY(scratch, double, n);

    s->order = ARENA_ARRAY(memory, int, n);
    s->inverse = ARENA_ARRAY(memory, int, n);
    s->factor_columns = ARENA_ARRAY(memory, int, n + 1);
    s->diagonal = ARENA_ARRAY(memory, double, n);
    if (scratch->failed || memory->failed) return error_memory(error, "bone heat");

    /* fill-reducing order, then the factors */
    if (amd_order(n, s->columns, s->rows, s->order, NULL, NULL) < 0) return error_memory(error, "bone heat");
    ldl_symbolic(n, s->columns, s->rows, s->factor_columns, parent, counts, flags, s->order, s->inverse);
    s->factor_rows = ARENA_ARRAY(memory, int, s->factor_columns[n] + 1);
    s->factor = ARENA_ARRAY(memory, double, s->factor_columns[n] + 1);
    if (memory->failed) return error_memory(error, "bone heat");

    int done = ldl_numeric(n, s->columns, s->rows, s->values, s->factor_columns, parent, counts, s->factor_rows,
                           s->factor, s->diagonal, work, pattern, flags, s->order, s->inverse);
    if (done != n) return error_set(error, CUTIS_ERROR_DATA, "bone heat: the surface gives a singular matrix");
    return CUTIS_OK;
}

/* The joints that heat something, ascending, filled up with -1 to whole blocks. Returns the number of blocks. */
static int joints_used(const rig_body *body, const source *sources, bool *used, int *joints)
{
    int count = 0;
    memset(used, 0, (size_t)body->joint_count * sizeof *used);
    for (int p = 0; p < body->mesh->point_count; p++)
        for (int i = 0; i < sources[p].count; i++) used[sources[p].joints[i]] = true;
    for (int j = 0; j < body->joint_count; j++)
        if (used[j]) joints[count++] = j;
    while (count % BLOCK) joints[count++] = -1;
    return count / BLOCK;
}

static cutis_result solve_warm(const rig_body *body, const source *sources, heat_system *s, arena *memory,
                               rig_influences *influences, cutis_error *error)
{
    const mesh *m = body->mesh;
    int joint_count = body->joint_count;

    float *areas = ARENA_ARRAY(memory, float, m->point_count);
    bool *used = ARENA_ARRAY(memory, bool, joint_count);
    int *joints = ARENA_ARRAY(memory, int, joint_count + BLOCK);
    double *values = ARENA_ARRAY(memory, double, joint_count);

    /* room for the matrix */
    s->entries = 0;
    for (int k = 0; k < s->n; k++) {
        int p = s->point_of[k];
        s->entries += 1 + m->point_neighbour_first[p + 1] - m->point_neighbour_first[p];
    }

    s->columns = ARENA_ARRAY(memory, int, s->n + 1);
    s->rows = ARENA_ARRAY(memory, int, s->entries);
    s->values = ARENA_ARRAY(memory, double, s->entries);
    if (memory->failed) return error_memory(error, "bone heat");

    mesh_point_areas(m, m->positions, areas);
    matrix_fill(body, sources, areas, s);
    arena scratch = arena_create(&memory->allocator);
    cutis_result result = matrix_factor(s, &scratch, memory, error);
    arena_destroy(&scratch);
    if (result != CUTIS_OK) return result;

    /* one column for each joint that heats anything */
    int blocks = joints_used(body, sources, used, joints);
    solve_job job = {s, sources, areas, joints, NULL, NULL, blocks * BLOCK};
    job.x = arena_push(memory, (size_t)blocks * (size_t)s->n, sizeof *job.x);
    job.heat = ARENA_ARRAY(memory, float, (size_t)s->n *(size_t)job.columns);
    if (memory->failed) return error_memory(error, "bone heat");

    /* blocks of right-hand sides, then the weights of each point */
    parallel_for(body->jobs, blocks, 1, blocks_solve, &job);
    for (int k = 0; k < s->n; k++) {
        memset(values, 0, (size_t)joint_count * sizeof *values);
        for (int c = 0; c < job.columns; c++)
            if (joints[c] >= 0) values[joints[c]] = job.heat[(size_t)k * (size_t)job.columns + (size_t)c];
        rig_influences_set(influences, s->point_of[k], values, joint_count);
    }

    return CUTIS_OK;
}

cutis_result heat_weights(const rig_body *body, const cutis_allocator *allocator, rig_influences *influences,
                          uint8_t *component_served, float *visible_share, cutis_error *error)
{
    const mesh *m = body->mesh;
    arena memory = arena_create(allocator);

    source *sources = ARENA_ARRAY(&memory, source, m->point_count);
    int *totals = ARENA_ARRAY(&memory, int, m->component_count);
    heat_system s = {.row_of = ARENA_ARRAY(&memory, int, m->point_count),
                     .point_of = ARENA_ARRAY(&memory, int, m->point_count)};
    cutis_result result = CUTIS_OK;
    if (memory.failed) {
        result = error_memory(error, "bone heat");
    } else {
        /* the bones that each point sees */
        seek work = {body, sources};
        parallel_for(body->jobs, m->point_count, GRAIN, sources_find, &work);

        /* how much of each component sees a bone */
        for (int c = 0; c < m->component_count; c++) {
            visible_share[c] = 0;
            component_served[c] = 0;
        }
        for (int p = 0; p < m->point_count; p++) {
            totals[m->point_component[p]]++;
            if (sources[p].direct) visible_share[m->point_component[p]]++;
            if (sources[p].count) component_served[m->point_component[p]] = 1;
        }
        for (int c = 0; c < m->component_count; c++) {
            component_served[c] = component_served[c] && totals[c] > 1;
            if (totals[c]) visible_share[c] /= (float)totals[c];
        }

        /* rows of the points that heat serves */
        for (int p = 0; p < m->point_count; p++) {
            s.row_of[p] = -1;
            if (!component_served[m->point_component[p]]) continue;
            s.row_of[p] = s.n;
            s.point_of[s.n++] = p;
        }
        if (s.n > 0) result = solve_warm(body, sources, &s, &memory, influences, error);
    }

    arena_destroy(&memory);
    return result;
}
