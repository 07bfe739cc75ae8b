/* error.c: filling errors, and the nearest valid name for "did you mean". */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"

const char *cutis_version(void)
{
#define TEXT(x) #x
#define VERSION(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)
    return VERSION(CUTIS_VERSION_MAJOR, CUTIS_VERSION_MINOR, CUTIS_VERSION_PATCH);
}

cutis_result error_set(cutis_error *error, cutis_result code, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error->code = code;
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        /* A text from a file may hold control characters: an error stays one line. */
        for (char *c = error->text; *c; c++) {
            if (iscntrl((unsigned char)*c)) *c = '?';
        }
    }
    return code;
}

cutis_result error_memory(cutis_error *error, const char *what)
{
    return error_set(error, CUTIS_ERROR_MEMORY, "out of memory for %s", what);
}

/* Longest name that is compared; longer ones are never suggested. */
enum { NAME_LIMIT = 64 };

/* Edit distance with swaps of neighbours counted as one, letters compared without case. */
static int edit_distance(const char *a, const char *b)
{
    int rows[3][NAME_LIMIT + 1];
    int length_a = (int)strlen(a), length_b = (int)strlen(b);
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= length_b; j++) last[j] = j;
    for (int i = 1; i <= length_a; i++) {
        row[0] = i;
        for (int j = 1; j <= length_b; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            int best = last[j - 1] + (x != y);
            best = MIN(best, last[j] + 1);
            best = MIN(best, row[j - 1] + 1);
            bool swapped =
                i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]);
            if (swapped) best = MIN(best, before[j - 2] + 1);
            row[j] = best;
        }
        int *free_row = before;
        before = last, last = row, row = free_row;
    }
    return last[length_b];
}

const char *nearest_name(const char *name, const char *const *names, int name_count)
{
    size_t length = strlen(name);
    if (length == 0 || length > NAME_LIMIT) return NULL;
    const char *best_name = NULL;
    /* Near: at most a third of the letters are wrong, and at least one slip is allowed. */
    int best = MAX(1, (int)length / 3) + 1;
    for (int i = 0; i < name_count; i++) {
        if (strlen(names[i]) > NAME_LIMIT) continue;
        int distance = edit_distance(name, names[i]);
        /* A beginning of the name is a good guess too. */
        if (length >= 3 && strncmp(name, names[i], length) == 0) distance = MIN(distance, 1);
        if (distance < best) best = distance, best_name = names[i];
    }
    return best_name;
}
