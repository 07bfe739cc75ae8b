/*
 * system.h: what differs between operating systems: files, folders, processors, processes. The rest of the library and
 * the program call these and no function of one system.
 *
 * Paths are UTF-8 everywhere. Functions that fail set errno.
 */
#ifndef BASE_SYSTEM_H
#define BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The longest path, bytes, where the system sets no other limit. */
enum { SYSTEM_PATH_BYTES = 4096 };

/* ---- files ---- */

typedef struct system_file {
    bool regular, folder;
    uint64_t size;         /* bytes */
    uint64_t device, node; /* both equal: the same file under two names */
} system_file;

/* fopen with a UTF-8 path; give a mode with "b". */
FILE *system_open(const char *path, const char *mode);
/* A new file to write; fails with EEXIST when there is one. */
FILE *system_create(const char *path);
/* A file that is removed when it is closed, or when the program ends. */
FILE *system_temporary(void);
/* False when there is nothing under this path. */
bool system_look(const char *path, system_file *about);
/* The size of an open regular file; false when it is something else (a folder, a pipe). */
bool system_size(FILE *file, uint64_t *size);
/* Wait until what was written is on the disk. */
bool system_sync(FILE *file);
/* Rename; a file that is there already is replaced in one step. */
bool system_rename(const char *from, const char *to);
bool system_remove(const char *path);
bool system_folder_create(const char *path);
bool system_folder_remove(const char *path);
/* Whether files can be made in a folder. */
bool system_folder_writable(const char *path);

/* The names in a folder, without "." and "..": open, next until NULL, close. */
typedef struct system_listing {
    void *handle;
    char name[1024];
} system_listing;

bool system_listing_open(system_listing *listing, const char *folder);
const char *system_listing_next(system_listing *listing);
void system_listing_close(system_listing *listing);

/* The text of an errno. */
const char *system_error_text(int number, char text[128]);

/* ---- memory ---- */

void *system_allocate(size_t size, size_t alignment);
void system_release(void *block);
/* The largest resident memory of this process so far, bytes; 0 where the system does not tell. */
double system_peak_memory(void);

/* ---- machine ---- */

int system_processor_count(void); /* at least 1 */
long system_process(void);        /* the number of this process */
bool system_process_lives(long process);
/* The path of the running program; false where the system does not tell. */
bool system_program(char *path, size_t size);

#endif
