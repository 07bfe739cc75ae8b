/*
 * bake_face.h: the library's bake with the program's face: names of the command line, progress, messages, exit codes.
 */
#ifndef CLI_BAKE_FACE_H
#define CLI_BAKE_FACE_H

#include "cli.h"

/*
 * Run a bake of `input`, a file or a built-in name, which becomes the definition's character and source; progress,
 * messages and their context are the face's own. Prints errors and returns an exit code; *result is NULL unless that is
 * CLI_OK.
 */
int bake_run(const char *input, const cutis_bake_def *def, bool quiet, cutis_bake_result **result);
/* The figures of a bake in a few lines on stdout. */
void bake_print_summary(const cutis_bake_def *def, const cutis_bake_result *result);
/* The report as JSON. */
json_t *bake_report(const cutis_bake_result *result);

#endif
