/* cmd_manual.c: the manual page in troff, generated from the command tables and installed by `make install`. */
#include <string.h>

#include "cli.h"

extern const cli_command cmd_manual;

/* Print text with troff characters escaped. A line must not begin with a dot or a quote. */
static void print_text(const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        /* a dot or a quote at the start of a line would be a request */
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);

        /* characters that troff reads as commands */
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);

        line_start = *text == '\n';
    }
}

static void print_option(const cli_option *option)
{
    /* its names and value */
    printf(".TP\n");
    if (option->letter) printf("\\fB\\-%c\\fR, ", option->letter);
    printf("\\fB\\-\\-");
    print_text(option->name);
    printf("\\fR");

    if (option->value) {
        printf(" \\fI");
        print_text(option->value);
        printf("\\fR");
    }

    /* what it does, with range and default */
    putchar('\n');
    print_text(option->help);
    if (option->choices && !strstr(option->help, option->choices)) {
        printf(": ");
        print_text(option->choices);
    }

    if (option->repeats || option->kind == CLI_PAIR) printf("; may be repeated");
    if (option->min != 0 || option->max != 0) printf("; %.9g to %.9g", option->min, option->max);

    if (option->fallback) {
        printf(" (default ");
        print_text(option->fallback);
        putchar(')');
    }
    putchar('\n');
}

static void print_command(const cli_command *command)
{
    printf(".SS cutis %s ", command->name);
    print_text(command->usage);
    printf("\n");
    print_text(command->summary);
    printf(".\n");

    if (command->description) {
        printf(".PP\n");
        print_text(command->description);
        printf("\n");
    }

    for (int i = 0; i < command->option_count; i++) print_option(&command->options[i]);
    if (command->json) print_option(cli_find_option(command, "json"));

    /* examples, line by line */
    printf(".PP\n.nf\n.RS\n");
    print_text(command->examples);
    printf("\n.RE\n.fi\n");
}

static int run(const cli_arguments *arguments)
{
    (void)arguments;

    printf(".TH CUTIS 1 \"\" \"cutis %s\" \"User Commands\"\n", cutis_version());
    printf(".SH NAME\ncutis \\- physically based skin and flesh for animated characters\n");
    printf(".SH SYNOPSIS\n.B cutis\n.I COMMAND\n[arguments]\n");
    printf(".SH DESCRIPTION\ncutis simulates the skin and flesh of a character (mesh, skeleton and motion) and writes "
           "the result. Wherever a file is expected, the name of a built\\-in character may be used. Results go to "
           "standard output; errors, warnings and progress go to standard error.\n");

    /* what the tables say */
    printf(".SH COMMANDS\n");
    for (int i = 0; cli_commands[i]; i++)
        if (!cli_commands[i]->hidden) print_command(cli_commands[i]);

    /* options that all share */
    printf(".SH OPTIONS OF EVERY COMMAND\n");
    print_option(cli_find_option(&cmd_manual, "quiet"));
    print_option(cli_find_option(&cmd_manual, "threads"));
    print_option(cli_find_option(&cmd_manual, "help"));

    printf(".SH SOLVERS\n");
    for (int i = 0; i < cutis_solver_count(); i++) {
        printf(".TP\n\\fB%s\\fR\n", cutis_solver(i)->name);
        print_text(cutis_solver(i)->summary);
        putchar('\n');
    }

    printf(".SH EXIT STATUS\n");
    const struct {
        int code;
        const char *what;
    } codes[] = {{CLI_OK, "done"},
                 {CLI_FAILURE, "an error of a file, the data or the machine"},
                 {CLI_USAGE, "invalid command line"},
                 {CLI_CHECK, "a quality bound was not met"},
                 {CLI_INTERRUPTED, "interrupted; no partial output is left"}};

    for (int i = 0; i < CLI_COUNT(codes); i++) printf(".TP\n%d\n%s\n", codes[i].code, codes[i].what);
    return CLI_OK;
}

const cli_command cmd_manual = {
    .name = "manual",
    .usage = "",
    .summary = "print the manual page",
    .examples = "cutis manual | man -l -",
    .run = run,
    .hidden = true,
};
