/*
 * shape.c: cells of a solid as a graph, its middle, far ends and centred curves.
 *
 * The middle is half way between the two cells that are farthest apart through the solid. Far ends are the maxima of
 * the distance from it; going down from them, sets grow and meet, and what stands out by little before it meets a
 * farther one is a bump. Curves run along shortest ways whose cost falls with the depth, and so along the middle of
 * limbs.
 */
#include "rig/shape.h"

#include <string.h>

/* What stands out by less than this share of the farthest distance is a bump. */
static const float BUMP = 0.035f;
/* Parts farther apart than this share of the size are not joined. */
static const float BRIDGE = 0.12f;

enum { PARTS_MAX = 64 };

/* ---- shortest ways ---- */

typedef struct shape_way way;

/* Open nodes by their distance; each is at one place of the heap. */
typedef struct way_heap {
    way *entries;
    int *at; /* (count) place of a node, -1: none */
    int count;
} way_heap;

static bool way_before(way a, way b) { return a.distance != b.distance ? a.distance < b.distance : a.node < b.node; }

static void heap_put(way_heap *q, int i, way entry)
{
    q->entries[i] = entry;
    q->at[entry.node] = i;
}

/* Add a node, or move one that has come nearer. */
static void heap_push(way_heap *q, way entry)
{
    int i = q->at[entry.node] >= 0 ? q->at[entry.node] : q->count++;
    for (; i > 0 && way_before(entry, q->entries[(i - 1) / 2]); i = (i - 1) / 2)
        heap_put(q, i, q->entries[(i - 1) / 2]);
    heap_put(q, i, entry);
}

static way heap_pop(way_heap *q)
{
    way top = q->entries[0];
    way last = q->entries[--q->count];
    int i = 0;
    int child;

    /* sift down */
    while ((child = 2 * i + 1) < q->count) {
        if (child + 1 < q->count && way_before(q->entries[child + 1], q->entries[child])) child++;
        if (!way_before(q->entries[child], last)) break;
        heap_put(q, i, q->entries[child]);
        i = child;
    }
    heap_put(q, i, last);
    q->at[top.node] = -1;
    return top;
}

/* Neighbours of a node: 26 cells and bridges. Returns how many; at most 32. */
static int node_neighbours(const shape *s, int node, int *others, float *lengths)
{
    static const float STEPS[4] = {0, 1, 1.41421356f, 1.73205081f};
    const int *size = s->solid.size;
    int row = size[0];
    int layer = size[0] * size[1];
    int cell = s->cells[node];
    int count = 0;

    /* nodes never lie on the border of the grid */
    for (int k = -1; k <= 1; k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                int other = s->nodes[cell + i + j * row + k * layer];
                if (other < 0 || other == node) continue;
                others[count] = other;
                lengths[count++] = STEPS[(i != 0) + (j != 0) + (k != 0)] * s->solid.spacing;
            }

    /* bridges to other parts */
    for (int b = s->bridge_at[node]; b >= 0 && b < s->bridge_count && s->bridges[b].a == node && count < 32; b++) {
        others[count] = s->bridges[b].b;
        lengths[count++] = s->bridges[b].length;
    }

    return count;
}

/* Shortest ways from a node, steps cost less the deeper they run. */
static void ways_find(const shape *s, int from, shape_room *room, float *distances, int *parents)
{
    /* Dijkstra's algorithm: all nodes are far but the first */
    way_heap q = {room->ways, room->at, 0};
    for (int i = 0; i < s->count; i++) {
        distances[i] = INFINITY;
        q.at[i] = -1;
    }
    distances[from] = 0;
    parents[from] = -1;
    heap_push(&q, (way){0, from});

    /* the nearest open node */
    while (q.count) {
        way w = heap_pop(&q);

        /* relax its neighbours */
        int others[32];
        float lengths[32];
        int count = node_neighbours(s, w.node, others, lengths);
        for (int k = 0; k < count; k++) {
            float depth = (s->depths[others[k]] + 0.5f * s->solid.spacing) / s->solid.spacing;
            float cost = lengths[k] / (depth * depth * depth);

            /* a shorter way */
            float d = w.distance + cost;
            if (!(d < distances[others[k]])) continue;
            distances[others[k]] = d;
            parents[others[k]] = w.node;
            heap_push(&q, (way){d, others[k]});
        }
    }
}

/* ---- ways of equal cost ---- */

/* Open nodes in buckets as wide as a cell, the shortest step (Dial 1969); used in turn. */
enum { BUCKETS = 64 };
typedef struct way_buckets {
    int heads[BUCKETS];      /* first node, -1: none */
    struct shape_ends *ends; /* (count) neighbours in the bucket, -1: none */
    int now;                 /* the bucket in use, counted on */
    int open;
} way_buckets;

/* The bucket of a distance; what lies beyond the last one is looked at early, and again when it changes. */
static int *bucket_head(way_buckets *q, const shape *s, float distance)
{
    float bucket = distance / s->solid.spacing;
    bucket = CLAMP(bucket, (float)q->now, (float)(q->now + BUCKETS - 1));
    return &q->heads[(int)bucket % BUCKETS];
}

static void bucket_add(way_buckets *q, const shape *s, int node, float distance)
{
    int *head = bucket_head(q, s, distance);
    q->ends[node] = (struct shape_ends){-1, *head, head};
    if (*head >= 0) q->ends[*head].before = node;
    *head = node;
    q->open++;
}

static void bucket_remove(way_buckets *q, int node)
{
    struct shape_ends *e = &q->ends[node];
    if (e->before >= 0)
        q->ends[e->before].after = e->after;
    else
        *e->head = e->after;
    if (e->after >= 0) q->ends[e->after].before = e->before;
    e->head = NULL;
    q->open--;
}

/*
 * Shortest ways from a node, steps by their length. The same distances as by a heap, since each is the least sum over
 * all ways; of several neighbours on ways of equal length the nearer one, then the one of the lower number leads back.
 */
static void lengths_find(const shape *s, int from, shape_room *room, float *distances, int *parents)
{
    way_buckets q = {.ends = room->ends};
    memset(q.heads, 0xFF, sizeof q.heads);
    for (int i = 0; i < s->count; i++) {
        distances[i] = INFINITY;
        q.ends[i].head = NULL;
    }
    distances[from] = 0;
    if (parents) parents[from] = -1;
    bucket_add(&q, s, from, 0);

    /* a node of the nearest bucket */
    while (q.open) {
        while (q.heads[q.now % BUCKETS] < 0) q.now++;
        int node = q.heads[q.now % BUCKETS];
        bucket_remove(&q, node);

        int others[32];
        float lengths[32];
        int count = node_neighbours(s, node, others, lengths);
        for (int k = 0; k < count; k++) {
            int other = others[k];
            float d = distances[node] + lengths[k];
            if (d > distances[other]) continue;
            if (d == distances[other]) {
                /* as long as another way */
                if (!parents || other == from) continue;
                int known = parents[other];
                bool nearer =
                    distances[node] < distances[known] || (distances[node] == distances[known] && node < known);
                if (nearer) parents[other] = node;
                continue;
            }

            /* a shorter way */
            if (q.ends[other].head) bucket_remove(&q, other);
            distances[other] = d;
            if (parents) parents[other] = node;
            bucket_add(&q, s, other, d);
        }
    }
}

bool shape_room_create(const shape *s, arena *memory, shape_room *room)
{
    room->ways = ARENA_ARRAY(memory, way, s->count);
    room->at = ARENA_ARRAY(memory, int, s->count);
    room->ends = ARENA_ARRAY(memory, struct shape_ends, s->count);
    return !memory->failed;
}

/* ---- nodes and bridges ---- */

/* Number the parts of the solid (cells joined by faces, edges and corners); labels: (cells), -1 outside. */
static int parts_label(const shape *s, size_t cell_count, int *labels, int *stack, int *sizes, int limit)
{
    const int *size = s->solid.size;
    int row = size[0];
    int layer = size[0] * size[1];
    int count = 0;

    /* cells inside wait for a label: -2 */
    for (size_t c = 0; c < cell_count; c++) labels[c] = s->solid.distance[c] < 0 ? -2 : -1;

    /* flood fill from each cell without a label */
    for (size_t c = 0; c < cell_count; c++) {
        if (labels[c] != -2) continue;
        int depth = 0;
        int members = 0;
        stack[depth++] = (int)c;
        labels[c] = count;
        while (depth > 0) {
            int cell = stack[--depth];
            members++;

            /* 26 neighbours; the border of the grid is outside, so that none lies beyond */
            for (int k = 0; k < 27; k++) {
                int other = cell + k % 3 - 1 + (k / 3 % 3 - 1) * row + (k / 9 - 1) * layer;
                if (labels[other] != -2) continue;
                labels[other] = count;
                stack[depth++] = other;
            }
        }

        /* parts beyond the limit are counted only */
        if (count < limit) sizes[count] = members;
        count++;
    }

    return count;
}

typedef struct part_link {
    int a, b;     /* parts */
    int from, to; /* cells */
    float length;
} part_link;

/*
 * The shortest link between each two of the first `part_count` parts, by growing all of them through the air together.
 * owners, sources: (cells). Returns how many.
 */
static int links_find(const shape *s, size_t cell_count, int part_count, const int *labels, int *owners, int *sources,
                      int *queue, float limit, part_link *links, int link_limit)
{
    const int *size = s->solid.size;
    int row = size[0];
    int layer = size[0] * size[1];
    size_t head = 0;
    size_t tail = 0;
    int count = 0;

    /* cells of the parts are the first of the queue */
    for (size_t c = 0; c < cell_count; c++) {
        owners[c] = labels[c] < part_count ? labels[c] : -1;
        sources[c] = (int)c;
        if (owners[c] >= 0) queue[tail++] = (int)c;
    }

    /* grow all parts at once, cell by cell */
    while (head < tail) {
        int cell = queue[head++];
        int x = cell % row;
        int y = cell / row % size[1];
        int z = cell / layer;
        if (x == 0 || y == 0 || z == 0 || x + 1 == size[0] || y + 1 == size[1] || z + 1 == size[2]) continue;

        for (int k = 0; k < 27; k++) {
            int other = cell + k % 3 - 1 + (k / 3 % 3 - 1) * row + (k / 9 - 1) * layer;
            if (owners[other] < 0) {
                owners[other] = owners[cell];
                sources[other] = sources[cell];
                queue[tail++] = other;
                continue;
            }
            if (owners[other] == owners[cell]) continue;

            int from = sources[cell];
            int to = sources[other];
            vec3 a = solid_centre(&s->solid, from % row, from / row % size[1], from / layer);
            vec3 b = solid_centre(&s->solid, to % row, to / row % size[1], to / layer);
            float length = vec3_distance(a, b);
            if (length > limit) continue;

            /* keep the shortest link of each two parts */
            int low = MIN(owners[cell], owners[other]);
            int high = MAX(owners[cell], owners[other]);
            int at = 0;
            while (at < count && (links[at].a != low || links[at].b != high)) at++;
            if (at == link_limit || (at < count && links[at].length <= length)) continue;
            bool turned = owners[cell] != low;
            links[at] = (part_link){low, high, turned ? to : from, turned ? from : to, length};
            if (at == count) count++;
        }
    }

    return count;
}

/* Join the parts by the shortest links (Kruskal); keep the tree that holds the largest part. */
static cutis_result parts_join(shape *s, size_t cell_count, arena *memory, arena *scratch, cutis_error *error)
{
    enum { LINK_LIMIT = 1024 };
    int *labels = ARENA_ARRAY(scratch, int, cell_count);
    int *stack = ARENA_ARRAY(scratch, int, cell_count);
    int *owners = ARENA_ARRAY(scratch, int, cell_count);
    int *sources = ARENA_ARRAY(scratch, int, cell_count);
    int *sizes = ARENA_ARRAY(scratch, int, cell_count);
    part_link *links = ARENA_ARRAY(scratch, part_link, LINK_LIMIT);
    if (scratch->failed) return error_memory(error, "the shape of a body");

    int all = parts_label(s, cell_count, labels, stack, sizes, (int)cell_count);

    /* the largest parts get the low numbers; crumbs are left out */
    int rank_count = 0;
    for (; rank_count < PARTS_MAX; rank_count++) {
        int best = -1;
        for (int p = 0; p < all; p++)
            if (sizes[p] > 0 && (best < 0 || sizes[p] > sizes[best])) best = p;
        if (best < 0 || sizes[best] < MAX(3, s->solid.inside_count / 4000)) break;
        sizes[best] = -1 - rank_count;
    }

    for (size_t c = 0; c < cell_count; c++)
        if (labels[c] >= 0) labels[c] = sizes[labels[c]] < 0 ? -1 - sizes[labels[c]] : -1;
    s->component_count = all;
    if (rank_count == 0) return error_set(error, CUTIS_ERROR_DATA, "the surface encloses no volume");

    /* links, shortest first */
    int parents[PARTS_MAX];
    part_link chosen[PARTS_MAX];
    int chosen_count = 0;
    for (int p = 0; p < rank_count; p++) parents[p] = p;
    if (rank_count > 1) {
        float limit = BRIDGE * s->size;
        int count = links_find(s, cell_count, rank_count, labels, owners, sources, stack, limit, links, LINK_LIMIT);

        for (;;) {
            int best = -1;
            for (int k = 0; k < count; k++)
                if (forest_root(parents, links[k].a) != forest_root(parents, links[k].b) &&
                    (best < 0 || links[k].length < links[best].length))
                    best = k;
            if (best < 0) break;
            forest_join(parents, links[best].a, links[best].b);
            chosen[chosen_count++] = links[best];
        }
    }

    /* nodes: cells of parts joined with the largest */
    s->nodes = ARENA_ARRAY(memory, int, cell_count);
    s->cells = ARENA_ARRAY(memory, int, s->solid.inside_count);
    if (memory->failed) return error_memory(error, "the shape of a body");
    for (size_t c = 0; c < cell_count; c++) {
        bool kept = labels[c] >= 0 && forest_root(parents, labels[c]) == forest_root(parents, 0);
        s->nodes[c] = kept ? s->count : -1;
        if (kept) s->cells[s->count++] = (int)c;
    }

    s->dropped_count = s->solid.inside_count - s->count;

    /* bridges, both ways */
    s->bridges = ARENA_ARRAY(memory, shape_bridge, 2 * (size_t)chosen_count + 1);
    s->bridge_at = ARENA_ARRAY(memory, int, s->count);
    if (memory->failed) return error_memory(error, "the shape of a body");
    memset(s->bridge_at, 0xFF, (size_t)s->count * sizeof *s->bridge_at);

    for (int k = 0; k < 2 * chosen_count; k++) {
        const part_link *link = &chosen[k / 2];
        int a = s->nodes[k % 2 ? link->to : link->from];
        int b = s->nodes[k % 2 ? link->from : link->to];
        if (a < 0 || b < 0) continue;

        /* by node, by insertion */
        int at = s->bridge_count++;
        for (; at > 0 && s->bridges[at - 1].a > a; at--) s->bridges[at] = s->bridges[at - 1];
        s->bridges[at] = (shape_bridge){a, b, link->length};
    }

    for (int k = s->bridge_count - 1; k >= 0; k--) s->bridge_at[s->bridges[k].a] = k;
    return CUTIS_OK;
}

/* ---- tips ---- */

typedef struct tip_sort {
    float distance;
    int node;
} tip_sort;

/* By falling distance: a heap sort. */
static void nodes_sort(tip_sort *items, int count)
{
    /* build the heap from its last parent up, then move its root to the end again and again */
    for (int end = -1, start = count / 2; end != 1;) {
        if (end < 0) end = count;
        int root;
        if (start > 0) {
            root = --start;
        } else {
            tip_sort swap = items[--end];
            items[end] = items[0];
            items[0] = swap;
            root = 0;
            if (end <= 1) break;
        }

        /* sift down: the smallest stands on top, so that it goes to the end first */
        for (;;) {
            int child = 2 * root + 1;
            if (child >= end) break;
            bool right =
                child + 1 < end &&
                (items[child + 1].distance < items[child].distance ||
                 (items[child + 1].distance == items[child].distance && items[child + 1].node > items[child].node));
            if (right) child++;
            bool below = items[child].distance < items[root].distance ||
                         (items[child].distance == items[root].distance && items[child].node > items[root].node);
            if (!below) break;
            tip_sort swap = items[child];
            items[child] = items[root];
            items[root] = swap;
            root = child;
        }
    }
}

static void tip_offer(shape *s, shape_tip tip)
{
    int at = s->tip_count;
    if (at == SHAPE_TIPS) {
        if (s->tips[at - 1].reach >= tip.reach) return;
        at--;
    } else {
        s->tip_count++;
    }
    for (; at > 0 && s->tips[at - 1].reach < tip.reach; at--) s->tips[at] = s->tips[at - 1];
    s->tips[at] = tip;
}

static shape_tip tip_make(const shape *s, int node, float reach, int elder, int seam)
{
    vec3 place = s->places[node];
    return (shape_tip){node, s->distances[node], reach, elder, seam, place, place, 0, -1};
}

static bool tips_find(shape *s, arena *scratch)
{
    tip_sort *order = ARENA_ARRAY(scratch, tip_sort, s->count);
    int *up = ARENA_ARRAY(scratch, int, s->count);
    int *tops = ARENA_ARRAY(scratch, int, s->count); /* farthest node of a set, by its root */
    if (scratch->failed) return false;

    /* nodes, farthest first */
    for (int i = 0; i < s->count; i++) {
        order[i] = (tip_sort){s->distances[i], i};
        up[i] = -1;
    }

    nodes_sort(order, s->count);
    s->farthest = order[0].distance;
    for (int k = 0; k < s->count; k++) {
        int node = order[k].node;
        int others[32];
        float lengths[32];
        int count = node_neighbours(s, node, others, lengths);

        up[node] = node;
        tops[node] = node;
        for (int i = 0; i < count; i++) {
            if (up[others[i]] < 0) continue;

            int a = forest_root(up, node);
            int b = forest_root(up, others[i]);
            if (a == b) continue;

            /* the nearer top ends here */
            int elder = tops[a];
            int younger = tops[b];
            if (s->distances[younger] > s->distances[elder] ||
                (s->distances[younger] == s->distances[elder] && younger < elder)) {
                int swap = elder;
                elder = younger;
                younger = swap;
            }

            float reach = s->distances[younger] - s->distances[node];
            if (reach > BUMP * s->farthest && younger != node) tip_offer(s, tip_make(s, younger, reach, elder, node));
            forest_join(up, a, b);
            tops[forest_root(up, a)] = elder;
        }
    }

    int first = order[0].node;
    tip_offer(s, tip_make(s, first, s->farthest, -1, -1));

    /* elders by their place among the tips */
    for (int i = 0; i < s->tip_count; i++) {
        int elder = -1;
        for (int k = 0; k < s->tip_count && s->tips[i].elder >= 0; k++)
            if (s->tips[k].node == s->tips[i].elder) elder = k;
        s->tips[i].elder = elder;
    }

    return true;
}

/*
 * The end of a limb on the surface. What is thinner than a cell is lost where it lies between the centres of cells, so
 * that the last cell of a hand depends on how the grid lies; the points of the surface do not.
 */
static void tip_extend(const shape *s, int point_count, const float *positions, shape_tip *tip)
{
    /* the way out: over the last six cells */
    float spacing = s->solid.spacing;
    int back = tip->node;
    while (s->parents[back] >= 0 && vec3_distance(s->places[back], tip->place) < 6 * spacing) back = s->parents[back];
    vec3 out = vec3_normalize(vec3_sub(tip->place, s->places[back]));
    if (!(vec3_length2(out) > 0)) return;

    /* out of the solid */
    while (tip->over < 3 * spacing && solid_sample(&s->solid, vec3_madd(tip->place, out, tip->over)) < 0)
        tip->over += 0.25f * spacing;

    /* points in a narrow cone around that way, up to seven cells on */
    for (int i = 0; i < point_count; i++) {
        vec3 d = vec3_sub(vec3_load(positions + 3 * (size_t)i), tip->place);
        float along = vec3_dot(d, out);
        if (along <= tip->over || along > 7 * spacing) continue;
        float wide = 0.3f * along + spacing;
        if (vec3_length2(d) - along * along < wide * wide) tip->over = along;
    }

    tip->end = vec3_madd(tip->place, out, tip->over);
}

/* ---- middle ---- */

static int farthest_node(const shape *s, const float *distances)
{
    int best = 0;
    for (int i = 1; i < s->count; i++)
        if (distances[i] < INFINITY && distances[i] > distances[best]) best = i;
    return best;
}

static bool middle_find(shape *s, shape_room *room, arena *scratch)
{
    float *a = ARENA_ARRAY(scratch, float, s->count);
    float *b = ARENA_ARRAY(scratch, float, s->count);

    /* the deepest node, the node farthest from it, and the node farthest from that */
    s->middle = 0;
    for (int i = 1; i < s->count; i++)
        if (s->depths[i] > s->depths[s->middle]) s->middle = i;
    if (scratch->failed) return false;

    shape_spread(s, s->middle, room, b, NULL);
    int first = farthest_node(s, b);
    shape_spread(s, first, room, a, NULL);
    int second = farthest_node(s, a);
    shape_spread(s, second, room, b, NULL);

    /* the deepest of the nodes half way */
    float length = a[second];
    float best = -1;
    for (int i = 0; i < s->count; i++) {
        if (a[i] + b[i] > 1.08f * length || fabsf(a[i] - b[i]) > 0.06f * length) continue;
        if (s->depths[i] <= best) continue;
        best = s->depths[i];
        s->middle = i;
    }

    return true;
}

/* ---- build ---- */

cutis_result shape_build(int point_count, const float *positions, int triangle_count, const int *triangles, int cells,
                         const cutis_jobs *jobs, arena *memory, shape *out, cutis_error *error)
{
    *out = (shape){0};
    vec3 low = {INFINITY, INFINITY, INFINITY};
    vec3 high = {-INFINITY, -INFINITY, -INFINITY};

    /* bounds of the triangles */
    for (int i = 0; i < 3 * triangle_count; i++) {
        vec3 p = vec3_load(positions + 3 * (size_t)triangles[i]);
        low = vec3_min(low, p);
        high = vec3_max(high, p);
    }

    vec3 extent = vec3_sub(high, low);
    float longest = MAX(extent.x, MAX(extent.y, extent.z));
    float spacing = longest / (float)cells;

    /* a bulky body needs larger cells for the same time, and has no thin limbs to lose */
    double box = (double)extent.x / spacing * (extent.y / spacing) * (extent.z / spacing);
    double limit = 0.35 * cells * cells * cells;
    if (box > limit) spacing *= (float)det_pow(box / limit, 1.0 / 3);

    solid_def def = {point_count, positions, triangle_count, triangles, spacing, 2 * spacing, jobs};
    cutis_result result = solid_build(&def, memory, &out->solid, error);
    if (result != CUTIS_OK) return result;

    out->size = vec3_length(extent);
    size_t cell_count = (size_t)out->solid.size[0] * (size_t)out->solid.size[1] * (size_t)out->solid.size[2];

    arena scratch = arena_create(&memory->allocator);
    result = parts_join(out, cell_count, memory, &scratch, error);
    if (result == CUTIS_OK) {
        /* places and depths of the nodes */
        out->places = ARENA_ARRAY(memory, vec3, out->count);
        out->depths = ARENA_ARRAY(memory, float, out->count);
        out->distances = ARENA_ARRAY(memory, float, out->count);
        out->parents = ARENA_ARRAY(memory, int, out->count);
        float *costs = ARENA_ARRAY(&scratch, float, out->count);
        bool fine = !memory->failed && !scratch.failed;

        out->low = high;
        out->high = low;
        for (int i = 0; i < out->count && fine; i++) {
            int c = out->cells[i];
            int row = out->solid.size[0];
            out->places[i] =
                solid_centre(&out->solid, c % row, c / row % out->solid.size[1], c / row / out->solid.size[1]);
            out->depths[i] = -out->solid.distance[c];
            out->low = vec3_min(out->low, out->places[i]);
            out->high = vec3_max(out->high, out->places[i]);
        }

        /* middle, ways to it, far ends */
        shape_room room;
        fine = fine && shape_room_create(out, &scratch, &room) && middle_find(out, &room, &scratch);
        if (fine) shape_spread(out, out->middle, &room, out->distances, NULL);
        if (fine) ways_find(out, out->middle, &room, costs, out->parents);
        fine = fine && tips_find(out, &scratch);
        for (int i = 0; i < out->tip_count && fine; i++) tip_extend(out, point_count, positions, &out->tips[i]);

        if (!fine) result = error_memory(error, "the shape of a body");
    }

    arena_destroy(&scratch);
    return result;
}

void shape_spread(const shape *s, int from, shape_room *room, float *distances, int *parents)
{
    lengths_find(s, from, room, distances, parents);
}

/* ---- curves ---- */

void shape_curve_trace(const shape *s, const shape_tip *tip, shape_curve *curve)
{
    /* the way in nodes, thinned to what fits */
    int node = tip->node;
    int steps = 0;
    for (int i = node; i >= 0; i = s->parents[i]) steps++;
    int stride = 1 + (steps - 1) / (SHAPE_CURVE - 3);
    int count = 0;
    int step = 0;

    /* from the end on the surface */
    if (tip->over > 0) {
        curve->nodes[count] = node;
        curve->places[count] = tip->end;
        curve->radii[count++] = 0;
    }

    /* then node by node */
    for (int i = node; i >= 0; i = s->parents[i], step++) {
        if (step % stride && s->parents[i] >= 0) continue;
        curve->nodes[count] = i;
        curve->places[count] = s->places[i];
        curve->radii[count++] = s->depths[i];
    }

    curve->count = count;

    /* smooth, with the ends held */
    for (int round = 0; round < 6; round++) {
        vec3 before = curve->places[0];
        float radius_before = curve->radii[0];
        for (int i = 1; i + 1 < count; i++) {
            vec3 mean = vec3_lerp(before, curve->places[i + 1], 0.5f);
            float radius = 0.5f * (radius_before + curve->radii[i + 1]);
            before = curve->places[i];
            radius_before = curve->radii[i];
            curve->places[i] = vec3_lerp(curve->places[i], mean, 0.5f);
            curve->radii[i] = 0.5f * (curve->radii[i] + radius);
        }
    }

    /* arc lengths */
    curve->lengths[0] = 0;
    for (int i = 1; i < count; i++)
        curve->lengths[i] = curve->lengths[i - 1] + vec3_distance(curve->places[i], curve->places[i - 1]);
}

vec3 shape_curve_at(const shape_curve *c, float length, float *radius)
{
    int i = 1;
    while (i + 1 < c->count && c->lengths[i] < length) i++;
    if (c->count < 2) {
        if (radius) *radius = c->radii[0];
        return c->places[0];
    }
    float step = c->lengths[i] - c->lengths[i - 1];
    float t = step > 0 ? (length - c->lengths[i - 1]) / step : 0;
    t = CLAMP(t, 0, 1);
    if (radius) *radius = c->radii[i - 1] + t * (c->radii[i] - c->radii[i - 1]);
    return vec3_lerp(c->places[i - 1], c->places[i], t);
}

float shape_visible(const shape *s, vec3 a, vec3 b, float slack)
{
    int steps = (int)(vec3_distance(a, b) / (0.5f * s->solid.spacing)) + 2;
    int inside = 0;
    for (int i = 0; i <= steps; i++)
        inside += solid_sample(&s->solid, vec3_lerp(a, b, (float)i / (float)steps)) < slack;
    return (float)inside / (float)(steps + 1);
}

vec3 shape_centre(const shape *s, vec3 place, float depth)
{
    for (int round = 0; round < 40; round++) {
        float distance = solid_sample(&s->solid, place);
        if (distance <= -depth) break;
        vec3 next = vec3_madd(place, vec3_normalize(solid_gradient(&s->solid, place)), -0.5f * s->solid.spacing);
        if (solid_sample(&s->solid, next) >= distance) break;
        place = next;
    }
    return place;
}
