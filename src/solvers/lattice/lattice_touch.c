/*
 * lattice_touch.c: contact of the skin with itself in real time. The paper has none.
 *
 * Skin is seen as discs: each has a place, a normal and an area of its own. Two discs touch where they face each other,
 * overlap, and have come much nearer than they are at rest; the last tells skin that meets from skin that is folded or
 * thin. Discs are found by hashing their places, so that the cost grows with the skin and not with its square.
 *
 * It happens twice. At voxel level, in every substep, each voxel of the skin is one disc, and those that have passed
 * each other are moved back, half each; so flesh yields, and its velocity knows. At surface level, only for points that
 * are shown, only near voxels that touch: each point is a disc, and stands against the mean of those that it meets.
 * What is left is what lies deeper than the discs reach: then the pose has driven bones into flesh.
 */
#include <string.h>

#include "solvers/lattice/lattice_step.h"
#include "solvers/solver_kit.h"

/* Discs touch when their normals are further than about 100 degrees apart. */
#define FACING -0.2f
/* They have come nearer when the rest distance is this much more, and a disc's width. */
#define NEARER 1.5f
/* Radius of a disc in its widths. */
#define WIDTHS 2.0f
/* Reach of discs: of voxels in their edges, of points in the edges of a voxel. */
#define VOXEL_REACH 1.5f
#define POINT_REACH 0.6f
/* Rounds at surface level. */
#define POINT_ROUNDS 3
/* Share of a contact that voxels take in a substep: all at once they would tremble. */
#define YIELD 0.3f

/* ---- hashing ---- */

typedef struct cell_key {
    int x, y, z;
} cell_key;

static inline cell_key key_of(quad place, float inverse_cell)
{
    quad at = place * inverse_cell;
    return (cell_key){(int)floorf(at[0]), (int)floorf(at[1]), (int)floorf(at[2])};
}

static inline uint32_t key_hash(cell_key k, int bucket_count)
{
    uint32_t h = (uint32_t)k.x * 73856093u ^ (uint32_t)k.y * 19349663u ^ (uint32_t)k.z * 83492791u;
    return (h ^ h >> 15) & (uint32_t)(bucket_count - 1);
}

static inline float dot3(quad a, quad b)
{
    quad products = a * b;
    return products[0] + products[1] + products[2];
}

static inline quad unit3(quad a) { return a * (1 / sqrtf(fmaxf(dot3(a, a), 1e-30f))); }

/* Sort discs into buckets: those of one are a run of `order`. */
static void discs_hash(lattice_discs *d, float cell)
{
    float inverse = 1 / cell;
    d->inverse_cell = inverse;
    memset(d->first, 0, ((size_t)d->bucket_count + 1) * sizeof *d->first);
    for (int i = 0; i < d->count; i++) {
        d->buckets[i] = (int)key_hash(key_of(d->places[i], inverse), d->bucket_count);
        d->first[d->buckets[i] + 1]++;
    }
    for (int b = 0; b < d->bucket_count; b++) d->first[b + 1] += d->first[b];
    for (int i = d->count - 1; i >= 0; i--) d->order[--d->first[d->buckets[i] + 1]] = i;

    /* filling backwards left first[b + 1] at the start of b */
    memmove(d->first, d->first + 1, (size_t)d->bucket_count * sizeof *d->first);
    d->first[d->bucket_count] = d->count;
}

/* What a disc meets, summed over the discs in reach. */
typedef struct disc_meeting {
    float weight;
    float gap;   /* weight x distance along the common normal; negative: passed */
    quad normal; /* weight x away from what is met */
    float give;  /* weight x share of the way that falls to this disc */
} disc_meeting;

static disc_meeting disc_meet(const lattice_discs *d, int i, float reach, float width)
{
    disc_meeting sum = {0};

    quad place = d->places[i], normal = d->normals[i], rest = d->rests[i];
    cell_key home = key_of(place, d->inverse_cell);
    float reach2 = reach * reach;

    /* the cells around */
    for (int c = 0; c < 27; c++) {
        cell_key key = {home.x + c % 3 - 1, home.y + c / 3 % 3 - 1, home.z + c / 9 - 1};
        int bucket = (int)key_hash(key, d->bucket_count);
        for (int k = d->first[bucket]; k < d->first[bucket + 1]; k++) {
            int j = d->order[k];

            /* near, and facing it */
            quad away = place - d->places[j];
            float distance2 = dot3(away, away);
            if (!(distance2 < reach2) || j == i) continue;
            if (!(dot3(normal, d->normals[j]) < FACING)) continue;

            /* another cell of the same bucket is looked at by itself */
            cell_key own = key_of(d->places[j], d->inverse_cell);
            if (own.x != key.x || own.y != key.y || own.z != key.z) continue;

            /* much nearer than at rest */
            quad apart = rest - d->rests[j];
            float nearer = NEARER * sqrtf(distance2) + width;
            if (!(dot3(apart, apart) > nearer * nearer)) continue;

            /* beside its own normal a disc meets nothing */
            quad across = unit3(d->normals[j] - normal);
            float gap = dot3(away, across);
            float share = 1 - (distance2 - gap * gap) / (WIDTHS * WIDTHS * width * width);
            if (!(share > 0)) continue;
            share *= share;

            /* add it up */
            sum.weight += share;
            sum.gap += share * gap;
            sum.normal += across * share;
            sum.give += share * (d->fixed[j] ? 1.0f : 0.5f);
        }
    }
    return sum;
}

/* The move of a disc that has passed what it meets; w: whether it meets anything near. */
static quad meeting_move(const disc_meeting *sum, float gap, float near)
{
    if (!(sum->weight > 1e-6f)) return (quad){0, 0, 0, 0};
    float lack = gap - sum->gap / sum->weight;
    quad move = {0, 0, 0, 0};
    if (lack > 0) move = unit3(sum->normal) * (lack * sum->give / sum->weight);
    move[3] = lack > -near ? 1.0f : 0.0f;
    return move;
}

/* ---- voxels ---- */

typedef struct voxel_job {
    const lattice_model *m;
    lattice_scratch *t;
    float reach, width, gap;
} voxel_job;

static void voxel_block(void *context, int begin, int end)
{
    const voxel_job *job = context;
    const lattice_discs *d = &job->t->voxel_discs;
    for (int i = begin; i < end; i++) {
        disc_meeting sum = disc_meet(d, i, job->reach, job->width);
        job->t->voxel_moves[i] = meeting_move(&sum, job->gap, job->width);
    }
}

int lattice_touch_voxels(const lattice_model *m, lattice_scratch *t, const quad *targets, const cutis_jobs *jobs)
{
    const lattice_touch *touch = &m->touch;
    lattice_discs *d = &t->voxel_discs;

    /* where the discs are */
    d->count = touch->count;
    d->bucket_count = touch->bucket_count;
    for (int i = 0; i < touch->count; i++) {
        int v = touch->voxels[i];
        const lattice_frame *frame = &t->turns[v];
        quad offset = touch->offsets[i], n = m->outward[v];
        d->places[i] = t->guess[v] + frame->r[0] * offset[0] + frame->r[1] * offset[1] + frame->r[2] * offset[2];
        d->normals[i] = unit3(frame->r[0] * n[0] + frame->r[1] * n[1] + frame->r[2] * n[2]);
        d->rests[i] = touch->rests[i];
        d->fixed[i] = v < m->bone_count;
    }

    /* who meets whom */
    float reach = VOXEL_REACH * touch->edge;
    discs_hash(d, reach);
    voxel_job job = {m, t, reach, touch->edge, touch->gap};
    parallel_for(jobs, touch->count, 64, voxel_block, &job);

    /* flesh moves, as far as it gives; bone stands */
    int contacts = 0;
    memset(t->touched, 0, (size_t)m->padded);
    for (int i = 0; i < touch->count; i++) {
        int v = touch->voxels[i];
        quad move = t->voxel_moves[i];
        if (!(move[3] > 0)) continue;
        t->touched[v] = 1;
        move[3] = 0;
        float length2 = dot3(move, move);
        if (length2 > 0) contacts++;
        if (v < m->bone_count || !(length2 > 0)) continue;

        /* no further than its bound */
        quad p = t->guess[v] + move * YIELD, away = p - targets[v];
        float most = m->bounds ? m->bounds[v] : 1, far2 = dot3(away, away);
        if (far2 > most * most) p = targets[v] + away * (most / sqrtf(far2));
        t->guess[v] = p;
    }
    return contacts;
}

/* ---- points ---- */

typedef struct point_job {
    const lattice_model *m;
    lattice_scratch *t;
    const float *points;
    float reach, width, gap;
} point_job;

static vec3 point_normal(const mesh *surface, const float *points, int p)
{
    vec3 sum = {0, 0, 0};
    for (int n = surface->point_triangle_first[p]; n < surface->point_triangle_first[p + 1]; n++) {
        const int *corner = surface->triangles + 3 * (size_t)surface->point_triangles[n];
        vec3 a = vec3_load(points + 3 * (size_t)corner[0]), b = vec3_load(points + 3 * (size_t)corner[1]),
             c = vec3_load(points + 3 * (size_t)corner[2]);
        sum = vec3_add(sum, vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
    }
    return sum;
}

static void normal_block(void *context, int begin, int end)
{
    const point_job *job = context;
    lattice_discs *d = &job->t->point_discs;
    for (int i = begin; i < end; i++) {
        vec3 n = point_normal(job->m->touch.surface, job->points, job->t->point_list[i]);
        d->normals[i] = unit3((quad){n.x, n.y, n.z, 0});
    }
}

static void point_block(void *context, int begin, int end)
{
    const point_job *job = context;
    const lattice_discs *d = &job->t->point_discs;
    for (int i = begin; i < end; i++) {
        /* what met nothing in the first round meets nothing later */
        if (!(job->t->point_moves[i][3] > 0)) continue;
        disc_meeting sum = disc_meet(d, i, job->reach, job->width);
        job->t->point_moves[i] = meeting_move(&sum, job->gap, job->width);
    }
}

/* The points on voxels that touch, and on those beside them. Returns their number. */
static int points_gather(const lattice_model *m, lattice_scratch *t)
{
    int count = 0;
    if (!memchr(t->touched, 1, (size_t)m->padded)) return 0;
    for (int p = 0; p < m->surface.point_count; p++) {
        bool near = false;
        for (int i = m->surface.first[p]; i < m->surface.first[p + 1] && !near; i++)
            near = m->surface.weights[i] > 0.02f && t->touched[m->surface.voxels[i]];
        if (near) t->point_list[count++] = p;
    }
    return count;
}

void lattice_touch_points(const lattice_model *m, lattice_scratch *t, float *points, const cutis_jobs *jobs)
{
    /* points whose voxels touch */
    const lattice_touch *touch = &m->touch;
    lattice_discs *d = &t->point_discs;
    d->count = points_gather(m, t);
    d->bucket_count = touch->point_bucket_count;

    /* normals at the start of the rounds */
    point_job job = {m, t, points, POINT_REACH * touch->edge, touch->width, touch->gap};
    parallel_for(jobs, d->count, 256, normal_block, &job);

    /* their rest places */
    for (int i = 0; i < d->count; i++) {
        const float *r = touch->points + 3 * (size_t)t->point_list[i];
        d->rests[i] = (quad){r[0], r[1], r[2], 0};
        d->fixed[i] = 0;
        t->point_moves[i] = (quad){0, 0, 0, 1};
    }

    /* a few rounds of Jacobi */
    for (int round = 0; round < POINT_ROUNDS && d->count > 0; round++) {
        /* places in sizes */
        for (int i = 0; i < d->count; i++) {
            const float *x = points + 3 * (size_t)t->point_list[i];
            d->places[i] = (quad){x[0] / m->size, x[1] / m->size, x[2] / m->size, 0};
        }

        /* search and move */
        discs_hash(d, job.reach);
        parallel_for(jobs, d->count, 64, point_block, &job);
        for (int i = 0; i < d->count; i++) {
            float *x = points + 3 * (size_t)t->point_list[i];
            for (int k = 0; k < 3; k++) x[k] += m->size * t->point_moves[i][k];
        }
    }
}

/* ---- build ---- */

static int buckets_for(int count)
{
    int buckets = 64;
    while (buckets < 2 * count) buckets *= 2;
    return buckets;
}

cutis_result lattice_touch_build(lattice_model *m, const solver_build *build, const float *points, const float *rest,
                                 float gap, cutis_error *error)
{
    lattice_touch *touch = &m->touch;
    const mesh *surface = build->mesh;
    const lattice_surface *s = &m->surface;
    arena *memory = build->memory;
    quad *middles = ARENA_ARRAY(memory, quad, m->padded);
    int *voxels = ARENA_ARRAY(memory, int, m->count + 1);
    quad *offsets = ARENA_ARRAY(memory, quad, m->count + 1), *rests = ARENA_ARRAY(memory, quad, m->count + 1);
    if (memory->failed) return error_memory(error, "the lattice's contact");

    /* the middle of the skin that a voxel bears */
    for (int p = 0; p < s->point_count; p++)
        for (int i = s->first[p]; i < s->first[p + 1]; i++) {
            float w = MAX(s->weights[i], 0.0f);
            middles[s->voxels[i]] += (quad){points[3 * p], points[3 * p + 1], points[3 * p + 2], 1} * w;
        }

    /* a disc for each voxel that bears skin */
    for (int v = 0; v < m->count; v++) {
        float edge = rest[4 * (size_t)v + 3], weight = middles[v][3];
        if (!(m->outward[v][3] > 0) || !(weight > 1e-3f)) continue;
        quad middle = middles[v] * (1 / weight);
        middle[3] = 0;
        voxels[touch->count] = v;
        rests[touch->count] = middle;
        offsets[touch->count++] = middle - m->rest[v];
        touch->edge += edge;
    }

    /* hand over */
    touch->edge /= (float)MAX(touch->count, 1);
    touch->voxels = voxels;
    touch->rests = rests;
    touch->offsets = offsets;
    touch->gap = gap;

    /* the width of a point's disc is the mean edge */
    double sum = 0;
    for (int e = 0; e < surface->edge_count; e++)
        sum += vec3_distance(vec3_load(points + 3 * (size_t)surface->edges[2 * e]),
                             vec3_load(points + 3 * (size_t)surface->edges[2 * e + 1]));
    touch->width = surface->edge_count ? (float)(sum / surface->edge_count) : 0;

    /* hand over */
    touch->surface = surface;
    touch->points = points;
    touch->bucket_count = buckets_for(touch->count);
    touch->point_bucket_count = buckets_for(s->point_count);
    return CUTIS_OK;
}

void lattice_touch_carve(const lattice_model *m, kit_block *block, lattice_scratch *t)
{
    const lattice_touch *touch = &m->touch;
    int counts[2] = {touch->count, m->surface.point_count};
    int buckets[2] = {touch->bucket_count, touch->point_bucket_count};
    lattice_discs *discs[2] = {&t->voxel_discs, &t->point_discs};

    /* discs */
    for (int i = 0; i < 2; i++) {
        size_t n = (size_t)counts[i] + 1;
        discs[i]->places = KIT_CARVE(block, quad, n);
        discs[i]->normals = KIT_CARVE(block, quad, n);
        discs[i]->rests = KIT_CARVE(block, quad, n);
        discs[i]->fixed = KIT_CARVE(block, uint8_t, n);
        discs[i]->first = KIT_CARVE(block, int, buckets[i] + 2);
        discs[i]->order = KIT_CARVE(block, int, n);
        discs[i]->buckets = KIT_CARVE(block, int, n);
    }

    /* what moves */
    t->voxel_moves = KIT_CARVE(block, quad, counts[0] + 1);
    t->point_moves = KIT_CARVE(block, quad, counts[1] + 1);
    t->point_list = KIT_CARVE(block, int, counts[1] + 1);
    t->touched = KIT_CARVE(block, uint8_t, m->padded);
}
