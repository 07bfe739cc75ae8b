/*
 * quality.h: the figures of a result as JSON, and bounds on them.
 */
#ifndef CLI_QUALITY_H
#define CLI_QUALITY_H

#include "cli.h"

/* All figures of a measurement, by the names of docs/CONVENTIONS.md. */
json_t *quality_json(const cutis_quality *quality, double fps);

/* One bound: "volume_error_max<0.01". */
typedef struct quality_check {
    char name[64];
    char operator[4]; /* "<", "<=", ">", ">=" or "=" */
    double bound;
    double value; /* NAN: the result has no such figure */
    bool passed;
} quality_check;

/* Parse a list of bounds, separated by commas. *checks is to be freed. CLI_OK or CLI_USAGE, message printed. */
int quality_parse(const char *text, quality_check **checks, int *check_count);
/* Look the figures up (keys of an object of numbers) and decide. Returns the number of bounds that do not hold. */
int quality_decide(quality_check *checks, int check_count, const json_t *figures);
/* A sentence for each bound that does not hold, on stderr. */
void quality_print_failures(const quality_check *checks, int check_count);
json_t *quality_checks_json(const quality_check *checks, int check_count);

#endif
