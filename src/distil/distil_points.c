/*
 * distil_points.c: surface points in farthest-point order, what each depends on, and how vertices follow them.
 *
 * Distances are those of the rest pose, lengthened where normals differ, and between limbs that can touch: skin that
 * only happens to be near does not move alike.
 */
#include <string.h>

#include "character/skinning.h"
#include "distil/distil_private.h"
#include "mesh/mesh.h"

static const float TURN_LENGTHENS = 2;      /* squared distances of opposite normals: 1 + 2 x 2 times as long */
static const float LIMBS_LENGTHEN = 10000;  /* the same between limbs that can touch */
enum { HOPS_APART = 3 };                    /* joints that are nearer in the skeleton do not count as touching */
enum { FINE_PATCH = 4, COARSE_PATCH = 18 }; /* points per patch */
enum { CANDIDATES = 16 };                   /* most nearest points that are kept */

/* What the search for points needs of the vertices. */
typedef struct vertex_table {
    const float *positions;
    float *normals; /* (vertex_count x 3) */
    int *joints;    /* (vertex_count) listed joint of the largest weight; -1: none */
} vertex_table;

static cutis_result vertex_table_make(distil *d, arena *scratch, vertex_table *t)
{
    const cutis_character *c = d->character;
    t->positions = c->positions;
    t->normals = ARENA_ARRAY(scratch, float, 3 * (size_t)c->vertex_count);
    t->joints = ARENA_ARRAY(scratch, int, c->vertex_count);
    float *points = ARENA_ARRAY(scratch, float, 6 * (size_t)c->point_count);
    mesh surface;
    if (scratch->failed) return error_memory(d->error, "the points of a distillation");
    cutis_result result = mesh_build_character(&surface, c, scratch, d->error);
    if (result != CUTIS_OK) return result;

    for (int p = 0; p < c->point_count; p++)
        memcpy(points + 3 * p, c->positions + 3 * (size_t)c->point_vertices[p], 3 * sizeof(float));
    mesh_normals(&surface, points, points + 3 * (size_t)c->point_count, d->jobs);

    for (int v = 0; v < c->vertex_count; v++) {
        memcpy(t->normals + 3 * (size_t)v, points + 3 * ((size_t)c->point_count + (size_t)c->vertex_points[v]),
               3 * sizeof(float));
        float largest = 0;
        t->joints[v] = -1;
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            if (c->influence_weights[i] <= largest) continue;
            largest = c->influence_weights[i];
            t->joints[v] = d->joints.listed[c->influence_joints[i]];
        }
    }
    return CUTIS_OK;
}

/* Sort vertices [first, last) so that each cluster of players holds neighbours: a first vertex and those nearest to it.
 */
static void gather_clusters(const vertex_table *t, int *vertices, int first, int last)
{
    for (int i = first; i < last; i++) {
        int leader = first + (i - first) / CUTIS_LIVE_CLUSTER * CUTIS_LIVE_CLUSTER, nearest = i;
        float least = INFINITY;
        vec3 place = vec3_load(t->positions + 3 * (size_t)vertices[leader]);
        for (int k = i; k < last && i > leader; k++) {
            float length2 = vec3_length2(vec3_sub(vec3_load(t->positions + 3 * (size_t)vertices[k]), place));
            if (length2 >= least) continue;
            least = length2;
            nearest = k;
        }
        int kept = vertices[i];
        vertices[i] = vertices[nearest];
        vertices[nearest] = kept;
    }
}

/* Farthest points over the skinned vertices, then sorted by their joints. */
static cutis_result choose_points(distil *d, const vertex_table *t, arena *scratch)
{
    const cutis_character *c = d->character;
    float *distances = ARENA_ARRAY(scratch, float, c->point_count);
    int *chosen = ARENA_ARRAY(scratch, int, d->point_limit);
    d->vertices = ARENA_ARRAY(d->memory, int, d->point_limit);
    if (scratch->failed || d->memory->failed) return error_memory(d->error, "the points of a distillation");

    int next = -1;
    for (int p = 0; p < c->point_count; p++) {
        bool skinned = t->joints[c->point_vertices[p]] >= 0;
        distances[p] = skinned ? INFINITY : -1;
        if (skinned && next < 0) next = p;
    }

    /* the point farthest from all that were chosen */
    while (next >= 0 && d->point_count < d->point_limit && distances[next] > 0) {
        int vertex = c->point_vertices[next];
        chosen[d->point_count++] = vertex;
        vec3 place = vec3_load(c->positions + 3 * (size_t)vertex);
        for (int p = 0; p < c->point_count; p++) {
            float length2 = vec3_length2(vec3_sub(vec3_load(c->positions + 3 * (size_t)c->point_vertices[p]), place));
            distances[p] = MIN(distances[p], length2);
            if (distances[p] > distances[next]) next = p;
        }
    }
    if (d->point_count < 16)
        return error_set(d->error, CUTIS_ERROR_DATA, "'%.150s' has %d skinned points; a distillation needs 16 or more",
                         c->name, d->point_count);

    int at = 0;
    for (int j = 0; j < d->joints.count; j++) {
        int first = at;
        for (int i = 0; i < d->point_count; i++)
            if (t->joints[chosen[i]] == j) d->vertices[at++] = chosen[i];
        gather_clusters(t, d->vertices, first, at);
    }
    return CUTIS_OK;
}

/* Number of joints between two in the skeleton; all roots are next to each other. */
static int joint_hops(const distil_joints *joints, int a, int b)
{
    int hops = 0;
    while (a != b) {
        int *later = a > b ? &a : &b;
        *later = joints->parents[*later];
        hops++;
    }
    return hops;
}

static bool joints_opposed(const distil_joints *joints, int a, int b)
{
    return joints->limbs[a] != joints->limbs[b] && joint_hops(joints, a, b) >= HOPS_APART;
}

/* ---- the nearest ---- */

typedef struct nearest {
    int count, limit;
    int items[CANDIDATES];
    float lengths[CANDIDATES]; /* squared, ascending */
} nearest;

static void nearest_offer(nearest *n, int item, float length)
{
    if (n->count == n->limit && length >= n->lengths[n->count - 1]) return;
    int at = n->count < n->limit ? n->count++ : n->limit - 1;
    for (; at > 0 && n->lengths[at - 1] > length; at--) {
        n->lengths[at] = n->lengths[at - 1];
        n->items[at] = n->items[at - 1];
    }
    n->lengths[at] = length;
    n->items[at] = item;
}

/* A squared distance between two vertices, lengthened. */
static float vertex_length2(const distil *d, const vertex_table *t, const uint8_t *opposed, int a, int b)
{
    vec3 way = vec3_sub(vec3_load(t->positions + 3 * (size_t)a), vec3_load(t->positions + 3 * (size_t)b));
    float agree = vec3_dot(vec3_load(t->normals + 3 * (size_t)a), vec3_load(t->normals + 3 * (size_t)b));
    float length2 = vec3_length2(way) * (1 + TURN_LENGTHENS * (1 - agree));
    int joint = t->joints[a], other = t->joints[b];
    bool apart = joint >= 0 && other >= 0 && opposed[joint * d->joints.count + other];
    return apart ? length2 * LIMBS_LENGTHEN : length2;
}

/* The `limit` nearest of the vertices in `list` to a vertex. */
static nearest nearest_find(const distil *d, const vertex_table *t, const uint8_t *opposed, int vertex, const int *list,
                            int count, int limit)
{
    nearest n = {.limit = MIN(limit, count)};
    for (int i = 0; i < count; i++) nearest_offer(&n, i, vertex_length2(d, t, opposed, vertex, list[i]));
    return n;
}

/* ---- the data ---- */

/* The next array in the data, of which `used` bytes are taken. Without data it only counts. */
static void *take(char *data, size_t *used, size_t count, size_t width)
{
    void *array = data ? data + *used : NULL;
    *used += (count * width + 3) / 4 * 4;
    return array;
}

/* All of the data that can be written. */
typedef struct data_arrays {
    int32_t *parents, *joint_first;
    float *rest, *normals, *weights, *pivots;
    uint8_t *opposed, *vertex_weights;
    uint16_t *joints, *pose_joints, *near, *patches[2], *near_patches[2], *vertex_points;
    int patch_counts[2];
} data_arrays;

static cutis_result data_allocate(distil *d, data_arrays *a)
{
    size_t joints = (size_t)d->joints.count, points = (size_t)d->point_count;
    size_t vertices = (size_t)d->character->vertex_count;
    a->patch_counts[0] = MAX(1, d->point_count / FINE_PATCH);
    a->patch_counts[1] = MAX(1, d->point_count / COARSE_PATCH);

    /* twice: to measure, then to lay out */
    for (int pass = 0; pass < 2; pass++) {
        char *data = pass ? (char *)d->data : NULL;
        size_t used = 0;
        take(data, &used, 64, 1);
        a->parents = take(data, &used, joints, 4);
        d->low = take(data, &used, joints * 3, 4);
        d->high = take(data, &used, joints * 3, 4);
        a->pivots = take(data, &used, joints * 3, 4);
        d->turn_limits = take(data, &used, joints, 4);
        d->turn_scales = take(data, &used, joints * 3, 4);
        d->turns = take(data, &used, joints * 3 * (size_t)(a->patch_counts[0] + a->patch_counts[1]), 2);
        a->opposed = take(data, &used, joints * joints, 1);
        a->joint_first = take(data, &used, joints + 1, 4);
        a->rest = take(data, &used, points * 3, 4);
        a->normals = take(data, &used, points * 3, 4);
        d->rest_depths = take(data, &used, points, 4);
        a->joints = take(data, &used, points * CUTIS_LIVE_INFLUENCES, 2);
        a->weights = take(data, &used, points * CUTIS_LIVE_INFLUENCES, 4);
        a->pose_joints = take(data, &used, points * CUTIS_LIVE_POSE_JOINTS, 2);
        a->near = take(data, &used, points * CUTIS_LIVE_NEAR, 2);
        for (int l = 0; l < 2; l++) a->patches[l] = take(data, &used, points, 2);
        for (int l = 0; l < 2; l++) a->near_patches[l] = take(data, &used, points * CUTIS_LIVE_NEAR_PATCHES, 2);
        d->scales = take(data, &used, CUTIS_LIVE_FEATURES, 4);
        d->coefficients = take(data, &used, points * 3 * CUTIS_LIVE_FEATURES, 2);
        a->vertex_points = take(data, &used, vertices * CUTIS_LIVE_WEIGHTS, 2);
        a->vertex_weights = take(data, &used, vertices * CUTIS_LIVE_WEIGHTS, 1);
        d->size = used;
        if (!pass) d->data = arena_push(d->memory, d->size, 1);
        if (!d->data) return error_memory(d->error, "the data of a distillation");
    }

    uint32_t head[6] = {(uint32_t)d->size,
                        (uint32_t)joints,
                        (uint32_t)points,
                        (uint32_t)vertices,
                        (uint32_t)a->patch_counts[0],
                        (uint32_t)a->patch_counts[1]};
    memcpy(d->data, CUTIS_LIVE_MAGIC, 16);
    memcpy(d->data + 16, head, sizeof head);
    memcpy(d->data + 40, &d->character->size, sizeof(float));
    return CUTIS_OK;
}

static void put_joints(const distil *d, data_arrays *a, const vertex_table *t)
{
    int count = d->joints.count;
    for (int j = 0; j < count; j++) {
        a->parents[j] = d->joints.parents[j];
        for (int k = 0; k < count; k++) a->opposed[j * count + k] = joints_opposed(&d->joints, j, k);
        vec3_store(a->pivots + 3 * j, joint_bind_place(&d->character->joints[d->joints.joints[j]]));
        for (int k = 0; k < 3; k++) {
            d->low[3 * j + k] = -100;
            d->high[3 * j + k] = 100;
        }
    }
    for (int i = 0; i < d->point_count; i++) a->joint_first[t->joints[d->vertices[i]] + 1]++;
    for (int j = 0; j < count; j++) a->joint_first[j + 1] += a->joint_first[j];
}

/* The largest influences of a point, and the joints around it: its own, the parent, children, then the grandparent. */
static void put_point_joints(const distil *d, data_arrays *a, const vertex_table *t, int i)
{
    const cutis_character *c = d->character;
    int vertex = d->vertices[i], own = t->joints[vertex];
    nearest n = {.limit = CUTIS_LIVE_INFLUENCES};
    for (int k = c->influence_first[vertex]; k < c->influence_first[vertex + 1]; k++)
        nearest_offer(&n, k, -c->influence_weights[k]);

    float sum = 0;
    for (int k = 0; k < n.count; k++) sum -= n.lengths[k];
    for (int k = 0; k < n.count; k++) {
        a->joints[CUTIS_LIVE_INFLUENCES * i + k] = (uint16_t)d->joints.listed[c->influence_joints[n.items[k]]];
        a->weights[CUTIS_LIVE_INFLUENCES * i + k] = -n.lengths[k] / sum;
    }

    uint16_t *around = a->pose_joints + CUTIS_LIVE_POSE_JOINTS * i;
    for (int k = 0; k < CUTIS_LIVE_POSE_JOINTS; k++) around[k] = 65535;
    int count = 0, parent = d->joints.parents[own];
    around[count++] = (uint16_t)own;
    if (parent >= 0) around[count++] = (uint16_t)parent;
    for (int j = own + 1; j < d->joints.count && count < CUTIS_LIVE_POSE_JOINTS; j++)
        if (d->joints.parents[j] == own) around[count++] = (uint16_t)j;
    parent = parent >= 0 ? d->joints.parents[parent] : -1;
    if (parent >= 0 && count < CUTIS_LIVE_POSE_JOINTS) around[count++] = (uint16_t)parent;
}

static void put_points(const distil *d, data_arrays *a, const vertex_table *t)
{
    for (int i = 0; i < d->point_count; i++) {
        int vertex = d->vertices[i];
        memcpy(a->rest + 3 * i, t->positions + 3 * (size_t)vertex, 3 * sizeof(float));
        memcpy(a->normals + 3 * i, t->normals + 3 * (size_t)vertex, 3 * sizeof(float));
        put_point_joints(d, a, t, i);

        /* a short list repeats its last entry */
        nearest n = nearest_find(d, t, a->opposed, vertex, d->vertices, d->point_count, CUTIS_LIVE_NEAR);
        for (int k = 0; k < CUTIS_LIVE_NEAR; k++)
            a->near[CUTIS_LIVE_NEAR * i + k] = (uint16_t)n.items[MIN(k, n.count - 1)];
    }
}

/* Patches around farthest points of the points. */
static cutis_result put_patches(const distil *d, data_arrays *a, const vertex_table *t, int level, arena *scratch)
{
    int count = a->patch_counts[level];
    int *centres = ARENA_ARRAY(scratch, int, count);
    float *distances = ARENA_ARRAY(scratch, float, d->point_count);
    if (scratch->failed) return error_memory(d->error, "the patches of a distillation");

    int next = 0;
    for (int i = 0; i < d->point_count; i++) distances[i] = INFINITY;
    for (int k = 0; k < count; k++) {
        centres[k] = d->vertices[next];
        for (int i = 0; i < d->point_count; i++) {
            float length2 = vertex_length2(d, t, a->opposed, d->vertices[i], centres[k]);
            distances[i] = MIN(distances[i], length2);
        }
        for (int i = 0; i < d->point_count; i++)
            if (distances[i] > distances[next]) next = i;
    }

    for (int i = 0; i < d->point_count; i++) {
        nearest n = nearest_find(d, t, a->opposed, d->vertices[i], centres, count, CUTIS_LIVE_NEAR_PATCHES);
        a->patches[level][i] = (uint16_t)n.items[0];
        for (int k = 0; k < CUTIS_LIVE_NEAR_PATCHES; k++)
            a->near_patches[level][CUTIS_LIVE_NEAR_PATCHES * i + k] = (uint16_t)n.items[MIN(k, n.count - 1)];
    }
    return CUTIS_OK;
}

/* Weights of one vertex: (1 / length - 1 / rim)^2, rim the length to the next point. They fall to 0 without a step. */
static void put_vertex(const distil *d, data_arrays *a, const vertex_table *t, int v)
{
    nearest n = nearest_find(d, t, a->opposed, v, d->vertices, d->point_count, CUTIS_LIVE_WEIGHTS + 1);
    double weights[CUTIS_LIVE_WEIGHTS], sum = 0, rim = sqrt((double)n.lengths[n.count - 1]);
    for (int k = 0; k < CUTIS_LIVE_WEIGHTS; k++) {
        double length = MAX(sqrt((double)n.lengths[k]), 1e-6 * rim), share = 1 / length - 1 / rim;
        weights[k] = share * share + 1e-30;
        sum += weights[k];
    }

    /* in 255ths; the nearest takes what rounding leaves */
    int left = 255;
    bool skinned = t->joints[v] >= 0;
    for (int k = CUTIS_LIVE_WEIGHTS - 1; k >= 0; k--) {
        size_t at = (size_t)v * CUTIS_LIVE_WEIGHTS + (size_t)k;
        int share = k ? (int)(255 * weights[k] / sum) : left;
        left -= share;
        a->vertex_points[at] = (uint16_t)n.items[k];
        a->vertex_weights[at] = (uint8_t)(skinned ? share : 0);
    }
}

typedef struct vertex_work {
    const distil *d;
    data_arrays *arrays;
    const vertex_table *table;
} vertex_work;

static void put_vertices(void *context, int begin, int end)
{
    const vertex_work *work = context;
    for (int v = begin; v < end; v++) put_vertex(work->d, work->arrays, work->table, v);
}

/* Open the data as a player does, and subtract the depths of the rest pose from then on. */
static cutis_result open_live(distil *d)
{
    if (!cutis_live_open(&d->live, d->data, d->size))
        return error_set(d->error, CUTIS_ERROR_DATA, "the points of '%.150s' cannot be distilled: invalid data",
                         d->character->name);

    size_t joints = (size_t)d->character->joint_count * 12;
    d->live_memory = arena_push(d->scratch, cutis_live_memory(&d->live), 1);
    float *pose = ARENA_ARRAY(d->scratch, float, joints), *skin = ARENA_ARRAY(d->scratch, float, joints);
    if (d->scratch->failed) return error_memory(d->error, "a distillation");

    cutis_pose_rest(d->character, pose);
    distil_skin(d->character, &d->joints, pose, skin);
    cutis_live_begin(&d->live, d->live_memory);
    cutis_live_observe(&d->live, skin, 0);
    memcpy(d->rest_depths, d->live.depths, (size_t)d->point_count * sizeof(float));
    return CUTIS_OK;
}

cutis_result distil_points_make(distil *d)
{
    arena scratch = arena_create(d->def->allocator);
    vertex_table table;
    data_arrays arrays = {0};

    cutis_result result = vertex_table_make(d, &scratch, &table);
    if (result == CUTIS_OK) result = choose_points(d, &table, &scratch);
    if (result == CUTIS_OK) result = data_allocate(d, &arrays);
    if (result == CUTIS_OK) {
        put_joints(d, &arrays, &table);
        put_points(d, &arrays, &table);
        vertex_work work = {d, &arrays, &table};
        parallel_for(d->jobs, d->character->vertex_count, 64, put_vertices, &work);
    }
    for (int l = 0; l < 2 && result == CUTIS_OK; l++) result = put_patches(d, &arrays, &table, l, &scratch);
    arena_destroy(&scratch);
    return result == CUTIS_OK ? open_live(d) : result;
}
