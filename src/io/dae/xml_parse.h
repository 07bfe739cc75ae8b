/*
 * xml_parse.h: an XML text as a tree, as far as COLLADA needs it: elements, attributes, text.
 */
#ifndef IO_XML_PARSE_H
#define IO_XML_PARSE_H

#include "io/files.h"

typedef struct xml_node {
    const char *name;
    const char **attributes; /* (attribute_count x 2): key, value */
    int attribute_count;
    const char *text, *text_end; /* before the first child; not decoded, does not end in 0 */
    struct xml_node *first_child, *next;
} xml_node;

/* The root element, or NULL with *line where it is damaged (0: memory ran out). The text must stay valid. */
xml_node *xml_parse(const char *text, size_t size, arena *memory, int *line);

const xml_node *xml_child(const xml_node *node, const char *name);
const xml_node *xml_next(const xml_node *node, const char *name); /* the next sibling of that name */
const char *xml_attribute(const xml_node *node, const char *key); /* "" when it is not there */
/* The numbers of a text; *count is how many. NULL when memory runs out. */
double *xml_numbers(const xml_node *node, arena *memory, int *count);

#endif
