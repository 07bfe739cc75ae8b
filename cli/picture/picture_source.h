/*
 * picture_source.h: where the shapes of a picture come from: the rest pose, a cache, or a solver that runs here;
 * and which of their frames are shown.
 */
#ifndef CLI_PICTURE_SOURCE_H
#define CLI_PICTURE_SOURCE_H

#include "cli.h"
#include "picture.h"

/* The instants that a picture shows. */
typedef struct picture_times {
    double fps;
    double start;  /* seconds of frame 0 */
    int available; /* frames that all sources have */
    int first;     /* of a range in seconds, which then has `available` frames */
    double skip;   /* seconds of the clip that solvers leave out before they start */
    int count;     /* that are shown */
    int *frames;   /* (count) */
    bool exact;    /* one instant, `time`, instead of a frame */
    double time;   /* seconds */
} picture_times;

typedef enum source_kind { SOURCE_REST, SOURCE_CACHE, SOURCE_SOLVER } source_kind;

/* Inner surfaces of a solver that a picture can show, from outside in: fat, muscle, bone. */
enum { SOURCE_TISSUES = 3 };

/* A prop as a solver moved it, at the frames shown. */
typedef struct picture_prop {
    float *motions; /* (count x 12) */
    float *shapes;  /* (count x vertex_count x 3) of a soft one; else NULL */
    int vertex_count, triangle_count;
    int *triangles;
} picture_prop;

typedef struct picture_source {
    source_kind kind;
    const char *name;   /* as given */
    char *label;        /* its caption */
    bool named;         /* by "TEXT=" on the command line */
    cutis_cache *cache; /* SOURCE_CACHE */
    /* Of the frames shown, each NULL when there is none: */
    float *frames;                  /* SOURCE_SOLVER: (count x vertex_count x 3) */
    float *values;                  /* (count x vertex_count) to colour by */
    float *texcoords;               /* (count x corner_count x 2) */
    float *normal_weights;          /* (count x vertex_count) strength of a normal map */
    float *tissues[SOURCE_TISSUES]; /* (count x vertex_count x 3) */
    int element_count;              /* voxels, particles */
    float *elements;                /* (count x element_count x 3) */
    float *element_layers;          /* (element_count), 0 the innermost */
    float *element_edges;           /* (element_count), file units */
    picture_prop *props;            /* (prop_count of the character) */
    int prop_count;
} picture_source;

/* What to keep of a solver besides positions. */
typedef struct picture_wants {
    const char *value; /* name of the output to colour by, or NULL */
    bool texcoords, tissues, elements;
    const cutis_bake_key *keys; /* (key_count) of the amount of flesh that is shown */
    int key_count;
} picture_wants;

/*
 * What a word of the command line names; loads caches, and of a .glb the clip (NULL: the baked one). CLI_OK, or an exit
 * code with the message printed.
 */
int picture_source_open(const cutis_character *character, const char *word, const char *clip, picture_source *source);
void picture_source_close(picture_source *source);
/* The output of that name of a solver that is shown; NULL: it has none. */
const cutis_output_info *picture_source_output(const picture_source *source, const char *name);
/* Whether one of its solvers has the parameter of a setting's key: "name", "solver.name" or "bones.JOINT.name". */
bool picture_source_has_parameter(const picture_source *source, const char *key);
/*
 * Run a solver along a clip (-1: the idle pose) as `cutis bake` does, and keep what is wanted of the frames shown, as
 * far as the solver has it.
 */
int picture_source_run(picture_source *source, const cutis_character *character, int clip, const picture_times *times,
                       const cutis_setting *settings, int setting_count, cutis_pool *pool, const picture_wants *wants,
                       bool quiet);
/* The frame of a cache that the i-th frame shown is. */
long picture_source_frame(const picture_source *source, const picture_times *times, int i);
/* Positions of the i-th frame shown. */
const float *picture_source_positions(const picture_source *source, const cutis_character *character,
                                      const picture_times *times, int i);
/* Whether a bake wrote an output of that name beside the cache: CACHE.NAME.npy. */
bool picture_source_has_values(const picture_source *source, const char *name);
/*
 * Read values (frames x vertices), or (vertices) for all frames, from a NumPy file, or those of that name beside the
 * cache.
 */
int picture_source_read_values(picture_source *source, const cutis_character *character, const picture_times *times,
                               const char *file_or_name);
/* Read the texture coordinates (frames x corners x 2) beside the cache, if there are any. */
/* The strength of a normal map at vertices, from MAP.weights.npy beside it, when there is one. */
int picture_source_read_weights(picture_source *source, const cutis_character *character, const picture_times *times,
                                const char *map);
int picture_source_read_texcoords(picture_source *source, const cutis_character *character, const picture_times *times);

/* How many frames there are and at what rate: the caches tell, or else the clip. */
int picture_times_find(const cli_arguments *arguments, const cutis_character *character, int clip,
                       const picture_source *sources, int source_count, bool quiet, picture_times *times);
/* Choose by --frame; without it `fallback` frames spread over all, 0 for every frame. */
int picture_times_choose(const cli_arguments *arguments, int fallback, picture_times *times);
/* Frames per second of a video of the frames shown: left-out frames do not speed it up. */
double picture_times_rate(const picture_times *times);

#endif
