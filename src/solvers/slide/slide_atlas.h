/*
 * slide_atlas.h: the charts of a triangle surface, and ways across them.
 *
 * One chart per triangle: the triangle laid flat, its first corner at the origin and its first edge along +x. Across
 * an edge the neighbour is unfolded rigidly, so a transition is a rotation and a shift that keeps lengths and angles
 * exactly. This has what the paper asks of a base complex: charts that cover the surface, of any topology, with a
 * well-defined transition between any two that touch; and its metric is the surface's own, so that nothing is
 * distorted by the parameterization. Directions at a point live in a frame of the point: the fan of its triangles,
 * spread to a full turn.
 */
#ifndef SLIDE_ATLAS_H
#define SLIDE_ATLAS_H

#include "mesh/mesh.h"

typedef struct slide_chart {
    double edge;        /* length of edge 0-1 */
    double apex[2];     /* corner 2 */
    double inverse[4];  /* plane vector -> rates of the weights of corners 1 and 2 */
    double along[3][2]; /* unit direction of the edge opposite each corner, from corner k + 1 to k + 2 */
    int across[3];      /* 3 x triangle + corner on the other side of the edge opposite each corner; -1: boundary */
    double normal[3];   /* of the rest triangle; zero when it has none */
    double area;        /* 0 for a triangle that is a line or a point; its chart is given a little height */
} slide_chart;

/* Numbers of a triangle's rounded surface: 16 control points, and one for reading in fours. */
enum { SLIDE_PATCH_SIZE = 49 };

typedef struct slide_atlas {
    const mesh *mesh;
    const double *positions;   /* (point_count x 3, and one for reading in fours), rest, in sizes */
    const double *normals;     /* (point_count x 3), rest: the area-weighted mean of the triangles around */
    const slide_chart *charts; /* (triangle_count) */
    const double (*slopes)[4]; /* (triangle_count) inverse[0], [1] and [3] of the chart, its area; zeros without area */
    const float (*patches)[SLIDE_PATCH_SIZE]; /* (triangle_count) the rounded surface less the flat one */
    const double (*turns)[3][2]; /* (triangle_count) cosine and sine from each corner's point frame to the chart */
    const double (
        *wedges)[4]; /* (entries of point_triangles) first and last edge of the triangle, in the point's frame */
    const uint8_t *boundary;     /* (point_count) 1: on the boundary, 2: no single fan */
    const double (*tangents)[2]; /* (point_count) along the boundary, in the point's frame; zero elsewhere */
} slide_atlas;

/* A place of the surface: a triangle and the weights of its corners 1 and 2. */
typedef struct slide_place {
    int triangle;
    int padding;
    double b[2];
} slide_place;

/* A place on the rounded surface: its position there, and the derivatives by the chart's coordinates. */
typedef struct slide_spot {
    double position[3];
    double tangents[2][3];
} slide_spot;

/* The patches of an atlas, all else of which is built. */
cutis_result slide_patches_build(slide_atlas *atlas, arena *memory, cutis_error *error);
cutis_result slide_atlas_build(slide_atlas *atlas, const mesh *m, double unit, arena *memory, cutis_error *error);

/* A vector in a chart as rates of the weights of corners 1 and 2. */
static inline void slide_chart_rates(const slide_atlas *atlas, int triangle, const double way[2], double rates[2])
{
    /* slopes are near each other in memory; charts of triangles without area have more than these tell */
    const double *slopes = atlas->slopes[triangle];
    const double *inverse = atlas->charts[triangle].inverse;
    bool fine = slopes[3] > 0;
    rates[0] = fine ? slopes[0] * way[0] + slopes[1] * way[1] : inverse[0] * way[0] + inverse[1] * way[1];
    rates[1] = fine ? slopes[2] * way[1] : inverse[3] * way[1];
}

/* Where a place lies, at rest. */
void slide_place_position(const slide_atlas *atlas, const slide_place *place, double position[3]);
/* Where it lies on the rounded surface (slide_rounded.c), and the normal there (unit). */
slide_spot slide_place_rounded(const slide_atlas *atlas, const slide_place *place);
/* The cross product of the tangents; returns its square. */
static inline double slide_spot_cross(const slide_spot *spot, double cross[3])
{
    const double *a = spot->tangents[0], *b = spot->tangents[1];
    cross[0] = a[1] * b[2] - a[2] * b[1];
    cross[1] = a[2] * b[0] - a[0] * b[2];
    cross[2] = a[0] * b[1] - a[1] * b[0];
    return cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2];
}
void slide_spot_normal(const slide_spot *spot, double normal[3]);
/* Move a place, which is at `spot`, to where the rounded surface is nearest to that + way, if it is not far. */
void slide_place_move(const slide_atlas *atlas, slide_place *place, const double way[3], slide_spot *spot);
/* Which side is out at a place: point normals, interpolated; of any length. */
void slide_place_normal(const slide_atlas *atlas, const slide_place *place, double normal[3]);
/* Where it lies for other positions (point_count x 3). */
void slide_place_posed(const slide_atlas *atlas, const slide_place *place, const float *points, double position[3]);
/* The place of a point: the corner of one of its triangles. */
slide_place slide_place_of_corner(int triangle, int corner);

/*
 * Go straight from a place along `way`, a vector of its chart, across edges; at a boundary, go on along it. stops:
 * bit k set for an edge opposite corner k that may not be crossed (triangle_count), or NULL; there the walk ends, and
 * way is what is left to go (otherwise zero). carried: a vector that is turned along from chart to chart, or NULL.
 */
void slide_walk(const slide_atlas *atlas, slide_place *place, double way[2], double carried[2], const uint8_t *stops);
/* A vector of one chart in that beyond the edge whose directions there are `from` and `to`. */
void slide_turn_across(const double from[2], const double to[2], double v[2]);
/* A vector in space laid into a chart, its length kept. */
void slide_flatten(const slide_atlas *atlas, int triangle, const double vector[3], double flat[2]);
/* Start at a point along `way`, a vector of the point's frame: the place reached, `way` turned along. */
slide_place slide_walk_from_point(const slide_atlas *atlas, int point, const double way[2], double carried[2]);

#endif
