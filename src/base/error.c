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
static int edit_distance(const char *a, int length_a, const char *b, int length_b)
{
    int rows[3][NAME_LIMIT + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];

    for (int j = 0; j <= length_b; j++) last[j] = j;
    for (int i = 1; i <= length_a; i++) {
        row[0] = i;

        /* keep, replace, delete or insert */
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

        /* rows move up */
        int *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }

    return last[length_b];
}

/* Whether a word begins at b[i]: "skin_stiffness", "Armature|Walk", "mixamorig:LeftArm" have two or three. */
static bool word_begins(const char *b, int i)
{
    if (i == 0) return true;
    unsigned char before = (unsigned char)b[i - 1], here = (unsigned char)b[i];
    return isalnum(here) && (!isalnum(before) || (isupper(here) && islower(before)));
}

static bool word_ends(const char *b, int length, int end)
{
    return end == length ||
           (isalnum((unsigned char)b[end - 1]) && (!isalnum((unsigned char)b[end]) || word_begins(b, end)));
}

/* The least distance from `name` to whole words of `candidate` that follow each other; fewer than all cost one more. */
static int words_distance(const char *name, int length, const char *candidate)
{
    int end_of_all = (int)strlen(candidate);
    int best = edit_distance(name, length, candidate, end_of_all);
    if (length < 3) return best;

    /* runs of whole words */
    for (int begin = 0; begin < end_of_all; begin++) {
        if (!word_begins(candidate, begin)) continue;
        for (int end = begin + 1; end <= end_of_all; end++) {
            if (word_ends(candidate, end_of_all, end))
                best = MIN(best, 1 + edit_distance(name, length, candidate + begin, end - begin));
        }
    }

    return best;
}

name_search name_search_start(const char *name)
{
    size_t length = strlen(name);

    /* Near: at most a third of the letters are wrong, and at least one slip is allowed. */
    int limit = length == 0 || length > NAME_LIMIT ? 0 : MAX(1, (int)length / 3) + 1;
    return (name_search){name, NULL, limit};
}

void name_search_offer(name_search *search, const char *candidate)
{
    if (search->distance == 0 || strlen(candidate) > NAME_LIMIT) return;
    size_t length = strlen(search->name);
    int distance = words_distance(search->name, (int)length, candidate);

    /* A beginning of the name is a good guess too. */
    if (length >= 3 && strncmp(search->name, candidate, length) == 0) distance = MIN(distance, 1);

    if (distance < search->distance) {
        search->distance = distance;
        search->nearest = candidate;
    }
}
