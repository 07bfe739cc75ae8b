/*
 * dae_scene.h: what the parts of the COLLADA reader share: the document, nodes with their steps, looking things up.
 */
#ifndef IO_DAE_SCENE_H
#define IO_DAE_SCENE_H

#include "io/dae/xml_parse.h"
#include "io/scene_build.h"

enum { OP_LIMIT = 16 };

/* One step of a node's transform. */
typedef struct dae_op {
    const xml_node *element;
    double values[16];
    int count;
} dae_op;

typedef struct dae_node {
    const xml_node *element; /* several nodes have the same where it is instanced */
    dae_op ops[OP_LIMIT];
    int op_count;
} dae_node;

typedef struct dae_reader {
    const char *name;
    cutis_error *error;
    arena memory;
    warning_list warnings;
    size_t budget; /* of bytes that instances and samples may still expand to, about */
    const xml_node *root;
    scene s;
    dae_node *nodes; /* (s.node_count) */
    int node_capacity;
    const xml_node **morph_weights; /* (s.mesh_count) the source of its morph targets' weights, or NULL */
} dae_reader;

cutis_result dae_error(const dae_reader *r, cutis_result code, const char *what, const char *which);
cutis_result dae_memory(const dae_reader *r);
/* Take bytes from the budget; an error when instances or samples expand out of proportion to the file. */
cutis_result dae_charge(dae_reader *r, size_t bytes, const char *which);

/* ---- looking things up ---- */

/* The element that a url ("#id") names: below `within` (may be NULL), else in the libraries. */
const xml_node *dae_find_url(const dae_reader *r, const xml_node *within, const char *url);
const xml_node *dae_find_input(const xml_node *list, const char *semantic);
/* The node with this attribute, among those below `top` (itself too; -1: all). */
int dae_find_node(const dae_reader *r, int top, const char *key, const char *value, size_t length);
/* The next word of an element's text, from *cursor on (start with NULL); NULL at its end. */
const char *dae_word(const xml_node *element, const char **cursor, size_t *length);
/* A source of numbers: its array and the stride of its accessor. NULL: no memory. */
const double *dae_source_numbers(dae_reader *r, const xml_node *source, int *count, int *stride);
int dae_attribute_integer(const xml_node *node, const char *key, int missing);

/* ---- the parts ---- */

affine dae_matrix(const double *numbers);
affine_parts dae_node_local(const dae_op *ops, int count);
cutis_result dae_read_meshes(dae_reader *r);
cutis_result dae_read_clips(dae_reader *r);

#endif
