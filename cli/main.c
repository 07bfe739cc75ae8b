/*
 * main.c: the `cutis` program. Finds the command, parses its options, runs it.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "process.h"

/* Every command, in the order of the overview: NAME stands for cmd_NAME of cmd_NAME.c. */
#define COMMANDS(ENTRY) \
    ENTRY(models)       \
    ENTRY(make)         \
    ENTRY(convert)      \
    ENTRY(info)         \
    ENTRY(solvers)      \
    ENTRY(bake)         \
    ENTRY(distil)       \
    ENTRY(measure)      \
    ENTRY(compare)      \
    ENTRY(batch)        \
    ENTRY(rates)        \
    ENTRY(rig)          \
    ENTRY(grasp)        \
    ENTRY(render)       \
    ENTRY(texture)      \
    ENTRY(studio)       \
    ENTRY(bench)        \
    ENTRY(help)         \
    ENTRY(version)      \
    ENTRY(completion)   \
    ENTRY(manual)

#define DECLARE(name) extern const cli_command cmd_##name;
#define LIST(name) &cmd_##name,
COMMANDS(DECLARE)
const cli_command *const cli_commands[] = {COMMANDS(LIST) NULL};

/* ---- help and version, which need no file of their own ---- */

static const cli_command *find_command(const char *name)
{
    for (int i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0) return cli_commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[64];
    int count = 0;

    for (int i = 0; cli_commands[i] && count < 64; i++)
        if (!cli_commands[i]->hidden) names[count++] = cli_commands[i]->name;

    const char *nearest = cli_nearest(name, names, count);
    if (nearest)
        cli_error("unknown command '%s'; did you mean '%s'?", name, nearest);
    else if (strchr(name, '.'))
        cli_error("unknown command '%s'; to simulate a file: cutis bake %s -o OUT.glb", name, name);
    else
        cli_error("unknown command '%s'", name);

    fprintf(stderr, "Try 'cutis help'.\n");
    return CLI_USAGE;
}

static void print_overview(FILE *file)
{
    fprintf(file,
            "cutis %s: physically based skin and flesh for animated characters\n\n"
            "usage: cutis COMMAND [arguments]\n\ncommands:\n",
            cutis_version());
    for (int i = 0; cli_commands[i]; i++)
        if (!cli_commands[i]->hidden) fprintf(file, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fprintf(file, "\n'cutis COMMAND --help' explains a command, with an example. Wherever a file is expected,\n"
                  "the name of a built-in character may be used.\n\n"
                  "example:\n  cutis bake arm --solver dqs --clip flex -o arm.pc2\n");
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    cli_arguments arguments;
    bool help;
    int status = cli_parse(command, argc, argv, &arguments, &help);
    if (status == CLI_OK && help) cli_print_help(command);
    if (status == CLI_OK && !help && cli_find_option(command, "config") && cli_given(&arguments, "config"))
        status = cli_apply_config(&arguments, cli_text(&arguments, "config"));
    if (status == CLI_OK && !help) status = command->run(&arguments);
    cli_arguments_free(&arguments);
    return status;
}

static int run_help(const cli_arguments *arguments)
{
    if (arguments->positional_count == 0) {
        print_overview(stdout);
        return CLI_OK;
    }
    const char *name = arguments->positionals[0];
    if (cutis_solver_find(name)) return run_command(find_command("solvers"), 1, (char *[]){(char *)name});
    const cli_command *command = find_command(name);
    if (!command) return unknown_command(name);
    cli_print_help(command);
    return CLI_OK;
}

const cli_command cmd_help = {
    .name = "help",
    .usage = "[COMMAND|SOLVER]",
    .summary = "this overview, or the help of one command or solver",
    .examples = "cutis help bake\ncutis help layers",
    .positional_max = 1,
    .run = run_help,
};

static int run_version(const cli_arguments *arguments)
{
    (void)arguments;
    printf("cutis %s\n", cutis_version());
    return CLI_OK;
}

const cli_command cmd_version = {
    .name = "version",
    .usage = "",
    .summary = "the version of the program",
    .examples = "cutis version",
    .run = run_version,
};

/* ---- the program ---- */

int main(int argc, char **argv)
{
    cli_catch_interrupts();
    argv = process_arguments(argc, argv);
    int status;

    /* without a command: the overview */
    if (argc < 2) {
        print_overview(stderr);
        return CLI_USAGE;
    }

    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";

    const cli_command *command = find_command(name);
    status = command ? run_command(command, argc - 2, argv + 2) : unknown_command(name);

    /* Results that did not reach their reader (a full disk) are a failure as well. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == CLI_OK)
        status = cli_error("cannot write to standard output: %s", strerror(errno));
    if (status == CLI_INTERRUPTED) fprintf(stderr, "cutis: interrupted\n");
    return status;
}
