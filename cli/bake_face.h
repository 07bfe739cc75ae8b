/* bake_face.h: run a bake with command-line names, progress, messages and exit codes. */
#ifndef CLI_BAKE_FACE_H
#define CLI_BAKE_FACE_H

#include "cli.h"

/*
 * Bake `input`, a file or a built-in name. It replaces character, source, progress, message and context of the
 * definition. Prints errors and returns an exit code. *result is NULL unless that is CLI_OK.
 */
int bake_run(const char *input, const cutis_bake_def *def, bool quiet, cutis_bake_result **result);
/* Print a summary of a bake on stdout. */
void bake_print_summary(const cutis_bake_def *def, const cutis_bake_result *result);
/* The report as JSON. */
json_t *bake_report(const cutis_bake_result *result);

#endif
