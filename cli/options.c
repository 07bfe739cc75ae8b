/*
 * options.c: the command line of one command, parsed against its table, and the help made from the same table.
 *
 * Accepted: --name value, --name=value, -o value, -ovalue, "--" to end the options, options and plain arguments
 * in any order. The value of an option may begin with one dash (a negative number), not with two.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- names ---- */

enum { NAME_LIMIT = 63 };

/* Edit distance (insert, delete, replace, swap of neighbours) of two short names, letter case ignored. */
static int edit_distance(const char *a, int a_length, const char *b, int b_length)
{
    int rows[3][NAME_LIMIT + 1];
    if (a_length > NAME_LIMIT || b_length > NAME_LIMIT) return NAME_LIMIT;

    /* three rows of the table: this one, the one above, and the one above that for swapped letters */
    for (int j = 0; j <= b_length; j++) rows[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            char p = a[i - 1], q = b[j - 1];
            int lower_p = p >= 'A' && p <= 'Z' ? p + 32 : p, lower_q = q >= 'A' && q <= 'Z' ? q + 32 : q;

            /* substitute, insert, delete, swap */
            int best = above[j - 1] + (lower_p != lower_q);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && p == b[j - 2] && q == a[i - 2] && above2[j - 2] + 1 < best) best = above2[j - 2] + 1;

            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

static bool is_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 128;
}

/* Least distance to one word of a name: "walk" is near "Armature|Walk". Less than the whole name costs one. */
static int words_distance(const char *name, const char *other)
{
    int length = (int)strlen(name), best = edit_distance(name, length, other, (int)strlen(other));

    for (const char *at = other; length >= 3 && *at;) {
        if (!is_letter(*at)) {
            at++;
            continue;
        }

        /* each word of the other name */
        int word = 0;
        while (is_letter(at[word])) word++;

        int distance = 1 + edit_distance(name, length, at, word);
        if (distance < best) best = distance;
        at += word;
    }
    return best;
}

const char *cli_nearest(const char *name, const char *const *names, int name_count)
{
    const char *nearest = NULL;
    size_t length = strlen(name);
    int best = length <= 3 ? 2 : (int)(length + 2) / 3 + 1; /* one edit in short names, a third of the longer ones */
    for (int i = 0; i < name_count; i++) {
        int distance = words_distance(name, names[i]);

        /* A beginning is a good guess as well: "res" for "resolution". */
        if (length >= 2 && strncmp(name, names[i], length) == 0) distance = distance < 1 ? distance : 1;
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }

    return nearest;
}

/* What every command takes; --json only those that print a table. */
static const cli_option common_options[] = {
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "print results and errors only"},
    {.name = "threads",
     .letter = 'j',
     .kind = CLI_INTEGER,
     .value = "N",
     .help = "number of threads; 0: one per processor; results do not depend on it",
     .fallback = "0",
     .min = 0,
     .max = 256},
    {.name = "help", .kind = CLI_FLAG, .help = "print this help"},
    {.name = "json", .kind = CLI_FLAG, .help = "print JSON instead of a table"},
};

const cli_option *cli_option_at(const cli_command *command, int index)
{
    if (index < command->option_count) return &command->options[index];
    index -= command->option_count;
    return index < CLI_COUNT(common_options) - !command->json ? &common_options[index] : NULL;
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t length)
{
    const cli_option *option;
    for (int i = 0; (option = cli_option_at(command, i)); i++)
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) return option;
    return NULL;
}

const cli_option *cli_find_option(const cli_command *command, const char *name)
{
    return find_option(command, name, strlen(name));
}

static const cli_option *find_letter(const cli_command *command, char letter)
{
    const cli_option *option;
    for (int i = 0; (option = cli_option_at(command, i)); i++)
        if (option->letter == letter) return option;
    return NULL;
}

/* Options of earlier versions, and the way to say the same now. */
static const struct {
    const char *command, *name, *now;
} former_options[] = {
    {"bake", "body", "--motion CACHE"},
    {"bake", "example-time", "--set example_time=SECONDS"},
    {"bake", "exact", "--targets exact"},
    {"bake", "safe", "--targets safe"},
    {"bake", "substep", "--set substep=SECONDS"},
    {"batch", "summary", "always JOBS.json.summary.json, beside the list"},
    {"bench", "list", "'cutis bench list'"},
    {"info", "joints", "the default: all joints are listed"},
    {"rates", "solvers", "an argument: cutis rates FILE lbs,lattice"},
    {"render", "background", "--style white or --style transparent"},
    {"render", "columns", "--style columns:N"},
    {"render", "caption", "TEXT=CACHE in place of CACHE"},
    {"render", "elements", "--style elements, or elements:LAYER"},
    {"render", "end", "--frame 0.5s:1.5s"},
    {"render", "focus", "--zoom 1@JOINT or --zoom 1@X,Y,Z"},
    {"render", "motion", "a bake: cutis bake FILE --motion MOTION -o OUT.glb, then cutis render OUT.glb"},
    {"render", "no-floor", "--style no-floor"},
    {"render", "no-legend", "--style no-legend"},
    {"render", "quality", "--style samples:N"},
    {"render", "range", "--color WHAT@LOW,HIGH"},
    {"render", "skeleton", "--style skeleton"},
    {"render", "start", "--frame 0.5s:1.5s"},
    {"render", "texcoords",
     "read automatically from CACHE.texcoords.npy, the output of 'cutis bake --outputs texcoords'"},
    {"render", "texture-scale", "--texture NAME@N"},
    {"render", "time", "--frame 1.5s"},
    {"render", "up", "--style z-up"},
    {"render", "values", "--color FILE.npy"},
    {"render", "wire", "--style wire"},
    {"rig", "compare", "--against own"},
    {"rig", "curves", "in the Python package: cutis.rig(character).curves"},
    {"rig", "keep", "--template own"},
    {"studio", "no-browser", "--quiet"},
};

const char *cli_former_option(const cli_command *command, const char *name)
{
    for (int i = 0; i < CLI_COUNT(former_options); i++)
        if (strcmp(former_options[i].command, command->name) == 0 && strcmp(former_options[i].name, name) == 0)
            return former_options[i].now;
    return NULL;
}

static int unknown_option(const cli_arguments *arguments, const char *argument)
{
    const cli_command *command = arguments->command;
    char name[64];

    snprintf(name, sizeof name, "%s", argument + strspn(argument, "-"));
    name[strcspn(name, "=")] = 0;

    /* an option of an earlier version */
    const char *now = cli_former_option(command, name);
    if (now) return cli_usage_error(arguments, "--%s is now %s", name, now);

    const char *names[64];
    const cli_option *option;
    int name_count = 0;
    while (name_count < 64 && (option = cli_option_at(command, name_count))) names[name_count++] = option->name;
    const char *nearest = cli_nearest(name, names, name_count);

    int dashes = argument[1] == '-' ? 2 : 1;
    if (nearest)
        return cli_usage_error(arguments, "unknown option %.*s%s; did you mean --%s?", dashes, "--", name, nearest);
    return cli_usage_error(arguments, "unknown option %.*s%s", dashes, "--", name);
}

/* ---- values ---- */

static bool parse_number(const char *text, double *number)
{
    char *end;
    errno = 0;
    *number = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*number);
}

bool cli_parse_numbers(const char *text, char separator, int count, double *numbers)
{
    char copy[256];

    if (strlen(text) >= sizeof copy) return false;
    strcpy(copy, text);
    char *at = copy;

    /* one number between two separators */
    for (int i = 0; i < count; i++) {
        char *stop = strchr(at, separator);
        if ((stop != NULL) != (i + 1 < count)) return false;
        if (stop) *stop = 0;

        if (!parse_number(at, &numbers[i])) return false;
        if (stop) at = stop + 1;
    }
    return true;
}

/* The names of "a|b|c" into `names`, pointing into `copy`. */
static int split_choices(const char *choices, char *copy, size_t copy_size, const char **names, int name_max)
{
    int count = 0;
    snprintf(copy, copy_size, "%s", choices);
    for (char *at = copy; at && count < name_max;) {
        char *stop = strchr(at, '|');
        if (stop) *stop = 0;
        names[count++] = at;
        at = stop ? stop + 1 : NULL;
    }
    return count;
}

int cli_check_value(const cli_arguments *arguments, const cli_option *option, const char *value)
{
    double number;
    bool bounded = option->min != 0 || option->max != 0;

    switch (option->kind) {
    case CLI_FLAG:
        break;
    case CLI_TEXT:
        if (value[0] == 0) return cli_usage_error(arguments, "--%s needs a value, not an empty string", option->name);
        break;
    case CLI_NUMBER:
    case CLI_INTEGER:
        if (!parse_number(value, &number))
            return cli_usage_error(arguments, "--%s needs a number, not '%s'", option->name, value);
        if (option->kind == CLI_INTEGER && number != floor(number))
            return cli_usage_error(arguments, "--%s needs a whole number, not '%s'", option->name, value);
        if (bounded && (number < option->min || number > option->max))
            return cli_usage_error(arguments, "--%s must be between %.9g and %.9g, not %s", option->name, option->min,
                                   option->max, value);
        if (option->kind == CLI_INTEGER && fabs(number) > 2147483647)
            return cli_usage_error(arguments, "--%s is too large: %s", option->name, value);
        break;
    case CLI_CHOICE: {
        char copy[512];
        const char *names[64];
        int count = split_choices(option->choices, copy, sizeof copy, names, 64);
        for (int i = 0; i < count; i++)
            if (strcmp(names[i], value) == 0) return CLI_OK;

        const char *nearest = cli_nearest(value, names, count);
        if (nearest)
            return cli_usage_error(arguments, "--%s has no value '%s'; did you mean %s? (%s)", option->name, value,
                                   nearest, option->choices);
        return cli_usage_error(arguments, "--%s must be one of %s, not '%s'", option->name, option->choices, value);
    }
    case CLI_PAIR:
        if (!strchr(value, '=') || value[0] == '=')
            return cli_usage_error(arguments, "--%s needs %s, not '%s'", option->name, option->value, value);
        break;
    }

    return CLI_OK;
}

static int add_given(cli_arguments *arguments, const cli_option *option, const char *value)
{
    if (!option->repeats && option->kind != CLI_PAIR && option->kind != CLI_FLAG)
        for (int i = 0; i < arguments->given_count; i++)
            if (arguments->given[i].option == option)
                return cli_usage_error(arguments, "--%s is given twice", option->name);
    int status = cli_check_value(arguments, option, value);
    if (status != CLI_OK) return status;
    arguments->given[arguments->given_count++] = (struct cli_given){option, value};
    return CLI_OK;
}

/* ---- the parser ---- */

/* Most programs take the output as the last argument; here it is an option. */
static int unexpected_argument(const cli_arguments *arguments, const char *argument)
{
    bool output = cli_find_option(arguments->command, "output") && !cli_given(arguments, "output");
    if (output && strchr(argument, '.'))
        return cli_usage_error(arguments, "unexpected argument '%s'; to write it, use -o %s", argument, argument);
    return cli_usage_error(arguments, "unexpected argument '%s'", argument);
}

int cli_parse(const cli_command *command, int argc, char **argv, cli_arguments *arguments, bool *help)
{
    *arguments = (cli_arguments){.command = command};

    arguments->positionals = cli_allocate((size_t)argc + 1, sizeof *arguments->positionals);
    arguments->given = cli_allocate((size_t)argc + 1, sizeof *arguments->given);
    *help = false;

    /* Help wins over every mistake: whoever asks for it has not got the rest right yet. */
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || (strcmp(argv[i], "-h") == 0 && !find_letter(command, 'h'))) *help = true;
    if (*help) return CLI_OK;

    bool plain_only = false;
    for (int i = 0; i < argc; i++) {
        const char *argument = argv[i];

        /* plain arguments; all are behind -- */
        if (plain_only || argument[0] != '-' || argument[1] == 0) {
            arguments->positionals[arguments->positional_count++] = argument;
            continue;
        }

        if (strcmp(argument, "--") == 0) {
            plain_only = true;
            continue;
        }

        /* The option, and the value when it is part of the same argument. */
        const cli_option *option;
        const char *value = NULL;
        if (argument[1] == '-') {
            size_t length = strcspn(argument + 2, "=");
            option = find_option(command, argument + 2, length);
            if (argument[2 + length] == '=') value = argument + 2 + length + 1;
        } else {
            option = find_letter(command, argument[1]);
            if (argument[2]) value = argument[2] == '=' ? argument + 3 : argument + 2;
        }

        /* its value: part of the argument, or the next one */
        if (!option) return unknown_option(arguments, argument);

        if (option->kind == CLI_FLAG) {
            if (value) return cli_usage_error(arguments, "--%s takes no value", option->name);
        } else if (!value) {
            if (i + 1 >= argc || strncmp(argv[i + 1], "--", 2) == 0)
                return cli_usage_error(arguments, "--%s needs a value: %s", option->name, option->value);
            value = argv[++i];
        }

        /* pairs may follow each other: --set a=1 b=2 */
        int status = add_given(arguments, option, value);
        if (option->kind == CLI_PAIR)
            while (status == CLI_OK && i + 1 < argc && argv[i + 1][0] != '-' && strchr(argv[i + 1], '='))
                status = add_given(arguments, option, argv[++i]);
        if (status != CLI_OK) return status;
    }

    /* plain arguments, as many as the command takes */
    if (arguments->positional_count < command->positional_min)
        return cli_usage_error(arguments, "%s; usage: cutis %s %s",
                               arguments->positional_count ? "an argument is missing" : "the input is missing",
                               command->name, command->usage);
    if (command->positional_max >= 0 && arguments->positional_count > command->positional_max)
        return unexpected_argument(arguments, arguments->positionals[command->positional_max]);
    return CLI_OK;
}

void cli_arguments_free(cli_arguments *arguments)
{
    for (int i = 0; i < arguments->owned_count; i++) free(arguments->owned[i]);
    free(arguments->owned);
    free(arguments->positionals);
    free(arguments->given);
    *arguments = (cli_arguments){0};
}

/* ---- reading what was parsed ---- */

static const cli_option *require_option(const cli_arguments *arguments, const char *name)
{
    const cli_option *option = find_option(arguments->command, name, strlen(name));
    assert(option && "the command's table has no such option");
    return option;
}

static const struct cli_given *last_given(const cli_arguments *arguments, const cli_option *option)
{
    for (int i = arguments->given_count - 1; i >= 0; i--)
        if (arguments->given[i].option == option) return &arguments->given[i];
    return NULL;
}

bool cli_given(const cli_arguments *arguments, const char *name)
{
    return last_given(arguments, require_option(arguments, name)) != NULL;
}

bool cli_flag(const cli_arguments *arguments, const char *name) { return cli_given(arguments, name); }

const char *cli_text(const cli_arguments *arguments, const char *name)
{
    const cli_option *option = require_option(arguments, name);
    const struct cli_given *given = last_given(arguments, option);
    return given ? given->value : option->fallback;
}

double cli_number(const cli_arguments *arguments, const char *name)
{
    const char *text = cli_text(arguments, name);
    return text ? strtod(text, NULL) : (double)NAN;
}

int cli_integer(const cli_arguments *arguments, const char *name)
{
    const char *text = cli_text(arguments, name);
    return text ? (int)strtod(text, NULL) : 0;
}

int cli_text_count(const cli_arguments *arguments, const char *name)
{
    const cli_option *option = require_option(arguments, name);
    int count = 0;
    for (int i = 0; i < arguments->given_count; i++) count += arguments->given[i].option == option;
    return count;
}

const char *cli_text_at(const cli_arguments *arguments, const char *name, int index)
{
    const cli_option *option = require_option(arguments, name);
    for (int i = 0; i < arguments->given_count; i++)
        if (arguments->given[i].option == option && index-- == 0) return arguments->given[i].value;
    return NULL;
}

const char **cli_texts(const cli_arguments *arguments, const char *name, int *count)
{
    *count = cli_text_count(arguments, name);
    const char **texts = cli_allocate((size_t)*count, sizeof *texts);
    for (int i = 0; i < *count; i++) texts[i] = cli_text_at(arguments, name, i);
    return texts;
}

/* One block: room for `count` items, then the texts of a pair each, cut at their first '='. */
static void *pairs_copy(const cli_arguments *arguments, const char *name, size_t item, int *count, char **text)
{
    const char **texts = cli_texts(arguments, name, count);
    size_t bytes = 0;
    for (int i = 0; i < *count; i++) bytes += strlen(texts[i]) + 1;

    char *block = cli_allocate(1, ((size_t)*count + 2) * item + bytes);
    char *at = *text = block + ((size_t)*count + 2) * item;
    for (int i = 0; i < *count; i++) {
        strcpy(at, texts[i]);
        *strchr(at, '=') = 0; /* a pair has one: it was checked when it was parsed */
        at += strlen(texts[i]) + 1;
    }

    free(texts);
    return block;
}

/* The next text of such a block. */
static const char *pairs_next(char **text)
{
    const char *at = *text;
    *text += strlen(at) + 1;
    return at;
}

cutis_setting *cli_pairs(const cli_arguments *arguments, const char *name, int *count)
{
    char *text;
    cutis_setting *pairs = pairs_copy(arguments, name, sizeof *pairs, count, &text);
    for (int i = 0; i < *count; i++) {
        pairs[i].key = pairs_next(&text);
        pairs[i].value = pairs_next(&text);
    }

    /* --preset is a setting */
    const char *preset = cli_text(arguments, "preset");
    if (preset) pairs[(*count)++] = (cutis_setting){"preset", preset};
    return pairs;
}

cutis_name_pair *cli_map(const cli_arguments *arguments, int *count)
{
    char *text;
    cutis_name_pair *map = pairs_copy(arguments, "map", sizeof *map, count, &text);
    for (int i = 0; i < *count; i++) {
        map[i].from = pairs_next(&text);
        map[i].to = pairs_next(&text);
    }
    return map;
}

/* ---- help ---- */

/* Columns of the help of an option, and of its names before that at most. */
enum { HELP_WIDTH = 110, LEFT_MOST = 28 };

static void print_option_help(const cli_command *command, const cli_option *option, int width)
{
    char left[128];
    char right[512];
    bool lettered = option->letter && find_letter(command, option->letter) == option; /* else a command has taken it */

    int used = lettered ? snprintf(left, sizeof left, "-%c, --%s", option->letter, option->name)
                        : snprintf(left, sizeof left, "    --%s", option->name);
    if (option->value) snprintf(left + used, sizeof left - (size_t)used, " %s", option->value);

    /* what it does, then what it takes */
    used = snprintf(right, sizeof right, "%s", option->help);
    if (option->choices && !strstr(option->help, option->choices))
        used += snprintf(right + used, sizeof right - (size_t)used, ": %s", option->choices);
    if (option->repeats || option->kind == CLI_PAIR)
        used += snprintf(right + used, sizeof right - (size_t)used, "; may be repeated");
    if (option->min != 0 || option->max != 0)
        used += snprintf(right + used, sizeof right - (size_t)used, "; %.9g to %.9g", option->min, option->max);
    if (option->fallback) snprintf(right + used, sizeof right - (size_t)used, " (default %s)", option->fallback);

    /* beside its names, or below them where they are long */
    printf("  %-*s", width, left);
    if ((int)strlen(left) > width) printf("\n  %*s", width, "");
    cli_print_hanging(right, 4 + width, HELP_WIDTH);
}

void cli_print_help(const cli_command *command)
{
    printf("cutis %s: %s\n\nusage: cutis %s %s\n", command->name, command->summary, command->name, command->usage);

    if (command->description) {
        putchar('\n');
        cli_print_wrapped(stdout, command->description, 0, 100);
    }

    /* how wide the left column is */
    const cli_option *option;
    int width = 0;
    for (int i = 0; (option = cli_option_at(command, i)); i++) {
        int length = 6 + (int)strlen(option->name) + (option->value ? 1 + (int)strlen(option->value) : 0);
        if (length > width) width = length;
    }
    if (width > LEFT_MOST) width = LEFT_MOST;

    /* the command's own options, then those of every command */

    if (command->option_count) printf("\noptions:\n");
    for (int i = 0; (option = cli_option_at(command, i)); i++) {
        if (i == command->option_count) printf("\noptions of every command:\n");
        print_option_help(command, option, width);
    }

    /* Each example on its own line. */
    printf("\nexample%s:\n", strchr(command->examples, '\n') ? "s" : "");
    cli_print_wrapped(stdout, command->examples, 2, 1000);
}

/* Keys of a name from "VALUE" or "TIME:VALUE,TIME:VALUE". Returns their number; 0: the text is neither. */
static int parse_keys(const char *name, const char *text, cutis_bake_key *keys)
{
    double value;
    if (cli_parse_numbers(text, ',', 1, &value)) {
        keys[0] = (cutis_bake_key){name, 0, value};
        return 1;
    }

    int count = 0;
    for (const char *at = text; at; count++) {
        const char *comma = strchr(at, ',');
        char pair[80];
        double numbers[2];
        snprintf(pair, sizeof pair, "%.*s", comma ? (int)(comma - at) : (int)strlen(at), at);
        if (!cli_parse_numbers(pair, ':', 2, numbers)) return 0;
        keys[count] = (cutis_bake_key){name, numbers[0], numbers[1]};
        at = comma ? comma + 1 : NULL;
    }
    return count;
}

int cli_keys(const cli_arguments *arguments, cutis_bake_key **keys, int *count)
{
    const char *text = cli_text(arguments, "amount");
    *keys = NULL;
    *count = 0;
    if (!text) return CLI_OK;

    /* at most one key per comma, and one more */
    size_t most = 1;
    for (const char *at = text; *at; at++) most += *at == ',';
    *keys = cli_allocate(most, sizeof **keys);
    *count = parse_keys("amount", text, *keys);

    bool valid = *count > 0;
    for (int i = 0; i < *count; i++)
        valid &= (*keys)[i].value >= 0 && (*keys)[i].value <= CUTIS_MAX_AMOUNT &&
                 (i == 0 || (*keys)[i].time > (*keys)[i - 1].time);
    if (valid) return CLI_OK;
    return cli_usage_error(arguments, "--amount takes a number from 0 to %g, or TIME:AMOUNT,TIME:AMOUNT, not '%s'",
                           CUTIS_MAX_AMOUNT, text);
}

bool cli_detail(const cli_arguments *arguments, int *detail)
{
    static const struct {
        const char *name;
        int detail;
    } words[] = {{"drawn", CUTIS_DETAIL_DRAWN}, {"draft", CUTIS_DETAIL_DRAFT}, {"default", CUTIS_DETAIL_DEFAULT}};

    const char *text = cli_text(arguments, "detail");
    *detail = CUTIS_DETAIL_DEFAULT;

    if (!text) return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i].name) != 0) continue;
        *detail = words[i].detail;
        return true;
    }

    /* a number of points */
    double number;
    if (parse_number(text, &number) && number == floor(number) && number >= 1 && number <= CUTIS_DETAIL_LIMIT) {
        *detail = (int)number;
        return true;
    }
    cli_usage_error(arguments, "--detail takes draft, default, drawn or a number of points from 1 to %d, not '%s'",
                    CUTIS_DETAIL_LIMIT, text);
    return false;
}
