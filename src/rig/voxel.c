/*
 * voxel.c: geodesic voxel binding. Dionne, de Lasa 2013, "Geodesic voxel binding for production character meshes".
 *
 * The body is cut into voxels; distances from each bone run through solid voxels only, so that they work where a
 * surface has holes, islands or crossings. Weights fall with the fourth power of the distance (their falloff 1).
 *
 * Departures: inside is the solid of all parts (body/solid.h), on the processor, so that holes are closed and parts
 * that overlap, a head in its helmet, are one. One search spreads all bones together, and a voxel takes only the
 * nearest few, which is all that the weights need: the cost does not grow with the number of bones.
 */
#include <string.h>

#include "body/solid.h"
#include "rig/rigging.h"

enum { SLOTS = RIG_MAX_INFLUENCES };

typedef struct voxels {
    int n[3];
    size_t count;
    float h;
    vec3 origin;    /* lowest corner of voxel 0 */
    uint8_t *cells; /* 1 inside and where the surface passes */
    int *solid;     /* (count) number among the solid voxels, -1 outside */
    int solid_count;
    int *cell_of;     /* (solid_count) */
    float *distances; /* (solid_count x SLOTS) shortest ways known so far, by distance, then joint */
    int *joints;      /* (solid_count x SLOTS) */
    uint8_t *filled;  /* (solid_count) slots taken */
} voxels;

typedef struct heap_entry {
    float distance;
    int voxel, joint;
} heap_entry;

typedef struct heap {
    heap_entry *entries;
    size_t count, capacity;
    const cutis_allocator *allocator;
} heap;

static bool entry_before(heap_entry a, heap_entry b)
{
    if (a.distance != b.distance) return a.distance < b.distance;
    if (a.voxel != b.voxel) return a.voxel < b.voxel;
    return a.joint < b.joint;
}

static bool heap_push(heap *q, heap_entry entry)
{
    /* grow */
    if (q->count == q->capacity) {
        size_t capacity = q->capacity ? 2 * q->capacity : 4096;
        heap_entry *grown = memory_allocate(q->allocator, capacity, sizeof *grown);
        if (!grown) return false;
        if (q->count) memcpy(grown, q->entries, q->count * sizeof *grown);
        memory_release(q->allocator, q->entries, q->capacity, sizeof *grown);
        q->entries = grown;
        q->capacity = capacity;
    }

    /* sift up */
    size_t i = q->count++;
    for (; i > 0 && entry_before(entry, q->entries[(i - 1) / 2]); i = (i - 1) / 2)
        q->entries[i] = q->entries[(i - 1) / 2];
    q->entries[i] = entry;
    return true;
}

static heap_entry heap_pop(heap *q)
{
    heap_entry top = q->entries[0], last = q->entries[--q->count];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < q->count) {
        if (child + 1 < q->count && entry_before(q->entries[child + 1], q->entries[child])) child++;
        if (!entry_before(q->entries[child], last)) break;
        q->entries[i] = q->entries[child];
        i = child;
    }
    q->entries[i] = last;
    return top;
}

static size_t cell_index(const voxels *v, int x, int y, int z)
{
    return ((size_t)z * (size_t)v->n[1] + (size_t)y) * (size_t)v->n[0] + (size_t)x;
}

/* The voxel that holds p, clamped to the grid. */
static void cell_at(const voxels *v, vec3 p, int cell[3])
{
    const float q[3] = {(p.x - v->origin.x) / v->h, (p.y - v->origin.y) / v->h, (p.z - v->origin.z) / v->h};
    for (int k = 0; k < 3; k++) cell[k] = CLAMP((int)floorf(q[k]), 0, v->n[k] - 1);
}

static vec3 cell_centre(const voxels *v, int x, int y, int z)
{
    return (vec3){v->origin.x + ((float)x + 0.5f) * v->h, v->origin.y + ((float)y + 0.5f) * v->h,
                  v->origin.z + ((float)z + 0.5f) * v->h};
}

/* Mark the voxels that the surface passes. */
static void surface_mark(const mesh *m, voxels *v)
{
    /* voxels in the box of each triangle */
    for (int t = 0; t < m->triangle_count; t++) {
        vec3 p[3];
        int low[3], high[3];
        for (int k = 0; k < 3; k++) p[k] = vec3_load(m->positions + 3 * m->triangles[3 * t + k]);
        cell_at(v, vec3_min(p[0], vec3_min(p[1], p[2])), low);
        cell_at(v, vec3_max(p[0], vec3_max(p[1], p[2])), high);

        /* those whose cube holds the triangle's point nearest to the centre, with a margin for rounding */
        for (int z = low[2]; z <= high[2]; z++)
            for (int y = low[1]; y <= high[1]; y++)
                for (int x = low[0]; x <= high[0]; x++) {
                    float weights[3], half = 0.501f * v->h;
                    vec3 centre = cell_centre(v, x, y, z);
                    vec3 away = vec3_sub(triangle_closest(centre, p[0], p[1], p[2], weights), centre);
                    if (fabsf(away.x) <= half && fabsf(away.y) <= half && fabsf(away.z) <= half)
                        v->cells[cell_index(v, x, y, z)] = 1;
                }
    }

    /* voxels of all points, also those without triangles */
    for (int i = 0; i < m->point_count; i++) {
        int cell[3];
        cell_at(v, vec3_load(m->positions + 3 * i), cell);
        v->cells[cell_index(v, cell[0], cell[1], cell[2])] = 1;
    }
}

static cutis_result voxels_build(voxels *v, const mesh *m, int resolution, const cutis_jobs *jobs, arena *memory,
                                 cutis_error *error)
{
    vec3 low = vec3_load(m->positions), high = low;
    for (int i = 1; i < m->point_count; i++) {
        low = vec3_min(low, vec3_load(m->positions + 3 * i));
        high = vec3_max(high, vec3_load(m->positions + 3 * i));
    }

    vec3 extent = vec3_sub(high, low);
    float longest = MAX(extent.x, MAX(extent.y, extent.z));
    if (!(longest > 0)) return error_set(error, CUTIS_ERROR_DATA, "voxel weights: the mesh has no extent");

    v->h = longest / (float)resolution;
    v->n[0] = (int)ceilf(extent.x / v->h) + 2;
    v->n[1] = (int)ceilf(extent.y / v->h) + 2;
    v->n[2] = (int)ceilf(extent.z / v->h) + 2;
    v->origin = (vec3){low.x - v->h, low.y - v->h, low.z - v->h};
    v->count = (size_t)v->n[0] * (size_t)v->n[1] * (size_t)v->n[2];

    v->cells = ARENA_ARRAY(memory, uint8_t, v->count);
    v->solid = ARENA_ARRAY(memory, int, v->count);
    if (memory->failed) return error_memory(error, "voxel weights");

    /* the solid of all parts, and what the surface passes: sheets have no inside */
    solid inside;
    solid_def def = {m->point_count, m->positions, m->triangle_count, m->triangles, v->h, 2 * v->h, jobs};
    cutis_result result = solid_build(&def, memory, &inside, error);
    if (result != CUTIS_OK) return result;
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++)
                v->cells[cell_index(v, x, y, z)] = solid_sample(&inside, cell_centre(v, x, y, z)) < 0;

    surface_mark(m, v);
    for (size_t i = 0; i < v->count; i++) v->solid[i] = v->cells[i] ? v->solid_count++ : -1;

    v->cell_of = ARENA_ARRAY(memory, int, v->solid_count);
    v->distances = ARENA_ARRAY(memory, float, (size_t)v->solid_count *SLOTS);
    v->joints = ARENA_ARRAY(memory, int, (size_t)v->solid_count *SLOTS);
    v->filled = ARENA_ARRAY(memory, uint8_t, v->solid_count);
    if (memory->failed) return error_memory(error, "voxel weights");
    for (size_t i = 0; i < v->count; i++)
        if (v->solid[i] >= 0) v->cell_of[v->solid[i]] = (int)i;
    return CUTIS_OK;
}

/*
 * Keep a way to a voxel if it is one of the `slots` shortest to different joints; false if it is not. Ways only get
 * shorter, so that what is left out here can never count.
 */
static bool way_keep(voxels *v, int slots, heap_entry e)
{
    float *distances = v->distances + (size_t)e.voxel * SLOTS;
    int *joints = v->joints + (size_t)e.voxel * SLOTS;
    int at = v->filled[e.voxel];
    for (int k = 0; k < at; k++)
        if (joints[k] == e.joint) at = k;

    /* a longer way than before, or than that of each of many joints */
    bool known = at < v->filled[e.voxel];
    if (known && distances[at] <= e.distance) return false;
    if (!known && at == slots) {
        at--;
        if (distances[at] < e.distance || (distances[at] == e.distance && joints[at] < e.joint)) return false;
    } else if (!known) {
        v->filled[e.voxel]++;
    }

    /* into its place */
    for (; at > 0; at--) {
        if (distances[at - 1] < e.distance || (distances[at - 1] == e.distance && joints[at - 1] < e.joint)) break;
        distances[at] = distances[at - 1];
        joints[at] = joints[at - 1];
    }
    distances[at] = e.distance;
    joints[at] = e.joint;
    return true;
}

/* Whether a way is still the shortest of its joint to its voxel. */
static bool way_counts(const voxels *v, heap_entry e)
{
    for (int k = 0; k < v->filled[e.voxel]; k++)
        if (v->joints[e.voxel * SLOTS + k] == e.joint) return v->distances[e.voxel * SLOTS + k] == e.distance;
    return false;
}

/* Start the search in the voxels along a bone; a bone outside starts in the solid voxel nearest to its middle. */
static bool bone_seed(voxels *v, int slots, const rig_bone *bone, heap *q)
{
    int steps = (int)ceilf(vec3_distance(bone->a, bone->b) / (0.5f * v->h)) + 1, last = -1;
    bool seeded = false;

    /* steps of half a voxel; each voxel starts once */
    for (int i = 0; i <= steps; i++) {
        int cell[3];

        cell_at(v, vec3_lerp(bone->a, bone->b, (float)i / (float)steps), cell);
        int voxel = v->solid[cell_index(v, cell[0], cell[1], cell[2])];
        if (voxel < 0 || voxel == last) continue;
        last = voxel;
        seeded = true;
        heap_entry start = {0, voxel, bone->joint};
        if (way_keep(v, slots, start) && !heap_push(q, start)) return false;
    }

    if (seeded) return true;

    /* no voxel of the bone is solid: the one nearest to its middle, at that distance */
    vec3 middle = vec3_lerp(bone->a, bone->b, 0.5f);
    float best = INFINITY;
    for (int i = 0; i < v->solid_count; i++) {
        int x = v->cell_of[i] % v->n[0], y = v->cell_of[i] / v->n[0] % v->n[1], z = v->cell_of[i] / v->n[0] / v->n[1];
        float d = vec3_distance(cell_centre(v, x, y, z), middle);
        if (d < best) {
            best = d;
            last = i;
        }
    }

    heap_entry start = {best, last, bone->joint};
    return last < 0 || !way_keep(v, slots, start) || heap_push(q, start);
}

/* Spread all bones through the solid voxels, nearest first. */
static bool spread(voxels *v, int slots, heap *q)
{
    while (q->count) {
        heap_entry e = heap_pop(q);
        if (!way_counts(v, e)) continue;

        /* on to the 26 neighbours */
        int cell = v->cell_of[e.voxel];
        int x = cell % v->n[0], y = cell / v->n[0] % v->n[1], z = cell / v->n[0] / v->n[1];
        for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    static const float lengths[4] = {0, 1, 1.41421356f, 1.73205081f};
                    int nx = x + dx, ny = y + dy, nz = z + dz, away = (dx != 0) + (dy != 0) + (dz != 0);
                    if (away == 0 || nx < 0 || ny < 0 || nz < 0 || nx >= v->n[0] || ny >= v->n[1] || nz >= v->n[2])
                        continue;

                    int next = v->solid[cell_index(v, nx, ny, nz)];
                    if (next < 0) continue;
                    heap_entry on = {e.distance + lengths[away] * v->h, next, e.joint};
                    if (way_keep(v, slots, on) && !heap_push(q, on)) return false;
                }
    }

    return true;
}

/* Distance of each joint to a point, through the voxels around it; 0 stands for "not reached". */
static bool point_values(const voxels *v, vec3 p, float size, double *values, int joint_count)
{
    /* all joints are out of reach at first */
    int cell[3];
    bool any = false;
    cell_at(v, p, cell);
    for (int j = 0; j < joint_count; j++) values[j] = 0;

    /* through the 27 voxels around the point: the shortest way of each joint */
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int x = cell[0] + dx, y = cell[1] + dy, z = cell[2] + dz;
                if (x < 0 || y < 0 || z < 0 || x >= v->n[0] || y >= v->n[1] || z >= v->n[2]) continue;
                int voxel = v->solid[cell_index(v, x, y, z)];
                if (voxel < 0) continue;

                /* the way through the voxel, and from its centre to the point */
                float step = vec3_distance(p, cell_centre(v, x, y, z));
                for (int k = 0; k < v->filled[voxel]; k++) {
                    double d = v->distances[voxel * SLOTS + k] + step;
                    double *value = &values[v->joints[voxel * SLOTS + k]];
                    if (*value == 0 || d < *value) *value = d;
                    any = true;
                }
            }

    /* weights fall with the fourth power of the distance, in sizes of the body */
    for (int j = 0; j < joint_count; j++) {
        if (values[j] == 0) continue;
        double d = MAX(values[j] / size, 1e-4);
        values[j] = 1 / (d * d * d * d);
    }

    return any;
}

cutis_result voxel_weights(const rig_body *body, int resolution, const cutis_allocator *allocator,
                           rig_influences *influences, uint8_t *point_served, cutis_error *error)
{
    const mesh *m = body->mesh;
    arena memory = arena_create(allocator);
    voxels v = {0};
    heap queue = {.allocator = allocator};

    double *values = ARENA_ARRAY(&memory, double, body->joint_count);
    cutis_result result = voxels_build(&v, m, resolution, body->jobs, &memory, error);
    bool kept = values != NULL;

    if (result == CUTIS_OK) {
        int slots = MIN(influences->limit + 2, SLOTS);
        for (int b = 0; b < body->bone_count && kept; b++) kept = bone_seed(&v, slots, &body->bones[b], &queue);
        kept = kept && spread(&v, slots, &queue);
        if (!kept) result = error_memory(error, "voxel weights");
    }

    /* weights of the points */
    for (int p = 0; p < m->point_count && result == CUTIS_OK; p++) {
        vec3 at = vec3_load(m->positions + 3 * p);
        point_served[p] = point_values(&v, at, body->size, values, body->joint_count) &&
                          rig_influences_set(influences, p, values, body->joint_count);
    }

    memory_release(allocator, queue.entries, queue.capacity, sizeof *queue.entries);
    arena_destroy(&memory);
    return result;
}
