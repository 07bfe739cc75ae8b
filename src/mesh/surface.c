/*
 * surface.c: volume, areas, normals and neighbourhoods of a surface at its current positions.
 *
 * Sums are taken in double and in the order of the triangles, so that they do not depend on threads.
 */
#include "mesh/mesh.h"

#include <assert.h>

typedef struct dvec3 {
    double x, y, z;
} dvec3;

static inline dvec3 dvec3_difference(const float *a, const float *b)
{
    return (dvec3){(double)a[0] - b[0], (double)a[1] - b[1], (double)a[2] - b[2]};
}

static inline dvec3 dvec3_cross(dvec3 a, dvec3 b)
{
    return (dvec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double dvec3_dot(dvec3 a, dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/* Twice the vector area of a triangle. */
static inline dvec3 triangle_cross(const int *corner, const float *positions)
{
    const float *a = positions + 3 * (size_t)corner[0];
    const float *b = positions + 3 * (size_t)corner[1], *c = positions + 3 * (size_t)corner[2];
    return dvec3_cross(dvec3_difference(b, a), dvec3_difference(c, a));
}

/* Six times the volume of the tetrahedron from `origin`, a point of the surface, which keeps the terms small. */
static inline double tetrahedron_volume6(const int *corner, const float *positions, const float *origin)
{
    dvec3 a = dvec3_difference(positions + 3 * (size_t)corner[0], origin);
    dvec3 b = dvec3_difference(positions + 3 * (size_t)corner[1], origin);
    dvec3 c = dvec3_difference(positions + 3 * (size_t)corner[2], origin);
    return dvec3_dot(a, dvec3_cross(b, c));
}

double mesh_volume(int triangle_count, const int *triangles, const float *positions)
{
    if (triangle_count == 0) return 0;
    const float *origin = positions + 3 * (size_t)triangles[0];
    double sum = 0;
    for (int t = 0; t < triangle_count; t++) sum += tetrahedron_volume6(triangles + 3 * (size_t)t, positions, origin);
    return sum / 6;
}

double mesh_closed_volume(const mesh *m, const float *positions)
{
    const float *origin = NULL;
    double sum = 0;
    for (int t = 0; t < m->triangle_count; t++) {
        const int *corner = m->triangles + 3 * (size_t)t;
        if (!m->component_closed[m->point_component[corner[0]]]) continue;
        if (!origin) origin = positions + 3 * (size_t)corner[0];
        sum += tetrahedron_volume6(corner, positions, origin);
    }
    return sum / 6;
}

double mesh_area(int triangle_count, const int *triangles, const float *positions)
{
    double sum = 0;
    for (int t = 0; t < triangle_count; t++) {
        dvec3 cross = triangle_cross(triangles + 3 * (size_t)t, positions);
        sum += sqrt(dvec3_dot(cross, cross));
    }
    return sum / 2;
}

/* The part of a triangle's area that belongs to corner `k`: Meyer et al. 2003, section 3.3 and figure 4. */
static double triangle_mixed_area(const int *corner, const float *positions, int k)
{
    const float *p = positions + 3 * (size_t)corner[k];
    const float *q = positions + 3 * (size_t)corner[(k + 1) % 3], *r = positions + 3 * (size_t)corner[(k + 2) % 3];
    dvec3 pq = dvec3_difference(q, p), pr = dvec3_difference(r, p), qr = dvec3_difference(r, q);
    dvec3 cross = dvec3_cross(pq, pr);
    double area2 = sqrt(dvec3_dot(cross, cross)); /* twice the area */
    if (!(area2 > 0)) return 0;

    /* an obtuse corner takes half of the area, its neighbours a quarter each */
    double dot_p = dvec3_dot(pq, pr), dot_q = -dvec3_dot(pq, qr), dot_r = dvec3_dot(pr, qr);
    if (dot_p < 0) return area2 / 4;
    if (dot_q < 0 || dot_r < 0) return area2 / 8;

    /* (|pr|^2 cot q + |pq|^2 cot r) / 8 */
    return (dvec3_dot(pr, pr) * dot_q + dvec3_dot(pq, pq) * dot_r) / (8 * area2);
}

void mesh_point_areas(const mesh *m, const float *positions, float *areas)
{
    for (int p = 0; p < m->point_count; p++) {
        double sum = 0;
        for (int i = m->point_triangle_first[p]; i < m->point_triangle_first[p + 1]; i++) {
            const int *corner = m->triangles + 3 * (size_t)m->point_triangles[i];
            int k = corner[0] == p ? 0 : corner[1] == p ? 1 : 2;
            sum += triangle_mixed_area(corner, positions, k);
        }
        areas[p] = (float)sum;
    }
}

typedef struct normals_job {
    const mesh *m;
    const float *positions;
    float *normals;
} normals_job;

static void normals_block(void *context, int begin, int end)
{
    const normals_job *job = context;
    const mesh *m = job->m;
    for (int p = begin; p < end; p++) {
        dvec3 sum = {0, 0, 0};

        for (int i = m->point_triangle_first[p]; i < m->point_triangle_first[p + 1]; i++) {
            dvec3 cross = triangle_cross(m->triangles + 3 * (size_t)m->point_triangles[i], job->positions);
            sum.x += cross.x;
            sum.y += cross.y;
            sum.z += cross.z;
        }

        /* a point without area points up */
        double length = sqrt(dvec3_dot(sum, sum));
        float *normal = job->normals + 3 * (size_t)p;
        if (length > 0) {
            normal[0] = (float)(sum.x / length);
            normal[1] = (float)(sum.y / length);
            normal[2] = (float)(sum.z / length);
        } else {
            normal[0] = 0;
            normal[1] = 1;
            normal[2] = 0;
        }
    }
}

void mesh_normals(const mesh *m, const float *positions, float *normals, const cutis_jobs *jobs)
{
    normals_job job = {m, positions, normals};
    parallel_for(jobs, m->point_count, 1024, normals_block, &job);
}

int mesh_rings(const mesh *m, int point, int rings, int *points, int limit, uint8_t *marks)
{
    assert(point >= 0 && point < m->point_count);
    if (limit <= 0) return 0;

    int count = 0, ring_begin = 0;
    points[count++] = point;
    marks[point] = 1;

    for (int ring = 0; ring < rings && count < limit; ring++) {
        int ring_end = count;
        for (int i = ring_begin; i < ring_end; i++) {
            int p = points[i];
            for (int n = m->point_neighbour_first[p]; n < m->point_neighbour_first[p + 1] && count < limit; n++) {
                int q = m->point_neighbours[n];
                if (marks[q]) continue;
                marks[q] = 1;
                points[count++] = q;
            }
        }

        ring_begin = ring_end;
    }

    /* leave the marks as they were */
    for (int i = 0; i < count; i++) marks[points[i]] = 0;
    return count;
}
