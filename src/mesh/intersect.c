/*
 * intersect.c: whether two triangles pass through each other, and how many of a mesh do.
 *
 * After Devillers and Guigue 2002, "Faster triangle-triangle intersection tests": signs of determinants only,
 * and those are exact. Departure: crossing and touching are told apart. Triangles that merely touch in a point,
 * along a line or in a common plane do not count as intersecting, and so a triangle without area never does.
 */
#include "mesh/mesh.h"

#include "mesh/predicates.h"

/*
 * Sides of the corners of t to the plane `plane`: apart when all lie strictly on one side, touching when none lies
 * on one of the sides. When they cross, *apex is the corner that is alone on its side, and *side is its sign.
 */
static triangles_relation plane_relation(const float *const plane[3], const float *const t[3], int *apex, int *side)
{
    orient_plane side_of = orient_plane_make(plane[0], plane[1], plane[2]);
    int signs[3], above = 0, below = 0;

    for (int k = 0; k < 3; k++) {
        /* A shared corner is known to lie in the plane; the exact stage need not find out. */
        bool shared = t[k] == plane[0] || t[k] == plane[1] || t[k] == plane[2];
        signs[k] = shared ? 0 : orient_plane_side(&side_of, t[k]);
        above += signs[k] > 0;
        below += signs[k] < 0;
    }

    if (above == 3 || below == 3) return TRIANGLES_APART;
    if (above == 0 || below == 0) return TRIANGLES_TOUCH;

    /* the corner that is alone on its side */
    *side = above == 1 ? 1 : -1;
    for (int k = 0; k < 3; k++)
        if (signs[k] == *side) *apex = k;

    return TRIANGLES_CROSS;
}

/* Sign of the tetrahedron over two edges; 0 when they share a corner, which the exact stage need not find out. */
static int edges_orient(const float *p1, const float *q1, const float *p2, const float *q2)
{
    if (p1 == p2 || p1 == q2 || q1 == p2 || q1 == q2) return 0;
    return orient3d(p1, q1, p2, q2);
}

triangles_relation triangles_relate(const float *const a[3], const float *const b[3])
{
    int apex_a = 0, apex_b = 0, side_a = 1, side_b = 1;

    /* each triangle against the plane of the other */
    triangles_relation relation_a = plane_relation(b, a, &apex_a, &side_a);
    if (relation_a == TRIANGLES_APART) return TRIANGLES_APART;
    triangles_relation relation_b = plane_relation(a, b, &apex_b, &side_b);
    if (relation_b == TRIANGLES_APART) return TRIANGLES_APART;
    if (relation_a == TRIANGLES_TOUCH || relation_b == TRIANGLES_TOUCH) return TRIANGLES_TOUCH;

    /* Each apex first; the other two in the order in which the other triangle's apex is above. */
    const float *p1 = a[apex_a], *q1 = a[(apex_a + (side_b > 0 ? 1 : 2)) % 3],
                *r1 = a[(apex_a + (side_b > 0 ? 2 : 1)) % 3];
    const float *p2 = b[apex_b], *q2 = b[(apex_b + (side_a > 0 ? 1 : 2)) % 3],
                *r2 = b[(apex_b + (side_a > 0 ? 2 : 1)) % 3];

    /* Both cut the line of the two planes in an interval; two determinants compare the ends. */
    int left = edges_orient(p1, q1, p2, q2);
    if (left > 0) return TRIANGLES_APART;
    int right = edges_orient(p1, r1, p2, r2);
    if (right < 0) return TRIANGLES_APART;
    return left < 0 && right > 0 ? TRIANGLES_CROSS : TRIANGLES_TOUCH;
}

bool triangles_intersect(const float *const a[3], const float *const b[3])
{
    return triangles_relate(a, b) == TRIANGLES_CROSS;
}

triangles_relation mesh_triangles_relate(const int *corner_a, const int *corner_b, const float *positions)
{
    const float *a[3], *b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = positions + 3 * (size_t)corner_a[k];
        b[k] = positions + 3 * (size_t)corner_b[k];
    }

    /* The boxes apart along an axis. */
    for (int k = 0; k < 3; k++) {
        float a_min = MIN(MIN(a[0][k], a[1][k]), a[2][k]), a_max = MAX(MAX(a[0][k], a[1][k]), a[2][k]);
        float b_min = MIN(MIN(b[0][k], b[1][k]), b[2][k]), b_max = MAX(MAX(b[0][k], b[1][k]), b[2][k]);
        if (a_max < b_min || b_max < a_min) return TRIANGLES_APART;
    }

    return triangles_relate(a, b);
}

enum { TASK_LIMIT = 64 }; /* a fixed number: the split must not depend on the number of threads */

typedef struct count_task {
    const int *triangles;
    const float *positions;
    int count;        /* of intersecting pairs so far */
    int *pairs;       /* where they go, or NULL */
    int first, limit; /* only pairs whose number, with `first` before this task, is below the limit are written */
} count_task;

typedef struct count_job {
    const bvh *tree;
    bvh_pair pairs[TASK_LIMIT];
    count_task tasks[TASK_LIMIT];
} count_job;

static void count_pair(void *context, int a, int b)
{
    count_task *task = context;
    const int *corner_a = task->triangles + 3 * (size_t)a, *corner_b = task->triangles + 3 * (size_t)b;
    if (triangles_share_point(corner_a, corner_b)) return;
    if (mesh_triangles_relate(corner_a, corner_b, task->positions) != TRIANGLES_CROSS) return;
    int index = task->first + task->count++;
    if (task->pairs && index < task->limit) {
        task->pairs[2 * (size_t)index] = a;
        task->pairs[2 * (size_t)index + 1] = b;
    }
}

static void count_block(void *context, int begin, int end)
{
    count_job *job = context;
    for (int i = begin; i < end; i++) bvh_pair_visit(job->tree, job->pairs[i], count_pair, &job->tasks[i]);
}

int mesh_self_intersections(const mesh *m, const bvh *tree, const float *positions, const cutis_jobs *jobs, int *pairs,
                            int limit)
{
    /* count, a task each */
    count_job job = {.tree = tree};
    int task_count = bvh_pair_tasks(tree, job.pairs, TASK_LIMIT);
    for (int i = 0; i < task_count; i++) job.tasks[i] = (count_task){.triangles = m->triangles, .positions = positions};
    parallel_for(jobs, task_count, 1, count_block, &job);

    /* where the pairs of each task would start */
    int total = 0;
    for (int i = 0; i < task_count; i++) {
        count_task *task = &job.tasks[i];
        *task = (count_task){m->triangles, positions, task->count, pairs, total, limit};
        total += task->count;
    }

    /* Where the pairs are wanted, search again, now that the place of each task's first one is known. */
    if (pairs && total > 0) {
        for (int i = 0; i < task_count; i++) job.tasks[i].count = 0;
        parallel_for(jobs, task_count, 1, count_block, &job);
    }

    return total;
}
