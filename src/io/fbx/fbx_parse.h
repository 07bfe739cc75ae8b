/*
 * fbx_parse.h: an FBX file as a tree of named nodes with values, from the binary and the text form, versions 5000 to
 * 7700 (the structure; fbx_read.c knows what the nodes mean).
 */
#ifndef IO_FBX_PARSE_H
#define IO_FBX_PARSE_H

#include "io/files.h"

typedef enum fbx_kind { FBX_INTEGER, FBX_NUMBER, FBX_STRING, FBX_ARRAY } fbx_kind;

typedef struct fbx_value {
    fbx_kind kind;
    int64_t integer;     /* INTEGER */
    double number;       /* INTEGER and NUMBER */
    const char *text;    /* STRING, ends in 0; may hold others */
    size_t length;       /* of the text, or of the array */
    const double *array; /* ARRAY of any type; integers up to 2^53 are exact */
} fbx_value;

typedef struct fbx_node {
    const char *name;
    fbx_value *values;
    int value_count;
    struct fbx_node *first_child, *next;
} fbx_node;

typedef struct fbx_file {
    const char *name; /* base name, for messages */
    cutis_error *error;
    arena memory;
    size_t input_bytes, charged;
    int version; /* 7400 */
    fbx_node *root;
} fbx_file;

/* Parse; the file must be destroyed in any case. */
cutis_result fbx_parse(fbx_file *file, const void *data, size_t size, const char *path,
                       const cutis_allocator *allocator, cutis_error *error);
void fbx_destroy(fbx_file *file);
/* Bring the tree of a version before 6000 to the form of 6100; part of fbx_parse. */
cutis_result fbx_lift_old(fbx_file *file);

cutis_result fbx_error(const fbx_file *file, cutis_result code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Memory bounded by the size of the input, as gltf_allocate; NULL beyond. */
void *fbx_allocate(fbx_file *file, size_t count, size_t size);
cutis_result fbx_error_memory(const fbx_file *file);

const fbx_node *fbx_child(const fbx_node *node, const char *name);
/* A value of a node as a number or a text; `missing` when it is not there. */
double fbx_number(const fbx_node *node, int index, double missing);
const char *fbx_text(const fbx_node *node, int index, const char *missing);
/* All numbers of a node, whether they stand in an array, a list or a child `a`. */
const double *fbx_numbers(fbx_file *file, const fbx_node *node, int *count);

#endif
