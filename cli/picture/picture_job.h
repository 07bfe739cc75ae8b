/*
 * picture_job.h: one run of `cutis render`: what is shown, how it is coloured, and how the page is laid out.
 */
#ifndef CLI_PICTURE_JOB_H
#define CLI_PICTURE_JOB_H

#include "cli.h"
#include "picture.h"
#include "picture_character.h"
#include "picture_source.h"

enum { PICTURE_MAX_VIEWS = 12 };

typedef struct picture_view {
    char name[32];
    float azimuth, elevation;
    picture_camera camera; /* of a panel */
} picture_view;

/* What colours the surface. */
typedef enum picture_paint {
    PAINT_NONE,     /* plain clay */
    PAINT_MATERIAL, /* as the file has it */
    PAINT_STRETCH,
    PAINT_AREA,
    PAINT_VOLUME,
    PAINT_WEIGHT,  /* of one joint */
    PAINT_WEIGHTS, /* of all, mixed colours */
    PAINT_PART,
    PAINT_MAP,   /* painted by the artist, in the file */
    PAINT_VALUES /* from a file or from the solver */
} picture_paint;

/* What --style asks for. */
typedef struct picture_style {
    bool wire, skeleton, numbers, no_floor, no_legend;
    bool strip;        /* panels alone: no captions, legend or gaps */
    bool z_up;         /* the third axis points up */
    int columns;       /* panels in a row; 0: as many as fit */
    int samples;       /* along each side of a pixel; 0: the default */
    bool elements;     /* voxels or particles of solvers instead of the skin */
    int element_layer; /* those of one layer, 0 the bone; -1: all */
    picture_background background;
} picture_style;

typedef struct picture_job {
    const cli_arguments *arguments;
    const char *output;
    bool video, sheet, quiet;
    picture_style style;
    float zoom;        /* magnification */
    const char *focus; /* what stands in the middle: a joint or "X,Y,Z"; NULL: everything */
    picture_texture texture;
    float texture_scale; /* squares across the texture */
    picture_image image; /* PICTURE_TEXTURE_IMAGE */
    picture_image normal_map;
    bool has_normal_map;
    char *normal_path;
    char color[256];  /* what --color names, without its range */
    bool range_given; /* `range` came with it */
    cutis_character *character;
    int clip; /* -1: none */
    picture_source *sources;
    int source_count;
    picture_times times;
    picture_view views[PICTURE_MAX_VIEWS];
    int view_count;

    cutis_pool *pool;
    picture_tracer *tracer;
    picture_body body;
    picture_material *materials; /* (material_count) of the file */
    int *triangle_materials;     /* (triangle_count) */
    int material_count;
    float *normals;          /* (triangle_count x 9) of the panel in work */
    float *values, *scratch; /* (vertex_count), (point_count x 2) of the panel in work */
    float *colors;           /* (vertex_count x 3), the same in all panels, or NULL */
    float *joints;           /* (joint_count x 12) of the panel in work */
    float *prop_points;      /* (prop_point_count x 3) of the props at all frames */
    int prop_point_count;
    pvec up, low, high;      /* bounds of all that is shown */
    cutis_setting *settings; /* of solvers that run here */
    cutis_bake_key *keys;    /* (key_count) of the amount that they show */
    int key_count;
    int setting_count;

    picture_paint paint;
    bool values_from_files; /* PAINT_VALUES: of a .npy, or of one beside each cache */
    const char *color_name; /* for the legend */
    picture_map map;
    float range[2];
    int joint;              /* PAINT_WEIGHT */
    bool tissues, elements; /* some source has inner surfaces, or elements, to show */

    /* Layout, pixels. */
    int width, height, columns, rows;
    int legend, caption; /* heights of the strips; 0: none */
    int gap;
    float text; /* height of capitals */
} picture_job;

/* Functions return CLI_OK, or an exit code with the message printed. */

/* Read the options into the job; says what is wrong with one (picture_options.c). */
int picture_options_read(picture_job *r);

/* The pose of the i-th frame shown, as far as it is known, into job->joints. */
void picture_job_pose(picture_job *r, const picture_source *source, int i);
/* Props of a panel: those of the character, then those of a .glb that is played. */
int picture_job_prop_count(const picture_job *r, const picture_source *source);
/*
 * A prop at the i-th frame shown of a source, whose pose is in job->joints. vertices and triangles to free(), or NULL.
 * False: it is not to be seen, or there is no memory.
 */
bool picture_job_prop(const picture_job *r, const picture_source *source, int frame, int index, picture_mesh *mesh,
                      float **vertices, int **triangles);
/* A joint by its name; -1 with a message that begins with the option. */
int picture_job_joint(const picture_job *r, const char *name, const char *option);

/* ---- colours (picture_paint.c) ---- */

int picture_paint_choose(picture_job *r);
/* Find the range of values that came with the sources, unless it is given. */
void picture_paint_range(picture_job *r);
/* The values of one panel into its mesh. */
void picture_paint_apply(picture_job *r, const picture_source *source, int frame, const float *positions,
                         picture_mesh *mesh);
/* Whether a bar of colours explains the picture. */
bool picture_paint_has_bar(const picture_job *r);

/* ---- materials of the file (picture_materials.c) ---- */

/* Read them and decode their images; what cannot be decoded is a warning. */
int picture_materials_load(picture_job *r);
void picture_materials_free(picture_job *r);

/* ---- one panel (picture_panel.c) ---- */

/* Whether the options of panels make sense for this character. */
int picture_panel_check(const picture_job *r);
/* Draw a source at a frame from a view; fills the image. */
int picture_panel_draw(picture_job *r, int source_index, int frame, int view_index, picture_image *image);

/* ---- the page (picture_page.c) ---- */

/* Find the bounds of everything that is shown. */
void picture_page_bounds(picture_job *r);
/* Sizes of the page, its panels and its strips. */
int picture_page_layout(picture_job *r);
/* Let every view's camera see everything that is shown. */
int picture_page_cameras(picture_job *r);
/* All panels of one instant (or of a whole sheet) into the page. */
int picture_page_draw(picture_job *r, int first_frame, picture_image *page, cli_progress *progress, long *done);

#endif
