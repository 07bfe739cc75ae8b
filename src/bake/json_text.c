/*
 * json_text.c: JSON written as text.
 */
#include "bake/json_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

json_text json_start(arena *memory) { return (json_text){.memory = memory}; }

static void put(json_text *j, const char *text, size_t length)
{
    if (j->failed) return;

    if (j->size + length + 1 > j->capacity) {
        size_t capacity = MAX(2 * j->capacity, j->size + length + 4096);
        char *larger = memory_allocate(&j->memory->allocator, capacity, 1);
        if (!larger) {
            j->failed = true;
            return;
        }

        if (j->size) memcpy(larger, j->text, j->size);
        memory_release(&j->memory->allocator, j->text, j->capacity, 1);
        j->text = larger;
        j->capacity = capacity;
    }

    memcpy(j->text + j->size, text, length);
    j->size += length;
}

static void put_text(json_text *j, const char *text) { put(j, text, strlen(text)); }

/* How many bytes of a valid UTF-8 sequence begin here; 0: none does. */
static int sequence_length(const unsigned char *c, size_t left)
{
    int length = c[0] < 0x80 ? 1 : c[0] >= 0xC2 && c[0] < 0xE0 ? 2 : c[0] >= 0xE0 && c[0] < 0xF0 ? 3 : 4;
    if ((length == 4 && (c[0] < 0xF0 || c[0] > 0xF4)) || (size_t)length > left) return 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80) return 0;
    bool overlong = (length == 3 && c[0] == 0xE0 && c[1] < 0xA0) || (length == 4 && c[0] == 0xF0 && c[1] < 0x90);
    bool surrogate = length == 3 && c[0] == 0xED && c[1] >= 0xA0;
    bool beyond = length == 4 && c[0] == 0xF4 && c[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

static void put_quoted(json_text *j, const char *text, size_t length)
{
    put_text(j, "\"");
    for (size_t i = 0; i < length;) {
        const unsigned char *c = (const unsigned char *)text + i;
        int count = sequence_length(c, length - i);
        char escape[8];

        /* broken UTF-8 */
        if (count == 0) {
            put_text(j, "?");
            i++;
            continue;
        }

        /* JSON's escapes */
        if (*c == '"' || *c == '\\')
            snprintf(escape, sizeof escape, "\\%c", *c);
        else if (*c == '\n')
            strcpy(escape, "\\n");
        else if (*c < 0x20)
            snprintf(escape, sizeof escape, "\\u%04X", *c);
        else
            escape[0] = 0;

        /* the character itself, or its escape */
        if (escape[0])
            put_text(j, escape);
        else
            put(j, text + i, (size_t)count);
        i += (size_t)count;
    }

    put_text(j, "\"");
}

/* The comma, the line and the key before a value. */
static void begin(json_text *j, const char *key)
{
    if (j->depth > 0) {
        if (j->filled[j->depth]) put_text(j, ",");
        j->filled[j->depth] = true;
        put_text(j, "\n");
        for (int i = 0; i < j->depth; i++) put_text(j, "  ");
    }
    if (!key) return;
    put_quoted(j, key, strlen(key));
    put_text(j, ": ");
}

void json_open(json_text *j, const char *key, char bracket)
{
    begin(j, key);
    put(j, &bracket, 1);
    if (j->depth + 1 < JSON_DEPTH)
        j->filled[++j->depth] = false;
    else
        j->failed = true;
}

void json_close(json_text *j, char bracket)
{
    bool filled = j->filled[j->depth--];
    if (filled) put_text(j, "\n");
    for (int i = 0; filled && i < j->depth; i++) put_text(j, "  ");
    put(j, &bracket, 1);
}

void json_put_real(json_text *j, const char *key, double value)
{
    char text[40] = "null";
    begin(j, key);
    if (isfinite(value)) snprintf(text, sizeof text, "%.12g", value);
    for (char *c = text; isfinite(value) && *c; c++)
        if (!strchr("0123456789+-e", *c)) *c = '.'; /* the locale's sign */
    if (isfinite(value) && !strpbrk(text, ".e")) strcat(text, ".0");
    put_text(j, text);
}

void json_put_integer(json_text *j, const char *key, long long value)
{
    char text[32];
    begin(j, key);
    snprintf(text, sizeof text, "%lld", value);
    put_text(j, text);
}

void json_put_bool(json_text *j, const char *key, bool value)
{
    begin(j, key);
    put_text(j, value ? "true" : "false");
}

void json_put_string(json_text *j, const char *key, const char *text, int length)
{
    begin(j, key);
    if (text)
        put_quoted(j, text, length < 0 ? strlen(text) : (size_t)length);
    else
        put_text(j, "null");
}

char *json_finish(json_text *j)
{
    char *copy = j->failed ? NULL : arena_push(j->memory, j->size + 2, 1);
    if (copy) {
        memcpy(copy, j->text, j->size);
        copy[j->size] = '\n';
    }
    memory_release(&j->memory->allocator, j->text, j->capacity, 1);
    *j = (json_text){.memory = j->memory};
    return copy;
}
