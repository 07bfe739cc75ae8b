/*
 * json_text.h: JSON written as text, piece by piece, without a library, so that a report needs none.
 *
 * Members come in the order in which they are written. A failure (memory) is remembered; json_finish then gives NULL.
 */
#ifndef BAKE_JSON_TEXT_H
#define BAKE_JSON_TEXT_H

#include "base/core.h"

enum { JSON_DEPTH = 16 };

typedef struct json_text {
    arena *memory; /* where json_finish puts the text */
    char *text;
    size_t size, capacity;
    int depth;
    bool filled[JSON_DEPTH]; /* the object or array at a depth has a member */
    bool failed;
} json_text;

json_text json_start(arena *memory);
/* key: in an object; NULL in an array and at the top. */
void json_open(json_text *json, const char *key, char bracket);     /* '{' or '[' */
void json_close(json_text *json, char bracket);                     /* '}' or ']' */
void json_put_real(json_text *json, const char *key, double value); /* null when not finite */
void json_put_integer(json_text *json, const char *key, long long value);
void json_put_bool(json_text *json, const char *key, bool value);
void json_put_string(json_text *json, const char *key, const char *text, int length); /* -1: all; NULL: null */
/* The text, in the arena; what was used in between is released. NULL when memory ran out. */
char *json_finish(json_text *json);

#endif
