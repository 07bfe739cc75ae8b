/*
 * mesh_shapes.h: small surfaces, for the tests of meshes and measures. Brings testing.h along.
 */
#ifndef TESTS_MESH_SHAPES_H
#define TESTS_MESH_SHAPES_H

#include "testing.h"

#include "mesh/mesh.h"

enum { SHAPE_POINTS = 20000, SHAPE_TRIANGLES = 40000 };

typedef struct shape {
    int point_count, triangle_count;
    float positions[3 * SHAPE_POINTS];
    int triangles[3 * SHAPE_TRIANGLES];
} shape;

static inline shape *shape_create(void) { return calloc(1, sizeof(shape)); }

static inline int shape_point(shape *s, double x, double y, double z)
{
    float *p = s->positions + 3 * s->point_count;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
    return s->point_count++;
}

static inline void shape_triangle(shape *s, int a, int b, int c)
{
    int *t = s->triangles + 3 * s->triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

static inline void shape_quad(shape *s, int a, int b, int c, int d)
{
    shape_triangle(s, a, b, c);
    shape_triangle(s, a, c, d);
}

/* A box from low to high, each face cut into n x n quads, welded. */
static inline void shape_box(shape *s, vec3 low, vec3 high, int n)
{
    int(*grid)[33][33] = malloc(33 * sizeof *grid);
    memset(grid, 0xff, 33 * sizeof *grid);
    for (int axis = 0; axis < 3; axis++) {
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    int corner[4];
                    for (int c = 0; c < 4; c++) {
                        int at[3];
                        at[axis] = side * n;
                        at[(axis + 1) % 3] = i + (c == 1 || c == 2);
                        at[(axis + 2) % 3] = j + (c >= 2);
                        int *index = &grid[at[0]][at[1]][at[2]];
                        if (*index < 0)
                            *index =
                                shape_point(s, low.x + (high.x - low.x) * at[0] / n,
                                            low.y + (high.y - low.y) * at[1] / n, low.z + (high.z - low.z) * at[2] / n);
                        corner[c] = *index;
                    }
                    if (side)
                        shape_quad(s, corner[0], corner[1], corner[2], corner[3]);
                    else
                        shape_quad(s, corner[3], corner[2], corner[1], corner[0]);
                }
            }
        }
    }
    free(grid);
}

/* A sphere of meridians and parallels. */
static inline void shape_sphere(shape *s, vec3 centre, double radius, int around, int along)
{
    const double pi = 3.14159265358979323846;
    int first = s->point_count;
    for (int j = 1; j < along; j++)
        for (int i = 0; i < around; i++)
            shape_point(s, centre.x + radius * sin(pi * j / along) * cos(2 * pi * i / around),
                        centre.y + radius * cos(pi * j / along),
                        centre.z - radius * sin(pi * j / along) * sin(2 * pi * i / around));
    int top = shape_point(s, centre.x, centre.y + radius, centre.z);
    int bottom = shape_point(s, centre.x, centre.y - radius, centre.z);
    for (int i = 0; i < around; i++) {
        int next = (i + 1) % around, last = first + (along - 2) * around;
        shape_triangle(s, top, first + i, first + next);
        shape_triangle(s, bottom, last + next, last + i);
        for (int j = 0; j + 2 < along; j++) {
            int row = first + j * around;
            shape_quad(s, row + i, row + around + i, row + around + next, row + next);
        }
    }
}

/* A tube around the x axis from x = 0 to x = length; with caps it is closed. */
static inline void shape_tube(shape *s, double length, double radius, int around, int along, bool caps)
{
    const double pi = 3.14159265358979323846;
    int first = s->point_count;
    for (int j = 0; j <= along; j++)
        for (int i = 0; i < around; i++)
            shape_point(s, length * j / along, radius * cos(2 * pi * i / around), radius * sin(2 * pi * i / around));
    for (int j = 0; j < along; j++) {
        for (int i = 0; i < around; i++) {
            int next = (i + 1) % around, row = first + j * around;
            shape_quad(s, row + i, row + next, row + around + next, row + around + i);
        }
    }
    if (!caps) return;
    int start = shape_point(s, 0, 0, 0), end = shape_point(s, length, 0, 0);
    for (int i = 0; i < around; i++) {
        int next = (i + 1) % around, last = first + along * around;
        shape_triangle(s, start, first + next, first + i);
        shape_triangle(s, end, last + i, last + next);
    }
}

/* ---- random numbers, -1..1 ---- */

static uint64_t shape_random_state = 1;

static inline float shape_random(void)
{
    shape_random_state = shape_random_state * 6364136223846793005u + 1442695040888963407u;
    return (float)(shape_random_state >> 40) / (float)(1 << 23) - 1;
}

/* Triangles of about `size` at random places, no point shared. */
static inline void shape_soup(shape *s, int count, float size)
{
    for (int t = 0; t < count; t++) {
        float x = shape_random(), y = shape_random(), z = shape_random();
        int first = s->point_count;
        for (int k = 0; k < 3; k++)
            shape_point(s, x + size * shape_random(), y + size * shape_random(), z + size * shape_random());
        shape_triangle(s, first, first + 1, first + 2);
    }
}

#endif
