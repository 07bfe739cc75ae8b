/*
 * bake_private.h: a bake while it runs, for the files that make it: bake.c drives, bake_loop.c knows loops,
 * bake_props.c watches the props, bake_output.c writes, bake_report.c tells. Nobody else includes this.
 */
#ifndef CLI_BAKE_PRIVATE_H
#define CLI_BAKE_PRIVATE_H

#include "bake.h"

/* An output of the solver that is written beside the positions. */
typedef struct bake_extra {
    char *name, *path;
    cutis_cache_writer *writer;
} bake_extra;

/* A prop through the frames. */
typedef struct bake_prop {
    float start[3], end[3]; /* where its own space's origin is, in the scene */
    float force[3];         /* at the end, newtons */
    double penetration;     /* deepest */
    float *motions;         /* .glb: (frames x 12) */
    float *shapes;          /* .glb, soft: (frames x vertex_count x 3) */
    int vertex_count, triangle_count;
    const int *triangles; /* borrowed from the model */
} bake_prop;

/* How hard the skin that one joint moves most is touched. */
typedef struct bake_touch {
    double most; /* newtons, length of the sum over the region */
    int frame;   /* of that */
    double sum[3];
} bake_touch;

/* Everything open during a bake, so that one place closes it. */
typedef struct bake {
    const bake_job *job;
    bake_result *result;
    const char *solver; /* the job's, or the one that is chosen for the character */
    cutis_character *character;
    const char *source; /* the glTF file that a .glb is made from, or NULL */
    char *rigged;       /* the same with a skeleton that it lacked, while it is needed; or NULL */
    int clip;
    cutis_cache *body;
    cutis_pool *pool;
    cutis_model *model;
    cutis_model_info info;
    cutis_state *state;
    cutis_clip_motion motion;
    float *morphs; /* (morph_count) weights of the file's own morphs */

    /* a loop */
    double period;     /* seconds; 0: no loop */
    cutis_state *seam; /* that goes on from the loop's seam; NULL: none */
    float travel[12];
    bool travels;              /* the clip ends elsewhere than it began */
    double jump;               /* of the clip itself at the loop's ends, over the size; 0: it closes */
    double closed_by;          /* seconds added to close the clip; 0: none */
    cutis_character *original; /* the character before that; NULL: the same */

    /* props and touch */
    bake_prop *props;    /* (prop_count of the character) */
    bake_touch *touches; /* (joint_count), or NULL: the solver does not tell */
    int *regions;        /* (point_count) the joint of the largest weight, -1: none */

    /* files */
    bool glb;                   /* the output is one, which takes all frames at once */
    cutis_cache_writer *writer; /* of any other output */
    bake_extra *extras;         /* (extra_count) */
    int extra_count;
    float *batch;     /* (batch_capacity x vertices x 3) frames on their way to the file; for a .glb all */
    float *texcoords; /* (batch_capacity x corners x 2) for a format that takes moving ones; or NULL */
    int batch_count, batch_capacity, written;
} bake;

/* ---- bake_loop.c ---- */

/* See whether the clip closes, close it when only the last key is missing, and take its period. */
int bake_loop_prepare(bake *b);
/* The substep of a loop: the stack's own (or the one asked for), made to divide the period. */
double bake_loop_substep(const bake *b);
/* Bring the state from the clip's first pose into the periodic motion. */
int bake_loop_find(bake *b);
/* Measure the seam of all frames, and let the last one be the first. */
void bake_loop_join(bake *b);

/* ---- bake_props.c ---- */

void bake_props_open(bake *b);
/* Note where the props are and what the skin feels at a frame. */
void bake_props_record(bake *b, int frame);
void bake_props_close(bake *b);

/* ---- bake_output.c ---- */

int bake_output_open(bake *b);
/* Take the state's positions and outputs as the next frame. */
int bake_output_append(bake *b);
/* Measure and write the frames that have come together. */
int bake_output_flush(bake *b);
/* Put the files in place. */
int bake_output_finish(bake *b);
/* Drop what is not in place. */
void bake_output_close(bake *b);

/* ---- bake_report.c ---- */

/* Decide the bounds, once every figure is known. */
void bake_report_decide(bake *b);
json_t *bake_report_make(const bake *b);

#endif
