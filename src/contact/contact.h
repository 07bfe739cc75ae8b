/*
 * contact.h: contact of a deforming triangle surface with itself and with props.
 *
 * The surface is searched by a tree of boxes with bounds of motions and normals; what comes close is reported as
 * pairs of a point and a triangle or of two edges, each with the normal, weights and distance at the start of
 * the step, where the surface is free of intersections: so the side of a pair is never in doubt. A solver
 * projects pairs inside its own loop (contact_pair_project), and at its end lets contact_resolve make the
 * motion from start to end free of impacts, by continuous detection. So a surface that starts free of
 * intersections stays so.
 *
 * Positions are arrays (point_count x 3) in whatever unit the caller uses. Nothing here allocates after build.
 * Results do not depend on the number of threads.
 */
#ifndef CONTACT_CONTACT_H
#define CONTACT_CONTACT_H

#include "base/core.h"
#include "cutis/character.h"
#include "math/math3.h"
#include "mesh/mesh.h"

/* ---- pairs ---- */

typedef enum contact_kind { CONTACT_POINT_TRIANGLE, CONTACT_EDGE_EDGE } contact_kind;

typedef struct contact_pair {
    int v[4];         /* point and the triangle's corners, or the ends of one edge and of the other */
    float weights[4]; /* of the nearest points at the start: 1 -b0 -b1 -b2, or 1-s s t-1 -t */
    vec3 normal;      /* unit, from the nearest point of the second feature to that of the first */
    float distance;   /* of the nearest points at the start */
    float gap;        /* distance to be kept: the thickness, or less where the rest pose is closer */
    float lambda;     /* accumulated by contact_pair_project, for friction */
    int kind;
} contact_pair;

/* Nearest points of the pair's features at these positions: fills weights, normal and distance. */
void contact_pair_nearest(contact_pair *pair, const float *positions);
/*
 * Time in 0..1 at which the features, each point moving straight from start to end, come closer than `gap`
 * (which must be less than pair->distance, that of the start); 2 when they do not. By conservative advancement (Li,
 * Kaufman, Jiang 2021): never misses an impact, and the distance at the time returned is at least gap.
 */
float contact_pair_impact(const contact_pair *pair, const float *start, const float *end, float gap);
/* Normal distance of the pair's linearised features: normal . sum weights x. */
float contact_pair_value(const contact_pair *pair, const float *positions);
/*
 * Move the four points along the normal, by inverse mass, so that the value reaches `gap`; lambda >= 0 is kept,
 * so that a pair that pushed too far pulls back, and never more than it pushed. Returns the change of lambda;
 * point i moves by that times weights[i] inverse_masses[v[i]] normal.
 */
float contact_pair_project(contact_pair *pair, const float *inverse_masses, float *positions);
/* contact_pair_project on all pairs in turn. */
void contact_pairs_project(contact_pair *pairs, int count, const float *inverse_masses, float *positions);
/*
 * Friction and restitution on velocities: takes the approaching part of the relative velocity to -restitution
 * times `approach` (the normal speed before the step, negative when approaching), and reduces the tangential
 * part by at most friction times the normal impulse (speed).
 */
void contact_pair_velocity(const contact_pair *pair, const float *inverse_masses, float friction, float restitution,
                           float approach, float impulse, float *velocities);

/* ---- the rest shape ---- */

typedef struct contact_untangle_options {
    float touch;          /* triangles that are no further apart touch */
    float gap;            /* what triangles that cross or touch are given */
    float limit;          /* how far a point may be moved */
    const uint8_t *fixed; /* (point_count) not 0: the point stays; NULL: none does */
} contact_untangle_options;

typedef struct contact_untangle_stats {
    int moved;      /* points */
    float distance; /* the furthest of them */
    int left;       /* points of triangles that were left as they are, since they would have to go further */
} contact_untangle_stats;

/*
 * Part the triangles without common points that cross or touch, by moving their points (point_count x 3) a little.
 * Groups of them that cannot be parted within the limit are left to the bit. parted: (point_count) 1 for the points of
 * triangles that crossed or touched and were parted, else 0.
 */
cutis_result contact_untangle(const mesh *m, const contact_untangle_options *options, const cutis_allocator *allocator,
                              float *positions, uint8_t *parted, contact_untangle_stats *stats, cutis_error *error);

/* ---- the surface ---- */

/* Triangles of a leaf at most, points of an outline at most, floats of a bound and of a triangle's shape. */
enum { CONTACT_LEAF = 8, CONTACT_OUTLINE = 64, CONTACT_BOUND = 20, CONTACT_SHAPE = 17 };

/* The loop of points around some triangles; count 0: none that is simple and star-shaped. */
typedef struct contact_outline {
    int first, count; /* in outline_points */
    int centre[2];    /* points of the loop in the middle of which all of it is seen, in the rest pose */
} contact_outline;

/* Two nodes of the same depth that share a point, and perhaps more around it, with the outline of all. */
typedef struct contact_union {
    contact_outline outline;
    int nodes, node_count; /* in union_nodes, the two included */
} contact_union;

/* Immutable. Arrays live in the arena given to build. Nodes are numbered level by level, leaves first, blocks last. */
typedef struct contact_surface {
    const mesh *mesh;
    int node_count, leaf_count;
    int block_count; /* nodes of the last level, each searched as one piece of work */
    const int
        *child_first;      /* (node_count + 1) children of each node that is no leaf, side by side in the level below */
    const int *leaf_first; /* (leaf_count + 1) triangles of each leaf */
    const int *corners;    /* (triangle_count x 3) of triangles in the order of leaves */
    const uint8_t *owned;  /* (triangle_count), likewise: bits 0..2 points, 3..5 edges that it stands for */
    const contact_outline *outlines; /* (node_count) */
    const int *outline_points;
    const int *union_first;  /* (node_count + 1) */
    const int *union_others; /* the second node of each; the first is the one whose union it is */
    const contact_union *unions;
    const int *union_nodes;
    const int *tangle;   /* (point_count) group of triangles that intersect at rest, -1: none */
    const float *scales; /* (point_count) mean length of the edges there, at most edge_mean */
    const float *widths; /* (point_count) of the narrowest triangle there, at rest */
    float edge_mean;
} contact_surface;

cutis_result contact_surface_build(contact_surface *surface, const mesh *m, arena *memory,
                                   const cutis_allocator *allocator, cutis_error *error);

/* What the search of one block found. */
typedef struct contact_block {
    int pairs, dropped;
    long tests;
} contact_block;

/* What a search writes; carved from a block of contact_work_size bytes, no state between searches. */
typedef struct contact_work {
    float *nodes;     /* (node_count x CONTACT_BOUND) see contact_search.c */
    float *triangles; /* (triangle_count x CONTACT_BOUND) the same, in the order of leaves */
    float *shapes;    /* (CONTACT_SHAPE x shape_stride) of triangles in the order of leaves, number by number */
    int shape_stride;
    float *starts; /* (point_count x 4) start */
    float *ends;   /* (point_count x 4) end */
    contact_pair *pairs;
    contact_block *block_counts; /* (block_count) */
    int pair_count;
    int pair_capacity, block_capacity;
    int dropped; /* pairs that did not fit */
    long tests;  /* pairs of features that were looked at */
    int *zones;  /* (point_count) scratch of contact_resolve */
    float *zone_data;
    float *saved;        /* (point_count x 3) end of the last search */
    float *wishes;       /* (point_count x 3) */
    uint8_t *marks;      /* (point_count) strayed, in contact_search_update */
    uint8_t *node_marks; /* (node_count) holds such points */
    float *times;        /* (pair_capacity) of the pairs' impacts, in contact_resolve */
    contact_pair *kept;  /* (kept_capacity) */
    int kept_capacity;
} contact_work;

size_t contact_work_size(const contact_surface *surface);
contact_work contact_work_make(const contact_surface *surface, void *memory);

typedef struct contact_search_options {
    float margin;    /* pairs whose features come this close are reported, see contact_reach */
    float thickness; /* the gap to keep, where the rest pose is not closer */
    bool exhaustive; /* flat parts are searched too: finds the same contacts, for tests */
    bool touching;   /* pairs that touch at the start or at rest are reported, too */
    /* (point_count) Left out are pairs with points above 0 on both sides, and of points below 0 with others above 1;
     * NULL: none. */
    const float *released;
} contact_search_options;

/*
 * How close the features of a pair must come to be reported: the margin, but less of it where edges are shorter than
 * their mean, and at least the pair's gap. So neighbours on a fine mesh do not fill the list.
 */
float contact_reach(const contact_surface *surface, const contact_search_options *options, const contact_pair *pair);

/*
 * All pairs of features, without common points, that can come closer than their reach while each point moves
 * straight from start to end (or stands, when both are the same). Left out: pairs that touch at the start or at
 * rest, and pairs within a group of triangles that intersect at rest, which have no side to be kept on. Fills
 * work->pairs and returns their number.
 */
int contact_search(const contact_surface *surface, contact_work *work, const float *start, const float *end,
                   const contact_search_options *options, const cutis_jobs *jobs);

/*
 * Whether point p's end is so far from where the last search had it that a pair that was left out, at more than its
 * reach, could come closer than a tenth of its gap, or a part that was left out as flat could fold.
 */
bool contact_strayed(const contact_surface *surface, const contact_work *work, const float *end,
                     const contact_search_options *options, int p);
/*
 * Make a search that work holds, with the same start and options, good for another end: only what has to do with
 * points that strayed from the end it was made for is searched again. Returns the number of pairs.
 */
int contact_search_update(const contact_surface *surface, contact_work *work, const float *start, const float *end,
                          const contact_search_options *options, const cutis_jobs *jobs);

typedef struct contact_resolve_stats {
    int impacts; /* pairs that had to be stopped */
    int passes;
    int zone_points; /* points moved rigidly by the fail-safe */
    bool failed;     /* impacts remain: the end is not proven free of intersections */
} contact_resolve_stats;

/*
 * Change `end` so that no point crosses the surface on its straight way from start to end. First by projecting
 * impacts (Gauss-Seidel), then by rigid impact zones (Provot 1997; Bridson, Fedkiw, Anderson 2002): points of
 * impacts that resist move as rigid pieces, which cannot intersect themselves. Points of no inverse mass go where they
 * go, but for the share of a zone's turn that their fellows cause; pairs of such points alone are let be. searched:
 * work holds the pairs of a search with the same start and options, which is used again if its end was near.
 */
contact_resolve_stats contact_resolve(const contact_surface *surface, contact_work *work, const float *start,
                                      float *end, const float *inverse_masses, const contact_search_options *options,
                                      bool searched, const cutis_jobs *jobs);

/* ---- props ---- */

typedef struct contact_prop {
    const cutis_prop *source;
    float friction, restitution;
    mesh mesh; /* MESH: in the joint's space */
    bvh tree;
    bool closed;
} contact_prop;

typedef struct contact_props {
    int count;
    contact_prop *props;
    float scale;     /* caller's unit per scene unit */
    float origin[3]; /* scene position of the caller's origin */
} contact_props;

/* A point against a prop: normal . x >= offset, in the caller's units, at the end of the substep. */
typedef struct contact_plane {
    int point;
    vec3 normal;
    float offset;
    vec3 velocity; /* of the prop's surface there */
    float friction, restitution;
    float lambda;
} contact_plane;

/* Which props of a character go where their node goes. */
typedef enum contact_roles {
    CONTACT_COLLIDERS, /* colliders only, because the solver moves the others */
    CONTACT_ALL_PROPS
} contact_roles;

/* The props of these roles. friction and restitution are the solver's defaults. */
cutis_result contact_props_build(contact_props *props, const cutis_character *character, contact_roles roles,
                                 float scale, const float origin[3], float friction, float restitution, arena *memory,
                                 cutis_error *error);
/*
 * Planes of all points that are nearer than margin to a collider or cross it on their way from start to end
 * while the prop moves from pose to pose. Returns their number, at most capacity.
 */
int contact_props_search(const contact_props *props, const float *joints_old, const float *joints, double h,
                         int point_count, const float *start, const float *end, float margin, float thickness,
                         contact_plane *planes, int capacity);
/* Where a prop is in a pose. */
typedef struct contact_prop_place {
    mat34 inverse; /* from the caller's space to the prop's own */
    float unit;    /* lengths in the prop's space over the caller's; 0: it has no volume */
} contact_prop_place;

contact_prop_place contact_prop_locate(const contact_props *props, int index, const float *joints);
/* Signed distance (negative inside) of x from a prop there, and the outward normal, in the caller's units. */
float contact_prop_near(const contact_prop *prop, const contact_prop_place *place, vec3 x, float max_distance,
                        vec3 *normal);
/* Signed distance (negative inside) and outward normal at p, both in the prop's own space. */
float contact_prop_distance(const contact_prop *prop, vec3 p, float max_distance, vec3 *normal);

#endif
