/*
 * picture_character.h: characters as something to draw: their mesh, values to colour it by, their skeleton.
 */
#ifndef CLI_PICTURE_CHARACTER_H
#define CLI_PICTURE_CHARACTER_H

#include <cutis/character.h>

#include "picture.h"

/* What does not change from frame to frame. */
typedef struct picture_body {
    const cutis_character *character;
    picture_smooth *smooth;
    uint8_t *edges;       /* (triangle_count) which sides of a triangle are sides of its face */
    float *texcoords;     /* (triangle_count x 3 x 2), or NULL */
    int *opposites;       /* (point_count) triangle over points that faces a point across the body; -1: none */
    float *opposite_bary; /* (point_count x 3) */
} picture_body;

/* The character must outlive the body; false when memory ran out. */
bool picture_body_create(const cutis_character *character, picture_body *body);
void picture_body_destroy(picture_body *body);
/* The mesh at these positions, in skin colours; corner_normals: (triangle_count x 9), filled and kept in the mesh. */
picture_mesh picture_body_mesh(const picture_body *body, const float *positions, float *corner_normals);

/* ---- values to colour by, each (vertex_count), against the rest pose ---- */

/* Of the edges at a vertex, the length over its rest length that is farthest from 1. */
void picture_value_stretch(const cutis_character *character, const float *positions, float *scratch, float *values);
/* Area of the triangles around a vertex over its rest value. scratch: (point_count x 2). */
void picture_value_area(const cutis_character *character, const float *positions, float *scratch, float *values);
/*
 * Local volume over its rest value: of the flesh between the triangles around a vertex and the middle of the
 * body under it, which is half way to the surface that a ray inwards meets at rest. NAN where there is none.
 */
bool picture_body_find_opposites(picture_body *body, picture_tracer *tracer);
void picture_value_volume(const picture_body *body, const float *positions, float *scratch, float *values);
/* The weight of one joint. */
void picture_value_weight(const cutis_character *character, int joint, float *values);
/* A colour for each joint, mixed by weights; (vertex_count x 3). */
void picture_colors_weights(const cutis_character *character, float *colors);
/* A colour for each part; (vertex_count x 3). */
void picture_colors_parts(const cutis_character *character, float *colors);

/* ---- the skeleton ---- */

/* Draw bones and joints over a picture, with their numbers if wanted; joints: (joint_count x 12), a pose. */
void picture_skeleton_draw(picture_image *image, const picture_camera *camera, const cutis_character *character,
                           const float *joints, bool numbers);

/* ---- props ---- */

/*
 * A prop's surface in the scene; motion: its own space -> scene space, NULL for the same. Own memory; vertices and
 * triangles to free(). False: no memory.
 */
bool picture_prop_mesh(const cutis_prop *prop, const float *motion, float size, picture_mesh *mesh, float **vertices,
                       int **triangles);
/* The mesh of a prop whose surface is known, in the colours of props. Arrays are kept by reference. */
picture_mesh picture_prop_look(const float *vertices, int vertex_count, const int *triangles, int triangle_count);

/* ---- elements: voxels or particles, drawn as cubes ---- */

typedef struct picture_elements {
    int count;
    const float *positions; /* (count x 3) */
    const float *layers;    /* (count), 0 the innermost, or NULL */
    const float *edges;     /* (count) file units, or NULL: `edge` for all */
    float edge;
    int only; /* the one layer to draw; -1: all */
} picture_elements;

/*
 * The cubes that lie in the kept half of the scene's cut, each in the colour of its layer. Own memory; vertices,
 * colours and triangles to free(). False: no memory.
 */
bool picture_elements_mesh(const picture_elements *elements, const picture_scene *scene, picture_mesh *mesh,
                           float **vertices, float **colors, int **triangles);
/* Layers of tissue from the bone outwards: muscle, fat, others, and the skin last. */
enum { PICTURE_SKIN = 9, PICTURE_TISSUES };
picture_color picture_tissue_color(int layer);
extern const char *const picture_tissue_names[PICTURE_TISSUES];

#endif
