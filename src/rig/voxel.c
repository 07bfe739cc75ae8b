/*
 * voxel.c: geodesic voxel binding. Dionne, de Lasa 2013, "Geodesic voxel binding for production character meshes".
 *
 * The body is cut into voxels; distances from each bone run through solid voxels only, so that they work where a
 * surface has holes, islands or crossings. Weights fall with the fourth power of the distance (their falloff 1).
 *
 * Departures: inside is the solid of all parts (body/solid.h), on the processor, so that holes are closed and parts
 * that overlap, a head in its helmet, are one; the voxels are its cells, and the solid that the skeleton was fitted to
 * serves here, too. One search spreads all bones together, and a voxel takes only the nearest few, which is all that
 * the weights need: the cost does not grow with the number of bones. Ways start on the surface of the largest ball
 * inside around each place of a bone, and the weight of a bone ends beyond its own thickness (bone_value): a thin arm
 * does not take the ears of a thick head beside it.
 */
#include <string.h>

#include "rig/rigging.h"

enum { SLOTS = RIG_MAX_INFLUENCES, POINT_BLOCKS = 16 };

/* A solid that is there already serves if its cells are at most this many times as large as those asked for. */
static const float COARSER = 1.5f;

typedef struct voxels {
    int n[3];
    size_t count;
    float h;
    quat turn;      /* into the axes of the voxels */
    vec3 origin;    /* lowest corner of voxel 0 */
    uint8_t *cells; /* 1 inside and where the surface passes; never on the border of the grid */
    int *solid;     /* (count) number among the solid voxels, -1 outside */
    int solid_count;
    int *cell_of;        /* (solid_count) */
    const float *depths; /* (count) of the cells below the surface, negative inside */
    float deepest;       /* place inside */
    float *distances;    /* (solid_count x SLOTS) shortest ways known so far, by distance, then joint */
    float *radii;        /* (solid_count x SLOTS) of the bone where the way starts */
    int *joints;         /* (solid_count x SLOTS) */
    uint8_t *filled;     /* (solid_count) slots taken */
} voxels;

typedef struct way {
    float distance; /* from the surface of the ball in which it starts, plus the deepest place */
    float radius;   /* of that ball */
    int voxel, joint;
    int next; /* in its bucket or among the free ones, -1: the last */
} way;

/*
 * Open ways in buckets as wide as a voxel (Dial 1969). A step is at least that long, so that the ways of a bucket
 * hardly ever change each other; those that do are looked at again. The buckets are used in turn.
 */
enum { BUCKETS = 256 };
typedef struct way_queue {
    way *ways;
    size_t count, capacity;
    int free;             /* first one, -1: none */
    int open;             /* ways in buckets */
    int now;              /* the bucket in use, counted on */
    int buckets[BUCKETS]; /* first way, -1: empty */
    float width;          /* of a bucket */
    const cutis_allocator *allocator;
} way_queue;

static bool queue_push(way_queue *q, way entry)
{
    if (q->free < 0 && q->count == q->capacity) {
        size_t capacity = q->capacity ? 2 * q->capacity : 4096;
        way *grown = memory_allocate(q->allocator, capacity, sizeof *grown);
        if (!grown) return false;
        if (q->count) memcpy(grown, q->ways, q->count * sizeof *grown);
        memory_release(q->allocator, q->ways, q->capacity, sizeof *grown);
        q->ways = grown;
        q->capacity = capacity;
    }

    int at = q->free;
    if (at >= 0)
        q->free = q->ways[at].next;
    else
        at = (int)q->count++;

    /* the first of its bucket; what starts too far away for the buckets is looked at early */
    float bucket = entry.distance / q->width;
    bucket = CLAMP(bucket, (float)q->now, (float)(q->now + BUCKETS - 1));
    int *first = &q->buckets[(int)bucket % BUCKETS];
    entry.next = *first;
    q->ways[at] = entry;
    *first = at;
    q->open++;
    return true;
}

/* Take a way of the nearest bucket; there must be one. */
static way queue_pop(way_queue *q)
{
    while (q->buckets[q->now % BUCKETS] < 0) q->now++;
    int *first = &q->buckets[q->now % BUCKETS];
    int at = *first;
    way entry = q->ways[at];
    *first = entry.next;
    q->ways[at].next = q->free;
    q->free = at;
    q->open--;
    return entry;
}

static size_t cell_index(const voxels *v, int x, int y, int z)
{
    return ((size_t)z * (size_t)v->n[1] + (size_t)y) * (size_t)v->n[0] + (size_t)x;
}

/* The voxel that holds p, clamped to the grid without its border. */
static void cell_at(const voxels *v, vec3 p, int cell[3])
{
    const float q[3] = {(p.x - v->origin.x) / v->h, (p.y - v->origin.y) / v->h, (p.z - v->origin.z) / v->h};
    for (int k = 0; k < 3; k++) cell[k] = CLAMP((int)floorf(q[k]), 1, v->n[k] - 2);
}

static vec3 cell_centre(const voxels *v, int x, int y, int z)
{
    return (vec3){v->origin.x + ((float)x + 0.5f) * v->h, v->origin.y + ((float)y + 0.5f) * v->h,
                  v->origin.z + ((float)z + 0.5f) * v->h};
}

/* A place of the mesh in the axes of the voxels. */
static vec3 place_turned(const voxels *v, const float *position) { return quat_rotate(v->turn, vec3_load(position)); }

/* Mark the voxels that the surface passes. */
static void surface_mark(const mesh *m, voxels *v)
{
    /* voxels in the box of each triangle */
    for (int t = 0; t < m->triangle_count; t++) {
        vec3 p[3];
        int low[3], high[3];
        for (int k = 0; k < 3; k++) p[k] = place_turned(v, m->positions + 3 * m->triangles[3 * t + k]);
        cell_at(v, vec3_min(p[0], vec3_min(p[1], p[2])), low);
        cell_at(v, vec3_max(p[0], vec3_max(p[1], p[2])), high);

        /* those whose cube holds the triangle's point nearest to the centre, with a margin for rounding */
        for (int z = low[2]; z <= high[2]; z++)
            for (int y = low[1]; y <= high[1]; y++)
                for (int x = low[0]; x <= high[0]; x++) {
                    uint8_t *cell = &v->cells[cell_index(v, x, y, z)];
                    if (*cell) continue;
                    float weights[3], half = 0.501f * v->h;
                    vec3 centre = cell_centre(v, x, y, z);
                    vec3 away = vec3_sub(triangle_closest(centre, p[0], p[1], p[2], weights), centre);
                    *cell = fabsf(away.x) <= half && fabsf(away.y) <= half && fabsf(away.z) <= half;
                }
    }

    /* voxels of all points, also those without triangles */
    for (int i = 0; i < m->point_count; i++) {
        int cell[3];
        cell_at(v, place_turned(v, m->positions + 3 * i), cell);
        v->cells[cell_index(v, cell[0], cell[1], cell[2])] = 1;
    }
}

/* The solid that is there, or one of cells of this size along the mesh's own axes. */
static cutis_result solid_take(const rig_body *body, float spacing, arena *memory, rig_solid *out, cutis_error *error)
{
    const mesh *m = body->mesh;
    if (body->whole && body->whole->solid.spacing <= COARSER * spacing) {
        *out = *body->whole;
        return CUTIS_OK;
    }
    solid_def def = {m->point_count, m->positions, m->triangle_count, m->triangles, spacing, 2 * spacing, body->jobs};
    out->turn = quat_identity();
    return solid_build(&def, memory, &out->solid, error);
}

static cutis_result voxels_build(voxels *v, const rig_body *body, int resolution, arena *memory, cutis_error *error)
{
    /* voxels of the size asked for */
    const mesh *m = body->mesh;
    vec3 low = vec3_load(m->positions), high = low;
    for (int i = 1; i < m->point_count; i++) {
        low = vec3_min(low, vec3_load(m->positions + 3 * i));
        high = vec3_max(high, vec3_load(m->positions + 3 * i));
    }

    vec3 extent = vec3_sub(high, low);
    float longest = MAX(extent.x, MAX(extent.y, extent.z));
    if (!(longest > 0)) return error_set(error, CUTIS_ERROR_DATA, "voxel weights: the mesh has no extent");
    rig_solid made;
    cutis_result result = solid_take(body, longest / (float)resolution, memory, &made, error);
    if (result != CUTIS_OK) return result;

    /* the grid of the solid */
    const solid *inside = &made.solid;
    float half = 0.5f * inside->spacing;
    for (int k = 0; k < 3; k++) v->n[k] = inside->size[k];
    v->h = inside->spacing;
    v->turn = made.turn;
    v->origin = vec3_sub(inside->origin, (vec3){half, half, half});
    v->count = (size_t)v->n[0] * (size_t)v->n[1] * (size_t)v->n[2];
    v->cells = ARENA_ARRAY(memory, uint8_t, v->count);
    v->solid = ARENA_ARRAY(memory, int, v->count);
    if (memory->failed) return error_memory(error, "voxel weights");

    /* the solid of all parts, and what the surface passes: sheets have no inside */
    v->depths = inside->distance;
    for (size_t i = 0; i < v->count; i++) {
        v->cells[i] = inside->distance[i] < 0;
        v->deepest = MAX(v->deepest, -inside->distance[i]);
    }
    surface_mark(m, v);
    for (size_t i = 0; i < v->count; i++) v->solid[i] = v->cells[i] ? v->solid_count++ : -1;

    /* room for the ways */
    v->cell_of = ARENA_ARRAY(memory, int, v->solid_count);
    v->distances = ARENA_ARRAY(memory, float, (size_t)v->solid_count *SLOTS);
    v->radii = ARENA_ARRAY(memory, float, (size_t)v->solid_count *SLOTS);
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
static bool way_keep(voxels *v, int slots, way e)
{
    float *distances = v->distances + (size_t)e.voxel * SLOTS;
    float *radii = v->radii + (size_t)e.voxel * SLOTS;
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

    for (; at > 0; at--) {
        if (distances[at - 1] < e.distance || (distances[at - 1] == e.distance && joints[at - 1] < e.joint)) break;
        distances[at] = distances[at - 1];
        radii[at] = radii[at - 1];
        joints[at] = joints[at - 1];
    }
    distances[at] = e.distance;
    radii[at] = e.radius;
    joints[at] = e.joint;
    return true;
}

/* Whether a way is still the shortest of its joint to its voxel. */
static bool way_counts(const voxels *v, way e)
{
    for (int k = 0; k < v->filled[e.voxel]; k++)
        if (v->joints[e.voxel * SLOTS + k] == e.joint) return v->distances[e.voxel * SLOTS + k] == e.distance;
    return false;
}

/* Start the search in the voxels along a bone; a bone outside starts in the solid voxel nearest to its middle. */
static bool bone_seed(voxels *v, int slots, const rig_bone *bone, way_queue *q)
{
    int steps = (int)ceilf(vec3_distance(bone->a, bone->b) / (0.5f * v->h)) + 1, last = -1;
    bool seeded = false;
    vec3 a = quat_rotate(v->turn, bone->a);
    vec3 b = quat_rotate(v->turn, bone->b);

    /* steps of half a voxel; each voxel starts once */
    for (int i = 0; i <= steps; i++) {
        int cell[3];

        cell_at(v, vec3_lerp(a, b, (float)i / (float)steps), cell);
        size_t index = cell_index(v, cell[0], cell[1], cell[2]);
        int voxel = v->solid[index];
        if (voxel < 0 || voxel == last) continue;
        last = voxel;
        seeded = true;
        float radius = MAX(-v->depths[index], v->h);
        way start = {v->deepest + v->h - radius, radius, voxel, bone->joint, -1};
        if (way_keep(v, slots, start) && !queue_push(q, start)) return false;
    }

    if (seeded) return true;

    /* no voxel of the bone is solid: the one nearest to its middle, at that distance */
    vec3 middle = vec3_lerp(a, b, 0.5f);
    float best = INFINITY;
    for (int i = 0; i < v->solid_count; i++) {
        int x = v->cell_of[i] % v->n[0], y = v->cell_of[i] / v->n[0] % v->n[1], z = v->cell_of[i] / v->n[0] / v->n[1];
        float d = vec3_distance(cell_centre(v, x, y, z), middle);
        if (d < best) {
            best = d;
            last = i;
        }
    }

    way start = {best + v->deepest, v->h, last, bone->joint, -1};
    return last < 0 || !way_keep(v, slots, start) || queue_push(q, start);
}

/* Spread all bones through the solid voxels, nearest first. */
static bool spread(voxels *v, int slots, way_queue *q)
{
    /* the 26 neighbours: no solid voxel lies on the border of the grid */
    static const float LENGTHS[4] = {0, 1, 1.41421356f, 1.73205081f};
    int offsets[26];
    float lengths[26];
    int count = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int away = (dx != 0) + (dy != 0) + (dz != 0);
                if (away == 0) continue;
                offsets[count] = (dz * v->n[1] + dy) * v->n[0] + dx;
                lengths[count++] = LENGTHS[away] * v->h;
            }

    while (q->open) {
        way w = queue_pop(q);
        if (!way_counts(v, w)) continue;

        /* on to the neighbours that do not know shorter ways already */
        const int *cell = v->solid + v->cell_of[w.voxel];
        for (int k = 0; k < count; k++) {
            int next = cell[offsets[k]];
            if (next < 0) continue;
            way on = {w.distance + lengths[k], w.radius, next, w.joint, -1};
            if (v->filled[next] == slots && v->distances[next * SLOTS + slots - 1] < on.distance) continue;
            if (way_keep(v, slots, on) && !queue_push(q, on)) return false;
        }
    }

    return true;
}

/* What a bone of this radius weighs at a point so far beyond the surface of its balls. */
static double bone_value(double beyond, double nearest, double radius, double size)
{
    double d = MAX((beyond + radius) / size, 1e-4);
    double over = (beyond - nearest) / radius;
    double gate = 1 + over * over * over * over;
    return 1 / (d * d * d * d * gate * gate);
}

/* Distance of each joint to a point, through the voxels around it; 0 stands for "not reached". */
static bool point_values(const voxels *v, vec3 p, float size, double *values, double *radii, int joint_count)
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
                    int joint = v->joints[voxel * SLOTS + k];
                    if (values[joint] != 0 && d >= values[joint]) continue;
                    values[joint] = d;
                    radii[joint] = v->radii[voxel * SLOTS + k];
                    any = true;
                }
            }

    /* the bone whose surface is nearest */
    double nearest = INFINITY, offset = v->deepest + v->h;
    for (int j = 0; j < joint_count; j++)
        if (values[j] != 0) nearest = MIN(nearest, values[j] - offset);
    for (int j = 0; j < joint_count; j++)
        if (values[j] != 0) values[j] = bone_value(values[j] - offset, nearest, radii[j], size);
    return any;
}

typedef struct points_work {
    const voxels *voxels;
    const rig_body *body;
    rig_influences *influences;
    uint8_t *point_served;
    double *values; /* (POINT_BLOCKS x 2 x joint_count) */
} points_work;

/* Weights of one of POINT_BLOCKS blocks of points. */
static void points_block(void *context, int begin, int end)
{
    const points_work *w = context;
    const mesh *m = w->body->mesh;
    int joint_count = w->body->joint_count;
    int share = (m->point_count + POINT_BLOCKS - 1) / POINT_BLOCKS;
    for (int block = begin; block < end; block++) {
        double *values = w->values + 2 * (size_t)block * (size_t)joint_count;
        for (int p = block * share; p < MIN((block + 1) * share, m->point_count); p++) {
            vec3 at = place_turned(w->voxels, m->positions + 3 * p);
            w->point_served[p] =
                point_values(w->voxels, at, w->body->size, values, values + joint_count, joint_count) &&
                rig_influences_set(w->influences, p, values, joint_count);
        }
    }
}

cutis_result voxel_weights(const rig_body *body, int resolution, const cutis_allocator *allocator,
                           rig_influences *influences, uint8_t *point_served, cutis_error *error)
{
    arena memory = arena_create(allocator);
    voxels v = {0};
    double *values = ARENA_ARRAY(&memory, double, 2 * (size_t)POINT_BLOCKS * (size_t)body->joint_count);
    cutis_result result = voxels_build(&v, body, resolution, &memory, error);
    if (result == CUTIS_OK && !values) result = error_memory(error, "voxel weights");

    /* the ways from all bones */
    way_queue queue = {.free = -1, .width = v.h, .allocator = allocator};
    memset(queue.buckets, 0xFF, sizeof queue.buckets);
    if (result == CUTIS_OK) {
        int slots = MIN(influences->limit + 2, SLOTS);
        bool kept = true;
        for (int b = 0; b < body->bone_count && kept; b++) kept = bone_seed(&v, slots, &body->bones[b], &queue);
        kept = kept && spread(&v, slots, &queue);
        if (!kept) result = error_memory(error, "voxel weights");
    }

    /* weights of the points */
    points_work work = {&v, body, influences, point_served, values};
    if (result == CUTIS_OK) parallel_for(body->jobs, POINT_BLOCKS, 1, points_block, &work);

    memory_release(allocator, queue.ways, queue.capacity, sizeof *queue.ways);
    arena_destroy(&memory);
    return result;
}
