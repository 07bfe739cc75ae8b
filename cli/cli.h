/*
 * cli.h: functions shared by the commands of the `cutis` program.
 *
 * A command is one file cmd_NAME.c that defines `const cli_command cmd_NAME`: an option table, help and a function. One
 * line in main.c lists it. Parsing, --help, the manual page and the shell completion use the tables. Commands use only
 * the public headers (and jansson for JSON).
 *
 * Results go to standard output; errors, warnings and progress go to standard error. Unlike the library, the program
 * may exit when memory is exhausted, and it has one global variable, the interrupt flag.
 */
#ifndef CLI_H
#define CLI_H

#include <jansson.h>
#include <stdio.h>

#include "cutis/cutis.h"

#define CLI_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- exit codes ---- */

enum {
    CLI_OK = 0,
    CLI_FAILURE = 1,      /* an error of a file, the data or the machine */
    CLI_USAGE = 2,        /* the command line is wrong */
    CLI_CHECK = 3,        /* a quality bound was not met */
    CLI_INTERRUPTED = 130 /* Ctrl-C */
};

/* ---- commands and options ---- */

typedef enum cli_kind {
    CLI_FLAG,    /* no value */
    CLI_TEXT,    /* any text */
    CLI_NUMBER,  /* finite, in [min, max] */
    CLI_INTEGER, /* whole, in [min, max] */
    CLI_CHOICE,  /* one of `choices` */
    CLI_PAIR     /* KEY=VALUE; also takes the KEY=VALUE arguments that follow */
} cli_kind;

typedef struct cli_option {
    const char *name; /* "fps" for --fps */
    char letter;      /* 'o' for -o; 0 for none */
    cli_kind kind;
    const char *value;    /* name of the value in help: "SECONDS"; NULL for a flag */
    const char *help;     /* one line */
    const char *fallback; /* value when not given, as text; NULL: none */
    double min, max;      /* CLI_NUMBER and CLI_INTEGER, inclusive; both 0: no bounds */
    const char *choices;  /* CLI_CHOICE: names separated by '|' */
    bool repeats;         /* may be given several times (CLI_PAIR always may) */
} cli_option;

/* ---- options shared by several commands ---- */

/* text: help specific to the command. */
#define CLI_OPTION_OUTPUT(what, text)                                                  \
    {                                                                                  \
        .name = "output", .letter = 'o', .kind = CLI_TEXT, .value = what, .help = text \
    }
#define CLI_OPTION_CLIP(text)                                                       \
    {                                                                               \
        .name = "clip", .letter = 'c', .kind = CLI_TEXT, .value = "C", .help = text \
    }
#define CLI_OPTION_COMPRESS                                                                                          \
    {                                                                                                                \
        .name = "compress", .kind = CLI_TEXT, .value = "none|quantize|meshopt",                                      \
        .help = ".glb: about two thirds of the size by KHR_mesh_quantization, a quarter by EXT_meshopt_compression", \
        .fallback = "none"                                                                                           \
    }
/* Read by cli_add_given_motion, or by the bake command with cli_map. */
#define CLI_OPTION_MOTION(text)                                             \
    {.name = "motion", .kind = CLI_TEXT, .value = "FILE", .help = text},    \
    {                                                                       \
        .name = "map", .kind = CLI_PAIR, .value = "FROM=TO",                \
        .help = "joint FROM of the motion drives joint TO of the character" \
    }
/* otherwise: "30", or NULL where the input file may define the rate. */
#define CLI_OPTION_FPS(text, otherwise)                                                                    \
    {                                                                                                      \
        .name = "fps", .kind = CLI_NUMBER, .value = "F", .help = text, .fallback = otherwise, .min = 0.01, \
        .max = 10000                                                                                       \
    }
/* The range of a clip; cli_number returns NAN when it is not given. */
#define CLI_OPTION_RANGE                                                \
    {.name = "start",                                                   \
     .kind = CLI_NUMBER,                                                \
     .value = "SECONDS",                                                \
     .help = "start of the range of the clip; default: its first key"}, \
    {                                                                   \
        .name = "end", .kind = CLI_NUMBER, .value = "SECONDS",          \
        .help = "end of the range of the clip; default: its last key"   \
    }
#define CLI_OPTION_SET(text)                                                \
    {                                                                       \
        .name = "set", .kind = CLI_PAIR, .value = "KEY=VALUE", .help = text \
    }
#define CLI_OPTION_PRESET                                                                                       \
    {                                                                                                           \
        .name = "preset", .kind = CLI_TEXT, .value = "NAME",                                                    \
        .help = "kind of body: athletic, average, heavy, old, toy or statue; --set and the file's settings win" \
    }
#define CLI_OPTION_EXAMPLE(text)                                                            \
    {                                                                                       \
        .name = "example", .kind = CLI_TEXT, .value = "FILE", .help = text, .repeats = true \
    }
/* cli_keys */
#define CLI_OPTION_AMOUNT                                                                                           \
    {                                                                                                               \
        .name = "amount", .kind = CLI_TEXT, .value = "A|T:A,...",                                                   \
        .help =                                                                                                     \
            "how much of the flesh is shown: 0 skinning, 1 the simulation (default), 2 exaggerated; or at seconds " \
            "of the clip, as in 0:0,1:1.5"                                                                          \
    }
/* cli_detail */
#define CLI_OPTION_DETAIL                                                                                             \
    {                                                                                                                 \
        .name = "detail", .kind = CLI_TEXT, .value = "N",                                                             \
        .help = "points of the simulation body: a number, draft (1500), default (4000), or drawn (simulate the mesh " \
                "itself)"                                                                                             \
    }
/* cli_add_given_props */
#define CLI_OPTION_PROP                                                                                            \
    {                                                                                                              \
        .name = "prop", .kind = CLI_TEXT, .value = "NAME|FILE.glb",                                                \
        .help = "an object to touch: a built-in prop (cube, block, ball, soft_ball, can, capsule, pencil, table, " \
                "floor) or a file; NAME@X,Y,Z or NAME@X,Y,Z,SCALE places it",                                      \
        .repeats = true                                                                                            \
    }

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
    const char *name;
    const char *usage;       /* "FILE|NAME -o OUT [options]" */
    const char *summary;     /* one line, without a full stop */
    const char *description; /* sentences for help and manual, wrapped when printed; or NULL */
    const char *examples;    /* lines "cutis ...", separated by newlines */
    const cli_option *options;
    int option_count;
    int positional_min, positional_max; /* number of plain arguments; max -1: any */
    int (*run)(const cli_arguments *arguments);
    bool json;   /* takes --json */
    bool hidden; /* not in the overview */
} cli_command;

/* All commands, NULL-terminated, in the order of the overview. */
extern const cli_command *const cli_commands[];

/* One option as given. */
struct cli_given {
    const cli_option *option;
    const char *value; /* NULL for a flag */
};

struct cli_arguments {
    const cli_command *command;
    int positional_count;
    const char **positionals;
    int given_count; /* options in the order given */
    struct cli_given *given;
    int owned_count; /* strings from a configuration file */
    char **owned;
};

/*
 * Parse the arguments after the command's name. Checks unknown names (suggesting the nearest), missing values, ranges
 * and counts. Returns CLI_OK or CLI_USAGE (message printed); *help is set for --help.
 */
int cli_parse(const cli_command *command, int argc, char **argv, cli_arguments *arguments, bool *help);
void cli_arguments_free(cli_arguments *arguments);
/*
 * Add the options of the JSON file of --config, for any command with that option. Its keys are the command's options
 * (lead_in or lead-in); the command line overrides them. An object becomes KEY=VALUE pairs: {"set": {"a": 1}} is --set
 * a=1, and {"bones": {"NAME": {"a": 1}}} is --set bones.NAME.a=1.
 */
int cli_apply_config(cli_arguments *arguments, const char *path);
/* Check a value of an option. Returns CLI_OK or CLI_USAGE (message printed). */
int cli_check_value(const cli_arguments *arguments, const cli_option *option, const char *value);
/* Return option `index`: the command's own, then the common ones; NULL after the last. */
const cli_option *cli_option_at(const cli_command *command, int index);
/* Return the current spelling of an option of an earlier version; NULL: there was no such option. */
const char *cli_former_option(const cli_command *command, const char *name);
/* Return the command's option of that name, or NULL. */
const cli_option *cli_find_option(const cli_command *command, const char *name);

/* Values of options by name. A name that is not in the table is a bug (assert). */
bool cli_given(const cli_arguments *arguments, const char *name); /* given on the command line */
bool cli_flag(const cli_arguments *arguments, const char *name);
const char *cli_text(const cli_arguments *arguments, const char *name); /* the last given, the fallback, or NULL */
/*
 * Parse the keys of --amount: one value for all times, or TIME:VALUE,TIME:VALUE. The caller frees them. Returns CLI_OK,
 * or an exit code with the message printed.
 */
int cli_keys(const cli_arguments *arguments, cutis_bake_key **keys, int *count);
/* Parse --detail for cutis_model_def.detail; false with a message when it is invalid. */
bool cli_detail(const cli_arguments *arguments, int *detail);
double cli_number(const cli_arguments *arguments, const char *name); /* NAN when neither given nor fallback */
int cli_integer(const cli_arguments *arguments, const char *name);   /* 0 when neither given nor fallback */
/* Repeated options: their number, and each in the order given. */
int cli_text_count(const cli_arguments *arguments, const char *name);
const char *cli_text_at(const cli_arguments *arguments, const char *name, int index);
/* All values of an option in one block, to be freed by the caller. cli_pairs splits KEY=VALUE and leaves space for one
 * more pair; --preset is one of those of --set. */
const char **cli_texts(const cli_arguments *arguments, const char *name, int *count);
cutis_setting *cli_pairs(const cli_arguments *arguments, const char *name, int *count);
/* The name pairs of --map, to be freed by the caller. */
cutis_name_pair *cli_map(const cli_arguments *arguments, int *count);

/* Parse exactly `count` finite numbers: "640x480" with 'x', "30,15" with ','. */
bool cli_parse_numbers(const char *text, char separator, int count, double *numbers);
/* Return the entry nearest to `name` by edit distance, or NULL when none is near. */
const char *cli_nearest(const char *name, const char *const *names, int name_count);

/* Print the help of one command on stdout. */
void cli_print_help(const cli_command *command);

/* ---- messages ---- */

/* "cutis: error: ..." on stderr; returns CLI_FAILURE. */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, with a reference to the command's help; returns CLI_USAGE. */
int cli_usage_error(const cli_arguments *arguments, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print the error of a library call; returns CLI_USAGE for CUTIS_ERROR_ARGUMENT, else CLI_FAILURE. */
int cli_library_error(const cutis_error *error);
/* "cutis: warning: ..." on stderr. */
void cli_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print library warnings; after ten, only their number. */
void cli_warnings(const char *const *warnings, int warning_count);

/* ---- interruption ---- */

/* Make SIGINT, SIGTERM and SIGHUP set a flag; a second signal ends the program at once. */
void cli_catch_interrupts(void);
/* Return the flag. Loops check it, discard partial results and return CLI_INTERRUPTED. */
bool cli_interrupted(void);
/* Set whether Ctrl-C ends the program at once: while no file is open and no code checks the flag. */
void cli_interrupt_at_once(bool may);

/* ---- characters and files ---- */

/*
 * Load a character: a name without '.' or '/' means a built-in character, everything else is a path. Prints the
 * character's warnings unless `quiet`. Returns NULL on failure, with the message printed and the exit code in *status.
 */
cutis_character *cli_load_character(const char *name_or_path, bool quiet, int *status);
/*
 * Parse the --prop options: built-in names and .glb files, each with an optional position and scale:
 * NAME@X,Y,Z[,SCALE]. The caller frees the list in any case. Returns CLI_OK or CLI_USAGE (message printed).
 */
int cli_prop_requests(const cli_arguments *arguments, cutis_prop_request **requests, int *count);
void cli_prop_requests_free(cutis_prop_request *requests, int count);
/*
 * Add the --prop options to the character, which is replaced. clip: the clip to show, -1: none. Returns CLI_OK, or an
 * exit code with the message printed and the character unchanged.
 */
int cli_add_given_props(const cli_arguments *arguments, int clip, bool quiet, cutis_character **character);
/*
 * Add the motion of --motion, if given, as the last clip of the character, which is replaced. Returns CLI_OK, or an
 * exit code with the message printed and the character unchanged.
 */
int cli_add_given_motion(const cli_arguments *arguments, bool quiet, cutis_character **character);
/* Whether the zoo has a character of that name. */
bool cli_is_built_in(const char *name);
/* "there is no built-in character ..." with the nearest name; returns CLI_USAGE. */
int cli_unknown_solver(const char *name);
int cli_unknown_character(const char *name, bool file_allowed);
/* Return the index of a clip; -1 on failure (message printed, with the nearest name). */
int cli_find_clip(const cutis_character *character, const char *name);
/* Return the number of frames of a clip at `fps`: frame i is at start + i / fps, up to the last key. */
double cli_frame_count(const cutis_clip *clip, double fps);
/*
 * Check that `path` can be created or replaced: its directory exists and is writable, it is no directory (unless
 * folder_allowed), and it is not `input` (may be NULL). Returns CLI_OK or CLI_FAILURE (message printed).
 */
int cli_check_output(const char *path, const char *input, bool folder_allowed);
/* Check that the output `path` is not the input `other` (NULL: none). Returns CLI_OK or an exit code. */
int cli_check_apart(const char *path, const char *other);
/* Parse none, quantize or meshopt; false and NONE for anything else. */
bool cli_compression(const char *text, cutis_compression *compression);
/* Compress a .glb in place and print its size. Returns CLI_OK or CLI_FAILURE (message printed). */
int cli_compress(const char *path, cutis_compression compression, bool quiet);
/* The extensions of caches, for messages: ".pc2, .mdd, ..." */
const char *cli_cache_endings(void);
/*
 * Load an output of 'cutis bake' for a character. A .glb is played: its clip `clip` (NULL: the baked one). Returns NULL
 * on failure (message printed).
 */
cutis_cache *cli_load_cache(const char *path, const cutis_character *character, const char *clip);
/* Whether `path` names a file of glTF: .glb, .gltf, .vrm. */
bool cli_is_gltf(const char *path);
/* Whether `path` ends in `ending` (".glb"), ignoring letter case. */
bool cli_has_ending(const char *path, const char *ending);
/* Remove the first solver from *rest, a stack such as "layers+slide", and return it; NULL when none is left. */
const cutis_solver_info *cli_stack_next(const char **rest);
/* Start the pool of --threads (0: one per processor); NULL on failure (message printed). */
cutis_pool *cli_create_pool(int thread_count);

/* ---- progress: a bar with the remaining time, on stderr if that is a terminal ---- */

typedef struct cli_progress {
    const char *label;
    long total;
    double start, last;
    bool active;
} cli_progress;

void cli_progress_begin(cli_progress *progress, const char *label, long total, bool quiet);
void cli_progress_update(cli_progress *progress, long done);
void cli_progress_end(cli_progress *progress); /* erases the bar */

/* ---- text ---- */

/*
 * A table of aligned columns on stdout. align: one letter per column, 'l' or 'r'. Cells are added in order.
 * cli_table_print completes the last row, prints and frees the table.
 */
typedef struct cli_table cli_table;
cli_table *cli_table_create(const char *align);
void cli_table_cell(cli_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_table_heads(cli_table *table, const char *heads); /* "name|vertices|ms" */
void cli_table_print(cli_table *table, const char *indent);

/* Print text after a line that ends two columns before `indent`; further lines start at `indent`. */
void cli_print_hanging(const char *text, int indent, int width);
/* Print text wrapped at `width` columns, each line indented by `indent` spaces; newlines are kept. */
void cli_print_wrapped(FILE *file, const char *text, int indent, int width);
/* "1.2 MB", "340 kB"; writes into and returns `buffer`. */
const char *cli_format_bytes(double bytes, char buffer[32]);
/* "1.2 s", "340 ms", "2 min 5 s". */
const char *cli_format_seconds(double seconds, char buffer[32]);
/* 12,345 with thousands separators. */
const char *cli_format_count(long count, char buffer[32]);

/* ---- JSON ---- */

json_t *cli_json_real(double value);       /* null when not finite */
json_t *cli_json_string(const char *text); /* bytes that are not UTF-8 become '?'; NULL becomes null */
/* Print JSON on stdout, keys in insertion order. Frees `value`. Returns an exit code. */
int cli_json_print(json_t *value);
/* Write text, or JSON (frees `value`), to a file; it appears when complete. */
int cli_text_save(const char *text, const char *path);
int cli_json_save(json_t *value, const char *path);
/* Read a file; NULL on failure, message with line and column printed. */
json_t *cli_json_load(const char *path);

/* ---- machine ---- */

double cli_clock(void);        /* seconds, monotonic */
double cli_peak_memory(void);  /* bytes, resident, of this process so far; 0 when unknown */
int cli_processor_count(void); /* online processors */
/* 64-bit hash of bytes, chained by `seed` (start with 0); the same on every little-endian machine. */
uint64_t cli_hash(const void *data, size_t size, uint64_t seed);

/* Allocation that exits with a message on failure. */
void *cli_allocate(size_t count, size_t size); /* zeroed */
void *cli_resize(void *block, size_t count, size_t size);
char *cli_format(const char *format, ...) __attribute__((format(printf, 1, 2))); /* free() it */

#endif
