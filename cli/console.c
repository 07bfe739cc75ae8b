/*
 * console.c: messages, progress, interruption, tables, numbers, JSON and the machine's clock and memory.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/system.h"
#include "cli.h"
#include "process.h"

/* ---- messages ---- */

static void print_message(const char *kind, const char *format, va_list list)
{
    fflush(stdout);
    fprintf(stderr, "cutis: %s: ", kind);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
}

int cli_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message("error", format, list);
    va_end(list);
    return CLI_FAILURE;
}

int cli_usage_error(const cli_arguments *arguments, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message("error", format, list);
    va_end(list);
    fprintf(stderr, "Try 'cutis %s --help'.\n", arguments->command->name);
    return CLI_USAGE;
}

int cli_library_error(const cutis_error *error)
{
    cli_error("%s", error->text);
    return error->code == CUTIS_ERROR_ARGUMENT ? CLI_USAGE : CLI_FAILURE;
}

void cli_warning(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message("warning", format, list);
    va_end(list);
}

void cli_warnings(const char *const *warnings, int warning_count)
{
    enum { SHOWN = 10 };
    for (int i = 0; i < warning_count && i < SHOWN; i++) cli_warning("%s", warnings[i]);
    if (warning_count > SHOWN) cli_warning("and %d more", warning_count - SHOWN);
}

/* ---- interruption ---- */

static volatile sig_atomic_t interrupted, at_once;

static void on_interrupt(void)
{
    interrupted = 1;
    if (at_once) process_exit_now("cutis: interrupted\n", CLI_INTERRUPTED);
}

void cli_catch_interrupts(void) { process_catch_interrupts(on_interrupt); }

void cli_interrupt_at_once(bool may) { at_once = may; }

bool cli_interrupted(void) { return interrupted != 0; }

/* ---- progress ---- */

void cli_progress_begin(cli_progress *progress, const char *label, long total, bool quiet)
{
    double now = cli_clock();
    *progress = (cli_progress){label, total, now, now, !quiet && total > 0 && process_has_terminal()};
}

void cli_progress_update(cli_progress *progress, long done)
{
    enum { WIDTH = 30 };
    double now = cli_clock();
    if (!progress->active || now - progress->last < 0.1) return;

    progress->last = now;

    /* the bar and the estimated remaining time */
    double fraction = (double)done / (double)progress->total;
    int full = (int)(fraction * WIDTH);
    char bar[WIDTH + 1], left[32] = "?";
    for (int i = 0; i < WIDTH; i++) bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = 0;
    if (done > 0) cli_format_seconds((now - progress->start) * (1 - fraction) / fraction, left);

    fprintf(stderr, "\r%s [%s] %3.0f%%  %ld/%ld  %s left\033[K", progress->label, bar, 100 * fraction, done,
            progress->total, left);
    fflush(stderr);
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->active) fputs("\r\033[K", stderr);
    progress->active = false;
}

/* ---- tables and text ---- */

struct cli_table {
    char *align;
    int column_count, cell_count, cell_capacity;
    char **cells;
};

cli_table *cli_table_create(const char *align)
{
    cli_table *table = cli_allocate(1, sizeof *table);
    table->align = cli_format("%s", align);
    table->column_count = (int)strlen(align);
    return table;
}

void cli_table_cell(cli_table *table, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (table->cell_count == table->cell_capacity) {
        table->cell_capacity = table->cell_capacity ? table->cell_capacity * 2 : 64;
        table->cells = cli_resize(table->cells, (size_t)table->cell_capacity, sizeof *table->cells);
    }
    table->cells[table->cell_count++] = cli_format("%s", text);
}

void cli_table_heads(cli_table *table, const char *heads)
{
    while (*heads) {
        int length = (int)strcspn(heads, "|");
        cli_table_cell(table, "%.*s", length, heads);
        heads += heads[length] ? length + 1 : length;
    }
}

void cli_table_print(cli_table *table, const char *indent)
{
    int columns = table->column_count;

    /* widths of the columns */
    while (table->cell_count % columns) cli_table_cell(table, "%s", "");
    int *widths = cli_allocate((size_t)columns, sizeof *widths);
    for (int i = 0; i < table->cell_count; i++) {
        int length = (int)strlen(table->cells[i]);
        if (length > widths[i % columns]) widths[i % columns] = length;
    }

    for (int row = 0; row < table->cell_count; row += columns) {
        /* The last cell that is not empty ends the line, so that no line ends in spaces. */
        int last = columns - 1;
        while (last > 0 && table->cells[row + last][0] == 0) last--;
        fputs(indent, stdout);
        for (int c = 0; c <= last; c++) {
            const char *cell = table->cells[row + c];
            const char *gap = c < last ? "  " : "";
            if (table->align[c] == 'r')
                printf("%*s%s", widths[c], cell, gap);
            else
                printf("%-*s%s", c < last ? widths[c] : 0, cell, gap);
        }
        putchar('\n');
    }

    for (int i = 0; i < table->cell_count; i++) free(table->cells[i]);
    free(table->cells);
    free(widths);
    free(table->align);
    free(table);
}

void cli_print_hanging(const char *text, int indent, int width)
{
    for (bool first = true; *text; first = false) {
        size_t take = strlen(text), room = (size_t)(width - indent);

        /* break at the last space that fits, or behind a longer word */
        if (take > room) {
            take = room;
            while (take > 0 && text[take] != ' ') take--;
            if (take == 0) take = strcspn(text, " ");
        }

        printf("%*s%.*s\n", first ? 2 : indent, "", (int)take, text);
        text += take;
        text += strspn(text, " ");
    }
}

void cli_print_wrapped(FILE *file, const char *text, int indent, int width)
{
    while (*text) {
        size_t line = strcspn(text, "\n"), take = line;

        /* break at the last space that fits, or behind a longer word */
        if (take > (size_t)(width - indent)) {
            take = (size_t)(width - indent);
            while (take > 0 && text[take] != ' ') take--;
            if (take == 0) take = strcspn(text, " \n");
        }

        fprintf(file, "%*s%.*s\n", take ? indent : 0, "", (int)take, text);
        text += take;
        if (*text == ' ' || *text == '\n') text++;
    }
}

const char *cli_format_bytes(double bytes, char buffer[32])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 999.5 && unit < 4) {
        bytes /= 1000;
        unit++;
    }
    snprintf(buffer, 32, unit && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return buffer;
}

const char *cli_format_seconds(double seconds, char buffer[32])
{
    if (seconds < 0.9995e-3)
        snprintf(buffer, 32, "%.3g us", seconds * 1e6);
    else if (seconds < 0.9995)
        snprintf(buffer, 32, "%.3g ms", seconds * 1e3);
    else if (seconds < 59.95)
        snprintf(buffer, 32, "%.1f s", seconds);
    else if (seconds < 3600)
        snprintf(buffer, 32, "%d min %d s", (int)(seconds / 60), (int)fmod(seconds, 60));
    else
        snprintf(buffer, 32, "%d h %d min", (int)fmin(seconds / 3600, 1e6), (int)fmod(seconds / 60, 60));

    return buffer;
}

const char *cli_format_count(long count, char buffer[32])
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%ld", count), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0) buffer[used++] = ',';
        buffer[used++] = digits[i];
    }
    buffer[used] = 0;
    return buffer;
}

/* ---- JSON ---- */

enum { JSON_STYLE = JSON_INDENT(2) | JSON_REAL_PRECISION(12) | JSON_ENSURE_ASCII };

json_t *cli_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *cli_json_string(const char *text)
{
    if (!text) return json_null();
    json_t *value = json_string(text);
    if (value) return value;
    char *copy = cli_format("%s", text);
    for (char *at = copy; *at; at++)
        if ((unsigned char)*at >= 0x80) *at = '?';
    value = json_string(copy);
    free(copy);
    return value;
}

int cli_json_print(json_t *value)
{
    int status = json_dumpf(value, stdout, JSON_STYLE) == 0 ? CLI_OK : cli_error("cannot print JSON");
    putchar('\n');
    json_decref(value);
    return status;
}

int cli_text_save(const char *text, const char *path)
{
    int status = CLI_FAILURE;

    /* write beside it, and rename when whole */
    char *temporary = cli_format("%s.%ld.tmp", path, system_process());
    FILE *file = system_open(temporary, "wb");
    if (!file) {
        cli_error("cannot write '%s': %s", path, strerror(errno));
        goto done;
    }

    bool written = fputs(text, file) != EOF;
    if (fclose(file) != 0) written = false;
    if (!written || !system_rename(temporary, path)) {
        cli_error("cannot write '%s': %s", path, strerror(errno));
        system_remove(temporary);
        goto done;
    }

    status = CLI_OK;
done:
    free(temporary);
    return status;
}

int cli_json_save(json_t *value, const char *path)
{
    char *dumped = json_dumps(value, JSON_STYLE);
    json_decref(value);
    if (!dumped) return cli_error("cannot write '%s': out of memory", path);
    char *text = cli_format("%s\n", dumped);
    int status = cli_text_save(text, path);
    free(text);
    free(dumped);
    return status;
}

json_t *cli_json_load(const char *path)
{
    json_error_t error;
    FILE *file = system_open(path, "rb");
    if (!file) {
        cli_error("cannot read '%s': %s", path, strerror(errno));
        return NULL;
    }

    json_t *value = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);

    if (!value)
        cli_error("'%s' is not valid JSON: %s (line %d, column %d)", path, error.text, error.line, error.column);
    return value;
}

/* ---- machine ---- */

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double cli_peak_memory(void) { return system_peak_memory(); }

int cli_processor_count(void)
{
    int count = system_processor_count();
    return count > 256 ? 256 : count;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 29;
    return x;
}

uint64_t cli_hash(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *bytes = data;
    uint64_t hash = mix(seed ^ 0x9e3779b97f4a7c15u ^ (uint64_t)size);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        hash = mix(hash ^ word) + 0x9e3779b97f4a7c15u;
    }
    return mix(hash);
}

static void *check_memory(void *block)
{
    if (block) return block;
    cli_error("out of memory");
    exit(CLI_FAILURE);
}

void *cli_allocate(size_t count, size_t size) { return check_memory(calloc(count ? count : 1, size ? size : 1)); }

void *cli_resize(void *block, size_t count, size_t size)
{
    return check_memory(size && count > (size_t)-1 / size ? NULL : realloc(block, count * size));
}

char *cli_format(const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = cli_allocate((size_t)(length < 0 ? 0 : length) + 2, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
