/*
 * worn.h: parts of a character that lie on or in its flesh, such as clothes, hair, eyes and teeth.
 *
 * A solver whose skin collides with itself takes every piece of the surface for flesh of its own. A coat around a body,
 * or an eye in its socket, then touches everywhere and passes through at rest, and bursts. So what lies on a larger
 * piece is left out of the simulation and carried along: the model of such a character holds a model of the flesh
 * alone (`inner`), and shows the rest where linear blending puts it, moved by what the simulation does to the flesh
 * below.
 */
#ifndef ENGINE_WORN_H
#define ENGINE_WORN_H

#include "engine/model_object.h"

struct worn {
    cutis_character *flesh;    /* the character without what is worn */
    cutis_model *inner;        /* of the flesh */
    const int *flesh_vertices; /* (vertices of flesh) the character's vertex */
    const int *flesh_corners;  /* (corners of flesh) the character's corner */
    const int *vertex_flesh;   /* (vertex_count) the flesh's vertex; -1: worn */
    int count;                 /* of worn vertices */
    const int *vertices;       /* (count) */
    const int *anchors;        /* (count x 3) vertices of the flesh's triangle below, by the character's numbers */
    const float *weights;      /* (count x 3) of the anchors, sum 1 on the flesh, 0 far from it and for what is rigid */
    size_t state;              /* offset: the inner state, its scratch behind it */
    size_t drags;              /* offset into the scratch: (vertex_count) drags by the flesh's vertices */
    size_t outputs;            /* offset into the scratch: (output_count x output_floats) */
    size_t output_floats;
};

/*
 * Find what is worn and, when there is any, make m->worn with flesh and model. Needs m->mesh. Leaves m->worn NULL
 * when all is flesh.
 */
cutis_result worn_build(cutis_model *m, const cutis_model_def *def, cutis_error *error);
void worn_destroy(worn *w); /* NULL is allowed */
/* The state's arrays; the counterpart of a plain model's layout. */
void worn_lay_out(cutis_model *m);

/* The counterparts of cutis_state_NAME. */
void worn_create(const cutis_model *m, cutis_state *state);
void worn_reset(const cutis_model *m, cutis_state *state, const float *joints);
void worn_step(const cutis_model *m, cutis_state *state, const cutis_step_input *input, double dt);
void worn_teleport(const cutis_model *m, cutis_state *state, const float transform[12]);
bool worn_output(const cutis_model *m, const cutis_state *state, const char *name, cutis_output *output);
cutis_result worn_find_loop(const cutis_model *m, cutis_state *state, const cutis_loop_def *def,
                            const cutis_allocator *allocator, cutis_loop_info *info, cutis_error *error);
cutis_state *worn_inner(const cutis_model *m, const cutis_state *state);

#endif
