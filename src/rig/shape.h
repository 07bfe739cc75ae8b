/*
 * shape.h: the far ends of a solid and the curves that lead from them to its middle.
 *
 * Works on the cells of a solid (body/solid.h), so that any number of parts, holes, seams and crossings of the surface
 * are one body. Parts that do not touch are joined by bridges. Nothing depends on axes: a body may be turned and posed.
 */
#ifndef RIG_SHAPE_H
#define RIG_SHAPE_H

#include "body/solid.h"

enum { SHAPE_TIPS = 20, SHAPE_CURVE = 256 };

/* A far end: a maximum of the distance from the middle through the solid. */
typedef struct shape_tip {
    int node;
    float distance; /* from the middle */
    float reach;    /* how far it stands out beyond the place where it meets a farther one */
    int elder;      /* that farther tip, -1 for the farthest */
    int seam;       /* node where they meet */
    vec3 place;
    vec3 end;   /* on the surface beyond, along the limb: fingers and toes may be thinner than a cell */
    float over; /* way from place to end; 0: none was looked for */
    int image;  /* the tip whose mirror image it is, of which it has curve and ways; -1: it was seen itself */
} shape_tip;

/* The curve from a tip to the middle. */
typedef struct shape_curve {
    int count;
    vec3 places[SHAPE_CURVE];
    float radii[SHAPE_CURVE];   /* of the largest sphere inside around each place */
    float lengths[SHAPE_CURVE]; /* along the curve from the tip */
    int nodes[SHAPE_CURVE];
} shape_curve;

typedef struct shape_bridge {
    int a, b; /* nodes */
    float length;
} shape_bridge;

typedef struct shape {
    solid solid;
    int count;      /* nodes: cells inside */
    int *cells;     /* (count) cell of each */
    int *nodes;     /* (cells) node of each cell, -1 outside */
    vec3 *places;   /* (count) */
    float *depths;  /* (count) distance to the surface */
    int *bridge_at; /* (count) first bridge of a node in `bridges`, -1 */
    int bridge_count;
    shape_bridge *bridges; /* both ways, by node */
    int component_count;
    int dropped_count; /* cells of parts too far away to be joined */
    int middle;        /* node */
    float *distances;  /* (count) from the middle */
    int *parents;      /* (count) next node towards the middle, along the middle of limbs */
    int tip_count;
    shape_tip tips[SHAPE_TIPS]; /* by falling reach */
    float farthest;
    vec3 low, high; /* of the cells that are nodes */
    float size;     /* diagonal */
} shape;

/* positions: (point_count x 3). cells: along the longest side. DATA when nothing encloses a volume. */
cutis_result shape_build(int point_count, const float *positions, int triangle_count, const int *triangles, int cells,
                         const cutis_jobs *jobs, arena *memory, shape *out, cutis_error *error);
/* Room for a search. */
typedef struct shape_way {
    float distance;
    int node;
} shape_way;
struct shape_ends {
    int before, after;
    int *head; /* of its list, NULL: in none */
};
typedef struct shape_room {
    shape_way *ways;         /* (count) */
    int *at;                 /* (count) */
    struct shape_ends *ends; /* (count) */
} shape_room;
bool shape_room_create(const shape *s, arena *memory, shape_room *room);
/* Distances through the solid from a node, and the next nodes towards it or NULL (count). */
void shape_spread(const shape *s, int from, shape_room *room, float *distances, int *parents);
/* The curve of a tip from its end on the surface, smoothed. */
void shape_curve_trace(const shape *s, const shape_tip *tip, shape_curve *curve);
/* Place and radius at a length from the tip. */
vec3 shape_curve_at(const shape_curve *c, float length, float *radius);
/* Whether the segment between two places stays inside, up to `slack`; the share of it that does. */
float shape_visible(const shape *s, vec3 a, vec3 b, float slack);
/* Move a place inside: up the distance until it is `depth` deep or no deeper place is near. */
vec3 shape_centre(const shape *s, vec3 place, float depth);

#endif
