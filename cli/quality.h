/*
 * quality.h: the figures of a result as JSON, and the bounds that they break.
 */
#ifndef CLI_QUALITY_H
#define CLI_QUALITY_H

#include "cli.h"

/* All figures of a measurement, by the names of docs/reference/conventions.md. */
json_t *quality_json(const cutis_quality *quality, double fps);
/* A sentence for each bound that does not hold, on stderr. */
void quality_print_failures(const cutis_check *checks, int check_count);

#endif
