/*
 * cli.h: what the commands of the `cutis` program share.
 *
 * A command is one file cmd_NAME.c that defines `const cli_command cmd_NAME`: its options as a table, its help
 * and its function. One line in main.c lists it. Parsing, --help, the manual page and the shell completion all
 * come from the tables. Commands use the public headers only (and jansson for JSON).
 *
 * Standard output carries results, standard error carries errors, warnings and progress. This is a program, not
 * the library: it may exit when memory is out, and it keeps one global, the interrupt flag.
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
    CLI_FAILURE = 1,      /* a file, the data or the machine does not allow it */
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
    CLI_PAIR     /* KEY=VALUE; takes the KEY=VALUE arguments that follow, too */
} cli_kind;

typedef struct cli_option {
    const char *name; /* "fps" for --fps */
    char letter;      /* 'o' for -o; 0 for none */
    cli_kind kind;
    const char *value;    /* what help calls the value: "SECONDS"; NULL for a flag */
    const char *help;     /* one line */
    const char *fallback; /* value when not given, as text; NULL: none */
    double min, max;      /* CLI_NUMBER and CLI_INTEGER, inclusive; both 0: no bounds */
    const char *choices;  /* CLI_CHOICE: names separated by '|' */
    bool repeats;         /* may be given several times (CLI_PAIR always may) */
} cli_option;

/* ---- rows that several commands have in their tables ---- */

/* `text` is the help, where commands say it in their own words. */
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
/* cli_add_given_motion, or the definition of a bake with cli_map */
#define CLI_OPTION_MOTION(text)                                             \
    {.name = "motion", .kind = CLI_TEXT, .value = "FILE", .help = text},    \
    {                                                                       \
        .name = "map", .kind = CLI_PAIR, .value = "FROM=TO",                \
        .help = "joint FROM of the motion drives joint TO of the character" \
    }
/* otherwise: "30", or NULL where what is read may tell. */
#define CLI_OPTION_FPS(text, otherwise)                                                                    \
    {                                                                                                      \
        .name = "fps", .kind = CLI_NUMBER, .value = "F", .help = text, .fallback = otherwise, .min = 0.01, \
        .max = 10000                                                                                       \
    }
/* The range of a clip; cli_number gives NAN where it is not given. */
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
#define CLI_OPTION_PRESET                                                                                      \
    {                                                                                                          \
        .name = "preset", .kind = CLI_TEXT, .value = "NAME",                                                   \
        .help = "kind of body: athletic, average, heavy, old, toy or statue; --set and the file's settings win" \
    }
#define CLI_OPTION_EXAMPLE(text)                                                            \
    {                                                                                       \
        .name = "example", .kind = CLI_TEXT, .value = "FILE", .help = text, .repeats = true \
    }
/* cli_detail */
#define CLI_OPTION_DETAIL                                                                                             \
    {                                                                                                                 \
        .name = "detail", .kind = CLI_TEXT, .value = "N",                                                             \
        .help = "points of the simulation body: a number, draft (1500), default (4000), or drawn (simulate the mesh " \
                "itself)"                                                                                             \
    }
/* cli_add_given_props */
#define CLI_OPTION_PROP                                                                                             \
    {                                                                                                               \
        .name = "prop", .kind = CLI_TEXT, .value = "NAME|FILE.glb",                                                 \
        .help = "an object to touch: cube, ball, table, floor or a file; NAME@X,Y,Z or NAME@X,Y,Z,SCALE places it", \
        .repeats = true                                                                                             \
    }

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
    const char *name;
    const char *usage;       /* "FILE|NAME -o OUT [options]" */
    const char *summary;     /* one line, without a full stop */
    const char *description; /* sentences for help and manual; lines may be long, they are wrapped; or NULL */
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
    int owned_count; /* texts that came from a configuration file */
    char **owned;
};

/*
 * Parse what follows the command's name. Everything is checked here: unknown names (with the nearest one),
 * missing values, ranges, counts. Returns CLI_OK or CLI_USAGE (message printed); *help is set for --help.
 */
int cli_parse(const cli_command *command, int argc, char **argv, cli_arguments *arguments, bool *help);
void cli_arguments_free(cli_arguments *arguments);
/*
 * Add what the JSON file of --config says, for any command that has that option. Its keys are the command's own
 * options (lead_in or lead-in); what stands on the command line wins. An object flattens into KEY=VALUE pairs:
 * {"set": {"a": 1}} is --set a=1, and {"bones": {"NAME": {"a": 1}}} is --set bones.NAME.a=1.
 */
int cli_apply_config(cli_arguments *arguments, const char *path);
/* The checks of one option on a value, wherever it came from. CLI_OK or CLI_USAGE, message printed. */
int cli_check_value(const cli_arguments *arguments, const cli_option *option, const char *value);
/* The command's own options, then those of every command; NULL behind the last. */
const cli_option *cli_option_at(const cli_command *command, int index);
/* How to say now what an option of an earlier version said; NULL: there was no such option. */
const char *cli_former_option(const cli_command *command, const char *name);
/* The command's option of that name, or NULL. */
const cli_option *cli_find_option(const cli_command *command, const char *name);

/* Options by name; asking for a name that the table does not have is a bug (assert). */
bool cli_given(const cli_arguments *arguments, const char *name); /* stands on the command line */
bool cli_flag(const cli_arguments *arguments, const char *name);
const char *cli_text(const cli_arguments *arguments, const char *name); /* the last given, the fallback, or NULL */
/* --detail as cutis_model_def has it; false with a message when it is none. */
bool cli_detail(const cli_arguments *arguments, int *detail);
double cli_number(const cli_arguments *arguments, const char *name); /* NAN when neither given nor fallback */
int cli_integer(const cli_arguments *arguments, const char *name);   /* 0 when neither given nor fallback */
/* Repeated options: how many, and each in the order given. */
int cli_text_count(const cli_arguments *arguments, const char *name);
const char *cli_text_at(const cli_arguments *arguments, const char *name, int index);
/* All of them, in one block to free(): texts, and KEY=VALUE halved, with room for one pair more; --preset is one of those
 * of --set. */
const char **cli_texts(const cli_arguments *arguments, const char *name, int *count);
cutis_setting *cli_pairs(const cli_arguments *arguments, const char *name, int *count);
/* The name pairs of --map, likewise. */
cutis_name_pair *cli_map(const cli_arguments *arguments, int *count);

/* "640x480" with "x", "30,15" with ",": exactly `count` finite numbers, nothing else. */
bool cli_parse_numbers(const char *text, char separator, int count, double *numbers);
/* The entry nearest to `name` by edit distance, or NULL when none is near. */
const char *cli_nearest(const char *name, const char *const *names, int name_count);

/* The help of one command, on stdout. */
void cli_print_help(const cli_command *command);

/* ---- messages ---- */

/* "cutis: error: ..." on stderr; returns CLI_FAILURE. */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with a pointer to the command's help; returns CLI_USAGE. */
int cli_usage_error(const cli_arguments *arguments, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The error of a library call; returns CLI_USAGE for CUTIS_ERROR_ARGUMENT, else CLI_FAILURE. */
int cli_library_error(const cutis_error *error);
/* "cutis: warning: ..." on stderr. */
void cli_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A list of warnings of the library; more than ten are summed up. */
void cli_warnings(const char *const *warnings, int warning_count);

/* ---- interruption ---- */

/* Let SIGINT, SIGTERM and SIGHUP set a flag; a second one ends the program at once. */
void cli_catch_interrupts(void);
/* Loops look here, discard what is half done and return CLI_INTERRUPTED. */
bool cli_interrupted(void);
/* Whether Ctrl-C may end the program on the spot: while no file is open and nobody looks at the flag. */
void cli_interrupt_at_once(bool may);

/* ---- characters and files ---- */

/*
 * A built-in character by its name, or one from a file: a name of the zoo (without '.' or '/') is the zoo's,
 * everything else a path. Prints the character's warnings unless `quiet`. NULL on failure, message printed and
 * the exit code in *status.
 */
cutis_character *cli_load_character(const char *name_or_path, bool quiet, int *status);
/*
 * What the --prop options ask for: built-in names and .glb files, each with an optional place and scale:
 * NAME@X,Y,Z[,SCALE]. To be freed in any case. CLI_OK or CLI_USAGE, message printed.
 */
int cli_prop_requests(const cli_arguments *arguments, cutis_prop_request **requests, int *count);
void cli_prop_requests_free(cutis_prop_request *requests, int count);
/*
 * Put them beside the character, which is replaced. clip: that will be shown, -1: none. CLI_OK, or an exit code with
 * the message printed and the character as it was.
 */
int cli_add_given_props(const cli_arguments *arguments, int clip, bool quiet, cutis_character **character);
/*
 * Add the motion of --motion, if given, to the character, which is replaced: its last clip then. CLI_OK, or an exit
 * code with the message printed and the character as it was.
 */
int cli_add_given_motion(const cli_arguments *arguments, bool quiet, cutis_character **character);
/* Whether the zoo has a character of that name. */
bool cli_is_built_in(const char *name);
/* "there is no built-in character ..." with the nearest name; returns CLI_USAGE. */
int cli_unknown_solver(const char *name);
int cli_unknown_character(const char *name, bool file_allowed);
/* The index of a clip, with the nearest name when there is none; -1 on failure, message printed. */
int cli_find_clip(const cutis_character *character, const char *name);
/* Frames of a clip at `fps`: frame i is at start + i / fps, the last one at the last key or before it. */
double cli_frame_count(const cutis_clip *clip, double fps);
/*
 * Whether `path` can be created or replaced: its directory exists and is writable, it is no directory (unless a
 * folder is what will be written), it is not `input` (may be NULL). CLI_OK or CLI_FAILURE, message printed.
 */
int cli_check_output(const char *path, const char *input, bool folder_allowed);
/* CLI_OK unless `path`, which is to be written, is the file `other`, which is read (NULL: none). */
int cli_check_apart(const char *path, const char *other);
/* none, quantize or meshopt; false for anything else, with none. */
bool cli_compression(const char *text, cutis_compression *compression);
/* Compress a .glb that was written, in place, and say so. CLI_OK or CLI_FAILURE, message printed. */
int cli_compress(const char *path, cutis_compression compression, bool quiet);
/* The endings that a cache may have, for messages: ".pc2, .mdd, ..." */
const char *cli_cache_endings(void);
/*
 * Load what 'cutis bake' wrote for a character, also a .glb, which is played: its clip `clip` (NULL: the baked one).
 * NULL when it cannot be, with the message printed.
 */
cutis_cache *cli_load_cache(const char *path, const cutis_character *character, const char *clip);
/* Whether `path` names a file of glTF: .glb, .gltf, .vrm. */
bool cli_is_gltf(const char *path);
/* Whether `path` ends in `ending` (".glb"), letter case ignored. */
bool cli_has_ending(const char *path, const char *ending);
/* The first known solver of *rest, a stack such as "layers+slide", which it takes off; NULL when none is left. */
const cutis_solver_info *cli_stack_next(const char **rest);
/* Start the pool that --threads asks for (0: one per processor); NULL on failure, message printed. */
cutis_pool *cli_create_pool(int thread_count);

/* ---- progress: a bar with the time left, on stderr, only when that is a terminal ---- */

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
 * A table of aligned columns on stdout. align: one letter a column, 'l' or 'r'. Cells are added one after the
 * other; cli_table_print ends a partly filled last row, prints and frees.
 */
typedef struct cli_table cli_table;
cli_table *cli_table_create(const char *align);
void cli_table_cell(cli_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_table_heads(cli_table *table, const char *heads); /* "name|vertices|ms" */
void cli_table_print(cli_table *table, const char *indent);

/* The rest of a line that ends two columns before `indent`, and further lines from there on. */
void cli_print_hanging(const char *text, int indent, int width);
/* Print text wrapped at `width` columns, every line behind `indent` spaces; newlines in it are kept. */
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
/* Pretty JSON on stdout, keys in the order they were set. Frees `value`. Returns an exit code. */
int cli_json_print(json_t *value);
/* A text, or the same JSON, into a file, put in place when whole. */
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

/* Memory that cannot fail: the program ends with a message instead. */
void *cli_allocate(size_t count, size_t size); /* zeroed */
void *cli_resize(void *block, size_t count, size_t size);
char *cli_format(const char *format, ...) __attribute__((format(printf, 1, 2))); /* free() it */

#endif
