/*
 * mesh.h: a triangle surface over points: topology, areas, normals, volume, and its bounding-volume tree.
 */
#ifndef MESH_MESH_H
#define MESH_MESH_H

#include "base/core.h"
#include "cutis/character.h"
#include "math/math3.h"

/* Immutable topology with the rest positions it was made for. All arrays live in the arena given to build. */
typedef struct mesh {
    int point_count, triangle_count, edge_count;
    const float *positions;           /* (point_count x 3), rest */
    const int *triangles;             /* (triangle_count x 3) */
    const int *edges;                 /* (edge_count x 2), lower point first, sorted */
    const int *edge_triangles;        /* (edge_count x 2) the first two triangles of the edge, -1 where there is none */
    const int *edge_triangle_counts;  /* (edge_count): 1 boundary, 2 inside, 3 or more non-manifold */
    const int *triangle_edges;        /* (triangle_count x 3): edge of corners 0-1, 1-2, 2-0 */
    const int *point_triangle_first;  /* (point_count + 1) */
    const int *point_triangles;       /* triangles around each point, ascending */
    const int *point_neighbour_first; /* (point_count + 1) */
    const int *point_neighbours;      /* points joined to each point by an edge, ascending */
    const int *point_edges;           /* same shape as point_neighbours: the edge of each */
    int component_count;
    const int *point_component;  /* (point_count); isolated points are components of their own */
    const int *component_closed; /* (component_count) 1 when every edge has two triangles that face the same way */
} mesh;

/*
 * Topology of triangles over points. positions and triangles are copied. CUTIS_ERROR_DATA for an index out of
 * range or a triangle that uses a point twice.
 */
cutis_result mesh_build(mesh *m, int point_count, const float *positions, int triangle_count, const int *triangles,
                        arena *memory, cutis_error *error);
/* The same for a character's points. */
cutis_result mesh_build_character(mesh *m, const cutis_character *character, arena *memory, cutis_error *error);

/* Whether the two triangles of an edge face the same way: they run along it in opposite directions. */
bool mesh_edge_agrees(const mesh *m, int edge);

/* ---- walks over triangles by barycentric weights ---- */

/* The corner opposite the edge that a place lies farthest beyond; -1: inside. Never the edge opposite `entered`. */
int triangle_exit(const double weights[3], int entered);
/* Bring a place that lies outside to the triangle's edge. */
void triangle_weights_clamp(double weights[3]);

/* ---- welding ---- */

/*
 * Give equal indices to positions within `tolerance` of a point's first vertex (0: equal coordinates) for which
 * same(context, vertex, first vertex) is true (NULL: always). Returns the number of points; points are numbered in the
 * order of their first vertex. -1 when memory runs out.
 */
int weld_positions(int vertex_count, const float *positions, float tolerance, bool (*same)(void *context, int a, int b),
                   void *context, const cutis_allocator *allocator, int *vertex_points);

/* ---- quantities of current positions (point_count x 3) ---- */

double mesh_volume(int triangle_count, const int *triangles, const float *positions); /* signed, double sums */
/* Signed volume of the closed components only. */
double mesh_closed_volume(const mesh *m, const float *positions);
double mesh_area(int triangle_count, const int *triangles, const float *positions);
/* Mixed Voronoi area of each point (Meyer, Desbrun, Schroeder, Barr 2003); they sum to the area. */
void mesh_point_areas(const mesh *m, const float *positions, float *areas);
/* Area-weighted unit normals; (0, 1, 0) where there is no area. */
void mesh_normals(const mesh *m, const float *positions, float *normals, const cutis_jobs *jobs);

/* Points within `rings` edges of `point`, breadth first, itself first. Returns how many were written (at most limit).
 * marks: (point_count) scratch, zero before and after. */
int mesh_rings(const mesh *m, int point, int rings, int *points, int limit, uint8_t *marks);

/* ---- near points ---- */

enum { MESH_NEAR = 4 };
/* Points by the cells of a grid from `origin` on: cells (count) of key and point, sorted. */
void cells_sort(int count, const float *positions, const float *origin, double cell, int64_t (*cells)[2]);
/*
 * The nearest points of each at rest (point_count x MESH_NEAR), nearest first, -1 where there is none near; over all
 * components, without points of no triangle. origin: lowest corner of the bounds, size: their diagonal, cells:
 * (point_count) scratch.
 */
void mesh_near(const mesh *m, const float *origin, double size, int64_t (*cells)[2], int *near);

/* ---- bounding-volume tree over triangles ---- */

typedef struct bvh_node {
    float min[3];
    int first; /* leaf: first entry of order; inner: left child, whose right sibling follows */
    float max[3];
    int count; /* leaf: number of triangles; inner: 0 */
} bvh_node;

/* Built once for a topology, refitted for moving positions. */
typedef struct bvh {
    int node_count, triangle_count;
    bvh_node *nodes; /* children after parents, so that a backward pass refits */
    int *order;      /* (triangle_count) triangles by leaf */
    const int *triangles;
} bvh;

/* triangles is kept by reference. */
cutis_result bvh_build(bvh *tree, int triangle_count, const int *triangles, const float *positions, arena *memory,
                       cutis_error *error);
/* New boxes for moved positions, each grown by margin. Never allocates. */
void bvh_refit(bvh *tree, const float *positions, float margin);

typedef struct bvh_hit {
    int triangle;   /* -1: nothing */
    float distance; /* along the ray in units of its direction, or to the point */
    float u, v;     /* barycentric weights of corners 1 and 2 */
    vec3 point;
} bvh_hit;

/* First triangle hit by origin + t direction, t in [t_min, t_max]. */
bvh_hit bvh_ray(const bvh *tree, const float *positions, vec3 origin, vec3 direction, float t_min, float t_max);
/* Number of triangles hit by the ray, for parity. */
int bvh_ray_count(const bvh *tree, const float *positions, vec3 origin, vec3 direction);
/*
 * Winding number of the origin in a closed surface turned outwards: triangles by which the ray leaves less
 * those by which it enters, `skip` (or -1) left out. Any direction gives the same number, so for a point in the
 * middle of triangle `skip`, a ray along its normal gives the number just outside of it.
 */
int bvh_ray_winding(const bvh *tree, const float *positions, vec3 origin, vec3 direction, int skip);
/* Nearest point of the surface within max_distance. */
bvh_hit bvh_closest(const bvh *tree, const float *positions, vec3 p, float max_distance);
/* The same, without the triangles whose label (triangle_count) is skip_label. */
bvh_hit bvh_closest_labelled(const bvh *tree, const float *positions, vec3 p, float max_distance, const int *labels,
                             int skip_label);
/* Calls visit for every triangle whose leaf box overlaps the box; visit returns false to stop. */
void bvh_overlap(const bvh *tree, vec3 box_min, vec3 box_max, bool (*visit)(void *context, int triangle),
                 void *context);
/* Calls visit for every pair of triangles a < b whose leaf boxes overlap. */
void bvh_self_pairs(const bvh *tree, void (*visit)(void *context, int a, int b), void *context);

/* Two nodes whose boxes overlap, or a node with itself. */
typedef struct bvh_pair {
    int a, b;
} bvh_pair;

/*
 * Cut the search of bvh_self_pairs into at most `limit` (at least 3) parts, for threads. Returns how many. Visited one
 * after another, they give the pairs in the order of bvh_self_pairs.
 */
int bvh_pair_tasks(const bvh *tree, bvh_pair *tasks, int limit);
/* The part of bvh_self_pairs below one pair of nodes. */
void bvh_pair_visit(const bvh *tree, bvh_pair pair, void (*visit)(void *context, int a, int b), void *context);

/* Nearest point of triangle a b c to p, with barycentric weights. */
vec3 triangle_closest(vec3 p, vec3 a, vec3 b, vec3 c, float weights[3]);
/* Nearest points of segments p0 p1 and q0 q1: parameters s and t in 0..1; returns the squared distance. */
float segment_closest(vec3 p0, vec3 p1, vec3 q0, vec3 q1, float *s, float *t);

/* Generalised winding number of p (1 inside, 0 outside, for a closed surface turned outwards), summed over all
 * triangles; 1/2 on a smooth place of the surface itself. */
double mesh_winding(int triangle_count, const int *triangles, const float *positions, vec3 p);

/* ---- self-intersection ---- */

typedef enum triangles_relation {
    TRIANGLES_APART, /* no common point */
    TRIANGLES_TOUCH, /* perhaps common points, but no crossing: a corner or edge of one in the plane of the other */
    TRIANGLES_CROSS  /* they pass through each other along a segment */
} triangles_relation;

/* How two triangles given by their corners lie to each other, by exact signs. */
triangles_relation triangles_relate(const float *const a[3], const float *const b[3]);
/* The same for two triangles of a mesh by their points, boxes first. */
triangles_relation mesh_triangles_relate(const int *corner_a, const int *corner_b, const float *positions);
/* Whether they cross; touching does not count. */
bool triangles_intersect(const float *const a[3], const float *const b[3]);
/* Along which unit axis a lies furthest in front of b, and how far: negative where they overlap on all. */
float triangles_axis(const vec3 a[3], const vec3 b[3], vec3 *axis);
/* Ends of a triangle along an axis. */
float triangle_lowest(vec3 axis, const vec3 p[3]);
float triangle_highest(vec3 axis, const vec3 p[3]);
static inline bool triangles_share_point(const int *a, const int *b)
{
    for (int k = 0; k < 3; k++)
        if (a[k] == b[0] || a[k] == b[1] || a[k] == b[2]) return true;
    return false;
}
/*
 * Number of pairs of triangles that share no point and intersect. tree must be refitted to the positions.
 * pairs: first `limit` pairs (limit x 2), or NULL.
 */
int mesh_self_intersections(const mesh *m, const bvh *tree, const float *positions, const cutis_jobs *jobs, int *pairs,
                            int limit);

/* ---- two surfaces ---- */

/* A surface, and the points of its array that are its own. */
typedef struct overlap_side {
    const float *points;
    int first, count;
    bvh tree;       /* over its triangles; refitted to the points before overlap_measure */
    vec3 low, high; /* by overlap_side_bound */
} overlap_side;

/* How far two surfaces are in each other. */
typedef struct surface_overlap {
    float depth;   /* of the deepest point of one inside the other, from its surface; 0: none is inside */
    int crossings; /* pairs of triangles that pass through each other */
} surface_overlap;

void overlap_side_bound(overlap_side *side);
/* Whether the bounds overlap; surfaces whose bounds do not have no overlap. */
bool overlap_sides_near(const overlap_side *a, const overlap_side *b);
surface_overlap overlap_measure(const overlap_side *a, const overlap_side *b);

#endif
