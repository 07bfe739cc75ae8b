/*
 * files.h: what all readers and writers share: whole files in and out, paths, numbers as text, unique names.
 */
#ifndef IO_FILES_H
#define IO_FILES_H

#include <stdio.h>

#include "base/core.h"
#include "base/system.h"

/* ---- paths ---- */

/* The part after the last separator. */
const char *path_base(const char *path);
/* Whether a path ends so, letter case ignored: path_ends(p, ".glb"). */
bool path_ends(const char *path, const char *ending);
/* Whether a path names a glTF file: .glb, .gltf, or .vrm, which is a .glb. */
bool path_is_gltf(const char *path);
/* The base name without its last ending, in the arena. */
char *path_stem(arena *memory, const char *path);

/* ---- whole files ---- */

/* A file's bytes, followed by a zero that size does not count. */
typedef struct file_data {
    uint8_t *bytes;
    size_t size;
    cutis_allocator allocator;
} file_data;

/* Read a regular file; at most `limit` bytes of it (0: all). */
cutis_result file_read(const char *path, size_t limit, const cutis_allocator *allocator, file_data *data,
                       cutis_error *error);
void file_release(file_data *data);

/*
 * A text in UTF-16 (by its byte order mark) as UTF-8, and lines that end in carriage returns alone with line feeds.
 * plain->bytes is NULL when the text is fine as it is; else the caller releases it.
 */
cutis_result text_plain(const void *data, size_t size, const char *name, const cutis_allocator *allocator,
                        file_data *plain, cutis_error *error);

/* A file that is kept in memory. */
typedef struct file_stored {
    char *name;
    uint8_t *bytes;
    size_t size, capacity;
} file_stored;

/* Where writers put files instead of on the disk. */
typedef struct file_store {
    cutis_allocator allocator;
    file_stored *files; /* (count) in the order in which they were finished */
    int count, capacity;
} file_store;

void file_store_release(file_store *store);

/*
 * A file that appears whole or not at all: written under a temporary name beside `path`, renamed by finish.
 * A failed write is remembered and reported by finish.
 */
typedef struct file_writer {
    file_store *store;  /* takes the file; NULL: the disk */
    file_stored memory; /* with a store: what was written so far */
    FILE *file;
    char *path, *temporary;
    bool quick; /* do not wait for the disk; for files whose folder is put in place as a whole */
    bool failed;
    int failure; /* errno of the first failed write */
    cutis_allocator allocator;
} file_writer;

/* store: where the file goes instead of to the disk, or NULL. */
cutis_result file_writer_open(file_writer *writer, file_store *store, const char *path,
                              const cutis_allocator *allocator, cutis_error *error);
void file_writer_put(file_writer *writer, const void *data, size_t size);
void file_writer_print(file_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Put the file in place, or remove what was written and say why. Frees in both cases. */
cutis_result file_writer_finish(file_writer *writer, cutis_error *error);
void file_writer_discard(file_writer *writer);

/* What is wrong in a line of a text. */
cutis_result file_line_error(cutis_error *error, const char *name, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* `path` with a suffix that no other process uses, for attempt 0, 1, ...; release with file_string_release. */
char *file_temporary_name(const char *path, int attempt, const cutis_allocator *allocator);
void file_string_release(const cutis_allocator *allocator, char *text);

/* ---- bytes ---- */

static inline uint32_t bytes_u16(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static inline uint32_t bytes_u32(const uint8_t *p) { return bytes_u16(p) | bytes_u16(p + 2) << 16; }
static inline uint32_t bytes_u32_big(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}
float bytes_float(uint32_t bits);
uint32_t bytes_from_float(float value);
void bytes_put_u32(uint8_t *p, uint32_t value);
void bytes_put_u32_big(uint8_t *p, uint32_t value);

/* Decode up to the padding, 3 bytes for 4 characters; false for a character that does not belong there. */
bool base64_decode(const char *text, uint8_t *bytes, size_t *size);

/* ---- numbers as text, without the locale ---- */

bool text_integer(const char **cursor, const char *end, long long *value);
/* With 6 digits when they give the float back, else with 9. Returns the length. */
int text_from_float(float value, char text[32]);

/* ---- names ---- */

/* A set of names that hands out unique ones. */
typedef struct name_set {
    arena *memory;
    struct name_entry *entries;
    int capacity, count;
} name_set;

name_set name_set_create(arena *memory);
/*
 * `name`, made printable; "prefix_index" when it is NULL or empty; "_2", "_3", ... added when it is taken.
 * NULL when memory runs out.
 */
const char *name_set_add(name_set *set, const char *name, const char *prefix, int index);

/* ---- warnings ---- */

enum { WARNING_LIMIT = 60 };

/* Sentences collected while reading; those beyond the limit are only counted. */
typedef struct warning_list {
    arena *memory;
    const char *sentences[WARNING_LIMIT + 1];
    int count, suppressed;
} warning_list;

/* Set an error "NAME: TEXT", one line without control characters. */
cutis_result file_error(cutis_error *error, cutis_result code, const char *name, const char *format, va_list arguments);
void warning_add(warning_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the sentence about suppressed ones; returns the number of sentences. */
int warning_finish(warning_list *list);

#endif
